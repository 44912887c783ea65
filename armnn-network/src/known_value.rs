//! Values that are known before anything is executed: of constants, of shapes, and of what is
//! computed from those.

use armnn_backend_api::{DataType, Shape, TensorInfo};

/// A small tensor whose elements are known, or some of them.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownValue {
    /// The type of the elements.
    pub data_type: DataType,
    /// The shape; its dimensions are known.
    pub shape: Shape,
    /// The elements in row-major order; `None` where one is not known.
    pub elements: KnownElements,
}

/// The elements of a [`KnownValue`].
#[derive(Clone, Debug, PartialEq)]
pub enum KnownElements {
    /// Of integers and Booleans (0 or 1).
    Integers(Vec<Option<i64>>),
    /// Of Float32 and Float64.
    Reals(Vec<Option<f64>>),
}

impl KnownElements {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Reals(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl KnownValue {
    /// The most elements that a value has: what determines shapes is small.
    pub const MOST_ELEMENTS: usize = 4096;

    /// Whether values of the type can be held.
    pub fn holds(data_type: DataType) -> bool {
        Self::is_real(data_type)
            || matches!(
                data_type,
                DataType::Boolean
                    | DataType::Int8
                    | DataType::Int16
                    | DataType::Signed32
                    | DataType::Signed64
                    | DataType::UInt8
                    | DataType::UInt16
                    | DataType::UInt32
                    | DataType::UInt64
            )
    }

    /// Whether values of the type are held as real numbers.
    pub(crate) fn is_real(data_type: DataType) -> bool {
        matches!(data_type, DataType::Float32 | DataType::Float64)
    }

    /// The value of a tensor of elements, row-major and in the byte order of the machine (which is
    /// that of constants); `None` if it is too large, or of a type that determines no shapes.
    pub fn from_bytes(info: &TensorInfo, bytes: &[u8]) -> Option<Self> {
        let count = usize::try_from(info.shape.num_elements()?).ok()?;
        if count > Self::MOST_ELEMENTS || info.byte_len() != Some(bytes.len()) {
            return None;
        }
        macro_rules! decode {
            ($T:ty, $variant:ident, $to:ty) => {{
                let chunks = bytes.chunks_exact(size_of::<$T>());
                KnownElements::$variant(
                    chunks
                        .map(|chunk| {
                            let bytes = chunk.try_into().ok()?;
                            <$to>::try_from(<$T>::from_le_bytes(bytes)).ok()
                        })
                        .collect(),
                )
            }};
        }
        let elements = match info.data_type {
            DataType::Boolean => {
                let values = bytes.iter().map(|&byte| Some(i64::from(byte != 0)));
                KnownElements::Integers(values.collect())
            }
            DataType::UInt8 => decode!(u8, Integers, i64),
            DataType::Int8 => decode!(i8, Integers, i64),
            DataType::Int16 => decode!(i16, Integers, i64),
            DataType::UInt16 => decode!(u16, Integers, i64),
            DataType::Signed32 => decode!(i32, Integers, i64),
            DataType::UInt32 => decode!(u32, Integers, i64),
            DataType::Signed64 => decode!(i64, Integers, i64),
            DataType::UInt64 => decode!(u64, Integers, i64),
            DataType::Float32 => decode!(f32, Reals, f64),
            DataType::Float64 => decode!(f64, Reals, f64),
            _ => return None,
        };
        Some(Self {
            data_type: info.data_type,
            shape: info.shape,
            elements,
        })
    }

    /// A list of integers.
    pub fn integers(data_type: DataType, values: Vec<Option<i64>>) -> Option<Self> {
        let len = i64::try_from(values.len()).ok()?;
        (values.len() <= Self::MOST_ELEMENTS).then(|| Self {
            data_type,
            shape: Shape::from([len]),
            elements: KnownElements::Integers(values),
        })
    }

    /// The integers, each perhaps unknown; `None` for reals.
    pub fn as_integers(&self) -> Option<&[Option<i64>]> {
        match &self.elements {
            KnownElements::Integers(values) => Some(values),
            KnownElements::Reals(_) => None,
        }
    }

    /// The reals, each perhaps unknown; `None` for integers.
    pub fn as_reals(&self) -> Option<&[Option<f64>]> {
        match &self.elements {
            KnownElements::Reals(values) => Some(values),
            KnownElements::Integers(_) => None,
        }
    }

    /// Whether every element is known.
    pub fn is_complete(&self) -> bool {
        match &self.elements {
            KnownElements::Integers(values) => values.iter().all(Option::is_some),
            KnownElements::Reals(values) => values.iter().all(Option::is_some),
        }
    }

    /// The elements as a tensor's bytes; `None` unless every element is known and one of the type.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        macro_rules! encode {
            ($values:expr, $T:ty) => {
                for value in $values {
                    bytes.extend(<$T>::try_from((*value)?).ok()?.to_le_bytes());
                }
            };
        }
        match (&self.elements, self.data_type) {
            (KnownElements::Integers(v), DataType::Boolean | DataType::UInt8) => encode!(v, u8),
            (KnownElements::Integers(v), DataType::Int8) => encode!(v, i8),
            (KnownElements::Integers(v), DataType::Int16) => encode!(v, i16),
            (KnownElements::Integers(v), DataType::UInt16) => encode!(v, u16),
            (KnownElements::Integers(v), DataType::Signed32) => encode!(v, i32),
            (KnownElements::Integers(v), DataType::UInt32) => encode!(v, u32),
            (KnownElements::Integers(v), DataType::Signed64) => encode!(v, i64),
            (KnownElements::Integers(v), DataType::UInt64) => encode!(v, u64),
            (KnownElements::Reals(v), DataType::Float32) => {
                for value in v {
                    bytes.extend(((*value)? as f32).to_le_bytes());
                }
            }
            (KnownElements::Reals(v), DataType::Float64) => encode!(v, f64),
            _ => return None,
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_to_bytes_and_back() {
        for (data_type, bytes) in [
            (
                DataType::Signed64,
                &[255u8, 255, 255, 255, 255, 255, 255, 255][..],
            ),
            (DataType::Boolean, &[1]),
            (DataType::Int16, &[0, 128]),
            (DataType::Float32, &[0, 0, 192, 63]),
        ] {
            let info = TensorInfo::new(data_type, [1]);
            let value = KnownValue::from_bytes(&info, bytes).unwrap();
            assert_eq!(value.to_bytes().as_deref(), Some(bytes), "{data_type}");
        }
        let minus_one = TensorInfo::new(DataType::Signed64, [1]);
        let value = KnownValue::from_bytes(&minus_one, &[255; 8]).unwrap();
        assert_eq!(value.as_integers(), Some(&[Some(-1)][..]));
    }

    #[test]
    fn what_is_too_large_or_partly_unknown_has_no_bytes() {
        let info = TensorInfo::new(DataType::UInt8, [5000]);
        assert_eq!(KnownValue::from_bytes(&info, &[0; 5000]), None);
        let partly = KnownValue::integers(DataType::Signed64, vec![Some(2), None]).unwrap();
        assert!(!partly.is_complete());
        assert_eq!(partly.to_bytes(), None);
    }
}
