//! Descriptors of layers that move, choose, compare and normalize elements, in Rust.

use super::descriptors::{empty, list, used};
use super::enums::*;

pub use crate::sys::{
    ArmnnArgMinMaxDescriptor as ArgMinMaxDescriptor,
    ArmnnBatchNormalizationDescriptor as BatchNormalizationDescriptor,
    ArmnnBatchToSpaceNdDescriptor as BatchToSpaceNdDescriptor,
    ArmnnBitCastDescriptor as BitCastDescriptor,
    ArmnnBroadcastToDescriptor as BroadcastToDescriptor,
    ArmnnBucketizeDescriptor as BucketizeDescriptor, ArmnnCompressDescriptor as CompressDescriptor,
    ArmnnCumulativeDescriptor as CumulativeDescriptor,
    ArmnnDepthToSpaceDescriptor as DepthToSpaceDescriptor, ArmnnDetDescriptor as DetDescriptor,
    ArmnnDetectionPostProcessDescriptor as DetectionPostProcessDescriptor,
    ArmnnDftDescriptor as DftDescriptor,
    ArmnnDynamicUpdateSliceDescriptor as DynamicUpdateSliceDescriptor,
    ArmnnFillDescriptor as FillDescriptor,
    ArmnnGatherElementsDescriptor as GatherElementsDescriptor,
    ArmnnGatherNdDescriptor as GatherNdDescriptor,
    ArmnnInstanceNormalizationDescriptor as InstanceNormalizationDescriptor,
    ArmnnL2NormalizationDescriptor as L2NormalizationDescriptor,
    ArmnnLayerNormalizationDescriptor as LayerNormalizationDescriptor,
    ArmnnLogSoftmaxDescriptor as LogSoftmaxDescriptor,
    ArmnnLogicalBinaryDescriptor as LogicalBinaryDescriptor,
    ArmnnNonMaxSuppressionDescriptor as NonMaxSuppressionDescriptor,
    ArmnnNonMaxSuppressionPaddedDescriptor as NonMaxSuppressionPaddedDescriptor,
    ArmnnNonZeroDescriptor as NonZeroDescriptor,
    ArmnnNormalizationDescriptor as NormalizationDescriptor,
    ArmnnOneHotDescriptor as OneHotDescriptor, ArmnnRangeDescriptor as RangeDescriptor,
    ArmnnReverseSequenceDescriptor as ReverseSequenceDescriptor,
    ArmnnReverseV2Descriptor as ReverseV2Descriptor,
    ArmnnScatterElementsDescriptor as ScatterElementsDescriptor,
    ArmnnScatterNdDescriptor as ScatterNdDescriptor, ArmnnSelectDescriptor as SelectDescriptor,
    ArmnnSpaceToBatchNdDescriptor as SpaceToBatchNdDescriptor,
    ArmnnSpaceToDepthDescriptor as SpaceToDepthDescriptor, ArmnnStackDescriptor as StackDescriptor,
    ArmnnTileDescriptor as TileDescriptor, ArmnnTopKDescriptor as TopKDescriptor,
    ArmnnTriluDescriptor as TriluDescriptor, ArmnnUniqueDescriptor as UniqueDescriptor,
};

impl ArgMinMaxDescriptor {
    /// Of equal elements the first.
    pub const fn new(function: ArgMinMaxFunction, axis: u32, keep_dims: bool) -> Self {
        Self {
            function: function.0,
            axis,
            keep_dims: keep_dims as u32,
            select_last_index: 0,
        }
    }

    /// What is looked for.
    pub const fn function(&self) -> ArgMinMaxFunction {
        ArgMinMaxFunction(self.function)
    }
}

impl CompressDescriptor {
    /// Takes slices along an axis, or without one, elements of the flattened input.
    pub const fn new(axis: Option<u32>) -> Self {
        let (flatten, axis) = match axis {
            Some(axis) => (0, axis),
            None => (1, 0),
        };
        Self { flatten, axis }
    }

    /// The axis along which slices are taken, if the input is not flattened.
    pub const fn axis(&self) -> Option<u32> {
        if self.flatten == 1 {
            None
        } else {
            Some(self.axis)
        }
    }
}

impl UniqueDescriptor {
    /// Compares slices along an axis, or without one, elements of the flattened input.
    pub const fn new(axis: Option<u32>, sorted: bool) -> Self {
        let (flatten, axis) = match axis {
            Some(axis) => (0, axis),
            None => (1, 0),
        };
        Self {
            flatten,
            axis,
            sorted: sorted as u32,
        }
    }

    /// The axis along which slices are compared, if the input is not flattened.
    pub const fn axis(&self) -> Option<u32> {
        if self.flatten == 1 {
            None
        } else {
            Some(self.axis)
        }
    }
}

impl CumulativeDescriptor {
    /// From the first element on, each counting in its own result.
    pub const fn new(operation: CumulativeOperation, axis: u32) -> Self {
        Self {
            operation: operation.0,
            axis,
            exclusive: 0,
            reverse: 0,
        }
    }

    /// The operation.
    pub const fn operation(&self) -> CumulativeOperation {
        CumulativeOperation(self.operation)
    }
}

impl BatchToSpaceNdDescriptor {
    /// Dimensions from `axis` on grow; nothing is cropped. `None` beyond 8 dimensions.
    pub fn new(axis: u32, block_shape: &[u32]) -> Option<Self> {
        let (n_axes, block_shape) = list(block_shape)?;
        Some(Self {
            axis,
            n_axes,
            block_shape,
            crop_before: [0; 8],
            crop_after: [0; 8],
        })
    }

    /// How many times as large each becomes.
    pub fn block_shape(&self) -> &[u32] {
        used(&self.block_shape, self.n_axes)
    }

    /// Elements taken away before each.
    pub fn crop_before(&self) -> &[u32] {
        used(&self.crop_before, self.n_axes)
    }

    /// Elements taken away after each.
    pub fn crop_after(&self) -> &[u32] {
        used(&self.crop_after, self.n_axes)
    }
}

impl SpaceToBatchNdDescriptor {
    /// Dimensions from `axis` on are divided; without padding. `None` beyond 8 dimensions.
    pub fn new(axis: u32, block_shape: &[u32]) -> Option<Self> {
        let (n_axes, block_shape) = list(block_shape)?;
        Some(Self {
            axis,
            n_axes,
            block_shape,
            pad_before: [0; 8],
            pad_after: [0; 8],
        })
    }

    /// By which number each is divided.
    pub fn block_shape(&self) -> &[u32] {
        used(&self.block_shape, self.n_axes)
    }

    /// Padding before each.
    pub fn pad_before(&self) -> &[u32] {
        used(&self.pad_before, self.n_axes)
    }

    /// Padding after each.
    pub fn pad_after(&self) -> &[u32] {
        used(&self.pad_after, self.n_axes)
    }
}

impl DepthToSpaceDescriptor {
    /// Blocks of this size.
    pub const fn new(block_size: u32, mode: DepthToSpaceMode, data_layout: DataLayout) -> Self {
        Self {
            block_size,
            mode: mode.0,
            data_layout: data_layout.0,
        }
    }

    /// How channels are cut.
    pub const fn mode(&self) -> DepthToSpaceMode {
        DepthToSpaceMode(self.mode)
    }

    /// The layout of input and output.
    pub const fn data_layout(&self) -> DataLayout {
        DataLayout(self.data_layout)
    }
}

impl SpaceToDepthDescriptor {
    /// Blocks of this size.
    pub const fn new(block_size: u32, data_layout: DataLayout) -> Self {
        Self {
            block_size,
            data_layout: data_layout.0,
        }
    }

    /// The layout of input and output.
    pub const fn data_layout(&self) -> DataLayout {
        DataLayout(self.data_layout)
    }
}

impl DftDescriptor {
    /// The forward transform of the whole dimension, with the whole spectrum.
    pub const fn new(axis: u32) -> Self {
        Self {
            axis,
            inverse: 0,
            onesided: 0,
            reserved: 0,
            length: 0,
        }
    }
}

impl InstanceNormalizationDescriptor {
    /// Each channel by itself.
    pub const fn new(epsilon: f32, axis: u32) -> Self {
        Self {
            epsilon,
            axis,
            groups: 0,
        }
    }
}

impl LayerNormalizationDescriptor {
    /// To mean 0 and variance 1, from `axis` on.
    pub const fn new(epsilon: f32, axis: u32) -> Self {
        Self {
            epsilon,
            axis,
            subtract_mean: 1,
        }
    }
}

impl LogicalBinaryDescriptor {
    /// An operation on pairs of Booleans.
    pub const fn new(operation: LogicalBinaryOperation) -> Self {
        Self {
            operation: operation.0,
        }
    }

    /// The operation.
    pub const fn operation(&self) -> LogicalBinaryOperation {
        LogicalBinaryOperation(self.operation)
    }
}

impl NormalizationDescriptor {
    /// Which elements count.
    pub const fn channel_type(&self) -> NormalizationAlgorithmChannel {
        NormalizationAlgorithmChannel(self.channel_type)
    }
}

impl ReverseV2Descriptor {
    /// Turns these dimensions round; `None` beyond 8.
    pub fn new(axes: &[u32]) -> Option<Self> {
        let (n_axes, axes) = list(axes)?;
        Some(Self { n_axes, axes })
    }

    /// The dimensions that are turned round.
    pub fn axes(&self) -> &[u32] {
        used(&self.axes, self.n_axes)
    }
}

impl ScatterElementsDescriptor {
    /// Along an axis.
    pub const fn new(axis: u32, function: ScatterFunction) -> Self {
        Self {
            axis,
            function: function.0,
        }
    }

    /// How updates combine with what is there.
    pub const fn function(&self) -> ScatterFunction {
        ScatterFunction(self.function)
    }
}

impl ScatterNdDescriptor {
    /// How updates combine with what is there.
    pub const fn new(function: ScatterFunction) -> Self {
        Self {
            function: function.0,
        }
    }

    /// How updates combine with what is there.
    pub const fn function(&self) -> ScatterFunction {
        ScatterFunction(self.function)
    }
}

impl TileDescriptor {
    /// Repeats along each dimension; -1 is as often as the output's shape says. `None` beyond 8
    /// dimensions.
    pub fn new(multiples: &[i64]) -> Option<Self> {
        let (rank, multiples) = list(multiples)?;
        Some(Self {
            rank,
            reserved: 0,
            multiples,
        })
    }

    /// How often the input is repeated along each dimension; -1: as the output's shape says.
    pub fn multiples(&self) -> &[i64] {
        used(&self.multiples, self.rank)
    }
}

impl TopKDescriptor {
    /// Sorted, the best first.
    pub const fn new(axis: u32, largest: bool) -> Self {
        Self {
            axis,
            largest: largest as u32,
            sorted: 1,
        }
    }
}

empty! {
    BitCastDescriptor BroadcastToDescriptor BucketizeDescriptor DetDescriptor
    DynamicUpdateSliceDescriptor FillDescriptor NonMaxSuppressionPaddedDescriptor
    NonZeroDescriptor RangeDescriptor SelectDescriptor
}
