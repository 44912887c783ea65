//! The descriptor of StandIn, whose size differs from operator to operator.

use std::mem::size_of;

use crate::sys::ArmnnStandInDescriptor;

/// An operator that the parser does not know: its domain, name, version and raw attributes.
///
/// In memory it is as it goes over the wire: a fixed head, and bytes behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct StandInDescriptor {
    // u64 for alignment.
    words: Box<[u64]>,
    byte_len: usize,
}

/// The descriptor of a StandIn in a view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandInRef<'a> {
    /// The operator's domain.
    pub domain: &'a str,
    /// The operator's name.
    pub name: &'a str,
    /// The operator's version.
    pub version: u32,
    /// The attributes, in the model format's own encoding.
    pub attributes: &'a [u8],
}

const HEAD: usize = size_of::<ArmnnStandInDescriptor>();

impl StandInDescriptor {
    /// Packs an operator; `None` if it takes more than 4 GiB.
    pub fn new(domain: &str, name: &str, version: u32, attributes: &[u8]) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut offset = HEAD;
        let mut place = |part: &[u8]| -> Option<(u32, u32)> {
            let at = u32::try_from(offset).ok()?;
            let len = u32::try_from(part.len()).ok()?;
            bytes.extend_from_slice(part);
            offset = offset.checked_add(part.len())?;
            Some((at, len))
        };
        let (domain_offset, domain_len) = place(domain.as_bytes())?;
        let (name_offset, name_len) = place(name.as_bytes())?;
        let (attributes_offset, attributes_len) = place(attributes)?;
        let head = [
            HEAD as u32,
            version,
            domain_offset,
            domain_len,
            name_offset,
            name_len,
            attributes_offset,
            attributes_len,
        ];
        let mut all: Vec<u8> = head.iter().flat_map(|n| n.to_ne_bytes()).collect();
        all.extend_from_slice(&bytes);
        let byte_len = all.len();
        let words = all
            .chunks(8)
            .map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_ne_bytes(word)
            })
            .collect();
        Some(Self { words, byte_len })
    }

    /// The parts.
    pub fn get(&self) -> StandInRef<'_> {
        // SAFETY: `words` holds `byte_len` initialised bytes.
        let bytes =
            unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.byte_len) };
        StandInRef::parse(bytes).unwrap_or(StandInRef {
            domain: "",
            name: "",
            version: 0,
            attributes: &[],
        })
    }

    pub(super) fn raw(&self) -> (*const std::ffi::c_void, usize) {
        (self.words.as_ptr().cast(), self.byte_len)
    }
}

impl<'a> StandInRef<'a> {
    /// Reads the packed form; `None` if its offsets lead outside.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let head = bytes.get(..HEAD)?;
        let number = |i: usize| -> Option<u32> {
            Some(u32::from_ne_bytes(
                head.get(4 * i..4 * i + 4)?.try_into().ok()?,
            ))
        };
        let part = |i: usize| -> Option<&'a [u8]> {
            let start = number(i)? as usize;
            bytes.get(start..start.checked_add(number(i + 1)? as usize)?)
        };
        Some(Self {
            domain: std::str::from_utf8(part(2)?).ok()?,
            name: std::str::from_utf8(part(4)?).ok()?,
            version: number(1)?,
            attributes: part(6)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_comes_back_as_it_went_in() {
        let packed = StandInDescriptor::new("com.example", "Swish", 3, &[1, 2, 3]).unwrap();
        let expected = StandInRef {
            domain: "com.example",
            name: "Swish",
            version: 3,
            attributes: &[1, 2, 3],
        };
        assert_eq!(packed.get(), expected);
    }

    #[test]
    fn offsets_that_lead_outside_are_refused() {
        let packed = StandInDescriptor::new("d", "n", 1, &[9; 20]).unwrap();
        let (data, len) = packed.raw();
        // SAFETY: the bytes belong to `packed`.
        let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) };
        for cut in 0..len {
            assert_eq!(StandInRef::parse(&bytes[..cut]), None);
        }
    }
}
