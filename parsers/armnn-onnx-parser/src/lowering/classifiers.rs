//! LinearClassifier and TreeEnsembleClassifier of ai.onnx.ml: scores of classes, and the label of
//! the best one.

use armnn_backend_api::{
    ArgMinMaxDescriptor, ArgMinMaxFunction, BinaryOperation as Binary, ComparisonDescriptor,
    ComparisonOperation as Comparison, ConcatDescriptor, DataType, GatherDescriptor,
    SelectDescriptor, UnaryOperation as Unary,
};
use armnn_network::{OutputDeclaration, TensorId};

use super::classical::{PostTransform, linear_scores, transformed};
use super::context::Context;
use super::problem::{Problem, Result};
use super::tree_ensemble::{Aggregate, either_reals, named_nodes, scores};

/// The label of the best class, and the scores [N, E], transformed.
pub(super) fn linear(c: &mut Context<'_, '_>) -> Result {
    let labels = labels(c)?;
    // One against the rest, or all at once: coefficients have been found for it.
    c.attributes.ignore("multi_class");
    let transform = PostTransform::of(c)?;
    let intercepts = c.attributes.floats("intercepts")?.unwrap_or_default();
    if labels.len() < 2 || !(intercepts.is_empty() || intercepts.len() == labels.len()) {
        return Err(Problem::unsupported(format!(
            "{} intercepts of {} classes",
            intercepts.len(),
            labels.len()
        )));
    }
    let scores = linear_scores(c, i64::try_from(labels.len()).unwrap_or(0))?;
    bind_best(c, labels, scores)?;
    bind_scores(c, scores, transform)
}

/// The label of the best class, and the scores [N, E], transformed: sums of what leaves vote.
///
/// What the standard leaves open is as in ONNX Runtime: of more than two classes, those that no
/// leaf has voted for are none to choose; of two, leaves vote for one.
pub(super) fn trees(c: &mut Context<'_, '_>) -> Result {
    let labels = labels(c)?;
    let transform = PostTransform::of(c)?;
    let mut ensemble = named_nodes(c, "class", labels.len())?;
    let base = either_reals(c, "base_values")?.unwrap_or_default();
    let sums = scores(c, &ensemble, Aggregate::Sum)?;
    if let &[no, yes] = labels {
        let mut classes = ensemble.votes.iter().map(|&(_, class, _)| class);
        let voted = classes.next().unwrap_or(0);
        if base.len() > 1 || classes.any(|class| class != voted) {
            return Err(Problem::unsupported(
                "votes, or base values, for both of two classes; leave those for one",
            ));
        }
        let is_positive = ensemble.votes.iter().all(|&(_, _, weight)| weight >= 0.0);
        let base = base.first().copied().unwrap_or(0.0);
        return of_two(c, [no, yes], (sums, base), voted, is_positive, transform);
    }
    let count = i64::try_from(labels.len()).unwrap_or(0);
    if !base.is_empty() {
        if base.len() != labels.len() {
            return Err(Problem::malformed(format!(
                "{} base values of {count} classes",
                base.len()
            )));
        }
        let of = c.info(sums)?.data_type;
        let base = c.number(of, &[count], &base)?;
        let sums = c.binary(Binary::Add, sums, base)?;
        bind_best(c, labels, sums)?;
        return bind_scores(c, sums, transform);
    }
    // How many votes there are for each.
    for vote in &mut ensemble.votes {
        vote.2 = 1.0;
    }
    let votes = scores(c, &ensemble, Aggregate::Sum)?;
    let (zero, least) = (
        c.number_like(votes, 0.0)?,
        c.number_like(votes, f64::NEG_INFINITY)?,
    );
    let greater = ComparisonDescriptor::new(Comparison::Greater);
    let has_votes = c.step(greater, &[votes, zero])?;
    let chosen = c.step(SelectDescriptor::new(), &[has_votes, sums, least])?;
    bind_best(c, labels, chosen)?;
    bind_scores(c, sums, transform)
}

/// The same of two classes, where `voted` is the one with votes. The second is chosen if its sum is
/// above 0.5 where all votes are `positive`, as of probabilities, and else above 0.
fn of_two(
    c: &mut Context<'_, '_>,
    [no, yes]: [i64; 2],
    (sums, base): (TensorId, f64),
    voted: usize,
    positive: bool,
    transform: PostTransform,
) -> Result {
    let place = i64::try_from(voted).unwrap_or(0);
    let mut sum = c.sliced(sums, 1, place, place + 1)?;
    if voted == 0 && base != 0.0 {
        let base = c.number_like(sum, base)?;
        sum = c.binary(Binary::Add, sum, base)?;
    }
    let bound = c.number_like(sum, if positive { 0.5 } else { 0.0 })?;
    let greater = ComparisonDescriptor::new(Comparison::Greater);
    let is_second = c.step(greater, &[sum, bound])?;
    let is_second = c.merge_step(is_second, &[vec![0, 1]])?;
    let (no, yes) = (c.integers(&[no])?, c.integers(&[yes])?);
    let select = SelectDescriptor::new();
    let best = c.last().step(select, &[is_second, yes, no])?;
    c.bind_tensor(0, best)?;
    if voted == 1 {
        return bind_scores(c, sums, transform);
    }
    let negative = c.unary(Unary::Neg, sum)?;
    let first = match (transform, positive) {
        (PostTransform::Logistic, _) | (_, false) => negative,
        (_, true) => {
            let one = c.number_like(sum, 1.0)?;
            c.binary(Binary::Sub, one, sum)?
        }
    };
    let both = c.step(ConcatDescriptor { axis: 1 }, &[first, sum])?;
    match transform {
        PostTransform::Logistic => bind_scores(c, both, transform),
        PostTransform::None | PostTransform::Softmax => bind_scores(c, both, PostTransform::None),
    }
}

/// The first output: the label of the class with the largest score, the first of equal ones.
fn bind_best(c: &mut Context<'_, '_>, labels: &[i64], scores: TensorId) -> Result {
    c.pay_for(labels.len().saturating_mul(size_of::<i64>()))?;
    let largest = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 1, false);
    let place_type = OutputDeclaration::of_type(DataType::Signed64);
    let place = c.step_declared(largest, &[scores], place_type)?;
    let labels = c.integers(labels)?;
    let gather = GatherDescriptor { axis: 0 };
    let best = c.last().step(gather, &[labels, place])?;
    c.bind_tensor(0, best)
}

/// The second output: the scores, transformed, as Float32.
fn bind_scores(c: &mut Context<'_, '_>, scores: TensorId, transform: PostTransform) -> Result {
    if !c.has_output(1) {
        return Ok(());
    }
    let scores = transformed(c, scores, transform)?;
    let scores = c.cast(scores, DataType::Float32)?;
    c.bind_tensor(1, scores)
}

/// The labels, which must be integers.
fn labels<'m>(c: &Context<'_, 'm>) -> Result<&'m [i64]> {
    // What it is called differs between the operators.
    let linear = c.attributes.ints("classlabels_ints")?;
    match linear.or(c.attributes.ints("classlabels_int64s")?) {
        Some(labels) if !labels.is_empty() => {
            c.attributes.ignore("classlabels_strings");
            Ok(labels)
        }
        _ => Err(Problem::unsupported("labels that are not integers")),
    }
}
