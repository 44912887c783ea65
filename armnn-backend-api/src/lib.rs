//! The contract between the runtime and a compute backend.
//!
//! A backend executes layers of neural networks: it is one shared object that the runtime finds,
//! vets, loads, gives whole subgraphs, and unloads; or a crate that is linked in. Its author
//! implements [`IBackendInternal`] and writes one line, [`declare_backend!`]; or fills the tables of
//! `include/armnn_backend.h` in C or C++. The decisions behind the interface:
//!
//! * **One path.** A backend that is linked in is the same tables made in process
//!   ([`StaticBackend`]), so both kinds pass the same guards, and give the same results to the bit.
//! * **Five backend objects**: [`IBackendInternal`], one for each runtime; [`ModelContext`], one for
//!   each loaded network; [`Workload`], a compiled layer or several in one, immutable and shared;
//!   [`Execution`], one for each execution state, such as a queue; [`TensorHandle`], memory of the
//!   backend's own. **Five host objects**: [`HostApi`], [`ModelHost`], [`OptimizationViews`],
//!   [`ExecutionContext`], [`ProbeSink`]. Everything optional has a default.
//! * **The graph crosses flat.** A [`SubgraphView`] is a read-only table; index is identity. Weights
//!   and biases are inputs. There is one spelling per operation ([`LayerDescriptor`]).
//! * **The host validates.** Arity, ranks, sizes, data types, numbers in descriptors and known
//!   shapes are checked before a backend sees them, and backends rely on it. What a backend answers
//!   is checked as well: claims are disjoint, convex, and have exact boundaries, or the whole answer
//!   is refused by name.
//! * **Asking is cheap, looking for hardware is not.** `is_layer_supported` is pure; hardware is
//!   looked for in `probe`, once, before the backend is used.
//! * **Shapes are static.** A view that is compiled has every dimension known. Another input shape is
//!   another plan; what was packed is found again by the constant's id.
//! * **Constants belong to the host** until the context releases them
//!   ([`ModelHost::release_constant`]); then the host drops them as soon as nobody else can need
//!   them.
//! * **Memory belongs to whoever made it.** Nothing is freed by the other side; strings and arrays
//!   are borrowed for the call. Every backend takes and gives host memory, dense and row-major; a
//!   backend may keep tensors that it alone touches in handles of its own.
//! * **Work may be asynchronous.** A workload may return before it is done; the host flushes before
//!   an edge to another backend, and waits before anyone reads or reuses memory that is touched.
//! * **Errors are a status and a message** ([`BackendError`]), in a buffer of the caller's. An
//!   asynchronous backend may name the layer. A lost device fails the execution; nothing falls back
//!   silently.
//! * **Nothing unwinds across the boundary.** Both sides guard. What panicked answers every later
//!   call with that error, and its code is never unmapped; poison flows downwards only.
//! * **Threads are the host's**: `parallel_for`. Calls on a backend may come from any thread; on a
//!   model context one at a time; on an execution or a handle from one thread at a time. `shutdown`
//!   joins what the backend started itself.
//! * **The log is the host's.** A shared object has `log` statics of its own; they are led to the
//!   host, so a backend simply uses the `log` crate.
//! * **Tables only grow at their end** within a major, and say how long they are. A backend is
//!   compatible if the majors are equal and its minor is not above the host's ([`BackendVersion`]).
//!   Layout and version are read from a note in the file before any of its code runs ([`sys`]).
//!
//! What is unsafe: everything in [`sys`], which is plain C; the glue in this crate upholds its rules
//! on the backend's side, so that a backend in Rust needs no `unsafe` of its own unless it imports
//! host memory or makes handles.
//!
//! The smallest backend, whole:
//!
//! ```
//! use armnn_backend_api::{
//!     BackendError, ExecutionContext, HostMemory, IBackendInternal, Inputs, LayerType, LayerView,
//!     ModelContext, ModelHost, Options, Outputs, Result, Synchronous, Workload,
//! };
//!
//! /// Takes Reshape, and copies the elements.
//! struct Copying;
//!
//! impl IBackendInternal for Copying {
//!     const ID: &'static str = "Copying";
//!     type ModelContext = Context;
//!
//!     fn create() -> Result<Self> {
//!         Ok(Self)
//!     }
//!
//!     fn is_layer_supported(&self, layer: LayerView<'_>) -> Result<()> {
//!         match layer.layer_type() {
//!             LayerType::Reshape => Ok(()),
//!             _ => Err(BackendError::unsupported("only Reshape is implemented")),
//!         }
//!     }
//!
//!     fn create_model_context(&self, options: Options<'_>, _: ModelHost) -> Result<Context> {
//!         options.check_known(&[])?;
//!         Ok(Context)
//!     }
//! }
//!
//! struct Context;
//!
//! impl ModelContext for Context {
//!     type Execution = Synchronous;
//!     type TensorHandle = HostMemory;
//!
//!     fn create_workload(&mut self, _: LayerView<'_>) -> Result<Box<dyn Workload>> {
//!         Ok(Box::new(Copy))
//!     }
//! }
//!
//! struct Copy;
//!
//! impl Workload for Copy {
//!     fn execute(
//!         &self,
//!         _: &mut ExecutionContext<'_, Synchronous>,
//!         inputs: Inputs<'_>,
//!         outputs: &mut Outputs<'_>,
//!     ) -> Result<()> {
//!         outputs.elements_mut::<u8>(0)?.copy_from_slice(inputs.elements(0)?);
//!         Ok(())
//!     }
//! }
//!
//! armnn_backend_api::declare_backend!(Copying);
//! ```

mod backend_id;
mod clock;
mod declare;
mod element;
mod error;
pub mod guard;
mod host;
mod layers;
#[cfg(feature = "layout-check")]
pub mod layout_check;
mod log_forward;
mod object;
mod open_enum;
mod options;
pub mod sys;
mod tensor;
mod traits;
mod version;
mod view;

pub use backend_id::{BackendId, BackendIdError};
pub use clock::monotonic_ns;
#[doc(hidden)]
pub use declare::Exports;
pub use declare::StaticBackend;
pub use element::{Element, cast_slice, cast_slice_mut};
pub use error::{BackendError, BackendKind, Result, Status};
pub use host::{
    ExecutionContext, HostApi, Inputs, ModelHost, OptimizationViews, Outputs, ProbeSink,
};
pub use layers::*;
pub use object::handle_value;
pub use options::{OptionValue, Options, raw_option};
pub use tensor::{DataType, Quantization, RankError, Shape, TensorInfo};
pub use traits::{
    Capabilities, Execution, HostMemory, IBackendInternal, MemoryRequirements, ModelContext,
    Synchronous, TensorHandle, Workload,
};
pub use version::BackendVersion;
pub use view::{LayerIndex, LayerView, SubgraphView, TensorIndex, TensorView};

/// Stands in a layer's inputs for one that is absent.
pub const NO_TENSOR: TensorIndex = sys::ARMNN_NO_TENSOR;

/// The compiler and target this crate was built with, for the backend note.
pub const TOOLCHAIN: &str = env!("ARMNN_TOOLCHAIN");

#[doc(hidden)]
pub const LAYOUT_EXPORT_FLAG: u32 = if cfg!(feature = "layout-check") {
    sys::ARMNN_NOTE_FLAG_LAYOUT_EXPORT
} else {
    0
};

#[cfg(not(feature = "layout-check"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_layout {
    () => {};
}

#[cfg(feature = "layout-check")]
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_layout {
    () => {
        #[doc(hidden)]
        #[allow(
            non_upper_case_globals,
            reason = "exports are named as functions of C++ are"
        )]
        #[unsafe(no_mangle)]
        pub static ArmnnBackendLayout: $crate::layout_check::LayoutExport =
            $crate::layout_check::LayoutExport::CURRENT;
    };
}
