//! The dynamic linker's own list of libraries, `/etc/ld.so.cache`.

use std::{ffi::OsStr, fs::File, io::Read as _, os::unix::ffi::OsStrExt as _, path::PathBuf};

const PATH: &str = "/etc/ld.so.cache";
/// A cache of more than this is not read.
const MAX_SIZE: u64 = 32 << 20;
/// In front of the part in the newer format, which may come after one in the older.
const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const HEADER_SIZE: usize = 48;
const ENTRY_SIZE: usize = 24;

/// The list, as bytes: it is searched a few times at most. Layout of the newer format, in the
/// machine's byte order: magic (20 bytes), number of entries (u32), further fields up to byte 48;
/// then for each entry flags, offset of the name, offset of the path (u32 each), further fields up
/// to 24 bytes. Offsets count from the magic and lead to NUL-terminated texts.
#[derive(Default)]
pub(super) struct LinkerCache(Vec<u8>);

impl LinkerCache {
    /// The system's list; an empty one where there is none.
    pub(super) fn read() -> Self {
        let mut bytes = Vec::new();
        let is_read = File::open(PATH)
            .and_then(|file| file.take(MAX_SIZE).read_to_end(&mut bytes))
            .is_ok();
        if is_read {
            Self::new(&bytes)
        } else {
            Self::default()
        }
    }

    fn new(bytes: &[u8]) -> Self {
        let start = bytes
            .windows(MAGIC.len())
            .position(|window| window == MAGIC);
        Self(start.map_or(Vec::new(), |start| bytes[start..].to_vec()))
    }

    /// Where a library called `name` is, for any machine.
    pub(super) fn paths(&self, name: &str) -> Vec<PathBuf> {
        let count = self.number(MAGIC.len()).unwrap_or(0);
        let entries = self.0.get(HEADER_SIZE..).unwrap_or_default();
        (0..entries.len() / ENTRY_SIZE)
            .take(count)
            .filter_map(|index| {
                let entry = HEADER_SIZE + index * ENTRY_SIZE;
                if self.text(self.number(entry + 4)?)? != name.as_bytes() {
                    return None;
                }
                let path = self.text(self.number(entry + 8)?)?;
                Some(PathBuf::from(OsStr::from_bytes(path)))
            })
            .collect()
    }

    fn number(&self, offset: usize) -> Option<usize> {
        let bytes = self.0.get(offset..)?.first_chunk::<4>()?;
        usize::try_from(u32::from_ne_bytes(*bytes)).ok()
    }

    fn text(&self, offset: usize) -> Option<&[u8]> {
        let text = self.0.get(offset..)?;
        let end = text.iter().take(4096).position(|byte| *byte == 0)?;
        Some(&text[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_paths() {
        let mut cache = b"something older".to_vec();
        cache.extend(MAGIC);
        cache.extend(2u32.to_ne_bytes());
        cache.resize(b"something older".len() + HEADER_SIZE, 0);
        let texts = HEADER_SIZE + 2 * ENTRY_SIZE;
        for (name, path) in [(texts, texts + 5), (texts + 5, 9_999_999)] {
            cache.extend(1u32.to_ne_bytes());
            cache.extend((name as u32).to_ne_bytes());
            cache.extend((path as u32).to_ne_bytes());
            cache.extend([0; 12]);
        }
        cache.extend(b"liba\0/lib/liba\0");
        let whole = LinkerCache::new(&cache);
        assert_eq!(whole.paths("liba"), [PathBuf::from("/lib/liba")]);
        assert!(whole.paths("libb").is_empty());
        // An entry whose path lies beyond the end counts as none.
        assert!(whole.paths("/lib/liba").is_empty());
        for length in 0..cache.len() {
            let cut = LinkerCache::new(&cache[..length]);
            assert!(cut.paths("liba").len() <= 1);
        }
    }
}
