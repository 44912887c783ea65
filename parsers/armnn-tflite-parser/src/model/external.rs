//! External buffers: constants in files beside the model's.

use std::collections::HashMap;
use std::path::{Component, Path};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use super::decoder::{self, Decoder};
use super::file::ModelFile;
use crate::error::{Fault, Short, TfliteParserError};
use crate::schema_generated::ModelRef;

/// The external buffers that a model names. Their files are mapped when they are first asked for.
#[derive(Debug, Default)]
pub(super) struct ExternalBuffers<'a> {
    buffers: HashMap<u32, ExternalBuffer<'a>>,
    /// Names of files, by the numbers of groups.
    groups: Vec<&'a str>,
    /// Files that have been mapped.
    files: Mutex<HashMap<usize, Bytes>>,
}

#[derive(Debug)]
struct ExternalBuffer<'a> {
    group: u32,
    offset: u64,
    length: u64,
    packing: &'a str,
}

impl<'a> ExternalBuffers<'a> {
    pub(super) fn decode(decoder: &mut Decoder<'a>, root: ModelRef<'a>) -> Result<Self, Fault> {
        let mut groups = Vec::new();
        for table in root.external_buffer_groups()?.into_iter().flatten() {
            decoder.spend(decoder::TABLE)?;
            groups.push(decoder.text(table?.name()?)?);
        }
        let mut buffers = HashMap::new();
        for table in root.external_buffers()?.into_iter().flatten() {
            let table = table?;
            decoder.spend(decoder::TABLE)?;
            let buffer = ExternalBuffer {
                group: table.group()?,
                offset: table.offset()?,
                length: table.length()?,
                packing: decoder.text(table.packing()?)?,
            };
            buffers.insert(table.id()?, buffer);
        }
        Ok(Self {
            buffers,
            groups,
            files: Mutex::default(),
        })
    }

    /// The bytes of a buffer by its number, sharing the mapping of its file.
    pub(super) fn data(&self, id: u32, model: &ModelFile) -> Result<Bytes, ExternalProblem> {
        let damaged = |problem: String| ExternalProblem::Damaged(Fault::new(problem));
        let buffer = self.buffers.get(&id);
        let buffer = buffer.ok_or_else(|| damaged(format!("there is no external buffer {id}")))?;
        if !matches!(buffer.packing, "" | "unpacked") {
            let what = format!("an external buffer packed as \"{}\"", Short(buffer.packing));
            return Err(ExternalProblem::Unsupported(what));
        }
        let group = usize::try_from(buffer.group).unwrap_or(usize::MAX);
        let name = self.groups.get(group).copied();
        let name = name.ok_or_else(|| {
            damaged(format!(
                "there is no group {} of external buffers",
                buffer.group
            ))
        })?;
        // A model must not reach files that are not beside it.
        let mut components = Path::new(name).components();
        if !matches!(
            (components.next(), components.next()),
            (Some(Component::Normal(_)), None)
        ) {
            return Err(damaged(format!(
                "its external buffers are in \"{}\", which is not the name of a file beside the model",
                Short(name)
            )));
        }
        let Some(folder) = model.folder() else {
            return Err(ExternalProblem::Unsupported(format!(
                "a constant in the file \"{}\" beside the model, which was not read from a file",
                Short(name)
            )));
        };
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match files.get(&group) {
            Some(file) => file.clone(),
            None => {
                let file = ModelFile::map(&folder.join(name)).map_err(ExternalProblem::File)?;
                files.insert(group, file.clone());
                file
            }
        };
        let start = usize::try_from(buffer.offset).ok();
        let end = buffer.offset.checked_add(buffer.length);
        let end = end.and_then(|end| usize::try_from(end).ok());
        match start.zip(end) {
            Some((start, end)) if end <= file.len() => Ok(file.slice(start..end)),
            _ => Err(damaged(format!(
                "external buffer {id} is said to be {} bytes at {} of \"{}\", which has only {}",
                buffer.length,
                buffer.offset,
                Short(name),
                file.len()
            ))),
        }
    }
}

/// Why an external buffer is not read.
#[derive(Debug)]
pub(crate) enum ExternalProblem {
    Damaged(Fault),
    Unsupported(String),
    File(TfliteParserError),
}
