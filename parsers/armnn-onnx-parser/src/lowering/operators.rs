//! The operators that can be lowered.

use std::ops::RangeInclusive;

use armnn_backend_api::{
    ActivationFunction as Activation, BinaryOperation as Binary, ComparisonOperation as Comparison,
    PoolingAlgorithm as Pooling, ReduceOperation as Reduce, UnaryOperation as Unary,
};

use super::context::Context;
use super::problem::{Problem, Result};
use super::{
    activation, convolution, elementwise, folding, generation, matrix, normalization, padding,
    pooling, quantization, rearrangement, reduction, reshaping, resizing, selection, slicing,
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
    if !domain.is_empty() {
        return None;
    }
    let (since, inputs, lower) = entry(op_type)?;
    (version >= since).then_some(Entry { inputs, lower })
}

type Row = (
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
        "Add" => (1, 2..=2, |c| elementwise::binary(c, Binary::Add)),
        "And" => (1, 2..=2, folding::only),
        "AveragePool" => (1, 1..=1, |c| pooling::pool(c, Pooling::Average)),
        "BatchNormalization" => (1, 5..=5, normalization::batch_normalization),
        "Cast" => (1, 1..=1, quantization::cast),
        "CastLike" => (15, 2..=2, quantization::cast_like),
        "Ceil" => (1, 1..=1, |c| elementwise::unary(c, Unary::Ceil)),
        "Celu" => (12, 1..=1, activation::celu),
        "Clip" => (1, 1..=3, activation::clip),
        "Concat" => (1, 1..=usize::MAX, rearrangement::concat),
        "Constant" => (1, 0..=0, generation::constant),
        "ConstantOfShape" => (9, 1..=1, generation::constant_of_shape),
        "Conv" => (1, 2..=3, convolution::conv),
        "DequantizeLinear" => (10, 2..=3, quantization::dequantize_linear),
        "Div" => (1, 2..=2, |c| elementwise::binary(c, Binary::Div)),
        "Dropout" => (1, 1..=3, normalization::dropout),
        "Elu" => (1, 1..=1, |c| activation::with_alpha(c, Activation::Elu, 1.0)),
        "Equal" => (1, 2..=2, |c| elementwise::comparison(c, Comparison::Equal)),
        "Exp" => (1, 1..=1, |c| elementwise::unary(c, Unary::Exp)),
        "Flatten" => (1, 1..=1, reshaping::flatten),
        "Floor" => (1, 1..=1, |c| elementwise::unary(c, Unary::Floor)),
        "Gather" => (1, 2..=2, selection::gather),
        "Gelu" => (20, 1..=1, activation::gelu),
        "Gemm" => (1, 2..=3, matrix::gemm),
        "GlobalAveragePool" => (1, 1..=1, |c| pooling::global(c, Reduce::Mean)),
        "GlobalMaxPool" => (1, 1..=1, |c| pooling::global(c, Reduce::Max)),
        "Greater" => (1, 2..=2, |c| elementwise::comparison(c, Comparison::Greater)),
        "GreaterOrEqual" => (12, 2..=2, |c| elementwise::comparison(c, Comparison::GreaterOrEqual)),
        "HardSigmoid" => (1, 1..=1, activation::hard_sigmoid),
        "HardSwish" => (14, 1..=1, |c| activation::plain(c, Activation::HardSwish, 0.0, 0.0)),
        "Identity" => (1, 1..=1, |c| c.alias(0, 0)),
        "LeakyRelu" => (1, 1..=1, |c| activation::with_alpha(c, Activation::LeakyReLu, 0.01)),
        "Less" => (1, 2..=2, |c| elementwise::comparison(c, Comparison::Less)),
        "LessOrEqual" => (12, 2..=2, |c| elementwise::comparison(c, Comparison::LessOrEqual)),
        "Log" => (1, 1..=1, |c| elementwise::unary(c, Unary::Log)),
        "LogSoftmax" => (1, 1..=1, reduction::log_softmax),
        "MatMul" => (1, 2..=2, matrix::mat_mul),
        "Max" => (1, 1..=usize::MAX, |c| elementwise::chain(c, Binary::Maximum)),
        "MaxPool" => (1, 1..=1, |c| pooling::pool(c, Pooling::Max)),
        "Mean" => (1, 1..=usize::MAX, elementwise::mean),
        "Min" => (1, 1..=usize::MAX, |c| elementwise::chain(c, Binary::Minimum)),
        "Mish" => (18, 1..=1, activation::mish),
        "Mul" => (1, 2..=2, |c| elementwise::binary(c, Binary::Mul)),
        "Neg" => (1, 1..=1, |c| elementwise::unary(c, Unary::Neg)),
        "Not" => (1, 1..=1, |c| elementwise::unary(c, Unary::LogicalNot)),
        "Or" => (1, 2..=2, folding::only),
        "PRelu" => (1, 2..=2, activation::prelu),
        "Pad" => (1, 1..=4, padding::pad),
        "Pow" => (1, 2..=2, elementwise::pow),
        "QuantizeLinear" => (10, 2..=3, quantization::quantize_linear),
        "Range" => (11, 3..=3, folding::only),
        "Reciprocal" => (1, 1..=1, elementwise::reciprocal),
        "ReduceL1" => (1, 1..=2, |c| reduction::composed(c, reduction::Composed::L1)),
        "ReduceL2" => (1, 1..=2, |c| reduction::composed(c, reduction::Composed::L2)),
        "ReduceLogSum" => (1, 1..=2, |c| reduction::composed(c, reduction::Composed::LogSum)),
        "ReduceMax" => (1, 1..=2, |c| reduction::reduce(c, Reduce::Max)),
        "ReduceMean" => (1, 1..=2, |c| reduction::reduce(c, Reduce::Mean)),
        "ReduceMin" => (1, 1..=2, |c| reduction::reduce(c, Reduce::Min)),
        "ReduceProd" => (1, 1..=2, |c| reduction::reduce(c, Reduce::Prod)),
        "ReduceSum" => (1, 1..=2, |c| reduction::reduce(c, Reduce::Sum)),
        "ReduceSumSquare" => (1, 1..=2, |c| reduction::composed(c, reduction::Composed::SumSquare)),
        "Relu" => (1, 1..=1, activation::relu),
        "Reshape" => (5, 2..=2, reshaping::reshape),
        "Resize" => (10, 1..=4, resizing::resize),
        "Selu" => (1, 1..=1, activation::selu),
        "Shape" => (1, 1..=1, generation::shape),
        "Sigmoid" => (1, 1..=1, |c| activation::plain(c, Activation::Sigmoid, 0.0, 0.0)),
        "Sin" => (7, 1..=1, |c| elementwise::unary(c, Unary::Sin)),
        "Size" => (1, 1..=1, generation::size),
        "Slice" => (1, 1..=5, slicing::slice),
        "Softmax" => (1, 1..=1, reduction::softmax),
        "Softplus" => (1, 1..=1, |c| activation::plain(c, Activation::SoftReLu, 0.0, 0.0)),
        "Softsign" => (1, 1..=1, activation::softsign),
        "Split" => (2, 1..=2, selection::split),
        "Sqrt" => (1, 1..=1, |c| elementwise::unary(c, Unary::Sqrt)),
        "Squeeze" => (1, 1..=2, reshaping::squeeze),
        "Sub" => (1, 2..=2, |c| elementwise::binary(c, Binary::Sub)),
        "Sum" => (1, 1..=usize::MAX, |c| elementwise::chain(c, Binary::Add)),
        "Swish" => (24, 1..=1, activation::swish),
        "Tanh" => (1, 1..=1, |c| activation::plain(c, Activation::TanH, 1.0, 1.0)),
        "Transpose" => (1, 1..=1, rearrangement::transpose),
        "Unsqueeze" => (1, 1..=2, reshaping::unsqueeze),
        "Upsample" => (7, 1..=2, resizing::upsample),
        "Where" => (9, 3..=3, folding::only),
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
        if !folding::fold(context)? {
            (self.lower)(context)?;
        }
        context.attributes.check_all_asked_for()?;
        context.check_outputs_bound()
    }
}
