//! The `armnn` command: runs models, and looks at backends.
//!
//! [`main`] is the whole program; its parts are here so that tests can reach them. A subcommand is
//! a module with its arguments and a function `run`. What such a function returns is the exit
//! code: 0 when the job is done, 1 when it failed, with the reason on standard error. Bad usage,
//! which the command line alone shows, is 2.
//!
//! Standard output holds the result and nothing else; logs go to standard error.

pub mod args;
pub mod backends;
pub mod elements;
pub mod execute_network;
pub mod isolation;
pub mod model;
pub mod npy;
pub mod peak_memory;
pub mod progress;
pub mod runtime_options;
pub mod steps;
pub mod tensor_file;
pub mod terminal;
pub mod timing;
pub mod value_file;
pub mod verify;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.verbosity.start_logging();
    let outcome = match cli.command {
        Command::ExecuteNetwork(arguments) => execute_network::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Backends(arguments) => backends::run(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        terminal::print_error(&error);
        ExitCode::FAILURE
    })
}
