//! ElementwiseBinary of quantized numbers.
//!
//! The rules are those of TensorFlow Lite's reference kernels (`kernels/add.cc`, `sub.cc`, `mul.cc`,
//! `div.cc`, `squared_difference.cc` and `kernels/internal/reference`), which Maximum and Minimum
//! have for equal scales only, and Power not at all. Numbers of other scales are rescaled first;
//! powers are computed in Float32. A quotient by 0 saturates, and 0 / 0 is 0. Quotients far below a
//! step of the output are 0, where the kernels there shift by more bits than there are.
//!
//! Sums of 16 bits have a rule of their own where all scales are powers of two, which an option of
//! the operator, `pot_scale_int16`, can turn off there; here it goes by the scales alone.

use std::marker::PhantomData;

use armnn_backend_api::{
    BinaryOperation, ExecutionContext, LayerView, Result, Synchronous, Workload,
};

use crate::{
    loops::loop_nest::{LoopNest, map_pairs},
    numbers::{
        quantized_arithmetic::{
            Affine, Multiplier, QuantizedElement, by_quantized_type, doubling_high_product,
            rounding_shift_right,
        },
        reciprocal::reciprocal,
    },
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
        layer_checks::{input, output},
    },
};

/// Refuses tensors without exactly one scale.
pub(super) fn check(layer: LayerView<'_>) -> Result<()> {
    Parameters::of(layer).map(|_| ())
}

pub(super) fn workload(
    layer: LayerView<'_>,
    operation: BinaryOperation,
    nest: LoopNest<2>,
) -> Result<Box<dyn Workload>> {
    let parameters = Parameters::of(layer)?;
    by_quantized_type!(output(layer, 0)?.data_type(), Q => {
        let kernel = QuantizedBinary::<Q> {
            rule: Rule::new::<Q>(operation, &parameters),
            parameters,
            nest,
            element: PhantomData,
        };
        element_workload(layer, kernel)
    })
}

#[derive(Clone, Copy)]
struct Parameters {
    x: Affine,
    y: Affine,
    output: Affine,
}

impl Parameters {
    fn of(layer: LayerView<'_>) -> Result<Self> {
        Ok(Self {
            x: Affine::of(input(layer, 0)?, "x")?,
            y: Affine::of(input(layer, 1)?, "y")?,
            output: Affine::of(output(layer, 0)?, "output")?,
        })
    }
}

/// How numbers without their zero points, x and y, become one of the output.
enum Rule {
    /// Both are brought into a common scale, of more bits, first.
    Sum {
        common: CommonScale,
        output: Multiplier,
        /// 1, or -1 for a difference.
        sign: i32,
    },
    /// Of 16 bits: both are shifted to the right into the output's scale.
    ShiftedSum {
        x: u32,
        y: u32,
        /// 1, or -1 for a difference.
        sign: i32,
    },
    SquaredDifference {
        common: CommonScale,
        output: Multiplier,
    },
    Product(Multiplier),
    Quotient(Multiplier),
    /// Both are brought into the output's scale.
    Extreme {
        x: Multiplier,
        y: Multiplier,
        is_maximum: bool,
    },
    Power,
}

/// Shifts to the left, and multiplies with the number's scale through twice the larger one.
#[derive(Clone, Copy)]
struct CommonScale {
    left_shift: u32,
    x: Multiplier,
    y: Multiplier,
}

impl CommonScale {
    fn new(left_shift: u32, x: f32, y: f32) -> Self {
        let twice_larger = 2.0 * f64::from(x.max(y));
        Self {
            left_shift,
            x: Multiplier::new(f64::from(x) / twice_larger),
            y: Multiplier::new(f64::from(y) / twice_larger),
        }
    }

    #[inline]
    fn apply(self, x: i32, y: i32) -> (i32, i32) {
        (
            self.x.apply(x.wrapping_shl(self.left_shift)),
            self.y.apply(y.wrapping_shl(self.left_shift)),
        )
    }
}

impl Rule {
    fn new<Q: QuantizedElement>(operation: BinaryOperation, p: &Parameters) -> Self {
        let (x, y, output) = (p.x.scale, p.y.scale, p.output.scale);
        let twice_larger = 2.0 * f64::from(x.max(y));
        match operation {
            BinaryOperation::Add | BinaryOperation::Sub => {
                let sign = match operation {
                    BinaryOperation::Add => 1,
                    _ => -1,
                };
                if Q::MAX > i32::from(u8::MAX)
                    && let Some([x, y]) = right_shifts([x, y], output)
                {
                    return Self::ShiftedSum { x, y, sign };
                }
                let left_shift = if Q::MAX > i32::from(u8::MAX) { 15 } else { 20 };
                let step = f64::from(1 << left_shift) * f64::from(output);
                Self::Sum {
                    common: CommonScale::new(left_shift, x, y),
                    output: Multiplier::new(twice_larger / step),
                    sign,
                }
            }
            BinaryOperation::SqDiff => {
                // The square of twice the larger scale, at twice the shift.
                let left_shift = if Q::MAX > i32::from(u8::MAX) { 0 } else { 7 };
                let step = f64::from(1 << (2 * left_shift)) * f64::from(output);
                Self::SquaredDifference {
                    common: CommonScale::new(left_shift, x, y),
                    output: Multiplier::new(twice_larger * twice_larger / step),
                }
            }
            // Computed in Float32, as there.
            BinaryOperation::Mul => Self::Product(Multiplier::new((x * y / output).into())),
            BinaryOperation::Div => Self::Quotient(Multiplier::new((x / (y * output)).into())),
            BinaryOperation::Maximum | BinaryOperation::Minimum => Self::Extreme {
                x: Multiplier::new(f64::from(x) / f64::from(output)),
                y: Multiplier::new(f64::from(y) / f64::from(output)),
                is_maximum: operation == BinaryOperation::Maximum,
            },
            // `check` lets nothing else through.
            _ => Self::Power,
        }
    }
}

/// The bits by which numbers of these scales are shifted to the right into the output's, where all
/// are powers of two and one of them is not shifted.
fn right_shifts(scales: [f32; 2], output: f32) -> Option<[u32; 2]> {
    // `CheckedLog2` (`kernels/internal/quantization_util.cc`).
    let exponent = |scale: f32| {
        let exponent = scale.ln() * (1.0 / 2f32.ln());
        let whole = exponent.round();
        ((exponent - whole).abs() < 1e-3).then_some(whole as i32)
    };
    let output = exponent(output)?;
    let shift = |scale| u32::try_from(output.checked_sub(exponent(scale)?)?).ok();
    let shifts = [shift(scales[0])?, shift(scales[1])?];
    shifts.contains(&0).then_some(shifts)
}

struct QuantizedBinary<Q> {
    rule: Rule,
    parameters: Parameters,
    nest: LoopNest<2>,
    element: PhantomData<fn(Q)>,
}

impl<Q: QuantizedElement> QuantizedBinary<Q> {
    /// `f` is of numbers without zero points.
    fn map(&self, x: &[Q], y: &[Q], out: &mut [Q], f: impl Fn(i32, i32) -> i32) {
        let p = &self.parameters;
        let (zero_x, zero_y, zero_out) = (p.x.zero_point, p.y.zero_point, p.output.zero_point);
        map_pairs(&self.nest, x, y, out, |x: Q, y: Q| {
            let number = f(
                x.to_i32().wrapping_sub(zero_x),
                y.to_i32().wrapping_sub(zero_y),
            );
            Q::saturating(number.saturating_add(zero_out))
        });
    }
}

impl<Q: QuantizedElement> Kernel for QuantizedBinary<Q> {
    type Input = Q;
    type Output = Q;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [x, y, _]: [&[Q]; MAX_INPUTS],
        out: &mut [Q],
    ) -> Result<()> {
        match self.rule {
            Rule::Sum {
                common,
                output,
                sign,
            } => self.map(x, y, out, |x, y| {
                let (x, y) = common.apply(x, y);
                output.apply(x.wrapping_add(sign.wrapping_mul(y)))
            }),
            Rule::ShiftedSum {
                x: by_x,
                y: by_y,
                sign,
            } => self.map(x, y, out, |x, y| {
                rounding_shift_right(x, by_x) + sign * rounding_shift_right(y, by_y)
            }),
            Rule::SquaredDifference { common, output } => self.map(x, y, out, |x, y| {
                let (x, y) = common.apply(x, y);
                let difference = x.wrapping_sub(y);
                output.apply(difference.wrapping_mul(difference))
            }),
            Rule::Product(factor) => {
                self.map(x, y, out, |x, y| factor.apply(x.wrapping_mul(y)));
            }
            Rule::Quotient(factor) => self.map(x, y, out, |x, y| quotient(x, y, factor)),
            Rule::Extreme {
                x: by_x,
                y: by_y,
                is_maximum,
            } => self.map(x, y, out, |x, y| {
                let (x, y) = (by_x.apply(x), by_y.apply(y));
                if is_maximum { x.max(y) } else { x.min(y) }
            }),
            Rule::Power => {
                let p = self.parameters;
                map_pairs(&self.nest, x, y, out, |x: Q, y: Q| {
                    let (x, y) = (p.x.dequantize(x.to_i32()), p.y.dequantize(y.to_i32()));
                    p.output.quantize(x.powf(y))
                });
            }
        }
        Ok(())
    }
}

/// `x / y` times a factor: `x`, shifted to the left as far as it goes, times the reciprocal of `y`.
fn quotient(x: i32, y: i32, factor: Multiplier) -> i32 {
    if y == 0 {
        // Far beyond any type, on the side of the numerator.
        return x.signum() * (i32::MAX / 2);
    }
    let (x, y) = if y < 0 { (-x, -y) } else { (x, y) };
    let (inverse, y_bits) = reciprocal(y as u32, 31);
    // Copies of the sign below the sign itself.
    let headroom = (if x < 0 {
        x.leading_ones()
    } else {
        x.leading_zeros()
    }) as i32
        - 1;
    let scaled = doubling_high_product(x << headroom.max(0), inverse);
    let shift = factor.exponent - y_bits - headroom;
    let product = doubling_high_product(scaled, factor.fraction);
    if shift > 0 {
        product.saturating_mul(1i32.checked_shl(shift as u32).unwrap_or(i32::MAX))
    } else {
        rounding_shift_right(product, -shift as u32)
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, ElementwiseBinaryDescriptor, Quantization, TensorInfo};

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_refused, typed};

    fn tensor(values: &[i8], scale: f32, zero_point: i32) -> Tensor {
        typed(DataType::QAsymmS8, [values.len() as i64], values)
            .quantized(Quantization::per_tensor(scale, zero_point))
    }

    fn computed(operation: BinaryOperation, x: Tensor, y: Tensor, scale: f32) -> Vec<i8> {
        let shape = x.info.shape;
        let output = TensorInfo::new(DataType::QAsymmS8, shape)
            .quantized(Quantization::per_tensor(scale, -1));
        let call = Call::new(ElementwiseBinaryDescriptor::new(operation))
            .input(x)
            .input(y)
            .output_info(output);
        call.run().elements(0)
    }

    #[test]
    fn operations_are_those_of_the_real_numbers() {
        // x: 0.5 (q - 2) = 3, -4; y: 0.25 (q + 4) = 2, 0.5.
        let x = || tensor(&[8, -6], 0.5, 2);
        let y = || tensor(&[4, -2], 0.25, -4);
        // Results in steps of 0.5, with a zero point of -1.
        for (operation, expected) in [
            (BinaryOperation::Add, [9, -8]),     // 5, -3.5
            (BinaryOperation::Sub, [1, -10]),    // 1, -4.5
            (BinaryOperation::Mul, [11, -5]),    // 6, -2
            (BinaryOperation::Div, [2, -17]),    // 1.5, -8
            (BinaryOperation::SqDiff, [1, 40]),  // 1, 20.25: between 40 and 41 steps
            (BinaryOperation::Maximum, [5, 0]),  // 3, 0.5
            (BinaryOperation::Minimum, [3, -9]), // 2, -4
            (BinaryOperation::Power, [17, 0]),   // 9, NaN
        ] {
            let found = computed(operation, x(), y(), 0.5);
            if operation == BinaryOperation::SqDiff {
                assert_eq!(found[0], expected[0]);
                assert!((found[1] - expected[1]).abs() <= 1, "{found:?}");
            } else {
                assert_eq!(found, expected, "{operation}");
            }
        }
    }

    #[test]
    fn results_saturate_and_a_quotient_by_zero_too() {
        let x = tensor(&[127, -128, 0, 127], 1.0, 0);
        let y = tensor(&[127, -128, 0, 0], 1.0, 0);
        assert_eq!(
            computed(BinaryOperation::Add, x.clone(), y.clone(), 1.0),
            [127, -128, -1, 126]
        );
        assert_eq!(computed(BinaryOperation::Div, x, y, 1.0), [0, 0, -1, 127]);
    }

    #[test]
    fn numbers_of_16_bits_are_shifted_where_scales_are_powers_of_two() {
        // 3 / 2 and -3 / 2 are rounded before they are added or subtracted, away from 0.
        let numbers = |values: &[i16], scale| {
            typed(DataType::QSymmS16, [3], values).quantized(Quantization::per_tensor(scale, 0))
        };
        for (operation, expected) in [
            (BinaryOperation::Add, [12, 8, i16::MAX]),
            (BinaryOperation::Sub, [8, 12, 32765]),
        ] {
            let x = numbers(&[10, 10, i16::MAX], 0.25);
            let output = x.info.clone();
            let call = Call::new(ElementwiseBinaryDescriptor::new(operation))
                .input(x)
                .input(numbers(&[3, -3, 4], 0.125))
                .output_info(output);
            assert_eq!(call.run().elements::<i16>(0), expected);
        }
    }

    #[test]
    fn a_tensor_without_a_scale_is_refused() {
        let call = Call::new(ElementwiseBinaryDescriptor::new(BinaryOperation::Add))
            .input(typed(DataType::QAsymmS8, [1], &[0i8]))
            .input(tensor(&[0], 1.0, 0))
            .output(DataType::QAsymmS8, [1]);
        assert_refused(&call, &["x has no scale and zero point"]);
    }
}
