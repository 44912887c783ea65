//! Layers that take some of the elements.

use armnn_backend_api::{
    GatherDescriptor, GatherElementsDescriptor, GatherNdDescriptor, Shape, SplitDescriptor,
    StridedSliceDescriptor,
};

use super::Evaluation;
use super::position::{index, pick, positions, sizes};
use crate::{KnownElements, KnownValue};

pub(super) fn strided_slice(
    d: &StridedSliceDescriptor,
    layer: &Evaluation<'_>,
) -> Option<KnownElements> {
    let (input, to) = (layer.input(0)?, layer.output(0)?);
    let from = sizes(&input.shape)?;
    let indices = positions(&to).map(|mut at| {
        for ((at, &begin), &stride) in at.iter_mut().zip(d.begin()).zip(d.stride()) {
            let steps = i64::try_from(*at).ok()?.checked_mul(stride)?;
            *at = usize::try_from(begin.checked_add(steps)?).ok()?;
        }
        index(&at, &from)
    });
    pick(&input.elements, indices)
}

pub(super) fn split(d: &SplitDescriptor, layer: &Evaluation<'_>) -> Option<Vec<KnownElements>> {
    let input = layer.input(0)?;
    let from = sizes(&input.shape)?;
    let axis = d.axis as usize;
    let mut begin = 0usize;
    let parts = (0..layer.outputs.len()).map(|number| {
        let to = layer.output(number)?;
        let indices = positions(&to).map(|mut at| {
            let along = at.get_mut(axis)?;
            *along = along.checked_add(begin)?;
            index(&at, &from)
        });
        let part = pick(&input.elements, indices);
        begin = begin.checked_add(*to.get(axis)?)?;
        part
    });
    parts.collect()
}

/// A number of each position, and what it picks, where that is known.
///
/// `Some(None)` stands for an element that is not known because the index is not.
fn pick_known(
    input: &KnownValue,
    indices: impl Iterator<Item = Option<Option<usize>>>,
) -> Option<KnownElements> {
    let indices: Vec<Option<usize>> = indices.collect::<Option<_>>()?;
    let mut elements = input.elements.clone();
    // An element behind all others, for what is not known.
    let unknown = elements.len();
    match &mut elements {
        KnownElements::Integers(values) => values.push(None),
        KnownElements::Reals(values) => values.push(None),
    }
    if indices.iter().flatten().any(|&index| index >= unknown) {
        return None;
    }
    let indices = indices.into_iter().map(|index| index.unwrap_or(unknown));
    pick(&elements, indices.map(Some))
}

pub(super) fn gather(d: &GatherDescriptor, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (input, indices, to) = (layer.input(0)?, layer.input(1)?, layer.output(0)?);
    let (from, of_indices) = (sizes(&input.shape)?, sizes(&indices.shape)?);
    let (axis, values) = (d.axis as usize, indices.as_integers()?);
    let picked = positions(&to).map(|at| {
        let mut chosen = [0; Shape::MAX_RANK];
        let behind = axis.checked_add(of_indices.len())?;
        let own = at.get(axis..behind)?;
        chosen.get_mut(..own.len())?.copy_from_slice(own);
        let value = *values.get(index(&chosen, &of_indices)?)?;
        let Some(value) = value else {
            return Some(None);
        };
        let mut source = [0; Shape::MAX_RANK];
        source.get_mut(..axis)?.copy_from_slice(at.get(..axis)?);
        // A negative index is outside.
        *source.get_mut(axis)? = usize::try_from(value).ok()?;
        for (to, from) in source.iter_mut().skip(axis + 1).zip(at.iter().skip(behind)) {
            *to = *from;
        }
        Some(Some(index(&source, &from)?))
    });
    pick_known(input, picked)
}

pub(super) fn gather_elements(
    d: &GatherElementsDescriptor,
    layer: &Evaluation<'_>,
) -> Option<KnownElements> {
    let (input, indices) = (layer.input(0)?, layer.input(1)?);
    let (from, of_indices) = (sizes(&input.shape)?, sizes(&indices.shape)?);
    let (axis, values) = (d.axis as usize, indices.as_integers()?);
    let picked = positions(&of_indices).zip(values).map(|(mut at, value)| {
        let Some(value) = value else {
            return Some(None);
        };
        *at.get_mut(axis)? = wrapped(*value, *from.get(axis)?)?;
        Some(Some(index(&at, &from)?))
    });
    pick_known(input, picked)
}

pub(super) fn gather_nd(d: &GatherNdDescriptor, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (input, indices, to) = (layer.input(0)?, layer.input(1)?, layer.output(0)?);
    let (from, of_indices) = (sizes(&input.shape)?, sizes(&indices.shape)?);
    let values = indices.as_integers()?;
    let (batch_dims, (&depth, outer)) = (d.batch_dims as usize, of_indices.split_last()?);
    let picked = positions(&to).map(|at| {
        let mut source = [0; Shape::MAX_RANK];
        source
            .get_mut(..batch_dims)?
            .copy_from_slice(at.get(..batch_dims)?);
        for number in 0..depth {
            let mut chosen = [0; Shape::MAX_RANK];
            chosen
                .get_mut(..outer.len())?
                .copy_from_slice(at.get(..outer.len())?);
            *chosen.get_mut(outer.len())? = number;
            let Some(value) = *values.get(index(&chosen, &of_indices)?)? else {
                return Some(None);
            };
            let axis = batch_dims.checked_add(number)?;
            *source.get_mut(axis)? = wrapped(value, *from.get(axis)?)?;
        }
        let behind = batch_dims.checked_add(depth)?;
        let rest = at.iter().skip(outer.len());
        for (to, from) in source.iter_mut().skip(behind).zip(rest) {
            *to = *from;
        }
        Some(Some(index(&source, &from)?))
    });
    pick_known(input, picked)
}

/// An index from the start; a negative one counts from the end.
fn wrapped(value: i64, dim: usize) -> Option<usize> {
    match value < 0 {
        true => dim.checked_sub(usize::try_from(value.checked_neg()?).ok()?),
        false => usize::try_from(value).ok(),
    }
}
