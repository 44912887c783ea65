//! Layers along dimensions.

use armnn_backend_api::{
    ArgMinMaxDescriptor, ArgMinMaxFunction, CumulativeDescriptor, CumulativeOperation, DataType,
    ReduceDescriptor, ReduceOperation as Op, TopKDescriptor,
};

use super::elementwise::larger;
use super::position::{index, pick, positions, sizes};
use super::{Evaluation, bounds, fitting, rounded};
use crate::{KnownElements, KnownValue};

/// Whether a Reduce with the operation is evaluated.
pub(crate) fn knows_reduce(operation: Op) -> bool {
    matches!(
        operation,
        Op::Sum
            | Op::Max
            | Op::Mean
            | Op::Min
            | Op::Prod
            | Op::SumSquare
            | Op::L1
            | Op::Any
            | Op::All
    )
}

/// Elements that become one, row-major; for each element of the output.
fn lanes(input: &KnownValue, axes: &[u32]) -> Option<Vec<Vec<usize>>> {
    let from = sizes(&input.shape)?;
    let is_reduced = |axis: usize| axes.iter().any(|&reduced| reduced as usize == axis);
    let kept: Vec<usize> = (0..from.len())
        .map(|axis| if is_reduced(axis) { 1 } else { from[axis] })
        .collect();
    let count = match kept.contains(&0) {
        true => 0,
        false => kept.iter().try_fold(1usize, |n, &dim| n.checked_mul(dim))?,
    };
    if count > KnownValue::MOST_ELEMENTS {
        return None;
    }
    let mut lanes = vec![Vec::new(); count];
    for (number, mut at) in positions(&from).enumerate() {
        (0..from.len())
            .filter(|&axis| is_reduced(axis))
            .for_each(|axis| at[axis] = 0);
        lanes.get_mut(index(&at, &kept)?)?.push(number);
    }
    Some(lanes)
}

/// The elements of a lane, if all are known.
fn lane<T: Copy>(values: &[Option<T>], lane: &[usize]) -> Option<Vec<T>> {
    lane.iter().map(|&index| *values.get(index)?).collect()
}

pub(super) fn reduce(d: &ReduceDescriptor, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let input = layer.input(0)?;
    let (operation, data_type) = (d.operation(), input.data_type);
    // Without axes, each element is by itself.
    let lanes = lanes(input, d.axes())?;
    Some(match &input.elements {
        KnownElements::Integers(values) => {
            let value = |indices: &Vec<usize>| {
                let value = reduce_integers(operation, &lane(values, indices)?, data_type);
                fitting(value, data_type)
            };
            KnownElements::Integers(lanes.iter().map(value).collect())
        }
        KnownElements::Reals(values) => {
            let value =
                |indices: &Vec<usize>| reduce_reals(operation, &lane(values, indices)?, data_type);
            KnownElements::Reals(lanes.iter().map(value).collect())
        }
    })
}

fn reduce_integers(operation: Op, values: &[i64], data_type: DataType) -> Option<i64> {
    let (least, most) = bounds(data_type)?;
    let mut values = values.iter().copied();
    let count = i64::try_from(values.len()).ok()?;
    match operation {
        Op::Sum => values.try_fold(0, i64::checked_add),
        Op::Mean => values.try_fold(0, i64::checked_add)?.checked_div(count),
        Op::Prod => values.try_fold(1, i64::checked_mul),
        Op::Max => Some(values.fold(least, i64::max)),
        Op::Min => Some(values.fold(most, i64::min)),
        Op::SumSquare => values.try_fold(0i64, |sum, x| sum.checked_add(x.checked_mul(x)?)),
        Op::L1 => values.try_fold(0i64, |sum, x| sum.checked_add(x.checked_abs()?)),
        Op::Any => Some(i64::from(values.any(|x| x != 0))),
        Op::All => Some(i64::from(values.all(|x| x != 0))),
        _ => None,
    }
}

/// In the order of the elements; sums and products are rounded to the type at each step.
fn reduce_reals(operation: Op, values: &[f64], data_type: DataType) -> Option<f64> {
    let values = values.iter().copied();
    let (count, round) = (values.len() as f64, |x| rounded(x, data_type));
    Some(match operation {
        Op::Sum => values.fold(0.0, |sum, x| round(sum + x)),
        Op::Mean => round(values.fold(0.0, |sum, x| round(sum + x)) / count),
        Op::Prod => values.fold(1.0, |product, x| round(product * x)),
        Op::Max => values.fold(f64::NEG_INFINITY, larger),
        Op::Min => -values.fold(f64::NEG_INFINITY, |least, x| larger(least, -x)),
        Op::SumSquare => values.fold(0.0, |sum, x| round(sum + round(x * x))),
        Op::L1 => values.fold(0.0, |sum, x| round(sum + x.abs())),
        _ => return None,
    })
}

pub(super) fn arg_min_max(
    d: &ArgMinMaxDescriptor,
    layer: &Evaluation<'_>,
) -> Option<KnownElements> {
    /// NaN is neither smaller nor larger than anything.
    fn best<T: Copy + PartialOrd>(values: &[T], largest: bool, last: bool) -> Option<i64> {
        let mut best = 0usize;
        for (index, value) in values.iter().enumerate().skip(1) {
            let than = values.get(best)?;
            let better = if largest { value > than } else { value < than };
            if better || last && value == than {
                best = index;
            }
        }
        (!values.is_empty()).then(|| i64::try_from(best).ok())?
    }
    let input = layer.input(0)?;
    let largest = match d.function() {
        ArgMinMaxFunction::Max => true,
        ArgMinMaxFunction::Min => false,
        _ => return None,
    };
    let last = d.select_last_index == 1;
    let lanes = lanes(input, &[d.axis])?;
    let found: Vec<Option<i64>> = match &input.elements {
        KnownElements::Integers(values) => lanes
            .iter()
            .map(|indices| best(&lane(values, indices)?, largest, last))
            .collect(),
        KnownElements::Reals(values) => lanes
            .iter()
            .map(|indices| best(&lane(values, indices)?, largest, last))
            .collect(),
    };
    Some(KnownElements::Integers(found))
}

pub(super) fn cumulative(
    d: &CumulativeDescriptor,
    layer: &Evaluation<'_>,
) -> Option<KnownElements> {
    let input = layer.input(0)?;
    let data_type = input.data_type;
    let is_sum = match d.operation() {
        CumulativeOperation::Sum => true,
        CumulativeOperation::Prod => false,
        _ => return None,
    };
    let mut lanes = lanes(input, &[d.axis])?;
    if d.reverse == 1 {
        lanes.iter_mut().for_each(|lane| lane.reverse());
    }
    /// Of each element and those before it in its lane, or of these only.
    fn accumulated<T: Copy>(
        values: &[Option<T>],
        lanes: &[Vec<usize>],
        start: T,
        exclusive: bool,
        f: impl Fn(T, T) -> Option<T>,
    ) -> Option<Vec<Option<T>>> {
        let mut out = vec![None; values.len()];
        for lane in lanes {
            let mut so_far = Some(start);
            for &index in lane {
                let next = so_far.and_then(|so_far| f(so_far, (*values.get(index)?)?));
                *out.get_mut(index)? = if exclusive { so_far } else { next };
                so_far = next;
            }
        }
        Some(out)
    }
    let exclusive = d.exclusive == 1;
    Some(match &input.elements {
        KnownElements::Integers(values) => {
            let start = i64::from(!is_sum);
            let f = |x: i64, y: i64| {
                let next = match is_sum {
                    true => x.checked_add(y),
                    false => x.checked_mul(y),
                };
                fitting(next, data_type)
            };
            KnownElements::Integers(accumulated(values, &lanes, start, exclusive, f)?)
        }
        KnownElements::Reals(values) => {
            let start = if is_sum { 0.0 } else { 1.0 };
            let f = |x: f64, y: f64| {
                let next = if is_sum { x + y } else { x * y };
                Some(rounded(next, data_type))
            };
            KnownElements::Reals(accumulated(values, &lanes, start, exclusive, f)?)
        }
    })
}

/// The values, and their places along the axis.
pub(super) fn top_k(d: &TopKDescriptor, layer: &Evaluation<'_>) -> Option<Vec<KnownElements>> {
    /// Places in a lane, the best first; of equal elements the first.
    fn order<T: Copy + PartialOrd>(values: &[T], largest: bool) -> Option<Vec<usize>> {
        // NaN has no place.
        if values.iter().any(|x| x.partial_cmp(x).is_none()) {
            return None;
        }
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&x, &y| {
            let (x, y) = match largest {
                true => (values.get(y), values.get(x)),
                false => (values.get(x), values.get(y)),
            };
            x.partial_cmp(&y).unwrap_or(std::cmp::Ordering::Equal)
        });
        Some(order)
    }
    let (input, axis, to) = (layer.input(0)?, d.axis as usize, layer.output(0)?);
    let lanes = lanes(input, &[d.axis])?;
    let largest = d.largest == 1;
    let orders: Vec<Vec<usize>> = match &input.elements {
        KnownElements::Integers(values) => lanes
            .iter()
            .map(|indices| order(&lane(values, indices)?, largest))
            .collect::<Option<_>>()?,
        KnownElements::Reals(values) => lanes
            .iter()
            .map(|indices| order(&lane(values, indices)?, largest))
            .collect::<Option<_>>()?,
    };
    let mut kept = to.clone();
    *kept.get_mut(axis)? = 1;
    // For each position of the output, its place along the axis and the element's number.
    let places = positions(&to).map(|mut at| {
        let rank: usize = std::mem::take(at.get_mut(axis)?);
        let number = index(&at, &kept)?;
        let place = *orders.get(number)?.get(rank)?;
        Some((place, *lanes.get(number)?.get(place)?))
    });
    let places: Vec<(usize, usize)> = places.collect::<Option<_>>()?;
    let values = pick(
        &input.elements,
        places.iter().map(|&(_, number)| Some(number)),
    )?;
    let indices = places.iter().map(|&(place, _)| i64::try_from(place).ok());
    Some(vec![values, KnownElements::Integers(indices.collect())])
}
