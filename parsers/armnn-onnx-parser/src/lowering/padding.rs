//! Pad.

use armnn_backend_api::{DataType, PaddingMode};
use armnn_network::{PadLayout, ParameterRule};

use super::context::Context;
use super::problem::{Problem, Result};

/// Elements added before and after each dimension; a negative number of them takes elements away.
/// Numbers and value are attributes before version 11, and inputs since.
pub(super) fn pad(c: &mut Context<'_, '_>) -> Result {
    let mut input = c.input(0)?;
    let mode = match c.attributes.text("mode", "constant")? {
        "constant" => PaddingMode::Constant,
        "reflect" => PaddingMode::Reflect,
        "edge" => PaddingMode::Edge,
        "wrap" if c.version >= 19 => PaddingMode::Wrap,
        other => {
            return Err(Problem::unsupported(format!(
                "padding of mode \"{}\"",
                crate::error::Short(other)
            )));
        }
    };
    let mut value = 0.0;
    let (pads, axes) = if c.version < 11 {
        let pads = c.attributes.ints("pads")?;
        let pads = c.integers(pads.ok_or_else(|| Problem::malformed("it has no pads"))?)?;
        value = c.attributes.float("value", 0.0)?.into();
        (pads, None)
    } else {
        (c.input(1)?, c.optional_input(3)?)
    };
    let mut parameters = vec![Some(pads), None, axes];
    if c.version >= 11 && c.has_input(2) {
        match c.constant(2)? {
            // Of types whose values the builder does not read.
            Some(constant) if constant.data_type == DataType::Boolean => {
                value = f64::from(constant.bytes.first().is_some_and(|&byte| byte != 0));
            }
            Some(constant) => {
                if let [number] = constant.known_reals(1, "the value")?[..] {
                    value = number;
                }
            }
            None => {
                let given = c.input(2)?;
                parameters[1] = Some(match c.info(given)?.data_type {
                    DataType::Float16 | DataType::BFloat16 => c.cast(given, DataType::Float32)?,
                    _ => given,
                });
            }
        }
    }
    let layout = PadLayout::Sides;
    // Negative numbers take away before others add; where all are known, only if there are any.
    let may_be_negative = match c.lowering.builder.known_value(pads) {
        Some(known) => known
            .as_integers()
            .is_none_or(|values| values.iter().any(|value| value.is_none_or(|n| n < 0))),
        None => true,
    };
    if may_be_negative {
        input = c.step_deferred(ParameterRule::Crop { layout }, &[input], &parameters)?;
    }
    let rule = ParameterRule::Pad {
        mode,
        value,
        layout,
        negative_as_none: may_be_negative,
    };
    c.emit_deferred(rule, &[input], &parameters)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{PadDescriptor, PaddingMode, StridedSliceDescriptor};

    use crate::test_model::{
        assert_refused, descriptors, float, floats, ints, list, output_dims, single, text,
    };

    #[test]
    fn numbers_are_all_before_and_then_all_after() {
        let expected = |mode, value| {
            PadDescriptor::new(mode, value, &[1, 0], &[2, 3])
                .unwrap()
                .into()
        };
        let attributes = [list("pads", &[1, 0, 2, 3]), float("value", 0.5)];
        let old = single(2 + 4, "Pad", &[4, 5], &[], &attributes).unwrap();
        assert_eq!(descriptors(&old), [expected(PaddingMode::Constant, 0.5)]);
        assert_eq!(output_dims(&old), [7, 8]);
        let inputs = [ints("p", &[1, 0, 2, 3]), floats("v", &[], &[0.5])];
        let new = single(13, "Pad", &[4, 5], &inputs, &[]).unwrap();
        assert_eq!(descriptors(&new), [expected(PaddingMode::Constant, 0.5)]);
        let mirrored = [text("mode", "reflect")];
        let mirrored = single(13, "Pad", &[4, 5], &inputs[..1], &mirrored).unwrap();
        assert_eq!(
            descriptors(&mirrored),
            [expected(PaddingMode::Reflect, 0.0)]
        );
        let odd = single(19, "Pad", &[4, 5], &inputs[..1], &[text("mode", "odd")]);
        assert_refused(odd, "padding of mode \"odd\"");
    }

    #[test]
    fn negative_numbers_take_away_before_others_add() {
        let network = single(13, "Pad", &[4, 5], &[ints("p", &[-1, 2, 0, -3])], &[]).unwrap();
        let slice = StridedSliceDescriptor::new(&[1, 0], &[4, 2], &[1, 1]).unwrap();
        let pad = PadDescriptor::new(PaddingMode::Constant, 0.0, &[0, 2], &[0, 0]).unwrap();
        assert_eq!(descriptors(&network), [slice.into(), pad.into()]);
        let too_much = single(13, "Pad", &[4, 5], &[ints("p", &[-3, 0, -2, 0])], &[]);
        assert_refused(too_much, "no more than the elements of [4");
        let least = single(13, "Pad", &[4], &[ints("p", &[i64::MIN, i64::MIN])], &[]);
        assert_refused(least, "no more than the elements of [4");
    }
}
