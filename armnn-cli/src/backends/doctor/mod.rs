//! `armnn backends doctor`: for a person who asks why a backend is not there, or not used.

mod diagnosis;
#[cfg(all(target_os = "linux", feature = "layout-check"))]
pub mod layout;
mod render;

use std::{path::PathBuf, process::ExitCode};

use anyhow::bail;
use clap::Args;

use self::diagnosis::Diagnosis;
use crate::{
    args::Format,
    runtime_options::BackendOptions,
    terminal::{self, Style},
};

/// The arguments of `armnn backends doctor`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  armnn backends doctor --path ./backends
  armnn backends doctor --path /usr/lib/armnn/backends --format json

Backends are loaded, asked whether their hardware is there, and which layers they take. Exit code: 0
when at least one can be used, otherwise 1.")]
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

    /// How the findings are written to standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Looks at everything that bears on which backends are used, and says what to do.
///
/// # Errors
/// When none can be used, or an option for one is wrong.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let diagnosis = Diagnosis::new(
        &arguments.dynamic_backends_paths,
        &arguments.backend_options,
    )?;
    match arguments.format {
        Format::Text => terminal::print(&render::text(&diagnosis, Style::of_stdout()))?,
        Format::Json => terminal::print_json(&diagnosis)?,
    }
    if diagnosis.usable == 0 {
        if diagnosis.paths.is_empty() {
            bail!(
                "no directory was searched; name the one that holds the backends with --path DIR"
            );
        }
        bail!("no backend can be used; see the findings for the reasons");
    }
    Ok(ExitCode::SUCCESS)
}
