//! Operators to layers.
//!
//! [`lower`] walks the nodes of the graph in their order. The table in [`operators`] has a function
//! for each operator type, and the module of its family holds the function;
//! [`Context`](context::Context) is what it works with. To add an operator, add a line to the table
//! and a function to a family. [`folding`] computes integers that follow from shapes.
//!
//! What is unsupported is gathered, so that one error can name all of it. The outputs of a refused
//! node are replaced by a StandIn of the declared type and shape, only so that the nodes after it
//! can be looked at too; the network is dropped in the end.

mod activation;
mod attention;
mod attributes;
mod bodies;
mod casting;
mod categories;
mod classical;
mod classifiers;
mod constant;
mod context;
mod control_flow;
mod convolution;
mod einsum;
mod elementwise;
mod emission;
mod folding;
mod generation;
mod image;
mod linear_attention;
mod loss;
mod matrix;
mod microsoft;
mod moved_strings;
mod ngrams;
mod normalization;
mod operators;
mod padding;
mod pooling;
mod problem;
mod quantization;
mod quantized_arithmetic;
mod random;
mod rearrangement;
mod recurrent;
mod reduction;
mod repetition;
mod reshaping;
mod resizing;
mod selection;
mod sequences;
mod signal;
mod slicing;
mod stand_in;
mod strings;
mod tensor_info;
mod training;
mod tree_ensemble;
mod windows;

use std::collections::HashMap;
use std::rc::Rc;

use armnn_network::{Network, NetworkBuilder, TensorId};

use crate::error::{Fault, OnnxParserError, Place, Refusals, UnsupportedOperator, cut};
use crate::model::{Dimension, Graph, Model, Node, Value, ValueType};
use crate::parser::OnnxParserOptions;
use constant::Constant;
use context::Context;
use problem::{Problem, Result};
use tensor_info::network_type;

/// Bytes that ConstantOfShape and the like may make in all.
const MOST_GENERATED: usize = 64 << 20;

/// Lowers the graph.
pub(crate) fn lower(
    model: &Model,
    options: &OnnxParserOptions,
) -> Result<Network, OnnxParserError> {
    let graph = &model.graph;
    let mut lowering = Lowering {
        model,
        graph,
        options,
        builder: NetworkBuilder::new(),
        states: vec![State::Pending; graph.values.len()],
        is_read: values_read(graph),
        writers: HashMap::new(),
        prefix: String::new(),
        is_body: false,
        shared: Shared {
            copy_budget: model.file_len().saturating_mul(4).saturating_add(64 << 10),
            generation_budget: MOST_GENERATED,
            // A node or a value takes several bytes in the file.
            body_budget: model.file_len().saturating_mul(4).saturating_add(100_000),
            ..Shared::default()
        },
    };
    let malformed = |fault: Fault| fault.of(model.source());
    lowering.inputs().map_err(malformed)?;
    lowering.nodes().map_err(malformed)?;
    lowering.outputs().map_err(malformed)?;
    let Lowering {
        mut builder,
        shared,
        ..
    } = lowering;
    for file in model.mapped_files() {
        builder.add_mapped_file(file);
    }
    if !shared.refusals.is_empty() {
        return Err(OnnxParserError::Unsupported {
            model: model.source().to_owned(),
            refusals: Box::new(shared.refusals),
        });
    }
    builder.finish().map_err(|error| OnnxParserError::Network {
        model: model.source().to_owned(),
        source: Box::new(error),
    })
}

/// The state of a lowering: of the model's graph, or of a body.
struct Lowering<'m> {
    model: &'m Model,
    graph: &'m Graph,
    options: &'m OnnxParserOptions,
    builder: NetworkBuilder,
    /// What has become of each value of the graph.
    states: Vec<State>,
    /// Which values nodes read, or the caller gets.
    is_read: Vec<bool>,
    /// Which node writes each value; empty until that is asked for.
    writers: HashMap<usize, usize>,
    /// Put before the names of layers.
    prefix: String,
    /// Whether the graph is an attribute of a node.
    is_body: bool,
    shared: Shared<'m>,
}

/// What the lowerings of the model's graph and of its bodies share.
#[derive(Default)]
struct Shared<'m> {
    refusals: Refusals,
    /// Where each unsupported operator type stands in the refusals.
    refused_types: HashMap<(&'m str, &'m str, i64), usize>,
    /// Bytes of names and attributes that StandIn layers may still copy.
    copy_budget: usize,
    /// Bytes that constants made here may still take.
    generation_budget: usize,
    /// How many nodes and values of bodies may still be looked at; a body may be lowered several
    /// times.
    body_budget: usize,
}

/// What has become of a value of the graph.
#[derive(Clone)]
enum State {
    /// Not read or written yet.
    Pending,
    /// A constant; a tensor of the network if a layer reads it.
    Constant(Rc<Constant>, Option<TensorId>),
    /// A tensor of the network.
    Ready(TensorId),
    /// Written by a node that was refused, or of a type that is.
    Refused,
}

impl<'m> Lowering<'m> {
    fn inputs(&mut self) -> Result<(), Fault> {
        for &index in &self.graph.inputs {
            let value = &self.graph.values[index];
            let added = network_type(value.value_type.as_ref())
                .and_then(|of| Ok(self.builder.add_value_input(&value.name, of)?));
            self.states[index] = match &added {
                Ok(id) => State::Ready(*id),
                Err(_) => State::Refused,
            };
            let named = added.and_then(|id| self.name_dimensions(id, value.value_type.as_ref()));
            self.settle(named, || value_place(value))?;
        }
        Ok(())
    }

    /// Gives dimensions of an input the names that the file has for them.
    fn name_dimensions(&mut self, input: TensorId, value_type: Option<&ValueType>) -> Result<()> {
        let Some(ValueType::Tensor {
            dims: Some(dims), ..
        }) = value_type
        else {
            return Ok(());
        };
        if self
            .builder
            .tensor(input)
            .is_none_or(|t| t.value_type.is_some())
        {
            return Ok(());
        }
        for (dimension, of_file) in dims.iter().enumerate() {
            // Some writers mean an unknown size by "?".
            if let Dimension::Named(name) = of_file
                && name.contains(char::is_alphanumeric)
            {
                self.builder.label_input_dimension(input, dimension, name)?;
            }
        }
        Ok(())
    }

    fn nodes(&mut self) -> Result<(), Fault> {
        let graph = self.graph;
        for node in &graph.nodes {
            let place = || Place {
                node: Some(node.place()),
                value: None,
            };
            let Some(version) = node.version else {
                let domain = match node.domain.as_str() {
                    "" => "ai.onnx",
                    domain => domain,
                };
                let domain = crate::error::Short(domain);
                let problem = format!("the model does not say which version of {domain} it means");
                return Err(Fault::new(problem).within(place()));
            };
            let lowered = match operators::lowering_of(&node.domain, &node.op_type, version) {
                Some(entry) => entry.lower(&mut Context::new(self, node, version)),
                None if self.options.stand_in_layer_for_unknown && node.bodies.is_empty() => {
                    stand_in::lower(&mut Context::new(self, node, version))
                }
                None => Err(Problem::UnknownOperator),
            };
            let lowered = match lowered {
                Err(Problem::UnknownOperator) => {
                    self.refuse_type(node, version, place());
                    Err(Problem::Unavailable)
                }
                lowered => lowered,
            };
            let complete = lowered.is_ok();
            self.settle(lowered, place)?;
            if !complete {
                stand_in::replace(&mut Context::new(self, node, version));
            }
        }
        Ok(())
    }

    fn outputs(&mut self) -> Result<(), Fault> {
        let graph = self.graph;
        for (name, index) in &graph.outputs {
            let added = self
                .tensor(*index)
                .and_then(|id| Ok(self.builder.add_output_layer(name, id)?));
            self.settle(added, || value_place(&graph.values[*index]))?;
        }
        Ok(())
    }

    /// The constant of numbers that a value is, if it is one; one of strings becomes a tensor of the
    /// network.
    fn constant(&mut self, index: usize) -> Result<Option<Rc<Constant>>> {
        match &self.states[index] {
            State::Constant(constant, _) => return Ok(Some(Rc::clone(constant))),
            State::Ready(id) => {
                let known = self.builder.known_value(*id);
                return Ok(known.and_then(|known| Constant::known(&known)).map(Rc::new));
            }
            State::Refused => return Err(Problem::Unavailable),
            State::Pending => {}
        }
        let value = &self.graph.values[index];
        if let Some(tensor) = &value.tensor
            && let Some(texts) = &tensor.strings
        {
            let added = strings::texts(texts)
                .and_then(|texts| self.string_constant(&value.name, &tensor.dims, texts));
            return match added {
                Ok(id) => {
                    self.states[index] = State::Ready(id);
                    Ok(None)
                }
                Err(problem) => {
                    self.states[index] = State::Refused;
                    Err(in_value(problem, value))
                }
            };
        }
        let constant = match &value.tensor {
            Some(tensor) => Constant::of_tensor(tensor),
            None if value.is_sparse => Err(Problem::unsupported(
                "a sparse constant; convert the model without sparsity",
            )),
            None => Err(Problem::malformed("it is read, but nothing has written it")),
        };
        match constant {
            Ok(constant) => {
                let constant = Rc::new(constant);
                self.states[index] = State::Constant(Rc::clone(&constant), None);
                Ok(Some(constant))
            }
            Err(problem) => {
                self.states[index] = State::Refused;
                Err(in_value(problem, value))
            }
        }
    }

    /// The tensor of the network that a value is; a constant is added when it is first asked for.
    fn tensor(&mut self, index: usize) -> Result<TensorId> {
        if let State::Ready(id) | State::Constant(_, Some(id)) = self.states[index] {
            return Ok(id);
        }
        let Some(constant) = self.constant(index)? else {
            return match self.states[index] {
                State::Ready(id) => Ok(id),
                _ => Err(Problem::Unavailable),
            };
        };
        let value = &self.graph.values[index];
        let id = self
            .add_constant(&value.name, &constant)
            .map_err(|problem| in_value(problem, value))?;
        self.states[index] = State::Constant(constant, Some(id));
        Ok(id)
    }

    fn pay_for(&mut self, bytes: usize) -> Result {
        let left = self.shared.generation_budget.checked_sub(bytes);
        self.shared.generation_budget = left.ok_or_else(|| {
            Problem::unsupported(format!(
                "a constant of {bytes} bytes; those that a model makes may take {} MiB in all",
                MOST_GENERATED >> 20
            ))
        })?;
        Ok(())
    }

    fn add_constant(&mut self, name: &str, constant: &Constant) -> Result<TensorId> {
        let (info, data) = (constant.info()?, constant.bytes.clone());
        Ok(self.builder.add_constant_layer(name, info, data)?)
    }

    /// Makes an error of what ends the lowering, and keeps the rest for the error at its end.
    fn settle(&mut self, result: Result, place: impl Fn() -> Place) -> Result<(), Fault> {
        let reason = match result {
            Ok(()) | Err(Problem::Unavailable | Problem::UnknownOperator) => return Ok(()),
            Err(Problem::Malformed(fault)) => return Err(fault.within(place())),
            Err(Problem::Unsupported(what)) => what,
            Err(Problem::Network(error)) => error.to_string(),
        };
        self.shared.refusals.refuse_use(place, reason);
        Ok(())
    }

    fn refuse_type(&mut self, node: &'m Node, version: i64, first: Place) {
        let operators = &mut self.shared.refusals.operators;
        let key = (node.domain.as_str(), node.op_type.as_str(), version);
        let at = *self.shared.refused_types.entry(key).or_insert_with(|| {
            operators.push(UnsupportedOperator {
                domain: node.domain.clone(),
                name: node.op_type.clone(),
                version,
                count: 0,
                first,
            });
            operators.len() - 1
        });
        self.shared.refusals.operators[at].count += 1;
    }
}

fn values_read(graph: &Graph) -> Vec<bool> {
    let mut is_read = vec![false; graph.values.len()];
    let nodes = || graph.nodes.iter();
    let inputs = nodes().flat_map(|node| node.inputs.iter().flatten());
    let bodies = nodes().flat_map(|node| &node.bodies);
    let captured = bodies.flat_map(|body| body.captures.iter().map(|capture| &capture.outer));
    let outputs = graph.outputs.iter().map(|(_, index)| index);
    for &index in inputs.chain(captured).chain(outputs) {
        is_read[index] = true;
    }
    is_read
}

fn in_value(problem: Problem, value: &Value) -> Problem {
    match problem {
        Problem::Malformed(fault) => fault.in_value(&value.name).into(),
        Problem::Unsupported(what) => {
            let name = crate::error::Short(&value.name);
            Problem::Unsupported(format!("value \"{name}\": {what}"))
        }
        other => other,
    }
}

fn value_place(value: &Value) -> Place {
    Place {
        node: None,
        value: Some(cut(&value.name).to_owned()),
    }
}

#[cfg(test)]
mod body_tests;
#[cfg(test)]
mod tests;
