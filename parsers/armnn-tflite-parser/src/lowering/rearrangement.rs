//! Elements put elsewhere: CONCATENATION, PAD, PADV2, MIRROR_PAD, TRANSPOSE, PACK.

use armnn_backend_api::{ConcatDescriptor, PadDescriptor, PaddingMode, TransposeDescriptor};

use super::context::{Context, axis, described};
use super::problem::{Problem, Result};
use crate::schema_generated::{
    ConcatenationOptionsRef, MirrorPadMode, MirrorPadOptionsRef, PackOptionsRef,
};

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
    // A real number: for quantized types it is the zero point that stands for 0.
    pad_with(context, PaddingMode::Constant, 0.0)
}

/// The third input is what is put around the first.
pub(super) fn padv2(context: &mut Context<'_, '_, '_>) -> Result {
    let value = context.number(2, "the value of the padding")?;
    pad_with(context, PaddingMode::Constant, value)
}

pub(super) fn mirror_pad(context: &mut Context<'_, '_, '_>) -> Result {
    let mode = match context.options::<MirrorPadOptionsRef<'_>>()?.mode()? {
        MirrorPadMode::Reflect => PaddingMode::Reflect,
        MirrorPadMode::Symmetric => PaddingMode::Symmetric,
    };
    pad_with(context, mode, 0.0)
}

/// The second input, [rank, 2], is the number of elements before and after each dimension.
fn pad_with(context: &mut Context<'_, '_, '_>, mode: PaddingMode, value: f64) -> Result {
    let paddings = context.integers(1, 16, "the paddings")?;
    let (pairs, rest) = paddings.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Problem::malformed("the paddings are not pairs"));
    }
    let [before, after] =
        [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect::<Vec<_>>());
    let input = context.input(0)?;
    let declaration = context.moved(0, input)?;
    let descriptor = described(PadDescriptor::new(mode, value, &before, &after))?;
    context.emit_declared(0, descriptor, &[Some(input)], declaration)
}

/// Dimension i of the output is dimension `permutation[i]` of the input, as in the network.
pub(super) fn transpose(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let rank = context.shape(input)?.rank();
    let mut permutation = Vec::new();
    for from in context.integers(1, 8, "the permutation")? {
        permutation.push(axis(from, rank)? as u32);
    }
    let declaration = context.moved(0, input)?;
    let descriptor = described(TransposeDescriptor::new(&permutation))?;
    context.emit_declared(0, descriptor, &[Some(input)], declaration)
}

/// Inputs of one shape, joined along a new dimension: each gets that dimension, with size 1.
pub(super) fn pack(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<PackOptionsRef<'_>>()?;
    let count = usize::try_from(options.values_count()?);
    if count != Ok(context.input_count()) {
        return Err(Problem::malformed(format!(
            "it packs {} values, but has {} inputs",
            options.values_count()?,
            context.input_count()
        )));
    }
    let inputs = context.inputs()?;
    let declaration = context.declaration(0)?;
    let mut parts = Vec::with_capacity(inputs.len());
    let mut new_axis = 0;
    for input in inputs {
        context.check_scale_kept(input, &declaration)?;
        let mut dims = context.shape(input)?.dims().to_vec();
        new_axis = axis(options.axis()?.into(), dims.len() + 1)?;
        dims.insert(new_axis, 1);
        parts.push(Some(context.reshape_step(0, input, &dims)?));
    }
    let descriptor = ConcatDescriptor {
        axis: new_axis as u32,
    };
    context.emit_declared(0, descriptor, &parts, declaration)
}
