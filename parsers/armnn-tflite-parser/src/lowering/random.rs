//! RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL, MULTINOMIAL, from random numbers that the runtime makes.
//!
//! They are not LiteRT's numbers, which come from a Philox generator: shapes, types, ranges and
//! distributions are the same. With a seed, each execution gives the same numbers, where LiteRT goes
//! on with those that follow.

use armnn_backend_api::{
    BinaryOperation, CastDescriptor, ComparisonDescriptor, ComparisonOperation,
    CumulativeDescriptor, CumulativeOperation, DataType, ElementwiseBinaryDescriptor,
    ReduceDescriptor, ReduceOperation, Shape, SoftmaxDescriptor,
};
use armnn_network::{Distribution, OutputDeclaration, RandomOperation, RuntimeOperation, TensorId};

use super::context::{Context, described, single};
use super::problem::{Problem, Result};
use crate::schema_generated::RandomOptionsRef;

/// From 0 to below 1.
const UNIT: Distribution = Distribution::Uniform {
    low: 0.0,
    high: 1.0,
};

pub(super) fn uniform(context: &mut Context<'_, '_, '_>) -> Result {
    of_shape(context, UNIT)
}

pub(super) fn standard_normal(context: &mut Context<'_, '_, '_>) -> Result {
    let distribution = Distribution::Normal {
        mean: 0.0,
        scale: 1.0,
    };
    of_shape(context, distribution)
}

/// The input is the shape, a list.
fn of_shape(context: &mut Context<'_, '_, '_>, distribution: Distribution) -> Result {
    check_type(context, &[DataType::Float32])?;
    let numbers = if context.is_known(0) {
        let dims = context.integers(0, Shape::MAX_RANK, "the shape")?;
        if dims.iter().any(|&dim| dim < 0) {
            return Err(Problem::malformed(format!("its shape is {dims:?}")));
        }
        let shape = described(Shape::new(&dims).ok())?;
        numbers(context, distribution, Like::Shape(shape), 0)?
    } else {
        let dims = context.input(0)?;
        let zero = context.scalar(DataType::Float32, 0.0)?;
        let like = context.filled(zero, dims)?;
        numbers(context, distribution, Like::Tensor(like), 0)?
    };
    context.bind(0, numbers)
}

/// Where the shape of random numbers comes from.
enum Like {
    Shape(Shape),
    Tensor(TensorId),
}

/// Random numbers of Float32; named as output 0 unless more follows.
fn numbers(
    context: &mut Context<'_, '_, '_>,
    distribution: Distribution,
    like: Like,
    following: usize,
) -> Result<TensorId> {
    let (shape, inputs) = match like {
        Like::Shape(shape) => (Some(shape), vec![]),
        Like::Tensor(id) => (None, vec![Some(id)]),
    };
    let operation = RandomOperation {
        distribution,
        data_type: DataType::Float32,
        shape,
        seed: seed(context)?,
    };
    let name = match following {
        0 => context.layer_name(0)?,
        _ => context.step_name(0, operation.name())?,
    };
    let operation = RuntimeOperation::Random(operation);
    let builder = &mut context.lowering.builder;
    let ids = builder.add_runtime_layer(&name, operation, &inputs)?;
    single(&ids)
}

/// The two seeds as one; two zeros are none.
fn seed(context: &Context<'_, '_, '_>) -> Result<Option<u32>> {
    let options = context.options::<RandomOptionsRef<'_>>()?;
    let (first, second) = (options.seed()? as u64, options.seed2()? as u64);
    if first == 0 && second == 0 {
        return Ok(None);
    }
    // Seeds that differ in one of the two give other numbers: multiplied by an odd constant, the
    // first reaches all bits, and the upper half of the sum is folded into the lower.
    let mixed = first
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(second);
    Ok(Some((mixed ^ (mixed >> 32)) as u32))
}

/// Checks that the output is of one of these types.
fn check_type(context: &Context<'_, '_, '_>, types: &[DataType]) -> Result<DataType> {
    let found = context.declaration(0)?.data_type;
    match found {
        Some(found) if types.contains(&found) => Ok(found),
        found => Err(Problem::malformed(format!(
            "its output is {}",
            found.map_or("of no type".to_owned(), |found| format!("of type {found}"))
        ))),
    }
}

/// Logits of classes, [batches, classes], and how many samples are drawn of each batch.
///
/// A class is drawn where a random number lies below the sum of the probabilities up to its own, and
/// not below that of the class before: as many sums as the number reaches are of classes before.
pub(super) fn multinomial(context: &mut Context<'_, '_, '_>) -> Result {
    let to = check_type(context, &[DataType::Signed32, DataType::Signed64])?;
    let (logits, count) = (context.input(0)?, context.input(1)?);
    let dims = context.shape(logits)?;
    let classes = match *dims.dims() {
        [_, classes @ (1..)] => classes,
        [_, Shape::UNKNOWN] => {
            return Err(Problem::unsupported(
                "a number of classes that is not known; give the model a fixed input shape",
            ));
        }
        _ => {
            return Err(Problem::malformed(format!("its logits are {dims}")));
        }
    };
    let none = OutputDeclaration::default;
    let softmax = SoftmaxDescriptor { beta: 1.0, axis: 1 };
    let probabilities = context.step(0, softmax, &[Some(logits)], none())?;
    let sum = CumulativeDescriptor::new(CumulativeOperation::Sum, 1);
    let sums = context.step(0, sum, &[Some(probabilities)], none())?;
    let sums = context.merge_step(0, sums, vec![vec![0], vec![], vec![1]])?;

    let batches = context.shape_step(logits, 0, 1)?;
    let count = context.cast_step(count, DataType::Signed64)?;
    let count = context.merge_step(0, count, vec![vec![]])?;
    let dims = context.joined(&[batches, count])?;
    let zero = context.scalar(DataType::Float32, 0.0)?;
    let like = context.filled(zero, dims)?;
    let numbers = numbers(context, UNIT, Like::Tensor(like), 1)?;
    let numbers = context.merge_step(0, numbers, vec![vec![0], vec![1], vec![]])?;

    let reached = ComparisonDescriptor::new(ComparisonOperation::GreaterOrEqual);
    let reached = context.step(0, reached, &[Some(numbers), Some(sums)], none())?;
    let reached = context.cast_step(reached, DataType::Signed32)?;
    let add = described(ReduceDescriptor::new(ReduceOperation::Sum, &[2], false))?;
    let class = context.step(0, add, &[Some(reached)], none())?;
    // The last sum may be a little below 1.
    let last = context.scalar(DataType::Signed32, (classes - 1) as f64)?;
    let minimum = ElementwiseBinaryDescriptor::new(BinaryOperation::Minimum);
    let inputs = [Some(class), Some(last)];
    match to {
        DataType::Signed32 => context.emit(minimum, &inputs),
        _ => {
            let class = context.step(0, minimum, &inputs, none())?;
            context.emit(CastDescriptor::new(), &[Some(class)])
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::TensorInfo;
    use armnn_network::{Network, Operation};
    use armnn_runtime::HostTensor;

    use super::*;
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        TestModel, TestTensor, assert_refused, float, floats_constant, ints, load, lower, outputs,
        typed,
    };

    fn options(seed: i64, seed_2: i64) -> write::BuiltinOptions {
        let options = write::RandomOptions {
            seed,
            seed2: seed_2,
        };
        write::BuiltinOptions::RandomOptions(Box::new(options))
    }

    fn operation(network: &Network) -> &RandomOperation {
        let mut layers = network.layers().iter();
        layers
            .find_map(|layer| match &layer.operation {
                Operation::Runtime(RuntimeOperation::Random(operation)) => Some(operation),
                _ => None,
            })
            .unwrap()
    }

    fn scalar(value: i32) -> TestTensor {
        ints(&[value]).shaped(&[])
    }

    #[test]
    fn uniform_numbers_are_below_one_and_the_same_for_a_seed() {
        let network = || {
            let inputs = [ints(&[20, 50])];
            lower(Op::RandomUniform, &inputs, &[float(&[])], options(1, 2)).unwrap()
        };
        assert_eq!(outputs(&network()), ["Float32[20, 50]"]);
        let run = || load(network()).run(&[]).unwrap().remove(0);
        let (first, second) = (run(), run());
        let numbers = first.elements::<f32>().unwrap();
        assert_eq!(numbers, second.elements::<f32>().unwrap());
        assert!(numbers.iter().all(|x| (0.0..1.0).contains(x)));
        // 1000 numbers of variance 1/12: the mean has a standard deviation of 0.0091.
        let mean = numbers.iter().sum::<f32>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let network = lower(
            Op::RandomStandardNormal,
            &[ints(&[1000])],
            &[float(&[])],
            options(3, 0),
        )
        .unwrap();
        let found = load(network).run(&[]).unwrap();
        let numbers = found[0].elements::<f32>().unwrap();
        // Of 1000 numbers, the mean deviates by 0.032, and the mean of squares by 0.045.
        let mean = numbers.iter().sum::<f32>() / 1000.0;
        let squares = numbers.iter().map(|x| x * x).sum::<f32>() / 1000.0;
        assert!(
            mean.abs() < 0.15 && (squares - 1.0).abs() < 0.2,
            "{mean} {squares}"
        );
    }

    #[test]
    fn either_seed_makes_other_numbers_and_two_zeros_are_none() {
        let seed = |seed, seed_2| {
            let inputs = [ints(&[2])];
            let options = options(seed, seed_2);
            let network = lower(Op::RandomUniform, &inputs, &[float(&[2])], options);
            operation(&network.unwrap()).seed
        };
        assert_eq!(seed(0, 0), None);
        let seeds = [
            seed(1, 0),
            seed(0, 1),
            seed(1, 1),
            seed(1 << 40, 0),
            seed(-1, 0),
        ];
        for (at, one) in seeds.iter().enumerate() {
            assert!(one.is_some());
            assert!(!seeds[..at].contains(one), "{seeds:?}");
        }
    }

    #[test]
    fn a_shape_may_be_computed() {
        let shape = typed(TensorType::Int32, &[2]);
        let network = lower(Op::RandomUniform, &[shape], &[float(&[])], options(1, 1)).unwrap();
        assert_eq!(outputs(&network), ["Float32[?, ?]"]);
        let info = TensorInfo::new(DataType::Signed32, Shape::from([2]));
        let bytes = [3i32, 4].map(i32::to_ne_bytes).concat();
        let dims = HostTensor::from_bytes(info, &bytes).unwrap();
        let found = load(network).run(&[dims]).unwrap();
        assert_eq!(found[0].info().shape.dims(), [3, 4]);
    }

    #[test]
    fn shapes_and_types_that_there_are_not_are_refused() {
        let refused = lower(
            Op::RandomUniform,
            &[ints(&[-2])],
            &[float(&[])],
            options(0, 0),
        );
        assert_refused(refused, "its shape is [-2]");
        let output = typed(TensorType::Int32, &[2]);
        let refused = lower(Op::RandomUniform, &[ints(&[2])], &[output], options(0, 0));
        assert_refused(refused, "its output is of type Signed32");
    }

    /// The logarithms of 0.1, 0.6 and 0.3, and of one that is certain.
    #[test]
    fn classes_are_drawn_by_their_probabilities() {
        for output in [TensorType::Int32, TensorType::Int64] {
            let logits = [0.1f32.ln(), 0.6f32.ln(), 0.3f32.ln(), -50.0, -50.0, 0.0];
            let logits = floats_constant(&[2, 3], &logits);
            let mut model = TestModel::default();
            let inputs = [model.tensor(logits), model.tensor(scalar(2000))];
            let drawn = model.tensor(typed(output, &[]));
            model.operator(Op::Multinomial, &inputs, &[drawn], Some(options(5, 6)));
            model.output(drawn);
            let found = load(model.parse().unwrap()).run(&[]).unwrap().remove(0);
            assert_eq!(found.info().shape.dims(), [2, 2000]);
            let classes: Vec<i64> = match output {
                TensorType::Int64 => found.elements::<i64>().unwrap().to_vec(),
                _ => found
                    .elements::<i32>()
                    .unwrap()
                    .iter()
                    .map(|&n| n.into())
                    .collect(),
            };
            let count = |n| classes[..2000].iter().filter(|&&class| class == n).count() as f64;
            // The greatest standard deviation of a count is that of 0.6: 22.
            for (class, expected) in [(0, 200.0), (1, 1200.0), (2, 600.0)] {
                let found = count(class);
                assert!((found - expected).abs() < 120.0, "{class}: {found}");
            }
            assert!(classes[2000..].iter().all(|&class| class == 2));
        }
    }

    #[test]
    fn classes_need_logits_of_two_dimensions() {
        let output = || [typed(TensorType::Int32, &[])];
        let refused = lower(
            Op::Multinomial,
            &[float(&[3]), scalar(1)],
            &output(),
            options(0, 0),
        );
        assert_refused(refused, "its logits are [3]");
        let open = float(&[1, 3]).signature(&[1, -1]);
        let refused = lower(
            Op::Multinomial,
            &[open, scalar(1)],
            &output(),
            options(0, 0),
        );
        assert_refused(refused, "a number of classes that is not known");
    }
}
