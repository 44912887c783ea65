//! Arithmetic on dimensions that may be unknown.

use armnn_backend_api::Shape;

use super::Result;
use crate::error::LayerProblem;

/// A dimension that is not known.
pub(super) const UNKNOWN: i64 = Shape::UNKNOWN;

/// The size, if it is known.
pub(super) fn known(dim: i64) -> Option<i64> {
    (dim >= 0).then_some(dim)
}

/// What two statements about one dimension say together; `None` if they contradict each other.
pub(super) fn merge_dim(a: i64, b: i64) -> Option<i64> {
    match (known(a), known(b)) {
        (Some(x), Some(y)) if x != y => None,
        (Some(x), _) | (None, Some(x)) => Some(x),
        (None, None) => Some(UNKNOWN),
    }
}

/// What two statements about one shape say together; `None` if they contradict each other.
pub(crate) fn merge(a: &Shape, b: &Shape) -> Option<Shape> {
    if a.rank() != b.rank() {
        return None;
    }
    let mut dims = [0; Shape::MAX_RANK];
    for (to, (&x, &y)) in dims.iter_mut().zip(a.dims().iter().zip(b.dims())) {
        *to = merge_dim(x, y)?;
    }
    Shape::new(dims.get(..a.rank())?).ok()
}

/// The shape with other dimensions.
pub(super) fn with_dims(shape: Shape, dims: impl IntoIterator<Item = (usize, i64)>) -> Shape {
    let mut all = [0; Shape::MAX_RANK];
    let rank = shape.rank();
    all[..rank].copy_from_slice(shape.dims());
    for (axis, dim) in dims {
        if let Some(to) = all[..rank].get_mut(axis) {
            *to = dim;
        }
    }
    Shape::new(&all[..rank]).unwrap_or(shape)
}

/// The shape of these dimensions.
///
/// # Errors
/// More than 8.
pub(super) fn shape_of(dims: &[i64]) -> Result<Shape> {
    Shape::new(dims).map_err(|_| LayerProblem::Overflow {
        what: "the rank of the output",
    })
}

/// The shape of the result of an operation on pairs of elements.
///
/// Shapes are aligned at the last dimension; sizes are equal, or one of them is 1. An unknown size
/// against a known one other than 1 must turn out to be 1 or that one.
pub(super) fn broadcast(x: &Shape, y: &Shape) -> Result<Shape> {
    let (x_rank, y_rank) = (x.rank(), y.rank());
    let rank = x_rank.max(y_rank);
    let mut dims = [1; Shape::MAX_RANK];
    for (i, to) in dims[..rank].iter_mut().enumerate() {
        let at = |shape: &Shape, shape_rank: usize| match (i + shape_rank).checked_sub(rank) {
            Some(axis) => shape.dims()[axis],
            None => 1,
        };
        *to = match (at(x, x_rank), at(y, y_rank)) {
            (1, d) | (d, 1) => d,
            (a, b) => merge_dim(a, b).ok_or_else(|| LayerProblem::Broadcast {
                x: Box::new(*x),
                y: Box::new(*y),
            })?,
        };
    }
    shape_of(&dims[..rank])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_are_equal_or_one_broadcast() {
        let result = |x: Shape, y: Shape| broadcast(&x, &y).ok();
        for (x, y, expected) in [
            (Shape::from([2, 3]), Shape::from([3]), Shape::from([2, 3])),
            (
                Shape::from([2, 1]),
                Shape::from([1, 5]),
                Shape::from([2, 5]),
            ),
            (Shape::SCALAR, Shape::from([4]), Shape::from([4])),
            (Shape::SCALAR, Shape::SCALAR, Shape::SCALAR),
            // The unknown size is 1 or 7; either way the result has 7.
            (Shape::from([-1]), Shape::from([7]), Shape::from([7])),
            (Shape::from([-1]), Shape::from([1]), Shape::from([-1])),
            (Shape::from([-1]), Shape::from([-1]), Shape::from([-1])),
            (
                Shape::from([0, 3]),
                Shape::from([1, 3]),
                Shape::from([0, 3]),
            ),
        ] {
            assert_eq!(result(x, y), Some(expected), "{x} {y}");
            assert_eq!(result(y, x), Some(expected), "{y} {x}");
        }
        assert_eq!(result(Shape::from([2]), Shape::from([3])), None);
        assert_eq!(result(Shape::from([0]), Shape::from([3])), None);
    }

    #[test]
    fn statements_about_a_shape_merge_unless_they_contradict() {
        let merged = |a: Shape, b: Shape| merge(&a, &b);
        assert_eq!(
            merged(Shape::from([-1, 3]), Shape::from([2, -1])),
            Some(Shape::from([2, 3]))
        );
        assert_eq!(merged(Shape::from([2]), Shape::from([3])), None);
        assert_eq!(merged(Shape::from([2]), Shape::from([2, 1])), None);
    }
}
