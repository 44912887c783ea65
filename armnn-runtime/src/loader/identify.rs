//! Stage `identify`: what a loaded library says of itself.
//!
//! The version comes first: a backend of another major is asked nothing else. The id is a pointer
//! that the backend returns, and is read in a way that survives one that leads nowhere.

use armnn_backend_api::{BackendId, BackendVersion};

use super::{
    bind::EntryPoints,
    inspect::{BackendNote, version_refusal},
    verdict::{Code, Refusal, Stage},
};
use crate::fault_safe_read::{TextError, read_text};

/// What a backend says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its id.
    pub backend_id: BackendId,
    /// The version of the interface that it was built against.
    pub version: BackendVersion,
}

impl Identity {
    /// Asks the backend behind `functions`, compares its answers with its `note`, where it has one,
    /// and its version with the version of the `interface`.
    ///
    /// # Errors
    /// When the versions do not go together, the id is none, or an answer differs from the note.
    ///
    /// # Safety
    /// The library must be open, and its functions must have the signatures of the interface.
    /// They are foreign code: what they do cannot be vouched for.
    pub unsafe fn ask(
        functions: &EntryPoints,
        interface: BackendVersion,
        note: Option<&BackendNote>,
    ) -> Result<Self, Refusal> {
        let _environment = crate::float_environment::FloatEnvironment::save();
        let mut version = BackendVersion::new(0, 0);
        // SAFETY: the caller vouches for the function; it gets two places to write to.
        unsafe { (functions.version)(&raw mut version.major, &raw mut version.minor) };
        if !version.is_compatible_with(interface) {
            return Err(version_refusal(Stage::Identify, version, interface));
        }
        // SAFETY: as above.
        let first = unsafe { ask_id(functions)? };
        // SAFETY: as above.
        let second = unsafe { ask_id(functions)? };
        if first != second {
            return Err(id_invalid(format!(
                "GetBackendId returned '{first}' at first and '{second}' the next time"
            )));
        }
        let identity = Self {
            backend_id: first,
            version,
        };
        if let Some(note) = note {
            identity.compare_with(note)?;
        }
        Ok(identity)
    }

    fn compare_with(&self, note: &BackendNote) -> Result<(), Refusal> {
        if self.backend_id == note.backend_id && self.version == note.api_version {
            return Ok(());
        }
        Err(Refusal::new(
            Stage::Identify,
            Code::NoteMismatch,
            format!(
                "the functions say '{}' for interface {}, the backend note says '{}' for \
                 interface {}",
                self.backend_id, self.version, note.backend_id, note.api_version
            ),
        )
        .with_hint("build the backend so that note and functions come from one declaration"))
    }
}

/// # Safety
/// As for [`Identity::ask`].
unsafe fn ask_id(functions: &EntryPoints) -> Result<BackendId, Refusal> {
    // SAFETY: the caller vouches for the function.
    let pointer = unsafe { (functions.backend_id)() };
    if pointer.is_null() {
        return Err(id_invalid("GetBackendId returned null"));
    }
    let text = match read_text(pointer as usize) {
        Ok(text) => text,
        Err(TextError::Unterminated) => {
            return Err(id_invalid(format!(
                "GetBackendId returned a text of more than {} bytes",
                BackendId::MAX_LEN
            )));
        }
        Err(TextError::Unmapped) => {
            return Err(id_invalid(
                "GetBackendId returned a pointer to memory that is not there",
            ));
        }
        Err(TextError::Unreadable(error)) => {
            return Err(id_invalid(format!(
                "what GetBackendId returned cannot be checked on this system: {error}"
            )));
        }
    };
    let text = String::from_utf8(text).map_err(|error| {
        id_invalid(format!(
            "GetBackendId returned '{}', which is not UTF-8",
            error.as_bytes().escape_ascii()
        ))
    })?;
    BackendId::new(&text).map_err(|error| id_invalid(format!("GetBackendId: {error}")))
}

fn id_invalid(message: impl Into<String>) -> Refusal {
    Refusal::new(Stage::Identify, Code::IdInvalid, message).with_hint(
        "GetBackendId returns a constant text of 1 to 63 of the characters A-Z, a-z, 0-9, '_', \
         '.' and '-'",
    )
}
