//! Elements added around an input, or taken away.

use armnn_backend_api::{PadDescriptor, PaddingMode, Shape};

use super::arguments::{Arguments, Number, axes};
use super::slice::{Slices, Taken};
use super::{Resolved, Result, bad, described, known, shown_list};
use crate::error::LayerProblem;

/// How the parameter of a Pad lists what is added before and after each dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadLayout {
    /// A list: all numbers before, then all behind, as in ONNX.
    Sides,
    /// Shape [n, 2]: before and behind each, as in TensorFlow Lite.
    Pairs,
}

/// What is added before and after each dimension; `None` if the axes are not known.
type Amounts = Option<Vec<[Option<i64>; 2]>>;

fn amounts(layout: PadLayout, arguments: &Arguments<'_>, rank: usize) -> Result<Amounts> {
    let pads: Vec<[Option<i64>; 2]> = match layout {
        PadLayout::Pairs => arguments.pairs(0, "pads")?,
        PadLayout::Sides => {
            let all = arguments.list(0, "pads")?;
            if !all.len().is_multiple_of(2) {
                return Err(bad("pads", shown_list(&all), "two for each dimension"));
            }
            let (before, behind) = all.split_at(all.len() / 2);
            before.iter().zip(behind).map(|(&a, &b)| [a, b]).collect()
        }
    };
    let named = arguments.optional_list(2, "axes")?;
    let count = named.as_ref().map_or(rank, Vec::len);
    if pads.len() != count {
        let rule = format!("two for each of {count} dimensions");
        return Err(bad("pads", shown_list(pads.as_flattened()), rule));
    }
    let Some(named) = named else {
        return Ok(Some(pads));
    };
    Ok(axes(&named, rank, false, "axes")?.map(|axes| {
        let mut all = vec![[Some(0); 2]; rank];
        for (axis, pads) in axes.into_iter().zip(pads) {
            all[axis] = pads;
        }
        all
    }))
}

/// `negative_as_none`: negative amounts count as 0; else they are refused.
pub(super) fn pad(
    mode: PaddingMode,
    value: f64,
    layout: PadLayout,
    negative_as_none: bool,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let value = match arguments.has(1) {
        true => real(arguments.number(1, "pad_value")?)?,
        false => Some(value),
    };
    let Some(pads) = amounts(layout, arguments, input.rank())? else {
        let none = vec![0; input.rank()];
        let descriptor = described(PadDescriptor::new(mode, 0.0, &none, &none))?;
        return Resolved::single(descriptor, &vec![Shape::UNKNOWN; input.rank()], false);
    };
    let mut dims = Vec::with_capacity(pads.len());
    for (&dim, pads) in input.dims().iter().zip(&pads) {
        let mut size = known(dim);
        for amount in pads {
            if amount.is_some_and(|amount| amount < 0) && !negative_as_none {
                let rule = "at least 0; elements are taken away by a slice";
                return Err(bad("pads", shown_list(pads), rule));
            }
            size = match (size, amount) {
                (Some(size), Some(amount)) => {
                    let sum = size.checked_add((*amount).max(0));
                    Some(sum.ok_or(LayerProblem::Overflow {
                        what: "the size of the padded dimension",
                    })?)
                }
                _ => None,
            };
        }
        dims.push(size.unwrap_or(Shape::UNKNOWN));
    }
    let complete = value.is_some() && pads.as_flattened().iter().all(Option::is_some);
    let side = |side: usize| -> Vec<i64> {
        let amounts = pads.iter().map(|pads| pads[side].unwrap_or(0).max(0));
        amounts.collect()
    };
    let descriptor = PadDescriptor::new(mode, value.unwrap_or(0.0), &side(0), &side(1));
    Resolved::single(described(descriptor)?, &dims, complete)
}

/// The value as the descriptor holds it.
fn real(value: Option<Number>) -> Result<Option<f64>> {
    Ok(match value {
        Some(Number::Real(value)) => Some(value),
        Some(Number::Integer(value)) => {
            let real = value as f64;
            if real as i128 != i128::from(value) {
                return Err(bad("pad_value", value, "one that a Float64 holds exactly"));
            }
            Some(real)
        }
        None => None,
    })
}

/// What negative amounts take away, as a slice.
pub(super) fn crop(layout: PadLayout, arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let mut slices = Slices::new();
    let Some(pads) = amounts(layout, arguments, input.rank())? else {
        (0..input.rank()).for_each(|_| slices.push_unknown(None));
        return slices.resolved();
    };
    for (&dim, pads) in input.dims().iter().zip(&pads) {
        let &[Some(before), Some(behind)] = pads else {
            slices.push_unknown(None);
            continue;
        };
        let (begin, less) = (before.min(0).saturating_neg(), behind.min(0));
        match known(dim) {
            Some(dim) => {
                let end = dim.saturating_add(less);
                if begin > end.max(0) || end < 0 {
                    let rule = format!("no more than the elements of {input}, if negative");
                    return Err(bad("pads", shown_list(pads), rule));
                }
                slices.push(Taken::between(begin, end, 1));
            }
            None if less == 0 => slices.push(Taken {
                begin,
                ..Taken::all(dim)
            }),
            None => slices.push_unknown(None),
        }
    }
    slices.resolved()
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, LayerDescriptor, StridedSliceDescriptor};

    use super::super::tests::{ints, list, output, pairs, reals, resolved, unknown};
    use super::super::{Parameter, ParameterRule as Rule};
    use super::*;

    fn rule(layout: PadLayout) -> Rule {
        Rule::Pad {
            mode: PaddingMode::Constant,
            value: 0.5,
            layout,
            negative_as_none: false,
        }
    }

    fn descriptor(rule: &Rule, parameters: &[Option<Parameter>]) -> PadDescriptor {
        let resolved = resolved(rule, [4, 5], parameters).unwrap();
        assert!(resolved.complete);
        match resolved.descriptor {
            LayerDescriptor::Pad(d) => d,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn both_layouts_list_the_same() {
        let expected =
            |value| PadDescriptor::new(PaddingMode::Constant, value, &[1, 0], &[2, 3]).unwrap();
        let sides = rule(PadLayout::Sides);
        // Before: 1, 0; behind: 2, 3.
        assert_eq!(descriptor(&sides, &[ints(&[1, 0, 2, 3])]), expected(0.5));
        let in_pairs = rule(PadLayout::Pairs);
        assert_eq!(
            descriptor(&in_pairs, &[pairs(&[[1, 2], [0, 3]])]),
            expected(0.5)
        );
        // Along named axes.
        let axes = [ints(&[0, 1, 3, 2]), None, ints(&[-1, 0])];
        assert_eq!(descriptor(&sides, &axes), expected(0.5));
        // The value is a parameter, too.
        let value = [ints(&[1, 0, 2, 3]), reals(&[-1.5])];
        assert_eq!(descriptor(&sides, &value), expected(-1.5));
        let value = [ints(&[1, 0, 2, 3]), ints(&[7])];
        assert_eq!(descriptor(&sides, &value), expected(7.0));
    }

    #[test]
    fn sizes_follow_as_far_as_the_amounts_are_known() {
        let sides = rule(PadLayout::Sides);
        // 1 + 4 + 2 = 7
        let partly = list(&[Some(1), Some(0), Some(2), None]);
        assert_eq!(
            output(&sides, [4, 5], &[partly]),
            Some((vec![7, -1], false))
        );
        assert_eq!(
            output(&sides, [4, -1], &[ints(&[0; 4])]),
            Some((vec![4, -1], true))
        );
        let axes = [ints(&[0, 1]), None, unknown([1])];
        assert_eq!(output(&sides, [4, 5], &axes), Some((vec![-1, -1], false)));
        // The shape follows, but not the value.
        let value = [ints(&[0, 0, 1, 1]), unknown([])];
        assert_eq!(output(&sides, [4, 5], &value), Some((vec![5, 6], false)));
        let in_pairs = rule(PadLayout::Pairs);
        let open = [unknown([2, 2])];
        assert_eq!(
            output(&in_pairs, [4, 5], &open),
            Some((vec![-1, -1], false))
        );
    }

    #[test]
    fn amounts_that_make_no_sense_are_refused() {
        let sides =
            |parameters: &[Option<Parameter>]| output(&rule(PadLayout::Sides), [4, 5], parameters);
        for wrong in [
            &[ints(&[0, 0, 0, -1])][..],
            &[ints(&[i64::MAX, 0, 0, 0])],
            &[ints(&[0, 0, 0])],
            &[ints(&[0, 0])],
            &[ints(&[0, 0, 0, 0]), None, ints(&[0])],
            &[ints(&[0, 0]), None, ints(&[2])],
            &[ints(&[0; 4]), ints(&[1, 2])],
            &[ints(&[0; 4]), ints(&[i64::MAX])],
            &[None],
        ] {
            assert_eq!(sides(wrong), None, "{wrong:?}");
        }
        let in_pairs = rule(PadLayout::Pairs);
        assert_eq!(output(&in_pairs, [4, 5], &[ints(&[0; 4])]), None);
        assert_eq!(output(&in_pairs, [4, 5], &[unknown([2, 3])]), None);
        assert_eq!(output(&in_pairs, [4, 5], &[unknown([3, 2])]), None);
    }

    #[test]
    fn negative_amounts_take_away_before_others_add() {
        let pads = || [ints(&[-1, 2, 0, -3])];
        let crop = Rule::Crop {
            layout: PadLayout::Sides,
        };
        let slice = resolved(&crop, [4, 5], &pads()).unwrap();
        // 4 - 1 = 3, 5 - 3 = 2
        assert_eq!(slice.outputs[0].dims(), [3, 2]);
        let expected = StridedSliceDescriptor::new(&[1, 0], &[4, 2], &[1, 1]).unwrap();
        assert_eq!(slice.descriptor, expected.into());
        let rest = Rule::Pad {
            mode: PaddingMode::Constant,
            value: 0.0,
            layout: PadLayout::Sides,
            negative_as_none: true,
        };
        // 2 + 2 = 4
        assert_eq!(output(&rest, [3, 2], &pads()), Some((vec![3, 4], true)));
        // Behind a dimension that is not known: once it is.
        assert_eq!(output(&crop, [4, -1], &pads()), Some((vec![3, -1], false)));
        assert_eq!(output(&crop, [-1, 5], &pads()), Some((vec![-1, 2], true)));
        for wrong in [[-3, 0, -2, 0], [i64::MIN, 0, i64::MIN, 0], [0, -6, 0, 0]] {
            assert_eq!(output(&crop, [4, 5], &[ints(&wrong)]), None, "{wrong:?}");
        }
        assert_eq!(
            output(&crop, [4, 5], &[ints(&[0, 0, -4, 0])]),
            Some((vec![0, 5], true))
        );
    }

    #[test]
    fn a_value_is_of_any_type() {
        let boolean = KnownValueOf(DataType::Boolean, 1);
        let value = [ints(&[0; 4]), boolean.parameter()];
        assert_eq!(descriptor(&rule(PadLayout::Sides), &value).pad_value, 1.0);
    }

    struct KnownValueOf(DataType, i64);

    impl KnownValueOf {
        fn parameter(&self) -> Option<Parameter> {
            let value = crate::KnownValue::integers(self.0, vec![Some(self.1)])?;
            Some(Parameter {
                shape: value.shape,
                value: Some(value),
            })
        }
    }
}
