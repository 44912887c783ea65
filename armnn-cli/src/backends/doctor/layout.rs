//! The differing field of a backend that was built with another layout: found in a child process, as
//! it opens a file that was refused, and with a deadline.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use clap::Args;

use crate::terminal;

/// Longer than any sound library takes to load.
const DEADLINE: Duration = Duration::from_secs(10);

/// The arguments of the hidden `armnn backends compare-layout`.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    /// The backend
    pub file: PathBuf,
}

/// What the child does: writes the difference to standard output.
///
/// # Errors
/// When standard output cannot be written to.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    // SAFETY: this process has nothing to lose, and whoever started it gave it a deadline.
    let compared = unsafe { armnn_runtime::loader::layout_check::compare_layout(&arguments.file) };
    terminal::print(&match compared {
        Ok(()) => "no field differs from this interface; the note says otherwise".to_owned(),
        Err(difference) => difference.to_string(),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Which fields differ, or why that cannot be told.
pub(super) fn compare_in_child(file: &Path) -> String {
    match child_output(file) {
        Ok(text) => text,
        Err(reason) => format!("which field differs cannot be told: {reason}"),
    }
}

fn child_output(file: &Path) -> Result<String, String> {
    let command = std::env::current_exe().map_err(|e| format!("this command is not found: {e}"))?;
    let mut child = Command::new(command)
        .args(["backends", "compare-layout"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("no child process can be started: {e}"))?;
    let deadline = Instant::now() + DEADLINE;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            outcome => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(match outcome {
                    Err(e) => format!("the child process is lost: {e}"),
                    _ => format!("loading it did not end in {} s", DEADLINE.as_secs()),
                });
            }
        }
    };
    if !status.success() {
        return Err(format!("loading it ended a child process: {status}"));
    }
    let mut text = String::new();
    // A difference is a few lines; what a hostile library writes besides is cut off.
    let read = child
        .stdout
        .take()
        .map(|out| out.take(64 << 10).read_to_string(&mut text));
    match read {
        Some(Ok(_)) if !text.is_empty() => Ok(text),
        _ => Err("the child process said nothing".to_owned()),
    }
}
