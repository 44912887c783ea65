//! Operations on elements and pairs of elements: arithmetic, comparisons, PRELU.

use armnn_backend_api::{
    BinaryOperation, ComparisonDescriptor, ComparisonOperation, ElementwiseBinaryDescriptor,
    ElementwiseUnaryDescriptor, PreluDescriptor, UnaryOperation,
};

use super::context::Context;
use super::problem::Result;
use crate::schema_generated::{AddOptionsRef, DivOptionsRef, MulOptionsRef, SubOptionsRef};

/// Operators whose table of options is a fused activation alone, or beside `pot_scale_int16`, which
/// is not looked at: it tells kernels of a shorter way where scales are powers of two, which follows
/// from the scales.
macro_rules! activated {
    ($($function:ident, $Operation:ident, $Options:ident;)*) => {$(
        pub(super) fn $function(context: &mut Context<'_, '_, '_>) -> Result {
            let options = context.options::<$Options<'_>>()?;
            let function = options.fused_activation_function()?;
            let descriptor = ElementwiseBinaryDescriptor::new(BinaryOperation::$Operation);
            let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
            context.emit_activated(descriptor, &inputs, function)
        }
    )*};
}

activated! {
    add, Add, AddOptionsRef;
    sub, Sub, SubOptionsRef;
    mul, Mul, MulOptionsRef;
    div, Div, DivOptionsRef;
}

pub(super) fn binary(context: &mut Context<'_, '_, '_>, operation: BinaryOperation) -> Result {
    let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
    context.emit(ElementwiseBinaryDescriptor::new(operation), &inputs)
}

pub(super) fn comparison(
    context: &mut Context<'_, '_, '_>,
    operation: ComparisonOperation,
) -> Result {
    let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
    context.emit(ComparisonDescriptor::new(operation), &inputs)
}

pub(super) fn unary(context: &mut Context<'_, '_, '_>, operation: UnaryOperation) -> Result {
    let input = context.input(0)?;
    context.emit(ElementwiseUnaryDescriptor::new(operation), &[Some(input)])
}

pub(super) fn prelu(context: &mut Context<'_, '_, '_>) -> Result {
    let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
    context.emit(PreluDescriptor::new(), &inputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{ActivationFunctionType, BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        assert_refused, descriptors, float, lower, outputs, typed, types, zeros,
    };
    use armnn_backend_api::{LayerDescriptor, LayerType};

    #[test]
    fn arithmetic_broadcasts() {
        use BinaryOperation as B;
        for (operator, operation) in [
            (Op::Add, B::Add),
            (Op::Sub, B::Sub),
            (Op::Mul, B::Mul),
            (Op::Div, B::Div),
            (Op::Maximum, B::Maximum),
            (Op::Minimum, B::Minimum),
            (Op::SquaredDifference, B::SqDiff),
            (Op::Pow, B::Power),
        ] {
            let inputs = [float(&[2, 1, 3]), float(&[4, 1])];
            let network = lower(operator, &inputs, &[float(&[2, 4, 3])], None).unwrap();
            let expected = ElementwiseBinaryDescriptor::new(operation);
            assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        }
    }

    #[test]
    fn each_arithmetic_operator_reads_its_own_fused_activation() {
        let fused_activation_function = ActivationFunctionType::Relu;
        let add = write::AddOptions {
            fused_activation_function,
            ..write::AddOptions::default()
        };
        let sub = write::SubOptions {
            fused_activation_function,
            ..write::SubOptions::default()
        };
        let mul = write::MulOptions {
            fused_activation_function,
        };
        let div = write::DivOptions {
            fused_activation_function,
        };
        for (operator, options) in [
            (Op::Add, write::BuiltinOptions::AddOptions(Box::new(add))),
            (Op::Sub, write::BuiltinOptions::SubOptions(Box::new(sub))),
            (Op::Mul, write::BuiltinOptions::MulOptions(Box::new(mul))),
            (Op::Div, write::BuiltinOptions::DivOptions(Box::new(div))),
        ] {
            let inputs = [float(&[3]), zeros(&[1])];
            let network = lower(operator, &inputs, &[float(&[3])], options).unwrap();
            let expected = [LayerType::ElementwiseBinary, LayerType::Activation];
            assert_eq!(types(&network), expected);
        }
    }

    #[test]
    fn options_of_another_operator_are_damage() {
        let options = write::BuiltinOptions::MulOptions(Box::default());
        let refused = lower(
            Op::Add,
            &[float(&[3]), float(&[3])],
            &[float(&[3])],
            options,
        );
        assert_refused(refused, "operator 0 (ADD): its options are MulOptions");
    }

    #[test]
    fn comparisons_give_booleans() {
        use ComparisonOperation as C;
        for (operator, operation) in [
            (Op::Equal, C::Equal),
            (Op::NotEqual, C::NotEqual),
            (Op::Greater, C::Greater),
            (Op::GreaterEqual, C::GreaterOrEqual),
            (Op::Less, C::Less),
            (Op::LessEqual, C::LessOrEqual),
        ] {
            let output = typed(TensorType::Bool, &[3]);
            let network = lower(operator, &[float(&[3]), float(&[1])], &[output], None).unwrap();
            let expected = ComparisonDescriptor::new(operation);
            assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
            assert_eq!(outputs(&network), ["Boolean[3]"]);
        }
    }

    #[test]
    fn functions_of_one_element() {
        use UnaryOperation as U;
        for (operator, operation) in [
            (Op::Abs, U::Abs),
            (Op::Exp, U::Exp),
            (Op::Sqrt, U::Sqrt),
            (Op::Rsqrt, U::Rsqrt),
            (Op::Neg, U::Neg),
            (Op::Log, U::Log),
            (Op::Sin, U::Sin),
            (Op::Ceil, U::Ceil),
            (Op::Floor, U::Floor),
            (Op::Square, U::Square),
        ] {
            let network = lower(operator, &[float(&[3])], &[float(&[3])], None).unwrap();
            let expected = ElementwiseUnaryDescriptor::new(operation);
            assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        }
        let boolean = || typed(TensorType::Bool, &[3]);
        let network = lower(Op::LogicalNot, &[boolean()], &[boolean()], None).unwrap();
        let expected = ElementwiseUnaryDescriptor::new(UnaryOperation::LogicalNot);
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
    }

    #[test]
    fn prelu_has_a_factor_for_each_channel() {
        let inputs = [float(&[1, 2, 2, 3]), zeros(&[1, 1, 3])];
        let network = lower(Op::Prelu, &inputs, &[float(&[1, 2, 2, 3])], None).unwrap();
        assert_eq!(types(&network), [LayerType::Prelu]);
    }

    #[test]
    fn a_type_that_a_layer_does_not_take_is_refused_with_its_place() {
        let int = || typed(TensorType::Int32, &[3]);
        let refused = lower(Op::Log, &[int()], &[int()], None);
        assert_refused(
            refused,
            "subgraph 0, operator 0 (LOG): layer 't1' (ElementwiseUnary)",
        );
    }

    #[test]
    fn a_wrong_number_of_inputs_is_damage() {
        let refused = lower(Op::Add, &[float(&[3])], &[float(&[3])], None);
        assert_refused(refused, "operator 0 (ADD): it has 1 inputs, but takes 2");
        let refused = lower(Op::Abs, &[float(&[3])], &[float(&[3]), float(&[3])], None);
        assert_refused(refused, "operator 0 (ABS): it has 2 outputs, but writes 1");
    }
}
