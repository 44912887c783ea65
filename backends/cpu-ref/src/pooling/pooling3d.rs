//! Pooling3d.

use armnn_backend_api::{
    DataLayout, DataType, ExecutionContext, LayerView, OutputShapeRounding, PaddingMethod,
    Pooling3dDescriptor, PoolingAlgorithm, Result, Synchronous, Workload,
};

use crate::{
    elementwise::elementwise_binary::larger,
    loops::sliding_window::SlidingWindow,
    numbers::real::Real,
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            REALS, dims_of_rank, input, invalid, output, refusal, require_named, require_one_type,
            require_real_numbers,
        },
        parallel::for_each_chunk,
    },
};

pub(crate) fn check(layer: LayerView<'_>, d: &Pooling3dDescriptor) -> Result<()> {
    match output(layer, 0)?.data_type() {
        DataType::Float64 => require_one_type(layer, &[REALS])?,
        _ => require_real_numbers(layer)?,
    }
    if !matches!(d.data_layout(), DataLayout::Ndhwc | DataLayout::Ncdhw) {
        return Err(refusal(format_args!(
            "the layout is {}; supported: Ndhwc, Ncdhw",
            d.data_layout()
        )));
    }
    require_named(d.pool_type(), d.pool_type().name())?;
    require_named(d.padding_method(), d.padding_method().name())?;
    let rounding = d.output_shape_rounding();
    require_named(rounding, rounding.name())
}

pub(crate) fn workload(layer: LayerView<'_>, d: &Pooling3dDescriptor) -> Result<Box<dyn Workload>> {
    let from: [usize; 5] = dims_of_rank(layer, input(layer, 0)?)?;
    let to: [usize; 5] = dims_of_rank(layer, output(layer, 0)?)?;
    // Each channel of NCDHW is a volume of its own, with one channel.
    let split = |[n, a, b, c, e]: [usize; 5]| match d.data_layout() {
        DataLayout::Ndhwc => (n, [a, b, c], e),
        _ => (n * a, [b, c, e], 1),
    };
    let (volumes, inputs, channels) = split(from);
    let (out_volumes, outputs, out_channels) = split(to);
    if (volumes, channels) != (out_volumes, out_channels) {
        return Err(invalid("batch or channels of input and output differ"));
    }
    let may_round_up = d.output_shape_rounding() == OutputShapeRounding::Ceiling;
    let window = |i: usize, [taps, stride, dilation, before, after]: [u32; 5]| {
        SlidingWindow {
            input: inputs[i],
            output: outputs[i],
            taps: taps as usize,
            stride: stride as usize,
            dilation: dilation as usize,
            pad_before: before as usize,
            pad_after: after as usize,
        }
        .check(may_round_up)
    };
    let windows = [
        window(
            0,
            [
                d.pool_depth,
                d.stride_z,
                d.dilation_z,
                d.pad_front,
                d.pad_back,
            ],
        )?,
        window(
            1,
            [
                d.pool_height,
                d.stride_y,
                d.dilation_y,
                d.pad_top,
                d.pad_bottom,
            ],
        )?,
        window(
            2,
            [
                d.pool_width,
                d.stride_x,
                d.dilation_x,
                d.pad_left,
                d.pad_right,
            ],
        )?,
    ];
    let kernel = Pooling {
        windows,
        channels,
        algorithm: d.pool_type(),
        padding_counts: d.padding_method() == PaddingMethod::IgnoreValue,
    };
    real_workload(layer, kernel)
}

/// Volumes [D, H, W, C] to [D', H', W', C].
struct Pooling {
    windows: [SlidingWindow; 3],
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
        let [planes, rows, columns] = &self.windows;
        let volume_len = planes.input * rows.input * columns.input * self.channels;
        let row_len = columns.output * self.channels;
        let window = planes
            .taps
            .saturating_mul(rows.taps.saturating_mul(columns.taps));
        let work = output.len().saturating_mul(window);
        for_each_chunk(context, output, row_len, work, |index, row| {
            let (y, above) = (index % rows.output, index / rows.output);
            let (z, volume) = (above % planes.output, above / planes.output);
            let input = &input[volume * volume_len..][..volume_len];
            for (x, voxel) in row.chunks_exact_mut(self.channels).enumerate() {
                self.pool(input, [z, y, x], voxel);
            }
        })
    }
}

impl Pooling {
    fn pool<F: Real>(&self, input: &[F], position: [usize; 3], voxel: &mut [F]) {
        // With padding, there may be more than an integer counts.
        let product = |f: fn(&SlidingWindow, usize) -> usize| -> f64 {
            let along = self.windows.iter().zip(position);
            along.map(|(window, at)| f(window, at) as f64).product()
        };
        let inside = product(|window, at| window.taps_inside(at).len());
        if inside == 0.0 {
            // The window covers nothing but padding.
            voxel.fill(F::ZERO);
            return;
        }
        let count = match self.padding_counts {
            true => product(SlidingWindow::taps_inside_padded),
            false => inside,
        };
        let count = F::from_f64(count);
        match self.algorithm {
            PoolingAlgorithm::Max => self.fold(input, position, F::NEG_INFINITY, voxel, larger),
            PoolingAlgorithm::Average => {
                self.fold(input, position, F::ZERO, voxel, |sum, v| sum + v);
                voxel.iter_mut().for_each(|p| *p /= count);
            }
            PoolingAlgorithm::Sum => self.fold(input, position, F::ZERO, voxel, |sum, v| sum + v),
            // `check` lets nothing else through but L2.
            _ => {
                self.fold(input, position, F::ZERO, voxel, |sum, v| sum + v * v);
                voxel.iter_mut().for_each(|p| *p = (*p / count).sqrt());
            }
        }
    }

    /// Folds the elements of a window into each channel of `voxel`.
    fn fold<F: Real>(
        &self,
        input: &[F],
        [z, y, x]: [usize; 3],
        start: F,
        voxel: &mut [F],
        f: impl Fn(F, F) -> F,
    ) {
        voxel.fill(start);
        let [planes, rows, columns] = &self.windows;
        let inside = |window: &SlidingWindow, at: usize| {
            let window = *window;
            window
                .taps_inside(at)
                .filter_map(move |tap| window.position(at, tap))
        };
        for in_z in inside(planes, z) {
            for in_y in inside(rows, y) {
                for in_x in inside(columns, x) {
                    let at = (in_z * rows.input + in_y) * columns.input + in_x;
                    let from = &input[at * self.channels..][..self.channels];
                    voxel.iter_mut().zip(from).for_each(|(p, &v)| *p = f(*p, v));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, assert_close, f32s, typed};

    #[test]
    fn windows_over_planes_are_reduced_in_both_layouts() {
        // A cube of 1 to 8, padded by one in front of its planes.
        let values: Vec<f32> = (1..=8).map(|i| i as f32).collect();
        let squares =
            |range: std::ops::RangeInclusive<i32>| range.map(|i| (i * i) as f32).sum::<f32>();
        for (algorithm, padding, expected) in [
            (PoolingAlgorithm::Max, PaddingMethod::Exclude, [4.0, 8.0]),
            (
                PoolingAlgorithm::Average,
                PaddingMethod::Exclude,
                [2.5, 4.5],
            ),
            (
                PoolingAlgorithm::Average,
                PaddingMethod::IgnoreValue,
                [1.25, 4.5],
            ),
            (PoolingAlgorithm::Sum, PaddingMethod::Exclude, [10.0, 36.0]),
            (
                PoolingAlgorithm::L2,
                PaddingMethod::Exclude,
                [(squares(1..=4) / 4.0).sqrt(), (squares(1..=8) / 8.0).sqrt()],
            ),
        ] {
            let mut d = Pooling3dDescriptor::new(algorithm, [2, 2, 2], DataLayout::Ndhwc);
            (d.pad_front, d.padding_method) = (1, padding.0);
            for (layout, from, to) in [
                (DataLayout::Ndhwc, [1, 2, 2, 2, 1], [1, 2, 1, 1, 1]),
                (DataLayout::Ncdhw, [1, 1, 2, 2, 2], [1, 1, 2, 1, 1]),
            ] {
                d.data_layout = layout.0;
                let call = Call::new(d)
                    .input(f32s(from, &values))
                    .output(DataType::Float32, to);
                assert_close(&call.run().f32s(), &expected, 1e-6);
            }
        }
    }

    /// 2^90 voxels, of which all but 8 are padding.
    #[test]
    fn padding_counts_beyond_what_an_integer_holds() {
        let size = 1 << 30;
        let average = PoolingAlgorithm::Average;
        let mut d = Pooling3dDescriptor::new(average, [size; 3], DataLayout::Ncdhw);
        [d.pad_front, d.pad_top, d.pad_left] = [size - 2; 3];
        d.padding_method = PaddingMethod::IgnoreValue.0;
        let input = f32s([1, 1, 2, 2, 2], &[90f32.exp2(); 8]);
        let call = Call::new(d).input(input);
        let found = call.output(DataType::Float32, [1; 5]).run().f32s();
        assert_eq!(found, [8.0]);
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
            let d = Pooling3dDescriptor::new(algorithm, [2, 1, 1], DataLayout::Ncdhw);
            let call = Call::new(d)
                .input(typed(
                    DataType::Float64,
                    [1, 1, 2, 1, 1],
                    &[1.0, 1.0 + small],
                ))
                .output(DataType::Float64, [1, 1, 1, 1, 1]);
            assert_eq!(call.run().elements::<f64>(0), [expected]);
        }
    }
}
