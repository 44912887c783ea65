//! A small network with one plain layer of each type.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BatchMatMulDescriptor, BinaryOperation,
    CastDescriptor, ComparisonDescriptor, ComparisonOperation, ConcatDescriptor,
    Convolution2dDescriptor, DataLayout, DataType, DepthwiseConvolution2dDescriptor,
    DequantizeDescriptor, ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor,
    FullyConnectedDescriptor, GatherDescriptor, LayerDescriptor, LayerType, PadDescriptor,
    PaddingMode, Pooling2dDescriptor, PoolingAlgorithm, PreluDescriptor, Quantization,
    QuantizeDescriptor, ReduceDescriptor, ReduceOperation, ReshapeDescriptor, ResizeDescriptor,
    ResizeMethod, SoftmaxDescriptor, SplitDescriptor, StridedSliceDescriptor, TensorInfo,
    TransposeDescriptor, UnaryOperation,
};
use armnn_network::{Network, NetworkBuilder, OutputDeclaration, TensorId};

/// A network with one layer of `layer_type` that computes on `data_type`; `None` where the layer
/// cannot be of that type at all.
///
/// Quantized outputs have a scale, as those of models have.
pub(super) fn network(layer_type: LayerType, data_type: DataType) -> Option<Network> {
    let sample = || Sample {
        builder: NetworkBuilder::new(),
        data_type,
    };
    // Which outputs are quantized, and have no scale by the layer, the builder knows: all, or the
    // first beside indices.
    let scale = || Some(Quantization::per_tensor(0.5, 0));
    let candidates = match data_type.is_quantized() {
        true => vec![vec![], vec![scale(); 4], vec![scale()]],
        false => vec![vec![]],
    };
    let mut networks = candidates.iter();
    networks.find_map(|scales| sample().network(layer_type, scales))
}

pub(super) struct Sample {
    builder: NetworkBuilder,
    pub(super) data_type: DataType,
}

impl Sample {
    /// With these scales of its outputs.
    fn network(
        mut self,
        layer_type: LayerType,
        scales: &[Option<Quantization>],
    ) -> Option<Network> {
        let (descriptor, inputs, mut outputs) = match self.layer(layer_type) {
            Some((descriptor, inputs, outputs)) => {
                (descriptor, inputs.into_iter().map(Some).collect(), outputs)
            }
            None => self.later_layer(layer_type)?,
        };
        for (output, scale) in outputs.iter_mut().zip(scales) {
            output.quantization = scale.clone().or(output.quantization.take());
        }
        let outputs = self
            .builder
            .add_layer("layer", descriptor, &inputs, &outputs)
            .ok()?;
        for (index, output) in outputs.into_iter().enumerate() {
            let name = format!("output{index}");
            self.builder.add_output_layer(&name, output).ok()?;
        }
        self.builder.finish().ok()
    }

    fn layer(
        &mut self,
        layer_type: LayerType,
    ) -> Option<(LayerDescriptor, Vec<TensorId>, Vec<OutputDeclaration>)> {
        let nhwc = DataLayout::Nhwc;
        let same = || vec![OutputDeclaration::default()];
        Some(match layer_type {
            LayerType::Activation => {
                let relu = ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0);
                (relu.into(), vec![self.input(&[1, 4])?], same())
            }
            LayerType::BatchMatMul => {
                let inputs = vec![self.input(&[2, 3])?, self.input(&[3, 2])?];
                (
                    BatchMatMulDescriptor::new(false, false).into(),
                    inputs,
                    same(),
                )
            }
            LayerType::Cast => {
                let to = match self.data_type {
                    DataType::Float32 => DataType::Signed32,
                    _ => DataType::Float32,
                };
                let output = vec![OutputDeclaration::of_type(to)];
                (
                    CastDescriptor::new().into(),
                    vec![self.input(&[4])?],
                    output,
                )
            }
            LayerType::Comparison => {
                let equal = ComparisonDescriptor::new(ComparisonOperation::Equal);
                (equal.into(), self.pair(&[4])?, same())
            }
            LayerType::Concat => {
                let concat = ConcatDescriptor { axis: 0 };
                (concat.into(), self.pair(&[2, 2])?, same())
            }
            LayerType::Convolution2d => {
                let inputs = vec![
                    self.input(&[1, 3, 3, 2])?,
                    self.constant_weights(&[2, 1, 1, 2])?,
                ];
                (Convolution2dDescriptor::new(nhwc).into(), inputs, same())
            }
            LayerType::DepthwiseConvolution2d => {
                let inputs = vec![
                    self.input(&[1, 3, 3, 2])?,
                    self.constant_weights(&[1, 1, 1, 2])?,
                ];
                let depthwise = DepthwiseConvolution2dDescriptor::new(nhwc);
                (depthwise.into(), inputs, same())
            }
            LayerType::Dequantize => {
                let output = vec![OutputDeclaration::of_type(DataType::Float32)];
                let inputs = vec![self.input(&[4])?];
                (DequantizeDescriptor::new().into(), inputs, output)
            }
            LayerType::ElementwiseBinary => {
                let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
                (add.into(), self.pair(&[4])?, same())
            }
            LayerType::ElementwiseUnary => {
                let operation = match self.data_type {
                    DataType::Boolean => UnaryOperation::LogicalNot,
                    _ => UnaryOperation::Abs,
                };
                let unary = ElementwiseUnaryDescriptor::new(operation);
                (unary.into(), vec![self.input(&[4])?], same())
            }
            LayerType::FullyConnected => {
                let inputs = vec![self.input(&[1, 4])?, self.constant_weights(&[2, 4])?];
                (FullyConnectedDescriptor::new(true).into(), inputs, same())
            }
            LayerType::Gather => {
                let indices = TensorInfo::new(DataType::Signed32, [2]);
                let indices = self.constant_of("indices", indices)?;
                let inputs = vec![self.input(&[4, 2])?, indices];
                (GatherDescriptor { axis: 0 }.into(), inputs, same())
            }
            LayerType::Pad => {
                let pad = PadDescriptor::new(PaddingMode::Constant, 0.0, &[1, 0], &[0, 1])?;
                (pad.into(), vec![self.input(&[2, 2])?], same())
            }
            LayerType::Pooling2d => {
                let pooling = Pooling2dDescriptor::new(PoolingAlgorithm::Max, 2, 2, nhwc);
                (pooling.into(), vec![self.input(&[1, 4, 4, 2])?], same())
            }
            LayerType::Prelu => {
                let inputs = vec![self.input(&[2, 2])?, self.constant(&[2])?];
                (PreluDescriptor::new().into(), inputs, same())
            }
            LayerType::Quantize => {
                let output = OutputDeclaration::of_type(self.data_type)
                    .quantized(Quantization::per_tensor(0.5, 0));
                let float = TensorInfo::new(DataType::Float32, [4]);
                let input = self.builder.add_input_layer("x", float).ok()?;
                (QuantizeDescriptor::new().into(), vec![input], vec![output])
            }
            LayerType::Reduce => {
                let sum = ReduceDescriptor::new(ReduceOperation::Sum, &[1], false)?;
                (sum.into(), vec![self.input(&[2, 3])?], same())
            }
            LayerType::Reshape => {
                let output = vec![OutputDeclaration::of_shape([2, 2])];
                let inputs = vec![self.input(&[4])?];
                (ReshapeDescriptor::new().into(), inputs, output)
            }
            LayerType::Resize => {
                let output = vec![OutputDeclaration::of_shape([1, 4, 4, 2])];
                let nearest = ResizeDescriptor::new(ResizeMethod::NearestNeighbor, nhwc);
                (nearest.into(), vec![self.input(&[1, 2, 2, 2])?], output)
            }
            LayerType::Softmax => {
                let softmax = SoftmaxDescriptor { beta: 1.0, axis: 1 };
                (softmax.into(), vec![self.input(&[1, 4])?], same())
            }
            LayerType::Split => {
                let output = OutputDeclaration::of_shape([1, 2]);
                let inputs = vec![self.input(&[2, 2])?];
                let outputs = vec![output.clone(), output];
                (SplitDescriptor { axis: 0 }.into(), inputs, outputs)
            }
            LayerType::StridedSlice => {
                let slice = StridedSliceDescriptor::new(&[0], &[4], &[2])?;
                (slice.into(), vec![self.input(&[4])?], same())
            }
            LayerType::Transpose => {
                let transpose = TransposeDescriptor::new(&[1, 0])?;
                (transpose.into(), vec![self.input(&[2, 3])?], same())
            }
            _ => return None,
        })
    }

    /// A tensor of the sample's type, quantized where it has to be.
    fn info(&self, dims: &[i64]) -> Option<TensorInfo> {
        let shape = armnn_backend_api::Shape::new(dims).ok()?;
        let info = TensorInfo::new(self.data_type, shape);
        Some(match self.data_type.is_quantized() {
            true => info.quantized(Quantization::per_tensor(0.5, 0)),
            false => info,
        })
    }

    pub(super) fn input(&mut self, dims: &[i64]) -> Option<TensorId> {
        let info = self.info(dims)?;
        self.builder.add_input_layer("x", info).ok()
    }

    pub(super) fn quantized_input(
        &mut self,
        data_type: DataType,
        scale: f32,
        dims: &[i64],
    ) -> Option<TensorId> {
        let shape = armnn_backend_api::Shape::new(dims).ok()?;
        let info = TensorInfo::new(data_type, shape).quantized(Quantization::per_tensor(scale, 0));
        self.builder.add_input_layer("x", info).ok()
    }

    pub(super) fn input_of(&mut self, data_type: DataType, dims: &[i64]) -> Option<TensorId> {
        let shape = armnn_backend_api::Shape::new(dims).ok()?;
        let info = TensorInfo::new(data_type, shape);
        self.builder.add_input_layer("x", info).ok()
    }

    fn pair(&mut self, dims: &[i64]) -> Option<Vec<TensorId>> {
        Some(vec![self.input(dims)?, self.input(dims)?])
    }

    fn constant_weights(&mut self, dims: &[i64]) -> Option<TensorId> {
        let info = self.weights_info(dims)?;
        self.constant_of("constant", info)
    }

    pub(super) fn weights(&mut self, dims: &[i64]) -> Option<TensorId> {
        let info = self.weights_info(dims)?;
        self.builder.add_input_layer("x", info).ok()
    }

    /// Weights of the sample's type; those of activations of 16 bits have 8.
    fn weights_info(&self, dims: &[i64]) -> Option<TensorInfo> {
        let mut info = self.info(dims)?;
        if info.data_type == DataType::QSymmS16 {
            info.data_type = DataType::QSymmS8;
        }
        Some(info)
    }

    fn constant(&mut self, dims: &[i64]) -> Option<TensorId> {
        let info = self.info(dims)?;
        self.constant_of("constant", info)
    }

    /// Zeros.
    fn constant_of(&mut self, name: &str, info: TensorInfo) -> Option<TensorId> {
        let zeros = vec![0; info.byte_len()?];
        self.builder
            .add_constant_layer(name, info, zeros.into())
            .ok()
    }
}

/// Descriptor, inputs, and what is known of the outputs.
pub(super) type Layer = (
    LayerDescriptor,
    Vec<Option<TensorId>>,
    Vec<OutputDeclaration>,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_layer_has_a_sample_of_a_type_that_it_can_have() {
        for &layer_type in LayerType::ALL {
            if layer_type == LayerType::StandIn {
                continue;
            }
            let types: Vec<DataType> = DataType::ALL
                .iter()
                .copied()
                .filter(|data_type| network(layer_type, *data_type).is_some())
                .collect();
            assert!(!types.is_empty(), "{layer_type}");
            // Quantized numbers are what these two are about.
            let about_quantized = [LayerType::Quantize, LayerType::Dequantize];
            let expected = match layer_type {
                LayerType::LogicalBinary => DataType::Boolean,
                _ if about_quantized.contains(&layer_type) => DataType::QAsymmS8,
                _ => DataType::Float32,
            };
            assert!(types.contains(&expected), "{layer_type}: {types:?}");
        }
    }

    #[test]
    fn quantized_outputs_have_a_scale() {
        for layer_type in [LayerType::Softmax, LayerType::Convolution2d] {
            let network = network(layer_type, DataType::QAsymmS8).unwrap();
            let output = &network.tensor(network.outputs()[0].tensor).info;
            assert_eq!(output.quantization.scales(), [0.5], "{layer_type}");
        }
        let network = network(LayerType::ArgMinMax, DataType::QAsymmS8).unwrap();
        let output = &network.tensor(network.outputs()[0].tensor).info;
        assert!(output.quantization.is_none());
    }

    #[test]
    fn a_sample_is_one_layer_of_that_type() {
        let network = network(LayerType::Split, DataType::Float16).unwrap();
        assert_eq!(network.layers().len(), 1);
        assert_eq!(network.layers()[0].layer_type(), LayerType::Split);
        assert_eq!(network.outputs().len(), 2);
    }
}
