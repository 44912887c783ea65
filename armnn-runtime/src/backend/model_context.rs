//! What a backend holds for one loaded network.

use std::{
    collections::HashSet,
    ffi::c_void,
    mem::ManuallyDrop,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    ptr::{NonNull, null_mut},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use armnn_backend_api::{
    BackendError, Status,
    guard::Poison,
    raw_option, slot,
    sys::{self, ArmnnModelContext, ArmnnModelContextTable},
};

use super::{
    BackendInstance, Claims, ErrorBuffer, ExecutionHandle, TensorHandleRef, WorkloadHandle,
    instance::{check_aligned, check_size, mandatory},
};
use crate::{
    blob_cache::BlobCache, error::ExecuteError, options::BackendOption, thread_pool::ThreadPool,
};

/// A model context of a backend.
pub(crate) struct ModelContextHandle {
    raw: NonNull<ArmnnModelContext>,
    functions: Functions,
    poison: Arc<Poison>,
    // Set when something that the context made panicked: it is leaked, and so is the context.
    tainted: OnceLock<()>,
    // Set when the backend lost its device.
    device_lost: OnceLock<BackendError>,
    // One call at a time.
    calls: Mutex<()>,
    // The context may use it until it is destroyed.
    host: ManuallyDrop<Box<Host>>,
    // Dropped last.
    backend: Arc<BackendInstance>,
}

// SAFETY: calls are serialised by `calls`; the interface lets them come from any thread.
unsafe impl Send for ModelContextHandle {}
// SAFETY: as above.
unsafe impl Sync for ModelContextHandle {}

struct Functions {
    destroy: unsafe extern "C" fn(*mut ArmnnModelContext),
    create_workload: unsafe extern "C" fn(
        *mut ArmnnModelContext,
        *const sys::ArmnnSubgraphView,
        u32,
        *mut *mut sys::ArmnnWorkload,
        *mut sys::ArmnnError,
    ) -> sys::ArmnnStatus,
}

/// The host object behind a context.
struct Host {
    raw: sys::ArmnnModelHost,
    pool: Arc<ThreadPool>,
    cache: Option<BlobCache>,
    released: Mutex<HashSet<u64>>,
    // Constants whose data was in a view.
    shown: Mutex<HashSet<u64>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ModelContextHandle {
    /// Makes a context.
    pub(crate) fn new(
        backend: &Arc<BackendInstance>,
        options: &[BackendOption],
        pool: &Arc<ThreadPool>,
        cache_directory: Option<&Path>,
    ) -> Result<Arc<Self>, BackendError> {
        let cache = cache_directory
            .map(|directory| BlobCache::new(directory, backend.id(), backend.version()));
        let has_cache = cache.is_some();
        let mut host = Box::new(Host {
            raw: sys::ArmnnModelHost {
                struct_size: size_of::<sys::ArmnnModelHost>(),
                host: null_mut(),
                n_threads: pool.n_threads(),
                reserved: 0,
                release_constant: Some(release_constant),
                parallel_for: Some(parallel_for),
                cache_get: has_cache.then_some(cache_get),
                cache_put: has_cache.then_some(cache_put),
            },
            cache,
            pool: Arc::clone(pool),
            released: Mutex::default(),
            shown: Mutex::default(),
        });
        host.raw.host = std::ptr::from_ref::<Host>(&host).cast_mut().cast();
        let options: Vec<_> = options
            .iter()
            .map(|o| raw_option(&o.name, o.value.as_option_value()))
            .collect();
        // SAFETY: the host object is boxed, and outlives the context.
        let raw = unsafe { backend.create_model_context(&options, &host.raw) }?;
        let invalid = |message: String| backend.made_invalid("model context", &message);
        let raw = NonNull::new(raw).ok_or_else(|| invalid("a null pointer".into()))?;
        check_aligned(raw, "model context").map_err(invalid)?;
        // SAFETY: the backend returned an object; only what its table covers is read, and an object
        // that is refused is destroyed.
        let functions = unsafe {
            let table = (*raw.as_ptr()).table;
            check_size(table, size_of::<usize>(), "model context").map_err(invalid)?;
            let destroy = mandatory(slot!(table, ArmnnModelContextTable, destroy), "destroy")
                .map_err(invalid)?;
            let create_workload = mandatory(
                slot!(table, ArmnnModelContextTable, create_workload),
                "create_workload",
            )
            .map_err(|message| {
                destroy(raw.as_ptr());
                invalid(message)
            })?;
            Functions {
                destroy,
                create_workload,
            }
        };
        Ok(Arc::new(Self {
            raw,
            functions,
            poison: backend.poison().child(),
            tainted: OnceLock::new(),
            device_lost: OnceLock::new(),
            calls: Mutex::default(),
            host: ManuallyDrop::new(host),
            backend: Arc::clone(backend),
        }))
    }

    /// The backend.
    pub(crate) fn backend(&self) -> &Arc<BackendInstance> {
        &self.backend
    }

    /// The parent of the poison of all that the context makes.
    pub(crate) fn poison(&self) -> &Arc<Poison> {
        &self.poison
    }

    /// Notes that something the context made panicked and is leaked: neither the context nor the
    /// backend is destroyed then, since what was leaked may lead to them.
    pub(super) fn taint(&self, message: &str) {
        let _ = self.tainted.set(());
        self.backend.taint(message);
    }

    /// Whether something that the context made panicked, or no function of the backend may be called:
    /// then all of it stays as it is.
    pub(super) fn is_tainted(&self) -> bool {
        self.tainted.get().is_some() || self.backend.out_of_reach().is_some()
    }

    /// Notes that the backend lost its device: the network cannot be used on it any more.
    pub(crate) fn set_device_lost(&self, message: &str) {
        let e = BackendError::with_status(
            Status::DeviceLost,
            format!("{message}; the network cannot be used on this backend any more, load it anew"),
        );
        let _ = self.device_lost.set(e);
    }

    /// An error if the backend lost its device.
    pub(crate) fn check_device(&self) -> Result<(), ExecuteError> {
        match self.device_lost.get() {
            None => Ok(()),
            Some(e) => Err(ExecuteError {
                backend: Some(self.backend.id().clone()),
                layers: Vec::new(),
                source: e.clone(),
            }),
        }
    }

    /// Whether the context said that it reads a constant no more.
    pub(crate) fn has_released(&self, constant_id: u64) -> bool {
        lock(&self.host.released).contains(&constant_id)
    }

    /// Whether the context was shown a constant's data, and may read it still.
    pub(crate) fn holds(&self, constant_id: u64) -> bool {
        lock(&self.host.shown).contains(&constant_id) && !self.has_released(constant_id)
    }

    /// The functions of the context; an error if none may be called, nor looked at. Looks at the
    /// backend's file, so that it is for what is not done in every execution.
    fn table(&self) -> Result<*const ArmnnModelContextTable, BackendError> {
        self.backend.check_reach()?;
        // SAFETY: the object lives, and its table was checked.
        Ok(unsafe { (*self.raw.as_ptr()).table })
    }

    /// Lets the backend claim layers of a view; the first that it sees of the view. `constants`
    /// are those that the view shows with data.
    pub(crate) fn optimize_subgraph_view(
        self: &Arc<Self>,
        graph: &sys::ArmnnSubgraphView,
        constants: impl Iterator<Item = u64>,
    ) -> Result<Claims, BackendError> {
        lock(&self.host.shown).extend(constants);
        let mut claims = Claims::new(Arc::clone(self));
        // SAFETY: the table was checked.
        let f = unsafe {
            slot!(
                self.table()?,
                ArmnnModelContextTable,
                optimize_subgraph_view
            )
        };
        if let Some(f) = f {
            let _call = lock(&self.calls);
            let mut views = claims.raw();
            // SAFETY: the arguments are valid for the call, and it is the only one.
            ErrorBuffer::new().call(&self.poison, |error| unsafe {
                f(self.raw.as_ptr(), graph, &mut views, error)
            })?;
        }
        Ok(claims)
    }

    /// Makes a workload for one layer of a view.
    pub(crate) fn create_workload(
        self: &Arc<Self>,
        graph: &sys::ArmnnSubgraphView,
        layer: u32,
    ) -> Result<WorkloadHandle, BackendError> {
        self.backend.check_reach()?;
        let mut raw = null_mut();
        {
            let _call = lock(&self.calls);
            // SAFETY: the arguments are valid for the call, and it is the only one.
            ErrorBuffer::new().call(&self.poison, |error| unsafe {
                (self.functions.create_workload)(self.raw.as_ptr(), graph, layer, &mut raw, error)
            })?;
        }
        // SAFETY: the context made the object.
        unsafe { WorkloadHandle::new(raw, Arc::clone(self)) }
    }

    /// Makes an execution, if the backend is asynchronous.
    pub(crate) fn create_execution(
        self: &Arc<Self>,
    ) -> Result<Option<ExecutionHandle>, BackendError> {
        // SAFETY: the table was checked.
        let f = unsafe { slot!(self.table()?, ArmnnModelContextTable, create_execution) };
        let Some(f) = f else { return Ok(None) };
        let mut raw = null_mut();
        {
            let _call = lock(&self.calls);
            // SAFETY: the arguments are valid for the call, and it is the only one.
            ErrorBuffer::new().call(&self.poison, |error| unsafe {
                f(self.raw.as_ptr(), &mut raw, error)
            })?;
        }
        // SAFETY: the context made the object.
        unsafe { ExecutionHandle::new(raw, Arc::clone(self)) }
    }

    /// Whether the backend may want handles for tensors.
    pub(crate) fn makes_tensor_handles(&self) -> bool {
        let slot = |table| {
            // SAFETY: the table was checked.
            unsafe { slot!(table, ArmnnModelContextTable, create_tensor_handle) }
        };
        self.table().is_ok_and(|table| slot(table).is_some())
    }

    /// Makes a handle for a tensor, if the backend wants that.
    pub(crate) fn create_tensor_handle(
        self: &Arc<Self>,
        tensor: &sys::ArmnnTensorDesc,
    ) -> Result<Option<TensorHandleRef>, BackendError> {
        // SAFETY: the table was checked.
        let f = unsafe { slot!(self.table()?, ArmnnModelContextTable, create_tensor_handle) };
        let Some(f) = f else { return Ok(None) };
        let mut raw = null_mut();
        {
            let _call = lock(&self.calls);
            // SAFETY: the arguments are valid for the call, and it is the only one.
            ErrorBuffer::new().call(&self.poison, |error| unsafe {
                f(self.raw.as_ptr(), tensor, &mut raw, error)
            })?;
        }
        // SAFETY: the context made the object.
        unsafe { TensorHandleRef::new(raw, Arc::clone(self)) }
    }

    /// Bytes that the context holds; `None` if the backend does not tell.
    pub(crate) fn memory_usage(&self) -> Result<Option<u64>, BackendError> {
        // SAFETY: the table was checked.
        let f = unsafe { slot!(self.table()?, ArmnnModelContextTable, memory_usage) };
        let Some(f) = f else { return Ok(None) };
        let mut bytes = 0;
        let _call = lock(&self.calls);
        // SAFETY: the arguments are valid for the call, and it is the only one.
        let result = ErrorBuffer::new().call(&self.poison, |error| unsafe {
            f(self.raw.as_ptr(), &mut bytes, error)
        });
        match result {
            Ok(()) => Ok(Some(bytes)),
            Err(e) if e.status() == Status::Unimplemented => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Makes host memory accessible to the backend's device, if the backend wants that.
    ///
    /// # Safety
    /// The memory stays valid until the handle is dropped.
    pub(crate) unsafe fn import_host_memory(
        self: &Arc<Self>,
        data: *mut u8,
        byte_len: usize,
    ) -> Result<Option<TensorHandleRef>, BackendError> {
        // SAFETY: the table was checked.
        let f = unsafe { slot!(self.table()?, ArmnnModelContextTable, import_host_memory) };
        let Some(f) = f else { return Ok(None) };
        let mut raw = null_mut();
        {
            let _call = lock(&self.calls);
            // SAFETY: the arguments are valid, by the contract of this function, and it is the
            // only call.
            ErrorBuffer::new().call(&self.poison, |error| unsafe {
                f(
                    self.raw.as_ptr(),
                    data.cast(),
                    byte_len,
                    sys::ARMNN_MAP_READ | sys::ARMNN_MAP_WRITE,
                    &mut raw,
                    error,
                )
            })?;
        }
        // SAFETY: the context made the object.
        unsafe { TensorHandleRef::new(raw, Arc::clone(self)) }
    }
}

impl Drop for ModelContextHandle {
    fn drop(&mut self) {
        // What panicked is not touched again, and its code stays; so does what it may still use.
        if let Some(message) = self.poison.get() {
            self.backend.taint(message);
        } else if !self.is_tainted() {
            // SAFETY: everything that the context made holds it, so all of that is gone; nothing
            // else uses the host object, and neither is used again.
            unsafe {
                (self.functions.destroy)(self.raw.as_ptr());
                ManuallyDrop::drop(&mut self.host);
            }
        }
    }
}

unsafe extern "C" fn cache_get(
    host: *mut c_void,
    key: *const u8,
    key_len: usize,
    sink: Option<unsafe extern "C" fn(*mut c_void, *const u8, usize)>,
    data: *mut c_void,
) -> sys::ArmnnStatus {
    let found = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `host` is the object that was given to the backend with this function, and the
        // backend passes a valid key.
        let (host, key) = unsafe { (&*host.cast::<Host>(), bytes(key, key_len)) };
        host.cache.as_ref()?.get(key?)
    }));
    match (found, sink) {
        (Ok(Some(blob)), Some(sink)) => {
            // SAFETY: the backend passes a function and what it is called with; the blob is valid
            // for the call.
            unsafe { sink(data, blob.as_ptr(), blob.len()) };
            sys::ARMNN_STATUS_OK
        }
        (Ok(Some(_)), None) => sys::ARMNN_STATUS_INVALID_ARGUMENT,
        (Ok(None), _) => sys::ARMNN_STATUS_UNAVAILABLE,
        (Err(_), _) => sys::ARMNN_STATUS_ERROR,
    }
}

unsafe extern "C" fn cache_put(
    host: *mut c_void,
    key: *const u8,
    key_len: usize,
    blob: *const u8,
    len: usize,
) -> sys::ArmnnStatus {
    let stored = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `host` is the object that was given to the backend with this function, and the
        // backend passes a valid key and blob.
        let (host, key, blob) =
            unsafe { (&*host.cast::<Host>(), bytes(key, key_len), bytes(blob, len)) };
        let (Some(cache), Some(key), Some(blob)) = (&host.cache, key, blob) else {
            return sys::ARMNN_STATUS_INVALID_ARGUMENT;
        };
        match cache.put(key, blob) {
            Ok(()) => sys::ARMNN_STATUS_OK,
            Err(problem) => {
                log::warn!("what a backend compiled is not kept: {problem}");
                sys::ARMNN_STATUS_ERROR
            }
        }
    }));
    stored.unwrap_or(sys::ARMNN_STATUS_ERROR)
}

/// Bytes that a backend passes; `None` for a null pointer with a length, or a length that nothing
/// has.
///
/// # Safety
/// `len` bytes at `data` are readable, unless it is null.
unsafe fn bytes<'a>(data: *const u8, len: usize) -> Option<&'a [u8]> {
    match (data.is_null(), isize::try_from(len)) {
        (_, Ok(0)) => Some(&[]),
        (true, _) | (_, Err(_)) => None,
        // SAFETY: by the contract of this function.
        (false, Ok(_)) => Some(unsafe { std::slice::from_raw_parts(data, len) }),
    }
}

unsafe extern "C" fn release_constant(host: *mut c_void, constant_id: u64) {
    // SAFETY: `host` is the object that was given to the backend with this function.
    let host = unsafe { &*host.cast::<Host>() };
    lock(&host.released).insert(constant_id);
}

unsafe extern "C" fn parallel_for(
    host: *mut c_void,
    n_tasks: u32,
    body: Option<unsafe extern "C" fn(*mut c_void, u32, u32)>,
    data: *mut c_void,
) -> sys::ArmnnStatus {
    // SAFETY: `host` is the object that was given to the backend with this function.
    let host = unsafe { &*host.cast::<Host>() };
    // SAFETY: the backend passes a body and data that may be used from several threads.
    unsafe { host.pool.parallel_for_raw(n_tasks, body, data) }
}
