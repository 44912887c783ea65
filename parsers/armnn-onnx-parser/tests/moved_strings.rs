//! Operators that move strings, or compare them, or convert them, through CpuRef and the runtime.
//!
//! The values are those of ONNX Runtime 1.32; where it has no kernel for strings, those of the
//! reference evaluator of the onnx package (1.23.2), with empty strings where that puts zeros.

mod test_data;

use armnn_onnx_parser::model::ElementType;
use armnn_onnx_parser::parse_bytes;
use armnn_onnx_parser::proto::*;
use armnn_runtime::{DataType, HostTensor, Shape, StringTensor, TensorInfo, Value};
use prost::Message as _;

/// An input of the node.
enum Input {
    /// One of the model's.
    Strings(&'static [i64], &'static [&'static str]),
    /// A constant.
    Fixed(&'static [i64], &'static [&'static str]),
    Ints(&'static [i64], &'static [i64]),
    Flags(&'static [i64], &'static [i32]),
}
use Input::{Fixed, Flags, Ints, Strings};

const X: Input = Strings(&[2, 3], &["a", "b", "", "c", "é", "f"]);
const Y: Input = Strings(&[1, 3], &["u", "v", "w"]);
const VALUE: Input = Fixed(&[], &["z"]);

fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: attribute_type::INT,
        i,
        ..AttributeProto::default()
    }
}

fn text(name: &str, text: &str) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: attribute_type::STRING,
        s: text.as_bytes().to_vec().into(),
        ..AttributeProto::default()
    }
}

/// The type of a tensor, whose sizes may be unknown.
fn tensor_type(of: ElementType, dims: &[i64], sizes_known: bool) -> TypeProto {
    let dim = |&dim: &i64| Dimension {
        value: sizes_known.then_some(DimensionValue::Value(dim)),
    };
    TypeProto {
        value: Some(TypeValue::Tensor(TensorTypeProto {
            elem_type: of.0,
            shape: Some(TensorShapeProto {
                dim: dims.iter().map(dim).collect(),
            }),
        })),
    }
}

fn value(name: &str, r#type: Option<TypeProto>) -> ValueInfoProto {
    ValueInfoProto {
        name: name.to_owned(),
        r#type,
    }
}

/// A model of one node.
fn model(
    op_type: &str,
    inputs: &[Input],
    attributes: &[AttributeProto],
    n_outputs: usize,
    sizes_known: bool,
) -> Vec<u8> {
    let mut graph = GraphProto::default();
    for (position, input) in inputs.iter().enumerate() {
        let name = format!("input{position}");
        let mut tensor = TensorProto {
            name: name.clone(),
            ..TensorProto::default()
        };
        match input {
            Strings(dims, _) => {
                let of = tensor_type(ElementType::STRING, dims, sizes_known);
                graph.input.push(value(&name, Some(of)));
                continue;
            }
            Fixed(dims, texts) => {
                tensor.data_type = ElementType::STRING.0;
                tensor.dims = dims.to_vec();
                let bytes = texts.iter().map(|text| text.as_bytes().to_vec().into());
                tensor.string_data = bytes.collect();
            }
            Ints(dims, values) => {
                tensor.data_type = ElementType::INT64.0;
                tensor.dims = dims.to_vec();
                tensor.int64_data = values.to_vec().into();
            }
            Flags(dims, values) => {
                tensor.data_type = ElementType::BOOL.0;
                tensor.dims = dims.to_vec();
                tensor.int32_data = values.to_vec().into();
            }
        }
        graph.initializer.push(tensor);
    }
    let outputs = || (0..n_outputs).map(|position| format!("output{position}"));
    graph.output = outputs().map(|name| value(&name, None)).collect();
    graph.node.push(NodeProto {
        op_type: op_type.to_owned(),
        input: (0..inputs.len()).map(|at| format!("input{at}")).collect(),
        output: outputs().collect(),
        attribute: attributes.to_vec(),
        ..NodeProto::default()
    });
    file(graph)
}

fn file(graph: GraphProto) -> Vec<u8> {
    let model = ModelProto {
        ir_version: Some(10),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: 20,
        }],
        ..ModelProto::default()
    };
    model.encode_to_vec()
}

fn strings(dims: &[i64], texts: &[&str]) -> Value {
    let texts = texts.iter().map(|&text| text.to_owned()).collect();
    let shape = Shape::new(dims).unwrap();
    StringTensor::new(shape, texts).unwrap().into()
}

fn integers(dims: &[i64], values: &[i64]) -> Value {
    let bytes: Vec<u8> = values.iter().flat_map(|n| n.to_ne_bytes()).collect();
    let info = TensorInfo::new(DataType::Signed64, Shape::new(dims).unwrap());
    HostTensor::from_bytes(info, &bytes).unwrap().into()
}

/// What a value is, to be compared.
fn shown(value: &Value) -> String {
    match value {
        Value::Strings(strings) => format!("{} {:?}", strings.shape(), strings.strings()),
        Value::Tensor(tensor) => {
            let info = tensor.info();
            format!("{} {} {:?}", info.data_type, info.shape, tensor.bytes())
        }
        other => panic!("{other:?}"),
    }
}

/// Checks the outputs of a node, with sizes that are known and with sizes that are not.
#[track_caller]
fn check(op_type: &str, inputs: &[Input], attributes: &[AttributeProto], expected: &[Value]) {
    let expected: Vec<String> = expected.iter().map(shown).collect();
    for sizes_known in [true, false] {
        let bytes = model(op_type, inputs, attributes, expected.len(), sizes_known);
        let network = parse_bytes(bytes.into(), op_type).unwrap();
        let given = inputs.iter().filter_map(|input| match input {
            Strings(dims, texts) => Some(strings(dims, texts)),
            _ => None,
        });
        let outputs = test_data::run_values(network, given.collect())
            .unwrap_or_else(|error| panic!("{op_type}, sizes known {sizes_known}: {error}"));
        let found: Vec<String> = outputs.iter().map(shown).collect();
        assert_eq!(found, expected, "{op_type}, sizes known {sizes_known}");
    }
}

#[test]
fn shapes_change_around_strings() {
    let same = ["a", "b", "", "c", "é", "f"];
    check(
        "Reshape",
        &[X, Ints(&[2], &[3, -1])],
        &[],
        &[strings(&[3, 2], &same)],
    );
    check(
        "Flatten",
        &[X],
        &[int("axis", 0)],
        &[strings(&[1, 6], &same)],
    );
    check(
        "Unsqueeze",
        &[X, Ints(&[1], &[1])],
        &[],
        &[strings(&[2, 1, 3], &same)],
    );
    check(
        "Squeeze",
        &[Y, Ints(&[1], &[0])],
        &[],
        &[strings(&[3], &["u", "v", "w"])],
    );
    check("Identity", &[X], &[], &[strings(&[2, 3], &same)]);
    check("Shape", &[X], &[], &[integers(&[2], &[2, 3])]);
    check("Size", &[X], &[], &[integers(&[], &[6])]);
}

#[test]
fn strings_change_their_order() {
    let turned = ["a", "c", "b", "é", "", "f"];
    check("Transpose", &[X], &[], &[strings(&[3, 2], &turned)]);
    let lengths = Ints(&[2], &[3, 2]);
    let axes = [int("batch_axis", 0), int("time_axis", 1)];
    let reversed = ["", "b", "a", "é", "c", "f"];
    check(
        "ReverseSequence",
        &[X, lengths],
        &axes,
        &[strings(&[2, 3], &reversed)],
    );
    let depth = Strings(&[1, 4, 1, 1], &["a", "b", "", "c"]);
    let space = strings(&[1, 1, 2, 2], &["a", "b", "", "c"]);
    check("DepthToSpace", &[depth], &[int("blocksize", 2)], &[space]);
}

#[test]
fn several_tensors_of_strings_become_one_and_one_becomes_several() {
    let all = [
        "a", "b", "", "c", "é", "f", "u", "v", "w", "a", "b", "", "c", "é", "f",
    ];
    check(
        "Concat",
        &[X, Y, X],
        &[int("axis", 0)],
        &[strings(&[5, 3], &all)],
    );
    check(
        "Concat",
        &[Y],
        &[int("axis", 0)],
        &[strings(&[1, 3], &["u", "v", "w"])],
    );
    let fixed = Fixed(&[1, 1], &["!"]);
    let ended = strings(&[1, 4], &["u", "v", "w", "!"]);
    check("Concat", &[Y, fixed], &[int("axis", 1)], &[ended]);
    let parts = [
        strings(&[2, 1], &["a", "c"]),
        strings(&[2, 2], &["b", "", "é", "f"]),
    ];
    check(
        "Split",
        &[X, Ints(&[2], &[1, 2])],
        &[int("axis", 1)],
        &parts,
    );
    let chosen = strings(&[2, 3], &["a", "b", "", "u", "v", "w"]);
    check("Where", &[Flags(&[2, 1], &[1, 0]), X, Y], &[], &[chosen]);
}

#[test]
fn strings_are_taken_out() {
    let axis = [int("axis", 1)];
    let gathered = strings(&[2, 2], &["", "a", "f", "c"]);
    check("Gather", &[X, Ints(&[2], &[-1, 0])], &axis, &[gathered]);
    let gathered = strings(&[2, 2], &["", "a", "c", "é"]);
    check(
        "GatherElements",
        &[X, Ints(&[2, 2], &[2, 0, 0, 1])],
        &axis,
        &[gathered],
    );
    let gathered = strings(&[2], &["f", "a"]);
    check(
        "GatherND",
        &[X, Ints(&[2, 2], &[1, 2, 0, 0])],
        &[],
        &[gathered],
    );
    let bounds = [2, -10, 1, -1].map(|n: i64| match n {
        2 => Ints(&[1], &[2]),
        -10 => Ints(&[1], &[-10]),
        1 => Ints(&[1], &[1]),
        _ => Ints(&[1], &[-1]),
    });
    let [start, end, axes, step] = bounds;
    let backwards = strings(&[2, 3], &["", "b", "a", "f", "é", "c"]);
    check("Slice", &[X, start, end, axes, step], &[], &[backwards]);
    let kept = strings(&[3], &["a", "c", "é"]);
    check(
        "Compress",
        &[X, Flags(&[5], &[1, 0, 0, 1, 1])],
        &[],
        &[kept],
    );
}

#[test]
fn strings_are_repeated_and_replaced() {
    let rows = strings(&[2, 3], &["u", "v", "w", "u", "v", "w"]);
    check("Expand", &[Y, Ints(&[2], &[2, 3])], &[], &[rows]);
    let tiles = ["a", "b", "", "a", "b", "", "c", "é", "f", "c", "é", "f"];
    check(
        "Tile",
        &[X, Ints(&[2], &[1, 2])],
        &[],
        &[strings(&[2, 6], &tiles)],
    );
    let updates = Strings(&[1, 2], &["p", "q"]);
    let scattered = strings(&[2, 3], &["a", "p", "q", "c", "é", "f"]);
    let inputs = [X, Ints(&[1, 2], &[1, 2]), updates];
    check("ScatterElements", &inputs, &[int("axis", 1)], &[scattered]);
    let scattered = strings(&[2, 3], &["a", "b", "", "u", "v", "w"]);
    check("ScatterND", &[X, Ints(&[1, 1], &[1]), Y], &[], &[scattered]);
}

#[test]
fn where_there_would_be_zeros_strings_are_empty() {
    let pads = || Ints(&[4], &[0, 1, 1, 0]);
    let padded = |z| strings(&[3, 4], &[z, "a", "b", "", z, "c", "é", "f", z, z, z, z]);
    check("Pad", &[X, pads()], &[], &[padded("")]);
    check("Pad", &[X, pads(), VALUE], &[], &[padded("z")]);
    let given = Strings(&[1], &["z"]);
    check("Pad", &[X, pads(), given], &[], &[padded("z")]);
    let lower = strings(&[2, 3], &["a", "", "", "c", "é", ""]);
    check("Trilu", &[X], &[int("upper", 0)], &[lower]);
    let cropped = strings(&[4, 1], &["", "b", "é", ""]);
    check("CenterCropPad", &[X, Ints(&[2], &[4, 1])], &[], &[cropped]);
    let filled = integers(&[2, 5], &[0, 0, 1, 1, 1, 0, 1, 0, 1, 2]);
    check("NonZero", &[X], &[], &[filled]);
}

#[test]
fn unique_strings_are_in_order_or_as_they_come() {
    let x = Strings(&[5], &["b", "", "a", "b", "é"]);
    let sorted = [
        strings(&[4], &["", "a", "b", "é"]),
        integers(&[4], &[1, 2, 0, 4]),
        integers(&[5], &[2, 0, 1, 2, 3]),
        integers(&[4], &[1, 1, 2, 1]),
    ];
    check("Unique", &[x], &[], &sorted);
    let x = Strings(&[4], &["b", "", "a", "b"]);
    let unsorted = [
        strings(&[3], &["b", "", "a"]),
        integers(&[3], &[0, 1, 2]),
        integers(&[4], &[0, 1, 2, 0]),
        integers(&[3], &[2, 1, 1]),
    ];
    check("Unique", &[x], &[int("sorted", 0)], &unsorted);
}

#[test]
fn a_reduction_of_strings_is_refused() {
    let inputs = [X, Ints(&[1, 1], &[1]), Y];
    let bytes = model("ScatterND", &inputs, &[text("reduction", "add")], 1, true);
    let error = parse_bytes(bytes.into(), "m").unwrap_err().to_string();
    assert!(error.contains("reduction \"add\" of strings"), "{error}");
}

#[test]
fn numbers_beside_strings_are_refused() {
    let inputs = [Flags(&[1], &[1]), Ints(&[3], &[1, 2, 3]), Y];
    let bytes = model("Where", &inputs, &[], 1, true);
    let error = parse_bytes(bytes.into(), "m").unwrap_err().to_string();
    assert!(
        error.contains("input 1 is numbers, beside strings"),
        "{error}"
    );
}

/// Strings are cast to a type and back.
fn cast_and_back(to: ElementType, texts: &'static [&'static str]) -> Result<Vec<String>, String> {
    let count = i64::try_from(texts.len()).unwrap();
    let of = tensor_type(ElementType::STRING, &[count], true);
    let cast = |input: &str, output: &str, to: ElementType| NodeProto {
        op_type: "Cast".to_owned(),
        input: vec![input.to_owned()],
        output: vec![output.to_owned()],
        attribute: vec![int("to", to.0.into())],
        ..NodeProto::default()
    };
    let graph = GraphProto {
        input: vec![value("x", Some(of))],
        output: vec![value("y", None)],
        node: vec![cast("x", "n", to), cast("n", "y", ElementType::STRING)],
        ..GraphProto::default()
    };
    let network = parse_bytes(file(graph).into(), "casts").unwrap();
    let outputs = test_data::run_values(network, vec![strings(&[count], texts)])?;
    match &outputs[..] {
        [Value::Strings(strings)] => Ok(strings.strings().to_vec()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn strings_become_numbers_and_numbers_strings() {
    let cast = |to, texts| cast_and_back(to, texts).unwrap();
    let reals = ["1.5", " 2 ", "1e-5", "inf", "NaN", "123456789"];
    let (float, double) = (ElementType::FLOAT, ElementType::DOUBLE);
    let reals: &'static [&'static str] = Box::leak(Box::new(reals));
    let expected = ["1.5", "2", "9.9999997e-06", "INF", "NaN", "1.2345679e+08"];
    assert_eq!(cast(float, reals), expected);
    assert_eq!(cast(double, &["1e-5", "0.1"]), ["1e-05", "0.1"]);
    assert_eq!(
        cast(ElementType::FLOAT16, &["0.1", "1e-5"]),
        ["0.099975586", "1.001358e-05"]
    );
    assert_eq!(
        cast(ElementType::INT8, &["-1", "300", "1.5"]),
        ["-1", "44", "1"]
    );
    assert_eq!(cast(ElementType::UINT8, &["200", "7"]), ["200", "7"]);
    let most = "18446744073709551615";
    assert_eq!(cast(ElementType::UINT64, &["18446744073709551615"]), [most]);
    assert_eq!(cast(ElementType::BOOL, &["7", "0"]), ["1", "0"]);
    let error = cast_and_back(ElementType::INT64, &["1", "abc"]).unwrap_err();
    assert!(error.contains("'abc' is no number that fits"), "{error}");
}
