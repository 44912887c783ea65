//! Sets of data types that layers take.

use armnn_backend_api::DataType;

/// A set of data types.
#[derive(Clone, Copy)]
pub(super) struct Class {
    pub(super) name: &'static str,
    contains: fn(DataType) -> bool,
}

impl Class {
    pub(super) const REAL: Self = Self {
        name: "a floating-point or quantized type",
        contains: |t| is_float(t) || t.is_quantized(),
    };
    pub(super) const FLOAT: Self = Self {
        name: "a floating-point type",
        contains: is_float,
    };
    pub(super) const INTEGER: Self = Self {
        name: "an integer type",
        contains: is_integer,
    };
    pub(super) const QUANTIZED_8: Self = Self {
        name: "a quantized type of 8 bits",
        contains: |t| t.is_quantized() && t.size() == Some(1),
    };
    pub(super) const NUMBER: Self = Self {
        name: "a floating-point, integer or quantized type",
        contains: |t| is_float(t) || is_integer(t) || t.is_quantized(),
    };
    pub(super) const COMPARABLE: Self = Self {
        name: "a floating-point, integer or quantized type, or Boolean",
        contains: |t| (Self::NUMBER.contains)(t) || t == DataType::Boolean,
    };
    pub(super) const BOOLEAN: Self = Self {
        name: "Boolean",
        contains: |t| t == DataType::Boolean,
    };
    pub(super) const CAST: Self = Self {
        name: "a type without quantization",
        contains: |t| t.bits().is_some() && !t.is_quantized(),
    };

    pub(super) fn contains(self, data_type: DataType) -> bool {
        (self.contains)(data_type)
    }
}

/// Floating-point types that arithmetic is done in; the smaller ones are storage types.
fn is_float(data_type: DataType) -> bool {
    matches!(
        data_type,
        DataType::Float16 | DataType::BFloat16 | DataType::Float32 | DataType::Float64
    )
}

/// Integers that arithmetic is done in; the smaller ones are storage types.
fn is_integer(data_type: DataType) -> bool {
    matches!(
        data_type,
        DataType::Int8
            | DataType::Int16
            | DataType::Signed32
            | DataType::Signed64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
    )
}
