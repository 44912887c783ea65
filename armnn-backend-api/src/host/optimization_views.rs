//! A backend's answer to the question which subgraphs it takes whole.

use std::{marker::PhantomData, sync::Arc};

use super::host_result;
use crate::{
    BackendError, Result, Status,
    guard::Poison,
    object::workload_into_raw,
    slot, sys,
    traits::Workload,
    view::{LayerIndex, TensorIndex, raw_text},
};

/// Where a backend writes its answer to
/// [`optimize_subgraph_view`](crate::ModelContext::optimize_subgraph_view). `E` is the backend's
/// own execution.
pub struct OptimizationViews<'a, E> {
    raw: &'a mut sys::ArmnnOptimizationViews,
    poison: &'a Arc<Poison>,
    execution: PhantomData<fn(E)>,
}

impl<'a, E: 'static> OptimizationViews<'a, E> {
    pub(crate) unsafe fn from_raw(
        raw: &'a mut sys::ArmnnOptimizationViews,
        poison: &'a Arc<Poison>,
    ) -> Self {
        Self {
            raw,
            poison,
            execution: PhantomData,
        }
    }

    /// Claims layers, to be executed by one workload.
    ///
    /// `inputs` are the tensors that the layers read and do not produce, constants left out;
    /// `outputs` those that they produce and that are read outside; both in the order in which
    /// the workload wants them. The layers must be convex: no path leads out of them and back in.
    ///
    /// # Errors
    /// When the host refuses the claim; the workload is dropped.
    pub fn add_precompiled(
        &mut self,
        layers: &[LayerIndex],
        inputs: &[TensorIndex],
        outputs: &[TensorIndex],
        workload: Box<dyn Workload<E>>,
    ) -> Result<()> {
        // SAFETY: the host vouches for its table; the slices are valid for the call, and the host
        // takes the workload.
        let status = unsafe {
            let f =
                slot!(self.raw, sys::ArmnnOptimizationViews, add_precompiled).ok_or_else(|| {
                    BackendError::with_status(Status::Unimplemented, "add_precompiled")
                })?;
            f(
                self.raw.host,
                layers.as_ptr(),
                layers.len(),
                inputs.as_ptr(),
                inputs.len(),
                outputs.as_ptr(),
                outputs.len(),
                workload_into_raw(workload, self.poison),
            )
        };
        host_result(status, "the host refused the claim")
    }

    /// Gives up layers, with a reason. The host assigns them anew.
    ///
    /// # Errors
    /// When the host refuses the answer.
    pub fn add_failed(&mut self, layers: &[LayerIndex], reason: &str) -> Result<()> {
        // SAFETY: the host vouches for its table; slice and text are valid for the call.
        let status = unsafe {
            let f = slot!(self.raw, sys::ArmnnOptimizationViews, add_failed)
                .ok_or_else(|| BackendError::with_status(Status::Unimplemented, "add_failed"))?;
            f(
                self.raw.host,
                layers.as_ptr(),
                layers.len(),
                raw_text(reason),
            )
        };
        host_result(status, "the host refused the answer")
    }
}
