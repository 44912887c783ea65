//! The logistic function and tanh in fixed point of 16 bits, bit for bit as gemmlowp
//! (`fixedpoint/fixedpoint.h`) computes them.
//!
//! A number with n integer bits is an `i16` in units of 2^(n - 15). As there, additions and
//! negations wrap around where nothing else is said.

/// 1 without integer bits, or almost.
const ONE: i16 = i16::MAX;

/// `1 / (1 + e^-x)` without integer bits, for x with 3 integer bits: gemmlowp's `logistic`.
pub(super) fn logistic(x: i16) -> i16 {
    if x == 0 {
        return 1 << 14;
    }
    let negative = if x > 0 { x.wrapping_neg() } else { x };
    let estimate = half_reciprocal(exp_on_negative_values(negative, 3));
    // From 2 integer bits, of twice the result, to none of the result.
    let result = shift_left(estimate, 1);
    if x > 0 {
        result
    } else {
        ONE.wrapping_sub(result)
    }
}

/// tanh without integer bits, of a number with 0 to 6 integer bits: gemmlowp's `tanh`.
pub(super) fn tanh(x: i16, integer_bits: u32) -> i16 {
    if x == 0 {
        return 0;
    }
    let negative = if x < 0 { x } else { x.wrapping_neg() };
    // (1 - e^2x) / (1 + e^2x) = 2 / (1 + e^2x) - 1; twice x is x with an integer bit more.
    let estimate = half_reciprocal(exp_on_negative_values(negative, integer_bits + 1));
    let result = shift_left(estimate.wrapping_sub(1 << 13), 2);
    if x < 0 { result.wrapping_neg() } else { result }
}

/// `2 / (1 + x)` with 2 integer bits, for x from 0 to 1 without any: three steps of Newton's method
/// for half the denominator.
fn half_reciprocal(x: i16) -> i16 {
    let sum = i32::from(x) + i32::from(ONE);
    let half_denominator = ((sum + if sum >= 0 { 1 } else { -1 }) / 2) as i16;
    // 48 / 17 and -32 / 17.
    let mut estimate =
        constant(1_515_870_810).wrapping_add(product(half_denominator, constant(-1_010_580_540)));
    for _ in 0..3 {
        let rest = (1i16 << 13).wrapping_sub(product(half_denominator, estimate));
        // The product of two numbers with 2 integer bits has 4.
        estimate = estimate.wrapping_add(shift_left(product(estimate, rest), 2));
    }
    estimate
}

/// `e^x` without integer bits, for x up to 0 with 1 to 7 integer bits: the product of e to the power
/// of each bit of x from -1/4 on, and a polynomial of the rest.
fn exp_on_negative_values(x: i16, integer_bits: u32) -> i16 {
    if x == 0 {
        return ONE;
    }
    let fraction_bits = 15 - integer_bits;
    let quarter = 1i16 << (fraction_bits - 2);
    // From -1/4 on and below 0.
    let rest = (x & (quarter - 1)) - quarter;
    let mut result = exp_on_last_quarter(shift_left(rest, integer_bits));
    let remainder = rest.wrapping_sub(x);
    // e^(-2^(i - 2)), in units of 2^-31.
    const FACTORS: [i32; 7] = [
        1_672_461_947,
        1_302_514_674,
        790_015_084,
        290_630_308,
        39_332_535,
        720_401,
        242,
    ];
    for (bit, &factor) in (fraction_bits - 2..15).zip(&FACTORS) {
        if remainder >> bit & 1 != 0 {
            result = product(result, constant(factor));
        }
    }
    // Below -32.
    if integer_bits > 5 && i32::from(x) < -(32 << fraction_bits) {
        return 0;
    }
    result
}

/// `e^x` for x from -1/4 on and below 0, without integer bits: four terms of the Taylor series around
/// -1/8.
fn exp_on_last_quarter(x: i16) -> i16 {
    // e^(-1/8) and 1/3.
    let (term, third) = (constant(1_895_147_668), constant(715_827_883));
    let x = x.wrapping_add(1 << 12);
    let square = product(x, x);
    let cube = product(square, x);
    let fourth = product(square, square);
    let sum = product(shift_right(fourth, 2).wrapping_add(cube), third).wrapping_add(square);
    let factor = x.wrapping_add(shift_right(sum, 1));
    term.saturating_add(product(term, factor))
}

/// A number that is given with 32 bits, rounded.
fn constant(of_32_bits: i32) -> i16 {
    crate::numbers::quantized_arithmetic::rounding_shift_right(of_32_bits, 16) as i16
}

/// The product of fractions, rounded to nearest: `SaturatingRoundingDoublingHighMul`.
pub(super) fn product(a: i16, b: i16) -> i16 {
    if a == i16::MIN && b == i16::MIN {
        return i16::MAX;
    }
    let product = i32::from(a) * i32::from(b);
    let nudge = if product >= 0 { 1 << 14 } else { 1 - (1 << 14) };
    ((product + nudge) / (1 << 15)) as i16
}

/// Saturates.
pub(super) fn shift_left(x: i16, by: u32) -> i16 {
    (i32::from(x) << by).clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// Rounds to nearest, ties away from zero.
pub(super) fn shift_right(x: i16, by: u32) -> i16 {
    crate::numbers::quantized_arithmetic::rounding_shift_right(x.into(), by) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 15 bits, the last four may differ: some 20 products are rounded, and their errors grow
    /// by a shift at the end.
    const TOLERANCE: f64 = 16.0 / 32768.0;

    #[test]
    fn the_logistic_function_is_close_to_the_real_one() {
        assert_eq!(logistic(0), 1 << 14);
        for x in (i16::MIN..=i16::MAX).step_by(7) {
            let real = 1.0 / (1.0 + (-f64::from(x) / 4096.0).exp());
            let found = f64::from(logistic(x)) / 32768.0;
            assert!((found - real).abs() < TOLERANCE, "{x}: {found}, not {real}");
        }
    }

    #[test]
    fn tanh_is_close_to_the_real_one_whatever_the_integer_bits() {
        assert_eq!(tanh(0, 3), 0);
        for integer_bits in 0..=6 {
            let unit = 2f64.powi(integer_bits as i32 - 15);
            for x in (i16::MIN..=i16::MAX).step_by(7) {
                let real = (f64::from(x) * unit).tanh();
                let found = f64::from(tanh(x, integer_bits)) / 32768.0;
                assert!(
                    (found - real).abs() < TOLERANCE,
                    "{x} with {integer_bits} integer bits: {found}, not {real}"
                );
                // Odd, but for the number without an opposite.
                if x > i16::MIN {
                    assert_eq!(tanh(-x, integer_bits), -tanh(x, integer_bits));
                }
            }
        }
    }
}
