//! What backends keep from one load of a network to the next.

use armnn_backend_api::{
    BackendError, Capabilities, HostMemory, IBackendInternal, LayerView, ModelContext, ModelHost,
    Options, Result, Synchronous, Workload,
};
use armnn_network::{Network, NetworkBuilder};
use armnn_runtime::{
    CreationOptions, DataType, LoadOptions, OptimizerOptions, Runtime, StaticBackend, TensorInfo,
};

/// A backend that counts how often a network was loaded, and tells by failing with the number.
struct Counting;

impl IBackendInternal for Counting {
    const ID: &'static str = "Counting";
    type ModelContext = Nothing;

    fn create() -> Result<Self> {
        Ok(Self)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn is_layer_supported(&self, _: LayerView<'_>) -> Result<()> {
        Ok(())
    }

    fn create_model_context(&self, _: Options<'_>, host: ModelHost) -> Result<Nothing> {
        let before = host
            .cache_get(b"count")
            .and_then(|blob| blob.first().copied());
        let count = before.unwrap_or(0) + 1;
        let is_kept = host.cache_put(b"count", &[count]);
        Err(BackendError::new(format!(
            "loaded {count} times, kept: {is_kept}"
        )))
    }
}

struct Nothing;

impl ModelContext for Nothing {
    type Execution = Synchronous;
    type TensorHandle = HostMemory;

    fn create_workload(&mut self, _: LayerView<'_>) -> Result<Box<dyn Workload>> {
        Err(BackendError::unsupported("nothing is compiled here"))
    }
}

fn network() -> Network {
    let mut builder = NetworkBuilder::new();
    let x = builder
        .add_input_layer("x", TensorInfo::new(DataType::Float32, [2]))
        .unwrap();
    let y = builder.add_abs_layer(x, "y").unwrap();
    builder.add_output_layer("y", y).unwrap();
    builder.finish().unwrap()
}

fn load(options: LoadOptions) -> String {
    let backend = StaticBackend::new::<Counting>();
    let runtime = Runtime::create(CreationOptions::new().static_backend(backend)).unwrap();
    let optimized = runtime
        .optimize(network(), &OptimizerOptions::default())
        .unwrap();
    runtime
        .load_network(optimized, options)
        .unwrap_err()
        .to_string()
}

#[test]
fn a_backend_finds_what_it_kept_the_last_time() {
    let directory = tempfile::tempdir().unwrap();
    for count in 1..4 {
        let error = load(LoadOptions {
            cache_directory: Some(directory.path().join("cache")),
            ..LoadOptions::default()
        });
        assert!(
            error.ends_with(&format!("loaded {count} times, kept: true")),
            "{error}"
        );
    }
}

#[test]
fn without_a_directory_nothing_is_kept() {
    for _ in 0..2 {
        let error = load(LoadOptions::default());
        assert!(error.ends_with("loaded 1 times, kept: false"), "{error}");
    }
}
