//! Operations on elements and pairs of elements.

use armnn_backend_api::{BinaryOperation, ElementwiseBinaryDescriptor};

use super::context::Context;
use super::problem::Result;
use crate::schema_generated::AddOptionsRef;

/// ADD. `pot_scale_int16` is not looked at: it tells kernels of a shorter way for scales that are
/// powers of two, which follows from the scales.
pub(super) fn activated(context: &mut Context<'_, '_, '_>, operation: BinaryOperation) -> Result {
    let function = context
        .options::<AddOptionsRef<'_>>()?
        .fused_activation_function()?;
    let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
    context.emit_activated(
        ElementwiseBinaryDescriptor::new(operation),
        &inputs,
        function,
    )
}
