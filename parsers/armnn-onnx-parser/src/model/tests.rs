use std::path::Path;

use prost::Message as _;

use super::*;
use bytes::Bytes;

use crate::proto::{FunctionProto, StringStringEntryProto};
use crate::test_model::{
    TestModel, assert_refused, floats, info, int, node, output_dims, types, zeros,
};
use crate::{parse, parse_bytes};

fn relu() -> TestModel {
    TestModel::new(17)
        .input("x", &[2, 3])
        .node("Relu", &["x"], &["y"], &[])
        .output("y")
}

fn model(model: &TestModel) -> Result<Model, OnnxParserError> {
    ModelFile::from_bytes(model.bytes().into()).model()
}

#[test]
fn the_format_is_told_by_its_first_bytes() {
    // ir_version: 8, producer_name: "pytorch".
    assert!(is_onnx(b"\x08\x08\x12\x07pytorch"));
    assert!(is_onnx(&relu().bytes()));
    assert!(!is_onnx(b"\x1c\0\0\0TFL3"));
    assert!(!is_onnx(b"\x08"));
    assert!(!is_onnx(b""));
}

#[test]
fn versions_that_are_not_known_are_named() {
    let mut old = relu();
    old.0.ir_version = Some(2);
    assert_refused(old.parse(), "version 2 of the ONNX format");
    for version in [0, 99] {
        let parsed = TestModel::new(version).parse();
        assert_refused(parsed, &format!("version {version} of the operators"));
    }
    let mut without = relu();
    without.0.opset_import.clear();
    assert_refused(without.parse(), "which version of ai.onnx it means");
    let mut explicit = relu();
    explicit.0.opset_import[0].domain = "ai.onnx".to_owned();
    assert!(explicit.parse().is_ok());
    assert_refused(parse_bytes("hello".into(), "a text"), "reading a text");
    assert_refused(parse_bytes(Bytes::new(), "none"), "not an ONNX model");
}

#[test]
fn initialisers_are_constants_also_where_they_are_inputs() {
    let mut both = TestModel::new(8)
        .input("x", &[2])
        .input("w", &[2])
        .constant(floats("w", &[2], &[1.0, 2.0]))
        .node("Add", &["x", "w"], &["y"], &[])
        .output("y");
    both.0.ir_version = Some(3);
    let network = both.parse().unwrap();
    assert_eq!(network.inputs().len(), 1);
    let constant = network.tensors().iter().find_map(|t| t.constant()).unwrap();
    assert_eq!(constant[..], [0, 0, 128, 63, 0, 0, 0, 64]);
}

#[test]
fn each_type_has_its_elements_in_a_field_of_its_own() {
    type E = ElementType;
    let numbers = [1, -2];
    let with = |element_type: E, fill: fn(&mut TensorProto)| {
        let mut proto = TensorProto {
            dims: vec![2],
            data_type: element_type.0,
            ..TensorProto::default()
        };
        fill(&mut proto);
        let (_, tensor) = Tensor::from_bytes(proto.encode_to_vec().into(), "t").unwrap();
        tensor.data.unwrap().to_vec()
    };
    let ints: fn(&mut TensorProto) = |t| t.int32_data = vec![1, -2].into();
    let expected = |size: usize| -> Vec<u8> {
        let bytes = numbers
            .iter()
            .map(|n: &i64| n.to_le_bytes()[..size].to_vec());
        bytes.flatten().collect()
    };
    assert_eq!(with(E::INT8, ints), expected(1));
    assert_eq!(with(E::INT16, ints), expected(2));
    assert_eq!(with(E::INT32, ints), expected(4));
    assert_eq!(
        with(E::INT64, |t| t.int64_data = vec![1, -2].into()),
        expected(8)
    );
    // 1.0 in binary16 is 0x3c00.
    let halves = with(E::FLOAT16, |t| t.int32_data = vec![0x3c00, 0].into());
    assert_eq!(halves, [0, 0x3c, 0, 0]);
    let words = with(E::UINT32, |t| {
        t.uint64_data = vec![7, u64::from(u32::MAX)].into()
    });
    assert_eq!(words, [7, 0, 0, 0, 255, 255, 255, 255]);
    // Two of them in a byte.
    assert_eq!(with(E::INT4, |t| t.int32_data = vec![0x21].into()), [0x21]);
    assert_eq!(
        with(E::DOUBLE, |t| t.double_data = vec![0.0; 2].into()),
        [0; 16]
    );
}

#[test]
fn a_constant_has_as_many_elements_as_its_dimensions_say() {
    let with = |change: fn(&mut TensorProto)| {
        let mut tensor = zeros("w", &[3]);
        change(&mut tensor);
        TestModel::new(17)
            .input("x", &[3])
            .constant(tensor)
            .node("Add", &["x", "w"], &["y"], &[])
            .output("y")
            .parse()
    };
    assert_refused(
        with(|w| w.dims = vec![4]),
        "value \"w\": its data has 12 bytes, but FLOAT and dimensions take 16",
    );
    // A terabyte that is not there.
    assert_refused(with(|w| w.dims = vec![1 << 38]), "take 1099511627776");
    assert_refused(with(|w| w.dims = vec![i64::MAX, 9]), "it is too large");
    assert_refused(with(|w| w.dims = vec![-3]), "its dimension -3 is negative");
    assert_refused(with(|w| w.data_type = 99), "element type 99");
}

#[test]
fn nodes_must_be_sorted_and_write_each_value_once() {
    let unsorted = TestModel::new(17)
        .input("x", &[3])
        .node("Relu", &["a"], &["y"], &[])
        .node("Relu", &["x"], &["a"], &[])
        .output("y");
    assert_refused(
        unsorted.parse(),
        "node 0 (Relu), value \"a\": it is read before a later node writes it",
    );
    let dangling = TestModel::new(17)
        .node("Relu", &["nobody"], &["y"], &[])
        .output("y");
    assert_refused(
        dangling.parse(),
        "value \"nobody\": it is read, but nothing writes it",
    );
    let twice = relu().node("Relu", &["x"], &["y"], &[]);
    assert_refused(
        twice.parse(),
        "node 1 (Relu), value \"y\": it is written twice",
    );
    assert_refused(
        relu().output("z").parse(),
        "value \"z\": it is an output of the graph",
    );
}

#[test]
fn names_of_dimensions_are_kept() {
    let mut named = relu();
    let dim = |value| crate::proto::Dimension { value: Some(value) };
    let batch = crate::proto::DimensionValue::Param("batch".to_owned());
    let mut input = info("x", ElementType::FLOAT, &[0, 3]);
    if let Some(crate::proto::TypeProto {
        value: Some(crate::proto::TypeValue::Tensor(tensor)),
    }) = &mut input.r#type
    {
        tensor.shape.as_mut().unwrap().dim[0] = dim(batch);
    }
    named.graph().input = vec![input];
    let read = model(&named).unwrap();
    let value = &read.graph.values[read.graph.inputs[0]];
    let expected = ValueType::Tensor {
        element_type: ElementType::FLOAT,
        dims: Some(vec![
            Dimension::Named("batch".to_owned()),
            Dimension::Known(3),
        ]),
    };
    assert_eq!(value.value_type, Some(expected));
    assert_eq!(output_dims(&named.parse().unwrap()), [-1, 3]);
}

fn function(name: &str, nodes: Vec<crate::proto::NodeProto>) -> FunctionProto {
    FunctionProto {
        name: name.to_owned(),
        domain: "local".to_owned(),
        input: vec!["a".to_owned()],
        output: vec!["b".to_owned()],
        attribute: vec!["slope".to_owned()],
        node: nodes,
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: 17,
        }],
        ..FunctionProto::default()
    }
}

fn calling(name: &str) -> TestModel {
    let mut model = TestModel::new(17).input("x", &[3]).output("y");
    let mut call = node(
        name,
        &["x"],
        &["y"],
        &[crate::test_model::float("slope", 0.5)],
    );
    call.domain = "local".to_owned();
    model.graph().node.push(call);
    model
}

#[test]
fn a_call_becomes_the_nodes_of_its_function_with_attributes_bound() {
    let mut model = calling("Twice");
    let mut leaky = node("LeakyRelu", &["a"], &["inner"], &[int("alpha", 0)]);
    leaky.attribute[0] = crate::proto::AttributeProto {
        name: "alpha".to_owned(),
        ref_attr_name: "slope".to_owned(),
        r#type: crate::proto::attribute_type::FLOAT,
        ..Default::default()
    };
    let neg = node("Neg", &["inner"], &["b"], &[]);
    model.0.functions = vec![function("Twice", vec![leaky, neg])];
    let network = model.parse().unwrap();
    let names: Vec<&str> = network.layers().iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["y/inner", "y"]);
    let descriptor = network.layers()[0].descriptor().unwrap();
    let armnn_backend_api::LayerDescriptor::Activation(activation) = descriptor else {
        panic!("{descriptor:?}");
    };
    assert_eq!(activation.a, 0.5);
}

#[test]
fn functions_that_call_themselves_or_unfold_endlessly_are_refused() {
    let call = |name: &str, from: &str, to: &str| {
        let mut call = node(name, &[from], &[to], &[]);
        call.domain = "local".to_owned();
        call
    };
    let mut endless = calling("Loop");
    endless.0.functions = vec![function("Loop", vec![call("Loop", "a", "b")])];
    assert_refused(endless.parse(), "more than 32 deep");
    // Each calls the next twice: 2^30 nodes.
    let mut wide = calling("F0");
    for level in 0..30 {
        let next = format!("F{}", level + 1);
        let nodes = vec![call(&next, "a", "c"), call(&next, "c", "b")];
        wide.0.functions.push(function(&format!("F{level}"), nodes));
    }
    let last = function("F30", vec![node("Relu", &["a"], &["b"], &[])]);
    wide.0.functions.push(last);
    assert_refused(wide.parse(), "more than 16 times the file's size");
}

#[test]
fn a_file_of_empty_messages_is_refused_before_it_is_decoded() {
    // field 7 (graph) of 2 n bytes: n times field 1 (node) of no bytes.
    let nodes = [0x0a, 0x00].repeat(1 << 16);
    let mut bytes = vec![0x08, 0x08, 0x3a, 0x80, 0x80, 0x08];
    bytes.extend(nodes);
    assert_refused(
        parse_bytes(bytes.into(), "empty"),
        "it is made of empty messages",
    );
}

/// A model whose constant of two elements is 8 bytes from byte 4 on of a file.
fn external(location: &str, length: &str) -> TestModel {
    let entry = |key: &str, value: &str| StringStringEntryProto {
        key: key.to_owned(),
        value: value.to_owned(),
    };
    let tensor = TensorProto {
        name: "w".to_owned(),
        dims: vec![2],
        data_type: ElementType::FLOAT.0,
        data_location: 1,
        external_data: vec![
            entry("location", location),
            entry("offset", "4"),
            entry("length", length),
        ],
        ..TensorProto::default()
    };
    TestModel::new(17)
        .input("x", &[2])
        .constant(tensor)
        .node("Add", &["x", "w"], &["y"], &[])
        .output("y")
}

#[test]
fn external_data_is_read_from_beside_the_model_and_from_nowhere_else() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("model");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(
        folder.join("weights.bin"),
        [9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8],
    )
    .unwrap();
    std::fs::write(outer.path().join("outside.bin"), [0; 12]).unwrap();
    std::os::unix::fs::symlink(outer.path().join("outside.bin"), folder.join("link.bin")).unwrap();
    let read = |location: &str, length: &str| {
        let path = folder.join("model.onnx");
        std::fs::write(&path, external(location, length).bytes()).unwrap();
        parse(&path)
    };
    let network = read("weights.bin", "8").unwrap();
    let constant = network.tensors().iter().find_map(|t| t.constant()).unwrap();
    assert_eq!(constant[..], [1, 2, 3, 4, 5, 6, 7, 8]);
    let absolute = outer.path().join("outside.bin");
    for location in ["../outside.bin", "link.bin", absolute.to_str().unwrap(), ""] {
        assert_refused(read(location, "8"), "it is outside the model's directory");
    }
    assert_refused(
        read("weights.bin", "7"),
        "7 bytes, but type and dimensions take 8",
    );
    assert_refused(read("none.bin", "8"), "\"none.bin\": No such file");
    assert_refused(read(".", "8"), "it is not a regular file");
    std::fs::write(folder.join("weights.bin"), [0; 11]).unwrap();
    assert_refused(
        read("weights.bin", "8"),
        "value \"w\": its data in the file \"weights.bin\": 8 bytes from byte 4 on, but the file \
         has 11",
    );
    assert_refused(
        external("weights.bin", "8").parse(),
        "a model in memory has no directory",
    );
    assert!(Path::new(&absolute).exists());
}

#[test]
fn unused_functions_and_metadata_do_not_matter() {
    let mut model = relu();
    model.0.functions = vec![function("Unused", vec![])];
    model.0.metadata_props = vec![StringStringEntryProto {
        key: "author".to_owned(),
        value: "nobody".to_owned(),
    }];
    assert_eq!(types(&model.parse().unwrap()).len(), 1);
}
