//! Values that cross the boundary: strings, errors, shapes, quantization, options.

use core::ffi::c_char;

/// The most dimensions a tensor may have.
pub const ARMNN_MAX_RANK: usize = 8;
/// Bytes of an error message.
pub const ARMNN_ERROR_MESSAGE_SIZE: usize = 496;

/// The outcome of a call: [`ARMNN_STATUS_OK`](super::ARMNN_STATUS_OK) or another `ARMNN_STATUS_…`.
pub type ArmnnStatus = i32;

/// Text in UTF-8, not NUL-terminated, borrowed for the call. `ptr` may be null when `len` is 0.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnStr {
    /// First byte.
    pub ptr: *const c_char,
    /// Number of bytes.
    pub len: usize,
}

/// Room for the description of an error, owned by the caller.
///
/// The caller sets `struct_size`, `status` and `len` to 0 and `layer_id` to `ARMNN_NO_LAYER`, and
/// need not clear `message`.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Debug)]
pub struct ArmnnError {
    /// Bytes of this struct as the caller knows it.
    pub struct_size: usize,
    /// The status that is also returned.
    pub status: ArmnnStatus,
    /// Bytes of `message` in use, at most 496.
    pub len: u32,
    /// The `id` of the layer that the error concerns, or `ARMNN_NO_LAYER`. An asynchronous backend
    /// tells by it which of its workloads failed.
    pub layer_id: u32,
    /// Zero.
    pub reserved: u32,
    /// UTF-8, not NUL-terminated.
    pub message: [c_char; ARMNN_ERROR_MESSAGE_SIZE],
}

/// The shape of a tensor. Frozen for a major.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArmnnShape {
    /// Number of dimensions, at most 8.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// The dimensions, outermost first; below 0: not known yet. Those at and above `rank` are 0.
    pub dims: [i64; ARMNN_MAX_RANK],
}

/// How the numbers of a tensor stand for real ones: `real = scale * (number - zero_point)`.
/// Frozen for a major.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnQuantization {
    /// 0: not quantized. 1: for the whole tensor. Else the size of the dimension `axis`.
    pub count: u32,
    /// The dimension along which the parameters change, when `count` is above 1.
    pub axis: i32,
    /// `count` scales.
    pub scales: *const f32,
    /// `count` zero points.
    pub zero_points: *const i32,
}

/// The value of an option; which member holds it is told by `kind` of the option.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy)]
pub union ArmnnOptionValue {
    /// `ARMNN_OPTION_BOOL`: 0 is false, everything else is true.
    pub b: u8,
    /// `ARMNN_OPTION_INT`.
    pub i: i64,
    /// `ARMNN_OPTION_FLOAT`.
    pub f: f64,
    /// `ARMNN_OPTION_STRING`.
    pub s: ArmnnStr,
}

/// A named value. Frozen for a major.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy)]
pub struct ArmnnOption {
    /// The name.
    pub name: ArmnnStr,
    /// `ARMNN_OPTION_…`.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// The value.
    pub value: ArmnnOptionValue,
}
