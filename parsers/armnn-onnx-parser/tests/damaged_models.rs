//! Models that are cut off, or have a bit flipped: an error or a network, but never a panic.

mod test_data;

use armnn_network::{LayerProblem, Network, NetworkError, infer_shapes};
use armnn_onnx_parser::{OnnxParser, OnnxParserOptions, parse, parse_bytes};
use armnn_runtime::Shape;
use bytes::Bytes;
use test_data::corpus;

fn mnist() -> Option<Vec<u8>> {
    let path = corpus("onnx_f32_mnist8/model.onnx")?;
    Some(std::fs::read(path).unwrap())
}

#[test]
fn every_truncation_of_the_first_4_kib_is_an_error() {
    let Some(whole) = mnist() else { return };
    for length in 0..=4096 {
        // An allocation of its own, so that reading past the end is seen by sanitizers.
        let cut = Bytes::copy_from_slice(&whole[..length]);
        assert!(
            parse_bytes(cut, "cut").is_err(),
            "{length} bytes were read as a model"
        );
    }
}

#[test]
fn a_model_with_a_flipped_bit_is_an_error_or_a_network_but_never_a_panic() {
    let Some(mut bytes) = mnist() else { return };
    let mut random = SplitMix(2027);
    let (mut networks, mut errors) = (0, 0);
    // Where the messages are: weights take most of the rest.
    let structure = 4096.min(bytes.len());
    for round in 0..2_000 {
        let bound = if round % 2 == 0 {
            structure
        } else {
            bytes.len()
        };
        let at = random.below(bound);
        let mask = 1 << random.below(8);
        bytes[at] ^= mask;
        let mut options = OnnxParserOptions::default();
        options.stand_in_layer_for_unknown = round % 3 == 0;
        let parser = OnnxParser::with_options(options);
        match parser.parse_bytes(Bytes::copy_from_slice(&bytes), "flipped") {
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
    // The damage reached the messages, and not only them.
    assert!(
        networks > 100 && errors > 100,
        "{networks} networks, {errors} errors"
    );
}

#[test]
fn weights_are_the_mapped_file() {
    let Some(path) = corpus("onnx_f32_squeezenet_seeded/model.onnx") else {
        return;
    };
    let file = armnn_onnx_parser::model::ModelFile::open(path).unwrap();
    let mapping = file.bytes().as_ptr_range();
    let network = OnnxParser::new().parse_file(&file).unwrap();
    let mut constants = 0;
    for tensor in network.tensors() {
        if let Some(data) = tensor.constant() {
            constants += 1;
            assert!(
                mapping.contains(&data.as_ptr()),
                "{} was copied",
                tensor.name
            );
        }
    }
    assert_eq!(constants, 52);
}

#[test]
fn a_path_that_cannot_be_read_is_named() {
    let missing = parse("no/such/model.onnx").unwrap_err().to_string();
    assert!(missing.contains("no/such/model.onnx"), "{missing}");
    let folder = parse(env!("CARGO_MANIFEST_DIR")).unwrap_err().to_string();
    assert!(folder.contains("not a regular file"), "{folder}");
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
        match infer_shapes(network, &inputs) {
            Ok(_) => {}
            // A damaged name may make what determines a shape something that is computed.
            Err(NetworkError::Layer { problem, .. })
                if matches!(*problem, LayerProblem::ParametersUnknown { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
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
