//! What there is to be found out.

use std::{collections::BTreeMap, path::PathBuf};

use armnn_runtime::{
    BackendReport, BackendVersion, CreateError, DataType, LayerSupport, Origin, Runtime,
    loader::{
        Code, Status, Verdict,
        discover::BackendFileName,
        paths::{PathSource, PathStatus},
    },
};
use serde::Serialize;

use crate::{
    backends::list::{CandidateEntry, PathEntry},
    runtime_options::{BackendOptions, creation_options},
};

/// Everything that bears on which backends are used.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Diagnosis {
    pub(super) api_version: String,
    pub(super) paths: Vec<SearchedPath>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) backends: Vec<Backend>,
    /// Usable backends in the order in which they are preferred when nobody says otherwise.
    pub(super) preference: Vec<String>,
    pub(super) usable: usize,
}

/// A directory, and why it was looked at.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SearchedPath {
    #[serde(flatten)]
    pub(super) entry: PathEntry,
    pub(super) reason: &'static str,
    pub(super) hint: &'static str,
}

/// A file, what became of it, and what to do.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Candidate {
    #[serde(flatten)]
    pub(super) entry: CandidateEntry,
    /// For a file whose name does not follow the scheme.
    pub(super) nearest_name: Option<String>,
    /// What the backend's version and this interface's have to do with each other.
    pub(super) version_meaning: Option<String>,
    /// The fields that differ, for a backend that was built with another layout.
    pub(super) layout_difference: Option<String>,
    /// What loading it changed for the whole process.
    pub(super) process_changes: Vec<String>,
    /// Libraries of others that it was given in the place of its own.
    pub(super) borrowed_libraries: Vec<String>,
}

/// A backend that came through.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Backend {
    pub(super) id: String,
    /// The file, or nothing for one that is linked in.
    pub(super) file: Option<String>,
    pub(super) kind: String,
    pub(super) api_version: String,
    pub(super) version_meaning: String,
    pub(super) hardware: Hardware,
    /// By the name of the layer: the types of elements that it takes.
    pub(super) layers: BTreeMap<String, Vec<String>>,
    /// By the name of a layer that it takes with no type of element: why.
    pub(super) refused_layers: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Hardware {
    pub(super) found: bool,
    pub(super) devices: Vec<String>,
    /// Why none was found.
    pub(super) reason: Option<String>,
}

impl Diagnosis {
    pub(super) fn new(
        directories: &[PathBuf],
        backend_options: &BackendOptions,
    ) -> anyhow::Result<Self> {
        let options = creation_options(directories, backend_options)?;
        match Runtime::create(options) {
            Ok(runtime) => {
                let ids = runtime.backend_registry().backend_ids();
                let backends: Vec<Backend> = ids
                    .iter()
                    .filter_map(|id| Backend::new(&runtime, id))
                    .collect();
                let report = runtime.backend_report();
                let mut diagnosis = Self::of_report(&report);
                diagnosis.preference = preference(&report, &backends);
                diagnosis.usable = diagnosis.preference.len();
                diagnosis.backends = backends;
                Ok(diagnosis)
            }
            Err(CreateError::NoBackends {
                paths,
                verdicts,
                failed_static,
            }) => {
                let report = BackendReport {
                    paths,
                    candidates: verdicts,
                    backends: Vec::new(),
                    failed_static,
                };
                Ok(Self::of_report(&report))
            }
            Err(error) => Err(anyhow::Error::new(error).context("the runtime cannot be made")),
        }
    }

    pub(super) fn of_report(report: &BackendReport) -> Self {
        let paths = report.paths.iter().map(|path| SearchedPath {
            entry: PathEntry::new(path),
            reason: match path.source {
                PathSource::Option => "named on the command line",
                PathSource::Environment => {
                    "named by ARMNN_DYNAMIC_BACKENDS_PATH, in place of the list compiled in"
                }
                _ => "of the list compiled in",
            },
            hint: match path.status {
                PathStatus::Ok => "",
                _ => "correct or create the directory; nothing stands in for one that is invalid",
            },
        });
        Self {
            api_version: BackendVersion::CURRENT.to_string(),
            paths: paths.collect(),
            candidates: report.candidates.iter().map(Candidate::new).collect(),
            backends: Vec::new(),
            preference: Vec::new(),
            usable: 0,
        }
    }
}

impl Candidate {
    fn new(verdict: &Verdict) -> Self {
        let nearest_name = match verdict.code {
            Some(Code::NameMismatch) => nearest_name(verdict),
            _ => None,
        };
        Self {
            entry: CandidateEntry::new(verdict),
            nearest_name,
            version_meaning: verdict.api_version.map(meaning_of_version),
            layout_difference: match verdict.code {
                Some(Code::LayoutMismatch) => Some(layout_difference(verdict)),
                _ => None,
            },
            process_changes: verdict.process_changes.clone(),
            borrowed_libraries: verdict.borrowed_libraries.clone(),
        }
    }

    /// Whether it is another name of a file that is in use.
    pub(super) fn is_of_loaded_family(&self, all: &[Self]) -> bool {
        self.entry.code == Some(Code::DuplicateFile.as_str())
            && all.iter().any(|other| {
                other.is_loaded() && other.entry.canonical_path == self.entry.canonical_path
            })
    }

    /// Whether it is in use.
    pub(super) fn is_loaded(&self) -> bool {
        self.entry.status == Status::Loaded.as_str()
    }
}

/// The valid name that is nearest to that of a file; named after the id that the file itself tells,
/// where it does.
fn nearest_name(verdict: &Verdict) -> Option<String> {
    let nearest = BackendFileName::nearest(verdict.path.file_name()?.as_encoded_bytes());
    let Some(id) = noted_id(verdict) else {
        return nearest;
    };
    let vendor = nearest
        .as_deref()
        .and_then(|name| name.split('_').next())
        .unwrap_or("Vendor");
    // A vendor that is the id itself is a guess that went wrong.
    let vendor = if vendor == id { "Vendor" } else { vendor };
    Some(format!("{vendor}_{id}_backend.so"))
}

#[cfg(target_os = "linux")]
fn noted_id(verdict: &Verdict) -> Option<String> {
    use armnn_runtime::loader::inspect::{HostInterface, inspect_path};
    let note = inspect_path(&verdict.path, HostInterface::CURRENT)
        .ok()?
        .note?;
    let id = note.backend_id.as_str();
    // Names of files have fewer characters than ids.
    let is_word = id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then(|| id.to_owned())
}

#[cfg(not(target_os = "linux"))]
fn noted_id(_: &Verdict) -> Option<String> {
    None
}

/// What a backend's version means to this interface.
pub(super) fn meaning_of_version(backend: BackendVersion) -> String {
    explain_versions(backend, BackendVersion::CURRENT)
}

fn explain_versions(backend: BackendVersion, host: BackendVersion) -> String {
    let pair = format!("built against interface {backend}, used through {host}");
    let meaning = if backend == host {
        "the very same".to_owned()
    } else if backend.major == host.major && backend.minor < host.minor {
        format!(
            "good: every interface {}.N goes on serving backends of earlier minors",
            host.major
        )
    } else if backend.major == host.major {
        "it may call what this interface does not have yet; use a newer runtime, or a build of the \
         backend for this one"
            .to_owned()
    } else if backend.major > host.major {
        "that is an entirely newer interface; use a newer runtime, or a build of the backend for \
         this one"
            .to_owned()
    } else {
        "that interface is no longer supported; use a newer backend".to_owned()
    };
    format!("{pair}: {meaning}")
}

#[cfg(all(target_os = "linux", feature = "layout-check"))]
fn layout_difference(verdict: &Verdict) -> String {
    super::layout::compare_in_child(&verdict.path)
}

#[cfg(not(all(target_os = "linux", feature = "layout-check")))]
fn layout_difference(_: &Verdict) -> String {
    "which field differs can be told by a build of this command with the feature layout-check, of a \
     backend that was itself built with it"
        .to_owned()
}

impl Backend {
    fn new(runtime: &Runtime, id: &armnn_runtime::BackendId) -> Option<Self> {
        let hardware = match runtime.probe(id) {
            Ok(devices) => Hardware {
                found: true,
                devices: devices.into_iter().map(|device| device.name).collect(),
                reason: None,
            },
            Err(error) => Hardware {
                found: false,
                devices: Vec::new(),
                reason: Some(error.to_string()),
            },
        };
        let support = runtime.layer_support(id).unwrap_or_default();
        let report = runtime.backend_report();
        let info = report.backends.iter().find(|info| info.id == *id)?;
        Some(Self {
            id: id.to_string(),
            file: match &info.origin {
                Origin::Dynamic(path) => Some(path.display().to_string()),
                _ => None,
            },
            kind: info.capabilities.kind.to_string(),
            api_version: info.version.to_string(),
            version_meaning: meaning_of_version(info.version),
            hardware,
            layers: support
                .iter()
                .filter(|layer| !layer.data_types.is_empty())
                .map(|layer| (layer.layer_type.to_string(), names(&layer.data_types)))
                .collect(),
            refused_layers: support.iter().filter_map(refused).collect(),
        })
    }
}

fn names(types: &[DataType]) -> Vec<String> {
    types.iter().map(ToString::to_string).collect()
}

fn refused(layer: &LayerSupport) -> Option<(String, String)> {
    let reason = layer.refusal.as_ref()?;
    layer
        .data_types
        .is_empty()
        .then(|| (layer.layer_type.to_string(), reason.clone()))
}

/// Usable backends as the optimizer orders them when no preference is given.
fn preference(report: &BackendReport, backends: &[Backend]) -> Vec<String> {
    use armnn_runtime::BackendKind;
    let mut usable: Vec<_> = report
        .backends
        .iter()
        .filter(|info| {
            let id = info.id.as_str();
            backends.iter().any(|b| b.id == id && b.hardware.found)
        })
        .collect();
    // Stable: within a kind, the order of registration.
    usable.sort_by_key(|info| match info.capabilities.kind {
        BackendKind::Accelerator => 0,
        BackendKind::Gpu => 1,
        BackendKind::Cpu => 2,
        _ => 3,
    });
    usable.iter().map(|info| info.id.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_versions_are_explained_as_in_the_design_note() {
        let explain = |backend: (u32, u32), host: (u32, u32)| {
            explain_versions(
                BackendVersion::new(backend.0, backend.1),
                BackendVersion::new(host.0, host.1),
            )
        };
        for (backend, host, words) in [
            ((2, 4), (2, 4), "the very same"),
            ((2, 1), (2, 4), "good: every interface 2.N"),
            ((2, 5), (2, 4), "does not have yet"),
            ((2, 4), (1, 0), "entirely newer"),
            ((2, 0), (3, 0), "no longer supported"),
        ] {
            let text = explain(backend, host);
            assert!(text.contains(words), "{text}");
            assert!(
                text.contains(&format!(
                    "{}.{}, used through {}.{}",
                    backend.0, backend.1, host.0, host.1
                )),
                "{text}"
            );
        }
    }
}
