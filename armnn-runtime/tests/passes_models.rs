//! What passes make of whole models.

mod passes_support;

use std::path::{Path, PathBuf};

use armnn_runtime::{HostTensor, LayerType, PassSelection, Shape};
use passes_support::{Random, Run, assert_same_bits, run};

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is in the repository")
}

/// A folder of the test data; without it, a notice.
fn corpus(name: &str) -> Option<PathBuf> {
    let data = std::env::var_os("ARMNN_TEST_DATA")
        .map_or_else(|| repository().join("../shared"), PathBuf::from);
    let path = data.join("corpus").join(name);
    if !path.exists() {
        let path = path.display();
        skipped_tests::skip(format!("there is no {path}; set ARMNN_TEST_DATA"));
        return None;
    }
    Some(path)
}

/// The elements of a Float32 array in NumPy's format, version 1: a header whose length is at byte
/// 8, then the elements.
fn npy_floats(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (floats, _) = bytes[header..].as_chunks::<4>();
    floats.iter().map(|&b| f32::from_le_bytes(b)).collect()
}

/// Runs a model as it is, and rewritten.
fn both(model: &Path, input: impl Fn(Shape) -> HostTensor) -> (Run, Run) {
    let network = armnn_tflite_parser::parse(model).unwrap();
    let shape = network.tensor(network.inputs()[0]).info.shape;
    let inputs = [input(shape)];
    let plain = run(network.clone(), PassSelection::None, &inputs);
    let rewritten = run(network, PassSelection::All, &inputs);
    (plain, rewritten)
}

#[test]
fn the_face_detector_of_the_demo_has_nothing_to_rewrite() {
    let model = repository().join("demo/assets/face_detection_short_range.tflite");
    let (plain, rewritten) = both(&model, |shape| Random::new(1).tensor(shape));
    assert_same_bits(&plain.outputs, &rewritten.outputs);
    // Its Pads add channels, and its weights are f16.
    assert_eq!(plain.layers, rewritten.layers);
}

#[test]
fn facemesh_stays_within_the_tolerance_of_its_golden_outputs() {
    let Some(folder) = corpus("tfl_f16_facemesh") else {
        return;
    };
    let input = npy_floats(&folder.join("in0_input_1.npy"));
    let (plain, rewritten) = both(&folder.join("model.tflite"), |shape| {
        HostTensor::from_f32(shape, &input).unwrap()
    });
    // Both branches of a block pool the same tensor: the pooling of one is that of the other.
    assert_eq!(plain.layers.len(), rewritten.layers.len() + 1);
    let removed = rewritten
        .rewrites
        .iter()
        .flat_map(|report| &report.summary.removed);
    let removed: Vec<_> = removed.map(|l| (l.name.as_str(), l.layer_type)).collect();
    assert_eq!(removed, [("max_pooling2d_7", LayerType::Pooling2d)]);
    // Nothing but the layers' own arithmetic: the weights are f16, and no factor is folded.
    assert_same_bits(&plain.outputs, &rewritten.outputs);
    for (output, golden) in rewritten
        .outputs
        .iter()
        .zip(["out0_conv2d_21", "out1_conv2d_31"])
    {
        let golden = npy_floats(&folder.join(golden).with_extension("npy"));
        let found = output.elements::<f32>().unwrap();
        assert_eq!(found.len(), golden.len());
        // As the test data asks: 1e-3 of the largest number, plus 1e-5.
        let largest = golden.iter().fold(0.0f32, |max, v| max.max(v.abs()));
        for (a, b) in golden.iter().zip(found) {
            assert!((a - b).abs() <= 1e-3 * largest + 1e-5, "{a} {b}");
        }
    }
}
