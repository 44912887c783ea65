//! Tests of the assignment of files to inputs.

use std::fs;

use armnn_network::NetworkBuilder;
use armnn_runtime::DataType;

use super::*;

/// Inputs `a=b` Float32[2] and `c` Signed32[1, ?].
fn network() -> Network {
    let mut builder = NetworkBuilder::new();
    let a = TensorInfo::new(DataType::Float32, [2]);
    let a = builder.add_input_layer("a=b", a).unwrap();
    let c = TensorInfo::new(DataType::Signed32, [1, -1]);
    let c = builder.add_input_layer("c", c).unwrap();
    builder.add_output_layer("a", a).unwrap();
    builder.add_output_layer("c", c).unwrap();
    builder.finish().unwrap()
}

/// A directory with `.npy` files.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.npy("f2.npy", "<f4", "(2,)", &[0, 0, 128, 63, 0, 0, 0, 64]);
        files.npy("f3.npy", "<f4", "(3,)", &[0; 12]);
        files.npy("d2.npy", "<f8", "(2,)", &[0; 16]);
        files.npy(
            "i13.npy",
            "<i4",
            "(1, 3)",
            &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0],
        );
        files
    }

    fn npy(&self, name: &str, descr: &str, shape: &str, data: &[u8]) {
        fs::write(self.0.path().join(name), npy(descr, shape, data)).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// The result for `files`, in which `@` stands for the directory.
    fn prepare(&self, files: &[&str], shapes: &[&str]) -> anyhow::Result<Vec<Input>> {
        let directory = format!("{}/", self.0.path().display());
        let files: Vec<_> = files.iter().map(|f| f.replace('@', &directory)).collect();
        let shapes: Vec<_> = shapes.iter().map(|s| s.parse().unwrap()).collect();
        let request = Request {
            files: &files,
            shapes: &shapes,
            normalisation: &Normalisation::default(),
            quantize: false,
            steps: false,
            feedback: &[],
        };
        prepare(&network(), request)
    }

    fn error(&self, files: &[&str], shapes: &[&str]) -> String {
        format!("{:#}", self.prepare(files, shapes).unwrap_err())
    }
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

#[test]
fn files_without_a_name_go_to_the_inputs_that_are_left() {
    let files = Files::new();
    for given in [
        &["@f2.npy", "@i13.npy"][..],
        &["c=@i13.npy", "@f2.npy"],
        &["@i13.npy", "a=b=@f2.npy"],
        &["c=@i13.npy", "a=b=@f2.npy"],
    ] {
        let inputs = files.prepare(given, &[]).unwrap();
        assert_eq!(
            inputs[0].bytes,
            [1.0f32, 2.0].map(f32::to_ne_bytes).concat(),
            "{given:?}"
        );
        assert_eq!(inputs[1].info.shape.dims(), [1, 3]);
        assert_eq!(inputs[1].bytes, [1i32, 2, 3].map(i32::to_ne_bytes).concat());
    }
}

#[test]
fn a_path_may_contain_an_equals_sign() {
    let files = Files::new();
    fs::copy(files.path("f2.npy"), files.path("x=1.npy")).unwrap();
    let inputs = files.prepare(&["@x=1.npy", "c=@i13.npy"], &[]).unwrap();
    assert_eq!(
        inputs[0].source,
        Some(DataSource::File(files.path("x=1.npy").into()))
    );
}

#[test]
fn wrong_files_are_refused_with_what_was_expected_and_found() {
    let files = Files::new();
    for (given, reasons) in [
        (
            &["@f3.npy"][..],
            &["shape [2]", "<f4 [3]", "f3.npy", "'a=b' (Float32[2])"][..],
        ),
        (
            &["@d2.npy"],
            &["of type Float32", "the file holds <f8", "astype('<f4')"],
        ),
        (
            &["d=@f2.npy"],
            &["no input 'd'", "'a=b' Float32[2], 'c' Signed32[1, ?]"],
        ),
        (
            &["@f2.npy", "@i13.npy", "@f3.npy"],
            &["no input left", "f3.npy", "3 files"],
        ),
        (
            &["c=@i13.npy", "c=@f2.npy"],
            &["i13.npy", "f2.npy", "both", "'c'"],
        ),
        (&["@none.npy"], &["none.npy", "No such file"]),
        (
            &["@notes.txt"],
            &["notes.txt", ".npy, .npz, .bin, .pb, .png and .jpg"],
        ),
        (&["@t.pb"], &["t.pb", "No such file"]),
        (
            &["@f2.npy"],
            &["'c' is Signed32[1, ?]", "--input-tensor-shape"],
        ),
    ] {
        let error = files.error(given, &[]);
        for reason in reasons {
            assert!(error.contains(reason), "{given:?}: {reason}: {error}");
        }
    }
}

#[test]
fn raw_data_take_the_shape_that_is_given() {
    let files = Files::new();
    fs::write(
        files.path("three.bin"),
        [7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0],
    )
    .unwrap();
    let given = ["@f2.npy", "@three.bin"];
    let inputs = files.prepare(&given, &["c=1,3"]).unwrap();
    assert_eq!(inputs[1].bytes, [7i32, 8, 9].map(i32::to_ne_bytes).concat());
    let error = files.error(&given, &[]);
    assert!(error.contains("--input-tensor-shape"), "{error}");
    let error = files.error(&given, &["c=1,4"]);
    assert!(
        error.contains("16 bytes") && error.contains("the file has 12"),
        "{error}"
    );
}

#[test]
fn shapes_must_be_for_an_input_and_fit_it() {
    let files = Files::new();
    for (shapes, reasons) in [
        (&["d=1"][..], &["no input 'd'", "'c' Signed32[1, ?]"][..]),
        (&["c=2,3"], &["[2, 3]", "[1, ?]"]),
        (&["c=1"], &["[1]", "[1, ?]"]),
        (&["c=1,3", "c=1,3"], &["twice", "'c'"]),
    ] {
        let error = files.error(&["@f2.npy"], shapes);
        for reason in reasons {
            assert!(error.contains(reason), "{shapes:?}: {reason}: {error}");
        }
    }
    assert!("1,2,3".parse::<NamedShape>().unwrap_err().contains("NAME="));
    assert!("x=1,y".parse::<NamedShape>().unwrap_err().contains("'y'"));
    assert!("x=-1".parse::<NamedShape>().is_err());
    assert!(
        "x=1,1,1,1,1,1,1,1,1"
            .parse::<NamedShape>()
            .unwrap_err()
            .contains("8 dimensions")
    );
    assert_eq!("a=b=2,3".parse::<NamedShape>().unwrap().name, "a=b");
}

fn archive(path: &str, arrays: &[(&str, Vec<u8>)], method: zip::CompressionMethod) {
    use std::io::Write as _;
    let mut writer = zip::ZipWriter::new(fs::File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in arrays {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn arrays_of_an_archive_go_to_the_inputs_of_their_names_or_places() {
    let files = Files::new();
    let a = npy("<f4", "(2,)", &[0; 8]);
    let c = npy("<i4", "(1, 1)", &[5, 0, 0, 0]);
    for (names, method) in [
        (["a=b.npy", "c.npy"], zip::CompressionMethod::Deflated),
        (["arr_0.npy", "arr_1.npy"], zip::CompressionMethod::Stored),
    ] {
        let arrays = [(names[0], a.clone()), (names[1], c.clone())];
        archive(&files.path("both.npz"), &arrays, method);
        let inputs = files.prepare(&["@both.npz"], &[]).unwrap();
        assert_eq!(inputs[1].bytes, 5i32.to_ne_bytes());
    }
    archive(
        &files.path("one.npz"),
        &[("x.npy", c)],
        zip::CompressionMethod::Stored,
    );
    let inputs = files.prepare(&["@f2.npy", "c=@one.npz"], &[]).unwrap();
    assert_eq!(inputs[1].bytes, 5i32.to_ne_bytes());
    let error = files.error(&["@one.npz"], &[]);
    assert!(
        error.contains("it holds x") && error.contains("'c'"),
        "{error}"
    );
    fs::write(files.path("bad.npz"), "no archive").unwrap();
    let error = files.error(&["@bad.npz"], &[]);
    assert!(error.contains("not a ZIP archive"), "{error}");
}

/// Inputs `x` QAsymmU8[2] with the scale 0.5 and the zero point 128, and `s` Float32[1]; outputs
/// the same, named `y` and `sN`.
fn with_state() -> Network {
    let mut builder = NetworkBuilder::new();
    let x = TensorInfo::new(DataType::QAsymmU8, [2]);
    let x = x.quantized(armnn_runtime::Quantization::per_tensor(0.5, 128));
    let x = builder.add_input_layer("x", x).unwrap();
    let s = TensorInfo::new(DataType::Float32, [1]);
    let s = builder.add_input_layer("s", s).unwrap();
    builder.add_output_layer("y", x).unwrap();
    builder.add_output_layer("sN", s).unwrap();
    builder.finish().unwrap()
}

fn prepare_state(
    files: &[String],
    quantize: bool,
    steps: bool,
    feedback: &[&str],
) -> anyhow::Result<Vec<Input>> {
    let feedback: Vec<_> = feedback.iter().map(|&text| text.to_owned()).collect();
    let request = Request {
        files,
        shapes: &[],
        normalisation: &Normalisation::default(),
        quantize,
        steps,
        feedback: &feedback,
    };
    prepare(&with_state(), request)
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn numbers_are_quantized_for_inputs_that_are_when_that_is_asked_for() {
    let files = Files::new();
    files.npy("x.npy", "<f4", "(2,)", &f32s(&[0.0, -1000.0]));
    files.npy("half.npy", "<f2", "(2,)", &[0, 0x3c, 0, 0xc0]);
    fs::write(files.path("x.bin"), f32s(&[1.0, 1.5])).unwrap();
    files.npy("u.npy", "|u1", "(2,)", &[7, 8]);
    for (name, expected) in [
        // x / 0.5 + 128, within 0 to 255.
        ("x.npy", [128, 0]),
        ("half.npy", [130, 124]),
        ("x.bin", [130, 131]),
        ("u.npy", [7, 8]),
    ] {
        let inputs = prepare_state(&[files.path(name)], true, false, &[]).unwrap();
        assert_eq!(inputs[0].bytes, expected, "{name}");
    }
    let error = prepare_state(&[files.path("x.npy")], false, false, &[]).unwrap_err();
    let error = format!("{error:#}");
    assert!(error.contains("--quantize-input"), "{error}");
}

#[test]
fn the_first_axis_counts_steps_and_state_begins_with_its_file_or_zeros() {
    let files = Files::new();
    files.npy("x.npy", "|u1", "(3, 2)", &[1, 2, 3, 4, 5, 6]);
    files.npy("s.npy", "<f4", "(3, 1)", &f32s(&[7.0, 8.0, 9.0]));
    files.npy("s1.npy", "<f4", "(1,)", &f32s(&[7.0]));
    files.npy("s2.npy", "<f4", "(2, 1)", &f32s(&[7.0, 8.0]));
    let given = |names: &[&str]| -> Vec<String> { names.iter().map(|n| files.path(n)).collect() };
    let inputs = prepare_state(&given(&["x.npy", "s.npy"]), false, true, &[]).unwrap();
    assert_eq!(inputs[0].info.shape.dims(), [2]);
    assert_eq!((inputs[0].steps, inputs[1].steps), (Some(3), Some(3)));
    for (names, first) in [
        (&["x.npy", "s.npy"][..], 7.0),
        (&["x.npy", "s1.npy"], 7.0),
        (&["x.npy"], 0.0),
    ] {
        let inputs = prepare_state(&given(names), false, true, &["sN=s"]).unwrap();
        assert_eq!(inputs[1].bytes, f32s(&[first]), "{names:?}");
        assert_eq!((inputs[1].steps, inputs[1].feedback), (None, Some(1)));
    }
    for (names, feedback, reason) in [
        (
            &["x.npy", "s2.npy"][..],
            &[][..],
            "input 'x' has 3 steps, input 's' has 2",
        ),
        (&["x.npy", "s1.npy"], &[], "its first axis counts steps"),
        (&[], &[], "no input has one"),
        (
            &["x.npy"],
            &["sN=state"],
            "the outputs are 'y', 'sN', the inputs 'x', 's'",
        ),
        (&["x.npy"], &["y=s"], "the output is QAsymmU8"),
        (&["x.npy"], &["sN=s", "sN=s"], "another output is fed back"),
    ] {
        let error = prepare_state(&given(names), false, true, feedback).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains(reason), "{reason}: {error}");
    }
}

#[test]
fn raw_data_may_hold_several_steps() {
    let files = Files::new();
    fs::write(files.path("x.bin"), [1, 2, 3, 4]).unwrap();
    let inputs = prepare_state(&[files.path("x.bin")], false, true, &["sN=s"]).unwrap();
    assert_eq!(inputs[0].steps, Some(2));
    fs::write(files.path("x.bin"), [1, 2, 3]).unwrap();
    let error = prepare_state(&[files.path("x.bin")], false, true, &["sN=s"]).unwrap_err();
    assert!(format!("{error:#}").contains("no multiple"), "{error:#}");
}

#[test]
fn tensors_of_onnx_are_inputs() {
    let files = Files::new();
    // dims: [2], data_type: FLOAT, raw_data of 1 and 2.
    let pb = [b"\x08\x02\x10\x01\x4a\x08", &f32s(&[1.0, 2.0])[..]].concat();
    fs::write(files.path("a.pb"), pb).unwrap();
    let inputs = files.prepare(&["a=b=@a.pb", "@i13.npy"], &[]).unwrap();
    assert_eq!(
        inputs[0].bytes,
        [1.0f32, 2.0].map(f32::to_ne_bytes).concat()
    );
    let error = files.error(&["c=@a.pb"], &[]);
    assert!(
        error.contains("the input takes the shape [1, ?], the file holds FLOAT [2]"),
        "{error}"
    );
}

#[test]
fn random_data_of_a_large_input_repeat_themselves() {
    for (data_type, size) in [
        (DataType::Float32, 4),
        (DataType::Signed64, 8),
        (DataType::QAsymmU8, 1),
    ] {
        let info = |count: usize| TensorInfo::new(data_type, [count as i64]);
        let bytes = random("x", &info(MOST_DIFFERENT * 5 / 2), 0).unwrap();
        assert_eq!(bytes.len(), MOST_DIFFERENT * 5 / 2 * size);
        let first = random("x", &info(MOST_DIFFERENT), 0).unwrap();
        assert_ne!(first[..size * 100], first[size * 100..size * 200]);
        let mut parts = bytes.chunks(first.len());
        assert!(parts.all(|part| *part == first[..part.len()]));
    }
}

#[test]
fn random_data_are_the_same_in_every_run_and_in_range() {
    let info = TensorInfo::new(DataType::Float32, [1000]);
    let bytes = random("x", &info, 0).unwrap();
    assert_eq!(bytes, random("x", &info, 0).unwrap());
    assert_ne!(bytes, random("x", &info, 1).unwrap());
    let (mut min, mut max, mut sum) = (f64::MAX, f64::MIN, 0.0);
    assert!(values::visit(&info, &bytes, &mut |v| {
        (min, max, sum) = (min.min(v), max.max(v), sum + v);
    }));
    assert!(min >= -1.0 && max <= 1.0 && min < -0.9 && max > 0.9 && sum.abs() < 100.0);
    let indices = random("x", &TensorInfo::new(DataType::UInt8, [100]), 0).unwrap();
    assert!(indices.iter().all(|&i| i < 2) && indices.contains(&0) && indices.contains(&1));
}
