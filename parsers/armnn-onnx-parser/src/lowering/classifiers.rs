//! Classifiers of ai.onnx.ml: scores of classes, and the label of the best one.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, ArgMinMaxDescriptor, ArgMinMaxFunction,
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation as Comparison,
    ConcatDescriptor, DataType, GatherDescriptor, SelectDescriptor, UnaryOperation as Unary,
};
use armnn_network::{OutputDeclaration, TensorId};

use super::classical::{PostTransform, linear_scores, transformed};
use super::constant::Constant;
use super::context::Context;
use super::problem::{Problem, Result};

/// LinearClassifier.
pub(super) fn linear(c: &mut Context<'_, '_>) -> Result {
    let labels = labels(c, "classlabels_ints", "classlabels_strings")?;
    // One against the rest, or all at once: coefficients have been found for it.
    c.attributes.ignore("multi_class");
    let transform = PostTransform::of(c)?;
    let intercepts = c.attributes.floats("intercepts")?.unwrap_or_default();
    let rows = match intercepts.len() {
        0 => labels.len(),
        count => count,
    };
    let scores = linear_scores(c, i64::try_from(rows).unwrap_or(0))?;
    if rows == 1 {
        return Err(Problem::unsupported("one score of two classes"));
    }
    classify(c, scores, labels, transform, false)
}

/// The labels, which must be integers.
pub(super) fn labels<'m>(c: &Context<'_, 'm>, integers: &str, strings: &str) -> Result<&'m [i64]> {
    if let Some(labels) = c.attributes.ints(integers)?
        && !labels.is_empty()
    {
        c.attributes.ignore(strings);
        return Ok(labels);
    }
    match c.attributes.has(strings) {
        true => Err(Problem::unsupported("labels that are strings")),
        false => Err(Problem::malformed("it has no labels")),
    }
}

/// Writes the label of the best class, and the scores [N, E], transformed.
///
/// One score of two classes is that of the second, which it stands for from above 0 on, or, where
/// `is_probability`, from above a half.
pub(super) fn classify(
    c: &mut Context<'_, '_>,
    scores: TensorId,
    labels: &[i64],
    transform: PostTransform,
    is_probability: bool,
) -> Result {
    let shape = c.shape(scores)?;
    let count = i64::try_from(labels.len()).unwrap_or(i64::MAX);
    c.pay_for(labels.len().saturating_mul(size_of::<i64>()))?;
    let (best, all) = match (shape.dims(), labels) {
        (&[_, 1], &[first, second]) => {
            let label = |label| Constant::integers(DataType::Signed64, &[], &[label]);
            let (first, second) = (label(first), label(second));
            let (first, second) = (c.add_constant(&first)?, c.add_constant(&second)?);
            let bound = c.number_like(scores, if is_probability { 0.5 } else { 0.0 })?;
            let list = c.merge_step(scores, &[vec![0, 1]])?;
            let greater = ComparisonDescriptor::new(Comparison::Greater);
            let is_second = c.step(greater, &[list, bound])?;
            let best = c
                .last()
                .step(SelectDescriptor::new(), &[is_second, second, first])?;
            let other = match is_probability {
                true => {
                    let one = c.number_like(scores, 1.0)?;
                    c.binary(Binary::Sub, one, scores)?
                }
                false => c.unary(Unary::Neg, scores)?,
            };
            let both = c.step(ConcatDescriptor { axis: 1 }, &[other, scores])?;
            let both = match (transform, is_probability) {
                (PostTransform::Logistic, false) => {
                    let sigmoid = ActivationFunction::Sigmoid;
                    c.step(ActivationDescriptor::new(sigmoid, 0.0, 0.0), &[both])?
                }
                _ => both,
            };
            (best, both)
        }
        (&[_, scored], _) if scored == count => {
            let largest = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 1, false);
            let type_of = OutputDeclaration::of_type(DataType::Signed64);
            let place = c.step_declared(largest, &[scores], type_of)?;
            let labels = c.integers(labels)?;
            let best = c
                .last()
                .step(GatherDescriptor { axis: 0 }, &[labels, place])?;
            (best, transformed(c, scores, transform)?)
        }
        _ => {
            return Err(Problem::unsupported(format!(
                "scores {shape} of {count} classes"
            )));
        }
    };
    c.bind_tensor(0, best)?;
    if c.has_output(1) {
        let all = c.cast(all, DataType::Float32)?;
        c.bind_tensor(1, all)?;
    }
    Ok(())
}
