//! The elements of tensors, of every type that a tensor can have, one by one.
//!
//! The narrow floating-point types are those of the Open Compute Project's "OCP 8-bit Floating
//! Point Specification" (E4M3FN, E5M2) and "OCP Microscaling Formats (MX) Specification" (E8M0,
//! E2M1), and of "8-bit Numerical Formats for Deep Neural Networks", Noune and others, 2022
//! (E4M3FNUZ, E5M2FNUZ).

use armnn_runtime::DataType;
use half::{bf16, f16};

/// An element as it is stored, without the scale of a quantized type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element {
    /// A floating-point number.
    Float(f64),
    /// An integer, or a Boolean as 0 or 1.
    Integer(i128),
}

impl Element {
    /// The nearest floating-point number.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Float(value) => value,
            Self::Integer(value) => value as f64,
        }
    }
}

/// How elements of a type are stored: the type itself, and that of the integers of a quantized one.
pub const fn storage_type(data_type: DataType) -> DataType {
    match data_type {
        DataType::QAsymmU8 => DataType::UInt8,
        DataType::QAsymmS8 | DataType::QSymmS8 => DataType::Int8,
        DataType::QSymmS16 => DataType::Int16,
        other => other,
    }
}

/// Calls `visit` with each of `count` elements of a type, whose bytes are in the order of this
/// machine, until the bytes end. Returns whether the type is a known one; if not, nothing is
/// visited.
pub fn for_each(
    data_type: DataType,
    count: usize,
    bytes: &[u8],
    visit: &mut dyn FnMut(Element),
) -> bool {
    use Element::{Float, Integer};
    macro_rules! each {
        ($T:ty, $to_element:expr) => {
            for chunk in bytes.chunks_exact(size_of::<$T>()).take(count) {
                let mut array = [0; size_of::<$T>()];
                array.copy_from_slice(chunk);
                visit($to_element(<$T>::from_ne_bytes(array)));
            }
        };
    }
    let mut packed = |bits: u32, to_element: &dyn Fn(u8) -> Element| {
        let mask = u8::MAX >> (8 - bits);
        let parts = bytes
            .iter()
            .flat_map(|&byte| (0..8 / bits).map(move |part| (byte >> (part * bits)) & mask));
        parts.take(count).for_each(|part| visit(to_element(part)));
    };
    match storage_type(data_type) {
        DataType::Float64 => each!(f64, Float),
        DataType::Float32 => each!(f32, |v| Float(f64::from(v))),
        DataType::Float16 => each!(f16, |v| Float(f16::to_f64(v))),
        DataType::BFloat16 => each!(bf16, |v| Float(bf16::to_f64(v))),
        DataType::Boolean => each!(u8, |v| Integer(i128::from(v != 0))),
        DataType::UInt8 => each!(u8, |v| Integer(i128::from(v))),
        DataType::Int8 => each!(i8, |v| Integer(i128::from(v))),
        DataType::UInt16 => each!(u16, |v| Integer(i128::from(v))),
        DataType::Int16 => each!(i16, |v| Integer(i128::from(v))),
        DataType::UInt32 => each!(u32, |v| Integer(i128::from(v))),
        DataType::Signed32 => each!(i32, |v| Integer(i128::from(v))),
        DataType::UInt64 => each!(u64, |v| Integer(i128::from(v))),
        DataType::Signed64 => each!(i64, |v| Integer(i128::from(v))),
        DataType::UInt4 => packed(4, &|part| Integer(part.into())),
        DataType::UInt2 => packed(2, &|part| Integer(part.into())),
        DataType::Int4 => packed(4, &|part| Integer(signed(part, 4))),
        DataType::Int2 => packed(2, &|part| Integer(signed(part, 2))),
        DataType::Float4E2M1 => packed(4, &|part| Float(E2M1.decode(part))),
        DataType::Float8E4M3FN => packed(8, &|byte| Float(E4M3FN.decode(byte))),
        DataType::Float8E4M3FNUZ => packed(8, &|byte| Float(E4M3FNUZ.decode(byte))),
        DataType::Float8E5M2 => packed(8, &|byte| Float(E5M2.decode(byte))),
        DataType::Float8E5M2FNUZ => packed(8, &|byte| Float(E5M2FNUZ.decode(byte))),
        DataType::Float8E8M0 => packed(8, &|byte| Float(power_of_two(byte))),
        _ => return false,
    }
    true
}

fn signed(part: u8, bits: u32) -> i128 {
    let value = i128::from(part);
    if part >> (bits - 1) == 1 {
        value - (1 << bits)
    } else {
        value
    }
}

/// E8M0: an exponent alone.
fn power_of_two(byte: u8) -> f64 {
    match byte {
        0xff => f64::NAN,
        exponent => f64::from(i32::from(exponent) - 127).exp2(),
    }
}

/// A floating-point format of at most 8 bits: sign, exponent, mantissa.
struct NarrowFloat {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
}

/// Which bit patterns stand for no finite number.
#[derive(PartialEq, Eq)]
enum Special {
    /// None.
    None,
    /// All ones besides the sign: NaN.
    AllOnes,
    /// As in IEEE 754: the largest exponent.
    Ieee,
    /// What would be negative zero: NaN.
    NegativeZero,
}

const E2M1: NarrowFloat = NarrowFloat::new(2, 1, 1, Special::None);
const E4M3FN: NarrowFloat = NarrowFloat::new(4, 3, 7, Special::AllOnes);
const E4M3FNUZ: NarrowFloat = NarrowFloat::new(4, 3, 8, Special::NegativeZero);
const E5M2: NarrowFloat = NarrowFloat::new(5, 2, 15, Special::Ieee);
const E5M2FNUZ: NarrowFloat = NarrowFloat::new(5, 2, 16, Special::NegativeZero);

impl NarrowFloat {
    const fn new(exponent_bits: u32, mantissa_bits: u32, bias: i32, special: Special) -> Self {
        Self {
            exponent_bits,
            mantissa_bits,
            bias,
            special,
        }
    }

    fn decode(&self, bits: u8) -> f64 {
        let sign_bit = 1u8 << (self.exponent_bits + self.mantissa_bits);
        let magnitude = bits & (sign_bit - 1);
        let exponent = magnitude >> self.mantissa_bits;
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        let sign = if bits & sign_bit == 0 { 1.0 } else { -1.0 };
        let largest_exponent = (1u8 << self.exponent_bits) - 1;
        match self.special {
            Special::AllOnes if magnitude == sign_bit - 1 => return f64::NAN,
            Special::NegativeZero if bits == sign_bit => return f64::NAN,
            Special::Ieee if exponent == largest_exponent => {
                return if mantissa == 0 {
                    sign * f64::INFINITY
                } else {
                    f64::NAN
                };
            }
            _ => {}
        }
        let fraction = f64::from(mantissa) / f64::from(1u8 << self.mantissa_bits);
        let (significand, exponent) = match exponent {
            0 => (fraction, 1),
            exponent => (1.0 + fraction, i32::from(exponent)),
        };
        sign * significand * f64::from(exponent - self.bias).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(data_type: DataType, count: usize, bytes: &[u8]) -> Vec<Element> {
        let mut elements = Vec::new();
        assert!(for_each(data_type, count, bytes, &mut |e| elements.push(e)));
        elements
    }

    fn floats(data_type: DataType, bytes: &[u8]) -> Vec<f64> {
        let elements = decoded(data_type, usize::MAX, bytes);
        elements.into_iter().map(Element::to_f64).collect()
    }

    #[test]
    fn wide_integers_keep_every_bit() {
        let bytes = [u64::MAX, 1 << 53].map(u64::to_ne_bytes).concat();
        assert_eq!(
            decoded(DataType::UInt64, 2, &bytes),
            [u64::MAX, 1 << 53].map(|v| Element::Integer(v.into()))
        );
    }

    #[test]
    fn packed_elements_come_from_the_low_bits_first_and_padding_is_left_out() {
        let integers = |values: &[i128]| -> Vec<Element> {
            values.iter().map(|&v| Element::Integer(v)).collect()
        };
        let bytes = [0x8f, 0x07];
        assert_eq!(decoded(DataType::Int4, 3, &bytes), integers(&[-1, -8, 7]));
        assert_eq!(decoded(DataType::UInt4, 3, &bytes), integers(&[15, 8, 7]));
        // 0b11_10_01_00.
        assert_eq!(
            decoded(DataType::Int2, 4, &[0xe4]),
            integers(&[0, 1, -2, -1])
        );
    }

    /// The values are those of the tables in the specifications: largest, smallest normal, and
    /// smallest subnormal numbers.
    #[test]
    fn narrow_floats_are_those_of_their_specifications() {
        let e4m3 = floats(DataType::Float8E4M3FN, &[0x7e, 0x08, 0x01, 0x80, 0xfe]);
        assert_eq!(e4m3, [448.0, 2f64.powi(-6), 2f64.powi(-9), -0.0, -448.0]);
        assert!(
            floats(DataType::Float8E4M3FN, &[0x7f, 0xff])
                .iter()
                .all(|v| v.is_nan())
        );
        let e5m2 = floats(DataType::Float8E5M2, &[0x7b, 0x04, 0x01, 0x7c, 0xfc]);
        let infinity = f64::INFINITY;
        assert_eq!(
            e5m2,
            [57344.0, 2f64.powi(-14), 2f64.powi(-16), infinity, -infinity]
        );
        assert_eq!(floats(DataType::Float8E4M3FNUZ, &[0x7f]), [240.0]);
        assert!(floats(DataType::Float8E4M3FNUZ, &[0x80])[0].is_nan());
        assert_eq!(floats(DataType::Float8E5M2FNUZ, &[0x7f]), [57344.0]);
        // 0, 0.5, 1, 1.5, 2, 3, 4, 6, two in a byte.
        assert_eq!(
            floats(DataType::Float4E2M1, &[0x10, 0x32, 0x54, 0x76]),
            [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
        );
        assert_eq!(
            floats(DataType::Float8E8M0, &[127, 130, 126]),
            [1.0, 8.0, 0.5]
        );
        assert!(floats(DataType::Float8E8M0, &[0xff])[0].is_nan());
    }

    #[test]
    fn quantized_elements_are_their_integers() {
        assert_eq!(
            decoded(DataType::QAsymmS8, 1, &[0xff]),
            [Element::Integer(-1)]
        );
    }
}
