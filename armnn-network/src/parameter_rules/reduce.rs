//! Layers along axes that are parameters.

use armnn_backend_api::{
    ArgMinMaxDescriptor, CumulativeDescriptor, ReduceDescriptor, ReduceOperation,
    ReverseV2Descriptor, Shape, TopKDescriptor, TransposeDescriptor,
};

use super::arguments::{Arguments, axes, axis};
use super::{Resolved, Result, bad, described, known, shown_list};

/// How a Reduce takes its axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReduceOptions {
    /// Whether reduced dimensions stay, with size 1.
    pub keep_dims: bool,
    /// Whether without axes nothing is reduced; else everything is.
    pub none_without_axes: bool,
    /// Whether an axis may be named more than once.
    pub may_repeat: bool,
}

pub(super) fn reduce(
    operation: ReduceOperation,
    options: ReduceOptions,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let rank = input.rank();
    let named = arguments.optional_list(0, "axes")?.unwrap_or_default();
    let found = match named.is_empty() {
        true if options.none_without_axes => Some(Vec::new()),
        true => Some((0..rank).collect()),
        false => axes(&named, rank, options.may_repeat, "axes")?,
    };
    let descriptor = |axes: &[usize]| {
        let axes: Vec<u32> = axes.iter().map(|&axis| axis as u32).collect();
        described(ReduceDescriptor::new(operation, &axes, options.keep_dims))
    };
    let Some(mut reduced) = found else {
        // Some of the dimensions; one of size 1 stays so.
        let dims: Vec<i64> = match options.keep_dims {
            true => input.dims().iter().map(|&dim| maybe(dim, 1)).collect(),
            false => vec![Shape::UNKNOWN; rank.saturating_sub(named.len())],
        };
        return Resolved::single(descriptor(&[])?, &dims, false);
    };
    reduced.sort_unstable();
    let mut dims = Vec::with_capacity(rank);
    for (axis, &dim) in input.dims().iter().enumerate() {
        match reduced.contains(&axis) {
            true if options.keep_dims => dims.push(1),
            true => {}
            false => dims.push(dim),
        }
    }
    Resolved::single(descriptor(&reduced)?, &dims, true)
}

/// A dimension that may be of one of two sizes.
fn maybe(dim: i64, other: i64) -> i64 {
    match dim == other {
        true => dim,
        false => Shape::UNKNOWN,
    }
}

pub(super) fn arg_min_max(
    base: &ArgMinMaxDescriptor,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let rank = input.rank();
    let keeps = base.keep_dims == 1;
    let Some(index) = arguments.scalar(0, "axis")? else {
        let dims: Vec<i64> = match keeps {
            true => input.dims().iter().map(|&dim| maybe(dim, 1)).collect(),
            false => vec![Shape::UNKNOWN; rank.saturating_sub(1)],
        };
        return Resolved::single(ArgMinMaxDescriptor { axis: 0, ..*base }, &dims, false);
    };
    let found = axis(index, rank, "axis")?;
    let mut dims = input.dims().to_vec();
    match keeps {
        true => dims[found] = 1,
        false => {
            dims.remove(found);
        }
    }
    let descriptor = ArgMinMaxDescriptor {
        axis: found as u32,
        ..*base
    };
    Resolved::single(descriptor, &dims, true)
}

pub(super) fn cumulative(
    base: &CumulativeDescriptor,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let index = arguments.scalar(0, "axis")?;
    let found = index
        .map(|index| axis(index, input.rank(), "axis"))
        .transpose()?;
    let descriptor = CumulativeDescriptor {
        axis: found.unwrap_or(0) as u32,
        ..*base
    };
    Resolved::single(descriptor, input.dims(), found.is_some())
}

pub(super) fn reverse(arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let named = arguments.list(0, "axes")?;
    let mut found = axes(&named, input.rank(), false, "axes")?;
    if let Some(axes) = &mut found {
        axes.sort_unstable();
    }
    let axes: Vec<u32> = found.iter().flatten().map(|&axis| axis as u32).collect();
    let descriptor = described(ReverseV2Descriptor::new(&axes))?;
    Resolved::single(descriptor, input.dims(), found.is_some())
}

pub(super) fn transpose(arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let rank = input.rank();
    let named = arguments.list(0, "permutation")?;
    if named.len() != rank {
        let rule = format!("each dimension of {input}, once");
        return Err(bad("permutation", shown_list(&named), rule));
    }
    let found = axes(&named, rank, false, "permutation")?;
    let dims: Vec<i64> = named
        .iter()
        .map(|index| {
            let from = axis((*index)?, rank, "permutation").ok()?;
            input.dims().get(from).copied()
        })
        .map(|dim| dim.unwrap_or(Shape::UNKNOWN))
        .collect();
    let permutation = found.clone().unwrap_or_else(|| (0..rank).collect());
    let permutation: Vec<u32> = permutation.iter().map(|&axis| axis as u32).collect();
    let descriptor = described(TransposeDescriptor::new(&permutation))?;
    Resolved::single(descriptor, &dims, found.is_some())
}

pub(super) fn top_k(base: &TopKDescriptor, arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let along = axis(base.axis.into(), input.rank(), "axis")?;
    let count = arguments.scalar(0, "k")?;
    let mut dims = input.dims().to_vec();
    if let Some(count) = count
        && (count < 0 || known(dims[along]).is_some_and(|dim| count > dim))
    {
        let rule = format!("at least 0, and at most dimension {along} of {input}");
        return Err(bad("k", count, rule));
    }
    dims[along] = count.unwrap_or(Shape::UNKNOWN);
    let mut resolved = Resolved::single(*base, &dims, count.is_some())?;
    // The values and the indices.
    resolved.outputs.extend_from_within(..);
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{ArgMinMaxFunction, CumulativeOperation, LayerDescriptor};

    use super::super::tests::{ints, list, output, resolved, unknown};
    use super::super::{Parameter, ParameterRule as Rule};
    use super::*;

    fn reduced(
        options: ReduceOptions,
        axes: Option<Parameter>,
    ) -> Option<(Vec<u32>, Vec<i64>, bool)> {
        let operation = ReduceOperation::Mean;
        let rule = Rule::Reduce { operation, options };
        let resolved = resolved(&rule, [2, 3, -1, 1], &[axes]).ok()?;
        let LayerDescriptor::Reduce(d) = resolved.descriptor else {
            panic!("{resolved:?}");
        };
        assert_eq!(d.operation(), operation);
        let dims = resolved.outputs[0].dims().to_vec();
        Some((d.axes().to_vec(), dims, resolved.complete))
    }

    #[test]
    fn reduced_dimensions_vanish_or_stay_with_size_1() {
        let plain = ReduceOptions::default();
        let keep = ReduceOptions {
            keep_dims: true,
            ..plain
        };
        let expected = |dims: &[i64]| Some((vec![0, 2], dims.to_vec(), true));
        assert_eq!(reduced(plain, ints(&[-2, 0])), expected(&[3, 1]));
        assert_eq!(reduced(keep, ints(&[2, 0])), expected(&[1, 3, 1, 1]));
        // A scalar is an axis.
        let mut scalar = ints(&[1]).unwrap();
        scalar.shape = Shape::SCALAR;
        let expected = Some((vec![1], vec![2, -1, 1], true));
        assert_eq!(reduced(plain, Some(scalar)), expected);
        // Any of the dimensions may be reduced, but not to something else than 1.
        let open = |dims: &[i64]| Some((vec![], dims.to_vec(), false));
        assert_eq!(reduced(plain, unknown([1])), open(&[-1; 3]));
        assert_eq!(reduced(keep, unknown([1])), open(&[-1, -1, -1, 1]));
    }

    #[test]
    fn no_axes_are_all_or_none() {
        let all = ReduceOptions::default();
        let none = ReduceOptions {
            none_without_axes: true,
            ..all
        };
        for axes in [None, ints(&[])] {
            let expected = Some((vec![0, 1, 2, 3], vec![], true));
            assert_eq!(reduced(all, axes.clone()), expected);
            let expected = Some((vec![], vec![2, 3, -1, 1], true));
            assert_eq!(reduced(none, axes), expected);
        }
    }

    #[test]
    fn an_axis_may_be_named_twice_if_the_format_lets_it() {
        let once = ReduceOptions::default();
        let twice = ReduceOptions {
            may_repeat: true,
            ..once
        };
        let expected = Some((vec![1, 3], vec![2, -1], true));
        assert_eq!(reduced(twice, ints(&[-1, 1, 3])), expected);
        assert_eq!(reduced(once, ints(&[-1, 1, 3])), None);
        assert_eq!(reduced(once, unknown([5])), None);
        for axis in [4, -5, i64::MAX, i64::MIN] {
            assert_eq!(reduced(twice, ints(&[axis])), None);
        }
    }

    #[test]
    fn the_searched_axis_is_a_parameter() {
        let rule = |keep_dims| {
            Rule::ArgMinMax(ArgMinMaxDescriptor::new(
                ArgMinMaxFunction::Max,
                0,
                keep_dims,
            ))
        };
        let resolved = resolved(&rule(false), [2, 3, 4], &[ints(&[-1])]).unwrap();
        let expected = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 2, false);
        assert_eq!(resolved.descriptor, expected.into());
        assert_eq!(resolved.outputs[0].dims(), [2, 3]);
        let kept = output(&rule(true), [2, 3, 4], &[ints(&[1])]);
        assert_eq!(kept, Some((vec![2, 1, 4], true)));
        let open = output(&rule(false), [2, 3, 4], &[unknown([])]);
        assert_eq!(open, Some((vec![-1, -1], false)));
        let open = output(&rule(true), [2, 1], &[unknown([])]);
        assert_eq!(open, Some((vec![-1, 1], false)));
        assert_eq!(output(&rule(false), [2], &[ints(&[1])]), None);
        assert_eq!(output(&rule(false), Shape::SCALAR, &[ints(&[0])]), None);
        assert_eq!(output(&rule(false), [2], &[ints(&[0, 0])]), None);
    }

    #[test]
    fn the_axis_of_a_running_sum_is_a_parameter() {
        let base = CumulativeDescriptor {
            exclusive: 1,
            ..CumulativeDescriptor::new(CumulativeOperation::Sum, 0)
        };
        let rule = Rule::Cumulative(base);
        let resolved = resolved(&rule, [2, -1], &[ints(&[-1])]).unwrap();
        let expected = CumulativeDescriptor { axis: 1, ..base };
        assert_eq!(resolved.descriptor, expected.into());
        assert_eq!(
            output(&rule, [2, -1], &[unknown([1])]),
            Some((vec![2, -1], false))
        );
        assert_eq!(output(&rule, [2], &[ints(&[1])]), None);
    }

    #[test]
    fn axes_that_are_turned_round_are_a_parameter() {
        let resolved = resolved(&Rule::ReverseV2, [2, 3], &[ints(&[-1, 0])]).unwrap();
        let expected = ReverseV2Descriptor::new(&[0, 1]).unwrap();
        assert_eq!(resolved.descriptor, expected.into());
        let open = output(&Rule::ReverseV2, [2, 3], &[unknown([1])]);
        assert_eq!(open, Some((vec![2, 3], false)));
        assert_eq!(output(&Rule::ReverseV2, [2], &[ints(&[0, 0])]), None);
    }

    #[test]
    fn the_permutation_is_a_parameter() {
        let transpose = |permutation| output(&Rule::Transpose, [2, 3, -1], &[permutation]);
        assert_eq!(transpose(ints(&[2, 0, -2])), Some((vec![-1, 2, 3], true)));
        let partly = list(&[Some(1), None, None]);
        assert_eq!(transpose(partly), Some((vec![3, -1, -1], false)));
        assert_eq!(transpose(ints(&[0, 1])), None);
        assert_eq!(transpose(ints(&[0, 1, 1])), None);
        assert_eq!(transpose(ints(&[0, 1, 3])), None);
    }

    #[test]
    fn how_many_of_the_largest_is_a_parameter() {
        let rule = Rule::TopK(TopKDescriptor::new(1, true));
        let resolved = resolved(&rule, [2, 5], &[ints(&[3])]).unwrap();
        assert_eq!(resolved.outputs, [Shape::from([2, 3]); 2]);
        assert_eq!(
            output(&rule, [2, 5], &[unknown([1])]),
            Some((vec![2, -1], false))
        );
        assert_eq!(
            output(&rule, [2, -1], &[ints(&[3])]),
            Some((vec![2, 3], true))
        );
        for k in [6, -1, i64::MAX] {
            assert_eq!(output(&rule, [2, 5], &[ints(&[k])]), None);
        }
        assert_eq!(output(&rule, [5], &[ints(&[1])]), None);
    }
}
