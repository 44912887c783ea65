//! Backends whose answers are odd, wrong or late: what the runtime makes of them.

use std::sync::Arc;

use armnn_network::{LayerId, Network, NetworkBuilder, TensorId};
use armnn_runtime::{
    Choice, CreationOptions, DataType, ExecutionState, LoadError, LoadOptions, LoadedNetwork,
    OptimizerOptions, Runtime, StaticBackend, TensorInfo,
};
use odd::Odd;

/// A backend that runs nothing. Names of layers make it do something odd.
mod odd {
    use armnn_backend_api::{
        BackendError, Execution, ExecutionContext, IBackendInternal, Inputs, LayerView,
        ModelContext, ModelHost, OptimizationViews, Options, Outputs, Result, Status, SubgraphView,
        TensorHandle, TensorView, Workload,
    };

    pub struct Odd;

    impl IBackendInternal for Odd {
        const ID: &'static str = "Odd";

        type ModelContext = Odd;

        fn create() -> Result<Self> {
            Ok(Self)
        }

        fn is_layer_supported(&self, _: LayerView<'_>) -> Result<()> {
            Ok(())
        }

        fn create_model_context(&self, _: Options<'_>, _: ModelHost) -> Result<Odd> {
            Ok(Odd)
        }
    }

    impl ModelContext for Odd {
        type Execution = OddExecution;
        type TensorHandle = OddHandle;

        fn optimize_subgraph_view(
            &mut self,
            graph: &SubgraphView<'_>,
            views: &mut OptimizationViews<'_, OddExecution>,
        ) -> Result<()> {
            for layer in graph.layers() {
                match layer.name() {
                    "given up twice" => {
                        let index = layer.index();
                        views.add_failed(&[index, index], "first")?;
                        views.add_failed(&[index], "second")?;
                    }
                    "does not compile" => {
                        return Err(BackendError::new("no code for it").in_layer(layer.id()));
                    }
                    "of another network" => {
                        return Err(BackendError::new("no code for it").in_layer(u32::MAX - 1));
                    }
                    _ => {}
                }
            }
            Ok(())
        }

        fn create_workload(
            &mut self,
            layer: LayerView<'_>,
        ) -> Result<Box<dyn Workload<OddExecution>>> {
            Ok(Box::new(OddWorkload {
                loses_device: layer.name() == "loses the device",
                panics_in_wait: layer.name() == "panics in wait",
            }))
        }

        fn create_execution(&mut self) -> Result<Option<OddExecution>> {
            Ok(Some(OddExecution::default()))
        }

        fn create_tensor_handle(&mut self, _: TensorView<'_>) -> Result<Option<OddHandle>> {
            Ok(Some(OddHandle([0; 3])))
        }
    }

    struct OddWorkload {
        loses_device: bool,
        panics_in_wait: bool,
    }

    impl Workload<OddExecution> for OddWorkload {
        fn execute(
            &self,
            context: &mut ExecutionContext<'_, OddExecution>,
            _: Inputs<'_>,
            _: &mut Outputs<'_>,
        ) -> Result<()> {
            // Only the first layer is there.
            context.profile("odd", &[0, 1000, u32::MAX], 1, 2);
            if let (true, Some(execution)) = (self.panics_in_wait, context.execution()) {
                execution.panics = true;
            }
            if self.loses_device {
                if let Some(execution) = context.execution() {
                    execution.is_lost = true;
                }
                return Err(BackendError::new("the queue takes nothing"));
            }
            Ok(())
        }
    }

    #[derive(Default)]
    pub struct OddExecution {
        is_lost: bool,
        panics: bool,
    }

    impl Execution for OddExecution {
        fn wait(&mut self) -> Result<()> {
            assert!(!self.panics, "asked to panic in wait");
            match self.is_lost {
                true => Err(BackendError::with_status(Status::DeviceLost, "it fell off")),
                false => Ok(()),
            }
        }
    }

    thread_local! {
        /// How many handles were dropped on this thread.
        pub static DROPPED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    /// Maps three bytes, whatever the tensor is.
    pub struct OddHandle([u8; 3]);

    impl Drop for OddHandle {
        fn drop(&mut self) {
            DROPPED.set(DROPPED.get() + 1);
        }
    }

    impl TensorHandle for OddHandle {
        fn map(&mut self, _read: bool, _write: bool) -> Result<&mut [u8]> {
            Ok(&mut self.0)
        }
    }
}

/// A backend that releases every constant that it is shown.
mod releasing {
    use armnn_backend_api::{
        ExecutionContext, IBackendInternal, Inputs, LayerView, ModelContext, ModelHost,
        OptimizationViews, Options, Outputs, Result, SubgraphView, Synchronous, Workload,
    };

    pub struct Releasing;

    impl IBackendInternal for Releasing {
        const ID: &'static str = "Releasing";

        type ModelContext = Context;

        fn create() -> Result<Self> {
            Ok(Self)
        }

        fn is_layer_supported(&self, _: LayerView<'_>) -> Result<()> {
            Ok(())
        }

        fn create_model_context(&self, _: Options<'_>, host: ModelHost) -> Result<Context> {
            Ok(Context(host))
        }
    }

    pub struct Context(ModelHost);

    impl ModelContext for Context {
        type Execution = Synchronous;
        type TensorHandle = armnn_backend_api::HostMemory;

        fn optimize_subgraph_view(
            &mut self,
            graph: &SubgraphView<'_>,
            _: &mut OptimizationViews<'_, Synchronous>,
        ) -> Result<()> {
            for constant in graph.tensors().filter(|t| t.is_constant()) {
                self.0.release_constant(constant.constant_id());
            }
            Ok(())
        }

        fn create_workload(&mut self, _: LayerView<'_>) -> Result<Box<dyn Workload>> {
            Ok(Box::new(Nothing))
        }
    }

    struct Nothing;

    impl Workload for Nothing {
        fn execute(
            &self,
            _: &mut ExecutionContext<'_, Synchronous>,
            _: Inputs<'_>,
            _: &mut Outputs<'_>,
        ) -> Result<()> {
            Ok(())
        }
    }
}

/// x + x, and that twice: layers of these names. Their tensors have the same names.
fn network(first: &str, second: &str) -> Network {
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [2]);
    let x = builder.add_input_layer("x", info).unwrap();
    let sum = builder.add_addition_layer(x, x, first).unwrap();
    let sum = builder.add_addition_layer(sum, sum, second).unwrap();
    builder.add_output_layer("y", sum).unwrap();
    builder.finish().unwrap()
}

/// Loads it for Odd, and CpuRef after it.
fn load(first: &str, second: &str) -> Result<LoadedNetwork, LoadError> {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<Odd>())
        .static_backend(StaticBackend::new::<cpu_ref::CpuRef>());
    let runtime = Runtime::create(options).unwrap();
    let preferred = OptimizerOptions::with_preferred_backends(["Odd", "CpuRef"]).unwrap();
    let optimized = runtime
        .optimize(network(first, second), &preferred)
        .unwrap();
    runtime.load_network(optimized, LoadOptions::default())
}

fn state(first: &str, second: &str) -> ExecutionState {
    load(first, second)
        .unwrap()
        .create_execution_state()
        .unwrap()
}

#[test]
fn a_layer_that_is_given_up_twice_is_reassigned_once() {
    let loaded = load("first", "given up twice").unwrap();
    let (report, _) = loaded.plan_report(&loaded.declared_input_shapes()).unwrap();
    let layer = &report.layers[1];
    assert_eq!(
        (layer.backend.as_str(), layer.choice),
        ("CpuRef", Choice::Reassigned)
    );
    let refusals: Vec<_> = layer
        .refusals
        .iter()
        .map(|r| (r.backend.as_str(), r.reason.as_str()))
        .collect();
    assert_eq!(refusals, [("Odd", "first")]);
}

#[test]
fn an_error_of_compiling_names_the_layer_that_the_backend_tells() {
    assert_eq!(
        load("first", "does not compile").unwrap_err().to_string(),
        "backend Odd failed to compile layer 'does not compile' (ElementwiseBinary): no code for it"
    );
    assert_eq!(
        load("first", "of another network").unwrap_err().to_string(),
        "backend Odd failed to compile a subgraph: no code for it"
    );
}

#[test]
fn a_handle_that_maps_another_number_of_bytes_is_not_read() {
    let mut state = state("between", "last");
    state.execute().unwrap();
    // Tensor 0 is the input.
    let error = state.inspect_tensor(TensorId(1)).unwrap_err().to_string();
    assert!(
        error.starts_with("backend Odd failed: backend Odd mapped 3 bytes at 0x")
            && error.ends_with("for a tensor of 8"),
        "{error}"
    );
}

#[test]
fn layers_that_are_not_there_are_left_out_of_profiles() {
    let mut state = state("first", "second");
    state.set_profiling(true);
    state.execute().unwrap();
    let events = state.take_profile().events;
    assert_eq!(events.len(), 2);
    assert!(events.iter().all(|e| e.layers == [LayerId(0)]));
}

#[test]
fn a_device_lost_behind_another_error_is_noticed() {
    let mut state = state("first", "loses the device");
    let first = state.execute().unwrap_err().to_string();
    assert_eq!(
        first,
        "backend Odd failed in layer 'loses the device' (ElementwiseBinary): the queue takes nothing"
    );
    let second = state.execute().unwrap_err().to_string();
    assert_eq!(
        second,
        "backend Odd failed: device lost: it fell off; the network cannot be used on this backend \
         any more, load it anew"
    );
}

#[test]
fn what_work_may_use_that_cannot_be_waited_for_is_not_destroyed() {
    let mut sound = state("between", "second");
    sound.execute().unwrap();
    drop(sound);
    assert_eq!(odd::DROPPED.get(), 1);

    let mut state = state("between", "panics in wait");
    let error = state.execute().unwrap_err().to_string();
    assert!(error.contains("asked to panic in wait"), "{error}");
    drop(state);
    assert_eq!(odd::DROPPED.get(), 1);
}

#[test]
fn whoever_was_shown_a_constant_holds_it_even_if_it_gave_up_the_layer() {
    struct Owner(Arc<[u8; 8]>);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &*self.0
        }
    }
    for (name, is_dropped) in [("any", false), ("given up twice", false), ("any", true)] {
        let bytes = Arc::new([0; 8]);
        let alive = Arc::downgrade(&bytes);
        let mut builder = NetworkBuilder::new();
        let info = TensorInfo::new(DataType::Float32, [2]);
        let x = builder.add_input_layer("x", info.clone()).unwrap();
        let constant = bytes::Bytes::from_owner(Owner(bytes));
        let one = builder.add_constant_layer("one", info, constant).unwrap();
        let sum = builder.add_addition_layer(x, one, name).unwrap();
        builder.add_output_layer("y", sum).unwrap();
        let options = CreationOptions::new()
            .static_backend(StaticBackend::new::<Odd>())
            .static_backend(StaticBackend::new::<releasing::Releasing>());
        let runtime = Runtime::create(options).unwrap();
        let preferred: &[&str] = match is_dropped {
            true => &["Releasing"],
            // Odd releases nothing, whether it keeps the layer or not.
            false => &["Odd", "Releasing"],
        };
        let preferred =
            OptimizerOptions::with_preferred_backends(preferred.iter().copied()).unwrap();
        let optimized = runtime
            .optimize(builder.finish().unwrap(), &preferred)
            .unwrap();
        let loaded = runtime
            .load_network(optimized, LoadOptions::default())
            .unwrap();
        assert_eq!(alive.strong_count() == 0, is_dropped, "{name}");
        drop(loaded);
        assert_eq!(alive.strong_count(), 0);
    }
}
