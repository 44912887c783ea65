//! Det.

use armnn_backend_api::{DetDescriptor, LayerView, Result, Workload};

use crate::{
    numbers::{
        element_type::Number,
        float_tensors::{Real, by_real},
    },
    workloads::{
        layer_checks::{REALS, dims, input, invalid, output, require_one_type},
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &DetDescriptor) -> Result<()> {
    require_one_type(layer, &[REALS])
}

pub(crate) fn workload(layer: LayerView<'_>, _: &DetDescriptor) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let Some((batch, &[n, columns])) = from.split_last_chunk::<2>() else {
        return Err(invalid(format_args!("{from:?} is no matrix")));
    };
    if n != columns || dims(layer, output(layer, 0)?)? != batch {
        return Err(invalid(format_args!(
            "{from:?} is no square matrix, or not as many"
        )));
    }
    let scratch_len = n.saturating_mul(n).saturating_mul(size_of::<f64>());
    by_real!(input(layer, 0)?.data_type(), R => workload_function(layer, scratch_len, move |call| {
        let x = call.input::<<R as Number>::Stored>(0)?;
        let matrix = call.scratch::<f64>()?;
        for (i, out) in call.output::<<R as Number>::Stored>(0)?.iter_mut().enumerate() {
            let values = &x[i * n * n..][..n * n];
            for (to, &from) in matrix.iter_mut().zip(values) {
                *to = R::load(from).to_f64();
            }
            *out = R::from_f64(determinant(matrix, n)).store();
        }
        Ok(())
    }))
}

/// By elimination with the largest pivots, in place.
fn determinant(matrix: &mut [f64], n: usize) -> f64 {
    let mut result = 1.0;
    for column in 0..n {
        let size = |row: &usize| matrix[row * n + column].abs();
        let pivot = (column..n).max_by(|x, y| size(x).total_cmp(&size(y)));
        let pivot = pivot.unwrap_or(column);
        if pivot != column {
            for i in column..n {
                matrix.swap(pivot * n + i, column * n + i);
            }
            result = -result;
        }
        let value = matrix[column * n + column];
        result *= value;
        if value == 0.0 {
            return 0.0;
        }
        for row in column + 1..n {
            let factor = matrix[row * n + column] / value;
            for i in column..n {
                matrix[row * n + i] -= factor * matrix[column * n + i];
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, assert_close, f32s};

    #[test]
    fn determinants_of_matrices() {
        let values = [
            // 1 4 - 2 3 = -2; a zero first pivot: 0 1 - 2 1 = -2; rows that depend on each other.
            [1.0, 2.0, 3.0, 4.0],
            [0.0, 2.0, 1.0, 1.0],
            [1.0, 2.0, 2.0, 4.0],
        ];
        let call = Call::new(DetDescriptor::new())
            .input(f32s([3, 2, 2], &values.concat()))
            .output(DataType::Float32, [3]);
        assert_close(&call.run().f32s(), &[-2.0, -2.0, 0.0], 1e-6);
        let one = Call::new(DetDescriptor::new())
            .input(f32s([3, 3], &[2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 4.0, 0.0]))
            .output(DataType::Float32, []);
        assert_close(&one.run().f32s(), &[-24.0], 1e-6);
    }
}
