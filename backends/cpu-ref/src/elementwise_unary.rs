//! ElementwiseUnary.

mod quantized;

use std::marker::PhantomData;

use armnn_backend_api::{
    BackendError, DataType, Element, ElementwiseUnaryDescriptor, ExecutionContext, LayerView,
    Result, Synchronous, UnaryOperation, Workload,
};

use crate::{
    element_workload::{Kernel, element_workload},
    float_workload::{FloatKernel, MAX_INPUTS, float_workload},
    layer_checks::{
        FLOATS, INTEGERS, input, invalid, num_elements, output, require_named, require_one_type,
    },
    quantized_arithmetic::QUANTIZED,
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ElementwiseUnaryDescriptor) -> Result<()> {
    let operation = descriptor.operation();
    require_named(operation, operation.name())?;
    match operation {
        UnaryOperation::LogicalNot => require_one_type(layer, &[&[DataType::Boolean]]),
        UnaryOperation::Abs | UnaryOperation::Neg | UnaryOperation::Square => {
            require_one_type(layer, &[FLOATS, INTEGERS, QUANTIZED])
        }
        _ => require_one_type(layer, &[FLOATS, QUANTIZED]),
    }?;
    match output(layer, 0)?.data_type().is_quantized() {
        true => quantized::check(layer),
        false => Ok(()),
    }
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &ElementwiseUnaryDescriptor,
) -> Result<Box<dyn Workload>> {
    let operation = descriptor.operation();
    let len = num_elements(layer, output(layer, 0)?)?;
    if num_elements(layer, input(layer, 0)?)? != len {
        return Err(invalid("input and output differ in size"));
    }
    /// Calls a function of integers of this type, which wraps around.
    macro_rules! of_integers {
        ($T:ty) => {
            match operation {
                UnaryOperation::Abs => map_workload(layer, |x: $T| {
                    #[allow(unused_comparisons)]
                    if x < 0 { x.wrapping_neg() } else { x }
                }),
                UnaryOperation::Neg => map_workload(layer, <$T>::wrapping_neg),
                _ => map_workload(layer, |x: $T| x.wrapping_mul(x)),
            }
        };
    }
    match output(layer, 0)?.data_type() {
        DataType::Boolean => map_workload(layer, |x: u8| u8::from(x == 0)),
        DataType::Int8 => of_integers!(i8),
        DataType::Int16 => of_integers!(i16),
        DataType::Signed32 => of_integers!(i32),
        DataType::Signed64 => of_integers!(i64),
        DataType::UInt8 => of_integers!(u8),
        DataType::UInt16 => of_integers!(u16),
        DataType::UInt32 => of_integers!(u32),
        DataType::UInt64 => of_integers!(u64),
        quantized if quantized.is_quantized() => quantized::workload(layer, operation),
        _ => float_workload(layer, ElementwiseUnary(operation)),
    }
}

struct ElementwiseUnary(UnaryOperation);

impl FloatKernel for ElementwiseUnary {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [f32],
        [input, ..]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
    ) -> Result<()> {
        let operation = self.0;
        match operation {
            UnaryOperation::Abs => map(input, output, f32::abs),
            UnaryOperation::Neg => map(input, output, |x: f32| -x),
            UnaryOperation::Square => map(input, output, |x| x * x),
            other if other.name().is_none() => {
                return Err(BackendError::unsupported(format!(
                    "{other} is not known here"
                )));
            }
            _ => map(input, output, |x| value(operation, x)),
        }
        Ok(())
    }
}

/// The operation on one number; those that are not known leave it as it is.
fn value(operation: UnaryOperation, x: f32) -> f32 {
    match operation {
        UnaryOperation::Abs => x.abs(),
        UnaryOperation::Exp => x.exp(),
        UnaryOperation::Sqrt => x.sqrt(),
        UnaryOperation::Rsqrt => 1.0 / x.sqrt(),
        UnaryOperation::Neg => -x,
        UnaryOperation::Log => x.ln(),
        UnaryOperation::Sin => x.sin(),
        UnaryOperation::Ceil => x.ceil(),
        UnaryOperation::Floor => x.floor(),
        UnaryOperation::Square => x * x,
        _ => x,
    }
}

/// A function of each element.
struct Map<T, F> {
    f: F,
    element: PhantomData<fn(T) -> T>,
}

fn map_workload<T: Element, F>(layer: LayerView<'_>, f: F) -> Result<Box<dyn Workload>>
where
    F: Fn(T) -> T + Send + Sync + 'static,
{
    let element = PhantomData;
    element_workload(layer, Map { f, element })
}

impl<T: Element, F> Kernel for Map<T, F>
where
    F: Fn(T) -> T + Send + Sync + 'static,
{
    type Input = T;
    type Output = T;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[T]; MAX_INPUTS],
        output: &mut [T],
    ) -> Result<()> {
        map(input, output, &self.f);
        Ok(())
    }
}

fn map<T: Copy>(input: &[T], output: &mut [T], f: impl Fn(T) -> T) {
    output.iter_mut().zip(input).for_each(|(o, &x)| *o = f(x));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, Tensor, assert_close, assert_refused, f16s, f32s, typed};

    fn unary(operation: UnaryOperation, input: Tensor) -> Call {
        let (data_type, shape) = (input.info.data_type, input.info.shape);
        Call::new(ElementwiseUnaryDescriptor::new(operation))
            .input(input)
            .output(data_type, shape)
    }

    #[test]
    fn operations_are_as_defined() {
        type Function = fn(f64) -> f64;
        let values = [0.25f32, 1.0, 2.75, 9.0];
        let cases: [(UnaryOperation, Function); 10] = [
            (UnaryOperation::Abs, |x| x.max(-x)),
            (UnaryOperation::Exp, |x| std::f64::consts::E.powf(x)),
            (UnaryOperation::Sqrt, |x| x.powf(0.5)),
            (UnaryOperation::Rsqrt, |x| x.powf(-0.5)),
            (UnaryOperation::Neg, |x| 0.0 - x),
            (UnaryOperation::Log, |x| x.log2() * std::f64::consts::LN_2),
            // sin x = cos (x - pi / 2)
            (UnaryOperation::Sin, |x| {
                (x - std::f64::consts::FRAC_PI_2).cos()
            }),
            (UnaryOperation::Ceil, |x| -((-x) - (-x).rem_euclid(1.0))),
            (UnaryOperation::Floor, |x| x - x.rem_euclid(1.0)),
            (UnaryOperation::Square, |x| x.powi(2)),
        ];
        for (operation, defined) in cases {
            let expected: Vec<f32> = values.iter().map(|&x| defined(x.into()) as f32).collect();
            let found = unary(operation, f32s([4], &values)).run().f32s();
            let tolerance = expected[3].abs() * 1e-6;
            assert_close(&found, &expected, tolerance);
        }
    }

    #[test]
    fn negative_numbers_round_towards_their_side() {
        let input = f32s([2], &[-1.5, -0.25]);
        assert_eq!(
            unary(UnaryOperation::Ceil, input.clone()).run().f32s(),
            [-1.0, 0.0]
        );
        assert_eq!(
            unary(UnaryOperation::Floor, input.clone()).run().f32s(),
            [-2.0, -1.0]
        );
        assert_eq!(
            unary(UnaryOperation::Abs, input.clone()).run().f32s(),
            [1.5, 0.25]
        );
        assert!(unary(UnaryOperation::Sqrt, input).run().f32s()[0].is_nan());
    }

    #[test]
    fn booleans_integers_and_float16() {
        let booleans = typed(DataType::Boolean, [3], &[0u8, 1, 1]);
        let found = unary(UnaryOperation::LogicalNot, booleans.clone()).run();
        assert_eq!(found.elements::<u8>(0), [1, 0, 0]);
        let ints = typed(DataType::Signed32, [3], &[i32::MIN, -2, 3]);
        let found = unary(UnaryOperation::Abs, ints.clone()).run();
        assert_eq!(found.elements::<i32>(0), [i32::MIN, 2, 3]);
        let found = unary(UnaryOperation::Neg, ints.clone()).run();
        assert_eq!(found.elements::<i32>(0), [i32::MIN, 2, -3]);
        let longs = typed(DataType::Signed64, [1], &[-3_000_000_000i64]);
        let found = unary(UnaryOperation::Square, longs).run();
        assert_eq!(found.elements::<i64>(0), [9_000_000_000_000_000_000]);
        assert_eq!(
            unary(UnaryOperation::Square, f16s([1], &[1.5]))
                .run()
                .f16s(),
            [2.25]
        );
        assert_refused(&unary(UnaryOperation::Neg, booleans), &["Boolean"]);
        assert_refused(&unary(UnaryOperation::Exp, ints), &["Signed32"]);
    }
}
