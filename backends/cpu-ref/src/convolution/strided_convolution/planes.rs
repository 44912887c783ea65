//! Channels first, in real numbers: planes of the output in blocks.

use armnn_backend_api::{ExecutionContext, Result, Synchronous};

use super::windows::{Direction, Windows};
use crate::{
    convolution::pixel_blocks::{Filters, LANES, block},
    numbers::real::Real,
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS},
        parallel::for_each_chunk,
    },
};

/// Of more, each would be of few outputs.
const MOST_PHASES: usize = 1 << 10;

/// The output of a layer with channels first, plane by plane.
///
/// Of a transposed convolution, an output sees the taps that lie a multiple of the stride from it:
/// outputs which see the same ones are computed together, as a convolution with those taps.
pub(super) struct Planes {
    windows: Windows,
    phases: Vec<Phase>,
    /// Taps of all directions.
    taps: usize,
    in_plane: usize,
    out_plane: usize,
}

/// Outputs along a direction that see the same taps.
#[derive(Clone)]
struct Slice {
    direction: Direction,
    first: usize,
    step: usize,
    count: usize,
    taps: Vec<usize>,
}

/// The same of all directions.
struct Phase {
    slices: [Slice; 3],
    /// Of each direction.
    taps: Vec<[usize; 3]>,
    /// Where each tap is in a filter.
    offsets: Vec<usize>,
    n_pixels: usize,
    /// How many taps phases before this one have.
    taps_before: usize,
}

impl Planes {
    /// None where windows are walked through in another way: channels are last, planes too large, or
    /// outputs too far apart.
    pub(super) fn new(windows: &Windows) -> Option<Self> {
        let all = windows.directions;
        let product = |along: [usize; 3]| {
            let mut along = along.into_iter();
            along.try_fold(1usize, |n, size| n.checked_mul(size))
        };
        let in_plane = product(all.map(|d| d.input))?;
        let out_plane = product(all.map(|d| d.output))?;
        if windows.channels_last || u32::try_from(in_plane).is_err() {
            return None;
        }
        let n_phases = all.map(|d| match d.is_transposed {
            true => d.stride.min(d.output),
            false => 1,
        });
        if product(n_phases)? > MOST_PHASES {
            return None;
        }
        let [planes, rows, columns] = all.map(slices);
        let mut phases = Vec::new();
        let mut taps_before = 0;
        for z in &planes {
            for y in &rows {
                for x in &columns {
                    let slices = [z.clone(), y.clone(), x.clone()];
                    let phase = Phase::new(slices, windows.weights.directions, taps_before);
                    taps_before += phase.taps.len();
                    phases.push(phase);
                }
            }
        }
        Some(Self {
            phases,
            taps: taps_before,
            in_plane,
            out_plane,
            windows: windows.clone(),
        })
    }

    /// Whether the weights are so already: of a convolution they are.
    fn is_arranged(&self) -> bool {
        !self.windows.are_groups_along_inputs
    }

    /// The weights as [phase, output channel, input channel, tap].
    fn arrange<'a, F: Real>(&self, weights: &[F], arranged: &'a mut [F]) -> &'a [F] {
        let w = &self.windows;
        let mut to = arranged.iter_mut();
        for phase in &self.phases {
            for o in 0..w.out_channels {
                let at = o / w.out_group * w.weights.batch + o % w.out_group * w.weights_output;
                for i in 0..w.in_group {
                    let at = at + i * w.weights.channel;
                    for (offset, to) in phase.offsets.iter().zip(&mut to) {
                        *to = weights[at + offset];
                    }
                }
            }
        }
        arranged
    }
}

impl<F: Real> FloatKernel<F> for Planes {
    fn scratch_len(&self) -> usize {
        match self.is_arranged() {
            true => 0,
            false => self.taps * self.windows.out_channels * self.windows.in_group,
        }
    }

    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [F],
        [input, weights, bias]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let &Self {
            in_plane,
            out_plane,
            ..
        } = self;
        let Windows {
            in_group,
            out_group,
            out_channels,
            ..
        } = self.windows;
        let len = FloatKernel::<F>::scratch_len(self);
        let weights = match self.is_arranged() {
            true => weights,
            false => self.arrange(weights, &mut scratch[..len]),
        };
        let in_channels = out_channels / out_group * in_group;
        let block = block(out_group).unwrap_or(1);
        let work = output.len().saturating_mul(self.taps * in_group);
        for_each_chunk(context, output, out_plane * block, work, |index, planes| {
            let first = index * block;
            let (image, o) = (first / out_channels, first % out_channels);
            let channel = image * in_channels + o / out_group * in_group;
            let input = &input[channel * in_plane..][..in_group * in_plane];
            for phase in &self.phases {
                let filter_len = in_group * phase.taps.len();
                let before = phase.taps_before * in_group * out_channels;
                let filters = Filters {
                    weights: &weights[before + o * filter_len..][..block * filter_len],
                    count: block,
                    taps: phase.taps.len(),
                    bias: bias.get(o..o + block).unwrap_or_default(),
                };
                filters.add_up(
                    (input, in_plane),
                    phase.n_pixels,
                    |first, tap| phase.positions_under(first, tap),
                    |o, first, sums| phase.store(&mut planes[o * out_plane..], first, sums),
                );
            }
        })
    }
}

/// The outputs along a direction, by the taps that they see.
fn slices(direction: Direction) -> Vec<Slice> {
    let Direction {
        output,
        taps,
        stride,
        dilation,
        pad,
        is_transposed,
        ..
    } = direction;
    if !is_transposed {
        return vec![Slice {
            direction,
            first: 0,
            step: 1,
            count: output,
            taps: (0..taps).collect(),
        }];
    }
    // An output sees a tap if its distance from it, `output + pad - tap * dilation`, is a multiple of
    // the stride.
    let slices = (0..stride.min(output)).map(|first| Slice {
        direction,
        first,
        step: stride,
        count: (output - first).div_ceil(stride),
        taps: (0..taps)
            .filter(|tap| (tap * dilation) % stride == (first + pad) % stride)
            .collect(),
    });
    slices.collect()
}

impl Phase {
    fn new(slices: [Slice; 3], strides: [usize; 3], taps_before: usize) -> Self {
        let [z, y, x] = &slices;
        let mut taps = Vec::new();
        for &z in &z.taps {
            for &y in &y.taps {
                taps.extend(x.taps.iter().map(|&x| [z, y, x]));
            }
        }
        let along = |tap: &[usize; 3]| tap.iter().zip(strides).map(|(tap, s)| tap * s).sum();
        Self {
            offsets: taps.iter().map(along).collect(),
            taps,
            n_pixels: slices.iter().map(|slice| slice.count).product(),
            taps_before,
            slices,
        }
    }

    /// The output of each direction.
    fn output(&self, pixel: usize) -> [usize; 3] {
        let [z, y, x] = &self.slices;
        let (above, at_x) = (pixel / x.count, pixel % x.count);
        let (at_z, at_y) = (above / y.count, above % y.count);
        [(z, at_z), (y, at_y), (x, at_x)].map(|(slice, at)| slice.first + at * slice.step)
    }

    /// Where the input lies under a tap, for some pixels from one on; beyond its end where there is
    /// none.
    fn positions_under(&self, first: usize, tap: usize) -> [u32; LANES] {
        let taps = self.taps[tap];
        let mut positions = [u32::MAX; LANES];
        let pixels = first..self.n_pixels;
        for (position, pixel) in positions.iter_mut().zip(pixels) {
            let output = self.output(pixel);
            let along = |i: usize| self.slices[i].direction.position(output[i], taps[i]);
            if let (Some(z), Some(y), Some(x)) = (along(0), along(1), along(2)) {
                let [_, rows, columns] = &self.slices;
                let row = z * rows.direction.input + y;
                // The whole plane has fewer elements than u32 can count.
                *position = (row * columns.direction.input + x) as u32;
            }
        }
        positions
    }

    /// Writes the sums for some pixels from one on to their plane.
    fn store<F: Real>(&self, plane: &mut [F], first: usize, sums: &[F]) {
        let [_, rows, columns] = &self.slices;
        for (pixel, &sum) in (first..).zip(sums) {
            let [z, y, x] = self.output(pixel);
            let row = z * rows.direction.output + y;
            plane[row * columns.direction.output + x] = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        Convolution3dDescriptor, DataLayout, DataType, LayerDescriptor, Shape,
        TransposeConvolution3dDescriptor,
    };

    use crate::test_harness::{Call, assert_close, f32s, sample_values};

    struct Case {
        input: [usize; 3],
        taps: [usize; 3],
        stride: [usize; 3],
        dilation: [usize; 3],
        pad: [usize; 3],
        groups: usize,
        in_group: usize,
        out_group: usize,
    }

    fn cases() -> Vec<Case> {
        let mut cases = Vec::new();
        let steps = [
            ([1, 1, 1], [1, 1, 1], [0, 0, 0]),
            ([2, 3, 1], [1, 2, 1], [0, 1, 1]),
            ([1, 2, 4], [3, 1, 1], [2, 1, 0]),
            // A stride and a dilation with a factor in common: some outputs see nothing.
            ([2, 2, 1], [2, 4, 1], [1, 0, 0]),
        ];
        for (stride, dilation, pad) in steps {
            for (groups, in_group, out_group) in [(1, 3, 1), (2, 1, 4), (1, 70, 2), (2, 2, 37)] {
                cases.push(Case {
                    input: [2, 3, 5],
                    taps: [2, 3, 2],
                    stride,
                    dilation,
                    pad,
                    groups,
                    in_group,
                    out_group,
                });
            }
        }
        cases
    }

    fn all([z, y, x]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
        (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [z, y, x])))
    }

    fn at([_, rows, columns]: [usize; 3], [z, y, x]: [usize; 3]) -> usize {
        (z * rows + y) * columns + x
    }

    /// What a layer gives for samples, with the bias 0.5 for each channel.
    fn run(
        d: LayerDescriptor,
        case: &Case,
        out: [usize; 3],
        weights: ([usize; 2], &[f32]),
    ) -> Vec<f32> {
        let shape = |a: usize, b: usize, along: [usize; 3]| {
            let [z, y, x] = along;
            Shape::new(&[a, b, z, y, x].map(|dim| dim as i64)).unwrap()
        };
        let (in_channels, out_channels) =
            (case.groups * case.in_group, case.groups * case.out_group);
        let input = sample_values(2 * in_channels * case.input.iter().product::<usize>());
        let [first, second] = weights.0;
        Call::new(d)
            .input(f32s(shape(2, in_channels, case.input), &input))
            .input(f32s(shape(first, second, case.taps), weights.1))
            .input(f32s([out_channels as i64], &vec![0.5; out_channels]))
            .output(DataType::Float32, shape(2, out_channels, out))
            .run()
            .f32s()
    }

    /// Adds `x w` for each image, pair of channels, input position, tap and output position that
    /// belong together.
    fn by_definition(
        case: &Case,
        out: [usize; 3],
        weight: impl Fn(usize, usize, [usize; 3]) -> f32,
        place: impl Fn([usize; 3], [usize; 3]) -> Option<[usize; 3]>,
    ) -> Vec<f32> {
        let (in_channels, out_channels) =
            (case.groups * case.in_group, case.groups * case.out_group);
        let [in_plane, out_plane] = [case.input, out].map(|size| size.iter().product::<usize>());
        let input = sample_values(2 * in_channels * in_plane);
        let mut expected = vec![0.5; 2 * out_channels * out_plane];
        for position in all(case.input) {
            for tap in all(case.taps) {
                let Some(to) = place(position, tap) else {
                    continue;
                };
                for image in 0..2 {
                    for i in 0..in_channels {
                        let x =
                            input[(image * in_channels + i) * in_plane + at(case.input, position)];
                        let first = i / case.in_group * case.out_group;
                        for o in first..first + case.out_group {
                            let plane = (image * out_channels + o) * out_plane;
                            expected[plane + at(out, to)] += x * weight(i, o, tap);
                        }
                    }
                }
            }
        }
        expected
    }

    #[test]
    fn transposed_convolutions_are_as_defined() {
        for case in cases() {
            let mut d = TransposeConvolution3dDescriptor::new(DataLayout::Ncdhw);
            d.groups = case.groups as u32;
            [d.stride_z, d.stride_y, d.stride_x] = case.stride.map(|n| n as u32);
            [d.dilation_z, d.dilation_y, d.dilation_x] = case.dilation.map(|n| n as u32);
            [d.pad_front, d.pad_top, d.pad_left] = case.pad.map(|n| n as u32);
            let out = std::array::from_fn(|i| {
                let reach = case.dilation[i] * (case.taps[i] - 1) + 1;
                (case.input[i] - 1) * case.stride[i] + reach - case.pad[i]
            });
            let in_channels = case.groups * case.in_group;
            let taps = case.taps.iter().product::<usize>();
            let weights = sample_values(in_channels * case.out_group * taps);
            let weight = |i: usize, o: usize, tap| {
                weights[(i * case.out_group + o % case.out_group) * taps + at(case.taps, tap)]
            };
            // Each input is added where the filter lies.
            let place = |input: [usize; 3], tap: [usize; 3]| {
                let mut to = [0; 3];
                for i in 0..3 {
                    let place = input[i] * case.stride[i] + tap[i] * case.dilation[i];
                    to[i] = place.checked_sub(case.pad[i]).filter(|&to| to < out[i])?;
                }
                Some(to)
            };
            let expected = by_definition(&case, out, weight, place);
            let shape = [in_channels, case.out_group];
            let found = run(d.into(), &case, out, (shape, &weights));
            assert_close(&found, &expected, 1e-4);
        }
    }

    #[test]
    fn convolutions_are_as_defined() {
        for case in cases() {
            let mut d = Convolution3dDescriptor::new(DataLayout::Ncdhw);
            d.groups = case.groups as u32;
            [d.stride_z, d.stride_y, d.stride_x] = case.stride.map(|n| n as u32);
            [d.dilation_z, d.dilation_y, d.dilation_x] = case.dilation.map(|n| n as u32);
            [d.pad_front, d.pad_top, d.pad_left] = case.pad.map(|n| n as u32);
            // Padded behind by 9, so that each filter fits.
            [d.pad_back, d.pad_bottom, d.pad_right] = [9; 3];
            let out = std::array::from_fn(|i| {
                let reach = case.dilation[i] * (case.taps[i] - 1) + 1;
                (case.input[i] + case.pad[i] + 9 - reach) / case.stride[i] + 1
            });
            let out_channels = case.groups * case.out_group;
            let taps = case.taps.iter().product::<usize>();
            let weights = sample_values(out_channels * case.in_group * taps);
            let weight = |i: usize, o: usize, tap| {
                weights[(o * case.in_group + i % case.in_group) * taps + at(case.taps, tap)]
            };
            // The output whose filter has the tap there.
            let place = |input: [usize; 3], tap: [usize; 3]| {
                let mut to = [0; 3];
                for i in 0..3 {
                    let start = (input[i] + case.pad[i]).checked_sub(tap[i] * case.dilation[i])?;
                    if start % case.stride[i] != 0 || start / case.stride[i] >= out[i] {
                        return None;
                    }
                    to[i] = start / case.stride[i];
                }
                Some(to)
            };
            let expected = by_definition(&case, out, weight, place);
            let shape = [out_channels, case.in_group];
            let found = run(d.into(), &case, out, (shape, &weights));
            assert_close(&found, &expected, 1e-4);
        }
    }
}
