//! Descriptors in Rust: the wire structs, with constructors and typed access to their numbers.

use super::enums::*;
use crate::sys;

pub use crate::sys::{
    ArmnnActivationDescriptor as ActivationDescriptor,
    ArmnnBatchMatMulDescriptor as BatchMatMulDescriptor, ArmnnCastDescriptor as CastDescriptor,
    ArmnnComparisonDescriptor as ComparisonDescriptor, ArmnnConcatDescriptor as ConcatDescriptor,
    ArmnnConvolution2dDescriptor as Convolution2dDescriptor,
    ArmnnDepthwiseConvolution2dDescriptor as DepthwiseConvolution2dDescriptor,
    ArmnnDequantizeDescriptor as DequantizeDescriptor,
    ArmnnElementwiseBinaryDescriptor as ElementwiseBinaryDescriptor,
    ArmnnElementwiseUnaryDescriptor as ElementwiseUnaryDescriptor,
    ArmnnFullyConnectedDescriptor as FullyConnectedDescriptor,
    ArmnnGatherDescriptor as GatherDescriptor, ArmnnPadDescriptor as PadDescriptor,
    ArmnnPooling2dDescriptor as Pooling2dDescriptor, ArmnnPreluDescriptor as PreluDescriptor,
    ArmnnQuantizeDescriptor as QuantizeDescriptor, ArmnnReduceDescriptor as ReduceDescriptor,
    ArmnnReshapeDescriptor as ReshapeDescriptor, ArmnnResizeDescriptor as ResizeDescriptor,
    ArmnnSoftmaxDescriptor as SoftmaxDescriptor, ArmnnSplitDescriptor as SplitDescriptor,
    ArmnnStridedSliceDescriptor as StridedSliceDescriptor,
    ArmnnTransposeDescriptor as TransposeDescriptor,
};

macro_rules! empty {
    ($($Descriptor:ident)*) => {$(
        impl $Descriptor {
            /// The layer has no parameters.
            pub const fn new() -> Self {
                Self { reserved: 0 }
            }
        }

        impl Default for $Descriptor {
            fn default() -> Self {
                Self::new()
            }
        }
    )*};
}
pub(super) use empty;

/// A list of at most 8 entries as a descriptor holds it; entries beyond the list are 0.
pub(super) fn list<T: Copy + Default>(values: &[T]) -> Option<(u32, [T; sys::ARMNN_MAX_RANK])> {
    let mut out = [T::default(); sys::ARMNN_MAX_RANK];
    out.get_mut(..values.len())?.copy_from_slice(values);
    Some((values.len() as u32, out))
}

/// The entries in use of a list; the count comes from the other side, and is clamped.
pub(super) fn used<T>(values: &[T; sys::ARMNN_MAX_RANK], count: u32) -> &[T] {
    &values[..(count as usize).min(values.len())]
}

impl ActivationDescriptor {
    /// An activation with parameters `a` and `b` as its function uses them.
    pub const fn new(function: ActivationFunction, a: f32, b: f32) -> Self {
        Self {
            function: function.0,
            a,
            b,
        }
    }

    /// The function.
    pub const fn function(&self) -> ActivationFunction {
        ActivationFunction(self.function)
    }
}

impl ComparisonDescriptor {
    /// A comparison.
    pub const fn new(operation: ComparisonOperation) -> Self {
        Self {
            operation: operation.0,
        }
    }

    /// The operation.
    pub const fn operation(&self) -> ComparisonOperation {
        ComparisonOperation(self.operation)
    }
}

impl ElementwiseUnaryDescriptor {
    /// An operation on each element.
    pub const fn new(operation: UnaryOperation) -> Self {
        Self {
            operation: operation.0,
        }
    }

    /// The operation.
    pub const fn operation(&self) -> UnaryOperation {
        UnaryOperation(self.operation)
    }
}

impl ElementwiseBinaryDescriptor {
    /// An operation on pairs of elements.
    pub const fn new(operation: BinaryOperation) -> Self {
        Self {
            operation: operation.0,
        }
    }

    /// The operation.
    pub const fn operation(&self) -> BinaryOperation {
        BinaryOperation(self.operation)
    }
}

impl Convolution2dDescriptor {
    /// Strides and dilations of 1, no padding, one group.
    pub const fn new(data_layout: DataLayout) -> Self {
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
            data_layout: data_layout.0,
        }
    }

    /// The layout of input and output.
    pub const fn data_layout(&self) -> DataLayout {
        DataLayout(self.data_layout)
    }
}

impl DepthwiseConvolution2dDescriptor {
    /// Strides and dilations of 1, no padding.
    pub const fn new(data_layout: DataLayout) -> Self {
        Self {
            pad_left: 0,
            pad_right: 0,
            pad_top: 0,
            pad_bottom: 0,
            stride_x: 1,
            stride_y: 1,
            dilation_x: 1,
            dilation_y: 1,
            data_layout: data_layout.0,
        }
    }

    /// The layout of input and output.
    pub const fn data_layout(&self) -> DataLayout {
        DataLayout(self.data_layout)
    }
}

impl FullyConnectedDescriptor {
    /// With weights [outputs, inputs] if `transpose_weight_matrix`, else [inputs, outputs].
    pub const fn new(transpose_weight_matrix: bool) -> Self {
        Self {
            transpose_weight_matrix: transpose_weight_matrix as u8,
            reserved: [0; 3],
        }
    }
}

impl BatchMatMulDescriptor {
    /// Whether the last two dimensions of either input are exchanged first.
    pub const fn new(transpose_x: bool, transpose_y: bool) -> Self {
        Self {
            transpose_x: transpose_x as u8,
            transpose_y: transpose_y as u8,
            reserved: [0; 2],
        }
    }
}

impl Pooling2dDescriptor {
    /// Strides and dilations of 1, no padding, sizes rounded down, padding excluded.
    pub const fn new(
        pool_type: PoolingAlgorithm,
        pool_width: u32,
        pool_height: u32,
        data_layout: DataLayout,
    ) -> Self {
        Self {
            pool_type: pool_type.0,
            pad_left: 0,
            pad_right: 0,
            pad_top: 0,
            pad_bottom: 0,
            pool_width,
            pool_height,
            stride_x: 1,
            stride_y: 1,
            dilation_x: 1,
            dilation_y: 1,
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

impl PadDescriptor {
    /// Elements added before and after each dimension; `None` beyond 8 dimensions, or when the
    /// lists differ in length.
    pub fn new(mode: PaddingMode, value: f64, before: &[i64], after: &[i64]) -> Option<Self> {
        let (rank, pad_before) = list(before)?;
        let (same, pad_after) = list(after)?;
        (rank == same).then_some(Self {
            rank,
            padding_mode: mode.0,
            pad_value: value,
            pad_before,
            pad_after,
        })
    }

    /// What is put around the input.
    pub const fn padding_mode(&self) -> PaddingMode {
        PaddingMode(self.padding_mode)
    }

    /// Elements added before each dimension.
    pub fn before(&self) -> &[i64] {
        used(&self.pad_before, self.rank)
    }

    /// Elements added after each dimension.
    pub fn after(&self) -> &[i64] {
        used(&self.pad_after, self.rank)
    }
}

impl ReduceDescriptor {
    /// Reduces `axes`, which ascend; `None` beyond 8.
    pub fn new(operation: ReduceOperation, axes: &[u32], keep_dims: bool) -> Option<Self> {
        let (n_axes, axes) = list(axes)?;
        Some(Self {
            operation: operation.0,
            keep_dims: keep_dims as u32,
            n_axes,
            axes,
        })
    }

    /// The operation.
    pub const fn operation(&self) -> ReduceOperation {
        ReduceOperation(self.operation)
    }

    /// The dimensions that are reduced, ascending.
    pub fn axes(&self) -> &[u32] {
        used(&self.axes, self.n_axes)
    }
}

impl ResizeDescriptor {
    /// Positions are those of corners: neither `align_corners` nor `half_pixel_centers`.
    pub const fn new(method: ResizeMethod, data_layout: DataLayout) -> Self {
        Self {
            method: method.0,
            data_layout: data_layout.0,
            align_corners: 0,
            half_pixel_centers: 0,
            reserved: [0; 2],
        }
    }

    /// How values between elements are found.
    pub const fn method(&self) -> ResizeMethod {
        ResizeMethod(self.method)
    }

    /// The layout of input and output.
    pub const fn data_layout(&self) -> DataLayout {
        DataLayout(self.data_layout)
    }
}

impl StridedSliceDescriptor {
    /// One begin, end and stride for each dimension; `None` beyond 8, or when the lists differ in
    /// length.
    pub fn new(begin: &[i64], end: &[i64], stride: &[i64]) -> Option<Self> {
        let (rank, begin) = list(begin)?;
        let (rank_end, end) = list(end)?;
        let (rank_stride, stride) = list(stride)?;
        (rank == rank_end && rank == rank_stride).then_some(Self {
            rank,
            reserved: 0,
            begin,
            end,
            stride,
        })
    }

    /// The first element taken from each dimension.
    pub fn begin(&self) -> &[i64] {
        used(&self.begin, self.rank)
    }

    /// The element before which each dimension's slice ends.
    pub fn end(&self) -> &[i64] {
        used(&self.end, self.rank)
    }

    /// From each element to the next.
    pub fn stride(&self) -> &[i64] {
        used(&self.stride, self.rank)
    }
}

impl TransposeDescriptor {
    /// Dimension `i` of the output is dimension `permutation[i]` of the input; `None` beyond 8.
    pub fn new(permutation: &[u32]) -> Option<Self> {
        let (rank, permutation) = list(permutation)?;
        Some(Self { rank, permutation })
    }

    /// The permutation.
    pub fn permutation(&self) -> &[u32] {
        used(&self.permutation, self.rank)
    }
}

impl QuantizeDescriptor {
    /// Numbers halfway between two go away from zero.
    pub const fn new() -> Self {
        Self::rounding_to(QuantizeRounding::AwayFromZero)
    }

    /// Numbers halfway between two go where `rounding` says.
    pub const fn rounding_to(rounding: QuantizeRounding) -> Self {
        Self {
            reserved: 0,
            rounding: rounding.0,
        }
    }

    /// Where numbers halfway between two go.
    pub const fn rounding(&self) -> QuantizeRounding {
        QuantizeRounding(self.rounding)
    }
}

impl Default for QuantizeDescriptor {
    fn default() -> Self {
        Self::new()
    }
}

empty! { CastDescriptor DequantizeDescriptor PreluDescriptor ReshapeDescriptor }
