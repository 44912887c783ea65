//! Operators of ai.onnx.ml for linear models and for features, as layers.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BatchMatMulDescriptor, BinaryOperation as Binary,
    ComparisonDescriptor, ComparisonOperation as Comparison, ConcatDescriptor, DataType,
    ReduceOperation, SelectDescriptor, SoftmaxDescriptor, UnaryOperation as Unary,
};
use armnn_network::TensorId;

use super::constant::Constant;
use super::context::{Context, small};
use super::problem::{Problem, Result};

/// What becomes of scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PostTransform {
    None,
    Softmax,
    Logistic,
}

impl PostTransform {
    /// That of the attribute.
    pub(super) fn of(c: &Context<'_, '_>) -> Result<Self> {
        match c.attributes.text("post_transform", "NONE")? {
            "NONE" => Ok(Self::None),
            "SOFTMAX" => Ok(Self::Softmax),
            "LOGISTIC" => Ok(Self::Logistic),
            other => {
                let other = crate::error::Short(other);
                Err(Problem::unsupported(format!(
                    "its post_transform \"{other}\""
                )))
            }
        }
    }

    /// That of a number.
    pub(super) fn numbered(number: i64) -> Result<Self> {
        match number {
            0 => Ok(Self::None),
            1 => Ok(Self::Softmax),
            2 => Ok(Self::Logistic),
            other => Err(Problem::unsupported(format!("its post_transform {other}"))),
        }
    }
}

/// Transforms scores [N, E] and casts them; writes the first output.
pub(super) fn post_transform(
    c: &mut Context<'_, '_>,
    scores: TensorId,
    transform: PostTransform,
    to: DataType,
) -> Result {
    let scores = transformed(c, scores, transform)?;
    let output = match c.info(scores)?.data_type == to {
        true => scores,
        false => c.last().cast(scores, to)?,
    };
    c.bind_tensor(0, output)
}

/// Scores [N, E], transformed.
pub(super) fn transformed(
    c: &mut Context<'_, '_>,
    scores: TensorId,
    transform: PostTransform,
) -> Result<TensorId> {
    match transform {
        PostTransform::None => Ok(scores),
        PostTransform::Softmax => {
            let axis = small(c.shape(scores)?.rank().saturating_sub(1), "its axis")?;
            c.step(SoftmaxDescriptor { beta: 1.0, axis }, &[scores])
        }
        PostTransform::Logistic => {
            let sigmoid = ActivationDescriptor::new(ActivationFunction::Sigmoid, 0.0, 0.0);
            c.step(sigmoid, &[scores])
        }
    }
}

/// (x - offset) scale
pub(super) fn scaler(c: &mut Context<'_, '_>) -> Result {
    let x = c.input(0)?;
    let mut x = c.cast(x, DataType::Float32)?;
    for (name, operation) in [("offset", Binary::Sub), ("scale", Binary::Mul)] {
        let values = c.attributes.floats(name)?;
        let values = values.ok_or_else(|| Problem::malformed(format!("it has no {name}")))?;
        let values: Vec<f64> = values.iter().map(|&value| value.into()).collect();
        let of_features = features(c, x, values.len())?;
        let values = c.number(DataType::Float32, &of_features, &values)?;
        if name == "scale" {
            c.last();
        }
        x = c.binary(operation, x, values)?;
    }
    c.bind_tensor(0, x)
}

/// The shape of a list with one element for each feature of a tensor, or one for all.
fn features(c: &Context<'_, '_>, x: TensorId, count: usize) -> Result<Vec<i64>> {
    let shape = c.shape(x)?;
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    match shape.dims().last() {
        _ if count == 1 => Ok(Vec::new()),
        Some(&last) if last == count || last < 0 => Ok(vec![count]),
        _ => Err(Problem::malformed(format!(
            "{count} numbers for the features of {shape}"
        ))),
    }
}

/// Each row divided by its largest element, the sum of its absolute values, or the root of the sum
/// of its squares, unless that is 0.
pub(super) fn normalizer(c: &mut Context<'_, '_>) -> Result {
    let x = c.input(0)?;
    let x = c.cast(x, DataType::Float32)?;
    let rank = c.shape(x)?.rank();
    if rank == 0 || rank > 2 {
        return Err(Problem::malformed(format!(
            "its input has {rank} dimensions"
        )));
    }
    let operation = match c.attributes.text("norm", "MAX")? {
        "MAX" => ReduceOperation::Max,
        "L1" => ReduceOperation::L1,
        "L2" => ReduceOperation::L2,
        other => {
            let other = crate::error::Short(other);
            return Err(Problem::malformed(format!("its norm is \"{other}\"")));
        }
    };
    let norm = c.reduce(operation, x, &[rank - 1], true)?;
    let (zero, one) = (c.number_like(x, 0.0)?, c.number_like(x, 1.0)?);
    let is_zero = c.step(ComparisonDescriptor::new(Comparison::Equal), &[norm, zero])?;
    let divisor = c.step(SelectDescriptor::new(), &[is_zero, one, norm])?;
    let output = c.last().binary(Binary::Div, x, divisor)?;
    c.bind_tensor(0, output)
}

/// Elements of one value replaced by another, which may be one for each feature.
pub(super) fn imputer(c: &mut Context<'_, '_>) -> Result {
    let x = c.input(0)?;
    let data_type = c.info(x)?.data_type;
    let is_float = data_type.is_float();
    let replaced_float = c.attributes.float("replaced_value_float", 0.0)?;
    let replaced_integer = c.attributes.int("replaced_value_int64", 0)?;
    let (floats, integers) = (
        c.attributes.floats("imputed_value_floats")?,
        c.attributes.ints("imputed_value_int64s")?,
    );
    let (values, is_replaced) = if is_float {
        let values = floats.ok_or_else(|| Problem::malformed("it has no imputed_value_floats"))?;
        let values: Vec<f64> = values.iter().map(|&value| value.into()).collect();
        let dims = features(c, x, values.len())?;
        let values = c.number(data_type, &dims, &values)?;
        let is_replaced = match replaced_float.is_nan() {
            true => c.unary(Unary::IsNan, x)?,
            false => {
                let replaced = c.number_like(x, replaced_float.into())?;
                c.step(ComparisonDescriptor::new(Comparison::Equal), &[x, replaced])?
            }
        };
        (values, is_replaced)
    } else {
        let values =
            integers.ok_or_else(|| Problem::malformed("it has no imputed_value_int64s"))?;
        let dims = features(c, x, values.len())?;
        let constant = |dims: &[i64], values: &[i64]| Constant::integers(data_type, dims, values);
        if !matches!(data_type, DataType::Signed32 | DataType::Signed64) {
            return Err(Problem::unsupported(format!(
                "an input of type {data_type}"
            )));
        }
        let values = c.add_constant(&constant(&dims, values))?;
        let replaced = c.add_constant(&constant(&[], &[replaced_integer]))?;
        let equal = ComparisonDescriptor::new(Comparison::Equal);
        (values, c.step(equal, &[x, replaced])?)
    };
    c.emit(SelectDescriptor::new(), &[is_replaced, values, x])
}

/// x coefficients^T + intercepts, transformed.
pub(super) fn linear_regressor(c: &mut Context<'_, '_>) -> Result {
    let targets = c.attributes.int("targets", 1)?;
    let transform = PostTransform::of(c)?;
    let scores = linear_scores(c, targets)?;
    post_transform(c, scores, transform, DataType::Float32)
}

/// x coefficients^T + intercepts, with so many rows of coefficients.
pub(super) fn linear_scores(c: &mut Context<'_, '_>, rows: i64) -> Result<TensorId> {
    let x = c.input(0)?;
    let mut x = c.cast(x, DataType::Float32)?;
    if c.shape(x)?.rank() == 1 {
        x = c.merge_step(x, &[vec![], vec![0]])?;
    }
    let coefficients = c.attributes.floats("coefficients")?.unwrap_or_default();
    let count = usize::try_from(rows).ok().filter(|&count| count > 0);
    let width = count.filter(|count| coefficients.len().is_multiple_of(*count));
    let width = width.and_then(|count| i64::try_from(coefficients.len() / count).ok());
    let Some(width) = width else {
        return Err(Problem::malformed(format!(
            "{} coefficients in {rows} rows",
            coefficients.len()
        )));
    };
    let values: Vec<f64> = coefficients.iter().map(|&value| value.into()).collect();
    let coefficients = c.number(DataType::Float32, &[rows, width], &values)?;
    let product = BatchMatMulDescriptor::new(false, true);
    let scores = c.step(product, &[x, coefficients])?;
    let Some(intercepts) = c
        .attributes
        .floats("intercepts")?
        .filter(|list| !list.is_empty())
    else {
        return Ok(scores);
    };
    let values: Vec<f64> = intercepts.iter().map(|&value| value.into()).collect();
    if i64::try_from(values.len()).ok() != Some(rows) {
        return Err(Problem::malformed(
            "its intercepts are not one for each row",
        ));
    }
    let intercepts = c.number(DataType::Float32, &[rows], &values)?;
    c.binary(Binary::Add, scores, intercepts)
}

/// The inputs, as Float32, next to each other.
pub(super) fn feature_vectorizer(c: &mut Context<'_, '_>) -> Result {
    let widths = c.attributes.ints("inputdimensions")?.unwrap_or_default();
    let mut inputs = c.inputs()?;
    for (at, id) in inputs.iter_mut().enumerate() {
        if c.shape(*id)?.rank() == 1 {
            *id = c.merge_step(*id, &[vec![], vec![0]])?;
        }
        let shape = c.shape(*id)?;
        match (shape.dims(), widths.get(at)) {
            (&[_, width], Some(&said)) if width == said || width < 0 => {}
            _ => {
                return Err(Problem::unsupported(format!(
                    "input {at} of shape {shape}, where inputdimensions are {widths:?}"
                )));
            }
        }
        *id = c.cast(*id, DataType::Float32)?;
    }
    c.emit(ConcatDescriptor { axis: 1 }, &inputs)
}
