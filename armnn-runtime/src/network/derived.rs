//! What is computed once from constants.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use armnn_network::{LayerId, Network, TensorId};

use crate::aligned_buffer::AlignedBuffer;

type Buffers = HashMap<TensorId, Arc<AlignedBuffer>>;

/// Tensors that depend on constants alone, computed by the first plan that needs them and kept
/// for all.
#[derive(Default)]
pub(crate) struct Derived(Mutex<Buffers>);

impl Derived {
    fn lock(&self) -> MutexGuard<'_, Buffers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a tensor was computed.
    pub(crate) fn has(&self, id: TensorId) -> bool {
        self.lock().contains_key(&id)
    }

    /// Whether all outputs of a layer were computed.
    pub(crate) fn has_all(&self, network: &Network, id: LayerId) -> bool {
        let buffers = self.lock();
        network
            .layer(id)
            .outputs
            .iter()
            .all(|output| buffers.contains_key(output))
    }

    /// A tensor that was computed.
    pub(crate) fn get(&self, id: TensorId) -> Option<Arc<AlignedBuffer>> {
        self.lock().get(&id).cloned()
    }

    /// Keeps what was computed.
    pub(crate) fn insert(&self, computed: Buffers) {
        self.lock().extend(computed);
    }
}
