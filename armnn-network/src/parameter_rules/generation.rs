//! Layers whose output's size is a value.

use armnn_backend_api::{
    DataType, NonMaxSuppressionPaddedDescriptor, OneHotDescriptor, RangeDescriptor, Shape,
};

use super::arguments::{Arguments, Number, axis};
use super::{Resolved, Result, bad};
use crate::error::LayerProblem;

/// start, limit and delta are both inputs and parameters.
pub(super) fn range(rounded_quotient: bool, arguments: &Arguments<'_>) -> Result<Resolved> {
    let start = arguments.number(0, "start")?;
    let limit = arguments.number(1, "limit")?;
    let delta = arguments.number(2, "delta")?;
    if matches!(delta, Some(Number::Integer(0)) | Some(Number::Real(0.0))) {
        return Err(bad("delta", 0, "other than 0"));
    }
    let count = match (start, limit, delta) {
        (
            Some(Number::Integer(start)),
            Some(Number::Integer(limit)),
            Some(Number::Integer(delta)),
        ) => Some(count(start, limit, delta)?),
        (Some(Number::Real(start)), Some(Number::Real(limit)), Some(Number::Real(delta))) => {
            let single = arguments.data_type(0) == Some(DataType::Float32);
            Some(real_count(start, limit, delta, single, rounded_quotient)?)
        }
        (Some(_), Some(_), Some(_)) => {
            return Err(bad("start, limit and delta", "mixed", "of one type"));
        }
        _ => None,
    };
    let dims = [count.unwrap_or(Shape::UNKNOWN)];
    Resolved::single(RangeDescriptor::new(), &dims, count.is_some())
}

/// (limit - start) / delta, rounded up.
fn count(start: i64, limit: i64, delta: i64) -> Result<i64> {
    let (start, limit, delta) = (i128::from(start), i128::from(limit), i128::from(delta));
    let distance = (limit - start) * delta.signum();
    let count = match distance {
        ..=0 => 0,
        distance => (distance - 1) / delta.abs() + 1,
    };
    i64::try_from(count).map_err(|_| LayerProblem::Overflow {
        what: "the number of elements",
    })
}

fn real_count(
    start: f64,
    limit: f64,
    delta: f64,
    single: bool,
    rounded_quotient: bool,
) -> Result<i64> {
    let distance = match single {
        true => f64::from(limit as f32 - start as f32),
        false => limit - start,
    };
    let quotient = match single && rounded_quotient {
        true => f64::from(distance as f32 / delta as f32),
        false => distance / delta,
    };
    let count = quotient.ceil();
    if count.is_nan() || count >= 9e15 {
        let value = format!("{start}, {limit}, {delta}");
        return Err(bad("start, limit and delta", value, "of fewer steps"));
    }
    Ok(count.max(0.0) as i64)
}

pub(super) fn one_hot(
    along: i64,
    wrap_negative: bool,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let indices = arguments.data(0)?;
    let rank = indices.rank() + 1;
    let along = axis(along, rank, "axis")?;
    let depth = arguments.scalar(0, "depth")?;
    if let Some(depth) = depth.filter(|&depth| depth < 0) {
        return Err(bad("depth", depth, "at least 0"));
    }
    let mut dims = indices.dims().to_vec();
    dims.insert(along, depth.unwrap_or(Shape::UNKNOWN));
    let descriptor = OneHotDescriptor {
        axis: along as u32,
        wrap_negative: wrap_negative.into(),
    };
    Resolved::single(descriptor, &dims, depth.is_some())
}

pub(super) fn non_max_suppression_padded(arguments: &Arguments<'_>) -> Result<Resolved> {
    let count = arguments.scalar(0, "max_output_size")?;
    if let Some(count) = count.filter(|&count| count < 0) {
        return Err(bad("max_output_size", count, "at least 0"));
    }
    let dims = [count.unwrap_or(Shape::UNKNOWN)];
    let descriptor = NonMaxSuppressionPaddedDescriptor::new();
    let mut resolved = Resolved::single(descriptor, &dims, count.is_some())?;
    // Indices, scores, and how many there are.
    resolved.outputs.extend_from_within(..);
    resolved.outputs.push(Shape::SCALAR);
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ints, output, reals, unknown};
    use super::super::{Parameter, ParameterRule as Rule};
    use super::*;

    fn range(rounded_quotient: bool, parameters: [Option<Parameter>; 3]) -> Option<(i64, bool)> {
        let rule = Rule::Range { rounded_quotient };
        let (dims, complete) = output(&rule, Shape::SCALAR, &parameters)?;
        Some((dims[0], complete))
    }

    #[test]
    fn a_range_has_as_many_elements_as_steps_fit() {
        let integers =
            |start, limit, delta| range(false, [start, limit, delta].map(|value| ints(&[value])));
        for (start, limit, delta, expected) in [
            // 3, 5, 7
            (3, 9, 2, 3),
            (3, 8, 2, 3),
            // 10, 6, 2
            (10, 0, -4, 3),
            (0, 0, 1, 0),
            (0, 5, -1, 0),
            (0, i64::MAX, i64::MAX, 1),
            (i64::MIN, i64::MAX, i64::MAX, 3),
            (0, 1, i64::MIN, 0),
            (0, i64::MIN, i64::MIN, 1),
        ] {
            assert_eq!(integers(start, limit, delta), Some((expected, true)));
        }
        assert_eq!(integers(0, 1, 0), None);
        assert_eq!(integers(i64::MIN, i64::MAX, 1), None);
        let open = [unknown([]), ints(&[1]), ints(&[1])];
        assert_eq!(range(false, open), Some((-1, false)));
        let open = [unknown([]), ints(&[1]), ints(&[0])];
        assert_eq!(range(false, open), None);
        assert_eq!(range(false, [ints(&[0, 1]), ints(&[1]), ints(&[1])]), None);
        assert_eq!(range(false, [reals(&[0.0]), ints(&[1]), ints(&[1])]), None);
    }

    #[test]
    fn steps_of_real_numbers_are_counted_in_the_formats_precision() {
        let real = |rounded, values: [f32; 3]| range(rounded, values.map(|value| reals(&[value])));
        // 1, 1.5, 2, 2.5
        assert_eq!(real(false, [1.0, 3.0, 0.5]), Some((4, true)));
        assert_eq!(real(true, [1.0, 3.0, 0.5]), Some((4, true)));
        assert_eq!(real(true, [1.0, 0.0, 0.5]), Some((0, true)));
        // What is nearest to 0.6 and to 0.2 in Float32: 0.6000000238 / 0.2000000030 =
        // 3.0000000745, which is 3 in Float32.
        assert_eq!(real(false, [0.0, 0.6, 0.2]), Some((4, true)));
        assert_eq!(real(true, [0.0, 0.6, 0.2]), Some((3, true)));
        for wrong in [
            [0.0, 1.0, 0.0],
            [0.0, f32::NAN, 1.0],
            [0.0, f32::INFINITY, 1.0],
            [0.0, 1.0, 1e-30],
        ] {
            assert_eq!(real(false, wrong), None, "{wrong:?}");
            assert_eq!(real(true, wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn the_depth_is_a_dimension_of_its_own() {
        let one_hot = |axis, depth| {
            let rule = Rule::OneHot {
                axis,
                wrap_negative: true,
            };
            output(&rule, [2, 3], &[depth])
        };
        assert_eq!(one_hot(-1, ints(&[5])), Some((vec![2, 3, 5], true)));
        assert_eq!(one_hot(1, ints(&[5])), Some((vec![2, 5, 3], true)));
        assert_eq!(one_hot(-3, reals(&[5.0])), Some((vec![5, 2, 3], true)));
        assert_eq!(one_hot(0, unknown([1])), Some((vec![-1, 2, 3], false)));
        assert_eq!(one_hot(3, ints(&[5])), None);
        assert_eq!(one_hot(0, ints(&[-5])), None);
        assert_eq!(one_hot(0, reals(&[f32::NAN])), None);
    }

    #[test]
    fn the_most_boxes_are_a_size() {
        let rule = Rule::NonMaxSuppressionPadded;
        let boxes = [Some(Shape::from([7, 4])), Some(Shape::from([7]))];
        let resolved = rule.resolve(&boxes, &[ints(&[3])]).unwrap();
        let expected = [Shape::from([3]), Shape::from([3]), Shape::SCALAR];
        assert_eq!(resolved.outputs, expected);
        assert!(rule.resolve(&boxes, &[ints(&[-1])]).is_err());
        assert!(!rule.resolve(&boxes, &[unknown([])]).unwrap().complete);
    }
}
