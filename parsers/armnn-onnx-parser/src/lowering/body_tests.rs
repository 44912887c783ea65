//! Graphs in attributes: what they capture, and the shapes that they are lowered for.

use armnn_network::{Network, Operation, RuntimeOperation};

use crate::model::ElementType;
use crate::proto::AttributeProto;
use crate::test_model::{TestModel, assert_refused, body, floats, int, ints, output_dims, types};

fn empty() -> TestModel {
    TestModel::new(16)
}

/// A condition that is not known, and x.
fn choosing(then_body: TestModel, else_body: TestModel) -> TestModel {
    let bodies = [
        body("then_branch", then_body),
        body("else_branch", else_body),
    ];
    empty()
        .typed_input("condition", ElementType::BOOL, &[])
        .input("x", &[2, 3])
        .constant(floats("w", &[3], &[1.0, 2.0, 3.0]))
        .node("If", &["condition"], &["y"], &bodies)
        .output("y")
}

fn operation(network: &Network, index: usize) -> &RuntimeOperation {
    match &network.layers()[index].operation {
        Operation::Runtime(operation) => operation,
        other => panic!("{other:?}"),
    }
}

/// Both bodies take x, although only one reads it; w is a constant of the body that reads it, and
/// its bytes are those of the model.
#[test]
fn captured_values_are_inputs_of_both_bodies_and_captured_constants_are_constants() {
    let then_body = empty().node("Mul", &["x", "w"], &["a"], &[]).output("a");
    let else_body = empty().node("Relu", &["x"], &["b"], &[]).output("b");
    let network = choosing(then_body, else_body).parse().unwrap();
    let [layer] = network.layers() else {
        panic!("{:?}", types(&network));
    };
    assert_eq!(layer.inputs.len(), 2);
    let bodies = operation(&network, 0).bodies();
    for (_, body) in &bodies {
        assert_eq!(body.inputs().len(), 1);
    }
    let names: Vec<&str> = bodies
        .iter()
        .flat_map(|(_, body)| body.layers())
        .map(|layer| layer.name.as_str())
        .collect();
    assert_eq!(names, ["y/then/a", "y/else/b"]);
    let constants = bodies[0].1.tensors().iter();
    assert_eq!(constants.filter(|t| t.constant().is_some()).count(), 1);
    assert_eq!(output_dims(&network), [2, 3]);
}

#[test]
fn branches_of_different_sizes_leave_a_dimension_unknown_and_those_of_different_ranks_are_refused()
{
    let relu = || empty().node("Relu", &["x"], &["b"], &[]).output("b");
    let twice = empty()
        .node("Concat", &["x", "x"], &["a"], &[int("axis", 0)])
        .output("a");
    assert_eq!(
        output_dims(&choosing(twice, relu()).parse().unwrap()),
        [-1, 3]
    );
    let flat = empty()
        .constant(ints("all", &[-1]))
        .node("Reshape", &["x", "all"], &["a"], &[])
        .output("a");
    assert_refused(choosing(flat, relu()).parse(), "output 0 is");
}

#[test]
fn a_constant_condition_chooses_when_the_model_is_read() {
    let bodies = [
        body(
            "then_branch",
            empty().node("Relu", &["x"], &["a"], &[]).output("a"),
        ),
        body(
            "else_branch",
            empty().node("Neg", &["x"], &["a"], &[]).output("a"),
        ),
    ];
    let network = empty()
        .input("x", &[2])
        .constant(ints("one", &[1]))
        .constant(ints("two", &[2]))
        .node("Less", &["one", "two"], &["condition"], &[])
        .node("If", &["condition"], &["y"], &bodies)
        .output("y")
        .parse()
        .unwrap();
    assert_eq!(types(&network), [armnn_backend_api::LayerType::Activation]);
    assert_eq!(network.layers()[0].name, "y/then/a");
}

/// What PyTorch's squeeze becomes: whether a dimension is 1, and a Squeeze if it is.
#[test]
fn a_branch_that_squeezes_takes_the_place_of_both() {
    let squeeze = empty()
        .constant(ints("axes", &[1]))
        .node("Squeeze", &["x", "axes"], &["a"], &[])
        .output("a");
    let same = empty().node("Identity", &["x"], &["b"], &[]).output("b");
    let network = empty()
        .input("x", &[2, -1])
        .constant(ints("place", &[1]))
        .constant(ints("one", &[1]))
        .node("Shape", &["x"], &["shape"], &[])
        .node("Gather", &["shape", "place"], &["size"], &[])
        .node("Equal", &["size", "one"], &["condition"], &[])
        .node(
            "If",
            &["condition"],
            &["y"],
            &[body("then_branch", squeeze), body("else_branch", same)],
        )
        .output("y")
        .parse()
        .unwrap();
    assert_eq!(output_dims(&network), [2]);
}

/// A Loop over a value that a body changes.
fn looping(changing: &[(&str, &[&str], &[AttributeProto])]) -> TestModel {
    let mut inner = empty()
        .typed_input("i", ElementType::INT64, &[])
        .typed_input("go", ElementType::BOOL, &[])
        .input("v", &[1]);
    let mut last = "v".to_owned();
    for (index, (op_type, more, attributes)) in changing.iter().enumerate() {
        let next = format!("v{index}");
        let inputs = [&[last.as_str()], *more].concat();
        inner = inner.node(op_type, &inputs, &[&next], attributes);
        last = next;
    }
    let inner = inner.output("go").output(&last).output("v");
    empty()
        .typed_input("count", ElementType::INT64, &[])
        .input("x", &[1])
        .node(
            "Loop",
            &["count", "", "x"],
            &["y", "all"],
            &[body("body", inner)],
        )
        .output("y")
        .output("all")
}

#[test]
fn carried_values_keep_their_shape_or_have_unknown_dimensions() {
    let kept = looping(&[("Relu", &[], &[])]).parse().unwrap();
    assert_eq!(output_dims(&kept), [1]);
    let growing = looping(&[("Concat", &["x"], &[int("axis", 0)])]);
    let growing = growing.parse().unwrap();
    assert_eq!(output_dims(&growing), [-1]);
    let RuntimeOperation::Loop(body) = operation(&growing, 0) else {
        panic!();
    };
    // The number of the iteration, the condition, the value, and the x that it captures.
    assert_eq!(body.network.inputs().len(), 4);
    let carried = body.network.inputs()[2];
    assert_eq!(body.network.tensor(carried).info.shape.dims(), [-1]);
    let scanned = growing.outputs()[1].tensor;
    assert_eq!(growing.tensor(scanned).info.shape.dims(), [-1, -1]);
}

#[test]
fn carried_values_whose_rank_changes_are_refused_by_name() {
    let flattened = looping(&[("Flatten", &[], &[int("axis", 0)])]);
    assert_refused(flattened.parse(), "\"v0\", which is Float32[1] at first");
}

#[test]
fn bodies_in_bodies_capture_through_those_between() {
    let inner = || empty().node("Add", &["x", "x"], &["c"], &[]).output("c");
    let outer = empty()
        .node(
            "If",
            &["condition"],
            &["a"],
            &[body("then_branch", inner()), body("else_branch", inner())],
        )
        .output("a");
    let plain = empty().node("Relu", &["x"], &["b"], &[]).output("b");
    let network = choosing(outer, plain).parse().unwrap();
    let bodies = operation(&network, 0).bodies();
    // The condition and x.
    assert_eq!(bodies[0].1.inputs().len(), 2);
    let layers = bodies[0].1.layers();
    let Operation::Runtime(nested) = &layers[0].operation else {
        panic!();
    };
    let name = &nested.bodies()[1].1.layers()[0].name;
    assert_eq!(name, "y/then/a/else/c");
}

#[test]
fn what_bodies_read_must_be_there_and_be_supported() {
    let relu = || empty().node("Relu", &["x"], &["b"], &[]).output("b");
    let missing = empty().node("Relu", &["nothing"], &["a"], &[]).output("a");
    assert_refused(choosing(missing, relu()).parse(), "value \"nothing\"");
    let odd = empty().node("MaxRoiPool", &["x"], &["a"], &[]).output("a");
    assert_refused(
        choosing(odd, relu()).parse(),
        "MaxRoiPool (version 16, once",
    );
    let written_twice = relu().node("Neg", &["x"], &["b"], &[]);
    assert_refused(choosing(written_twice, relu()).parse(), "written twice");
}

/// Twenty graphs in each other.
#[test]
fn graphs_do_not_lie_in_each_other_without_end() {
    let mut inner = empty().node("Relu", &["x"], &["a"], &[]).output("a");
    for _ in 0..20 {
        let relu = empty().node("Relu", &["x"], &["b"], &[]).output("b");
        let bodies = [body("then_branch", inner), body("else_branch", relu)];
        inner = empty()
            .node("If", &["condition"], &["a"], &bodies)
            .output("a");
    }
    let relu = empty().node("Relu", &["x"], &["b"], &[]).output("b");
    assert_refused(choosing(inner, relu).parse(), "more than 16 deep");
}

#[test]
fn sequences_are_operations_of_the_runtime() {
    let network = empty()
        .input("x", &[2, 3])
        .constant(ints("first", &[0]))
        .node(
            "SplitToSequence",
            &["x"],
            &["s"],
            &[int("axis", 0), int("keepdims", 0)],
        )
        .node("SequenceAt", &["s", "first"], &["e"], &[])
        .node("Relu", &["e"], &["r"], &[])
        .node("SequenceInsert", &["s", "r"], &["t"], &[])
        .node(
            "ConcatFromSequence",
            &["t"],
            &["y"],
            &[int("axis", 0), int("new_axis", 1)],
        )
        .output("y")
        .parse()
        .unwrap();
    assert_eq!(output_dims(&network), [-1, 3]);
    assert_eq!(network.layers().len(), 5);
}
