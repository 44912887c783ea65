//! Finding, vetting, loading and unloading backends that are shared objects.
//!
//! Every candidate goes through the stages, and gets exactly one [`Verdict`] with a stable
//! [`Code`]; one that is refused disturbs neither the process nor its neighbours.
//!
//! | stage | module | what happens |
//! |---|---|---|
//! | – | [`paths`] | which directories are searched |
//! | `discover` | [`discover`] | which files in them are candidates |
//! | `inspect` | [`inspect`] | a candidate is read as data |
//! | `open` | [`open`] | it is loaded into the process |
//! | `bind` | [`bind`] | its three functions are looked up |
//! | `identify` | [`identify`] | it is asked for its version and id |
//! | `create`, `probe` | the caller of [`load`] | an instance is made and asked for its hardware |
//! | – | [`unload`] | it is closed, and whether it is gone is found out |
//!
//! [`load`] takes candidates through all of them. The functions of the stages that the design note
//! names are in [`dynamic_backend_utils`](crate::dynamic_backend_utils).
//!
//! Loading is for ELF systems, Linux first. Elsewhere, and in a build without the feature
//! `dynamic-backends` (which is on by default), every candidate is refused as `unsupported-platform`,
//! and no shared object is opened.

pub(crate) mod create;
pub mod discover;
pub mod handle;
mod host_interface;
#[cfg(target_os = "linux")]
pub mod inspect;
pub mod load;
pub mod paths;
pub mod unload;
pub mod verdict;

#[cfg(target_os = "linux")]
pub mod bind;
#[cfg(target_os = "linux")]
pub mod identify;
#[cfg(target_os = "linux")]
mod images;
#[cfg(target_os = "linux")]
mod known_files;
#[cfg(all(target_os = "linux", feature = "layout-check"))]
pub mod layout_check;
#[cfg(target_os = "linux")]
pub mod open;
#[cfg(target_os = "linux")]
pub mod process_state;

pub use self::{
    handle::Handle,
    host_interface::HostInterface,
    unload::{KeptReason, PinCause, UnloadOutcome},
    verdict::{Code, Refusal, Stage, Status, Verdict},
};
