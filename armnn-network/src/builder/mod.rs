//! Building a network, layer by layer.

mod body_types;
mod data_layers;
mod declaration;
mod deferred_layers;
mod dimension_names;
mod elementwise_layers;
mod kernel_layers;
mod layer_checks;
mod runtime_layers;
mod sequence_types;
mod string_types;
mod value_types;
mod variables;

pub use declaration::OutputDeclaration;

use std::collections::{HashMap, HashSet};

use armnn_backend_api::{BackendId, DataType, LayerDescriptor, Shape, TensorInfo};
use bytes::Bytes;

use self::layer_checks::{declaration_problem, is_undeclared};
use crate::error::{LayerProblem, NetworkError, Result, TensorProblem, shown};
use crate::evaluation::{evaluate, is_evaluated};
use crate::inference::merge;
use crate::tensor_rules::{check_info, check_info_but_missing_quantization};
use crate::{
    KnownValue, Layer, LayerId, Network, NetworkOutput, Operation, Tensor, TensorId, TensorSource,
    ValueType,
};

/// Builds a [`Network`].
///
/// Each method checks what it is given and infers the type and shape of what it adds, so that the
/// network is well formed at every point. A method that returns an error has changed nothing.
///
/// The methods have Arm NN's names. They all rest on [`add_layer`](Self::add_layer), which takes
/// any descriptor; several of Arm NN's layers become one layer type here, as each method says. An
/// empty layer name becomes the type and number of the layer, such as `Convolution2d:12`; a name
/// that is taken already gets the number appended.
///
/// ```
/// use armnn_backend_api::{DataType, TensorInfo};
/// use armnn_network::NetworkBuilder;
///
/// let mut builder = NetworkBuilder::new();
/// let x = builder.add_input_layer("x", TensorInfo::new(DataType::Float32, [2, 3]))?;
/// let y = builder.add_input_layer("y", TensorInfo::new(DataType::Float32, [3]))?;
/// let sum = builder.add_addition_layer(x, y, "sum")?;
/// builder.add_output_layer("sum", sum)?;
/// let network = builder.finish()?;
/// assert_eq!(network.tensor(sum).info.shape.dims(), [2, 3]);
/// # Ok::<(), armnn_network::NetworkError>(())
/// ```
#[derive(Debug, Default)]
#[doc(alias = "INetwork")]
pub struct NetworkBuilder {
    pub(crate) network: Network,
    layer_names: HashSet<String>,
    input_names: HashSet<String>,
    output_names: HashSet<String>,
    /// For each tensor, whether a layer or an output of the network reads it.
    read: Vec<bool>,
    /// What is known of values that layers compute.
    values: HashMap<TensorId, KnownValue>,
}

impl NetworkBuilder {
    /// A builder of an empty network.
    #[doc(alias = "Create")]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an input of the network; dimensions may be unknown.
    ///
    /// An empty name becomes `Input:` and a number; one that is taken gets a number appended.
    ///
    /// # Errors
    /// When the type is not known, is quantized without a scale, or too large.
    pub fn add_input_layer(&mut self, name: &str, info: TensorInfo) -> Result<TensorId> {
        check_info(&info).map_err(|problem| NetworkError::tensor(name, &info, problem))?;
        self.room_for(1, 0)?;
        let name = unique(
            &mut self.input_names,
            name,
            "Input",
            self.network.inputs.len(),
        );
        let id = self.push_tensor(name, info, TensorSource::Input);
        self.network.inputs.push(id);
        Ok(id)
    }

    /// Adds a constant: its elements, dense, row-major and little-endian.
    ///
    /// # Errors
    /// As for an input, and when a dimension is unknown or the data has another length than type
    /// and shape say.
    pub fn add_constant_layer(
        &mut self,
        name: &str,
        info: TensorInfo,
        data: Bytes,
    ) -> Result<TensorId> {
        check_info(&info)
            .and_then(|()| {
                let expected = match info.shape.is_known() {
                    true => info.byte_len().ok_or(TensorProblem::TooLarge)?,
                    false => return Err(TensorProblem::UnknownShape),
                };
                let found = data.len();
                match found == expected {
                    true => Ok(()),
                    false => Err(TensorProblem::ByteLen { expected, found }),
                }
            })
            .map_err(|problem| NetworkError::tensor(name, &info, problem))?;
        self.room_for(1, 0)?;
        Ok(self.push_tensor(name.to_owned(), info, TensorSource::Constant(data)))
    }

    /// Makes a tensor an output of the network.
    ///
    /// The name, which applications ask for, may differ from the tensor's. An empty one becomes
    /// `Output:` and a number; one that is taken gets a number appended.
    ///
    /// # Errors
    /// When there is no such tensor, or its quantization has not been declared.
    pub fn add_output_layer(&mut self, name: &str, tensor: TensorId) -> Result<()> {
        let source = self.known_tensor(tensor, || format!("output '{}'", shown(name)))?;
        check_info(&source.info)
            .map_err(|problem| NetworkError::tensor(&source.name, &source.info, problem))?;
        let number = self.network.outputs.len();
        let name = unique(&mut self.output_names, name, "Output", number);
        self.network.outputs.push(NetworkOutput { name, tensor });
        self.mark_read(tensor);
        Ok(())
    }

    /// Adds a layer of any type. All other methods that add layers rest on this one.
    ///
    /// `outputs` says what the caller knows of the outputs, in order; an entry that says nothing
    /// may be left out at the end. What it says must agree with what is inferred, and completes
    /// it where inference does not know: the target shape of a Reshape, the rows and columns of a
    /// Resize, the parts of a Split (one entry each), the data type of a Cast, Quantize or
    /// Dequantize, the outputs of a StandIn, and the quantization of quantized outputs, which may
    /// also be declared afterwards with [`expect_output_info`](Self::expect_output_info).
    ///
    /// Returns the outputs. In the network, absent inputs at the end are left out.
    ///
    /// # Errors
    /// When the layer does not fit its inputs: their number, types, quantization, ranks or sizes;
    /// when its descriptor is not valid; when an output is declared otherwise than it is, or
    /// something that must be declared is not.
    pub fn add_layer(
        &mut self,
        name: &str,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        outputs: &[OutputDeclaration],
    ) -> Result<Vec<TensorId>> {
        let descriptor = descriptor.into();
        let layer_type = descriptor.layer_type();
        let layer_name = self.name_in_messages(name, layer_type);
        let inputs = self.check_inputs(&layer_name, layer_type, inputs)?;

        let infos = self
            .infer(&descriptor, inputs, outputs)
            .map_err(|problem| self.layer_error(&layer_name, layer_type, inputs, problem))?;
        self.evaluate(&descriptor, inputs, &infos)
            .map(|values| {
                let first = self.network.tensors.len() as u32;
                self.values.extend((first..).map(TensorId).zip(values));
            })
            .unwrap_or_default();
        self.push_layer(
            name,
            Operation::Layer(descriptor),
            inputs,
            infos.into_iter().map(|info| (info, None)).collect(),
            outputs,
        )
    }

    /// Adds a layer that was checked. Each output has a type and shape, and perhaps is no tensor.
    fn push_layer(
        &mut self,
        name: &str,
        operation: Operation,
        inputs: &[Option<TensorId>],
        infos: Vec<(TensorInfo, Option<ValueType>)>,
        outputs: &[OutputDeclaration],
    ) -> Result<Vec<TensorId>> {
        self.room_for(infos.len(), 1)?;
        let number = self.network.layers.len();
        let layer_name = unique(&mut self.layer_names, name, operation.type_name(), number);
        // room_for has checked the number.
        let id = LayerId(number as u32);
        let single = infos.len() == 1;
        let mut ids = Vec::with_capacity(infos.len());
        for (index, (info, value_type)) in infos.into_iter().enumerate() {
            let declared = outputs.get(index).and_then(|o| o.name.clone());
            let name = declared.unwrap_or_else(|| match single {
                true => layer_name.clone(),
                false => format!("{layer_name}:{index}"),
            });
            let tensor = self.push_tensor(name, info, TensorSource::Layer(id));
            if let Some(pushed) = self.network.tensors.last_mut() {
                pushed.value_type = value_type;
            }
            ids.push(tensor);
        }
        for &input in inputs.iter().flatten() {
            self.mark_read(input);
        }
        self.network.layers.push(Layer {
            name: layer_name,
            operation,
            inputs: inputs.to_vec(),
            outputs: ids.clone(),
            backend_hint: None,
        });
        Ok(ids)
    }

    /// The values of a layer's outputs, as far as they follow from values that are known.
    fn evaluate(
        &self,
        descriptor: &LayerDescriptor,
        inputs: &[Option<TensorId>],
        infos: &[TensorInfo],
    ) -> Option<Vec<KnownValue>> {
        // Most layers are not in question; nothing is decoded for those.
        let may_be_known = |id: &TensorId| {
            self.values.contains_key(id)
                || self
                    .tensor(*id)
                    .is_some_and(|t| t.constant().is_some_and(|b| b.len() < 1 << 15))
        };
        if !is_evaluated(descriptor) || !inputs.iter().flatten().all(may_be_known) {
            return None;
        }
        let known: Vec<Option<KnownValue>> =
            inputs.iter().map(|id| self.known_value((*id)?)).collect();
        let known: Vec<Option<&KnownValue>> = known.iter().map(Option::as_ref).collect();
        let outputs: Vec<(DataType, Shape)> = infos
            .iter()
            .map(|info| (info.data_type, info.shape))
            .collect();
        evaluate(descriptor, &known, &outputs)
    }

    /// What is known of the value of a tensor before anything is executed: of a small constant, of a
    /// shape, and of what is computed from those.
    pub fn known_value(&self, id: TensorId) -> Option<KnownValue> {
        if let Some(value) = self.values.get(&id) {
            return Some(value.clone());
        }
        let tensor = self.tensor(id)?;
        KnownValue::from_bytes(&tensor.info, tensor.constant()?)
    }

    /// Declares what a model says of a layer's output, directly after adding the layer.
    ///
    /// The data type must be the inferred one, and the shapes must not contradict each other;
    /// what the declaration knows of them is adopted. So is the quantization, which for most
    /// quantized layers can come from nowhere else; it replaces the one a layer that only moves
    /// elements takes over from its input.
    ///
    /// For inputs of the network and constants the declaration must be equal to what they have
    /// already, as far as both know.
    ///
    /// # Errors
    /// When there is no such tensor, the declaration contradicts it or is not valid, or when it
    /// would change a tensor that was read already.
    #[doc(alias = "SetTensorInfo")]
    pub fn expect_output_info(&mut self, tensor: TensorId, declared: &TensorInfo) -> Result<()> {
        let found = self.known_tensor(tensor, || "expect_output_info".to_owned())?;
        let mut info = found.info.clone();
        let problem = match merge(&info.shape, &declared.shape) {
            Some(shape) if info.data_type == declared.data_type => {
                info.shape = shape;
                if !declared.quantization.is_none() {
                    info.quantization = declared.quantization.clone();
                }
                if info == found.info {
                    return Ok(());
                }
                match check_info_but_missing_quantization(&info, Some(&found.info)) {
                    Ok(()) if self.read.get(tensor.index()) == Some(&true) => {
                        LayerProblem::LateDeclaration {
                            output: "the output".to_owned(),
                        }
                    }
                    Ok(()) if found.producer().is_some() => {
                        if let Some(tensor) = self.network.tensors.get_mut(tensor.index()) {
                            tensor.info = info;
                        }
                        return Ok(());
                    }
                    Ok(()) => declaration_problem(declared, &found.info),
                    Err(problem) => LayerProblem::Output {
                        output: "the output".to_owned(),
                        info: info.to_string(),
                        problem,
                    },
                }
            }
            _ => declaration_problem(declared, &found.info),
        };
        Err(self.declaration_error(found, problem))
    }

    /// Suggests a backend for a layer. The optimizer prefers it where the backend is there and
    /// supports the layer.
    ///
    /// # Errors
    /// When there is no such layer, or the text cannot be the id of a backend.
    #[doc(alias = "BackendSelectionHint")]
    pub fn set_backend_hint(&mut self, layer: LayerId, backend: &str) -> Result<()> {
        let count = self.network.layers.len();
        let found = self.network.layers.get_mut(layer.index());
        let found = found.ok_or(NetworkError::UnknownLayer { layer, count })?;
        BackendId::new(backend).map_err(|problem| NetworkError::BackendHint {
            layer: found.name.clone(),
            problem,
        })?;
        found.backend_hint = Some(backend.to_owned());
        Ok(())
    }

    /// A tensor added so far.
    pub fn tensor(&self, id: TensorId) -> Option<&Tensor> {
        self.network.tensors.get(id.index())
    }

    /// The layer that produces a tensor.
    pub fn producer(&self, id: TensorId) -> Option<LayerId> {
        self.tensor(id)?.producer()
    }

    /// The network.
    ///
    /// # Errors
    /// When it has no outputs, or a quantized tensor whose quantization was never declared, or when the
    /// first value of a variable is no output of the initializer, or one of another type.
    pub fn finish(self) -> Result<Network> {
        if self.network.outputs.is_empty() {
            return Err(NetworkError::NoOutputs);
        }
        for tensor in &self.network.tensors {
            if tensor.value_type.is_none() && is_undeclared(&tensor.info) {
                let problem = TensorProblem::MissingQuantization;
                return Err(NetworkError::tensor(&tensor.name, &tensor.info, problem));
            }
        }
        self.check_first_values()?;
        Ok(self.network)
    }

    fn known_tensor(&self, tensor: TensorId, what: impl Fn() -> String) -> Result<&Tensor> {
        self.tensor(tensor)
            .ok_or_else(|| NetworkError::UnknownTensor {
                what: what(),
                tensor,
                count: self.network.tensors.len(),
            })
    }

    /// Checks that indices reach for so many more.
    fn room_for(&self, tensors: usize, layers: usize) -> Result<()> {
        // The largest index stands for "none".
        let limit = u32::MAX as usize;
        for (what, count) in [
            ("tensors", self.network.tensors.len().checked_add(tensors)),
            ("layers", self.network.layers.len().checked_add(layers)),
        ] {
            if count.is_none_or(|count| count > limit) {
                return Err(NetworkError::TooMany { what, limit });
            }
        }
        Ok(())
    }

    fn push_tensor(&mut self, name: String, info: TensorInfo, source: TensorSource) -> TensorId {
        // room_for has checked the number.
        let id = TensorId(self.network.tensors.len() as u32);
        self.network.tensors.push(Tensor {
            name,
            info,
            source,
            value_type: None,
        });
        self.read.push(false);
        id
    }

    fn mark_read(&mut self, tensor: TensorId) {
        if let Some(read) = self.read.get_mut(tensor.index()) {
            *read = true;
        }
    }
}

/// A name that is not in use yet: `name`, or `kind:number` if it is empty. A number is appended if
/// that is taken.
fn unique(
    taken: &mut HashSet<String>,
    name: &str,
    kind: impl std::fmt::Display,
    number: usize,
) -> String {
    let mut unique = match name {
        "" => format!("{kind}:{number}"),
        name => name.to_owned(),
    };
    if taken.contains(&unique) {
        let base = format!("{unique}:{number}");
        unique.clone_from(&base);
        // Ends: each round tries another name, and finitely many are taken. Over a whole network
        // the rounds are linear, because no two layers share a base.
        for suffix in 1u64.. {
            if !taken.contains(&unique) {
                break;
            }
            unique = format!("{base}:{suffix}");
        }
    }
    taken.insert(unique.clone());
    unique
}
