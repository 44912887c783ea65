//! What the files of loaded backends were like when they were loaded.
//!
//! A file that is overwritten in place while it is mapped changes under the running code. That cannot
//! be prevented or undone; but nobody else has to be given that image, and no more of it has to be run.

use std::{
    fs::{File, Metadata},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Mutex,
};

use crate::{
    forks,
    loader::{
        images::Image,
        verdict::{Code, Refusal, Stage},
    },
};

static LOADED: Mutex<Vec<LoadedFile>> = Mutex::new(Vec::new());

/// An image, and what its file was like when it was loaded.
struct LoadedFile {
    image: Image,
    state: FileState,
}

/// What a file is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    device: u64,
    inode: u64,
    size: u64,
    /// When its contents were last changed: seconds and nanoseconds.
    modified: (i64, i64),
}

impl FileState {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The file of a library as it was when it was loaded.
pub(in crate::loader) struct FileOfLibrary {
    path: PathBuf,
    state: FileState,
}

impl FileOfLibrary {
    pub(super) fn new(path: &Path, file: &File) -> Option<Self> {
        Some(Self {
            path: path.to_owned(),
            state: FileState::of(&file.metadata().ok()?),
        })
    }

    /// Whether the file has been written to since. One that was renamed away, or deleted, cannot be
    /// looked at, and is taken to be as it was: that is how a new version comes into its place.
    pub(in crate::loader) fn is_overwritten(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|metadata| {
            let now = FileState::of(&metadata);
            now.is_same_file(&self.state) && now != self.state
        })
    }
}

/// Remembers what the file of an image is like that has just been made of it.
pub(super) fn remember(file: &FileOfLibrary, image: &Image) {
    let Some(mut all) = forks::lock(&LOADED) else {
        return;
    };
    // Whatever else was there is gone.
    all.retain(|other| {
        other.image.dynamic != image.dynamic && !other.state.is_same_file(&file.state)
    });
    all.push(LoadedFile {
        image: image.clone(),
        state: file.state,
    });
}

/// Refuses an image whose file is not what it was when the image was made of it.
pub(super) fn refuse_overwritten(file: &FileOfLibrary, image: &Image) -> Result<(), Refusal> {
    let Some(all) = forks::lock(&LOADED) else {
        return Ok(());
    };
    match all.iter().find(|then| then.image == *image) {
        Some(then) if then.state != file.state => Err(Refusal::new(
            Stage::Open,
            Code::OpenFailed,
            "the file was overwritten while it is in use, so that what is in memory is partly the \
             old and partly the new one",
        )
        .with_hint(
            "restart the process; install a new version under another name and rename it, which \
             leaves those alone who use the old one",
        )),
        _ => Ok(()),
    }
}
