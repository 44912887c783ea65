//! Operators on quantized numbers that come with scales and zero points as inputs, and integer
//! products.
//!
//! Sums of products that are outputs are computed in floating point that holds them exactly; those
//! that are rounded to 8 bits, in Float32.

use armnn_backend_api::{
    BatchMatMulDescriptor, BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation,
    DataType, ReduceOperation as Reduce, SelectDescriptor, UnaryOperation as Unary,
};
use armnn_network::TensorId;

use super::context::Context;
use super::convolution::convolution;
use super::matrix::without_vectors;
use super::problem::{Problem, Result};
use super::quantization::{plain, plain_input, rounded};
use super::windows::{Windows, windows};

/// The largest number of products of 8-bit numbers whose sum 32-bit floating point holds exactly.
const MOST_PRODUCTS: i64 = (1 << 24) / (255 * 255);

/// Inputs: a, its scale and zero point, b, its scale and zero point, the scale and the zero point of
/// the product.
pub(super) fn q_linear_mat_mul(c: &mut Context<'_, '_>) -> Result {
    let [a, b] = [0, 3].map(|position| c.input_shape(position));
    let (a_shape, b_shape) = (a?, b?);
    let (a_is_vector, b_is_vector) = (a_shape.rank() == 1, b_shape.rank() == 1);
    // What is lost beyond 24 bits is nothing beside the rounding to 8.
    let a = difference(c, 0, 2, DataType::Float32, Along::Rows)?;
    let b = difference(c, 3, 5, DataType::Float32, Along::Columns)?;
    let sums = product(c, a, b, a_is_vector, b_is_vector)?;
    let a_scale = real_parameter(c, 1, Along::Rows)?;
    let b_scale = real_parameter(c, 4, Along::Columns)?;
    let y_scale = real_parameter(c, 6, Along::Rows)?;
    let factor = c.binary(Binary::Mul, a_scale, b_scale)?;
    let factor = c.binary(Binary::Div, factor, y_scale)?;
    let quotient = c.binary(Binary::Mul, sums, factor)?;
    let zero_point = parameter(c, 7, Along::Rows)?;
    let numbers = c.info(zero_point)?.data_type;
    if !(a_is_vector || b_is_vector) {
        let output = rounded(c, quotient, Some(zero_point), numbers, true)?;
        return c.bind_tensor(0, output);
    }
    Err(Problem::unsupported(
        "a quantized product of vectors; make them matrices",
    ))
}

/// Inputs: a, b and their zero points; the output is exact.
pub(super) fn mat_mul_integer(c: &mut Context<'_, '_>) -> Result {
    let (a_shape, b_shape) = (c.input_shape(0)?, c.input_shape(1)?);
    let (a_is_vector, b_is_vector) = (a_shape.rank() == 1, b_shape.rank() == 1);
    let product_type = exact_type(a_shape.dims().last().copied());
    let a = difference(c, 0, 2, product_type, Along::Rows)?;
    let b = difference(c, 1, 3, product_type, Along::Columns)?;
    let sums = product(c, a, b, a_is_vector, b_is_vector)?;
    if !(a_is_vector || b_is_vector) {
        let output = c.last().cast(sums, DataType::Signed32)?;
        return c.bind_tensor(0, output);
    }
    let sums = c.cast(sums, DataType::Signed32)?;
    let output = without_vectors(c, sums, a_is_vector, b_is_vector)?;
    c.bind_tensor(0, output)
}

/// Inputs: x, weights, and their zero points; the output is exact.
pub(super) fn conv_integer(c: &mut Context<'_, '_>) -> Result {
    let (windows, product_type) = windows_of(c, 1, false)?;
    let x = difference(c, 0, 2, product_type, Along::Rows)?;
    let w = difference(c, 1, 3, product_type, Along::Channels)?;
    let sums = convolution(c, x, w, None, &windows, false)?;
    let output = c.last().cast(sums, DataType::Signed32)?;
    c.bind_tensor(0, output)
}

/// Inputs: x, weights and y, each with a scale and a zero point behind it (of y only these); the
/// bias, whose scale is the product of those of x and the weights.
pub(super) fn q_linear_conv(c: &mut Context<'_, '_>) -> Result {
    q_linear_conv_of(c, false)
}

/// The same with images whose channels may be the last dimension.
pub(super) fn q_linear_conv_of(c: &mut Context<'_, '_>, channels_last: bool) -> Result {
    // What is lost beyond 24 bits is nothing beside the rounding to 8.
    let (windows, product_type) = (windows_of(c, 3, channels_last)?.0, DataType::Float32);
    let mut x = difference(c, 0, 2, product_type, Along::Rows)?;
    if channels_last {
        let rank = c.shape(x)?.rank();
        x = c.transpose(x, &last_to_second(rank))?;
    }
    let w = difference(c, 3, 5, product_type, Along::Channels)?;
    let bias = match c.optional_input(8)? {
        Some(bias) => Some(c.cast(bias, product_type)?),
        None => None,
    };
    let sums = convolution(c, x, w, bias, &windows, false)?;
    let sums = c.cast(sums, DataType::Float32)?;
    let x_scale = real_parameter(c, 1, Along::Rows)?;
    let directions = windows.size.len();
    let w_scale = c.input(4)?;
    let w_scale = match c.shape(w_scale)?.dims() {
        [] | [1] => c.merge_step(w_scale, &[])?,
        [_] => c.merge_step(w_scale, &channel_groups(directions))?,
        _ => return Err(Problem::malformed("its weights' scales are no list")),
    };
    let y_scale = real_parameter(c, 6, Along::Rows)?;
    let factor = c.binary(Binary::Mul, x_scale, w_scale)?;
    let factor = c.binary(Binary::Div, factor, y_scale)?;
    let mut quotient = c.binary(Binary::Mul, sums, factor)?;
    if channels_last {
        let rank = c.shape(quotient)?.rank();
        quotient = c.transpose(quotient, &second_to_last(rank))?;
    }
    let zero_point = parameter(c, 7, Along::Rows)?;
    let numbers = c.info(zero_point)?.data_type;
    let output = rounded(c, quotient, Some(zero_point), numbers, true)?;
    c.bind_tensor(0, output)
}

/// The permutation that makes the last dimension the second.
pub(super) fn last_to_second(rank: usize) -> Vec<usize> {
    let last = rank.saturating_sub(1);
    [0, last].into_iter().chain(1..last).collect()
}

/// The permutation that makes the second dimension the last.
pub(super) fn second_to_last(rank: usize) -> Vec<usize> {
    [0].into_iter().chain(2..rank).chain([1]).collect()
}

/// To UINT8: scale and zero point follow from the smallest and the largest element, and 0.
pub(super) fn dynamic_quantize_linear(c: &mut Context<'_, '_>) -> Result {
    let x = c.input(0)?;
    let (scale, zero_point) = dynamic_parameters(c, x)?;
    let quotient = c.binary(Binary::Div, x, scale)?;
    let output = rounded(c, quotient, Some(zero_point), DataType::UInt8, true)?;
    c.bind_all(&[output, scale, zero_point])
}

/// Scale and zero point for numbers of UINT8.
fn dynamic_parameters(c: &mut Context<'_, '_>, x: TensorId) -> Result<(TensorId, TensorId)> {
    let axes: Vec<usize> = (0..c.shape(x)?.rank()).collect();
    let zero = c.number_like(x, 0.0)?;
    let largest = c.reduce(Reduce::Max, x, &axes, false)?;
    let largest = c.binary(Binary::Maximum, largest, zero)?;
    let smallest = c.reduce(Reduce::Min, x, &axes, false)?;
    let smallest = c.binary(Binary::Minimum, smallest, zero)?;
    let range = c.binary(Binary::Sub, largest, smallest)?;
    let most = c.number_like(x, 255.0)?;
    let scale = c.binary(Binary::Div, range, most)?;
    // Of zeros alone: any scale will do.
    let equal = ComparisonDescriptor::new(ComparisonOperation::Equal);
    let is_zero = c.step(equal, &[scale, zero])?;
    let one = c.number_like(x, 1.0)?;
    let scale = c.step(SelectDescriptor::new(), &[is_zero, one, scale])?;
    let negative = c.unary(Unary::Neg, smallest)?;
    let zero_point = c.binary(Binary::Div, negative, scale)?;
    let zero_point = c.unary(Unary::Round, zero_point)?;
    let zero_point = c.cast(zero_point, DataType::UInt8)?;
    Ok((scale, zero_point))
}

/// What the numbers of UINT8 that stand for x are, less their zero point, as floating point; and
/// their scale.
pub(super) fn dynamic_difference(
    c: &mut Context<'_, '_>,
    x: TensorId,
) -> Result<(TensorId, TensorId)> {
    let (scale, zero_point) = dynamic_parameters(c, x)?;
    let zero_point = c.cast(zero_point, DataType::Float32)?;
    let quotient = c.binary(Binary::Div, x, scale)?;
    let whole = c.unary(Unary::Round, quotient)?;
    // Bounds of UINT8, less the zero point.
    let least = c.unary(Unary::Neg, zero_point)?;
    let most = c.number_like(x, 255.0)?;
    let most = c.binary(Binary::Sub, most, zero_point)?;
    let whole = c.binary(Binary::Maximum, whole, least)?;
    Ok((c.binary(Binary::Minimum, whole, most)?, scale))
}

/// Along which dimension a list of scales or zero points lies.
#[derive(Clone, Copy)]
enum Along {
    /// The last but one.
    Rows,
    /// The last.
    Columns,
    /// The first, of weights.
    Channels,
}

/// A scale or a zero point so that it broadcasts to a product.
fn parameter(c: &mut Context<'_, '_>, position: usize, along: Along) -> Result<TensorId> {
    let id = c.input(position)?;
    match (c.shape(id)?.dims(), along) {
        ([] | [1], _) => c.merge_step(id, &[]),
        ([_], Along::Rows) => c.merge_step(id, &[vec![0], vec![]]),
        ([_], Along::Columns | Along::Channels) => Ok(id),
        _ => Ok(id),
    }
}

fn real_parameter(c: &mut Context<'_, '_>, position: usize, along: Along) -> Result<TensorId> {
    let id = parameter(c, position, along)?;
    c.cast(id, DataType::Float32)
}

/// Numbers less their zero point, as floating point that holds them exactly.
fn difference(
    c: &mut Context<'_, '_>,
    position: usize,
    zero_point: usize,
    to: DataType,
    along: Along,
) -> Result<TensorId> {
    let x = plain_input(c, position)?;
    let rank = c.shape(x)?.rank();
    let x = c.cast(x, to)?;
    if !c.has_input(zero_point) {
        return Ok(x);
    }
    let mut zero = parameter(c, zero_point, along)?;
    if let Along::Channels = along
        && c.shape(zero)?.rank() == 1
    {
        zero = c.merge_step(zero, &channel_groups(rank.saturating_sub(1)))?;
    }
    let zero = plain(c, zero)?;
    let zero = c.cast(zero, to)?;
    c.binary(Binary::Sub, x, zero)
}

/// A list along the dimension before `behind` others.
fn channel_groups(behind: usize) -> Vec<Vec<usize>> {
    std::iter::once(vec![0])
        .chain(std::iter::repeat_n(Vec::new(), behind))
        .collect()
}

/// Floating point that holds sums of so many products of 8-bit numbers.
fn exact_type(products: Option<i64>) -> DataType {
    match products {
        Some(0..=MOST_PRODUCTS) => DataType::Float32,
        _ => DataType::Float64,
    }
}

/// The product as a step, with dimensions of size 1 in place of vectors.
fn product(
    c: &mut Context<'_, '_>,
    mut a: TensorId,
    mut b: TensorId,
    a_is_vector: bool,
    b_is_vector: bool,
) -> Result<TensorId> {
    if a_is_vector {
        a = c.merge_step(a, &[vec![], vec![0]])?;
    }
    if b_is_vector {
        b = c.merge_step(b, &[vec![0], vec![]])?;
    }
    c.step(BatchMatMulDescriptor::new(false, false), &[a, b])
}

/// The windows of a convolution whose weights are an input, and what its sums are computed in.
fn windows_of(
    c: &mut Context<'_, '_>,
    weights: usize,
    channels_last: bool,
) -> Result<(Windows, DataType)> {
    let (shape, weights) = (c.input_shape(0)?, c.input_shape(weights)?);
    let spatial = match channels_last {
        true => shape.dims().get(1..shape.rank().saturating_sub(1)),
        false => shape.dims().get(2..),
    };
    let (Some(spatial), Some(size)) = (spatial, weights.dims().get(2..)) else {
        return Err(Problem::malformed(format!(
            "its input is {shape} and its weights are {weights}"
        )));
    };
    if spatial.len() != size.len() {
        return Err(Problem::malformed(format!(
            "its input is {shape}, but its weights are {weights}"
        )));
    }
    let windows = windows(c, spatial, Some(size))?;
    let products = weights.dims()[1..]
        .iter()
        .try_fold(1i64, |n, &dim| n.checked_mul(dim).filter(|&n| n >= 0));
    Ok((windows, exact_type(products)))
}
