//! Elements put elsewhere: CONCATENATION, PAD.

use armnn_backend_api::{ConcatDescriptor, PadDescriptor, PaddingMode};

use super::context::{Context, axis, described};
use super::problem::{Problem, Result};
use crate::schema_generated::ConcatenationOptionsRef;

pub(super) fn concatenation(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<ConcatenationOptionsRef<'_>>()?;
    let inputs = context.inputs()?;
    let Some(&first) = inputs.first() else {
        return Err(Problem::malformed("it has no inputs"));
    };
    let declaration = context.declaration(0)?;
    for &input in &inputs {
        context.check_scale_kept(input, &declaration)?;
    }
    let axis = axis(options.axis()?.into(), context.shape(first)?.rank())?;
    let descriptor = ConcatDescriptor { axis: axis as u32 };
    let inputs: Vec<_> = inputs.into_iter().map(Some).collect();
    context.emit_activated(descriptor, &inputs, options.fused_activation_function()?)
}

pub(super) fn pad(context: &mut Context<'_, '_, '_>) -> Result {
    let [before, after] = paddings(context)?;
    let input = context.input(0)?;
    context.moved(0, input)?;
    // A real number: for quantized types it is the zero point that stands for 0.
    let descriptor = described(PadDescriptor::new(
        PaddingMode::Constant,
        0.0,
        &before,
        &after,
    ))?;
    context.emit(descriptor, &[Some(input)])
}

/// Input 1, [rank, 2]: elements before and after each dimension.
fn paddings(context: &Context<'_, '_, '_>) -> Result<[Vec<i64>; 2]> {
    let all = context.integers(1, 16, "the paddings")?;
    let (pairs, rest) = all.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Problem::malformed("the paddings are not pairs"));
    }
    Ok([0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect()))
}
