//! Data of constants in files of their own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Weak;

use armnn_network::MappedFile;
use bytes::Bytes;

use super::file::map;
use crate::error::Fault;
use crate::proto::StringStringEntryProto;

/// The files that a model's constants are in, each mapped once.
pub(super) struct ExternalFiles {
    /// The model's directory; none for a model in memory.
    directory: Option<PathBuf>,
    mapped: RefCell<HashMap<String, Bytes>>,
    /// The mappings, that of the model's own file first.
    mappings: RefCell<Vec<Weak<dyn MappedFile>>>,
}

impl ExternalFiles {
    pub(super) fn new(directory: Option<PathBuf>, model: Option<Weak<dyn MappedFile>>) -> Self {
        Self {
            directory,
            mapped: RefCell::default(),
            mappings: RefCell::new(model.into_iter().collect()),
        }
    }

    /// The files that are mapped by now, with the model's own.
    pub(super) fn mappings(&self) -> Vec<Weak<dyn MappedFile>> {
        self.mappings.borrow().clone()
    }

    /// Gives back the memory of pages that will not be read again.
    pub(super) fn has_been_read(&self, bytes: &[u8]) {
        for file in self.mappings.borrow().iter().filter_map(Weak::upgrade) {
            if let Some(range) = file.range_of(bytes) {
                file.release_pages(range);
            }
        }
    }

    /// The bytes that `entries` name, `expected` of them.
    pub(super) fn data(
        &self,
        entries: &[StringStringEntryProto],
        expected: usize,
    ) -> Result<Bytes, Fault> {
        let entry = |key: &str| {
            let found = entries.iter().find(|entry| entry.key == key);
            found.map(|entry| entry.value.as_str())
        };
        let location = entry("location")
            .ok_or_else(|| Fault::new("its data is external, but no location is given"))?;
        let number = |key: &str| -> Result<Option<usize>, Fault> {
            let parse = |text: &str| {
                text.parse().map_err(|_| {
                    Fault::external(location, format!("the {key} is no number that can be used"))
                })
            };
            entry(key).map(parse).transpose()
        };
        let offset = number("offset")?.unwrap_or(0);
        if let Some(length) = number("length")?
            && length != expected
        {
            return Err(Fault::external(
                location,
                format!("{length} bytes, but type and dimensions take {expected}"),
            ));
        }
        let file = self.file(location)?;
        let end = offset
            .checked_add(expected)
            .filter(|&end| end <= file.len());
        match end {
            Some(end) => Ok(file.slice(offset..end)),
            None => Err(Fault::external(
                location,
                format!(
                    "{expected} bytes from byte {offset} on, but the file has {}; fetch it again",
                    file.len()
                ),
            )),
        }
    }

    fn file(&self, location: &str) -> Result<Bytes, Fault> {
        if let Some(file) = self.mapped.borrow().get(location) {
            return Ok(file.clone());
        }
        let path = self.path(location)?;
        let (file, mapping) = map(&path).map_err(|error| cannot_open(location, &error))?;
        self.mappings.borrow_mut().extend(mapping);
        self.mapped
            .borrow_mut()
            .insert(location.to_owned(), file.clone());
        Ok(file)
    }

    /// The path of a file, which is in the model's directory or below.
    fn path(&self, location: &str) -> Result<PathBuf, Fault> {
        let Some(directory) = &self.directory else {
            return Err(Fault::external(
                location,
                "a model in memory has no directory to look in; read the model from its file",
            ));
        };
        let relative = Path::new(location);
        let mut parts = relative.components();
        let plain = parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !plain || location.is_empty() || location.contains('\0') {
            return Err(outside(location));
        }
        let open = |error| cannot_open(location, &error);
        // With symbolic links resolved, so that none leads out of the directory.
        let directory = directory.canonicalize().map_err(open)?;
        let path = directory.join(relative).canonicalize().map_err(open)?;
        if !path.starts_with(&directory) {
            return Err(outside(location));
        }
        if !path.metadata().map_err(open)?.is_file() {
            return Err(Fault::external(location, "it is not a regular file"));
        }
        Ok(path)
    }
}

fn outside(location: &str) -> Fault {
    Fault::external(
        location,
        "it is outside the model's directory; put it beside the model",
    )
}

fn cannot_open(location: &str, error: &std::io::Error) -> Fault {
    Fault::external(location, format!("{error}; it belongs beside the model"))
}

impl fmt::Debug for ExternalFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalFiles")
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}
