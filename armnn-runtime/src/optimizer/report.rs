//! What runs where, and why not elsewhere.

use armnn_backend_api::{BackendId, LayerType};
use armnn_network::LayerId;

/// Which backend executes which layer, and why no other one does.
#[derive(Clone, Debug, Default)]
pub struct AssignmentReport {
    /// Every layer, in topological order.
    pub layers: Vec<LayerAssignment>,
    /// The backends in the order of preference that was used, whether one was given or not; only
    /// those that can be used.
    pub preference: Vec<BackendId>,
    /// Backends that were asked for and could not be used, with the reason; where no preference was
    /// given, every backend of a known id that could not be used. Static ones are among them.
    pub unusable: Vec<(BackendId, String)>,
}

/// The backend of a layer.
#[derive(Clone, Debug)]
pub struct LayerAssignment {
    /// Its number: its index in [`OptimizedNetwork::network`](super::OptimizedNetwork::network), or,
    /// of a layer in a body of control flow, one behind those, which is no index in any network.
    pub layer: LayerId,
    /// Its name in the model.
    pub name: String,
    /// Its type, if it is one of a backend.
    pub layer_type: LayerType,
    /// The name of its type.
    pub type_name: String,
    /// The backend that executes it; `Runtime` where the runtime does its work itself.
    pub backend: BackendId,
    /// Why this one.
    pub choice: Choice,
    /// Backends that came first in order and refused it.
    pub refusals: Vec<Refusal>,
}

/// Why a layer is executed by a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A pin.
    Pin,
    /// The network's own hint.
    Hint,
    /// The first in the order of preference that takes it.
    Preference,
    /// All its inputs are constant, so it runs once, where its result is read.
    FollowsConsumer,
    /// No backend executes it: control flow, and arithmetic on shapes.
    Runtime,
    /// What was assigned to it refused it while the network was compiled.
    Reassigned,
}

/// A backend that did not take a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The backend.
    pub backend: BackendId,
    /// Its reason.
    pub reason: String,
}

impl AssignmentReport {
    /// How many layers each backend executes, in order of their first layer.
    pub fn layers_per_backend(&self) -> Vec<(BackendId, usize)> {
        let mut counts: Vec<(BackendId, usize)> = Vec::new();
        for layer in &self.layers {
            match counts.iter_mut().find(|(id, _)| *id == layer.backend) {
                Some((_, count)) => *count += 1,
                None => counts.push((layer.backend.clone(), 1)),
            }
        }
        counts
    }

    /// Every reason for which a backend refused layers, with the layers: one entry for each
    /// backend, layer type and reason.
    pub fn gathered_refusals(&self) -> Vec<GatheredRefusal<'_>> {
        let mut gathered: Vec<GatheredRefusal<'_>> = Vec::new();
        let mut index = std::collections::HashMap::new();
        for layer in &self.layers {
            for refusal in &layer.refusals {
                let key = (
                    refusal.backend.as_str(),
                    layer.layer_type,
                    refusal.reason.as_str(),
                );
                let at = *index.entry(key).or_insert_with(|| {
                    gathered.push(GatheredRefusal {
                        backend: &refusal.backend,
                        layer_type: layer.layer_type,
                        reason: &refusal.reason,
                        layers: Vec::new(),
                    });
                    gathered.len() - 1
                });
                gathered[at].layers.push(layer);
            }
        }
        gathered
    }
}

/// One reason for which a backend refused layers of one type.
#[derive(Clone, Debug)]
pub struct GatheredRefusal<'a> {
    /// The backend.
    pub backend: &'a BackendId,
    /// The type of the layers.
    pub layer_type: LayerType,
    /// The reason.
    pub reason: &'a str,
    /// The layers.
    pub layers: Vec<&'a LayerAssignment>,
}
