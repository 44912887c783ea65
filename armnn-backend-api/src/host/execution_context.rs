//! What the host offers during one call.

use super::parallel::run_parallel;
use crate::{BackendError, Result, Shape, Status, slot, sys, view::raw_text};

/// What the host offers during one call of [`Workload::execute`](crate::Workload::execute), and the
/// backend's own execution.
pub struct ExecutionContext<'a, E> {
    raw: &'a sys::ArmnnExecutionContext,
    execution: Option<&'a mut E>,
    scratch: Option<&'a mut [u8]>,
}

impl<'a, E> ExecutionContext<'a, E> {
    pub(crate) unsafe fn from_raw(
        raw: &'a sys::ArmnnExecutionContext,
        execution: Option<&'a mut E>,
    ) -> Self {
        let scratch = if raw.scratch.is_null() || raw.scratch_len == 0 {
            &mut []
        } else {
            // SAFETY: the host gives `scratch_len` bytes to this call alone.
            unsafe { std::slice::from_raw_parts_mut(raw.scratch.cast(), raw.scratch_len) }
        };
        Self {
            raw,
            execution,
            scratch: Some(scratch),
        }
    }

    /// The execution that the model context made for this execution state; `None` if it made none.
    pub fn execution(&mut self) -> Option<&mut E> {
        self.execution.as_deref_mut()
    }

    /// The same context for a workload that has no execution, or another type of it; for a backend
    /// that wraps another one. The scratch memory goes with it.
    pub fn without_execution<F>(&mut self) -> ExecutionContext<'_, F> {
        ExecutionContext {
            raw: self.raw,
            execution: None,
            scratch: self.scratch.take(),
        }
    }

    /// The memory asked for by [`memory_requirements`](crate::Workload::memory_requirements); its
    /// contents are arbitrary. Empty when taken before.
    pub fn take_scratch(&mut self) -> &'a mut [u8] {
        self.scratch.take().unwrap_or_default()
    }

    /// Threads that [`parallel_for`](Self::parallel_for) uses at most, the caller included.
    pub fn n_threads(&self) -> u32 {
        self.raw.n_threads.max(1)
    }

    /// Calls `body(task, thread)` for each task below `n_tasks`, on several threads of the host,
    /// and returns when all are done. `thread` is below [`n_threads`](Self::n_threads). The caller
    /// takes part; nested calls run inline.
    ///
    /// # Errors
    /// When the host fails.
    ///
    /// # Panics
    /// When a body did.
    pub fn parallel_for(&self, n_tasks: u32, body: impl Fn(u32, u32) + Sync) -> Result<()> {
        // SAFETY: the host vouches for its table.
        unsafe {
            let f = slot!(self.raw, sys::ArmnnExecutionContext, parallel_for);
            run_parallel(f, self.raw.host, n_tasks, body)
        }
    }

    /// Gives memory to output `output`, whose shape was unknown; then
    /// [`Outputs::bytes_mut`](super::Outputs::bytes_mut) finds it.
    ///
    /// # Errors
    /// When the output's shape was known, or there is no memory.
    pub fn allocate_output(&self, output: u32, shape: &Shape) -> Result<()> {
        // SAFETY: the host vouches for its table; the shape is valid for the call.
        let data = unsafe {
            slot!(self.raw, sys::ArmnnExecutionContext, allocate_output)
                .map_or(std::ptr::null_mut(), |f| {
                    f(self.raw.host, output, shape.as_raw())
                })
        };
        if data.is_null() && shape.num_elements() != Some(0) {
            return Err(BackendError::with_status(
                Status::OutOfMemory,
                format!("the host gives no memory for output {output} of shape {shape}"),
            ));
        }
        Ok(())
    }

    /// Whether steps are recorded.
    pub fn is_profiling(&self) -> bool {
        // SAFETY: the host vouches for its table.
        unsafe { slot!(self.raw, sys::ArmnnExecutionContext, profile) }.is_some()
    }

    /// Records that a step stood for the layers of these ids, and took from `start_ns` to `end_ns`
    /// of the monotonic clock.
    pub fn profile(&self, step: &str, layer_ids: &[u32], start_ns: u64, end_ns: u64) {
        // SAFETY: the host vouches for its table; text and slice are valid for the call.
        unsafe {
            if let Some(f) = slot!(self.raw, sys::ArmnnExecutionContext, profile) {
                f(
                    self.raw.host,
                    raw_text(step),
                    layer_ids.as_ptr(),
                    layer_ids.len(),
                    start_ns,
                    end_ns,
                );
            }
        }
    }

    /// The struct as it came over the wire; `scratch`, `profile` and the memory of the tensors
    /// stay valid until the `wait` that covers this call.
    pub fn as_raw(&self) -> &sys::ArmnnExecutionContext {
        self.raw
    }
}
