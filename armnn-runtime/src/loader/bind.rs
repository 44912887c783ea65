//! Stage `bind`: the three functions of a loaded library.

use super::verdict::{Code, Refusal, Stage};
use crate::{
    backend_registry::{BackendIdFunction, FactoryFunction, VersionFunction},
    dynamic_backend_utils::get_entry_point,
    loader::Handle,
};

/// The three functions that a backend exports. They may be called for as long as the library's
/// handle is open.
#[derive(Clone, Copy, Debug)]
pub struct EntryPoints {
    /// `GetBackendId`.
    pub backend_id: BackendIdFunction,
    /// `GetVersion`.
    pub version: VersionFunction,
    /// `BackendFactory`.
    pub factory: FactoryFunction,
}

impl EntryPoints {
    /// Looks the functions up.
    ///
    /// # Errors
    /// When one is missing.
    pub fn bind(handle: &Handle) -> Result<Self, Refusal> {
        let missing = |error: crate::dynamic_backend::DynamicBackendError| {
            Refusal::new(Stage::Bind, Code::MissingSymbol, error.to_string()).with_hint(
                "a backend exports GetBackendId, GetVersion and BackendFactory with C linkage",
            )
        };
        // SAFETY: these are the signatures that the interface gives the three names.
        unsafe {
            Ok(Self {
                backend_id: get_entry_point(Some(handle), "GetBackendId").map_err(missing)?,
                version: get_entry_point(Some(handle), "GetVersion").map_err(missing)?,
                factory: get_entry_point(Some(handle), "BackendFactory").map_err(missing)?,
            })
        }
    }
}
