//! What is added to the scores of an attention, so that queries do not see some keys.

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation as Comparison,
    ConcatDescriptor, DataType, LogicalBinaryDescriptor, LogicalBinaryOperation, SelectDescriptor,
};
use armnn_network::{ParameterRule, TensorId};

use crate::lowering::attention::range;
use crate::lowering::context::Context;
use crate::lowering::problem::{Problem, Result};

/// The numbers of batches, of queries, of keys, and of keys before the first query, each a list of one.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    pub(super) batches: TensorId,
    pub(super) queries: TensorId,
    pub(super) keys: TensorId,
    pub(super) past: Option<TensorId>,
}

/// From a mask: of each key, [B, T], or of each query and key, [B, S, T], where 0 hides; or from the
/// number of keys that count in each batch, [B], or their ends and then their starts, [2 B].
pub(super) fn from_mask(
    c: &mut Context<'_, '_>,
    mask: TensorId,
    batches: i64,
    lengths: Lengths,
    (data_type, hidden): (DataType, f32),
) -> Result<TensorId> {
    let shape = c.shape(mask)?;
    let sees = match shape.dims() {
        &[count] => {
            let keys = range(c, lengths.keys)?;
            let numbers = c.cast(mask, DataType::Signed64)?;
            if count >= 0 && count == batches {
                let ends = c.merge_step(numbers, &PER_BATCH.map(<[usize]>::to_vec))?;
                compared(c, Comparison::Less, keys, ends)?
            } else if count >= 0 && batches.checked_mul(2) == Some(count) {
                let ends = c.sliced(numbers, 0, 0, batches)?;
                let starts = c.sliced(numbers, 0, batches, count)?;
                between(c, keys, ends, starts)?
            } else if count < 0 || batches < 0 {
                // Which of both it is turns out with the sizes: where no starts stand behind the
                // ends, they are zeros.
                let zero = c.number_like(numbers, 0.0)?;
                let none = c.binary(Binary::Mul, numbers, zero)?;
                let filled = c.step(ConcatDescriptor { axis: 0 }, &[numbers, none])?;
                let (zero, two) = (c.integers(&[0])?, c.integers(&[2])?);
                let twice = c.binary(Binary::Mul, lengths.batches, two)?;
                let ends = part(c, filled, zero, lengths.batches)?;
                let starts = part(c, filled, lengths.batches, twice)?;
                between(c, keys, ends, starts)?
            } else {
                return Err(Problem::unsupported(format!(
                    "a mask of shape {shape} for {batches} batches"
                )));
            }
        }
        [_, _] => positive(c, mask, &[vec![0], vec![], vec![], vec![1]])?,
        [_, _, _] => positive(c, mask, &[vec![0], vec![], vec![1], vec![2]])?,
        _ => {
            return Err(Problem::unsupported(format!("a mask of shape {shape}")));
        }
    };
    added(c, sees, data_type, hidden.into())
}

/// What a list with an element for each batch is merged to, to be compared with keys.
const PER_BATCH: [&[usize]; 4] = [&[0], &[], &[], &[]];

/// Which keys are before the end of their batch, and not before its start.
fn between(
    c: &mut Context<'_, '_>,
    keys: TensorId,
    ends: TensorId,
    starts: TensorId,
) -> Result<TensorId> {
    let per_batch = PER_BATCH.map(<[usize]>::to_vec);
    let ends = c.merge_step(ends, &per_batch)?;
    let starts = c.merge_step(starts, &per_batch)?;
    let before_end = compared(c, Comparison::Less, keys, ends)?;
    let from_start = compared(c, Comparison::GreaterOrEqual, keys, starts)?;
    both(c, before_end, from_start)
}

/// Elements of a list.
fn part(
    c: &mut Context<'_, '_>,
    list: TensorId,
    start: TensorId,
    end: TensorId,
) -> Result<TensorId> {
    let axes = c.integers(&[0])?;
    let parameters = [Some(start), Some(end), Some(axes)];
    c.step_deferred(ParameterRule::Slice, &[list], &parameters)
}

/// So that no query sees keys behind its own; but, where that is said, the last one sees all of them.
pub(super) fn causal(
    c: &mut Context<'_, '_>,
    lengths: Lengths,
    data_type: DataType,
    last_sees_all: bool,
) -> Result<TensorId> {
    let keys = range(c, lengths.keys)?;
    let steps = range(c, lengths.queries)?;
    let steps = c.merge_step(steps, &[vec![0], vec![]])?;
    let queries = match lengths.past {
        Some(past) => c.binary(Binary::Add, steps, past)?,
        None => steps,
    };
    let mut sees = compared(c, Comparison::GreaterOrEqual, queries, keys)?;
    if last_sees_all {
        let one = c.integers(&[1])?;
        let last = c.binary(Binary::Sub, lengths.queries, one)?;
        let is_last = compared(c, Comparison::Equal, steps, last)?;
        let or = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalOr);
        sees = c.step(or, &[sees, is_last])?;
    }
    let lowest = match data_type {
        DataType::Float16 => -65504.0,
        _ => f64::from(f32::MIN),
    };
    added(c, sees, data_type, lowest)
}

/// 0 where something is seen, else what hides it.
pub(super) fn added(
    c: &mut Context<'_, '_>,
    sees: TensorId,
    data_type: DataType,
    hidden: f64,
) -> Result<TensorId> {
    let zero = c.number(data_type, &[], &[0.0])?;
    let hidden = c.number(data_type, &[], &[hidden])?;
    c.step(SelectDescriptor::new(), &[sees, zero, hidden])
}

pub(super) fn compared(
    c: &mut Context<'_, '_>,
    operation: Comparison,
    x: TensorId,
    y: TensorId,
) -> Result<TensorId> {
    c.step(ComparisonDescriptor::new(operation), &[x, y])
}

pub(super) fn both(c: &mut Context<'_, '_>, x: TensorId, y: TensorId) -> Result<TensorId> {
    let and = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalAnd);
    c.step(and, &[x, y])
}

/// Which numbers are above 0, in another shape.
fn positive(c: &mut Context<'_, '_>, mask: TensorId, groups: &[Vec<usize>]) -> Result<TensorId> {
    let mask = c.merge_step(mask, groups)?;
    if c.info(mask)?.data_type == DataType::Boolean {
        return Ok(mask);
    }
    let zero = c.number_like(mask, 0.0)?;
    compared(c, Comparison::Greater, mask, zero)
}

/// The sum of two things that are added, each of which may be missing.
pub(super) fn sum(
    c: &mut Context<'_, '_>,
    x: Option<TensorId>,
    y: Option<TensorId>,
) -> Result<Option<TensorId>> {
    Ok(match (x, y) {
        (Some(x), Some(y)) => Some(c.binary(Binary::Add, x, y)?),
        (x, y) => x.or(y),
    })
}
