//! Products of matrices, and linear transforms.

pub(crate) mod batch_mat_mul;
pub(crate) mod det;
pub(crate) mod dft;
pub(crate) mod fully_connected;
