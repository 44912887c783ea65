//! The reading layer takes any bytes: a model or an error, in time and memory linear in their
//! number.
//!
//! `cargo +nightly fuzz run read_model` in the parser's folder; `.onnx` files make a good corpus.
#![no_main]

use armnn_onnx_parser::model::ModelFile;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let file = ModelFile::from_bytes(Bytes::copy_from_slice(data));
    let Ok(model) = file.model() else { return };
    let values = model.graph.values.len();
    for node in &model.graph.nodes {
        for index in node.inputs.iter().chain(&node.outputs).flatten() {
            assert!(*index < values);
        }
    }
    for (_, index) in &model.graph.outputs {
        assert!(*index < values);
    }
    assert!(!format!("{model:?}").is_empty());
});
