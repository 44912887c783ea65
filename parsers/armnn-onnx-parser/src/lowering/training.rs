//! Steps of optimizers, of ai.onnx.preview.training.

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation, SelectDescriptor,
    UnaryOperation as Unary,
};
use armnn_network::TensorId;

use super::context::Context;
use super::problem::{Problem, Result};

/// The tensors of each variable: the value, its gradient and what is accumulated.
fn variables<const N: usize>(c: &mut Context<'_, '_>) -> Result<Vec<[TensorId; N]>> {
    let inputs = c.inputs()?;
    let rest = inputs.get(2..).unwrap_or_default();
    if rest.is_empty() || rest.len() % N != 0 {
        return Err(Problem::malformed(format!(
            "it has {} inputs",
            inputs.len()
        )));
    }
    let count = rest.len() / N;
    Ok((0..count)
        .map(|variable| std::array::from_fn(|kind| rest[kind * count + variable]))
        .collect())
}

/// The outputs: all values, then all of what is accumulated, kind by kind.
fn bind<const N: usize>(c: &mut Context<'_, '_>, outputs: &[[TensorId; N]]) -> Result {
    let kinds = (0..N).flat_map(|kind| outputs.iter().map(move |output| output[kind]));
    let all: Vec<TensorId> = kinds.collect();
    c.bind_all(&all)
}

fn scaled(c: &mut Context<'_, '_>, x: TensorId, factor: f32) -> Result<TensorId> {
    let factor = c.number_like(x, factor.into())?;
    c.binary(Binary::Mul, x, factor)
}

/// The gradient of the loss and of half the squared norm of the value, times a coefficient.
fn regularized(
    c: &mut Context<'_, '_>,
    x: TensorId,
    gradient: TensorId,
    coefficient: f32,
) -> Result<TensorId> {
    if coefficient == 0.0 {
        return Ok(gradient);
    }
    let more = scaled(c, x, coefficient)?;
    c.binary(Binary::Add, more, gradient)
}

/// One of two numbers: the first where the count is above 0.
fn after_the_first(
    c: &mut Context<'_, '_>,
    then: TensorId,
    otherwise: TensorId,
) -> Result<TensorId> {
    let count = c.input(1)?;
    let zero = c.number_like(count, 0.0)?;
    let greater = ComparisonDescriptor::new(ComparisonOperation::Greater);
    let later = c.step(greater, &[count, zero])?;
    c.step(SelectDescriptor::new(), &[later, then, otherwise])
}

pub(super) fn adagrad(c: &mut Context<'_, '_>) -> Result {
    let coefficient = c.attributes.float("norm_coefficient", 0.0)?;
    let decay = c.attributes.float("decay_factor", 0.0)?;
    let epsilon = c.attributes.float("epsilon", 1e-6)?;
    let (rate, count) = (c.input(0)?, c.input(1)?);
    let data_type = c.info(rate)?.data_type;
    let count = c.cast(count, data_type)?;
    let slowed = scaled(c, count, decay)?;
    let one = c.number_like(slowed, 1.0)?;
    let slowed = c.binary(Binary::Add, slowed, one)?;
    let rate = c.binary(Binary::Div, rate, slowed)?;
    let mut outputs = Vec::new();
    for [x, gradient, squares] in variables(c)? {
        let gradient = regularized(c, x, gradient, coefficient)?;
        let square = c.unary(Unary::Square, gradient)?;
        let squares = c.binary(Binary::Add, squares, square)?;
        let root = c.unary(Unary::Sqrt, squares)?;
        let more = c.number_like(root, epsilon.into())?;
        let divisor = c.binary(Binary::Add, root, more)?;
        let step = c.binary(Binary::Mul, rate, gradient)?;
        let step = c.binary(Binary::Div, step, divisor)?;
        outputs.push([c.binary(Binary::Sub, x, step)?, squares]);
    }
    bind(c, &outputs)
}

pub(super) fn adam(c: &mut Context<'_, '_>) -> Result {
    let alpha = c.attributes.float("alpha", 0.9)?;
    let beta = c.attributes.float("beta", 0.999)?;
    let epsilon = c.attributes.float("epsilon", 1e-6)?;
    let coefficient = c.attributes.float("norm_coefficient", 0.0)?;
    let after = c.attributes.float("norm_coefficient_post", 0.0)?;
    let (rate, count) = (c.input(0)?, c.input(1)?);
    let data_type = c.info(rate)?.data_type;
    let count = c.cast(count, data_type)?;
    // 1 - base^T
    let rest = |c: &mut Context<'_, '_>, base: f32| {
        let base = c.number_like(count, base.into())?;
        let power = c.binary(Binary::Power, base, count)?;
        let one = c.number_like(power, 1.0)?;
        c.binary(Binary::Sub, one, power)
    };
    let (first, second) = (rest(c, alpha)?, rest(c, beta)?);
    let root = c.unary(Unary::Sqrt, second)?;
    let adjusted = c.binary(Binary::Mul, rate, root)?;
    let adjusted = c.binary(Binary::Div, adjusted, first)?;
    let rate = after_the_first(c, adjusted, rate)?;
    let mut outputs = Vec::new();
    for [x, gradient, mean, squares] in variables(c)? {
        let gradient = regularized(c, x, gradient, coefficient)?;
        let (kept, new) = (scaled(c, mean, alpha)?, scaled(c, gradient, 1.0 - alpha)?);
        let mean = c.binary(Binary::Add, kept, new)?;
        let square = c.unary(Unary::Square, gradient)?;
        let (kept, new) = (scaled(c, squares, beta)?, scaled(c, square, 1.0 - beta)?);
        let squares = c.binary(Binary::Add, kept, new)?;
        let root = c.unary(Unary::Sqrt, squares)?;
        let more = c.number_like(root, epsilon.into())?;
        let divisor = c.binary(Binary::Add, root, more)?;
        let step = c.binary(Binary::Mul, rate, mean)?;
        let step = c.binary(Binary::Div, step, divisor)?;
        let mut x = c.binary(Binary::Sub, x, step)?;
        if after != 0.0 {
            x = scaled(c, x, 1.0 - after)?;
        }
        outputs.push([x, mean, squares]);
    }
    bind(c, &outputs)
}

pub(super) fn momentum(c: &mut Context<'_, '_>) -> Result {
    let needed = |name: &str| -> Result<f32> {
        let found = c.attributes.optional_float(name)?;
        found.ok_or_else(|| Problem::malformed(format!("it has no {name}")))
    };
    let (alpha, beta) = (needed("alpha")?, needed("beta")?);
    let coefficient = needed("norm_coefficient")?;
    let nesterov = match c.attributes.text("mode", "")? {
        "nesterov" => true,
        "standard" => false,
        other => {
            return Err(Problem::malformed(format!(
                "its mode is \"{}\"",
                crate::error::Short(other)
            )));
        }
    };
    let rate = c.input(0)?;
    let (beta, one) = (c.number_like(rate, beta.into())?, c.number_like(rate, 1.0)?);
    let beta = after_the_first(c, beta, one)?;
    let mut outputs = Vec::new();
    for [x, gradient, velocity] in variables(c)? {
        let gradient = regularized(c, x, gradient, coefficient)?;
        let kept = scaled(c, velocity, alpha)?;
        let new = c.binary(Binary::Mul, beta, gradient)?;
        let velocity = c.binary(Binary::Add, kept, new)?;
        let direction = match nesterov {
            true => {
                let ahead = scaled(c, velocity, alpha)?;
                c.binary(Binary::Add, gradient, ahead)?
            }
            false => velocity,
        };
        let step = c.binary(Binary::Mul, rate, direction)?;
        outputs.push([c.binary(Binary::Sub, x, step)?, velocity]);
    }
    bind(c, &outputs)
}
