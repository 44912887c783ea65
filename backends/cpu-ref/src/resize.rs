//! Resize.

use armnn_backend_api::{
    DataLayout, ExecutionContext, LayerView, ResizeDescriptor, ResizeMethod, Result, Synchronous,
    Workload,
};

use crate::{
    float_workload::{FloatKernel, MAX_INPUTS, float_workload},
    layer_checks::{
        FLOATS, dims_of_rank, input, invalid, output, require_image_layout, require_named,
        require_one_type,
    },
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ResizeDescriptor) -> Result<()> {
    require_one_type(layer, FLOATS)?;
    require_image_layout(layer, descriptor.data_layout())?;
    require_named(layer, descriptor.method(), descriptor.method().name())
}

pub(crate) fn workload(layer: LayerView<'_>, d: &ResizeDescriptor) -> Result<Box<dyn Workload>> {
    let [in_n, a, b, c] = dims_of_rank(layer, input(layer, 0)?)?;
    let [out_n, out_a, out_b, out_c] = dims_of_rank(layer, output(layer, 0)?)?;
    // Each channel of NCHW is an image of its own, with one channel.
    let ((images, in_h, in_w, channels), (out_images, out_h, out_w, out_channels)) =
        if d.data_layout() == DataLayout::Nhwc {
            ((in_n, a, b, c), (out_n, out_a, out_b, out_c))
        } else {
            ((in_n * a, b, c, 1), (out_n * out_a, out_b, out_c, 1))
        };
    let has_no_source = in_h * in_w == 0 && out_images * out_h * out_w * out_channels > 0;
    if images != out_images || channels != out_channels || has_no_source {
        return Err(invalid(
            layer,
            "batch or channels of input and output differ, or the input has no elements",
        ));
    }
    let kernel = Resize {
        rows: sources(d, in_h, out_h),
        columns: sources(d, in_w, out_w),
        image_len: in_h * in_w * channels,
        in_w,
        channels,
        is_bilinear: d.method() == ResizeMethod::Bilinear,
    };
    float_workload(layer, kernel)
}

/// From where the elements at one position of an axis come: `before` and `after`, weighted with
/// `1 - weight` and `weight`. `before` alone is the nearest one, if that is what is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Source {
    before: usize,
    after: usize,
    weight: f32,
}

/// The sources of each position of the output along an axis.
fn sources(d: &ResizeDescriptor, input: usize, output: usize) -> Vec<Source> {
    if input == 0 {
        return vec![];
    }
    let (align_corners, half_pixel_centers) = (d.align_corners != 0, d.half_pixel_centers != 0);
    let (from, to) = if align_corners && output > 1 {
        (input - 1, output - 1)
    } else {
        (input, output)
    };
    let last = (input - 1) as f64;
    let source = |position: usize| {
        // Multiplied first, so that whole numbers come out whole.
        let scaled = |p: f64| p * from as f64 / to as f64;
        let at = if half_pixel_centers {
            scaled(position as f64 + 0.5) - 0.5
        } else {
            scaled(position as f64)
        };
        if d.method() == ResizeMethod::NearestNeighbor {
            // Between two, the upper one. Where positions are those of corners, an element
            // reaches up to the next one.
            let nearest = if align_corners || half_pixel_centers {
                (at + 0.5).floor()
            } else {
                at.floor()
            };
            let before = nearest.clamp(0.0, last) as usize;
            return Source {
                before,
                after: before,
                weight: 0.0,
            };
        }
        let at = at.clamp(0.0, last);
        Source {
            before: at as usize,
            after: (at as usize + 1).min(input - 1),
            weight: at.fract() as f32,
        }
    };
    (0..output).map(source).collect()
}

/// Images [H, W, C] to [H', W', C].
struct Resize {
    rows: Vec<Source>,
    columns: Vec<Source>,
    image_len: usize,
    in_w: usize,
    channels: usize,
    is_bilinear: bool,
}

impl FloatKernel for Resize {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [f32],
        [input, ..]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
    ) -> Result<()> {
        let out_len = self.rows.len() * self.columns.len() * self.channels;
        let images = input.chunks_exact(self.image_len);
        for (input, output) in images.zip(output.chunks_exact_mut(out_len)) {
            let mut pixels = output.chunks_exact_mut(self.channels);
            for &row in &self.rows {
                for (&column, pixel) in self.columns.iter().zip(&mut pixels) {
                    self.resize(input, row, column, pixel);
                }
            }
        }
        Ok(())
    }
}

impl Resize {
    fn resize(&self, input: &[f32], row: Source, column: Source, pixel: &mut [f32]) {
        let at = |y: usize, x: usize| &input[(y * self.in_w + x) * self.channels..][..pixel.len()];
        let top_left = at(row.before, column.before);
        if !self.is_bilinear {
            pixel.copy_from_slice(top_left);
            return;
        }
        let top_right = at(row.before, column.after);
        let bottom_left = at(row.after, column.before);
        let bottom_right = at(row.after, column.after);
        for (c, out) in pixel.iter_mut().enumerate() {
            let top = mix(top_left[c], top_right[c], column.weight);
            let bottom = mix(bottom_left[c], bottom_right[c], column.weight);
            *out = mix(top, bottom, row.weight);
        }
    }
}

fn mix(a: f32, b: f32, weight: f32) -> f32 {
    a * (1.0 - weight) + b * weight
}
