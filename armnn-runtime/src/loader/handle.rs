//! A shared object that is loaded into the process.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::unload::UnloadOutcome;

/// A shared object that is loaded into this process. Dropping it closes it.
///
/// Made by [`open_handle`](crate::dynamic_backend_utils::open_handle), closed by
/// [`close_handle`](crate::dynamic_backend_utils::close_handle).
pub struct Handle {
    #[cfg(target_os = "linux")]
    library: Option<libloading::os::unix::Library>,
    #[cfg(target_os = "linux")]
    image: Option<super::images::Image>,
    /// Known of libraries that the loader opened.
    #[cfg(target_os = "linux")]
    file: Option<super::open::loaded_files::FileOfLibrary>,
    /// What it was given in the place of libraries that it brings along.
    #[cfg(target_os = "linux")]
    borrowed: Vec<String>,
    path: PathBuf,
    /// There are no handles where nothing can be loaded.
    #[cfg(not(target_os = "linux"))]
    never: std::convert::Infallible,
}

impl Handle {
    /// Where the library was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether both handles stand for one and the same library.
    pub fn is_same_library(&self, other: &Self) -> bool {
        #[cfg(target_os = "linux")]
        {
            self.image.is_some() && self.image == other.image
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = other;
            match self.never {}
        }
    }

    /// Whether the library's file was written to in place after it was loaded. Then nobody knows what
    /// its code is now, and calling it may end the process. Known of backends that
    /// [`load`](super::load::load) opened.
    pub fn is_overwritten(&self) -> bool {
        #[cfg(target_os = "linux")]
        {
            self.file.as_ref().is_some_and(|file| file.is_overwritten())
        }
        #[cfg(not(target_os = "linux"))]
        match self.never {}
    }

    /// Closes the library and tells what became of it.
    pub fn close(self) -> UnloadOutcome {
        #[cfg(target_os = "linux")]
        {
            let mut handle = self;
            handle.close_once()
        }
        #[cfg(not(target_os = "linux"))]
        match self.never {}
    }
}

#[cfg(target_os = "linux")]
impl Handle {
    /// Takes over a library that was loaded from `path`.
    pub(crate) fn new(path: &Path, library: libloading::os::unix::Library) -> Self {
        let raw = library.into_raw();
        // SAFETY: the handle comes out of an open library, which is put together again below.
        let image = unsafe { super::images::Image::of_handle(raw) };
        // SAFETY: see above; nothing else owns the handle.
        let library = unsafe { libloading::os::unix::Library::from_raw(raw) };
        Self {
            library: Some(library),
            image,
            file: None,
            borrowed: Vec::new(),
            path: path.to_owned(),
        }
    }

    /// The library; absent only while it is being closed.
    pub(crate) fn library(&self) -> Option<&libloading::os::unix::Library> {
        self.library.as_ref()
    }

    /// The library's place in memory.
    pub(super) fn image(&self) -> Option<&super::images::Image> {
        self.image.as_ref()
    }

    /// Calls the path by which it was opened by its usual name.
    pub(super) fn set_path(&mut self, path: &Path) {
        path.clone_into(&mut self.path);
    }

    /// Notes what the library was loaded from.
    pub(super) fn set_file(&mut self, file: Option<super::open::loaded_files::FileOfLibrary>) {
        self.file = file;
    }

    /// Notes what it was given in the place of libraries that it brings along, in words.
    pub(super) fn set_borrowed(&mut self, borrowed: Vec<String>) {
        self.borrowed = borrowed;
    }

    /// What it was given in the place of libraries that it brings along, in words.
    pub(crate) fn borrowed(&self) -> &[String] {
        &self.borrowed
    }

    fn close_once(&mut self) -> UnloadOutcome {
        let Some(library) = self.library.take() else {
            return UnloadOutcome::Unmapped;
        };
        let outcome = if self.is_overwritten() {
            std::mem::forget(library);
            UnloadOutcome::Kept(super::unload::KeptReason::Overwritten)
        } else {
            super::unload::close(library, self.image.take())
        };
        let level = match outcome {
            UnloadOutcome::Unmapped => log::Level::Debug,
            _ => log::Level::Info,
        };
        log::log!(level, "shared object {}: {outcome}", self.path.display());
        outcome
    }
}

#[cfg(target_os = "linux")]
impl Drop for Handle {
    fn drop(&mut self) {
        if self.library.is_some() {
            self.close_once();
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("path", &self.path).finish()
    }
}
