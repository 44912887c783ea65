//! DepthwiseConvolution2d; the kernel for NHWC.

mod quantized;

use armnn_backend_api::{
    DataLayout, DepthwiseConvolution2dDescriptor, ExecutionContext, LayerView, Result, Synchronous,
    Workload,
};

use crate::{
    convolution::{
        convolution_nchw::{NchwConvolution, WeightLayout},
        convolution2d::check_bias,
    },
    loops::{
        sliding_window::{SlidingWindow, sliding_windows},
        weighted_sum,
    },
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, float_workload},
        layer_checks::{FLOATS, dims_of_rank, input, invalid, output, require_image_layout},
        parallel::for_each_chunk,
    },
};

pub(crate) fn check(
    layer: LayerView<'_>,
    descriptor: &DepthwiseConvolution2dDescriptor,
) -> Result<()> {
    if weighted_sum::is_quantized(layer)? {
        weighted_sum::check(layer)?;
    } else {
        weighted_sum::check_real(layer, FLOATS)?;
    }
    require_image_layout(descriptor.data_layout())
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
        return Err(invalid(format_args!(
            "{in_c} channels, weights for {w_out_c} and {out_c} channels of output do not fit \
                 together"
        )));
    }
    check_bias(layer, out_c)?;
    let (rows, columns) = sliding_windows!(
        d,
        input: (in_h, in_w),
        output: (out_h, out_w),
        taps: (k_h, k_w),
        may_round_up: false
    );
    if weighted_sum::is_quantized(layer)? {
        let geometry = quantized::Geometry {
            rows,
            columns,
            in_channels: in_c,
            out_channels: out_c,
            is_nhwc,
        };
        return quantized::workload(layer, geometry);
    }
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
        for ky in self.rows.taps_inside(y) {
            let Some(in_y) = self.rows.position(y, ky) else {
                continue;
            };
            for kx in self.columns.taps_inside(x) {
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

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, assert_close, f16s, f32s, sample_values};

    const NHWC: DepthwiseConvolution2dDescriptor =
        DepthwiseConvolution2dDescriptor::new(DataLayout::Nhwc);
    const NCHW: u32 = DataLayout::Nchw.0;

    #[test]
    fn each_channel_has_filters_of_its_own() {
        // Input of two channels: 1 2 and 10 20; filters of one row: 3 4 and 5 6.
        // Channel 0: 1 * 3 + 2 * 4 = 11; channel 1: 10 * 5 + 20 * 6 = 170. Biases 100 and 200.
        let bias = f32s([2], &[100.0, 200.0]);
        let nhwc = Call::new(NHWC)
            .input(f32s([1, 1, 2, 2], &[1.0, 10.0, 2.0, 20.0]))
            .input(f32s([1, 1, 2, 2], &[3.0, 5.0, 4.0, 6.0]))
            .input(bias.clone())
            .output(DataType::Float32, [1, 1, 1, 2]);
        assert_eq!(nhwc.run().f32s(), [111.0, 370.0]);
        let nchw = Call::new(DepthwiseConvolution2dDescriptor {
            data_layout: NCHW,
            ..NHWC
        })
        .input(f32s([1, 2, 1, 2], &[1.0, 2.0, 10.0, 20.0]))
        .input(f32s([1, 1, 2, 2], &[3.0, 5.0, 4.0, 6.0]))
        .input(bias)
        .output(DataType::Float32, [1, 2, 1, 1]);
        assert_eq!(nchw.run().f32s(), [111.0, 370.0]);
    }

    #[test]
    fn a_multiplier_makes_neighbouring_channels_of_one() {
        // Output channel o is of input channel o / 2: 7 * 1, 7 * 2, 9 * 3, 9 * 4.
        for (data_layout, in_shape, out_shape) in [
            (NHWC.data_layout, [1, 1, 1, 2], [1, 1, 1, 4]),
            (NCHW, [1, 2, 1, 1], [1, 4, 1, 1]),
        ] {
            let call = Call::new(DepthwiseConvolution2dDescriptor {
                data_layout,
                ..NHWC
            })
            .input(f32s(in_shape, &[7.0, 9.0]))
            .input(f32s([1, 1, 1, 4], &[1.0, 2.0, 3.0, 4.0]))
            .output(DataType::Float32, out_shape);
            assert_eq!(call.run().f32s(), [7.0, 14.0, 27.0, 36.0]);
        }
    }

    /// The definition, in f64, for NHWC.
    fn by_definition(
        d: &DepthwiseConvolution2dDescriptor,
        (input, [h, w, c]): (&[f32], [usize; 3]),
        (weights, [kh, kw]): (&[f32], [usize; 2]),
        bias: &[f32],
        [out_h, out_w, out_c]: [usize; 3],
    ) -> Vec<f32> {
        let mut result = vec![];
        for i in 0..out_h * out_w * out_c {
            let (y, x, o) = (i / (out_w * out_c), i / out_c % out_w, i % out_c);
            let mut sum = f64::from(bias[o]);
            for (ky, kx) in (0..kh * kw).map(|k| (k / kw, k % kw)) {
                let in_y = (y * d.stride_y as usize + ky * d.dilation_y as usize) as i64
                    - i64::from(d.pad_top);
                let in_x = (x * d.stride_x as usize + kx * d.dilation_x as usize) as i64
                    - i64::from(d.pad_left);
                if (0..h as i64).contains(&in_y) && (0..w as i64).contains(&in_x) {
                    let at = (in_y as usize * w + in_x as usize) * c + o / (out_c / c);
                    let weight = weights[(ky * kw + kx) * out_c + o];
                    sum += f64::from(input[at]) * f64::from(weight);
                }
            }
            result.push(sum as f32);
        }
        result
    }

    #[test]
    fn every_combination_of_parameters_is_as_defined_in_both_layouts() {
        // Rows: (7 + 1 + 2 - 2 (3 - 1) - 1) / 2 + 1 = 3; columns: (6 + 2 + 0 - 2) / 3 + 1 = 3.
        let d = DepthwiseConvolution2dDescriptor {
            pad_top: 1,
            pad_bottom: 2,
            pad_left: 2,
            stride_y: 2,
            stride_x: 3,
            dilation_y: 2,
            ..NHWC
        };
        for multiplier in [1, 3] {
            let out_c = 5 * multiplier;
            let input = sample_values(7 * 6 * 5);
            let weights = sample_values(3 * 2 * out_c);
            let bias = sample_values(out_c);
            let out_dims = [3, 3, out_c];
            let expected =
                by_definition(&d, (&input, [7, 6, 5]), (&weights, [3, 2]), &bias, out_dims);
            let n = out_c as i64;
            let nhwc = Call::new(d)
                .input(f32s([1, 7, 6, 5], &input))
                .input(f32s([1, 3, 2, n], &weights))
                .input(f32s([n], &bias))
                .output(DataType::Float32, [1, 3, 3, n]);
            assert_close(&nhwc.run().f32s(), &expected, 0.0);
            assert_close(&nhwc.threads(2).run().f32s(), &expected, 0.0);

            let planes = |values: &[f32], pixels: usize| -> Vec<f32> {
                let channels = values.len() / pixels;
                let at = |i: usize| values[i % pixels * channels + i / pixels];
                (0..values.len()).map(at).collect()
            };
            let nchw = Call::new(DepthwiseConvolution2dDescriptor {
                data_layout: NCHW,
                ..d
            })
            .input(f32s([1, 5, 7, 6], &planes(&input, 42)))
            .input(f32s([1, 3, 2, n], &weights))
            .input(f32s([n], &bias))
            .output(DataType::Float32, [1, n, 3, 3]);
            assert_close(&nchw.run().f32s(), &planes(&expected, 9), 0.0);
        }
    }

    #[test]
    fn float16_is_rounded_once() {
        // 2048 + 1 + 1; if each sum were rounded it would stay at 2048.
        let call = Call::new(NHWC)
            .input(f16s([1, 3, 1, 1], &[2048.0, 1.0, 1.0]))
            .input(f16s([1, 3, 1, 1], &[1.0, 1.0, 1.0]))
            .output(DataType::Float16, [1, 1, 1, 1]);
        assert_eq!(call.run().f16s(), [2050.0]);
    }

    #[test]
    fn weights_for_other_channels_are_an_error() {
        let call = Call::new(NHWC)
            .input(f32s([1, 1, 1, 2], &[7.0, 9.0]))
            .input(f32s([1, 1, 1, 3], &[1.0, 2.0, 3.0]))
            .output(DataType::Float32, [1, 1, 1, 3]);
        assert!(call.error().contains("do not fit together"));
    }
}
