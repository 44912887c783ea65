//! Layers that reduce or accumulate along dimensions.

pub(crate) mod cumulative;
pub(crate) mod reduce;
