//! Products of matrices.

use armnn_backend_api::{
    BatchMatMulDescriptor, FullyConnectedDescriptor, LayerDescriptor as D, Shape,
};

use super::dimension::{UNKNOWN, broadcast, known, merge_dim, shape_of};
use super::{Arguments, Result, boolean};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::BatchMatMul(d) => batch_mat_mul(d, arguments),
        D::FullyConnected(d) => fully_connected(d, arguments),
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

fn batch_mat_mul(d: &BatchMatMulDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    boolean("transpose_x", d.transpose_x.into())?;
    boolean("transpose_y", d.transpose_y.into())?;
    let matrix = |index: usize, transposed: bool| -> Result<(Shape, [i64; 2])> {
        let shape = arguments.input(index)?;
        let Some((batch, &[rows, columns])) = shape.dims().split_last_chunk::<2>() else {
            return Err(arguments.rank_problem(index, "2 or more".to_owned(), shape));
        };
        let matrix = if transposed {
            [columns, rows]
        } else {
            [rows, columns]
        };
        Ok((shape_of(batch)?, matrix))
    };
    let (x_batch, [m, x_k]) = matrix(0, d.transpose_x == 1)?;
    let (y_batch, [y_k, n]) = matrix(1, d.transpose_y == 1)?;
    if merge_dim(x_k, y_k).is_none() {
        let axis = arguments.input(1)?.rank() - if d.transpose_y == 1 { 1 } else { 2 };
        return Err(arguments.dimension_problem(
            1,
            axis,
            x_k,
            "a row of the first matrix is multiplied by a column of the second",
        ));
    }
    let batch = broadcast(&x_batch, &y_batch)?;
    let mut dims = batch.dims().to_vec();
    dims.extend([m, n]);
    shape_of(&dims)
}

fn fully_connected(d: &FullyConnectedDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    boolean("transpose_weight_matrix", d.transpose_weight_matrix.into())?;
    let input = arguments.input(0)?;
    let weights = arguments.input_of_rank(1, 2)?;
    let (input_axis, output_axis) = match d.transpose_weight_matrix {
        1 => (1, 0),
        _ => (0, 1),
    };
    let mut outputs = weights.dims()[output_axis];
    if arguments.optional(2).is_some() {
        let bias = arguments.input_of_rank(2, 1)?;
        outputs = merge_dim(outputs, bias.dims()[0]).ok_or_else(|| {
            arguments.dimension_problem(2, 0, outputs, "there is one bias for each output")
        })?;
    }
    let batch = match known(weights.dims()[input_axis]) {
        Some(0) => {
            return Err(arguments.dimension_problem(
                1,
                input_axis,
                "at least 1",
                "the number of rows is the input's elements divided by it",
            ));
        }
        Some(inputs) => rows_of(&input, inputs).ok_or_else(|| {
            arguments.dimension_problem(
                1,
                input_axis,
                format!("a divisor of the number of elements of {input}"),
                "the input is cut into rows of this size",
            )
        })?,
        None => UNKNOWN,
    };
    shape_of(&[batch, outputs])
}

/// How many rows of `size` elements a shape is; `None` if that is no whole number.
fn rows_of(shape: &Shape, size: i64) -> Option<i64> {
    if !shape.is_known() {
        return Some(UNKNOWN);
    }
    let elements = i64::try_from(shape.num_elements()?).ok()?;
    (elements.checked_rem(size)? == 0).then(|| elements / size)
}
