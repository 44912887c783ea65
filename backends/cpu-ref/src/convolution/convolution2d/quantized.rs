//! Convolution2d of quantized numbers: TensorFlow Lite's reference kernels
//! (`kernels/internal/reference/integer_ops/conv.h` and `reference/conv.h`). Padding is the input's
//! zero point, and adds nothing.

use armnn_backend_api::{ExecutionContext, LayerView, Result, Synchronous, Workload};

use crate::{
    loops::{
        sliding_window::SlidingWindow,
        weighted_sum::{
            Activation, Bias, RescalingRule, Sum, WeightedKernel, WeightedLayer, by_weighted_types,
            dot, dots,
        },
    },
    workloads::parallel::for_each_chunk,
};

/// Sizes of a convolution with groups; channels of all groups together.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    pub(super) rows: SlidingWindow,
    pub(super) columns: SlidingWindow,
    pub(super) in_channels: usize,
    pub(super) out_channels: usize,
    pub(super) groups: usize,
    pub(super) is_nhwc: bool,
}

pub(super) fn workload(layer: LayerView<'_>, geometry: Geometry) -> Result<Box<dyn Workload>> {
    by_weighted_types!(layer, X, W => QuantizedConvolution {
        geometry,
        layer: WeightedLayer::new(layer, geometry.out_channels, RescalingRule::FixedPoint)?,
    })
}

/// Output channels computed at once.
const LANES: usize = 4;

/// Windows of up to so many numbers are gathered, so that each output channel is one sum of products
/// of numbers side by side.
const GATHERED: usize = 1024;

/// Output channels from `first` on, and the input channels of their group.
#[derive(Clone, Copy)]
struct Run {
    first: usize,
    in_first: usize,
    in_group: usize,
    /// The taps of a row lie side by side.
    are_adjacent: bool,
}

struct QuantizedConvolution {
    geometry: Geometry,
    layer: WeightedLayer,
}

impl<X: Activation> WeightedKernel<X> for QuantizedConvolution {
    fn channel_of_weight(&self, index: usize) -> usize {
        let g = &self.geometry;
        index / (g.rows.taps * g.columns.taps * g.in_channels / g.groups).max(1)
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
        let taps = g.rows.taps * g.columns.taps;
        let work = output.len().saturating_mul(taps * g.in_channels / g.groups);
        if g.is_nhwc {
            let row_len = g.columns.output * g.out_channels;
            return for_each_chunk(context, output, row_len, work, |index, row| {
                let (image, y) = (index / g.rows.output, index % g.rows.output);
                let input = &input[image * image_len..][..image_len];
                let mut window = [0; GATHERED];
                for (x, pixel) in row.chunks_exact_mut(g.out_channels).enumerate() {
                    self.convolve_pixel(input, weights, bias, (y, x), &mut window, pixel);
                }
            });
        }
        let plane_len = g.rows.output * g.columns.output;
        for_each_chunk(context, output, plane_len, work, |index, plane| {
            let (image, o) = (index / g.out_channels, index % g.out_channels);
            let input = &input[image * image_len..][..image_len];
            self.convolve_plane(input, weights, bias, o, plane);
        })
    }
}

impl QuantizedConvolution {
    /// All output channels of a pixel, in NHWC.
    fn convolve_pixel<X: Activation>(
        &self,
        input: &[i16],
        weights: &[i16],
        bias: Bias<'_>,
        (y, x): (usize, usize),
        gathered: &mut [i16; GATHERED],
        pixel: &mut [X],
    ) {
        let g = &self.geometry;
        let in_group = g.in_channels / g.groups;
        let out_group = g.out_channels / g.groups;
        let window_len = g.rows.taps * g.columns.taps * in_group;
        for (group, outputs) in pixel.chunks_exact_mut(out_group).enumerate() {
            let run = Run {
                first: group * out_group,
                in_first: group * in_group,
                in_group,
                are_adjacent: g.groups == 1 && g.columns.dilation == 1,
            };
            let window = match g.rows.taps * g.columns.taps {
                1 => self.only_tap(input, (y, x), run),
                _ => None,
            };
            let window = match (window, gathered.get_mut(..window_len)) {
                (None, Some(gathered)) => {
                    self.gather(input, (y, x), run, gathered);
                    Some(&*gathered)
                }
                (window, _) => window,
            };
            let Some(window) = window else {
                self.each_channel(run.first, bias, outputs, |first| {
                    self.sums::<X, LANES>(input, weights, (y, x), Run { first, ..run })
                });
                continue;
            };
            self.each_channel(run.first, bias, outputs, |first| {
                // The last ones may be fewer; what is computed for the rest is not used.
                let row = |lane: usize| (first + lane).min(g.out_channels - 1) * window_len;
                dots(
                    window,
                    std::array::from_fn(|lane| &weights[row(lane)..][..window_len]),
                )
            });
        }
    }

    /// Sets output channels from `first` on; `sums` are those from a channel on.
    #[inline]
    fn each_channel<X: Activation>(
        &self,
        first: usize,
        bias: Bias<'_>,
        outputs: &mut [X],
        sums: impl Fn(usize) -> [X::Sum; LANES],
    ) {
        for (chunk, outputs) in outputs.chunks_mut(LANES).enumerate() {
            let first = first + chunk * LANES;
            self.layer.numbers(&sums(first), bias, first, outputs);
        }
    }

    /// The numbers under the only tap of a window, if it is inside of the input.
    #[inline]
    fn only_tap<'a>(&self, input: &'a [i16], at: (usize, usize), run: Run) -> Option<&'a [i16]> {
        let g = &self.geometry;
        let (y, x) = (g.rows.position(at.0, 0)?, g.columns.position(at.1, 0)?);
        let from = (y * g.columns.input + x) * g.in_channels + run.in_first;
        Some(&input[from..][..run.in_group])
    }

    /// Puts the numbers under the taps of a window side by side; outside of the input they are 0.
    fn gather(&self, input: &[i16], (y, x): (usize, usize), run: Run, to: &mut [i16]) {
        let g = &self.geometry;
        let (rows, columns) = (g.rows.taps_inside(y), g.columns.taps_inside(x));
        if rows.len() < g.rows.taps || columns.len() < g.columns.taps {
            to.fill(0);
        }
        let mut copy = |ky: usize, kx: usize, len: usize| {
            if let (Some(in_y), Some(in_x)) = (g.rows.position(y, ky), g.columns.position(x, kx)) {
                let from = (in_y * g.columns.input + in_x) * g.in_channels + run.in_first;
                let at = (ky * g.columns.taps + kx) * run.in_group;
                to[at..][..len].copy_from_slice(&input[from..][..len]);
            }
        };
        for ky in rows {
            if run.are_adjacent && !columns.is_empty() {
                copy(ky, columns.start, columns.len() * run.in_group);
            } else {
                columns.clone().for_each(|kx| copy(ky, kx, run.in_group));
            }
        }
    }

    /// Sums of `N` output channels at one pixel. The taps of a row lie side by side, both in the
    /// input and in the weights, unless they are dilated or the channels are in groups.
    fn sums<X: Activation, const N: usize>(
        &self,
        input: &[i16],
        weights: &[i16],
        (y, x): (usize, usize),
        run: Run,
    ) -> [X::Sum; N] {
        let g = &self.geometry;
        let columns = g.columns.taps_inside(x);
        let mut sums = [X::Sum::ZERO; N];
        for ky in g.rows.taps_inside(y) {
            let Some(in_y) = g.rows.position(y, ky) else {
                continue;
            };
            let mut add = |kx: usize, len: usize| {
                let Some(in_x) = g.columns.position(x, kx) else {
                    return;
                };
                let at = (in_y * g.columns.input + in_x) * g.in_channels + run.in_first;
                let rows = std::array::from_fn(|lane| {
                    let o = (run.first + lane).min(g.out_channels - 1);
                    let w = ((o * g.rows.taps + ky) * g.columns.taps + kx) * run.in_group;
                    &weights[w..][..len]
                });
                let products: [X::Sum; N] = dots(&input[at..][..len], rows);
                for (sum, product) in sums.iter_mut().zip(products) {
                    *sum = sum.plus(product);
                }
            };
            if run.are_adjacent && !columns.is_empty() {
                add(columns.start, columns.len() * run.in_group);
            } else {
                columns.clone().for_each(|kx| add(kx, run.in_group));
            }
        }
        sums
    }

    /// One output channel, in NCHW.
    fn convolve_plane<X: Activation>(
        &self,
        input: &[i16],
        weights: &[i16],
        bias: Bias<'_>,
        o: usize,
        plane: &mut [X],
    ) {
        let g = &self.geometry;
        let in_group = g.in_channels / g.groups;
        let first = o / (g.out_channels / g.groups) * in_group;
        for (at, out) in plane.iter_mut().enumerate() {
            let (y, x) = (at / g.columns.output, at % g.columns.output);
            let mut sum = X::Sum::ZERO.add(bias.of_channel(o));
            for i in 0..in_group {
                for ky in g.rows.taps_inside(y) {
                    let Some(in_y) = g.rows.position(y, ky) else {
                        continue;
                    };
                    for kx in g.columns.taps_inside(x) {
                        let Some(in_x) = g.columns.position(x, kx) else {
                            continue;
                        };
                        let from = ((first + i) * g.rows.input + in_y) * g.columns.input + in_x;
                        let w = ((o * in_group + i) * g.rows.taps + ky) * g.columns.taps + kx;
                        sum = sum.plus(dot(&input[from..=from], &weights[w..=w]));
                    }
                }
            }
            *out = self.layer.number(sum, o);
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        Convolution2dDescriptor, DataLayout, DataType, Quantization, TensorInfo,
    };

    use crate::test_harness::{Call, Tensor, assert_refused, typed};

    fn quantized(tensor: Tensor, scale: f32, zero_point: i32) -> Tensor {
        tensor.quantized(Quantization::per_tensor(scale, zero_point))
    }

    /// Input 1 2 / 3 4 with a zero point of 1 (0 1 / 2 3), a filter of 2 by 2 over it and one
    /// element of padding on the left: in real numbers (pad 0 / pad 2) and (0 1 / 2 3).
    fn call(layout: DataLayout, weights: Tensor, out_channels: i64) -> Call {
        let is_nhwc = layout == DataLayout::Nhwc;
        let image = if is_nhwc { [1, 2, 2, 1] } else { [1, 1, 2, 2] };
        let out = if is_nhwc {
            [1, 1, 2, out_channels]
        } else {
            [1, out_channels, 1, 2]
        };
        let d = Convolution2dDescriptor {
            pad_left: 1,
            ..Convolution2dDescriptor::new(layout)
        };
        let bias: Vec<i32> = (0..out_channels as i32).map(|o| 10 * o).collect();
        let output =
            TensorInfo::new(DataType::QAsymmS8, out).quantized(Quantization::per_tensor(0.5, -3));
        Call::new(d)
            .input(quantized(
                typed(DataType::QAsymmS8, image, &[1i8, 2, 3, 4]),
                0.5,
                1,
            ))
            .input(weights)
            .input(typed(DataType::Signed32, [out_channels], &bias))
            .output_info(output)
    }

    #[test]
    fn sums_are_of_what_the_numbers_stand_for() {
        // Filter 1 2 / 3 4: 0 * 2 + 2 * 4 = 8 and 0 + 1 * 2 + 2 * 3 + 3 * 4 = 20, in steps of
        // 0.5 * 1; the output has steps of 0.5, so the numbers are 8 - 3 and 20 - 3.
        for layout in [DataLayout::Nhwc, DataLayout::Nchw] {
            let shape = if layout == DataLayout::Nhwc {
                [1, 2, 2, 1]
            } else {
                [1, 1, 2, 2]
            };
            let weights = typed(DataType::QSymmS8, shape, &[1i8, 2, 3, 4]);
            let found = call(layout, quantized(weights, 1.0, 0), 1).run();
            assert_eq!(found.elements::<i8>(0), [5, 17]);
            // The same filter with a zero point of 100.
            let weights = typed(DataType::QAsymmU8, shape, &[101u8, 102, 103, 104]);
            let found = call(layout, quantized(weights, 1.0, 100), 1).run();
            assert_eq!(found.elements::<i8>(0), [5, 17]);
        }
    }

    #[test]
    fn each_output_channel_has_its_scale() {
        // Two filters 1 2 / 3 4, with scales 1 and 0.25 and biases 0 and 10: 18 / 4 = 4.5, which
        // rounds up, and 30 / 4 = 7.5.
        let weights = typed(DataType::QSymmS8, [2, 2, 2, 1], &[1i8, 2, 3, 4, 1, 2, 3, 4]);
        let weights = weights.quantized(Quantization::per_axis(0, vec![1.0, 0.25], vec![0, 0]));
        let found = call(DataLayout::Nhwc, weights, 2).run();
        assert_eq!(found.elements::<i8>(0), [5, 2, 17, 5]);
    }

    #[test]
    fn activations_of_16_bits_add_up_in_64() {
        // 66000 products of 32767 and 127: 274659... beyond 32 bits.
        let channels = 66_000i64;
        let output = TensorInfo::new(DataType::QSymmS16, [1, 1, 1, 1])
            .quantized(Quantization::per_tensor(1e7, 0));
        let input = typed(
            DataType::QSymmS16,
            [1, 1, 1, channels],
            &vec![i16::MAX; channels as usize],
        );
        let weights = typed(
            DataType::QSymmS8,
            [1, 1, 1, channels],
            &vec![i8::MAX; channels as usize],
        );
        let call = Call::new(Convolution2dDescriptor::new(DataLayout::Nhwc))
            .input(quantized(input, 1.0, 0))
            .input(quantized(weights, 1.0, 0))
            .input(typed(DataType::Signed64, [1], &[1_000_000_000_000i64]))
            .output_info(output);
        // (66000 * 32767 * 127 + 10^12) / 10^7 = 127465.2994, beyond the type.
        assert_eq!(call.run().elements::<i16>(0), [i16::MAX]);
    }

    #[test]
    fn types_that_do_not_fit_are_refused_by_name() {
        let weights = quantized(typed(DataType::QSymmS16, [1, 2, 2, 1], &[0i16; 4]), 1.0, 0);
        assert_refused(
            &call(DataLayout::Nhwc, weights, 1),
            &["the type of weights is QSymmS16; supported: QAsymmS8, QAsymmU8, QSymmS8"],
        );
    }
}
