//! Layers that work on each element, or on pairs of them.

use armnn_backend_api::{LayerDescriptor as D, Shape};

use super::dimension::broadcast;
use super::{Arguments, Result, named};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::Activation(d) => named("function", d.function, d.function().name())?,
        D::Comparison(d) => named("operation", d.operation, d.operation().name())?,
        D::ElementwiseBinary(d) => named("operation", d.operation, d.operation().name())?,
        D::ElementwiseUnary(d) => named("operation", d.operation, d.operation().name())?,
        D::Cast(_) | D::Dequantize(_) | D::Prelu(_) | D::Quantize(_) => {}
        _ => return Err(LayerProblem::UnknownLayerType),
    }
    match descriptor {
        D::Comparison(_) | D::ElementwiseBinary(_) | D::Prelu(_) => {
            broadcast(&arguments.input(0)?, &arguments.input(1)?)
        }
        _ => arguments.input(0),
    }
}
