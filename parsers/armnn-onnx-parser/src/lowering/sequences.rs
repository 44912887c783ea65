//! Sequences and optionals.

use std::sync::Arc;

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::{
    LoopBody, NetworkBuilder, RuntimeOperation, SequenceOperation, TensorId, ValueType,
};

use super::State;
use super::bodies::{add_captured, captured_tensors};
use super::context::Context;
use super::control_flow::emit_runtime;
use super::problem::{Problem, Result};

/// An operation whose inputs are the node's.
pub(super) fn plain(c: &mut Context<'_, '_>, operation: SequenceOperation) -> Result {
    let inputs = (0..c.input_count())
        .map(|position| c.optional_input(position))
        .collect::<Result<Vec<_>>>()?;
    emit_runtime(c, RuntimeOperation::Sequence(operation), &inputs)
}

/// Of which type the values will be, what is put in says.
pub(super) fn empty(c: &mut Context<'_, '_>) -> Result {
    c.attributes.ignore("dtype");
    plain(c, SequenceOperation::Empty)
}

pub(super) fn split(c: &mut Context<'_, '_>) -> Result {
    let axis = c.attributes.int("axis", 0)?;
    let keep_dims = c.attributes.flag("keepdims", true)?;
    plain(c, SequenceOperation::Split { axis, keep_dims })
}

pub(super) fn concat(c: &mut Context<'_, '_>) -> Result {
    let axis = c.attributes.optional_int("axis")?;
    let axis = axis.ok_or_else(|| Problem::malformed("it has no axis"))?;
    let new_axis = c.attributes.flag("new_axis", false)?;
    plain(c, SequenceOperation::Concat { axis, new_axis })
}

pub(super) fn optional(c: &mut Context<'_, '_>) -> Result {
    c.attributes.ignore("type");
    plain(c, SequenceOperation::Optional)
}

/// A body for each element: a Loop that takes the elements out of the sequences, and appends what
/// the body gives to new ones.
pub(super) fn map(c: &mut Context<'_, '_>) -> Result {
    let body = c.body("body")?;
    let mut inputs = Vec::new();
    for position in 0..c.input_count() {
        inputs.push(c.input(position)?);
    }
    let Some(&first) = inputs.first() else {
        return Err(Problem::malformed("it has no inputs"));
    };
    let n_outputs = body.graph.outputs.len();
    let captured = c.captured(&[body])?;
    let length = c.step_runtime(
        RuntimeOperation::Sequence(SequenceOperation::Length),
        &[Some(first)],
    )?;
    // The types of the new sequences are known once the body has been lowered: at first they are
    // those of empty ones.
    let mut carried = Vec::with_capacity(n_outputs);
    for _ in 0..n_outputs {
        let empty = RuntimeOperation::Sequence(SequenceOperation::Empty);
        carried.push(c.step_runtime(empty, &[])?);
    }
    let mut builder = NetworkBuilder::new();
    let scalar = |data_type| TensorInfo::new(data_type, Shape::SCALAR);
    let iteration = builder.add_input_layer("iteration", scalar(DataType::Signed64))?;
    let goes_on = builder.add_input_layer("goes_on", scalar(DataType::Boolean))?;
    let mut sequences = Vec::with_capacity(n_outputs);
    for (&id, (name, _)) in carried.iter().zip(&body.graph.outputs) {
        let of = c.value_type(id)?;
        sequences.push(builder.add_value_input(name, of)?);
    }
    let prefix = c.step_name("body");
    let mut elements = Vec::with_capacity(inputs.len());
    for (position, &id) in inputs.iter().enumerate() {
        let of = c.value_type(id)?;
        let is_sequence = matches!(of, ValueType::Sequence(_));
        let name = format!("input {position}");
        let mut given = builder.add_value_input(&name, of)?;
        if is_sequence {
            let at = RuntimeOperation::Sequence(SequenceOperation::At);
            let name = format!("{prefix}/SequenceAt:{position}");
            let taken = builder.add_runtime_layer(&name, at, &[Some(given), Some(iteration)])?;
            given = taken.first().copied().unwrap_or(given);
        }
        elements.push(State::Ready(given));
    }
    let captures = add_captured(&mut builder, c.lowering, &captured)?;
    let network = c.within(body, "body", builder, elements, captures, |inner| {
        inner.builder.add_output_layer("goes_on", goes_on)?;
        for ((name, index), &sequence) in inner.graph.outputs.iter().zip(&sequences) {
            let value = inner.tensor(*index)?;
            let insert = RuntimeOperation::Sequence(SequenceOperation::Insert);
            let layer = format!("{prefix}/SequenceInsert/{}", crate::error::cut(name));
            let longer: Vec<TensorId> = (inner.builder).add_runtime_layer(
                &layer,
                insert,
                &[Some(sequence), Some(value)],
            )?;
            for id in longer {
                inner.builder.add_output_layer(name, id)?;
            }
        }
        Ok(Arc::new(std::mem::take(&mut inner.builder).finish()?))
    })?;
    let operation = RuntimeOperation::Loop(LoopBody {
        network,
        n_carried: n_outputs,
    });
    let mut all = vec![Some(length), None];
    all.extend(carried.into_iter().chain(inputs).map(Some));
    all.extend(captured_tensors(&captured));
    emit_runtime(c, operation, &all)
}
