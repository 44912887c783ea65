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

#[cfg(test)]
mod tests {
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::test_model::{TestModel, float, floats_constant, ints, lower, outputs, run, typed};

    fn scalar(value: i32) -> crate::test_model::TestTensor {
        ints(&[value]).shaped(&[])
    }

    /// x of [?, 3] as [3, ?]: the shape of x, its parts in another order, and a Reshape to them.
    #[test]
    fn shapes_are_computed_with_while_a_batch_is_unknown() {
        let mut model = TestModel::default();
        let x = model.input(float(&[1, 3]).signature(&[-1, 3]));
        let int = |dims: &[i32]| typed(TensorType::Int32, dims);
        let [shape, turned, y] = [int(&[2]), int(&[2]), float(&[3, 1])].map(|t| model.tensor(t));
        let axes = model.tensor(ints(&[0]));
        model.operator(Op::Shape, &[x], &[shape], None);
        model.operator(Op::ReverseV2, &[shape, axes], &[turned], None);
        model.operator(Op::Reshape, &[x, turned], &[y], None);
        model.output(y);
        let network = model.parse().unwrap();
        for batch in [1i64, 4] {
            let values: Vec<f32> = (0..3 * batch).map(|v| v as f32).collect();
            let found = run(model.parse().unwrap(), &[(&[batch, 3], &values)]);
            assert_eq!(found, [(vec![3, batch], values)]);
        }
        drop(network);
    }

    #[test]
    fn the_rank_is_a_constant() {
        let output = typed(TensorType::Int32, &[]);
        let network = lower(Op::Rank, &[float(&[2, 3, 4])], &[output], None).unwrap();
        let rank = network.tensor(network.outputs()[0].tensor).constant();
        assert_eq!(rank.map(|bytes| &bytes[..]), Some(&3i32.to_le_bytes()[..]));
    }

    #[test]
    fn what_is_filled_and_repeated_has_the_shape_that_parameters_say() {
        let value = floats_constant(&[], &[2.5]);
        let network = lower(Op::Fill, &[ints(&[2, 2]), value], &[float(&[])], None).unwrap();
        assert_eq!(run(network, &[]), [(vec![2, 2], vec![2.5; 4])]);
        let inputs = [float(&[1, 2]), ints(&[2, 2])];
        let x: (&[i64], &[f32]) = (&[1, 2], &[1.0, 2.0]);
        let network = lower(Op::Tile, &inputs, &[float(&[])], None).unwrap();
        let expected = vec![1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
        assert_eq!(run(network, &[x]), [(vec![2, 4], expected)]);
        let inputs = [float(&[1, 2]), ints(&[2, 2])];
        let network = lower(Op::BroadcastTo, &inputs, &[float(&[])], None).unwrap();
        assert_eq!(run(network, &[x]), [(vec![2, 2], vec![1.0, 2.0, 1.0, 2.0])]);
        let network = lower(Op::ZerosLike, &[float(&[1, 2])], &[float(&[])], None).unwrap();
        assert_eq!(run(network, &[x]), [(vec![1, 2], vec![0.0; 2])]);
    }

    #[test]
    fn a_range_ends_before_its_limit() {
        let inputs = [0.0, 1.0, 0.4].map(|value| floats_constant(&[], &[value]));
        let network = lower(Op::Range, &inputs, &[float(&[])], None).unwrap();
        assert_eq!(outputs(&network), ["Float32[3]"]);
        assert_eq!(run(network, &[]), [(vec![3], vec![0.0, 0.4, 0.8])]);
        // 0.6000000238 / 0.2000000030 = 3.0000000745, which is 3 in Float32.
        let inputs = [float(&[]), float(&[]), float(&[])];
        let network = lower(Op::Range, &inputs, &[float(&[])], None).unwrap();
        let found = run(network, &[(&[], &[0.0]), (&[], &[0.6]), (&[], &[0.2])]);
        assert_eq!(found, [(vec![3], vec![0.0, 0.2, 0.4])]);
    }

    #[test]
    fn places_are_along_a_new_last_dimension() {
        let values = [1.0, -1.0].map(|value| floats_constant(&[], &[value]));
        let [on, off] = values;
        let options = crate::schema_writer_generated::OneHotOptions { axis: -1 };
        let options = crate::schema_writer_generated::BuiltinOptions::OneHotOptions(options.into());
        let inputs = [ints(&[2, 0, -1]), scalar(3), on, off];
        let network = lower(Op::OneHot, &inputs, &[float(&[])], options).unwrap();
        let expected = [[-1.0, -1.0, 1.0], [1.0, -1.0, -1.0], [-1.0; 3]];
        let expected = expected.as_flattened().to_vec();
        assert_eq!(run(network, &[]), [(vec![3, 3], expected)]);
    }

    /// [2, 1] and [3] broadcast to [2, 3].
    #[test]
    fn two_shapes_broadcast_to_one() {
        let output = typed(TensorType::Int32, &[2]);
        let inputs = [ints(&[2, 1]), ints(&[3])];
        let network = lower(Op::BroadcastArgs, &inputs, &[output], None).unwrap();
        let found = crate::test_model::load(network).run(&[]).unwrap();
        assert_eq!(found[0].elements::<i32>().unwrap(), [2, 3]);
    }
}
