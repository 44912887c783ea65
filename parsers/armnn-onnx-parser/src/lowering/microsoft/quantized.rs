//! Functions of quantized numbers that come with scales and zero points as inputs: real numbers are
//! made of them, computed with, and quantized again, as ONNX Runtime's kernels define it.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction as Activation, BinaryOperation as Binary,
    BitCastDescriptor, ConcatDescriptor, DataType, DequantizeDescriptor, Quantization,
    SelectDescriptor, SoftmaxDescriptor, UnaryOperation as Unary,
};
use armnn_network::{OutputDeclaration, TensorId};

use crate::lowering::context::{Context, axis, small};
use crate::lowering::problem::{Problem, Result};
use crate::lowering::quantization::{plain, plain_input, rounded};

/// The positions of numbers, their scale and their zero point, in this order.
const FIRST: [usize; 3] = [0, 1, 2];

/// a + b. Inputs: a, its scale and zero point, the same of b, scale and zero point of the output.
///
/// As ONNX Runtime computes it: a (a's scale / the output's) + b (b's scale / the output's), plus what
/// follows from the zero points, and rounded then. Numbers halfway between two are common, where
/// scales have simple ratios.
pub(super) fn add(c: &mut Context<'_, '_>) -> Result {
    let [a, b] = [plain_input(c, 0)?, plain_input(c, 3)?];
    let (a, b) = (c.cast(a, DataType::Float32)?, c.cast(b, DataType::Float32)?);
    let [a_scale, b_scale, scale] = [single(c, 1)?, single(c, 4)?, single(c, 6)?];
    let a_ratio = c.binary(Binary::Div, a_scale, scale)?;
    let b_ratio = c.binary(Binary::Div, b_scale, scale)?;
    let a_zero = real_zero_point(c, 2)?;
    let b_zero = real_zero_point(c, 5)?;
    let zero = real_zero_point(c, 7)?;
    let a_moved = c.binary(Binary::Mul, a_ratio, a_zero)?;
    let b_moved = c.binary(Binary::Mul, b_ratio, b_zero)?;
    let moved = c.binary(Binary::Add, a_moved, b_moved)?;
    let fixed = c.binary(Binary::Sub, zero, moved)?;
    let a = c.binary(Binary::Mul, a, a_ratio)?;
    let a = c.binary(Binary::Add, a, fixed)?;
    let b = c.binary(Binary::Mul, b, b_ratio)?;
    let sum = c.binary(Binary::Add, a, b)?;
    rounded_with_zero_point(c, sum, 7)
}

/// a b, with the same inputs: the product of differences from the zero points times a factor, plus
/// the zero point, rounded then.
pub(super) fn multiply(c: &mut Context<'_, '_>) -> Result {
    let a = difference(c, 0, 2, DataType::Float32)?;
    let b = difference(c, 3, 5, DataType::Float32)?;
    let [a_scale, b_scale, scale] = [single(c, 1)?, single(c, 4)?, single(c, 6)?];
    let factor = c.binary(Binary::Mul, a_scale, b_scale)?;
    let factor = c.binary(Binary::Div, factor, scale)?;
    let product = c.binary(Binary::Mul, a, b)?;
    let product = c.binary(Binary::Mul, product, factor)?;
    let zero = real_zero_point(c, 7)?;
    let moved = c.binary(Binary::Add, product, zero)?;
    rounded_with_zero_point(c, moved, 7)
}

/// A zero point as a real number, 0 where it is left out.
pub(super) fn real_zero_point(c: &mut Context<'_, '_>, position: usize) -> Result<TensorId> {
    if !c.has_input(position) {
        return c.number(DataType::Float32, &[], &[0.0]);
    }
    let zero = single(c, position)?;
    c.cast(zero, DataType::Float32)
}

/// Rounds numbers that have the zero point in them already. Writes the first output.
pub(super) fn rounded_with_zero_point(
    c: &mut Context<'_, '_>,
    x: TensorId,
    zero_point: usize,
) -> Result {
    let numbers = match c.has_input(zero_point) {
        true => plain_type(c.input_type(zero_point)?),
        false => DataType::UInt8,
    };
    let output = rounded(c, x, None, numbers, true)?;
    c.bind_tensor(0, output)
}

/// Inputs: scale and zero point of the output, and for each part numbers, scale and zero point.
pub(super) fn concat(c: &mut Context<'_, '_>) -> Result {
    let count = c.input_count();
    if count < 5 || !(count - 2).is_multiple_of(3) {
        return Err(Problem::malformed(format!(
            "it has {count} inputs: two, and three for each part"
        )));
    }
    let rank = c.input_shape(2)?.rank();
    let along = c.attributes.optional_int("axis")?;
    let along = along.ok_or_else(|| Problem::malformed("it has no axis"))?;
    let axis = small(axis(along, rank)?, "its axis")?;
    let mut parts = Vec::new();
    for first in (2..count).step_by(3) {
        parts.push(real(c, [first, first + 1, first + 2])?);
    }
    let all = match parts[..] {
        [only] => only,
        _ => c.step(ConcatDescriptor { axis }, &parts)?,
    };
    quantized_output(c, all, 0, 1)
}

pub(super) fn leaky_relu(c: &mut Context<'_, '_>) -> Result {
    let alpha = c.attributes.float("alpha", 0.01)?;
    activation(
        c,
        ActivationDescriptor::new(Activation::LeakyReLu, alpha, 0.0),
    )
}

pub(super) fn sigmoid(c: &mut Context<'_, '_>) -> Result {
    activation(c, ActivationDescriptor::new(Activation::Sigmoid, 1.0, 1.0))
}

fn activation(c: &mut Context<'_, '_>, descriptor: ActivationDescriptor) -> Result {
    let x = real(c, FIRST)?;
    let result = c.step(descriptor, &[x])?;
    quantized_output(c, result, 3, 4)
}

/// Before version 13 of Softmax, which `opset` says, it is over all dimensions from the axis on.
///
/// As ONNX Runtime has it, numbers are multiplied by 1 / the output's scale rounded down, and halves
/// are rounded up.
pub(super) fn softmax(c: &mut Context<'_, '_>) -> Result {
    let opset = c.attributes.optional_int("opset")?;
    let opset = opset.ok_or_else(|| Problem::malformed("it has no opset"))?;
    let x = real(c, FIRST)?;
    let rank = c.shape(x)?.rank();
    let along = axis(c.attributes.int("axis", -1)?, rank)?;
    if opset >= 13 || along + 1 == rank {
        let axis = small(along, "its axis")?;
        let result = c.step(SoftmaxDescriptor { beta: 1.0, axis }, &[x])?;
        return probabilities(c, result);
    }
    let groups = [(0..along).collect(), (along..rank).collect()];
    let matrix = c.merge_step(x, &groups)?;
    let result = c.step(SoftmaxDescriptor { beta: 1.0, axis: 1 }, &[matrix])?;
    let dims = c.shape_step(x, 0, rank)?;
    let rule = armnn_network::ParameterRule::Reshape { allow_zero: true };
    let result = c.step_deferred(rule, &[result], &[Some(dims)])?;
    probabilities(c, result)
}

fn probabilities(c: &mut Context<'_, '_>, x: TensorId) -> Result {
    let scale = single(c, 3)?;
    let one = c.number_like(scale, 1.0)?;
    let factor = c.binary(Binary::Div, one, scale)?;
    let factor = c.unary(Unary::Floor, factor)?;
    let product = c.binary(Binary::Mul, x, factor)?;
    let half = c.number_like(product, 0.5)?;
    let product = c.binary(Binary::Add, product, half)?;
    let whole = c.unary(Unary::Floor, product)?;
    let zero = real_zero_point(c, 4)?;
    let moved = c.binary(Binary::Add, whole, zero)?;
    rounded_with_zero_point(c, moved, 4)
}

/// Inputs: the condition, x with scale and zero point, y with both, those of the output.
pub(super) fn select(c: &mut Context<'_, '_>) -> Result {
    let condition = c.input(0)?;
    let (x, y) = (real(c, [1, 2, 3])?, real(c, [4, 5, 6])?);
    let result = c.step(SelectDescriptor::new(), &[condition, x, y])?;
    quantized_output(c, result, 7, 8)
}

/// The real numbers that an input stands for: (x - zero point) scale.
pub(super) fn real(c: &mut Context<'_, '_>, at: [usize; 3]) -> Result<TensorId> {
    let [x, scale_at, zero_at] = at;
    let id = c.input(x)?;
    if let Some(quantization) = constant_quantization(c, scale_at, zero_at)? {
        let plain_type = plain_type(c.info(id)?.data_type);
        let to = match plain_type {
            DataType::UInt8 => Some(DataType::QAsymmU8),
            DataType::Int8 => Some(DataType::QAsymmS8),
            _ => None,
        };
        if let Some(to) = to {
            let id = if c.info(id)?.quantization == quantization {
                id
            } else {
                let id = plain(c, id)?;
                let declaration = OutputDeclaration {
                    quantization: Some(quantization),
                    ..OutputDeclaration::of_type(to)
                };
                c.step_declared(BitCastDescriptor::new(), &[id], declaration)?
            };
            let real = OutputDeclaration::of_type(DataType::Float32);
            return c.step_declared(DequantizeDescriptor::new(), &[id], real);
        }
    }
    let x = difference(c, x, zero_at, DataType::Float32)?;
    let scale = single(c, scale_at)?;
    let scale = c.cast(scale, DataType::Float32)?;
    c.binary(Binary::Mul, x, scale)
}

/// The type that numbers have without a scale.
pub(super) fn plain_type(data_type: DataType) -> DataType {
    match data_type {
        DataType::QAsymmU8 => DataType::UInt8,
        DataType::QAsymmS8 | DataType::QSymmS8 => DataType::Int8,
        DataType::QSymmS16 => DataType::Int16,
        other => other,
    }
}

/// A scale and a zero point that are constant, and one number each.
fn constant_quantization(
    c: &mut Context<'_, '_>,
    scale: usize,
    zero_point: usize,
) -> Result<Option<Quantization>> {
    let Some(scale) = c.constant(scale)?.filter(|scale| scale.count() == 1) else {
        return Ok(None);
    };
    let zero_point = match (c.constant(zero_point)?, c.has_input(zero_point)) {
        (Some(constant), _) if constant.count() == 1 => constant
            .known_integers(1, "the zero point")?
            .first()
            .copied(),
        (None, false) => Some(0),
        _ => None,
    };
    let zero_point = zero_point.and_then(|zero_point| i32::try_from(zero_point).ok());
    let scale = scale.known_reals(1, "the scale")?.first().copied();
    Ok(match (scale, zero_point) {
        (Some(scale), Some(zero_point)) if (scale as f32).is_normal() && scale > 0.0 => {
            Some(Quantization::per_tensor(scale as f32, zero_point))
        }
        _ => None,
    })
}

/// An input less its zero point, if it has one.
pub(super) fn difference(
    c: &mut Context<'_, '_>,
    x: usize,
    zero_point: usize,
    to: DataType,
) -> Result<TensorId> {
    let x = plain_input(c, x)?;
    let x = c.cast(x, to)?;
    if !c.has_input(zero_point) {
        return Ok(x);
    }
    let zero = parameter(c, zero_point)?;
    let zero = c.cast(zero, to)?;
    c.binary(Binary::Sub, x, zero)
}

/// A scale or a zero point: one number, or one for each element of the last dimension.
pub(super) fn parameter(c: &mut Context<'_, '_>, position: usize) -> Result<TensorId> {
    let id = plain_input(c, position)?;
    match c.shape(id)?.dims() {
        [] | [1] => c.merge_step(id, &[]),
        [_] => Ok(id),
        _ => Err(Problem::malformed(format!(
            "its input {position} is no list"
        ))),
    }
}

/// A scale or a zero point of a whole tensor.
fn single(c: &mut Context<'_, '_>, position: usize) -> Result<TensorId> {
    let id = plain_input(c, position)?;
    match c.shape(id)?.dims() {
        [] | [1] => c.merge_step(id, &[]),
        dims => Err(Problem::unsupported(format!(
            "scales or zero points {dims:?} (input {position}); one for the whole tensor is supported"
        ))),
    }
}

/// Quantizes real numbers: through the scale, rounded (the even one of two), with the zero point
/// added, saturated. Writes the first output.
pub(super) fn quantized_output(
    c: &mut Context<'_, '_>,
    x: TensorId,
    scale: usize,
    zero_point: usize,
) -> Result {
    let scale = single(c, scale)?;
    let quotient = c.binary(Binary::Div, x, scale)?;
    rounded_output(c, quotient, zero_point)
}

/// The same of numbers that are divided already. Without a zero point, of UINT8.
pub(super) fn rounded_output(
    c: &mut Context<'_, '_>,
    quotient: TensorId,
    zero_point: usize,
) -> Result {
    let zero_point = match c.has_input(zero_point) {
        true => Some(single(c, zero_point)?),
        false => None,
    };
    let numbers = match zero_point {
        Some(id) => c.info(id)?.data_type,
        None => DataType::UInt8,
    };
    let output = rounded(c, quotient, zero_point, numbers, true)?;
    c.bind_tensor(0, output)
}
