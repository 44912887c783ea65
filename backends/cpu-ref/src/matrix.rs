//! The product of two matrices.

use crate::real::Real;

/// `out[m][n] = start[n] + sum over k of x[m][k] y[k][n]`, with the matrices laid out by strides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatrixProduct {
    pub(crate) m: usize,
    pub(crate) k: usize,
    pub(crate) n: usize,
    /// x is [K, M] in memory, not [M, K].
    pub(crate) transpose_x: bool,
    /// y is [N, K] in memory, not [K, N].
    pub(crate) transpose_y: bool,
}

impl MatrixProduct {
    /// Elements of scratch memory that [`run`](Self::run) needs.
    pub(crate) fn scratch_len(&self) -> usize {
        if self.transpose_x { self.k } else { 0 }
    }

    /// Computes the product. `start` is empty (0) or has `n` elements.
    pub(crate) fn run<F: Real>(
        &self,
        scratch: &mut [F],
        x: &[F],
        y: &[F],
        start: &[F],
        out: &mut [F],
    ) {
        let &Self { m, k, n, .. } = self;
        if n == 0 {
            return;
        }
        for (row, out) in out.chunks_exact_mut(n).enumerate().take(m) {
            let x = if self.transpose_x {
                let gathered = &mut scratch[..k];
                let column = x.iter().skip(row).step_by(m);
                gathered.iter_mut().zip(column).for_each(|(to, &x)| *to = x);
                &*gathered
            } else {
                &x[row * k..][..k]
            };
            if start.is_empty() {
                out.fill(F::ZERO);
            } else {
                out.copy_from_slice(start);
            }
            if self.transpose_y {
                for (column, out) in out.iter_mut().enumerate() {
                    *out += dot(x, &y[column * k..][..k]);
                }
            } else {
                for (&x, y) in x.iter().zip(y.chunks_exact(n)) {
                    out.iter_mut().zip(y).for_each(|(out, &y)| *out += x * y);
                }
            }
        }
    }
}

/// Sums kept apart, so that additions need not wait for each other.
const LANES: usize = 16;

/// The sum of the products of two slices of the same length.
pub(crate) fn dot<F: Real>(x: &[F], y: &[F]) -> F {
    let (x_chunks, x_rest) = x.as_chunks::<LANES>();
    let (y_chunks, y_rest) = y.as_chunks::<LANES>();
    let mut sums = [F::ZERO; LANES];
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest = x_rest.iter().zip(y_rest).map(|(&x, &y)| x * y);
    add_up(sums) + rest.fold(F::ZERO, |sum, x| sum + x)
}

/// The sum of a slice.
pub(crate) fn sum<F: Real>(values: &[F]) -> F {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut sums = [F::ZERO; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += chunk[lane];
        }
    }
    add_up(sums) + rest.iter().fold(F::ZERO, |sum, &x| sum + x)
}

fn add_up<F: Real>(mut sums: [F; LANES]) -> F {
    let mut len = LANES;
    while len > 1 {
        len /= 2;
        for lane in 0..len {
            sums[lane] += sums[lane + len];
        }
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_include_what_no_chunk_covers() {
        for len in [0, 1, 15, 16, 17, 50] {
            let values: Vec<f32> = (1..=len).map(|i| i as f32).collect();
            let n = len as f32;
            assert_eq!(sum(&values), n * (n + 1.0) / 2.0);
            assert_eq!(dot(&values, &values), n * (n + 1.0) * (2.0 * n + 1.0) / 6.0);
        }
    }
}
