//! BatchNormalization and Dropout, as they are in inference.

use armnn_backend_api::{
    BinaryOperation as Binary, ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor,
    UnaryOperation,
};

use super::constant::Constant;
use super::context::Context;
use super::problem::{Problem, Result};

/// How many channels are folded: more than any model has.
const MOST_CHANNELS: usize = 1 << 24;

/// scale (x - mean) / sqrt(variance + epsilon) + bias, for each channel.
///
/// Constants are folded into a factor and an addend, computed in 64 bits and rounded once.
pub(super) fn batch_normalization(c: &mut Context<'_, '_>) -> Result {
    check_inference(c)?;
    let epsilon = f64::from(c.attributes.float("epsilon", 1e-5)?);
    // Only training looks at it.
    c.attributes.ignore("momentum");
    c.attributes.ignore("consumed_inputs");
    let input = c.input(0)?;
    let (shape, data_type) = (c.shape(input)?, c.info(input)?.data_type);
    let Some(&channels) = shape.dims().get(1) else {
        return Err(Problem::malformed(format!("its input is {shape}")));
    };
    let mut folded = Vec::new();
    for position in 1..5 {
        let parameter = c.input_shape(position)?;
        if parameter.rank() != 1 || (channels >= 0 && parameter.dims() != [channels]) {
            return Err(Problem::malformed(format!(
                "its input is {shape}, but input {position} is {parameter}"
            )));
        }
        if let Some(constant) = c.constant(position)? {
            c.pay_for(constant.count().saturating_mul(size_of::<f64>()))?;
            folded.push(constant.known_reals(MOST_CHANNELS, "a parameter")?);
        }
    }
    let count = c.input_shape(1)?.dims()[0];
    let mut dims = vec![1; shape.rank() - 1];
    dims[0] = count;
    let multiply = ElementwiseBinaryDescriptor::new(Binary::Mul);
    let add = ElementwiseBinaryDescriptor::new(Binary::Add);
    if let [scale, bias, mean, variance] = &folded[..]
        && [bias.len(), mean.len(), variance.len()] == [scale.len(); 3]
    {
        let (mut factor, mut addend) = (Vec::new(), Vec::new());
        for channel in 0..scale.len() {
            let a = scale[channel] / (variance[channel] + epsilon).sqrt();
            factor.push(a);
            addend.push(bias[channel] - mean[channel] * a);
        }
        let factor = c.add_constant(&Constant::reals(data_type, &dims, &factor)?)?;
        let addend = c.add_constant(&Constant::reals(data_type, &dims, &addend)?)?;
        let product = c.step(multiply, &[input, factor])?;
        return c.emit(add, &[product, addend]);
    }
    let scale = c.reshaped_input(1, &dims)?;
    let bias = c.reshaped_input(2, &dims)?;
    let mean = c.reshaped_input(3, &dims)?;
    let variance = c.reshaped_input(4, &dims)?;
    let variance_type = c.info(variance)?.data_type;
    let epsilon = c.number(variance_type, &[], &[epsilon])?;
    let variance = c.step(add, &[variance, epsilon])?;
    let deviation = c.step(
        ElementwiseUnaryDescriptor::new(UnaryOperation::Rsqrt),
        &[variance],
    )?;
    let factor = c.step(multiply, &[deviation, scale])?;
    let centred = c.step(
        ElementwiseBinaryDescriptor::new(Binary::Sub),
        &[input, mean],
    )?;
    let product = c.step(multiply, &[centred, factor])?;
    c.emit(add, &[product, bias])
}

/// Refuses training, and statistics of each element by itself.
fn check_inference(c: &Context<'_, '_>) -> Result {
    let training = || {
        Err(Problem::unsupported(
            "normalization as in training; export the model for inference",
        ))
    };
    match c.version {
        ..7 if !c.attributes.flag("is_test", false)? => return training(),
        14.. if c.attributes.flag("training_mode", false)? => return training(),
        _ => {}
    }
    if (1..c.output_count()).any(|position| c.has_output(position)) {
        return training();
    }
    if c.version < 9 && !c.attributes.flag("spatial", true)? {
        return Err(Problem::unsupported(
            "normalization of each element by itself (spatial = 0)",
        ));
    }
    Ok(())
}

/// Nothing, in inference.
pub(super) fn dropout(c: &mut Context<'_, '_>) -> Result {
    let training = || {
        Err(Problem::unsupported(
            "dropout as in training; export the model for inference",
        ))
    };
    for name in ["ratio", "seed", "consumed_inputs"] {
        c.attributes.ignore(name);
    }
    if c.version < 7 && !c.attributes.flag("is_test", false)? {
        return training();
    }
    if c.version >= 12
        && let Some(mode) = c.optional_constant(2, "training_mode")?
        && mode.known_integers(1, "training_mode")? != [0]
    {
        return training();
    }
    c.alias(0, 0)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerType as L;

    use crate::test_model::{TestModel, assert_refused, float, floats, int, single, types};

    fn parameters() -> [crate::proto::TensorProto; 4] {
        [
            floats("scale", &[2], &[2.0, 3.0]),
            floats("bias", &[2], &[1.0, -1.0]),
            floats("mean", &[2], &[0.5, 4.0]),
            floats("variance", &[2], &[3.0, 15.0]),
        ]
    }

    /// With epsilon 1: 2 / sqrt(4) = 1, 1 - 0.5 * 1 = 0.5; 3 / sqrt(16) = 0.75,
    /// -1 - 4 * 0.75 = -4.
    #[test]
    fn constants_are_folded_into_a_factor_and_an_addend() {
        let attributes = [float("epsilon", 1.0)];
        let network = single(
            9,
            "BatchNormalization",
            &[1, 2, 5, 5],
            &parameters(),
            &attributes,
        )
        .unwrap();
        assert_eq!(types(&network), [L::ElementwiseBinary; 2]);
        let constants: Vec<Vec<f32>> = network
            .tensors()
            .iter()
            .filter_map(|tensor| {
                let data = tensor.constant()?;
                assert_eq!(tensor.info.shape.dims(), [2, 1, 1]);
                let values = data.as_chunks().0.iter();
                Some(values.map(|&bytes| f32::from_le_bytes(bytes)).collect())
            })
            .collect();
        assert_eq!(constants, [[1.0, 0.75], [0.5, -4.0]]);
    }

    #[test]
    fn computed_parameters_are_layers() {
        let network = TestModel::new(15)
            .input("x", &[1, 2, 5])
            .input("scale", &[2])
            .input("bias", &[2])
            .input("mean", &[2])
            .input("variance", &[2])
            .node(
                "BatchNormalization",
                &["x", "scale", "bias", "mean", "variance"],
                &["y"],
                &[],
            )
            .output("y")
            .parse()
            .unwrap();
        assert!(types(&network).len() > 2);
    }

    #[test]
    fn training_is_refused() {
        let with = |opset, attributes: &[_]| {
            single(
                opset,
                "BatchNormalization",
                &[1, 2, 5],
                &parameters(),
                attributes,
            )
        };
        assert_refused(with(14, &[int("training_mode", 1)]), "as in training");
        assert_refused(with(6, &[]), "as in training");
        assert!(with(6, &[int("is_test", 1)]).is_ok());
        assert_refused(with(7, &[int("spatial", 0)]), "spatial = 0");
        assert_refused(
            single(6, "Dropout", &[3], &[], &[]),
            "dropout as in training",
        );
    }

    #[test]
    fn dropout_is_nothing_and_its_mask_is_refused_where_it_is_read() {
        let model = || {
            TestModel::new(7)
                .input("x", &[3])
                .node("Dropout", &["x"], &["d", "mask"], &[float("ratio", 0.3)])
                .node("Relu", &["d"], &["y"], &[])
                .output("y")
        };
        assert_eq!(types(&model().parse().unwrap()), [L::Activation]);
        assert_refused(model().output("mask").parse(), "its output 1, \"mask\"");
    }
}
