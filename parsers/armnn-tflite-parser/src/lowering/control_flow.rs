//! WHILE, IF, CALL_ONCE, and calls of subgraphs.
//!
//! A body is a subgraph that becomes a network of its own. It takes what the operator gives it:
//! constants become constants of the body, handles of variables stay handles, and the rest are its
//! inputs. Variables that a body reads or writes are given to it as further inputs, and come out of
//! it as further outputs.
//!
//! What a body needs and gives is known once it has been lowered. It is lowered again until nothing
//! new comes up: a variable, or a size that changes from one iteration to the next and is unknown
//! from then on.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::{Network, NetworkBuilder, RuntimeOperation, TensorId, VariableValue};
use bytes::Bytes;

use super::context::Context;
use super::problem::{Problem, Result};
use super::subgraph::{Lowering, Role, Value, in_tensor};
use super::tensor_info::tensor_info;
use super::variables::VariableId;
use super::{Shared, cut};
use crate::schema_generated::{
    CallOnceOptionsRef, CallOptionsRef, IfOptionsRef, StableHloCompositeOptionsRef,
    StablehloCaseOptionsRef, StablehloWhileOptionsRef, WhileOptionsRef,
};

/// How deep bodies may stand in bodies.
const MOST_NESTING: usize = 16;

/// What an input of a body is.
#[derive(Clone)]
enum Given {
    /// A value that is different from one execution to the next.
    Tensor(TensorInfo),
    Constant(TensorInfo, Bytes),
    Handle(VariableId),
}

/// A body, lowered once.
struct Body {
    builder: NetworkBuilder,
    /// What its outputs are, in its own network.
    outputs: Vec<Value>,
    /// What it assigns.
    assigned: BTreeSet<VariableId>,
    /// What it reads or writes, but has not been given.
    missing: BTreeSet<VariableId>,
    /// What variables hold at its end.
    held: HashMap<VariableId, TensorId>,
}

pub(super) fn while_loop(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<WhileOptionsRef<'_>>()?;
    let condition = context.subgraph(options.cond_subgraph_index()?)?;
    let body = context.subgraph(options.body_subgraph_index()?)?;
    lower_while(context, condition, body)
}

pub(super) fn stablehlo_while(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloWhileOptionsRef<'_>>()?;
    let condition = context.subgraph(options.cond_subgraph_index()?)?;
    let body = context.subgraph(options.body_subgraph_index()?)?;
    lower_while(context, condition, body)
}

/// All inputs are carried, except those that the body hands on as they are.
fn lower_while(context: &mut Context<'_, '_, '_>, condition: usize, body: usize) -> Result {
    let count = context.input_count();
    let graphs = &context.lowering.shared.model.subgraphs;
    let (inputs, outputs) = (&graphs[body].inputs, &graphs[body].outputs);
    if [inputs.len(), outputs.len(), context.output_count()] != [count; 3]
        || graphs[condition].inputs.len() != count
        || graphs[condition].outputs.len() != 1
    {
        return Err(Problem::malformed(format!(
            "it carries {count} values, which are not those of its subgraphs"
        )));
    }
    let kept: Vec<bool> = inputs.iter().zip(outputs).map(|(i, o)| i == o).collect();
    let mut given = context.given(0, body)?;
    for (given, &kept) in given.iter_mut().zip(&kept) {
        // The first value of what changes may be a constant; the next ones are not.
        if let (Given::Constant(info, _), false) = (&*given, kept) {
            *given = Given::Tensor(info.clone());
        }
    }
    let carried = |given: &[Given]| -> Vec<usize> {
        let is_carried = |&at: &usize| !kept[at] && matches!(given[at], Given::Tensor(_));
        (0..count).filter(is_carried).collect()
    };
    let prefix = context.body_prefix();
    let mut threaded = Threaded::default();
    let (condition_body, loop_body) = loop {
        let order = InputOrder {
            first: carried(&given),
            threaded: &threaded,
        };
        let lowered = context.body(body, &format!("{prefix}body/"), &given, &order)?;
        let tested = context.body(condition, &format!("{prefix}cond/"), &given, &order)?;
        if !tested.assigned.is_empty() {
            return Err(Problem::unsupported(
                "a variable that is assigned in a condition",
            ));
        }
        let mut settled = !threaded.add(&lowered);
        settled &= !threaded.add(&tested);
        for at in carried(&given) {
            let (Given::Tensor(info), Value::Ready(id)) = (&mut given[at], lowered.outputs[at])
            else {
                continue;
            };
            let next = lowered.builder.tensor(id).map(|tensor| tensor.info.shape);
            settled &= !generalize(&mut info.shape, next)?;
        }
        if settled {
            break (tested, lowered);
        }
    };

    let first = carried(&given);
    let mut results = Vec::new();
    for &at in &first {
        results.push(tensor_of(loop_body.outputs[at])?);
    }
    for (at, given) in given.iter().enumerate() {
        if let Given::Handle(id) = given
            && loop_body.outputs[at] != Value::Handle(*id)
        {
            return Err(Problem::unsupported("a resource that changes in a loop"));
        }
    }
    let assigned = threaded.assigned();
    for id in &assigned {
        results.push(held(&loop_body, *id)?);
    }
    if results.is_empty() {
        return Err(Problem::unsupported(
            "a loop that changes nothing, and so ends never or at once",
        ));
    }
    let n_carried = results.len();
    let condition = finish(condition_body, |body| Ok(vec![tensor_of(body.outputs[0])?]))?;
    let body = finish(loop_body, |_| Ok(results))?;
    let operation = RuntimeOperation::While {
        condition: Arc::new(condition),
        body: Arc::new(body),
        n_carried,
    };
    let order = InputOrder {
        first: first.clone(),
        threaded: &threaded,
    };
    let inputs = context.body_inputs(0, &given, &order)?;
    let name = context.runtime_layer_name();
    let builder = &mut context.lowering.builder;
    let ids = builder.add_runtime_layer(&name, operation, &inputs)?;
    let (outputs, variables) = ids.split_at(first.len());
    for (&position, &id) in first.iter().zip(outputs) {
        context.bind(position, id)?;
    }
    for (&variable, &id) in assigned.iter().zip(variables) {
        context.lowering.assign_variable(variable, id)?;
    }
    // What stays the same.
    for position in (0..count).filter(|at| !first.contains(at)) {
        let index = context.operator.inputs.get(position);
        let value = match index.map(|index| context.lowering.values[index]) {
            Some(handle @ Value::Handle(_)) => handle,
            _ => Value::Ready(context.input(position)?),
        };
        context.bind_value(position, value)?;
    }
    Ok(())
}

/// The first input is the condition; the others are those of both subgraphs.
pub(super) fn if_else(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<IfOptionsRef<'_>>()?;
    let then_graph = context.subgraph(options.then_subgraph_index()?)?;
    let else_graph = context.subgraph(options.else_subgraph_index()?)?;
    let condition = context.input(0)?;
    let branches = [(then_graph, "then/"), (else_graph, "else/")];
    lower_branches(context, condition, 1, branches)
}

/// Two branches by the inputs from `first` on.
fn lower_branches(
    context: &mut Context<'_, '_, '_>,
    condition: TensorId,
    first: usize,
    branches: [(usize, &str); 2],
) -> Result {
    let count = context.output_count();
    for (graph, _) in branches {
        let graph = &context.lowering.shared.model.subgraphs[graph];
        if graph.inputs.len() + first != context.input_count() || graph.outputs.len() != count {
            return Err(Problem::malformed(
                "its inputs and outputs are not those of its subgraphs",
            ));
        }
    }
    let given = context.given(first, branches[0].0)?;
    let prefix = context.body_prefix();
    let mut threaded = Threaded::default();
    let [then_body, else_body] = loop {
        let order = InputOrder {
            first: tensors_of(&given),
            threaded: &threaded,
        };
        let mut lower = |(graph, name): (usize, &str)| {
            context.body(graph, &format!("{prefix}{name}"), &given, &order)
        };
        let bodies = [lower(branches[0])?, lower(branches[1])?];
        let mut settled = true;
        for body in &bodies {
            settled &= !threaded.add(body);
        }
        if settled {
            break bodies;
        }
    };
    let mut outputs = Vec::new();
    for position in 0..count {
        match [then_body.outputs[position], else_body.outputs[position]] {
            [Value::Handle(a), Value::Handle(b)] if a == b => {
                context.bind_value(position, Value::Handle(a))?;
            }
            [Value::Handle(_), _] | [_, Value::Handle(_)] => {
                return Err(Problem::unsupported("a resource that a condition chooses"));
            }
            _ => outputs.push(position),
        }
    }
    let assigned = threaded.assigned();
    if outputs.is_empty() && assigned.is_empty() {
        return Ok(());
    }
    let results = |body: &Body| {
        let of_outputs = outputs.iter().map(|&at| tensor_of(body.outputs[at]));
        let of_variables = assigned.iter().map(|&id| held(body, id));
        of_outputs.chain(of_variables).collect::<Result<Vec<_>>>()
    };
    let operation = RuntimeOperation::If {
        then_body: Arc::new(finish(then_body, results)?),
        else_body: Arc::new(finish(else_body, results)?),
    };
    let order = InputOrder {
        first: tensors_of(&given),
        threaded: &threaded,
    };
    let mut inputs = vec![Some(condition)];
    inputs.extend(context.body_inputs(first, &given, &order)?);
    let name = context.runtime_layer_name();
    let builder = &mut context.lowering.builder;
    let ids = builder.add_runtime_layer(&name, operation, &inputs)?;
    let (of_outputs, of_variables) = ids.split_at(outputs.len());
    for (&position, &id) in outputs.iter().zip(of_outputs) {
        context.bind(position, id)?;
    }
    for (&variable, &id) in assigned.iter().zip(of_variables) {
        context.lowering.assign_variable(variable, id)?;
    }
    Ok(())
}

/// One of two branches by a number; of more, only where the number is a constant.
pub(super) fn case(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloCaseOptionsRef<'_>>()?;
    let mut branches = Vec::new();
    for index in options.branch_subgraph_indices()?.into_iter().flatten() {
        branches.push(context.subgraph(index)?);
    }
    let Some(&last) = branches.last() else {
        return Err(Problem::malformed("it has no branches"));
    };
    // A number outside is the last branch.
    if context.is_known(0) {
        let number = context.integer(0, "the number of the branch")?;
        let chosen = usize::try_from(number).ok().and_then(|at| branches.get(at));
        return inline(context, chosen.copied().unwrap_or(last), 1);
    }
    let &[zero, other] = &branches[..] else {
        return Err(Problem::unsupported(format!(
            "{} branches; two are supported",
            branches.len()
        )));
    };
    let number = context.input(0)?;
    let condition = context.is_zero(number)?;
    lower_branches(context, condition, 1, [(zero, "0/"), (other, "1/")])
}

/// A subgraph that takes the operator's place.
pub(super) fn call(context: &mut Context<'_, '_, '_>) -> Result {
    let number = context.options::<CallOptionsRef<'_>>()?.subgraph()?;
    let graph = context.subgraph(i32::try_from(number).unwrap_or(-1))?;
    inline(context, graph, 0)
}

/// What the operator is made of. Its name and attributes are for those who know it as one.
pub(super) fn composite(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StableHloCompositeOptionsRef<'_>>()?;
    let graph = context.subgraph(options.decomposition_subgraph_index()?)?;
    inline(context, graph, 0)
}

fn inline(context: &mut Context<'_, '_, '_>, index: usize, first: usize) -> Result {
    let count = context.output_count();
    let graph = &context.lowering.shared.model.subgraphs[index];
    if graph.inputs.len() + first != context.input_count() || graph.outputs.len() != count {
        return Err(Problem::malformed(
            "its inputs and outputs are not those of its subgraph",
        ));
    }
    let mut values = Vec::new();
    for position in first..context.input_count() {
        values.push(context.input_value(position)?);
    }
    let prefix = context.body_prefix();
    let outer = &mut *context.lowering;
    outer.check_call(index)?;
    let mut inner = Lowering::new(outer.take_shared(), Default::default(), index, outer.role);
    inner.prefix = prefix;
    inner.callers = outer.callers_of_body();
    inner.builder = std::mem::take(&mut outer.builder);
    inner.held = std::mem::take(&mut outer.held);
    inner.assigned = std::mem::take(&mut outer.assigned);
    inner.missing = std::mem::take(&mut outer.missing);
    let lowered = inner.bind_inputs(&values).and_then(|()| {
        inner.operators()?;
        let outputs = graph.outputs.iter();
        outputs.map(|&at| inner.output_value(at)).collect()
    });
    outer.builder = inner.builder;
    outer.held = inner.held;
    outer.assigned = inner.assigned;
    outer.missing = inner.missing;
    outer.shared = inner.shared;
    let outputs: Vec<Value> = lowered?;
    for (position, value) in outputs.into_iter().enumerate() {
        context.bind_value(position, value)?;
    }
    Ok(())
}

/// What computes the first values of variables.
pub(super) struct Initializer {
    builder: NetworkBuilder,
    held: HashMap<VariableId, TensorId>,
    /// How many outputs it has.
    outputs: usize,
    /// The subgraphs that have been called.
    called: HashSet<usize>,
}

impl Initializer {
    /// Gives the network what computes first values, if any are computed.
    pub(super) fn set(self, builder: &mut NetworkBuilder) -> Result {
        if self.outputs > 0 {
            builder.set_initializer(Arc::new(self.builder.finish()?))?;
        }
        Ok(())
    }
}

/// The subgraph gives variables their first values. It is executed before the first inference, not
/// in its course.
pub(super) fn call_once(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<CallOnceOptionsRef<'_>>()?;
    let index = context.subgraph(options.init_subgraph_index()?)?;
    let outer = &mut *context.lowering;
    if outer.role != Role::Main {
        return Err(Problem::unsupported("CALL_ONCE in a body"));
    }
    let mut initializer = outer.shared.initializer.take().unwrap_or(Initializer {
        builder: NetworkBuilder::new(),
        held: HashMap::new(),
        outputs: 0,
        called: HashSet::new(),
    });
    if !initializer.called.insert(index) {
        outer.shared.initializer = Some(initializer);
        return Ok(());
    }
    outer.check_call(index)?;
    let mut inner = Lowering::new(
        outer.take_shared(),
        initializer.builder,
        index,
        Role::Initializer,
    );
    inner.prefix = "once/".to_owned();
    inner.callers = outer.callers_of_body();
    inner.held = initializer.held;
    let lowered = inner.operators();
    outer.shared = inner.shared;
    lowered?;
    for &id in &inner.assigned {
        let Some(&held) = inner.held.get(&id) else {
            continue;
        };
        if outer.held.contains_key(&id) {
            return Err(Problem::unsupported(
                "a variable that is used before CALL_ONCE gives it its first value",
            ));
        }
        let constant = inner.builder.tensor(held).and_then(|t| t.constant());
        let initial = match constant {
            Some(elements) => VariableValue::Elements(elements.clone()),
            None => {
                inner.builder.add_output_layer("", held)?;
                initializer.outputs += 1;
                VariableValue::Computed(initializer.outputs - 1)
            }
        };
        outer.shared.variables.initialize(id, initial);
    }
    outer.shared.initializer = Some(Initializer {
        builder: inner.builder,
        held: inner.held,
        outputs: initializer.outputs,
        called: initializer.called,
    });
    Ok(())
}

/// Variables that are given to bodies, and those of them that are assigned.
#[derive(Default)]
struct Threaded {
    /// For each variable, whether it is assigned.
    all: BTreeMap<VariableId, bool>,
}

impl Threaded {
    /// Whether a body tells of something new.
    fn add(&mut self, body: &Body) -> bool {
        let mut changed = false;
        for &id in &body.missing {
            changed |= self.all.insert(id, false).is_none();
        }
        for &id in &body.assigned {
            changed |= self.all.insert(id, true) != Some(true);
        }
        changed
    }

    fn assigned(&self) -> Vec<VariableId> {
        self.of(true)
    }

    fn of(&self, assigned: bool) -> Vec<VariableId> {
        let matching = self.all.iter().filter(|(_, is)| **is == assigned);
        matching.map(|(&id, _)| id).collect()
    }
}

/// The order of a body's inputs: some of the operator's, variables that are assigned, others of the
/// operator's, variables that are only read.
struct InputOrder<'t> {
    first: Vec<usize>,
    threaded: &'t Threaded,
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
fn tensors_of(given: &[Given]) -> Vec<usize> {
    let is_tensor = |&at: &usize| matches!(given[at], Given::Tensor(_));
    (0..given.len()).filter(is_tensor).collect()
}

fn tensor_of(value: Value) -> Result<TensorId> {
    match value {
        Value::Ready(id) => Ok(id),
        Value::Handle(_) => Err(Problem::unsupported("a resource that changes in a body")),
        _ => Err(Problem::Unavailable),
    }
}

fn held(body: &Body, id: VariableId) -> Result<TensorId> {
    let held = body.held.get(&id).copied();
    held.ok_or_else(|| Problem::malformed("a variable that a body has not been given"))
}

/// Makes a network of a body.
fn finish(body: Body, results: impl FnOnce(&Body) -> Result<Vec<TensorId>>) -> Result<Network> {
    let results = results(&body)?;
    let mut builder = body.builder;
    for id in results {
        builder.add_output_layer("", id)?;
    }
    Ok(builder.finish()?)
}

/// Makes sizes that differ unknown; whether there are any.
fn generalize(shape: &mut Shape, next: Option<Shape>) -> Result<bool> {
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
    fn subgraph(&self, index: i32) -> Result<usize> {
        let count = self.lowering.shared.model.subgraphs.len();
        match usize::try_from(index) {
            Ok(valid) if valid < count => Ok(valid),
            _ => Err(Problem::malformed(format!(
                "it names subgraph {index}, but there are only {count}"
            ))),
        }
    }

    /// What the names of layers in the operator's bodies begin with.
    fn body_prefix(&mut self) -> String {
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

    fn runtime_layer_name(&self) -> String {
        match self.output_tensor(0) {
            Ok(tensor) => self.lowering.layer_name(tensor),
            Err(_) => format!("{}{}", self.lowering.prefix, self.operator.code.name()),
        }
    }

    /// What the operator's inputs from `first` on are for the subgraph `graph`.
    fn given(&mut self, first: usize, graph: usize) -> Result<Vec<Given>> {
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
    fn body_input(
        &mut self,
        value: Value,
        inner: usize,
        graph: &crate::model::SubGraph<'_>,
    ) -> Result<TensorId> {
        let id = tensor_of(value)?;
        let declared = &graph.tensors[inner];
        let info = tensor_info(declared).map_err(|p| in_tensor(p, inner, declared))?;
        self.lowering.reinterpreted(id, &info)
    }

    /// The inputs of an operation whose bodies have their inputs in this order.
    fn body_inputs(
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
    fn body(
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
    fn check_call(&self, index: usize) -> Result {
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

    fn callers_of_body(&self) -> Vec<usize> {
        let mut callers = self.callers.clone();
        callers.push(self.index);
        callers
    }

    /// What is of the whole model, for the lowering of a body, which gives it back.
    fn take_shared(&mut self) -> Shared<'m, 'a> {
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
    fn bind_inputs(&mut self, values: &[Value]) -> Result {
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
    fn output_value(&mut self, index: usize) -> Result<Value> {
        match self.values[index] {
            value @ (Value::Handle(_) | Value::Complex(_)) => Ok(value),
            _ => self.value(index).map(Value::Ready),
        }
    }
}

/// Whether a number is 0, as a Boolean.
impl Context<'_, '_, '_> {
    fn is_zero(&mut self, number: TensorId) -> Result<TensorId> {
        use armnn_backend_api::{ComparisonDescriptor, ComparisonOperation};

        let data_type = self.info(number)?.data_type;
        if !matches!(data_type, DataType::Signed32 | DataType::Signed64) {
            return Err(Problem::malformed(format!("the branch is a {data_type}")));
        }
        let zero = self.scalar(data_type, 0.0)?;
        let equal = ComparisonDescriptor::new(ComparisonOperation::Equal);
        let inputs = [Some(number), Some(zero)];
        self.step(0, equal, &inputs, Default::default())
    }
}
