//! Which layers a backend takes, and for which types of elements: found out by asking it about small
//! networks of one layer each.
//!
//! The answer is for people who want to know why a backend is not used. Whether a backend takes a
//! layer of a real network, with its shapes and parameters, only that network shows:
//! [`OptimizedNetwork::report`](crate::OptimizedNetwork::report).

mod later_samples;
mod samples;

use std::sync::Arc;

use armnn_backend_api::{DataType, LayerType};

use crate::{backend::BackendInstance, optimizer};

/// What a backend says of one type of layer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerSupport {
    /// The type of layer.
    pub layer_type: LayerType,
    /// The types of elements of its first input, or of its output where that alone differs
    /// (Quantize), with which a plain layer of this type was taken.
    pub data_types: Vec<DataType>,
    /// Why the layer was refused with Float32, or with the first type that it can have; `None` when
    /// it was taken.
    pub refusal: Option<String>,
}

/// Asks a backend about every type of layer.
pub(crate) fn find_out(backend: &Arc<BackendInstance>) -> Vec<LayerSupport> {
    let known = LayerType::ALL.iter().copied();
    known
        // What it means is the backend's and the model's own affair.
        .filter(|layer_type| *layer_type != LayerType::StandIn)
        .map(|layer_type| find_out_about(backend, layer_type))
        .collect()
}

fn find_out_about(backend: &Arc<BackendInstance>, layer_type: LayerType) -> LayerSupport {
    let mut support = LayerSupport {
        layer_type,
        data_types: Vec::new(),
        refusal: None,
    };
    let mut first_refusal = None;
    for &data_type in DataType::ALL {
        // No backend takes what the interface does not allow.
        let Some(network) = samples::network(layer_type, data_type) else {
            continue;
        };
        match optimizer::ask(network, backend) {
            Ok(()) => support.data_types.push(data_type),
            Err(reason) if data_type == DataType::Float32 => support.refusal = Some(reason),
            Err(reason) => {
                first_refusal.get_or_insert(reason);
            }
        }
    }
    if support.data_types.is_empty() && support.refusal.is_none() {
        support.refusal = first_refusal;
    }
    support
}
