//! Where the tensors of a plan are kept.

use std::{collections::HashMap, sync::Arc};

use armnn_backend_api::{BackendError, Shape, Status};
use armnn_network::TensorId;
use bytes::Bytes;

use super::{
    HandleSpec, Location, PlanSource, Step, ViewSource,
    arena::{ArenaLayout, Block},
    compile::fixed_location,
    tensor_desc,
};
use crate::{
    aligned_buffer::AlignedBuffer,
    backend::TensorHandleRef,
    error::LoadError,
    network::{StepRunner, StepTensors, TensorAddress},
};

/// The memory of a plan.
pub(super) struct Layout {
    pub(super) steps: Vec<Step>,
    pub(super) locations: Vec<Location>,
    pub(super) arena_len: usize,
    pub(super) arena_alignment: usize,
    pub(super) handles: Vec<HandleSpec>,
    pub(super) spare_handles: Vec<TensorHandleRef>,
}

/// Runs the steps that depend on constants alone, and keeps their results.
pub(super) fn derive(
    source: &PlanSource<'_>,
    shapes: &[Shape],
    byte_lens: &[usize],
    steps: Vec<Step>,
) -> Result<(), LoadError> {
    if steps.is_empty() {
        return Ok(());
    }
    let allocate = |len: usize, alignment: usize| {
        AlignedBuffer::new(len, alignment).map_err(|e| LoadError::OutOfMemory {
            bytes: e.0 as u64,
            what: "what is computed from constants".to_owned(),
        })
    };
    let mut computed: HashMap<TensorId, Arc<AlignedBuffer>> = HashMap::new();
    let mut total = 0u64;
    for &output in steps.iter().flat_map(|step| &step.outputs) {
        let len = byte_lens[output.index()];
        total = total.saturating_add(len as u64);
        if total > source.memory_limit {
            return Err(LoadError::MemoryLimit {
                what: format!("tensor '{}'", source.network.tensor(output).name),
                limit: source.memory_limit,
            });
        }
        computed.insert(output, Arc::new(allocate(len, 1)?));
    }
    let scratch_len = steps
        .iter()
        .map(|step| step.workload.scratch().0)
        .max()
        .unwrap_or(0);
    let alignment = steps
        .iter()
        .map(|step| step.workload.scratch().1)
        .max()
        .unwrap_or(1);
    let scratch = allocate(scratch_len, alignment)?;
    // Constants and earlier results are held for as long as their addresses are used.
    let mut constants: HashMap<TensorId, Bytes> = HashMap::new();
    let mut earlier: HashMap<TensorId, Arc<AlignedBuffer>> = HashMap::new();
    for &input in steps.iter().flat_map(|step| step.inputs.iter().flatten()) {
        if let Some(bytes) = source.constants.bytes(input) {
            constants.insert(input, bytes);
        } else if let Some(buffer) = source.derived.get(input) {
            earlier.insert(input, buffer);
        }
    }
    let address = |id: TensorId, _| {
        let buffer = computed.get(&id).or_else(|| earlier.get(&id));
        TensorAddress::host(match (buffer, constants.get(&id)) {
            (Some(buffer), _) => buffer.as_ptr(),
            (None, Some(bytes)) => bytes.as_ptr().cast_mut(),
            // Released.
            (None, None) => std::ptr::null_mut(),
        })
    };
    let mut runner = StepRunner::new(
        &steps,
        &StepTensors {
            network: source.network,
            shapes,
            byte_lens,
            memory_limit: source.memory_limit,
            borders: &[],
        },
        source.pool,
        scratch.as_ptr(),
        source.n_contexts,
        address,
    )
    .map_err(LoadError::State)?;
    // SAFETY: all memory is held above, and nobody else uses what is written.
    let result = unsafe { runner.run(&steps, source.network) };
    let may_be_running = runner.may_be_running();
    drop(runner);
    if may_be_running {
        // The backend panicked and cannot be waited for: what it may use stays.
        std::mem::forget((computed, scratch, constants, earlier));
        return Err(match result {
            Err(e) => LoadError::ConstantLayers(e),
            Ok(()) => LoadError::State(BackendError::with_status(
                Status::Poisoned,
                "a backend panicked while it executed layers that depend on constants alone",
            )),
        });
    }
    result.map_err(LoadError::ConstantLayers)?;
    source.derived.insert(computed);
    Ok(())
}

/// Lays out what is computed in each execution: in handles where a backend wants to keep a tensor
/// that it alone touches, else in an arena, where tensors share memory whose lifetimes do not
/// overlap.
pub(super) fn lay_out(
    source: &PlanSource<'_>,
    view_source: &ViewSource<'_>,
    byte_lens: &[usize],
    known: &HashMap<TensorId, Arc<AlignedBuffer>>,
    mut steps: Vec<Step>,
) -> Result<Layout, LoadError> {
    let network = source.network;
    let mut locations = vec![Location::None; network.tensors().len()];
    for (index, location) in locations.iter_mut().enumerate() {
        if let Some(fixed) = fixed_location(source, TensorId(index as u32)) {
            *location = fixed;
        }
    }
    for id in known.keys() {
        locations[id.index()] = Location::Known;
    }
    // What a step of this plan produces is its own, also if an earlier plan computed it once for all:
    // what is shared is never written again.
    for output in steps.iter().flat_map(|step| &step.outputs) {
        locations[output.index()] = Location::None;
    }
    let mut arena = Arena {
        layout: ArenaLayout::default(),
        blocks: HashMap::new(),
        source,
    };

    // Inputs and outputs of the network are kept through the whole execution.
    let mut kept = vec![false; network.tensors().len()];
    for &input in network.inputs() {
        kept[input.index()] = true;
        locations[input.index()] = arena.allocate(input, byte_lens[input.index()])?;
    }
    for output in network.outputs() {
        kept[output.tensor.index()] = true;
    }
    let last_use = last_uses(&steps, network.tensors().len());
    let (handles, spare_handles) =
        make_handles(source, view_source, &steps, &kept, &mut locations)?;

    for (index, step) in steps.iter_mut().enumerate() {
        for &output in &step.outputs {
            if !view_source.shapes[output.index()].is_known() {
                locations[output.index()] = Location::Dynamic;
            } else if locations[output.index()] == Location::None {
                locations[output.index()] = arena.allocate(output, byte_lens[output.index()])?;
            }
        }
        let (scratch_len, alignment) = step.workload.scratch();
        if scratch_len > 0 {
            let block = arena.allocate_block(scratch_len, alignment, || {
                format!(
                    "scratch memory of layer '{}'",
                    network.layer(step.layers[0]).name
                )
            })?;
            step.scratch = block.start;
            arena.layout.free(block);
        }
        // An output that nobody reads is gone at once.
        let touched = step.inputs.iter().flatten().chain(&step.outputs);
        for &tensor in touched {
            if !kept[tensor.index()] && last_use[tensor.index()] == Some(index) {
                arena.free(tensor);
            }
        }
    }
    let (arena_len, arena_alignment) = (arena.layout.len(), arena.layout.alignment());
    Ok(Layout {
        steps,
        locations,
        arena_len,
        arena_alignment,
        handles,
        spare_handles,
    })
}

/// For every tensor, the last step that touches it.
fn last_uses(steps: &[Step], n_tensors: usize) -> Vec<Option<usize>> {
    let mut last = vec![None; n_tensors];
    for (index, step) in steps.iter().enumerate() {
        for tensor in step.inputs.iter().flatten().chain(&step.outputs) {
            last[tensor.index()] = Some(index);
        }
    }
    last
}

struct Arena<'a> {
    layout: ArenaLayout,
    blocks: HashMap<TensorId, Block>,
    source: &'a PlanSource<'a>,
}

impl Arena<'_> {
    fn allocate(&mut self, tensor: TensorId, len: usize) -> Result<Location, LoadError> {
        let source = self.source;
        let block = self.allocate_block(len, 1, || {
            format!("tensor '{}'", source.network.tensor(tensor).name)
        })?;
        self.blocks.insert(tensor, block);
        Ok(Location::Arena(block.start))
    }

    fn allocate_block(
        &mut self,
        len: usize,
        alignment: usize,
        what: impl Fn() -> String,
    ) -> Result<Block, LoadError> {
        let block = self.layout.allocate(len, alignment);
        block
            .filter(|_| self.layout.len() as u64 <= self.source.memory_limit)
            .ok_or_else(|| LoadError::MemoryLimit {
                what: what(),
                limit: self.source.memory_limit,
            })
    }

    fn free(&mut self, tensor: TensorId) {
        // A tensor that a step reads twice is freed once.
        if let Some(block) = self.blocks.remove(&tensor) {
            self.layout.free(block);
        }
    }
}

/// Asks backends for handles of tensors that they alone touch.
fn make_handles(
    source: &PlanSource<'_>,
    view_source: &ViewSource<'_>,
    steps: &[Step],
    kept: &[bool],
    locations: &mut [Location],
) -> Result<(Vec<HandleSpec>, Vec<TensorHandleRef>), LoadError> {
    // The context that alone touches a tensor; `usize::MAX`: several.
    const SEVERAL: usize = usize::MAX;
    let mut owner: HashMap<TensorId, usize> = HashMap::new();
    for step in steps {
        for &tensor in step.inputs.iter().flatten().chain(&step.outputs) {
            let entry = owner.entry(tensor).or_insert(step.context);
            if *entry != step.context {
                *entry = SEVERAL;
            }
        }
    }
    let mut specs = Vec::new();
    let mut handles = Vec::new();
    for &tensor in steps.iter().flat_map(|step| &step.outputs) {
        let context = owner[&tensor];
        if kept[tensor.index()]
            || context == SEVERAL
            || locations[tensor.index()] != Location::None
            || !view_source.shapes[tensor.index()].is_known()
        {
            continue;
        }
        let context = (source.contexts)(context)?;
        if !context.makes_tensor_handles() {
            continue;
        }
        let desc = tensor_desc(view_source, tensor);
        let made = context
            .create_tensor_handle(&desc)
            .map_err(|e| LoadError::Compile {
                backend: context.backend().id().clone(),
                source: e,
            })?;
        if let Some(handle) = made {
            locations[tensor.index()] = Location::Handle(specs.len());
            specs.push(HandleSpec { tensor, context });
            handles.push(handle);
        }
    }
    Ok((specs, handles))
}
