//! Normalizations by means and variances, and Dropout.

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation, DataType,
    ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor, InstanceNormalizationDescriptor,
    LayerNormalizationDescriptor, NormalizationAlgorithmChannel, NormalizationDescriptor,
    ReduceOperation, SelectDescriptor, UnaryOperation,
};
use armnn_network::{ParameterRule, TensorId};

use super::constant::Constant;
use super::context::{Context, axis, small, sorted_axes};
use super::problem::{Problem, Result};

/// How many channels are folded: more than any model has.
const MOST_CHANNELS: usize = 1 << 24;

/// scale (x - mean) / sqrt(variance + epsilon) + bias, for each channel.
///
/// Constants are folded into a factor and an addend, computed in 64 bits and rounded once.
pub(super) fn batch_normalization(c: &mut Context<'_, '_>) -> Result {
    if check_inference(c)? {
        return batch_normalization_training(c);
    }
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
        let fits = match parameter.dims() {
            &[count] => count == channels || count < 0 || channels < 0,
            _ => false,
        };
        if !fits {
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
    let behind = shape.rank() - 2;
    let mut dims = vec![1; behind + 1];
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
    let scale = c.padded_input(1, 0, behind)?;
    let bias = c.padded_input(2, 0, behind)?;
    let mean = c.padded_input(3, 0, behind)?;
    let variance = c.padded_input(4, 0, behind)?;
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

/// Of the batch itself; the running means and variances are moved towards its own.
fn batch_normalization_training(c: &mut Context<'_, '_>) -> Result {
    let epsilon = c.attributes.float("epsilon", 1e-5)?;
    let momentum = c.attributes.float("momentum", 0.9)?;
    let input = c.input(0)?;
    let rank = c.shape(input)?.rank();
    if rank < 2 {
        return Err(Problem::malformed(format!(
            "its input has {rank} dimensions"
        )));
    }
    let axes: Vec<usize> = (0..rank).filter(|&axis| axis != 1).collect();
    let mean = c.reduce(ReduceOperation::Mean, input, &axes, true)?;
    let centred = c.binary(Binary::Sub, input, mean)?;
    let squares = c.unary(UnaryOperation::Square, centred)?;
    let variance = c.reduce(ReduceOperation::Mean, squares, &axes, true)?;
    let more = c.number_like(variance, epsilon.into())?;
    let sum = c.binary(Binary::Add, variance, more)?;
    let inverse = c.unary(UnaryOperation::Rsqrt, sum)?;
    let normal = c.binary(Binary::Mul, centred, inverse)?;
    let scale = c.padded_input(1, 0, rank - 2)?;
    let bias = c.padded_input(2, 0, rank - 2)?;
    let product = c.binary(Binary::Mul, normal, scale)?;
    let output = c.last().binary(Binary::Add, product, bias)?;
    let mut outputs = vec![output];
    for (position, found) in [(3, mean), (4, variance)] {
        let found = c.merge_step(found, &[(0..rank).collect()])?;
        let so_far = c.input(position)?;
        let kept = c.number_like(so_far, momentum.into())?;
        let kept = c.binary(Binary::Mul, so_far, kept)?;
        let new = c.number_like(found, 1.0 - f64::from(momentum))?;
        let new = c.binary(Binary::Mul, found, new)?;
        let new_type = c.info(kept)?.data_type;
        let new = c.cast(new, new_type)?;
        outputs.push(c.binary(Binary::Add, kept, new)?);
    }
    c.bind_all(&outputs)
}

/// Whether it is training. Refuses training as it was before version 14, and statistics of each
/// element by itself.
fn check_inference(c: &Context<'_, '_>) -> Result<bool> {
    let training = || {
        Err(Problem::unsupported(
            "normalization as in training; export the model for inference",
        ))
    };
    let is_training = c.version >= 14 && c.attributes.flag("training_mode", false)?;
    if c.version < 7 && !c.attributes.flag("is_test", false)? {
        return training();
    }
    if !is_training && (1..c.output_count()).any(|position| c.has_output(position)) {
        return training();
    }
    if c.version < 9 && !c.attributes.flag("spatial", true)? {
        return Err(Problem::unsupported(
            "normalization of each element by itself (spatial = 0)",
        ));
    }
    Ok(is_training)
}

/// scale (x - mean) / sqrt(variance + epsilon) + bias, over the dimensions from `axis` on.
///
/// ONNX has it since version 17. ONNX Runtime's optimizer writes it into models of any version.
pub(super) fn layer_normalization(c: &mut Context<'_, '_>) -> Result {
    let epsilon = c.attributes.float("epsilon", 1e-5)?;
    let precision = stash_type(c)?;
    let input = c.input(0)?;
    let rank = c.shape(input)?.rank();
    let from = axis(c.attributes.int("axis", -1)?, rank)?;
    let descriptor = LayerNormalizationDescriptor::new(epsilon, small(from, "its axis")?);
    let inputs = [Some(input), Some(c.input(1)?), c.optional_input(2)?];
    let output = c.last().step_all(descriptor, &inputs, &[])?;
    let mut outputs: Vec<TensorId> = output;
    if c.has_output(1) || c.has_output(2) {
        let axes: Vec<usize> = (from..rank).collect();
        let x = c.cast(input, precision)?;
        let mean = c.reduce(ReduceOperation::Mean, x, &axes, true)?;
        let centred = c.binary(Binary::Sub, x, mean)?;
        let squares = c.unary(UnaryOperation::Square, centred)?;
        let variance = c.reduce(ReduceOperation::Mean, squares, &axes, true)?;
        let more = c.number_like(variance, epsilon.into())?;
        let sum = c.binary(Binary::Add, variance, more)?;
        let inverse = c.unary(UnaryOperation::Rsqrt, sum)?;
        outputs.extend([mean, inverse]);
    }
    c.bind_all(&outputs)
}

/// The type that statistics are computed in.
fn stash_type(c: &Context<'_, '_>) -> Result<DataType> {
    match c.attributes.int("stash_type", 1)? {
        1 => Ok(DataType::Float32),
        other => Err(Problem::unsupported(format!(
            "statistics of type {other} (stash_type); FLOAT is supported"
        ))),
    }
}

/// scale x / sqrt(mean of squares + epsilon), over the dimensions from `axis` on.
pub(super) fn rms_normalization(c: &mut Context<'_, '_>) -> Result {
    let epsilon = c.attributes.float("epsilon", 1e-5)?;
    stash_type(c)?;
    let input = c.input(0)?;
    let from = axis(c.attributes.int("axis", -1)?, c.shape(input)?.rank())?;
    let descriptor = LayerNormalizationDescriptor {
        subtract_mean: 0,
        ..LayerNormalizationDescriptor::new(epsilon, small(from, "its axis")?)
    };
    let scale = c.input(1)?;
    c.emit(descriptor, &[input, scale])
}

/// What ONNX Runtime's optimizer calls RMSNormalization, in models of any version.
pub(super) fn simplified_layer_normalization(c: &mut Context<'_, '_>) -> Result {
    rms_normalization(c)
}

pub(super) fn instance_normalization(c: &mut Context<'_, '_>) -> Result {
    let epsilon = c.attributes.float("epsilon", 1e-5)?;
    c.attributes.ignore("consumed_inputs");
    let inputs = c.inputs()?;
    c.emit(InstanceNormalizationDescriptor::new(epsilon, 1), &inputs)
}

/// Before version 21 there is a scale for each group, and one for each channel since.
pub(super) fn group_normalization(c: &mut Context<'_, '_>) -> Result {
    let epsilon = c.attributes.float("epsilon", 1e-5)?;
    let count = c.attributes.optional_int("num_groups")?;
    let groups = count
        .and_then(|count| u32::try_from(count).ok())
        .filter(|&count| count > 0)
        .ok_or_else(|| Problem::malformed("it has no num_groups"))?;
    if c.version >= 21 {
        stash_type(c)?;
    }
    let mut inputs = c.inputs()?;
    if c.version < 21 {
        let shape = c.shape(inputs[0])?;
        let channels = shape.dims().get(1).copied().unwrap_or(0);
        if channels <= 0 || channels % i64::from(groups) != 0 {
            return Err(Problem::unsupported(format!(
                "an input {shape} in {groups} groups of channels"
            )));
        }
        for id in &mut inputs[1..] {
            let column = c.merge_step(*id, &[vec![0], vec![]])?;
            let repeats = c.integers(&[1, channels / i64::from(groups)])?;
            let all = c.step_deferred(ParameterRule::Tile, &[column], &[Some(repeats)])?;
            *id = c.merge_step(all, &[vec![0, 1]])?;
        }
    }
    let descriptor = InstanceNormalizationDescriptor {
        groups,
        ..InstanceNormalizationDescriptor::new(epsilon, 1)
    };
    c.emit(descriptor, &inputs)
}

/// x through the sum of absolute values, or the root of the sum of squares, along an axis; 0 where
/// that is 0.
pub(super) fn lp_normalization(c: &mut Context<'_, '_>) -> Result {
    let operation = match c.attributes.int("p", 2)? {
        1 => ReduceOperation::L1,
        2 => ReduceOperation::L2,
        other => return Err(Problem::malformed(format!("its p is {other}"))),
    };
    let input = c.input(0)?;
    let along = axis(c.attributes.int("axis", -1)?, c.shape(input)?.rank())?;
    let norm = c.reduce(operation, input, &[along], true)?;
    let zero = c.number_like(norm, 0.0)?;
    let one = c.number_like(norm, 1.0)?;
    let is_zero = c.step(
        ComparisonDescriptor::new(ComparisonOperation::Equal),
        &[norm, zero],
    )?;
    let divisor = c.step(SelectDescriptor::new(), &[is_zero, one, norm])?;
    let output = c.last().binary(Binary::Div, input, divisor)?;
    c.bind_tensor(0, output)
}

/// (x - mean) / (standard deviation + 1e-9), along some axes.
pub(super) fn mean_variance_normalization(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let rank = c.shape(input)?.rank();
    let axes = sorted_axes(c.attributes.ints("axes")?.unwrap_or(&[0, 2, 3]), rank)?;
    let mean = c.reduce(ReduceOperation::Mean, input, &axes, true)?;
    let centred = c.binary(Binary::Sub, input, mean)?;
    let squares = c.unary(UnaryOperation::Square, centred)?;
    let variance = c.reduce(ReduceOperation::Mean, squares, &axes, true)?;
    let deviation = c.unary(UnaryOperation::Sqrt, variance)?;
    let more = c.number_like(deviation, 1e-9)?;
    let divisor = c.binary(Binary::Add, deviation, more)?;
    let output = c.last().binary(Binary::Div, centred, divisor)?;
    c.bind_tensor(0, output)
}

/// x through (bias + alpha / size times the sum of squares of channels around it)^beta.
pub(super) fn local_response(c: &mut Context<'_, '_>) -> Result {
    let size = c.attributes.optional_int("size")?;
    let norm_size = size
        .and_then(|size| u32::try_from(size).ok())
        .filter(|&size| size > 0)
        .ok_or_else(|| Problem::malformed("it has no size"))?;
    let descriptor = NormalizationDescriptor {
        channel_type: NormalizationAlgorithmChannel::Across.0,
        norm_size,
        alpha: c.attributes.float("alpha", 1e-4)? / norm_size as f32,
        beta: c.attributes.float("beta", 0.75)?,
        k: c.attributes.float("bias", 1.0)?,
        axis: 1,
    };
    let input = c.input(0)?;
    c.emit(descriptor, &[input])
}

/// Nothing, in inference, and in training where no element is dropped.
pub(super) fn dropout(c: &mut Context<'_, '_>) -> Result {
    let training = || {
        Err(Problem::unsupported(
            "dropout as in training; export the model for inference",
        ))
    };
    for name in ["seed", "consumed_inputs"] {
        c.attributes.ignore(name);
    }
    if c.version < 12 {
        c.attributes.ignore("ratio");
    }
    if c.version < 7 && !c.attributes.flag("is_test", false)? {
        return training();
    }
    if c.version >= 12 && c.has_input(2) {
        let mode = match c.constant(2)? {
            Some(mode) => mode.known_integers(1, "training_mode")?,
            None => return super::random::training_dropout(c),
        };
        if mode != [0] {
            return super::random::training_dropout(c);
        }
    }
    if c.has_output(1) {
        // Nothing is dropped. Before version 10 the mask was of the input's type.
        let input = c.input(0)?;
        let mask_type = match c.version {
            10.. => DataType::Boolean,
            _ => c.info(input)?.data_type,
        };
        let one = c.number(mask_type, &[], &[1.0])?;
        let rank = c.shape(input)?.rank();
        let dims = c.shape_step(input, 0, rank)?;
        let mask = c.step_deferred(ParameterRule::Fill, &[one], &[Some(dims)])?;
        c.bind_tensor(1, mask)?;
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
        assert_refused(with(6, &[]), "as in training");
        assert!(with(6, &[int("is_test", 1)]).is_ok());
        assert_refused(with(7, &[int("spatial", 0)]), "spatial = 0");
        assert_refused(
            single(6, "Dropout", &[3], &[], &[]),
            "dropout as in training",
        );
    }

    #[test]
    fn dropout_is_nothing_and_its_mask_is_true() {
        let model = || {
            TestModel::new(7)
                .input("x", &[3])
                .node("Dropout", &["x"], &["d", "mask"], &[float("ratio", 0.3)])
                .node("Relu", &["d"], &["y"], &[])
                .output("y")
        };
        assert_eq!(types(&model().parse().unwrap()), [L::Activation]);
        let with_mask = model().output("mask").parse().unwrap();
        assert_eq!(types(&with_mask), [L::Fill, L::Activation]);
    }
}
