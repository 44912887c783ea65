//! ElementwiseUnary.

use std::marker::PhantomData;

use armnn_backend_api::{
    BackendError, DataType, Element, ElementwiseUnaryDescriptor, ExecutionContext, Inputs,
    LayerView, Outputs, Result, Synchronous, UnaryOperation, Workload,
};

use crate::{
    float_workload::{FloatKernel, MAX_INPUTS, float_workload, input_elements, output_elements},
    layer_checks::{FLOATS, input, invalid, num_elements, output, require_named, require_one_type},
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ElementwiseUnaryDescriptor) -> Result<()> {
    let operation = descriptor.operation();
    require_named(operation, operation.name())?;
    let types = match operation {
        UnaryOperation::LogicalNot => &[DataType::Boolean][..],
        UnaryOperation::Abs | UnaryOperation::Neg | UnaryOperation::Square => &[
            DataType::Float32,
            DataType::Float16,
            DataType::Signed32,
            DataType::Signed64,
        ],
        _ => FLOATS,
    };
    require_one_type(layer, &[types])
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &ElementwiseUnaryDescriptor,
) -> Result<Box<dyn Workload>> {
    let operation = descriptor.operation();
    let output = output(layer, 0)?;
    let len = num_elements(layer, output)?;
    if num_elements(layer, input(layer, 0)?)? != len {
        return Err(invalid("input and output differ in size"));
    }
    match output.data_type() {
        DataType::Boolean => Ok(integer_workload(len, |x: u8| u8::from(x == 0))),
        DataType::Signed32 => Ok(match operation {
            UnaryOperation::Abs => integer_workload(len, i32::wrapping_abs),
            UnaryOperation::Neg => integer_workload(len, i32::wrapping_neg),
            _ => integer_workload(len, |x: i32| x.wrapping_mul(x)),
        }),
        DataType::Signed64 => Ok(match operation {
            UnaryOperation::Abs => integer_workload(len, i64::wrapping_abs),
            UnaryOperation::Neg => integer_workload(len, i64::wrapping_neg),
            _ => integer_workload(len, |x: i64| x.wrapping_mul(x)),
        }),
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
        match self.0 {
            UnaryOperation::Abs => map(input, output, f32::abs),
            UnaryOperation::Exp => map(input, output, f32::exp),
            UnaryOperation::Sqrt => map(input, output, f32::sqrt),
            UnaryOperation::Rsqrt => map(input, output, |x| 1.0 / x.sqrt()),
            UnaryOperation::Neg => map(input, output, |x: f32| -x),
            UnaryOperation::Log => map(input, output, f32::ln),
            UnaryOperation::Sin => map(input, output, f32::sin),
            UnaryOperation::Ceil => map(input, output, f32::ceil),
            UnaryOperation::Floor => map(input, output, f32::floor),
            UnaryOperation::Square => map(input, output, |x| x * x),
            other => {
                return Err(BackendError::unsupported(format!(
                    "{other} is not known here"
                )));
            }
        }
        Ok(())
    }
}

struct IntegerUnary<T, F> {
    len: usize,
    f: F,
    integer: PhantomData<fn(T) -> T>,
}

fn integer_workload<T: Element, F>(len: usize, f: F) -> Box<dyn Workload>
where
    F: Fn(T) -> T + Send + Sync + 'static,
{
    Box::new(IntegerUnary {
        len,
        f,
        integer: PhantomData,
    })
}

impl<T: Element, F> Workload for IntegerUnary<T, F>
where
    F: Fn(T) -> T + Send + Sync + 'static,
{
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let input = input_elements(inputs, 0, self.len)?;
        let output = output_elements(outputs, 0, self.len)?;
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
