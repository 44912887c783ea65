//! Libraries of others that a backend was given in the place of its own.
//!
//! The dynamic linker keeps one library of each name. Where a backend brings one along, and another
//! of that name is in memory, because the application or another backend brought it, that one serves
//! both. That works where the two are alike, and fails in strange ways where they are not; nobody
//! says so, unless it is looked for.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use super::dependencies::{Library, processor_directories, usable};
use crate::loader::{
    images::{self, Image, MappedFile, MappedFiles},
    inspect::Inspection,
};

/// More libraries than any backend brings along.
const MAX_LIBRARIES: usize = 1024;

/// What is said for each library that the backend in `path`, which has just been loaded, brings
/// along in the directories that it names itself (`DT_RPATH`, `DT_RUNPATH`), and that is not in
/// memory, so that another of its name must be. One of the same contents is as good.
pub(super) fn find(path: &Path, inspection: &Inspection) -> Vec<String> {
    // Nearly always.
    if inspection.rpath.is_none() && inspection.runpath.is_none() {
        return Vec::new();
    }
    let loaded = images::loaded();
    let mapped = MappedFiles::of_process();
    let mut borrowed = Vec::new();
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut queue = vec![Library::new(path, inspection, &[])];
    while let Some(library) = queue.pop() {
        for name in &library.needed {
            let Some((own, found)) = library.own(name, usable) else {
                continue;
            };
            if seen.len() >= MAX_LIBRARIES || !seen.insert(own.clone()) {
                continue;
            }
            if File::open(&own).map_or(true, |file| mapped.contains(&file)) {
                queue.push(Library::new(&own, &found, library.inherited()));
            } else if let Some(text) = describe(name, &own, &library.path, &loaded) {
                borrowed.push(text);
            }
        }
    }
    borrowed
}

/// Nothing where the library that is in memory has the same contents.
fn describe(name: &str, own: &Path, needed_by: &Path, loaded: &[Image]) -> Option<String> {
    let other = loaded
        .iter()
        .find(|image| image.path.file_name().is_some_and(|file| file == name));
    let other = match other {
        Some(other) if was_replaced(other) => {
            format!("{} as it was before it was replaced", other.path.display())
        }
        Some(other) if has_same_contents(own, &other.path) => return None,
        Some(other) if is_variant(own, &other.path) => return None,
        Some(other) => other.path.display().to_string(),
        None => "another library that goes by this name".to_owned(),
    };
    Some(format!(
        "{name}, needed by {}: {other}, which was in memory, and not {}",
        needed_by.display(),
        own.display()
    ))
}

/// Whether there is another file now where the one was that is in memory, or none.
fn was_replaced(image: &Image) -> bool {
    let Some(mapped) = MappedFile::at(image.dynamic) else {
        return false;
    };
    match File::open(&image.path) {
        Ok(file) => MappedFile::of(&file).is_some_and(|file| file != mapped),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Whether `other` is what the dynamic linker takes instead of `own` on this processor.
fn is_variant(own: &Path, other: &Path) -> bool {
    let (Some(folder), Some(other)) = (own.parent(), other.parent()) else {
        return false;
    };
    let Ok(other) = fs::canonicalize(other) else {
        return false;
    };
    let mut variants = processor_directories(folder).into_iter();
    variants.any(|variant| fs::canonicalize(variant).is_ok_and(|variant| variant == other))
}

fn has_same_contents(one: &Path, other: &Path) -> bool {
    let open = |path| {
        let file = File::open(path).ok()?;
        let size = file.metadata().ok().filter(|data| data.is_file())?.len();
        Some((file, size))
    };
    let (Some((mut one, size)), Some((mut other, other_size))) = (open(one), open(other)) else {
        return false;
    };
    if size != other_size {
        return false;
    }
    let (mut a, mut b) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        match (read_chunk(&mut one, &mut a), read_chunk(&mut other, &mut b)) {
            (Some(0), Some(0)) => return true,
            (Some(n), Some(m)) if n == m && a[..n] == b[..n] => {}
            _ => return false,
        }
    }
}

/// Fills the buffer as far as the file goes.
fn read_chunk(file: &mut File, buffer: &mut [u8]) -> Option<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]).ok()? {
            0 => break,
            n => filled += n,
        }
    }
    Some(filled)
}
