//! ElementwiseBinary.

mod integer;
mod quantized;

use armnn_backend_api::{
    BackendError, BinaryOperation, DataType, ElementwiseBinaryDescriptor, ExecutionContext,
    LayerView, Result, Synchronous, Workload,
};

use crate::{
    loops::loop_nest::{LoopNest, broadcast_strides, map_pairs},
    numbers::{quantized_arithmetic::QUANTIZED, real::Real},
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            INTEGERS, REALS, dims, input, input_role, invalid, output, require_named,
            require_one_type,
        },
    },
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ElementwiseBinaryDescriptor) -> Result<()> {
    let operation = descriptor.operation();
    require_named(operation, operation.name())?;
    match operation {
        BinaryOperation::Atan2 => require_one_type(layer, &[REALS]),
        BinaryOperation::FloorDiv | BinaryOperation::FloorMod | BinaryOperation::TruncateMod => {
            require_one_type(layer, &[REALS, INTEGERS])
        }
        BinaryOperation::BitwiseAnd
        | BinaryOperation::BitwiseOr
        | BinaryOperation::BitwiseXor
        | BinaryOperation::ShiftLeft
        | BinaryOperation::ShiftRight => require_one_type(layer, &[INTEGERS]),
        _ => require_one_type(layer, &[REALS, INTEGERS, QUANTIZED]),
    }?;
    match output(layer, 0)?.data_type().is_quantized() {
        true => quantized::check(layer),
        false => Ok(()),
    }
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &ElementwiseBinaryDescriptor,
) -> Result<Box<dyn Workload>> {
    let operation = descriptor.operation();
    let nest = broadcast_nest(layer)?;
    match output(layer, 0)?.data_type() {
        DataType::Int8 => integer::workload::<i8>(layer, operation, nest),
        DataType::Int16 => integer::workload::<i16>(layer, operation, nest),
        DataType::Signed32 => integer::workload::<i32>(layer, operation, nest),
        DataType::Signed64 => integer::workload::<i64>(layer, operation, nest),
        DataType::UInt8 => integer::workload::<u8>(layer, operation, nest),
        DataType::UInt16 => integer::workload::<u16>(layer, operation, nest),
        DataType::UInt32 => integer::workload::<u32>(layer, operation, nest),
        DataType::UInt64 => integer::workload::<u64>(layer, operation, nest),
        quantized if quantized.is_quantized() => quantized::workload(layer, operation, nest),
        _ => real_workload(layer, ElementwiseBinary { operation, nest }),
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
            invalid(format_args!(
                "{} of shape {} does not broadcast to the output's {}",
                input_role(layer.layer_type(), position),
                tensor.shape(),
                layer.output(0).shape()
            ))
        })
    };
    let (x, y) = (strides(0)?, strides(1)?);
    Ok(LoopNest::new(&to, [&x, &y], [0, 0]))
}

/// The larger; NaN if either is.
pub(crate) fn larger<F: Real>(x: F, y: F) -> F {
    if x > y || x.is_nan() { x } else { y }
}

/// The smaller; NaN if either is.
pub(crate) fn smaller<F: Real>(x: F, y: F) -> F {
    if x < y || x.is_nan() { x } else { y }
}

struct ElementwiseBinary {
    operation: BinaryOperation,
    nest: LoopNest<2>,
}

impl<F: Real> FloatKernel<F> for ElementwiseBinary {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [x, y, _]: [&[F]; MAX_INPUTS],
        out: &mut [F],
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
            BinaryOperation::Power => map_pairs(nest, x, y, out, F::powf),
            BinaryOperation::FloorDiv => map_pairs(nest, x, y, out, |x, y| (x / y).floor()),
            BinaryOperation::FloorMod => map_pairs(nest, x, y, out, |x: F, y: F| {
                let rest = x % y;
                match rest != F::ZERO && (rest < F::ZERO) != (y < F::ZERO) {
                    true => rest + y,
                    false => rest,
                }
            }),
            BinaryOperation::TruncateMod => map_pairs(nest, x, y, out, |x, y| x % y),
            BinaryOperation::Atan2 => map_pairs(nest, x, y, out, F::atan2),
            other => {
                return Err(BackendError::unsupported(format!(
                    "{other} is not known here"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, Tensor, assert_close, assert_refused, f16s, f32s, typed};

    fn binary(operation: BinaryOperation, x: Tensor, y: Tensor, out: &[i64]) -> Call {
        let data_type = x.info.data_type;
        Call::new(ElementwiseBinaryDescriptor::new(operation))
            .input(x)
            .input(y)
            .output(data_type, armnn_backend_api::Shape::new(out).unwrap())
    }

    #[test]
    fn operations_are_as_defined() {
        for (operation, expected) in [
            (BinaryOperation::Add, [8.0, -1.0]),
            (BinaryOperation::Sub, [4.0, -5.0]),
            (BinaryOperation::Mul, [12.0, -6.0]),
            (BinaryOperation::Div, [3.0, -1.5]),
            (BinaryOperation::Maximum, [6.0, 2.0]),
            (BinaryOperation::Minimum, [2.0, -3.0]),
            (BinaryOperation::SqDiff, [16.0, 25.0]),
            (BinaryOperation::Power, [36.0, 9.0]),
        ] {
            let x = f32s([2], &[6.0, -3.0]);
            let y = f32s([2], &[2.0, 2.0]);
            assert_eq!(
                binary(operation, x, y, &[2]).run().f32s(),
                expected,
                "{operation}"
            );
        }
    }

    #[test]
    fn shapes_broadcast() {
        let add = |x: Tensor, y: Tensor, out: &[i64]| binary(BinaryOperation::Add, x, y, out).run();
        let column = f32s([2, 1], &[10.0, 20.0]);
        let row = f32s([3], &[1.0, 2.0, 3.0]);
        let scalar = f32s(armnn_backend_api::Shape::SCALAR, &[0.5]);
        let expected = [11.0, 12.0, 13.0, 21.0, 22.0, 23.0];
        assert_eq!(add(column.clone(), row.clone(), &[2, 3]).f32s(), expected);
        assert_eq!(add(row.clone(), column, &[2, 3]).f32s(), expected);
        assert_eq!(
            add(row.clone(), scalar.clone(), &[3]).f32s(),
            [1.5, 2.5, 3.5]
        );
        assert_eq!(add(scalar.clone(), row, &[3]).f32s(), [1.5, 2.5, 3.5]);
        assert_eq!(add(scalar.clone(), scalar, &[]).f32s(), [1.0]);
    }

    #[test]
    fn eight_dimensions_broadcast() {
        // x changes along every second dimension, y along the others.
        let x = f32s(
            [2, 1, 2, 1, 2, 1, 2, 1],
            &(0..16).map(|i| i as f32).collect::<Vec<_>>(),
        );
        let y = f32s(
            [1, 2, 1, 2, 1, 2, 1, 2],
            &(0..16).map(|i| i as f32).collect::<Vec<_>>(),
        );
        let found = binary(BinaryOperation::Sub, x, y, &[2; 8]).run().f32s();
        let pick = |i: usize, first: usize| {
            (0..4).fold(0, |n, bit| 2 * n + (i >> (7 - first - 2 * bit) & 1)) as f32
        };
        let expected: Vec<f32> = (0..256).map(|i| pick(i, 0) - pick(i, 1)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn empty_tensors_give_empty_results() {
        let (x, y) = (f32s([0, 3], &[]), f32s([1, 3], &[1.0; 3]));
        assert!(
            binary(BinaryOperation::Add, x, y, &[0, 3])
                .run()
                .f32s()
                .is_empty()
        );
    }

    #[test]
    fn nan_propagates_through_maximum_and_minimum() {
        for operation in [BinaryOperation::Maximum, BinaryOperation::Minimum] {
            let x = f32s([2], &[f32::NAN, 1.0]);
            let y = f32s([2], &[1.0, f32::NAN]);
            assert_close(
                &binary(operation, x, y, &[2]).run().f32s(),
                &[f32::NAN; 2],
                0.0,
            );
        }
    }

    #[test]
    fn float16_rounds_to_even() {
        // From 2048 on, a Float16 is a multiple of 2. 2049 lies in the middle of 1024 * 2 and
        // 1025 * 2; 2051 in that of 1025 * 2 and 1026 * 2.
        let x = f16s([2], &[2048.0, 2048.0]);
        let y = f16s([2], &[1.0, 3.0]);
        assert_eq!(
            binary(BinaryOperation::Add, x, y, &[2]).run().f16s(),
            [2048.0, 2052.0]
        );
    }

    #[test]
    fn integers_wrap_and_divide_towards_zero() {
        let run = |operation, x: &[i32], y: &[i32]| {
            let (x, y) = (
                typed(DataType::Signed32, [2], x),
                typed(DataType::Signed32, [2], y),
            );
            binary(operation, x, y, &[2]).run().elements::<i32>(0)
        };
        assert_eq!(
            run(BinaryOperation::Add, &[i32::MAX, 1], &[1, 1]),
            [i32::MIN, 2]
        );
        assert_eq!(
            run(BinaryOperation::Div, &[-7, i32::MIN], &[2, -1]),
            [-3, i32::MIN]
        );
        assert_eq!(run(BinaryOperation::Power, &[3, -1], &[4, -3]), [81, -1]);
        assert_eq!(run(BinaryOperation::Power, &[2, 0], &[-1, 0]), [0, 1]);
        assert_eq!(run(BinaryOperation::SqDiff, &[3, -1], &[5, 2]), [4, 9]);
        let x = typed(DataType::Signed64, [1], &[i64::MAX]);
        let y = typed(DataType::Signed64, [1], &[2i64]);
        assert_eq!(
            binary(BinaryOperation::Mul, x, y, &[1])
                .run()
                .elements::<i64>(0),
            [-2]
        );
    }

    #[test]
    fn an_integer_division_by_zero_is_an_error() {
        let x = typed(DataType::Signed32, [1], &[1i32]);
        let y = typed(DataType::Signed32, [1], &[0i32]);
        let error = binary(BinaryOperation::Div, x, y, &[1]).error();
        assert_eq!(error, "division by 0");
    }

    #[test]
    fn what_does_not_fit_is_refused_or_an_error() {
        let (x, y) = (f32s([2], &[0.0; 2]), f32s([3], &[0.0; 3]));
        let error = binary(BinaryOperation::Add, x, y, &[3]).error();
        assert!(
            error.contains("x of shape [2] does not broadcast"),
            "{error}"
        );
        let (x, y) = (f32s([1], &[0.0]), f16s([1], &[0.0]));
        let mixed = binary(BinaryOperation::Add, x, y, &[1]);
        assert_refused(&mixed, &["the type of y is Float16; supported: Float32"]);
    }

    #[test]
    fn remainders_have_the_sign_of_either_number() {
        // -7 = -4 · 2 + 1 = -3 · 2 - 1, and 7 = -4 · -2 - 1 = -3 · -2 + 1.
        let (x, y) = ([-7.0, 7.0, 6.0, -6.0], [2.0, -2.0, 2.0, 2.0]);
        let ints = |values: [f32; 4]| values.map(|v| v as i32);
        for (operation, expected) in [
            (BinaryOperation::FloorDiv, [-4.0, -4.0, 3.0, -3.0]),
            (BinaryOperation::FloorMod, [1.0, -1.0, 0.0, 0.0]),
            (BinaryOperation::TruncateMod, [-1.0, 1.0, 0.0, 0.0]),
        ] {
            let found = binary(operation, f32s([4], &x), f32s([4], &y), &[4])
                .run()
                .f32s();
            assert_close(&found, &expected, 0.0);
            let x = typed(DataType::Signed32, [4], &ints(x));
            let y = typed(DataType::Signed32, [4], &ints(y));
            let found = binary(operation, x.clone(), y, &[4])
                .run()
                .elements::<i32>(0);
            assert_eq!(found, ints(expected), "{operation}");
            let zeros = typed(DataType::Signed32, [4], &[0; 4]);
            assert!(binary(operation, x, zeros, &[4]).error().contains("by 0"));
        }
    }

    #[test]
    fn bits_are_combined_and_shifted() {
        let x = typed(DataType::Signed32, [3], &[0b1100, -8, 5]);
        let y = typed(DataType::Signed32, [3], &[0b1010, 1, 40]);
        for (operation, expected) in [
            (BinaryOperation::BitwiseAnd, [0b1000, 0, 0]),
            (BinaryOperation::BitwiseOr, [0b1110, -7, 45]),
            (BinaryOperation::BitwiseXor, [0b0110, -7, 45]),
            (BinaryOperation::ShiftLeft, [0b1100 << 10, -16, 0]),
            (BinaryOperation::ShiftRight, [0, -4, 0]),
        ] {
            let found = binary(operation, x.clone(), y.clone(), &[3]).run();
            assert_eq!(found.elements::<i32>(0), expected, "{operation}");
        }
        let bytes = [
            typed(DataType::UInt8, [1], &[200u8]),
            typed(DataType::UInt8, [1], &[3u8]),
        ];
        let [x, y] = bytes;
        let found = binary(BinaryOperation::ShiftRight, x, y, &[1]).run();
        assert_eq!(found.elements::<u8>(0), [25]);
        let [x, y] = [f32s([1], &[1.0]), f32s([1], &[1.0])];
        assert_refused(
            &binary(BinaryOperation::BitwiseOr, x, y, &[1]),
            &["Float32"],
        );
    }

    #[test]
    fn an_angle_is_that_of_a_point() {
        let [x, y] = [f32s([3], &[1.0, 1.0, 0.0]), f32s([3], &[1.0, -1.0, -1.0])];
        let found = binary(BinaryOperation::Atan2, x, y, &[3]).run().f32s();
        let pi = std::f32::consts::PI;
        assert_close(&found, &[pi / 4.0, 3.0 * pi / 4.0, pi], 1e-6);
    }

    #[test]
    fn float64_is_computed_in_itself() {
        // 2^-40 gets lost beside 1 in Float32.
        let little = 2f64.powi(-40);
        let run = |operation, x: f64, y: f64| {
            let of = |value| typed(DataType::Float64, [1], &[value]);
            let call = binary(operation, of(x), of(y), &[1]);
            call.run().elements::<f64>(0)[0]
        };
        assert_eq!(run(BinaryOperation::Add, 1.0, little), 1.0 + little);
        assert_eq!(
            run(BinaryOperation::Maximum, 1.0, 1.0 + little),
            1.0 + little
        );
        assert_eq!(run(BinaryOperation::Power, 1.0 + little, 1.0), 1.0 + little);
        assert!(run(BinaryOperation::Minimum, 1.0, f64::NAN).is_nan());
        // -7 = -4 * 2 + 1 = -3 * 2 - 1
        assert_eq!(run(BinaryOperation::FloorMod, -7.0, 2.0), 1.0);
        assert_eq!(run(BinaryOperation::TruncateMod, -7.0, 2.0), -1.0);
    }
}
