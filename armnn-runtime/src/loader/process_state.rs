//! What loading a backend changed in the process as a whole.
//!
//! A library's code can change what belongs to the application: how numbers are written, where
//! relative paths lead, who gets a signal. That is noticed and reported, and never undone: whether
//! it was meant, only the application knows. What another thread changes while a backend is being
//! loaded cannot be told from what the backend changes.

use std::{
    collections::BTreeMap,
    ffi::{CStr, OsString, c_int},
    fmt,
    fs::File,
    io::Read as _,
    path::PathBuf,
};

/// Something of the process that is not as it was before a backend was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessStateChange {
    /// The locale: how numbers and dates are written, in what encoding.
    Locale {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// The current directory.
    WorkingDirectory {
        /// Before.
        from: PathBuf,
        /// Now.
        to: PathBuf,
    },
    /// The permissions that new files do not get.
    Umask {
        /// Before.
        from: u32,
        /// Now.
        to: u32,
    },
    /// What happens when a signal arrives.
    SignalHandler {
        /// The signal's number.
        signal: i32,
    },
    /// Variables of the environment that were set, changed or removed; their names only, as values
    /// may be secret.
    Environment {
        /// The names, sorted.
        variables: Vec<String>,
    },
    /// The stack has become executable, which makes the faults of a program easier to exploit.
    ExecutableStack,
}

impl fmt::Display for ProcessStateChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locale { from, to } => write!(f, "the locale from '{from}' to '{to}'"),
            Self::WorkingDirectory { from, to } => write!(
                f,
                "the working directory from {} to {}",
                from.display(),
                to.display()
            ),
            Self::Umask { from, to } => write!(f, "the umask from {from:03o} to {to:03o}"),
            Self::SignalHandler { signal } => {
                write!(f, "what happens on signal {signal}")?;
                match name_of(*signal) {
                    Some(name) => write!(f, " ({name})"),
                    None => Ok(()),
                }
            }
            Self::Environment { variables } => {
                write!(f, "the environment: {}", variables.join(", "))
            }
            Self::ExecutableStack => f.write_str("the stack, which is executable now"),
        }
    }
}

fn name_of(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGCHLD => "SIGCHLD",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGUSR2 => "SIGUSR2",
        _ => return None,
    })
}

/// The process as it is at one moment. What cannot be found out is absent, and counts as unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcessState {
    locale: Option<String>,
    working_directory: Option<PathBuf>,
    umask: Option<u32>,
    /// Handler and flags by signal.
    signals: Vec<Option<(usize, c_int)>>,
    environment: BTreeMap<OsString, OsString>,
    stack_is_executable: Option<bool>,
}

impl ProcessState {
    /// Takes about 20 us, half of it for what the kernel tells.
    pub(super) fn capture() -> Self {
        let status = Status::read();
        Self {
            locale: locale(),
            working_directory: std::env::current_dir().ok(),
            umask: status.umask,
            signals: (1..=64).map(|signal| status.action(signal)).collect(),
            environment: std::env::vars_os().collect(),
            stack_is_executable: stack_is_executable(),
        }
    }

    /// What is different in `later`.
    pub(super) fn changes_to(&self, later: &Self) -> Vec<ProcessStateChange> {
        let mut changes = Vec::new();
        if let (Some(from), Some(to)) = (&self.locale, &later.locale)
            && from != to
        {
            changes.push(ProcessStateChange::Locale {
                from: from.clone(),
                to: to.clone(),
            });
        }
        if let (Some(from), Some(to)) = (&self.working_directory, &later.working_directory)
            && from != to
        {
            changes.push(ProcessStateChange::WorkingDirectory {
                from: from.clone(),
                to: to.clone(),
            });
        }
        if let (Some(from), Some(to)) = (self.umask, later.umask)
            && from != to
        {
            changes.push(ProcessStateChange::Umask { from, to });
        }
        let signals = self.signals.iter().zip(&later.signals).zip(1..);
        changes.extend(
            signals
                .filter(|((from, to), _)| from.is_some() && to.is_some() && from != to)
                .map(|(_, signal)| ProcessStateChange::SignalHandler { signal }),
        );
        if self.environment != later.environment {
            let names = self.environment.keys().chain(later.environment.keys());
            let mut variables: Vec<String> = names
                .filter(|name| self.environment.get(*name) != later.environment.get(*name))
                .map(|name| name.to_string_lossy().into_owned())
                .collect();
            variables.sort_unstable();
            variables.dedup();
            changes.push(ProcessStateChange::Environment { variables });
        }
        if (self.stack_is_executable, later.stack_is_executable) == (Some(false), Some(true)) {
            changes.push(ProcessStateChange::ExecutableStack);
        }
        changes
    }
}

/// Notices what backends change, one after another.
#[derive(Default)]
pub(super) struct ProcessWatch {
    /// As it was last seen in this round of loading.
    last: Option<ProcessState>,
}

impl ProcessWatch {
    /// The state before code of a backend runs.
    pub(super) fn begin(&mut self) -> ProcessState {
        self.last.take().unwrap_or_else(ProcessState::capture)
    }

    /// Forgets how the process was, since code of a backend runs unwatched.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    /// What is different from `before`, after code of a backend ran.
    pub(super) fn end(&mut self, before: &ProcessState) -> Vec<ProcessStateChange> {
        let now = ProcessState::capture();
        let changes = before.changes_to(&now);
        self.last = Some(now);
        changes
    }
}

/// The names of the process's locale. `setlocale` could tell, but not while another thread sets it.
#[cfg(target_env = "gnu")]
fn locale() -> Option<String> {
    /// Of the C library: the name of a category of a locale.
    const fn name_of(category: c_int) -> libc::nl_item {
        (category << 16) | 0xffff
    }
    // LC_GLOBAL_LOCALE of locale.h.
    let global: libc::locale_t = std::ptr::without_provenance_mut(usize::MAX);
    // SAFETY: copies the process's locale, under the C library's lock; freed below.
    let copy = unsafe { libc::duplocale(global) };
    if copy.is_null() {
        return None;
    }
    let categories = [
        libc::LC_CTYPE,
        libc::LC_NUMERIC,
        libc::LC_TIME,
        libc::LC_COLLATE,
        libc::LC_MONETARY,
        libc::LC_MESSAGES,
    ];
    let names: Vec<String> = categories
        .iter()
        .map(|category| {
            // SAFETY: the locale is a valid one.
            let name = unsafe { libc::nl_langinfo_l(name_of(*category), copy) };
            if name.is_null() {
                return String::new();
            }
            // SAFETY: a name of a locale is a C string that lives as long as that.
            unsafe { CStr::from_ptr(name) }
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    // SAFETY: made above, and not used any more.
    unsafe { libc::freelocale(copy) };
    let all_the_same = names.windows(2).all(|pair| pair[0] == pair[1]);
    Some(match names.first() {
        Some(name) if all_the_same => name.clone(),
        _ => names.join("/"),
    })
}

/// Other C libraries have one locale.
#[cfg(not(target_env = "gnu"))]
fn locale() -> Option<String> {
    None
}

/// What the kernel tells of this process. The mask could also be asked for by `umask`, which would
/// change it for all threads, and each signal by a call of its own, which takes longer.
#[derive(Default)]
struct Status {
    umask: Option<u32>,
    /// Bit n - 1 is set if signal n is ignored.
    ignored: Option<u64>,
    /// Bit n - 1 is set if signal n has a handler.
    caught: Option<u64>,
}

impl Status {
    fn read() -> Self {
        let mut buffer = [0; 4096];
        let Ok(length) = File::open("/proc/self/status").and_then(|mut f| f.read(&mut buffer))
        else {
            return Self::default();
        };
        // The name of the process, which is the first line, may be any bytes.
        let text = String::from_utf8_lossy(&buffer[..length]);
        let mut status = Self::default();
        for line in text.lines() {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let number = |radix| u64::from_str_radix(value.trim(), radix).ok();
            match name {
                "Umask" => status.umask = number(8).and_then(|mask| mask.try_into().ok()),
                "SigIgn" => status.ignored = number(16),
                "SigCgt" => status.caught = number(16),
                _ => {}
            }
        }
        status
    }

    /// Handler and flags of a signal.
    fn action(&self, signal: c_int) -> Option<(usize, c_int)> {
        let (Some(ignored), Some(caught)) = (self.ignored, self.caught) else {
            return signal_action(signal);
        };
        let bit = 1 << (signal - 1);
        if caught & bit != 0 {
            signal_action(signal)
        } else if ignored & bit != 0 {
            Some((libc::SIG_IGN, 0))
        } else {
            Some((libc::SIG_DFL, 0))
        }
    }
}

fn signal_action(signal: c_int) -> Option<(usize, c_int)> {
    // SAFETY: zeros are a valid value of that struct of numbers.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: asks only, and writes into a struct of the right type.
    let failed = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    (failed == 0).then_some((action.sa_sigaction, action.sa_flags))
}

/// Whether code on the stack of this thread, or on that of the process, could be executed.
fn stack_is_executable() -> Option<bool> {
    let here = 0u8;
    let here = &raw const here as usize;
    super::images::is_any_executable(&[here, end_of_main_stack().unwrap_or(here)])
}

/// Where the stack of the process's first thread began to grow down from.
#[cfg(target_env = "gnu")]
fn end_of_main_stack() -> Option<usize> {
    static PLACE: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();
    *PLACE.get_or_init(|| {
        // SAFETY: looks up a variable of the dynamic linker.
        let variable = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_stack_end".as_ptr()) };
        if variable.is_null() {
            return None;
        }
        // SAFETY: it is a pointer, which is set once, before the program starts.
        let end = unsafe { *variable.cast::<*const u8>() };
        // The bytes below are part of the stack for certain.
        (end as usize).checked_sub(8)
    })
}

#[cfg(not(target_env = "gnu"))]
fn end_of_main_stack() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_in_which_nothing_happens_does_not_change() {
        let state = ProcessState::capture();
        assert!(state.locale.is_some() || cfg!(not(target_env = "gnu")));
        assert!(state.umask.is_some() && state.working_directory.is_some());
        assert_eq!(state.stack_is_executable, Some(false));
        assert_eq!(state.changes_to(&state.clone()), []);
    }

    #[test]
    fn variables_are_named_without_their_values() {
        let before = ProcessState::capture();
        let mut after = before.clone();
        after.environment.insert("TOKEN".into(), "secret".into());
        after.environment.remove(std::ffi::OsStr::new("PATH"));
        let changes = before.changes_to(&after);
        let mut variables = vec!["TOKEN".to_owned()];
        if before
            .environment
            .contains_key(std::ffi::OsStr::new("PATH"))
        {
            variables.insert(0, "PATH".to_owned());
        }
        assert_eq!(changes, [ProcessStateChange::Environment { variables }]);
        assert!(!changes[0].to_string().contains("secret"));
    }

    #[test]
    fn changes_are_told_in_words() {
        for (change, words) in [
            (
                ProcessStateChange::Umask { from: 0o22, to: 0 },
                "the umask from 022 to 000",
            ),
            (
                ProcessStateChange::SignalHandler {
                    signal: libc::SIGSEGV,
                },
                "what happens on signal 11 (SIGSEGV)",
            ),
            (
                ProcessStateChange::Locale {
                    from: "C".into(),
                    to: "de_DE".into(),
                },
                "the locale from 'C' to 'de_DE'",
            ),
        ] {
            assert_eq!(change.to_string(), words);
        }
    }
}
