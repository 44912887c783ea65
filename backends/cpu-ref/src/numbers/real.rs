//! Kernels for real numbers of more than one width.

use std::ops::{Add, AddAssign, Div, DivAssign, Mul, Neg, Rem, Sub};

use armnn_backend_api::Element;

use crate::numbers::element_type::Number;

/// The types that kernels compute real numbers in: f32 and f64.
pub(crate) trait Real:
    Number<Stored = Self>
    + Element
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + DivAssign
{
    const INFINITY: Self;
    const NEG_INFINITY: Self;

    /// The nearest number.
    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
    fn is_finite(self) -> bool;
    fn is_infinite(self) -> bool;
    fn abs(self) -> Self;
    fn signum(self) -> Self;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn tanh(self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn ceil(self) -> Self;
    fn floor(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn atan2(self, x: Self) -> Self;
}

macro_rules! reals {
    ($($T:ty: $($function:ident)*;)*) => {$(
        impl Real for $T {
            const INFINITY: Self = Self::INFINITY;
            const NEG_INFINITY: Self = Self::NEG_INFINITY;

            #[allow(clippy::unnecessary_cast)]
            #[inline]
            fn from_f64(x: f64) -> Self {
                x as Self
            }

            #[inline]
            fn to_f64(self) -> f64 {
                self.into()
            }

            #[inline]
            fn is_finite(self) -> bool {
                Self::is_finite(self)
            }

            #[inline]
            fn is_infinite(self) -> bool {
                Self::is_infinite(self)
            }

            #[inline]
            fn powf(self, exponent: Self) -> Self {
                Self::powf(self, exponent)
            }

            #[inline]
            fn atan2(self, x: Self) -> Self {
                Self::atan2(self, x)
            }

            $(
                #[inline]
                fn $function(self) -> Self {
                    Self::$function(self)
                }
            )*
        }
    )*};
}
reals! {
    f32: abs signum sqrt exp exp_m1 ln ln_1p tanh ceil floor round_ties_even
        sin cos tan asin acos atan;
    f64: abs signum sqrt exp exp_m1 ln ln_1p tanh ceil floor round_ties_even
        sin cos tan asin acos atan;
}
