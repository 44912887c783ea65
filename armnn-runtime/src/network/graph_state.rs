//! The execution of a graph, part by part.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use armnn_backend_api::{BackendError, Shape, Status};
use armnn_network::{KnownValue, LayerId};

use super::{
    StepTime,
    graph::{LastRead, LoadedGraph, LoadedPart},
    operations,
    profile::EventRing,
    segment::LoadedSegment,
    segment_state::SegmentState,
};
use crate::{
    error::{ExecuteError, LoadError},
    optimizer::AssignmentReport,
    tensor::HostTensor,
    value::Value,
};

/// How many execution states of one segment are kept, for different shapes.
const KEPT_STATES: usize = 4;

/// What one caller needs to execute a graph: the values between its parts, and what the parts need.
pub(super) struct GraphState {
    slots: Slots,
    parts: Vec<PartState>,
}

/// The values between parts.
struct Slots {
    values: Vec<Option<Value>>,
    /// What they take.
    held: Vec<Option<Held>>,
}

enum PartState {
    Segment(Arc<SegmentStates>),
    /// Of each body.
    Operation(Vec<GraphState>),
}

/// The execution states of one segment, that used last at the end. Locked while one is executed.
type SegmentStates = Mutex<Vec<SegmentEntry>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic leaves behind is a list all the same.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct SegmentEntry {
    shapes: Vec<Shape>,
    values: Vec<Option<KnownValue>>,
    state: SegmentState,
    _held: Held,
}

/// What an execution state holds for the tensors of its parts, all bodies included.
#[derive(Clone, Default)]
pub(super) struct HeldMemory(Arc<Holders>);

#[derive(Default)]
struct Holders {
    bytes: AtomicU64,
    segments: Mutex<Segments>,
}

/// The states of all segments; those of operations that are gone are swept out now and then.
#[derive(Default)]
struct Segments {
    states: Vec<Weak<SegmentStates>>,
    /// How many there may be before the next sweep.
    sweep_at: usize,
}

impl Segments {
    fn push(&mut self, states: Weak<SegmentStates>) {
        if self.states.len() >= self.sweep_at {
            self.states.retain(|states| states.strong_count() > 0);
            // As many again come in before the list is gone through again.
            self.sweep_at = 2 * self.states.len() + 16;
        }
        self.states.push(states);
    }
}

impl HeldMemory {
    fn segment(&self) -> Arc<SegmentStates> {
        let states = Arc::default();
        lock(&self.0.segments).push(Arc::downgrade(&states));
        states
    }

    /// Whether `bytes` more are within a limit.
    fn has_room(&self, bytes: u64, limit: u64) -> bool {
        let held = self.0.bytes.load(Ordering::Relaxed);
        held.checked_add(bytes).is_some_and(|bytes| bytes <= limit)
    }

    /// Lets go of states that are idle until `bytes` more are within a limit. They can be made again.
    /// Whether there is room then.
    fn make_room(&self, bytes: u64, limit: u64) -> bool {
        if self.has_room(bytes, limit) {
            return true;
        }
        let segments = lock(&self.0.segments);
        for states in segments.states.iter().filter_map(Weak::upgrade) {
            if self.has_room(bytes, limit) {
                break;
            }
            match states.try_lock() {
                Ok(mut states) => states.clear(),
                Err(TryLockError::Poisoned(states)) => states.into_inner().clear(),
                // It is what needs the room.
                Err(TryLockError::WouldBlock) => {}
            }
        }
        self.has_room(bytes, limit)
    }

    /// Counts bytes, for as long as the result is kept.
    fn hold(&self, bytes: u64) -> Held {
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        Held {
            memory: self.clone(),
            bytes,
        }
    }
}

struct Held {
    memory: HeldMemory,
    bytes: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.0.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// What the parts of one execution share.
pub(super) struct Run<'a> {
    pub(super) profiling: bool,
    pub(super) times: &'a mut Vec<StepTime>,
    pub(super) events: &'a mut EventRing,
    /// Whether the execution is to end.
    pub(super) interrupted: &'a AtomicBool,
    pub(super) memory_limit: u64,
    pub(super) memory: &'a HeldMemory,
    pub(super) seeds: &'a mut operations::Seeds,
}

pub(super) type Result<T, E = ExecuteError> = std::result::Result<T, E>;

/// An error of the runtime itself in an operation.
#[cold]
pub(super) fn failed(layer: &str, problem: impl Into<String>) -> ExecuteError {
    ExecuteError {
        backend: None,
        layers: vec![layer.to_owned()],
        source: BackendError::new(problem.into()),
    }
}

impl Run<'_> {
    /// # Errors
    /// When the execution is to end.
    pub(super) fn check_interrupt(&self) -> Result<()> {
        if !self.interrupted.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(interruption())
    }
}

/// The error of an execution that was to end.
#[cold]
pub(super) fn interruption() -> ExecuteError {
    ExecuteError {
        backend: None,
        layers: Vec::new(),
        source: BackendError::new("the execution was interrupted"),
    }
}

impl GraphState {
    pub(super) fn new(graph: &LoadedGraph, memory: &HeldMemory) -> Self {
        let parts = graph.parts.iter().map(|part| match part {
            LoadedPart::Segment { .. } => PartState::Segment(memory.segment()),
            LoadedPart::Operation(operation) => {
                let bodies = operation.bodies.iter();
                PartState::Operation(bodies.map(|body| Self::new(body, memory)).collect())
            }
        });
        Self {
            slots: Slots::new(graph.tensors.len()),
            parts: parts.collect(),
        }
    }

    /// Executes the graph: takes a value for each input and variable, and gives one for each output
    /// and each variable that is assigned.
    pub(super) fn call(
        &mut self,
        graph: &LoadedGraph,
        inputs: impl IntoIterator<Item = Value>,
        run: &mut Run<'_>,
    ) -> Result<Vec<Value>> {
        let result = self.execute(graph, inputs, run);
        // What nobody reads any more is let go.
        self.slots.values.fill(None);
        self.slots.held.fill_with(|| None);
        result
    }

    fn execute(
        &mut self,
        graph: &LoadedGraph,
        inputs: impl IntoIterator<Item = Value>,
        run: &mut Run<'_>,
    ) -> Result<Vec<Value>> {
        for (slot, constant) in &graph.constants {
            self.slots.values[*slot] = Some(constant.clone());
        }
        let variables = graph.variables.iter().map(|variable| variable.input);
        for (slot, value) in graph.inputs.iter().copied().chain(variables).zip(inputs) {
            self.slots.keep(slot, value, "the inputs", run)?;
        }
        graph.check_inputs(&self.slots.values)?;
        let parts = graph.parts.iter().zip(&graph.last_read);
        for ((part, last_read), state) in parts.zip(&mut self.parts) {
            run.check_interrupt()?;
            let slots = &mut self.slots;
            match (part, state) {
                (
                    LoadedPart::Segment {
                        segment,
                        inputs,
                        outputs,
                    },
                    PartState::Segment(entries),
                ) => {
                    let results = run_segment(segment, &mut lock(entries), inputs, slots, run)?;
                    slots.finish(outputs, results, last_read, "a part of the network", run)?;
                }
                (LoadedPart::Operation(operation), PartState::Operation(bodies)) => {
                    let inputs = operation.inputs.iter();
                    let inputs =
                        inputs.map(|slot| slot.and_then(|slot| slots.values[slot].clone()));
                    let inputs = inputs.collect();
                    // The operation has the only reference then.
                    slots.let_go(&last_read.inputs);
                    let results = operations::execute(operation, bodies, inputs, run)?;
                    operation.check_outputs(&results)?;
                    slots.finish(&operation.outputs, results, last_read, &operation.name, run)?;
                }
                // States are made from the parts.
                _ => {}
            }
        }
        let assigned = graph
            .variables
            .iter()
            .filter_map(|variable| variable.output);
        let results: Option<Vec<Value>> = graph
            .outputs
            .iter()
            .copied()
            .chain(assigned)
            .map(|slot| self.slots.values[slot].clone())
            .collect();
        results.ok_or_else(|| ExecuteError {
            backend: None,
            layers: Vec::new(),
            source: BackendError::new("an output of the network was not computed"),
        })
    }

    /// Bytes that the states hold for tensors.
    pub(super) fn memory(&self) -> usize {
        let parts = self.parts.iter().map(|part| match part {
            PartState::Segment(entries) => lock(entries)
                .iter()
                .map(|entry| entry.state.memory())
                .sum::<usize>(),
            PartState::Operation(bodies) => bodies.iter().map(Self::memory).sum(),
        });
        parts.sum()
    }

    /// The assignments of the plans that were executed last, each with its segment's numbers of
    /// layers.
    pub(super) fn reports(&self, graph: &LoadedGraph) -> Vec<(AssignmentReport, Vec<LayerId>)> {
        let mut reports = Vec::new();
        for (part, state) in graph.parts.iter().zip(&self.parts) {
            match (part, state) {
                (LoadedPart::Segment { segment, .. }, PartState::Segment(entries)) => {
                    if let Some(entry) = lock(entries).last() {
                        reports.push((entry.state.report().clone(), segment.layers.clone()));
                    }
                }
                (LoadedPart::Operation(operation), PartState::Operation(bodies)) => {
                    for (body, state) in operation.bodies.iter().zip(bodies) {
                        reports.extend(state.reports(body));
                    }
                }
                _ => {}
            }
        }
        reports
    }
}

impl Slots {
    fn new(count: usize) -> Self {
        Self {
            values: vec![None; count],
            held: std::iter::repeat_with(|| None).take(count).collect(),
        }
    }

    /// Puts a value into its slot. It counts for what the execution holds where nobody else has it:
    /// else it does already, or is the caller's.
    fn keep(&mut self, slot: usize, value: Value, whose: &str, run: &Run<'_>) -> Result<()> {
        self.held[slot] = None;
        let bytes = value.own_byte_len();
        if !run.memory.make_room(bytes, run.memory_limit) {
            let limit = run.memory_limit;
            let what = value.describe();
            let problem = format!(
                "{what}, besides what is held already, is beyond the memory limit of {limit} bytes"
            );
            return Err(failed(whose, problem));
        }
        self.held[slot] = (bytes > 0).then(|| run.memory.hold(bytes));
        self.values[slot] = Some(value);
        Ok(())
    }

    /// After a part: lets go of what it read last, and keeps what it gives, as far as it is read.
    fn finish(
        &mut self,
        outputs: &[usize],
        results: Vec<Value>,
        last_read: &LastRead,
        whose: &str,
        run: &Run<'_>,
    ) -> Result<()> {
        self.let_go(&last_read.inputs);
        for (&slot, value) in outputs.iter().zip(results) {
            self.keep(slot, value, whose, run)?;
        }
        self.let_go(&last_read.outputs);
        Ok(())
    }

    fn let_go(&mut self, slots: &[usize]) {
        for &slot in slots {
            (self.values[slot], self.held[slot]) = (None, None);
        }
    }
}

fn run_segment(
    segment: &Arc<LoadedSegment>,
    entries: &mut Vec<SegmentEntry>,
    inputs: &[usize],
    slots: &Slots,
    run: &mut Run<'_>,
) -> Result<Vec<Value>> {
    let Slots { values, held } = slots;
    let input_name = |index: usize| {
        let id = segment.network.inputs()[index];
        format!("'{}'", segment.network.tensor(id).name)
    };
    let mut shapes = Vec::with_capacity(inputs.len());
    let mut known = Vec::new();
    for (index, &slot) in inputs.iter().enumerate() {
        let tensor = match &values[slot] {
            Some(Value::Tensor(tensor)) => tensor,
            Some(other) => {
                let problem = format!("a tensor is needed, and it is {}", other.describe());
                return Err(failed(&input_name(index), problem));
            }
            None => return Err(failed(&input_name(index), "it was not computed")),
        };
        let expected = segment.network.tensor(segment.network.inputs()[index]);
        if expected.info.data_type != tensor.info().data_type {
            let problem = format!("{} is needed, not {}", expected.info, tensor.info());
            return Err(failed(&input_name(index), problem));
        }
        shapes.push(tensor.info().shape);
        if segment.value_inputs.get(index) == Some(&true) {
            let value = KnownValue::from_bytes(tensor.info(), tensor.bytes());
            let value = value.ok_or_else(|| {
                let problem = format!(
                    "{} determines parameters of layers, and has too many elements for that, or is \
                     of a type that cannot",
                    tensor.info()
                );
                failed(&input_name(index), problem)
            })?;
            known.resize(index, None);
            known.push(Some(value));
        }
    }
    let found = entries
        .iter()
        .position(|entry| entry.shapes == shapes && entry.values == known);
    match found {
        // Often it is the last one already.
        Some(found) if found + 1 == entries.len() => {}
        Some(found) => {
            let entry = entries.remove(found);
            entries.push(entry);
        }
        None => {
            let plan = segment.plan(&shapes, &known).map_err(not_planned)?;
            if entries.len() >= KEPT_STATES {
                entries.remove(0);
            }
            let arena = plan.arena_len as u64;
            let output_lens = segment.network.outputs().iter();
            let output_lens = output_lens.map(|output| plan.byte_lens[output.tensor.index()]);
            let input_lens = inputs
                .iter()
                .map(|&slot| match (&values[slot], &held[slot]) {
                    (Some(Value::Tensor(tensor)), None) => tensor.bytes().len(),
                    _ => 0,
                });
            // What goes in and out is there besides.
            let bytes = input_lens
                .chain(output_lens)
                .fold(arena, |sum, len| sum.saturating_add(len as u64));
            if !run.memory.has_room(bytes, run.memory_limit) {
                // Those for other shapes can be made again.
                entries.clear();
            }
            if !run.memory.make_room(bytes, run.memory_limit) {
                let limit = run.memory_limit;
                return Err(not_planned(LoadError::MemoryLimit {
                    what: "what is computed for the sizes that values have now".to_owned(),
                    limit,
                }));
            }
            let state = SegmentState::new(Arc::clone(segment), plan).map_err(not_planned)?;
            entries.push(SegmentEntry {
                shapes,
                values: known,
                state,
                _held: run.memory.hold(arena),
            });
        }
    }
    let Some(SegmentEntry { state, .. }) = entries.last_mut() else {
        return Ok(Vec::new());
    };
    state.set_profiling(run.profiling);
    for (index, &slot) in inputs.iter().enumerate() {
        if let Some(Value::Tensor(tensor)) = &values[slot] {
            state.input_mut(index).copy_from_slice(tensor.bytes());
        }
    }
    let result = state.execute();
    if run.profiling {
        let number = |id: &mut LayerId| {
            *id = segment.layers.get(id.index()).copied().unwrap_or(*id);
        };
        let mut times = state.step_times();
        times
            .iter_mut()
            .flat_map(|time| &mut time.layers)
            .for_each(number);
        times.truncate(StepTime::MOST.saturating_sub(run.times.len()));
        run.times.append(&mut times);
        let mut profile = state.take_profile();
        profile
            .events
            .iter_mut()
            .flat_map(|event| &mut event.layers)
            .for_each(number);
        run.events.append(profile);
    }
    result?;
    let outputs = (0..segment.network.outputs().len()).map(|index| {
        let tensor = HostTensor::from_bytes(state.output_info(index), state.output(index));
        tensor.map(Value::from).map_err(|e| ExecuteError {
            backend: None,
            layers: Vec::new(),
            source: BackendError::with_status(Status::OutOfMemory, e.to_string()),
        })
    });
    outputs.collect()
}

/// A part could not be planned for the values that the parts before it gave.
#[cold]
fn not_planned(error: LoadError) -> ExecuteError {
    ExecuteError {
        backend: None,
        layers: Vec::new(),
        source: BackendError::new(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_are_gone_are_swept_out_and_others_stay() {
        let memory = HeldMemory::default();
        let kept: Vec<_> = (0..100).map(|_| memory.segment()).collect();
        for _ in 0..10_000 {
            memory.segment();
        }
        let count = lock(&memory.0.segments).states.len();
        // At most twice those that stay, and 16 more.
        assert!((kept.len()..=216).contains(&count), "{count}");
        let states = lock(&memory.0.segments);
        let alive = states.states.iter().filter(|s| s.strong_count() > 0);
        assert_eq!(alive.count(), kept.len());
    }
}
