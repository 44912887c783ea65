//! What a report says of where layers are executed, and why not elsewhere.

use std::path::{Path, PathBuf};

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BackendError, BackendKind, Capabilities, HostMemory,
    IBackendInternal, LayerType, LayerView, ModelContext, ModelHost, Options, ProbeSink,
    Quantization, Result, Synchronous, Workload,
};
use armnn_network::{LayerId, Network, NetworkBuilder};
use armnn_runtime::{
    AssignmentReport, BackendId, CreationOptions, DataType, OptimizerOptions, Runtime, Shape,
    StaticBackend, TensorInfo,
};
use cpu_ref::CpuRef;

/// A backend that takes every layer, and compiles none.
macro_rules! backend {
    ($Name:ident, $kind:ident, create: $create:expr, probe: $probe:expr) => {
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

            fn is_layer_supported(&self, _: LayerView<'_>) -> Result<()> {
                Ok(())
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
        .static_backend(StaticBackend::new::<CpuRef>())
        .static_backend(StaticBackend::new::<TakesAll>());
    let runtime = Runtime::create(options).unwrap();
    let options = OptimizerOptions::with_preferred_backends(["CpuRef", "TakesAll"]).unwrap();
    runtime
        .optimize(network, &options)
        .unwrap()
        .report()
        .clone()
}

fn quantized(scale: f32) -> TensorInfo {
    TensorInfo::new(DataType::QAsymmS8, [2]).quantized(Quantization::per_tensor(scale, 0))
}

#[test]
fn layers_that_are_refused_for_one_reason_are_one_entry() {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", quantized(0.5)).unwrap();
    let wide = TensorInfo::new(DataType::Float64, [2]);
    let mut last = builder.add_input_layer("wide", wide).unwrap();
    let relu = ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0);
    for (index, scale) in [0.25, 0.75, 0.125].into_iter().enumerate() {
        let name = format!("relu {index}");
        last = builder.add_activation_layer(relu, last, &name).unwrap();
        let name = format!("reshaped {index}");
        let reshaped = builder.add_reshape_layer([2, 1], x, &name).unwrap();
        let mut info = quantized(scale);
        info.shape = Shape::new(&[2, 1]).unwrap();
        builder.expect_output_info(reshaped, &info).unwrap();
        builder.add_output_layer(&name, reshaped).unwrap();
    }
    builder.add_output_layer("last", last).unwrap();
    let report = report_of(builder.finish().unwrap());

    let gathered = report.gathered_refusals();
    let found: Vec<_> = gathered
        .iter()
        .map(|r| (r.layer_type, r.layers.len(), r.reason))
        .collect();
    let [
        (LayerType::Activation, 3, type_of_output),
        (LayerType::Reshape, 3, scales),
    ] = found[..]
    else {
        panic!("{found:?}");
    };
    let expected = "the type of output is Float64; supported: Float32, Float16";
    assert!(type_of_output.starts_with(expected), "{type_of_output}");
    // The scales differ from layer to layer, and are left out of the reason.
    let expected = "input and output differ in scale or zero point; requantizing is not supported";
    assert_eq!(scales, expected);
}

#[test]
fn nothing_of_an_int8_model_is_refused() {
    let Some(path) = corpus_model("tfl_i8_vww96/model.tflite") else {
        return;
    };
    let report = report_of(armnn_tflite_parser::parse(&path).unwrap());
    let gathered = report.gathered_refusals();
    assert!(gathered.is_empty(), "{} reasons", gathered.len());
}

/// A model of the test data; without it, a notice.
fn corpus_model(name: &str) -> Option<PathBuf> {
    let data = std::env::var_os("ARMNN_TEST_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let path = data.join("corpus").join(name);
    if !path.exists() {
        eprintln!(
            "skipped: there is no {}; set ARMNN_TEST_DATA",
            path.display()
        );
        return None;
    }
    Some(path)
}
