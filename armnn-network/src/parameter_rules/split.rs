//! An input cut into parts.

use armnn_backend_api::{Shape, SplitDescriptor};

use super::arguments::{Arguments, axis};
use super::{Resolved, Result, bad, known, shape_of, shown_list};

/// How a Split is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitOptions {
    /// Along which axis, from the end if negative; `None` if it is a parameter.
    pub axis: Option<i64>,
    /// How many parts.
    pub parts: usize,
    /// Whether one size may be -1, for what the others leave.
    pub may_remain: bool,
    /// Whether the last of parts without sizes may be smaller than the others; else all are equal.
    pub smaller_last: bool,
}

pub(super) fn split(options: SplitOptions, arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let sizes = arguments.optional_list(0, "sizes")?;
    check_sizes(options, sizes.as_deref())?;
    let along = match options.axis {
        Some(axis) => Some(axis),
        None => arguments.scalar(1, "axis")?,
    };
    let Some(along) = along else {
        let open = vec![Shape::UNKNOWN; input.rank()];
        return resolved(0, vec![shape_of(&open)?; options.parts], false);
    };
    let along = axis(along, input.rank(), "axis")?;
    let dim = known(input.dims()[along]);
    let (sizes, complete) = match sizes {
        Some(sizes) => sizes_of(&sizes, dim)?,
        None => equal(options, dim)?,
    };
    let outputs = sizes.into_iter().map(|size| {
        let mut dims = input.dims().to_vec();
        dims[along] = size;
        shape_of(&dims)
    });
    resolved(along as u32, outputs.collect::<Result<_>>()?, complete)
}

fn resolved(axis: u32, outputs: Vec<Shape>, complete: bool) -> Result<Resolved> {
    Ok(Resolved {
        descriptor: SplitDescriptor { axis }.into(),
        outputs,
        complete,
    })
}

fn check_sizes(options: SplitOptions, sizes: Option<&[Option<i64>]>) -> Result<()> {
    if options.parts == 0 {
        return Err(bad("number of parts", 0, "at least 1"));
    }
    let Some(sizes) = sizes else {
        return Ok(());
    };
    if sizes.len() != options.parts {
        let rule = format!("one for each of {} parts", options.parts);
        return Err(bad("sizes", shown_list(sizes), rule));
    }
    let open = sizes.iter().filter(|&&size| size == Some(-1)).count();
    let least = if options.may_remain { -1 } else { 0 };
    if open > 1 || sizes.iter().flatten().any(|&size| size < least) {
        let rule = match options.may_remain {
            true => "from 0 on, but for a single -1",
            false => "from 0 on",
        };
        return Err(bad("sizes", shown_list(sizes), rule));
    }
    Ok(())
}

/// The sizes that are given; a single one that is not is what the others leave.
fn sizes_of(sizes: &[Option<i64>], dim: Option<i64>) -> Result<(Vec<i64>, bool)> {
    let mut found: Vec<i64> = sizes.iter().map(|s| s.unwrap_or(Shape::UNKNOWN)).collect();
    let complete = sizes.iter().all(Option::is_some);
    let problem = |rule: String| bad("sizes", shown_list(sizes), rule);
    let known = found.iter().filter(|&&size| size >= 0);
    let sum = known.copied().try_fold(0i64, i64::checked_add);
    let sum = sum.ok_or_else(|| problem("sizes whose sum is below 2^63".to_owned()))?;
    if let Some(dim) = dim {
        let open = found.iter().filter(|&&size| size < 0).count();
        let left = dim - sum;
        if left < 0 || open == 0 && left > 0 {
            return Err(problem(format!("sizes whose sum is {dim}")));
        }
        if open == 1 {
            found
                .iter_mut()
                .filter(|size| **size < 0)
                .for_each(|size| *size = left);
        }
    }
    Ok((found, complete))
}

fn equal(options: SplitOptions, dim: Option<i64>) -> Result<(Vec<i64>, bool)> {
    let Some(dim) = dim else {
        // Shape inference makes unknown parts equal.
        let complete = !options.smaller_last || options.parts == 1;
        return Ok((vec![Shape::UNKNOWN; options.parts], complete));
    };
    let parts = i64::try_from(options.parts).unwrap_or(i64::MAX);
    if dim % parts != 0 && !options.smaller_last {
        let rule = format!("a divisor of the {dim} elements");
        return Err(bad("number of parts", parts, rule));
    }
    let part = dim / parts + i64::from(dim % parts != 0);
    let mut left = dim;
    let sizes = (0..options.parts).map(|_| {
        let taken = part.min(left);
        left -= taken;
        taken
    });
    Ok((sizes.collect(), true))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ints, list, unknown};
    use super::super::{Parameter, ParameterRule as Rule};
    use super::*;

    fn options() -> SplitOptions {
        SplitOptions {
            axis: Some(-1),
            parts: 3,
            may_remain: false,
            smaller_last: false,
        }
    }

    /// The sizes along the last of two dimensions, and whether all is known.
    fn sizes(
        options: SplitOptions,
        dim: i64,
        parameters: &[Option<Parameter>],
    ) -> Option<(Vec<i64>, bool)> {
        let rule = Rule::Split(options);
        let input = Some(Shape::from([2, dim]));
        let resolved = rule.resolve(&[input], parameters).ok()?;
        if resolved.complete {
            assert_eq!(resolved.descriptor, SplitDescriptor { axis: 1 }.into());
        }
        let sizes = resolved.outputs.iter().map(|shape| shape.dims()[1]);
        Some((sizes.collect(), resolved.complete))
    }

    #[test]
    fn parts_without_sizes_are_equal() {
        let plain = options();
        assert_eq!(sizes(plain, 6, &[]), Some((vec![2, 2, 2], true)));
        assert_eq!(sizes(plain, -1, &[]), Some((vec![-1; 3], true)));
        assert_eq!(sizes(plain, 7, &[]), None);
        let last = SplitOptions {
            smaller_last: true,
            ..plain
        };
        // 7 / 3, rounded up, is 3: 3, 3 and what is left; of 2, 1, 1 and nothing.
        assert_eq!(sizes(last, 7, &[]), Some((vec![3, 3, 1], true)));
        assert_eq!(sizes(last, 2, &[]), Some((vec![1, 1, 0], true)));
        assert_eq!(sizes(last, -1, &[]), Some((vec![-1; 3], false)));
    }

    #[test]
    fn parts_are_as_large_as_said() {
        let plain = options();
        assert_eq!(
            sizes(plain, 7, &[ints(&[1, 2, 4])]),
            Some((vec![1, 2, 4], true))
        );
        assert_eq!(
            sizes(plain, -1, &[ints(&[1, 2, 4])]),
            Some((vec![1, 2, 4], true))
        );
        // 7 - 1 - 2 = 4
        let partly = [list(&[Some(1), None, Some(2)])];
        assert_eq!(sizes(plain, 7, &partly), Some((vec![1, 4, 2], false)));
        assert_eq!(sizes(plain, 7, &[unknown([3])]), Some((vec![-1; 3], false)));
        for wrong in [
            &[1, 2, 3][..],
            &[1, 2, 5],
            &[1, -1, 6],
            &[1, 6],
            &[i64::MAX, i64::MAX, 1],
        ] {
            assert_eq!(sizes(plain, 7, &[ints(wrong)]), None, "{wrong:?}");
        }
    }

    #[test]
    fn one_part_may_be_what_the_others_leave() {
        let open = SplitOptions {
            may_remain: true,
            ..options()
        };
        assert_eq!(
            sizes(open, 7, &[ints(&[1, -1, 2])]),
            Some((vec![1, 4, 2], true))
        );
        assert_eq!(
            sizes(open, -1, &[ints(&[1, -1, 2])]),
            Some((vec![1, -1, 2], true))
        );
        assert_eq!(sizes(open, 7, &[ints(&[1, -1, -1])]), None);
        assert_eq!(sizes(open, 2, &[ints(&[1, -1, 2])]), None);
        assert_eq!(sizes(open, 2, &[ints(&[1, -2, 2])]), None);
    }

    #[test]
    fn the_axis_may_be_a_parameter() {
        let options = SplitOptions {
            axis: None,
            ..options()
        };
        assert_eq!(
            sizes(options, 6, &[None, ints(&[1])]),
            Some((vec![2; 3], true))
        );
        assert_eq!(
            sizes(options, 6, &[None, unknown([])]),
            Some((vec![-1; 3], false))
        );
        assert_eq!(sizes(options, 6, &[None, ints(&[2])]), None);
        assert_eq!(sizes(options, 6, &[]), None);
        let none = SplitOptions {
            parts: 0,
            ..options
        };
        assert_eq!(sizes(none, 6, &[None, ints(&[1])]), None);
    }
}
