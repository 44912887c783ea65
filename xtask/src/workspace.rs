//! Where things are, and how programs are run.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use anyhow::{Context as _, Result, bail};

/// The root of the workspace that the task was started in. Told by cargo for each start: what was
/// compiled into this program may be of another checkout that shares the target directory.
pub fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        package
            .parent()
            .map_or_else(|| ".".into(), Path::to_path_buf)
    })
}

/// Where everything is built, so that all tasks share what was compiled.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        // As cargo understands it: relative to where the task was started.
        Some(dir) => std::path::absolute(&dir).unwrap_or_else(|_| dir.into()),
        None => root().join("target"),
    }
}

/// A call of cargo in the workspace.
pub fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(root())
        .args(args)
        .env("CARGO_TARGET_DIR", target());
    command
}

/// Runs a program, and fails if it does.
pub fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    if !status.success() {
        let args: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
        bail!("{program} {} failed: {status}", args.join(" "));
    }
    Ok(())
}

/// Makes an empty directory.
pub fn empty_directory(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(e).with_context(|| format!("cannot empty {}", path.display()));
        }
        _ => {}
    }
    std::fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))
}
