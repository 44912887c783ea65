//! Plans: a network compiled for given input shapes.

mod arena;
mod claims;
mod compile;
mod constants;
mod memory;
mod view_tables;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use armnn_backend_api::{BackendError, LayerDescriptor, Shape};
use armnn_network::{LayerId, TensorId};

pub(crate) use compile::{PlanSource, compile};
pub(crate) use constants::{AlignedCopies, ConstantStore};
pub(crate) use view_tables::{ViewSource, ViewTables, constant_id, tensor_desc};

use crate::{
    aligned_buffer::AlignedBuffer,
    backend::{ModelContextHandle, TensorHandleRef, WorkloadHandle},
    optimizer::Assignment,
};

/// A network compiled for given input shapes: fully static.
pub(crate) struct Plan {
    /// The shape of every tensor.
    pub(crate) shapes: Vec<Shape>,
    /// The descriptors of deferred layers.
    pub(crate) descriptors: HashMap<LayerId, LayerDescriptor>,
    /// Bytes of every tensor; 0 where a layer finds out when it is executed.
    pub(crate) byte_lens: Vec<usize>,
    /// Tensors whose values shape inference found, and that something reads.
    pub(crate) known: HashMap<TensorId, Arc<AlignedBuffer>>,
    /// The assignment, as it became while the plan was compiled.
    pub(crate) assignment: Assignment,
    /// What is done for each execution, in order.
    pub(crate) steps: Vec<Step>,
    /// Where every tensor is.
    pub(crate) locations: Vec<Location>,
    /// Bytes of the arena that every execution state has.
    pub(crate) arena_len: usize,
    /// Its alignment.
    pub(crate) arena_alignment: usize,
    /// Tensors in handles of backends; the index is that of [`Location::Handle`].
    pub(crate) handles: Vec<HandleSpec>,
    /// Handles that were made to learn whether the backend wants them; for the first state.
    pub(crate) spare_handles: Mutex<Option<Vec<TensorHandleRef>>>,
}

/// One call of a workload.
pub(crate) struct Step {
    /// The context, as an index into those of the loaded network.
    pub(crate) context: usize,
    pub(crate) workload: WorkloadHandle,
    /// Absent ones are `None`.
    pub(crate) inputs: Vec<Option<TensorId>>,
    pub(crate) outputs: Vec<TensorId>,
    /// Where in the arena its scratch memory starts.
    pub(crate) scratch: usize,
    /// The layers that it stands for.
    pub(crate) layers: Vec<LayerId>,
}

/// Where a tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// Nowhere: inside of a workload.
    None,
    /// Among the constants of the network.
    Constant,
    /// Computed once from constants.
    Derived,
    /// Among the known tensors of the plan.
    Known,
    /// In the arena, from this offset on.
    Arena(usize),
    /// In a handle of a backend.
    Handle(usize),
    /// In memory that its layer asks for when it is executed.
    Dynamic,
}

/// A tensor in a handle of a backend.
pub(crate) struct HandleSpec {
    pub(crate) tensor: TensorId,
    pub(crate) context: Arc<ModelContextHandle>,
}

impl HandleSpec {
    /// Makes a handle for another execution state.
    pub(crate) fn make(&self, source: &ViewSource<'_>) -> Result<TensorHandleRef, BackendError> {
        let desc = tensor_desc(source, self.tensor);
        self.context.create_tensor_handle(&desc)?.ok_or_else(|| {
            BackendError::new(format!(
                "backend {} made a handle for tensor '{}' before, and now makes none",
                self.context.backend().id(),
                source.network.tensor(self.tensor).name
            ))
        })
    }
}
