//! The `armnn` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    armnn_cli::main()
}
