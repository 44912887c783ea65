//! `cargo xtask test` and `cargo xtask test-dynamic`.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::{
    fixtures, stage,
    workspace::{self, cargo, root, target},
};

/// Crates whose tests load staged backends or fixtures.
const DYNAMIC_TESTS: &[&str] = &["dynamic-tests", "armnn-cli"];

/// Every test: those of all crates, and those that load staged backends.
pub fn all(full: bool) -> Result<()> {
    telling_of_skipped_tests(|skipped| {
        let mut tests = cargo(["test", "--workspace"]);
        for package in DYNAMIC_TESTS {
            tests.args(["--exclude", package]);
        }
        tier(&mut tests, full, skipped);
        workspace::run(&mut tests)?;
        stage_and_test(full, skipped)
    })
}

/// The tests of the loader, and, with backends and fixtures staged, those that load them.
pub fn dynamic(full: bool) -> Result<()> {
    telling_of_skipped_tests(|skipped| {
        let mut loader = cargo(["test", "--package", "armnn-runtime", "--test", "loader_*"]);
        tier(&mut loader, full, skipped);
        workspace::run(&mut loader)?;
        stage_and_test(full, skipped)
    })
}

fn stage_and_test(full: bool, skipped: &Path) -> Result<()> {
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
    tier(&mut tests, full, skipped);
    workspace::run(&mut tests)
}

/// Stages backends, and measures them.
pub fn bench() -> Result<()> {
    let backends = stage::run()?;
    for bench in ["backends", "engine"] {
        workspace::run(
            cargo(["bench", "--package", "dynamic-tests", "--bench", bench])
                .env("ARMNN_STAGED_BACKENDS", &backends),
        )?;
    }
    Ok(())
}

/// Where models with recorded values are, unless the environment says so.
fn test_data() -> PathBuf {
    std::env::var_os("ARMNN_TEST_DATA").map_or_else(|| root().join("../shared"), PathBuf::from)
}

/// Runs tests, with a file where those that are skipped are named; tells in the end how many they
/// were, and which, however the tests ended.
fn telling_of_skipped_tests(tests: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    std::fs::create_dir_all(target())?;
    // Of its own, as others may be running tests.
    let path = target().join(format!("skipped-tests.{}", std::process::id()));
    let result = tests(&path);
    let skipped = skipped_tests::read(&path);
    if path.exists() {
        std::fs::remove_file(&path)?;
    }
    print!("\n{}", skipped_tests::summary(&skipped?));
    result
}

/// Where test data is, where skipped tests are named, and how long the long tests take.
fn tier(tests: &mut std::process::Command, full: bool, skipped: &Path) {
    tests
        .env("ARMNN_TEST_DATA", test_data())
        .env(skipped_tests::VARIABLE, skipped);
    if full {
        tests.env("ARMNN_TEST_TIER", "full");
    }
}
