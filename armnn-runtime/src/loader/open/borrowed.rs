//! Libraries of others that a backend was given in the place of its own.
//!
//! The dynamic linker keeps one library of each name. Where a backend brings one along, and another
//! of that name is in memory, because the application or another backend brought it, that one serves
//! both. That works where the two are alike, and fails in strange ways where they are not; nobody
//! says so, unless it is looked for.

use std::{
    collections::HashSet,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use super::dependencies::{Library, usable};
use crate::loader::{
    images::{self, Image, MappedFile},
    inspect::Inspection,
};

/// More libraries than any backend brings along.
const MAX_LIBRARIES: usize = 64;

/// What is said for each library that the backend in `path`, which has just been loaded, brings
/// along in the directories that it names itself (`DT_RPATH`, `DT_RUNPATH`), and that is not in
/// memory, so that another of its name must be. One of the same contents is as good.
pub(super) fn find(path: &Path, inspection: &Inspection) -> Vec<String> {
    // Nearly always.
    if inspection.rpath.is_none() && inspection.runpath.is_none() {
        return Vec::new();
    }
    let loaded = images::loaded();
    let mut borrowed = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut queue = vec![Library::new(path, inspection, &[])];
    while let Some(library) = queue.pop() {
        for name in &library.needed {
            if seen.len() >= MAX_LIBRARIES || !seen.insert(name.clone()) {
                continue;
            }
            let own = library
                .own_directories()
                .map(|directory| directory.join(name))
                .find_map(|own| Some((usable(&own)?, own)));
            let Some((found, own)) = own else {
                continue;
            };
            let is_given = match File::open(&own).ok().and_then(|file| MappedFile::of(&file)) {
                Some(file) => file.is_mapped(),
                None => true,
            };
            if is_given {
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
    let other: Option<&PathBuf> = loaded
        .iter()
        .map(|image| &image.path)
        .find(|path| path.file_name().is_some_and(|file| file == name));
    let other = match other {
        Some(other) if has_same_contents(own, other) => return None,
        // Its own variant for this processor, from a directory below.
        Some(other) if own.parent().is_some_and(|folder| other.starts_with(folder)) => return None,
        Some(other) => other.display().to_string(),
        None => "another library that goes by this name".to_owned(),
    };
    Some(format!(
        "{name}, needed by {}: {other}, which was in memory, and not {}",
        needed_by.display(),
        own.display()
    ))
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
