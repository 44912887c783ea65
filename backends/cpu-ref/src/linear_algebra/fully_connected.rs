//! FullyConnected.

mod quantized;

use armnn_backend_api::{
    ExecutionContext, FullyConnectedDescriptor, LayerView, Result, Synchronous, Workload,
};

use crate::{
    convolution::convolution2d::check_bias,
    loops::{matrix::MatrixProduct, weighted_sum},
    numbers::real::Real,
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{REALS, dims_of_rank, input, invalid, num_elements, output},
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &FullyConnectedDescriptor) -> Result<()> {
    if weighted_sum::is_quantized(layer)? {
        return weighted_sum::check(layer);
    }
    weighted_sum::check_real(layer, REALS)
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
        return Err(invalid(format_args!(
            "weights from {k} to {n} do not fit an input of {input_len} elements and an \
                 output of {output_len}"
        )));
    }
    check_bias(layer, n)?;
    let product = MatrixProduct {
        m,
        k,
        n,
        transpose_x: false,
        transpose_y: is_transposed,
    };
    if weighted_sum::is_quantized(layer)? {
        return quantized::workload(layer, product);
    }
    real_workload(layer, FullyConnected(product))
}

struct FullyConnected(MatrixProduct);

impl<F: Real> FloatKernel<F> for FullyConnected {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [F],
        [input, weights, bias]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        self.0.run(scratch, input, weights, bias, output);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, f16s, f32s, typed};

    #[test]
    fn inputs_are_weighted_in_either_order_of_the_weights() {
        // (1, 2, 3) by (4, 5, 6) and (7, 8, 9): 32 and 50; (0, 1, 0): 5 and 8. Biases 0.5 and -1.
        let input = f32s([2, 3], &[1.0, 2.0, 3.0, 0.0, 1.0, 0.0]);
        let bias = f32s([2], &[0.5, -1.0]);
        let rows = f32s([2, 3], &[4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        let columns = f32s([3, 2], &[4.0, 7.0, 5.0, 8.0, 6.0, 9.0]);
        for (is_transposed, weights) in [(true, rows), (false, columns)] {
            let call = Call::new(FullyConnectedDescriptor::new(is_transposed))
                .input(input.clone())
                .input(weights)
                .input(bias.clone())
                .output(DataType::Float32, [2, 2]);
            assert_eq!(call.run().f32s(), [32.5, 49.0, 5.5, 7.0]);
        }
    }

    #[test]
    fn the_input_is_flattened_and_the_bias_may_be_absent() {
        let call = Call::new(FullyConnectedDescriptor::new(true))
            .input(f32s([2, 1, 2], &[1.0, 2.0, 3.0, 4.0]))
            .input(f32s([1, 2], &[10.0, 1.0]))
            .output(DataType::Float32, [2, 1]);
        assert_eq!(call.run().f32s(), [12.0, 34.0]);
    }

    #[test]
    fn float16_and_no_inputs() {
        let call = Call::new(FullyConnectedDescriptor::new(true))
            .input(f16s([1, 3], &[2048.0, 1.0, 1.0]))
            .input(f16s([1, 3], &[1.0, 1.0, 1.0]))
            .output(DataType::Float16, [1, 1]);
        assert_eq!(call.run().f16s(), [2050.0]);
        let call = Call::new(FullyConnectedDescriptor::new(false))
            .input(f32s([2, 0], &[]))
            .input(f32s([0, 1], &[]))
            .input(f32s([1], &[3.0]))
            .output(DataType::Float32, [2, 1]);
        assert_eq!(call.run().f32s(), [3.0, 3.0]);
    }

    #[test]
    fn an_input_of_another_size_is_an_error() {
        let call = Call::new(FullyConnectedDescriptor::new(true))
            .input(f32s([1, 3], &[0.0; 3]))
            .input(f32s([1, 2], &[0.0; 2]))
            .output(DataType::Float32, [1, 1]);
        assert!(call.error().contains("do not fit"));
    }

    #[test]
    fn float64_is_computed_in_itself() {
        // 2^-40 gets lost beside 1 in Float32.
        let little = 2f64.powi(-40);
        let call = Call::new(FullyConnectedDescriptor::new(true))
            .input(typed(DataType::Float64, [1, 2], &[1.0, 2.0]))
            .input(typed(DataType::Float64, [1, 2], &[3.0, 4.0]))
            .input(typed(DataType::Float64, [1], &[little]))
            .output(DataType::Float64, [1, 1]);
        assert_eq!(call.run().elements::<f64>(0), [11.0 + little]);
    }
}
