//! `armnn backends`: finds out about backends.

pub mod doctor;
pub mod inspect;
pub mod list;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// The arguments of `armnn backends`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  armnn backends list -b ./backends
  armnn backends inspect ./backends/Arm_CpuRef_backend.so
  armnn backends doctor -b ./backends")]
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
    /// Find out why a backend is not there, or not used, and what to do
    Doctor(doctor::Arguments),
    /// Compare the layout of the interface that a backend was built with; for `doctor`
    #[cfg(all(target_os = "linux", feature = "layout-check"))]
    #[command(hide = true)]
    CompareLayout(doctor::layout::Arguments),
}

/// Finds out what is asked for.
///
/// # Errors
/// When that cannot be done.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::List(arguments) => list::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        #[cfg(all(target_os = "linux", feature = "layout-check"))]
        Command::CompareLayout(arguments) => doctor::layout::run(arguments),
    }
}
