//! What numbers are, and how they are computed with: element types, real numbers of several widths, fixed point.

pub(crate) mod element_type;
pub(crate) mod float_tensors;
pub(crate) mod lookup_table;
pub(crate) mod packing;
pub(crate) mod quantized_arithmetic;
pub(crate) mod real;
pub(crate) mod reciprocal;
pub(crate) mod stored_numbers;
