//! Descriptors of layers that put elements elsewhere.
//!
//! See `descriptors.rs` for what holds of all.

use super::ARMNN_MAX_RANK;

/// BatchToSpaceNd.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnBatchToSpaceNdDescriptor {
    /// The first dimension that grows; those after it follow.
    pub axis: u32,
    /// Entries of the lists in use: how many dimensions grow.
    pub n_axes: u32,
    /// How many times as large each becomes.
    pub block_shape: [u32; ARMNN_MAX_RANK],
    /// Elements then taken away before each.
    pub crop_before: [u32; ARMNN_MAX_RANK],
    /// Elements then taken away after each.
    pub crop_after: [u32; ARMNN_MAX_RANK],
}

/// BitCast.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnBitCastDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// BroadcastTo.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnBroadcastToDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// DepthToSpace.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnDepthToSpaceDescriptor {
    /// How many times as many rows and columns there are.
    pub block_size: u32,
    /// `ARMNN_DEPTH_TO_SPACE_…`.
    pub mode: u32,
    /// `ARMNN_DATA_LAYOUT_NCHW` or `…_NHWC`.
    pub data_layout: u32,
}

/// Fill.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnFillDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// ReverseSequence.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnReverseSequenceDescriptor {
    /// The dimension that is turned round.
    pub sequence_axis: u32,
    /// The dimension of sequences.
    pub batch_axis: u32,
}

/// ReverseV2.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnReverseV2Descriptor {
    /// Entries of `axes` in use.
    pub n_axes: u32,
    /// The dimensions that are turned round.
    pub axes: [u32; ARMNN_MAX_RANK],
}

/// SpaceToBatchNd.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnSpaceToBatchNdDescriptor {
    /// The first dimension that is divided; those after it follow.
    pub axis: u32,
    /// Entries of the lists in use: how many dimensions are divided.
    pub n_axes: u32,
    /// By which number each is divided.
    pub block_shape: [u32; ARMNN_MAX_RANK],
    /// Elements of padding put before each first.
    pub pad_before: [u32; ARMNN_MAX_RANK],
    /// Elements of padding put after each first.
    pub pad_after: [u32; ARMNN_MAX_RANK],
}

/// SpaceToDepth.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnSpaceToDepthDescriptor {
    /// Rows and columns of a block.
    pub block_size: u32,
    /// `ARMNN_DATA_LAYOUT_NCHW` or `…_NHWC`.
    pub data_layout: u32,
}

/// Stack.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnStackDescriptor {
    /// Where the new dimension stands in the output.
    pub axis: u32,
}

/// Tile.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnTileDescriptor {
    /// Entries of `multiples` in use: the rank of the input.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// How often the input is repeated along each dimension; -1: as often as the shape of the
    /// output says.
    pub multiples: [i64; ARMNN_MAX_RANK],
}

/// Trilu.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnTriluDescriptor {
    /// 1: what lies above the diagonal stays; 0: what lies below.
    pub upper: u32,
}
