//! The contract between the runtime and a compute backend.

mod backend_id;
pub mod sys;
mod version;

pub use backend_id::{BackendId, BackendIdError};
pub use version::BackendVersion;

/// The compiler and target this crate was built with, for the backend note.
pub const TOOLCHAIN: &str = env!("ARMNN_TOOLCHAIN");
