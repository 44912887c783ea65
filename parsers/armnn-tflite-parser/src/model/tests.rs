use bytes::Bytes;
use planus::Builder;

use super::*;
use crate::schema_generated::Padding;
use crate::schema_writer_generated as write;
use crate::test_model::{finish, identified};

#[test]
fn the_greater_operator_code_counts() {
    let cases = [
        // Files older than the second field, and operators that fit the first.
        ((3, 0), "CONV_2D"),
        ((3, 3), "CONV_2D"),
        ((127, 128), "CUMSUM"),
        // A hole in the numbers of today is an operator of tomorrow.
        ((127, 5000), "builtin operator 5000"),
    ];
    for ((deprecated_builtin_code, builtin_code), name) in cases {
        let code = write::OperatorCode {
            deprecated_builtin_code,
            builtin_code,
            ..write::OperatorCode::default()
        };
        let file = model_with(code, vec![tensor()], operator());
        assert_eq!(
            file.model().unwrap().subgraphs[0].operators[0].code.name(),
            name
        );
    }
}

#[test]
fn a_custom_operator_has_its_own_name_and_options() {
    let code = write::OperatorCode {
        deprecated_builtin_code: 32,
        builtin_code: 32,
        custom_code: Some("Sinh".to_owned()),
        version: 2,
    };
    let operator = write::Operator {
        custom_options: Some(vec![1, 2, 3]),
        ..operator()
    };
    let file = model_with(code, vec![tensor()], operator);
    let model = file.model().unwrap();
    let operator = &model.subgraphs[0].operators[0];
    assert!(operator.code.is_custom());
    assert_eq!(
        (operator.code.name(), operator.code.version),
        ("Sinh".into(), 2)
    );
    assert_eq!(operator.custom_options.as_deref(), Some(&[1, 2, 3][..]));
}

#[test]
fn a_tensor_type_of_a_newer_schema_is_kept_as_its_number() {
    let tensor = write::Tensor {
        type_: 99,
        ..tensor()
    };
    let file = model_with(code(), vec![tensor], operator());
    let model = file.model().unwrap();
    assert_eq!(
        model.subgraphs[0].tensors[0].tensor_type.to_string(),
        "tensor type 99"
    );
    assert_eq!(TensorType(1).to_string(), "FLOAT16");
}

#[test]
fn options_are_read_from_the_file() {
    let options = write::Conv2DOptions {
        padding: Padding::Valid,
        stride_w: 2,
        ..write::Conv2DOptions::default()
    };
    let file = model_with(code(), vec![tensor()], with_options(options));
    let model = file.model().unwrap();
    let operator = &model.subgraphs[0].operators[0];
    assert_eq!(operator.options_name().as_deref(), Some("Conv2DOptions"));
    let OperatorOptions::First(crate::schema_generated::BuiltinOptionsRef::Conv2DOptions(options)) =
        operator.options
    else {
        panic!("{:?}", operator.options);
    };
    assert_eq!(options.padding().unwrap(), Padding::Valid);
    // Written; the schema's default; the default where the schema gives none.
    let read = (
        options.stride_w(),
        options.dilation_w_factor(),
        options.stride_h(),
    );
    assert_eq!(
        (read.0.unwrap(), read.1.unwrap(), read.2.unwrap()),
        (2, 1, 0)
    );
}

#[test]
fn an_options_table_of_a_newer_schema_is_kept_as_its_number() {
    let mut bytes = bytes_with(code(), vec![tensor()], with_options(Default::default()));
    let operator = first_operator(&bytes);
    let tag = field(&bytes, operator, 3);
    assert_eq!(bytes[tag], 1);
    bytes[tag] = 200;
    let file = ModelFile::from_bytes(bytes.into()).unwrap();
    let model = file.model().unwrap();
    let operator = &model.subgraphs[0].operators[0];
    assert_eq!(
        operator.options_name().as_deref(),
        Some("BuiltinOptions 200")
    );
}

#[test]
fn a_number_without_an_options_table_is_no_options() {
    let mut bytes = bytes_with(code(), vec![tensor()], with_options(Default::default()));
    let operator = first_operator(&bytes);
    // Ends the list of fields after the fourth, the number.
    let vtable = vtable(&bytes, operator);
    bytes[vtable] = 4 + 2 * 4;
    let file = ModelFile::from_bytes(bytes.into()).unwrap();
    let model = file.model().unwrap();
    assert_eq!(model.subgraphs[0].operators[0].options_name(), None);
}

#[test]
fn an_absent_tensor_is_none_and_a_wrong_one_is_named() {
    let absent = write::Operator {
        inputs: Some(vec![0, -1]),
        ..operator()
    };
    let file = model_with(code(), vec![tensor()], absent);
    let model = file.model().unwrap();
    let inputs = &model.subgraphs[0].operators[0].inputs;
    assert_eq!(inputs.iter().collect::<Vec<_>>(), [Some(0), None]);
    assert_eq!(
        (inputs.get(0), inputs.get(1), inputs.get(2)),
        (Some(0), None, None)
    );

    for wrong in [1, -2, i32::MIN, i32::MAX] {
        let operator = write::Operator {
            inputs: Some(vec![wrong]),
            ..operator()
        };
        let file = model_with(code(), vec![tensor()], operator);
        let message = file.model().unwrap_err().to_string();
        let expected = format!(
            "subgraph 0, operator 0 (CONV_2D): an input names tensor {wrong}, but the subgraph \
             has only 1;"
        );
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn a_wrong_buffer_is_named_with_its_tensor() {
    let tensor = write::Tensor {
        buffer: 2,
        name: Some("w".to_owned()),
        ..tensor()
    };
    let file = model_with(code(), vec![tensor], operator());
    let message = file.model().unwrap_err().to_string();
    assert!(
        message.contains("subgraph 0, tensor 0 \"w\": buffer 2 is named, but there are only 2;"),
        "{message}"
    );
}

#[test]
fn quantization_has_a_scale_for_each_slice() {
    let quantization = write::QuantizationParameters {
        scale: Some(vec![0.5, 0.25]),
        zero_point: Some(vec![0, -3]),
        quantized_dimension: 3,
        ..write::QuantizationParameters::default()
    };
    let quantized = write::Tensor {
        quantization: Some(Box::new(quantization)),
        ..tensor()
    };
    // As converters write it for tensors of float models.
    let empty = write::Tensor {
        quantization: Some(Box::default()),
        ..tensor()
    };
    let file = model_with(code(), vec![quantized, empty], operator());
    let model = file.model().unwrap();
    let [quantized, empty] = &model.subgraphs[0].tensors[..] else {
        panic!()
    };
    let quantization = quantized.quantization.as_ref().unwrap();
    assert_eq!(quantization.scales, [0.5, 0.25]);
    assert_eq!(quantization.zero_points, [0, -3]);
    assert_eq!(quantization.axis, 3);
    assert!(empty.quantization.is_none());
}

#[test]
fn weights_and_custom_options_may_stand_behind_the_flatbuffer() {
    let bytes_with_offset = |offset: u64| {
        let operator = write::Operator {
            large_custom_options_offset: offset + 4,
            large_custom_options_size: 2,
            ..operator()
        };
        let tensor = write::Tensor {
            buffer: 1,
            ..tensor()
        };
        let buffer = write::Buffer {
            data: None,
            offset,
            size: 4,
        };
        finish(&model(code(), vec![tensor], operator, buffer))
    };
    let length = bytes_with_offset(1 << 20).len();
    let mut bytes = bytes_with_offset(length as u64);
    assert_eq!(bytes.len(), length);
    bytes.extend([1, 2, 3, 4, 5, 6]);

    let whole = ModelFile::from_bytes(bytes.clone().into()).unwrap();
    let decoded = whole.model().unwrap();
    let data = decoded.subgraphs[0].tensors[0].data.clone().unwrap();
    assert_eq!(&data[..], [1, 2, 3, 4]);
    assert_eq!(data.as_ptr(), whole.bytes()[length..].as_ptr());
    let options = decoded.subgraphs[0].operators[0].custom_options.clone();
    assert_eq!(options.as_deref(), Some(&[5, 6][..]));

    bytes.truncate(length + 3);
    let message = ModelFile::from_bytes(bytes.into())
        .unwrap()
        .model()
        .unwrap_err()
        .to_string();
    let expected = format!("the data of buffer 1 is said to be 4 bytes at {length}");
    assert!(message.contains(&expected), "{message}");

    let overflowing = write::Buffer {
        data: None,
        offset: u64::MAX,
        size: u64::MAX,
    };
    let tensor = write::Tensor {
        buffer: 1,
        ..tensor()
    };
    let bytes = finish(&model(code(), vec![tensor], operator(), overflowing));
    let message = ModelFile::from_bytes(bytes.into())
        .unwrap()
        .model()
        .unwrap_err()
        .to_string();
    assert!(message.contains("the file has only"), "{message}");
}

#[test]
fn a_small_file_that_stands_for_a_huge_one_is_refused() {
    // One tensor with a shape of 10 000 dimensions, named 10 000 times: 80 kB for 400 MB.
    let mut builder = Builder::new();
    let shared = write::Tensor {
        shape: Some(vec![1; 10_000]),
        ..tensor()
    };
    let shared = planus::WriteAsOffset::prepare(&shared, &mut builder);
    let subgraph = write::SubGraph::create(
        &mut builder,
        &vec![shared; 10_000][..],
        (),
        (),
        (),
        (),
        planus::DefaultValue,
    );
    let model = write::Model::create(
        &mut builder,
        3_u32,
        (),
        &[subgraph][..],
        (),
        (),
        (),
        (),
        (),
        (),
        (),
    );
    let bytes = identified(builder.finish(model, Some(*b"TFL3")));
    assert!(bytes.len() < 100_000);
    let message = ModelFile::from_bytes(bytes.into())
        .unwrap()
        .model()
        .unwrap_err()
        .to_string();
    assert!(message.contains("over and over"), "{message}");
}

#[test]
fn only_schema_version_3_is_read() {
    let model = write::Model {
        version: 4,
        ..write::Model::default()
    };
    let file = ModelFile::from_bytes(finish(&model).into()).unwrap();
    let message = file.model().unwrap_err().to_string();
    assert!(message.contains("schema version 4"), "{message}");
}

#[test]
fn what_is_no_tflite_file_is_said_to_be_none() {
    let message = |bytes: &'static [u8]| {
        ModelFile::from_bytes(Bytes::from_static(bytes))
            .unwrap_err()
            .to_string()
    };
    assert!(message(b"").contains("the file has only 0 bytes"));
    assert!(message(b"abcdefg").contains("the file has only 7 bytes"));
    assert!(message(b"\x08\x07\x12\x0bpytorch").contains("found \"pyto\""));
    // The identifier alone is not a model, and no panic either.
    let file = ModelFile::from_bytes(Bytes::from_static(b"\xff\xff\xff\xffTFL3")).unwrap();
    assert!(
        file.model()
            .unwrap_err()
            .to_string()
            .contains("the FlatBuffer is broken at")
    );
}

#[test]
fn signatures_name_tensors() {
    let map = |name: &str, tensor_index| {
        Some(vec![write::TensorMap {
            name: Some(name.to_owned()),
            tensor_index,
        }])
    };
    let with = |signature| {
        let mut model = model(code(), vec![tensor()], operator(), Default::default());
        model.signature_defs = Some(vec![signature]);
        ModelFile::from_bytes(finish(&model).into()).unwrap()
    };
    let good = write::SignatureDef {
        inputs: map("x", 0),
        outputs: map("y", 0),
        signature_key: Some("serving_default".to_owned()),
        subgraph_index: 0,
    };
    let file = with(good.clone());
    let model = file.model().unwrap();
    let signature = &model.signatures[0];
    assert_eq!((signature.key, signature.subgraph), ("serving_default", 0));
    assert_eq!(
        (&signature.inputs[..], &signature.outputs[..]),
        (&[("x", 0)][..], &[("y", 0)][..])
    );

    let message = with(write::SignatureDef {
        inputs: map("x", 1),
        ..good.clone()
    });
    let message = message.model().unwrap_err().to_string();
    assert!(
        message.contains("names tensor 1, but there are only 1"),
        "{message}"
    );
    let message = with(write::SignatureDef {
        subgraph_index: 1,
        ..good
    });
    let message = message.model().unwrap_err().to_string();
    assert!(
        message.contains("is for subgraph 1, but there are only 1"),
        "{message}"
    );
}

fn tensor() -> write::Tensor {
    write::Tensor {
        shape: Some(vec![1]),
        ..write::Tensor::default()
    }
}

fn code() -> write::OperatorCode {
    write::OperatorCode {
        deprecated_builtin_code: 3,
        builtin_code: 3,
        ..write::OperatorCode::default()
    }
}

fn operator() -> write::Operator {
    write::Operator {
        inputs: Some(vec![0]),
        outputs: Some(vec![0]),
        ..write::Operator::default()
    }
}

fn with_options(options: write::Conv2DOptions) -> write::Operator {
    let options = write::BuiltinOptions::Conv2DOptions(Box::new(options));
    write::Operator {
        builtin_options: Some(options),
        ..operator()
    }
}

/// One subgraph with one operator. `buffer` is number 1.
fn model(
    code: write::OperatorCode,
    tensors: Vec<write::Tensor>,
    operator: write::Operator,
    buffer: write::Buffer,
) -> write::Model {
    let subgraph = write::SubGraph {
        tensors: Some(tensors),
        inputs: Some(vec![0]),
        outputs: Some(vec![0]),
        operators: Some(vec![operator]),
        ..write::SubGraph::default()
    };
    write::Model {
        version: 3,
        operator_codes: Some(vec![code]),
        subgraphs: Some(vec![subgraph]),
        buffers: Some(vec![write::Buffer::default(), buffer]),
        ..write::Model::default()
    }
}

fn bytes_with(
    code: write::OperatorCode,
    tensors: Vec<write::Tensor>,
    operator: write::Operator,
) -> Vec<u8> {
    finish(&model(code, tensors, operator, write::Buffer::default()))
}

fn model_with(
    code: write::OperatorCode,
    tensors: Vec<write::Tensor>,
    operator: write::Operator,
) -> ModelFile {
    ModelFile::from_bytes(bytes_with(code, tensors, operator).into()).unwrap()
}

// FlatBuffers by hand, to damage them at a known place: a table begins with the distance back to
// its vtable, which holds two lengths and then each field's place in the table.

fn first_operator(bytes: &[u8]) -> usize {
    let first = |at: usize| follow(bytes, follow(bytes, at) + 4);
    let model = follow(bytes, 0);
    let subgraph = first(field(bytes, model, 2));
    first(field(bytes, subgraph, 3))
}

fn follow(bytes: &[u8], at: usize) -> usize {
    at + u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn vtable(bytes: &[u8], table: usize) -> usize {
    let distance = i32::from_le_bytes(bytes[table..table + 4].try_into().unwrap());
    usize::try_from(i64::try_from(table).unwrap() - i64::from(distance)).unwrap()
}

fn field(bytes: &[u8], table: usize, number: usize) -> usize {
    let at = vtable(bytes, table) + 4 + 2 * number;
    table + usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()))
}
