//! What a report says of layers that a backend refused.

use std::path::{Path, PathBuf};

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BackendError, BackendKind, Capabilities,
    ConcatDescriptor, HostMemory, IBackendInternal, LayerType, LayerView, ModelContext, ModelHost,
    Options, Quantization, Result, Synchronous, Workload,
};
use armnn_network::{Network, NetworkBuilder};
use armnn_runtime::{
    AssignmentReport, CreationOptions, DataType, OptimizerOptions, Runtime, Shape, StaticBackend,
    TensorInfo,
};
use cpu_ref::CpuRef;

/// A backend that takes every layer, and compiles none.
struct TakesAll;

impl IBackendInternal for TakesAll {
    const ID: &'static str = "TakesAll";
    type ModelContext = NoModelContext;

    fn create() -> Result<Self> {
        Ok(Self)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            kind: BackendKind::Reference,
            flags: 0,
        }
    }

    fn is_layer_supported(&self, _: LayerView<'_>) -> Result<()> {
        Ok(())
    }

    fn create_model_context(&self, _: Options<'_>, _: ModelHost) -> Result<NoModelContext> {
        Ok(NoModelContext)
    }
}

struct NoModelContext;

impl ModelContext for NoModelContext {
    type Execution = Synchronous;
    type TensorHandle = HostMemory;

    fn create_workload(&mut self, _: LayerView<'_>) -> Result<Box<dyn Workload>> {
        Err(BackendError::unsupported("nothing is compiled here"))
    }
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
    let relu = ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0);
    let mut last = x;
    for (index, scale) in [0.25, 0.5, 0.125].into_iter().enumerate() {
        let name = format!("relu {index}");
        last = builder.add_activation_layer(relu, last, &name).unwrap();
        builder.expect_output_info(last, &quantized(scale)).unwrap();
        let name = format!("joined {index}");
        let along = ConcatDescriptor { axis: 0 };
        let joined = builder.add_concat_layer(along, &[x, x], &name).unwrap();
        let mut info = quantized(scale * 0.5);
        info.shape = Shape::new(&[4]).unwrap();
        builder.expect_output_info(joined, &info).unwrap();
        builder.add_output_layer(&name, joined).unwrap();
    }
    builder.add_output_layer("last", last).unwrap();
    let report = report_of(builder.finish().unwrap());

    let gathered = report.gathered_refusals();
    let found: Vec<_> = gathered
        .iter()
        .map(|r| (r.layer_type, r.layers.len(), r.reason))
        .collect();
    let type_of_output = "the type of output is QAsymmS8; supported: Float32, Float16";
    // The scales differ from layer to layer, and are left out of the reason.
    let scales = "input 0 and output differ in scale or zero point; requantizing is not supported";
    assert_eq!(
        found,
        [
            (LayerType::Activation, 3, type_of_output),
            (LayerType::Concat, 3, scales)
        ]
    );
}

#[test]
fn an_int8_model_is_refused_for_a_handful_of_reasons() {
    let Some(path) = corpus_model("tfl_i8_vww96/model.tflite") else {
        return;
    };
    let report = report_of(armnn_tflite_parser::parse(&path).unwrap());
    let gathered = report.gathered_refusals();
    let reasons: Vec<_> = gathered
        .iter()
        .map(|refusal| (refusal.layer_type, refusal.reason))
        .collect();
    let refused: usize = gathered.iter().map(|refusal| refusal.layers.len()).sum();
    assert!(refused > 25, "{refused} of {} layers", report.layers.len());
    assert!(reasons.len() <= 6, "{reasons:#?}");
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
