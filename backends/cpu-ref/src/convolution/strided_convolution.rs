//! Convolution3d, TransposeConvolution2d and TransposeConvolution3d: sums over windows that are
//! walked through by strides, whatever the layout.
//!
//! Quantized, the rules are those of Convolution2d (TensorFlow Lite's
//! `reference/integer_ops/transpose_conv.h`, `reference/conv3d.h`).

mod planes;
mod windows;

use armnn_backend_api::{
    Convolution3dDescriptor, DataLayout, ExecutionContext, LayerView, Result, Synchronous,
    TransposeConvolution2dDescriptor, TransposeConvolution3dDescriptor, Workload,
};

use self::planes::Planes;
use self::windows::{Steps, WeightAxes, Windows};
use crate::{
    loops::{
        matrix::dot,
        weighted_sum::{
            self, Activation, Bias, RescalingRule, Sum, WeightedKernel, WeightedLayer,
            by_weighted_types,
        },
    },
    numbers::real::Real,
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{REALS, invalid, num_elements, refusal, require_image_layout},
    },
};

fn check(layer: LayerView<'_>) -> Result<()> {
    match weighted_sum::is_quantized(layer)? {
        true => weighted_sum::check(layer),
        false => weighted_sum::check_real(layer, REALS),
    }
}

fn check_volume_layout(layout: DataLayout) -> Result<()> {
    match layout {
        DataLayout::Ndhwc | DataLayout::Ncdhw => Ok(()),
        other => Err(refusal(format_args!(
            "the layout is {other}; supported: Ndhwc, Ncdhw"
        ))),
    }
}

pub(crate) fn check_convolution3d(layer: LayerView<'_>, d: &Convolution3dDescriptor) -> Result<()> {
    check_volume_layout(d.data_layout())?;
    check(layer)
}

pub(crate) fn check_transpose2d(
    layer: LayerView<'_>,
    d: &TransposeConvolution2dDescriptor,
) -> Result<()> {
    require_image_layout(d.data_layout())?;
    check(layer)
}

pub(crate) fn check_transpose3d(
    layer: LayerView<'_>,
    d: &TransposeConvolution3dDescriptor,
) -> Result<()> {
    check_volume_layout(d.data_layout())?;
    check(layer)
}

pub(crate) fn convolution3d_workload(
    layer: LayerView<'_>,
    d: &Convolution3dDescriptor,
) -> Result<Box<dyn Workload>> {
    let steps = [
        [d.stride_z, d.dilation_z, d.pad_front],
        [d.stride_y, d.dilation_y, d.pad_top],
        [d.stride_x, d.dilation_x, d.pad_left],
    ];
    let weights = match d.data_layout() {
        DataLayout::Ndhwc => WeightAxes {
            output: 4,
            input: 3,
            first: 0,
        },
        _ => WeightAxes {
            output: 0,
            input: 1,
            first: 2,
        },
    };
    workload(layer, steps, d.groups, d.data_layout(), weights, false)
}

pub(crate) fn transpose2d_workload(
    layer: LayerView<'_>,
    d: &TransposeConvolution2dDescriptor,
) -> Result<Box<dyn Workload>> {
    let steps = [
        [1, 1, 0],
        [d.stride_y, d.dilation_y, d.pad_top],
        [d.stride_x, d.dilation_x, d.pad_left],
    ];
    let weights = transposed_axes(d.data_layout() == DataLayout::Nhwc, 2);
    workload(layer, steps, d.groups, d.data_layout(), weights, true)
}

pub(crate) fn transpose3d_workload(
    layer: LayerView<'_>,
    d: &TransposeConvolution3dDescriptor,
) -> Result<Box<dyn Workload>> {
    let steps = [
        [d.stride_z, d.dilation_z, d.pad_front],
        [d.stride_y, d.dilation_y, d.pad_top],
        [d.stride_x, d.dilation_x, d.pad_left],
    ];
    let weights = transposed_axes(d.data_layout() == DataLayout::Ndhwc, 3);
    workload(layer, steps, d.groups, d.data_layout(), weights, true)
}

/// [O, ..., I / groups], or [I, O / groups, ...] with channels first.
fn transposed_axes(channels_last: bool, directions: usize) -> WeightAxes {
    match channels_last {
        true => WeightAxes {
            output: 0,
            input: directions + 1,
            first: 1,
        },
        false => WeightAxes {
            output: 1,
            input: 0,
            first: 2,
        },
    }
}

fn workload(
    layer: LayerView<'_>,
    steps: Steps,
    groups: u32,
    layout: DataLayout,
    axes: WeightAxes,
    is_transposed: bool,
) -> Result<Box<dyn Workload>> {
    let windows = Windows::new(layer, steps, groups, layout, axes, is_transposed)?;
    if let Some(bias) = layer.input(2)
        && num_elements(layer, bias)? != windows.out_channels
    {
        return Err(invalid("there is not one bias for each output channel"));
    }
    if !weighted_sum::is_quantized(layer)? {
        return match Planes::new(&windows) {
            Some(planes) => real_workload(layer, planes),
            None => real_workload(layer, windows),
        };
    }
    by_weighted_types!(layer, X, W => QuantizedWindows {
        layer: WeightedLayer::new(layer, windows.out_channels, RescalingRule::FixedPoint)?,
        windows: windows.clone(),
    })
}

impl<F: Real> FloatKernel<F> for Windows {
    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, weights, bias]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let (step_x, step_w) = (self.input.channel, self.weights.channel);
        self.for_each_output(context, output, |batch, channel, position| {
            let mut sum = F::ZERO;
            self.for_each_tap(batch, channel, position, |at_x, at_w| {
                if (step_x, step_w) == (1, 1) {
                    sum += dot(
                        &input[at_x..][..self.in_group],
                        &weights[at_w..][..self.in_group],
                    );
                } else {
                    for i in 0..self.in_group {
                        sum += input[at_x + i * step_x] * weights[at_w + i * step_w];
                    }
                }
            });
            sum + bias.get(channel).copied().unwrap_or(F::ZERO)
        })
    }
}

struct QuantizedWindows {
    windows: Windows,
    layer: WeightedLayer,
}

impl<X: Activation> WeightedKernel<X> for QuantizedWindows {
    fn channel_of_weight(&self, index: usize) -> usize {
        let windows = &self.windows;
        let channel = index / windows.weights_output.max(1);
        if windows.are_groups_along_inputs {
            let group = index / windows.weights.batch.max(1);
            return group * windows.out_group + channel % windows.out_group.max(1);
        }
        channel % windows.out_channels.max(1)
    }

    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        input: &[i16],
        weights: &[i16],
        bias: Bias<'_>,
        output: &mut [X],
    ) -> Result<()> {
        let windows = &self.windows;
        let (step_x, step_w) = (windows.input.channel, windows.weights.channel);
        windows.for_each_output(context, output, |batch, channel, position| {
            let mut sum = X::Sum::ZERO.add(bias.of_channel(channel));
            windows.for_each_tap(batch, channel, position, |at_x, at_w| {
                for i in 0..windows.in_group {
                    sum = sum.add_product(input[at_x + i * step_x], weights[at_w + i * step_w]);
                }
            });
            self.layer.number(sum, channel)
        })
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, LayerDescriptor, Quantization, Shape, TensorInfo};

    use super::*;
    use crate::test_harness::{
        Call, Tensor, assert_close, assert_refused, f32s, sample_values, typed,
    };

    fn run(d: impl Into<LayerDescriptor>, inputs: &[Tensor], out: &[i64]) -> Vec<f32> {
        let call = Call::new(d).output(DataType::Float32, Shape::new(out).unwrap());
        let call = inputs.iter().fold(call, |call, t| call.input(t.clone()));
        call.run().f32s()
    }

    fn samples(shape: &[i64]) -> Tensor {
        let len: i64 = shape.iter().product();
        f32s(Shape::new(shape).unwrap(), &sample_values(len as usize))
    }

    #[test]
    fn each_input_adds_the_filter_times_itself() {
        // Inputs 1 and 2, two apart; a filter 1 10 100.
        let mut d = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
        d.stride_x = 2;
        let input = f32s([1, 1, 2, 1], &[1.0, 2.0]);
        let weights = f32s([1, 1, 3, 1], &[1.0, 10.0, 100.0]);
        let found = run(d, &[input.clone(), weights.clone()], &[1, 1, 5, 1]);
        assert_eq!(found, [1.0, 10.0, 102.0, 20.0, 200.0]);
        // One less at the left, one more at the right, and a bias.
        d.pad_left = 1;
        let bias = f32s([1], &[0.5]);
        let inputs = [input.clone(), weights.clone(), bias];
        let found = run(d, &inputs, &[1, 1, 5, 1]);
        assert_eq!(found, [10.5, 102.5, 20.5, 200.5, 0.5]);
        d.data_layout = DataLayout::Nchw.0;
        d.dilation_x = 2;
        d.pad_left = 0;
        let inputs = [
            input.with_type(DataType::Float32, [1, 1, 1, 2]),
            weights.with_type(DataType::Float32, [1, 1, 1, 3]),
        ];
        let found = run(d, &inputs, &[1, 1, 1, 7]);
        assert_eq!(found, [1.0, 0.0, 12.0, 0.0, 120.0, 0.0, 200.0]);
    }

    /// [N, C, ...] to [N, ..., C].
    fn channels_last(values: &[f32], channels: usize, positions: usize) -> Vec<f32> {
        let at = |n, p, c| values[(n * channels + c) * positions + p];
        let batches = values.len() / (channels * positions);
        (0..batches)
            .flat_map(|n| (0..positions).flat_map(move |p| (0..channels).map(move |c| (n, p, c))))
            .map(|(n, p, c)| at(n, p, c))
            .collect()
    }

    #[test]
    fn layouts_agree_and_groups_see_their_own_channels() {
        // Input channels (0, 1) to outputs (0, 1, 2), and (2, 3) to (3, 4, 5).
        let (input, weights) = (sample_values(2 * 4 * 6), sample_values(4 * 3 * 4));
        let mut d = TransposeConvolution2dDescriptor::new(DataLayout::Nchw);
        (d.groups, d.stride_x, d.stride_y) = (2, 2, 1);
        let first = [f32s([2, 4, 2, 3], &input), f32s([4, 3, 2, 2], &weights)];
        let first = run(d, &first, &[2, 6, 3, 6]);
        // The definition, as a sum over what each input adds.
        let mut expected = vec![0.0; 2 * 6 * 18];
        for n in 0..2 {
            for i in 0..4 {
                for (y, x) in (0..2).flat_map(|y| (0..3).map(move |x| (y, x))) {
                    for o in 0..3 {
                        for (ky, kx) in (0..2).flat_map(|y| (0..2).map(move |x| (y, x))) {
                            let channel = i / 2 * 3 + o;
                            expected[((n * 6 + channel) * 3 + y + ky) * 6 + 2 * x + kx] += input
                                [((n * 4 + i) * 2 + y) * 3 + x]
                                * weights[((i * 3 + o) * 2 + ky) * 2 + kx];
                        }
                    }
                }
            }
        }
        assert_close(&first, &expected, 1e-6);
        // [I, O / groups, KH, KW] to [O, KH, KW, I / groups].
        let mut last_weights = vec![0.0; 48];
        for i in 0..4 {
            for o in 0..3 {
                for k in 0..4 {
                    let channel = i / 2 * 3 + o;
                    last_weights[(channel * 4 + k) * 2 + i % 2] = weights[(i * 3 + o) * 4 + k];
                }
            }
        }
        d.data_layout = DataLayout::Nhwc.0;
        let last = [
            f32s([2, 2, 3, 4], &channels_last(&input, 4, 6)),
            f32s([6, 2, 2, 2], &last_weights),
        ];
        let last = run(d, &last, &[2, 3, 6, 6]);
        assert_close(&last, &channels_last(&first, 6, 18), 1e-6);
    }

    #[test]
    fn volumes_of_ones_give_the_sum_under_the_window() {
        let mut d = Convolution3dDescriptor::new(DataLayout::Ncdhw);
        (d.stride_z, d.pad_front, d.dilation_x) = (2, 1, 2);
        let input = samples(&[1, 2, 4, 3, 5]);
        let ones = f32s([1, 2, 2, 2, 2], &[1.0; 16]);
        let found = run(d, &[input.clone(), ones], &[1, 1, 2, 2, 3]);
        let values = sample_values(120);
        let mut expected = vec![];
        for (z, y, x) in
            (0..2).flat_map(|z| (0..2).flat_map(move |y| (0..3).map(move |x| (z, y, x))))
        {
            let mut sum = 0.0;
            for tap in 0..16 {
                let (c, kz, ky, kx) = (tap / 8, tap / 4 % 2, tap / 2 % 2, tap % 2);
                let Some(in_z) = usize::checked_sub(2 * z + kz, 1) else {
                    continue;
                };
                sum += values[((c * 4 + in_z) * 3 + y + ky) * 5 + x + 2 * kx];
            }
            expected.push(sum);
        }
        assert_close(&found, &expected, 1e-5);
        d.data_layout = DataLayout::Ndhwc.0;
        let last = [
            f32s([1, 4, 3, 5, 2], &channels_last(&values, 2, 60)),
            f32s([2, 2, 2, 2, 1], &[1.0; 16]),
        ];
        assert_close(&run(d, &last, &[1, 2, 2, 3, 1]), &expected, 1e-5);
        // A transposed convolution of one input is the filter.
        let d = TransposeConvolution3dDescriptor::new(DataLayout::Ncdhw);
        let filter = samples(&[1, 1, 2, 2, 2]);
        let one = f32s([1, 1, 1, 1, 1], &[2.0]);
        let found = run(d, &[one, filter], &[1, 1, 2, 2, 2]);
        let doubled: Vec<f32> = sample_values(8).iter().map(|x| 2.0 * x).collect();
        assert_eq!(found, doubled);
    }

    #[test]
    fn quantized_sums_are_rescaled() {
        let d = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
        let per_tensor = Quantization::per_tensor;
        // (5 - 1) 0.5 times 4 · 0.25 is 2, and 3 · 0.25 · 2 = 1.5; in steps of 0.5 from -10: -6, -7.
        let call = Call::new(d)
            .input(typed(DataType::QAsymmS8, [1, 1, 1, 1], &[5i8]).quantized(per_tensor(0.5, 1)))
            .input(typed(DataType::QSymmS8, [1, 1, 2, 1], &[4i8, 3]).quantized(per_tensor(0.25, 0)))
            .output_info(
                TensorInfo::new(DataType::QAsymmS8, [1, 1, 2, 1]).quantized(per_tensor(0.5, -10)),
            );
        assert_eq!(call.run().elements::<i8>(0), [-6, -7]);
    }

    #[test]
    fn what_does_not_fit_is_refused_or_an_error() {
        let d = TransposeConvolution2dDescriptor::new(DataLayout::Ncdhw);
        let inputs = [samples(&[1, 1, 1, 1]), samples(&[1, 1, 1, 1])];
        let call = |d: TransposeConvolution2dDescriptor| {
            let call = Call::new(d).output(DataType::Float32, [1, 1, 1, 1]);
            inputs.iter().fold(call, |call, t| call.input(t.clone()))
        };
        assert_refused(&call(d), &["Ncdhw"]);
        let mut d = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
        d.groups = 2;
        assert!(call(d).error().contains("in 2 groups"));
    }

    /// Of no input channels, whatever the filter: the bias.
    #[test]
    fn filters_without_weights_take_no_time_for_their_size() {
        let huge = 1 << 20;
        let empty = |shape: &[i64]| f32s(Shape::new(shape).unwrap(), &[]);
        let bias = || f32s([1], &[0.5]);
        for (layout, filter, from) in [
            (DataLayout::Ncdhw, [1, 0, huge, huge, 1], [1, 0, 2, 2, 1]),
            (DataLayout::Ndhwc, [huge, huge, 1, 0, 1], [1, 2, 2, 1, 0]),
        ] {
            let d = Convolution3dDescriptor::new(layout);
            let call = [empty(&from), empty(&filter), bias()];
            let call = call.into_iter().fold(Call::new(d), Call::input);
            let call = call.output(DataType::Float32, [1; 5]);
            assert_eq!(call.run().f32s(), [0.5]);
        }
        for (layout, filter, from) in [
            (DataLayout::Nchw, [0, 1, huge, huge], [1, 0, 2, 2]),
            (DataLayout::Nhwc, [1, huge, huge, 0], [1, 2, 2, 0]),
        ] {
            let d = TransposeConvolution2dDescriptor::new(layout);
            let call = [empty(&from), empty(&filter), bias()];
            let call = call.into_iter().fold(Call::new(d), Call::input);
            let call = call.output(DataType::Float32, [1; 4]);
            assert_eq!(call.run().f32s(), [0.5]);
        }
    }

    /// 2^-40 is lost in Float32 beside 1.
    #[test]
    fn float64_is_computed_in_itself() {
        let one = 1.0 + (-40f64).exp2();
        let (input, weights) = ([one, 2.0], [1.0, 10.0, 100.0]);
        let double = |shape: &[i64], values: &[f64]| {
            typed(DataType::Float64, Shape::new(shape).unwrap(), values)
        };
        let run = |d: LayerDescriptor, inputs: [Tensor; 3], out: &[i64]| {
            let call = Call::new(d).output(DataType::Float64, Shape::new(out).unwrap());
            let call = inputs.into_iter().fold(call, Call::input);
            call.run().elements::<f64>(0)
        };
        // Inputs two apart, and a bias.
        let mut d = TransposeConvolution2dDescriptor::new(DataLayout::Nchw);
        d.stride_x = 2;
        let inputs = [
            double(&[1, 1, 1, 2], &input),
            double(&[1, 1, 1, 3], &weights),
            double(&[1], &[0.5]),
        ];
        let found = run(d.into(), inputs, &[1, 1, 1, 5]);
        let middle = one * 100.0 + 2.0 + 0.5;
        let expected = [one + 0.5, one * 10.0 + 0.5, middle, 20.5, 200.5];
        assert_eq!(found, expected);
        let mut d = TransposeConvolution3dDescriptor::new(DataLayout::Ncdhw);
        d.stride_x = 2;
        let inputs = [
            double(&[1, 1, 1, 1, 2], &input),
            double(&[1, 1, 1, 1, 3], &weights),
            double(&[1], &[0.5]),
        ];
        assert_eq!(run(d.into(), inputs, &[1, 1, 1, 1, 5]), expected);
        // 1 and 10 beside each other.
        for (layout, from, filter) in [
            (DataLayout::Ncdhw, [1, 1, 1, 1, 2], [1, 1, 1, 1, 2]),
            (DataLayout::Ndhwc, [1, 1, 1, 2, 1], [1, 1, 2, 1, 1]),
        ] {
            let inputs = [
                double(&from, &input),
                double(&filter, &weights[..2]),
                double(&[1], &[0.5]),
            ];
            let d = Convolution3dDescriptor::new(layout);
            assert_eq!(run(d.into(), inputs, &[1; 5]), [one + 20.0 + 0.5]);
        }
    }
}
