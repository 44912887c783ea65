//! WHILE, IF, and calls of subgraphs: operators whose bodies are subgraphs.
//!
//! WHILE and IF become operations of the runtime, with networks of their own for bodies; what a
//! subgraph that is only called holds goes where the operator is.

use std::sync::Arc;

use armnn_backend_api::DataType;
use armnn_network::{RuntimeOperation, TensorId};

use super::body::{
    Body, Given, InputOrder, Threaded, finish, generalize, held, tensor_of, tensors_of,
};
use super::context::Context;
use super::problem::{Problem, Result};
use super::subgraph::{Lowering, Value};
use crate::schema_generated::{
    CallOptionsRef, IfOptionsRef, StableHloCompositeOptionsRef, StablehloCaseOptionsRef,
    StablehloWhileOptionsRef, WhileOptionsRef,
};

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

#[cfg(test)]
mod tests;
