//! BatchMatMul.

use armnn_backend_api::{
    BatchMatMulDescriptor, ExecutionContext, LayerView, Result, Synchronous, Workload,
};

use crate::{
    float_workload::{FloatKernel, MAX_INPUTS, float_workload},
    layer_checks::{FLOATS, dims, input, invalid, output, require_one_type},
    loop_nest::{LoopNest, broadcast_strides, dense_strides},
    matrix::MatrixProduct,
};

pub(crate) fn check(layer: LayerView<'_>, _: &BatchMatMulDescriptor) -> Result<()> {
    require_one_type(layer, FLOATS)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &BatchMatMulDescriptor,
) -> Result<Box<dyn Workload>> {
    let x = dims(layer, input(layer, 0)?)?;
    let y = dims(layer, input(layer, 1)?)?;
    let out = dims(layer, output(layer, 0)?)?;
    let kernel = BatchMatMul::new(descriptor, &x, &y, &out).ok_or_else(|| {
        invalid(
            layer,
            format_args!("{x:?} and {y:?} do not multiply to {out:?}"),
        )
    })?;
    float_workload(layer, kernel)
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
}

impl FloatKernel for BatchMatMul {
    fn scratch_len(&self) -> usize {
        self.product.scratch_len()
    }

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [f32],
        [x, y, _]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
    ) -> Result<()> {
        let MatrixProduct { m, k, n, .. } = self.product;
        let strides = self.batches.row_strides();
        self.batches.for_each_row(|mut at| {
            for _ in 0..self.batches.row_len() {
                let x = &x[at[0]..][..m * k];
                let y = &y[at[1]..][..k * n];
                let out = &mut output[at[2]..][..m * n];
                self.product.run(scratch, x, y, &[], out);
                for (at, &stride) in at.iter_mut().zip(&strides) {
                    *at = at.wrapping_add_signed(stride);
                }
            }
        });
        Ok(())
    }
}
