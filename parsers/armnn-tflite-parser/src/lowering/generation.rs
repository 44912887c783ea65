//! Tensors made of shapes and single values: SHAPE, RANK, BROADCAST_ARGS, BROADCAST_TO, TILE, FILL,
//! ZEROS_LIKE, RANGE, ONE_HOT.

use armnn_backend_api::{
    ComparisonDescriptor, ComparisonOperation, ConcatDescriptor, DataType, SelectDescriptor, Shape,
};
use armnn_network::{OutputDeclaration, ParameterRule, TensorId};

use super::context::Context;
use super::problem::{Problem, Result};
use crate::schema_generated::OneHotOptionsRef;

/// The type of the output is INT32 or INT64; the option repeats it.
pub(super) fn shape(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let rank = context.shape(input)?.rank();
    let data_type = context.declaration(0)?.data_type;
    let data_type = data_type.unwrap_or(DataType::Signed32);
    let name = context.lowering.layer_name(context.output_tensor(0)?);
    let builder = &mut context.lowering.builder;
    let id = builder.add_shape_layer(input, 0, rank, data_type, &name)?;
    context.bind(0, id)
}

/// A constant.
pub(super) fn rank(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let rank = context.shape(input)?.rank() as i64;
    let id = context.integer_constant(DataType::Signed32, Shape::SCALAR, &[rank])?;
    context.bind(0, id)
}

/// The shape that two shapes broadcast to: of each pair of sizes the one that is not 1.
pub(super) fn broadcast_args(context: &mut Context<'_, '_, '_>) -> Result {
    let mut shapes = [context.input(0)?, context.input(1)?];
    let mut counts = [0; 2];
    for (count, &shape) in counts.iter_mut().zip(&shapes) {
        *count = match *context.shape(shape)?.dims() {
            [count @ 0..=8] => count as usize,
            _ => {
                return Err(Problem::unsupported(
                    "shapes whose number of dimensions is not known",
                ));
            }
        };
    }
    let data_type = context.info(shapes[0])?.data_type;
    let most = counts[0].max(counts[1]);
    for (shape, count) in shapes.iter_mut().zip(counts) {
        if count < most {
            let ones = context.integer_list(data_type, &vec![1; most - count])?;
            let inputs = [Some(ones), Some(*shape)];
            *shape = context.step(0, ConcatDescriptor { axis: 0 }, &inputs, Default::default())?;
        }
    }
    let one = context.integer_list(data_type, &[1])?;
    let equal = ComparisonDescriptor::new(ComparisonOperation::Equal);
    let [first, second] = shapes.map(Some);
    let is_one = context.step(0, equal, &[first, Some(one)], Default::default())?;
    context.emit(SelectDescriptor::new(), &[Some(is_one), second, first])
}

/// The second input is the shape of the output.
pub(super) fn broadcast_to(context: &mut Context<'_, '_, '_>) -> Result {
    let rule = ParameterRule::BroadcastTo {
        bidirectional: false,
    };
    repeat(context, rule)
}

/// The second input says how often along each dimension.
pub(super) fn tile(context: &mut Context<'_, '_, '_>) -> Result {
    repeat(context, ParameterRule::Tile)
}

fn repeat(context: &mut Context<'_, '_, '_>, rule: ParameterRule) -> Result {
    let input = context.input(0)?;
    let parameter = context.input(1)?;
    let declaration = context.moved(0, input)?;
    context.emit_by_rule(0, rule, &[Some(input)], &[Some(parameter)], declaration)
}

/// The first input is the shape, the second the value.
pub(super) fn fill(context: &mut Context<'_, '_, '_>) -> Result {
    let dims = context.input(0)?;
    let value = context.input(1)?;
    let declaration = context.moved(0, value)?;
    context.emit_by_rule(
        0,
        ParameterRule::Fill,
        &[Some(value)],
        &[Some(dims)],
        declaration,
    )
}

pub(super) fn zeros_like(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let info = context.info(input)?;
    if info.data_type.is_quantized() {
        return Err(Problem::unsupported("zeros of a quantized type"));
    }
    let (data_type, rank) = (info.data_type, info.shape.rank());
    let zero = context.scalar(data_type, 0.0)?;
    let dims = context.shape_step(input, 0, rank)?;
    let declaration = context.declaration(0)?;
    context.emit_by_rule(
        0,
        ParameterRule::Fill,
        &[Some(zero)],
        &[Some(dims)],
        declaration,
    )
}

/// start, limit, delta.
pub(super) fn range(context: &mut Context<'_, '_, '_>) -> Result {
    let inputs: Vec<_> = context.inputs()?.into_iter().map(Some).collect();
    let declaration = context.declaration(0)?;
    let rule = ParameterRule::Range {
        rounded_quotient: true,
    };
    context.emit_by_rule(0, rule, &inputs, &inputs, declaration)
}

/// Indices, how many places there are, and the values at the index and elsewhere.
pub(super) fn one_hot(context: &mut Context<'_, '_, '_>) -> Result {
    let axis = context.options::<OneHotOptionsRef<'_>>()?.axis()?;
    let inputs = [
        Some(context.input(0)?),
        Some(context.input(2)?),
        Some(context.input(3)?),
    ];
    let depth = context.input(1)?;
    let declaration = context.declaration(0)?;
    let rule = ParameterRule::OneHot {
        axis: axis.into(),
        wrap_negative: false,
    };
    context.emit_by_rule(0, rule, &inputs, &[Some(depth)], declaration)
}

impl Context<'_, '_, '_> {
    /// Part of a shape as a tensor of Signed64, which is not the operator's last layer.
    pub(super) fn shape_step(
        &mut self,
        input: TensorId,
        start: usize,
        end: usize,
    ) -> Result<TensorId> {
        let name = self.step_name(0, "Shape")?;
        let builder = &mut self.lowering.builder;
        Ok(builder.add_shape_layer(input, start, end, DataType::Signed64, &name)?)
    }

    /// A list of integers of several, joined, which is not the operator's last layer.
    pub(super) fn joined(&mut self, parts: &[TensorId]) -> Result<TensorId> {
        let inputs: Vec<_> = parts.iter().copied().map(Some).collect();
        let declaration = OutputDeclaration::default();
        self.step(0, ConcatDescriptor { axis: 0 }, &inputs, declaration)
    }
}
