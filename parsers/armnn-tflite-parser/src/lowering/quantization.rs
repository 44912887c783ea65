//! Conversions of types: CAST, DEQUANTIZE, QUANTIZE.

use armnn_backend_api::{
    CastDescriptor, DataType, DequantizeDescriptor, Quantization, QuantizeDescriptor,
};
use armnn_network::OutputDeclaration;

use super::context::Context;
use super::problem::{Problem, Result};

/// The types in the options repeat those of the tensors.
pub(super) fn cast(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    context.emit(CastDescriptor::new(), &[Some(input)])
}

/// Of quantized numbers; or of Float16, which is a change of type alone.
pub(super) fn dequantize(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    if context.info(input)?.quantization.is_none() {
        context.emit(CastDescriptor::new(), &[Some(input)])
    } else {
        context.emit(DequantizeDescriptor::new(), &[Some(input)])
    }
}

/// Of real numbers; or of quantized ones, where going through real numbers gives exactly what
/// TFLite's integer arithmetic does.
pub(super) fn quantize(context: &mut Context<'_, '_, '_>) -> Result {
    let mut input = context.input(0)?;
    let from = context.info(input)?;
    if !from.quantization.is_none() {
        let into = context.declaration(0)?.quantization.unwrap_or_default();
        if !is_exact(&from.quantization, &into) {
            return Err(Problem::unsupported(
                "a change of scale between quantized types, unless by a power of two to a finer one",
            ));
        }
        let real = OutputDeclaration::of_type(DataType::Float32);
        input = context.step(0, DequantizeDescriptor::new(), &[Some(input)], real)?;
    }
    context.emit(QuantizeDescriptor::new(), &[Some(input)])
}

/// Whether numbers of one scale are whole numbers of the other, and real numbers between them are
/// off by far less than half a step: 16 bits times 2^-24.
fn is_exact(from: &Quantization, into: &Quantization) -> bool {
    let (&[from], &[into]) = (&from.scales[..], &into.scales[..]) else {
        return false;
    };
    let ratio = from / into;
    // The quotient of normal numbers is a power of two only if their digits are the same.
    let is_power_of_two = ratio.is_normal() && ratio.to_bits() & 0x007f_ffff == 0;
    is_power_of_two && ratio >= 1.0 && from == into * ratio
}
