//! The constants of a loaded network.

use std::sync::{Mutex, MutexGuard, PoisonError};

use armnn_network::{KnownValue, Network, TensorId};
use bytes::Bytes;

use crate::aligned_buffer::{AlignedBuffer, AllocationError};

/// Where the data of constants is found.
pub(crate) trait ConstantAccess {
    /// The address of a constant's data; `None` if it was dropped.
    fn data(&self, id: TensorId) -> Option<*const u8>;
}

/// Alignment that covers every element type.
const ELEMENT_ALIGNMENT: usize = 8;

/// The data of a network's constants: borrowed from the model file, or an aligned copy where the
/// file's own is not aligned and some backend needs it to be.
pub(crate) struct ConstantStore {
    // By tensor; `None`: no constant, or dropped.
    data: Mutex<Vec<Option<Bytes>>>,
}

impl ConstantStore {
    /// Takes the data of a network's constants out of it. `aligned`: some backend needs them
    /// aligned.
    pub(crate) fn take(network: &mut Network, aligned: bool) -> Result<Self, AllocationError> {
        // What shapes may be computed with stays in the network, too.
        let stays = match network.computes_with_shapes() {
            true => KnownValue::MOST_ELEMENTS * size_of::<u64>(),
            false => 0,
        };
        let data = (0..network.tensors().len() as u32)
            .map(|index| {
                let id = TensorId(index);
                let kept = network.tensor(id).constant();
                let kept = kept.filter(|bytes| bytes.len() <= stays).cloned();
                let Some(bytes) = kept.or_else(|| network.take_constant_data(id)) else {
                    return Ok(None);
                };
                let data_type = network.tensor(id).info.data_type;
                let element = data_type.size().unwrap_or(1).min(ELEMENT_ALIGNMENT);
                if aligned && bytes.as_ptr().addr() % element != 0 {
                    return Ok(Some(Bytes::from_owner(AlignedBuffer::copy_of(&bytes)?)));
                }
                Ok(Some(bytes))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            data: Mutex::new(data),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<Bytes>>> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A constant's data; `None` if it was dropped.
    pub(crate) fn bytes(&self, id: TensorId) -> Option<Bytes> {
        self.lock().get(id.index()).cloned().flatten()
    }

    /// Drops a constant's data. What still holds the [`Bytes`] keeps them.
    pub(crate) fn drop_data(&self, id: TensorId) {
        if let Some(slot) = self.lock().get_mut(id.index()) {
            *slot = None;
        }
    }
}

impl ConstantAccess for ConstantStore {
    fn data(&self, id: TensorId) -> Option<*const u8> {
        self.lock()
            .get(id.index())?
            .as_ref()
            .map(|bytes| bytes.as_ptr())
    }
}
