//! The whole parser takes any bytes: a network or an error, in time and memory linear in their
//! number.
//!
//! `cargo +nightly fuzz run parse_model` in the parser's folder; `.onnx` files make a good corpus.
#![no_main]

use armnn_network::{Network, infer_shapes};
use armnn_onnx_parser::{OnnxParser, OnnxParserOptions};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let bytes = Bytes::copy_from_slice(data);
    let mut options = OnnxParserOptions::default();
    options.stand_in_layer_for_unknown = true;
    match OnnxParser::with_options(options).parse_bytes(bytes, "fuzz") {
        Ok(network) => check(&network),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

/// Layers read what stands before them.
fn check(network: &Network) {
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
