//! Where a backend's answer to `optimize_subgraph_view` is collected.

use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use armnn_backend_api::sys::{self, ArmnnOptimizationViews, ArmnnStatus, ArmnnStr, ArmnnWorkload};

use super::{ModelContextHandle, WorkloadHandle};

/// A backend's answer, as given; what it says of layers and tensors is checked by the planner.
pub(crate) struct Claims {
    context: Arc<ModelContextHandle>,
    /// Layers to be executed by one workload.
    pub(crate) precompiled: Vec<Claim>,
    /// Layers given up, with the reason.
    pub(crate) failed: Vec<(Vec<u32>, String)>,
    /// What was wrong with the answer in itself.
    pub(crate) error: Option<String>,
}

/// Layers to be executed by one workload; indices of the view.
pub(crate) struct Claim {
    pub(crate) layers: Vec<u32>,
    pub(crate) inputs: Vec<u32>,
    pub(crate) outputs: Vec<u32>,
    pub(crate) workload: WorkloadHandle,
}

/// A backend that lists more than this in one claim is not believed.
const MAX_LEN: usize = 1 << 24;

impl Claims {
    pub(super) fn new(context: Arc<ModelContextHandle>) -> Self {
        Self {
            context,
            precompiled: Vec::new(),
            failed: Vec::new(),
            error: None,
        }
    }

    /// The host object; valid while `self` is not moved.
    pub(super) fn raw(&mut self) -> ArmnnOptimizationViews {
        ArmnnOptimizationViews {
            struct_size: size_of::<ArmnnOptimizationViews>(),
            host: std::ptr::from_mut(self).cast(),
            add_precompiled: Some(add_precompiled),
            add_failed: Some(add_failed),
        }
    }

    fn refuse(&mut self, message: String) -> ArmnnStatus {
        self.error.get_or_insert(message);
        sys::ARMNN_STATUS_INVALID_ARGUMENT
    }
}

/// # Safety
/// `len` indices at `data` are readable, unless `len` is out of bounds.
unsafe fn indices(data: *const u32, len: usize) -> Option<Vec<u32>> {
    match len {
        0 => Some(Vec::new()),
        _ if data.is_null() || len > MAX_LEN => None,
        // SAFETY: by the contract of this function.
        _ => Some(unsafe { std::slice::from_raw_parts(data, len) }.to_vec()),
    }
}

unsafe extern "C" fn add_precompiled(
    host: *mut c_void,
    layers: *const u32,
    n_layers: usize,
    inputs: *const u32,
    n_inputs: usize,
    outputs: *const u32,
    n_outputs: usize,
    workload: *mut ArmnnWorkload,
) -> ArmnnStatus {
    catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `host` is the `Claims` that was given with this function.
        let claims = unsafe { &mut *host.cast::<Claims>() };
        // SAFETY: the workload is the host's from here on.
        let workload = match unsafe { WorkloadHandle::new(workload, Arc::clone(&claims.context)) } {
            Ok(workload) => workload,
            Err(e) => return claims.refuse(e.to_string()),
        };
        // SAFETY: the backend passes valid arrays.
        let lists = unsafe {
            (
                indices(layers, n_layers),
                indices(inputs, n_inputs),
                indices(outputs, n_outputs),
            )
        };
        let (Some(layers), Some(inputs), Some(outputs)) = lists else {
            return claims.refuse("a claim has a null list".into());
        };
        claims.precompiled.push(Claim {
            layers,
            inputs,
            outputs,
            workload,
        });
        sys::ARMNN_STATUS_OK
    }))
    .unwrap_or(sys::ARMNN_STATUS_PANIC)
}

unsafe extern "C" fn add_failed(
    host: *mut c_void,
    layers: *const u32,
    n_layers: usize,
    reason: ArmnnStr,
) -> ArmnnStatus {
    catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `host` is the `Claims` that was given with this function.
        let claims = unsafe { &mut *host.cast::<Claims>() };
        // SAFETY: the backend passes a valid array.
        let Some(layers) = (unsafe { indices(layers, n_layers) }) else {
            return claims.refuse("a list of failed layers is null".into());
        };
        let reason = if reason.ptr.is_null() {
            String::new()
        } else {
            // SAFETY: the backend passes a valid text; the length is clamped.
            let bytes = unsafe {
                std::slice::from_raw_parts(reason.ptr.cast::<u8>(), reason.len.min(4096))
            };
            String::from_utf8_lossy(bytes).into_owned()
        };
        claims.failed.push((layers, reason));
        sys::ARMNN_STATUS_OK
    }))
    .unwrap_or(sys::ARMNN_STATUS_PANIC)
}
