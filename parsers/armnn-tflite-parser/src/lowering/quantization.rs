//! Conversions of types: CAST, DEQUANTIZE, QUANTIZE.

use armnn_backend_api::{CastDescriptor, DataType, DequantizeDescriptor, QuantizeDescriptor};

use super::context::Context;
use super::problem::{Problem, Result};
use super::spectrum;
use super::subgraph::Value;

/// The types in the options repeat those of the tensors.
pub(super) fn cast(context: &mut Context<'_, '_, '_>) -> Result {
    if let Value::Complex(_) = context.input_value(0)? {
        // What is left of a complex number is its real part.
        return spectrum::part(context, 0);
    }
    let input = context.input(0)?;
    context.emit(CastDescriptor::new(), &[Some(input)])
}

/// Of quantized numbers; or of Float16, which is a change of type alone.
pub(super) fn dequantize(context: &mut Context<'_, '_, '_>) -> Result {
    if context.output_tensor(0)?.is_variable {
        return dequantized_state(context);
    }
    let input = context.input(0)?;
    let info = context.info(input)?;
    match info.data_type {
        DataType::Float16 | DataType::BFloat16 => {
            context.emit(CastDescriptor::new(), &[Some(input)])
        }
        _ if info.quantization.is_none() => {
            let problem = format!("{info} without a scale is dequantized");
            Err(Problem::malformed(problem))
        }
        _ => context.emit(DequantizeDescriptor::new(), &[Some(input)]),
    }
}

/// A state that begins with a constant, which TFLite dequantizes only once. States begin with 0 here,
/// as those do that converters make.
fn dequantized_state(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let tensor = context.lowering.builder.tensor(input);
    let constant = tensor.and_then(|tensor| tensor.constant());
    let begins_with_zero = constant.is_some_and(|data| data.iter().all(|&byte| byte == 0));
    let real = context.info(input)?.quantization.is_none();
    let Some(index) = context.operator.outputs.get(0) else {
        return Err(Problem::malformed("output 0 is left out"));
    };
    if !begins_with_zero || !real {
        return Err(Problem::unsupported(
            "a state that begins with other numbers than 0",
        ));
    }
    let variable = context.lowering.state_tensor(index)?;
    let before = context.lowering.read_variable(variable)?;
    context.bind_value(0, Value::Ready(before))
}

/// Of real numbers; or of quantized ones, which are rescaled.
pub(super) fn quantize(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    context.emit(QuantizeDescriptor::new(), &[Some(input)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::test_model::{assert_refused, float, lower, outputs, typed, types};
    use armnn_backend_api::LayerType;

    #[test]
    fn float16_is_widened_and_quantized_numbers_are_dequantized() {
        let half = typed(TensorType::Float16, &[2]).with_data(vec![0; 4]);
        let network = lower(Op::Dequantize, &[half], &[float(&[2])], None).unwrap();
        assert_eq!(types(&network), [LayerType::Cast]);
        assert_eq!(outputs(&network), ["Float32[2]"]);
        let quantized = typed(TensorType::Uint8, &[2]).quantized(0.5, 7);
        let network = lower(Op::Dequantize, &[quantized], &[float(&[2])], None).unwrap();
        assert_eq!(types(&network), [LayerType::Dequantize]);
        let plain = typed(TensorType::Int8, &[2]);
        let refused = lower(Op::Dequantize, &[plain], &[float(&[2])], None);
        assert_refused(
            refused,
            "(DEQUANTIZE): Int8[2] without a scale is dequantized",
        );
    }

    #[test]
    fn casts_have_the_type_of_their_output() {
        let output = typed(TensorType::Int64, &[2]);
        let network = lower(Op::Cast, &[float(&[2])], &[output], None).unwrap();
        assert_eq!(types(&network), [LayerType::Cast]);
        assert_eq!(outputs(&network), ["Signed64[2]"]);
    }

    #[test]
    fn quantizing_takes_the_scale_of_the_output() {
        let output = typed(TensorType::Int16, &[2]).quantized(0.25, 0);
        let network = lower(Op::Quantize, &[float(&[2])], &[output], None).unwrap();
        assert_eq!(types(&network), [LayerType::Quantize]);
        let info = &network.tensor(network.outputs()[0].tensor).info;
        assert_eq!(
            (info.data_type, info.quantization.scales()),
            (DataType::QSymmS16, &[0.25][..])
        );
    }

    #[test]
    fn quantized_numbers_are_rescaled() {
        let input = typed(TensorType::Uint8, &[2]).quantized(0.1, 128);
        let output = typed(TensorType::Int8, &[2]).quantized(0.25, 0);
        let network = lower(Op::Quantize, &[input], &[output], None).unwrap();
        assert_eq!(types(&network), [LayerType::Quantize]);
        let info = &network.tensor(network.outputs()[0].tensor).info;
        assert_eq!(info.quantization.scales(), [0.25]);
    }
}
