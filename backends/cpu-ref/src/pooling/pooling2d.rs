//! Pooling2d.

mod integer;
mod quantized;

use armnn_backend_api::{
    DataLayout, DataType, ExecutionContext, LayerView, OutputShapeRounding, PaddingMethod,
    Pooling2dDescriptor, PoolingAlgorithm, Result, Synchronous, Workload,
};

use crate::{
    elementwise::elementwise_binary::larger,
    loops::sliding_window::{SlidingWindow, sliding_windows},
    numbers::{quantized_arithmetic::QUANTIZED, real::Real},
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            REALS, dims_of_rank, input, invalid, output, require_image_layout, require_named,
            require_one_type,
        },
        parallel::for_each_chunk,
    },
};

pub(crate) fn check(layer: LayerView<'_>, d: &Pooling2dDescriptor) -> Result<()> {
    match d.pool_type() {
        PoolingAlgorithm::Max => require_one_type(layer, &[REALS, QUANTIZED, INTEGERS]),
        _ => require_one_type(layer, &[REALS, QUANTIZED]),
    }?;
    if output(layer, 0)?.data_type().is_quantized() {
        if d.pool_type() == PoolingAlgorithm::Sum {
            return require_one_type(layer, &[REALS]);
        }
        quantized::check(layer)?;
    }
    require_image_layout(d.data_layout())?;
    require_named(d.pool_type(), d.pool_type().name())?;
    require_named(d.padding_method(), d.padding_method().name())?;
    let rounding = d.output_shape_rounding();
    require_named(rounding, rounding.name())
}

pub(crate) fn workload(layer: LayerView<'_>, d: &Pooling2dDescriptor) -> Result<Box<dyn Workload>> {
    let [in_n, a, b, c] = dims_of_rank(layer, input(layer, 0)?)?;
    let [out_n, out_a, out_b, out_c] = dims_of_rank(layer, output(layer, 0)?)?;
    // Each channel of NCHW is an image of its own, with one channel.
    let ((images, in_h, in_w, channels), (out_images, out_h, out_w, out_channels)) =
        if d.data_layout() == DataLayout::Nhwc {
            ((in_n, a, b, c), (out_n, out_a, out_b, out_c))
        } else {
            ((in_n * a, b, c, 1), (out_n * out_a, out_b, out_c, 1))
        };
    if images != out_images || channels != out_channels {
        return Err(invalid("batch or channels of input and output differ"));
    }
    let may_round_up = d.output_shape_rounding() == OutputShapeRounding::Ceiling;
    let (rows, columns) = sliding_windows!(
        d,
        input: (in_h, in_w),
        output: (out_h, out_w),
        taps: (d.pool_height as usize, d.pool_width as usize),
        may_round_up: may_round_up
    );
    let kernel = Pooling {
        rows,
        columns,
        channels,
        algorithm: d.pool_type(),
        padding_counts: d.padding_method() == PaddingMethod::IgnoreValue,
    };
    match output(layer, 0)?.data_type() {
        DataType::Int8 => integer::workload(layer, kernel, i8::MIN),
        DataType::UInt8 => integer::workload(layer, kernel, u8::MIN),
        quantized if quantized.is_quantized() => quantized::workload(layer, kernel),
        _ => real_workload(layer, kernel),
    }
}

/// The integers whose maximum is found.
const INTEGERS: &[DataType] = &[DataType::Int8, DataType::UInt8];

/// Images [H, W, C] to [H', W', C].
struct Pooling {
    rows: SlidingWindow,
    columns: SlidingWindow,
    channels: usize,
    algorithm: PoolingAlgorithm,
    padding_counts: bool,
}

impl<F: Real> FloatKernel<F> for Pooling {
    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, ..]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let image_len = self.rows.input * self.columns.input * self.channels;
        let row_len = self.columns.output * self.channels;
        let window = self.rows.taps.saturating_mul(self.columns.taps);
        let work = output.len().saturating_mul(window);
        for_each_chunk(context, output, row_len, work, |index, row| {
            let (image, y) = (index / self.rows.output, index % self.rows.output);
            let input = &input[image * image_len..][..image_len];
            for (x, pixel) in row.chunks_exact_mut(self.channels).enumerate() {
                self.pool(input, y, x, pixel);
            }
        })
    }
}

impl Pooling {
    fn pool<F: Real>(&self, input: &[F], y: usize, x: usize, pixel: &mut [F]) {
        let inside = self.rows.taps_inside(y).len() * self.columns.taps_inside(x).len();
        if inside == 0 {
            // The window covers nothing but padding.
            pixel.fill(F::ZERO);
            return;
        }
        let count = match self.padding_counts {
            true => self.rows.taps_inside_padded(y) * self.columns.taps_inside_padded(x),
            false => inside,
        };
        let count = F::from_f64(count as f64);
        match self.algorithm {
            PoolingAlgorithm::Max => self.fold(input, y, x, F::NEG_INFINITY, pixel, larger),
            PoolingAlgorithm::Average => {
                self.fold(input, y, x, F::ZERO, pixel, |sum, v| sum + v);
                pixel.iter_mut().for_each(|p| *p /= count);
            }
            PoolingAlgorithm::Sum => self.fold(input, y, x, F::ZERO, pixel, |sum, v| sum + v),
            // `check` lets nothing else through but L2.
            _ => {
                self.fold(input, y, x, F::ZERO, pixel, |sum, v| sum + v * v);
                pixel.iter_mut().for_each(|p| *p = (*p / count).sqrt());
            }
        }
    }

    /// Folds the elements of a window into each channel of `pixel`.
    fn fold<T: Copy>(
        &self,
        input: &[T],
        y: usize,
        x: usize,
        start: T,
        pixel: &mut [T],
        f: impl Fn(T, T) -> T,
    ) {
        pixel.fill(start);
        for ky in self.rows.taps_inside(y) {
            let Some(in_y) = self.rows.position(y, ky) else {
                continue;
            };
            for kx in self.columns.taps_inside(x) {
                let Some(in_x) = self.columns.position(x, kx) else {
                    continue;
                };
                let at = (in_y * self.columns.input + in_x) * self.channels;
                let from = &input[at..][..self.channels];
                pixel.iter_mut().zip(from).for_each(|(p, &v)| *p = f(*p, v));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_close, f16s, f32s, typed};

    fn pooling(pool_type: PoolingAlgorithm, width: u32, height: u32) -> Pooling2dDescriptor {
        Pooling2dDescriptor::new(pool_type, width, height, DataLayout::Nhwc)
    }

    fn pooled(d: Pooling2dDescriptor, input: Tensor, out: [i64; 4]) -> Vec<f32> {
        let call = Call::new(d).input(input).output(DataType::Float32, out);
        call.run().f32s()
    }

    fn counting(shape: [i64; 4]) -> Tensor {
        let len = shape.iter().product::<i64>();
        f32s(shape, &(1..=len).map(|i| i as f32).collect::<Vec<_>>())
    }

    #[test]
    fn windows_are_reduced_in_both_layouts() {
        // Rows 1 2 3 4 and 5 6 7 8; windows of 2 by 2 with a stride of 2.
        let mean_squares = [
            (1.0 + 4.0 + 25.0 + 36.0) / 4.0,
            (9.0 + 16.0 + 49.0 + 64.0) / 4.0f32,
        ];
        for (algorithm, expected) in [
            (PoolingAlgorithm::Max, [6.0, 8.0]),
            (PoolingAlgorithm::Average, [3.5, 5.5]),
            (PoolingAlgorithm::L2, mean_squares.map(f32::sqrt)),
            (PoolingAlgorithm::Sum, [14.0, 22.0]),
        ] {
            let d = Pooling2dDescriptor {
                stride_x: 2,
                stride_y: 2,
                ..pooling(algorithm, 2, 2)
            };
            assert_close(
                &pooled(d, counting([1, 2, 4, 1]), [1, 1, 2, 1]),
                &expected,
                0.0,
            );
            let d = Pooling2dDescriptor {
                data_layout: DataLayout::Nchw.0,
                ..d
            };
            assert_close(
                &pooled(d, counting([1, 1, 2, 4]), [1, 1, 1, 2]),
                &expected,
                0.0,
            );
        }
    }

    #[test]
    fn channels_stay_apart() {
        let input = f32s([1, 1, 2, 2], &[1.0, -10.0, 2.0, -20.0]);
        let found = pooled(pooling(PoolingAlgorithm::Max, 2, 1), input, [1, 1, 1, 2]);
        assert_eq!(found, [2.0, -10.0]);
        let d = Pooling2dDescriptor {
            data_layout: DataLayout::Nchw.0,
            ..pooling(PoolingAlgorithm::Max, 2, 1)
        };
        let input = f32s([1, 2, 1, 2], &[1.0, 2.0, -10.0, -20.0]);
        assert_eq!(pooled(d, input, [1, 2, 1, 1]), [2.0, -10.0]);
    }

    #[test]
    fn padding_counts_or_does_not() {
        // One row 3 6 with one element of padding on the left: windows (pad, 3) and (3, 6).
        let d = |padding_method: PaddingMethod, pool_type| Pooling2dDescriptor {
            pad_left: 1,
            padding_method: padding_method.0,
            ..pooling(pool_type, 2, 1)
        };
        let run = |d| pooled(d, f32s([1, 1, 2, 1], &[3.0, 6.0]), [1, 1, 2, 1]);
        let average = PoolingAlgorithm::Average;
        assert_eq!(run(d(PaddingMethod::Exclude, average)), [3.0, 4.5]);
        assert_eq!(run(d(PaddingMethod::IgnoreValue, average)), [1.5, 4.5]);
        let l2 = PoolingAlgorithm::L2;
        let (a, b) = ((9.0f32 / 2.0).sqrt(), (45.0f32 / 2.0).sqrt());
        assert_eq!(run(d(PaddingMethod::Exclude, l2)), [3.0, b]);
        assert_eq!(run(d(PaddingMethod::IgnoreValue, l2)), [a, b]);
    }

    #[test]
    fn padding_counts_in_rows_as_in_columns() {
        // 1 2 and 3 4, with padding above and on the left, in windows of 2 by 2.
        let d = |padding_method: PaddingMethod| Pooling2dDescriptor {
            pad_top: 1,
            pad_left: 1,
            padding_method: padding_method.0,
            ..pooling(PoolingAlgorithm::Average, 2, 2)
        };
        let run = |d| pooled(d, counting([1, 2, 2, 1]), [1, 2, 2, 1]);
        assert_eq!(run(d(PaddingMethod::Exclude)), [1.0, 1.5, 2.0, 2.5]);
        let sums = [1.0, 3.0, 4.0, 10.0];
        assert_eq!(run(d(PaddingMethod::IgnoreValue)), sums.map(|s| s / 4.0));
    }

    #[test]
    fn the_largest_of_negative_numbers_is_not_the_padding() {
        let d = Pooling2dDescriptor {
            pad_left: 1,
            padding_method: PaddingMethod::IgnoreValue.0,
            ..pooling(PoolingAlgorithm::Max, 2, 1)
        };
        let found = pooled(d, f32s([1, 1, 2, 1], &[-3.0, -6.0]), [1, 1, 2, 1]);
        assert_eq!(found, [-3.0, -3.0]);
    }

    #[test]
    fn rounding_up_adds_a_window_that_is_not_whole() {
        // 1 2 3 4 and a padding of 1 after it, in windows of 2 with a stride of 3: (1, 2) and
        // (4, pad). Down: (4 + 1 - 2) / 3 + 1 = 2. With a stride of 2: 1.5 + 1, down 2, up 3: the
        // window (pad, beyond), which has nothing inside, has the value 0.
        let d = |stride_x, rounding: OutputShapeRounding| Pooling2dDescriptor {
            pad_right: 1,
            stride_x,
            padding_method: PaddingMethod::IgnoreValue.0,
            output_shape_rounding: rounding.0,
            ..pooling(PoolingAlgorithm::Average, 2, 1)
        };
        let (down, up) = (OutputShapeRounding::Floor, OutputShapeRounding::Ceiling);
        let run = |d, n| pooled(d, counting([1, 1, 4, 1]), [1, 1, n, 1]);
        assert_eq!(run(d(3, down), 2), [1.5, 2.0]);
        assert_eq!(run(d(2, down), 2), [1.5, 3.5]);
        assert_eq!(run(d(2, up), 3), [1.5, 3.5, 0.0]);
        // 1 2 3 in windows of 2 with a stride of 2, rounded up: (1, 2), (3, beyond). What lies
        // beyond the padding never counts.
        let d = Pooling2dDescriptor {
            pad_right: 0,
            ..d(2, up)
        };
        assert_eq!(pooled(d, counting([1, 1, 3, 1]), [1, 1, 2, 1]), [1.5, 3.0]);
    }

    #[test]
    fn a_dilated_window_leaves_elements_out() {
        // 1 2 3 4 5 with windows (1, 3, 5).
        let d = Pooling2dDescriptor {
            dilation_x: 2,
            ..pooling(PoolingAlgorithm::Average, 3, 1)
        };
        let input = f32s([1, 1, 5, 1], &[1.0, 20.0, 3.0, 40.0, 5.0]);
        assert_eq!(pooled(d, input, [1, 1, 1, 1]), [3.0]);
    }

    #[test]
    fn a_huge_window_takes_no_longer_than_the_input() {
        let d = Pooling2dDescriptor {
            pad_top: u32::MAX - 1,
            pad_left: u32::MAX - 1,
            ..pooling(PoolingAlgorithm::Max, u32::MAX, u32::MAX)
        };
        assert_eq!(pooled(d, counting([1, 1, 1, 1]), [1, 1, 1, 1]), [1.0]);
    }

    #[test]
    fn nan_and_float16_and_empty_tensors() {
        let input = f32s([1, 1, 2, 1], &[f32::NAN, 1.0]);
        let found = pooled(pooling(PoolingAlgorithm::Max, 2, 1), input, [1, 1, 1, 1]);
        assert!(found[0].is_nan());
        let call = Call::new(pooling(PoolingAlgorithm::Average, 2, 1))
            .input(f16s([1, 1, 2, 1], &[1.0, 2.0]))
            .output(DataType::Float16, [1, 1, 1, 1]);
        assert_eq!(call.run().f16s(), [1.5]);
        let empty = f32s([0, 1, 2, 1], &[]);
        assert!(pooled(pooling(PoolingAlgorithm::Max, 2, 1), empty, [0, 1, 1, 1]).is_empty());
    }

    #[test]
    fn an_output_of_another_size_is_an_error() {
        let call = Call::new(pooling(PoolingAlgorithm::Max, 2, 1))
            .input(counting([1, 1, 4, 1]))
            .output(DataType::Float32, [1, 1, 2, 1]);
        assert!(call.error().contains("does not follow"));
    }

    /// 2^-40 is lost in Float32 beside 1.
    #[test]
    fn float64_is_computed_in_itself() {
        let small = (-40f64).exp2();
        for (algorithm, expected) in [
            (PoolingAlgorithm::Max, 1.0 + small),
            (PoolingAlgorithm::Average, 1.0 + small / 2.0),
            (PoolingAlgorithm::Sum, 2.0 + small),
        ] {
            for (layout, from, to) in [
                (DataLayout::Nhwc, [1, 1, 2, 1], [1, 1, 1, 1]),
                (DataLayout::Nchw, [1, 1, 1, 2], [1, 1, 1, 1]),
            ] {
                let mut d = pooling(algorithm, 2, 1);
                d.data_layout = layout.0;
                let call = Call::new(d)
                    .input(typed(DataType::Float64, from, &[1.0, 1.0 + small]))
                    .output(DataType::Float64, to);
                assert_eq!(call.run().elements::<f64>(0), [expected]);
            }
        }
    }
}
