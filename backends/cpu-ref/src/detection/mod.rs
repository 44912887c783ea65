//! Layers of object detectors.

pub(crate) mod detection_post_process;
pub(crate) mod non_max_suppression;
pub(crate) mod roi_align;
