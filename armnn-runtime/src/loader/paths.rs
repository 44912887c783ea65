//! Which directories are searched for backends.
//!
//! | given | searched |
//! |---|---|
//! | directories in the creation options | these, and nothing else; an invalid one is reported and contributes nothing, and no other source stands in for it |
//! | otherwise, no list compiled in | nothing: the environment can redirect a search, not start one |
//! | otherwise, [`ENVIRONMENT_VARIABLE`] set and not empty | its directories instead of the compiled-in ones, unless the process runs with raised privileges or the application does not allow it |
//! | otherwise | the compiled-in list |
//!
//! Lists are separated by colons. An empty element is skipped and never means the current
//! directory; a relative path is invalid; a directory named twice is searched once, in its first
//! place.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
};

/// The environment variable that replaces a compiled-in list.
pub const ENVIRONMENT_VARIABLE: &str = "ARMNN_DYNAMIC_BACKENDS_PATH";

/// The list compiled into this library: the environment variable `DYNAMIC_BACKEND_PATHS` of its
/// compilation.
pub const COMPILED_PATHS: &str = match option_env!("DYNAMIC_BACKEND_PATHS") {
    Some(paths) => paths,
    None => "",
};

/// Everything that decides which directories are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathSources {
    /// Directories given in the creation options; empty: none were given. A colon in one of them
    /// is a character like any other.
    pub option: Vec<PathBuf>,
    /// The value of [`ENVIRONMENT_VARIABLE`], if set.
    pub environment: Option<OsString>,
    /// Whether the application lets the environment have a say.
    pub environment_allowed: bool,
    /// Whether the process has more rights than the one who started it (set-user-id programs and
    /// the like), so that the environment cannot be trusted.
    pub raised_privileges: bool,
    /// The compiled-in list, separated by colons.
    pub compiled: OsString,
}

impl PathSources {
    /// The sources of this process, with `option` from the creation options.
    pub fn of_process(option: Vec<PathBuf>, environment_allowed: bool) -> Self {
        Self {
            option,
            environment: std::env::var_os(ENVIRONMENT_VARIABLE),
            environment_allowed,
            raised_privileges: has_raised_privileges(),
            compiled: COMPILED_PATHS.into(),
        }
    }

    /// Which directories are to be searched, in order, and which of them can be.
    pub fn resolve(&self) -> Vec<PathReport> {
        let (source, paths) = self.choose();
        let mut reports: Vec<PathReport> = Vec::new();
        for path in paths {
            if reports.iter().any(|report| report.path == path) {
                continue;
            }
            let error = check_directory(&path).err();
            reports.push(PathReport {
                path,
                source,
                status: match error {
                    None => PathStatus::Ok,
                    Some(_) => PathStatus::PathInvalid,
                },
                message: error.map(|error| error.to_string()).unwrap_or_default(),
            });
        }
        reports
    }

    fn choose(&self) -> (PathSource, Vec<PathBuf>) {
        if !self.option.is_empty() {
            return (PathSource::Option, self.option.clone());
        }
        let compiled = split_list(&self.compiled);
        if compiled.is_empty() {
            return (PathSource::Compiled, Vec::new());
        }
        match &self.environment {
            Some(list) if !list.is_empty() => {
                if self.raised_privileges {
                    log::warn!(
                        "{ENVIRONMENT_VARIABLE} is ignored: this process runs with raised \
                         privileges"
                    );
                } else if self.environment_allowed {
                    return (PathSource::Environment, split_list(list));
                }
            }
            _ => {}
        }
        (PathSource::Compiled, compiled)
    }
}

/// What became of one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathReport {
    /// The directory as it was given.
    pub path: PathBuf,
    /// Who named it.
    pub source: PathSource,
    /// Whether it is searched.
    pub status: PathStatus,
    /// Why it is not searched; empty when it is.
    pub message: String,
}

/// The directories that are searched, out of `reports`.
pub fn usable_paths(reports: &[PathReport]) -> impl Iterator<Item = &Path> {
    reports
        .iter()
        .filter(|report| report.status == PathStatus::Ok)
        .map(|report| report.path.as_path())
}

/// Who named a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathSource {
    /// The creation options.
    Option,
    /// [`ENVIRONMENT_VARIABLE`].
    Environment,
    /// The list compiled in.
    Compiled,
}

impl PathSource {
    /// The stable name: `option`, `environment` or `compiled`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Option => "option",
            Self::Environment => "environment",
            Self::Compiled => "compiled",
        }
    }
}

impl fmt::Display for PathSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether a directory is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathStatus {
    /// It is.
    Ok,
    /// It is not.
    PathInvalid,
}

impl PathStatus {
    /// The stable name: `ok` or `path-invalid`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::PathInvalid => "path-invalid",
        }
    }
}

impl fmt::Display for PathStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a directory cannot be searched for backends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The path has no characters.
    #[error("the path is empty; name a directory by its absolute path")]
    Empty,
    /// The path depends on the current directory.
    #[error(
        "the path is not absolute; dynamic backends are never searched relative to the \
             current directory"
    )]
    NotAbsolute,
    /// The path leads to something else.
    #[error("this is not a directory; name the directory that contains the backends")]
    NotADirectory,
    /// The directory does not exist or cannot be read.
    #[error("the directory cannot be read ({0}); check the spelling and the permissions")]
    Unreadable(#[source] std::io::Error),
}

/// Checks that `path` can be searched for backends: it is absolute, and leads to a directory that
/// can be read.
///
/// # Errors
/// When it cannot.
pub fn check_directory(path: &Path) -> Result<(), PathError> {
    if path.as_os_str().is_empty() {
        return Err(PathError::Empty);
    }
    if !path.is_absolute() {
        return Err(PathError::NotAbsolute);
    }
    if !std::fs::metadata(path)
        .map_err(PathError::Unreadable)?
        .is_dir()
    {
        return Err(PathError::NotADirectory);
    }
    // Asking for the first entry is the only check that tells whether reading is allowed.
    match std::fs::read_dir(path)
        .map_err(PathError::Unreadable)?
        .next()
    {
        Some(Err(error)) => Err(PathError::Unreadable(error)),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn split_list(list: &OsStr) -> Vec<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    list.as_bytes()
        .split(|byte| *byte == b':')
        .filter(|element| !element.is_empty())
        .map(|element| PathBuf::from(OsStr::from_bytes(element)))
        .collect()
}

/// Dynamic backends are for ELF systems; elsewhere the list only serves the report.
#[cfg(not(unix))]
fn split_list(list: &OsStr) -> Vec<PathBuf> {
    list.to_string_lossy()
        .split(':')
        .filter(|element| !element.is_empty())
        .map(PathBuf::from)
        .collect()
}

/// Whether the process got rights that its starter does not have.
fn has_raised_privileges() -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: getauxval only looks a number up; it has no preconditions.
        unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
    }
    #[cfg(not(target_os = "linux"))]
    {
        false
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    struct Directories {
        root: tempfile::TempDir,
    }

    impl Directories {
        /// `d1`, `d2` and `d3` exist, `d4` does not, `file` is one.
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            for name in ["d1", "d2", "d3"] {
                std::fs::create_dir(root.path().join(name)).unwrap();
            }
            std::fs::write(root.path().join("file"), "").unwrap();
            Self { root }
        }

        /// `text` with each `dN` made absolute.
        fn list(&self, text: &str) -> OsString {
            text.replace('d', &format!("{}/d", self.root.path().display()))
                .into()
        }

        fn usable(&self, sources: &PathSources) -> Vec<String> {
            sources
                .resolve()
                .into_iter()
                .filter(|report| report.status == PathStatus::Ok)
                .map(|report| {
                    let path = report.path.strip_prefix(self.root.path()).unwrap();
                    path.display().to_string()
                })
                .collect()
        }
    }

    fn compiled(list: OsString) -> PathSources {
        PathSources {
            compiled: list,
            environment_allowed: true,
            ..PathSources::default()
        }
    }

    #[test]
    fn a_compiled_list_is_split_cleaned_and_kept_in_order() {
        let d = Directories::new();
        for (list, expected) in [
            ("", &[][..]),
            ("d1", &["d1"]),
            ("d1:d1", &["d1"]),
            (":::", &[]),
            ("d1:d2:d3", &["d1", "d2", "d3"]),
            ("::d1:", &["d1"]),
            (":d4::", &[]),
            ("d1:d4:", &["d1"]),
            ("d1:d4::d1:d4::d2:d2", &["d1", "d2"]),
            ("d1:d1/", &["d1"]),
        ] {
            assert_eq!(d.usable(&compiled(d.list(list))), expected, "{list:?}");
        }
    }

    #[test]
    fn an_invalid_compiled_directory_is_reported_beside_the_valid_ones() {
        let d = Directories::new();
        let reports = compiled(d.list("d4:d1")).resolve();
        assert_eq!(reports.len(), 2);
        assert_eq!(reports[0].status, PathStatus::PathInvalid);
        assert_eq!(reports[0].source, PathSource::Compiled);
        assert!(reports[0].message.contains("No such file"), "{reports:?}");
        assert_eq!(reports[1].status, PathStatus::Ok);
        assert_eq!(reports[1].message, "");
    }

    #[test]
    fn given_directories_replace_all_others_even_when_invalid() {
        let d = Directories::new();
        let mut sources = compiled(d.list("d1"));
        sources.environment = Some(d.list("d3"));
        sources.option = vec![d.root.path().join("d2")];
        assert_eq!(d.usable(&sources), ["d2"]);
        sources.option = vec![d.root.path().join("d4")];
        assert!(d.usable(&sources).is_empty());
        assert_eq!(sources.resolve()[0].source, PathSource::Option);
        // A colon is part of the name here.
        sources.option = vec![d.list("d1:d2").into()];
        assert!(d.usable(&sources).is_empty());
    }

    #[test]
    fn the_environment_replaces_a_compiled_list_and_nothing_else() {
        let d = Directories::new();
        let mut sources = compiled(d.list("d1"));
        sources.environment = Some(d.list("d4:d2::d3"));
        assert_eq!(d.usable(&sources), ["d2", "d3"]);
        assert_eq!(sources.resolve()[0].source, PathSource::Environment);

        sources.environment = Some("".into());
        assert_eq!(d.usable(&sources), ["d1"]);
        sources.environment = Some(d.list("d2"));
        sources.compiled = "".into();
        assert!(sources.resolve().is_empty());
    }

    #[test]
    fn the_environment_is_ignored_with_raised_privileges_or_when_not_allowed() {
        let d = Directories::new();
        let mut sources = compiled(d.list("d1"));
        sources.environment = Some(d.list("d2"));
        sources.raised_privileges = true;
        assert_eq!(d.usable(&sources), ["d1"]);
        sources.raised_privileges = false;
        sources.environment_allowed = false;
        assert_eq!(d.usable(&sources), ["d1"]);
    }

    #[test]
    fn empty_relative_and_non_directories_are_invalid() {
        let d = Directories::new();
        assert!(matches!(
            check_directory(Path::new("")),
            Err(PathError::Empty)
        ));
        // Exists, seen from any current directory, and is refused all the same.
        assert!(matches!(
            check_directory(Path::new(".")),
            Err(PathError::NotAbsolute)
        ));
        assert!(matches!(
            check_directory(&d.root.path().join("file")),
            Err(PathError::NotADirectory)
        ));
        assert!(matches!(
            check_directory(&d.root.path().join("d4")),
            Err(PathError::Unreadable(_))
        ));
        assert!(check_directory(&d.root.path().join("d1/")).is_ok());
    }

    #[test]
    fn a_link_to_a_directory_is_a_directory() {
        let d = Directories::new();
        let link = d.root.path().join("link");
        std::os::unix::fs::symlink(d.root.path().join("d1"), &link).unwrap();
        assert!(check_directory(&link).is_ok());
    }
}
