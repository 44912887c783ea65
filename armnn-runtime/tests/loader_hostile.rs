//! Directories of hostile files, each a real one on disk, taken through all stages: one verdict for
//! each, nothing of a refused file runs, and the good backend beside them loads.
#![cfg(all(target_os = "linux", feature = "dynamic-backends"))]

mod nest;
mod shared_objects;

use std::{
    collections::BTreeSet,
    ffi::CString,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

use armnn_backend_api::{BackendId, BackendVersion};
use armnn_runtime::loader::{Code, Stage, Status, inspect::HostInterface, load::Selection};
use nest::{Nest, load_all, load_with, verdict_on};
use shared_objects::{Backend, Note, compile, directory};

/// The bytes of a sound backend with the id `X`.
fn sound() -> Vec<u8> {
    let root = directory();
    let file = Backend::new("X")
        .note(Note::new("X"))
        .build(root.path().join("a.so"));
    fs::read(file).unwrap()
}

/// Runs a tool that makes a file; where it is absent, says so and returns `false`.
fn made_by(program: &str, arguments: &[&std::ffi::OsStr]) -> bool {
    match Command::new(program).args(arguments).output() {
        Ok(output) => output.status.success(),
        Err(error) => {
            skipped_tests::skip(format!("{program} cannot be started: {error}"));
            false
        }
    }
}

#[test]
fn files_of_other_kinds_are_no_backends() {
    let nest = Nest::new();
    let (inspect, not_elf) = (Stage::Inspect, Code::NotElf);
    for (name, content, words) in [
        ("Empty", &b""[..], "the file is empty"),
        ("Text", b"a text\n", "begins with \"a te\""),
        ("Script", b"#!/bin/sh\nexit 1\n", "begins with \"#!/b\""),
        // What linkers take for a library, and dlopen does not.
        ("Ldscript", b"GROUP ( libm.so.6 )", "begins with \"GROU\""),
        ("Zip", b"PK\x03\x04\x14\0\0\0", "begins with"),
        ("Dll", b"MZ\x90\0\x03\0\0\0", "begins with"),
        ("Macho", b"\xcf\xfa\xed\xfe\x07\0\0\x01", "begins with"),
        ("Magic", b"\x7fELF", "ends before its ELF header"),
    ] {
        fs::write(nest.at(name), content).unwrap();
        let code = if name == "Magic" {
            Code::Truncated
        } else {
            not_elf
        };
        nest.refuses(name, inspect, code, &[words]);
    }

    let source = Backend::new("X").c_source() + "\nint main(void) { return 0; }";
    compile(&source, &["-c", "-fPIC"], nest.at("Object"));
    compile(&source, &["-fPIE", "-pie", "-rdynamic"], nest.at("Pie"));
    compile(&source, &["-no-pie", "-rdynamic"], nest.at("Program"));
    for (name, words) in [
        ("Object", "an object file"),
        ("Pie", "a program"),
        ("Program", "a program"),
    ] {
        nest.refuses(name, inspect, Code::NotSharedObject, &[words]);
    }
    let (archive, object) = (nest.at("Archive"), nest.at("Object"));
    if made_by("ar", &["rcs".as_ref(), archive.as_ref(), object.as_ref()]) {
        nest.refuses("Archive", inspect, not_elf, &["begins with \"!<ar\""]);
    }
}

#[test]
fn a_file_that_ends_anywhere_is_refused_before_the_dynamic_linker_sees_it() {
    let nest = Nest::new();
    let bytes = sound();
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let headers = number(32);
    let count = usize::from(u16::from_le_bytes(bytes[56..58].try_into().unwrap()));
    let mut places = vec![
        ("in the ELF header", 20),
        ("behind the ELF header", 64),
        ("in the program headers", headers + 56 + 20),
        ("behind the program headers", headers + 56 * count),
    ];
    for index in 0..count {
        let at = headers + 56 * index;
        let kind = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (offset, size) = (number(at + 8), number(at + 32));
        // PT_LOAD: in the middle, and one byte short.
        if kind == 1 && size > 64 {
            places.push(("in a segment", offset + size / 2));
            places.push(("at a segment's last byte", offset + size - 1));
        }
        // PT_DYNAMIC, PT_NOTE.
        if kind == 2 || kind == 4 {
            places.push(("in the dynamic section or the notes", offset + size / 2));
        }
    }
    // Some linkers make two segments, others four.
    assert!(places.len() >= 10, "{places:?}");
    for (place, length) in places {
        fs::write(nest.at("Cut"), &bytes[..length]).unwrap();
        let verdict = nest.verdict("Cut");
        assert_eq!(verdict.code, Some(Code::Truncated), "{place}: {verdict}");
        assert_eq!(verdict.stage, Stage::Inspect, "{place}");
    }
}

/// Each library is what the backend next to it needs, and was cut short in its segments: a plain
/// `dlopen` of that backend would end this process with SIGBUS.
#[test]
fn a_library_that_is_needed_and_cut_short_is_found_before_it_is_mapped() {
    let nest = Nest::new();
    let folder = nest.root.path().to_str().unwrap();
    let library = |name: &str, source: &str, flags: &[&str]| {
        let all = [
            &["-shared", "-fPIC", "-L", folder, "-Wl,-rpath,$ORIGIN"],
            flags,
        ]
        .concat();
        compile(source, &all, nest.root.path().join(name))
    };
    let deepest = library(
        "libdeepest.so",
        // Large, so that much of it is cut off.
        "char ballast[1 << 16] = {1}; int deepest(void) { return ballast[5]; }",
        &[],
    );
    library(
        "libmiddle.so",
        "extern int deepest(void); int middle(void) { return deepest(); }",
        &["-ldeepest"],
    );
    Backend::new("X")
        .source("extern int middle(void); int call(void) { return middle(); }")
        .flag("-L")
        .flag(folder)
        .flag("-lmiddle")
        .flag("-Wl,-rpath,$ORIGIN")
        .build(nest.at("X"));
    assert_eq!(nest.verdict("X").status, Status::Loaded);

    let whole = fs::read(&deepest).unwrap();
    let cut = |length: usize| {
        // A new file, as the old one may still be mapped.
        fs::remove_file(&deepest).unwrap();
        fs::write(&deepest, &whole[..length]).unwrap();
    };
    for length in [whole.len() / 2, 4096, 300] {
        cut(length);
        nest.refuses(
            "X",
            Stage::Open,
            Code::OpenFailed,
            &["libdeepest.so, needed by", "libmiddle.so", "ends before"],
        );
    }
    // So short that the dynamic linker itself notices.
    for length in [0, 30] {
        cut(length);
        let verdict = nest.verdict("X");
        assert_eq!(verdict.stage, Stage::Open, "{length}: {verdict}");
    }
    cut(whole.len());
    assert_eq!(nest.verdict("X").status, Status::Loaded);

    // One that would make the stacks of all threads executable is found in the same way.
    library(
        "libdeepest.so",
        "int deepest(void) { return 1; }",
        &["-Wl,-z,execstack"],
    );
    nest.refuses(
        "X",
        Stage::Open,
        Code::OpenFailed,
        &["libdeepest.so, needed by", "stack"],
    );
}

/// Nothing that is installed here must be taken for harmful.
#[test]
fn the_libraries_of_this_system_are_not_taken_for_damaged() {
    let mut seen = 0;
    for directory in ["/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib"] {
        let Ok(entries) = fs::read_dir(directory) else {
            continue;
        };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if !path.to_string_lossy().contains(".so") {
                continue;
            }
            let Ok(found) =
                armnn_runtime::loader::inspect::inspect_path(&path, HostInterface::CURRENT)
            else {
                continue;
            };
            // Linker scripts are texts.
            if found.file_type != Some(3) || found.interpreter.is_some() || found.flags.pie {
                continue;
            }
            seen += 1;
            let structural = found
                .refusals
                .iter()
                .find(|r| matches!(r.code, Code::Truncated | Code::NotSharedObject));
            assert_eq!(structural, None, "{}", path.display());
        }
    }
    eprintln!("{seen} libraries");
}

#[test]
fn a_backend_that_needs_more_static_tls_than_there_is_fails_to_open_in_the_linkers_words() {
    let nest = Nest::new();
    Backend::new("X")
        .source(
            "__thread char large[1 << 20] __attribute__((tls_model(\"initial-exec\")));
             char *place(int i) { return large + i; }",
        )
        .build(nest.at("X"));
    nest.refuses("X", Stage::Open, Code::OpenFailed, &["static TLS"]);
}

/// Both have a variable, a function and a constructor of the same names, which a global scope or
/// lazy binding would mix up.
#[test]
fn helpers_of_the_same_name_in_two_backends_are_kept_apart() {
    let root = directory();
    for (id, value) in [("First", 1), ("Second", 2)] {
        Backend::new(id)
            .id_function(&format!(
                "int state; int helper(void) {{ return state; }}
                 __attribute__((constructor)) void set(void) {{ state = {value}; }}
                 const char *GetBackendId(void) {{ return helper() == {value} ? \"{id}\" : \"Mixed\"; }}"
            ))
            .build(root.path().join(format!("Arm_{id}_backend.so")));
    }
    let loaded = load_all(root.path());
    let ids: Vec<_> = loaded
        .backends
        .iter()
        .map(|b| b.backend_id().as_str())
        .collect();
    assert_eq!(ids, ["First", "Second"]);
}

/// A copy is another file: its id is taken, and that is all that is wrong with it.
#[test]
fn copies_are_shadowed_and_hard_links_are_the_same_file() {
    let nest = Nest::new();
    fs::copy(nest.at("Good"), nest.at("Copy")).unwrap();
    fs::hard_link(nest.at("Good"), nest.at("Link")).unwrap();
    let loaded = load_all(nest.root.path());
    let verdict = |name| verdict_on(&loaded, &nest.at(name));
    assert_eq!(verdict("Copy").status, Status::Shadowed);
    assert_eq!(verdict("Copy").code, Some(Code::IdDuplicate));
    assert_eq!(verdict("Link").code, Some(Code::DuplicateFile));
    assert_eq!(loaded.backends.len(), 1);
}

#[test]
fn a_device_is_refused_unopened() {
    let nest = Nest::new();
    let path = CString::new(nest.at("Device").as_os_str().as_bytes()).unwrap();
    // Device 5:0 is the terminal of whoever opens it, and 1:1 the memory of the machine.
    // SAFETY: the path is a C string; the call makes a file or fails.
    let made = unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o600, libc::makedev(1, 1)) };
    if made != 0 {
        skipped_tests::skip("this user cannot make devices");
        return;
    }
    nest.refuses(
        "Device",
        Stage::Discover,
        Code::NotRegularFile,
        &["a device"],
    );
}

/// A function that leaves the mark `file`, run when the library is opened.
fn leaving_mark(file: &Path) -> String {
    format!(
        "#include <fcntl.h>
         __attribute__((constructor)) static void mark(void)
         {{ open({file:?}, O_CREAT | O_WRONLY, 0600); }}"
    )
}

#[test]
fn nothing_of_a_file_runs_that_is_refused_at_or_before_inspection() {
    let nest = Nest::new();
    let mark = nest.root.path().join("mark");
    let backend = |id: &str| {
        Backend::new(id)
            .note(Note::new(id))
            .source(&leaving_mark(&mark))
    };
    let patched = |name: &str, at: usize, value: &[u8]| {
        let file = backend("X").build(nest.at(name));
        let mut bytes = fs::read(&file).unwrap();
        bytes[at..at + value.len()].copy_from_slice(value);
        fs::write(file, bytes).unwrap();
    };
    // One for each code of the two stages.
    let mut expected = vec![
        (nest.at("Elf"), Code::NotElf),
        (nest.at("Cut"), Code::Truncated),
        (nest.at("Class"), Code::WrongClass),
        (nest.at("Order"), Code::WrongMachine),
        (nest.at("Machine"), Code::WrongMachine),
        (nest.at("Program"), Code::NotSharedObject),
        (nest.at("Symbol"), Code::MissingSymbol),
        (nest.at("Data"), Code::NotAFunction),
        (nest.at("Stack"), Code::ExecutableStack),
        (nest.at("Note"), Code::NoteInvalid),
        (nest.at("Major"), Code::VersionIncompatible),
        (nest.at("Layout"), Code::LayoutMismatch),
        (nest.at("Duplicate"), Code::IdDuplicate),
        (nest.at("Excluded"), Code::Excluded),
        (nest.at("Same"), Code::DuplicateFile),
        (nest.root.path().join("libmine.so"), Code::NameMismatch),
        (nest.at("Loop"), Code::LinkLoop),
        (nest.at("Broken"), Code::BrokenLink),
        (nest.at("Directory"), Code::NotRegularFile),
    ];
    patched("Elf", 0, b"ELF");
    patched("Class", 4, &[1]);
    patched("Order", 5, &[2]);
    patched("Machine", 18, &8u16.to_le_bytes());
    let cut = backend("X").build(nest.at("Cut"));
    let length = fs::metadata(&cut).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&cut).unwrap();
    file.set_len(length / 3).unwrap();
    let program = backend("X").c_source() + "\nint main(void) { return 0; }";
    compile(
        &program,
        &["-fPIE", "-pie", "-rdynamic"],
        nest.at("Program"),
    );
    backend("X").version_function("").build(nest.at("Symbol"));
    backend("X")
        .version_function("int GetVersion;")
        .build(nest.at("Data"));
    backend("X")
        .flag("-Wl,-z,execstack")
        .build(nest.at("Stack"));
    let note = |note: Note| backend("X").note(note);
    note(Note {
        id: "\"\"".into(),
        ..Note::new("X")
    })
    .build(nest.at("Note"));
    note(Note {
        version: BackendVersion::new(BackendVersion::CURRENT.major + 1, 0),
        ..Note::new("X")
    })
    .build(nest.at("Major"));
    note(Note {
        layout_hash: 1,
        ..Note::new("X")
    })
    .build(nest.at("Layout"));
    backend("Good").build(nest.at("Duplicate"));
    backend("Unwanted").build(nest.at("Excluded"));
    symlink(nest.at("Excluded"), nest.at("Same")).unwrap();
    backend("X").build(nest.root.path().join("libmine.so"));
    symlink(nest.at("Loop"), nest.at("Loop")).unwrap();
    symlink("nowhere", nest.at("Broken")).unwrap();
    fs::create_dir(nest.at("Directory")).unwrap();

    let unwanted = BTreeSet::from([BackendId::new("Unwanted").unwrap()]);
    let loaded = load_with(&[nest.root.path()], &Selection::Except(unwanted));
    for (path, code) in &expected {
        let verdict = verdict_on(&loaded, path);
        assert_eq!(verdict.code, Some(*code), "{verdict}");
        assert!(
            [Stage::Discover, Stage::Inspect].contains(&verdict.stage),
            "{verdict}"
        );
    }
    assert_eq!(loaded.verdicts.len(), expected.len() + 1);
    assert!(!mark.exists());

    // The codes that are left: one that nobody may read, a directory that is none, and what there is
    // only elsewhere; they have no file to be run.
    expected.extend([
        (nest.at(""), Code::Unreadable),
        (nest.at(""), Code::PathInvalid),
        (nest.at(""), Code::UnsupportedPlatform),
    ]);
    let codes: BTreeSet<Code> = expected.iter().map(|(_, code)| *code).collect();
    let late = [
        Code::OpenFailed,
        Code::MissingDependency,
        Code::IdInvalid,
        Code::NoteMismatch,
        Code::FactoryNull,
        Code::FactoryFailed,
        Code::TableInvalid,
        Code::InitializeFailed,
        Code::Unavailable,
    ];
    for code in Code::ALL {
        assert!(codes.contains(code) || late.contains(code), "{code}");
    }

    // The mark tells: where the library is opened, it is left.
    backend("X").build(nest.at("Last"));
    load_all(nest.root.path());
    assert!(mark.exists());
}

#[test]
fn ten_thousand_misnamed_files_are_ten_thousand_verdicts() {
    let nest = Nest::new();
    for i in 0..10_000 {
        fs::write(nest.root.path().join(format!("lib{i:05}.so.1")), "").unwrap();
    }
    let loaded = load_all(nest.root.path());
    assert_eq!(loaded.verdicts.len(), 10_001);
    assert_eq!(loaded.backends.len(), 1);
    let names = loaded
        .verdicts
        .iter()
        .filter(|v| v.code == Some(Code::NameMismatch));
    assert_eq!(names.count(), 10_000);
}

/// Files and whole directories come and go while they are scanned: whatever the verdicts are then,
/// the directory that stays gives its backend.
#[test]
fn directories_that_vanish_during_the_scan_disturb_nothing() {
    let nest = Nest::new();
    let vanishing = directory();
    let folder = vanishing.path().join("there");
    let library = nest.at("Good");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::create_dir(&folder).unwrap();
                for i in 0..20 {
                    let _ = fs::copy(&library, folder.join(format!("Arm_X{i}_backend.so")));
                }
                fs::remove_dir_all(&folder).unwrap();
            }
        });
        for _ in 0..200 {
            let loaded = load_with(&[&folder, nest.root.path()], &Selection::All);
            let good = verdict_on(&loaded, &library);
            // A copy that was whole when it was looked at has the id first.
            assert!(
                good.status == Status::Loaded || good.status == Status::Shadowed,
                "{good}"
            );
            assert_eq!(loaded.backends.len(), 1);
        }
        stop.store(true, Ordering::Relaxed);
    });
    // Gone for good.
    let loaded = load_with(&[&folder, nest.root.path()], &Selection::All);
    assert_eq!(verdict_on(&loaded, &folder).code, Some(Code::PathInvalid));
    assert_eq!(loaded.backends.len(), 1);
}
