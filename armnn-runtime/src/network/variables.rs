//! What variables hold from one execution to the next.

use armnn_network::VariableValue;

use super::{
    graph::LoadedVariable,
    graph_state::{GraphState, Run, failed},
    loaded_network::LoadedModel,
};
use crate::{error::ExecuteError, tensor::HostTensor, value::Value};

/// Checks that a variable holds again what it is declared to hold.
pub(super) fn check_assigned(variable: &LoadedVariable, value: &Value) -> Result<(), ExecuteError> {
    if value.is_of_info(&variable.info) {
        return Ok(());
    }
    let (held, found) = (&variable.info, value.describe());
    Err(failed(
        &format!("variable '{}'", variable.name),
        format!("it holds {held}, and is assigned {found}"),
    ))
}

/// What the variables hold: where there is no value yet, the first one.
pub(super) fn current_variables(
    model: &LoadedModel,
    values: &[Option<Value>],
    run: &mut Run<'_>,
) -> Result<Vec<Value>, ExecuteError> {
    let graph = &model.graph;
    let mut new = graph.variables.iter().zip(values);
    let is_computed = |(variable, value): (&LoadedVariable, &Option<Value>)| {
        value.is_none() && matches!(variable.initial, VariableValue::Computed(_))
    };
    let computed = match &graph.initializer {
        Some(initializer) if new.any(is_computed) => {
            GraphState::new(initializer, run.memory).call(initializer, [], run)?
        }
        _ => Vec::new(),
    };
    let variables = graph.variables.iter().zip(values);
    let variables = variables.map(|(variable, value)| match value {
        Some(value) => Ok(value.clone()),
        None => first_value(variable, &computed),
    });
    variables.collect()
}

/// What a variable holds before the first execution; `computed` is what the initializer gave.
fn first_value(variable: &LoadedVariable, computed: &[Value]) -> Result<Value, ExecuteError> {
    let made = match &variable.initial {
        VariableValue::Zero => HostTensor::zeroed(variable.info.clone()).map(Value::from),
        VariableValue::Elements(bytes) => {
            HostTensor::from_bytes(variable.info.clone(), bytes).map(Value::from)
        }
        VariableValue::Computed(index) => {
            let value = computed.get(*index).cloned().ok_or_else(|| {
                let problem = "nothing computes its first value";
                failed(&format!("variable '{}'", variable.name), problem)
            })?;
            check_assigned(variable, &value)?;
            return Ok(value);
        }
    };
    made.map_err(|e| failed(&format!("variable '{}'", variable.name), e.to_string()))
}
