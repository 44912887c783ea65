//! What the file says of the types of values.

use super::ElementType;
use crate::proto::{DimensionValue, ElementTypeProto, TypeProto, TypeValue, ValueInfoProto};

/// How deep sequences and optionals may hold each other.
const DEEPEST: usize = 8;

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueType {
    /// A tensor.
    Tensor {
        /// Type of the elements.
        element_type: ElementType,
        /// None if not even the number of dimensions is known.
        dims: Option<Vec<Dimension>>,
    },
    /// Values of one type in a row.
    Sequence(Box<ValueType>),
    /// A value that may be absent.
    Optional(Box<ValueType>),
    /// Something else, by its name: a map or a sparse tensor.
    Other(&'static str),
}

/// A dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dimension {
    /// A size; not negative.
    Known(i64),
    /// A size that is not known, but the same wherever it has this name.
    Named(String),
    /// A size that is not known.
    Unknown,
}

/// What is said of a value's type; none where nothing is.
pub(super) fn value_type(info: &ValueInfoProto) -> Option<ValueType> {
    decode(info.r#type.as_ref()?, 0)
}

fn decode(proto: &TypeProto, depth: usize) -> Option<ValueType> {
    if depth > DEEPEST {
        return Some(ValueType::Other("of types deep in each other"));
    }
    let element = |of: &ElementTypeProto| {
        let of = of.elem_type.as_deref();
        of.and_then(|of| decode(of, depth + 1)).map(Box::new)
    };
    let tensor = match proto.value.as_ref()? {
        TypeValue::Tensor(tensor) => tensor,
        TypeValue::Sequence(of) => return element(of).map(ValueType::Sequence),
        TypeValue::Optional(of) => return element(of).map(ValueType::Optional),
        TypeValue::Map(_) => return Some(ValueType::Other("a map")),
        TypeValue::SparseTensor(_) => return Some(ValueType::Other("a sparse tensor")),
    };
    let dimension = |value: &Option<DimensionValue>| match value {
        Some(DimensionValue::Value(size)) if *size >= 0 => Dimension::Known(*size),
        // Some writers mean an unknown size by a negative one.
        Some(DimensionValue::Value(_)) | None => Dimension::Unknown,
        Some(DimensionValue::Param(name)) => match name.as_str() {
            "" => Dimension::Unknown,
            name => Dimension::Named(name.to_owned()),
        },
    };
    let dims = tensor.shape.as_ref().map(|shape| {
        let dims = shape.dim.iter();
        dims.map(|dim| dimension(&dim.value)).collect()
    });
    Some(ValueType::Tensor {
        element_type: ElementType(tensor.elem_type),
        dims,
    })
}
