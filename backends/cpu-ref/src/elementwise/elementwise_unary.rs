//! ElementwiseUnary.

mod quantized;

use std::marker::PhantomData;

use armnn_backend_api::{
    BackendError, DataType, Element, ElementwiseUnaryDescriptor, ExecutionContext, LayerView,
    Result, Synchronous, UnaryOperation, Workload,
};

use half::{bf16, f16};

use crate::{
    conversion::cast::Scalar,
    elementwise::activation::erf,
    numbers::{quantized_arithmetic::QUANTIZED, real::Real},
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            INTEGERS, REALS, input, invalid, num_elements, output, require_input, require_named,
            require_one_type, require_output,
        },
    },
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ElementwiseUnaryDescriptor) -> Result<()> {
    let operation = descriptor.operation();
    require_named(operation, operation.name())?;
    match operation {
        UnaryOperation::LogicalNot => require_one_type(layer, &[&[DataType::Boolean]]),
        UnaryOperation::Abs
        | UnaryOperation::Neg
        | UnaryOperation::Sign
        | UnaryOperation::Square => require_one_type(layer, &[REALS, INTEGERS, QUANTIZED]),
        UnaryOperation::BitwiseNot => require_one_type(layer, &[INTEGERS]),
        UnaryOperation::IsNan
        | UnaryOperation::IsInf
        | UnaryOperation::IsPosInf
        | UnaryOperation::IsNegInf => {
            require_input(layer, 0, &[REALS])?;
            require_output(layer, 0, &[&[DataType::Boolean]])
        }
        _ => require_one_type(layer, &[REALS, QUANTIZED, &[DataType::Signed32]]),
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
                UnaryOperation::BitwiseNot => map_workload(layer, |x: $T| !x),
                UnaryOperation::Sign => map_workload(layer, |x: $T| {
                    let above = <$T>::from(x > 0);
                    #[allow(unused_comparisons)]
                    if x < 0 { above.wrapping_sub(1) } else { above }
                }),
                _ => map_workload(layer, |x: $T| x.wrapping_mul(x)),
            }
        };
    }
    if operation != UnaryOperation::LogicalNot && output(layer, 0)?.data_type() == DataType::Boolean
    {
        return match input(layer, 0)?.data_type() {
            DataType::Float16 => test_workload::<f16>(layer, operation),
            DataType::BFloat16 => test_workload::<bf16>(layer, operation),
            DataType::Float64 => test_workload::<f64>(layer, operation),
            _ => test_workload::<f32>(layer, operation),
        };
    }
    match output(layer, 0)?.data_type() {
        DataType::Boolean => map_workload(layer, |x: u8| u8::from(x == 0)),
        // Functions of real numbers: in Float64, towards zero, as Arm NN's encoder.
        DataType::Signed32 if !is_of_integers(operation) => {
            map_workload(layer, move |x: i32| value(operation, f64::from(x)) as i32)
        }
        DataType::Int8 => of_integers!(i8),
        DataType::Int16 => of_integers!(i16),
        DataType::Signed32 => of_integers!(i32),
        DataType::Signed64 => of_integers!(i64),
        DataType::UInt8 => of_integers!(u8),
        DataType::UInt16 => of_integers!(u16),
        DataType::UInt32 => of_integers!(u32),
        DataType::UInt64 => of_integers!(u64),
        quantized if quantized.is_quantized() => quantized::workload(layer, operation),
        _ => real_workload(layer, ElementwiseUnary(operation)),
    }
}

/// Whether integers have an operation of their own.
fn is_of_integers(operation: UnaryOperation) -> bool {
    matches!(
        operation,
        UnaryOperation::Abs
            | UnaryOperation::Neg
            | UnaryOperation::Sign
            | UnaryOperation::Square
            | UnaryOperation::BitwiseNot
    )
}

struct ElementwiseUnary(UnaryOperation);

impl<F: Real> FloatKernel<F> for ElementwiseUnary {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, ..]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let operation = self.0;
        match operation {
            UnaryOperation::Abs => map(input, output, F::abs),
            UnaryOperation::Neg => map(input, output, |x: F| -x),
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
fn value<F: Real>(operation: UnaryOperation, x: F) -> F {
    match operation {
        UnaryOperation::Abs => x.abs(),
        UnaryOperation::Exp => x.exp(),
        UnaryOperation::Sqrt => x.sqrt(),
        UnaryOperation::Rsqrt => F::ONE / x.sqrt(),
        UnaryOperation::Neg => -x,
        UnaryOperation::Log => x.ln(),
        UnaryOperation::Sin => x.sin(),
        UnaryOperation::Ceil => x.ceil(),
        UnaryOperation::Floor => x.floor(),
        UnaryOperation::Square => x * x,
        UnaryOperation::Cos => x.cos(),
        UnaryOperation::Tan => x.tan(),
        UnaryOperation::Asin => x.asin(),
        UnaryOperation::Acos => x.acos(),
        UnaryOperation::Atan => x.atan(),
        // In Float32 these lose bits where terms nearly cancel.
        UnaryOperation::Sinh => F::from_f64(x.to_f64().sinh()),
        UnaryOperation::Cosh => F::from_f64(x.to_f64().cosh()),
        UnaryOperation::Asinh => F::from_f64(x.to_f64().asinh()),
        UnaryOperation::Acosh => F::from_f64(x.to_f64().acosh()),
        UnaryOperation::Atanh => F::from_f64(x.to_f64().atanh()),
        UnaryOperation::Erf => F::from_f64(erf(x.to_f64())),
        UnaryOperation::Sign if x == F::ZERO || x.is_nan() => x,
        UnaryOperation::Sign => x.signum(),
        UnaryOperation::Round => x.round_ties_even(),
        UnaryOperation::Reciprocal => F::ONE / x,
        _ => x,
    }
}

/// Whether each number is NaN or infinite.
struct Test<T> {
    operation: UnaryOperation,
    element: PhantomData<fn(T)>,
}

fn test_workload<T>(layer: LayerView<'_>, operation: UnaryOperation) -> Result<Box<dyn Workload>>
where
    T: Scalar + Into<f64>,
{
    let element = PhantomData::<fn(T)>;
    element_workload(layer, Test { operation, element })
}

impl<T: Scalar + Into<f64>> Kernel for Test<T> {
    type Input = T::Bits;
    type Output = u8;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[T::Bits]; MAX_INPUTS],
        output: &mut [u8],
    ) -> Result<()> {
        let results = input.iter().map(|&x| self.test(T::from_bits(x).into()));
        output.iter_mut().zip(results).for_each(|(o, x)| *o = x);
        Ok(())
    }
}

impl<T> Test<T> {
    fn test(&self, x: f64) -> u8 {
        u8::from(match self.operation {
            UnaryOperation::IsNan => x.is_nan(),
            UnaryOperation::IsPosInf => x == f64::INFINITY,
            UnaryOperation::IsNegInf => x == f64::NEG_INFINITY,
            // `check` lets nothing else through.
            _ => x.is_infinite(),
        })
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
        // Of the smallest number, e^-2 = 0.14 and e^3 = 20.09, towards zero.
        let powers = unary(UnaryOperation::Exp, ints).run();
        assert_eq!(powers.elements::<i32>(0), [0, 0, 20]);
    }

    #[test]
    fn functions_of_angles_and_their_inverses_are_as_defined() {
        type Function = fn(f64) -> f64;
        // From -1 to 1 in steps of an eighth, and beyond.
        let values: Vec<f32> = (-8..=8).map(|i| i as f32 / 8.0).chain([3.0]).collect();
        let cases: [(UnaryOperation, Function); 10] = [
            (UnaryOperation::Cos, |x| {
                (x + std::f64::consts::FRAC_PI_2).sin()
            }),
            (UnaryOperation::Tan, |x| x.sin() / x.cos()),
            // With the half-angle formula: asin x = 2 atan(x / (1 + sqrt(1 - x^2))).
            (UnaryOperation::Asin, |x| {
                2.0 * x.atan2(1.0 + (1.0 - x * x).sqrt())
            }),
            (UnaryOperation::Acos, |x| (1.0 - x * x).sqrt().atan2(x)),
            (UnaryOperation::Atan, |x| x.atan2(1.0)),
            (UnaryOperation::Sinh, |x| (x.exp() - (-x).exp()) / 2.0),
            (UnaryOperation::Cosh, |x| (x.exp() + (-x).exp()) / 2.0),
            (UnaryOperation::Asinh, |x| (x + (x * x + 1.0).sqrt()).ln()),
            (UnaryOperation::Acosh, |x| (x + (x * x - 1.0).sqrt()).ln()),
            (UnaryOperation::Atanh, |x| {
                0.5 * ((1.0 + x) / (1.0 - x)).ln()
            }),
        ];
        for (operation, defined) in cases {
            let expected: Vec<f32> = values.iter().map(|&x| defined(x.into()) as f32).collect();
            let found = unary(operation, f32s([18], &values)).run().f32s();
            for ((found, expected), x) in found.iter().zip(&expected).zip(&values) {
                let close = (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
                let same = found.is_nan() && expected.is_nan() || found == expected;
                assert!(close || same, "{operation} {x}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn steps_and_reciprocals() {
        let values = [-2.5, -0.5, 0.0, 0.5, 1.5, 2.5];
        let run = |operation| unary(operation, f32s([6], &values)).run().f32s();
        assert_eq!(run(UnaryOperation::Round), [-2.0, 0.0, 0.0, 0.0, 2.0, 2.0]);
        assert_eq!(run(UnaryOperation::Sign), [-1.0, -1.0, 0.0, 1.0, 1.0, 1.0]);
        let reciprocals = run(UnaryOperation::Reciprocal);
        assert_eq!(reciprocals[..3], [-0.4, -2.0, f32::INFINITY]);
        // Abramowitz and Stegun, table 7.1.
        let erf = run(UnaryOperation::Erf);
        assert_close(&erf[2..5], &[0.0, 0.5204999, 0.9661051], 1e-7);
        let nan = unary(UnaryOperation::Sign, f32s([1], &[f32::NAN])).run();
        assert!(nan.f32s()[0].is_nan());
    }

    #[test]
    fn numbers_are_tested_and_bits_turned_round() {
        let values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0];
        let test = |operation, input: Tensor| {
            Call::new(ElementwiseUnaryDescriptor::new(operation))
                .input(input)
                .output(DataType::Boolean, [4])
        };
        for (operation, expected) in [
            (UnaryOperation::IsNan, [1, 0, 0, 0]),
            (UnaryOperation::IsInf, [0, 1, 1, 0]),
            (UnaryOperation::IsPosInf, [0, 1, 0, 0]),
            (UnaryOperation::IsNegInf, [0, 0, 1, 0]),
        ] {
            for input in [f32s([4], &values), f16s([4], &values)] {
                let found = test(operation, input).run().elements::<u8>(0);
                assert_eq!(found, expected, "{operation}");
            }
        }
        let ints = typed(DataType::Signed32, [4], &[0, 1, -5, 3]);
        assert_refused(&test(UnaryOperation::IsNan, ints.clone()), &["Signed32"]);
        let not = unary(UnaryOperation::BitwiseNot, ints.clone()).run();
        assert_eq!(not.elements::<i32>(0), [-1, -2, 4, -4]);
        let sign = unary(UnaryOperation::Sign, ints).run();
        assert_eq!(sign.elements::<i32>(0), [0, 1, -1, 1]);
        let bytes = typed(DataType::UInt8, [2], &[0u8, 200]);
        let sign = unary(UnaryOperation::Sign, bytes.clone()).run();
        assert_eq!(sign.elements::<u8>(0), [0, 1]);
        let not = unary(UnaryOperation::BitwiseNot, bytes).run();
        assert_eq!(not.elements::<u8>(0), [255, 55]);
        let not = unary(UnaryOperation::BitwiseNot, f32s([1], &[1.0]));
        assert_refused(&not, &["Float32"]);
    }

    #[test]
    fn float64_is_computed_in_itself() {
        let run = |operation, x: f64| {
            let call = Call::new(ElementwiseUnaryDescriptor::new(operation))
                .input(typed(DataType::Float64, [1], &[x]))
                .output(DataType::Float64, [1]);
            call.run().elements::<f64>(0)[0]
        };
        assert!((run(UnaryOperation::Exp, 1.0) - std::f64::consts::E).abs() < 1e-15);
        assert!((run(UnaryOperation::Acos, -1.0) - std::f64::consts::PI).abs() < 1e-15);
        // tanh x = 1 / 2 at x = ln(3) / 2.
        assert!((run(UnaryOperation::Atanh, 0.5) - 3f64.ln() / 2.0).abs() < 1e-15);
        assert_eq!(run(UnaryOperation::Round, 2.5), 2.0);
        assert_eq!(run(UnaryOperation::Sign, -1e-300), -1.0);
    }

    #[test]
    fn every_float_is_tested_for_infinity() {
        let run = |operation, input: Tensor| {
            let call = Call::new(ElementwiseUnaryDescriptor::new(operation))
                .input(input)
                .output(DataType::Boolean, [3]);
            call.run().elements::<u8>(0)
        };
        // 1e300 is beyond Float32; 0x7f80 and 0xff80 are infinite, 0x7fc0 is NaN.
        let doubles = typed(DataType::Float64, [3], &[1e300, f64::INFINITY, f64::NAN]);
        assert_eq!(run(UnaryOperation::IsInf, doubles.clone()), [0, 1, 0]);
        assert_eq!(run(UnaryOperation::IsNan, doubles), [0, 0, 1]);
        let halves = typed(DataType::BFloat16, [3], &[0x7f80u16, 0xff80, 0x7fc0]);
        assert_eq!(run(UnaryOperation::IsPosInf, halves.clone()), [1, 0, 0]);
        assert_eq!(run(UnaryOperation::IsNegInf, halves), [0, 1, 0]);
    }
}
