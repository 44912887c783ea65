//! What the host does for a backend while a step is executed.

use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::null_mut,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicPtr, Ordering},
    },
};

use armnn_backend_api::{
    BackendError, DataType, Shape,
    sys::{self, ArmnnShape, ArmnnStr, ArmnnTensor},
};
use armnn_network::{LayerId, TensorId};

use super::{ProfileEvent, profile::EventRing};
use crate::{aligned_buffer::AlignedBuffer, thread_pool::ThreadPool};

/// An output whose size was found out when it was computed.
pub(crate) struct DynamicOutput {
    pub(crate) shape: Shape,
    pub(crate) data: AlignedBuffer,
}

/// Outputs of the step that is executed that ask for their memory.
#[derive(Default)]
pub(super) struct Requests {
    /// The table of the step's outputs, while there are any expected.
    outputs: AtomicPtr<ArmnnTensor>,
    /// By the number of the output.
    expected: Vec<(u32, TensorId, DataType, Shape)>,
    made: Vec<(TensorId, DynamicOutput)>,
    /// Why a request was refused.
    refused: Option<String>,
}

/// The host object of an execution context.
pub(super) struct Host {
    pub(super) pool: Arc<ThreadPool>,
    pub(super) events: Mutex<EventRing>,
    pub(super) requests: Mutex<Requests>,
    /// The most bytes that an output may take.
    pub(super) memory_limit: u64,
}

pub(super) unsafe extern "C" fn parallel_for(
    host: *mut c_void,
    n_tasks: u32,
    body: Option<unsafe extern "C" fn(*mut c_void, u32, u32)>,
    data: *mut c_void,
) -> sys::ArmnnStatus {
    // SAFETY: `host` is the object that was given to the backend with this function.
    let host = unsafe { &*host.cast::<Host>() };
    // SAFETY: the backend passes a body and data that may be used from several threads.
    unsafe { host.pool.parallel_for_raw(n_tasks, body, data) }
}

impl Host {
    pub(super) fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes requests for these outputs of a step from now on, until they are [`made`](Self::made).
    ///
    /// # Safety
    /// The outputs are numbers in the table, and until then nobody else uses it but the step.
    pub(super) unsafe fn expect(
        &self,
        outputs: &[(u32, TensorId, DataType, Shape)],
        table: *mut ArmnnTensor,
    ) {
        for (index, _, _, declared) in outputs {
            // SAFETY: by the contract of this function.
            unsafe {
                let output = table.add(*index as usize);
                // What the last run put there is gone.
                (*output).data = null_mut();
                (*output).byte_len = 0;
                (*output).shape = *declared.as_raw();
            }
        }
        *self.requests() = Requests {
            outputs: AtomicPtr::new(table),
            expected: outputs.to_vec(),
            ..Requests::default()
        };
    }

    /// Why an output of the step got no memory, once.
    pub(super) fn take_refusal(&self) -> Option<String> {
        self.requests().refused.take()
    }

    /// The outputs that were asked for.
    pub(super) fn made(
        &self,
        expected: usize,
    ) -> Result<Vec<(TensorId, DynamicOutput)>, BackendError> {
        let requests = std::mem::take(&mut *self.requests());
        match requests.refused {
            Some(reason) => Err(BackendError::new(reason)),
            None if requests.made.len() < expected => Err(BackendError::new(format!(
                "the backend asked for memory for {} of {expected} outputs whose sizes depend on \
                 data",
                requests.made.len()
            ))),
            None => Ok(requests.made),
        }
    }

    /// Memory for an output of the step that is executed.
    fn allocate(&self, index: u32, shape: Option<Shape>) -> *mut u8 {
        let mut requests = self.requests();
        match self.try_allocate(&requests, index, shape) {
            Ok((id, output)) => {
                let data = output.data.as_ptr();
                let table = requests.outputs.load(Ordering::Relaxed);
                // SAFETY: it is one of the outputs that were expected, so that by the contract of
                // `expect` it is in the table, and the table is there.
                unsafe {
                    let tensor = table.add(index as usize);
                    (*tensor).data = data.cast();
                    (*tensor).byte_len = output.data.len();
                    (*tensor).shape = *output.shape.as_raw();
                }
                requests.made.push((id, output));
                data
            }
            Err(reason) => {
                requests.refused = Some(reason);
                null_mut()
            }
        }
    }

    fn try_allocate(
        &self,
        requests: &Requests,
        index: u32,
        shape: Option<Shape>,
    ) -> Result<(TensorId, DynamicOutput), String> {
        let found = requests.expected.iter().find(|(other, ..)| *other == index);
        let Some(&(_, id, data_type, declared)) = found else {
            return Err(format!(
                "memory was asked for output {index}, whose size is known"
            ));
        };
        if requests.made.iter().any(|(other, _)| *other == id) {
            return Err(format!("memory was asked for output {index} twice"));
        }
        let shape = shape.filter(|shape| shape.is_known() && declared.accepts(shape));
        let Some(shape) = shape else {
            return Err(format!(
                "memory was asked for output {index} with a shape that is not known or not one of \
                 {declared}"
            ));
        };
        let len = shape.num_elements().and_then(|n| data_type.byte_len(n));
        let len = len.filter(|&len| len as u64 <= self.memory_limit).ok_or_else(|| {
            format!(
                "output {index} of {data_type} {shape} is larger than the memory limit of {} bytes",
                self.memory_limit
            )
        })?;
        let data = AlignedBuffer::new(len, AlignedBuffer::ALIGNMENT)
            .map_err(|e| format!("not enough memory for {} bytes of output {index}", e.0))?;
        Ok((id, DynamicOutput { shape, data }))
    }
}

pub(super) unsafe extern "C" fn allocate_output(
    host: *mut c_void,
    index: u32,
    shape: *const ArmnnShape,
) -> *mut c_void {
    let allocated = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `host` is the object that was given to the backend with this function.
        let host = unsafe { &*host.cast::<Host>() };
        // SAFETY: the backend passes a valid shape, or null.
        let shape = unsafe { shape.as_ref() }.and_then(Shape::from_raw);
        host.allocate(index, shape)
    }));
    allocated.unwrap_or(null_mut()).cast()
}

pub(super) unsafe extern "C" fn profile(
    host: *mut c_void,
    step: ArmnnStr,
    layer_ids: *const u32,
    n: usize,
    start_ns: u64,
    end_ns: u64,
) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `host` is the object that was given to the backend with this function.
        let host = unsafe { &*host.cast::<Host>() };
        // SAFETY: the backend passes a valid text and array; the counts are clamped.
        let (step, layers) = unsafe {
            let text: &[u8] = if step.ptr.is_null() {
                &[]
            } else {
                std::slice::from_raw_parts(step.ptr.cast(), step.len.min(4096))
            };
            let layers: &[u32] = if layer_ids.is_null() {
                &[]
            } else {
                std::slice::from_raw_parts(layer_ids, n.min(1 << 24))
            };
            (
                String::from_utf8_lossy(text).into_owned(),
                layers.iter().map(|&l| LayerId(l)),
            )
        };
        let event = ProfileEvent {
            step,
            layers: layers.collect(),
            start_ns,
            end_ns,
        };
        host.events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(event);
    }));
}
