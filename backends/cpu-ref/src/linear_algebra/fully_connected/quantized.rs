//! FullyConnected of quantized numbers: TensorFlow Lite's reference kernels
//! (`kernels/internal/reference/fully_connected.h` and `reference/integer_ops/fully_connected.h`).

use armnn_backend_api::{ExecutionContext, LayerView, Result, Synchronous, Workload};

use crate::{
    loops::{
        matrix::MatrixProduct,
        weighted_sum::{
            Activation, Bias, RescalingRule, Sum, WeightedKernel, WeightedLayer, by_weighted_types,
            dots,
        },
    },
    workloads::parallel::for_each_chunk,
};

pub(super) fn workload(layer: LayerView<'_>, product: MatrixProduct) -> Result<Box<dyn Workload>> {
    by_weighted_types!(layer, X, W => QuantizedFullyConnected {
        product,
        layer: WeightedLayer::new(layer, product.n, RescalingRule::Real)?,
    })
}

/// Outputs computed at once.
const LANES: usize = 4;

struct QuantizedFullyConnected {
    product: MatrixProduct,
    layer: WeightedLayer,
}

impl<X: Activation> WeightedKernel<X> for QuantizedFullyConnected {
    fn channel_of_weight(&self, index: usize) -> usize {
        let MatrixProduct { k, n, .. } = self.product;
        match self.product.transpose_y {
            true => index / k.max(1),
            false => index % n.max(1),
        }
    }

    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        input: &[i16],
        weights: &[i16],
        bias: Bias<'_>,
        output: &mut [X],
    ) -> Result<()> {
        let MatrixProduct { k, n, .. } = self.product;
        let work = output.len().saturating_mul(k);
        for_each_chunk(context, output, n, work, |row, out| {
            let x = &input[row * k..][..k];
            for (chunk, out) in out.chunks_mut(LANES).enumerate() {
                let first = chunk * LANES;
                let sums: [X::Sum; LANES] = if self.product.transpose_y {
                    // The last ones may be fewer; what is computed for the rest is not used.
                    let row = |lane: usize| (first + lane).min(n - 1) * k;
                    dots(x, std::array::from_fn(|lane| &weights[row(lane)..][..k]))
                } else {
                    std::array::from_fn(|lane| {
                        let column = (first + lane).min(n - 1);
                        let products = x.iter().enumerate();
                        products.fold(X::Sum::ZERO, |sum, (i, &x)| {
                            sum.add_product(x, weights[i * n + column])
                        })
                    })
                };
                self.layer.numbers(&sums, bias, first, out);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, FullyConnectedDescriptor, Quantization, TensorInfo};

    use crate::test_harness::{Call, typed};

    #[test]
    fn inputs_are_weighted_in_either_order_of_the_weights() {
        // (1, 2, 3), as numbers above a zero point of 128, by (4, 5, 6) and (7, 8, 9): 32 and 50,
        // and biases 1 and -1. In steps of a quarter of the output's: 8.25 and 12.25.
        let rows = typed(DataType::QSymmS8, [2, 3], &[4i8, 5, 6, 7, 8, 9]);
        let columns = typed(DataType::QSymmS8, [3, 2], &[4i8, 7, 5, 8, 6, 9]);
        for (is_transposed, weights) in [(true, rows), (false, columns)] {
            let input = typed(DataType::QAsymmU8, [1, 3], &[129u8, 130, 131]);
            let output = TensorInfo::new(DataType::QAsymmU8, [1, 2])
                .quantized(Quantization::per_tensor(2.0, 100));
            let call = Call::new(FullyConnectedDescriptor::new(is_transposed))
                .input(input.quantized(Quantization::per_tensor(1.0, 128)))
                .input(weights.quantized(Quantization::per_tensor(0.5, 0)))
                .input(typed(DataType::Signed32, [2], &[1i32, -1]))
                .output_info(output);
            assert_eq!(call.run().elements::<u8>(0), [108, 112]);
        }
    }

    #[test]
    fn ties_go_away_from_zero() {
        // 5 / 2 and -5 / 2.
        let output =
            TensorInfo::new(DataType::QSymmS16, [2, 1]).quantized(Quantization::per_tensor(2.0, 0));
        let call = Call::new(FullyConnectedDescriptor::new(true))
            .input(
                typed(DataType::QSymmS16, [2, 1], &[5i16, -5])
                    .quantized(Quantization::per_tensor(1.0, 0)),
            )
            .input(
                typed(DataType::QSymmS8, [1, 1], &[1i8])
                    .quantized(Quantization::per_tensor(1.0, 0)),
            )
            .output_info(output);
        assert_eq!(call.run().elements::<i16>(0), [3, -3]);
    }
}
