//! Stage `open`: loading a candidate into the process.

mod dependencies;
mod linker_cache;

use super::{
    discover::Candidate,
    handle::Handle,
    images::{self, Image, MappedFile},
    inspect::Inspection,
    verdict::{Code, Refusal, Stage},
};
use crate::{dynamic_backend::DynamicBackendError, dynamic_backend_utils::open_handle};

/// Loads the candidate's file.
///
/// # Errors
/// When the dynamic linker refuses it, a library that it needs is missing, or the dynamic linker
/// gives an older version of the file that is still in memory. What was loaded is closed again.
///
/// # Safety
/// Loading runs the initialization code of the library and of everything that it needs.
pub unsafe fn open(candidate: &Candidate, inspection: &Inspection) -> Result<Handle, Refusal> {
    let before = images::loaded();
    if let Some(harmful) = dependencies::find_harmful(&candidate.canonical_path, inspection, &before)
    {
        return Err(harmful_refusal(&harmful));
    }
    // SAFETY: the caller takes the responsibility for the library's code.
    let handle = unsafe { open_handle(&candidate.canonical_path) }
        .map_err(|error| open_refusal(candidate, inspection, &before, error))?;
    // One that has just been mapped comes from the file as it is.
    if let Some(image) = handle.image().filter(|image| before.contains(image)) {
        refuse_stale_image(candidate, image)?;
    }
    Ok(handle)
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
                "{}, needed by {}, is not to be found; the dynamic linker says: {reason}",
                missing.name,
                missing.needed_by.display()
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

/// The dynamic linker goes by the path: where an older file of the same path is still in memory, it
/// silently gives that.
fn refuse_stale_image(candidate: &Candidate, image: &Image) -> Result<(), Refusal> {
    let file = candidate.open()?;
    match (MappedFile::at(image.dynamic), MappedFile::of(&file)) {
        (Some(mapped), Some(expected)) if mapped != expected => Err(Refusal::new(
            Stage::Open,
            Code::OpenFailed,
            "an older version of this file is still in memory, and the dynamic linker would use \
             that instead",
        )
        .with_hint("restart the process, or install the new version under a versioned name")),
        _ => Ok(()),
    }
}
