//! Control flow, and what handles values that are no tensors.

use armnn_backend_api::{DataType, Shape, TensorInfo};

use super::NetworkBuilder;
use super::body_types::{if_outputs, loop_outputs, scan_outputs, while_outputs};
use super::sequence_types::sequence_outputs;
use super::string_types::string_outputs;
use super::value_types::{Checked, check_depth, count, fits, no_tensor};
use crate::error::{NetworkError, Result, input_list};
use crate::graph::Nested;
use crate::{Network, Operation, RuntimeOperation, TensorId, ValueType};

/// Control flow, and what handles values that are no tensors.
impl NetworkBuilder {
    /// Adds an operation of the runtime. The types of its outputs follow from its bodies, or from
    /// its inputs.
    ///
    /// # Errors
    /// When the inputs are not those that the operation takes: their number, or their types, as far
    /// as both sides know. When bodies are too deep inside of each other, or too large: see
    /// [`Network::MOST_NESTED`] and [`Network::MOST_NESTED_LAYERS`].
    pub fn add_runtime_layer(
        &mut self,
        name: &str,
        operation: RuntimeOperation,
        inputs: &[Option<TensorId>],
    ) -> Result<Vec<TensorId>> {
        let layer_name = self.name_in_messages(name, operation.name());
        self.check_inputs(&layer_name, operation.name(), inputs)?;
        let types: Vec<Option<ValueType>> =
            inputs.iter().map(|id| self.value_type((*id)?)).collect();
        let checked = output_types(&operation, &types).and_then(|outputs| {
            outputs.iter().try_for_each(check_depth)?;
            Ok((outputs, self.nested_with(&operation)?))
        });
        let (outputs, nested) = checked.map_err(|problem| {
            let inputs = inputs.iter().map(|id| {
                let tensor = self.tensor((*id)?)?;
                Some((
                    tensor.name.as_str(),
                    tensor.info.data_type,
                    tensor.info.shape,
                ))
            });
            NetworkError::Operation {
                layer: layer_name,
                operation: operation.name().to_owned(),
                inputs: input_list(inputs),
                problem: Box::new(problem),
            }
        })?;
        let infos = outputs.into_iter().map(|value_type| match value_type {
            ValueType::Tensor(info) => (info, None),
            other => (TensorInfo::new(DataType::UInt8, Shape::SCALAR), Some(other)),
        });
        let outputs = self.push_layer(
            name,
            Operation::Runtime(operation),
            inputs,
            infos.collect(),
            &[],
        )?;
        self.network.nested = nested;
        Ok(outputs)
    }

    /// What is nested in the network with the bodies of one more operation.
    fn nested_with(&self, operation: &RuntimeOperation) -> Checked<Nested> {
        let mut nested = self.network.nested;
        for (name, body) in operation.bodies() {
            nested = nested.with(body).ok_or_else(|| {
                let problem = format!(
                    "bodies may be {} deep inside of each other, and have {} layers in all",
                    Network::MOST_NESTED,
                    Network::MOST_NESTED_LAYERS
                );
                fits(name, problem)
            })?;
        }
        Ok(nested)
    }

    /// Adds an input of the network that is no tensor of elements.
    ///
    /// # Errors
    /// When there are too many inputs, or sequences and optionals are more than
    /// [`ValueType::MOST_NESTED`] deep inside of each other.
    pub fn add_value_input(&mut self, name: &str, value_type: ValueType) -> Result<TensorId> {
        match value_type {
            ValueType::Tensor(info) => self.add_input_layer(name, info),
            other => {
                check_depth(&other).map_err(|problem| NetworkError::Declaration {
                    tensor: name.to_owned(),
                    problem: Box::new(problem),
                })?;
                let info = TensorInfo::new(DataType::UInt8, Shape::SCALAR);
                let id = self.add_input_layer(name, info)?;
                if let Some(tensor) = self.network.tensors.get_mut(id.index()) {
                    tensor.value_type = Some(other);
                }
                Ok(id)
            }
        }
    }

    /// What a tensor is.
    pub fn value_type(&self, id: TensorId) -> Option<ValueType> {
        Some(self.tensor(id)?.value_type())
    }
}

/// The types of the outputs of an operation of the runtime.
fn output_types(
    operation: &RuntimeOperation,
    inputs: &[Option<ValueType>],
) -> Checked<Vec<ValueType>> {
    match operation {
        RuntimeOperation::If {
            then_body,
            else_body,
        } => if_outputs(then_body, else_body, inputs),
        RuntimeOperation::Loop(body) => loop_outputs(body, inputs),
        RuntimeOperation::While {
            condition,
            body,
            n_carried,
        } => while_outputs(condition, body, *n_carried, inputs),
        RuntimeOperation::Scan(body) => scan_outputs(body, inputs),
        RuntimeOperation::Sequence(operation) => sequence_outputs(operation, inputs),
        RuntimeOperation::Strings(operation) => string_outputs(operation, inputs),
        RuntimeOperation::Random(operation) => {
            let shape = match (inputs.first(), operation.shape) {
                (Some(Some(ValueType::Tensor(like))), _) => like.shape,
                (Some(other), _) => return Err(no_tensor("the input", other.as_ref())),
                (None, Some(shape)) => shape,
                (None, None) => return Err(count("operation", "inputs", 1, 0)),
            };
            operation
                .check()
                .map_err(|problem| fits("operation", problem))?;
            let info = TensorInfo::new(operation.data_type, shape);
            Ok(vec![ValueType::Tensor(info)])
        }
        RuntimeOperation::CountNgrams(counter) => {
            let shape = match inputs.first().and_then(Option::as_ref) {
                Some(ValueType::Strings(shape)) => *shape,
                Some(ValueType::Tensor(info)) => info.shape,
                other => return Err(no_tensor("the input", other)),
            };
            let width = i64::try_from(counter.width).unwrap_or(i64::MAX);
            let shape = match shape.dims() {
                [] | [_] => Shape::from([width]),
                &[rows, _] => Shape::from([rows, width]),
                _ => {
                    return Err(fits(
                        "input",
                        format!("a list or a matrix is needed, not {shape}"),
                    ));
                }
            };
            Ok(vec![ValueType::Tensor(TensorInfo::new(
                DataType::Float32,
                shape,
            ))])
        }
    }
}
