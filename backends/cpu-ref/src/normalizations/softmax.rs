//! Softmax.

mod quantized;

use armnn_backend_api::{
    ExecutionContext, LayerView, Result, SoftmaxDescriptor, Synchronous, Workload,
};

use crate::{
    elementwise::elementwise_binary::larger,
    numbers::{quantized_arithmetic::QUANTIZED, real::Real},
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{REALS, dims, input, invalid, output, require_one_type},
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &SoftmaxDescriptor) -> Result<()> {
    require_one_type(layer, &[REALS, QUANTIZED])?;
    match output(layer, 0)?.data_type().is_quantized() {
        true => quantized::check(layer),
        false => Ok(()),
    }
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &SoftmaxDescriptor,
) -> Result<Box<dyn Workload>> {
    let dims_in = dims(layer, input(layer, 0)?)?;
    let axis = descriptor.axis as usize;
    if axis >= dims_in.len() || dims_in != dims(layer, output(layer, 0)?)? {
        return Err(invalid(format_args!(
            "dimension {axis} of {dims_in:?}, or the output's shape, does not fit"
        )));
    }
    let kernel = Softmax {
        beta: descriptor.beta,
        len: dims_in[axis],
        inner: dims_in[axis + 1..].iter().product(),
    };
    if output(layer, 0)?.data_type().is_quantized() {
        return quantized::workload(layer, kernel);
    }
    real_workload(layer, kernel)
}

/// Blocks [len, inner], with a softmax over `len`.
struct Softmax {
    beta: f32,
    len: usize,
    inner: usize,
}

impl<F: Real> FloatKernel<F> for Softmax {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, ..]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let block = self.len * self.inner;
        for (input, output) in input
            .chunks_exact(block)
            .zip(output.chunks_exact_mut(block))
        {
            for at in 0..self.inner {
                self.softmax(&input[at..], &mut output[at..]);
            }
        }
        Ok(())
    }
}

impl Softmax {
    /// Along every `inner`-th element. The largest exponent is taken off all of them, which
    /// changes nothing but that no power overflows.
    fn softmax<F: Real>(&self, input: &[F], output: &mut [F]) {
        let beta = F::from_f64(self.beta.into());
        let exponents = || input.iter().step_by(self.inner).map(|&x| beta * x);
        let largest = exponents().fold(F::NEG_INFINITY, larger);
        let mut sum = F::ZERO;
        for (out, exponent) in output.iter_mut().step_by(self.inner).zip(exponents()) {
            *out = (exponent - largest).exp();
            sum += *out;
        }
        for out in output.iter_mut().step_by(self.inner) {
            *out /= sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Shape};

    use super::*;
    use crate::test_harness::{Call, assert_close, f16s, f32s, sample_values, typed};

    #[test]
    fn powers_are_divided_by_their_sum() {
        // e^(ln 1), e^(ln 3) of a sum of 4; with beta = 2 they are squared: 1 and 9 of 10.
        let ln_3 = 3f32.ln();
        for (beta, expected) in [(1.0, [0.25, 0.75]), (2.0, [0.1, 0.9])] {
            let call = Call::new(SoftmaxDescriptor { beta, axis: 0 })
                .input(f32s([2], &[0.0, ln_3]))
                .output(DataType::Float32, [2]);
            assert_close(&call.run().f32s(), &expected, 1e-7);
        }
    }

    #[test]
    fn every_axis_is_as_defined() {
        let dims = [2, 3, 4];
        let values = sample_values(24);
        for axis in 0..3 {
            let inner: usize = dims[axis + 1..].iter().product();
            let power = |i: usize| f64::from(-1.5 * values[i]).exp();
            let expected: Vec<f32> = (0..24)
                .map(|i| {
                    let first = i - i / inner % dims[axis] * inner;
                    let sum: f64 = (0..dims[axis]).map(|k| power(first + k * inner)).sum();
                    (power(i) / sum) as f32
                })
                .collect();
            let axis = axis as u32;
            let call = Call::new(SoftmaxDescriptor { beta: -1.5, axis })
                .input(f32s([2, 3, 4], &values))
                .output(DataType::Float32, [2, 3, 4]);
            assert_close(&call.run().f32s(), &expected, 2e-7);
        }
    }

    #[test]
    fn large_numbers_do_not_overflow() {
        let call = Call::new(SoftmaxDescriptor { beta: 1.0, axis: 0 })
            .input(f32s([3], &[1000.0, 1000.0, -1000.0]))
            .output(DataType::Float32, [3]);
        assert_eq!(call.run().f32s(), [0.5, 0.5, 0.0]);
    }

    #[test]
    fn float16_and_empty_tensors() {
        let call = Call::new(SoftmaxDescriptor { beta: 1.0, axis: 1 })
            .input(f16s([1, 2], &[3.0, 3.0]))
            .output(DataType::Float16, [1, 2]);
        assert_eq!(call.run().f16s(), [0.5, 0.5]);
        let call = Call::new(SoftmaxDescriptor { beta: 1.0, axis: 1 })
            .input(f32s([2, 0], &[]))
            .output(DataType::Float32, [2, 0]);
        assert!(call.run().f32s().is_empty());
    }

    #[test]
    fn an_axis_that_is_not_there_is_an_error() {
        let call = Call::new(SoftmaxDescriptor { beta: 1.0, axis: 0 })
            .input(f32s(Shape::SCALAR, &[1.0]))
            .output(DataType::Float32, Shape::SCALAR);
        assert!(call.error().contains("dimension 0 of []"));
    }

    #[test]
    fn float64_is_computed_in_itself() {
        // e^0 and e^(ln 3) of a sum of 4.
        let descriptor = SoftmaxDescriptor { beta: 1.0, axis: 0 };
        let call = Call::new(descriptor)
            .input(typed(DataType::Float64, [2], &[0.0, 3f64.ln()]))
            .output(DataType::Float64, [2]);
        let found = call.run().elements::<f64>(0);
        assert!((found[0] - 0.25).abs() < 1e-15 && (found[1] - 0.75).abs() < 1e-15);
    }
}
