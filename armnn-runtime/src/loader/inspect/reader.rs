//! Reading a few bytes here and there in a file that is not trusted.

use std::{cell::RefCell, io};

use object::pod::{self, Pod};

/// A file, or something that stands for one, read by position.
pub trait ReadAt {
    /// Its size in bytes when it was opened.
    fn size(&self) -> u64;

    /// Reads into `buffer` from `offset` on and returns how many bytes there were.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// A file with its size as it was when it was opened.
pub(super) struct SizedFile<'a> {
    pub(super) file: &'a std::fs::File,
    pub(super) size: u64,
}

impl ReadAt for SizedFile<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self.file, buffer, offset)
    }
}

impl ReadAt for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.get(offset..))
            .unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// Why bytes could not be had.
#[derive(Debug)]
pub(super) enum ReadError {
    /// They lie beyond the end of the file.
    OutOfRange,
    /// The file cannot be read.
    Io(io::Error),
}

const PAGE_SIZE: usize = 4096;
const PAGES: usize = 16;

/// Reads by way of a few cached pages, so that looking up symbols does not cost a system call per
/// field, and never more memory than those pages and what the caller asks for.
///
/// Nothing is mapped: a file that shrinks while it is being read gives an error here, and would
/// give a `SIGBUS` there.
pub(super) struct Reader<'a> {
    source: &'a dyn ReadAt,
    pages: RefCell<Vec<Page>>,
}

struct Page {
    number: u64,
    /// How many of the bytes there are.
    length: usize,
    bytes: Box<[u8; PAGE_SIZE]>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a dyn ReadAt) -> Self {
        Self {
            source,
            pages: RefCell::new(Vec::new()),
        }
    }

    pub(super) fn size(&self) -> u64 {
        self.source.size()
    }

    /// Fills `buffer` from `offset` on.
    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> Result<(), ReadError> {
        let end = offset
            .checked_add(buffer.len() as u64)
            .ok_or(ReadError::OutOfRange)?;
        if end > self.size() {
            return Err(ReadError::OutOfRange);
        }
        let mut done = 0;
        while done < buffer.len() {
            let position = offset + done as u64;
            let within = (position % PAGE_SIZE as u64) as usize;
            let copied = self.with_page(position / PAGE_SIZE as u64, |page| {
                let there = page.get(within..).unwrap_or_default();
                let count = there.len().min(buffer.len() - done);
                buffer[done..done + count].copy_from_slice(&there[..count]);
                count
            })?;
            if copied == 0 {
                return Err(ReadError::OutOfRange);
            }
            done += copied;
        }
        Ok(())
    }

    /// Reads one fixed-size structure.
    pub(super) fn read_pod<T: Pod>(&self, offset: u64) -> Result<T, ReadError> {
        // Large enough, and aligned, for every structure of the format.
        let mut space = [0u64; 16];
        let bytes = pod::bytes_of_slice_mut(&mut space);
        let bytes = bytes
            .get_mut(..size_of::<T>())
            .ok_or(ReadError::OutOfRange)?;
        self.read(bytes, offset)?;
        match pod::from_bytes::<T>(bytes) {
            Ok((value, _)) => Ok(*value),
            Err(()) => Err(ReadError::OutOfRange),
        }
    }

    /// Reads `length` bytes, where that is at most `limit`.
    pub(super) fn read_vec(
        &self,
        offset: u64,
        length: u64,
        limit: usize,
    ) -> Result<Vec<u8>, ReadError> {
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= limit)
            .ok_or(ReadError::OutOfRange)?;
        // Checked before anything is allocated.
        if offset
            .checked_add(length as u64)
            .is_none_or(|end| end > self.size())
        {
            return Err(ReadError::OutOfRange);
        }
        let mut bytes = vec![0; length];
        self.read(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Reads a NUL-terminated text of at most `limit` bytes that ends before `end`; `None` when no
    /// NUL comes before either.
    pub(super) fn read_text(
        &self,
        offset: u64,
        end: u64,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, ReadError> {
        let limit = end.saturating_sub(offset).min(limit as u64) as usize;
        let mut text = Vec::new();
        while text.len() < limit {
            let Some(position) = offset.checked_add(text.len() as u64) else {
                return Ok(None);
            };
            if position >= self.size() {
                return Err(ReadError::OutOfRange);
            }
            let within = (position % PAGE_SIZE as u64) as usize;
            let (count, found) = self.with_page(position / PAGE_SIZE as u64, |page| {
                let there = page.get(within..).unwrap_or_default();
                let there = &there[..there.len().min(limit - text.len())];
                let nul = there.iter().position(|byte| *byte == 0);
                text.extend_from_slice(&there[..nul.unwrap_or(there.len())]);
                (there.len(), nul.is_some())
            })?;
            if found {
                return Ok(Some(text));
            }
            if count == 0 {
                return Err(ReadError::OutOfRange);
            }
        }
        Ok(None)
    }

    fn with_page<R>(&self, number: u64, use_page: impl FnOnce(&[u8]) -> R) -> Result<R, ReadError> {
        let mut pages = self.pages.borrow_mut();
        match pages.iter().position(|page| page.number == number) {
            Some(place) => pages[..=place].rotate_right(1),
            None => {
                let mut bytes = match pages.len() {
                    PAGES => pages.pop().map(|page| page.bytes),
                    _ => None,
                }
                .unwrap_or_else(|| Box::new([0; PAGE_SIZE]));
                let mut length = 0;
                let start = number.saturating_mul(PAGE_SIZE as u64);
                while length < PAGE_SIZE {
                    let position = start.saturating_add(length as u64);
                    match self.source.read_at(&mut bytes[length..], position) {
                        Ok(0) => break,
                        Ok(count) => length += count.min(PAGE_SIZE - length),
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(ReadError::Io(error)),
                    }
                }
                pages.insert(
                    0,
                    Page {
                        number,
                        length,
                        bytes,
                    },
                );
            }
        }
        let page = &pages[0];
        Ok(use_page(&page.bytes[..page.length]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_across_pages_come_back_as_they_are_and_none_beyond_the_end() {
        let data: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
        let source = data.as_slice();
        let reader = Reader::new(&source);
        for (offset, length) in [(0, 10), (4090, 20), (99_990, 10), (1, 70_000), (100_000, 0)] {
            let mut buffer = vec![0; length];
            reader.read(&mut buffer, offset).unwrap();
            assert_eq!(buffer, data[offset as usize..][..length]);
        }
        for (offset, length) in [(99_990, 11), (100_000, 1), (u64::MAX, 2)] {
            let mut buffer = vec![0; length];
            assert!(matches!(
                reader.read(&mut buffer, offset),
                Err(ReadError::OutOfRange)
            ));
        }
    }

    #[test]
    fn a_text_ends_at_its_nul_or_not_at_all() {
        let mut data = vec![b'a'; 5000];
        data.push(0);
        data.extend(b"tail");
        let source = data.as_slice();
        let reader = Reader::new(&source);
        let end = reader.size();
        assert_eq!(
            reader.read_text(4000, end, 4096).unwrap(),
            Some(vec![b'a'; 1000])
        );
        assert_eq!(reader.read_text(0, end, 4096).unwrap(), None);
        assert_eq!(reader.read_text(5001, end, 4).unwrap(), None);
        assert_eq!(reader.read_text(0, 100, 4096).unwrap(), None);
    }

    #[test]
    fn a_file_that_shrank_gives_an_error() {
        struct Shrunken;
        impl ReadAt for Shrunken {
            fn size(&self) -> u64 {
                8192
            }
            fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
                (&[1; 5000][..]).read_at(buffer, offset)
            }
        }
        let reader = Reader::new(&Shrunken);
        assert!(reader.read(&mut [0; 5000], 0).is_ok());
        assert!(reader.read(&mut [0; 5001], 0).is_err());
        assert!(reader.read_text(6000, 8192, 10).is_err());
    }
}
