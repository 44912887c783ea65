//! Functions of each element: operators of their own, and parts of others.

use armnn_backend_api::{ActivationDescriptor, ActivationFunction, DataType};

use super::context::Context;
use super::problem::{Problem, Result};
use crate::schema_generated::{ActivationFunctionType, GeluOptionsRef, LeakyReluOptionsRef};

/// An activation without options.
pub(super) fn plain(
    context: &mut Context<'_, '_, '_>,
    function: ActivationFunction,
    a: f32,
    b: f32,
) -> Result {
    let input = context.input(0)?;
    context.emit(ActivationDescriptor::new(function, a, b), &[Some(input)])
}

pub(super) fn leaky_relu(context: &mut Context<'_, '_, '_>) -> Result {
    let alpha = context.options::<LeakyReluOptionsRef<'_>>()?.alpha()?;
    plain(context, ActivationFunction::LeakyReLu, alpha, 0.0)
}

pub(super) fn gelu(context: &mut Context<'_, '_, '_>) -> Result {
    let function = match context.options::<GeluOptionsRef<'_>>()?.approximate()? {
        true => ActivationFunction::GeluTanh,
        false => ActivationFunction::Gelu,
    };
    plain(context, function, 0.0, 0.0)
}

/// The layer for an activation that is an option of another operator, whose output is of this type.
pub(super) fn fused(
    function: ActivationFunctionType,
    data_type: Option<DataType>,
) -> Result<Option<ActivationDescriptor>> {
    use ActivationFunctionType as Fused;

    let bounded =
        |most, least| ActivationDescriptor::new(ActivationFunction::BoundedReLu, most, least);
    Ok(Some(match function {
        Fused::None => return Ok(None),
        Fused::Relu => ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0),
        Fused::Relu6 => bounded(6.0, 0.0),
        Fused::ReluN1To1 => bounded(1.0, -1.0),
        // Bounds can be applied after the sum has been brought into the output's scale, and so can
        // a layer of its own. The scale of a tangent's argument would not be known.
        Fused::Tanh if !data_type.is_some_and(DataType::is_quantized) => {
            ActivationDescriptor::new(ActivationFunction::TanH, 1.0, 1.0)
        }
        Fused::Tanh | Fused::SignBit => {
            return Err(Problem::unsupported(format!(
                "the fused activation {} on this type",
                function.name()
            )));
        }
    }))
}

/// The bounds of such an activation on integers without a scale: the least and the greatest number.
pub(super) fn integer_bounds(
    function: ActivationFunctionType,
    data_type: Option<DataType>,
) -> Option<[Option<f64>; 2]> {
    use ActivationFunctionType as Fused;

    match data_type? {
        DataType::Signed32 | DataType::Signed64 | DataType::Int16 | DataType::Int8 => {}
        _ => return None,
    }
    match function {
        Fused::Relu => Some([Some(0.0), None]),
        Fused::Relu6 => Some([Some(0.0), Some(6.0)]),
        Fused::ReluN1To1 => Some([Some(-1.0), Some(1.0)]),
        Fused::None | Fused::Tanh | Fused::SignBit => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{assert_refused, descriptors, float, lower, typed};
    use armnn_backend_api::LayerDescriptor;

    #[test]
    fn integers_are_kept_between_bounds() {
        let numbers = || typed(TensorType::Int32, &[2]);
        let options = write::AddOptions {
            fused_activation_function: ActivationFunctionType::Relu6,
            ..write::AddOptions::default()
        };
        let options = write::BuiltinOptions::AddOptions(Box::new(options));
        let network = lower(Op::Add, &[numbers(), numbers()], &[numbers()], options).unwrap();
        use armnn_backend_api::{BinaryOperation, ElementwiseBinaryDescriptor};
        let expected = [
            BinaryOperation::Add,
            BinaryOperation::Maximum,
            BinaryOperation::Minimum,
        ]
        .map(|operation| LayerDescriptor::from(ElementwiseBinaryDescriptor::new(operation)));
        assert_eq!(descriptors(&network), expected.each_ref());
    }

    #[test]
    fn each_activation_has_its_function_and_bounds() {
        use ActivationFunction as F;
        for (operator, function, a, b) in [
            (Op::Relu, F::ReLu, 0.0, 0.0),
            (Op::Relu6, F::BoundedReLu, 6.0, 0.0),
            (Op::ReluN1To1, F::BoundedReLu, 1.0, -1.0),
            (Op::Relu0To1, F::BoundedReLu, 1.0, 0.0),
            (Op::Logistic, F::Sigmoid, 0.0, 0.0),
            (Op::Tanh, F::TanH, 1.0, 1.0),
            (Op::Elu, F::Elu, 1.0, 0.0),
            (Op::HardSwish, F::HardSwish, 0.0, 0.0),
            (Op::Gelu, F::Gelu, 0.0, 0.0),
        ] {
            let network = lower(operator, &[float(&[3])], &[float(&[3])], None).unwrap();
            let expected = ActivationDescriptor::new(function, a, b);
            assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        }
    }

    #[test]
    fn the_slope_of_leaky_relu_is_an_option() {
        let options = write::LeakyReluOptions { alpha: 0.25 };
        let options = write::BuiltinOptions::LeakyReluOptions(Box::new(options));
        let network = lower(Op::LeakyRelu, &[float(&[3])], &[float(&[3])], options).unwrap();
        let expected = ActivationDescriptor::new(ActivationFunction::LeakyReLu, 0.25, 0.0);
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
    }

    #[test]
    fn the_approximation_of_gelu_is_a_function_of_its_own() {
        for (approximate, function) in [
            (false, ActivationFunction::Gelu),
            (true, ActivationFunction::GeluTanh),
        ] {
            let options = write::GeluOptions { approximate };
            let options = write::BuiltinOptions::GeluOptions(Box::new(options));
            let network = lower(Op::Gelu, &[float(&[3])], &[float(&[3])], options).unwrap();
            let expected = ActivationDescriptor::new(function, 0.0, 0.0);
            assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        }
    }

    #[test]
    fn a_fused_tangent_in_a_quantized_layer_is_refused() {
        let q = || typed(TensorType::Int8, &[3]).quantized(0.1, 0);
        let options = write::AddOptions {
            fused_activation_function: ActivationFunctionType::Tanh,
            ..write::AddOptions::default()
        };
        let options = write::BuiltinOptions::AddOptions(Box::new(options));
        let refused = lower(Op::Add, &[q(), q()], &[q()], options);
        assert_refused(refused, "operator 0 (ADD): the fused activation TANH");
    }
}
