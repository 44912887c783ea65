//! Wire objects made of a backend's Rust values: each is a table pointer, a poison and the value.
//!
//! Every function in a table here guards: a panic of the backend becomes a status.

mod backend;
mod execution;
mod model_context;
mod tensor_handle;
mod workload;

pub use backend::backend_into_raw;
pub use tensor_handle::handle_value;
pub(crate) use workload::workload_into_raw;

use std::sync::Arc;

use crate::{
    BackendError,
    guard::{Poison, guard_drop},
};

/// A wire object: `H` is its head, whose only field is the table pointer.
#[repr(C)]
struct Object<H, T> {
    head: H,
    poison: Arc<Poison>,
    value: T,
}

impl<H, T> Object<H, T> {
    fn into_raw(head: H, poison: Arc<Poison>, value: T) -> *mut H {
        Box::into_raw(Box::new(Self {
            head,
            poison,
            value,
        }))
        .cast()
    }

    /// # Safety
    /// `raw` was made by `into_raw` with the same `T`, and is not used mutably elsewhere.
    unsafe fn get<'a>(raw: *const H) -> &'a Self {
        // SAFETY: by the contract of this function; the head is the first field.
        unsafe { &*raw.cast::<Self>() }
    }

    /// # Safety
    /// As for `get`, and not used elsewhere at all.
    unsafe fn get_mut<'a>(raw: *mut H) -> &'a mut Self {
        // SAFETY: by the contract of this function.
        unsafe { &mut *raw.cast::<Self>() }
    }

    /// # Safety
    /// As for `get_mut`; `raw` is not used any more. `poison` outlives the value, whose destructor
    /// may panic.
    unsafe fn destroy(raw: *mut H, what: &str) {
        if raw.is_null() {
            return;
        }
        // SAFETY: by the contract of this function.
        let object = unsafe { Box::from_raw(raw.cast::<Self>()) };
        let Self {
            head: _,
            poison,
            value,
        } = *object;
        guard_drop(&poison, what, move || drop(value));
    }
}

fn null_argument() -> BackendError {
    BackendError::invalid_argument("the host passed a null pointer")
}
