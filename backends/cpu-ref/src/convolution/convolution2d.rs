//! Convolution2d.

mod quantized;

use armnn_backend_api::{Convolution2dDescriptor, DataLayout, LayerView, Result, Workload};

use crate::{
    convolution::{
        convolution_nchw::{NchwConvolution, WeightLayout},
        convolution_nhwc::{ChannelCounts, NhwcConvolution},
    },
    loops::{sliding_window::sliding_windows, weighted_sum},
    workloads::{
        float_workload::{float_constant, float_workload, real_workload},
        layer_checks::{
            FLOATS, REALS, dims_of_rank, input, invalid, num_elements, output, require_image_layout,
        },
    },
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &Convolution2dDescriptor) -> Result<()> {
    if weighted_sum::is_quantized(layer)? {
        weighted_sum::check(layer)?;
    } else {
        // Float64 is what exact sums of many products of integers are computed in: of ONNX's
        // ConvInteger, which is NCHW.
        let types = match descriptor.data_layout() == DataLayout::Nchw {
            true => REALS,
            false => FLOATS,
        };
        weighted_sum::check_real(layer, types)?;
    }
    require_image_layout(descriptor.data_layout())
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &Convolution2dDescriptor,
) -> Result<Box<dyn Workload>> {
    let is_nhwc = d.data_layout() == DataLayout::Nhwc;
    // Both layouts as [N, H, W, C] and [O, KH, KW, I / groups].
    let channels_last = |dims: [usize; 4]| match dims {
        dims if is_nhwc => dims,
        [n, c, h, w] => [n, h, w, c],
    };
    let [batch, in_h, in_w, in_c] = channels_last(dims_of_rank(layer, input(layer, 0)?)?);
    let weights = input(layer, 1)?;
    let [w_out_c, k_h, k_w, w_in_c] = channels_last(dims_of_rank(layer, weights)?);
    let [out_n, out_h, out_w, out_c] = channels_last(dims_of_rank(layer, output(layer, 0)?)?);
    let groups = d.groups as usize;
    let fits = groups > 0
        && batch == out_n
        && w_out_c == out_c
        && out_c % groups == 0
        && w_in_c.checked_mul(groups) == Some(in_c);
    if !fits {
        return Err(invalid(format_args!(
            "{in_c} channels in {groups} groups, weights for {w_in_c} and {out_c} channels of \
                 output do not fit together"
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
            groups,
            is_nhwc,
        };
        return quantized::workload(layer, geometry);
    }
    if !is_nhwc {
        let weights = WeightLayout::PlanePerPair {
            in_channels: w_in_c,
        };
        let kernel = NchwConvolution {
            rows,
            columns,
            in_channels: in_c,
            out_channels: out_c,
            groups,
            weights,
        };
        return real_workload(layer, kernel);
    }
    let channels = ChannelCounts {
        groups,
        input: w_in_c,
        output: out_c / groups,
    };
    let n_weights = num_elements(layer, weights)?;
    let constant = float_constant(weights).filter(|w| w.len() == n_weights);
    let kernel = NhwcConvolution::new(rows, columns, channels, constant.as_deref())
        .ok_or_else(|| invalid("its weights are too large"))?;
    float_workload(layer, kernel)
}

/// Checks that a bias, if there is one, is `[O]`.
pub(crate) fn check_bias(layer: LayerView<'_>, out_channels: usize) -> Result<()> {
    match layer.input(2) {
        Some(bias) if num_elements(layer, bias)? != out_channels => Err(invalid(format_args!(
            "a bias of shape {} does not fit {out_channels} channels of output",
            bias.shape()
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{
        Call, assert_close, assert_refused, f16s, f32s, sample_values, typed,
    };

    const NHWC: Convolution2dDescriptor = Convolution2dDescriptor::new(DataLayout::Nhwc);
    const NCHW: Convolution2dDescriptor = Convolution2dDescriptor::new(DataLayout::Nchw);

    /// The definition, in f64, for NHWC: dimensions of input and weights, and of the output.
    fn by_definition(
        d: &Convolution2dDescriptor,
        (input, in_dims): (&[f32], [usize; 4]),
        (weights, w_dims): (&[f32], [usize; 4]),
        bias: &[f32],
        [n, h, w, out_c]: [usize; 4],
    ) -> Vec<f32> {
        let (mut result, groups) = (vec![], d.groups as usize);
        for (b, y, x, o) in (0..n * h * w * out_c).map(|i| {
            (
                i / (h * w * out_c),
                i / (w * out_c) % h,
                i / out_c % w,
                i % out_c,
            )
        }) {
            let mut sum = bias.get(o).map_or(0.0, |&b| f64::from(b));
            for (ky, kx, i) in (0..w_dims[1] * w_dims[2] * w_dims[3]).map(|k| {
                (
                    k / (w_dims[2] * w_dims[3]),
                    k / w_dims[3] % w_dims[2],
                    k % w_dims[3],
                )
            }) {
                let in_y = (y * d.stride_y as usize + ky * d.dilation_y as usize) as i64
                    - i64::from(d.pad_top);
                let in_x = (x * d.stride_x as usize + kx * d.dilation_x as usize) as i64
                    - i64::from(d.pad_left);
                if (0..in_dims[1] as i64).contains(&in_y) && (0..in_dims[2] as i64).contains(&in_x)
                {
                    let channel = o / (out_c / groups) * w_dims[3] + i;
                    let at = ((b * in_dims[1] + in_y as usize) * in_dims[2] + in_x as usize)
                        * in_dims[3]
                        + channel;
                    let w = ((o * w_dims[1] + ky) * w_dims[2] + kx) * w_dims[3] + i;
                    sum += f64::from(input[at]) * f64::from(weights[w]);
                }
            }
            result.push(sum as f32);
        }
        result
    }

    fn to_nchw(values: &[f32], [n, h, w, c]: [usize; 4]) -> Vec<f32> {
        (0..n * c * h * w)
            .map(|i| {
                let (n, c_at, y, x) = (i / (c * h * w), i / (h * w) % c, i / w % h, i % w);
                values[((n * h + y) * w + x) * c + c_at]
            })
            .collect()
    }

    fn signed(dims: [usize; 4]) -> [i64; 4] {
        dims.map(|d| d as i64)
    }

    fn channels_first([n, h, w, c]: [usize; 4]) -> [i64; 4] {
        signed([n, c, h, w])
    }

    /// Planes of the output are computed several at a time, pixels too, and filters piece by piece:
    /// numbers of each that are no multiples, with filters of few and of many taps.
    #[test]
    fn planes_in_blocks_of_any_size_are_as_defined() {
        for (out_c, in_c, [k_h, k_w]) in [
            (2, 3, [3, 3]),
            (3, 1, [1, 1]),
            (6, 9, [3, 3]),
            (16, 2, [2, 3]),
            (17, 70, [1, 1]),
            (18, 2, [1, 70]),
            (37, 2, [1, 3]),
        ] {
            let d = Convolution2dDescriptor {
                pad_left: 1,
                pad_bottom: 1,
                stride_x: 2,
                ..NHWC
            };
            let in_dims = [2, 3, 75, in_c];
            let w_dims = [out_c, k_h, k_w, in_c];
            let out_dims = [2, 3 + 1 - k_h + 1, (75 + 1 - k_w) / 2 + 1, out_c];
            let input = sample_values(in_dims.iter().product());
            let weights = sample_values(w_dims.iter().product());
            let bias = sample_values(out_c);
            let expected =
                by_definition(&d, (&input, in_dims), (&weights, w_dims), &bias, out_dims);
            let call = Call::new(Convolution2dDescriptor {
                data_layout: NCHW.data_layout,
                ..d
            })
            .input(f32s(channels_first(in_dims), &to_nchw(&input, in_dims)))
            .input(f32s(channels_first(w_dims), &to_nchw(&weights, w_dims)))
            .input(f32s([out_c as i64], &bias))
            .output(DataType::Float32, channels_first(out_dims));
            assert_eq!(
                call.run().f32s(),
                to_nchw(&expected, out_dims),
                "{w_dims:?}"
            );
        }
    }

    /// 300 products of 255 and 255, and 1: one more than 300 * 65025 = 19507500, which is beyond
    /// 2^24, so that Float32 does not hold it.
    #[test]
    fn sums_in_float64_are_exact_where_float32_is_not() {
        let mut weights = vec![255.0f64; 301];
        weights[300] = 1.0 / 255.0;
        let call = Call::new(NCHW)
            .input(typed(DataType::Float64, [1, 301, 1, 1], &[255.0f64; 301]))
            .input(typed(DataType::Float64, [1, 301, 1, 1], &weights))
            .output(DataType::Float64, [1, 1, 1, 1]);
        assert_eq!(call.run().elements::<f64>(0), [19_507_501.0]);
        let nhwc = Call::new(NHWC)
            .input(typed(DataType::Float64, [1, 1, 1, 1], &[1.0f64]))
            .input(typed(DataType::Float64, [1, 1, 1, 1], &[1.0f64]))
            .output(DataType::Float64, [1, 1, 1, 1]);
        assert_refused(&nhwc, &["Float64"]);
    }

    #[test]
    fn a_filter_slides_over_rows_and_columns() {
        // Input    Filter
        // 1 2 3    1 0
        // 4 5 6    0 2     Output (0, 0): 1 + 2 * 5 = 11, and so on.
        // 7 8 9
        let call = Call::new(NHWC)
            .input(f32s(
                [1, 3, 3, 1],
                &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            ))
            .input(f32s([1, 2, 2, 1], &[1.0, 0.0, 0.0, 2.0]))
            .input(f32s([1], &[0.5]))
            .output(DataType::Float32, [1, 2, 2, 1]);
        assert_eq!(call.run().f32s(), [11.5, 14.5, 20.5, 23.5]);
    }

    /// A descriptor with the dimensions of input, weights and output in NHWC.
    type Case = (Convolution2dDescriptor, [usize; 4], [usize; 4], [usize; 4]);

    fn cases() -> Vec<Case> {
        vec![
            (NHWC, [1, 5, 7, 3], [10, 3, 3, 3], [1, 3, 5, 10]),
            // Padding that differs on all sides: 5 + 1 + 2 - 3 + 1 = 6, 7 + 0 + 3 - 2 + 1 = 9.
            (
                Convolution2dDescriptor {
                    pad_top: 1,
                    pad_bottom: 2,
                    pad_right: 3,
                    ..NHWC
                },
                [2, 5, 7, 4],
                [9, 3, 2, 4],
                [2, 6, 9, 9],
            ),
            // (7 + 2 - 3) / 2 + 1 = 4, (9 + 2 - 2 * 2 - 1) / 3 + 1 = 3.
            (
                Convolution2dDescriptor {
                    pad_top: 1,
                    pad_bottom: 1,
                    pad_left: 2,
                    stride_y: 2,
                    stride_x: 3,
                    dilation_x: 2,
                    ..NHWC
                },
                [1, 7, 9, 2],
                [17, 3, 3, 2],
                [1, 4, 3, 17],
            ),
            // Three groups of two input and five output channels; a filter of one element.
            (
                Convolution2dDescriptor { groups: 3, ..NHWC },
                [1, 3, 4, 6],
                [15, 1, 1, 2],
                [1, 3, 4, 15],
            ),
            // A dilation so large that some taps never meet the input: 4 + 6 - 5 * 1 = 5.
            (
                Convolution2dDescriptor {
                    pad_top: 3,
                    pad_bottom: 3,
                    pad_left: 3,
                    pad_right: 3,
                    dilation_y: 5,
                    dilation_x: 5,
                    ..NHWC
                },
                [1, 4, 4, 1],
                [1, 2, 2, 1],
                [1, 5, 5, 1],
            ),
        ]
    }

    #[test]
    fn every_combination_of_parameters_is_as_defined_in_both_layouts() {
        for (d, in_dims, w_dims, out_dims) in cases() {
            let len = |dims: [usize; 4]| dims.iter().product::<usize>();
            // Multiples of 1/128 below 1: products and sums are exact.
            let input = sample_values(len(in_dims));
            let weights = sample_values(len(w_dims));
            let bias = sample_values(out_dims[3]);
            let expected =
                by_definition(&d, (&input, in_dims), (&weights, w_dims), &bias, out_dims);
            let bias_shape = [out_dims[3] as i64];

            let nhwc = |constant: bool| {
                let weights = f32s(signed(w_dims), &weights);
                Call::new(d)
                    .input(f32s(signed(in_dims), &input))
                    .input(if constant {
                        weights.constant()
                    } else {
                        weights
                    })
                    .input(f32s(bias_shape, &bias))
                    .output(DataType::Float32, signed(out_dims))
            };
            assert_close(&nhwc(true).run().f32s(), &expected, 0.0);
            assert_close(&nhwc(false).run().f32s(), &expected, 0.0);

            let nchw = Call::new(Convolution2dDescriptor {
                data_layout: NCHW.data_layout,
                ..d
            })
            .input(f32s(channels_first(in_dims), &to_nchw(&input, in_dims)))
            .input(f32s(channels_first(w_dims), &to_nchw(&weights, w_dims)))
            .input(f32s(bias_shape, &bias))
            .output(DataType::Float32, channels_first(out_dims));
            assert_close(&nchw.run().f32s(), &to_nchw(&expected, out_dims), 0.0);
        }
    }

    #[test]
    fn without_a_bias_sums_start_at_zero() {
        for descriptor in [NHWC, NCHW] {
            let call = Call::new(descriptor)
                .input(f32s([1, 1, 1, 1], &[3.0]))
                .input(f32s([1, 1, 1, 1], &[2.0]))
                .output(DataType::Float32, [1, 1, 1, 1]);
            assert_eq!(call.run().f32s(), [6.0]);
            assert_eq!(call.absent().run().f32s(), [6.0]);
        }
    }

    #[test]
    fn float16_is_rounded_once() {
        // 2048 + 1 + 1 = 2050; if each sum were rounded to Float16 it would stay at 2048.
        for constant in [false, true] {
            let weights = f16s([1, 1, 1, 3], &[1.0, 1.0, 1.0]);
            let call = Call::new(NHWC)
                .input(f16s([1, 1, 1, 3], &[2048.0, 1.0, 1.0]))
                .input(if constant {
                    weights.constant()
                } else {
                    weights
                })
                .output(DataType::Float16, [1, 1, 1, 1]);
            assert_eq!(call.run().f16s(), [2050.0]);
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let input = sample_values(20 * 20 * 16);
        let weights: Vec<f32> = sample_values(16 * 9 * 16).iter().map(|w| w / 3.0).collect();
        let call = |descriptor: Convolution2dDescriptor, threads| {
            let [in_shape, w_shape, out_shape] = match descriptor.data_layout() {
                DataLayout::Nhwc => [[1, 20, 20, 16], [16, 3, 3, 16], [1, 18, 18, 16]],
                _ => [[1, 16, 20, 20], [16, 16, 3, 3], [1, 16, 18, 18]],
            };
            let call = Call::new(descriptor)
                .input(f32s(in_shape, &input))
                .input(f32s(w_shape, &weights))
                .output(DataType::Float32, out_shape)
                .threads(threads);
            call.run().elements::<u32>(0)
        };
        for descriptor in [NHWC, NCHW] {
            assert_eq!(call(descriptor, 1), call(descriptor, 3));
        }
    }

    #[test]
    fn no_batches_and_no_channels_are_fine() {
        let empty = Call::new(NHWC)
            .input(f32s([0, 3, 3, 2], &[]))
            .input(f32s([4, 3, 3, 2], &[1.0; 72]))
            .output(DataType::Float32, [0, 1, 1, 4]);
        assert!(empty.run().f32s().is_empty());
        for descriptor in [NHWC, NCHW] {
            let no_channels = match descriptor.data_layout() {
                DataLayout::Nhwc => [f32s([1, 2, 2, 0], &[]), f32s([2, 1, 1, 0], &[])],
                _ => [f32s([1, 0, 2, 2], &[]), f32s([2, 0, 1, 1], &[])],
            };
            let out = match descriptor.data_layout() {
                DataLayout::Nhwc => [1, 2, 2, 2],
                _ => [1, 2, 2, 2],
            };
            let [input, weights] = no_channels;
            let call = Call::new(descriptor)
                .input(input)
                .input(weights)
                .input(f32s([2], &[5.0, 5.0]))
                .output(DataType::Float32, out);
            assert_eq!(call.run().f32s(), [5.0; 8]);
        }
    }

    #[test]
    fn other_types_and_layouts_are_refused_by_name() {
        let call = Call::new(NHWC)
            .input(f32s([1, 1, 1, 1], &[0.0]))
            .input(typed(DataType::QAsymmS8, [1, 1, 1, 1], &[0i8]))
            .output(DataType::Float32, [1, 1, 1, 1]);
        assert_refused(
            &call,
            &["the type of weights is QAsymmS8; supported: Float32"],
        );
        let call = Call::new(Convolution2dDescriptor::new(DataLayout::Ndhwc))
            .input(f32s([1, 1, 1, 1], &[0.0]))
            .input(f32s([1, 1, 1, 1], &[0.0]))
            .output(DataType::Float32, [1, 1, 1, 1]);
        assert_refused(&call, &["Ndhwc"]);
    }

    #[test]
    fn shapes_that_do_not_fit_are_errors() {
        let call = |weights: [i64; 4], out: [i64; 4]| {
            let len = weights.iter().product::<i64>() as usize;
            Call::new(NHWC)
                .input(f32s([1, 3, 3, 2], &[0.0; 18]))
                .input(f32s(weights, &vec![0.0; len]))
                .output(DataType::Float32, out)
        };
        assert!(
            call([4, 3, 3, 3], [1, 1, 1, 4])
                .error()
                .contains("do not fit together")
        );
        assert!(
            call([4, 3, 3, 2], [1, 2, 1, 4])
                .error()
                .contains("does not follow")
        );
        assert!(
            call([4, 3, 3, 2], [1, -1, 1, 4])
                .error()
                .contains("is not known")
        );
    }
}
