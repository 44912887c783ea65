//! The shapes of a whole network.

use armnn_backend_api::{Shape, TensorInfo};

use super::{LayerShapes, merge, output_name, output_shapes};
use crate::error::{LayerProblem, NetworkError, Result, input_list};
use crate::tensor_rules::{check_addressable, check_scale_count};
use crate::{Layer, Network, TensorId, TensorSource};

/// The shape of every tensor of a network for these shapes of its inputs, in the order of
/// [`Network::tensors`]. Every dimension of the result is known.
///
/// Runs shape inference once for each layer, with all its checks.
///
/// # Errors
/// When the number of shapes is not that of the inputs, a shape has unknown dimensions or is not
/// one that the input was declared to take, a layer does not fit its inputs, an output is not what
/// the network declares, or a dimension does not follow from the input shapes.
pub fn infer_shapes(network: &Network, inputs: &[Shape]) -> Result<Vec<Shape>> {
    if inputs.len() != network.inputs().len() {
        return Err(NetworkError::InputShapeCount {
            expected: network.inputs().len(),
            found: inputs.len(),
        });
    }
    let mut shapes: Vec<Shape> = network.tensors().iter().map(|t| t.info.shape).collect();
    for (&id, &shape) in network.inputs().iter().zip(inputs) {
        let tensor = network.tensor(id);
        if !shape.is_known() {
            return Err(NetworkError::InputShapeUnknown {
                input: tensor.name.clone(),
                found: Box::new(shape),
            });
        }
        if !tensor.info.shape.accepts(&shape) {
            return Err(NetworkError::InputShape {
                input: tensor.name.clone(),
                declared: Box::new(tensor.info.shape),
                found: Box::new(shape),
            });
        }
        shapes[id.index()] = shape;
    }
    for layer in network.layers() {
        infer_layer(layer, &mut shapes)
            .map_err(|problem| layer_error(network, layer, &shapes, problem))?;
    }
    for (tensor, shape) in network.tensors().iter().zip(&shapes) {
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
    Ok(shapes)
}

fn infer_layer(layer: &Layer, shapes: &mut [Shape]) -> Result<(), LayerProblem> {
    let of = |id: TensorId| shapes.get(id.index()).copied();
    let inputs: Vec<Option<Shape>> = layer.inputs.iter().map(|id| of((*id)?)).collect();
    let declared: Vec<Option<Shape>> = layer.outputs.iter().map(|&id| of(id)).collect();
    let inferred = output_shapes(
        &layer.descriptor,
        &LayerShapes {
            inputs: &inputs,
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
        if !shape.is_known() {
            return Err(LayerProblem::Undetermined {
                output: output(),
                shape: Box::new(shape),
            });
        }
        shapes[id.index()] = shape;
    }
    Ok(())
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
