//! Layers whose outputs have sizes that depend on data: those after them are planned once the sizes
//! are known.

use armnn_backend_api::{
    CompressDescriptor, ConcatDescriptor, ElementwiseUnaryDescriptor, GatherNdDescriptor,
    LayerDescriptor, NonZeroDescriptor, ReduceDescriptor, ReduceOperation, TransposeDescriptor,
    UnaryOperation, UniqueDescriptor,
};
use armnn_network::{Network, NetworkBuilder, TensorId};
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime,
    Shape, StaticBackend, TensorInfo,
};
use cpu_ref::CpuRef;

fn load(network: Network, memory_limit: Option<u64>) -> LoadedNetwork {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<CpuRef>())
        .number_of_threads(1);
    let runtime = Runtime::create(options).unwrap();
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .unwrap();
    let options = LoadOptions {
        memory_limit,
        ..LoadOptions::default()
    };
    runtime.load_network(optimized, options).unwrap()
}

fn f32(dims: &[i64]) -> TensorInfo {
    TensorInfo::new(DataType::Float32, Shape::new(dims).unwrap())
}

fn tensor(values: &[f32]) -> HostTensor {
    HostTensor::from_f32(Shape::new(&[values.len() as i64]).unwrap(), values).unwrap()
}

fn f32s(tensor: &HostTensor) -> &[f32] {
    tensor.elements::<f32>().unwrap()
}

fn i64s(tensor: &HostTensor) -> &[i64] {
    tensor.elements::<i64>().unwrap()
}

fn dims(tensor: &HostTensor) -> &[i64] {
    tensor.info().shape.dims()
}

/// Adds a layer and gives its first output.
fn add(
    builder: &mut NetworkBuilder,
    name: &str,
    descriptor: impl Into<LayerDescriptor>,
    inputs: &[TensorId],
) -> TensorId {
    let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
    builder.add_layer(name, descriptor, &inputs, &[]).unwrap()[0]
}

fn transposed(builder: &mut NetworkBuilder, x: TensorId) -> TensorId {
    let d = TransposeDescriptor::new(&[1, 0]).unwrap();
    add(builder, "transposed", d, &[x])
}

/// From x: |x|, where that is not 0, and -(what x is there); with layers before, between and after.
fn picked(dims: &[i64]) -> Network {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(dims)).unwrap();
    let size = builder.add_abs_layer(x, "size").unwrap();
    let rows = add(&mut builder, "places", NonZeroDescriptor::new(), &[size]);
    let places = transposed(&mut builder, rows);
    let d = GatherNdDescriptor { batch_dims: 0 };
    let values = add(&mut builder, "values", d, &[x, places]);
    let d = ElementwiseUnaryDescriptor::new(UnaryOperation::Neg);
    let opposite = add(&mut builder, "opposite", d, &[values]);
    builder.add_output_layer("places", places).unwrap();
    builder.add_output_layer("opposite", opposite).unwrap();
    builder.finish().unwrap()
}

#[test]
fn layers_after_one_whose_size_depends_on_data_are_executed_with_what_it_found() {
    let loaded = load(picked(&[4]), None);
    for (x, places, opposite) in [
        ([0.0, 3.0, 0.0, -4.0], &[1i64, 3][..], &[-3.0f32, 4.0][..]),
        (
            [1.0, 2.0, 3.0, 4.0],
            &[0, 1, 2, 3],
            &[-1.0, -2.0, -3.0, -4.0],
        ),
        ([0.0; 4], &[], &[]),
        ([0.0, 0.0, 0.0, 5.0], &[3], &[-5.0]),
        ([0.0, 3.0, 0.0, -4.0], &[1, 3], &[-3.0, 4.0]),
    ] {
        let outputs = loaded.run(&[tensor(&x)]).unwrap();
        assert_eq!(dims(&outputs[0]), [places.len() as i64, 1], "{x:?}");
        assert_eq!(i64s(&outputs[0]), places, "{x:?}");
        assert_eq!(dims(&outputs[1]), [opposite.len() as i64], "{x:?}");
        assert_eq!(f32s(&outputs[1]), opposite, "{x:?}");
    }
}

#[test]
fn one_execution_state_serves_one_size_after_the_other() {
    let loaded = load(picked(&[3]), None);
    let mut state = loaded.create_execution_state().unwrap();
    for (x, expected) in [
        ([1.0f32, 0.0, 2.0], &[-1.0f32, -2.0][..]),
        ([0.0; 3], &[]),
        ([5.0, 6.0, 7.0], &[-5.0, -6.0, -7.0]),
    ] {
        let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
        state.set_input(0, &bytes).unwrap();
        state.execute().unwrap();
        let info = state.output_info(1);
        assert_eq!(info.shape.dims(), [expected.len() as i64]);
        let expected: Vec<u8> = expected.iter().flat_map(|x| x.to_ne_bytes()).collect();
        assert_eq!(state.output(1), expected);
    }
}

#[test]
fn input_shapes_may_change_as_well() {
    let loaded = load(picked(&[-1]), None);
    for (x, expected) in [
        (&[0.0, 8.0][..], &[-8.0][..]),
        (&[1.0, 0.0, 2.0, 0.0, 3.0], &[-1.0, -2.0, -3.0]),
        (&[], &[]),
        (&[0.0, 9.0], &[-9.0]),
    ] {
        let outputs = loaded.run(&[tensor(x)]).unwrap();
        assert_eq!(f32s(&outputs[1]), expected, "{x:?}");
    }
}

#[test]
fn sizes_that_depend_on_each_other_are_found_one_after_the_other() {
    // The distinct values, of them those that are not 0, and how many there are of each.
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[6])).unwrap();
    let unique = builder
        .add_layer("unique", UniqueDescriptor::new(None, true), &[Some(x)], &[])
        .unwrap();
    let (values, counts) = (unique[0], unique[3]);
    let condition = builder
        .add_cast_layer(DataType::Boolean, values, "condition")
        .unwrap();
    let d = CompressDescriptor::new(Some(0));
    let values = add(&mut builder, "values", d, &[values, condition]);
    let counts = add(&mut builder, "counts", d, &[counts, condition]);
    let d = ReduceDescriptor::new(ReduceOperation::Sum, &[0], false).unwrap();
    let sum = add(&mut builder, "sum", d, &[values]);
    for (name, output) in [("values", values), ("counts", counts), ("sum", sum)] {
        builder.add_output_layer(name, output).unwrap();
    }
    let loaded = load(builder.finish().unwrap(), None);
    for (x, values, counts, sum) in [
        (
            [2.0, 0.0, -1.0, 2.0, 0.0, 2.0],
            &[-1.0, 2.0][..],
            &[1i64, 3][..],
            1.0,
        ),
        ([0.0; 6], &[], &[], 0.0),
        (
            [6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            &[1; 6],
            21.0,
        ),
    ] {
        let outputs = loaded.run(&[tensor(&x)]).unwrap();
        assert_eq!(f32s(&outputs[0]), values, "{x:?}");
        assert_eq!(i64s(&outputs[1]), counts, "{x:?}");
        assert_eq!(f32s(&outputs[2]), [sum], "{x:?}");
    }
}

#[test]
fn two_such_results_meet_in_one_layer() {
    let mut builder = NetworkBuilder::new();
    let inputs = ["a", "b"].map(|name| builder.add_input_layer(name, f32(&[3])).unwrap());
    let places = inputs.map(|x| add(&mut builder, "places", NonZeroDescriptor::new(), &[x]));
    let d = ConcatDescriptor { axis: 1 };
    let all = add(&mut builder, "all", d, &places);
    builder.add_output_layer("all", all).unwrap();
    let loaded = load(builder.finish().unwrap(), None);
    for (a, b, expected) in [
        ([1.0, 0.0, 1.0], [0.0, 1.0, 0.0], &[0i64, 2, 1][..]),
        ([0.0; 3], [1.0; 3], &[0, 1, 2]),
        ([0.0; 3], [0.0; 3], &[]),
    ] {
        let outputs = loaded.run(&[tensor(&a), tensor(&b)]).unwrap();
        assert_eq!(dims(&outputs[0]), [1, expected.len() as i64]);
        assert_eq!(i64s(&outputs[0]), expected);
    }
}

#[test]
fn what_is_found_is_within_the_memory_limit() {
    // Indices of 8 bytes for 600 Booleans of 1 byte.
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Boolean, [600]);
    let x = builder.add_input_layer("x", info.clone()).unwrap();
    let rows = add(&mut builder, "places", NonZeroDescriptor::new(), &[x]);
    let places = transposed(&mut builder, rows);
    builder.add_output_layer("places", places).unwrap();
    let loaded = load(builder.finish().unwrap(), Some(4096));
    let run = |n_true: usize| {
        let mut bytes = [0u8; 600];
        bytes[..n_true].fill(1);
        loaded.run(&[HostTensor::from_bytes(info.clone(), &bytes).unwrap()])
    };
    assert_eq!(dims(&run(3).unwrap()[0]), [3, 1]);
    let error = run(600).unwrap_err().to_string();
    assert!(
        error.contains("'places' (NonZero)") && error.contains("memory limit of 4096 bytes"),
        "{error}"
    );
    // A failure leaves nothing behind.
    assert_eq!(i64s(&run(2).unwrap()[0]), [0, 1]);
}
