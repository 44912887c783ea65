//! A descriptor of each type of layer, with anything in it.

use armnn_backend_api::*;

use super::Random;

impl Random {
    /// A descriptor of a type, mostly sensible.
    pub fn descriptor(&mut self, layer_type: LayerType) -> LayerDescriptor {
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
            LayerType::Quantize => QuantizeDescriptor {
                rounding: self.u32(),
                ..QuantizeDescriptor::new()
            }
            .into(),
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
}
