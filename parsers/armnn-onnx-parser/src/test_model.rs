//! Small models for tests, written by hand.

use armnn_backend_api::{LayerDescriptor, LayerType};
use armnn_network::Network;
use bytes::Bytes;
use prost::Message as _;

use crate::error::OnnxParserError;
use crate::model::ElementType;
use crate::parser::{OnnxParser, OnnxParserOptions};
use crate::proto::*;

/// Name, type and shape of a value; dimensions below 0 are unknown.
pub(crate) fn info(name: &str, element_type: ElementType, dims: &[i64]) -> ValueInfoProto {
    let dimension = |&dim: &i64| Dimension {
        value: (dim >= 0).then_some(DimensionValue::Value(dim)),
    };
    let tensor = TensorTypeProto {
        elem_type: element_type.0,
        shape: Some(TensorShapeProto {
            dim: dims.iter().map(dimension).collect(),
        }),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            value: Some(TypeValue::Tensor(tensor)),
        }),
    }
}

/// A constant of FLOAT.
pub(crate) fn floats(name: &str, dims: &[i64], values: &[f32]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type: ElementType::FLOAT.0,
        float_data: values.to_vec().into(),
        ..TensorProto::default()
    }
}

/// A constant of FLOAT: zeros, as raw data.
pub(crate) fn zeros(name: &str, dims: &[i64]) -> TensorProto {
    let elements: i64 = dims.iter().product();
    TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type: ElementType::FLOAT.0,
        raw_data: Some(vec![0; 4 * usize::try_from(elements).unwrap()].into()),
        ..TensorProto::default()
    }
}

/// A constant of INT64, with one dimension.
pub(crate) fn ints(name: &str, values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: vec![i64::try_from(values.len()).unwrap()],
        data_type: ElementType::INT64.0,
        int64_data: values.to_vec().into(),
        ..TensorProto::default()
    }
}

fn attribute(name: &str, r#type: i32) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type,
        ..AttributeProto::default()
    }
}

pub(crate) fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto {
        i,
        ..attribute(name, attribute_type::INT)
    }
}

pub(crate) fn float(name: &str, f: f32) -> AttributeProto {
    AttributeProto {
        f,
        ..attribute(name, attribute_type::FLOAT)
    }
}

pub(crate) fn text(name: &str, s: &str) -> AttributeProto {
    AttributeProto {
        s: Bytes::copy_from_slice(s.as_bytes()),
        ..attribute(name, attribute_type::STRING)
    }
}

pub(crate) fn list(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto {
        ints: ints.to_vec(),
        ..attribute(name, attribute_type::INTS)
    }
}

pub(crate) fn tensor(name: &str, t: TensorProto) -> AttributeProto {
    AttributeProto {
        t: Some(Box::new(t)),
        ..attribute(name, attribute_type::TENSOR)
    }
}

/// A graph as an attribute: what a model has, which is its body.
pub(crate) fn body(name: &str, model: TestModel) -> AttributeProto {
    AttributeProto {
        g: model.0.graph.map(Box::new),
        ..attribute(name, attribute_type::GRAPH)
    }
}

pub(crate) fn node(
    op_type: &str,
    inputs: &[&str],
    outputs: &[&str],
    attributes: &[AttributeProto],
) -> NodeProto {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    NodeProto {
        op_type: op_type.to_owned(),
        input: names(inputs),
        output: names(outputs),
        attribute: attributes.to_vec(),
        ..NodeProto::default()
    }
}

/// A model of this version of ONNX's operators.
pub(crate) struct TestModel(pub(crate) ModelProto);

impl TestModel {
    pub(crate) fn new(opset: i64) -> Self {
        Self(ModelProto {
            ir_version: Some(8),
            graph: Some(GraphProto::default()),
            opset_import: vec![OperatorSetIdProto {
                domain: String::new(),
                version: opset,
            }],
            ..ModelProto::default()
        })
    }

    pub(crate) fn graph(&mut self) -> &mut GraphProto {
        self.0.graph.as_mut().unwrap()
    }

    /// An input of FLOAT.
    pub(crate) fn input(mut self, name: &str, dims: &[i64]) -> Self {
        let input = info(name, ElementType::FLOAT, dims);
        self.graph().input.push(input);
        self
    }

    pub(crate) fn typed_input(mut self, name: &str, of: ElementType, dims: &[i64]) -> Self {
        self.graph().input.push(info(name, of, dims));
        self
    }

    pub(crate) fn constant(mut self, tensor: TensorProto) -> Self {
        self.graph().initializer.push(tensor);
        self
    }

    pub(crate) fn node(
        mut self,
        op_type: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[AttributeProto],
    ) -> Self {
        let node = node(op_type, inputs, outputs, attributes);
        self.graph().node.push(node);
        self
    }

    /// An output of which only the name is said.
    pub(crate) fn output(mut self, name: &str) -> Self {
        self.graph().output.push(ValueInfoProto {
            name: name.to_owned(),
            r#type: None,
        });
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.encode_to_vec()
    }

    pub(crate) fn parse(&self) -> Result<Network, OnnxParserError> {
        self.parse_with(OnnxParserOptions::default())
    }

    pub(crate) fn parse_with(
        &self,
        options: OnnxParserOptions,
    ) -> Result<Network, OnnxParserError> {
        let parser = OnnxParser::with_options(options);
        parser.parse_bytes(self.bytes().into(), "test.onnx")
    }
}

/// A model of one node from `x` of FLOAT to `y`, with constants as further inputs.
pub(crate) fn single(
    opset: i64,
    op_type: &str,
    dims: &[i64],
    constants: &[TensorProto],
    attributes: &[AttributeProto],
) -> Result<Network, OnnxParserError> {
    let mut model = TestModel::new(opset).input("x", dims);
    let mut inputs = vec!["x"];
    for constant in constants {
        inputs.push(&constant.name);
        // Without a name, the input is left out.
        if !constant.name.is_empty() {
            model = model.constant(constant.clone());
        }
    }
    model
        .node(op_type, &inputs, &["y"], attributes)
        .output("y")
        .parse()
}

pub(crate) fn descriptors(network: &Network) -> Vec<LayerDescriptor> {
    let layers = network.layers().iter();
    layers
        .map(|layer| layer.descriptor().unwrap().clone())
        .collect()
}

pub(crate) fn types(network: &Network) -> Vec<LayerType> {
    network.layers().iter().map(|l| l.layer_type()).collect()
}

/// Dimensions of the first output.
pub(crate) fn output_dims(network: &Network) -> Vec<i64> {
    let output = network.outputs()[0].tensor;
    network.tensor(output).info.shape.dims().to_vec()
}

#[track_caller]
pub(crate) fn assert_refused(parsed: Result<Network, OnnxParserError>, part: &str) {
    match parsed {
        Ok(network) => panic!("a network of {:?}", types(&network)),
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
