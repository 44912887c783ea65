//! What is added to the scores of an attention, so that queries do not see some keys.

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation as Comparison, DataType,
    LogicalBinaryDescriptor, LogicalBinaryOperation, SelectDescriptor,
};
use armnn_network::TensorId;

use crate::lowering::attention::range;
use crate::lowering::context::Context;
use crate::lowering::problem::{Problem, Result};

/// The numbers of queries, of keys, and of keys before the first query, each a list of one.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
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
            let per_batch = [vec![0], vec![], vec![], vec![]];
            if count < 0 || batches < 0 || count == batches {
                let ends = c.merge_step(numbers, &per_batch)?;
                compared(c, Comparison::Less, keys, ends)?
            } else if batches.checked_mul(2) == Some(count) {
                let ends = c.sliced(numbers, 0, 0, batches)?;
                let starts = c.sliced(numbers, 0, batches, count)?;
                let (ends, starts) = (
                    c.merge_step(ends, &per_batch)?,
                    c.merge_step(starts, &per_batch)?,
                );
                let before_end = compared(c, Comparison::Less, keys, ends)?;
                let from_start = compared(c, Comparison::GreaterOrEqual, keys, starts)?;
                both(c, before_end, from_start)?
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

/// So that no query sees keys behind its own.
pub(super) fn causal(
    c: &mut Context<'_, '_>,
    lengths: Lengths,
    data_type: DataType,
) -> Result<TensorId> {
    let keys = range(c, lengths.keys)?;
    let queries = range(c, lengths.queries)?;
    let mut queries = c.merge_step(queries, &[vec![0], vec![]])?;
    if let Some(past) = lengths.past {
        queries = c.binary(Binary::Add, queries, past)?;
    }
    let sees = compared(c, Comparison::GreaterOrEqual, queries, keys)?;
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
