//! Variables, and what they and the outputs depend on.

use std::sync::Arc;

use armnn_network::{NetworkBuilder, RuntimeOperation, SequenceOperation, VariableValue};
use armnn_runtime::{DataType, LoadedNetwork, Shape, TensorInfo};

use super::{constant, f32, load, tensor, values};

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
