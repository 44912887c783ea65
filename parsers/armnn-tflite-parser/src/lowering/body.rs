//! Bodies of control flow: subgraphs that become networks of their own.
//!
//! A body takes what the operator gives it: constants become constants of the body, handles of
//! variables stay handles, and the rest are its inputs. Variables that a body reads or writes are
//! given to it as further inputs, and come out of it as further outputs.
//!
//! What a body needs and gives is known once it has been lowered. It is lowered again until nothing
//! new comes up: a variable, or a size that changes from one iteration to the next and is unknown
//! from then on.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use armnn_backend_api::{Shape, TensorInfo};
use armnn_network::{Network, NetworkBuilder, TensorId};
use bytes::Bytes;

use super::context::Context;
use super::problem::{Problem, Result};
use super::subgraph::{Lowering, Role, Value, in_tensor};
use super::tensor_info::tensor_info;
use super::variables::VariableId;
use super::{Shared, cut};
use crate::model::SubGraph;

/// How deep bodies may stand in bodies.
const MOST_NESTING: usize = 16;

/// What an input of a body is.
#[derive(Clone)]
pub(super) enum Given {
    /// A value that is different from one execution to the next.
    Tensor(TensorInfo),
    Constant(TensorInfo, Bytes),
    Handle(VariableId),
}

/// A body, lowered once.
pub(super) struct Body {
    pub(super) builder: NetworkBuilder,
    /// What its outputs are, in its own network.
    pub(super) outputs: Vec<Value>,
    /// What it assigns.
    pub(super) assigned: BTreeSet<VariableId>,
    /// What it reads or writes, but has not been given.
    missing: BTreeSet<VariableId>,
    /// What variables hold at its end.
    held: HashMap<VariableId, TensorId>,
}

/// Variables that are given to bodies, and those of them that are assigned.
#[derive(Default)]
pub(super) struct Threaded {
    /// For each variable, whether it is assigned.
    all: BTreeMap<VariableId, bool>,
}

impl Threaded {
    /// Whether a body tells of something new.
    pub(super) fn add(&mut self, body: &Body) -> bool {
        let mut changed = false;
        for &id in &body.missing {
            changed |= self.all.insert(id, false).is_none();
        }
        for &id in &body.assigned {
            changed |= self.all.insert(id, true) != Some(true);
        }
        changed
    }

    pub(super) fn assigned(&self) -> Vec<VariableId> {
        self.of(true)
    }

    fn of(&self, assigned: bool) -> Vec<VariableId> {
        let matching = self.all.iter().filter(|(_, is)| **is == assigned);
        matching.map(|(&id, _)| id).collect()
    }
}

/// The order of a body's inputs: some of the operator's, variables that are assigned, others of the
/// operator's, variables that are only read.
pub(super) struct InputOrder<'t> {
    pub(super) first: Vec<usize>,
    pub(super) threaded: &'t Threaded,
}

/// An input of a body.
enum Slot {
    /// One of the operator's, by its position among those given.
    Given(usize),
    Variable(VariableId),
}

impl InputOrder<'_> {
    fn slots(&self, given: &[Given]) -> Vec<Slot> {
        let rest = tensors_of(given)
            .into_iter()
            .filter(|at| !self.first.contains(at));
        let variables = |assigned| self.threaded.of(assigned).into_iter().map(Slot::Variable);
        let first = self.first.iter().copied().map(Slot::Given);
        let slots = first.chain(variables(true));
        slots
            .chain(rest.map(Slot::Given))
            .chain(variables(false))
            .collect()
    }
}

/// The positions of what is given as a tensor.
pub(super) fn tensors_of(given: &[Given]) -> Vec<usize> {
    let is_tensor = |&at: &usize| matches!(given[at], Given::Tensor(_));
    (0..given.len()).filter(is_tensor).collect()
}

pub(super) fn tensor_of(value: Value) -> Result<TensorId> {
    match value {
        Value::Ready(id) => Ok(id),
        Value::Handle(_) => Err(Problem::unsupported("a resource that changes in a body")),
        _ => Err(Problem::Unavailable),
    }
}

pub(super) fn held(body: &Body, id: VariableId) -> Result<TensorId> {
    let held = body.held.get(&id).copied();
    held.ok_or_else(|| Problem::malformed("a variable that a body has not been given"))
}

/// Makes a network of a body.
pub(super) fn finish(
    body: Body,
    results: impl FnOnce(&Body) -> Result<Vec<TensorId>>,
) -> Result<Network> {
    let results = results(&body)?;
    let mut builder = body.builder;
    for id in results {
        builder.add_output_layer("", id)?;
    }
    Ok(builder.finish()?)
}

/// Makes sizes that differ unknown; whether there are any.
pub(super) fn generalize(shape: &mut Shape, next: Option<Shape>) -> Result<bool> {
    let Some(next) = next.filter(|next| next != shape) else {
        return Ok(false);
    };
    if next.rank() != shape.rank() {
        return Err(Problem::unsupported(format!(
            "a value whose shape is {shape} at first and {next} after an iteration"
        )));
    }
    let pairs = shape.dims().iter().zip(next.dims());
    let dims: Vec<i64> = pairs
        .map(|(&a, &b)| if a == b { a } else { Shape::UNKNOWN })
        .collect();
    let general = Shape::new(&dims).unwrap_or(*shape);
    let changed = general != *shape;
    *shape = general;
    Ok(changed)
}

/// Bodies.
impl<'m, 'a> Context<'_, 'm, 'a> {
    /// A subgraph by its index, which is checked.
    pub(super) fn subgraph(&self, index: i32) -> Result<usize> {
        let count = self.lowering.shared.model.subgraphs.len();
        match usize::try_from(index) {
            Ok(valid) if valid < count => Ok(valid),
            _ => Err(Problem::malformed(format!(
                "it names subgraph {index}, but there are only {count}"
            ))),
        }
    }

    /// What the names of layers in the operator's bodies begin with.
    pub(super) fn body_prefix(&mut self) -> String {
        let own = match self.output_tensor(0) {
            Ok(tensor) => tensor.name,
            Err(_) => "",
        };
        const LONGEST: usize = 200;
        let mut prefix = match own.is_empty() || own.len() > LONGEST {
            true => self.operator.code.name().to_lowercase(),
            false => own.to_owned(),
        };
        prefix = format!("{}{prefix}/", self.lowering.prefix);
        let used = &mut self.lowering.shared.prefixes;
        if prefix.len() > LONGEST || used.contains(&prefix) {
            prefix = format!("body:{}/", used.len());
        }
        used.insert(prefix.clone());
        prefix
    }

    pub(super) fn runtime_layer_name(&self) -> String {
        match self.output_tensor(0) {
            Ok(tensor) => self.lowering.layer_name(tensor),
            Err(_) => format!("{}{}", self.lowering.prefix, self.operator.code.name()),
        }
    }

    /// What the operator's inputs from `first` on are for the subgraph `graph`.
    pub(super) fn given(&mut self, first: usize, graph: usize) -> Result<Vec<Given>> {
        let graph = &self.lowering.shared.model.subgraphs[graph];
        let mut given = Vec::new();
        for (position, &inner) in (first..self.input_count()).zip(&graph.inputs) {
            given.push(match self.input_value(position)? {
                Value::Handle(id) => Given::Handle(id),
                value => {
                    let id = self.body_input(value, inner, graph)?;
                    let tensor = self.lowering.builder.tensor(id);
                    let tensor = tensor.ok_or(Problem::Unavailable)?;
                    match tensor.constant() {
                        Some(data) => Given::Constant(tensor.info.clone(), data.clone()),
                        None => Given::Tensor(tensor.info.clone()),
                    }
                }
            });
        }
        Ok(given)
    }

    /// A tensor as the type that a body declares for its input.
    fn body_input(&mut self, value: Value, inner: usize, graph: &SubGraph<'_>) -> Result<TensorId> {
        let id = tensor_of(value)?;
        let declared = &graph.tensors[inner];
        let info = tensor_info(declared).map_err(|p| in_tensor(p, inner, declared))?;
        self.lowering.reinterpreted(id, &info)
    }

    /// The inputs of an operation whose bodies have their inputs in this order.
    pub(super) fn body_inputs(
        &mut self,
        first: usize,
        given: &[Given],
        order: &InputOrder<'_>,
    ) -> Result<Vec<Option<TensorId>>> {
        let mut inputs = Vec::new();
        for slot in order.slots(given) {
            let id = match slot {
                Slot::Variable(id) => self.lowering.read_variable(id)?,
                Slot::Given(at) => {
                    let id = self.input(first + at)?;
                    match &given[at] {
                        Given::Tensor(info) => self.lowering.reinterpreted(id, info)?,
                        _ => id,
                    }
                }
            };
            inputs.push(Some(id));
        }
        Ok(inputs)
    }

    /// Lowers a subgraph into a network of its own.
    pub(super) fn body(
        &mut self,
        index: usize,
        prefix: &str,
        given: &[Given],
        order: &InputOrder<'_>,
    ) -> Result<Body> {
        let outer = &mut *self.lowering;
        outer.check_call(index)?;
        let builder = NetworkBuilder::new();
        let mut inner = Lowering::new(outer.take_shared(), builder, index, Role::Body);
        inner.prefix = prefix.to_owned();
        inner.callers = outer.callers_of_body();
        let lowered = inner.lower_body(given, order);
        outer.shared = inner.shared;
        Ok(Body {
            outputs: lowered?,
            builder: inner.builder,
            assigned: inner.assigned,
            missing: inner.missing,
            held: inner.held,
        })
    }
}

impl<'m, 'a> Lowering<'m, 'a> {
    /// Checks that a subgraph may be called from here.
    pub(super) fn check_call(&mut self, index: usize) -> Result {
        let tensors = self.shared.model.subgraphs[index].tensors.len();
        self.charge(tensors.saturating_add(1))?;
        if index == self.index || self.callers.contains(&index) {
            return Err(Problem::unsupported(format!(
                "recursion: subgraph {index} calls itself"
            )));
        }
        if self.callers.len() >= MOST_NESTING {
            return Err(Problem::unsupported(format!(
                "subgraphs that call each other more than {MOST_NESTING} deep"
            )));
        }
        Ok(())
    }

    pub(super) fn callers_of_body(&self) -> Vec<usize> {
        let mut callers = self.callers.clone();
        callers.push(self.index);
        callers
    }

    /// What is of the whole model, for the lowering of a body, which gives it back.
    pub(super) fn take_shared(&mut self) -> Shared<'m, 'a> {
        let vacant = Shared::vacant(self.shared.model, self.shared.options);
        std::mem::replace(&mut self.shared, vacant)
    }

    /// Lowers the subgraph as a body; its outputs.
    fn lower_body(&mut self, given: &[Given], order: &InputOrder<'_>) -> Result<Vec<Value>> {
        let graph = self.graph;
        let mut values = vec![Value::Refused; given.len()];
        for slot in order.slots(given) {
            match slot {
                Slot::Variable(id) => {
                    self.read_variable(id)?;
                    self.missing.remove(&id);
                }
                Slot::Given(at) => {
                    if let Given::Tensor(info) = &given[at] {
                        let name = cut(graph.tensors[graph.inputs[at]].name);
                        let id = self.builder.add_input_layer(name, info.clone())?;
                        values[at] = Value::Ready(id);
                    }
                }
            }
        }
        for (value, given) in values.iter_mut().zip(given) {
            match given {
                Given::Tensor(_) => {}
                Given::Handle(id) => *value = Value::Handle(*id),
                Given::Constant(info, data) => {
                    let id = self
                        .builder
                        .add_constant_layer("", info.clone(), data.clone())?;
                    *value = Value::Ready(id);
                }
            }
        }
        self.bind_inputs(&values)?;
        self.operators()?;
        let outputs = graph.outputs.iter();
        outputs.map(|&index| self.output_value(index)).collect()
    }

    /// Makes values those of the subgraph's inputs.
    pub(super) fn bind_inputs(&mut self, values: &[Value]) -> Result {
        let graph = self.graph;
        for (&index, &value) in graph.inputs.iter().zip(values) {
            self.unbound_input(index)
                .map_err(|problem| in_tensor(problem, index, &graph.tensors[index]))?;
            self.values[index] = value;
        }
        Ok(())
    }

    /// What an output of the subgraph is. Numbers are as the subgraph says, whatever the scales of
    /// what they go to.
    pub(super) fn output_value(&mut self, index: usize) -> Result<Value> {
        match self.values[index] {
            value @ (Value::Handle(_) | Value::Complex(_)) => Ok(value),
            _ => self.value(index).map(Value::Ready),
        }
    }
}
