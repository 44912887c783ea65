//! The product of two matrices.

use crate::numbers::real::Real;

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
        let mut first = 0;
        if !self.transpose_x && !self.transpose_y && n >= COLUMNS && k > 0 {
            first = m / ROWS * ROWS;
            self.run_rows(&x[..first * k], y, start, &mut out[..first * n]);
        }
        let rest = out.chunks_exact_mut(n).enumerate();
        for (row, out) in rest.take(m).skip(first) {
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

/// Rows and columns of a product whose sums are kept in registers. Each is added up in the same order
/// as one by itself.
const ROWS: usize = 4;
const COLUMNS: usize = 8;
/// How many rows of the second matrix are taken at a time: these, in so many columns, stay in the
/// cache while they are multiplied by all rows of the first.
const SLAB: usize = 256;

impl MatrixProduct {
    /// Rows of the product of matrices that are not transposed and not empty; a multiple of [`ROWS`].
    fn run_rows<F: Real>(&self, x: &[F], y: &[F], start: &[F], out: &mut [F]) {
        let &Self { k, n, .. } = self;
        let mut panel = [[F::ZERO; COLUMNS]; SLAB];
        for from in (0..k).step_by(SLAB) {
            let len = SLAB.min(k - from);
            for column in (0..n).step_by(COLUMNS) {
                let width = COLUMNS.min(n - column);
                let rows = y[from * n..].chunks_exact(n);
                for (panel, y) in panel[..len].iter_mut().zip(rows) {
                    panel[..width].copy_from_slice(&y[column..][..width]);
                }
                let rows = x.chunks_exact(ROWS * k).zip(out.chunks_exact_mut(ROWS * n));
                for (x, out) in rows {
                    let mut sums = [[F::ZERO; COLUMNS]; ROWS];
                    for (sums, out) in sums.iter_mut().zip(out.chunks_exact(n)) {
                        let so_far = if from == 0 { start } else { out };
                        if let Some(so_far) = so_far.get(column..column + width) {
                            sums[..width].copy_from_slice(so_far);
                        }
                    }
                    let row = |at: usize| &x[at * k + from..][..len];
                    add_products(&panel[..len], [row(0), row(1), row(2), row(3)], &mut sums);
                    for (sums, out) in sums.iter().zip(out.chunks_exact_mut(n)) {
                        out[column..][..width].copy_from_slice(&sums[..width]);
                    }
                }
            }
        }
    }
}

/// Adds the products of four rows and some columns to the sums.
fn add_products<F: Real>(
    panel: &[[F; COLUMNS]],
    [a, b, c, d]: [&[F]; ROWS],
    sums: &mut [[F; COLUMNS]; ROWS],
) {
    let mut local = *sums;
    let rows = a.iter().zip(b).zip(c).zip(d);
    for (y, (((&a, &b), &c), &d)) in panel.iter().zip(rows) {
        for (sums, x) in local.iter_mut().zip([a, b, c, d]) {
            for (sum, &y) in sums.iter_mut().zip(y) {
                *sum += x * y;
            }
        }
    }
    *sums = local;
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

    /// Small integers, whose sums are exact: x[m][k] = m + k - 3, y[k][n] = 2 k - n.
    #[test]
    fn rows_and_columns_in_blocks_and_beside_them_are_products() {
        for (m, k, n) in [
            (4, 3, 8),
            (5, 1, 9),
            (9, 5, 17),
            (4, 0, 8),
            (3, 4, 8),
            (8, 6, 7),
        ] {
            let product = MatrixProduct {
                m,
                k,
                n,
                transpose_x: false,
                transpose_y: false,
            };
            let x: Vec<f32> = (0..m * k).map(|i| (i / k + i % k) as f32 - 3.0).collect();
            let y: Vec<f32> = (0..k * n)
                .map(|i| (2 * (i / n)) as f32 - (i % n) as f32)
                .collect();
            for start in [vec![], (0..n).map(|i| i as f32 + 0.5).collect()] {
                let mut out = vec![f32::NAN; m * n];
                product.run(&mut [], &x, &y, &start, &mut out);
                for (at, &found) in out.iter().enumerate() {
                    let first = start.get(at % n).copied().unwrap_or(0.0);
                    let terms = (0..k).map(|i| x[at / n * k + i] * y[i * n + at % n]);
                    assert_eq!(found, first + terms.sum::<f32>(), "{m} {k} {n} at {at}");
                }
            }
        }
    }

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
