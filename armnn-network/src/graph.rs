//! The network as data: tensors and layers in topological order.

use std::fmt;

use armnn_backend_api::{LayerDescriptor, LayerType, TensorInfo};
use bytes::Bytes;

/// A tensor of a [`Network`]: its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(pub u32);

/// A layer of a [`Network`]: its index, which is also its place in the topological order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerId(pub u32);

impl TensorId {
    /// The index, for use with [`Network::tensors`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LayerId {
    /// The index, for use with [`Network::layers`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for LayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for TensorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A tensor of a network.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name in the model; may be empty.
    pub name: String,
    /// Its type, shape and quantization; dimensions may be unknown.
    pub info: TensorInfo,
    /// Where it comes from.
    pub source: TensorSource,
}

/// Where a tensor comes from.
#[derive(Clone, Debug)]
pub enum TensorSource {
    /// It is an input of the network.
    Input,
    /// It is a constant: its elements, dense, row-major and little-endian. They may borrow the
    /// mapped model file, and need not be aligned.
    Constant(Bytes),
    /// A layer produces it.
    Layer(LayerId),
}

impl Tensor {
    /// The bytes, if it is a constant.
    pub fn constant(&self) -> Option<&Bytes> {
        match &self.source {
            TensorSource::Constant(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The layer that produces it, if there is one.
    pub fn producer(&self) -> Option<LayerId> {
        match self.source {
            TensorSource::Layer(layer) => Some(layer),
            _ => None,
        }
    }
}

/// A layer of a network.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Its name in the model; may be empty.
    pub name: String,
    /// Its type and parameters.
    pub descriptor: LayerDescriptor,
    /// Its inputs; `None` for an optional one that is absent.
    pub inputs: Vec<Option<TensorId>>,
    /// Its outputs.
    pub outputs: Vec<TensorId>,
    /// The backend that the author of the network suggests for it.
    pub backend_hint: Option<String>,
}

impl Layer {
    /// Its type.
    pub fn layer_type(&self) -> LayerType {
        self.descriptor.layer_type()
    }

    /// The inputs that are present.
    pub fn present_inputs(&self) -> impl Iterator<Item = TensorId> + '_ {
        self.inputs.iter().flatten().copied()
    }
}

/// A neural network: layers in topological order, and the tensors between them.
///
/// Made by a [`NetworkBuilder`](crate::NetworkBuilder), which checks every layer, so that a
/// network is always well formed: indices are in range, a layer reads only tensors that stand
/// before it, arity and shapes fit the layer types.
#[derive(Clone, Debug, Default)]
#[doc(alias = "INetwork")]
pub struct Network {
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) layers: Vec<Layer>,
    pub(crate) inputs: Vec<TensorId>,
    pub(crate) outputs: Vec<NetworkOutput>,
}

/// An output of a network.
#[derive(Clone, Debug)]
pub struct NetworkOutput {
    /// Its name, which may differ from the tensor's.
    pub name: String,
    /// The tensor. It may also be an input, a constant, or appear more than once.
    pub tensor: TensorId,
}

impl Network {
    /// The tensors; [`TensorId`] is the index.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The layers in topological order; [`LayerId`] is the index.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The tensor of an id.
    ///
    /// # Panics
    /// When it is of another network and out of range.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// The layer of an id.
    ///
    /// # Panics
    /// When it is of another network and out of range.
    pub fn layer(&self, id: LayerId) -> &Layer {
        &self.layers[id.index()]
    }

    /// The inputs, in the model's order.
    pub fn inputs(&self) -> &[TensorId] {
        &self.inputs
    }

    /// The outputs, in the model's order.
    pub fn outputs(&self) -> &[NetworkOutput] {
        &self.outputs
    }

    /// Takes the data of a constant out of the network, which has an empty one from then on; for
    /// whoever keeps the data elsewhere. `None` if the tensor is no constant.
    pub fn take_constant_data(&mut self, id: TensorId) -> Option<Bytes> {
        match &mut self.tensors.get_mut(id.index())?.source {
            TensorSource::Constant(bytes) => Some(std::mem::take(bytes)),
            _ => None,
        }
    }

    /// For each tensor, the layers that read it, in order; a layer that reads it twice is named
    /// twice.
    pub fn consumers(&self) -> Vec<Vec<LayerId>> {
        let mut consumers = vec![Vec::new(); self.tensors.len()];
        for (index, layer) in self.layers.iter().enumerate() {
            for input in layer.present_inputs() {
                consumers[input.index()].push(LayerId(index as u32));
            }
        }
        consumers
    }
}
