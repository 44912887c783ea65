//! Models of one node, with inputs and attributes, and what CpuRef makes of them.
#![allow(dead_code, reason = "each test uses a part")]

use armnn_onnx_parser::model::ElementType;
use armnn_onnx_parser::parse_bytes;
use armnn_onnx_parser::proto::*;
use armnn_runtime::{DataType, HostTensor, TensorInfo, Value};
use prost::Message as _;

use crate::test_data;

/// A model of one node, whose inputs are those of the model; its outputs for them.
pub fn outputs(
    domain: &str,
    version: i64,
    op_type: &str,
    inputs: Vec<(ElementType, HostTensor)>,
    attributes: &[AttributeProto],
    n_outputs: usize,
) -> Vec<Value> {
    outputs_of(
        domain,
        version,
        op_type,
        inputs,
        attributes,
        n_outputs,
        |size| Some(DimensionValue::Value(size)),
    )
}

/// The same of a model that declares its dimensions so.
pub fn outputs_of(
    domain: &str,
    version: i64,
    op_type: &str,
    inputs: Vec<(ElementType, HostTensor)>,
    attributes: &[AttributeProto],
    n_outputs: usize,
    declared: fn(i64) -> Option<DimensionValue>,
) -> Vec<Value> {
    let names: Vec<String> = (0..inputs.len()).map(|at| format!("x{at}")).collect();
    let outputs: Vec<String> = (0..n_outputs).map(|at| format!("y{at}")).collect();
    let given = names.iter().zip(&inputs).map(|(name, (of, tensor))| {
        let dims = tensor.info().shape.dims().iter().map(|&dim| Dimension {
            value: declared(dim),
        });
        let tensor = TensorTypeProto {
            elem_type: of.0,
            shape: Some(TensorShapeProto {
                dim: dims.collect(),
            }),
        };
        ValueInfoProto {
            name: name.clone(),
            r#type: Some(TypeProto {
                value: Some(TypeValue::Tensor(tensor)),
            }),
        }
    });
    let graph = GraphProto {
        input: given.collect(),
        output: outputs
            .iter()
            .map(|name| ValueInfoProto {
                name: name.clone(),
                r#type: None,
            })
            .collect(),
        node: vec![NodeProto {
            input: names.clone(),
            output: outputs.clone(),
            op_type: op_type.to_owned(),
            domain: domain.to_owned(),
            attribute: attributes.to_vec(),
            ..NodeProto::default()
        }],
        ..GraphProto::default()
    };
    let model = ModelProto {
        ir_version: Some(10),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto {
            domain: domain.to_owned(),
            version,
        }],
        ..ModelProto::default()
    };
    let network = parse_bytes(model.encode_to_vec().into(), op_type).unwrap();
    let values = inputs.into_iter().map(|(_, tensor)| Value::from(tensor));
    test_data::run_values(network, values.collect()).unwrap()
}

pub fn tensor<T: Copy, const N: usize>(
    data_type: DataType,
    dims: &[i64],
    values: &[T],
    bytes: fn(T) -> [u8; N],
) -> HostTensor {
    let shape = armnn_runtime::Shape::new(dims).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|&value| bytes(value)).collect();
    HostTensor::from_bytes(TensorInfo::new(data_type, shape), &bytes).unwrap()
}

pub fn floats(dims: &[i64], values: &[f32]) -> (ElementType, HostTensor) {
    let tensor = tensor(DataType::Float32, dims, values, f32::to_ne_bytes);
    (ElementType::FLOAT, tensor)
}

pub fn doubles(dims: &[i64], values: &[f64]) -> (ElementType, HostTensor) {
    let tensor = tensor(DataType::Float64, dims, values, f64::to_ne_bytes);
    (ElementType::DOUBLE, tensor)
}

pub fn integers(dims: &[i64], values: &[i64]) -> (ElementType, HostTensor) {
    let tensor = tensor(DataType::Signed64, dims, values, i64::to_ne_bytes);
    (ElementType::INT64, tensor)
}

pub fn found(value: &Value) -> &HostTensor {
    value.as_tensor().unwrap()
}

pub fn attribute(name: &str, set: impl FnOnce(&mut AttributeProto)) -> AttributeProto {
    let mut attribute = AttributeProto {
        name: name.to_owned(),
        ..AttributeProto::default()
    };
    set(&mut attribute);
    attribute
}

pub fn int(name: &str, value: i64) -> AttributeProto {
    attribute(name, |a| {
        a.r#type = attribute_type::INT;
        a.i = value;
    })
}

pub fn ints(name: &str, values: &[i64]) -> AttributeProto {
    attribute(name, |a| {
        a.r#type = attribute_type::INTS;
        a.ints = values.to_vec();
    })
}

pub fn real(name: &str, value: f32) -> AttributeProto {
    attribute(name, |a| {
        a.r#type = attribute_type::FLOAT;
        a.f = value;
    })
}

pub fn reals(name: &str, values: &[f32]) -> AttributeProto {
    attribute(name, |a| {
        a.r#type = attribute_type::FLOATS;
        a.floats = values.to_vec();
    })
}

pub fn text(name: &str, value: &str) -> AttributeProto {
    attribute(name, |a| {
        a.r#type = attribute_type::STRING;
        a.s = value.as_bytes().to_vec().into();
    })
}

pub fn texts(name: &str, values: &[&str]) -> AttributeProto {
    attribute(name, |a| {
        a.r#type = attribute_type::STRINGS;
        a.strings = values
            .iter()
            .map(|s| s.as_bytes().to_vec().into())
            .collect();
    })
}
