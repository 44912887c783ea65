//! The reading layer takes any bytes: a model or an error, in time linear in their number.
//!
//! `cargo +nightly fuzz run read_model` in the parser's folder; `.tflite` files make a good corpus.
#![no_main]

use armnn_tflite_parser::model::ModelFile;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.to_vec();
    // The identifier is no discovery worth the fuzzer's time.
    if let Some(identifier) = bytes.get_mut(4..8) {
        identifier.copy_from_slice(b"TFL3");
    }
    let Ok(file) = ModelFile::from_bytes(Bytes::from(bytes)) else {
        return;
    };
    let Ok(model) = file.model() else { return };
    for tensor in model.subgraphs.iter().flat_map(|graph| &graph.tensors) {
        if let Some(data) = &tensor.data {
            assert!(file.bytes().as_ptr_range().contains(&data.as_ptr()));
        }
    }
    // Reads every field of every options table.
    assert!(!format!("{model:?}").is_empty());
});
