//! Windows whose padding follows (auto_pad) from sizes that the model does not know, through CpuRef.
//!
//! With n elements, windows of 3 and strides of 2 there are ceil(n / 2) windows, and
//! 2 (ceil(n / 2) - 1) + 3 - n elements of padding: of 5 elements 2, one on each side; of 4 elements 1,
//! which SAME_UPPER puts behind them, and SAME_LOWER before.

mod test_data;

use armnn_onnx_parser::model::ElementType;
use armnn_onnx_parser::parse_bytes;
use armnn_onnx_parser::proto::*;
use armnn_runtime::HostTensor;
use prost::Message as _;

#[test]
fn convolutions_pad_with_zeros() {
    let upper = Model::of("Conv").weights(&[1, 1, 3], &[1.0; 3]);
    // 0 + 1 + 2, 2 + 3 + 4, 4 + 5 + 0.
    upper.gives(&[1.0, 2.0, 3.0, 4.0, 5.0], &[3.0, 9.0, 9.0]);
    // 1 + 2 + 3, 3 + 4 + 0.
    upper.gives(&[1.0, 2.0, 3.0, 4.0], &[6.0, 7.0]);
    let lower = Model::of("Conv")
        .weights(&[1, 1, 3], &[1.0; 3])
        .text("auto_pad", "SAME_LOWER");
    // 0 + 1 + 2, 2 + 3 + 4.
    lower.gives(&[1.0, 2.0, 3.0, 4.0], &[3.0, 9.0]);
}

/// The numbers are negative, so that padding with zeros would show.
#[test]
fn the_largest_element_is_none_of_the_padding() {
    let model = Model::of("MaxPool").list("kernel_shape", &[3]);
    model.gives(&[-1.0, -2.0, -3.0, -4.0], &[-1.0, -3.0]);
    model.gives(&[-5.0, -4.0, -3.0, -2.0, -1.0], &[-4.0, -2.0, -1.0]);
}

#[test]
fn means_are_those_of_the_elements_that_are_there_unless_padding_counts() {
    let model = Model::of("AveragePool").list("kernel_shape", &[3]);
    // (1 + 2 + 3) / 3, (3 + 4) / 2.
    model.gives(&[1.0, 2.0, 3.0, 4.0], &[2.0, 3.5]);
    // (1 + 2) / 2, (2 + 3 + 4) / 3, (4 + 6) / 2.
    model.gives(&[1.0, 2.0, 3.0, 4.0, 6.0], &[1.5, 3.0, 5.0]);
    let counted = model.int("count_include_pad", 1);
    // (1 + 2 + 3) / 3, (3 + 6 + 0) / 3.
    counted.gives(&[1.0, 2.0, 3.0, 6.0], &[2.0, 3.0]);
}

#[test]
fn norms_are_those_of_the_elements_and_zeros() {
    let model = Model::of("LpPool").list("kernel_shape", &[3]).int("p", 1);
    // 1 + 2 + 3, 3 + 4.
    model.gives(&[-1.0, 2.0, -3.0, 4.0], &[6.0, 7.0]);
}

/// With a stride of 1, windows of 3 take one element of padding on each side, whatever the size.
#[test]
fn with_a_stride_of_one_the_layer_pads_itself() {
    let model = Model::of("Conv")
        .weights(&[1, 1, 3], &[1.0; 3])
        .list("strides", &[1]);
    model.gives(&[1.0, 2.0, 3.0], &[3.0, 6.0, 5.0]);
    let network = model.network();
    let pads = network
        .layers()
        .iter()
        .filter(|layer| layer.name.contains("Pad"));
    assert_eq!(pads.count(), 0);
}

/// n elements become 2 n: of (n - 1) 2 + 3 = 2 n + 1, one is taken away, behind (SAME_UPPER) or before.
#[test]
fn transposed_convolutions_take_away_what_does_not_depend_on_the_size() {
    let upper = Model::of("ConvTranspose").weights(&[1, 1, 3], &[1.0, 10.0, 100.0]);
    // 1 10 100, and 2 20 200 two behind: 1 10 102 20 200.
    upper.gives(&[1.0, 2.0], &[1.0, 10.0, 102.0, 20.0]);
    upper.gives(&[1.0], &[1.0, 10.0]);
    let lower = upper.text("auto_pad", "SAME_LOWER");
    lower.gives(&[1.0, 2.0], &[10.0, 102.0, 20.0, 200.0]);
}

/// Of (n - 1) 2 + 3 elements, and one more behind, so many remain as the model says, whatever n is.
#[test]
fn transposed_convolutions_have_outputs_of_the_size_that_is_said() {
    let model = Model::of("ConvTranspose")
        .weights(&[1, 1, 3], &[1.0, 10.0, 100.0])
        .list("output_shape", &[4]);
    // 1 10 102 20 200, without the last; 1 10 102 20 203 30 300, without one before and two behind.
    model.gives(&[1.0, 2.0], &[1.0, 10.0, 102.0, 20.0]);
    model.gives(&[1.0, 2.0, 3.0], &[10.0, 102.0, 20.0, 203.0]);
    // 1 10 100, and nothing behind.
    model.gives(&[1.0], &[1.0, 10.0, 100.0, 0.0]);
    let lower = model.text("auto_pad", "SAME_LOWER");
    lower.gives(&[1.0, 2.0], &[10.0, 102.0, 20.0, 200.0]);
    let more = model.list("output_padding", &[1]);
    // 1 10 102 20 200 0, without the first and the last.
    more.gives(&[1.0, 2.0], &[10.0, 102.0, 20.0, 200.0]);
}

/// Windows of 2 that are 2 apart cover 3 elements.
#[test]
fn dilated_windows_cover_more() {
    let model = Model::of("Conv")
        .weights(&[1, 1, 2], &[1.0, 10.0])
        .list("dilations", &[2]);
    // 0 and 2, 2 and 4, 4 and 0 with 0 1 2 3 4 5 0.
    model.gives(&[1.0, 2.0, 3.0, 4.0, 5.0], &[20.0, 42.0, 4.0]);
    // 1 and 3, 3 and 0.
    model.gives(&[1.0, 2.0, 3.0, 4.0], &[31.0, 3.0]);
    let lower = model.text("auto_pad", "SAME_LOWER");
    // 0 and 2, 2 and 4.
    lower.gives(&[1.0, 2.0, 3.0, 4.0], &[20.0, 42.0]);
    let largest = Model::of("MaxPool")
        .list("kernel_shape", &[2])
        .list("dilations", &[2]);
    largest.gives(&[1.0, -2.0, -3.0, -4.0], &[1.0, -3.0]);
}

/// Where the largest element is counts from the first element of the input, without padding.
#[test]
fn the_place_of_the_largest_element_is_one_of_the_input() {
    let mut model = Model::of("MaxPool").list("kernel_shape", &[3]);
    model.node.output.push("i".to_owned());
    let outputs = model.run(&[-5.0, -4.0, -3.0, -2.0, -1.0]);
    assert_eq!(outputs[0].elements::<f32>(), Some(&[-4.0, -2.0, -1.0][..]));
    assert_eq!(outputs[1].elements::<i64>(), Some(&[1, 3, 4][..]));
}

/// A model of one node with an input [1, 1, n], strides of 2 and SAME_UPPER.
#[derive(Clone)]
struct Model {
    node: NodeProto,
    constants: Vec<TensorProto>,
}

impl Model {
    fn of(op_type: &str) -> Self {
        let node = NodeProto {
            op_type: op_type.to_owned(),
            input: vec!["x".to_owned()],
            output: vec!["y".to_owned()],
            ..NodeProto::default()
        };
        let constants = Vec::new();
        Self { node, constants }
            .text("auto_pad", "SAME_UPPER")
            .list("strides", &[2])
    }

    fn weights(mut self, dims: &[i64], values: &[f32]) -> Self {
        self.node.input.push("w".to_owned());
        self.constants.push(TensorProto {
            name: "w".to_owned(),
            data_type: ElementType::FLOAT.0,
            dims: dims.to_vec(),
            float_data: values.to_vec().into(),
            ..TensorProto::default()
        });
        self
    }

    fn attribute(&self, attribute: AttributeProto) -> Self {
        let mut model = self.clone();
        let attributes = &mut model.node.attribute;
        attributes.retain(|other| other.name != attribute.name);
        attributes.push(attribute);
        model
    }

    fn text(&self, name: &str, text: &str) -> Self {
        self.attribute(AttributeProto {
            name: name.to_owned(),
            r#type: attribute_type::STRING,
            s: text.as_bytes().to_vec().into(),
            ..AttributeProto::default()
        })
    }

    fn list(&self, name: &str, ints: &[i64]) -> Self {
        self.attribute(AttributeProto {
            name: name.to_owned(),
            r#type: attribute_type::INTS,
            ints: ints.to_vec(),
            ..AttributeProto::default()
        })
    }

    fn int(&self, name: &str, i: i64) -> Self {
        self.attribute(AttributeProto {
            name: name.to_owned(),
            r#type: attribute_type::INT,
            i,
            ..AttributeProto::default()
        })
    }

    fn network(&self) -> armnn_runtime::Network {
        let dims = [Some(1), Some(1), None].map(|size| Dimension {
            value: size.map(DimensionValue::Value),
        });
        let tensor = TensorTypeProto {
            elem_type: ElementType::FLOAT.0,
            shape: Some(TensorShapeProto { dim: dims.to_vec() }),
        };
        let value = |name: &str, value: Option<TypeValue>| ValueInfoProto {
            name: name.to_owned(),
            r#type: value.map(|value| TypeProto { value: Some(value) }),
        };
        let graph = GraphProto {
            input: vec![value("x", Some(TypeValue::Tensor(tensor)))],
            output: self.node.output.iter().map(|y| value(y, None)).collect(),
            node: vec![self.node.clone()],
            initializer: self.constants.clone(),
            ..GraphProto::default()
        };
        let model = ModelProto {
            ir_version: Some(8),
            graph: Some(graph),
            opset_import: vec![OperatorSetIdProto {
                domain: String::new(),
                version: 17,
            }],
            ..ModelProto::default()
        };
        parse_bytes(model.encode_to_vec().into(), &self.node.op_type).unwrap()
    }

    fn gives(&self, x: &[f32], expected: &[f32]) {
        assert_eq!(self.run(x)[0].elements::<f32>(), Some(expected));
    }

    fn run(&self, x: &[f32]) -> Vec<HostTensor> {
        let x = HostTensor::from_f32([1, 1, x.len() as i64], x).unwrap();
        test_data::run(self.network(), &[x]).unwrap()
    }
}
