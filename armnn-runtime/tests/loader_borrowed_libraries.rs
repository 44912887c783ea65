//! Two backends that bring along libraries of one name: the dynamic linker gives both the first one,
//! and the second one's verdict says so.
#![cfg(all(target_os = "linux", feature = "dynamic-backends"))]

mod shared_objects;

use std::{collections::BTreeSet, fs, path::Path};

use armnn_runtime::{
    dynamic_backend::DynamicBackend,
    loader::{
        Code, Status,
        inspect::HostInterface,
        load::{Created, Loaded, Request, Selection, load},
    },
};
use shared_objects::{Backend, compile, directory};
use tempfile::TempDir;

/// A directory with the backend `id`, which looks beside itself for `lib<library>.so`.
fn home(id: &str, library: &str, value: i32) -> TempDir {
    let home = directory();
    let folder = home.path().to_str().unwrap().to_owned();
    compile(
        &format!("int value_of_{library}(void) {{ return {value}; }}"),
        &["-shared", "-fPIC"],
        home.path().join(format!("lib{library}.so")),
    );
    Backend::new(id)
        .source(&format!(
            "extern int value_of_{library}(void); int call(void) {{ return value_of_{library}(); }}"
        ))
        .flag("-L")
        .flag(&folder)
        .flag(&format!("-l{library}"))
        .flag("-Wl,-rpath,$ORIGIN")
        .build(home.path().join(format!("Arm_{id}_backend.so")));
    home
}

fn load_all(homes: &[&TempDir]) -> Loaded<DynamicBackend> {
    let directories: Vec<&Path> = homes.iter().map(|home| home.path()).collect();
    let request = Request {
        directories: &directories,
        selection: &Selection::All,
        taken: &BTreeSet::new(),
        host: HostInterface::CURRENT,
    };
    // SAFETY: the test's own libraries.
    unsafe { load(&request, |backend| Ok(Created::Usable(backend))) }
}

/// What the verdicts on the backends, which are all loaded, say of borrowed libraries.
fn borrowed(homes: &[&TempDir]) -> Vec<Vec<String>> {
    let loaded = load_all(homes);
    loaded
        .verdicts
        .into_iter()
        .filter(|verdict| verdict.code != Some(Code::NameMismatch))
        .map(|verdict| {
            assert_eq!(verdict.status, Status::Loaded, "{verdict}");
            verdict.borrowed_libraries
        })
        .collect()
}

#[test]
fn a_backend_that_is_given_the_library_of_another_is_told_of() {
    let (a, b) = (home("A", "differs", 1), home("B", "differs", 2));
    let [of_a, of_b] = &borrowed(&[&a, &b])[..] else {
        panic!("two backends")
    };
    assert_eq!(of_a, &[] as &[String]);
    let expected = format!(
        "libdiffers.so, needed by {}: {}, which was in memory, and not {}",
        b.path().join("Arm_B_backend.so").display(),
        a.path().join("libdiffers.so").display(),
        b.path().join("libdiffers.so").display()
    );
    assert_eq!(of_b, &[expected]);
    // It is true: alone, each gets its own.
    assert_eq!(borrowed(&[&b]), [[] as [String; 0]]);
}

#[test]
fn copies_of_one_library_are_as_good_as_one() {
    let (a, b) = (home("A", "copied", 1), home("B", "copied", 1));
    fs::copy(a.path().join("libcopied.so"), b.path().join("libcopied.so")).unwrap();
    assert_eq!(borrowed(&[&a, &b]), [[] as [String; 0], []]);
}

/// The name that counts is the one that a library gives itself.
#[test]
fn a_backend_that_calls_itself_by_the_name_of_a_library_takes_its_place() {
    let a = directory();
    Backend::new("A")
        .source("int value_of_victim(void) { return 3; }")
        .flag("-Wl,-soname,libvictim.so")
        .build(a.path().join("Arm_A_backend.so"));
    let b = home("B", "victim", 2);
    let [of_a, of_b] = &borrowed(&[&a, &b])[..] else {
        panic!("two backends")
    };
    assert_eq!(of_a, &[] as &[String]);
    let [text] = &of_b[..] else {
        panic!("{of_b:?}")
    };
    assert!(
        text.contains("another library that goes by this name, which was in memory"),
        "{text}"
    );
}
