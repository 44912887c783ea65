//! The same elements in another shape.

use armnn_backend_api::Shape;

use super::context::{Context, axis, sorted_axes};
use super::problem::{Problem, Result};

/// A 0 in the target copies the input's dimension unless `allowzero` is set, a single -1 is what
/// remains.
pub(super) fn reshape(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    let target = c.required_constant(1, "the shape")?;
    let target = target.symbolic(Shape::MAX_RANK, "the shape")?;
    let allow_zero = c.version >= 14 && c.attributes.flag("allowzero", false)?;
    let mut dims = Vec::new();
    // The dimensions of the input that are not copied, and the known ones of the rest.
    let mut left: Vec<i64> = shape.dims().to_vec();
    let mut others = 1i64;
    let mut rest = None;
    for (position, &entry) in target.iter().enumerate() {
        let dim = match entry {
            Some(0) if !allow_zero => {
                let copied = left.get_mut(position).ok_or_else(|| {
                    Problem::malformed(format!(
                        "its shape copies dimension {position}, but its input is {shape}"
                    ))
                })?;
                std::mem::replace(copied, 1)
            }
            Some(-1) if rest.is_some() => {
                return Err(Problem::malformed(format!("its shape is {target:?}")));
            }
            Some(-1) => {
                rest = Some(position);
                Shape::UNKNOWN
            }
            Some(dim) if dim < -1 => {
                return Err(Problem::malformed(format!("its shape is {target:?}")));
            }
            Some(dim) => {
                others = others.saturating_mul(dim);
                dim
            }
            // Follows from a dimension that is not known.
            None => {
                others = -1;
                Shape::UNKNOWN
            }
        };
        dims.push(dim);
    }
    // With copied dimensions on both sides left out, the rest may follow although they are unknown.
    if let Some(position) = rest
        && others > 0
        && left.iter().all(|&dim| dim >= 0)
    {
        let elements = left.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim));
        if let Some(elements) = elements.filter(|elements| elements % others == 0) {
            dims[position] = elements / others;
        }
    }
    c.emit_reshape(0, &dims)
}

/// The dimensions before `axis` become one, and those from it on.
pub(super) fn flatten(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    let at = c.attributes.int("axis", 1)?;
    let rank = shape.rank();
    let signed = i64::try_from(rank).unwrap_or(i64::MAX);
    let at = match at {
        at if at == signed => rank,
        at => axis(at, rank)?,
    };
    let product = |dims: &[i64]| {
        if dims.iter().any(|&dim| dim < 0) {
            return Ok(Shape::UNKNOWN);
        }
        let product = dims.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim));
        product.ok_or_else(|| Problem::malformed(format!("its input is {shape}")))
    };
    let (before, behind) = shape.dims().split_at(at);
    let dims = [product(before)?, product(behind)?];
    c.emit_reshape(0, &dims)
}

/// Dimensions of size 1 taken away: those named, or all.
pub(super) fn squeeze(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    let axes = match axes(c)? {
        Some(axes) => sorted_axes(&axes, shape.rank())?,
        None if shape.is_known() => (0..shape.rank())
            .filter(|&a| shape.dims()[a] == 1)
            .collect(),
        None => {
            return Err(Problem::unsupported(format!(
                "all dimensions of size 1 taken away from {shape}; name the axes"
            )));
        }
    };
    if let Some(&axis) = axes.iter().find(|&&axis| shape.dims()[axis] > 1) {
        return Err(Problem::malformed(format!(
            "dimension {axis} of {shape} is not 1"
        )));
    }
    let dims: Vec<i64> = (0..shape.rank())
        .filter(|axis| !axes.contains(axis))
        .map(|axis| shape.dims()[axis])
        .collect();
    c.emit_reshape(0, &dims)
}

/// Dimensions of size 1 put in; axes are those of the output.
pub(super) fn unsqueeze(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    let axes = axes(c)?.ok_or_else(|| Problem::malformed("it has no axes"))?;
    let rank = shape.rank() + axes.len();
    if rank > Shape::MAX_RANK {
        return Err(Problem::unsupported(format!(
            "an output of {rank} dimensions"
        )));
    }
    let axes = sorted_axes(&axes, rank)?;
    let mut from = shape.dims().iter();
    let dims: Vec<i64> = (0..rank)
        .map(|axis| match axes.contains(&axis) {
            true => 1,
            false => from.next().copied().unwrap_or(1),
        })
        .collect();
    c.emit_reshape(0, &dims)
}

/// Axes: an attribute before version 13, and an input since.
fn axes(c: &mut Context<'_, '_>) -> Result<Option<Vec<i64>>> {
    if c.version >= 13 {
        return c.optional_integers(1, Shape::MAX_RANK, "the axes");
    }
    Ok(c.attributes.ints("axes")?.map(<[i64]>::to_vec))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerType;

    use crate::test_model::{assert_refused, int, ints, list, output_dims, single, types};

    #[test]
    fn zeros_copy_and_a_single_minus_one_is_the_rest() {
        for (dims, target, expected) in [
            (&[2, 3, 4][..], &[6, 4][..], &[6, 4][..]),
            (&[2, 3, 4], &[0, -1], &[2, 12]),
            (&[2, 3, 4], &[-1, 2, 0], &[3, 2, 4]),
            (&[2, 3, 4], &[24], &[24]),
            // The batch is not known, and is copied: 16 4 4 = 256.
            (&[-1, 16, 4, 4], &[0, -1], &[-1, 256]),
            (&[-1, 16], &[-1, 8], &[-1, 8]),
        ] {
            let network = single(13, "Reshape", dims, &[ints("s", target)], &[]).unwrap();
            assert_eq!(output_dims(&network), expected, "{dims:?} to {target:?}");
            assert_eq!(types(&network), [LayerType::Reshape]);
        }
        let zero = single(
            14,
            "Reshape",
            &[0, 3],
            &[ints("s", &[3, 0])],
            &[int("allowzero", 1)],
        );
        assert_eq!(output_dims(&zero.unwrap()), [3, 0]);
        for (target, part) in [
            (&[-1, -1][..], "its shape is"),
            (&[2, -2], "its shape is"),
            (&[5, 5], "cannot become [5, 5]"),
            (&[1, 1, 1, 0], "copies dimension 3"),
        ] {
            let refused = single(13, "Reshape", &[2, 3], &[ints("s", target)], &[]);
            assert_refused(refused, part);
        }
    }

    #[test]
    fn flatten_makes_two_dimensions() {
        for (axis, expected) in [(0, [1, 24]), (1, [2, 12]), (3, [24, 1]), (-1, [6, 4])] {
            let network = single(13, "Flatten", &[2, 3, 4], &[], &[int("axis", axis)]).unwrap();
            assert_eq!(output_dims(&network), expected);
        }
        assert_refused(
            single(13, "Flatten", &[2], &[], &[int("axis", 2)]),
            "axis 2 of 1",
        );
    }

    #[test]
    fn dimensions_of_one_come_and_go_by_attribute_or_input() {
        let axes = |values: &[i64]| [list("axes", values)];
        let network = single(11, "Unsqueeze", &[2, 3], &[], &axes(&[0, -1])).unwrap();
        assert_eq!(output_dims(&network), [1, 2, 3, 1]);
        let network = single(13, "Unsqueeze", &[2, 3], &[ints("a", &[3, 1])], &[]).unwrap();
        assert_eq!(output_dims(&network), [2, 1, 3, 1]);
        let network = single(11, "Squeeze", &[1, 2, 1], &[], &axes(&[0])).unwrap();
        assert_eq!(output_dims(&network), [2, 1]);
        let network = single(13, "Squeeze", &[1, 2, 1], &[], &[]).unwrap();
        assert_eq!(output_dims(&network), [2]);
        let wide = single(13, "Squeeze", &[1, 2], &[ints("a", &[1])], &[]);
        assert_refused(wide, "dimension 1 of [1, 2] is not 1");
        let twice = single(13, "Unsqueeze", &[2], &[ints("a", &[0, 0])], &[]);
        assert_refused(twice, "axis 0 twice");
    }
}
