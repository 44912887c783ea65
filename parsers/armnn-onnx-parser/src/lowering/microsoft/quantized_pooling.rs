//! Windows over quantized images, with channels in the second or the last dimension.

use armnn_backend_api::{BinaryOperation as Binary, DataType, PoolingAlgorithm, ReduceOperation};
use armnn_network::TensorId;

use super::quantized::{
    difference, parameter, real, real_zero_point, rounded_output, rounded_with_zero_point,
};
use crate::lowering::context::Context;
use crate::lowering::pooling::pooling;
use crate::lowering::problem::{Problem, Result};
use crate::lowering::quantized_arithmetic::{last_to_second, q_linear_conv_of, second_to_last};
use crate::lowering::windows::{Windows, windows};

/// Inputs: x, its scale and zero point, scale and zero point of the output.
pub(super) fn average_pool(c: &mut Context<'_, '_>) -> Result {
    let channels_last = c.attributes.flag("channels_last", false)?;
    let padding_counts = c.attributes.flag("count_include_pad", false)?;
    let windows = windows_of(c, channels_last)?;
    let x = real(c, [0, 1, 2])?;
    let x = channels_second(c, x, channels_last)?;
    let means = if padding_counts && c.attributes.flag("ceil_mode", false)? {
        // ONNX Runtime divides by the size of the whole window even where it reaches beyond the
        // padding, unlike in AveragePool.
        let sums = pooling(c, x, PoolingAlgorithm::Sum, &windows, false, false)?;
        let size: f64 = windows.size.iter().map(|&size| f64::from(size)).product();
        let size = c.number_like(sums, size)?;
        c.binary(Binary::Div, sums, size)?
    } else {
        let algorithm = PoolingAlgorithm::Average;
        pooling(c, x, algorithm, &windows, padding_counts, false)?
    };
    let means = channels_as_before(c, means, channels_last)?;
    // ONNX Runtime adds the zero point before it rounds.
    let scale = parameter(c, 3)?;
    let quotient = c.binary(Binary::Div, means, scale)?;
    let zero = real_zero_point(c, 4)?;
    let moved = c.binary(Binary::Add, quotient, zero)?;
    rounded_with_zero_point(c, moved, 4)
}

/// The same over whole images.
pub(super) fn global_average_pool(c: &mut Context<'_, '_>) -> Result {
    let channels_last = c.attributes.flag("channels_last", false)?;
    let x = difference(c, 0, 2, DataType::Float32)?;
    let rank = c.shape(x)?.rank();
    if rank < 3 {
        return Err(Problem::malformed(format!(
            "its input has {rank} dimensions"
        )));
    }
    let axes: Vec<usize> = match channels_last {
        true => (1..rank - 1).collect(),
        false => (2..rank).collect(),
    };
    // One factor for the sum, as ONNX Runtime has it: sums halfway between two numbers are common.
    let sums = c.reduce(ReduceOperation::Sum, x, &axes, true)?;
    let (first, end) = (axes[0], axes[axes.len() - 1] + 1);
    let sizes = c.shape_step(x, first, end)?;
    let count = c.reduce(ReduceOperation::Prod, sizes, &[0], false)?;
    let count = c.cast(count, DataType::Float32)?;
    let (x_scale, y_scale) = (parameter(c, 1)?, parameter(c, 3)?);
    let divisor = c.binary(Binary::Mul, y_scale, count)?;
    let factor = c.binary(Binary::Div, x_scale, divisor)?;
    let quotient = c.binary(Binary::Mul, sums, factor)?;
    rounded_output(c, quotient, 4)
}

/// The largest number of each window of an image with channels last.
pub(super) fn nhwc_max_pool(c: &mut Context<'_, '_>) -> Result {
    let windows = windows_of(c, true)?;
    let x = c.input(0)?;
    let x = channels_second(c, x, true)?;
    let largest = pooling(c, x, PoolingAlgorithm::Max, &windows, false, false)?;
    let rank = c.shape(largest)?.rank();
    let output = c.last().transpose(largest, &second_to_last(rank))?;
    c.bind_tensor(0, output)
}

/// As the standard operator, but that channels may be last in images (not in weights).
pub(super) fn q_linear_conv(c: &mut Context<'_, '_>) -> Result {
    c.version = 10;
    let channels_last = c.attributes.flag("channels_last", false)?;
    q_linear_conv_of(c, channels_last)
}

fn windows_of(c: &mut Context<'_, '_>, channels_last: bool) -> Result<Windows> {
    let shape = c.input_shape(0)?;
    let rank = shape.rank();
    let spatial = match channels_last {
        true => shape.dims().get(1..rank.saturating_sub(1)),
        false => shape.dims().get(2..),
    };
    match spatial {
        Some(spatial) if rank >= 3 => windows(c, spatial, None),
        _ => Err(Problem::malformed(format!("its input is {shape}"))),
    }
}

fn channels_second(c: &mut Context<'_, '_>, x: TensorId, channels_last: bool) -> Result<TensorId> {
    if !channels_last {
        return Ok(x);
    }
    let rank = c.shape(x)?.rank();
    c.transpose(x, &last_to_second(rank))
}

fn channels_as_before(
    c: &mut Context<'_, '_>,
    x: TensorId,
    channels_last: bool,
) -> Result<TensorId> {
    if !channels_last {
        return Ok(x);
    }
    let rank = c.shape(x)?.rank();
    c.transpose(x, &second_to_last(rank))
}
