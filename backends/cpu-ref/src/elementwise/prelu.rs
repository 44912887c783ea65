//! Prelu.

use std::marker::PhantomData;

use armnn_backend_api::{
    ExecutionContext, LayerView, PreluDescriptor, Result, Synchronous, Workload,
};

use crate::{
    elementwise::elementwise_binary::broadcast_nest,
    loops::loop_nest::{LoopNest, map_pairs},
    numbers::quantized_arithmetic::{
        Affine, Multiplier, QUANTIZED, QuantizedElement, by_quantized_type,
    },
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::{FloatKernel, MAX_INPUTS, float_workload},
        layer_checks::{FLOATS, input, output, require_one_type},
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &PreluDescriptor) -> Result<()> {
    require_one_type(layer, &[FLOATS, QUANTIZED])?;
    if output(layer, 0)?.data_type().is_quantized() {
        Affine::of(input(layer, 0)?, "input")?;
        Affine::of(input(layer, 1)?, "alpha")?;
        Affine::of(output(layer, 0)?, "output")?;
    }
    Ok(())
}

pub(crate) fn workload(layer: LayerView<'_>, _: &PreluDescriptor) -> Result<Box<dyn Workload>> {
    let nest = broadcast_nest(layer)?;
    let data_type = output(layer, 0)?.data_type();
    if !data_type.is_quantized() {
        return float_workload(layer, Prelu(nest));
    }
    let from = Affine::of(input(layer, 0)?, "input")?;
    let alpha = Affine::of(input(layer, 1)?, "alpha")?;
    let to = Affine::of(output(layer, 0)?, "output")?;
    by_quantized_type!(data_type, Q => element_workload(layer, QuantizedPrelu::<Q> {
        nest,
        zero_points: [from.zero_point, alpha.zero_point, to.zero_point],
        // In Float32, as TensorFlow Lite computes them (`kernels/activations.cc`).
        above: Multiplier::new((from.scale / to.scale).into()),
        below: Multiplier::new((from.scale * alpha.scale / to.scale).into()),
        element: PhantomData,
    }))
}

/// Of quantized numbers: `kernels/internal/reference/prelu.h`.
struct QuantizedPrelu<Q> {
    nest: LoopNest<2>,
    /// Of input, alpha and output.
    zero_points: [i32; 3],
    above: Multiplier,
    below: Multiplier,
    element: PhantomData<fn(Q)>,
}

impl<Q: QuantizedElement> Kernel for QuantizedPrelu<Q> {
    type Input = Q;
    type Output = Q;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, alpha, _]: [&[Q]; MAX_INPUTS],
        output: &mut [Q],
    ) -> Result<()> {
        let [zero_x, zero_alpha, zero_out] = self.zero_points;
        map_pairs(&self.nest, input, alpha, output, |x: Q, alpha: Q| {
            let x = x.to_i32().wrapping_sub(zero_x);
            let number = if x >= 0 {
                self.above.apply(x)
            } else {
                let alpha = alpha.to_i32().wrapping_sub(zero_alpha);
                self.below.apply(x.wrapping_mul(alpha))
            };
            Q::saturating(number.saturating_add(zero_out))
        });
        Ok(())
    }
}

struct Prelu(LoopNest<2>);

impl FloatKernel for Prelu {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [f32],
        [input, alpha, _]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
    ) -> Result<()> {
        map_pairs(&self.0, input, alpha, output, |x, alpha| {
            if x > 0.0 { x } else { alpha * x }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Quantization, TensorInfo};

    use super::*;
    use crate::test_harness::{Call, f16s, f32s, typed};

    #[test]
    fn negative_numbers_are_scaled_by_their_channels_alpha() {
        let call = Call::new(PreluDescriptor::new())
            .input(f32s([2, 2], &[-2.0, -2.0, 4.0, -4.0]))
            .input(f32s([2], &[0.5, -1.0]))
            .output(DataType::Float32, [2, 2]);
        assert_eq!(call.run().f32s(), [-1.0, 2.0, 4.0, 4.0]);
        let call = Call::new(PreluDescriptor::new())
            .input(f16s([2], &[-2.0, 3.0]))
            .input(f16s([1], &[0.25]))
            .output(DataType::Float16, [2]);
        assert_eq!(call.run().f16s(), [-0.5, 3.0]);
    }

    #[test]
    fn quantized_numbers_are_rescaled() {
        // 0.5 (9 - 1) = 4 and 0.5 (-7 - 1) = -4 by alphas of 0.25 * 2 and 0.25 * -1, in steps of
        // 0.5 from 10 on.
        let scaled = Quantization::per_tensor;
        let output = TensorInfo::new(DataType::QAsymmU8, [2, 2]).quantized(scaled(0.5, 10));
        let input = typed(DataType::QAsymmU8, [2, 2], &[19u8, 3, 3, 3]);
        let call = Call::new(PreluDescriptor::new())
            .input(input.quantized(scaled(0.5, 11)))
            .input(typed(DataType::QAsymmU8, [2], &[7u8, 4]).quantized(scaled(0.25, 5)))
            .output_info(output);
        assert_eq!(call.run().elements::<u8>(0), [18, 12, 6, 12]);
    }
}
