//! The error of everything that crosses the boundary.

use std::fmt;

use crate::open_enum::open_enum;
use crate::sys;

/// What a backend's function returns.
pub type Result<T, E = BackendError> = std::result::Result<T, E>;

/// The outcome of a call, as a number on the wire.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Status(pub sys::ArmnnStatus);

#[allow(non_upper_case_globals)]
impl Status {
    /// Done.
    pub const Ok: Self = Self(sys::ARMNN_STATUS_OK);
    /// Failed; the message says why.
    pub const Error: Self = Self(sys::ARMNN_STATUS_ERROR);
    /// A panic was caught; the object is poisoned.
    pub const Panic: Self = Self(sys::ARMNN_STATUS_PANIC);
    /// The call is not implemented.
    pub const Unimplemented: Self = Self(sys::ARMNN_STATUS_UNIMPLEMENTED);
    /// The object, or the one that made it, was poisoned by an earlier panic.
    pub const Poisoned: Self = Self(sys::ARMNN_STATUS_POISONED);
    /// What is needed (hardware, a driver) is not there.
    pub const Unavailable: Self = Self(sys::ARMNN_STATUS_UNAVAILABLE);
    /// The backend does not take the layer; the message is the reason.
    pub const Unsupported: Self = Self(sys::ARMNN_STATUS_UNSUPPORTED);
    /// An argument breaks the interface's rules.
    pub const InvalidArgument: Self = Self(sys::ARMNN_STATUS_INVALID_ARGUMENT);
    /// Memory could not be had.
    pub const OutOfMemory: Self = Self(sys::ARMNN_STATUS_OUT_OF_MEMORY);
    /// The device went away.
    pub const DeviceLost: Self = Self(sys::ARMNN_STATUS_DEVICE_LOST);
    /// The factory failed.
    pub const FactoryFailed: Self = Self(sys::ARMNN_STATUS_FACTORY_FAILED);

    /// Whether a panic is behind it: [`Panic`](Self::Panic) or [`Poisoned`](Self::Poisoned).
    pub const fn is_panic(self) -> bool {
        matches!(self, Self::Panic | Self::Poisoned)
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match *self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Panic => "panic",
            Self::Unimplemented => "unimplemented",
            Self::Poisoned => "poisoned",
            Self::Unavailable => "unavailable",
            Self::Unsupported => "unsupported",
            Self::InvalidArgument => "invalid argument",
            Self::OutOfMemory => "out of memory",
            Self::DeviceLost => "device lost",
            Self::FactoryFailed => "factory failed",
            Self(other) => return write!(f, "status {other}"),
        })
    }
}

/// An error of a backend, or of the host when a backend calls it.
///
/// The message crosses the boundary in a buffer of 496 bytes; a longer one is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendError {
    status: Status,
    message: String,
    layer_id: Option<u32>,
}

impl BackendError {
    /// An error with a status of its own.
    pub fn with_status(status: Status, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            layer_id: None,
        }
    }

    /// A failure: says what was being done, on what, and what went wrong.
    pub fn new(message: impl Into<String>) -> Self {
        Self::with_status(Status::Error, message)
    }

    /// The reason why a layer is not taken.
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self::with_status(Status::Unsupported, reason)
    }

    /// What is missing, such as hardware or a driver.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::with_status(Status::Unavailable, reason)
    }

    /// How an argument breaks the interface's rules.
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::with_status(Status::InvalidArgument, message)
    }

    /// The status; never [`Status::Ok`] in an error that crossed the boundary.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The same error, of a layer: its [id](crate::LayerView::id). For errors that come later than
    /// the call that caused them.
    pub fn in_layer(mut self, layer_id: u32) -> Self {
        self.layer_id = Some(layer_id);
        self
    }

    /// The layer, if the backend told it.
    pub fn layer_id(&self) -> Option<u32> {
        self.layer_id
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, self.message.is_empty()) {
            (_, true) => write!(f, "{} (no message)", self.status),
            (Status::Error | Status::Unsupported | Status::Unavailable, _) => {
                f.write_str(&self.message)
            }
            _ => write!(f, "{}: {}", self.status, self.message),
        }
    }
}

impl std::error::Error for BackendError {}

open_enum! {
    /// What a backend is; decides the order in which backends are preferred where the application
    /// names none: Accelerator, Gpu, Cpu, Reference.
    pub enum BackendKind {
        /// Plain and correct, not fast.
        Reference = sys::ARMNN_BACKEND_KIND_REFERENCE,
        /// Made for a CPU.
        Cpu = sys::ARMNN_BACKEND_KIND_CPU,
        /// Made for a GPU.
        Gpu = sys::ARMNN_BACKEND_KIND_GPU,
        /// Made for another device.
        Accelerator = sys::ARMNN_BACKEND_KIND_ACCELERATOR,
    }
}
