//! The bytes of a model, mapped or in memory.

use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use armnn_network::MappedFile;
use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};
use prost::Message as _;

use super::external::ExternalFiles;
use super::{Model, weight};
use crate::error::OnnxParserError;
use crate::proto::ModelProto;

/// An ONNX file's bytes.
///
/// Weights taken from it share these bytes without copying, and keep them alive on their own: the
/// `ModelFile` may go before they do.
#[derive(Clone)]
pub struct ModelFile {
    bytes: Bytes,
    source: String,
    /// Where external data is, if the model is a file.
    directory: Option<PathBuf>,
    /// The mapping, if there is one.
    mapped: Option<Weak<dyn MappedFile>>,
}

impl ModelFile {
    /// Maps the file at `path`, privately and for reading only.
    ///
    /// **The file, and the files with its external data, must stay as they are while anything of
    /// the model is in use.** Weights are read from the mapping whenever a backend asks for them: if
    /// another process overwrites the file in place, they change under the network; if it truncates
    /// the file, touching them ends the process with SIGBUS. Replacing the file by renaming another
    /// over it is safe, as is deleting it. Where that cannot be promised, read the file into memory
    /// and use [`ModelFile::from_bytes`].
    ///
    /// # Errors
    ///
    /// [`OnnxParserError::Open`] or [`OnnxParserError::NotAFile`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OnnxParserError> {
        let path = path.as_ref();
        let open = |source| OnnxParserError::Open {
            path: path.to_owned(),
            source,
        };
        // Asked before opening: opening a pipe waits for a writer.
        let metadata = std::fs::metadata(path).map_err(open)?;
        if !metadata.is_file() {
            return Err(OnnxParserError::NotAFile {
                path: path.to_owned(),
            });
        }
        let (bytes, mapped) = map(path).map_err(open)?;
        let directory = match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Some(PathBuf::from(".")),
            parent => parent.map(Path::to_owned),
        };
        Ok(Self {
            bytes,
            source: path.display().to_string(),
            directory,
            mapped,
        })
    }

    /// Takes a model in memory. It cannot have external data.
    pub fn from_bytes(bytes: Bytes) -> Self {
        Self::from_named_bytes(bytes, "an ONNX model in memory")
    }

    /// The same, with a name for messages.
    pub fn from_named_bytes(bytes: Bytes, name: &str) -> Self {
        Self {
            bytes,
            source: name.to_owned(),
            directory: None,
            mapped: None,
        }
    }

    /// The whole file.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Path of the model, or what stands for one, for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Decodes the model, in time and memory linear in the file's size. Raw data is not copied.
    ///
    /// # Errors
    ///
    /// [`OnnxParserError::NotOnnx`], [`OnnxParserError::IrVersion`],
    /// [`OnnxParserError::OpsetVersion`], [`OnnxParserError::Malformed`] or
    /// [`OnnxParserError::ExternalData`].
    pub fn model(&self) -> Result<Model, OnnxParserError> {
        weight::check(&self.bytes).map_err(|fault| fault.of(&self.source))?;
        let proto =
            ModelProto::decode(self.bytes.clone()).map_err(|error| OnnxParserError::NotOnnx {
                model: self.source.clone(),
                problem: format!("its protocol buffer is broken: {error}"),
            })?;
        let files = ExternalFiles::new(self.directory.clone(), self.mapped.clone());
        Model::new(self, proto, files)
    }
}

/// Maps a file, privately and for reading only.
pub(super) fn map(path: &Path) -> std::io::Result<(Bytes, Option<Weak<dyn MappedFile>>)> {
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok((Bytes::new(), None));
    }
    // SAFETY: a private mapping for reading only, that no code of this process writes to. That no
    // other process changes the file is the caller's part, stated at `ModelFile::open`.
    let mapping = unsafe { MmapOptions::new().map_copy_read_only(&file) }?;
    let mapping = Arc::new(Mapping(mapping));
    let known: Weak<Mapping> = Arc::downgrade(&mapping);
    Ok((Bytes::from_owner(Shared(mapping)), Some(known)))
}

/// A file, mapped privately and for reading only.
struct Mapping(Mmap);

impl MappedFile for Mapping {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn release_pages(&self, range: Range<usize>) {
        #[cfg(target_os = "linux")]
        {
            use memmap2::UncheckedAdvice;
            if range.is_empty() || range.end > self.0.len() {
                return;
            }
            let len = range.len();
            // SAFETY: nothing has written to these pages, so that they are read from the file again,
            // and are what they were; that the file stays as it is is the part of the caller of
            // `ModelFile::open`.
            let released = unsafe {
                (self.0).unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, len)
            };
            // It is for memory alone; without, all works as well.
            released.ok();
        }
        #[cfg(not(target_os = "linux"))]
        drop(range);
    }
}

/// What the bytes of a mapping own.
struct Shared(Arc<Mapping>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// Whether a file with these first bytes is an ONNX model: it begins with field 1 of a `ModelProto`,
/// the version of the format, a small number, and then another field of it. Protocol buffers have
/// no mark of their own.
///
/// Three bytes are enough to tell.
pub fn is_onnx(bytes: &[u8]) -> bool {
    // Tags of fields 2 to 8, which writers put after the version.
    const NEXT_TAGS: [u8; 7] = [0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42];
    match bytes {
        [0x08, version, tag, ..] => (1..=64).contains(version) && NEXT_TAGS.contains(tag),
        _ => false,
    }
}

/// Without the bytes.
impl fmt::Debug for ModelFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelFile")
            .field("source", &self.source)
            .field("length", &self.bytes.len())
            .finish()
    }
}
