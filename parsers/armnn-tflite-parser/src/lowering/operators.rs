//! The operators that can be lowered.

use std::ops::RangeInclusive;

use armnn_backend_api::{
    ActivationFunction as Activation, ArgMinMaxFunction, BinaryOperation as Binary,
    ComparisonOperation as Comparison, LogicalBinaryOperation as Logical,
    PoolingAlgorithm as Pooling, ReduceOperation as Reduce, ScatterFunction as Scatter,
    UnaryOperation as Unary,
};

use super::context::Context;
use super::problem::{Problem, Result};
use super::{
    activation, blocks, choice, control_flow, convolution, dot_general, elementwise, generation,
    indexing, initializer, matrix, normalization, plain_recurrent, pooling, quantization, random,
    random_bits, rearrangement, recurrent, reduce_window, reduction, reshaping, resizing,
    selection, spectrum, stablehlo, stablehlo_convolution, stablehlo_indexing, stablehlo_sort,
    strided_slice, transpose_convolution, variables,
};
use crate::model::OperatorCode;
use crate::schema_generated::BuiltinOperator as Op;

/// How an operator type is lowered.
pub(super) struct Entry {
    /// How many inputs it has; absent ones count, except at the end.
    inputs: RangeInclusive<usize>,
    lower: fn(&mut Context<'_, '_, '_>) -> Result,
}

/// How the operator type is lowered, if it can be. In the order of the alphabet.
///
/// The version plays no part: it says since when an operator has had the types and options that
/// this use of it needs, and those are looked at one by one.
pub(super) fn lowering_of(code: OperatorCode<'_>) -> Option<Entry> {
    let (inputs, lower): (_, fn(&mut Context<'_, '_, '_>) -> Result) = match code.known()? {
        Op::Custom => return custom(code.custom),
        Op::Abs => (1..=1, |c| elementwise::unary(c, Unary::Abs)),
        Op::Add => (2..=2, elementwise::add),
        Op::AddN => (1..=usize::MAX, elementwise::add_n),
        Op::ArgMax => (2..=2, |c| choice::arg_min_max(c, ArgMinMaxFunction::Max)),
        Op::ArgMin => (2..=2, |c| choice::arg_min_max(c, ArgMinMaxFunction::Min)),
        Op::AssignVariable => (2..=2, variables::assign_variable),
        Op::Atan2 => (2..=2, |c| elementwise::binary(c, Binary::Atan2)),
        Op::AveragePool2d => (1..=1, |c| pooling::pool_2d(c, Pooling::Average)),
        Op::BatchMatmul => (2..=2, matrix::batch_matmul),
        Op::BatchToSpaceNd => (3..=3, blocks::batch_to_space_nd),
        Op::BidirectionalSequenceLstm => (39..=48, recurrent::bidirectional_sequence_lstm),
        Op::BidirectionalSequenceRnn => (9..=12, plain_recurrent::bidirectional_sequence_rnn),
        Op::Bitcast => (1..=1, elementwise::bitcast),
        Op::BitwiseXor => (2..=2, |c| {
            stablehlo::bits(c, Logical::LogicalXor, Binary::BitwiseXor)
        }),
        Op::BroadcastArgs => (2..=2, generation::broadcast_args),
        Op::BroadcastTo => (2..=2, generation::broadcast_to),
        Op::Bucketize => (1..=1, choice::bucketize),
        Op::Call => (0..=usize::MAX, control_flow::call),
        Op::CallOnce => (0..=0, initializer::call_once),
        Op::Cast => (1..=1, quantization::cast),
        Op::Ceil => (1..=1, |c| elementwise::unary(c, Unary::Ceil)),
        Op::ComplexAbs => (1..=1, spectrum::complex_abs),
        Op::Concatenation => (1..=usize::MAX, rearrangement::concatenation),
        Op::Conv2d => (2..=3, convolution::conv_2d),
        Op::Conv3d => (2..=3, transpose_convolution::conv_3d),
        Op::Conv3dTranspose => (3..=4, transpose_convolution::conv_3d_transpose),
        Op::Cos => (1..=1, |c| elementwise::unary(c, Unary::Cos)),
        Op::Cumsum => (2..=2, choice::cumsum),
        Op::Densify => (1..=1, reshaping::densify),
        Op::DepthToSpace => (1..=1, blocks::depth_to_space),
        Op::DepthwiseConv2d => (2..=3, convolution::depthwise_conv_2d),
        Op::Dequantize => (1..=1, quantization::dequantize),
        Op::Dilate => (3..=3, stablehlo::dilate),
        Op::Div => (2..=2, elementwise::div),
        Op::DynamicUpdateSlice => (3..=3, indexing::dynamic_update_slice),
        Op::Elu => (1..=1, |c| activation::plain(c, Activation::Elu, 1.0, 0.0)),
        Op::EmbeddingLookup => (2..=2, indexing::embedding_lookup),
        Op::EmbeddingLookupSparse => (5..=5, indexing::embedding_lookup_sparse),
        Op::Equal => (2..=2, |c| elementwise::comparison(c, Comparison::Equal)),
        Op::Exp => (1..=1, |c| elementwise::unary(c, Unary::Exp)),
        Op::ExpandDims => (2..=2, reshaping::expand_dims),
        Op::FakeQuant => (1..=1, elementwise::fake_quant),
        Op::Fill => (2..=2, generation::fill),
        Op::Floor => (1..=1, |c| elementwise::unary(c, Unary::Floor)),
        Op::FloorDiv => (2..=2, |c| elementwise::binary(c, Binary::FloorDiv)),
        Op::FloorMod => (2..=2, |c| elementwise::binary(c, Binary::FloorMod)),
        Op::FullyConnected => (2..=3, matrix::fully_connected),
        Op::Gather => (2..=2, selection::gather),
        Op::GatherNd => (2..=2, indexing::gather_nd),
        Op::Gelu => (1..=1, activation::gelu),
        Op::Greater => (2..=2, |c| elementwise::comparison(c, Comparison::Greater)),
        Op::GreaterEqual => (2..=2, |c| {
            elementwise::comparison(c, Comparison::GreaterOrEqual)
        }),
        Op::HardSwish => (1..=1, |c| {
            activation::plain(c, Activation::HardSwish, 0.0, 0.0)
        }),
        Op::If => (1..=usize::MAX, control_flow::if_else),
        Op::Imag => (1..=1, |c| spectrum::part(c, 1)),
        Op::L2Normalization => (1..=1, normalization::l2_normalization),
        Op::L2Pool2d => (1..=1, |c| pooling::pool_2d(c, Pooling::L2)),
        Op::LeakyRelu => (1..=1, activation::leaky_relu),
        Op::Less => (2..=2, |c| elementwise::comparison(c, Comparison::Less)),
        Op::LessEqual => (2..=2, |c| {
            elementwise::comparison(c, Comparison::LessOrEqual)
        }),
        Op::LocalResponseNormalization => (1..=1, normalization::local_response_normalization),
        Op::Log => (1..=1, |c| elementwise::unary(c, Unary::Log)),
        Op::LogSoftmax => (1..=1, normalization::log_softmax),
        Op::LogicalAnd => (2..=2, |c| elementwise::logical(c, Logical::LogicalAnd)),
        Op::LogicalNot => (1..=1, |c| elementwise::unary(c, Unary::LogicalNot)),
        Op::LogicalOr => (2..=2, |c| elementwise::logical(c, Logical::LogicalOr)),
        Op::Logistic => (1..=1, |c| {
            activation::plain(c, Activation::Sigmoid, 0.0, 0.0)
        }),
        Op::Lstm => (5..=24, recurrent::lstm),
        Op::MatrixDiag => (1..=1, choice::matrix_diag),
        Op::MatrixSetDiag => (2..=2, choice::matrix_set_diag),
        Op::MaxPool2d => (1..=1, |c| pooling::pool_2d(c, Pooling::Max)),
        Op::Maximum => (2..=2, |c| elementwise::binary(c, Binary::Maximum)),
        Op::Mean => (2..=2, |c| reduction::reduce(c, Reduce::Mean)),
        Op::Minimum => (2..=2, |c| elementwise::binary(c, Binary::Minimum)),
        Op::MirrorPad => (2..=2, rearrangement::mirror_pad),
        Op::Mul => (2..=2, elementwise::mul),
        Op::Multinomial => (2..=2, random::multinomial),
        Op::Neg => (1..=1, |c| elementwise::unary(c, Unary::Neg)),
        Op::NonMaxSuppressionV4 => (5..=5, |c| choice::non_max_suppression(c, false)),
        Op::NonMaxSuppressionV5 => (6..=6, |c| choice::non_max_suppression(c, true)),
        Op::NotEqual => (2..=2, |c| elementwise::comparison(c, Comparison::NotEqual)),
        Op::OneHot => (4..=4, generation::one_hot),
        Op::Pack => (1..=usize::MAX, rearrangement::pack),
        Op::Pad => (2..=2, rearrangement::pad),
        Op::Padv2 => (3..=3, rearrangement::padv2),
        Op::Pow => (2..=2, |c| elementwise::binary(c, Binary::Power)),
        Op::Prelu => (2..=2, elementwise::prelu),
        Op::Quantize => (1..=1, quantization::quantize),
        Op::RandomStandardNormal => (1..=1, random::standard_normal),
        Op::RandomUniform => (1..=1, random::uniform),
        Op::Range => (3..=3, generation::range),
        Op::Rank => (1..=1, generation::rank),
        Op::ReadVariable => (1..=1, variables::read_variable),
        Op::Real => (1..=1, |c| spectrum::part(c, 0)),
        Op::ReduceAll => (2..=2, |c| reduction::reduce(c, Reduce::All)),
        Op::ReduceAny => (2..=2, |c| reduction::reduce(c, Reduce::Any)),
        Op::ReduceMax => (2..=2, |c| reduction::reduce(c, Reduce::Max)),
        Op::ReduceMin => (2..=2, |c| reduction::reduce(c, Reduce::Min)),
        Op::ReduceProd => (2..=2, |c| reduction::reduce(c, Reduce::Prod)),
        Op::ReduceWindow => (5..=5, reduce_window::reduce_window),
        Op::Relu => (1..=1, |c| activation::plain(c, Activation::ReLu, 0.0, 0.0)),
        Op::Relu0To1 => (1..=1, |c| {
            activation::plain(c, Activation::BoundedReLu, 1.0, 0.0)
        }),
        Op::Relu6 => (1..=1, |c| {
            activation::plain(c, Activation::BoundedReLu, 6.0, 0.0)
        }),
        Op::ReluN1To1 => (1..=1, |c| {
            activation::plain(c, Activation::BoundedReLu, 1.0, -1.0)
        }),
        Op::Reshape => (1..=2, reshaping::reshape),
        Op::ResizeBilinear => (2..=2, resizing::bilinear),
        Op::ResizeNearestNeighbor => (2..=2, resizing::nearest_neighbor),
        Op::ReverseSequence => (2..=2, indexing::reverse_sequence),
        Op::ReverseV2 => (2..=2, indexing::reverse_v2),
        Op::Rfft2d => (2..=2, spectrum::rfft_2d),
        Op::RightShift => (2..=2, |c| elementwise::binary(c, Binary::ShiftRight)),
        Op::Rnn => (5..=5, plain_recurrent::rnn),
        Op::Round => (1..=1, |c| elementwise::unary(c, Unary::Round)),
        Op::Rsqrt => (1..=1, |c| elementwise::unary(c, Unary::Rsqrt)),
        Op::ScatterNd => (3..=3, indexing::scatter_nd),
        Op::SegmentSum => (2..=2, indexing::segment_sum),
        Op::Select => (3..=3, choice::select),
        Op::SelectV2 => (3..=3, choice::select_v2),
        Op::Shape => (1..=1, generation::shape),
        Op::Sign => (1..=1, |c| elementwise::unary(c, Unary::Sign)),
        Op::Sin => (1..=1, |c| elementwise::unary(c, Unary::Sin)),
        Op::Slice => (3..=3, selection::slice),
        Op::Softmax => (1..=1, reduction::softmax),
        Op::SpaceToBatchNd => (3..=3, blocks::space_to_batch_nd),
        Op::SpaceToDepth => (1..=1, blocks::space_to_depth),
        Op::SparseToDense => (4..=4, indexing::sparse_to_dense),
        Op::Split => (2..=2, selection::split),
        Op::SplitV => (3..=3, selection::split_v),
        Op::Sqrt => (1..=1, |c| elementwise::unary(c, Unary::Sqrt)),
        Op::Square => (1..=1, |c| elementwise::unary(c, Unary::Square)),
        Op::SquaredDifference => (2..=2, |c| elementwise::binary(c, Binary::SqDiff)),
        Op::Squeeze => (1..=1, reshaping::squeeze),
        Op::StablehloAbs => (1..=1, |c| elementwise::unary(c, Unary::Abs)),
        Op::StablehloAdd => (2..=2, |c| elementwise::binary(c, Binary::Add)),
        Op::StablehloAnd => (2..=2, |c| {
            stablehlo::bits(c, Logical::LogicalAnd, Binary::BitwiseAnd)
        }),
        Op::StablehloBroadcastInDim => (1..=2, stablehlo::broadcast_in_dim),
        Op::StablehloCase => (1..=usize::MAX, control_flow::case),
        Op::StablehloCbrt => (1..=1, stablehlo::cbrt),
        Op::StablehloClamp => (3..=3, stablehlo::clamp),
        Op::StablehloCompare => (2..=2, stablehlo::compare),
        Op::StablehloComposite => (0..=usize::MAX, control_flow::composite),
        Op::StablehloConcatenate => (1..=usize::MAX, stablehlo::concatenate),
        Op::StablehloConvert => (1..=1, stablehlo::convert),
        Op::StablehloConvolution => (2..=2, stablehlo_convolution::convolution),
        Op::StablehloCosine => (1..=1, |c| elementwise::unary(c, Unary::Cos)),
        Op::StablehloDivide => (2..=2, |c| elementwise::binary(c, Binary::Div)),
        Op::StablehloDotGeneral => (2..=2, dot_general::dot_general),
        Op::StablehloDynamicSlice => (1..=9, stablehlo::dynamic_slice),
        Op::StablehloDynamicUpdateSlice => (2..=10, stablehlo::dynamic_update_slice),
        Op::StablehloExponential => (1..=1, |c| elementwise::unary(c, Unary::Exp)),
        Op::StablehloFloor => (1..=1, |c| elementwise::unary(c, Unary::Floor)),
        Op::StablehloGather => (2..=2, stablehlo_indexing::gather),
        Op::StablehloIota => (0..=0, stablehlo::iota),
        Op::StablehloLog => (1..=1, |c| elementwise::unary(c, Unary::Log)),
        Op::StablehloLogistic => (1..=1, |c| {
            activation::plain(c, Activation::Sigmoid, 0.0, 0.0)
        }),
        Op::StablehloMaximum => (2..=2, |c| elementwise::binary(c, Binary::Maximum)),
        Op::StablehloMinimum => (2..=2, |c| elementwise::binary(c, Binary::Minimum)),
        Op::StablehloMultiply => (2..=2, |c| elementwise::binary(c, Binary::Mul)),
        Op::StablehloNegate => (1..=1, |c| elementwise::unary(c, Unary::Neg)),
        Op::StablehloOr => (2..=2, |c| {
            stablehlo::bits(c, Logical::LogicalOr, Binary::BitwiseOr)
        }),
        Op::StablehloPad => (2..=2, stablehlo::pad),
        Op::StablehloPower => (2..=2, |c| elementwise::binary(c, Binary::Power)),
        Op::StablehloReduce => (2..=usize::MAX, stablehlo::reduce),
        Op::StablehloReduceWindow => (2..=2, reduce_window::stablehlo_reduce_window),
        Op::StablehloRemainder => (2..=2, |c| elementwise::binary(c, Binary::TruncateMod)),
        Op::StablehloReshape => (1..=1, stablehlo::reshape),
        Op::StablehloRngBitGenerator => (1..=1, random_bits::rng_bit_generator),
        Op::StablehloRsqrt => (1..=1, |c| elementwise::unary(c, Unary::Rsqrt)),
        Op::StablehloScatter => (3..=3, stablehlo_indexing::scatter),
        Op::StablehloSelect => (3..=3, stablehlo::select),
        Op::StablehloShiftLeft => (2..=2, |c| elementwise::binary(c, Binary::ShiftLeft)),
        Op::StablehloSlice => (1..=1, stablehlo::slice),
        Op::StablehloSort => (1..=usize::MAX, stablehlo_sort::sort),
        Op::StablehloSubtract => (2..=2, |c| elementwise::binary(c, Binary::Sub)),
        Op::StablehloTanh => (1..=1, |c| activation::plain(c, Activation::TanH, 1.0, 1.0)),
        Op::StablehloTranspose => (1..=1, stablehlo::transpose),
        Op::StablehloWhile => (0..=usize::MAX, control_flow::stablehlo_while),
        Op::StridedSlice => (4..=4, strided_slice::strided_slice),
        Op::Sub => (2..=2, elementwise::sub),
        Op::Sum => (2..=2, |c| reduction::reduce(c, Reduce::Sum)),
        Op::Svdf => (5..=5, plain_recurrent::svdf),
        Op::Tanh => (1..=1, |c| activation::plain(c, Activation::TanH, 1.0, 1.0)),
        Op::Tile => (2..=2, generation::tile),
        Op::TopkV2 => (2..=2, choice::top_k),
        Op::Transpose => (2..=2, rearrangement::transpose),
        Op::TransposeConv => (3..=4, transpose_convolution::transpose_conv),
        Op::UnidirectionalSequenceLstm => (20..=24, recurrent::unidirectional_sequence_lstm),
        Op::UnidirectionalSequenceRnn => (5..=5, plain_recurrent::unidirectional_sequence_rnn),
        Op::Unique => (1..=1, indexing::unique),
        Op::Unpack => (1..=1, selection::unpack),
        Op::UnsortedSegmentMax => (3..=3, |c| indexing::unsorted_segment(c, Scatter::Max)),
        Op::UnsortedSegmentMin => (3..=3, |c| indexing::unsorted_segment(c, Scatter::Min)),
        Op::UnsortedSegmentProd => (3..=3, |c| indexing::unsorted_segment(c, Scatter::Mul)),
        Op::UnsortedSegmentSum => (3..=3, |c| indexing::unsorted_segment(c, Scatter::Add)),
        Op::VarHandle => (0..=0, variables::var_handle),
        Op::Where => (1..=1, indexing::positions),
        Op::While => (0..=usize::MAX, control_flow::while_loop),
        Op::ZerosLike => (1..=1, generation::zeros_like),
        _ => return None,
    };
    Some(Entry { inputs, lower })
}

/// How a custom operator is lowered, by its name.
fn custom(name: &str) -> Option<Entry> {
    let (inputs, lower): (_, fn(&mut Context<'_, '_, '_>) -> Result) = match name {
        "Convolution2DTransposeBias" => {
            (3..=3, transpose_convolution::convolution_2d_transpose_bias)
        }
        "TFLite_Detection_PostProcess" => (3..=3, choice::detection_post_process),
        _ => return None,
    };
    Some(Entry { inputs, lower })
}

impl Entry {
    /// Adds the operator's layers and binds its outputs.
    pub(super) fn lower(&self, context: &mut Context<'_, '_, '_>) -> Result {
        let found = context.input_count();
        let (least, most) = (*self.inputs.start(), *self.inputs.end());
        if !self.inputs.contains(&found) {
            let takes = match most {
                _ if least == most => least.to_string(),
                usize::MAX => format!("{least} or more"),
                _ => format!("{least} to {most}"),
            };
            let problem = format!("it has {found} inputs, but takes {takes}");
            return Err(Problem::malformed(problem));
        }
        (self.lower)(context)?;
        context.check_outputs_bound()
    }
}
