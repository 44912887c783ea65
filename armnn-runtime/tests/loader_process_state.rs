//! What a backend changes of the process while it is loaded is noticed, reported and left as it is.
//! Each in a process of its own, as the changes stay.
#![cfg(all(target_os = "linux", feature = "dynamic-backends"))]

mod shared_objects;

use std::{collections::BTreeSet, path::Path, process::Command};

use armnn_runtime::loader::{
    Verdict,
    inspect::HostInterface,
    load::{Created, Request, Selection, load},
};
use shared_objects::{Backend, Note, compile, directory};

/// Each change: its name, the statement of C that makes it, and the words of the report.
const CHANGES: &[(&str, &str, &str)] = &[
    ("umask", "umask(027);", "the umask from 022 to 027"),
    ("directory", "chdir(\"/\");", "the working directory from "),
    ("locale", "setlocale(LC_NUMERIC, \"C.UTF-8\");", "the locale from 'C' to "),
    ("signal", "signal(SIGSEGV, SIG_IGN);", "what happens on signal 11 (SIGSEGV)"),
    (
        "last_signal",
        "signal(SIGRTMAX, SIG_IGN);",
        "what happens on signal 64",
    ),
    ("set", "setenv(\"FIXTURE_TOKEN\", \"secret\", 1);", "the environment: FIXTURE_TOKEN"),
    ("unset", "unsetenv(\"FIXTURE_GIVEN\");", "the environment: FIXTURE_GIVEN"),
    (
        "stack",
        "long page = sysconf(_SC_PAGESIZE); char here;
         mprotect((void *)((unsigned long)&here & -page), 8 * page, PROT_READ | PROT_WRITE | PROT_EXEC);",
        "the stack, which is executable now",
    ),
    ("nothing", "", ""),
];

const HEADERS: &str = "#define _GNU_SOURCE
    #include <locale.h>
    #include <signal.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <sys/stat.h>
    #include <unistd.h>
    ";

/// A backend that makes the change when it is opened, when it is asked for its id, or from its
/// destructor, after it was refused.
fn backend(statement: &str, place: &str) -> Backend {
    let function = |attributes: &str| {
        format!("{HEADERS} {attributes} static void change(void) {{ {statement} }}")
    };
    let backend = Backend::new("X");
    match place {
        "constructor" => backend
            .note(Note::new("X"))
            .source(&function("__attribute__((constructor))")),
        "identify" => backend.id_function(&format!(
            "{} const char *GetBackendId(void) {{ change(); return \"X\"; }}",
            function("")
        )),
        "refused" => backend
            .id_function("const char *GetBackendId(void) { return \"\"; }")
            .source(&function("__attribute__((constructor))")),
        other => panic!("{other}"),
    }
}

fn verdicts(directory: &Path) -> Vec<Verdict> {
    let request = Request {
        directories: &[directory],
        selection: &Selection::All,
        taken: &BTreeSet::new(),
        host: HostInterface::CURRENT,
    };
    // SAFETY: the tests' own libraries, in a process that ends soon.
    let loaded = unsafe { load(&request, |backend| Ok(Created::Usable(backend))) };
    loaded.verdicts
}

#[test]
fn every_change_is_noticed_wherever_it_is_made() {
    for (name, statement, words) in CHANGES {
        if *name == "last_signal" && !can_ignore_the_last_signal() {
            skipped_tests::skip("this system keeps the last signal for itself");
            continue;
        }
        for place in ["constructor", "identify", "refused"] {
            let root = directory();
            backend(statement, place).build(root.path().join("Arm_X_backend.so"));
            let changes = changes_in_child(root.path());
            if words.is_empty() {
                assert_eq!(changes, "[[]]", "{name} in {place}");
            } else {
                assert!(changes.contains(words), "{name} in {place}: {changes}");
            }
            assert!(!changes.contains("secret"), "{name} in {place}");
        }
    }
}

/// Emulators of processors keep some signals.
fn can_ignore_the_last_signal() -> bool {
    // SAFETY: a signal that nobody sends here.
    let changed = unsafe { libc::signal(libc::SIGRTMAX(), libc::SIG_IGN) } != libc::SIG_ERR;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mut ignored = status
        .lines()
        .filter_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.next().unwrap().trim(), 16).unwrap();
    // Or the children would not change anything.
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGRTMAX(), libc::SIG_DFL) };
    changed && ignored >> 63 == 1
}

/// What each of several backends changes is told of that one.
#[test]
fn a_change_is_told_of_the_backend_that_made_it() {
    let root = directory();
    for (id, statement) in [("A", "umask(0);"), ("B", ""), ("C", "chdir(\"/\");")] {
        Backend::new(id)
            .note(Note::new(id))
            .source(&format!(
                "{HEADERS} __attribute__((constructor)) static void change(void) {{ {statement} }}"
            ))
            .build(root.path().join(format!("Arm_{id}_backend.so")));
    }
    let changes = changes_in_child(root.path());
    let expected = "[[\"the umask from 022 to 000\"], [], [\"the working directory from ";
    assert!(changes.starts_with(expected), "{changes}");
}

/// One that the dynamic linker makes: a library without a word about its stack, which a backend
/// loads by itself, where nobody can look at it first.
#[test]
fn a_stack_that_becomes_executable_is_noticed() {
    let root = directory();
    let library = compile(
        "int x;",
        &["-shared", "-fPIC", "-Wl,-z,execstack"],
        root.path().join("libexecstack.so"),
    );
    Backend::new("X")
        .note(Note::new("X"))
        .source(&format!(
            "#include <dlfcn.h>
             __attribute__((constructor)) static void change(void) {{ dlopen({library:?}, RTLD_NOW); }}"
        ))
        .build(root.path().join("Arm_X_backend.so"));
    let changes = changes_in_child(root.path());
    // Newer C libraries refuse to do it.
    assert!(
        changes == "[[]]" || changes.contains("the stack, which is executable now"),
        "{changes}"
    );
}

/// The changes of all verdicts, as a process of its own sees them that loads what is in `directory`.
fn changes_in_child(directory: &Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "in_a_process_of_its_own", "--include-ignored"])
        .args(["--nocapture", "--test-threads", "1"])
        .env("FIXTURE_DIRECTORY", directory)
        .env("FIXTURE_GIVEN", "given")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let changes = text.lines().find_map(|line| line.split_once("CHANGES="));
    match changes {
        Some((_, changes)) if output.status.success() => changes.to_owned(),
        _ => panic!("{text}{}", String::from_utf8_lossy(&output.stderr)),
    }
}

#[test]
#[ignore = "started by the other tests"]
fn in_a_process_of_its_own() {
    let Some(directory) = std::env::var_os("FIXTURE_DIRECTORY") else {
        return;
    };
    // SAFETY: a system call that changes a number of this process.
    unsafe { libc::umask(0o22) };
    let changes: Vec<_> = verdicts(Path::new(&directory))
        .into_iter()
        .map(|verdict| verdict.process_changes)
        .collect();
    println!("CHANGES={changes:?}");
}
