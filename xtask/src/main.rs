//! Build, stage, demo and test tasks: `cargo xtask help`.

mod codegen;
mod demo;
mod fixtures;
mod header;
mod stage;
mod test;
mod workspace;

use anyhow::{Result, bail};

const HELP: &str = "\
Tasks of this workspace: cargo xtask TASK

  demo          find a face in a picture with a backend that is loaded at run time
  test          every test that needs nothing but Rust and a C compiler
  test-dynamic  run the tests of the loader; stage backends and fixtures, and run the tests that load them
  bench         measure loaded backends beside linked-in ones, and the engine
  stage         build the backends and put them into target/staging/backends
  fixtures      build the fixtures and put them into target/staging/fixtures/<case>
  header        regenerate armnn-backend-api/include/armnn_backend.h (--check: compare)
  codegen       regenerate the TFLite schema's code (--check: compare)

test, test-dynamic and fixtures take --full: the long versions of their tests, and those of type
layouts, which build many crates.
";

fn main() -> std::process::ExitCode {
    match run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e:#}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| args.iter().skip(1).any(|arg| arg == name);
    let known: &[&str] = match args.first().map(String::as_str) {
        Some("test" | "test-dynamic" | "fixtures") => &["--full"],
        Some("header" | "codegen") => &["--check"],
        _ => &[],
    };
    if let Some(other) = args
        .iter()
        .skip(1)
        .find(|arg| !known.contains(&arg.as_str()))
    {
        bail!("unknown argument {other}; see cargo xtask help");
    }
    match args.first().map(String::as_str) {
        None | Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some("demo") => demo::run(),
        Some("test") => test::all(flag("--full")),
        Some("test-dynamic") => test::dynamic(flag("--full")),
        Some("bench") => test::bench(),
        Some("stage") => stage::run().map(|_| ()),
        Some("fixtures") => fixtures::run(flag("--full")).map(|_| ()),
        Some("header") => header::run(flag("--check")),
        Some("codegen") => codegen::run(flag("--check")),
        Some(other) => bail!("there is no task {other}; see cargo xtask help"),
    }
}
