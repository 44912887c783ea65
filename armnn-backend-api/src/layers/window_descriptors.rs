//! Descriptors of layers over windows and positions, in Rust.

use super::descriptors::{list, used};
use super::enums::*;

pub use crate::sys::{
    ArmnnCol2ImDescriptor as Col2ImDescriptor,
    ArmnnConvolution3dDescriptor as Convolution3dDescriptor,
    ArmnnDeformConvDescriptor as DeformConvDescriptor,
    ArmnnGridSampleDescriptor as GridSampleDescriptor,
    ArmnnInterpolateDescriptor as InterpolateDescriptor,
    ArmnnMaxPoolWithIndicesDescriptor as MaxPoolWithIndicesDescriptor,
    ArmnnPooling3dDescriptor as Pooling3dDescriptor, ArmnnRoiAlignDescriptor as RoiAlignDescriptor,
    ArmnnTransposeConvolution2dDescriptor as TransposeConvolution2dDescriptor,
    ArmnnTransposeConvolution3dDescriptor as TransposeConvolution3dDescriptor,
};

macro_rules! convolutions {
    ($($Descriptor:ident { $($pad:ident)* } { $($step:ident)* })*) => {$(
        impl $Descriptor {
            /// Strides and dilations of 1, no padding, one group.
            pub const fn new(data_layout: DataLayout) -> Self {
                Self {
                    $($pad: 0,)*
                    $($step: 1,)*
                    groups: 1,
                    data_layout: data_layout.0,
                }
            }

            /// The layout of input and output.
            pub const fn data_layout(&self) -> DataLayout {
                DataLayout(self.data_layout)
            }
        }
    )*};
}
convolutions! {
    Convolution3dDescriptor {
        pad_left pad_right pad_top pad_bottom pad_front pad_back
    } {
        stride_x stride_y stride_z dilation_x dilation_y dilation_z
    }
    TransposeConvolution2dDescriptor {
        pad_left pad_right pad_top pad_bottom
    } {
        stride_x stride_y dilation_x dilation_y
    }
    TransposeConvolution3dDescriptor {
        pad_left pad_right pad_top pad_bottom pad_front pad_back
    } {
        stride_x stride_y stride_z dilation_x dilation_y dilation_z
    }
}

impl DeformConvDescriptor {
    /// Strides and dilations of 1, no padding, one group and one group of offsets.
    pub const fn new() -> Self {
        Self {
            pad_left: 0,
            pad_right: 0,
            pad_top: 0,
            pad_bottom: 0,
            stride_x: 1,
            stride_y: 1,
            dilation_x: 1,
            dilation_y: 1,
            groups: 1,
            offset_groups: 1,
        }
    }
}

impl Default for DeformConvDescriptor {
    fn default() -> Self {
        Self::new()
    }
}

impl Pooling3dDescriptor {
    /// Strides and dilations of 1, no padding, sizes rounded down, padding excluded. The size of
    /// the window is depth, height, width.
    pub const fn new(
        pool_type: PoolingAlgorithm,
        [pool_depth, pool_height, pool_width]: [u32; 3],
        data_layout: DataLayout,
    ) -> Self {
        Self {
            pool_type: pool_type.0,
            pad_left: 0,
            pad_right: 0,
            pad_top: 0,
            pad_bottom: 0,
            pad_front: 0,
            pad_back: 0,
            pool_width,
            pool_height,
            pool_depth,
            stride_x: 1,
            stride_y: 1,
            stride_z: 1,
            dilation_x: 1,
            dilation_y: 1,
            dilation_z: 1,
            output_shape_rounding: OutputShapeRounding::Floor.0,
            padding_method: PaddingMethod::Exclude.0,
            data_layout: data_layout.0,
        }
    }

    /// What is computed of each window.
    pub const fn pool_type(&self) -> PoolingAlgorithm {
        PoolingAlgorithm(self.pool_type)
    }

    /// The layout of input and output.
    pub const fn data_layout(&self) -> DataLayout {
        DataLayout(self.data_layout)
    }

    /// Whether padding counts.
    pub const fn padding_method(&self) -> PaddingMethod {
        PaddingMethod(self.padding_method)
    }

    /// How the size of the output is rounded.
    pub const fn output_shape_rounding(&self) -> OutputShapeRounding {
        OutputShapeRounding(self.output_shape_rounding)
    }
}

impl MaxPoolWithIndicesDescriptor {
    /// A window of this size; strides and dilations of 1, no padding, sizes rounded down, indices
    /// row-major. `None` beyond 8 dimensions.
    pub fn new(pool: &[u32]) -> Option<Self> {
        let (n_axes, pool) = list(pool)?;
        let (_, ones) = list(&[1; 8][..n_axes as usize])?;
        Some(Self {
            n_axes,
            column_major: 0,
            output_shape_rounding: OutputShapeRounding::Floor.0,
            pool,
            stride: ones,
            dilation: ones,
            pad_before: [0; 8],
            pad_after: [0; 8],
        })
    }

    /// The size of the window.
    pub fn pool(&self) -> &[u32] {
        used(&self.pool, self.n_axes)
    }

    /// From one position of the window to the next.
    pub fn stride(&self) -> &[u32] {
        used(&self.stride, self.n_axes)
    }

    /// From one element of the window to the next.
    pub fn dilation(&self) -> &[u32] {
        used(&self.dilation, self.n_axes)
    }

    /// Padding before each dimension.
    pub fn pad_before(&self) -> &[u32] {
        used(&self.pad_before, self.n_axes)
    }

    /// Padding after each dimension.
    pub fn pad_after(&self) -> &[u32] {
        used(&self.pad_after, self.n_axes)
    }

    /// How the size of the output is rounded.
    pub const fn output_shape_rounding(&self) -> OutputShapeRounding {
        OutputShapeRounding(self.output_shape_rounding)
    }
}

impl Col2ImDescriptor {
    /// Blocks of this size; strides and dilations of 1, no padding. `None` beyond 8 dimensions.
    pub fn new(block_shape: &[u32]) -> Option<Self> {
        let (n_axes, block_shape) = list(block_shape)?;
        let (_, ones) = list(&[1; 8][..n_axes as usize])?;
        Some(Self {
            n_axes,
            block_shape,
            stride: ones,
            dilation: ones,
            pad_before: [0; 8],
            pad_after: [0; 8],
        })
    }

    /// The size of a block.
    pub fn block_shape(&self) -> &[u32] {
        used(&self.block_shape, self.n_axes)
    }

    /// From one block to the next.
    pub fn stride(&self) -> &[u32] {
        used(&self.stride, self.n_axes)
    }

    /// From one element of a block to the next.
    pub fn dilation(&self) -> &[u32] {
        used(&self.dilation, self.n_axes)
    }

    /// Padding before each dimension.
    pub fn pad_before(&self) -> &[u32] {
        used(&self.pad_before, self.n_axes)
    }

    /// Padding after each dimension.
    pub fn pad_after(&self) -> &[u32] {
        used(&self.pad_after, self.n_axes)
    }
}

impl GridSampleDescriptor {
    /// A method and what is read outside of the input.
    pub const fn new(
        method: InterpolationMethod,
        padding: GridPadding,
        align_corners: bool,
    ) -> Self {
        Self {
            method: method.0,
            padding: padding.0,
            align_corners: align_corners as u32,
        }
    }

    /// How values between elements are found.
    pub const fn method(&self) -> InterpolationMethod {
        InterpolationMethod(self.method)
    }

    /// What is read outside of the input.
    pub const fn padding(&self) -> GridPadding {
        GridPadding(self.padding)
    }
}

impl InterpolateDescriptor {
    /// Scales are those of the shapes; the nearest element is rounded to as RoundPreferFloor, and
    /// the cubic coefficient is -0.75. `None` beyond a rank of 8.
    pub fn new(
        method: InterpolationMethod,
        coordinates: CoordinateTransformation,
        rank: usize,
    ) -> Option<Self> {
        (rank <= 8).then_some(Self {
            method: method.0,
            coordinates: coordinates.0,
            nearest_rounding: NearestRounding::RoundPreferFloor.0,
            antialias: 0,
            exclude_outside: 0,
            rank: rank as u32,
            cubic_coefficient: -0.75,
            extrapolation_value: 0.0,
            scales: [0.0; 8],
            region_start: [0.0; 8],
            region_end: [1.0; 8],
        })
    }

    /// How values between elements are found.
    pub const fn method(&self) -> InterpolationMethod {
        InterpolationMethod(self.method)
    }

    /// Which input position belongs to an output position.
    pub const fn coordinates(&self) -> CoordinateTransformation {
        CoordinateTransformation(self.coordinates)
    }

    /// Which element is the nearest.
    pub const fn nearest_rounding(&self) -> NearestRounding {
        NearestRounding(self.nearest_rounding)
    }

    /// Output size through input size along each dimension; 0 for that of the shapes.
    pub fn scales(&self) -> &[f32] {
        used(&self.scales, self.rank)
    }
}

impl RoiAlignDescriptor {
    /// The mean of as many samples as a region covers elements, shifted by half an element.
    pub const fn new(output_height: u32, output_width: u32, spatial_scale: f32) -> Self {
        Self {
            pool_type: PoolingAlgorithm::Average.0,
            half_pixel: 1,
            output_height,
            output_width,
            sampling_ratio: 0,
            spatial_scale,
        }
    }

    /// What is computed of the samples.
    pub const fn pool_type(&self) -> PoolingAlgorithm {
        PoolingAlgorithm(self.pool_type)
    }
}
