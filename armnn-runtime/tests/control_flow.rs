//! Control flow, variables, sequences, and parameters that models compute.

use std::sync::Arc;

use armnn_network::{
    LoopBody, Network, NetworkBuilder, ParameterRule, RuntimeOperation, ScanAxis, ScanBody,
    SequenceOperation, TensorId, ValueType, VariableValue,
};
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime,
    Shape, StaticBackend, TensorInfo, Value,
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

#[test]
fn if_executes_the_body_that_the_condition_chooses() {
    let mut builder = NetworkBuilder::new();
    let condition = builder.add_input_layer("condition", boolean(&[])).unwrap();
    let x = builder.add_input_layer("x", f32(&[2])).unwrap();
    let operation = RuntimeOperation::If {
        then_body: plus(&[2], 10.0, "then/sum"),
        else_body: plus(&[2], -1.0, "else/sum"),
    };
    let y = builder
        .add_runtime_layer("if", operation, &[Some(condition), Some(x)])
        .unwrap();
    // The result goes on to a layer of a backend.
    let y = builder.add_abs_layer(y[0], "abs").unwrap();
    builder.add_output_layer("y", y).unwrap();
    let loaded = load(builder.finish().unwrap());
    for (condition, expected) in [(true, [12.0, 7.0]), (false, [1.0, 4.0])] {
        let inputs = [bool_tensor(condition), tensor(&[2], &[2.0, -3.0])];
        let outputs = loaded.run(&inputs).unwrap();
        assert_eq!(values(&outputs[0]), expected, "{condition}");
    }
    let report = loaded.report();
    let ran: Vec<(&str, &str)> = report
        .layers
        .iter()
        .map(|layer| (layer.name.as_str(), layer.backend.as_str()))
        .collect();
    assert_eq!(
        ran,
        [
            ("if", "Runtime"),
            ("abs", "CpuRef"),
            ("then/sum", "CpuRef"),
            ("else/sum", "CpuRef")
        ]
    );
}

/// Carries x, doubled in each iteration, and gives each iteration's x before it was doubled.
fn doubling(dims: &[i64]) -> LoopBody {
    let mut builder = NetworkBuilder::new();
    let number = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    builder.add_input_layer("iteration", number).unwrap();
    let goes_on = builder.add_input_layer("goes_on", boolean(&[])).unwrap();
    let x = builder.add_input_layer("x", f32(dims)).unwrap();
    let double = builder.add_addition_layer(x, x, "loop/double").unwrap();
    builder.add_output_layer("goes_on", goes_on).unwrap();
    builder.add_output_layer("x", double).unwrap();
    builder.add_output_layer("before", x).unwrap();
    LoopBody {
        network: Arc::new(builder.finish().unwrap()),
        n_carried: 1,
    }
}

fn doubling_loop(options: LoadOptions) -> LoadedNetwork {
    let mut builder = NetworkBuilder::new();
    let number = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    let count = builder.add_input_layer("count", number).unwrap();
    let x = builder.add_input_layer("x", f32(&[2])).unwrap();
    let operation = RuntimeOperation::Loop(doubling(&[2]));
    let outputs = builder
        .add_runtime_layer("loop", operation, &[Some(count), None, Some(x)])
        .unwrap();
    assert_eq!(
        builder.tensor(outputs[1]).unwrap().info.shape.dims(),
        [-1, 2]
    );
    for (name, &output) in ["last", "all"].iter().zip(&outputs) {
        builder.add_output_layer(name, output).unwrap();
    }
    load_with(builder.finish().unwrap(), options)
}

#[test]
fn a_loop_carries_values_and_puts_elements_together() {
    let loaded = doubling_loop(LoadOptions::default());
    let outputs = loaded
        .run(&[i64_tensor(&[], &[3]), tensor(&[2], &[1.0, 5.0])])
        .unwrap();
    assert_eq!(values(&outputs[0]), [8.0, 40.0]);
    assert_eq!(outputs[1].info().shape.dims(), [3, 2]);
    assert_eq!(values(&outputs[1]), [1.0, 5.0, 2.0, 10.0, 4.0, 20.0]);
}

#[test]
fn a_loop_without_iterations_gives_what_it_was_given() {
    let outputs = doubling_loop(LoadOptions::default())
        .run(&[i64_tensor(&[], &[0]), tensor(&[2], &[1.0, 5.0])])
        .unwrap();
    assert_eq!(values(&outputs[0]), [1.0, 5.0]);
    assert_eq!(outputs[1].info().shape.dims(), [0, 2]);
}

#[test]
fn a_loop_that_would_not_end_can_be_ended() {
    let mut state = doubling_loop(LoadOptions::default())
        .create_execution_state()
        .unwrap();
    state.set_input(0, &i64::MAX.to_ne_bytes()).unwrap();
    state.interrupt_handle().interrupt();
    let error = state.execute().unwrap_err().to_string();
    assert!(error.ends_with("the execution was interrupted"), "{error}");
    state.set_input(0, &1i64.to_ne_bytes()).unwrap();
    state.execute().unwrap();
}

#[test]
fn what_a_loop_puts_together_is_within_the_memory_limit() {
    let options = LoadOptions {
        memory_limit: Some(4096),
        ..LoadOptions::default()
    };
    // 8 bytes in each iteration.
    let inputs = [i64_tensor(&[], &[513]), tensor(&[2], &[0.0, 0.0])];
    let error = doubling_loop(options).run(&inputs).unwrap_err().to_string();
    assert!(
        error.contains("'loop' (Loop)") && error.contains("memory limit of 4096 bytes"),
        "{error}"
    );
}

#[test]
fn while_runs_as_long_as_its_condition_holds() {
    let mut condition = NetworkBuilder::new();
    let x = condition.add_input_layer("x", f32(&[1])).unwrap();
    let limit = constant(&mut condition, "limit", &[1], &[20.0]);
    let less =
        armnn_backend_api::ComparisonDescriptor::new(armnn_backend_api::ComparisonOperation::Less);
    let less = condition
        .add_comparison_layer(less, x, limit, "while/less")
        .unwrap();
    condition.add_output_layer("less", less).unwrap();
    let operation = RuntimeOperation::While {
        condition: Arc::new(condition.finish().unwrap()),
        body: plus(&[1], 6.0, "while/sum"),
        n_carried: 1,
    };
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[1])).unwrap();
    let y = builder
        .add_runtime_layer("while", operation, &[Some(x)])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    let loaded = load(builder.finish().unwrap());
    // 1, 7, 13, 19, 25.
    assert_eq!(
        values(&loaded.run(&[tensor(&[1], &[1.0])]).unwrap()[0]),
        [25.0]
    );
    assert_eq!(
        values(&loaded.run(&[tensor(&[1], &[20.0])]).unwrap()[0]),
        [20.0]
    );
}

#[test]
fn a_scan_goes_along_any_axis_in_either_direction() {
    // The sum so far, of the columns of x from the last to the first.
    let mut body = NetworkBuilder::new();
    let sum = body.add_input_layer("sum", f32(&[2])).unwrap();
    let column = body.add_input_layer("column", f32(&[2])).unwrap();
    let next = body.add_addition_layer(sum, column, "scan/sum").unwrap();
    body.add_output_layer("sum", next).unwrap();
    body.add_output_layer("so far", next).unwrap();
    let operation = RuntimeOperation::Scan(ScanBody {
        network: Arc::new(body.finish().unwrap()),
        n_states: 1,
        inputs: vec![ScanAxis {
            axis: 1,
            reverse: true,
        }],
        outputs: vec![ScanAxis {
            axis: -1,
            reverse: false,
        }],
    });
    let mut builder = NetworkBuilder::new();
    let first = builder.add_input_layer("first", f32(&[2])).unwrap();
    let x = builder.add_input_layer("x", f32(&[2, 3])).unwrap();
    let y = builder
        .add_runtime_layer("scan", operation, &[Some(first), Some(x)])
        .unwrap();
    assert_eq!(builder.tensor(y[1]).unwrap().info.shape.dims(), [2, 3]);
    builder.add_output_layer("sum", y[0]).unwrap();
    builder.add_output_layer("so far", y[1]).unwrap();
    let loaded = load(builder.finish().unwrap());
    let x = tensor(&[2, 3], &[1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
    let outputs = loaded.run(&[tensor(&[2], &[100.0, 0.0]), x]).unwrap();
    assert_eq!(values(&outputs[0]), [106.0, 60.0]);
    assert_eq!(values(&outputs[1]), [103.0, 105.0, 106.0, 30.0, 50.0, 60.0]);
}

#[test]
fn a_variable_keeps_its_value_from_one_execution_to_the_next() {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[2])).unwrap();
    let initial: Vec<u8> = [1.0f32, 2.0].iter().flat_map(|v| v.to_ne_bytes()).collect();
    let sum = builder
        .add_variable("sum", f32(&[2]), VariableValue::Elements(initial.into()))
        .unwrap();
    let next = builder.add_addition_layer(sum, x, "next").unwrap();
    builder.assign_variable("sum", next).unwrap();
    builder.add_output_layer("y", next).unwrap();
    let loaded = load(builder.finish().unwrap());
    let mut state = loaded.create_execution_state().unwrap();
    let mut step = |x: [f32; 2]| {
        let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_ne_bytes()).collect();
        state.set_input(0, &bytes).unwrap();
        state.execute().unwrap();
        let sum = values(state.variable("sum").unwrap()).to_vec();
        assert_eq!(
            armnn_backend_api::cast_slice::<f32>(state.output(0)).unwrap(),
            sum
        );
        sum
    };
    assert_eq!(step([10.0, 10.0]), [11.0, 12.0]);
    assert_eq!(step([1.0, 0.0]), [12.0, 12.0]);
    // Another caller's state is its own.
    let mut other = loaded.create_execution_state().unwrap();
    other.take_variables_from(&state);
    other.execute().unwrap();
    assert_eq!(values(other.variable("sum").unwrap()), [12.0, 12.0]);
    other.reset_variables();
    other.execute().unwrap();
    assert_eq!(values(other.variable("sum").unwrap()), [1.0, 2.0]);
    assert_eq!(values(state.variable("sum").unwrap()), [12.0, 12.0]);
}

#[test]
fn the_first_values_of_variables_may_be_computed() {
    let mut first = NetworkBuilder::new();
    let seven = constant(&mut first, "seven", &[1], &[-7.0]);
    let first_value = first.add_abs_layer(seven, "first").unwrap();
    first.add_output_layer("first", first_value).unwrap();
    let mut builder = NetworkBuilder::new();
    let state = builder
        .add_variable("v", f32(&[1]), VariableValue::Computed(0))
        .unwrap();
    builder
        .set_initializer(Arc::new(first.finish().unwrap()))
        .unwrap();
    let next = builder.add_addition_layer(state, state, "next").unwrap();
    builder.assign_variable("v", next).unwrap();
    builder.add_output_layer("before", state).unwrap();
    let loaded = load(builder.finish().unwrap());
    let mut state = loaded.create_execution_state().unwrap();
    for expected in [7.0, 14.0, 28.0] {
        state.execute().unwrap();
        let found = armnn_backend_api::cast_slice::<f32>(state.output(0)).unwrap();
        assert_eq!(found, [expected]);
    }
}

/// Reshape(x, target).
fn reshaping(x: &[i64], target_len: i64) -> LoadedNetwork {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(x)).unwrap();
    let target = TensorInfo::new(DataType::Signed64, [target_len]);
    let target = builder.add_input_layer("target", target).unwrap();
    let x = builder.add_abs_layer(x, "abs").unwrap();
    let rule = ParameterRule::Reshape { allow_zero: false };
    let y = builder
        .add_deferred_layer("y", rule, &[Some(x)], &[Some(target)], &[])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    load(builder.finish().unwrap())
}

#[test]
fn an_input_of_the_model_may_be_a_parameter() {
    let loaded = reshaping(&[2, 3], 2);
    let x = tensor(&[2, 3], &[-1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let mut state = loaded.create_execution_state().unwrap();
    state.set_input(0, x.bytes()).unwrap();
    for (target, shape) in [([3i64, 2], [3, 2]), ([-1, 1], [6, 1]), ([0, -1], [2, 3])] {
        let bytes: Vec<u8> = target.iter().flat_map(|v| v.to_ne_bytes()).collect();
        state.set_input(1, &bytes).unwrap();
        state.execute().unwrap();
        assert_eq!(state.output_info(0).shape.dims(), shape);
        let found = armnn_backend_api::cast_slice::<f32>(state.output(0)).unwrap();
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }
    let bytes: Vec<u8> = [4i64, -1].iter().flat_map(|v| v.to_ne_bytes()).collect();
    state.set_input(1, &bytes).unwrap();
    let error = state.execute().unwrap_err().to_string();
    assert!(
        error.contains("layer 'y' (Reshape)") && error.contains("divides the number of elements"),
        "{error}"
    );
}

#[test]
fn sequences_go_into_a_network_and_come_out() {
    let mut builder = NetworkBuilder::new();
    let of = ValueType::Tensor(f32(&[-1]));
    let all = ValueType::Sequence(Box::new(of));
    let all = builder.add_value_input("all", all).unwrap();
    let last = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    let bytes = (-1i64).to_ne_bytes().to_vec();
    let last = builder
        .add_constant_layer("last", last, bytes.into())
        .unwrap();
    let at = RuntimeOperation::Sequence(SequenceOperation::At);
    let value = builder
        .add_runtime_layer("at", at, &[Some(all), Some(last)])
        .unwrap();
    let value = builder.add_abs_layer(value[0], "abs").unwrap();
    let insert = RuntimeOperation::Sequence(SequenceOperation::Insert);
    let longer = builder
        .add_runtime_layer("insert", insert, &[Some(all), Some(value)])
        .unwrap();
    let concat = RuntimeOperation::Sequence(SequenceOperation::Concat {
        axis: 0,
        new_axis: false,
    });
    let joined = builder
        .add_runtime_layer("concat", concat, &[Some(longer[0])])
        .unwrap();
    builder.add_output_layer("longer", longer[0]).unwrap();
    builder.add_output_layer("joined", joined[0]).unwrap();
    let loaded = load(builder.finish().unwrap());
    let all = vec![
        tensor(&[1], &[1.0]).into(),
        tensor(&[2], &[-2.0, -3.0]).into(),
    ];
    let outputs = loaded.run_values(vec![Value::from(all)]).unwrap();
    assert_eq!(outputs[0].as_sequence().unwrap().len(), 3);
    let joined = outputs[1].as_tensor().unwrap();
    assert_eq!(values(joined), [1.0, -2.0, -3.0, 2.0, 3.0]);
    let error = loaded
        .run_values(vec![tensor(&[1], &[1.0]).into()])
        .unwrap_err();
    assert!(
        error.to_string().starts_with("input 'all' is sequence of"),
        "{error}"
    );
}

/// A variable that holds two elements, and is assigned |x|, whose size is not known.
fn assigning() -> LoadedNetwork {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[-1])).unwrap();
    let v = builder
        .add_variable("v", f32(&[2]), VariableValue::Zero)
        .unwrap();
    let abs = builder.add_abs_layer(x, "abs").unwrap();
    builder.assign_variable("v", abs).unwrap();
    builder.add_output_layer("before", v).unwrap();
    load(builder.finish().unwrap())
}

#[test]
fn a_variable_is_as_before_if_what_it_is_assigned_does_not_fit() {
    let loaded = assigning();
    let mut fitting = loaded.create_execution_state_for(&[[2].into()]).unwrap();
    fitting
        .set_input(0, tensor(&[2], &[-1.0, 2.0]).bytes())
        .unwrap();
    fitting.execute().unwrap();
    assert_eq!(values(fitting.variable("v").unwrap()), [1.0, 2.0]);

    let mut other = loaded.create_execution_state_for(&[[3].into()]).unwrap();
    other.take_variables_from(&fitting);
    let error = other.execute().unwrap_err().to_string();
    assert!(
        error.contains("variable 'v'") && error.contains("is assigned Float32[3]"),
        "{error}"
    );
    assert_eq!(values(other.variable("v").unwrap()), [1.0, 2.0]);
}

#[test]
fn variables_are_taken_over_one_by_one() {
    let network = |names: &[&str]| {
        let mut builder = NetworkBuilder::new();
        let x = builder.add_input_layer("x", f32(&[1])).unwrap();
        for name in names {
            let v = builder
                .add_variable(name, f32(&[1]), VariableValue::Elements(vec![0; 4].into()))
                .unwrap();
            let sum = builder.add_addition_layer(v, x, name).unwrap();
            builder.assign_variable(name, sum).unwrap();
            builder.add_output_layer(name, sum).unwrap();
        }
        load(builder.finish().unwrap())
    };
    let (one, both) = (network(&["a"]), network(&["a", "b"]));
    let executed = |loaded: &LoadedNetwork, x: f32| {
        let mut state = loaded.create_execution_state().unwrap();
        state.set_input(0, tensor(&[1], &[x]).bytes()).unwrap();
        state.execute().unwrap();
        state
    };
    let first = executed(&one, 3.0);
    let mut second = both.create_execution_state().unwrap();
    second.take_variables_from(&first);
    assert_eq!(values(second.variable("a").unwrap()), [3.0]);
    // It has no value yet, and gets the first one.
    assert!(second.variable("b").is_none());
    second.set_input(0, tensor(&[1], &[4.0]).bytes()).unwrap();
    second.execute().unwrap();
    // 3 + 4 and 0 + 4
    assert_eq!(values(second.variable("a").unwrap()), [7.0]);
    assert_eq!(values(second.variable("b").unwrap()), [4.0]);
    second.take_variables_from(&executed(&one, 8.0));
    assert_eq!(values(second.variable("a").unwrap()), [8.0]);
    assert_eq!(values(second.variable("b").unwrap()), [4.0]);
}

#[test]
fn a_body_is_given_only_what_it_takes() {
    // If of bodies that take two elements, of an input of any size.
    let body = || {
        let mut builder = NetworkBuilder::new();
        let x = builder.add_input_layer("inner", f32(&[2])).unwrap();
        builder.add_output_layer("y", x).unwrap();
        Arc::new(builder.finish().unwrap())
    };
    let mut builder = NetworkBuilder::new();
    let condition = builder.add_input_layer("condition", boolean(&[])).unwrap();
    let x = builder.add_input_layer("x", f32(&[-1])).unwrap();
    let operation = RuntimeOperation::If {
        then_body: body(),
        else_body: body(),
    };
    let y = builder
        .add_runtime_layer("if", operation, &[Some(condition), Some(x)])
        .unwrap();
    // What follows from the declaration of the bodies.
    let size = builder
        .add_shape_layer(y[0], 0, 1, DataType::Signed64, "size")
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    builder.add_output_layer("size", size).unwrap();
    let loaded = load(builder.finish().unwrap());
    let run = |x: HostTensor| loaded.run(&[bool_tensor(true), x]);
    let outputs = run(tensor(&[2], &[1.0, 2.0])).unwrap();
    assert_eq!(outputs[1].elements::<i64>().unwrap(), [2]);
    let error = run(tensor(&[3], &[0.0; 3])).unwrap_err().to_string();
    assert!(
        error.contains("'if' (If)") && error.contains("'inner'") && error.contains("Float32[3]"),
        "{error}"
    );
}

#[test]
fn what_is_joined_is_within_the_memory_limit() {
    // A loop puts one tensor of 1024 bytes into a sequence again and again, which takes no memory.
    let of = || ValueType::Sequence(Box::new(ValueType::Tensor(f32(&[256]))));
    let mut body = NetworkBuilder::new();
    let number = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    body.add_input_layer("iteration", number.clone()).unwrap();
    let goes_on = body.add_input_layer("goes on", boolean(&[])).unwrap();
    let s = body.add_value_input("s", of()).unwrap();
    let x = body.add_input_layer("x", f32(&[256])).unwrap();
    let insert = RuntimeOperation::Sequence(SequenceOperation::Insert);
    let s = body
        .add_runtime_layer("insert", insert, &[Some(s), Some(x)])
        .unwrap();
    body.add_output_layer("goes on", goes_on).unwrap();
    body.add_output_layer("s", s[0]).unwrap();

    let mut builder = NetworkBuilder::new();
    let count = builder.add_input_layer("count", number).unwrap();
    let x = builder.add_input_layer("x", f32(&[256])).unwrap();
    let empty = RuntimeOperation::Sequence(SequenceOperation::Empty);
    let s = builder.add_runtime_layer("empty", empty, &[]).unwrap();
    let operation = RuntimeOperation::Loop(LoopBody {
        network: Arc::new(body.finish().unwrap()),
        n_carried: 1,
    });
    let inputs = [Some(count), None, Some(s[0]), Some(x)];
    let s = builder
        .add_runtime_layer("loop", operation, &inputs)
        .unwrap();
    let join = RuntimeOperation::Sequence(SequenceOperation::Concat {
        axis: 0,
        new_axis: false,
    });
    let y = builder
        .add_runtime_layer("join", join, &[Some(s[0])])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    let limited = LoadOptions {
        memory_limit: Some(1 << 20),
        ..LoadOptions::default()
    };
    let loaded = load_with(builder.finish().unwrap(), limited);
    let run = |count| {
        let x = HostTensor::zeroed(f32(&[256])).unwrap();
        loaded.run(&[i64_tensor(&[], &[count]), x])
    };
    // 1 KiB in each iteration.
    let outputs = run(512).unwrap();
    assert_eq!(outputs[0].info().shape.dims(), [512 * 256]);
    let error = run(1025).unwrap_err().to_string();
    assert!(error.contains("limit of 1048576 bytes"), "{error}");
}

#[test]
fn a_network_of_one_part_ends_if_it_was_interrupted_before() {
    let network = Network::clone(&plus(&[1], 1.0, "sum"));
    let loaded = load(network);
    let mut state = loaded.create_execution_state().unwrap();
    let handle = state.interrupt_handle();
    handle.interrupt();
    let error = state.execute().unwrap_err().to_string();
    assert!(error.contains("interrupted"), "{error}");
    state.execute().unwrap();
    handle.interrupt();
    let x = tensor(&[1], &[1.0]);
    let mut y = [0; 4];
    let result = loaded.execute(&mut state, &[x.bytes()], &mut [&mut y]);
    assert!(result.is_err());
    loaded
        .execute(&mut state, &[x.bytes()], &mut [&mut y])
        .unwrap();
    assert_eq!(f32::from_ne_bytes(y), 2.0);
}

#[test]
fn what_grows_in_a_loop_is_within_the_memory_limit() {
    // Twice the elements after each iteration.
    let mut body = NetworkBuilder::new();
    let number = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    body.add_input_layer("iteration", number.clone()).unwrap();
    let goes_on = body.add_input_layer("goes on", boolean(&[])).unwrap();
    let x = body.add_input_layer("x", f32(&[-1])).unwrap();
    let descriptor = armnn_backend_api::ConcatDescriptor { axis: 0 };
    let double = body
        .add_concat_layer(descriptor, &[x, x], "double")
        .unwrap();
    body.add_output_layer("goes on", goes_on).unwrap();
    body.add_output_layer("x", double).unwrap();
    let operation = RuntimeOperation::Loop(LoopBody {
        network: Arc::new(body.finish().unwrap()),
        n_carried: 1,
    });
    let mut builder = NetworkBuilder::new();
    let count = builder.add_input_layer("count", number).unwrap();
    let x = builder.add_input_layer("x", f32(&[1])).unwrap();
    let y = builder
        .add_runtime_layer("loop", operation, &[Some(count), None, Some(x)])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    let limited = LoadOptions {
        memory_limit: Some(1 << 20),
        ..LoadOptions::default()
    };
    let loaded = load_with(builder.finish().unwrap(), limited);
    let mut state = loaded.create_execution_state().unwrap();
    let mut run = |count: i64| {
        state
            .set_input(0, i64_tensor(&[], &[count]).bytes())
            .unwrap();
        let result = state.execute().map_err(|e| e.to_string());
        result.map(|()| state.output(0).len())
    };
    // The iteration that gives 2^16 elements has them and 2^15 twice, of 4 bytes each: 786432 bytes.
    // What was kept for other sizes goes for that. The next one needs twice as much.
    assert_eq!(run(16), Ok(4 << 16));
    let error = run(17).unwrap_err();
    assert!(
        error.contains("'loop' (Loop), iteration 16") && error.contains("limit of 1048576 bytes"),
        "{error}"
    );
    assert_eq!(run(3), Ok(4 << 3));
}

#[test]
fn what_no_output_depends_on_is_not_executed_and_variables_are_outputs() {
    // A sequence of x is asked for a value that it does not have, which nobody reads; a variable is
    // increased by what a loop gives.
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[2])).unwrap();
    let construct = RuntimeOperation::Sequence(SequenceOperation::Construct);
    let all = builder
        .add_runtime_layer("all", construct, &[Some(x)])
        .unwrap();
    let info = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    let five = 5i64.to_ne_bytes().to_vec();
    let five = builder.add_constant_layer("5", info, five.into()).unwrap();
    let at = RuntimeOperation::Sequence(SequenceOperation::At);
    builder
        .add_runtime_layer("unread", at, &[Some(all[0]), Some(five)])
        .unwrap();
    let counted = builder
        .add_variable("counted", f32(&[2]), VariableValue::Zero)
        .unwrap();
    let sum = builder.add_addition_layer(counted, x, "sum").unwrap();
    builder.assign_variable("counted", sum).unwrap();
    let y = builder.add_abs_layer(x, "y").unwrap();
    builder.add_output_layer("y", y).unwrap();

    let loaded = load(builder.finish().unwrap());
    let names = loaded
        .network()
        .layers()
        .iter()
        .map(|layer| layer.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["sum", "y"]);
    let mut state = loaded.create_execution_state().unwrap();
    for times in [1.0, 2.0] {
        state
            .set_input_value(0, tensor(&[2], &[-1.0, 3.0]).into())
            .unwrap();
        state.execute().unwrap();
        assert_eq!(
            state.output(0),
            [1.0f32, 3.0].map(f32::to_ne_bytes).concat()
        );
        let counted = values(state.variable("counted").unwrap());
        assert_eq!(counted, [-times, 3.0 * times]);
    }
}
