//! What the loader found out about a candidate.

use std::{fmt, path::PathBuf};

use armnn_backend_api::{BackendId, BackendVersion};

/// What became of one candidate. Every candidate gets exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The file, as it was found in its directory.
    pub path: PathBuf,
    /// The same file without symbolic links; absent where there is none to be had.
    pub canonical_path: Option<PathBuf>,
    /// What became of it.
    pub status: Status,
    /// The last stage it entered.
    pub stage: Stage,
    /// Why it is not in use; absent when it is.
    pub code: Option<Code>,
    /// What happened, in words.
    pub message: String,
    /// What the reader can do about it; empty when there is nothing to do.
    pub hint: String,
    /// The backend's id, where it is known.
    pub backend_id: Option<BackendId>,
    /// The version of the interface that the backend was built against, where it is known.
    pub api_version: Option<BackendVersion>,
    /// `<vendor>` of the file's name, where the name follows the scheme.
    pub vendor: Option<String>,
    /// `<name>` of the file's name, where the name follows the scheme.
    pub name: Option<String>,
    /// What of the process was different after code of the backend had run, in words (see
    /// `process_state`); empty when nothing was, or no code of it ran.
    pub process_changes: Vec<String>,
    /// Libraries that the backend brings along, in the place of which it was given others of the same
    /// name that were in memory before it, in words; empty for nearly all.
    pub borrowed_libraries: Vec<String>,
}

impl Verdict {
    /// A verdict about `path` that says `refusal`; what else is known can be filled in.
    pub fn refused(path: impl Into<PathBuf>, refusal: Refusal) -> Self {
        let status = match refusal.code {
            Code::IdDuplicate => Status::Shadowed,
            Code::Unavailable => Status::Unavailable,
            _ => Status::Rejected,
        };
        Self {
            path: path.into(),
            canonical_path: None,
            status,
            stage: refusal.stage,
            code: Some(refusal.code),
            message: refusal.message,
            hint: refusal.hint,
            backend_id: None,
            api_version: None,
            vendor: None,
            name: None,
            process_changes: Vec::new(),
            borrowed_libraries: Vec::new(),
        }
    }

    /// The verdict that the backend in `path` is in use, having come through `stage`.
    pub fn loaded(
        path: impl Into<PathBuf>,
        stage: Stage,
        backend_id: BackendId,
        api_version: BackendVersion,
    ) -> Self {
        Self {
            path: path.into(),
            canonical_path: None,
            status: Status::Loaded,
            stage,
            code: None,
            message: format!("backend '{backend_id}' (interface {api_version}) is loaded"),
            hint: String::new(),
            backend_id: Some(backend_id),
            api_version: Some(api_version),
            vendor: None,
            name: None,
            process_changes: Vec::new(),
            borrowed_libraries: Vec::new(),
        }
    }

    /// How loudly the log speaks of it.
    pub fn log_level(&self) -> log::Level {
        match (self.status, self.code) {
            // A family of links is how shared objects are installed: nothing to speak of.
            (_, Some(Code::DuplicateFile)) => log::Level::Debug,
            // What the application asked for is no fault.
            (_, Some(Code::Excluded)) => log::Level::Info,
            (_, Some(Code::NameMismatch | Code::PathInvalid)) => log::Level::Warn,
            (Status::Loaded | Status::Unavailable, _) => log::Level::Info,
            (Status::Shadowed, _) => log::Level::Warn,
            (Status::Rejected, _) => log::Level::Error,
        }
    }

    /// Writes the verdict's one line to the log, and one more for what loading changed, and
    /// for libraries of others that it was given.
    pub fn log(&self) {
        log::log!(self.log_level(), "{self}");
        if !self.process_changes.is_empty() {
            log::warn!(
                "dynamic backend {}: while it was loaded, this changed for the whole process: {}",
                self.path.display().to_string().escape_debug(),
                self.process_changes.join("; ").escape_debug()
            );
        }
        if !self.borrowed_libraries.is_empty() {
            log::warn!(
                "dynamic backend {}: it shares libraries of other contents than it brings along: {}",
                self.path.display().to_string().escape_debug(),
                self.borrowed_libraries.join("; ").escape_debug()
            );
        }
    }
}

impl fmt::Display for Verdict {
    /// One line: status, path, stage and code, message, hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        let mut line = OneLine(f);
        write!(
            line,
            "dynamic backend {}: {}",
            self.path.display(),
            self.status
        )?;
        if let Some(code) = self.code {
            write!(line, " ({}: {code})", self.stage)?;
        }
        write!(line, ": {}", self.message)?;
        if !self.hint.is_empty() {
            write!(line, "; {}", self.hint)?;
        }
        Ok(())
    }
}

/// Writes control characters, of which a file's name and what it says of itself may have any, in
/// escaped form, so that they make no line, nor colour, of their own.
struct OneLine<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if c.is_control() {
                write!(self.0, "{}", c.escape_default())?;
            } else {
                self.0.write_char(c)?;
            }
        }
        Ok(())
    }
}

/// Why a stage does not let a candidate pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{stage}: {code}: {message}")]
pub struct Refusal {
    /// The stage that refuses.
    pub stage: Stage,
    /// The stable code of the reason.
    pub code: Code,
    /// The reason in words.
    pub message: String,
    /// What the reader can do about it; empty when there is nothing to do.
    pub hint: String,
}

impl Refusal {
    /// Makes a refusal without a hint.
    pub fn new(stage: Stage, code: Code, message: impl Into<String>) -> Self {
        Self {
            stage,
            code,
            message: message.into(),
            hint: String::new(),
        }
    }

    /// The same refusal with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

/// An enumeration whose values have stable names.
macro_rules! named {
    (
        $(#[$meta:meta])*
        pub enum $Enum:ident { $($(#[$doc:meta])* $Value:ident = $text:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $Enum { $($(#[$doc])* #[doc = concat!("\n\nName: `", $text, "`.")] $Value,)+ }

        impl $Enum {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$Value,)+];

            /// The stable name, as it stands in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$Value => $text,)+ }
            }
        }

        impl fmt::Display for $Enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

named! {
    /// What became of a candidate.
    pub enum Status {
        /// It is in use.
        Loaded = "loaded",
        /// It was loaded, but says that its hardware is missing.
        Unavailable = "unavailable",
        /// A good backend whose id is taken by another.
        Shadowed = "shadowed",
        /// It is not used.
        Rejected = "rejected",
    }
}

named! {
    /// The stages of loading, in their order.
    pub enum Stage {
        /// Finding files whose name says that they are backends.
        Discover = "discover",
        /// Reading the file as data; no code of the backend runs.
        Inspect = "inspect",
        /// Loading it into the process.
        Open = "open",
        /// Finding the three functions.
        Bind = "bind",
        /// Asking for its version and its id.
        Identify = "identify",
        /// Making an instance and initializing it.
        Create = "create",
        /// Looking for its hardware.
        Probe = "probe",
    }
}

named! {
    /// Why a candidate is not in use. A code never changes its meaning.
    pub enum Code {
        /// A directory cannot be searched.
        PathInvalid = "path-invalid",
        /// The file's name looks like a backend's but does not follow the scheme.
        NameMismatch = "name-mismatch",
        /// A symbolic link leads nowhere.
        BrokenLink = "broken-link",
        /// A symbolic link leads back to itself, or through too many others.
        LinkLoop = "link-loop",
        /// A directory, FIFO, socket or device.
        NotRegularFile = "not-regular-file",
        /// The file cannot be opened or read.
        Unreadable = "unreadable",
        /// The same file was already found under another name.
        DuplicateFile = "duplicate-file",
        /// Dynamic backends are not available on this system.
        UnsupportedPlatform = "unsupported-platform",
        /// Not in the format of shared objects.
        NotElf = "not-elf",
        /// The file ends before what it says it contains.
        Truncated = "truncated",
        /// A 32-bit file in a 64-bit process, or the reverse.
        WrongClass = "wrong-class",
        /// Built for another processor architecture or byte order.
        WrongMachine = "wrong-machine",
        /// A program, an object file, or a damaged shared object.
        NotSharedObject = "not-shared-object",
        /// One of the three functions is missing.
        MissingSymbol = "missing-symbol",
        /// One of the three functions is there, but is no function.
        NotAFunction = "not-a-function",
        /// The file asks for an executable stack.
        ExecutableStack = "executable-stack",
        /// The backend note is damaged.
        NoteInvalid = "note-invalid",
        /// Built against a version of the interface that cannot be used with this one.
        VersionIncompatible = "version-incompatible",
        /// Built with another memory layout of the interface than its version has.
        LayoutMismatch = "layout-mismatch",
        /// A backend with this id is already there.
        IdDuplicate = "id-duplicate",
        /// The application does not want this backend.
        Excluded = "excluded",
        /// The dynamic linker refuses it.
        OpenFailed = "open-failed",
        /// A library that it needs is missing.
        MissingDependency = "missing-dependency",
        /// The id it returns is none.
        IdInvalid = "id-invalid",
        /// It says another id or version than its note.
        NoteMismatch = "note-mismatch",
        /// The factory returned no backend.
        FactoryNull = "factory-null",
        /// The factory failed.
        FactoryFailed = "factory-failed",
        /// The backend's table of functions is damaged or incomplete.
        TableInvalid = "table-invalid",
        /// The backend could not initialize itself.
        InitializeFailed = "initialize-failed",
        /// The backend says that its hardware is missing.
        Unavailable = "unavailable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(code: Code) -> Verdict {
        Verdict::refused(
            "/backends/Arm_X_backend.so",
            Refusal::new(Stage::Inspect, code, "why").with_hint("do this"),
        )
    }

    #[test]
    fn names_are_kebab_case_and_distinct() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(names.iter().all(|name| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        }));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(Code::LayoutMismatch.to_string(), "layout-mismatch");
        assert_eq!(format!("[{:10}]", Stage::Open), "[open      ]");
    }

    #[test]
    fn the_log_level_follows_the_outcome() {
        let loaded = Verdict::loaded(
            "/x",
            Stage::Create,
            BackendId::new("X").unwrap(),
            BackendVersion::new(1, 0),
        );
        assert_eq!(loaded.log_level(), log::Level::Info);
        for (code, level) in [
            (Code::Unavailable, log::Level::Info),
            (Code::IdDuplicate, log::Level::Warn),
            (Code::NameMismatch, log::Level::Warn),
            (Code::PathInvalid, log::Level::Warn),
            (Code::DuplicateFile, log::Level::Debug),
            (Code::NotElf, log::Level::Error),
            (Code::Excluded, log::Level::Info),
        ] {
            assert_eq!(verdict(code).log_level(), level, "{code}");
        }
    }

    #[test]
    fn a_name_or_a_message_cannot_forge_lines_or_colours() {
        let mut verdict = verdict(Code::NameMismatch);
        verdict.path = "/b/backend\nERROR all is lost\u{1b}[31m".into();
        verdict.message = "needs lib\r\n.so".into();
        assert_eq!(
            verdict.to_string(),
            "dynamic backend /b/backend\\nERROR all is lost\\u{1b}[31m: rejected (inspect: \
             name-mismatch): needs lib\\r\\n.so; do this"
        );
    }

    #[test]
    fn the_line_names_path_stage_code_reason_and_remedy() {
        assert_eq!(
            verdict(Code::Truncated).to_string(),
            "dynamic backend /backends/Arm_X_backend.so: rejected (inspect: truncated): why; \
             do this"
        );
    }
}
