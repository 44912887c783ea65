//! Model contexts.

use std::{ffi::c_void, ptr::null_mut};

use super::{
    Object, execution::execution_table, null_argument, tensor_handle::handle_into_raw,
    workload::workload_into_raw,
};
use crate::{
    BackendError, Status,
    guard::guard_raw,
    host::{CutOnDrop, OptimizationViews},
    sys::{
        self, ArmnnError, ArmnnExecution, ArmnnModelContext, ArmnnStatus, ArmnnTensorHandle,
        ArmnnWorkload,
    },
    traits::ModelContext,
    view::{SubgraphView, TensorView},
};

type ContextObject<C> = Object<ArmnnModelContext, LinkedContext<C>>;

/// A context, and the link to the host, which is cut after the context is dropped.
pub(super) struct LinkedContext<C> {
    context: C,
    _link: CutOnDrop,
}

impl<C> LinkedContext<C> {
    pub(super) fn new(context: C, link: CutOnDrop) -> Self {
        Self {
            context,
            _link: link,
        }
    }
}

pub(super) const fn context_table<C: ModelContext>() -> sys::ArmnnModelContextTable {
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
            object
                .value
                .context
                .optimize_subgraph_view(graph, &mut views)
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
            let value = object.value.context.create_workload(graph.layer(layer))?;
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
            *execution = match object.value.context.create_execution()? {
                None => null_mut(),
                Some(value) => Object::into_raw(
                    ArmnnExecution {
                        table: const { &execution_table::<C::Execution>() },
                    },
                    object.poison.independent_child(),
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
            let value = object.value.context.create_tensor_handle(tensor)?;
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
            let value = object.value.context.import_host_memory(
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
            *bytes = object.value.context.memory_usage()?.ok_or_else(|| {
                BackendError::with_status(Status::Unimplemented, "the memory is not known")
            })?;
            Ok(())
        })
    }
}
