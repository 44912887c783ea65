//! `armnn backends list` and `inspect`.

#![cfg(target_os = "linux")]
#![cfg_attr(
    feature = "static-cpu-ref",
    allow(dead_code, reason = "some tests are about a command without backends")
)]

mod command;

use command::{armnn, staged_backends};

/// Keys of a candidate, in order.
const CANDIDATE_KEYS: [&str; 11] = [
    "api_version",
    "backend_id",
    "canonical_path",
    "code",
    "hint",
    "message",
    "name",
    "path",
    "stage",
    "status",
    "vendor",
];

fn sorted_keys(value: &serde_json::Value) -> Vec<&str> {
    let mut keys: Vec<_> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

#[cfg(not(feature = "static-cpu-ref"))]
#[test]
fn an_empty_directory_has_no_backends_and_that_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let said = armnn(["backends", "list", "-b", path, "--format", "json"]);
    said.fails(1, &["no backend can be used"]);
    let list = said.json();
    assert_eq!(sorted_keys(&list), ["api_version", "candidates", "paths"]);
    assert_eq!(list["candidates"], serde_json::json!([]));
    let expected = serde_json::json!([
        { "path": path, "source": "option", "status": "ok", "message": "" }
    ]);
    assert_eq!(list["paths"], expected);

    armnn(["backends", "list"]).fails(1, &["no directory was searched", "-b DIR"]);
}

#[cfg(not(feature = "static-cpu-ref"))]
#[test]
fn every_file_that_looks_like_a_backend_gets_a_verdict() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["Arm_Text_backend.so", "libother.so", "notes.txt"] {
        std::fs::write(dir.path().join(name), "text").unwrap();
    }
    let path = dir.path().to_str().unwrap();
    let missing = format!("{path}/missing");
    for option in ["-b", "--path", "--dynamic-backends-path"] {
        let arguments = [
            "backends", "list", option, path, option, &missing, "--format", "json",
        ];
        let said = armnn(arguments);
        said.fails(1, &["not-elf", "name-mismatch"]);
        let list = said.json();
        assert_eq!(list["paths"][1]["status"], "path-invalid");
        let candidates = list["candidates"].as_array().unwrap();
        assert_eq!(candidates.len(), 2, "{list}");
        for candidate in candidates {
            assert_eq!(sorted_keys(candidate), CANDIDATE_KEYS);
            assert_eq!(candidate["status"], "rejected");
        }
        let text = candidates.iter().find(|c| c["name"] == "Text").unwrap();
        assert_eq!(
            (&text["stage"], &text["code"], &text["vendor"]),
            (&"inspect".into(), &"not-elf".into(), &"Arm".into())
        );
    }
    let said = armnn(["backends", "list", "-b", path]);
    said.fails(1, &[]);
    for part in [
        "Arm_Text_backend.so",
        "inspect: not-elf",
        "0 usable backends",
    ] {
        assert!(said.stdout.contains(part), "{}", said.stdout);
    }
    assert!(
        !said.stdout.contains('\x1b'),
        "colour is for terminals: {}",
        said.stdout
    );
}

#[cfg(not(feature = "static-cpu-ref"))]
#[test]
fn a_staged_backend_is_listed_as_loaded() {
    let Some(directory) = staged_backends() else {
        return;
    };
    let directory = directory.to_str().unwrap();
    let said = armnn(["backends", "list", "-b", directory, "--format", "json"]);
    said.succeeds(&[]);
    assert_eq!(said.stderr, "");
    let list = said.json();
    let candidates = list["candidates"].as_array().unwrap();
    let cpu_ref = candidates
        .iter()
        .find(|c| c["path"] == format!("{directory}/Arm_CpuRef_backend.so"))
        .unwrap();
    assert_eq!(sorted_keys(cpu_ref), CANDIDATE_KEYS);
    assert_eq!(cpu_ref["status"], "loaded");
    assert_eq!(cpu_ref["backend_id"], "CpuRef");
    assert_eq!(cpu_ref["code"], serde_json::Value::Null);
    armnn(["backends", "list", "--path", directory]).succeeds(&[
        "loaded",
        "Arm_CpuRef_backend.so",
        "usable backend",
    ]);
}

#[test]
fn an_option_that_a_backend_does_not_know_is_an_error() {
    let Some(directory) = staged_backends() else {
        return;
    };
    let option = ["--backend-option", "CpuRef.no-such-option=1"];
    let list = ["backends", "list", "-b", directory.to_str().unwrap()];
    armnn(list.iter().chain(&option)).fails(1, &["no option 'no-such-option'", "CpuRef"]);
}

#[test]
fn inspecting_a_staged_backend_shows_its_note() {
    let Some(directory) = staged_backends() else {
        return;
    };
    let file = directory.join("Arm_CpuRef_backend.so");
    let file = file.to_str().unwrap();
    let said = armnn(["backends", "inspect", file, "--format", "json"]);
    said.succeeds(&[]);
    let found = said.json();
    assert_eq!(found["would_pass"], true);
    assert_eq!(found["note"]["backend_id"], "CpuRef");
    assert_eq!(found["file_name"]["vendor"], "Arm");
    let states: Vec<_> = found["exports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| &e["state"])
        .collect();
    assert_eq!(states, ["function"; 3]);
    armnn(["backends", "inspect", file]).succeeds(&["backend id", "CpuRef", "passed"]);
}

#[test]
fn inspecting_what_is_no_backend_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("Arm_Text_backend.so");
    std::fs::write(&text, "hello").unwrap();
    let text = text.to_str().unwrap();
    let said = armnn(["backends", "inspect", text, "--format", "json"]);
    said.fails(1, &["not-elf", text]);
    let found = said.json();
    assert_eq!(found["would_pass"], false);
    assert_eq!(found["refusals"][0]["code"], "not-elf");
    assert_eq!(found["note"], serde_json::Value::Null);

    let said = armnn(["backends", "inspect", "no/such/file.so"]);
    said.fails(1, &["no/such/file.so", "No such file"]);
    assert!(said.stdout.contains("unreadable"), "{}", said.stdout);
    armnn(["backends", "inspect", dir.path().to_str().unwrap()]).fails(1, &["not-regular-file"]);
}

/// The C library of this process: a real shared object, and no backend.
fn c_library() -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut paths = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5));
    paths
        .find(|path| path.contains("/libc.so") || path.contains("/libc-"))
        .unwrap()
        .to_owned()
}

#[test]
fn inspecting_another_shared_object_shows_what_it_lacks() {
    let library = c_library();
    let said = armnn(["backends", "inspect", &library, "--format", "json"]);
    said.fails(1, &["would be refused"]);
    let found = said.json();
    assert_eq!(found["size"], std::fs::metadata(&library).unwrap().len());
    assert_eq!(found["soname"], "libc.so.6");
    let codes: Vec<_> = found["refusals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["code"])
        .collect();
    assert!(codes.contains(&&"missing-symbol".into()), "{codes:?}");
    let states: Vec<_> = found["exports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| &e["state"])
        .collect();
    assert_eq!(states, ["missing"; 3]);
    let said = armnn(["backends", "inspect", &library]);
    said.fails(1, &[]);
    assert!(said.stdout.contains("GetBackendId") && said.stdout.contains("missing-symbol"));
}
