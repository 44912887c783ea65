//! The lowering of a subgraph: its inputs, its operators in their order, its outputs.

use std::collections::{BTreeSet, HashMap, HashSet};

use armnn_network::{NetworkBuilder, TensorId};

use super::constants::file_constant;
use super::context::Context;
use super::problem::{Problem, Result};
use super::variables::VariableId;
use super::{Shared, cut, operators, stand_in, tensor_info};
use crate::error::{Place, TfliteParserError};
use crate::model::{Operator, Signature, SubGraph, Tensor};

/// The state of the lowering of a subgraph.
pub(super) struct Lowering<'m, 'a> {
    pub(super) shared: Shared<'m, 'a>,
    pub(super) graph: &'m SubGraph<'a>,
    /// The index of the subgraph.
    pub(super) index: usize,
    pub(super) role: Role,
    /// What the names of layers begin with.
    pub(super) prefix: String,
    /// The subgraphs that this one is called from, outermost first.
    pub(super) callers: Vec<usize>,
    pub(super) builder: NetworkBuilder,
    /// What has become of each tensor of the subgraph.
    pub(super) values: Vec<Value>,
    /// What variables hold at this point of the execution.
    pub(super) held: HashMap<VariableId, TensorId>,
    /// Variables that have been assigned.
    pub(super) assigned: BTreeSet<VariableId>,
    /// Variables that a body reads or writes, but has not been given.
    pub(super) missing: BTreeSet<VariableId>,
    /// Tensors that are read by an operator or are outputs, once somebody has asked.
    read: Option<HashSet<usize>>,
}

/// What a subgraph is lowered for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// The network itself.
    Main,
    /// A network of its own, whose inputs come from an operation of the runtime.
    Body,
    /// The first values of variables.
    Initializer,
}

/// What has become of a tensor of a subgraph.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    /// Not read or written yet.
    Pending,
    /// A tensor of the network.
    Ready(TensorId),
    /// A resource: what stands for a variable.
    Handle(VariableId),
    /// Complex numbers: a tensor of real numbers with a last dimension of real and imaginary part.
    Complex(TensorId),
    /// Written by an operator that was refused, or of a type that is.
    Refused,
}

/// The names of a network's inputs and outputs.
pub(super) struct Names<'a> {
    /// Tensors of the subgraph, with their names.
    inputs: Vec<(&'a str, usize)>,
    outputs: Vec<(&'a str, usize)>,
}

impl<'a> Names<'a> {
    /// Those of the tensors, or those of a signature, in the subgraph's order.
    pub(super) fn of(graph: &SubGraph<'a>, signature: Option<&Signature<'a>>) -> Self {
        let Some(signature) = signature else {
            let named = |indices: &[usize]| -> Vec<(&'a str, usize)> {
                let named = indices.iter().map(|&at| (graph.tensors[at].name, at));
                named.collect()
            };
            return Self {
                inputs: named(&graph.inputs),
                outputs: named(&graph.outputs),
            };
        };
        let of_signature: HashMap<usize, &'a str> = signature
            .inputs
            .iter()
            .map(|&(name, index)| (index, name))
            .collect();
        let inputs = graph.inputs.iter().map(|&index| {
            let name = of_signature.get(&index).copied();
            (name.unwrap_or(graph.tensors[index].name), index)
        });
        let places: HashMap<usize, usize> = graph
            .outputs
            .iter()
            .enumerate()
            .map(|(place, &index)| (index, place))
            .collect();
        let mut outputs = signature.outputs.clone();
        outputs.sort_by_key(|(_, index)| places.get(index).copied().unwrap_or(usize::MAX));
        Self {
            inputs: inputs.collect(),
            outputs,
        }
    }
}

impl<'m, 'a> Lowering<'m, 'a> {
    pub(super) fn new(
        shared: Shared<'m, 'a>,
        builder: NetworkBuilder,
        index: usize,
        role: Role,
    ) -> Self {
        let graph = &shared.model.subgraphs[index];
        Self {
            graph,
            index,
            role,
            prefix: String::new(),
            callers: Vec::new(),
            builder,
            values: vec![Value::Pending; graph.tensors.len()],
            held: HashMap::new(),
            assigned: BTreeSet::new(),
            missing: BTreeSet::new(),
            read: None,
            shared,
        }
    }

    /// Whether an operator reads a tensor, or it is an output. What nobody reads need not be computed.
    pub(super) fn is_read(&mut self, tensor: usize) -> bool {
        let (graph, index) = (self.graph, self.index);
        let signatures = self.shared.model.signatures.iter();
        let named = signatures
            .filter(|signature| signature.subgraph == index)
            .flat_map(|signature| signature.outputs.iter().map(|&(_, tensor)| tensor));
        let read = self.read.get_or_insert_with(|| {
            let operators = graph.operators.iter();
            let read = operators.flat_map(|operator| operator.inputs.iter().flatten());
            read.chain(graph.outputs.iter().copied())
                .chain(named)
                .collect()
        });
        read.contains(&tensor)
    }

    /// Adds the inputs of the network.
    pub(super) fn inputs(&mut self, names: &Names<'a>) -> Result<(), TfliteParserError> {
        for &(name, index) in &names.inputs {
            let tensor = &self.graph.tensors[index];
            let added = self.input(index, name);
            self.settle(added, |lowering| lowering.tensor_place(index, tensor))?;
        }
        Ok(())
    }

    fn input(&mut self, index: usize, name: &str) -> Result {
        let tensor = &self.graph.tensors[index];
        self.values[index] = self.unbound_input(index)?;
        check_storage(tensor)?;
        let info = tensor_info(tensor)?;
        let id = self.builder.add_input_layer(name, info)?;
        self.values[index] = Value::Ready(id);
        Ok(())
    }

    /// Checks that an input of the subgraph has not been one before.
    pub(super) fn unbound_input(&self, index: usize) -> Result<Value> {
        if self.values[index] == Value::Pending {
            return Ok(Value::Refused);
        }
        Err(Problem::malformed("it is an input of the subgraph twice"))
    }

    /// Lowers the operators.
    pub(super) fn operators(&mut self) -> Result<(), TfliteParserError> {
        let graph = self.graph;
        for (index, operator) in graph.operators.iter().enumerate() {
            let place = |lowering: &Self| Place {
                subgraph: Some(lowering.index),
                operator: Some((index, cut(&operator.code.name()).to_owned())),
                tensor: None,
            };
            if let Err(problem) = self.charge(operator_work(operator)) {
                return self.settle(Err(problem), place);
            }
            let lowered = match operators::lowering_of(operator.code) {
                Some(entry) => entry.lower(&mut Context::new(self, operator)),
                None if operator.code.is_custom()
                    && self.shared.options.stand_in_layer_for_custom =>
                {
                    stand_in::lower(&mut Context::new(self, operator))
                }
                None => {
                    let first = place(self);
                    self.shared.report.refuse_type(operator, first);
                    Err(Problem::Unavailable)
                }
            };
            let complete = lowered.is_ok();
            self.settle(lowered, place)?;
            if !complete {
                let replaced = stand_in::replace(&mut Context::new(self, operator));
                self.settle(replaced, place)?;
            }
        }
        Ok(())
    }

    /// Takes out of the budget what a step of lowering costs.
    pub(super) fn charge(&mut self, work: usize) -> Result {
        let left = self.shared.work_budget.checked_sub(work);
        self.shared.work_budget = left.ok_or_else(|| {
            Problem::malformed(
                "subgraphs are called from so many places that lowering each of them would take \
                 more than sixteen times what the model's operators do",
            )
        })?;
        Ok(())
    }

    /// Adds the outputs of the network.
    pub(super) fn outputs(&mut self, names: &Names<'a>) -> Result<(), TfliteParserError> {
        let graph = self.graph;
        if names.outputs.is_empty() && self.shared.report.is_empty() {
            let place = |lowering: &Self| Place {
                subgraph: Some(lowering.index),
                ..Place::default()
            };
            let what = "it has no outputs, so that there is nothing to compute";
            self.settle(Err(Problem::unsupported(what)), place)?;
        }
        let mut named = vec![false; graph.tensors.len()];
        for &(name, index) in &names.outputs {
            let tensor = &graph.tensors[index];
            // A repeated output gets a name of its own, which must not repeat a long one.
            let name = if named[index] { cut(name) } else { name };
            named[index] = true;
            let added = self
                .value(index)
                .and_then(|id| Ok(self.builder.add_output_layer(name, id)?));
            self.settle(added, |lowering| lowering.tensor_place(index, tensor))?;
        }
        Ok(())
    }

    /// The tensor of the network that a tensor of the subgraph is; a constant or a variable is added
    /// when it is first asked for.
    pub(super) fn value(&mut self, index: usize) -> Result<TensorId> {
        let tensor = &self.graph.tensors[index];
        match self.values[index] {
            Value::Ready(id) => Ok(id),
            Value::Refused => Err(Problem::Unavailable),
            Value::Handle(_) => Err(in_tensor(
                Problem::unsupported("a resource that is read as if it were a tensor"),
                index,
                tensor,
            )),
            Value::Complex(_) => Err(in_tensor(
                Problem::unsupported("complex numbers, but for their parts or absolute values"),
                index,
                tensor,
            )),
            Value::Pending if tensor.is_variable => self
                .state_tensor(index)
                .and_then(|variable| self.read_variable(variable))
                .map_err(|problem| in_tensor(problem, index, tensor)),
            Value::Pending => {
                let added = self.constant(index);
                self.values[index] = match &added {
                    Ok(id) => Value::Ready(*id),
                    Err(_) => Value::Refused,
                };
                added.map_err(|problem| in_tensor(problem, index, tensor))
            }
        }
    }

    fn constant(&mut self, index: usize) -> Result<TensorId> {
        let tensor = &self.graph.tensors[index];
        let shared = &mut self.shared;
        let (info, data) = file_constant(tensor, shared.model, &mut shared.constant_budget)?;
        let name = match self.role {
            Role::Main => tensor.name,
            Role::Body | Role::Initializer => cut(tensor.name),
        };
        Ok(self.builder.add_constant_layer(name, info, data)?)
    }

    /// The name of a layer that writes a tensor of the subgraph.
    pub(super) fn layer_name(&self, tensor: &Tensor<'a>) -> String {
        if self.role == Role::Main && self.prefix.is_empty() {
            tensor.name.to_owned()
        } else {
            format!("{}{}", self.prefix, cut(tensor.name))
        }
    }

    /// Makes an error of what ends the lowering, and keeps the rest for the error at its end.
    pub(super) fn settle(
        &mut self,
        result: Result,
        place: impl FnOnce(&Self) -> Place,
    ) -> Result<(), TfliteParserError> {
        let reason = match result {
            Ok(()) | Err(Problem::Unavailable) => return Ok(()),
            Err(Problem::Malformed(fault)) => {
                let source = self.shared.model.source();
                return Err(fault.within(place(self)).of(source));
            }
            Err(Problem::Fatal(error)) => return Err(*error),
            Err(Problem::Unsupported(what)) => what,
            Err(Problem::Network(error)) => error.to_string(),
        };
        let place = place(self);
        self.shared.report.refuse_use(place, reason);
        Ok(())
    }

    pub(super) fn tensor_place(&self, index: usize, tensor: &Tensor<'_>) -> Place {
        Place {
            subgraph: Some(self.index),
            operator: None,
            tensor: Some((index, cut(tensor.name).to_owned())),
        }
    }
}

/// What lowering a subgraph once costs.
pub(super) fn work(graph: &SubGraph<'_>) -> usize {
    let operators = graph.operators.iter().map(operator_work);
    operators.fold(graph.tensors.len(), usize::saturating_add)
}

fn operator_work(operator: &Operator<'_>) -> usize {
    1 + operator.inputs.len() + operator.outputs.len()
}

/// Refuses tensors that are not simply elements in the file or of an operator.
pub(super) fn check_storage(tensor: &Tensor<'_>) -> Result {
    if tensor.is_variable {
        let what = "a variable where a tensor of elements is expected";
        return Err(Problem::unsupported(what));
    }
    Ok(())
}

pub(super) fn in_tensor(problem: Problem, index: usize, tensor: &Tensor<'_>) -> Problem {
    match problem {
        Problem::Malformed(fault) => fault.in_tensor(index, cut(tensor.name)).into(),
        Problem::Unsupported(what) => {
            let name = crate::error::Short(tensor.name);
            Problem::Unsupported(format!("tensor {index} \"{name}\": {what}"))
        }
        other => other,
    }
}
