//! Why a node is not lowered.

use armnn_network::NetworkError;

use crate::error::Fault;

/// What the lowering of a node returns.
pub(super) type Result<T = (), E = Problem> = std::result::Result<T, E>;

/// Why a node is not lowered.
#[derive(Debug)]
pub(super) enum Problem {
    /// The file contradicts its format or itself: nothing else of it is worth reporting.
    Malformed(Fault),
    /// The node is sound, but cannot be expressed. Says what it is, and what would do.
    Unsupported(String),
    /// There is no layer for the operator, or none for this use of it.
    UnknownOperator,
    /// The builder of the network refuses the layer.
    Network(Box<NetworkError>),
    /// An input comes from a node that was refused; that one is reported.
    Unavailable,
}

impl Problem {
    pub(super) fn malformed(problem: impl Into<String>) -> Self {
        Self::Malformed(Fault::new(problem))
    }

    pub(super) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self::Malformed(fault)
    }
}

impl From<NetworkError> for Problem {
    fn from(error: NetworkError) -> Self {
        Self::Network(Box::new(error))
    }
}
