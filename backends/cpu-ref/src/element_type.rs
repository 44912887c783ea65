//! Kernels for elements of any type: which Rust type stands for them.

use armnn_backend_api::{DataType, Element};
use half::f16;

use crate::layer_checks::{FLOATS, INTEGERS};
use crate::quantized_arithmetic::QUANTIZED;

/// The types that have a [`Number`]: those of arithmetic, and quantized ones, whose numbers are in
/// the order of what they stand for.
pub(crate) const NUMBERS: &[&[DataType]] = &[FLOATS, INTEGERS, QUANTIZED];

/// The same and Boolean.
pub(crate) const COMPARABLES: &[&[DataType]] = &[FLOATS, INTEGERS, QUANTIZED, &[DataType::Boolean]];

/// The types of indices.
pub(crate) const INDICES: &[&[DataType]] = &[&[DataType::Signed32, DataType::Signed64]];

/// An element as a number.
pub(crate) trait Number: Copy + PartialOrd + Send + Sync + 'static {
    /// As it is stored.
    type Stored: Element;
    const ZERO: Self;

    fn load(stored: Self::Stored) -> Self;

    fn store(self) -> Self::Stored;

    fn is_nan(self) -> bool {
        false
    }

    /// Integers wrap around; Float16 is rounded.
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

            fn load(stored: Self) -> Self {
                stored
            }

            fn store(self) -> Self {
                self
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

impl Number for f32 {
    type Stored = Self;
    const ZERO: Self = 0.0;

    fn load(stored: Self) -> Self {
        stored
    }

    fn store(self) -> Self {
        self
    }

    fn is_nan(self) -> bool {
        Self::is_nan(self)
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

impl Number for f16 {
    type Stored = u16;
    const ZERO: Self = Self::ZERO;

    fn load(stored: u16) -> Self {
        Self::from_bits(stored)
    }

    fn store(self) -> u16 {
        self.to_bits()
    }

    fn is_nan(self) -> bool {
        Self::is_nan(self)
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
            T::Float16 => with!(half::f16),
            T::Int8 | T::QAsymmS8 | T::QSymmS8 => with!(i8),
            T::UInt8 | T::QAsymmU8 | T::Boolean => with!(u8),
            T::Int16 | T::QSymmS16 => with!(i16),
            T::UInt16 => with!(u16),
            T::Signed32 => with!(i32),
            T::UInt32 => with!(u32),
            T::Signed64 => with!(i64),
            T::UInt64 => with!(u64),
            other => Err($crate::layer_checks::refusal(format_args!(
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
        match $crate::copy::element_size($data_type)? {
            1 => with!(u8),
            2 => with!(u16),
            4 => with!(u32),
            _ => with!(u64),
        }
    }};
}
pub(crate) use by_size;

/// An index in a tensor.
pub(crate) trait Index: Element {
    fn to_i64(self) -> i64;

    /// Wraps around, as positions that do not fit are not asked for.
    fn from_usize(position: usize) -> Self;
}

impl Index for i32 {
    fn to_i64(self) -> i64 {
        self.into()
    }

    fn from_usize(position: usize) -> Self {
        position as Self
    }
}

impl Index for i64 {
    fn to_i64(self) -> i64 {
        self
    }

    fn from_usize(position: usize) -> Self {
        position as Self
    }
}

/// `$body` with `$I` the [`Index`] of a data type of [`INDICES`].
macro_rules! by_index {
    ($data_type:expr, $I:ident => $body:expr) => {{
        macro_rules! with {
            ($Type:ty) => {{
                type $I = $Type;
                $body
            }};
        }
        match $data_type {
            armnn_backend_api::DataType::Signed32 => with!(i32),
            _ => with!(i64),
        }
    }};
}
pub(crate) use by_index;

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
    fn nan_is_the_larger_and_the_smaller() {
        assert!(Number::larger(1.0f32, f32::NAN).is_nan());
        assert!(Number::smaller(f16::NAN, f16::ONE).is_nan());
        assert_eq!(Number::larger(-3i8, 2), 2);
    }
}
