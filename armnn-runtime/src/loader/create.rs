//! Stage `create`: an instance is made by the factory, its table validated, and initialized.

use std::sync::Arc;

use super::verdict::{Code, Refusal, Stage};
use crate::{
    backend::{BackendInstance, InstanceError, InstanceErrorKind},
    dynamic_backend::DynamicBackend,
    options::BackendOption,
};

/// Makes an instance of a loaded backend.
///
/// # Safety
/// This runs the library's own code.
pub(crate) unsafe fn create(
    backend: &Arc<DynamicBackend>,
    options: &[BackendOption],
) -> Result<Arc<BackendInstance>, Refusal> {
    let factory = backend.factory_function().ok_or_else(|| {
        Refusal::new(
            Stage::Create,
            Code::OpenFailed,
            "the library was closed meanwhile",
        )
    })?;
    // SAFETY: the caller takes the responsibility for the library's code, which the instance
    // keeps open.
    unsafe {
        BackendInstance::create(
            factory,
            backend.backend_id().clone(),
            backend.version(),
            options,
            Some(Arc::clone(backend)),
        )
    }
    .map_err(refusal)
}

fn refusal(error: InstanceError) -> Refusal {
    let (code, hint) = match error.kind {
        InstanceErrorKind::FactoryNull => (
            Code::FactoryNull,
            "ask the backend's author; its log may say more",
        ),
        InstanceErrorKind::FactoryFailed => (
            Code::FactoryFailed,
            "ask the backend's author; its log may say more",
        ),
        InstanceErrorKind::TableInvalid => (
            Code::TableInvalid,
            "the backend was built against a damaged or another interface; rebuild it",
        ),
        InstanceErrorKind::InitializeFailed => (
            Code::InitializeFailed,
            "check the options given to the backend",
        ),
    };
    Refusal::new(Stage::Create, code, error.message).with_hint(hint)
}
