//! RNN, GRU and LSTM.

use armnn_backend_api::{
    ActivationFunction as Activation, DataType, GruDescriptor, LstmDescriptor, RecurrentDirection,
    RnnDescriptor,
};
use armnn_network::TensorId;

use super::context::Context;
use super::problem::{Problem, Result};

/// What all of them have.
struct Recurrent {
    direction: u32,
    hidden_size: u32,
    batch_first: u32,
    clip: f32,
    /// Activation functions with their parameters, those of each direction behind each other; none
    /// where the node does not say.
    functions: Option<Vec<(Activation, f32, f32)>>,
}

fn recurrent(c: &mut Context<'_, '_>, per_direction: usize) -> Result<Recurrent> {
    let direction = match c.attributes.text("direction", "forward")? {
        "forward" => RecurrentDirection::Forward,
        "reverse" => RecurrentDirection::Reverse,
        "bidirectional" => RecurrentDirection::Bidirectional,
        other => {
            return Err(Problem::malformed(format!(
                "its direction is \"{}\"",
                crate::error::Short(other)
            )));
        }
    };
    let directions = match direction {
        RecurrentDirection::Bidirectional => 2,
        _ => 1,
    };
    let recurrence = c.input_shape(2)?;
    let hidden = match c.attributes.optional_int("hidden_size")? {
        Some(size) => size,
        None => recurrence.dims().last().copied().unwrap_or(0),
    };
    let hidden_size = u32::try_from(hidden)
        .ok()
        .filter(|&size| size > 0)
        .ok_or_else(|| Problem::malformed(format!("its hidden_size is {hidden}")))?;
    let batch_first = c.version >= 14 && c.attributes.flag("layout", false)?;
    // Before version 7: whether the first output is there.
    c.attributes.ignore("output_sequence");
    let clip = c.attributes.float("clip", 0.0)?;
    let names = c.attributes.texts("activations")?;
    let alphas = c.attributes.floats("activation_alpha")?.unwrap_or_default();
    let betas = c.attributes.floats("activation_beta")?.unwrap_or_default();
    let functions = match names {
        // The standard's default of an RNN, which some writers write out, is that of two directions
        // even where there is one.
        Some(names)
            if [directions, 2].contains(&(names.len() / per_direction))
                && names.len() % per_direction == 0 =>
        {
            Some(functions(
                &names[..directions * per_direction],
                alphas,
                betas,
            )?)
        }
        Some(names) => {
            return Err(Problem::malformed(format!(
                "it has {} activations, not {}",
                names.len(),
                directions * per_direction
            )));
        }
        None => None,
    };
    Ok(Recurrent {
        direction: direction.0,
        hidden_size,
        batch_first: batch_first.into(),
        clip,
        functions,
    })
}

/// Parameters are taken off both lists by the functions that have them, in order; where a list is
/// at its end, the defaults hold.
fn functions(names: &[&str], alphas: &[f32], betas: &[f32]) -> Result<Vec<(Activation, f32, f32)>> {
    let (mut alphas, mut betas) = (alphas.iter().copied(), betas.iter().copied());
    let mut functions = Vec::with_capacity(names.len());
    for name in names {
        let mut alpha = |default| alphas.next().unwrap_or(default);
        let mut beta = |default| betas.next().unwrap_or(default);
        functions.push(match name.to_ascii_lowercase().as_str() {
            "relu" => (Activation::ReLu, 0.0, 0.0),
            "tanh" => (Activation::TanH, 1.0, 1.0),
            "sigmoid" => (Activation::Sigmoid, 1.0, 1.0),
            "affine" => (Activation::Linear, alpha(1.0), beta(0.0)),
            "leakyrelu" => (Activation::LeakyReLu, alpha(0.01), 0.0),
            "thresholdedrelu" => (Activation::ThresholdedReLu, alpha(1.0), 0.0),
            "scaledtanh" => (Activation::TanH, alpha(1.0), beta(1.0)),
            "hardsigmoid" => (Activation::HardSigmoid, alpha(0.2), beta(0.5)),
            "elu" => (Activation::Elu, alpha(1.0), 0.0),
            "softsign" => (Activation::SoftSign, 0.0, 0.0),
            "softplus" => (Activation::SoftReLu, 0.0, 0.0),
            _ => {
                return Err(Problem::malformed(format!(
                    "its activation \"{}\"",
                    crate::error::Short(name)
                )));
            }
        });
    }
    Ok(functions)
}

/// Sets the functions of all directions; `defaults` are those of one.
macro_rules! set_functions {
    ($descriptor:ident, $recurrent:ident) => {
        let count = $descriptor.activations.len();
        let half = count / 2;
        if let Some(functions) = &$recurrent.functions {
            for at in 0..count {
                // Of one direction only, the other one's are the same, and not looked at.
                let from = functions
                    .get(at)
                    .or_else(|| functions.get(at % half.max(1)));
                if let Some(&(function, a, b)) = from {
                    $descriptor.activations[at] = function.0;
                    $descriptor.activation_a[at] = a;
                    $descriptor.activation_b[at] = b;
                }
            }
        }
    };
}

/// The inputs up to some number; those of lengths become Signed32.
fn inputs(c: &mut Context<'_, '_>, count: usize) -> Result<Vec<Option<TensorId>>> {
    let mut inputs = Vec::with_capacity(count);
    for position in 0..count {
        let mut input = c.optional_input(position)?;
        if let (4, Some(lengths)) = (position, input) {
            input = Some(c.cast(lengths, DataType::Signed32)?);
        }
        inputs.push(input);
    }
    Ok(inputs)
}

pub(super) fn rnn(c: &mut Context<'_, '_>) -> Result {
    let recurrent = recurrent(c, 1)?;
    let mut descriptor = RnnDescriptor {
        direction: recurrent.direction,
        batch_first: recurrent.batch_first,
        clip: recurrent.clip,
        ..RnnDescriptor::new(recurrent.hidden_size)
    };
    set_functions!(descriptor, recurrent);
    let inputs = inputs(c, 6)?;
    c.emit_all(descriptor, &inputs, &[])
}

pub(super) fn gru(c: &mut Context<'_, '_>) -> Result {
    let recurrent = recurrent(c, 2)?;
    let mut descriptor = GruDescriptor {
        direction: recurrent.direction,
        batch_first: recurrent.batch_first,
        linear_before_reset: c.attributes.flag("linear_before_reset", false)?.into(),
        clip: recurrent.clip,
        ..GruDescriptor::new(recurrent.hidden_size)
    };
    set_functions!(descriptor, recurrent);
    let inputs = inputs(c, 6)?;
    c.emit_all(descriptor, &inputs, &[])
}

pub(super) fn lstm(c: &mut Context<'_, '_>) -> Result {
    let recurrent = recurrent(c, 3)?;
    let mut descriptor = LstmDescriptor {
        direction: recurrent.direction,
        batch_first: recurrent.batch_first,
        input_forget: c.attributes.flag("input_forget", false)?.into(),
        clip: recurrent.clip,
        ..LstmDescriptor::new(recurrent.hidden_size)
    };
    set_functions!(descriptor, recurrent);
    let inputs = inputs(c, 8)?;
    c.emit_all(descriptor, &inputs, &[])
}
