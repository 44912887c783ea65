//! Layers that take and place elements by index.

use armnn_backend_api::{
    CompressDescriptor, GatherElementsDescriptor, GatherNdDescriptor, LayerDescriptor as D,
    OneHotDescriptor, ScatterElementsDescriptor, ScatterNdDescriptor, Shape, TopKDescriptor,
    UniqueDescriptor,
};

use super::dimension::{UNKNOWN, known, merge, merge_dim, shape_of, with_dims};
use super::{Arguments, Result, axis_of, bad_field, boolean, named, single_element};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::Compress(d) => compress(d, arguments),
        D::DynamicUpdateSlice(_) => dynamic_update_slice(arguments),
        D::GatherElements(d) => gather_elements(d, arguments),
        D::GatherNd(d) => gather_nd(d, arguments),
        D::NonZero(_) => {
            let rank = i64::try_from(arguments.input(0)?.rank()).unwrap_or(0);
            shape_of(&[rank, UNKNOWN])
        }
        D::OneHot(d) => one_hot(d, arguments),
        D::Range(_) => {
            for index in 0..3 {
                single_element(arguments, index)?;
            }
            shape_of(&[UNKNOWN])
        }
        D::ScatterElements(d) => scatter_elements(d, arguments),
        D::ScatterNd(d) => scatter_nd(d, arguments),
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

/// Values and indices. How many there are is what is declared of either.
pub(super) fn top_k(d: &TopKDescriptor, arguments: &Arguments<'_>) -> Result<Vec<Shape>> {
    boolean("largest", d.largest)?;
    boolean("sorted", d.sorted)?;
    let input = arguments.input(0)?;
    let axis = axis_of(d.axis, input)?;
    let mut k = UNKNOWN;
    for index in 0..2 {
        let Some(declared) = arguments.declared(index) else {
            continue;
        };
        let dim = declared.dims().get(axis).copied().unwrap_or(UNKNOWN);
        k = merge_dim(k, dim).ok_or_else(|| LayerProblem::Declaration {
            output: super::output_name(arguments.layer_type, index),
            declared: declared.to_string(),
            inferred: with_dims(input, [(axis, k)]).to_string(),
        })?;
    }
    if let (Some(size), Some(k)) = (known(input.dims()[axis]), known(k))
        && k > size
    {
        let expected = format!("at least {k}");
        let because = "that many of its elements are taken";
        return Err(arguments.dimension_problem(0, axis, expected, because));
    }
    Ok(vec![with_dims(input, [(axis, k)]); 2])
}

/// The output, indices, inverse indices and counts.
pub(super) fn unique(d: &UniqueDescriptor, arguments: &Arguments<'_>) -> Result<Vec<Shape>> {
    boolean("flatten", d.flatten)?;
    boolean("sorted", d.sorted)?;
    let input = arguments.input(0)?;
    let some = shape_of(&[UNKNOWN])?;
    let (output, all) = match d.axis() {
        Some(axis) => {
            let axis = axis_of(axis, input)?;
            let output = with_dims(input, [(axis, UNKNOWN)]);
            (output, shape_of(&[input.dims()[axis]])?)
        }
        None => {
            let elements = input.num_elements().and_then(|n| i64::try_from(n).ok());
            (some, shape_of(&[elements.unwrap_or(UNKNOWN)])?)
        }
    };
    Ok(vec![output, some, all, some])
}

fn compress(d: &CompressDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    boolean("flatten", d.flatten)?;
    let input = arguments.input(0)?;
    let condition = arguments.input_of_rank(1, 1)?;
    let (size, output) = match d.axis() {
        Some(axis) => {
            let axis = axis_of(axis, input)?;
            let size = input.dims()[axis];
            (known(size), with_dims(input, [(axis, UNKNOWN)]))
        }
        None => {
            let elements = input.num_elements().and_then(|n| i64::try_from(n).ok());
            (elements, shape_of(&[UNKNOWN])?)
        }
    };
    if let (Some(conditions), Some(size)) = (known(condition.dims()[0]), size)
        && conditions > size
    {
        let expected = format!("at most {size}");
        let because = "there is no more than one condition for each slice";
        return Err(arguments.dimension_problem(1, 0, expected, because));
    }
    Ok(output)
}

/// Checks that, beside `axis`, an input is nowhere larger than the first.
fn nowhere_larger(
    arguments: &Arguments<'_>,
    index: usize,
    beside: Option<usize>,
    because: &'static str,
) -> Result<Shape> {
    let whole = arguments.input(0)?;
    let part = arguments.input_of_rank(index, whole.rank())?;
    for axis in 0..whole.rank() {
        if let (Some(part), Some(whole)) = (known(part.dims()[axis]), known(whole.dims()[axis]))
            && part > whole
            && beside != Some(axis)
        {
            let expected = format!("at most {whole}");
            return Err(arguments.dimension_problem(index, axis, expected, because));
        }
    }
    Ok(part)
}

fn dynamic_update_slice(arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    nowhere_larger(arguments, 1, None, "the update lies within the input")?;
    let start = arguments.input_of_rank(2, 1)?;
    let rank = i64::try_from(input.rank()).unwrap_or(0);
    if merge_dim(start.dims()[0], rank).is_none() {
        let because = "there is one position for each dimension";
        return Err(arguments.dimension_problem(2, 0, rank, because));
    }
    Ok(input)
}

const INDEXED_ALONG: &str = "only the indexed dimension may be larger than the input's";

fn gather_elements(d: &GatherElementsDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let axis = axis_of(d.axis, arguments.input(0)?)?;
    nowhere_larger(arguments, 1, Some(axis), INDEXED_ALONG)
}

fn scatter_elements(d: &ScatterElementsDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    named("function", d.function, d.function().name())?;
    let input = arguments.input(0)?;
    let axis = axis_of(d.axis, input)?;
    let indices = nowhere_larger(arguments, 1, Some(axis), INDEXED_ALONG)?;
    let updates = arguments.input_of_rank(2, indices.rank())?;
    same_shape(arguments, 2, updates, indices)?;
    Ok(input)
}

fn same_shape(
    arguments: &Arguments<'_>,
    index: usize,
    found: Shape,
    expected: Shape,
) -> Result<()> {
    if found.rank() != expected.rank() {
        let expected = format!("{} (their shape is {expected})", expected.rank());
        return Err(arguments.rank_problem(index, expected, found));
    }
    for (axis, (&found, &expected)) in found.dims().iter().zip(expected.dims()).enumerate() {
        if merge_dim(found, expected).is_none() {
            let because = "there is one update for each place that the indices name";
            return Err(arguments.dimension_problem(index, axis, expected, because));
        }
    }
    Ok(())
}

/// How many dimensions the vectors of indices (the last dimension of input 1) index, of those that
/// the first input has after the first `batch_dims`; `None` if that is not known.
fn vector_size(arguments: &Arguments<'_>, batch_dims: usize) -> Result<Option<usize>> {
    let input = arguments.input(0)?;
    let indices = arguments.input(1)?;
    let Some((&size, _)) = indices.dims().split_last() else {
        return Err(arguments.rank_problem(1, "1 or more".to_owned(), indices));
    };
    let Some(size) = known(size) else {
        return Ok(None);
    };
    let left = input.rank().saturating_sub(batch_dims);
    match usize::try_from(size) {
        Ok(size) if size <= left => Ok(Some(size)),
        _ => Err(arguments.dimension_problem(
            1,
            indices.rank() - 1,
            format!("at most {left}"),
            "a vector has no more indices than the input has dimensions",
        )),
    }
}

fn gather_nd(d: &GatherNdDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    let indices = arguments.input(1)?;
    let batch_dims = d.batch_dims as usize;
    if batch_dims >= indices.rank() || batch_dims > input.rank() {
        let rule = format!(
            "at most the rank of the input {input}, and below that of the indices {indices}"
        );
        return Err(bad_field("batch_dims", d.batch_dims, rule));
    }
    let mut dims = Vec::with_capacity(Shape::MAX_RANK);
    for (axis, (&of_input, &of_indices)) in input
        .dims()
        .iter()
        .zip(indices.dims())
        .enumerate()
        .take(batch_dims)
    {
        let because = "leading dimensions are those of the input";
        dims.push(
            merge_dim(of_input, of_indices)
                .ok_or_else(|| arguments.dimension_problem(1, axis, of_input, because))?,
        );
    }
    let Some(size) = vector_size(arguments, batch_dims)? else {
        // The rank of the output is not known; only a declaration can say it.
        return arguments.declared(0).ok_or(LayerProblem::Undeclared {
            output: "the output".to_owned(),
            what: "the shape",
        });
    };
    let last = indices.rank() - 1;
    dims.extend(indices.dims().get(batch_dims..last).unwrap_or_default());
    dims.extend(input.dims().get(batch_dims + size..).unwrap_or_default());
    shape_of(&dims)
}

fn scatter_nd(d: &ScatterNdDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    named("function", d.function, d.function().name())?;
    let input = arguments.input(0)?;
    let indices = arguments.input(1)?;
    let updates = arguments.input(2)?;
    if let Some(size) = vector_size(arguments, 0)? {
        let mut dims = indices.dims()[..indices.rank() - 1].to_vec();
        dims.extend(input.dims().get(size..).unwrap_or_default());
        same_shape(arguments, 2, updates, shape_of(&dims)?)?;
    }
    Ok(input)
}

fn one_hot(d: &OneHotDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    boolean("wrap_negative", d.wrap_negative)?;
    let indices = arguments.input(0)?;
    single_element(arguments, 1)?;
    single_element(arguments, 2)?;
    let axis = d.axis as usize;
    if axis > indices.rank() {
        let rule = format!("at most {}, the rank of the indices", indices.rank());
        return Err(bad_field("axis", axis, rule));
    }
    let mut dims = indices.dims().to_vec();
    dims.insert(axis, UNKNOWN);
    let output = shape_of(&dims)?;
    // How many there are to choose from is declared.
    match arguments.declared(0) {
        Some(declared) => merge(&output, &declared).ok_or_else(|| LayerProblem::Declaration {
            output: "the output".to_owned(),
            declared: declared.to_string(),
            inferred: output.to_string(),
        }),
        None => Ok(output),
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        DynamicUpdateSliceDescriptor, NonZeroDescriptor, RangeDescriptor, ScatterFunction,
    };

    use super::super::tests::{refused_field, shape_after, shape_after_declared, shapes_after};
    use super::super::{LayerShapes, output_shapes};
    use super::*;

    #[test]
    fn index_vectors_choose_slices_after_the_batch() {
        let d = GatherNdDescriptor { batch_dims: 1 };
        let inputs = [Shape::from([2, 3, 4, 5]), Shape::from([-1, 7, 2])];
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([2, 7, 5])));
        let whole = [Shape::from([3, 4]), Shape::from([2])];
        let d = GatherNdDescriptor { batch_dims: 0 };
        assert_eq!(shape_after(d, &whole), Ok(Shape::SCALAR));
        let long = [Shape::from([3, 4]), Shape::from([3])];
        assert!(shape_after(d, &long).is_err());
        let unknown = [Shape::from([3, 4]), Shape::from([7, -1])];
        assert!(shape_after(d, &unknown).is_err());
        let declared = Shape::from([7, 4]);
        assert_eq!(shape_after_declared(d, &unknown, declared), Ok(declared));
        let d = GatherNdDescriptor { batch_dims: 3 };
        assert_eq!(refused_field(shape_after(d, &inputs)), "batch_dims");
    }

    #[test]
    fn indices_of_elements_may_be_longer_along_the_axis_only() {
        let d = GatherElementsDescriptor { axis: 1 };
        let input = Shape::from([3, 4]);
        let indices = Shape::from([2, 9]);
        assert_eq!(shape_after(d, &[input, indices]), Ok(indices));
        assert!(shape_after(d, &[input, Shape::from([4, 1])]).is_err());
        assert!(shape_after(d, &[input, Shape::from([4])]).is_err());
        let d = ScatterElementsDescriptor::new(1, ScatterFunction::Add);
        assert_eq!(shape_after(d, &[input, indices, indices]), Ok(input));
        assert!(shape_after(d, &[input, indices, Shape::from([2, 8])]).is_err());
        let d = ScatterElementsDescriptor::new(2, ScatterFunction::Add);
        assert_eq!(
            refused_field(shape_after(d, &[input, indices, indices])),
            "axis"
        );
        let d = ScatterElementsDescriptor::new(1, ScatterFunction(99));
        assert_eq!(
            refused_field(shape_after(d, &[input, indices, indices])),
            "function"
        );
    }

    #[test]
    fn updates_have_the_shape_of_the_places_they_go_to() {
        let d = ScatterNdDescriptor::new(ScatterFunction::Update);
        let input = Shape::from([4, 5, 6]);
        let indices = Shape::from([2, 7, 1]);
        let updates = Shape::from([2, -1, 5, 6]);
        assert_eq!(shape_after(d, &[input, indices, updates]), Ok(input));
        assert!(shape_after(d, &[input, indices, Shape::from([2, 7, 5])]).is_err());
        assert!(shape_after(d, &[input, Shape::SCALAR, updates]).is_err());
        let slice = DynamicUpdateSliceDescriptor::new();
        let update = [input, Shape::from([1, 5, 2]), Shape::from([3])];
        assert_eq!(shape_after(slice, &update), Ok(input));
        assert!(shape_after(slice, &[input, Shape::from([5, 1, 1]), Shape::from([3])]).is_err());
        assert!(shape_after(slice, &[input, input, Shape::from([2])]).is_err());
    }

    #[test]
    fn what_is_chosen_from_is_declared() {
        let d = OneHotDescriptor {
            axis: 1,
            wrap_negative: 0,
        };
        let inputs = [Shape::from([2, 3]), Shape::SCALAR, Shape::from([1])];
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([2, -1, 3])));
        let declared = Shape::from([-1, 10, -1]);
        let result = shape_after_declared(d, &inputs, declared);
        assert_eq!(result, Ok(Shape::from([2, 10, 3])));
        let d = OneHotDescriptor { axis: 3, ..d };
        assert_eq!(refused_field(shape_after(d, &inputs)), "axis");

        let best = |k: Option<i64>| {
            let k = k.map(|k| Shape::from([-1, k]));
            let shapes = LayerShapes {
                inputs: &[Some(Shape::from([2, 5]))],
                declared: &[None, k],
            };
            output_shapes(&TopKDescriptor::new(1, true).into(), &shapes)
        };
        assert_eq!(best(Some(3)), Ok(vec![Shape::from([2, 3]); 2]));
        assert_eq!(best(None), Ok(vec![Shape::from([2, -1]); 2]));
        assert!(best(Some(6)).is_err());
    }

    #[test]
    fn sizes_that_depend_on_data_are_unknown() {
        let input = Shape::from([2, 3, 4]);
        let non_zero = shape_after(NonZeroDescriptor::new(), &[input]);
        assert_eq!(non_zero, Ok(Shape::from([3, -1])));
        let numbers = [Shape::SCALAR, Shape::from([1]), Shape::SCALAR];
        assert_eq!(
            shape_after(RangeDescriptor::new(), &numbers),
            Ok(Shape::from([-1]))
        );
        let unique = shapes_after(UniqueDescriptor::new(None, true), &[Some(input)], 4).unwrap();
        let (some, all) = (Shape::from([-1]), Shape::from([24]));
        assert_eq!(unique, [some, some, all, some]);
        let unique = shapes_after(UniqueDescriptor::new(Some(1), true), &[Some(input)], 4).unwrap();
        assert_eq!(unique[0], Shape::from([2, -1, 4]));
        assert_eq!(unique[2], Shape::from([3]));
        let slices = CompressDescriptor::new(Some(2));
        let inputs = [input, Shape::from([4])];
        assert_eq!(shape_after(slices, &inputs), Ok(Shape::from([2, 3, -1])));
        let flat = CompressDescriptor::new(None);
        assert_eq!(shape_after(flat, &inputs), Ok(some));
        assert!(shape_after(slices, &[input, Shape::from([5])]).is_err());
    }
}
