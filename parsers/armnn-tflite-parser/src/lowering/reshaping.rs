//! The same elements in another shape: RESHAPE, SQUEEZE, EXPAND_DIMS.

use armnn_backend_api::Shape;
use planus::Vector;

use super::context::{Context, axis};
use super::problem::{Problem, Result};
use crate::schema_generated::{ReshapeOptionsRef, SqueezeOptionsRef};

/// The shape is the second input, or an option where there is none.
pub(super) fn reshape(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let most = Shape::MAX_RANK;
    let target = match context.optional_integers(1, most, "the new shape")? {
        Some(target) => target,
        None => {
            let option = context.options::<ReshapeOptionsRef<'_>>()?.new_shape()?;
            let target = short(option, "new_shape")?;
            // What files older than the second input say of a scalar.
            if target == [0] { Vec::new() } else { target }
        }
    };
    if target.iter().any(|&dim| dim < -1) {
        return Err(Problem::malformed(format!("the new shape is {target:?}")));
    }
    context.emit_reshape(0, input, &target)
}

/// Takes out the dimensions that the option names, which have size 1, or all that have it.
pub(super) fn squeeze(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let shape = context.shape(input)?;
    let named = short(
        context.options::<SqueezeOptionsRef<'_>>()?.squeeze_dims()?,
        "squeeze_dims",
    )?;
    let mut squeezed = [false; Shape::MAX_RANK];
    for &named in &named {
        let axis = axis(named, shape.rank())?;
        if shape.dims()[axis] > 1 {
            return Err(Problem::malformed(format!(
                "dimension {axis} of {shape} is squeezed, but is not 1"
            )));
        }
        squeezed[axis] = true;
    }
    if named.is_empty() {
        if !shape.is_known() {
            return Err(Problem::unsupported(format!(
                "every dimension of size 1 squeezed out of {shape}, whose sizes are not all known; \
                 give the model fixed input shapes"
            )));
        }
        for (squeezed, &dim) in squeezed.iter_mut().zip(shape.dims()) {
            *squeezed = dim == 1;
        }
    }
    let kept = shape
        .dims()
        .iter()
        .zip(squeezed)
        .filter(|(_, squeezed)| !squeezed);
    let target: Vec<i64> = kept.map(|(&dim, _)| dim).collect();
    context.emit_reshape(0, input, &target)
}

/// Adds a dimension of size 1 before the named one of the output.
pub(super) fn expand_dims(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let mut dims = context.shape(input)?.dims().to_vec();
    let at = axis(context.integer(1, "the axis")?, dims.len() + 1)?;
    dims.insert(at, 1);
    context.emit_reshape(0, input, &dims)
}

/// An option with an entry for each of a few dimensions.
fn short(vector: Option<Vector<'_, i32>>, name: &str) -> Result<Vec<i64>> {
    let Some(vector) = vector else {
        return Ok(Vec::new());
    };
    if vector.len() > Shape::MAX_RANK {
        let what = format!("{name} of {} dimensions", vector.len());
        return Err(Problem::unsupported(what));
    }
    Ok(vector.iter().map(i64::from).collect())
}
