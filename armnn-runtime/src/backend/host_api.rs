//! What the host offers to every backend: one static, so that a backend that could not be unmapped
//! may still use it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use armnn_backend_api::sys::{self, ArmnnHostApi, ArmnnStr};

/// The host's functions.
pub(crate) static HOST_API: ArmnnHostApi = ArmnnHostApi {
    struct_size: size_of::<ArmnnHostApi>(),
    api_major: sys::ARMNN_API_MAJOR,
    api_minor: sys::ARMNN_API_MINOR,
    log: Some(log),
    log_enabled: Some(log_enabled),
};

/// The longest message of a backend that is logged whole, in bytes.
const MAX_MESSAGE: usize = 64 * 1024;

fn level(level: u32) -> log::Level {
    match level {
        0 | sys::ARMNN_LOG_ERROR => log::Level::Error,
        sys::ARMNN_LOG_WARN => log::Level::Warn,
        sys::ARMNN_LOG_INFO => log::Level::Info,
        sys::ARMNN_LOG_DEBUG => log::Level::Debug,
        _ => log::Level::Trace,
    }
}

/// # Safety
/// The text is as the interface demands.
unsafe fn text<'a>(s: ArmnnStr) -> std::borrow::Cow<'a, str> {
    if s.ptr.is_null() || s.len == 0 {
        return "".into();
    }
    // SAFETY: by the contract of this function; the length is clamped.
    String::from_utf8_lossy(unsafe {
        std::slice::from_raw_parts(s.ptr.cast(), s.len.min(MAX_MESSAGE))
    })
}

unsafe extern "C" fn log(severity: u32, target: ArmnnStr, message: ArmnnStr) {
    // An application's logger may panic.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the backend passes valid texts.
        let (target, message) = unsafe { (text(target), text(message)) };
        log::log!(target: &target, level(severity), "{message}");
    }));
}

unsafe extern "C" fn log_enabled(severity: u32, target: ArmnnStr) -> u8 {
    catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the backend passes a valid text.
        let target = unsafe { text(target) };
        log::log_enabled!(target: &target, level(severity)).into()
    }))
    .unwrap_or(0)
}
