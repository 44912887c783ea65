//! The functions that loading dynamic backends consists of. They have no state; the stages of the
//! [`loader`](crate::loader) call these very functions.

use std::path::{Path, PathBuf};

use armnn_backend_api::BackendVersion;

#[cfg(target_os = "linux")]
use crate::{
    dynamic_backend::DynamicBackend,
    loader::{
        Refusal,
        discover::Candidate,
        inspect::{HostInterface, Inspection},
        open,
    },
};
use crate::{
    dynamic_backend::DynamicBackendError,
    loader::{
        Handle, UnloadOutcome,
        discover::{self, Found},
        paths::{self, PathReport, PathSources, PathStatus},
    },
};

/// Which directories are to be searched, in order. One that cannot be is reported in the log and
/// in the answer; the usable ones are those with [`PathStatus::Ok`].
#[doc(alias = "GetBackendPaths")]
pub fn get_backend_paths(sources: &PathSources) -> Vec<PathReport> {
    let reports = sources.resolve();
    for report in &reports {
        if report.status != PathStatus::Ok {
            log::warn!(
                "dynamic backends path {:?} ({}): {}: {}",
                report.path,
                report.source,
                report.status,
                report.message
            );
        }
    }
    reports
}

/// Whether `path` can be searched for backends: an absolute path of a directory that can be read.
#[doc(alias = "IsPathValid")]
pub fn is_path_valid(path: &Path) -> bool {
    paths::check_directory(path).is_ok()
}

/// Whether a backend of version `backend` can be used through version `interface` of the interface.
#[doc(alias = "IsBackendCompatible")]
pub fn is_backend_compatible(backend: BackendVersion, interface: BackendVersion) -> bool {
    backend.is_compatible_with(interface)
}

/// Whether a candidate can be used, as far as its file tells without running any of its code.
#[doc(alias = "IsBackendSupported")]
#[cfg(target_os = "linux")]
pub fn is_backend_supported(inspection: &Inspection) -> bool {
    inspection.refusal().is_none()
}

/// The files in `directories` that can be backends by their names, by absolute path if the
/// directories are absolute: directory after directory, sorted by name in each, and each file once.
#[doc(alias = "GetSharedObjects")]
pub fn get_shared_objects<P: AsRef<Path>>(directories: &[P]) -> Vec<PathBuf> {
    discover::discover(directories)
        .into_iter()
        .filter_map(|found| match found {
            Found::Candidate(candidate) => Some(candidate.path),
            Found::Refused(_) => None,
        })
        .collect()
}

/// Loads the shared object at `path`. Every symbol is bound at once, so that a missing one is an
/// error here and not the end of the process later, and its symbols are not offered to other
/// libraries, so that two backends keep their functions of the same name apart.
///
/// # Errors
/// When the path is empty, the dynamic linker refuses the file, in its own words, or this library was
/// built without the feature `dynamic-backends`.
///
/// # Safety
/// Loading runs the initialization code of the library and of everything that it needs.
#[doc(alias = "OpenHandle")]
pub unsafe fn open_handle(path: &Path) -> Result<Handle, DynamicBackendError> {
    if path.as_os_str().is_empty() {
        return Err(DynamicBackendError::EmptyPath);
    }
    if cfg!(not(feature = "dynamic-backends")) {
        return Err(DynamicBackendError::UnsupportedPlatform);
    }
    #[cfg(target_os = "linux")]
    {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        let failed = |reason| DynamicBackendError::OpenFailed {
            path: path.to_owned(),
            reason,
        };
        let call = crate::forks::LinkerCall::begin()
            .ok_or_else(|| failed(crate::forks::LINKER_IS_LOST_TEXT.to_owned()))?;
        let _environment = crate::float_environment::FloatEnvironment::save();
        // SAFETY: the caller takes the responsibility for the library's initialization code.
        let opened = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        drop(call);
        opened
            .map(|library| Handle::new(path, library))
            .map_err(|error| failed(get_dl_error(&error)))
    }
    #[cfg(not(target_os = "linux"))]
    Err(DynamicBackendError::UnsupportedPlatform)
}

/// Looks up the function `symbol` in the library of `handle`.
///
/// # Errors
/// When there is no handle, the name is empty, or the library does not export it.
///
/// # Safety
/// `F` must be a function pointer type with the signature that the function has. The pointer must
/// not be called once the library is closed.
#[doc(alias = "GetEntryPoint")]
pub unsafe fn get_entry_point<F: Copy>(
    handle: Option<&Handle>,
    symbol: &str,
) -> Result<F, DynamicBackendError> {
    let handle = handle.ok_or_else(|| DynamicBackendError::NoHandle {
        symbol: symbol.to_owned(),
    })?;
    if symbol.is_empty() {
        return Err(DynamicBackendError::EmptySymbolName {
            path: handle.path().to_owned(),
        });
    }
    let missing = |reason: String| DynamicBackendError::MissingSymbol {
        path: handle.path().to_owned(),
        symbol: symbol.to_owned(),
        reason,
    };
    #[cfg(target_os = "linux")]
    {
        const {
            assert!(
                size_of::<F>() == size_of::<fn()>(),
                "not a function pointer"
            )
        };
        let library = handle
            .library()
            .ok_or_else(|| missing("the library is closed".to_owned()))?;
        // SAFETY: looking a name up runs no code of the library, unless it chooses the function
        // at run time (IFUNC); the caller vouches for the signature.
        let address = unsafe { library.get::<F>(symbol) }
            .map_err(|error| missing(get_dl_error(&error)))?
            .into_raw();
        if address.is_null() {
            return Err(missing("its address is null".to_owned()));
        }
        // SAFETY: F is a function pointer type (the caller), of a pointer's size (see above), and
        // the address is not null.
        Ok(unsafe { std::mem::transmute_copy::<*mut std::ffi::c_void, F>(&address) })
    }
    #[cfg(not(target_os = "linux"))]
    Err(missing("nothing can be loaded on this system".to_owned()))
}

/// Closes the library of `handle` and tells what became of it. No handle, nothing to close.
#[doc(alias = "CloseHandle")]
pub fn close_handle(handle: Option<Handle>) -> Option<UnloadOutcome> {
    handle.map(Handle::close)
}

/// The dynamic linker's own words about a failure.
#[doc(alias = "GetDlError")]
pub fn get_dl_error(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// Takes a candidate that passed the inspection through the stages `open`, `bind` and `identify`.
///
/// # Errors
/// When a stage refuses it. What was loaded is closed again.
///
/// # Safety
/// This runs the library's own code.
#[doc(alias = "LoadDynamicBackend")]
#[cfg(target_os = "linux")]
pub unsafe fn load_dynamic_backend(
    candidate: &Candidate,
    inspection: &Inspection,
    host: HostInterface<'_>,
) -> Result<DynamicBackend, Refusal> {
    // SAFETY: the caller takes the responsibility for the library's code.
    unsafe {
        let handle = open::open(candidate, inspection)?;
        DynamicBackend::identify(handle, host.version, inspection.note.as_ref())
    }
}
