//! The kernel of Convolution2d and DepthwiseConvolution2d for NCHW.

use armnn_backend_api::{ExecutionContext, Result, Synchronous};

use crate::{
    loops::sliding_window::SlidingWindow,
    numbers::real::Real,
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS},
        parallel::for_each_chunk,
    },
};

/// Pixels that are computed together.
const LANES: usize = 8;
/// The most planes that are computed together.
const MOST_BLOCK: usize = 32;
/// For filters of so many taps at most, positions under them are kept.
const MOST_TAPS: usize = 64;
/// How much of what filters look at is gathered at a time.
const SLAB: usize = 64;

/// Where the weight of a pair of channels and a tap lies.
pub(crate) enum WeightLayout {
    /// [O, I / groups, KH, KW]
    PlanePerPair {
        /// I / groups
        in_channels: usize,
    },
    /// [1, KH, KW, O], and one input channel for each output channel.
    ChannelsLast,
}

/// Input [N, I, H, W], output [N, O, H', W'], computed plane by plane.
pub(crate) struct NchwConvolution {
    pub(crate) rows: SlidingWindow,
    pub(crate) columns: SlidingWindow,
    /// Of all groups together.
    pub(crate) in_channels: usize,
    /// Of all groups together.
    pub(crate) out_channels: usize,
    pub(crate) groups: usize,
    pub(crate) weights: WeightLayout,
}

impl<F: Real> FloatKernel<F> for NchwConvolution {
    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, weights, bias]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let in_plane = self.rows.input * self.columns.input;
        let out_plane = self.rows.output * self.columns.output;
        let in_group = self.in_channels / self.groups;
        let out_group = self.out_channels / self.groups;
        let filter_len = self.rows.taps * self.columns.taps * in_group;
        let work = output.len().saturating_mul(filter_len);
        if let Some(block) = self.block() {
            let chunk = out_plane * block;
            for_each_chunk(context, output, chunk, work, |index, planes| {
                let first = index * block;
                let (image, o) = (first / self.out_channels, first % self.out_channels);
                let channel = image * self.in_channels + o / out_group * in_group;
                let input = &input[channel * in_plane..][..in_group * in_plane];
                let weights = &weights[o * filter_len..][..block * filter_len];
                let bias = bias.get(o..o + block).unwrap_or_default();
                self.add_block(input, weights, bias, planes);
            })?;
            return Ok(());
        }
        for_each_chunk(context, output, out_plane, work, |index, plane| {
            let (image, o) = (index / self.out_channels, index % self.out_channels);
            plane.fill(bias.get(o).copied().unwrap_or(F::from_f64(0.0)));
            for i in 0..in_group {
                let channel = image * self.in_channels + o / out_group * in_group + i;
                let input = &input[channel * in_plane..][..in_plane];
                for ky in 0..self.rows.taps {
                    for kx in 0..self.columns.taps {
                        let weight = weights[self.weight_position(o, i, ky, kx)];
                        self.add_tap(input, weight, ky, kx, plane);
                    }
                }
            }
        })
    }
}

impl NchwConvolution {
    /// How many planes of the output are computed together: a divisor of those of a group. None where
    /// it is one at a time, because few filters look at the same input.
    fn block(&self) -> Option<usize> {
        let out_group = self.out_channels / self.groups;
        let fits = matches!(self.weights, WeightLayout::PlanePerPair { .. })
            && u32::try_from(self.rows.input * self.columns.input).is_ok();
        let mut blocks = (2..=16).rev().chain(17..=MOST_BLOCK);
        blocks.find(|&block| fits && out_group.is_multiple_of(block))
    }

    /// Computes planes of the output whose filters look at the same input. A few pixels are computed
    /// at a time, for which what the filters look at is gathered. Each sum is added up in the order
    /// of the weights, as by [`add_tap`](Self::add_tap), but that padding is added, too.
    fn add_block<F: Real>(&self, input: &[F], weights: &[F], bias: &[F], planes: &mut [F]) {
        let out_plane = self.rows.output * self.columns.output;
        let in_plane = self.rows.input * self.columns.input;
        let block = planes.len() / out_plane;
        let filter_len = weights.len() / block;
        let taps = self.rows.taps * self.columns.taps;
        let zero = F::from_f64(0.0);
        let mut patch = [[zero; LANES]; SLAB];
        for first in (0..out_plane).step_by(LANES) {
            let table = (taps <= MOST_TAPS).then(|| self.positions(first));
            let mut sums = [[zero; LANES]; MOST_BLOCK];
            for (sums, &bias) in sums.iter_mut().zip(bias) {
                *sums = [bias; LANES];
            }
            for from in (0..filter_len).step_by(SLAB) {
                let len = SLAB.min(filter_len - from);
                let (mut channel, mut tap) = (from / taps, from % taps);
                for pixels in &mut patch[..len] {
                    let input = &input[channel * in_plane..][..in_plane];
                    let positions = match &table {
                        Some(table) => table[tap],
                        None => self.positions_under(first, tap),
                    };
                    for (pixel, position) in pixels.iter_mut().zip(positions) {
                        *pixel = input.get(position as usize).copied().unwrap_or(zero);
                    }
                    tap += 1;
                    if tap == taps {
                        (channel, tap) = (channel + 1, 0);
                    }
                }
                let filter = |o: usize| &weights[o * filter_len + from..][..len];
                let (fours, rest) = sums[..block].as_chunks_mut::<4>();
                let beside = 4 * fours.len();
                for (at, sums) in fours.iter_mut().enumerate() {
                    let filters = [4 * at, 4 * at + 1, 4 * at + 2, 4 * at + 3].map(filter);
                    add_products(&patch[..len], filters, sums);
                }
                for (at, sums) in rest.iter_mut().enumerate() {
                    add_product(&patch[..len], filter(beside + at), sums);
                }
            }
            let len = LANES.min(out_plane - first);
            for (plane, sums) in planes.chunks_exact_mut(out_plane).zip(&sums) {
                plane[first..][..len].copy_from_slice(&sums[..len]);
            }
        }
    }

    /// Where the input lies under each tap, for some pixels of the output; beyond its end where
    /// there is none.
    fn positions(&self, first: usize) -> [[u32; LANES]; MOST_TAPS] {
        let mut positions = [[u32::MAX; LANES]; MOST_TAPS];
        let taps = self.rows.taps * self.columns.taps;
        for (tap, positions) in positions.iter_mut().enumerate().take(taps) {
            *positions = self.positions_under(first, tap);
        }
        positions
    }

    /// The same under one tap.
    fn positions_under(&self, first: usize, tap: usize) -> [u32; LANES] {
        let mut positions = [u32::MAX; LANES];
        let (ky, kx) = (tap / self.columns.taps, tap % self.columns.taps);
        let (mut y, mut x) = (first / self.columns.output, first % self.columns.output);
        for position in &mut positions {
            if y == self.rows.output {
                break;
            }
            let (row, column) = (self.rows.position(y, ky), self.columns.position(x, kx));
            if let (Some(row), Some(column)) = (row, column) {
                // The whole plane has fewer elements than u32 can count.
                *position = (row * self.columns.input + column) as u32;
            }
            x += 1;
            if x == self.columns.output {
                (y, x) = (y + 1, 0);
            }
        }
        positions
    }

    fn weight_position(&self, o: usize, i: usize, ky: usize, kx: usize) -> usize {
        match self.weights {
            WeightLayout::PlanePerPair { in_channels } => {
                ((o * in_channels + i) * self.rows.taps + ky) * self.columns.taps + kx
            }
            WeightLayout::ChannelsLast => (ky * self.columns.taps + kx) * self.out_channels + o,
        }
    }

    /// Adds `weight` times the input under one tap to a plane of the output.
    fn add_tap<F: Real>(&self, input: &[F], weight: F, ky: usize, kx: usize, plane: &mut [F]) {
        let columns = self.columns.outputs_inside(kx);
        let Some(in_x) = self.columns.position(columns.start, kx) else {
            return;
        };
        for y in self.rows.outputs_inside(ky) {
            let Some(in_y) = self.rows.position(y, ky) else {
                continue;
            };
            let from = &input[in_y * self.columns.input..][in_x..self.columns.input];
            let to = &mut plane[y * self.columns.output..][columns.clone()];
            if self.columns.stride == 1 {
                to.iter_mut().zip(from).for_each(|(o, &i)| *o += weight * i);
            } else {
                let from = from.iter().step_by(self.columns.stride);
                to.iter_mut().zip(from).for_each(|(o, &i)| *o += weight * i);
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
