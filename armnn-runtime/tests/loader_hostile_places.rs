//! Files in strange places: links into the kernel's own file systems, files of impossible sizes, names
//! as long as can be, the same directory again and again, and very many candidates.
#![cfg(all(target_os = "linux", feature = "dynamic-backends"))]

mod nest;
mod shared_objects;

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use armnn_runtime::loader::{Code, Stage, Status, load::Selection};
use nest::{Nest, load_all, load_with, verdict_on};
use shared_objects::in_thread_without_rights;

/// Some are regular files to `stat`, and reading them waits for something to happen, or shows the memory
/// of this process.
#[test]
fn links_to_files_of_the_kernel_are_refused_and_wait_for_nothing() {
    for target in [
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/tty",
        "/dev/stdin",
        "/proc/self/mem",
        "/proc/self/maps",
        "/proc/kmsg",
        "/proc/self/fd/0",
        "/proc/self",
        "/proc/self/root",
        "/sys/kernel/debug/tracing/trace_pipe",
        "/sys/kernel/notes",
    ] {
        let nest = Nest::new();
        symlink(target, nest.at("X")).unwrap();
        let verdict = nest.verdict("X");
        assert_eq!(verdict.status, Status::Rejected, "{verdict}");
        let early = [Stage::Discover, Stage::Inspect];
        assert!(early.contains(&verdict.stage), "{verdict}");
    }
}

#[test]
fn a_file_that_is_said_to_be_enormous_is_judged_by_what_is_in_it() {
    let nest = Nest::new();
    let enormous = 1 << 40;
    let zeros = fs::File::create(nest.at("Zeros")).unwrap();
    zeros.set_len(enormous).unwrap();
    nest.refuses("Zeros", Stage::Inspect, Code::NotElf, &["begins with"]);
    // Behind what is loaded there may be anything.
    fs::remove_file(nest.at("Zeros")).unwrap();
    fs::copy(nest.at("Good"), nest.at("Long")).unwrap();
    let long = fs::OpenOptions::new()
        .write(true)
        .open(nest.at("Long"))
        .unwrap();
    long.set_len(enormous).unwrap();
    let verdict = nest.verdict("Long");
    assert_eq!(verdict.status, Status::Shadowed, "{verdict}");
}

#[test]
fn the_longest_names_and_paths_have_a_verdict() {
    let nest = Nest::new();
    let longest = "x".repeat(255 - "Arm__backend.so".len());
    fs::write(nest.at(&longest), "text").unwrap();
    nest.refuses(&longest, Stage::Inspect, Code::NotElf, &[]);
    // A directory that can be reached by a shorter path only: with the name of a file, its own is too
    // long to be opened.
    let mut deep = nest.root.path().to_owned();
    let part = "d".repeat(200);
    while deep.as_os_str().len() + part.len() + 2 < 4096 - 60 {
        deep.push(&part);
    }
    fs::create_dir_all(&deep).unwrap();
    let last = "e".repeat(4096 - 20 - deep.as_os_str().len());
    let short = nest.root.path().join("short");
    symlink(&deep, &short).unwrap();
    fs::create_dir(short.join(&last[..last.len().min(255)])).unwrap();
    let inner = short.join(&last[..last.len().min(255)]);
    fs::copy(
        nest.at("Good"),
        inner.join("Arm_AVeryLongNameOfABackend_backend.so"),
    )
    .unwrap();
    let by_long_path = deep.join(inner.file_name().unwrap());
    let loaded = load_with(&[&by_long_path, nest.root.path()], &Selection::All);
    assert_eq!(loaded.backends.len(), 1);
    let in_it = loaded
        .verdicts
        .iter()
        .filter(|verdict| verdict.path.starts_with(&by_long_path));
    assert_eq!(in_it.count(), 1);
}

#[test]
fn a_directory_that_is_given_again_under_other_names_adds_nothing() {
    let nest = Nest::new();
    let root = nest.root.path();
    let link = root.join("link");
    symlink(root, &link).unwrap();
    let again = [
        root.to_owned(),
        root.to_owned(),
        root.join("."),
        link.clone(),
        link.join("link"),
        PathBuf::from(format!("//{}//", root.display())),
    ];
    let directories: Vec<&Path> = again.iter().map(PathBuf::as_path).collect();
    let loaded = load_with(&directories, &Selection::All);
    assert_eq!(loaded.backends.len(), 1);
    let codes: Vec<_> = loaded.verdicts.iter().map(|v| v.code).collect();
    assert_eq!(codes.len(), again.len());
    assert_eq!(codes[0], None);
    assert!(
        codes[1..]
            .iter()
            .all(|code| *code == Some(Code::DuplicateFile))
    );
}

#[test]
fn ten_thousand_candidates_that_are_none_are_ten_thousand_verdicts() {
    let nest = Nest::new();
    let sound = fs::read(nest.at("Good")).unwrap();
    for i in 0..10_000 {
        // Texts, files that end after their header, and links to one another.
        let file = nest.at(&format!("No{i:05}"));
        match i % 3 {
            0 => fs::write(file, "text").unwrap(),
            1 => fs::write(file, &sound[..64]).unwrap(),
            _ => symlink(nest.at(&format!("No{:05}", i - 1)), file).unwrap(),
        }
    }
    let loaded = load_all(nest.root.path());
    assert_eq!(descriptors_below(nest.root.path()), [] as [PathBuf; 0]);
    assert_eq!(loaded.verdicts.len(), 10_001);
    for (code, count) in [
        (Code::NotElf, 3334),
        (Code::Truncated, 3333),
        (Code::DuplicateFile, 3333),
    ] {
        let found = loaded.verdicts.iter().filter(|v| v.code == Some(code));
        assert_eq!(found.count(), count, "{code}");
    }
    let good = verdict_on(&loaded, &nest.at("Good"));
    assert_eq!(good.status, Status::Loaded);
}

/// The open files of this process in a directory; other tests that run at the same time have some of
/// their own.
fn descriptors_below(directory: &Path) -> Vec<PathBuf> {
    let directory = fs::canonicalize(directory).unwrap();
    let all = fs::read_dir("/proc/self/fd").unwrap();
    // Those of other threads may be closed by now.
    let targets = all.filter_map(|descriptor| fs::read_link(descriptor.ok()?.path()).ok());
    targets
        .filter(|path| path.starts_with(&directory))
        .collect()
}

#[test]
fn candidates_in_a_directory_that_may_be_listed_and_not_entered_are_unreadable() {
    let nest = Nest::new();
    let folder = nest.root.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::copy(nest.at("Good"), folder.join("Arm_X_backend.so")).unwrap();
    let mode = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o444);
    let path = folder.clone();
    let found = in_thread_without_rights(move || load_all(&path).verdicts);
    mode(0o755);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, Some(Code::Unreadable), "{}", found[0]);
}
