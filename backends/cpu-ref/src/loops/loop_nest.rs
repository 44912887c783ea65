//! Loops over the elements of several tensors at once.

use armnn_backend_api::Shape;

/// Nested loops over one set of dimensions, in which each of `N` operands moves by strides of its
/// own. Dimensions that all operands walk through evenly are merged into one, so that the
/// innermost loop (a row) is as long as possible.
#[derive(Clone, Debug)]
pub(crate) struct LoopNest<const N: usize> {
    /// Size and strides of each loop around the rows, outermost first.
    outer: Vec<(usize, [isize; N])>,
    row_len: usize,
    row_strides: [isize; N],
    start: [usize; N],
}

impl<const N: usize> LoopNest<N> {
    /// A nest over `dims`, outermost first. `strides` and `start` are in elements, those of each
    /// operand; no position that they lead to may be outside of its tensor.
    pub(crate) fn new(dims: &[usize], strides: [&[isize]; N], start: [usize; N]) -> Self {
        let mut loops: Vec<(usize, [isize; N])> = Vec::with_capacity(dims.len());
        for (axis, &size) in dims.iter().enumerate() {
            let strides = strides.map(|s| s[axis]);
            if size == 1 {
                continue;
            }
            match loops.last_mut() {
                Some((outer_size, outer_strides))
                    if (0..N).all(|i| outer_strides[i] == scaled(strides[i], size)) =>
                {
                    *outer_size = outer_size.saturating_mul(size);
                    *outer_strides = strides;
                }
                _ => loops.push((size, strides)),
            }
        }
        let (row_len, row_strides) = loops.pop().unwrap_or((1, [1; N]));
        Self {
            outer: loops,
            row_len,
            row_strides,
            start,
        }
    }

    /// Elements of a row.
    pub(crate) fn row_len(&self) -> usize {
        self.row_len
    }

    /// How far each operand moves from one element of a row to the next.
    pub(crate) fn row_strides(&self) -> [isize; N] {
        self.row_strides
    }

    /// Calls `row` with the position of each operand at the start of each row, in order. Does
    /// nothing when a dimension is 0.
    pub(crate) fn for_each_row(&self, mut row: impl FnMut([usize; N])) {
        if self.row_len == 0 || self.outer.iter().any(|&(size, _)| size == 0) {
            return;
        }
        // Each dimension may be cut in two.
        let mut counters = [0; 2 * Shape::MAX_RANK];
        let mut positions = self.start;
        loop {
            row(positions);
            let mut axis = self.outer.len();
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                let (size, strides) = &self.outer[axis];
                counters[axis] += 1;
                if counters[axis] < *size {
                    for (position, &stride) in positions.iter_mut().zip(strides) {
                        *position = position.wrapping_add_signed(stride);
                    }
                    break;
                }
                counters[axis] = 0;
                // Back to the start of this loop, then on in the one around it.
                let back = (*size - 1) as isize;
                for (position, &stride) in positions.iter_mut().zip(strides) {
                    *position = position.wrapping_add_signed(stride.wrapping_mul(-back));
                }
            }
        }
    }
}

/// Saturates only where another dimension is 0, and then the result is not used.
fn scaled(stride: isize, size: usize) -> isize {
    stride.saturating_mul(isize::try_from(size).unwrap_or(isize::MAX))
}

/// The strides of a dense, row-major tensor.
pub(crate) fn dense_strides(dims: &[usize]) -> Vec<isize> {
    let mut strides = vec![0; dims.len()];
    let mut stride = 1isize;
    for (to, &size) in strides.iter_mut().zip(dims).rev() {
        *to = stride;
        stride = scaled(stride, size);
    }
    strides
}

/// The strides with which a dense tensor is read as if it had the dimensions `to`: it is repeated
/// along dimensions that it lacks, or in which its size is 1. `None` if it does not fit.
pub(crate) fn broadcast_strides(dims: &[usize], to: &[usize]) -> Option<Vec<isize>> {
    let missing = to.len().checked_sub(dims.len())?;
    let dense = dense_strides(dims);
    let mut strides = vec![0; to.len()];
    for (axis, (&size, &stride)) in dims.iter().zip(&dense).enumerate() {
        let target = to[missing + axis];
        if size == target {
            strides[missing + axis] = stride;
        } else if size != 1 {
            return None;
        }
    }
    Some(strides)
}

/// Writes `f(x, y)` of each pair of elements to `out`, which is dense; the nest's operands are `x`
/// and `y`.
pub(crate) fn map_pairs<X: Copy, Y: Copy, O>(
    nest: &LoopNest<2>,
    x: &[X],
    y: &[Y],
    out: &mut [O],
    f: impl Fn(X, Y) -> O,
) {
    let len = nest.row_len();
    if len == 0 {
        return;
    }
    let strides = nest.row_strides();
    let mut rows = out.chunks_exact_mut(len);
    nest.for_each_row(|[at_x, at_y]| {
        let Some(out) = rows.next() else { return };
        match strides {
            [1, 1] => {
                let pairs = x[at_x..][..len].iter().zip(&y[at_y..][..len]);
                out.iter_mut()
                    .zip(pairs)
                    .for_each(|(o, (&x, &y))| *o = f(x, y));
            }
            [1, 0] => {
                let y = y[at_y];
                let xs = &x[at_x..][..len];
                out.iter_mut().zip(xs).for_each(|(o, &x)| *o = f(x, y));
            }
            [0, 1] => {
                let x = x[at_x];
                let ys = &y[at_y..][..len];
                out.iter_mut().zip(ys).for_each(|(o, &y)| *o = f(x, y));
            }
            [stride_x, stride_y] => {
                let (mut at_x, mut at_y) = (at_x, at_y);
                for o in out {
                    *o = f(x[at_x], y[at_y]);
                    at_x = at_x.wrapping_add_signed(stride_x);
                    at_y = at_y.wrapping_add_signed(stride_y);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<const N: usize>(nest: &LoopNest<N>) -> Vec<[usize; N]> {
        let mut rows = vec![];
        nest.for_each_row(|row| rows.push(row));
        rows
    }

    #[test]
    fn dense_dimensions_are_one_row() {
        let strides = dense_strides(&[2, 3, 4]);
        assert_eq!(strides, [12, 4, 1]);
        let nest = LoopNest::new(&[2, 3, 4], [&strides, &strides], [0, 0]);
        assert_eq!((nest.row_len(), rows(&nest)), (24, vec![[0, 0]]));
    }

    #[test]
    fn a_transposed_operand_walks_across_the_rows() {
        // x is [3, 2] seen as [2, 3]: element (i, j) is at j * 2 + i.
        let nest = LoopNest::new(&[2, 3], [&[1, 2], &[3, 1]], [0, 0]);
        assert_eq!(nest.row_strides(), [2, 1]);
        assert_eq!(rows(&nest), [[0, 0], [1, 3]]);
    }

    #[test]
    fn strides_may_go_backwards() {
        let nest = LoopNest::new(&[2, 2, 2], [&[-4, 2, -1]], [5]);
        assert_eq!(rows(&nest), [[5], [7], [1], [3]]);
    }

    #[test]
    fn no_dimensions_are_one_element_and_a_zero_is_none() {
        assert_eq!(rows(&LoopNest::new(&[], [&[]], [0])), [[0]]);
        let strides = dense_strides(&[2, 0, usize::MAX]);
        let nest = LoopNest::new(&[2, 0, usize::MAX], [&strides], [0]);
        assert!(rows(&nest).is_empty());
    }

    #[test]
    fn broadcasting_repeats_missing_and_single_dimensions() {
        assert_eq!(broadcast_strides(&[3, 1], &[2, 3, 4]), Some(vec![0, 1, 0]));
        assert_eq!(broadcast_strides(&[], &[2, 3]), Some(vec![0, 0]));
        assert_eq!(broadcast_strides(&[2], &[3]), None);
        assert_eq!(broadcast_strides(&[1, 3], &[3]), None);
        assert_eq!(broadcast_strides(&[1], &[0]), Some(vec![0]));
    }
}
