//! The host, to one model context.

use std::ffi::c_void;

use super::parallel::run_parallel;
use crate::{Result, slot, sys, view::slice};

/// The host, to one model context; valid while that lives.
///
/// Keep it in the context to use it later.
pub struct ModelHost(*const sys::ArmnnModelHost);

// SAFETY: the host's functions may be called from any thread.
unsafe impl Send for ModelHost {}
// SAFETY: as above.
unsafe impl Sync for ModelHost {}

impl ModelHost {
    /// Takes what the host gave to `create_model_context`.
    ///
    /// # Safety
    /// `raw` is as the interface demands for as long as the value returned is used.
    pub unsafe fn from_raw(raw: *const sys::ArmnnModelHost) -> Self {
        Self(raw)
    }

    /// Threads that [`parallel_for`](Self::parallel_for) uses at most, the caller included.
    pub fn n_threads(&self) -> u32 {
        // SAFETY: the host vouches for its table.
        unsafe { (*self.0).n_threads.max(1) }
    }

    /// Says that the context reads a constant no more; at any time, from any thread.
    ///
    /// The host drops the memory when every context that was shown it has said so, and no
    /// later view can give such a layer to another backend; later views show the constant without
    /// data then. So whoever releases a constant must be able to compile later views from its own
    /// packing, whatever their shapes.
    pub fn release_constant(&self, constant_id: u64) {
        // SAFETY: the host vouches for its table.
        unsafe {
            if let Some(f) = slot!(self.0, sys::ArmnnModelHost, release_constant) {
                f((*self.0).host, constant_id);
            }
        }
    }

    /// Calls `body(task, thread)` for each task below `n_tasks`, on several threads of the host;
    /// only during calls on the context.
    ///
    /// # Errors
    /// When the host fails.
    ///
    /// # Panics
    /// When a body did.
    pub fn parallel_for(&self, n_tasks: u32, body: impl Fn(u32, u32) + Sync) -> Result<()> {
        // SAFETY: the host vouches for its table.
        unsafe {
            let f = slot!(self.0, sys::ArmnnModelHost, parallel_for);
            run_parallel(f, (*self.0).host, n_tasks, body)
        }
    }

    /// What an earlier [`cache_put`](Self::cache_put) stored under the key.
    pub fn cache_get(&self, key: &[u8]) -> Option<Vec<u8>> {
        unsafe extern "C" fn sink(data: *mut c_void, blob: *const u8, len: usize) {
            // SAFETY: `data` is the vector below, and the host gives `len` readable bytes.
            unsafe { *data.cast::<Option<Vec<u8>>>() = Some(slice(blob, len).to_vec()) }
        }
        let mut found: Option<Vec<u8>> = None;
        // SAFETY: the host vouches for its table; `found` outlives the call.
        unsafe {
            let f = slot!(self.0, sys::ArmnnModelHost, cache_get)?;
            let data = std::ptr::from_mut(&mut found).cast();
            f((*self.0).host, key.as_ptr(), key.len(), Some(sink), data);
        }
        found
    }

    /// Stores a blob for later runs; returns whether there is a cache.
    pub fn cache_put(&self, key: &[u8], blob: &[u8]) -> bool {
        // SAFETY: the host vouches for its table; the slices are valid for the call.
        unsafe {
            slot!(self.0, sys::ArmnnModelHost, cache_put).is_some_and(|f| {
                f(
                    (*self.0).host,
                    key.as_ptr(),
                    key.len(),
                    blob.as_ptr(),
                    blob.len(),
                ) == sys::ARMNN_STATUS_OK
            })
        }
    }
}
