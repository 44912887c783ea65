//! Checks of what is added, and the errors they give.

use armnn_backend_api::{DataType, LayerDescriptor, LayerType, Shape, TensorInfo};

use super::{NetworkBuilder, OutputDeclaration};
use crate::error::{LayerProblem, NetworkError, Result, input_list, shown};
use crate::inference::{LayerShapes, input_name, output_name, output_shapes};
use crate::tensor_rules::check_info_but_missing_quantization;
use crate::type_rules::output_types;
use crate::{Tensor, TensorId};

/// Checks of what is added.
impl NetworkBuilder {
    /// The types and shapes of a layer's outputs.
    pub(super) fn infer(
        &self,
        descriptor: &LayerDescriptor,
        inputs: &[Option<TensorId>],
        outputs: &[OutputDeclaration],
    ) -> Result<Vec<TensorInfo>, LayerProblem> {
        let layer_type = descriptor.layer_type();
        let n_outputs = check_arity(layer_type, inputs, outputs.len())?;
        let infos: Vec<Option<&TensorInfo>> = inputs
            .iter()
            .map(|id| self.tensor((*id)?).map(|t| &t.info))
            .collect();
        for (index, id) in inputs.iter().enumerate() {
            let value_type = id.and_then(|id| self.tensor(id)?.value_type.as_ref());
            if let Some(found) = value_type {
                return Err(LayerProblem::NoTensor {
                    tensor: input_name(layer_type, index),
                    found: found.to_string(),
                });
            }
        }
        for (index, info) in infos.iter().enumerate() {
            if info.is_some_and(is_undeclared) {
                return Err(LayerProblem::UndeclaredQuantization {
                    tensor: input_name(layer_type, index),
                });
            }
        }
        let shapes: Vec<Option<Shape>> = infos.iter().map(|i| i.map(|i| i.shape)).collect();
        let declared = |index: usize| outputs.get(index);
        let declared_shapes: Vec<Option<Shape>> =
            (0..n_outputs).map(|i| declared(i)?.shape).collect();
        let declared_types: Vec<Option<DataType>> =
            (0..n_outputs).map(|i| declared(i)?.data_type).collect();

        let inferred_shapes = output_shapes(
            descriptor,
            &LayerShapes {
                inputs: &shapes,
                declared: &declared_shapes,
            },
        )?;
        let types = output_types(descriptor, &infos, &declared_types)?;
        let mut result = Vec::with_capacity(n_outputs);
        for (index, (shape, element)) in inferred_shapes.into_iter().zip(types).enumerate() {
            let inferred = TensorInfo {
                data_type: element.data_type,
                shape,
                quantization: element.quantization,
            };
            let info = match declared(index) {
                Some(declaration) => declaration.complete(inferred, layer_type, index)?,
                None => inferred,
            };
            let known = infos.first().copied().flatten();
            check_info_but_missing_quantization(&info, known).map_err(|problem| {
                LayerProblem::Output {
                    output: output_name(layer_type, index),
                    info: info.to_string(),
                    problem,
                }
            })?;
            result.push(info);
        }
        Ok(result)
    }

    /// What messages call a layer.
    pub(super) fn name_in_messages(&self, name: &str, kind: impl std::fmt::Display) -> String {
        match name {
            "" => format!("{kind}:{}", self.network.layers.len()),
            name => name.to_owned(),
        }
    }

    /// The inputs, without absent ones at the end.
    pub(super) fn check_inputs<'i>(
        &self,
        layer_name: &str,
        kind: impl std::fmt::Display + Copy,
        inputs: &'i [Option<TensorId>],
    ) -> Result<&'i [Option<TensorId>]> {
        for &id in inputs.iter().flatten() {
            self.known_tensor(id, || format!("layer '{}' ({kind})", shown(layer_name)))?;
        }
        let present = inputs
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |i| i + 1);
        Ok(inputs.get(..present).unwrap_or_default())
    }

    pub(super) fn layer_error(
        &self,
        layer: &str,
        layer_type: LayerType,
        inputs: &[Option<TensorId>],
        problem: LayerProblem,
    ) -> NetworkError {
        let inputs = inputs.iter().map(|id| {
            let tensor = self.tensor((*id)?)?;
            Some((
                tensor.name.as_str(),
                tensor.info.data_type,
                tensor.info.shape,
            ))
        });
        NetworkError::Layer {
            layer: layer.to_owned(),
            layer_type,
            inputs: input_list(inputs),
            problem: Box::new(problem),
        }
    }

    /// The error of a declaration: about the layer, if there is one, else about the tensor.
    pub(super) fn declaration_error(&self, tensor: &Tensor, problem: LayerProblem) -> NetworkError {
        let layer = tensor
            .producer()
            .and_then(|id| self.network.layers.get(id.index()));
        match layer {
            Some(layer) => {
                self.layer_error(&layer.name, layer.layer_type(), &layer.inputs, problem)
            }
            None => NetworkError::Declaration {
                tensor: tensor.name.clone(),
                problem: Box::new(problem),
            },
        }
    }
}

/// Checks the numbers of inputs and outputs, and returns that of the outputs.
pub(super) fn check_arity(
    layer_type: LayerType,
    inputs: &[Option<TensorId>],
    declared: usize,
) -> Result<usize, LayerProblem> {
    let spec = layer_type.spec().ok_or(LayerProblem::UnknownLayerType)?;
    let stand_in = layer_type == LayerType::StandIn;
    let (least, most) = spec.output_arity();
    let outputs = if most == usize::MAX { declared } else { least };
    if outputs < least || declared > most {
        return Err(LayerProblem::OutputCount {
            least,
            most,
            found: declared,
        });
    }
    // Nothing is known of a StandIn's inputs: there may be none, and any may be absent.
    if stand_in {
        return Ok(outputs);
    }
    let (least, most) = spec.input_arity();
    if inputs.len() < least || inputs.len() > most {
        return Err(LayerProblem::InputCount {
            least,
            most,
            found: inputs.len(),
        });
    }
    for (index, input) in inputs.iter().enumerate() {
        if input.is_none() && !spec.is_optional(index) {
            return Err(LayerProblem::MissingInput {
                input: input_name(layer_type, index),
            });
        }
    }
    Ok(outputs)
}

pub(super) fn is_undeclared(info: &TensorInfo) -> bool {
    info.data_type.is_quantized() && info.quantization.is_none()
}

pub(super) fn declaration_problem(declared: &TensorInfo, inferred: &TensorInfo) -> LayerProblem {
    LayerProblem::Declaration {
        output: "the output".to_owned(),
        declared: declared.to_string(),
        inferred: inferred.to_string(),
    }
}
