//! Cast.

pub(crate) mod storage;

use std::marker::PhantomData;

use armnn_backend_api::{
    CastDescriptor, DataType, Element, ExecutionContext, Inputs, LayerView, Outputs, Result,
    Synchronous, Workload,
};
use half::{
    bf16, f16,
    slice::{HalfBitsSliceExt, HalfFloatSliceExt},
};

use crate::workloads::{
    float_workload::{input_elements, output_elements},
    layer_checks::{input, invalid, num_elements, output, require_input, require_output},
};
use storage::STORAGE;

/// The types that are computed with, which can be converted to each other.
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
    require_input(layer, 0, &[TYPES, STORAGE])?;
    require_output(layer, 0, &[TYPES, STORAGE])
}

pub(crate) fn workload(layer: LayerView<'_>, _: &CastDescriptor) -> Result<Box<dyn Workload>> {
    let (from, to) = (input(layer, 0)?, output(layer, 0)?);
    let len = num_elements(layer, to)?;
    if num_elements(layer, from)? != len {
        return Err(invalid("input and output differ in size"));
    }
    if STORAGE.contains(&from.data_type()) || STORAGE.contains(&to.data_type()) {
        return storage::workload(layer);
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

/// The conversion to another type: of real numbers to integers towards zero, saturating, NaN to 0;
/// of integers to integers of fewer bits the lowest ones, as in ONNX and TensorFlow Lite; to floats to
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

/// `$S as $D` rounds, saturates, and keeps the lowest bits of integers as it should.
macro_rules! as_casts {
    ($S:ty => $($D:ty)*) => {$(
        impl CastTo<$D> for $S {
            fn cast(self) -> $D {
                self as $D
            }
        }
    )*};
}

macro_rules! from_integers {
    ($($S:ty)*) => {$(
        as_casts! { $S => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, assert_refused, typed};

    fn cast<S: Element, D: Element>(from: DataType, values: &[S], to: DataType) -> Vec<D> {
        let shape = [values.len() as i64];
        let call = Call::new(CastDescriptor::new())
            .input(typed(from, shape, values))
            .output(to, shape);
        call.run().elements(0)
    }

    /// A number of each type that Cast takes, 0 and 1 being all that they have in common.
    fn bytes_of(data_type: DataType, one: bool) -> Vec<u8> {
        let one = u8::from(one);
        match data_type {
            DataType::Float16 => f16::from_f32(one.into()).to_ne_bytes().to_vec(),
            DataType::BFloat16 => bf16::from_f32(one.into()).to_ne_bytes().to_vec(),
            DataType::Float32 => f32::from(one).to_ne_bytes().to_vec(),
            DataType::Float64 => f64::from(one).to_ne_bytes().to_vec(),
            _ => u64::from(one).to_le_bytes()[..data_type.size().unwrap()].to_vec(),
        }
    }

    #[test]
    fn every_type_converts_to_every_other() {
        for &from in TYPES {
            for &to in TYPES {
                let values = [bytes_of(from, false), bytes_of(from, true)].concat();
                let expected = [bytes_of(to, false), bytes_of(to, true)].concat();
                let input =
                    typed(DataType::UInt8, [values.len() as i64], &values).with_type(from, [2]);
                let call = Call::new(CastDescriptor::new())
                    .input(input)
                    .output(to, [2]);
                assert_eq!(call.run().elements::<u8>(0), expected, "{from} to {to}");
            }
        }
    }

    #[test]
    fn floats_to_integers_go_towards_zero_and_saturate() {
        let values = [
            1.9f32,
            -1.9,
            300.0,
            -300.0,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
        ];
        let i8s = cast::<f32, i8>(DataType::Float32, &values, DataType::Int8);
        assert_eq!(i8s, [1, -1, 127, -128, 0, 127, -128]);
        let u8s = cast::<f32, u8>(DataType::Float32, &values, DataType::UInt8);
        assert_eq!(u8s, [1, 0, 255, 0, 0, 255, 0]);
        let i64s = cast::<f32, i64>(DataType::Float32, &values, DataType::Signed64);
        assert_eq!(i64s, [1, -1, 300, -300, 0, i64::MAX, i64::MIN]);
        let u64s = cast::<f64, u64>(DataType::Float64, &[1e30, -1.0, f64::NAN], DataType::UInt64);
        assert_eq!(u64s, [u64::MAX, 0, 0]);
        let halves = values.map(|v| f16::from_f32(v).to_bits());
        let i32s = cast::<u16, i32>(DataType::Float16, &halves, DataType::Signed32);
        assert_eq!(i32s, [1, -1, 300, -300, 0, i32::MAX, i32::MIN]);
    }

    #[test]
    fn integers_keep_their_lowest_bits() {
        let values = [300, -300, 5, i32::MAX, i32::MIN];
        let u8s = cast::<i32, u8>(DataType::Signed32, &values, DataType::UInt8);
        // 300 - 256, and 512 - 300.
        assert_eq!(u8s, [44, 212, 5, 255, 0]);
        let i16s = cast::<i32, i16>(DataType::Signed32, &values, DataType::Int16);
        assert_eq!(i16s, [300, -300, 5, -1, 0]);
        let i64s = cast::<u64, i64>(DataType::UInt64, &[u64::MAX, 1], DataType::Signed64);
        assert_eq!(i64s, [-1, 1]);
    }

    #[test]
    fn to_boolean_is_whether_it_is_not_zero() {
        let values = [0.0f32, -0.0, 0.25, -3.0, f32::NAN];
        let found = cast::<f32, u8>(DataType::Float32, &values, DataType::Boolean);
        assert_eq!(found, [0, 0, 1, 1, 1]);
        assert_eq!(
            cast::<u8, u8>(DataType::UInt8, &[0, 7], DataType::Boolean),
            [0, 1]
        );
        assert_eq!(
            cast::<u8, i32>(DataType::Boolean, &[0, 1, 255], DataType::Signed32),
            [0, 1, 1]
        );
    }

    #[test]
    fn floats_round_to_nearest_ties_to_even() {
        // From 2048 on, a Float16 is a multiple of 2: 2049 and 2051 lie in the middle.
        let values = [2049.0f32, 2051.0, 2049.5, 65519.0, 65520.0, 1e-8];
        let found = cast::<f32, u16>(DataType::Float32, &values, DataType::Float16);
        let expected = [2048.0, 2052.0, 2050.0, 65504.0, f32::INFINITY, 0.0];
        assert_eq!(found, expected.map(|v| f16::from_f32(v).to_bits()));
        // 2^24 + 1 lies in the middle of two Float32.
        let found = cast::<i32, f32>(DataType::Signed32, &[16777217, 16777219], DataType::Float32);
        assert_eq!(found, [16777216.0, 16777220.0]);
        let found = cast::<f64, f32>(DataType::Float64, &[1e40, 16777217.0], DataType::Float32);
        assert_eq!(found, [f32::INFINITY, 16777216.0]);
    }

    #[test]
    fn halves_are_rounded_once() {
        // A little above the middle of 2048 and 2050: a rounding to Float32 on the way, or without
        // the lowest bits, would make it the middle, and then 2048.
        let above = 2049.0 + 2049.0 * f64::EPSILON;
        let found = cast::<f64, u16>(DataType::Float64, &[above, -above], DataType::Float16);
        assert_eq!(found, [2050.0, -2050.0].map(|v| f16::from_f32(v).to_bits()));
        // BFloat16 has 8 bits: 257 lies in the middle of 256 and 258.
        let above = 257.0 + 257.0 * f64::EPSILON;
        let found = cast::<f64, u16>(DataType::Float64, &[above, 257.0], DataType::BFloat16);
        assert_eq!(found, [258.0, 256.0].map(|v| bf16::from_f32(v).to_bits()));
        // 257 * 2^54 + 1 is no Float64, let alone a Float32.
        let values = [(257i64 << 54) + 1, 257 << 54, (257 << 54) - 1];
        let found = cast::<i64, u16>(DataType::Signed64, &values, DataType::BFloat16);
        let scale = 2f32.powi(54);
        let expected = [258.0 * scale, 256.0 * scale, 256.0 * scale];
        assert_eq!(found, expected.map(|v| bf16::from_f32(v).to_bits()));
    }

    #[test]
    fn rounding_to_odd_keeps_zeros_infinities_and_signs() {
        assert_eq!(to_f32_odd(1.5), 1.5);
        assert_eq!(to_f32_odd(-0.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!(to_f32_odd(f64::INFINITY), f32::INFINITY);
        assert_eq!(to_f32_odd(1e300), f32::MAX);
        assert_eq!(to_f32_odd(-1e-300), -f32::from_bits(1));
        assert!(to_f32_odd(f64::NAN).is_nan());
    }

    #[test]
    fn float16_widens_exactly() {
        let bits: Vec<u16> = (0..=u16::MAX).collect();
        let found = cast::<u16, f32>(DataType::Float16, &bits, DataType::Float32);
        for (bits, found) in bits.into_iter().zip(found) {
            // Sign, exponent and mantissa taken apart: (-1)^s 2^(e - 25) (1024 + m), or, with an
            // exponent of 0, (-1)^s 2^-24 m.
            let (sign, exponent, mantissa) = (bits >> 15, bits >> 10 & 31, bits & 1023);
            let size = match (exponent, mantissa) {
                (31, 0) => f32::INFINITY,
                (31, _) => f32::NAN,
                (0, m) => f32::from(m) * 2f32.powi(-24),
                (e, m) => f32::from(1024 + m) * 2f32.powi(i32::from(e) - 25),
            };
            let expected = if sign == 1 { -size } else { size };
            assert!(
                found == expected || (found.is_nan() && expected.is_nan()),
                "{bits:#x}"
            );
        }
    }

    #[test]
    fn quantized_and_small_types_are_refused() {
        let call = Call::new(CastDescriptor::new())
            .input(typed(DataType::QAsymmU8, [1], &[0u8]))
            .output(DataType::Float32, [1]);
        assert_refused(
            &call,
            &["the type of input is QAsymmU8; supported: Float16, "],
        );
    }
}
