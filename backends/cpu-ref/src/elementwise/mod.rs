//! Layers that compute each element by itself.

pub(crate) mod activation;
pub(crate) mod comparison;
pub(crate) mod elementwise_binary;
pub(crate) mod elementwise_unary;
pub(crate) mod logical_binary;
pub(crate) mod prelu;
pub(crate) mod select;
