//! A loaded network: its parts, in the order in which they are executed.

use std::{collections::HashSet, sync::Arc};

use armnn_backend_api::{Shape, TensorInfo};
use armnn_network::{Network, RuntimeOperation, TensorId, ValueType, VariableValue};

use super::{LoadOptions, graph_state::failed, segment::LoadedSegment};
use crate::{
    error::{ExecuteError, LoadError},
    optimizer::{OptimizedGraph, OptimizedOperation, OptimizedPart},
    tensor::HostTensor,
    thread_pool::ThreadPool,
    value::Value,
};

/// A loaded network, or a body of one. Values that go from one part to another have a slot each.
pub(crate) struct LoadedGraph {
    pub(super) parts: Vec<LoadedPart>,
    /// For each part, what nothing reads after it.
    pub(super) last_read: Vec<LastRead>,
    /// What slots hold before the first part.
    pub(super) constants: Vec<(usize, Value)>,
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
    /// For each slot, the tensor.
    pub(super) tensors: Vec<TensorId>,
    pub(super) variables: Vec<LoadedVariable>,
    pub(super) initializer: Option<Box<LoadedGraph>>,
    pub(super) network: Arc<Network>,
}

/// A part of a graph.
pub(super) enum LoadedPart {
    Segment {
        segment: Arc<LoadedSegment>,
        inputs: Vec<usize>,
        outputs: Vec<usize>,
    },
    Operation(LoadedOperation),
}

/// Something that the runtime does itself.
pub(super) struct LoadedOperation {
    /// Name and type, for messages.
    pub(super) name: String,
    pub(super) operation: RuntimeOperation,
    pub(super) bodies: Vec<LoadedGraph>,
    pub(super) inputs: Vec<Option<usize>>,
    pub(super) outputs: Vec<usize>,
    /// What the outputs are, as far as it is known.
    pub(super) output_types: Vec<ValueType>,
}

/// A variable, with its slots.
pub(super) struct LoadedVariable {
    pub(super) name: String,
    pub(super) info: TensorInfo,
    pub(super) initial: VariableValue,
    pub(super) input: usize,
    pub(super) output: Option<usize>,
}

impl LoadedGraph {
    pub(super) fn new(
        optimized: OptimizedGraph,
        options: &LoadOptions,
        pool: &Arc<ThreadPool>,
    ) -> Result<Self, LoadError> {
        let parts = optimized.parts.into_iter().map(|part| match part {
            OptimizedPart::Segment(mut segment) => {
                let inputs = std::mem::take(&mut segment.inputs);
                let outputs = std::mem::take(&mut segment.outputs);
                let segment = LoadedSegment::new(segment, options, pool);
                Ok(LoadedPart::Segment {
                    segment: Arc::new(segment),
                    inputs,
                    outputs,
                })
            }
            OptimizedPart::Operation(operation) => {
                LoadedOperation::new(operation, options, pool).map(LoadedPart::Operation)
            }
        });
        let constants = optimized.constants.into_iter().map(|(slot, info, bytes)| {
            let tensor = HostTensor::from_bytes(info, &bytes);
            let tensor = tensor.map_err(|e| LoadError::OutOfMemory {
                bytes: bytes.len() as u64,
                what: e.to_string(),
            })?;
            Ok((slot, tensor.into()))
        });
        let initializer = optimized
            .initializer
            .map(|graph| Self::new(*graph, options, pool));
        let variables = optimized
            .variables
            .into_iter()
            .map(|variable| LoadedVariable {
                name: variable.name,
                info: variable.info,
                initial: variable.initial,
                input: variable.input,
                output: variable.output,
            });
        let parts: Vec<LoadedPart> = parts.collect::<Result<_, LoadError>>()?;
        let variables: Vec<LoadedVariable> = variables.collect();
        let assigned = variables.iter().filter_map(|variable| variable.output);
        let kept = optimized.outputs.iter().copied().chain(assigned);
        Ok(Self {
            last_read: last_read(&parts, kept),
            parts,
            constants: constants.collect::<Result<_, LoadError>>()?,
            inputs: optimized.inputs,
            outputs: optimized.outputs,
            tensors: optimized.tensors,
            variables,
            initializer: initializer.transpose()?.map(Box::new),
            network: optimized.network,
        })
    }

    /// Checks that the inputs are what the network declares, on which rests what is known of it.
    pub(super) fn check_inputs(&self, values: &[Option<Value>]) -> Result<(), ExecuteError> {
        for (&slot, &id) in self.inputs.iter().zip(self.network.inputs()) {
            let tensor = self.network.tensor(id);
            let fits = |value: &Value| match &tensor.value_type {
                None => value.is_of_info(&tensor.info),
                Some(value_type) => value.is_of(value_type),
            };
            if let Some(value) = &values[slot]
                && !fits(value)
            {
                let (taken, given) = (tensor.value_type(), value.describe());
                let problem = format!("it is {taken} (? is any size), and is given {given}");
                return Err(failed(&format!("input '{}'", tensor.name), problem));
            }
        }
        Ok(())
    }

    /// The segment that the network is, if it is just one.
    pub(super) fn plain(&self) -> Option<&Arc<LoadedSegment>> {
        match &self.parts[..] {
            [LoadedPart::Segment { segment, .. }]
                if self.variables.is_empty()
                    && !segment.value_inputs.contains(&true)
                    && Arc::ptr_eq(&segment.network, &self.network) =>
            {
                Some(segment)
            }
            _ => None,
        }
    }

    /// Plans the segments whose shapes are known.
    ///
    /// # Errors
    /// When one cannot be planned. Constants that a layer of a body fails on, and a body that is beyond the
    /// memory limit, are none: the body may never be executed, and if it is, that fails.
    pub(super) fn plan_if_known(&self) -> Result<(), LoadError> {
        for part in &self.parts {
            match part {
                LoadedPart::Segment { segment, .. } => segment.plan_if_known()?,
                LoadedPart::Operation(operation) => {
                    for body in &operation.bodies {
                        match body.plan_if_known() {
                            Err(
                                e @ (LoadError::ConstantLayers(_)
                                | LoadError::MemoryLimit { .. }
                                | LoadError::TensorTooLarge { .. }),
                            ) => {
                                log::debug!(
                                    "a body of {} fails if it is executed: {e}",
                                    operation.name
                                );
                            }
                            planned => planned?,
                        }
                    }
                }
            }
        }
        match &self.initializer {
            Some(initializer) => initializer.plan_if_known(),
            None => Ok(()),
        }
    }

    /// All segments, those of bodies among them.
    pub(super) fn segments(&self) -> Vec<&Arc<LoadedSegment>> {
        let mut segments = Vec::new();
        self.collect_segments(&mut segments);
        segments
    }

    fn collect_segments<'a>(&'a self, segments: &mut Vec<&'a Arc<LoadedSegment>>) {
        for part in &self.parts {
            match part {
                LoadedPart::Segment { segment, .. } => segments.push(segment),
                LoadedPart::Operation(operation) => {
                    for body in &operation.bodies {
                        body.collect_segments(segments);
                    }
                }
            }
        }
        if let Some(initializer) = &self.initializer {
            initializer.collect_segments(segments);
        }
    }

    /// The shapes of the inputs, as the model declares them.
    pub(super) fn declared_input_shapes(&self) -> Vec<Shape> {
        let inputs = self.network.inputs().iter();
        inputs
            .map(|&id| self.network.tensor(id).info.shape)
            .collect()
    }
}

/// Slots that nothing reads after a part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LastRead {
    /// Of what it reads itself.
    pub(super) inputs: Vec<usize>,
    /// Of what it gives.
    pub(super) outputs: Vec<usize>,
}

/// For each part, the slots that no later part reads, and that are not among those that are `kept`.
fn last_read(parts: &[LoadedPart], kept: impl Iterator<Item = usize>) -> Vec<LastRead> {
    let mut seen: HashSet<usize> = kept.collect();
    let mut last_read: Vec<LastRead> = parts
        .iter()
        .rev()
        .map(|part| {
            let (segment, operation, outputs) = match part {
                LoadedPart::Segment {
                    inputs, outputs, ..
                } => (&inputs[..], &[][..], outputs),
                LoadedPart::Operation(operation) => {
                    (&[][..], &operation.inputs[..], &operation.outputs)
                }
            };
            let inputs = segment.iter().chain(operation.iter().flatten());
            let mut unread = |slots: &mut dyn Iterator<Item = &usize>| {
                slots.copied().filter(|&slot| seen.insert(slot)).collect()
            };
            LastRead {
                outputs: unread(&mut outputs.iter()),
                inputs: unread(&mut inputs.into_iter()),
            }
        })
        .collect();
    last_read.reverse();
    last_read
}

impl LoadedOperation {
    fn new(
        optimized: OptimizedOperation,
        options: &LoadOptions,
        pool: &Arc<ThreadPool>,
    ) -> Result<Self, LoadError> {
        let bodies = optimized.bodies.into_iter();
        Ok(Self {
            name: optimized.name,
            operation: optimized.operation,
            bodies: bodies
                .map(|body| LoadedGraph::new(body, options, pool))
                .collect::<Result<_, _>>()?,
            inputs: optimized.inputs,
            outputs: optimized.outputs,
            output_types: optimized.output_types,
        })
    }

    /// Checks that the outputs are what was inferred, on which rests what is known of other layers.
    pub(super) fn check_outputs(&self, values: &[Value]) -> Result<(), ExecuteError> {
        let mut pairs = values.iter().zip(&self.output_types).enumerate();
        match pairs.find(|(_, (value, expected))| !value.is_of(expected)) {
            None => Ok(()),
            Some((index, (value, expected))) => {
                let found = value.describe();
                let problem = format!(
                    "output {index} is {found}, where {expected} (? is any size) was inferred"
                );
                Err(failed(&self.name, problem))
            }
        }
    }

    /// What an output is that is a tensor, as far as it is known.
    pub(super) fn output_info(&self, index: usize) -> Option<&TensorInfo> {
        match self.output_types.get(index)? {
            ValueType::Tensor(info) => Some(info),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_network::SequenceOperation;

    use super::*;

    fn part(inputs: &[Option<usize>], outputs: &[usize]) -> LoadedPart {
        LoadedPart::Operation(LoadedOperation {
            name: String::new(),
            operation: RuntimeOperation::Sequence(SequenceOperation::Construct),
            bodies: Vec::new(),
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            output_types: Vec::new(),
        })
    }

    #[test]
    fn values_are_let_go_after_the_part_that_reads_them_last() {
        let parts = [
            part(&[Some(0), Some(1), Some(0)], &[2, 3]),
            part(&[Some(2), None, Some(1)], &[4]),
            part(&[Some(4), Some(2)], &[5, 6]),
        ];
        // 0 is read by the first part only, and 3 by none; 1 by the first two; 2 and 4 by the last, of
        // which 5 is an output of the network and 6 is not.
        let kept = [5].into_iter();
        let last_read = last_read(&parts, kept);
        let found = last_read.iter().map(|l| (&l.inputs[..], &l.outputs[..]));
        let expected: [(&[usize], &[usize]); 3] = [(&[0], &[3]), (&[1], &[]), (&[4, 2], &[6])];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
