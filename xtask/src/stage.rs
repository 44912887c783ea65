//! `cargo xtask stage`: builds backends, and puts them where an application would find them.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, ensure};

use crate::workspace::{cargo, empty_directory, target};

/// The backends that are staged: crate, vendor, name.
const BACKENDS: &[(&str, &str, &str)] = &[
    ("cpu-ref-dynamic", "Arm", "CpuRef"),
    ("sample-backend-dynamic", "Arm", "SampleDynamic"),
];

/// Builds backends, and installs them into an empty directory.
pub fn stage(backends: &[(&str, &str, &str)], directory: &Path) -> Result<()> {
    empty_directory(directory)?;
    for &(package, vendor, name) in backends {
        let library = build(package)?;
        install(&library, vendor, name, env!("CARGO_PKG_VERSION"), directory)?;
    }
    Ok(())
}

/// Stages the backends into `target/staging/backends`; returns that directory.
pub fn run() -> Result<PathBuf> {
    let directory = target().join("staging/backends");
    stage(BACKENDS, &directory)?;
    println!(
        "staged {} backends in {}",
        BACKENDS.len(),
        directory.display()
    );
    Ok(directory)
}

/// Builds one cdylib crate, on its own, so that no other crate's features get into it; optimized
/// and stripped.
pub fn build(package: &str) -> Result<PathBuf> {
    build_with(package, &[])
}

/// The same with features of that crate.
pub fn build_with(package: &str, features: &[&str]) -> Result<PathBuf> {
    let mut build = cargo(["build", "--package", package, "--profile", "plugin"]);
    for feature in features {
        build.args(["--features", feature]);
    }
    // Where the library is depends on cargo's configuration, so cargo is asked.
    build
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit());
    let output = build.output().context("cannot start cargo")?;
    ensure!(output.status.success(), "{package} cannot be built");
    let file = format!("/lib{}.so", package.replace('-', "_"));
    let messages = String::from_utf8_lossy(&output.stdout);
    let library = messages
        .lines()
        .filter_map(|line| line.split_once("\"filenames\":[")?.1.split_once(']'))
        .flat_map(|(files, _)| files.split(',').map(|file| file.trim_matches('"')))
        .find(|name| name.ends_with(&file));
    let library = library.with_context(|| format!("cargo built {package}, but no {file}"))?;
    Ok(PathBuf::from(library))
}

/// Installs a library under its versioned name, with the usual family of links.
pub fn install(
    library: &Path,
    vendor: &str,
    name: &str,
    version: &str,
    directory: &Path,
) -> Result<()> {
    let base = format!("{vendor}_{name}_backend.so");
    let numbers: Vec<&str> = version.split('.').take(3).collect();
    let versioned = format!("{base}.{}", numbers.join("."));
    // Written under another name and renamed, as an installer does it: a program that has the old
    // file loaded goes on with it.
    let temporary = directory.join(format!(".{versioned}.new"));
    std::fs::copy(library, &temporary)
        .with_context(|| format!("cannot copy {}", library.display()))?;
    std::fs::rename(&temporary, directory.join(&versioned))?;
    let mut links = vec![base.clone()];
    links.extend((1..numbers.len()).map(|n| format!("{base}.{}", numbers[..n].join("."))));
    for link in links {
        #[cfg(unix)]
        std::os::unix::fs::symlink(&versioned, directory.join(&link))
            .with_context(|| format!("cannot link {link}"))?;
        #[cfg(not(unix))]
        std::fs::copy(library, directory.join(&link))?;
    }
    Ok(())
}
