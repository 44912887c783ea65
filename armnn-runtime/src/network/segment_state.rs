//! What one caller needs to execute a loaded network.

use std::{collections::HashMap, sync::Arc};

use armnn_backend_api::{BackendId, TensorInfo};
use armnn_network::{LayerId, TensorId};
use bytes::Bytes;

use super::{Profile, StepRunner, StepTensors, TensorAddress, segment::LoadedSegment};
use crate::{
    aligned_buffer::AlignedBuffer,
    backend::{ModelContextHandle, TensorHandleRef},
    error::{ExecuteError, LoadError},
    optimizer::AssignmentReport,
    plan::{Location, Plan, ViewSource},
};

/// What one caller needs to execute a loaded network: memory, and the queues of asynchronous
/// backends. Made by [`LoadedNetwork::create_execution_state`](super::LoadedNetwork); several
/// states of one network can be executed at the same time.
#[doc(alias = "IWorkingMemHandle")]
pub(crate) struct SegmentState {
    // In the order in which they must go: executions, handles, memory, code.
    runner: StepRunner,
    handles: Vec<TensorHandleRef>,
    _imported: Vec<Option<TensorHandleRef>>,
    arena: AlignedBuffer,
    // Those that the plan uses.
    contexts: Vec<Arc<ModelContextHandle>>,
    // Keeps what the tables of the runner lead to.
    fixed: Vec<(TensorId, Fixed)>,
    // The tensors whose memory may be exchanged for the caller's, with where they are in the arena.
    borders: Vec<(TensorId, usize)>,
    // For each output, whether it is written into the caller's memory.
    exchanged: Vec<bool>,
    plan: Arc<Plan>,
    pub(super) network: Arc<LoadedSegment>,
}

/// When a step of the last execution was done, in nanoseconds of the monotonic clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTime {
    /// The backend.
    pub backend: BackendId,
    /// The layers that the step stands for, by their numbers in the
    /// [report](super::ExecutionState::report).
    pub layers: Vec<LayerId>,
    /// When its workload was called.
    pub start_ns: u64,
    /// When the call returned; the work of an asynchronous backend may go on.
    pub end_ns: u64,
    /// When the wait for an asynchronous backend ended, after its last step before another backend
    /// or the end.
    pub waited_ns: Option<u64>,
}

impl StepTime {
    /// How many steps of one execution are timed at most, where control flow executes them again and
    /// again: the first ones.
    pub const MOST: usize = 1 << 20;
}

/// Memory that is the same in every execution.
enum Fixed {
    Constant(Bytes),
    Derived(Arc<AlignedBuffer>),
}

impl Fixed {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Constant(bytes) => bytes,
            Self::Derived(buffer) => buffer.as_slice(),
        }
    }
}

impl SegmentState {
    pub(super) fn new(network: Arc<LoadedSegment>, plan: Arc<Plan>) -> Result<Self, LoadError> {
        let arena = AlignedBuffer::new(plan.arena_len, plan.arena_alignment).map_err(|e| {
            LoadError::OutOfMemory {
                bytes: e.0 as u64,
                what: "an execution state".into(),
            }
        })?;
        let handles = make_handles(&network, &plan)?;
        let imported = import_arena(&network, &plan, &arena)?;
        let mut fixed = collect_fixed(&network, &plan);
        fixed.sort_by_key(|(id, _)| *id);

        let address = |id: TensorId, context: usize| match plan.locations[id.index()] {
            Location::Arena(offset) => TensorAddress {
                data: arena.as_ptr().wrapping_add(offset),
                handle: imported[context]
                    .as_ref()
                    .map_or(std::ptr::null_mut(), |h| h.as_raw()),
                offset: offset as u64,
            },
            Location::Handle(index) => TensorAddress {
                data: std::ptr::null_mut(),
                handle: handles[index].as_raw(),
                offset: 0,
            },
            // Its layer asks for the memory.
            Location::Dynamic => TensorAddress::host(std::ptr::null_mut()),
            Location::Constant | Location::Derived | Location::Known | Location::None => {
                let found = fixed.binary_search_by_key(&id, |(other, _)| *other);
                // A constant that was released has no address.
                TensorAddress::host(found.map_or(std::ptr::null_mut(), |i| {
                    fixed[i].1.bytes().as_ptr().cast_mut()
                }))
            }
        };
        let borders = borders(&network, &plan);
        let border_ids: Vec<TensorId> = borders.iter().map(|&(id, _)| id).collect();
        let runner = StepRunner::new(
            &plan.steps,
            &StepTensors {
                network: &network.network,
                shapes: &plan.shapes,
                byte_lens: &plan.byte_lens,
                memory_limit: network.memory_limit,
                borders: &border_ids,
            },
            &network.pool,
            arena.as_ptr(),
            network.contexts.len(),
            address,
        )
        .map_err(LoadError::State)?;
        let mut contexts: Vec<Arc<ModelContextHandle>> = Vec::new();
        for step in &plan.steps {
            let context = step.workload.context();
            if !contexts.iter().any(|other| Arc::ptr_eq(other, context)) {
                contexts.push(Arc::clone(context));
            }
        }
        Ok(Self {
            runner,
            contexts,
            handles,
            _imported: imported,
            arena,
            fixed,
            exchanged: vec![false; network.network.outputs().len()],
            borders,
            plan,
            network,
        })
    }

    /// Executes the network: inputs are those last written with [`input_mut`](Self::input_mut),
    /// outputs are read with [`output`](Self::output). Allocates nothing.
    ///
    /// # Errors
    /// The first error of a backend, with the layers it concerns. The state can be used again.
    pub fn execute(&mut self) -> Result<(), ExecuteError> {
        for context in &self.contexts {
            context.check_device()?;
        }
        // SAFETY: the addresses are of memory that this state holds, and of constants that nobody
        // writes; `&mut self` keeps others away.
        unsafe { self.runner.run(&self.plan.steps, &self.network.network) }
    }

    /// Executes the network: reads inputs from memory of the caller and writes outputs into it. Where
    /// the memory is aligned to 64 bytes, and no backend works on it beyond its call, it is used
    /// itself; else it is copied. The sizes are those of the inputs and outputs.
    pub(super) fn execute_with(
        &mut self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), ExecuteError> {
        let is_aligned = |data: *const u8| data.addr().is_multiple_of(AlignedBuffer::ALIGNMENT);
        // The caller's memory is not touched after this, also if something panics.
        let guard = OwnMemoryAgain(self);
        let state = &mut *guard.0;
        for (index, input) in inputs.iter().enumerate() {
            let id = state.network.network.inputs()[index];
            // Backends only read inputs.
            let data = input.as_ptr().cast_mut();
            if !is_aligned(data) || !state.runner.exchange(id, data) {
                state.input_mut(index).copy_from_slice(input);
            }
        }
        for (index, output) in outputs.iter_mut().enumerate() {
            let id = state.network.network.outputs()[index].tensor;
            let data = output.as_mut_ptr();
            state.exchanged[index] = is_aligned(data) && state.runner.exchange(id, data);
        }
        let result = state.execute();
        drop(guard);
        result?;
        for (index, output) in outputs.iter_mut().enumerate() {
            if !self.exchanged[index] {
                output.copy_from_slice(self.output(index));
            }
        }
        Ok(())
    }

    /// The type and shape of an input, in the network's order.
    ///
    /// # Panics
    /// When there is no such input.
    pub fn input_info(&self, index: usize) -> TensorInfo {
        self.info(self.network.network.inputs()[index])
    }

    /// The type and shape of an output, in the network's order.
    ///
    /// # Panics
    /// When there is no such output.
    pub fn output_info(&self, index: usize) -> TensorInfo {
        self.info(self.network.network.outputs()[index].tensor)
    }

    fn info(&self, id: TensorId) -> TensorInfo {
        let tensor = self.network.network.tensor(id);
        let found = self.runner.dynamic(id).map(|output| output.shape);
        TensorInfo {
            shape: found.unwrap_or(self.plan.shapes[id.index()]),
            ..tensor.info.clone()
        }
    }

    /// Whether the sizes of all outputs are known before an execution.
    pub(super) fn knows_output_sizes(&self) -> bool {
        let mut outputs = self.network.network.outputs().iter();
        outputs.all(|output| self.plan.locations[output.tensor.index()] != Location::Dynamic)
    }

    /// Bytes of an input.
    pub(super) fn input_len(&self, index: usize) -> usize {
        self.plan.byte_lens[self.network.network.inputs()[index].index()]
    }

    /// The memory of an input: dense, row-major, aligned to 64 bytes. What is written here is the
    /// input of the next executions.
    ///
    /// # Panics
    /// When there is no such input.
    pub fn input_mut(&mut self, index: usize) -> &mut [u8] {
        let id = self.network.network.inputs()[index];
        let len = self.plan.byte_lens[id.index()];
        match self.plan.locations[id.index()] {
            Location::Arena(offset) => &mut self.arena.as_mut_slice()[offset..offset + len],
            // Inputs are in the arena.
            _ => &mut [],
        }
    }

    /// The memory of an output after the last execution: dense, row-major.
    ///
    /// # Panics
    /// When there is no such output.
    pub fn output(&self, index: usize) -> &[u8] {
        let id = self.network.network.outputs()[index].tensor;
        let len = self.plan.byte_lens[id.index()];
        match self.plan.locations[id.index()] {
            Location::Arena(offset) => &self.arena.as_slice()[offset..offset + len],
            Location::Dynamic => self
                .runner
                .dynamic(id)
                .map_or(&[], |output| output.data.as_slice()),
            _ => match self.fixed.binary_search_by_key(&id, |(other, _)| *other) {
                Ok(found) => self.fixed[found].1.bytes(),
                // Outputs are never in handles.
                Err(_) => &[],
            },
        }
    }

    /// Whether steps are timed and backends record theirs from now on; costs time.
    pub fn set_profiling(&mut self, on: bool) {
        self.runner.set_profiling(on);
    }

    /// The times of the steps of the last execution, in order; empty unless
    /// [profiling](Self::set_profiling) was on.
    pub fn step_times(&self) -> Vec<StepTime> {
        let steps = self.plan.steps.iter().zip(self.runner.times());
        steps
            .map(|(step, times)| StepTime {
                backend: step.workload.context().backend().id().clone(),
                layers: step.layers.clone(),
                start_ns: times.start_ns,
                end_ns: times.end_ns,
                waited_ns: (times.waited_ns != 0).then_some(times.waited_ns),
            })
            .collect()
    }

    /// Takes what backends recorded since the last call.
    pub fn take_profile(&mut self) -> Profile {
        let n_layers = self.network.network.layers().len();
        let mut profile = self.runner.take_events();
        for event in &mut profile.events {
            // What a backend tells is not believed.
            event.layers.retain(|layer| layer.index() < n_layers);
        }
        profile
    }

    /// A copy of what a tensor inside the network last held, for looking into a network; `None` if
    /// it is inside of a compiled subgraph. Its memory may have been used again by later layers.
    ///
    /// # Errors
    /// When the tensor is in a handle of a backend that cannot be looked into.
    pub fn inspect_tensor(&mut self, id: TensorId) -> Result<Option<Vec<u8>>, ExecuteError> {
        let len = self.plan.byte_lens.get(id.index()).copied().unwrap_or(0);
        Ok(match self.plan.locations.get(id.index()) {
            Some(&Location::Arena(offset)) => {
                Some(self.arena.as_slice()[offset..offset + len].to_vec())
            }
            Some(&Location::Handle(index)) => {
                Some(self.handles[index].read(len).map_err(|e| ExecuteError {
                    backend: Some(self.plan.handles[index].context.backend().id().clone()),
                    layers: Vec::new(),
                    source: e,
                })?)
            }
            _ => match self.fixed.binary_search_by_key(&id, |(other, _)| *other) {
                Ok(found) => Some(self.fixed[found].1.bytes().to_vec()),
                Err(_) => None,
            },
        })
    }

    /// The assignment in the plan.
    pub(super) fn report(&self) -> &AssignmentReport {
        &self.plan.assignment.report
    }

    /// Bytes of memory that the state holds for tensors.
    pub fn memory(&self) -> usize {
        self.arena.len()
    }
}

/// Puts a state's own memory in place of the caller's when it is dropped.
struct OwnMemoryAgain<'a>(&'a mut SegmentState);

impl Drop for OwnMemoryAgain<'_> {
    fn drop(&mut self) {
        let state = &mut *self.0;
        for &(id, offset) in &state.borders {
            let data = state.arena.as_ptr().wrapping_add(offset);
            state.runner.exchange(id, data);
        }
    }
}

impl Drop for SegmentState {
    fn drop(&mut self) {
        if !self.runner.may_be_running() {
            return;
        }
        log::warn!(
            "a backend panicked and cannot be waited for: {} bytes of tensors stay allocated",
            self.memory()
        );
        std::mem::forget(std::mem::take(&mut self.fixed));
        if let Ok(empty) = AlignedBuffer::new(0, AlignedBuffer::ALIGNMENT) {
            std::mem::forget(std::mem::replace(&mut self.arena, empty));
        }
    }
}

impl std::fmt::Debug for SegmentState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SegmentState")
            .field("memory", &self.memory())
            .finish_non_exhaustive()
    }
}

/// The inputs and outputs of a network whose memory may be exchanged for that of the caller: those
/// that are in the arena, at the offsets given, and are just one input or one output.
fn borders(network: &LoadedSegment, plan: &Plan) -> Vec<(TensorId, usize)> {
    let network = &network.network;
    let outputs = network.outputs().iter().map(|output| output.tensor);
    let mut times: HashMap<TensorId, u32> = HashMap::new();
    let all: Vec<TensorId> = network.inputs().iter().copied().chain(outputs).collect();
    for &id in &all {
        *times.entry(id).or_default() += 1;
    }
    all.into_iter()
        .filter(|id| times[id] == 1)
        .filter_map(|id| match plan.locations[id.index()] {
            Location::Arena(offset) => Some((id, offset)),
            _ => None,
        })
        .collect()
}

/// The handles of a plan's tensors; those that were made while planning go to the first state.
fn make_handles(network: &LoadedSegment, plan: &Plan) -> Result<Vec<TensorHandleRef>, LoadError> {
    let spare = {
        let mut spare = plan
            .spare_handles
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        spare.take()
    };
    if let Some(handles) = spare {
        return Ok(handles);
    }
    let source = ViewSource {
        network: &network.network,
        shapes: &plan.shapes,
        constants: &network.constants,
        descriptors: &plan.descriptors,
        uses: &[],
    };
    let made = plan.handles.iter().map(|spec| spec.make(&source));
    made.collect::<Result<_, _>>().map_err(LoadError::State)
}

/// Lets every backend of the plan that wants it import the arena.
fn import_arena(
    network: &LoadedSegment,
    plan: &Plan,
    arena: &AlignedBuffer,
) -> Result<Vec<Option<TensorHandleRef>>, LoadError> {
    let mut imported: Vec<Option<TensorHandleRef>> = Vec::new();
    imported.resize_with(network.contexts.len(), || None);
    let mut seen = vec![false; network.contexts.len()];
    for step in &plan.steps {
        if arena.len() > 0 && !std::mem::replace(&mut seen[step.context], true) {
            let context = step.workload.context();
            // SAFETY: the handle is dropped before the arena: it stands before it in the state.
            imported[step.context] =
                unsafe { context.import_host_memory(arena.as_ptr(), arena.len()) }
                    .map_err(LoadError::State)?;
        }
    }
    Ok(imported)
}

/// Constants and what was computed from them, as far as steps read them or they are outputs.
fn collect_fixed(network: &LoadedSegment, plan: &Plan) -> Vec<(TensorId, Fixed)> {
    let mut seen = std::collections::HashSet::new();
    let read = plan
        .steps
        .iter()
        .flat_map(|step| step.inputs.iter().flatten().copied());
    let outputs = network.network.outputs().iter().map(|o| o.tensor);
    read.chain(outputs)
        .filter(|&id| seen.insert(id))
        .filter_map(|id| {
            let fixed = match plan.locations[id.index()] {
                Location::Constant => Fixed::Constant(network.constants.bytes(id)?),
                Location::Derived => Fixed::Derived(network.derived.get(id)?),
                Location::Known => Fixed::Derived(Arc::clone(plan.known.get(&id)?)),
                _ => return None,
            };
            Some((id, fixed))
        })
        .collect()
}
