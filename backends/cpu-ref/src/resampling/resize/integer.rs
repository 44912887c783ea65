//! Resize of quantized numbers. Bilinear: TensorFlow Lite's reference kernels
//! (`kernels/internal/reference/resize_bilinear.h`), of signed numbers in fixed point with 10 bits
//! behind the point, and of unsigned ones in Float32.

use std::marker::PhantomData;

use armnn_backend_api::{
    DataType, Element, ExecutionContext, LayerView, ResizeDescriptor, Result, Synchronous, Workload,
};

use super::Resize;
use crate::{
    numbers::quantized_arithmetic::{QuantizedElement, by_quantized_type},
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
        layer_checks::output,
    },
};

/// The nearest element, of whatever type.
pub(super) struct Nearest<T> {
    resize: Resize,
    element: PhantomData<fn(T)>,
}

impl<T> Nearest<T> {
    pub(super) fn new(resize: Resize) -> Self {
        let element = PhantomData;
        Self { resize, element }
    }
}

impl<T: Element> Kernel for Nearest<T> {
    type Input = T;
    type Output = T;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[T]; MAX_INPUTS],
        output: &mut [T],
    ) -> Result<()> {
        self.resize.copy_nearest(input, output);
        Ok(())
    }
}

/// Sizes of (input, output).
pub(super) struct Sizes {
    pub(super) rows: (usize, usize),
    pub(super) columns: (usize, usize),
    pub(super) channels: usize,
}

pub(super) fn bilinear_workload(
    layer: LayerView<'_>,
    d: &ResizeDescriptor,
    sizes: Sizes,
) -> Result<Box<dyn Workload>> {
    let data_type = output(layer, 0)?.data_type();
    if data_type == DataType::QAsymmU8 {
        return element_workload(layer, Bilinear::<u8, f32>::new(d, &sizes));
    }
    by_quantized_type!(data_type, Q => {
        element_workload(layer, Bilinear::<Q, i64>::new(d, &sizes))
    })
}

/// What an element is computed in.
trait Weight: Copy + Send + Sync + 'static {
    /// The position of an element of the output, and where the elements before and after it are.
    fn source(d: &ResizeDescriptor, sizes: (usize, usize), at: usize) -> Source<Self>;
    /// Of elements weighted along rows and columns.
    fn mix<Q: QuantizedElement>(rows: Source<Self>, columns: Source<Self>, of: [Q; 4]) -> Q;
}

/// Between two elements, with the weight of the latter.
#[derive(Clone, Copy, Debug)]
struct Source<W> {
    before: usize,
    after: usize,
    weight: W,
}

/// Whether the corners of input and output are to lie on each other, and can.
fn are_corners_aligned(d: &ResizeDescriptor, output: usize) -> bool {
    d.align_corners != 0 && output > 1
}

impl Weight for f32 {
    fn source(d: &ResizeDescriptor, (input, output): (usize, usize), at: usize) -> Source<f32> {
        let scale = if are_corners_aligned(d, output) {
            (input - 1) as f32 / (output - 1) as f32
        } else {
            input as f32 / output as f32
        };
        let position = if d.half_pixel_centers != 0 {
            (at as f32 + 0.5) * scale - 0.5
        } else {
            at as f32 * scale
        };
        let before = position.floor().max(0.0);
        Source {
            before: (before as usize).min(input - 1),
            after: (position.ceil() as usize).min(input - 1),
            weight: position - before,
        }
    }

    fn mix<Q: QuantizedElement>(rows: Source<f32>, columns: Source<f32>, of: [Q; 4]) -> Q {
        let [a, b, c, d] = of.map(|x| x.to_i32() as f32);
        let (y, x) = (rows.weight, columns.weight);
        let sum = a * (1.0 - y) * (1.0 - x) + c * y * (1.0 - x) + b * (1.0 - y) * x + d * y * x;
        Q::saturating_f32(sum + 0.5)
    }
}

/// Bits behind the point.
const BITS: u32 = 10;

impl Weight for i64 {
    fn source(d: &ResizeDescriptor, (input, output): (usize, usize), at: usize) -> Source<i64> {
        let (from, to) = if are_corners_aligned(d, output) {
            (input as i64 - 1, output as i64 - 1)
        } else {
            (input as i64, output as i64)
        };
        let scale = (from.saturating_mul(1 << BITS).saturating_add(to / 2)) / to;
        let at = (at as i64).saturating_mul(scale);
        let position = if d.half_pixel_centers != 0 {
            at + scale / 2 - (1 << (BITS - 1))
        } else {
            at
        };
        let last = input as i64 - 1;
        let before = (position / (1 << BITS)).clamp(0, last);
        let after = ((position + (1 << BITS) - 1) / (1 << BITS)).clamp(0, last);
        Source {
            before: before as usize,
            after: after as usize,
            weight: position - (before << BITS),
        }
    }

    fn mix<Q: QuantizedElement>(rows: Source<i64>, columns: Source<i64>, of: [Q; 4]) -> Q {
        let [a, b, c, d] = of.map(|x| i64::from(x.to_i32()));
        let (y, x) = (rows.weight, columns.weight);
        let one = 1 << BITS;
        let sum = (a * (one - x) + b * x) * (one - y) + (c * (one - x) + d * x) * y;
        let half = 1 << (2 * BITS - 1);
        let rounded = (if sum > 0 { sum + half } else { sum - half }) / (1 << (2 * BITS));
        Q::saturating(rounded as i32)
    }
}

struct Bilinear<Q, W> {
    rows: Vec<Source<W>>,
    columns: Vec<Source<W>>,
    image_len: usize,
    in_w: usize,
    channels: usize,
    element: PhantomData<fn(Q)>,
}

impl<Q, W: Weight> Bilinear<Q, W> {
    fn new(d: &ResizeDescriptor, sizes: &Sizes) -> Self {
        let sources = |(input, output): (usize, usize)| -> Vec<Source<W>> {
            let outputs = if input == 0 { 0 } else { output };
            (0..outputs)
                .map(|at| W::source(d, (input, output), at))
                .collect()
        };
        Self {
            rows: sources(sizes.rows),
            columns: sources(sizes.columns),
            image_len: sizes.rows.0 * sizes.columns.0 * sizes.channels,
            in_w: sizes.columns.0,
            channels: sizes.channels,
            element: PhantomData,
        }
    }
}

impl<Q: QuantizedElement, W: Weight> Kernel for Bilinear<Q, W> {
    type Input = Q;
    type Output = Q;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[Q]; MAX_INPUTS],
        output: &mut [Q],
    ) -> Result<()> {
        let out_len = self.rows.len() * self.columns.len() * self.channels;
        let images = input.chunks_exact(self.image_len);
        for (input, output) in images.zip(output.chunks_exact_mut(out_len)) {
            let mut pixels = output.chunks_exact_mut(self.channels);
            for &row in &self.rows {
                for (&column, pixel) in self.columns.iter().zip(&mut pixels) {
                    let at = |y: usize, x: usize| {
                        &input[(y * self.in_w + x) * self.channels..][..self.channels]
                    };
                    let corners = [
                        at(row.before, column.before),
                        at(row.before, column.after),
                        at(row.after, column.before),
                        at(row.after, column.after),
                    ];
                    for (c, out) in pixel.iter_mut().enumerate() {
                        *out = W::mix(row, column, corners.map(|corner| corner[c]));
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataLayout, Quantization, ResizeMethod, TensorInfo};

    use super::*;
    use crate::test_harness::{Call, assert_refused, typed};

    fn row<T: Element>(
        (method, flags): (ResizeMethod, [u8; 2]),
        data_type: DataType,
        values: &[T],
        width: i64,
    ) -> Vec<T> {
        let d = ResizeDescriptor {
            align_corners: flags[0],
            half_pixel_centers: flags[1],
            ..ResizeDescriptor::new(method, DataLayout::Nhwc)
        };
        let scaled = || Quantization::per_tensor(0.5, 0);
        let output = TensorInfo::new(data_type, [1, 1, width, 1]).quantized(scaled());
        let call = Call::new(d)
            .input(typed(data_type, [1, 1, values.len() as i64, 1], values).quantized(scaled()))
            .output_info(output);
        call.run().elements(0)
    }

    #[test]
    fn numbers_between_two_are_interpolated_and_rounded() {
        let bilinear = |flags| (ResizeMethod::Bilinear, flags);
        // p / 2 of 0, 11: 0, 5.5, 11, 11; ties go away from zero.
        assert_eq!(
            row(bilinear([0, 0]), DataType::QAsymmS8, &[0i8, 11], 4),
            [0, 6, 11, 11]
        );
        assert_eq!(
            row(bilinear([0, 0]), DataType::QAsymmS8, &[0i8, -11], 4),
            [0, -6, -11, -11]
        );
        assert_eq!(
            row(bilinear([0, 0]), DataType::QAsymmU8, &[0u8, 11], 4),
            [0, 6, 11, 11]
        );
        assert_eq!(
            row(bilinear([1, 0]), DataType::QSymmS16, &[0i16, 300], 4),
            [0, 100, 200, 300]
        );
        // Centres: 0, a quarter, three quarters, all.
        assert_eq!(
            row(bilinear([0, 1]), DataType::QAsymmS8, &[0i8, 100], 4),
            [0, 25, 75, 100]
        );
        assert_eq!(
            row(bilinear([0, 1]), DataType::QAsymmU8, &[0u8, 100], 4),
            [0, 25, 75, 100]
        );
    }

    #[test]
    fn the_nearest_number_is_copied() {
        let nearest = (ResizeMethod::NearestNeighbor, [0, 0]);
        assert_eq!(
            row(nearest, DataType::QAsymmS8, &[-1i8, 2], 4),
            [-1, -1, 2, 2]
        );
        assert_eq!(
            row(nearest, DataType::QSymmS16, &[-1i16, 2], 4),
            [-1, -1, 2, 2]
        );
    }

    #[test]
    fn another_scale_is_refused() {
        let d = ResizeDescriptor::new(ResizeMethod::Bilinear, DataLayout::Nhwc);
        let scaled = |scale| Quantization::per_tensor(scale, 0);
        let call = Call::new(d)
            .input(typed(DataType::QAsymmS8, [1, 1, 1, 1], &[0i8]).quantized(scaled(1.0)))
            .output_info(TensorInfo::new(DataType::QAsymmS8, [1, 1, 1, 1]).quantized(scaled(2.0)));
        assert_refused(&call, &["differ in scale or zero point"]);
    }
}
