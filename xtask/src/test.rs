//! `cargo xtask test` and `cargo xtask test-dynamic`.

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
    workspace::run(&mut tests)
}

/// Stages backends, and measures them.
pub fn bench() -> Result<()> {
    let backends = stage::run()?;
    workspace::run(
        cargo(["bench", "--package", "dynamic-tests", "--bench", "backends"])
            .env("ARMNN_STAGED_BACKENDS", backends),
    )
}

/// Where test data is, unless the environment says so, and how long the long tests take.
fn tier(tests: &mut std::process::Command, full: bool) {
    if std::env::var_os("ARMNN_TEST_DATA").is_none() {
        tests.env("ARMNN_TEST_DATA", root().join("../shared"));
    }
    if full {
        tests.env("ARMNN_TEST_TIER", "full");
    }
}
