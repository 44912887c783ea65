//! Layers of backends that are planned together.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use armnn_backend_api::{BackendId, Shape};
use armnn_network::{KnownValue, LayerId, Network, TensorId};

use super::{Derived, LoadOptions};
use crate::{
    backend::ModelContextHandle,
    error::{ExecuteError, LoadError},
    optimizer::{Assignment, Choice, OptimizedSegment, tensor_uses},
    options::BackendOption,
    plan::{ConstantStore, Plan, PlanSource, compile, constant_id},
    thread_pool::ThreadPool,
};

/// Layers of backends that are planned together: a network of them, and its plans.
pub(crate) struct LoadedSegment {
    // Plans hold workloads; those go before the contexts that made them by holding them.
    // By input shapes; the one used last is at the end.
    plans: Mutex<Vec<(PlanKey, Arc<Plan>)>>,
    pub(super) network: Arc<Network>,
    pub(super) constants: ConstantStore,
    pub(super) derived: Derived,
    /// By backend of the assignment; made when a plan first needs one.
    pub(super) contexts: Vec<OnceLock<Arc<ModelContextHandle>>>,
    pub(super) pool: Arc<ThreadPool>,
    assignment: Assignment,
    uses: Vec<u32>,
    evaluated: Vec<bool>,
    /// For each input, whether its value must be known when a plan is made.
    pub(super) value_inputs: Vec<bool>,
    /// The number of each layer in the whole model.
    pub(super) layers: Vec<LayerId>,
    backend_options: Vec<(BackendId, BackendOption)>,
    cache_directory: Option<PathBuf>,
    pub(super) memory_limit: u64,
    max_plans: usize,
}

/// What a plan is made for: the shapes of the inputs, and the values of those on which parameters
/// depend.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlanKey {
    shapes: Vec<Shape>,
    values: Vec<Option<KnownValue>>,
}

impl LoadedSegment {
    pub(super) fn new(
        optimized: OptimizedSegment,
        options: &LoadOptions,
        pool: &Arc<ThreadPool>,
    ) -> Self {
        let OptimizedSegment {
            network,
            constants,
            assignment,
            value_inputs,
            layers,
            ..
        } = optimized;
        let evaluated = network.evaluated_layers();
        Self {
            plans: Mutex::default(),
            uses: tensor_uses(&network, &evaluated),
            evaluated,
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
            value_inputs,
            layers,
            backend_options: options.backend_options.clone(),
            cache_directory: options.cache_directory.clone(),
        }
    }

    /// Whether its plans may use a backend.
    pub(super) fn may_use(&self, id: &BackendId) -> bool {
        self.assignment
            .backends
            .iter()
            .any(|backend| backend.id() == id)
    }

    /// Compiles the network at once, if the shapes and values of its inputs are known.
    pub(super) fn plan_if_known(&self) -> Result<(), LoadError> {
        let shapes = self.declared_input_shapes();
        if shapes.iter().all(Shape::is_known) && !self.value_inputs.contains(&true) {
            self.plan(&shapes, &[])?;
        }
        Ok(())
    }

    /// Bytes that each backend in use holds for this network; `None` where it does not tell.
    pub(super) fn backend_memory(&self) -> Result<Vec<(BackendId, Option<u64>)>, ExecuteError> {
        let contexts = self.contexts.iter().filter_map(OnceLock::get);
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
    pub(super) fn declared_input_shapes(&self) -> Vec<Shape> {
        let network = &self.network;
        network
            .inputs()
            .iter()
            .map(|&i| network.tensor(i).info.shape)
            .collect()
    }

    /// The plan for given input shapes, and values where they matter, compiled if there is none yet.
    pub(super) fn plan(
        &self,
        input_shapes: &[Shape],
        input_values: &[Option<KnownValue>],
    ) -> Result<Arc<Plan>, LoadError> {
        // Held while a plan is compiled: another caller with the same shapes waits for it.
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let is_wanted = |(key, _): &(PlanKey, Arc<Plan>)| {
            key.shapes == input_shapes && key.values == input_values
        };
        if let Some(found) = plans.iter().position(is_wanted) {
            let entry = plans.remove(found);
            let plan = Arc::clone(&entry.1);
            plans.push(entry);
            return Ok(plan);
        }
        let source = PlanSource {
            network: &self.network,
            constants: &self.constants,
            uses: &self.uses,
            evaluated: &self.evaluated,
            contexts: &|backend| self.context(backend),
            derived: &self.derived,
            pool: &self.pool,
            n_contexts: self.contexts.len(),
            memory_limit: self.memory_limit,
        };
        let plan = Arc::new(compile(
            &source,
            self.assignment.clone(),
            input_shapes,
            input_values,
        )?);
        self.drop_released_constants(&plan);
        // Execution states hold the plan that they use, so none is taken from them.
        if plans.len() >= self.max_plans {
            plans.remove(0);
        }
        let key = PlanKey {
            shapes: input_shapes.to_vec(),
            values: input_values.to_vec(),
        };
        plans.push((key, Arc::clone(&plan)));
        Ok(plan)
    }

    fn context(&self, backend: usize) -> Result<Arc<ModelContextHandle>, LoadError> {
        if let Some(context) = self.contexts[backend].get() {
            return Ok(Arc::clone(context));
        }
        let instance = &self.assignment.backends[backend];
        let options: Vec<BackendOption> = self
            .backend_options
            .iter()
            .filter(|(id, _)| id == instance.id())
            .map(|(_, option)| option.clone())
            .collect();
        let context = ModelContextHandle::new(
            instance,
            &options,
            &self.pool,
            self.cache_directory.as_deref(),
        )
        .map_err(|e| LoadError::ModelContext {
            backend: instance.id().clone(),
            source: e,
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
        let is_only_plan = self.has_one_plan();
        let is_final = self.assignment.is_final();
        for (index, layer) in self.network.layers().iter().enumerate() {
            let context = self.contexts.get(plan.assignment.of_layer[index]);
            let context = context.and_then(OnceLock::get);
            let stays = is_only_plan || self.stays(index, is_final);
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

    /// Whether there is one plan for all inputs.
    fn has_one_plan(&self) -> bool {
        let mut inputs = self.network.inputs().iter();
        inputs.all(|&i| self.network.tensor(i).info.shape.is_known())
            && !self.value_inputs.contains(&true)
    }

    /// Whether every later plan gives a layer to the backend that has it now; `is_final`: what a
    /// preference gave stays.
    fn stays(&self, layer: usize, is_final: bool) -> bool {
        match self.assignment.report.layers[layer].choice {
            Choice::Pin | Choice::Runtime => true,
            Choice::Preference => is_final,
            // Where it would go when it is refused may be another backend than the one it has.
            Choice::Hint | Choice::FollowsConsumer | Choice::Reassigned => false,
        }
    }
}

/// Bytes of physical memory; without a limit where it cannot be told.
pub(super) fn physical_memory() -> u64 {
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
