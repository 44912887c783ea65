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
