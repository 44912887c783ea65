//! Casts from and to the types that are made to store numbers: 2- and 4-bit integers, and
//! floating-point numbers of at most 8 bits.
//!
//! Whatever is converted from one of them is looked up by its bits, of which there are at most 256
//! patterns. To 2- and 4-bit integers numbers go towards zero, and of the integer the lowest bits
//! are kept, as ONNX's Cast does. To small floating-point numbers they are rounded to nearest, ties
//! to even, and saturate, infinite ones, too; NaN becomes the format's NaN.

use armnn_backend_api::{DataType, LayerView, Result, Workload};
use half::{bf16, f16};

use super::{Bool, CastTo, Scalar, to_f64_odd};
use crate::{
    numbers::packing::Packing,
    workloads::{
        layer_checks::{input, num_elements, output, refusal},
        workload_function::workload_function,
    },
};

/// The types that have a [`Format`].
pub(crate) const STORAGE: &[DataType] = &[
    DataType::Int4,
    DataType::UInt4,
    DataType::Int2,
    DataType::UInt2,
    DataType::Float8E4M3FN,
    DataType::Float8E4M3FNUZ,
    DataType::Float8E5M2,
    DataType::Float8E5M2FNUZ,
    DataType::Float8E8M0,
    DataType::Float4E2M1,
];

/// The workload of a Cast from or to one of [`STORAGE`], or between two of them. Both tensors have
/// as many elements.
pub(super) fn workload(layer: LayerView<'_>) -> Result<Box<dyn Workload>> {
    let (from, to) = (input(layer, 0)?, output(layer, 0)?);
    let len = num_elements(layer, to)?;
    let (from, to) = (from.data_type(), to.data_type());
    /// Calls a function with the type of elements of a data type that is not in [`STORAGE`].
    macro_rules! by_type {
        ($data_type:expr, $f:ident($($argument:expr),*)) => {
            match $data_type {
                DataType::Float16 => $f::<f16>($($argument),*),
                DataType::Float32 => $f::<f32>($($argument),*),
                DataType::Float64 => $f::<f64>($($argument),*),
                DataType::BFloat16 => $f::<bf16>($($argument),*),
                DataType::Int8 => $f::<i8>($($argument),*),
                DataType::Int16 => $f::<i16>($($argument),*),
                DataType::Signed32 => $f::<i32>($($argument),*),
                DataType::Signed64 => $f::<i64>($($argument),*),
                DataType::UInt8 => $f::<u8>($($argument),*),
                DataType::UInt16 => $f::<u16>($($argument),*),
                DataType::UInt32 => $f::<u32>($($argument),*),
                DataType::UInt64 => $f::<u64>($($argument),*),
                DataType::Boolean => $f::<Bool>($($argument),*),
                other => Err(refusal(format_args!("{other} is not known here"))),
            }
        };
    }
    match (Format::of(from), Format::of(to)) {
        (Some(from), Some(to)) => recoded(layer, from, to, len),
        (Some(from), None) => by_type!(to, decoded(layer, from, len)),
        (None, Some(to)) => by_type!(from, encoded(layer, to, len)),
        (None, None) => Err(refusal(format_args!("{from} and {to} are not small types"))),
    }
}

fn decoded<D>(layer: LayerView<'_>, from: Format, len: usize) -> Result<Box<dyn Workload>>
where
    D: Scalar,
    f64: CastTo<D>,
{
    let numbers: Vec<D::Bits> = from
        .codes()
        .map(|code| CastTo::<D>::cast(from.decode(code)).to_bits())
        .collect();
    workload_function(layer, 0, move |call| {
        let codes = from.packing().bytes(call.input_bytes(0)?, len)?;
        for (at, out) in call.output::<D::Bits>(0)?.iter_mut().enumerate() {
            *out = numbers[usize::from(from.packing().code_at(codes, at))];
        }
        Ok(())
    })
}

fn encoded<S: Encode>(layer: LayerView<'_>, to: Format, len: usize) -> Result<Box<dyn Workload>> {
    workload_function(layer, 0, move |call| {
        let numbers = call.input::<S::Bits>(0)?;
        if len == 0 {
            return Ok(());
        }
        let codes = to.packing().bytes_mut(call.output_bytes(0)?, len)?;
        codes.fill(0);
        for (at, &number) in numbers.iter().enumerate() {
            to.packing()
                .put_at(codes, at, S::from_bits(number).encode(to));
        }
        Ok(())
    })
}

fn recoded(
    layer: LayerView<'_>,
    from: Format,
    to: Format,
    len: usize,
) -> Result<Box<dyn Workload>> {
    let new_codes: Vec<u8> = from
        .codes()
        .map(|code| match from == to {
            true => code,
            false => from.decode(code).encode(to),
        })
        .collect();
    workload_function(layer, 0, move |call| {
        let codes = from.packing().bytes(call.input_bytes(0)?, len)?;
        if len == 0 {
            return Ok(());
        }
        let out = to.packing().bytes_mut(call.output_bytes(0)?, len)?;
        out.fill(0);
        for at in 0..len {
            to.packing().put_at(
                out,
                at,
                new_codes[usize::from(from.packing().code_at(codes, at))],
            );
        }
        Ok(())
    })
}

/// What the bits of an element mean, which are at most 8.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Format {
    Integer {
        bits: u8,
        is_signed: bool,
    },
    Float(FloatFormat),
    /// An exponent alone, of Float8E8M0.
    PowerOfTwo,
}

/// Sign, exponent and mantissa.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct FloatFormat {
    bits: u8,
    mantissa_bits: u8,
    bias: i32,
    /// The bits of the largest finite number.
    largest: u8,
    /// The bits that NaN is converted to; 4 bits have none, and ONNX takes -0.
    nan: u8,
    /// The bits of infinity.
    infinity: Option<u8>,
    /// What would be -0 is NaN.
    has_one_zero: bool,
}

impl Format {
    /// OCP 8-bit Floating Point Specification (E4M3FN, E5M2), OCP Microscaling Formats Specification
    /// (E2M1, E8M0), and B. Noune et al., "8-bit Numerical Formats for Deep Neural Networks", 2022
    /// (FNUZ).
    pub(crate) fn of(data_type: DataType) -> Option<Self> {
        let integer = |bits, is_signed| Self::Integer { bits, is_signed };
        let float = |mantissa_bits, bias, largest, nan| FloatFormat {
            bits: 8,
            mantissa_bits,
            bias,
            largest,
            nan,
            infinity: None,
            has_one_zero: nan == 0x80,
        };
        Some(match data_type {
            DataType::Int4 => integer(4, true),
            DataType::UInt4 => integer(4, false),
            DataType::Int2 => integer(2, true),
            DataType::UInt2 => integer(2, false),
            DataType::Float8E4M3FN => Self::Float(float(3, 7, 0x7e, 0x7f)),
            DataType::Float8E4M3FNUZ => Self::Float(float(3, 8, 0x7f, 0x80)),
            DataType::Float8E5M2 => Self::Float(FloatFormat {
                infinity: Some(0x7c),
                ..float(2, 15, 0x7b, 0x7e)
            }),
            DataType::Float8E5M2FNUZ => Self::Float(float(2, 16, 0x7f, 0x80)),
            DataType::Float8E8M0 => Self::PowerOfTwo,
            DataType::Float4E2M1 => Self::Float(FloatFormat {
                bits: 4,
                ..float(1, 1, 0x7, 0x8)
            }),
            _ => return None,
        })
    }

    fn bits(self) -> usize {
        match self {
            Self::Integer { bits, .. } => bits.into(),
            Self::Float(format) => format.bits.into(),
            Self::PowerOfTwo => 8,
        }
    }

    /// All patterns of bits that an element can have.
    pub(crate) fn codes(self) -> impl Iterator<Item = u8> {
        0..=(0xff >> (8 - self.bits()))
    }

    /// How elements lie in bytes.
    pub(crate) fn packing(self) -> Packing {
        Packing::new(self.bits())
    }

    /// The number that the bits stand for.
    pub(crate) fn decode(self, code: u8) -> f64 {
        match self {
            Self::Integer { bits, is_signed } => {
                let is_below = is_signed && code >> (bits - 1) == 1;
                f64::from(code) - f64::from(u16::from(is_below) << bits)
            }
            Self::Float(format) => format.decode(code),
            Self::PowerOfTwo if code == 0xff => f64::NAN,
            Self::PowerOfTwo => power_of_two(i32::from(code) - 127),
        }
    }
}

impl FloatFormat {
    fn sign_bit(self) -> u8 {
        1 << (self.bits - 1)
    }

    fn decode(self, code: u8) -> f64 {
        let magnitude = code & (self.sign_bit() - 1);
        let sign = if code == magnitude { 1.0 } else { -1.0 };
        if self.infinity == Some(magnitude) {
            return sign * f64::INFINITY;
        }
        if magnitude > self.largest || self.has_one_zero && code == self.nan {
            return f64::NAN;
        }
        let exponent = i32::from(magnitude >> self.mantissa_bits);
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        // The exponent 0 says that there is no leading one, and otherwise means the same as 1.
        let leading = u8::from(exponent > 0) << self.mantissa_bits;
        let ulp = exponent.max(1) - self.bias - i32::from(self.mantissa_bits);
        sign * f64::from(leading + mantissa) * power_of_two(ulp)
    }

    fn encode(self, x: f64) -> u8 {
        if x.is_nan() {
            return self.nan;
        }
        let magnitude = x.abs().min(self.decode(self.largest));
        // Numbers below 2^least have the distance of those above it.
        let least = 1 - self.bias;
        let exponent = exponent_of(magnitude).max(least);
        let ulp = exponent - i32::from(self.mantissa_bits);
        let ulps = (magnitude * power_of_two(-ulp)).round_ties_even() as i32;
        // The leading one of `ulps` counts up the exponent, as does what rounding carries.
        let code = ((exponent - least) << self.mantissa_bits) + ulps;
        let code = code.min(self.largest.into()) as u8;
        match x.is_sign_negative() && !(self.has_one_zero && code == 0) {
            true => code | self.sign_bit(),
            false => code,
        }
    }
}

/// The nearest power of two, or the larger of two, without regard for the sign. Infinity is NaN, as
/// in ONNX's own conversion.
fn encode_power_of_two(x: f64) -> u8 {
    if !x.is_finite() {
        return 0xff;
    }
    // What lies below the smallest power has a smaller exponent, too, and becomes that power.
    let exponent = exponent_of(x.abs()).min(127);
    let is_nearer_to_next = exponent >= -127 && x.abs() >= 1.5 * power_of_two(exponent);
    (exponent + i32::from(is_nearer_to_next) + 127).clamp(0, 0xfe) as u8
}

/// 2 to a power that is a normal number.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023).clamp(1, 2046) as u64) << 52)
}

/// The exponent of the largest power of two that is not above a positive number; -1023 for those
/// that are not normal.
fn exponent_of(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// A number that is converted to the types here.
trait Encode: Scalar {
    /// The number, rounded so that rounding once more gives what rounding it itself would give.
    fn real(self) -> f64;

    /// The lowest bits of the number's integer part.
    fn lowest_bits(self) -> u8;

    fn encode(self, to: Format) -> u8 {
        match to {
            Format::Integer { bits, .. } => self.lowest_bits() & (0xff >> (8 - bits)),
            Format::Float(format) => format.encode(self.real()),
            Format::PowerOfTwo => encode_power_of_two(self.real()),
        }
    }
}

macro_rules! encode_integers {
    ($($T:ty)*) => {$(
        impl Encode for $T {
            fn real(self) -> f64 {
                to_f64_odd(self.into())
            }

            fn lowest_bits(self) -> u8 {
                self as u8
            }
        }
    )*};
}
encode_integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

macro_rules! encode_floats {
    ($($T:ty)*) => {$(
        impl Encode for $T {
            fn real(self) -> f64 {
                self.into()
            }

            fn lowest_bits(self) -> u8 {
                self.real() as i64 as u8
            }
        }
    )*};
}
encode_floats! { f16 bf16 f32 f64 }

impl Encode for Bool {
    fn real(self) -> f64 {
        self.0.into()
    }

    fn lowest_bits(self) -> u8 {
        self.0.into()
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{CastDescriptor, Element};

    use super::*;
    use crate::test_harness::{Call, typed};

    fn to_storage<S: Element>(from: DataType, values: &[S], to: DataType) -> Vec<u8> {
        let shape = [values.len() as i64];
        let call = Call::new(CastDescriptor::new())
            .input(typed(from, shape, values))
            .output(to, shape);
        call.run().elements(0)
    }

    fn floats_to(values: &[f32], to: DataType) -> Vec<u8> {
        to_storage(DataType::Float32, values, to)
    }

    fn converted<D: Element>(from: DataType, len: usize, bytes: &[u8], to: DataType) -> Vec<D> {
        let input = typed(DataType::UInt8, [bytes.len() as i64], bytes);
        let call = Call::new(CastDescriptor::new())
            .input(input.with_type(from, [len as i64]))
            .output(to, [len as i64]);
        call.run().elements(0)
    }

    #[test]
    fn all_numbers_come_back_from_every_wider_float() {
        for &storage in STORAGE {
            let format = Format::of(storage).unwrap();
            let codes: Vec<u8> = format.codes().collect();
            let mut bytes = vec![0; format.packing().byte_len(codes.len())];
            for (at, &code) in codes.iter().enumerate() {
                format.packing().put_at(&mut bytes, at, code);
            }
            // Float8E8M0 has powers that Float16 lacks.
            let has_half = storage != DataType::Float8E8M0;
            let wider = [DataType::Float64, DataType::Float32, DataType::BFloat16];
            for to in wider
                .into_iter()
                .chain(has_half.then_some(DataType::Float16))
            {
                let wide: Vec<u8> = converted(storage, codes.len(), &bytes, to);
                let back: Vec<u8> = converted(to, codes.len(), &wide, storage);
                for (at, &code) in codes.iter().enumerate() {
                    let expected = match (format, format.decode(code)) {
                        (Format::Float(float), x) if x.is_nan() => float.nan,
                        (Format::Float(float), f64::INFINITY) => float.largest,
                        (Format::Float(float), f64::NEG_INFINITY) => float.largest | 0x80,
                        _ => code,
                    };
                    let found = format.packing().code_at(&back, at);
                    assert_eq!(found, expected, "{storage} {code:#x} by {to}");
                }
            }
        }
    }

    #[test]
    fn bits_mean_what_the_formats_say() {
        let decoded = |from, bytes: &[u8]| -> Vec<f32> {
            converted(from, bytes.len(), bytes, DataType::Float32)
        };
        // The largest: 2^8 * 1.75, the least: 2^-6 / 8, the least with a leading one: 2^-6.
        let found = decoded(DataType::Float8E4M3FN, &[0x7e, 0x01, 0x08, 0x38, 0xb8]);
        assert_eq!(found, [448.0, 1.0 / 512.0, 1.0 / 64.0, 1.0, -1.0]);
        // 2^15 * 1.75, 2^-14 / 4, 2^-14.
        let found = decoded(DataType::Float8E5M2, &[0x7b, 0x01, 0x04, 0x7c, 0xfc]);
        let infinity = f32::INFINITY;
        let expected = [57344.0, 2f32.powi(-16), 2f32.powi(-14), infinity, -infinity];
        assert_eq!(found, expected);
        // With a bias of one more, and the largest exponent that of numbers like any others.
        let found = decoded(DataType::Float8E4M3FNUZ, &[0x7f, 0x01, 0x40]);
        assert_eq!(found, [240.0, 1.0 / 1024.0, 1.0]);
        let found = decoded(DataType::Float8E5M2FNUZ, &[0x7f, 0x01, 0x40]);
        assert_eq!(found, [57344.0, 2f32.powi(-17), 1.0]);
        let found = decoded(DataType::Float8E8M0, &[0, 127, 130, 254]);
        assert_eq!(found, [2f32.powi(-127), 1.0, 8.0, 2f32.powi(127)]);
        for (nan, data_type) in [
            (0x7f, DataType::Float8E4M3FN),
            (0xff, DataType::Float8E4M3FN),
            (0x7d, DataType::Float8E5M2),
            (0x80, DataType::Float8E4M3FNUZ),
            (0x80, DataType::Float8E5M2FNUZ),
            (0xff, DataType::Float8E8M0),
        ] {
            assert!(decoded(data_type, &[nan])[0].is_nan(), "{data_type}");
        }
        let e2m1 = [0x10, 0x32, 0x54, 0x76, 0x98];
        let found: Vec<f32> = converted(DataType::Float4E2M1, 10, &e2m1, DataType::Float32);
        assert_eq!(found, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5]);
        assert!(found[8].is_sign_negative());
        let found: Vec<i8> = converted(DataType::Int4, 3, &[0x8f, 0x07], DataType::Int8);
        assert_eq!(found, [-1, -8, 7]);
        let found: Vec<u64> = converted(DataType::UInt4, 3, &[0x8f, 0x07], DataType::UInt64);
        assert_eq!(found, [15, 8, 7]);
        // 0xe4 is 3, 2, 1, 0 from the highest bits down.
        let found: Vec<i32> = converted(DataType::Int2, 4, &[0xe4], DataType::Signed32);
        assert_eq!(found, [0, 1, -2, -1]);
        let found: Vec<u8> = converted(DataType::UInt2, 4, &[0xe4], DataType::Boolean);
        assert_eq!(found, [0, 1, 1, 1]);
    }

    #[test]
    fn ties_go_to_even() {
        // Between 1 (0x38) and 1.125 (0x39), 1.125 and 1.25; at the least, 2^-9 (0x01): half of it
        // is 0, and 1.5 of it 2 of it.
        let least = 2f32.powi(-9);
        let values = [
            1.0625,
            1.1875,
            1.0626,
            0.5 * least,
            1.5 * least,
            -0.5 * least,
        ];
        let found = floats_to(&values, DataType::Float8E4M3FN);
        assert_eq!(found, [0x38, 0x3a, 0x39, 0x00, 0x02, 0x80]);
        // What rounding carries: 1.9375 is between 1.875 (0x3f) and 2 (0x40).
        assert_eq!(floats_to(&[1.9375], DataType::Float8E4M3FN), [0x40]);
        // Between 1 (0x3c) and 1.25 (0x3d), and 1.25 and 1.5.
        let found = floats_to(&[1.125, 1.375], DataType::Float8E5M2);
        assert_eq!(found, [0x3c, 0x3e]);
        // 2.5 is between 2 (4) and 3 (5), 5 between 4 (6) and 6 (7), 0.25 between 0 and 0.5 (1),
        // 0.75 between 0.5 and 1 (2), 3.5 between 3 and 4.
        let values = [2.5, 5.0, 0.25, 0.75, -3.5];
        let found = floats_to(&values, DataType::Float4E2M1);
        assert_eq!(found, [0x64, 0x20, 0x0e]);
        // 9 * 1024 is between 8 * 1024 = 2^13 (an exponent of 28) and 10 * 1024.
        let values = [(9i64 << 10) + 1, 9 << 10];
        let found = to_storage(DataType::Signed64, &values, DataType::Float8E5M2);
        assert_eq!(found, [28 << 2 | 1, 28 << 2]);
    }

    #[test]
    fn small_floats_saturate() {
        let values = [1e9, -1e9, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0];
        for (to, expected) in [
            (DataType::Float8E4M3FN, [0x7e, 0xfe, 0x7e, 0xfe, 0x7f, 0x80]),
            (DataType::Float8E5M2, [0x7b, 0xfb, 0x7b, 0xfb, 0x7e, 0x80]),
            (DataType::Float8E4M3FNUZ, [0x7f, 0xff, 0x7f, 0xff, 0x80, 0]),
            (DataType::Float8E5M2FNUZ, [0x7f, 0xff, 0x7f, 0xff, 0x80, 0]),
        ] {
            assert_eq!(floats_to(&values, to), expected, "{to}");
        }
        let found = floats_to(&values, DataType::Float4E2M1);
        assert_eq!(found, [0xf7, 0xf7, 0x88]);
    }

    #[test]
    fn powers_of_two_are_the_nearest() {
        let values = [0.0, 1.0, 1.4, 1.5, 3.0, 1e-40, f32::MAX, f32::NAN];
        let found = floats_to(&values, DataType::Float8E8M0);
        // 2^-127 is 0; f32::MAX is nearly 2^128, beyond the largest.
        assert_eq!(found, [0, 127, 127, 128, 129, 0, 254, 255]);
    }

    #[test]
    fn small_integers_keep_the_lowest_bits() {
        // -9 is ...10111, 8 is 1000, 15.9 becomes 15.
        let found = floats_to(&[-9.0, 8.0, 15.9, -1.9, f32::NAN], DataType::Int4);
        assert_eq!(found, [0x87, 0xff, 0x00]);
        let values = [u64::MAX - 1, 5, 4, 3];
        let found = to_storage(DataType::UInt64, &values, DataType::UInt2);
        assert_eq!(found, [0b1100_0110]);
    }

    #[test]
    fn small_types_convert_to_each_other() {
        // 1 is 2, and -448 saturates to -6.
        let found: Vec<u8> = converted(
            DataType::Float8E4M3FN,
            2,
            &[0x38, 0xfe],
            DataType::Float4E2M1,
        );
        assert_eq!(found, [0xf2]);
        for &from in STORAGE {
            for &to in STORAGE {
                let found: Vec<u8> = converted(from, 0, &[], to);
                assert!(found.is_empty(), "{from} to {to}");
            }
        }
    }
}
