//! ElementwiseBinary.

use armnn_backend_api::{
    BackendError, BinaryOperation, DataType, Element, ElementwiseBinaryDescriptor,
    ExecutionContext, Inputs, LayerView, Outputs, Result, Synchronous, Workload,
};

use crate::{
    float_workload::{FloatKernel, MAX_INPUTS, float_workload, input_elements, output_elements},
    layer_checks::{
        dims, input, invalid, num_elements, output, require_named, require_one_type, title,
    },
    loop_nest::{LoopNest, broadcast_strides, map_pairs},
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ElementwiseBinaryDescriptor) -> Result<()> {
    let operation = descriptor.operation();
    require_named(layer, operation, operation.name())?;
    const TYPES: &[DataType] = &[
        DataType::Float32,
        DataType::Float16,
        DataType::Signed32,
        DataType::Signed64,
    ];
    require_one_type(layer, TYPES)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &ElementwiseBinaryDescriptor,
) -> Result<Box<dyn Workload>> {
    let operation = descriptor.operation();
    let nest = broadcast_nest(layer)?;
    match output(layer, 0)?.data_type() {
        DataType::Signed32 => integer_workload::<i32>(layer, operation, nest),
        DataType::Signed64 => integer_workload::<i64>(layer, operation, nest),
        _ => float_workload(layer, ElementwiseBinary { operation, nest }),
    }
}

/// A nest over the output, whose operands are the two inputs.
///
/// # Errors
/// When an input does not broadcast to the output.
pub(crate) fn broadcast_nest(layer: LayerView<'_>) -> Result<LoopNest<2>> {
    let to = dims(layer, output(layer, 0)?)?;
    let strides = |position| {
        let tensor = input(layer, position)?;
        broadcast_strides(&dims(layer, tensor)?, &to).ok_or_else(|| {
            invalid(
                layer,
                format_args!(
                    "input {position} of shape {} does not broadcast to the output's {}",
                    tensor.shape(),
                    layer.output(0).shape()
                ),
            )
        })
    };
    let (x, y) = (strides(0)?, strides(1)?);
    Ok(LoopNest::new(&to, [&x, &y], [0, 0]))
}

/// The larger; NaN if either is.
pub(crate) fn larger(x: f32, y: f32) -> f32 {
    if x > y || x.is_nan() { x } else { y }
}

/// The smaller; NaN if either is.
pub(crate) fn smaller(x: f32, y: f32) -> f32 {
    if x < y || x.is_nan() { x } else { y }
}

struct ElementwiseBinary {
    operation: BinaryOperation,
    nest: LoopNest<2>,
}

impl FloatKernel for ElementwiseBinary {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [f32],
        [x, y, _]: [&[f32]; MAX_INPUTS],
        out: &mut [f32],
    ) -> Result<()> {
        let nest = &self.nest;
        match self.operation {
            BinaryOperation::Add => map_pairs(nest, x, y, out, |x, y| x + y),
            BinaryOperation::Sub => map_pairs(nest, x, y, out, |x, y| x - y),
            BinaryOperation::Mul => map_pairs(nest, x, y, out, |x, y| x * y),
            BinaryOperation::Div => map_pairs(nest, x, y, out, |x, y| x / y),
            BinaryOperation::Maximum => map_pairs(nest, x, y, out, larger),
            BinaryOperation::Minimum => map_pairs(nest, x, y, out, smaller),
            BinaryOperation::SqDiff => map_pairs(nest, x, y, out, |x, y| (x - y) * (x - y)),
            BinaryOperation::Power => map_pairs(nest, x, y, out, f32::powf),
            other => {
                return Err(BackendError::unsupported(format!(
                    "ElementwiseBinary {other}"
                )));
            }
        }
        Ok(())
    }
}

struct IntegerBinary<T> {
    title: String,
    operation: BinaryOperation,
    nest: LoopNest<2>,
    input_lens: [usize; 2],
    output_len: usize,
    integer: std::marker::PhantomData<T>,
}

fn integer_workload<T: Integer>(
    layer: LayerView<'_>,
    operation: BinaryOperation,
    nest: LoopNest<2>,
) -> Result<Box<dyn Workload>> {
    Ok(Box::new(IntegerBinary::<T> {
        title: title(layer),
        operation,
        nest,
        input_lens: [
            num_elements(layer, input(layer, 0)?)?,
            num_elements(layer, input(layer, 1)?)?,
        ],
        output_len: num_elements(layer, output(layer, 0)?)?,
        integer: std::marker::PhantomData,
    }))
}

impl<T: Integer> Workload for IntegerBinary<T> {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let x = input_elements::<T>(inputs, 0, self.input_lens[0])?;
        let y = input_elements::<T>(inputs, 1, self.input_lens[1])?;
        let out = output_elements::<T>(outputs, 0, self.output_len)?;
        let nest = &self.nest;
        match self.operation {
            BinaryOperation::Add => map_pairs(nest, x, y, out, T::add),
            BinaryOperation::Sub => map_pairs(nest, x, y, out, T::sub),
            BinaryOperation::Mul => map_pairs(nest, x, y, out, T::mul),
            BinaryOperation::Div => {
                if self.output_len > 0 && y.contains(&T::ZERO) {
                    let title = &self.title;
                    return Err(BackendError::new(format!("{title}: division by 0")));
                }
                map_pairs(nest, x, y, out, T::div);
            }
            BinaryOperation::Maximum => map_pairs(nest, x, y, out, T::max),
            BinaryOperation::Minimum => map_pairs(nest, x, y, out, T::min),
            BinaryOperation::SqDiff => {
                map_pairs(nest, x, y, out, |x, y| T::mul(T::sub(x, y), T::sub(x, y)));
            }
            BinaryOperation::Power => map_pairs(nest, x, y, out, T::power),
            other => {
                return Err(BackendError::unsupported(format!(
                    "ElementwiseBinary {other}"
                )));
            }
        }
        Ok(())
    }
}

/// Integers that wrap around on overflow.
trait Integer: Element + Ord {
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `other` is not 0.
    fn div(self, other: Self) -> Self;
    /// Rounds towards zero where the exponent is negative; 0 to a negative power is 0.
    fn power(self, exponent: Self) -> Self;
}

macro_rules! integers {
    ($($T:ty)*) => {$(
        impl Integer for $T {
            const ZERO: Self = 0;

            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn div(self, other: Self) -> Self {
                self.wrapping_div(other)
            }

            fn power(self, mut exponent: Self) -> Self {
                if exponent < 0 {
                    return match self {
                        1 => 1,
                        -1 if exponent % 2 == 0 => 1,
                        -1 => -1,
                        _ => 0,
                    };
                }
                let (mut base, mut result) = (self, 1);
                while exponent > 0 {
                    if exponent % 2 == 1 {
                        result = <$T>::wrapping_mul(result, base);
                    }
                    base = base.wrapping_mul(base);
                    exponent /= 2;
                }
                result
            }
        }
    )*};
}
integers! { i32 i64 }
