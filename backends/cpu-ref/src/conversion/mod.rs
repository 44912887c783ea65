//! Layers that say the same in another type.

pub(crate) mod bit_cast;
pub(crate) mod bucketize;
pub(crate) mod cast;
pub(crate) mod quantize;
