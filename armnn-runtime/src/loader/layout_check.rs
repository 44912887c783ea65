//! Which field of the interface a backend was built differently with (feature `layout-check`).
//!
//! The layout hash in the backend note decides whether a backend is used. This is for finding out
//! what is wrong with one that is not, and for checking those under development: a backend that was
//! itself built with `layout-check` exports the type layout of its interface, which is compared with
//! the one of this library, field by field.
//!
//! The comparison is `abi_stable`'s, with state of its own for each pair of types: the checker that
//! `abi_stable` offers to the public keeps references to the layouts for as long as the process
//! lives, and crashes once a library was closed. For the same reason the answer is plain text.

mod difference;

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use abi_stable::type_layout::TypeLayout;
use armnn_backend_api::{
    BackendVersion,
    layout_check::{LAYOUT_EXPORT, LayoutExport, TYPES},
    sys::{ARMNN_API_MAJOR, ARMNN_API_MINOR, ARMNN_NOTE_FLAG_LAYOUT_EXPORT},
};

use self::difference::differences;
use super::{Handle, HostInterface, Refusal, inspect::inspect_path};
use crate::{
    dynamic_backend::DynamicBackendError,
    dynamic_backend_utils::{get_entry_point, open_handle},
};

/// More types than an interface has; a bound for a number that a backend gives.
const MAX_TYPES: usize = 4096;

/// What keeps a backend's layout from being the one of this library, as far as that can be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutDifference {
    /// The file cannot be read.
    #[error("cannot compare the layout of {path}: {refusal}", path = path.display())]
    Unreadable {
        /// The backend.
        path: PathBuf,
        /// Why.
        refusal: Refusal,
    },
    /// It does not export its layout, like every backend that is shipped or not written in Rust.
    #[error(
        "{path} does not export its layout; build it with the feature `layout-check` of \
         armnn-backend-sdk to compare it field by field",
        path = path.display()
    )]
    NotExported {
        /// The backend.
        path: PathBuf,
    },
    /// It was built against another version of the interface, whose layout is not known here field
    /// by field.
    #[error(
        "{path} was built against version {version} of the interface, and this library has only \
         the layout of {host} field by field; the layout hash of its note has been compared",
        path = path.display(),
        host = BackendVersion::CURRENT
    )]
    OtherVersion {
        /// The backend.
        path: PathBuf,
        /// The version that it was built against.
        version: BackendVersion,
    },
    /// The dynamic linker refuses it.
    #[error("cannot compare the layout of {path}: the dynamic linker says: {reason}",
        path = path.display())]
    OpenFailed {
        /// The backend.
        path: PathBuf,
        /// The reason in the linker's words.
        reason: String,
    },
    /// The export is not what `declare_backend!` makes, or describes layouts in another way than
    /// this library does.
    #[error("cannot compare the layout of {path}: {reason}; build it again", path = path.display())]
    Unusable {
        /// The backend.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Fields differ.
    #[error(
        "{path} was built with another layout of interface {version}: {list}; build it against the \
         released interface of that version",
        path = path.display(),
        version = BackendVersion::CURRENT,
        list = join(differences)
    )]
    Fields {
        /// The backend.
        path: PathBuf,
        /// Which, in the order in which they are reached from `IBackendInternal`.
        differences: Vec<FieldDifference>,
    },
}

/// A field, an argument or a type that the two sides declare differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDifference {
    /// Where: `Type.field`, `Type.function(argument)`, `Type.function(returns)`, or `Type`.
    pub field: String,
    /// What differs, such as `u32 instead of usize`: the backend's side first.
    pub difference: String,
}

impl fmt::Display for FieldDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.difference)
    }
}

fn join(differences: &[FieldDifference]) -> String {
    let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

/// Compares the layout of the backend at `path` with the one of this library. A backend whose note
/// says that it exports no layout, or has another version, is not opened.
///
/// This opens files that [`inspect`](super::inspect) refuses, and reads what they export without
/// being able to check it: call it in a child process, and give that a deadline. The process may
/// crash or hang; it has no other effects.
///
/// # Errors
/// When the layouts differ, or cannot be compared.
///
/// # Safety
/// Opening runs the initialization code of the library and of everything that it needs, and
/// comparing runs functions that the library's layout names.
pub unsafe fn compare_layout(path: &Path) -> Result<(), LayoutDifference> {
    let inspection = inspect_path(path, HostInterface::CURRENT).map_err(|refusal| {
        LayoutDifference::Unreadable {
            path: path.to_owned(),
            refusal,
        }
    })?;
    let Some(note) = inspection
        .note
        .filter(|note| note.flags & ARMNN_NOTE_FLAG_LAYOUT_EXPORT != 0)
    else {
        return Err(LayoutDifference::NotExported {
            path: path.to_owned(),
        });
    };
    if note.api_version != BackendVersion::CURRENT {
        return Err(LayoutDifference::OtherVersion {
            path: path.to_owned(),
            version: note.api_version,
        });
    }
    // SAFETY: the caller takes the responsibility for the library's code.
    let handle = unsafe { open_handle(path) }.map_err(|error| LayoutDifference::OpenFailed {
        path: path.to_owned(),
        reason: match error {
            DynamicBackendError::OpenFailed { reason, .. } => reason,
            other => other.to_string(),
        },
    })?;
    // SAFETY: as above.
    unsafe { compare_loaded(&handle) }
}

/// Compares the layout of a library that is loaded already. Nothing of the answer refers to the
/// library, so that it may be closed.
///
/// # Errors
/// When the layouts differ, or cannot be compared.
///
/// # Safety
/// The library's export, if it has one of that name, must be what `declare_backend!` makes.
pub unsafe fn compare_loaded(handle: &Handle) -> Result<(), LayoutDifference> {
    let path = || handle.path().to_owned();
    let unusable = |reason: String| LayoutDifference::Unusable {
        path: path(),
        reason,
    };
    // SAFETY: a symbol's address is a pointer to what it stands for, here to data; it is not used
    // after this function, during which the handle is open.
    let export = unsafe { get_entry_point::<*const LayoutExport>(Some(handle), LAYOUT_EXPORT) }
        .map_err(|_| LayoutDifference::NotExported { path: path() })?;
    // SAFETY: the export is what the caller says it is.
    let found = unsafe { exported_types(export) }.map_err(|problem| match problem {
        Problem::OtherVersion(version) => LayoutDifference::OtherVersion {
            path: path(),
            version,
        },
        Problem::Unusable(reason) => unusable(reason),
    })?;
    // It is made of indexing and of functions of the library, and an invalid one panics.
    let compared = catch_unwind(AssertUnwindSafe(|| compare_types(TYPES, &found)));
    match compared {
        Err(_) => Err(unusable("its description of the layout is damaged".into())),
        Ok(differences) if differences.is_empty() => Ok(()),
        Ok(differences) => Err(LayoutDifference::Fields {
            path: path(),
            differences,
        }),
    }
}

enum Problem {
    OtherVersion(BackendVersion),
    Unusable(String),
}

/// The types of an export, which the caller must not use once the library is closed.
///
/// # Safety
/// If it is long enough, aligned and of this version, it is what `declare_backend!` makes.
unsafe fn exported_types(export: *const LayoutExport) -> Result<Vec<&'static TypeLayout>, Problem> {
    let unusable = |reason: &str| Problem::Unusable(format!("{LAYOUT_EXPORT} {reason}"));
    if export.is_null() || !export.is_aligned() {
        return Err(unusable("is not aligned"));
    }
    // SAFETY: it is aligned, and begins with its size in every version.
    let size = unsafe { (&raw const (*export).struct_size).read() };
    if size < size_of::<LayoutExport>() {
        return Err(unusable("is shorter than it can be"));
    }
    // SAFETY: it is long enough.
    let export = unsafe { &*export };
    let version = BackendVersion::new(export.api_major, export.api_minor);
    if version != BackendVersion::new(ARMNN_API_MAJOR, ARMNN_API_MINOR) {
        return Err(Problem::OtherVersion(version));
    }
    if !export.abi_header.is_valid() {
        return Err(unusable(
            "was made by a version of abi_stable that is not compatible with the one used here",
        ));
    }
    if export.types.is_null() || !export.types.is_aligned() || export.n_types > MAX_TYPES {
        return Err(unusable("has no usable list of types"));
    }
    let types = export.types.cast::<*const TypeLayout>();
    (0..export.n_types)
        .map(|index| {
            // SAFETY: the list has that many elements.
            let layout = unsafe { types.add(index).read() };
            if layout.is_null() || !layout.is_aligned() {
                return Err(unusable("has a type without layout"));
            }
            // SAFETY: the header says that it is a layout of the same version.
            Ok(unsafe { &*layout })
        })
        .collect()
}

/// Compares lists of types pairwise.
fn compare_types(
    expected: &'static [&'static TypeLayout],
    found: &[&'static TypeLayout],
) -> Vec<FieldDifference> {
    let mut all = Vec::new();
    for (expected, found) in expected.iter().zip(found) {
        all.extend(differences(expected, found));
    }
    if expected.len() != found.len() {
        all.push(FieldDifference {
            field: LAYOUT_EXPORT.to_owned(),
            difference: format!("{} types instead of {}", found.len(), expected.len()),
        });
    }
    all
}
