//! Products of matrices: FULLY_CONNECTED, BATCH_MATMUL.

use armnn_backend_api::{
    BatchMatMulDescriptor, DataType, FullyConnectedDescriptor, TransposeDescriptor,
};
use armnn_network::{OutputDeclaration, ParameterRule, TensorId};

use super::activation;
use super::context::{Context, described};
use super::problem::{Problem, Result};
use crate::schema_generated::{
    BatchMatMulOptionsRef, FullyConnectedOptionsRef, FullyConnectedOptionsWeightsFormat,
};

/// Weights are [O, I]. With `keep_num_dims` the output has the input's dimensions but for the last,
/// else it is [N, O].
pub(super) fn fully_connected(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<FullyConnectedOptionsRef<'_>>()?;
    let function = options.fused_activation_function()?;
    let format = options.weights_format()?;
    if format != FullyConnectedOptionsWeightsFormat::Default {
        return Err(Problem::unsupported(format!(
            "weights in the order {}",
            format.name()
        )));
    }
    let (mut input, mut weights) = (context.input(0)?, context.input(1)?);
    weights = context.unpacked(weights)?;
    // Before rows are made of it: these are the dimensions that are kept.
    let (kept, input_shape) = (input, context.shape(input)?);
    if context.is_hybrid(input, weights)? {
        let asymmetric = options.asymmetric_quantize_inputs()?;
        let rank = context.shape(input)?.rank();
        let in_row = context.shape(weights)?.dims().last().copied();
        let keeps = rank > 0 && context.shape(input)?.dims().last().copied() == in_row;
        if let (false, Some(in_row)) = (keeps, in_row) {
            input = context.reshape_step(0, input, &[-1, in_row])?;
        }
        [input, weights] = context.real_product(input, weights, asymmetric)?;
    }
    let inputs = [Some(input), Some(weights), context.optional_input(2)?];
    let descriptor = FullyConnectedDescriptor::new(true);

    let weights_shape = context.shape(weights)?;
    let (Some((&row, batch)), &[outputs, in_row]) =
        (input_shape.dims().split_last(), weights_shape.dims())
    else {
        return Err(Problem::malformed(format!(
            "an input of shape {input_shape} with weights of shape {weights_shape}"
        )));
    };
    if !options.keep_num_dims()? || batch.len() == 1 && row == in_row {
        return context.emit_activated(descriptor, &inputs, function);
    }
    if row >= 0 && in_row >= 0 && row != in_row {
        return Err(Problem::malformed(format!(
            "it keeps the dimensions of its input {input_shape}, whose last is not that of the \
             weights {weights_shape}"
        )));
    }
    let rows = OutputDeclaration {
        shape: None,
        ..context.declaration(0)?
    };
    let mut id = context.step(0, descriptor, &inputs, rows.clone())?;
    if let Some(activation) = activation::fused(function, rows.data_type)? {
        id = context.step(0, activation, &[Some(id)], rows)?;
    }
    let mut target = batch.to_vec();
    target.push(outputs);
    if target.iter().filter(|&&dim| dim < 0).count() > 1 {
        return emit_with_dimensions_of(context, id, kept, batch.len(), outputs);
    }
    context.emit_reshape(0, id, &target)
}

/// Adds the Reshape to the first `count` dimensions of `like`, and `last`: of dimensions of which
/// several are unknown.
fn emit_with_dimensions_of(
    context: &mut Context<'_, '_, '_>,
    id: TensorId,
    like: TensorId,
    count: usize,
    last: i64,
) -> Result {
    let first = context.shape_step(like, 0, count)?;
    let last = context.integer_list(DataType::Signed64, &[last])?;
    let target = context.joined(&[first, last])?;
    let declaration = context.moved(0, id)?;
    let rule = ParameterRule::Reshape { allow_zero: true };
    context.emit_by_rule(0, rule, &[Some(id)], &[Some(target)], declaration)
}

pub(super) fn batch_matmul(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<BatchMatMulOptionsRef<'_>>()?;
    let (mut x, y) = (context.input(0)?, context.input(1)?);
    let asymmetric = options.asymmetric_quantize_inputs()?;
    let mut adj_x = options.adj_x()?;
    if adj_x && context.is_hybrid(x, y)? {
        // It is transposed before its rows get their scales.
        x = matrices_transposed(context, x)?;
        adj_x = false;
    }
    let inputs = context.real_product(x, y, asymmetric)?;
    let descriptor = BatchMatMulDescriptor::new(adj_x, options.adj_y()?);
    context.emit(descriptor, &inputs.map(Some))
}

/// A tensor whose last two dimensions have changed places.
fn matrices_transposed(context: &mut Context<'_, '_, '_>, input: TensorId) -> Result<TensorId> {
    let shape = context.shape(input)?;
    let rank = shape.rank();
    if rank < 2 {
        return Err(Problem::malformed(format!(
            "an input of shape {shape}; it must have two dimensions at least"
        )));
    }
    let mut permutation: Vec<u32> = (0..rank as u32).collect();
    permutation.swap(rank - 2, rank - 1);
    let descriptor = described(TransposeDescriptor::new(&permutation))?;
    context.step(0, descriptor, &[Some(input)], OutputDeclaration::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{ActivationFunctionType, BuiltinOperator as Op};
    use crate::schema_writer_generated as write;
    use crate::test_model::{descriptors, float, lower, outputs, types, zeros};
    use armnn_backend_api::{LayerDescriptor, LayerType};

    fn options(keep_num_dims: bool, function: ActivationFunctionType) -> write::BuiltinOptions {
        write::BuiltinOptions::FullyConnectedOptions(Box::new(write::FullyConnectedOptions {
            keep_num_dims,
            fused_activation_function: function,
            ..write::FullyConnectedOptions::default()
        }))
    }

    #[test]
    fn weights_are_outputs_by_inputs() {
        let inputs = [float(&[2, 2, 3]), zeros(&[5, 6]), zeros(&[5])];
        let options = options(false, ActivationFunctionType::None);
        let network = lower(Op::FullyConnected, &inputs, &[float(&[2, 5])], options).unwrap();
        let expected = FullyConnectedDescriptor::new(true);
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
    }

    #[test]
    fn kept_dimensions_are_a_reshape_after_the_activation() {
        let inputs = [float(&[2, 4, 6]), zeros(&[5, 6])];
        let options = options(true, ActivationFunctionType::Relu);
        let network = lower(Op::FullyConnected, &inputs, &[float(&[2, 4, 5])], options).unwrap();
        let expected = [
            LayerType::FullyConnected,
            LayerType::Activation,
            LayerType::Reshape,
        ];
        assert_eq!(types(&network), expected);
        let product = network.tensor(network.layers()[0].outputs[0]);
        assert_eq!(product.info.to_string(), "Float32[8, 5]");
        assert_eq!(outputs(&network), ["Float32[2, 4, 5]"]);
    }

    #[test]
    fn kept_dimensions_of_a_matrix_need_no_reshape() {
        let inputs = [float(&[2, 6]), zeros(&[5, 6])];
        let options = options(true, ActivationFunctionType::None);
        let network = lower(Op::FullyConnected, &inputs, &[float(&[2, 5])], options).unwrap();
        assert_eq!(types(&network), [LayerType::FullyConnected]);
    }

    #[test]
    fn either_factor_may_be_transposed() {
        let options = write::BatchMatMulOptions {
            adj_y: true,
            ..write::BatchMatMulOptions::default()
        };
        let options = write::BuiltinOptions::BatchMatMulOptions(Box::new(options));
        let inputs = [float(&[7, 2, 3]), float(&[7, 4, 3])];
        let network = lower(Op::BatchMatmul, &inputs, &[float(&[7, 2, 4])], options).unwrap();
        let expected = BatchMatMulDescriptor::new(false, true);
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
    }
}
