//! Stage `open`: loading a candidate into the process.

mod borrowed;
mod dependencies;
mod linker_cache;
pub(super) mod loaded_files;

use std::{
    ffi::OsString,
    fs::File,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use self::loaded_files::FileOfLibrary;
use super::{
    discover::Candidate,
    handle::Handle,
    images::{self, Image, MappedFile},
    inspect::{Inspection, linker_tables},
    known_files::{FileState, SOUND},
    verdict::{Code, Refusal, Stage},
};
use crate::{dynamic_backend::DynamicBackendError, dynamic_backend_utils::open_handle, forks};

/// So often can a file be replaced while all older versions of it are in use.
const MAX_VERSIONS: usize = 64;

/// Loads the candidate's file.
///
/// The dynamic linker goes by the path: where an older file of the same path is still in memory, it
/// silently gives that. So a new file in the place of one in use is loaded by another spelling of
/// its path, and both are in memory, each for those who use it.
///
/// # Errors
/// When the dynamic linker refuses it, a library that it needs is missing or would harm the process,
/// or the file was overwritten while it is in use. What was loaded is closed again.
///
/// # Safety
/// Loading runs the initialization code of the library and of everything that it needs.
pub unsafe fn open(candidate: &Candidate, inspection: &Inspection) -> Result<Handle, Refusal> {
    if forks::LinkerCall::begin().is_none() {
        return Err(
            Refusal::new(Stage::Open, Code::OpenFailed, forks::LINKER_IS_LOST_TEXT)
                .with_hint("load backends before forking, or start another program instead"),
        );
    }
    let before = images::loaded();
    if let Some(harmful) =
        dependencies::find_harmful(&candidate.canonical_path, inspection, &before)
    {
        return Err(harmful_refusal(&harmful));
    }
    let file = candidate.open()?;
    check_tables(&file)?;
    let path = unused_path(&candidate.canonical_path, &file, &before);
    // SAFETY: the caller takes the responsibility for the library's code.
    let mut handle = unsafe { open_handle(&path) }
        .map_err(|error| open_refusal(candidate, inspection, &before, error))?;
    handle.set_path(&candidate.canonical_path);
    let file_now = FileOfLibrary::new(&candidate.canonical_path, &file);
    if let (Some(image), Some(file_now)) = (handle.image(), &file_now) {
        // One that has just been mapped comes from the file as it is.
        if before.contains(image) {
            refuse_stale_image(&file, image)?;
            loaded_files::refuse_overwritten(file_now, image)?;
        } else {
            loaded_files::remember(file_now, image);
        }
    }
    handle.set_file(file_now);
    handle.set_borrowed(borrowed::find(&candidate.canonical_path, inspection));
    Ok(handle)
}

/// The path itself, or a spelling of it under which no other file is in memory.
fn unused_path(path: &Path, file: &File, loaded: &[Image]) -> PathBuf {
    (0..MAX_VERSIONS)
        .map(|n| spelling(path, n))
        .find(|spelling| {
            // Byte for byte, as the dynamic linker compares.
            let image = loaded
                .iter()
                .find(|image| image.path.as_os_str() == spelling.as_os_str());
            image.is_none_or(|image| !is_other_file(file, image))
        })
        .unwrap_or_else(|| path.to_owned())
}

/// `directory/name` with `n` times `./` between them.
fn spelling(path: &Path, n: usize) -> PathBuf {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    let mut bytes = directory.as_os_str().as_bytes().to_vec();
    if !bytes.ends_with(b"/") {
        bytes.push(b'/');
    }
    bytes.extend_from_slice(&b"./".repeat(n));
    bytes.extend_from_slice(name.as_bytes());
    OsString::from_vec(bytes).into()
}

fn is_other_file(file: &File, image: &Image) -> bool {
    matches!(
        (MappedFile::at(image.dynamic), MappedFile::of(file)),
        (Some(mapped), Some(expected)) if mapped != expected
    )
}

fn harmful_refusal(harmful: &dependencies::Harmful) -> Refusal {
    Refusal::new(
        Stage::Open,
        Code::OpenFailed,
        format!(
            "{}, needed by {}, would harm the process: {}",
            harmful.path.display(),
            harmful.needed_by.display(),
            harmful.reason
        ),
    )
    .with_hint(format!(
        "install {} again, or build it without an executable stack",
        harmful.path.display()
    ))
}

/// Refuses a file whose tables the dynamic linker cannot follow.
fn check_tables(file: &File) -> Result<(), Refusal> {
    let state = FileState::of_file(file);
    if state.is_some_and(|state| SOUND.contains(state)) {
        return Ok(());
    }
    linker_tables::check(file).map_err(|what| damaged_refusal(&what))?;
    if let Some(state) = state {
        SOUND.insert(state);
    }
    Ok(())
}

fn damaged_refusal(what: &str) -> Refusal {
    Refusal::new(
        Stage::Open,
        Code::OpenFailed,
        format!("the shared object is damaged, and loading it would end the process: its {what}"),
    )
    .with_hint("build or install the file again")
}

fn open_refusal(
    candidate: &Candidate,
    inspection: &Inspection,
    loaded: &[Image],
    error: DynamicBackendError,
) -> Refusal {
    let reason = match error {
        DynamicBackendError::OpenFailed { reason, .. } => reason,
        other => other.to_string(),
    };
    match dependencies::find_missing(&candidate.canonical_path, inspection, loaded) {
        // The search knows less than the dynamic linker (the paths that the program was linked
        // with, for instance), so it only counts where the linker speaks of the same library.
        Some(missing) if reason.contains(&missing.name) => Refusal::new(
            Stage::Open,
            Code::MissingDependency,
            format!(
                "{}, needed by {}, is not to be found; it was sought in the dynamic linker's cache \
                 and in {}; the dynamic linker says: {reason}",
                missing.name,
                missing.needed_by.display(),
                list(&missing.sought_in)
            ),
        )
        .with_hint(format!(
            "install {}, or link the backend with -Wl,-rpath,'$ORIGIN' and put it beside the \
             backend",
            missing.name
        )),
        _ => Refusal::new(
            Stage::Open,
            Code::OpenFailed,
            format!("the dynamic linker says: {reason}"),
        )
        .with_hint("build the backend with -Wl,-z,defs, which reports undefined symbols"),
    }
}

/// The first of some directories, and how many more there are.
fn list(directories: &[PathBuf]) -> String {
    const MOST: usize = 12;
    let mut texts: Vec<String> = directories
        .iter()
        .take(MOST)
        .map(|directory| directory.display().to_string())
        .collect();
    if let Some(more) = directories.len().checked_sub(MOST).filter(|n| *n > 0) {
        texts.push(format!("{more} more"));
    }
    texts.join(", ")
}

/// Someone else may have loaded the older file in the meantime, or there are too many versions.
fn refuse_stale_image(file: &File, image: &Image) -> Result<(), Refusal> {
    if !is_other_file(file, image) {
        return Ok(());
    }
    Err(Refusal::new(
        Stage::Open,
        Code::OpenFailed,
        "an older version of this file is still in memory, and the dynamic linker would use that \
         instead",
    )
    .with_hint("restart the process, or install the new version under a versioned name"))
}
