//! Pooling2d.

use armnn_backend_api::{
    DataLayout, ExecutionContext, LayerView, OutputShapeRounding, PaddingMethod,
    Pooling2dDescriptor, PoolingAlgorithm, Result, Synchronous, Workload,
};

use crate::{
    elementwise_binary::larger,
    float_workload::{FloatKernel, MAX_INPUTS, float_workload},
    layer_checks::{
        FLOATS, dims_of_rank, input, invalid, output, require_image_layout, require_named,
        require_one_type,
    },
    parallel::for_each_chunk,
    sliding_window::SlidingWindow,
};

pub(crate) fn check(layer: LayerView<'_>, d: &Pooling2dDescriptor) -> Result<()> {
    require_one_type(layer, FLOATS)?;
    require_image_layout(layer, d.data_layout())?;
    require_named(layer, d.pool_type(), d.pool_type().name())?;
    require_named(layer, d.padding_method(), d.padding_method().name())?;
    let rounding = d.output_shape_rounding();
    require_named(layer, rounding, rounding.name())
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
        return Err(invalid(
            layer,
            "batch or channels of input and output differ",
        ));
    }
    let may_round_up = d.output_shape_rounding() == OutputShapeRounding::Ceiling;
    let rows = SlidingWindow {
        input: in_h,
        output: out_h,
        taps: d.pool_height as usize,
        stride: d.stride_y as usize,
        dilation: d.dilation_y as usize,
        pad_before: d.pad_top as usize,
        pad_after: d.pad_bottom as usize,
    }
    .check(layer, may_round_up)?;
    let columns = SlidingWindow {
        input: in_w,
        output: out_w,
        taps: d.pool_width as usize,
        stride: d.stride_x as usize,
        dilation: d.dilation_x as usize,
        pad_before: d.pad_left as usize,
        pad_after: d.pad_right as usize,
    }
    .check(layer, may_round_up)?;
    let kernel = Pooling {
        rows,
        columns,
        channels,
        algorithm: d.pool_type(),
        padding_counts: d.padding_method() == PaddingMethod::IgnoreValue,
    };
    float_workload(layer, kernel)
}

/// Images [H, W, C] to [H', W', C].
struct Pooling {
    rows: SlidingWindow,
    columns: SlidingWindow,
    channels: usize,
    algorithm: PoolingAlgorithm,
    padding_counts: bool,
}

impl FloatKernel for Pooling {
    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [f32],
        [input, ..]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
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
    fn pool(&self, input: &[f32], y: usize, x: usize, pixel: &mut [f32]) {
        let inside = self.rows.taps_inside(y) * self.columns.taps_inside(x);
        if inside == 0 {
            // The window covers nothing but padding.
            pixel.fill(0.0);
            return;
        }
        let count = if self.padding_counts {
            self.rows.taps_inside_padded(y) * self.columns.taps_inside_padded(x)
        } else {
            inside
        } as f32;
        match self.algorithm {
            PoolingAlgorithm::Max => self.fold(input, y, x, f32::NEG_INFINITY, pixel, larger),
            PoolingAlgorithm::Average => {
                self.fold(input, y, x, 0.0, pixel, |sum, v| sum + v);
                pixel.iter_mut().for_each(|p| *p /= count);
            }
            // `check` lets nothing else through but L2.
            _ => {
                self.fold(input, y, x, 0.0, pixel, |sum, v| sum + v * v);
                pixel.iter_mut().for_each(|p| *p = (*p / count).sqrt());
            }
        }
    }

    /// Folds the elements of a window into each channel of `pixel`.
    fn fold(
        &self,
        input: &[f32],
        y: usize,
        x: usize,
        start: f32,
        pixel: &mut [f32],
        f: impl Fn(f32, f32) -> f32,
    ) {
        pixel.fill(start);
        for ky in 0..self.rows.taps {
            let Some(in_y) = self.rows.position(y, ky) else {
                continue;
            };
            for kx in 0..self.columns.taps {
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
