//! The wire interface: the C ABI between the runtime and a backend.
//!
//! Everything that crosses the boundary of a shared object is declared here, in plain Rust that
//! `cbindgen` turns into `include/armnn_backend.h`. The safe interface above it is what a backend
//! in Rust implements; read [the front page of the crate](crate) first.
//!
//! Rules that hold for every declaration:
//!
//! * A table or an argument struct begins with its `struct_size`. Within a major it only grows at
//!   its end. A slot is present if `struct_size` covers it and it is not null ([`slot!`](crate::slot)).
//! * Elements of arrays carry a stride, except of the types frozen for a major: [`ArmnnShape`],
//!   [`ArmnnStr`], [`ArmnnOption`], [`ArmnnQuantization`].
//! * What the other side writes is read as integers: no Rust `bool`, no Rust `enum`.
//! * A string or an array is borrowed for the call, unless its documentation says otherwise.
//! * No memory is freed by the other side: an object has a `destroy` in its own table.
//! * Nothing unwinds across the boundary, in either direction.

mod backend;
mod boundary_descriptors;
mod boundary_structs;
mod compilation;
mod constants;
mod descriptors;
mod detection_descriptors;
mod execution;
mod graph;
pub mod layout;
mod normalization_descriptors;
mod note;
mod rearrangement_descriptors;
mod selection_descriptors;
mod sequence_descriptors;
mod values;
mod window_descriptors;

pub use backend::*;
pub use compilation::*;
pub use constants::*;
pub use descriptors::*;
pub use detection_descriptors::*;
pub use execution::*;
pub use graph::*;
pub use normalization_descriptors::*;
pub use note::*;
pub use rearrangement_descriptors::*;
pub use selection_descriptors::*;
pub use sequence_descriptors::*;
pub use values::*;
pub use window_descriptors::*;

/// Major version of the interface.
pub const ARMNN_API_MAJOR: u32 = 1;
/// Minor version of the interface.
pub const ARMNN_API_MINOR: u32 = 2;

/// Reads a slot of a table or a field of a struct that may be shorter than this crate's
/// declaration of it: the field's own value, or `None` when the other side was built before the
/// field existed. The field must itself be an `Option`.
///
/// # Safety
/// Must stand in an `unsafe` block; `$table` is a valid pointer to a struct that begins with its
/// `struct_size`, and that many bytes of it are readable.
#[macro_export]
macro_rules! slot {
    ($table:expr, $Table:ty, $field:ident) => {{
        let table: *const $Table = $table;
        if $crate::covers!(table, $Table, $field) {
            (*table).$field
        } else {
            None
        }
    }};
}

/// Whether a struct of the other side is long enough to hold a field.
///
/// # Safety
/// Must stand in an `unsafe` block; `$table` is a valid pointer to a struct that begins with its
/// `struct_size`.
#[macro_export]
macro_rules! covers {
    ($table:expr, $Table:ty, $field:ident) => {{
        const fn end_of<F>(offset: usize, _: fn(&$Table) -> &F) -> usize {
            offset + ::core::mem::size_of::<F>()
        }
        const END: usize = end_of(::core::mem::offset_of!($Table, $field), |t| &t.$field);
        let table: *const $Table = $table;
        (*table).struct_size >= END
    }};
}
