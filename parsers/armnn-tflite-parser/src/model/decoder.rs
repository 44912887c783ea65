//! Reading out of a FlatBuffer with a budget.

use bytes::Bytes;
use planus::{Vector, VectorRead};

use crate::error::Fault;
use crate::schema_generated::BufferRef;

/// What a table costs, beside the vectors and strings in it. A table and the offset to it take at
/// least 8 bytes of a file, so a file that shares none of them stays within four times its size.
pub(super) const TABLE: usize = 32;

/// Offsets up to this are the format's way of saying that there is nothing outside the FlatBuffer.
const NO_OFFSET: u64 = 1;

/// Reads vectors, strings and buffers, and pays for them; see the module documentation of
/// [`crate::model`] for the budget.
pub(super) struct Decoder<'a> {
    file: &'a Bytes,
    buffers: Option<Vector<'a, planus::Result<BufferRef<'a>>>>,
    /// Bytes that may still be read.
    left: usize,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(
        file: &'a Bytes,
        buffers: Option<Vector<'a, planus::Result<BufferRef<'a>>>>,
    ) -> Self {
        let left = file.len().saturating_mul(4).saturating_add(64 << 10);
        Self {
            file,
            buffers,
            left,
        }
    }

    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Fault> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            Fault::new(
                "the same tables, vectors or names are used over and over: read out, they would \
                 be more than four times the file's size",
            )
        })?;
        Ok(())
    }

    /// A name, or nothing where the file has none.
    pub(super) fn text(&mut self, text: Option<&'a str>) -> Result<&'a str, Fault> {
        let text = text.unwrap_or_default();
        self.spend(text.len())?;
        Ok(text)
    }

    /// A vector of numbers, empty where the file has none.
    pub(super) fn numbers<T: VectorRead<'a>>(
        &mut self,
        vector: Option<Vector<'a, T>>,
    ) -> Result<Vec<T>, Fault> {
        let Some(vector) = vector else {
            return Ok(Vec::new());
        };
        // Cannot overflow: Planus has checked that the vector lies inside the file.
        self.spend(vector.len().saturating_mul(size_of::<T>()))?;
        Ok(vector.iter().collect())
    }

    /// The bytes of a buffer by its index; none for an empty one.
    ///
    /// # Errors
    ///
    /// No such buffer, or its data lies outside the file.
    pub(super) fn buffer(&self, index: u32) -> Result<Option<Bytes>, Fault> {
        let buffers = self.buffers.unwrap_or(Vector::new_empty());
        let buffer = usize::try_from(index)
            .ok()
            .and_then(|index| buffers.get(index));
        let buffer = match buffer {
            Some(buffer) => buffer?,
            // Buffer 0 means "no data", even in a file that has no buffers at all.
            None if index == 0 => return Ok(None),
            None => {
                return Err(Fault::new(format!(
                    "buffer {index} is named, but there are only {}",
                    buffers.len()
                )));
            }
        };
        let what = || format!("buffer {index}");
        if let Some(data) = self.outside(buffer.offset()?, buffer.size()?, what)? {
            return Ok(Some(data));
        }
        Ok(buffer
            .data()?
            .filter(|data| !data.is_empty())
            .map(|data| self.share(data)))
    }

    /// Bytes that stand in the file, but outside the FlatBuffer, whose offsets end at 4 GiB.
    pub(super) fn outside(
        &self,
        offset: u64,
        size: u64,
        what: impl Fn() -> String,
    ) -> Result<Option<Bytes>, Fault> {
        if offset <= NO_OFFSET || size == 0 {
            return Ok(None);
        }
        let start = usize::try_from(offset).ok();
        let end = offset
            .checked_add(size)
            .and_then(|end| usize::try_from(end).ok());
        match start.zip(end) {
            Some((start, end)) if end <= self.file.len() => Ok(Some(self.file.slice(start..end))),
            _ => Err(Fault::new(format!(
                "the data of {} is said to be {size} bytes at {offset}, but the file has only {}",
                what(),
                self.file.len()
            ))),
        }
    }

    /// The same bytes, sharing the file. `part` is a slice of the file, as all that Planus reads.
    pub(super) fn share(&self, part: &'a [u8]) -> Bytes {
        self.file.slice_ref(part)
    }
}

/// What an error on reading a union means: a member newer than the schema (its number), or a number
/// without a table, which is no member at all.
///
/// # Errors
///
/// Any other error: the file is broken.
pub(super) fn unknown_member(error: planus::Error) -> Result<Option<u8>, Fault> {
    use planus::errors::ErrorKind;

    match error.error_kind {
        ErrorKind::UnknownUnionTag { tag } => Ok(Some(tag)),
        // Planus's answer where the vtable ends between a union's number and its table. A vtable
        // that is really broken is shorter than four bytes, or odd.
        ErrorKind::InvalidVtableLength { length } if length >= 4 && length % 2 == 0 => Ok(None),
        _ => Err(error.into()),
    }
}
