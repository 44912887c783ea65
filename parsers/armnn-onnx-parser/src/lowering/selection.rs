//! Elements and slices chosen by indices, and put where indices say.

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation, CompressDescriptor,
    DataType, GatherDescriptor, GatherElementsDescriptor, GatherNdDescriptor, NonZeroDescriptor,
    ScatterElementsDescriptor, ScatterFunction, ScatterNdDescriptor, SelectDescriptor,
    UniqueDescriptor,
};
use armnn_network::{ParameterRule, TensorId};

use super::constant::Constant;
use super::context::{Context, axis, small};
use super::problem::{Problem, Result};

/// How many constant indices are looked at to count negative ones from the end.
const MOST_INDICES: usize = 1 << 20;

pub(super) fn gather(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let shape = c.shape(input)?;
    let along = axis(c.attributes.int("axis", 0)?, shape.rank())?;
    let size = shape.dims()[along];
    let indices = indices_from_start(c, size, |c| c.shape_step(input, along, along + 1))?;
    let axis = small(along, "its axis")?;
    c.emit(GatherDescriptor { axis }, &[input, indices])
}

/// Input 1, indices of a dimension of `size` elements, or of so many as `size_step` finds where that is
/// unknown. Layers take no negative ones, which count from the end: constant ones are replaced, to
/// others the size is added where they are negative.
pub(super) fn indices_from_start<'a, 'b>(
    c: &mut Context<'a, 'b>,
    size: i64,
    size_step: impl FnOnce(&mut Context<'a, 'b>) -> Result<TensorId>,
) -> Result<TensorId> {
    let Some(constant) = c.constant(1)?.filter(|c| c.count() <= MOST_INDICES) else {
        return counted_from_start(c, size_step);
    };
    // Many nodes may look at the same ones.
    c.pay_for(constant.count())?;
    let values = constant.known_integers(MOST_INDICES, "the indices")?;
    match values.iter().any(|&index| index < 0) {
        false => c.input(1),
        true if size >= 0 => {
            c.pay_for(values.len().saturating_mul(size_of::<i64>()))?;
            let values = from_start(&values, size)?;
            let data_type = match constant.data_type {
                DataType::Signed32 => DataType::Signed32,
                _ => DataType::Signed64,
            };
            c.add_constant(&Constant::integers(data_type, &constant.dims, &values))
        }
        true => counted_from_start(c, size_step),
    }
}

fn from_start(indices: &[i64], size: i64) -> Result<Vec<i64>> {
    indices
        .iter()
        .map(|&index| {
            let from_start = if index < 0 {
                index.saturating_add(size)
            } else {
                index
            };
            match (0..size).contains(&from_start) {
                true => Ok(from_start),
                false => Err(Problem::malformed(format!(
                    "index {index} of {size} elements"
                ))),
            }
        })
        .collect()
}

/// Indices, with the size of the dimension added to those below 0.
fn counted_from_start<'a, 'b>(
    c: &mut Context<'a, 'b>,
    size_step: impl FnOnce(&mut Context<'a, 'b>) -> Result<TensorId>,
) -> Result<TensorId> {
    let indices = c.input(1)?;
    let data_type = c.info(indices)?.data_type;
    let size = size_step(c)?;
    let size = c.cast(size, data_type)?;
    let size = c.merge_step(size, &[])?;
    let zero = c.number(data_type, &[], &[0.0])?;
    let sum = c.binary(Binary::Add, indices, size)?;
    let less = ComparisonDescriptor::new(ComparisonOperation::Less);
    let is_negative = c.step(less, &[indices, zero])?;
    c.step(SelectDescriptor::new(), &[is_negative, sum, indices])
}

pub(super) fn gather_elements(c: &mut Context<'_, '_>) -> Result {
    let inputs = c.inputs()?;
    let rank = c.input_shape(0)?.rank();
    let along = axis(c.attributes.int("axis", 0)?, rank)?;
    let axis = small(along, "its axis")?;
    c.emit(GatherElementsDescriptor { axis }, &inputs)
}

pub(super) fn gather_nd(c: &mut Context<'_, '_>) -> Result {
    let inputs = c.inputs()?;
    let batch_dims = c.attributes.int("batch_dims", 0)?;
    let batch_dims = u32::try_from(batch_dims)
        .map_err(|_| Problem::malformed(format!("its batch_dims is {batch_dims}")))?;
    c.emit(GatherNdDescriptor { batch_dims }, &inputs)
}

fn scatter_function(c: &Context<'_, '_>) -> Result<ScatterFunction> {
    Ok(match c.attributes.text("reduction", "none")? {
        "none" => ScatterFunction::Update,
        "add" => ScatterFunction::Add,
        "mul" => ScatterFunction::Mul,
        "max" => ScatterFunction::Max,
        "min" => ScatterFunction::Min,
        other => {
            return Err(Problem::malformed(format!(
                "its reduction is \"{}\"",
                crate::error::Short(other)
            )));
        }
    })
}

pub(super) fn scatter_elements(c: &mut Context<'_, '_>) -> Result {
    let inputs = c.inputs()?;
    let rank = c.input_shape(0)?.rank();
    let along = axis(c.attributes.int("axis", 0)?, rank)?;
    let descriptor =
        ScatterElementsDescriptor::new(small(along, "its axis")?, scatter_function(c)?);
    c.emit(descriptor, &inputs)
}

pub(super) fn scatter_nd(c: &mut Context<'_, '_>) -> Result {
    let inputs = c.inputs()?;
    let descriptor = ScatterNdDescriptor::new(scatter_function(c)?);
    c.emit(descriptor, &inputs)
}

pub(super) fn compress(c: &mut Context<'_, '_>) -> Result {
    let inputs = c.inputs()?;
    let along = optional_axis(c)?;
    c.emit(CompressDescriptor::new(along), &inputs)
}

fn optional_axis(c: &mut Context<'_, '_>) -> Result<Option<u32>> {
    let rank = c.input_shape(0)?.rank();
    match c.attributes.optional_int("axis")? {
        Some(along) => small(axis(along, rank)?, "its axis").map(Some),
        None => Ok(None),
    }
}

/// A row of positions for each dimension.
pub(super) fn non_zero(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    c.emit(NonZeroDescriptor::new(), &[input])
}

pub(super) fn unique(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let along = optional_axis(c)?;
    let sorted = c.attributes.flag("sorted", true)?;
    let descriptor = UniqueDescriptor::new(along, sorted);
    let declaration = c.declaration(0)?;
    c.emit_all(descriptor, &[Some(input)], &[declaration])
}

/// Indices may be of any type of numbers, and count from the end if they are negative; the values
/// are the off value and the on value.
pub(super) fn one_hot(c: &mut Context<'_, '_>) -> Result {
    let axis = c.attributes.int("axis", -1)?;
    let mut indices = c.input(0)?;
    let index_type = c.info(indices)?.data_type;
    if !matches!(index_type, DataType::Signed32 | DataType::Signed64) {
        if index_type == DataType::UInt64 {
            // What Signed64 has no room for is outside all the same, not from the end.
            let largest = c.add_constant(&Constant::integers(index_type, &[], &[i64::MAX]))?;
            indices = c.binary(Binary::Minimum, indices, largest)?;
        }
        indices = c.cast(indices, DataType::Signed64)?;
    }
    let depth = c.input(1)?;
    let values = c.input(2)?;
    let halves = armnn_backend_api::SplitDescriptor { axis: 0 };
    let one = armnn_network::OutputDeclaration::of_shape(super::tensor_info::shape(&[1])?);
    let halves = c.step_all(halves, &[Some(values)], &[one.clone(), one])?;
    let [off, on] = halves[..] else {
        return Err(Problem::malformed("its values are not two"));
    };
    let rule = ParameterRule::OneHot {
        axis,
        wrap_negative: true,
    };
    c.emit_deferred(rule, &[indices, on, off], &[Some(depth)])
}

/// Columns of the last dimension, of ai.onnx.ml; a list counts as a row.
pub(super) fn array_feature_extractor(c: &mut Context<'_, '_>) -> Result {
    let mut input = c.input(0)?;
    if c.shape(input)?.rank() == 1 {
        input = c.merge_step(input, &[vec![], vec![0]])?;
    }
    let rank = c.input_shape(1)?.rank();
    let indices = c.merged_input(1, &[(0..rank).collect()])?;
    let last = c.shape(input)?.rank().saturating_sub(1);
    let axis = small(last, "its axis")?;
    c.emit(GatherDescriptor { axis }, &[input, indices])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_model::{assert_refused, descriptors, int, ints, output_dims, single, types};

    #[test]
    fn constant_indices_from_the_end_become_such_from_the_start() {
        let network = single(
            13,
            "Gather",
            &[2, 5],
            &[ints("i", &[-1, 0])],
            &[int("axis", -1)],
        );
        let network = network.unwrap();
        assert_eq!(descriptors(&network), [GatherDescriptor { axis: 1 }.into()]);
        let indices = network.tensor(network.layers()[0].inputs[1].unwrap());
        assert_eq!(indices.constant().unwrap()[..2], [4, 0]);
        assert_eq!(output_dims(&network), [2, 2]);
        let outside = single(13, "Gather", &[2, 5], &[ints("i", &[-3])], &[]);
        assert_refused(outside, "index -3 of 2 elements");
        // The size of a dimension that is not known is added when a plan is made.
        let unknown = single(13, "Gather", &[-1, 5], &[ints("i", &[-1])], &[]).unwrap();
        assert_eq!(
            types(&unknown).last(),
            Some(&armnn_backend_api::LayerType::Gather)
        );
        assert!(types(&unknown).contains(&armnn_backend_api::LayerType::Select));
    }
}
