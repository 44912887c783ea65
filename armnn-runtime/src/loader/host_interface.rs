//! The interface that candidates are measured against.

use armnn_backend_api::{BackendVersion, sys};

/// The interface that candidates are measured against.
#[derive(Clone, Copy, Debug)]
pub struct HostInterface<'a> {
    /// Its version.
    pub version: BackendVersion,
    /// The layout hash of each minor of its major, by minor.
    pub layout_hashes: &'a [u64],
}

impl HostInterface<'static> {
    /// The interface of this library.
    pub const CURRENT: Self = Self {
        version: BackendVersion::CURRENT,
        layout_hashes: &sys::layout::LAYOUT_HASHES,
    };
}
