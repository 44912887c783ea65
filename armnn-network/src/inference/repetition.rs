//! Layers that repeat, reverse or mask: BroadcastTo, Fill, ReverseSequence, ReverseV2, Stack, Tile,
//! Trilu.

use armnn_backend_api::{
    LayerDescriptor as D, ReverseSequenceDescriptor, ReverseV2Descriptor, Shape, StackDescriptor,
    TileDescriptor,
};

use super::dimension::{UNKNOWN, broadcast, known, merge, merge_dim, shape_of};
use super::{
    Arguments, Result, axis_of, bad_field, boolean, count, declared_of_rank,
    entry_for_each_dimension, single_element,
};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::BroadcastTo(_) => broadcast_to(arguments),
        D::Fill(_) => fill(arguments),
        D::ReverseSequence(d) => reverse_sequence(d, arguments),
        D::ReverseV2(d) => reverse(d, arguments.input(0)?),
        D::Stack(d) => stack(d, arguments),
        D::Tile(d) => tile(d, arguments),
        D::Trilu(d) => {
            boolean("upper", d.upper)?;
            let input = arguments.input(0)?;
            if input.rank() < 2 {
                return Err(arguments.rank_problem(0, "2 or more".to_owned(), input));
            }
            if arguments.optional(1).is_some() {
                single_element(arguments, 1)?;
            }
            Ok(input)
        }
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

/// The declared shape of the single output.
fn target(arguments: &Arguments<'_>) -> Result<Shape> {
    arguments.declared(0).ok_or(LayerProblem::Undeclared {
        output: "the output".to_owned(),
        what: "the shape",
    })
}

fn broadcast_to(arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    let target = target(arguments)?;
    let problem = || LayerProblem::Broadcast {
        x: Box::new(input),
        y: Box::new(target),
    };
    if input.rank() > target.rank() {
        return Err(problem());
    }
    let both = broadcast(&input, &target)?;
    // Where the target is known, it is the result: the input does not make it larger.
    merge(&both, &target).ok_or_else(problem)
}

fn fill(arguments: &Arguments<'_>) -> Result<Shape> {
    single_element(arguments, 0)?;
    target(arguments)
}

fn reverse_sequence(d: &ReverseSequenceDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    let lengths = arguments.input_of_rank(1, 1)?;
    axis_of(d.sequence_axis, input)?;
    let batch_axis = axis_of(d.batch_axis, input)?;
    if d.sequence_axis == d.batch_axis {
        let rule = "another dimension than sequence_axis";
        return Err(bad_field("batch_axis", d.batch_axis, rule));
    }
    let batch = input.dims()[batch_axis];
    if merge_dim(batch, lengths.dims()[0]).is_none() {
        let because = "there is one length for each sequence";
        return Err(arguments.dimension_problem(1, 0, batch, because));
    }
    Ok(input)
}

fn reverse(d: &ReverseV2Descriptor, input: Shape) -> Result<Shape> {
    count("n_axes", d.n_axes)?;
    for (i, &axis) in d.axes().iter().enumerate() {
        axis_of(axis, input)?;
        if d.axes()[..i].contains(&axis) {
            return Err(bad_field("axes", axis, "each dimension at most once"));
        }
    }
    Ok(input)
}

fn stack(d: &StackDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let mut common = arguments.input(0)?;
    let inputs = arguments.shapes.inputs.len();
    for index in 1..inputs {
        let input = arguments.input_of_rank(index, common.rank())?;
        common = merge(&common, &input).ok_or_else(|| {
            let axis = (0..common.rank())
                .find(|&i| merge_dim(common.dims()[i], input.dims()[i]).is_none())
                .unwrap_or(0);
            let because = "all inputs have one shape";
            arguments.dimension_problem(index, axis, common.dims()[axis], because)
        })?;
    }
    let axis = d.axis as usize;
    if axis > common.rank() {
        let rule = format!("at most {}, the rank of the inputs", common.rank());
        return Err(bad_field("axis", axis, rule));
    }
    let mut dims = common.dims().to_vec();
    dims.insert(axis, i64::try_from(inputs).unwrap_or(i64::MAX));
    shape_of(&dims)
}

fn tile(d: &TileDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    entry_for_each_dimension(d.rank, input)?;
    let declared = declared_of_rank(arguments, input.rank())?;
    let mut dims = [0; Shape::MAX_RANK];
    for (axis, &multiple) in d.multiples().iter().enumerate() {
        let (size, target) = (known(input.dims()[axis]), known(declared.dims()[axis]));
        if multiple < -1 {
            return Err(bad_field("multiples", multiple, "at least 0, or -1"));
        }
        dims[axis] = match (known(multiple), size) {
            (Some(0), _) => 0,
            (Some(multiple), Some(size)) => {
                size.checked_mul(multiple).ok_or(LayerProblem::Overflow {
                    what: "the size of the output",
                })?
            }
            // Merged with what is declared.
            (Some(_), None) => UNKNOWN,
            (None, _) => match (size, target) {
                (Some(0), Some(1..)) => {
                    let because = "nothing cannot be repeated to something";
                    return Err(arguments.dimension_problem(0, axis, "at least 1", because));
                }
                (Some(size @ 1..), Some(target)) if target % size != 0 => {
                    let because = "the output is a number of copies of it";
                    let expected = format!("a divisor of {target}");
                    return Err(arguments.dimension_problem(0, axis, expected, because));
                }
                (Some(0), _) => 0,
                (_, target) => target.unwrap_or(UNKNOWN),
            },
        };
    }
    shape_of(dims.get(..input.rank()).unwrap_or(&dims))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{BroadcastToDescriptor, FillDescriptor, TriluDescriptor};

    use super::super::tests::{refused_field, shape_after, shape_after_declared};
    use super::*;

    #[test]
    fn an_input_is_broadcast_to_the_declared_shape_and_no_further() {
        let d = BroadcastToDescriptor::new();
        let to = |input: Shape, target: Shape| shape_after_declared(d, &[input], target);
        let row = Shape::from([3]);
        assert_eq!(to(row, Shape::from([2, 3])), Ok(Shape::from([2, 3])));
        assert_eq!(to(row, Shape::from([-1, -1])), Ok(Shape::from([-1, 3])));
        assert_eq!(
            to(Shape::from([-1]), Shape::from([5])),
            Ok(Shape::from([5]))
        );
        assert!(to(row, Shape::from([1])).is_err());
        assert!(to(Shape::from([2, 3]), row).is_err());
        assert!(shape_after(d, &[row]).is_err());
    }

    #[test]
    fn a_value_fills_the_declared_shape() {
        let d = FillDescriptor::new();
        let shape = Shape::from([2, -1]);
        assert_eq!(shape_after_declared(d, &[Shape::SCALAR], shape), Ok(shape));
        assert_eq!(
            shape_after_declared(d, &[Shape::from([1])], shape),
            Ok(shape)
        );
        assert!(shape_after_declared(d, &[Shape::from([2])], shape).is_err());
        assert!(shape_after(d, &[Shape::SCALAR]).is_err());
    }

    #[test]
    fn a_tiled_dimension_is_a_multiple() {
        let input = [Shape::from([2, 3, -1])];
        let d = TileDescriptor::new(&[4, 1, 2]).unwrap();
        assert_eq!(shape_after(d, &input), Ok(Shape::from([8, 3, -1])));
        let by_shape = TileDescriptor::new(&[-1, -1, 0]).unwrap();
        let to = |target| shape_after_declared(by_shape, &input, target);
        assert_eq!(to(Shape::from([6, -1, -1])), Ok(Shape::from([6, -1, 0])));
        assert!(to(Shape::from([7, 3, 0])).is_err());
        let d = TileDescriptor::new(&[-2, 1, 1]).unwrap();
        assert_eq!(refused_field(shape_after(d, &input)), "multiples");
        let d = TileDescriptor::new(&[i64::MAX, 1, 1]).unwrap();
        assert!(shape_after(d, &input).is_err());
    }

    #[test]
    fn stacked_tensors_have_one_shape_and_get_a_dimension() {
        let d = StackDescriptor { axis: 1 };
        let inputs = [
            Shape::from([2, -1]),
            Shape::from([2, 3]),
            Shape::from([-1, 3]),
        ];
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([2, 3, 3])));
        assert!(shape_after(d, &[Shape::from([2]), Shape::from([3])]).is_err());
        let far = StackDescriptor { axis: 3 };
        assert_eq!(refused_field(shape_after(far, &inputs)), "axis");
    }

    #[test]
    fn reversed_and_masked_tensors_keep_their_shape() {
        let input = Shape::from([2, 3, 4]);
        let d = ReverseV2Descriptor::new(&[2, 0]).unwrap();
        assert_eq!(shape_after(d, &[input]), Ok(input));
        let twice = ReverseV2Descriptor::new(&[1, 1]).unwrap();
        assert_eq!(refused_field(shape_after(twice, &[input])), "axes");
        let d = ReverseSequenceDescriptor {
            sequence_axis: 1,
            batch_axis: 0,
        };
        assert_eq!(shape_after(d, &[input, Shape::from([2])]), Ok(input));
        assert!(shape_after(d, &[input, Shape::from([3])]).is_err());
        let d = TriluDescriptor { upper: 1 };
        assert_eq!(shape_after(d, &[input, Shape::SCALAR]), Ok(input));
        assert!(shape_after(d, &[Shape::from([4])]).is_err());
    }
}
