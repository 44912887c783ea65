//! Fixed-point arithmetic of quantized layers, bit for bit that of TensorFlow Lite's reference
//! kernels.
//!
//! A real factor is a [`Multiplier`]: a fraction of 31 bits and a power of two. The rules are those
//! of `QuantizeMultiplier` (`kernels/internal/quantization_util.cc`) and
//! `MultiplyByQuantizedMultiplier` (`kernels/internal/common.h`, in its default form, which rounds
//! twice), and of `SaturatingRoundingDoublingHighMul` and `RoundingDivideByPOT` of gemmlowp
//! (`fixedpoint/fixedpoint.h`), which it is made of. B. Jacob et al., "Quantization and Training of
//! Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2017, section 2.2, has the
//! derivation.

use armnn_backend_api::{DataType, Element, Result, TensorView};

use crate::workloads::layer_checks::refusal;

/// The types that carry quantization.
pub(crate) const QUANTIZED: &[DataType] = &[
    DataType::QAsymmS8,
    DataType::QAsymmU8,
    DataType::QSymmS8,
    DataType::QSymmS16,
];

/// The elements of a quantized type; 32 bits are those of a result.
pub(crate) trait QuantizedElement: Element + Ord {
    const MIN: i32;
    const MAX: i32;

    fn to_i32(self) -> i32;

    /// The nearest number there is.
    fn saturating(number: i32) -> Self;

    /// The nearest number there is, towards zero; NaN becomes 0.
    fn saturating_f32(number: f32) -> Self;
}

macro_rules! quantized_elements {
    ($($T:ty)*) => {$(
        impl QuantizedElement for $T {
            const MIN: i32 = <$T>::MIN as i32;
            const MAX: i32 = <$T>::MAX as i32;

            #[inline]
            fn to_i32(self) -> i32 {
                self.into()
            }

            #[inline]
            fn saturating(number: i32) -> Self {
                number.clamp(<Self as QuantizedElement>::MIN, <Self as QuantizedElement>::MAX) as $T
            }

            #[inline]
            fn saturating_f32(number: f32) -> Self {
                number as $T
            }
        }
    )*};
}
quantized_elements! { u8 i8 i16 i32 }

/// Calls `$body` with the type alias `$Q` standing for the elements of a quantized data type.
macro_rules! by_quantized_type {
    ($data_type:expr, $Q:ident => $body:expr) => {
        match $data_type {
            armnn_backend_api::DataType::QAsymmU8 => {
                type $Q = u8;
                $body
            }
            armnn_backend_api::DataType::QSymmS16 => {
                type $Q = i16;
                $body
            }
            _ => {
                type $Q = i8;
                $body
            }
        }
    };
}
pub(crate) use by_quantized_type;

/// What the numbers of a whole tensor stand for: `scale * (number - zero_point)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Affine {
    pub(crate) scale: f32,
    pub(crate) zero_point: i32,
}

impl Affine {
    /// The scale and zero point of a tensor.
    ///
    /// # Errors
    /// A refusal when it has none, or several.
    pub(crate) fn of(tensor: TensorView<'_>, role: &str) -> Result<Self> {
        match (tensor.scales(), tensor.zero_points()) {
            (&[scale], &[zero_point]) if scale > 0.0 => Ok(Self { scale, zero_point }),
            (&[_], &[_]) => Err(refusal(format_args!("the scale of {role} is 0"))),
            (&[], _) => Err(refusal(format_args!("{role} has no scale and zero point"))),
            _ => Err(refusal(format_args!(
                "{role} has several scales; supported: one for the whole tensor"
            ))),
        }
    }

    /// The real number that a number stands for.
    #[inline]
    pub(crate) fn dequantize(self, number: i32) -> f32 {
        self.scale * number.wrapping_sub(self.zero_point) as f32
    }

    /// The number nearest to a real one, ties away from zero; NaN becomes 0.
    #[inline]
    pub(crate) fn quantize<Q: QuantizedElement>(self, real: f32) -> Q {
        Q::saturating_f32((real / self.scale).round() + self.zero_point as f32)
    }

    /// The numbers between which an activation with these real bounds keeps a tensor's:
    /// `CalculateActivationRangeQuantized` (`kernels/kernel_util.cc`). A bound that is infinite is
    /// none.
    pub(crate) fn range<Q: QuantizedElement>(self, least: f32, most: f32) -> (i32, i32) {
        let number =
            |real: f32| ((real / self.scale).round() as i32).saturating_add(self.zero_point);
        let from = if least == f32::NEG_INFINITY {
            Q::MIN
        } else {
            number(least).max(Q::MIN)
        };
        let to = if most == f32::INFINITY {
            Q::MAX
        } else {
            number(most).min(Q::MAX)
        };
        (from.min(Q::MAX), to.max(Q::MIN))
    }
}

/// A real factor `fraction / 2^31 * 2^exponent`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Multiplier {
    /// 0, or at least 2^30 in size.
    pub(crate) fraction: i32,
    /// From -31 on.
    pub(crate) exponent: i32,
}

impl Multiplier {
    /// `QuantizeMultiplier`: the fraction is rounded to nearest, ties away from zero; a factor below
    /// 2^-32 is 0. Factors from 2^31 on lose bits of what they are applied to.
    pub(crate) fn new(factor: f64) -> Self {
        if factor == 0.0 || !factor.is_finite() {
            return Self::default();
        }
        let (mantissa, mut exponent) = split(factor);
        let mut fraction = (mantissa * f64::from(1u32 << 31)).round() as i64;
        if fraction.unsigned_abs() == 1 << 31 {
            fraction /= 2;
            exponent += 1;
        }
        if exponent < -31 {
            return Self::default();
        }
        Self {
            fraction: fraction as i32,
            exponent: exponent.min(31),
        }
    }

    /// `MultiplyByQuantizedMultiplier` of 32 bits: shifted left, multiplied with rounding, shifted
    /// right with rounding. A shift to the left wraps around.
    #[inline]
    pub(crate) fn apply(self, x: i32) -> i32 {
        let shifted = x.wrapping_shl(self.exponent.max(0) as u32);
        rounding_shift_right(
            doubling_high_product(shifted, self.fraction),
            (-self.exponent).max(0) as u32,
        )
    }

    /// `MultiplyByQuantizedMultiplier` of 64 bits, with a fraction of 15 bits, rounding once.
    #[inline]
    pub(crate) fn apply_wide(self, x: i64) -> i32 {
        let fraction = if self.fraction < 0x7fff_0000 {
            (i64::from(self.fraction) + (1 << 15)) >> 16
        } else {
            0x7fff
        };
        let shift = (15 - self.exponent).clamp(1, 62);
        let product = x.wrapping_mul(fraction).wrapping_add(1 << (shift - 1));
        (product >> shift) as i32
    }
}

/// A number as `mantissa * 2^exponent` with a mantissa from 0.5 on and below 1: C's `frexp`. The
/// number is finite and not 0.
fn split(x: f64) -> (f64, i32) {
    // A subnormal number is made a normal one first.
    let (normal, moved) = if x.is_normal() {
        (x, 0)
    } else {
        (x * 2f64.powi(64), 64)
    };
    let bits = normal.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1022;
    let mantissa = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    (mantissa, exponent - moved)
}

/// The upper half of `2 a b`, rounded to nearest, ties upwards: gemmlowp's
/// `SaturatingRoundingDoublingHighMul`.
#[inline]
pub(crate) fn doubling_high_product(a: i32, b: i32) -> i32 {
    let product = i64::from(a) * i64::from(b);
    // Only the square of the least number is too large.
    ((product + (1 << 30)) >> 31).min(i32::MAX.into()) as i32
}

/// `x / 2^exponent`, rounded to nearest, ties away from zero: gemmlowp's `RoundingDivideByPOT`,
/// which is for exponents up to 31.
#[inline]
pub(crate) fn rounding_shift_right(x: i32, exponent: u32) -> i32 {
    let (x, exponent) = (i64::from(x), exponent.min(62));
    let half = (1i64 << exponent) >> 1;
    // Below zero, ties go down. Without a shift there are none.
    let below = (x >> 63) & -i64::from(exponent > 0);
    ((x + half + below) >> exponent) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_split_into_31_bits_and_an_exponent() {
        // 0.75 = 0.75 * 2^0; 3 = 0.75 * 2^2; 0.75 * 2^31 = 1610612736.
        let fraction = 1_610_612_736;
        for (factor, exponent) in [(0.75, 0), (3.0, 2), (0.1875, -2)] {
            let expected = Multiplier { fraction, exponent };
            assert_eq!(Multiplier::new(factor), expected);
        }
        // Rounds up to 1, which is 0.5 * 2.
        let almost_one = Multiplier::new(1.0 - 1e-12);
        assert_eq!((almost_one.fraction, almost_one.exponent), (1 << 30, 1));
        assert_eq!(Multiplier::new(0.0), Multiplier::default());
        assert_eq!(Multiplier::new(2f64.powi(-40)), Multiplier::default());
        assert_eq!(Multiplier::new(f64::from_bits(1)), Multiplier::default());
    }

    #[test]
    fn products_round_to_nearest() {
        let half = Multiplier::new(0.5);
        // Ties go upwards: 3 / 2 = 1.5 to 2, -3 / 2 = -1.5 to -1.
        assert_eq!([3, -3, 4, -4].map(|x| half.apply(x)), [2, -1, 2, -2]);
        let eighth = Multiplier::new(0.125);
        // 0.5 * 2^-2: the product by 0.5 is shifted by 2, and ties of that go away from zero.
        assert_eq!([20, -20, 12, -12].map(|x| eighth.apply(x)), [3, -3, 2, -2]);
        assert_eq!(Multiplier::new(3.0).apply(-7), -21);
        assert_eq!(Multiplier::new(1.0).apply(i32::MAX / 2), i32::MAX / 2);
    }

    #[test]
    fn wide_products_round_once() {
        let factor = Multiplier::new(0.75);
        // 0.75 has few bits, so that 15 of them are enough; 3.75 and -3.75, and 4.5 up.
        assert_eq!([5, -5, 6].map(|x| factor.apply_wide(x)), [4, -4, 5]);
        assert_eq!(factor.apply_wide(1 << 30), 3 << 28);
        assert_eq!(Multiplier::new(2.0).apply_wide(21), 42);
    }

    #[test]
    fn a_product_of_the_smallest_numbers_saturates() {
        assert_eq!(doubling_high_product(i32::MIN, i32::MIN), i32::MAX);
        assert_eq!(doubling_high_product(i32::MIN, i32::MAX), -i32::MAX);
    }

    #[test]
    fn shifts_round_ties_away_from_zero() {
        assert_eq!(
            [5, -5, 6, -6, 7].map(|x| rounding_shift_right(x, 2)),
            [1, -1, 2, -2, 2]
        );
        assert_eq!(
            [i32::MAX, i32::MIN].map(|x| rounding_shift_right(x, 31)),
            [1, -1]
        );
        assert_eq!(rounding_shift_right(-7, 0), -7);
        assert_eq!(
            [i32::MAX, i32::MIN].map(|x| rounding_shift_right(x, 33)),
            [0, 0]
        );
    }

    #[test]
    fn ranges_are_in_numbers_of_the_tensor() {
        let tensor = Affine {
            scale: 0.1,
            zero_point: -10,
        };
        assert_eq!(tensor.range::<i8>(0.0, 6.0), (-10, 50));
        assert_eq!(tensor.range::<i8>(0.0, f32::INFINITY), (-10, 127));
        assert_eq!(tensor.range::<i8>(-100.0, 100.0), (-128, 127));
        assert_eq!(tensor.range::<i16>(-100.0, 100.0), (-1010, 990));
    }
}
