//! Operations on elements and pairs of elements: arithmetic, comparisons, PRELU.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BinaryOperation, BitCastDescriptor,
    ComparisonDescriptor, ComparisonOperation, DataType, ElementwiseBinaryDescriptor,
    ElementwiseUnaryDescriptor, LogicalBinaryDescriptor, LogicalBinaryOperation, PreluDescriptor,
    Quantization, Shape, TensorInfo, UnaryOperation,
};
use armnn_network::{OutputDeclaration, TensorId};

use super::context::Context;
use super::problem::{Problem, Result};
use crate::schema_generated::{
    AddOptionsRef, DivOptionsRef, FakeQuantOptionsRef, MulOptionsRef, SubOptionsRef,
};

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
            // The output has the inputs' type, whatever the file says.
            let first = context.input(0)?;
            if BinaryOperation::$Operation == BinaryOperation::Mul {
                check_product(context, first)?;
            }
            let declaration = context.declaration_like(0, first)?;
            context.emit_activated_as(descriptor, &inputs, function, declaration)
        }
    )*};
}

activated! {
    add, Add, AddOptionsRef;
    sub, Sub, SubOptionsRef;
    mul, Mul, MulOptionsRef;
    div, Div, DivOptionsRef;
}

/// Refuses products of numbers of 16 bits in 8: TFLite has a rule of its own for those.
fn check_product(context: &Context<'_, '_, '_>, factor: TensorId) -> Result {
    let from = context.info(factor)?.data_type;
    match context.declaration(0)?.data_type {
        Some(into) if from.is_quantized() && into.is_quantized() && from != into => {
            Err(Problem::unsupported(format!(
                "products of {from} in {into}; convert the model so that factors and products have \
                 the same type"
            )))
        }
        _ => Ok(()),
    }
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
    let (input, mut factors) = (context.input(0)?, context.input(1)?);
    let (of_input, of_factors) = (context.info(input)?, context.info(factors)?);
    if of_input.data_type == DataType::QSymmS16
        && of_factors.data_type == DataType::QAsymmS8
        && let [scale] = *of_factors.quantization.scales()
    {
        // Those of 8 bits are the same numbers in 16, without their zero point.
        let wide = TensorInfo::new(DataType::QSymmS16, Shape::SCALAR)
            .quantized(Quantization::per_tensor(scale, 0));
        factors = context.quantized_step(factors, &wide)?;
    }
    context.emit(PreluDescriptor::new(), &[Some(input), Some(factors)])
}

pub(super) fn logical(
    context: &mut Context<'_, '_, '_>,
    operation: LogicalBinaryOperation,
) -> Result {
    let inputs = [Some(context.input(0)?), Some(context.input(1)?)];
    context.emit(LogicalBinaryDescriptor::new(operation), &inputs)
}

/// The sum of any number of tensors.
pub(super) fn add_n(context: &mut Context<'_, '_, '_>) -> Result {
    let inputs = context.inputs()?;
    let (&first, rest) = inputs
        .split_first()
        .ok_or_else(|| Problem::malformed("it adds nothing"))?;
    let Some((&last, between)) = rest.split_last() else {
        return context.emit_reshape_like(first);
    };
    let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
    let mut sum = first;
    let declaration = context.declaration(0)?;
    for &next in between {
        sum = context.step(0, add, &[Some(sum), Some(next)], declaration.clone())?;
    }
    context.emit(add, &[Some(sum), Some(last)])
}

/// The same bits as another type.
pub(super) fn bitcast(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    context.emit(BitCastDescriptor::new(), &[Some(input)])
}

/// Rounds real numbers to those that quantized ones of `num_bits` would stand for: a range that is
/// moved so that 0 is one of them.
///
/// (<https://www.tensorflow.org/api_docs/python/tf/quantization/fake_quant_with_min_max_args>)
pub(super) fn fake_quant(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<FakeQuantOptionsRef<'_>>()?;
    let (least, most) = (options.min()?, options.max()?);
    let bits = options.num_bits()?;
    let is_range = least < most && (most - least).is_finite();
    if !is_range || !(2..=16).contains(&bits) {
        return Err(Problem::malformed(format!(
            "it rounds numbers from {least} to {most} to {bits} bits"
        )));
    }
    let quant_min = if options.narrow_range()? { 1.0 } else { 0.0 };
    let quant_max = ((1u32 << bits) - 1) as f32;
    let scale = (most - least) / (quant_max - quant_min);
    let zero_point = (quant_min - least / scale)
        .clamp(quant_min, quant_max)
        .round();
    let least = (quant_min - zero_point) * scale;
    let most = (quant_max - zero_point) * scale;

    let input = context.input(0)?;
    let none = OutputDeclaration::default;
    let clamp = ActivationDescriptor::new(ActivationFunction::BoundedReLu, most, least);
    let linear = |a, b| ActivationDescriptor::new(ActivationFunction::Linear, a, b);
    let clamped = context.step(0, clamp, &[Some(input)], none())?;
    // Above 0, where rounding halves up is rounding down half more.
    let inverse = 1.0 / scale;
    let shifted = context.step(0, linear(1.0, -least), &[Some(clamped)], none())?;
    let steps = context.step(0, linear(inverse, 0.5), &[Some(shifted)], none())?;
    let floor = ElementwiseUnaryDescriptor::new(UnaryOperation::Floor);
    let whole = context.step(0, floor, &[Some(steps)], none())?;
    context.emit(linear(scale, least), &[Some(whole)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{ActivationFunctionType, BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        assert_refused, descriptors, float, load, lower, outputs, run, typed, types, zeros,
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

    /// The outputs are those of LiteRT 2.3's reference kernels.
    #[test]
    fn prelu_of_16_bits_has_factors_of_8() {
        let factors = typed(TensorType::Int8, &[3])
            .with_data([-20i8, 5, 127].map(|factor| factor as u8).to_vec())
            .quantized(0.01, 5);
        let numbers = |scale| typed(TensorType::Int16, &[2, 3]).quantized(scale, 0);
        let network = lower(
            Op::Prelu,
            &[numbers(0.0003), factors],
            &[numbers(0.0005)],
            None,
        )
        .unwrap();
        let info = network.tensor(network.inputs()[0]).info.clone();
        let x: Vec<u8> = [-30000i16, -1000, 500, -7, 20000, -2]
            .iter()
            .flat_map(|x| x.to_ne_bytes())
            .collect();
        let x = armnn_runtime::HostTensor::from_bytes(info, &x).unwrap();
        let found = load(network).run(&[x]).unwrap();
        let expected = [4500i16, 0, 300, 1, 12000, -1];
        assert_eq!(found[0].elements::<i16>().unwrap(), expected);
    }

    #[test]
    fn products_in_another_type_are_refused() {
        let of = |tensor_type| typed(tensor_type, &[3]).quantized(0.5, 0);
        let factors = [of(TensorType::Int16), of(TensorType::Int16)];
        let options = write::BuiltinOptions::MulOptions(Box::default());
        let refused = lower(Op::Mul, &factors, &[of(TensorType::Int8)], options);
        assert_refused(
            refused,
            "products of QSymmS16 in QAsymmS8; convert the model",
        );
    }

    /// The outputs are those of LiteRT 2.3's reference kernels.
    #[test]
    fn a_range_without_zero_is_moved_to_it() {
        let x = [-3.0, -0.4, 0.0, 0.3, 0.6, 1.2, 1.9, 7.0];
        for (min, max, num_bits, expected) in [
            (1.0, 2.5, 2, [0.0, 0.0, 0.0, 0.5, 0.5, 1.0, 1.5, 1.5]),
            (-4.0, -1.0, 2, [-3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            (0.5, 3.5, 4, [0.0, 0.0, 0.0, 0.4, 0.6, 1.2, 2.0, 3.0]),
        ] {
            let options = write::FakeQuantOptions {
                min,
                max,
                num_bits,
                narrow_range: false,
            };
            let options = write::BuiltinOptions::FakeQuantOptions(Box::new(options));
            let network = lower(Op::FakeQuant, &[float(&[8])], &[float(&[8])], options).unwrap();
            let found = run(network, &[(&[8], &x)]).remove(0).1;
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{found} {expected}");
            }
        }
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
