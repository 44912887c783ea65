//! Descriptors of layers that choose among boxes.
//!
//! See `descriptors.rs` for what holds of all.

/// DetectionPostProcess.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnDetectionPostProcessDescriptor {
    /// Boxes that are kept at most.
    pub max_detections: u32,
    /// Classes that a box is reported with; 1 with `use_regular_nms`.
    pub max_classes_per_detection: u32,
    /// With `use_regular_nms`, boxes kept at most of each class.
    pub detections_per_class: u32,
    /// Classes, without the background.
    pub num_classes: u32,
    /// 1: each class suppresses by itself; 0: all together, by each box's best class.
    pub use_regular_nms: u32,
    /// Boxes of lower scores are left out.
    pub nms_score_threshold: f32,
    /// A box that overlaps a better one by more is left out.
    pub nms_iou_threshold: f32,
    /// Divisor of the encoded horizontal offset.
    pub scale_x: f32,
    /// Divisor of the encoded vertical offset.
    pub scale_y: f32,
    /// Divisor of the encoded width.
    pub scale_w: f32,
    /// Divisor of the encoded height.
    pub scale_h: f32,
}

/// NonMaxSuppression.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnNonMaxSuppressionDescriptor {
    /// 1: boxes are [x centre, y centre, width, height]; 0: two corners, [y, x, y, x].
    pub center_point_box: u32,
}

/// NonMaxSuppressionPadded.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnNonMaxSuppressionPaddedDescriptor {
    /// Zero.
    pub reserved: u32,
}
