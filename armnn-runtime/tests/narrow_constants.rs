//! Constants of a narrow type that a layer reads through a Cast or a Dequantize: a backend that takes
//! the narrow type absorbs the conversion, and any other computes it once.

use armnn_backend_api::{FullyConnectedDescriptor, Quantization};
use armnn_network::{Network, NetworkBuilder, TensorId};
use armnn_runtime::{
    Choice, CreationOptions, DataType, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions,
    Runtime, StaticBackend, TensorInfo,
};
use cpu_ref::CpuRef;
use narrow::Narrow;

/// A backend of FullyConnected, which computes with weights of Float16 or QSymmS8 as they are.
mod narrow {
    use armnn_backend_api::{
        BackendError, DataType, ExecutionContext, HostMemory, IBackendInternal, Inputs, LayerType,
        LayerView, ModelContext, ModelHost, OptimizationViews, Options, Outputs, Result,
        SubgraphView, Synchronous, TensorView, Workload,
    };

    pub struct Narrow;

    impl IBackendInternal for Narrow {
        const ID: &'static str = "Narrow";

        type ModelContext = Narrow;

        fn create() -> Result<Self> {
            Ok(Self)
        }

        fn is_layer_supported(&self, layer: LayerView<'_>) -> Result<()> {
            match layer.layer_type() {
                LayerType::FullyConnected => Ok(()),
                _ if absorbed(layer).is_some() => Ok(()),
                _ => Err(BackendError::unsupported(
                    "conversions only of constant weights",
                )),
            }
        }

        fn create_model_context(&self, _: Options<'_>, _: ModelHost) -> Result<Narrow> {
            Ok(Narrow)
        }
    }

    /// The constant that a layer converts, if that is all it does, for the weights of one
    /// FullyConnected.
    fn absorbed(layer: LayerView<'_>) -> Option<TensorView<'_>> {
        let is_conversion = matches!(layer.layer_type(), LayerType::Cast | LayerType::Dequantize);
        let constant = layer.input(0).filter(|input| input.is_constant())?;
        let takes = matches!(constant.data_type(), DataType::Float16 | DataType::QSymmS8);
        let output = layer.outputs().next()?;
        let &[reader] = output.consumers() else {
            return None;
        };
        let reader = layer.graph().layer(reader);
        let are_weights = reader.layer_type() == LayerType::FullyConnected
            && reader.input_indices().get(1) == Some(&output.index());
        (is_conversion && takes && are_weights && !output.is_view_output()).then_some(constant)
    }

    impl ModelContext for Narrow {
        type Execution = Synchronous;
        type TensorHandle = HostMemory;

        fn optimize_subgraph_view(
            &mut self,
            graph: &SubgraphView<'_>,
            views: &mut OptimizationViews<'_, Synchronous>,
        ) -> Result<()> {
            for layer in graph.layers() {
                let weights = layer.input(1).and_then(|weights| weights.producer());
                let conversion = weights.map(|index| graph.layer(index));
                let Some((conversion, constant)) =
                    conversion.and_then(|layer| Some((layer, absorbed(layer)?)))
                else {
                    continue;
                };
                let workload = Product {
                    data_type: constant.data_type(),
                    scale: constant.scales().first().copied().unwrap_or(1.0),
                    weights: constant.constant().unwrap_or_default().to_vec(),
                };
                views.add_precompiled(
                    &[conversion.index(), layer.index()],
                    &layer.input_indices()[..1],
                    layer.output_indices(),
                    Box::new(workload),
                )?;
            }
            Ok(())
        }

        fn create_workload(&mut self, _: LayerView<'_>) -> Result<Box<dyn Workload>> {
            Err(BackendError::unsupported("weights must be narrow"))
        }
    }

    struct Product {
        data_type: DataType,
        scale: f32,
        weights: Vec<u8>,
    }

    impl Product {
        fn weight(&self, index: usize) -> f32 {
            match self.data_type {
                DataType::Float16 => {
                    let bits =
                        u16::from_le_bytes([self.weights[2 * index], self.weights[2 * index + 1]]);
                    // Of normal numbers: sign, exponent + 15, fraction of 10 bits.
                    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
                    let exponent = i32::from(bits >> 10 & 31) - 15;
                    let fraction = 1.0 + f32::from(bits & 1023) / 1024.0;
                    sign * fraction * 2f32.powi(exponent)
                }
                _ => f32::from(self.weights[index] as i8) * self.scale,
            }
        }
    }

    impl Workload for Product {
        fn execute(
            &self,
            _: &mut ExecutionContext<'_, Synchronous>,
            inputs: Inputs<'_>,
            outputs: &mut Outputs<'_>,
        ) -> Result<()> {
            let x: &[f32] = inputs.elements(0)?;
            let y: &mut [f32] = outputs.elements_mut(0)?;
            let columns = y.len();
            for (column, y) in y.iter_mut().enumerate() {
                let products = x.iter().enumerate();
                *y = products
                    .map(|(row, x)| x * self.weight(row * columns + column))
                    .sum();
            }
            Ok(())
        }
    }
}

/// x [1, 2] times weights [2, 2], which `add` gives.
fn network(add: fn(&mut NetworkBuilder) -> TensorId) -> Network {
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [1, 2]);
    let x = builder.add_input_layer("x", info).unwrap();
    let weights = add(&mut builder);
    let y = builder
        .add_fully_connected_layer(
            FullyConnectedDescriptor::new(false),
            x,
            weights,
            None,
            "product",
        )
        .unwrap();
    builder.add_output_layer("y", y).unwrap();
    builder.finish().unwrap()
}

/// 0.5, -1.25; 3, 0.0999755859375 of Float16: 1.0 2^-1, -1.25 2^0; 1.5 2^1, (1 + 614/1024) 2^-4.
fn half(builder: &mut NetworkBuilder) -> TensorId {
    let bits = [0x3800u16, 0xbd00, 0x4200, 0x2e66];
    let bytes: Vec<u8> = bits.iter().flat_map(|b| b.to_le_bytes()).collect();
    let info = TensorInfo::new(DataType::Float16, [2, 2]);
    let constant = builder
        .add_constant_layer("constant", info, bytes.into())
        .unwrap();
    builder
        .add_cast_layer(DataType::Float32, constant, "conversion")
        .unwrap()
}

/// 4, -2; 6, 1 in a scale of 0.5: 2, -1; 3, 0.5.
fn quantized(builder: &mut NetworkBuilder) -> TensorId {
    let info = TensorInfo::new(DataType::QSymmS8, [2, 2]);
    let info = info.quantized(Quantization::per_tensor(0.5, 0));
    let constant = builder
        .add_constant_layer("constant", info, vec![4, 254, 6, 1].into())
        .unwrap();
    builder
        .add_dequantize_layer(DataType::Float32, constant, "conversion")
        .unwrap()
}

fn load(network: Network, preferred: &[&str]) -> LoadedNetwork {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<Narrow>())
        .static_backend(StaticBackend::new::<CpuRef>());
    let runtime = Runtime::create(options).unwrap();
    let options = OptimizerOptions::with_preferred_backends(preferred.iter().copied()).unwrap();
    let optimized = runtime.optimize(network, &options).unwrap();
    runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap()
}

fn output(loaded: &LoadedNetwork) -> Vec<f32> {
    let x = HostTensor::from_f32([1, 2], &[3.0, -7.0]).unwrap();
    let outputs = loaded.run(&[x]).unwrap();
    outputs[0].elements().unwrap().to_vec()
}

/// The layers of each step, with the backend.
fn steps(loaded: &LoadedNetwork) -> Vec<(String, Vec<String>)> {
    let shapes = loaded.declared_input_shapes();
    let (_, steps) = loaded.plan_report(&shapes).unwrap();
    let names = |ids: &[armnn_network::LayerId]| {
        let names = ids
            .iter()
            .map(|&id| loaded.network().layer(id).name.clone());
        names.collect()
    };
    let steps = steps.iter();
    steps
        .map(|step| (step.backend.to_string(), names(&step.layers)))
        .collect()
}

fn step(backend: &str, layers: &[&str]) -> (String, Vec<String>) {
    let layers = layers.iter().map(|&layer| layer.to_owned());
    (backend.to_owned(), layers.collect())
}

#[test]
fn a_conversion_is_absorbed_where_the_narrow_type_is_taken_and_done_once_elsewhere() {
    // 3 0.5 - 7 3 = -19.5; 3 (-1.25) - 7 0.0999755859375 = -4.4498291015625
    // 3 2 - 7 3 = -15; 3 (-1) - 7 0.5 = -6.5
    type Case = (fn(&mut NetworkBuilder) -> TensorId, [f32; 2]);
    let cases: [Case; 2] = [(half, [-19.5, -4.449_829]), (quantized, [-15.0, -6.5])];
    for (weights, expected) in cases {
        let absorbing = load(network(weights), &["Narrow", "CpuRef"]);
        assert_eq!(
            steps(&absorbing),
            [step("Narrow", &["conversion", "product"])]
        );
        let plain = load(network(weights), &["CpuRef"]);
        assert_eq!(steps(&plain), [step("CpuRef", &["product"])]);
        assert_eq!(output(&plain), expected);
        assert_eq!(output(&absorbing), expected);
    }
}

#[test]
fn a_conversion_goes_to_the_backend_that_absorbs_it() {
    // CpuRef comes first, but the product is pinned.
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<Narrow>())
        .static_backend(StaticBackend::new::<CpuRef>());
    let runtime = Runtime::create(options).unwrap();
    let options = OptimizerOptions {
        pins: vec![("product".parse().unwrap(), "Narrow".parse().unwrap())],
        ..OptimizerOptions::with_preferred_backends(["CpuRef"]).unwrap()
    };
    let optimized = runtime.optimize(network(half), &options).unwrap();
    let assigned: Vec<_> = optimized
        .report()
        .layers
        .iter()
        .map(|layer| (layer.name.as_str(), layer.backend.as_str(), layer.choice))
        .collect();
    assert_eq!(
        assigned,
        [
            ("conversion", "Narrow", Choice::FollowsConsumer),
            ("product", "Narrow", Choice::Pin)
        ]
    );
    let loaded = runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap();
    assert_eq!(steps(&loaded), [step("Narrow", &["conversion", "product"])]);
}
