//! The wire interface: the C ABI between the runtime and a backend.

pub mod layout;
mod note;

pub use note::*;

/// Major version of the interface.
pub const ARMNN_API_MAJOR: u32 = 1;
/// Minor version of the interface.
pub const ARMNN_API_MINOR: u32 = 0;
