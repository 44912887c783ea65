//! The name under which a backend is known.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

/// The name under which a backend is known, such as `CpuRef`: 1 to 63 of the characters
/// `A`–`Z`, `a`–`z`, `0`–`9`, `_`, `.` and `-`, and not `Unknown`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackendId(Arc<str>);

/// Why a text is no backend id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendIdError {
    /// The text has no characters.
    #[error("a backend id must not be empty")]
    Empty,
    /// The text has more than [`BackendId::MAX_LEN`] bytes.
    #[error("a backend id has at most 63 bytes, this one has {0}")]
    TooLong(usize),
    /// A byte outside the allowed set.
    #[error(
        "a backend id consists of A-Z, a-z, 0-9, '_', '.' and '-'; byte {index} of {id:?} is another"
    )]
    InvalidCharacter {
        /// The text, with everything unprintable escaped.
        id: String,
        /// Which byte of it.
        index: usize,
    },
    /// `Unknown` stands for "no backend".
    #[error("'Unknown' is reserved and cannot be a backend id")]
    Reserved,
}

impl BackendId {
    /// The most bytes an id may have.
    pub const MAX_LEN: usize = 63;

    /// Checks `id` and makes a [`BackendId`] of it.
    ///
    /// # Errors
    /// When `id` breaks one of the rules above.
    pub fn new(id: &str) -> Result<Self, BackendIdError> {
        if id.is_empty() {
            return Err(BackendIdError::Empty);
        }
        if id.len() > Self::MAX_LEN {
            return Err(BackendIdError::TooLong(id.len()));
        }
        if let Some(index) = id.bytes().position(|b| !is_allowed(b)) {
            return Err(BackendIdError::InvalidCharacter {
                id: id.escape_debug().to_string(),
                index,
            });
        }
        if id == "Unknown" {
            return Err(BackendIdError::Reserved);
        }
        Ok(Self(id.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `id` could be made into a [`BackendId`]; for use in constant expressions.
    pub const fn is_valid(id: &str) -> bool {
        let bytes = id.as_bytes();
        if bytes.is_empty() || bytes.len() > Self::MAX_LEN {
            return false;
        }
        let unknown = b"Unknown";
        let mut same = bytes.len() == unknown.len();
        let mut i = 0;
        while i < bytes.len() {
            if !is_allowed(bytes[i]) {
                return false;
            }
            same = same && bytes[i] == unknown[i];
            i += 1;
        }
        !same
    }
}

const fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

impl fmt::Display for BackendId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for BackendId {
    type Err = BackendIdError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::new(s)
    }
}

impl Borrow<str> for BackendId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for BackendId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for BackendId {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_the_same_at_run_time_and_in_constants() {
        let long = "x".repeat(64);
        for (id, valid) in [
            ("CpuRef", true),
            ("a.b-c_9", true),
            (&long[..63], true),
            (&long, false),
            ("", false),
            ("Unknown", false),
            ("unknown", true),
            ("Has/../x", false),
            ("tab\t", false),
            ("ümlaut", false),
        ] {
            assert_eq!(BackendId::new(id).is_ok(), valid, "{id:?}");
            assert_eq!(BackendId::is_valid(id), valid, "{id:?}");
        }
    }
}
