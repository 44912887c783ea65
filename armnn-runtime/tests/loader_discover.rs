//! Which files of a directory are candidates, and what is said of the others.
#![cfg(all(target_os = "linux", feature = "dynamic-backends"))]

mod shared_objects;

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
    process::Command,
    time::Duration,
};

use armnn_backend_api::BackendId;
use armnn_runtime::{
    dynamic_backend_utils::get_shared_objects,
    loader::{
        Code, Stage, Status, Verdict,
        discover::{Candidate, Found, discover, trial_order},
    },
};
use shared_objects::{directory, in_thread_without_rights, set_mode};

fn names(paths: &[std::path::PathBuf], root: &Path) -> Vec<String> {
    paths
        .iter()
        .map(|path| path.strip_prefix(root).unwrap().display().to_string())
        .collect()
}

fn verdicts(directory: &Path) -> Vec<Verdict> {
    discover(&[directory])
        .into_iter()
        .filter_map(|found| match found {
            Found::Refused(verdict) => Some(*verdict),
            Found::Candidate(_) => None,
        })
        .collect()
}

fn candidates(directories: &[&Path]) -> Vec<Candidate> {
    discover(directories)
        .into_iter()
        .filter_map(|found| match found {
            Found::Candidate(candidate) => Some(candidate),
            Found::Refused(_) => None,
        })
        .collect()
}

/// The code that `discover` has for the file called `name`.
fn code_of(directory: &Path, name: &str) -> Option<Code> {
    verdicts(directory)
        .into_iter()
        .find(|verdict| verdict.path == directory.join(name))
        .map(|verdict| {
            assert_eq!(verdict.stage, Stage::Discover);
            assert_eq!(verdict.status, Status::Rejected);
            verdict.code.unwrap()
        })
}

#[test]
fn valid_names_are_found_in_order_and_families_of_links_once() {
    let root = directory();
    let [p1, p2, p3, p4] = ["p1", "p2", "p3", "p4"].map(|name| root.path().join(name));
    for path in [&p1, &p2, &p3] {
        fs::create_dir(path).unwrap();
    }
    for name in [
        "Arm_GpuAcc_backend.so",
        "Arm_GpuAcc_backend.so.1",
        "Arm_GpuAcc_backend.so.1.2",
        "Arm_GpuAcc_backend.so.1.2.3",
        "Arm_GpuAcc_backend.so.10.1.27",
        "Arm123_GpuAcc_backend.so",
        "Arm_GpuAcc456_backend.so",
        "Arm_GpuAcc_backend.so.10.1.33.",
        "Arm_GpuAcc_backend.so.3.4..5",
        "Arm_GpuAcc_backend.so.1,1.1",
        "Arm%Co_GpuAcc_backend.so",
        "Arm_Gpu.Acc_backend.so",
        "GpuAcc_backend.so",
        "_GpuAcc_backend.so",
        "Arm__backend.so",
        "Arm_GpuAcc.so",
        "__backend.so",
        "__.so",
        "Arm_GpuAcc_backend",
        "Arm_GpuAcc_backend_v1.2.so",
    ] {
        fs::write(p1.join(name), "Test file for dynamic backend file parsing").unwrap();
    }
    for name in ["Arm_CpuAcc_backend.so", "Arm_GpuAcc_backend.so"] {
        fs::write(p2.join(name), "Test file").unwrap();
    }
    for (link, target) in [
        ("Arm_CpuAcc_backend.so.1", "Arm_CpuAcc_backend.so"),
        ("Arm_CpuAcc_backend.so.1.2", "Arm_CpuAcc_backend.so.1"),
        ("Arm_CpuAcc_backend.so.1.2.3", "Arm_CpuAcc_backend.so.1.2"),
        ("Arm_no_backend.so", "nothing"),
    ] {
        symlink(target, p2.join(link)).unwrap();
    }

    let found = get_shared_objects(&[&p1, &p2, &p3, &p4]);
    assert_eq!(
        names(&found, root.path()),
        [
            "p1/Arm123_GpuAcc_backend.so",
            "p1/Arm_GpuAcc456_backend.so",
            "p1/Arm_GpuAcc_backend.so",
            "p1/Arm_GpuAcc_backend.so.1",
            "p1/Arm_GpuAcc_backend.so.1.2",
            "p1/Arm_GpuAcc_backend.so.1.2.3",
            "p1/Arm_GpuAcc_backend.so.10.1.27",
            "p2/Arm_CpuAcc_backend.so",
            "p2/Arm_GpuAcc_backend.so",
        ]
    );
    // Thirteen names outside the scheme, each with its own verdict.
    let mismatches = verdicts(&p1);
    assert_eq!(mismatches.len(), 13);
    assert!(
        mismatches
            .iter()
            .all(|verdict| verdict.code == Some(Code::NameMismatch))
    );
    assert_eq!(code_of(&p2, "Arm_no_backend.so"), Some(Code::BrokenLink));
    for link in [".1", ".1.2", ".1.2.3"] {
        let name = format!("Arm_CpuAcc_backend.so{link}");
        assert_eq!(code_of(&p2, &name), Some(Code::DuplicateFile), "{name}");
    }
    // A directory that is not there has a verdict of its own.
    assert_eq!(verdicts(&p4)[0].code, Some(Code::PathInvalid));
}

#[test]
fn unrelated_files_and_directories_are_passed_over_in_silence() {
    let root = directory();
    for name in ["README.md", "model.tflite", "notes.so.txt", "a.solution"] {
        fs::write(root.path().join(name), "").unwrap();
    }
    for name in ["old-backends", "x.so", "models"] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    assert!(discover(&[root.path()]).is_empty());
}

#[test]
fn subdirectories_are_not_searched() {
    let root = directory();
    let below = root.path().join("below");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("Arm_X_backend.so"), "").unwrap();
    assert!(discover(&[root.path()]).is_empty());
}

#[test]
fn links_in_circles_end_the_search_for_that_file_only() {
    let root = directory();
    let at = |name: &str| root.path().join(name);
    symlink("Arm_Self_backend.so", at("Arm_Self_backend.so")).unwrap();
    symlink("Arm_B_backend.so", at("Arm_A_backend.so")).unwrap();
    symlink("Arm_A_backend.so", at("Arm_B_backend.so")).unwrap();
    // A circle above the file.
    symlink("circle", at("circle")).unwrap();
    symlink("circle/backend", at("Arm_C_backend.so")).unwrap();
    // A chain of more links than the kernel follows.
    fs::write(at("end"), "").unwrap();
    symlink("end", at("link0")).unwrap();
    for i in 1..60 {
        symlink(format!("link{}", i - 1), at(&format!("link{i}"))).unwrap();
    }
    symlink("link59", at("Arm_Long_backend.so")).unwrap();
    symlink("link20", at("Arm_Short_backend.so")).unwrap();

    for name in ["Self", "A", "B", "C", "Long"] {
        let name = format!("Arm_{name}_backend.so");
        assert_eq!(code_of(root.path(), &name), Some(Code::LinkLoop), "{name}");
    }
    let found = candidates(&[root.path()]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, at("Arm_Short_backend.so"));
    assert_eq!(
        found[0].canonical_path,
        fs::canonicalize(root.path()).unwrap().join("end")
    );
}

#[test]
fn what_is_no_regular_file_is_refused_unopened() {
    let root = directory();
    let at = |name: &str| root.path().join(name);
    let status = Command::new("mkfifo")
        .arg(at("Arm_Fifo_backend.so"))
        .status();
    assert!(status.unwrap().success());
    // Opening this one for reading would block until someone writes to it.
    symlink("Arm_Fifo_backend.so", at("Arm_FifoLink_backend.so")).unwrap();
    fs::create_dir(at("Arm_Directory_backend.so")).unwrap();
    let _socket = UnixListener::bind(at("Arm_Socket_backend.so")).unwrap();
    symlink("/dev/null", at("Arm_Device_backend.so")).unwrap();
    symlink("/", at("Arm_Root_backend.so")).unwrap();
    for (name, what) in [
        ("Fifo", "a FIFO"),
        ("FifoLink", "a FIFO"),
        ("Directory", "a directory"),
        ("Socket", "a socket"),
        ("Device", "a device"),
        ("Root", "a directory"),
    ] {
        let name = format!("Arm_{name}_backend.so");
        let verdict = verdicts(root.path())
            .into_iter()
            .find(|verdict| verdict.path == at(&name))
            .unwrap();
        assert_eq!(verdict.code, Some(Code::NotRegularFile), "{name}");
        assert!(verdict.message.contains(what), "{verdict}");
    }
    assert!(candidates(&[root.path()]).is_empty());
}

#[test]
fn a_file_without_permission_is_unreadable_and_disturbs_no_other() {
    let root = directory();
    let secret = root.path().join("Arm_Secret_backend.so");
    fs::write(&secret, "").unwrap();
    set_mode(&secret, 0);
    fs::write(root.path().join("Arm_Zed_backend.so"), "").unwrap();
    let path = root.path().to_owned();
    let found = in_thread_without_rights(move || discover(&[path]));
    assert_eq!(found.len(), 2);
    let Found::Refused(verdict) = &found[0] else {
        panic!("{found:?}");
    };
    assert_eq!(verdict.code, Some(Code::Unreadable));
    assert_eq!(verdict.name.as_deref(), Some("Secret"));
    assert!(matches!(&found[1], Found::Candidate(_)));
}

#[test]
fn a_directory_without_permission_is_reported_and_disturbs_no_other() {
    let root = directory();
    let [closed, open] = ["closed", "open"].map(|name| root.path().join(name));
    for path in [&closed, &open] {
        fs::create_dir(path).unwrap();
        fs::write(path.join("Arm_X_backend.so"), "").unwrap();
        set_mode(path, 0o755);
    }
    set_mode(&closed, 0);
    let paths = [closed.clone(), open];
    let found = in_thread_without_rights(move || discover(&paths));
    set_mode(&closed, 0o755);
    assert_eq!(found.len(), 2);
    assert!(matches!(&found[0], Found::Refused(v) if v.code == Some(Code::PathInvalid)));
    assert!(matches!(&found[1], Found::Candidate(_)));
}

#[test]
fn hard_links_and_links_across_directories_are_one_file() {
    let root = directory();
    let [a, b] = ["a", "b"].map(|name| root.path().join(name));
    fs::create_dir(&a).unwrap();
    fs::create_dir(&b).unwrap();
    fs::write(a.join("Arm_X_backend.so"), "").unwrap();
    fs::hard_link(a.join("Arm_X_backend.so"), a.join("Arm_Y_backend.so")).unwrap();
    symlink("../a/Arm_X_backend.so", b.join("Arm_X_backend.so")).unwrap();
    let found = candidates(&[&a, &b]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].aliases.len(), 2);
    assert!(found[0].is_named_after("X"));
    assert!(found[0].is_named_after("Y"));
    assert!(!found[0].is_named_after("Z"));
    let verdict = &verdicts(&a)[0];
    assert_eq!(verdict.code, Some(Code::DuplicateFile));
    assert!(verdict.message.contains("Arm_X_backend.so"), "{verdict}");
}

#[test]
fn a_candidate_that_was_replaced_since_is_not_opened() {
    let root = directory();
    let file = root.path().join("Arm_X_backend.so");
    fs::write(&file, "").unwrap();
    let candidate = candidates(&[root.path()]).remove(0);
    assert!(candidate.open().is_ok());
    fs::write(root.path().join("new"), "").unwrap();
    fs::rename(root.path().join("new"), &file).unwrap();
    assert_eq!(candidate.open().unwrap_err().code, Code::Unreadable);
}

#[test]
fn the_right_candidate_is_tried_first() {
    let root = directory();
    let [a, b] = ["a", "b"].map(|name| root.path().join(name));
    for path in [&a, &b] {
        fs::create_dir(path).unwrap();
    }
    // The backend's id by its note: all of these are GpuAcc, but for the ones without a note.
    let id = BackendId::new("GpuAcc").unwrap();
    let without_note = ["Zzz_Other_backend.so"];
    for (path, name) in [
        (&b, "Aaa_GpuAcc_backend.so"),
        (&a, "Aaa_Fast_backend.so"),
        (&a, "Arm_GpuAcc_backend.so"),
        (&a, "Arm_GpuAcc_backend.so.2"),
        (&a, "Arm_GpuAcc_backend.so.10"),
        (&a, "Arm_GpuAcc_backend.so.010"),
        (&a, "Arm_GpuAcc_backend.so.9.7"),
        (&a, "Zzz_Other_backend.so"),
    ] {
        fs::write(path.join(name), name).unwrap();
    }
    let mut found: Vec<_> = candidates(&[&a, &b])
        .into_iter()
        .map(|candidate| {
            let name = candidate.path.file_name().unwrap().to_str().unwrap();
            let noted = (!without_note.contains(&name)).then(|| id.clone());
            (candidate, noted)
        })
        .collect();
    trial_order(
        &mut found,
        |(candidate, _)| candidate,
        |(_, noted)| noted.as_ref(),
    );
    let order: Vec<_> = found
        .iter()
        .map(|(candidate, _)| candidate.path.clone())
        .collect();
    assert_eq!(
        names(&order, root.path()),
        [
            "a/Arm_GpuAcc_backend.so",
            "a/Arm_GpuAcc_backend.so.010",
            "a/Arm_GpuAcc_backend.so.10",
            "a/Arm_GpuAcc_backend.so.9.7",
            "a/Arm_GpuAcc_backend.so.2",
            "a/Zzz_Other_backend.so",
            "a/Aaa_Fast_backend.so",
            "b/Aaa_GpuAcc_backend.so",
        ]
    );
}

#[test]
fn ten_thousand_unrelated_files_cost_next_to_nothing() {
    let root = directory();
    for i in 0..10_000 {
        fs::write(root.path().join(format!("weights_{i:05}.bin")), "").unwrap();
    }
    fs::write(root.path().join("Arm_X_backend.so"), "").unwrap();
    let started = processor_time();
    assert_eq!(get_shared_objects(&[root.path()]).len(), 1);
    // About 10 ms when optimized; one regular expression per file would take half a second.
    let took = processor_time() - started;
    assert!(took < Duration::from_millis(450), "{took:?}");
}

/// What this thread has computed so far, whatever else the machine has to do.
fn processor_time() -> Duration {
    // SAFETY: writes to the struct, of numbers.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        let told = libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
        assert_eq!(told, 0);
        time
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn names_that_are_not_utf8_are_reported() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let root = directory();
    let name = OsStr::from_bytes(b"Arm_\xff_backend.so");
    fs::write(root.path().join(name), "").unwrap();
    let verdict = &verdicts(root.path())[0];
    assert_eq!(verdict.code, Some(Code::NameMismatch));
    assert_eq!(verdict.path, root.path().join(name));
}
