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
    install(home.path(), id, library, value);
    home
}

/// Puts both into a directory, in the place of what was there.
fn install(home: &Path, id: &str, library: &str, value: i32) {
    put_library(home, library, value, &[]);
    put_backend(home, id, &[library], "$ORIGIN", home);
}

fn put_library(folder: &Path, library: &str, value: i32, flags: &[&str]) {
    compile(
        &format!("int value_of_{library}(void) {{ return {value}; }}"),
        &[&["-shared", "-fPIC"], flags].concat(),
        folder.join(format!("lib{library}.so")),
    );
}

/// Puts the backend `id` into `folder`, with the libraries of `linked`, which it looks for in `run`.
fn put_backend(folder: &Path, id: &str, libraries: &[&str], run: &str, linked: &Path) {
    let mut source = String::new();
    let mut backend = Backend::new(id).flag("-L").flag(linked.to_str().unwrap());
    for library in libraries {
        source += &format!(
            "extern int value_of_{library}(void);
             int call_{library}(void) {{ return value_of_{library}(); }}\n"
        );
        backend = backend.flag(&format!("-l{library}"));
    }
    backend
        .source(&source)
        .flag(&format!("-Wl,-rpath,{run}"))
        .build(folder.join(format!("Arm_{id}_backend.so")));
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

/// Backend and library were renamed into the place of older ones that are in use: the new backend gets
/// the older library.
#[test]
fn a_library_that_was_replaced_while_it_is_in_use_is_told_of() {
    let a = home("A", "replaced", 1);
    let older = load_all(&[&a]);
    assert!(
        older
            .verdicts
            .iter()
            .all(|v| v.borrowed_libraries.is_empty())
    );
    install(a.path(), "A", "replaced", 2);
    let file = a.path().join("libreplaced.so");
    let expected = format!(
        "libreplaced.so, needed by {}: {} as it was before it was replaced, which was in memory, and \
         not {}",
        a.path().join("Arm_A_backend.so").display(),
        file.display(),
        file.display()
    );
    assert_eq!(borrowed(&[&a]), [[expected]]);
    drop(older);
    assert_eq!(borrowed(&[&a]), [[] as [String; 0]]);
}

/// One backend's directory is in that of the other.
#[test]
fn a_library_of_a_directory_below_is_another_ones() {
    let outer = directory();
    let inner = outer.path().join("inner");
    fs::create_dir(&inner).unwrap();
    for (folder, id, value) in [(outer.path(), "A", 1), (&inner, "B", 2)] {
        install(folder, id, "below", value);
    }
    let directories = [inner.as_path(), outer.path()];
    let request = Request {
        directories: &directories,
        selection: &Selection::All,
        taken: &BTreeSet::new(),
        host: HostInterface::CURRENT,
    };
    // SAFETY: the test's own libraries.
    let loaded = unsafe { load(&request, |backend| Ok(Created::Usable(backend))) };
    let of = |file: &Path| {
        let mut verdicts = loaded.verdicts.iter();
        let verdict = verdicts.find(|verdict| verdict.path == file).unwrap();
        assert_eq!(verdict.status, Status::Loaded, "{verdict}");
        verdict.borrowed_libraries.clone()
    };
    assert_eq!(of(&inner.join("Arm_B_backend.so")), [] as [String; 0]);
    let expected = format!(
        "libbelow.so, needed by {}: {}, which was in memory, and not {}",
        outer.path().join("Arm_A_backend.so").display(),
        inner.join("libbelow.so").display(),
        outer.path().join("libbelow.so").display()
    );
    assert_eq!(of(&outer.path().join("Arm_A_backend.so")), [expected]);
}

/// More than any real backend has.
#[test]
fn the_last_of_many_libraries_is_looked_at() {
    let (a, b) = (home("A", "many299", 1), directory());
    let names: Vec<String> = (0..300).map(|n| format!("many{n}")).collect();
    let one = b.path().join("libone.so");
    compile("int nothing;", &["-shared", "-fPIC"], &one);
    for name in &names[..299] {
        fs::copy(&one, b.path().join(format!("lib{name}.so"))).unwrap();
    }
    put_library(b.path(), "many299", 2, &[]);
    let folder = b.path().to_str().unwrap();
    let mut backend = Backend::new("B")
        .flag("-L")
        .flag(folder)
        .flag("-Wl,--no-as-needed,-rpath,$ORIGIN");
    for name in &names {
        backend = backend.flag(&format!("-l{name}"));
    }
    backend.build(b.path().join("Arm_B_backend.so"));
    let [of_a, of_b] = &borrowed(&[&a, &b])[..] else {
        panic!("two backends")
    };
    assert_eq!(of_a, &[] as &[String]);
    assert_eq!(of_b.len(), 1, "{of_b:?}");
    assert!(of_b[0].starts_with("libmany299.so, needed by"), "{of_b:?}");
}

/// Two libraries of one backend, each with one of its own beside it: the second gets that of the first.
#[test]
fn a_library_that_another_of_the_same_backend_brought_along_is_told_of() {
    let home = directory();
    for (outer, value) in [("first", 1), ("second", 2)] {
        let folder = home.path().join(outer);
        fs::create_dir(&folder).unwrap();
        put_library(&folder, "twice", value, &[]);
        compile(
            &format!(
                "extern int value_of_twice(void);
                 int value_of_{outer}(void) {{ return value_of_twice(); }}"
            ),
            &[
                "-shared",
                "-fPIC",
                "-L",
                folder.to_str().unwrap(),
                "-ltwice",
                "-Wl,-rpath,$ORIGIN",
            ],
            folder.join(format!("lib{outer}.so")),
        );
    }
    let linked: Vec<String> = ["first", "second"]
        .map(|name| format!("-L{}", home.path().join(name).display()))
        .into();
    let mut backend = Backend::new("A").source(
        "extern int value_of_first(void), value_of_second(void);
         int call(void) { return value_of_first() + value_of_second(); }",
    );
    for flag in linked.iter().map(String::as_str).chain([
        "-lfirst",
        "-lsecond",
        "-Wl,-rpath,$ORIGIN/first:$ORIGIN/second",
    ]) {
        backend = backend.flag(flag);
    }
    backend.build(home.path().join("Arm_A_backend.so"));
    let at = |name: &str| home.path().join(name).display().to_string();
    let expected = format!(
        "libtwice.so, needed by {}: {}, which was in memory, and not {}",
        at("second/libsecond.so"),
        at("first/libtwice.so"),
        at("second/libtwice.so")
    );
    assert_eq!(borrowed(&[&home]), [[expected]]);
}

/// Whoever starts the program with `LD_LIBRARY_PATH` wants the libraries there.
#[test]
fn a_library_that_the_environment_names_is_not_borrowed() {
    let (a, elsewhere) = (home("A", "environment", 1), directory());
    put_library(elsewhere.path(), "environment", 2, &[]);
    for list in [Some(elsewhere.path()), None] {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "in_a_process_of_its_own", "--include-ignored"])
            .args(["--nocapture", "--test-threads", "1"])
            .env("FIXTURE_DIRECTORY", a.path());
        match list {
            Some(list) => command.env("LD_LIBRARY_PATH", list),
            None => command.env_remove("LD_LIBRARY_PATH"),
        };
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let mapped = list.unwrap_or(a.path()).join("libenvironment.so");
        let expected = format!("BORROWED=[] MAPPED={}", mapped.display());
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
#[ignore = "started by the other test"]
fn in_a_process_of_its_own() {
    let Some(home) = std::env::var_os("FIXTURE_DIRECTORY") else {
        return;
    };
    let request = Request {
        directories: &[home],
        selection: &Selection::All,
        taken: &BTreeSet::new(),
        host: HostInterface::CURRENT,
    };
    // SAFETY: the test's own libraries.
    let loaded = unsafe { load(&request, |backend| Ok(Created::Usable(backend))) };
    let verdicts = loaded.verdicts.iter();
    let borrowed: Vec<&String> = verdicts.flat_map(|v| &v.borrowed_libraries).collect();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mapped = paths
        .find(|path| path.ends_with("libenvironment.so"))
        .unwrap();
    println!("BORROWED={borrowed:?} MAPPED={mapped}");
}
