//! Products and convolutions with what comes before and behind them, and functions with a bias.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction as Activation, BatchMatMulDescriptor,
    BinaryOperation as Binary,
};
use armnn_network::TensorId;

use crate::error::Short;
use crate::lowering::context::Context;
use crate::lowering::convolution;
use crate::lowering::matrix;
use crate::lowering::problem::{Problem, Result};

/// x alpha, of matrices each of which may be transposed, also with the first dimension moved before
/// the last two.
pub(super) fn fused_mat_mul(c: &mut Context<'_, '_>) -> Result {
    let alpha = c.attributes.float("alpha", 1.0)?;
    let mut matrices = [c.input(0)?, c.input(1)?];
    let mut transposed = [false; 2];
    for (at, [last, batch]) in [["transA", "transBatchA"], ["transB", "transBatchB"]]
        .into_iter()
        .enumerate()
    {
        transposed[at] = c.attributes.flag(last, false)?;
        let rank = c.shape(matrices[at])?.rank();
        if rank < 2 {
            return Err(Problem::unsupported(format!(
                "a product of {} dimensions; make vectors matrices",
                rank
            )));
        }
        if c.attributes.flag(batch, false)? && rank > 2 {
            // [m, b.., k] to [b.., m, k]
            let permutation: Vec<usize> = (1..rank - 1).chain([0, rank - 1]).collect();
            matrices[at] = c.transpose(matrices[at], &permutation)?;
        }
    }
    let descriptor = BatchMatMulDescriptor::new(transposed[0], transposed[1]);
    if alpha == 1.0 {
        return c.emit(descriptor, &matrices);
    }
    let product = c.step(descriptor, &matrices)?;
    let alpha = c.number_like(product, alpha.into())?;
    let output = c.last().binary(Binary::Mul, product, alpha)?;
    c.bind_tensor(0, output)
}

/// A function of x and, if there is one, a bias added to it.
pub(super) fn biased(c: &mut Context<'_, '_>, function: Activation) -> Result {
    let mut x = c.input(0)?;
    if let Some(bias) = c.optional_input(1)? {
        x = c.binary(Binary::Add, x, bias)?;
    }
    c.emit(ActivationDescriptor::new(function, 0.0, 0.0), &[x])
}

/// x + bias + skip.
pub(super) fn bias_add(c: &mut Context<'_, '_>) -> Result {
    let (x, bias, skip) = (c.input(0)?, c.input(1)?, c.input(2)?);
    let sum = c.binary(Binary::Add, x, bias)?;
    let output = c.last().binary(Binary::Add, sum, skip)?;
    c.bind_tensor(0, output)
}

/// x through 1 + e^(-alpha x).
pub(super) fn quick_gelu(c: &mut Context<'_, '_>) -> Result {
    let alpha = c.attributes.float("alpha", 1.702)?;
    let x = c.input(0)?;
    c.emit(
        ActivationDescriptor::new(Activation::Swish, alpha, 0.0),
        &[x],
    )
}

/// A convolution, plus the fourth input, through an activation.
pub(super) fn fused_conv(c: &mut Context<'_, '_>) -> Result {
    c.version = 11;
    let activation = fused_activation(c, |c| {
        Ok(c.attributes
            .floats("activation_params")?
            .map(|all| all.iter().copied().map(Some).collect())
            .unwrap_or_default())
    })?;
    let windows = convolution::windows_of(c)?;
    let (x, weights, bias) = (c.input(0)?, c.input(1)?, c.optional_input(2)?);
    let addend = c.optional_input(3)?;
    let is_last = activation.is_none() && addend.is_none();
    let mut y = convolution::convolution(c, x, weights, bias, &windows, is_last)?;
    if let Some(addend) = addend {
        c.is_last = activation.is_none();
        y = c.binary(Binary::Add, y, addend)?;
    }
    if let Some(activation) = activation {
        y = c.last().step(activation, &[y])?;
    }
    c.bind_tensor(0, y)
}

/// alpha A B + beta C, through an activation.
pub(super) fn fused_gemm(c: &mut Context<'_, '_>) -> Result {
    c.version = 13;
    let activation = fused_activation(c, |c| {
        let mut parameters = Vec::new();
        for name in ["activation_alpha", "activation_beta", "activation_gamma"] {
            parameters.push(c.attributes.optional_float(name)?);
        }
        Ok(parameters)
    })?;
    let Some(activation) = activation else {
        return matrix::gemm(c);
    };
    let y = matrix::product(c, false)?;
    let output = c.last().step(activation, &[y])?;
    c.bind_tensor(0, output)
}

/// The function that is named by the attribute `activation`, if there is one.
fn fused_activation(
    c: &mut Context<'_, '_>,
    parameters: impl Fn(&Context<'_, '_>) -> Result<Vec<Option<f32>>>,
) -> Result<Option<ActivationDescriptor>> {
    let name = c.attributes.text("activation", "")?;
    let parameters = parameters(c)?;
    let parameter =
        |at: usize, default: f32| parameters.get(at).copied().flatten().unwrap_or(default);
    let (function, a, b) = match name {
        "" | "Identity" => return Ok(None),
        "Relu" => (Activation::ReLu, 0.0, 0.0),
        "Tanh" => (Activation::TanH, 1.0, 1.0),
        "Sigmoid" => (Activation::Sigmoid, 1.0, 1.0),
        "Softplus" => (Activation::SoftReLu, 0.0, 0.0),
        "Softsign" => (Activation::SoftSign, 0.0, 0.0),
        "LeakyRelu" => (Activation::LeakyReLu, parameter(0, 0.01), 0.0),
        "Elu" => (Activation::Elu, parameter(0, 1.0), 0.0),
        "ThresholdedRelu" => (Activation::ThresholdedReLu, parameter(0, 1.0), 0.0),
        "HardSigmoid" => (
            Activation::HardSigmoid,
            parameter(0, 0.2),
            parameter(1, 0.5),
        ),
        "Clip" => (
            Activation::BoundedReLu,
            parameter(1, f32::MAX),
            parameter(0, f32::MIN),
        ),
        other => {
            return Err(Problem::unsupported(format!(
                "the activation \"{}\" of a fused operator",
                Short(other)
            )));
        }
    };
    Ok(Some(ActivationDescriptor::new(function, a, b)))
}

/// A bias added to the last dimension of a tensor, if it is there.
pub(super) fn with_bias(
    c: &mut Context<'_, '_>,
    x: TensorId,
    bias: Option<TensorId>,
) -> Result<TensorId> {
    match bias {
        Some(bias) => c.binary(Binary::Add, x, bias),
        None => Ok(x),
    }
}
