//! Objects and tables used while a network is compiled for a backend.

use core::ffi::c_void;

use super::{
    ArmnnError, ArmnnExecution, ArmnnStatus, ArmnnStr, ArmnnSubgraphView, ArmnnTensorDesc,
    ArmnnTensorHandle, ArmnnWorkload,
};

/// What belongs to one loaded network and one backend: options, packed weights, compiled code.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Debug)]
pub struct ArmnnModelContext {
    /// Its functions.
    pub table: *const ArmnnModelContextTable,
}

/// Where a backend writes its answer to `optimize_subgraph_view`. Borrowed for that call.
///
/// Layers that are not mentioned are untouched, and get a workload each.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnOptimizationViews {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// First argument of the functions.
    pub host: *mut c_void,
    /// Claims `n` layers, to be executed by one workload. `inputs` are the tensors that the layers
    /// read and do not produce, constants left out; `outputs` those that they produce and that
    /// are read outside; both in the order in which `execute` wants them. The host takes the
    /// workload, also when it returns an error.
    pub add_precompiled: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            layers: *const u32,
            n_layers: usize,
            inputs: *const u32,
            n_inputs: usize,
            outputs: *const u32,
            n_outputs: usize,
            workload: *mut ArmnnWorkload,
        ) -> ArmnnStatus,
    >,
    /// Gives up `n` layers, with a reason.
    pub add_failed: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            layers: *const u32,
            n_layers: usize,
            reason: ArmnnStr,
        ) -> ArmnnStatus,
    >,
}

/// What the host offers to a model context, for as long as that lives.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnModelHost {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// First argument of the functions.
    pub host: *mut c_void,
    /// Threads that `parallel_for` uses at most, the caller included; at least 1.
    pub n_threads: u32,
    /// Zero.
    pub reserved: u32,
    /// Says that the context reads a constant no more; at any time, from any thread. The host drops
    /// the memory when every context that was shown it has said so, and no later view can
    /// give such a layer to another backend; later views show null data then. So whoever releases a
    /// constant must be able to compile later views from its own packing, whatever their shapes.
    pub release_constant: Option<unsafe extern "C" fn(host: *mut c_void, constant_id: u64)>,
    /// As in `ArmnnExecutionContext`; during calls on the context.
    #[cfg_attr(feature = "layout-check", sabi(unsafe_change_type = crate::layout_check::ParallelFor))]
    pub parallel_for: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            n_tasks: u32,
            body: Option<unsafe extern "C" fn(data: *mut c_void, task: u32, thread: u32)>,
            data: *mut c_void,
        ) -> ArmnnStatus,
    >,
    /// Calls `sink` with what an earlier `cache_put` stored under the key; if there is nothing,
    /// does not call it and returns `ARMNN_STATUS_UNAVAILABLE`. The host keys by backend, too.
    #[cfg_attr(feature = "layout-check", sabi(unsafe_change_type = crate::layout_check::CacheGet))]
    pub cache_get: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            key: *const u8,
            key_len: usize,
            sink: Option<unsafe extern "C" fn(data: *mut c_void, blob: *const u8, len: usize)>,
            data: *mut c_void,
        ) -> ArmnnStatus,
    >,
    /// Stores a blob; `ARMNN_STATUS_UNAVAILABLE` when there is no cache.
    pub cache_put: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            key: *const u8,
            key_len: usize,
            blob: *const u8,
            len: usize,
        ) -> ArmnnStatus,
    >,
}

/// Functions of a model context. `destroy` and `create_workload` are mandatory.
///
/// The host makes one call at a time on one context. What the context made (workloads, executions,
/// handles) is used and destroyed from any thread meanwhile.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Debug)]
pub struct ArmnnModelContextTable {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// Frees the context, after everything it made.
    pub destroy: Option<unsafe extern "C" fn(context: *mut ArmnnModelContext)>,
    /// Looks at a subgraph and claims what it wants to execute as a whole. Absent: nothing. Layers
    /// whose inputs are all constant stand in the view like any other; those that no claim has are
    /// executed once, and constants in views stay those of the model. If it fails, the host
    /// destroys the workloads that were claimed.
    pub optimize_subgraph_view: Option<
        unsafe extern "C" fn(
            context: *mut ArmnnModelContext,
            graph: *const ArmnnSubgraphView,
            views: *mut ArmnnOptimizationViews,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// Makes a workload for one layer. Its inputs and outputs are those of the layer, constants
    /// included.
    pub create_workload: Option<
        unsafe extern "C" fn(
            context: *mut ArmnnModelContext,
            graph: *const ArmnnSubgraphView,
            layer: u32,
            workload: *mut *mut ArmnnWorkload,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// Makes an execution. Absent, or null written: this context is synchronous.
    pub create_execution: Option<
        unsafe extern "C" fn(
            context: *mut ArmnnModelContext,
            execution: *mut *mut ArmnnExecution,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// Makes a handle for a tensor that only workloads of this context touch; in a call of
    /// `execute` its offset is 0 and its `data` null. Absent, or null written: host memory is used.
    pub create_tensor_handle: Option<
        unsafe extern "C" fn(
            context: *mut ArmnnModelContext,
            tensor: *const ArmnnTensorDesc,
            handle: *mut *mut ArmnnTensorHandle,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// Makes host memory, aligned to 64 bytes, accessible to the device until the handle is
    /// destroyed; it may hold many tensors, which are then named by handle and offset. `access`
    /// (`ARMNN_MAP_…`) tells whether the backend's workloads read it, write it, or both. Absent, or
    /// null written: the backend copies.
    pub import_host_memory: Option<
        unsafe extern "C" fn(
            context: *mut ArmnnModelContext,
            data: *mut c_void,
            byte_len: usize,
            access: u32,
            handle: *mut *mut ArmnnTensorHandle,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// Bytes that the context holds, such as packed weights and compiled code, on whatever memory.
    /// Absent, or `ARMNN_STATUS_UNIMPLEMENTED`: not known. Since 1.1.
    pub memory_usage: Option<
        unsafe extern "C" fn(
            context: *mut ArmnnModelContext,
            bytes: *mut u64,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
}
