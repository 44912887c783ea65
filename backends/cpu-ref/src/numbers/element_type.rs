//! Kernels for elements of any type: which Rust type stands for them.

use armnn_backend_api::{DataType, Element};
use half::{bf16, f16};

use crate::numbers::quantized_arithmetic::QUANTIZED;
use crate::workloads::layer_checks::{INTEGERS, REALS};

/// The types that have a [`Number`]: those of arithmetic, and quantized ones, whose numbers are in
/// the order of what they stand for.
pub(crate) const NUMBERS: &[&[DataType]] = &[REALS, INTEGERS, QUANTIZED];

/// The same and Boolean.
pub(crate) const COMPARABLES: &[&[DataType]] = &[REALS, INTEGERS, QUANTIZED, &[DataType::Boolean]];

/// The types of indices.
pub(crate) const INDICES: &[&[DataType]] = &[&[DataType::Signed32, DataType::Signed64]];

/// An element as a number.
pub(crate) trait Number: Copy + PartialOrd + Send + Sync + 'static {
    /// As it is stored.
    type Stored: Element;
    const ZERO: Self;
    const ONE: Self;

    fn load(stored: Self::Stored) -> Self;

    fn store(self) -> Self::Stored;

    /// A number that the type has.
    fn from_i32(number: i32) -> Self;

    fn is_nan(self) -> bool {
        false
    }

    /// A number that is in the order of these, with NaN above all.
    fn ordinal(self) -> u64;

    /// Integers wrap around; halves are rounded.
    fn add(self, other: Self) -> Self;

    fn sub(self, other: Self) -> Self;

    fn mul(self, other: Self) -> Self;

    /// NaN if either is.
    fn larger(self, other: Self) -> Self {
        if self > other || self.is_nan() {
            self
        } else {
            other
        }
    }

    /// NaN if either is.
    fn smaller(self, other: Self) -> Self {
        if self < other || self.is_nan() {
            self
        } else {
            other
        }
    }
}

macro_rules! integers {
    ($($T:ty)*) => {$(
        impl Number for $T {
            type Stored = Self;
            const ZERO: Self = 0;
            const ONE: Self = 1;

            fn load(stored: Self) -> Self {
                stored
            }

            fn store(self) -> Self {
                self
            }

            fn from_i32(number: i32) -> Self {
                number as Self
            }

            #[allow(unused_comparisons)]
            fn ordinal(self) -> u64 {
                // As a number of 64 bits, with the signed ones moved up.
                match <$T>::MIN < 0 {
                    true => self as i64 as u64 ^ (1 << 63),
                    false => self as u64,
                }
            }

            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

macro_rules! floats {
    ($($T:ty)*) => {$(
        impl Number for $T {
            type Stored = Self;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            fn load(stored: Self) -> Self {
                stored
            }

            fn store(self) -> Self {
                self
            }

            fn from_i32(number: i32) -> Self {
                number as Self
            }

            #[inline]
            fn is_nan(self) -> bool {
                Self::is_nan(self)
            }

            fn ordinal(self) -> u64 {
                if self.is_nan() {
                    return u64::MAX;
                }
                // Without the sign of 0, and with those below 0 turned round, in as many bits.
                let sign = 1 << (8 * size_of::<Self>() - 1);
                let bits = (self + 0.0).to_bits();
                u64::from(if bits & sign == 0 { bits | sign } else { !bits })
            }

            fn add(self, other: Self) -> Self {
                self + other
            }

            fn sub(self, other: Self) -> Self {
                self - other
            }

            fn mul(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}
floats! { f32 f64 }

macro_rules! halves {
    ($($T:ty)*) => {$(
        impl Number for $T {
            type Stored = u16;
            const ZERO: Self = <$T>::ZERO;
            const ONE: Self = <$T>::ONE;

            fn load(stored: u16) -> Self {
                <$T>::from_bits(stored)
            }

            fn store(self) -> u16 {
                <$T>::to_bits(self)
            }

            fn from_i32(number: i32) -> Self {
                Self::from_f32(number as f32)
            }

            fn is_nan(self) -> bool {
                <$T>::is_nan(self)
            }

            fn ordinal(self) -> u64 {
                self.to_f32().ordinal()
            }

            fn add(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() + other.to_f32())
            }

            fn sub(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() - other.to_f32())
            }

            fn mul(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() * other.to_f32())
            }
        }
    )*};
}
halves! { f16 bf16 }

/// `$body` with `$N` the [`Number`] of a data type of [`COMPARABLES`].
macro_rules! by_number {
    ($data_type:expr, $N:ident => $body:expr) => {{
        use armnn_backend_api::DataType as T;
        macro_rules! with {
            ($Type:ty) => {{
                type $N = $Type;
                $body
            }};
        }
        match $data_type {
            T::Float32 => with!(f32),
            T::Float64 => with!(f64),
            T::Float16 => with!(half::f16),
            T::BFloat16 => with!(half::bf16),
            T::Int8 | T::QAsymmS8 | T::QSymmS8 => with!(i8),
            T::UInt8 | T::QAsymmU8 | T::Boolean => with!(u8),
            T::Int16 | T::QSymmS16 => with!(i16),
            T::UInt16 => with!(u16),
            T::Signed32 => with!(i32),
            T::UInt32 => with!(u32),
            T::Signed64 => with!(i64),
            T::UInt64 => with!(u64),
            other => Err($crate::workloads::layer_checks::refusal(format_args!(
                "numbers of type {other} are not computed with here"
            ))),
        }
    }};
}
pub(crate) use by_number;

/// `$body` with `$W` an unsigned integer of a data type's size, to move elements with.
macro_rules! by_size {
    ($data_type:expr, $W:ident => $body:expr) => {{
        macro_rules! with {
            ($Type:ty) => {{
                type $W = $Type;
                $body
            }};
        }
        match $crate::workloads::copy::element_size($data_type)? {
            1 => with!(u8),
            2 => with!(u16),
            4 => with!(u32),
            _ => with!(u64),
        }
    }};
}
pub(crate) use by_size;

/// A tensor of indices.
#[derive(Clone, Copy)]
pub(crate) enum Indices<'a> {
    Signed32(&'a [i32]),
    Signed64(&'a [i64]),
}

impl Indices<'_> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Signed32(indices) => indices.len(),
            Self::Signed64(indices) => indices.len(),
        }
    }

    #[inline]
    pub(crate) fn get(self, at: usize) -> i64 {
        match self {
            Self::Signed32(indices) => indices[at].into(),
            Self::Signed64(indices) => indices[at],
        }
    }
}

/// A tensor that indices are written to.
pub(crate) enum IndicesMut<'a> {
    Signed32(&'a mut [i32]),
    Signed64(&'a mut [i64]),
}

impl IndicesMut<'_> {
    #[inline]
    pub(crate) fn set(&mut self, at: usize, position: usize) {
        match self {
            // Whoever takes 32 bits has no tensors that are larger.
            Self::Signed32(indices) => indices[at] = position as i32,
            Self::Signed64(indices) => indices[at] = position as i64,
        }
    }
}

/// The position that an index below 0 means from the end; `None` outside of the dimension.
pub(crate) fn position_of(index: i64, size: usize) -> Option<usize> {
    let size = i64::try_from(size).ok()?;
    let position = if index < 0 {
        index.checked_add(size)?
    } else {
        index
    };
    (0..size).contains(&position).then_some(position as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_below_0_counts_from_the_end() {
        let at = |index| position_of(index, 3);
        assert_eq!(
            [at(0), at(2), at(-1), at(-3)],
            [Some(0), Some(2), Some(2), Some(0)]
        );
        assert_eq!([at(3), at(-4), at(i64::MIN), at(i64::MAX)], [None; 4]);
        assert_eq!(position_of(0, 0), None);
    }

    #[test]
    fn ordinals_are_in_the_order_of_numbers() {
        let floats = [
            f32::NEG_INFINITY,
            -1.0,
            -1e-40,
            0.0,
            1e-40,
            2.0,
            f32::INFINITY,
            f32::NAN,
        ];
        let ordinals = floats.map(Number::ordinal);
        assert!(ordinals.is_sorted_by(|x, y| x < y), "{ordinals:?}");
        assert_eq!((-0.0f32).ordinal(), 0.0f32.ordinal());
        let doubles = floats.map(|x| f64::from(x).ordinal());
        assert!(doubles.is_sorted_by(|x, y| x < y), "{doubles:?}");
        let ints = [i64::MIN, -1, 0, 1, i64::MAX].map(Number::ordinal);
        assert!(ints.is_sorted_by(|x, y| x < y), "{ints:?}");
        assert!((-128i8).ordinal() < 127i8.ordinal() && 127u8.ordinal() < 200u8.ordinal());
    }

    #[test]
    fn nan_is_the_larger_and_the_smaller() {
        assert!(Number::larger(1.0f32, f32::NAN).is_nan());
        assert!(Number::smaller(f16::NAN, f16::ONE).is_nan());
        assert_eq!(Number::larger(-3i8, 2), 2);
    }
}
