//! Options for backends, as the application gives them.

use armnn_backend_api::OptionValue;

/// A named value for a backend.
#[derive(Clone, Debug, PartialEq)]
#[doc(alias = "BackendOptions")]
pub struct BackendOption {
    /// The name.
    pub name: String,
    /// The value.
    pub value: BackendOptionValue,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum BackendOptionValue {
    /// Yes or no.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// Text.
    String(String),
}

impl BackendOption {
    /// An option.
    pub fn new(name: impl Into<String>, value: impl Into<BackendOptionValue>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

impl BackendOptionValue {
    pub(crate) fn as_option_value(&self) -> OptionValue<'_> {
        match self {
            Self::Bool(v) => OptionValue::Bool(*v),
            Self::Int(v) => OptionValue::Int(*v),
            Self::Float(v) => OptionValue::Float(*v),
            Self::String(v) => OptionValue::Str(v),
        }
    }
}

impl From<bool> for BackendOptionValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for BackendOptionValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for BackendOptionValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for BackendOptionValue {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<String> for BackendOptionValue {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}
