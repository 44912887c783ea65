//! Networks on a backend that is linked in.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BinaryOperation, ElementwiseBinaryDescriptor,
};
use armnn_network::{Network, NetworkBuilder};
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, OptimizerOptions, Runtime, StaticBackend,
    TensorInfo,
};
use cpu_ref::CpuRef;

fn runtime() -> Runtime {
    Runtime::create(CreationOptions::new().static_backend(StaticBackend::new::<CpuRef>())).unwrap()
}

/// relu(x + y), and x + y itself.
fn add_and_relu() -> Network {
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [2, 2]);
    let x = builder.add_input_layer("x", info.clone()).unwrap();
    let y = builder.add_input_layer("y", info).unwrap();
    let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
    let sum = builder
        .add_elementwise_binary_layer(add, x, y, "sum")
        .unwrap();
    let relu = ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0);
    let positive = builder.add_activation_layer(relu, sum, "positive").unwrap();
    builder.add_output_layer("positive", positive).unwrap();
    builder.add_output_layer("sum", sum).unwrap();
    builder.finish().unwrap()
}

#[test]
fn a_network_gives_the_right_values() {
    let runtime = runtime();
    let optimized = runtime
        .optimize(add_and_relu(), &OptimizerOptions::default())
        .unwrap();
    let loaded = runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap();
    let x = HostTensor::from_f32([2, 2], &[1.0, -2.0, 3.0, -4.0]).unwrap();
    let y = HostTensor::from_f32([2, 2], &[0.5, 0.5, 0.5, 5.0]).unwrap();
    let outputs = loaded.run(&[x, y]).unwrap();
    assert_eq!(outputs[0].elements::<f32>().unwrap(), [1.5, 0.0, 3.5, 1.0]);
    assert_eq!(outputs[1].elements::<f32>().unwrap(), [1.5, -1.5, 3.5, 1.0]);
}
