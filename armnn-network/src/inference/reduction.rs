//! Layers that compute along whole dimensions.

use armnn_backend_api::{ArgMinMaxDescriptor, LayerDescriptor as D, ReduceDescriptor, Shape};

use super::dimension::{shape_of, with_dims};
use super::{Arguments, Result, axis_of, bad_field, boolean, count, named};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::ArgMinMax(d) => arg_min_max(d, arguments.input(0)?),
        D::Cumulative(d) => {
            let input = arguments.input(0)?;
            named("operation", d.operation, d.operation().name())?;
            boolean("exclusive", d.exclusive)?;
            boolean("reverse", d.reverse)?;
            axis_of(d.axis, input)?;
            Ok(input)
        }
        D::Reduce(d) => reduce(d, arguments.input(0)?),
        D::Softmax(d) => {
            let input = arguments.input(0)?;
            axis_of(d.axis, input)?;
            Ok(input)
        }
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

fn arg_min_max(d: &ArgMinMaxDescriptor, input: Shape) -> Result<Shape> {
    named("function", d.function, d.function().name())?;
    boolean("keep_dims", d.keep_dims)?;
    boolean("select_last_index", d.select_last_index)?;
    let axis = axis_of(d.axis, input)?;
    if input.dims()[axis] == 0 {
        let rule = format!("a dimension with elements of the input {input}");
        return Err(bad_field("axis", axis, rule));
    }
    if d.keep_dims == 1 {
        return Ok(with_dims(input, [(axis, 1)]));
    }
    let mut dims = input.dims().to_vec();
    dims.remove(axis);
    shape_of(&dims)
}

fn reduce(d: &ReduceDescriptor, input: Shape) -> Result<Shape> {
    named("operation", d.operation, d.operation().name())?;
    boolean("keep_dims", d.keep_dims)?;
    count("n_axes", d.n_axes)?;
    for &axis in d.axes() {
        axis_of(axis, input)?;
    }
    if !d.axes().is_sorted_by(|a, b| a < b) {
        let axes = format!("{:?}", d.axes());
        return Err(bad_field("axes", axes, "ascending, each at most once"));
    }
    if d.keep_dims == 1 {
        return Ok(with_dims(
            input,
            d.axes().iter().map(|&axis| (axis as usize, 1)),
        ));
    }
    let dims: Vec<i64> = (0u32..)
        .zip(input.dims())
        .filter(|(axis, _)| !d.axes().contains(axis))
        .map(|(_, &dim)| dim)
        .collect();
    shape_of(&dims)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        ArgMinMaxFunction, CumulativeDescriptor, CumulativeOperation, ReduceOperation,
        SoftmaxDescriptor,
    };

    use super::super::tests::{refused_field, shape_after};
    use super::*;

    fn mean(axes: &[u32], keep_dims: bool) -> ReduceDescriptor {
        ReduceDescriptor::new(ReduceOperation::Mean, axes, keep_dims).unwrap()
    }

    #[test]
    fn reduced_dimensions_vanish_or_stay_with_size_1() {
        let input = [Shape::from([2, -1, 4, 5])];
        let after = |axes: &[u32], keep| shape_after(mean(axes, keep), &input);
        assert_eq!(after(&[1, 2], false), Ok(Shape::from([2, 5])));
        assert_eq!(after(&[1, 2], true), Ok(Shape::from([2, 1, 1, 5])));
        assert_eq!(after(&[0, 1, 2, 3], false), Ok(Shape::SCALAR));
        assert_eq!(after(&[], false), Ok(input[0]));
    }

    #[test]
    fn a_searched_dimension_vanishes_and_an_accumulated_one_stays() {
        let input = [Shape::from([2, -1, 4])];
        let d = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 1, false);
        assert_eq!(shape_after(d, &input), Ok(Shape::from([2, 4])));
        let d = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Min, 2, true);
        assert_eq!(shape_after(d, &input), Ok(Shape::from([2, -1, 1])));
        assert_eq!(
            refused_field(shape_after(d, &[Shape::from([2, 3, 0])])),
            "axis"
        );
        let d = CumulativeDescriptor::new(CumulativeOperation::Sum, 1);
        assert_eq!(shape_after(d, &input), Ok(input[0]));
        let d = CumulativeDescriptor { axis: 3, ..d };
        assert_eq!(refused_field(shape_after(d, &input)), "axis");
    }

    #[test]
    fn axes_that_make_no_sense_are_refused() {
        let input = [Shape::from([2, 3])];
        let field = |d: ReduceDescriptor| refused_field(shape_after(d, &input));
        assert_eq!(field(mean(&[2], true)), "axis");
        assert_eq!(field(mean(&[1, 0], true)), "axes");
        assert_eq!(field(mean(&[1, 1], true)), "axes");
        let base = mean(&[0], true);
        assert_eq!(field(ReduceDescriptor { n_axes: 9, ..base }), "n_axes");
        assert_eq!(
            field(ReduceDescriptor {
                keep_dims: 2,
                ..base
            }),
            "keep_dims"
        );
        assert_eq!(
            field(ReduceDescriptor {
                operation: 99,
                ..base
            }),
            "operation"
        );
        let softmax = SoftmaxDescriptor { beta: 1.0, axis: 2 };
        assert_eq!(refused_field(shape_after(softmax, &input)), "axis");
        let softmax = SoftmaxDescriptor { beta: 1.0, axis: 0 };
        assert_eq!(
            refused_field(shape_after(softmax, &[Shape::SCALAR])),
            "axis"
        );
        assert_eq!(shape_after(softmax, &input), Ok(input[0]));
    }
}
