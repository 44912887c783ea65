//! LinearClassifier of ai.onnx.ml: scores of classes, and the label of the best one.

use armnn_backend_api::{ArgMinMaxDescriptor, ArgMinMaxFunction, DataType, GatherDescriptor};
use armnn_network::OutputDeclaration;

use super::classical::{PostTransform, linear_scores, transformed};
use super::context::Context;
use super::problem::{Problem, Result};

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
    c.pay_for(labels.len().saturating_mul(size_of::<i64>()))?;
    let largest = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 1, false);
    let place_type = OutputDeclaration::of_type(DataType::Signed64);
    let place = c.step_declared(largest, &[scores], place_type)?;
    let labels = c.integers(labels)?;
    let best = c
        .last()
        .step(GatherDescriptor { axis: 0 }, &[labels, place])?;
    c.bind_tensor(0, best)?;
    if c.has_output(1) {
        let scores = transformed(c, scores, transform)?;
        c.bind_tensor(1, scores)?;
    }
    Ok(())
}

/// The labels, which must be integers.
fn labels<'m>(c: &Context<'_, 'm>) -> Result<&'m [i64]> {
    match c.attributes.ints("classlabels_ints")? {
        Some(labels) if !labels.is_empty() => {
            c.attributes.ignore("classlabels_strings");
            Ok(labels)
        }
        _ => Err(Problem::unsupported("labels that are not integers")),
    }
}
