//! What a backend in Rust implements.

use crate::{
    BackendError, BackendKind, Result,
    host::{ExecutionContext, HostApi, Inputs, ModelHost, OptimizationViews, Outputs, ProbeSink},
    options::Options,
    sys,
    view::{LayerView, SubgraphView, TensorView},
};

/// A compute backend.
///
/// The host makes one instance for each runtime. `initialize` is the first call, `shutdown` the
/// last; both are exclusive. All others may come from several threads at once.
pub trait IBackendInternal: Sized + Send + Sync + 'static {
    /// The id; checked by [`BackendId::is_valid`](crate::BackendId::is_valid) at compile time.
    const ID: &'static str;

    /// What belongs to one loaded network.
    type ModelContext: ModelContext;

    /// Makes an instance. Must be cheap.
    ///
    /// # Errors
    /// The backend is reported as failed, with this error.
    fn create() -> Result<Self>;

    /// Takes the application's options for this backend. Must be cheap; hardware is looked for in
    /// [`probe`](Self::probe).
    ///
    /// # Errors
    /// The backend is reported as failed. An unknown option must be an error; the default knows
    /// none.
    fn initialize(&mut self, host: HostApi, options: Options<'_>) -> Result<()> {
        let _ = host;
        options.check_known(&[])
    }

    /// Joins threads and removes handlers, so that the code can be unmapped. The backend is dropped
    /// behind it.
    ///
    /// # Errors
    /// The code is never unmapped then.
    fn shutdown(&mut self) -> Result<()> {
        Ok(())
    }

    /// What the backend is.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Looks for hardware and names it. Called once, before the backend is used.
    ///
    /// # Errors
    /// [`BackendError::unavailable`] with the reason when there is none.
    fn probe(&self, sink: &mut ProbeSink<'_>) -> Result<()> {
        let _ = sink;
        Ok(())
    }

    /// Whether the backend can execute a layer. Cheap and pure; dimensions may be unknown. The
    /// layer's graph is there to recognise patterns by its neighbours.
    ///
    /// # Errors
    /// [`BackendError::unsupported`] with the reason when it cannot.
    fn is_layer_supported(&self, layer: LayerView<'_>) -> Result<()>;

    /// Makes what belongs to one loaded network. `host` may be kept in the context.
    ///
    /// # Errors
    /// Loading the network fails.
    fn create_model_context(
        &self,
        options: Options<'_>,
        host: ModelHost,
    ) -> Result<Self::ModelContext>;
}

/// What a backend is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Its kind.
    pub kind: BackendKind,
    /// [`UNALIGNED_CONSTANTS`](Self::UNALIGNED_CONSTANTS), or 0.
    pub flags: u32,
}

impl Capabilities {
    /// Constants need not be aligned to the size of their elements.
    pub const UNALIGNED_CONSTANTS: u32 = sys::ARMNN_CAPABILITY_UNALIGNED_CONSTANTS;

    /// Whether all these flags are set.
    pub const fn has(&self, flags: u32) -> bool {
        self.flags & flags == flags
    }
}

impl Default for Capabilities {
    /// Kind Reference, no flags.
    fn default() -> Self {
        Self {
            kind: BackendKind::Reference,
            flags: 0,
        }
    }
}

/// What belongs to one loaded network and one backend: options, packed weights keyed by
/// [constant id](TensorView::constant_id), compiled code. The host makes one call at a time.
pub trait ModelContext: Send + 'static {
    /// The backend's executions; [`Synchronous`] if it has none.
    type Execution: Execution;
    /// The backend's tensor handles; [`HostMemory`] if it has none.
    type TensorHandle: TensorHandle;

    /// Looks at a subgraph and claims what it wants to execute as a whole, through
    /// [`add_precompiled`](OptimizationViews::add_precompiled). What it does not mention gets a
    /// workload for each layer.
    ///
    /// # Errors
    /// Compiling the network fails.
    fn optimize_subgraph_view(
        &mut self,
        graph: &SubgraphView<'_>,
        views: &mut OptimizationViews<'_, Self::Execution>,
    ) -> Result<()> {
        let _ = (graph, views);
        Ok(())
    }

    /// Makes a workload for one layer. Its inputs and outputs are those of the layer, in order,
    /// constants and absent ones included.
    ///
    /// # Errors
    /// [`BackendError::unsupported`]: the layer is assigned to another backend, if that is
    /// allowed. Otherwise compiling the network fails.
    fn create_workload(
        &mut self,
        layer: LayerView<'_>,
    ) -> Result<Box<dyn Workload<Self::Execution>>>;

    /// Makes an execution for an execution state; `None`: this context is synchronous.
    ///
    /// # Errors
    /// Making the execution state fails.
    fn create_execution(&mut self) -> Result<Option<Self::Execution>> {
        Ok(None)
    }

    /// Makes a handle for a tensor that only workloads of this context touch; `None`: host memory
    /// is used.
    ///
    /// # Errors
    /// Making the execution state fails.
    fn create_tensor_handle(
        &mut self,
        tensor: TensorView<'_>,
    ) -> Result<Option<Self::TensorHandle>> {
        let _ = tensor;
        Ok(None)
    }

    /// Makes host memory, aligned to 64 bytes, accessible to the device until the handle is dropped;
    /// it may hold many tensors. `read` and `write` tell what the backend's workloads do with it.
    /// `None`: the backend copies.
    ///
    /// # Errors
    /// Making the execution state fails.
    ///
    /// # Safety
    /// `byte_len` bytes at `data` stay valid until the handle is dropped.
    unsafe fn import_host_memory(
        &mut self,
        data: *mut u8,
        byte_len: usize,
        read: bool,
        write: bool,
    ) -> Result<Option<Self::TensorHandle>> {
        let _ = (data, byte_len, read, write);
        Ok(None)
    }

    /// Bytes that the context holds, such as packed weights and compiled code, on whatever memory;
    /// `None`: not known. Since interface 1.1.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn memory_usage(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }
}

/// A compiled layer, or several layers compiled into one: immutable, and shared between threads.
pub trait Workload<E = Synchronous>: Send + Sync + 'static {
    /// Scratch memory that [`execute`](Self::execute) needs.
    ///
    /// # Errors
    /// Compiling the network fails.
    fn memory_requirements(&self) -> Result<MemoryRequirements> {
        Ok(MemoryRequirements::default())
    }

    /// Runs the workload, or starts it when there is an execution. Several threads may be in here,
    /// each with an execution of its own.
    ///
    /// # Errors
    /// The network's execution fails with this error.
    fn execute(
        &self,
        context: &mut ExecutionContext<'_, E>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()>;
}

/// Memory that a workload needs while it executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRequirements {
    /// Bytes.
    pub scratch_len: usize,
    /// A power of two.
    pub alignment: usize,
}

impl Default for MemoryRequirements {
    /// None.
    fn default() -> Self {
        Self {
            scratch_len: 0,
            alignment: 64,
        }
    }
}

/// What belongs to one execution state and one backend, such as a command queue. One thread at a
/// time; work is done in the order in which it was given.
pub trait Execution: Send + 'static {
    /// Hands over what was collected so far; returns at once.
    ///
    /// # Errors
    /// The network's execution fails.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Returns when everything is done.
    ///
    /// # Errors
    /// The first error since the last `wait`.
    fn wait(&mut self) -> Result<()>;
}

/// Memory of the backend's own. One thread at a time.
pub trait TensorHandle: Send + 'static {
    /// Makes the tensor accessible as dense, row-major host memory until [`unmap`](Self::unmap),
    /// the next call on this handle. `read` and `write` tell what for.
    ///
    /// # Errors
    /// When the handle cannot be looked into, which is the default.
    fn map(&mut self, read: bool, write: bool) -> Result<&mut [u8]> {
        let _ = (read, write);
        Err(BackendError::with_status(
            crate::Status::Unimplemented,
            "this tensor handle cannot be mapped",
        ))
    }

    /// Ends a [`map`](Self::map).
    ///
    /// # Errors
    /// When what was written could not be taken over.
    fn unmap(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The execution of a backend that has none: its workloads are done when they return.
#[derive(Debug)]
pub enum Synchronous {}

impl Execution for Synchronous {
    fn wait(&mut self) -> Result<()> {
        match *self {}
    }
}

/// The tensor handle of a backend that has none: its tensors are in host memory.
#[derive(Debug)]
pub enum HostMemory {}

impl TensorHandle for HostMemory {}
