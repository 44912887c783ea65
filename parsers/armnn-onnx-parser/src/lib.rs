//! Reads ONNX models into a network.
//!
//! Two layers. [`model`] is the file: its graph, named, checked and with local functions inlined,
//! with weights that borrow the mapped file. Lowering, above it, turns nodes into the layers of a
//! network:
//!
//! ```no_run
//! let network = armnn_onnx_parser::parse("model.onnx")?;
//! for layer in network.layers() {
//!     println!("{} {}", layer.layer_type(), layer.name);
//! }
//! # Ok::<(), armnn_onnx_parser::OnnxParserError>(())
//! ```
//!
//! # Types
//!
//! | ONNX | network |
//! |---|---|
//! | FLOAT, FLOAT16, BFLOAT16, DOUBLE | Float32, Float16, BFloat16, Float64 |
//! | INT8, INT16, INT32, INT64 | Int8, Int16, Signed32, Signed64 |
//! | UINT8, UINT16, UINT32, UINT64, BOOL | UInt8, UInt16, UInt32, UInt64, Boolean |
//! | INT4, UINT4, INT2, UINT2, FLOAT8…, FLOAT4E2M1 | Int4, UInt4, Int2, UInt2, Float8…, Float4E2M1 |
//! | what QuantizeLinear writes, constants that DequantizeLinear reads | QAsymmU8, QAsymmS8, QSymmS8, QSymmS16, or the same with a scale |
//!
//! Constants are the file's own bytes where it has them as raw data, and are not converted.
//! Dimensions with a name are unknown ones of the network; [`model::Value`] has the names.
//!
//! # Layers
//!
//! A layer has the name of the value that it writes. Where an operator becomes several layers, the
//! last has that name, and the others have their type appended to it (`conv1/Reshape`). Operators
//! that change nothing (Identity, Dropout) become none. Inputs that determine shapes (axes, sizes,
//! paddings) become part of the layer where they are constant or follow from shapes that are known.
//! Else the layer is a [deferred](armnn_network::Deferred) one: they are computed when a plan is
//! made, also from inputs of the model.
//!
//! An attribute is honoured or refused, also one that this parser does not know. What the file says of
//! the shape of an output is used where it does not follow from the inputs; where it contradicts
//! them, it is not used, and a warning is logged.
//!
//! # Values
//!
//! Values are those of the standard, and where it leaves them open, those of ONNX's reference
//! implementation; the operators of ai.onnx.ml follow ONNX Runtime where the standard is silent.
//! ONNX Runtime itself has others in a few places: Resize with scales that make no whole size,
//! automatic padding of windows that are smaller than their strides, Slice backwards to an end of
//! INT_MAX, NaN in reductions, means of no elements (NaN here), sums and products of integers that
//! overflow (they wrap around here).
//!
//! Values differ from the standard's here:
//!
//! - ThresholdedRelu of NaN is NaN, not 0.
//! - Numbers of a seed are those of the reference implementation, which the standard does not ask for:
//!   RandomUniform, RandomNormal, Dropout. Without a seed they follow from
//!   `LoadOptions::random_seed` of the runtime, or differ in each execution.
//!
//! # Graphs in graphs
//!
//! If, Loop, Scan and SequenceMap become operations of the runtime, and their graphs networks of
//! their own, lowered for the types and shapes of what they are given. What a graph captures is an
//! input of it, behind its own, or, if it is constant, a constant. Layers in it have the name of the
//! layer around it before their own (`y/then/conv1`). An If whose condition is known when the model
//! is read becomes the layers of one branch.
//!
//! A value that a Loop or a Scan carries has unknown dimensions where they change from one iteration
//! to the next; a change of the number of dimensions is refused, and so are branches of an If that
//! differ in it. Only where the branches are "squeeze, if the dimension is 1" and "leave it", as
//! exporters write, the Squeeze takes their place; it is an error if the dimension is not 1.
//!
//! Sequences, optionals and strings are values of the runtime, too. Where a model does not say how
//! many dimensions the tensors of a sequence have, what is put in says it.

mod error;
mod lowering;
pub mod model;
mod parser;
pub mod proto;

#[cfg(test)]
mod test_model;

pub use error::{NodePlace, OnnxParserError, Place, Refusals, UnsupportedOperator, UnsupportedUse};
pub use model::is_onnx;
pub use parser::{OnnxParser, OnnxParserOptions, parse, parse_bytes};
