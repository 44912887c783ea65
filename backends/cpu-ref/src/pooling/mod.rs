//! Layers that reduce windows of an image or a volume.

pub(crate) mod max_pool_with_indices;
pub(crate) mod pooling2d;
pub(crate) mod pooling3d;
