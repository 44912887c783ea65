//! Values as files hold them: tensors, strings, sequences and optionals (`.pb`).

use std::{fs::File, io::Read as _, path::Path, sync::Arc};

use anyhow::{Context as _, bail, ensure};
use armnn_network::ValueType;
use armnn_onnx_parser::{OnnxParserError, model};
use armnn_runtime::{DataType, HostTensor, Shape, StringTensor, TensorInfo, Value};

use crate::{elements::storage_type, model::expect_regular_file, npy, tensor_file::StoredTensor};

/// A value as a file holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredValue {
    /// A tensor of numbers.
    Tensor(StoredTensor),
    /// A tensor of strings, row-major.
    Strings {
        /// Its dimensions, outermost first.
        dims: Vec<i64>,
        /// The strings.
        strings: Vec<String>,
    },
    /// Values in a row.
    Sequence(Vec<StoredValue>),
    /// A value that may be absent.
    Optional(Option<Box<StoredValue>>),
}

/// What it is, as in `a sequence of 2 values`.
impl std::fmt::Display for StoredValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tensor(tensor) => tensor.fmt(f),
            Self::Strings { dims, .. } => write!(f, "STRING {dims:?}"),
            Self::Sequence(values) => write!(f, "a sequence of {} values", values.len()),
            Self::Optional(None) => f.write_str("an optional without a value"),
            Self::Optional(Some(value)) => write!(f, "an optional {value}"),
        }
    }
}

impl StoredValue {
    /// Reads a `.pb` file (`TensorProto`, `SequenceProto`, `OptionalProto`) as a value of this kind;
    /// nothing in the file says which it is.
    ///
    /// # Errors
    /// When it cannot be read, or is none of this kind.
    pub fn read_pb_file(path: &Path, of: &ValueType) -> anyhow::Result<Self> {
        let size = expect_regular_file(path, "the file")?;
        let mut content = Vec::new();
        File::open(path)?.take(size).read_to_end(&mut content)?;
        let source = path.display().to_string();
        match model::StoredValue::from_bytes(content.into(), of, &source) {
            Ok(read) => Self::from_onnx(read),
            Err(error) => Err(without_the_model(error, of)),
        }
    }

    fn from_onnx(value: model::StoredValue) -> anyhow::Result<Self> {
        Ok(match value {
            model::StoredValue::Tensor(tensor) => Self::Tensor(StoredTensor::from_onnx(&tensor)?),
            model::StoredValue::Strings { dims, strings } => Self::Strings { dims, strings },
            model::StoredValue::Sequence(values) => {
                let values = values.into_iter().map(Self::from_onnx);
                Self::Sequence(values.collect::<Result<_, _>>()?)
            }
            model::StoredValue::Optional(value) => {
                let value = value.map(|value| Self::from_onnx(*value));
                Self::Optional(value.transpose()?.map(Box::new))
            }
        })
    }

    /// The tensor of numbers.
    ///
    /// # Errors
    /// When it is something else.
    pub fn into_tensor(self) -> anyhow::Result<StoredTensor> {
        match self {
            Self::Tensor(tensor) => Ok(tensor),
            other => bail!("it holds {other}, and no tensor of numbers"),
        }
    }

    /// The value, of this type, as the runtime takes it.
    ///
    /// # Errors
    /// When it is of another type.
    pub fn to_value(&self, of: &ValueType) -> anyhow::Result<Value> {
        Ok(match (self, of) {
            (Self::Tensor(tensor), ValueType::Tensor(info)) => {
                ensure!(
                    tensor.element.holds(info.data_type),
                    "a tensor in it is {tensor}, and {} is expected",
                    info.data_type
                );
                let shape = tensor.signed_dims().and_then(|dims| Shape::new(&dims).ok());
                let shape = shape.filter(|shape| info.shape.accepts(shape));
                let shape = shape.with_context(|| {
                    format!("a tensor in it is {tensor}, and {} is expected", info.shape)
                })?;
                let info = TensorInfo {
                    shape,
                    ..info.clone()
                };
                HostTensor::from_bytes(info, &tensor.bytes)?.into()
            }
            (Self::Strings { dims, strings }, ValueType::Strings(declared)) => {
                let shape = Shape::new(dims)
                    .ok()
                    .filter(|shape| declared.accepts(shape));
                let tensor = shape.and_then(|shape| StringTensor::new(shape, strings.clone()));
                let tensor = tensor.with_context(|| {
                    format!("strings in it are {dims:?}, and {declared} is expected")
                })?;
                tensor.into()
            }
            (Self::Sequence(values), ValueType::Sequence(of)) => {
                let values = values.iter().map(|value| value.to_value(of));
                values.collect::<Result<Vec<Value>, _>>()?.into()
            }
            (Self::Optional(value), ValueType::Optional(of)) => {
                let value = value.as_deref().map(|value| value.to_value(of));
                Value::Optional(value.transpose()?.map(Arc::new))
            }
            _ => bail!("it holds {self}, and {of} is expected"),
        })
    }
}

/// A value as a `.pb` file, which [`StoredValue::read_pb_file`] reads. Of quantized tensors the
/// integers are written.
///
/// # Errors
/// When ONNX has no name for its elements.
pub fn to_pb(value: &Value) -> anyhow::Result<Vec<u8>> {
    Ok(to_onnx(value)?.to_bytes())
}

fn to_onnx(value: &Value) -> anyhow::Result<model::StoredValue> {
    Ok(match value {
        Value::Tensor(tensor) => {
            let info = tensor.info();
            let stored = storage_type(info.data_type);
            let element_type = model::ElementType::of(stored)
                .with_context(|| format!("ONNX has no elements of type {}", info.data_type))?;
            let mut bytes = tensor.bytes().to_vec();
            if cfg!(target_endian = "big") {
                npy::swap_bytes(&mut bytes, stored.size().unwrap_or(1));
            }
            model::StoredValue::Tensor(model::Tensor {
                element_type,
                dims: info.shape.dims().to_vec(),
                data: Some(bytes.into()),
                strings: None,
            })
        }
        Value::Strings(strings) => model::StoredValue::Strings {
            dims: strings.shape().dims().to_vec(),
            strings: strings.strings().to_vec(),
        },
        Value::Sequence(values) => {
            let values = values.iter().map(to_onnx);
            model::StoredValue::Sequence(values.collect::<Result<_, _>>()?)
        }
        Value::Optional(value) => {
            let value = value.as_deref().map(to_onnx).transpose()?;
            model::StoredValue::Optional(value.map(Box::new))
        }
    })
}

/// What a value is, for people: types and shapes, as in `sequence of 2: (Float32[2]; Float32[3])`.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => tensor.info().to_string(),
        Value::Strings(strings) => {
            let shown = strings.strings().iter().take(MOST_SHOWN);
            let shown: Vec<String> = shown.map(|text| shown_string(text)).collect();
            let rest = more(strings.strings().len());
            format!("String{}: {}{rest}", strings.shape(), shown.join(", "))
        }
        Value::Sequence(values) if values.is_empty() => "empty sequence".to_owned(),
        Value::Sequence(values) => {
            let shown = values.iter().take(MOST_SHOWN).map(describe);
            let shown: Vec<String> = shown.collect();
            let rest = more(values.len());
            format!("sequence of {}: ({}{rest})", values.len(), shown.join("; "))
        }
        Value::Optional(None) => "optional without a value".to_owned(),
        Value::Optional(Some(value)) => format!("optional {}", describe(value)),
    }
}

/// What a value is, in a word.
pub fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Tensor(_) => "Tensor",
        Value::Strings(_) => "String",
        Value::Sequence(_) => "Sequence",
        Value::Optional(_) => "Optional",
    }
}

/// How many values of a sequence, or strings, are described.
const MOST_SHOWN: usize = 5;
/// How many characters of a string are shown.
const MOST_CHARACTERS: usize = 40;

fn more(count: usize) -> &'static str {
    match count > MOST_SHOWN {
        true => ", …",
        false => "",
    }
}

fn shown_string(text: &str) -> String {
    let mut short: String = text.chars().take(MOST_CHARACTERS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// What the parser says of a file, without the words that are about a model.
fn without_the_model(error: OnnxParserError, of: &ValueType) -> anyhow::Error {
    let (kind, message) = match of {
        ValueType::Tensor(_) | ValueType::Strings(_) => ("tensor", "TensorProto"),
        ValueType::Sequence(_) => ("sequence", "SequenceProto"),
        ValueType::Optional(_) => ("optional", "OptionalProto"),
    };
    match error {
        OnnxParserError::NotOnnx { problem, .. } => {
            anyhow::anyhow!("it is no {kind} of ONNX ({message}): {problem}")
        }
        OnnxParserError::Malformed { problem, .. } => {
            anyhow::anyhow!("the {kind} of ONNX in it is damaged: {problem}")
        }
        other => other.into(),
    }
}

/// What a file is read as where a tensor of numbers is expected.
pub fn any_tensor() -> ValueType {
    ValueType::Tensor(TensorInfo::new(DataType::Float32, Shape::SCALAR))
}

/// What a file is read as that is to be compared with a value.
pub fn kind_of(value: &Value) -> ValueType {
    match value {
        Value::Tensor(tensor) => ValueType::Tensor(tensor.info().clone()),
        Value::Strings(strings) => ValueType::Strings(strings.shape()),
        Value::Sequence(values) => {
            let of = values.first().map_or_else(any_tensor, kind_of);
            ValueType::Sequence(Box::new(of))
        }
        Value::Optional(value) => {
            let of = value.as_deref().map_or_else(any_tensor, kind_of);
            ValueType::Optional(Box::new(of))
        }
    }
}

/// The tensors of a value beside those that a file holds in their places, in order.
///
/// # Errors
/// When they differ in anything else: in what they are, in how many there are, or in a string.
pub fn tensor_pairs<'v>(
    value: &'v Value,
    stored: &'v StoredValue,
) -> Result<Vec<(&'v HostTensor, &'v StoredTensor)>, String> {
    match (value, stored) {
        (Value::Tensor(tensor), StoredValue::Tensor(stored)) => Ok(vec![(tensor, stored)]),
        (Value::Strings(found), StoredValue::Strings { dims, strings }) => {
            if found.shape().dims() != dims {
                return Err(format!(
                    "its shape is {}, recorded is {dims:?}",
                    found.shape()
                ));
            }
            let mut pairs = found.strings().iter().zip(strings).enumerate();
            match pairs.find(|(_, (found, recorded))| found != recorded) {
                None => Ok(Vec::new()),
                Some((at, (found, recorded))) => Err(format!(
                    "string {at} is {}, recorded is {}",
                    shown_string(found),
                    shown_string(recorded)
                )),
            }
        }
        (Value::Sequence(values), StoredValue::Sequence(stored)) => {
            if values.len() != stored.len() {
                return Err(format!(
                    "it is a sequence of {} values, recorded are {}",
                    values.len(),
                    stored.len()
                ));
            }
            let mut pairs = Vec::new();
            for (at, (value, stored)) in values.iter().zip(stored).enumerate() {
                let inner = tensor_pairs(value, stored);
                pairs.extend(inner.map_err(|reason| format!("value {at}: {reason}"))?);
            }
            Ok(pairs)
        }
        (Value::Optional(None), StoredValue::Optional(None)) => Ok(Vec::new()),
        (Value::Optional(Some(value)), StoredValue::Optional(Some(stored))) => {
            tensor_pairs(value, stored)
        }
        _ => Err(format!("it is {}, recorded is {stored}", describe(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pb(bytes: &[u8]) -> anyhow::Result<StoredTensor> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        StoredValue::read_pb_file(file.path(), &any_tensor())?.into_tensor()
    }

    #[test]
    fn tensors_of_onnx_are_read_from_raw_and_from_typed_fields() {
        // dims: [2], data_type: BOOL, raw_data: 0 and 7.
        let tensor = pb(b"\x08\x02\x10\x09\x4a\x02\x00\x07").unwrap();
        assert!(tensor.element.holds(DataType::Boolean));
        assert_eq!(
            (&tensor.dims[..], &tensor.bytes[..]),
            (&[2][..], &[0, 1][..])
        );
        // dims: [2], data_type: INT32, int32_data: -1 and 2, packed.
        let minus_one = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        let field = [&b"\x08\x02\x10\x06\x2a\x0b"[..], minus_one, b"\x02"].concat();
        let tensor = pb(&field).unwrap();
        assert_eq!(tensor.to_string(), "INT32 [2]");
        assert_eq!(tensor.bytes, [-1i32, 2].map(i32::to_ne_bytes).concat());
    }

    #[test]
    fn text_is_a_value_but_no_tensor_of_numbers() {
        // dims: [1], data_type: STRING, string_data: "a".
        let error = pb(b"\x08\x01\x10\x08\x32\x01a").unwrap_err();
        assert!(error.to_string().contains("STRING [1]"), "{error}");
    }

    #[test]
    fn what_is_no_tensor_says_so() {
        let error = pb(b"hello").unwrap_err().to_string();
        assert!(error.contains("TensorProto"), "{error}");
        // dims: [2], data_type: FLOAT, raw_data of 4 bytes.
        let error = pb(b"\x08\x02\x10\x01\x4a\x04\0\0\0\0").unwrap_err();
        assert!(error.to_string().contains("4 bytes"), "{error}");
    }

    #[test]
    fn what_is_written_is_read_again_and_described() {
        let floats = ValueType::Tensor(TensorInfo::new(DataType::Float32, [-1]));
        let of = ValueType::Sequence(Box::new(ValueType::Optional(Box::new(floats))));
        let tensor = HostTensor::from_f32([2], &[1.0, 2.0]).unwrap();
        let present = Value::Optional(Some(Arc::new(tensor.into())));
        let value = Value::from(vec![present, Value::Optional(None)]);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), to_pb(&value).unwrap()).unwrap();
        let read = StoredValue::read_pb_file(file.path(), &of).unwrap();
        let read = read.to_value(&of).unwrap();
        let expected = "sequence of 2: (optional Float32[2]; optional without a value)";
        assert_eq!(describe(&read), expected);
        let strings = StringTensor::new([2], vec!["a".to_owned(), "b".repeat(50)]).unwrap();
        let expected = format!("String[2]: \"a\", \"{}…\"", "b".repeat(40));
        assert_eq!(describe(&strings.into()), expected);
    }
}
