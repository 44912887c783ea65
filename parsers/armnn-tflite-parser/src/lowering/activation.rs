//! Functions of each element: operators of their own, and parts of others.

use armnn_backend_api::{ActivationDescriptor, ActivationFunction, DataType};

use super::context::Context;
use super::problem::{Problem, Result};
use crate::schema_generated::{ActivationFunctionType, GeluOptionsRef, LeakyReluOptionsRef};

/// An activation without options.
pub(super) fn plain(
    context: &mut Context<'_, '_, '_>,
    function: ActivationFunction,
    a: f32,
    b: f32,
) -> Result {
    let input = context.input(0)?;
    context.emit(ActivationDescriptor::new(function, a, b), &[Some(input)])
}

pub(super) fn leaky_relu(context: &mut Context<'_, '_, '_>) -> Result {
    let alpha = context.options::<LeakyReluOptionsRef<'_>>()?.alpha()?;
    plain(context, ActivationFunction::LeakyReLu, alpha, 0.0)
}

pub(super) fn gelu(context: &mut Context<'_, '_, '_>) -> Result {
    if context.options::<GeluOptionsRef<'_>>()?.approximate()? {
        return Err(Problem::unsupported(
            "the approximation of Gelu by a tangent (approximate); the exact function is supported",
        ));
    }
    plain(context, ActivationFunction::Gelu, 0.0, 0.0)
}

/// The layer for an activation that is an option of another operator, whose output is of this type.
pub(super) fn fused(
    function: ActivationFunctionType,
    data_type: Option<DataType>,
) -> Result<Option<ActivationDescriptor>> {
    use ActivationFunctionType as Fused;

    let bounded =
        |most, least| ActivationDescriptor::new(ActivationFunction::BoundedReLu, most, least);
    Ok(Some(match function {
        Fused::None => return Ok(None),
        Fused::Relu => ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0),
        Fused::Relu6 => bounded(6.0, 0.0),
        Fused::ReluN1To1 => bounded(1.0, -1.0),
        // Bounds can be applied after the sum has been brought into the output's scale, and so can
        // a layer of its own. The scale of a tangent's argument would not be known.
        Fused::Tanh if !data_type.is_some_and(DataType::is_quantized) => {
            ActivationDescriptor::new(ActivationFunction::TanH, 1.0, 1.0)
        }
        Fused::Tanh | Fused::SignBit => {
            return Err(Problem::unsupported(format!(
                "the fused activation {} on this type",
                function.name()
            )));
        }
    }))
}
