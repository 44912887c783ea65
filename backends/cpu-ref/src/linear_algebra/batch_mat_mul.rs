//! BatchMatMul.

mod quantized;

use armnn_backend_api::{
    BatchMatMulDescriptor, ExecutionContext, LayerView, Result, Synchronous, Workload,
};

use crate::{
    loops::{
        loop_nest::{LoopNest, broadcast_strides, dense_strides},
        matrix::MatrixProduct,
    },
    numbers::real::Real,
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{REALS, dims, input, invalid, output, require_one_type},
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &BatchMatMulDescriptor) -> Result<()> {
    if input(layer, 0)?.data_type().is_quantized() {
        return quantized::check(layer);
    }
    require_one_type(layer, &[REALS])
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &BatchMatMulDescriptor,
) -> Result<Box<dyn Workload>> {
    let x = dims(layer, input(layer, 0)?)?;
    let y = dims(layer, input(layer, 1)?)?;
    let out = dims(layer, output(layer, 0)?)?;
    let kernel = BatchMatMul::new(descriptor, &x, &y, &out)
        .ok_or_else(|| invalid(format_args!("{x:?} and {y:?} do not multiply to {out:?}")))?;
    if input(layer, 0)?.data_type().is_quantized() {
        return quantized::workload(layer, kernel);
    }
    real_workload(layer, kernel)
}

struct BatchMatMul {
    product: MatrixProduct,
    /// Over the matrices of the output; the operands are x, y and the output.
    batches: LoopNest<3>,
}

impl BatchMatMul {
    /// `None` when the dimensions do not fit together.
    fn new(d: &BatchMatMulDescriptor, x: &[usize], y: &[usize], out: &[usize]) -> Option<Self> {
        let (x_batch, &[x_rows, x_columns]) = x.split_last_chunk()?;
        let (y_batch, &[y_rows, y_columns]) = y.split_last_chunk()?;
        let (batch, &[m, n]) = out.split_last_chunk()?;
        let [transpose_x, transpose_y] = [d.transpose_x != 0, d.transpose_y != 0];
        let exchanged = |exchange, a, b| if exchange { (b, a) } else { (a, b) };
        let (x_m, k) = exchanged(transpose_x, x_rows, x_columns);
        let (y_k, y_n) = exchanged(transpose_y, y_rows, y_columns);
        if (x_m, y_k, y_n) != (m, k, n) {
            return None;
        }
        // Strides of whole matrices.
        let scaled = |strides: Vec<isize>, len: usize| -> Vec<isize> {
            strides.iter().map(|s| s * len as isize).collect()
        };
        let x_strides = scaled(broadcast_strides(x_batch, batch)?, m * k);
        let y_strides = scaled(broadcast_strides(y_batch, batch)?, k * n);
        let strides = scaled(dense_strides(batch), m * n);
        Some(Self {
            product: MatrixProduct {
                m,
                k,
                n,
                transpose_x,
                transpose_y,
            },
            batches: LoopNest::new(batch, [&x_strides, &y_strides, &strides], [0; 3]),
        })
    }

    /// Calls `f` with where the matrices of x, y and the output start, for each of the output.
    fn for_each_matrix(&self, mut f: impl FnMut([usize; 3])) {
        let strides = self.batches.row_strides();
        self.batches.for_each_row(|mut at| {
            for _ in 0..self.batches.row_len() {
                f(at);
                for (at, &stride) in at.iter_mut().zip(&strides) {
                    *at = at.wrapping_add_signed(stride);
                }
            }
        });
    }
}

impl<F: Real> FloatKernel<F> for BatchMatMul {
    fn scratch_len(&self) -> usize {
        self.product.scratch_len()
    }

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [F],
        [x, y, _]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        let MatrixProduct { m, k, n, .. } = self.product;
        self.for_each_matrix(|[at_x, at_y, at_out]| {
            let x = &x[at_x..][..m * k];
            let y = &y[at_y..][..k * n];
            let out = &mut output[at_out..][..m * n];
            self.product.run(scratch, x, y, &[], out);
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Shape};

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_close, f16s, f32s, sample_values, typed};

    fn product(transpose: [bool; 2], x: Tensor, y: Tensor, out: &[i64]) -> Call {
        let data_type = x.info.data_type;
        Call::new(BatchMatMulDescriptor::new(transpose[0], transpose[1]))
            .input(x)
            .input(y)
            .output(data_type, Shape::new(out).unwrap())
    }

    #[test]
    fn matrices_multiply_in_every_orientation() {
        // (1 2 3)   (1 0)   (1 + 3, 2 - 3)
        // (4 5 6) * (0 1) = (4 + 6, 5 - 6)
        //           (1 -1)
        let x = f32s([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let x_transposed = f32s([3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        let y = f32s([3, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, -1.0]);
        let y_transposed = f32s([2, 3], &[1.0, 0.0, 1.0, 0.0, 1.0, -1.0]);
        for (transpose_x, x) in [(false, x), (true, x_transposed)] {
            for (transpose_y, y) in [(false, &y), (true, &y_transposed)] {
                let transpose = [transpose_x, transpose_y];
                let found = product(transpose, x.clone(), y.clone(), &[2, 2])
                    .run()
                    .f32s();
                assert_eq!(found, [4.0, -1.0, 10.0, -1.0], "{transpose:?}");
            }
        }
    }

    #[test]
    fn leading_dimensions_broadcast() {
        // x [2, 1, 3, 4], y [5, 4, 2], output [2, 5, 3, 2].
        let (x, y) = (sample_values(2 * 3 * 4), sample_values(5 * 4 * 2));
        let mut expected = vec![];
        for i in 0..2 * 5 * 3 * 2 {
            let (a, b, m, n) = (i / 30, i / 6 % 5, i / 2 % 3, i % 2);
            let products = (0..4)
                .map(|k| f64::from(x[(a * 3 + m) * 4 + k]) * f64::from(y[(b * 4 + k) * 2 + n]));
            expected.push(products.sum::<f64>() as f32);
        }
        let (x, y) = (f32s([2, 1, 3, 4], &x), f32s([5, 4, 2], &y));
        let found = product([false, false], x, y, &[2, 5, 3, 2]).run().f32s();
        assert_close(&found, &expected, 0.0);
    }

    #[test]
    fn float16_and_empty_sums() {
        let x = f16s([1, 3], &[2048.0, 1.0, 1.0]);
        let found = product([false, true], x.clone(), f16s([1, 3], &[1.0; 3]), &[1, 1]).run();
        assert_eq!(found.f16s(), [2050.0]);
        let (x, y) = (f32s([2, 0], &[]), f32s([0, 1], &[]));
        assert_eq!(
            product([false, false], x, y, &[2, 1]).run().f32s(),
            [0.0, 0.0]
        );
    }

    #[test]
    fn inner_sizes_that_differ_are_an_error() {
        let (x, y) = (f32s([1, 2], &[0.0; 2]), f32s([3, 1], &[0.0; 3]));
        let error = product([false, false], x, y, &[1, 1]).error();
        assert!(
            error.contains("[1, 2] and [3, 1] do not multiply to [1, 1]"),
            "{error}"
        );
    }

    #[test]
    fn float64_is_computed_in_itself() {
        // 1 * 1 + 2^-20 * 2^-20, which needs 41 bits.
        let little = 2f64.powi(-20);
        for transpose in [[false, true], [true, false]] {
            let dims = |transposed| if transposed { [2, 1] } else { [1, 2] };
            let x = typed(DataType::Float64, dims(transpose[0]), &[1.0, little]);
            let y = typed(DataType::Float64, dims(!transpose[1]), &[1.0, little]);
            let found = product(transpose, x, y, &[1, 1]).run();
            assert_eq!(found.elements::<f64>(0), [1.0 + little * little]);
        }
    }
}
