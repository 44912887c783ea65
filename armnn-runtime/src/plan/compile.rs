//! Compiling a network for given input shapes.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use armnn_backend_api::{BackendError, NO_TENSOR, Shape, Status};
use armnn_network::{Inference, KnownValue, LayerId, Network, TensorId, infer};

use super::{
    Location, Plan, Step, ViewSource, ViewTables,
    claims::{Unit, units},
    constants::ConstantStore,
    memory,
};
use crate::{
    aligned_buffer::AlignedBuffer,
    backend::ModelContextHandle,
    error::{LoadError, OptimizeError},
    network::Derived,
    optimizer::{Assignment, Reassignment, cut},
    thread_pool::ThreadPool,
};

/// What a plan is made from.
pub(crate) struct PlanSource<'a> {
    pub(crate) network: &'a Network,
    pub(crate) constants: &'a ConstantStore,
    pub(crate) uses: &'a [u32],
    /// Which layers shape inference evaluates.
    pub(crate) evaluated: &'a [bool],
    /// One for each backend of the assignment, made when first needed.
    pub(crate) contexts: &'a dyn Fn(usize) -> Result<Arc<ModelContextHandle>, LoadError>,
    /// What was computed from constants by earlier plans, and is by this one.
    pub(crate) derived: &'a Derived,
    /// The threads that backends compute on.
    pub(crate) pool: &'a Arc<ThreadPool>,
    /// How many backends there are.
    pub(crate) n_contexts: usize,
    /// The most bytes that an execution state's arena may take.
    pub(crate) memory_limit: u64,
}

/// Compiles a network for given input shapes.
pub(crate) fn compile(
    source: &PlanSource<'_>,
    mut assignment: Assignment,
    input_shapes: &[Shape],
    input_values: &[Option<KnownValue>],
) -> Result<Plan, LoadError> {
    let inference = infer(source.network, input_shapes, input_values)?;
    let known = known_tensors(source, &inference)?;
    let Inference {
        shapes,
        descriptors,
        ..
    } = inference;
    let byte_lens = byte_lens(source, &shapes)?;
    let view_source = ViewSource {
        network: source.network,
        shapes: &shapes,
        constants: source.constants,
        descriptors: &descriptors,
        uses: source.uses,
    };
    let is_executed: Vec<bool> = source
        .evaluated
        .iter()
        .map(|evaluated| !evaluated)
        .collect();
    // A layer that is refused goes to the next backend, and never back, so this ends.
    let steps = loop {
        let (steps, refused) = compile_subgraphs(source, &view_source, &assignment, &is_executed)?;
        if refused.is_empty() {
            break steps;
        }
        assignment
            .reassign(&view_source, refused)
            .map_err(LoadError::Refused)?;
    };
    let (load_steps, steps) = split(source, &shapes, steps);
    memory::derive(source, &shapes, &byte_lens, load_steps)?;
    let layout = memory::lay_out(source, &view_source, &byte_lens, &known, steps)?;
    Ok(Plan {
        known,
        descriptors,
        byte_lens,
        assignment,
        steps: layout.steps,
        locations: layout.locations,
        arena_len: layout.arena_len,
        arena_alignment: layout.arena_alignment,
        handles: layout.handles,
        spare_handles: Some(layout.spare_handles).into(),
        shapes,
    })
}

/// The tensors that layers which are not executed give, as far as something reads them.
fn known_tensors(
    source: &PlanSource<'_>,
    inference: &Inference,
) -> Result<HashMap<TensorId, Arc<AlignedBuffer>>, LoadError> {
    let layers = source.network.layers().iter().zip(source.evaluated);
    layers
        .filter(|(_, evaluated)| **evaluated)
        .flat_map(|(layer, _)| &layer.outputs)
        .filter(|id| source.uses[id.index()] > 0)
        .map(|&id| {
            let bytes = inference.values.get(&id).and_then(KnownValue::to_bytes);
            let bytes = bytes.ok_or_else(|| LoadError::NotEvaluated {
                tensor: source.network.tensor(id).name.clone(),
            })?;
            let buffer = AlignedBuffer::copy_of(&bytes).map_err(|e| LoadError::OutOfMemory {
                bytes: e.0 as u64,
                what: "what is computed from shapes".to_owned(),
            })?;
            Ok((id, Arc::new(buffer)))
        })
        .collect()
}

/// Bytes of every tensor; an error names the tensor that is too large.
fn byte_lens(source: &PlanSource<'_>, shapes: &[Shape]) -> Result<Vec<usize>, LoadError> {
    source
        .network
        .tensors()
        .iter()
        .zip(shapes)
        .map(|(tensor, shape)| {
            if !shape.is_known() {
                // Its layer tells when it is executed.
                return Ok(0);
            }
            let len = shape
                .num_elements()
                .and_then(|n| tensor.info.data_type.byte_len(n));
            len.filter(|&len| len as u64 <= source.memory_limit)
                .ok_or_else(|| LoadError::TensorTooLarge {
                    tensor: tensor.name.clone(),
                    data_type: tensor.info.data_type,
                    shape: *shape,
                    limit: source.memory_limit,
                })
        })
        .collect()
}

/// Compiles every subgraph; the second result is what backends refused.
fn compile_subgraphs(
    source: &PlanSource<'_>,
    view_source: &ViewSource<'_>,
    assignment: &Assignment,
    is_executed: &[bool],
) -> Result<(Vec<Step>, Vec<Reassignment>), LoadError> {
    let mut steps = Vec::new();
    let mut refused = Vec::new();
    for subgraph in cut(source.network, assignment, is_executed) {
        let context = (source.contexts)(subgraph.backend)?;
        let tables = ViewTables::new(view_source, subgraph.layers);
        let failed = |e: BackendError| {
            let backend = context.backend().id().clone();
            let layer = e.layer_id().map(|id| id as usize);
            match layer.and_then(|index| source.network.layers().get(index)) {
                Some(layer) => LoadError::Workload {
                    backend,
                    layer: layer.name.clone(),
                    layer_type: layer.layer_type(),
                    source: e,
                },
                None => LoadError::Compile { backend, source: e },
            }
        };
        let invalid = |message: String| LoadError::InvalidAnswer {
            backend: context.backend().id().clone(),
            message,
        };
        let claims = context
            .optimize_subgraph_view(&tables.view(), tables.constants())
            .map_err(failed)?;
        let n_layers = tables.layer_ids().len();
        let mut given_up: HashSet<LayerId> = HashSet::new();
        for (layers, reason) in &claims.failed {
            for &layer in layers {
                let id = *tables
                    .layer_ids()
                    .get(layer as usize)
                    .ok_or_else(|| invalid(format!("it gives up layer {layer} of {n_layers}")))?;
                let reason = if reason.is_empty() {
                    "given up without a reason".to_owned()
                } else {
                    reason.clone()
                };
                // A layer that is named twice is reassigned once.
                if given_up.insert(id) {
                    refused.push(Reassignment { layer: id, reason });
                }
            }
        }
        let units = units(&tables, claims).map_err(invalid)?;
        for unit in units {
            let step = match unit {
                Unit::Claim(claim) => {
                    let tensor = |&t: &u32| tables.tensor_ids()[t as usize];
                    let layers: Vec<_> = claim
                        .layers
                        .iter()
                        .map(|&l| tables.layer_ids()[l as usize])
                        .collect();
                    if let Some(layer) = layers.iter().find(|layer| given_up.contains(layer)) {
                        return Err(invalid(format!("layer {layer} is claimed and given up")));
                    }
                    Step {
                        context: subgraph.backend,
                        workload: claim.workload,
                        inputs: claim.inputs.iter().map(|t| Some(tensor(t))).collect(),
                        outputs: claim.outputs.iter().map(tensor).collect(),
                        scratch: 0,
                        layers,
                    }
                }
                Unit::Layer(layer) => {
                    let id = tables.layer_ids()[layer as usize];
                    if given_up.contains(&id) || source.derived.has_all(source.network, id) {
                        continue;
                    }
                    match context.create_workload(&tables.view(), layer) {
                        Ok(workload) => {
                            single_layer_step(&tables, subgraph.backend, layer, workload)
                        }
                        Err(e) if e.status() == Status::Unsupported => {
                            refused.push(Reassignment {
                                layer: id,
                                reason: e.to_string(),
                            });
                            continue;
                        }
                        Err(e) => {
                            let layer = source.network.layer(id);
                            return Err(LoadError::Workload {
                                backend: context.backend().id().clone(),
                                layer: layer.name.clone(),
                                layer_type: layer.layer_type(),
                                source: e,
                            });
                        }
                    }
                }
            };
            steps.push(step);
        }
    }
    Ok((steps, refused))
}

fn single_layer_step(
    tables: &ViewTables<'_>,
    context: usize,
    layer: u32,
    workload: crate::backend::WorkloadHandle,
) -> Step {
    let tensor = |&t: &u32| (t != NO_TENSOR).then(|| tables.tensor_ids()[t as usize]);
    Step {
        context,
        workload,
        inputs: tables.layer_inputs(layer).iter().map(tensor).collect(),
        outputs: tables
            .layer_outputs(layer)
            .iter()
            .filter_map(tensor)
            .collect(),
        scratch: 0,
        layers: vec![tables.layer_ids()[layer as usize]],
    }
}

/// Divides steps into those that depend on constants alone and are done once, and the others.
///
/// What a layer gives whose descriptor follows from tensors is another thing in each plan, also where
/// all that the backend sees of its inputs is constant.
fn split(source: &PlanSource<'_>, shapes: &[Shape], steps: Vec<Step>) -> (Vec<Step>, Vec<Step>) {
    let mut once = vec![false; source.network.tensors().len()];
    let mut load_steps = Vec::new();
    let mut run_steps = Vec::new();
    for step in steps {
        let is_constant = |id: &TensorId| {
            once[id.index()]
                || source.network.tensor(*id).constant().is_some()
                || source.derived.has(*id)
        };
        let is_fixed = |id: &LayerId| source.network.layer(*id).descriptor().is_some();
        // What finds out its own size is executed each time.
        let is_sized = |id: &TensorId| shapes[id.index()].is_known();
        if step.layers.iter().all(is_fixed)
            && step.inputs.iter().flatten().all(is_constant)
            && step.outputs.iter().all(is_sized)
        {
            step.outputs.iter().for_each(|o| once[o.index()] = true);
            load_steps.push(step);
        } else {
            run_steps.push(step);
        }
    }
    (load_steps, run_steps)
}

/// Where constants and what was computed from them are.
pub(super) fn fixed_location(source: &PlanSource<'_>, id: TensorId) -> Option<Location> {
    if source.network.tensor(id).constant().is_some() {
        Some(Location::Constant)
    } else if source.derived.has(id) {
        Some(Location::Derived)
    } else {
        None
    }
}

impl From<OptimizeError> for LoadError {
    fn from(e: OptimizeError) -> Self {
        Self::Refused(e)
    }
}
