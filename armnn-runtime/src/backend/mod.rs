//! The host's side of the backend interface: one wrapper for each kind of backend object.
//!
//! A wrapper checks its object's table once, keeps what the object depends on alive, guards every
//! call with a poison of its own, and destroys the object in the right order.

mod error_buffer;
mod execution;
mod host_api;
mod instance;
mod model_context;
mod optimization_views;
mod workload;

pub(crate) use error_buffer::ErrorBuffer;
pub(crate) use execution::{ExecutionHandle, TensorHandleRef};
pub(crate) use host_api::HOST_API;
pub use instance::Device;
pub(crate) use instance::{BackendInstance, InstanceError, InstanceErrorKind};
pub(crate) use model_context::ModelContextHandle;
pub(crate) use optimization_views::{Claim, Claims};
pub(crate) use workload::WorkloadHandle;
