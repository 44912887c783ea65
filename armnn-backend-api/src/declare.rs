//! The exports of a backend: in a shared object, and linked in.

use std::{
    ffi::{CStr, c_char},
    marker::PhantomData,
};

use crate::{BackendId, BackendVersion, object::backend_into_raw, sys, traits::IBackendInternal};

/// Makes a shared object of a backend: emits the three exports `GetBackendId`, `GetVersion` and
/// `BackendFactory`, and the backend note.
///
/// Stands once in a crate of type `cdylib` that does nothing else, since two crates with these
/// exports cannot be linked into one program. There is a whole example on
/// [the front page](crate).
#[macro_export]
macro_rules! declare_backend {
    ($Backend:ty) => {
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn GetBackendId() -> *const ::core::ffi::c_char {
            $crate::Exports::<$Backend>::get_backend_id()
        }

        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn GetVersion(major: *mut u32, minor: *mut u32) {
            // SAFETY: the caller passes what the interface demands.
            unsafe { $crate::Exports::<$Backend>::get_version(major, minor) }
        }

        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn BackendFactory() -> *mut $crate::sys::IBackendInternal {
            $crate::Exports::<$Backend>::backend_factory()
        }

        #[doc(hidden)]
        #[used]
        #[unsafe(link_section = ".note.armnn")]
        static ARMNN_NOTE: $crate::sys::ArmnnNote = $crate::sys::ArmnnNote::new(
            <$Backend as $crate::IBackendInternal>::ID,
            $crate::TOOLCHAIN,
            env!("CARGO_PKG_VERSION"),
            if cfg!(panic = "unwind") {
                $crate::sys::ARMNN_NOTE_FLAG_PANIC_UNWIND
            } else {
                0
            } | $crate::LAYOUT_EXPORT_FLAG,
        );

        $crate::__declare_layout!();
    };
}

#[doc(hidden)]
pub struct Exports<B>(PhantomData<B>);

impl<B: IBackendInternal> Exports<B> {
    const ID: [u8; BackendId::MAX_LEN + 1] = {
        assert!(BackendId::is_valid(B::ID), "not a valid backend id");
        let bytes = B::ID.as_bytes();
        let mut id = [0; BackendId::MAX_LEN + 1];
        let mut i = 0;
        while i < bytes.len() {
            id[i] = bytes[i];
            i += 1;
        }
        id
    };

    pub fn get_backend_id() -> *const c_char {
        (const { &Self::ID }).as_ptr().cast()
    }

    /// # Safety
    /// Each pointer is null or valid for a write.
    pub unsafe fn get_version(major: *mut u32, minor: *mut u32) {
        // SAFETY: by the contract of this function.
        unsafe {
            if let Some(major) = major.as_mut() {
                *major = sys::ARMNN_API_MAJOR;
            }
            if let Some(minor) = minor.as_mut() {
                *minor = sys::ARMNN_API_MINOR;
            }
        }
    }

    pub fn backend_factory() -> *mut sys::IBackendInternal {
        backend_into_raw::<B>(true)
    }
}

/// A backend that is linked into the program: the same three functions that a shared object
/// exports, made in process.
///
/// It is registered by an explicit call; nothing happens before `main`.
#[derive(Clone, Copy, Debug)]
pub struct StaticBackend {
    get_backend_id: sys::ArmnnGetBackendIdFunction,
    get_version: sys::ArmnnGetVersionFunction,
    backend_factory: sys::ArmnnBackendFactoryFunction,
}

impl StaticBackend {
    /// The functions of a backend in Rust.
    pub const fn new<B: IBackendInternal>() -> Self {
        unsafe extern "C" fn get_backend_id<B: IBackendInternal>() -> *const c_char {
            Exports::<B>::get_backend_id()
        }
        unsafe extern "C" fn get_version<B: IBackendInternal>(major: *mut u32, minor: *mut u32) {
            // SAFETY: the caller passes what the interface demands.
            unsafe { Exports::<B>::get_version(major, minor) }
        }
        unsafe extern "C" fn backend_factory<B: IBackendInternal>() -> *mut sys::IBackendInternal {
            backend_into_raw::<B>(false)
        }
        Self {
            get_backend_id: get_backend_id::<B>,
            get_version: get_version::<B>,
            backend_factory: backend_factory::<B>,
        }
    }

    /// The functions of a backend in C or C++ that is linked into the program, under names of its own.
    ///
    /// # Safety
    /// The functions do what the interface demands of `GetBackendId`, `GetVersion` and
    /// `BackendFactory`.
    pub const unsafe fn from_functions(
        get_backend_id: sys::ArmnnGetBackendIdFunction,
        get_version: sys::ArmnnGetVersionFunction,
        backend_factory: sys::ArmnnBackendFactoryFunction,
    ) -> Self {
        Self {
            get_backend_id,
            get_version,
            backend_factory,
        }
    }

    /// The id, as it was given; empty if it is null.
    pub fn id(&self) -> &'static CStr {
        // SAFETY: the function returns a constant, NUL-terminated text, or null.
        unsafe {
            let id = (self.get_backend_id)();
            if id.is_null() {
                c""
            } else {
                CStr::from_ptr(id)
            }
        }
    }

    /// What makes instances.
    pub const fn factory(&self) -> sys::ArmnnBackendFactoryFunction {
        self.backend_factory
    }

    /// The interface version that the backend was built against.
    pub fn version(&self) -> BackendVersion {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are valid.
        unsafe { (self.get_version)(&mut major, &mut minor) };
        BackendVersion::new(major, minor)
    }
}
