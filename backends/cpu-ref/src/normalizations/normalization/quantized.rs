//! L2Normalization and LogSoftmax of quantized numbers, as TensorFlow Lite's reference kernels
//! compute them in fixed point (`kernels/internal/reference/integer_ops/l2normalization.h` and
//! `log_softmax.h`, `reference/l2normalization.h`, and the logarithm of `internal/common.h`).
//!
//! They are for outputs of one scale: 1/128, and 1/16 of 8 bits with sign. Others are computed in
//! Float32.

use std::marker::PhantomData;

use armnn_backend_api::{DataType, ExecutionContext, LayerView, Result, Synchronous, Workload};

use super::Axis;
use crate::{
    numbers::{
        quantized_arithmetic::{
            Affine, Multiplier, QuantizedElement, doubling_high_product, rounding_shift_right,
        },
        reciprocal::{
            exp_on_negative_values, one_over_one_plus, reciprocal_root, rounding_half_sum,
            saturating_shift_left,
        },
    },
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
        layer_checks::{input, output},
    },
};

/// The workload, if there is a rule in fixed point for the scales.
pub(super) fn l2_workload(layer: LayerView<'_>, axis: Axis) -> Result<Option<Box<dyn Workload>>> {
    if !output(layer, 0)?.data_type().is_quantized() {
        return Ok(None);
    }
    let from = Affine::of(input(layer, 0)?, "input")?;
    let to = Affine::of(output(layer, 0)?, "output")?;
    let kernel = |is_shifted_first| Normalized {
        axis,
        from: from.zero_point,
        to: to.zero_point,
        is_shifted_first,
    };
    Ok(match (output(layer, 0)?.data_type(), to.zero_point) {
        _ if to.scale != 1.0 / 128.0 => None,
        (DataType::QAsymmS8, 0) => Some(element_workload(layer, L2::<i8>::new(kernel(false)))?),
        (DataType::QAsymmU8, 128) => Some(element_workload(layer, L2::<u8>::new(kernel(true)))?),
        _ => None,
    })
}

/// The workload, if there is a rule in fixed point for the scales.
pub(super) fn log_softmax_workload(
    layer: LayerView<'_>,
    axis: Axis,
    beta: f32,
) -> Result<Option<Box<dyn Workload>>> {
    if output(layer, 0)?.data_type() != DataType::QAsymmS8 {
        return Ok(None);
    }
    let from = Affine::of(input(layer, 0)?, "input")?;
    let to = Affine::of(output(layer, 0)?, "output")?;
    let factor = f64::from(beta) * f64::from(from.scale) * 2f64.powi(31 - INPUT_BITS);
    // A larger factor saturates there; a smaller one has no bits.
    let factor = factor.min(2f64.powi(31) - 1.0);
    if (to.scale, to.zero_point) != (1.0 / 16.0, ZERO_POINT) || factor <= 1.0 {
        return Ok(None);
    }
    let factor = Multiplier::new(factor);
    let inverse = 2f64.powi(31 - factor.exponent) / f64::from(factor.fraction);
    let radius = ((1 << INPUT_BITS) - 1) as f64 * 2f64.powi(31 - INPUT_BITS);
    let rule = LogSoftmax {
        axis,
        factor,
        inverse: Multiplier::new(inverse),
        least: -((radius / 2f64.powi(factor.exponent)).floor() as i32),
    };
    element_workload(layer, rule).map(Some)
}

/// What both element types of L2Normalization have in common.
#[derive(Clone, Copy)]
struct Normalized {
    axis: Axis,
    from: i32,
    to: i32,
    /// Whether numbers are multiplied by 128 before the factor is applied, not along with it.
    is_shifted_first: bool,
}

struct L2<Q> {
    rule: Normalized,
    element: PhantomData<fn(Q)>,
}

impl<Q> L2<Q> {
    fn new(rule: Normalized) -> Self {
        Self {
            rule,
            element: PhantomData,
        }
    }
}

impl<Q: QuantizedElement> Kernel for L2<Q> {
    type Input = Q;
    type Output = Q;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[Q]; MAX_INPUTS],
        output: &mut [Q],
    ) -> Result<()> {
        let rule = self.rule;
        let number = |at: usize| input[at].to_i32().wrapping_sub(rule.from);
        rule.axis.for_each_line(input.len(), |positions| {
            let squares = positions.clone().fold(0i32, |sum, at| {
                sum.wrapping_add(number(at).wrapping_mul(number(at)))
            });
            let root = reciprocal_root(squares);
            for at in positions {
                let y = match rule.is_shifted_first {
                    true => root.apply(number(at).wrapping_mul(128)),
                    false => Multiplier {
                        exponent: root.exponent + 7,
                        ..root
                    }
                    .apply(number(at)),
                };
                output[at] = Q::saturating(y.saturating_add(rule.to));
            }
        });
        Ok(())
    }
}

/// Integer bits of the input as a fixed-point number.
const INPUT_BITS: i32 = 5;
/// Integer bits of the sum of powers.
const SUM_BITS: i32 = 12;
/// Integer bits of the output.
const OUTPUT_BITS: i32 = 4;
const ZERO_POINT: i32 = 127;

struct LogSoftmax {
    axis: Axis,
    /// Into numbers with 5 integer bits.
    factor: Multiplier,
    /// And back.
    inverse: Multiplier,
    /// Powers of differences below this one count as 0.
    least: i32,
}

impl Kernel for LogSoftmax {
    type Input = i8;
    type Output = i8;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[i8]; MAX_INPUTS],
        output: &mut [i8],
    ) -> Result<()> {
        self.axis.for_each_line(input.len(), |positions| {
            let largest = positions.clone().map(|at| input[at]).max().unwrap_or(0);
            let difference = |at: usize| i32::from(input[at]) - i32::from(largest);
            let sum = positions.clone().fold(0i32, |sum, at| {
                if difference(at) < self.least {
                    return sum;
                }
                let power = exp_on_negative_values(self.factor.apply(difference(at)));
                sum.wrapping_add(rounding_shift_right(power, SUM_BITS as u32))
            });
            let log = logarithm(sum);
            let limit = self.inverse.apply(log.wrapping_add(i32::MIN));
            let least = limit.max(self.least - 1);
            for at in positions {
                output[at] = i8::MIN;
                if difference(at) > least {
                    let x = self.factor.apply(difference(at)).wrapping_sub(log);
                    let y = rounding_shift_right(x, (31 - INPUT_BITS - OUTPUT_BITS) as u32);
                    output[at] = i8::saturating(y.saturating_add(ZERO_POINT));
                }
            }
        });
        Ok(())
    }
}

/// The natural logarithm, with 5 integer bits, of a number from 1 on with 12: TensorFlow Lite's
/// `log_x_for_x_greater_than_or_equal_to_1`. The number is taken to be a power of two times one near
/// 1, of whose logarithm there is a quotient of polynomials.
fn logarithm(x: i32) -> i32 {
    // Constants without integer bits, but for those of `accumulated`.
    const LOG_2: i32 = 1_488_522_236;
    const FOURTH_ROOT_OF_HALF: i32 = 1_805_811_301;
    const ROOT_OF_HALF: i32 = 1_518_500_250;
    // 11/240, 1/20 and 1/4 of the fourth root of 2, and 2 / root - root.
    const ALPHA_N: i32 = 117_049_297;
    const ALPHA_D: i32 = 127_690_142;
    const ALPHA_I: i32 = 1_057_819_769;
    const ALPHA_F: i32 = 638_450_708;
    /// One more than those of the result, so that nothing saturates.
    const ACCUMULATED_BITS: u32 = 6;
    let product = doubling_high_product;
    let accumulated = |whole: i32| saturating_shift_left(whole, 31 - ACCUMULATED_BITS);
    const QUARTER: i32 = 1 << (29 - ACCUMULATED_BITS);

    let x = x.max(1);
    let zeros = x.leading_zeros() as i32;
    let r_a = saturating_shift_left(x, (zeros - 1) as u32);
    let r_a = saturating_shift_left(product(r_a, ROOT_OF_HALF), 1);
    let power_a = accumulated(SUM_BITS - zeros).saturating_add(QUARTER);

    let zeros = (product(x, ROOT_OF_HALF) as u32).leading_zeros() as i32 - 1;
    let r_b = saturating_shift_left(x, zeros.max(0) as u32);
    let power_b = accumulated(SUM_BITS - zeros).saturating_sub(QUARTER);

    let r = r_a.min(r_b);
    let power = power_a.max(power_b);
    let p = rounding_half_sum(r, FOURTH_ROOT_OF_HALF);
    let q = r.wrapping_sub(FOURTH_ROOT_OF_HALF).wrapping_mul(2);
    let square = product(q, q);
    let numerator = product(q, r).wrapping_add(product(product(q, square), ALPHA_N));
    let denominator = ALPHA_I
        .wrapping_add(q)
        .wrapping_add(product(ALPHA_D, square));
    let denominator = product(p, denominator).wrapping_add(product(ALPHA_F, q));
    let quotient = product(
        rounding_shift_right(numerator, ACCUMULATED_BITS),
        one_over_one_plus(denominator),
    );
    saturating_shift_left(product(power, LOG_2).wrapping_add(quotient), 1)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{L2NormalizationDescriptor, LogSoftmaxDescriptor, Quantization};

    use super::*;
    use crate::test_harness::{Call, typed};

    #[test]
    fn logarithms_are_those_of_real_numbers() {
        for x in [1.0f64, 1.5, 2.0, 3.7, 100.0, 2047.0] {
            let found = f64::from(logarithm((x * 2f64.powi(31 - SUM_BITS)) as i32));
            let found = found / 2f64.powi(31 - INPUT_BITS);
            assert!((found - x.ln()).abs() < 1e-4, "{x}: {found}");
        }
    }

    #[test]
    fn a_vector_of_integers_becomes_as_long_as_1() {
        // 3 / 5 and -4 / 5 of 128: 76.8 and -102.4.
        let d = L2NormalizationDescriptor {
            epsilon: 1e-12,
            axis: 1,
        };
        let q = Quantization::per_tensor;
        let x = typed(DataType::QAsymmS8, [1, 2], &[13i8, 6]).quantized(q(0.5, 10));
        let call = Call::new(d).input(x.clone());
        let to = x.info.clone().quantized(q(1.0 / 128.0, 0));
        assert_eq!(call.output_info(to).run().elements::<i8>(0), [77, -102]);
        let x = typed(DataType::QAsymmU8, [1, 2], &[13u8, 6]).quantized(q(0.5, 10));
        let to = x.info.clone().quantized(q(1.0 / 128.0, 128));
        let call = Call::new(d).input(x).output_info(to);
        assert_eq!(call.run().elements::<u8>(0), [205, 26]);
    }

    #[test]
    fn logarithms_of_probabilities_are_in_steps_of_a_sixteenth() {
        // Of 0, 1 and -2: -0.349, -0.349 - 1, ... below ln(e + 1 + e^-2) = 1.349.
        let d = LogSoftmaxDescriptor { beta: 1.0, axis: 1 };
        let q = Quantization::per_tensor;
        let x = typed(DataType::QAsymmS8, [1, 3], &[0i8, 2, -4]).quantized(q(0.5, 0));
        let to = x.info.clone().quantized(q(1.0 / 16.0, 127));
        let call = Call::new(d).input(x).output_info(to);
        // 127 - 16 * 1.349, 0.349 and 3.349: 105.4, 121.4 and 73.4.
        assert_eq!(call.run().elements::<i8>(0), [105, 121, 73]);
    }
}
