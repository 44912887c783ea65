//! The network as data: tensors and layers in topological order.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Weak},
};

use armnn_backend_api::{LayerDescriptor, LayerType, Shape, TensorInfo};
use bytes::Bytes;

use crate::error::{NetworkError, Result, shown};
use crate::{MappedFile, Operation, ValueType};

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
    /// What it is, if it is no tensor of elements: a sequence, an optional, or strings. Only
    /// operations of the runtime touch those; `info` is of no meaning then.
    pub value_type: Option<ValueType>,
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

    /// What it is: a tensor of elements, or something else.
    pub fn value_type(&self) -> ValueType {
        match &self.value_type {
            Some(other) => other.clone(),
            None => ValueType::Tensor(self.info.clone()),
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
    /// What it does.
    pub operation: Operation,
    /// Its inputs; `None` for an optional one that is absent.
    pub inputs: Vec<Option<TensorId>>,
    /// Its outputs.
    pub outputs: Vec<TensorId>,
    /// The backend that the author of the network suggests for it.
    pub backend_hint: Option<String>,
}

impl Layer {
    /// Its type; [`Operation::RUNTIME_LAYER_TYPE`] for what the runtime does itself.
    pub fn layer_type(&self) -> LayerType {
        self.operation.layer_type()
    }

    /// The name of its type, also of what the runtime does itself, such as `Convolution2d` or `Loop`.
    pub fn type_name(&self) -> String {
        self.operation.type_name()
    }

    /// Its parameters, if it is a layer of a backend, and they are all known.
    pub fn descriptor(&self) -> Option<&LayerDescriptor> {
        match &self.operation {
            Operation::Layer(descriptor) => Some(descriptor),
            _ => None,
        }
    }

    /// The inputs that the backend sees: without parameters.
    pub fn data_inputs(&self) -> &[Option<TensorId>] {
        match &self.operation {
            Operation::Deferred(deferred) => {
                self.inputs.get(..deferred.n_data).unwrap_or(&self.inputs)
            }
            _ => &self.inputs,
        }
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
    pub(crate) variables: Vec<Variable>,
    pub(crate) initializer: Option<Arc<Network>>,
    pub(crate) nested: Nested,
    pub(crate) dimension_names: Vec<DimensionName>,
    pub(crate) mapped_files: Vec<Weak<dyn MappedFile>>,
}

/// The name of a dimension of an input, whose size is not known.
///
/// Dimensions of one name have one size, if the names are binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimensionName {
    /// Which of [`Network::inputs`].
    pub input: usize,
    /// Which of its dimensions.
    pub dimension: usize,
    /// The name, such as `batch`.
    pub name: String,
    /// Whether other sizes of the dimensions of this name are an error. Names that model files have
    /// are not binding: some writers give one name to dimensions that differ.
    pub is_binding: bool,
}

/// What is inside of the bodies of a network's layers, and of those bodies' layers, and so on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nested {
    /// How deep bodies are inside of each other.
    depth: usize,
    /// How many layers are in bodies. A body that several layers share counts as often.
    layers: usize,
}

impl Nested {
    /// The same with one more body; `None` beyond [`Network::MOST_NESTED`] or
    /// [`Network::MOST_NESTED_LAYERS`].
    pub(crate) fn with(self, body: &Network) -> Option<Self> {
        let own = body.layers.len().max(1);
        let layers = self.layers.checked_add(body.nested.layers)?;
        let all = Self {
            depth: self.depth.max(body.nested.depth + 1),
            layers: layers.checked_add(own)?,
        };
        (all.depth <= Network::MOST_NESTED && all.layers <= Network::MOST_NESTED_LAYERS)
            .then_some(all)
    }
}

/// State that a network keeps from one execution to the next: what is written at the end of one is
/// read at the start of the next.
///
/// Its input and its output are no inputs and outputs of the network: whoever executes the network
/// holds the value.
#[derive(Clone, Debug)]
#[doc(alias = "ResourceVariable")]
pub struct Variable {
    /// Its name, by which networks of one model share it.
    pub name: String,
    /// What it holds before the first execution.
    pub initial: VariableValue,
    /// The tensor that reads it; its [source](Tensor::source) is that of an input, but it is none of
    /// [`Network::inputs`].
    pub input: TensorId,
    /// What it is at the end of an execution; `None` if the network only reads it.
    pub output: Option<TensorId>,
}

/// What a variable holds before the first execution.
#[derive(Clone, Debug)]
pub enum VariableValue {
    /// 0, everywhere.
    Zero,
    /// These elements, dense, row-major and little-endian.
    Elements(Bytes),
    /// An output of the network's [initializer](Network::initializer), by index.
    Computed(usize),
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
    /// How deep bodies of control flow may be inside of each other.
    pub const MOST_NESTED: usize = 64;

    /// How many layers the bodies of a network may have in all, those of bodies inside of them among
    /// them. Each layer has its bodies for itself, so that one that several share counts as often.
    pub const MOST_NESTED_LAYERS: usize = 1 << 20;

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

    /// The names of dimensions of inputs, in the order of inputs and dimensions. Most models name
    /// few, or none.
    #[doc(alias = "dim_param")]
    pub fn dimension_names(&self) -> &[DimensionName] {
        &self.dimension_names
    }

    /// The shape of an input as text, with the names that dimensions have, such as
    /// `[batch, ?, 3]`.
    ///
    /// # Panics
    /// When there is no such input.
    pub fn input_shape_text(&self, input: usize) -> String {
        let dims = self.tensor(self.inputs[input]).info.shape;
        // The names are in order.
        let names = &self.dimension_names;
        let from = names.partition_point(|named| named.input < input);
        let dims = dims.dims().iter().enumerate().map(|(dimension, &size)| {
            let mut of_input = names[from..].iter().take_while(|n| n.input == input);
            let named = of_input.find(|n| n.dimension == dimension);
            match (named, size >= 0) {
                (_, true) => size.to_string(),
                (Some(named), false) => shown(&named.name).to_string(),
                (None, false) => "?".to_owned(),
            }
        });
        format!("[{}]", dims.collect::<Vec<_>>().join(", "))
    }

    /// Checks that dimensions of one binding name have one size in these shapes of the inputs, as far
    /// as they are known.
    ///
    /// # Errors
    /// When two have different sizes.
    pub fn check_named_dimensions(&self, inputs: &[Shape]) -> Result<()> {
        match self.unequal_dimensions(inputs, true) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// What [`check_named_dimensions`](Self::check_named_dimensions) would say if names that are not
    /// binding were: something to warn of.
    pub fn doubtful_dimensions(&self, inputs: &[Shape]) -> Option<NetworkError> {
        self.unequal_dimensions(inputs, false)
    }

    fn unequal_dimensions(&self, inputs: &[Shape], is_binding: bool) -> Option<NetworkError> {
        let mut first: HashMap<&str, (&DimensionName, i64)> = HashMap::new();
        let names = self.dimension_names.iter();
        for named in names.filter(|named| named.is_binding == is_binding) {
            let shape = inputs.get(named.input);
            let size = shape.and_then(|shape| shape.dims().get(named.dimension));
            let Some(&size) = size.filter(|&&size| size >= 0) else {
                continue;
            };
            let &mut (other, expected) = first.entry(&named.name).or_insert((named, size));
            if size != expected {
                let input = |named: &DimensionName| {
                    let name = self.tensor(self.inputs[named.input]).name.clone();
                    (name, named.dimension)
                };
                return Some(NetworkError::NamedDimension {
                    name: named.name.clone(),
                    first: input(other),
                    first_size: expected,
                    second: input(named),
                    second_size: size,
                });
            }
        }
        None
    }

    /// The outputs, in the model's order.
    pub fn outputs(&self) -> &[NetworkOutput] {
        &self.outputs
    }

    /// The variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// What computes the first values of variables: a network without inputs, executed once for each
    /// caller, before its first execution.
    #[doc(alias = "CallOnce")]
    pub fn initializer(&self) -> Option<&Arc<Network>> {
        self.initializer.as_ref()
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
