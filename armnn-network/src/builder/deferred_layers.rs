//! Layers whose descriptors follow from tensors.

use armnn_backend_api::{DataType, LayerType, Shape, TensorInfo};

use super::layer_checks::{check_arity, is_undeclared};
use super::{NetworkBuilder, OutputDeclaration};
use crate::error::{LayerProblem, NetworkError, input_list};
use crate::inference::{input_name, merge, shape_value};
use crate::parameter_rules::{Parameter, Resolved};
use crate::tensor_rules::check_info_but_missing_quantization;
use crate::type_rules::output_types;
use crate::{Deferred, Operation, ParameterRule, Result, TensorId};

/// Layers whose descriptors follow from tensors.
impl NetworkBuilder {
    /// Adds a layer whose descriptor follows from the values of `parameters` by a rule.
    ///
    /// Where the values are known by now, because they are constants or follow from known shapes,
    /// the layer is one like any other, and does not read the parameters. Else they are evaluated
    /// when a plan is made for given input shapes, or the network is executed up to them first.
    ///
    /// `outputs` says what the caller knows of the outputs, as in [`add_layer`](Self::add_layer).
    ///
    /// # Errors
    /// As [`add_layer`](Self::add_layer), and when a parameter makes no sense for the inputs, or its
    /// length, from which the rank of the output follows, is not known.
    pub fn add_deferred_layer(
        &mut self,
        name: &str,
        rule: ParameterRule,
        inputs: &[Option<TensorId>],
        parameters: &[Option<TensorId>],
        outputs: &[OutputDeclaration],
    ) -> Result<Vec<TensorId>> {
        let layer_type = rule.layer_type();
        let layer_name = self.name_in_messages(name, layer_type);
        let all: Vec<Option<TensorId>> = inputs.iter().chain(parameters).copied().collect();
        self.check_inputs(&layer_name, layer_type, &all)?;
        let resolved = self
            .check_tensors(layer_type, &all)
            .and_then(|()| self.resolve(&rule, inputs, parameters))
            .and_then(|resolved| {
                check_counts(&resolved, inputs, outputs.len())?;
                Ok(resolved)
            })
            .map_err(|problem| self.layer_error(&layer_name, layer_type, &all, problem))?;
        // Where the rule says more of the output than inference would find, it must not be outvoted.
        let contradicts = resolved.outputs.iter().zip(outputs).any(|(shape, said)| {
            let said = said.shape.as_ref();
            said.is_some_and(|said| merge(shape, said).is_none())
        });
        if resolved.complete && !contradicts {
            let declared: Vec<OutputDeclaration> = resolved
                .outputs
                .iter()
                .enumerate()
                .map(|(index, &shape)| {
                    let declared = outputs.get(index).cloned().unwrap_or_default();
                    let merged = declared.shape.and_then(|other| merge(&shape, &other));
                    OutputDeclaration {
                        shape: merged.or(Some(shape)),
                        ..declared
                    }
                })
                .collect();
            return self.add_layer(name, resolved.descriptor, inputs, &declared);
        }
        let infos = self
            .infer_deferred(&resolved, inputs, outputs)
            .map_err(|problem| self.layer_error(&layer_name, layer_type, &all, problem))?;
        let present = all.iter().rposition(Option::is_some).map_or(0, |i| i + 1);
        let n_data = inputs.len();
        self.push_layer(
            name,
            Operation::Deferred(Deferred { rule, n_data }),
            &all[..present.max(n_data)],
            infos.into_iter().map(|info| (info, None)).collect(),
            outputs,
        )
    }

    /// Adds part of the shape of a tensor, from dimension `start` on and before `end`, as a tensor
    /// of one dimension, of Signed32 or Signed64.
    ///
    /// # Errors
    /// When the input is no tensor of elements, there are no such dimensions, or the data type is
    /// another.
    #[doc(alias = "AddShapeLayer")]
    pub fn add_shape_layer(
        &mut self,
        input: TensorId,
        start: usize,
        end: usize,
        data_type: DataType,
        name: &str,
    ) -> Result<TensorId> {
        let tensor = self.known_tensor(input, || format!("layer '{name}' (Shape)"))?;
        let (shape, value_type) = (tensor.info.shape, tensor.value_type.clone());
        let error = |problem: LayerProblem| NetworkError::Operation {
            layer: name.to_owned(),
            operation: "Shape".to_owned(),
            inputs: input_list(std::iter::once(
                self.tensor(input)
                    .map(|t| (t.name.as_str(), t.info.data_type, t.info.shape)),
            )),
            problem: Box::new(problem),
        };
        if let Some(found) = value_type {
            return Err(error(LayerProblem::NoTensor {
                tensor: "the input".to_owned(),
                found: found.to_string(),
            }));
        }
        let problem = |field, value: String, rule: String| {
            error(LayerProblem::Descriptor { field, value, rule })
        };
        if !matches!(data_type, DataType::Signed32 | DataType::Signed64) {
            let rule = "Signed32 or Signed64".to_owned();
            return Err(problem("data type", data_type.to_string(), rule));
        }
        let value = (start <= end)
            .then(|| shape_value(&shape, start, end, data_type))
            .flatten()
            .ok_or_else(|| {
                let rule = format!("within the {} dimensions of the input", shape.rank());
                problem("dimensions", format!("{start} to {end}"), rule)
            })?;
        let operation = Operation::Shape {
            start,
            end,
            data_type,
        };
        let info = TensorInfo::new(data_type, value.shape);
        let ids = self.push_layer(name, operation, &[Some(input)], vec![(info, None)], &[])?;
        let id = ids.first().copied().unwrap_or(input);
        self.values.insert(id, value);
        Ok(id)
    }

    /// Checks that inputs and parameters are tensors whose quantization, if any, is known.
    fn check_tensors(
        &self,
        layer_type: LayerType,
        all: &[Option<TensorId>],
    ) -> Result<(), LayerProblem> {
        for (index, id) in all.iter().enumerate() {
            let Some(tensor) = id.and_then(|id| self.tensor(id)) else {
                continue;
            };
            if let Some(found) = &tensor.value_type {
                return Err(LayerProblem::NoTensor {
                    tensor: input_name(layer_type, index),
                    found: found.to_string(),
                });
            }
            if is_undeclared(&tensor.info) {
                return Err(LayerProblem::UndeclaredQuantization {
                    tensor: input_name(layer_type, index),
                });
            }
        }
        Ok(())
    }

    fn resolve(
        &self,
        rule: &ParameterRule,
        inputs: &[Option<TensorId>],
        parameters: &[Option<TensorId>],
    ) -> Result<Resolved, LayerProblem> {
        let data: Vec<Option<Shape>> = inputs
            .iter()
            .map(|id| Some(self.tensor((*id)?)?.info.shape))
            .collect();
        let parameters: Vec<Option<Parameter>> = parameters
            .iter()
            .map(|id| {
                let id = (*id)?;
                Some(Parameter {
                    shape: self.tensor(id)?.info.shape,
                    value: self.known_value(id),
                })
            })
            .collect();
        rule.resolve(&data, &parameters)
    }

    fn infer_deferred(
        &self,
        resolved: &Resolved,
        inputs: &[Option<TensorId>],
        outputs: &[OutputDeclaration],
    ) -> Result<Vec<TensorInfo>, LayerProblem> {
        let layer_type = resolved.descriptor.layer_type();
        let infos: Vec<Option<&TensorInfo>> = inputs
            .iter()
            .map(|id| self.tensor((*id)?).map(|t| &t.info))
            .collect();
        let declared: Vec<Option<DataType>> = (0..resolved.outputs.len())
            .map(|index| outputs.get(index)?.data_type)
            .collect();
        let types = output_types(&resolved.descriptor, &infos, &declared)?;
        let shapes = resolved.outputs.iter().zip(types).enumerate();
        shapes
            .map(|(index, (&shape, element))| {
                let inferred = TensorInfo {
                    data_type: element.data_type,
                    shape,
                    quantization: element.quantization,
                };
                let info = match outputs.get(index) {
                    Some(declaration) => declaration.complete(inferred, layer_type, index)?,
                    None => inferred,
                };
                let known = infos.first().copied().flatten();
                check_info_but_missing_quantization(&info, known).map_err(|problem| {
                    LayerProblem::Output {
                        output: crate::inference::output_name(layer_type, index),
                        info: info.to_string(),
                        problem,
                    }
                })?;
                Ok(info)
            })
            .collect()
    }
}

/// Checks the numbers of inputs and outputs.
fn check_counts(
    resolved: &Resolved,
    inputs: &[Option<TensorId>],
    declared: usize,
) -> Result<(), LayerProblem> {
    let present = inputs.iter().rposition(Option::is_some);
    let inputs = &inputs[..present.map_or(0, |last| last + 1)];
    let outputs = resolved.outputs.len();
    if declared > outputs {
        return Err(LayerProblem::OutputCount {
            least: outputs,
            most: outputs,
            found: declared,
        });
    }
    check_arity(resolved.descriptor.layer_type(), inputs, outputs).map(|_| ())
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::ConcatDescriptor;

    use super::*;
    use crate::{Network, infer};

    /// Flattens x to [batch, rest], the batch taken from its shape.
    fn flattening(dims: [i64; 3]) -> Network {
        let mut builder = NetworkBuilder::new();
        let x = TensorInfo::new(DataType::Float32, dims);
        let x = builder.add_input_layer("x", x).unwrap();
        let batch = builder
            .add_shape_layer(x, 0, 1, DataType::Signed64, "batch")
            .unwrap();
        let rest = TensorInfo::new(DataType::Signed64, [1]);
        let minus_one = (-1i64).to_le_bytes().to_vec().into();
        let rest = builder.add_constant_layer("rest", rest, minus_one).unwrap();
        let target = builder
            .add_concat_layer(ConcatDescriptor { axis: 0 }, &[batch, rest], "target")
            .unwrap();
        let rule = ParameterRule::Reshape { allow_zero: false };
        let y = builder
            .add_deferred_layer("y", rule, &[Some(x)], &[Some(target)], &[])
            .unwrap();
        builder.add_output_layer("y", y[0]).unwrap();
        builder.finish().unwrap()
    }

    fn last(network: &Network) -> &crate::Layer {
        network.layers().last().unwrap()
    }

    #[test]
    fn a_layer_whose_parameters_are_known_is_one_like_any_other() {
        let network = flattening([2, 3, 4]);
        assert!(last(&network).descriptor().is_some());
        assert_eq!(last(&network).inputs.len(), 1);
        assert_eq!(network.tensors().last().unwrap().info.shape.dims(), [2, 12]);
    }

    #[test]
    fn parameters_are_evaluated_for_given_input_shapes() {
        let network = flattening([-1, 3, 4]);
        let layer = last(&network);
        assert!(matches!(layer.operation, Operation::Deferred(_)));
        assert_eq!(layer.layer_type(), LayerType::Reshape);
        let y = layer.outputs[0];
        assert_eq!(network.tensor(y).info.shape.dims(), [-1, -1]);

        let inference = infer(&network, &[Shape::from([5, 3, 4])], &[]).unwrap();
        assert_eq!(inference.shapes[y.index()].dims(), [5, 12]);
        let target = inference.values[&layer.inputs[1].unwrap()].clone();
        assert_eq!(target.as_integers(), Some(&[Some(5), Some(-1)][..]));
    }
}
