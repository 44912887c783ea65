//! A backend that changes how its thread computes does not change how the application does.

#![cfg(target_arch = "x86_64")]

use std::{arch::asm, hint::black_box};

use armnn_backend_api::{
    ExecutionContext, HostApi, HostMemory, IBackendInternal, Inputs, LayerView, ModelContext,
    ModelHost, Options, Outputs, Result, Synchronous, Workload,
};
use armnn_network::NetworkBuilder;
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, OptimizerOptions, Runtime, StaticBackend,
    TensorInfo,
};

/// What a library built with -ffast-math does when it is loaded: denormals become 0.
fn flush_denormals() {
    let mut mxcsr = 0u32;
    // SAFETY: sets the bits FTZ and DAZ of the control register of this thread.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &mut mxcsr);
        mxcsr |= 0x8040;
        asm!("ldmxcsr [{}]", in(reg) &mxcsr);
    }
}

fn denormals_are_kept() -> bool {
    black_box(1e-39_f32) * black_box(1.0) != 0.0
}

struct Flushing;

impl IBackendInternal for Flushing {
    const ID: &'static str = "Flushing";
    type ModelContext = Context;

    fn create() -> Result<Self> {
        flush_denormals();
        Ok(Self)
    }

    fn initialize(&mut self, _: HostApi, _: Options<'_>) -> Result<()> {
        flush_denormals();
        Ok(())
    }

    fn is_layer_supported(&self, _: LayerView<'_>) -> Result<()> {
        flush_denormals();
        Ok(())
    }

    fn create_model_context(&self, _: Options<'_>, _: ModelHost) -> Result<Context> {
        flush_denormals();
        Ok(Context)
    }
}

struct Context;

impl ModelContext for Context {
    type Execution = Synchronous;
    type TensorHandle = HostMemory;

    fn create_workload(&mut self, _: LayerView<'_>) -> Result<Box<dyn Workload>> {
        flush_denormals();
        Ok(Box::new(Copy))
    }
}

struct Copy;

impl Workload for Copy {
    fn execute(
        &self,
        context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        flush_denormals();
        context.parallel_for(8, |_, _| flush_denormals())?;
        outputs
            .elements_mut::<f32>(0)?
            .copy_from_slice(inputs.elements(0)?);
        Ok(())
    }
}

#[test]
fn every_call_leaves_the_floating_point_environment_as_it_was() {
    assert!(denormals_are_kept());
    let options = CreationOptions::new().static_backend(StaticBackend::new::<Flushing>());
    let runtime = Runtime::create(options.number_of_threads(2)).unwrap();
    assert!(denormals_are_kept(), "making and initializing");

    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [4]);
    let x = builder.add_input_layer("x", info).unwrap();
    let y = builder.add_reshape_layer([2, 2], x, "y").unwrap();
    builder.add_output_layer("y", y).unwrap();
    let network = builder.finish().unwrap();
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .unwrap();
    assert!(denormals_are_kept(), "asking");
    let loaded = runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap();
    assert!(denormals_are_kept(), "compiling");
    let x = HostTensor::from_f32([4], &[1.0, 2.0, 3.0, 4.0]).unwrap();
    loaded.run(&[x]).unwrap();
    assert!(denormals_are_kept(), "executing");
    drop((loaded, runtime));
    assert!(denormals_are_kept(), "shutting down");
}
