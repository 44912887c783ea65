//! Wire objects made of a backend's Rust values: each is a table pointer, a poison and the value.
//!
//! Every function in a table here guards: a panic of the backend becomes a status.

use std::{ffi::c_void, ptr::null_mut, sync::Arc};

use crate::{
    BackendError, Status,
    guard::{Poison, guard_drop, guard_raw, write_error},
    host::{ExecutionContext, HostApi, Inputs, ModelHost, OptimizationViews, Outputs, ProbeSink},
    options::Options,
    sys::{
        self, ArmnnError, ArmnnExecution, ArmnnModelContext, ArmnnOption, ArmnnStatus,
        ArmnnTensorHandle, ArmnnWorkload, IBackendInternal as RawBackend,
    },
    traits::{Execution, IBackendInternal, ModelContext, TensorHandle, Workload},
    view::{SubgraphView, TensorView, raw_text},
};

/// A wire object: `H` is its head, whose only field is the table pointer.
#[repr(C)]
struct Object<H, T> {
    head: H,
    poison: Arc<Poison>,
    value: T,
}

impl<H, T> Object<H, T> {
    fn into_raw(head: H, poison: Arc<Poison>, value: T) -> *mut H {
        Box::into_raw(Box::new(Self {
            head,
            poison,
            value,
        }))
        .cast()
    }

    /// # Safety
    /// `raw` was made by `into_raw` with the same `T`, and is not used mutably elsewhere.
    unsafe fn get<'a>(raw: *const H) -> &'a Self {
        // SAFETY: by the contract of this function; the head is the first field.
        unsafe { &*raw.cast::<Self>() }
    }

    /// # Safety
    /// As for `get`, and not used elsewhere at all.
    unsafe fn get_mut<'a>(raw: *mut H) -> &'a mut Self {
        // SAFETY: by the contract of this function.
        unsafe { &mut *raw.cast::<Self>() }
    }

    /// # Safety
    /// As for `get_mut`; `raw` is not used any more. `poison` outlives the value, whose destructor
    /// may panic.
    unsafe fn destroy(raw: *mut H, what: &str) {
        if raw.is_null() {
            return;
        }
        // SAFETY: by the contract of this function.
        let object = unsafe { Box::from_raw(raw.cast::<Self>()) };
        let Self {
            head: _,
            poison,
            value,
        } = *object;
        guard_drop(&poison, what, move || drop(value));
    }
}

fn null_argument() -> BackendError {
    BackendError::invalid_argument("the host passed a null pointer")
}

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
            let value = object
                .value
                .get()?
                .create_model_context(options, ModelHost::from_raw(host))?;
            *context = Object::into_raw(
                ArmnnModelContext {
                    table: const { &context_table::<B::ModelContext>() },
                },
                object.poison.child(),
                value,
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

type ContextObject<C> = Object<ArmnnModelContext, C>;

const fn context_table<C: ModelContext>() -> sys::ArmnnModelContextTable {
    sys::ArmnnModelContextTable {
        struct_size: size_of::<sys::ArmnnModelContextTable>(),
        destroy: Some(context_destroy::<C>),
        optimize_subgraph_view: Some(context_optimize_subgraph_view::<C>),
        create_workload: Some(context_create_workload::<C>),
        create_execution: Some(context_create_execution::<C>),
        create_tensor_handle: Some(context_create_tensor_handle::<C>),
        import_host_memory: Some(context_import_host_memory::<C>),
        memory_usage: Some(context_memory_usage::<C>),
    }
}

unsafe extern "C" fn context_destroy<C: ModelContext>(raw: *mut ArmnnModelContext) {
    // SAFETY: the host passes the object that this table belongs to, and never again.
    unsafe { ContextObject::<C>::destroy(raw, "model context") }
}

unsafe extern "C" fn context_optimize_subgraph_view<C: ModelContext>(
    raw: *mut ArmnnModelContext,
    graph: *const sys::ArmnnSubgraphView,
    views: *mut sys::ArmnnOptimizationViews,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments, and makes one call at a time.
    unsafe {
        let object = ContextObject::<C>::get_mut(raw);
        guard_raw(error, &object.poison, || {
            let graph = SubgraphView::from_raw(graph.as_ref().ok_or_else(null_argument)?);
            let views = views.as_mut().ok_or_else(null_argument)?;
            let mut views = OptimizationViews::from_raw(views, &object.poison);
            object.value.optimize_subgraph_view(graph, &mut views)
        })
    }
}

unsafe extern "C" fn context_create_workload<C: ModelContext>(
    raw: *mut ArmnnModelContext,
    graph: *const sys::ArmnnSubgraphView,
    layer: u32,
    workload: *mut *mut ArmnnWorkload,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments, and makes one call at a time.
    unsafe {
        let object = ContextObject::<C>::get_mut(raw);
        guard_raw(error, &object.poison, || {
            let graph = SubgraphView::from_raw(graph.as_ref().ok_or_else(null_argument)?);
            let workload = workload.as_mut().ok_or_else(null_argument)?;
            let value = object.value.create_workload(graph.layer(layer))?;
            *workload = workload_into_raw(value, &object.poison);
            Ok(())
        })
    }
}

unsafe extern "C" fn context_create_execution<C: ModelContext>(
    raw: *mut ArmnnModelContext,
    execution: *mut *mut ArmnnExecution,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments, and makes one call at a time.
    unsafe {
        let object = ContextObject::<C>::get_mut(raw);
        guard_raw(error, &object.poison, || {
            let execution = execution.as_mut().ok_or_else(null_argument)?;
            *execution = match object.value.create_execution()? {
                None => null_mut(),
                Some(value) => Object::into_raw(
                    ArmnnExecution {
                        table: const { &execution_table::<C::Execution>() },
                    },
                    // Not below the context's: what was started is still waited for when that panics.
                    Poison::root(),
                    value,
                ),
            };
            Ok(())
        })
    }
}

unsafe extern "C" fn context_create_tensor_handle<C: ModelContext>(
    raw: *mut ArmnnModelContext,
    tensor: *const sys::ArmnnTensorDesc,
    handle: *mut *mut ArmnnTensorHandle,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments, and makes one call at a time.
    unsafe {
        let object = ContextObject::<C>::get_mut(raw);
        guard_raw(error, &object.poison, || {
            let tensor = TensorView::from_raw(tensor.as_ref().ok_or_else(null_argument)?);
            let handle = handle.as_mut().ok_or_else(null_argument)?;
            let value = object.value.create_tensor_handle(tensor)?;
            *handle = handle_into_raw(value, &object.poison);
            Ok(())
        })
    }
}

unsafe extern "C" fn context_import_host_memory<C: ModelContext>(
    raw: *mut ArmnnModelContext,
    data: *mut c_void,
    byte_len: usize,
    access: u32,
    handle: *mut *mut ArmnnTensorHandle,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments, makes one call at a time, and keeps the memory
    // until the handle is destroyed.
    unsafe {
        let object = ContextObject::<C>::get_mut(raw);
        guard_raw(error, &object.poison, || {
            let handle = handle.as_mut().ok_or_else(null_argument)?;
            let value = object.value.import_host_memory(
                data.cast(),
                byte_len,
                access & sys::ARMNN_MAP_READ != 0,
                access & sys::ARMNN_MAP_WRITE != 0,
            )?;
            *handle = handle_into_raw(value, &object.poison);
            Ok(())
        })
    }
}

unsafe extern "C" fn context_memory_usage<C: ModelContext>(
    raw: *mut ArmnnModelContext,
    bytes: *mut u64,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments, and makes one call at a time.
    unsafe {
        let object = ContextObject::<C>::get_mut(raw);
        guard_raw(error, &object.poison, || {
            let bytes = bytes.as_mut().ok_or_else(null_argument)?;
            *bytes = object.value.memory_usage()?.ok_or_else(|| {
                BackendError::with_status(Status::Unimplemented, "the memory is not known")
            })?;
            Ok(())
        })
    }
}

fn handle_into_raw<H: TensorHandle>(
    value: Option<H>,
    poison: &Arc<Poison>,
) -> *mut ArmnnTensorHandle {
    match value {
        None => null_mut(),
        Some(value) => Object::into_raw(
            ArmnnTensorHandle {
                table: const { &handle_table::<H>() },
            },
            poison.child(),
            value,
        ),
    }
}

type WorkloadObject<E> = Object<ArmnnWorkload, Box<dyn Workload<E>>>;

/// Makes the wire object of a workload, below the context that `parent` belongs to.
pub(crate) fn workload_into_raw<E: 'static>(
    value: Box<dyn Workload<E>>,
    parent: &Arc<Poison>,
) -> *mut ArmnnWorkload {
    Object::into_raw(
        ArmnnWorkload {
            table: const { &workload_table::<E>() },
        },
        parent.child(),
        value,
    )
}

const fn workload_table<E: 'static>() -> sys::ArmnnWorkloadTable {
    sys::ArmnnWorkloadTable {
        struct_size: size_of::<sys::ArmnnWorkloadTable>(),
        destroy: Some(workload_destroy::<E>),
        memory_requirements: Some(workload_memory_requirements::<E>),
        execute: Some(workload_execute::<E>),
    }
}

unsafe extern "C" fn workload_destroy<E: 'static>(raw: *mut ArmnnWorkload) {
    // SAFETY: the host passes the object that this table belongs to, and never again.
    unsafe { WorkloadObject::<E>::destroy(raw, "workload") }
}

unsafe extern "C" fn workload_memory_requirements<E: 'static>(
    raw: *const ArmnnWorkload,
    scratch_len: *mut usize,
    alignment: *mut usize,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments.
    unsafe {
        let object = WorkloadObject::<E>::get(raw);
        guard_raw(error, &object.poison, || {
            let requirements = object.value.memory_requirements()?;
            *scratch_len.as_mut().ok_or_else(null_argument)? = requirements.scratch_len;
            *alignment.as_mut().ok_or_else(null_argument)? = requirements.alignment;
            Ok(())
        })
    }
}

unsafe extern "C" fn workload_execute<E: 'static>(
    raw: *const ArmnnWorkload,
    execution: *mut ArmnnExecution,
    context: *const sys::ArmnnExecutionContext,
    inputs: *const sys::ArmnnTensor,
    n_inputs: usize,
    input_stride: usize,
    outputs: *mut sys::ArmnnTensor,
    n_outputs: usize,
    output_stride: usize,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments; the execution was made by the same context, so it
    // is of type `E`, and only this thread uses it.
    unsafe {
        let object = WorkloadObject::<E>::get(raw);
        guard_raw(error, &object.poison, || {
            let context = context.as_ref().ok_or_else(null_argument)?;
            let execution = if execution.is_null() {
                None
            } else {
                let execution = Object::<ArmnnExecution, E>::get_mut(execution);
                execution.poison.check()?;
                Some(&mut execution.value)
            };
            object.value.execute(
                &mut ExecutionContext::from_raw(context, execution),
                Inputs::from_raw(inputs, n_inputs, input_stride),
                &mut Outputs::from_raw(outputs, n_outputs, output_stride),
            )
        })
    }
}

type ExecutionObject<E> = Object<ArmnnExecution, E>;

const fn execution_table<E: Execution>() -> sys::ArmnnExecutionTable {
    sys::ArmnnExecutionTable {
        struct_size: size_of::<sys::ArmnnExecutionTable>(),
        destroy: Some(execution_destroy::<E>),
        flush: Some(execution_flush::<E>),
        wait: Some(execution_wait::<E>),
    }
}

unsafe extern "C" fn execution_destroy<E: Execution>(raw: *mut ArmnnExecution) {
    // SAFETY: the host passes the object that this table belongs to, and never again.
    unsafe { ExecutionObject::<E>::destroy(raw, "execution") }
}

unsafe extern "C" fn execution_flush<E: Execution>(
    raw: *mut ArmnnExecution,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes the object, which one thread uses at a time.
    unsafe {
        let object = ExecutionObject::<E>::get_mut(raw);
        guard_raw(error, &object.poison, || object.value.flush())
    }
}

unsafe extern "C" fn execution_wait<E: Execution>(
    raw: *mut ArmnnExecution,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes the object, which one thread uses at a time.
    unsafe {
        let object = ExecutionObject::<E>::get_mut(raw);
        guard_raw(error, &object.poison, || object.value.wait())
    }
}

type HandleObject<H> = Object<ArmnnTensorHandle, H>;

const fn handle_table<H: TensorHandle>() -> sys::ArmnnTensorHandleTable {
    sys::ArmnnTensorHandleTable {
        struct_size: size_of::<sys::ArmnnTensorHandleTable>(),
        destroy: Some(handle_destroy::<H>),
        map: Some(handle_map::<H>),
        unmap: Some(handle_unmap::<H>),
    }
}

unsafe extern "C" fn handle_destroy<H: TensorHandle>(raw: *mut ArmnnTensorHandle) {
    // SAFETY: the host passes the object that this table belongs to, and never again.
    unsafe { HandleObject::<H>::destroy(raw, "tensor handle") }
}

unsafe extern "C" fn handle_map<H: TensorHandle>(
    raw: *mut ArmnnTensorHandle,
    access: u32,
    data: *mut *mut c_void,
    byte_len: *mut usize,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes valid arguments; one thread uses the handle at a time.
    unsafe {
        let object = HandleObject::<H>::get_mut(raw);
        guard_raw(error, &object.poison, || {
            let read = access & sys::ARMNN_MAP_READ != 0;
            let write = access & sys::ARMNN_MAP_WRITE != 0;
            let (address, len) = object.value.map(read, write)?;
            *data.as_mut().ok_or_else(null_argument)? = address.cast();
            *byte_len.as_mut().ok_or_else(null_argument)? = len;
            Ok(())
        })
    }
}

unsafe extern "C" fn handle_unmap<H: TensorHandle>(
    raw: *mut ArmnnTensorHandle,
    error: *mut ArmnnError,
) -> ArmnnStatus {
    // SAFETY: the host passes the object, which one thread uses at a time.
    unsafe {
        let object = HandleObject::<H>::get_mut(raw);
        guard_raw(error, &object.poison, || object.value.unmap())
    }
}

/// The value behind a handle that this backend made, to use it in
/// [`Workload::execute`](crate::Workload::execute).
///
/// # Safety
/// `raw` is the `handle` of an [`ArmnnTensor`](sys::ArmnnTensor) of this call, was made by a model
/// context whose `TensorHandle` is `H`, and is not used otherwise meanwhile.
pub unsafe fn handle_value<'a, H: TensorHandle>(raw: *mut ArmnnTensorHandle) -> Option<&'a mut H> {
    if raw.is_null() {
        return None;
    }
    // SAFETY: by the contract of this function.
    Some(unsafe { &mut HandleObject::<H>::get_mut(raw).value })
}
