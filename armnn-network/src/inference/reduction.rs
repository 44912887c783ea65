//! Layers that compute along whole dimensions.

use armnn_backend_api::{LayerDescriptor as D, ReduceDescriptor, Shape};

use super::dimension::{shape_of, with_dims};
use super::{Arguments, Result, axis_of, bad_field, boolean, count, named};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::Reduce(d) => reduce(d, arguments.input(0)?),
        D::Softmax(d) => {
            let input = arguments.input(0)?;
            axis_of(d.axis, input)?;
            Ok(input)
        }
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

fn reduce(d: &ReduceDescriptor, input: Shape) -> Result<Shape> {
    named("operation", d.operation, d.operation().name())?;
    boolean("keep_dims", d.keep_dims)?;
    count("n_axes", d.n_axes)?;
    for &axis in d.axes() {
        axis_of(axis, input)?;
    }
    if !d.axes().is_sorted_by(|a, b| a < b) {
        let axes = format!("{:?}", d.axes());
        return Err(bad_field("axes", axes, "ascending, each at most once"));
    }
    if d.keep_dims == 1 {
        return Ok(with_dims(
            input,
            d.axes().iter().map(|&axis| (axis as usize, 1)),
        ));
    }
    let dims: Vec<i64> = (0u32..)
        .zip(input.dims())
        .filter(|(axis, _)| !d.axes().contains(axis))
        .map(|(_, &dim)| dim)
        .collect();
    shape_of(&dims)
}
