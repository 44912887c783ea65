//! Values in files of their own: what ONNX's test cases have beside a model.

use armnn_network::ValueType;
use bytes::Bytes;
use prost::Message as _;

use super::external::ExternalFiles;
use super::{ElementType, Tensor, tensor, weight};
use crate::error::{Fault, OnnxParserError};
use crate::proto::{OptionalProto, SequenceProto, TensorProto};

/// A value that is a file of its own (`input_0.pb` beside a model): a `TensorProto`, a
/// `SequenceProto` or an `OptionalProto` of `onnx-data.proto`.
#[derive(Clone, Debug)]
pub enum StoredValue {
    /// A tensor of numbers.
    Tensor(Tensor),
    /// A tensor of strings.
    Strings {
        /// Dimensions, outermost first; none is negative.
        dims: Vec<i64>,
        /// The strings, row-major, as many as the dimensions say.
        strings: Vec<String>,
    },
    /// Values in a row.
    Sequence(Vec<StoredValue>),
    /// A value that may be absent.
    Optional(Option<Box<StoredValue>>),
}

/// What [`SequenceProto::elem_type`] and [`OptionalProto::elem_type`] say.
const OF_TENSORS: i32 = 1;
const OF_SEQUENCES: i32 = 3;
const OF_OPTIONALS: i32 = 5;

impl StoredValue {
    /// Decodes a value of a type: nothing in the file says whether it is a tensor, a sequence or an
    /// optional. Types of elements and shapes are those of the file, whatever the type says.
    /// Messages call the file by `source`. Raw data is not copied.
    ///
    /// # Errors
    ///
    /// [`OnnxParserError::NotOnnx`], [`OnnxParserError::Malformed`], or
    /// [`OnnxParserError::ExternalData`] where elements are in yet another file.
    pub fn from_bytes(bytes: Bytes, of: &ValueType, source: &str) -> Result<Self, OnnxParserError> {
        let broken = |error: prost::DecodeError| OnnxParserError::NotOnnx {
            model: source.to_owned(),
            problem: format!("its protocol buffer is broken: {error}"),
        };
        let fault = |fault: Fault| fault.of(source);
        match of {
            ValueType::Tensor(_) | ValueType::Strings(_) => {
                weight::check_tensor(&bytes).map_err(fault)?;
                of_tensor(TensorProto::decode(bytes).map_err(broken)?)
            }
            ValueType::Sequence(of) => {
                weight::check_sequence(&bytes).map_err(fault)?;
                of_sequence(SequenceProto::decode(bytes).map_err(broken)?, of)
            }
            ValueType::Optional(of) => {
                weight::check_optional(&bytes).map_err(fault)?;
                of_optional(OptionalProto::decode(bytes).map_err(broken)?, of)
            }
        }
        .map_err(fault)
    }

    /// The value as a file of its own, which [`from_bytes`](Self::from_bytes) reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Tensor(_) | Self::Strings { .. } => self.to_tensor().encode_to_vec(),
            Self::Sequence(values) => sequence(values).encode_to_vec(),
            Self::Optional(value) => optional(value.as_deref()).encode_to_vec(),
        }
    }

    fn to_tensor(&self) -> TensorProto {
        match self {
            Self::Tensor(tensor) => TensorProto {
                dims: tensor.dims.clone(),
                data_type: tensor.element_type.0,
                raw_data: tensor.data.clone(),
                ..TensorProto::default()
            },
            Self::Strings { dims, strings } => TensorProto {
                dims: dims.clone(),
                data_type: ElementType::STRING.0,
                string_data: strings
                    .iter()
                    .map(|s| s.clone().into_bytes().into())
                    .collect(),
                ..TensorProto::default()
            },
            // Asked for tensors only.
            Self::Sequence(_) | Self::Optional(_) => TensorProto::default(),
        }
    }
}

// Types are nested to a small depth, and the decoder follows no more than a hundred messages.

fn of_tensor(mut proto: TensorProto) -> Result<StoredValue, Fault> {
    if proto.data_type != ElementType::STRING.0 {
        return tensor::decode(proto, &ExternalFiles::new(None, None)).map(StoredValue::Tensor);
    }
    let texts = std::mem::take(&mut proto.string_data);
    let Tensor { dims, .. } = tensor::decode(proto, &ExternalFiles::new(None, None))?;
    let count = dims.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim));
    if count.and_then(|n| usize::try_from(n).ok()) != Some(texts.len()) {
        let found = texts.len();
        return Err(Fault::new(format!(
            "it has {found} strings, and other dimensions: {dims:?}"
        )));
    }
    let strings = texts.iter().map(|text| match std::str::from_utf8(text) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(Fault::new("a string in it is no UTF-8")),
    });
    Ok(StoredValue::Strings {
        dims,
        strings: strings.collect::<Result<_, _>>()?,
    })
}

fn of_sequence(proto: SequenceProto, of: &ValueType) -> Result<StoredValue, Fault> {
    let tensors = proto.tensor_values.into_iter().map(of_tensor);
    let inner = |sequence| match of {
        ValueType::Sequence(of) => of_sequence(sequence, of),
        _ => Err(Fault::new("it holds a sequence, which its type does not")),
    };
    let sequences = proto.sequence_values.into_iter().map(inner);
    let inner = |optional| match of {
        ValueType::Optional(of) => of_optional(optional, of),
        _ => Err(Fault::new("it holds an optional, which its type does not")),
    };
    let optionals = proto.optional_values.into_iter().map(inner);
    let values = tensors.chain(sequences).chain(optionals);
    values.collect::<Result<_, _>>().map(StoredValue::Sequence)
}

fn of_optional(proto: OptionalProto, of: &ValueType) -> Result<StoredValue, Fault> {
    let OptionalProto {
        tensor_value,
        sequence_value,
        optional_value,
        ..
    } = proto;
    let value = match (tensor_value, sequence_value, optional_value, of) {
        (None, None, None, _) => None,
        (Some(tensor), None, None, _) => Some(of_tensor(*tensor)?),
        (None, Some(sequence), None, ValueType::Sequence(of)) => Some(of_sequence(*sequence, of)?),
        (None, None, Some(optional), ValueType::Optional(of)) => Some(of_optional(*optional, of)?),
        _ => return Err(Fault::new("it holds something that its type does not")),
    };
    Ok(StoredValue::Optional(value.map(Box::new)))
}

fn sequence(values: &[StoredValue]) -> SequenceProto {
    let mut proto = SequenceProto {
        elem_type: values.first().map_or(OF_TENSORS, kind),
        ..SequenceProto::default()
    };
    for value in values {
        match value {
            StoredValue::Tensor(_) | StoredValue::Strings { .. } => {
                proto.tensor_values.push(value.to_tensor());
            }
            StoredValue::Sequence(values) => proto.sequence_values.push(sequence(values)),
            StoredValue::Optional(value) => proto.optional_values.push(optional(value.as_deref())),
        }
    }
    proto
}

fn optional(value: Option<&StoredValue>) -> OptionalProto {
    let mut proto = OptionalProto {
        elem_type: value.map_or(0, kind),
        ..OptionalProto::default()
    };
    match value {
        None => {}
        Some(StoredValue::Sequence(values)) => {
            proto.sequence_value = Some(Box::new(sequence(values)));
        }
        Some(StoredValue::Optional(value)) => {
            proto.optional_value = Some(Box::new(optional(value.as_deref())));
        }
        Some(tensor) => proto.tensor_value = Some(Box::new(tensor.to_tensor())),
    }
    proto
}

fn kind(value: &StoredValue) -> i32 {
    match value {
        StoredValue::Tensor(_) | StoredValue::Strings { .. } => OF_TENSORS,
        StoredValue::Sequence(_) => OF_SEQUENCES,
        StoredValue::Optional(_) => OF_OPTIONALS,
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Shape, TensorInfo};

    use super::*;

    fn floats() -> ValueType {
        ValueType::Tensor(TensorInfo::new(DataType::Float32, [-1]))
    }

    fn read(bytes: &[u8], of: &ValueType) -> Result<StoredValue, OnnxParserError> {
        StoredValue::from_bytes(Bytes::copy_from_slice(bytes), of, "a value")
    }

    #[test]
    fn a_value_is_read_as_it_was_written() {
        let tensor = StoredValue::Tensor(Tensor {
            element_type: ElementType::FLOAT,
            dims: vec![1],
            data: Some(Bytes::copy_from_slice(&2.5f32.to_le_bytes())),
            strings: None,
        });
        let strings = StoredValue::Strings {
            dims: vec![2, 1],
            strings: vec!["a".to_owned(), String::new()],
        };
        let of_floats = ValueType::Sequence(Box::new(floats()));
        let present = StoredValue::Optional(Some(Box::new(tensor.clone())));
        let sequence = StoredValue::Sequence(vec![tensor.clone(), tensor.clone()]);
        for (value, of) in [
            (tensor, floats()),
            (strings, ValueType::Strings(Shape::SCALAR)),
            (present.clone(), ValueType::Optional(Box::new(floats()))),
            (
                StoredValue::Optional(None),
                ValueType::Optional(Box::new(floats())),
            ),
            (sequence.clone(), of_floats.clone()),
            (
                StoredValue::Sequence(vec![sequence]),
                ValueType::Sequence(Box::new(of_floats)),
            ),
            (
                StoredValue::Sequence(vec![present, StoredValue::Optional(None)]),
                ValueType::Sequence(Box::new(ValueType::Optional(Box::new(floats())))),
            ),
        ] {
            let read = read(&value.to_bytes(), &of).unwrap();
            assert_eq!(format!("{read:?}"), format!("{value:?}"));
            assert_eq!(read.to_bytes(), value.to_bytes());
        }
    }

    #[test]
    fn a_value_of_another_kind_is_an_error() {
        let of = ValueType::Sequence(Box::new(floats()));
        let nested = StoredValue::Sequence(vec![StoredValue::Sequence(Vec::new())]);
        let error = read(&nested.to_bytes(), &of).unwrap_err().to_string();
        assert!(error.contains("holds a sequence"), "{error}");
        // dims: [2], data_type: STRING, string_data: one "a".
        let error = read(
            b"\x08\x02\x10\x08\x32\x01a",
            &ValueType::Strings(Shape::SCALAR),
        );
        assert!(error.unwrap_err().to_string().contains("1 strings"));
    }
}
