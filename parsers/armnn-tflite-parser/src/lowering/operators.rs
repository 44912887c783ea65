//! The operators that can be lowered.

use std::ops::RangeInclusive;

use armnn_backend_api::{ActivationFunction, BinaryOperation, PoolingAlgorithm};

use super::context::Context;
use super::problem::{Problem, Result};
use super::{
    activation, convolution, elementwise, pooling, quantization, rearrangement, reshaping,
};
use crate::model::OperatorCode;
use crate::schema_generated::BuiltinOperator as Op;

/// How an operator type is lowered.
pub(super) struct Entry {
    /// How many inputs it has; absent ones count, except at the end.
    inputs: RangeInclusive<usize>,
    lower: fn(&mut Context<'_, '_, '_>) -> Result,
}

/// How the operator type is lowered, if it can be.
///
/// The version plays no part: it says since when an operator has had the types and options that
/// this use of it needs, and those are looked at one by one.
pub(super) fn lowering_of(code: OperatorCode<'_>) -> Option<Entry> {
    let (inputs, lower): (_, fn(&mut Context<'_, '_, '_>) -> Result) = match code.known()? {
        Op::Add => (2..=2, |c| elementwise::activated(c, BinaryOperation::Add)),
        Op::Concatenation => (1..=usize::MAX, rearrangement::concatenation),
        Op::Conv2d => (2..=3, convolution::conv_2d),
        Op::DepthwiseConv2d => (2..=3, convolution::depthwise_conv_2d),
        Op::Dequantize => (1..=1, quantization::dequantize),
        Op::MaxPool2d => (1..=1, |c| pooling::pool_2d(c, PoolingAlgorithm::Max)),
        Op::Pad => (2..=2, rearrangement::pad),
        Op::Relu => (1..=1, |c| {
            activation::plain(c, ActivationFunction::ReLu, 0.0, 0.0)
        }),
        Op::Reshape => (1..=2, reshaping::reshape),
        _ => return None,
    };
    Some(Entry { inputs, lower })
}

impl Entry {
    /// Adds the operator's layers and binds its outputs.
    pub(super) fn lower(&self, context: &mut Context<'_, '_, '_>) -> Result {
        let found = context.input_count();
        if !self.inputs.contains(&found) {
            let most = match *self.inputs.end() {
                usize::MAX => "any number of".to_owned(),
                most => most.to_string(),
            };
            return Err(Problem::malformed(format!(
                "it has {found} inputs, but takes {} to {most}",
                self.inputs.start()
            )));
        }
        (self.lower)(context)?;
        context.check_outputs_bound()
    }
}
