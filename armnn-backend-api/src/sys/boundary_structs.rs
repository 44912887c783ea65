//! The fields of every boundary struct of the interface once more, each with the minor since which
//! it exists; those of the descriptors of layers are in
//! [`boundary_descriptors`](super::boundary_descriptors).
//!
//! Both lists are compared with the declarations at compile time, and are what the layout hashes and
//! the assertions of the C header are made from. A new field goes to the end of its struct here as
//! in the declaration. `ArmnnOptionValue`, a union, is covered by the size of `ArmnnOption`.

use core::ffi::{c_char, c_void};

use super::{layout::boundary_structs, *};

boundary_structs! {
    INTERFACE:
    ArmnnStr {
        0 ptr: *const c_char;
        0 len: usize;
    }
    ArmnnError {
        0 struct_size: usize;
        0 status: ArmnnStatus;
        0 len: u32;
        0 layer_id: u32;
        0 reserved: u32;
        0 message: [c_char; ARMNN_ERROR_MESSAGE_SIZE];
    }
    ArmnnShape {
        0 rank: u32;
        0 reserved: u32;
        0 dims: [i64; ARMNN_MAX_RANK];
    }
    ArmnnQuantization {
        0 count: u32;
        0 axis: i32;
        0 scales: *const f32;
        0 zero_points: *const i32;
    }
    ArmnnOption {
        0 name: ArmnnStr;
        0 kind: u32;
        0 reserved: u32;
        0 value: ArmnnOptionValue;
    }
    ArmnnTensorDesc {
        0 name: ArmnnStr;
        0 data_type: u32;
        0 producer: u32;
        0 shape: ArmnnShape;
        0 quantization: ArmnnQuantization;
        0 constant_id: u64;
        0 data: *const c_void;
        0 byte_len: usize;
        0 consumers: *const u32;
        0 n_consumers: u32;
        0 flags: u32;
    }
    ArmnnLayerDesc {
        0 name: ArmnnStr;
        0 layer_type: u32;
        0 id: u32;
        0 descriptor: *const c_void;
        0 descriptor_size: usize;
        0 inputs: *const u32;
        0 outputs: *const u32;
        0 n_inputs: u32;
        0 n_outputs: u32;
    }
    ArmnnSubgraphView {
        0 struct_size: usize;
        0 layers: *const ArmnnLayerDesc;
        0 n_layers: usize;
        0 layer_stride: usize;
        0 tensors: *const ArmnnTensorDesc;
        0 n_tensors: usize;
        0 tensor_stride: usize;
        0 inputs: *const u32;
        0 n_inputs: usize;
        0 outputs: *const u32;
        0 n_outputs: usize;
    }
    ArmnnWorkload {
        0 table: *const ArmnnWorkloadTable;
    }
    ArmnnExecution {
        0 table: *const ArmnnExecutionTable;
    }
    ArmnnTensorHandle {
        0 table: *const ArmnnTensorHandleTable;
    }
    ArmnnTensor {
        0 struct_size: usize;
        0 data: *mut c_void;
        0 byte_len: usize;
        0 handle: *mut ArmnnTensorHandle;
        0 offset: u64;
        0 shape: ArmnnShape;
    }
    ArmnnExecutionContext {
        0 struct_size: usize;
        0 host: *mut c_void;
        0 scratch: *mut c_void;
        0 scratch_len: usize;
        0 n_threads: u32;
        0 reserved: u32;
        0 parallel_for: Option<unsafe extern "C" fn(*mut c_void, u32, Option<unsafe extern "C" fn(*mut c_void, u32, u32)>, *mut c_void) -> ArmnnStatus>;
        0 allocate_output: Option<unsafe extern "C" fn(*mut c_void, u32, *const ArmnnShape) -> *mut c_void>;
        0 profile: Option<unsafe extern "C" fn(*mut c_void, ArmnnStr, *const u32, usize, u64, u64)>;
    }
    ArmnnWorkloadTable {
        0 struct_size: usize;
        0 destroy: Option<unsafe extern "C" fn(*mut ArmnnWorkload)>;
        0 memory_requirements: Option<unsafe extern "C" fn(*const ArmnnWorkload, *mut usize, *mut usize, *mut ArmnnError) -> ArmnnStatus>;
        0 execute: Option<unsafe extern "C" fn(*const ArmnnWorkload, *mut ArmnnExecution, *const ArmnnExecutionContext, *const ArmnnTensor, usize, usize, *mut ArmnnTensor, usize, usize, *mut ArmnnError) -> ArmnnStatus>;
    }
    ArmnnExecutionTable {
        0 struct_size: usize;
        0 destroy: Option<unsafe extern "C" fn(*mut ArmnnExecution)>;
        0 flush: Option<unsafe extern "C" fn(*mut ArmnnExecution, *mut ArmnnError) -> ArmnnStatus>;
        0 wait: Option<unsafe extern "C" fn(*mut ArmnnExecution, *mut ArmnnError) -> ArmnnStatus>;
    }
    ArmnnTensorHandleTable {
        0 struct_size: usize;
        0 destroy: Option<unsafe extern "C" fn(*mut ArmnnTensorHandle)>;
        0 map: Option<unsafe extern "C" fn(*mut ArmnnTensorHandle, u32, *mut *mut c_void, *mut usize, *mut ArmnnError) -> ArmnnStatus>;
        0 unmap: Option<unsafe extern "C" fn(*mut ArmnnTensorHandle, *mut ArmnnError) -> ArmnnStatus>;
    }
    ArmnnModelContext {
        0 table: *const ArmnnModelContextTable;
    }
    ArmnnOptimizationViews {
        0 struct_size: usize;
        0 host: *mut c_void;
        0 add_precompiled: Option<unsafe extern "C" fn(*mut c_void, *const u32, usize, *const u32, usize, *const u32, usize, *mut ArmnnWorkload) -> ArmnnStatus>;
        0 add_failed: Option<unsafe extern "C" fn(*mut c_void, *const u32, usize, ArmnnStr) -> ArmnnStatus>;
    }
    ArmnnModelHost {
        0 struct_size: usize;
        0 host: *mut c_void;
        0 n_threads: u32;
        0 reserved: u32;
        0 release_constant: Option<unsafe extern "C" fn(*mut c_void, u64)>;
        0 parallel_for: Option<unsafe extern "C" fn(*mut c_void, u32, Option<unsafe extern "C" fn(*mut c_void, u32, u32)>, *mut c_void) -> ArmnnStatus>;
        0 cache_get: Option<unsafe extern "C" fn(*mut c_void, *const u8, usize, Option<unsafe extern "C" fn(*mut c_void, *const u8, usize)>, *mut c_void) -> ArmnnStatus>;
        0 cache_put: Option<unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize) -> ArmnnStatus>;
    }
    ArmnnModelContextTable {
        0 struct_size: usize;
        0 destroy: Option<unsafe extern "C" fn(*mut ArmnnModelContext)>;
        0 optimize_subgraph_view: Option<unsafe extern "C" fn(*mut ArmnnModelContext, *const ArmnnSubgraphView, *mut ArmnnOptimizationViews, *mut ArmnnError) -> ArmnnStatus>;
        0 create_workload: Option<unsafe extern "C" fn(*mut ArmnnModelContext, *const ArmnnSubgraphView, u32, *mut *mut ArmnnWorkload, *mut ArmnnError) -> ArmnnStatus>;
        0 create_execution: Option<unsafe extern "C" fn(*mut ArmnnModelContext, *mut *mut ArmnnExecution, *mut ArmnnError) -> ArmnnStatus>;
        0 create_tensor_handle: Option<unsafe extern "C" fn(*mut ArmnnModelContext, *const ArmnnTensorDesc, *mut *mut ArmnnTensorHandle, *mut ArmnnError) -> ArmnnStatus>;
        0 import_host_memory: Option<unsafe extern "C" fn(*mut ArmnnModelContext, *mut c_void, usize, u32, *mut *mut ArmnnTensorHandle, *mut ArmnnError) -> ArmnnStatus>;
        1 memory_usage: Option<unsafe extern "C" fn(*mut ArmnnModelContext, *mut u64, *mut ArmnnError) -> ArmnnStatus>;
    }
    ArmnnHostApi {
        0 struct_size: usize;
        0 api_major: u32;
        0 api_minor: u32;
        0 log: Option<unsafe extern "C" fn(u32, ArmnnStr, ArmnnStr)>;
        0 log_enabled: Option<unsafe extern "C" fn(u32, ArmnnStr) -> u8>;
    }
    ArmnnCapabilities {
        0 struct_size: usize;
        0 kind: u32;
        0 flags: u32;
    }
    ArmnnProbeSink {
        0 struct_size: usize;
        0 host: *mut c_void;
        0 add_device: Option<unsafe extern "C" fn(*mut c_void, ArmnnStr, ArmnnStr, *const ArmnnOption, usize) -> ArmnnStatus>;
    }
    IBackendInternal {
        0 table: *const ArmnnBackendTable;
    }
    ArmnnBackendTable {
        0 struct_size: usize;
        0 destroy: Option<unsafe extern "C" fn(*mut IBackendInternal)>;
        0 get_id: Option<unsafe extern "C" fn(*const IBackendInternal) -> ArmnnStr>;
        0 initialize: Option<unsafe extern "C" fn(*mut IBackendInternal, *const ArmnnHostApi, *const ArmnnOption, usize, *mut ArmnnError) -> ArmnnStatus>;
        0 shutdown: Option<unsafe extern "C" fn(*mut IBackendInternal, *mut ArmnnError) -> ArmnnStatus>;
        0 is_layer_supported: Option<unsafe extern "C" fn(*const IBackendInternal, *const ArmnnSubgraphView, u32, *mut ArmnnError) -> ArmnnStatus>;
        0 get_capabilities: Option<unsafe extern "C" fn(*const IBackendInternal, *mut ArmnnCapabilities, *mut ArmnnError) -> ArmnnStatus>;
        0 probe: Option<unsafe extern "C" fn(*mut IBackendInternal, *const ArmnnProbeSink, *mut ArmnnError) -> ArmnnStatus>;
        0 create_model_context: Option<unsafe extern "C" fn(*mut IBackendInternal, *const ArmnnOption, usize, *const ArmnnModelHost, *mut *mut ArmnnModelContext, *mut ArmnnError) -> ArmnnStatus>;
    }
}
