//! Unloading: closing a library, and finding out whether it is gone.
//!
//! A backend is out of use once its handle is closed. Whether the dynamic linker also removes its
//! code from memory is another matter: several things keep a library mapped although `dlclose`
//! succeeds. So the outcome is looked up, never assumed, and nothing relies on a library being gone.

use std::fmt;

/// What became of a library that is no longer used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnloadOutcome {
    /// It is no longer in memory.
    Unmapped,
    /// It was closed, and something keeps it in memory.
    Pinned(PinCause),
    /// It was not closed.
    Kept(KeptReason),
}

/// What keeps a closed library in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PinCause {
    /// It asks never to be unloaded.
    NoDelete,
    /// It has symbols of which there may be only one per process.
    UniqueSymbols,
    /// Another runtime or another library uses it, or a thread still has to run destructors of its
    /// thread-local values, as every thread that Rust's standard library starts has. A plain thread of
    /// the system does not keep a library: it must be joined in `shutdown`, or the process ends when
    /// its code goes.
    StillUsed,
}

/// Why a library was not closed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeptReason {
    /// A call into it panicked, so that nobody knows what state it is in; the text is the panic's.
    Poisoned(String),
    /// Its shutdown failed, so that threads of it may still run; the text is its error.
    ShutdownFailed(String),
    /// This process was forked, and threads that are not in it work for the backend, or were in the
    /// dynamic linker: nothing of it is touched here.
    Forked,
    /// Its file was overwritten in place while it was loaded, so that nobody knows what its code is now:
    /// none of it is run.
    Overwritten,
    /// Something of it is in use; the text says what.
    InUse(String),
    /// Its owner asked for it to stay.
    Released,
    /// The dynamic linker refused; the text is its own.
    CloseFailed(String),
}

impl fmt::Display for UnloadOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmapped => f.write_str("unmapped"),
            Self::Pinned(cause) => write!(f, "closed, but still in memory: {cause}"),
            Self::Kept(reason) => write!(f, "kept: {reason}"),
        }
    }
}

impl fmt::Display for PinCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoDelete => "it is linked with -z nodelete",
            Self::UniqueSymbols => {
                "it has unique symbols (build C++ backends with -fno-gnu-unique)"
            }
            Self::StillUsed => {
                "another runtime or library uses it, or thread-local values of it wait for their \
                 destructors"
            }
        })
    }
}

impl fmt::Display for KeptReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisoned(message) => write!(f, "a call into it panicked: {message}"),
            Self::ShutdownFailed(message) => write!(f, "its shutdown failed: {message}"),
            Self::Forked => f.write_str(
                "threads that it would have to wait for are in the process that this one was forked from",
            ),
            Self::Overwritten => f.write_str(
                "its file was overwritten in place while it was loaded; start the process again, and \
                 install by renaming",
            ),
            Self::InUse(what) => write!(f, "{what} is still in use"),
            Self::Released => f.write_str("its owner asked for it to stay"),
            Self::CloseFailed(reason) => write!(f, "the dynamic linker cannot close it: {reason}"),
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::close;

#[cfg(target_os = "linux")]
mod linux {
    use std::{fs::File, os::unix::fs::OpenOptionsExt as _, path::Path};

    use libloading::os::unix::Library;

    use super::{KeptReason, PinCause, UnloadOutcome};
    use crate::loader::{
        images::{Image, MappedFile},
        inspect,
    };

    /// Closes `library` and finds out what became of its `image`.
    pub(in crate::loader) fn close(library: Library, image: Option<Image>) -> UnloadOutcome {
        let Some(call) = crate::forks::LinkerCall::begin() else {
            std::mem::forget(library);
            return UnloadOutcome::Kept(KeptReason::Forked);
        };
        let environment = crate::float_environment::FloatEnvironment::save();
        let closed = library.close();
        drop((environment, call));
        if let Err(error) = closed {
            return UnloadOutcome::Kept(KeptReason::CloseFailed(
                crate::dynamic_backend_utils::get_dl_error(&error),
            ));
        }
        match image {
            Some(image) if !image.is_mapped() => UnloadOutcome::Unmapped,
            image => {
                let file = image.as_ref().and_then(same_file);
                UnloadOutcome::Pinned(cause(file.as_ref()))
            }
        }
    }

    fn cause(file: Option<&File>) -> PinCause {
        let Some(file) = file else {
            return PinCause::StillUsed;
        };
        let flags = inspect::inspect_file(file, inspect::HostInterface::CURRENT).flags;
        if flags.no_delete {
            PinCause::NoDelete
        } else if inspect::has_unique_symbols(file) {
            PinCause::UniqueSymbols
        } else {
            PinCause::StillUsed
        }
    }

    /// The file of `image`, unless another has come into its place.
    fn same_file(image: &Image) -> Option<File> {
        let file = open(&image.path)?;
        let is_same = MappedFile::at(image.dynamic)? == MappedFile::of(&file)?;
        is_same.then_some(file)
    }

    fn open(path: &Path) -> Option<File> {
        File::options()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY)
            .open(path)
            .ok()
    }
}
