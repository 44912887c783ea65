//! The sweep that applies an edit.

use std::collections::HashMap;

use super::{Change, RewriteSummary, RewrittenLayer, resolve};
use crate::{LayerId, Network, Operation, Tensor, TensorId, TensorSource};

/// The plan of the sweep: what is read at the end, and what of the layers stays.
pub(super) struct Sweep {
    replaced: Vec<TensorId>,
    read: Vec<bool>,
    stays: Vec<bool>,
}

impl Sweep {
    pub(super) fn new(
        network: &Network,
        replaced: &[TensorId],
        changed: &HashMap<LayerId, Change>,
        removable: &[bool],
        n_constants: usize,
    ) -> Self {
        let replaced: Vec<TensorId> = replaced.iter().map(|&id| resolve(replaced, id)).collect();
        let mut read = vec![false; network.tensors.len() + n_constants];
        let at = |id: TensorId| replaced.get(id.index()).map_or(id, |&id| id).index();
        let assigned = network.variables.iter().filter_map(|v| v.output);
        for id in network.outputs.iter().map(|o| o.tensor).chain(assigned) {
            read[at(id)] = true;
        }
        let mut stays = vec![true; network.layers.len()];
        for (index, layer) in network.layers.iter().enumerate().rev() {
            stays[index] = !removable[index] || layer.outputs.iter().any(|id| read[id.index()]);
            if stays[index] {
                let inputs = match changed.get(&LayerId(index as u32)) {
                    Some(change) => &change.inputs,
                    None => &layer.inputs,
                };
                for &id in inputs.iter().flatten() {
                    read[at(id)] = true;
                }
            }
        }
        Self {
            replaced,
            read,
            stays,
        }
    }

    pub(super) fn apply(
        self,
        network: &mut Network,
        mut changed: HashMap<LayerId, Change>,
        constants: Vec<Tensor>,
    ) -> RewriteSummary {
        let n_old = network.tensors.len();
        let unread = |(tensor, &read): (&Tensor, &bool)| !read && tensor.constant().is_some();
        let mut summary = RewriteSummary {
            constants_removed: network
                .tensors
                .iter()
                .zip(&self.read)
                .filter(|&t| unread(t))
                .count(),
            ..RewriteSummary::default()
        };
        let is_replaced = |(index, id): (usize, &TensorId)| id.index() != index;
        let same = summary.constants_removed == 0
            && changed.is_empty()
            && self.stays.iter().all(|&stays| stays)
            && !self.replaced.iter().enumerate().any(is_replaced);
        if same {
            return summary;
        }

        let mut layer_numbers = vec![LayerId(u32::MAX); network.layers.len()];
        let mut n_layers = 0;
        for (number, _) in layer_numbers
            .iter_mut()
            .zip(&self.stays)
            .filter(|(_, stays)| **stays)
        {
            *number = LayerId(n_layers);
            n_layers += 1;
        }
        // New constants come first, so that whatever reads them stands behind them.
        let mut tensor_numbers = vec![TensorId(u32::MAX); n_old + constants.len()];
        let mut tensors = Vec::with_capacity(n_old);
        let old = std::mem::take(&mut network.tensors).into_iter().enumerate();
        let new = constants
            .into_iter()
            .enumerate()
            .map(|(i, tensor)| (n_old + i, tensor));
        for (index, mut tensor) in new.chain(old) {
            let stays = match &mut tensor.source {
                TensorSource::Input => true,
                TensorSource::Constant(_) => self.read[index],
                TensorSource::Layer(id) => {
                    let stays = self.stays[id.index()];
                    *id = layer_numbers[id.index()];
                    stays
                }
            };
            if stays {
                tensor_numbers[index] = TensorId(tensors.len() as u32);
                tensors.push(tensor);
            }
        }
        network.tensors = tensors;

        let renumbered = |id: TensorId| {
            let id = self.replaced.get(id.index()).map_or(id, |&id| id);
            tensor_numbers[id.index()]
        };
        let mut layers = Vec::with_capacity(n_layers as usize);
        for (index, mut layer) in std::mem::take(&mut network.layers).into_iter().enumerate() {
            let layer_type = layer.layer_type();
            if !self.stays[index] {
                let name = layer.name;
                summary.removed.push(RewrittenLayer { name, layer_type });
                continue;
            }
            if let Some(change) = changed.remove(&LayerId(index as u32)) {
                let name = layer.name.clone();
                summary.changed.push(RewrittenLayer { name, layer_type });
                layer.operation = Operation::Layer(change.descriptor);
                layer.inputs = change.inputs;
            }
            for id in layer.inputs.iter_mut().flatten() {
                *id = renumbered(*id);
            }
            for id in &mut layer.outputs {
                *id = tensor_numbers[id.index()];
            }
            layers.push(layer);
        }
        network.layers = layers;
        for id in &mut network.inputs {
            *id = tensor_numbers[id.index()];
        }
        for output in &mut network.outputs {
            output.tensor = renumbered(output.tensor);
        }
        for variable in &mut network.variables {
            variable.input = tensor_numbers[variable.input.index()];
            variable.output = variable.output.map(renumbered);
        }
        summary
    }
}
