//! The network: graph, builder, shape inference.
