//! Concat of quantized tensors whose scales differ: TensorFlow Lite's `ConcatenationWithScaling`
//! (`kernels/internal/reference/concatenation.h`), which rescales in Float32.

use std::marker::PhantomData;

use armnn_backend_api::{
    ExecutionContext, Inputs, LayerView, Outputs, Result, Synchronous, Workload,
};

use crate::{
    numbers::quantized_arithmetic::{Affine, QuantizedElement, by_quantized_type},
    workloads::{
        copy::BoxCopy,
        float_workload::{input_elements, output_elements},
        layer_checks::{input, num_elements, output, output_role, refusal, tensor_role},
    },
};

/// Whether the layer has quantized tensors that are not all of one scale and zero point.
pub(super) fn is_needed(layer: LayerView<'_>) -> Result<bool> {
    let to = output(layer, 0)?;
    let differs = layer
        .inputs()
        .any(|from| from.scales() != to.scales() || from.zero_points() != to.zero_points());
    Ok(to.data_type().is_quantized() && differs)
}

/// Refuses tensors of several types, or without exactly one scale.
pub(super) fn check(layer: LayerView<'_>) -> Result<()> {
    let to = output(layer, 0)?;
    for tensor in layer.inputs() {
        if tensor.data_type() != to.data_type() {
            return Err(refusal(format_args!(
                "the type of {} is {}, and of {} {}; all must be the same",
                tensor_role(layer, tensor),
                tensor.data_type(),
                output_role(layer.layer_type(), 0),
                to.data_type()
            )));
        }
        Affine::of(tensor, &tensor_role(layer, tensor))?;
    }
    Affine::of(to, "output").map(|_| ())
}

pub(super) fn workload(layer: LayerView<'_>, copies: Vec<BoxCopy>) -> Result<Box<dyn Workload>> {
    let to = Affine::of(output(layer, 0)?, "output")?;
    let mut parts = vec![];
    for copy in copies {
        let tensor = input(layer, copy.input)?;
        parts.push(Part {
            len: num_elements(layer, tensor)?,
            from: Affine::of(tensor, "an input")?,
            copy,
        });
    }
    let output_len = num_elements(layer, output(layer, 0)?)?;
    by_quantized_type!(output(layer, 0)?.data_type(), Q => {
        Ok(Box::new(RescaledConcat::<Q> {
            parts,
            to,
            output_len,
            element: PhantomData,
        }))
    })
}

struct Part {
    copy: BoxCopy,
    from: Affine,
    len: usize,
}

struct RescaledConcat<Q> {
    parts: Vec<Part>,
    to: Affine,
    output_len: usize,
    element: PhantomData<fn(Q)>,
}

impl<Q: QuantizedElement> Workload for RescaledConcat<Q> {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let output = output_elements::<Q>(outputs, 0, self.output_len)?;
        let inverse = 1.0 / self.to.scale;
        for part in &self.parts {
            let from = input_elements::<Q>(inputs, part.copy.input, part.len)?;
            let scale = part.from.scale * inverse;
            let bias = -(part.from.zero_point as f32) * scale;
            part.copy.map(from, output, |x: Q| {
                if part.from == self.to {
                    return x;
                }
                let number = (x.to_i32() as f32 * scale + bias).round() as i32;
                Q::saturating(number.saturating_add(self.to.zero_point))
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{ConcatDescriptor, DataType, Quantization, TensorInfo};

    use crate::test_harness::{Call, typed};

    #[test]
    fn each_part_is_rescaled_on_its_own() {
        let scaled = Quantization::per_tensor;
        // In steps of 0.5 from 10 on: as they are; 2 (q - 3) = 2, 4, 1000; 0.25 q = 0.25, which
        // rounds up.
        let part = |values: &[u8], quantization| {
            typed(DataType::QAsymmU8, [values.len() as i64], values).quantized(quantization)
        };
        let output = TensorInfo::new(DataType::QAsymmU8, [6]).quantized(scaled(0.5, 10));
        let call = Call::new(ConcatDescriptor { axis: 0 })
            .input(part(&[7, 200], scaled(0.5, 10)))
            .input(part(&[4, 5, 255], scaled(2.0, 3)))
            .input(part(&[1], scaled(0.25, 0)))
            .output_info(output);
        assert_eq!(call.run().elements::<u8>(0), [7, 200, 14, 18, 255, 11]);
    }
}
