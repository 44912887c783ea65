//! The bytes of a model, mapped or in memory.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use memmap2::MmapOptions;

use super::Model;
use crate::error::TfliteParserError;

/// A TFLite file's bytes, known to begin as one.
///
/// Weights taken from it share these bytes without copying, and keep them alive on their own: the
/// `ModelFile` may go before they do.
#[derive(Clone)]
pub struct ModelFile {
    bytes: Bytes,
    source: String,
    /// Where the file is, if it was opened from a path.
    folder: Option<PathBuf>,
}

impl ModelFile {
    /// Maps the file at `path`, privately and for reading only.
    ///
    /// **The file must stay as it is while anything of the model is in use.** Weights are read from
    /// the mapping whenever a backend asks for them: if another process overwrites the file in
    /// place, they change under the network; if it truncates the file, touching them ends the
    /// process with SIGBUS. Replacing the file by renaming another over it is safe, as is deleting
    /// it. Where that cannot be promised, read the file into memory and use
    /// [`ModelFile::from_bytes`].
    ///
    /// The same goes for files beside it in which the model keeps constants (external buffers), which
    /// are mapped when it becomes a network.
    ///
    /// # Errors
    ///
    /// [`TfliteParserError::Open`], [`TfliteParserError::NotAFile`], or
    /// [`TfliteParserError::NotTflite`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TfliteParserError> {
        let path = path.as_ref();
        let mut file = Self::new(Self::map(path)?, path.display().to_string())?;
        file.folder = Some(path.parent().unwrap_or(Path::new("")).to_owned());
        Ok(file)
    }

    /// Maps a file, privately and for reading only.
    pub(super) fn map(path: &Path) -> Result<Bytes, TfliteParserError> {
        let open = |source| TfliteParserError::Open {
            path: path.to_owned(),
            source,
        };
        // Asked before opening: opening a pipe waits for a writer.
        let metadata = std::fs::metadata(path).map_err(open)?;
        if !metadata.is_file() {
            return Err(TfliteParserError::NotAFile {
                path: path.to_owned(),
            });
        }
        let file = File::open(path).map_err(open)?;
        // SAFETY: a private mapping for reading only, that no code of this process writes to. That
        // no other process changes the file is the part of the caller of `ModelFile::open`.
        let mapping = unsafe { MmapOptions::new().map_copy_read_only(&file) }.map_err(open)?;
        Ok(Bytes::from_owner(mapping))
    }

    /// Where the file is, if it was opened from a path.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Takes a model in memory. FlatBuffers align weights to 16 bytes from the start of the file,
    /// so they are aligned in memory where `bytes` is.
    ///
    /// # Errors
    ///
    /// [`TfliteParserError::NotTflite`].
    pub fn from_bytes(bytes: Bytes) -> Result<Self, TfliteParserError> {
        Self::from_named_bytes(bytes, "a TFLite model in memory")
    }

    /// The same, with a name for messages.
    ///
    /// # Errors
    ///
    /// [`TfliteParserError::NotTflite`].
    pub fn from_named_bytes(bytes: Bytes, name: &str) -> Result<Self, TfliteParserError> {
        Self::new(bytes, name.to_owned())
    }

    /// The whole file.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Path of the model, or what stands for one, for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Decodes everything but the weights, in time and memory linear in the file's size.
    ///
    /// # Errors
    ///
    /// [`TfliteParserError::SchemaVersion`] or [`TfliteParserError::Malformed`].
    pub fn model(&self) -> Result<Model<'_>, TfliteParserError> {
        Model::decode(self)
    }

    fn new(bytes: Bytes, source: String) -> Result<Self, TfliteParserError> {
        if is_tflite(&bytes) {
            return Ok(Self {
                bytes,
                source,
                folder: None,
            });
        }
        let found = match bytes.get(4..8) {
            Some(other) => format!("found \"{}\"", other.escape_ascii()),
            None => format!("the file has only {} bytes", bytes.len()),
        };
        Err(TfliteParserError::NotTflite {
            model: source,
            found,
        })
    }
}

/// Whether a file with these first bytes is a TFLite model: bytes 4 to 7 are the identifier `TFL3`.
///
/// Eight bytes are enough to tell.
pub fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TFL3")
}

/// Without the bytes.
impl fmt::Debug for ModelFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.bytes.len();
        f.debug_struct("ModelFile")
            .field("source", &self.source)
            .field("length", &length)
            .finish()
    }
}
