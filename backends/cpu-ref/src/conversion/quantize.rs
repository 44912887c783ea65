//! Quantize and Dequantize.

mod narrow;
mod requantize;
mod stored;

use std::marker::PhantomData;

use armnn_backend_api::{
    DataType, DequantizeDescriptor, ExecutionContext, Inputs, LayerView, Outputs,
    QuantizeDescriptor, QuantizeRounding, Result, Synchronous, TensorView, Workload,
};
use half::{bf16, f16};
use stored::STORED;

use crate::{
    conversion::cast::Scalar,
    numbers::quantized_arithmetic::{QUANTIZED, QuantizedElement, by_quantized_type},
    workloads::{
        float_workload::{input_elements, output_elements},
        layer_checks::{
            FLOATS, dims, input, invalid, num_elements, output, refusal, require_input,
            require_output,
        },
    },
};

/// For Quantize.
pub(crate) fn check_quantize(layer: LayerView<'_>, _: &QuantizeDescriptor) -> Result<()> {
    require_input(layer, 0, &[FLOATS, QUANTIZED, &[DataType::Signed32]])?;
    if !input(layer, 0)?.data_type().is_float() {
        return requantize::check(layer);
    }
    require_output(layer, 0, &[QUANTIZED, narrow::TYPES])?;
    require_parameters(output(layer, 0)?, "output")
}

/// For Dequantize.
pub(crate) fn check_dequantize(layer: LayerView<'_>, _: &DequantizeDescriptor) -> Result<()> {
    require_input(layer, 0, &[QUANTIZED, STORED])?;
    require_output(layer, 0, &[FLOATS])?;
    require_parameters(input(layer, 0)?, "input")
}

/// For Quantize.
pub(crate) fn quantize_workload(
    layer: LayerView<'_>,
    descriptor: &QuantizeDescriptor,
) -> Result<Box<dyn Workload>> {
    let (from, to) = (input(layer, 0)?, output(layer, 0)?);
    let parameters = Parameters::new(layer, to)?;
    if num_elements(layer, from)? != parameters.num_elements {
        return Err(invalid("input and output differ in size"));
    }
    if !from.data_type().is_float() {
        return requantize::workload(layer);
    }
    // `f32::round` goes away from zero where the number lies in the middle.
    let round = match descriptor.rounding() {
        QuantizeRounding::ToEven => f32::round_ties_even,
        _ => f32::round,
    };
    if narrow::TYPES.contains(&to.data_type()) {
        return match from.data_type() {
            DataType::Float16 => narrow::workload::<f16>(layer, parameters, round),
            DataType::BFloat16 => narrow::workload::<bf16>(layer, parameters, round),
            _ => narrow::workload::<f32>(layer, parameters, round),
        };
    }
    Ok(
        by_quantized_type!(to.data_type(), Q => match from.data_type() {
            DataType::Float16 => boxed_quantize::<f16, Q>(parameters, round),
            DataType::BFloat16 => boxed_quantize::<bf16, Q>(parameters, round),
            _ => boxed_quantize::<f32, Q>(parameters, round),
        }),
    )
}

/// For Dequantize.
pub(crate) fn dequantize_workload(
    layer: LayerView<'_>,
    _: &DequantizeDescriptor,
) -> Result<Box<dyn Workload>> {
    let (from, to) = (input(layer, 0)?, output(layer, 0)?);
    let parameters = Parameters::new(layer, from)?;
    if num_elements(layer, to)? != parameters.num_elements {
        return Err(invalid("input and output differ in size"));
    }
    if STORED.contains(&from.data_type()) {
        return match to.data_type() {
            DataType::Float16 => stored::workload::<f16>(layer, parameters),
            DataType::BFloat16 => stored::workload::<bf16>(layer, parameters),
            _ => stored::workload::<f32>(layer, parameters),
        };
    }
    Ok(
        by_quantized_type!(from.data_type(), Q => match to.data_type() {
            DataType::Float16 => boxed_dequantize::<Q, f16>(parameters),
            DataType::BFloat16 => boxed_dequantize::<Q, bf16>(parameters),
            _ => boxed_dequantize::<Q, f32>(parameters),
        }),
    )
}

fn require_parameters(tensor: TensorView<'_>, role: &str) -> Result<()> {
    if tensor.scales().is_empty() {
        return Err(refusal(format_args!("{role} has no scale and zero point")));
    }
    Ok(())
}

/// Scales and zero points, and how elements are assigned to them: all to the one pair, or, along
/// an axis, `inner` in turn to each.
struct Parameters {
    pairs: Vec<(f32, i32)>,
    inner: usize,
    num_elements: usize,
}

impl Parameters {
    fn new(layer: LayerView<'_>, tensor: TensorView<'_>) -> Result<Self> {
        let dims = dims(layer, tensor)?;
        let (scales, zero_points) = (tensor.scales(), tensor.zero_points());
        let num_elements = num_elements(layer, tensor)?;
        let inner = if scales.len() == 1 {
            num_elements
        } else {
            let axis = usize::try_from(tensor.quantization_axis()).unwrap_or(usize::MAX);
            if dims.get(axis) != Some(&scales.len()) {
                return Err(invalid(format_args!(
                    "{} scales along dimension {axis} do not fit dimensions {dims:?}",
                    scales.len()
                )));
            }
            dims[axis + 1..].iter().product()
        };
        let pairs = scales.iter().copied().zip(zero_points.iter().copied());
        Ok(Self {
            pairs: pairs.collect(),
            inner,
            num_elements,
        })
    }

    /// The pair of an element.
    fn at(&self, element: usize) -> (f32, i32) {
        self.pairs[element / self.inner % self.pairs.len()]
    }

    /// Calls `f` with each pair of parameters and the elements that it stands for.
    fn for_each<A, B>(&self, from: &[A], to: &mut [B], f: impl Fn(f32, i32, &[A], &mut [B])) {
        if self.num_elements == 0 {
            return;
        }
        let chunks = from
            .chunks_exact(self.inner)
            .zip(to.chunks_exact_mut(self.inner));
        for ((from, to), &(scale, zero_point)) in chunks.zip(self.pairs.iter().cycle()) {
            f(scale, zero_point, from, to);
        }
    }
}

/// A type that real numbers are computed from and to.
trait Real: Scalar {
    fn to_f32(self) -> f32;
    fn from_f32(value: f32) -> Self;
}

impl Real for f32 {
    fn to_f32(self) -> f32 {
        self
    }

    fn from_f32(value: f32) -> Self {
        value
    }
}

macro_rules! halves {
    ($($H:ty)*) => {$(
        impl Real for $H {
            fn to_f32(self) -> f32 {
                <$H>::to_f32(self)
            }

            fn from_f32(value: f32) -> Self {
                <$H>::from_f32(value)
            }
        }
    )*};
}
halves! { f16 bf16 }

struct Quantize<R, Q> {
    parameters: Parameters,
    round: fn(f32) -> f32,
    types: PhantomData<fn(R) -> Q>,
}

fn boxed_quantize<R: Real, Q: QuantizedElement>(
    parameters: Parameters,
    round: fn(f32) -> f32,
) -> Box<dyn Workload> {
    Box::new(Quantize::<R, Q> {
        parameters,
        round,
        types: PhantomData,
    })
}

impl<R: Real, Q: QuantizedElement> Workload for Quantize<R, Q> {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let len = self.parameters.num_elements;
        let from = input_elements::<R::Bits>(inputs, 0, len)?;
        let to = output_elements::<Q>(outputs, 0, len)?;
        self.parameters
            .for_each(from, to, |scale, zero_point, from, to| {
                let zero_point = zero_point as f32;
                for (to, &from) in to.iter_mut().zip(from) {
                    let number = (self.round)(R::from_bits(from).to_f32() / scale) + zero_point;
                    *to = Q::saturating_f32(number);
                }
            });
        Ok(())
    }
}

struct Dequantize<Q, R> {
    parameters: Parameters,
    types: PhantomData<fn(Q) -> R>,
}

fn boxed_dequantize<Q: QuantizedElement, R: Real>(parameters: Parameters) -> Box<dyn Workload> {
    Box::new(Dequantize::<Q, R> {
        parameters,
        types: PhantomData,
    })
}

impl<Q: QuantizedElement, R: Real> Workload for Dequantize<Q, R> {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let len = self.parameters.num_elements;
        let from = input_elements::<Q>(inputs, 0, len)?;
        let to = output_elements::<R::Bits>(outputs, 0, len)?;
        self.parameters
            .for_each(from, to, |scale, zero_point, from, to| {
                for (to, &from) in to.iter_mut().zip(from) {
                    let number = from.to_i32().wrapping_sub(zero_point) as f32;
                    *to = R::from_f32(scale * number).to_bits();
                }
            });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{Quantization, TensorInfo};

    use super::*;
    use crate::test_harness::{Call, assert_refused, f16s, f32s, typed};

    fn quantized(data_type: DataType, shape: [i64; 2], quantization: Quantization) -> TensorInfo {
        TensorInfo::new(data_type, shape).quantized(quantization)
    }

    #[test]
    fn numbers_round_away_from_zero_and_saturate() {
        // Scale 0.5, zero point 10: 0.25 / 0.5 = 0.5 goes to 1, -0.25 to -1.
        let values = [
            0.0,
            0.25,
            -0.25,
            1.0,
            1000.0,
            -1000.0,
            f32::INFINITY,
            -f32::INFINITY,
        ];
        let call = |data_type| {
            let quantization = Quantization::per_tensor(0.5, 10);
            Call::new(QuantizeDescriptor::new())
                .input(f32s([1, 8], &values))
                .output_info(quantized(data_type, [1, 8], quantization))
        };
        let found = call(DataType::QAsymmU8).run().elements::<u8>(0);
        assert_eq!(found, [10, 11, 9, 12, 255, 0, 255, 0]);
        let found = call(DataType::QAsymmS8).run().elements::<i8>(0);
        assert_eq!(found, [10, 11, 9, 12, 127, -128, 127, -128]);
        let found = call(DataType::QSymmS16).run().elements::<i16>(0);
        assert_eq!(found, [10, 11, 9, 12, 2010, -1990, i16::MAX, i16::MIN]);
    }

    #[test]
    fn numbers_in_the_middle_go_to_the_even_one_if_so_asked() {
        // In steps of 0.5 these are 0.5, 1.5, 2.5, -0.5, -1.5 and 0.75: to 0, 2, 2, 0, -2 and 1, and
        // the zero point, an odd one, is added afterwards.
        let call = Call::new(QuantizeDescriptor::rounding_to(QuantizeRounding::ToEven))
            .input(f32s([1, 6], &[0.25, 0.75, 1.25, -0.25, -0.75, 0.375]))
            .output_info(quantized(
                DataType::QAsymmU8,
                [1, 6],
                Quantization::per_tensor(0.5, 7),
            ));
        assert_eq!(call.run().elements::<u8>(0), [7, 9, 9, 7, 5, 8]);
    }

    #[test]
    fn dequantizing_takes_off_the_zero_point() {
        let call = Call::new(DequantizeDescriptor::new())
            .input(
                typed(DataType::QAsymmU8, [1, 3], &[0u8, 10, 255])
                    .quantized(Quantization::per_tensor(0.5, 10)),
            )
            .output(DataType::Float32, [1, 3]);
        assert_eq!(call.run().f32s(), [-5.0, 0.0, 122.5]);
        let call = Call::new(DequantizeDescriptor::new())
            .input(
                typed(DataType::QSymmS16, [1, 2], &[i16::MIN, 3])
                    .quantized(Quantization::per_tensor(0.25, 0)),
            )
            .output(DataType::Float16, [1, 2]);
        assert_eq!(call.run().f16s(), [-8192.0, 0.75]);
    }

    #[test]
    fn parameters_may_change_along_an_axis() {
        for (axis, expected) in [(0, [1i8, 2, 30, 40]), (1, [1, 20, 3, 40])] {
            // Scales 1 and 0.1 along rows, or along columns.
            let quantization = Quantization::per_axis(axis, vec![1.0, 0.1], vec![0, 0]);
            let info = quantized(DataType::QSymmS8, [2, 2], quantization.clone());
            let values = [1.0, 2.0, 3.0, 4.0];
            let call = Call::new(QuantizeDescriptor::new())
                .input(f32s([2, 2], &values))
                .output_info(info);
            assert_eq!(call.run().elements::<i8>(0), expected);
            let call = Call::new(DequantizeDescriptor::new())
                .input(typed(DataType::QSymmS8, [2, 2], &expected).quantized(quantization))
                .output(DataType::Float32, [2, 2]);
            assert_eq!(call.run().f32s(), values);
        }
    }

    #[test]
    fn float16_is_taken_and_nan_becomes_0() {
        let call = Call::new(QuantizeDescriptor::new())
            .input(f16s([1, 2], &[1.5, f32::NAN]))
            .output_info(quantized(
                DataType::QAsymmS8,
                [1, 2],
                Quantization::per_tensor(0.5, 0),
            ));
        assert_eq!(call.run().elements::<i8>(0), [3, 0]);
    }

    #[test]
    fn what_does_not_fit_is_refused_or_an_error() {
        let call = |info| {
            let input = f32s([1, 2], &[0.0; 2]);
            Call::new(QuantizeDescriptor::new())
                .input(input)
                .output_info(info)
        };
        let bare = TensorInfo::new(DataType::QAsymmU8, [1, 2]);
        assert_refused(&call(bare), &["output has no scale"]);
        assert_refused(&call(TensorInfo::new(DataType::UInt8, [1, 2])), &["UInt8"]);
        let three = Quantization::per_axis(1, vec![1.0; 3], vec![0; 3]);
        let error = call(quantized(DataType::QSymmS8, [1, 2], three)).error();
        assert!(error.contains("3 scales along dimension 1"), "{error}");
    }
}
