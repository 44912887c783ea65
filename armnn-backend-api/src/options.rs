//! Options: named values for a backend, and the facts a backend tells of a device.

use std::fmt;

use crate::{
    BackendError, Result, sys,
    view::{raw_text, slice, text},
};

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionValue<'a> {
    /// Yes or no.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// Text.
    Str(&'a str),
}

impl fmt::Display for OptionValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => v.fmt(f),
            Self::Int(v) => v.fmt(f),
            Self::Float(v) => v.fmt(f),
            Self::Str(v) => v.fmt(f),
        }
    }
}

/// Named values, borrowed from the host.
#[derive(Clone, Copy)]
pub struct Options<'a>(&'a [sys::ArmnnOption]);

impl<'a> Options<'a> {
    /// Takes options that came over the wire.
    ///
    /// # Safety
    /// `options` leads to `n_options` valid options for `'a`.
    pub unsafe fn from_raw(options: *const sys::ArmnnOption, n_options: usize) -> Self {
        // SAFETY: by the contract of this function.
        Self(unsafe { slice(options, n_options) })
    }

    /// The options in order. One of an unknown kind is given as an empty text.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, OptionValue<'a>)> {
        self.0.iter().map(|option| {
            // SAFETY: the host vouches for the options; `kind` tells which member is set.
            unsafe {
                let value = match option.kind {
                    sys::ARMNN_OPTION_BOOL => OptionValue::Bool(option.value.b != 0),
                    sys::ARMNN_OPTION_INT => OptionValue::Int(option.value.i),
                    sys::ARMNN_OPTION_FLOAT => OptionValue::Float(option.value.f),
                    sys::ARMNN_OPTION_STRING => OptionValue::Str(text(option.value.s)),
                    _ => OptionValue::Str(""),
                };
                (text(option.name), value)
            }
        })
    }

    /// The last option of a name.
    pub fn get(&self, name: &str) -> Option<OptionValue<'a>> {
        self.iter()
            .filter(|(n, _)| *n == name)
            .last()
            .map(|(_, value)| value)
    }

    /// An error if there is an option whose name is not among the known ones.
    ///
    /// # Errors
    /// Names the option, and lists the known ones.
    pub fn check_known(&self, known: &[&str]) -> Result<()> {
        match self.iter().find(|(name, _)| !known.contains(name)) {
            None => Ok(()),
            Some((name, _)) if known.is_empty() => Err(BackendError::invalid_argument(format!(
                "there is no option '{name}': this backend has no options"
            ))),
            Some((name, _)) => Err(BackendError::invalid_argument(format!(
                "there is no option '{name}'; this backend knows {}",
                known.join(", ")
            ))),
        }
    }
}

/// An option as it goes over the wire; valid while name and value are.
pub fn raw_option(name: &str, value: OptionValue<'_>) -> sys::ArmnnOption {
    let (kind, value) = match value {
        OptionValue::Bool(b) => (
            sys::ARMNN_OPTION_BOOL,
            sys::ArmnnOptionValue { b: b.into() },
        ),
        OptionValue::Int(i) => (sys::ARMNN_OPTION_INT, sys::ArmnnOptionValue { i }),
        OptionValue::Float(f) => (sys::ARMNN_OPTION_FLOAT, sys::ArmnnOptionValue { f }),
        OptionValue::Str(s) => (
            sys::ARMNN_OPTION_STRING,
            sys::ArmnnOptionValue { s: raw_text(s) },
        ),
    };
    sys::ArmnnOption {
        name: raw_text(name),
        kind,
        reserved: 0,
        value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_back_as_they_went_in() {
        let values = [
            ("fast", OptionValue::Bool(true)),
            ("threads", OptionValue::Int(-3)),
            ("scale", OptionValue::Float(0.5)),
            ("file", OptionValue::Str("a b")),
            ("threads", OptionValue::Int(4)),
        ];
        let raw: Vec<_> = values.iter().map(|&(n, v)| raw_option(n, v)).collect();
        // SAFETY: `raw` is valid.
        let options = unsafe { Options::from_raw(raw.as_ptr(), raw.len()) };
        assert_eq!(options.iter().collect::<Vec<_>>(), values);
        assert_eq!(options.get("threads"), Some(OptionValue::Int(4)));
        assert!(
            options
                .check_known(&["fast", "threads", "scale", "file"])
                .is_ok()
        );
        let e = options.check_known(&["threads", "scale"]).unwrap_err();
        assert_eq!(
            e.message(),
            "there is no option 'fast'; this backend knows threads, scale"
        );
    }
}
