//! How a network is loaded.

use armnn_backend_api::BackendId;

use crate::options::BackendOption;

/// How a network is loaded.
#[derive(Clone, Debug, Default)]
#[doc(alias = "INetworkProperties")]
pub struct LoadOptions {
    /// Options for backends, for this network alone.
    pub backend_options: Vec<(BackendId, BackendOption)>,
    /// The most bytes that the tensors of one execution state may take; more is an error.
    /// `None`: the physical memory of the machine.
    pub memory_limit: Option<u64>,
    /// For how many input shapes the network stays compiled, besides those of execution states that
    /// exist; the shapes used last stay. `None`: 64.
    pub max_plans: Option<usize>,
    /// Whether steps are timed and backends record theirs from the start; as
    /// [`set_profiling`](super::ExecutionState::set_profiling) for every execution state.
    #[doc(alias = "m_ProfilingEnabled")]
    pub profiling: bool,
}
