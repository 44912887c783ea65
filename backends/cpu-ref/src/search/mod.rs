//! Layers that find elements, or where they are.

pub(crate) mod arg_min_max;
pub(crate) mod non_zero;
pub(crate) mod top_k;
pub(crate) mod unique;
