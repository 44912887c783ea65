//! The same elements in another shape.

use armnn_network::{ParameterRule, TensorId};

use super::constant::Constant;
use super::context::{Context, axis};
use super::problem::{Problem, Result};

/// A 0 in the target copies the input's dimension unless `allowzero` is set, a single -1 is what
/// remains.
pub(super) fn reshape(c: &mut Context<'_, '_>) -> Result {
    let allow_zero = c.version >= 14 && c.attributes.flag("allowzero", false)?;
    let target = c.input(1)?;
    view(c, ParameterRule::Reshape { allow_zero }, &[Some(target)])
}

/// The dimensions before `axis` become one, and those from it on.
pub(super) fn flatten(c: &mut Context<'_, '_>) -> Result {
    let rank = c.input_shape(0)?.rank();
    let at = c.attributes.int("axis", 1)?;
    let at = match usize::try_from(at) {
        Ok(at) if at == rank => rank,
        _ => axis(at, rank)?,
    };
    let groups = vec![(0..at).collect(), (at..rank).collect()];
    view(c, ParameterRule::MergeDimensions { groups }, &[])
}

/// Dimensions of size 1 taken away: those named, or all.
pub(super) fn squeeze(c: &mut Context<'_, '_>) -> Result {
    let axes = axes(c)?;
    view(c, ParameterRule::Squeeze, &[axes])
}

/// Dimensions of size 1 put in; axes are those of the output.
pub(super) fn unsqueeze(c: &mut Context<'_, '_>) -> Result {
    let axes = axes(c)?.ok_or_else(|| Problem::malformed("it has no axes"))?;
    view(c, ParameterRule::Unsqueeze, &[Some(axes)])
}

/// Axes: an attribute before version 13, and an input since.
fn axes(c: &mut Context<'_, '_>) -> Result<Option<TensorId>> {
    if c.version >= 13 {
        return c.optional_input(1);
    }
    match c.attributes.ints("axes")? {
        Some(axes) => c.integers(axes).map(Some),
        None => Ok(None),
    }
}

/// The first input in another shape. Of a constant, a constant.
fn view(c: &mut Context<'_, '_>, rule: ParameterRule, parameters: &[Option<TensorId>]) -> Result {
    let input = c.input(0)?;
    let constant = c.constant(0)?;
    let id = c.last().step_deferred(rule, &[input], parameters)?;
    let shape = c.shape(id)?;
    match constant {
        Some(constant) if shape.is_known() => {
            let reshaped: Constant = constant.reshaped(shape.dims());
            c.bind_constant(0, reshaped)
        }
        _ => c.bind_tensor(0, id),
    }
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
