//! Descriptors of layers that take, place or compare elements by index.
//!
//! See `descriptors.rs` for what holds of all.

/// ArgMinMax.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnArgMinMaxDescriptor {
    /// `ARMNN_ARG_MIN_MAX_…`.
    pub function: u32,
    /// The dimension that is searched.
    pub axis: u32,
    /// 1: the dimension stays, with size 1.
    pub keep_dims: u32,
    /// 1: of equal elements the last is taken; 0: the first.
    pub select_last_index: u32,
}

/// Bucketize.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnBucketizeDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// Compress.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnCompressDescriptor {
    /// 1: elements of the flattened input are taken; 0: slices along `axis`.
    pub flatten: u32,
    /// The dimension along which slices are taken; 0 with `flatten`.
    pub axis: u32,
}

/// Cumulative.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnCumulativeDescriptor {
    /// `ARMNN_CUMULATIVE_…`.
    pub operation: u32,
    /// The dimension along which is accumulated.
    pub axis: u32,
    /// 1: an element does not count in its own result.
    pub exclusive: u32,
    /// 1: from the last element to the first.
    pub reverse: u32,
}

/// DynamicUpdateSlice.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnDynamicUpdateSliceDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// GatherElements.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnGatherElementsDescriptor {
    /// The dimension that is indexed.
    pub axis: u32,
}

/// GatherNd.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnGatherNdDescriptor {
    /// Leading dimensions that input and indices have in common.
    pub batch_dims: u32,
}

/// LogicalBinary.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnLogicalBinaryDescriptor {
    /// `ARMNN_LOGICAL_BINARY_…`.
    pub operation: u32,
}

/// NonZero.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnNonZeroDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// OneHot.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnOneHotDescriptor {
    /// Where the new dimension stands in the output.
    pub axis: u32,
    /// 1: a negative index counts from the end; 0: it chooses nothing.
    pub wrap_negative: u32,
}

/// Range.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnRangeDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// ScatterElements.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnScatterElementsDescriptor {
    /// The dimension that is indexed.
    pub axis: u32,
    /// `ARMNN_SCATTER_…`.
    pub function: u32,
}

/// ScatterNd.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnScatterNdDescriptor {
    /// `ARMNN_SCATTER_…`.
    pub function: u32,
}

/// Select.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnSelectDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// TopK.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnTopKDescriptor {
    /// The dimension along which elements are compared.
    pub axis: u32,
    /// 1: the largest elements; 0: the smallest.
    pub largest: u32,
    /// 1: from the best to the least; 0: in any order.
    pub sorted: u32,
}

/// Unique.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnUniqueDescriptor {
    /// 1: elements of the flattened input; 0: slices along `axis`.
    pub flatten: u32,
    /// The dimension along which slices are compared; 0 with `flatten`.
    pub axis: u32,
    /// 1: ascending; 0: in the order in which they first appear.
    pub sorted: u32,
}
