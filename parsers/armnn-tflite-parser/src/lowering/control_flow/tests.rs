use armnn_network::{Operation, RuntimeOperation};

use crate::schema_generated::{BuiltinOperator as Op, TensorType};
use crate::schema_writer_generated as write;
use crate::test_model::{
    TestModel, TestTensor, assert_refused, float, floats_constant, ints, run, typed,
};

fn int() -> TestTensor {
    typed(TensorType::Int32, &[])
}

fn boolean() -> TestTensor {
    typed(TensorType::Bool, &[])
}

fn while_options(cond_subgraph_index: i32, body_subgraph_index: i32) -> write::BuiltinOptions {
    write::BuiltinOptions::WhileOptions(Box::new(write::WhileOptions {
        cond_subgraph_index,
        body_subgraph_index,
    }))
}

fn if_options(then_subgraph_index: i32, else_subgraph_index: i32) -> write::BuiltinOptions {
    write::BuiltinOptions::IfOptions(Box::new(write::IfOptions {
        then_subgraph_index,
        else_subgraph_index,
    }))
}

/// Subgraph 1: whether the first of two values is below 3.
fn add_condition(model: &mut TestModel, second: TestTensor) {
    assert_eq!(model.next_subgraph(), 1);
    let count = model.input(int());
    model.input(second);
    let three = model.tensor(ints(&[3]).shaped(&[]));
    let less = model.tensor(boolean());
    model.operator(Op::Less, &[count, three], &[less], None);
    model.output(less);
}

/// A loop of three iterations over x of `[1]`, with what `body` does to x.
fn three_times(body: impl FnOnce(&mut TestModel, i32) -> i32) -> TestModel {
    let mut model = TestModel::default();
    let x = model.input(float(&[1]));
    let zero = model.tensor(ints(&[0]).shaped(&[]));
    let (count, y) = (model.tensor(int()), model.tensor(float(&[1])));
    model.operator(
        Op::While,
        &[zero, x],
        &[count, y],
        Some(while_options(1, 2)),
    );
    model.output(y);
    add_condition(&mut model, float(&[1]));
    assert_eq!(model.next_subgraph(), 2);
    let count = model.input(int());
    let x = model.input(float(&[1]));
    let one = model.tensor(ints(&[1]).shaped(&[]));
    let next = model.tensor(int());
    model.operator(Op::Add, &[count, one], &[next], None);
    let y = body(&mut model, x);
    model.output(next);
    model.output(y);
    model
}

#[test]
fn a_loop_carries_values_until_its_condition_fails() {
    let model = three_times(|model, x| {
        let y = model.tensor(float(&[1]));
        model.operator(Op::Add, &[x, x], &[y], None);
        y
    });
    let network = model.parse().unwrap();
    let Operation::Runtime(RuntimeOperation::While { body, .. }) = &network.layers()[0].operation
    else {
        panic!("{:?}", network.layers()[0].operation);
    };
    // Names of layers in bodies begin with the operator's.
    assert_eq!(network.layers()[0].name, "t2");
    let names: Vec<&str> = body.layers().iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["t2/body/t3", "t2/body/t4"]);
    let found = run(network, &[(&[1], &[1.5])]);
    assert_eq!(found, [(vec![1], vec![12.0])]);
}

#[test]
fn a_value_may_grow_in_a_loop() {
    let model = three_times(|model, x| {
        let y = model.tensor(float(&[1]));
        model.operator(Op::Concatenation, &[x, x], &[y], None);
        y
    });
    let network = model.parse().unwrap();
    assert_eq!(crate::test_model::outputs(&network), ["Float32[?]"]);
    let found = run(network, &[(&[1], &[5.0])]);
    assert_eq!(found, [(vec![8], vec![5.0; 8])]);
}

/// What a body hands on unchanged is not carried, and what is constant outside is so inside, so that
/// it can be a parameter.
#[test]
fn captured_constants_are_constants_of_the_body() {
    let mut model = TestModel::default();
    let x = model.input(float(&[2, 3]));
    let zero = model.tensor(ints(&[0]).shaped(&[]));
    let axes = model.tensor(ints(&[1]));
    let outputs = [int(), float(&[2, 3]), ints(&[])].map(|tensor| {
        let mut tensor = tensor;
        tensor.data = None;
        model.tensor(tensor)
    });
    model.operator(
        Op::While,
        &[zero, x, axes],
        &outputs,
        Some(while_options(1, 2)),
    );
    model.output(outputs[1]);
    add_condition(&mut model, float(&[2, 3]));
    model.input(typed(TensorType::Int32, &[1]));
    model.next_subgraph();
    let count = model.input(int());
    let x = model.input(float(&[2, 3]));
    let axes = model.input(typed(TensorType::Int32, &[1]));
    let one = model.tensor(ints(&[1]).shaped(&[]));
    let next = model.tensor(int());
    model.operator(Op::Add, &[count, one], &[next], None);
    let turned = model.tensor(float(&[2, 3]));
    model.operator(Op::ReverseV2, &[x, axes], &[turned], None);
    for index in [next, turned, axes] {
        model.output(index);
    }
    let network = model.parse().unwrap();
    let Operation::Runtime(RuntimeOperation::While {
        body, n_carried, ..
    }) = &network.layers()[0].operation
    else {
        panic!();
    };
    assert_eq!((*n_carried, body.inputs().len()), (2, 2));
    assert!(
        body.layers()
            .iter()
            .all(|layer| layer.descriptor().is_some())
    );
}

/// Subgraphs 1 and 2: x plus 10, and x less 1.
fn add_branches(model: &mut TestModel) {
    for (what, operator) in [(10.0, Op::Add), (1.0, Op::Sub)] {
        model.next_subgraph();
        let x = model.input(float(&[2]));
        let what = model.tensor(floats_constant(&[], &[what]));
        let y = model.tensor(float(&[2]));
        model.operator(operator, &[x, what], &[y], None);
        model.output(y);
    }
}

#[test]
fn a_condition_chooses_a_branch() {
    let mut model = TestModel::default();
    let x = model.input(float(&[2]));
    let limit = model.tensor(floats_constant(&[], &[0.0]));
    let axes = model.tensor(ints(&[0]));
    let (sum, condition) = (model.tensor(float(&[])), model.tensor(boolean()));
    let y = model.tensor(float(&[2]));
    model.operator(Op::Sum, &[x, axes], &[sum], None);
    model.operator(Op::Greater, &[sum, limit], &[condition], None);
    model.operator(Op::If, &[condition, x], &[y], Some(if_options(1, 2)));
    model.output(y);
    add_branches(&mut model);
    for (x, expected) in [([3.0, -1.0], [13.0, 9.0]), ([-3.0, 1.0], [-4.0, 0.0])] {
        let found = run(model.parse().unwrap(), &[(&[2], &x)]);
        assert_eq!(found, [(vec![2], expected.to_vec())]);
    }
}

#[test]
fn a_call_is_what_the_subgraph_does() {
    let mut model = TestModel::default();
    let x = model.input(float(&[2]));
    let (y, z) = (model.tensor(float(&[2])), model.tensor(float(&[2])));
    let call = |subgraph| {
        Some(write::BuiltinOptions::CallOptions(Box::new(
            write::CallOptions { subgraph },
        )))
    };
    model.operator(Op::Call, &[x], &[y], call(1));
    model.operator(Op::Call, &[y], &[z], call(2));
    model.output(z);
    add_branches(&mut model);
    let network = model.parse().unwrap();
    let names: Vec<&str> = network.layers().iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["t1/t2", "t2/t2"]);
    let found = run(network, &[(&[2], &[1.0, 2.0])]);
    assert_eq!(found, [(vec![2], vec![10.0, 11.0])]);
}

#[test]
fn what_a_body_uses_that_is_not_supported_is_named_with_its_subgraph() {
    let model = three_times(|model, x| {
        let y = model.tensor(float(&[1]));
        model.custom("Sinh", &[x], &[y], &[]);
        y
    });
    let message = model.parse().unwrap_err().to_string();
    // Once, however often the body is lowered.
    assert!(
        message.contains("Sinh (custom, version 1, once"),
        "{message}"
    );
}

#[test]
fn recursion_is_refused() {
    let mut model = TestModel::default();
    let x = model.input(float(&[1]));
    let (condition, y) = (model.input(boolean()), model.tensor(float(&[1])));
    model.operator(Op::If, &[condition, x], &[y], Some(if_options(1, 2)));
    model.output(y);
    for _ in 0..2 {
        model.next_subgraph();
        let x = model.input(float(&[1]));
        let data = vec![1];
        let condition = model.tensor(boolean().with_data(data));
        let y = model.tensor(float(&[1]));
        model.operator(Op::If, &[condition, x], &[y], Some(if_options(2, 1)));
        model.output(y);
    }
    assert_refused(model.parse(), "recursion: subgraph 1 calls itself");
}

/// Each of 15 subgraphs calls the next one four times.
#[test]
fn a_small_file_that_stands_for_endless_calls_is_refused() {
    let mut model = TestModel::default();
    let condition = || boolean().with_data(vec![1]);
    for level in 1..16 {
        let x = model.input(float(&[1]));
        let chosen = model.tensor(condition());
        let mut y = x;
        for _ in 0..4 {
            let next = model.tensor(float(&[1]));
            model.operator(
                Op::If,
                &[chosen, y],
                &[next],
                Some(if_options(level, level)),
            );
            y = next;
        }
        model.output(y);
        model.next_subgraph();
    }
    let x = model.input(float(&[1]));
    model.output(x);
    assert_refused(model.parse(), "subgraphs are called from so many places");
}

#[test]
fn subgraphs_that_do_not_fit_are_damage() {
    for (condition, body, expected) in [
        (1, 9, "it names subgraph 9, but there are only 3"),
        (1, -1, "it names subgraph -1"),
        (2, 1, "which are not those of its subgraphs"),
    ] {
        let mut model = three_times(|_, x| x);
        model.replace_options(0, while_options(condition, body));
        assert_refused(model.parse(), expected);
    }
}
