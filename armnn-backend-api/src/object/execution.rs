//! Executions.

use super::Object;
use crate::{
    guard::guard_raw,
    sys::{self, ArmnnError, ArmnnExecution, ArmnnStatus},
    traits::Execution,
};

type ExecutionObject<E> = Object<ArmnnExecution, E>;

pub(super) const fn execution_table<E: Execution>() -> sys::ArmnnExecutionTable {
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
