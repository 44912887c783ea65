//! Descriptors of layers over windows and positions.
//!
//! See `descriptors.rs` for what holds of all.

use super::ARMNN_MAX_RANK;

/// Col2Im.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnCol2ImDescriptor {
    /// Entries of the lists in use: dimensions of the image.
    pub n_axes: u32,
    /// Size of a block along each dimension.
    pub block_shape: [u32; ARMNN_MAX_RANK],
    /// Elements from one block to the next.
    pub stride: [u32; ARMNN_MAX_RANK],
    /// Elements of the image from one element of a block to the next.
    pub dilation: [u32; ARMNN_MAX_RANK],
    /// Elements of padding before each dimension.
    pub pad_before: [u32; ARMNN_MAX_RANK],
    /// Elements of padding after each dimension.
    pub pad_after: [u32; ARMNN_MAX_RANK],
}

/// Convolution3d.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnConvolution3dDescriptor {
    /// Elements of padding before the first column.
    pub pad_left: u32,
    /// Elements of padding after the last column.
    pub pad_right: u32,
    /// Elements of padding before the first row.
    pub pad_top: u32,
    /// Elements of padding after the last row.
    pub pad_bottom: u32,
    /// Elements of padding before the first plane.
    pub pad_front: u32,
    /// Elements of padding after the last plane.
    pub pad_back: u32,
    /// Columns from one position of the filter to the next.
    pub stride_x: u32,
    /// Rows from one position of the filter to the next.
    pub stride_y: u32,
    /// Planes from one position of the filter to the next.
    pub stride_z: u32,
    /// Columns from one element of the filter to the next.
    pub dilation_x: u32,
    /// Rows from one element of the filter to the next.
    pub dilation_y: u32,
    /// Planes from one element of the filter to the next.
    pub dilation_z: u32,
    /// Into how many groups the channels fall.
    pub groups: u32,
    /// `ARMNN_DATA_LAYOUT_NDHWC` or `…_NCDHW`.
    pub data_layout: u32,
}

/// DeformConv.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnDeformConvDescriptor {
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
    /// How many groups of input channels have offsets of their own.
    pub offset_groups: u32,
}

/// GridSample.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnGridSampleDescriptor {
    /// `ARMNN_INTERPOLATION_…`.
    pub method: u32,
    /// `ARMNN_GRID_PADDING_…`.
    pub padding: u32,
    /// 1: -1 and 1 are the centres of the corner elements; 0: their outer borders.
    pub align_corners: u32,
}

/// Interpolate.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnInterpolateDescriptor {
    /// `ARMNN_INTERPOLATION_…`.
    pub method: u32,
    /// `ARMNN_COORDINATES_…`.
    pub coordinates: u32,
    /// `ARMNN_NEAREST_…`, for the nearest element.
    pub nearest_rounding: u32,
    /// 1: when sizes shrink, the filter grows with them.
    pub antialias: u32,
    /// 1: weights of positions outside of the input are 0, and the others scaled up.
    pub exclude_outside: u32,
    /// Entries of the lists in use: the rank of the input.
    pub rank: u32,
    /// The a of the cubic kernel, such as -0.75.
    pub cubic_coefficient: f32,
    /// Of positions outside of the region, with coordinates of a region.
    pub extrapolation_value: f32,
    /// Output size through input size along each dimension; 0: that of the shapes.
    pub scales: [f32; ARMNN_MAX_RANK],
    /// Start of the region along each dimension; 0 is the first element.
    pub region_start: [f32; ARMNN_MAX_RANK],
    /// End of the region along each dimension; 1 is the last element.
    pub region_end: [f32; ARMNN_MAX_RANK],
}

/// MaxPoolWithIndices.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnMaxPoolWithIndicesDescriptor {
    /// Entries of the lists in use: dimensions after batch and channels.
    pub n_axes: u32,
    /// 1: indices count along the first of these dimensions first.
    pub column_major: u32,
    /// `ARMNN_OUTPUT_SHAPE_ROUNDING_…`.
    pub output_shape_rounding: u32,
    /// Size of the window.
    pub pool: [u32; ARMNN_MAX_RANK],
    /// Elements from one position of the window to the next.
    pub stride: [u32; ARMNN_MAX_RANK],
    /// Elements from one element of the window to the next.
    pub dilation: [u32; ARMNN_MAX_RANK],
    /// Elements of padding before each dimension.
    pub pad_before: [u32; ARMNN_MAX_RANK],
    /// Elements of padding after each dimension.
    pub pad_after: [u32; ARMNN_MAX_RANK],
}

/// Pooling3d.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnPooling3dDescriptor {
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
    /// Elements of padding before the first plane.
    pub pad_front: u32,
    /// Elements of padding after the last plane.
    pub pad_back: u32,
    /// Columns of the window.
    pub pool_width: u32,
    /// Rows of the window.
    pub pool_height: u32,
    /// Planes of the window.
    pub pool_depth: u32,
    /// Columns from one position of the window to the next.
    pub stride_x: u32,
    /// Rows from one position of the window to the next.
    pub stride_y: u32,
    /// Planes from one position of the window to the next.
    pub stride_z: u32,
    /// Columns from one element of the window to the next.
    pub dilation_x: u32,
    /// Rows from one element of the window to the next.
    pub dilation_y: u32,
    /// Planes from one element of the window to the next.
    pub dilation_z: u32,
    /// `ARMNN_OUTPUT_SHAPE_ROUNDING_…`.
    pub output_shape_rounding: u32,
    /// `ARMNN_PADDING_METHOD_…`.
    pub padding_method: u32,
    /// `ARMNN_DATA_LAYOUT_NDHWC` or `…_NCDHW`.
    pub data_layout: u32,
}

/// RoiAlign.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnRoiAlignDescriptor {
    /// `ARMNN_POOLING_MAX` or `…_AVERAGE`.
    pub pool_type: u32,
    /// 1: positions are shifted by half an element.
    pub half_pixel: u32,
    /// Rows of the output.
    pub output_height: u32,
    /// Columns of the output.
    pub output_width: u32,
    /// Samples along each side of an output element; 0: as many as it covers elements.
    pub sampling_ratio: u32,
    /// From the regions' coordinates to the input's.
    pub spatial_scale: f32,
}

/// TransposeConvolution2d.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnTransposeConvolution2dDescriptor {
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

/// TransposeConvolution3d.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnTransposeConvolution3dDescriptor {
    /// Elements of padding before the first column.
    pub pad_left: u32,
    /// Elements of padding after the last column.
    pub pad_right: u32,
    /// Elements of padding before the first row.
    pub pad_top: u32,
    /// Elements of padding after the last row.
    pub pad_bottom: u32,
    /// Elements of padding before the first plane.
    pub pad_front: u32,
    /// Elements of padding after the last plane.
    pub pad_back: u32,
    /// Columns from one position of the filter to the next.
    pub stride_x: u32,
    /// Rows from one position of the filter to the next.
    pub stride_y: u32,
    /// Planes from one position of the filter to the next.
    pub stride_z: u32,
    /// Columns from one element of the filter to the next.
    pub dilation_x: u32,
    /// Rows from one element of the filter to the next.
    pub dilation_y: u32,
    /// Planes from one element of the filter to the next.
    pub dilation_z: u32,
    /// Into how many groups the channels fall.
    pub groups: u32,
    /// `ARMNN_DATA_LAYOUT_NDHWC` or `…_NCDHW`.
    pub data_layout: u32,
}
