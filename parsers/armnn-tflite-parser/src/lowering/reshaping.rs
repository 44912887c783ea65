//! The same elements in another shape: RESHAPE, SQUEEZE, EXPAND_DIMS.

use armnn_backend_api::{
    ComparisonDescriptor, ComparisonOperation, CompressDescriptor, DataType, Shape,
};
use armnn_network::{OutputDeclaration, ParameterRule, TensorId};
use planus::Vector;

use super::context::{Context, axis, each_dimension};
use super::problem::{Problem, Result};
use super::subgraph::Value;
use crate::schema_generated::{ReshapeOptionsRef, SqueezeOptionsRef};

/// The shape is the second input, or an option where there is none.
pub(super) fn reshape(context: &mut Context<'_, '_, '_>) -> Result {
    let (input, is_complex) = elements(context)?;
    if !context.is_known(1) {
        if is_complex {
            return Err(Problem::unsupported(
                "complex numbers in a shape that the model computes",
            ));
        }
        let target = context.input(1)?;
        let declaration = context.moved(0, input)?;
        let rule = ParameterRule::Reshape { allow_zero: true };
        return context.emit_by_rule(0, rule, &[Some(input)], &[Some(target)], declaration);
    }
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
    if is_complex {
        let mut target = target;
        target.push(2);
        let id = context.reshape_step(0, input, &target)?;
        return context.bind_value(0, Value::Complex(id));
    }
    context.emit_reshape(0, input, &target)
}

/// The first input, which may be of complex numbers: these have a last dimension of two more here.
fn elements(context: &mut Context<'_, '_, '_>) -> Result<(TensorId, bool)> {
    match context.input_value(0)? {
        Value::Complex(id) => Ok((id, true)),
        _ => Ok((context.input(0)?, false)),
    }
}

/// Dimensions as they are or put together, of complex numbers with their parts.
fn emit_merged_elements(
    context: &mut Context<'_, '_, '_>,
    input: TensorId,
    is_complex: bool,
    mut groups: Vec<Vec<usize>>,
) -> Result {
    if !is_complex {
        return context.emit_merged(0, input, groups);
    }
    let parts = context.shape(input)?.rank().saturating_sub(1);
    groups.push(vec![parts]);
    let id = context.merge_step(0, input, groups)?;
    context.bind_value(0, Value::Complex(id))
}

/// The shape of a tensor's elements.
fn shape_of_elements(
    context: &Context<'_, '_, '_>,
    input: TensorId,
    is_complex: bool,
) -> Result<Shape> {
    let shape = context.shape(input)?;
    match (is_complex, shape.dims().split_last()) {
        (true, Some((_, dims))) => {
            Shape::new(dims).map_err(|_| Problem::malformed("more dimensions than there can be"))
        }
        _ => Ok(shape),
    }
}

/// A sparse constant is unpacked where it is read.
pub(super) fn densify(context: &mut Context<'_, '_, '_>) -> Result {
    let dense = context.input(0)?;
    context.bind(0, dense)
}

/// Takes out the dimensions that the option names, which have size 1, or all that have it.
pub(super) fn squeeze(context: &mut Context<'_, '_, '_>) -> Result {
    let (input, is_complex) = elements(context)?;
    let shape = shape_of_elements(context, input, is_complex)?;
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
            return squeeze_while_running(context, input, shape, is_complex);
        }
        for (squeezed, &dim) in squeezed.iter_mut().zip(shape.dims()) {
            *squeezed = dim == 1;
        }
    }
    let mut groups = each_dimension(shape.rank());
    groups.retain(|group| group.iter().all(|&axis| !squeezed[axis]));
    emit_merged_elements(context, input, is_complex, groups)
}

/// Takes out the dimensions that turn out to have size 1, of which there must be as many as the
/// file says of the output.
fn squeeze_while_running(
    context: &mut Context<'_, '_, '_>,
    input: TensorId,
    shape: Shape,
    is_complex: bool,
) -> Result {
    let rank = match context.declared_shape(0)? {
        Some(declared) if !is_complex => declared.rank(),
        _ => {
            return Err(Problem::unsupported(format!(
                "every dimension of size 1 squeezed out of {shape}, whose sizes are not all known, \
                 while it is not known how many are left; give the model fixed input shapes"
            )));
        }
    };
    let most = shape.dims().iter().filter(|&&dim| dim != 1).count();
    let least = shape.dims().iter().filter(|&&dim| dim > 1).count();
    if !(least..=most).contains(&rank) {
        return Err(Problem::malformed(format!(
            "{shape} without its dimensions of size 1 is no tensor of {rank} dimensions"
        )));
    }
    let none = OutputDeclaration::default;
    let sizes = context.shape_step(input, 0, shape.rank())?;
    let one = context.scalar(DataType::Signed64, 1.0)?;
    let differ = ComparisonDescriptor::new(ComparisonOperation::NotEqual);
    let is_kept = context.step(0, differ, &[Some(sizes), Some(one)], none())?;
    let inputs = [Some(sizes), Some(is_kept)];
    let kept = context.step(0, CompressDescriptor::new(Some(0)), &inputs, none())?;
    // What is executed stops here where there are more or fewer.
    let kept = context.reshape_step(0, kept, &[rank as i64])?;
    let declaration = context.moved(0, input)?;
    let rule = ParameterRule::Reshape { allow_zero: true };
    context.emit_by_rule(0, rule, &[Some(input)], &[Some(kept)], declaration)
}

/// Adds a dimension of size 1 before the named one of the output.
pub(super) fn expand_dims(context: &mut Context<'_, '_, '_>) -> Result {
    let (input, is_complex) = elements(context)?;
    if !context.is_known(1) && !is_complex {
        let axis = context.input(1)?;
        let declaration = context.moved(0, input)?;
        let rule = ParameterRule::Unsqueeze;
        return context.emit_by_rule(0, rule, &[Some(input)], &[Some(axis)], declaration);
    }
    let shape = shape_of_elements(context, input, is_complex)?;
    let mut groups = each_dimension(shape.rank());
    let at = axis(context.integer(1, "the axis")?, groups.len() + 1)?;
    groups.insert(at, Vec::new());
    emit_merged_elements(context, input, is_complex, groups)
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

#[cfg(test)]
mod tests {
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        assert_refused, float, floats, ints, load, lower, outputs, tensor, typed, types,
    };
    use armnn_backend_api::LayerType;

    fn option(new_shape: &[i32]) -> write::BuiltinOptions {
        write::BuiltinOptions::ReshapeOptions(Box::new(write::ReshapeOptions {
            new_shape: Some(new_shape.to_vec()),
        }))
    }

    #[test]
    fn the_new_shape_is_an_input_or_an_option() {
        let inputs = [float(&[2, 3, 4]), ints(&[6, -1])];
        let network = lower(Op::Reshape, &inputs, &[float(&[6, 4])], None).unwrap();
        assert_eq!(types(&network), [LayerType::Reshape]);
        assert_eq!(outputs(&network), ["Float32[6, 4]"]);
        let inputs = [float(&[2, 3, 4])];
        let network = lower(Op::Reshape, &inputs, &[float(&[])], option(&[-1, 8])).unwrap();
        assert_eq!(outputs(&network), ["Float32[3, 8]"]);
    }

    #[test]
    fn an_old_files_shape_of_0_is_a_scalar() {
        let network = lower(Op::Reshape, &[float(&[1])], &[float(&[])], option(&[0])).unwrap();
        assert_eq!(outputs(&network), ["Float32[]"]);
    }

    #[test]
    fn an_unknown_batch_follows_from_the_number_of_elements() {
        let input = float(&[1, 3, 4]).signature(&[-1, 3, 4]);
        let output = float(&[1, 12]).signature(&[-1, 12]);
        let network = lower(Op::Reshape, &[input, ints(&[-1, 12])], &[output], None).unwrap();
        assert_eq!(outputs(&network), ["Float32[?, 12]"]);
    }

    #[test]
    fn a_new_shape_that_cannot_be_is_refused() {
        let reshape = |shape: &[i32], output: &[i32]| {
            lower(
                Op::Reshape,
                &[float(&[2, 3]), ints(shape)],
                &[float(output)],
                None,
            )
        };
        assert_refused(reshape(&[4], &[4]), "with 6 elements cannot become [4]");
        assert_refused(reshape(&[-2], &[6]), "the new shape is [-2]");
        assert_eq!(outputs(&reshape(&[6], &[3, 2]).unwrap()), ["Float32[6]"]);
        assert_refused(
            reshape(&[1; 9], &[6]),
            "the new shape has 9 entries, where there can be 8 at most",
        );
    }

    #[test]
    fn a_new_shape_may_be_computed() {
        let computed = [float(&[2, 3]), typed(TensorType::Int32, &[2])];
        let network = lower(Op::Reshape, &computed, &[float(&[6])], None).unwrap();
        assert_eq!(outputs(&network), ["Float32[?, ?]"]);
    }

    #[test]
    fn dimensions_of_size_1_are_squeezed_out() {
        for (named, output, expected) in [
            (&[][..], &[2, 3][..], "Float32[2, 3]"),
            (&[0], &[2, 1, 3], "Float32[2, 1, 3]"),
            (&[-2], &[1, 2, 3], "Float32[1, 2, 3]"),
        ] {
            let options = write::SqueezeOptions {
                squeeze_dims: Some(named.to_vec()),
            };
            let options = write::BuiltinOptions::SqueezeOptions(Box::new(options));
            let network = lower(
                Op::Squeeze,
                &[float(&[1, 2, 1, 3])],
                &[float(output)],
                options,
            );
            assert_eq!(outputs(&network.unwrap()), [expected]);
        }
        let options = write::SqueezeOptions {
            squeeze_dims: Some(vec![1]),
        };
        let options = write::BuiltinOptions::SqueezeOptions(Box::new(options));
        let refused = lower(Op::Squeeze, &[float(&[1, 2])], &[float(&[1])], options);
        assert_refused(refused, "dimension 1 of [1, 2] is squeezed, but is not 1");
    }

    #[test]
    fn dimensions_that_turn_out_to_be_1_are_squeezed_out() {
        let lowered = |output: &[i32]| {
            let input = float(&[1, 2, 1, 1]).signature(&[-1, -1, 1, -1]);
            let output = float(output).signature(&vec![-1; output.len()]);
            lower(Op::Squeeze, &[input], &[output], None)
        };
        let network = lowered(&[1, 2]).unwrap();
        assert_eq!(outputs(&network), ["Float32[?, ?]"]);
        let values: Vec<f32> = (0..6).map(|v| v as f32).collect();
        let loaded = load(network);
        for (given, found) in [([3, 2, 1, 1], [3, 2]), ([1, 2, 1, 3], [2, 3])] {
            let outputs = loaded.run(&[tensor(&given, &values)]).unwrap();
            assert_eq!(floats(&outputs[0]), (found.to_vec(), values.clone()));
        }
        // One dimension is left, where there must be two.
        let error = loaded.run(&[tensor(&[1, 6, 1, 1], &values)]).unwrap_err();
        assert!(error.to_string().contains("[2]"), "{error}");
        let refused = lowered(&[1, 2, 1, 1]);
        assert_refused(refused, "is no tensor of 4 dimensions");
    }

    #[test]
    fn a_dimension_is_added_before_the_named_one() {
        for (axis, output) in [
            (0, [1, 2, 3]),
            (1, [2, 1, 3]),
            (-1, [2, 3, 1]),
            (-3, [1, 2, 3]),
        ] {
            let inputs = [float(&[2, 3]), ints(&[axis]).shaped(&[])];
            let network = lower(Op::ExpandDims, &inputs, &[float(&output)], None).unwrap();
            assert_eq!(types(&network), [LayerType::Reshape]);
        }
        let inputs = [float(&[2, 3]), ints(&[3]).shaped(&[])];
        let refused = lower(Op::ExpandDims, &inputs, &[float(&[2, 3, 1])], None);
        assert_refused(refused, "axis 3 of 3 dimensions");
    }

    /// TFLite copies them without a look at scales.
    #[test]
    fn numbers_stay_as_they_are_where_the_scale_is_another() {
        let from = typed(TensorType::Int8, &[2, 1]).quantized(0.5, 0);
        let to = typed(TensorType::Int8, &[2]).quantized(0.25, 3);
        let network = lower(Op::Reshape, &[from, ints(&[2])], &[to], None).unwrap();
        let info = &network.tensor(network.outputs()[0].tensor).info;
        assert_eq!(info.quantization.zero_points(), [3]);
        let loaded = load(network);
        let mut state = loaded.create_execution_state().unwrap();
        state.set_input(0, &[1, 255]).unwrap();
        state.execute().unwrap();
        assert_eq!(state.output(0), [1, 255]);
    }
}
