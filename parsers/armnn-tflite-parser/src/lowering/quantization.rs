//! Conversions of types: DEQUANTIZE.

use armnn_backend_api::{CastDescriptor, DequantizeDescriptor};

use super::context::Context;
use super::problem::Result;

/// Of quantized numbers; or of Float16, which is a change of type alone.
pub(super) fn dequantize(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    if context.info(input)?.quantization.is_none() {
        context.emit(CastDescriptor::new(), &[Some(input)])
    } else {
        context.emit(DequantizeDescriptor::new(), &[Some(input)])
    }
}
