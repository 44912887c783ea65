//! State that a network keeps between executions.

use std::sync::Arc;

use armnn_backend_api::TensorInfo;

use super::NetworkBuilder;
use crate::error::{NetworkError, Result};
use crate::tensor_rules::check_info;
use crate::{Network, TensorId, TensorSource, Variable, VariableValue};

/// State that a network keeps between executions.
impl NetworkBuilder {
    /// Adds a variable, and returns the tensor that reads what it holds before an execution.
    ///
    /// # Errors
    /// When its type is not valid, a dimension of it is unknown, the elements do not fit it, or there
    /// is a variable of the name.
    pub fn add_variable(
        &mut self,
        name: &str,
        info: TensorInfo,
        initial: VariableValue,
    ) -> Result<TensorId> {
        check_info(&info).map_err(|problem| NetworkError::tensor(name, &info, problem))?;
        let problem = |problem: String| NetworkError::Variable {
            variable: name.to_owned(),
            problem,
        };
        let Some(expected) = info.byte_len() else {
            return Err(problem(format!("its shape {} is not known", info.shape)));
        };
        if let VariableValue::Elements(elements) = &initial
            && elements.len() != expected
        {
            let found = elements.len();
            return Err(problem(format!("{info} has {expected} bytes, not {found}")));
        }
        if self.network.variables.iter().any(|v| v.name == name) {
            return Err(problem("there is one of this name already".to_owned()));
        }
        self.room_for(1, 0)?;
        let input = self.push_tensor(name.to_owned(), info, TensorSource::Input);
        self.network.variables.push(Variable {
            name: name.to_owned(),
            initial,
            input,
            output: None,
        });
        Ok(input)
    }

    /// Makes a tensor what a variable holds after an execution; a later call replaces an earlier one.
    ///
    /// # Errors
    /// When there is no such variable or tensor, the tensor is none of elements, or its type, shape or
    /// quantization is another than the variable's.
    pub fn assign_variable(&mut self, name: &str, tensor: TensorId) -> Result<()> {
        let value = self.known_tensor(tensor, || format!("variable '{name}'"))?;
        let value_type = value.value_type.clone();
        let value = value.info.clone();
        let problem = |problem: String| NetworkError::Variable {
            variable: name.to_owned(),
            problem,
        };
        let found = self.network.variables.iter().position(|v| v.name == name);
        let index = found.ok_or_else(|| problem("there is none of this name".to_owned()))?;
        let held = self
            .network
            .tensor(self.network.variables[index].input)
            .info
            .clone();
        if let Some(other) = value_type {
            return Err(problem(format!("it holds {held}, and is assigned {other}")));
        }
        if value.data_type != held.data_type || !value.shape.accepts(&held.shape) {
            return Err(problem(format!("it holds {held}, and is assigned {value}")));
        }
        if value.quantization != held.quantization {
            return Err(problem(format!(
                "it holds {held}, and is assigned {value} of another quantization"
            )));
        }
        self.network.variables[index].output = Some(tensor);
        self.mark_read(tensor);
        Ok(())
    }

    /// Sets what computes the first values of variables: a network without inputs.
    ///
    /// # Errors
    /// When it has inputs or variables, or bodies that are too deep or too large.
    pub fn set_initializer(&mut self, initializer: Arc<Network>) -> Result<()> {
        let problem = |problem: &str| NetworkError::Variable {
            variable: String::new(),
            problem: format!("the network that initializes variables has {problem}"),
        };
        if !initializer.inputs().is_empty() {
            return Err(problem("inputs"));
        }
        if !initializer.variables().is_empty() {
            return Err(problem("variables itself"));
        }
        let nested = self.network.nested.with(&initializer);
        self.network.nested = nested.ok_or_else(|| problem("too many bodies"))?;
        self.network.initializer = Some(initializer);
        Ok(())
    }

    /// Checks that the initializer computes the first values of the variables that have none.
    pub(super) fn check_first_values(&self) -> Result<()> {
        for variable in &self.network.variables {
            let VariableValue::Computed(index) = variable.initial else {
                continue;
            };
            let problem = |problem: String| NetworkError::Variable {
                variable: variable.name.clone(),
                problem,
            };
            let held = &self.network.tensor(variable.input).info;
            let initializer = self.network.initializer.as_ref();
            let output = initializer.and_then(|network| {
                let output = network.outputs().get(index)?;
                Some(network.tensor(output.tensor))
            });
            let output = output.ok_or_else(|| {
                problem(format!(
                    "its first value is output {index} of the initializer, which has none"
                ))
            })?;
            let fits = output.value_type.is_none()
                && output.info.data_type == held.data_type
                && output.info.shape.accepts(&held.shape)
                && output.info.quantization == held.quantization;
            if !fits {
                let found = match &output.value_type {
                    Some(other) => other.to_string(),
                    None => output.info.to_string(),
                };
                return Err(problem(format!(
                    "it holds {held}, and its first value is computed as {found}"
                )));
            }
        }
        Ok(())
    }
}
