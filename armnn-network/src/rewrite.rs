//! Rewriting a network: a small edit, applied in one sweep.

mod sweep;

use std::collections::HashMap;

use armnn_backend_api::{LayerDescriptor, LayerType, TensorInfo};
use bytes::Bytes;

use self::sweep::Sweep;
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

    /// The descriptor of a layer; `None` if it is deferred.
    pub fn descriptor(&self, id: LayerId) -> Option<&LayerDescriptor> {
        match self.changed.get(&id) {
            Some(change) => Some(&change.descriptor),
            None => self.network.layers.get(id.index())?.descriptor(),
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

    /// For each tensor, how often it is read by layers, outputs of the network and variables before
    /// the edit.
    pub fn reads(&self) -> Vec<u32> {
        let mut reads = vec![0u32; self.network.tensors.len()];
        let by_layers = self.network.layers.iter().flat_map(Layer::present_inputs);
        let by_outputs = self.network.outputs.iter().map(|output| output.tensor);
        let by_variables = self.network.variables.iter().filter_map(|v| v.output);
        for id in by_layers.chain(by_outputs).chain(by_variables) {
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
            value_type: None,
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

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, ReshapeDescriptor, SplitDescriptor, TransposeDescriptor};

    use super::*;

    fn info(shape: [i64; 2]) -> TensorInfo {
        TensorInfo::new(DataType::Float32, shape)
    }

    /// `x` [2, 3], a constant, `abs` of x, `row` [1, 6] of that, `sum` of abs and the constant,
    /// and the output `y` of that.
    fn network() -> Network {
        let mut builder = NetworkBuilder::new();
        let x = builder.add_input_layer("x", info([2, 3])).unwrap();
        let zeros = Bytes::from_static(&[0; 24]);
        let c = builder
            .add_constant_layer("c", info([2, 3]), zeros)
            .unwrap();
        let abs = builder.add_abs_layer(x, "abs").unwrap();
        builder.add_reshape_layer([1, 6], abs, "row").unwrap();
        let sum = builder.add_addition_layer(abs, c, "sum").unwrap();
        builder.add_output_layer("y", sum).unwrap();
        builder.finish().unwrap()
    }

    const ABS: LayerId = LayerId(0);
    const ROW: LayerId = LayerId(1);
    const SUM: LayerId = LayerId(2);

    fn output(network: &Network, layer: LayerId) -> TensorId {
        network.layer(layer).outputs[0]
    }

    fn names(network: &Network) -> Vec<&str> {
        network.layers().iter().map(|l| l.name.as_str()).collect()
    }

    #[test]
    fn an_empty_edit_changes_nothing() {
        let mut network = network();
        let before = format!("{network:?}");
        let summary = network.rewrite(|_| {});
        assert!(summary.is_empty());
        assert_eq!(format!("{network:?}"), before);
    }

    #[test]
    fn a_layer_that_is_given_up_goes_only_if_nothing_reads_it() {
        let mut network = network();
        let summary = network.rewrite(|rewrite| {
            rewrite.remove_if_unread(ABS);
            rewrite.remove_if_unread(ROW);
        });
        assert_eq!(names(&network), ["abs", "sum"]);
        let row = RewrittenLayer {
            name: "row".to_owned(),
            layer_type: LayerType::Reshape,
        };
        assert_eq!(summary.removed, [row]);
        assert_eq!(summary.changed, []);
    }

    #[test]
    fn readers_of_a_replaced_tensor_read_the_other_and_unread_constants_go() {
        let mut network = network();
        let x = network.inputs()[0];
        let (abs, sum) = (output(&network, ABS), output(&network, SUM));
        let summary = network.rewrite(|rewrite| {
            rewrite.replace_tensor(abs, x).unwrap();
            // `abs` stands for `x` by now.
            rewrite.replace_tensor(sum, abs).unwrap();
            assert_eq!(rewrite.resolve(sum), x);
            assert_eq!(rewrite.input(SUM, 0), Some(x));
            for layer in [ABS, SUM] {
                rewrite.remove_if_unread(layer);
            }
        });
        assert_eq!(names(&network), ["row"]);
        assert_eq!(summary.constants_removed, 1);
        let x = network.inputs()[0];
        assert_eq!(network.layers()[0].inputs, [Some(x)]);
        assert_eq!(network.outputs()[0].tensor, x);
        assert_eq!(network.outputs()[0].name, "y");
        assert_eq!(network.tensors().len(), 2);
    }

    #[test]
    fn a_new_constant_stands_before_what_reads_it() {
        let mut network = network();
        let summary = network.rewrite(|rewrite| {
            let ones = Bytes::from_static(&[1; 24]);
            let new = rewrite.add_constant("new", info([2, 3]), ones).unwrap();
            let data = Bytes::from_static(&[0; 4]);
            rewrite.add_constant("unread", info([1, 1]), data).unwrap();
            let mut inputs = rewrite.inputs(SUM);
            inputs[1] = Some(new);
            let descriptor = rewrite.descriptor(SUM).unwrap().clone();
            rewrite.change_layer(SUM, descriptor, &inputs).unwrap();
            assert_eq!(rewrite.input(SUM, 1), Some(new));
        });
        assert_eq!(summary.constants_removed, 1);
        assert_eq!(summary.changed[0].name, "sum");
        let read = network.layers()[2].inputs[1].unwrap();
        assert_eq!(network.tensor(read).name, "new");
        assert_eq!(network.tensor(read).constant().unwrap()[..], [1; 24]);
        let constants = network.tensors().iter().filter(|t| t.constant().is_some());
        assert_eq!(constants.count(), 1);
        for (index, layer) in network.layers().iter().enumerate() {
            let id = LayerId(index as u32);
            for &output in &layer.outputs {
                assert_eq!(network.tensor(output).producer(), Some(id));
                assert!(layer.present_inputs().all(|input| input < output));
            }
        }
    }

    #[test]
    fn edits_that_would_break_the_network_are_refused() {
        let mut network = network();
        let before = format!("{network:?}");
        let (abs, row) = (output(&network, ABS), output(&network, ROW));
        let sum = output(&network, SUM);
        let x = network.inputs()[0];
        network.rewrite(|rewrite| {
            let error = rewrite.replace_tensor(row, x).unwrap_err();
            assert!(matches!(error, RewriteError::Differs { .. }), "{error}");
            // Computed later, or not computed at all.
            for (old, new) in [(abs, sum), (abs, abs), (x, abs)] {
                let error = rewrite.replace_tensor(old, new).unwrap_err();
                assert!(matches!(error, RewriteError::Order { .. }), "{error}");
            }
            let none = TensorId(99);
            let error = rewrite.replace_tensor(none, x).unwrap_err();
            assert!(matches!(error, RewriteError::Unknown { .. }), "{error}");

            let transpose = TransposeDescriptor::new(&[1, 0]).unwrap();
            let reshape = ReshapeDescriptor::new();
            let mut change = |layer, descriptor: LayerDescriptor, input| {
                rewrite
                    .change_layer(layer, descriptor, &[input])
                    .unwrap_err()
            };
            let error = change(ABS, transpose.into(), Some(x));
            assert!(matches!(error, RewriteError::Invalid(_)), "{error}");
            let error = change(ABS, reshape.into(), Some(sum));
            assert!(matches!(error, RewriteError::Order { .. }), "{error}");
            let error = change(ABS, reshape.into(), None);
            assert!(matches!(error, RewriteError::Invalid(_)), "{error}");
            let error = change(LayerId(9), reshape.into(), Some(x));
            assert!(matches!(error, RewriteError::Unknown { .. }), "{error}");
            let split = SplitDescriptor { axis: 7 };
            let error = change(ABS, split.into(), Some(x));
            assert!(matches!(error, RewriteError::Invalid(_)), "{error}");

            let short = Bytes::from_static(&[0; 3]);
            let error = rewrite.add_constant("c", info([1, 1]), short).unwrap_err();
            assert!(matches!(error, RewriteError::Invalid(_)), "{error}");
        });
        assert_eq!(format!("{network:?}"), before);
    }
}
