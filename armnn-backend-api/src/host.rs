//! What the host offers to a backend, in Rust.

use std::{
    cell::UnsafeCell,
    ffi::c_void,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    BackendError, BackendVersion, OptionValue, Result, Shape, Status,
    guard::{Poison, panic_message},
    object::workload_into_raw,
    options::raw_option,
    slot,
    sys::{self, ArmnnStatus},
    traits::Workload,
    view::{LayerIndex, TensorIndex, raw_text, slice},
};

/// The host, to every backend alike; valid for ever.
#[derive(Clone, Copy, Debug)]
pub struct HostApi(&'static sys::ArmnnHostApi);

impl HostApi {
    /// Takes what the host gave to `initialize`.
    ///
    /// # Safety
    /// `raw` is as the interface demands.
    pub unsafe fn from_raw(raw: &'static sys::ArmnnHostApi) -> Self {
        Self(raw)
    }

    /// The interface version of the host.
    pub fn version(&self) -> BackendVersion {
        BackendVersion::new(self.0.api_major, self.0.api_minor)
    }

    /// Whether a message of that level and target would be written.
    pub fn log_enabled(&self, level: log::Level, target: &str) -> bool {
        // SAFETY: the host vouches for its table.
        let enabled = unsafe { slot!(self.0, sys::ArmnnHostApi, log_enabled) };
        // SAFETY: the text is valid for the call.
        enabled.is_none_or(|f| unsafe { f(level as u32, raw_text(target)) } != 0)
    }

    /// Writes to the host's log. Backends use the `log` crate, which leads here.
    pub fn log(&self, level: log::Level, target: &str, message: &str) {
        // SAFETY: the host vouches for its table.
        if let Some(f) = unsafe { slot!(self.0, sys::ArmnnHostApi, log) } {
            // SAFETY: the texts are valid for the call.
            unsafe { f(level as u32, raw_text(target), raw_text(message)) }
        }
    }
}

/// Runs `body` for each task through a `parallel_for` of the host. A panic in a body ends up here,
/// on the calling thread, when all tasks are done.
unsafe fn run_parallel<F: Fn(u32, u32) + Sync>(
    parallel_for: Option<
        unsafe extern "C" fn(
            *mut c_void,
            u32,
            Option<unsafe extern "C" fn(*mut c_void, u32, u32)>,
            *mut c_void,
        ) -> ArmnnStatus,
    >,
    host: *mut c_void,
    n_tasks: u32,
    body: F,
) -> Result<()> {
    struct Job<F> {
        body: F,
        panicked: AtomicBool,
        message: Mutex<Option<String>>,
    }
    unsafe extern "C" fn call<F: Fn(u32, u32) + Sync>(data: *mut c_void, task: u32, thread: u32) {
        // SAFETY: `data` is the job below, which outlives the call of `parallel_for`.
        let job = unsafe { &*data.cast::<Job<F>>() };
        if job.panicked.load(Ordering::Relaxed) {
            return;
        }
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (job.body)(task, thread))) {
            job.panicked.store(true, Ordering::Relaxed);
            let message = panic_message(payload);
            if let Ok(mut slot) = job.message.lock() {
                slot.get_or_insert(message);
            }
        }
    }
    let job = Job {
        body,
        panicked: AtomicBool::new(false),
        message: Mutex::new(None),
    };
    let status = match parallel_for {
        // SAFETY: the job outlives the call, and its body is `Sync`.
        Some(f) => unsafe {
            f(
                host,
                n_tasks,
                Some(call::<F>),
                std::ptr::from_ref(&job).cast_mut().cast(),
            )
        },
        None => {
            (0..n_tasks).for_each(|task| (job.body)(task, 0));
            sys::ARMNN_STATUS_OK
        }
    };
    if let Some(message) = job.message.into_inner().unwrap_or_default() {
        panic!("in a parallel body: {message}");
    }
    if status == sys::ARMNN_STATUS_OK {
        Ok(())
    } else {
        Err(BackendError::with_status(
            Status(status),
            "the host's parallel_for failed",
        ))
    }
}

/// The host, to one model context; valid while that lives.
///
/// Keep it in the context to use it later.
pub struct ModelHost(*const sys::ArmnnModelHost);

// SAFETY: the host's functions may be called from any thread.
unsafe impl Send for ModelHost {}
// SAFETY: as above.
unsafe impl Sync for ModelHost {}

impl ModelHost {
    /// Takes what the host gave to `create_model_context`.
    ///
    /// # Safety
    /// `raw` is as the interface demands for as long as the value returned is used.
    pub unsafe fn from_raw(raw: *const sys::ArmnnModelHost) -> Self {
        Self(raw)
    }

    /// Threads that [`parallel_for`](Self::parallel_for) uses at most, the caller included.
    pub fn n_threads(&self) -> u32 {
        // SAFETY: the host vouches for its table.
        unsafe { (*self.0).n_threads.max(1) }
    }

    /// Says that the context reads a constant no more; at any time, from any thread.
    ///
    /// The host drops the memory when every context that was shown it has said so, and no
    /// later view can give such a layer to another backend; later views show the constant without
    /// data then. So whoever releases a constant must be able to compile later views from its own
    /// packing, whatever their shapes.
    pub fn release_constant(&self, constant_id: u64) {
        // SAFETY: the host vouches for its table.
        unsafe {
            if let Some(f) = slot!(self.0, sys::ArmnnModelHost, release_constant) {
                f((*self.0).host, constant_id);
            }
        }
    }

    /// Calls `body(task, thread)` for each task below `n_tasks`, on several threads of the host;
    /// only during calls on the context.
    ///
    /// # Errors
    /// When the host fails.
    ///
    /// # Panics
    /// When a body did.
    pub fn parallel_for(&self, n_tasks: u32, body: impl Fn(u32, u32) + Sync) -> Result<()> {
        // SAFETY: the host vouches for its table.
        unsafe {
            let f = slot!(self.0, sys::ArmnnModelHost, parallel_for);
            run_parallel(f, (*self.0).host, n_tasks, body)
        }
    }

    /// What an earlier [`cache_put`](Self::cache_put) stored under the key.
    pub fn cache_get(&self, key: &[u8]) -> Option<Vec<u8>> {
        unsafe extern "C" fn sink(data: *mut c_void, blob: *const u8, len: usize) {
            // SAFETY: `data` is the vector below, and the host gives `len` readable bytes.
            unsafe { *data.cast::<Option<Vec<u8>>>() = Some(slice(blob, len).to_vec()) }
        }
        let mut found: Option<Vec<u8>> = None;
        // SAFETY: the host vouches for its table; `found` outlives the call.
        unsafe {
            let f = slot!(self.0, sys::ArmnnModelHost, cache_get)?;
            let data = std::ptr::from_mut(&mut found).cast();
            f((*self.0).host, key.as_ptr(), key.len(), Some(sink), data);
        }
        found
    }

    /// Stores a blob for later runs; returns whether there is a cache.
    pub fn cache_put(&self, key: &[u8], blob: &[u8]) -> bool {
        // SAFETY: the host vouches for its table; the slices are valid for the call.
        unsafe {
            slot!(self.0, sys::ArmnnModelHost, cache_put).is_some_and(|f| {
                f(
                    (*self.0).host,
                    key.as_ptr(),
                    key.len(),
                    blob.as_ptr(),
                    blob.len(),
                ) == sys::ARMNN_STATUS_OK
            })
        }
    }
}

/// Where a backend writes its answer to
/// [`optimize_subgraph_view`](crate::ModelContext::optimize_subgraph_view). `E` is the backend's
/// own execution.
pub struct OptimizationViews<'a, E> {
    raw: &'a mut sys::ArmnnOptimizationViews,
    poison: &'a Arc<Poison>,
    execution: PhantomData<fn(E)>,
}

impl<'a, E: 'static> OptimizationViews<'a, E> {
    pub(crate) unsafe fn from_raw(
        raw: &'a mut sys::ArmnnOptimizationViews,
        poison: &'a Arc<Poison>,
    ) -> Self {
        Self {
            raw,
            poison,
            execution: PhantomData,
        }
    }

    /// Claims layers, to be executed by one workload.
    ///
    /// `inputs` are the tensors that the layers read and do not produce, constants left out;
    /// `outputs` those that they produce and that are read outside; both in the order in which
    /// the workload wants them. The layers must be convex: no path leads out of them and back in.
    ///
    /// # Errors
    /// When the host refuses the claim; the workload is dropped.
    pub fn add_precompiled(
        &mut self,
        layers: &[LayerIndex],
        inputs: &[TensorIndex],
        outputs: &[TensorIndex],
        workload: Box<dyn Workload<E>>,
    ) -> Result<()> {
        // SAFETY: the host vouches for its table; the slices are valid for the call, and the host
        // takes the workload.
        let status = unsafe {
            let f =
                slot!(self.raw, sys::ArmnnOptimizationViews, add_precompiled).ok_or_else(|| {
                    BackendError::with_status(Status::Unimplemented, "add_precompiled")
                })?;
            f(
                self.raw.host,
                layers.as_ptr(),
                layers.len(),
                inputs.as_ptr(),
                inputs.len(),
                outputs.as_ptr(),
                outputs.len(),
                workload_into_raw(workload, self.poison),
            )
        };
        host_result(status, "the host refused the claim")
    }

    /// Gives up layers, with a reason. The host assigns them anew.
    ///
    /// # Errors
    /// When the host refuses the answer.
    pub fn add_failed(&mut self, layers: &[LayerIndex], reason: &str) -> Result<()> {
        // SAFETY: the host vouches for its table; slice and text are valid for the call.
        let status = unsafe {
            let f = slot!(self.raw, sys::ArmnnOptimizationViews, add_failed)
                .ok_or_else(|| BackendError::with_status(Status::Unimplemented, "add_failed"))?;
            f(
                self.raw.host,
                layers.as_ptr(),
                layers.len(),
                raw_text(reason),
            )
        };
        host_result(status, "the host refused the answer")
    }
}

fn host_result(status: ArmnnStatus, message: &str) -> Result<()> {
    if status == sys::ARMNN_STATUS_OK {
        Ok(())
    } else {
        Err(BackendError::with_status(Status(status), message))
    }
}

/// What the host offers during one call of [`Workload::execute`], and the backend's own execution.
pub struct ExecutionContext<'a, E> {
    raw: &'a sys::ArmnnExecutionContext,
    execution: Option<&'a mut E>,
    scratch: Option<&'a mut [u8]>,
}

impl<'a, E> ExecutionContext<'a, E> {
    pub(crate) unsafe fn from_raw(
        raw: &'a sys::ArmnnExecutionContext,
        execution: Option<&'a mut E>,
    ) -> Self {
        let scratch = if raw.scratch.is_null() || raw.scratch_len == 0 {
            &mut []
        } else {
            // SAFETY: the host gives `scratch_len` bytes to this call alone.
            unsafe { std::slice::from_raw_parts_mut(raw.scratch.cast(), raw.scratch_len) }
        };
        Self {
            raw,
            execution,
            scratch: Some(scratch),
        }
    }

    /// The execution that the model context made for this execution state; `None` if it made none.
    pub fn execution(&mut self) -> Option<&mut E> {
        self.execution.as_deref_mut()
    }

    /// The same context for a workload that has no execution, or another type of it; for a backend
    /// that wraps another one. The scratch memory goes with it.
    pub fn without_execution<F>(&mut self) -> ExecutionContext<'_, F> {
        ExecutionContext {
            raw: self.raw,
            execution: None,
            scratch: self.scratch.take(),
        }
    }

    /// The memory asked for by [`memory_requirements`](Workload::memory_requirements); its
    /// contents are arbitrary. Empty when taken before.
    pub fn take_scratch(&mut self) -> &'a mut [u8] {
        self.scratch.take().unwrap_or_default()
    }

    /// Threads that [`parallel_for`](Self::parallel_for) uses at most, the caller included.
    pub fn n_threads(&self) -> u32 {
        self.raw.n_threads.max(1)
    }

    /// Calls `body(task, thread)` for each task below `n_tasks`, on several threads of the host,
    /// and returns when all are done. `thread` is below [`n_threads`](Self::n_threads). The caller
    /// takes part; nested calls run inline.
    ///
    /// # Errors
    /// When the host fails.
    ///
    /// # Panics
    /// When a body did.
    pub fn parallel_for(&self, n_tasks: u32, body: impl Fn(u32, u32) + Sync) -> Result<()> {
        // SAFETY: the host vouches for its table.
        unsafe {
            let f = slot!(self.raw, sys::ArmnnExecutionContext, parallel_for);
            run_parallel(f, self.raw.host, n_tasks, body)
        }
    }

    /// Gives memory to output `output`, whose shape was unknown; then
    /// [`Outputs::bytes_mut`] finds it.
    ///
    /// # Errors
    /// When the output's shape was known, or there is no memory.
    pub fn allocate_output(&self, output: u32, shape: &Shape) -> Result<()> {
        // SAFETY: the host vouches for its table; the shape is valid for the call.
        let data = unsafe {
            slot!(self.raw, sys::ArmnnExecutionContext, allocate_output)
                .map_or(std::ptr::null_mut(), |f| {
                    f(self.raw.host, output, shape.as_raw())
                })
        };
        if data.is_null() && shape.num_elements() != Some(0) {
            return Err(BackendError::with_status(
                Status::OutOfMemory,
                format!("the host gives no memory for output {output} of shape {shape}"),
            ));
        }
        Ok(())
    }

    /// Whether steps are recorded.
    pub fn is_profiling(&self) -> bool {
        // SAFETY: the host vouches for its table.
        unsafe { slot!(self.raw, sys::ArmnnExecutionContext, profile) }.is_some()
    }

    /// Records that a step stood for the layers of these ids, and took from `start_ns` to `end_ns`
    /// of the monotonic clock.
    pub fn profile(&self, step: &str, layer_ids: &[u32], start_ns: u64, end_ns: u64) {
        // SAFETY: the host vouches for its table; text and slice are valid for the call.
        unsafe {
            if let Some(f) = slot!(self.raw, sys::ArmnnExecutionContext, profile) {
                f(
                    self.raw.host,
                    raw_text(step),
                    layer_ids.as_ptr(),
                    layer_ids.len(),
                    start_ns,
                    end_ns,
                );
            }
        }
    }

    /// The struct as it came over the wire; `scratch`, `profile` and the memory of the tensors
    /// stay valid until the `wait` that covers this call.
    pub fn as_raw(&self) -> &sys::ArmnnExecutionContext {
        self.raw
    }
}

/// The inputs of one call.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    first: *const sys::ArmnnTensor,
    len: usize,
    stride: usize,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> Inputs<'a> {
    pub(crate) unsafe fn from_raw(
        first: *const sys::ArmnnTensor,
        len: usize,
        stride: usize,
    ) -> Self {
        Self {
            first,
            len,
            stride,
            lifetime: PhantomData,
        }
    }

    /// How many there are, absent ones included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An input as it came over the wire.
    ///
    /// # Panics
    /// When there is none at this position.
    pub fn raw(&self, position: usize) -> &'a sys::ArmnnTensor {
        assert!(position < self.len, "there is no input {position}");
        // SAFETY: in range; the host vouches for the table.
        unsafe { &*self.first.byte_add(position * self.stride) }
    }

    /// The shape of an input.
    ///
    /// # Panics
    /// When there is none at this position.
    pub fn shape(&self, position: usize) -> &'a Shape {
        // SAFETY: `Shape` is `repr(transparent)` over the wire struct.
        unsafe { &*std::ptr::from_ref(&self.raw(position).shape).cast() }
    }

    /// The bytes of an input in host memory; `None` if it is absent, a released constant, or only
    /// in a handle.
    pub fn bytes(&self, position: usize) -> Option<&'a [u8]> {
        if position >= self.len {
            return None;
        }
        let raw = self.raw(position);
        if raw.data.is_null() && (raw.byte_len > 0 || !raw.handle.is_null()) {
            return None;
        }
        // SAFETY: the host gives `byte_len` readable bytes, which nobody writes during the call.
        Some(unsafe { slice(raw.data.cast_const().cast(), raw.byte_len) })
    }

    /// The elements of an input in host memory.
    ///
    /// # Errors
    /// When [`bytes`](Self::bytes) finds none, or they are not aligned.
    pub fn elements<T: crate::Element>(&self, position: usize) -> Result<&'a [T]> {
        self.bytes(position)
            .and_then(crate::cast_slice)
            .ok_or_else(|| {
                BackendError::invalid_argument(format!(
                    "input {position} is not in aligned host memory"
                ))
            })
    }
}

/// The outputs of one call. Nothing else refers to their memory during the call.
pub struct Outputs<'a> {
    first: *mut sys::ArmnnTensor,
    len: usize,
    stride: usize,
    lifetime: PhantomData<&'a UnsafeCell<()>>,
}

impl<'a> Outputs<'a> {
    pub(crate) unsafe fn from_raw(first: *mut sys::ArmnnTensor, len: usize, stride: usize) -> Self {
        Self {
            first,
            len,
            stride,
            lifetime: PhantomData,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An output as it came over the wire.
    ///
    /// # Panics
    /// When there is none at this position.
    pub fn raw(&self, position: usize) -> &sys::ArmnnTensor {
        assert!(position < self.len, "there is no output {position}");
        // SAFETY: in range; the host vouches for the table.
        unsafe { &*self.first.byte_add(position * self.stride) }
    }

    /// The shape of an output.
    ///
    /// # Panics
    /// When there is none at this position.
    pub fn shape(&self, position: usize) -> Shape {
        Shape::from_raw(&self.raw(position).shape).unwrap_or(Shape::SCALAR)
    }

    /// The bytes of an output in host memory; `None` if it is only in a handle, or its shape was
    /// unknown and [`allocate_output`](ExecutionContext::allocate_output) was not called. Their
    /// contents are arbitrary.
    pub fn bytes_mut(&mut self, position: usize) -> Option<&mut [u8]> {
        if position >= self.len {
            return None;
        }
        let raw = self.raw(position);
        let (data, len) = (raw.data, raw.byte_len);
        if len == 0 {
            return Some(&mut []);
        }
        if data.is_null() {
            return None;
        }
        // SAFETY: the host gives `byte_len` initialised bytes to this call alone, no two outputs
        // overlap, and `self` is borrowed while they are.
        Some(unsafe { std::slice::from_raw_parts_mut(data.cast(), len) })
    }

    /// The elements of an output in host memory.
    ///
    /// # Errors
    /// When [`bytes_mut`](Self::bytes_mut) finds none, or they are not aligned.
    pub fn elements_mut<T: crate::Element>(&mut self, position: usize) -> Result<&mut [T]> {
        self.bytes_mut(position)
            .and_then(crate::cast_slice_mut)
            .ok_or_else(|| {
                BackendError::invalid_argument(format!(
                    "output {position} is not in aligned host memory"
                ))
            })
    }
}

/// Where a backend names the devices it found.
pub struct ProbeSink<'a>(&'a sys::ArmnnProbeSink);

impl<'a> ProbeSink<'a> {
    pub(crate) unsafe fn from_raw(raw: &'a sys::ArmnnProbeSink) -> Self {
        Self(raw)
    }

    /// Adds a device: a short name, a description for people, and facts such as its memory.
    ///
    /// # Errors
    /// When the host refuses it.
    pub fn add_device(
        &mut self,
        name: &str,
        description: &str,
        facts: &[(&str, OptionValue<'_>)],
    ) -> Result<()> {
        let facts: Vec<_> = facts.iter().map(|&(n, v)| raw_option(n, v)).collect();
        // SAFETY: the host vouches for its table; everything is valid for the call.
        let status = unsafe {
            let Some(f) = slot!(self.0, sys::ArmnnProbeSink, add_device) else {
                return Ok(());
            };
            f(
                self.0.host,
                raw_text(name),
                raw_text(description),
                facts.as_ptr(),
                facts.len(),
            )
        };
        host_result(status, "the host refused the device")
    }
}
