//! The messages of an ONNX file, written out from the format's public field numbers.
//!
//! Only what inference needs is here; other fields (training, device placement, documentation) are
//! skipped when a file is decoded. Numbers of enums stay numbers, so that those of a later version
//! can be reported. Bytes are [`Bytes`], which share the file they are decoded from.

mod numbers;
mod tensor;

use bytes::Bytes;
use prost::{Message, Oneof};

pub use numbers::{Number, Numbers};
pub use tensor::{Segment, TensorProto};

/// The whole file.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the format.
    #[prost(int64, optional, tag = "1")]
    pub ir_version: Option<i64>,
    /// The program that wrote the file.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// Its version.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// The computation.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Which version of each domain's operators is meant.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Free texts.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// Functions that nodes may call.
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<FunctionProto>,
}

/// A version of a domain's operators.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct OperatorSetIdProto {
    /// Empty or `ai.onnx` for ONNX's own.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// The version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A key and a value.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct StringStringEntryProto {
    /// The key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// The value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Nodes between inputs and outputs.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// The nodes, sorted so that each reads what stands before it.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Its name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Named constants.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// The inputs; before version 4 of the format, initialisers too.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// The outputs.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// Types of values between.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
    /// Scales and zero points of values, for quantizers.
    #[prost(message, repeated, tag = "14")]
    pub quantization_annotation: Vec<TensorAnnotation>,
    /// Named sparse constants.
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<SparseTensorProto>,
}

/// Notes about a value.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct TensorAnnotation {
    /// The value.
    #[prost(string, tag = "1")]
    pub tensor_name: String,
    /// Which tensors hold its scale and zero point.
    #[prost(message, repeated, tag = "2")]
    pub quant_parameter_tensor_names: Vec<StringStringEntryProto>,
}

/// One use of an operator.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Names of the inputs; empty for one left out.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of the outputs; empty for one that nobody needs.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Its name; may be empty.
    #[prost(string, tag = "3")]
    pub name: String,
    /// The operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// The attributes.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// The operator's domain.
    #[prost(string, tag = "7")]
    pub domain: String,
    /// Which of several functions of one name.
    #[prost(string, tag = "8")]
    pub overload: String,
}

/// A named parameter of a node.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// A number.
    #[prost(float, tag = "2")]
    pub f: f32,
    /// An integer.
    #[prost(int64, tag = "3")]
    pub i: i64,
    /// A text.
    #[prost(bytes = "bytes", tag = "4")]
    pub s: Bytes,
    /// A tensor.
    #[prost(message, optional, boxed, tag = "5")]
    pub t: Option<Box<TensorProto>>,
    /// A graph.
    #[prost(message, optional, boxed, tag = "6")]
    pub g: Option<Box<GraphProto>>,
    /// Numbers.
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    /// Integers.
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    /// Texts.
    #[prost(bytes = "bytes", repeated, tag = "9")]
    pub strings: Vec<Bytes>,
    /// Tensors.
    #[prost(message, repeated, tag = "10")]
    pub tensors: Vec<TensorProto>,
    /// Graphs.
    #[prost(message, repeated, tag = "11")]
    pub graphs: Vec<GraphProto>,
    /// A type.
    #[prost(message, optional, boxed, tag = "14")]
    pub tp: Option<Box<TypeProto>>,
    /// Types.
    #[prost(message, repeated, tag = "15")]
    pub type_protos: Vec<TypeProto>,
    /// Which field holds the value: see [`attribute_type`].
    #[prost(int32, tag = "20")]
    pub r#type: i32,
    /// Inside a function, the function's attribute that holds the value.
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
    /// A sparse tensor.
    #[prost(message, optional, boxed, tag = "22")]
    pub sparse_tensor: Option<Box<SparseTensorProto>>,
    /// Sparse tensors.
    #[prost(message, repeated, tag = "23")]
    pub sparse_tensors: Vec<SparseTensorProto>,
}

/// Numbers of `AttributeProto::type`.
pub mod attribute_type {
    /// Not said: files before version 2 of the format.
    pub const UNDEFINED: i32 = 0;
    /// In `f`.
    pub const FLOAT: i32 = 1;
    /// In `i`.
    pub const INT: i32 = 2;
    /// In `s`.
    pub const STRING: i32 = 3;
    /// In `t`.
    pub const TENSOR: i32 = 4;
    /// In `g`.
    pub const GRAPH: i32 = 5;
    /// In `floats`.
    pub const FLOATS: i32 = 6;
    /// In `ints`.
    pub const INTS: i32 = 7;
    /// In `strings`.
    pub const STRINGS: i32 = 8;
    /// In `tensors`.
    pub const TENSORS: i32 = 9;
    /// In `graphs`.
    pub const GRAPHS: i32 = 10;
    /// In `sparse_tensor`.
    pub const SPARSE_TENSOR: i32 = 11;
    /// In `sparse_tensors`.
    pub const SPARSE_TENSORS: i32 = 12;
    /// In `tp`.
    pub const TYPE_PROTO: i32 = 13;
    /// In `type_protos`.
    pub const TYPE_PROTOS: i32 = 14;
}

/// Values in a row, in a file of its own.
#[derive(Clone, PartialEq, Message)]
pub struct SequenceProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Which of the following lists it is: 1 for tensors, 3 for sequences, 5 for optionals.
    #[prost(int32, tag = "2")]
    pub elem_type: i32,
    /// Tensors.
    #[prost(message, repeated, tag = "3")]
    pub tensor_values: Vec<TensorProto>,
    /// Sequences.
    #[prost(message, repeated, tag = "5")]
    pub sequence_values: Vec<SequenceProto>,
    /// Optionals.
    #[prost(message, repeated, tag = "7")]
    pub optional_values: Vec<OptionalProto>,
}

/// A value that may be absent, in a file of its own.
#[derive(Clone, PartialEq, Message)]
pub struct OptionalProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Which of the following it is: 1 for a tensor, 3 for a sequence, 5 for an optional.
    #[prost(int32, tag = "2")]
    pub elem_type: i32,
    /// The tensor.
    #[prost(message, optional, boxed, tag = "3")]
    pub tensor_value: Option<Box<TensorProto>>,
    /// The sequence.
    #[prost(message, optional, boxed, tag = "5")]
    pub sequence_value: Option<Box<SequenceProto>>,
    /// The optional.
    #[prost(message, optional, boxed, tag = "7")]
    pub optional_value: Option<Box<OptionalProto>>,
}

/// A sparse constant.
#[derive(Clone, PartialEq, Message)]
pub struct SparseTensorProto {
    /// The elements that are not 0; its name is the constant's.
    #[prost(message, optional, tag = "1")]
    pub values: Option<TensorProto>,
    /// Where they are.
    #[prost(message, optional, tag = "2")]
    pub indices: Option<TensorProto>,
    /// Dimensions of the whole.
    #[prost(int64, repeated, tag = "3")]
    pub dims: Vec<i64>,
}

/// Name and type of a value.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// The name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// A type.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// Which type.
    #[prost(oneof = "TypeValue", tags = "1, 4, 5, 8, 9")]
    pub value: Option<TypeValue>,
}

/// The kinds of types.
#[derive(Clone, PartialEq, Oneof)]
pub enum TypeValue {
    /// A tensor.
    #[prost(message, tag = "1")]
    Tensor(TensorTypeProto),
    /// A sequence.
    #[prost(message, tag = "4")]
    Sequence(ElementTypeProto),
    /// A map; of what is not looked at.
    #[prost(message, tag = "5")]
    Map(OpaqueType),
    /// A sparse tensor.
    #[prost(message, tag = "8")]
    SparseTensor(TensorTypeProto),
    /// A value that may be absent.
    #[prost(message, tag = "9")]
    Optional(ElementTypeProto),
}

/// What a sequence or an optional holds.
#[derive(Clone, PartialEq, Message)]
pub struct ElementTypeProto {
    /// The type of each value in it.
    #[prost(message, optional, boxed, tag = "1")]
    pub elem_type: Option<Box<TypeProto>>,
}

/// A type that is not looked into.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct OpaqueType {}

/// Type and shape of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorTypeProto {
    /// The type of the elements, by number.
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    /// The shape; absent if not even the number of dimensions is known.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// A shape.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// The dimensions, outermost first.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// A dimension.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Dimension {
    /// Its size, or a name for it.
    #[prost(oneof = "DimensionValue", tags = "1, 2")]
    pub value: Option<DimensionValue>,
}

/// A size, or a name for one.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum DimensionValue {
    /// A size.
    #[prost(int64, tag = "1")]
    Value(i64),
    /// A name for a size that is not known.
    #[prost(string, tag = "2")]
    Param(String),
}

/// A function that nodes may call.
#[derive(Clone, PartialEq, Message)]
pub struct FunctionProto {
    /// Its name, which is the operator of nodes that call it.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Names of its inputs.
    #[prost(string, repeated, tag = "4")]
    pub input: Vec<String>,
    /// Names of its outputs.
    #[prost(string, repeated, tag = "5")]
    pub output: Vec<String>,
    /// Names of attributes without defaults.
    #[prost(string, repeated, tag = "6")]
    pub attribute: Vec<String>,
    /// Its nodes, sorted.
    #[prost(message, repeated, tag = "7")]
    pub node: Vec<NodeProto>,
    /// Which version of each domain's operators its nodes mean.
    #[prost(message, repeated, tag = "9")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Its domain.
    #[prost(string, tag = "10")]
    pub domain: String,
    /// Attributes with defaults.
    #[prost(message, repeated, tag = "11")]
    pub attribute_proto: Vec<AttributeProto>,
    /// Types of values inside.
    #[prost(message, repeated, tag = "12")]
    pub value_info: Vec<ValueInfoProto>,
    /// Which of several functions of one name.
    #[prost(string, tag = "13")]
    pub overload: String,
}
