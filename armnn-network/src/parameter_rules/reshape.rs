//! Reshape: the target.

use armnn_backend_api::{ReshapeDescriptor, Shape};

use super::{Arguments, Resolved, Result};
use crate::error::LayerProblem;

pub(super) fn resolve(allow_zero: bool, arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let target = arguments.list(0, "target")?;
    let problem = |rule: &str| LayerProblem::Descriptor {
        field: "target",
        value: format!("{target:?}"),
        rule: rule.to_owned(),
    };
    if target.len() > Shape::MAX_RANK {
        return Err(problem("at most 8 sizes"));
    }
    let mut dims = Vec::with_capacity(target.len());
    let mut rest = None;
    let mut complete = true;
    for (axis, &size) in target.iter().enumerate() {
        dims.push(match size {
            Some(0) if !allow_zero => *input
                .dims()
                .get(axis)
                .ok_or_else(|| problem("0 only where the input has a dimension to copy"))?,
            Some(-1) if rest.is_some() => return Err(problem("no more than one -1")),
            Some(-1) => {
                rest = Some(axis);
                Shape::UNKNOWN
            }
            Some(size) if size >= 0 => size,
            Some(_) => return Err(problem("sizes from -1 on")),
            None => {
                complete = false;
                Shape::UNKNOWN
            }
        });
    }
    if let (Some(axis), Some(count)) = (rest, input.num_elements())
        && complete
    {
        let others = dims.iter().enumerate().filter(|&(other, _)| other != axis);
        let mut others = others.map(|(_, &dim)| u64::try_from(dim).ok());
        let others = others.try_fold(1u64, |n, dim| n.checked_mul(dim?));
        dims[axis] = match others {
            // Any size would do; what copies 0 elements gets none, as everywhere.
            Some(0) => 0,
            Some(others) if count % others == 0 => {
                i64::try_from(count / others).map_err(|_| problem("sizes that fit"))?
            }
            _ => {
                return Err(problem(
                    "sizes whose product divides the number of elements",
                ));
            }
        };
    }
    Ok(Resolved {
        descriptor: ReshapeDescriptor::new().into(),
        outputs: vec![Shape::new(&dims).map_err(|_| problem("at most 8 sizes"))?],
        complete,
    })
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Shape};

    use super::super::{Parameter, ParameterRule};
    use crate::KnownValue;

    fn output(input: Shape, target: &[Option<i64>], allow_zero: bool) -> Option<(Shape, bool)> {
        let value = KnownValue::integers(DataType::Signed64, target.to_vec());
        let parameter = Parameter {
            shape: Shape::from([target.len() as i64]),
            value,
        };
        let rule = ParameterRule::Reshape { allow_zero };
        let resolved = rule.resolve(&[Some(input)], &[Some(parameter)]).ok()?;
        Some((resolved.outputs[0], resolved.complete))
    }

    #[test]
    fn what_remains_and_what_is_copied_follow_from_the_input() {
        let input = Shape::from([2, 3, 4]);
        let (some, none) = (Some, None);
        for (target, allow_zero, expected) in [
            (&[some(6), some(-1)][..], false, Some(([6, 4].into(), true))),
            (&[some(0), some(-1)], false, Some(([2, 12].into(), true))),
            (&[none, some(12)], false, Some(([-1, 12].into(), false))),
            (&[some(5), some(-1)], false, None),
            (&[some(-1), some(-1)], false, None),
            (&[some(-2)], false, None),
            (&[some(1), some(1), some(1), some(0)], false, None),
        ] {
            assert_eq!(output(input, target, allow_zero), expected, "{target:?}");
        }
        let empty = Shape::from([0, 3]);
        let expected = Some((Shape::from([3, 0]), true));
        assert_eq!(output(empty, &[some(3), some(0)], true), expected);
    }
}
