//! Objects and tables used while a network executes.

use core::ffi::c_void;

use super::{ArmnnError, ArmnnShape, ArmnnStatus, ArmnnStr};

/// A compiled layer, or several layers compiled into one: immutable and shared between threads.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Debug)]
pub struct ArmnnWorkload {
    /// Its functions.
    pub table: *const ArmnnWorkloadTable,
}

/// What belongs to one execution state and one backend, such as a command queue.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Debug)]
pub struct ArmnnExecution {
    /// Its functions.
    pub table: *const ArmnnExecutionTable,
}

/// Memory of the backend's own, for tensors that only its workloads touch.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Debug)]
pub struct ArmnnTensorHandle {
    /// Its functions.
    pub table: *const ArmnnTensorHandleTable,
}

/// An input or output of one call: dense and row-major host memory, or a handle of the backend.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnTensor {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// Host memory, aligned to 64 bytes (a constant: to its element, unless the backend has the
    /// capability `UNALIGNED_CONSTANTS`); null for an absent input (which has length and rank 0), a
    /// released constant, a tensor that is only in `handle`, and an output whose shape was unknown.
    pub data: *mut c_void,
    /// Bytes of the tensor.
    pub byte_len: usize,
    /// A handle made by the same model context, or null. Where `data` is set as well, it is a
    /// handle of imported memory in which the tensor starts at `offset`.
    pub handle: *mut ArmnnTensorHandle,
    /// Where in `handle` the tensor starts, in bytes.
    pub offset: u64,
    /// The shape.
    pub shape: ArmnnShape,
}

/// What the host offers during one call of `execute`. Borrowed for the call; `scratch`, the
/// memory of the tensors, and `profile` with `host` stay valid until the `wait` that covers the
/// call.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnExecutionContext {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// First argument of the functions.
    pub host: *mut c_void,
    /// Memory as asked for by `memory_requirements`.
    pub scratch: *mut c_void,
    /// Bytes of `scratch`.
    pub scratch_len: usize,
    /// Threads that `parallel_for` uses at most, the caller included; at least 1.
    pub n_threads: u32,
    /// Zero.
    pub reserved: u32,
    /// Calls `body(data, task, thread)` for each task below `n_tasks`, on several threads, and
    /// returns when all are done. `thread` is below `n_threads`, and differs between bodies that run
    /// at the same time. The caller takes part; nested calls run inline, with the `thread` of the
    /// body that they are in. `body` must not unwind. Only during the call.
    #[cfg_attr(feature = "layout-check", sabi(unsafe_change_type = crate::layout_check::ParallelFor))]
    pub parallel_for: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            n_tasks: u32,
            body: Option<unsafe extern "C" fn(data: *mut c_void, task: u32, thread: u32)>,
            data: *mut c_void,
        ) -> ArmnnStatus,
    >,
    /// Gives memory to an output whose shape was unknown, writes `data`, `byte_len` and `shape`
    /// of that output, and returns `data`; null on failure. Only during the call.
    pub allocate_output: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            output: u32,
            shape: *const ArmnnShape,
        ) -> *mut c_void,
    >,
    /// Records that a step stood for `n` layers (their ids, borrowed for the call like the text)
    /// and took from `start_ns` to `end_ns` of `CLOCK_MONOTONIC`. Null when nothing is recorded.
    /// Callable from any thread.
    pub profile: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            step: ArmnnStr,
            layer_ids: *const u32,
            n: usize,
            start_ns: u64,
            end_ns: u64,
        ),
    >,
}

/// Functions of a workload. `destroy` and `execute` are mandatory.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Debug)]
pub struct ArmnnWorkloadTable {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// Frees the workload; called once for each time that it was handed to the host. No call on it is
    /// running.
    pub destroy: Option<unsafe extern "C" fn(workload: *mut ArmnnWorkload)>,
    /// Scratch memory that `execute` needs: bytes, and alignment (a power of two; 64 is enough
    /// for most). Absent: none.
    pub memory_requirements: Option<
        unsafe extern "C" fn(
            workload: *const ArmnnWorkload,
            scratch_len: *mut usize,
            alignment: *mut usize,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// Runs the workload, or starts it when there is an `execution`. Several threads may be in
    /// this function, each with an execution (or null) of its own. Inputs and outputs do not
    /// overlap. If it fails, the host still waits for what was started before.
    pub execute: Option<
        unsafe extern "C" fn(
            workload: *const ArmnnWorkload,
            execution: *mut ArmnnExecution,
            context: *const ArmnnExecutionContext,
            inputs: *const ArmnnTensor,
            n_inputs: usize,
            input_stride: usize,
            outputs: *mut ArmnnTensor,
            n_outputs: usize,
            output_stride: usize,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
}

/// Functions of an execution. All but `flush` are mandatory. One thread at a time.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Debug)]
pub struct ArmnnExecutionTable {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// Frees the execution, after a `wait`.
    pub destroy: Option<unsafe extern "C" fn(execution: *mut ArmnnExecution)>,
    /// Hands over what was collected so far; returns at once.
    pub flush: Option<
        unsafe extern "C" fn(execution: *mut ArmnnExecution, error: *mut ArmnnError) -> ArmnnStatus,
    >,
    /// Returns when everything is done, with the first error since the last `wait`.
    pub wait: Option<
        unsafe extern "C" fn(execution: *mut ArmnnExecution, error: *mut ArmnnError) -> ArmnnStatus,
    >,
}

/// Functions of a tensor handle. `destroy` is mandatory. One thread at a time.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Debug)]
pub struct ArmnnTensorHandleTable {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// Frees the handle. Nothing that uses it is running.
    pub destroy: Option<unsafe extern "C" fn(handle: *mut ArmnnTensorHandle)>,
    /// Makes the tensor readable or writable (`ARMNN_MAP_…`, or both) as dense, row-major memory
    /// until `unmap`. Nothing that uses the handle is running. Absent: the handle cannot be looked into.
    pub map: Option<
        unsafe extern "C" fn(
            handle: *mut ArmnnTensorHandle,
            access: u32,
            data: *mut *mut c_void,
            byte_len: *mut usize,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// Ends a `map`.
    pub unmap: Option<
        unsafe extern "C" fn(handle: *mut ArmnnTensorHandle, error: *mut ArmnnError) -> ArmnnStatus,
    >,
}
