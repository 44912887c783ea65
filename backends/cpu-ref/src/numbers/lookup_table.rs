//! Functions of quantized numbers as tables: of each number of 8 bits, or of every 128th of 16 bits,
//! with straight lines in between. `LUTPopulate` and `LUTLookup` of TensorFlow Lite
//! (`kernels/internal/common.h`).

use crate::numbers::quantized_arithmetic::{Affine, QuantizedElement};

/// A function of numbers of 8 bits.
pub(crate) struct Table8<Q>(Vec<Q>);

impl<Q: QuantizedElement> Table8<Q> {
    /// The numbers of `to` nearest to `f` of what the numbers of `from` stand for.
    pub(crate) fn new(from: Affine, to: Affine, f: impl Fn(f32) -> f32) -> Self {
        let inverse = 1.0 / to.scale;
        let number = |x: i32| {
            let rescaled = (f(from.dequantize(x)) * inverse).round();
            Q::saturating_f32(rescaled + to.zero_point as f32)
        };
        Self((Q::MIN..=Q::MAX).map(number).collect())
    }

    #[inline]
    pub(crate) fn get(&self, x: Q) -> Q {
        self.0[(x.to_i32() - Q::MIN) as usize]
    }
}

/// The numbers of 16 bits at which a table has values.
const STEPS: usize = 512;

/// A function of numbers of 16 bits.
pub(crate) struct Table16(Vec<i16>);

/// The type that the values of a table are computed in.
pub(crate) trait Float:
    Copy
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
{
    fn from_i32(x: i32) -> Self;
    fn round(self) -> Self;
    fn to_i16(self) -> i16;
}

macro_rules! floats {
    ($($T:ty)*) => {$(
        impl Float for $T {
            fn from_i32(x: i32) -> Self {
                x as $T
            }

            fn round(self) -> Self {
                <$T>::round(self)
            }

            fn to_i16(self) -> i16 {
                self as i16
            }
        }
    )*};
}
floats! { f32 f64 }

impl Table16 {
    /// The numbers of scale `to` nearest to `f` of what the numbers of scale and zero point `from`
    /// stand for. Each value is moved by half of the error that the straight line to the next one
    /// has in the middle.
    pub(crate) fn new<F: Float>((scale, zero_point): (F, i32), to: F, f: impl Fn(F) -> F) -> Self {
        let number = F::from_i32;
        let ends = [i16::MIN, i16::MAX].map(i32::from);
        let [least, most] = ends.map(|end| scale * number(end - zero_point));
        let [to_least, to_most] = ends.map(|end| to * number(end));
        let two = number(2);
        let step = (most - least) / number(STEPS as i32);
        let half_step = step / two;
        let inverse = number(1 << 16) / (to_most - to_least);
        let mut table: Vec<i16> = (0..STEPS as i32)
            .map(|i| {
                let at = least + number(i) * step;
                let value = (f(at) * inverse).round();
                let middle = (f(at + half_step) * inverse).round();
                let next = f(least + number(i + 1) * step) * inverse;
                let interpolated = ((next + value) / two).round();
                (value - ((interpolated - middle) / two).round()).to_i16()
            })
            .collect();
        table.push((f(most) * inverse).round().to_i16());
        Self(table)
    }

    #[inline]
    pub(crate) fn get(&self, x: i16) -> i16 {
        let index = (256 + (i32::from(x) >> 7)) as usize;
        let offset = i32::from(x) & 0x7f;
        let base = self.0[index];
        // A difference beyond 16 bits wraps around, as there.
        let slope = self.0[index + 1].wrapping_sub(base);
        let delta = (i32::from(slope) * offset + 64) >> 7;
        (i32::from(base) + delta) as i16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_8_bits_has_each_number() {
        let scaled = |scale, zero_point| Affine { scale, zero_point };
        let table = Table8::<u8>::new(scaled(0.5, 10), scaled(0.25, 3), |x| x * x);
        // (12 - 10) / 2 = 1, and 1 / 0.25 + 3 = 7; 5^2 / 0.25 + 3 = 103; 122^2 is too large.
        assert_eq!([12u8, 0, 254].map(|x| table.get(x)), [7, 103, 255]);
    }

    #[test]
    fn a_table_of_16_bits_interpolates() {
        let table = Table16::new((1.0f32 / 32768.0, 0), 1.0f32 / 32768.0, |x| x / 2.0);
        for x in [0i16, 1, 2, 127, 128, 12345, -12345, i16::MAX, i16::MIN] {
            let found = f64::from(table.get(x));
            assert!((found - f64::from(x) / 2.0).abs() <= 1.0, "{x}: {found}");
        }
    }
}
