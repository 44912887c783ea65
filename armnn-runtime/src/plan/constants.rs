//! The constants of a loaded network.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use armnn_backend_api::Capabilities;
use armnn_network::{KnownValue, MappedFile, Network, TensorId};
use bytes::Bytes;

use crate::{
    aligned_buffer::{AlignedBuffer, AllocationError},
    backend::BackendInstance,
};

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
    files: Vec<Weak<dyn MappedFile>>,
}

impl ConstantStore {
    /// Takes the data of a network's constants out of it.
    pub(crate) fn take(
        network: &mut Network,
        copies: &mut AlignedCopies,
    ) -> Result<Self, AllocationError> {
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
                match copies.needed && bytes.as_ptr().addr() % element != 0 {
                    true => copies.copy_of(bytes).map(Some),
                    false => Ok(Some(bytes)),
                }
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            data: Mutex::new(data),
            files: copies.files.clone(),
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
        let dropped = self.lock().get_mut(id.index()).and_then(Option::take);
        let Some(dropped) = dropped.filter(|bytes| bytes.len() >= RELEASED_AT_ONCE) else {
            return;
        };
        for file in self.files.iter().filter_map(Weak::upgrade) {
            if let Some(range) = file.range_of(&dropped) {
                file.release_pages(range);
            }
        }
    }
}

/// How many bytes are copied from a file before its pages are given back.
const RELEASED_AT_ONCE: usize = 1 << 20;

/// Aligned copies of constants, one of each, also where several networks of a model share it.
///
/// Pages of mapped files are given back as soon as they have been copied: the copies take the place
/// of the file in memory, instead of adding to it.
pub(crate) struct AlignedCopies {
    // Whether some backend needs them.
    needed: bool,
    files: Vec<Weak<dyn MappedFile>>,
    // By the address and the length of the data, which the map keeps in place.
    copies: HashMap<(usize, usize), (Bytes, Bytes)>,
    // By file: what has been read since pages were given back, and how much that is.
    read: Vec<(Range<usize>, usize)>,
}

impl AlignedCopies {
    /// None yet, of constants in these files. They are made if one of the backends needs constants to
    /// be aligned.
    pub(crate) fn new(files: &[Weak<dyn MappedFile>], backends: &[Arc<BackendInstance>]) -> Self {
        let mut capabilities = backends.iter().map(|backend| backend.capabilities());
        Self {
            needed: capabilities.any(|c| !c.has(Capabilities::UNALIGNED_CONSTANTS)),
            files: files.to_vec(),
            copies: HashMap::new(),
            read: vec![(0..0, 0); files.len()],
        }
    }

    fn copy_of(&mut self, bytes: Bytes) -> Result<Bytes, AllocationError> {
        let key = (bytes.as_ptr().addr(), bytes.len());
        if let Some((_, copy)) = self.copies.get(&key) {
            return Ok(copy.clone());
        }
        let mut copy = AlignedBuffer::new(bytes.len(), AlignedBuffer::ALIGNMENT)?;
        let chunks = copy.as_mut_slice().chunks_mut(RELEASED_AT_ONCE);
        for (to, from) in chunks.zip(bytes.chunks(RELEASED_AT_ONCE)) {
            to.copy_from_slice(from);
            self.has_read(from);
        }
        let copy = Bytes::from_owner(copy);
        self.copies.insert(key, (bytes, copy.clone()));
        Ok(copy)
    }

    /// Gives back pages once enough of a file has been read.
    fn has_read(&mut self, bytes: &[u8]) {
        for (file, (read, count)) in self.files.iter().zip(&mut self.read) {
            let Some(file) = file.upgrade() else { continue };
            let Some(range) = file.range_of(bytes) else {
                continue;
            };
            *read = match *count {
                0 => range,
                _ => read.start.min(range.start)..read.end.max(range.end),
            };
            *count += bytes.len();
            if *count >= RELEASED_AT_ONCE {
                file.release_pages(read.clone());
                *count = 0;
            }
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
