//! Tensor handles.

use std::{ffi::c_void, ptr::null_mut, sync::Arc};

use super::{Object, null_argument};
use crate::{
    guard::{Poison, guard_raw},
    sys::{self, ArmnnError, ArmnnStatus, ArmnnTensorHandle},
    traits::TensorHandle,
};

pub(super) fn handle_into_raw<H: TensorHandle>(
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
            let memory = object.value.map(read, write)?;
            *data.as_mut().ok_or_else(null_argument)? = memory.as_mut_ptr().cast();
            *byte_len.as_mut().ok_or_else(null_argument)? = memory.len();
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
