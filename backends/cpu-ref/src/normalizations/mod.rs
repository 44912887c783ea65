//! Layers that bring numbers into proportion with others of their tensor.

pub(crate) mod local_response;
pub(crate) mod normalization;
pub(crate) mod softmax;
