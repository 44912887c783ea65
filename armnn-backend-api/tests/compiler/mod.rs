//! The C and C++ compilers of this machine, for tests that build shared objects.

#![allow(dead_code)] // Each test uses a part.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

/// A language that the header is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C11,
    Cpp17,
}

impl Language {
    fn compiler(self) -> OsString {
        let (variable, default) = match self {
            Self::C11 => ("CC", "cc"),
            Self::Cpp17 => ("CXX", "c++"),
        };
        std::env::var_os(variable).unwrap_or_else(|| default.into())
    }

    /// Whether there is a compiler; C is required, C++ is not.
    pub fn is_available(self) -> bool {
        Command::new(self.compiler())
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    }
}

/// The folder of the header.
pub fn include_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// The folder of the C fixtures.
pub fn fixture_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../backends/fixtures/c")
}

/// Builds a shared object, every warning being an error; the error is what the compiler says.
pub fn shared_object(
    language: Language,
    sources: &[PathBuf],
    arguments: &[&str],
    out: &Path,
) -> Result<(), String> {
    let (standard, name) = match language {
        Language::C11 => ("-std=c11", "c"),
        Language::Cpp17 => ("-std=c++17", "c++"),
    };
    let output = Command::new(language.compiler())
        // A sanitizer is for the test, not for the compiler.
        .env_remove("LD_PRELOAD")
        .args([standard, "-x", name])
        .args([
            "-O1",
            "-g",
            "-fPIC",
            "-shared",
            "-fvisibility=hidden",
            "-pthread",
        ])
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .arg("-I")
        .arg(include_folder())
        .arg("-o")
        .arg(out)
        .args(sources)
        .args(["-x", "none"])
        .args(arguments)
        .output()
        .map_err(|e| format!("starting {}: {e}", language.compiler().display()))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
