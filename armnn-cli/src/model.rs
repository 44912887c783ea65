//! Model files.

use std::{fmt, fs::File, io::Read as _, path::Path};

use anyhow::{Context as _, bail, ensure};
use armnn_network::Network;

/// How many bytes of a file are looked at to tell its format.
const HEAD_BYTES: u64 = 64;

/// A format of model files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFormat {
    /// TensorFlow Lite.
    TfLite,
    /// ONNX.
    Onnx,
}

impl fmt::Display for ModelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TfLite => "TFLite",
            Self::Onnx => "ONNX",
        })
    }
}

/// A model that was read from a file.
#[derive(Clone, Debug)]
pub struct Model {
    /// The format of the file.
    pub format: ModelFormat,
    /// Its size in bytes.
    pub file_size: u64,
    /// What it describes.
    pub network: Network,
}

/// Reads a model. The format is told by the content, not by the name.
///
/// # Errors
/// When there is no such file, it is no model of a known format, or it is a faulty one.
pub fn load(path: &Path) -> anyhow::Result<Model> {
    load_signature(path, None)
}

/// Reads a model, or the function of it that has this signature.
///
/// # Errors
/// As [`load`], and when there is no such signature, naming those that there are.
pub fn load_signature(path: &Path, signature: Option<&str>) -> anyhow::Result<Model> {
    let shown = path.display();
    let file_size = expect_regular_file(path, "the model")?;
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head))
        .with_context(|| format!("cannot read the model '{shown}'"))?;
    let cannot_load = || format!("cannot load the model '{shown}'");
    let (format, network) = if armnn_tflite_parser::is_tflite(&head) {
        let network = match signature {
            Some(key) => armnn_tflite_parser::parse_signature(path, key),
            None => armnn_tflite_parser::parse(path),
        };
        let network = network.with_context(cannot_load)?;
        (ModelFormat::TfLite, network)
    } else if armnn_onnx_parser::is_onnx(&head) {
        ensure!(
            signature.is_none(),
            "'{shown}' is an ONNX model, which has no signatures; leave --signature out"
        );
        let network = armnn_onnx_parser::parse(path).with_context(cannot_load)?;
        (ModelFormat::Onnx, network)
    } else {
        bail!(
            "'{shown}' is not a model: its content is neither that of a TFLite file ('TFL3' after \
             the first four bytes) nor that of an ONNX file (the version of the format first){}",
            if head.is_empty() { "; it is empty" } else { "" }
        );
    };
    Ok(Model {
        format,
        file_size,
        network,
    })
}

/// Checks that there is a regular file, so that opening it cannot block, and tells its size.
///
/// # Errors
/// When there is none, naming `what` the file was to be.
pub fn expect_regular_file(path: &Path, what: &str) -> anyhow::Result<u64> {
    let shown = path.display();
    let metadata = std::fs::metadata(path)
        .with_context(|| format!("cannot read {what} '{shown}'; check the path"))?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() {
            "a directory"
        } else {
            "not a regular file"
        };
        bail!("cannot read {what} '{shown}': it is {kind}; name a file");
    }
    Ok(metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_model_is_refused_with_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let text = dir.path().join("notes.tflite");
        std::fs::write(&text, "not a model").unwrap();
        let error = load(&text).unwrap_err().to_string();
        assert!(
            error.contains("notes.tflite") && error.contains("not a model"),
            "{error}"
        );
        let error = load(dir.path()).unwrap_err().to_string();
        assert!(error.contains("a directory"), "{error}");
        let error = format!("{:#}", load(&dir.path().join("none.tflite")).unwrap_err());
        assert!(
            error.contains("none.tflite") && error.contains("No such file"),
            "{error}"
        );
    }

    /// A model of one node, y = Relu(x), of two elements, byte by byte.
    fn relu() -> Vec<u8> {
        let info = |name: u8| {
            // name: NAME, type: { tensor_type: { elem_type: FLOAT, shape: { dim: 2 } } }
            let shape = b"\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x02";
            [b"\x0a\x01", &[name][..], shape].concat()
        };
        let field =
            |tag: u8, value: &[u8]| [&[tag, u8::try_from(value.len()).unwrap()], value].concat();
        let node = b"\x0a\x01x\x12\x01y\x22\x04Relu";
        let graph = [
            field(0x0a, node),
            field(0x5a, &info(b'x')),
            field(0x62, &info(b'y')),
        ]
        .concat();
        // ir_version: 8, graph, opset_import: { version: 17 }
        [
            &b"\x08\x08"[..],
            &field(0x3a, &graph),
            &field(0x42, b"\x10\x11"),
        ]
        .concat()
    }

    #[test]
    fn an_onnx_file_of_any_name_is_told_by_its_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.bin");
        std::fs::write(&path, relu()).unwrap();
        let model = load(&path).unwrap();
        assert_eq!(model.format, ModelFormat::Onnx);
        assert_eq!(model.network.layers().len(), 1);
        assert_eq!(model.network.outputs()[0].name, "y");
    }

    #[test]
    fn a_broken_onnx_file_is_refused_with_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("broken.onnx");
        std::fs::write(&path, b"\x08\x08\x12\x07pytorch").unwrap();
        let error = format!("{:#}", load(&path).unwrap_err());
        assert!(
            error.contains("broken.onnx") && error.contains("it has no graph"),
            "{error}"
        );
    }
}
