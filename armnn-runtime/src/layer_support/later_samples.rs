//! Samples of layers that came with interface 1.2.

use armnn_backend_api::*;
use armnn_network::OutputDeclaration;

use super::samples::{Layer, Sample};

impl Sample {
    /// Descriptor, inputs and what is known of the outputs of a layer that came with 1.2.
    pub(super) fn later_layer(&mut self, layer_type: LayerType) -> Option<Layer> {
        let same = OutputDeclaration::default;
        let of_shape = |dims: &[i64]| Shape::new(dims).ok().map(OutputDeclaration::of_shape);
        let this = self.data_type;
        Some(match layer_type {
            LayerType::ArgMinMax => {
                let inputs = vec![Some(self.input(&[2, 3])?)];
                let d = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 1, false);
                (d.into(), inputs, vec![same()])
            }
            LayerType::BatchNormalization => {
                let inputs = vec![
                    Some(self.input(&[1, 3, 3, 2])?),
                    Some(self.input(&[2])?),
                    Some(self.input(&[2])?),
                    Some(self.input(&[2])?),
                    Some(self.input(&[2])?),
                ];
                let d = BatchNormalizationDescriptor {
                    epsilon: 0.001,
                    axis: 3,
                };
                (d.into(), inputs, vec![same()])
            }
            LayerType::BatchToSpaceNd => {
                let inputs = vec![Some(self.input(&[4, 2, 2, 1])?)];
                let d = BatchToSpaceNdDescriptor::new(1, &[2, 2])?;
                (d.into(), inputs, vec![same()])
            }
            LayerType::BitCast => {
                let inputs = vec![Some(self.input(&[4])?)];
                let d = BitCastDescriptor::new();
                (d.into(), inputs, vec![OutputDeclaration::of_type(this)])
            }
            LayerType::BroadcastTo => {
                let inputs = vec![Some(self.input(&[2])?)];
                let d = BroadcastToDescriptor::new();
                (d.into(), inputs, vec![of_shape(&[3, 2])?])
            }
            LayerType::Bucketize => {
                let inputs = vec![Some(self.input(&[4])?), Some(self.input(&[3])?)];
                let d = BucketizeDescriptor::new();
                (d.into(), inputs, vec![same()])
            }
            LayerType::Col2Im => {
                let inputs = vec![Some(self.input(&[1, 4, 4])?)];
                let d = Col2ImDescriptor::new(&[2, 2])?;
                (d.into(), inputs, vec![of_shape(&[1, 1, 3, 3])?])
            }
            LayerType::Compress => {
                let inputs = vec![
                    Some(self.input(&[3, 2])?),
                    Some(self.input_of(DataType::Boolean, &[3])?),
                ];
                let d = CompressDescriptor::new(Some(0));
                (d.into(), inputs, vec![same()])
            }
            LayerType::Convolution3d => {
                let inputs = vec![
                    Some(self.input(&[1, 3, 3, 3, 2])?),
                    Some(self.weights(&[1, 1, 1, 2, 2])?),
                ];
                let d = Convolution3dDescriptor::new(DataLayout::Ndhwc);
                (d.into(), inputs, vec![same()])
            }
            LayerType::Cumulative => {
                let inputs = vec![Some(self.input(&[2, 3])?)];
                let d = CumulativeDescriptor::new(CumulativeOperation::Sum, 1);
                (d.into(), inputs, vec![same()])
            }
            LayerType::DeformConv => {
                let inputs = vec![
                    Some(self.input(&[1, 2, 3, 3])?),
                    Some(self.input(&[2, 2, 1, 1])?),
                    Some(self.input(&[1, 2, 3, 3])?),
                ];
                let d = DeformConvDescriptor::new();
                (d.into(), inputs, vec![same()])
            }
            LayerType::DepthToSpace => {
                let inputs = vec![Some(self.input(&[1, 2, 2, 4])?)];
                let d = DepthToSpaceDescriptor::new(2, DepthToSpaceMode::Dcr, DataLayout::Nhwc);
                (d.into(), inputs, vec![same()])
            }
            LayerType::Det => {
                let inputs = vec![Some(self.input(&[2, 3, 3])?)];
                let d = DetDescriptor::new();
                (d.into(), inputs, vec![same()])
            }
            LayerType::DetectionPostProcess => {
                let inputs = vec![
                    Some(self.input(&[1, 3, 4])?),
                    Some(self.input(&[1, 3, 3])?),
                    Some(self.input(&[3, 4])?),
                ];
                let d = DetectionPostProcessDescriptor {
                    max_detections: 2,
                    max_classes_per_detection: 1,
                    detections_per_class: 2,
                    num_classes: 2,
                    use_regular_nms: 0,
                    nms_score_threshold: 0.0,
                    nms_iou_threshold: 0.5,
                    scale_x: 1.0,
                    scale_y: 1.0,
                    scale_w: 1.0,
                    scale_h: 1.0,
                };
                (d.into(), inputs, vec![same(), same(), same(), same()])
            }
            LayerType::Dft => {
                let inputs = vec![Some(self.input(&[1, 4, 1])?)];
                let d = DftDescriptor::new(1);
                (d.into(), inputs, vec![same()])
            }
            LayerType::DynamicUpdateSlice => {
                let inputs = vec![
                    Some(self.input(&[4, 2])?),
                    Some(self.input(&[2, 2])?),
                    Some(self.input_of(DataType::Signed32, &[2])?),
                ];
                let d = DynamicUpdateSliceDescriptor::new();
                (d.into(), inputs, vec![same()])
            }
            LayerType::Fill => {
                let inputs = vec![Some(self.input(&[])?)];
                let d = FillDescriptor::new();
                (d.into(), inputs, vec![of_shape(&[2, 2])?])
            }
            LayerType::GatherElements => {
                let inputs = vec![
                    Some(self.input(&[2, 3])?),
                    Some(self.input_of(DataType::Signed32, &[2, 2])?),
                ];
                let d = GatherElementsDescriptor { axis: 1 };
                (d.into(), inputs, vec![same()])
            }
            LayerType::GatherNd => {
                let inputs = vec![
                    Some(self.input(&[4, 2])?),
                    Some(self.input_of(DataType::Signed32, &[3, 1])?),
                ];
                let d = GatherNdDescriptor { batch_dims: 0 };
                (d.into(), inputs, vec![same()])
            }
            LayerType::GridSample => {
                let inputs = vec![
                    Some(self.input(&[1, 2, 3, 3])?),
                    Some(self.input(&[1, 2, 2, 2])?),
                ];
                let d = GridSampleDescriptor::new(
                    InterpolationMethod::Linear,
                    GridPadding::Zeros,
                    false,
                );
                (d.into(), inputs, vec![same()])
            }
            LayerType::Gru => {
                let inputs = vec![
                    Some(self.input(&[3, 1, 2])?),
                    Some(self.input(&[1, 6, 2])?),
                    Some(self.input(&[1, 6, 2])?),
                ];
                let d = GruDescriptor::new(2);
                (d.into(), inputs, vec![same(), same()])
            }
            LayerType::InstanceNormalization => {
                let inputs = vec![Some(self.input(&[1, 3, 3, 2])?)];
                let d = InstanceNormalizationDescriptor::new(0.001, 3);
                (d.into(), inputs, vec![same()])
            }
            LayerType::Interpolate => {
                let inputs = vec![Some(self.input(&[1, 2, 3])?)];
                let d = InterpolateDescriptor::new(
                    InterpolationMethod::Linear,
                    CoordinateTransformation::HalfPixel,
                    3,
                )?;
                (d.into(), inputs, vec![of_shape(&[1, 4, 6])?])
            }
            LayerType::L2Normalization => {
                let inputs = vec![Some(self.input(&[2, 3])?)];
                let d = L2NormalizationDescriptor {
                    epsilon: 1e-12,
                    axis: 1,
                };
                (d.into(), inputs, vec![same()])
            }
            LayerType::LayerNormalization => {
                let inputs = vec![Some(self.input(&[2, 3])?)];
                let d = LayerNormalizationDescriptor::new(0.001, 1);
                (d.into(), inputs, vec![same()])
            }
            LayerType::LogicalBinary => {
                let inputs = vec![Some(self.input(&[4])?), Some(self.input(&[4])?)];
                let d = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalAnd);
                (d.into(), inputs, vec![same()])
            }
            LayerType::LogSoftmax => {
                let inputs = vec![Some(self.input(&[1, 4])?)];
                let d = LogSoftmaxDescriptor { beta: 1.0, axis: 1 };
                (d.into(), inputs, vec![same()])
            }
            LayerType::Lstm => {
                let inputs = vec![
                    Some(self.input(&[3, 1, 2])?),
                    Some(self.input(&[1, 8, 2])?),
                    Some(self.input(&[1, 8, 2])?),
                ];
                let d = LstmDescriptor::new(2);
                (d.into(), inputs, vec![same(), same(), same()])
            }
            LayerType::MaxPoolWithIndices => {
                let inputs = vec![Some(self.input(&[1, 2, 4, 4])?)];
                let d = MaxPoolWithIndicesDescriptor::new(&[2, 2])?;
                (d.into(), inputs, vec![same(), same()])
            }
            LayerType::NonMaxSuppression => {
                let inputs = vec![Some(self.input(&[1, 3, 4])?), Some(self.input(&[1, 1, 3])?)];
                let d = NonMaxSuppressionDescriptor {
                    center_point_box: 0,
                };
                (d.into(), inputs, vec![same()])
            }
            LayerType::NonMaxSuppressionPadded => {
                let inputs = vec![Some(self.input(&[3, 4])?), Some(self.input(&[3])?)];
                let d = NonMaxSuppressionPaddedDescriptor::new();
                (d.into(), inputs, vec![of_shape(&[2])?, same(), same()])
            }
            LayerType::NonZero => {
                let inputs = vec![Some(self.input(&[2, 3])?)];
                let d = NonZeroDescriptor::new();
                (d.into(), inputs, vec![same()])
            }
            LayerType::Normalization => {
                let inputs = vec![Some(self.input(&[1, 2, 2, 4])?)];
                let d = NormalizationDescriptor {
                    channel_type: NormalizationAlgorithmChannel::Across.0,
                    norm_size: 3,
                    alpha: 1.0,
                    beta: 0.75,
                    k: 1.0,
                    axis: 3,
                };
                (d.into(), inputs, vec![same()])
            }
            LayerType::OneHot => {
                let inputs = vec![
                    Some(self.input_of(DataType::Signed32, &[3])?),
                    Some(self.input(&[])?),
                    Some(self.input(&[])?),
                ];
                let d = OneHotDescriptor {
                    axis: 1,
                    wrap_negative: 0,
                };
                (d.into(), inputs, vec![of_shape(&[3, 4])?])
            }
            LayerType::Pooling3d => {
                let inputs = vec![Some(self.input(&[1, 4, 4, 4, 2])?)];
                let d =
                    Pooling3dDescriptor::new(PoolingAlgorithm::Max, [2, 2, 2], DataLayout::Ndhwc);
                (d.into(), inputs, vec![same()])
            }
            LayerType::Range => {
                let inputs = vec![
                    Some(self.input(&[])?),
                    Some(self.input(&[])?),
                    Some(self.input(&[])?),
                ];
                let d = RangeDescriptor::new();
                (d.into(), inputs, vec![same()])
            }
            LayerType::ReverseSequence => {
                let inputs = vec![
                    Some(self.input(&[2, 3])?),
                    Some(self.input_of(DataType::Signed32, &[2])?),
                ];
                let d = ReverseSequenceDescriptor {
                    sequence_axis: 1,
                    batch_axis: 0,
                };
                (d.into(), inputs, vec![same()])
            }
            LayerType::ReverseV2 => {
                let inputs = vec![Some(self.input(&[2, 3])?)];
                let d = ReverseV2Descriptor::new(&[1])?;
                (d.into(), inputs, vec![same()])
            }
            LayerType::Rnn => {
                let inputs = vec![
                    Some(self.input(&[3, 1, 2])?),
                    Some(self.input(&[1, 2, 2])?),
                    Some(self.input(&[1, 2, 2])?),
                ];
                let d = RnnDescriptor::new(2);
                (d.into(), inputs, vec![same(), same()])
            }
            LayerType::RoiAlign => {
                let inputs = vec![
                    Some(self.input(&[1, 2, 4, 4])?),
                    Some(self.input(&[3, 4])?),
                    Some(self.input_of(DataType::Signed64, &[3])?),
                ];
                let d = RoiAlignDescriptor::new(2, 2, 1.0);
                (d.into(), inputs, vec![same()])
            }
            LayerType::ScatterElements => {
                let inputs = vec![
                    Some(self.input(&[2, 3])?),
                    Some(self.input_of(DataType::Signed32, &[2, 2])?),
                    Some(self.input(&[2, 2])?),
                ];
                let d = ScatterElementsDescriptor::new(1, ScatterFunction::Update);
                (d.into(), inputs, vec![same()])
            }
            LayerType::ScatterNd => {
                let inputs = vec![
                    Some(self.input(&[4, 2])?),
                    Some(self.input_of(DataType::Signed32, &[3, 1])?),
                    Some(self.input(&[3, 2])?),
                ];
                let d = ScatterNdDescriptor::new(ScatterFunction::Update);
                (d.into(), inputs, vec![same()])
            }
            LayerType::Select => {
                let inputs = vec![
                    Some(self.input_of(DataType::Boolean, &[4])?),
                    Some(self.input(&[4])?),
                    Some(self.input(&[4])?),
                ];
                let d = SelectDescriptor::new();
                (d.into(), inputs, vec![same()])
            }
            LayerType::SpaceToBatchNd => {
                let inputs = vec![Some(self.input(&[1, 4, 4, 1])?)];
                let d = SpaceToBatchNdDescriptor::new(1, &[2, 2])?;
                (d.into(), inputs, vec![same()])
            }
            LayerType::SpaceToDepth => {
                let inputs = vec![Some(self.input(&[1, 4, 4, 1])?)];
                let d = SpaceToDepthDescriptor::new(2, DataLayout::Nhwc);
                (d.into(), inputs, vec![same()])
            }
            LayerType::Stack => {
                let inputs = vec![Some(self.input(&[2])?), Some(self.input(&[2])?)];
                let d = StackDescriptor { axis: 0 };
                (d.into(), inputs, vec![same()])
            }
            LayerType::Tile => {
                let inputs = vec![Some(self.input(&[2, 2])?)];
                let d = TileDescriptor::new(&[2, 1])?;
                (d.into(), inputs, vec![same()])
            }
            LayerType::TopK => {
                let inputs = vec![Some(self.input(&[2, 4])?)];
                let d = TopKDescriptor::new(1, true);
                (d.into(), inputs, vec![of_shape(&[2, 2])?, same()])
            }
            LayerType::TransposeConvolution2d => {
                let inputs = vec![
                    Some(self.input(&[1, 3, 3, 2])?),
                    Some(self.weights(&[2, 2, 2, 2])?),
                ];
                let d = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
                (d.into(), inputs, vec![same()])
            }
            LayerType::TransposeConvolution3d => {
                let inputs = vec![
                    Some(self.input(&[1, 3, 3, 3, 2])?),
                    Some(self.weights(&[2, 2, 2, 2, 2])?),
                ];
                let d = TransposeConvolution3dDescriptor::new(DataLayout::Ndhwc);
                (d.into(), inputs, vec![same()])
            }
            LayerType::Trilu => {
                let inputs = vec![Some(self.input(&[3, 3])?)];
                let d = TriluDescriptor { upper: 1 };
                (d.into(), inputs, vec![same()])
            }
            LayerType::UnidirectionalSequenceLstm => return self.lstm(),
            LayerType::Unique => {
                let inputs = vec![Some(self.input(&[4])?)];
                let d = UniqueDescriptor::new(None, true);
                (d.into(), inputs, vec![same(), same(), same(), same()])
            }
            // One that came later still, and has no sample yet.
            _ => return None,
        })
    }

    /// All of one type; of 8 bits, with weights, cells and biases of the types that go with them.
    fn lstm(&mut self) -> Option<Layer> {
        let has_8_bits = self.data_type.is_quantized() && self.data_type.size() == Some(1);
        let mut inputs = vec![Some(self.input(&[1, 3, 2])?)];
        for _ in 0..8 {
            inputs.push(Some(match has_8_bits {
                true => self.quantized_input(DataType::QSymmS8, 0.5, &[2, 2])?,
                false => self.input(&[2, 2])?,
            }));
        }
        inputs.extend([None; 3]);
        for _ in 0..4 {
            inputs.push(Some(match has_8_bits {
                true => self.input_of(DataType::Signed32, &[2])?,
                false => self.input(&[2])?,
            }));
        }
        inputs.extend([None; 2]);
        inputs.push(Some(self.input(&[1, 2])?));
        inputs.push(Some(match has_8_bits {
            true => self.quantized_input(DataType::QSymmS16, 2f32.powi(-11), &[1, 2])?,
            false => self.input(&[1, 2])?,
        }));
        let mut d = UnidirectionalSequenceLstmDescriptor::new(false);
        d.hidden_state_scale = 0.5;
        Some((d.into(), inputs, vec![OutputDeclaration::default(); 3]))
    }
}
