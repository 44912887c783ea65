//! Why an operator is not lowered.

use armnn_network::NetworkError;

use crate::error::{Fault, TfliteParserError};
use crate::model::ExternalProblem;

/// What the lowering of an operator returns.
pub(super) type Result<T = (), E = Problem> = std::result::Result<T, E>;

/// Why an operator is not lowered.
#[derive(Debug)]
pub(super) enum Problem {
    /// The file contradicts its format or itself: nothing else of it is worth reporting.
    Malformed(Fault),
    /// The operator is sound, but cannot be expressed. Says what it is, and what would do.
    Unsupported(String),
    /// The builder of the network refuses the layer.
    Network(Box<NetworkError>),
    /// An input comes from an operator that was refused; that one is reported.
    Unavailable,
    /// Lowering a body has ended the lowering of the model.
    Fatal(Box<TfliteParserError>),
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

impl From<planus::Error> for Problem {
    fn from(error: planus::Error) -> Self {
        Self::Malformed(error.into())
    }
}

impl From<NetworkError> for Problem {
    fn from(error: NetworkError) -> Self {
        Self::Network(Box::new(error))
    }
}

impl From<ExternalProblem> for Problem {
    fn from(problem: ExternalProblem) -> Self {
        match problem {
            ExternalProblem::Damaged(fault) => Self::Malformed(fault),
            ExternalProblem::Unsupported(what) => Self::Unsupported(what),
            ExternalProblem::File(error) => error.into(),
        }
    }
}

impl From<TfliteParserError> for Problem {
    fn from(error: TfliteParserError) -> Self {
        Self::Fatal(Box::new(error))
    }
}
