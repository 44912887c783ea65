//! Control flow, variables, sequences, and parameters that models compute.

mod bodies;
mod memory;
mod parameters;
mod sequences;
mod variables;

use std::sync::Arc;

use armnn_network::{Network, NetworkBuilder, TensorId};
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime,
    Shape, StaticBackend, TensorInfo,
};
use cpu_ref::CpuRef;

fn load(network: Network) -> LoadedNetwork {
    load_with(network, LoadOptions::default())
}

fn load_with(network: Network, load_options: LoadOptions) -> LoadedNetwork {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<CpuRef>())
        .number_of_threads(1);
    let runtime = Runtime::create(options).unwrap();
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .unwrap();
    runtime.load_network(optimized, load_options).unwrap()
}

fn f32(dims: &[i64]) -> TensorInfo {
    TensorInfo::new(DataType::Float32, Shape::new(dims).unwrap())
}

fn boolean(dims: &[i64]) -> TensorInfo {
    TensorInfo::new(DataType::Boolean, Shape::new(dims).unwrap())
}

fn tensor(dims: &[i64], values: &[f32]) -> HostTensor {
    HostTensor::from_f32(Shape::new(dims).unwrap(), values).unwrap()
}

fn bool_tensor(value: bool) -> HostTensor {
    HostTensor::from_bytes(boolean(&[]), &[u8::from(value)]).unwrap()
}

fn i64_tensor(dims: &[i64], values: &[i64]) -> HostTensor {
    let info = TensorInfo::new(DataType::Signed64, Shape::new(dims).unwrap());
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    HostTensor::from_bytes(info, &bytes).unwrap()
}

fn values(tensor: &HostTensor) -> &[f32] {
    tensor.elements::<f32>().unwrap()
}

fn constant(builder: &mut NetworkBuilder, name: &str, dims: &[i64], values: &[f32]) -> TensorId {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    builder
        .add_constant_layer(name, f32(dims), bytes.into())
        .unwrap()
}

/// x + what.
fn plus(dims: &[i64], what: f32, name: &str) -> Arc<Network> {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(dims)).unwrap();
    let what = constant(&mut builder, "what", &[], &[what]);
    let sum = builder.add_addition_layer(x, what, name).unwrap();
    builder.add_output_layer("y", sum).unwrap();
    Arc::new(builder.finish().unwrap())
}
