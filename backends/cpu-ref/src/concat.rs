//! Concat.

use armnn_backend_api::{ConcatDescriptor, LayerView, Result, Workload};

use crate::{
    copy::{self, BoxCopy, copy_workload},
    layer_checks::{dims, input, invalid, output},
    loop_nest::{LoopNest, dense_strides},
};

pub(crate) fn check(layer: LayerView<'_>, _: &ConcatDescriptor) -> Result<()> {
    copy::check(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &ConcatDescriptor,
) -> Result<Box<dyn Workload>> {
    let whole = dims(layer, output(layer, 0)?)?;
    let parts = (0..layer.input_indices().len())
        .map(|i| dims(layer, input(layer, i)?))
        .collect::<Result<Vec<_>>>()?;
    let starts = part_starts(layer, &whole, &parts, descriptor.axis)?;
    let strides = dense_strides(&whole);
    let copies = parts.iter().zip(starts).enumerate();
    let copies = copies.map(|(i, (part, start))| BoxCopy {
        input: i,
        output: 0,
        nest: LoopNest::new(part, [&dense_strides(part), &strides], [0, start]),
    });
    copy_workload(layer, copies.collect(), None)
}

/// Where in a tensor the parts start that it consists of along an axis, in elements.
///
/// # Errors
/// When they do not make up the whole.
pub(crate) fn part_starts(
    layer: LayerView<'_>,
    whole: &[usize],
    parts: &[Vec<usize>],
    axis: u32,
) -> Result<Vec<usize>> {
    let axis = axis as usize;
    let mut starts = Vec::with_capacity(parts.len());
    let mut sum = 0usize;
    let stride: usize = whole.iter().skip(axis + 1).product();
    for part in parts {
        let fits = axis < whole.len()
            && part.len() == whole.len()
            && (0..whole.len()).all(|i| i == axis || part[i] == whole[i]);
        if !fits {
            return Err(invalid(
                layer,
                format_args!("a part of dimensions {part:?} does not fit into {whole:?}"),
            ));
        }
        starts.push(sum.saturating_mul(stride));
        sum = sum.saturating_add(part[axis]);
    }
    if whole.get(axis) == Some(&sum) {
        Ok(starts)
    } else {
        Err(invalid(
            layer,
            format_args!("its parts add up to {sum} along dimension {axis} of {whole:?}"),
        ))
    }
}
