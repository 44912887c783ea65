use armnn_backend_api::{LayerDescriptor, LayerType};
use prost::Message as _;

use crate::error::{NodePlace, OnnxParserError};
use crate::model::ElementType;
use crate::parser::OnnxParserOptions;
use crate::proto::NodeProto;
use crate::test_model::{
    TestModel, assert_refused, descriptors, info, int, ints, list, node, output_dims, text, types,
    zeros,
};

#[test]
fn everything_unsupported_is_named_at_once() {
    let mut model = TestModel::new(20)
        .input("x", &[3])
        .node("MaxRoiPool", &["x"], &["a"], &[])
        .node("MaxRoiPool", &["a"], &["b"], &[])
        // Sound, and looked at although what it reads comes from a node that is refused.
        .node("Relu", &["b"], &["c"], &[])
        .node("Pad", &["c", "pads"], &["d"], &[text("mode", "odd")])
        .constant(ints("pads", &[0, 1]))
        .output("e");
    let mut custom = node("Swirl", &["d"], &["e"], &[]);
    custom.domain = "com.example".to_owned();
    model.graph().node.push(custom);
    model.0.opset_import.push(crate::proto::OperatorSetIdProto {
        domain: "com.example".to_owned(),
        version: 3,
    });
    for name in ["a", "b"] {
        let info = info(name, ElementType::FLOAT, &[3]);
        model.graph().value_info.push(info);
    }
    let error = model.parse().unwrap_err();
    let message = error.to_string();
    let OnnxParserError::Unsupported { refusals, .. } = error else {
        panic!("{message}");
    };
    assert_eq!(refusals.operators[0].count, 2);
    let first = NodePlace {
        index: 0,
        function: None,
        within: None,
        op_type: "MaxRoiPool".to_owned(),
        name: String::new(),
    };
    assert_eq!(refusals.operators[0].first.node, Some(first));
    assert_eq!(
        message,
        "lowering test.onnx: operators that are not supported: MaxRoiPool (version 20, 2 times, first \
         at node 0), com.example.Swirl (version 3, once, first at node 4); uses that are not \
         supported: node 3 (Pad): padding of mode \"odd\"; convert the model without them, or allow StandIn layers for \
         operators and use a backend that knows them"
    );
}

#[test]
fn an_operator_exists_since_a_version() {
    for (op_type, since) in [("HardSwish", 14), ("Gelu", 20), ("GreaterOrEqual", 12)] {
        let parsed = |version| {
            let inputs: &[&str] = match op_type {
                "GreaterOrEqual" => &["x", "x"],
                _ => &["x"],
            };
            TestModel::new(version)
                .input("x", &[3])
                .node(op_type, inputs, &["y"], &[])
                .output("y")
                .parse()
        };
        assert!(parsed(since).is_ok(), "{op_type}");
        let refused = format!("not supported: {op_type} (version {}", since - 1);
        assert_refused(parsed(since - 1), &refused);
    }
}

#[test]
fn an_unknown_operator_is_a_stand_in_where_that_is_asked_for() {
    let mut model =
        TestModel::new(13)
            .input("x", &[3])
            .node("MaxRoiPool", &["x"], &["y"], &[int("times", 2)]);
    model
        .graph()
        .output
        .push(info("y", ElementType::FLOAT, &[6]));
    assert_refused(model.parse(), "not supported: MaxRoiPool (version 13, once");
    let options = || OnnxParserOptions {
        stand_in_layer_for_unknown: true,
    };
    let network = model.parse_with(options()).unwrap();
    let [LayerDescriptor::StandIn(stand_in)] = &descriptors(&network)[..] else {
        panic!("{:?}", descriptors(&network));
    };
    let operator = stand_in.get();
    assert_eq!(
        (operator.domain, operator.name, operator.version),
        ("ai.onnx", "MaxRoiPool", 13)
    );
    let node = NodeProto::decode(operator.attributes).unwrap();
    assert_eq!(node.attribute, [int("times", 2)]);
    assert_eq!(output_dims(&network), [6]);
    // Without a shape, nothing could be said about what comes behind.
    model.graph().output.clear();
    let model = model.output("y");
    assert_refused(model.parse_with(options()), "does not say its type");
}

#[test]
fn values_that_are_not_tensors_are_refused() {
    let mut model = TestModel::new(13)
        .node("Identity", &["x"], &["y"], &[])
        .output("y");
    model.graph().input.push(crate::proto::ValueInfoProto {
        name: "x".to_owned(),
        r#type: Some(crate::proto::TypeProto {
            value: Some(crate::proto::TypeValue::Map(crate::proto::OpaqueType {})),
        }),
    });
    assert_refused(
        model.parse(),
        "value \"x\": it is a map; only tensors, sequences and optionals are supported",
    );
    let strings = |op_type| {
        TestModel::new(13)
            .typed_input("x", ElementType::STRING, &[1])
            .node(op_type, &["x"], &["y"], &[])
            .output("y")
            .parse()
    };
    assert!(strings("Identity").is_ok());
    assert_refused(strings("Relu"), "String [1]");
}

#[test]
fn what_the_file_says_of_a_shape_completes_it_unless_it_contradicts() {
    let with = |dims: &[i64]| {
        let mut model = TestModel::new(13)
            .input("x", &[-1, 3])
            .node("Relu", &["x"], &["y"], &[]);
        model
            .graph()
            .output
            .push(info("y", ElementType::FLOAT, dims));
        model.parse()
    };
    assert_eq!(output_dims(&with(&[4, 3]).unwrap()), [4, 3]);
    assert_eq!(output_dims(&with(&[4, 5]).unwrap()), [-1, 3]);
    assert_eq!(output_dims(&with(&[3]).unwrap()), [-1, 3]);
}

/// A convolution of one direction ends with a Reshape: 5 - 3 + 1 = 3 elements.
#[test]
fn what_contradicts_the_number_of_elements_is_not_used() {
    let mut model = TestModel::new(13)
        .input("x", &[1, 1, 5])
        .constant(zeros("w", &[2, 1, 3]))
        .node("Conv", &["x", "w"], &["y"], &[]);
    let declared = info("y", ElementType::FLOAT, &[1, 2, 4]);
    model.graph().output.push(declared);
    assert_eq!(output_dims(&model.parse().unwrap()), [1, 2, 3]);
}

#[test]
fn inputs_and_constants_can_be_outputs() {
    let network = TestModel::new(13)
        .input("x", &[3])
        .constant(zeros("w", &[2]))
        .output("x")
        .output("w")
        .output("x")
        .parse()
        .unwrap();
    let names: Vec<&str> = network.outputs().iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["x", "w", "x:2"]);
}

#[test]
fn a_constant_is_one_tensor_however_often_it_is_read() {
    let network = TestModel::new(13)
        .input("x", &[3])
        .constant(zeros("w", &[3]))
        .constant(zeros("unread", &[3]))
        .node("Add", &["x", "w"], &["a"], &[])
        .node("Add", &["w", "a"], &["y"], &[])
        .output("y")
        .parse()
        .unwrap();
    let constants = network.tensors().iter().filter(|t| t.constant().is_some());
    assert_eq!(constants.count(), 1);
    assert_eq!(types(&network), [LayerType::ElementwiseBinary; 2]);
}

/// Every operator with arguments that do not suit it.
#[test]
fn unsuitable_arguments_are_an_error_or_a_network_but_never_a_panic() {
    let operators = [
        "Add",
        "AveragePool",
        "BatchNormalization",
        "Cast",
        "Clip",
        "Concat",
        "Constant",
        "ConstantOfShape",
        "Conv",
        "DequantizeLinear",
        "Dropout",
        "Flatten",
        "Gather",
        "Gemm",
        "GlobalMaxPool",
        "LogSoftmax",
        "MatMul",
        "MaxPool",
        "Mean",
        "PRelu",
        "Pad",
        "Pow",
        "QuantizeLinear",
        "Range",
        "ReduceSum",
        "Relu",
        "Reshape",
        "Resize",
        "Shape",
        "Slice",
        "Softmax",
        "Split",
        "Squeeze",
        "Transpose",
        "Unsqueeze",
        "Upsample",
        "Where",
    ];
    let extremes = [i64::MIN, -1, 0, 1, i64::MAX];
    let mut networks = 0;
    for operator in operators {
        for opset in [6, 9, 18] {
            for extreme in extremes {
                let attributes = [
                    int("axis", extreme),
                    list("axes", &[extreme]),
                    list("pads", &[extreme; 4]),
                    list("kernel_shape", &[extreme; 2]),
                    list("strides", &[extreme; 2]),
                    list("perm", &[extreme; 4]),
                    list("split", &[extreme]),
                    int("group", extreme),
                    int("to", extreme),
                ];
                for first in 0..4 {
                    let names = ["x", "c", "i", "s", "x"];
                    for count in [1, 2, 4] {
                        let inputs: Vec<&str> =
                            (0..count).map(|at| names[(first + at) % 5]).collect();
                        for attribute in &attributes {
                            let model = TestModel::new(opset)
                                .input("x", &[1, 2, 3, 4])
                                .constant(zeros("c", &[2]))
                                .constant(ints("i", &[extreme; 4]))
                                .constant(ints("s", &[extreme]))
                                .node(operator, &inputs, &["y"], std::slice::from_ref(attribute))
                                .output("y");
                            networks += usize::from(model.parse().is_ok());
                        }
                    }
                }
            }
        }
    }
    assert!(networks > 0);
}

#[test]
fn dimensions_have_the_names_of_the_file_but_those_that_are_no_names() {
    use crate::proto::{Dimension, DimensionValue, TypeValue};

    let mut model = TestModel::new(20)
        .input("x", &[-1, -1, 3])
        .node("Abs", &["x"], &["y"], &[])
        .output("y");
    let of = &mut model.graph().input[0].r#type;
    let Some(TypeValue::Tensor(tensor)) = of.as_mut().and_then(|of| of.value.as_mut()) else {
        panic!("{of:?}");
    };
    for (dim, name) in tensor
        .shape
        .as_mut()
        .unwrap()
        .dim
        .iter_mut()
        .zip(["batch", "?"])
    {
        *dim = Dimension {
            value: Some(DimensionValue::Param(name.to_owned())),
        };
    }
    let network = model.parse().unwrap();
    assert_eq!(network.input_shape_text(0), "[batch, ?, 3]");
    assert!(
        network
            .dimension_names()
            .iter()
            .all(|named| !named.is_binding)
    );
}

#[test]
fn windows_of_weights_of_unknown_size_are_unsupported_unless_it_is_said() {
    let model = |attributes: &[_]| {
        TestModel::new(11)
            .input("x", &[1, 2, 5, 5])
            .input("w", &[3, 2, -1, 3])
            .node("Conv", &["x", "w"], &["y"], attributes)
            .output("y")
            .parse()
    };
    let error = model(&[]).unwrap_err();
    assert!(
        matches!(error, OnnxParserError::Unsupported { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("give it a kernel_shape"));
    let said = model(&[list("kernel_shape", &[2, 3])]).unwrap();
    // 5 - 3 + 1 columns.
    assert_eq!(output_dims(&said)[3], 3);
    let refused = model(&[list("kernel_shape", &[-2, 3])]);
    assert!(matches!(refused, Err(OnnxParserError::Malformed { .. })));
}

#[test]
fn parameters_of_a_fused_activation_are_by_name_whichever_is_left_out() {
    use crate::test_model::float;

    let mut model = TestModel::new(20)
        .input("a", &[2, 2])
        .constant(zeros("b", &[2, 2]))
        .output("y");
    let attributes = [
        text("activation", "HardSigmoid"),
        float("activation_beta", 0.25),
    ];
    let mut gemm = node("FusedGemm", &["a", "b"], &["y"], &attributes);
    gemm.domain = "com.microsoft".to_owned();
    model.graph().node.push(gemm);
    model.0.opset_import.push(crate::proto::OperatorSetIdProto {
        domain: "com.microsoft".to_owned(),
        version: 1,
    });
    let network = model.parse().unwrap();
    let Some(LayerDescriptor::Activation(activation)) = descriptors(&network).pop() else {
        panic!("{:?}", descriptors(&network));
    };
    // alpha is 0.2 where nothing is said.
    assert_eq!((activation.a, activation.b), (0.2, 0.25));
}

#[test]
fn a_category_that_is_there_twice_is_refused() {
    let encoder = |categories: &[i64]| {
        let mut model = TestModel::new(20).input("x", &[2]).output("y");
        let attributes = [list("cats_int64s", categories)];
        let mut encoder = node("OneHotEncoder", &["x"], &["y"], &attributes);
        encoder.domain = "ai.onnx.ml".to_owned();
        model.graph().node.push(encoder);
        model.0.opset_import.push(crate::proto::OperatorSetIdProto {
            domain: "ai.onnx.ml".to_owned(),
            version: 1,
        });
        model.parse()
    };
    assert_eq!(output_dims(&encoder(&[3, 1]).unwrap()), [2, 2]);
    let error = encoder(&[3, 1, 3]).unwrap_err().to_string();
    assert!(error.contains("its category 3 is there twice"), "{error}");
}
