//! Workloads, executions, handles and tensors.

use std::{ffi::c_void, ptr::null_mut};

use armnn_backend_api::{
    BackendError,
    guard::{error_buffer, read_error},
    sys::*,
};

use super::{call, list, owned, parallel_for};
use crate::flat_graph::Padded;

pub struct Workload(pub(super) *mut ArmnnWorkload);

// SAFETY: several threads may execute a workload.
unsafe impl Send for Workload {}
// SAFETY: as above.
unsafe impl Sync for Workload {}

/// Takes the name of a step, the ids of its layers, start and end.
pub type Profile<'a> = &'a (dyn Fn(String, Vec<u32>, u64, u64) + Sync);

/// What is borrowed from the host until the `wait` that covers the calls, as in an execution state.
#[derive(Default)]
pub struct State<'a> {
    pub execution: Option<Execution>,
    scratch: Vec<Vec<u64>>,
    profile: Option<Box<Profile<'a>>>,
}

impl<'a> State<'a> {
    pub fn new(execution: Option<Execution>, profile: Option<Profile<'a>>) -> Self {
        Self {
            execution,
            scratch: Vec::new(),
            profile: profile.map(Box::new),
        }
    }

    pub fn execution(&self) -> &Execution {
        self.execution.as_ref().unwrap()
    }
}

impl Workload {
    fn table(&self) -> &ArmnnWorkloadTable {
        // SAFETY: the object lives as long as `self`.
        unsafe { &*(*self.0).table }
    }

    /// Every struct passed is gone when this returns; memory, scratch and `profile` are not.
    ///
    /// # Safety
    /// What the tensors point to is valid until the `wait` that covers the call.
    pub unsafe fn execute(
        &self,
        state: &mut State<'_>,
        inputs: &[ArmnnTensor],
        outputs: &[ArmnnTensor],
    ) -> Result<(), BackendError> {
        unsafe extern "C" fn profile(
            host: *mut c_void,
            step: ArmnnStr,
            layer_ids: *const u32,
            n: usize,
            start_ns: u64,
            end_ns: u64,
        ) {
            // SAFETY: `host` is what the state holds.
            let f = unsafe { &*host.cast::<Profile<'_>>() };
            f(owned(step), list(layer_ids, n), start_ns, end_ns);
        }
        let (mut scratch_len, mut alignment) = (0, 1);
        if self.table().memory_requirements.is_some() {
            // SAFETY: all arguments are valid for the call.
            unsafe {
                call!(
                    self.table().memory_requirements,
                    self.0,
                    &mut scratch_len,
                    &mut alignment
                )
            }?;
        }
        assert!(alignment.is_power_of_two() && alignment <= 64);
        let mut scratch = vec![u64::MAX; scratch_len.div_ceil(8) + 8];
        let start = scratch.as_mut_ptr();
        state.scratch.push(scratch);
        let context = Box::new(ArmnnExecutionContext {
            struct_size: size_of::<ArmnnExecutionContext>(),
            host: state
                .profile
                .as_ref()
                .map_or(null_mut(), |p| std::ptr::from_ref(&**p).cast_mut().cast()),
            // SAFETY: there are 64 bytes more than asked for.
            scratch: unsafe { start.byte_add(start.align_offset(8) * 8) }.cast(),
            scratch_len,
            n_threads: 1,
            reserved: 0,
            parallel_for: Some(parallel_for),
            allocate_output: None,
            profile: state.profile.as_ref().map(|_| profile as _),
        });
        let inputs: Vec<_> = inputs.iter().map(|&t| Padded::new(t)).collect();
        let mut outputs: Vec<_> = outputs.iter().map(|&t| Padded::new(t)).collect();
        let stride = Padded::<ArmnnTensor>::STRIDE;
        // SAFETY: all arguments are valid for the call, and by the contract of this function.
        unsafe {
            call!(
                self.table().execute,
                self.0,
                state.execution.as_ref().map_or(null_mut(), |e| e.0),
                &*context,
                inputs.as_ptr().cast(),
                inputs.len(),
                stride,
                outputs.as_mut_ptr().cast(),
                outputs.len(),
                stride,
            )
        }
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        // SAFETY: no call is running.
        unsafe { self.table().destroy.unwrap()(self.0) }
    }
}

pub struct Execution(pub(super) *mut ArmnnExecution);

// SAFETY: an execution is used by one thread at a time.
unsafe impl Send for Execution {}

impl Execution {
    fn table(&self) -> &ArmnnExecutionTable {
        // SAFETY: the object lives as long as `self`.
        unsafe { &*(*self.0).table }
    }

    pub fn flush(&self) -> Result<(), BackendError> {
        // SAFETY: all arguments are valid for the call.
        unsafe { call!(self.table().flush, self.0) }
    }

    pub fn wait(&self) -> Result<(), BackendError> {
        // SAFETY: all arguments are valid for the call.
        unsafe { call!(self.table().wait, self.0) }
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        // SAFETY: the test waited.
        unsafe { self.table().destroy.unwrap()(self.0) }
    }
}

pub struct Handle(pub(super) *mut ArmnnTensorHandle);

impl Handle {
    fn table(&self) -> &ArmnnTensorHandleTable {
        // SAFETY: the object lives as long as `self`.
        unsafe { &*(*self.0).table }
    }

    /// Lets `f` see, and with `ARMNN_MAP_WRITE` change, the elements.
    pub fn mapped<R>(&self, access: u32, f: impl FnOnce(&mut [f32]) -> R) -> R {
        let (mut data, mut byte_len) = (null_mut(), 0);
        // SAFETY: all arguments are valid for the call, and the backend gives `byte_len` bytes.
        let result = unsafe {
            call!(self.table().map, self.0, access, &mut data, &mut byte_len).unwrap();
            f(std::slice::from_raw_parts_mut(
                data.cast(),
                byte_len / size_of::<f32>(),
            ))
        };
        // SAFETY: all arguments are valid for the call.
        unsafe { call!(self.table().unmap, self.0) }.unwrap();
        result
    }

    pub fn read(&self) -> Vec<f32> {
        self.mapped(ARMNN_MAP_READ, |elements| elements.to_vec())
    }

    /// A tensor that is only in this handle.
    pub fn tensor(&self, desc: &ArmnnTensorDesc) -> ArmnnTensor {
        ArmnnTensor {
            handle: self.0,
            ..absent(desc)
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: nothing uses it any more.
        unsafe { self.table().destroy.unwrap()(self.0) }
    }
}

/// A tensor without memory.
pub fn absent(desc: &ArmnnTensorDesc) -> ArmnnTensor {
    ArmnnTensor {
        struct_size: size_of::<ArmnnTensor>(),
        data: null_mut(),
        byte_len: desc.byte_len,
        handle: null_mut(),
        offset: 0,
        shape: desc.shape,
    }
}

/// A tensor in host memory.
pub fn in_memory(desc: &ArmnnTensorDesc, memory: &mut [f32]) -> ArmnnTensor {
    assert_eq!(size_of_val(memory), desc.byte_len);
    ArmnnTensor {
        data: memory.as_mut_ptr().cast(),
        ..absent(desc)
    }
}

/// A tensor in imported host memory, from element `start` on.
pub fn imported(
    desc: &ArmnnTensorDesc,
    memory: &mut [f32],
    handle: &Handle,
    start: usize,
) -> ArmnnTensor {
    ArmnnTensor {
        data: memory[start..].as_mut_ptr().cast(),
        handle: handle.0,
        offset: (start * size_of::<f32>()) as u64,
        ..absent(desc)
    }
}
