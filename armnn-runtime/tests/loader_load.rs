//! Whole directories: which backends come out, and the verdict of every candidate.
#![cfg(all(target_os = "linux", feature = "dynamic-backends"))]

mod shared_objects;

use std::{collections::BTreeSet, fs, path::Path};

use armnn_backend_api::{BackendId, BackendVersion};
use armnn_runtime::{
    dynamic_backend::DynamicBackend,
    loader::{
        Code, Refusal, Stage, Status, Verdict,
        inspect::HostInterface,
        load::{Created, Loaded, Request, Selection, load},
    },
};
use shared_objects::{Backend, Note, directory};
use tempfile::TempDir;

fn ids(ids: &[&str]) -> BTreeSet<BackendId> {
    ids.iter().map(|id| BackendId::new(id).unwrap()).collect()
}

fn load_with(
    directories: &[&Path],
    selection: &Selection,
    taken: &[&str],
    create: impl FnMut(DynamicBackend) -> Result<Created<DynamicBackend>, Refusal>,
) -> Loaded<DynamicBackend> {
    let request = Request {
        directories,
        selection,
        taken: &ids(taken),
        host: HostInterface::CURRENT,
    };
    // SAFETY: the tests' own libraries, which do no harm.
    unsafe { load(&request, create) }
}

fn load_all(directories: &[&Path]) -> Loaded<DynamicBackend> {
    load_with(directories, &Selection::All, &[], |backend| {
        Ok(Created::Usable(backend))
    })
}

fn loaded_ids(loaded: &Loaded<DynamicBackend>) -> Vec<&str> {
    let backends = loaded.backends.iter();
    backends
        .map(|backend| backend.backend_id().as_str())
        .collect()
}

fn verdict<'a>(loaded: &'a Loaded<DynamicBackend>, name: &str) -> &'a Verdict {
    let mut verdicts = loaded.verdicts.iter();
    verdicts
        .find(|verdict| verdict.path.file_name().unwrap() == name)
        .unwrap_or_else(|| panic!("{name} has a verdict"))
}

/// A directory with these backends: name of the file, id, whether it has a note.
fn with_backends(backends: &[(&str, &str, bool)]) -> TempDir {
    let root = directory();
    for (name, id, has_note) in backends {
        let mut backend = Backend::new(id);
        if *has_note {
            backend = backend.note(Note::new(id));
        }
        backend.build(root.path().join(name));
    }
    root
}

#[test]
fn every_candidate_gets_one_verdict_and_good_ones_load_beside_bad_ones() {
    let root = with_backends(&[
        ("Arm_TestValid2_backend.so", "TestValid2", true),
        ("Arm_TestValid3_backend.so", "TestValid3", false),
    ]);
    let at = |name: &str| root.path().join(name);
    Backend::new("X")
        .version(BackendVersion::new(0, 7))
        .build(at("Arm_TestInvalid8_backend.so"));
    Backend::new("X")
        .factory_function("")
        .build(at("Arm_NoFactory_backend.so"));
    fs::write(at("Arm_Text_backend.so"), "text").unwrap();
    fs::write(at("strange.so"), "text").unwrap();
    std::os::unix::fs::symlink("nothing", at("Arm_Link_backend.so")).unwrap();

    let loaded = load_all(&[root.path()]);
    assert_eq!(loaded_ids(&loaded), ["TestValid2", "TestValid3"]);
    let summary: Vec<_> = loaded
        .verdicts
        .iter()
        .map(|verdict| {
            let name = verdict.path.file_name().unwrap().to_str().unwrap();
            (name, verdict.status, verdict.stage, verdict.code)
        })
        .collect();
    use Status::{Loaded, Rejected};
    assert_eq!(
        summary,
        [
            (
                "Arm_Link_backend.so",
                Rejected,
                Stage::Discover,
                Some(Code::BrokenLink)
            ),
            (
                "Arm_NoFactory_backend.so",
                Rejected,
                Stage::Inspect,
                Some(Code::MissingSymbol)
            ),
            (
                "Arm_TestInvalid8_backend.so",
                Rejected,
                Stage::Identify,
                Some(Code::VersionIncompatible)
            ),
            ("Arm_TestValid2_backend.so", Loaded, Stage::Create, None),
            ("Arm_TestValid3_backend.so", Loaded, Stage::Create, None),
            (
                "Arm_Text_backend.so",
                Rejected,
                Stage::Inspect,
                Some(Code::NotElf)
            ),
            (
                "strange.so",
                Rejected,
                Stage::Discover,
                Some(Code::NameMismatch)
            ),
        ]
    );
    let good = verdict(&loaded, "Arm_TestValid2_backend.so");
    assert_eq!(good.vendor.as_deref(), Some("Arm"));
    assert_eq!(good.name.as_deref(), Some("TestValid2"));
    assert_eq!(good.backend_id.as_ref().unwrap().as_str(), "TestValid2");
    assert_eq!(good.api_version, Some(BackendVersion::CURRENT));
    assert_eq!(
        good.canonical_path,
        Some(fs::canonicalize(at("Arm_TestValid2_backend.so")).unwrap())
    );
}

#[test]
fn the_second_backend_of_an_id_is_shadowed_with_and_without_a_note() {
    let first = with_backends(&[
        ("Arm_TestValid2_backend.so", "TestValid2", true),
        ("Arm_TestValid3_backend.so", "TestValid3", true),
    ]);
    let second = with_backends(&[
        ("Arm_TestValid2_backend.so", "TestValid2", true),
        ("Arm_TestValid4_backend.so", "TestValid2", false),
        ("Arm_TestValid5_backend.so", "TestValid5", false),
    ]);
    let loaded = load_all(&[first.path(), second.path()]);
    assert_eq!(
        loaded_ids(&loaded),
        ["TestValid2", "TestValid3", "TestValid5"]
    );
    let shadowed: Vec<_> = loaded
        .verdicts
        .iter()
        .filter(|verdict| verdict.status == Status::Shadowed)
        .map(|verdict| {
            assert_eq!(verdict.code, Some(Code::IdDuplicate));
            let holder = first.path().join("Arm_TestValid2_backend.so");
            let told = format!("a backend 'TestValid2': {}", holder.display());
            assert!(verdict.message.ends_with(&told), "{verdict}");
            (
                verdict
                    .path
                    .strip_prefix(second.path())
                    .unwrap()
                    .to_str()
                    .unwrap(),
                verdict.stage,
            )
        })
        .collect();
    assert_eq!(
        shadowed,
        [
            ("Arm_TestValid2_backend.so", Stage::Inspect),
            ("Arm_TestValid4_backend.so", Stage::Identify),
        ]
    );
}

#[test]
fn a_stranger_does_not_take_over_an_id_by_sorting_first() {
    for has_note in [true, false] {
        let root = with_backends(&[
            ("Aaa_Fast_backend.so", "GpuAcc", has_note),
            ("Arm_GpuAcc_backend.so", "GpuAcc", has_note),
        ]);
        let loaded = load_all(&[root.path()]);
        assert_eq!(loaded_ids(&loaded), ["GpuAcc"]);
        let right = verdict(&loaded, "Arm_GpuAcc_backend.so");
        assert_eq!(right.status, Status::Loaded, "note: {has_note}");
        let stranger = verdict(&loaded, "Aaa_Fast_backend.so");
        assert_eq!(stranger.code, Some(Code::IdDuplicate), "note: {has_note}");
        assert!(
            stranger.message.ends_with("/Arm_GpuAcc_backend.so"),
            "{stranger}"
        );
    }
}

#[test]
fn one_that_fails_shadows_nobody() {
    let root = with_backends(&[("Arm_GpuAcc_backend.so.1", "GpuAcc", true)]);
    Backend::new("Lie")
        .note(Note::new("GpuAcc"))
        .build(root.path().join("Arm_GpuAcc_backend.so"));
    Backend::new("GpuAcc")
        .source("extern void nowhere(void); void call(void) { nowhere(); }")
        .build(root.path().join("Arm_GpuAcc_backend.so.2"));
    let loaded = load_all(&[root.path()]);
    assert_eq!(loaded_ids(&loaded), ["GpuAcc"]);
    assert_eq!(
        verdict(&loaded, "Arm_GpuAcc_backend.so").code,
        Some(Code::NoteMismatch)
    );
    assert_eq!(
        verdict(&loaded, "Arm_GpuAcc_backend.so.2").code,
        Some(Code::OpenFailed)
    );
    assert_eq!(
        verdict(&loaded, "Arm_GpuAcc_backend.so.1").status,
        Status::Loaded
    );
}

#[test]
fn among_versions_the_plain_file_wins_and_then_the_highest() {
    let root = with_backends(&[
        ("Arm_X_backend.so.9", "X", true),
        ("Arm_X_backend.so.10", "X", true),
    ]);
    let loaded = load_all(&[root.path()]);
    assert_eq!(
        verdict(&loaded, "Arm_X_backend.so.10").status,
        Status::Loaded
    );
    assert_eq!(
        verdict(&loaded, "Arm_X_backend.so.9").status,
        Status::Shadowed
    );
}

#[test]
fn backends_that_are_linked_in_win() {
    let root = with_backends(&[("Arm_CpuRef_backend.so", "CpuRef", true)]);
    let loaded = load_with(&[root.path()], &Selection::All, &["CpuRef"], |backend| {
        Ok(Created::Usable(backend))
    });
    assert!(loaded.backends.is_empty());
    assert_eq!(loaded.verdicts[0].status, Status::Shadowed);
}

#[test]
fn unwanted_backends_are_not_even_opened() {
    // Loading one of them would end the process.
    let root = directory();
    for (name, note) in [("Noted", Some(Note::new("Noted"))), ("Plain", None)] {
        let mut backend = Backend::new(name)
            .source("__attribute__((constructor)) static void die(void) { __builtin_trap(); }");
        backend.note = note;
        backend.build(root.path().join(format!("Arm_{name}_backend.so")));
    }
    for selection in [
        Selection::Only(ids(&["Other"])),
        Selection::Except(ids(&["Noted", "Plain"])),
    ] {
        let loaded = load_with(&[root.path()], &selection, &[], |backend| {
            Ok(Created::Usable(backend))
        });
        assert!(loaded.backends.is_empty());
        assert_eq!(loaded.verdicts.len(), 2);
        for verdict in &loaded.verdicts {
            assert_eq!(verdict.code, Some(Code::Excluded), "{verdict}");
            assert_eq!(verdict.stage, Stage::Inspect);
        }
    }
    let loaded = load_with(&[root.path()], &Selection::Disabled, &[], |backend| {
        Ok(Created::Usable(backend))
    });
    assert!(loaded.backends.is_empty() && loaded.verdicts.is_empty());
}

#[test]
fn a_wanted_backend_loads_and_one_that_lied_about_its_name_does_not() {
    let root = with_backends(&[
        ("Arm_Wanted_backend.so", "Wanted", true),
        // No note: its name stands for its id until it is asked.
        ("Arm_Innocent_backend.so", "Unwanted", false),
    ]);
    let selection = Selection::Except(ids(&["Unwanted"]));
    let loaded = load_with(&[root.path()], &selection, &[], |backend| {
        Ok(Created::Usable(backend))
    });
    assert_eq!(loaded_ids(&loaded), ["Wanted"]);
    let liar = verdict(&loaded, "Arm_Innocent_backend.so");
    assert_eq!(
        (liar.stage, liar.code),
        (Stage::Identify, Some(Code::Excluded))
    );
}

#[test]
fn what_fails_to_be_created_leaves_its_id_to_the_next() {
    let root = with_backends(&[
        ("Arm_X_backend.so", "X", true),
        ("Arm_X_backend.so.1", "X", true),
    ]);
    let mut calls = 0;
    let loaded = load_with(&[root.path()], &Selection::All, &[], |backend| {
        calls += 1;
        if calls == 1 {
            return Err(Refusal::new(
                Stage::Create,
                Code::FactoryNull,
                "no instance",
            ));
        }
        Ok(Created::Usable(backend))
    });
    assert_eq!(loaded_ids(&loaded), ["X"]);
    let first = verdict(&loaded, "Arm_X_backend.so");
    assert_eq!(
        (first.stage, first.code),
        (Stage::Create, Some(Code::FactoryNull))
    );
    assert_eq!(first.backend_id.as_ref().unwrap().as_str(), "X");
    assert_eq!(
        verdict(&loaded, "Arm_X_backend.so.1").status,
        Status::Loaded
    );
}

#[test]
fn a_backend_without_its_hardware_holds_its_id() {
    let root = with_backends(&[
        ("Arm_X_backend.so", "X", true),
        ("Arm_X_backend.so.1", "X", true),
    ]);
    let loaded = load_with(&[root.path()], &Selection::All, &[], |backend| {
        let refusal = Refusal::new(Stage::Probe, Code::Unavailable, "no such device");
        Ok(Created::Unavailable(backend, refusal))
    });
    assert_eq!(loaded.backends.len(), 1);
    let first = verdict(&loaded, "Arm_X_backend.so");
    assert_eq!(
        (first.status, first.stage),
        (Status::Unavailable, Stage::Probe)
    );
    assert_eq!(
        verdict(&loaded, "Arm_X_backend.so.1").status,
        Status::Shadowed
    );
}

#[test]
fn no_directories_and_empty_directories_give_nothing() {
    assert!(load_all(&[]).verdicts.is_empty());
    let root = directory();
    assert!(load_all(&[root.path()]).verdicts.is_empty());
}
