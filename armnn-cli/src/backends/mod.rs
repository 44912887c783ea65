//! `armnn backends`: finds out about backends.

pub mod inspect;
pub mod list;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// The arguments of `armnn backends`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  armnn backends list -b ./backends
  armnn backends inspect ./backends/Arm_CpuRef_backend.so")]
pub struct Arguments {
    /// What is to be done.
    #[command(subcommand)]
    pub command: Command,
}

/// What is to be found out.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// List every file that could be a backend, with what became of it
    List(list::Arguments),
    /// Tell what a file says about itself, without running its code
    Inspect(inspect::Arguments),
}

/// Finds out what is asked for.
///
/// # Errors
/// When that cannot be done.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::List(arguments) => list::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
    }
}
