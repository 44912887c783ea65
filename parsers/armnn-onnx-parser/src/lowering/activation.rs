//! Functions of each element that are activations, or are made of them.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction as Activation, BinaryOperation as Binary,
    ComparisonDescriptor, ComparisonOperation, DataType, ElementwiseBinaryDescriptor,
    PreluDescriptor, SelectDescriptor,
};

use super::context::Context;
use super::problem::{Problem, Result};

pub(super) fn plain(c: &mut Context<'_, '_>, function: Activation, a: f32, b: f32) -> Result {
    c.attributes.ignore("consumed_inputs");
    let input = c.input(0)?;
    c.emit(ActivationDescriptor::new(function, a, b), &[input])
}

pub(super) fn with_alpha(c: &mut Context<'_, '_>, function: Activation, default: f32) -> Result {
    let alpha = c.attributes.float("alpha", default)?;
    plain(c, function, alpha, 0.0)
}

/// Of integers, the larger of each and 0.
pub(super) fn relu(c: &mut Context<'_, '_>) -> Result {
    let data_type = c.input_type(0)?;
    if data_type.is_float() || data_type.is_quantized() {
        return plain(c, Activation::ReLu, 0.0, 0.0);
    }
    let input = c.input(0)?;
    let zero = c.number(data_type, &[], &[0.0])?;
    c.emit(
        ElementwiseBinaryDescriptor::new(Binary::Maximum),
        &[input, zero],
    )
}

/// Bounds are attributes before version 11, and inputs since, which need not be constant. The upper
/// one holds where it is below the lower one.
pub(super) fn clip(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    if c.version < 11 {
        c.attributes.ignore("consumed_inputs");
        let max = c.attributes.float("max", f32::MAX)?;
        let min = c.attributes.float("min", f32::MIN)?;
        return plain(c, Activation::BoundedReLu, max, min);
    }
    let data_type = c.info(input)?.data_type;
    if matches!(data_type, DataType::Float32 | DataType::Float16)
        && let (Some(min), Some(max)) = (c.constant(1)?, c.constant(2)?)
    {
        let bound = |values: Vec<f64>| match values[..] {
            [value] => Ok(value as f32),
            _ => Err(Problem::malformed("a bound is no single number")),
        };
        let min = bound(min.known_reals(1, "the lower bound")?)?;
        let max = bound(max.known_reals(1, "the upper bound")?)?;
        if min <= max {
            return plain(c, Activation::BoundedReLu, max, min);
        }
    }
    let maximum = ElementwiseBinaryDescriptor::new(Binary::Maximum);
    let minimum = ElementwiseBinaryDescriptor::new(Binary::Minimum);
    match (c.optional_input(1)?, c.optional_input(2)?) {
        (None, None) => c.alias(0, 0),
        (Some(min), None) => c.emit(maximum, &[input, min]),
        (None, Some(max)) => c.emit(minimum, &[input, max]),
        (Some(min), Some(max)) => {
            let bounded = c.step(maximum, &[input, min])?;
            c.emit(minimum, &[bounded, max])
        }
    }
}

pub(super) fn gelu(c: &mut Context<'_, '_>) -> Result {
    match c.attributes.text("approximate", "none")? {
        "none" => plain(c, Activation::Gelu, 0.0, 0.0),
        "tanh" => plain(c, Activation::GeluTanh, 0.0, 0.0),
        other => Err(Problem::malformed(format!(
            "its approximate is \"{}\"",
            crate::error::Short(other)
        ))),
    }
}

pub(super) fn hard_sigmoid(c: &mut Context<'_, '_>) -> Result {
    let alpha = c.attributes.float("alpha", 0.2)?;
    let beta = c.attributes.float("beta", 0.5)?;
    plain(c, Activation::HardSigmoid, alpha, beta)
}

pub(super) fn selu(c: &mut Context<'_, '_>) -> Result {
    // The defaults are the format's.
    let alpha = c.attributes.float("alpha", 1.673_263_2)?;
    let gamma = c.attributes.float("gamma", 1.050_701)?;
    plain(c, Activation::Selu, alpha, gamma)
}

/// x + bias below -lambd, x - bias above lambd, else 0; of integers, in 32-bit floating point.
pub(super) fn shrink(c: &mut Context<'_, '_>) -> Result {
    let lambda = c.attributes.float("lambd", 0.5)?;
    let bias = c.attributes.float("bias", 0.0)?;
    let data_type = c.input_type(0)?;
    if data_type.is_float() {
        return plain(c, Activation::Shrink, lambda, bias);
    }
    let input = c.input(0)?;
    let x = c.cast(input, DataType::Float32)?;
    let shrunk = c.step(
        ActivationDescriptor::new(Activation::Shrink, lambda, bias),
        &[x],
    )?;
    let output = c.last().cast(shrunk, data_type)?;
    c.bind_tensor(0, output)
}

/// The first input's Swish, times the second.
pub(super) fn swiglu(c: &mut Context<'_, '_>) -> Result {
    let alpha = c.attributes.float("alpha", 1.0)?;
    let inputs = c.inputs()?;
    let (gate, value) = (inputs[0], inputs[1]);
    let swish = ActivationDescriptor::new(Activation::Swish, alpha, 0.0);
    let gate = c.step(swish, &[gate])?;
    c.emit(
        ElementwiseBinaryDescriptor::new(Binary::Mul),
        &[gate, value],
    )
}

/// 1 above the threshold, else 0, of ai.onnx.ml.
pub(super) fn binarizer(c: &mut Context<'_, '_>) -> Result {
    let threshold = c.attributes.float("threshold", 0.0)?;
    let x = c.input(0)?;
    let threshold = c.number_like(x, threshold.into())?;
    let above = c.step(
        ComparisonDescriptor::new(ComparisonOperation::Greater),
        &[x, threshold],
    )?;
    let (one, zero) = (c.number_like(x, 1.0)?, c.number_like(x, 0.0)?);
    c.emit(SelectDescriptor::new(), &[above, one, zero])
}

/// The slope broadcasts to the input. Before version 7 it is one number, or one for each channel.
pub(super) fn prelu(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let shape = c.shape(input)?;
    let slope_shape = c.input_shape(1)?;
    let slope = match slope_shape.dims() {
        &[channels] if c.version < 7 && channels != 1 && shape.rank() > 2 => {
            c.padded_input(1, 0, shape.rank() - 2)?
        }
        _ => c.input(1)?,
    };
    c.attributes.ignore("consumed_inputs");
    match c.info(input)?.data_type {
        DataType::Float32 | DataType::Float16 | DataType::BFloat16 => {
            c.emit(PreluDescriptor::new(), &[input, slope])
        }
        _ => {
            // Of integers and Float64, by the definition.
            let zero = c.number_like(input, 0.0)?;
            let less = ComparisonDescriptor::new(ComparisonOperation::Less);
            let below = c.step(less, &[input, zero])?;
            let product = c.binary(Binary::Mul, input, slope)?;
            c.emit(SelectDescriptor::new(), &[below, product, input])
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        ActivationDescriptor, ActivationFunction as Activation, BinaryOperation, LayerDescriptor,
    };

    use crate::model::ElementType;
    use crate::test_model::{
        TestModel, assert_refused, descriptors, float, floats, ints, single, text, zeros,
    };

    fn only(
        opset: i64,
        op_type: &str,
        attributes: &[crate::proto::AttributeProto],
    ) -> (u32, f32, f32) {
        let network = single(opset, op_type, &[2, 3], &[], attributes).unwrap();
        let [LayerDescriptor::Activation(d)] = descriptors(&network)[..] else {
            panic!("{:?}", descriptors(&network));
        };
        (d.function, d.a, d.b)
    }

    #[test]
    fn functions_have_their_parameters_and_the_formats_defaults() {
        for (op_type, attributes, function, a, b) in [
            ("Relu", vec![], Activation::ReLu, 0.0, 0.0),
            ("Sigmoid", vec![], Activation::Sigmoid, 0.0, 0.0),
            ("Tanh", vec![], Activation::TanH, 1.0, 1.0),
            ("Softplus", vec![], Activation::SoftReLu, 0.0, 0.0),
            ("HardSwish", vec![], Activation::HardSwish, 0.0, 0.0),
            ("Elu", vec![], Activation::Elu, 1.0, 0.0),
            ("Elu", vec![float("alpha", 0.5)], Activation::Elu, 0.5, 0.0),
            ("LeakyRelu", vec![], Activation::LeakyReLu, 0.01, 0.0),
        ] {
            assert_eq!(
                only(17, op_type, &attributes),
                (function.0, a, b),
                "{op_type}"
            );
        }
        assert_eq!(only(20, "Gelu", &[]), (Activation::Gelu.0, 0.0, 0.0));
        let tanh = only(20, "Gelu", &[text("approximate", "tanh")]);
        assert_eq!(tanh, (Activation::GeluTanh.0, 0.0, 0.0));
    }

    #[test]
    fn bounds_of_clip_are_attributes_first_and_inputs_later() {
        let old = only(6, "Clip", &[float("max", 6.0), float("min", 0.5)]);
        assert_eq!(old, (Activation::BoundedReLu.0, 6.0, 0.5));
        let (min, max) = (floats("min", &[], &[0.5]), floats("max", &[], &[6.0]));
        let network = single(13, "Clip", &[2], &[min, max.clone()], &[]).unwrap();
        let expected = ActivationDescriptor::new(Activation::BoundedReLu, 6.0, 0.5);
        assert_eq!(descriptors(&network), [expected.into()]);
        // The lower bound is left out.
        let absent = floats("", &[], &[]);
        let network = single(13, "Clip", &[2], &[absent, max], &[]).unwrap();
        let [LayerDescriptor::ElementwiseBinary(d)] = descriptors(&network)[..] else {
            panic!();
        };
        assert_eq!(d.operation(), BinaryOperation::Minimum);
    }

    #[test]
    fn integers_have_no_activation_but_a_maximum() {
        let network = TestModel::new(14)
            .typed_input("x", ElementType::INT32, &[3])
            .node("Relu", &["x"], &["y"], &[])
            .output("y")
            .parse()
            .unwrap();
        let [LayerDescriptor::ElementwiseBinary(d)] = descriptors(&network)[..] else {
            panic!();
        };
        assert_eq!(d.operation(), BinaryOperation::Maximum);
    }

    #[test]
    fn an_attribute_that_nobody_knows_is_refused() {
        let refused = single(17, "Relu", &[3], &[], &[float("slope", 1.0)]);
        assert_refused(refused, "its attribute \"slope\", which is not known here");
        let wrong = single(17, "Elu", &[3], &[], &[crate::test_model::int("alpha", 1)]);
        assert_refused(wrong, "its attribute alpha is of type 2, not 1");
        let too_many = single(17, "Relu", &[3], &[ints("a", &[1]), zeros("b", &[1])], &[]);
        assert_refused(too_many, "it has 3 inputs, but takes 1");
    }
}
