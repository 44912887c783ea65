//! The findings as text.

use std::fmt::Write as _;

use super::diagnosis::{Backend, Candidate, Diagnosis};
use crate::terminal::Style;

pub(super) fn text(diagnosis: &Diagnosis, style: Style) -> String {
    let mut out = String::new();
    // Writing to a `String` does not fail.
    let _ = write(&mut out, diagnosis, style);
    out
}

fn write(out: &mut String, diagnosis: &Diagnosis, style: Style) -> std::fmt::Result {
    let version = &diagnosis.api_version;
    writeln!(out, "{} {version}", style.heading("Backend interface"))?;

    writeln!(
        out,
        "\n{}",
        style.heading("Directories that were looked at")
    )?;
    for path in &diagnosis.paths {
        let entry = &path.entry;
        let reason = style.faint(format_args!("({})", path.reason));
        match entry.status {
            "ok" => writeln!(out, "  {}  {reason}", entry.path)?,
            status => {
                let status = style.bad(status);
                writeln!(
                    out,
                    "  {}  {reason}  {status}: {}",
                    entry.path, entry.message
                )?;
                writeln!(out, "    {}", style.notable(path.hint))?;
            }
        }
    }
    if diagnosis.paths.is_empty() {
        let hint = "name the directory that holds the backends with --path DIR";
        writeln!(
            out,
            "  none: no list is compiled in, so that only what is named is searched"
        )?;
        writeln!(out, "    {}", style.notable(hint))?;
    }

    writeln!(out, "\n{}", style.heading("Backends"))?;
    for backend in &diagnosis.backends {
        write_backend(out, backend, style)?;
    }
    if diagnosis.backends.is_empty() {
        writeln!(out, "  none")?;
    }

    writeln!(out, "\n{}", style.heading("Files"))?;
    for candidate in &diagnosis.candidates {
        // That a family of links is one file is as it should be.
        if candidate.is_of_loaded_family(&diagnosis.candidates) {
            continue;
        }
        write_candidate(out, candidate, style)?;
    }
    if diagnosis.candidates.is_empty() {
        writeln!(out, "  none that looks like a backend")?;
    }

    if !diagnosis.preference.is_empty() {
        writeln!(
            out,
            "\n{} {}\n  a layer goes to the first of them that takes it; `--compute` of \
             `armnn execute-network` changes the order, and `--report` tells the reason for each \
             layer",
            style.heading("Order of preference:"),
            diagnosis.preference.join(", ")
        )?;
    }
    let noun = if diagnosis.usable == 1 {
        "backend"
    } else {
        "backends"
    };
    writeln!(out, "\n{} usable {noun}", diagnosis.usable)
}

fn write_backend(out: &mut String, backend: &Backend, style: Style) -> std::fmt::Result {
    let status = match backend.hardware.found {
        true => style.good("usable"),
        false => style.notable("unavailable"),
    };
    let file = match &backend.file {
        Some(file) => file.as_str(),
        None => "linked into this command",
    };
    writeln!(out, "  {}  {status}  {file}", style.heading(&backend.id))?;
    writeln!(out, "    version   {}", backend.version_meaning)?;
    let hardware = match &backend.hardware.reason {
        Some(reason) => format!("not found: {reason}"),
        None if backend.hardware.devices.is_empty() => "all there that it needs".to_owned(),
        None => backend.hardware.devices.join(", "),
    };
    writeln!(out, "    hardware  {hardware}")?;
    writeln!(out, "    kind      {}", backend.kind)?;
    let width = backend.layers.keys().map(String::len).max().unwrap_or(0);
    for (index, (layer, types)) in backend.layers.iter().enumerate() {
        let label = if index == 0 { "layers" } else { "" };
        writeln!(out, "    {label:8}  {layer:width$}  {}", types.join(" "))?;
    }
    // One line for each reason: a small backend refuses nearly everything for the same.
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (layer, reason) in &backend.refused_layers {
        match reasons.iter_mut().find(|(other, _)| other == reason) {
            Some((_, layers)) => layers.push(layer),
            None => reasons.push((reason, vec![layer])),
        }
    }
    for (reason, layers) in reasons {
        writeln!(out, "    refuses   {}: {reason}", layers.join(", "))?;
    }
    Ok(())
}

fn write_candidate(out: &mut String, candidate: &Candidate, style: Style) -> std::fmt::Result {
    let entry = &candidate.entry;
    let status = match (candidate.is_loaded(), entry.status) {
        (true, status) => style.good(status),
        (_, "rejected") => style.bad(entry.status),
        _ => style.notable(entry.status),
    };
    write!(out, "  {status}  {}", entry.path)?;
    match entry.code {
        Some(code) => writeln!(out, "  ({}: {code})", entry.stage)?,
        None => writeln!(out)?,
    }
    let mut line = |label: &str, text: &str| writeln!(out, "    {label:9} {text}");
    if !candidate.is_loaded() {
        line("why", &entry.message)?;
        if let Some(meaning) = &candidate.version_meaning {
            line("version", meaning)?;
        }
    }
    if let Some(difference) = &candidate.layout_difference {
        line("layout", difference)?;
    }
    for change in &candidate.process_changes {
        line("changed", &format!("{change} (for the whole process)"))?;
    }
    for library in &candidate.borrowed_libraries {
        line("shares", library)?;
    }
    if let Some(name) = &candidate.nearest_name {
        line("nearest", name)?;
    }
    if !entry.hint.is_empty() {
        line("do", &style.notable(&entry.hint))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use armnn_runtime::{
        BackendReport,
        loader::{Code, Refusal, Stage, Verdict},
    };

    use super::*;

    /// The command itself wants every backend; an application may not.
    #[test]
    fn a_backend_that_is_not_wanted_is_no_fault_and_has_nothing_to_do() {
        let message = "the application does not want backend 'AcmeNpu'";
        let refusal = Refusal::new(Stage::Inspect, Code::Excluded, message);
        let report = BackendReport {
            paths: Vec::new(),
            candidates: vec![Verdict::refused("/b/Acme_AcmeNpu_backend.so", refusal)],
            backends: Vec::new(),
            failed_static: Vec::new(),
        };
        let told = text(&Diagnosis::of_report(&report), Style::Plain);
        let file = told.split("\nFiles\n").nth(1).unwrap();
        assert!(file.contains("(inspect: excluded)"), "{told}");
        assert!(file.contains(message), "{told}");
        assert!(!file.contains("    do "), "{told}");
    }
}
