//! Whether something was made in this process, or in one that this one was forked from.
//!
//! A forked child has the thread that forked and no other, so whatever waits for another thread of
//! before waits for ever. Asking the kernel who one is would take longer than a small layer; here a
//! counter is read, which goes up in each child.

#[cfg(unix)]
use std::sync::{
    Once,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

/// The process that something was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

#[cfg(unix)]
static FORKS: AtomicU32 = AtomicU32::new(0);
/// How many calls of the dynamic linker are running in all threads.
#[cfg(unix)]
static LINKER_CALLS: AtomicU32 = AtomicU32::new(0);
/// Whether one was running when this process was forked.
#[cfg(unix)]
static LINKER_IS_LOST: AtomicBool = AtomicBool::new(false);

impl Process {
    /// This process.
    #[cfg(unix)]
    pub(crate) fn current() -> Self {
        notice_forks();
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// There are no forks.
    #[cfg(not(unix))]
    pub(crate) fn current() -> Self {
        Self(0)
    }

    /// Whether it is this process, and not one that this was forked from.
    #[inline]
    pub(crate) fn is_current(self) -> bool {
        #[cfg(unix)]
        {
            self.0 == FORKS.load(Ordering::Relaxed)
        }
        #[cfg(not(unix))]
        true
    }
}

#[cfg(unix)]
fn notice_forks() {
    unsafe extern "C" {
        fn pthread_atfork(
            prepare: Option<unsafe extern "C" fn()>,
            parent: Option<unsafe extern "C" fn()>,
            child: Option<unsafe extern "C" fn()>,
        ) -> std::ffi::c_int;
    }
    unsafe extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
        if LINKER_CALLS.load(Ordering::Relaxed) > 0 {
            LINKER_IS_LOST.store(true, Ordering::Relaxed);
        }
    }
    static NOTICING: Once = Once::new();
    NOTICING.call_once(|| {
        // SAFETY: the function may be called in a child, where it changes two numbers. The C library
        // forgets it when the code of this library is unloaded.
        if unsafe { pthread_atfork(None, None, Some(in_child)) } != 0 {
            log::warn!("forks of this process will go unnoticed: there is no memory for that");
        }
    });
}

/// A running call of the dynamic linker, which has locks that the C library does not put in order in a
/// forked child.
#[cfg(target_os = "linux")]
pub(crate) struct LinkerCall(());

#[cfg(target_os = "linux")]
impl LinkerCall {
    /// `None` where the call could wait for ever: another thread was in one when this process was
    /// forked.
    pub(crate) fn begin() -> Option<Self> {
        notice_forks();
        if LINKER_IS_LOST.load(Ordering::Relaxed) {
            return None;
        }
        LINKER_CALLS.fetch_add(1, Ordering::SeqCst);
        Some(Self(()))
    }
}

#[cfg(target_os = "linux")]
impl Drop for LinkerCall {
    fn drop(&mut self) {
        LINKER_CALLS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What is to be said where there is no [`LinkerCall`].
#[cfg(target_os = "linux")]
pub(crate) const LINKER_IS_LOST_TEXT: &str = "this process was forked while another thread loaded or \
     unloaded a library, and the dynamic linker would wait for that thread for ever";

/// Whether this process was forked from one that loaded backends. Then a lock may be held by a thread
/// that is not here.
#[cfg(target_os = "linux")]
pub(crate) fn is_forked() -> bool {
    FORKS.load(Ordering::Relaxed) > 0
}

/// Locks a mutex that nobody panics or waits under; `None` where that could take for ever.
#[cfg(target_os = "linux")]
pub(crate) fn lock<T>(mutex: &std::sync::Mutex<T>) -> Option<std::sync::MutexGuard<'_, T>> {
    use std::sync::{PoisonError, TryLockError};
    if !is_forked() {
        return Some(mutex.lock().unwrap_or_else(PoisonError::into_inner));
    }
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
