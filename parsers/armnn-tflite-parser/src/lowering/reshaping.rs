//! The same elements in another shape: RESHAPE.

use super::context::Context;
use super::problem::{Problem, Result};
use crate::schema_generated::ReshapeOptionsRef;

/// The shape is the second input, or an option where there is none.
pub(super) fn reshape(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let target = match context.optional_integers(1, 8, "the new shape")? {
        Some(target) => target,
        None => shape_option(context)?,
    };
    if target.iter().any(|&dim| dim < -1) {
        return Err(Problem::malformed(format!("the new shape is {target:?}")));
    }
    context.emit_reshape(0, input, &target)
}

fn shape_option(context: &Context<'_, '_, '_>) -> Result<Vec<i64>> {
    let shape = context.options::<ReshapeOptionsRef<'_>>()?.new_shape()?;
    let Some(shape) = shape else {
        return Err(Problem::malformed("there is no new shape"));
    };
    if shape.len() > 8 {
        let what = format!("a new shape of {} dimensions", shape.len());
        return Err(Problem::unsupported(what));
    }
    let shape: Vec<i64> = shape.iter().map(i64::from).collect();
    // What files older than the second input say of a scalar.
    Ok(if shape == [0] { Vec::new() } else { shape })
}
