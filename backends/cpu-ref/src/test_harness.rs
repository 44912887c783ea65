//! Executes one layer as a host would: through the C tables of the backend, with graph views,
//! tensors and memory of the harness's own.
//!
//! Outputs and scratch memory are filled with junk beforehand, so that nothing can rely on their
//! contents, and a single-threaded `execute` is checked not to allocate.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ffi::c_void,
    ptr::{null, null_mut},
};

use armnn_backend_api::{
    BackendError, DataType, Element, LayerDescriptor, LayerType, Quantization, ReshapeDescriptor,
    Result, Shape, StaticBackend, TensorInfo, cast_slice, cast_slice_mut, guard, sys,
};
use half::f16;

use crate::CpuRef;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct CountingAllocator;

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: by the contract of this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: by the contract of this function.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A tensor with elements.
#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) info: TensorInfo,
    bytes: AlignedBytes,
    is_constant: bool,
}

/// A Float32 tensor.
pub(crate) fn f32s(shape: impl Into<Shape>, values: &[f32]) -> Tensor {
    typed(DataType::Float32, shape, values)
}

/// A Float16 tensor; the values are rounded.
pub(crate) fn f16s(shape: impl Into<Shape>, values: &[f32]) -> Tensor {
    let bits: Vec<u16> = values.iter().map(|&v| f16::from_f32(v).to_bits()).collect();
    typed(DataType::Float16, shape, &bits)
}

/// A tensor of any type.
pub(crate) fn typed<T: Element>(
    data_type: DataType,
    shape: impl Into<Shape>,
    values: &[T],
) -> Tensor {
    let info = TensorInfo::new(data_type, shape);
    let byte_len = info.byte_len().unwrap();
    assert_eq!(byte_len, size_of_val(values), "the shape is {}", info.shape);
    let mut bytes = AlignedBytes::filled(byte_len, 0);
    cast_slice_mut::<T>(bytes.as_mut())
        .unwrap()
        .copy_from_slice(values);
    Tensor {
        info,
        bytes,
        is_constant: false,
    }
}

impl Tensor {
    pub(crate) fn constant(mut self) -> Self {
        self.is_constant = true;
        self
    }

    /// The same bytes as elements of another type.
    pub(crate) fn with_type(mut self, data_type: DataType, shape: impl Into<Shape>) -> Self {
        self.info = TensorInfo::new(data_type, shape);
        assert_eq!(self.info.byte_len(), Some(self.bytes.len));
        self
    }

    pub(crate) fn quantized(mut self, quantization: Quantization) -> Self {
        self.info = self.info.quantized(quantization);
        self
    }
}

/// Repeatable numbers between -1 and 1, with few bits, so that sums of products are exact in f32.
pub(crate) fn sample_values(len: usize) -> Vec<f32> {
    let mut state = 12345u32;
    let mut next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        ((state >> 24) as f32 - 128.0) / 128.0
    };
    (0..len).map(|_| next()).collect()
}

/// The name of the layer, and the beginning of its tensors' names.
const MODEL_NAME: &str = "named by the model";

/// One layer with its tensors.
pub(crate) struct Call {
    descriptor: LayerDescriptor,
    layer_type: LayerType,
    inputs: Vec<Option<Tensor>>,
    outputs: Vec<TensorInfo>,
    n_threads: u32,
}

/// The outputs of a call.
#[derive(Debug)]
pub(crate) struct Results(Vec<AlignedBytes>, Vec<Shape>);

impl Results {
    pub(crate) fn elements<T: Element>(&self, position: usize) -> Vec<T> {
        cast_slice(self.0[position].as_ref()).unwrap().to_vec()
    }

    pub(crate) fn f32s(&self) -> Vec<f32> {
        self.elements(0)
    }

    /// The shape of an output, also of one that was not known before.
    pub(crate) fn shape(&self, position: usize) -> Vec<i64> {
        self.1[position].dims().to_vec()
    }

    /// Float16 results, widened.
    pub(crate) fn f16s(&self) -> Vec<f32> {
        let bits = self.elements::<u16>(0);
        bits.iter().map(|&b| f16::from_bits(b).to_f32()).collect()
    }
}

impl Call {
    pub(crate) fn new(descriptor: impl Into<LayerDescriptor>) -> Self {
        let descriptor = descriptor.into();
        Self {
            layer_type: descriptor.layer_type(),
            descriptor,
            inputs: vec![],
            outputs: vec![],
            n_threads: 1,
        }
    }

    /// A layer of a type that has no descriptor here.
    pub(crate) fn of_type(layer_type: LayerType) -> Self {
        Self {
            layer_type,
            ..Self::new(ReshapeDescriptor::new())
        }
    }

    pub(crate) fn input(mut self, tensor: Tensor) -> Self {
        self.inputs.push(Some(tensor));
        self
    }

    pub(crate) fn absent(mut self) -> Self {
        self.inputs.push(None);
        self
    }

    pub(crate) fn output(self, data_type: DataType, shape: impl Into<Shape>) -> Self {
        self.output_info(TensorInfo::new(data_type, shape))
    }

    pub(crate) fn output_info(mut self, info: TensorInfo) -> Self {
        self.outputs.push(info);
        self
    }

    pub(crate) fn threads(mut self, n_threads: u32) -> Self {
        self.n_threads = n_threads;
        self
    }

    /// What `is_layer_supported` says.
    pub(crate) fn supported(&self) -> Result<()> {
        assert_names_nothing(self.with_view(|view| {
            let backend = Backend::new();
            let mut error = guard::error_buffer();
            // SAFETY: the arguments are valid.
            let status = unsafe {
                (backend.table().is_layer_supported.unwrap())(backend.0, view, 0, &mut error)
            };
            guard::read_error(status, &error)
        }))
    }

    /// Executes the layer.
    ///
    /// # Panics
    /// When that fails.
    pub(crate) fn run(&self) -> Results {
        self.try_run().unwrap_or_else(|e| panic!("{e}"))
    }

    /// The message of the error that executing the layer ends with.
    pub(crate) fn error(&self) -> String {
        self.try_run().unwrap_err().to_string()
    }

    pub(crate) fn try_run(&self) -> Result<Results> {
        self.supported()?;
        assert_names_nothing(self.with_view(|view| {
            let backend = Backend::new();
            let host = sys::ArmnnModelHost {
                struct_size: size_of::<sys::ArmnnModelHost>(),
                host: null_mut(),
                n_threads: self.n_threads,
                reserved: 0,
                release_constant: None,
                parallel_for: None,
                cache_get: None,
                cache_put: None,
            };
            let mut error = guard::error_buffer();
            let mut context = null_mut();
            // SAFETY: the arguments are valid; context and workload are destroyed in order.
            unsafe {
                let create = backend.table().create_model_context.unwrap();
                let status = create(backend.0, null(), 0, &host, &mut context, &mut error);
                guard::read_error(status, &error)?;
                let table = &*(*context).table;
                let mut workload = null_mut();
                let create = table.create_workload.unwrap();
                let status = create(context, view, 0, &mut workload, &mut error);
                let result = guard::read_error(status, &error).and_then(|()| {
                    let result = self.execute(workload);
                    ((*(*workload).table).destroy.unwrap())(workload);
                    result
                });
                table.destroy.unwrap()(context);
                result
            }
        }))
    }

    /// # Safety
    /// The workload is valid.
    unsafe fn execute(&self, workload: *mut sys::ArmnnWorkload) -> Result<Results> {
        // SAFETY: by the contract of this function.
        let table = unsafe { &*(*workload).table };
        let mut error = guard::error_buffer();
        let (mut scratch_len, mut alignment) = (0, 0);
        // SAFETY: the arguments are valid.
        let status = unsafe {
            let f = table.memory_requirements.unwrap();
            f(workload, &mut scratch_len, &mut alignment, &mut error)
        };
        guard::read_error(status, &error)?;
        assert!(alignment.is_power_of_two() && alignment <= 64);
        // NaNs, read as floating-point numbers.
        let mut scratch = AlignedBytes::filled(scratch_len, 0xff);
        let mut results: Vec<_> = self
            .outputs
            .iter()
            .map(|info| AlignedBytes::filled(info.byte_len().unwrap_or(0), 0xff))
            .collect();
        let raw = |bytes: *mut u8, byte_len, shape: &Shape| sys::ArmnnTensor {
            struct_size: size_of::<sys::ArmnnTensor>(),
            data: bytes.cast(),
            byte_len,
            handle: null_mut(),
            offset: 0,
            shape: *shape.as_raw(),
        };
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|input| match input {
                None => raw(null_mut(), 0, &Shape::SCALAR),
                Some(t) => {
                    let bytes = t.bytes.as_ref();
                    raw(bytes.as_ptr().cast_mut(), bytes.len(), &t.info.shape)
                }
            })
            .collect();
        let mut outputs: Vec<_> = results
            .iter_mut()
            .zip(&self.outputs)
            .map(|(bytes, info)| {
                let bytes = bytes.as_mut();
                raw(bytes.as_mut_ptr(), bytes.len(), &info.shape)
            })
            .collect();
        let n_threads = self.n_threads;
        let mut host = Host {
            n_threads,
            infos: &self.outputs,
            results: &mut results,
            outputs: outputs.as_mut_ptr(),
        };
        let context = sys::ArmnnExecutionContext {
            struct_size: size_of::<sys::ArmnnExecutionContext>(),
            host: std::ptr::from_mut(&mut host).cast(),
            scratch: scratch.as_mut().as_mut_ptr().cast(),
            scratch_len,
            n_threads,
            reserved: 0,
            parallel_for: Some(parallel_for),
            allocate_output: Some(allocate_output),
            profile: None,
        };
        let stride = size_of::<sys::ArmnnTensor>();
        let before = ALLOCATIONS.get();
        // SAFETY: the arguments are valid.
        let status = unsafe {
            (table.execute.unwrap())(
                workload,
                null_mut(),
                &context,
                inputs.as_ptr(),
                inputs.len(),
                stride,
                outputs.as_mut_ptr(),
                outputs.len(),
                stride,
                &mut error,
            )
        };
        let allocations = ALLOCATIONS.get() - before;
        guard::read_error(status, &error)?;
        if n_threads == 1 {
            assert_eq!(allocations, 0, "execute allocated memory");
        }
        let shapes = outputs
            .iter()
            .map(|tensor| Shape::from_raw(&tensor.shape).unwrap());
        Ok(Results(results, shapes.collect()))
    }

    /// Calls `f` with a view of one layer, whose tensors are the inputs and then the outputs.
    fn with_view<T>(&self, f: impl FnOnce(*const sys::ArmnnSubgraphView) -> T) -> T {
        let names: Vec<String> = (0..self.inputs.len() + self.outputs.len())
            .map(|i| format!("{MODEL_NAME} {i}"))
            .collect();
        let text = |s: &str| sys::ArmnnStr {
            ptr: s.as_ptr().cast(),
            len: s.len(),
        };
        let mut tensors = vec![];
        let (mut inputs, mut outputs) = (vec![], vec![]);
        let mut add = |info: &TensorInfo, constant: Option<&[u8]>, producer| {
            let q = &info.quantization;
            tensors.push(sys::ArmnnTensorDesc {
                name: text(&names[tensors.len()]),
                data_type: info.data_type.0,
                producer,
                shape: *info.shape.as_raw(),
                quantization: sys::ArmnnQuantization {
                    count: q.scales().len() as u32,
                    axis: q.axis(),
                    scales: q.scales().as_ptr(),
                    zero_points: q.zero_points().as_ptr(),
                },
                constant_id: constant.map_or(0, |_| 7),
                data: constant.map_or(null(), |bytes| bytes.as_ptr().cast()),
                byte_len: info.byte_len().unwrap_or(0),
                consumers: null(),
                n_consumers: 0,
                flags: 0,
            });
            tensors.len() as u32 - 1
        };
        for input in &self.inputs {
            inputs.push(match input {
                None => sys::ARMNN_NO_TENSOR,
                Some(t) => {
                    let constant = t.is_constant.then_some(t.bytes.as_ref());
                    add(&t.info, constant, sys::ARMNN_NO_LAYER)
                }
            });
        }
        for info in &self.outputs {
            outputs.push(add(info, None, 0));
        }
        let (descriptor, descriptor_size) = self.descriptor.raw();
        let layer = sys::ArmnnLayerDesc {
            name: text(MODEL_NAME),
            layer_type: self.layer_type.0,
            id: 0,
            descriptor,
            descriptor_size,
            inputs: inputs.as_ptr(),
            outputs: outputs.as_ptr(),
            n_inputs: inputs.len() as u32,
            n_outputs: outputs.len() as u32,
        };
        let view = sys::ArmnnSubgraphView {
            struct_size: size_of::<sys::ArmnnSubgraphView>(),
            layers: &layer,
            n_layers: 1,
            layer_stride: size_of::<sys::ArmnnLayerDesc>(),
            tensors: tensors.as_ptr(),
            n_tensors: tensors.len(),
            tensor_stride: size_of::<sys::ArmnnTensorDesc>(),
            inputs: inputs.as_ptr(),
            n_inputs: inputs.len(),
            outputs: outputs.as_ptr(),
            n_outputs: outputs.len(),
        };
        f(&view)
    }
}

/// The wire object of the backend.
struct Backend(*mut sys::IBackendInternal);

impl Backend {
    fn new() -> Self {
        static HOST: sys::ArmnnHostApi = sys::ArmnnHostApi {
            struct_size: size_of::<sys::ArmnnHostApi>(),
            api_major: sys::ARMNN_API_MAJOR,
            api_minor: sys::ARMNN_API_MINOR,
            log: None,
            log_enabled: None,
        };
        // SAFETY: the factory has no conditions.
        let backend = Self(unsafe { StaticBackend::new::<CpuRef>().factory()() });
        let mut error = guard::error_buffer();
        // SAFETY: the arguments are valid.
        let status = unsafe {
            (backend.table().initialize.unwrap())(backend.0, &HOST, null(), 0, &mut error)
        };
        guard::read_error(status, &error).unwrap();
        backend
    }

    fn table(&self) -> &sys::ArmnnBackendTable {
        // SAFETY: the backend lives until `self` is dropped.
        unsafe { &*(*self.0).table }
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let mut error = guard::error_buffer();
        // SAFETY: the backend is not used any more.
        unsafe {
            let table = &*(*self.0).table;
            table.shutdown.unwrap()(self.0, &mut error);
            table.destroy.unwrap()(self.0);
        }
    }
}

/// What functions of the host find behind their `host`.
struct Host<'a> {
    n_threads: u32,
    infos: &'a [TensorInfo],
    results: &'a mut [AlignedBytes],
    outputs: *mut sys::ArmnnTensor,
}

/// `host` points to a [`Host`].
unsafe extern "C" fn allocate_output(
    host: *mut c_void,
    output: u32,
    shape: *const sys::ArmnnShape,
) -> *mut c_void {
    // What is allocated here does not count.
    let before = ALLOCATIONS.get();
    // SAFETY: `execute` above made it so; no other function of the host is being called.
    let (host, shape) = unsafe { (&mut *host.cast::<Host<'_>>(), &*shape) };
    let shape = Shape::from_raw(shape).unwrap();
    let info = &host.infos[output as usize];
    assert!(!info.shape.is_known(), "output {output} was known");
    assert!(info.shape.accepts(&shape), "{} {shape}", info.shape);
    let found = TensorInfo {
        shape,
        ..info.clone()
    };
    let bytes = &mut host.results[output as usize];
    let Some(byte_len) = found.byte_len().filter(|&n| n < 1 << 30) else {
        return null_mut();
    };
    *bytes = AlignedBytes::filled(byte_len, 0xff);
    // SAFETY: there is such an output.
    let tensor = unsafe { &mut *host.outputs.add(output as usize) };
    tensor.data = bytes.as_mut().as_mut_ptr().cast();
    tensor.byte_len = bytes.len;
    tensor.shape = *shape.as_raw();
    ALLOCATIONS.set(before);
    tensor.data
}

/// `host` points to a [`Host`].
unsafe extern "C" fn parallel_for(
    host: *mut c_void,
    n_tasks: u32,
    body: Option<unsafe extern "C" fn(*mut c_void, u32, u32)>,
    data: *mut c_void,
) -> sys::ArmnnStatus {
    // SAFETY: `execute` above made it so.
    let n_threads = unsafe { (*host.cast::<Host<'_>>()).n_threads };
    let (body, data) = (body.unwrap(), data as usize);
    std::thread::scope(|scope| {
        for thread in 0..n_threads {
            scope.spawn(move || {
                for task in (thread..n_tasks).step_by(n_threads as usize) {
                    // SAFETY: as the interface demands.
                    unsafe { body(data as *mut c_void, task, thread) }
                }
            });
        }
    });
    sys::ARMNN_STATUS_OK
}

/// Bytes aligned to 64, as those of a host's arenas.
#[derive(Clone, Debug)]
struct AlignedBytes {
    lines: Vec<Line>,
    len: usize,
}

/// Its bytes are looked at through pointers only.
#[allow(dead_code)]
#[repr(align(64))]
#[derive(Clone, Copy, Debug)]
struct Line([u8; 64]);

impl AlignedBytes {
    fn filled(len: usize, byte: u8) -> Self {
        Self {
            lines: vec![Line([byte; 64]); len.div_ceil(64)],
            len,
        }
    }

    fn as_ref(&self) -> &[u8] {
        // SAFETY: that many bytes are there.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }

    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

/// Fails if a message contains a name of the model: a reason is the same for all layers that it
/// holds of.
fn assert_names_nothing<T>(result: Result<T>) -> Result<T> {
    if let Err(e) = &result {
        let message = e.message();
        assert!(!message.contains(MODEL_NAME), "a name is in: {message}");
    }
    result
}

/// Fails unless the error is a refusal that mentions all these words.
pub(crate) fn assert_refused(call: &Call, words: &[&str]) {
    let error: BackendError = call.supported().unwrap_err();
    assert_eq!(
        error.status(),
        armnn_backend_api::Status::Unsupported,
        "{error}"
    );
    for word in words {
        assert!(error.message().contains(word), "{word} is not in: {error}");
    }
}

/// Fails unless each pair is equal, or apart by at most `tolerance`.
pub(crate) fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (i, (&f, &e)) in found.iter().zip(expected).enumerate() {
        let same = f == e || (f.is_nan() && e.is_nan());
        assert!(
            same || (f - e).abs() <= tolerance,
            "element {i}: {f}, not {e}\n{found:?}\n{expected:?}"
        );
    }
}
