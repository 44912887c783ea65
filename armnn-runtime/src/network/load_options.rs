//! How a network is loaded.

use std::path::PathBuf;

use armnn_backend_api::BackendId;

use crate::options::BackendOption;

/// How a network is loaded.
///
/// Of Arm NN's network properties, three have no counterpart because nothing has to be chosen:
/// asynchronous execution ([`execute_async`](super::ExecutionState::execute_async) is always there,
/// as every caller has an execution state), the memory source of inputs and outputs
/// ([`LoadedNetwork::execute`](super::LoadedNetwork::execute) uses the caller's memory where it can),
/// and external memory management (tensors are in one arena for each execution state, handles of
/// backends aside). What Arm NN writes about a network's structure is
/// [`report`](super::LoadedNetwork::report).
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
    /// Where backends may keep what they compile, for the next time that the network is loaded: a
    /// directory of the application's own, which is made if it is not there. Backends trust what
    /// they find there, so nobody else should be able to write to it. What is damaged in it is
    /// ignored. `None`: nothing is kept.
    #[doc(alias = "CachedNetworkFilePath")]
    pub cache_directory: Option<PathBuf>,
    /// What the random numbers of models follow from, where the model fixes no seed itself: every
    /// execution state then gives the same numbers, from its first execution on. `None`: they differ
    /// in each.
    pub random_seed: Option<u64>,
    /// Whether steps are timed and backends record theirs from the start; as
    /// [`set_profiling`](super::ExecutionState::set_profiling) for every execution state.
    #[doc(alias = "m_ProfilingEnabled")]
    pub profiling: bool,
}
