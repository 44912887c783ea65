//! What the host offers to a backend, in Rust.

mod execution_context;
mod model_host;
mod optimization_views;
mod parallel;
mod tensors;

pub use execution_context::ExecutionContext;
pub(crate) use model_host::CutOnDrop;
pub use model_host::ModelHost;
pub use optimization_views::OptimizationViews;
pub use tensors::{Inputs, Outputs};

use crate::{
    BackendError, BackendVersion, OptionValue, Result, Status,
    options::raw_option,
    slot,
    sys::{self, ArmnnStatus},
    view::raw_text,
};

/// The host, to every backend alike; valid for ever.
#[derive(Clone, Copy, Debug)]
pub struct HostApi(&'static sys::ArmnnHostApi);

impl HostApi {
    /// Takes what the host gave to `initialize`.
    ///
    /// # Safety
    /// `raw` is as the interface demands.
    pub unsafe fn from_raw(raw: &'static sys::ArmnnHostApi) -> Self {
        Self(raw)
    }

    /// The interface version of the host.
    pub fn version(&self) -> BackendVersion {
        BackendVersion::new(self.0.api_major, self.0.api_minor)
    }

    /// Whether a message of that level and target would be written.
    pub fn log_enabled(&self, level: log::Level, target: &str) -> bool {
        // SAFETY: the host vouches for its table.
        let enabled = unsafe { slot!(self.0, sys::ArmnnHostApi, log_enabled) };
        // SAFETY: the text is valid for the call.
        enabled.is_none_or(|f| unsafe { f(level as u32, raw_text(target)) } != 0)
    }

    /// Writes to the host's log. Backends use the `log` crate, which leads here.
    pub fn log(&self, level: log::Level, target: &str, message: &str) {
        // SAFETY: the host vouches for its table.
        if let Some(f) = unsafe { slot!(self.0, sys::ArmnnHostApi, log) } {
            // SAFETY: the texts are valid for the call.
            unsafe { f(level as u32, raw_text(target), raw_text(message)) }
        }
    }
}

/// Where a backend names the devices it found.
pub struct ProbeSink<'a>(&'a sys::ArmnnProbeSink);

impl<'a> ProbeSink<'a> {
    pub(crate) unsafe fn from_raw(raw: &'a sys::ArmnnProbeSink) -> Self {
        Self(raw)
    }

    /// Adds a device: a short name, a description for people, and facts such as its memory.
    ///
    /// # Errors
    /// When the host refuses it.
    pub fn add_device(
        &mut self,
        name: &str,
        description: &str,
        facts: &[(&str, OptionValue<'_>)],
    ) -> Result<()> {
        let facts: Vec<_> = facts.iter().map(|&(n, v)| raw_option(n, v)).collect();
        // SAFETY: the host vouches for its table; everything is valid for the call.
        let status = unsafe {
            let Some(f) = slot!(self.0, sys::ArmnnProbeSink, add_device) else {
                return Ok(());
            };
            f(
                self.0.host,
                raw_text(name),
                raw_text(description),
                facts.as_ptr(),
                facts.len(),
            )
        };
        host_result(status, "the host refused the device")
    }
}

fn host_result(status: ArmnnStatus, message: &str) -> Result<()> {
    if status == sys::ARMNN_STATUS_OK {
        Ok(())
    } else {
        Err(BackendError::with_status(Status(status), message))
    }
}
