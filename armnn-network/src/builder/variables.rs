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
    /// When there is no such variable or tensor, or the tensor's type or shape is another than the
    /// variable's.
    pub fn assign_variable(&mut self, name: &str, tensor: TensorId) -> Result<()> {
        let value = self
            .known_tensor(tensor, || format!("variable '{name}'"))?
            .info
            .clone();
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
        if value.data_type != held.data_type || !value.shape.accepts(&held.shape) {
            return Err(problem(format!("it holds {held}, and is assigned {value}")));
        }
        self.network.variables[index].output = Some(tensor);
        self.mark_read(tensor);
        Ok(())
    }

    /// Sets what computes the first values of variables: a network without inputs.
    ///
    /// # Errors
    /// When it has inputs.
    pub fn set_initializer(&mut self, initializer: Arc<Network>) -> Result<()> {
        if !initializer.inputs().is_empty() {
            return Err(NetworkError::Variable {
                variable: String::new(),
                problem: "the network that initializes variables has inputs".to_owned(),
            });
        }
        self.network.initializer = Some(initializer);
        Ok(())
    }
}
