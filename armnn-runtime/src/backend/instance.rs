//! A backend of one runtime.

use std::{
    ffi::c_void,
    fmt,
    ptr::NonNull,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use armnn_backend_api::{
    BackendError, BackendId, BackendKind, BackendVersion, Capabilities, OptionValue, Status,
    guard::Poison,
    raw_option, slot,
    sys::{self, ArmnnBackendTable, ArmnnOption, ArmnnStr, IBackendInternal},
};

use super::{ErrorBuffer, HOST_API};
use crate::{
    dynamic_backend::DynamicBackend,
    float_environment::FloatEnvironment,
    forks::Process,
    loader::{Handle, KeptReason},
    options::BackendOption,
};

/// A device that a backend found.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// A short name.
    pub name: String,
    /// A description for people.
    pub description: String,
    /// Facts, such as the device's memory.
    pub facts: Vec<(String, String)>,
}

/// A backend of one runtime: owns the object that the factory made, and holds the shared object
/// that it comes from.
pub(crate) struct BackendInstance {
    raw: NonNull<IBackendInternal>,
    functions: Functions,
    id: BackendId,
    version: BackendVersion,
    capabilities: Capabilities,
    poison: Arc<Poison>,
    // The panic of something that the backend made: that is leaked, and may lead to the backend.
    tainted: OnceLock<String>,
    // `shutdown` is for what was initialized.
    initialized: bool,
    probed: OnceLock<Result<Vec<Device>, BackendError>>,
    // Where it was made, and the threads that it may have.
    process: Process,
    // It has made an execution, so that work goes on while nobody calls.
    is_asynchronous: AtomicBool,
    // Dropped last.
    library: Option<Arc<DynamicBackend>>,
}

// SAFETY: the interface demands that a backend may be used from any thread; exclusive calls are
// made only where `self` is exclusive or before the instance is shared.
unsafe impl Send for BackendInstance {}
// SAFETY: as above.
unsafe impl Sync for BackendInstance {}

struct Functions {
    destroy: unsafe extern "C" fn(*mut IBackendInternal),
    is_layer_supported: unsafe extern "C" fn(
        *const IBackendInternal,
        *const sys::ArmnnSubgraphView,
        u32,
        *mut sys::ArmnnError,
    ) -> sys::ArmnnStatus,
    create_model_context: unsafe extern "C" fn(
        *mut IBackendInternal,
        *const ArmnnOption,
        usize,
        *const sys::ArmnnModelHost,
        *mut *mut sys::ArmnnModelContext,
        *mut sys::ArmnnError,
    ) -> sys::ArmnnStatus,
}

/// Why a backend could not be made.
#[derive(Debug)]
pub(crate) struct InstanceError {
    pub(crate) kind: InstanceErrorKind,
    pub(crate) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstanceErrorKind {
    FactoryNull,
    FactoryFailed,
    TableInvalid,
    InitializeFailed,
}

/// A table larger than this is not believed.
const MAX_TABLE_SIZE: usize = 64 * 1024;

impl BackendInstance {
    /// Calls the factory, checks the table and initializes the backend.
    ///
    /// # Safety
    /// `factory` is a backend's factory, and `library`, if there is one, holds its code.
    pub(crate) unsafe fn create(
        factory: sys::ArmnnBackendFactoryFunction,
        id: BackendId,
        version: BackendVersion,
        options: &[BackendOption],
        library: Option<Arc<DynamicBackend>>,
    ) -> Result<Arc<Self>, InstanceError> {
        let fail = |kind, message: String| InstanceError { kind, message };
        let _environment = FloatEnvironment::save();
        // SAFETY: by the contract of this function.
        let raw = NonNull::new(unsafe { factory() }).ok_or_else(|| {
            fail(
                InstanceErrorKind::FactoryNull,
                "BackendFactory returned a null pointer".into(),
            )
        })?;
        // SAFETY: the factory returned an object; its table is checked before anything is called.
        let functions = unsafe { check_table(raw) }
            .map_err(|message| fail(InstanceErrorKind::TableInvalid, message))?;
        // From here on the object is destroyed on every path.
        let mut instance = Self {
            raw,
            functions,
            id,
            version,
            capabilities: Capabilities::default(),
            poison: Poison::root(),
            tainted: OnceLock::new(),
            initialized: false,
            probed: OnceLock::new(),
            process: Process::current(),
            is_asynchronous: AtomicBool::new(false),
            library,
        };
        instance
            .check_id()
            .map_err(|message| fail(InstanceErrorKind::TableInvalid, message))?;
        instance.initialize(options).map_err(|e| {
            let kind = if e.status() == Status::FactoryFailed {
                InstanceErrorKind::FactoryFailed
            } else {
                InstanceErrorKind::InitializeFailed
            };
            fail(kind, e.to_string())
        })?;
        instance.initialized = true;
        instance.capabilities = instance.read_capabilities().map_err(|e| {
            fail(
                InstanceErrorKind::InitializeFailed,
                format!("get_capabilities failed: {e}"),
            )
        })?;
        Ok(Arc::new(instance))
    }

    fn table(&self) -> *const ArmnnBackendTable {
        // SAFETY: the object lives, and its table was checked.
        unsafe { (*self.raw.as_ptr()).table }
    }

    /// The id that the object itself tells must be the one it is registered under.
    fn check_id(&self) -> Result<(), String> {
        // SAFETY: the slot is mandatory and was checked; the text is valid while the object lives.
        let told = unsafe {
            let get_id = slot!(self.table(), ArmnnBackendTable, get_id)
                .ok_or("the slot get_id is missing")?;
            read_text(get_id(self.raw.as_ptr()))
        };
        if told == self.id.as_str() {
            Ok(())
        } else {
            Err(format!(
                "its get_id says '{}', but GetBackendId says '{}'",
                told.escape_debug(),
                self.id
            ))
        }
    }

    fn initialize(&mut self, options: &[BackendOption]) -> Result<(), BackendError> {
        let options: Vec<_> = options
            .iter()
            .map(|o| raw_option(&o.name, o.value.as_option_value()))
            .collect();
        // SAFETY: the table was checked.
        let f = unsafe { slot!(self.table(), ArmnnBackendTable, initialize) };
        match f {
            // SAFETY: the arguments are valid, and nobody else knows the object yet.
            Some(f) => ErrorBuffer::new().call(&self.poison, |error| unsafe {
                f(
                    self.raw.as_ptr(),
                    &HOST_API,
                    options.as_ptr(),
                    options.len(),
                    error,
                )
            }),
            None if options.is_empty() => Ok(()),
            None => Err(BackendError::invalid_argument(
                "this backend has no options",
            )),
        }
    }

    fn read_capabilities(&self) -> Result<Capabilities, BackendError> {
        let mut raw = sys::ArmnnCapabilities {
            struct_size: size_of::<sys::ArmnnCapabilities>(),
            kind: sys::ARMNN_BACKEND_KIND_REFERENCE,
            flags: 0,
        };
        // SAFETY: the table was checked.
        if let Some(f) = unsafe { slot!(self.table(), ArmnnBackendTable, get_capabilities) } {
            // SAFETY: the arguments are valid.
            ErrorBuffer::new().call(&self.poison, |error| unsafe {
                f(self.raw.as_ptr(), &mut raw, error)
            })?;
        }
        Ok(Capabilities {
            kind: BackendKind(raw.kind),
            flags: raw.flags,
        })
    }

    /// The error for an object of the backend's that breaks the rules of the interface.
    pub(super) fn made_invalid(&self, what: &str, message: &str) -> BackendError {
        BackendError::new(format!(
            "backend {} made an invalid {what}: {message}",
            self.id
        ))
    }

    /// The id.
    pub(crate) fn id(&self) -> &BackendId {
        &self.id
    }

    /// The interface version that the backend was built against.
    pub(crate) fn version(&self) -> BackendVersion {
        self.version
    }

    /// What the backend is.
    pub(crate) fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Poisoned when the backend itself panicked; the parent of all it makes.
    pub(crate) fn poison(&self) -> &Arc<Poison> {
        &self.poison
    }

    /// Notes that something the backend made panicked and is leaked.
    pub(super) fn taint(&self, message: &str) {
        let _ = self.tainted.set(message.to_owned());
    }

    /// Notes that work of the backend goes on while nobody calls it.
    pub(super) fn set_asynchronous(&self) {
        self.is_asynchronous.store(true, Ordering::Relaxed);
    }

    /// Whether what the backend waits for is in the process that this one was forked from: then no
    /// function of it is called, or it might never come back.
    fn is_left_behind(&self) -> bool {
        !self.process.is_current() && self.is_asynchronous.load(Ordering::Relaxed)
    }

    /// Why no function of the backend may be called, if so. Looks at its file.
    pub(super) fn out_of_reach(&self) -> Option<KeptReason> {
        if self.is_left_behind() {
            return Some(KeptReason::Forked);
        }
        let handle = self.library.as_ref().and_then(|library| library.handle());
        handle
            .is_some_and(Handle::is_overwritten)
            .then_some(KeptReason::Overwritten)
    }

    /// An error if the backend works in threads that are in another process.
    pub(super) fn check_process(&self) -> Result<(), BackendError> {
        if self.is_left_behind() {
            return Err(self.error_of_reach(&KeptReason::Forked));
        }
        Ok(())
    }

    /// An error if no function of the backend may be called.
    pub(super) fn check_reach(&self) -> Result<(), BackendError> {
        match self.out_of_reach() {
            None => Ok(()),
            Some(reason) => Err(self.error_of_reach(&reason)),
        }
    }

    #[cold]
    fn error_of_reach(&self, reason: &KeptReason) -> BackendError {
        BackendError::new(format!(
            "backend {} cannot be used any more: {reason}",
            self.id
        ))
    }

    /// Looks for the backend's hardware, the first time it is called; each time, whether the backend
    /// may be called at all.
    pub(crate) fn probe(&self) -> Result<&[Device], BackendError> {
        self.check_reach()?;
        self.probed
            .get_or_init(|| self.probe_now())
            .as_deref()
            .map_err(Clone::clone)
    }

    fn probe_now(&self) -> Result<Vec<Device>, BackendError> {
        unsafe extern "C" fn add_device(
            host: *mut c_void,
            name: ArmnnStr,
            description: ArmnnStr,
            facts: *const ArmnnOption,
            n_facts: usize,
        ) -> sys::ArmnnStatus {
            // SAFETY: `host` is the list below; the backend passes valid arguments, and its count
            // is clamped.
            unsafe {
                let devices = &mut *host.cast::<Vec<Device>>();
                if devices.len() >= 1024 {
                    return sys::ARMNN_STATUS_INVALID_ARGUMENT;
                }
                let facts = armnn_backend_api::Options::from_raw(facts, n_facts.min(1024))
                    .iter()
                    .map(|(name, value): (&str, OptionValue<'_>)| {
                        (name.to_owned(), value.to_string())
                    })
                    .collect();
                devices.push(Device {
                    name: read_text(name),
                    description: read_text(description),
                    facts,
                });
            }
            sys::ARMNN_STATUS_OK
        }
        let mut devices = Vec::new();
        // SAFETY: the table was checked.
        if let Some(f) = unsafe { slot!(self.table(), ArmnnBackendTable, probe) } {
            let sink = sys::ArmnnProbeSink {
                struct_size: size_of::<sys::ArmnnProbeSink>(),
                host: (&raw mut devices).cast(),
                add_device: Some(add_device),
            };
            // SAFETY: the arguments are valid for the call.
            ErrorBuffer::new().call(&self.poison, |error| unsafe {
                f(self.raw.as_ptr(), &sink, error)
            })?;
        }
        Ok(devices)
    }

    /// Asks whether the backend takes a layer of a view.
    pub(crate) fn is_layer_supported(
        &self,
        graph: &sys::ArmnnSubgraphView,
        layer: u32,
        buffer: &mut ErrorBuffer,
    ) -> Result<(), BackendError> {
        // SAFETY: the arguments are valid for the call.
        buffer.call(&self.poison, |error| unsafe {
            (self.functions.is_layer_supported)(self.raw.as_ptr(), graph, layer, error)
        })
    }

    /// Makes a raw model context.
    ///
    /// # Safety
    /// `host` is valid until the context is destroyed.
    pub(crate) unsafe fn create_model_context(
        &self,
        options: &[ArmnnOption],
        host: *const sys::ArmnnModelHost,
    ) -> Result<*mut sys::ArmnnModelContext, BackendError> {
        self.check_reach()?;
        let mut context = std::ptr::null_mut();
        // SAFETY: the arguments are valid, by the contract of this function.
        ErrorBuffer::new().call(&self.poison, |error| unsafe {
            (self.functions.create_model_context)(
                self.raw.as_ptr(),
                options.as_ptr(),
                options.len(),
                host,
                &mut context,
                error,
            )
        })?;
        Ok(context)
    }

    /// What looking for hardware found, if that was done.
    pub(crate) fn probed(&self) -> Option<&Result<Vec<Device>, BackendError>> {
        self.probed.get()
    }
}

impl Drop for BackendInstance {
    /// Shuts the backend down and destroys it. Its code stays in memory when it panicked, or could
    /// not be shut down.
    fn drop(&mut self) {
        let panicked = self.poison.get().or(self.tainted.get().map(String::as_str));
        let mut keep = panicked.map(|message| KeptReason::Poisoned(message.to_owned()));
        let out_of_reach = self.out_of_reach();
        let may_shut_down = self.initialized && out_of_reach.is_none();
        keep = keep.or(out_of_reach);
        let shutdown = || {
            // SAFETY: the table was checked.
            unsafe { slot!(self.table(), ArmnnBackendTable, shutdown) }
        };
        if may_shut_down
            && self.poison.get().is_none()
            && let Some(f) = shutdown()
        {
            // SAFETY: nothing else uses the object any more.
            let result = ErrorBuffer::new()
                .call(&self.poison, |error| unsafe { f(self.raw.as_ptr(), error) });
            if let Err(e) = result {
                keep.get_or_insert(match self.poison.get() {
                    Some(message) => KeptReason::Poisoned(message.to_owned()),
                    None => KeptReason::ShutdownFailed(e.to_string()),
                });
            }
        }
        match keep {
            // SAFETY: the object is destroyed once, and not used afterwards.
            None => unsafe { (self.functions.destroy)(self.raw.as_ptr()) },
            // What panicked is not touched again.
            Some(reason) => {
                log::warn!("backend {}: {reason}; its code stays in memory", self.id);
                if let Some(library) = &self.library {
                    library.keep(reason);
                }
            }
        }
    }
}

impl fmt::Debug for BackendInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackendInstance")
            .field("id", &self.id)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Checks what a factory returned before anything of it is called.
///
/// # Safety
/// `raw` points to an object.
unsafe fn check_table(raw: NonNull<IBackendInternal>) -> Result<Functions, String> {
    if !raw.as_ptr().is_aligned() {
        return Err("the object that BackendFactory returned is misaligned".into());
    }
    if !is_readable(raw.as_ptr(), size_of::<IBackendInternal>()) {
        return Err("BackendFactory returned a pointer to memory that is not there".into());
    }
    // SAFETY: by the contract of this function.
    let table = unsafe { (*raw.as_ptr()).table };
    if table.is_aligned() && !table.is_null() && !is_readable(table, size_of::<usize>()) {
        return Err("the table of the backend is in memory that is not there".into());
    }
    // SAFETY: as above; `mandatory` reads only what the size covers.
    unsafe {
        check_size(table, size_of_val(&table), "backend")?;
        if !is_readable(table, (*table).struct_size) {
            return Err(format!(
                "the table of the backend says it has {} bytes, which are not all there",
                (*table).struct_size
            ));
        }
        Ok(Functions {
            destroy: mandatory(slot!(table, ArmnnBackendTable, destroy), "destroy")?,
            is_layer_supported: mandatory(
                slot!(table, ArmnnBackendTable, is_layer_supported),
                "is_layer_supported",
            )?,
            create_model_context: mandatory(
                slot!(table, ArmnnBackendTable, create_model_context),
                "create_model_context",
            )?,
        })
    }
}

/// Whether memory can be read; asked of the kernel where that is possible. Only for what a backend
/// tells first: later it is trusted, as asking takes time.
fn is_readable<T>(data: *const T, len: usize) -> bool {
    #[cfg(target_os = "linux")]
    return crate::fault_safe_read::is_readable(data.addr(), len);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (data, len);
        true
    }
}

/// Checks the alignment of an object that a backend made; that it is an object is trusted.
pub(super) fn check_aligned<T>(object: NonNull<T>, what: &str) -> Result<(), String> {
    if object.is_aligned() {
        Ok(())
    } else {
        Err(format!("the {what} that it returned is misaligned"))
    }
}

/// Checks that a table is there, aligned, and of a size to be believed. `least` is the size of
/// what every table begins with.
///
/// # Safety
/// `table` is null, misaligned, or points to a table that begins with its size.
pub(super) unsafe fn check_size<T>(
    table: *const T,
    least: usize,
    what: &str,
) -> Result<(), String> {
    if table.is_null() {
        return Err(format!("the table of the {what} is a null pointer"));
    }
    if !table.is_aligned() {
        return Err(format!("the table of the {what} is misaligned"));
    }
    // SAFETY: by the contract of this function.
    let size = unsafe { *table.cast::<usize>() };
    if size < least + size_of::<usize>() {
        return Err(format!(
            "the table of the {what} says it has {size} bytes, which is too few"
        ));
    }
    if size > MAX_TABLE_SIZE {
        return Err(format!(
            "the table of the {what} says it has {size} bytes, which is too many"
        ));
    }
    Ok(())
}

pub(super) fn mandatory<F>(slot: Option<F>, name: &str) -> Result<F, String> {
    slot.ok_or_else(|| format!("the mandatory function {name} is missing from the table"))
}

/// # Safety
/// The text is as the interface demands.
unsafe fn read_text(s: ArmnnStr) -> String {
    if s.ptr.is_null() {
        return String::new();
    }
    // SAFETY: by the contract of this function; the length is clamped.
    let bytes = unsafe { std::slice::from_raw_parts(s.ptr.cast::<u8>(), s.len.min(4096)) };
    String::from_utf8_lossy(bytes).into_owned()
}
