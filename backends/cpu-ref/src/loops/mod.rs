//! Loops that several kernels have in common.

pub(crate) mod loop_nest;
pub(crate) mod matrix;
pub(crate) mod sliding_window;
pub(crate) mod weighted_sum;
