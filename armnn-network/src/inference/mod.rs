//! Shape inference: the shapes of a layer's outputs from those of its inputs.
//!
//! Any dimension may be unknown; what does not follow is unknown in the result. Every value of a
//! descriptor is taken as untrusted: sizes are computed with checked arithmetic, and numbers that
//! make no sense are errors.

mod dimension;
mod elementwise;
mod image;
mod matrix;
mod network;
mod rearrangement;
mod reduction;
mod selection;

pub(crate) use dimension::merge;
pub use network::{Inference, infer, infer_shapes};
pub(crate) use network::{depends_on_data, shape_value};

use armnn_backend_api::{LayerDescriptor, LayerType, Shape};

use crate::error::LayerProblem;

type Result<T, E = LayerProblem> = std::result::Result<T, E>;

/// The shapes of the tensors around a layer.
pub(crate) struct LayerShapes<'a> {
    /// Of the inputs; `None` where an optional one is absent.
    pub inputs: &'a [Option<Shape>],
    /// As declared for the outputs; as many as there are outputs.
    pub declared: &'a [Option<Shape>],
}

/// The shapes of the outputs, as far as they follow; as many as `shapes.declared`.
///
/// Checks the descriptor, ranks and sizes; arity is checked before.
///
/// # Errors
/// When descriptor and shapes do not go together.
pub(crate) fn output_shapes(
    descriptor: &LayerDescriptor,
    shapes: &LayerShapes<'_>,
) -> Result<Vec<Shape>> {
    use LayerDescriptor as D;
    let layer_type = descriptor.layer_type();
    let arguments = Arguments { layer_type, shapes };
    let output = match descriptor {
        D::Activation(_)
        | D::Cast(_)
        | D::Comparison(_)
        | D::Dequantize(_)
        | D::ElementwiseBinary(_)
        | D::ElementwiseUnary(_)
        | D::Prelu(_)
        | D::Quantize(_) => elementwise::output_shape(descriptor, &arguments)?,
        D::Convolution2d(_) | D::DepthwiseConvolution2d(_) | D::Pooling2d(_) | D::Resize(_) => {
            image::output_shape(descriptor, &arguments)?
        }
        D::BatchMatMul(_) | D::FullyConnected(_) => matrix::output_shape(descriptor, &arguments)?,
        D::Reduce(_) | D::Softmax(_) => reduction::output_shape(descriptor, &arguments)?,
        D::Concat(_) | D::Pad(_) | D::Reshape(_) | D::Transpose(_) => {
            rearrangement::output_shape(descriptor, &arguments)?
        }
        D::Gather(_) | D::StridedSlice(_) => selection::output_shape(descriptor, &arguments)?,
        D::Split(d) => return selection::split(d, &arguments),
        D::StandIn(_) => {
            return (0..shapes.declared.len())
                .map(|i| {
                    arguments.declared(i).ok_or(LayerProblem::Undeclared {
                        output: output_name(layer_type, i),
                        what: "the shape",
                    })
                })
                .collect();
        }
        _ => return Err(LayerProblem::UnknownLayerType),
    };
    Ok(vec![output])
}

/// The shapes around a layer, with the names of its inputs.
struct Arguments<'a> {
    layer_type: LayerType,
    shapes: &'a LayerShapes<'a>,
}

impl Arguments<'_> {
    fn input(&self, index: usize) -> Result<Shape> {
        self.optional(index)
            .ok_or_else(|| LayerProblem::MissingInput {
                input: self.name(index),
            })
    }

    fn optional(&self, index: usize) -> Option<Shape> {
        self.shapes.inputs.get(index).copied().flatten()
    }

    /// An input of exactly this rank.
    fn input_of_rank(&self, index: usize, rank: usize) -> Result<Shape> {
        let shape = self.input(index)?;
        if shape.rank() == rank {
            Ok(shape)
        } else {
            Err(self.rank_problem(index, rank.to_string(), shape))
        }
    }

    fn rank_problem(&self, index: usize, expected: String, found: Shape) -> LayerProblem {
        LayerProblem::Rank {
            tensor: self.name(index),
            expected,
            found: Box::new(found),
        }
    }

    fn dimension_problem(
        &self,
        index: usize,
        axis: usize,
        expected: impl ToString,
        because: &'static str,
    ) -> LayerProblem {
        LayerProblem::Dimension {
            tensor: self.name(index),
            axis,
            expected: expected.to_string(),
            found: Box::new(self.optional(index).unwrap_or(Shape::SCALAR)),
            because,
        }
    }

    fn declared(&self, index: usize) -> Option<Shape> {
        self.shapes.declared.get(index).copied().flatten()
    }

    fn name(&self, index: usize) -> String {
        input_name(self.layer_type, index)
    }
}

/// What messages call an input.
pub(crate) fn input_name(layer_type: LayerType, index: usize) -> String {
    let names = layer_type.spec().map_or(&[][..], |s| s.inputs);
    slot_name("input", names, index)
}

/// What messages call an output.
pub(crate) fn output_name(layer_type: LayerType, index: usize) -> String {
    let names = layer_type.spec().map_or(&[][..], |s| s.outputs);
    slot_name("output", names, index)
}

fn slot_name(kind: &str, names: &[&str], index: usize) -> String {
    match names.get(index).filter(|name| !name.ends_with('*')) {
        Some(name) => {
            let name = name.trim_end_matches('?');
            if name == kind {
                format!("the {kind}")
            } else {
                format!("{kind} '{name}'")
            }
        }
        None => format!("{kind} {index}"),
    }
}

/// An error about a field of a descriptor.
fn bad_field(field: &'static str, value: impl ToString, rule: impl ToString) -> LayerProblem {
    LayerProblem::Descriptor {
        field,
        value: value.to_string(),
        rule: rule.to_string(),
    }
}

/// Checks that an open enum holds a number with a name.
fn named(field: &'static str, number: u32, name: Option<&'static str>) -> Result<()> {
    match name {
        Some(_) => Ok(()),
        None => Err(bad_field(field, number, "one of the numbers with a name")),
    }
}

/// Checks a Boolean field.
fn boolean(field: &'static str, value: u32) -> Result<()> {
    if value <= 1 {
        Ok(())
    } else {
        Err(bad_field(field, value, "0 or 1"))
    }
}

/// Checks that the list of a descriptor does not reach beyond its array.
fn count(field: &'static str, count: u32) -> Result<()> {
    if count as usize <= Shape::MAX_RANK {
        Ok(())
    } else {
        Err(bad_field(field, count, "at most 8"))
    }
}

/// Checks that a list of a descriptor has an entry for each dimension.
fn entry_for_each_dimension(list: u32, shape: Shape) -> Result<()> {
    count("rank", list)?;
    if list as usize == shape.rank() {
        Ok(())
    } else {
        let rule = format!("{}, the rank of the input {shape}", shape.rank());
        Err(bad_field("rank", list, rule))
    }
}

/// Checks that an axis exists, and returns it.
fn axis_of(axis: u32, shape: Shape) -> Result<usize> {
    let index = axis as usize;
    if index < shape.rank() {
        Ok(index)
    } else {
        let rule = format!("below {}, the rank of the input {shape}", shape.rank());
        Err(bad_field("axis", axis, rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape of a layer's single output, with nothing declared.
    pub(super) fn shape_after(
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Shape],
    ) -> Result<Shape> {
        let inputs: Vec<Option<Shape>> = inputs.iter().copied().map(Some).collect();
        let shapes = LayerShapes {
            inputs: &inputs,
            declared: &[None],
        };
        output_shapes(&descriptor.into(), &shapes).map(|shapes| shapes[0])
    }

    /// The field of the descriptor that is refused.
    pub(super) fn refused_field(result: Result<Shape>) -> &'static str {
        match result {
            Err(LayerProblem::Descriptor { field, .. }) => field,
            other => panic!("no complaint about the descriptor: {other:?}"),
        }
    }

    #[test]
    fn messages_call_inputs_by_their_names() {
        assert_eq!(input_name(LayerType::Convolution2d, 0), "the input");
        assert_eq!(input_name(LayerType::Convolution2d, 2), "input 'bias'");
        assert_eq!(input_name(LayerType::Concat, 3), "input 3");
        assert_eq!(input_name(LayerType(9999), 1), "input 1");
        assert_eq!(output_name(LayerType::Split, 1), "output 1");
    }
}
