//! DepthwiseConvolution2d; the kernel for NHWC.

use armnn_backend_api::{
    DataLayout, DepthwiseConvolution2dDescriptor, ExecutionContext, LayerView, Result, Synchronous,
    Workload,
};

use crate::{
    convolution_nchw::{NchwConvolution, WeightLayout},
    convolution2d::check_bias,
    float_workload::{FloatKernel, MAX_INPUTS, float_workload},
    layer_checks::{
        FLOATS, dims_of_rank, input, invalid, output, require_image_layout, require_one_type,
    },
    parallel::for_each_chunk,
    sliding_window::SlidingWindow,
};

pub(crate) fn check(
    layer: LayerView<'_>,
    descriptor: &DepthwiseConvolution2dDescriptor,
) -> Result<()> {
    require_one_type(layer, FLOATS)?;
    require_image_layout(layer, descriptor.data_layout())
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &DepthwiseConvolution2dDescriptor,
) -> Result<Box<dyn Workload>> {
    let is_nhwc = d.data_layout() == DataLayout::Nhwc;
    let channels_last = |dims: [usize; 4]| match dims {
        dims if is_nhwc => dims,
        [n, c, h, w] => [n, h, w, c],
    };
    let [batch, in_h, in_w, in_c] = channels_last(dims_of_rank(layer, input(layer, 0)?)?);
    let [w_one, k_h, k_w, w_out_c] = dims_of_rank(layer, input(layer, 1)?)?;
    let [out_n, out_h, out_w, out_c] = channels_last(dims_of_rank(layer, output(layer, 0)?)?);
    let is_multiple = out_c.checked_rem(in_c).unwrap_or(out_c) == 0;
    if w_one != 1 || batch != out_n || w_out_c != out_c || !is_multiple {
        return Err(invalid(
            layer,
            format_args!(
                "{in_c} channels, weights for {w_out_c} and {out_c} channels of output do not fit \
                 together"
            ),
        ));
    }
    check_bias(layer, out_c)?;
    let rows = SlidingWindow {
        input: in_h,
        output: out_h,
        taps: k_h,
        stride: d.stride_y as usize,
        dilation: d.dilation_y as usize,
        pad_before: d.pad_top as usize,
        pad_after: d.pad_bottom as usize,
    }
    .check(layer, false)?;
    let columns = SlidingWindow {
        input: in_w,
        output: out_w,
        taps: k_w,
        stride: d.stride_x as usize,
        dilation: d.dilation_x as usize,
        pad_before: d.pad_left as usize,
        pad_after: d.pad_right as usize,
    }
    .check(layer, false)?;
    if is_nhwc {
        let kernel = NhwcDepthwiseConvolution {
            rows,
            columns,
            in_channels: in_c,
            out_channels: out_c,
        };
        return float_workload(layer, kernel);
    }
    let kernel = NchwConvolution {
        rows,
        columns,
        in_channels: in_c,
        out_channels: out_c,
        groups: in_c,
        weights: WeightLayout::ChannelsLast,
    };
    float_workload(layer, kernel)
}

/// Input [N, H, W, C], output [N, H', W', C M].
struct NhwcDepthwiseConvolution {
    rows: SlidingWindow,
    columns: SlidingWindow,
    in_channels: usize,
    out_channels: usize,
}

impl FloatKernel for NhwcDepthwiseConvolution {
    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [f32],
        [input, weights, bias]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
    ) -> Result<()> {
        let image_len = self.rows.input * self.columns.input * self.in_channels;
        let row_len = self.columns.output * self.out_channels;
        let work = output
            .len()
            .saturating_mul(self.rows.taps * self.columns.taps);
        for_each_chunk(context, output, row_len, work, |index, row| {
            let (image, y) = (index / self.rows.output, index % self.rows.output);
            let input = &input[image * image_len..][..image_len];
            for (x, pixel) in row.chunks_exact_mut(self.out_channels).enumerate() {
                if bias.is_empty() {
                    pixel.fill(0.0);
                } else {
                    pixel.copy_from_slice(bias);
                }
                self.convolve_pixel(input, weights, y, x, pixel);
            }
        })
    }
}

impl NhwcDepthwiseConvolution {
    fn convolve_pixel(&self, input: &[f32], weights: &[f32], y: usize, x: usize, sum: &mut [f32]) {
        let multiplier = self.out_channels / self.in_channels;
        for ky in 0..self.rows.taps {
            let Some(in_y) = self.rows.position(y, ky) else {
                continue;
            };
            for kx in 0..self.columns.taps {
                let Some(in_x) = self.columns.position(x, kx) else {
                    continue;
                };
                let at = (in_y * self.columns.input + in_x) * self.in_channels;
                let from = &input[at..][..self.in_channels];
                let tap = ky * self.columns.taps + kx;
                let weights = &weights[tap * self.out_channels..][..self.out_channels];
                if multiplier == 1 {
                    let products = from.iter().zip(weights).map(|(&i, &w)| i * w);
                    sum.iter_mut().zip(products).for_each(|(s, p)| *s += p);
                } else {
                    let sums = sum.chunks_exact_mut(multiplier);
                    let weights = weights.chunks_exact(multiplier);
                    for ((sums, weights), &i) in sums.zip(weights).zip(from) {
                        sums.iter_mut().zip(weights).for_each(|(s, &w)| *s += i * w);
                    }
                }
            }
        }
    }
}
