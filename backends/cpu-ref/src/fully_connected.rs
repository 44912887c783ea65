//! FullyConnected.

use armnn_backend_api::{
    ExecutionContext, FullyConnectedDescriptor, LayerView, Result, Synchronous, Workload,
};

use crate::{
    convolution2d::check_bias,
    float_workload::{FloatKernel, MAX_INPUTS, float_workload},
    layer_checks::{FLOATS, dims_of_rank, input, invalid, num_elements, output, require_one_type},
    matrix::MatrixProduct,
};

pub(crate) fn check(layer: LayerView<'_>, _: &FullyConnectedDescriptor) -> Result<()> {
    require_one_type(layer, FLOATS)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &FullyConnectedDescriptor,
) -> Result<Box<dyn Workload>> {
    let is_transposed = descriptor.transpose_weight_matrix != 0;
    let (n, k) = match dims_of_rank(layer, input(layer, 1)?)? {
        [outputs, inputs] if is_transposed => (outputs, inputs),
        [inputs, outputs] => (outputs, inputs),
    };
    let output_len = num_elements(layer, output(layer, 0)?)?;
    let m = output_len.checked_div(n).unwrap_or(0);
    let input_len = num_elements(layer, input(layer, 0)?)?;
    // Without outputs (n = 0) the number of batches cannot be told, and does not matter.
    if m * n != output_len || (n > 0 && m.checked_mul(k) != Some(input_len)) {
        return Err(invalid(
            layer,
            format_args!(
                "weights from {k} to {n} do not fit an input of {input_len} elements and an \
                 output of {output_len}"
            ),
        ));
    }
    check_bias(layer, n)?;
    let product = MatrixProduct {
        m,
        k,
        n,
        transpose_x: false,
        transpose_y: is_transposed,
    };
    float_workload(layer, FullyConnected(product))
}

struct FullyConnected(MatrixProduct);

impl FloatKernel for FullyConnected {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [f32],
        [input, weights, bias]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
    ) -> Result<()> {
        self.0.run(scratch, input, weights, bias, output);
        Ok(())
    }
}
