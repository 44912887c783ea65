//! Pad.

use armnn_backend_api::{DataType, PadDescriptor, PaddingMode, Shape, StridedSliceDescriptor};

use super::context::{Context, axis, described};
use super::problem::{Problem, Result};

/// Elements added before and after each dimension; a negative number of them takes elements away.
/// Numbers and value are attributes before version 11, and inputs since.
pub(super) fn pad(c: &mut Context<'_, '_>) -> Result {
    let mut input = c.input(0)?;
    let shape = c.shape(input)?;
    let rank = shape.rank();
    let mode = match c.attributes.text("mode", "constant")? {
        "constant" => PaddingMode::Constant,
        "reflect" => PaddingMode::Reflect,
        other => {
            return Err(Problem::unsupported(format!(
                "padding of mode \"{}\"; constant and reflect are supported",
                crate::error::Short(other)
            )));
        }
    };
    let (pads, value) = amounts(c, rank)?;
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    let axes = match c.optional_integers(3, Shape::MAX_RANK, "the axes")? {
        Some(axes) => axes
            .iter()
            .map(|&index| axis(index, rank))
            .collect::<Result<Vec<_>>>()?,
        None => (0..rank).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(Problem::malformed(format!(
            "it has {} pads for {} dimensions",
            pads.len(),
            axes.len()
        )));
    }
    for (position, &at) in axes.iter().enumerate() {
        (before[at], after[at]) = (pads[position], pads[position + axes.len()]);
    }
    if before.iter().chain(&after).any(|&amount| amount < 0) {
        if mode != PaddingMode::Constant {
            return Err(Problem::unsupported("negative padding of a mirrored input"));
        }
        let less = without(shape, &before, &after)?;
        if before.iter().chain(&after).all(|&amount| amount <= 0) {
            return c.emit(less, &[input]);
        }
        input = c.step(less, &[input])?;
        for amount in before.iter_mut().chain(&mut after) {
            *amount = (*amount).max(0);
        }
    }
    let descriptor = described(PadDescriptor::new(mode, value, &before, &after))?;
    c.emit(descriptor, &[input])
}

/// How many elements are added, and their value.
fn amounts(c: &mut Context<'_, '_>, rank: usize) -> Result<(Vec<i64>, f64)> {
    if c.version < 11 {
        let pads = c.attributes.ints("pads")?.map(<[i64]>::to_vec);
        let pads = pads.ok_or_else(|| Problem::malformed("it has no pads"))?;
        return Ok((pads, c.attributes.float("value", 0.0)?.into()));
    }
    let pads = c.required_constant(1, "the padding")?;
    let pads = pads.known_integers(2 * rank.max(1), "the padding")?;
    let value = match c.optional_constant(2, "the value")? {
        None => 0.0,
        Some(value) if value.data_type == DataType::Boolean && value.count() == 1 => {
            f64::from(value.bytes()?.first().is_some_and(|&byte| byte != 0))
        }
        Some(value) => match value.known_reals(1, "the value")?[..] {
            [value] => value,
            _ => 0.0,
        },
    };
    Ok((pads, value))
}

/// The slice that takes away what negative numbers say.
fn without(shape: Shape, before: &[i64], after: &[i64]) -> Result<StridedSliceDescriptor> {
    let mut begin = Vec::new();
    let mut end = Vec::new();
    for ((&dim, &before), &after) in shape.dims().iter().zip(before).zip(after) {
        if dim < 0 && after < 0 {
            return Err(Problem::unsupported(
                "elements taken from the end of a dimension that is not known",
            ));
        }
        let first = before.min(0).checked_neg().unwrap_or(i64::MAX);
        let last = match dim {
            ..0 => i64::MAX,
            dim => dim.saturating_add(after.min(0)),
        };
        if last < 0 || (dim >= 0 && first > last) {
            return Err(Problem::malformed(format!(
                "{before} and {after} elements added to {dim} leave less than none"
            )));
        }
        begin.push(first);
        end.push(last);
    }
    let stride = vec![1; begin.len()];
    described(StridedSliceDescriptor::new(&begin, &end, &stride))
}

#[cfg(test)]
mod tests {
    use super::*;
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
        for mode in ["edge", "wrap"] {
            let refused = single(19, "Pad", &[4, 5], &inputs[..1], &[text("mode", mode)]);
            assert_refused(refused, &format!("padding of mode \"{mode}\""));
        }
    }

    #[test]
    fn negative_numbers_take_away_before_others_add() {
        let network = single(13, "Pad", &[4, 5], &[ints("p", &[-1, 2, 0, -3])], &[]).unwrap();
        let slice = StridedSliceDescriptor::new(&[1, 0], &[4, 2], &[1, 1]).unwrap();
        let pad = PadDescriptor::new(PaddingMode::Constant, 0.0, &[0, 2], &[0, 0]).unwrap();
        assert_eq!(descriptors(&network), [slice.into(), pad.into()]);
        let too_much = single(13, "Pad", &[4, 5], &[ints("p", &[-3, 0, -2, 0])], &[]);
        assert_refused(too_much, "leave less than none");
        let least = single(13, "Pad", &[4], &[ints("p", &[i64::MIN, i64::MIN])], &[]);
        assert_refused(least, "leave less than none");
    }
}
