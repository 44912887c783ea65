//! Optimizes, loads and executes networks on backends that are linked in or loaded at run time.

mod aligned_buffer;
mod backend;
pub mod backend_registry;
mod blob_cache;
pub mod dynamic_backend;
pub mod dynamic_backend_utils;
mod error;
#[cfg(target_os = "linux")]
mod fault_safe_read;
mod float_environment;
mod forks;
mod layer_support;
pub mod loader;
mod network;
mod optimizer;
mod options;
mod plan;
mod runtime;
mod tensor;
mod thread_pool;
mod value;

pub use armnn_backend_api::{
    BackendError, BackendId, BackendKind, BackendVersion, Capabilities, DataType, LayerType,
    Quantization, Shape, StaticBackend, TensorInfo,
};
pub use armnn_network::{
    LayerId, Network, NetworkBuilder, RewriteSummary, RewrittenLayer, TensorId,
};
pub use backend::Device;
pub use backend_registry::{BackendRegistry, Origin};
pub use dynamic_backend::DynamicBackend;
pub use error::{
    CreateError, ExecuteError, InputError, LoadError, OptimizeError, RunError, ShutdownError,
    TensorError,
};
pub use layer_support::LayerSupport;
pub use loader::load::Selection;
pub use network::{
    AsyncExecution, ExecutionState, InterruptHandle, LoadOptions, LoadedNetwork, OutcomeTaken,
    Profile, ProfileEvent, StepReport, StepTime,
};
pub use optimizer::{
    AssignmentReport, Choice, GatheredRefusal, LayerAssignment, LayerPattern, LayerPatternError,
    OptimizedNetwork, OptimizerOptions, Pass, PassError, PassReport, PassSelection, Refusal,
};
pub use options::{BackendOption, BackendOptionValue};
pub use runtime::{BackendInfo, BackendReport, CreationOptions, Runtime, UnloadReport};
pub use tensor::HostTensor;
pub use value::{StringTensor, Value};
