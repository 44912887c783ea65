//! Backends.

use super::{
    Object,
    model_context::{LinkedContext, context_table},
    null_argument,
};
use crate::{
    BackendError, Status,
    guard::{Poison, guard_raw, write_error},
    host::{HostApi, ModelHost, ProbeSink},
    options::Options,
    sys::{
        self, ArmnnError, ArmnnModelContext, ArmnnOption, ArmnnStatus,
        IBackendInternal as RawBackend,
    },
    traits::IBackendInternal,
    view::{SubgraphView, raw_text},
};

/// Makes the wire object of a backend; `forward_log` is for a shared object, whose `log` is its
/// own and has to be led to the host. A panic or an error while the backend is made becomes an
/// object whose `initialize` tells of it.
pub fn backend_into_raw<B: IBackendInternal>(forward_log: bool) -> *mut RawBackend {
    if forward_log {
        crate::log_forward::hook_panics();
    }
    let poison = Poison::root();
    match crate::guard::guard(&poison, B::create) {
        Ok(value) => Object::into_raw(
            RawBackend {
                table: const { &backend_table::<B>() },
            },
            poison,
            Backend {
                value: Some(value),
                forward_log,
            },
        ),
        Err(e) => Object::into_raw(
            RawBackend {
                table: const { &failed_table::<B>() },
            },
            Poison::root(),
            BackendError::with_status(Status::FactoryFailed, e.message()),
        ),
    }
}

struct Backend<B> {
    /// Absent once it is shut down.
    value: Option<B>,
    forward_log: bool,
}

impl<B> Backend<B> {
    fn get(&self) -> crate::Result<&B> {
        self.value.as_ref().ok_or_else(was_shut_down)
    }

    fn get_mut(&mut self) -> crate::Result<&mut B> {
        self.value.as_mut().ok_or_else(was_shut_down)
    }
}

#[cold]
fn was_shut_down() -> BackendError {
    BackendError::invalid_argument("the backend was shut down before")
}

type BackendObject<B> = Object<RawBackend, Backend<B>>;

const fn backend_table<B: IBackendInternal>() -> sys::ArmnnBackendTable {
    sys::ArmnnBackendTable {
        struct_size: size_of::<sys::ArmnnBackendTable>(),
        destroy: Some(backend_destroy::<B>),
        get_id: Some(backend_get_id::<B>),
        initialize: Some(backend_initialize::<B>),
        shutdown: Some(backend_shutdown::<B>),
        is_layer_supported: Some(backend_is_layer_supported::<B>),
        get_capabilities: Some(backend_get_capabilities::<B>),
        probe: Some(backend_probe::<B>),
        create_model_context: Some(backend_create_model_context::<B>),
    }
}

unsafe extern "C" fn backend_destroy<B: IBackendInternal>(raw: *mut RawBackend) {
    // SAFETY: the host passes the object that this table belongs to, and never again.
    unsafe { BackendObject::<B>::destroy(raw, "backend") }
}

unsafe extern "C" fn backend_get_id<B: IBackendInternal>(_: *const RawBackend) -> sys::ArmnnStr {
    raw_text(B::ID)
}

unsafe extern "C" fn backend_initialize<B: IBackendInternal>(
    raw: *mut RawBackend,
    host: *const sys::ArmnnHostApi,
    options: *const ArmnnOption,
    n_options: usize,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments, and makes this call exclusively.
    unsafe {
        let object = BackendObject::<B>::get_mut(raw);
        guard_raw(error, &object.poison, || {
            let host = HostApi::from_raw(host.as_ref().ok_or_else(null_argument)?);
            if object.value.forward_log {
                crate::log_forward::install(host);
            }
            object
                .value
                .get_mut()?
                .initialize(host, Options::from_raw(options, n_options))
        })
    }
}

unsafe extern "C" fn backend_shutdown<B: IBackendInternal>(
    raw: *mut RawBackend,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes the object, and makes this call exclusively.
    unsafe {
        let object = BackendObject::<B>::get_mut(raw);
        guard_raw(error, &object.poison, || {
            object.value.get_mut()?.shutdown()?;
            if let Some(message) = object.poison.panic_in_destructor() {
                return Err(BackendError::with_status(Status::Panic, message));
            }
            // Here and not in `destroy`, which has no way to tell of a panic.
            drop(object.value.value.take());
            Ok(())
        })
    }
}

unsafe extern "C" fn backend_is_layer_supported<B: IBackendInternal>(
    raw: *const RawBackend,
    graph: *const sys::ArmnnSubgraphView,
    layer: u32,
    reason: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments.
    unsafe {
        let object = BackendObject::<B>::get(raw);
        guard_raw(reason, &object.poison, || {
            let graph = SubgraphView::from_raw(graph.as_ref().ok_or_else(null_argument)?);
            object.value.get()?.is_layer_supported(graph.layer(layer))
        })
    }
}

unsafe extern "C" fn backend_get_capabilities<B: IBackendInternal>(
    raw: *const RawBackend,
    capabilities: *mut sys::ArmnnCapabilities,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments; its struct is at least as long as this minor's.
    unsafe {
        let object = BackendObject::<B>::get(raw);
        guard_raw(error, &object.poison, || {
            let to = capabilities.as_mut().ok_or_else(null_argument)?;
            let capabilities = object.value.get()?.capabilities();
            to.kind = capabilities.kind.0;
            to.flags = capabilities.flags;
            Ok(())
        })
    }
}

unsafe extern "C" fn backend_probe<B: IBackendInternal>(
    raw: *mut RawBackend,
    sink: *const sys::ArmnnProbeSink,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments.
    unsafe {
        let object = BackendObject::<B>::get(raw);
        guard_raw(error, &object.poison, || {
            let mut sink = ProbeSink::from_raw(sink.as_ref().ok_or_else(null_argument)?);
            object.value.get()?.probe(&mut sink)
        })
    }
}

unsafe extern "C" fn backend_create_model_context<B: IBackendInternal>(
    raw: *mut RawBackend,
    options: *const ArmnnOption,
    n_options: usize,
    host: *const sys::ArmnnModelHost,
    context: *mut *mut ArmnnModelContext,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments.
    unsafe {
        let object = BackendObject::<B>::get(raw);
        guard_raw(error, &object.poison, || {
            if host.is_null() || context.is_null() {
                return Err(null_argument());
            }
            let options = Options::from_raw(options, n_options);
            // If it fails, the host is out of reach from here on.
            let (host, link) = ModelHost::from_raw(host);
            let value = object.value.get()?.create_model_context(options, host)?;
            *context = Object::into_raw(
                ArmnnModelContext {
                    table: const { &context_table::<B::ModelContext>() },
                },
                object.poison.child(),
                LinkedContext::new(value, link),
            );
            Ok(())
        })
    }
}

/// The table of an object that stands for a factory that failed.
const fn failed_table<B: IBackendInternal>() -> sys::ArmnnBackendTable {
    unsafe extern "C" fn destroy(raw: *mut RawBackend) {
        // SAFETY: the host passes the object that this table belongs to, and never again.
        unsafe { Object::<RawBackend, BackendError>::destroy(raw, "backend") }
    }
    unsafe extern "C" fn initialize(
        raw: *mut RawBackend,
        _: *const sys::ArmnnHostApi,
        _: *const ArmnnOption,
        _: usize,
        error: *mut ArmnnError,
    ) -> ArmnnStatus {
        // SAFETY: the host passes the object that this table belongs to.
        unsafe { write_error(error, &Object::<RawBackend, BackendError>::get(raw).value) }
    }
    unsafe extern "C" fn is_layer_supported(
        _: *const RawBackend,
        _: *const sys::ArmnnSubgraphView,
        _: u32,
        _: *mut ArmnnError,
    ) -> ArmnnStatus {
        sys::ARMNN_STATUS_FACTORY_FAILED
    }
    unsafe extern "C" fn create_model_context(
        _: *mut RawBackend,
        _: *const ArmnnOption,
        _: usize,
        _: *const sys::ArmnnModelHost,
        _: *mut *mut ArmnnModelContext,
        _: *mut ArmnnError,
    ) -> ArmnnStatus {
        sys::ARMNN_STATUS_FACTORY_FAILED
    }
    sys::ArmnnBackendTable {
        struct_size: size_of::<sys::ArmnnBackendTable>(),
        destroy: Some(destroy),
        get_id: Some(backend_get_id::<B>),
        initialize: Some(initialize),
        shutdown: None,
        is_layer_supported: Some(is_layer_supported),
        get_capabilities: None,
        probe: None,
        create_model_context: Some(create_model_context),
    }
}
