//! Elements by what is around them: L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION, LOG_SOFTMAX.

use armnn_backend_api::{
    L2NormalizationDescriptor, LogSoftmaxDescriptor, NormalizationAlgorithmChannel,
    NormalizationDescriptor, QuantizeDescriptor,
};
use armnn_network::OutputDeclaration;

use super::context::Context;
use super::problem::{Problem, Result};
use crate::schema_generated::{L2NormOptionsRef, LocalResponseNormalizationOptionsRef};

/// TFLite divides by the norm, but by no less than 1e-6.
const LEAST_NORM: f32 = 1e-6;

/// Along the last dimension.
pub(super) fn l2_normalization(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<L2NormOptionsRef<'_>>()?;
    let input = context.input(0)?;
    let descriptor = L2NormalizationDescriptor {
        epsilon: LEAST_NORM * LEAST_NORM,
        axis: last_axis(context, input)?,
    };
    context.emit_activated(
        descriptor,
        &[Some(input)],
        options.fused_activation_function()?,
    )
}

/// Over `radius` channels on either side.
pub(super) fn local_response_normalization(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<LocalResponseNormalizationOptionsRef<'_>>()?;
    let input = context.input(0)?;
    let radius = options.radius()?;
    let norm_size = u32::try_from(radius)
        .ok()
        .and_then(|r| r.checked_mul(2)?.checked_add(1));
    let descriptor = NormalizationDescriptor {
        channel_type: NormalizationAlgorithmChannel::Across.0,
        norm_size: norm_size
            .ok_or_else(|| Problem::malformed(format!("its radius is {radius}")))?,
        alpha: options.alpha()?,
        beta: options.beta()?,
        k: options.bias()?,
        axis: last_axis(context, input)?,
    };
    context.emit(descriptor, &[Some(input)])
}

/// Along the last dimension.
/// Of quantized types, it is computed in real numbers, and rounded, as TFLite's optimized kernel does
/// it; its reference kernel adds up in fixed point, and the last digit may differ.
pub(super) fn log_softmax(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    if context.info(input)?.data_type.is_quantized() {
        let real = context.dequantized_step(input)?;
        let descriptor = LogSoftmaxDescriptor {
            beta: 1.0,
            axis: last_axis(context, input)?,
        };
        let none = OutputDeclaration::default();
        let result = context.step(0, descriptor, &[Some(real)], none)?;
        return context.emit(QuantizeDescriptor::new(), &[Some(result)]);
    }
    let descriptor = LogSoftmaxDescriptor {
        beta: 1.0,
        axis: last_axis(context, input)?,
    };
    context.emit(descriptor, &[Some(input)])
}

fn last_axis(context: &Context<'_, '_, '_>, input: armnn_network::TensorId) -> Result<u32> {
    match context.shape(input)?.rank().checked_sub(1) {
        Some(last) => Ok(last as u32),
        None => Err(Problem::unsupported(
            "a scalar, which has no last dimension",
        )),
    }
}
