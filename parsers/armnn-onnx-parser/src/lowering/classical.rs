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

/// The kernel of x and each support vector, times its coefficient, and the intercept; without
/// support vectors, x times coefficients.
pub(super) fn svm_regressor(c: &mut Context<'_, '_>) -> Result {
    for other in ["n_supports", "kernel_params"] {
        c.attributes.ignore(other);
    }
    if PostTransform::of(c)? != PostTransform::None {
        return Err(Problem::unsupported("its post_transform"));
    }
    let x = c.input(0)?;
    let mut x = c.cast(x, DataType::Float32)?;
    if c.shape(x)?.rank() == 1 {
        x = c.merge_step(x, &[vec![], vec![0]])?;
    }
    let list = |c: &Context<'_, '_>, name: &str| -> Result<Vec<f64>> {
        let list = c.attributes.floats(name)?.unwrap_or_default();
        Ok(list.iter().map(|&value| value.into()).collect())
    };
    let (coefficients, vectors) = (list(c, "coefficients")?, list(c, "support_vectors")?);
    let intercept = list(c, "rho")?.first().copied();
    let intercept = intercept.ok_or_else(|| Problem::malformed("it has no rho"))?;
    let count = i64::try_from(coefficients.len()).unwrap_or(i64::MAX);
    let kernels = match vectors.is_empty() {
        true => {
            if c.attributes.text("kernel_type", "LINEAR")? != "LINEAR" {
                return Err(Problem::unsupported("a kernel without support vectors"));
            }
            x
        }
        false => kernels(c, x, &vectors, coefficients.len())?,
    };
    let coefficients = c.number(DataType::Float32, &[count, 1], &coefficients)?;
    let sums = c.step(
        BatchMatMulDescriptor::new(false, false),
        &[kernels, coefficients],
    )?;
    let intercept = c.number_like(sums, intercept)?;
    if !c.attributes.flag("one_class", false)? {
        let output = c.last().binary(Binary::Add, sums, intercept)?;
        return c.bind_tensor(0, output);
    }
    let sums = c.binary(Binary::Add, sums, intercept)?;
    let (zero, one) = (c.number_like(sums, 0.0)?, c.number_like(sums, 1.0)?);
    let minus_one = c.number_like(sums, -1.0)?;
    let is_inside = c.step(
        ComparisonDescriptor::new(Comparison::Greater),
        &[sums, zero],
    )?;
    c.emit(SelectDescriptor::new(), &[is_inside, one, minus_one])
}

/// The kernel of each row and each of so many vectors: [N, count].
fn kernels(
    c: &mut Context<'_, '_>,
    x: TensorId,
    vectors: &[f64],
    count: usize,
) -> Result<TensorId> {
    let [gamma, offset, degree] = match c.attributes.floats("kernel_params")? {
        Some(&[gamma, offset, degree]) => [gamma, offset, degree].map(f64::from),
        Some([]) | None => [0.0, 0.0, 3.0],
        Some(_) => return Err(Problem::malformed("its kernel_params are not three")),
    };
    if count == 0 || !vectors.len().is_multiple_of(count) {
        return Err(Problem::malformed(format!(
            "{} numbers of {count} support vectors",
            vectors.len()
        )));
    }
    let dims = [count, vectors.len() / count].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    let vectors = c.number(DataType::Float32, &dims, vectors)?;
    let kernel = c.attributes.text("kernel_type", "LINEAR")?;
    if kernel == "RBF" {
        // exp(-gamma |x - vector|^2)
        let x = c.merge_step(x, &[vec![0], vec![], vec![1]])?;
        let differences = c.binary(Binary::Sub, x, vectors)?;
        let squares = c.unary(Unary::Square, differences)?;
        let distances = c.reduce(ReduceOperation::Sum, squares, &[2], false)?;
        let factor = c.number_like(distances, -gamma)?;
        let exponents = c.binary(Binary::Mul, distances, factor)?;
        return c.unary(Unary::Exp, exponents);
    }
    let products = c.step(BatchMatMulDescriptor::new(false, true), &[x, vectors])?;
    if kernel == "LINEAR" {
        return Ok(products);
    }
    let (gamma, offset) = (
        c.number_like(products, gamma)?,
        c.number_like(products, offset)?,
    );
    let scaled = c.binary(Binary::Mul, products, gamma)?;
    let moved = c.binary(Binary::Add, scaled, offset)?;
    match kernel {
        "POLY" => {
            let degree = c.number_like(moved, degree)?;
            c.binary(Binary::Power, moved, degree)
        }
        "SIGMOID" => {
            let tanh = ActivationDescriptor::new(ActivationFunction::TanH, 1.0, 1.0);
            c.step(tanh, &[moved])
        }
        other => {
            let other = crate::error::Short(other);
            Err(Problem::malformed(format!(
                "its kernel_type is \"{other}\""
            )))
        }
    }
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
