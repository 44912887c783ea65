//! Normalization: local response normalization.
//!
//! As many neighbours count on either side as the layer says. LiteRT's reference kernel leaves the
//! last of them out, which its optimized one does not.

use armnn_backend_api::{
    ExecutionContext, LayerView, NormalizationAlgorithmChannel, NormalizationDescriptor, Result,
    Synchronous, Workload,
};

use crate::{
    numbers::real::Real,
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            dims, input, invalid, output, refusal, require_named, require_real_numbers_or_float64,
        },
    },
};

pub(crate) fn check(layer: LayerView<'_>, d: &NormalizationDescriptor) -> Result<()> {
    require_named(d.channel_type(), d.channel_type().name())?;
    if d.channel_type() == NormalizationAlgorithmChannel::Within
        && input(layer, 0)?.shape().rank() != 4
    {
        return Err(refusal(
            "normalization within channels is supported for four dimensions only",
        ));
    }
    require_real_numbers_or_float64(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &NormalizationDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let axis = d.axis as usize;
    if from != dims(layer, output(layer, 0)?)? || axis >= from.len() || d.norm_size == 0 {
        return Err(invalid(format_args!(
            "{from:?} cannot be normalized along dimension {axis}, or into the output"
        )));
    }
    let inner = |axis: usize| from[axis + 1..].iter().product();
    let line = |axis: usize| Line {
        size: from[axis],
        stride: inner(axis),
    };
    let lines = match d.channel_type() {
        NormalizationAlgorithmChannel::Across => vec![line(axis)],
        // `check` lets nothing else through but Within, of four dimensions.
        _ => (1..from.len()).filter(|&i| i != axis).map(line).collect(),
    };
    // More than there are elements makes no difference.
    let longest = lines.iter().map(|line| line.size).max().unwrap_or(0);
    let size = (d.norm_size as usize).min(longest.saturating_mul(2) + 2);
    // What is cut off leaves the window as even or odd as it was.
    let size = size - (size + d.norm_size as usize) % 2;
    real_workload(
        layer,
        LocalResponse {
            lines,
            before: (size - 1) / 2,
            after: size / 2,
            alpha: d.alpha,
            beta: d.beta,
            k: d.k,
        },
    )
}

/// A dimension along which neighbours count.
struct Line {
    size: usize,
    stride: usize,
}

struct LocalResponse {
    /// One or two.
    lines: Vec<Line>,
    /// Neighbours that count.
    before: usize,
    after: usize,
    alpha: f32,
    beta: f32,
    k: f32,
}

impl<F: Real> FloatKernel<F> for LocalResponse {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, ..]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let [alpha, beta, k] = [self.alpha, self.beta, self.k].map(|x| F::from_f64(x.into()));
        for (at, out) in output.iter_mut().enumerate() {
            let squares = self.squares(input, at, &self.lines);
            *out = input[at] * (k + alpha * squares).powf(-beta);
        }
        Ok(())
    }
}

impl LocalResponse {
    /// The sum of squares around an element, along these dimensions.
    fn squares<F: Real>(&self, input: &[F], at: usize, lines: &[Line]) -> F {
        let Some((line, others)) = lines.split_first() else {
            return input[at] * input[at];
        };
        let here = at / line.stride % line.size;
        let first = here.saturating_sub(self.before);
        let last = (here + self.after).min(line.size - 1);
        (first..=last)
            .map(|i| self.squares(input, at - here * line.stride + i * line.stride, others))
            .fold(F::ZERO, |sum, x| sum + x)
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, assert_close, f32s};

    fn normalized(d: NormalizationDescriptor, shape: [i64; 4], values: &[f32]) -> Vec<f32> {
        let call = Call::new(d)
            .input(f32s(shape, values))
            .output(DataType::Float32, shape);
        call.run().f32s()
    }

    const ACROSS: NormalizationDescriptor = NormalizationDescriptor {
        channel_type: NormalizationAlgorithmChannel::Across.0,
        norm_size: 3,
        alpha: 0.5,
        beta: 1.0,
        k: 2.0,
        axis: 3,
    };

    #[test]
    fn neighbouring_channels_count() {
        // 1 / (2 + (1 + 4) / 2), 2 / (2 + (1 + 4 + 9) / 2), 3 / (2 + (4 + 9) / 2)
        let expected = [1.0 / 4.5, 2.0 / 9.0, 3.0 / 8.5];
        let values = [1.0, 2.0, 3.0];
        assert_close(&normalized(ACROSS, [1, 1, 1, 3], &values), &expected, 1e-6);
        let first = NormalizationDescriptor { axis: 1, ..ACROSS };
        assert_close(&normalized(first, [1, 3, 1, 1], &values), &expected, 1e-6);
        // Of two neighbours, none before and one after.
        let even = NormalizationDescriptor {
            norm_size: 2,
            ..ACROSS
        };
        let expected = [1.0 / 4.5, 2.0 / 8.5, 3.0 / 6.5];
        assert_close(&normalized(even, [1, 1, 1, 3], &values), &expected, 1e-6);
        let all = NormalizationDescriptor {
            norm_size: u32::MAX,
            ..ACROSS
        };
        let expected = [1.0, 2.0, 3.0].map(|x| x / 9.0);
        assert_close(&normalized(all, [1, 1, 1, 3], &values), &expected, 1e-6);
    }

    #[test]
    fn places_around_count_within_a_channel() {
        let within = NormalizationDescriptor {
            channel_type: NormalizationAlgorithmChannel::Within.0,
            axis: 1,
            ..ACROSS
        };
        // 1 2 over 3 4: each sees all, whose squares are 30; the other channel is 0.
        let values = [1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0];
        let expected = values.map(|x| x / 17.0);
        assert_close(&normalized(within, [1, 2, 2, 2], &values), &expected, 1e-6);
    }
}
