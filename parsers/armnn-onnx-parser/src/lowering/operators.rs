//! The operators that can be lowered.

use std::ops::RangeInclusive;

use armnn_backend_api::{
    ActivationFunction as Activation, ArgMinMaxFunction as Arg, BinaryOperation as Binary,
    ComparisonOperation as Comparison, CumulativeOperation as Cumulative,
    LogicalBinaryOperation as Logical, PoolingAlgorithm as Pooling, ReduceOperation as Reduce,
    UnaryOperation as Unary,
};
use armnn_network::{SequenceOperation as Sequence, StringOperation};

use super::context::Context;
use super::moved_strings::MovedStrings;
use super::problem::{Problem, Result};
use super::{
    activation, attention, casting, categories, classical, classifiers, control_flow, convolution,
    einsum, elementwise, folding, generation, image, linear_attention, loss, matrix, microsoft,
    ngrams, normalization, padding, pooling, quantization, quantized_arithmetic, random,
    rearrangement, recurrent, reduction, repetition, reshaping, resizing, selection, sequences,
    signal, slicing, strings, training, tree_ensemble,
};

/// How an operator type is lowered.
pub(super) struct Entry {
    /// How many inputs it has; absent ones count, except at the end.
    inputs: RangeInclusive<usize>,
    lower: fn(&mut Context<'_, '_>) -> Result,
}

/// How the operator type is lowered, if it can be.
///
/// `version` is that of the domain's operators. Where an operator has changed, its function looks at
/// the version.
pub(super) fn lowering_of(domain: &str, op_type: &str, version: i64) -> Option<Entry> {
    let (since, inputs, lower) = match domain {
        "" => entry(op_type)?,
        "ai.onnx.ml" => ml_entry(op_type)?,
        "ai.onnx.preview" => preview_entry(op_type)?,
        "ai.onnx.preview.training" => training_entry(op_type)?,
        "com.microsoft" => microsoft::microsoft_entry(op_type)?,
        _ => return None,
    };
    (version >= since).then_some(Entry { inputs, lower })
}

pub(super) type Row = (
    i64,
    RangeInclusive<usize>,
    fn(&mut Context<'_, '_>) -> Result,
);

/// Since which version the operator exists (1 for all before 6), its inputs, its function. In the
/// order of the alphabet.
#[rustfmt::skip]
fn entry(op_type: &str) -> Option<Row> {
    let row: Row = match op_type {
        "Abs" => (1, 1..=1, |c| elementwise::unary(c, Unary::Abs)),
        "Acos" => (7, 1..=1, |c| elementwise::unary(c, Unary::Acos)),
        "Acosh" => (9, 1..=1, |c| elementwise::unary(c, Unary::Acosh)),
        "Add" => (1, 2..=2, |c| elementwise::binary(c, Binary::Add)),
        "AffineGrid" => (20, 2..=2, image::affine_grid),
        "And" => (1, 2..=2, |c| elementwise::logical(c, Logical::LogicalAnd)),
        "ArgMax" => (1, 1..=1, |c| reduction::arg_min_max(c, Arg::Max)),
        "ArgMin" => (1, 1..=1, |c| reduction::arg_min_max(c, Arg::Min)),
        "Asin" => (7, 1..=1, |c| elementwise::unary(c, Unary::Asin)),
        "Asinh" => (9, 1..=1, |c| elementwise::unary(c, Unary::Asinh)),
        "Atan" => (7, 1..=1, |c| elementwise::unary(c, Unary::Atan)),
        "Atanh" => (9, 1..=1, |c| elementwise::unary(c, Unary::Atanh)),
        "Attention" => (23, 3..=7, attention::attention),
        "AveragePool" => (1, 1..=1, |c| pooling::pool(c, Pooling::Average)),
        "BatchNormalization" => (1, 5..=5, normalization::batch_normalization),
        "Bernoulli" => (15, 1..=1, random::bernoulli),
        "BitCast" => (26, 1..=1, casting::bit_cast),
        "BitShift" => (11, 2..=2, elementwise::bit_shift),
        "BitwiseAnd" => (18, 2..=2, |c| elementwise::binary(c, Binary::BitwiseAnd)),
        "BitwiseNot" => (18, 1..=1, |c| elementwise::unary(c, Unary::BitwiseNot)),
        "BitwiseOr" => (18, 2..=2, |c| elementwise::binary(c, Binary::BitwiseOr)),
        "BitwiseXor" => (18, 2..=2, |c| elementwise::binary(c, Binary::BitwiseXor)),
        "BlackmanWindow" => (17, 1..=1, |c| signal::window(c, signal::Window::Blackman)),
        "Cast" => (1, 1..=1, casting::cast),
        "CastLike" => (15, 2..=2, casting::cast_like),
        "CausalConvWithState" => (27, 2..=4, linear_attention::causal_conv_with_state),
        "Ceil" => (1, 1..=1, |c| elementwise::unary(c, Unary::Ceil)),
        "Celu" => (12, 1..=1, |c| activation::with_alpha(c, Activation::Celu, 1.0)),
        "CenterCropPad" => (18, 2..=2, repetition::center_crop_pad),
        "Clip" => (1, 1..=3, activation::clip),
        "Col2Im" => (18, 3..=3, image::col2im),
        "Compress" => (9, 2..=2, selection::compress),
        "Concat" => (1, 1..=usize::MAX, rearrangement::concat),
        "ConcatFromSequence" => (11, 1..=1, sequences::concat),
        "Constant" => (1, 0..=0, generation::constant),
        "ConstantOfShape" => (9, 1..=1, generation::constant_of_shape),
        "Conv" => (1, 2..=3, convolution::conv),
        "ConvInteger" => (10, 2..=4, quantized_arithmetic::conv_integer),
        "ConvTranspose" => (1, 2..=3, convolution::conv_transpose),
        "Cos" => (7, 1..=1, |c| elementwise::unary(c, Unary::Cos)),
        "Cosh" => (9, 1..=1, |c| elementwise::unary(c, Unary::Cosh)),
        "CumProd" => (26, 2..=2, |c| reduction::cumulative(c, Cumulative::Prod)),
        "CumSum" => (11, 2..=2, |c| reduction::cumulative(c, Cumulative::Sum)),
        "DFT" => (17, 1..=3, signal::dft),
        "DeformConv" => (19, 3..=5, convolution::deform_conv),
        "DepthToSpace" => (1, 1..=1, rearrangement::depth_to_space),
        "DequantizeLinear" => (10, 2..=3, quantization::dequantize_linear),
        "Det" => (11, 1..=1, matrix::det),
        "Div" => (1, 2..=2, |c| elementwise::binary(c, Binary::Div)),
        "Dropout" => (1, 1..=3, normalization::dropout),
        "DynamicQuantizeLinear" => (11, 1..=1, quantized_arithmetic::dynamic_quantize_linear),
        "Einsum" => (12, 1..=usize::MAX, einsum::einsum),
        "Elu" => (1, 1..=1, |c| activation::with_alpha(c, Activation::Elu, 1.0)),
        "Equal" => (1, 2..=2, elementwise::equal),
        "Erf" => (9, 1..=1, |c| elementwise::unary(c, Unary::Erf)),
        "Exp" => (1, 1..=1, |c| elementwise::unary(c, Unary::Exp)),
        "Expand" => (8, 2..=2, repetition::expand),
        "EyeLike" => (9, 1..=1, generation::eye_like),
        "Flatten" => (1, 1..=1, reshaping::flatten),
        "Floor" => (1, 1..=1, |c| elementwise::unary(c, Unary::Floor)),
        "GRU" => (3, 3..=6, recurrent::gru),
        "Gather" => (1, 2..=2, selection::gather),
        "GatherElements" => (11, 2..=2, selection::gather_elements),
        "GatherND" => (11, 2..=2, selection::gather_nd),
        "Gelu" => (20, 1..=1, activation::gelu),
        "Gemm" => (1, 2..=3, matrix::gemm),
        "GlobalAveragePool" => (1, 1..=1, |c| pooling::global(c, Reduce::Mean)),
        "GlobalLpPool" => (2, 1..=1, pooling::global_lp_pool),
        "GlobalMaxPool" => (1, 1..=1, |c| pooling::global(c, Reduce::Max)),
        "Greater" => (1, 2..=2, |c| elementwise::comparison(c, Comparison::Greater)),
        "GreaterOrEqual" => (12, 2..=2, |c| elementwise::comparison(c, Comparison::GreaterOrEqual)),
        "GridSample" => (16, 2..=2, image::grid_sample),
        "GroupNormalization" => (18, 3..=3, normalization::group_normalization),
        "HammingWindow" => (17, 1..=1, |c| signal::window(c, signal::Window::Hamming)),
        "HannWindow" => (17, 1..=1, |c| signal::window(c, signal::Window::Hann)),
        "HardSigmoid" => (1, 1..=1, activation::hard_sigmoid),
        "HardSwish" => (14, 1..=1, |c| activation::plain(c, Activation::HardSwish, 0.0, 0.0)),
        "Hardmax" => (1, 1..=1, reduction::hardmax),
        "Identity" => (1, 1..=1, |c| c.alias(0, 0)),
        "If" => (1, 1..=1, control_flow::if_then_else),
        "InstanceNormalization" => (1, 3..=3, normalization::instance_normalization),
        "IsInf" => (10, 1..=1, elementwise::is_inf),
        "IsNaN" => (9, 1..=1, |c| elementwise::test(c, Unary::IsNan)),
        "LRN" => (1, 1..=1, normalization::local_response),
        "LSTM" => (1, 3..=8, recurrent::lstm),
        "LayerNormalization" => (1, 2..=3, normalization::layer_normalization),
        "LeakyRelu" => (1, 1..=1, |c| activation::with_alpha(c, Activation::LeakyReLu, 0.01)),
        "Less" => (1, 2..=2, |c| elementwise::comparison(c, Comparison::Less)),
        "LessOrEqual" => (12, 2..=2, |c| elementwise::comparison(c, Comparison::LessOrEqual)),
        "LinearAttention" => (27, 3..=6, linear_attention::linear_attention),
        "Log" => (1, 1..=1, |c| elementwise::unary(c, Unary::Log)),
        "LogSoftmax" => (1, 1..=1, reduction::log_softmax),
        "Loop" => (1, 0..=usize::MAX, control_flow::loop_body),
        "LpNormalization" => (1, 1..=1, normalization::lp_normalization),
        "LpPool" => (1, 1..=1, pooling::lp_pool),
        "MatMul" => (1, 2..=2, matrix::mat_mul),
        "MatMulInteger" => (10, 2..=4, quantized_arithmetic::mat_mul_integer),
        "Max" => (1, 1..=usize::MAX, |c| elementwise::chain(c, Binary::Maximum)),
        "MaxPool" => (1, 1..=1, |c| pooling::pool(c, Pooling::Max)),
        "MaxUnpool" => (9, 2..=3, pooling::max_unpool),
        "Mean" => (1, 1..=usize::MAX, elementwise::mean),
        "MeanVarianceNormalization" => (9, 1..=1, normalization::mean_variance_normalization),
        "MelWeightMatrix" => (17, 5..=5, signal::mel_weight_matrix),
        "Min" => (1, 1..=usize::MAX, |c| elementwise::chain(c, Binary::Minimum)),
        "Mish" => (18, 1..=1, |c| activation::plain(c, Activation::Mish, 0.0, 0.0)),
        "Mod" => (10, 2..=2, elementwise::modulo),
        "Mul" => (1, 2..=2, |c| elementwise::binary(c, Binary::Mul)),
        "Neg" => (1, 1..=1, |c| elementwise::unary(c, Unary::Neg)),
        "Multinomial" => (7, 1..=1, random::multinomial),
        "NegativeLogLikelihoodLoss" => (12, 2..=3, loss::negative_log_likelihood),
        "NonMaxSuppression" => (10, 2..=5, image::non_max_suppression),
        "NonZero" => (9, 1..=1, selection::non_zero),
        "Not" => (1, 1..=1, |c| elementwise::unary(c, Unary::LogicalNot)),
        "OneHot" => (9, 3..=3, selection::one_hot),
        "Optional" => (15, 0..=1, sequences::optional),
        "OptionalGetElement" => (15, 1..=1, |c| sequences::plain(c, Sequence::GetElement)),
        "OptionalHasElement" => (15, 0..=1, |c| sequences::plain(c, Sequence::HasElement)),
        "Or" => (1, 2..=2, |c| elementwise::logical(c, Logical::LogicalOr)),
        "PRelu" => (1, 2..=2, activation::prelu),
        "Pad" => (1, 1..=4, padding::pad),
        "Pow" => (1, 2..=2, elementwise::pow),
        "QLinearConv" => (10, 8..=9, quantized_arithmetic::q_linear_conv),
        "QLinearMatMul" => (10, 8..=8, quantized_arithmetic::q_linear_mat_mul),
        "QuantizeLinear" => (10, 2..=3, quantization::quantize_linear),
        "RMSNormalization" => (23, 2..=2, normalization::rms_normalization),
        "RNN" => (1, 3..=6, recurrent::rnn),
        "RandomNormal" => (1, 0..=0, random::normal),
        "RandomNormalLike" => (1, 1..=1, random::normal_like),
        "RandomUniform" => (1, 0..=0, random::uniform),
        "RandomUniformLike" => (1, 1..=1, random::uniform_like),
        "Range" => (11, 3..=3, generation::range),
        "Reciprocal" => (1, 1..=1, |c| elementwise::unary(c, Unary::Reciprocal)),
        "ReduceL1" => (1, 1..=2, |c| reduction::reduce(c, Reduce::L1)),
        "ReduceL2" => (1, 1..=2, |c| reduction::reduce(c, Reduce::L2)),
        "ReduceLogSum" => (1, 1..=2, |c| reduction::reduce(c, Reduce::LogSum)),
        "ReduceLogSumExp" => (1, 1..=2, |c| reduction::reduce(c, Reduce::LogSumExp)),
        "ReduceMax" => (1, 1..=2, |c| reduction::reduce(c, Reduce::Max)),
        "ReduceMean" => (1, 1..=2, |c| reduction::reduce(c, Reduce::Mean)),
        "ReduceMin" => (1, 1..=2, |c| reduction::reduce(c, Reduce::Min)),
        "ReduceProd" => (1, 1..=2, |c| reduction::reduce(c, Reduce::Prod)),
        "ReduceSum" => (1, 1..=2, |c| reduction::reduce(c, Reduce::Sum)),
        "ReduceSumSquare" => (1, 1..=2, |c| reduction::reduce(c, Reduce::SumSquare)),
        "RegexFullMatch" => (20, 1..=1, strings::regex_full_match),
        "Relu" => (1, 1..=1, activation::relu),
        "Reshape" => (5, 2..=2, reshaping::reshape),
        "Resize" => (10, 1..=4, resizing::resize),
        "ReverseSequence" => (10, 2..=2, rearrangement::reverse_sequence),
        "RoiAlign" => (10, 3..=3, image::roi_align),
        "RotaryEmbedding" => (23, 3..=4, attention::rotary_embedding),
        "Round" => (11, 1..=1, |c| elementwise::unary(c, Unary::Round)),
        "STFT" => (17, 2..=4, signal::stft),
        "Scan" => (8, 1..=usize::MAX, control_flow::scan),
        "Scatter" => (9, 3..=3, selection::scatter_elements),
        "ScatterElements" => (11, 3..=3, selection::scatter_elements),
        "ScatterND" => (11, 3..=3, selection::scatter_nd),
        "Selu" => (1, 1..=1, activation::selu),
        "SequenceAt" => (11, 2..=2, |c| sequences::plain(c, Sequence::At)),
        "SequenceConstruct" => (11, 1..=usize::MAX, |c| sequences::plain(c, Sequence::Construct)),
        "SequenceEmpty" => (11, 0..=0, sequences::empty),
        "SequenceErase" => (11, 1..=2, |c| sequences::plain(c, Sequence::Erase)),
        "SequenceInsert" => (11, 2..=3, |c| sequences::plain(c, Sequence::Insert)),
        "SequenceLength" => (11, 1..=1, |c| sequences::plain(c, Sequence::Length)),
        "SequenceMap" => (17, 1..=usize::MAX, sequences::map),
        "Shape" => (1, 1..=1, generation::shape),
        "Shrink" => (9, 1..=1, activation::shrink),
        "Sigmoid" => (1, 1..=1, |c| activation::plain(c, Activation::Sigmoid, 0.0, 0.0)),
        "Sign" => (9, 1..=1, |c| elementwise::unary(c, Unary::Sign)),
        "SimplifiedLayerNormalization" => (1, 2..=2, normalization::simplified_layer_normalization),
        "Sin" => (7, 1..=1, |c| elementwise::unary(c, Unary::Sin)),
        "Sinh" => (9, 1..=1, |c| elementwise::unary(c, Unary::Sinh)),
        "Size" => (1, 1..=1, generation::size),
        "Slice" => (1, 1..=5, slicing::slice),
        "Softmax" => (1, 1..=1, reduction::softmax),
        "SoftmaxCrossEntropyLoss" => (12, 2..=3, loss::softmax_cross_entropy),
        "Softplus" => (1, 1..=1, |c| activation::plain(c, Activation::SoftReLu, 0.0, 0.0)),
        "Softsign" => (1, 1..=1, |c| activation::plain(c, Activation::SoftSign, 0.0, 0.0)),
        "SpaceToDepth" => (1, 1..=1, rearrangement::space_to_depth),
        "Split" => (2, 1..=2, slicing::split),
        "SplitToSequence" => (11, 1..=2, sequences::split),
        "Sqrt" => (1, 1..=1, |c| elementwise::unary(c, Unary::Sqrt)),
        "Squeeze" => (1, 1..=2, reshaping::squeeze),
        "StringConcat" => (20, 2..=2, |c| strings::plain(c, StringOperation::Concat)),
        "StringNormalizer" => (10, 1..=1, strings::normalize),
        "StringSplit" => (20, 1..=1, strings::split),
        "Sub" => (1, 2..=2, |c| elementwise::binary(c, Binary::Sub)),
        "Sum" => (1, 1..=usize::MAX, |c| elementwise::chain(c, Binary::Add)),
        "SwiGLU" => (28, 2..=2, activation::swiglu),
        "Swish" => (24, 1..=1, |c| activation::with_alpha(c, Activation::Swish, 1.0)),
        "Tan" => (7, 1..=1, |c| elementwise::unary(c, Unary::Tan)),
        "Tanh" => (1, 1..=1, |c| activation::plain(c, Activation::TanH, 1.0, 1.0)),
        "TensorScatter" => (24, 2..=3, attention::tensor_scatter),
        "TfIdfVectorizer" => (9, 1..=1, ngrams::tf_idf_vectorizer),
        "ThresholdedRelu" => (10, 1..=1, |c| activation::with_alpha(c, Activation::ThresholdedReLu, 1.0)),
        "Tile" => (6, 2..=2, repetition::tile),
        "TopK" => (1, 1..=2, reduction::top_k),
        "Transpose" => (1, 1..=1, rearrangement::transpose),
        "Trilu" => (14, 1..=2, rearrangement::trilu),
        "Unique" => (11, 1..=1, selection::unique),
        "Unsqueeze" => (1, 1..=2, reshaping::unsqueeze),
        "Upsample" => (7, 1..=2, resizing::upsample),
        "Where" => (9, 3..=3, elementwise::select),
        "Xor" => (1, 2..=2, |c| elementwise::logical(c, Logical::LogicalXor)),
        _ => return None,
    };
    Some(row)
}

/// The same of ai.onnx.ml.
#[rustfmt::skip]
fn ml_entry(op_type: &str) -> Option<Row> {
    let row: Row = match op_type {
        "ArrayFeatureExtractor" => (1, 2..=2, selection::array_feature_extractor),
        "LabelEncoder" => (2, 1..=1, categories::label_encoder),
        "Binarizer" => (1, 1..=1, activation::binarizer),
        "FeatureVectorizer" => (1, 1..=usize::MAX, classical::feature_vectorizer),
        "Imputer" => (1, 1..=1, classical::imputer),
        "LinearClassifier" => (1, 1..=1, classifiers::linear),
        "LinearRegressor" => (1, 1..=1, classical::linear_regressor),
        "Normalizer" => (1, 1..=1, classical::normalizer),
        "OneHotEncoder" => (1, 1..=1, categories::one_hot_encoder),
        "SVMRegressor" => (1, 1..=1, classical::svm_regressor),
        "Scaler" => (1, 1..=1, classical::scaler),
        "TreeEnsemble" => (5, 1..=1, tree_ensemble::tree_ensemble),
        "TreeEnsembleClassifier" => (1, 1..=1, classifiers::trees),
        "TreeEnsembleRegressor" => (1, 1..=1, tree_ensemble::regressor),
        _ => return None,
    };
    Some(row)
}

/// The same of ai.onnx.preview.
#[rustfmt::skip]
fn preview_entry(op_type: &str) -> Option<Row> {
    let row: Row = match op_type {
        "FlexAttention" => (1, 3..=3, attention::flex_attention),
        _ => return None,
    };
    Some(row)
}

/// The same of ai.onnx.preview.training.
#[rustfmt::skip]
fn training_entry(op_type: &str) -> Option<Row> {
    let row: Row = match op_type {
        "Adagrad" => (1, 3..=usize::MAX, training::adagrad),
        "Adam" => (1, 3..=usize::MAX, training::adam),
        "Momentum" => (1, 3..=usize::MAX, training::momentum),
        _ => return None,
    };
    Some(row)
}

impl Entry {
    /// Adds the node's layers and binds its outputs.
    pub(super) fn lower(&self, context: &mut Context<'_, '_>) -> Result {
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
        if context.version < 6 {
            // What early versions said of memory.
            context.attributes.ignore("consumed_inputs");
        }
        match MovedStrings::replace(context)? {
            Some(moved) => {
                let lowered = (self.lower)(context);
                moved.put_back(context, lowered)?;
            }
            None if folding::fold(context)? => {}
            None => (self.lower)(context)?,
        }
        context.attributes.check_all_asked_for()?;
        context.check_outputs_bound()
    }
}
