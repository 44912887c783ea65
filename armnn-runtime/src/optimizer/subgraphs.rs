//! The cut of an assigned network into subgraphs.

use std::collections::BTreeMap;

use armnn_network::{LayerId, Network};

use super::Assignment;

/// All layers of one backend and one epoch, in topological order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Subgraph {
    pub(crate) backend: usize,
    pub(crate) layers: Vec<LayerId>,
}

/// Cuts a network: epoch(layer) is the maximum over its producers p of epoch(p), plus 1 if p is of
/// another backend; a subgraph is all layers of one backend and one epoch. Subgraphs are convex,
/// and in an order in which they can be executed.
///
/// Layers that depend on constants alone could be anywhere before their consumers; they are put
/// into the latest epoch possible, to be in one subgraph with what reads them.
///
/// `is_executed` tells which layers are executed at all; the others have no part in it.
pub(crate) fn cut(
    network: &Network,
    assignment: &Assignment,
    is_executed: &[bool],
) -> Vec<Subgraph> {
    let backend_of = &assignment.of_layer;
    let mut epochs = vec![0u32; network.layers().len()];
    for (index, layer) in network.layers().iter().enumerate() {
        epochs[index] = layer
            .data_inputs()
            .iter()
            .flatten()
            .filter_map(|&input| network.tensor(input).producer())
            .filter(|p| is_executed[p.index()])
            .map(|p| epochs[p.index()] + u32::from(backend_of[p.index()] != backend_of[index]))
            .max()
            .unwrap_or(0);
    }
    if assignment.is_constant.contains(&true) {
        let consumers = network.consumers();
        for (index, layer) in network.layers().iter().enumerate().rev() {
            if !assignment.is_constant[index] || !is_executed[index] {
                continue;
            }
            let latest = layer
                .outputs
                .iter()
                .flat_map(|output| &consumers[output.index()])
                .filter(|c| is_executed[c.index()])
                .map(|c| {
                    let other = backend_of[c.index()] != backend_of[index];
                    epochs[c.index()].saturating_sub(u32::from(other))
                })
                .min();
            if let Some(latest) = latest {
                epochs[index] = epochs[index].max(latest);
            }
        }
    }
    let mut subgraphs: BTreeMap<(u32, usize), Vec<LayerId>> = BTreeMap::new();
    for (index, &epoch) in epochs.iter().enumerate() {
        if !is_executed[index] {
            continue;
        }
        subgraphs
            .entry((epoch, backend_of[index]))
            .or_default()
            .push(LayerId(index as u32));
    }
    subgraphs
        .into_iter()
        .map(|((_, backend), layers)| Subgraph { backend, layers })
        .collect()
}
