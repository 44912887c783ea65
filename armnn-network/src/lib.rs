//! The network: graph, builder, shape inference.
//!
//! A [`NetworkBuilder`] takes layers by Arm NN's names, checks each and infers the type and shape
//! of its outputs; [`finish`](NetworkBuilder::finish) gives a [`Network`], which is plain data.
//! Dimensions may be unknown in it; [`infer_shapes`] gives every tensor's shape once the input
//! shapes are.
//!
//! Validation stands here, and backends rely on it: arity, ranks, sizes, data types, quantization
//! and every number of a descriptor. Whatever a model file holds, the answer is a network or a
//! [`NetworkError`], never a panic.

mod builder;
mod dot;
mod error;
mod evaluation;
mod graph;
mod inference;
mod known_value;
mod mapped_file;
mod ngrams;
mod operation;
mod parameter_rules;
mod parts;
mod pattern;
mod random;
mod refusals;
mod rewrite;
mod tensor_rules;
mod type_rules;

pub use builder::{NetworkBuilder, OutputDeclaration};
pub use error::{LayerProblem, NetworkError, Result, TensorProblem};
pub use graph::{
    DimensionName, Layer, LayerId, Network, NetworkOutput, Tensor, TensorId, TensorSource,
    Variable, VariableValue,
};
pub use inference::{Inference, infer, infer_shapes};
pub use known_value::{KnownElements, KnownValue};
pub use mapped_file::MappedFile;
pub use ngrams::{NgramCounter, NgramNode, NgramTree, Weighting};
pub use operation::{
    Deferred, LetterCase, LoopBody, Operation, RuntimeOperation, ScanAxis, ScanBody,
    SequenceOperation, StringOperation, ValueType,
};
pub use parameter_rules::{
    AspectRatioPolicy, PadLayout, ParameterRule, ReduceOptions, SplitOptions, StridedSliceOptions,
    TransposedLayer, TransposedSizes, WindowLayer,
};
pub use parts::{Part, Segment};
pub use pattern::Pattern;
pub use random::{Distribution, RandomOperation};
pub use refusals::{Refusals, ShownName, UnsupportedUse};
pub use rewrite::{Rewrite, RewriteError, RewriteSummary, RewrittenLayer};
