//! Elements of which several are in a byte.

use armnn_backend_api::{BackendError, DataType, Result};

/// How elements of at most 8 bits lie in bytes: the first in the lowest bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packing {
    /// 1, 2, 4 or 8.
    bits: usize,
}

impl Packing {
    /// That of a type whose elements are less than a byte; `None` for others.
    pub(crate) fn of(data_type: DataType) -> Option<Self> {
        match data_type.bits() {
            Some(bits @ (1 | 2 | 4)) => Some(Self::new(bits as usize)),
            _ => None,
        }
    }

    /// That of elements of so many bits: 1, 2, 4 or 8.
    pub(crate) fn new(bits: usize) -> Self {
        Self { bits }
    }

    fn in_byte(self) -> usize {
        8 / self.bits
    }

    /// Bytes of `len` elements.
    pub(crate) fn byte_len(self, len: usize) -> usize {
        len.div_ceil(self.in_byte())
    }

    /// The bytes of `len` elements of input 0.
    ///
    /// # Errors
    /// When there are not as many.
    pub(crate) fn bytes(self, bytes: &[u8], len: usize) -> Result<&[u8]> {
        let (expected, found) = (self.byte_len(len), bytes.len());
        let bytes = bytes.get(..expected);
        bytes.ok_or_else(|| too_short("input", found, expected))
    }

    /// The same of output 0.
    ///
    /// # Errors
    /// When there are not as many.
    pub(crate) fn bytes_mut(self, bytes: &mut [u8], len: usize) -> Result<&mut [u8]> {
        let (expected, found) = (self.byte_len(len), bytes.len());
        let bytes = bytes.get_mut(..expected);
        bytes.ok_or_else(|| too_short("output", found, expected))
    }

    /// The bits of an element.
    pub(crate) fn code_at(self, bytes: &[u8], at: usize) -> u8 {
        let code = bytes[at / self.in_byte()] >> (at % self.in_byte() * self.bits);
        code & (0xff >> (8 - self.bits))
    }

    /// Writes to bits that are 0.
    pub(crate) fn put_at(self, bytes: &mut [u8], at: usize, code: u8) {
        bytes[at / self.in_byte()] |= code << (at % self.in_byte() * self.bits);
    }
}

fn too_short(direction: &str, found: usize, expected: usize) -> BackendError {
    BackendError::invalid_argument(format!(
        "{direction} 0 has {found} bytes; the workload was compiled for {expected}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_is_in_the_lowest_bits() {
        let packing = Packing::of(DataType::Int2).unwrap();
        let mut bytes = [0; 2];
        for (at, code) in [1, 2, 3, 0, 2].into_iter().enumerate() {
            packing.put_at(&mut bytes, at, code);
        }
        assert_eq!(bytes, [0b00_11_10_01, 0b10]);
        assert_eq!(packing.code_at(&bytes, 2), 3);
        assert_eq!(packing.byte_len(5), 2);
        assert_eq!(packing.bytes(&bytes, 4).unwrap(), [0b00_11_10_01]);
        assert!(packing.bytes(&bytes, 9).is_err());
    }

    #[test]
    fn elements_of_whole_bytes_are_not_packed() {
        assert!(Packing::of(DataType::Int8).is_none());
        assert!(Packing::of(DataType::Float32).is_none());
        assert!(Packing::of(DataType::UInt4).is_some());
    }
}
