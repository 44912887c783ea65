//! Constants of strings, through CpuRef and the runtime.

mod test_data;

use armnn_onnx_parser::model::ElementType;
use armnn_onnx_parser::proto::*;
use armnn_onnx_parser::{OnnxParserError, parse_bytes};
use armnn_runtime::{Network, Shape, StringTensor, Value};
use prost::Message as _;

/// The input of the model is a list of two strings.
fn network(
    nodes: Vec<NodeProto>,
    constants: Vec<TensorProto>,
    outputs: &[&str],
) -> Result<Network, OnnxParserError> {
    let dimension = Dimension {
        value: Some(DimensionValue::Value(2)),
    };
    let tensor = TensorTypeProto {
        elem_type: ElementType::STRING.0,
        shape: Some(TensorShapeProto {
            dim: vec![dimension],
        }),
    };
    let of_strings = TypeProto {
        value: Some(TypeValue::Tensor(tensor)),
    };
    let graph = GraphProto {
        input: vec![value("x", Some(of_strings))],
        output: outputs.iter().map(|name| value(name, None)).collect(),
        node: nodes,
        initializer: constants,
        ..GraphProto::default()
    };
    let model = ModelProto {
        ir_version: Some(10),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: 20,
        }],
        ..ModelProto::default()
    };
    parse_bytes(model.encode_to_vec().into(), "strings")
}

fn value(name: &str, of: Option<TypeProto>) -> ValueInfoProto {
    ValueInfoProto {
        name: name.to_owned(),
        r#type: of,
    }
}

fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    NodeProto {
        op_type: op_type.to_owned(),
        input: owned(inputs),
        output: owned(outputs),
        ..NodeProto::default()
    }
}

fn strings(name: &str, dims: &[i64], texts: &[&[u8]]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        data_type: ElementType::STRING.0,
        dims: dims.to_vec(),
        string_data: texts.iter().map(|text| text.to_vec().into()).collect(),
        ..TensorProto::default()
    }
}

fn constant(output: &str, attribute: AttributeProto) -> NodeProto {
    NodeProto {
        attribute: vec![attribute],
        ..node("Constant", &[], &[output])
    }
}

/// What the outputs are for "a" and "b".
fn outputs(network: Network) -> Vec<Value> {
    let x = ["a".to_owned(), "b".to_owned()];
    let x = StringTensor::new([2], x.to_vec()).unwrap();
    test_data::run_values(network, vec![x.into()]).unwrap()
}

fn texts(value: &Value) -> (Shape, Vec<&str>) {
    let Value::Strings(strings) = value else {
        panic!("{value:?}");
    };
    let texts = strings.strings().iter().map(String::as_str);
    (strings.shape(), texts.collect())
}

#[test]
fn an_initializer_broadcasts_with_what_is_computed() {
    let nodes = vec![
        node("StringConcat", &["x", "end"], &["joined"]),
        node("StringConcat", &["start", "x"], &["begun"]),
        node("Equal", &["known", "x"], &["equal"]),
    ];
    let constants = vec![
        strings("end", &[1], &[b"!"]),
        strings("start", &[], &["é".as_bytes()]),
        strings("known", &[2], &[b"c", b"b"]),
    ];
    let network = network(nodes, constants, &["joined", "begun", "equal"]).unwrap();
    let outputs = outputs(network);
    assert_eq!(texts(&outputs[0]).1, ["a!", "b!"]);
    assert_eq!(texts(&outputs[1]).1, ["éa", "éb"]);
    assert_eq!(outputs[2].as_tensor().unwrap().bytes(), [0, 1]);
}

#[test]
fn a_constant_is_a_string_or_a_list_or_a_tensor() {
    let one = AttributeProto {
        name: "value_string".to_owned(),
        r#type: attribute_type::STRING,
        s: b"q".to_vec().into(),
        ..AttributeProto::default()
    };
    let list = AttributeProto {
        name: "value_strings".to_owned(),
        r#type: attribute_type::STRINGS,
        strings: vec![b"u".to_vec().into(), b"".to_vec().into()],
        ..AttributeProto::default()
    };
    let tensor = AttributeProto {
        name: "value".to_owned(),
        r#type: attribute_type::TENSOR,
        t: Some(Box::new(strings("", &[1], &[b"t"]))),
        ..AttributeProto::default()
    };
    let nodes = vec![
        constant("one", one),
        constant("list", list),
        constant("tensor", tensor),
    ];
    let network = network(nodes, Vec::new(), &["one", "list", "tensor"]).unwrap();
    let outputs = outputs(network);
    assert_eq!(texts(&outputs[0]), (Shape::SCALAR, vec!["q"]));
    assert_eq!(texts(&outputs[1]), (Shape::from([2]), vec!["u", ""]));
    assert_eq!(texts(&outputs[2]), (Shape::from([1]), vec!["t"]));
}

/// The condition is whether the first string is "a".
#[test]
fn branches_read_constants_around_them() {
    let branch = |name: &str, input: &str, output: &str| AttributeProto {
        name: name.to_owned(),
        r#type: attribute_type::GRAPH,
        g: Some(Box::new(GraphProto {
            node: vec![node("StringConcat", &["x", input], &[output])],
            output: vec![value(output, None)],
            ..GraphProto::default()
        })),
        ..AttributeProto::default()
    };
    let choice = NodeProto {
        attribute: vec![
            branch("then_branch", "yes", "t"),
            branch("else_branch", "no", "e"),
        ],
        ..node("If", &["all"], &["y"])
    };
    let reduce = AttributeProto {
        name: "keepdims".to_owned(),
        r#type: attribute_type::INT,
        i: 0,
        ..AttributeProto::default()
    };
    let nodes = vec![
        node("Equal", &["x", "pair"], &["equal"]),
        NodeProto {
            attribute: vec![reduce],
            ..node("ReduceMin", &["equal"], &["all"])
        },
        choice,
    ];
    let constants = |second: &[u8]| {
        vec![
            strings("pair", &[2], &[b"a", second]),
            strings("yes", &[1], &[b"+"]),
            strings("no", &[1], &[b"-"]),
        ]
    };
    let same = network(nodes.clone(), constants(b"b"), &["y"]).unwrap();
    assert_eq!(texts(&outputs(same)[0]).1, ["a+", "b+"]);
    let other = network(nodes, constants(b"c"), &["y"]).unwrap();
    assert_eq!(texts(&outputs(other)[0]).1, ["a-", "b-"]);
}

#[test]
fn a_constant_that_is_no_text_or_not_as_long_as_it_says_is_an_error() {
    let with = |constant| {
        let nodes = vec![node("StringConcat", &["x", "end"], &["y"])];
        network(nodes, vec![constant], &["y"])
            .unwrap_err()
            .to_string()
    };
    let broken = with(strings("end", &[1], &[b"\xff"]));
    assert!(broken.contains("no text"), "{broken}");
    let short = with(strings("end", &[2], &[b"a"]));
    assert!(
        short.contains("1 strings, but its dimensions are [2]"),
        "{short}"
    );
}
