//! Graphs that are attributes of nodes.
//!
//! A body is lowered where the node stands, for the types and shapes of what it is given: what it
//! declares itself is not looked at, and bodies often declare nothing. What it captures are
//! constants of it where they are constants around it, and inputs otherwise.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use armnn_network::{Network, NetworkBuilder, TensorId, ValueType};

use super::constant::Constant;
use super::context::Context;
use super::problem::{Problem, Result};
use super::{Lowering, State, values_read};
use crate::model::Body;

/// What a value of a body is given.
#[derive(Clone)]
pub(super) enum Given {
    /// A constant.
    Constant(Rc<Constant>),
    /// An input of the body of this type.
    Input(ValueType),
}

/// What bodies capture: a value of the graph around them, and what it is there.
pub(super) struct Captured {
    outer: usize,
    given: Given,
    /// The tensor around the bodies, if it is no constant.
    tensor: Option<TensorId>,
}

impl<'m> Context<'_, 'm> {
    /// The graph that an attribute is.
    pub(super) fn body(&self, name: &str) -> Result<&'m Body> {
        self.attributes.ignore(name);
        let mut bodies = self.node.bodies.iter();
        bodies
            .find(|body| body.attribute == name)
            .ok_or_else(|| Problem::malformed(format!("it has no graph {name}")))
    }

    /// What several bodies capture, each value once, in the order in which they first read it.
    pub(super) fn captured(&mut self, bodies: &[&'m Body]) -> Result<Vec<Captured>> {
        let mut all: Vec<Captured> = Vec::new();
        let mut seen = HashSet::new();
        for capture in bodies.iter().flat_map(|body| &body.captures) {
            if !seen.insert(capture.outer) {
                continue;
            }
            let (given, tensor) = self.given(capture.outer)?;
            all.push(Captured {
                outer: capture.outer,
                given,
                tensor,
            });
        }
        Ok(all)
    }

    /// What a value of this graph is for a body.
    fn given(&mut self, index: usize) -> Result<(Given, Option<TensorId>)> {
        if let Some(constant) = self.lowering.constant(index)? {
            return Ok((Given::Constant(constant), None));
        }
        let id = self.lowering.tensor(index)?;
        Ok((Given::Input(self.value_type(id)?), Some(id)))
    }

    /// What a tensor of the network is.
    pub(super) fn value_type(&self, id: TensorId) -> Result<ValueType> {
        let found = self.lowering.builder.value_type(id);
        found.ok_or_else(|| Problem::malformed("a tensor that is not there is read"))
    }

    /// Lowers a body as a network: its inputs are those given for its own (but for constants), then
    /// what was captured.
    pub(super) fn body_network(
        &mut self,
        body: &'m Body,
        what: &str,
        given: &[(String, Given)],
        captured: &[Captured],
    ) -> Result<Arc<Network>> {
        let mut builder = NetworkBuilder::new();
        let mut states = Vec::with_capacity(given.len());
        for (name, given) in given {
            states.push(add_given(&mut builder, name, given)?);
        }
        let captures = add_captured(&mut builder, self.lowering, captured)?;
        self.within(body, what, builder, states, captures, |inner| {
            for (name, index) in &inner.graph.outputs {
                let id = inner.tensor(*index)?;
                inner.builder.add_output_layer(name, id)?;
            }
            let network = std::mem::take(&mut inner.builder).finish()?;
            Ok(Arc::new(network))
        })
    }

    /// Lowers a body into the network around it, and returns what its outputs are.
    pub(super) fn inlined(
        &mut self,
        body: &'m Body,
        what: &str,
        inputs: Vec<State>,
    ) -> Result<Vec<State>> {
        let mut captures = Vec::with_capacity(body.captures.len());
        for capture in &body.captures {
            let state = match self.lowering.constant(capture.outer)? {
                Some(constant) => State::Constant(constant, None),
                None => State::Ready(self.lowering.tensor(capture.outer)?),
            };
            captures.push((capture.outer, state));
        }
        let builder = std::mem::take(&mut self.lowering.builder);
        // The builder comes back whatever happens.
        let mut back = None;
        let result = self.within(body, what, builder, inputs, captures, |inner| {
            let outputs = inner.graph.outputs.iter().map(|(_, index)| *index);
            let outputs: Vec<usize> = outputs.collect();
            let states = outputs
                .into_iter()
                .map(|index| match inner.constant(index)? {
                    Some(constant) => Ok(State::Constant(constant, None)),
                    None => inner.tensor(index).map(State::Ready),
                })
                .collect::<Result<Vec<_>>>();
            back = Some(std::mem::take(&mut inner.builder));
            states
        });
        if let Some(builder) = back {
            self.lowering.builder = builder;
        }
        result
    }

    /// Lowers the nodes of a body into a builder, and ends with something.
    ///
    /// `inputs` are what the inputs of the body are, `captures` what values around it are. `finish`
    /// is called even when nodes were refused, which lets it keep the builder.
    pub(super) fn within<T>(
        &mut self,
        body: &'m Body,
        what: &str,
        builder: NetworkBuilder,
        inputs: Vec<State>,
        captures: Vec<(usize, State)>,
        finish: impl FnOnce(&mut Lowering<'m>) -> Result<T>,
    ) -> Result<T> {
        let graph = &body.graph;
        let cost = graph.values.len().saturating_add(graph.nodes.len());
        let left = self.lowering.shared.body_budget.checked_sub(cost);
        let within_budget = left.is_some();
        self.lowering.shared.body_budget = left.unwrap_or(0);
        let prefix = match self.layer_name(0) {
            name if name.is_empty() => {
                format!("{}{}/{what}/", self.lowering.prefix, self.node.op_type)
            }
            name => format!("{}/{what}/", crate::error::cut(&name)),
        };
        let mut inner = Lowering {
            model: self.lowering.model,
            graph,
            options: self.lowering.options,
            builder,
            states: vec![State::Pending; graph.values.len()],
            is_read: values_read(graph),
            writers: HashMap::new(),
            prefix,
            is_body: true,
            shared: std::mem::take(&mut self.lowering.shared),
        };
        let count = inputs.len();
        for (&index, state) in graph.inputs.iter().zip(inputs) {
            inner.states[index] = state;
        }
        let outer: HashMap<usize, State> = captures.into_iter().collect();
        for capture in &body.captures {
            if let Some(state) = outer.get(&capture.outer) {
                inner.states[capture.inner] = state.clone();
            }
        }
        let refused = inner.shared.refusals.count();
        let lowered = match graph.inputs.len() == count {
            true if within_budget => inner.nodes().map_err(Problem::from),
            true => Err(Problem::malformed(
                "graphs lie in each other so that lowering them would take too long",
            )),
            false => Err(Problem::malformed(format!(
                "its graph {what} has {} inputs, and is given {count}",
                graph.inputs.len()
            ))),
        };
        let finished = finish(&mut inner);
        let now = inner.shared.refusals.count();
        self.lowering.shared = inner.shared;
        lowered?;
        if now > refused {
            return Err(Problem::Unavailable);
        }
        finished
    }
}

fn add_given(builder: &mut NetworkBuilder, name: &str, given: &Given) -> Result<State> {
    Ok(match given {
        Given::Constant(constant) => State::Constant(Rc::clone(constant), None),
        Given::Input(value_type) => {
            State::Ready(builder.add_value_input(name, value_type.clone())?)
        }
    })
}

/// Adds what is captured to the inputs of a body.
pub(super) fn add_captured(
    builder: &mut NetworkBuilder,
    around: &Lowering<'_>,
    captured: &[Captured],
) -> Result<Vec<(usize, State)>> {
    let mut states = Vec::with_capacity(captured.len());
    for captured in captured {
        let name = &around.graph.values[captured.outer].name;
        states.push((captured.outer, add_given(builder, name, &captured.given)?));
    }
    Ok(states)
}

/// The tensors that are captured, as inputs of the layer around the bodies.
pub(super) fn captured_tensors(captured: &[Captured]) -> Vec<Option<TensorId>> {
    let tensors = captured.iter().filter(|captured| captured.tensor.is_some());
    tensors.map(|captured| captured.tensor).collect()
}
