//! Layers that take an image or a volume at other places.

pub(crate) mod grid_sample;
pub(crate) mod interpolate;
pub(crate) mod resize;
