//! Descriptors of layers that compute along whole dimensions.
//!
//! See `descriptors.rs` for what holds of all.

/// BatchNormalization.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnBatchNormalizationDescriptor {
    /// Added to the variance.
    pub epsilon: f32,
    /// The dimension of channels.
    pub axis: u32,
}

/// Det.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnDetDescriptor {
    /// Zero.
    pub reserved: u32,
}

/// Dft.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnDftDescriptor {
    /// The dimension that is transformed.
    pub axis: u32,
    /// 1: the inverse transform, divided by the length.
    pub inverse: u32,
    /// 1: of real signals, only the first half of the spectrum, length / 2 + 1 values.
    pub onesided: u32,
    /// Zero.
    pub reserved: u32,
    /// To which the signal is cut or filled up with 0; 0: its own length.
    pub length: i64,
}

/// InstanceNormalization.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnInstanceNormalizationDescriptor {
    /// Added to the variance.
    pub epsilon: f32,
    /// The dimension of channels.
    pub axis: u32,
    /// Groups of channels that are normalized together; 0: each channel by itself.
    pub groups: u32,
}

/// L2Normalization.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnL2NormalizationDescriptor {
    /// The least sum of squares.
    pub epsilon: f32,
    /// The dimension that is normalized.
    pub axis: u32,
}

/// LayerNormalization.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnLayerNormalizationDescriptor {
    /// Added to the variance.
    pub epsilon: f32,
    /// The first dimension that is normalized; all after it are, too.
    pub axis: u32,
    /// 1: to mean 0 and variance 1; 0: to root mean square 1.
    pub subtract_mean: u32,
}

/// LogSoftmax.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnLogSoftmaxDescriptor {
    /// Factor of the exponent.
    pub beta: f32,
    /// The dimension over which the powers of e add up to 1.
    pub axis: u32,
}

/// Normalization.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnNormalizationDescriptor {
    /// `ARMNN_NORMALIZATION_…`.
    pub channel_type: u32,
    /// Elements whose squares count, along each direction.
    pub norm_size: u32,
    /// Factor of the sum of squares.
    pub alpha: f32,
    /// Exponent of the divisor.
    pub beta: f32,
    /// Added to the sum of squares.
    pub k: f32,
    /// The dimension of channels.
    pub axis: u32,
}
