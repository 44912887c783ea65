//! Layers whose descriptors follow from tensors, planned again and again.

use armnn_backend_api::ConcatDescriptor;
use armnn_network::{Network, NetworkBuilder, ParameterRule, TensorId};
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime,
    Shape, StaticBackend, TensorInfo,
};
use cpu_ref::CpuRef;

fn load(network: Network) -> LoadedNetwork {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<CpuRef>())
        .number_of_threads(1);
    let runtime = Runtime::create(options).unwrap();
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .unwrap();
    runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap()
}

fn f32(dims: &[i64]) -> TensorInfo {
    TensorInfo::new(DataType::Float32, Shape::new(dims).unwrap())
}

fn i64(dims: &[i64]) -> TensorInfo {
    TensorInfo::new(DataType::Signed64, Shape::new(dims).unwrap())
}

fn list(values: &[i64]) -> HostTensor {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    HostTensor::from_bytes(i64(&[values.len() as i64]), &bytes).unwrap()
}

fn constant(builder: &mut NetworkBuilder, dims: &[i64], values: &[f32]) -> TensorId {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    builder
        .add_constant_layer("table", f32(dims), bytes.into())
        .unwrap()
}

fn floats(tensor: &HostTensor) -> &[f32] {
    tensor.elements().unwrap()
}

#[test]
fn part_of_a_constant_is_another_one_with_other_parameters() {
    // table[start..start + size]
    let mut builder = NetworkBuilder::new();
    let table = constant(&mut builder, &[4], &[10.0, 11.0, 12.0, 13.0]);
    let start = builder.add_input_layer("start", i64(&[1])).unwrap();
    let size = builder.add_input_layer("size", i64(&[1])).unwrap();
    let parameters = [Some(start), Some(size)];
    let y = builder
        .add_deferred_layer(
            "y",
            ParameterRule::BeginSize,
            &[Some(table)],
            &parameters,
            &[],
        )
        .unwrap();
    // What only depends on that, too.
    let y = builder.add_abs_layer(y[0], "abs").unwrap();
    builder.add_output_layer("y", y).unwrap();
    let loaded = load(builder.finish().unwrap());
    for (start, size, expected) in [
        (0, 2, &[10.0, 11.0][..]),
        (1, 2, &[11.0, 12.0]),
        (0, 4, &[10.0, 11.0, 12.0, 13.0]),
        (3, 1, &[13.0]),
        (1, 2, &[11.0, 12.0]),
    ] {
        let outputs = loaded.run(&[list(&[start]), list(&[size])]).unwrap();
        assert_eq!(floats(&outputs[0]), expected, "{size} from {start}");
    }
}

#[test]
fn a_constant_is_repeated_as_often_as_each_shape_says() {
    // As many 7 as x has elements.
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[-1])).unwrap();
    let shape = builder
        .add_shape_layer(x, 0, 1, DataType::Signed64, "shape")
        .unwrap();
    let seven = constant(&mut builder, &[], &[7.0]);
    let rule = ParameterRule::BroadcastTo {
        bidirectional: false,
    };
    let y = builder
        .add_deferred_layer("y", rule, &[Some(seven)], &[Some(shape)], &[])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    let loaded = load(builder.finish().unwrap());
    for count in [2, 5, 0, 3] {
        let x = HostTensor::zeroed(f32(&[count])).unwrap();
        let outputs = loaded.run(&[x]).unwrap();
        assert_eq!(floats(&outputs[0]), vec![7.0; count as usize]);
    }
}

#[test]
fn many_shapes_and_values_in_turn_give_what_each_alone_does() {
    // Reshape(x, [rows, -1]) + 1, where both x and rows change: more plans than are kept.
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[-1])).unwrap();
    let rows = builder.add_input_layer("rows", i64(&[1])).unwrap();
    let rest = builder
        .add_constant_layer("rest", i64(&[1]), vec![255; 8].into())
        .unwrap();
    let target = builder
        .add_concat_layer(ConcatDescriptor { axis: 0 }, &[rows, rest], "target")
        .unwrap();
    let rule = ParameterRule::Reshape { allow_zero: false };
    let y = builder
        .add_deferred_layer("y", rule, &[Some(x)], &[Some(target)], &[])
        .unwrap();
    let one = constant(&mut builder, &[], &[1.0]);
    let y = builder.add_addition_layer(y[0], one, "sum").unwrap();
    builder.add_output_layer("y", y).unwrap();
    let loaded = load(builder.finish().unwrap());
    for round in 0..200 {
        let (rows, columns) = (1 + round % 7, 1 + round % 13);
        let x: Vec<f32> = (0..rows * columns).map(|v| v as f32).collect();
        let expected: Vec<f32> = x.iter().map(|v| v + 1.0).collect();
        let x = HostTensor::from_f32([rows * columns], &x).unwrap();
        let outputs = loaded.run(&[x, list(&[rows])]).unwrap();
        assert_eq!(outputs[0].info().shape.dims(), [rows, columns]);
        assert_eq!(floats(&outputs[0]), expected);
    }
}

#[test]
fn a_long_network_of_an_unknown_size_is_optimized_in_linear_time() {
    // Quadratic time would be minutes.
    let mut builder = NetworkBuilder::new();
    let mut x = builder.add_input_layer("x", f32(&[-1, 3])).unwrap();
    for _ in 0..30_000 {
        x = builder.add_sqrt_layer(x, "").unwrap();
    }
    builder.add_output_layer("y", x).unwrap();
    let loaded = load(builder.finish().unwrap());
    assert_eq!(loaded.network().layers().len(), 30_000);
}

#[test]
fn inputs_whose_dimensions_have_one_name_are_given_in_one_size() {
    // |x| and |y|, perhaps reshaped as an input says, so that it is executed part by part.
    let network = |is_reshaped: bool| {
        let mut builder = NetworkBuilder::new();
        let target = builder.add_input_layer("target", i64(&[1])).unwrap();
        for name in ["x", "y"] {
            let mut x = builder.add_input_layer(name, f32(&[-1])).unwrap();
            builder.name_input_dimension(x, 0, "batch").unwrap();
            if is_reshaped {
                let rule = ParameterRule::Reshape { allow_zero: false };
                x = builder
                    .add_deferred_layer("", rule, &[Some(x)], &[Some(target)], &[])
                    .unwrap()[0];
            }
            // A layer that a pass removes.
            let x = builder.add_reshape_layer([-1], x, "same").unwrap();
            let abs = builder.add_abs_layer(x, "abs").unwrap();
            builder.add_output_layer(name, abs).unwrap();
        }
        load(builder.finish().unwrap())
    };
    for loaded in [network(false), network(true)] {
        assert_eq!(loaded.network().input_shape_text(2), "[batch]");
        let made = |x: i64, y: i64| {
            let state = loaded.create_execution_state_for(&[[1].into(), [x].into(), [y].into()]);
            state.map(|_| ()).map_err(|e| e.to_string())
        };
        assert_eq!(made(3, 3), Ok(()));
        let error = made(3, 4).unwrap_err();
        assert!(
            error.contains("both 'batch'") && error.contains("3 and 4"),
            "{error}"
        );
    }
}

#[test]
fn a_pin_of_what_the_runtime_does_itself_is_an_error_that_says_so() {
    // Reshape(x, [1, size of x])
    let network = || {
        let mut builder = NetworkBuilder::new();
        let x = builder.add_input_layer("x", f32(&[-1])).unwrap();
        let shape = builder
            .add_shape_layer(x, 0, 1, DataType::Signed64, "size")
            .unwrap();
        let one = builder
            .add_constant_layer("one", i64(&[1]), 1i64.to_le_bytes().to_vec().into())
            .unwrap();
        let target = builder
            .add_concat_layer(ConcatDescriptor { axis: 0 }, &[one, shape], "target")
            .unwrap();
        let rule = ParameterRule::Reshape { allow_zero: false };
        let y = builder
            .add_deferred_layer("y", rule, &[Some(x)], &[Some(target)], &[])
            .unwrap();
        builder.add_output_layer("y", y[0]).unwrap();
        builder.finish().unwrap()
    };
    let options = CreationOptions::new().static_backend(StaticBackend::new::<CpuRef>());
    let runtime = Runtime::create(options).unwrap();
    let pinned = |pattern: &str| {
        let options = OptimizerOptions {
            pins: vec![(pattern.parse().unwrap(), "CpuRef".parse().unwrap())],
            ..OptimizerOptions::default()
        };
        let optimized = runtime.optimize(network(), &options);
        optimized.map(|_| ()).map_err(|e| e.to_string())
    };
    // Others that match are bound.
    for pattern in ["y", "type:Reshape", "*"] {
        assert_eq!(pinned(pattern), Ok(()), "{pattern}");
    }
    for (pattern, layer) in [
        ("size", "'size' (Shape)"),
        ("target", "'target' (Concat)"),
        ("type:Concat", "'target' (Concat)"),
    ] {
        let error = pinned(pattern).unwrap_err();
        assert!(
            error.contains("only layers that the runtime does itself") && error.contains(layer),
            "{error}"
        );
    }
    let error = pinned("nothing").unwrap_err();
    assert!(
        error.contains("matches no layer") && error.contains("Concat (1), Reshape (1)"),
        "{error}"
    );
}
