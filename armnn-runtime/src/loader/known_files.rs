//! What this process found out about files, so that it need not look again.
//!
//! Looking takes about as long as loading a backend, and a process that makes many runtimes would do it
//! each time.

use std::{
    collections::BTreeSet,
    fs::{File, Metadata},
    os::unix::fs::MetadataExt as _,
    sync::Mutex,
    time::{Duration, SystemTime},
};

use super::discover::Candidate;
use crate::forks;

/// Files that changed nothing in the process when they were loaded.
pub(super) static HARMLESS: KnownFiles = KnownFiles(Mutex::new(BTreeSet::new()));
/// Files whose tables the dynamic linker can follow.
pub(super) static SOUND: KnownFiles = KnownFiles(Mutex::new(BTreeSet::new()));

/// More are not remembered; then they are looked at again.
const MOST: usize = 1024;

/// A file as it was: device, inode, size, and when anything of it was last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileState(u64, u64, u64, i64, i64);

impl FileState {
    pub(super) fn of_candidate(candidate: &Candidate) -> Option<Self> {
        Some(Self::new(
            &std::fs::metadata(&candidate.canonical_path).ok()?,
        ))
    }

    pub(super) fn of_file(file: &File) -> Option<Self> {
        Some(Self::new(&file.metadata().ok()?))
    }

    fn new(metadata: &Metadata) -> Self {
        Self(
            metadata.dev(),
            metadata.ino(),
            metadata.size(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        )
    }

    /// Whether a change that came from now on would have another time.
    fn is_settled(self) -> bool {
        /// File systems take the time from a clock that ticks at least a hundred times a second.
        const TICKS: Duration = Duration::from_millis(20);
        let Self(_, _, _, seconds, nanoseconds) = self;
        let (Ok(seconds), Ok(nanoseconds)) = (seconds.try_into(), nanoseconds.try_into()) else {
            return false;
        };
        SystemTime::UNIX_EPOCH
            .checked_add(Duration::new(seconds, nanoseconds))
            .and_then(|changed| SystemTime::now().duration_since(changed).ok())
            .is_some_and(|age| age > TICKS)
    }
}

/// Files of which something is known.
pub(super) struct KnownFiles(Mutex<BTreeSet<FileState>>);

impl KnownFiles {
    pub(super) fn contains(&self, file: FileState) -> bool {
        forks::lock(&self.0).is_some_and(|all| all.contains(&file))
    }

    /// Remembers a file, unless it was changed so lately that another change could go unnoticed.
    pub(super) fn insert(&self, file: FileState) {
        if !file.is_settled() {
            return;
        }
        if let Some(mut all) = forks::lock(&self.0)
            && all.len() < MOST
        {
            all.insert(file);
        }
    }
}
