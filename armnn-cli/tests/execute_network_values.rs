//! What `armnn execute-network` does with values: steps, quantization, comparisons, and files of
//! ONNX.

#![cfg(target_os = "linux")]

mod command;

use std::{
    fs,
    path::{Path, PathBuf},
};

use command::{
    Said, armnn,
    onnx::{bytes_field, choosing_model, model, number_field, sequence, tensor},
    staged_backends, test_data,
};

/// A directory with files, and the staged backends.
struct Place {
    root: tempfile::TempDir,
    backends: PathBuf,
}

impl Place {
    fn new() -> Option<Self> {
        Some(Self {
            backends: staged_backends()?,
            root: tempfile::tempdir().unwrap(),
        })
    }

    fn path(&self, name: &str) -> String {
        self.root.path().join(name).to_str().unwrap().to_owned()
    }

    fn put(&self, name: &str, content: &[u8]) -> String {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// An array of Float32.
    fn put_f32(&self, name: &str, shape: &str, values: &[f32]) -> String {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        self.put(name, &bytes)
    }

    fn run(&self, model: &str, more: &[&str]) -> Said {
        let backends = self.backends.to_str().unwrap();
        let arguments = ["run", "-m", model, "-b", backends, "-c", "CpuRef"];
        armnn(arguments.iter().chain(more))
    }
}

/// Shape and elements of an array, read by another reader than the command's.
fn npy<T: npyz::Deserialize>(path: impl AsRef<Path>) -> (Vec<u64>, Vec<T>) {
    let file = npyz::NpyFile::new(fs::File::open(path).unwrap()).unwrap();
    (file.shape().to_vec(), file.into_vec().unwrap())
}

#[test]
fn mnist_on_its_recorded_digit_is_class_2() {
    let Some(place) = Place::new() else { return };
    let Some(case) = test_data("corpus/onnx_f32_mnist8") else {
        return;
    };
    // The same values as an ONNX tensor: dims 1, 1, 28, 28, data_type FLOAT, raw_data.
    let (shape, values) = npy::<f32>(case.join("in0_Input3.npy"));
    assert_eq!(shape, [1, 1, 28, 28]);
    let mut pb = b"\x08\x01\x08\x01\x08\x1c\x08\x1c\x10\x01\x4a\xc0\x18".to_vec();
    pb.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    let input = place.put("input_0.pb", &pb);
    let model = case.join("model.onnx");
    let said = place.run(
        model.to_str().unwrap(),
        &["-d", &input, "-w", &place.path("out"), "--format", "json"],
    );
    said.succeeds(&[]);
    let top = &said.json()["outputs"][0]["top"][0];
    assert_eq!(top["index"], 2);
    let (_, logits) = npy::<f32>(place.path("out/out0.npy"));
    assert!((logits[2] - 6574.568).abs() <= 0.01, "{logits:?}");
}

#[test]
fn state_that_is_fed_back_adds_up_over_steps() {
    let Some(place) = Place::new() else { return };
    let model = place.put("sum.onnx", &model("Add"));
    let b = place.put_f32("b.npy", "(3, 2)", &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
    let out = place.path("out");
    let b = format!("b={b}");
    let fed_back = ["--steps", "--feedback", "y=a", "-d", &b, "-w", &out];
    let said = place.run(&model, &[&fed_back[..], &["--format", "json"]].concat());
    said.succeeds(&[]);
    let expected = (vec![3, 2], vec![1.0, 10.0, 3.0, 30.0, 6.0, 60.0]);
    assert_eq!(npy::<f32>(place.path("out/out0.npy")), expected);
    let report = said.json();
    assert_eq!(report["options"]["steps"], 3);
    assert_eq!(report["inputs"][0]["source"], "zeros");
    assert_eq!(report["outputs"][0]["shape"], serde_json::json!([3, 2]));
    // From the beginning in each iteration, and from what a file holds.
    let a = format!("a={}", place.put_f32("a.npy", "(2,)", &[100.0, 0.0]));
    let more = [&fed_back[..], &["-d", &a, "-I", "3", "--warmup", "2"]].concat();
    let said = place.run(&model, &more);
    said.succeeds(&["y  Float32[3, 2]", "(3 iterations)"]);
    let expected = (vec![3, 2], vec![101.0, 10.0, 103.0, 30.0, 106.0, 60.0]);
    assert_eq!(npy::<f32>(place.path("out/out0.npy")), expected);
    // Without feedback, each input has its own value in each step.
    let a = format!("a={}", place.put_f32("a.npy", "(3, 2)", &[0.5; 6]));
    place
        .run(&model, &["--steps", "-d", &a, "-d", &b, "-w", &out])
        .succeeds(&[]);
    let expected = (vec![3, 2], vec![1.5, 10.5, 2.5, 20.5, 3.5, 30.5]);
    assert_eq!(npy::<f32>(place.path("out/out0.npy")), expected);
}

#[test]
fn quantized_inputs_take_numbers_and_quantized_outputs_become_numbers() {
    let Some(place) = Place::new() else { return };
    let (Some(dequantize), Some(quantize)) = (
        test_data("corpus/tfl_single_op/dequantize_int8"),
        test_data("corpus/tfl_single_op/quantize_f32_uint8"),
    ) else {
        return;
    };
    let out = place.path("out");
    // Each recorded number is one that a quantized element stands for, so nothing is rounded.
    let numbers = dequantize.join("out0.npy");
    let (model, given) = (dequantize.join("model.tflite"), numbers.to_str().unwrap());
    let given = ["-d", given, "-w", &out];
    let model = model.to_str().unwrap();
    place.run(model, &given).fails(1, &["--quantize-input"]);
    place
        .run(model, &[&given[..], &["-q"]].concat())
        .succeeds(&[]);
    assert_eq!(npy::<f32>(place.path("out/out0.npy")), npy::<f32>(&numbers));

    let (model, input) = (quantize.join("model.tflite"), quantize.join("in0.npy"));
    let given = ["-d", input.to_str().unwrap(), "-w", &out];
    let model = model.to_str().unwrap();
    place.run(model, &given).succeeds(&["QAsymmU8"]);
    let (_, quantized) = npy::<u8>(place.path("out/out0.npy"));
    place
        .run(model, &[&given[..], &["-l"]].concat())
        .succeeds(&["Float32"]);
    let (_, numbers) = npy::<f32>(place.path("out/out0.npy"));
    // Number = scale * (quantized - zero point): the line through two points holds them all.
    let far = |best: usize, next: usize| {
        if quantized[next] > quantized[best] {
            next
        } else {
            best
        }
    };
    let most = (0..quantized.len()).reduce(far).unwrap();
    let near = |best: usize, next: usize| {
        if quantized[next] < quantized[best] {
            next
        } else {
            best
        }
    };
    let least = (0..quantized.len()).reduce(near).unwrap();
    let scale = (numbers[most] - numbers[least]) / f32::from(quantized[most] - quantized[least]);
    assert!(scale > 0.0);
    for (number, quantized_here) in numbers.iter().zip(&quantized) {
        let steps = f32::from(*quantized_here) - f32::from(quantized[least]);
        let expected = numbers[least] + scale * steps;
        assert!(
            (number - expected).abs() <= scale * 1e-3,
            "{number} {expected}"
        );
    }
}

#[test]
fn outputs_are_compared_with_files_and_the_exit_code_says_the_outcome() {
    let Some(place) = Place::new() else { return };
    let model = place.put("add.onnx", &model("Add"));
    let a = place.put("a.pb", &tensor([1.0, 2.0]));
    let b = place.put("b.pb", &tensor([0.5, -2.0]));
    // The outputs are 1.5 and 0: off by 0.3 and 0.4, sqrt((0.09 + 0.16) / 2) = 0.35355.
    fs::create_dir(place.path("other")).unwrap();
    place.put("other/output_0.pb", &tensor([1.2, 0.4]));
    let other = place.path("other");
    let given = ["-d", &a, "-d", &b, "--compare-output", &other];
    let said = place.run(&model, &[&given[..], &["--tolerance", "0.5"]].concat());
    said.succeeds(&[
        "Compared with",
        "y  largest difference 0.40000  root mean square 0.35355",
    ]);
    let said = place.run(&model, &[&given[..], &["--format", "json"]].concat());
    said.fails(
        1,
        &[
            "outputs differ from",
            "more than the tolerance of 0.001",
            "'y' by 0.4",
        ],
    );
    let comparison = &said.json()["comparisons"][0];
    assert_eq!(comparison["tolerance"], 0.001);
    assert_eq!(comparison["outputs"][0]["within_tolerance"], false);
    // NumPy's array of the very outputs.
    let itself = place.path("itself");
    place
        .run(&model, &["-d", &a, "-d", &b, "-w", &itself])
        .succeeds(&[]);
    let given = ["-d", &a, "-d", &b, "--compare-output", &itself];
    place
        .run(&model, &[&given[..], &["--tolerance", "0"]].concat())
        .succeeds(&["largest difference 0  root mean square 0"]);
}

#[test]
fn outputs_are_compared_with_those_of_other_backends() {
    let Some(place) = Place::new() else { return };
    let model = place.put("add.onnx", &model("Add"));
    let with = |list| place.run(&model, &["--compare-output-with-backend", list]);
    with("SampleDynamic").succeeds(&["Compared with SampleDynamic", "largest difference 0"]);
    with("SampleDynamic,Nope").fails(
        1,
        &[
            "compared with those on SampleDynamic, Nope",
            "Nope cannot be used: no backend",
        ],
    );
}

#[test]
fn infinite_outputs_are_told_as_such() {
    let Some(place) = Place::new() else { return };
    let model = place.put("add.onnx", &model("Add"));
    let a = place.put("a.pb", &tensor([f32::MAX, f32::NEG_INFINITY]));
    let b = place.put("b.pb", &tensor([f32::MAX, 1.0]));
    let said = place.run(&model, &["-d", &a, "-d", &b, "--format", "json"]);
    said.succeeds(&[]);
    let output = &said.json()["outputs"][0];
    assert_eq!(
        (&output["min"], &output["max"]),
        (&"-inf".into(), &"inf".into())
    );
    place
        .run(&model, &["-d", &a, "-d", &b])
        .succeeds(&["-inf .. inf"]);
}

#[test]
fn the_drawing_has_every_layer_in_the_colour_of_its_backend() {
    let Some(place) = Place::new() else { return };
    let model = place.put("add.onnx", &model("Add"));
    let file = place.path("model.dot");
    place
        .run(&model, &["--visualize-optimized-model", &file])
        .succeeds(&[]);
    let dot = fs::read_to_string(file).unwrap();
    assert!(dot.starts_with("digraph Network {\n"), "{dot}");
    assert!(dot.contains("BackendID : CpuRef"), "{dot}");
    let colour = |node: &str| {
        let line = dot.lines().rfind(|line| line.trim().starts_with(node));
        let line = line.unwrap_or_else(|| panic!("no {node}: {dot}"));
        line.split("fillcolor = \"").nth(1).unwrap()[..7].to_owned()
    };
    assert_eq!(colour("layer_0 ["), colour("backend_0 ["));
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
}

#[test]
fn the_network_after_a_pass_goes_to_standard_error() {
    let Some(place) = Place::new() else { return };
    let model = place.put("add.onnx", &model("Add"));
    let said = place.run(
        &model,
        &[
            "--print-after",
            "dead-layers",
            "--print-after",
            "pads",
            "--format",
            "json",
        ],
    );
    said.succeeds(&[]);
    let after: Vec<_> = said
        .stderr
        .lines()
        .filter(|line| line.starts_with("// after "))
        .collect();
    assert_eq!(
        after,
        [
            "// after dead-layers in round 0",
            "// after pads in round 0"
        ]
    );
    assert_eq!(said.stderr.matches("digraph Network {").count(), 2);
    // Standard output is one document all the same.
    assert_eq!(said.json()["passes"][0]["pass"], "dead-layers");
}

#[test]
fn a_profile_is_a_table_with_the_layers_of_each_step() {
    let Some(place) = Place::new() else { return };
    let model = place.put("add.onnx", &model("Add"));
    let file = place.path("trace.json");
    let said = place.run(&model, &["--profile", &file]);
    said.succeeds(&[
        "Profile: 1 steps in",
        "100.0 %  CpuRef  ElementwiseBinary  y\n",
    ]);
    let said = place.run(&model, &["--profile", &file, "--format", "json"]);
    let step = &said.json()["profile"]["steps"][0];
    assert_eq!(step["backend"], "CpuRef");
    assert_eq!(step["layers"], serde_json::json!([0]));
    assert!(step["ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn sequences_are_read_told_written_and_compared() {
    let Some(place) = Place::new() else {
        return;
    };
    // A sequence comes out.
    let model = place.put("pair.onnx", &model("SequenceConstruct"));
    let a = format!("a={}", place.put("a.pb", &tensor([1.0, 2.0])));
    let b = format!("b={}", place.put("b.pb", &tensor([0.5, -2.0])));
    let out = place.path("out");
    let said = place.run(&model, &["-d", &a, "-d", &b, "-w", &out]);
    said.succeeds(&["y  sequence of 2: (Float32[2]; Float32[2])"]);
    let said = place.run(&model, &["-d", &a, "-d", &b, "--compare-output", &out]);
    said.succeeds(&[]);
    let [a, b] = [a.replace("a=", "b="), b.replace("b=", "a=")];
    let said = place.run(&model, &["-d", &a, "-d", &b, "--compare-output", &out]);
    said.fails(1, &["'y' by 4"]);

    // It goes in.
    let model = place.put("choose.onnx", &choosing_model());
    let s = format!("s={out}/out0.pb");
    let number = [number_field(2, 7), bytes_field(9, &1i64.to_le_bytes())].concat();
    let i = format!("i={}", place.put("i.pb", &number));
    let chosen = place.path("chosen");
    let said = place.run(&model, &["-d", &s, "-d", &i, "-w", &chosen]);
    said.succeeds(&["s  sequence of 2: (Float32[2]; Float32[2])"]);
    let (shape, values) = npy::<f32>(format!("{chosen}/out0.npy"));
    assert_eq!((&shape[..], &values[..]), (&[2][..], &[0.5, -2.0][..]));

    // What is none says so.
    let said = place.run(&model, &["-d", &i]);
    said.fails(
        1,
        &[
            "input 's' (sequence of Float32[2]) has no data",
            "give a .pb file",
        ],
    );
    let empty = place.put("empty.pb", &sequence(&[]));
    let said = place.run(&model, &["-d", &format!("s={empty}"), "-d", &i]);
    said.fails(1, &["position 1 of 0 values"]);
}
