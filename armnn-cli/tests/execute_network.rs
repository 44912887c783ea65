//! `armnn execute-network` with backends that are loaded at run time.

#![cfg(target_os = "linux")]

mod command;

use std::path::Path;

use command::{armnn, face_detector, staged_backends, test_data};

/// Arguments that run the face detector on the backends in `directory`.
fn face(directory: &Path) -> Vec<String> {
    let model = face_detector();
    let words = ["execute-network", "-m", model.to_str().unwrap(), "-b"];
    let mut arguments = words.map(str::to_owned).to_vec();
    arguments.push(directory.to_str().unwrap().to_owned());
    arguments
}

fn with(mut arguments: Vec<String>, more: &[&str]) -> Vec<String> {
    arguments.extend(more.iter().map(|&s| s.to_owned()));
    arguments
}

/// Elements and shape of an array, read by another reader than the command's.
fn npy(path: &Path) -> (Vec<u64>, Vec<f32>) {
    let file = npyz::NpyFile::new(std::fs::File::open(path).unwrap()).unwrap();
    (file.shape().to_vec(), file.into_vec().unwrap())
}

#[test]
fn the_face_detector_gives_the_values_of_another_engine() {
    let Some(directory) = staged_backends() else {
        return;
    };
    let Some(case) = test_data("corpus/tfl_f16_blazeface_short") else {
        return;
    };
    let outputs = tempfile::tempdir().unwrap();
    let input = format!("input={}", case.join("in0_input.npy").display());
    let written = outputs.path().to_str().unwrap();
    let said = armnn(with(
        face(&directory),
        &["-c", "CpuRef", "-d", &input, "-w", written],
    ));
    said.succeeds(&[
        "regressors",
        "Float32[1, 896, 16]",
        "classificators",
        "out1.npy",
    ]);
    assert!(!said.stderr.contains("random"), "{}", said.stderr);
    for (got, want) in [
        ("out0.npy", "out0_regressors.npy"),
        ("out1.npy", "out1_classificators.npy"),
    ] {
        let (got_shape, got) = npy(&outputs.path().join(got));
        let (want_shape, want) = npy(&case.join(want));
        assert_eq!(got_shape, want_shape);
        let largest = want.iter().fold(0f32, |m, v| m.max(v.abs()));
        let limit = 1e-3 * largest + 1e-5;
        for (index, (got, want)) in got.iter().zip(&want).enumerate() {
            assert!(
                (got - want).abs() <= limit,
                "element {index}: {got} instead of {want}"
            );
        }
    }
}

#[test]
fn every_form_of_the_same_input_gives_the_same_outputs() {
    let Some(directory) = staged_backends() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    // An image of the input's size is not resized, and the samples stay what they are.
    let samples: Vec<u8> = (0..128 * 128 * 3u32).map(|i| (i * 7 % 251) as u8).collect();
    let image = image::RgbImage::from_raw(128, 128, samples.clone()).unwrap();
    image.save(path("in.png")).unwrap();
    let elements: Vec<u8> = samples
        .iter()
        .flat_map(|&s| f32::from(s).to_le_bytes())
        .collect();
    std::fs::write(path("in.bin"), &elements).unwrap();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 128, 128, 3), }\n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend_from_slice(&(header.len() as u16).to_le_bytes());
    npy.extend_from_slice(header.as_bytes());
    npy.extend_from_slice(&elements);
    std::fs::write(path("in.npy"), npy).unwrap();

    let outputs = ["in.png", "in.bin", "in.npy"].map(|name| {
        let out = path(&format!("{name}.out"));
        armnn(with(face(&directory), &["-d", &path(name), "-w", &out])).succeeds(&[name]);
        [0, 1].map(|i| std::fs::read(format!("{out}/out{i}.npy")).unwrap())
    });
    assert_eq!(outputs[0], outputs[1]);
    assert_eq!(outputs[1], outputs[2]);
}

#[test]
fn the_report_tells_where_every_layer_ran_and_how_long_it_took() {
    let Some(directory) = staged_backends() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report.json");
    let more = [
        "-c", "CpuRef", "-I", "3", "--warmup", "2", "--format", "json", "--report",
    ];
    let arguments = with(face(&directory), &more);
    let said = armnn(with(arguments, &[file.to_str().unwrap()]));
    said.succeeds(&[]);
    assert!(
        said.stderr.contains("'input'") && said.stderr.contains("random"),
        "{}",
        said.stderr
    );

    let report = said.json();
    let written: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(report, written);
    let layers = report["layers"].as_array().unwrap();
    assert_eq!(report["model"]["layers"], layers.len());
    assert!(
        layers
            .iter()
            .all(|l| l["backend"] == "CpuRef" && l["choice"] == "preference")
    );
    let only = serde_json::json!([{ "backend": "CpuRef", "layers": layers.len() }]);
    assert_eq!(report["layers_per_backend"], only);
    assert_eq!(report["deviations"], serde_json::json!([]));
    assert_eq!(report["preference"], serde_json::json!(["CpuRef"]));
    assert_eq!(
        report["inputs"][0]["shape"],
        serde_json::json!([1, 128, 128, 3])
    );
    assert_eq!(report["inputs"][0]["source"], serde_json::Value::Null);
    assert!(!report["steps"].as_array().unwrap().is_empty());

    let times = &report["timings_ms"];
    assert_eq!(times["iterations"].as_array().unwrap().len(), 3);
    assert_eq!(times["warmup"].as_array().unwrap().len(), 2);
    let statistics =
        ["min", "median", "p95", "max"].map(|name| times["statistics"][name].as_f64().unwrap());
    assert!(
        statistics.is_sorted() && statistics[0] > 0.0,
        "{statistics:?}"
    );
    let peak = report["memory"]["peak_resident_bytes"].as_u64().unwrap();
    assert!(peak > report["memory"]["execution_state_bytes"].as_u64().unwrap());
}

#[test]
fn the_profile_is_a_trace_with_a_span_for_every_step() {
    let Some(directory) = staged_backends() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace.json");
    let more = ["-c", "CpuRef", "--format", "json", "--profile"];
    let said = armnn(with(
        with(face(&directory), &more),
        &[file.to_str().unwrap()],
    ));
    said.succeeds(&[]);
    let steps = said.json()["steps"].as_array().unwrap().len();
    let trace: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let spans: Vec<_> = events.iter().filter(|e| e["ph"] == "X").collect();
    assert_eq!(spans.len(), steps);
    let mut end = 0.0;
    for span in &spans {
        // One after another, each with its layer.
        assert!(span["ts"].as_f64().unwrap() >= end, "{span}");
        end = span["ts"].as_f64().unwrap() + span["dur"].as_f64().unwrap() - 1e-3;
        assert_eq!(span["args"]["layers"].as_array().unwrap().len(), 1);
    }
    let rows: Vec<_> = events.iter().filter(|e| e["ph"] == "M").collect();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["args"]["name"], "CpuRef");
}

#[test]
fn a_preferred_backend_that_is_not_there_is_named_with_its_reason() {
    let Some(directory) = staged_backends() else {
        return;
    };
    let said = armnn(with(face(&directory), &["-c", "Nope,CpuRef,CpuRef"]));
    said.succeeds(&[
        "Deviations from the first preference, CpuRef",
        "Nope cannot be used: no backend of this id was found",
    ]);
    for arguments in [&["-c", "Nope"][..], &["-c", "Nope,CpuRef", "--strict"]] {
        let said = armnn(with(face(&directory), arguments));
        said.fails(
            1,
            &[
                "Nope: no backend of this id was found",
                "usable are: CpuRef",
            ],
        );
        assert_eq!(said.stdout, "");
    }
}

#[test]
fn a_pin_that_cannot_be_kept_is_an_error() {
    let Some(directory) = staged_backends() else {
        return;
    };
    for (pin, parts) in [
        (
            "no-such-layer*=CpuRef",
            &["no-such-layer*=CpuRef", "matches no layer", "Cast ("][..],
        ),
        (
            "type:Softmax=CpuRef",
            &["type:Softmax=CpuRef", "matches no layer", "Convolution2d ("],
        ),
        (
            "*=Nope",
            &[
                "*=Nope",
                "no backend of this id was found",
                "usable are: CpuRef",
            ],
        ),
    ] {
        armnn(with(face(&directory), &["--layer-backend", pin])).fails(1, parts);
    }
    armnn(with(face(&directory), &["--layer-backend", "*=CpuRef"])).succeeds(&["CpuRef"]);
}

/// Whether there is the backend that takes Addition only.
fn has_sample(directory: &Path) -> bool {
    let found = directory.join("Arm_SampleDynamic_backend.so").exists();
    if !found {
        let directory = directory.display();
        skipped_tests::skip(format!("there is no SampleDynamic in '{directory}'"));
    }
    found
}

#[test]
fn refused_layers_fall_back_and_every_reason_is_told_once() {
    let Some(directory) = staged_backends() else {
        return;
    };
    if !has_sample(&directory) {
        return;
    }
    let compute = ["-c", "SampleDynamic", "-c", "CpuRef"];
    let said = armnn(with(face(&directory), &compute));
    said.succeeds(&[
        "SampleDynamic refused",
        "Convolution2d, executed by CpuRef: ",
    ]);
    let told = said
        .stdout
        .lines()
        .filter(|line| line.contains(" Convolution2d, executed by"));
    assert_eq!(told.count(), 1, "{}", said.stdout);

    let said = armnn(with(
        face(&directory),
        &["-c", "SampleDynamic,CpuRef", "--format", "json"],
    ));
    let report = said.json();
    let layers = report["layers"].as_array().unwrap();
    let of = |backend: &str| layers.iter().filter(|l| l["backend"] == backend).count();
    assert!(of("SampleDynamic") > 0 && of("CpuRef") > 0);
    for layer in layers.iter().filter(|l| l["type"] == "Convolution2d") {
        assert_eq!(layer["backend"], "CpuRef");
        assert_eq!(layer["refusals"][0]["backend"], "SampleDynamic");
    }

    let strict = with(
        face(&directory),
        &["-c", "SampleDynamic,CpuRef", "--strict"],
    );
    armnn(strict).fails(1, &["strict", "SampleDynamic: ", "layer '"]);
    let pinned = [
        "-c",
        "CpuRef",
        "--layer-backend",
        "type:Convolution2d=SampleDynamic",
    ];
    armnn(with(face(&directory), &pinned)).fails(1, &["pinned to SampleDynamic", "refuses"]);
}

#[test]
fn the_last_pin_that_matches_wins_and_is_reported() {
    let Some(directory) = staged_backends() else {
        return;
    };
    if !has_sample(&directory) {
        return;
    }
    let pins = [
        "-c",
        "CpuRef",
        "--layer-backend",
        "*=CpuRef",
        "--layer-backend",
        "type:ElementwiseBinary=SampleDynamic",
        "--format",
        "json",
    ];
    let said = armnn(with(face(&directory), &pins));
    said.succeeds(&[]);
    let report = said.json();
    for layer in report["layers"].as_array().unwrap() {
        let is_addition = layer["type"] == "ElementwiseBinary";
        assert_eq!(
            layer["backend"],
            if is_addition {
                "SampleDynamic"
            } else {
                "CpuRef"
            }
        );
        assert_eq!(layer["choice"], "pin");
    }
    let deviations = report["deviations"].as_array().unwrap();
    assert_eq!(deviations.len(), 1, "{deviations:?}");
    assert_eq!(
        (&deviations[0]["kind"], &deviations[0]["choice"]),
        (&"moved".into(), &"pin".into())
    );
}

#[test]
fn a_directory_where_nothing_can_be_kept_is_told_of() {
    let Some(directory) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    for (cache, is_told) in [
        (file.clone(), true),
        (file.join("below"), true),
        (root.path().join("made/when/needed"), false),
    ] {
        let cache = cache.to_str().unwrap();
        let said = armnn(with(face(&directory), &["--cache-dir", cache]));
        said.succeeds(&[]);
        let words = format!("nothing can be written to '{cache}'");
        assert_eq!(said.stderr.contains(&words), is_told, "{}", said.stderr);
    }
    // Nothing is left behind.
    let made = root.path().join("made/when/needed");
    assert_eq!(std::fs::read_dir(made).unwrap().count(), 0);
}
