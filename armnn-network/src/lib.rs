//! The network: graph, builder, shape inference.

mod graph;

pub use graph::{Layer, LayerId, Network, NetworkOutput, Tensor, TensorId, TensorSource};
