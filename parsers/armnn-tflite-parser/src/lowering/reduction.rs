//! Values of whole dimensions: SUM, MEAN, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD, SOFTMAX.

use armnn_backend_api::{ReduceDescriptor, ReduceOperation, SoftmaxDescriptor};

use super::context::{Context, axis, described};
use super::problem::{Problem, Result};
use crate::schema_generated::{ReducerOptionsRef, SoftmaxOptionsRef};

/// The axes are a constant, in any order; an axis may be named twice, and without axes each element
/// is a value of its own.
pub(super) fn reduce(context: &mut Context<'_, '_, '_>, operation: ReduceOperation) -> Result {
    let keep_dims = context.options::<ReducerOptionsRef<'_>>()?.keep_dims()?;
    let input = context.input(0)?;
    let rank = context.shape(input)?.rank();
    let mut axes = Vec::new();
    for named in context.integers(1, 64, "the axes")? {
        axes.push(axis(named, rank)? as u32);
    }
    axes.sort_unstable();
    axes.dedup();
    let descriptor = described(ReduceDescriptor::new(operation, &axes, keep_dims))?;
    context.emit(descriptor, &[Some(input)])
}

/// Along the last dimension.
pub(super) fn softmax(context: &mut Context<'_, '_, '_>) -> Result {
    let beta = context.options::<SoftmaxOptionsRef<'_>>()?.beta()?;
    let input = context.input(0)?;
    let Some(last) = context.shape(input)?.rank().checked_sub(1) else {
        return Err(Problem::unsupported("SOFTMAX of a scalar"));
    };
    let descriptor = SoftmaxDescriptor {
        beta,
        axis: last as u32,
    };
    context.emit(descriptor, &[Some(input)])
}
