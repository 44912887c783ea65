//! Descriptors: the parameters of a layer. Plain data, without pointers; they grow at the end.
//!
//! Sizes that follow from the shapes of the tensors are not repeated in a descriptor. Boolean
//! fields are 0 or 1. The documentation of the layers is at
//! [`LayerDescriptor`](crate::LayerDescriptor).

use super::ARMNN_MAX_RANK;

/// Activation.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnActivationDescriptor {
    /// `ARMNN_ACTIVATION_…`.
    pub function: u32,
    /// First parameter of the function.
    pub a: f32,
    /// Second parameter of the function.
    pub b: f32,
}

/// BatchMatMul.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnBatchMatMulDescriptor {
    /// 1: the last two dimensions of the first input are exchanged first.
    pub transpose_x: u8,
    /// 1: those of the second.
    pub transpose_y: u8,
    /// Zero.
    pub reserved: [u8; 2],
}

/// Cast.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnCastDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// Comparison.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnComparisonDescriptor {
    /// `ARMNN_COMPARISON_…`.
    pub operation: u32,
}

/// Concat.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnConcatDescriptor {
    /// The dimension that is joined.
    pub axis: u32,
}

/// Convolution2d.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnConvolution2dDescriptor {
    /// Elements of padding before the first column.
    pub pad_left: u32,
    /// Elements of padding after the last column.
    pub pad_right: u32,
    /// Elements of padding before the first row.
    pub pad_top: u32,
    /// Elements of padding after the last row.
    pub pad_bottom: u32,
    /// Columns from one position of the filter to the next.
    pub stride_x: u32,
    /// Rows from one position of the filter to the next.
    pub stride_y: u32,
    /// Columns from one element of the filter to the next.
    pub dilation_x: u32,
    /// Rows from one element of the filter to the next.
    pub dilation_y: u32,
    /// Into how many groups the channels fall.
    pub groups: u32,
    /// `ARMNN_DATA_LAYOUT_NCHW` or `…_NHWC`.
    pub data_layout: u32,
}

/// DepthwiseConvolution2d.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnDepthwiseConvolution2dDescriptor {
    /// Elements of padding before the first column.
    pub pad_left: u32,
    /// Elements of padding after the last column.
    pub pad_right: u32,
    /// Elements of padding before the first row.
    pub pad_top: u32,
    /// Elements of padding after the last row.
    pub pad_bottom: u32,
    /// Columns from one position of the filter to the next.
    pub stride_x: u32,
    /// Rows from one position of the filter to the next.
    pub stride_y: u32,
    /// Columns from one element of the filter to the next.
    pub dilation_x: u32,
    /// Rows from one element of the filter to the next.
    pub dilation_y: u32,
    /// `ARMNN_DATA_LAYOUT_NCHW` or `…_NHWC`.
    pub data_layout: u32,
}

/// Dequantize.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnDequantizeDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// ElementwiseBinary.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnElementwiseBinaryDescriptor {
    /// `ARMNN_BINARY_…`.
    pub operation: u32,
}

/// ElementwiseUnary.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnElementwiseUnaryDescriptor {
    /// `ARMNN_UNARY_…`.
    pub operation: u32,
}

/// FullyConnected.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnFullyConnectedDescriptor {
    /// 1: the weights are [outputs, inputs]; 0: they are [inputs, outputs].
    pub transpose_weight_matrix: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

/// Gather.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnGatherDescriptor {
    /// The dimension of the first input that is indexed.
    pub axis: u32,
}

/// Pad.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnPadDescriptor {
    /// Entries of the lists in use.
    pub rank: u32,
    /// `ARMNN_PADDING_MODE_…`.
    pub padding_mode: u32,
    /// The value of padding in mode Constant, a real number also for quantized types.
    pub pad_value: f64,
    /// Elements added before each dimension.
    pub pad_before: [i64; ARMNN_MAX_RANK],
    /// Elements added after each dimension.
    pub pad_after: [i64; ARMNN_MAX_RANK],
}

/// Pooling2d.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnPooling2dDescriptor {
    /// `ARMNN_POOLING_…`.
    pub pool_type: u32,
    /// Elements of padding before the first column.
    pub pad_left: u32,
    /// Elements of padding after the last column.
    pub pad_right: u32,
    /// Elements of padding before the first row.
    pub pad_top: u32,
    /// Elements of padding after the last row.
    pub pad_bottom: u32,
    /// Columns of the window.
    pub pool_width: u32,
    /// Rows of the window.
    pub pool_height: u32,
    /// Columns from one position of the window to the next.
    pub stride_x: u32,
    /// Rows from one position of the window to the next.
    pub stride_y: u32,
    /// Columns from one element of the window to the next.
    pub dilation_x: u32,
    /// Rows from one element of the window to the next.
    pub dilation_y: u32,
    /// `ARMNN_OUTPUT_SHAPE_ROUNDING_…`.
    pub output_shape_rounding: u32,
    /// `ARMNN_PADDING_METHOD_…`.
    pub padding_method: u32,
    /// `ARMNN_DATA_LAYOUT_NCHW` or `…_NHWC`.
    pub data_layout: u32,
}

/// Prelu.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnPreluDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// Quantize.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnQuantizeDescriptor {
    /// Zero.
    pub reserved: u32,
    /// `ARMNN_QUANTIZE_ROUNDING_…`. Since 1.2.
    pub rounding: u32,
}

/// Reduce.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnReduceDescriptor {
    /// `ARMNN_REDUCE_…`.
    pub operation: u32,
    /// 1: a reduced dimension stays, with size 1.
    pub keep_dims: u32,
    /// Entries of `axes` in use.
    pub n_axes: u32,
    /// The dimensions that are reduced, ascending.
    pub axes: [u32; ARMNN_MAX_RANK],
}

/// Reshape.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnReshapeDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// Resize.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnResizeDescriptor {
    /// `ARMNN_RESIZE_…`.
    pub method: u32,
    /// `ARMNN_DATA_LAYOUT_NCHW` or `…_NHWC`.
    pub data_layout: u32,
    /// 1: the corner elements of input and output coincide.
    pub align_corners: u8,
    /// 1: an element's position is that of its centre.
    pub half_pixel_centers: u8,
    /// Zero.
    pub reserved: [u8; 2],
}

/// Softmax.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnSoftmaxDescriptor {
    /// Factor of the exponent.
    pub beta: f32,
    /// The dimension over which the outputs add up to 1.
    pub axis: u32,
}

/// Split.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnSplitDescriptor {
    /// The dimension that is cut.
    pub axis: u32,
}

/// Head of the descriptor of StandIn. Bytes follow it, within the layer's `descriptor_size`;
/// offsets count from the start of this struct.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnStandInDescriptor {
    /// Bytes of this head.
    pub head_size: u32,
    /// Version of the operator.
    pub version: u32,
    /// Where the operator's domain starts.
    pub domain_offset: u32,
    /// Bytes of the domain.
    pub domain_len: u32,
    /// Where the operator's name starts.
    pub name_offset: u32,
    /// Bytes of the name.
    pub name_len: u32,
    /// Where the attributes start, in the model format's own encoding.
    pub attributes_offset: u32,
    /// Bytes of the attributes.
    pub attributes_len: u32,
}

/// StridedSlice.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnStridedSliceDescriptor {
    /// Entries of the lists in use: the rank of the input.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// The first element taken from each dimension, from 0 on.
    pub begin: [i64; ARMNN_MAX_RANK],
    /// The element before which a dimension's slice ends; -1 for "through element 0" with a
    /// negative stride.
    pub end: [i64; ARMNN_MAX_RANK],
    /// From each element to the next; not 0.
    pub stride: [i64; ARMNN_MAX_RANK],
}

/// Transpose.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnTransposeDescriptor {
    /// Entries of `permutation` in use.
    pub rank: u32,
    /// Dimension `i` of the output is dimension `permutation[i]` of the input.
    pub permutation: [u32; ARMNN_MAX_RANK],
}
