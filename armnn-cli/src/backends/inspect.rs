//! `armnn backends inspect`: what a file says about itself, read as data.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use crate::args::Format;

/// The arguments of `armnn backends inspect`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  armnn backends inspect ./backends/Arm_CpuRef_backend.so
  armnn backends inspect ./libmine.so --format json

No code of the file is run. Exit code: 0 when nothing speaks against loading it, otherwise 1.")]
pub struct Arguments {
    /// The shared object, of any name
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// How the result is written to standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Inspects a file.
///
/// # Errors
/// When something speaks against loading it.
#[cfg(target_os = "linux")]
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    elf::run(arguments)
}

/// Inspects a file.
///
/// # Errors
/// Always: this system loads no backends.
#[cfg(not(target_os = "linux"))]
pub fn run(_: &Arguments) -> anyhow::Result<ExitCode> {
    anyhow::bail!(
        "unsupported-platform: backends are shared objects of Linux; this system cannot load them"
    )
}

#[cfg(target_os = "linux")]
mod elf {
    use std::{fmt::Write as _, path::Path, process::ExitCode};

    use anyhow::bail;
    use armnn_runtime::{
        BackendVersion,
        loader::{
            self, Refusal,
            discover::BackendFileName,
            inspect::{self, ExportState, HostInterface},
        },
    };
    use serde::Serialize;

    use super::Arguments;
    use crate::{
        args::Format,
        terminal::{self, Style},
    };

    pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
        let inspection = Inspection::new(&arguments.file);
        match arguments.format {
            Format::Text => terminal::print(&inspection.render(Style::of_stdout()))?,
            Format::Json => terminal::print_json(&inspection)?,
        }
        if let Some(first) = inspection.refusals.first() {
            bail!(
                "'{}' would be refused ({}: {}): {}",
                arguments.file.display(),
                first.stage,
                first.code,
                first.message
            );
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What a file says about itself.
    #[derive(Clone, Debug, Default, Serialize)]
    struct Inspection {
        path: String,
        would_pass: bool,
        api_version: String,
        file_name: Option<FileName>,
        size: Option<u64>,
        class: Option<u8>,
        byte_order: Option<&'static str>,
        machine: Option<String>,
        file_type: Option<u16>,
        interpreter: Option<String>,
        soname: Option<String>,
        needed: Vec<String>,
        rpath: Option<String>,
        runpath: Option<String>,
        flags: Vec<&'static str>,
        build_id: Option<String>,
        exports: Vec<Export>,
        note: Option<Note>,
        refusals: Vec<RefusalEntry>,
    }

    /// The file's name, taken apart; absent when it does not follow the scheme.
    #[derive(Clone, Debug, Serialize)]
    struct FileName {
        vendor: String,
        name: String,
        version: Vec<String>,
    }

    #[derive(Clone, Debug, Serialize)]
    struct Export {
        name: &'static str,
        state: &'static str,
        detail: Option<&'static str>,
    }

    #[derive(Clone, Debug, Serialize)]
    struct Note {
        format: u32,
        api_version: String,
        flags: u32,
        layout_hash: String,
        backend_id: String,
        toolchain: String,
        package_version: String,
    }

    #[derive(Clone, Debug, Serialize)]
    struct RefusalEntry {
        stage: &'static str,
        code: &'static str,
        message: String,
        hint: String,
    }

    impl Inspection {
        fn new(path: &Path) -> Self {
            let mut this = match inspect::inspect_path(path, HostInterface::CURRENT) {
                Ok(found) => Self::of(&found),
                Err(refusal) => Self {
                    refusals: vec![RefusalEntry::new(&refusal)],
                    ..Self::default()
                },
            };
            this.path = path.display().to_string();
            this.api_version = BackendVersion::CURRENT.to_string();
            this.would_pass = this.refusals.is_empty();
            this.file_name = path
                .file_name()
                .and_then(|name| BackendFileName::parse(name.as_encoded_bytes()))
                .map(|parsed| FileName {
                    vendor: parsed.vendor,
                    name: parsed.name,
                    version: parsed.version,
                });
            this
        }

        fn of(found: &inspect::Inspection) -> Self {
            let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            Self {
                size: Some(found.size),
                class: found.class,
                byte_order: found.byte_order,
                machine: found.machine.map(|machine| machine.to_string()),
                file_type: found.file_type,
                interpreter: found.interpreter.clone(),
                soname: found.soname.clone(),
                needed: found.needed.clone(),
                rpath: found.rpath.clone(),
                runpath: found.runpath.clone(),
                flags: flags(found),
                build_id: found.build_id.as_ref().map(hex),
                exports: found.exports.iter().map(Export::new).collect(),
                note: found.note.as_ref().map(Note::new),
                refusals: found.refusals.iter().map(RefusalEntry::new).collect(),
                ..Self::default()
            }
        }
    }

    /// The names of the flags that are set.
    fn flags(found: &inspect::Inspection) -> Vec<&'static str> {
        let flags = [
            ("bind-now", found.flags.bind_now),
            ("no-delete", found.flags.no_delete),
            ("static-tls", found.flags.static_tls),
            ("symbolic", found.flags.symbolic),
            ("text-relocations", found.flags.text_relocations),
            ("pie", found.flags.pie),
            ("executable-stack", found.executable_stack),
            ("writable-code", found.writable_code),
        ];
        flags
            .iter()
            .filter(|(_, set)| *set)
            .map(|(name, _)| *name)
            .collect()
    }

    impl Export {
        fn new(export: &inspect::Export) -> Self {
            let (state, detail) = match export.state {
                ExportState::Function => ("function", None),
                ExportState::Missing => ("missing", None),
                ExportState::NotAFunction(what) => ("not-a-function", Some(what)),
                _ => ("unknown", None),
            };
            Self {
                name: export.name,
                state,
                detail,
            }
        }
    }

    impl Note {
        fn new(note: &inspect::BackendNote) -> Self {
            Self {
                format: note.format,
                api_version: note.api_version.to_string(),
                flags: note.flags,
                layout_hash: format!("{:016x}", note.layout_hash),
                backend_id: note.backend_id.to_string(),
                toolchain: note.toolchain.clone(),
                package_version: note.package_version.clone(),
            }
        }
    }

    impl RefusalEntry {
        fn new(refusal: &Refusal) -> Self {
            Self {
                stage: loader::Stage::as_str(refusal.stage),
                code: refusal.code.as_str(),
                message: refusal.message.clone(),
                hint: refusal.hint.clone(),
            }
        }
    }

    impl Inspection {
        fn render(&self, style: Style) -> String {
            let mut text = String::new();
            // Writing to a `String` does not fail.
            let _ = self.write_text(&mut text, style);
            text
        }

        fn write_text(&self, out: &mut String, style: Style) -> std::fmt::Result {
            writeln!(out, "{} {}", style.heading("File"), self.path)?;
            match &self.file_name {
                Some(name) => {
                    let version = name.version.join(".");
                    field(
                        out,
                        "vendor, name",
                        Some(format!("{}, {}", name.vendor, name.name)),
                    )?;
                    field(out, "version", (!version.is_empty()).then_some(version))?;
                }
                None => field(
                    out,
                    "name",
                    Some("does not follow <vendor>_<name>_backend.so: not found in a directory"),
                )?,
            }
            field(out, "size", self.size.map(|size| format!("{size} bytes")))?;
            let bits = self.class.map(|class| format!("{class}-bit"));
            let order = self.byte_order.map(|order| format!("{order}-endian"));
            let machine: Vec<_> = [self.machine.clone(), bits, order]
                .into_iter()
                .flatten()
                .collect();
            field(
                out,
                "machine",
                (!machine.is_empty()).then(|| machine.join(", ")),
            )?;
            field(out, "interpreter", self.interpreter.as_ref())?;
            field(out, "soname", self.soname.as_ref())?;
            field(
                out,
                "needed",
                (!self.needed.is_empty()).then(|| self.needed.join(", ")),
            )?;
            field(out, "rpath", self.rpath.as_ref())?;
            field(out, "runpath", self.runpath.as_ref())?;
            field(
                out,
                "flags",
                (!self.flags.is_empty()).then(|| self.flags.join(", ")),
            )?;
            field(out, "build id", self.build_id.as_ref())?;

            if !self.exports.is_empty() {
                writeln!(out, "\n{}", style.heading("Exports"))?;
            }
            for export in &self.exports {
                let state = match export.state {
                    "function" => style.good(export.state),
                    state => style.bad(state),
                };
                let detail = export
                    .detail
                    .map(|what| format!(" ({what})"))
                    .unwrap_or_default();
                writeln!(out, "  {:14}  {state}{detail}", export.name)?;
            }
            self.write_note(out, style)?;
            self.write_verdict(out, style)
        }

        fn write_note(&self, out: &mut String, style: Style) -> std::fmt::Result {
            let Some(note) = &self.note else {
                return match self.size {
                    Some(_) => writeln!(out, "\n{} none", style.heading("Backend note")),
                    None => Ok(()),
                };
            };
            writeln!(out, "\n{}", style.heading("Backend note"))?;
            field(out, "backend id", Some(&note.backend_id))?;
            field(out, "interface", Some(&note.api_version))?;
            field(out, "layout hash", Some(&note.layout_hash))?;
            field(out, "package", Some(&note.package_version))?;
            field(out, "toolchain", Some(&note.toolchain))?;
            field(out, "format", Some(note.format))?;
            field(out, "flags", Some(note.flags))
        }

        fn write_verdict(&self, out: &mut String, style: Style) -> std::fmt::Result {
            if self.would_pass {
                return writeln!(
                    out,
                    "\n{}: nothing speaks against loading it through interface {}",
                    style.good("passed"),
                    self.api_version
                );
            }
            writeln!(out, "\n{}", style.heading("Speaks against loading it"))?;
            for refusal in &self.refusals {
                writeln!(out, "  {}: {}", style.bad(refusal.code), refusal.message)?;
                if !refusal.hint.is_empty() {
                    writeln!(out, "    {}", style.notable(&refusal.hint))?;
                }
            }
            Ok(())
        }
    }

    /// A line, unless the value is absent.
    fn field(
        out: &mut String,
        name: &str,
        value: Option<impl std::fmt::Display>,
    ) -> std::fmt::Result {
        match value {
            Some(value) => writeln!(out, "  {name:14}  {value}"),
            None => Ok(()),
        }
    }
}
