//! Normalization of sums.

use armnn_backend_api::{
    BinaryOperation as Binary, DataType, LayerNormalizationDescriptor, ReduceOperation as Reduce,
    UnaryOperation as Unary,
};
use armnn_network::TensorId;

use super::fused::with_bias;
use crate::lowering::context::{Context, small};
use crate::lowering::problem::{Problem, Result};

/// input + skip (+ bias), normalized along the last dimension, with the mean subtracted or not.
/// Inputs: input, skip, scale, the offset if the mean is subtracted, bias. The last output is the
/// sum.
pub(super) fn skip(c: &mut Context<'_, '_>, subtracts_mean: bool) -> Result {
    let epsilon = c.attributes.float("epsilon", 1e-12)?;
    let (x, skip) = (c.input(0)?, c.input(1)?);
    let (offset, bias) = match subtracts_mean {
        true => (c.optional_input(3)?, c.optional_input(4)?),
        false => (None, c.optional_input(3)?),
    };
    let sum = c.binary(Binary::Add, x, skip)?;
    let sum = with_bias(c, sum, bias)?;
    let scale = c.input(2)?;
    let output = normalized(c, sum, scale, offset, epsilon, subtracts_mean)?;
    c.bind_tensor(0, output)?;
    if c.has_output(1) || c.has_output(2) {
        let last = c.shape(sum)?.rank().saturating_sub(1);
        let sum = c.cast(sum, DataType::Float32)?;
        let mean = c.reduce(Reduce::Mean, sum, &[last], true)?;
        let centred = match subtracts_mean {
            true => c.binary(Binary::Sub, sum, mean)?,
            false => sum,
        };
        let squares = c.unary(Unary::Square, centred)?;
        let variance = c.reduce(Reduce::Mean, squares, &[last], true)?;
        let epsilon = c.number_like(variance, epsilon.into())?;
        let variance = c.binary(Binary::Add, variance, epsilon)?;
        let inverse = c.unary(Unary::Rsqrt, variance)?;
        for (position, id) in [(1, mean), (2, inverse)] {
            if c.has_output(position) {
                c.bind_tensor(position, id)?;
            }
        }
    }
    match c.has_output(3) {
        true => c.bind_tensor(3, sum),
        false => Ok(()),
    }
}

/// As the standard operators LayerNormalization and RMSNormalization along the last dimension;
/// writes the first output.
pub(super) fn normalized(
    c: &mut Context<'_, '_>,
    x: TensorId,
    scale: TensorId,
    offset: Option<TensorId>,
    epsilon: f32,
    subtracts_mean: bool,
) -> Result<TensorId> {
    let Some(last) = c.shape(x)?.rank().checked_sub(1) else {
        return Err(Problem::malformed("its input has no dimensions"));
    };
    let descriptor = LayerNormalizationDescriptor {
        subtract_mean: subtracts_mean.into(),
        ..LayerNormalizationDescriptor::new(epsilon, small(last, "an axis")?)
    };
    let inputs = match offset {
        Some(_) => vec![Some(x), Some(scale), offset],
        None => vec![Some(x), Some(scale)],
    };
    let outputs = c.last().step_all(descriptor, &inputs, &[])?;
    let output = outputs.first().copied();
    output.ok_or_else(|| Problem::malformed("it has no outputs"))
}
