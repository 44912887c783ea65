//! Quantize of numbers that are quantized already: TensorFlow Lite's `Requantize`
//! (`kernels/internal/reference/requantize.h`), in fixed point.

use std::marker::PhantomData;

use armnn_backend_api::{DataType, ExecutionContext, LayerView, Result, Synchronous, Workload};

use crate::{
    numbers::quantized_arithmetic::{
        Affine, Multiplier, QUANTIZED, QuantizedElement, by_quantized_type,
    },
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
        layer_checks::{input, output, require_output},
    },
};

/// Refuses outputs of other types, and tensors without exactly one scale.
pub(super) fn check(layer: LayerView<'_>) -> Result<()> {
    require_output(layer, 0, &[QUANTIZED, &[DataType::Signed32]])?;
    Affine::of(input(layer, 0)?, "input")?;
    Affine::of(output(layer, 0)?, "output").map(|_| ())
}

pub(super) fn workload(layer: LayerView<'_>) -> Result<Box<dyn Workload>> {
    let from = Affine::of(input(layer, 0)?, "input")?;
    let to = Affine::of(output(layer, 0)?, "output")?;
    macro_rules! with_input {
        ($From:ty) => {
            match output(layer, 0)?.data_type() {
                DataType::Signed32 => {
                    element_workload(layer, Requantize::<$From, i32>::new(from, to))
                }
                data_type => by_quantized_type!(data_type, To => {
                    element_workload(layer, Requantize::<$From, To>::new(from, to))
                }),
            }
        };
    }
    match input(layer, 0)?.data_type() {
        DataType::Signed32 => with_input!(i32),
        data_type => by_quantized_type!(data_type, From => with_input!(From)),
    }
}

struct Requantize<From, To> {
    factor: Multiplier,
    from_zero_point: i32,
    to_zero_point: i32,
    elements: PhantomData<fn(From) -> To>,
}

impl<From, To> Requantize<From, To> {
    fn new(from: Affine, to: Affine) -> Self {
        Self {
            factor: Multiplier::new(f64::from(from.scale) / f64::from(to.scale)),
            from_zero_point: from.zero_point,
            to_zero_point: to.zero_point,
            elements: PhantomData,
        }
    }
}

impl<From: QuantizedElement, To: QuantizedElement> Kernel for Requantize<From, To> {
    type Input = From;
    type Output = To;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[From]; MAX_INPUTS],
        output: &mut [To],
    ) -> Result<()> {
        for (out, x) in output.iter_mut().zip(input) {
            let number = self
                .factor
                .apply(x.to_i32().wrapping_sub(self.from_zero_point));
            *out = To::saturating(number.saturating_add(self.to_zero_point));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{Quantization, QuantizeDescriptor, TensorInfo};

    use crate::test_harness::{Call, typed};

    use super::*;

    #[test]
    fn integers_of_32_bits_with_a_scale_are_rescaled() {
        // 0.001 times 12345, -7 and 4,000,000, in steps of 0.5: 24.69, -0.014 and 8000.
        let output =
            TensorInfo::new(DataType::QSymmS16, [3]).quantized(Quantization::per_tensor(0.5, 0));
        let call = Call::new(QuantizeDescriptor::new())
            .input(
                typed(DataType::Signed32, [3], &[12_345i32, -7, 4_000_000])
                    .quantized(Quantization::per_tensor(0.001, 0)),
            )
            .output_info(output);
        assert_eq!(call.run().elements::<i16>(0), [25, 0, 8000]);
    }

    #[test]
    fn numbers_are_rescaled_between_all_types() {
        // 0.5 (q - 1) = 1, -1, 5.5 in steps of 0.25 from 2 on, and in steps of 2.
        let input = || {
            typed(DataType::QAsymmS8, [3], &[3i8, -1, 12])
                .quantized(Quantization::per_tensor(0.5, 1))
        };
        let call = |data_type, scale, zero_point| {
            let output = TensorInfo::new(data_type, [3])
                .quantized(Quantization::per_tensor(scale, zero_point));
            Call::new(QuantizeDescriptor::new())
                .input(input())
                .output_info(output)
                .run()
        };
        assert_eq!(
            call(DataType::QAsymmU8, 0.25, 2).elements::<u8>(0),
            [6, 0, 24]
        );
        assert_eq!(
            call(DataType::QSymmS16, 0.25, 0).elements::<i16>(0),
            [4, -4, 22]
        );
        assert_eq!(
            call(DataType::Signed32, 0.25, 0).elements::<i32>(0),
            [4, -4, 22]
        );
        // 0.5, -0.5 and 2.75: the first multiplication rounds ties upwards.
        assert_eq!(
            call(DataType::QSymmS8, 2.0, 0).elements::<i8>(0),
            [1, -1, 3]
        );
    }
}
