//! Reads TFLite models into a network.
//!
//! Two layers. [`model`] is the file: its tables, checked and named, with weights that borrow the
//! mapped file. Lowering, above it, turns its operators into the layers of a network:
//!
//! ```no_run
//! let network = armnn_tflite_parser::parse("model.tflite")?;
//! for layer in network.layers() {
//!     println!("{} {}", layer.layer_type(), layer.name);
//! }
//! # Ok::<(), armnn_tflite_parser::TfliteParserError>(())
//! ```
//!
//! # Types
//!
//! | TFLite | network |
//! |---|---|
//! | FLOAT32, FLOAT16, BFLOAT16, FLOAT64 | Float32, Float16, BFloat16, Float64 |
//! | INT8 with one scale | QAsymmS8 |
//! | INT8 with several scales, zero points 0 (weights) | QSymmS8 |
//! | UINT8 with scales | QAsymmU8 |
//! | INT16 with scales, zero points 0 | QSymmS16 |
//! | INT8, UINT8, INT16 without scales | Int8, UInt8, Int16 |
//! | INT32, INT64, also with scales (biases) | Signed32, Signed64 |
//! | UINT16, UINT32, UINT64, BOOL | UInt16, UInt32, UInt64, Boolean |
//! | INT4, UINT4, INT2, FLOAT8_E4M3FN, FLOAT8_E5M2 | Int4, UInt4, Int2, Float8E4M3FN, Float8E5M2 |
//!
//! Nothing is converted: constants are the file's own bytes, so that Float16 weights stay Float16,
//! and a Cast widens them where the model does.
//!
//! # Layers
//!
//! A layer has the name of the tensor that it writes. Where an operator becomes several layers, the
//! last has that name, and the others have their type appended to it (`conv1/Convolution2d`). A
//! fused activation is a layer of its own. Inputs that determine shapes (axes, sizes, paddings)
//! become part of the layer where they are constant or follow from shapes; else they are its
//! [parameters](armnn_network::Deferred).
//!
//! The file's shapes of computed tensors do not count: they follow from those of the inputs, whose
//! dimensions may be unknown (-1 in the shape signature).
//!
//! # Control flow and state
//!
//! WHILE and IF are operations of the runtime, whose bodies are networks of their own; the names of
//! their layers begin with that of the operator (`loop/body/sum`).
//!
//! Resource variables, and the states of recurrent operators, are
//! [variables](armnn_network::Variable) of the network. A variable has its shared name, a state that
//! of its tensor. CALL_ONCE gives first values; what nothing gives one is 0. The functions that a
//! model names by signatures are networks each ([`parse_signature`]), whose variables have the same
//! names.
//!
//! # Random numbers
//!
//! RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL and MULTINOMIAL take the numbers that the runtime makes
//! ([`RandomOperation`](armnn_network::RandomOperation)), which are not those of LiteRT's generator.
//! With a seed in the model, each execution gives the same numbers, where LiteRT goes on with those
//! that follow.
//!
//! # What there is not
//!
//! Strings, hash tables, and operators of TensorFlow (Flex) are refused by name.

mod error;
mod lowering;
pub mod model;
mod parser;
// Written by `cargo xtask codegen`; lints are for people's code.
#[allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    dead_code,
    clippy::all,
    clippy::undocumented_unsafe_blocks
)]
mod schema_generated;
#[cfg(test)]
#[allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    dead_code,
    clippy::all,
    clippy::undocumented_unsafe_blocks
)]
mod schema_writer_generated;

#[cfg(test)]
mod test_model;

pub use error::{Place, Refusals, TfliteParserError, UnsupportedOperator, UnsupportedUse};
pub use model::is_tflite;
pub use parser::{
    SignatureInfo, TfliteParser, TfliteParserOptions, parse, parse_bytes, parse_signature,
    signatures,
};
