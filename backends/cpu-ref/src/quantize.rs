//! Quantize and Dequantize.

use std::marker::PhantomData;

use armnn_backend_api::{
    DataType, DequantizeDescriptor, Element, ExecutionContext, Inputs, LayerView, Outputs,
    QuantizeDescriptor, Result, Synchronous, TensorView, Workload,
};
use half::f16;

use crate::{
    cast::Scalar,
    float_workload::{input_elements, output_elements},
    layer_checks::{
        FLOATS, dims, input, invalid, num_elements, output, refusal, require_input, require_output,
    },
};

const QUANTIZED: &[DataType] = &[
    DataType::QAsymmU8,
    DataType::QAsymmS8,
    DataType::QSymmS8,
    DataType::QSymmS16,
];

/// For Quantize.
pub(crate) fn check_quantize(layer: LayerView<'_>, _: &QuantizeDescriptor) -> Result<()> {
    require_input(layer, 0, FLOATS)?;
    require_output(layer, 0, QUANTIZED)?;
    require_parameters(layer, output(layer, 0)?)
}

/// For Dequantize.
pub(crate) fn check_dequantize(layer: LayerView<'_>, _: &DequantizeDescriptor) -> Result<()> {
    require_input(layer, 0, QUANTIZED)?;
    require_output(layer, 0, FLOATS)?;
    require_parameters(layer, input(layer, 0)?)
}

/// For Quantize.
pub(crate) fn quantize_workload(
    layer: LayerView<'_>,
    _: &QuantizeDescriptor,
) -> Result<Box<dyn Workload>> {
    let (from, to) = (input(layer, 0)?, output(layer, 0)?);
    let parameters = Parameters::new(layer, to)?;
    if num_elements(layer, from)? != parameters.num_elements {
        return Err(invalid(layer, "input and output differ in size"));
    }
    Ok(match (from.data_type(), to.data_type()) {
        (DataType::Float16, DataType::QAsymmU8) => boxed_quantize::<f16, u8>(parameters),
        (DataType::Float16, DataType::QSymmS16) => boxed_quantize::<f16, i16>(parameters),
        (DataType::Float16, _) => boxed_quantize::<f16, i8>(parameters),
        (_, DataType::QAsymmU8) => boxed_quantize::<f32, u8>(parameters),
        (_, DataType::QSymmS16) => boxed_quantize::<f32, i16>(parameters),
        _ => boxed_quantize::<f32, i8>(parameters),
    })
}

/// For Dequantize.
pub(crate) fn dequantize_workload(
    layer: LayerView<'_>,
    _: &DequantizeDescriptor,
) -> Result<Box<dyn Workload>> {
    let (from, to) = (input(layer, 0)?, output(layer, 0)?);
    let parameters = Parameters::new(layer, from)?;
    if num_elements(layer, to)? != parameters.num_elements {
        return Err(invalid(layer, "input and output differ in size"));
    }
    Ok(match (from.data_type(), to.data_type()) {
        (DataType::QAsymmU8, DataType::Float16) => boxed_dequantize::<u8, f16>(parameters),
        (DataType::QSymmS16, DataType::Float16) => boxed_dequantize::<i16, f16>(parameters),
        (_, DataType::Float16) => boxed_dequantize::<i8, f16>(parameters),
        (DataType::QAsymmU8, _) => boxed_dequantize::<u8, f32>(parameters),
        (DataType::QSymmS16, _) => boxed_dequantize::<i16, f32>(parameters),
        _ => boxed_dequantize::<i8, f32>(parameters),
    })
}

fn require_parameters(layer: LayerView<'_>, tensor: TensorView<'_>) -> Result<()> {
    if tensor.scales().is_empty() {
        let name = tensor.name();
        return Err(refusal(
            layer,
            format_args!("tensor \"{name}\" has no scale and zero point"),
        ));
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
                return Err(invalid(
                    layer,
                    format_args!(
                        "{} scales along dimension {axis} do not fit tensor \"{}\" of {dims:?}",
                        scales.len(),
                        tensor.name()
                    ),
                ));
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

impl Real for f16 {
    fn to_f32(self) -> f32 {
        Self::to_f32(self)
    }

    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }
}

/// A type of quantized numbers.
trait Quantized: Element {
    /// Saturates; NaN becomes 0.
    fn saturating(number: f32) -> Self;
    fn to_i32(self) -> i32;
}

macro_rules! quantized {
    ($($T:ty)*) => {$(
        impl Quantized for $T {
            fn saturating(number: f32) -> Self {
                number as $T
            }

            fn to_i32(self) -> i32 {
                self.into()
            }
        }
    )*};
}
quantized! { u8 i8 i16 }

struct Quantize<R, Q> {
    parameters: Parameters,
    types: PhantomData<fn(R) -> Q>,
}

fn boxed_quantize<R: Real, Q: Quantized>(parameters: Parameters) -> Box<dyn Workload> {
    Box::new(Quantize::<R, Q> {
        parameters,
        types: PhantomData,
    })
}

impl<R: Real, Q: Quantized> Workload for Quantize<R, Q> {
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
                    // `round` goes away from zero where the number lies in the middle.
                    let number = (R::from_bits(from).to_f32() / scale).round() + zero_point;
                    *to = Q::saturating(number);
                }
            });
        Ok(())
    }
}

struct Dequantize<Q, R> {
    parameters: Parameters,
    types: PhantomData<fn(Q) -> R>,
}

fn boxed_dequantize<Q: Quantized, R: Real>(parameters: Parameters) -> Box<dyn Workload> {
    Box::new(Dequantize::<Q, R> {
        parameters,
        types: PhantomData,
    })
}

impl<Q: Quantized, R: Real> Workload for Dequantize<Q, R> {
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
