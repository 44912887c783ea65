//! This command again, in a child process with a deadline: what crashes or never ends there is
//! told here.

use std::{
    ffi::OsString,
    io::Read,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;

/// How much of the end of an output is kept.
const KEPT_BYTES: usize = 256 << 10;
/// How long the output of a child that has ended is waited for; a process that it started may hold
/// it open.
const GRACE: Duration = Duration::from_secs(2);
/// How often a child that closed its output is looked at.
const PAUSE: Duration = Duration::from_millis(2);

/// How a child process ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How; `None`: it was killed, as its time was up.
    pub status: Option<ExitStatus>,
    /// The end of its standard output.
    pub stdout: String,
    /// The end of its standard error.
    pub stderr: String,
}

/// Runs this command with other arguments.
///
/// # Errors
/// When no process can be started.
pub fn run_again(arguments: &[OsString], deadline: Duration) -> anyhow::Result<Ended> {
    let command = std::env::current_exe()
        .context("cannot start a child process: the file of this command is not found")?;
    let mut command = Command::new(command);
    command.args(arguments);
    run(command, deadline)
}

fn run(mut command: Command, deadline: Duration) -> anyhow::Result<Ended> {
    let end = Instant::now() + deadline;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start a child process")?;
    let stdout = read_end(child.stdout.take());
    let stderr = read_end(child.stderr.take());
    // Its output usually ends when it does.
    let said = stdout.recv_timeout(end.saturating_duration_since(Instant::now()));
    let status = wait(&mut child, end)?;
    let text = |received: Result<String, RecvTimeoutError>, from: &Receiver<String>| {
        received
            .or_else(|_| from.recv_timeout(GRACE))
            .unwrap_or_default()
    };
    let stdout = text(said, &stdout);
    let stderr = text(Err(RecvTimeoutError::Timeout), &stderr);
    Ok(Ended {
        status,
        stdout,
        stderr,
    })
}

/// Waits for a child until its time is up, and kills it then.
fn wait(child: &mut Child, end: Instant) -> anyhow::Result<Option<ExitStatus>> {
    loop {
        let status = child.try_wait().context("a child process is lost")?;
        if status.is_some() {
            return Ok(status);
        }
        if Instant::now() >= end {
            // It may just have ended; its end is waited for either way.
            let _ = child.kill();
            child.wait().context("a child process is lost")?;
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
}

/// Reads on while the child runs, so that it never waits for a reader.
fn read_end(from: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = [0; 8192];
        if let Some(mut from) = from {
            // What cannot be read is the end.
            while let Ok(n @ 1..) = from.read(&mut buffer) {
                kept.extend_from_slice(&buffer[..n]);
                if kept.len() > 2 * KEPT_BYTES {
                    kept.drain(..kept.len() - KEPT_BYTES);
                }
            }
        }
        // Nobody may wait for it any more.
        let _ = sender.send(String::from_utf8_lossy(&kept).into_owned());
    });
    receiver
}

/// How a process ended, in words.
pub fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            let name = match signal {
                4 => " (SIGILL: an instruction that this processor does not have)",
                6 => " (SIGABRT: it gave up)",
                7 => " (SIGBUS: memory that is not there, or a file cut short)",
                8 => " (SIGFPE: an arithmetic fault)",
                9 => " (SIGKILL: killed from outside, as when memory runs out)",
                11 => " (SIGSEGV: memory that is not there)",
                _ => "",
            };
            return format!("killed by signal {signal}{name}");
        }
    }
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, deadline: Duration) -> Ended {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        run(command, deadline).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_it_said_and_how_it_ended_is_told() {
        let ended = shell("echo out; echo err >&2; exit 3", LONG);
        assert_eq!(
            (ended.stdout.as_str(), ended.stderr.as_str()),
            ("out\n", "err\n")
        );
        assert_eq!(describe(ended.status.unwrap()), "exit code 3");
    }

    #[test]
    fn a_crash_is_told_with_its_signal() {
        let ended = shell("kill -SEGV $$", LONG);
        let told = describe(ended.status.unwrap());
        assert!(told.starts_with("killed by signal 11 (SIGSEGV"), "{told}");
    }

    #[test]
    fn what_does_not_end_is_killed_when_its_time_is_up() {
        let ended = shell("echo begun; exec sleep 1000", Duration::from_millis(200));
        assert!(ended.status.is_none());
        assert_eq!(ended.stdout, "begun\n");
    }

    #[test]
    fn of_endless_output_the_end_is_kept() {
        let ended = shell("yes | head -c 3000000; echo last", LONG);
        assert!(ended.stdout.ends_with("last\n"));
        assert!(ended.stdout.len() <= 2 * KEPT_BYTES);
    }
}
