//! What the files of loaded backends were like when they were loaded.
//!
//! A file that is overwritten in place while it is mapped changes under the running code. That cannot
//! be prevented or undone; but nobody else has to be given that image.

use std::{fs::File, os::unix::fs::MetadataExt as _, sync::Mutex, time::SystemTime};

use crate::{
    forks,
    loader::{
        images::Image,
        verdict::{Code, Refusal, Stage},
    },
};

static LOADED: Mutex<Vec<LoadedFile>> = Mutex::new(Vec::new());

/// A file as it was when it was loaded.
#[derive(Debug, PartialEq, Eq)]
struct LoadedFile {
    /// The image that was made of it.
    image: Image,
    device: u64,
    inode: u64,
    size: u64,
    modified: Option<SystemTime>,
}

impl LoadedFile {
    fn new(file: &File, image: &Image) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        Some(Self {
            image: image.clone(),
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }
}

/// Remembers what the file of an image is like that has just been made of it.
pub(super) fn remember(file: &File, image: &Image) {
    let Some(loaded) = LoadedFile::new(file, image) else {
        return;
    };
    let Some(mut all) = forks::lock(&LOADED) else {
        return;
    };
    // Whatever else was there is gone.
    all.retain(|other| {
        other.image.dynamic != image.dynamic
            && (other.device, other.inode) != (loaded.device, loaded.inode)
    });
    all.push(loaded);
}

/// Refuses an image whose file is not what it was when the image was made of it.
pub(super) fn refuse_overwritten(file: &File, image: &Image) -> Result<(), Refusal> {
    let Some(now) = LoadedFile::new(file, image) else {
        return Ok(());
    };
    let Some(all) = forks::lock(&LOADED) else {
        return Ok(());
    };
    match all.iter().find(|then| then.image == *image) {
        Some(then) if *then != now => Err(Refusal::new(
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
