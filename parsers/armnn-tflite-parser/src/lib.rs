//! Reads TFLite models into a network.
//!
//! Two layers. [`model`] is the file: its tables, checked and named, with weights that borrow the
//! mapped file. Lowering, above it, turns its operators into the layers of a network.

mod error;
pub mod model;
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

pub use error::{Place, TfliteParserError};
