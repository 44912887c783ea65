//! Reciprocals and powers of e in fixed point, as gemmlowp (`fixedpoint/fixedpoint.h`) computes
//! them.
//!
//! A number with n integer bits is an `i32` in units of 2^(n - 31).

use crate::numbers::quantized_arithmetic::{
    Multiplier, doubling_high_product, rounding_shift_right,
};

/// The reciprocal of a positive number with `integer_bits` integer bits, as a number without any,
/// and the bits by which the number is larger than 1, or smaller (below 0): the reciprocal is that
/// of the number shifted to lie from 1 on and below 2. TensorFlow Lite's `GetReciprocal`
/// (`kernels/internal/common.h`).
pub(crate) fn reciprocal(number: u32, integer_bits: i32) -> (i32, i32) {
    let headroom = number.max(1).leading_zeros();
    let fraction = (i64::from(number) << headroom) - (1 << 31);
    (
        one_over_one_plus(fraction as i32),
        integer_bits - headroom as i32,
    )
}

/// `1 / (1 + x)` for x from 0 on and below 1, both without integer bits: three steps of Newton's
/// method for half the denominator, with 2 integer bits.
pub(crate) fn one_over_one_plus(x: i32) -> i32 {
    let half_denominator = rounding_half_sum(x, i32::MAX);
    // 48 / 17 and -32 / 17 in units of 2^-29.
    const START: i32 = 1_515_870_810;
    const SLOPE: i32 = -1_010_580_540;
    const ONE: i32 = 1 << 29;
    let mut estimate = START.wrapping_add(doubling_high_product(half_denominator, SLOPE));
    for _ in 0..3 {
        let product = doubling_high_product(half_denominator, estimate);
        let rest = ONE.wrapping_sub(product);
        // The product of two numbers with 2 integer bits has 4.
        let correction = saturating_shift_left(doubling_high_product(estimate, rest), 2);
        estimate = estimate.wrapping_add(correction);
    }
    // From 2 integer bits, of twice the result, to none of the result.
    saturating_shift_left(estimate, 1)
}

/// The reciprocal of the square root of a number from 0 on, of which 0 counts as 1: TensorFlow Lite's
/// `GetInvSqrtQuantizedMultiplierExp`, five steps of Newton's method with 3 integer bits.
pub(crate) fn reciprocal_root(number: i32) -> Multiplier {
    if number <= 1 {
        return Multiplier {
            fraction: i32::MAX,
            exponent: 0,
        };
    }
    let (mut number, mut shift) = (number, 11);
    while number >= 1 << 29 {
        number /= 4;
        shift += 1;
    }
    // To the left by pairs of bits, so that their root is whole.
    let pairs = (number.leading_zeros() as i32 - 1) / 2 - 1;
    shift -= pairs;
    let number = (number << (2 * pairs)) >> 1;
    let half = rounding_shift_right(number, 1);
    const THREE_HALVES: i32 = (1 << 28) + (1 << 27);
    // 1 / sqrt(2) without integer bits.
    const HALF_ROOT_OF_TWO: i32 = 1_518_500_250;
    let mut x = 1 << 28;
    for _ in 0..5 {
        let cube = doubling_high_product(doubling_high_product(x, x), x);
        let cube = saturating_shift_left(cube, 6);
        let next =
            doubling_high_product(THREE_HALVES, x).wrapping_sub(doubling_high_product(half, cube));
        x = saturating_shift_left(next, 3);
    }
    let mut fraction = doubling_high_product(x, HALF_ROOT_OF_TWO);
    if shift < 0 {
        fraction = fraction.wrapping_shl(-shift as u32);
        shift = 0;
    }
    Multiplier {
        fraction,
        exponent: -shift,
    }
}

/// Half the sum, rounded to nearest, ties away from zero.
pub(crate) fn rounding_half_sum(a: i32, b: i32) -> i32 {
    let sum = i64::from(a) + i64::from(b);
    let sign = if sum >= 0 { 1 } else { -1 };
    ((sum + sign) / 2) as i32
}

pub(crate) fn saturating_shift_left(x: i32, by: u32) -> i32 {
    let shifted = i64::from(x) << by;
    shifted.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// `e^x` without integer bits, for x up to 0 with 5 integer bits: gemmlowp's
/// `exp_on_negative_values`, the product of e to the power of each bit of x from -1/4 on, and a
/// polynomial of the rest.
pub(crate) fn exp_on_negative_values(x: i32) -> i32 {
    const INTEGER_BITS: u32 = 5;
    const FRACTION_BITS: u32 = 31 - INTEGER_BITS;
    const QUARTER: i32 = 1 << (FRACTION_BITS - 2);
    let mask = QUARTER - 1;
    // From -1/4 on and below 0.
    let rest = (x & mask).wrapping_sub(QUARTER);
    let mut result = exp_on_last_quarter(rest.wrapping_shl(INTEGER_BITS));
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
    for (i, factor) in FACTORS.into_iter().enumerate() {
        if remainder & 1 << (FRACTION_BITS - 2 + i as u32) != 0 {
            result = doubling_high_product(result, factor);
        }
    }
    if x == 0 { i32::MAX } else { result }
}

/// `e^x` for x from -1/4 on and below 0, both without integer bits: a Taylor series of four terms
/// around -1/8.
fn exp_on_last_quarter(x: i32) -> i32 {
    // e^(-1/8) and 1/3 in units of 2^-31.
    const AT_CENTRE: i32 = 1_895_147_668;
    const THIRD: i32 = 715_827_883;
    let x = x.wrapping_add(1 << 28);
    let x2 = doubling_high_product(x, x);
    let x3 = doubling_high_product(x2, x);
    let x4_4 = rounding_shift_right(doubling_high_product(x2, x2), 2);
    let sum = doubling_high_product(x4_4.wrapping_add(x3), THIRD).wrapping_add(x2);
    let terms = x.wrapping_add(rounding_shift_right(sum, 1));
    AT_CENTRE.wrapping_add(doubling_high_product(AT_CENTRE, terms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_are_close_to_the_real_ones() {
        for number in [1u32, 2, 3, 7, 100, 12345, 1 << 30, u32::MAX / 2] {
            let (inverse, bits) = reciprocal(number, 31);
            // The number is its value from 1 on and below 2, times 2^bits.
            let value = f64::from(number) / 2f64.powi(bits);
            assert!((1.0..2.0).contains(&value), "{number}");
            let found = f64::from(inverse) / 2f64.powi(31);
            assert!((found - 1.0 / value).abs() < 1e-8, "{number}: {found}");
        }
    }

    #[test]
    fn reciprocal_roots_are_close_to_the_real_ones() {
        for number in [1, 2, 3, 4, 100, 255, 65535, i32::MAX] {
            let root = reciprocal_root(number);
            let found = f64::from(root.fraction) / 2f64.powi(31 - root.exponent);
            let expected = 1.0 / f64::from(number).sqrt();
            assert!((found / expected - 1.0).abs() < 2e-6, "{number}: {found}");
        }
    }

    #[test]
    fn powers_of_e_are_close_to_the_real_ones() {
        assert_eq!(exp_on_negative_values(0), i32::MAX);
        for x in [-0.01f64, -0.25, -0.3, -1.0, -2.75, -10.5, -31.9] {
            let found = exp_on_negative_values((x * f64::from(1 << 26)) as i32);
            let found = f64::from(found) / 2f64.powi(31);
            assert!((found - x.exp()).abs() < 1e-6, "{x}: {found}");
        }
    }
}
