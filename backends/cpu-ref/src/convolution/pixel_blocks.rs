//! Sums of products for a block of filters that look at the same planes, a few pixels at a time.

use crate::numbers::real::Real;

/// Pixels that are computed together.
pub(super) const LANES: usize = 8;
/// The most filters that are computed together.
pub(super) const MOST_BLOCK: usize = 32;
/// For filters of so many taps at most, positions under them are kept.
const MOST_TAPS: usize = 64;
/// How much of what filters look at is gathered at a time.
const SLAB: usize = 64;

/// Filters of the same size, one after the other, each [channels, taps].
pub(super) struct Filters<'a, F> {
    pub(super) weights: &'a [F],
    pub(super) count: usize,
    pub(super) taps: usize,
    /// For each filter, or empty.
    pub(super) bias: &'a [F],
}

/// How many filters of a group are computed together: a divisor of their number.
pub(super) fn block(filters: usize) -> Option<usize> {
    let mut blocks = (2..=16).rev().chain(17..=MOST_BLOCK);
    blocks.find(|&block| filters.is_multiple_of(block))
}

impl<F: Real> Filters<'_, F> {
    /// Gives `store` the sums of each filter for each of `n_pixels`: the filter's number, the first
    /// pixel, and the sums for it and those that follow.
    ///
    /// `input` has a plane of `in_plane` elements for each channel. `positions` tells where it lies
    /// under a tap for [`LANES`] pixels from one on; beyond its end where there is none, which counts
    /// as 0. Each sum is the bias, and then products in the order of the weights.
    pub(super) fn add_up(
        &self,
        (input, in_plane): (&[F], usize),
        n_pixels: usize,
        positions: impl Fn(usize, usize) -> [u32; LANES],
        mut store: impl FnMut(usize, usize, &[F]),
    ) {
        let &Self {
            weights,
            count,
            taps,
            bias,
        } = self;
        let filter_len = weights.len() / count;
        let mut patch = [[F::ZERO; LANES]; SLAB];
        for first in (0..n_pixels).step_by(LANES) {
            let table = (taps <= MOST_TAPS).then(|| {
                let mut table = [[u32::MAX; LANES]; MOST_TAPS];
                let taps = table.iter_mut().enumerate().take(taps);
                taps.for_each(|(tap, under)| *under = positions(first, tap));
                table
            });
            let mut sums = [[F::ZERO; LANES]; MOST_BLOCK];
            for (sums, &bias) in sums.iter_mut().zip(bias) {
                *sums = [bias; LANES];
            }
            for from in (0..filter_len).step_by(SLAB) {
                let len = SLAB.min(filter_len - from);
                let (mut channel, mut tap) = (from / taps, from % taps);
                for pixels in &mut patch[..len] {
                    let input = &input[channel * in_plane..][..in_plane];
                    let under = match &table {
                        Some(table) => table[tap],
                        None => positions(first, tap),
                    };
                    for (pixel, position) in pixels.iter_mut().zip(under) {
                        *pixel = input.get(position as usize).copied().unwrap_or(F::ZERO);
                    }
                    tap += 1;
                    if tap == taps {
                        (channel, tap) = (channel + 1, 0);
                    }
                }
                let filter = |o: usize| &weights[o * filter_len + from..][..len];
                let (fours, rest) = sums[..count].as_chunks_mut::<4>();
                let beside = 4 * fours.len();
                for (at, sums) in fours.iter_mut().enumerate() {
                    let filters = [4 * at, 4 * at + 1, 4 * at + 2, 4 * at + 3].map(filter);
                    add_products(&patch[..len], filters, sums);
                }
                for (at, sums) in rest.iter_mut().enumerate() {
                    add_product(&patch[..len], filter(beside + at), sums);
                }
            }
            let len = LANES.min(n_pixels - first);
            for (filter, sums) in sums[..count].iter().enumerate() {
                store(filter, first, &sums[..len]);
            }
        }
    }
}

/// Adds the products of four filters and what they look at to four sums for each pixel.
fn add_products<F: Real>(patch: &[[F; LANES]], filters: [&[F]; 4], sums: &mut [[F; LANES]; 4]) {
    let mut local = *sums;
    let [a, b, c, d] = filters;
    let filters = a.iter().zip(b).zip(c).zip(d);
    for (pixels, (((&a, &b), &c), &d)) in patch.iter().zip(filters) {
        for (sums, weight) in local.iter_mut().zip([a, b, c, d]) {
            for (sum, &pixel) in sums.iter_mut().zip(pixels) {
                *sum += weight * pixel;
            }
        }
    }
    *sums = local;
}

/// The same of one filter.
fn add_product<F: Real>(patch: &[[F; LANES]], filter: &[F], sums: &mut [F; LANES]) {
    let mut local = *sums;
    for (pixels, &weight) in patch.iter().zip(filter) {
        for (sum, &pixel) in local.iter_mut().zip(pixels) {
            *sum += weight * pixel;
        }
    }
    *sums = local;
}
