//! `armnn verify`: runs recorded cases, and compares.

mod case;
mod compare;
mod detections;
mod discovery;
mod meta;
mod workers;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    num::NonZeroU32,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, bail};
use armnn_runtime::BackendId;
use clap::Args;
use serde::Serialize;

use self::{
    case::{Outcome, Status},
    compare::Rule,
    discovery::{Case, Found},
};
pub use self::{compare::difference, discovery::recorded_outputs};
use crate::{
    args::Format,
    execute_network::{at_least_one, not_negative},
    isolation,
    progress::Progress,
    runtime_options::BackendOptions,
    terminal::{self, Style},
};

/// The arguments of `armnn verify`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  armnn verify -b ./backends -c CpuRef models/mnist
  armnn verify -b ./backends -c GpuAcc,CpuRef --list supported.txt --jobs 4 node-tests
  armnn verify -b ./backends --format json models > verified.json

A case is a folder with model.onnx or model.tflite and what was recorded for it: in0.npy, in1.npy, …
and out0.npy, … (with _NAME before the dot, if you like), or test_data_set_N/input_K.pb and
output_K.pb. A meta.json beside the model may say how outputs are compared; otherwise --rtol and
--atol do, and elements that are no floating-point numbers must be equal.

Exit code: 0 when at least one case was found and none failed or crashed, otherwise 1.")]
pub struct Arguments {
    /// A folder that is searched for cases, with all that is in it
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    /// Backends in order of preference; a comma list, or repeated. One that cannot be used is an
    /// error. Default: every backend there is: accelerators, then GPUs, then CPUs, then the
    /// reference
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    pub compute: Vec<BackendId>,

    /// A directory of backends to load; repeatable
    #[arg(short = 'b', long = "dynamic-backends-path", value_name = "DIR")]
    pub dynamic_backends_paths: Vec<PathBuf>,

    /// What backends are asked for.
    #[command(flatten)]
    pub backend_options: BackendOptions,

    /// Run only the cases that this file names, one on each line; empty lines and lines that begin
    /// with # do not count. A name that no case has counts as failed
    #[arg(long, value_name = "FILE")]
    pub list: Option<PathBuf>,

    /// How far an element may be from the recorded one, relative to that
    #[arg(long, value_name = "NUMBER", default_value = "1e-3", value_parser = not_negative)]
    pub rtol: f64,

    /// How far it may be besides
    #[arg(long, value_name = "NUMBER", default_value = "1e-7", value_parser = not_negative)]
    pub atol: f64,

    /// How many cases run at the same time; default: as many as the machine has processors
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub jobs: Option<NonZeroU32>,

    /// How many threads backends may compute on in each case; default: the machine's processors,
    /// shared among the jobs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub number_of_threads: Option<u32>,

    /// How many seconds a case may take; one that takes longer counts as crashed
    #[arg(long, value_name = "SECONDS", default_value = "300",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: u32,

    /// How the result is written to standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Verify one case in this process; `PATH` is its model.
    #[arg(long, hide = true)]
    pub isolated_case: bool,
}

impl Arguments {
    fn rule(&self) -> Rule {
        Rule::Elementwise {
            rtol: self.rtol,
            atol: self.atol,
        }
    }

    /// The arguments with which this command verifies one case.
    fn of_isolated_case(&self, model: &Path, n_threads: u32) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["verify".into(), "--isolated-case".into()];
        let mut option = |name: &str, value: OsString| {
            words.push(name.into());
            words.push(value);
        };
        for directory in &self.dynamic_backends_paths {
            option("-b", directory.clone().into());
        }
        for id in &self.compute {
            option("-c", id.as_str().into());
        }
        for named in &self.backend_options.backend_options {
            option("--backend-option", named.to_string().into());
        }
        option("--rtol", format!("{:e}", self.rtol).into());
        option("--atol", format!("{:e}", self.atol).into());
        option("--number-of-threads", n_threads.to_string().into());
        words.push("--".into());
        words.push(model.into());
        words
    }
}

/// What all cases came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// How many gave what was recorded.
    pub passed: usize,
    /// How many did not.
    pub failed: usize,
    /// How many were refused before anything was computed.
    pub unsupported: usize,
    /// How many ended without an answer, or not in time.
    pub crashed: usize,
    /// Each of them.
    pub cases: Vec<CaseReport>,
}

/// What a case came to.
#[derive(Clone, Debug, Serialize)]
pub struct CaseReport {
    /// Its name.
    pub name: String,
    /// `passed`, `failed`, `unsupported` or `crashed`.
    pub status: Status,
    /// What is wrong; of one that passed, how far it was off.
    pub detail: String,
}

/// Runs recorded cases, and tells which of them gave what was recorded.
///
/// # Errors
/// When no case is found, or none can be run.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if arguments.isolated_case {
        return run_isolated(arguments);
    }
    let listed = arguments.list.as_deref().map(read_list).transpose()?;
    let found = discovery::search(&arguments.paths)?;
    for model in &found.without_recordings {
        log::warn!(
            "nothing is recorded for '{}': it is not verified",
            model.display()
        );
    }
    let (cases, missing) = select(&found, listed);
    if cases.is_empty() && missing.is_empty() {
        bail!("{}", nothing_found(arguments, &found));
    }
    let mut summary = Summary::default();
    let style = Style::of_stdout();
    let text = arguments.format == Format::Text;
    for name in missing {
        let detail = "no case of this name was found".to_owned();
        summary.add(
            name,
            Outcome {
                status: Status::Failed,
                detail,
            },
        );
    }
    if text {
        for report in &summary.cases {
            terminal::print(&report.line(style))?;
        }
    }
    let progress = Progress::new(cases.len() as u64, "cases");
    let jobs = Jobs::new(arguments);
    workers::in_order(
        &cases,
        jobs.count,
        |case| run_in_child(case, arguments, jobs.n_threads),
        |case, outcome| {
            let outcome = outcome?;
            if outcome.status == Status::CannotStart {
                bail!("{}", outcome.detail);
            }
            summary.add(case.name.clone(), outcome);
            if text && let Some(report) = summary.cases.last() {
                progress.suspend(|| terminal::print(&report.line(style)))?;
            }
            progress.advance();
            Ok(())
        },
    )?;
    progress.finish();
    match arguments.format {
        Format::Text => terminal::print(&summary.counts(style))?,
        Format::Json => terminal::print_json(&summary)?,
    }
    let good = summary.failed == 0 && summary.crashed == 0;
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The names in a list.
fn read_list(path: &Path) -> anyhow::Result<BTreeSet<String>> {
    let text = std::fs::read_to_string(path).with_context(|| {
        format!(
            "cannot read the list of cases '{}'; check the path",
            path.display()
        )
    })?;
    let names: BTreeSet<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    if names.is_empty() {
        bail!(
            "the list of cases '{}' names none; write one name on each line",
            path.display()
        );
    }
    Ok(names)
}

/// The cases to run, and the names for which there is none.
fn select(found: &Found, listed: Option<BTreeSet<String>>) -> (Vec<Case>, Vec<String>) {
    let Some(listed) = listed else {
        return (found.cases.clone(), Vec::new());
    };
    let mut missing = listed.clone();
    let mut cases = Vec::new();
    for case in &found.cases {
        // By its name, or by the folder's alone.
        let last = case.name.rsplit('/').next().unwrap_or_default();
        let wanted = [case.name.as_str(), last]
            .into_iter()
            .find(|name| listed.contains(*name));
        if let Some(name) = wanted {
            missing.remove(name);
            cases.push(case.clone());
        }
    }
    (cases, missing.into_iter().collect())
}

fn nothing_found(arguments: &Arguments, found: &Found) -> String {
    let paths: Vec<_> = arguments
        .paths
        .iter()
        .map(|path| format!("'{}'", path.display()))
        .collect();
    let mut text = format!(
        "no recorded case was found in {}: a case is a folder with model.onnx or model.tflite and \
         out0.npy, or test_data_set_0/output_0.pb, beside it",
        paths.join(", ")
    );
    if let Some(model) = found.without_recordings.first() {
        text.push_str(&format!(
            "; there is '{}', for which nothing is recorded",
            model.display()
        ));
    }
    text
}

/// How the machine is shared.
struct Jobs {
    count: usize,
    n_threads: u32,
}

impl Jobs {
    fn new(arguments: &Arguments) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let count = arguments.jobs.map_or(processors, |n| n.get() as usize);
        let share = u32::try_from(processors / count)
            .unwrap_or(1)
            .clamp(1, 1024);
        Self {
            count,
            n_threads: arguments.number_of_threads.unwrap_or(share),
        }
    }
}

/// What a child process writes before its answer, at the beginning of a line; what a backend
/// writes does not count.
const ANSWER: &str = "armnn-verify-outcome: ";

/// Verifies one case in this process, and writes the answer.
fn run_isolated(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let [model] = &arguments.paths[..] else {
        bail!("--isolated-case takes one model");
    };
    let outcome = case::verify(model, arguments);
    let answer = serde_json::to_string(&outcome).context("cannot write the answer")?;
    terminal::print(&format!("\n{ANSWER}{answer}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn run_in_child(case: &Case, arguments: &Arguments, n_threads: u32) -> anyhow::Result<Outcome> {
    let words = arguments.of_isolated_case(&case.model, n_threads);
    let deadline = Duration::from_secs(arguments.timeout.into());
    let ended = isolation::run_again(&words, deadline)
        .with_context(|| format!("the case '{}' cannot be run", case.name))?;
    for line in ended.stderr.lines() {
        log::info!("{}: {line}", case.name);
    }
    let crashed = |detail: String| Outcome {
        status: Status::Crashed,
        detail,
    };
    let Some(status) = ended.status else {
        return Ok(crashed(format!(
            "it did not end in {} s; --timeout gives it longer",
            arguments.timeout
        )));
    };
    let answer = ended
        .stdout
        .lines()
        .rev()
        .find_map(|line| serde_json::from_str(line.strip_prefix(ANSWER)?).ok());
    // A crash after the answer, when backends are unloaded, is one all the same.
    match answer {
        Some(outcome) if status.success() => Ok(outcome),
        _ => {
            let mut detail = format!("its process ended early: {}", isolation::describe(status));
            if let Some(last) = last_words(&ended.stderr) {
                detail.push_str("; it said: ");
                detail.push_str(&last);
            }
            Ok(crashed(detail))
        }
    }
}

/// The message of a panic, or the last line that says something.
fn last_words(stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr.lines().map(str::trim).collect();
    let panic = lines.iter().rposition(|line| line.contains("panicked at"));
    if let Some(at) = panic {
        let message = lines.get(at + 1).copied().unwrap_or_default();
        return Some(format!("{} {message}", lines[at]).trim().to_owned());
    }
    let last = lines.into_iter().rfind(|line| !line.is_empty())?;
    Some(last.to_owned())
}

impl Summary {
    fn add(&mut self, name: String, outcome: Outcome) {
        match outcome.status {
            Status::Passed => self.passed += 1,
            Status::Unsupported => self.unsupported += 1,
            Status::Crashed => self.crashed += 1,
            Status::Failed | Status::CannotStart => self.failed += 1,
        }
        self.cases.push(CaseReport {
            name,
            status: outcome.status,
            detail: outcome.detail,
        });
    }

    fn counts(&self, style: Style) -> String {
        let count = |n: usize, word: &str, bad: bool| {
            let text = format!("{n} {word}");
            match (n, bad) {
                (0, _) => text,
                (_, true) => style.bad(text),
                (_, false) => style.notable(text),
            }
        };
        format!(
            "\n{} passed, {}, {}, {}\n",
            self.passed,
            count(self.failed, "failed", true),
            count(self.unsupported, "unsupported", false),
            count(self.crashed, "crashed", true),
        )
    }
}

impl CaseReport {
    fn line(&self, style: Style) -> String {
        let word = |text: &str| format!("{text:11}");
        let (name, detail) = (
            terminal::printable(&self.name),
            terminal::printable(&self.detail),
        );
        let (word, detail) = match self.status {
            Status::Passed => (style.good(word("passed")), style.faint(detail)),
            Status::Unsupported => (style.notable(word("unsupported")), detail),
            Status::Crashed => (style.bad(word("crashed")), detail),
            Status::Failed | Status::CannotStart => (style.bad(word("failed")), detail),
        };
        format!("{word}  {name}  {detail}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_panic_the_message_is_kept_and_otherwise_the_last_line() {
        let panic =
            "loading\nthread 'main' panicked at src/lib.rs:3:5:\nindex out of bounds\nnote: run";
        assert_eq!(
            last_words(panic).unwrap(),
            "thread 'main' panicked at src/lib.rs:3:5: index out of bounds"
        );
        assert_eq!(last_words("a\nb\n\n").unwrap(), "b");
        assert_eq!(last_words("\n"), None);
    }

    #[test]
    fn a_name_cannot_forge_lines_or_colours() {
        let report = CaseReport {
            name: "a\npassed  b".to_owned(),
            status: Status::Failed,
            detail: "output '\u{1b}[32m'".to_owned(),
        };
        assert_eq!(
            report.line(Style::Plain),
            "failed       a\\npassed  b  output '\\u{1b}[32m'\n"
        );
    }

    #[test]
    fn a_list_names_cases_by_their_whole_name_or_their_folder() {
        let case = |name: &str| Case {
            name: name.to_owned(),
            model: PathBuf::from(name),
        };
        let found = Found {
            cases: vec![
                case("node/test_add"),
                case("node/test_sub"),
                case("simple/x"),
            ],
            without_recordings: Vec::new(),
        };
        let listed = ["test_add", "simple/x", "test_mul"].map(str::to_owned);
        let (cases, missing) = select(&found, Some(listed.into_iter().collect()));
        let names: Vec<_> = cases.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["node/test_add", "simple/x"]);
        assert_eq!(missing, ["test_mul"]);
    }
}
