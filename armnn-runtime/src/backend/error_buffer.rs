//! Room for a backend's error messages.

use armnn_backend_api::{
    BackendError,
    guard::{Poison, error_buffer, read_error},
    sys::{self, ArmnnError, ArmnnStatus},
};

use crate::float_environment::FloatEnvironment;

/// A reusable buffer for the error of a call. Its bytes are always initialised, whatever a
/// backend says it wrote.
pub(crate) struct ErrorBuffer(ArmnnError);

impl ErrorBuffer {
    pub(crate) fn new() -> Self {
        Self(error_buffer())
    }

    /// Calls a backend. A panic that the backend reports marks `poison`. The thread's floating-point
    /// environment is as before when it returns.
    pub(crate) fn call(
        &mut self,
        poison: &Poison,
        f: impl FnOnce(*mut ArmnnError) -> ArmnnStatus,
    ) -> Result<(), BackendError> {
        let _environment = FloatEnvironment::save();
        self.call_at_once(poison, f)
    }

    /// The same for a call that must be quick, whose caller looks after the floating-point
    /// environment.
    #[inline]
    pub(crate) fn call_at_once(
        &mut self,
        poison: &Poison,
        f: impl FnOnce(*mut ArmnnError) -> ArmnnStatus,
    ) -> Result<(), BackendError> {
        poison.check()?;
        self.0.status = sys::ARMNN_STATUS_OK;
        self.0.len = 0;
        self.0.layer_id = sys::ARMNN_NO_LAYER;
        let status = f(&mut self.0);
        if status == sys::ARMNN_STATUS_OK {
            return Ok(());
        }
        Err(self.failed(poison, status))
    }

    #[cold]
    fn failed(&self, poison: &Poison, status: ArmnnStatus) -> BackendError {
        match read_error(status, &self.0) {
            Ok(()) => BackendError::new(""),
            Err(e) => {
                if e.status().is_panic() {
                    poison.set(e.message());
                }
                e
            }
        }
    }
}
