//! DepthwiseConvolution2d of quantized numbers: TensorFlow Lite's reference kernels
//! (`kernels/internal/reference/integer_ops/depthwise_conv.h` and
//! `reference/depthwiseconv_uint8.h`). Padding is the input's zero point, and adds nothing.

use armnn_backend_api::{ExecutionContext, LayerView, Result, Synchronous, Workload};

use crate::{
    loops::{
        sliding_window::SlidingWindow,
        weighted_sum::{
            Activation, Bias, RescalingRule, Sum, WeightedKernel, WeightedLayer, by_weighted_types,
        },
    },
    workloads::parallel::for_each_chunk,
};

#[derive(Clone, Copy)]
pub(super) struct Geometry {
    pub(super) rows: SlidingWindow,
    pub(super) columns: SlidingWindow,
    pub(super) in_channels: usize,
    pub(super) out_channels: usize,
    pub(super) is_nhwc: bool,
}

pub(super) fn workload(layer: LayerView<'_>, geometry: Geometry) -> Result<Box<dyn Workload>> {
    by_weighted_types!(layer, X, W => QuantizedDepthwiseConvolution {
        geometry,
        layer: WeightedLayer::new(layer, geometry.out_channels, RescalingRule::FixedPoint)?,
    })
}

struct QuantizedDepthwiseConvolution {
    geometry: Geometry,
    layer: WeightedLayer,
}

/// Output channels computed at once.
const LANES: usize = 64;
/// Products added at once.
const PART: usize = 8;

impl<X: Activation> WeightedKernel<X> for QuantizedDepthwiseConvolution {
    fn channel_of_weight(&self, index: usize) -> usize {
        index % self.geometry.out_channels.max(1)
    }

    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        input: &[i16],
        weights: &[i16],
        bias: Bias<'_>,
        output: &mut [X],
    ) -> Result<()> {
        let g = &self.geometry;
        let image_len = g.rows.input * g.columns.input * g.in_channels;
        let work = output.len().saturating_mul(g.rows.taps * g.columns.taps);
        if g.is_nhwc {
            let row_len = g.columns.output * g.out_channels;
            return for_each_chunk(context, output, row_len, work, |index, row| {
                let (image, y) = (index / g.rows.output, index % g.rows.output);
                let input = &input[image * image_len..][..image_len];
                for (x, pixel) in row.chunks_exact_mut(g.out_channels).enumerate() {
                    self.convolve_pixel(input, weights, bias, (y, x), pixel);
                }
            });
        }
        let plane_len = g.rows.output * g.columns.output;
        for_each_chunk(context, output, plane_len, work, |index, plane| {
            let (image, o) = (index / g.out_channels, index % g.out_channels);
            let channel = o / (g.out_channels / g.in_channels);
            let plane_len = g.rows.input * g.columns.input;
            let input = &input[image * image_len + channel * plane_len..][..plane_len];
            for (at, out) in plane.iter_mut().enumerate() {
                let (y, x) = (at / g.columns.output, at % g.columns.output);
                let mut sum = [X::Sum::ZERO.add(bias.of_channel(o))];
                self.for_each_tap((y, x), |pixel, tap| {
                    let weights = &weights[tap * g.out_channels + o..][..1];
                    Self::add_products(&input[pixel..=pixel], weights, &mut sum);
                });
                *out = self.layer.number(sum[0], o);
            }
        })
    }
}

impl QuantizedDepthwiseConvolution {
    /// All output channels of a pixel, in NHWC.
    fn convolve_pixel<X: Activation>(
        &self,
        input: &[i16],
        weights: &[i16],
        bias: Bias<'_>,
        at: (usize, usize),
        pixel: &mut [X],
    ) {
        let g = &self.geometry;
        let multiplier = g.out_channels / g.in_channels;
        // With one filter for each channel, neighbouring outputs are of neighbouring inputs;
        // otherwise those of one input.
        let block_of = if multiplier == 1 {
            g.out_channels
        } else {
            multiplier
        };
        for (block, outputs) in pixel.chunks_exact_mut(block_of).enumerate() {
            for (part, outputs) in outputs.chunks_mut(LANES).enumerate() {
                let first = block * block_of + part * LANES;
                let n = outputs.len();
                let mut sums = [X::Sum::ZERO; LANES];
                self.for_each_tap(at, |pixel, tap| {
                    let from = &input[pixel * g.in_channels..][..g.in_channels];
                    let from = if multiplier == 1 {
                        &from[first..][..n]
                    } else {
                        &from[block..=block]
                    };
                    let weights = &weights[tap * g.out_channels + first..][..n];
                    Self::add_products(from, weights, &mut sums[..n]);
                });
                self.layer.numbers(&sums[..n], bias, first, outputs);
            }
        }
    }

    /// Calls `f` with the pixel of the input under each tap inside of it, and the tap.
    fn for_each_tap(&self, (y, x): (usize, usize), mut f: impl FnMut(usize, usize)) {
        let g = &self.geometry;
        for ky in g.rows.taps_inside(y) {
            let Some(in_y) = g.rows.position(y, ky) else {
                continue;
            };
            for kx in g.columns.taps_inside(x) {
                if let Some(in_x) = g.columns.position(x, kx) {
                    f(in_y * g.columns.input + in_x, ky * g.columns.taps + kx);
                }
            }
        }
    }

    /// Adds the products of as many weights with as many inputs, or with one.
    #[inline]
    fn add_products<S: Sum>(input: &[i16], weights: &[i16], sums: &mut [S]) {
        if let (&[x], true) = (input, weights.len() > 1) {
            for (sum, &w) in sums.iter_mut().zip(weights) {
                *sum = sum.add_product(x, w);
            }
            return;
        }
        // In parts whose length is known beforehand.
        let mut sums = sums.chunks_exact_mut(PART);
        let (mut xs, mut ws) = (input.chunks_exact(PART), weights.chunks_exact(PART));
        for ((sums, x), w) in (&mut sums).zip(&mut xs).zip(&mut ws) {
            for lane in 0..PART {
                sums[lane] = sums[lane].add_product(x[lane], w[lane]);
            }
        }
        let rest = xs.remainder().iter().zip(ws.remainder());
        for (sum, (&x, &w)) in sums.into_remainder().iter_mut().zip(rest) {
            *sum = sum.add_product(x, w);
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        DataLayout, DataType, DepthwiseConvolution2dDescriptor, Quantization, TensorInfo,
    };

    use crate::test_harness::{Call, typed};

    /// By the definition, for rows of one column: a filter of two taps, of channels times
    /// `multiplier` filters, over three rows.
    fn check(layout: DataLayout, channels: usize, multiplier: usize) {
        let out_channels = channels * multiplier;
        let x = |row: usize, c: usize| ((row * 7 + c * 3) % 11) as i32 - 5;
        let w = |tap: usize, o: usize| ((tap * 5 + o * 2) % 9) as i32 - 4;
        let (zero_x, zero_out) = (3, -2);
        let mut expected = vec![0i8; 2 * out_channels];
        let mut input = vec![0i8; 3 * channels];
        let is_nhwc = layout == DataLayout::Nhwc;
        for c in 0..channels {
            for row in 0..3 {
                let at = if is_nhwc {
                    row * channels + c
                } else {
                    c * 3 + row
                };
                input[at] = (x(row, c) + zero_x) as i8;
            }
        }
        for o in 0..out_channels {
            for row in 0..2 {
                let sum: i32 = (0..2)
                    .map(|tap| x(row + tap, o / multiplier) * w(tap, o))
                    .sum();
                let at = if is_nhwc {
                    row * out_channels + o
                } else {
                    o * 2 + row
                };
                // Factors of scales 1: the sum and a bias of o.
                expected[at] = (sum + o as i32 + zero_out).clamp(-128, 127) as i8;
            }
        }
        let weights: Vec<i8> = (0..2 * out_channels)
            .map(|i| w(i / out_channels, i % out_channels) as i8)
            .collect();
        let (n, m) = (channels as i64, out_channels as i64);
        let (in_shape, out_shape) = if is_nhwc {
            ([1, 3, 1, n], [1, 2, 1, m])
        } else {
            ([1, n, 3, 1], [1, m, 2, 1])
        };
        let bias: Vec<i32> = (0..out_channels as i32).collect();
        let scale = |zero_point| Quantization::per_tensor(1.0, zero_point);
        let call = Call::new(DepthwiseConvolution2dDescriptor::new(layout))
            .input(typed(DataType::QAsymmS8, in_shape, &input).quantized(scale(zero_x)))
            .input(typed(DataType::QSymmS8, [1, 2, 1, m], &weights).quantized(scale(0)))
            .input(typed(DataType::Signed32, [m], &bias))
            .output_info(TensorInfo::new(DataType::QAsymmS8, out_shape).quantized(scale(zero_out)));
        assert_eq!(
            call.run().elements::<i8>(0),
            expected,
            "{channels} {multiplier}"
        );
    }

    #[test]
    fn every_number_of_channels_and_filters_is_as_defined_in_both_layouts() {
        for layout in [DataLayout::Nhwc, DataLayout::Nchw] {
            for (channels, multiplier) in [(1, 1), (3, 1), (17, 1), (2, 3), (1, 20)] {
                check(layout, channels, multiplier);
            }
        }
    }
}
