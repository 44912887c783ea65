//! Blobs that backends keep from one run of the application to the next: what they compiled.
//!
//! A blob is a file of the cache directory, named after the backend and a hash of the key. It holds
//! the backend's id, the minor of its interface and the whole key, which are compared when it is
//! read, and a checksum of the blob. A file that is none of ours, damaged or of another key is as
//! good as none. Files are written under another name and renamed, so that processes can share a
//! directory.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use armnn_backend_api::{BackendId, BackendVersion};

/// What a file starts with: a name, and the version of this layout.
const MAGIC: [u8; 8] = *b"ARMNNBC\x01";
/// Bytes before the identity: the magic, and three lengths and a checksum of 8 bytes each.
const HEAD_LEN: usize = MAGIC.len() + 4 * 8;
/// The longest key.
const MOST_KEY: usize = 1 << 16;

/// The blobs of one backend in a directory.
#[derive(Debug)]
pub(crate) struct BlobCache {
    directory: PathBuf,
    backend: BackendId,
    /// What a blob belongs to, besides the key.
    identity: String,
}

impl BlobCache {
    pub(crate) fn new(directory: &Path, backend: &BackendId, version: BackendVersion) -> Self {
        Self {
            directory: directory.to_owned(),
            backend: backend.clone(),
            identity: format!("{backend} {version}"),
        }
    }

    fn path(&self, key: &[u8]) -> PathBuf {
        // An id may hold characters that have a meaning in paths.
        let named = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let backend: String = self.backend.as_str().chars().take(64).map(named).collect();
        let hash = hash(hash(START, self.identity.as_bytes()), key);
        self.directory.join(format!("{backend}-{hash:016x}.blob"))
    }

    /// What was stored under a key; `None` if there is nothing that is whole.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut file = fs::File::open(&path).ok()?;
        match self.read(&mut file, key) {
            Ok(blob) => Some(blob),
            Err(problem) => {
                log::warn!("{} is not used: {problem}", path.display());
                None
            }
        }
    }

    fn read(&self, file: &mut fs::File, key: &[u8]) -> Result<Vec<u8>, String> {
        let metadata = file.metadata().map_err(|e| e.to_string())?;
        if !metadata.is_file() {
            return Err("it is no file".to_owned());
        }
        let mut head = [0; HEAD_LEN];
        file.read_exact(&mut head)
            .map_err(|_| "it is too short".to_owned())?;
        let number = |index: usize| {
            let at = MAGIC.len() + 8 * index;
            head.get(at..at + 8)
                .and_then(|bytes| bytes.try_into().ok())
                .map_or(0, u64::from_le_bytes)
        };
        let lens = [self.identity.len() as u64, key.len() as u64];
        if head[..MAGIC.len()] != MAGIC || [number(0), number(1)] != lens {
            return Err("it is of another backend or key, or of another version".to_owned());
        }
        let blob_len = number(2);
        let expected = (HEAD_LEN as u64)
            .checked_add(lens[0])
            .and_then(|n| n.checked_add(lens[1])?.checked_add(blob_len));
        // So that no more is allocated than there is.
        if expected != Some(metadata.len()) {
            return Err("its length is another than it says".to_owned());
        }
        let mut rest = Vec::new();
        file.read_to_end(&mut rest).map_err(|e| e.to_string())?;
        let start = self.identity.len() + key.len();
        if rest.len() as u64 != lens[0] + lens[1] + blob_len
            || rest[..self.identity.len()] != *self.identity.as_bytes()
            || rest[self.identity.len()..start] != *key
        {
            return Err("it is of another backend or key".to_owned());
        }
        let blob = rest.split_off(start);
        if hash(START, &blob) != number(3) {
            return Err("its checksum is wrong; it is damaged".to_owned());
        }
        Ok(blob)
    }

    /// Stores a blob under a key, in place of an earlier one.
    ///
    /// # Errors
    /// When it cannot be written, with the reason.
    pub(crate) fn put(&self, key: &[u8], blob: &[u8]) -> Result<(), String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        if key.len() > MOST_KEY {
            return Err(format!("a key of {} bytes; {MOST_KEY} at most", key.len()));
        }
        let path = self.path(key);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_extension(format!("{}-{number}.part", std::process::id()));
        let written = self.write(&temporary, key, blob);
        let renamed = written.and_then(|()| fs::rename(&temporary, &path));
        renamed.map_err(|e| {
            // Nothing is left behind, if it can be helped.
            let _ = fs::remove_file(&temporary);
            format!("{}: {e}", path.display())
        })
    }

    fn write(&self, path: &Path, key: &[u8], blob: &[u8]) -> std::io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let mut file = fs::File::create_new(path)?;
        file.write_all(&MAGIC)?;
        for number in [
            self.identity.len() as u64,
            key.len() as u64,
            blob.len() as u64,
            hash(START, blob),
        ] {
            file.write_all(&number.to_le_bytes())?;
        }
        file.write_all(self.identity.as_bytes())?;
        file.write_all(key)?;
        file.write_all(blob)
    }
}

/// FNV-1a, which is the same in every build.
const START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash(start: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(start, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(directory: &Path, backend: &str, minor: u32) -> BlobCache {
        let backend = BackendId::new(backend).unwrap();
        BlobCache::new(directory, &backend, BackendVersion { major: 1, minor })
    }

    #[test]
    fn a_blob_is_found_by_its_key_alone() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("made/when/needed");
        let first = cache(&inside, "a.b", 1);
        assert_eq!(first.get(b"key"), None);
        first.put(b"key", b"blob").unwrap();
        first.put(b"other", b"").unwrap();
        assert_eq!(first.get(b"key").as_deref(), Some(&b"blob"[..]));
        assert_eq!(first.get(b"other").as_deref(), Some(&b""[..]));
        assert_eq!(first.get(b"kez"), None);
        assert_eq!(cache(&inside, "a.b", 2).get(b"key"), None);
        assert_eq!(cache(&inside, "a_b", 1).get(b"key"), None);
        first.put(b"key", b"another").unwrap();
        assert_eq!(first.get(b"key").as_deref(), Some(&b"another"[..]));
        // Nothing else is left.
        assert_eq!(fs::read_dir(&inside).unwrap().count(), 2);
    }

    #[test]
    fn what_is_damaged_is_as_good_as_none() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), "a", 1);
        cache.put(b"key", b"blob").unwrap();
        let path = cache.path(b"key");
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            assert_eq!(cache.get(b"key"), None, "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.get(b"key"), None, "{at} bytes");
        }
        fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert_eq!(cache.get(b"key"), None);
        fs::write(&path, &whole).unwrap();
        assert_eq!(cache.get(b"key").as_deref(), Some(&b"blob"[..]));
    }

    #[test]
    fn a_directory_that_cannot_be_is_an_error_with_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let problem = cache(&file, "a", 1).put(b"key", b"blob").unwrap_err();
        assert!(problem.contains("file/a-"), "{problem}");
    }
}
