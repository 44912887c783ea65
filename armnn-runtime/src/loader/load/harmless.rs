//! Which files changed nothing in the process when they were loaded before.

use std::{collections::BTreeSet, os::unix::fs::MetadataExt as _, sync::Mutex};

use crate::{forks, loader::discover::Candidate};

/// A file as it was: device, inode, size, and when it was last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileState(u64, u64, u64, i64, i64);

/// More are not remembered; then they are watched again.
const MOST: usize = 1024;

static HARMLESS: Mutex<BTreeSet<FileState>> = Mutex::new(BTreeSet::new());

impl FileState {
    pub(super) fn of(candidate: &Candidate) -> Option<Self> {
        let metadata = std::fs::metadata(&candidate.canonical_path).ok()?;
        Some(Self(
            metadata.dev(),
            metadata.ino(),
            metadata.size(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        ))
    }

    /// Whether loading the file changed nothing before. Looking at the process takes about as long as
    /// loading a backend, so it is done the first time only.
    pub(super) fn is_harmless(self) -> bool {
        forks::lock(&HARMLESS).is_some_and(|all| all.contains(&self))
    }

    pub(super) fn set_harmless(self) {
        if let Some(mut all) = forks::lock(&HARMLESS)
            && all.len() < MOST
        {
            all.insert(self);
        }
    }
}
