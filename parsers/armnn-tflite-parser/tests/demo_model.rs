//! Reads the face detector of the demo, whole and damaged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use armnn_tflite_parser::TfliteParserError;
use armnn_tflite_parser::model::ModelFile;
use bytes::Bytes;

#[test]
fn the_demo_model_has_the_operators_and_tensors_it_is_known_for() {
    let file = ModelFile::open(demo()).unwrap();
    let model = file.model().unwrap();
    assert_eq!(model.subgraphs.len(), 1);
    let graph = &model.subgraphs[0];

    let mut counts = BTreeMap::new();
    for operator in &graph.operators {
        *counts.entry(operator.code.name().into_owned()).or_insert(0) += 1;
    }
    let expected = [
        ("ADD", 16),
        ("CONCATENATION", 2),
        ("CONV_2D", 21),
        ("DEPTHWISE_CONV_2D", 16),
        ("DEQUANTIZE", 74),
        ("MAX_POOL_2D", 3),
        ("PAD", 11),
        ("RELU", 17),
        ("RESHAPE", 4),
    ];
    assert_eq!(
        counts,
        expected
            .map(|(name, count)| (name.to_owned(), count))
            .into()
    );

    let described = |&index: &usize| {
        let tensor = &graph.tensors[index];
        (tensor.name, tensor.tensor_type.name(), tensor.shape.clone())
    };
    let inputs: Vec<_> = graph.inputs.iter().map(described).collect();
    assert_eq!(inputs, [("input", Some("FLOAT32"), vec![1, 128, 128, 3])]);
    let outputs: Vec<_> = graph.outputs.iter().map(described).collect();
    assert_eq!(
        outputs,
        [
            ("regressors", Some("FLOAT32"), vec![1, 896, 16]),
            ("classificators", Some("FLOAT32"), vec![1, 896, 1]),
        ]
    );
}

#[test]
fn weights_are_the_mapped_file_itself_and_outlive_the_model() {
    let file = ModelFile::open(demo()).unwrap();
    let mapping = file.bytes().as_ptr_range();
    let on_disk = std::fs::read(demo()).unwrap();
    let mut weights = Vec::new();
    for tensor in &file.model().unwrap().subgraphs[0].tensors {
        let Some(data) = &tensor.data else { continue };
        assert!(
            mapping.contains(&data.as_ptr()),
            "{} was copied",
            tensor.name
        );
        if tensor.tensor_type.name() == Some("FLOAT16") {
            let elements: i32 = tensor.shape.iter().product();
            assert_eq!(data.len(), 2 * elements as usize, "{}", tensor.name);
        }
        let at = data.as_ptr() as usize - mapping.start as usize;
        weights.push((at, data.clone()));
    }
    // Each DEQUANTIZE widens a constant of its own.
    assert!(weights.len() >= 74, "{}", weights.len());
    drop(file);
    for (at, data) in weights {
        assert_eq!(data, on_disk[at..at + data.len()]);
    }
}

#[test]
fn a_truncated_model_is_an_error_or_a_model_but_never_a_panic() {
    let whole = Bytes::from(std::fs::read(demo()).unwrap());
    for length in 0..=4096.min(whole.len()) {
        // An allocation of its own, so that reading past the end is seen by sanitizers.
        let cut = Bytes::copy_from_slice(&whole[..length]);
        let read = ModelFile::from_bytes(cut).and_then(|file| file.model().map(drop));
        assert!(
            read.is_err(),
            "{length} bytes of {} were read as a model",
            whole.len()
        );
    }
}

#[test]
fn a_model_with_a_flipped_bit_is_an_error_or_a_model_but_never_a_panic() {
    let mut bytes = std::fs::read(demo()).unwrap();
    let mut random = SplitMix(2026);
    let (mut models, mut errors) = (0, 0);
    for round in 0..2_000 {
        // Half of the flips where the tables are, half anywhere.
        let start = if round % 2 == 0 { structure(&bytes) } else { 0 };
        let at = start + random.below(bytes.len() - start);
        let mask = 1 << random.below(8);
        bytes[at] ^= mask;
        match ModelFile::from_bytes(Bytes::copy_from_slice(&bytes)) {
            Ok(file) => match file.model() {
                Ok(_) => models += 1,
                Err(_) => errors += 1,
            },
            Err(_) => errors += 1,
        }
        bytes[at] ^= mask;
    }
    // The damage reached the tables, and not only them.
    assert!(
        models > 100 && errors > 100,
        "{models} models, {errors} errors"
    );
}

#[test]
fn a_path_that_cannot_be_read_is_named() {
    let missing = ModelFile::open("no/such/model.tflite").unwrap_err();
    assert!(matches!(missing, TfliteParserError::Open { .. }));
    assert!(
        missing.to_string().contains("no/such/model.tflite"),
        "{missing}"
    );
    let folder = ModelFile::open(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_err();
    assert!(
        matches!(folder, TfliteParserError::NotAFile { .. }),
        "{folder}"
    );
    let other = ModelFile::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    assert!(
        matches!(other, Err(TfliteParserError::NotTflite { .. })),
        "{other:?}"
    );
}

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../demo/assets/face_detection_short_range.tflite")
}

/// Where the tables of operators and tensors begin: writers put weights first or last, and the
/// tables are where a tensor's name is.
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
