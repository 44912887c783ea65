//! The types of tensors' elements.

use std::fmt;

use armnn_backend_api::DataType;

/// The type of a tensor's elements by its number in the format, which may be newer than this crate.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementType(pub i32);

/// Number, name and bits of an element; 0 bits where elements have no fixed size.
const KNOWN: [(i32, &str, u32); 28] = [
    (1, "FLOAT", 32),
    (2, "UINT8", 8),
    (3, "INT8", 8),
    (4, "UINT16", 16),
    (5, "INT16", 16),
    (6, "INT32", 32),
    (7, "INT64", 64),
    (8, "STRING", 0),
    (9, "BOOL", 8),
    (10, "FLOAT16", 16),
    (11, "DOUBLE", 64),
    (12, "UINT32", 32),
    (13, "UINT64", 64),
    (14, "COMPLEX64", 64),
    (15, "COMPLEX128", 128),
    (16, "BFLOAT16", 16),
    (17, "FLOAT8E4M3FN", 8),
    (18, "FLOAT8E4M3FNUZ", 8),
    (19, "FLOAT8E5M2", 8),
    (20, "FLOAT8E5M2FNUZ", 8),
    (21, "UINT4", 4),
    (22, "INT4", 4),
    (23, "FLOAT4E2M1", 4),
    (24, "FLOAT8E8M0", 8),
    (25, "UINT2", 2),
    (26, "INT2", 2),
    (27, "FLOAT6E2M3", 0),
    (28, "FLOAT6E3M2", 0),
];

#[expect(missing_docs, reason = "the names are the format's")]
impl ElementType {
    pub const FLOAT: Self = Self(1);
    pub const UINT8: Self = Self(2);
    pub const INT8: Self = Self(3);
    pub const UINT16: Self = Self(4);
    pub const INT16: Self = Self(5);
    pub const INT32: Self = Self(6);
    pub const INT64: Self = Self(7);
    pub const STRING: Self = Self(8);
    pub const BOOL: Self = Self(9);
    pub const FLOAT16: Self = Self(10);
    pub const DOUBLE: Self = Self(11);
    pub const UINT32: Self = Self(12);
    pub const UINT64: Self = Self(13);
    pub const COMPLEX64: Self = Self(14);
    pub const COMPLEX128: Self = Self(15);
    pub const BFLOAT16: Self = Self(16);
    pub const FLOAT8E4M3FN: Self = Self(17);
    pub const FLOAT8E4M3FNUZ: Self = Self(18);
    pub const FLOAT8E5M2: Self = Self(19);
    pub const FLOAT8E5M2FNUZ: Self = Self(20);
    pub const UINT4: Self = Self(21);
    pub const INT4: Self = Self(22);
    pub const FLOAT4E2M1: Self = Self(23);
    pub const FLOAT8E8M0: Self = Self(24);
    pub const UINT2: Self = Self(25);
    pub const INT2: Self = Self(26);
}

impl ElementType {
    /// Name in the format, for instance `FLOAT16`; none for a number that this crate does not know.
    pub fn name(self) -> Option<&'static str> {
        self.known().map(|(_, name, _)| *name)
    }

    /// Bits of an element; none for a number that this crate does not know, and for elements
    /// without a fixed size.
    pub fn bits(self) -> Option<u32> {
        self.known()
            .map(|(_, _, bits)| *bits)
            .filter(|bits| *bits > 0)
    }

    /// The data type that such elements are in a network; none where there is none.
    pub fn data_type(self) -> Option<DataType> {
        Some(match self {
            Self::FLOAT => DataType::Float32,
            Self::FLOAT16 => DataType::Float16,
            Self::BFLOAT16 => DataType::BFloat16,
            Self::DOUBLE => DataType::Float64,
            Self::INT8 => DataType::Int8,
            Self::INT16 => DataType::Int16,
            Self::INT32 => DataType::Signed32,
            Self::INT64 => DataType::Signed64,
            Self::UINT8 => DataType::UInt8,
            Self::UINT16 => DataType::UInt16,
            Self::UINT32 => DataType::UInt32,
            Self::UINT64 => DataType::UInt64,
            Self::BOOL => DataType::Boolean,
            Self::INT4 => DataType::Int4,
            Self::UINT4 => DataType::UInt4,
            Self::INT2 => DataType::Int2,
            Self::UINT2 => DataType::UInt2,
            Self::FLOAT8E4M3FN => DataType::Float8E4M3FN,
            Self::FLOAT8E4M3FNUZ => DataType::Float8E4M3FNUZ,
            Self::FLOAT8E5M2 => DataType::Float8E5M2,
            Self::FLOAT8E5M2FNUZ => DataType::Float8E5M2FNUZ,
            Self::FLOAT8E8M0 => DataType::Float8E8M0,
            Self::FLOAT4E2M1 => DataType::Float4E2M1,
            _ => return None,
        })
    }

    /// The elements of a data type; none where the format has none.
    pub fn of(data_type: DataType) -> Option<Self> {
        let mut numbers = KNOWN.iter().map(|(number, ..)| Self(*number));
        numbers.find(|element_type| element_type.data_type() == Some(data_type))
    }

    fn known(self) -> Option<&'static (i32, &'static str, u32)> {
        KNOWN.iter().find(|(number, _, _)| *number == self.0)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "element type {}", self.0),
        }
    }
}

impl fmt::Debug for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
