//! The message of a constant.
//!
//! It is the one message that is not derived: the fields that hold elements stay encoded, so that
//! they are not in memory twice, and no derived field does that for one that may be packed.

use bytes::{Buf, BufMut, Bytes};
use prost::encoding::{
    DecodeContext, WireType, bytes as byte_string, int32, int64, message, skip_field, string,
};
use prost::{DecodeError, Message};

use super::{Numbers, StringStringEntryProto};

/// A constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorProto {
    /// Its dimensions, outermost first.
    pub dims: Vec<i64>,
    /// The type of its elements, by number.
    pub data_type: i32,
    /// A part of a larger tensor.
    pub segment: Option<Segment>,
    /// Elements of FLOAT, or real and imaginary parts of COMPLEX64.
    pub float_data: Numbers<f32>,
    /// Elements of types up to 32 bits; bits of 16-bit floats.
    pub int32_data: Numbers<i32>,
    /// Elements of STRING.
    pub string_data: Vec<Bytes>,
    /// Elements of INT64.
    pub int64_data: Numbers<i64>,
    /// Its name.
    pub name: String,
    /// Elements, little-endian, of any type but STRING.
    pub raw_data: Option<Bytes>,
    /// Elements of DOUBLE, or real and imaginary parts of COMPLEX128.
    pub double_data: Numbers<f64>,
    /// Elements of UINT32 and UINT64.
    pub uint64_data: Numbers<u64>,
    /// Where the elements are, if they are in a file of their own.
    pub external_data: Vec<StringStringEntryProto>,
    /// 1 if they are.
    pub data_location: i32,
}

/// A part of a larger tensor.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Segment {
    /// Its first element.
    #[prost(int64, tag = "1")]
    pub begin: i64,
    /// The element behind its last.
    #[prost(int64, tag = "2")]
    pub end: i64,
}

// Fields in the order of their numbers, as a derived message writes them.
impl Message for TensorProto {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        int64::encode_packed(1, &self.dims, buf);
        if self.data_type != 0 {
            int32::encode(2, &self.data_type, buf);
        }
        if let Some(segment) = &self.segment {
            message::encode(3, segment, buf);
        }
        self.float_data.encode(4, buf);
        self.int32_data.encode(5, buf);
        byte_string::encode_repeated(6, &self.string_data, buf);
        self.int64_data.encode(7, buf);
        if !self.name.is_empty() {
            string::encode(8, &self.name, buf);
        }
        if let Some(raw) = &self.raw_data {
            byte_string::encode(9, raw, buf);
        }
        self.double_data.encode(10, buf);
        self.uint64_data.encode(11, buf);
        message::encode_repeated(13, &self.external_data, buf);
        if self.data_location != 0 {
            int32::encode(14, &self.data_location, buf);
        }
    }

    fn encoded_len(&self) -> usize {
        let number = |tag, value: i32| match value {
            0 => 0,
            value => int32::encoded_len(tag, &value),
        };
        let name = match self.name.is_empty() {
            true => 0,
            false => string::encoded_len(8, &self.name),
        };
        let segment = self.segment.as_ref();
        let raw = self.raw_data.as_ref();
        int64::encoded_len_packed(1, &self.dims)
            + number(2, self.data_type)
            + segment.map_or(0, |segment| message::encoded_len(3, segment))
            + self.float_data.encoded_len(4)
            + self.int32_data.encoded_len(5)
            + byte_string::encoded_len_repeated(6, &self.string_data)
            + self.int64_data.encoded_len(7)
            + name
            + raw.map_or(0, |raw| byte_string::encoded_len(9, raw))
            + self.double_data.encoded_len(10)
            + self.uint64_data.encoded_len(11)
            + message::encoded_len_repeated(13, &self.external_data)
            + number(14, self.data_location)
    }

    fn merge_field(
        &mut self,
        tag: u32,
        of: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        let (merged, field) = match tag {
            1 => (
                int64::merge_repeated(of, &mut self.dims, buf, context),
                "dims",
            ),
            2 => (
                int32::merge(of, &mut self.data_type, buf, context),
                "data_type",
            ),
            3 => {
                let segment = self.segment.get_or_insert_default();
                (message::merge(of, segment, buf, context), "segment")
            }
            4 => (self.float_data.merge(of, buf, context), "float_data"),
            5 => (self.int32_data.merge(of, buf, context), "int32_data"),
            6 => {
                let strings = &mut self.string_data;
                (
                    byte_string::merge_repeated(of, strings, buf, context),
                    "string_data",
                )
            }
            7 => (self.int64_data.merge(of, buf, context), "int64_data"),
            8 => (string::merge(of, &mut self.name, buf, context), "name"),
            9 => {
                let raw = self.raw_data.get_or_insert_default();
                (byte_string::merge(of, raw, buf, context), "raw_data")
            }
            10 => (self.double_data.merge(of, buf, context), "double_data"),
            11 => (self.uint64_data.merge(of, buf, context), "uint64_data"),
            13 => {
                let entries = &mut self.external_data;
                (
                    message::merge_repeated(of, entries, buf, context),
                    "external_data",
                )
            }
            14 => (
                int32::merge(of, &mut self.data_location, buf, context),
                "data_location",
            ),
            _ => return skip_field(of, tag, buf, context),
        };
        merged.map_err(|mut error| {
            error.push("TensorProto", field);
            error
        })
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tensor in the encoding: its fields, one after the other.
    fn decoded(encoded: &[u8]) -> Result<TensorProto, DecodeError> {
        TensorProto::decode(Bytes::copy_from_slice(encoded))
    }

    #[test]
    fn packed_numbers_share_the_file() {
        let file = Bytes::from_static(b"\x22\x08\x00\x00\x80\x3f\x00\x00\x00\x40");
        let tensor = TensorProto::decode(file.clone()).unwrap();
        let numbers = tensor.float_data.into_encoded();
        assert_eq!(numbers, file.slice(2..));
        assert_eq!(numbers.as_ptr(), file[2..].as_ptr());
    }

    #[test]
    fn numbers_one_by_one_and_in_pieces_are_the_same_as_packed_in_one() {
        // 4: float, 5: int32, 7: int64, 10: double, 11: uint64; -1 is ten bytes.
        let minus_one = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        let many = |key: u8, numbers: &[&[u8]]| {
            let all = numbers.concat();
            [&[key << 3 | 2, all.len() as u8], &all[..]].concat()
        };
        let alone = |key: u8, of: u8, number: &[u8]| [&[key << 3 | of], number].concat();
        let fixed = |key, of, (a, b, c): (&[u8], &[u8], &[u8])| {
            let expected = decoded(&many(key, &[a, b, c])).unwrap();
            for pieces in [
                [alone(key, of, a), alone(key, of, b), alone(key, of, c)].concat(),
                [alone(key, of, a), many(key, &[b, c])].concat(),
                [many(key, &[a, b]), alone(key, of, c)].concat(),
                [many(key, &[a]), many(key, &[]), many(key, &[b, c])].concat(),
                [
                    many(key, &[]),
                    alone(key, of, a),
                    many(key, &[b]),
                    many(key, &[c]),
                ]
                .concat(),
            ] {
                assert_eq!(decoded(&pieces).unwrap(), expected);
            }
            assert_ne!(expected, TensorProto::default());
            assert_eq!(expected.encode_to_vec(), many(key, &[a, b, c]));
        };
        fixed(4, 5, (&[0, 0, 128, 63], &[1, 2, 3, 4], &[0; 4]));
        fixed(10, 1, (&[1; 8], &[0; 8], &[2; 8]));
        for key in [5, 7, 11] {
            fixed(key, 0, (minus_one, b"\x05", b"\x80\x01"));
        }
    }

    #[test]
    fn numbers_of_another_kind_or_that_end_early_are_errors() {
        for broken in [
            // float_data as a varint, and as 64 bits.
            &b"\x20\x01"[..],
            b"\x21\x01\x02\x03\x04\x05\x06\x07\x08",
            // int32_data as 32 bits.
            b"\x2d\x01\x02\x03\x04",
            // Three bytes of a float; two of four.
            b"\x25\x01\x02\x03",
            b"\x22\x04\x01\x02",
            // Pieces that end within a number, whose end seems to be in the next piece.
            b"\x22\x03\x01\x02\x03\x22\x05\x04\x05\x06\x07\x08",
            b"\x52\x07\x01\x02\x03\x04\x05\x06\x07\x51\x01\x02\x03\x04\x05\x06\x07\x08",
            b"\x2a\x01\x80\x2a\x01\x01",
            b"\x3a\x02\x01\x80\x38\x01",
            // A varint of eleven bytes.
            b"\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            let error = decoded(broken).unwrap_err().to_string();
            assert!(error.contains("TensorProto."), "{error}");
        }
    }

    #[test]
    fn a_tensor_is_read_as_it_was_written() {
        let tensor = TensorProto {
            dims: vec![2, 0, -1],
            data_type: 7,
            segment: Some(Segment { begin: 3, end: 5 }),
            float_data: vec![1.5, f32::NAN].into(),
            int32_data: vec![-1, 7, i32::MIN].into(),
            string_data: vec![Bytes::from_static(b"a"), Bytes::new()],
            int64_data: vec![-1, i64::MAX].into(),
            name: "w".to_owned(),
            raw_data: Some(Bytes::new()),
            double_data: vec![0.1].into(),
            uint64_data: vec![u64::MAX, 0].into(),
            external_data: vec![StringStringEntryProto {
                key: "location".to_owned(),
                value: "there".to_owned(),
            }],
            data_location: 1,
        };
        let encoded = tensor.encode_to_vec();
        assert_eq!(encoded.len(), tensor.encoded_len());
        assert_eq!(decoded(&encoded).unwrap(), tensor);
        // A field that nobody knows, in between.
        let more = [b"\x62\x01x", &encoded[..]].concat();
        assert_eq!(decoded(&more).unwrap(), tensor);
    }
}
