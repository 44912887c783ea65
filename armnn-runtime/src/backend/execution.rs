//! What a backend holds for one execution state.

use std::{
    ffi::c_void,
    ptr::{NonNull, null_mut},
    sync::Arc,
};

use armnn_backend_api::{
    BackendError,
    guard::Poison,
    slot,
    sys::{
        self, ArmnnError, ArmnnExecution, ArmnnExecutionTable, ArmnnTensorHandle,
        ArmnnTensorHandleTable,
    },
};

use super::{
    ErrorBuffer, ModelContextHandle,
    instance::{check_aligned, check_size, mandatory},
};

type StatusFunction =
    unsafe extern "C" fn(*mut ArmnnExecution, *mut ArmnnError) -> sys::ArmnnStatus;

/// An execution of a backend, such as a command queue.
pub(crate) struct ExecutionHandle {
    raw: NonNull<ArmnnExecution>,
    flush: Option<StatusFunction>,
    wait: StatusFunction,
    destroy: unsafe extern "C" fn(*mut ArmnnExecution),
    poison: Arc<Poison>,
    // Dropped last.
    context: Arc<ModelContextHandle>,
}

// SAFETY: one thread at a time uses it, since using it takes `&mut`.
unsafe impl Send for ExecutionHandle {}
// SAFETY: a shared reference allows nothing.
unsafe impl Sync for ExecutionHandle {}

impl ExecutionHandle {
    /// Takes an execution that a context made; `None` if it is null.
    ///
    /// # Safety
    /// `raw` is null or an execution of `context` that nobody else owns.
    pub(super) unsafe fn new(
        raw: *mut ArmnnExecution,
        context: Arc<ModelContextHandle>,
    ) -> Result<Option<Self>, BackendError> {
        let Some(raw) = NonNull::new(raw) else {
            return Ok(None);
        };
        let backend = Arc::clone(context.backend());
        backend.set_asynchronous();
        backend.check_process()?;
        let invalid = |message: String| backend.made_invalid("execution", &message);
        check_aligned(raw, "execution").map_err(invalid)?;
        // SAFETY: by the contract of this function; only what the table covers is read, and an
        // object that is refused is destroyed.
        let (flush, wait, destroy) = unsafe {
            let table = (*raw.as_ptr()).table;
            check_size(table, size_of::<usize>(), "execution").map_err(invalid)?;
            let destroy = mandatory(slot!(table, ArmnnExecutionTable, destroy), "destroy")
                .map_err(invalid)?;
            let wait =
                mandatory(slot!(table, ArmnnExecutionTable, wait), "wait").map_err(|message| {
                    destroy(raw.as_ptr());
                    invalid(message)
                })?;
            (slot!(table, ArmnnExecutionTable, flush), wait, destroy)
        };
        // Not below the context's: when that panics in another thread, what was started here must
        // still be waited for. No new work gets here then, as workloads are below it.
        let poison = Poison::root();
        Ok(Some(Self {
            raw,
            flush,
            wait,
            destroy,
            poison,
            context,
        }))
    }

    /// Whether it can no longer be waited for, so that work may be running for ever: it panicked.
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poison.get().is_some()
    }

    /// The raw object, for a call of `execute`.
    pub(crate) fn as_raw(&mut self) -> *mut ArmnnExecution {
        self.raw.as_ptr()
    }

    /// Hands over what was collected so far.
    pub(crate) fn flush(&mut self, buffer: &mut ErrorBuffer) -> Result<(), BackendError> {
        self.context.backend().check_process()?;
        match self.flush {
            None => Ok(()),
            // SAFETY: the object lives, and this thread alone uses it.
            Some(f) => buffer.call(&self.poison, |error| unsafe { f(self.raw.as_ptr(), error) }),
        }
    }

    /// Returns when everything is done.
    pub(crate) fn wait(&mut self, buffer: &mut ErrorBuffer) -> Result<(), BackendError> {
        self.context.backend().check_process()?;
        // SAFETY: the object lives, and this thread alone uses it.
        buffer.call(&self.poison, |error| unsafe {
            (self.wait)(self.raw.as_ptr(), error)
        })
    }
}

impl Drop for ExecutionHandle {
    fn drop(&mut self) {
        match self.poison.get() {
            // Nor may it be waited for where the backend's threads are not.
            None if self.context.backend().out_of_reach().is_some() => {}
            None => {
                // Work may still be running after a failed execution.
                if let Err(e) = self.wait(&mut ErrorBuffer::new()) {
                    log::debug!("backend {}: {e}", self.context.backend().id());
                }
                match self.context.poison().get() {
                    // SAFETY: nothing uses the execution any more.
                    None => unsafe { (self.destroy)(self.raw.as_ptr()) },
                    Some(message) => self.context.taint(message),
                }
            }
            // What panicked is not touched again, and its code stays.
            Some(message) => self.context.taint(message),
        }
    }
}

/// Memory of a backend's own, or host memory imported by it.
pub(crate) struct TensorHandleRef {
    raw: NonNull<ArmnnTensorHandle>,
    destroy: unsafe extern "C" fn(*mut ArmnnTensorHandle),
    poison: Arc<Poison>,
    // Dropped last.
    context: Arc<ModelContextHandle>,
}

// SAFETY: one thread at a time uses it, since using it takes `&mut` or the execution state.
unsafe impl Send for TensorHandleRef {}
// SAFETY: a shared reference gives only the address.
unsafe impl Sync for TensorHandleRef {}

impl TensorHandleRef {
    /// Takes a handle that a context made; `None` if it is null.
    ///
    /// # Safety
    /// `raw` is null or a handle of `context` that nobody else owns.
    pub(super) unsafe fn new(
        raw: *mut ArmnnTensorHandle,
        context: Arc<ModelContextHandle>,
    ) -> Result<Option<Self>, BackendError> {
        let Some(raw) = NonNull::new(raw) else {
            return Ok(None);
        };
        let backend = Arc::clone(context.backend());
        let invalid = |message: String| backend.made_invalid("tensor handle", &message);
        check_aligned(raw, "tensor handle").map_err(invalid)?;
        // SAFETY: by the contract of this function; only what the table covers is read.
        let destroy = unsafe {
            let table = (*raw.as_ptr()).table;
            check_size(table, size_of::<usize>(), "tensor handle").map_err(invalid)?;
            mandatory(slot!(table, ArmnnTensorHandleTable, destroy), "destroy").map_err(invalid)?
        };
        let poison = context.poison().child();
        Ok(Some(Self {
            raw,
            destroy,
            poison,
            context,
        }))
    }

    /// The raw object, for a call of `execute`.
    pub(crate) fn as_raw(&self) -> *mut ArmnnTensorHandle {
        self.raw.as_ptr()
    }

    /// Copies a tensor of `byte_len` bytes out, by mapping it.
    pub(crate) fn read(&mut self, byte_len: usize) -> Result<Vec<u8>, BackendError> {
        let mut buffer = ErrorBuffer::new();
        let (mut data, mut len): (*mut c_void, usize) = (null_mut(), 0);
        // SAFETY: the table was checked.
        let (map, unmap) = unsafe {
            let table = (*self.raw.as_ptr()).table;
            (
                slot!(table, ArmnnTensorHandleTable, map),
                slot!(table, ArmnnTensorHandleTable, unmap),
            )
        };
        let map = map.ok_or_else(|| BackendError::new("this tensor handle cannot be mapped"))?;
        // SAFETY: the arguments are valid for the call, and this thread alone uses the handle.
        buffer.call(&self.poison, |error| unsafe {
            map(
                self.raw.as_ptr(),
                sys::ARMNN_MAP_READ,
                &mut data,
                &mut len,
                error,
            )
        })?;
        let bytes = if len != byte_len || (data.is_null() && len > 0) {
            Err(BackendError::new(format!(
                "backend {} mapped {len} bytes at {data:p} for a tensor of {byte_len}",
                self.context.backend().id()
            )))
        } else if len == 0 {
            Ok(Vec::new())
        } else {
            // SAFETY: the backend gives `len` readable bytes until `unmap`.
            Ok(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }.to_vec())
        };
        if let Some(unmap) = unmap {
            // SAFETY: as above.
            buffer.call(&self.poison, |error| unsafe {
                unmap(self.raw.as_ptr(), error)
            })?;
        }
        bytes
    }
}

impl Drop for TensorHandleRef {
    fn drop(&mut self) {
        match self.poison.get() {
            // Work that could not be waited for may use it.
            None if self.context.is_tainted() => {}
            // SAFETY: nothing uses the handle any more.
            None => unsafe { (self.destroy)(self.raw.as_ptr()) },
            // What panicked is not touched again, and its code stays.
            Some(message) => self.context.taint(message),
        }
    }
}
