//! `armnn backends doctor`: the words for each class of failure, and what it tells of those that work.
#![cfg(target_os = "linux")]

mod command;

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
};

use command::{armnn, staged_backends};

/// The directory of fixtures that the test's environment names; without it, a notice.
fn fixtures() -> Option<PathBuf> {
    let directory = std::env::var_os("ARMNN_STAGED_FIXTURES").map(PathBuf::from);
    if directory.is_none() {
        skipped_tests::skip("ARMNN_STAGED_FIXTURES is not set; `cargo xtask test-dynamic` sets it");
    }
    directory
}

/// What doctor says of one directory.
fn doctor(directory: &Path) -> command::Said {
    armnn(["backends", "doctor", "--path", directory.to_str().unwrap()])
}

#[track_caller]
fn says(directory: &Path, words: &[&str]) {
    let said = doctor(directory);
    for word in words {
        assert!(
            said.stdout.contains(word),
            "{word:?} is not in {}",
            said.stdout
        );
    }
}

#[cfg(not(feature = "static-cpu-ref"))]
#[test]
fn without_a_directory_it_says_what_to_name() {
    let said = armnn(["backends", "doctor"]);
    said.fails(1, &["no directory was searched", "--path DIR"]);
    assert!(said.stdout.contains("no list is compiled in"), "{said:?}");
    let said = armnn(["backends", "doctor", "--path", "/no/such/directory"]);
    said.fails(1, &["no backend can be used"]);
    for words in [
        "named on the command line",
        "path-invalid",
        "No such file",
        "nothing stands in for one that is invalid",
    ] {
        assert!(said.stdout.contains(words), "{words}: {}", said.stdout);
    }
}

#[test]
fn files_that_are_no_backends_are_told_apart() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    for name in [
        "libmy_gpu.so.2",
        "Arm_Text_backend.so",
        "Arm_Empty_backend.so",
    ] {
        fs::write(at(name), if name.contains("Empty") { "" } else { "a text" }).unwrap();
    }
    symlink("nowhere", at("Arm_Dangling_backend.so")).unwrap();
    symlink("Arm_Loop_backend.so", at("Arm_Loop_backend.so")).unwrap();
    symlink("Arm_Text_backend.so", at("Arm_Text_backend.so.1")).unwrap();
    fs::create_dir(at("Arm_Folder_backend.so")).unwrap();
    // To what such a link leads nobody can look, the super-user neither.
    symlink("x".repeat(300), at("Arm_Unreadable_backend.so")).unwrap();
    let _socket = UnixListener::bind(at("Arm_Socket_backend.so")).unwrap();
    says(
        root.path(),
        &[
            // The nearest valid name, on its own and in the advice.
            "(discover: name-mismatch)",
            "nearest   my_gpu_backend.so.2",
            "rename it, for instance to my_gpu_backend.so.2",
            "(inspect: not-elf)",
            "begins with \"a te\" instead of",
            "the file is empty",
            "(discover: broken-link)",
            "nowhere, which does not exist",
            "remove the link, or install what it leads to",
            "(discover: link-loop)",
            "leads in a circle",
            "(discover: not-regular-file)",
            "is a directory, not a regular file",
            "is a socket, not a regular file",
            "(discover: duplicate-file)",
            "the same file as",
            "(discover: unreadable)",
            "File name too long",
        ],
    );
}

/// For a file that was misnamed and is a backend, the name follows from its id.
#[test]
fn a_misnamed_backend_is_told_the_name_of_its_id() {
    let Some(staged) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let backend = staged.join("Arm_CpuRef_backend.so");
    fs::copy(&backend, root.path().join("libacme-reference.so")).unwrap();
    says(root.path(), &["nearest   acme_CpuRef_backend.so"]);

    // Cut short, for another machine, a program.
    let bytes = fs::read(&backend).unwrap();
    let put = |name: &str, bytes: &[u8]| {
        fs::write(root.path().join(format!("Arm_{name}_backend.so")), bytes).unwrap();
    };
    put("Cut", &bytes[..bytes.len() / 2]);
    let mut other = bytes.clone();
    other[18..20].copy_from_slice(&8u16.to_le_bytes());
    put("Mips", &other);
    let mut class = bytes.clone();
    class[4] = 1;
    put("Short", &class);
    let mut object = bytes;
    object[16] = 1;
    put("Object", &object);
    says(
        root.path(),
        &[
            "(inspect: truncated)",
            "the file ends before its loaded segments",
            "build or install the file again",
            "(inspect: wrong-machine)",
            "the file is for mips, this machine is",
            "use the build of the backend for this machine",
            "(inspect: wrong-class)",
            "32-bit processes",
            "(inspect: not-shared-object)",
            "an object file, not a shared object",
            "build the backend with -shared",
        ],
    );
}

#[test]
fn every_faulty_backend_gets_its_words() {
    let Some(fixtures) = fixtures() else { return };
    for (case, words) in [
        (
            "missing_get_version",
            &["inspect: missing-symbol", "does not export GetVersion"][..],
        ),
        (
            "names_mangled",
            &["inspect: missing-symbol", "extern \"C\""],
        ),
        (
            "version_is_data",
            &["inspect: not-a-function", "a variable"],
        ),
        (
            "executable_stack",
            &["inspect: executable-stack", "-Wl,-z,noexecstack"],
        ),
        ("note_short", &["inspect: note-invalid", "declare_backend!"]),
        (
            "note_other_hash",
            &[
                "inspect: layout-mismatch",
                "its structures have layout",
                "    layout    ",
            ],
        ),
        (
            "note_next_major",
            &[
                "inspect: version-incompatible",
                "entirely newer interface",
                "use a newer runtime",
            ],
        ),
        (
            "note_next_minor",
            &["inspect: version-incompatible", "does not have yet"],
        ),
        (
            "note_version_0_7",
            &["inspect: version-incompatible", "no longer supported"],
        ),
        (
            "undefined_symbol",
            &[
                "open: open-failed",
                "undefined symbol: armnn_fixture_undefined",
                "-Wl,-z,defs",
            ],
        ),
        (
            "absent_library",
            &[
                "open: missing-dependency",
                "libarmnn_fixture_absent.so, needed by",
                "it was sought in the dynamic linker's cache and in",
                "install libarmnn_fixture_absent.so",
            ],
        ),
        ("next_major", &["identify: version-incompatible"]),
        ("id_null", &["identify: id-invalid", "returned null"]),
        (
            "id_wild",
            &["identify: id-invalid", "memory that is not there"],
        ),
        (
            "id_too_long",
            &["identify: id-invalid", "more than 63 bytes"],
        ),
        ("id_changes", &["identify: id-invalid", "the next time"]),
        (
            "note_lies_about_id",
            &["identify: note-mismatch", "the backend note says"],
        ),
        ("factory_null", &["create: factory-null", "null pointer"]),
        (
            "factory_failed",
            &["create: factory-failed", "the factory could not"],
        ),
        ("table_null", &["create: table-invalid", "a null pointer"]),
        (
            "table_short",
            &[
                "create: table-invalid",
                "create_model_context",
                "rebuild it",
            ],
        ),
        ("table_empty", &["create: table-invalid", "too few"]),
        ("table_huge", &["create: table-invalid", "too many"]),
        (
            "table_without_destroy",
            &["create: table-invalid", "mandatory function destroy"],
        ),
        (
            "initialize_fails",
            &[
                "create: initialize-failed",
                "the licence has expired",
                "check the options",
            ],
        ),
        (
            "probe_unavailable",
            &[
                "probe: unavailable",
                "hardware  not found: ",
                "no device is plugged in",
            ],
        ),
    ] {
        let directory = fixtures.join(case);
        let said = doctor(&directory);
        said.fails(1, &["no backend can be used"]);
        for word in words {
            assert!(
                said.stdout.contains(word),
                "{case}: {word:?} is not in {}",
                said.stdout
            );
        }
        assert!(said.stdout.contains("0 usable backends"), "{case}");
        assert!(said.stdout.contains("    do        "), "{case}");
    }
}

#[test]
fn a_backend_that_works_is_described() {
    let Some(staged) = staged_backends() else {
        return;
    };
    let said = doctor(&staged);
    said.succeeds(&[
        "CpuRef  usable",
        "SampleDynamic  usable",
        "the very same",
        "kind      Reference",
        "Order of preference:",
        "2 usable backends",
    ]);
    // The sample takes additions and nothing else.
    let list = armnn([
        "backends",
        "doctor",
        "-b",
        staged.to_str().unwrap(),
        "--format",
        "json",
    ]);
    let found = list.json();
    let backend = |id: &str| {
        let backends = found["backends"].as_array().unwrap();
        backends.iter().find(|b| b["id"] == id).unwrap()
    };
    let sample = &backend("SampleDynamic");
    let layers = sample["layers"].as_object().unwrap();
    assert_eq!(
        layers.keys().collect::<Vec<_>>(),
        ["ElementwiseBinary"],
        "{sample}"
    );
    assert_eq!(sample["hardware"]["found"], true);
    assert!(
        sample["refused_layers"]["Convolution2d"]
            .as_str()
            .is_some_and(|reason| !reason.is_empty()),
        "{sample}"
    );
    // The reference takes every layer.
    let layers = backend("CpuRef")["layers"].as_object().unwrap();
    assert!(layers.len() >= 23, "{layers:?}");
    let float = serde_json::json!("Float32");
    assert!(layers["Convolution2d"].as_array().unwrap().contains(&float));
    assert_eq!(found["usable"], 2);
    assert_eq!(found["paths"][0]["reason"], "named on the command line");
}

#[test]
fn json_is_one_document_with_every_verdict() {
    let Some(fixtures) = fixtures() else { return };
    let directory = fixtures.join("note_lies_about_id");
    let arguments = ["backends", "doctor", "-b", directory.to_str().unwrap()];
    let said = armnn(arguments.iter().chain(&["--format", "json"]));
    said.fails(1, &[]);
    let found = said.json();
    let candidate = &found["candidates"][0];
    assert_eq!(candidate["code"], "note-mismatch");
    assert_eq!(candidate["nearest_name"], serde_json::Value::Null);
    assert!(candidate["version_meaning"].as_str().is_some());
    assert_eq!(found["usable"], 0);
    assert_eq!(found["backends"], serde_json::json!([]));
}

/// The differing field, where both sides were built to tell: in a child process with a deadline.
#[cfg(feature = "layout-check")]
#[test]
fn the_differing_field_of_another_layout_is_named() {
    let Some(fixtures) = fixtures() else { return };
    let fixture = fixtures.join("layout_differing/Arm_SampleDynamic_backend.so");
    if !fixture.exists() {
        skipped_tests::skip("the fixture layout_differing is staged by --full only");
        return;
    }
    // Its note has the hash of the interface; with another one, it is what a build against another
    // interface makes.
    let mut bytes = fs::read(fixture).unwrap();
    let name = b"ArmNN\0\0\0";
    let note = bytes.windows(name.len()).position(|w| w == name).unwrap();
    // Behind format, major, minor and flags.
    bytes[note + name.len() + 16] ^= 1;
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("Arm_SampleDynamic_backend.so"), bytes).unwrap();
    says(
        root.path(),
        &[
            "inspect: layout-mismatch",
            "    layout    ",
            "was built with another layout of interface",
            "ArmnnBackendTable.initialize(n_options): u32 instead of usize",
        ],
    );
}
