//! `armnn backends list`: every candidate, with its verdict.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::bail;
use armnn_runtime::{
    BackendReport, BackendVersion, CreateError, Origin, Runtime,
    loader::{
        Code, Status, Verdict,
        paths::{PathReport, PathStatus},
    },
};
use clap::Args;
use serde::Serialize;

use crate::{
    args::Format,
    runtime_options::{BackendOptions, creation_options},
    terminal::{self, Style},
};

/// The arguments of `armnn backends list`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  armnn backends list -b ./backends
  armnn backends list --path /usr/lib/armnn/backends --format json

Backends are loaded, and asked whether their hardware is there. Exit code: 0 when at least one can
be used, otherwise 1.")]
pub struct Arguments {
    /// A directory of backends; repeatable
    #[arg(
        short = 'b',
        long = "dynamic-backends-path",
        visible_alias = "path",
        value_name = "DIR"
    )]
    pub dynamic_backends_paths: Vec<PathBuf>,

    /// What backends are asked for.
    #[command(flatten)]
    pub backend_options: BackendOptions,

    /// How the list is written to standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Lists backends.
///
/// # Errors
/// When none can be used, or an option for one is wrong.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let found = Found::new(arguments)?;
    match arguments.format {
        Format::Text => terminal::print(&found.render(Style::of_stdout()))?,
        Format::Json => terminal::print_json(&List::new(&found.report))?,
    }
    if found.usable == 0 {
        if found.report.paths.is_empty() {
            bail!("no directory was searched; name the one that holds the backends with -b DIR");
        }
        bail!("no backend can be used; see the list for the reasons");
    }
    Ok(ExitCode::SUCCESS)
}

/// What was found.
struct Found {
    report: BackendReport,
    /// The names of the devices of each backend of the report.
    devices: Vec<Result<Vec<String>, String>>,
    usable: usize,
}

impl Found {
    fn new(arguments: &Arguments) -> anyhow::Result<Self> {
        let directories = &arguments.dynamic_backends_paths;
        let options = creation_options(directories, &arguments.backend_options)?;
        match Runtime::create(options) {
            Ok(runtime) => Ok(Self::probe(&runtime)),
            Err(CreateError::NoBackends {
                paths,
                verdicts,
                failed_static,
            }) => Ok(Self {
                report: BackendReport {
                    paths,
                    candidates: verdicts,
                    backends: Vec::new(),
                    failed_static,
                },
                devices: Vec::new(),
                usable: 0,
            }),
            Err(error) => Err(anyhow::Error::new(error).context("the runtime cannot be made")),
        }
    }

    /// Asks every backend for its hardware.
    fn probe(runtime: &Runtime) -> Self {
        let ids = runtime.backend_registry().backend_ids();
        let probe = |id| match runtime.probe(id) {
            Ok(devices) => Ok(devices.into_iter().map(|device| device.name).collect()),
            Err(error) => Err(error.to_string()),
        };
        let devices: Vec<Result<Vec<String>, String>> = ids.iter().map(probe).collect();
        Self {
            report: runtime.backend_report(),
            usable: devices.iter().filter(|outcome| outcome.is_ok()).count(),
            devices,
        }
    }
}

/// The list as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct List {
    /// The version of the interface.
    pub api_version: String,
    /// The directories.
    pub paths: Vec<PathEntry>,
    /// The candidates, in the order in which they were tried.
    pub candidates: Vec<CandidateEntry>,
    /// Backends that are linked into the command and could not be used; left out where there are
    /// none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_static: Vec<FailedStaticEntry>,
}

/// A backend that is linked into the command and could not be used.
#[derive(Clone, Debug, Serialize)]
pub struct FailedStaticEntry {
    /// Its id.
    pub backend_id: String,
    /// Why.
    pub message: String,
}

/// A directory.
#[derive(Clone, Debug, Serialize)]
pub struct PathEntry {
    /// Its path.
    pub path: String,
    /// Who named it: `option`, `environment` or `compiled`.
    pub source: &'static str,
    /// `ok` or `path-invalid`.
    pub status: &'static str,
    /// What is wrong with it; may be empty.
    pub message: String,
}

/// A candidate.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateEntry {
    /// The file as it was found.
    pub path: String,
    /// The same file without symbolic links.
    pub canonical_path: Option<String>,
    /// What became of it.
    pub status: &'static str,
    /// The last stage that it entered.
    pub stage: &'static str,
    /// Why it is not in use.
    pub code: Option<&'static str>,
    /// What happened, in words.
    pub message: String,
    /// What to do about it; may be empty.
    pub hint: String,
    /// The backend's id.
    pub backend_id: Option<String>,
    /// The interface version that it was built against.
    pub api_version: Option<String>,
    /// Who made it, by the name of the file.
    pub vendor: Option<String>,
    /// What it is, by the name of the file.
    pub name: Option<String>,
}

impl List {
    fn new(report: &BackendReport) -> Self {
        Self {
            api_version: BackendVersion::CURRENT.to_string(),
            paths: report.paths.iter().map(PathEntry::new).collect(),
            candidates: report.candidates.iter().map(CandidateEntry::new).collect(),
            failed_static: report
                .failed_static
                .iter()
                .map(|(id, reason)| FailedStaticEntry {
                    backend_id: id.clone(),
                    message: reason.clone(),
                })
                .collect(),
        }
    }
}

impl PathEntry {
    pub(super) fn new(report: &PathReport) -> Self {
        Self {
            path: report.path.display().to_string(),
            source: report.source.as_str(),
            status: report.status.as_str(),
            message: report.message.clone(),
        }
    }
}

impl CandidateEntry {
    pub(super) fn new(verdict: &Verdict) -> Self {
        Self {
            path: verdict.path.display().to_string(),
            canonical_path: verdict
                .canonical_path
                .as_ref()
                .map(|p| p.display().to_string()),
            status: verdict.status.as_str(),
            stage: verdict.stage.as_str(),
            code: verdict.code.map(Code::as_str),
            message: verdict.message.clone(),
            hint: verdict.hint.clone(),
            backend_id: verdict.backend_id.as_ref().map(ToString::to_string),
            api_version: verdict.api_version.map(|version| version.to_string()),
            vendor: verdict.vendor.clone(),
            name: verdict.name.clone(),
        }
    }
}

impl Found {
    fn render(&self, style: Style) -> String {
        let mut text = String::new();
        // Writing to a `String` does not fail.
        let _ = self.write_text(&mut text, style);
        text
    }

    fn write_text(&self, out: &mut String, style: Style) -> std::fmt::Result {
        writeln!(
            out,
            "{} {}",
            style.heading("Backend interface"),
            BackendVersion::CURRENT
        )?;
        writeln!(out, "\n{}", style.heading("Directories"))?;
        for report in &self.report.paths {
            let path = printable(&report.path);
            match report.status {
                PathStatus::Ok => {
                    writeln!(
                        out,
                        "  {path}  {}",
                        style.faint(format_args!("({})", report.source))
                    )?;
                }
                _ => writeln!(
                    out,
                    "  {path}  {}: {}",
                    style.bad(report.status),
                    report.message
                )?,
            }
        }
        if self.report.paths.is_empty() {
            writeln!(out, "  none")?;
        }
        self.write_static(out, style)?;
        writeln!(out, "\n{}", style.heading("Candidates"))?;
        for verdict in &self.report.candidates {
            // A family of links is one backend, and listed with it.
            if self.first_of_family(verdict).is_none() {
                self.write_candidate(out, verdict, style)?;
            }
        }
        if self.report.candidates.is_empty() {
            writeln!(out, "  none")?;
        }
        let noun = if self.usable == 1 {
            "backend"
        } else {
            "backends"
        };
        writeln!(out, "\n{} usable {noun}", self.usable)
    }

    fn write_static(&self, out: &mut String, style: Style) -> std::fmt::Result {
        let backends = self.report.backends.iter().zip(&self.devices);
        let linked: Vec<_> = backends
            .filter(|(b, _)| b.origin == Origin::Static)
            .collect();
        if linked.is_empty() && self.report.failed_static.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", style.heading("Linked into this command"))?;
        for (backend, devices) in linked {
            match devices {
                Ok(_) => writeln!(out, "  {}  {}", style.good("loaded     "), backend.id)?,
                Err(reason) => {
                    let status = style.notable("unavailable");
                    writeln!(out, "  {status}  {}: {reason}", backend.id)?;
                }
            }
        }
        for (id, reason) in &self.report.failed_static {
            writeln!(out, "  {}  {id}: {reason}", style.bad("rejected   "))?;
        }
        Ok(())
    }

    fn write_candidate(
        &self,
        out: &mut String,
        verdict: &Verdict,
        style: Style,
    ) -> std::fmt::Result {
        let status = format!("{:11}", verdict.status);
        let status = match verdict.status {
            Status::Loaded => style.good(status),
            Status::Unavailable | Status::Shadowed => style.notable(status),
            _ => style.bad(status),
        };
        write!(out, "  {status}  {}", printable(&verdict.path))?;
        if let Some(code) = verdict.code {
            write!(
                out,
                "  {}",
                style.faint(format_args!("{}: {code}", verdict.stage))
            )?;
        }
        writeln!(out, "\n               {}", verdict.message)?;
        if let Some(devices) = self.devices_of(verdict) {
            writeln!(out, "               devices: {}", devices.join(", "))?;
        }
        let candidates = self.report.candidates.iter();
        let links = candidates.filter(|other| {
            self.first_of_family(other)
                .is_some_and(|first| first.path == verdict.path)
        });
        let links: Vec<_> = links
            .map(|link| display_beside(&link.path, &verdict.path))
            .collect();
        if !links.is_empty() {
            let links = format!("the same file: {}", links.join(", "));
            writeln!(out, "               {}", style.faint(links))?;
        }
        if !verdict.hint.is_empty() {
            writeln!(out, "               {}", style.notable(&verdict.hint))?;
        }
        Ok(())
    }

    /// The candidate that is the same file and was tried, of one that was not for that reason.
    fn first_of_family(&self, verdict: &Verdict) -> Option<&Verdict> {
        if verdict.code != Some(Code::DuplicateFile) || verdict.canonical_path.is_none() {
            return None;
        }
        self.report.candidates.iter().find(|other| {
            other.code != Some(Code::DuplicateFile)
                && other.canonical_path == verdict.canonical_path
        })
    }

    /// The devices of a loaded backend that names some.
    fn devices_of(&self, verdict: &Verdict) -> Option<&[String]> {
        if verdict.status != Status::Loaded {
            return None;
        }
        let id = verdict.backend_id.as_ref()?;
        let at = self
            .report
            .backends
            .iter()
            .position(|backend| backend.id == *id)?;
        let devices = self.devices.get(at)?.as_ref().ok()?;
        (!devices.is_empty()).then_some(&devices[..])
    }
}

/// A path: the name alone where it is in the directory of `other`.
fn display_beside(path: &Path, other: &Path) -> String {
    match path.file_name() {
        Some(name) if path.parent() == other.parent() => printable(Path::new(name)),
        _ => printable(path),
    }
}

/// A path for a terminal.
fn printable(path: &Path) -> String {
    terminal::printable(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_cannot_forge_lines_or_colours() {
        let path = Path::new("/b/Arm_X\n  loaded\u{1b}[31m_backend.so");
        assert_eq!(printable(path), "/b/Arm_X\\n  loaded\\u{1b}[31m_backend.so");
        assert_eq!(printable(Path::new("/b/ü ö")), "/b/ü ö");
    }

    fn found(failed_static: Vec<(String, String)>) -> Found {
        Found {
            report: BackendReport {
                paths: Vec::new(),
                candidates: Vec::new(),
                backends: Vec::new(),
                failed_static,
            },
            devices: Vec::new(),
            usable: 0,
        }
    }

    #[test]
    fn a_linked_backend_that_failed_is_listed_with_its_reason() {
        let found = found(vec![("CpuRef".to_owned(), "no memory".to_owned())]);
        let text = found.render(Style::Plain);
        assert!(text.contains("rejected     CpuRef: no memory"), "{text}");
        let json = serde_json::to_value(List::new(&found.report)).unwrap();
        let expected = serde_json::json!([{ "backend_id": "CpuRef", "message": "no memory" }]);
        assert_eq!(json["failed_static"], expected);
    }

    #[test]
    fn json_says_nothing_of_linked_backends_that_did_not_fail() {
        let json = serde_json::to_value(List::new(&found(Vec::new()).report)).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["api_version", "candidates", "paths"]);
    }
}
