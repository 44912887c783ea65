//! Products of matrices: FULLY_CONNECTED, BATCH_MATMUL.
//!
//! `asymmetric_quantize_inputs` is not looked at: it is for float inputs with quantized weights, a
//! mix that the network refuses.

use armnn_backend_api::{BatchMatMulDescriptor, FullyConnectedDescriptor};
use armnn_network::OutputDeclaration;

use super::activation;
use super::context::Context;
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
    let input = context.input(0)?;
    let weights = context.input(1)?;
    let inputs = [Some(input), Some(weights), context.optional_input(2)?];
    let descriptor = FullyConnectedDescriptor::new(true);

    let input_shape = context.shape(input)?;
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
    context.emit_reshape(0, id, &target)
}

pub(super) fn batch_matmul(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<BatchMatMulOptionsRef<'_>>()?;
    let descriptor = BatchMatMulDescriptor::new(options.adj_x()?, options.adj_y()?);
    let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
    context.emit(descriptor, &inputs)
}
