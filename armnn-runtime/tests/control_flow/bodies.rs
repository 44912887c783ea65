//! If, Loop, While and Scan.

use std::sync::Arc;

use armnn_backend_api::GatherDescriptor;
use armnn_network::{LoopBody, NetworkBuilder, RuntimeOperation, ScanAxis, ScanBody};
use armnn_runtime::{DataType, HostTensor, LoadOptions, LoadedNetwork, Shape, TensorInfo};

use super::{
    bool_tensor, boolean, constant, f32, i64_tensor, load, load_with, plus, tensor, values,
};

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

/// Models guard what may fail by a condition.
#[test]
fn what_fails_in_a_body_on_constants_alone_fails_when_it_is_executed() {
    // One of three elements, at a position where there is none.
    let mut body = NetworkBuilder::new();
    body.add_input_layer("x", f32(&[1])).unwrap();
    let three = constant(&mut body, "three", &[3], &[1.0, 2.0, 3.0]);
    let place = TensorInfo::new(DataType::Signed32, [1]);
    let place = body
        .add_constant_layer("place", place, 4i32.to_ne_bytes().to_vec().into())
        .unwrap();
    let element = body
        .add_gather_layer(GatherDescriptor { axis: 0 }, three, place, "element")
        .unwrap();
    body.add_output_layer("y", element).unwrap();

    let mut builder = NetworkBuilder::new();
    let condition = builder.add_input_layer("condition", boolean(&[])).unwrap();
    let x = builder.add_input_layer("x", f32(&[1])).unwrap();
    let operation = RuntimeOperation::If {
        then_body: Arc::new(body.finish().unwrap()),
        else_body: plus(&[1], 10.0, "sum"),
    };
    let y = builder
        .add_runtime_layer("if", operation, &[Some(condition), Some(x)])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    let loaded = load(builder.finish().unwrap());
    for _ in 0..2 {
        let run = |condition| loaded.run(&[bool_tensor(condition), tensor(&[1], &[2.0])]);
        assert_eq!(values(&run(false).unwrap()[0]), [12.0]);
        let error = run(true).unwrap_err().to_string();
        assert!(error.contains("'element' (Gather)"), "{error}");
    }
}

#[test]
fn a_body_that_is_beyond_the_memory_limit_fails_when_it_is_executed() {
    // Of 4 bytes each: one tensor is too large, or two together are.
    for count in [1024, 200] {
        let mut body = NetworkBuilder::new();
        let x = body.add_input_layer("x", f32(&[1])).unwrap();
        let large = body.add_broadcast_to_layer([count], x, "large").unwrap();
        let large = body.add_abs_layer(large, "abs").unwrap();
        body.add_output_layer("y", large).unwrap();

        let mut builder = NetworkBuilder::new();
        let condition = builder.add_input_layer("condition", boolean(&[])).unwrap();
        let x = builder.add_input_layer("x", f32(&[1])).unwrap();
        let operation = RuntimeOperation::If {
            then_body: Arc::new(body.finish().unwrap()),
            else_body: plus(&[1], 10.0, "sum"),
        };
        let y = builder
            .add_runtime_layer("if", operation, &[Some(condition), Some(x)])
            .unwrap();
        builder.add_output_layer("y", y[0]).unwrap();
        let limited = LoadOptions {
            memory_limit: Some(1024),
            ..LoadOptions::default()
        };
        let loaded = load_with(builder.finish().unwrap(), limited);
        for _ in 0..2 {
            let run = |condition| loaded.run(&[bool_tensor(condition), tensor(&[1], &[2.0])]);
            assert_eq!(values(&run(false).unwrap()[0]), [12.0]);
            let error = run(true).unwrap_err().to_string();
            assert!(error.contains("memory limit of 1024 bytes"), "{error}");
        }
    }
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

pub(super) fn doubling_loop(options: LoadOptions) -> LoadedNetwork {
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
