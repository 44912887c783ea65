//! Model files.

use std::{fmt, fs::File, io::Read as _, path::Path};

use anyhow::{Context as _, bail};
use armnn_network::Network;

/// How many bytes of a file are looked at to tell its format.
const HEAD_BYTES: u64 = 64;

/// A format of model files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFormat {
    /// TensorFlow Lite.
    TfLite,
}

impl fmt::Display for ModelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TfLite => "TFLite",
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
    let shown = path.display();
    let file_size = expect_regular_file(path, "the model")?;
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head))
        .with_context(|| format!("cannot read the model '{shown}'"))?;
    if armnn_tflite_parser::is_tflite(&head) {
        let network = armnn_tflite_parser::parse(path)
            .with_context(|| format!("cannot load the model '{shown}'"))?;
        return Ok(Model {
            format: ModelFormat::TfLite,
            file_size,
            network,
        });
    }
    if looks_like_onnx(&head) {
        bail!("cannot load the model '{shown}': ONNX models are not supported yet by this version");
    }
    bail!(
        "'{shown}' is not a model: its content is not that of a TFLite file ('TFL3' after the \
         first four bytes){}",
        if head.is_empty() { "; it is empty" } else { "" }
    );
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

/// Whether these bytes begin as an ONNX file does: with field 1 of a `ModelProto`, the version of
/// the format, a small number, and then another field of it. Protocol buffers have no mark of
/// their own.
fn looks_like_onnx(head: &[u8]) -> bool {
    // Tags of fields 2 to 8, which writers put after the version.
    const NEXT_TAGS: [u8; 7] = [0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42];
    match head {
        [0x08, version, tag, ..] => (1..=64).contains(version) && NEXT_TAGS.contains(tag),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_onnx_file_is_told_by_its_first_fields() {
        // ir_version: 8, producer_name: "pytorch".
        assert!(looks_like_onnx(b"\x08\x08\x12\x07pytorch"));
        assert!(!looks_like_onnx(b"\x1c\0\0\0TFL3"));
        assert!(!looks_like_onnx(b"\x08"));
        assert!(!looks_like_onnx(b"hello"));
        assert!(!looks_like_onnx(b""));
    }

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

    #[test]
    fn an_onnx_file_of_any_name_is_not_supported_yet() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.bin");
        std::fs::write(&path, b"\x08\x08\x12\x07pytorch").unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert!(
            error.contains("ONNX models are not supported yet by this version"),
            "{error}"
        );
    }
}
