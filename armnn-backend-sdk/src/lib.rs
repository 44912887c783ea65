//! What a backend author needs in one crate.
//!
//! Implement [`IBackendInternal`], and write one line in a crate of type `cdylib`:
//! [`declare_backend!`].

pub use armnn_backend_api::*;
