//! Losses of classifications.

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation, GatherDescriptor,
    GatherElementsDescriptor, LogSoftmaxDescriptor, ReduceOperation as Reduce, SelectDescriptor,
    UnaryOperation as Unary,
};
use armnn_network::{ParameterRule, TensorId};

use super::context::Context;
use super::problem::{Problem, Result};

/// Of logarithms of probabilities, [N, C, ...], the negative one of the target's class, [N, ...].
pub(super) fn negative_log_likelihood(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let loss = weighted(c, input)?;
    c.bind_tensor(0, loss)
}

/// The same of the logarithm of the softmax, which is the second output.
pub(super) fn softmax_cross_entropy(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let probabilities = c.step(LogSoftmaxDescriptor { beta: 1.0, axis: 1 }, &[input])?;
    let loss = weighted(c, probabilities)?;
    c.bind_all(&[loss, probabilities])
}

/// Inputs: the target (1), weights of classes (2).
fn weighted(c: &mut Context<'_, '_>, logarithms: TensorId) -> Result<TensorId> {
    let rank = c.shape(logarithms)?.rank();
    let data_type = c.info(logarithms)?.data_type;
    let reduction = c.attributes.text("reduction", "mean")?;
    let mut target = c.input(1)?;
    if rank < 2 || c.shape(target)?.rank() + 1 != rank {
        return Err(Problem::malformed(format!(
            "its input is {} and its target {}",
            c.shape(logarithms)?,
            c.shape(target)?
        )));
    }
    let ignored = match c.attributes.optional_int("ignore_index")? {
        Some(index) => {
            let index = c.number_like(target, index as f64)?;
            let zero = c.number_like(target, 0.0)?;
            let equal = ComparisonDescriptor::new(ComparisonOperation::Equal);
            let ignored = c.step(equal, &[target, index])?;
            target = c.step(SelectDescriptor::new(), &[ignored, zero, target])?;
            Some(ignored)
        }
        None => None,
    };
    let mut groups: Vec<Vec<usize>> = (0..rank - 1).map(|axis| vec![axis]).collect();
    groups.insert(1, Vec::new());
    let indices = c.merge_step(target, &groups)?;
    let chosen = c.step(GatherElementsDescriptor { axis: 1 }, &[logarithms, indices])?;
    let mut groups: Vec<Vec<usize>> = (0..rank).map(|axis| vec![axis]).collect();
    groups.remove(1);
    let chosen = c.merge_step(chosen, &groups)?;
    c.is_last = reduction == "none" && !c.has_input(2) && ignored.is_none();
    let mut loss = c.unary(Unary::Neg, chosen)?;
    let mut weights = match c.optional_input(2)? {
        Some(weights) => Some(c.step(GatherDescriptor { axis: 0 }, &[weights, target])?),
        None => None,
    };
    if let Some(weights) = weights {
        c.is_last = reduction == "none" && ignored.is_none();
        loss = c.binary(Binary::Mul, loss, weights)?;
    }
    if let Some(ignored) = ignored {
        let zero = c.number(data_type, &[], &[0.0])?;
        let given = match weights {
            Some(weights) => weights,
            None => {
                let one = c.number(data_type, &[], &[1.0])?;
                let dims = c.shape_step(target, 0, rank - 1)?;
                c.step_deferred(ParameterRule::Fill, &[one], &[Some(dims)])?
            }
        };
        weights = Some(c.step(SelectDescriptor::new(), &[ignored, zero, given])?);
        c.is_last = reduction == "none";
        loss = c.step(SelectDescriptor::new(), &[ignored, zero, loss])?;
    }
    let axes: Vec<usize> = (0..rank - 1).collect();
    match (reduction, weights) {
        ("none", _) => Ok(loss),
        ("sum", _) => c.last().reduce(Reduce::Sum, loss, &axes, false),
        ("mean", None) => c.last().reduce(Reduce::Mean, loss, &axes, false),
        ("mean", Some(weights)) => {
            let sum = c.reduce(Reduce::Sum, loss, &axes, false)?;
            let weight = c.reduce(Reduce::Sum, weights, &axes, false)?;
            c.last().binary(Binary::Div, sum, weight)
        }
        (other, _) => Err(Problem::malformed(format!(
            "its reduction is \"{}\"",
            crate::error::Short(other)
        ))),
    }
}
