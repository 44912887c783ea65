//! Cast.

use std::marker::PhantomData;

use armnn_backend_api::{
    CastDescriptor, DataType, Element, ExecutionContext, Inputs, LayerView, Outputs, Result,
    Synchronous, Workload,
};
use half::{
    bf16, f16,
    slice::{HalfBitsSliceExt, HalfFloatSliceExt},
};

use crate::{
    float_workload::{input_elements, output_elements},
    layer_checks::{input, invalid, num_elements, output, require_input, require_output},
};

/// The types that can be converted to each other.
pub(crate) const TYPES: &[DataType] = &[
    DataType::Float16,
    DataType::Float32,
    DataType::Float64,
    DataType::BFloat16,
    DataType::Int8,
    DataType::Int16,
    DataType::Signed32,
    DataType::Signed64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
    DataType::Boolean,
];

pub(crate) fn check(layer: LayerView<'_>, _: &CastDescriptor) -> Result<()> {
    require_input(layer, 0, TYPES)?;
    require_output(layer, 0, TYPES)
}

pub(crate) fn workload(layer: LayerView<'_>, _: &CastDescriptor) -> Result<Box<dyn Workload>> {
    let (from, to) = (input(layer, 0)?, output(layer, 0)?);
    let len = num_elements(layer, to)?;
    if num_elements(layer, from)? != len {
        return Err(invalid(layer, "input and output differ in size"));
    }
    /// Calls `$f::<S, D>(len)` with the element types of both tensors.
    macro_rules! by_type {
        ($($Type:ident: $T:ty),*) => {{
            macro_rules! from {
                ($S:ty) => {
                    match to.data_type() {
                        $(DataType::$Type => boxed::<$S, $T>(len),)*
                        _ => boxed::<$S, Bool>(len),
                    }
                };
            }
            match from.data_type() {
                $(DataType::$Type => from!($T),)*
                _ => from!(Bool),
            }
        }};
    }
    Ok(by_type! {
        Float16: f16, Float32: f32, Float64: f64, BFloat16: bf16, Int8: i8, Int16: i16,
        Signed32: i32, Signed64: i64, UInt8: u8, UInt16: u16, UInt32: u32, UInt64: u64
    })
}

fn boxed<S: CastTo<D>, D: Scalar>(len: usize) -> Box<dyn Workload> {
    Box::new(Cast {
        len,
        types: PhantomData::<fn(S) -> D>,
    })
}

struct Cast<S, D> {
    len: usize,
    types: PhantomData<fn(S) -> D>,
}

impl<S: CastTo<D>, D: Scalar> Workload for Cast<S, D> {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let from = input_elements::<S::Bits>(inputs, 0, self.len)?;
        let to = output_elements::<D::Bits>(outputs, 0, self.len)?;
        S::cast_slice(from, to);
        Ok(())
    }
}

/// A type that Cast takes, and how its elements lie in memory.
pub(crate) trait Scalar: Copy + 'static {
    type Bits: Element;
    fn from_bits(bits: Self::Bits) -> Self;
    fn to_bits(self) -> Self::Bits;
}

/// The conversion to another type: to integers towards zero, saturating, NaN to 0; to floats to
/// nearest, ties to even; to Boolean whether it is not 0.
trait CastTo<D: Scalar>: Scalar {
    fn cast(self) -> D;

    fn cast_slice(from: &[Self::Bits], to: &mut [D::Bits]) {
        for (to, &from) in to.iter_mut().zip(from) {
            *to = Self::from_bits(from).cast().to_bits();
        }
    }
}

/// An element of type Boolean: 0 or 1; any other number counts as 1.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Bool(bool);

impl Scalar for Bool {
    type Bits = u8;

    fn from_bits(bits: u8) -> Self {
        Self(bits != 0)
    }

    fn to_bits(self) -> u8 {
        u8::from(self.0)
    }
}

macro_rules! numbers {
    ($($T:ty)*) => {$(
        impl Scalar for $T {
            type Bits = $T;

            fn from_bits(bits: $T) -> $T {
                bits
            }

            fn to_bits(self) -> $T {
                self
            }
        }
    )*};
}
numbers! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

macro_rules! halves {
    ($($H:ty)*) => {$(
        impl Scalar for $H {
            type Bits = u16;

            fn from_bits(bits: u16) -> Self {
                <$H>::from_bits(bits)
            }

            fn to_bits(self) -> u16 {
                <$H>::to_bits(self)
            }
        }
    )*};
}
halves! { f16 bf16 }

/// `$S as $D` rounds and saturates as it should, other than between integers.
macro_rules! as_casts {
    ($S:ty => $($D:ty)*) => {$(
        impl CastTo<$D> for $S {
            fn cast(self) -> $D {
                self as $D
            }
        }
    )*};
}

macro_rules! integer_casts {
    ($S:ty => $($D:ty)*) => {$(
        impl CastTo<$D> for $S {
            #[allow(unused_comparisons, clippy::useless_conversion)]
            fn cast(self) -> $D {
                let bound = if self < 0 { <$D>::MIN } else { <$D>::MAX };
                self.try_into().unwrap_or(bound)
            }
        }
    )*};
}

macro_rules! from_integers {
    ($($S:ty)*) => {$(
        integer_casts! { $S => i8 i16 i32 i64 u8 u16 u32 u64 }
        as_casts! { $S => f32 f64 }

        impl CastTo<f16> for $S {
            fn cast(self) -> f16 {
                f16::from_f32(to_f32_odd(to_f64_odd(self.into())))
            }
        }

        impl CastTo<bf16> for $S {
            fn cast(self) -> bf16 {
                bf16::from_f32(to_f32_odd(to_f64_odd(self.into())))
            }
        }

        impl CastTo<Bool> for $S {
            fn cast(self) -> Bool {
                Bool(self != 0)
            }
        }

        impl CastTo<$S> for Bool {
            fn cast(self) -> $S {
                self.0.into()
            }
        }
    )*};
}
from_integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

macro_rules! from_floats {
    ($($S:ty)*) => {$(
        as_casts! { $S => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

        impl CastTo<bf16> for $S {
            fn cast(self) -> bf16 {
                bf16::from_f32(to_f32_odd(self.into()))
            }
        }

        impl CastTo<Bool> for $S {
            fn cast(self) -> Bool {
                Bool(self != 0.0)
            }
        }

        impl CastTo<$S> for Bool {
            fn cast(self) -> $S {
                self.0.into()
            }
        }
    )*};
}
from_floats! { f32 f64 }

impl CastTo<f16> for f32 {
    fn cast(self) -> f16 {
        f16::from_f32(self)
    }

    /// By the processor's instructions for whole slices, where it has them.
    fn cast_slice(from: &[f32], to: &mut [u16]) {
        to.reinterpret_cast_mut::<f16>()
            .convert_from_f32_slice(from);
    }
}

impl CastTo<f16> for f64 {
    fn cast(self) -> f16 {
        f16::from_f32(to_f32_odd(self))
    }
}

/// Each half is an f32, too.
macro_rules! through_f32 {
    ($S:ty => $($D:ty)*) => {$(
        impl CastTo<$D> for $S {
            fn cast(self) -> $D {
                self.to_f32().cast()
            }
        }
    )*};
}
through_f32! { f16 => i8 i16 i32 i64 u8 u16 u32 u64 f64 bf16 Bool }
through_f32! { bf16 => i8 i16 i32 i64 u8 u16 u32 u64 f64 f16 Bool }

impl CastTo<f32> for f16 {
    fn cast(self) -> f32 {
        self.to_f32()
    }

    /// By the processor's instructions for whole slices, where it has them.
    fn cast_slice(from: &[u16], to: &mut [f32]) {
        from.reinterpret_cast::<f16>().convert_to_f32_slice(to);
    }
}

impl CastTo<f32> for bf16 {
    fn cast(self) -> f32 {
        self.to_f32()
    }
}

macro_rules! from_and_to_itself {
    ($($T:ty)*) => {$(
        impl CastTo<$T> for $T {
            fn cast(self) -> $T {
                self
            }
        }
    )*};
}
from_and_to_itself! { f16 bf16 Bool }

macro_rules! from_bool {
    ($($H:ty)*) => {$(
        impl CastTo<$H> for Bool {
            fn cast(self) -> $H {
                <$H>::from_f32(self.0.into())
            }
        }
    )*};
}
from_bool! { f16 bf16 }

/// Rounds so that rounding once more, to a type of at most 22 bits, gives what rounding the number
/// itself would have given: a number between two f32 becomes the one with an odd last bit, which
/// never lies in the middle between two numbers of the smaller type.
///
/// S. Boldo and G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms
/// using rounding to odd", 2008.
pub(crate) fn to_f32_odd(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest) == x || x.is_nan() {
        return nearest;
    }
    let is_too_large = f64::from(nearest).abs() > x.abs();
    f32::from_bits((nearest.to_bits() - u32::from(is_too_large)) | 1)
}

/// The same for an integer of at most 64 bits and f64.
fn to_f64_odd(x: i128) -> f64 {
    let nearest = x as f64;
    let back = nearest as i128;
    if back == x {
        return nearest;
    }
    let is_too_large = back.unsigned_abs() > x.unsigned_abs();
    f64::from_bits((nearest.to_bits() - u64::from(is_too_large)) | 1)
}
