//! Products of quantized matrices with real or quantized results. Sums are of Float32: what is lost of
//! them beyond 24 bits is lost in results of Float32, too.

use armnn_backend_api::{BatchMatMulDescriptor, BinaryOperation as Binary, DataType};
use armnn_network::TensorId;

use super::quantized::{difference, parameter, rounded_output};
use crate::lowering::context::Context;
use crate::lowering::problem::{Problem, Result};
use crate::lowering::quantized_arithmetic::dynamic_difference;

/// Inputs: a, real; b, quantized, with its scale and zero point; a bias. a is quantized to UINT8 by
/// its smallest and its largest element.
pub(super) fn dynamic_quantize_mat_mul(c: &mut Context<'_, '_>) -> Result {
    let x = c.input(0)?;
    let (a, a_scale) = dynamic_difference(c, x)?;
    let b = difference(c, 1, 3, DataType::Float32)?;
    let b_scale = parameter(c, 2)?;
    let factor = c.binary(Binary::Mul, b_scale, a_scale)?;
    real_output(c, [a, b], factor, 4)
}

/// Inputs: a, b, their scales, their zero points, a bias.
pub(super) fn mat_mul_integer_to_float(c: &mut Context<'_, '_>) -> Result {
    let a = difference(c, 0, 4, DataType::Float32)?;
    let b = difference(c, 1, 5, DataType::Float32)?;
    let (a_scale, b_scale) = (parameter(c, 2)?, parameter(c, 3)?);
    let factor = c.binary(Binary::Mul, b_scale, a_scale)?;
    real_output(c, [a, b], factor, 6)
}

/// a b times a factor, plus a bias; writes the first output.
fn real_output(
    c: &mut Context<'_, '_>,
    [a, b]: [TensorId; 2],
    factor: TensorId,
    bias: usize,
) -> Result {
    if c.shape(a)?.rank() < 2 || c.shape(b)?.rank() < 2 {
        return Err(Problem::unsupported(
            "a quantized product of vectors; make them matrices",
        ));
    }
    let sums = c.step(BatchMatMulDescriptor::new(false, false), &[a, b])?;
    let output = match c.optional_input(bias)? {
        None => c.last().binary(Binary::Mul, sums, factor)?,
        Some(bias) => {
            let product = c.binary(Binary::Mul, sums, factor)?;
            c.last().binary(Binary::Add, product, bias)?
        }
    };
    c.bind_tensor(0, output)
}

/// alpha a b + c, where the scale of c is alpha times those of a and b. Inputs: a and b, each with
/// scale and zero point; c; scale and zero point of the output, which is real without them.
pub(super) fn q_gemm(c: &mut Context<'_, '_>) -> Result {
    let alpha = c.attributes.float("alpha", 1.0)?;
    let transpose_a = c.attributes.flag("transA", false)?;
    let transpose_b = c.attributes.flag("transB", false)?;
    let (a_shape, b_shape) = (c.input_shape(0)?, c.input_shape(3)?);
    if a_shape.rank() != 2 || b_shape.rank() != 2 {
        return Err(Problem::malformed(format!(
            "its matrices are {a_shape} and {b_shape}"
        )));
    }
    let a = difference(c, 0, 2, DataType::Float32)?;
    // Scales and zero points are of columns, which are rows of what is transposed.
    let mut b = crate::lowering::quantization::plain_input(c, 3)?;
    if transpose_b {
        b = c.transpose(b, &[1, 0])?;
    }
    let mut b = c.cast(b, DataType::Float32)?;
    if c.has_input(5) {
        let zero = parameter(c, 5)?;
        let zero = c.cast(zero, DataType::Float32)?;
        b = c.binary(Binary::Sub, b, zero)?;
    }
    let mut sums = c.step(BatchMatMulDescriptor::new(transpose_a, false), &[a, b])?;
    if let Some(addend) = c.optional_input(6)? {
        let addend = c.cast(addend, DataType::Float32)?;
        sums = c.binary(Binary::Add, sums, addend)?;
    }
    let (a_scale, b_scale) = (parameter(c, 1)?, parameter(c, 4)?);
    let mut factor = c.binary(Binary::Mul, b_scale, a_scale)?;
    if alpha != 1.0 {
        let alpha = c.number_like(factor, alpha.into())?;
        factor = c.binary(Binary::Mul, factor, alpha)?;
    }
    if !c.has_input(7) {
        let output = c.last().binary(Binary::Mul, sums, factor)?;
        return c.bind_tensor(0, output);
    }
    let scale = parameter(c, 7)?;
    let factor = c.binary(Binary::Div, factor, scale)?;
    let quotient = c.binary(Binary::Mul, sums, factor)?;
    rounded_output(c, quotient, 8)
}
