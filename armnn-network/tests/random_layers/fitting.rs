//! A layer of each type that fits its inputs.

use armnn_backend_api::*;
use armnn_network::OutputDeclaration;

/// Descriptor, inputs, and what is said of the outputs.
pub type Fitting = (
    LayerDescriptor,
    Vec<Option<TensorInfo>>,
    Vec<OutputDeclaration>,
);

/// A layer that fits its inputs, of a type that is hardly ever hit by chance.
pub fn fitting(layer_type: LayerType) -> Option<Fitting> {
    let tensor = |data_type, dims: &[i64]| {
        let shape = Shape::new(dims).unwrap();
        Some(TensorInfo::new(data_type, shape))
    };
    let f32 = |dims: &[i64]| tensor(DataType::Float32, dims);
    Some(match layer_type {
        LayerType::Pooling2d => {
            let d = Pooling2dDescriptor::new(PoolingAlgorithm::Max, 2, 2, DataLayout::Nhwc);
            (d.into(), vec![f32(&[1, 4, 4, 2])], vec![])
        }
        LayerType::Convolution2d => {
            let d = Convolution2dDescriptor::new(DataLayout::Nhwc);
            let inputs = [&[1, 3, 3, 2], &[4, 2, 2, 2]];
            (d.into(), inputs.map(|i| f32(i)).into(), vec![])
        }
        LayerType::DepthwiseConvolution2d => {
            let d = DepthwiseConvolution2dDescriptor::new(DataLayout::Nhwc);
            let inputs = [&[1, 3, 3, 2], &[1, 2, 2, 4]];
            (d.into(), inputs.map(|i| f32(i)).into(), vec![])
        }
        LayerType::FullyConnected => {
            let inputs = [&[3, 2], &[4, 2]];
            let inputs = inputs.map(|i| f32(i)).into();
            (FullyConnectedDescriptor::new(true).into(), inputs, vec![])
        }
        LayerType::ArgMinMax => {
            let d = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 1, false);
            (d.into(), vec![f32(&[2, 3])], vec![])
        }
        LayerType::BatchNormalization => {
            let d = BatchNormalizationDescriptor {
                epsilon: 0.001,
                axis: 3,
            };
            (
                d.into(),
                vec![
                    f32(&[1, 3, 3, 2]),
                    f32(&[2]),
                    f32(&[2]),
                    f32(&[2]),
                    f32(&[2]),
                ],
                vec![],
            )
        }
        LayerType::BatchToSpaceNd => {
            let d = BatchToSpaceNdDescriptor::new(1, &[2, 2])?;
            (d.into(), vec![f32(&[4, 2, 2, 1])], vec![])
        }
        LayerType::BitCast => {
            let d = BitCastDescriptor::new();
            (
                d.into(),
                vec![f32(&[4])],
                vec![OutputDeclaration::of_type(DataType::Signed32)],
            )
        }
        LayerType::BroadcastTo => {
            let d = BroadcastToDescriptor::new();
            (
                d.into(),
                vec![f32(&[2])],
                vec![OutputDeclaration::of_shape([3, 2])],
            )
        }
        LayerType::Bucketize => {
            let d = BucketizeDescriptor::new();
            (d.into(), vec![f32(&[4]), f32(&[3])], vec![])
        }
        LayerType::Col2Im => {
            let d = Col2ImDescriptor::new(&[2, 2])?;
            (
                d.into(),
                vec![f32(&[1, 4, 4])],
                vec![OutputDeclaration::of_shape([1, 1, 3, 3])],
            )
        }
        LayerType::Compress => {
            let d = CompressDescriptor::new(Some(0));
            (
                d.into(),
                vec![f32(&[3, 2]), tensor(DataType::Boolean, &[3])],
                vec![],
            )
        }
        LayerType::Convolution3d => {
            let d = Convolution3dDescriptor::new(DataLayout::Ndhwc);
            (
                d.into(),
                vec![f32(&[1, 3, 3, 3, 2]), f32(&[1, 1, 1, 2, 2])],
                vec![],
            )
        }
        LayerType::Cumulative => {
            let d = CumulativeDescriptor::new(CumulativeOperation::Sum, 1);
            (d.into(), vec![f32(&[2, 3])], vec![])
        }
        LayerType::DeformConv => {
            let d = DeformConvDescriptor::new();
            (
                d.into(),
                vec![f32(&[1, 2, 3, 3]), f32(&[2, 2, 1, 1]), f32(&[1, 2, 3, 3])],
                vec![],
            )
        }
        LayerType::DepthToSpace => {
            let d = DepthToSpaceDescriptor::new(2, DepthToSpaceMode::Dcr, DataLayout::Nhwc);
            (d.into(), vec![f32(&[1, 2, 2, 4])], vec![])
        }
        LayerType::Det => {
            let d = DetDescriptor::new();
            (d.into(), vec![f32(&[2, 3, 3])], vec![])
        }
        LayerType::DetectionPostProcess => {
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
            (
                d.into(),
                vec![f32(&[1, 3, 4]), f32(&[1, 3, 3]), f32(&[3, 4])],
                vec![],
            )
        }
        LayerType::Dft => {
            let d = DftDescriptor::new(1);
            (d.into(), vec![f32(&[1, 4, 1])], vec![])
        }
        LayerType::DynamicUpdateSlice => {
            let d = DynamicUpdateSliceDescriptor::new();
            (
                d.into(),
                vec![f32(&[4, 2]), f32(&[2, 2]), tensor(DataType::Signed32, &[2])],
                vec![],
            )
        }
        LayerType::Fill => {
            let d = FillDescriptor::new();
            (
                d.into(),
                vec![f32(&[])],
                vec![OutputDeclaration::of_shape([2, 2])],
            )
        }
        LayerType::GatherElements => {
            let d = GatherElementsDescriptor { axis: 1 };
            (
                d.into(),
                vec![f32(&[2, 3]), tensor(DataType::Signed32, &[2, 2])],
                vec![],
            )
        }
        LayerType::GatherNd => {
            let d = GatherNdDescriptor { batch_dims: 0 };
            (
                d.into(),
                vec![f32(&[4, 2]), tensor(DataType::Signed32, &[3, 1])],
                vec![],
            )
        }
        LayerType::GridSample => {
            let d =
                GridSampleDescriptor::new(InterpolationMethod::Linear, GridPadding::Zeros, false);
            (
                d.into(),
                vec![f32(&[1, 2, 3, 3]), f32(&[1, 2, 2, 2])],
                vec![],
            )
        }
        LayerType::Gru => {
            let d = GruDescriptor::new(2);
            (
                d.into(),
                vec![f32(&[3, 1, 2]), f32(&[1, 6, 2]), f32(&[1, 6, 2])],
                vec![],
            )
        }
        LayerType::InstanceNormalization => {
            let d = InstanceNormalizationDescriptor::new(0.001, 3);
            (d.into(), vec![f32(&[1, 3, 3, 2])], vec![])
        }
        LayerType::Interpolate => {
            let d = InterpolateDescriptor::new(
                InterpolationMethod::Linear,
                CoordinateTransformation::HalfPixel,
                3,
            )?;
            (
                d.into(),
                vec![f32(&[1, 2, 3])],
                vec![OutputDeclaration::of_shape([1, 4, 6])],
            )
        }
        LayerType::L2Normalization => {
            let d = L2NormalizationDescriptor {
                epsilon: 1e-12,
                axis: 1,
            };
            (d.into(), vec![f32(&[2, 3])], vec![])
        }
        LayerType::LayerNormalization => {
            let d = LayerNormalizationDescriptor::new(0.001, 1);
            (d.into(), vec![f32(&[2, 3])], vec![])
        }
        LayerType::LogicalBinary => {
            let d = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalAnd);
            (
                d.into(),
                vec![
                    tensor(DataType::Boolean, &[4]),
                    tensor(DataType::Boolean, &[4]),
                ],
                vec![],
            )
        }
        LayerType::LogSoftmax => {
            let d = LogSoftmaxDescriptor { beta: 1.0, axis: 1 };
            (d.into(), vec![f32(&[1, 4])], vec![])
        }
        LayerType::Lstm => {
            let d = LstmDescriptor::new(2);
            (
                d.into(),
                vec![f32(&[3, 1, 2]), f32(&[1, 8, 2]), f32(&[1, 8, 2])],
                vec![],
            )
        }
        LayerType::MaxPoolWithIndices => {
            let d = MaxPoolWithIndicesDescriptor::new(&[2, 2])?;
            (d.into(), vec![f32(&[1, 2, 4, 4])], vec![])
        }
        LayerType::NonMaxSuppression => {
            let d = NonMaxSuppressionDescriptor {
                center_point_box: 0,
            };
            (d.into(), vec![f32(&[1, 3, 4]), f32(&[1, 1, 3])], vec![])
        }
        LayerType::NonMaxSuppressionPadded => {
            let d = NonMaxSuppressionPaddedDescriptor::new();
            (
                d.into(),
                vec![f32(&[3, 4]), f32(&[3])],
                vec![OutputDeclaration::of_shape([2])],
            )
        }
        LayerType::NonZero => {
            let d = NonZeroDescriptor::new();
            (d.into(), vec![f32(&[2, 3])], vec![])
        }
        LayerType::Normalization => {
            let d = NormalizationDescriptor {
                channel_type: NormalizationAlgorithmChannel::Across.0,
                norm_size: 3,
                alpha: 1.0,
                beta: 0.75,
                k: 1.0,
                axis: 3,
            };
            (d.into(), vec![f32(&[1, 2, 2, 4])], vec![])
        }
        LayerType::OneHot => {
            let d = OneHotDescriptor {
                axis: 1,
                wrap_negative: 0,
            };
            (
                d.into(),
                vec![tensor(DataType::Signed32, &[3]), f32(&[]), f32(&[])],
                vec![OutputDeclaration::of_shape([3, 4])],
            )
        }
        LayerType::Pooling3d => {
            let d = Pooling3dDescriptor::new(PoolingAlgorithm::Max, [2, 2, 2], DataLayout::Ndhwc);
            (d.into(), vec![f32(&[1, 4, 4, 4, 2])], vec![])
        }
        LayerType::Range => {
            let d = RangeDescriptor::new();
            (d.into(), vec![f32(&[]), f32(&[]), f32(&[])], vec![])
        }
        LayerType::ReverseSequence => {
            let d = ReverseSequenceDescriptor {
                sequence_axis: 1,
                batch_axis: 0,
            };
            (
                d.into(),
                vec![f32(&[2, 3]), tensor(DataType::Signed32, &[2])],
                vec![],
            )
        }
        LayerType::ReverseV2 => {
            let d = ReverseV2Descriptor::new(&[1])?;
            (d.into(), vec![f32(&[2, 3])], vec![])
        }
        LayerType::Rnn => {
            let d = RnnDescriptor::new(2);
            (
                d.into(),
                vec![f32(&[3, 1, 2]), f32(&[1, 2, 2]), f32(&[1, 2, 2])],
                vec![],
            )
        }
        LayerType::RoiAlign => {
            let d = RoiAlignDescriptor::new(2, 2, 1.0);
            (
                d.into(),
                vec![
                    f32(&[1, 2, 4, 4]),
                    f32(&[3, 4]),
                    tensor(DataType::Signed64, &[3]),
                ],
                vec![],
            )
        }
        LayerType::ScatterElements => {
            let d = ScatterElementsDescriptor::new(1, ScatterFunction::Update);
            (
                d.into(),
                vec![
                    f32(&[2, 3]),
                    tensor(DataType::Signed32, &[2, 2]),
                    f32(&[2, 2]),
                ],
                vec![],
            )
        }
        LayerType::ScatterNd => {
            let d = ScatterNdDescriptor::new(ScatterFunction::Update);
            (
                d.into(),
                vec![
                    f32(&[4, 2]),
                    tensor(DataType::Signed32, &[3, 1]),
                    f32(&[3, 2]),
                ],
                vec![],
            )
        }
        LayerType::Select => {
            let d = SelectDescriptor::new();
            (
                d.into(),
                vec![tensor(DataType::Boolean, &[4]), f32(&[4]), f32(&[4])],
                vec![],
            )
        }
        LayerType::SpaceToBatchNd => {
            let d = SpaceToBatchNdDescriptor::new(1, &[2, 2])?;
            (d.into(), vec![f32(&[1, 4, 4, 1])], vec![])
        }
        LayerType::SpaceToDepth => {
            let d = SpaceToDepthDescriptor::new(2, DataLayout::Nhwc);
            (d.into(), vec![f32(&[1, 4, 4, 1])], vec![])
        }
        LayerType::Stack => {
            let d = StackDescriptor { axis: 0 };
            (d.into(), vec![f32(&[2]), f32(&[2])], vec![])
        }
        LayerType::Tile => {
            let d = TileDescriptor::new(&[2, 1])?;
            (d.into(), vec![f32(&[2, 2])], vec![])
        }
        LayerType::TopK => {
            let d = TopKDescriptor::new(1, true);
            (
                d.into(),
                vec![f32(&[2, 4])],
                vec![OutputDeclaration::of_shape([2, 2])],
            )
        }
        LayerType::TransposeConvolution2d => {
            let d = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
            (
                d.into(),
                vec![f32(&[1, 3, 3, 2]), f32(&[2, 2, 2, 2])],
                vec![],
            )
        }
        LayerType::TransposeConvolution3d => {
            let d = TransposeConvolution3dDescriptor::new(DataLayout::Ndhwc);
            (
                d.into(),
                vec![f32(&[1, 3, 3, 3, 2]), f32(&[2, 2, 2, 2, 2])],
                vec![],
            )
        }
        LayerType::Trilu => {
            let d = TriluDescriptor { upper: 1 };
            (d.into(), vec![f32(&[3, 3])], vec![])
        }
        LayerType::UnidirectionalSequenceLstm => {
            let d = UnidirectionalSequenceLstmDescriptor::new(false);
            (
                d.into(),
                vec![
                    f32(&[1, 3, 2]),
                    f32(&[2, 2]),
                    f32(&[2, 2]),
                    f32(&[2, 2]),
                    f32(&[2, 2]),
                    f32(&[2, 2]),
                    f32(&[2, 2]),
                    f32(&[2, 2]),
                    f32(&[2, 2]),
                    None,
                    None,
                    None,
                    f32(&[2]),
                    f32(&[2]),
                    f32(&[2]),
                    f32(&[2]),
                    None,
                    None,
                    f32(&[1, 2]),
                    f32(&[1, 2]),
                ],
                vec![],
            )
        }
        LayerType::Unique => {
            let d = UniqueDescriptor::new(None, true);
            (d.into(), vec![f32(&[4])], vec![])
        }
        _ => return None,
    })
}
