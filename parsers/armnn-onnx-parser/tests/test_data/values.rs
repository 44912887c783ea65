//! Values in files of ONNX's test cases: tensors, sequences and optionals.

use std::path::Path;

use armnn_backend_api::{DataType, Quantization};
use armnn_network::ValueType;
use armnn_onnx_parser::model::{ElementType, Tensor};
use armnn_onnx_parser::proto::TensorProto;
use armnn_runtime::{HostTensor, Shape, StringTensor, TensorInfo, Value};
use bytes::Bytes;
use prost::Message;

/// A sequence in a file.
#[derive(Clone, PartialEq, Message)]
struct SequenceProto {
    #[prost(int32, tag = "2")]
    elem_type: i32,
    #[prost(message, repeated, tag = "3")]
    tensors: Vec<TensorProto>,
    #[prost(message, repeated, tag = "5")]
    sequences: Vec<SequenceProto>,
    #[prost(message, repeated, tag = "7")]
    optionals: Vec<OptionalProto>,
}

/// An optional in a file.
#[derive(Clone, PartialEq, Message)]
struct OptionalProto {
    #[prost(int32, tag = "2")]
    elem_type: i32,
    #[prost(message, optional, boxed, tag = "3")]
    tensor: Option<Box<TensorProto>>,
    #[prost(message, optional, boxed, tag = "5")]
    sequence: Option<Box<SequenceProto>>,
    #[prost(message, optional, boxed, tag = "7")]
    optional: Option<Box<OptionalProto>>,
}

/// The value of a type in a file; none if it is not one that this reads.
pub fn read_value(path: &Path, of: &ValueType) -> Option<Value> {
    decode(&std::fs::read(path).ok()?, of)
}

fn decode(bytes: &[u8], of: &ValueType) -> Option<Value> {
    match of {
        ValueType::Tensor(info) => tensor_value(bytes, &info.quantization),
        ValueType::Strings(_) => strings_value(&TensorProto::decode(bytes).ok()?),
        ValueType::Sequence(of) => sequence_value(SequenceProto::decode(bytes).ok()?, of),
        ValueType::Optional(of) => optional_value(OptionalProto::decode(bytes).ok()?, of),
    }
}

fn sequence_value(sequence: SequenceProto, of: &ValueType) -> Option<Value> {
    let all: Option<Vec<Value>> = match of {
        ValueType::Sequence(of) => {
            let all = sequence.sequences.into_iter();
            all.map(|sequence| sequence_value(sequence, of)).collect()
        }
        ValueType::Optional(of) => {
            let all = sequence.optionals.into_iter();
            all.map(|optional| optional_value(optional, of)).collect()
        }
        of => {
            let all = sequence.tensors.iter();
            all.map(|tensor| decode(&tensor.encode_to_vec(), of))
                .collect()
        }
    };
    Some(all?.into())
}

fn optional_value(optional: OptionalProto, of: &ValueType) -> Option<Value> {
    let value = match (optional.tensor, optional.sequence, of) {
        (Some(tensor), _, of) => Some(decode(&tensor.encode_to_vec(), of)?),
        (_, Some(sequence), ValueType::Sequence(of)) => Some(sequence_value(*sequence, of)?),
        (None, None, _) => None,
        _ => return None,
    };
    Some(Value::Optional(value.map(std::sync::Arc::new)))
}

fn tensor_value(bytes: &[u8], quantization: &Quantization) -> Option<Value> {
    let (_, tensor) = Tensor::from_bytes(Bytes::copy_from_slice(bytes), "a tensor").ok()?;
    let info = TensorInfo::new(
        tensor.element_type.data_type()?,
        Shape::new(&tensor.dims).ok()?,
    );
    let info = info.quantized(quantization.clone());
    Some(HostTensor::from_bytes(info, &tensor.data?).ok()?.into())
}

fn strings_value(tensor: &TensorProto) -> Option<Value> {
    let strings = tensor.string_data.iter();
    let strings: Option<Vec<String>> = strings
        .map(|text| String::from_utf8(text.to_vec()).ok())
        .collect();
    Some(StringTensor::new(Shape::new(&tensor.dims).ok()?, strings?)?.into())
}

/// How a value differs from what a file says; none if it does not.
pub fn difference(found: &Value, bytes: &[u8]) -> Option<String> {
    let problem = |what: &str| Some(what.to_owned());
    match found {
        Value::Tensor(found) => match TensorProto::decode(bytes) {
            Ok(expected) => tensor_difference(found, expected),
            Err(_) => problem("a tensor in place of something else"),
        },
        Value::Strings(found) => {
            let expected = TensorProto::decode(bytes).ok();
            match expected.as_ref().and_then(strings_value) {
                Some(Value::Strings(expected)) if expected == *found => None,
                other => Some(format!("{found:?} for {other:?}")),
            }
        }
        Value::Sequence(found) => {
            let expected = SequenceProto::decode(bytes).unwrap();
            let all = expected.tensors.iter().map(Message::encode_to_vec);
            let all = all.chain(expected.sequences.iter().map(Message::encode_to_vec));
            let all: Vec<Vec<u8>> = all
                .chain(expected.optionals.iter().map(Message::encode_to_vec))
                .collect();
            if all.len() != found.len() {
                return Some(format!("{} values for {}", found.len(), all.len()));
            }
            let mut pairs = found.iter().zip(&all);
            pairs.find_map(|(found, expected)| difference(found, expected))
        }
        Value::Optional(found) => {
            let expected = OptionalProto::decode(bytes).unwrap();
            let tensor = expected.tensor.map(|tensor| tensor.encode_to_vec());
            let sequence = expected.sequence.map(|sequence| sequence.encode_to_vec());
            match (found, tensor.or(sequence)) {
                (None, None) => None,
                (Some(found), Some(expected)) => difference(found, &expected),
                _ => problem("an optional with a value for one without, or the other way round"),
            }
        }
    }
}

/// How a tensor's type and shape differ from what a file says; none if they do not.
pub fn kind_difference(found: &Value, bytes: &[u8]) -> Option<String> {
    let expected = TensorProto::decode(bytes).unwrap();
    let info = found.as_tensor().unwrap().info();
    let data_type = ElementType(expected.data_type).data_type();
    let same = data_type == Some(info.data_type) && info.shape.dims() == expected.dims;
    (!same).then(|| format!("{info} for {:?} of {data_type:?}", expected.dims))
}

fn tensor_difference(found: &HostTensor, expected: TensorProto) -> Option<String> {
    let element_type = ElementType(expected.data_type);
    let plain = match found.info().data_type {
        DataType::QAsymmU8 => DataType::UInt8,
        DataType::QAsymmS8 | DataType::QSymmS8 => DataType::Int8,
        DataType::QSymmS16 => DataType::Int16,
        other => other,
    };
    if element_type.data_type() != Some(plain) {
        return Some(format!("{plain} for {element_type}"));
    }
    let bytes = Bytes::from(expected.encode_to_vec());
    let (_, expected) = Tensor::from_bytes(bytes, "an expected tensor").unwrap();
    if found.info().shape.dims() != expected.dims {
        return Some(format!("{} for {:?}", found.info().shape, expected.dims));
    }
    let expected_bytes = expected.data.as_ref().unwrap();
    let found_values = reals(plain, found.bytes());
    let expected_values = reals(plain, expected_bytes);
    let (Some(found), Some(expected)) = (found_values, expected_values) else {
        return (found.bytes() != &expected_bytes[..])
            .then(|| format!("{:?} for {:?}", found.bytes(), expected_bytes));
    };
    let pairs = found.iter().zip(&expected).enumerate();
    pairs
        .filter(|(_, (found, expected))| !close(**found, **expected, plain))
        .map(|(index, (found, expected))| format!("at {index}: {found} for {expected}"))
        .next()
}

/// As ONNX's own runner: 1e-3 of the value and 1e-7; of BFloat16, two of its steps.
fn close(found: f64, expected: f64, data_type: DataType) -> bool {
    let relative = match data_type {
        DataType::BFloat16 => 1.0 / 64.0,
        _ => 1e-3,
    };
    found == expected
        || found.is_nan() && expected.is_nan()
        || (found - expected).abs() <= relative * expected.abs() + 1e-7
}

fn reals(data_type: DataType, bytes: &[u8]) -> Option<Vec<f64>> {
    fn all<const N: usize>(bytes: &[u8], read: fn([u8; N]) -> f64) -> Vec<f64> {
        bytes
            .chunks_exact(N)
            .map(|chunk| read(chunk.try_into().unwrap()))
            .collect()
    }
    Some(match data_type {
        DataType::Float32 => all(bytes, |b| f32::from_le_bytes(b).into()),
        DataType::Float64 => all(bytes, f64::from_le_bytes),
        DataType::Float16 => all(bytes, |b| half::f16::from_le_bytes(b).into()),
        DataType::BFloat16 => all(bytes, |b| half::bf16::from_le_bytes(b).into()),
        _ => return None,
    })
}
