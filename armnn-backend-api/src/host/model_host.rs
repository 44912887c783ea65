//! The host, to one model context.

use std::{
    ffi::c_void,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use super::parallel::run_parallel;
use crate::{Result, slot, sys, view::slice};

/// The host, to one model context.
///
/// Keep it in the context to use it later. When the context is gone, the host is out of reach:
/// nothing is released or stored any more, and loops run on the calling thread.
pub struct ModelHost(Arc<Link>);

/// The way to the host, which is cut when the context is destroyed.
struct Link {
    raw: *const sys::ArmnnModelHost,
    is_cut: AtomicBool,
    calls: AtomicUsize,
}

// SAFETY: the host's functions may be called from any thread, and the table is not touched once the
// link is cut.
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}

/// Cuts the link to the host when it is dropped.
pub(crate) struct CutOnDrop(Arc<Link>);

impl Drop for CutOnDrop {
    fn drop(&mut self) {
        self.0.is_cut.store(true, Ordering::SeqCst);
        // Whoever is in a call leaves it soon: the host does not wait for anything that the context
        // would have to do.
        while self.0.calls.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
    }
}

impl Link {
    /// Runs `f` with the host's table, unless the link is cut.
    fn with<R>(&self, f: impl FnOnce(*const sys::ArmnnModelHost) -> R) -> Option<R> {
        /// Also counts down when `f` panics.
        struct Call<'a>(&'a AtomicUsize);
        impl Drop for Call<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        self.calls.fetch_add(1, Ordering::SeqCst);
        let _call = Call(&self.calls);
        // Whoever cuts the link sees either this call, or that it turns back here.
        (!self.is_cut.load(Ordering::SeqCst)).then(|| f(self.raw))
    }
}

impl ModelHost {
    /// Takes what the host gave to `create_model_context`, and what cuts the way to it.
    ///
    /// # Safety
    /// `raw` is as the interface demands until the second value is dropped.
    pub(crate) unsafe fn from_raw(raw: *const sys::ArmnnModelHost) -> (Self, CutOnDrop) {
        let link = Arc::new(Link {
            raw,
            is_cut: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
        });
        (Self(Arc::clone(&link)), CutOnDrop(link))
    }

    /// Threads that [`parallel_for`](Self::parallel_for) uses at most, the caller included.
    pub fn n_threads(&self) -> u32 {
        // SAFETY: the host vouches for its table.
        let n_threads = self.0.with(|raw| unsafe { (*raw).n_threads });
        n_threads.unwrap_or(1).max(1)
    }

    /// Says that the context reads a constant no more; at any time, from any thread.
    ///
    /// The host drops the memory when every context that was shown it has said so, and no
    /// later view can give such a layer to another backend; later views show the constant without
    /// data then. So whoever releases a constant must be able to compile later views from its own
    /// packing, whatever their shapes.
    pub fn release_constant(&self, constant_id: u64) {
        // SAFETY: the host vouches for its table.
        self.0.with(|raw| unsafe {
            if let Some(f) = slot!(raw, sys::ArmnnModelHost, release_constant) {
                f((*raw).host, constant_id);
            }
        });
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
        let done = self.0.with(|raw| unsafe {
            let f = slot!(raw, sys::ArmnnModelHost, parallel_for);
            run_parallel(f, (*raw).host, n_tasks, &body)
        });
        done.unwrap_or_else(|| {
            (0..n_tasks).for_each(|task| body(task, 0));
            Ok(())
        })
    }

    /// What an earlier [`cache_put`](Self::cache_put) stored under the key.
    pub fn cache_get(&self, key: &[u8]) -> Option<Vec<u8>> {
        unsafe extern "C" fn sink(data: *mut c_void, blob: *const u8, len: usize) {
            // SAFETY: `data` is the vector below, and the host gives `len` readable bytes.
            unsafe { *data.cast::<Option<Vec<u8>>>() = Some(slice(blob, len).to_vec()) }
        }
        let mut found: Option<Vec<u8>> = None;
        // SAFETY: the host vouches for its table; `found` outlives the call.
        self.0.with(|raw| unsafe {
            if let Some(f) = slot!(raw, sys::ArmnnModelHost, cache_get) {
                let data = std::ptr::from_mut(&mut found).cast();
                f((*raw).host, key.as_ptr(), key.len(), Some(sink), data);
            }
        });
        found
    }

    /// Stores a blob for later runs; returns whether there is a cache.
    pub fn cache_put(&self, key: &[u8], blob: &[u8]) -> bool {
        // SAFETY: the host vouches for its table; the slices are valid for the call.
        let stored = self.0.with(|raw| unsafe {
            slot!(raw, sys::ArmnnModelHost, cache_put).is_some_and(|f| {
                let (host, blob_len) = ((*raw).host, blob.len());
                f(host, key.as_ptr(), key.len(), blob.as_ptr(), blob_len) == sys::ARMNN_STATUS_OK
            })
        });
        stored.unwrap_or(false)
    }
}
