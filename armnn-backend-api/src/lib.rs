//! The contract between the runtime and a compute backend.

mod backend_id;
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
