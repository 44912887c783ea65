//! GridSample, as ONNX Runtime and PyTorch compute it. ONNX's reference implementation differs for
//! cubic interpolation with the border repeated: it moves the position into the input first.

use armnn_backend_api::{
    ExecutionContext, GridPadding, GridSampleDescriptor, InterpolationMethod, LayerView, Result,
    Synchronous, Workload,
};

use crate::{
    numbers::real::Real,
    resampling::interpolate::cubic,
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            REALS, dims, input, invalid, output, refusal, require_named, require_one_type,
        },
    },
};

pub(crate) fn check(layer: LayerView<'_>, d: &GridSampleDescriptor) -> Result<()> {
    require_named(d.method(), d.method().name())?;
    require_named(d.padding(), d.padding().name())?;
    if d.method() == InterpolationMethod::Cubic && input(layer, 0)?.shape().rank() != 4 {
        return Err(refusal(
            "cubic interpolation is supported for four dimensions only",
        ));
    }
    require_one_type(layer, &[REALS])
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &GridSampleDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let grid = dims(layer, input(layer, 1)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let rank = from.len();
    let fits = (4..=5).contains(&rank)
        && grid.len() == rank
        && to.len() == rank
        && grid[rank - 1] == rank - 2
        && [&[from[0], from[1]], &grid[1..rank - 1]].concat() == to
        && from[0] == grid[0];
    // An image is a volume of one plane, in whose middle all positions are.
    let volume = |dims: &[usize]| match dims.len() {
        2 => [1, dims[0], dims[1]],
        _ => [dims[0], dims[1], dims[2]],
    };
    if !fits || (from[2..].contains(&0) && !to.contains(&0)) {
        return Err(invalid(format_args!(
            "a grid of shape {grid:?} does not lead from {from:?} to {to:?}"
        )));
    }
    let kernel = GridSample {
        d: *d,
        channels: from[1],
        sizes: volume(&from[2..]),
        n_positions: to[2..].iter().product(),
        n_coordinates: rank - 2,
    };
    real_workload(layer, kernel)
}

struct GridSample {
    d: GridSampleDescriptor,
    channels: usize,
    /// Planes, rows and columns.
    sizes: [usize; 3],
    n_positions: usize,
    n_coordinates: usize,
}

impl<F: Real> FloatKernel<F> for GridSample {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, grid, _]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let volume_len: usize = self.sizes.iter().product();
        let n = self.n_positions;
        for (batch, out) in output.chunks_exact_mut(self.channels * n).enumerate() {
            let volumes = &input[batch * self.channels * volume_len..];
            let grid = &grid[batch * n * self.n_coordinates..];
            let positions = grid.chunks_exact(self.n_coordinates).take(n);
            for (i, position) in positions.enumerate() {
                // The same of all channels.
                let taps = self.taps_of(position);
                for channel in 0..self.channels {
                    let volume = &volumes[channel * volume_len..][..volume_len];
                    out[channel * n + i] = self.sample(volume, &taps);
                }
            }
        }
        Ok(())
    }
}

/// Elements along one dimension, with their weights; those of index `None` are 0.
#[derive(Clone, Copy)]
struct Taps<F>([(Option<usize>, F); 4]);

impl<F: Real> Taps<F> {
    const NONE: Self = Self([(None, F::ZERO); 4]);
}

impl GridSample {
    /// Along planes, rows and columns.
    fn taps_of<F: Real>(&self, position: &[F]) -> [Taps<F>; 3] {
        let mut taps = [Taps::NONE; 3];
        taps.iter_mut()
            .for_each(|taps| taps.0[0] = (Some(0), F::ONE));
        // Coordinates come innermost dimension first.
        for (axis, &coordinate) in (0..3).rev().zip(position) {
            taps[axis] = self.taps(coordinate, self.sizes[axis]);
        }
        taps
    }

    fn sample<F: Real>(&self, volume: &[F], taps: &[Taps<F>; 3]) -> F {
        let [_, rows, columns] = self.sizes;
        let mut sum = F::ZERO;
        for (z, weight_z) in taps[0].0 {
            for (y, weight_y) in taps[1].0 {
                for (x, weight_x) in taps[2].0 {
                    if let (Some(z), Some(y), Some(x)) = (z, y, x) {
                        let weight = weight_z * weight_y * weight_x;
                        if weight != F::ZERO {
                            sum += weight * volume[(z * rows + y) * columns + x];
                        }
                    }
                }
            }
        }
        sum
    }

    fn taps<F: Real>(&self, coordinate: F, size: usize) -> Taps<F> {
        let [half, one, two] = [0.5, 1.0, 2.0].map(F::from_f64);
        let real_size = F::from_f64(size as f64);
        let last = real_size - one;
        let (border, mut x) = match self.d.align_corners {
            1 => ([F::ZERO, last], (coordinate + one) / two * last),
            _ => (
                [-half, last + half],
                ((coordinate + one) * real_size - one) / two,
            ),
        };
        let method = self.d.method();
        if method == InterpolationMethod::Nearest {
            x = x.round_ties_even();
        }
        if x < border[0] || x > border[1] {
            match self.d.padding() {
                GridPadding::Border if method != InterpolationMethod::Cubic => {
                    x = clamped(x, last);
                }
                GridPadding::Reflection => x = reflected(x, border),
                _ => {}
            }
        }
        let mut taps = Taps::NONE;
        let below = x.floor();
        let ratio = x - below;
        match method {
            InterpolationMethod::Nearest => taps.0[0] = (self.index(x, size, border), one),
            InterpolationMethod::Cubic => {
                for (k, tap) in taps.0.iter_mut().enumerate() {
                    let offset = F::from_f64(k as f64) - one;
                    let weight = cubic((offset - ratio).abs(), F::from_f64(-0.75));
                    *tap = (self.index(below + offset, size, border), weight);
                }
            }
            _ => {
                taps.0[0] = (self.index(below, size, border), one - ratio);
                taps.0[1] = (self.index(below + one, size, border), ratio);
            }
        }
        taps
    }

    /// The element at a whole position, which may be outside.
    fn index<F: Real>(&self, x: F, size: usize, border: [F; 2]) -> Option<usize> {
        if size == 0 || x.is_nan() {
            return None;
        }
        let last = F::from_f64(size as f64) - F::ONE;
        let inside = (F::ZERO..=last).contains(&x);
        match self.d.padding() {
            _ if inside => Some(x.to_f64() as usize),
            GridPadding::Border => Some(clamped(x, last).to_f64() as usize),
            GridPadding::Reflection => Some((reflected(x, border).to_f64() as usize).min(size - 1)),
            _ => None,
        }
    }
}

/// Within the dimension; NaN stays.
fn clamped<F: Real>(x: F, last: F) -> F {
    if x < F::ZERO {
        F::ZERO
    } else if x > last {
        last
    } else {
        x
    }
}

/// Mirrored at both ends, over and over.
fn reflected<F: Real>(x: F, [least, most]: [F; 2]) -> F {
    let range = most - least;
    if range <= F::ZERO {
        return least;
    }
    let from = if x < least { least - x } else { x - most };
    if from < F::ZERO || !from.is_finite() {
        return if from < F::ZERO { x } else { least };
    }
    let rest = from % range;
    // Each time the other end is met, the direction turns.
    let is_near = ((from / range).to_f64() as u64).is_multiple_of(2);
    match (x < least) == is_near {
        true => least + rest,
        false => most - rest,
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, assert_close, f32s, sample_values};

    const GRID: [f32; 12] = [
        -1.4, -0.7, -0.3, 0.1, 0.5, 0.9, 1.3, -1.2, 0.0, 1.6, -0.9, 1.05,
    ];

    // What is expected was computed by ONNX Runtime 1.32 from the same numbers.

    #[test]
    fn positions_are_read_by_each_method_with_each_padding() {
        use GridPadding as Padding;
        use InterpolationMethod as Method;
        for (method, padding, align, expected) in [
            (
                Method::Nearest,
                Padding::Zeros,
                false,
                [0.0, -0.78125, -0.921875, 0.0, 0.0, 0.0],
            ),
            (
                Method::Nearest,
                Padding::Border,
                true,
                [
                    -0.960938, -0.781250, -0.921875, 0.265625, -0.921875, 0.187500,
                ],
            ),
            (
                Method::Nearest,
                Padding::Reflection,
                true,
                [
                    -0.968750, -0.781250, -0.921875, 0.265625, -0.015625, 0.187500,
                ],
            ),
            (
                Method::Linear,
                Padding::Zeros,
                false,
                [0.0, -0.449844, -0.142188, 0.0, 0.0, 0.055781],
            ),
            (
                Method::Linear,
                Padding::Border,
                false,
                [
                    -0.960938, -0.449844, -0.218750, 0.265625, -0.179688, 0.187500,
                ],
            ),
            (
                Method::Linear,
                Padding::Reflection,
                false,
                [
                    -0.963281, -0.449844, -0.218750, 0.247656, -0.267187, 0.187500,
                ],
            ),
            (
                Method::Linear,
                Padding::Reflection,
                true,
                [
                    -0.719062, -0.619844, -0.512109, 0.156719, -0.310937, 0.260234,
                ],
            ),
            (
                Method::Cubic,
                Padding::Zeros,
                false,
                [
                    0.108395, -0.486558, -0.256383, -0.003091, 0.029848, -0.012985,
                ],
            ),
            (
                Method::Cubic,
                Padding::Border,
                false,
                [
                    -1.020957, -0.501416, -0.409897, 0.269750, -0.276367, 0.080565,
                ],
            ),
            (
                Method::Cubic,
                Padding::Reflection,
                true,
                [
                    -0.951229, -0.680721, -0.694316, 0.284334, -0.439211, 0.231971,
                ],
            ),
        ] {
            let call = Call::new(GridSampleDescriptor::new(method, padding, align))
                .input(f32s([1, 1, 3, 4], &sample_values(12)))
                .input(f32s([1, 2, 3, 2], &GRID))
                .output(DataType::Float32, [1, 1, 2, 3]);
            assert_close(&call.run().f32s(), &expected, 2e-6);
        }
    }

    #[test]
    fn volumes_have_three_coordinates() {
        let d = GridSampleDescriptor::new(InterpolationMethod::Linear, GridPadding::Border, false);
        let call = Call::new(d)
            .input(f32s([1, 1, 2, 2, 4], &sample_values(16)))
            .input(f32s([1, 1, 1, 2, 3], &[-1.2, -0.3, 0.4, 0.7, 0.2, -0.9]))
            .output(DataType::Float32, [1, 1, 1, 1, 2]);
        assert_close(&call.run().f32s(), &[0.241719, 0.132266], 2e-6);
    }

    #[test]
    fn positions_that_are_no_numbers_are_read_as_something() {
        for padding in GridPadding::ALL {
            for method in InterpolationMethod::ALL {
                let call = Call::new(GridSampleDescriptor::new(*method, *padding, true))
                    .input(f32s([1, 1, 1, 1], &[1.0]))
                    .input(f32s(
                        [1, 1, 3, 2],
                        &[f32::NAN, 0.0, f32::INFINITY, 0.0, 1e30, -1e30],
                    ))
                    .output(DataType::Float32, [1, 1, 1, 3]);
                assert_eq!(call.run().f32s().len(), 3);
            }
        }
    }
}
