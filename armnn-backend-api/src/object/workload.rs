//! Workloads.

use std::sync::Arc;

use super::{Object, null_argument};
use crate::{
    guard::{Poison, guard_raw},
    host::{ExecutionContext, Inputs, Outputs},
    sys::{self, ArmnnError, ArmnnExecution, ArmnnStatus, ArmnnWorkload},
    traits::Workload,
};

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
