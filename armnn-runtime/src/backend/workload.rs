//! A compiled layer, or several layers compiled into one.

use std::{ptr::NonNull, sync::Arc};

use armnn_backend_api::{
    BackendError,
    guard::Poison,
    slot,
    sys::{
        self, ArmnnError, ArmnnExecution, ArmnnExecutionContext, ArmnnTensor, ArmnnWorkload,
        ArmnnWorkloadTable,
    },
};

use super::{
    ErrorBuffer, ModelContextHandle,
    instance::{check_aligned, check_size, mandatory},
};

type ExecuteFunction = unsafe extern "C" fn(
    *const ArmnnWorkload,
    *mut ArmnnExecution,
    *const ArmnnExecutionContext,
    *const ArmnnTensor,
    usize,
    usize,
    *mut ArmnnTensor,
    usize,
    usize,
    *mut ArmnnError,
) -> sys::ArmnnStatus;

/// A workload of a backend.
pub(crate) struct WorkloadHandle {
    raw: NonNull<ArmnnWorkload>,
    execute: ExecuteFunction,
    destroy: unsafe extern "C" fn(*mut ArmnnWorkload),
    poison: Arc<Poison>,
    scratch_len: usize,
    scratch_alignment: usize,
    // Dropped last.
    context: Arc<ModelContextHandle>,
}

// SAFETY: the interface demands that workloads may be used from any thread.
unsafe impl Send for WorkloadHandle {}
// SAFETY: as above.
unsafe impl Sync for WorkloadHandle {}

/// A backend that asks for a larger alignment than this is refused.
const MAX_ALIGNMENT: usize = 1 << 21;

impl WorkloadHandle {
    /// Takes a workload that a context made.
    ///
    /// # Safety
    /// `raw` is null or a workload of `context` that nobody else owns.
    pub(crate) unsafe fn new(
        raw: *mut ArmnnWorkload,
        context: Arc<ModelContextHandle>,
    ) -> Result<Self, BackendError> {
        let backend = Arc::clone(context.backend());
        let invalid = |message: String| backend.made_invalid("workload", &message);
        let raw = NonNull::new(raw).ok_or_else(|| invalid("a null pointer".into()))?;
        check_aligned(raw, "workload").map_err(invalid)?;
        // SAFETY: by the contract of this function; only what the table covers is read, and an
        // object that is refused is destroyed.
        let (execute, destroy, requirements) = unsafe {
            let table = (*raw.as_ptr()).table;
            check_size(table, size_of::<usize>(), "workload").map_err(invalid)?;
            let destroy =
                mandatory(slot!(table, ArmnnWorkloadTable, destroy), "destroy").map_err(invalid)?;
            let execute = mandatory(slot!(table, ArmnnWorkloadTable, execute), "execute").map_err(
                |message| {
                    destroy(raw.as_ptr());
                    invalid(message)
                },
            )?;
            let requirements = slot!(table, ArmnnWorkloadTable, memory_requirements);
            (execute, destroy, requirements)
        };
        let mut workload = Self {
            raw,
            execute,
            destroy,
            poison: context.poison().child(),
            scratch_len: 0,
            scratch_alignment: 64,
            context,
        };
        if let Some(f) = requirements {
            let (mut len, mut alignment) = (0, 64);
            // SAFETY: the arguments are valid for the call.
            ErrorBuffer::new().call(&workload.poison, |error| unsafe {
                f(raw.as_ptr(), &mut len, &mut alignment, error)
            })?;
            if !alignment.is_power_of_two() || alignment > MAX_ALIGNMENT {
                return Err(invalid(format!(
                    "it asks for memory aligned to {alignment}, which is no power of two up to {MAX_ALIGNMENT}"
                )));
            }
            if len > isize::MAX as usize {
                return Err(invalid(format!(
                    "it asks for {len} bytes of scratch memory"
                )));
            }
            workload.scratch_len = len;
            workload.scratch_alignment = alignment;
        }
        Ok(workload)
    }

    /// The context that made it.
    pub(crate) fn context(&self) -> &Arc<ModelContextHandle> {
        &self.context
    }

    /// Bytes and alignment of the scratch memory that it needs.
    pub(crate) fn scratch(&self) -> (usize, usize) {
        (self.scratch_len, self.scratch_alignment)
    }

    /// Runs or starts the workload. The caller looks after the floating-point environment. Inputs and
    /// outputs are tables with the number of their entries.
    ///
    /// # Safety
    /// `execution` is null or of the same context and used by this thread alone; `host`, the
    /// tensors and the memory they lead to are as the interface demands.
    #[inline]
    pub(crate) unsafe fn execute(
        &self,
        execution: *mut ArmnnExecution,
        host: *const ArmnnExecutionContext,
        (inputs, n_inputs): (*const ArmnnTensor, usize),
        (outputs, n_outputs): (*mut ArmnnTensor, usize),
        buffer: &mut ErrorBuffer,
    ) -> Result<(), BackendError> {
        if !execution.is_null() {
            self.context.backend().check_process()?;
        }
        // SAFETY: by the contract of this function.
        buffer.call_at_once(&self.poison, |error| unsafe {
            (self.execute)(
                self.raw.as_ptr(),
                execution,
                host,
                inputs,
                n_inputs,
                size_of::<ArmnnTensor>(),
                outputs,
                n_outputs,
                size_of::<ArmnnTensor>(),
                error,
            )
        })
    }
}

impl Drop for WorkloadHandle {
    fn drop(&mut self) {
        match self.poison.get() {
            // Work that could not be waited for may use it.
            None if self.context.is_tainted() => {}
            // SAFETY: nothing uses the workload any more.
            None => unsafe { (self.destroy)(self.raw.as_ptr()) },
            // What panicked is not touched again, and its code stays.
            Some(message) => self.context.taint(message),
        }
    }
}
