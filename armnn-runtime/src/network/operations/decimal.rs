//! Numbers in decimal, as strings.

use armnn_backend_api::DataType;

use crate::HostTensor;

/// How many significant digits are written.
const DIGITS: usize = 8;

/// The numbers of a tensor of Signed64, UInt64, Float32 or Float64 in decimal.
pub(super) fn texts(tensor: &HostTensor) -> Option<Box<dyn Iterator<Item = String> + '_>> {
    Some(match tensor.info().data_type {
        DataType::Signed64 => Box::new(tensor.elements::<i64>()?.iter().map(i64::to_string)),
        DataType::UInt64 => Box::new(tensor.elements::<u64>()?.iter().map(u64::to_string)),
        DataType::Float32 => {
            let numbers = tensor.elements::<f32>()?.iter();
            Box::new(numbers.map(|&number| general(number.into())))
        }
        DataType::Float64 => Box::new(tensor.elements::<f64>()?.iter().map(|&n| general(n))),
        _ => return None,
    })
}

/// As C's `%.8g`, with the names that ONNX Runtime has for what is not finite.
fn general(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "INF" } else { "-INF" }.to_owned();
    }
    let scientific = format!("{number:.*e}", DIGITS - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS as i32).contains(&exponent) {
        let places = (DIGITS as i32 - 1 - exponent) as usize;
        return without_zeros(&format!("{number:.places$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    let mantissa = without_zeros(mantissa);
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// Without zeros at the end that are behind the point.
fn without_zeros(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// Writes the number that a string is into the bytes of an element; none where it is not one, or does
/// not fit.
pub(super) fn parse(data_type: DataType, text: &str, element: &mut [u8]) -> Option<()> {
    let text = text.trim();
    let mut write =
        |bytes: &[u8]| (element.len() == bytes.len()).then(|| element.copy_from_slice(bytes));
    match data_type {
        DataType::Signed64 => write(&whole(text)?.parse::<i64>().ok()?.to_ne_bytes()),
        DataType::UInt64 => {
            let whole = whole(text)?;
            // Minus zero is what a negative zero is as a string.
            let digits = whole
                .strip_prefix('-')
                .filter(|d| d.trim_matches('0').is_empty());
            write(&digits.unwrap_or(whole).parse::<u64>().ok()?.to_ne_bytes())
        }
        // By way of Float64, as ONNX Runtime does it.
        DataType::Float32 => write(&(text.parse::<f64>().ok()? as f32).to_ne_bytes()),
        DataType::Float64 => write(&text.parse::<f64>().ok()?.to_ne_bytes()),
        _ => None,
    }
}

/// What is before the point, if there are only digits behind it.
fn whole(text: &str) -> Option<&str> {
    let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
    behind.bytes().all(|b| b.is_ascii_digit()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of ONNX Runtime 1.32.
    #[test]
    fn numbers_have_8_significant_digits_at_most() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.5, "1.5"),
            (0.1, "0.1"),
            (1e10, "1e+10"),
            (1e-5, "9.9999997e-06"),
            (123_456_789.0, "1.2345679e+08"),
            (3.4e38, "3.4e+38"),
            (1.0 / 3.0, "0.33333334"),
            (100_000.0, "100000"),
            (1e-45, "1.4012985e-45"),
            (16_777_216.0, "16777216"),
            (99_999_999.0, "1e+08"),
            (f32::INFINITY, "INF"),
            (f32::NEG_INFINITY, "-INF"),
            (f32::NAN, "NaN"),
        ] {
            assert_eq!(general(number.into()), text, "{number}");
        }
        assert_eq!(general(1.0 / 3.0), "0.33333333");
        assert_eq!(general(123_456_789_012_345_680.0), "1.2345679e+17");
    }

    /// Values of ONNX Runtime 1.32, which also takes what only begins with a number.
    #[test]
    fn a_string_is_a_number_or_none() {
        let real = |text: &str| {
            let mut bytes = [0; 4];
            parse(DataType::Float32, text, &mut bytes).map(|()| f32::from_ne_bytes(bytes))
        };
        assert_eq!(real("1.5"), Some(1.5));
        assert_eq!(real(" 2 "), Some(2.0));
        assert_eq!(real("+3"), Some(3.0));
        assert_eq!(real("1e3"), Some(1000.0));
        assert_eq!(real("-Infinity"), Some(f32::NEG_INFINITY));
        assert_eq!(real("1e-46"), Some(0.0));
        assert!(real("NaN").unwrap().is_nan());
        assert_eq!((real("abc"), real(""), real("5x")), (None, None, None));
        let integer = |text: &str| {
            let mut bytes = [0; 8];
            parse(DataType::Signed64, text, &mut bytes).map(|()| i64::from_ne_bytes(bytes))
        };
        assert_eq!(integer("1.5"), Some(1));
        assert_eq!(integer("-5000000000"), Some(-5_000_000_000));
        assert_eq!(integer(&i64::MIN.to_string()), Some(i64::MIN));
        for none in [
            "99999999999999999999",
            "true",
            "",
            "nan",
            "0x10",
            "1e3",
            "1.x",
        ] {
            assert_eq!(integer(none), None, "{none}");
        }
        let mut bytes = [0; 8];
        for none in ["-1", "-", "--0", "-+0"] {
            assert_eq!(parse(DataType::UInt64, none, &mut bytes), None, "{none}");
        }
        for zero in ["-0", "-0.0", "0"] {
            bytes = [1; 8];
            assert_eq!(
                parse(DataType::UInt64, zero, &mut bytes),
                Some(()),
                "{zero}"
            );
            assert_eq!(bytes, [0; 8], "{zero}");
        }
        let most = u64::MAX.to_string();
        assert_eq!(parse(DataType::UInt64, &most, &mut bytes), Some(()));
        assert_eq!(bytes, u64::MAX.to_ne_bytes());
    }
}
