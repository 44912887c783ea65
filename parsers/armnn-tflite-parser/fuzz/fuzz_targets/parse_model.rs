//! The whole parser takes any bytes: a network or an error, in time and memory linear in their
//! number.
//!
//! `cargo +nightly fuzz run parse_model` in the parser's folder; `.tflite` files make a good corpus.
#![no_main]

use armnn_network::{Network, infer_shapes};
use armnn_tflite_parser::{TfliteParser, TfliteParserOptions};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.to_vec();
    // The identifier is no discovery worth the fuzzer's time.
    if let Some(identifier) = bytes.get_mut(4..8) {
        identifier.copy_from_slice(b"TFL3");
    }
    let bytes = Bytes::from(bytes);
    let mut options = TfliteParserOptions::default();
    options.stand_in_layer_for_custom = true;
    match TfliteParser::with_options(options).parse_bytes(bytes.clone(), "fuzz") {
        Ok(network) => check(&network, &bytes),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

/// Constants are the file itself, or not much more, and layers read what stands before them.
fn check(network: &Network, file: &Bytes) {
    let range = file.as_ptr_range();
    let others = network
        .tensors()
        .iter()
        .filter_map(|tensor| tensor.constant())
        .filter(|data| !range.contains(&data.as_ptr()));
    let made: usize = others.map(|data| data.len()).sum();
    assert!(made <= 64 * file.len() + (1 << 20));
    for (index, layer) in network.layers().iter().enumerate() {
        for input in layer.present_inputs() {
            let producer = network.tensor(input).producer();
            assert!(producer.is_none_or(|producer| producer.index() < index));
        }
    }
    let inputs: Vec<_> = network
        .inputs()
        .iter()
        .map(|&id| network.tensor(id).info.shape)
        .collect();
    let _ = infer_shapes(network, &inputs);
}
