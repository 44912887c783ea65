//! What a file needs, found before the dynamic linker does.
//!
//! The libraries that a file needs are looked for as the dynamic linker does: those in memory,
//! `DT_RPATH`, `LD_LIBRARY_PATH`, `DT_RUNPATH`, the linker's cache, the system's directories; and
//! for each one found, the libraries that it needs in turn. Files are read as data.
//!
//! Before loading, this finds a library that would harm the process: the dynamic linker maps files
//! unchecked, and dies of one that was cut short. After loading failed, it finds the library that is
//! missing.

use std::{
    cell::{Cell, OnceCell},
    collections::{HashSet, VecDeque},
    ffi::{OsStr, OsString},
    fs::File,
    ops::ControlFlow,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use object::elf;

use super::linker_cache::LinkerCache;
use crate::loader::{
    images::{Image, is_loaded_as},
    inspect::{self, HostInterface, Inspection, Machine, linker_tables},
    verdict::Code,
};

/// More libraries than any backend needs.
const MAX_LIBRARIES: usize = 1024;

/// More places than are looked at for all libraries together: it would take too long.
const MAX_LOOKS: usize = 20_000;

/// A library that is not to be found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing {
    /// Its name.
    pub(super) name: String,
    /// The file that needs it.
    pub(super) needed_by: PathBuf,
    /// The directories where it was looked for, in order.
    pub(super) sought_in: Vec<PathBuf>,
}

/// A library that must not be loaded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Harmful {
    /// Its file.
    pub(super) path: PathBuf,
    /// The file that needs it.
    pub(super) needed_by: PathBuf,
    /// What is wrong with it.
    pub(super) reason: String,
}

/// The first library, going breadth-first like the dynamic linker, that `path` needs directly or
/// not and that is not to be found. `None` when all are there, or the search cannot tell.
pub(super) fn find_missing(
    path: &Path,
    inspection: &Inspection,
    loaded: &[Image],
) -> Option<Missing> {
    walk(
        path,
        inspection,
        loaded,
        |library, name, found| match found {
            Found::InMemory | Found::File(..) => ControlFlow::Continue(()),
            Found::Unknown | Found::TooMany => ControlFlow::Break(None),
            Found::Nowhere(sought_in) => ControlFlow::Break(Some(Missing {
                name: name.to_owned(),
                needed_by: library.path.clone(),
                sought_in: sought_in.clone(),
            })),
        },
    )
    .flatten()
}

/// The first library that `path` needs directly or not, that is not in memory yet, and whose file
/// is cut short or damaged, which the dynamic linker does not survive, or asks for an executable
/// stack, which all threads of the process would get.
pub(super) fn find_harmful(
    path: &Path,
    inspection: &Inspection,
    loaded: &[Image],
) -> Option<Harmful> {
    // Nearly always: nothing is read then.
    if inspection.filters.is_empty()
        && inspection.needed.iter().all(|name| {
            let mut files = loaded.iter().map(|image| image.path.file_name());
            files.any(|file| file == Some(OsStr::new(name))) && is_loaded_as(name)
        })
    {
        return None;
    }
    walk(
        path,
        inspection,
        loaded,
        |library, name, found| match found {
            Found::TooMany => ControlFlow::Break(Harmful {
                path: PathBuf::from(name),
                needed_by: library.path.clone(),
                reason: "there are too many places to look for it".to_owned(),
            }),
            Found::File(path, found) => match harm(path, found) {
                Some(reason) => ControlFlow::Break(Harmful {
                    path: path.clone(),
                    needed_by: library.path.clone(),
                    reason,
                }),
                None => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        },
    )
}

fn harm(path: &Path, inspection: &Inspection) -> Option<String> {
    // What is a program, or lacks the functions of a backend, is for the dynamic linker to judge.
    let is_library = inspection.file_type == Some(elf::ET_DYN.0)
        && inspection.interpreter.is_none()
        && !inspection.flags.pie;
    let refusal = inspection
        .refusals
        .iter()
        .find(|refusal| match refusal.code {
            Code::Truncated | Code::ExecutableStack => true,
            Code::NotSharedObject => is_library,
            _ => false,
        });
    match refusal {
        Some(refusal) => Some(refusal.message.clone()),
        None if is_library => {
            let file = File::open(path).ok()?;
            let what = linker_tables::check(&file).err()?;
            Some(format!("the shared object is damaged: its {what}"))
        }
        None => None,
    }
}

/// Visits everything that `path` needs, breadth-first, each name once, until told to stop.
fn walk<T>(
    path: &Path,
    inspection: &Inspection,
    loaded: &[Image],
    mut visit: impl FnMut(&Library, &str, &Found) -> ControlFlow<T>,
) -> Option<T> {
    let search = Search {
        loaded: loaded
            .iter()
            .filter_map(|image| Some(image.path.file_name()?.to_owned()))
            .collect(),
        environment: environment(),
        cache: OnceCell::new(),
        looks: Cell::new(0),
    };
    let mut seen: HashSet<OsString> = HashSet::new();
    let mut queue = VecDeque::from([Library::new(path, inspection, &[])]);
    while let Some(library) = queue.pop_front() {
        for name in &library.needed {
            if !seen.insert(name.into()) {
                continue;
            }
            let found = if seen.len() > MAX_LIBRARIES {
                Found::TooMany
            } else {
                search.find(&library, name)
            };
            if let ControlFlow::Break(result) = visit(&library, name, &found) {
                return Some(result);
            }
            if let Found::File(path, inspection) = &found {
                queue.push_back(Library::new(path, inspection, &library.inherited));
            }
        }
    }
    None
}

/// A library whose needs are looked for.
pub(super) struct Library {
    pub(super) path: PathBuf,
    pub(super) needed: Vec<String>,
    /// Directories from `DT_RUNPATH`, for its own needs.
    runpath: Vec<PathBuf>,
    has_runpath: bool,
    /// Directories from `DT_RPATH`, its own first, for all that it brings in.
    inherited: Vec<PathBuf>,
}

impl Library {
    pub(super) fn new(path: &Path, inspection: &Inspection, inherited: &[PathBuf]) -> Self {
        let directories = |list: &Option<String>| {
            let list = list.clone().unwrap_or_default();
            split(list.into())
                .into_iter()
                .map(|directory| expand_origin(&directory, path))
                .collect::<Vec<_>>()
        };
        let has_runpath = inspection.runpath.is_some();
        // Where there is both, the old way does not count.
        let mut rpath = if has_runpath {
            Vec::new()
        } else {
            directories(&inspection.rpath)
        };
        rpath.extend_from_slice(inherited);
        Self {
            path: path.to_owned(),
            needed: [&inspection.needed[..], &inspection.filters].concat(),
            runpath: directories(&inspection.runpath),
            has_runpath,
            inherited: rpath,
        }
    }

    /// The library of this name in the directories that this one, or what brought it in, names for
    /// its needs, and what `look` says of it; none where the dynamic linker is told elsewhere before
    /// it looks there.
    pub(super) fn own<T>(
        &self,
        name: &str,
        look: impl Fn(&Path) -> Option<T>,
    ) -> Option<(PathBuf, T)> {
        let find = |directories: &[PathBuf]| {
            let mut paths = directories.iter().map(|directory| directory.join(name));
            paths.find_map(|path| look(&path).map(|found| (path, found)))
        };
        if !self.has_runpath {
            return find(&self.inherited);
        }
        let (path, found) = find(&self.runpath)?;
        find(&environment()).is_none().then_some((path, found))
    }

    /// What those that it brings in inherit.
    pub(super) fn inherited(&self) -> &[PathBuf] {
        &self.inherited
    }
}

enum Found {
    /// Something of this name is loaded.
    InMemory,
    File(PathBuf, Box<Inspection>),
    /// It depends on something that only the dynamic linker knows.
    Unknown,
    /// It was given up.
    TooMany,
    /// In none of these directories, nor in the linker's cache.
    Nowhere(Vec<PathBuf>),
}

struct Search {
    loaded: HashSet<OsString>,
    environment: Vec<PathBuf>,
    /// Read when it is needed.
    cache: OnceCell<LinkerCache>,
    /// How many places were looked at.
    looks: Cell<usize>,
}

impl Search {
    fn find(&self, library: &Library, name: &str) -> Found {
        if name.contains('/') {
            let path = expand_origin(Path::new(name), &library.path);
            return match usable(&path) {
                Some(inspection) => Found::File(path, inspection),
                None => Found::Nowhere(path.parent().map(Path::to_owned).into_iter().collect()),
            };
        }
        if self.loaded.contains(OsStr::new(name)) && is_loaded_as(name) {
            return Found::InMemory;
        }
        let rpath: &[PathBuf] = if library.has_runpath {
            &[]
        } else {
            &library.inherited
        };
        let system = system_directories();
        let directories: Vec<&PathBuf> = rpath
            .iter()
            .chain(&self.environment)
            .chain(&library.runpath)
            .collect();
        let paths = directories
            .iter()
            .map(|directory| directory.join(name))
            .chain(std::iter::once_with(|| self.cached(name)).flatten())
            .chain(system.iter().map(|directory| directory.join(name)));
        for directory in &directories {
            for path in processor_directories(directory)
                .into_iter()
                .map(|d| d.join(name))
            {
                if let Some(inspection) = usable(&path)
                    && harm(&path, &inspection).is_some()
                {
                    return Found::File(path, inspection);
                }
            }
        }
        let mut is_unknown = false;
        for path in paths {
            // `$LIB` and `$PLATFORM` stand for what the dynamic linker was built with.
            is_unknown |= path.as_os_str().as_bytes().contains(&b'$');
            self.looks.set(self.looks.get() + 1);
            if self.looks.get() > MAX_LOOKS {
                return Found::TooMany;
            }
            if let Some(inspection) = usable(&path) {
                return Found::File(path, inspection);
            }
        }
        if is_unknown {
            Found::Unknown
        } else {
            let sought = directories.into_iter().chain(&system).cloned().collect();
            Found::Nowhere(sought)
        }
    }

    fn cached(&self, name: &str) -> Vec<PathBuf> {
        self.cache.get_or_init(LinkerCache::read).paths(name)
    }
}

/// What the file at `path` says about itself, if it is for this machine. The dynamic linker passes
/// over any other and goes on looking.
pub(super) fn usable(path: &Path) -> Option<Box<Inspection>> {
    let inspection = inspect::inspect_path(path, HostInterface::CURRENT).ok()?;
    let is_for_this_machine = inspection.class == Some(usize::BITS as u8)
        && (Machine::HOST.is_none() || inspection.machine == Machine::HOST);
    is_for_this_machine.then(|| Box::new(inspection))
}

/// The directories below `directory` that are for some processors only, and are searched before it.
/// Which of them the dynamic linker takes depends on the processor, and on its own version, so that all
/// are looked at.
pub(super) fn processor_directories(directory: &Path) -> Vec<PathBuf> {
    /// Of older versions, also one in another.
    const OLDER: [&str; 7] = [
        "tls", "haswell", "avx512_1", "xeon_phi", "x86_64", "atomics", "aarch64",
    ];
    const DEPTH: usize = 4;
    let mut found: Vec<PathBuf> = std::fs::read_dir(directory.join("glibc-hwcaps"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .take(64)
        .collect();
    let mut level = vec![directory.to_owned()];
    for _ in 0..DEPTH {
        level = level
            .iter()
            .flat_map(|directory| OLDER.map(|name| directory.join(name)))
            .filter(|directory| directory.is_dir())
            .take(64)
            .collect();
        found.extend_from_slice(&level);
    }
    found
}

/// The directories that are searched without being told to.
fn system_directories() -> Vec<PathBuf> {
    let architecture = std::env::consts::ARCH;
    let mut directories: Vec<_> = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"]
        .map(PathBuf::from)
        .into();
    for parent in ["/lib", "/usr/lib"] {
        directories.push(format!("{parent}/{architecture}-linux-gnu").into());
    }
    directories
}

/// The directories that the environment names.
fn environment() -> Vec<PathBuf> {
    split(std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default())
}

fn split(list: OsString) -> Vec<PathBuf> {
    if list.is_empty() {
        return Vec::new();
    }
    list.as_bytes()
        .split(|byte| matches!(byte, b':' | b';'))
        .map(|element| match element {
            // The dynamic linker takes an empty element for the current directory.
            b"" => PathBuf::from("."),
            element => PathBuf::from(OsStr::from_bytes(element)),
        })
        .collect()
}

/// Puts the directory of `library` in the place of `$ORIGIN`.
fn expand_origin(path: &Path, library: &Path) -> PathBuf {
    let origin = library.parent().unwrap_or(library).as_os_str().as_bytes();
    let mut rest = path.as_os_str().as_bytes();
    let mut expanded = Vec::new();
    while let Some((first, tail)) = rest.split_first() {
        let after = rest
            .strip_prefix(b"$ORIGIN")
            .or_else(|| rest.strip_prefix(b"${ORIGIN}"));
        match after {
            Some(after) => {
                expanded.extend_from_slice(origin);
                rest = after;
            }
            None => {
                expanded.push(*first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(expanded).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_is_the_directory_of_the_library() {
        for (path, expanded) in [
            ("$ORIGIN", "/a/b"),
            ("${ORIGIN}/../lib", "/a/b/../lib"),
            ("/x/$ORIGIN", "/x//a/b"),
            ("$LIB/$ORIG", "$LIB/$ORIG"),
        ] {
            let found = expand_origin(Path::new(path), Path::new("/a/b/lib.so"));
            assert_eq!(found, Path::new(expanded));
        }
    }

    #[test]
    fn an_empty_element_is_the_current_directory_and_an_empty_list_is_none() {
        assert!(split("".into()).is_empty());
        assert_eq!(split("/a::/b".into()), ["/a", ".", "/b"].map(PathBuf::from));
    }
}
