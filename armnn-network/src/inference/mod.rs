//! Shape inference: the shapes of a layer's outputs from those of its inputs.
//!
//! Any dimension may be unknown; what does not follow is unknown in the result. Every value of a
//! descriptor is taken as untrusted: sizes are computed with checked arithmetic, and numbers that
//! make no sense are errors.

mod block;
mod detection;
mod dimension;
mod elementwise;
mod image;
mod indexing;
mod matrix;
mod network;
mod normalization;
mod rearrangement;
mod recurrent;
mod reduction;
mod repetition;
mod sampling;
mod selection;
mod volume;
mod window;

pub(crate) use dimension::merge;
use dimension::{merge_dim, shape_of};
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
        | D::BitCast(_)
        | D::Bucketize(_)
        | D::Comparison(_)
        | D::Dequantize(_)
        | D::ElementwiseBinary(_)
        | D::ElementwiseUnary(_)
        | D::LogicalBinary(_)
        | D::Prelu(_)
        | D::Quantize(_)
        | D::Select(_) => elementwise::output_shape(descriptor, &arguments)?,
        D::Convolution2d(_) | D::DepthwiseConvolution2d(_) | D::Pooling2d(_) | D::Resize(_) => {
            image::output_shape(descriptor, &arguments)?
        }
        D::Convolution3d(_)
        | D::Pooling3d(_)
        | D::TransposeConvolution2d(_)
        | D::TransposeConvolution3d(_) => volume::output_shape(descriptor, &arguments)?,
        D::Col2Im(_) | D::DeformConv(_) | D::GridSample(_) | D::Interpolate(_) | D::RoiAlign(_) => {
            sampling::output_shape(descriptor, &arguments)?
        }
        D::MaxPoolWithIndices(d) => return sampling::max_pool_with_indices(d, &arguments),
        D::BatchMatMul(_) | D::Det(_) | D::FullyConnected(_) => {
            matrix::output_shape(descriptor, &arguments)?
        }
        D::ArgMinMax(_) | D::Cumulative(_) | D::Reduce(_) | D::Softmax(_) => {
            reduction::output_shape(descriptor, &arguments)?
        }
        D::BatchNormalization(_)
        | D::Dft(_)
        | D::InstanceNormalization(_)
        | D::L2Normalization(_)
        | D::LayerNormalization(_)
        | D::LogSoftmax(_)
        | D::Normalization(_) => normalization::output_shape(descriptor, &arguments)?,
        D::Concat(_) | D::Pad(_) | D::Reshape(_) | D::Transpose(_) => {
            rearrangement::output_shape(descriptor, &arguments)?
        }
        D::BatchToSpaceNd(_) | D::DepthToSpace(_) | D::SpaceToBatchNd(_) | D::SpaceToDepth(_) => {
            block::output_shape(descriptor, &arguments)?
        }
        D::BroadcastTo(_)
        | D::Fill(_)
        | D::ReverseSequence(_)
        | D::ReverseV2(_)
        | D::Stack(_)
        | D::Tile(_)
        | D::Trilu(_) => repetition::output_shape(descriptor, &arguments)?,
        D::Gather(_) | D::StridedSlice(_) => selection::output_shape(descriptor, &arguments)?,
        D::Compress(_)
        | D::DynamicUpdateSlice(_)
        | D::GatherElements(_)
        | D::GatherNd(_)
        | D::NonZero(_)
        | D::OneHot(_)
        | D::Range(_)
        | D::ScatterElements(_)
        | D::ScatterNd(_) => indexing::output_shape(descriptor, &arguments)?,
        D::TopK(d) => return indexing::top_k(d, &arguments),
        D::Unique(d) => return indexing::unique(d, &arguments),
        D::DetectionPostProcess(_) | D::NonMaxSuppression(_) | D::NonMaxSuppressionPadded(_) => {
            return detection::output_shapes(descriptor, &arguments);
        }
        D::Gru(_) | D::Lstm(_) | D::Rnn(_) | D::UnidirectionalSequenceLstm(_) => {
            return recurrent::output_shapes(descriptor, &arguments);
        }
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

/// The number of output channels, checked against the bias at this position, if there is one.
fn with_bias(arguments: &Arguments<'_>, index: usize, outputs: i64) -> Result<i64> {
    if arguments.optional(index).is_none() {
        return Ok(outputs);
    }
    let bias = arguments.input_of_rank(index, 1)?;
    merge_dim(outputs, bias.dims()[0]).ok_or_else(|| {
        let because = "there is one bias for each output channel";
        arguments.dimension_problem(index, 0, outputs, because)
    })
}

/// Checks that an input has one element, as far as its shape is known.
fn single_element(arguments: &Arguments<'_>, index: usize) -> Result<()> {
    let shape = arguments.input(index)?;
    match shape.dims().iter().position(|&dim| dim >= 0 && dim != 1) {
        Some(axis) => Err(arguments.dimension_problem(index, axis, 1, "it is one number")),
        None => Ok(()),
    }
}

/// What is declared of the single output, which has this rank.
fn declared_of_rank(arguments: &Arguments<'_>, rank: usize) -> Result<Shape> {
    match arguments.declared(0) {
        Some(shape) if shape.rank() == rank => Ok(shape),
        Some(shape) => Err(LayerProblem::Rank {
            tensor: output_name(arguments.layer_type, 0),
            expected: rank.to_string(),
            found: Box::new(shape),
        }),
        None => {
            let dims = [Shape::UNKNOWN; Shape::MAX_RANK];
            shape_of(dims.get(..rank).unwrap_or(&dims))
        }
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

    /// The shape of a layer's single output, with something declared of it.
    pub(super) fn shape_after_declared(
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Shape],
        declared: Shape,
    ) -> Result<Shape> {
        let inputs: Vec<Option<Shape>> = inputs.iter().copied().map(Some).collect();
        let shapes = LayerShapes {
            inputs: &inputs,
            declared: &[Some(declared)],
        };
        output_shapes(&descriptor.into(), &shapes).map(|shapes| shapes[0])
    }

    /// The shapes of several outputs, with nothing declared.
    pub(super) fn shapes_after(
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<Shape>],
        n_outputs: usize,
    ) -> Result<Vec<Shape>> {
        let shapes = LayerShapes {
            inputs,
            declared: &vec![None; n_outputs],
        };
        output_shapes(&descriptor.into(), &shapes)
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
