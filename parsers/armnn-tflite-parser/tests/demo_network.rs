//! The face detector of the demo as a network, whole and damaged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use armnn_backend_api::{DataType, LayerDescriptor, LayerType, Shape};
use armnn_network::{Network, Tensor, infer_shapes};
use armnn_tflite_parser::model::ModelFile;
use armnn_tflite_parser::{TfliteParser, parse, parse_bytes};
use bytes::Bytes;

#[test]
fn each_operator_of_the_demo_model_is_a_layer() {
    let network = parse(demo()).unwrap();
    let mut counts = BTreeMap::new();
    for layer in network.layers() {
        *counts.entry(layer.layer_type().to_string()).or_insert(0) += 1;
    }
    let expected = [
        ("Activation", 17),
        ("Cast", 74),
        ("Concat", 2),
        ("Convolution2d", 21),
        ("DepthwiseConvolution2d", 16),
        ("ElementwiseBinary", 16),
        ("Pad", 11),
        ("Pooling2d", 3),
        ("Reshape", 4),
    ];
    let expected = expected.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(counts, expected.into());
}

#[test]
fn inputs_and_outputs_are_the_models() {
    let network = parse(demo()).unwrap();
    let described = |tensor: &Tensor| (tensor.name.clone(), tensor.info.to_string());
    let inputs: Vec<_> = network
        .inputs()
        .iter()
        .map(|&id| described(network.tensor(id)))
        .collect();
    let pair = |name: &str, info: &str| (name.to_owned(), info.to_owned());
    assert_eq!(inputs, [pair("input", "Float32[1, 128, 128, 3]")]);
    let outputs: Vec<_> = network
        .outputs()
        .iter()
        .map(|output| {
            assert_eq!(output.name, network.tensor(output.tensor).name);
            described(network.tensor(output.tensor))
        })
        .collect();
    assert_eq!(
        outputs,
        [
            pair("regressors", "Float32[1, 896, 16]"),
            pair("classificators", "Float32[1, 896, 1]"),
        ]
    );
}

/// TensorFlow pads 128 rows for windows of 5 in steps of 2 by max(63 * 2 + 5 - 128, 0) = 3: one
/// before, two after.
#[test]
fn the_first_convolution_is_padded_as_tensorflow_does() {
    let network = parse(demo()).unwrap();
    let first = network
        .layers()
        .iter()
        .find_map(|layer| match layer.descriptor() {
            Some(LayerDescriptor::Convolution2d(descriptor)) => Some(descriptor),
            _ => None,
        })
        .unwrap();
    assert_eq!((first.stride_y, first.stride_x), (2, 2));
    assert_eq!((first.pad_top, first.pad_bottom), (1, 2));
    assert_eq!((first.pad_left, first.pad_right), (1, 2));
    assert_eq!(first.groups, 1);
}

#[test]
fn constants_are_the_mapped_file_and_stay_float16() {
    let file = ModelFile::open(demo()).unwrap();
    let mapping = file.bytes().as_ptr_range();
    let network = TfliteParser::new().parse_file(&file).unwrap();
    let mut constants = 0;
    for tensor in network.tensors() {
        let Some(data) = tensor.constant() else {
            continue;
        };
        constants += 1;
        assert!(
            mapping.contains(&data.as_ptr()),
            "{} was copied",
            tensor.name
        );
        assert_eq!(tensor.info.data_type, DataType::Float16, "{}", tensor.name);
    }
    assert_eq!(constants, 74);
    // Each is widened where it is used, and nowhere else.
    for layer in network.layers() {
        if layer.layer_type() == LayerType::Cast {
            let input = network.tensor(layer.inputs[0].unwrap());
            let output = network.tensor(layer.outputs[0]);
            assert!(input.constant().is_some());
            assert_eq!(output.info.data_type, DataType::Float32);
        }
    }
}

#[test]
fn a_network_outlives_the_file_it_was_read_from() {
    let file = ModelFile::open(demo()).unwrap();
    let network = TfliteParser::new().parse_file(&file).unwrap();
    drop(file);
    let on_disk = std::fs::read(demo()).unwrap();
    let constant = network
        .tensors()
        .iter()
        .find_map(|tensor| tensor.constant())
        .unwrap();
    assert!(
        on_disk
            .windows(constant.len())
            .any(|window| window == &constant[..])
    );
}

#[test]
fn every_truncation_of_the_first_4_kib_is_an_error() {
    let whole = Bytes::from(std::fs::read(demo()).unwrap());
    for length in 0..=4096 {
        let cut = Bytes::copy_from_slice(&whole[..length]);
        assert!(
            parse_bytes(cut, "cut").is_err(),
            "{length} bytes were read as a model"
        );
    }
}

#[test]
fn a_model_with_a_flipped_bit_is_an_error_or_a_network_but_never_a_panic() {
    let mut bytes = std::fs::read(demo()).unwrap();
    let mut random = SplitMix(2027);
    let (mut networks, mut errors) = (0, 0);
    for round in 0..2_000 {
        // Half of the flips where the tables are, half anywhere.
        let start = if round % 2 == 0 { structure(&bytes) } else { 0 };
        let at = start + random.below(bytes.len() - start);
        let mask = 1 << random.below(8);
        bytes[at] ^= mask;
        match parse_bytes(Bytes::copy_from_slice(&bytes), "flipped") {
            Ok(network) => {
                networks += 1;
                check(&network);
            }
            Err(error) => {
                errors += 1;
                assert!(error.to_string().len() < 100_000);
            }
        }
        bytes[at] ^= mask;
    }
    // The damage reached the tables, and not only them.
    assert!(
        networks > 100 && errors > 100,
        "{networks} networks, {errors} errors"
    );
}

/// A network reads only what stands before, and its shapes follow from those of its inputs.
fn check(network: &Network) {
    for (index, layer) in network.layers().iter().enumerate() {
        for input in layer.present_inputs() {
            let producer = network.tensor(input).producer();
            assert!(producer.is_none_or(|layer| layer.index() < index));
        }
    }
    let inputs: Vec<Shape> = network
        .inputs()
        .iter()
        .map(|&id| network.tensor(id).info.shape)
        .collect();
    if inputs.iter().all(Shape::is_known) {
        infer_shapes(network, &inputs).unwrap();
    }
}

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../demo/assets/face_detection_short_range.tflite")
}

/// Where the tables of operators and tensors begin: near a tensor's name.
fn structure(bytes: &[u8]) -> usize {
    let name = b"regressors";
    let at = bytes.windows(name.len()).position(|window| window == name);
    at.expect("the demo model names its outputs")
        .saturating_sub(16 << 10)
}

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}
