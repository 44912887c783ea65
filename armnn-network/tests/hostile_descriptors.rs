//! Whatever stands in a descriptor or a shape, the answer is a layer or an error.

use armnn_backend_api::*;
use armnn_network::{NetworkBuilder, OutputDeclaration, TensorId, infer_shapes};

/// Xorshift64: George Marsaglia, "Xorshift RNGs", 2003.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Mostly sensible, sometimes extreme.
    fn u32(&mut self) -> u32 {
        match self.below(12) {
            0 => self.pick(&[0, u32::MAX, u32::MAX - 1, 1 << 31, 9, 300]),
            _ => self.below(4) as u32,
        }
    }

    fn i64(&mut self) -> i64 {
        match self.below(12) {
            0 => self.pick(&[i64::MIN, i64::MAX, i64::MAX - 1, -1, -2, 0, 1 << 32]),
            _ => self.below(5) as i64,
        }
    }

    fn f32(&mut self) -> f32 {
        self.pick(&[1.0, 1.0, 1.0, 0.5, 0.0, -1.0, f32::NAN, f32::INFINITY, 1e30])
    }

    fn list<T: Copy + Default, const N: usize>(
        &mut self,
        mut next: impl FnMut(&mut Self) -> T,
    ) -> [T; N] {
        let mut list = [T::default(); N];
        list.fill_with(|| next(self));
        list
    }

    fn dim(&mut self) -> i64 {
        match self.below(16) {
            0 => self.pick(&[0, i64::MAX, 1 << 40, 1 << 62]),
            1 | 2 => Shape::UNKNOWN,
            _ => self.below(6) as i64 + 1,
        }
    }

    fn shape(&mut self) -> Shape {
        let rank = match self.below(3) {
            0 => self.below(9),
            _ => 4,
        };
        let dims: Vec<i64> = (0..rank).map(|_| self.dim()).collect();
        Shape::new(&dims).unwrap()
    }

    fn data_type(&mut self) -> DataType {
        match self.below(8) {
            0 => DataType(self.u32()),
            1 | 2 => self.pick(DataType::ALL),
            3 => DataType::QAsymmS8,
            _ => DataType::Float32,
        }
    }

    fn quantization(&mut self) -> Quantization {
        let count = self.pick(&[1, 1, 1, 2, 3]);
        Quantization::per_axis(
            self.u32() as i32,
            vec![self.pick(&[0.5, 0.5, 0.5, -1.0, f32::NAN]); count],
            vec![self.pick(&[0, 0, 0, 127, i32::MIN]); count],
        )
    }

    fn info(&mut self) -> TensorInfo {
        let info = TensorInfo::new(self.data_type(), self.shape());
        match info.data_type.is_quantized() || self.below(20) == 0 {
            true => info.quantized(self.quantization()),
            false => info,
        }
    }

    fn layout(&mut self) -> u32 {
        match self.below(10) {
            0 => self.u32(),
            _ => self.pick(&[1, 2]),
        }
    }

    fn volume_layout(&mut self) -> u32 {
        match self.below(10) {
            0 => self.u32(),
            _ => self.pick(&[3, 4]),
        }
    }

    fn descriptor(&mut self, layer_type: LayerType) -> LayerDescriptor {
        match layer_type {
            LayerType::Activation => ActivationDescriptor {
                function: self.u32(),
                a: f32::NAN,
                b: f32::INFINITY,
            }
            .into(),
            LayerType::BatchMatMul => BatchMatMulDescriptor {
                transpose_x: self.u32() as u8,
                transpose_y: self.u32() as u8,
                reserved: [1; 2],
            }
            .into(),
            LayerType::Cast => CastDescriptor::new().into(),
            LayerType::Comparison => ComparisonDescriptor {
                operation: self.u32(),
            }
            .into(),
            LayerType::Concat => ConcatDescriptor { axis: self.u32() }.into(),
            LayerType::Convolution2d => Convolution2dDescriptor {
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                stride_x: self.u32(),
                stride_y: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                groups: self.u32(),
                data_layout: self.layout(),
            }
            .into(),
            LayerType::DepthwiseConvolution2d => DepthwiseConvolution2dDescriptor {
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                stride_x: self.u32(),
                stride_y: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                data_layout: self.layout(),
            }
            .into(),
            LayerType::Dequantize => DequantizeDescriptor::new().into(),
            LayerType::ElementwiseBinary => ElementwiseBinaryDescriptor {
                operation: self.u32(),
            }
            .into(),
            LayerType::ElementwiseUnary => ElementwiseUnaryDescriptor {
                operation: self.u32(),
            }
            .into(),
            LayerType::FullyConnected => FullyConnectedDescriptor {
                transpose_weight_matrix: self.u32() as u8,
                reserved: [0; 3],
            }
            .into(),
            LayerType::Gather => GatherDescriptor { axis: self.u32() }.into(),
            LayerType::Pad => PadDescriptor {
                rank: self.pick(&[4, 4, 4, 0, 8, u32::MAX]),
                padding_mode: self.u32(),
                pad_value: f64::NAN,
                pad_before: self.list(Self::i64),
                pad_after: self.list(Self::i64),
            }
            .into(),
            LayerType::Pooling2d => Pooling2dDescriptor {
                pool_type: self.u32(),
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                pool_width: self.u32().saturating_add(2),
                pool_height: self.u32().saturating_add(2),
                stride_x: self.u32(),
                stride_y: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                output_shape_rounding: self.u32(),
                padding_method: self.u32(),
                data_layout: self.layout(),
            }
            .into(),
            LayerType::Prelu => PreluDescriptor::new().into(),
            LayerType::Quantize => QuantizeDescriptor::new().into(),
            LayerType::Reduce => ReduceDescriptor {
                operation: self.u32(),
                keep_dims: self.u32(),
                n_axes: self.u32(),
                axes: self.list(Self::u32),
            }
            .into(),
            LayerType::Reshape => ReshapeDescriptor::new().into(),
            LayerType::Resize => ResizeDescriptor {
                method: self.u32(),
                data_layout: self.layout(),
                align_corners: self.u32() as u8,
                half_pixel_centers: self.u32() as u8,
                reserved: [0; 2],
            }
            .into(),
            LayerType::Softmax => SoftmaxDescriptor {
                beta: f32::NAN,
                axis: self.u32(),
            }
            .into(),
            LayerType::Split => SplitDescriptor { axis: self.u32() }.into(),
            LayerType::StridedSlice => StridedSliceDescriptor {
                rank: self.pick(&[4, 4, 4, 0, 8, u32::MAX]),
                reserved: 7,
                begin: self.list(Self::i64),
                end: self.list(Self::i64),
                stride: self.list(Self::i64),
            }
            .into(),
            LayerType::Transpose => TransposeDescriptor {
                rank: self.pick(&[4, 4, 4, 0, 8, u32::MAX]),
                permutation: self.pick(&[
                    [0, 1, 2, 3, 0, 0, 0, 0],
                    [3, 1, 0, 2, 0, 0, 0, 0],
                    [0, 1, 2, u32::MAX, 0, 0, 0, 0],
                    [0, 0, 1, 2, 0, 0, 0, 0],
                ]),
            }
            .into(),
            LayerType::StandIn => {
                LayerDescriptor::StandIn(StandInDescriptor::new("d", "n", 1, &[1, 2]).unwrap())
            }
            LayerType::ArgMinMax => ArgMinMaxDescriptor {
                function: self.u32(),
                axis: self.u32(),
                keep_dims: self.u32(),
                select_last_index: self.u32(),
            }
            .into(),
            LayerType::BatchNormalization => BatchNormalizationDescriptor {
                epsilon: self.f32(),
                axis: self.u32(),
            }
            .into(),
            LayerType::BatchToSpaceNd => BatchToSpaceNdDescriptor {
                axis: self.u32(),
                n_axes: self.u32(),
                block_shape: self.list(Self::u32),
                crop_before: self.list(Self::u32),
                crop_after: self.list(Self::u32),
            }
            .into(),
            LayerType::BitCast => BitCastDescriptor::new().into(),
            LayerType::BroadcastTo => BroadcastToDescriptor::new().into(),
            LayerType::Bucketize => BucketizeDescriptor::new().into(),
            LayerType::Col2Im => Col2ImDescriptor {
                n_axes: self.u32(),
                block_shape: self.list(Self::u32),
                stride: self.list(Self::u32),
                dilation: self.list(Self::u32),
                pad_before: self.list(Self::u32),
                pad_after: self.list(Self::u32),
            }
            .into(),
            LayerType::Compress => CompressDescriptor {
                flatten: self.u32(),
                axis: self.u32(),
            }
            .into(),
            LayerType::Convolution3d => Convolution3dDescriptor {
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                pad_front: self.u32(),
                pad_back: self.u32(),
                stride_x: self.u32(),
                stride_y: self.u32(),
                stride_z: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                dilation_z: self.u32(),
                groups: self.u32(),
                data_layout: self.volume_layout(),
            }
            .into(),
            LayerType::Cumulative => CumulativeDescriptor {
                operation: self.u32(),
                axis: self.u32(),
                exclusive: self.u32(),
                reverse: self.u32(),
            }
            .into(),
            LayerType::DeformConv => DeformConvDescriptor {
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                stride_x: self.u32(),
                stride_y: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                groups: self.u32(),
                offset_groups: self.u32(),
            }
            .into(),
            LayerType::DepthToSpace => DepthToSpaceDescriptor {
                block_size: self.u32(),
                mode: self.u32(),
                data_layout: self.layout(),
            }
            .into(),
            LayerType::Det => DetDescriptor::new().into(),
            LayerType::DetectionPostProcess => DetectionPostProcessDescriptor {
                max_detections: self.u32(),
                max_classes_per_detection: self.u32(),
                detections_per_class: self.u32(),
                num_classes: self.u32(),
                use_regular_nms: self.u32(),
                nms_score_threshold: self.f32(),
                nms_iou_threshold: self.f32(),
                scale_x: self.f32(),
                scale_y: self.f32(),
                scale_w: self.f32(),
                scale_h: self.f32(),
            }
            .into(),
            LayerType::Dft => DftDescriptor {
                axis: self.u32(),
                inverse: self.u32(),
                onesided: self.u32(),
                reserved: 0,
                length: self.i64(),
            }
            .into(),
            LayerType::DynamicUpdateSlice => DynamicUpdateSliceDescriptor::new().into(),
            LayerType::Fill => FillDescriptor::new().into(),
            LayerType::GatherElements => GatherElementsDescriptor { axis: self.u32() }.into(),
            LayerType::GatherNd => GatherNdDescriptor {
                batch_dims: self.u32(),
            }
            .into(),
            LayerType::GridSample => GridSampleDescriptor {
                method: self.u32(),
                padding: self.u32(),
                align_corners: self.u32(),
            }
            .into(),
            LayerType::Gru => GruDescriptor {
                direction: self.u32(),
                hidden_size: self.u32(),
                batch_first: self.u32(),
                linear_before_reset: self.u32(),
                clip: self.f32(),
                activations: self.list(Self::u32),
                activation_a: self.list(Self::f32),
                activation_b: self.list(Self::f32),
            }
            .into(),
            LayerType::InstanceNormalization => InstanceNormalizationDescriptor {
                epsilon: self.f32(),
                axis: self.u32(),
                groups: self.u32(),
            }
            .into(),
            LayerType::Interpolate => InterpolateDescriptor {
                method: self.u32(),
                coordinates: self.u32(),
                nearest_rounding: self.u32(),
                antialias: self.u32(),
                exclude_outside: self.u32(),
                rank: self.pick(&[4, 4, 4, 0, 8, u32::MAX]),
                cubic_coefficient: self.f32(),
                extrapolation_value: self.f32(),
                scales: self.list(Self::f32),
                region_start: self.list(Self::f32),
                region_end: self.list(Self::f32),
            }
            .into(),
            LayerType::L2Normalization => L2NormalizationDescriptor {
                epsilon: self.f32(),
                axis: self.u32(),
            }
            .into(),
            LayerType::LayerNormalization => LayerNormalizationDescriptor {
                epsilon: self.f32(),
                axis: self.u32(),
                subtract_mean: self.u32(),
            }
            .into(),
            LayerType::LogicalBinary => LogicalBinaryDescriptor {
                operation: self.u32(),
            }
            .into(),
            LayerType::LogSoftmax => LogSoftmaxDescriptor {
                beta: self.f32(),
                axis: self.u32(),
            }
            .into(),
            LayerType::Lstm => LstmDescriptor {
                direction: self.u32(),
                hidden_size: self.u32(),
                batch_first: self.u32(),
                input_forget: self.u32(),
                clip: self.f32(),
                activations: self.list(Self::u32),
                activation_a: self.list(Self::f32),
                activation_b: self.list(Self::f32),
            }
            .into(),
            LayerType::MaxPoolWithIndices => MaxPoolWithIndicesDescriptor {
                n_axes: self.u32(),
                column_major: self.u32(),
                output_shape_rounding: self.u32(),
                pool: self.list(|r| r.u32().saturating_add(2)),
                stride: self.list(Self::u32),
                dilation: self.list(Self::u32),
                pad_before: self.list(Self::u32),
                pad_after: self.list(Self::u32),
            }
            .into(),
            LayerType::NonMaxSuppression => NonMaxSuppressionDescriptor {
                center_point_box: self.u32(),
            }
            .into(),
            LayerType::NonMaxSuppressionPadded => NonMaxSuppressionPaddedDescriptor::new().into(),
            LayerType::NonZero => NonZeroDescriptor::new().into(),
            LayerType::Normalization => NormalizationDescriptor {
                channel_type: self.u32(),
                norm_size: self.u32(),
                alpha: self.f32(),
                beta: self.f32(),
                k: self.f32(),
                axis: self.u32(),
            }
            .into(),
            LayerType::OneHot => OneHotDescriptor {
                axis: self.u32(),
                wrap_negative: self.u32(),
            }
            .into(),
            LayerType::Pooling3d => Pooling3dDescriptor {
                pool_type: self.u32(),
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                pad_front: self.u32(),
                pad_back: self.u32(),
                pool_width: self.u32().saturating_add(2),
                pool_height: self.u32().saturating_add(2),
                pool_depth: self.u32().saturating_add(2),
                stride_x: self.u32(),
                stride_y: self.u32(),
                stride_z: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                dilation_z: self.u32(),
                output_shape_rounding: self.u32(),
                padding_method: self.u32(),
                data_layout: self.volume_layout(),
            }
            .into(),
            LayerType::Range => RangeDescriptor::new().into(),
            LayerType::ReverseSequence => ReverseSequenceDescriptor {
                sequence_axis: self.u32(),
                batch_axis: self.u32(),
            }
            .into(),
            LayerType::ReverseV2 => ReverseV2Descriptor {
                n_axes: self.u32(),
                axes: self.list(Self::u32),
            }
            .into(),
            LayerType::Rnn => RnnDescriptor {
                direction: self.u32(),
                hidden_size: self.u32(),
                batch_first: self.u32(),
                reserved: 0,
                clip: self.f32(),
                activations: self.list(Self::u32),
                activation_a: self.list(Self::f32),
                activation_b: self.list(Self::f32),
            }
            .into(),
            LayerType::RoiAlign => RoiAlignDescriptor {
                pool_type: self.u32(),
                half_pixel: self.u32(),
                output_height: self.u32(),
                output_width: self.u32(),
                sampling_ratio: self.u32(),
                spatial_scale: self.f32(),
            }
            .into(),
            LayerType::ScatterElements => ScatterElementsDescriptor {
                axis: self.u32(),
                function: self.u32(),
            }
            .into(),
            LayerType::ScatterNd => ScatterNdDescriptor {
                function: self.u32(),
            }
            .into(),
            LayerType::Select => SelectDescriptor::new().into(),
            LayerType::SpaceToBatchNd => SpaceToBatchNdDescriptor {
                axis: self.u32(),
                n_axes: self.u32(),
                block_shape: self.list(Self::u32),
                pad_before: self.list(Self::u32),
                pad_after: self.list(Self::u32),
            }
            .into(),
            LayerType::SpaceToDepth => SpaceToDepthDescriptor {
                block_size: self.u32(),
                data_layout: self.layout(),
            }
            .into(),
            LayerType::Stack => StackDescriptor { axis: self.u32() }.into(),
            LayerType::Tile => TileDescriptor {
                rank: self.pick(&[4, 4, 4, 0, 8, u32::MAX]),
                reserved: 0,
                multiples: self.list(Self::i64),
            }
            .into(),
            LayerType::TopK => TopKDescriptor {
                axis: self.u32(),
                largest: self.u32(),
                sorted: self.u32(),
            }
            .into(),
            LayerType::TransposeConvolution2d => TransposeConvolution2dDescriptor {
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                stride_x: self.u32(),
                stride_y: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                groups: self.u32(),
                data_layout: self.layout(),
            }
            .into(),
            LayerType::TransposeConvolution3d => TransposeConvolution3dDescriptor {
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                pad_front: self.u32(),
                pad_back: self.u32(),
                stride_x: self.u32(),
                stride_y: self.u32(),
                stride_z: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                dilation_z: self.u32(),
                groups: self.u32(),
                data_layout: self.volume_layout(),
            }
            .into(),
            LayerType::Trilu => TriluDescriptor { upper: self.u32() }.into(),
            LayerType::UnidirectionalSequenceLstm => UnidirectionalSequenceLstmDescriptor {
                time_major: self.u32(),
                activation: self.u32(),
                activation_a: self.f32(),
                activation_b: self.f32(),
                cell_clip: self.f32(),
                projection_clip: self.f32(),
                input_intermediate_scale: self.f32(),
                forget_intermediate_scale: self.f32(),
                cell_intermediate_scale: self.f32(),
                output_intermediate_scale: self.f32(),
                hidden_state_scale: self.f32(),
                hidden_state_zero_point: self.u32() as i32,
            }
            .into(),
            LayerType::Unique => UniqueDescriptor {
                flatten: self.u32(),
                axis: self.u32(),
                sorted: self.u32(),
            }
            .into(),
            other => panic!("this test must learn to make a descriptor of {other}"),
        }
    }

    fn declaration(&mut self) -> OutputDeclaration {
        OutputDeclaration {
            name: None,
            data_type: (self.below(3) > 0).then(|| self.data_type()),
            shape: (self.below(3) > 0).then(|| self.shape()),
            quantization: (self.below(4) == 0).then(|| self.quantization()),
        }
    }
}

type Fitting = (
    LayerDescriptor,
    Vec<Option<TensorInfo>>,
    Vec<OutputDeclaration>,
);

/// A layer that fits its inputs, of a type that is hardly ever hit by chance.
fn fitting(layer_type: LayerType) -> Option<Fitting> {
    let tensor = |data_type, dims: &[i64]| {
        let shape = Shape::new(dims).unwrap();
        Some(TensorInfo::new(data_type, shape))
    };
    Some(match layer_type {
        LayerType::Pooling2d => {
            let d = Pooling2dDescriptor::new(PoolingAlgorithm::Max, 2, 2, DataLayout::Nhwc);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 4, 4, 2])],
                vec![],
            )
        }
        LayerType::Convolution2d => {
            let d = Convolution2dDescriptor::new(DataLayout::Nhwc);
            let inputs = [&[1, 3, 3, 2], &[4, 2, 2, 2]];
            (
                d.into(),
                inputs.map(|i| tensor(DataType::Float32, i)).into(),
                vec![],
            )
        }
        LayerType::DepthwiseConvolution2d => {
            let d = DepthwiseConvolution2dDescriptor::new(DataLayout::Nhwc);
            let inputs = [&[1, 3, 3, 2], &[1, 2, 2, 4]];
            (
                d.into(),
                inputs.map(|i| tensor(DataType::Float32, i)).into(),
                vec![],
            )
        }
        LayerType::FullyConnected => {
            let inputs = [&[3, 2], &[4, 2]];
            let inputs = inputs.map(|i| tensor(DataType::Float32, i)).into();
            (FullyConnectedDescriptor::new(true).into(), inputs, vec![])
        }
        LayerType::ArgMinMax => {
            let d = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 1, false);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[2, 3])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::BatchNormalization => {
            let d = BatchNormalizationDescriptor {
                epsilon: 0.001,
                axis: 3,
            };
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[1, 3, 3, 2]),
                    tensor(DataType::Float32, &[2]),
                    tensor(DataType::Float32, &[2]),
                    tensor(DataType::Float32, &[2]),
                    tensor(DataType::Float32, &[2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::BatchToSpaceNd => {
            let d = BatchToSpaceNdDescriptor::new(1, &[2, 2])?;
            (
                d.into(),
                vec![tensor(DataType::Float32, &[4, 2, 2, 1])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::BitCast => {
            let d = BitCastDescriptor::new();
            (
                d.into(),
                vec![tensor(DataType::Float32, &[4])],
                vec![OutputDeclaration::of_type(DataType::Signed32)],
            )
        }
        LayerType::BroadcastTo => {
            let d = BroadcastToDescriptor::new();
            (
                d.into(),
                vec![tensor(DataType::Float32, &[2])],
                vec![OutputDeclaration::of_shape([3, 2])],
            )
        }
        LayerType::Bucketize => {
            let d = BucketizeDescriptor::new();
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[4]),
                    tensor(DataType::Float32, &[3]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Col2Im => {
            let d = Col2ImDescriptor::new(&[2, 2])?;
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 4, 4])],
                vec![OutputDeclaration::of_shape([1, 1, 3, 3])],
            )
        }
        LayerType::Compress => {
            let d = CompressDescriptor::new(Some(0));
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[3, 2]),
                    tensor(DataType::Boolean, &[3]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Convolution3d => {
            let d = Convolution3dDescriptor::new(DataLayout::Ndhwc);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[1, 3, 3, 3, 2]),
                    tensor(DataType::Float32, &[1, 1, 1, 2, 2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Cumulative => {
            let d = CumulativeDescriptor::new(CumulativeOperation::Sum, 1);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[2, 3])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::DeformConv => {
            let d = DeformConvDescriptor::new();
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[1, 2, 3, 3]),
                    tensor(DataType::Float32, &[2, 2, 1, 1]),
                    tensor(DataType::Float32, &[1, 2, 3, 3]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::DepthToSpace => {
            let d = DepthToSpaceDescriptor::new(2, DepthToSpaceMode::Dcr, DataLayout::Nhwc);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 2, 2, 4])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Det => {
            let d = DetDescriptor::new();
            (
                d.into(),
                vec![tensor(DataType::Float32, &[2, 3, 3])],
                vec![OutputDeclaration::default()],
            )
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
                vec![
                    tensor(DataType::Float32, &[1, 3, 4]),
                    tensor(DataType::Float32, &[1, 3, 3]),
                    tensor(DataType::Float32, &[3, 4]),
                ],
                vec![
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                ],
            )
        }
        LayerType::Dft => {
            let d = DftDescriptor::new(1);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 4, 1])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::DynamicUpdateSlice => {
            let d = DynamicUpdateSliceDescriptor::new();
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[4, 2]),
                    tensor(DataType::Float32, &[2, 2]),
                    tensor(DataType::Signed32, &[2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Fill => {
            let d = FillDescriptor::new();
            (
                d.into(),
                vec![tensor(DataType::Float32, &[])],
                vec![OutputDeclaration::of_shape([2, 2])],
            )
        }
        LayerType::GatherElements => {
            let d = GatherElementsDescriptor { axis: 1 };
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[2, 3]),
                    tensor(DataType::Signed32, &[2, 2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::GatherNd => {
            let d = GatherNdDescriptor { batch_dims: 0 };
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[4, 2]),
                    tensor(DataType::Signed32, &[3, 1]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::GridSample => {
            let d =
                GridSampleDescriptor::new(InterpolationMethod::Linear, GridPadding::Zeros, false);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[1, 2, 3, 3]),
                    tensor(DataType::Float32, &[1, 2, 2, 2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Gru => {
            let d = GruDescriptor::new(2);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[3, 1, 2]),
                    tensor(DataType::Float32, &[1, 6, 2]),
                    tensor(DataType::Float32, &[1, 6, 2]),
                ],
                vec![OutputDeclaration::default(), OutputDeclaration::default()],
            )
        }
        LayerType::InstanceNormalization => {
            let d = InstanceNormalizationDescriptor::new(0.001, 3);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 3, 3, 2])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Interpolate => {
            let d = InterpolateDescriptor::new(
                InterpolationMethod::Linear,
                CoordinateTransformation::HalfPixel,
                3,
            )?;
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 2, 3])],
                vec![OutputDeclaration::of_shape([1, 4, 6])],
            )
        }
        LayerType::L2Normalization => {
            let d = L2NormalizationDescriptor {
                epsilon: 1e-12,
                axis: 1,
            };
            (
                d.into(),
                vec![tensor(DataType::Float32, &[2, 3])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::LayerNormalization => {
            let d = LayerNormalizationDescriptor::new(0.001, 1);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[2, 3])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::LogicalBinary => {
            let d = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalAnd);
            (
                d.into(),
                vec![
                    tensor(DataType::Boolean, &[4]),
                    tensor(DataType::Boolean, &[4]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::LogSoftmax => {
            let d = LogSoftmaxDescriptor { beta: 1.0, axis: 1 };
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 4])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Lstm => {
            let d = LstmDescriptor::new(2);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[3, 1, 2]),
                    tensor(DataType::Float32, &[1, 8, 2]),
                    tensor(DataType::Float32, &[1, 8, 2]),
                ],
                vec![
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                ],
            )
        }
        LayerType::MaxPoolWithIndices => {
            let d = MaxPoolWithIndicesDescriptor::new(&[2, 2])?;
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 2, 4, 4])],
                vec![OutputDeclaration::default(), OutputDeclaration::default()],
            )
        }
        LayerType::NonMaxSuppression => {
            let d = NonMaxSuppressionDescriptor {
                center_point_box: 0,
            };
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[1, 3, 4]),
                    tensor(DataType::Float32, &[1, 1, 3]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::NonMaxSuppressionPadded => {
            let d = NonMaxSuppressionPaddedDescriptor::new();
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[3, 4]),
                    tensor(DataType::Float32, &[3]),
                ],
                vec![
                    OutputDeclaration::of_shape([2]),
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                ],
            )
        }
        LayerType::NonZero => {
            let d = NonZeroDescriptor::new();
            (
                d.into(),
                vec![tensor(DataType::Float32, &[2, 3])],
                vec![OutputDeclaration::default()],
            )
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
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 2, 2, 4])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::OneHot => {
            let d = OneHotDescriptor {
                axis: 1,
                wrap_negative: 0,
            };
            (
                d.into(),
                vec![
                    tensor(DataType::Signed32, &[3]),
                    tensor(DataType::Float32, &[]),
                    tensor(DataType::Float32, &[]),
                ],
                vec![OutputDeclaration::of_shape([3, 4])],
            )
        }
        LayerType::Pooling3d => {
            let d = Pooling3dDescriptor::new(PoolingAlgorithm::Max, [2, 2, 2], DataLayout::Ndhwc);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 4, 4, 4, 2])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Range => {
            let d = RangeDescriptor::new();
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[]),
                    tensor(DataType::Float32, &[]),
                    tensor(DataType::Float32, &[]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::ReverseSequence => {
            let d = ReverseSequenceDescriptor {
                sequence_axis: 1,
                batch_axis: 0,
            };
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[2, 3]),
                    tensor(DataType::Signed32, &[2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::ReverseV2 => {
            let d = ReverseV2Descriptor::new(&[1])?;
            (
                d.into(),
                vec![tensor(DataType::Float32, &[2, 3])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Rnn => {
            let d = RnnDescriptor::new(2);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[3, 1, 2]),
                    tensor(DataType::Float32, &[1, 2, 2]),
                    tensor(DataType::Float32, &[1, 2, 2]),
                ],
                vec![OutputDeclaration::default(), OutputDeclaration::default()],
            )
        }
        LayerType::RoiAlign => {
            let d = RoiAlignDescriptor::new(2, 2, 1.0);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[1, 2, 4, 4]),
                    tensor(DataType::Float32, &[3, 4]),
                    tensor(DataType::Signed64, &[3]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::ScatterElements => {
            let d = ScatterElementsDescriptor::new(1, ScatterFunction::Update);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[2, 3]),
                    tensor(DataType::Signed32, &[2, 2]),
                    tensor(DataType::Float32, &[2, 2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::ScatterNd => {
            let d = ScatterNdDescriptor::new(ScatterFunction::Update);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[4, 2]),
                    tensor(DataType::Signed32, &[3, 1]),
                    tensor(DataType::Float32, &[3, 2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Select => {
            let d = SelectDescriptor::new();
            (
                d.into(),
                vec![
                    tensor(DataType::Boolean, &[4]),
                    tensor(DataType::Float32, &[4]),
                    tensor(DataType::Float32, &[4]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::SpaceToBatchNd => {
            let d = SpaceToBatchNdDescriptor::new(1, &[2, 2])?;
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 4, 4, 1])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::SpaceToDepth => {
            let d = SpaceToDepthDescriptor::new(2, DataLayout::Nhwc);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[1, 4, 4, 1])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Stack => {
            let d = StackDescriptor { axis: 0 };
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[2]),
                    tensor(DataType::Float32, &[2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Tile => {
            let d = TileDescriptor::new(&[2, 1])?;
            (
                d.into(),
                vec![tensor(DataType::Float32, &[2, 2])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::TopK => {
            let d = TopKDescriptor::new(1, true);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[2, 4])],
                vec![
                    OutputDeclaration::of_shape([2, 2]),
                    OutputDeclaration::default(),
                ],
            )
        }
        LayerType::TransposeConvolution2d => {
            let d = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[1, 3, 3, 2]),
                    tensor(DataType::Float32, &[2, 2, 2, 2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::TransposeConvolution3d => {
            let d = TransposeConvolution3dDescriptor::new(DataLayout::Ndhwc);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[1, 3, 3, 3, 2]),
                    tensor(DataType::Float32, &[2, 2, 2, 2, 2]),
                ],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::Trilu => {
            let d = TriluDescriptor { upper: 1 };
            (
                d.into(),
                vec![tensor(DataType::Float32, &[3, 3])],
                vec![OutputDeclaration::default()],
            )
        }
        LayerType::UnidirectionalSequenceLstm => {
            let d = UnidirectionalSequenceLstmDescriptor::new(false);
            (
                d.into(),
                vec![
                    tensor(DataType::Float32, &[1, 3, 2]),
                    tensor(DataType::Float32, &[2, 2]),
                    tensor(DataType::Float32, &[2, 2]),
                    tensor(DataType::Float32, &[2, 2]),
                    tensor(DataType::Float32, &[2, 2]),
                    tensor(DataType::Float32, &[2, 2]),
                    tensor(DataType::Float32, &[2, 2]),
                    tensor(DataType::Float32, &[2, 2]),
                    tensor(DataType::Float32, &[2, 2]),
                    None,
                    None,
                    None,
                    tensor(DataType::Float32, &[2]),
                    tensor(DataType::Float32, &[2]),
                    tensor(DataType::Float32, &[2]),
                    tensor(DataType::Float32, &[2]),
                    None,
                    None,
                    tensor(DataType::Float32, &[1, 2]),
                    tensor(DataType::Float32, &[1, 2]),
                ],
                vec![
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                ],
            )
        }
        LayerType::Unique => {
            let d = UniqueDescriptor::new(None, true);
            (
                d.into(),
                vec![tensor(DataType::Float32, &[4])],
                vec![
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                    OutputDeclaration::default(),
                ],
            )
        }
        _ => return None,
    })
}

/// Adds a layer that fits, or would but for one dimension.
fn add_fitting(
    random: &mut Random,
    builder: &mut NetworkBuilder,
    layer_type: LayerType,
) -> Option<Vec<TensorId>> {
    let (descriptor, mut inputs, outputs) = fitting(layer_type)?;
    if random.below(2) == 0 {
        let count = inputs.len();
        if let Some(Some(info)) = inputs.get_mut(random.below(count)) {
            let mut dims = info.shape.dims().to_vec();
            let rank = dims.len();
            if rank > 0 {
                dims[random.below(rank)] = random.dim();
                info.shape = Shape::new(&dims).unwrap();
            }
        }
    }
    let ids: Vec<Option<TensorId>> = inputs
        .into_iter()
        .map(|info| info.and_then(|info| builder.add_input_layer("", info).ok()))
        .collect();
    builder.add_layer("", descriptor, &ids, &outputs).ok()
}

/// Adds random layers to one network; returns it with how many layers were taken of each type.
fn random_network(random: &mut Random, taken: &mut [usize]) -> Option<armnn_network::Network> {
    let mut builder = NetworkBuilder::new();
    let mut tensors: Vec<TensorId> = Vec::new();
    for _ in 0..6 {
        let info = random.info();
        tensors.extend(builder.add_input_layer("", info));
    }
    for _ in 0..24 {
        let kind = random.below(LayerType::ALL.len());
        if random.below(3) == 0 {
            let added = add_fitting(random, &mut builder, LayerType::ALL[kind]);
            taken[kind] += usize::from(added.is_some());
            tensors.extend(added.unwrap_or_default());
            continue;
        }
        let descriptor = random.descriptor(LayerType::ALL[kind]);
        let n_inputs = match random.below(8) {
            0 => random.below(5),
            _ => LayerType::ALL[kind].spec().unwrap().input_arity().0,
        };
        let inputs: Vec<Option<TensorId>> = (0..n_inputs)
            .map(|_| match random.below(20) {
                0 => None,
                1 => Some(TensorId(random.u32())),
                _ => tensors.get(random.below(tensors.len().max(1))).copied(),
            })
            .collect();
        let n_outputs = random.pick(&[0, 1, 1, 2]);
        let declarations: Vec<_> = (0..n_outputs).map(|_| random.declaration()).collect();
        match builder.add_layer("", descriptor, &inputs, &declarations) {
            Ok(outputs) => {
                taken[kind] += 1;
                for output in outputs {
                    let mut info = builder.tensor(output).unwrap().info.clone();
                    if info.data_type.is_quantized() && info.quantization.is_none() {
                        info.quantization = random.quantization();
                        let _ = builder.expect_output_info(output, &info);
                    }
                    tensors.push(output);
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    for id in tensors {
        let _ = builder.add_output_layer("", id);
    }
    builder.finish().ok()
}

#[test]
fn nothing_panics_and_what_is_taken_is_well_formed() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut taken = vec![0; LayerType::ALL.len()];
    let mut planned = 0;
    for _ in 0..3_000 {
        let Some(network) = random_network(&mut random, &mut taken) else {
            continue;
        };
        for (index, layer) in network.layers().iter().enumerate() {
            for input in layer.present_inputs() {
                let producer = network.tensor(input).producer();
                assert!(producer.is_none_or(|p| p.index() < index));
            }
        }
        let shapes: Vec<Shape> = network
            .inputs()
            .iter()
            .map(|&id| {
                let dims: Vec<i64> = network
                    .tensor(id)
                    .info
                    .shape
                    .dims()
                    .iter()
                    .map(|&d| match d {
                        Shape::UNKNOWN => random.i64().max(0),
                        known => known,
                    })
                    .collect();
                Shape::new(&dims).unwrap()
            })
            .collect();
        if let Ok(shapes) = infer_shapes(&network, &shapes) {
            planned += 1;
            for (tensor, shape) in network.tensors().iter().zip(shapes) {
                let finds_out = |id| {
                    let layer_type: LayerType = network.layer(id).layer_type();
                    layer_type.output_shape_depends_on_data() || layer_type == LayerType::StandIn
                };
                if tensor.producer().is_some_and(finds_out) && !shape.is_known() {
                    continue;
                }
                assert!(shape.is_known());
                assert!(tensor.info.shape.accepts(&shape), "{} {shape}", tensor.info);
                assert!(
                    TensorInfo {
                        shape,
                        ..tensor.info.clone()
                    }
                    .byte_len()
                    .is_some()
                );
            }
        }
    }
    // The test means something only if not everything was refused.
    for (layer_type, count) in LayerType::ALL.iter().zip(&taken) {
        assert!(*count > 0, "no {layer_type} was ever taken");
    }
    assert!(planned > 0);
}
