//! BatchMatMul of quantized numbers: TensorFlow Lite's reference kernels
//! (`kernels/batch_matmul.cc` and `kernels/internal/reference/batch_matmul.h`), which rescale in
//! fixed point.

use armnn_backend_api::{ExecutionContext, LayerView, Result, Synchronous, Workload};

use super::BatchMatMul;
use crate::{
    loops::{
        matrix::MatrixProduct,
        weighted_sum::{Activation, Sum, without_zero_point},
    },
    numbers::quantized_arithmetic::{Affine, Multiplier, QUANTIZED, by_quantized_type},
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
        layer_checks::{input, output, require_input, require_output},
    },
};

/// Refuses operands of two types, and tensors without exactly one scale.
pub(super) fn check(layer: LayerView<'_>) -> Result<()> {
    require_input(layer, 0, &[QUANTIZED])?;
    let common = input(layer, 0)?.data_type();
    require_input(layer, 1, &[&[common]])?;
    require_output(layer, 0, &[&[common]])?;
    Affine::of(input(layer, 0)?, "x")?;
    Affine::of(input(layer, 1)?, "y")?;
    Affine::of(output(layer, 0)?, "output").map(|_| ())
}

pub(super) fn workload(layer: LayerView<'_>, product: BatchMatMul) -> Result<Box<dyn Workload>> {
    let x = Affine::of(input(layer, 0)?, "x")?;
    let y = Affine::of(input(layer, 1)?, "y")?;
    let to = Affine::of(output(layer, 0)?, "output")?;
    // The scales of the operands are multiplied in Float32, as there.
    let factor = Multiplier::new(f64::from(x.scale * y.scale) / f64::from(to.scale));
    by_quantized_type!(output(layer, 0)?.data_type(), Q => {
        element_workload(layer, QuantizedBatchMatMul::<Q> {
            product,
            zero_points: [x.zero_point as i16, y.zero_point as i16],
            output_zero_point: to.zero_point,
            factor,
            element: std::marker::PhantomData,
        })
    })
}

struct QuantizedBatchMatMul<Q> {
    product: BatchMatMul,
    zero_points: [i16; 2],
    output_zero_point: i32,
    factor: Multiplier,
    element: std::marker::PhantomData<fn(Q)>,
}

/// Columns computed at once.
const LANES: usize = 16;

impl<Q: Activation> QuantizedBatchMatMul<Q> {
    fn multiply(&self, x: &[Q], y: &[Q], out: &mut [Q]) {
        let MatrixProduct {
            m,
            k,
            n,
            transpose_x,
            transpose_y,
        } = self.product.product;
        if n == 0 {
            return;
        }
        let [zero_x, zero_y] = self.zero_points;
        let number = |sum: Q::Sum| {
            let number = sum.by_fixed_point(self.factor);
            Q::saturating(number.saturating_add(self.output_zero_point))
        };
        for (row, out) in out.chunks_exact_mut(n).enumerate() {
            if transpose_y && !transpose_x {
                let x = &x[row * k..][..k];
                for (column, out) in out.iter_mut().enumerate() {
                    let y = &y[column * k..][..k];
                    let sum = x.iter().zip(y).fold(Q::Sum::ZERO, |sum, (&x, &y)| {
                        sum.add_product(
                            without_zero_point(x, zero_x),
                            without_zero_point(y, zero_y),
                        )
                    });
                    *out = number(sum);
                }
                continue;
            }
            for (block, out) in out.chunks_mut(LANES).enumerate() {
                let first = block * LANES;
                let mut sums = [Q::Sum::ZERO; LANES];
                for i in 0..k {
                    let x = if transpose_x {
                        x[i * m + row]
                    } else {
                        x[row * k + i]
                    };
                    let x = without_zero_point(x, zero_x);
                    for (lane, sum) in sums[..out.len()].iter_mut().enumerate() {
                        let column = first + lane;
                        let y = if transpose_y {
                            y[column * k + i]
                        } else {
                            y[i * n + column]
                        };
                        *sum = sum.add_product(x, without_zero_point(y, zero_y));
                    }
                }
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = number(sum);
                }
            }
        }
    }
}

impl<Q: Activation> Kernel for QuantizedBatchMatMul<Q> {
    type Input = Q;
    type Output = Q;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [x, y, _]: [&[Q]; MAX_INPUTS],
        output: &mut [Q],
    ) -> Result<()> {
        let MatrixProduct { m, k, n, .. } = self.product.product;
        self.product.for_each_matrix(|[at_x, at_y, at_out]| {
            let x = &x[at_x..][..m * k];
            let y = &y[at_y..][..k * n];
            self.multiply(x, y, &mut output[at_out..][..m * n]);
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{BatchMatMulDescriptor, DataType, Element, Quantization, TensorInfo};

    use crate::test_harness::{Call, assert_refused, typed};

    fn multiplied<T: Element>(
        data_type: DataType,
        transpose: [bool; 2],
        number: fn(i16) -> T,
    ) -> Vec<T> {
        // (1 2 3; 4 5 6) by (1 0; 0 1; 2 -1): 7 -1 and 16 -1.
        let x = if transpose[0] {
            [1, 4, 2, 5, 3, 6]
        } else {
            [1, 2, 3, 4, 5, 6]
        };
        let y = if transpose[1] {
            [1, 0, 2, 0, 1, -1]
        } else {
            [1, 0, 0, 1, 2, -1]
        };
        let shape = |is_transposed, shape: [i64; 2]| {
            if is_transposed {
                [shape[1], shape[0]]
            } else {
                shape
            }
        };
        let scaled = |scale| Quantization::per_tensor(scale, 0);
        let call = Call::new(BatchMatMulDescriptor::new(transpose[0], transpose[1]))
            .input(
                typed(data_type, shape(transpose[0], [2, 3]), &x.map(number))
                    .quantized(scaled(0.5)),
            )
            .input(
                typed(data_type, shape(transpose[1], [3, 2]), &y.map(number))
                    .quantized(scaled(0.5)),
            )
            .output_info(TensorInfo::new(data_type, [2, 2]).quantized(scaled(0.25)));
        call.run().elements(0)
    }

    #[test]
    fn either_operand_may_be_transposed() {
        for transpose in [[false, false], [false, true], [true, false], [true, true]] {
            let found = multiplied(DataType::QAsymmS8, transpose, |x| x as i8);
            assert_eq!(found, [7, -1, 16, -1]);
            assert_eq!(
                multiplied(DataType::QSymmS16, transpose, |x| x),
                [7, -1, 16, -1]
            );
        }
    }

    #[test]
    fn operands_of_two_types_are_refused() {
        let scaled = || Quantization::per_tensor(1.0, 0);
        let call = Call::new(BatchMatMulDescriptor::new(false, false))
            .input(typed(DataType::QSymmS16, [1, 1], &[0i16]).quantized(scaled()))
            .input(typed(DataType::QAsymmS8, [1, 1], &[0i8]).quantized(scaled()))
            .output_info(TensorInfo::new(DataType::QSymmS16, [1, 1]).quantized(scaled()));
        assert_refused(&call, &["the type of y is QAsymmS8; supported: QSymmS16"]);
    }
}
