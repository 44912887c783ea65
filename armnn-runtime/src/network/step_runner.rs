//! Runs the steps of a plan.

use std::{
    collections::HashMap,
    ptr::null_mut,
    sync::{Arc, Mutex, PoisonError},
};

use armnn_backend_api::{
    BackendError, DataType, Shape, Status, monotonic_ns,
    sys::{self, ArmnnExecutionContext, ArmnnShape, ArmnnTensor, ArmnnTensorHandle},
};
use armnn_network::{Network, TensorId};

use super::profile::Profile;
use super::step_host::{DynamicOutput, Host, Requests, allocate_output, parallel_for, profile};
use crate::{
    backend::{ErrorBuffer, ExecutionHandle, ModelContextHandle},
    error::ExecuteError,
    float_environment::FloatEnvironment,
    plan::Step,
    thread_pool::ThreadPool,
};

/// The tensors that steps touch.
#[derive(Clone, Copy)]
pub(crate) struct StepTensors<'a> {
    pub(crate) network: &'a Network,
    pub(crate) shapes: &'a [Shape],
    pub(crate) byte_lens: &'a [usize],
    /// The most bytes that an output may take whose size is found out.
    pub(crate) memory_limit: u64,
    /// The tensors whose memory may be exchanged for that of the caller.
    pub(crate) borders: &'a [TensorId],
}

/// Where a tensor is, for one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorAddress {
    pub(crate) data: *mut u8,
    pub(crate) handle: *mut ArmnnTensorHandle,
    pub(crate) offset: u64,
}

impl TensorAddress {
    /// Host memory.
    pub(crate) fn host(data: *mut u8) -> Self {
        Self {
            data,
            handle: null_mut(),
            offset: 0,
        }
    }
}

/// The tables for calling the steps of a plan, and the executions of asynchronous backends. All is
/// made beforehand, so that running allocates nothing.
pub(crate) struct StepRunner {
    // By context; waited for and destroyed before the memory they use goes.
    executions: Vec<Option<ExecutionHandle>>,
    calls: Vec<Call>,
    tensors: Vec<ArmnnTensor>,
    host: Arc<Host>,
    buffer: ErrorBuffer,
    profiling: bool,
    // Where tensors at the border of the network are in the table; none where a backend may touch
    // one after its call has returned, or has a handle for it.
    borders: HashMap<TensorId, Option<Vec<usize>>>,
    // What layers found out of their outputs in the last run.
    dynamic: HashMap<TensorId, DynamicOutput>,
    // When each step started and ended, and when the wait after it ended, if there was one.
    times: Vec<Times>,
}

/// When a step started and ended, and when the wait after it ended: 0 without one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) waited_ns: u64,
}

/// Where the tensors of a step are in the table, and its scratch memory.
struct Call {
    inputs: usize,
    outputs: usize,
    end: usize,
    scratch: *mut u8,
    scratch_len: usize,
    /// Outputs that ask for their memory.
    dynamic: Vec<(u32, TensorId, DataType, Shape)>,
}

// SAFETY: the addresses are of memory that the owner of the runner keeps, and are used by one
// thread at a time, since running takes `&mut`.
unsafe impl Send for StepRunner {}
// SAFETY: a shared reference gives only copies of recorded events.
unsafe impl Sync for StepRunner {}

const NO_TENSOR: ArmnnTensor = ArmnnTensor {
    struct_size: size_of::<ArmnnTensor>(),
    data: null_mut(),
    byte_len: 0,
    handle: null_mut(),
    offset: 0,
    shape: ArmnnShape {
        rank: 0,
        reserved: 0,
        dims: [0; sys::ARMNN_MAX_RANK],
    },
};

impl StepRunner {
    /// Makes the tables. `address` tells where a tensor is for a step of a context, `scratch` is
    /// where scratch memory starts.
    pub(crate) fn new(
        steps: &[Step],
        tensors: &StepTensors<'_>,
        pool: &Arc<ThreadPool>,
        scratch: *mut u8,
        n_contexts: usize,
        mut address: impl FnMut(TensorId, usize) -> TensorAddress,
    ) -> Result<Self, BackendError> {
        let mut executions: Vec<Option<ExecutionHandle>> = Vec::new();
        executions.resize_with(n_contexts, || None);
        let mut seen = vec![false; n_contexts];
        let StepTensors {
            network,
            shapes,
            byte_lens,
            memory_limit,
            borders,
        } = *tensors;
        let mut borders: HashMap<TensorId, Option<Vec<usize>>> =
            borders.iter().map(|&id| (id, Some(Vec::new()))).collect();
        let mut calls = Vec::with_capacity(steps.len());
        let mut tensors = Vec::new();
        for step in steps {
            if !std::mem::replace(&mut seen[step.context], true) {
                let context: &Arc<ModelContextHandle> = step.workload.context();
                executions[step.context] = context.create_execution()?;
            }
            let is_synchronous = executions[step.context].is_none();
            let mut entry = |id: TensorId, place: usize| {
                let TensorAddress {
                    data,
                    handle,
                    offset,
                } = address(id, step.context);
                if let Some(places) = borders.get_mut(&id) {
                    match places {
                        Some(places) if is_synchronous && handle.is_null() => places.push(place),
                        _ => *places = None,
                    }
                }
                ArmnnTensor {
                    data: data.cast(),
                    byte_len: byte_lens[id.index()],
                    handle,
                    offset,
                    shape: *shapes[id.index()].as_raw(),
                    ..NO_TENSOR
                }
            };
            let inputs = tensors.len();
            for input in &step.inputs {
                let place = tensors.len();
                tensors.push(input.map_or(NO_TENSOR, |id| entry(id, place)));
            }
            let outputs = tensors.len();
            for &id in &step.outputs {
                let place = tensors.len();
                tensors.push(entry(id, place));
            }
            let (scratch_len, _) = step.workload.scratch();
            calls.push(Call {
                inputs,
                outputs,
                end: tensors.len(),
                scratch: if scratch_len == 0 {
                    null_mut()
                } else {
                    scratch.wrapping_add(step.scratch)
                },
                scratch_len,
                dynamic: (0u32..)
                    .zip(&step.outputs)
                    .filter(|(_, id)| !shapes[id.index()].is_known())
                    .map(|(index, &id)| {
                        let data_type = network.tensor(id).info.data_type;
                        (index, id, data_type, shapes[id.index()])
                    })
                    .collect(),
            });
        }
        Ok(Self {
            executions,
            calls,
            tensors,
            host: Arc::new(Host {
                pool: Arc::clone(pool),
                events: Mutex::default(),
                requests: Mutex::default(),
                memory_limit,
            }),
            borders,
            dynamic: HashMap::new(),
            buffer: ErrorBuffer::new(),
            profiling: false,
            times: Vec::new(),
        })
    }

    /// Whether steps are timed, and backends record theirs.
    pub(crate) fn set_profiling(&mut self, on: bool) {
        self.profiling = on;
        self.times.clear();
        if on {
            self.times.resize(self.calls.len(), Times::default());
        }
    }

    /// The times of the steps in the last run; empty unless they were taken.
    pub(crate) fn times(&self) -> &[Times] {
        &self.times
    }

    /// Takes what was recorded.
    pub(crate) fn take_events(&self) -> Profile {
        let events = &self.host.events;
        events.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Lets steps find a tensor at the border elsewhere from now on; `false` if that cannot be, and
    /// nothing has changed.
    pub(crate) fn exchange(&mut self, id: TensorId, data: *mut u8) -> bool {
        let Some(Some(places)) = self.borders.get(&id) else {
            return false;
        };
        for &place in places {
            if let Some(tensor) = self.tensors.get_mut(place) {
                tensor.data = data.cast();
            }
        }
        true
    }

    /// An output that asked for its memory in the last run.
    pub(crate) fn dynamic(&self, id: TensorId) -> Option<&DynamicOutput> {
        self.dynamic.get(&id)
    }

    /// Whether a backend panicked in a way that keeps the runtime from waiting for its work. The
    /// memory that it may use must not be freed then.
    pub(crate) fn may_be_running(&self) -> bool {
        let mut executions = self.executions.iter().flatten();
        executions.any(ExecutionHandle::is_poisoned)
    }

    /// Runs the steps, for which the tables were made. When it returns, also with an error, nothing
    /// is running any more, unless it [`may_be_running`](Self::may_be_running).
    ///
    /// # Safety
    /// The addresses are still valid, and nobody else uses the memory behind them.
    pub(crate) unsafe fn run(
        &mut self,
        steps: &[Step],
        network: &Network,
    ) -> Result<(), ExecuteError> {
        let mut current = usize::MAX;
        let mut context = ArmnnExecutionContext {
            struct_size: size_of::<ArmnnExecutionContext>(),
            host: Arc::as_ptr(&self.host).cast_mut().cast(),
            scratch: null_mut(),
            scratch_len: 0,
            n_threads: self.host.pool.n_threads(),
            reserved: 0,
            parallel_for: Some(parallel_for),
            allocate_output: Some(allocate_output),
            profile: if self.profiling { Some(profile) } else { None },
        };
        let mut environment = FloatEnvironment::save();
        for (index, (step, call)) in steps.iter().zip(&self.calls).enumerate() {
            if step.context != current {
                // What one backend does to it must not reach another one.
                drop(environment);
                environment = FloatEnvironment::save();
                // An edge to another backend: what was started is finished first.
                if current != usize::MAX {
                    finish(&mut self.executions[current], &mut self.buffer)
                        .map_err(|e| failed(steps, current, network, e))?;
                    note_wait(&mut self.times, index - 1, &self.executions[current]);
                }
                current = step.context;
            }
            context.scratch = call.scratch.cast();
            context.scratch_len = call.scratch_len;
            let execution = self.executions[current]
                .as_mut()
                .map_or(null_mut(), ExecutionHandle::as_raw);
            let tensors = self.tensors[call.inputs..call.end].as_mut_ptr();
            let n_inputs = call.outputs - call.inputs;
            // SAFETY: the inputs stand before the outputs in this part of the table.
            let outputs = unsafe { tensors.add(n_inputs) };
            if let Some(times) = self.times.get_mut(index) {
                *times = Times {
                    start_ns: monotonic_ns(),
                    ..Times::default()
                };
            }
            if !call.dynamic.is_empty() {
                // SAFETY: there are as many outputs as the step has, and the call below is the only
                // one that uses them until it returns.
                unsafe { self.host.expect(&call.dynamic, outputs) };
            }
            // SAFETY: the execution is of the step's context; by the contract of this function,
            // the tensors and the scratch memory are valid and used by nobody else.
            let result = unsafe {
                step.workload.execute(
                    execution,
                    &context,
                    (tensors, n_inputs),
                    (outputs, call.end - call.outputs),
                    &mut self.buffer,
                )
            };
            if let Err(e) = result {
                // A backend that was refused memory knows that, but not why.
                let e = match self.host.take_refusal() {
                    Some(reason) if !call.dynamic.is_empty() => because_of(e, reason),
                    _ => e,
                };
                return Err(self.fail(step, network, e));
            }
            if !call.dynamic.is_empty() {
                match self.host.made(call.dynamic.len()) {
                    Ok(made) => self.dynamic.extend(made),
                    Err(e) => return Err(self.fail(step, network, e)),
                }
            }
            if let Some(times) = self.times.get_mut(index) {
                times.end_ns = monotonic_ns();
            }
        }
        if current != usize::MAX {
            finish(&mut self.executions[current], &mut self.buffer)
                .map_err(|e| failed(steps, current, network, e))?;
            note_wait(&mut self.times, steps.len() - 1, &self.executions[current]);
        }
        drop(environment);
        Ok(())
    }

    /// Waits for what was started before a step failed.
    #[cold]
    fn fail(&mut self, step: &Step, network: &Network, error: BackendError) -> ExecuteError {
        *self.host.requests() = Requests::default();
        if let Err(e) = finish(&mut self.executions[step.context], &mut self.buffer) {
            log::debug!("after a failed step: {e}");
            if e.status() == Status::DeviceLost {
                step.workload.context().set_device_lost(e.message());
            }
        }
        execute_error(step, network, error)
    }
}

impl Drop for StepRunner {
    fn drop(&mut self) {
        if self.may_be_running() {
            // Its work may still record steps.
            std::mem::forget(Arc::clone(&self.host));
        }
    }
}

/// Notes that what an asynchronous backend had started up to a step is done.
#[inline]
fn note_wait(times: &mut [Times], step: usize, execution: &Option<ExecutionHandle>) {
    if let (Some(times), Some(_)) = (times.get_mut(step), execution) {
        times.waited_ns = monotonic_ns();
    }
}

#[inline]
fn finish(
    execution: &mut Option<ExecutionHandle>,
    buffer: &mut ErrorBuffer,
) -> Result<(), BackendError> {
    match execution {
        None => Ok(()),
        Some(execution) => {
            let flushed = execution.flush(buffer);
            // Also after a failed flush, nothing may be running any more.
            let waited = execution.wait(buffer);
            flushed.and(waited)
        }
    }
}

/// An error of an asynchronous backend, which may tell the layer; the first of its steps names the
/// backend.
#[cold]
fn failed(steps: &[Step], context: usize, network: &Network, error: BackendError) -> ExecuteError {
    match steps.iter().find(|step| step.context == context) {
        Some(step) => {
            let told = error
                .layer_id()
                .and_then(|id| network.layers().get(id as usize));
            let told = told.map(|layer| format!("'{}' ({})", layer.name, layer.layer_type()));
            let mut e = execute_error(step, network, error);
            e.layers = told.into_iter().collect();
            e
        }
        None => ExecuteError {
            backend: None,
            layers: Vec::new(),
            source: error,
        },
    }
}

#[cold]
fn execute_error(step: &Step, network: &Network, source: BackendError) -> ExecuteError {
    let context = step.workload.context();
    if source.status() == Status::DeviceLost {
        context.set_device_lost(source.message());
    }
    let layers = step
        .layers
        .iter()
        .map(|&id| {
            let layer = network.layer(id);
            format!("'{}' ({})", layer.name, layer.layer_type())
        })
        .collect();
    ExecuteError {
        backend: Some(context.backend().id().clone()),
        layers,
        source,
    }
}

/// The same error for another reason.
fn because_of(error: BackendError, reason: String) -> BackendError {
    let other = BackendError::with_status(error.status(), reason);
    match error.layer_id() {
        Some(layer) => other.in_layer(layer),
        None => other,
    }
}
