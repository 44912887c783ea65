//! The backends of one runtime.

use std::{path::PathBuf, sync::Arc};

use armnn_backend_api::{BackendId, BackendVersion, sys};

use crate::backend::BackendInstance;

/// `GetBackendId`: returns the backend's id as a constant, NUL-terminated text.
#[doc(alias = "IdFunction")]
pub type BackendIdFunction = sys::ArmnnGetBackendIdFunction;

/// `GetVersion`: stores major and minor of the interface that the backend was built against.
pub type VersionFunction = sys::ArmnnGetVersionFunction;

/// `BackendFactory`: makes a new instance of the backend, which the caller then owns.
pub type FactoryFunction = sys::ArmnnBackendFactoryFunction;

/// The backends of one runtime, static ones first, in the order in which they were registered.
///
/// Each runtime has a registry of its own, with instances of its own.
#[derive(Default)]
pub struct BackendRegistry {
    backends: Vec<RegisteredBackend>,
}

/// A backend of a registry.
pub struct RegisteredBackend {
    /// Where it comes from.
    origin: Origin,
    factory: FactoryFunction,
    instance: Arc<BackendInstance>,
}

/// Where a backend comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is linked into the program.
    Static,
    /// It was loaded from a shared object.
    Dynamic(PathBuf),
}

/// A backend of the same id is registered already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a backend of the id {0} is registered already")]
pub struct AlreadyRegistered(pub BackendId);

impl BackendRegistry {
    /// Adds a backend.
    pub(crate) fn register(
        &mut self,
        origin: Origin,
        factory: FactoryFunction,
        instance: Arc<BackendInstance>,
    ) -> Result<(), AlreadyRegistered> {
        if self.is_registered(instance.id()) {
            return Err(AlreadyRegistered(instance.id().clone()));
        }
        self.backends.push(RegisteredBackend {
            origin,
            factory,
            instance,
        });
        Ok(())
    }

    /// How many there are.
    #[doc(alias = "Size")]
    pub fn len(&self) -> usize {
        self.backends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.backends.is_empty()
    }

    /// Whether there is a backend of this id.
    #[doc(alias = "IsBackendRegistered")]
    pub fn is_registered(&self, id: &BackendId) -> bool {
        self.get(id).is_some()
    }

    /// The backend of an id.
    pub fn get(&self, id: &BackendId) -> Option<&RegisteredBackend> {
        self.backends.iter().find(|backend| backend.id() == id)
    }

    /// The backends, in the order in which they were registered.
    pub fn iter(&self) -> impl Iterator<Item = &RegisteredBackend> {
        self.backends.iter()
    }

    /// The ids, in the order in which they were registered.
    #[doc(alias = "GetBackendIds")]
    pub fn backend_ids(&self) -> Vec<BackendId> {
        self.backends
            .iter()
            .map(|backend| backend.id().clone())
            .collect()
    }

    pub(crate) fn into_backends(self) -> Vec<RegisteredBackend> {
        self.backends
    }
}

impl RegisteredBackend {
    /// Its id.
    pub fn id(&self) -> &BackendId {
        self.instance.id()
    }

    /// The interface version that it was built against.
    pub fn version(&self) -> BackendVersion {
        self.instance.version()
    }

    /// Where it comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What makes further instances. Their owner has to destroy them before the runtime is gone.
    #[doc(alias = "GetFactory")]
    pub fn factory(&self) -> FactoryFunction {
        self.factory
    }

    pub(crate) fn instance(&self) -> &Arc<BackendInstance> {
        &self.instance
    }

    pub(crate) fn into_instance(self) -> Arc<BackendInstance> {
        self.instance
    }
}
