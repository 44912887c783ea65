//! Interpolate, by the reference implementation of ONNX's Resize (`onnx/reference/ops/op_resize.py`).
//!
//! Each dimension is resized by itself. Positions and weights are computed in Float32, also for
//! numbers of Float64, as ONNX Runtime does.

use armnn_backend_api::{
    CoordinateTransformation, ExecutionContext, InterpolateDescriptor, InterpolationMethod,
    LayerView, NearestRounding, Result, Synchronous, Workload,
};

use crate::{
    loops::loop_nest::dense_strides,
    movement::pad::pad_bytes,
    numbers::{element_type::by_size, real::Real},
    workloads::{
        copy::element_size,
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            REALS, dims, input, invalid, output, require_input, require_named, require_one_type,
            require_room, require_same_quantization,
        },
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, d: &InterpolateDescriptor) -> Result<()> {
    require_named(d.method(), d.method().name())?;
    require_named(d.coordinates(), d.coordinates().name())?;
    require_named(d.nearest_rounding(), d.nearest_rounding().name())?;
    if d.method() != InterpolationMethod::Nearest {
        return require_one_type(layer, &[REALS]);
    }
    let data_type = output(layer, 0)?.data_type();
    element_size(data_type)?;
    require_input(layer, 0, &[&[data_type]])?;
    pad_bytes(output(layer, 0)?, d.extrapolation_value.into())?;
    require_same_quantization(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &InterpolateDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let fits = from.len() == to.len()
        && d.scales().len() == from.len()
        && from.iter().zip(&to).all(|(&from, &to)| from > 0 || to == 0);
    if !fits {
        return Err(invalid(format_args!(
            "{from:?} cannot be resized to {to:?}"
        )));
    }
    if !to.contains(&0) {
        to.iter().try_for_each(|&size| require_room(size))?;
    }
    let axes: Vec<Axis> = match to.contains(&0) {
        true => vec![],
        false => (0..from.len())
            .map(|i| Axis::new(d, i, from[i], to[i]))
            .collect(),
    };
    if d.method() != InterpolationMethod::Nearest {
        return real_workload(layer, Interpolation::new(d, axes, &from, &to)?);
    }
    let nearest: Vec<Vec<Option<usize>>> = axes.iter().map(|axis| axis.nearest(d)).collect();
    let strides: Vec<usize> = dense_strides(&from).iter().map(|&s| s as usize).collect();
    let fill = pad_bytes(output(layer, 0)?, d.extrapolation_value.into())?;
    by_size!(output(layer, 0)?.data_type(), W => workload_function(layer, 0, move |call| {
        let from = call.input::<W>(0)?;
        let mut first = [0; size_of::<W>()];
        first.copy_from_slice(&fill[..size_of::<W>()]);
        let fill = W::from_ne_bytes(first);
        for (position, out) in call.output::<W>(0)?.iter_mut().enumerate() {
            let mut rest = position;
            let mut at = Some(0);
            for (axis, &stride) in nearest.iter().zip(&strides).rev() {
                let element = axis[rest % axis.len()];
                rest /= axis.len();
                at = at.zip(element).map(|(at, element)| at + element * stride);
            }
            *out = at.map_or(fill, |at| from[at]);
        }
        Ok(())
    }))
}

/// One dimension.
struct Axis {
    from: usize,
    to: usize,
    /// Output through input size.
    scale: f32,
    /// The position in the input of each of the output's; `None` outside of a region.
    positions: Vec<Option<f32>>,
    is_unchanged: bool,
}

impl Axis {
    /// `from` is not 0.
    fn new(d: &InterpolateDescriptor, axis: usize, from: usize, to: usize) -> Self {
        let declared = d.scales()[axis];
        let (scale, real_to) = match declared > 0.0 {
            true => (declared, declared * from as f32),
            false => (to as f32 / from as f32, to as f32),
        };
        let region = [d.region_start[axis], d.region_end[axis]];
        let has_region = d.coordinates() == CoordinateTransformation::TfCropAndResize;
        let is_unchanged = from == to && scale == 1.0 && (!has_region || region == [0.0, 1.0]);
        let last = from as f32 - 1.0;
        let position = |o: usize| -> Option<f32> {
            let o = o as f32;
            let half_pixel = (o + 0.5) / scale - 0.5;
            Some(match d.coordinates() {
                CoordinateTransformation::HalfPixelSymmetric => {
                    let offset = from as f32 / 2.0 * (1.0 - to as f32 / real_to);
                    offset + half_pixel
                }
                CoordinateTransformation::PytorchHalfPixel if real_to == 1.0 => 0.0,
                CoordinateTransformation::AlignCorners if real_to == 1.0 => 0.0,
                CoordinateTransformation::AlignCorners => o * last / (real_to - 1.0),
                CoordinateTransformation::Asymmetric => o / scale,
                CoordinateTransformation::TfHalfPixelForNn => (o + 0.5) / scale,
                CoordinateTransformation::TfCropAndResize => {
                    let [start, end] = region;
                    let position = match real_to == 1.0 {
                        true => (start + end) * last / 2.0,
                        false => start * last + o * (end - start) * last / (real_to - 1.0),
                    };
                    if !(0.0..=last).contains(&position) {
                        return None;
                    }
                    position
                }
                // HalfPixel, and PytorchHalfPixel of more elements than one.
                _ => half_pixel,
            })
        };
        Self {
            from,
            to,
            scale,
            positions: (0..to).map(position).collect(),
            is_unchanged,
        }
    }

    /// The nearest elements.
    fn nearest(&self, d: &InterpolateDescriptor) -> Vec<Option<usize>> {
        let last = self.from - 1;
        let nearest = |(o, x): (usize, &Option<f32>)| {
            let x = (*x)?;
            if self.is_unchanged {
                return Some(o);
            }
            let below = x.floor();
            let rounded = match d.nearest_rounding() {
                NearestRounding::Floor => below,
                NearestRounding::Ceil => x.ceil(),
                NearestRounding::RoundPreferCeil if x - below >= 0.5 => below + 1.0,
                NearestRounding::RoundPreferCeil => below,
                // RoundPreferFloor
                _ if x - below > 0.5 => below + 1.0,
                _ => below,
            };
            // Saturates below 0.
            Some((rounded as usize).min(last))
        };
        self.positions.iter().enumerate().map(nearest).collect()
    }

    /// Elements that each result is made of, and their weights.
    ///
    /// # Errors
    /// When there are far more of them than a scale leads to that these sizes follow from.
    fn taps(&self, d: &InterpolateDescriptor) -> Result<Taps> {
        let is_cubic = d.method() == InterpolationMethod::Cubic;
        let scale = if d.antialias == 1 {
            self.scale.min(1.0)
        } else {
            1.0
        };
        let reach = if is_cubic { 2.0 } else { 1.0 };
        // The first tap, counted from the element below the position, and how many there are.
        let first = (-reach / scale).floor() + 1.0;
        // To a smaller size, about two reaches for each element of the input.
        let in_all = f64::from(2.0 - 2.0 * first) * self.to as f64;
        if in_all > 64.0 * (self.from as f64 + self.to as f64) {
            return Err(invalid(format_args!(
                "the scale {scale} does not lead from {} elements to {}",
                self.from, self.to
            )));
        }
        let first = first as i64;
        let n_taps = (2 - 2 * first) as usize;
        let mut taps = Taps {
            n_taps,
            indices: Vec::with_capacity(self.to.saturating_mul(n_taps)),
            weights: Vec::with_capacity(self.to.saturating_mul(n_taps)),
        };
        for x in &self.positions {
            let x = x.unwrap_or(0.0);
            // From an element on to just before the next, the element counts as below.
            let below = x.ceil() - 1.0;
            let ratio = x - below;
            let start = taps.weights.len();
            for k in first..first + n_taps as i64 {
                let distance = (scale * (k as f32 - ratio)).abs();
                let weight = match is_cubic {
                    true => cubic(distance, d.cubic_coefficient),
                    false => (1.0 - distance).max(0.0),
                };
                let index = (below as i64).saturating_add(k);
                let inside = (0..self.from as i64).contains(&index);
                let index = index.clamp(0, self.from as i64 - 1) as usize;
                taps.indices.push(index);
                taps.weights.push(if inside || d.exclude_outside == 0 {
                    weight
                } else {
                    0.0
                });
            }
            if d.antialias == 1 || d.exclude_outside == 1 {
                let weights = &mut taps.weights[start..];
                let sum: f32 = weights.iter().sum();
                if sum != 0.0 {
                    weights.iter_mut().for_each(|weight| *weight /= sum);
                }
            }
        }
        Ok(taps)
    }
}

/// The cubic convolution kernel (Keys, 1981) at a distance.
pub(crate) fn cubic<F: Real>(x: F, a: F) -> F {
    let [one, two, three, four, five, eight] = [1.0, 2.0, 3.0, 4.0, 5.0, 8.0].map(F::from_f64);
    if x <= one {
        ((a + two) * x - (a + three)) * x * x + one
    } else if x < two {
        ((x - five) * x + eight) * a * x - four * a
    } else {
        F::ZERO
    }
}

struct Taps {
    n_taps: usize,
    indices: Vec<usize>,
    weights: Vec<f32>,
}

/// One dimension after the other.
struct Interpolation {
    /// Size of the dimension before and after, elements inside of it, and taps.
    passes: Vec<(usize, usize, usize, Taps)>,
    /// Elements of the largest intermediate result.
    longest: usize,
    /// Whether positions are outside, along each dimension; empty if none is.
    outside: Vec<Vec<bool>>,
    extrapolation_value: f32,
}

impl Interpolation {
    fn new(
        d: &InterpolateDescriptor,
        axes: Vec<Axis>,
        from: &[usize],
        to: &[usize],
    ) -> Result<Self> {
        let mut sizes = from.to_vec();
        let (mut passes, mut longest) = (vec![], 0);
        for (i, axis) in axes
            .iter()
            .enumerate()
            .filter(|(_, axis)| !axis.is_unchanged)
        {
            let inner = sizes[i + 1..].iter().product();
            passes.push((axis.from, axis.to, inner, axis.taps(d)?));
            sizes[i] = to[i];
            longest = longest.max(sizes.iter().product());
        }
        let outside: Vec<Vec<bool>> = axes
            .iter()
            .map(|axis| axis.positions.iter().map(Option::is_none).collect())
            .collect();
        let none_is_outside = !outside.iter().flatten().any(|&is_outside| is_outside);
        Ok(Self {
            passes,
            longest,
            outside: if none_is_outside { vec![] } else { outside },
            extrapolation_value: d.extrapolation_value,
        })
    }
}

impl<F: Real> FloatKernel<F> for Interpolation {
    fn scratch_len(&self) -> usize {
        self.longest.saturating_mul(2)
    }

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [F],
        [input, ..]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let (mut results, mut next) = scratch.split_at_mut(self.longest);
        let mut len = input.len();
        for (i, (from, to, inner, taps)) in self.passes.iter().enumerate() {
            let source = if i == 0 { input } else { &results[..len] };
            let blocks = len / (from * inner);
            len = blocks * to * inner;
            let pairs = source
                .chunks_exact(from * inner)
                .zip(next[..len].chunks_exact_mut(to * inner));
            for (source, out) in pairs {
                resize(source, out, *inner, taps);
            }
            std::mem::swap(&mut results, &mut next);
        }
        match self.passes.is_empty() {
            true => output.copy_from_slice(input),
            false => output.copy_from_slice(&results[..len]),
        }
        if !self.outside.is_empty() {
            for (position, out) in output.iter_mut().enumerate() {
                let mut rest = position;
                for axis in self.outside.iter().rev() {
                    if axis[rest % axis.len()] {
                        *out = F::from_f64(self.extrapolation_value.into());
                    }
                    rest /= axis.len();
                }
            }
        }
        Ok(())
    }
}

/// [from, inner] to [to, inner].
fn resize<F: Real>(source: &[F], out: &mut [F], inner: usize, taps: &Taps) {
    let taps = taps
        .indices
        .chunks_exact(taps.n_taps)
        .zip(taps.weights.chunks_exact(taps.n_taps));
    for (out, (indices, weights)) in out.chunks_exact_mut(inner).zip(taps) {
        out.fill(F::ZERO);
        for (&index, &weight) in indices.iter().zip(weights) {
            if weight == 0.0 {
                continue;
            }
            let weight = F::from_f64(weight.into());
            let row = &source[index * inner..][..inner];
            out.iter_mut()
                .zip(row)
                .for_each(|(out, &x)| *out += weight * x);
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Quantization};

    use super::*;
    use crate::test_harness::{Call, assert_close, assert_refused, f16s, f32s, typed};

    use CoordinateTransformation as Coordinates;
    use InterpolationMethod as Method;

    fn descriptor(method: Method, coordinates: Coordinates) -> InterpolateDescriptor {
        InterpolateDescriptor::new(method, coordinates, 2).unwrap()
    }

    /// A row 1 4 2 8, resized.
    fn resized(d: InterpolateDescriptor, to: i64) -> Vec<f32> {
        let call = Call::new(d)
            .input(f32s([1, 4], &[1.0, 4.0, 2.0, 8.0]))
            .output(DataType::Float32, [1, to]);
        call.run().f32s()
    }

    // What is expected was computed by the reference implementation of ONNX 1.23; ONNX Runtime 1.32
    // agrees where it is not said.

    #[test]
    fn a_row_is_interpolated_linearly() {
        let linear = |coordinates| descriptor(Method::Linear, coordinates);
        let half = linear(Coordinates::HalfPixel);
        let expected = [1.0, 2.5, 3.666667, 2.333333, 5.0, 8.0];
        assert_close(&resized(half, 6), &expected, 2e-6);
        let expected = [1.0, 3.0, 3.333333, 2.0, 6.0, 8.0];
        assert_close(
            &resized(linear(Coordinates::Asymmetric), 6),
            &expected,
            2e-6,
        );
        // The scale is not that of the sizes. ONNX Runtime takes it for that: 1, 8.
        let mut align = linear(Coordinates::AlignCorners);
        align.scales[1] = 0.6;
        assert_close(&resized(align, 2), &[1.0, 2.857142], 2e-6);
        let mut symmetric = linear(Coordinates::HalfPixelSymmetric);
        symmetric.scales[1] = 0.6;
        assert_close(&resized(symmetric, 2), &[3.0, 4.0], 2e-6);
        assert_eq!(resized(linear(Coordinates::PytorchHalfPixel), 1), [1.0]);
        let antialias = InterpolateDescriptor {
            antialias: 1,
            ..half
        };
        assert_close(&resized(antialias, 3), &[1.818182, 3.0, 6.363636], 2e-6);
    }

    #[test]
    fn a_scale_far_from_that_of_the_sizes_leads_to_the_border_or_is_an_error() {
        // Positions are far behind the end.
        for scale in [1e-30, f32::from_bits(1)] {
            for method in [Method::Linear, Method::Cubic, Method::Nearest] {
                let mut d = descriptor(method, Coordinates::Asymmetric);
                d.scales[1] = scale;
                d.antialias = u32::from(method != Method::Nearest);
                let call = Call::new(d)
                    .input(f32s([1, 4], &[1.0, 4.0, 2.0, 8.0]))
                    .output(DataType::Float32, [1, 3]);
                if d.antialias == 1 {
                    // Each result would be a sum over 1e30 elements.
                    let error = call.error();
                    assert!(
                        error.contains("does not lead from 4 elements to 3"),
                        "{error}"
                    );
                } else {
                    assert_eq!(call.run().f32s(), [1.0, 8.0, 8.0]);
                }
            }
        }
        let mut linear = descriptor(Method::Linear, Coordinates::Asymmetric);
        linear.scales[1] = 1e-30;
        // Position 1e30 lies between two copies of the last element, one of which counts.
        assert_eq!(resized(linear, 2), [1.0, 8.0]);
    }

    #[test]
    fn a_row_is_interpolated_by_a_cubic_kernel() {
        let cubic = descriptor(Method::Cubic, Coordinates::HalfPixel);
        let expected = [0.739584, 2.6875, 3.869216, 1.818287, 4.8125, 8.520837];
        assert_close(&resized(cubic, 6), &expected, 1e-5);
        let exclude = InterpolateDescriptor {
            exclude_outside: 1,
            cubic_coefficient: -0.5,
            ..cubic
        };
        let expected = [0.802632, 2.529412, 3.863425, 1.928242, 5.058824, 8.394735];
        assert_close(&resized(exclude, 6), &expected, 1e-5);
        let antialias = InterpolateDescriptor {
            antialias: 1,
            ..cubic
        };
        assert_close(
            &resized(antialias, 3),
            &[1.877244, 2.815655, 6.410407],
            3e-6,
        );
        let both = InterpolateDescriptor {
            exclude_outside: 1,
            ..antialias
        };
        assert_close(&resized(both, 2), &[2.128572, 5.083673], 3e-6);
    }

    #[test]
    fn outside_of_the_input_a_region_has_a_value_of_its_own() {
        let mut d = descriptor(Method::Linear, Coordinates::TfCropAndResize);
        (d.region_start[1], d.region_end[1], d.extrapolation_value) = (0.4, 1.2, 10.0);
        assert_close(&resized(d, 4), &[3.6, 2.000001, 6.800001, 10.0], 2e-6);
        d.method = Method::Nearest.0;
        assert_eq!(resized(d, 4), [4.0, 2.0, 8.0, 10.0]);
    }

    #[test]
    fn the_nearest_element_is_found_by_each_rounding() {
        let nearest = |coordinates, rounding: NearestRounding| InterpolateDescriptor {
            nearest_rounding: rounding.0,
            ..descriptor(Method::Nearest, coordinates)
        };
        let half = Coordinates::HalfPixel;
        let floor = nearest(half, NearestRounding::RoundPreferFloor);
        assert_eq!(resized(floor, 8), [1.0, 1.0, 4.0, 4.0, 2.0, 2.0, 8.0, 8.0]);
        assert_eq!(resized(floor, 2), [1.0, 2.0]);
        let ceil = nearest(half, NearestRounding::RoundPreferCeil);
        assert_eq!(resized(ceil, 2), [4.0, 8.0]);
        let floor = nearest(Coordinates::AlignCorners, NearestRounding::Floor);
        assert_eq!(resized(floor, 7), [1.0, 1.0, 4.0, 4.0, 2.0, 2.0, 8.0]);
        let ceil = nearest(Coordinates::Asymmetric, NearestRounding::Ceil);
        assert_eq!(resized(ceil, 7), [1.0, 4.0, 2.0, 2.0, 8.0, 8.0, 8.0]);
    }

    #[test]
    fn dimensions_are_resized_one_after_the_other() {
        // Bilinear, by corners: every value of a plane is where the plane is.
        let mut d = descriptor(Method::Linear, Coordinates::AlignCorners);
        let call = |d: InterpolateDescriptor| {
            Call::new(d)
                .input(f32s([2, 3], &[0.0, 2.0, 4.0, 10.0, 12.0, 14.0]))
                .output(DataType::Float32, [3, 5])
        };
        let expected: Vec<f32> = (0..15).map(|i| (i / 5 * 5 + i % 5) as f32).collect();
        assert_close(&call(d).run().f32s(), &expected, 1e-5);
        d.rank = 1;
        assert!(call(d).error().contains("cannot be resized"));
    }

    #[test]
    fn other_types() {
        let nearest = descriptor(Method::Nearest, Coordinates::Asymmetric);
        let input = typed(DataType::QAsymmS8, [1, 2], &[1i8, 2])
            .quantized(Quantization::per_tensor(0.5, 0));
        let mut info = input.info.clone();
        info.shape = [1, 4].into();
        let call = Call::new(nearest)
            .input(input.clone())
            .output_info(info.clone());
        assert_eq!(call.run().elements::<i8>(0), [1, 1, 2, 2]);
        let linear = descriptor(Method::Linear, Coordinates::Asymmetric);
        assert_refused(
            &Call::new(linear).input(input).output_info(info),
            &["QAsymmS8"],
        );
        let call = Call::new(linear)
            .input(f16s([1, 2], &[1.0, 2.0]))
            .output(DataType::Float16, [1, 4]);
        assert_eq!(call.run().f16s(), [1.0, 1.5, 2.0, 2.0]);
    }
}
