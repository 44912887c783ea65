//! The command line: what all subcommands share.

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::{backends, execute_network, verify};

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "armnn",
    version,
    about = "Runs neural networks on backends that are loaded at run time",
    after_help = "\
Example:
  armnn execute-network -m model.tflite -b ./backends -c CpuRef -d input.npy -w outputs
  armnn verify -b ./backends recorded-models
  armnn backends list -b ./backends

Exit codes: 0 done, 1 the job failed, 2 bad usage."
)]
pub struct Cli {
    /// How much is logged.
    #[command(flatten)]
    pub verbosity: Verbosity,
    /// What is to be done.
    #[command(subcommand)]
    pub command: Command,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a model, and tell its outputs, the time it took, and which backend ran what
    #[command(visible_alias = "run")]
    ExecuteNetwork(Box<execute_network::Arguments>),
    /// Run recorded cases, and compare the outputs with those that were recorded
    Verify(verify::Arguments),
    /// Find out which backends there are, and what is wrong with those that cannot be used
    Backends(backends::Arguments),
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Verbosity {
    /// Log more: once for what is done, twice for details (otherwise warnings, or what RUST_LOG
    /// says)
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub verbose: u8,
}

impl Verbosity {
    /// Starts logging to standard error.
    pub fn start_logging(self) {
        let mut builder = env_logger::Builder::new();
        match self.verbose {
            0 => builder.parse_env(env_logger::Env::default().default_filter_or("warn")),
            1 => builder.filter_level(log::LevelFilter::Info),
            2 => builder.filter_level(log::LevelFilter::Debug),
            _ => builder.filter_level(log::LevelFilter::Trace),
        };
        builder.format_timestamp(None).format_target(false).init();
    }
}

/// How a result is written to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON document.
    Json,
}
