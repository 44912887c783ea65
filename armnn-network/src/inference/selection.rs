//! Layers that take parts of their input: Gather, Split, StridedSlice.

use armnn_backend_api::{
    GatherDescriptor, LayerDescriptor as D, Shape, SplitDescriptor, StridedSliceDescriptor,
};

use super::dimension::{UNKNOWN, known, merge, shape_of, with_dims};
use super::{Arguments, Result, axis_of, bad_field, entry_for_each_dimension, output_name};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::Gather(d) => gather(d, arguments),
        D::StridedSlice(d) => strided_slice(d, arguments.input(0)?),
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

fn gather(d: &GatherDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    let indices = arguments.input(1)?;
    let axis = axis_of(d.axis, input)?;
    let mut dims = input.dims()[..axis].to_vec();
    dims.extend(indices.dims());
    dims.extend(&input.dims()[axis + 1..]);
    shape_of(&dims)
}

fn strided_slice(d: &StridedSliceDescriptor, input: Shape) -> Result<Shape> {
    entry_for_each_dimension(d.rank, input)?;
    let mut dims = [0; Shape::MAX_RANK];
    for (axis, &dim) in input.dims().iter().enumerate() {
        let slice = Slice {
            begin: d.begin()[axis],
            end: d.end()[axis],
            stride: d.stride()[axis],
        };
        dims[axis] = slice.size(axis, dim)?;
    }
    shape_of(&dims[..input.rank()])
}

/// What a StridedSlice takes along one dimension.
struct Slice {
    begin: i64,
    end: i64,
    stride: i64,
}

impl Slice {
    /// How many elements are taken of `dim`.
    ///
    /// Forwards, an end beyond the dimension means its end. Backwards, the first element must
    /// exist, because backends read `begin` as it stands.
    fn size(&self, axis: usize, dim: i64) -> Result<i64> {
        let Self { begin, end, stride } = *self;
        if stride == 0 {
            return Err(bad_field("stride", stride, "other than 0"));
        }
        if begin < 0 {
            return Err(bad_field(
                "begin",
                begin,
                "at least 0, counted from the start",
            ));
        }
        let least_end = if stride > 0 { 0 } else { -1 };
        if end < least_end {
            let rule = format!("at least {least_end}, counted from the start");
            return Err(bad_field("end", end, rule));
        }
        let Some(dim) = known(dim) else {
            return Ok(UNKNOWN);
        };
        let distance = if stride > 0 {
            end.min(dim).saturating_sub(begin)
        } else {
            begin.saturating_sub(end)
        };
        if distance <= 0 {
            return Ok(0);
        }
        if begin >= dim {
            let rule = format!("below {dim}, the size of dimension {axis}");
            return Err(bad_field("begin", begin, rule));
        }
        let steps = distance.unsigned_abs().div_ceil(stride.unsigned_abs());
        i64::try_from(steps).map_err(|_| LayerProblem::Overflow {
            what: "the size of the slice",
        })
    }
}

/// The shapes of the parts.
///
/// Sizes along the axis are those declared. A single unknown one is what the others leave; if all
/// are unknown, the parts are equal.
pub(super) fn split(d: &SplitDescriptor, arguments: &Arguments<'_>) -> Result<Vec<Shape>> {
    let input = arguments.input(0)?;
    let axis = axis_of(d.axis, input)?;
    let parts = arguments.shapes.declared.len();
    let mut sizes = Vec::with_capacity(parts);
    for index in 0..parts {
        let whole = with_dims(input, [(axis, UNKNOWN)]);
        let declared = arguments.declared(index).unwrap_or(whole);
        let part = merge(&whole, &declared).ok_or_else(|| LayerProblem::Declaration {
            output: output_name(arguments.layer_type, index),
            declared: declared.to_string(),
            inferred: whole.to_string(),
        })?;
        sizes.push(part.dims()[axis]);
    }
    if let Some(dim) = known(input.dims()[axis]) {
        complete(&mut sizes, dim, arguments, axis)?;
    }
    Ok(sizes
        .into_iter()
        .map(|size| with_dims(input, [(axis, size)]))
        .collect())
}

/// Fills in the sizes of parts that follow from the whole.
fn complete(sizes: &mut [i64], dim: i64, arguments: &Arguments<'_>, axis: usize) -> Result<()> {
    let problem =
        |expected: String, because| Err(arguments.dimension_problem(0, axis, expected, because));
    let unknown = sizes.iter().filter(|&&s| s < 0).count();
    let parts = sizes.len();
    if unknown == parts && parts > 1 {
        let count = i64::try_from(parts).unwrap_or(i64::MAX);
        if dim % count != 0 {
            return problem(
                format!("a multiple of {parts}"),
                "it is cut into equal parts",
            );
        }
        sizes.fill(dim / count);
        return Ok(());
    }
    let sum = sizes
        .iter()
        .filter_map(|&s| known(s))
        .try_fold(0i64, |sum, s| sum.checked_add(s));
    let Some(rest) = sum.and_then(|sum| dim.checked_sub(sum)).filter(|r| *r >= 0) else {
        let sum = sum.map_or("beyond 2^63".to_owned(), |s| s.to_string());
        return problem(sum, "it is the sum of the parts");
    };
    match unknown {
        0 if rest != 0 => problem((dim - rest).to_string(), "it is the sum of the parts"),
        1 => {
            sizes.iter_mut().filter(|s| **s < 0).for_each(|s| *s = rest);
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{refused_field, shape_after};
    use super::super::{LayerShapes, output_shapes};
    use super::*;

    fn sliced(begin: i64, end: i64, stride: i64, dim: i64) -> Result<i64> {
        let d = StridedSliceDescriptor::new(&[begin], &[end], &[stride]).unwrap();
        shape_after(d, &[Shape::from([dim])]).map(|shape| shape.dims()[0])
    }

    #[test]
    fn a_slice_takes_every_stride_th_element() {
        for (begin, end, stride, dim, expected) in [
            (0, 10, 1, 10, 10),
            // 1, 4, 7
            (1, 10, 3, 10, 3),
            (0, i64::MAX, 2, 5, 3),
            // 9, 8, …, 0
            (9, -1, -1, 10, 10),
            // 9, 5
            (9, 3, -4, 10, 2),
            (5, 5, 1, 10, 0),
            (20, 30, 1, 10, 0),
            (3, 8, -1, 10, 0),
            (0, 1, i64::MAX, 10, 1),
            (9, -1, i64::MIN, 10, 1),
            (0, 0, 1, 0, 0),
            (1, 4, 1, -1, -1),
        ] {
            let result = sliced(begin, end, stride, dim);
            assert_eq!(result, Ok(expected), "[{begin}:{end}:{stride}] of {dim}");
        }
    }

    #[test]
    fn slices_that_make_no_sense_are_refused() {
        let field = |begin, end, stride, dim| match sliced(begin, end, stride, dim) {
            Err(LayerProblem::Descriptor { field, .. }) => field,
            other => panic!("{other:?}"),
        };
        assert_eq!(field(0, 1, 0, 10), "stride");
        assert_eq!(field(-1, 1, 1, 10), "begin");
        assert_eq!(field(0, -1, 1, 10), "end");
        assert_eq!(field(0, -2, -1, 10), "end");
        assert_eq!(field(10, 0, -1, 10), "begin");
        assert_eq!(field(i64::MAX, -1, -1, 10), "begin");
        let d = StridedSliceDescriptor::new(&[0], &[1], &[1]).unwrap();
        assert_eq!(refused_field(shape_after(d, &[Shape::SCALAR])), "rank");
    }

    #[test]
    fn gathered_slices_stand_in_the_place_of_the_axis() {
        let d = GatherDescriptor { axis: 1 };
        let inputs = [Shape::from([2, 3, 4]), Shape::from([5, -1])];
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([2, 5, -1, 4])));
        let single = [Shape::from([2, 3, 4]), Shape::SCALAR];
        assert_eq!(shape_after(d, &single), Ok(Shape::from([2, 4])));
        let too_many = [Shape::new(&[1; 8]).unwrap(), Shape::from([1, 1])];
        assert!(shape_after(d, &too_many).is_err());
        let no_axis = [Shape::from([2]), Shape::SCALAR];
        assert_eq!(refused_field(shape_after(d, &no_axis)), "axis");
    }

    fn parts(dim: i64, sizes: &[i64]) -> Result<Vec<i64>> {
        let declared: Vec<_> = sizes.iter().map(|&s| Some(Shape::from([2, s]))).collect();
        let shapes = LayerShapes {
            inputs: &[Some(Shape::from([2, dim]))],
            declared: &declared,
        };
        let shapes = output_shapes(&SplitDescriptor { axis: 1 }.into(), &shapes)?;
        Ok(shapes.iter().map(|shape| shape.dims()[1]).collect())
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        assert_eq!(parts(10, &[3, 7]), Ok(vec![3, 7]));
        assert_eq!(parts(10, &[3, -1, 5]), Ok(vec![3, 2, 5]));
        assert_eq!(parts(10, &[-1]), Ok(vec![10]));
        // Equal parts, as nothing else is said.
        assert_eq!(parts(10, &[-1, -1]), Ok(vec![5, 5]));
        assert_eq!(parts(-1, &[3, -1]), Ok(vec![3, -1]));
        assert_eq!(parts(10, &[4, -1, -1]), Ok(vec![4, -1, -1]));
        for sizes in [
            &[3, 6][..],
            &[3, 8],
            &[11, -1],
            &[-1, -1, -1],
            &[i64::MAX, i64::MAX],
        ] {
            let problem = parts(10, sizes).unwrap_err();
            assert!(
                matches!(problem, LayerProblem::Dimension { .. }),
                "{problem}"
            );
        }
    }
}
