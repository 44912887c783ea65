//! HardSwish of 8 bits in fixed point of 16 bits
//! (`kernels/internal/reference/hard_swish.h`).

use crate::numbers::quantized_arithmetic::{Multiplier, rounding_shift_right};

/// `x min(max(x + 3, 0), 6) / 6`: the number in the output's scale times a factor between 0 and 1.
pub(super) struct HardSwish {
    output: Multiplier16,
    /// Into a scale in which 3 is 2^15.
    relu: Multiplier16,
}

/// A factor `fraction / 2^15 * 2^exponent`.
struct Multiplier16 {
    fraction: i16,
    exponent: i32,
}

impl Multiplier16 {
    fn new(factor: f32) -> Self {
        let wide = Multiplier::new(factor.into());
        let fraction = (i64::from(wide.fraction) + (1 << 15)) >> 16;
        Self {
            fraction: fraction.min(i16::MAX.into()) as i16,
            exponent: wide.exponent,
        }
    }
}

impl HardSwish {
    /// `None` where the output's scale is so fine that the factor into it is 1 or more, which the
    /// rule does not cover.
    pub(super) fn new(from: f32, to: f32) -> Option<Self> {
        // Numbers are shifted by 7 bits first.
        let fine = from / 128.0;
        let rule = Self {
            output: Multiplier16::new(fine / to),
            relu: Multiplier16::new(fine / (3.0 / 32768.0)),
        };
        (rule.output.exponent <= 0).then_some(rule)
    }

    pub(super) fn apply(&self, x: i16) -> i16 {
        let x = x.wrapping_shl(7);
        let in_output = rounding_high_product(x, self.output.fraction);
        // One shift to the left is left for after the product, where it saturates what matters.
        let exponent = self.relu.exponent;
        let mut relu = x;
        if exponent > 0 {
            relu = saturating_shift_left(relu, exponent as u32 - 1);
        }
        relu = rounding_high_product(relu, self.relu.fraction);
        if exponent > 0 {
            relu = saturating_shift_left(relu, 1);
        } else {
            relu = rounding_shift_right(relu.into(), -exponent as u32) as i16;
        }
        // From -1 to 1, to from 0 to 1.
        let relu = (i32::from(relu) + (1 << 15)) >> 1;
        // Towards zero.
        let product = relu * i32::from(in_output) / (1 << 15);
        rounding_shift_right(product, -self.output.exponent as u32) as i16
    }
}

/// The upper half of `2 a b`, to nearest, ties upwards: gemmlowp's
/// `SaturatingRoundingDoublingHighMul` of 16 bits.
fn rounding_high_product(a: i16, b: i16) -> i16 {
    let product = i32::from(a) * i32::from(b);
    let nudge = if product >= 0 { 1 << 14 } else { 1 - (1 << 14) };
    // -2^15 by itself saturates.
    ((product + nudge) / (1 << 15)).min(i16::MAX.into()) as i16
}

fn saturating_shift_left(x: i16, by: u32) -> i16 {
    let shifted = i64::from(x) << by.min(32);
    shifted.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}
