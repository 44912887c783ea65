//! A network that can be executed.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use armnn_backend_api::{BackendId, Shape};
use armnn_network::{LayerId, Network, TensorId};

use super::{Derived, ExecutionState};
use crate::{
    backend::ModelContextHandle,
    error::{ExecuteError, InputError, LoadError, RunError},
    optimizer::{Assignment, AssignmentReport, Choice, OptimizedNetwork, tensor_uses},
    options::BackendOption,
    plan::{ConstantStore, Plan, PlanSource, compile, constant_id},
    tensor::HostTensor,
    thread_pool::ThreadPool,
};

/// How a network is loaded.
#[derive(Clone, Debug, Default)]
#[doc(alias = "INetworkProperties")]
pub struct LoadOptions {
    /// Options for backends, for this network alone.
    pub backend_options: Vec<(BackendId, BackendOption)>,
    /// The most bytes that the tensors of one execution state may take; more is an error.
    /// `None`: the physical memory of the machine.
    pub memory_limit: Option<u64>,
    /// For how many input shapes the network stays compiled, besides those of execution states that
    /// exist; the shapes used last stay. `None`: 64.
    pub max_plans: Option<usize>,
}

/// A network that can be executed: immutable, and shared between threads. A clone is the same
/// network.
///
/// It holds the backends that it uses, and their shared objects, until it and all its execution
/// states are dropped.
#[derive(Clone)]
pub struct LoadedNetwork(Arc<Inner>);

pub(crate) struct Inner {
    // Plans hold workloads; those go before the contexts that made them by holding them.
    // By input shapes; the one used last is at the end.
    plans: Mutex<Vec<(Vec<Shape>, Arc<Plan>)>>,
    pub(super) network: Network,
    pub(super) constants: ConstantStore,
    pub(super) derived: Derived,
    /// By backend of the assignment; made when a plan first needs one.
    pub(super) contexts: Vec<OnceLock<Arc<ModelContextHandle>>>,
    pub(super) pool: Arc<ThreadPool>,
    assignment: Assignment,
    uses: Vec<u32>,
    options: LoadOptions,
    memory_limit: u64,
    max_plans: usize,
}

/// What is executed as one, in a plan.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The backend.
    pub backend: BackendId,
    /// The layers.
    pub layers: Vec<LayerId>,
}

impl LoadedNetwork {
    pub(crate) fn new(
        optimized: OptimizedNetwork,
        options: LoadOptions,
        pool: &Arc<ThreadPool>,
    ) -> Result<Self, LoadError> {
        let OptimizedNetwork {
            network,
            constants,
            assignment,
            ..
        } = optimized;
        let known = |id: &BackendId| assignment.backends.iter().any(|b| b.id() == id);
        if let Some((id, option)) = options.backend_options.iter().find(|(id, _)| !known(id)) {
            return Err(LoadError::OptionForMissingBackend {
                backend: id.clone(),
                option: option.name.clone(),
            });
        }
        pool.start_threads().map_err(|source| LoadError::Threads {
            n_threads: pool.n_threads(),
            source,
        })?;
        let inner = Inner {
            plans: Mutex::default(),
            uses: tensor_uses(&network),
            contexts: assignment
                .backends
                .iter()
                .map(|_| OnceLock::new())
                .collect(),
            derived: Derived::default(),
            pool: Arc::clone(pool),
            memory_limit: options.memory_limit.unwrap_or_else(physical_memory),
            max_plans: options.max_plans.unwrap_or(64).max(1),
            network,
            constants,
            assignment,
            options,
        };
        let this = Self(Arc::new(inner));
        let shapes = this.declared_input_shapes();
        if shapes.iter().all(Shape::is_known) {
            this.0.plan(&shapes)?;
        }
        Ok(this)
    }

    /// The network. The data of its constants is in the runtime's keeping; here they are empty.
    pub fn network(&self) -> &Network {
        &self.0.network
    }

    /// Which backend executes which layer, and why no other one does, as it was assigned by
    /// `optimize`; [`plan_report`](Self::plan_report) tells what became of it in a plan.
    pub fn report(&self) -> &AssignmentReport {
        &self.0.assignment.report
    }

    /// Which backend executes which layer for given input shapes, and what is executed as one.
    /// Layers that depend on constants alone were executed when the network was loaded, and are
    /// in no step.
    ///
    /// # Errors
    /// When the network cannot be compiled for these shapes.
    pub fn plan_report(
        &self,
        input_shapes: &[Shape],
    ) -> Result<(AssignmentReport, Vec<StepReport>), LoadError> {
        let plan = self.0.plan(input_shapes)?;
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
        let contexts = self.0.contexts.iter().filter_map(OnceLock::get);
        contexts
            .map(|context| {
                let id = context.backend().id().clone();
                match context.memory_usage() {
                    Ok(bytes) => Ok((id, bytes)),
                    Err(source) => Err(ExecuteError {
                        backend: Some(id),
                        layers: Vec::new(),
                        source,
                    }),
                }
            })
            .collect()
    }

    /// The shapes of the inputs, as the model declares them.
    pub fn declared_input_shapes(&self) -> Vec<Shape> {
        let network = &self.0.network;
        network
            .inputs()
            .iter()
            .map(|&i| network.tensor(i).info.shape)
            .collect()
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
        let plan = self.0.plan(input_shapes)?;
        ExecutionState::new(Arc::clone(&self.0), plan)
    }

    /// Executes the network once: copies inputs in and outputs out. Allocates nothing.
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
        if !Arc::ptr_eq(&self.0, &state.network) {
            return Err(InputError::OtherNetwork.into());
        }
        let (n_inputs, n_outputs) = (
            self.0.network.inputs().len(),
            self.0.network.outputs().len(),
        );
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
        for (index, output) in outputs.iter().enumerate() {
            let (given, expected) = (output.len(), state.output(index).len());
            if given != expected {
                let output = self.0.network.outputs()[index].name.clone();
                return Err(InputError::OutputSize {
                    output,
                    expected,
                    given,
                }
                .into());
            }
        }
        for (index, input) in inputs.iter().enumerate() {
            state.set_input(index, input)?;
        }
        state.execute()?;
        for (index, output) in outputs.iter_mut().enumerate() {
            output.copy_from_slice(state.output(index));
        }
        Ok(())
    }

    /// Executes the network once, with a state of its own: simple, and slower than
    /// [`execute`](Self::execute) with a state that is kept.
    ///
    /// # Errors
    /// When the number, type or shape of an input is wrong, or a backend fails.
    pub fn run(&self, inputs: &[HostTensor]) -> Result<Vec<HostTensor>, RunError> {
        let network = &self.0.network;
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
                HostTensor::from_bytes(state.output_info(index), state.output(index)).map_err(|e| {
                    RunError::Load(LoadError::OutOfMemory {
                        bytes: state.output(index).len() as u64,
                        what: e.to_string(),
                    })
                })
            })
            .collect()
    }
}

impl Inner {
    /// The plan for given input shapes, compiled if there is none yet.
    fn plan(&self, input_shapes: &[Shape]) -> Result<Arc<Plan>, LoadError> {
        // Held while a plan is compiled: another caller with the same shapes waits for it.
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = plans.iter().position(|(shapes, _)| shapes == input_shapes) {
            let entry = plans.remove(found);
            let plan = Arc::clone(&entry.1);
            plans.push(entry);
            return Ok(plan);
        }
        let source = PlanSource {
            network: &self.network,
            constants: &self.constants,
            uses: &self.uses,
            contexts: &|backend| self.context(backend),
            derived: &self.derived,
            pool: &self.pool,
            n_contexts: self.contexts.len(),
            memory_limit: self.memory_limit,
        };
        let plan = Arc::new(compile(&source, self.assignment.clone(), input_shapes)?);
        self.drop_released_constants(&plan);
        // Execution states hold the plan that they use, so none is taken from them.
        if plans.len() >= self.max_plans {
            plans.remove(0);
        }
        plans.push((input_shapes.to_vec(), Arc::clone(&plan)));
        Ok(plan)
    }

    fn context(&self, backend: usize) -> Result<Arc<ModelContextHandle>, LoadError> {
        if let Some(context) = self.contexts[backend].get() {
            return Ok(Arc::clone(context));
        }
        let instance = &self.assignment.backends[backend];
        let options: Vec<BackendOption> = self
            .options
            .backend_options
            .iter()
            .filter(|(id, _)| id == instance.id())
            .map(|(_, option)| option.clone())
            .collect();
        let context = ModelContextHandle::new(instance, &options, &self.pool).map_err(|e| {
            LoadError::ModelContext {
                backend: instance.id().clone(),
                source: e,
            }
        })?;
        Ok(Arc::clone(self.contexts[backend].get_or_init(|| context)))
    }

    /// Drops the data of constants that every backend that was shown them released, unless a plan
    /// for other shapes could give their layers to a backend that was not.
    fn drop_released_constants(&self, plan: &Plan) {
        let mut keep = vec![false; self.network.tensors().len()];
        for output in self.network.outputs() {
            keep[output.tensor.index()] = true;
        }
        let mut released = vec![false; keep.len()];
        for (index, layer) in self.network.layers().iter().enumerate() {
            let context = self.contexts[plan.assignment.of_layer[index]].get();
            let stays = self.stays(index);
            for id in layer.present_inputs() {
                if self.network.tensor(id).constant().is_none() {
                    continue;
                }
                if context.is_some_and(|c| c.has_released(constant_id(id))) {
                    released[id.index()] = true;
                }
                if !stays {
                    keep[id.index()] = true;
                }
            }
        }
        for index in 0..keep.len() {
            let id = TensorId(index as u32);
            // Whoever was shown a constant may have kept its address, also if it gave up the layer.
            let mut contexts = self.contexts.iter().filter_map(OnceLock::get);
            if released[index] && !keep[index] && !contexts.any(|c| c.holds(constant_id(id))) {
                self.constants.drop_data(id);
            }
        }
    }

    /// Whether every later plan gives a layer to the backend that has it now.
    fn stays(&self, layer: usize) -> bool {
        // There will be no other plan.
        let mut inputs = self.network.inputs().iter();
        if inputs.all(|&i| self.network.tensor(i).info.shape.is_known()) {
            return true;
        }
        match self.assignment.report.layers[layer].choice {
            Choice::Pin => true,
            Choice::Preference => self.assignment.is_final(),
            // Where it would go when it is refused may be another backend than the one it has.
            Choice::Hint | Choice::FollowsConsumer | Choice::Reassigned => false,
        }
    }
}

impl std::fmt::Debug for LoadedNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedNetwork")
            .field("layers", &self.0.network.layers().len())
            .finish_non_exhaustive()
    }
}

/// Bytes of physical memory; without a limit where it cannot be told.
fn physical_memory() -> u64 {
    #[cfg(unix)]
    {
        // SAFETY: plain queries.
        let (pages, size) = unsafe {
            (
                libc::sysconf(libc::_SC_PHYS_PAGES),
                libc::sysconf(libc::_SC_PAGESIZE),
            )
        };
        if let (Ok(pages), Ok(size)) = (u64::try_from(pages), u64::try_from(size))
            && pages > 0
        {
            return pages.saturating_mul(size);
        }
    }
    u64::MAX
}

impl From<ExecuteError> for RunError {
    fn from(e: ExecuteError) -> Self {
        Self::Execute(e)
    }
}
