//! The kernel of Convolution2d and DepthwiseConvolution2d for NCHW.

use armnn_backend_api::{ExecutionContext, Result, Synchronous};

use crate::{
    convolution::pixel_blocks::{Filters, LANES, block},
    loops::sliding_window::SlidingWindow,
    numbers::real::Real,
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS},
        parallel::for_each_chunk,
    },
};

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
        block(out_group).filter(|_| fits)
    }

    /// Computes planes of the output whose filters look at the same input. Each sum is added up in the
    /// order of the weights, as by [`add_tap`](Self::add_tap), but that padding is added, too.
    fn add_block<F: Real>(&self, input: &[F], weights: &[F], bias: &[F], planes: &mut [F]) {
        let out_plane = self.rows.output * self.columns.output;
        let in_plane = self.rows.input * self.columns.input;
        let filters = Filters {
            weights,
            count: planes.len() / out_plane,
            taps: self.rows.taps * self.columns.taps,
            bias,
        };
        let positions = |first, tap| self.positions_under(first, tap);
        filters.add_up((input, in_plane), out_plane, positions, |o, first, sums| {
            planes[o * out_plane + first..][..sums.len()].copy_from_slice(sums);
        });
    }

    /// Where the input lies under a tap, for some pixels of the output; beyond its end where there is
    /// none.
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
