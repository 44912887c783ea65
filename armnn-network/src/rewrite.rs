//! Rewriting a network: a small edit, applied in one sweep.

use std::collections::HashMap;

use armnn_backend_api::{LayerDescriptor, LayerType, TensorInfo};
use bytes::Bytes;

use crate::{
    Layer, LayerId, Network, NetworkBuilder, NetworkError, OutputDeclaration, Tensor, TensorId,
    TensorSource,
};

impl Network {
    /// Rewrites the network: `edit` records what changes, and one sweep applies it.
    ///
    /// The network stays well formed: each edit is checked as it is recorded. Inputs and outputs
    /// of the network stay as they are, with their order and their names, and so do the names of
    /// layers; the numbers of layers and tensors change. Constants that nothing reads any more are
    /// left out; the data of no other one is touched.
    ///
    /// Takes time and memory in proportion to the size of the network, and none worth mentioning
    /// where nothing changes.
    pub fn rewrite(&mut self, edit: impl FnOnce(&mut Rewrite<'_>)) -> RewriteSummary {
        let mut rewrite = Rewrite::new(self);
        edit(&mut rewrite);
        let Rewrite {
            replaced,
            changed,
            removable,
            constants,
            ..
        } = rewrite;
        let sweep = Sweep::new(self, &replaced, &changed, &removable, constants.len());
        sweep.apply(self, changed, constants)
    }
}

/// What a rewrite did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RewriteSummary {
    /// Layers that are gone.
    pub removed: Vec<RewrittenLayer>,
    /// Layers that have another descriptor or other inputs of their own; not those that merely
    /// read what replaces the output of a removed layer.
    pub changed: Vec<RewrittenLayer>,
    /// How many constants are gone, as nothing reads them.
    pub constants_removed: usize,
}

impl RewriteSummary {
    /// Whether the network is as it was.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.changed.is_empty() && self.constants_removed == 0
    }
}

/// A layer that a rewrite removed or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewrittenLayer {
    /// Its name.
    pub name: String,
    /// The type that it had before.
    pub layer_type: LayerType,
}

/// Why an edit was not recorded.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// A tensor cannot be replaced by one of another type, shape or quantization.
    #[error("tensor '{old}' ({old_info}) cannot be replaced by '{new}' ({new_info}): they differ")]
    Differs {
        /// The tensor to be replaced.
        old: String,
        /// Its type and shape.
        old_info: String,
        /// The tensor that was to replace it.
        new: String,
        /// Its type and shape.
        new_info: String,
    },
    /// A tensor is not there yet where it would be read.
    #[error("tensor '{tensor}' cannot be read there, as it is computed later")]
    Order {
        /// The tensor.
        tensor: String,
    },
    /// There is no such layer or tensor.
    #[error("there is no {what} {number}")]
    Unknown {
        /// A layer or a tensor.
        what: &'static str,
        /// Its number.
        number: u32,
    },
    /// The changed layer would have other outputs than before.
    #[error("layer '{layer}' would have other outputs than before")]
    OutputDiffers {
        /// The layer.
        layer: String,
    },
    /// The changed layer or the new constant would not be valid.
    #[error(transparent)]
    Invalid(#[from] NetworkError),
}

type Result<T = (), E = RewriteError> = std::result::Result<T, E>;

/// An edit of a network that is being recorded.
///
/// Reading through it shows the network as it is going to be.
pub struct Rewrite<'n> {
    network: &'n Network,
    /// For each tensor the one that is read instead; itself if it is not replaced. It is always
    /// computed earlier, so that chains end.
    replaced: Vec<TensorId>,
    changed: HashMap<LayerId, Change>,
    removable: Vec<bool>,
    /// New constants; their numbers follow those of the network's tensors.
    constants: Vec<Tensor>,
}

struct Change {
    descriptor: LayerDescriptor,
    inputs: Vec<Option<TensorId>>,
}

impl<'n> Rewrite<'n> {
    fn new(network: &'n Network) -> Self {
        Self {
            network,
            replaced: (0..network.tensors.len() as u32).map(TensorId).collect(),
            changed: HashMap::new(),
            removable: vec![false; network.layers.len()],
            constants: Vec::new(),
        }
    }

    /// The network as it was before the edit.
    pub fn network(&self) -> &'n Network {
        self.network
    }

    /// The layers in topological order, as they were before the edit.
    pub fn layers(&self) -> impl Iterator<Item = (LayerId, &'n Layer)> + use<'n> {
        let numbers = (0u32..).map(LayerId);
        numbers.zip(&self.network.layers)
    }

    /// A tensor, which may be a new constant.
    pub fn tensor(&self, id: TensorId) -> Option<&Tensor> {
        let old = self.network.tensors.len();
        match id.index().checked_sub(old) {
            None => self.network.tensors.get(id.index()),
            Some(new) => self.constants.get(new),
        }
    }

    /// What is read instead of a tensor; itself if it is not replaced.
    pub fn resolve(&self, id: TensorId) -> TensorId {
        resolve(&self.replaced, id)
    }

    /// The descriptor of a layer.
    pub fn descriptor(&self, id: LayerId) -> Option<&LayerDescriptor> {
        match self.changed.get(&id) {
            Some(change) => Some(&change.descriptor),
            None => Some(&self.network.layers.get(id.index())?.descriptor),
        }
    }

    /// An input of a layer.
    pub fn input(&self, id: LayerId, index: usize) -> Option<TensorId> {
        let input = self.unresolved_inputs(id).get(index).copied().flatten();
        input.map(|input| self.resolve(input))
    }

    /// The inputs of a layer.
    pub fn inputs(&self, id: LayerId) -> Vec<Option<TensorId>> {
        let inputs = self.unresolved_inputs(id).iter();
        inputs.map(|id| id.map(|id| self.resolve(id))).collect()
    }

    fn unresolved_inputs(&self, id: LayerId) -> &[Option<TensorId>] {
        match self.changed.get(&id) {
            Some(change) => &change.inputs,
            None => self
                .network
                .layers
                .get(id.index())
                .map_or(&[], |l| &l.inputs),
        }
    }

    /// For each tensor, how often it is read by layers and outputs of the network before the edit.
    pub fn reads(&self) -> Vec<u32> {
        let mut reads = vec![0u32; self.network.tensors.len()];
        let by_layers = self.network.layers.iter().flat_map(Layer::present_inputs);
        let by_outputs = self.network.outputs.iter().map(|output| output.tensor);
        for id in by_layers.chain(by_outputs) {
            // There may be more readers than the number holds; then it stays at the largest.
            reads[id.index()] = reads[id.index()].saturating_add(1);
        }
        reads
    }

    /// Lets everything that reads `old`, which a layer produces, read `new` instead. The layer
    /// stays until it is [given up](Self::remove_if_unread).
    ///
    /// # Errors
    /// When the tensors differ in type, shape or quantization, or `new` is computed no earlier
    /// than `old`.
    pub fn replace_tensor(&mut self, old: TensorId, new: TensorId) -> Result {
        self.can_replace(old, new)?;
        let new = self.resolve(new);
        if let Some(slot) = self.replaced.get_mut(old.index()) {
            *slot = new;
        }
        Ok(())
    }

    /// Whether [`replace_tensor`](Self::replace_tensor) will do it.
    ///
    /// # Errors
    /// When it will not.
    pub fn can_replace(&self, old: TensorId, new: TensorId) -> Result {
        let (from, to) = (self.known(old)?, self.known(self.resolve(new))?);
        if from.info != to.info {
            return Err(RewriteError::Differs {
                old: from.name.clone(),
                old_info: from.info.to_string(),
                new: to.name.clone(),
                new_info: to.info.to_string(),
            });
        }
        // What no layer produces is there from the start. Of two outputs of one layer neither is
        // earlier.
        if to.producer() < from.producer() {
            Ok(())
        } else {
            let tensor = to.name.clone();
            Err(RewriteError::Order { tensor })
        }
    }

    /// Gives a layer another descriptor and other inputs. Its name, its outputs and the backend
    /// that is suggested for it stay.
    ///
    /// # Errors
    /// When it could not be added to a network like that, it would have other outputs than before,
    /// or an input is computed no earlier than the layer's outputs.
    pub fn change_layer(
        &mut self,
        id: LayerId,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
    ) -> Result {
        let network = self.network;
        let layer = network.layers.get(id.index());
        let layer = layer.ok_or(RewriteError::Unknown {
            what: "layer",
            number: id.0,
        })?;
        let descriptor = descriptor.into();
        // A network of this layer alone has all the checks of a builder.
        let mut builder = NetworkBuilder::new();
        let mut alone = Vec::with_capacity(inputs.len());
        for input in inputs {
            let Some(input) = *input else {
                alone.push(None);
                continue;
            };
            let tensor = self.known(self.resolve(input))?;
            if tensor.producer() >= Some(id) {
                let tensor = tensor.name.clone();
                return Err(RewriteError::Order { tensor });
            }
            let (name, info) = (&tensor.name, tensor.info.clone());
            alone.push(Some(match tensor.constant() {
                Some(data) => builder.add_constant_layer(name, info, data.clone())?,
                None => builder.add_input_layer(name, info)?,
            }));
        }
        let infos = layer.outputs.iter().map(|&id| &network.tensor(id).info);
        let declared: Vec<OutputDeclaration> = infos.clone().map(Into::into).collect();
        let outputs = builder.add_layer(&layer.name, descriptor.clone(), &alone, &declared)?;
        let same = outputs.len() == layer.outputs.len()
            && outputs.iter().zip(infos).all(|(&id, info)| {
                let tensor = builder.tensor(id);
                tensor.is_some_and(|tensor| tensor.info == *info)
            });
        if !same {
            let layer = layer.name.clone();
            return Err(RewriteError::OutputDiffers { layer });
        }
        let present = inputs.iter().rposition(Option::is_some);
        let inputs = inputs.get(..present.map_or(0, |i| i + 1));
        let inputs = inputs.unwrap_or_default().to_vec();
        self.changed.insert(id, Change { descriptor, inputs });
        Ok(())
    }

    /// Adds a constant; it stays if something reads it.
    ///
    /// # Errors
    /// As [`NetworkBuilder::add_constant_layer`].
    pub fn add_constant(&mut self, name: &str, info: TensorInfo, data: Bytes) -> Result<TensorId> {
        let mut builder = NetworkBuilder::new();
        builder.add_constant_layer(name, info.clone(), data.clone())?;
        let number = self.network.tensors.len() + self.constants.len();
        let id = u32::try_from(number).ok().filter(|&id| id < u32::MAX);
        let id = id.ok_or(NetworkError::TooMany {
            what: "tensors",
            limit: u32::MAX as usize,
        })?;
        self.constants.push(Tensor {
            name: name.to_owned(),
            info,
            source: TensorSource::Constant(data),
        });
        Ok(TensorId(id))
    }

    /// Gives a layer up: it goes if, at the end, no layer that stays and no output of the network
    /// reads an output of it.
    pub fn remove_if_unread(&mut self, id: LayerId) {
        if let Some(removable) = self.removable.get_mut(id.index()) {
            *removable = true;
        }
    }

    fn known(&self, id: TensorId) -> Result<&Tensor> {
        self.tensor(id).ok_or(RewriteError::Unknown {
            what: "tensor",
            number: id.0,
        })
    }
}

fn resolve(replaced: &[TensorId], mut id: TensorId) -> TensorId {
    // Ends: what replaces a tensor is computed earlier.
    while let Some(&next) = replaced.get(id.index()).filter(|&&next| next != id) {
        id = next;
    }
    id
}

/// The plan of the sweep: what is read at the end, and what of the layers stays.
struct Sweep {
    replaced: Vec<TensorId>,
    read: Vec<bool>,
    stays: Vec<bool>,
}

impl Sweep {
    fn new(
        network: &Network,
        replaced: &[TensorId],
        changed: &HashMap<LayerId, Change>,
        removable: &[bool],
        n_constants: usize,
    ) -> Self {
        let replaced: Vec<TensorId> = replaced.iter().map(|&id| resolve(replaced, id)).collect();
        let mut read = vec![false; network.tensors.len() + n_constants];
        let at = |id: TensorId| replaced.get(id.index()).map_or(id, |&id| id).index();
        for output in &network.outputs {
            read[at(output.tensor)] = true;
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

    fn apply(
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
                (layer.descriptor, layer.inputs) = (change.descriptor, change.inputs);
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
        summary
    }
}
