//! `armnn verify` with backends that are loaded at run time.

#![cfg(target_os = "linux")]

mod command;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use command::{
    Said, armnn,
    onnx::{bytes_field, message, model, number_field, sequence, tensor},
    repository, staged_backends, test_data,
};

/// A case in the layout of the ONNX operator tests: `operator` of (1, 2) and (0.5, -2) is `wanted`.
fn put_case(root: &Path, name: &str, operator: &str, wanted: [f32; 2]) {
    let set = root.join(name).join("test_data_set_0");
    fs::create_dir_all(&set).unwrap();
    fs::write(root.join(name).join("model.onnx"), model(operator)).unwrap();
    fs::write(set.join("input_0.pb"), tensor([1.0, 2.0])).unwrap();
    fs::write(set.join("input_1.pb"), tensor([0.5, -2.0])).unwrap();
    fs::write(set.join("output_0.pb"), tensor(wanted)).unwrap();
}

fn verify(backends: &Path, more: &[&str], paths: &[&Path]) -> Said {
    let mut arguments = vec!["verify", "-b", backends.to_str().unwrap()];
    arguments.extend(more);
    arguments.extend(paths.iter().map(|path| path.to_str().unwrap()));
    armnn(arguments)
}

/// Name and status of each case.
fn statuses(said: &Said) -> Vec<(String, String)> {
    let json = said.json();
    let cases = json["cases"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    cases
        .map(|case| (text(&case["name"]), text(&case["status"])))
        .collect()
}

#[test]
fn recorded_models_give_what_another_engine_gave() {
    let Some(backends) = staged_backends() else {
        return;
    };
    let names = [
        "onnx_f32_mnist8",
        "tfl_f16_blazeface_short",
        "tfl_f16_facemesh",
    ];
    let mut paths = Vec::new();
    for name in names {
        let Some(path) = test_data(&format!("corpus/{name}")) else {
            return;
        };
        paths.push(path);
    }
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let said = verify(&backends, &["-c", "CpuRef", "--format", "json"], &paths);
    said.succeeds(&[]);
    let passed = names.map(|name| (name.to_owned(), "passed".to_owned()));
    assert_eq!(statuses(&said), passed);
    assert_eq!(said.json()["passed"], 3);
}

#[test]
fn the_json_document_has_the_counts_and_every_case() {
    let Some(backends) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    put_case(root.path(), "add", "Add", [1.5, 0.0]);
    put_case(root.path(), "wrong", "Add", [1.5, 0.25]);
    put_case(root.path(), "unknown", "Frobnicate", [0.0, 0.0]);
    let said = verify(&backends, &["--format", "json"], &[root.path()]);
    said.fails(1, &[]);
    let json = said.json();
    let expected = serde_json::json!({
        "passed": 1, "failed": 1, "unsupported": 1, "crashed": 0,
        "cases": [
            {"name": "add", "status": "passed", "detail": "largest difference 0"},
            {
                "name": "unknown",
                "status": "unsupported",
                "detail": "operators that are not supported: Frobnicate (version 17, once, first \
                           at node 0)",
            },
            {
                "name": "wrong",
                "status": "failed",
                "detail": "with the values in test_data_set_0: output 0 'y': 1 of 2 elements \
                           differ by more than 1e-7 + 1e-3 * |recorded|; the most by 0.25, at \
                           [1]: 0 instead of 0.25",
            },
        ],
    });
    assert_eq!(json, expected);
    assert!(
        said.stdout.starts_with("{\n  \"passed\": 1,"),
        "{}",
        said.stdout
    );
}

#[test]
fn only_failures_and_crashes_are_errors() {
    let Some(backends) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    put_case(root.path(), "add", "Add", [1.5, 0.0]);
    put_case(root.path(), "unknown", "Frobnicate", [0.0, 0.0]);
    let said = verify(&backends, &[], &[root.path()]);
    said.succeeds(&[
        "passed       add  largest difference 0\n",
        "unsupported  unknown  operators that are not supported: Frobnicate",
        "\n1 passed, 0 failed, 1 unsupported, 0 crashed\n",
    ]);
    // Refused by the backend, and by the operator's name.
    put_case(root.path(), "add", "Sub", [0.5, 4.0]);
    let said = verify(&backends, &["-c", "SampleDynamic"], &[root.path()]);
    said.succeeds(&[
        "unsupported  add  ",
        "'y' (ElementwiseBinary) is taken by no",
    ]);
}

#[test]
fn tolerances_are_given_or_stand_beside_the_model() {
    let Some(backends) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    put_case(root.path(), "add", "Add", [1.5, 0.25]);
    verify(&backends, &[], &[root.path()]).fails(1, &[]);
    verify(&backends, &["--atol", "0.25"], &[root.path()]).succeeds(&["1 passed"]);
    let meta = root.path().join("add/meta.json");
    fs::write(
        &meta,
        r#"{"tolerance": {"kind": "absolute", "value": 0.3}}"#,
    )
    .unwrap();
    verify(&backends, &[], &[root.path()]).succeeds(&["largest difference 0.25"]);
    fs::write(
        &meta,
        r#"{"tolerance": {"kind": "absolute", "value": 0.2}}"#,
    )
    .unwrap();
    verify(&backends, &["--atol", "1"], &[root.path()]).fails(1, &[]);
    fs::write(&meta, r#"{"tolerance": {"kind": "close enough"}}"#).unwrap();
    let said = verify(&backends, &[], &[root.path()]);
    said.fails(1, &[]);
    assert!(said.stdout.contains("close enough"), "{}", said.stdout);
}

/// A file of NumPy with elements of Float32.
fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

#[test]
fn steps_run_on_one_state_and_only_what_is_recorded_is_compared() {
    let Some(backends) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let put = |name: &str, content: &[u8]| fs::write(root.path().join(name), content).unwrap();
    put("model.onnx", &model("Add"));
    let meta = r#"{
        "steps": 3, "state_chaining": {"y": "a"},
        "tolerance": {"kind": "absolute", "value": 0},
        "outputs": [{"shape": [3, 2], "stride": 4}]
    }"#;
    put("meta.json", meta.as_bytes());
    // From (100, 0), the second and third of these are not looked at: what is fed back counts.
    put(
        "in0_a.npy",
        &npy("(3, 2)", &[100.0, 0.0, -1.0, -1.0, -1.0, -1.0]),
    );
    put(
        "in1_b.npy",
        &npy("(3, 2)", &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]),
    );
    // Sums are (101, 10), (103, 30), (106, 60); the first and the fifth of the six are recorded.
    put("out0_y.npy", &npy("(2,)", &[101.0, 106.0]));
    verify(&backends, &[], &[root.path()]).succeeds(&["1 passed"]);
    put("out0_y.npy", &npy("(2,)", &[101.0, 107.0]));
    let said = verify(&backends, &[], &[root.path()]);
    said.fails(1, &[]);
    assert!(
        said.stdout.contains("at [2, 0]: 106 instead of 107"),
        "{said:?}"
    );
}

#[test]
fn a_list_says_which_cases_run_and_a_name_without_a_case_fails() {
    let Some(backends) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    put_case(root.path(), "suite/add", "Add", [1.5, 0.0]);
    put_case(root.path(), "suite/wrong", "Add", [0.0, 0.0]);
    let list = root.path().join("list.txt");
    let with_list = |text: &str| {
        fs::write(&list, text).unwrap();
        let more = ["--list", list.to_str().unwrap(), "--format", "json"];
        verify(&backends, &more, &[root.path()])
    };
    let said = with_list("# works\n\nadd\n");
    said.succeeds(&[]);
    let passed = ("suite/add".to_owned(), "passed".to_owned());
    assert_eq!(statuses(&said), std::slice::from_ref(&passed));
    let said = with_list("suite/add\nadded\n");
    said.fails(1, &[]);
    assert_eq!(
        statuses(&said),
        [("added".to_owned(), "failed".to_owned()), passed]
    );
    let said = with_list("# none\n");
    said.fails(1, &["list.txt' names none"]);
    assert_eq!(said.stdout, "");
}

#[test]
fn where_nothing_can_be_verified_it_says_why_and_fails() {
    let root = tempfile::tempdir().unwrap();
    let said = verify(Path::new("backends"), &[], &[root.path()]);
    said.fails(
        1,
        &[
            "no recorded case was found in '",
            "test_data_set_0/output_0.pb",
        ],
    );
    put_case(root.path(), "add", "Add", [1.5, 0.0]);
    fs::remove_dir_all(root.path().join("add/test_data_set_0")).unwrap();
    let said = verify(Path::new("backends"), &[], &[root.path()]);
    said.fails(1, &["add/model.onnx', for which nothing is recorded"]);
    assert_eq!(said.stdout, "");
}

#[test]
fn a_backend_that_cannot_be_used_is_one_error_and_no_failure_of_every_case() {
    let Some(backends) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    put_case(root.path(), "add", "Add", [1.5, 0.0]);
    put_case(root.path(), "sub", "Sub", [0.5, 4.0]);
    let said = verify(
        &backends,
        &["-c", "CpuRef,Nope", "--format", "json"],
        &[root.path()],
    );
    said.fails(
        1,
        &["backend Nope of -c cannot be used: no backend of this id"],
    );
    assert_eq!(said.stdout, "");
    let said = verify(
        &backends,
        &["--backend-option", "CpuRef.no-such=1"],
        &[root.path()],
    );
    said.fails(1, &["no-such"]);
    assert_eq!(said.stdout, "");
}

#[test]
fn files_that_do_not_fit_are_failures_that_say_what_and_where() {
    let Some(backends) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let case = |name: &str, change: &dyn Fn(&Path)| {
        put_case(root.path(), name, "Add", [1.5, 0.0]);
        change(&root.path().join(name).join("test_data_set_0"));
    };
    case("count", &|set| {
        fs::remove_file(set.join("input_1.pb")).unwrap()
    });
    case("damaged", &|set| {
        fs::write(set.join("input_1.pb"), "?").unwrap()
    });
    case("gap", &|set| {
        fs::rename(set.join("input_1.pb"), set.join("input_2.pb")).unwrap();
    });
    case("shape", &|set| {
        // dims: [1], data_type: FLOAT, raw_data.
        let one = message(&[
            &number_field(1, 1),
            &number_field(2, 1),
            &bytes_field(9, &[0; 4]),
        ]);
        fs::write(set.join("input_1.pb"), one).unwrap();
    });
    case("text", &|set| {
        // dims: [1], data_type: STRING, string_data.
        let text = message(&[
            &number_field(1, 1),
            &number_field(2, 8),
            &bytes_field(6, b"a"),
        ]);
        fs::write(set.join("input_1.pb"), text).unwrap();
    });
    let said = verify(&backends, &["--format", "json"], &[root.path()]);
    said.fails(1, &[]);
    let json = said.json();
    let cases = json["cases"].as_array().unwrap();
    let expected = [
        ("failed", "1 inputs are recorded, the model has 2"),
        ("failed", "input_1.pb': it is no tensor of ONNX"),
        ("failed", "no file with the number 1"),
        ("failed", "its shape is [1], the input takes [2]"),
        ("failed", "it holds STRING [1], and Float32[2] is expected"),
    ];
    for (case, (status, detail)) in cases.iter().zip(expected) {
        assert_eq!(case["status"], status, "{case}");
        assert!(case["detail"].as_str().unwrap().contains(detail), "{case}");
    }
    assert_eq!(cases.len(), expected.len());
}

#[test]
fn sequences_are_compared_value_by_value() {
    let Some(backends) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let case = |name: &str, recorded: &[[f32; 2]]| {
        put_case(root.path(), name, "SequenceConstruct", [0.0; 2]);
        let set = root.path().join(name).join("test_data_set_0");
        fs::write(set.join("output_0.pb"), sequence(recorded)).unwrap();
    };
    case("equal", &[[1.0, 2.0], [0.5, -2.0]]);
    case("other", &[[1.0, 2.0], [0.5, -2.5]]);
    case("shorter", &[[1.0, 2.0]]);
    let said = verify(&backends, &["--format", "json"], &[root.path()]);
    said.fails(1, &[]);
    let json = said.json();
    let expected = [
        ("passed", "largest difference 0"),
        ("failed", "the most by 0.5, at [1]: -2 instead of -2.5"),
        ("failed", "it is a sequence of 2 values, recorded are 1"),
    ];
    for (case, (status, detail)) in json["cases"].as_array().unwrap().iter().zip(expected) {
        assert_eq!(case["status"], status, "{case}");
        assert!(case["detail"].as_str().unwrap().contains(detail), "{case}");
    }
}

/// Builds the backend of the book's page on dynamic backends, with another sum in it.
fn backend_in_c(directory: &Path, sum: &str) {
    let page = fs::read_to_string(repository().join("docs/backends-from-scratch.md")).unwrap();
    let code = page.split("```c\n").nth(1).unwrap();
    let code = code.split("\n```").next().unwrap();
    let line = "sum[i] = x[i] + y[i];";
    assert!(code.contains(line), "the page has changed");
    let source = directory.join("acme_dsp.c");
    fs::write(&source, code.replace(line, sum)).unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let built = Command::new(compiler)
        .args(["-std=c11", "-fPIC", "-shared", "-fvisibility=hidden"])
        .arg("-I")
        .arg(repository().join("armnn-backend-api/include"))
        .arg(&source)
        .arg("-o")
        .arg(directory.join("Acme_AcmeDsp_backend.so"))
        .status()
        .expect("there is a C compiler");
    assert!(built.success());
}

#[test]
fn a_case_that_crashes_or_never_ends_is_counted_and_the_rest_go_on() {
    let root = tempfile::tempdir().unwrap();
    for name in ["0", "crash", "zero"] {
        put_case(root.path(), name, "Add", [1.5, 0.0]);
    }
    // Of the three, one asks for the fault: its second input begins with -7.
    let crashing = root.path().join("crash/test_data_set_0");
    fs::write(crashing.join("input_1.pb"), tensor([-7.0, -2.0])).unwrap();
    for (sum, detail, more) in [
        (
            "if (y[0] == -7) *(volatile int *)8 = 1; sum[i] = x[i] + y[i];",
            "its process ended early: killed by signal 11 (SIGSEGV",
            &[][..],
        ),
        (
            "extern void _exit(int); if (y[0] == -7) _exit(0); sum[i] = x[i] + y[i];",
            "its process ended early: exit code 0",
            &["--jobs", "1"],
        ),
        (
            "for (volatile int on = 1; y[0] == -7 && on;); sum[i] = x[i] + y[i];",
            "it did not end in 15 s; --timeout gives it longer",
            &["--timeout", "15"],
        ),
    ] {
        let backends = tempfile::tempdir().unwrap();
        backend_in_c(backends.path(), sum);
        let more = [&["-c", "AcmeDsp", "--format", "json"], more].concat();
        let said = verify(backends.path(), &more, &[root.path()]);
        said.fails(1, &[]);
        let json = said.json();
        assert_eq!(
            (&json["passed"], &json["crashed"]),
            (&2.into(), &1.into()),
            "{json}"
        );
        let case = &json["cases"][1];
        assert_eq!(
            (&case["name"], &case["status"]),
            (&"crash".into(), &"crashed".into())
        );
        assert!(
            case["detail"].as_str().unwrap().starts_with(detail),
            "{case}"
        );
    }
}

#[test]
fn what_a_backend_writes_is_no_answer() {
    let root = tempfile::tempdir().unwrap();
    put_case(root.path(), "add", "Add", [1.5, 0.0]);
    let backends = tempfile::tempdir().unwrap();
    backend_in_c(
        backends.path(),
        "extern int puts(const char *); puts(\"all is well\"); sum[i] = 0;",
    );
    let said = verify(
        backends.path(),
        &["-c", "AcmeDsp", "--format", "json"],
        &[root.path()],
    );
    said.fails(1, &[]);
    assert_eq!(said.json()["failed"], 1);
}
