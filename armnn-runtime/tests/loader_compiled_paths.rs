//! A library with a list of directories compiled in. Meant for a build with `DYNAMIC_BACKEND_PATHS`
//! set, which `loading_builds` of the crate `dynamic-tests` makes; otherwise there is nothing to test.
#![cfg(all(target_os = "linux", feature = "dynamic-backends"))]

use std::{
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::Command,
};

use armnn_runtime::loader::paths::{
    COMPILED_PATHS, ENVIRONMENT_VARIABLE, PathSource, PathSources, PathStatus,
};

/// Path, source and status of what this process would search.
fn searched(option: Vec<PathBuf>, environment_allowed: bool) -> String {
    let reports = PathSources::of_process(option, environment_allowed).resolve();
    let texts: Vec<String> = reports
        .iter()
        .map(|r| format!("{} {} {}", r.path.display(), r.source, r.status))
        .collect();
    texts.join(", ")
}

/// What a process of its own would search, run from `program` with this list in its environment.
fn searched_by(program: &Path, environment: Option<&Path>) -> String {
    let mut command = Command::new(program);
    command
        .args(["--exact", "in_a_process_of_its_own", "--include-ignored"])
        .args(["--nocapture", "--test-threads", "1"]);
    match environment {
        Some(list) => command.env(ENVIRONMENT_VARIABLE, list),
        None => command.env_remove(ENVIRONMENT_VARIABLE),
    };
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let found = text.lines().find_map(|line| line.split_once("SEARCHED="));
    found.unwrap_or_else(|| panic!("{text}")).1.to_owned()
}

#[test]
#[ignore = "started by the other test"]
fn in_a_process_of_its_own() {
    println!("SEARCHED={}", searched(Vec::new(), true));
}

#[test]
fn the_compiled_list_is_searched_unless_another_source_replaces_it() {
    if COMPILED_PATHS.is_empty() {
        skipped_tests::skip(
            "this was built without DYNAMIC_BACKEND_PATHS; `loading_builds` tests it, in the full tier",
        );
        return;
    }
    let program = std::env::current_exe().unwrap();
    let compiled = searched_by(&program, None);
    let first = COMPILED_PATHS.split(':').next().unwrap();
    assert!(
        compiled.starts_with(&format!("{first} compiled ok")),
        "{compiled}"
    );
    // The list is `<a directory>::relative:/no/such/directory`.
    assert!(
        compiled.contains("relative compiled path-invalid"),
        "{compiled}"
    );
    assert!(
        compiled.ends_with("/no/such/directory compiled path-invalid"),
        "{compiled}"
    );

    let other = tempfile::tempdir().unwrap();
    let by_environment = searched_by(&program, Some(other.path()));
    assert_eq!(
        by_environment,
        format!("{} environment ok", other.path().display())
    );
    assert_eq!(searched_by(&program, Some(Path::new(""))), compiled);
    let by_option = PathSources::of_process(vec![other.path().to_owned()], true).resolve();
    assert_eq!(by_option.len(), 1);
    assert_eq!(by_option[0].source, PathSource::Option);
    assert_eq!(by_option[0].status, PathStatus::Ok);

    // A program of another user, with its rights.
    let raised = other.path().join("raised");
    std::fs::copy(&program, &raised).unwrap();
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(other.path(), 0o755);
    if chown(&raised, Some(65534), None).is_err() {
        skipped_tests::skip("only the super-user can give a program to another user");
        return;
    }
    mode(&raised, 0o4755);
    let by_raised = searched_by(&raised, Some(other.path()));
    assert!(by_raised.contains(" compiled "), "{by_raised}");
    assert!(!by_raised.contains("environment"), "{by_raised}");
}
