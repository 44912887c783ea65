//! Softmax.

use armnn_backend_api::{
    ExecutionContext, LayerView, Result, SoftmaxDescriptor, Synchronous, Workload,
};

use crate::{
    elementwise_binary::larger,
    float_workload::{FloatKernel, MAX_INPUTS, float_workload},
    layer_checks::{FLOATS, dims, input, invalid, output, require_one_type},
};

pub(crate) fn check(layer: LayerView<'_>, _: &SoftmaxDescriptor) -> Result<()> {
    require_one_type(layer, FLOATS)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &SoftmaxDescriptor,
) -> Result<Box<dyn Workload>> {
    let dims_in = dims(layer, input(layer, 0)?)?;
    let axis = descriptor.axis as usize;
    if axis >= dims_in.len() || dims_in != dims(layer, output(layer, 0)?)? {
        return Err(invalid(
            layer,
            format_args!("dimension {axis} of {dims_in:?}, or the output's shape, does not fit"),
        ));
    }
    let kernel = Softmax {
        beta: descriptor.beta,
        len: dims_in[axis],
        inner: dims_in[axis + 1..].iter().product(),
    };
    float_workload(layer, kernel)
}

/// Blocks [len, inner], with a softmax over `len`.
struct Softmax {
    beta: f32,
    len: usize,
    inner: usize,
}

impl FloatKernel for Softmax {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [f32],
        [input, ..]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
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
    fn softmax(&self, input: &[f32], output: &mut [f32]) {
        let exponents = || input.iter().step_by(self.inner).map(|&x| self.beta * x);
        let largest = exponents().fold(f32::NEG_INFINITY, larger);
        let mut sum = 0.0;
        for (out, exponent) in output.iter_mut().step_by(self.inner).zip(exponents()) {
            *out = (exponent - largest).exp();
            sum += *out;
        }
        for out in output.iter_mut().step_by(self.inner) {
            *out /= sum;
        }
    }
}
