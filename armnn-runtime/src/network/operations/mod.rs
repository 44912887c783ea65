//! What the runtime does itself: control flow, and what handles values that are no tensors.

mod control_flow;
mod decimal;
mod ngrams;
mod random;
mod scan;
mod sequence;
mod strings;

use std::ops::Range;

use armnn_backend_api::{DataType, TensorInfo};
use armnn_network::RuntimeOperation;

pub(super) use random::Seeds;

use super::{
    graph::LoadedOperation,
    graph_state::{GraphState, Result, Run, failed},
};
use crate::{error::ExecuteError, tensor::HostTensor, value::Value};

/// Executes an operation: `bodies` are the states of its bodies.
pub(super) fn execute(
    operation: &LoadedOperation,
    bodies: &mut [GraphState],
    inputs: Vec<Option<Value>>,
    run: &mut Run<'_>,
) -> Result<Vec<Value>> {
    let layer = Layer { operation, inputs };
    match &operation.operation {
        RuntimeOperation::If { .. } => control_flow::execute_if(layer, bodies, run),
        RuntimeOperation::Loop(body) => control_flow::execute_loop(layer, body, bodies, run),
        RuntimeOperation::While { n_carried, .. } => {
            control_flow::execute_while(layer, *n_carried, bodies, run)
        }
        RuntimeOperation::Scan(body) => scan::execute(layer, body, bodies, run),
        RuntimeOperation::Sequence(operation) => {
            sequence::execute(&layer, operation, run.memory_limit).map(|value| vec![value])
        }
        RuntimeOperation::Strings(operation) => {
            strings::execute(&layer, operation, run.memory_limit)
        }
        RuntimeOperation::Random(operation) => random::execute(&layer, operation, run),
        RuntimeOperation::CountNgrams(counter) => {
            ngrams::execute(&layer, counter, run.memory_limit)
        }
        other => Err(layer.failed(format!("{} is not executed yet", other.name()))),
    }
}

/// An operation and its inputs.
struct Layer<'a> {
    operation: &'a LoadedOperation,
    inputs: Vec<Option<Value>>,
}

impl Layer<'_> {
    #[cold]
    fn failed(&self, problem: impl Into<String>) -> ExecuteError {
        failed(&self.operation.name, problem)
    }

    /// An error in a body tells where the body is.
    #[cold]
    fn failed_inside(&self, iteration: Option<u64>, mut error: ExecuteError) -> ExecuteError {
        let mut place = self.operation.name.clone();
        if let Some(iteration) = iteration {
            place = format!("{place}, iteration {iteration}");
        }
        match error.layers.first_mut() {
            Some(layer) => *layer = format!("{place}: {layer}"),
            None => error.layers.push(place),
        }
        error
    }

    fn optional(&self, index: usize) -> Option<&Value> {
        self.inputs.get(index).and_then(Option::as_ref)
    }

    fn input(&self, index: usize) -> Result<&Value> {
        self.optional(index)
            .ok_or_else(|| self.failed(format!("input {index} is missing")))
    }

    /// Takes the inputs of a range, all of which must be there.
    fn take(&mut self, range: Range<usize>) -> Result<Vec<Value>> {
        let mut taken = Vec::with_capacity(range.len());
        for index in range {
            let value = self.inputs.get_mut(index).and_then(Option::take);
            taken.push(value.ok_or_else(|| self.failed(format!("input {index} is missing")))?);
        }
        Ok(taken)
    }

    /// Takes the inputs from one on, all of which must be there.
    fn take_from(&mut self, first: usize) -> Result<Vec<Value>> {
        self.take(first..self.inputs.len().max(first))
    }

    fn tensor(&self, index: usize) -> Result<&HostTensor> {
        let value = self.input(index)?;
        value.as_tensor().ok_or_else(|| {
            self.failed(format!(
                "input {index} must be a tensor, and is {}",
                value.describe()
            ))
        })
    }

    fn sequence(&self, index: usize) -> Result<&[Value]> {
        let value = self.input(index)?;
        value.as_sequence().ok_or_else(|| {
            self.failed(format!(
                "input {index} must be a sequence, and is {}",
                value.describe()
            ))
        })
    }

    /// An integer of one element.
    fn integer(&self, index: usize) -> Result<i64> {
        let tensor = self.tensor(index)?;
        integers(tensor)
            .and_then(|values| match values[..] {
                [value] => Some(value),
                _ => None,
            })
            .ok_or_else(|| {
                self.failed(format!(
                    "input {index} must be one integer, and is {}",
                    tensor.info()
                ))
            })
    }

    /// A condition: whether the only element is not 0.
    fn condition(&self, value: &Value) -> Result<bool> {
        match value.as_tensor() {
            Some(tensor) if tensor.info().data_type == DataType::Boolean => match tensor.bytes() {
                [byte] => Ok(*byte != 0),
                _ => Err(self.failed(format!(
                    "the condition must be one element, and is {}",
                    tensor.info()
                ))),
            },
            _ => Err(self.failed(format!(
                "the condition must be Boolean, and is {}",
                value.describe()
            ))),
        }
    }

    /// Checks that a tensor is not larger than what the tensors of a state may take.
    fn check_limit(&self, info: &TensorInfo, memory_limit: u64) -> Result<()> {
        match info.byte_len() {
            Some(len) if len as u64 <= memory_limit => Ok(()),
            _ => Err(self.failed(format!(
                "{info} is larger than the memory limit of {memory_limit} bytes"
            ))),
        }
    }

    fn new_tensor(&self, info: TensorInfo) -> Result<HostTensor> {
        HostTensor::zeroed(info).map_err(|e| self.failed(e.to_string()))
    }

    fn scalar(&self, data_type: DataType, bytes: &[u8]) -> Result<Value> {
        let info = TensorInfo::new(data_type, armnn_backend_api::Shape::SCALAR);
        HostTensor::from_bytes(info, bytes)
            .map(Value::from)
            .map_err(|e| self.failed(e.to_string()))
    }
}

/// The elements of a tensor of Signed32 or Signed64.
fn integers(tensor: &HostTensor) -> Option<Vec<i64>> {
    match tensor.info().data_type {
        DataType::Signed64 => tensor.elements::<i64>().map(<[i64]>::to_vec),
        DataType::Signed32 => {
            let values = tensor.elements::<i32>()?.iter();
            Some(values.map(|&value| i64::from(value)).collect())
        }
        _ => None,
    }
}

/// A position, from the end if negative, among `count`.
fn position(index: i64, count: usize) -> Option<usize> {
    let count = i64::try_from(count).ok()?;
    let index = if index < 0 {
        index.checked_add(count)?
    } else {
        index
    };
    (0..count).contains(&index).then_some(index as usize)
}
