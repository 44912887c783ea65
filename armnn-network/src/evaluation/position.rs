//! Positions in tensors of a few elements.

use armnn_backend_api::Shape;

use crate::KnownElements;

/// A position; entries beyond the rank are 0.
pub(super) type Position = [usize; Shape::MAX_RANK];

/// The dimensions of a shape that is known.
pub(super) fn sizes(shape: &Shape) -> Option<Vec<usize>> {
    let dims = shape.dims().iter();
    dims.map(|&dim| usize::try_from(dim).ok()).collect()
}

/// All positions of a tensor, row-major.
pub(super) fn positions(dims: &[usize]) -> impl Iterator<Item = Position> + use<> {
    let dims = dims.to_vec();
    let count = match dims.contains(&0) {
        true => 0,
        false => dims.iter().fold(1usize, |n, &dim| n.saturating_mul(dim)),
    };
    (0..count).map(move |index| {
        let mut position = [0; Shape::MAX_RANK];
        let mut rest = index;
        let used = dims.len().min(Shape::MAX_RANK);
        for (to, &dim) in position[..used].iter_mut().zip(&dims).rev() {
            (*to, rest) = (rest % dim, rest / dim);
        }
        position
    })
}

/// The row-major number of a position; `None` if it is outside.
pub(super) fn index(position: &Position, dims: &[usize]) -> Option<usize> {
    let mut index = 0usize;
    for (&at, &dim) in position.iter().zip(dims) {
        if at >= dim {
            return None;
        }
        index = index.checked_mul(dim)?.checked_add(at)?;
    }
    Some(index)
}

/// The number of the element that broadcasts to a position of a tensor of rank `rank`.
pub(super) fn broadcast_index(position: &Position, rank: usize, dims: &[usize]) -> Option<usize> {
    let missing = rank.checked_sub(dims.len())?;
    let mut own = [0; Shape::MAX_RANK];
    for (axis, &dim) in dims.iter().enumerate() {
        if dim != 1 {
            own[axis] = *position.get(missing + axis)?;
        }
    }
    index(&own, dims)
}

/// Elements by their numbers; `None` if one does not exist.
pub(super) fn pick(
    elements: &KnownElements,
    mut indices: impl Iterator<Item = Option<usize>>,
) -> Option<KnownElements> {
    fn of<T: Copy>(
        elements: &[Option<T>],
        indices: &mut dyn Iterator<Item = Option<usize>>,
    ) -> Option<Vec<Option<T>>> {
        indices.map(|index| elements.get(index?).copied()).collect()
    }
    Some(match elements {
        KnownElements::Integers(values) => KnownElements::Integers(of(values, &mut indices)?),
        KnownElements::Reals(values) => KnownElements::Reals(of(values, &mut indices)?),
    })
}

/// Elements put one after the other, each of one of several lists of one kind.
pub(super) fn gathered<'a>(
    elements: impl Iterator<Item = Option<(&'a KnownElements, usize)>>,
    are_real: bool,
) -> Option<KnownElements> {
    let (mut integers, mut reals) = (Vec::new(), Vec::new());
    for element in elements {
        match element? {
            (KnownElements::Integers(values), index) => integers.push(*values.get(index)?),
            (KnownElements::Reals(values), index) => reals.push(*values.get(index)?),
        }
    }
    match are_real {
        true => integers.is_empty().then_some(KnownElements::Reals(reals)),
        false => reals
            .is_empty()
            .then_some(KnownElements::Integers(integers)),
    }
}
