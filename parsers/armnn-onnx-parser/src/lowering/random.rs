//! Random numbers. The runtime makes those that are evenly or normally distributed; the rest is
//! layers.

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation, CumulativeDescriptor,
    CumulativeOperation, DataType, ReduceOperation, SoftmaxDescriptor,
};
use armnn_network::{Distribution, ParameterRule, RandomOperation, RuntimeOperation, TensorId};

use super::context::Context;
use super::generation::data_type_of;
use super::problem::{Problem, Result};
use super::tensor_info::shape;

pub(super) fn normal(c: &mut Context<'_, '_>) -> Result {
    let distribution = normal_distribution(c)?;
    of_attributes(c, distribution)
}

pub(super) fn normal_like(c: &mut Context<'_, '_>) -> Result {
    let distribution = normal_distribution(c)?;
    like_input(c, distribution)
}

pub(super) fn uniform(c: &mut Context<'_, '_>) -> Result {
    let distribution = uniform_distribution(c)?;
    of_attributes(c, distribution)
}

pub(super) fn uniform_like(c: &mut Context<'_, '_>) -> Result {
    let distribution = uniform_distribution(c)?;
    like_input(c, distribution)
}

fn normal_distribution(c: &mut Context<'_, '_>) -> Result<Distribution> {
    Ok(Distribution::Normal {
        mean: c.attributes.float("mean", 0.0)?.into(),
        scale: c.attributes.float("scale", 1.0)?.into(),
    })
}

fn uniform_distribution(c: &mut Context<'_, '_>) -> Result<Distribution> {
    Ok(Distribution::Uniform {
        low: c.attributes.float("low", 0.0)?.into(),
        high: c.attributes.float("high", 1.0)?.into(),
    })
}

/// From 0 to below 1.
const UNIT: Distribution = Distribution::Uniform {
    low: 0.0,
    high: 1.0,
};

/// Numbers of the type and the shape that attributes say.
fn of_attributes(c: &mut Context<'_, '_>, distribution: Distribution) -> Result {
    let to = data_type_of(c.attributes.int("dtype", 1)?)?;
    let dims = c.attributes.ints("shape")?;
    let shape = shape(dims.ok_or_else(|| Problem::malformed("it has no shape"))?)?;
    if !shape.is_known() {
        return Err(Problem::malformed(format!("its shape is {shape}")));
    }
    let operation = RandomOperation {
        distribution,
        data_type: made_type(to),
        shape: Some(shape),
        seed: seed(c)?,
    };
    let numbers = c.step_runtime(RuntimeOperation::Random(operation), &[])?;
    as_type(c, numbers, to)
}

/// Numbers of the shape of the input, and of its type unless another one is said.
fn like_input(c: &mut Context<'_, '_>, distribution: Distribution) -> Result {
    let like = c.input(0)?;
    let to = match c.attributes.optional_int("dtype")? {
        Some(number) => data_type_of(number)?,
        None => c.info(like)?.data_type,
    };
    let seed = seed(c)?;
    let numbers = numbers_like(c, like, distribution, made_type(to), seed)?;
    as_type(c, numbers, to)
}

fn numbers_like(
    c: &mut Context<'_, '_>,
    like: TensorId,
    distribution: Distribution,
    data_type: DataType,
    seed: Option<u32>,
) -> Result<TensorId> {
    let operation = RandomOperation {
        distribution,
        data_type,
        shape: None,
        seed,
    };
    c.step_runtime(RuntimeOperation::Random(operation), &[Some(like)])
}

/// In which type numbers are made that become ones of a type.
fn made_type(to: DataType) -> DataType {
    match to {
        DataType::Float64 => DataType::Float64,
        _ => DataType::Float32,
    }
}

fn as_type(c: &mut Context<'_, '_>, numbers: TensorId, to: DataType) -> Result {
    if !to.is_float() {
        return Err(Problem::malformed(format!("random numbers of type {to}")));
    }
    let output = match c.info(numbers)?.data_type == to {
        true => numbers,
        false => c.last().cast(numbers, to)?,
    };
    c.bind_tensor(0, output)
}

/// The seed, a real number of which the reference implementation takes the whole part.
fn seed(c: &mut Context<'_, '_>) -> Result<Option<u32>> {
    let seed = c.attributes.optional_float("seed")?;
    // The lowest 32 bits are what the generator takes.
    Ok(seed.map(|seed| seed as i64 as u32))
}

/// 1 with the probability that the input is, else 0.
pub(super) fn bernoulli(c: &mut Context<'_, '_>) -> Result {
    let probability = c.input(0)?;
    let from = c.info(probability)?.data_type;
    let to = match c.attributes.optional_int("dtype")? {
        Some(number) => data_type_of(number)?,
        None => from,
    };
    let seed = seed(c)?;
    let numbers = numbers_like(c, probability, UNIT, made_type(from), seed)?;
    let probability = c.cast(probability, made_type(from))?;
    let less = ComparisonDescriptor::new(ComparisonOperation::Less);
    let below = c.step(less, &[numbers, probability])?;
    let output = c.last().cast(below, to)?;
    c.bind_tensor(0, output)
}

/// Numbers of classes, drawn by the logarithms of their probabilities, which need not add up to 1.
///
/// A class is drawn where a random number lies below the sum of the probabilities up to its own, and
/// not below that of the class before.
pub(super) fn multinomial(c: &mut Context<'_, '_>) -> Result {
    let to = data_type_of(c.attributes.int("dtype", 6)?)?;
    let count = c.attributes.int("sample_size", 1)?;
    let seed = seed(c)?;
    let logits = c.input(0)?;
    let dims = c.shape(logits)?;
    let &[_, classes] = dims.dims() else {
        return Err(Problem::malformed(format!("its input is {dims}")));
    };
    if count < 1 || classes < 1 {
        let problem = format!("{count} samples of {classes} classes");
        return Err(Problem::unsupported(problem));
    }
    let logits = c.cast(logits, DataType::Float32)?;
    let softmax = SoftmaxDescriptor { beta: 1.0, axis: 1 };
    let probabilities = c.step(softmax, &[logits])?;
    let sums = CumulativeDescriptor::new(CumulativeOperation::Sum, 1);
    let sums = c.step(sums, &[probabilities])?;
    let sums = c.merge_step(sums, &[vec![0], vec![], vec![1]])?;
    let batch = c.shape_step(logits, 0, 1)?;
    let samples = c.integers(&[count])?;
    let concat = armnn_backend_api::ConcatDescriptor { axis: 0 };
    let dims = c.step(concat, &[batch, samples])?;
    let zero = c.number(DataType::Float32, &[], &[0.0])?;
    let like = c.step_deferred(ParameterRule::Fill, &[zero], &[Some(dims)])?;
    let numbers = numbers_like(c, like, UNIT, DataType::Float32, seed)?;
    let numbers = c.merge_step(numbers, &[vec![0], vec![1], vec![]])?;
    let reached = ComparisonDescriptor::new(ComparisonOperation::GreaterOrEqual);
    let reached = c.step(reached, &[numbers, sums])?;
    let reached = c.cast(reached, DataType::Signed32)?;
    let number = c.reduce(ReduceOperation::Sum, reached, &[2], false)?;
    // The last sum may be a little below 1.
    let last = c.number(DataType::Signed32, &[], &[(classes - 1) as f64])?;
    let output = match to {
        DataType::Signed32 => c.last().binary(Binary::Minimum, number, last)?,
        DataType::Signed64 => {
            let number = c.binary(Binary::Minimum, number, last)?;
            c.last().cast(number, to)?
        }
        other => return Err(Problem::malformed(format!("classes of type {other}"))),
    };
    c.bind_tensor(0, output)
}

/// Dropout as in training: elements are 0 with the probability `ratio` (an input), the others are
/// divided by the rest of it; nothing happens where `training_mode` (an input) does not hold.
pub(super) fn training_dropout(c: &mut Context<'_, '_>) -> Result {
    let seed = c.attributes.optional_int("seed")?.map(|seed| seed as u32);
    let x = c.input(0)?;
    let data_type = c.info(x)?.data_type;
    let ratio = match c.has_input(1) {
        true => c.merged_input(1, &[])?,
        false => c.number(DataType::Float32, &[], &[0.5])?,
    };
    let ratio = c.cast(ratio, DataType::Float32)?;
    let mode = c.merged_input(2, &[])?;
    let mode = c.cast(mode, DataType::Float32)?;
    let ratio = c.binary(Binary::Mul, ratio, mode)?;
    let numbers = numbers_like(c, x, UNIT, DataType::Float32, seed)?;
    let kept = ComparisonDescriptor::new(ComparisonOperation::GreaterOrEqual);
    let kept = c.step(kept, &[numbers, ratio])?;
    let one = c.number(DataType::Float32, &[], &[1.0])?;
    let rest = c.binary(Binary::Sub, one, ratio)?;
    let factor = c.binary(Binary::Div, one, rest)?;
    let factor = c.cast(factor, data_type)?;
    let as_numbers = c.cast(kept, data_type)?;
    let kept_elements = c.binary(Binary::Mul, x, as_numbers)?;
    let output = c.last().binary(Binary::Mul, kept_elements, factor)?;
    c.bind_tensor(0, output)?;
    if c.has_output(1) {
        c.bind_tensor(1, kept)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use armnn_network::Operation;

    use super::*;
    use crate::test_model::{TestModel, assert_refused, float, int, list, single};

    fn random(network: &armnn_network::Network) -> &RandomOperation {
        let mut operations = network.layers().iter();
        operations
            .find_map(|layer| match &layer.operation {
                Operation::Runtime(RuntimeOperation::Random(operation)) => Some(operation),
                _ => None,
            })
            .unwrap()
    }

    #[test]
    fn numbers_have_the_shape_and_the_seed_that_attributes_say() {
        let attributes = [
            list("shape", &[2, 3]),
            float("seed", 7.9),
            float("scale", 0.5),
        ];
        let network = TestModel::new(22)
            .node("RandomNormal", &[], &["y"], &attributes)
            .output("y")
            .parse()
            .unwrap();
        let expected = RandomOperation {
            distribution: Distribution::Normal {
                mean: 0.0,
                scale: 0.5,
            },
            data_type: DataType::Float32,
            shape: Some([2, 3].into()),
            seed: Some(7),
        };
        assert_eq!(*random(&network), expected);
    }

    #[test]
    fn numbers_like_an_input_have_its_shape_and_a_type_that_may_be_another() {
        let network = single(22, "RandomUniformLike", &[2, 3], &[], &[int("dtype", 11)]).unwrap();
        assert_eq!(random(&network).data_type, DataType::Float64);
        let output = network.tensor(network.outputs()[0].tensor);
        assert_eq!(output.info.shape.dims(), [2, 3]);
        let integers = single(22, "RandomNormalLike", &[2], &[], &[int("dtype", 7)]);
        assert!(integers.is_err());
    }

    #[test]
    fn a_multinomial_needs_rows_of_classes() {
        assert!(single(22, "Multinomial", &[2, 3], &[], &[]).is_ok());
        let none = single(22, "Multinomial", &[2, 0], &[], &[]);
        assert_refused(none, "1 samples of 0 classes");
    }
}
