//! Taking every candidate through the stages.

#[cfg(target_os = "linux")]
mod trial;

use std::collections::BTreeSet;

use armnn_backend_api::BackendId;

use super::{
    HostInterface,
    discover::{self, Found},
    verdict::{Refusal, Verdict},
};
use crate::dynamic_backend::DynamicBackend;

/// Which backends are loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// All.
    #[default]
    All,
    /// Those with one of these ids.
    Only(BTreeSet<BackendId>),
    /// Those with none of these ids.
    Except(BTreeSet<BackendId>),
    /// None; nothing is searched.
    Disabled,
}

impl Selection {
    /// Whether a backend with this id is wanted.
    pub fn admits(&self, id: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.contains(id),
            Self::Except(ids) => !ids.contains(id),
            Self::Disabled => false,
        }
    }
}

/// What is to be loaded, and from where.
#[derive(Clone, Debug)]
pub struct Request<'a, P> {
    /// The directories to search, in order.
    pub directories: &'a [P],
    /// Which backends are wanted.
    pub selection: &'a Selection,
    /// Ids that are taken already, by backends that are linked in.
    pub taken: &'a BTreeSet<BackendId>,
    /// The interface that candidates are measured against.
    pub host: HostInterface<'a>,
}

/// What came of it.
#[derive(Debug)]
pub struct Loaded<T> {
    /// What the caller made of each backend that came through, in the order of loading.
    pub backends: Vec<T>,
    /// One verdict per candidate, in scan order.
    pub verdicts: Vec<Verdict>,
}

/// What the caller made of a backend in the stages `create` and `probe`.
#[derive(Debug)]
pub enum Created<T> {
    /// It is in use.
    Usable(T),
    /// It is there, but its hardware is missing. It holds its id all the same.
    Unavailable(T, Refusal),
}

/// Looks for backends, and takes each candidate through the stages `discover` to `identify`, one
/// after another, so that one that fails shadows nobody. `create` then makes an instance, validates
/// its table and initializes it; the stages `create` and `probe` are its own.
///
/// Every verdict is logged.
///
/// # Safety
/// This runs the code of every library that passes the inspection.
pub unsafe fn load<P, T>(
    request: &Request<'_, P>,
    create: impl FnMut(DynamicBackend) -> Result<Created<T>, Refusal>,
) -> Loaded<T>
where
    P: AsRef<std::path::Path>,
{
    let found = match request.selection {
        Selection::Disabled => Vec::new(),
        _ => discover::discover(request.directories),
    };
    let mut candidates = Vec::new();
    let mut verdicts: Vec<Option<Verdict>> = Vec::new();
    for (place, found) in found.into_iter().enumerate() {
        verdicts.push(match found {
            Found::Candidate(candidate) => {
                candidates.push((place, candidate));
                None
            }
            Found::Refused(verdict) => {
                verdict.log();
                Some(*verdict)
            }
        });
    }
    #[cfg(target_os = "linux")]
    // SAFETY: the caller takes the responsibility for the libraries' code.
    let backends = unsafe { trial::try_all(request, candidates, create, &mut verdicts) };
    #[cfg(not(target_os = "linux"))]
    // Nothing is a candidate here.
    let backends = {
        let _ = (candidates, create);
        Vec::new()
    };
    Loaded {
        backends,
        verdicts: verdicts.into_iter().flatten().collect(),
    }
}
