//! The command line itself: help, bad usage, and jobs that fail before any backend is needed.

mod command;

use command::{armnn, face_detector};

#[test]
fn help_of_every_level_shows_an_example() {
    for level in [
        &[][..],
        &["execute-network"],
        &["run"],
        &["backends"],
        &["backends", "list"],
        &["backends", "inspect"],
        &["backends", "doctor"],
        &["verify"],
    ] {
        let said = armnn(level.iter().chain(&["--help"]));
        said.succeeds(&["Usage: armnn", "Example", "\n  armnn "]);
        assert_eq!(said.stderr, "");
    }
}

#[test]
fn bad_usage_is_2_and_says_what_is_wrong() {
    let model = ["run", "-m", "model.tflite"];
    for (arguments, parts) in [
        (&["frobnicate"][..], &["frobnicate"][..]),
        (&["run"], &["--model-path"]),
        (&["backends", "inspect"], &["<FILE>"]),
        (
            &["backends", "list", "--format", "xml"],
            &["xml", "text, json"],
        ),
    ] {
        armnn(arguments).fails(2, parts);
    }
    for (arguments, parts) in [
        (&["-c", "Cpu/Ref"][..], &["--compute", "backend id"][..]),
        (&["-c", ""], &["--compute", "must not be empty"]),
        (&["-I", "0"], &["--iterations"]),
        (
            &["--number-of-threads", "0"],
            &["--number-of-threads", "1..=1024"],
        ),
        (&["-s", "1,2,3"], &["NAME=1,224,224,3"]),
        (&["-s", "x=1,two"], &["'two' is no dimension"]),
        (&["--layer-backend", "CpuRef"], &["PATTERN=BACKEND"]),
        (&["--layer-backend", "=CpuRef"], &["must not be empty"]),
        (
            &["--layer-backend", "type:Convolution=CpuRef"],
            &["'Convolution'", "Convolution2d"],
        ),
        (&["--backend-option", "fast=1"], &["BACKEND.NAME=VALUE"]),
        (&["--image-std", "0"], &["divided by 0"]),
        (&["--image-mean", "a"], &["'a' is no number"]),
    ] {
        armnn(model.iter().chain(arguments)).fails(2, parts);
    }
}

#[test]
fn a_file_that_is_no_model_is_refused_by_its_content() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let text = file("text.tflite", b"hello");
    let empty = file("empty.tflite", b"");
    // ir_version: 8, producer_name: "pytorch".
    let onnx = file("model.onnx", b"\x08\x08\x12\x07pytorch");
    let damaged = file("damaged.tflite", b"\xff\xff\xff\xffTFL3\0\0\0\0");
    let directory = dir.path().to_str().unwrap();
    for (path, parts) in [
        (text.as_str(), &["text.tflite", "not a model"][..]),
        (&empty, &["empty.tflite", "it is empty"]),
        (&onnx, &["model.onnx", "it has no graph"]),
        (&damaged, &["damaged.tflite"]),
        (directory, &["a directory"]),
        ("no/such.tflite", &["no/such.tflite", "No such file"]),
    ] {
        let said = armnn(["run", "-m", path]);
        said.fails(1, parts);
        assert_eq!(said.stdout, "", "{path}");
    }
}

#[test]
fn what_cannot_be_written_is_found_out_before_the_model_is_run() {
    let model = face_detector();
    let run = |option: &str, path: &str| {
        let arguments = [option.as_ref(), path.as_ref()];
        armnn(
            ["run".as_ref(), "-m".as_ref(), model.as_os_str()]
                .iter()
                .chain(&arguments),
        )
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    let below_a_file = file.path().join("outputs");
    let below_a_file = below_a_file.to_str().unwrap();
    run("-w", below_a_file).fails(1, &["directory for outputs", below_a_file]);
    run("--report", below_a_file).fails(1, &["write the report", below_a_file]);
    run("--report", "/").fails(1, &["write the report", "a directory"]);
}

#[test]
fn data_for_an_input_that_is_not_there_names_those_that_are() {
    let model = face_detector();
    let model = model.to_str().unwrap();
    armnn(["run", "-m", model, "-d", "image=x.npy"])
        .fails(1, &["no input 'image'", "'input' Float32[1, 128, 128, 3]"]);
    armnn(["run", "-m", model, "-s", "image=1,2"]).fails(1, &["no input 'image'", "'input'"]);
    armnn(["run", "-m", model, "-d", "input=none.npy"]).fails(1, &["'none.npy'", "No such file"]);
    armnn(["run", "-m", model, "-d", "a.npy", "-d", "b.npy"])
        .fails(1, &["no input left for 'b.npy'", "2 files"]);
}

#[cfg(not(feature = "static-cpu-ref"))]
#[test]
fn without_backends_a_run_says_where_they_would_be_looked_for() {
    let model = face_detector();
    let model = model.to_str().unwrap();
    armnn(["run", "-m", model]).fails(1, &["no backend can be used", "-b DIR"]);
    // Relative directories count from the current one.
    let absolute = std::env::current_dir().unwrap().join("no-such-directory");
    armnn(["run", "-m", model, "-b", "no-such-directory"]).fails(
        1,
        &[
            "no backend can be used",
            absolute.to_str().unwrap(),
            "No such file",
        ],
    );
}
