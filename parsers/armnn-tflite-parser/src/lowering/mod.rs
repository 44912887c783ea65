//! Operators to layers.
//!
//! [`lower`] walks the operators of the first subgraph in their order, which is that of execution.
//! The table in [`operators`] has a function for each operator type, and the module of its family
//! holds the function; [`Context`](context::Context) is what it works with. To add an operator, add
//! a line to the table and a function to a family.
//!
//! What is unsupported is gathered, so that one error can name all of it. The outputs of a refused
//! operator are replaced by a StandIn of the declared type and shape, only so that the operators
//! after it can be looked at too; the network is dropped in the end.

mod activation;
mod context;
mod convolution;
mod elementwise;
mod matrix;
mod operators;
mod options;
mod padding;
mod pooling;
mod problem;
mod quantization;
mod rearrangement;
mod reduction;
mod reshaping;
mod resizing;
mod selection;
mod stand_in;
mod strided_slice;
mod tensor_info;

use std::collections::HashMap;

use armnn_network::{Network, NetworkBuilder, TensorId};

use crate::error::{
    Fault, Place, Refusals, TfliteParserError, UnsupportedOperator, UnsupportedUse,
};
use crate::model::{Model, Operator, OperatorCode, SubGraph, Tensor};
use crate::parser::TfliteParserOptions;
use context::Context;
use problem::{Problem, Result};
use tensor_info::tensor_info;

/// The subgraph that is lowered: the others are bodies of control flow.
const MAIN: usize = 0;

/// How many unsupported uses are kept for the error.
const MOST_USES: usize = 100;

/// Lowers the first subgraph.
pub(crate) fn lower(
    model: &Model<'_>,
    options: &TfliteParserOptions,
) -> Result<Network, TfliteParserError> {
    let Some(graph) = model.subgraphs.get(MAIN) else {
        return Err(Fault::new("the model has no subgraph").of(model.source()));
    };
    let mut lowering = Lowering {
        graph,
        options,
        builder: NetworkBuilder::new(),
        values: vec![Value::Pending; graph.tensors.len()],
        refusals: Refusals::default(),
        refused_types: HashMap::new(),
        stand_in_budget: stand_in::budget(model),
    };
    let source = model.source();
    lowering.inputs(source)?;
    lowering.operators(source)?;
    lowering.outputs(source)?;
    let Lowering {
        builder, refusals, ..
    } = lowering;
    if !refusals.is_empty() {
        return Err(TfliteParserError::Unsupported {
            model: source.to_owned(),
            refusals: Box::new(refusals),
        });
    }
    builder
        .finish()
        .map_err(|error| TfliteParserError::Network {
            model: source.to_owned(),
            source: Box::new(error),
        })
}

/// The state of a lowering.
struct Lowering<'m, 'a> {
    graph: &'m SubGraph<'a>,
    options: &'m TfliteParserOptions,
    builder: NetworkBuilder,
    /// What has become of each tensor of the subgraph.
    values: Vec<Value>,
    refusals: Refusals,
    /// Where each unsupported operator type stands in the refusals.
    refused_types: HashMap<OperatorCode<'a>, usize>,
    /// Bytes of names and options that StandIn layers may still copy.
    stand_in_budget: usize,
}

/// What has become of a tensor of the subgraph.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    /// Not read or written yet.
    Pending,
    /// A tensor of the network.
    Ready(TensorId),
    /// Written by an operator that was refused, or of a type that is.
    Refused,
}

impl<'m, 'a> Lowering<'m, 'a> {
    fn inputs(&mut self, source: &str) -> Result<(), TfliteParserError> {
        let graph = self.graph;
        for &index in &graph.inputs {
            let tensor = &graph.tensors[index];
            let added = self.input(index, tensor);
            self.settle(added, source, || tensor_place(index, tensor))?;
        }
        Ok(())
    }

    fn input(&mut self, index: usize, tensor: &Tensor<'a>) -> Result {
        if self.values[index] != Value::Pending {
            return Err(Problem::malformed("it is an input of the subgraph twice"));
        }
        self.values[index] = Value::Refused;
        check_storage(tensor)?;
        let info = tensor_info(tensor)?;
        let id = self.builder.add_input_layer(tensor.name, info)?;
        self.values[index] = Value::Ready(id);
        Ok(())
    }

    fn operators(&mut self, source: &str) -> Result<(), TfliteParserError> {
        let graph = self.graph;
        for (index, operator) in graph.operators.iter().enumerate() {
            let place = || Place {
                subgraph: Some(MAIN),
                operator: Some((index, cut(&operator.code.name()).to_owned())),
                tensor: None,
            };
            let lowered = match operators::lowering_of(operator.code) {
                Some(entry) => entry.lower(&mut Context::new(self, operator)),
                None if operator.code.is_custom() && self.options.stand_in_layer_for_custom => {
                    stand_in::lower(&mut Context::new(self, operator))
                }
                None => {
                    self.refuse_type(operator, place());
                    Err(Problem::Unavailable)
                }
            };
            let complete = lowered.is_ok();
            self.settle(lowered, source, place)?;
            if !complete {
                let replaced = stand_in::replace(&mut Context::new(self, operator));
                self.settle(replaced, source, place)?;
            }
        }
        Ok(())
    }

    fn outputs(&mut self, source: &str) -> Result<(), TfliteParserError> {
        let graph = self.graph;
        let mut named = vec![false; graph.tensors.len()];
        for &index in &graph.outputs {
            let tensor = &graph.tensors[index];
            // A repeated output gets a name of its own, which must not repeat a long one.
            let name = if named[index] {
                cut(tensor.name)
            } else {
                tensor.name
            };
            named[index] = true;
            let added = self
                .value(index)
                .and_then(|id| Ok(self.builder.add_output_layer(name, id)?));
            self.settle(added, source, || tensor_place(index, tensor))?;
        }
        Ok(())
    }

    /// The tensor of the network that a tensor of the subgraph is; a constant is added when it is
    /// first asked for.
    fn value(&mut self, index: usize) -> Result<TensorId> {
        match self.values[index] {
            Value::Ready(id) => Ok(id),
            Value::Refused => Err(Problem::Unavailable),
            Value::Pending => {
                let added = self.constant(index);
                self.values[index] = match &added {
                    Ok(id) => Value::Ready(*id),
                    Err(_) => Value::Refused,
                };
                added.map_err(|problem| in_tensor(problem, index, &self.graph.tensors[index]))
            }
        }
    }

    fn constant(&mut self, index: usize) -> Result<TensorId> {
        let tensor = &self.graph.tensors[index];
        check_storage(tensor)?;
        let info = tensor_info(tensor)?;
        let data = constant_data(tensor, &info)?;
        Ok(self.builder.add_constant_layer(tensor.name, info, data)?)
    }

    /// Makes an error of what ends the lowering, and keeps the rest for the error at its end.
    fn settle(
        &mut self,
        result: Result,
        source: &str,
        place: impl Fn() -> Place,
    ) -> Result<(), TfliteParserError> {
        let reason = match result {
            Ok(()) | Err(Problem::Unavailable) => return Ok(()),
            Err(Problem::Malformed(fault)) => return Err(fault.within(place()).of(source)),
            Err(Problem::Unsupported(what)) => what,
            Err(Problem::Network(error)) => error.to_string(),
        };
        if self.refusals.uses.len() < MOST_USES {
            let place = place();
            self.refusals.uses.push(UnsupportedUse { place, reason });
        } else {
            self.refusals.more_uses += 1;
        }
        Ok(())
    }

    fn refuse_type(&mut self, operator: &Operator<'a>, first: Place) {
        let operators = &mut self.refusals.operators;
        let at = *self.refused_types.entry(operator.code).or_insert_with(|| {
            operators.push(UnsupportedOperator {
                name: operator.code.name().into_owned(),
                version: operator.code.version,
                is_custom: operator.code.is_custom(),
                count: 0,
                first,
            });
            operators.len() - 1
        });
        self.refusals.operators[at].count += 1;
    }
}

/// The elements of a constant.
fn constant_data(
    tensor: &Tensor<'_>,
    info: &armnn_backend_api::TensorInfo,
) -> Result<bytes::Bytes> {
    let expected = info.byte_len();
    match &tensor.data {
        Some(data) if Some(data.len()) == expected => Ok(data.clone()),
        Some(data) => Err(Problem::malformed(format!(
            "its data has {} bytes, which is not what {info} takes",
            data.len()
        ))),
        None if expected == Some(0) => Ok(bytes::Bytes::new()),
        None => Err(Problem::malformed(
            "it is read, but nothing has written it and it has no data",
        )),
    }
}

/// Refuses tensors that are not simply elements in the file or of an operator.
fn check_storage(tensor: &Tensor<'_>) -> Result {
    let what = if tensor.is_variable {
        "a variable, which keeps its value from one inference to the next"
    } else if tensor.is_sparse {
        "a sparse constant; convert the model without sparsity"
    } else if tensor.external_buffer != 0 {
        "a constant in a file of its own; convert the model into a single file"
    } else {
        return Ok(());
    };
    Err(Problem::unsupported(what))
}

fn in_tensor(problem: Problem, index: usize, tensor: &Tensor<'_>) -> Problem {
    match problem {
        Problem::Malformed(fault) => fault.in_tensor(index, cut(tensor.name)).into(),
        Problem::Unsupported(what) => {
            let name = crate::error::Short(tensor.name);
            Problem::Unsupported(format!("tensor {index} \"{name}\": {what}"))
        }
        other => other,
    }
}

fn tensor_place(index: usize, tensor: &Tensor<'_>) -> Place {
    Place {
        subgraph: Some(MAIN),
        operator: None,
        tensor: Some((index, cut(tensor.name).to_owned())),
    }
}

/// The beginning of a name. Names that are copied more often than the file holds them are cut, so
/// that memory stays linear in the file's size.
fn cut(name: &str) -> &str {
    const LONGEST: usize = 256;
    (0..=LONGEST)
        .rev()
        .find_map(|end| name.get(..end))
        .filter(|_| name.len() > LONGEST)
        .unwrap_or(name)
}

#[cfg(test)]
mod tests;
