//! `cargo xtask test` and `cargo xtask test-dynamic`.

use std::path::PathBuf;

use anyhow::Result;

use crate::{
    fixtures, stage,
    workspace::{self, cargo, root, target},
};

/// Crates whose tests load staged backends or fixtures.
const DYNAMIC_TESTS: &[&str] = &["dynamic-tests", "armnn-cli"];

/// Every test: those of all crates, and those that load staged backends.
pub fn all(full: bool) -> Result<()> {
    let mut tests = cargo(["test", "--workspace"]);
    for package in DYNAMIC_TESTS {
        tests.args(["--exclude", package]);
    }
    tier(&mut tests, full);
    workspace::run(&mut tests)?;
    dynamic(full)
}

/// Stages backends and fixtures, and runs the tests that load them.
pub fn dynamic(full: bool) -> Result<()> {
    let backends = stage::run()?;
    let fixtures = fixtures::run(full)?;
    let mut tests = cargo(["test"]);
    for package in DYNAMIC_TESTS {
        tests.args(["--package", package]);
    }
    if full {
        tests.args([
            "--features",
            "dynamic-tests/layout-check,armnn-cli/layout-check",
        ]);
    }
    tests
        .env("ARMNN_STAGED_BACKENDS", backends)
        .env("ARMNN_STAGED_FIXTURES", fixtures)
        .env("ARMNN_TARGET", target());
    tier(&mut tests, full);
    workspace::run(&mut tests)?;
    tell_of_skipped_tests();
    Ok(())
}

/// Stages backends, and measures them.
pub fn bench() -> Result<()> {
    let backends = stage::run()?;
    workspace::run(
        cargo(["bench", "--package", "dynamic-tests", "--bench", "backends"])
            .env("ARMNN_STAGED_BACKENDS", backends),
    )
}

/// Where models with recorded values are, unless the environment says so.
fn test_data() -> PathBuf {
    std::env::var_os("ARMNN_TEST_DATA").map_or_else(|| root().join("../shared"), PathBuf::from)
}

/// Tests without their data count as passed, and what they print is hidden.
fn tell_of_skipped_tests() {
    let data = test_data();
    if !data.join("corpus").is_dir() {
        println!(
            "note: there is no test data in {}: the tests that read models from there (files \
             model_files, assignment_report, passes_models, the corpus tests of the ONNX parser and \
             the golden test of execute_network) were skipped; name its folder in ARMNN_TEST_DATA",
            data.display()
        );
    }
}

/// Where test data is, and how long the long tests take.
fn tier(tests: &mut std::process::Command, full: bool) {
    tests.env("ARMNN_TEST_DATA", test_data());
    if full {
        tests.env("ARMNN_TEST_TIER", "full");
    }
}
