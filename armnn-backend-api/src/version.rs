//! Versions of the backend interface.

use std::fmt;

/// A version of the backend interface: a major and a minor number.
///
/// A backend states the version it was built against; the host has one of its own. Within a major,
/// the interface only ever grows at the end, so a host can talk to every backend whose minor is
/// not above its own.
///
/// ```
/// use armnn_backend_api::BackendVersion;
/// let interface = BackendVersion::new(2, 4);
/// assert!(BackendVersion::new(2, 1).is_compatible_with(interface));
/// assert!(!BackendVersion::new(2, 5).is_compatible_with(interface)); // built against a later interface
/// assert!(!BackendVersion::new(3, 0).is_compatible_with(interface));
/// assert!(!BackendVersion::new(1, 4).is_compatible_with(interface));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackendVersion {
    /// Changes when backends of earlier versions can no longer be used.
    pub major: u32,
    /// Changes when something was added.
    pub minor: u32,
}

impl BackendVersion {
    /// The version of the interface that this crate defines.
    pub const CURRENT: Self = Self::new(crate::sys::ARMNN_API_MAJOR, crate::sys::ARMNN_API_MINOR);

    /// Makes a version.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Whether a backend of this version can be used through an `interface` of that version: the
    /// majors are equal, and the backend's minor is not above the interface's.
    pub const fn is_compatible_with(self, interface: Self) -> bool {
        self.major == interface.major && self.minor <= interface.minor
    }
}

impl fmt::Display for BackendVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
