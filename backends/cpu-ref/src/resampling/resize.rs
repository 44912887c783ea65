//! Resize.

mod integer;

use armnn_backend_api::{
    DataLayout, ExecutionContext, LayerView, ResizeDescriptor, ResizeMethod, Result, Synchronous,
    Workload,
};

use crate::{
    numbers::{element_type::by_size, quantized_arithmetic::QUANTIZED, real::Real},
    workloads::{
        copy::element_size,
        element_workload::element_workload,
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            REALS, dims_of_rank, input, invalid, num_elements, output, require_image_layout,
            require_input, require_named, require_one_type, require_room,
            require_same_quantization,
        },
    },
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ResizeDescriptor) -> Result<()> {
    match descriptor.method() {
        ResizeMethod::NearestNeighbor => {
            let data_type = output(layer, 0)?.data_type();
            element_size(data_type)?;
            require_input(layer, 0, &[&[data_type]])?;
        }
        _ => require_one_type(layer, &[REALS, QUANTIZED])?,
    }
    require_same_quantization(layer)?;
    require_image_layout(descriptor.data_layout())?;
    require_named(descriptor.method(), descriptor.method().name())
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
            "batch or channels of input and output differ, or the input has no elements",
        ));
    }
    // An output without elements may have any number of rows and columns, and needs none of them.
    let (out_h, out_w) = match num_elements(layer, output(layer, 0)?)? {
        0 => (0, 0),
        _ => (out_h, out_w),
    };
    require_room(out_h)?;
    require_room(out_w)?;
    let data_type = output(layer, 0)?.data_type();
    let is_bilinear = d.method() == ResizeMethod::Bilinear;
    if data_type.is_quantized() && is_bilinear {
        let sizes = integer::Sizes {
            rows: (in_h, out_h),
            columns: (in_w, out_w),
            channels,
        };
        return integer::bilinear_workload(layer, d, sizes);
    }
    let kernel = Resize {
        rows: sources(d, in_h, out_h),
        columns: sources(d, in_w, out_w),
        image_len: in_h * in_w * channels,
        in_w,
        channels,
    };
    if is_bilinear {
        return real_workload(layer, kernel);
    }
    by_size!(data_type, W => element_workload(layer, integer::Nearest::<W>::new(kernel)))
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
}

impl<F: Real> FloatKernel<F> for Resize {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, ..]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        self.for_each_pixel(input, output, |input, row, column, pixel| {
            self.resize(input, row, column, pixel);
        });
        Ok(())
    }
}

impl Resize {
    fn for_each_pixel<T>(
        &self,
        input: &[T],
        output: &mut [T],
        f: impl Fn(&[T], Source, Source, &mut [T]),
    ) {
        let out_len = self.rows.len() * self.columns.len() * self.channels;
        let images = input.chunks_exact(self.image_len);
        for (input, output) in images.zip(output.chunks_exact_mut(out_len)) {
            let mut pixels = output.chunks_exact_mut(self.channels);
            for &row in &self.rows {
                for (&column, pixel) in self.columns.iter().zip(&mut pixels) {
                    f(input, row, column, pixel);
                }
            }
        }
    }

    fn copy_nearest<T: Copy>(&self, input: &[T], output: &mut [T]) {
        self.for_each_pixel(input, output, |input, row, column, pixel| {
            let at = (row.before * self.in_w + column.before) * self.channels;
            pixel.copy_from_slice(&input[at..][..pixel.len()]);
        });
    }

    fn resize<F: Real>(&self, input: &[F], row: Source, column: Source, pixel: &mut [F]) {
        let at = |y: usize, x: usize| &input[(y * self.in_w + x) * self.channels..][..pixel.len()];
        let top_left = at(row.before, column.before);
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

fn mix<F: Real>(a: F, b: F, weight: f32) -> F {
    let weight = F::from_f64(weight.into());
    a * (F::ONE - weight) + b * weight
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, assert_close, assert_refused, f16s, f32s, typed};

    fn descriptor(method: ResizeMethod, flags: [bool; 2]) -> ResizeDescriptor {
        ResizeDescriptor {
            align_corners: flags[0].into(),
            half_pixel_centers: flags[1].into(),
            ..ResizeDescriptor::new(method, DataLayout::Nhwc)
        }
    }

    const PLAIN: [bool; 2] = [false, false];
    const ALIGNED: [bool; 2] = [true, false];
    const CENTRES: [bool; 2] = [false, true];

    /// One row, resized.
    fn row(d: ResizeDescriptor, values: &[f32], width: i64) -> Vec<f32> {
        let call = Call::new(d)
            .input(f32s([1, 1, values.len() as i64, 1], values))
            .output(DataType::Float32, [1, 1, width, 1]);
        call.run().f32s()
    }

    #[test]
    fn bilinear_positions_follow_the_flags() {
        let run = |flags| row(descriptor(ResizeMethod::Bilinear, flags), &[0.0, 10.0], 4);
        // p / 2: 0, 0.5, 1, 1.5 (clamped to 1).
        assert_eq!(run(PLAIN), [0.0, 5.0, 10.0, 10.0]);
        // p / 3
        assert_close(&run(ALIGNED), &[0.0, 10.0 / 3.0, 20.0 / 3.0, 10.0], 1e-6);
        // (p + 0.5) / 2 - 0.5: -0.25 (clamped to 0), 0.25, 0.75, 1.25 (clamped to 1).
        assert_eq!(run(CENTRES), [0.0, 2.5, 7.5, 10.0]);
        // Both: (p + 0.5) / 3 - 0.5: -1/3, 0, 1/3, 2/3.
        assert_close(
            &run([true, true]),
            &[0.0, 0.0, 10.0 / 3.0, 20.0 / 3.0],
            1e-6,
        );
    }

    #[test]
    fn nearest_positions_follow_the_flags() {
        let run = |flags, values: &[f32], width| {
            row(
                descriptor(ResizeMethod::NearestNeighbor, flags),
                values,
                width,
            )
        };
        // 3 p / 5: 0, 0.6, 1.2, 1.8, 2.4: each element reaches up to the next.
        assert_eq!(run(PLAIN, &[1.0, 2.0, 3.0], 5), [1.0, 1.0, 2.0, 2.0, 3.0]);
        // 2 p / 4: 0, 0.5, 1, 1.5, 2; between two, the upper one.
        assert_eq!(run(ALIGNED, &[1.0, 2.0, 3.0], 5), [1.0, 2.0, 2.0, 3.0, 3.0]);
        // 0.6 (p + 0.5) - 0.5: -0.2, 0.4, 1, 1.6, 2.2.
        assert_eq!(run(CENTRES, &[1.0, 2.0, 3.0], 5), [1.0, 1.0, 2.0, 3.0, 3.0]);
        // 2 (p + 0.5) - 0.5: 0.5, 2.5.
        assert_eq!(run(CENTRES, &[1.0, 2.0, 3.0, 4.0], 2), [2.0, 4.0]);
        // An output of one element has no corners to align: 3 p.
        assert_eq!(run(ALIGNED, &[1.0, 2.0, 3.0], 1), [1.0]);
    }

    #[test]
    fn whole_positions_are_met_exactly() {
        // 49 p / 49 = p, whatever 1 / 49 rounds to.
        let values: Vec<f32> = (0..49).map(|i| i as f32).collect();
        let d = descriptor(ResizeMethod::NearestNeighbor, PLAIN);
        let doubled: Vec<f32> = (0..98).map(|i| (i / 2) as f32).collect();
        assert_eq!(row(d, &values, 49), values);
        assert_eq!(row(d, &values, 98), doubled);
    }

    #[test]
    fn a_size_without_room_in_memory_is_an_error() {
        let d = ResizeDescriptor::new(ResizeMethod::Bilinear, DataLayout::Nhwc);
        let call = Call::new(d)
            .input(f32s([1, 1, 1, 1], &[1.0]))
            .output(DataType::Float32, [1, 1, 1 << 45, 1]);
        assert!(call.error().contains("no memory for a table"));
    }

    #[test]
    fn rows_and_columns_are_interpolated_in_both_layouts() {
        // 0 2      0 1 2 2
        // 4 6  to  2 3 4 4  and so on, for two channels, the second ten times the first.
        let image = [0.0, 2.0, 4.0, 6.0];
        let expected = [0.0, 1.0, 2.0, 2.0, 2.0, 3.0, 4.0, 4.0, 4.0, 5.0, 6.0, 6.0];
        let expected = [&expected[..], &[4.0, 5.0, 6.0, 6.0]].concat();
        let d = descriptor(ResizeMethod::Bilinear, PLAIN);
        let interleaved =
            |v: &[f32]| -> Vec<f32> { v.iter().flat_map(|&x| [x, 10.0 * x]).collect() };
        let planes = |v: &[f32]| [v.to_vec(), v.iter().map(|x| 10.0 * x).collect()].concat();
        let call = Call::new(d)
            .input(f32s([1, 2, 2, 2], &interleaved(&image)))
            .output(DataType::Float32, [1, 4, 4, 2]);
        assert_eq!(call.run().f32s(), interleaved(&expected));
        let call = Call::new(ResizeDescriptor {
            data_layout: DataLayout::Nchw.0,
            ..d
        })
        .input(f32s([1, 2, 2, 2], &planes(&image)))
        .output(DataType::Float32, [1, 2, 4, 4]);
        assert_eq!(call.run().f32s(), planes(&expected));
    }

    #[test]
    fn nearest_elements_are_of_any_type_and_mixed_ones_of_float64() {
        let nearest = descriptor(ResizeMethod::NearestNeighbor, PLAIN);
        let call = Call::new(nearest)
            .input(typed(DataType::Signed64, [1, 1, 2, 1], &[1i64 << 40, 7]))
            .output(DataType::Signed64, [1, 1, 4, 1]);
        let expected = [1 << 40, 1 << 40, 7, 7];
        assert_eq!(call.run().elements::<i64>(0), expected);
        let call = Call::new(descriptor(ResizeMethod::Bilinear, PLAIN))
            .input(typed(DataType::Float64, [1, 1, 2, 1], &[0.1f64, 0.3]))
            .output(DataType::Float64, [1, 1, 4, 1]);
        // Halfway, and beyond the last one.
        assert_eq!(call.run().elements::<f64>(0), [0.1, 0.2, 0.3, 0.3]);
        let mixed = Call::new(descriptor(ResizeMethod::Bilinear, PLAIN))
            .input(typed(DataType::Signed64, [1, 1, 2, 1], &[1i64, 2]))
            .output(DataType::Signed64, [1, 1, 4, 1]);
        assert_refused(&mixed, &["Signed64"]);
    }

    #[test]
    fn float16_and_empty_tensors() {
        let d = descriptor(ResizeMethod::Bilinear, PLAIN);
        let call = Call::new(d)
            .input(f16s([1, 1, 2, 1], &[1.0, 2.0]))
            .output(DataType::Float16, [1, 1, 4, 1]);
        assert_eq!(call.run().f16s(), [1.0, 1.5, 2.0, 2.0]);
        let empty = |out: [i64; 4]| {
            let input = f32s([1, 0, 2, 1], &[]);
            Call::new(d).input(input).output(DataType::Float32, out)
        };
        assert!(empty([1, 0, 4, 1]).run().f32s().is_empty());
        assert!(empty([1, 2, 4, 1]).error().contains("has no elements"));
    }
}
