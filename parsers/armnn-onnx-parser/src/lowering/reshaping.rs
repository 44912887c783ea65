//! The same elements in another shape.

use std::rc::Rc;

use armnn_backend_api::{DataType, Shape};
use armnn_network::{NetworkBuilder, ParameterRule};

use super::constant::Constant;
use super::context::{Context, axis};
use super::problem::{Problem, Result};

/// A 0 in the target copies the input's dimension unless `allowzero` is set, a single -1 is what
/// remains.
pub(super) fn reshape(c: &mut Context<'_, '_>) -> Result {
    let allow_zero = c.version >= 14 && c.attributes.flag("allowzero", false)?;
    view(
        c,
        ParameterRule::Reshape { allow_zero },
        Parameter::Input(1),
    )
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
    view(
        c,
        ParameterRule::MergeDimensions { groups },
        Parameter::None,
    )
}

/// Dimensions of size 1 taken away: those named, or all.
pub(super) fn squeeze(c: &mut Context<'_, '_>) -> Result {
    let axes = axes(c)?;
    view(c, ParameterRule::Squeeze, axes)
}

/// Dimensions of size 1 put in; axes are those of the output.
pub(super) fn unsqueeze(c: &mut Context<'_, '_>) -> Result {
    let axes = match axes(c)? {
        Parameter::None => return Err(Problem::malformed("it has no axes")),
        axes => axes,
    };
    view(c, ParameterRule::Unsqueeze, axes)
}

/// Axes: an attribute before version 13, and an input since.
fn axes(c: &mut Context<'_, '_>) -> Result<Parameter> {
    if c.version >= 13 {
        return Ok(match c.has_input(1) {
            true => Parameter::Input(1),
            false => Parameter::None,
        });
    }
    let axes = c.attributes.ints("axes")?;
    axes.map_or(Ok(Parameter::None), |axes| {
        let count = i64::try_from(axes.len()).unwrap_or(i64::MAX);
        let list = Constant::integers(DataType::Signed64, &[count], axes);
        Ok(Parameter::Constant(list))
    })
}

/// Where the parameter of a rule is.
enum Parameter {
    None,
    Input(usize),
    Constant(Constant),
}

/// The first input in another shape. Of a constant, a constant.
fn view(c: &mut Context<'_, '_>, rule: ParameterRule, parameter: Parameter) -> Result {
    let known = match &parameter {
        Parameter::None => None,
        Parameter::Input(position) => c.constant(*position)?,
        Parameter::Constant(constant) => Some(Rc::new(constant.clone())),
    };
    let is_known = known.is_some() || matches!(parameter, Parameter::None);
    if let Some(constant) = c.constant(0)?
        && is_known
    {
        let shape = viewed(&constant, rule, known.as_deref())?;
        return c.bind_constant(0, constant.reshaped(shape.dims()));
    }
    let input = c.input(0)?;
    let parameter = match (parameter, known) {
        (Parameter::None, _) => None,
        (Parameter::Input(position), _) => Some(c.input(position)?),
        (Parameter::Constant(constant), _) => Some(c.add_constant(&constant)?),
    };
    c.emit_deferred(rule, &[input], &[parameter])
}

/// The shape that a rule gives a constant, found in a network of its own.
fn viewed(constant: &Constant, rule: ParameterRule, parameter: Option<&Constant>) -> Result<Shape> {
    let mut builder = NetworkBuilder::new();
    let input = builder.add_input_layer("", constant.info()?)?;
    let parameter = match parameter {
        Some(parameter) => {
            let (info, bytes) = (parameter.info()?, parameter.bytes.clone());
            Some(builder.add_constant_layer("", info, bytes)?)
        }
        None => None,
    };
    let ids = builder.add_deferred_layer("", rule, &[Some(input)], &[parameter], &[])?;
    let shape = ids.first().and_then(|&id| builder.tensor(id));
    shape
        .map(|tensor| tensor.info.shape)
        .ok_or_else(|| Problem::malformed("a Reshape without an output"))
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
            (&[-1, -1][..], "no more than one -1"),
            (&[2, -2], "sizes from -1 on"),
            (&[5, 5], "cannot become [5, 5]"),
            (&[1, 1, 1, 0], "where the input has a dimension to copy"),
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
        assert_refused(wide, "dimensions of [1, 2] whose size is 1");
        let twice = single(13, "Unsqueeze", &[2], &[ints("a", &[0, 0])], &[]);
        assert_refused(twice, "axes");
    }
}
