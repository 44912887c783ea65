//! Small models for tests, written by hand.

use armnn_backend_api::{LayerDescriptor, LayerType};
use armnn_network::Network;
use planus::Builder;

use crate::error::TfliteParserError;
use crate::parser::{TfliteParser, TfliteParserOptions};
use crate::schema_generated::{BuiltinOperator, TensorType};
use crate::schema_writer_generated as write;

/// A tensor of a model.
#[derive(Clone, Default)]
pub(crate) struct TestTensor {
    pub(crate) tensor: write::Tensor,
    pub(crate) data: Option<Vec<u8>>,
}

/// A Float32 tensor that is an input or computed.
pub(crate) fn float(shape: &[i32]) -> TestTensor {
    typed(TensorType::Float32, shape)
}

/// A tensor of any type that is an input or computed.
pub(crate) fn typed(tensor_type: TensorType, shape: &[i32]) -> TestTensor {
    TestTensor {
        tensor: write::Tensor {
            shape: Some(shape.to_vec()),
            type_: tensor_type as i8,
            ..write::Tensor::default()
        },
        data: None,
    }
}

/// A constant of INT32, with one dimension.
pub(crate) fn ints(values: &[i32]) -> TestTensor {
    let length = i32::try_from(values.len()).unwrap();
    let data = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    typed(TensorType::Int32, &[length]).with_data(data)
}

/// A constant of FLOAT32: zeros.
pub(crate) fn zeros(shape: &[i32]) -> TestTensor {
    let elements: i32 = shape.iter().product();
    float(shape).with_data(vec![0; 4 * usize::try_from(elements).unwrap()])
}

impl TestTensor {
    pub(crate) fn with_data(self, data: Vec<u8>) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }

    pub(crate) fn shaped(mut self, shape: &[i32]) -> Self {
        self.tensor.shape = Some(shape.to_vec());
        self
    }

    pub(crate) fn signature(mut self, signature: &[i32]) -> Self {
        self.tensor.shape_signature = Some(signature.to_vec());
        self
    }

    pub(crate) fn quantized(self, scale: f32, zero_point: i64) -> Self {
        self.quantized_along(0, &[scale], &[zero_point])
    }

    pub(crate) fn quantized_along(mut self, axis: i32, scales: &[f32], zeros: &[i64]) -> Self {
        self.tensor.quantization = Some(Box::new(write::QuantizationParameters {
            scale: Some(scales.to_vec()),
            zero_point: Some(zeros.to_vec()),
            quantized_dimension: axis,
            ..write::QuantizationParameters::default()
        }));
        self
    }
}

/// A model, with one subgraph unless another is begun.
#[derive(Default)]
pub(crate) struct TestModel {
    model: write::Model,
    /// Subgraphs that are complete, the first of them the main one.
    complete: Vec<write::SubGraph>,
    /// The subgraph that is being written.
    pub(crate) graph: write::SubGraph,
}

impl TestModel {
    /// Adds a tensor; named `t` and its number unless it has a name.
    pub(crate) fn tensor(&mut self, tensor: TestTensor) -> i32 {
        let buffers = self
            .model
            .buffers
            .get_or_insert_with(|| vec![write::Buffer::default()]);
        let TestTensor { mut tensor, data } = tensor;
        if data.is_some() {
            tensor.buffer = u32::try_from(buffers.len()).unwrap();
            buffers.push(write::Buffer {
                data,
                ..write::Buffer::default()
            });
        }
        let tensors = self.graph.tensors.get_or_insert_default();
        let index = tensors.len();
        tensor.name.get_or_insert_with(|| format!("t{index}"));
        tensors.push(tensor);
        i32::try_from(index).unwrap()
    }

    /// Adds an external buffer in a file of its own.
    pub(crate) fn external_buffer(&mut self, name: &str, id: u32, offset: u64, length: u64) {
        let groups = self.model.external_buffer_groups.get_or_insert_default();
        let group = u32::try_from(groups.len()).unwrap();
        groups.push(write::ExternalBufferGroup {
            name: Some(name.to_owned()),
        });
        let buffers = self.model.external_buffers.get_or_insert_default();
        buffers.push(write::ExternalBuffer {
            id,
            group,
            offset,
            length,
            packing: None,
        });
    }

    /// Lets a buffer's data stand outside the FlatBuffer.
    pub(crate) fn move_buffer(&mut self, index: usize, offset: u64, size: u64) {
        self.model.buffers.as_mut().unwrap()[index] = write::Buffer {
            data: None,
            offset,
            size,
        };
    }

    /// Begins a further subgraph, and returns its index.
    pub(crate) fn next_subgraph(&mut self) -> i32 {
        self.complete.push(std::mem::take(&mut self.graph));
        i32::try_from(self.complete.len()).unwrap()
    }

    /// Names a subgraph, and its inputs and outputs, as a function.
    pub(crate) fn signature(
        &mut self,
        key: &str,
        subgraph: u32,
        inputs: &[(&str, u32)],
        outputs: &[(&str, u32)],
    ) {
        let maps = |named: &[(&str, u32)]| {
            let maps = named.iter().map(|&(name, tensor_index)| write::TensorMap {
                name: Some(name.to_owned()),
                tensor_index,
            });
            Some(maps.collect())
        };
        let signature = write::SignatureDef {
            inputs: maps(inputs),
            outputs: maps(outputs),
            signature_key: Some(key.to_owned()),
            subgraph_index: subgraph,
        };
        let signatures = self.model.signature_defs.get_or_insert_default();
        signatures.push(signature);
    }

    /// Adds a tensor that is an input of the model.
    pub(crate) fn input(&mut self, tensor: TestTensor) -> i32 {
        let index = self.tensor(tensor);
        self.graph.inputs.get_or_insert_default().push(index);
        index
    }

    /// Makes a tensor an output of the model.
    pub(crate) fn output(&mut self, index: i32) {
        self.graph.outputs.get_or_insert_default().push(index);
    }

    pub(crate) fn operator(
        &mut self,
        operator: BuiltinOperator,
        inputs: &[i32],
        outputs: &[i32],
        builtin_options: Option<write::BuiltinOptions>,
    ) {
        let code = write::OperatorCode {
            builtin_code: operator as i32,
            ..write::OperatorCode::default()
        };
        let operator = write::Operator {
            inputs: Some(inputs.to_vec()),
            outputs: Some(outputs.to_vec()),
            builtin_options,
            ..write::Operator::default()
        };
        self.add(code, operator);
    }

    /// Changes the options of an operator of the main subgraph, which is complete.
    pub(crate) fn replace_options(&mut self, operator: usize, options: write::BuiltinOptions) {
        let operators = self.complete[0].operators.as_mut().unwrap();
        operators[operator].builtin_options = Some(options);
    }

    pub(crate) fn custom(&mut self, name: &str, inputs: &[i32], outputs: &[i32], options: &[u8]) {
        let code = write::OperatorCode {
            builtin_code: BuiltinOperator::Custom as i32,
            custom_code: Some(name.to_owned()),
            ..write::OperatorCode::default()
        };
        let operator = write::Operator {
            inputs: Some(inputs.to_vec()),
            outputs: Some(outputs.to_vec()),
            custom_options: Some(options.to_vec()),
            ..write::Operator::default()
        };
        self.add(code, operator);
    }

    fn add(&mut self, code: write::OperatorCode, mut operator: write::Operator) {
        let codes = self.model.operator_codes.get_or_insert_default();
        operator.opcode_index = u32::try_from(codes.len()).unwrap();
        codes.push(code);
        self.graph.operators.get_or_insert_default().push(operator);
    }

    /// The file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        finish(&write::Model {
            version: 3,
            subgraphs: Some([&self.complete[..], std::slice::from_ref(&self.graph)].concat()),
            ..self.model.clone()
        })
    }

    /// The file, with every operator's custom options in one place behind the FlatBuffer.
    pub(crate) fn bytes_sharing_options(&self, options: &[u8]) -> Vec<u8> {
        let at = |offset: usize| {
            let mut graph = self.graph.clone();
            for operator in graph.operators.iter_mut().flatten() {
                operator.custom_options = None;
                operator.large_custom_options_offset = offset as u64;
                operator.large_custom_options_size = options.len() as u64;
            }
            let (model, complete) = (self.model.clone(), self.complete.clone());
            Self {
                model,
                complete,
                graph,
            }
            .bytes()
        };
        let mut bytes = at(at(1 << 20).len());
        bytes.extend_from_slice(options);
        bytes
    }

    pub(crate) fn parse(&self) -> Result<Network, TfliteParserError> {
        self.parse_with(TfliteParserOptions::default())
    }

    pub(crate) fn parse_with(
        &self,
        options: TfliteParserOptions,
    ) -> Result<Network, TfliteParserError> {
        TfliteParser::with_options(options).parse_bytes(self.bytes().into(), "test.tflite")
    }
}

/// A model of one operator. Tensors without data among `inputs` are those of the model; all outputs
/// are. They are named `t0`, `t1` and so on, inputs first.
pub(crate) fn lower(
    operator: BuiltinOperator,
    inputs: &[TestTensor],
    outputs: &[TestTensor],
    options: impl Into<Option<write::BuiltinOptions>>,
) -> Result<Network, TfliteParserError> {
    one_operator(operator, inputs, outputs, options.into()).parse()
}

/// The same with options of the second union.
pub(crate) fn lower_second(
    operator: BuiltinOperator,
    inputs: &[TestTensor],
    outputs: &[TestTensor],
    options: write::BuiltinOptions2,
) -> Result<Network, TfliteParserError> {
    let mut model = one_operator(operator, inputs, outputs, None);
    for operator in model.graph.operators.iter_mut().flatten() {
        operator.builtin_options_2 = Some(options.clone());
    }
    model.parse()
}

fn one_operator(
    operator: BuiltinOperator,
    inputs: &[TestTensor],
    outputs: &[TestTensor],
    options: Option<write::BuiltinOptions>,
) -> TestModel {
    let mut model = TestModel::default();
    let add_input = |tensor: &TestTensor| match tensor.data {
        None => model.input(tensor.clone()),
        Some(_) => model.tensor(tensor.clone()),
    };
    let inputs: Vec<i32> = inputs.iter().map(add_input).collect();
    let outputs: Vec<i32> = outputs
        .iter()
        .map(|tensor| model.tensor(tensor.clone()))
        .collect();
    model.operator(operator, &inputs, &outputs, options);
    for index in outputs {
        model.output(index);
    }
    model
}

/// The descriptors of the layers.
pub(crate) fn descriptors(network: &Network) -> Vec<&LayerDescriptor> {
    network
        .layers()
        .iter()
        .map(|layer| layer.descriptor().unwrap())
        .collect()
}

/// The types of the layers.
pub(crate) fn types(network: &Network) -> Vec<LayerType> {
    network
        .layers()
        .iter()
        .map(|layer| layer.layer_type())
        .collect()
}

/// The outputs' types and shapes as text.
pub(crate) fn outputs(network: &Network) -> Vec<String> {
    let info =
        |output: &armnn_network::NetworkOutput| network.tensor(output.tensor).info.to_string();
    network.outputs().iter().map(info).collect()
}

/// Asserts that the error says this.
#[track_caller]
pub(crate) fn assert_refused(result: Result<Network, TfliteParserError>, expected: &str) {
    match result {
        Ok(network) => panic!("became {:?}", types(&network)),
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}

/// A network on the reference backend.
pub(crate) fn load(network: Network) -> armnn_runtime::LoadedNetwork {
    use armnn_runtime::{CreationOptions, LoadOptions, OptimizerOptions, Runtime, StaticBackend};

    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<cpu_ref::CpuRef>())
        .number_of_threads(1);
    let runtime = Runtime::create(options).unwrap();
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .unwrap();
    runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap()
}

/// The Float32 outputs of a network for Float32 inputs, each with its dimensions.
pub(crate) fn run(network: Network, inputs: &[(&[i64], &[f32])]) -> Vec<(Vec<i64>, Vec<f32>)> {
    let inputs: Vec<_> = inputs
        .iter()
        .map(|&(dims, values)| tensor(dims, values))
        .collect();
    let outputs = load(network).run(&inputs).unwrap();
    outputs.iter().map(floats).collect()
}

/// A tensor of Float32.
pub(crate) fn tensor(dims: &[i64], values: &[f32]) -> armnn_runtime::HostTensor {
    let shape = armnn_backend_api::Shape::new(dims).unwrap();
    armnn_runtime::HostTensor::from_f32(shape, values).unwrap()
}

/// Dimensions and numbers of a tensor of Float32.
pub(crate) fn floats(tensor: &armnn_runtime::HostTensor) -> (Vec<i64>, Vec<f32>) {
    let values = tensor.elements::<f32>().unwrap().to_vec();
    (tensor.info().shape.dims().to_vec(), values)
}

/// A constant of FLOAT32.
pub(crate) fn floats_constant(shape: &[i32], values: &[f32]) -> TestTensor {
    let data = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    float(shape).with_data(data)
}

/// A model as the bytes of a file.
pub(crate) fn finish(model: &write::Model) -> Vec<u8> {
    identified(Builder::new().finish(model, Some(*b"TFL3")))
}

/// Planus 1.3 writes the identifier before the root's offset, where the format has it after.
pub(crate) fn identified(written: &[u8]) -> Vec<u8> {
    assert_eq!(&written[..4], b"TFL3");
    let root = u32::from_le_bytes(written[4..8].try_into().unwrap());
    let mut bytes = (root + 4).to_le_bytes().to_vec();
    bytes.extend_from_slice(b"TFL3");
    bytes.extend_from_slice(&written[8..]);
    bytes
}
