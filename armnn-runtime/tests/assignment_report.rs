//! What a report says of where layers are executed, and why not elsewhere.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BackendError, BackendKind, Capabilities,
    ConcatDescriptor, HostMemory, IBackendInternal, LayerType, LayerView, ModelContext, ModelHost,
    Options, ProbeSink, Result, Synchronous, Workload,
};
use armnn_network::{LayerId, Network, NetworkBuilder};
use armnn_runtime::{
    AssignmentReport, BackendId, CreationOptions, DataType, OptimizerOptions, Runtime,
    StaticBackend, TensorInfo,
};

/// A backend that takes every layer, and compiles none.
macro_rules! backend {
    ($Name:ident, $kind:ident, create: $create:expr, probe: $probe:expr) => {
        backend!($Name, $kind, create: $create, probe: $probe, takes: |_| Ok(()));
    };
    ($Name:ident, $kind:ident, create: $create:expr, probe: $probe:expr, takes: $takes:expr) => {
        struct $Name;

        impl IBackendInternal for $Name {
            const ID: &'static str = stringify!($Name);
            type ModelContext = NoModelContext;

            fn create() -> Result<Self> {
                $create.map(|()| Self)
            }

            fn capabilities(&self) -> Capabilities {
                Capabilities {
                    kind: BackendKind::$kind,
                    flags: 0,
                }
            }

            fn probe(&self, _: &mut ProbeSink<'_>) -> Result<()> {
                $probe
            }

            fn is_layer_supported(&self, layer: LayerView<'_>) -> Result<()> {
                let takes: fn(LayerView<'_>) -> Result<()> = $takes;
                takes(layer)
            }

            fn create_model_context(&self, _: Options<'_>, _: ModelHost) -> Result<NoModelContext> {
                Ok(NoModelContext)
            }
        }
    };
}

backend!(TakesAll, Reference, create: Ok(()), probe: Ok(()));
backend!(Fast, Accelerator, create: Ok(()), probe: Ok(()));
backend!(NoDevice, Gpu, create: Ok(()), probe: Err(BackendError::unavailable("no GPU")));
backend!(Broken, Cpu, create: Err(BackendError::new("no licence")), probe: Ok(()));

backend!(Choosy, Cpu, create: Ok(()), probe: Ok(()), takes: |layer| match layer.layer_type() {
    LayerType::Activation => Err(BackendError::unsupported("no functions")),
    LayerType::Concat => Err(BackendError::unsupported("no joining")),
    _ => Ok(()),
});

struct NoModelContext;

impl ModelContext for NoModelContext {
    type Execution = Synchronous;
    type TensorHandle = HostMemory;

    fn create_workload(&mut self, _: LayerView<'_>) -> Result<Box<dyn Workload>> {
        Err(BackendError::unsupported("nothing is compiled here"))
    }
}

fn runtime() -> Runtime {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<TakesAll>())
        .static_backend(StaticBackend::new::<NoDevice>())
        .static_backend(StaticBackend::new::<Broken>())
        .static_backend(StaticBackend::new::<Fast>());
    Runtime::create(options).unwrap()
}

/// A single activation, perhaps with a backend suggested for it.
fn relu(name: &str, hint: Option<&str>) -> Network {
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [2]);
    let x = builder.add_input_layer("x", info).unwrap();
    let relu = ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0);
    let y = builder.add_activation_layer(relu, x, name).unwrap();
    if let Some(hint) = hint {
        builder.set_backend_hint(LayerId(0), hint).unwrap();
    }
    builder.add_output_layer("y", y).unwrap();
    builder.finish().unwrap()
}

fn ids(ids: &[BackendId]) -> Vec<&str> {
    ids.iter().map(BackendId::as_str).collect()
}

#[test]
fn without_a_preference_the_report_tells_the_order_and_every_backend_that_cannot_be_used() {
    let options = OptimizerOptions::default();
    let optimized = runtime().optimize(relu("y", None), &options).unwrap();
    let report = optimized.report();
    assert_eq!(ids(&report.preference), ["Fast", "TakesAll"]);
    let reasons: Vec<_> = report
        .unusable
        .iter()
        .map(|(id, reason)| (id.as_str(), reason.as_str()))
        .collect();
    let [("NoDevice", no_device), ("Broken", broken)] = reasons[..] else {
        panic!("{reasons:?}");
    };
    assert!(no_device.contains("no GPU"), "{no_device}");
    assert!(broken.contains("no licence"), "{broken}");
}

#[test]
fn with_a_preference_the_report_tells_only_of_what_was_asked_for() {
    let named = ["Nowhere", "Broken", "TakesAll", "TakesAll"];
    let options = OptimizerOptions::with_preferred_backends(named).unwrap();
    let optimized = runtime().optimize(relu("y", None), &options).unwrap();
    let report = optimized.report();
    assert_eq!(ids(&report.preference), ["TakesAll"]);
    let unusable: Vec<_> = report.unusable.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(unusable, ["Nowhere", "Broken"]);
}

#[test]
fn a_suggested_backend_that_cannot_be_used_is_named_with_its_reason() {
    let options = OptimizerOptions::with_preferred_backends(["Fast"]).unwrap();
    let network = relu("y", Some("NoDevice"));
    let optimized = runtime().optimize(network, &options).unwrap();
    let refusal = &optimized.report().layers[0].refusals[0];
    assert_eq!(refusal.backend.as_str(), "NoDevice");
    assert!(refusal.reason.contains("no GPU"), "{refusal:?}");
}

#[test]
fn a_pin_that_matches_nothing_tells_what_there_is_to_match() {
    let options = OptimizerOptions {
        pins: vec![("conv*".parse().unwrap(), BackendId::new("Fast").unwrap())],
        ..OptimizerOptions::default()
    };
    let outcome = runtime().optimize(relu("relu 1", None), &options);
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "the pin conv*=Fast matches no layer: the network's layer types are Activation (1), and \
         its layers have names such as 'relu 1'"
    );
}

fn report_of(network: Network) -> AssignmentReport {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<Choosy>())
        .static_backend(StaticBackend::new::<TakesAll>());
    let runtime = Runtime::create(options).unwrap();
    let options = OptimizerOptions::with_preferred_backends(["Choosy", "TakesAll"]).unwrap();
    runtime
        .optimize(network, &options)
        .unwrap()
        .report()
        .clone()
}

#[test]
fn layers_that_are_refused_for_one_reason_are_one_entry() {
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [2]);
    let x = builder.add_input_layer("x", info).unwrap();
    let relu = ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0);
    let mut last = x;
    for index in 0..3 {
        let name = format!("relu {index}");
        last = builder.add_activation_layer(relu, last, &name).unwrap();
        let name = format!("joined {index}");
        let along = ConcatDescriptor { axis: 0 };
        let joined = builder.add_concat_layer(along, &[last, x], &name).unwrap();
        builder.add_output_layer(&name, joined).unwrap();
    }
    builder.add_output_layer("last", last).unwrap();
    let report = report_of(builder.finish().unwrap());

    let gathered = report.gathered_refusals();
    let found: Vec<_> = gathered
        .iter()
        .map(|r| (r.layer_type, r.layers.len(), r.reason))
        .collect();
    assert_eq!(
        found,
        [
            (LayerType::Activation, 3, "no functions"),
            (LayerType::Concat, 3, "no joining")
        ]
    );
}

#[test]
fn a_backend_that_a_network_suggests_may_be_missing_unless_it_is_strict() {
    let optimized = |strict| {
        let options = OptimizerOptions {
            strict,
            ..OptimizerOptions::default()
        };
        let optimized = runtime().optimize(relu("y", Some("Nowhere")), &options);
        optimized.map(|o| o.report().layers[0].backend.to_string())
    };
    assert_eq!(optimized(false).unwrap(), "Fast");
    let error = optimized(true).unwrap_err().to_string();
    assert!(
        error.contains("layer 'y'") && error.contains("Nowhere: the network suggests it"),
        "{error}"
    );
}
