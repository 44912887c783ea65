//! Stage `discover`: which files of the searched directories are candidates.
//!
//! A directory is read one level deep. Unrelated files cost nothing but the reading of their name.
//! Links are followed by hand, so that one that leads nowhere or in a circle is reported as such
//! and cannot stop the scan, and nothing but a regular file is ever opened.

mod file_name;
#[cfg(target_os = "linux")]
pub(super) mod regular_file;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use armnn_backend_api::BackendId;

pub use self::file_name::BackendFileName;
use super::verdict::{Code, Refusal, Stage, Verdict};

/// A regular file whose name says that it is a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The file, as it was found in its directory.
    pub path: PathBuf,
    /// The same file without symbolic links.
    pub canonical_path: PathBuf,
    /// Its name, taken apart.
    pub file_name: BackendFileName,
    /// Further names of the same file that were found: links and hard links.
    pub aliases: Vec<Alias>,
    /// Which of the searched directories it was found in, by its place in the list.
    pub directory: usize,
    /// The device that holds the file.
    pub device: u64,
    /// The file's number on that device.
    pub inode: u64,
}

/// Another name of a candidate's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Where it was found.
    pub path: PathBuf,
    /// Its name, taken apart.
    pub file_name: BackendFileName,
    /// Which of the searched directories it was found in.
    pub directory: usize,
}

impl Candidate {
    /// Opens the file for reading, in a way that cannot block, and makes sure that it is still
    /// the file that was found.
    ///
    /// # Errors
    /// When it cannot be read, or was replaced in the meantime.
    #[cfg(target_os = "linux")]
    pub fn open(&self) -> Result<std::fs::File, Refusal> {
        let (file, metadata) = regular_file::open(&self.canonical_path)?;
        use std::os::unix::fs::MetadataExt;
        if (metadata.dev(), metadata.ino()) != (self.device, self.inode) {
            return Err(refusal(
                Code::Unreadable,
                "the file was replaced while it was being looked at",
            )
            .with_hint("load the backends again"));
        }
        Ok(file)
    }

    /// Reads what the file says about itself.
    #[cfg(target_os = "linux")]
    pub fn inspect(&self, host: super::inspect::HostInterface<'_>) -> super::inspect::Inspection {
        match self.open() {
            Ok(file) => super::inspect::inspect_file(&file, host),
            Err(refusal) => super::inspect::Inspection::refused(refusal),
        }
    }

    /// Whether the file, by one of its names in the directory where it was found, is named after
    /// `id`.
    pub fn is_named_after(&self, id: &str) -> bool {
        self.file_name.name == id
            || self
                .aliases
                .iter()
                .any(|alias| alias.directory == self.directory && alias.file_name.name == id)
    }

    /// A verdict that `refusal` applies to this candidate.
    pub fn refused(&self, refusal: Refusal) -> Verdict {
        self.described(Verdict::refused(&self.path, refusal))
    }

    /// The verdict that this candidate is in use.
    pub fn loaded(
        &self,
        stage: Stage,
        backend_id: BackendId,
        api_version: armnn_backend_api::BackendVersion,
    ) -> Verdict {
        self.described(Verdict::loaded(&self.path, stage, backend_id, api_version))
    }

    fn described(&self, verdict: Verdict) -> Verdict {
        Verdict {
            canonical_path: Some(self.canonical_path.clone()),
            vendor: Some(self.file_name.vendor.clone()),
            name: Some(self.file_name.name.clone()),
            ..verdict
        }
    }

    /// `<vendor>_<name>_backend.so`, with or without what follows.
    fn file_name_bytes(&self) -> &[u8] {
        self.path
            .file_name()
            .map_or(&[][..], |name| name.as_encoded_bytes())
    }
}

/// One file of the scan: a candidate, or the reason why it is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Goes on to the next stage.
    Candidate(Candidate),
    /// Ends here.
    Refused(Box<Verdict>),
}

/// Looks through `directories` and returns every candidate and everything that looks like one, in
/// scan order: directory after directory, and by file name, byte for byte, within each.
///
/// The directories are expected to be absolute; one that cannot be read is reported.
pub fn discover<P: AsRef<Path>>(directories: &[P]) -> Vec<Found> {
    let mut scan = Scan::default();
    for (index, directory) in directories.iter().enumerate() {
        scan.directory(index, directory.as_ref());
    }
    scan.found
}

/// The order in which candidates are tried, so that the right one wins an id: by directory; then
/// those named after the backend's id before those that are not; then by vendor and name; then the
/// plain `.so` before versions, and higher versions before lower; then by file name.
///
/// `id` answers what a candidate's note says; without a note the `<name>` of its file stands for
/// the id.
pub fn trial_order<T>(
    candidates: &mut [T],
    candidate: impl Fn(&T) -> &Candidate,
    id: impl Fn(&T) -> Option<&BackendId>,
) {
    let is_stranger =
        |item: &T| id(item).is_some_and(|id| !candidate(item).is_named_after(id.as_str()));
    candidates.sort_by(|a, b| {
        let strangers = is_stranger(a).cmp(&is_stranger(b));
        let (a, b) = (candidate(a), candidate(b));
        a.directory
            .cmp(&b.directory)
            .then(strangers)
            .then_with(|| stem(a).cmp(stem(b)))
            .then_with(|| a.file_name.compare_versions(&b.file_name))
            .then_with(|| a.file_name_bytes().cmp(b.file_name_bytes()))
    });
}

/// `<vendor>_<name>_backend` of the file's name.
fn stem(candidate: &Candidate) -> &[u8] {
    let length = candidate.file_name.vendor.len() + candidate.file_name.name.len();
    let name = candidate.file_name_bytes();
    name.get(..length + "__backend".len()).unwrap_or(name)
}

fn refusal(code: Code, message: impl Into<String>) -> Refusal {
    Refusal::new(Stage::Discover, code, message)
}

/// The names in `directory` that are worth a look, sorted, and whether each is a directory; and
/// why reading it ended early, if it did.
fn interesting_names(directory: &Path) -> (Vec<(OsString, bool)>, Option<String>) {
    let mut names = Vec::new();
    let mut failure = None;
    let mut add = |name: &std::ffi::OsStr, is_directory| {
        if file_name::looks_like_a_backend(name.as_encoded_bytes()) {
            names.push((name.to_owned(), is_directory));
        }
    };
    for entry in walkdir::WalkDir::new(directory).min_depth(1).max_depth(1) {
        match entry {
            Ok(entry) => add(entry.file_name(), entry.file_type().is_dir()),
            Err(error) => match error.path().filter(|path| *path != directory) {
                // Of what kind that entry is was not to be found out: the next look tells.
                Some(path) => add(path.file_name().unwrap_or_default(), false),
                None => failure = Some(error.to_string()),
            },
        }
    }
    names.sort_unstable();
    (names, failure)
}

#[derive(Default)]
struct Scan {
    found: Vec<Found>,
    /// Where in `found` the candidate with this device and inode stands.
    #[cfg(target_os = "linux")]
    files: std::collections::HashMap<(u64, u64), usize>,
}

impl Scan {
    fn directory(&mut self, index: usize, directory: &Path) {
        let (names, failure) = interesting_names(directory);
        if let Some(reason) = failure {
            let refusal = refusal(
                Code::PathInvalid,
                format!("the directory cannot be searched for backends: {reason}"),
            )
            .with_hint("check that it exists and can be read");
            self.refuse(Verdict::refused(directory, refusal));
        }
        for (name, is_directory) in names {
            let path = directory.join(&name);
            match BackendFileName::parse(name.as_encoded_bytes()) {
                Some(file_name) => self.file(index, path, file_name),
                // A directory that is not named like a backend is no attempt at one.
                None if is_directory => {}
                None => self.refuse(name_mismatch(&path)),
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn file(&mut self, directory: usize, path: PathBuf, file_name: BackendFileName) {
        if cfg!(not(feature = "dynamic-backends")) {
            return self.refuse_unsupported(&path, file_name);
        }
        let candidate = match look_at(directory, &path, &file_name) {
            Ok(candidate) => candidate,
            Err(refusal) => return self.refuse(named(&path, refusal, file_name)),
        };
        let file = (candidate.device, candidate.inode);
        let place = *self.files.entry(file).or_insert(self.found.len());
        if let Some(Found::Candidate(first)) = self.found.get_mut(place) {
            let refusal = refusal(
                Code::DuplicateFile,
                format!("the same file as {}", first.path.display()),
            );
            let verdict = candidate.refused(refusal);
            first.aliases.push(Alias {
                path,
                file_name,
                directory,
            });
            self.refuse(verdict);
        } else {
            self.found.push(Found::Candidate(candidate));
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn file(&mut self, _directory: usize, path: PathBuf, file_name: BackendFileName) {
        self.refuse_unsupported(&path, file_name);
    }

    /// Loading needs an ELF system, and the feature for it: without them every file that could be
    /// meant is refused, by name.
    fn refuse_unsupported(&mut self, path: &Path, file_name: BackendFileName) {
        let refusal = refusal(
            Code::UnsupportedPlatform,
            "dynamic backends can be loaded on Linux only, by a runtime that was built with the \
             feature `dynamic-backends`",
        )
        .with_hint("link the backend into the application instead, or build the runtime with it");
        self.refuse(named(path, refusal, file_name));
    }

    fn refuse(&mut self, verdict: Verdict) {
        self.found.push(Found::Refused(Box::new(verdict)));
    }
}

/// The verdict that `refusal` applies to a file that follows the naming scheme.
fn named(path: &Path, refusal: Refusal, file_name: BackendFileName) -> Verdict {
    Verdict {
        vendor: Some(file_name.vendor),
        name: Some(file_name.name),
        ..Verdict::refused(path, refusal)
    }
}

fn name_mismatch(path: &Path) -> Verdict {
    let nearest = path
        .file_name()
        .and_then(|name| BackendFileName::nearest(name.as_encoded_bytes()));
    let example = nearest.as_deref().unwrap_or("Arm_GpuAcc_backend.so");
    Verdict::refused(
        path,
        refusal(
            Code::NameMismatch,
            "the name does not follow the scheme <vendor>_<name>_backend.so[.N[.N[.N]]]",
        )
        .with_hint(format!(
            "if this is a backend, rename it, for instance to {example}; vendor and name consist \
             of letters and digits"
        )),
    )
}

#[cfg(target_os = "linux")]
fn look_at(
    directory: usize,
    path: &Path,
    file_name: &BackendFileName,
) -> Result<Candidate, Refusal> {
    use std::os::unix::fs::MetadataExt;
    let canonical_path = regular_file::follow_links(path)?;
    let (_file, metadata) = regular_file::open(&canonical_path)?;
    Ok(Candidate {
        path: path.to_owned(),
        canonical_path,
        file_name: file_name.clone(),
        aliases: Vec::new(),
        directory,
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}
