//! The same elements in another shape.

use armnn_backend_api::{ReshapeDescriptor, Shape};

use super::arguments::{Arguments, axes};
use super::{Resolved, Result, bad, known, product, shown_list};

pub(super) fn reshape(allow_zero: bool, arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let target = arguments.list(0, "target")?;
    let problem = |rule: &str| bad("target", shown_list(&target), rule);
    if target.len() > Shape::MAX_RANK {
        return Err(problem("at most 8 sizes"));
    }
    // The dimensions of the input that are not copied, and those of the output.
    let mut left = input.dims().to_vec();
    let mut dims = Vec::with_capacity(target.len());
    let mut others = Vec::with_capacity(target.len());
    let mut rest = None;
    for (position, &size) in target.iter().enumerate() {
        dims.push(match size {
            Some(0) if !allow_zero => {
                let copied = left.get_mut(position);
                let copied = copied
                    .ok_or_else(|| problem("0 only where the input has a dimension to copy"))?;
                std::mem::replace(copied, 1)
            }
            Some(-1) if rest.is_some() => return Err(problem("no more than one -1")),
            Some(-1) => {
                rest = Some(position);
                Shape::UNKNOWN
            }
            Some(size) if size >= 0 => {
                others.push(size);
                size
            }
            Some(_) => return Err(problem("sizes from -1 on")),
            None => {
                others.push(Shape::UNKNOWN);
                Shape::UNKNOWN
            }
        });
    }
    if let Some(position) = rest {
        let all_known = others.iter().all(|&dim| dim >= 0);
        // With copied dimensions left out on both sides, the rest may follow although those are
        // unknown, and is the same if one of them is 0.
        match (known(product(others)?), known(product(left)?)) {
            // Any size would do; what copies no elements gets none, as everywhere.
            (Some(0), Some(_)) if all_known => dims[position] = 0,
            (Some(others), Some(count)) if others > 0 => {
                if count % others != 0 {
                    let rule = "sizes whose product divides the number of elements";
                    return Err(problem(rule));
                }
                dims[position] = count / others;
            }
            _ => {}
        }
    }
    reshaped(&dims, target.iter().all(Option::is_some))
}

pub(super) fn squeeze(arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let rank = input.rank();
    let squeezed = match arguments.optional_list(0, "axes")? {
        None if input.is_known() => (0..rank).filter(|&axis| input.dims()[axis] == 1).collect(),
        None => {
            let rule = "given, as not all dimensions of the input are known";
            return Err(bad("axes", format!("absent for {input}"), rule));
        }
        Some(named) => match axes(&named, rank, false, "axes")? {
            Some(axes) => axes,
            None => return reshaped(&vec![Shape::UNKNOWN; rank - named.len()], false),
        },
    };
    without(input, &squeezed)
}

pub(super) fn unsqueeze(arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let named = arguments.list(0, "axes")?;
    let rank = input.rank().saturating_add(named.len());
    if rank > Shape::MAX_RANK {
        let rule = format!("at most {}", Shape::MAX_RANK - input.rank());
        return Err(bad("number of axes", named.len(), rule));
    }
    let Some(axes) = axes(&named, rank, false, "axes")? else {
        return reshaped(&vec![Shape::UNKNOWN; rank], false);
    };
    let mut from = input.dims().iter();
    let dims: Vec<i64> = (0..rank)
        .map(|axis| match axes.contains(&axis) {
            true => 1,
            false => from.next().copied().unwrap_or(1),
        })
        .collect();
    reshaped(&dims, true)
}

pub(super) fn merge_dimensions(
    groups: &[Vec<usize>],
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let mut used = [false; Shape::MAX_RANK];
    let mut dims = Vec::with_capacity(groups.len().min(Shape::MAX_RANK + 1));
    for group in groups.iter().take(Shape::MAX_RANK + 1) {
        let mut sizes = Vec::with_capacity(group.len().min(Shape::MAX_RANK));
        for &axis in group {
            let size = input.dims().get(axis).copied();
            let (Some(size), Some(false)) = (size, used.get(axis)) else {
                let rule = format!("each of the dimensions of {input} at most once");
                return Err(bad("groups", format!("{groups:?}"), rule));
            };
            used[axis] = true;
            sizes.push(size);
        }
        dims.push(product(sizes)?);
    }
    let left: Vec<usize> = (0..input.rank()).filter(|&axis| !used[axis]).collect();
    let are_ones = check_ones(input, &left)?;
    reshaped(&dims, are_ones)
}

/// The dimensions of the input but for some of size 1.
fn without(input: Shape, squeezed: &[usize]) -> Result<Resolved> {
    let are_ones = check_ones(input, squeezed)?;
    let kept = (0..input.rank()).filter(|axis| !squeezed.contains(axis));
    let dims: Vec<i64> = kept.map(|axis| input.dims()[axis]).collect();
    reshaped(&dims, are_ones)
}

/// Whether these dimensions are known to be 1.
///
/// # Errors
/// When one is known not to be.
fn check_ones(input: Shape, axes: &[usize]) -> Result<bool> {
    let mut are_ones = true;
    for &axis in axes {
        match known(input.dims().get(axis).copied().unwrap_or(1)) {
            Some(1) => {}
            Some(_) => {
                let rule = format!("dimensions of {input} whose size is 1");
                return Err(bad("axes", axis, rule));
            }
            None => are_ones = false,
        }
    }
    Ok(are_ones)
}

/// A Reshape to these dimensions, of which one may follow from the number of elements.
fn reshaped(dims: &[i64], known: bool) -> Result<Resolved> {
    let unknown = dims.iter().filter(|&&dim| dim < 0).count();
    let follows = unknown == 0 || unknown == 1 && !dims.contains(&0);
    Resolved::single(ReshapeDescriptor::new(), dims, known && follows)
}

#[cfg(test)]
mod tests {
    use super::super::ParameterRule as Rule;
    use super::super::tests::{ints, list, output, unknown};
    use super::*;

    #[test]
    fn what_remains_and_what_is_copied_follow_from_the_input() {
        let (some, none) = (Some, None);
        let (copy, keep) = (false, true);
        for (input, target, allow_zero, expected) in [
            (
                &[2, 3, 4][..],
                &[some(6), some(-1)][..],
                copy,
                Some((&[6, 4][..], true)),
            ),
            // 2 3 4 / 2 = 12
            (
                &[2, 3, 4],
                &[some(0), some(-1)],
                copy,
                Some((&[2, 12], true)),
            ),
            (
                &[2, 3, 4],
                &[none, some(12)],
                copy,
                Some((&[-1, 12], false)),
            ),
            (&[2, 3, 4], &[some(5), some(-1)], copy, None),
            (&[2, 3, 4], &[some(-1), some(-1)], copy, None),
            (&[2, 3, 4], &[some(-2)], copy, None),
            (
                &[2, 3, 4],
                &[some(1), some(1), some(1), some(0)],
                copy,
                None,
            ),
            // The batch is copied: 16 4 4 = 256 remain.
            (
                &[-1, 16, 4, 4],
                &[some(0), some(-1)],
                copy,
                Some((&[-1, 256], true)),
            ),
            // What remains of two unknown dimensions is known once they are.
            (
                &[-1, 16, -1],
                &[some(0), some(-1)],
                copy,
                Some((&[-1, -1], false)),
            ),
            (
                &[-1, 16],
                &[some(-1), some(8)],
                copy,
                Some((&[-1, 8], true)),
            ),
            (&[0, 3], &[some(3), some(0)], keep, Some((&[3, 0], true))),
            // 0 / 3 = 0
            (&[0, 3], &[some(3), some(-1)], copy, Some((&[3, 0], true))),
            // 3 remain, as of any batch.
            (&[0, 3], &[some(0), some(-1)], copy, Some((&[0, 3], true))),
            (&[0, 3], &[some(0), some(-1)], keep, Some((&[0, 0], true))),
            (&[], &[], copy, Some((&[], true))),
            (
                &[2],
                &[some(i64::MAX), some(i64::MAX), some(-1)],
                copy,
                None,
            ),
        ] {
            let rule = Rule::Reshape { allow_zero };
            let found = output(&rule, Shape::new(input).unwrap(), &[list(target)]);
            let expected = expected.map(|(dims, complete)| (dims.to_vec(), complete));
            assert_eq!(found, expected, "{input:?} to {target:?}");
        }
        let rule = Rule::Reshape { allow_zero: false };
        let found = output(&rule, [2, 3], &[unknown([3])]);
        assert_eq!(found, Some((vec![-1; 3], false)));
        assert_eq!(output(&rule, [2, 3], &[unknown([-1])]), None);
        assert_eq!(output(&rule, [2, 3], &[unknown([9])]), None);
        assert_eq!(output(&rule, [2, 3], &[None]), None);
    }

    #[test]
    fn dimensions_of_one_go() {
        let squeeze =
            |input: &[i64], axes| output(&Rule::Squeeze, Shape::new(input).unwrap(), &[axes]);
        let known = |dims: &[i64]| Some((dims.to_vec(), true));
        assert_eq!(squeeze(&[1, 2, 1], ints(&[0])), known(&[2, 1]));
        assert_eq!(squeeze(&[1, 2, 1], ints(&[-1, 0])), known(&[2]));
        assert_eq!(squeeze(&[1, 2, 1], None), known(&[2]));
        assert_eq!(squeeze(&[1, -1], ints(&[0])), known(&[-1]));
        // Whether it is 1 is not known yet.
        let open = |dims: &[i64]| Some((dims.to_vec(), false));
        assert_eq!(squeeze(&[-1, -1], ints(&[0])), open(&[-1]));
        assert_eq!(squeeze(&[1, 2, 1], list(&[Some(0), None])), open(&[-1]));
        assert_eq!(squeeze(&[1, 2], ints(&[1])), None);
        assert_eq!(squeeze(&[1, 1], ints(&[0, -2])), None);
        assert_eq!(squeeze(&[1], unknown([2])), None);
        assert_eq!(squeeze(&[-1, 1], None), None);
        for axis in [1, -2, i64::MAX, i64::MIN] {
            assert_eq!(squeeze(&[1], ints(&[axis])), None);
        }
    }

    #[test]
    fn dimensions_of_one_come() {
        let unsqueeze = |axes| output(&Rule::Unsqueeze, [2, -1], &[axes]);
        assert_eq!(unsqueeze(ints(&[0, -1])), Some((vec![1, 2, -1, 1], true)));
        assert_eq!(unsqueeze(ints(&[1])), Some((vec![2, 1, -1], true)));
        assert_eq!(unsqueeze(unknown([])), Some((vec![-1; 3], false)));
        assert_eq!(unsqueeze(ints(&[0, 0])), None);
        assert_eq!(unsqueeze(ints(&[3])), None);
        assert_eq!(unsqueeze(ints(&[0; 7])), None);
    }

    #[test]
    fn dimensions_are_multiplied_in_groups() {
        let merge = |input: &[i64], groups: &[&[usize]]| {
            let groups = groups.iter().map(|group| group.to_vec()).collect();
            let rule = Rule::MergeDimensions { groups };
            output(&rule, Shape::new(input).unwrap(), &[])
        };
        // 3 4 = 12
        assert_eq!(
            merge(&[2, 3, 4], &[&[0], &[1, 2]]),
            Some((vec![2, 12], true))
        );
        assert_eq!(
            merge(&[-1, 3, -1], &[&[0], &[1, 2]]),
            Some((vec![-1, -1], false))
        );
        assert_eq!(
            merge(&[-1, 1], &[&[], &[0], &[]]),
            Some((vec![1, -1, 1], true))
        );
        assert_eq!(merge(&[-1, -1], &[&[0]]), Some((vec![-1], false)));
        assert_eq!(merge(&[2, 3], &[&[0]]), None);
        assert_eq!(merge(&[2, 3], &[&[0, 0], &[1]]), None);
        assert_eq!(merge(&[2, 3], &[&[0], &[2]]), None);
        assert_eq!(merge(&[1], &[&[][..]; 9]), None);
        assert_eq!(merge(&[i64::MAX, 2], &[&[0, 1]]), None);
    }
}
