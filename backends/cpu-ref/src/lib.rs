//! The reference backend: every layer, plainly and correctly.
//!
//! It is the oracle that other backends are compared with, so a kernel here follows the definition
//! of its layer ([`LayerDescriptor`](armnn_backend_api::LayerDescriptor)) and nothing else. What
//! the definitions leave open is decided once, for all layers:
//!
//! * Float32 is computed in Float32. Float16 and BFloat16 are widened to Float32, computed, and
//!   rounded once. Float64 is computed in itself, where it is taken.
//! * Quantized numbers are computed as TensorFlow Lite's reference kernels do (those of LiteRT 2.3),
//!   bit for bit; the file of each layer names the rule and where it stands. What they have no rule
//!   for is computed in Float32. Their results are not followed where they are no result of a rule:
//!   quotients far below a step of the output (their shifts are longer than a number), sums of signed
//!   numbers into another scale (read as unsigned), negated numbers of another scale (left in it),
//!   the order of numbers of 16 bits of different scales (compared as they are), and, of numbers of
//!   4 bits, broadcast ones and slices of an odd length that are gathered (moved by whole bytes).
//!   Of Float32, the windows of the local response normalization are whole here; there they lack
//!   their last channel.
//! * NaN propagates: the larger or the smaller of NaN and a number is NaN.
//! * A result does not depend on the number of threads.
//! * Integers wrap around on overflow, except in Quantize, which saturates, and in Cast of real
//!   numbers. Cast of integers keeps the lowest bits, as ONNX's and TensorFlow Lite's do.
//!
//! A layer is in the file of its name, in the folder of its family: first which types it takes
//! ([`is_layer_supported`]), then its workload, then the kernel, a function of slices, then the tests.
//! A backend that wraps this one can call [`is_layer_supported`] and [`create_workload`], or make a [`CpuRefModelContext`].

mod conversion;
mod convolution;
mod detection;
mod elementwise;
mod linear_algebra;
mod loops;
mod movement;
mod normalizations;
mod numbers;
mod pooling;
mod reduction;
mod resampling;
mod search;
mod sequence;
#[cfg(test)]
mod supported_types;
#[cfg(test)]
mod test_harness;
mod workloads;

use armnn_backend_api::{
    BackendKind, Capabilities, DescriptorRef, HostMemory, IBackendInternal, LayerView,
    ModelContext, ModelHost, Options, Result, Synchronous, Workload,
};

use crate::{
    conversion::{bit_cast, bucketize, cast, quantize},
    convolution::{
        col2im, convolution2d, deform_conv, depthwise_convolution2d, strided_convolution,
    },
    detection::{detection_post_process, non_max_suppression, roi_align},
    elementwise::{
        activation, comparison, elementwise_binary, elementwise_unary, logical_binary, prelu,
        select,
    },
    linear_algebra::{batch_mat_mul, det, dft, fully_connected},
    movement::{
        block, concat, gather, gather_nd, one_hot, pad, range, repetition, reshape, scatter, split,
        strided_slice, transpose, trilu,
    },
    normalizations::{local_response, normalization, softmax},
    pooling::{max_pool_with_indices, pooling2d, pooling3d},
    reduction::{cumulative, reduce},
    resampling::{grid_sample, interpolate, resize},
    search::{arg_min_max, non_zero, top_k, unique},
    sequence::{recurrent, reverse_sequence, unidirectional_sequence_lstm},
    workloads::layer_checks,
};

/// The reference backend.
#[derive(Debug, Default)]
pub struct CpuRef;

impl IBackendInternal for CpuRef {
    const ID: &'static str = "CpuRef";

    type ModelContext = CpuRefModelContext;

    fn create() -> Result<Self> {
        Ok(Self)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            kind: BackendKind::Reference,
            flags: 0,
        }
    }

    fn is_layer_supported(&self, layer: LayerView<'_>) -> Result<()> {
        is_layer_supported(layer)
    }

    fn create_model_context(
        &self,
        options: Options<'_>,
        _host: ModelHost,
    ) -> Result<CpuRefModelContext> {
        options.check_known(&[])?;
        Ok(CpuRefModelContext)
    }
}

/// What belongs to one loaded network: nothing, as each workload holds what it needs.
#[derive(Debug, Default)]
pub struct CpuRefModelContext;

impl ModelContext for CpuRefModelContext {
    type Execution = Synchronous;
    type TensorHandle = HostMemory;

    fn create_workload(&mut self, layer: LayerView<'_>) -> Result<Box<dyn Workload>> {
        create_workload(layer)
    }
}

macro_rules! layers {
    ($($Layer:ident: $check:path, $workload:path;)*) => {
        /// Whether a layer can be executed: looks at the types of its tensors and the numbers in
        /// its descriptor. Dimensions may be unknown.
        ///
        /// # Errors
        /// With status Unsupported, and the reason, when it cannot.
        pub fn is_layer_supported(layer: LayerView<'_>) -> Result<()> {
            match layer.descriptor() {
                $(Some(DescriptorRef::$Layer(d)) => $check(layer, d),)*
                _ => Err(layer_checks::unknown_layer(layer)),
            }
        }

        /// Makes the workload of a layer. It has the layer's inputs and outputs, constants and
        /// absent ones included.
        ///
        /// # Errors
        /// When the layer is not supported, a dimension is unknown, or shapes do not fit together.
        pub fn create_workload(layer: LayerView<'_>) -> Result<Box<dyn Workload>> {
            is_layer_supported(layer)?;
            match layer.descriptor() {
                $(Some(DescriptorRef::$Layer(d)) => $workload(layer, d),)*
                _ => Err(layer_checks::unknown_layer(layer)),
            }
        }
    };
}

layers! {
    Activation: activation::check, activation::workload;
    ArgMinMax: arg_min_max::check, arg_min_max::workload;
    BatchMatMul: batch_mat_mul::check, batch_mat_mul::workload;
    BatchNormalization: normalization::check_batch, normalization::batch_workload;
    BatchToSpaceNd: block::check_batch_to_space_nd, block::batch_to_space_nd_workload;
    BitCast: bit_cast::check, bit_cast::workload;
    BroadcastTo: repetition::check_broadcast_to, repetition::broadcast_to_workload;
    Bucketize: bucketize::check, bucketize::workload;
    Cast: cast::check, cast::workload;
    Col2Im: col2im::check, col2im::workload;
    Comparison: comparison::check, comparison::workload;
    Compress: non_zero::check_compress, non_zero::compress_workload;
    Concat: concat::check, concat::workload;
    Convolution2d: convolution2d::check, convolution2d::workload;
    Convolution3d: strided_convolution::check_convolution3d, strided_convolution::convolution3d_workload;
    Cumulative: cumulative::check, cumulative::workload;
    DeformConv: deform_conv::check, deform_conv::workload;
    DepthToSpace: block::check_depth_to_space, block::depth_to_space_workload;
    DepthwiseConvolution2d: depthwise_convolution2d::check, depthwise_convolution2d::workload;
    Dequantize: quantize::check_dequantize, quantize::dequantize_workload;
    Det: det::check, det::workload;
    DetectionPostProcess: detection_post_process::check, detection_post_process::workload;
    Dft: dft::check, dft::workload;
    DynamicUpdateSlice: scatter::check_dynamic_update_slice, scatter::dynamic_update_slice_workload;
    ElementwiseBinary: elementwise_binary::check, elementwise_binary::workload;
    ElementwiseUnary: elementwise_unary::check, elementwise_unary::workload;
    Fill: repetition::check_fill, repetition::fill_workload;
    FullyConnected: fully_connected::check, fully_connected::workload;
    Gather: gather::check, gather::workload;
    GatherElements: gather_nd::check_elements, gather_nd::elements_workload;
    GatherNd: gather_nd::check_nd, gather_nd::nd_workload;
    GridSample: grid_sample::check, grid_sample::workload;
    Gru: recurrent::check_gru, recurrent::gru_workload;
    InstanceNormalization: normalization::check_instance, normalization::instance_workload;
    Interpolate: interpolate::check, interpolate::workload;
    L2Normalization: normalization::check_l2, normalization::l2_workload;
    LayerNormalization: normalization::check_layer, normalization::layer_workload;
    LogSoftmax: normalization::check_log_softmax, normalization::log_softmax_workload;
    LogicalBinary: logical_binary::check, logical_binary::workload;
    Lstm: recurrent::check_lstm, recurrent::lstm_workload;
    MaxPoolWithIndices: max_pool_with_indices::check, max_pool_with_indices::workload;
    NonMaxSuppression: non_max_suppression::check, non_max_suppression::workload;
    NonMaxSuppressionPadded: non_max_suppression::check_padded, non_max_suppression::padded_workload;
    NonZero: non_zero::check_non_zero, non_zero::non_zero_workload;
    Normalization: local_response::check, local_response::workload;
    OneHot: one_hot::check, one_hot::workload;
    Pad: pad::check, pad::workload;
    Pooling2d: pooling2d::check, pooling2d::workload;
    Pooling3d: pooling3d::check, pooling3d::workload;
    Prelu: prelu::check, prelu::workload;
    Quantize: quantize::check_quantize, quantize::quantize_workload;
    Range: range::check, range::workload;
    Reduce: reduce::check, reduce::workload;
    Reshape: reshape::check, reshape::workload;
    Resize: resize::check, resize::workload;
    ReverseSequence: reverse_sequence::check, reverse_sequence::workload;
    ReverseV2: repetition::check_reverse, repetition::reverse_workload;
    Rnn: recurrent::check_rnn, recurrent::rnn_workload;
    RoiAlign: roi_align::check, roi_align::workload;
    ScatterElements: scatter::check_elements, scatter::elements_workload;
    ScatterNd: scatter::check_nd, scatter::nd_workload;
    Select: select::check, select::workload;
    Softmax: softmax::check, softmax::workload;
    SpaceToBatchNd: block::check_space_to_batch_nd, block::space_to_batch_nd_workload;
    SpaceToDepth: block::check_space_to_depth, block::space_to_depth_workload;
    Split: split::check, split::workload;
    Stack: repetition::check_stack, repetition::stack_workload;
    StridedSlice: strided_slice::check, strided_slice::workload;
    Tile: repetition::check_tile, repetition::tile_workload;
    TopK: top_k::check, top_k::workload;
    Transpose: transpose::check, transpose::workload;
    TransposeConvolution2d: strided_convolution::check_transpose2d, strided_convolution::transpose2d_workload;
    TransposeConvolution3d: strided_convolution::check_transpose3d, strided_convolution::transpose3d_workload;
    Trilu: trilu::check, trilu::workload;
    UnidirectionalSequenceLstm: unidirectional_sequence_lstm::check, unidirectional_sequence_lstm::workload;
    Unique: unique::check, unique::workload;
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, LayerType, StandInDescriptor};

    use crate::test_harness::{Call, assert_refused, f32s};

    #[test]
    fn an_operator_without_a_layer_type_is_refused() {
        let operator = StandInDescriptor::new("com.example", "Swish", 1, &[]).unwrap();
        let call = Call::new(armnn_backend_api::LayerDescriptor::StandIn(operator))
            .input(f32s([1], &[0.0]))
            .output(DataType::Float32, [1]);
        assert_refused(&call, &["operators without a layer type"]);
    }

    #[test]
    fn a_layer_type_of_a_later_version_is_refused() {
        let call = Call::of_type(LayerType(9999))
            .input(f32s([1], &[0.0]))
            .output(DataType::Float32, [1]);
        assert_refused(&call, &["LayerType(9999)", "not known here"]);
    }

    #[test]
    fn unknown_dimensions_are_supported_but_not_compiled() {
        let relu = armnn_backend_api::ActivationDescriptor::new(
            armnn_backend_api::ActivationFunction::ReLu,
            0.0,
            0.0,
        );
        let call = Call::new(relu)
            .input(f32s([1], &[0.0]))
            .output(DataType::Float32, [-1]);
        assert_eq!(call.supported(), Ok(()));
        assert!(
            call.error()
                .contains("the shape [?] of output is not known")
        );
    }
}
