//! Layers that put elements elsewhere.

use armnn_backend_api::{
    ConcatDescriptor, PadDescriptor, PaddingMode, ReverseV2Descriptor, Shape, StackDescriptor,
    TransposeDescriptor,
};

use super::position::{broadcast_index, gathered, index, pick, positions, sizes};
use super::{Evaluation, fitting, rounded};
use crate::{KnownElements, KnownValue};

pub(super) fn broadcast_to(layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (input, to) = (layer.input(0)?, layer.output(0)?);
    let from = sizes(&input.shape)?;
    let indices = positions(&to).map(|at| broadcast_index(&at, to.len(), &from));
    pick(&input.elements, indices)
}

pub(super) fn tile(layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (input, to) = (layer.input(0)?, layer.output(0)?);
    let from = sizes(&input.shape)?;
    let indices = positions(&to).map(|mut at| {
        for (at, &dim) in at.iter_mut().zip(&from) {
            *at = at.checked_rem(dim)?;
        }
        index(&at, &from)
    });
    pick(&input.elements, indices)
}

pub(super) fn reverse(d: &ReverseV2Descriptor, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (input, to) = (layer.input(0)?, layer.output(0)?);
    let indices = positions(&to).map(|mut at| {
        for &axis in d.axes() {
            let (at, dim) = (at.get_mut(axis as usize)?, to.get(axis as usize)?);
            *at = dim.checked_sub(*at + 1)?;
        }
        index(&at, &to)
    });
    pick(&input.elements, indices)
}

pub(super) fn transpose(d: &TransposeDescriptor, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (input, to) = (layer.input(0)?, layer.output(0)?);
    let from = sizes(&input.shape)?;
    let indices = positions(&to).map(|at| {
        let mut source = [0; Shape::MAX_RANK];
        for (&at, &axis) in at.iter().zip(d.permutation()) {
            *source.get_mut(axis as usize)? = at;
        }
        index(&source, &from)
    });
    pick(&input.elements, indices)
}

pub(super) fn concat(d: &ConcatDescriptor, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let axis = d.axis as usize;
    let inputs = with_sizes(layer)?;
    let elements = positions(&layer.output(0)?).map(|mut at| {
        for (input, dims) in &inputs {
            let (at_axis, &dim) = (at.get_mut(axis)?, dims.get(axis)?);
            if *at_axis < dim {
                return Some((&input.elements, index(&at, dims)?));
            }
            *at_axis -= dim;
        }
        None
    });
    gathered(elements, KnownValue::is_real(layer.output_type()?))
}

pub(super) fn stack(d: &StackDescriptor, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let axis = d.axis as usize;
    let inputs = with_sizes(layer)?;
    let elements = positions(&layer.output(0)?).map(|mut at| {
        let (input, dims) = inputs.get(*at.get(axis)?)?;
        at.copy_within(axis + 1.., axis);
        Some((&input.elements, index(&at, dims)?))
    });
    gathered(elements, KnownValue::is_real(layer.output_type()?))
}

fn with_sizes<'a>(layer: &Evaluation<'a>) -> Option<Vec<(&'a KnownValue, Vec<usize>)>> {
    let inputs = layer.all()?.into_iter();
    inputs
        .map(|input| Some((input, sizes(&input.shape)?)))
        .collect()
}

pub(super) fn pad(d: &PadDescriptor, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (input, to) = (layer.input(0)?, layer.output(0)?);
    let from = sizes(&input.shape)?;
    let data_type = layer.output_type()?;
    let padding = match KnownValue::is_real(data_type) {
        true => KnownElements::Reals(vec![Some(rounded(d.pad_value, data_type))]),
        false => {
            let value = d.pad_value as i64;
            // What is no number of the type is left to backends.
            let value = Some(value).filter(|&value| value as f64 == d.pad_value);
            KnownElements::Integers(vec![fitting(value, data_type)])
        }
    };
    let elements = positions(&to).map(|mut at| {
        for (axis, &dim) in from.iter().enumerate() {
            let before = usize::try_from(*d.before().get(axis)?).ok()?;
            match source(at[axis], before, dim, d.padding_mode())? {
                Some(inside) => at[axis] = inside,
                None => return Some((&padding, 0)),
            }
        }
        Some((&input.elements, index(&at, &from)?))
    });
    gathered(elements, KnownValue::is_real(data_type))
}

/// Which element of a dimension of `dim` stands at a place of the padded one; `Some(None)` for the
/// padding value.
fn source(at: usize, before: usize, dim: usize, mode: PaddingMode) -> Option<Option<usize>> {
    if let Some(inside) = at.checked_sub(before)
        && inside < dim
    {
        return Some(Some(inside));
    }
    // How far before the first element, or behind the last one: 0 is next to it.
    let distance = match at.checked_sub(before) {
        Some(inside) => inside.checked_sub(dim)?,
        None => before.checked_sub(at + 1)?,
    };
    let from_border = match mode {
        PaddingMode::Constant => return Some(None),
        PaddingMode::Edge => 0,
        PaddingMode::Symmetric => distance,
        PaddingMode::Reflect => distance + 1,
        PaddingMode::Wrap => {
            let rest = distance.checked_rem(dim)?;
            return Some(Some(match at < before {
                true => dim - 1 - rest,
                false => rest,
            }));
        }
        _ => return None,
    };
    let last = dim.checked_sub(1)?;
    Some(Some(match at < before {
        true => from_border,
        false => last.checked_sub(from_border)?,
    }))
}
