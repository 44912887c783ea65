//! A backend to begin with: it adds Float32 tensors of the same shape, and nothing else.
//!
//! Copy it, give it an id of its own, and let it say yes to more layers. Three things are asked
//! of a backend, and each has a section below: what it can do, what it keeps for a network, and
//! how it executes a layer. Everything else has a default. The crate `sample-backend-dynamic`
//! makes a shared object of it.

use armnn_backend_sdk::{
    BackendError, BinaryOperation, DataType, DescriptorRef, ExecutionContext, HostMemory,
    IBackendInternal, Inputs, LayerView, ModelContext, ModelHost, Options, Outputs, Result,
    Synchronous, Workload,
};

/// The backend. The runtime makes one for itself, and may use it from several threads.
pub struct SampleBackend;

// 1. What it can do.
impl IBackendInternal for SampleBackend {
    /// What an application calls the backend by. It must differ from those of all others.
    const ID: &'static str = "SampleDynamic";

    type ModelContext = SampleModelContext;

    /// A place to set things up that need no hardware; hardware is looked for in `probe`.
    fn create() -> Result<Self> {
        Ok(Self)
    }

    /// The runtime asks for each layer, before shapes need be known, and gives this backend those
    /// it says yes to. A reason for a no is shown to the user.
    fn is_layer_supported(&self, layer: LayerView<'_>) -> Result<()> {
        let Some(DescriptorRef::ElementwiseBinary(descriptor)) = layer.descriptor() else {
            return Err(BackendError::unsupported(
                "only ElementwiseBinary is supported",
            ));
        };
        if descriptor.operation() != BinaryOperation::Add {
            return Err(BackendError::unsupported("only Add is supported"));
        }
        let sum = layer.output(0);
        for tensor in layer.inputs().chain([sum]) {
            if tensor.data_type() != DataType::Float32 {
                return Err(BackendError::unsupported("only Float32 is supported"));
            }
            // Two shapes with unknown dimensions may turn out to differ; `create_workload` looks
            // again.
            if tensor.shape() != sum.shape() {
                return Err(BackendError::unsupported("the shapes must be the same"));
            }
        }
        Ok(())
    }

    /// Called for each network that is loaded. An option that nobody knows is an error.
    fn create_model_context(
        &self,
        options: Options<'_>,
        _host: ModelHost,
    ) -> Result<SampleModelContext> {
        options.check_known(&[])?;
        Ok(SampleModelContext)
    }
}

// 2. What it keeps for a network: packed weights, compiled kernels; here, nothing.
/// What belongs to one loaded network.
pub struct SampleModelContext;

impl ModelContext for SampleModelContext {
    /// The work is done when `execute` returns. A device with a queue has an execution here.
    type Execution = Synchronous;
    /// Tensors are in the memory of the host. A device with its own memory has a handle here.
    type TensorHandle = HostMemory;

    /// Called when all shapes are known. What can be worked out beforehand, is worked out here.
    fn create_workload(&mut self, layer: LayerView<'_>) -> Result<Box<dyn Workload>> {
        // Until a dimension was known, two shapes could look the same, and not be.
        SampleBackend.is_layer_supported(layer)?;
        Ok(Box::new(Addition))
    }
}

// 3. How it executes a layer.
/// The sum of two tensors.
struct Addition;

impl Workload for Addition {
    /// Called for each inference, perhaps by several threads at once. Inputs and outputs are those
    /// of the layer, in order: dense, and outermost dimension first.
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let x = inputs.elements::<f32>(0)?;
        let y = inputs.elements::<f32>(1)?;
        let sum = outputs.elements_mut::<f32>(0)?;
        for (sum, (x, y)) in sum.iter_mut().zip(x.iter().zip(y)) {
            *sum = x + y;
        }
        Ok(())
    }
}
