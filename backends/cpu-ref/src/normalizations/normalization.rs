//! Layers that normalize: BatchNormalization, InstanceNormalization, L2Normalization,
//! LayerNormalization, LogSoftmax.
//!
//! Sums are made in Float64, so that a variance does not suffer from its mean. Quantized numbers
//! are computed with as real ones, but for what TensorFlow Lite has integer kernels for: see
//! [`quantized`].

mod quantized;

use armnn_backend_api::{
    BatchNormalizationDescriptor, DataType, ExecutionContext, InstanceNormalizationDescriptor,
    L2NormalizationDescriptor, LayerNormalizationDescriptor, LayerView, LogSoftmaxDescriptor,
    Result, Synchronous, Workload,
};

use crate::{
    loops::loop_nest::{LoopNest, broadcast_strides, dense_strides, map_pairs},
    numbers::{
        float_tensors::{Computed, ScratchLen, real_function},
        real::Real,
    },
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            dims, input, invalid, num_elements, output, require_real_numbers_or_float64,
        },
    },
};

/// [outer, size, inner], of which the middle is an axis.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    inner: usize,
}

impl Axis {
    /// The axis of a layer whose input and output have one shape.
    fn of(layer: LayerView<'_>, axis: u32) -> Result<Self> {
        let from = dims(layer, input(layer, 0)?)?;
        let axis = axis as usize;
        if from != dims(layer, output(layer, 0)?)? || axis >= from.len() {
            return Err(invalid(format_args!(
                "{from:?} has no dimension {axis}, or the output is of another shape"
            )));
        }
        Ok(Self {
            size: from[axis],
            inner: from[axis + 1..].iter().product(),
        })
    }

    /// Calls `f` with the positions along the axis of each of its lines.
    fn for_each_line(
        self,
        len: usize,
        mut f: impl FnMut(std::iter::StepBy<std::ops::Range<usize>>),
    ) {
        let block = self.size * self.inner;
        if block == 0 {
            return;
        }
        for start in (0..len).step_by(block) {
            for i in start..start + self.inner {
                f((i..start + block).step_by(self.inner));
            }
        }
    }
}

pub(crate) fn check_l2(layer: LayerView<'_>, _: &L2NormalizationDescriptor) -> Result<()> {
    require_real_numbers_or_float64(layer)
}

pub(crate) fn l2_workload(
    layer: LayerView<'_>,
    d: &L2NormalizationDescriptor,
) -> Result<Box<dyn Workload>> {
    let axis = Axis::of(layer, d.axis)?;
    if let Some(workload) = quantized::l2_workload(layer, axis)? {
        return Ok(workload);
    }
    let epsilon = d.epsilon;
    real_workload(layer, Lines(axis, L2 { epsilon }))
}

struct L2 {
    epsilon: f32,
}

impl LineFunction for L2 {
    fn apply<F: Real>(&self, line: &mut Line<'_, F>) {
        let epsilon = F::from_f64(self.epsilon.into());
        let squares = line.fold(F::ZERO, |sum, x| sum + x * x);
        let divisor = if squares < epsilon { epsilon } else { squares }.sqrt();
        line.map(|x| x / divisor);
    }
}

pub(crate) fn check_log_softmax(layer: LayerView<'_>, _: &LogSoftmaxDescriptor) -> Result<()> {
    require_real_numbers_or_float64(layer)
}

pub(crate) fn log_softmax_workload(
    layer: LayerView<'_>,
    d: &LogSoftmaxDescriptor,
) -> Result<Box<dyn Workload>> {
    let axis = Axis::of(layer, d.axis)?;
    if let Some(workload) = quantized::log_softmax_workload(layer, axis, d.beta)? {
        return Ok(workload);
    }
    real_workload(layer, Lines(axis, LogSoftmax { beta: d.beta }))
}

struct LogSoftmax {
    beta: f32,
}

impl LineFunction for LogSoftmax {
    fn apply<F: Real>(&self, line: &mut Line<'_, F>) {
        let beta = F::from_f64(self.beta.into());
        // The largest exponent is taken out, so that no power overflows.
        let larger = |y: F, x: F| {
            if beta * x > y || x.is_nan() {
                beta * x
            } else {
                y
            }
        };
        let largest = line.fold(F::NEG_INFINITY, larger);
        let sum = line.fold(F::ZERO, |sum, x| sum + (beta * x - largest).exp());
        let log = sum.ln();
        line.map(|x| beta * x - largest - log);
    }
}

/// The elements along an axis, and where their results go.
struct Line<'a, F> {
    positions: std::iter::StepBy<std::ops::Range<usize>>,
    input: &'a [F],
    output: &'a mut [F],
}

impl<F: Real> Line<'_, F> {
    fn fold(&self, start: F, f: impl Fn(F, F) -> F) -> F {
        self.positions
            .clone()
            .fold(start, |y, at| f(y, self.input[at]))
    }

    fn map(&mut self, f: impl Fn(F) -> F) {
        for at in self.positions.clone() {
            self.output[at] = f(self.input[at]);
        }
    }
}

/// What becomes of a line.
trait LineFunction: Send + Sync + 'static {
    fn apply<F: Real>(&self, line: &mut Line<'_, F>);
}

/// A function of each line.
struct Lines<T>(Axis, T);

impl<F: Real, T: LineFunction> FloatKernel<F> for Lines<T> {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, ..]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        self.0.for_each_line(input.len(), |positions| {
            self.1.apply(&mut Line {
                positions,
                input,
                output,
            });
        });
        Ok(())
    }
}

pub(crate) fn check_layer(layer: LayerView<'_>, _: &LayerNormalizationDescriptor) -> Result<()> {
    require_real_numbers_or_float64(layer)
}

pub(crate) fn layer_workload(
    layer: LayerView<'_>,
    d: &LayerNormalizationDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    Axis::of(layer, d.axis)?;
    let normalized = &from[d.axis as usize..];
    let nest = |position| {
        let Some(tensor) = layer.input(position) else {
            return Ok(None);
        };
        let factors = dims(layer, tensor)?;
        let strides = broadcast_strides(&factors, normalized).ok_or_else(|| {
            invalid(format_args!(
                "factors of shape {factors:?} do not fit {normalized:?}"
            ))
        })?;
        let dense = dense_strides(normalized);
        Ok(Some(LoopNest::new(normalized, [&dense, &strides], [0, 0])))
    };
    let kernel = LayerNormalization {
        epsilon: d.epsilon.into(),
        subtract_mean: d.subtract_mean == 1,
        len: normalized.iter().product(),
        scale: nest(1)?,
        bias: nest(2)?,
    };
    real_workload(layer, kernel)
}

struct LayerNormalization {
    epsilon: f64,
    subtract_mean: bool,
    len: usize,
    /// Over what is normalized; the operands are that, and the factors.
    scale: Option<LoopNest<2>>,
    bias: Option<LoopNest<2>>,
}

impl<F: Real> FloatKernel<F> for LayerNormalization {
    fn scratch_len(&self) -> usize {
        self.len
    }

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [F],
        [input, scale, bias]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let parts = input
            .chunks_exact(self.len)
            .zip(output.chunks_exact_mut(self.len));
        for (input, output) in parts {
            let (mean, factor) = moments(input.iter(), self.epsilon, self.subtract_mean);
            for (out, &x) in output.iter_mut().zip(input) {
                *out = F::from_f64((x.to_f64() - mean) * factor);
            }
            let copy = &mut scratch[..self.len];
            if let Some(nest) = &self.scale {
                copy.copy_from_slice(output);
                map_pairs(nest, copy, scale, output, |x, scale| x * scale);
            }
            if let Some(nest) = &self.bias {
                copy.copy_from_slice(output);
                map_pairs(nest, copy, bias, output, |x, bias| x + bias);
            }
        }
        Ok(())
    }
}

/// The mean (0 if it is not subtracted), and 1 / sqrt(variance + epsilon).
fn moments<'a, F: Real>(
    values: impl Iterator<Item = &'a F> + Clone,
    epsilon: f64,
    subtract_mean: bool,
) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let mean = match subtract_mean {
        true => values.clone().map(|&x| x.to_f64()).sum::<f64>() / count,
        false => 0.0,
    };
    let squares: f64 = values.map(|&x| (x.to_f64() - mean).powi(2)).sum();
    (mean, 1.0 / (squares / count + epsilon).sqrt())
}

pub(crate) fn check_instance(
    layer: LayerView<'_>,
    _: &InstanceNormalizationDescriptor,
) -> Result<()> {
    require_real_numbers_or_float64(layer)
}

pub(crate) fn instance_workload(
    layer: LayerView<'_>,
    d: &InstanceNormalizationDescriptor,
) -> Result<Box<dyn Workload>> {
    let axis = Axis::of(layer, d.axis)?;
    let from = dims(layer, input(layer, 0)?)?;
    let groups = match d.groups {
        0 => axis.size,
        groups => groups as usize,
    };
    let in_group = axis.size.checked_div(groups).unwrap_or(0);
    let has_factors = |position| -> Result<bool> {
        match layer.input(position) {
            Some(tensor) => Ok(num_elements(layer, tensor)? == axis.size),
            None => Ok(true),
        }
    };
    if d.axis == 0 || in_group * groups != axis.size || !has_factors(1)? || !has_factors(2)? {
        return Err(invalid(format_args!(
            "{groups} groups of channels along dimension {} of {from:?} cannot be normalized, or \
             there is not one factor for each channel",
            d.axis
        )));
    }
    let middle: usize = from[1..d.axis as usize].iter().product();
    let kernel = InstanceNormalization {
        epsilon: d.epsilon.into(),
        axis,
        middle,
        groups,
        in_group,
    };
    real_workload(layer, kernel)
}

/// [N, middle, C, inner]
struct InstanceNormalization {
    epsilon: f64,
    axis: Axis,
    middle: usize,
    groups: usize,
    in_group: usize,
}

impl<F: Real> FloatKernel<F> for InstanceNormalization {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, scale, bias]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let Axis { size, inner } = self.axis;
        let batch_len = self.middle * size * inner;
        let batches = input
            .chunks_exact(batch_len)
            .zip(output.chunks_exact_mut(batch_len));
        for (input, output) in batches {
            for group in 0..self.groups {
                let channels = group * self.in_group..(group + 1) * self.in_group;
                let runs = (0..self.middle)
                    .flat_map(|m| channels.clone().map(move |c| (c, (m * size + c) * inner)));
                let values = runs.clone().flat_map(|(_, at)| &input[at..][..inner]);
                let (mean, factor) = moments(values, self.epsilon, true);
                for (channel, at) in runs {
                    let scale = scale.get(channel).map_or(1.0, |&s| s.to_f64());
                    let bias = bias.get(channel).map_or(0.0, |&b| b.to_f64());
                    let pairs = output[at..][..inner].iter_mut().zip(&input[at..][..inner]);
                    for (out, &x) in pairs {
                        *out = F::from_f64((x.to_f64() - mean) * factor * scale + bias);
                    }
                }
            }
        }
        Ok(())
    }
}

pub(crate) fn check_batch(layer: LayerView<'_>, _: &BatchNormalizationDescriptor) -> Result<()> {
    require_real_numbers_or_float64(layer)
}

pub(crate) fn batch_workload(
    layer: LayerView<'_>,
    d: &BatchNormalizationDescriptor,
) -> Result<Box<dyn Workload>> {
    match output(layer, 0)?.data_type() {
        DataType::Float64 => batch::<f64>(layer, d),
        _ => batch::<f32>(layer, d),
    }
}

fn batch<F: Computed>(
    layer: LayerView<'_>,
    d: &BatchNormalizationDescriptor,
) -> Result<Box<dyn Workload>> {
    let axis = Axis::of(layer, d.axis)?;
    for position in 1..5 {
        if num_elements(layer, input(layer, position)?)? != axis.size {
            return Err(invalid("there is not one number for each channel"));
        }
    }
    let epsilon = F::from_f64(d.epsilon.into());
    real_function::<F, _>(layer, ScratchLen::default(), move |_, tensors| {
        let [x, mean, variance, beta, gamma, ..] = tensors.inputs;
        for (at, out) in tensors.outputs[0].iter_mut().enumerate() {
            let c = at / axis.inner % axis.size;
            let parameters = [mean, variance, beta, gamma].map(|p| p[c]);
            *out = normalized(x[at], parameters, epsilon);
        }
        Ok(())
    })
}

fn normalized<F: Real>(x: F, [mean, variance, beta, gamma]: [F; 4], epsilon: F) -> F {
    gamma * (x - mean) / (variance + epsilon).sqrt() + beta
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{LayerDescriptor, Shape};

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_close, f16s, f32s, sample_values};

    fn run(d: impl Into<LayerDescriptor>, inputs: &[Tensor]) -> Vec<f32> {
        let call = Call::new(d).output_info(inputs[0].info.clone());
        let call = inputs.iter().fold(call, |call, t| call.input(t.clone()));
        call.run().f32s()
    }

    fn ramp(shape: &[i64]) -> Tensor {
        let len: i64 = shape.iter().product();
        let values: Vec<f32> = (0..len).map(|i| i as f32).collect();
        f32s(Shape::new(shape).unwrap(), &values)
    }

    #[test]
    fn a_vector_becomes_as_long_as_1() {
        let d = L2NormalizationDescriptor {
            epsilon: 0.25,
            axis: 1,
        };
        let input = f32s([2, 2], &[3.0, -4.0, 0.1, 0.2]);
        // 0.01 + 0.04 is below 0.25 = 0.5^2.
        assert_close(
            &run(d, std::slice::from_ref(&input)),
            &[0.6, -0.8, 0.2, 0.4],
            1e-7,
        );
        let d = L2NormalizationDescriptor { axis: 0, ..d };
        let found = run(d, &[input]);
        assert_close(&found[..1], &[3.0 / 9.01f32.sqrt()], 1e-7);
    }

    #[test]
    fn powers_of_the_logarithms_add_up_to_1() {
        for axis in 0..2 {
            let d = LogSoftmaxDescriptor { beta: 2.0, axis };
            let values = sample_values(12);
            let found = run(d, &[f32s([3, 4], &values)]);
            for (i, &y) in found.iter().enumerate() {
                let on_line = |j: &usize| {
                    if axis == 0 {
                        j % 4 == i % 4
                    } else {
                        j / 4 == i / 4
                    }
                };
                let line = (0..12)
                    .filter(on_line)
                    .map(|j| f64::from(2.0 * values[j]).exp());
                let expected = f64::from(2.0 * values[i]) - line.sum::<f64>().ln();
                assert!(
                    (f64::from(y) - expected).abs() < 1e-6,
                    "{y}, not {expected}"
                );
            }
        }
        let large = LogSoftmaxDescriptor { beta: 1.0, axis: 0 };
        let found = run(large, &[f32s([2], &[1000.0, 0.0])]);
        assert_eq!(found, [0.0, -1000.0]);
    }

    #[test]
    fn a_layer_is_normalized_to_mean_0_and_variance_1() {
        // Rows 0 1 2 and 3 4 5: mean 1 and 4, variance 2/3.
        let mut d = LayerNormalizationDescriptor::new(0.0, 1);
        let unit = 1.5f32.sqrt();
        let found = run(d, &[ramp(&[2, 3])]);
        assert_close(&found, &[-unit, 0.0, unit, -unit, 0.0, unit], 1e-6);
        let inputs = [ramp(&[2, 3]), f32s([3], &[1.0, 2.0, 3.0]), f32s([], &[0.5])];
        let found = run(d, &inputs);
        let row = [0.5 - unit, 0.5, 0.5 + 3.0 * unit];
        assert_close(&found, &[row, row].concat(), 1e-6);
        d.subtract_mean = 0;
        // sqrt((0 + 1 + 4) / 3)
        let found = run(d, &[ramp(&[1, 3])]);
        let root = (5.0f32 / 3.0).sqrt();
        assert_close(&found, &[0.0, 1.0 / root, 2.0 / root], 1e-6);
        // All of it, with factors along the first dimension.
        let d = LayerNormalizationDescriptor::new(0.0, 0);
        let found = run(d, &[ramp(&[2, 2]), f32s([2, 1], &[1.0, -1.0])]);
        let unit = 1.25f32.sqrt();
        assert_close(
            &found,
            &[-1.5 / unit, -0.5 / unit, -0.5 / unit, -1.5 / unit],
            1e-6,
        );
    }

    #[test]
    fn each_channel_is_normalized_by_itself_or_in_groups() {
        // Channels 0 1, 2 3, 4 5 and 6 7.
        let mut d = InstanceNormalizationDescriptor::new(0.75, 1);
        // Variances 0.25, + 0.75 = 1.
        let found = run(d, &[ramp(&[1, 4, 2])]);
        assert_close(&found, &[-0.5, 0.5].repeat(4), 1e-6);
        let scale = f32s([4], &[1.0, 2.0, 3.0, 4.0]);
        let bias = f32s([4], &[0.0, 0.0, 0.0, 1.0]);
        let found = run(d, &[ramp(&[1, 4, 2]), scale, bias]);
        assert_close(&found, &[-0.5, 0.5, -1.0, 1.0, -1.5, 1.5, -1.0, 3.0], 1e-6);
        // 0 1 2 3 and 4 5 6 7, of variance 1.25.
        d.groups = 2;
        let unit = 2f32.sqrt();
        let group = [-1.5 / unit, -0.5 / unit, 0.5 / unit, 1.5 / unit];
        let found = run(d, &[ramp(&[1, 4, 2])]);
        assert_close(&found, &[group, group].concat(), 1e-6);
        // Channels last: 0 2 4 and 1 3 5, of variance 8/3.
        let d = InstanceNormalizationDescriptor::new(1.0 / 3.0, 2);
        let found = run(d, &[ramp(&[1, 3, 2])]);
        let step = 2.0 / 3f32.sqrt();
        assert_close(&found, &[-step, -step, 0.0, 0.0, step, step], 1e-6);
    }

    #[test]
    fn a_batch_is_normalized_with_given_moments() {
        let d = BatchNormalizationDescriptor {
            epsilon: 1.0,
            axis: 1,
        };
        let parameters = [[1.0, 2.0], [3.0, 8.0], [0.5, 0.0], [2.0, 3.0]];
        let floats = parameters.map(|p| f32s([2], &p));
        let mut inputs = vec![f32s([1, 2, 2], &[1.0, 2.0, 5.0, -1.0])];
        inputs.extend(floats);
        // 2 (x - 1) / 2 + 0.5 and 3 (x - 2) / 3.
        assert_eq!(run(d, &inputs), [0.5, 1.5, 3.0, -3.0]);
        let halves = parameters.map(|p| f16s([2], &p));
        let call = Call::new(d)
            .output(DataType::Float16, [1, 2, 1])
            .input(f16s([1, 2, 1], &[2.0, 5.0]));
        let call = halves.into_iter().fold(call, Call::input);
        assert_eq!(call.run().f16s(), [1.5, 3.0]);
    }
}
