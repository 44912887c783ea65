//! A field of numbers, as the file has them.

use std::fmt;
use std::marker::PhantomData;

use ::bytes::{Buf, BufMut, Bytes};
use prost::DecodeError;
use prost::encoding::{
    DecodeContext, WireType, bytes, encode_key, encode_varint, encoded_len_varint, fixed32,
    fixed64, key_len, uint64,
};

/// A repeated field of numbers that stay encoded: a packed field shares the file it is decoded
/// from.
///
/// What a file has in several pieces, or number by number, is brought together, as if it had been
/// packed in one.
#[derive(Clone)]
pub struct Numbers<T> {
    encoded: Encoded,
    of: PhantomData<T>,
}

#[derive(Clone)]
enum Encoded {
    Shared(Bytes),
    Gathered(Vec<u8>),
}

/// A type of numbers in a field.
pub trait Number: Copy + Send + Sync {
    /// Puts one behind others.
    fn encode(self, encoded: &mut Vec<u8>);

    /// An error if the encoding of numbers ends within one.
    #[doc(hidden)]
    fn check_end(encoded: &[u8], context: DecodeContext) -> Result<(), DecodeError>;

    /// Takes one that stands alone behind a key, and puts it behind others.
    #[doc(hidden)]
    fn merge(
        wire_type: WireType,
        encoded: &mut Vec<u8>,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError>;
}

impl<T: Number> Numbers<T> {
    /// The encoded numbers, without anything between them: those of `float` and `double`
    /// little-endian, integers as varints.
    pub fn encoded(&self) -> Bytes {
        match &self.encoded {
            Encoded::Shared(bytes) => bytes.clone(),
            Encoded::Gathered(bytes) => Bytes::copy_from_slice(bytes),
        }
    }

    /// The same, without the field.
    pub fn into_encoded(self) -> Bytes {
        match self.encoded {
            Encoded::Shared(bytes) => bytes,
            Encoded::Gathered(bytes) => bytes.into(),
        }
    }

    fn bytes(&self) -> &[u8] {
        match &self.encoded {
            Encoded::Shared(bytes) => bytes,
            Encoded::Gathered(bytes) => bytes,
        }
    }

    /// Room for more behind what there is.
    fn gathered(&mut self) -> &mut Vec<u8> {
        if let Encoded::Shared(bytes) = &self.encoded {
            self.encoded = Encoded::Gathered(bytes.to_vec());
        }
        match &mut self.encoded {
            Encoded::Gathered(bytes) => bytes,
            Encoded::Shared(_) => unreachable!("gathered above"),
        }
    }

    /// Takes what stands behind a key of the field: many numbers, or one.
    pub(super) fn merge(
        &mut self,
        wire_type: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        // The end of the last piece is looked at with the numbers.
        T::check_end(self.bytes(), context.clone())?;
        if wire_type == WireType::LengthDelimited {
            let mut piece = Bytes::new();
            bytes::merge(wire_type, &mut piece, buf, context)?;
            match self.bytes() {
                [] => self.encoded = Encoded::Shared(piece),
                _ => self.gathered().extend_from_slice(&piece),
            }
            return Ok(());
        }
        T::merge(wire_type, self.gathered(), buf, context)
    }

    /// Writes key and numbers, packed.
    pub(super) fn encode(&self, tag: u32, buf: &mut impl BufMut) {
        let bytes = self.bytes();
        if !bytes.is_empty() {
            encode_key(tag, WireType::LengthDelimited, buf);
            encode_varint(bytes.len() as u64, buf);
            buf.put_slice(bytes);
        }
    }

    /// Bytes that [`encode`](Self::encode) writes.
    pub(super) fn encoded_len(&self, tag: u32) -> usize {
        match self.bytes().len() {
            0 => 0,
            length => key_len(tag) + encoded_len_varint(length as u64) + length,
        }
    }
}

impl Number for f32 {
    fn encode(self, encoded: &mut Vec<u8>) {
        encoded.extend_from_slice(&self.to_le_bytes());
    }

    fn check_end(encoded: &[u8], context: DecodeContext) -> Result<(), DecodeError> {
        match encoded.as_chunks::<{ size_of::<Self>() }>().1 {
            [] => Ok(()),
            mut part => fixed32::merge(WireType::ThirtyTwoBit, &mut 0, &mut part, context),
        }
    }

    fn merge(
        wire_type: WireType,
        encoded: &mut Vec<u8>,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut number = 0;
        fixed32::merge(wire_type, &mut number, buf, context)?;
        encoded.extend_from_slice(&number.to_le_bytes());
        Ok(())
    }
}

impl Number for f64 {
    fn encode(self, encoded: &mut Vec<u8>) {
        encoded.extend_from_slice(&self.to_le_bytes());
    }

    fn check_end(encoded: &[u8], context: DecodeContext) -> Result<(), DecodeError> {
        match encoded.as_chunks::<{ size_of::<Self>() }>().1 {
            [] => Ok(()),
            mut part => fixed64::merge(WireType::SixtyFourBit, &mut 0, &mut part, context),
        }
    }

    fn merge(
        wire_type: WireType,
        encoded: &mut Vec<u8>,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut number = 0;
        fixed64::merge(wire_type, &mut number, buf, context)?;
        encoded.extend_from_slice(&number.to_le_bytes());
        Ok(())
    }
}

impl Number for i32 {
    fn encode(self, encoded: &mut Vec<u8>) {
        // With its sign in all 64 bits.
        i64::from(self).encode(encoded);
    }

    fn check_end(encoded: &[u8], context: DecodeContext) -> Result<(), DecodeError> {
        u64::check_end(encoded, context)
    }

    fn merge(
        wire_type: WireType,
        encoded: &mut Vec<u8>,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        u64::merge(wire_type, encoded, buf, context)
    }
}

impl Number for i64 {
    fn encode(self, encoded: &mut Vec<u8>) {
        self.cast_unsigned().encode(encoded);
    }

    fn check_end(encoded: &[u8], context: DecodeContext) -> Result<(), DecodeError> {
        u64::check_end(encoded, context)
    }

    fn merge(
        wire_type: WireType,
        encoded: &mut Vec<u8>,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        u64::merge(wire_type, encoded, buf, context)
    }
}

impl Number for u64 {
    fn encode(self, encoded: &mut Vec<u8>) {
        encode_varint(self, encoded);
    }

    fn check_end(encoded: &[u8], context: DecodeContext) -> Result<(), DecodeError> {
        // All bytes of a varint but its last one have the highest bit.
        match encoded {
            [.., last] if last >> 7 == 1 => {
                uint64::merge(WireType::Varint, &mut 0, &mut &[*last][..], context)
            }
            _ => Ok(()),
        }
    }

    fn merge(
        wire_type: WireType,
        encoded: &mut Vec<u8>,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut number = 0;
        uint64::merge(wire_type, &mut number, buf, context)?;
        number.encode(encoded);
        Ok(())
    }
}

impl<T: Number> FromIterator<T> for Numbers<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        let mut encoded = Vec::new();
        for number in numbers {
            number.encode(&mut encoded);
        }
        Self {
            encoded: Encoded::Gathered(encoded),
            of: PhantomData,
        }
    }
}

impl<T: Number> From<Vec<T>> for Numbers<T> {
    fn from(numbers: Vec<T>) -> Self {
        numbers.into_iter().collect()
    }
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self {
            encoded: Encoded::Shared(Bytes::new()),
            of: PhantomData,
        }
    }
}

impl<T: Number> PartialEq for Numbers<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

/// The length of the encoded numbers in place of the numbers.
impl<T: Number> fmt::Debug for Numbers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Numbers")
            .field("encoded_length", &self.bytes().len())
            .finish()
    }
}
