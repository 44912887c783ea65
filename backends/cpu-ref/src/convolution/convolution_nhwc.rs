//! The kernel of Convolution2d for NHWC.

use armnn_backend_api::{ExecutionContext, Result, Synchronous};

use crate::{
    loops::sliding_window::SlidingWindow,
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS},
        parallel::for_each_chunk,
    },
};

/// How many channels there are: groups, and channels within one group.
#[derive(Clone, Copy)]
pub(crate) struct ChannelCounts {
    pub(crate) groups: usize,
    pub(crate) input: usize,
    pub(crate) output: usize,
}

/// Output channels computed at once: their sums stay in registers.
const LANES: usize = 8;
/// Output columns computed at once, so that each weight that is read is used as often.
const PIXELS: usize = 4;

/// Input [N, H, W, I], output [N, H', W', O].
pub(crate) struct NhwcConvolution {
    rows: SlidingWindow,
    columns: SlidingWindow,
    channels: ChannelCounts,
    /// What is read where a tap lies in the padding.
    zeros: Vec<f32>,
    packed_len: usize,
    /// The weights as [`pack`](Self::pack) makes them, if they are constant.
    packed: Option<Vec<f32>>,
}

impl FloatKernel for NhwcConvolution {
    fn scratch_len(&self) -> usize {
        match self.packed {
            Some(_) => 0,
            None => self.packed_len,
        }
    }

    fn reads(&self, input: usize) -> bool {
        input != 1 || self.packed.is_none()
    }

    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [f32],
        [input, weights, bias]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
    ) -> Result<()> {
        let panels = match &self.packed {
            Some(packed) => packed,
            None => {
                self.pack(weights, scratch);
                &*scratch
            }
        };
        let work = output.len().saturating_mul(self.panel_len() / LANES);
        let image_len =
            self.rows.input * self.columns.input * self.channels.groups * self.channels.input;
        let row_len = self.columns.output * self.channels.groups * self.channels.output;
        for_each_chunk(context, output, row_len, work, |index, row| {
            let (image, y) = (index / self.rows.output, index % self.rows.output);
            let input = &input[image * image_len..][..image_len];
            self.convolve_row(input, panels, bias, y, row);
        })
    }
}

impl NhwcConvolution {
    /// `constant` are the weights, if they are known beforehand. `None` if they take too much
    /// memory.
    pub(crate) fn new(
        rows: SlidingWindow,
        columns: SlidingWindow,
        channels: ChannelCounts,
        constant: Option<&[f32]>,
    ) -> Option<Self> {
        let packed_len = rows
            .taps
            .checked_mul(columns.taps)?
            .checked_mul(channels.input)?
            .checked_mul(channels.output.checked_next_multiple_of(LANES)?)?
            .checked_mul(channels.groups)?;
        if packed_len > isize::MAX as usize / size_of::<f32>() {
            return None;
        }
        let mut kernel = Self {
            rows,
            columns,
            channels,
            zeros: vec![0.0; channels.input],
            packed_len,
            packed: None,
        };
        kernel.packed = constant.map(|weights| {
            let mut packed = vec![0.0; packed_len];
            kernel.pack(weights, &mut packed);
            packed
        });
        Some(kernel)
    }

    /// Elements of a panel: the weights of [`LANES`] output channels, `[KH][KW][I][LANES]`.
    fn panel_len(&self) -> usize {
        self.rows.taps * self.columns.taps * self.channels.input * LANES
    }

    fn panels_per_group(&self) -> usize {
        self.channels.output.div_ceil(LANES)
    }

    /// Packs weights [O, KH, KW, I] into panels, group by group; output channels that a group's
    /// last panel has too many get weights of 0.
    fn pack(&self, weights: &[f32], packed: &mut [f32]) {
        let panel_len = self.panel_len();
        if panel_len == 0 {
            return;
        }
        let per_group = self.panels_per_group();
        for (index, panel) in packed.chunks_exact_mut(panel_len).enumerate() {
            let (group, block) = (index / per_group, index % per_group);
            let first = group * self.channels.output + block * LANES;
            let used = LANES.min(self.channels.output - block * LANES);
            let filter_len = panel_len / LANES;
            panel.fill(0.0);
            for lane in 0..used {
                let filter = &weights[(first + lane) * filter_len..][..filter_len];
                let to = panel[lane..].iter_mut().step_by(LANES);
                to.zip(filter).for_each(|(to, &w)| *to = w);
            }
        }
    }

    /// Computes output row `y` of one image.
    fn convolve_row(&self, input: &[f32], panels: &[f32], bias: &[f32], y: usize, row: &mut [f32]) {
        let width = self.columns.output;
        let all_out = self.channels.groups * self.channels.output;
        let per_group = self.panels_per_group();
        let panel_len = self.panel_len();
        for index in 0..self.channels.groups * per_group {
            let (group, block) = (index / per_group, index % per_group);
            let panel = &panels[index * panel_len..][..panel_len];
            let first = group * self.channels.output + block * LANES;
            let used = LANES.min(self.channels.output - block * LANES);
            let mut start = [0.0; LANES];
            if !bias.is_empty() {
                start[..used].copy_from_slice(&bias[first..][..used]);
            }
            for x in (0..width).step_by(PIXELS) {
                let mut store = |pixel: usize, sums: &[f32; LANES]| {
                    let to = &mut row[(x + pixel) * all_out + first..][..used];
                    to.copy_from_slice(&sums[..used]);
                };
                if width - x == 1 {
                    let sums = self.sums::<1>(input, panel, start, group, y, x);
                    store(0, &sums[0]);
                } else {
                    let sums = self.sums::<PIXELS>(input, panel, start, group, y, x);
                    for (pixel, sums) in sums.iter().enumerate().take(width - x) {
                        store(pixel, sums);
                    }
                }
            }
        }
    }

    /// The output channels of a panel at `P` columns from `x` on. Columns beyond the last are
    /// computed as the last one.
    #[inline]
    fn sums<const P: usize>(
        &self,
        input: &[f32],
        panel: &[f32],
        start: [f32; LANES],
        group: usize,
        y: usize,
        x: usize,
    ) -> [[f32; LANES]; P] {
        let channels = self.channels.input;
        let last = self.columns.output - 1;
        let mut sums = [start; P];
        for ky in self.rows.taps_inside(y) {
            let Some(in_y) = self.rows.position(y, ky) else {
                continue;
            };
            for kx in 0..self.columns.taps {
                let pixels: [&[f32]; P] =
                    std::array::from_fn(|p| match self.columns.position((x + p).min(last), kx) {
                        None => &self.zeros[..],
                        Some(in_x) => {
                            let pixel = in_y * self.columns.input + in_x;
                            &input[(pixel * self.channels.groups + group) * channels..][..channels]
                        }
                    });
                let tap = ky * self.columns.taps + kx;
                let weights = &panel[tap * channels * LANES..][..channels * LANES];
                add_products(&mut sums, pixels, weights);
            }
        }
        sums
    }
}

/// `sums[p][l] += pixels[p][i] * weights[i][l]`, for all `p`, `l`, `i`.
#[inline]
fn add_products<const P: usize>(
    sums: &mut [[f32; LANES]; P],
    pixels: [&[f32]; P],
    weights: &[f32],
) {
    let (weights, _) = weights.as_chunks::<LANES>();
    let pixels = pixels.map(|pixel| &pixel[..weights.len()]);
    let mut local = *sums;
    for (i, weights) in weights.iter().enumerate() {
        for p in 0..P {
            let x = pixels[p][i];
            for l in 0..LANES {
                local[p][l] += x * weights[l];
            }
        }
    }
    *sums = local;
}
