//! The shapes of a whole network.

use std::collections::HashMap;

use armnn_backend_api::{DataType, LayerDescriptor, Shape, TensorInfo};

use super::{LayerShapes, merge, output_name, output_shapes};
use crate::error::{LayerProblem, NetworkError, Result, input_list, shown};
use crate::evaluation::{evaluate, is_evaluated};
use crate::parameter_rules::Parameter;
use crate::tensor_rules::{check_addressable, check_scale_count};
use crate::{KnownValue, Layer, LayerId, Network, Operation, TensorId, TensorSource};

/// What follows from the shapes of a network's inputs.
#[derive(Clone, Debug, Default)]
pub struct Inference {
    /// The shape of every tensor, in the order of [`Network::tensors`]. Dimensions are unknown only
    /// in outputs of layers that find them out when they are executed.
    pub shapes: Vec<Shape>,
    /// Values of tensors that are computed from shapes, from constants and from the values of inputs
    /// that were given, as far as a layer's parameters or a Shape depend on them.
    pub values: HashMap<TensorId, KnownValue>,
    /// The descriptors of [deferred](crate::Deferred) layers.
    pub descriptors: HashMap<LayerId, LayerDescriptor>,
}

/// The shape of every tensor of a network for these shapes of its inputs, in the order of
/// [`Network::tensors`]; as [`infer`] without values of inputs.
///
/// # Errors
/// As [`infer`].
pub fn infer_shapes(network: &Network, inputs: &[Shape]) -> Result<Vec<Shape>> {
    infer(network, inputs, &[]).map(|inference| inference.shapes)
}

/// What follows from the shapes of a network's inputs, and from the values of some: runs shape
/// inference once for each layer, with all its checks, and evaluates what parameters of layers
/// depend on.
///
/// `values` are of the inputs, in order; inputs beyond its end have none.
///
/// # Errors
/// When the number of shapes is not that of the inputs, a shape has unknown dimensions or is not
/// one that the input was declared to take, dimensions of one name differ, a layer does not fit its inputs, an output is not what
/// the network declares, a dimension does not follow from the input shapes, or a parameter of a
/// layer cannot be evaluated.
pub fn infer(
    network: &Network,
    inputs: &[Shape],
    values: &[Option<KnownValue>],
) -> Result<Inference> {
    if inputs.len() != network.inputs().len() {
        return Err(NetworkError::InputShapeCount {
            expected: network.inputs().len(),
            found: inputs.len(),
        });
    }
    let mut inference = Inference {
        shapes: network.tensors().iter().map(|t| t.info.shape).collect(),
        ..Inference::default()
    };
    for (index, (&id, &shape)) in network.inputs().iter().zip(inputs).enumerate() {
        network.check_input_shape(index, shape)?;
        inference.shapes[id.index()] = shape;
        if let Some(Some(value)) = values.get(index) {
            inference.values.insert(id, value.clone());
        }
    }
    network.check_named_dimensions(inputs)?;
    let wanted = wanted_values(network);
    for (index, layer) in network.layers().iter().enumerate() {
        infer_layer(
            network,
            LayerId(index as u32),
            wanted.as_deref(),
            &mut inference,
        )
        .map_err(|problem| layer_error(network, layer, &inference.shapes, problem))?;
    }
    for (tensor, shape) in network.tensors().iter().zip(&inference.shapes) {
        let info = &tensor.info;
        // Those of layers and constants have been checked before.
        if matches!(tensor.source, TensorSource::Input) || !info.shape.is_known() {
            check_addressable(info.data_type, shape)
                .and_then(|()| check_scale_count(&info.quantization, shape))
                .map_err(|problem| {
                    let shape = *shape;
                    NetworkError::tensor(
                        &tensor.name,
                        &TensorInfo {
                            shape,
                            ..info.clone()
                        },
                        problem,
                    )
                })?;
        }
    }
    Ok(inference)
}

impl Network {
    /// Checks that an input takes a shape.
    ///
    /// # Errors
    /// When the shape has unknown dimensions, is not one that the input was declared to take, or has
    /// not as many scales as its quantization.
    ///
    /// # Panics
    /// When there is no such input.
    pub fn check_input_shape(&self, input: usize, shape: Shape) -> Result<()> {
        let tensor = self.tensor(self.inputs[input]);
        if !shape.is_known() {
            return Err(NetworkError::InputShapeUnknown {
                input: tensor.name.clone(),
                found: Box::new(shape),
            });
        }
        if !tensor.info.shape.accepts(&shape) {
            return Err(NetworkError::InputShape {
                input: tensor.name.clone(),
                declared: self.input_shape_text(input),
                found: Box::new(shape),
            });
        }
        check_scale_count(&tensor.info.quantization, &shape).map_err(|problem| {
            let info = TensorInfo {
                shape,
                ..tensor.info.clone()
            };
            NetworkError::tensor(&tensor.name, &info, problem)
        })
    }

    /// Whether parameters of layers follow from tensors, or shapes are tensors.
    pub fn computes_with_shapes(&self) -> bool {
        let mut layers = self.layers.iter();
        layers.any(|l| {
            matches!(
                l.operation,
                Operation::Deferred(_) | Operation::Shape { .. }
            )
        })
    }

    /// For each layer, whether shape inference evaluates it, so that no backend executes it: shapes
    /// as tensors, what is computed from those and small constants alone, and what only parameters
    /// of layers depend on.
    pub fn evaluated_layers(&self) -> Vec<bool> {
        let mut evaluated = vec![false; self.layers.len()];
        if !self.computes_with_shapes() {
            return evaluated;
        }
        let small = |id: TensorId| {
            let info = &self.tensor(id).info;
            let count = info.shape.num_elements();
            KnownValue::holds(info.data_type)
                && count.is_some_and(|count| count <= KnownValue::MOST_ELEMENTS as u64)
        };
        for (index, layer) in self.layers.iter().enumerate() {
            let follows = |id: TensorId| match self.tensor(id).source {
                TensorSource::Constant(_) => small(id),
                TensorSource::Layer(producer) => evaluated[producer.index()],
                TensorSource::Input => false,
            };
            evaluated[index] = match &layer.operation {
                Operation::Shape { .. } => true,
                Operation::Layer(descriptor) => {
                    is_evaluated(descriptor)
                        && layer.present_inputs().all(follows)
                        && layer
                            .present_inputs()
                            .any(|id| self.tensor(id).constant().is_none())
                        && layer.outputs.iter().all(|&id| small(id))
                }
                Operation::Deferred(_) | Operation::Runtime(_) => false,
            };
        }
        // What nothing but parameters depends on.
        let mut used = vec![false; self.tensors.len()];
        let outputs = self.outputs.iter().map(|output| output.tensor);
        let assigned = self.variables.iter().filter_map(|variable| variable.output);
        for id in outputs.chain(assigned) {
            used[id.index()] = true;
        }
        let mut read = vec![false; self.tensors.len()];
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let mut outputs = layer.outputs.iter();
            if matches!(layer.operation, Operation::Layer(_))
                && !outputs.clone().any(|id| used[id.index()])
                && outputs.any(|id| read[id.index()])
            {
                evaluated[index] = true;
            }
            let n_data = match &layer.operation {
                Operation::Deferred(deferred) => deferred.n_data,
                _ if evaluated[index] => 0,
                _ => layer.inputs.len(),
            };
            for (position, id) in layer.inputs.iter().enumerate() {
                if let Some(id) = id {
                    read[id.index()] = true;
                    used[id.index()] |= position < n_data;
                }
            }
        }
        evaluated
    }

    /// Descriptors of deferred layers that hold what is known of their parameters so far, and
    /// elsewhere what any layer of the type may have; for asking backends about them.
    pub fn provisional_descriptors(&self) -> HashMap<LayerId, LayerDescriptor> {
        let mut descriptors = HashMap::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let Operation::Deferred(deferred) = &layer.operation else {
                continue;
            };
            let shapes: Vec<Option<Shape>> = layer
                .inputs
                .iter()
                .map(|id| Some(self.tensor((*id)?).info.shape))
                .collect();
            let (data, shapes) = shapes.split_at(deferred.n_data.min(shapes.len()));
            let parameters: Vec<Option<Parameter>> = shapes
                .iter()
                .zip(layer.inputs.iter().skip(deferred.n_data))
                .map(|(shape, id)| {
                    let tensor = self.tensor((*id)?);
                    Some(Parameter {
                        shape: (*shape)?,
                        value: tensor
                            .constant()
                            .and_then(|bytes| KnownValue::from_bytes(&tensor.info, bytes)),
                    })
                })
                .collect();
            // It did when the layer was added.
            if let Ok(resolved) = deferred.rule.resolve(data, &parameters) {
                descriptors.insert(LayerId(index as u32), resolved.descriptor);
            }
        }
        descriptors
    }
}

/// Which tensors' values matter: parameters, shapes, and what those are computed from. `None` if
/// there are none, as in most networks.
fn wanted_values(network: &Network) -> Option<Vec<bool>> {
    if !network.computes_with_shapes() {
        return None;
    }
    let mut wanted = vec![false; network.tensors().len()];
    for (layer, evaluated) in network.layers().iter().zip(network.evaluated_layers()) {
        if evaluated {
            for id in &layer.outputs {
                wanted[id.index()] = true;
            }
        }
    }
    for layer in network.layers().iter().rev() {
        match &layer.operation {
            Operation::Deferred(deferred) => {
                // A parameter may depend on the layer, too.
                let is_wanted = layer.outputs.iter().any(|id| wanted[id.index()]);
                let first = if is_wanted { 0 } else { deferred.n_data };
                for id in layer.inputs.iter().skip(first).flatten() {
                    wanted[id.index()] = true;
                }
            }
            Operation::Layer(_) if layer.outputs.iter().any(|id| wanted[id.index()]) => {
                for id in layer.present_inputs() {
                    wanted[id.index()] = true;
                }
            }
            Operation::Layer(_) | Operation::Shape { .. } | Operation::Runtime(_) => {}
        }
    }
    Some(wanted)
}

/// The value of a tensor, if it is known by now.
fn value(network: &Network, inference: &Inference, id: TensorId) -> Option<KnownValue> {
    match inference.values.get(&id) {
        Some(value) => Some(value.clone()),
        None => {
            let tensor = network.tensors().get(id.index())?;
            KnownValue::from_bytes(&tensor.info, tensor.constant()?)
        }
    }
}

fn infer_layer(
    network: &Network,
    id: LayerId,
    wanted: Option<&[bool]>,
    inference: &mut Inference,
) -> Result<(), LayerProblem> {
    let layer = network.layer(id);
    let of = |shapes: &[Shape], id: TensorId| shapes.get(id.index()).copied();
    let shapes = &inference.shapes;
    let inputs: Vec<Option<Shape>> = layer.inputs.iter().map(|id| of(shapes, (*id)?)).collect();
    let mut declared: Vec<Option<Shape>> = layer.outputs.iter().map(|&id| of(shapes, id)).collect();
    let (descriptor, n_inputs) = match &layer.operation {
        Operation::Layer(descriptor) => (descriptor.clone(), inputs.len()),
        Operation::Deferred(deferred) => {
            let n_data = deferred.n_data.min(inputs.len());
            let (data, shapes) = inputs.split_at(n_data);
            let parameters: Vec<Option<Parameter>> = shapes
                .iter()
                .zip(&layer.inputs[n_data..])
                .map(|(shape, id)| {
                    Some(Parameter {
                        shape: (*shape)?,
                        value: value(network, inference, (*id)?),
                    })
                })
                .collect();
            let resolved = deferred.rule.resolve(data, &parameters)?;
            if !resolved.complete {
                return Err(LayerProblem::ParametersUnknown {
                    parameters: unknown_parameters(network, layer, n_data, inference),
                });
            }
            for (index, (declared, shape)) in declared.iter_mut().zip(&resolved.outputs).enumerate()
            {
                let merged = merge(&declared.unwrap_or(*shape), shape);
                *declared = Some(merged.ok_or_else(|| LayerProblem::Declaration {
                    output: output_name(layer.layer_type(), index),
                    declared: declared.map_or(String::new(), |shape| shape.to_string()),
                    inferred: shape.to_string(),
                })?);
            }
            inference
                .descriptors
                .insert(id, resolved.descriptor.clone());
            (resolved.descriptor, n_data)
        }
        Operation::Shape {
            start,
            end,
            data_type,
        } => {
            let input = inputs.first().copied().flatten();
            let input = input.ok_or(LayerProblem::MissingInput {
                input: "the input".to_owned(),
            })?;
            if let (Some(value), Some(&output)) = (
                shape_value(&input, *start, *end, *data_type),
                layer.outputs.first(),
            ) {
                inference.shapes[output.index()] = value.shape;
                inference.values.insert(output, value);
            }
            return Ok(());
        }
        // Outside of what is compiled.
        Operation::Runtime(_) => return Ok(()),
    };
    let inferred = output_shapes(
        &descriptor,
        &LayerShapes {
            inputs: &inputs[..n_inputs],
            declared: &declared,
        },
    )?;
    for (index, ((&id, declared), inferred)) in
        layer.outputs.iter().zip(declared).zip(inferred).enumerate()
    {
        let output = || output_name(layer.layer_type(), index);
        let declared = declared.unwrap_or(inferred);
        let shape = merge(&inferred, &declared).ok_or_else(|| LayerProblem::Declaration {
            output: output(),
            declared: declared.to_string(),
            inferred: inferred.to_string(),
        })?;
        if !shape.is_known() && !depends_on_data(&descriptor) {
            return Err(LayerProblem::Undetermined {
                output: output(),
                shape: Box::new(shape),
            });
        }
        inference.shapes[id.index()] = shape;
    }
    if let (Some(wanted), Some(&output)) = (wanted, layer.outputs.first())
        && wanted[output.index()]
    {
        evaluate_layer(network, layer, &descriptor, inference);
    }
    Ok(())
}

/// Notes the values of a layer's outputs, if they follow.
fn evaluate_layer(
    network: &Network,
    layer: &Layer,
    descriptor: &LayerDescriptor,
    inference: &mut Inference,
) {
    let values: Vec<Option<KnownValue>> = layer
        .inputs
        .iter()
        .map(|id| value(network, inference, (*id)?))
        .collect();
    let values: Vec<Option<&KnownValue>> = values.iter().map(Option::as_ref).collect();
    let outputs: Vec<(DataType, Shape)> = layer
        .outputs
        .iter()
        .map(|&id| {
            let data_type = network.tensor(id).info.data_type;
            (data_type, inference.shapes[id.index()])
        })
        .collect();
    if let Some(found) = evaluate(descriptor, &values, &outputs) {
        let known = layer.outputs.iter().copied().zip(found);
        inference
            .values
            .extend(known.filter(|(_, value)| value.is_complete()));
    }
}

/// Part of a shape as a tensor.
pub(crate) fn shape_value(
    shape: &Shape,
    start: usize,
    end: usize,
    data_type: DataType,
) -> Option<KnownValue> {
    let dims = shape.dims().get(start..end)?;
    let known = dims.iter().map(|&dim| (dim >= 0).then_some(dim));
    KnownValue::integers(data_type, known.collect())
}

/// Whether a layer finds out when it is executed how large its outputs are.
pub(crate) fn depends_on_data(descriptor: &LayerDescriptor) -> bool {
    matches!(descriptor, LayerDescriptor::StandIn(_))
        || descriptor.layer_type().output_shape_depends_on_data()
}

/// The names of parameters whose values are not known.
fn unknown_parameters(
    network: &Network,
    layer: &Layer,
    n_data: usize,
    inference: &Inference,
) -> String {
    let unknown = layer.inputs.iter().skip(n_data).flatten();
    let unknown = unknown
        .filter(|id| value(network, inference, **id).is_none_or(|value| !value.is_complete()));
    let names: Vec<String> = unknown
        .map(|&id| format!("'{}'", shown(&network.tensor(id).name)))
        .collect();
    names.join(", ")
}

fn layer_error(
    network: &Network,
    layer: &Layer,
    shapes: &[Shape],
    problem: LayerProblem,
) -> NetworkError {
    let inputs = layer.inputs.iter().map(|id| {
        let tensor = network.tensor((*id)?);
        let shape = shapes.get(id.as_ref()?.index())?;
        Some((tensor.name.as_str(), tensor.info.data_type, *shape))
    });
    NetworkError::Layer {
        layer: layer.name.clone(),
        layer_type: layer.layer_type(),
        inputs: input_list(inputs),
        problem: Box::new(problem),
    }
}
