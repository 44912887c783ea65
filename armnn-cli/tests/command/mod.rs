//! Runs the built command.
#![allow(dead_code, reason = "each test program uses a part")]

pub mod onnx;

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

/// What the command said.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The command, without anything in the environment that changes what it says.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_armnn"));
    for variable in [
        "ARMNN_DYNAMIC_BACKENDS_PATH",
        "RUST_BACKTRACE",
        "RUST_LIB_BACKTRACE",
        "RUST_LOG",
        "RUST_LOG_STYLE",
        // Colours, and where lines are broken.
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "NO_COLOR",
    ] {
        command.env_remove(variable);
    }
    command
}

/// Runs the command.
pub fn armnn<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Said {
    let output = command()
        .args(arguments)
        .output()
        .expect("the command can be started");
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("standard output is text"),
        stderr: String::from_utf8(output.stderr).expect("standard error is text"),
    }
}

impl Said {
    /// Checks the exit code, and that standard error contains `parts`.
    #[track_caller]
    pub fn fails(&self, code: i32, parts: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        for part in parts {
            assert!(
                self.stderr.contains(part),
                "{part:?} is missing: {}",
                self.stderr
            );
        }
        self
    }

    /// Checks that the job was done, and that standard output contains `parts`.
    #[track_caller]
    pub fn succeeds(&self, parts: &[&str]) -> &Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        for part in parts {
            assert!(
                self.stdout.contains(part),
                "{part:?} is missing: {}",
                self.stdout
            );
        }
        self
    }

    /// Standard output, which must be one JSON document.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// The face detector of the demo: input `[1, 128, 128, 3]`, outputs `[1, 896, 16]` and
/// `[1, 896, 1]`.
pub fn face_detector() -> PathBuf {
    repository().join("demo/assets/face_detection_short_range.tflite")
}

pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is in the repository")
}

/// The directory of backends that the test's environment names; without it, a notice.
pub fn staged_backends() -> Option<PathBuf> {
    let directory = std::env::var_os("ARMNN_STAGED_BACKENDS").map(PathBuf::from);
    if directory.is_none() {
        skipped_tests::skip("ARMNN_STAGED_BACKENDS is not set; `cargo xtask test-dynamic` sets it");
    }
    directory
}

/// A file of the test data; without it, a notice.
pub fn test_data(name: &str) -> Option<PathBuf> {
    let directory = std::env::var_os("ARMNN_TEST_DATA")
        .map_or_else(|| repository().join("../shared"), PathBuf::from);
    let path = directory.join(name);
    if !path.exists() {
        let path = path.display();
        skipped_tests::skip(format!("there is no '{path}'; set ARMNN_TEST_DATA"));
        return None;
    }
    Some(path)
}
