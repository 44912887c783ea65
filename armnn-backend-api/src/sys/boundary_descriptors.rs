//! The fields of the descriptors of layers once more: the second part of the list of
//! [`boundary_structs`](super::boundary_structs).

use super::{layout::boundary_structs, *};

boundary_structs! {
    DESCRIPTORS:
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
