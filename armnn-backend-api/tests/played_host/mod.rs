//! A host played by a test: it loads a shared object and drives its tables.

#![allow(dead_code, unused_imports)] // Each test uses a part.

mod execution;

pub use execution::{Execution, Handle, State, Workload, absent, imported, in_memory};

use std::{
    ffi::{c_char, c_void},
    path::Path,
    ptr::null_mut,
    sync::Mutex,
};

use armnn_backend_api::{
    BackendError, OptionValue,
    guard::{error_buffer, read_error},
    raw_option,
    sys::*,
};

use crate::flat_graph::FlatView;

/// What backends logged, in this process.
pub static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub fn owned(s: ArmnnStr) -> String {
    if s.len == 0 {
        return String::new();
    }
    // SAFETY: the backend passes `len` readable bytes.
    let bytes = unsafe { std::slice::from_raw_parts(s.ptr.cast::<u8>(), s.len) };
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn list(values: *const u32, n: usize) -> Vec<u32> {
    if n == 0 {
        return Vec::new();
    }
    // SAFETY: the backend passes `n` readable numbers.
    unsafe { std::slice::from_raw_parts(values, n) }.to_vec()
}

unsafe extern "C" fn log(_: u32, target: ArmnnStr, message: ArmnnStr) {
    LOG.lock()
        .unwrap()
        .push(format!("{}: {}", owned(target), owned(message)));
}

static HOST_API: ArmnnHostApi = ArmnnHostApi {
    struct_size: size_of::<ArmnnHostApi>(),
    api_major: ARMNN_API_MAJOR,
    api_minor: ARMNN_API_MINOR,
    log: Some(log),
    log_enabled: None,
};

/// Makes a call whose last argument is an error buffer.
macro_rules! call {
    ($f:expr $(, $argument:expr)* $(,)?) => {{
        let mut error = error_buffer();
        let status = $f.unwrap()($($argument,)* &mut error);
        read_error(status, &error)
    }};
}

use call;

/// A backend that was loaded and made, and not yet initialised.
pub struct Backend {
    raw: *mut IBackendInternal,
    library: libloading::Library,
}

// SAFETY: the functions of a backend may be called from any thread, and tests share it only where
// the interface allows that.
unsafe impl Send for Backend {}
// SAFETY: as above.
unsafe impl Sync for Backend {}

impl Backend {
    pub fn load(path: &Path) -> Self {
        // SAFETY: the library was built by the test, of a source that keeps the interface.
        unsafe {
            let library = libloading::Library::new(path).unwrap();
            let factory = library
                .get::<ArmnnBackendFactoryFunction>(b"BackendFactory")
                .unwrap();
            let raw = factory();
            assert!(!raw.is_null());
            Self { raw, library }
        }
    }

    pub fn id(&self) -> String {
        // SAFETY: as in `load`.
        unsafe {
            let id = self
                .library
                .get::<ArmnnGetBackendIdFunction>(b"GetBackendId")
                .unwrap()();
            std::ffi::CStr::from_ptr(id.cast::<c_char>())
                .to_str()
                .unwrap()
                .to_owned()
        }
    }

    pub fn table(&self) -> &ArmnnBackendTable {
        // SAFETY: the object lives until `unload`.
        unsafe { &*(*self.raw).table }
    }

    pub fn initialize(&self, options: &[(&str, OptionValue<'_>)]) -> Result<(), BackendError> {
        let options: Vec<_> = options.iter().map(|&(n, v)| raw_option(n, v)).collect();
        // SAFETY: all arguments are valid for the call.
        unsafe {
            call!(
                self.table().initialize,
                self.raw,
                &HOST_API,
                options.as_ptr(),
                options.len()
            )
        }
    }

    /// The names of the devices found.
    pub fn probe(&self) -> Result<Vec<String>, BackendError> {
        unsafe extern "C" fn add_device(
            host: *mut c_void,
            name: ArmnnStr,
            _: ArmnnStr,
            _: *const ArmnnOption,
            _: usize,
        ) -> ArmnnStatus {
            // SAFETY: `host` is the list below.
            unsafe { (*host.cast::<Vec<String>>()).push(owned(name)) };
            ARMNN_STATUS_OK
        }
        let mut devices: Vec<String> = Vec::new();
        let sink = ArmnnProbeSink {
            struct_size: size_of::<ArmnnProbeSink>(),
            host: (&raw mut devices).cast(),
            add_device: Some(add_device),
        };
        // SAFETY: all arguments are valid for the call.
        unsafe { call!(self.table().probe, self.raw, &sink) }?;
        Ok(devices)
    }

    pub fn capabilities(&self) -> ArmnnCapabilities {
        let mut capabilities = ArmnnCapabilities {
            struct_size: size_of::<ArmnnCapabilities>(),
            kind: 0,
            flags: 0,
        };
        // SAFETY: all arguments are valid for the call.
        unsafe { call!(self.table().get_capabilities, self.raw, &mut capabilities) }.unwrap();
        capabilities
    }

    pub fn is_layer_supported(&self, view: &FlatView, layer: u32) -> Result<(), BackendError> {
        // SAFETY: all arguments are valid for the call.
        unsafe {
            call!(
                self.table().is_layer_supported,
                self.raw,
                &view.raw(),
                layer
            )
        }
    }

    pub fn create_model_context(
        &self,
        options: &[(&str, OptionValue<'_>)],
    ) -> Result<Context, BackendError> {
        let options: Vec<_> = options.iter().map(|&(n, v)| raw_option(n, v)).collect();
        let released = Box::new(Mutex::new(Vec::new()));
        let host = Box::new(ArmnnModelHost {
            struct_size: size_of::<ArmnnModelHost>(),
            host: std::ptr::from_ref(&*released).cast_mut().cast(),
            n_threads: 1,
            reserved: 0,
            release_constant: Some(release_constant),
            parallel_for: Some(parallel_for),
            cache_get: None,
            cache_put: None,
        });
        let mut raw = null_mut();
        // SAFETY: all arguments are valid for the call, and `host` until the context is destroyed.
        unsafe {
            call!(
                self.table().create_model_context,
                self.raw,
                options.as_ptr(),
                options.len(),
                &*host,
                &mut raw,
            )
        }?;
        assert!(!raw.is_null());
        Ok(Context {
            raw,
            _host: host,
            released,
        })
    }

    pub fn shutdown(&self) -> Result<(), BackendError> {
        if self.table().shutdown.is_none() {
            return Ok(());
        }
        // SAFETY: the test calls nothing else on the backend meanwhile.
        unsafe { call!(self.table().shutdown, self.raw) }
    }

    /// Destroys the backend and closes the library.
    pub fn unload(self) {
        // SAFETY: the test has dropped everything that the backend made.
        unsafe { self.table().destroy.unwrap()(self.raw) };
        self.library.close().unwrap();
    }
}

unsafe extern "C" fn release_constant(host: *mut c_void, constant_id: u64) {
    // SAFETY: `host` is the list of the context.
    unsafe { &*host.cast::<Mutex<Vec<u64>>>() }
        .lock()
        .unwrap()
        .push(constant_id);
}

unsafe extern "C" fn parallel_for(
    _: *mut c_void,
    n_tasks: u32,
    body: Option<unsafe extern "C" fn(*mut c_void, u32, u32)>,
    data: *mut c_void,
) -> ArmnnStatus {
    for task in 0..n_tasks {
        // SAFETY: the backend passes a body and what belongs to it.
        unsafe { body.unwrap()(data, task, 0) };
    }
    ARMNN_STATUS_OK
}

/// A model context, with its host.
pub struct Context {
    raw: *mut ArmnnModelContext,
    _host: Box<ArmnnModelHost>,
    released: Box<Mutex<Vec<u64>>>,
}

/// The answer to `optimize_subgraph_view`.
#[derive(Default)]
pub struct Answer {
    pub claims: Vec<Claim>,
    pub failed: Vec<(Vec<u32>, String)>,
}

pub struct Claim {
    pub layers: Vec<u32>,
    pub inputs: Vec<u32>,
    pub outputs: Vec<u32>,
    pub workload: Workload,
}

impl Context {
    fn table(&self) -> &ArmnnModelContextTable {
        // SAFETY: the object lives as long as `self`.
        unsafe { &*(*self.raw).table }
    }

    /// Ids of the constants released so far, in order.
    pub fn released(&self) -> Vec<u64> {
        self.released.lock().unwrap().clone()
    }

    pub fn optimize(&self, view: &FlatView) -> Result<Answer, BackendError> {
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
            // SAFETY: `host` is the answer below.
            unsafe { &mut *host.cast::<Answer>() }.claims.push(Claim {
                layers: list(layers, n_layers),
                inputs: list(inputs, n_inputs),
                outputs: list(outputs, n_outputs),
                workload: Workload(workload),
            });
            ARMNN_STATUS_OK
        }
        unsafe extern "C" fn add_failed(
            host: *mut c_void,
            layers: *const u32,
            n_layers: usize,
            reason: ArmnnStr,
        ) -> ArmnnStatus {
            // SAFETY: `host` is the answer below.
            unsafe { &mut *host.cast::<Answer>() }
                .failed
                .push((list(layers, n_layers), owned(reason)));
            ARMNN_STATUS_OK
        }
        let mut answer = Answer::default();
        let mut views = ArmnnOptimizationViews {
            struct_size: size_of::<ArmnnOptimizationViews>(),
            host: (&raw mut answer).cast(),
            add_precompiled: Some(add_precompiled),
            add_failed: Some(add_failed),
        };
        // SAFETY: all arguments are valid for the call.
        unsafe {
            call!(
                self.table().optimize_subgraph_view,
                self.raw,
                &view.raw(),
                &mut views
            )
        }?;
        Ok(answer)
    }

    pub fn create_workload(&self, view: &FlatView, layer: u32) -> Result<Workload, BackendError> {
        let mut raw = null_mut();
        // SAFETY: all arguments are valid for the call.
        unsafe {
            call!(
                self.table().create_workload,
                self.raw,
                &view.raw(),
                layer,
                &mut raw
            )
        }?;
        Ok(Workload(raw))
    }

    pub fn create_execution(&self) -> Execution {
        let mut raw = null_mut();
        // SAFETY: all arguments are valid for the call.
        unsafe { call!(self.table().create_execution, self.raw, &mut raw) }.unwrap();
        assert!(!raw.is_null());
        Execution(raw)
    }

    pub fn create_tensor_handle(&self, tensor: &ArmnnTensorDesc) -> Handle {
        let mut raw = null_mut();
        // SAFETY: all arguments are valid for the call.
        unsafe {
            call!(
                self.table().create_tensor_handle,
                self.raw,
                tensor,
                &mut raw
            )
        }
        .unwrap();
        assert!(!raw.is_null());
        Handle(raw)
    }

    pub fn import_host_memory(&self, memory: &mut [f32]) -> Handle {
        let mut raw = null_mut();
        // SAFETY: the test keeps the memory until the handle is dropped.
        unsafe {
            call!(
                self.table().import_host_memory,
                self.raw,
                memory.as_mut_ptr().cast(),
                size_of_val(memory),
                ARMNN_MAP_READ | ARMNN_MAP_WRITE,
                &mut raw,
            )
        }
        .unwrap();
        assert!(!raw.is_null());
        Handle(raw)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the test has dropped everything that the context made.
        unsafe { self.table().destroy.unwrap()(self.raw) }
    }
}

/// Whether a file is mapped into this process.
pub fn is_mapped(path: &Path) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.contains(path.to_str().unwrap())
}
