//! A backend that was loaded from a shared object.

use std::{path::PathBuf, sync::OnceLock};

use armnn_backend_api::{BackendId, BackendVersion};

#[cfg(target_os = "linux")]
use crate::loader::{bind::EntryPoints, identify::Identity, inspect::BackendNote};
use crate::{
    backend_registry::FactoryFunction,
    loader::{Handle, KeptReason, Refusal, UnloadOutcome},
};

/// Why a shared object cannot be used as a backend.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DynamicBackendError {
    /// The path has no characters.
    #[error("cannot load a shared object without a path")]
    EmptyPath,
    /// The dynamic linker refuses the file.
    #[error("cannot load the shared object {}: {reason}", path.display())]
    OpenFailed {
        /// The file.
        path: PathBuf,
        /// The dynamic linker's own words.
        reason: String,
    },
    /// There is no handle to look in.
    #[error("cannot look up '{symbol}' without a handle; open the shared object first")]
    NoHandle {
        /// What was to be looked up.
        symbol: String,
    },
    /// The name of the symbol has no characters.
    #[error("cannot look up a symbol without a name in {}", path.display())]
    EmptySymbolName {
        /// The library.
        path: PathBuf,
    },
    /// The library does not export the symbol.
    #[error("{} does not export '{symbol}': {reason}", path.display())]
    MissingSymbol {
        /// The library.
        path: PathBuf,
        /// What was looked up.
        symbol: String,
        /// The dynamic linker's own words.
        reason: String,
    },
    /// A dynamic backend needs a library.
    #[error("cannot make a dynamic backend without a handle; open the shared object first")]
    NullHandle,
    /// The library is no backend that can be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Nothing can be loaded on this system, or by this build.
    #[error(
        "dynamic backends can be loaded on Linux only, and by a runtime that was built with the \
         feature `dynamic-backends`; link the backend instead"
    )]
    UnsupportedPlatform,
}

/// A backend that was loaded from a shared object: the library's handle, the three functions, and
/// what they answered. Dropping it closes the library, unless that must
/// [stay in memory](Self::keep).
///
/// Instances of the backend, and everything that they made, must be gone before that; holding the
/// `DynamicBackend` in an [`Arc`](std::sync::Arc) beside each of them sees to it.
#[derive(Debug)]
pub struct DynamicBackend {
    handle: Option<Handle>,
    #[cfg(target_os = "linux")]
    functions: EntryPoints,
    backend_id: BackendId,
    version: BackendVersion,
    kept: OnceLock<KeptReason>,
}

impl DynamicBackend {
    /// Takes over `handle`, looks up the three functions, and asks for version and id. The version
    /// must be compatible with `interface`.
    ///
    /// # Errors
    /// When there is no handle, a function is missing, the version is not compatible, or the id is
    /// none. The library is closed then.
    ///
    /// # Safety
    /// The library's functions, where it has them, must have the signatures of the interface.
    pub unsafe fn new(
        handle: Option<Handle>,
        interface: BackendVersion,
    ) -> Result<Self, DynamicBackendError> {
        let handle = handle.ok_or(DynamicBackendError::NullHandle)?;
        #[cfg(target_os = "linux")]
        {
            // SAFETY: the caller vouches for the library.
            Ok(unsafe { Self::identify(handle, interface, None)? })
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (handle, interface);
            Err(DynamicBackendError::UnsupportedPlatform)
        }
    }

    /// The stages `bind` and `identify`.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    #[cfg(target_os = "linux")]
    pub(crate) unsafe fn identify(
        handle: Handle,
        interface: BackendVersion,
        note: Option<&BackendNote>,
    ) -> Result<Self, Refusal> {
        let functions = EntryPoints::bind(&handle)?;
        // SAFETY: the handle is open, and the caller vouches for the signatures.
        let identity = unsafe { Identity::ask(&functions, interface, note)? };
        Ok(Self {
            handle: Some(handle),
            functions,
            backend_id: identity.backend_id,
            version: identity.version,
            kept: OnceLock::new(),
        })
    }

    /// The backend's id.
    #[doc(alias = "GetBackendId")]
    pub fn backend_id(&self) -> &BackendId {
        &self.backend_id
    }

    /// The version of the interface that the backend was built against.
    #[doc(alias = "GetBackendVersion")]
    pub fn version(&self) -> BackendVersion {
        self.version
    }

    /// What the library was given in the place of libraries that it brings along, in words.
    #[cfg(target_os = "linux")]
    pub(crate) fn borrowed_libraries(&self) -> Vec<String> {
        let handle = self.handle.as_ref();
        handle.map_or_else(Vec::new, |handle| handle.borrowed().to_vec())
    }

    /// The function that makes instances; `None` once the library is closed. It may be called for
    /// as long as this `DynamicBackend` is loaded.
    #[doc(alias = "GetFactoryFunction")]
    pub fn factory_function(&self) -> Option<FactoryFunction> {
        #[cfg(target_os = "linux")]
        {
            self.is_loaded().then_some(self.functions.factory)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Whether the library is open.
    #[doc(alias = "IsLoaded")]
    pub fn is_loaded(&self) -> bool {
        self.handle.is_some()
    }

    /// The library's handle; `None` once it is closed or given away.
    #[doc(alias = "Get")]
    pub fn handle(&self) -> Option<&Handle> {
        self.handle.as_ref()
    }

    /// Keeps the library in memory for the rest of the process: it is not closed any more. The
    /// first reason stays.
    pub fn keep(&self, reason: KeptReason) {
        let _ = self.kept.set(reason);
    }

    /// Closes the library, unless it is to be kept, and tells what became of it; `None` when it was
    /// closed or given away before.
    #[doc(alias = "Close")]
    pub fn close(&mut self) -> Option<UnloadOutcome> {
        match self.kept.get() {
            None => crate::dynamic_backend_utils::close_handle(self.handle.take()),
            Some(reason) => {
                let handle = self.handle.take()?;
                let outcome = UnloadOutcome::Kept(reason.clone());
                log::warn!("shared object {}: {outcome}", handle.path().display());
                std::mem::forget(handle);
                Some(outcome)
            }
        }
    }

    /// Gives the handle away without closing the library; `None` when it was closed or given away
    /// before.
    #[doc(alias = "Release")]
    pub fn release(&mut self) -> Option<Handle> {
        self.handle.take()
    }
}

impl Drop for DynamicBackend {
    fn drop(&mut self) {
        self.close();
    }
}
