//! A network that can be executed.

use std::sync::Arc;

use armnn_backend_api::{BackendId, Shape};
use armnn_network::{LayerId, Network};

use super::{
    AsyncExecutor, ExecutionState, LoadOptions, graph::LoadedGraph, segment::physical_memory,
};
use crate::{
    error::{ExecuteError, InputError, LoadError, RunError},
    optimizer::{AssignmentReport, OptimizedNetwork},
    tensor::HostTensor,
    thread_pool::ThreadPool,
    value::Value,
};

/// A network that can be executed: immutable, and shared between threads. A clone is the same
/// network.
///
/// It holds the backends that it uses, and their shared objects, until it and all its execution
/// states are dropped.
#[derive(Clone)]
pub struct LoadedNetwork(Arc<LoadedModel>);

/// What the clones of a loaded network share.
pub(super) struct LoadedModel {
    pub(super) graph: LoadedGraph,
    pub(super) report: AssignmentReport,
    pub(super) memory_limit: u64,
    pub(super) random_seed: Option<u64>,
    pub(super) profiling: bool,
    pub(super) executor: Arc<AsyncExecutor>,
}

/// What is executed as one, in a plan.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The backend.
    pub backend: BackendId,
    /// The layers, by their numbers in the report.
    pub layers: Vec<LayerId>,
}

impl LoadedNetwork {
    pub(crate) fn new(
        optimized: OptimizedNetwork,
        options: &LoadOptions,
        pool: &Arc<ThreadPool>,
        executor: &Arc<AsyncExecutor>,
    ) -> Result<Self, LoadError> {
        let OptimizedNetwork { graph, report, .. } = optimized;
        pool.start_threads().map_err(|source| LoadError::Threads {
            n_threads: pool.n_threads(),
            source,
        })?;
        let graph = LoadedGraph::new(graph, options, pool)?;
        let segments = graph.segments();
        let known = |id: &BackendId| segments.iter().any(|segment| segment.may_use(id));
        if let Some((id, option)) = options.backend_options.iter().find(|(id, _)| !known(id)) {
            return Err(LoadError::OptionForMissingBackend {
                backend: id.clone(),
                option: option.name.clone(),
            });
        }
        graph.plan_if_known()?;
        Ok(Self(Arc::new(LoadedModel {
            graph,
            report,
            memory_limit: options.memory_limit.unwrap_or_else(physical_memory),
            random_seed: options.random_seed,
            profiling: options.profiling,
            executor: Arc::clone(executor),
        })))
    }

    /// The network. The data of its constants is in the runtime's keeping; here they are empty.
    pub fn network(&self) -> &Network {
        &self.0.graph.network
    }

    /// Which backend executes which layer, and why no other one does, as it was assigned by
    /// `optimize`; [`plan_report`](Self::plan_report) and
    /// [`ExecutionState::report`] tell what became of it in a plan.
    pub fn report(&self) -> &AssignmentReport {
        &self.0.report
    }

    /// Which backend executes which layer for given input shapes, and what is executed as one.
    /// Layers that depend on constants alone were executed when the network was loaded, and are
    /// in no step. Of a network that is planned part by part as it is executed, there are no steps
    /// here, and [`ExecutionState::report`] tells after an execution.
    ///
    /// # Errors
    /// When the network cannot be compiled for these shapes.
    pub fn plan_report(
        &self,
        input_shapes: &[Shape],
    ) -> Result<(AssignmentReport, Vec<StepReport>), LoadError> {
        let Some(segment) = self.0.graph.plain() else {
            return Ok((self.0.report.clone(), Vec::new()));
        };
        let plan = segment.plan(input_shapes, &[])?;
        let steps = plan.steps.iter().map(|step| StepReport {
            backend: step.workload.context().backend().id().clone(),
            layers: step.layers.clone(),
        });
        Ok((plan.assignment.report.clone(), steps.collect()))
    }

    /// Bytes that each backend in use holds for this network, such as packed weights; `None` where
    /// it does not tell.
    ///
    /// # Errors
    /// When a backend cannot find it out.
    pub fn backend_memory(&self) -> Result<Vec<(BackendId, Option<u64>)>, ExecuteError> {
        let mut memory: Vec<(BackendId, Option<u64>)> = Vec::new();
        for segment in self.0.graph.segments() {
            for (id, bytes) in segment.backend_memory()? {
                match memory.iter_mut().find(|(other, _)| *other == id) {
                    Some((_, sum)) => *sum = sum.zip(bytes).map(|(a, b)| a.saturating_add(b)),
                    None => memory.push((id, bytes)),
                }
            }
        }
        Ok(memory)
    }

    /// The shapes of the inputs, as the model declares them.
    pub fn declared_input_shapes(&self) -> Vec<Shape> {
        self.0.graph.declared_input_shapes()
    }

    /// The names of the variables: state that an [`ExecutionState`] keeps from one execution to the
    /// next.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.0
            .graph
            .variables
            .iter()
            .map(|variable| variable.name.as_str())
    }

    /// Makes an execution state for the input shapes that the model declares.
    ///
    /// # Errors
    /// When a dimension of an input is unknown: use
    /// [`create_execution_state_for`](Self::create_execution_state_for). When there is no memory,
    /// or a backend fails.
    pub fn create_execution_state(&self) -> Result<ExecutionState, LoadError> {
        self.create_execution_state_for(&self.declared_input_shapes())
    }

    /// Makes an execution state for given input shapes; the first one for these shapes compiles
    /// the network for them.
    ///
    /// # Errors
    /// When the network cannot take these shapes, there is no memory, or a backend fails.
    pub fn create_execution_state_for(
        &self,
        input_shapes: &[Shape],
    ) -> Result<ExecutionState, LoadError> {
        if let Some(doubt) = self.network().doubtful_dimensions(input_shapes) {
            log::warn!("{doubt}; the model is executed all the same, as some models misuse names");
        }
        ExecutionState::new(Arc::clone(&self.0), input_shapes)
    }

    /// Executes the network once: reads inputs and writes outputs in the caller's memory.
    ///
    /// Memory that is aligned to 64 bytes, such as a [`HostTensor`]'s, is used itself, unless a
    /// backend works on it beyond its calls; other memory is copied. The inputs of the state itself
    /// ([`input_mut`](ExecutionState::input_mut)) and what its [`output`](ExecutionState::output)
    /// shows are of no meaning after this.
    ///
    /// # Errors
    /// When `state` is of another network, the number or size of inputs or outputs is wrong, or a
    /// backend fails.
    pub fn execute(
        &self,
        state: &mut ExecutionState,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), RunError> {
        if !Arc::ptr_eq(&self.0, state.model()) {
            return Err(InputError::OtherNetwork.into());
        }
        let network = self.network();
        let (n_inputs, n_outputs) = (network.inputs().len(), network.outputs().len());
        if inputs.len() != n_inputs {
            return Err(InputError::Count {
                given: inputs.len(),
                expected: n_inputs,
            }
            .into());
        }
        if outputs.len() != n_outputs {
            let (given, expected) = (outputs.len(), n_outputs);
            return Err(InputError::OutputCount { given, expected }.into());
        }
        if state.knows_output_sizes() {
            check_outputs(network, state, outputs)?;
            for (index, input) in inputs.iter().enumerate() {
                state.check_input(index, input.len())?;
            }
            return Ok(state.execute_with(inputs, outputs)?);
        }
        for (index, input) in inputs.iter().enumerate() {
            state.set_input(index, input)?;
        }
        state.execute()?;
        check_outputs(network, state, outputs)?;
        for (index, output) in outputs.iter_mut().enumerate() {
            output.copy_from_slice(state.output(index));
        }
        Ok(())
    }

    /// Executes the network once, with a state of its own: simple, and slower than
    /// [`execute`](Self::execute) with a state that is kept.
    ///
    /// # Errors
    /// When the number, type or shape of an input is wrong, a backend fails, or an output is no
    /// tensor: use [`run_values`](Self::run_values).
    pub fn run(&self, inputs: &[HostTensor]) -> Result<Vec<HostTensor>, RunError> {
        let network = self.network();
        if inputs.len() != network.inputs().len() {
            let (given, expected) = (inputs.len(), network.inputs().len());
            return Err(InputError::Count { given, expected }.into());
        }
        for (&id, given) in network.inputs().iter().zip(inputs) {
            let tensor = network.tensor(id);
            if tensor.info.data_type != given.info().data_type {
                return Err(InputError::DataType {
                    input: tensor.name.clone(),
                    expected: tensor.info.data_type,
                    given: given.info().data_type,
                }
                .into());
            }
        }
        let shapes: Vec<Shape> = inputs.iter().map(|i| i.info().shape).collect();
        let mut state = self.create_execution_state_for(&shapes)?;
        for (index, input) in inputs.iter().enumerate() {
            state.set_input(index, input.bytes())?;
        }
        state.execute()?;
        (0..network.outputs().len())
            .map(|index| {
                if state.is_tensor(index) {
                    return copy_output(&state, index);
                }
                let output = network.outputs()[index].name.clone();
                Err(InputError::OutputKind { output }.into())
            })
            .collect()
    }

    /// Executes the network once, with a state of its own, as [`run`](Self::run); inputs and outputs
    /// may be strings, sequences and optionals.
    ///
    /// # Errors
    /// When the number, type or shape of an input is wrong, or a backend fails.
    pub fn run_values(&self, inputs: Vec<Value>) -> Result<Vec<Value>, RunError> {
        let network = self.network();
        if inputs.len() != network.inputs().len() {
            let (given, expected) = (inputs.len(), network.inputs().len());
            return Err(InputError::Count { given, expected }.into());
        }
        let shapes: Vec<Shape> = inputs
            .iter()
            .map(|value| {
                value
                    .as_tensor()
                    .map_or(Shape::SCALAR, |tensor| tensor.info().shape)
            })
            .collect();
        let mut state = self.create_execution_state_for(&shapes)?;
        for (index, input) in inputs.into_iter().enumerate() {
            state.set_input_value(index, input)?;
        }
        state.execute()?;
        (0..network.outputs().len())
            .map(|index| match state.output_value(index) {
                Some(value) => Ok(value.clone()),
                None => copy_output(&state, index).map(Value::from),
            })
            .collect()
    }
}

fn copy_output(state: &ExecutionState, index: usize) -> Result<HostTensor, RunError> {
    HostTensor::from_bytes(state.output_info(index), state.output(index)).map_err(|e| {
        RunError::Load(LoadError::OutOfMemory {
            bytes: state.output(index).len() as u64,
            what: e.to_string(),
        })
    })
}

fn check_outputs(
    network: &Network,
    state: &ExecutionState,
    outputs: &[&mut [u8]],
) -> Result<(), InputError> {
    for (index, output) in outputs.iter().enumerate() {
        let (given, expected) = (output.len(), state.output(index).len());
        if given != expected {
            return Err(InputError::OutputSize {
                output: network.outputs()[index].name.clone(),
                expected,
                given,
            });
        }
    }
    Ok(())
}

impl std::fmt::Debug for LoadedNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedNetwork")
            .field("layers", &self.0.report.layers.len())
            .finish_non_exhaustive()
    }
}

impl From<ExecuteError> for RunError {
    fn from(e: ExecuteError) -> Self {
        Self::Execute(e)
    }
}
