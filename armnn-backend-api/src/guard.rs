//! Guards: nothing unwinds across the boundary, and what panicked is not used again.

use std::{
    any::Any,
    mem::offset_of,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
};

use crate::{
    BackendError, Result, Status,
    sys::{self, ArmnnError},
};

/// Whether an object, or one of those that made it, panicked. Poison flows downwards: from a
/// backend to its model contexts, and from those to what they made.
#[derive(Debug, Default)]
pub struct Poison {
    message: OnceLock<Box<str>>,
    /// A panic in a destructor of what the backend made; kept by the backend's own alone.
    destructor: OnceLock<Box<str>>,
    parent: Option<Arc<Poison>>,
    /// Whether poison of the parent does not flow here.
    is_independent: bool,
}

impl Poison {
    /// Of an object that nobody made.
    pub fn root() -> Arc<Self> {
        Arc::default()
    }

    /// Of an object made by the one that `self` belongs to.
    pub fn child(self: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self {
            parent: Some(Arc::clone(self)),
            ..Self::default()
        })
    }

    /// Of an object made by the one that `self` belongs to, which is used also when that one panicked:
    /// an execution, whose work must still be waited for. No new work gets there then, since
    /// workloads are poisoned.
    pub fn independent_child(self: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self {
            parent: Some(Arc::clone(self)),
            is_independent: true,
            ..Self::default()
        })
    }

    /// Marks the object. The first message stays.
    pub fn set(&self, message: &str) {
        let _ = self.message.set(message.into());
    }

    /// The message, if the object or one of those that made it is marked.
    pub fn get(&self) -> Option<&str> {
        let mut poison = self;
        loop {
            if let Some(message) = poison.message.get() {
                return Some(message);
            }
            if poison.is_independent {
                return None;
            }
            poison = poison.parent.as_deref()?;
        }
    }

    /// Notes a panic in the destructor of the object. The call that destroys cannot report it, so
    /// the backend remembers it until it is shut down.
    fn set_in_destructor(&self, message: &str) {
        self.set(message);
        let mut backend = self;
        while let Some(parent) = backend.parent.as_deref() {
            backend = parent;
        }
        let _ = backend.destructor.set(message.into());
    }

    /// The first panic in a destructor of anything that the backend made, for the backend itself.
    pub fn panic_in_destructor(&self) -> Option<&str> {
        self.destructor.get().map(|message| &**message)
    }

    /// An error if the object cannot be used any more.
    ///
    /// # Errors
    /// With status [`Status::Poisoned`] and the message of the panic.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.get() {
            None => Ok(()),
            Some(message) => Err(poisoned(message)),
        }
    }
}

#[cold]
fn poisoned(message: &str) -> BackendError {
    BackendError::with_status(
        Status::Poisoned,
        format!("an earlier call panicked ({message}); the object cannot be used any more"),
    )
}

/// Runs `f`; a panic in it becomes an error and marks `poison`, and a marked object is not run.
#[inline]
pub fn guard<T>(poison: &Poison, f: impl FnOnce() -> Result<T>) -> Result<T> {
    poison.check()?;
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => result,
        Err(payload) => {
            let message = panic_message(payload);
            poison.set(&message);
            Err(BackendError::with_status(Status::Panic, message))
        }
    }
}

/// Like [`guard`], with the outcome as it goes over the wire.
///
/// # Safety
/// `error` is null or points to an [`ArmnnError`] as its documentation demands.
#[inline]
pub unsafe fn guard_raw(
    error: *mut ArmnnError,
    poison: &Poison,
    f: impl FnOnce() -> Result<()>,
) -> sys::ArmnnStatus {
    match guard(poison, f) {
        Ok(()) => sys::ARMNN_STATUS_OK,
        // SAFETY: by the contract of this function.
        Err(e) => unsafe { write_error(error, &e) },
    }
}

/// Runs a destructor; a panic in it is logged, marks `poison`, and is
/// [remembered](Poison::panic_in_destructor) by the backend.
pub fn guard_drop(poison: &Poison, what: &str, f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        let message = panic_message(payload);
        let message = format!("a panic while a {what} was destroyed: {message}");
        log::error!("{message}");
        poison.set_in_destructor(&message);
    }
}

/// The text of a panic. The payload's own destructor may panic as well; then it is leaked.
#[cold]
pub fn panic_message(payload: Box<dyn Any + Send>) -> String {
    let message = payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without text".to_owned());
    if let Err(second) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        std::mem::forget(second);
    }
    message
}

/// Writes an error into the caller's buffer, and returns its status. A message that is too long
/// is cut between characters.
///
/// # Safety
/// `error` is null or points to an [`ArmnnError`] as its documentation demands.
#[cold]
pub unsafe fn write_error(error: *mut ArmnnError, e: &BackendError) -> sys::ArmnnStatus {
    let status = if e.status() == Status::Ok {
        Status::Error
    } else {
        e.status()
    };
    if !error.is_null() {
        // SAFETY: the caller's struct is at least as long as its `struct_size` says; no byte
        // beyond that is written.
        unsafe {
            let room = (*error)
                .struct_size
                .saturating_sub(offset_of!(ArmnnError, message))
                .min(sys::ARMNN_ERROR_MESSAGE_SIZE);
            let message = e.message();
            let mut len = message.len().min(room);
            while !message.is_char_boundary(len) {
                len -= 1;
            }
            let to = (&raw mut (*error).message).cast::<u8>();
            std::ptr::copy_nonoverlapping(message.as_ptr(), to, len);
            (*error).len = len as u32;
            (*error).status = status.0;
            if room > 0 {
                (*error).layer_id = e.layer_id().unwrap_or(sys::ARMNN_NO_LAYER);
            }
        }
    }
    status.0
}

/// Makes an empty buffer for an error.
pub fn error_buffer() -> ArmnnError {
    ArmnnError {
        struct_size: size_of::<ArmnnError>(),
        status: sys::ARMNN_STATUS_OK,
        len: 0,
        layer_id: sys::ARMNN_NO_LAYER,
        reserved: 0,
        message: [0; sys::ARMNN_ERROR_MESSAGE_SIZE],
    }
}

/// Reads what the other side returned. Its counts are clamped, and text that is not UTF-8 is made
/// so.
pub fn read_error(status: sys::ArmnnStatus, error: &ArmnnError) -> Result<()> {
    if status == sys::ARMNN_STATUS_OK {
        Ok(())
    } else {
        Err(error_from_raw(status, error))
    }
}

#[cold]
fn error_from_raw(status: sys::ArmnnStatus, error: &ArmnnError) -> BackendError {
    let len = (error.len as usize).min(error.message.len());
    let bytes: Vec<u8> = error.message[..len].iter().map(|&c| c as u8).collect();
    let e = BackendError::with_status(Status(status), String::from_utf8_lossy(&bytes));
    if error.layer_id == sys::ARMNN_NO_LAYER {
        e
    } else {
        e.in_layer(error.layer_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poison_flows_downwards_only() {
        let backend = Poison::root();
        let context = backend.child();
        let (a, b) = (context.child(), context.child());
        assert_eq!(
            guard::<()>(&a, || panic!("boom")),
            Err(BackendError::with_status(Status::Panic, "boom"))
        );
        assert_eq!(a.get(), Some("boom"));
        assert!(b.check().is_ok() && context.check().is_ok() && backend.check().is_ok());
        let execution = context.independent_child();
        backend.set("gone");
        assert_eq!(b.get(), Some("gone"));
        assert_eq!(execution.get(), None);
        assert_eq!(guard(&b, || Ok(1)).unwrap_err().status(), Status::Poisoned);
    }

    #[test]
    fn a_panic_in_a_destructor_is_remembered_by_the_backend_and_poisons_nothing_above() {
        let backend = Poison::root();
        let context = backend.child();
        let workload = context.child();
        guard_drop(&workload, "workload", || panic!("boom"));
        let message = "a panic while a workload was destroyed: boom";
        assert_eq!(workload.get(), Some(message));
        assert!(context.check().is_ok() && backend.check().is_ok());
        assert_eq!(backend.panic_in_destructor(), Some(message));
        assert_eq!(Poison::root().panic_in_destructor(), None);
    }

    #[test]
    fn a_payload_whose_destructor_panics_is_survived() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("in the payload's destructor");
            }
        }
        let e = guard::<()>(&Poison::root(), || std::panic::panic_any(Bomb)).unwrap_err();
        assert_eq!(e.message(), "a panic without text");
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let mut buffer = error_buffer();
        let message = "ü".repeat(300);
        // SAFETY: the buffer is one.
        let status = unsafe { write_error(&mut buffer, &BackendError::new(message)) };
        let read = read_error(status, &buffer).unwrap_err();
        assert_eq!(read.message(), "ü".repeat(248));
    }

    #[test]
    fn a_caller_with_less_room_gets_less() {
        let mut buffer = error_buffer();
        buffer.struct_size = offset_of!(ArmnnError, message) + 3;
        buffer.message[3] = 77;
        // SAFETY: the buffer is one.
        unsafe { write_error(&mut buffer, &BackendError::new("abcdef")) };
        assert_eq!((buffer.len, buffer.message[3]), (3, 77));
    }

    #[test]
    fn counts_of_the_other_side_are_clamped() {
        let mut buffer = error_buffer();
        buffer.len = 100_000;
        assert_eq!(read_error(1, &buffer).unwrap_err().message().len(), 496);
    }
}
