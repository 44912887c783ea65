//! Loaded networks, and what each execution of one needs.

mod asynchronous;
mod derived;
mod execution_state;
mod graph;
mod graph_state;
mod load_options;
mod loaded_network;
mod operations;
mod profile;
mod segment;
mod segment_state;
mod step_host;
mod step_runner;
mod variables;

pub(crate) use asynchronous::AsyncExecutor;
pub use asynchronous::{AsyncExecution, OutcomeTaken};
pub(crate) use derived::Derived;
pub use execution_state::{ExecutionState, InterruptHandle};
pub use load_options::LoadOptions;
pub use loaded_network::{LoadedNetwork, StepReport};
pub use profile::{Profile, ProfileEvent};
pub use segment_state::StepTime;
pub(crate) use step_runner::{StepRunner, StepTensors, TensorAddress};
