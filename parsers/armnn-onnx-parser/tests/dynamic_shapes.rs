//! Models of the test data whose inputs have unknown dimensions, with three shapes each, through
//! CpuRef, against what ONNX Runtime 1.32 computes.
//!
//! `dynamic_shapes.txt` has shapes and values; `dynamic_shapes.py` made it.

mod test_data;

use std::collections::BTreeMap;

use armnn_backend_api::DataType;
use armnn_onnx_parser::parse;
use armnn_runtime::{HostTensor, Shape, TensorInfo};
use test_data::{corpus, load};

/// A call of a model.
#[derive(Default)]
struct Case {
    /// How elements are made, and the shape.
    inputs: Vec<(String, Vec<i64>)>,
    outputs: Vec<Output>,
}

#[derive(Default)]
struct Output {
    dims: Vec<i64>,
    /// Of absolute values.
    sum: f64,
    /// Elements spread evenly over the output, the first and the last among them.
    samples: Vec<f64>,
}

#[test]
fn basic_pitch_takes_batches() {
    agrees("onnx_f32_basic_pitch", 2e-3);
}

#[test]
fn magika_takes_several_files() {
    agrees("onnx_f32_magika", 1e-3);
}

#[test]
fn nsnet_2_takes_batches_and_frames() {
    agrees("onnx_f32_nsnet2", 1e-3);
}

#[test]
fn the_text_detector_takes_images_of_any_size() {
    agrees("onnx_f32_ppocrv4_det", 1e-3);
}

#[test]
fn silero_vad_takes_batches() {
    agrees("onnx_f32_silero_vad", 1e-3);
}

#[test]
fn mini_lm_takes_batches_and_words() {
    agrees("onnx_i8w_minilm_l6", 1e-3);
}

/// Compares all calls of a model, one loaded network for all of them. The tolerance is that of the
/// test data, of the largest sample: kernels add up in different orders. The sums of absolute
/// values, in which such differences cancel each other, show that what is between samples is right,
/// too.
fn agrees(model: &str, tolerance: f64) {
    let cases = cases().remove(model).unwrap();
    assert_eq!(cases.len(), 3);
    let Some(folder) = corpus(model) else {
        return;
    };
    let loaded = load(parse(folder.join("model.onnx")).unwrap()).unwrap();
    for case in cases {
        let inputs: Vec<HostTensor> = case
            .inputs
            .iter()
            .map(|(kind, dims)| input(kind, dims))
            .collect();
        let what = format!("{:?}", case.inputs);
        let found = loaded.run(&inputs).unwrap();
        assert_eq!(found.len(), case.outputs.len(), "{what}");
        for (found, expected) in found.iter().zip(&case.outputs) {
            assert_eq!(found.info().shape.dims(), expected.dims, "{what}");
            let found = found.elements::<f32>().unwrap();
            let largest = expected.samples.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            for (k, expected) in expected.samples.iter().enumerate() {
                let found = f64::from(found[k * (found.len() - 1) / 15]);
                let difference = (found - expected).abs();
                assert!(
                    difference <= tolerance * largest + 1e-5,
                    "{what}, sample {k}: {found} for {expected}"
                );
            }
            let sum: f64 = found.iter().map(|&x| f64::from(x.abs())).sum();
            assert!(
                (sum - expected.sum).abs() <= tolerance * expected.sum + 1e-5,
                "{what}: {sum} for {}",
                expected.sum
            );
        }
    }
}

/// Calls by model.
fn cases() -> BTreeMap<String, Vec<Case>> {
    let mut models: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    let mut model = String::new();
    for line in include_str!("dynamic_shapes.txt").lines() {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbers = || rest.split_whitespace().map(|word| word.parse::<f64>());
        let dims = |text: &str| -> Vec<i64> {
            let words = text.split_whitespace();
            words.map(|word| word.parse().unwrap()).collect()
        };
        if key == "model" {
            model = rest.to_owned();
            models
                .entry(model.clone())
                .or_default()
                .push(Case::default());
            continue;
        }
        let case = models.get_mut(&model).unwrap().last_mut().unwrap();
        match key {
            "input" => {
                let (kind, shape) = rest.split_once(' ').unwrap_or((rest, ""));
                case.inputs.push((kind.to_owned(), dims(shape)));
            }
            "output" => case.outputs.push(Output {
                dims: dims(rest),
                ..Output::default()
            }),
            "sum" => case.outputs.last_mut().unwrap().sum = rest.parse().unwrap(),
            "samples" => {
                let samples = numbers().collect::<Result<_, _>>().unwrap();
                case.outputs.last_mut().unwrap().samples = samples;
            }
            other => panic!("{other}"),
        }
    }
    models
}

/// An input, by the formula that `dynamic_shapes.py` has, too.
fn input(kind: &str, dims: &[i64]) -> HostTensor {
    let count: i64 = dims.iter().product();
    let last = dims.last().copied().unwrap_or(1);
    let each = 0..u64::try_from(count).unwrap();
    let (row, column) = (|i: u64| i / last as u64, |i: u64| i % last as u64);
    let floats = |value: &dyn Fn(u64) -> f32| -> Vec<u8> {
        each.clone().flat_map(|i| value(i).to_ne_bytes()).collect()
    };
    let integers = |value: &dyn Fn(u64) -> u64| -> Vec<u8> {
        let values = each.clone().map(|i| value(i) as i64);
        values.flat_map(i64::to_ne_bytes).collect()
    };
    let (data_type, bytes) = match kind {
        "wave" => {
            let value = |i| hashed(i) as f32 / 65536.0 - 0.5;
            (DataType::Float32, floats(&value))
        }
        "bars" => {
            let dark = |i| row(i) % 16 < 8 && column(i) % 5 < 2;
            let value = |i| if dark(i) { -1.0 } else { 1.0 };
            (DataType::Float32, floats(&value))
        }
        "bytes" => {
            let values = each.clone().map(|i| (hashed(i) % 256) as i32);
            let bytes = values.flat_map(i32::to_ne_bytes).collect();
            (DataType::Signed32, bytes)
        }
        "rate" => (DataType::Signed64, integers(&|_| 16000)),
        "words" => (DataType::Signed64, integers(&|i| 1000 + hashed(i) % 20000)),
        "mask" => {
            let counts = |i| u64::from(row(i) == 0 || column(i) < 4);
            (DataType::Signed64, integers(&counts))
        }
        "zeros" => (DataType::Signed64, integers(&|_| 0)),
        other => panic!("{other}"),
    };
    let info = TensorInfo::new(data_type, Shape::new(dims).unwrap());
    HostTensor::from_bytes(info, &bytes).unwrap()
}

/// The high bits of a multiplicative hash: 0 to 65535.
fn hashed(i: u64) -> u64 {
    (i.wrapping_mul(2_654_435_761) % (1 << 32)) >> 16
}
