//! The operators that can be lowered.

use std::ops::RangeInclusive;

use armnn_backend_api::{
    ActivationFunction as Activation, BinaryOperation as Binary, ComparisonOperation as Comparison,
    PoolingAlgorithm as Pooling, ReduceOperation as Reduce, UnaryOperation as Unary,
};

use super::context::Context;
use super::problem::{Problem, Result};
use super::{
    activation, control_flow, convolution, elementwise, matrix, pooling, quantization,
    rearrangement, reduction, reshaping, resizing, selection, strided_slice, variables,
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
        Op::Abs => (1..=1, |c| elementwise::unary(c, Unary::Abs)),
        Op::Add => (2..=2, elementwise::add),
        Op::AssignVariable => (2..=2, variables::assign_variable),
        Op::AveragePool2d => (1..=1, |c| pooling::pool_2d(c, Pooling::Average)),
        Op::BatchMatmul => (2..=2, matrix::batch_matmul),
        Op::Call => (0..=usize::MAX, control_flow::call),
        Op::CallOnce => (0..=0, control_flow::call_once),
        Op::Cast => (1..=1, quantization::cast),
        Op::Ceil => (1..=1, |c| elementwise::unary(c, Unary::Ceil)),
        Op::Concatenation => (1..=usize::MAX, rearrangement::concatenation),
        Op::Conv2d => (2..=3, convolution::conv_2d),
        Op::DepthwiseConv2d => (2..=3, convolution::depthwise_conv_2d),
        Op::Dequantize => (1..=1, quantization::dequantize),
        Op::Div => (2..=2, elementwise::div),
        Op::Elu => (1..=1, |c| activation::plain(c, Activation::Elu, 1.0, 0.0)),
        Op::Equal => (2..=2, |c| elementwise::comparison(c, Comparison::Equal)),
        Op::Exp => (1..=1, |c| elementwise::unary(c, Unary::Exp)),
        Op::ExpandDims => (2..=2, reshaping::expand_dims),
        Op::Floor => (1..=1, |c| elementwise::unary(c, Unary::Floor)),
        Op::FullyConnected => (2..=3, matrix::fully_connected),
        Op::Gather => (2..=2, selection::gather),
        Op::Gelu => (1..=1, activation::gelu),
        Op::Greater => (2..=2, |c| elementwise::comparison(c, Comparison::Greater)),
        Op::GreaterEqual => (2..=2, |c| {
            elementwise::comparison(c, Comparison::GreaterOrEqual)
        }),
        Op::HardSwish => (1..=1, |c| {
            activation::plain(c, Activation::HardSwish, 0.0, 0.0)
        }),
        Op::If => (1..=usize::MAX, control_flow::if_else),
        Op::L2Pool2d => (1..=1, |c| pooling::pool_2d(c, Pooling::L2)),
        Op::LeakyRelu => (1..=1, activation::leaky_relu),
        Op::Less => (2..=2, |c| elementwise::comparison(c, Comparison::Less)),
        Op::LessEqual => (2..=2, |c| {
            elementwise::comparison(c, Comparison::LessOrEqual)
        }),
        Op::Log => (1..=1, |c| elementwise::unary(c, Unary::Log)),
        Op::LogicalNot => (1..=1, |c| elementwise::unary(c, Unary::LogicalNot)),
        Op::Logistic => (1..=1, |c| {
            activation::plain(c, Activation::Sigmoid, 0.0, 0.0)
        }),
        Op::MaxPool2d => (1..=1, |c| pooling::pool_2d(c, Pooling::Max)),
        Op::Maximum => (2..=2, |c| elementwise::binary(c, Binary::Maximum)),
        Op::Mean => (2..=2, |c| reduction::reduce(c, Reduce::Mean)),
        Op::Minimum => (2..=2, |c| elementwise::binary(c, Binary::Minimum)),
        Op::MirrorPad => (2..=2, rearrangement::mirror_pad),
        Op::Mul => (2..=2, elementwise::mul),
        Op::Neg => (1..=1, |c| elementwise::unary(c, Unary::Neg)),
        Op::NotEqual => (2..=2, |c| elementwise::comparison(c, Comparison::NotEqual)),
        Op::Pack => (1..=usize::MAX, rearrangement::pack),
        Op::Pad => (2..=2, rearrangement::pad),
        Op::Padv2 => (3..=3, rearrangement::padv2),
        Op::Pow => (2..=2, |c| elementwise::binary(c, Binary::Power)),
        Op::Prelu => (2..=2, elementwise::prelu),
        Op::Quantize => (1..=1, quantization::quantize),
        Op::ReduceMax => (2..=2, |c| reduction::reduce(c, Reduce::Max)),
        Op::ReduceMin => (2..=2, |c| reduction::reduce(c, Reduce::Min)),
        Op::ReduceProd => (2..=2, |c| reduction::reduce(c, Reduce::Prod)),
        Op::ReadVariable => (1..=1, variables::read_variable),
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
        Op::Rsqrt => (1..=1, |c| elementwise::unary(c, Unary::Rsqrt)),
        Op::Sin => (1..=1, |c| elementwise::unary(c, Unary::Sin)),
        Op::Slice => (3..=3, selection::slice),
        Op::Softmax => (1..=1, reduction::softmax),
        Op::Split => (2..=2, selection::split),
        Op::SplitV => (3..=3, selection::split_v),
        Op::Sqrt => (1..=1, |c| elementwise::unary(c, Unary::Sqrt)),
        Op::Square => (1..=1, |c| elementwise::unary(c, Unary::Square)),
        Op::SquaredDifference => (2..=2, |c| elementwise::binary(c, Binary::SqDiff)),
        Op::Squeeze => (1..=1, reshaping::squeeze),
        Op::StridedSlice => (4..=4, strided_slice::strided_slice),
        Op::Sub => (2..=2, elementwise::sub),
        Op::Sum => (2..=2, |c| reduction::reduce(c, Reduce::Sum)),
        Op::Tanh => (1..=1, |c| activation::plain(c, Activation::TanH, 1.0, 1.0)),
        Op::Transpose => (2..=2, rearrangement::transpose),
        Op::Unpack => (1..=1, selection::unpack),
        Op::StablehloCase => (1..=usize::MAX, control_flow::case),
        Op::StablehloComposite => (0..=usize::MAX, control_flow::composite),
        Op::StablehloWhile => (0..=usize::MAX, control_flow::stablehlo_while),
        Op::VarHandle => (0..=0, variables::var_handle),
        Op::While => (0..=usize::MAX, control_flow::while_loop),
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
