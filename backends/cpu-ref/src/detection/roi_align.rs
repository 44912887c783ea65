//! RoiAlign, by ONNX's reference implementation (`onnx/reference/ops/op_roi_align.py`): of each
//! sample the largest mode takes the largest of its four neighbours, each times its weight.

use std::ops::Range;

use armnn_backend_api::{
    BackendError, DataType, LayerView, PoolingAlgorithm, Result, RoiAlignDescriptor, Workload,
};

use crate::{
    movement::gather_nd::outside,
    numbers::{
        element_type::INDICES,
        float_tensors::{Computed, ScratchLen, real_function},
        real::Real,
    },
    workloads::layer_checks::{
        REALS, dims_of_rank, input, invalid, output, refusal, require_input, require_output,
    },
};

pub(crate) fn check(layer: LayerView<'_>, d: &RoiAlignDescriptor) -> Result<()> {
    if !matches!(
        d.pool_type(),
        PoolingAlgorithm::Average | PoolingAlgorithm::Max
    ) {
        return Err(refusal(format_args!(
            "the algorithm is {}; supported: Average, Max",
            d.pool_type()
        )));
    }
    if d.sampling_ratio > MOST_SAMPLES {
        return Err(refusal(format_args!(
            "{} samples along each side of an output element are asked for; supported: at most \
             {MOST_SAMPLES}, or 0, for as many as the region has elements",
            d.sampling_ratio
        )));
    }
    require_output(layer, 0, &[REALS])?;
    let common: &[&[DataType]] = &[&[output(layer, 0)?.data_type()]];
    require_input(layer, 0, common)?;
    require_input(layer, 1, common)?;
    require_input(layer, 2, INDICES)
}

pub(crate) fn workload(layer: LayerView<'_>, d: &RoiAlignDescriptor) -> Result<Box<dyn Workload>> {
    match output(layer, 0)?.data_type() {
        DataType::Float64 => workload_in::<f64>(layer, d),
        _ => workload_in::<f32>(layer, d),
    }
}

fn workload_in<F: Computed>(
    layer: LayerView<'_>,
    d: &RoiAlignDescriptor,
) -> Result<Box<dyn Workload>> {
    let [batches, channels, height, width] = dims_of_rank(layer, input(layer, 0)?)?;
    let [regions, four] = dims_of_rank(layer, input(layer, 1)?)?;
    let [n_batches] = dims_of_rank(layer, input(layer, 2)?)?;
    let to: [usize; 4] = dims_of_rank(layer, output(layer, 0)?)?;
    let (out_h, out_w) = (d.output_height as usize, d.output_width as usize);
    if (four, n_batches, to) != (4, regions, [regions, channels, out_h, out_w]) {
        return Err(invalid(format_args!(
            "{regions} regions do not lead to {to:?}"
        )));
    }
    let d = *d;
    let index_type = input(layer, 2)?.data_type();
    real_function::<F, _>(layer, ScratchLen::default(), move |call, tensors| {
        let [x, regions, ..] = tensors.inputs;
        let batch_indices = call.indices(2, index_type)?;
        let out = &mut *tensors.outputs[0];
        if out.is_empty() {
            return Ok(());
        }
        let pooled = channels * out_h * out_w;
        for (i, (out, region)) in out
            .chunks_exact_mut(pooled)
            .zip(regions.chunks_exact(4))
            .enumerate()
        {
            let batch = batch_indices.get(i);
            let at = usize::try_from(batch).ok().filter(|&b| b < batches);
            let at = at.ok_or_else(|| outside(batch, batches))?;
            let bins = Bins::new(&d, region).ok_or_else(|| too_large(i))?;
            for (channel, out) in out.chunks_exact_mut(out_h * out_w).enumerate() {
                // Of an image without elements, all samples are outside.
                let area = height * width;
                let plane = &x[(at * channels + channel) * area..][..area];
                for (position, out) in out.iter_mut().enumerate() {
                    let bin = (position / out_w, position % out_w);
                    *out = bins.value(&d, bin, plane, height, width);
                }
            }
        }
        Ok(())
    })
}

/// The bins of a region.
struct Bins<F> {
    top: F,
    left: F,
    height: F,
    width: F,
    samples: (usize, usize),
}

/// Samples along each side of a bin at most, where the model says how many: they are not in
/// proportion to anything in the tensors, and models take 2, or a few more.
const MOST_SAMPLES: u32 = 64;

/// Samples along each side of a bin at most, where the size of the region says how many. They are
/// about an element of the image apart, and only those inside of it take time.
const MOST_ADAPTIVE_SAMPLES: u32 = 1 << 20;

#[cold]
fn too_large(region: usize) -> BackendError {
    BackendError::new(format!(
        "region {region} asks for more than {MOST_ADAPTIVE_SAMPLES} samples along a side of an \
         output element"
    ))
}

impl<F: Real> Bins<F> {
    /// `None` if there were too many samples.
    fn new(d: &RoiAlignDescriptor, region: &[F]) -> Option<Self> {
        let offset = F::from_f64(if d.half_pixel == 1 { 0.5 } else { 0.0 });
        let scale = F::from_f64(d.spatial_scale.into());
        let mut scaled = [F::ZERO; 4];
        for (to, &from) in scaled.iter_mut().zip(region) {
            *to = from * scale - offset;
        }
        let [left, top, right, bottom] = scaled;
        let (mut width, mut height) = (right - left, bottom - top);
        if d.half_pixel != 1 {
            (width, height) = (at_least(width, F::ONE), at_least(height, F::ONE));
        }
        let (rows, columns) = (
            F::from_f64(d.output_height.into()),
            F::from_f64(d.output_width.into()),
        );
        let samples = |size: F, count: F| match d.sampling_ratio {
            // None of a region without a size, or one that is no number.
            0 => Some((size / count).ceil().to_f64().max(0.0) as u32)
                .filter(|&n| n <= MOST_ADAPTIVE_SAMPLES),
            ratio => Some(ratio),
        };
        Some(Self {
            top,
            left,
            height: height / rows,
            width: width / columns,
            samples: (
                samples(height, rows)? as usize,
                samples(width, columns)? as usize,
            ),
        })
    }

    fn value(
        &self,
        d: &RoiAlignDescriptor,
        (row, column): (usize, usize),
        plane: &[F],
        height: usize,
        width: usize,
    ) -> F {
        let (along_y, along_x) = self.samples;
        let real = |n: usize| F::from_f64(n as f64);
        let half = F::from_f64(0.5);
        let y_of = |iy: usize| {
            self.top + real(row) * self.height + (real(iy) + half) * self.height / real(along_y)
        };
        let x_of = |ix: usize| {
            self.left + real(column) * self.width + (real(ix) + half) * self.width / real(along_x)
        };
        let rows = inside(along_y, self.height, height, y_of);
        let columns = inside(along_x, self.width, width, x_of);
        let (mut sum, mut largest) = (F::ZERO, None);
        if rows.len() < along_y || columns.len() < along_x {
            // Samples outside are 0.
            largest = Some(F::ZERO);
        }
        for iy in rows {
            let y = y_of(iy);
            for ix in columns.clone() {
                let parts = neighbours(plane, height, width, y, x_of(ix));
                sum += parts.iter().fold(F::ZERO, |sum, &part| sum + part);
                let best = parts.into_iter().fold(F::NEG_INFINITY, at_least);
                largest = Some(largest.map_or(best, |other| at_least(other, best)));
            }
        }
        match d.pool_type() {
            PoolingAlgorithm::Max => largest.unwrap_or(F::ZERO),
            _ => sum / real((along_y * along_x).max(1)),
        }
    }
}

/// Which of `count` samples are at positions inside of an image of this size, or beside it by less
/// than an element. Positions grow with the number of the sample if `step` is positive; where it is
/// not, all count, which are as many as the model says.
fn inside<F: Real>(
    count: usize,
    step: F,
    size: usize,
    position: impl Fn(usize) -> F,
) -> Range<usize> {
    if step.is_nan() || step <= F::ZERO {
        return 0..count;
    }
    let first_that = |holds: &dyn Fn(F) -> bool| {
        let (mut from, mut to) = (0, count);
        while from < to {
            let middle = from + (to - from) / 2;
            match holds(position(middle)) {
                true => to = middle,
                false => from = middle + 1,
            }
        }
        from
    };
    let start = first_that(&|at| at >= -F::ONE);
    start..first_that(&|at| at > F::from_f64(size as f64)).max(start)
}

/// The larger number; that which is one, if one is none.
fn at_least<F: Real>(x: F, least: F) -> F {
    if x > least || least.is_nan() {
        x
    } else {
        least
    }
}

/// The four elements around a position, each times its weight; 0 outside.
fn neighbours<F: Real>(plane: &[F], height: usize, width: usize, y: F, x: F) -> [F; 4] {
    let is_inside =
        |at: F, size: usize| (-F::ONE..=F::from_f64(size as f64)).contains(&at) && size > 0;
    if !is_inside(y, height) || !is_inside(x, width) {
        return [F::ZERO; 4];
    }
    // Below, above and how far from below.
    let between = |at: F, size: usize| {
        let at = at_least(at, F::ZERO);
        let below = at.to_f64() as usize;
        if below >= size - 1 {
            return (size - 1, size - 1, F::ZERO);
        }
        (below, below + 1, at - F::from_f64(below as f64))
    };
    let (top, bottom, from_top) = between(y, height);
    let (left, right, from_left) = between(x, width);
    let at = |y: usize, x: usize| plane[y * width + x];
    [
        (F::ONE - from_top) * (F::ONE - from_left) * at(top, left),
        (F::ONE - from_top) * from_left * at(top, right),
        from_top * (F::ONE - from_left) * at(bottom, left),
        from_top * from_left * at(bottom, right),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{
        Call, assert_close, assert_refused, f16s, f32s, sample_values, typed,
    };

    fn aligned(pool_type: PoolingAlgorithm, half_pixel: u32, sampling_ratio: u32) -> Vec<f32> {
        let d = RoiAlignDescriptor {
            pool_type: pool_type.0,
            half_pixel,
            sampling_ratio,
            ..RoiAlignDescriptor::new(2, 2, 0.75)
        };
        let call = Call::new(d)
            .input(f32s([1, 2, 6, 6], &sample_values(72)))
            .input(f32s([2, 4], &[0.0, 0.0, 4.0, 3.0, 1.5, -1.0, 6.5, 5.0]))
            .input(typed(DataType::Signed64, [2], &[0i64, 0]))
            .output(DataType::Float32, [2, 2, 2, 2]);
        call.run().f32s()
    }

    // What is expected was computed by the reference implementation of ONNX 1.23.

    #[test]
    fn samples_of_a_region_are_averaged() {
        let expected = [
            -0.794609, -0.161255, 0.055038, 0.113823, -0.356888, -0.045776, 0.227753, 0.132294,
            -0.276652, 0.380081, 0.261042, -0.047791, 0.081055, 0.174973, -0.038635, 0.201940,
        ];
        assert_close(&aligned(PoolingAlgorithm::Average, 1, 0), &expected, 2e-6);
        let expected = [
            -0.357117, 0.201416, -0.131958, 0.209198, 0.183319, -0.166260, 0.255920, -0.050903,
            0.082855, 0.069077, 0.349380, -0.021152, -0.097870, 0.392342, -0.003895, 0.247250,
        ];
        assert_close(&aligned(PoolingAlgorithm::Average, 0, 2), &expected, 2e-6);
    }

    #[test]
    fn or_the_largest_is_taken() {
        let expected = [
            0.020142, 0.075195, 0.435791, 0.163422, 0.346680, 0.346680, 0.297363, 0.192047,
            0.083252, 0.736328, 0.655609, 0.238403, 0.502686, 0.821289, 0.227005, 0.337631,
        ];
        assert_close(&aligned(PoolingAlgorithm::Max, 1, 2), &expected, 2e-6);
        let expected = [
            0.069214, 0.296631, 0.562897, 0.337738, 0.348846, 0.178802, 0.377472, 0.255432,
            0.261475, 0.482422, 0.365295, 0.324921, 0.225342, 0.538086, 0.196106, 0.196106,
        ];
        assert_close(&aligned(PoolingAlgorithm::Max, 0, 0), &expected, 2e-6);
    }

    #[test]
    fn all_samples_of_an_image_without_elements_are_outside() {
        for algorithm in [PoolingAlgorithm::Average, PoolingAlgorithm::Max] {
            let d = RoiAlignDescriptor {
                pool_type: algorithm.0,
                ..RoiAlignDescriptor::new(1, 2, 1.0)
            };
            let call = Call::new(d)
                .input(f32s([1, 1, 0, 3], &[]))
                .input(f32s([1, 4], &[0.0, 0.0, 2.0, 2.0]))
                .input(typed(DataType::Signed64, [1], &[0i64]))
                .output(DataType::Float32, [1, 1, 1, 2]);
            assert_eq!(call.run().f32s(), [0.0, 0.0]);
        }
    }

    #[test]
    fn regions_beyond_all_bounds_are_errors() {
        let of = |region: [f32; 4], batch: i64| {
            Call::new(RoiAlignDescriptor::new(1, 1, 1.0))
                .input(f32s([1, 1, 1, 1], &[1.0]))
                .input(f32s([1, 4], &region))
                .input(typed(DataType::Signed64, [1], &[batch]))
                .output(DataType::Float32, [1, 1, 1, 1])
        };
        let wide = of([-1e30, 0.0, 1e30, 1.0], 0);
        assert!(wide.error().contains("region 0 asks for more than 1048576"));
        assert_eq!(of([f32::NAN, 0.0, 1.0, 1.0], 0).run().f32s(), [0.0]);
        assert!(of([0.0; 4], 1).error().contains("index 1 is outside"));
        let d = RoiAlignDescriptor {
            sampling_ratio: 65,
            ..RoiAlignDescriptor::new(1, 1, 1.0)
        };
        let call = Call::new(d)
            .input(f32s([1, 1, 1, 1], &[1.0]))
            .input(f32s([1, 4], &[0.0; 4]))
            .input(typed(DataType::Signed64, [1], &[0i64]))
            .output(DataType::Float32, [1, 1, 1, 1]);
        assert_refused(&call, &["65 samples", "at most 64"]);
    }

    #[test]
    fn samples_outside_of_the_image_count_and_take_no_time() {
        let of = |pool_type: PoolingAlgorithm| {
            let d = RoiAlignDescriptor {
                pool_type: pool_type.0,
                half_pixel: 1,
                ..RoiAlignDescriptor::new(1, 1, 1.0)
            };
            let half = (1 << 19) as f32;
            let call = Call::new(d)
                .input(f32s([1, 1, 1, 1], &[-3.0]))
                // One row, and 2^20 columns around an image of one element.
                .input(f32s([1, 4], &[0.5 - half, 0.5, 0.5 + half, 1.5]))
                .input(typed(DataType::Signed64, [1], &[0i64]))
                .output(DataType::Float32, [1, 1, 1, 1]);
            call.run().f32s()
        };
        // Samples at -0.5 and 0.5 are inside.
        let average = -3.0 * 2.0 / (1 << 20) as f32;
        assert_eq!(of(PoolingAlgorithm::Average), [average]);
        assert_eq!(of(PoolingAlgorithm::Max), [0.0]);
    }

    #[test]
    fn float16_is_widened() {
        // One sample in the middle of four elements.
        let d = RoiAlignDescriptor {
            sampling_ratio: 1,
            ..RoiAlignDescriptor::new(1, 1, 1.0)
        };
        let call = Call::new(d)
            .input(f16s([1, 1, 2, 2], &[1.0, 2.0, 3.0, 5.0]))
            .input(f16s([1, 4], &[0.0, 0.0, 2.0, 2.0]))
            .input(typed(DataType::Signed32, [1], &[0i32]))
            .output(DataType::Float16, [1, 1, 1, 1]);
        assert_eq!(call.run().f16s(), [2.75]);
    }
}
