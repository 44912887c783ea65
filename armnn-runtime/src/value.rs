//! Values that go into a network and come out of it: tensors, strings, sequences, optionals.

use std::{collections::HashMap, sync::Arc};

use armnn_backend_api::{Shape, TensorInfo};
use armnn_network::ValueType;

use crate::tensor::HostTensor;

/// A value that goes into a network or comes out of it. A clone shares the memory.
#[derive(Clone, Debug)]
pub enum Value {
    /// A tensor of numbers.
    Tensor(Arc<HostTensor>),
    /// A tensor of strings.
    Strings(Arc<StringTensor>),
    /// Values in a row.
    Sequence(Arc<Vec<Value>>),
    /// A value that may be absent.
    Optional(Option<Arc<Value>>),
}

/// A tensor of strings, dense and row-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringTensor {
    shape: Shape,
    strings: Vec<String>,
}

impl StringTensor {
    /// A tensor of strings; `None` if there are not as many as the shape has elements.
    pub fn new(shape: impl Into<Shape>, strings: Vec<String>) -> Option<Self> {
        let shape = shape.into();
        (shape.num_elements() == Some(strings.len() as u64)).then_some(Self { shape, strings })
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The strings.
    pub fn strings(&self) -> &[String] {
        &self.strings
    }

    /// Bytes that the strings take, empty ones too.
    pub(crate) fn byte_len(&self) -> u64 {
        let lens = self.strings.iter();
        lens.map(|s| (s.len() + size_of::<String>()) as u64).sum()
    }
}

impl Value {
    /// What a value in a sequence takes besides its elements.
    pub(crate) const BYTES_IN_SEQUENCE: u64 = 128;

    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&HostTensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The values, if it is a sequence.
    pub fn as_sequence(&self) -> Option<&[Value]> {
        match self {
            Self::Sequence(values) => Some(values),
            _ => None,
        }
    }

    /// Whether it is one of a type: of what a sequence holds, only that it is a sequence.
    pub(crate) fn is_of(&self, value_type: &ValueType) -> bool {
        match (self, value_type) {
            (_, ValueType::Tensor(expected)) => self.is_of_info(expected),
            (Self::Strings(strings), ValueType::Strings(expected)) => {
                expected.accepts(&strings.shape)
            }
            (Self::Sequence(_), ValueType::Sequence(_))
            | (Self::Optional(_), ValueType::Optional(_)) => true,
            _ => false,
        }
    }

    /// Whether it is a tensor of a type, a shape that may have unknown dimensions, and a quantization.
    pub(crate) fn is_of_info(&self, expected: &TensorInfo) -> bool {
        self.as_tensor().is_some_and(|tensor| {
            let info = tensor.info();
            info.data_type == expected.data_type
                && expected.shape.accepts(&info.shape)
                && (!info.data_type.is_quantized() || info.quantization == expected.quantization)
        })
    }

    /// Bytes that it takes, but for those that something else has, too.
    pub(crate) fn own_byte_len(&self) -> u64 {
        fn own<T>(shared: &Arc<T>, byte_len: impl Fn(&T) -> u64) -> u64 {
            match Arc::strong_count(shared) {
                1 => byte_len(shared),
                _ => 0,
            }
        }
        match self {
            Self::Tensor(tensor) => own(tensor, |tensor| tensor.bytes().len() as u64),
            Self::Strings(strings) => own(strings, StringTensor::byte_len),
            Self::Sequence(values) => own(values, |values| own_byte_len_of_all(values)),
            Self::Optional(None) => 0,
            Self::Optional(Some(value)) => own(value, Self::own_byte_len),
        }
    }

    /// What it is, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Tensor(tensor) => tensor.info().to_string(),
            Self::Strings(strings) => format!("String {}", strings.shape),
            Self::Sequence(values) => format!("a sequence of {} values", values.len()),
            Self::Optional(None) => "an optional without a value".to_owned(),
            Self::Optional(Some(value)) => format!("an optional {}", value.describe()),
        }
    }
}

/// Bytes that values in a sequence take, but for those that something else has, too. What is there
/// many times takes memory once.
fn own_byte_len_of_all(values: &[Value]) -> u64 {
    let mut times_of = HashMap::new();
    let mut is_last = |place: *const u8, holders: usize| {
        let times = times_of.entry(place).or_insert(0);
        *times += 1;
        *times == holders
    };
    let lens = values.iter().map(|value| match value {
        Value::Tensor(tensor) if is_last(Arc::as_ptr(tensor).cast(), Arc::strong_count(tensor)) => {
            tensor.bytes().len() as u64
        }
        Value::Strings(all) if is_last(Arc::as_ptr(all).cast(), Arc::strong_count(all)) => {
            all.byte_len()
        }
        Value::Tensor(_) | Value::Strings(_) => 0,
        nested => nested.own_byte_len(),
    });
    lens.fold(0, |sum: u64, len| {
        sum.saturating_add(len)
            .saturating_add(Value::BYTES_IN_SEQUENCE)
    })
}

impl From<HostTensor> for Value {
    fn from(tensor: HostTensor) -> Self {
        Self::Tensor(Arc::new(tensor))
    }
}

impl From<StringTensor> for Value {
    fn from(strings: StringTensor) -> Self {
        Self::Strings(Arc::new(strings))
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Self::Sequence(Arc::new(values))
    }
}
