//! A host played by a test: it loads a shared object and drives its tables.

#![allow(dead_code)] // Each test uses a part.

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

use crate::flat_graph::{FlatView, Padded};

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

pub struct Workload(*mut ArmnnWorkload);

// SAFETY: several threads may execute a workload.
unsafe impl Send for Workload {}
// SAFETY: as above.
unsafe impl Sync for Workload {}

/// Takes the name of a step, the ids of its layers, start and end.
pub type Profile<'a> = &'a (dyn Fn(String, Vec<u32>, u64, u64) + Sync);

/// What is borrowed from the host until the `wait` that covers the calls, as in an execution state.
#[derive(Default)]
pub struct State<'a> {
    pub execution: Option<Execution>,
    scratch: Vec<Vec<u64>>,
    profile: Option<Box<Profile<'a>>>,
}

impl<'a> State<'a> {
    pub fn new(execution: Option<Execution>, profile: Option<Profile<'a>>) -> Self {
        Self {
            execution,
            scratch: Vec::new(),
            profile: profile.map(Box::new),
        }
    }

    pub fn execution(&self) -> &Execution {
        self.execution.as_ref().unwrap()
    }
}

impl Workload {
    fn table(&self) -> &ArmnnWorkloadTable {
        // SAFETY: the object lives as long as `self`.
        unsafe { &*(*self.0).table }
    }

    /// Every struct passed is gone when this returns; memory, scratch and `profile` are not.
    ///
    /// # Safety
    /// What the tensors point to is valid until the `wait` that covers the call.
    pub unsafe fn execute(
        &self,
        state: &mut State<'_>,
        inputs: &[ArmnnTensor],
        outputs: &[ArmnnTensor],
    ) -> Result<(), BackendError> {
        unsafe extern "C" fn profile(
            host: *mut c_void,
            step: ArmnnStr,
            layer_ids: *const u32,
            n: usize,
            start_ns: u64,
            end_ns: u64,
        ) {
            // SAFETY: `host` is what the state holds.
            let f = unsafe { &*host.cast::<Profile<'_>>() };
            f(owned(step), list(layer_ids, n), start_ns, end_ns);
        }
        let (mut scratch_len, mut alignment) = (0, 1);
        if self.table().memory_requirements.is_some() {
            // SAFETY: all arguments are valid for the call.
            unsafe {
                call!(
                    self.table().memory_requirements,
                    self.0,
                    &mut scratch_len,
                    &mut alignment
                )
            }?;
        }
        assert!(alignment.is_power_of_two() && alignment <= 64);
        let mut scratch = vec![u64::MAX; scratch_len.div_ceil(8) + 8];
        let start = scratch.as_mut_ptr();
        state.scratch.push(scratch);
        let context = Box::new(ArmnnExecutionContext {
            struct_size: size_of::<ArmnnExecutionContext>(),
            host: state
                .profile
                .as_ref()
                .map_or(null_mut(), |p| std::ptr::from_ref(&**p).cast_mut().cast()),
            // SAFETY: there are 64 bytes more than asked for.
            scratch: unsafe { start.byte_add(start.align_offset(8) * 8) }.cast(),
            scratch_len,
            n_threads: 1,
            reserved: 0,
            parallel_for: Some(parallel_for),
            allocate_output: None,
            profile: state.profile.as_ref().map(|_| profile as _),
        });
        let inputs: Vec<_> = inputs.iter().map(|&t| Padded::new(t)).collect();
        let mut outputs: Vec<_> = outputs.iter().map(|&t| Padded::new(t)).collect();
        let stride = Padded::<ArmnnTensor>::STRIDE;
        // SAFETY: all arguments are valid for the call, and by the contract of this function.
        unsafe {
            call!(
                self.table().execute,
                self.0,
                state.execution.as_ref().map_or(null_mut(), |e| e.0),
                &*context,
                inputs.as_ptr().cast(),
                inputs.len(),
                stride,
                outputs.as_mut_ptr().cast(),
                outputs.len(),
                stride,
            )
        }
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        // SAFETY: no call is running.
        unsafe { self.table().destroy.unwrap()(self.0) }
    }
}

pub struct Execution(*mut ArmnnExecution);

// SAFETY: an execution is used by one thread at a time.
unsafe impl Send for Execution {}

impl Execution {
    fn table(&self) -> &ArmnnExecutionTable {
        // SAFETY: the object lives as long as `self`.
        unsafe { &*(*self.0).table }
    }

    pub fn flush(&self) -> Result<(), BackendError> {
        // SAFETY: all arguments are valid for the call.
        unsafe { call!(self.table().flush, self.0) }
    }

    pub fn wait(&self) -> Result<(), BackendError> {
        // SAFETY: all arguments are valid for the call.
        unsafe { call!(self.table().wait, self.0) }
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        // SAFETY: the test waited.
        unsafe { self.table().destroy.unwrap()(self.0) }
    }
}

pub struct Handle(*mut ArmnnTensorHandle);

impl Handle {
    fn table(&self) -> &ArmnnTensorHandleTable {
        // SAFETY: the object lives as long as `self`.
        unsafe { &*(*self.0).table }
    }

    /// Lets `f` see, and with `ARMNN_MAP_WRITE` change, the elements.
    pub fn mapped<R>(&self, access: u32, f: impl FnOnce(&mut [f32]) -> R) -> R {
        let (mut data, mut byte_len) = (null_mut(), 0);
        // SAFETY: all arguments are valid for the call, and the backend gives `byte_len` bytes.
        let result = unsafe {
            call!(self.table().map, self.0, access, &mut data, &mut byte_len).unwrap();
            f(std::slice::from_raw_parts_mut(
                data.cast(),
                byte_len / size_of::<f32>(),
            ))
        };
        // SAFETY: all arguments are valid for the call.
        unsafe { call!(self.table().unmap, self.0) }.unwrap();
        result
    }

    pub fn read(&self) -> Vec<f32> {
        self.mapped(ARMNN_MAP_READ, |elements| elements.to_vec())
    }

    /// A tensor that is only in this handle.
    pub fn tensor(&self, desc: &ArmnnTensorDesc) -> ArmnnTensor {
        ArmnnTensor {
            handle: self.0,
            ..absent(desc)
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: nothing uses it any more.
        unsafe { self.table().destroy.unwrap()(self.0) }
    }
}

/// A tensor without memory.
pub fn absent(desc: &ArmnnTensorDesc) -> ArmnnTensor {
    ArmnnTensor {
        struct_size: size_of::<ArmnnTensor>(),
        data: null_mut(),
        byte_len: desc.byte_len,
        handle: null_mut(),
        offset: 0,
        shape: desc.shape,
    }
}

/// A tensor in host memory.
pub fn in_memory(desc: &ArmnnTensorDesc, memory: &mut [f32]) -> ArmnnTensor {
    assert_eq!(size_of_val(memory), desc.byte_len);
    ArmnnTensor {
        data: memory.as_mut_ptr().cast(),
        ..absent(desc)
    }
}

/// A tensor in imported host memory, from element `start` on.
pub fn imported(
    desc: &ArmnnTensorDesc,
    memory: &mut [f32],
    handle: &Handle,
    start: usize,
) -> ArmnnTensor {
    ArmnnTensor {
        data: memory[start..].as_mut_ptr().cast(),
        handle: handle.0,
        offset: (start * size_of::<f32>()) as u64,
        ..absent(desc)
    }
}

/// Whether a file is mapped into this process.
pub fn is_mapped(path: &Path) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.contains(path.to_str().unwrap())
}
