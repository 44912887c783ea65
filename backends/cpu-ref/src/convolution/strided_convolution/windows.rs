//! Where windows lie in input and weights, by strides.

use armnn_backend_api::{DataLayout, ExecutionContext, LayerView, Result, Synchronous};

use crate::{
    loops::loop_nest::dense_strides,
    workloads::{
        layer_checks::{dims, input, invalid, output},
        parallel::for_each_chunk,
    },
};

/// Stride, dilation and padding before, of planes, rows and columns.
pub(super) type Steps = [[u32; 3]; 3];

/// Where output channels, input channels and the directions are in the shape of the weights.
#[derive(Clone, Copy)]
pub(super) struct WeightAxes {
    pub(super) output: usize,
    pub(super) input: usize,
    pub(super) first: usize,
}

/// The windows of a layer.
#[derive(Clone)]
pub(super) struct Windows {
    pub(super) directions: [Direction; 3],
    pub(super) input: Strides,
    /// The batch is the group.
    pub(super) weights: Strides,
    /// Otherwise along output channels.
    pub(super) are_groups_along_inputs: bool,
    /// Of an output channel in its group.
    pub(super) weights_output: usize,
    pub(super) in_group: usize,
    pub(super) out_group: usize,
    pub(super) out_channels: usize,
    pub(super) channels_last: bool,
}

impl Windows {
    pub(super) fn new(
        layer: LayerView<'_>,
        steps: Steps,
        groups: u32,
        layout: DataLayout,
        axes: WeightAxes,
        is_transposed: bool,
    ) -> Result<Self> {
        let from = dims(layer, input(layer, 0)?)?;
        let weights = dims(layer, input(layer, 1)?)?;
        let to = dims(layer, output(layer, 0)?)?;
        let mismatch = || {
            invalid(format_args!(
                "weights of shape {weights:?} in {groups} groups do not lead from {from:?} to \
                 {to:?}"
            ))
        };
        let rank = from.len();
        if !(4..=5).contains(&rank) || weights.len() != rank || to.len() != rank {
            return Err(mismatch());
        }
        let channels_last = matches!(layout, DataLayout::Nhwc | DataLayout::Ndhwc);
        let (channel, first) = match channels_last {
            true => (rank - 1, 1),
            false => (1, 2),
        };
        let n_directions = rank - 2;
        let (from_strides, weight_strides) = (dense_strides(&from), dense_strides(&weights));
        // Images are volumes of one plane.
        let along = |values: &[usize], first: usize| -> [usize; 3] {
            match n_directions {
                2 => [1, values[first], values[first + 1]],
                _ => [values[first], values[first + 1], values[first + 2]],
            }
        };
        let sized = |strides: &[isize]| strides.iter().map(|&s| s as usize).collect::<Vec<_>>();
        let (from_strides, weight_strides) = (sized(&from_strides), sized(&weight_strides));
        let (inputs, outputs) = (along(&from, first), along(&to, first));
        // Without weights, nothing lies in a window, whatever its size.
        let taps = match weights.contains(&0) {
            true => [0; 3],
            false => along(&weights, axes.first),
        };
        let groups = groups as usize;
        let (in_channels, out_channels) = (from[channel], to[channel]);
        // Whole numbers of channels in a group.
        let [in_group, out_group] =
            [in_channels, out_channels].map(|n| n.checked_div(groups).unwrap_or(0));
        let stored_groups = match is_transposed && !channels_last {
            true => (in_channels, out_group),
            false => (in_group, out_channels),
        };
        let fits = from[0] == to[0]
            && in_group * groups == in_channels
            && out_group * groups == out_channels
            && (weights[axes.input], weights[axes.output]) == stored_groups
            && steps
                .iter()
                .all(|&[stride, dilation, _]| stride > 0 && dilation > 0);
        if !fits {
            return Err(mismatch());
        }
        let directions = std::array::from_fn(|i| Direction {
            input: inputs[i],
            output: outputs[i],
            taps: taps[i],
            stride: steps[i][0] as usize,
            dilation: steps[i][1] as usize,
            pad: steps[i][2] as usize,
            is_transposed,
        });
        let is_inside = |d: &Direction| {
            // Positions can be computed.
            let last = d.output.checked_mul(d.stride)?.checked_add(d.pad)?;
            last.checked_add(d.taps.checked_mul(d.dilation)?)
        };
        if directions.iter().any(|d| is_inside(d).is_none()) {
            return Err(mismatch());
        }
        let (group, weights_output) = match is_transposed && !channels_last {
            true => (
                weight_strides[axes.input].saturating_mul(in_group),
                weight_strides[axes.output],
            ),
            false => (
                weight_strides[axes.output].saturating_mul(out_group),
                weight_strides[axes.output],
            ),
        };
        Ok(Self {
            directions,
            input: Strides {
                batch: from_strides[0],
                channel: from_strides[channel],
                directions: along(&from_strides, first),
            },
            weights: Strides {
                batch: group,
                channel: weight_strides[axes.input],
                directions: along(&weight_strides, axes.first),
            },
            are_groups_along_inputs: is_transposed && !channels_last,
            weights_output,
            in_group,
            out_group,
            out_channels,
            channels_last,
        })
    }

    /// Calls `add` with the positions in input and weights of the first channel of each tap that an
    /// output sees inside of the input.
    #[inline]
    pub(super) fn for_each_tap(
        &self,
        batch: usize,
        channel: usize,
        [z, y, x]: [usize; 3],
        mut add: impl FnMut(usize, usize),
    ) {
        let (group, in_group) = (channel / self.out_group, channel % self.out_group);
        let from = batch * self.input.batch + group * self.in_group * self.input.channel;
        let weights = group * self.weights.batch + in_group * self.weights_output;
        let [planes, rows, columns] = &self.directions;
        for kz in 0..planes.taps {
            let Some(in_z) = planes.position(z, kz) else {
                continue;
            };
            let (from, weights) = (
                from + in_z * self.input.directions[0],
                weights + kz * self.weights.directions[0],
            );
            for ky in 0..rows.taps {
                let Some(in_y) = rows.position(y, ky) else {
                    continue;
                };
                let (from, weights) = (
                    from + in_y * self.input.directions[1],
                    weights + ky * self.weights.directions[1],
                );
                for kx in 0..columns.taps {
                    if let Some(in_x) = columns.position(x, kx) {
                        add(
                            from + in_x * self.input.directions[2],
                            weights + kx * self.weights.directions[2],
                        );
                    }
                }
            }
        }
    }

    /// Sets each element of the output: `value` of its batch, channel and position.
    pub(super) fn for_each_output<T: Send>(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        output: &mut [T],
        value: impl Fn(usize, usize, [usize; 3]) -> T + Sync,
    ) -> Result<()> {
        let [planes, rows, columns] = self.directions.map(|d| d.output);
        let taps: usize = self.directions.iter().map(|d| d.taps).product();
        let work = output
            .len()
            .saturating_mul(taps.saturating_mul(self.in_group));
        if self.channels_last {
            let row_len = columns * self.out_channels;
            return for_each_chunk(context, output, row_len, work, |index, row| {
                let (y, above) = (index % rows, index / rows);
                let (z, batch) = (above % planes, above / planes);
                for (x, pixel) in row.chunks_exact_mut(self.out_channels).enumerate() {
                    for (channel, out) in pixel.iter_mut().enumerate() {
                        *out = value(batch, channel, [z, y, x]);
                    }
                }
            });
        }
        for_each_chunk(context, output, columns, work, |index, row| {
            let (y, above) = (index % rows, index / rows);
            let (z, above) = (above % planes, above / planes);
            let (channel, batch) = (above % self.out_channels, above / self.out_channels);
            for (x, out) in row.iter_mut().enumerate() {
                *out = value(batch, channel, [z, y, x]);
            }
        })
    }
}

/// What lies along one direction.
#[derive(Clone, Copy)]
pub(super) struct Direction {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) taps: usize,
    pub(super) stride: usize,
    pub(super) dilation: usize,
    pub(super) pad: usize,
    pub(super) is_transposed: bool,
}

impl Direction {
    /// Which input position an output position sees through a tap of the filter.
    #[inline]
    pub(super) fn position(&self, output: usize, tap: usize) -> Option<usize> {
        let position = if self.is_transposed {
            let from_start = (output + self.pad).checked_sub(tap.checked_mul(self.dilation)?)?;
            if from_start % self.stride != 0 {
                return None;
            }
            from_start / self.stride
        } else {
            let padded = output * self.stride + tap.checked_mul(self.dilation)?;
            padded.checked_sub(self.pad)?
        };
        (position < self.input).then_some(position)
    }
}

/// Strides of a tensor: of batch, channels and the three directions.
#[derive(Clone, Copy)]
pub(super) struct Strides {
    pub(super) batch: usize,
    pub(super) channel: usize,
    pub(super) directions: [usize; 3],
}
