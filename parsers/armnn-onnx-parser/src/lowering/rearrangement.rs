//! Concat and Transpose.

use armnn_backend_api::{ConcatDescriptor, TransposeDescriptor};

use super::context::{Context, axis, described, small};
use super::problem::{Problem, Result};

pub(super) fn concat(c: &mut Context<'_, '_>) -> Result {
    let rank = c.input_shape(0)?.rank();
    let along = c
        .attributes
        .optional_int("axis")?
        .ok_or_else(|| Problem::malformed("it has no axis"))?;
    let along = axis(along, rank)?;
    let inputs = c.inputs()?;
    if inputs.len() == 1 {
        return c.alias(0, 0);
    }
    let axis = small(along, "its axis")?;
    c.emit(ConcatDescriptor { axis }, &inputs)
}

/// Without a permutation, the order of dimensions is reversed.
pub(super) fn transpose(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let rank = c.shape(input)?.rank();
    let permutation = match c.attributes.ints("perm")? {
        None => (0..rank).rev().collect(),
        Some(list) => list
            .iter()
            .map(|&index| axis(index, rank))
            .collect::<Result<Vec<_>>>()?,
    };
    let permutation = permutation
        .into_iter()
        .map(|axis| small(axis, "an axis"))
        .collect::<Result<Vec<_>>>()?;
    let descriptor = described(TransposeDescriptor::new(&permutation))?;
    c.emit(descriptor, &[input])
}
