//! Parallel loops on the host's threads.

use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    BackendError, Result, Status,
    guard::panic_message,
    sys::{self, ArmnnStatus},
};

/// Runs `body` for each task through a `parallel_for` of the host. A panic in a body ends up here,
/// on the calling thread, when all tasks are done.
pub(super) unsafe fn run_parallel<F: Fn(u32, u32) + Sync>(
    parallel_for: Option<
        unsafe extern "C" fn(
            *mut c_void,
            u32,
            Option<unsafe extern "C" fn(*mut c_void, u32, u32)>,
            *mut c_void,
        ) -> ArmnnStatus,
    >,
    host: *mut c_void,
    n_tasks: u32,
    body: F,
) -> Result<()> {
    struct Job<F> {
        body: F,
        panicked: AtomicBool,
        message: Mutex<Option<String>>,
    }
    unsafe extern "C" fn call<F: Fn(u32, u32) + Sync>(data: *mut c_void, task: u32, thread: u32) {
        // SAFETY: `data` is the job below, which outlives the call of `parallel_for`.
        let job = unsafe { &*data.cast::<Job<F>>() };
        if job.panicked.load(Ordering::Relaxed) {
            return;
        }
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (job.body)(task, thread))) {
            job.panicked.store(true, Ordering::Relaxed);
            let message = panic_message(payload);
            if let Ok(mut slot) = job.message.lock() {
                slot.get_or_insert(message);
            }
        }
    }
    let job = Job {
        body,
        panicked: AtomicBool::new(false),
        message: Mutex::new(None),
    };
    let status = match parallel_for {
        // SAFETY: the job outlives the call, and its body is `Sync`.
        Some(f) => unsafe {
            f(
                host,
                n_tasks,
                Some(call::<F>),
                std::ptr::from_ref(&job).cast_mut().cast(),
            )
        },
        None => {
            (0..n_tasks).for_each(|task| (job.body)(task, 0));
            sys::ARMNN_STATUS_OK
        }
    };
    if let Some(message) = job.message.into_inner().unwrap_or_default() {
        panic!("in a parallel body: {message}");
    }
    if status == sys::ARMNN_STATUS_OK {
        Ok(())
    } else {
        Err(BackendError::with_status(
            Status(status),
            "the host's parallel_for failed",
        ))
    }
}
