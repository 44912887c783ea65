//! Pooling2d of quantized numbers: TensorFlow Lite's reference kernels
//! (`kernels/internal/reference/integer_ops/pooling.h`). A mean is rounded to nearest, ties away
//! from zero; a root is computed in Float32. Padding that counts is the zero point. Where input and
//! output have different scales, results are rescaled in Float32.

use std::marker::PhantomData;

use armnn_backend_api::{
    ExecutionContext, LayerView, PoolingAlgorithm, Result, Synchronous, Workload,
};

use super::Pooling;
use crate::{
    numbers::quantized_arithmetic::{Affine, QuantizedElement, by_quantized_type},
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
        layer_checks::{input, invalid, output},
        parallel::for_each_chunk,
    },
};

/// Refuses tensors without exactly one scale.
pub(super) fn check(layer: LayerView<'_>) -> Result<()> {
    Affine::of(input(layer, 0)?, "input")?;
    Affine::of(output(layer, 0)?, "output").map(|_| ())
}

pub(super) fn workload(layer: LayerView<'_>, pooling: Pooling) -> Result<Box<dyn Workload>> {
    let from = Affine::of(input(layer, 0)?, "input")?;
    let to = Affine::of(output(layer, 0)?, "output")?;
    let taps = pooling.rows.taps.saturating_mul(pooling.columns.taps);
    if pooling.padding_counts && i32::try_from(taps).is_err() {
        return Err(invalid(
            "padding that counts, in windows of 2^31 elements or more of a quantized type",
        ));
    }
    by_quantized_type!(output(layer, 0)?.data_type(), Q => {
        element_workload(layer, QuantizedPooling::<Q> {
            pooling,
            from,
            to,
            element: PhantomData,
        })
    })
}

struct QuantizedPooling<Q> {
    pooling: Pooling,
    from: Affine,
    to: Affine,
    element: PhantomData<fn(Q)>,
}

/// Channels reduced at once.
const LANES: usize = 16;

impl<Q: QuantizedElement> Kernel for QuantizedPooling<Q> {
    type Input = Q;
    type Output = Q;

    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[Q]; MAX_INPUTS],
        output: &mut [Q],
    ) -> Result<()> {
        let Pooling {
            rows,
            columns,
            channels,
            ..
        } = &self.pooling;
        let image_len = rows.input * columns.input * channels;
        let row_len = columns.output * channels;
        let window = rows.taps.saturating_mul(columns.taps);
        let work = output.len().saturating_mul(window);
        for_each_chunk(context, output, row_len, work, |index, row| {
            let (image, y) = (index / rows.output, index % rows.output);
            let input = &input[image * image_len..][..image_len];
            for (x, pixel) in row.chunks_exact_mut(*channels).enumerate() {
                for (block, part) in pixel.chunks_mut(LANES).enumerate() {
                    self.pool(input, (y, x), block * LANES, part);
                }
            }
        })
    }
}

impl<Q: QuantizedElement> QuantizedPooling<Q> {
    /// Channels from `first` on of one pixel.
    fn pool(&self, input: &[Q], (y, x): (usize, usize), first: usize, part: &mut [Q]) {
        let Pooling {
            rows,
            columns,
            padding_counts,
            ..
        } = &self.pooling;
        let inside = rows.taps_inside(y).len() * columns.taps_inside(x).len();
        if inside == 0 {
            // The window covers nothing but padding.
            part.fill(Q::saturating(self.to.zero_point));
            return;
        }
        let count = if *padding_counts {
            rows.taps_inside_padded(y) * columns.taps_inside_padded(x)
        } else {
            inside
        };
        let zero_point = i64::from(self.from.zero_point);
        let padding = (count - inside) as i64 * zero_point;
        let count = count as i64;
        match self.pooling.algorithm {
            PoolingAlgorithm::Max => {
                self.fold(
                    input,
                    (y, x),
                    first,
                    Q::MIN.into(),
                    part,
                    i64::max,
                    |number| self.rescaled(number as i32),
                );
            }
            PoolingAlgorithm::Average => {
                let sum = |sum: i64, number| sum + number;
                self.fold(input, (y, x), first, padding, part, sum, |sum| {
                    let half = if sum > 0 { count / 2 } else { -(count / 2) };
                    self.rescaled(((sum + half) / count) as i32)
                });
            }
            // `check` lets nothing else through but L2.
            _ => {
                let squares = |sum: i64, number: i64| sum + (number - zero_point).pow(2);
                self.fold(input, (y, x), first, 0, part, squares, |sum| {
                    let mean = sum as f32 / count as f32;
                    self.to.quantize(self.from.scale * mean.sqrt())
                });
            }
        }
    }

    /// A number of the input as one of the output.
    fn rescaled(&self, number: i32) -> Q {
        if self.from == self.to {
            Q::saturating(number)
        } else {
            self.to.quantize(self.from.dequantize(number))
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn fold(
        &self,
        input: &[Q],
        (y, x): (usize, usize),
        first: usize,
        start: i64,
        part: &mut [Q],
        f: impl Fn(i64, i64) -> i64,
        finish: impl Fn(i64) -> Q,
    ) {
        let Pooling {
            rows,
            columns,
            channels,
            ..
        } = &self.pooling;
        let mut values = [start; LANES];
        for ky in rows.taps_inside(y) {
            let Some(in_y) = rows.position(y, ky) else {
                continue;
            };
            for kx in columns.taps_inside(x) {
                let Some(in_x) = columns.position(x, kx) else {
                    continue;
                };
                let at = (in_y * columns.input + in_x) * channels + first;
                let from = &input[at..][..part.len()];
                for (value, number) in values.iter_mut().zip(from) {
                    *value = f(*value, number.to_i32().into());
                }
            }
        }
        for (out, value) in part.iter_mut().zip(values) {
            *out = finish(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        DataLayout, DataType, PaddingMethod, Pooling2dDescriptor, Quantization, TensorInfo,
    };

    use super::*;
    use crate::test_harness::{Call, typed};

    fn pooled(d: Pooling2dDescriptor, values: &[i8], to: (f32, i32), width: i64) -> Vec<i8> {
        let output = TensorInfo::new(DataType::QAsymmS8, [1, 1, width, 1])
            .quantized(Quantization::per_tensor(to.0, to.1));
        let input = typed(DataType::QAsymmS8, [1, 1, values.len() as i64, 1], values);
        let call = Call::new(d)
            .input(input.quantized(Quantization::per_tensor(0.5, 3)))
            .output_info(output);
        call.run().elements(0)
    }

    #[test]
    fn padding_beyond_what_sums_hold_is_an_error() {
        let size = 1 << 16;
        let mut d =
            Pooling2dDescriptor::new(PoolingAlgorithm::Average, size, size, DataLayout::Nhwc);
        (d.pad_left, d.pad_top) = (size - 2, size - 1);
        d.padding_method = PaddingMethod::IgnoreValue.0;
        let quantization = || Quantization::per_tensor(0.5, 3);
        let output = TensorInfo::new(DataType::QAsymmS8, [1; 4]).quantized(quantization());
        let input = typed(DataType::QAsymmS8, [1, 1, 2, 1], &[1i8, 2]).quantized(quantization());
        let call = Call::new(d).input(input).output_info(output);
        assert!(call.error().contains("2^31"));
    }

    #[test]
    fn means_round_away_from_zero_and_maxima_stay() {
        let d = |algorithm| Pooling2dDescriptor::new(algorithm, 2, 1, DataLayout::Nhwc);
        let values = [1, 4, -4, -5];
        // 2.5, 0, -4.5
        let found = pooled(d(PoolingAlgorithm::Average), &values, (0.5, 3), 3);
        assert_eq!(found, [3, 0, -5]);
        assert_eq!(
            pooled(d(PoolingAlgorithm::Max), &values, (0.5, 3), 3),
            [4, 4, -4]
        );
        // Twice the scale: (4 - 3) / 2 + 1 = 1.5, which rounds up.
        assert_eq!(
            pooled(d(PoolingAlgorithm::Max), &values, (1.0, 1), 3),
            [2, 2, -3]
        );
        // (-2, 1), (1, -7), (-7, -8): roots of 2.5, 25 and 56.5.
        assert_eq!(
            pooled(d(PoolingAlgorithm::L2), &values, (0.5, 3), 3),
            [5, 8, 11]
        );
    }

    #[test]
    fn padding_that_counts_is_the_zero_point() {
        let d = |padding_method: PaddingMethod| Pooling2dDescriptor {
            pad_left: 1,
            padding_method: padding_method.0,
            ..Pooling2dDescriptor::new(PoolingAlgorithm::Average, 2, 1, DataLayout::Nhwc)
        };
        // (3, 9) and (9, 11), or 9 alone.
        assert_eq!(
            pooled(d(PaddingMethod::IgnoreValue), &[9, 11], (0.5, 3), 2),
            [6, 10]
        );
        assert_eq!(
            pooled(d(PaddingMethod::Exclude), &[9, 11], (0.5, 3), 2),
            [9, 10]
        );
    }
}
