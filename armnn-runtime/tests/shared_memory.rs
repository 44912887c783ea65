//! What is shared between execution states is never written again, and what belongs to a network is
//! out of a backend's reach when the network is gone.

use std::sync::Mutex;

use armnn_backend_api::{
    ExecutionContext, HostMemory, IBackendInternal, Inputs, LayerView, ModelContext, ModelHost,
    OptimizationViews, Options, Outputs, Result, SubgraphView, Synchronous, Workload,
};
use armnn_network::{Network, NetworkBuilder};
use armnn_runtime::{
    CreateError, CreationOptions, DataType, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime,
    Shape, StaticBackend, TensorInfo,
};

/// Takes layer by layer for one element, and the whole network for two; then it writes 99.
struct Claiming;

impl IBackendInternal for Claiming {
    const ID: &'static str = "Claiming";
    type ModelContext = Context;

    fn create() -> Result<Self> {
        Ok(Self)
    }

    fn is_layer_supported(&self, layer: LayerView<'_>) -> Result<()> {
        cpu_ref::is_layer_supported(layer)
    }

    fn create_model_context(&self, _: Options<'_>, host: ModelHost) -> Result<Context> {
        *KEPT.lock().unwrap() = Some(host);
        Ok(Context)
    }
}

static KEPT: Mutex<Option<ModelHost>> = Mutex::new(None);

struct Context;

impl ModelContext for Context {
    type Execution = Synchronous;
    type TensorHandle = HostMemory;

    fn optimize_subgraph_view(
        &mut self,
        graph: &SubgraphView<'_>,
        views: &mut OptimizationViews<'_, Synchronous>,
    ) -> Result<()> {
        let whole = graph
            .inputs()
            .first()
            .is_some_and(|&x| graph.tensor(x).shape().dim(0) == 2);
        if whole {
            let layers: Vec<u32> = (0..graph.num_layers() as u32).collect();
            let workload = Box::new(NinetyNine);
            views.add_precompiled(&layers, graph.inputs(), graph.outputs(), workload)?;
        }
        Ok(())
    }

    fn create_workload(&mut self, layer: LayerView<'_>) -> Result<Box<dyn Workload>> {
        cpu_ref::create_workload(layer)
    }
}

struct NinetyNine;

impl Workload for NinetyNine {
    fn execute(
        &self,
        _: &mut ExecutionContext<'_, Synchronous>,
        _: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        for output in 0..outputs.len() {
            outputs.elements_mut::<f32>(output)?.fill(99.0);
        }
        Ok(())
    }
}

/// t = 1 + 1, and y = x + t.
fn network() -> Network {
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [-1]);
    let x = builder.add_input_layer("x", info).unwrap();
    let one = 1f32.to_ne_bytes().to_vec().into();
    let info = TensorInfo::new(DataType::Float32, [1]);
    let one = builder.add_constant_layer("one", info, one).unwrap();
    let t = builder.add_addition_layer(one, one, "t").unwrap();
    let y = builder.add_addition_layer(x, t, "y").unwrap();
    builder.add_output_layer("t", t).unwrap();
    builder.add_output_layer("y", y).unwrap();
    builder.finish().unwrap()
}

fn load() -> LoadedNetwork {
    let options = CreationOptions::new().static_backend(StaticBackend::new::<Claiming>());
    let runtime = Runtime::create(options).unwrap();
    let optimized = runtime
        .optimize(network(), &OptimizerOptions::default())
        .unwrap();
    runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap()
}

/// Both tests use the one host that is kept.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_later_plan_does_not_write_what_an_earlier_one_computed_for_all() {
    let _alone = ALONE.lock().unwrap();
    let loaded = load();
    let mut first = loaded
        .create_execution_state_for(&[Shape::from([1])])
        .unwrap();
    first.set_input(0, &10f32.to_ne_bytes()).unwrap();
    first.execute().unwrap();
    let t = first.output(0);
    assert_eq!(t, 2f32.to_ne_bytes());
    let mut second = loaded
        .create_execution_state_for(&[Shape::from([2])])
        .unwrap();
    second.execute().unwrap();
    assert_eq!(second.output(0), 99f32.to_ne_bytes());
    assert_eq!(t, 2f32.to_ne_bytes());
    first.execute().unwrap();
    assert_eq!(first.output(1), 12f32.to_ne_bytes());
}

#[test]
fn the_host_of_a_network_that_is_gone_does_nothing() {
    let _alone = ALONE.lock().unwrap();
    let loaded = load();
    drop(
        loaded
            .create_execution_state_for(&[Shape::from([1])])
            .unwrap(),
    );
    let host = KEPT.lock().unwrap().take().unwrap();
    assert_eq!(
        host.n_threads(),
        std::thread::available_parallelism().unwrap().get() as u32
    );
    drop(loaded);
    assert_eq!(host.n_threads(), 1);
    host.release_constant(1);
    assert!(!host.cache_put(b"key", b"blob"));
    assert_eq!(host.cache_get(b"key"), None);
    let done = Mutex::new(Vec::new());
    host.parallel_for(3, |task, thread| done.lock().unwrap().push((task, thread)))
        .unwrap();
    assert_eq!(done.into_inner().unwrap(), [(0, 0), (1, 0), (2, 0)]);
}

#[test]
fn plans_are_kept_for_a_bounded_number_of_shapes() {
    let _alone = ALONE.lock().unwrap();
    let options = CreationOptions::new().static_backend(StaticBackend::new::<cpu_ref::CpuRef>());
    let runtime = Runtime::create(options).unwrap();
    let optimized = runtime
        .optimize(network(), &OptimizerOptions::default())
        .unwrap();
    let options = LoadOptions {
        max_plans: Some(2),
        ..LoadOptions::default()
    };
    let loaded = runtime.load_network(optimized, options).unwrap();
    // A state goes on with a plan that is no longer kept.
    let mut state = loaded
        .create_execution_state_for(&[Shape::from([1])])
        .unwrap();
    for length in 2..10 {
        loaded
            .create_execution_state_for(&[Shape::from([length])])
            .unwrap();
    }
    state.set_input(0, &1f32.to_ne_bytes()).unwrap();
    state.execute().unwrap();
    assert_eq!(state.output(1), 3f32.to_ne_bytes());
}

#[test]
fn more_threads_than_possible_are_an_error() {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<cpu_ref::CpuRef>())
        .number_of_threads(20_000);
    let error = Runtime::create(options).unwrap_err();
    assert!(
        matches!(
            error,
            CreateError::TooManyThreads {
                given: 20_000,
                most: 1024
            }
        ),
        "{error}"
    );
}
