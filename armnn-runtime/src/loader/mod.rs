//! Finding, vetting, loading and unloading backends that are shared objects.
//!
//! Every candidate goes through the stages, and gets exactly one [`Verdict`] with a stable
//! [`Code`]; one that is refused disturbs neither the process nor its neighbours.
//!
//! | stage | module | what happens |
//! |---|---|---|
//! | – | [`paths`] | which directories are searched |
//! | `discover` | [`discover`] | which files in them are candidates |
//! | `inspect` | [`inspect`] | the file is read as data |

pub mod discover;
#[cfg(target_os = "linux")]
pub mod inspect;
pub mod paths;
pub mod verdict;

pub use verdict::{Code, Refusal, Stage, Status, Verdict};
