//! The fields of every boundary struct once more, each with the minor since which it exists.
//!
//! The list is compared with the declarations at compile time, and is what the layout hashes and
//! the assertions of the C header are made from. A new field goes to the end of its struct here as
//! in the declaration. `ArmnnOptionValue`, a union, is covered by the size of `ArmnnOption`.

use core::ffi::{c_char, c_void};

use super::{layout::boundary_structs, *};

boundary_structs! {
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
    ArmnnActivationDescriptor {
        0 function: u32;
        0 a: f32;
        0 b: f32;
    }
    ArmnnBatchMatMulDescriptor {
        0 transpose_x: u8;
        0 transpose_y: u8;
        0 reserved: [u8; 2];
    }
    ArmnnCastDescriptor {
        0 reserved: u32;
    }
    ArmnnComparisonDescriptor {
        0 operation: u32;
    }
    ArmnnConcatDescriptor {
        0 axis: u32;
    }
    ArmnnConvolution2dDescriptor {
        0 pad_left: u32;
        0 pad_right: u32;
        0 pad_top: u32;
        0 pad_bottom: u32;
        0 stride_x: u32;
        0 stride_y: u32;
        0 dilation_x: u32;
        0 dilation_y: u32;
        0 groups: u32;
        0 data_layout: u32;
    }
    ArmnnDepthwiseConvolution2dDescriptor {
        0 pad_left: u32;
        0 pad_right: u32;
        0 pad_top: u32;
        0 pad_bottom: u32;
        0 stride_x: u32;
        0 stride_y: u32;
        0 dilation_x: u32;
        0 dilation_y: u32;
        0 data_layout: u32;
    }
    ArmnnDequantizeDescriptor {
        0 reserved: u32;
    }
    ArmnnElementwiseBinaryDescriptor {
        0 operation: u32;
    }
    ArmnnElementwiseUnaryDescriptor {
        0 operation: u32;
    }
    ArmnnFullyConnectedDescriptor {
        0 transpose_weight_matrix: u8;
        0 reserved: [u8; 3];
    }
    ArmnnGatherDescriptor {
        0 axis: u32;
    }
    ArmnnPadDescriptor {
        0 rank: u32;
        0 padding_mode: u32;
        0 pad_value: f64;
        0 pad_before: [i64; ARMNN_MAX_RANK];
        0 pad_after: [i64; ARMNN_MAX_RANK];
    }
    ArmnnPooling2dDescriptor {
        0 pool_type: u32;
        0 pad_left: u32;
        0 pad_right: u32;
        0 pad_top: u32;
        0 pad_bottom: u32;
        0 pool_width: u32;
        0 pool_height: u32;
        0 stride_x: u32;
        0 stride_y: u32;
        0 dilation_x: u32;
        0 dilation_y: u32;
        0 output_shape_rounding: u32;
        0 padding_method: u32;
        0 data_layout: u32;
    }
    ArmnnPreluDescriptor {
        0 reserved: u32;
    }
    ArmnnQuantizeDescriptor {
        0 reserved: u32;
        2 rounding: u32;
    }
    ArmnnReduceDescriptor {
        0 operation: u32;
        0 keep_dims: u32;
        0 n_axes: u32;
        0 axes: [u32; ARMNN_MAX_RANK];
    }
    ArmnnReshapeDescriptor {
        0 reserved: u32;
    }
    ArmnnResizeDescriptor {
        0 method: u32;
        0 data_layout: u32;
        0 align_corners: u8;
        0 half_pixel_centers: u8;
        0 reserved: [u8; 2];
    }
    ArmnnSoftmaxDescriptor {
        0 beta: f32;
        0 axis: u32;
    }
    ArmnnSplitDescriptor {
        0 axis: u32;
    }
    ArmnnStandInDescriptor {
        0 head_size: u32;
        0 version: u32;
        0 domain_offset: u32;
        0 domain_len: u32;
        0 name_offset: u32;
        0 name_len: u32;
        0 attributes_offset: u32;
        0 attributes_len: u32;
    }
    ArmnnStridedSliceDescriptor {
        0 rank: u32;
        0 reserved: u32;
        0 begin: [i64; ARMNN_MAX_RANK];
        0 end: [i64; ARMNN_MAX_RANK];
        0 stride: [i64; ARMNN_MAX_RANK];
    }
    ArmnnTransposeDescriptor {
        0 rank: u32;
        0 permutation: [u32; ARMNN_MAX_RANK];
    }
    ArmnnArgMinMaxDescriptor {
        2 function: u32;
        2 axis: u32;
        2 keep_dims: u32;
        2 select_last_index: u32;
    }
    ArmnnBatchNormalizationDescriptor {
        2 epsilon: f32;
        2 axis: u32;
    }
    ArmnnBatchToSpaceNdDescriptor {
        2 axis: u32;
        2 n_axes: u32;
        2 block_shape: [u32; ARMNN_MAX_RANK];
        2 crop_before: [u32; ARMNN_MAX_RANK];
        2 crop_after: [u32; ARMNN_MAX_RANK];
    }
    ArmnnBitCastDescriptor {
        2 reserved: u32;
    }
    ArmnnBroadcastToDescriptor {
        2 reserved: u32;
    }
    ArmnnBucketizeDescriptor {
        2 reserved: u32;
    }
    ArmnnCol2ImDescriptor {
        2 n_axes: u32;
        2 block_shape: [u32; ARMNN_MAX_RANK];
        2 stride: [u32; ARMNN_MAX_RANK];
        2 dilation: [u32; ARMNN_MAX_RANK];
        2 pad_before: [u32; ARMNN_MAX_RANK];
        2 pad_after: [u32; ARMNN_MAX_RANK];
    }
    ArmnnCompressDescriptor {
        2 flatten: u32;
        2 axis: u32;
    }
    ArmnnConvolution3dDescriptor {
        2 pad_left: u32;
        2 pad_right: u32;
        2 pad_top: u32;
        2 pad_bottom: u32;
        2 pad_front: u32;
        2 pad_back: u32;
        2 stride_x: u32;
        2 stride_y: u32;
        2 stride_z: u32;
        2 dilation_x: u32;
        2 dilation_y: u32;
        2 dilation_z: u32;
        2 groups: u32;
        2 data_layout: u32;
    }
    ArmnnCumulativeDescriptor {
        2 operation: u32;
        2 axis: u32;
        2 exclusive: u32;
        2 reverse: u32;
    }
    ArmnnDeformConvDescriptor {
        2 pad_left: u32;
        2 pad_right: u32;
        2 pad_top: u32;
        2 pad_bottom: u32;
        2 stride_x: u32;
        2 stride_y: u32;
        2 dilation_x: u32;
        2 dilation_y: u32;
        2 groups: u32;
        2 offset_groups: u32;
    }
    ArmnnDepthToSpaceDescriptor {
        2 block_size: u32;
        2 mode: u32;
        2 data_layout: u32;
    }
    ArmnnDetDescriptor {
        2 reserved: u32;
    }
    ArmnnDetectionPostProcessDescriptor {
        2 max_detections: u32;
        2 max_classes_per_detection: u32;
        2 detections_per_class: u32;
        2 num_classes: u32;
        2 use_regular_nms: u32;
        2 nms_score_threshold: f32;
        2 nms_iou_threshold: f32;
        2 scale_x: f32;
        2 scale_y: f32;
        2 scale_w: f32;
        2 scale_h: f32;
    }
    ArmnnDftDescriptor {
        2 axis: u32;
        2 inverse: u32;
        2 onesided: u32;
        2 reserved: u32;
        2 length: i64;
    }
    ArmnnDynamicUpdateSliceDescriptor {
        2 reserved: u32;
    }
    ArmnnFillDescriptor {
        2 reserved: u32;
    }
    ArmnnGatherElementsDescriptor {
        2 axis: u32;
    }
    ArmnnGatherNdDescriptor {
        2 batch_dims: u32;
    }
    ArmnnGridSampleDescriptor {
        2 method: u32;
        2 padding: u32;
        2 align_corners: u32;
    }
    ArmnnGruDescriptor {
        2 direction: u32;
        2 hidden_size: u32;
        2 batch_first: u32;
        2 linear_before_reset: u32;
        2 clip: f32;
        2 activations: [u32; 4];
        2 activation_a: [f32; 4];
        2 activation_b: [f32; 4];
    }
    ArmnnInstanceNormalizationDescriptor {
        2 epsilon: f32;
        2 axis: u32;
        2 groups: u32;
    }
    ArmnnInterpolateDescriptor {
        2 method: u32;
        2 coordinates: u32;
        2 nearest_rounding: u32;
        2 antialias: u32;
        2 exclude_outside: u32;
        2 rank: u32;
        2 cubic_coefficient: f32;
        2 extrapolation_value: f32;
        2 scales: [f32; ARMNN_MAX_RANK];
        2 region_start: [f32; ARMNN_MAX_RANK];
        2 region_end: [f32; ARMNN_MAX_RANK];
    }
    ArmnnL2NormalizationDescriptor {
        2 epsilon: f32;
        2 axis: u32;
    }
    ArmnnLayerNormalizationDescriptor {
        2 epsilon: f32;
        2 axis: u32;
        2 subtract_mean: u32;
    }
    ArmnnLogicalBinaryDescriptor {
        2 operation: u32;
    }
    ArmnnLogSoftmaxDescriptor {
        2 beta: f32;
        2 axis: u32;
    }
    ArmnnLstmDescriptor {
        2 direction: u32;
        2 hidden_size: u32;
        2 batch_first: u32;
        2 input_forget: u32;
        2 clip: f32;
        2 activations: [u32; 6];
        2 activation_a: [f32; 6];
        2 activation_b: [f32; 6];
    }
    ArmnnMaxPoolWithIndicesDescriptor {
        2 n_axes: u32;
        2 column_major: u32;
        2 output_shape_rounding: u32;
        2 pool: [u32; ARMNN_MAX_RANK];
        2 stride: [u32; ARMNN_MAX_RANK];
        2 dilation: [u32; ARMNN_MAX_RANK];
        2 pad_before: [u32; ARMNN_MAX_RANK];
        2 pad_after: [u32; ARMNN_MAX_RANK];
    }
    ArmnnNonMaxSuppressionDescriptor {
        2 center_point_box: u32;
    }
    ArmnnNonMaxSuppressionPaddedDescriptor {
        2 reserved: u32;
    }
    ArmnnNonZeroDescriptor {
        2 reserved: u32;
    }
    ArmnnNormalizationDescriptor {
        2 channel_type: u32;
        2 norm_size: u32;
        2 alpha: f32;
        2 beta: f32;
        2 k: f32;
        2 axis: u32;
    }
    ArmnnOneHotDescriptor {
        2 axis: u32;
        2 wrap_negative: u32;
    }
    ArmnnPooling3dDescriptor {
        2 pool_type: u32;
        2 pad_left: u32;
        2 pad_right: u32;
        2 pad_top: u32;
        2 pad_bottom: u32;
        2 pad_front: u32;
        2 pad_back: u32;
        2 pool_width: u32;
        2 pool_height: u32;
        2 pool_depth: u32;
        2 stride_x: u32;
        2 stride_y: u32;
        2 stride_z: u32;
        2 dilation_x: u32;
        2 dilation_y: u32;
        2 dilation_z: u32;
        2 output_shape_rounding: u32;
        2 padding_method: u32;
        2 data_layout: u32;
    }
    ArmnnRangeDescriptor {
        2 reserved: u32;
    }
    ArmnnReverseSequenceDescriptor {
        2 sequence_axis: u32;
        2 batch_axis: u32;
    }
    ArmnnReverseV2Descriptor {
        2 n_axes: u32;
        2 axes: [u32; ARMNN_MAX_RANK];
    }
    ArmnnRnnDescriptor {
        2 direction: u32;
        2 hidden_size: u32;
        2 batch_first: u32;
        2 reserved: u32;
        2 clip: f32;
        2 activations: [u32; 2];
        2 activation_a: [f32; 2];
        2 activation_b: [f32; 2];
    }
    ArmnnRoiAlignDescriptor {
        2 pool_type: u32;
        2 half_pixel: u32;
        2 output_height: u32;
        2 output_width: u32;
        2 sampling_ratio: u32;
        2 spatial_scale: f32;
    }
    ArmnnScatterElementsDescriptor {
        2 axis: u32;
        2 function: u32;
    }
    ArmnnScatterNdDescriptor {
        2 function: u32;
    }
    ArmnnSelectDescriptor {
        2 reserved: u32;
    }
    ArmnnSpaceToBatchNdDescriptor {
        2 axis: u32;
        2 n_axes: u32;
        2 block_shape: [u32; ARMNN_MAX_RANK];
        2 pad_before: [u32; ARMNN_MAX_RANK];
        2 pad_after: [u32; ARMNN_MAX_RANK];
    }
    ArmnnSpaceToDepthDescriptor {
        2 block_size: u32;
        2 data_layout: u32;
    }
    ArmnnStackDescriptor {
        2 axis: u32;
    }
    ArmnnTileDescriptor {
        2 rank: u32;
        2 reserved: u32;
        2 multiples: [i64; ARMNN_MAX_RANK];
    }
    ArmnnTopKDescriptor {
        2 axis: u32;
        2 largest: u32;
        2 sorted: u32;
    }
    ArmnnTransposeConvolution2dDescriptor {
        2 pad_left: u32;
        2 pad_right: u32;
        2 pad_top: u32;
        2 pad_bottom: u32;
        2 stride_x: u32;
        2 stride_y: u32;
        2 dilation_x: u32;
        2 dilation_y: u32;
        2 groups: u32;
        2 data_layout: u32;
    }
    ArmnnTransposeConvolution3dDescriptor {
        2 pad_left: u32;
        2 pad_right: u32;
        2 pad_top: u32;
        2 pad_bottom: u32;
        2 pad_front: u32;
        2 pad_back: u32;
        2 stride_x: u32;
        2 stride_y: u32;
        2 stride_z: u32;
        2 dilation_x: u32;
        2 dilation_y: u32;
        2 dilation_z: u32;
        2 groups: u32;
        2 data_layout: u32;
    }
    ArmnnTriluDescriptor {
        2 upper: u32;
    }
    ArmnnUnidirectionalSequenceLstmDescriptor {
        2 time_major: u32;
        2 activation: u32;
        2 activation_a: f32;
        2 activation_b: f32;
        2 cell_clip: f32;
        2 projection_clip: f32;
        2 input_intermediate_scale: f32;
        2 forget_intermediate_scale: f32;
        2 cell_intermediate_scale: f32;
        2 output_intermediate_scale: f32;
        2 hidden_state_scale: f32;
        2 hidden_state_zero_point: i32;
    }
    ArmnnUniqueDescriptor {
        2 flatten: u32;
        2 axis: u32;
        2 sorted: u32;
    }
}
