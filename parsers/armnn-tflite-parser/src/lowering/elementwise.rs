//! Operations on elements and pairs of elements: arithmetic, comparisons, PRELU.

use armnn_backend_api::{
    BinaryOperation, ComparisonDescriptor, ComparisonOperation, ElementwiseBinaryDescriptor,
    ElementwiseUnaryDescriptor, PreluDescriptor, UnaryOperation,
};

use super::context::Context;
use super::problem::Result;
use crate::schema_generated::{AddOptionsRef, DivOptionsRef, MulOptionsRef, SubOptionsRef};

/// Operators whose table of options is a fused activation alone, or beside `pot_scale_int16`, which
/// is not looked at: it tells kernels of a shorter way where scales are powers of two, which follows
/// from the scales.
macro_rules! activated {
    ($($function:ident, $Operation:ident, $Options:ident;)*) => {$(
        pub(super) fn $function(context: &mut Context<'_, '_, '_>) -> Result {
            let options = context.options::<$Options<'_>>()?;
            let function = options.fused_activation_function()?;
            let descriptor = ElementwiseBinaryDescriptor::new(BinaryOperation::$Operation);
            let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
            context.emit_activated(descriptor, &inputs, function)
        }
    )*};
}

activated! {
    add, Add, AddOptionsRef;
    sub, Sub, SubOptionsRef;
    mul, Mul, MulOptionsRef;
    div, Div, DivOptionsRef;
}

pub(super) fn binary(context: &mut Context<'_, '_, '_>, operation: BinaryOperation) -> Result {
    let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
    context.emit(ElementwiseBinaryDescriptor::new(operation), &inputs)
}

pub(super) fn comparison(
    context: &mut Context<'_, '_, '_>,
    operation: ComparisonOperation,
) -> Result {
    let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
    context.emit(ComparisonDescriptor::new(operation), &inputs)
}

pub(super) fn unary(context: &mut Context<'_, '_, '_>, operation: UnaryOperation) -> Result {
    let input = context.input(0)?;
    context.emit(ElementwiseUnaryDescriptor::new(operation), &[Some(input)])
}

pub(super) fn prelu(context: &mut Context<'_, '_, '_>) -> Result {
    let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
    context.emit(PreluDescriptor::new(), &inputs)
}
