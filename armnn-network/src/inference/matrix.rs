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
        D::Det(_) => determinant(arguments),
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

fn determinant(arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    let Some((batch, &[rows, columns])) = input.dims().split_last_chunk::<2>() else {
        return Err(arguments.rank_problem(0, "2 or more".to_owned(), input));
    };
    if merge_dim(rows, columns).is_none() {
        let axis = input.rank() - 1;
        return Err(arguments.dimension_problem(0, axis, rows, "the matrices are square"));
    }
    shape_of(batch)
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

#[cfg(test)]
mod tests {
    use armnn_backend_api::DetDescriptor;

    use super::super::tests::{refused_field, shape_after};
    use super::*;

    #[test]
    fn inner_sizes_meet_and_leading_ones_broadcast() {
        let plain = BatchMatMulDescriptor::new(false, false);
        let x = Shape::from([7, 1, 2, 3]);
        let y = Shape::from([5, 3, 4]);
        assert_eq!(shape_after(plain, &[x, y]), Ok(Shape::from([7, 5, 2, 4])));
        // [3, 2] and [4, 3], both transposed first.
        let both = BatchMatMulDescriptor::new(true, true);
        let inputs = [Shape::from([3, 2]), Shape::from([4, 3])];
        assert_eq!(shape_after(both, &inputs), Ok(Shape::from([2, 4])));
        let unknown = [Shape::from([-1, 3]), Shape::from([-1, -1])];
        assert_eq!(shape_after(plain, &unknown), Ok(Shape::from([-1, -1])));
    }

    #[test]
    fn a_determinant_is_of_square_matrices() {
        let d = DetDescriptor::new();
        assert_eq!(
            shape_after(d, &[Shape::from([2, -1, 3])]),
            Ok(Shape::from([2]))
        );
        assert!(shape_after(d, &[Shape::from([2, 3])]).is_err());
        assert!(shape_after(d, &[Shape::from([2])]).is_err());
    }

    #[test]
    fn matrices_that_do_not_meet_are_refused() {
        let plain = BatchMatMulDescriptor::new(false, false);
        let inputs = [Shape::from([2, 3]), Shape::from([4, 5])];
        assert_eq!(
            shape_after(plain, &inputs).unwrap_err().to_string(),
            "dimension 0 of input 'y', whose shape is [4, 5], must be 3, because a row of the \
             first matrix is multiplied by a column of the second"
        );
        let vector = [Shape::from([3]), Shape::from([3, 5])];
        let problem = shape_after(plain, &vector).unwrap_err();
        assert!(matches!(problem, LayerProblem::Rank { .. }), "{problem}");
        let mut odd = plain;
        odd.transpose_y = 2;
        assert_eq!(refused_field(shape_after(odd, &inputs)), "transpose_y");
    }

    #[test]
    fn the_input_is_cut_into_rows_of_the_weights() {
        let transposed = FullyConnectedDescriptor::new(true);
        let bias = Shape::from([10]);
        // 2 · 3 · 4 = 24 elements are 4 rows of 6.
        let input = Shape::from([2, 3, 4]);
        let result = shape_after(transposed, &[input, Shape::from([10, 6]), bias]);
        assert_eq!(result, Ok(Shape::from([4, 10])));
        let plain = FullyConnectedDescriptor::new(false);
        let result = shape_after(plain, &[input, Shape::from([6, 10]), bias]);
        assert_eq!(result, Ok(Shape::from([4, 10])));
        let unknown = Shape::from([-1, 6]);
        let result = shape_after(plain, &[unknown, Shape::from([6, 10])]);
        assert_eq!(result, Ok(Shape::from([-1, 10])));
        let single = shape_after(plain, &[Shape::SCALAR, Shape::from([1, 2])]);
        assert_eq!(single, Ok(Shape::from([1, 2])));
    }

    #[test]
    fn weights_that_do_not_fit_are_refused() {
        let plain = FullyConnectedDescriptor::new(false);
        let input = Shape::from([2, 3]);
        for (weights, bias) in [
            // 6 elements are no multiple of 4.
            (Shape::from([4, 10]), Shape::from([10])),
            (Shape::from([0, 10]), Shape::from([10])),
            (Shape::from([6, 10]), Shape::from([6])),
        ] {
            let problem = shape_after(plain, &[input, weights, bias]).unwrap_err();
            assert!(
                matches!(problem, LayerProblem::Dimension { .. }),
                "{problem}"
            );
        }
    }
}
