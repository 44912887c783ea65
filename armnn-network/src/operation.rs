//! What a layer of a network does: something for a backend, or something that the runtime does
//! itself.

use std::{collections::HashMap, fmt, sync::Arc};

use armnn_backend_api::{DataType, LayerDescriptor, LayerType, Shape, TensorInfo};
use bytes::Bytes;

use crate::{Network, NgramCounter, ParameterRule, Pattern, RandomOperation};

/// What a layer does.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A layer that a backend executes.
    Layer(LayerDescriptor),
    /// A layer that a backend executes, and whose descriptor follows from tensors.
    Deferred(Deferred),
    /// Part of the shape of its input, from dimension `start` on and before `end`, as a tensor of
    /// one dimension. Shape inference evaluates it.
    Shape {
        /// The first dimension.
        start: usize,
        /// The dimension behind the last one.
        end: usize,
        /// Signed32 or Signed64.
        data_type: DataType,
    },
    /// Something that the runtime does itself.
    Runtime(RuntimeOperation),
}

impl Operation {
    /// The type of a layer that no backend executes.
    pub const RUNTIME_LAYER_TYPE: LayerType = LayerType(u32::MAX);

    /// The type of the layer; [`RUNTIME_LAYER_TYPE`](Self::RUNTIME_LAYER_TYPE) if no backend
    /// executes it.
    pub fn layer_type(&self) -> LayerType {
        match self {
            Self::Layer(descriptor) => descriptor.layer_type(),
            Self::Deferred(deferred) => deferred.rule.layer_type(),
            Self::Shape { .. } | Self::Runtime(_) => Self::RUNTIME_LAYER_TYPE,
        }
    }

    /// The name of the type, such as `Convolution2d` or `Loop`.
    pub fn type_name(&self) -> String {
        match self {
            Self::Shape { .. } => "Shape".to_owned(),
            Self::Runtime(operation) => operation.name().to_owned(),
            _ => self.layer_type().to_string(),
        }
    }
}

impl<D: Into<LayerDescriptor>> From<D> for Operation {
    fn from(descriptor: D) -> Self {
        Self::Layer(descriptor.into())
    }
}

/// A layer whose descriptor follows from the values of tensors.
///
/// Its inputs are the layer's, and behind them the parameters. Once the values of the parameters
/// are known, when a plan is made, the rule gives the descriptor, and the backend sees the layer
/// without them.
#[derive(Clone, Debug, PartialEq)]
pub struct Deferred {
    /// How the descriptor follows.
    pub rule: ParameterRule,
    /// How many of the inputs are the layer's; those behind are parameters.
    pub n_data: usize,
}

/// What a value is that is no tensor of elements, or may be none.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueType {
    /// A tensor of elements.
    Tensor(TensorInfo),
    /// A tensor of strings.
    Strings(Shape),
    /// Values of one type in a row; the type may be more general than that of each.
    Sequence(Box<ValueType>),
    /// A value that may be absent.
    Optional(Box<ValueType>),
}

impl ValueType {
    /// How deep sequences and optionals may be inside of each other.
    pub const MOST_NESTED: usize = 8;

    /// What stands for the type of a value of which nothing is known: of an empty sequence, of an
    /// optional without a value, of what a model does not describe.
    pub fn unknown() -> Self {
        Self::Tensor(TensorInfo::new(DataType::Float32, Shape::SCALAR))
    }

    /// How deep sequences and optionals are inside of each other: 0 for a tensor.
    pub fn depth(&self) -> usize {
        let mut depth = 0;
        let mut value = self;
        while let Self::Sequence(of) | Self::Optional(of) = value {
            depth += 1;
            value = of;
        }
        depth
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor(info) => info.fmt(f),
            Self::Strings(shape) => write!(f, "String {shape}"),
            Self::Sequence(of) => write!(f, "sequence of {of}"),
            Self::Optional(of) => write!(f, "optional {of}"),
        }
    }
}

/// Something that the runtime does itself: control flow, and what handles values that are no
/// tensors.
///
/// A body is a network of its own, whose inputs come from the layer alone: what it captures of the
/// network around it is among the layer's inputs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RuntimeOperation {
    /// Executes one of two bodies.
    ///
    /// Inputs: the condition (Boolean, one element), then the inputs of both bodies. Outputs: those
    /// of the body.
    If {
        /// Executed if the condition holds.
        then_body: Arc<Network>,
        /// Executed if it does not.
        else_body: Arc<Network>,
    },
    /// Executes a body again and again, as ONNX's Loop.
    Loop(LoopBody),
    /// Executes a body as long as a condition holds, as TensorFlow Lite's WHILE.
    ///
    /// Inputs and outputs: the values carried from one iteration to the next, then inputs that both
    /// networks have and that stay the same.
    While {
        /// From the values to a Boolean of one element.
        condition: Arc<Network>,
        /// From the values to the next ones.
        body: Arc<Network>,
        /// How many values are carried.
        n_carried: usize,
    },
    /// Executes a body once for each element along an axis, as ONNX's Scan.
    Scan(ScanBody),
    /// Something with sequences and optionals.
    Sequence(SequenceOperation),
    /// Something with tensors of strings.
    Strings(StringOperation),
    /// Random numbers.
    Random(RandomOperation),
    /// How often runs of strings or integers are in a list.
    CountNgrams(Arc<NgramCounter>),
}

impl RuntimeOperation {
    /// The name of the operation.
    pub fn name(&self) -> &'static str {
        match self {
            Self::If { .. } => "If",
            Self::Loop(_) => "Loop",
            Self::While { .. } => "While",
            Self::Scan(_) => "Scan",
            Self::Sequence(operation) => operation.name(),
            Self::Strings(operation) => operation.name(),
            Self::Random(operation) => operation.name(),
            Self::CountNgrams(_) => "TfIdfVectorizer",
        }
    }

    /// The bodies, each with what it is called.
    pub fn bodies(&self) -> Vec<(&'static str, &Arc<Network>)> {
        match self {
            Self::If {
                then_body,
                else_body,
            } => vec![("then", then_body), ("else", else_body)],
            Self::Loop(body) => vec![("body", &body.network)],
            Self::While {
                condition, body, ..
            } => vec![("condition", condition), ("body", body)],
            Self::Scan(body) => vec![("body", &body.network)],
            Self::Sequence(_) | Self::Strings(_) | Self::Random(_) | Self::CountNgrams(_) => {
                Vec::new()
            }
        }
    }
}

/// The body of a Loop.
///
/// Inputs of the layer: how often it runs at most (Signed64, one element; may be absent), whether
/// it runs at all (Boolean, one element; may be absent), the carried values, the captured ones.
/// Inputs of the body: the number of the iteration (Signed64, a scalar), the condition (a
/// scalar), the carried values, the captured ones. Outputs of the body: whether it goes on, the
/// carried values, and one element for each of the layer's last outputs. Outputs of the layer: the
/// carried values, and each iteration's elements, stacked along a new first dimension.
#[derive(Clone, Debug)]
pub struct LoopBody {
    /// The body.
    pub network: Arc<Network>,
    /// How many values are carried.
    pub n_carried: usize,
}

/// The body of a Scan.
///
/// Inputs of the layer: the states, the inputs that are scanned, the captured values. Inputs of the
/// body: the states, an element of each scanned input, the captured values. Outputs of the body:
/// the states, an element of each scanned output. Outputs of the layer: the states, the scanned
/// outputs.
#[derive(Clone, Debug)]
pub struct ScanBody {
    /// The body.
    pub network: Arc<Network>,
    /// How many states there are.
    pub n_states: usize,
    /// For each input that is scanned, how.
    pub inputs: Vec<ScanAxis>,
    /// For each output that is put together, how.
    pub outputs: Vec<ScanAxis>,
}

/// Along which dimension elements are taken or put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanAxis {
    /// The dimension; from the end if negative.
    pub axis: i64,
    /// Whether from the last element to the first.
    pub reverse: bool,
}

/// Something with sequences and optionals; as ONNX's operators of the names.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SequenceOperation {
    /// No inputs; an empty sequence.
    Empty,
    /// Any number of tensors; the sequence of them.
    Construct,
    /// A sequence and a position, from the end if negative; the value there.
    At,
    /// A sequence, a value, and perhaps a position; the sequence with the value before it, or at
    /// the end.
    Insert,
    /// A sequence and perhaps a position; the sequence without the value there, or the last one.
    Erase,
    /// A sequence; how many values it has, as a scalar of Signed64.
    Length,
    /// A tensor, and perhaps the sizes of the parts: a scalar for parts of one size (the last may
    /// be smaller), a list for each; without it, parts of size 1.
    Split {
        /// The axis, from the end if negative.
        axis: i64,
        /// Whether parts of size 1 keep the axis, where no sizes are given.
        keep_dims: bool,
    },
    /// A sequence of tensors; one tensor of them, along the axis, or along a new one.
    Concat {
        /// The axis, from the end if negative.
        axis: i64,
        /// Whether it is a new one.
        new_axis: bool,
    },
    /// A value, or nothing; an optional.
    Optional,
    /// An optional, a value, or nothing; whether there is a value.
    HasElement,
    /// An optional or a value; the value.
    GetElement,
}

impl SequenceOperation {
    /// ONNX's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Empty => "SequenceEmpty",
            Self::Construct => "SequenceConstruct",
            Self::At => "SequenceAt",
            Self::Insert => "SequenceInsert",
            Self::Erase => "SequenceErase",
            Self::Length => "SequenceLength",
            Self::Split { .. } => "SplitToSequence",
            Self::Concat { .. } => "ConcatFromSequence",
            Self::Optional => "Optional",
            Self::HasElement => "OptionalHasElement",
            Self::GetElement => "OptionalGetElement",
        }
    }
}

/// Something with tensors of strings; as ONNX's operators of the names, where ONNX has it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StringOperation {
    /// No inputs; always the same tensor.
    Constant {
        /// Its shape, all of which is known.
        shape: Shape,
        /// Its strings, row-major, as many as the shape says.
        strings: Vec<String>,
    },
    /// Two tensors, which broadcast; whether pairs are equal (Boolean).
    Equal,
    /// Two tensors, which broadcast; pairs behind each other.
    Concat,
    /// A list, or a matrix of one row; the words that are not stop words, in another case. One empty
    /// string where none is left.
    Normalize {
        /// In which case the words are.
        case: LetterCase,
        /// Whether stop words are compared with regard to case.
        is_case_sensitive: bool,
        /// Words that are left out.
        stop_words: Vec<String>,
    },
    /// A tensor; the parts of each string along a new last dimension, filled up with empty ones, and
    /// how many there are (Signed64).
    Split {
        /// What stands between parts; without it, any white space, and none at the ends.
        delimiter: Option<String>,
        /// How often each is split at most.
        most: Option<usize>,
    },
    /// A tensor; whether the pattern matches the whole of each string (Boolean).
    Match(Pattern),
    /// A tensor; for each string, the number that belongs to it.
    Lookup {
        /// The strings that are known, and the place of each one's number.
        places: HashMap<String, usize>,
        /// The numbers, and behind them that of strings that are not known.
        numbers: Bytes,
        /// Their type.
        data_type: DataType,
    },
    /// Tensors; for each of them, the positions of its strings (Signed64, in its shape), so that
    /// layers can move these. Positions count from 1, row-major, and those of a tensor go on from
    /// the end of the one before. An empty string has position 0.
    Positions,
    /// A tensor; the positions of its strings (Signed64, in its shape) in the list of different ones
    /// in ascending order of their bytes, and that list. Positions count from 1. The empty string is
    /// not in the list, and has position 0.
    Ranks,
    /// A tensor of positions (Signed64), then the tensors of strings that they count through, as of
    /// [`Positions`](Self::Positions) or [`Ranks`](Self::Ranks); the strings there, in the shape of the positions.
    AtPositions,
    /// A tensor of Signed64, UInt64, Float32 or Float64; its numbers in decimal: those of floating
    /// point with 8 significant digits at most, as C's `%.8g`, or "NaN", "INF", "-INF".
    Format,
    /// A tensor; the numbers that its strings are in decimal. For integers, what is behind the point
    /// is left out. A string that is no number, or an integer beyond the type, is an error.
    Parse {
        /// Signed64, UInt64, Float32 or Float64.
        data_type: DataType,
    },
}

/// In which case letters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterCase {
    /// As they were.
    AsIs,
    /// Small.
    Lower,
    /// Capital.
    Upper,
}

impl StringOperation {
    /// ONNX's name; where it has none, one of the same manner.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Constant { .. } => "Constant",
            Self::Equal => "Equal",
            Self::Concat => "StringConcat",
            Self::Normalize { .. } => "StringNormalizer",
            Self::Split { .. } => "StringSplit",
            Self::Match(_) => "RegexFullMatch",
            Self::Lookup { .. } => "LabelEncoder",
            Self::Positions => "StringPositions",
            Self::Ranks => "StringRanks",
            Self::AtPositions => "StringsAtPositions",
            Self::Format | Self::Parse { .. } => "Cast",
        }
    }
}
