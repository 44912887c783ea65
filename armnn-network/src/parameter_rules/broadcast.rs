//! The same elements again and again.

use armnn_backend_api::{BroadcastToDescriptor, FillDescriptor, Shape, TileDescriptor};

use super::arguments::Arguments;
use super::{Resolved, Result, bad, described, known, shown_list};
use crate::error::LayerProblem;

pub(super) fn broadcast_to(bidirectional: bool, arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let target = arguments.list(0, "target")?;
    let rank = input.rank().max(target.len());
    let problem = |rule: String| bad("target", shown_list(&target), rule);
    if rank > Shape::MAX_RANK {
        return Err(problem("at most 8 sizes".to_owned()));
    }
    if !bidirectional && target.len() < input.rank() {
        return Err(problem(format!("at least {} sizes", input.rank())));
    }
    let mut dims = Vec::with_capacity(rank);
    for position in 0..rank {
        let dim = match (position + input.rank()).checked_sub(rank) {
            Some(axis) => known(input.dims()[axis]),
            None => Some(1),
        };
        let size = match (position + target.len()).checked_sub(rank) {
            Some(entry) => target[entry],
            None => Some(1),
        };
        if size.is_some_and(|size| size < 0) {
            return Err(problem("sizes from 0 on".to_owned()));
        }
        dims.push(match (dim, size) {
            (Some(dim), Some(size)) if dim == size || dim == 1 => size,
            (Some(dim), Some(1)) if bidirectional => dim,
            (Some(_), Some(_)) => {
                let rule = format!("sizes that {input} broadcasts to: equal, or of 1");
                return Err(problem(rule));
            }
            // The input's size is 1, or this one.
            (None, Some(size)) if size != 1 || !bidirectional => size,
            (Some(dim), None) if dim != 1 => dim,
            _ => Shape::UNKNOWN,
        });
    }
    // What the size of the input says follows in a Deferred layer only.
    let complete = target.iter().all(Option::is_some) && dims.iter().all(|&dim| dim >= 0);
    Resolved::single(BroadcastToDescriptor::new(), &dims, complete)
}

pub(super) fn tile(arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let multiples = arguments.list(0, "multiples")?;
    if multiples.len() != input.rank() {
        let rule = format!("one for each dimension of {input}");
        return Err(bad("multiples", shown_list(&multiples), rule));
    }
    let mut dims = Vec::with_capacity(multiples.len());
    for (&dim, &multiple) in input.dims().iter().zip(&multiples) {
        dims.push(match (known(dim), multiple) {
            (_, Some(multiple)) if multiple < 0 => {
                return Err(bad("multiples", shown_list(&multiples), "from 0 on"));
            }
            (Some(0), _) | (_, Some(0)) => 0,
            (Some(dim), Some(multiple)) => {
                dim.checked_mul(multiple).ok_or(LayerProblem::Overflow {
                    what: "the size of a repeated dimension",
                })?
            }
            _ => Shape::UNKNOWN,
        });
    }
    let complete = multiples.iter().all(Option::is_some);
    // -1 is as often as the output's shape says.
    let multiples: Vec<i64> = multiples.iter().map(|m| m.unwrap_or(-1)).collect();
    Resolved::single(described(TileDescriptor::new(&multiples))?, &dims, complete)
}

pub(super) fn fill(arguments: &Arguments<'_>) -> Result<Resolved> {
    let sizes = arguments.list(0, "dims")?;
    if sizes.iter().flatten().any(|&size| size < 0) {
        return Err(bad("dims", shown_list(&sizes), "sizes from 0 on"));
    }
    let dims: Vec<i64> = sizes.iter().map(|s| s.unwrap_or(Shape::UNKNOWN)).collect();
    let complete = sizes.iter().all(Option::is_some);
    Resolved::single(FillDescriptor::new(), &dims, complete)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerDescriptor;

    use super::super::ParameterRule as Rule;
    use super::super::tests::{ints, list, output, resolved, unknown};
    use super::*;

    #[test]
    fn an_input_broadcasts_to_a_target() {
        let rule = |bidirectional| Rule::BroadcastTo { bidirectional };
        let (one_way, both_ways) = (rule(false), rule(true));
        let known = |dims: &[i64]| Some((dims.to_vec(), true));
        let open = |dims: &[i64]| Some((dims.to_vec(), false));
        for rule in [&one_way, &both_ways] {
            assert_eq!(output(rule, [3, 1], &[ints(&[2, 3, 4])]), known(&[2, 3, 4]));
            assert_eq!(output(rule, [-1, 1], &[ints(&[3, 4])]), known(&[3, 4]));
            assert_eq!(output(rule, [1], &[ints(&[0])]), known(&[0]));
            // 3 is 3 or broadcasts to nothing else; 1 is what the target says.
            let partly = [list(&[None, None])];
            assert_eq!(output(rule, [3, 1], &partly), open(&[3, -1]));
            assert_eq!(output(rule, [3], &[ints(&[4])]), None);
            assert_eq!(output(rule, [3], &[ints(&[0])]), None);
            assert_eq!(output(rule, [1], &[ints(&[-1])]), None);
            assert_eq!(output(rule, [1], &[ints(&[1; 9])]), None);
            assert_eq!(output(rule, [1], &[unknown([-1])]), None);
        }
        // The target is stretched, too: 3 against 1, and 2 against nothing.
        assert_eq!(output(&both_ways, [2, 3], &[ints(&[1])]), known(&[2, 3]));
        assert_eq!(output(&both_ways, [-1], &[ints(&[1])]), open(&[-1]));
        assert_eq!(output(&one_way, [2, 3], &[ints(&[1])]), None);
        assert_eq!(output(&one_way, [3], &[ints(&[1])]), None);
        assert_eq!(output(&one_way, [-1], &[ints(&[1])]), known(&[1]));
    }

    #[test]
    fn repeated_dimensions_grow() {
        let tile = |input: &[i64], multiples| {
            output(&Rule::Tile, Shape::new(input).unwrap(), &[multiples])
        };
        // 2 3 = 6, 5 1 = 5
        assert_eq!(tile(&[2, 5], ints(&[3, 1])), Some((vec![6, 5], true)));
        assert_eq!(tile(&[-1, 5], ints(&[3, 0])), Some((vec![-1, 0], true)));
        let partly = list(&[None, Some(2), None]);
        assert_eq!(tile(&[2, 5, 0], partly), Some((vec![-1, 10, 0], false)));
        assert_eq!(tile(&[2, 5], ints(&[3])), None);
        assert_eq!(tile(&[2], ints(&[-1])), None);
        assert_eq!(tile(&[2], ints(&[i64::MAX])), None);
        let partly = resolved(&Rule::Tile, [2, 5], &[list(&[None, Some(2)])]).unwrap();
        let expected = TileDescriptor::new(&[-1, 2]).unwrap();
        assert_eq!(partly.descriptor, LayerDescriptor::from(expected));
    }

    #[test]
    fn a_filled_tensor_has_the_dimensions_of_the_parameter() {
        let fill = |dims| output(&Rule::Fill, Shape::SCALAR, &[dims]);
        assert_eq!(fill(ints(&[2, 0])), Some((vec![2, 0], true)));
        assert_eq!(fill(ints(&[])), Some((vec![], true)));
        assert_eq!(fill(list(&[Some(2), None])), Some((vec![2, -1], false)));
        assert_eq!(fill(ints(&[-1])), None);
        assert_eq!(fill(ints(&[1; 9])), None);
    }
}
