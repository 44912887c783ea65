//! Loaded networks, and what each execution of one needs.

mod derived;
mod execution_state;
mod loaded_network;
mod step_runner;

pub(crate) use derived::Derived;
pub use execution_state::{ExecutionState, StepTime};
pub use loaded_network::{LoadOptions, LoadedNetwork, StepReport};
pub use step_runner::ProfileEvent;
pub(crate) use step_runner::{StepRunner, TensorAddress};
