use armnn_network::VariableValue;

use crate::TfliteParserOptions;
use crate::schema_generated::{BuiltinOperator as Op, TensorType};
use crate::schema_writer_generated as write;
use crate::test_model::{
    TestModel, TestTensor, assert_refused, float, floats, floats_constant, ints, load, tensor,
    typed,
};

fn resource() -> TestTensor {
    typed(TensorType::Resource, &[])
}

/// The handle of a variable in the subgraph that is being written.
fn handle(model: &mut TestModel, name: &str) -> i32 {
    let handle = model.tensor(resource());
    let options = write::VarHandleOptions {
        container: None,
        shared_name: Some(name.to_owned()),
    };
    let options = write::BuiltinOptions::VarHandleOptions(Box::new(options));
    model.operator(Op::VarHandle, &[], &[handle], Some(options));
    handle
}

fn call_once(model: &mut TestModel, init_subgraph_index: i32) {
    let options = write::CallOnceOptions {
        init_subgraph_index,
    };
    let options = write::BuiltinOptions::CallOnceOptions(Box::new(options));
    model.operator(Op::CallOnce, &[], &[], Some(options));
}

/// Adds x to the variable `sum`, whose value before and after are outputs.
fn add_to_sum(model: &mut TestModel) {
    let x = model.input(float(&[2]));
    let sum = handle(model, "sum");
    let [before, next, after] = [0; 3].map(|_| model.tensor(float(&[2])));
    model.operator(Op::ReadVariable, &[sum], &[before], None);
    model.operator(Op::Add, &[before, x], &[next], None);
    model.operator(Op::AssignVariable, &[sum, next], &[], None);
    model.operator(Op::ReadVariable, &[sum], &[after], None);
    model.output(before);
    model.output(after);
}

/// The outputs of an execution of a state.
fn step(state: &mut armnn_runtime::ExecutionState, x: [f32; 2]) -> Vec<Vec<f32>> {
    state.set_input(0, tensor(&[2], &x).bytes()).unwrap();
    state.execute().unwrap();
    let numbers = |index: usize| {
        let bytes = state.output(index).as_chunks::<4>().0.iter();
        bytes.map(|&b| f32::from_le_bytes(b)).collect()
    };
    vec![numbers(0), numbers(1)]
}

#[test]
fn what_is_read_after_an_assignment_is_what_was_assigned() {
    let mut model = TestModel::default();
    add_to_sum(&mut model);
    let network = model.parse().unwrap();
    let [variable] = network.variables() else {
        panic!("{:?}", network.variables());
    };
    assert_eq!(variable.name, "sum");
    assert!(matches!(variable.initial, VariableValue::Zero));
    let loaded = load(network);
    let mut state = loaded.create_execution_state().unwrap();
    assert_eq!(step(&mut state, [1.0, 2.0]), [[0.0, 0.0], [1.0, 2.0]]);
    assert_eq!(step(&mut state, [1.0, 0.0]), [[1.0, 2.0], [2.0, 2.0]]);
}

#[test]
fn call_once_gives_first_values() {
    // A constant, and what is computed of one.
    for computed in [false, true] {
        let mut model = TestModel::default();
        call_once(&mut model, 1);
        add_to_sum(&mut model);
        model.next_subgraph();
        let mut first = model.tensor(floats_constant(&[2], &[5.0, 6.0]));
        if computed {
            let negated = model.tensor(float(&[2]));
            model.operator(Op::Neg, &[first], &[negated], None);
            first = negated;
        }
        let sum = handle(&mut model, "sum");
        model.operator(Op::AssignVariable, &[sum, first], &[], None);
        let network = model.parse().unwrap();
        assert_eq!(network.initializer().is_some(), computed);
        let loaded = load(network);
        let mut state = loaded.create_execution_state().unwrap();
        let sign = if computed { -1.0 } else { 1.0 };
        let expected = [[5.0 * sign, 6.0 * sign], [5.0 * sign + 1.0, 6.0 * sign]];
        assert_eq!(step(&mut state, [1.0, 0.0]), expected);
        assert_eq!(step(&mut state, [0.0, 0.0])[0], expected[1]);
    }
}

#[test]
fn a_variable_that_is_used_before_its_first_value_is_refused() {
    let mut model = TestModel::default();
    add_to_sum(&mut model);
    call_once(&mut model, 1);
    model.next_subgraph();
    let first = model.tensor(floats_constant(&[2], &[5.0, 6.0]));
    let sum = handle(&mut model, "sum");
    model.operator(Op::AssignVariable, &[sum, first], &[], None);
    assert_refused(model.parse(), "used before CALL_ONCE");
}

/// Three iterations, each of which adds x to the variable; its handle goes into the loop.
#[test]
fn a_loop_may_read_and_write_variables() {
    let mut model = TestModel::default();
    let x = model.input(float(&[2]));
    let zero = model.tensor(ints(&[0]).shaped(&[]));
    let sum = handle(&mut model, "sum");
    let before = model.tensor(float(&[2]));
    model.operator(Op::ReadVariable, &[sum], &[before], None);
    let int = || typed(TensorType::Int32, &[]);
    let outputs = [int(), float(&[2]), resource()].map(|tensor| model.tensor(tensor));
    let options = write::WhileOptions {
        cond_subgraph_index: 1,
        body_subgraph_index: 2,
    };
    let options = write::BuiltinOptions::WhileOptions(Box::new(options));
    model.operator(Op::While, &[zero, x, sum], &outputs, Some(options));
    let after = model.tensor(float(&[2]));
    // By the handle that came out of the loop.
    model.operator(Op::ReadVariable, &[outputs[2]], &[after], None);
    model.output(before);
    model.output(after);

    model.next_subgraph();
    let count = model.input(int());
    model.input(float(&[2]));
    model.input(resource());
    let three = model.tensor(ints(&[3]).shaped(&[]));
    let less = model.tensor(typed(TensorType::Bool, &[]));
    model.operator(Op::Less, &[count, three], &[less], None);
    model.output(less);

    model.next_subgraph();
    let count = model.input(int());
    let x = model.input(float(&[2]));
    let sum = model.input(resource());
    let one = model.tensor(ints(&[1]).shaped(&[]));
    let (next, read, more) = (
        model.tensor(int()),
        model.tensor(float(&[2])),
        model.tensor(float(&[2])),
    );
    model.operator(Op::Add, &[count, one], &[next], None);
    model.operator(Op::ReadVariable, &[sum], &[read], None);
    model.operator(Op::Add, &[read, x], &[more], None);
    model.operator(Op::AssignVariable, &[sum, more], &[], None);
    for index in [next, x, sum] {
        model.output(index);
    }
    let loaded = load(model.parse().unwrap());
    let mut state = loaded.create_execution_state().unwrap();
    assert_eq!(step(&mut state, [1.0, 2.0]), [[0.0, 0.0], [3.0, 6.0]]);
    assert_eq!(step(&mut state, [1.0, 0.0]), [[3.0, 6.0], [6.0, 6.0]]);
}

/// One branch writes the variable, the other does not.
#[test]
fn a_branch_may_write_variables() {
    let mut model = TestModel::default();
    let x = model.input(float(&[2]));
    let axes = model.tensor(ints(&[0]));
    let limit = model.tensor(floats_constant(&[], &[0.0]));
    let (total, condition) = (
        model.tensor(float(&[])),
        model.tensor(typed(TensorType::Bool, &[])),
    );
    model.operator(Op::Sum, &[x, axes], &[total], None);
    model.operator(Op::Greater, &[total, limit], &[condition], None);
    let y = model.tensor(float(&[2]));
    let options = write::IfOptions {
        then_subgraph_index: 1,
        else_subgraph_index: 2,
    };
    let options = write::BuiltinOptions::IfOptions(Box::new(options));
    model.operator(Op::If, &[condition, x], &[y], Some(options));
    let sum = handle(&mut model, "sum");
    let after = model.tensor(float(&[2]));
    model.operator(Op::ReadVariable, &[sum], &[after], None);
    model.output(y);
    model.output(after);
    for writes in [true, false] {
        model.next_subgraph();
        let x = model.input(float(&[2]));
        if writes {
            let sum = handle(&mut model, "sum");
            model.operator(Op::AssignVariable, &[sum, x], &[], None);
        }
        model.output(x);
    }
    let loaded = load(model.parse().unwrap());
    let mut state = loaded.create_execution_state().unwrap();
    assert_eq!(step(&mut state, [-1.0, 0.0])[1], [0.0, 0.0]);
    assert_eq!(step(&mut state, [1.0, 2.0])[1], [1.0, 2.0]);
    assert_eq!(step(&mut state, [-1.0, 0.0])[1], [1.0, 2.0]);
}

/// One function writes what the other reads.
#[test]
fn variables_are_the_same_in_the_networks_of_all_signatures() {
    let mut model = TestModel::default();
    let x = model.input(float(&[2]));
    let sum = handle(&mut model, "sum");
    model.operator(Op::AssignVariable, &[sum, x], &[], None);
    model.output(x);
    model.next_subgraph();
    let sum = handle(&mut model, "sum");
    let y = model.tensor(float(&[2]));
    model.operator(Op::ReadVariable, &[sum], &[y], None);
    model.output(y);
    model.signature("write", 0, &[("value", 0)], &[("same", 0)]);
    let read = u32::try_from(y).unwrap();
    model.signature("read", 1, &[], &[("value", read)]);
    let parse = |key: &str| {
        let options = TfliteParserOptions {
            signature: Some(key.to_owned()),
            ..TfliteParserOptions::default()
        };
        model.parse_with(options)
    };
    let writing = parse("write").unwrap();
    assert_eq!(writing.tensor(writing.inputs()[0]).name, "value");
    assert_eq!(writing.outputs()[0].name, "same");
    let (writing, reading) = (load(writing), load(parse("read").unwrap()));
    let mut writer = writing.create_execution_state().unwrap();
    let mut reader = reading.create_execution_state().unwrap();
    let x = tensor(&[2], &[3.0, 4.0]);
    writer.set_input(0, x.bytes()).unwrap();
    writer.execute().unwrap();
    reader.take_variables_from(&writer);
    reader.execute().unwrap();
    assert_eq!(floats(reader.variable("sum").unwrap()).1, [3.0, 4.0]);
    assert_refused(
        parse("other"),
        "no signature \"other\"; the model has \"write\", \"read\"",
    );
}

#[test]
fn a_variable_without_a_shape_is_refused() {
    let mut model = TestModel::default();
    let sum = handle(&mut model, "sum");
    let y = model.tensor(float(&[1, 2]).signature(&[-1, 2]));
    model.operator(Op::ReadVariable, &[sum], &[y], None);
    model.output(y);
    assert_refused(
        model.parse(),
        "the variable \"sum\", whose type and shape the model does not say",
    );
}
