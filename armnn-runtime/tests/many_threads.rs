//! One loaded network, executed by many threads at once, each with a state of its own; values are
//! checked in each.

use std::sync::Arc;

use armnn_backend_api::{BinaryOperation, ComparisonDescriptor, ComparisonOperation};
use armnn_network::{
    LoopBody, Network, NetworkBuilder, ParameterRule, RuntimeOperation, TensorId, VariableValue,
};
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime,
    Shape, StaticBackend, TensorInfo,
};
use cpu_ref::CpuRef;

const THREADS: usize = 8;
const ROUNDS: usize = 40;

fn load(network: Network) -> LoadedNetwork {
    // More threads than one in the pool, which all executions share.
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<CpuRef>())
        .number_of_threads(2);
    let runtime = Runtime::create(options).unwrap();
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .unwrap();
    let options = LoadOptions {
        // Fewer than there are shapes: plans are dropped while others use them.
        max_plans: Some(2),
        ..LoadOptions::default()
    };
    runtime.load_network(optimized, options).unwrap()
}

fn info(data_type: DataType, dims: &[i64]) -> TensorInfo {
    TensorInfo::new(data_type, Shape::new(dims).unwrap())
}

fn f32(dims: &[i64]) -> TensorInfo {
    info(DataType::Float32, dims)
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    armnn_backend_api::cast_slice::<f32>(bytes)
        .unwrap()
        .to_vec()
}

fn constant(builder: &mut NetworkBuilder, value: f32) -> TensorId {
    let data = value.to_ne_bytes().to_vec().into();
    builder.add_constant_layer("", f32(&[]), data).unwrap()
}

/// Runs `check` in many threads: it is given the number of the thread and of the round.
fn in_threads(check: impl Fn(usize, usize) + Sync) {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let check = &check;
            scope.spawn(move || (0..ROUNDS).for_each(|round| check(thread, round)));
        }
    });
}

/// |2 x| for any number of elements.
fn doubling() -> LoadedNetwork {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[-1])).unwrap();
    let y = builder.add_addition_layer(x, x, "double").unwrap();
    let y = builder.add_abs_layer(y, "abs").unwrap();
    builder.add_output_layer("y", y).unwrap();
    load(builder.finish().unwrap())
}

#[test]
fn shapes_may_differ_from_thread_to_thread_and_change_in_each() {
    let loaded = doubling();
    in_threads(|thread, round| {
        let n = 1 + (thread + round) % 5;
        let x: Vec<f32> = (0..n)
            .map(|i| -((thread * 100 + round + i) as f32))
            .collect();
        let shape = Shape::from([n as i64]);
        let outputs = loaded
            .run(&[HostTensor::from_f32(shape, &x).unwrap()])
            .unwrap();
        let expected: Vec<f32> = x.iter().map(|x| -2.0 * x).collect();
        assert_eq!(outputs[0].elements::<f32>(), Some(&expected[..]));
    });
}

#[test]
fn a_state_goes_from_thread_to_thread() {
    let loaded = doubling();
    let shapes = [Shape::from([2])];
    let states: Vec<_> = (0..THREADS)
        .map(|_| std::sync::Mutex::new(loaded.create_execution_state_for(&shapes).unwrap()))
        .collect();
    in_threads(|thread, round| {
        let mut state = states[(thread + round) % THREADS].lock().unwrap();
        let x = [thread as f32, -(round as f32)];
        state.set_input(0, &bytes_of(&x)).unwrap();
        state.execute().unwrap();
        assert_eq!(floats(state.output(0)), [2.0 * x[0], -2.0 * x[1]]);
    });
}

/// A loop in whose body an If stands: x is doubled or made 1 larger, `count` times.
///
/// Doubled while it is below 10.
fn loop_with_if() -> LoadedNetwork {
    let branch = |operation: BinaryOperation, name: &str| {
        let mut builder = NetworkBuilder::new();
        let x = builder.add_input_layer("x", f32(&[1])).unwrap();
        let d = armnn_backend_api::ElementwiseBinaryDescriptor::new(operation);
        let value = match operation {
            BinaryOperation::Mul => 2.0,
            _ => 1.0,
        };
        let value = constant(&mut builder, value);
        let y = builder
            .add_elementwise_binary_layer(d, x, value, name)
            .unwrap();
        builder.add_output_layer("y", y).unwrap();
        Arc::new(builder.finish().unwrap())
    };
    let mut body = NetworkBuilder::new();
    body.add_input_layer("iteration", info(DataType::Signed64, &[]))
        .unwrap();
    let goes_on = body
        .add_input_layer("goes on", info(DataType::Boolean, &[]))
        .unwrap();
    let x = body.add_input_layer("x", f32(&[1])).unwrap();
    let ten = constant(&mut body, 10.0);
    let less = ComparisonDescriptor::new(ComparisonOperation::Less);
    let less = body.add_comparison_layer(less, x, ten, "less").unwrap();
    let operation = RuntimeOperation::If {
        then_body: branch(BinaryOperation::Mul, "twice"),
        else_body: branch(BinaryOperation::Add, "plus one"),
    };
    let next = body
        .add_runtime_layer("if", operation, &[Some(less), Some(x)])
        .unwrap();
    body.add_output_layer("goes on", goes_on).unwrap();
    body.add_output_layer("x", next[0]).unwrap();
    let mut builder = NetworkBuilder::new();
    let count = builder
        .add_input_layer("count", info(DataType::Signed64, &[]))
        .unwrap();
    let x = builder.add_input_layer("x", f32(&[1])).unwrap();
    let operation = RuntimeOperation::Loop(LoopBody {
        network: Arc::new(body.finish().unwrap()),
        n_carried: 1,
    });
    let outputs = builder
        .add_runtime_layer("loop", operation, &[Some(count), None, Some(x)])
        .unwrap();
    builder.add_output_layer("y", outputs[0]).unwrap();
    load(builder.finish().unwrap())
}

#[test]
fn loops_and_branches_run_in_many_threads() {
    let loaded = loop_with_if();
    in_threads(|thread, round| {
        let (count, mut expected) = ((thread + round) % 7, thread as f32 + 1.0);
        let mut state = loaded.create_execution_state().unwrap();
        state.set_input(0, &(count as i64).to_ne_bytes()).unwrap();
        state.set_input(1, &bytes_of(&[expected])).unwrap();
        state.execute().unwrap();
        for _ in 0..count {
            expected = if expected < 10.0 {
                2.0 * expected
            } else {
                expected + 1.0
            };
        }
        assert_eq!(floats(state.output(0)), [expected]);
    });
}

#[test]
fn every_state_has_variables_and_computed_shapes_of_its_own() {
    // A sum over all executions, given in a shape that the caller says.
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[6])).unwrap();
    let target = info(DataType::Signed64, &[2]);
    let target = builder.add_input_layer("target", target).unwrap();
    let sum = builder
        .add_variable("sum", f32(&[6]), VariableValue::Zero)
        .unwrap();
    let next = builder.add_addition_layer(sum, x, "next").unwrap();
    builder.assign_variable("sum", next).unwrap();
    let rule = ParameterRule::Reshape { allow_zero: false };
    let y = builder.add_deferred_layer("y", rule, &[Some(next)], &[Some(target)], &[]);
    builder.add_output_layer("y", y.unwrap()[0]).unwrap();
    let loaded = load(builder.finish().unwrap());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let loaded = loaded.clone();
            scope.spawn(move || {
                let mut state = loaded.create_execution_state().unwrap();
                let x = thread as f32;
                for round in 0..ROUNDS {
                    let target = [[2i64, 3], [3, 2], [1, 6], [6, 1]][(thread + round) % 4];
                    let bytes: Vec<u8> = target.iter().flat_map(|v| v.to_ne_bytes()).collect();
                    state.set_input(0, &bytes_of(&[x; 6])).unwrap();
                    state.set_input(1, &bytes).unwrap();
                    state.execute().unwrap();
                    assert_eq!(state.output_info(0).shape.dims(), target);
                    let sum = x * (round + 1) as f32;
                    assert_eq!(floats(state.output(0)), [sum; 6]);
                }
            });
        }
    });
}

#[test]
fn asynchronous_executions_of_many_threads_share_the_network() {
    let loaded = doubling();
    in_threads(|thread, round| {
        let shapes = [Shape::from([1])];
        let x = (thread * ROUNDS + round) as f32;
        let mut state = loaded.create_execution_state_for(&shapes).unwrap();
        state.set_input(0, &bytes_of(&[-x])).unwrap();
        let (state, result) = state.execute_async().wait().unwrap();
        result.unwrap();
        assert_eq!(floats(state.output(0)), [2.0 * x]);
    });
}
