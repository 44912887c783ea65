//! The backend object, and what the host offers to it.

use core::ffi::{c_char, c_void};

use super::{
    ArmnnError, ArmnnModelContext, ArmnnModelHost, ArmnnOption, ArmnnStatus, ArmnnStr,
    ArmnnSubgraphView,
};

/// What the host offers to a backend: one `static`, safe to use at any time from any thread.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnHostApi {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// Major version of the host's interface.
    pub api_major: u32,
    /// Minor version of the host's interface.
    pub api_minor: u32,
    /// Writes to the host's log: `ARMNN_LOG_…`, where it comes from, what it says.
    pub log: Option<unsafe extern "C" fn(level: u32, target: ArmnnStr, message: ArmnnStr)>,
    /// Whether a message of that level and target would be written: 0 or 1.
    pub log_enabled: Option<unsafe extern "C" fn(level: u32, target: ArmnnStr) -> u8>,
}

/// What a backend is.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnCapabilities {
    /// Bytes of this struct as the host knows it; the host sets all else to 0.
    pub struct_size: usize,
    /// `ARMNN_BACKEND_KIND_…`.
    pub kind: u32,
    /// `ARMNN_CAPABILITY_…`, or-ed.
    pub flags: u32,
}

/// Where a backend names the devices it found. Borrowed for the call of `probe`.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnProbeSink {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// First argument of the functions.
    pub host: *mut c_void,
    /// Adds a device: a short name, a description for people, and facts.
    pub add_device: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            name: ArmnnStr,
            description: ArmnnStr,
            facts: *const ArmnnOption,
            n_facts: usize,
        ) -> ArmnnStatus,
    >,
}

/// A backend: what `BackendFactory` returns. The first field of an implementer's own struct.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Debug)]
pub struct IBackendInternal {
    /// Its functions.
    pub table: *const ArmnnBackendTable,
}

/// Functions of a backend. `destroy`, `get_id`, `is_layer_supported` and `create_model_context`
/// are mandatory.
///
/// Order: `initialize`, `get_capabilities`; then, before the first use, `probe`; then the others.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Debug)]
pub struct ArmnnBackendTable {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// Frees the backend, after `shutdown` and after everything it made.
    pub destroy: Option<unsafe extern "C" fn(backend: *mut IBackendInternal)>,
    /// The id, the same as of `GetBackendId`; valid while the backend lives.
    pub get_id: Option<unsafe extern "C" fn(backend: *const IBackendInternal) -> ArmnnStr>,
    /// The first call, and an exclusive one. Must be cheap; hardware is looked for in `probe`.
    /// `host` stays valid for ever. An unknown option is an error that lists the known ones.
    pub initialize: Option<
        unsafe extern "C" fn(
            backend: *mut IBackendInternal,
            host: *const ArmnnHostApi,
            options: *const ArmnnOption,
            n_options: usize,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// The last call before `destroy`, and an exclusive one: joins threads, removes handlers. If it
    /// fails, the backend is never unmapped.
    pub shutdown: Option<
        unsafe extern "C" fn(backend: *mut IBackendInternal, error: *mut ArmnnError) -> ArmnnStatus,
    >,
    /// Whether the backend can execute a layer: `ARMNN_STATUS_OK`, or `ARMNN_STATUS_UNSUPPORTED`
    /// with the reason as message. Cheap and pure; dimensions may be unknown. It sees the graph
    /// around the layer, so that a pattern can be recognised. From any thread.
    pub is_layer_supported: Option<
        unsafe extern "C" fn(
            backend: *const IBackendInternal,
            graph: *const ArmnnSubgraphView,
            layer: u32,
            reason: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// What the backend is. Absent: kind Reference, no flags.
    pub get_capabilities: Option<
        unsafe extern "C" fn(
            backend: *const IBackendInternal,
            capabilities: *mut ArmnnCapabilities,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// Looks for hardware, and names it; `ARMNN_STATUS_UNAVAILABLE` with the reason when there is
    /// none. Called once, before the backend is used. Absent: none is needed.
    pub probe: Option<
        unsafe extern "C" fn(
            backend: *mut IBackendInternal,
            sink: *const ArmnnProbeSink,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
    /// Makes what belongs to one loaded network. `options` are those given for this network alone,
    /// not those of `initialize` again; an unknown one is an error that lists the known ones. `host`
    /// stays valid until the context is destroyed. From any thread.
    pub create_model_context: Option<
        unsafe extern "C" fn(
            backend: *mut IBackendInternal,
            options: *const ArmnnOption,
            n_options: usize,
            host: *const ArmnnModelHost,
            context: *mut *mut ArmnnModelContext,
            error: *mut ArmnnError,
        ) -> ArmnnStatus,
    >,
}

/// `GetBackendId`: the id, NUL-terminated, valid while the shared object is loaded.
pub type ArmnnGetBackendIdFunction = unsafe extern "C" fn() -> *const c_char;
/// `GetVersion`: the interface version that the backend was built against.
pub type ArmnnGetVersionFunction = unsafe extern "C" fn(major: *mut u32, minor: *mut u32);
/// `BackendFactory`: a new backend that the caller owns, or null.
pub type ArmnnBackendFactoryFunction = unsafe extern "C" fn() -> *mut IBackendInternal;
