//! FlexBuffers, as far as custom options need them: a map of numbers.
//!
//! The format is that of <https://flatbuffers.dev/flatbuffers_internals/>, section FlexBuffers. A
//! value takes 1, 2, 4 or 8 bytes; what it is says a byte of its own, which ends the buffer for its
//! root, and follows a map's values for these: type times 4, plus the logarithm of a width.

/// A number in a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Integer(i64),
    Real(f64),
    Boolean(bool),
}

impl Scalar {
    /// A whole number, or 1 for true.
    pub(super) fn as_integer(self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(value),
            Self::Boolean(value) => Some(value.into()),
            Self::Real(_) => None,
        }
    }

    pub(super) fn as_real(self) -> f32 {
        match self {
            Self::Integer(value) => value as f32,
            Self::Boolean(value) => u8::from(value).into(),
            Self::Real(value) => value as f32,
        }
    }
}

const INT: u8 = 1;
const UINT: u8 = 2;
const FLOAT: u8 = 3;
const INDIRECT_INT: u8 = 6;
const INDIRECT_UINT: u8 = 7;
const INDIRECT_FLOAT: u8 = 8;
const MAP: u8 = 9;
const BOOL: u8 = 26;

/// How many entries are read; options have a dozen.
const MOST_ENTRIES: u64 = 1000;

/// The numbers of a map by their keys; values of other types are left out. `None` if the bytes are
/// no map.
pub(super) fn map(bytes: &[u8]) -> Option<Vec<(&str, Scalar)>> {
    let (&root_width, rest) = bytes.split_last()?;
    let (&root_type, _) = rest.split_last()?;
    let root_width = usize::from(root_width);
    let root = bytes.len().checked_sub(2)?.checked_sub(root_width)?;
    if root_type >> 2 != MAP {
        return None;
    }
    // The width of the map's own entries.
    let width = 1usize << (root_type & 3);
    let values = followed(bytes, root, root_width)?;
    let count = unsigned(bytes, values.checked_sub(width)?, width)?;
    if count > MOST_ENTRIES {
        return None;
    }
    let count = usize::try_from(count).ok()?;
    let keys_width = unsigned(bytes, values.checked_sub(2 * width)?, width)?;
    let keys_width = usize::try_from(keys_width).ok()?;
    let keys = followed(bytes, values.checked_sub(3 * width)?, width)?;
    let types = values.checked_add(count * width)?;
    let mut map = Vec::new();
    for entry in 0..count {
        let key = followed(bytes, keys.checked_add(entry * keys_width)?, keys_width)?;
        let key = bytes.get(key..)?;
        let key = key.get(..key.iter().position(|&byte| byte == 0)?)?;
        let at = values.checked_add(entry * width)?;
        let found = scalar(bytes, at, width, *bytes.get(types.checked_add(entry)?)?)?;
        if let (Some(value), Ok(key)) = (found, std::str::from_utf8(key)) {
            map.push((key, value));
        }
    }
    Some(map)
}

/// A value; `Some(None)` if it is no number.
fn scalar(bytes: &[u8], at: usize, width: usize, packed: u8) -> Option<Option<Scalar>> {
    let indirect = 1usize << (packed & 3);
    Some(Some(match packed >> 2 {
        INT => Scalar::Integer(signed(bytes, at, width)?),
        UINT => Scalar::Integer(i64::try_from(unsigned(bytes, at, width)?).ok()?),
        FLOAT => Scalar::Real(real(bytes, at, width)?),
        BOOL => Scalar::Boolean(unsigned(bytes, at, width)? != 0),
        INDIRECT_INT => Scalar::Integer(signed(bytes, followed(bytes, at, width)?, indirect)?),
        INDIRECT_UINT => {
            let value = unsigned(bytes, followed(bytes, at, width)?, indirect)?;
            Scalar::Integer(i64::try_from(value).ok()?)
        }
        INDIRECT_FLOAT => Scalar::Real(real(bytes, followed(bytes, at, width)?, indirect)?),
        _ => return Some(None),
    }))
}

/// Where an offset, which goes backwards, leads to.
fn followed(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    at.checked_sub(usize::try_from(unsigned(bytes, at, width)?).ok()?)
}

fn unsigned(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let mut wide = [0; 8];
    let found = bytes.get(at..at.checked_add(width)?)?;
    wide.get_mut(..width)?.copy_from_slice(found);
    matches!(width, 1 | 2 | 4 | 8).then(|| u64::from_le_bytes(wide))
}

fn signed(bytes: &[u8], at: usize, width: usize) -> Option<i64> {
    let value = unsigned(bytes, at, width)?;
    let shift = 64 - 8 * width as u32;
    Some((value << shift) as i64 >> shift)
}

fn real(bytes: &[u8], at: usize, width: usize) -> Option<f64> {
    let bits = unsigned(bytes, at, width)?;
    match width {
        4 => Some(f32::from_bits(bits as u32).into()),
        8 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// {"a": 1000, "b": 0.5, "c": true}, with entries of 4 bytes.
    fn example() -> Vec<u8> {
        let mut bytes = b"a\0b\0c\0".to_vec();
        bytes.resize(8, 0);
        // Keys: a vector of offsets of 1 byte, before it how many.
        bytes.push(3);
        let keys = bytes.len();
        for key in [0usize, 2, 4] {
            bytes.push((bytes.len() - key) as u8);
        }
        let keys_offset = bytes.len() - keys;
        bytes.extend((keys_offset as u32).to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(3u32.to_le_bytes());
        let values = bytes.len();
        bytes.extend(1000i32.to_le_bytes());
        bytes.extend(0.5f32.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend([INT << 2 | 2, FLOAT << 2 | 2, BOOL << 2]);
        bytes.push((bytes.len() - values) as u8);
        bytes.extend([MAP << 2 | 2, 1]);
        bytes
    }

    #[test]
    fn a_map_gives_its_numbers() {
        let bytes = example();
        let expected = [
            ("a", Scalar::Integer(1000)),
            ("b", Scalar::Real(0.5)),
            ("c", Scalar::Boolean(true)),
        ];
        assert_eq!(map(&bytes).unwrap(), expected);
        assert_eq!(Scalar::Boolean(true).as_integer(), Some(1));
        assert_eq!(Scalar::Integer(-3).as_real(), -3.0);
    }

    #[test]
    fn damaged_bytes_are_no_map_or_another_one() {
        let bytes = example();
        assert_eq!(map(&[]), None);
        for at in 0..bytes.len() {
            for value in 0..=255 {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = map(&damaged);
            }
            let _ = map(&bytes[at..]);
            let _ = map(&bytes[..at]);
        }
    }
}
