//! Sizes that a model computes, however large: an error within the memory limit, which says what
//! would not fit.

use std::sync::Arc;

use armnn_backend_api::{ConcatDescriptor, PaddingMode};
use armnn_network::{
    LoopBody, Network, NetworkBuilder, PadLayout, ParameterRule, RuntimeOperation, ScanAxis,
    ScanBody, SequenceOperation, TensorId, ValueType,
};
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadError, LoadOptions, LoadedNetwork, OptimizerOptions,
    Runtime, Shape, StaticBackend, TensorInfo, Value,
};
use cpu_ref::CpuRef;

const LIMIT: u64 = 1 << 20;

fn try_load(network: Network) -> Result<LoadedNetwork, LoadError> {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<CpuRef>())
        .number_of_threads(1);
    let runtime = Runtime::create(options).unwrap();
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .unwrap();
    let options = LoadOptions {
        memory_limit: Some(LIMIT),
        ..LoadOptions::default()
    };
    runtime.load_network(optimized, options)
}

fn info(data_type: DataType, dims: &[i64]) -> TensorInfo {
    TensorInfo::new(data_type, Shape::new(dims).unwrap())
}

fn f32(dims: &[i64]) -> TensorInfo {
    info(DataType::Float32, dims)
}

fn i64s(values: &[i64]) -> HostTensor {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    let dims = [values.len() as i64];
    HostTensor::from_bytes(info(DataType::Signed64, &dims), &bytes).unwrap()
}

fn count(value: i64) -> HostTensor {
    HostTensor::from_bytes(info(DataType::Signed64, &[]), &value.to_ne_bytes()).unwrap()
}

/// Runs a network, and checks that its error says all of this.
#[track_caller]
fn assert_fails(loaded: &LoadedNetwork, inputs: &[HostTensor], parts: &[&str]) {
    let error = loaded.run(inputs).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "no '{part}' in: {error}");
    }
}

#[test]
fn a_layer_that_makes_much_of_little_is_an_error_that_names_its_tensor() {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[1 << 17, 1])).unwrap();
    let y = builder.add_input_layer("y", f32(&[1, 1 << 17])).unwrap();
    let sum = builder.add_addition_layer(x, y, "outer sum").unwrap();
    builder.add_output_layer("sum", sum).unwrap();
    let error = try_load(builder.finish().unwrap()).unwrap_err().to_string();
    // 64 GiB.
    assert!(
        error.contains("'outer sum'") && error.contains("[131072, 131072]"),
        "{error}"
    );
}

/// Pads x of one element by amounts that the caller gives.
fn padding() -> LoadedNetwork {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[1])).unwrap();
    let amounts = info(DataType::Signed64, &[2]);
    let amounts = builder.add_input_layer("amounts", amounts).unwrap();
    let rule = ParameterRule::Pad {
        mode: PaddingMode::Constant,
        value: 0.0,
        layout: PadLayout::Sides,
        negative_as_none: false,
    };
    let y = builder.add_deferred_layer("padded", rule, &[Some(x)], &[Some(amounts)], &[]);
    builder.add_output_layer("y", y.unwrap()[0]).unwrap();
    try_load(builder.finish().unwrap()).unwrap()
}

#[test]
fn a_size_that_follows_from_data_is_within_the_memory_limit() {
    let loaded = padding();
    let x = || HostTensor::from_f32([1], &[1.0]).unwrap();
    let outputs = loaded.run(&[x(), i64s(&[1, 1])]).unwrap();
    assert_eq!(outputs[0].elements::<f32>(), Some(&[0.0, 1.0, 0.0][..]));
    let terabyte = 1 << 38;
    let limit = ["padded", "1048576"];
    assert_fails(&loaded, &[x(), i64s(&[terabyte, 0])], &limit);
    for wild in [i64::MAX, i64::MAX - 1, i64::MIN] {
        assert_fails(&loaded, &[x(), i64s(&[wild, wild])], &["padded"]);
    }
}

#[test]
fn a_reshape_to_more_elements_than_there_can_be_is_refused() {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[4])).unwrap();
    let target = info(DataType::Signed64, &[2]);
    let target = builder.add_input_layer("target", target).unwrap();
    let rule = ParameterRule::Reshape { allow_zero: false };
    let y = builder.add_deferred_layer("y", rule, &[Some(x)], &[Some(target)], &[]);
    builder.add_output_layer("y", y.unwrap()[0]).unwrap();
    let loaded = try_load(builder.finish().unwrap()).unwrap();
    let x = || HostTensor::from_f32([4], &[1.0; 4]).unwrap();
    for target in [
        [1 << 62, 1],
        [1 << 62, 1 << 62],
        [i64::MAX, -1],
        [i64::MIN, 1],
        // 2^64 elements: 0, where they are not counted with care.
        [1 << 32, 1 << 32],
    ] {
        assert_fails(&loaded, &[x(), i64s(&target)], &["'y' (Reshape)"]);
    }
}

/// Inputs `count` and `x`, and a loop named `loop` that carries x.
fn looping(
    carried: ValueType,
    fill: impl FnOnce(&mut NetworkBuilder, TensorId) -> TensorId,
    start: impl FnOnce(&mut NetworkBuilder) -> TensorId,
) -> LoadedNetwork {
    let mut body = NetworkBuilder::new();
    body.add_input_layer("iteration", info(DataType::Signed64, &[]))
        .unwrap();
    let goes_on = body
        .add_input_layer("goes on", info(DataType::Boolean, &[]))
        .unwrap();
    let x = body.add_value_input("x", carried).unwrap();
    let next = fill(&mut body, x);
    body.add_output_layer("goes on", goes_on).unwrap();
    body.add_output_layer("x", next).unwrap();
    let operation = RuntimeOperation::Loop(LoopBody {
        network: Arc::new(body.finish().unwrap()),
        n_carried: 1,
    });
    let mut builder = NetworkBuilder::new();
    let count = builder
        .add_input_layer("count", info(DataType::Signed64, &[]))
        .unwrap();
    let x = start(&mut builder);
    let outputs = builder
        .add_runtime_layer("loop", operation, &[Some(count), None, Some(x)])
        .unwrap();
    builder.add_output_layer("y", outputs[0]).unwrap();
    try_load(builder.finish().unwrap()).unwrap()
}

#[test]
fn a_loop_that_makes_a_tensor_ever_larger_ends_with_an_error() {
    let loaded = looping(
        ValueType::Tensor(f32(&[-1])),
        |body, x| {
            let axis = ConcatDescriptor { axis: 0 };
            body.add_concat_layer(axis, &[x, x], "twice").unwrap()
        },
        |builder| builder.add_input_layer("x", f32(&[1])).unwrap(),
    );
    let x = || HostTensor::from_f32([1], &[1.0]).unwrap();
    let outputs = loaded.run(&[count(10), x()]).unwrap();
    assert_eq!(outputs[0].elements::<f32>(), Some(&[1.0; 1024][..]));
    // In iteration 16 the input has 4 bytes times 2^16, which is 2^18, and the output twice as much.
    // Both are in the arena and outside of it: 6 times 2^18 is more than 2^20. One iteration before,
    // it is less.
    let parts = ["'loop' (Loop), iteration 16", "1048576"];
    assert_fails(&loaded, &[count(100), x()], &parts);
}

#[test]
fn a_loop_that_makes_a_sequence_ever_longer_ends_with_an_error() {
    let element = ValueType::Tensor(f32(&[256]));
    let loaded = looping(
        ValueType::Sequence(Box::new(element)),
        |body, all| {
            let data = vec![0; 1024].into();
            let row = body.add_constant_layer("row", f32(&[256]), data).unwrap();
            // Of its own in each iteration.
            let row = body.add_abs_layer(row, "abs").unwrap();
            let insert = RuntimeOperation::Sequence(SequenceOperation::Insert);
            body.add_runtime_layer("insert", insert, &[Some(all), Some(row)])
                .unwrap()[0]
        },
        |builder| {
            let row = builder.add_input_layer("x", f32(&[256])).unwrap();
            let construct = RuntimeOperation::Sequence(SequenceOperation::Construct);
            builder
                .add_runtime_layer("all", construct, &[Some(row)])
                .unwrap()[0]
        },
    );
    let x = HostTensor::from_f32([256], &[1.0; 256]).unwrap();
    let inputs = vec![count(10).into(), x.into()];
    let outputs = loaded.run_values(inputs).unwrap();
    assert_eq!(outputs[0].as_sequence().unwrap().len(), 11);
    let x = HostTensor::from_f32([256], &[1.0; 256]).unwrap();
    // 1 KiB in each iteration.
    let error = loaded.run_values(vec![count(1100).into(), x.into()]);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("'insert' (SequenceInsert)")
            && error.contains("memory limit of 1048576 bytes"),
        "{error}"
    );
}

#[test]
fn a_scan_along_a_dimension_of_any_size_without_elements_ends_with_an_error() {
    let mut body = NetworkBuilder::new();
    let x = body.add_input_layer("x", f32(&[0])).unwrap();
    let y = body.add_abs_layer(x, "abs").unwrap();
    body.add_output_layer("y", y).unwrap();
    let operation = RuntimeOperation::Scan(ScanBody {
        network: Arc::new(body.finish().unwrap()),
        n_states: 0,
        inputs: vec![ScanAxis::default()],
        outputs: vec![ScanAxis::default()],
    });
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[1 << 56, 0])).unwrap();
    let y = builder
        .add_runtime_layer("scan", operation, &[Some(x)])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    let loaded = try_load(builder.finish().unwrap()).unwrap();
    let x = HostTensor::zeroed(f32(&[1 << 56, 0])).unwrap();
    assert_fails(&loaded, &[x], &["'scan' (Scan)", "memory limit"]);
}

#[test]
fn a_tensor_without_elements_is_not_split_into_ever_so_many() {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[1 << 56, 0])).unwrap();
    let size = info(DataType::Signed64, &[]);
    let size = builder.add_input_layer("size", size).unwrap();
    let split = RuntimeOperation::Sequence(SequenceOperation::Split {
        axis: 0,
        keep_dims: true,
    });
    let parts = builder
        .add_runtime_layer("parts", split, &[Some(x), Some(size)])
        .unwrap();
    builder.add_output_layer("y", parts[0]).unwrap();
    let loaded = try_load(builder.finish().unwrap()).unwrap();
    let x = || HostTensor::zeroed(f32(&[1 << 56, 0])).unwrap();
    let parts = loaded
        .run_values(vec![x().into(), count(1 << 54).into()])
        .unwrap();
    assert_eq!(parts[0].as_sequence().unwrap().len(), 4);
    let error = loaded.run_values(vec![x().into(), count(1).into()]);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("'parts' (SplitToSequence)") && error.contains("memory limit"),
        "{error}"
    );
}

#[test]
fn tensors_without_elements_are_split_and_joined_in_no_time() {
    // A step for each of 2^56 rows of nothing would take for ever.
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[1 << 56, 0])).unwrap();
    let split = RuntimeOperation::Sequence(SequenceOperation::Split {
        axis: 1,
        keep_dims: true,
    });
    let sizes = builder
        .add_constant_layer("sizes", info(DataType::Signed64, &[2]), vec![0; 16].into())
        .unwrap();
    let parts = builder
        .add_runtime_layer("parts", split, &[Some(x), Some(sizes)])
        .unwrap();
    let concat = RuntimeOperation::Sequence(SequenceOperation::Concat {
        axis: 1,
        new_axis: false,
    });
    let joined = builder
        .add_runtime_layer("joined", concat, &[Some(parts[0])])
        .unwrap();
    builder.add_output_layer("y", joined[0]).unwrap();
    let loaded = try_load(builder.finish().unwrap()).unwrap();
    let x = HostTensor::zeroed(f32(&[1 << 56, 0])).unwrap();
    let outputs = loaded.run_values(vec![x.into()]).unwrap();
    assert_eq!(
        outputs[0].as_tensor().unwrap().info().shape.dims(),
        [1 << 56, 0]
    );
}

#[test]
fn joining_a_sequence_is_within_the_memory_limit() {
    let mut builder = NetworkBuilder::new();
    let all = ValueType::Sequence(Box::new(ValueType::Tensor(f32(&[-1]))));
    let all = builder.add_value_input("all", all).unwrap();
    let concat = RuntimeOperation::Sequence(SequenceOperation::Concat {
        axis: 0,
        new_axis: false,
    });
    let joined = builder
        .add_runtime_layer("joined", concat, &[Some(all)])
        .unwrap();
    builder.add_output_layer("y", joined[0]).unwrap();
    let loaded = try_load(builder.finish().unwrap()).unwrap();
    let all = |n: usize| {
        let x = Value::from(HostTensor::zeroed(f32(&[1 << 16])).unwrap());
        vec![Value::from(vec![x; n])]
    };
    assert!(loaded.run_values(all(4)).is_ok());
    // 2^18 bytes each.
    let error = loaded.run_values(all(5)).unwrap_err().to_string();
    assert!(
        error.contains("'joined' (ConcatFromSequence)") && error.contains("1048576"),
        "{error}"
    );
}

#[test]
fn a_tensor_without_elements_has_dimensions_that_can_be_counted() {
    // Their product is beyond every integer.
    let dims = [3, 1 << 40, 1 << 40, 0];
    assert!(HostTensor::zeroed(f32(&dims)).is_err());
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[-1, -1, -1, 0])).unwrap();
    let construct = RuntimeOperation::Sequence(SequenceOperation::Construct);
    let all = builder.add_runtime_layer("all", construct, &[Some(x)]);
    builder.add_output_layer("y", all.unwrap()[0]).unwrap();
    let loaded = try_load(builder.finish().unwrap()).unwrap();
    let shapes = [Shape::new(&dims).unwrap()];
    let error = loaded.create_execution_state_for(&shapes).unwrap_err();
    assert!(error.to_string().contains("'x'"), "{error}");
}

/// So many parts, each of which gives what the one before it gives, without signs. `all` are outputs, or
/// the last one.
fn parts(count: usize, all: bool) -> LoadedNetwork {
    let mut builder = NetworkBuilder::new();
    let mut x = builder.add_input_layer("x", f32(&[-1])).unwrap();
    for part in 0..count {
        let abs = builder.add_abs_layer(x, &format!("abs {part}")).unwrap();
        // What backends do not know parts the network.
        let construct = RuntimeOperation::Sequence(SequenceOperation::Construct);
        let name = format!("sequence {part}");
        let sequence = builder
            .add_runtime_layer(&name, construct, &[Some(abs)])
            .unwrap();
        let concat = RuntimeOperation::Sequence(SequenceOperation::Concat {
            axis: 0,
            new_axis: false,
        });
        let name = format!("joined {part}");
        let joined = builder.add_runtime_layer(&name, concat, &[Some(sequence[0])]);
        x = joined.unwrap()[0];
        if all || part + 1 == count {
            builder.add_output_layer(&format!("y {part}"), x).unwrap();
        }
    }
    try_load(builder.finish().unwrap()).unwrap()
}

/// Each part keeps its tensors for the next execution, unless another part needs the memory.
#[test]
fn what_other_parts_keep_makes_room_in_any_execution() {
    let loaded = parts(8, false);
    // 128 KiB. A part has what it takes and what it gives in its own memory, and both besides: 512
    // KiB. All parts together would keep 8 times 256 KiB.
    let n = 1 << 15;
    let x = HostTensor::from_f32([n], &vec![-2.0; 1 << 15]).unwrap();
    let mut state = loaded.create_execution_state_for(&[[n].into()]).unwrap();
    for _ in 0..3 {
        state.set_input(0, x.bytes()).unwrap();
        state.execute().unwrap();
        let y = armnn_backend_api::cast_slice::<f32>(state.output(0)).unwrap();
        assert!(y.len() == 1 << 15 && y.iter().all(|&y| y == 2.0));
    }
}

/// As above, but what each part gives is kept to the end: with 8 parts, 8 times 128 KiB are the limit by
/// themselves.
#[test]
fn what_parts_give_is_within_the_limit_all_together() {
    let n = 1 << 15;
    let x = HostTensor::from_f32([n], &vec![-2.0; 1 << 15]).unwrap();
    let few = parts(3, true).run(std::slice::from_ref(&x)).unwrap();
    assert_eq!(few.len(), 3);
    let words = ["memory limit of 1048576 bytes"];
    let many = parts(8, true);
    for _ in 0..2 {
        assert_fails(&many, std::slice::from_ref(&x), &words);
    }
    // What was held is let go: smaller ones are computed.
    let x = HostTensor::from_f32([1], &[-2.0]).unwrap();
    assert_eq!(many.run(&[x]).unwrap().len(), 8);
}
