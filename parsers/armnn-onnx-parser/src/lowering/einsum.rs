//! Einsum: sums of products by letters, lowered to transposes, reductions and matrix products.

use armnn_backend_api::{
    BatchMatMulDescriptor, ComparisonDescriptor, ComparisonOperation, ConcatDescriptor,
    ReduceOperation as Reduce, SelectDescriptor, Shape,
};
use armnn_network::{ParameterRule, TensorId};

use super::context::Context;
use super::matrix::integer_product;
use super::problem::{Problem, Result};

/// How many tensors may be multiplied; more than any model does.
const MOST_TERMS: usize = 64;

/// What a dimension is called: a letter, or a place in the ellipsis, counted from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Label {
    Ellipsis(usize),
    Letter(char),
}

struct Term {
    id: TensorId,
    labels: Vec<Label>,
}

pub(super) fn einsum(c: &mut Context<'_, '_>) -> Result {
    let equation = c.attributes.text("equation", "")?;
    let malformed = || {
        Problem::malformed(format!(
            "its equation is \"{}\"",
            crate::error::Short(equation)
        ))
    };
    let ids = c.inputs()?;
    if ids.len() > MOST_TERMS || equation.len() > MOST_TERMS * Shape::MAX_RANK {
        return Err(Problem::unsupported(format!(
            "a product of {} tensors",
            ids.len()
        )));
    }
    let compact: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match compact.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (&compact[..], None),
    };
    let texts: Vec<&str> = inputs.split(',').collect();
    if texts.len() != ids.len() {
        return Err(malformed());
    }
    let mut terms = Vec::with_capacity(ids.len());
    for (text, &id) in texts.iter().zip(&ids) {
        let labels = labels(text, c.shape(id)?.rank()).ok_or_else(malformed)?;
        terms.push(Term { id, labels });
    }
    let widest = terms.iter().flat_map(|term| &term.labels);
    let widest = widest.filter_map(|label| match label {
        Label::Ellipsis(place) => Some(place + 1),
        Label::Letter(_) => None,
    });
    let ellipsis = widest.max().unwrap_or(0);
    let output = match output {
        Some(text) => {
            let letters = text.replace("...", "").chars().count();
            let rank = letters + if text.contains("...") { ellipsis } else { 0 };
            labels(text, rank).ok_or_else(malformed)?
        }
        None => {
            // The ellipsis, then letters that appear once, in the order of the alphabet.
            let mut all: Vec<Label> = terms.iter().flat_map(|t| t.labels.clone()).collect();
            all.sort_unstable();
            let once = |label: &&Label| all.iter().filter(|l| l == label).count() == 1;
            let letters = all.iter().filter(|l| matches!(l, Label::Letter(_)));
            let letters: Vec<Label> = letters.filter(once).copied().collect();
            let places = (0..ellipsis).rev().map(Label::Ellipsis);
            places.chain(letters).collect()
        }
    };
    let mut seen = std::collections::HashSet::new();
    let known = |label: &Label| terms.iter().any(|term| term.labels.contains(label));
    if !output
        .iter()
        .all(|label| seen.insert(*label) && known(label))
    {
        return Err(malformed());
    }
    for term in &mut terms {
        diagonals(c, term)?;
    }
    let mut terms = terms.into_iter();
    let Some(mut so_far) = terms.next() else {
        return Err(malformed());
    };
    let mut rest: Vec<Term> = terms.collect();
    while !rest.is_empty() {
        let next = rest.remove(0);
        let needed = |label: &Label| {
            output.contains(label) || rest.iter().any(|term| term.labels.contains(label))
        };
        so_far = product(c, so_far, next, needed)?;
    }
    sum_out(c, &mut so_far, |label| output.contains(label))?;
    let permutation = order(&so_far.labels, &output).ok_or_else(malformed)?;
    let output = c.last().transpose(so_far.id, &permutation)?;
    c.bind_tensor(0, output)
}

/// The labels of a term for a tensor of so many dimensions; none if they do not fit.
fn labels(text: &str, rank: usize) -> Option<Vec<Label>> {
    let (before, behind) = match text.split_once("...") {
        Some((before, behind)) => (before, Some(behind)),
        None => (text, None),
    };
    let letters = |part: &str| -> Option<Vec<Label>> {
        part.chars()
            .map(|letter| {
                letter
                    .is_ascii_alphabetic()
                    .then_some(Label::Letter(letter))
            })
            .collect()
    };
    let mut all = letters(before)?;
    if let Some(behind) = behind {
        let behind = letters(behind)?;
        let places = rank.checked_sub(all.len() + behind.len())?;
        all.extend((0..places).rev().map(Label::Ellipsis));
        all.extend(behind);
    }
    (all.len() == rank).then_some(all)
}

/// Replaces dimensions of one label by their diagonal.
fn diagonals(c: &mut Context<'_, '_>, term: &mut Term) -> Result {
    while let Some((first, second)) = twice(&term.labels) {
        let rank = term.labels.len();
        // Both dimensions to the end: [.., n, n] to [.., n n]; every (n + 1)th element of that.
        let mut permutation: Vec<usize> = (0..rank)
            .filter(|&axis| axis != first && axis != second)
            .collect();
        permutation.extend([first, second]);
        let id = c.transpose(term.id, &permutation)?;
        let size = c.shape(id)?.dims()[rank - 1];
        if size < 0 {
            return Err(Problem::unsupported(
                "a diagonal of dimensions that are not known; give the model fixed input shapes",
            ));
        }
        let mut groups: Vec<Vec<usize>> = (0..rank - 2).map(|axis| vec![axis]).collect();
        groups.push(vec![rank - 2, rank - 1]);
        let id = c.merge_step(id, &groups)?;
        let start = c.integers(&[0])?;
        let end = c.integers(&[i64::MAX])?;
        let axes = c.integers(&[-1])?;
        let step = c.integers(&[size.saturating_add(1)])?;
        term.id = c.step_deferred(
            ParameterRule::Slice,
            &[id],
            &[Some(start), Some(end), Some(axes), Some(step)],
        )?;
        let label = term.labels[first];
        term.labels = permutation[..rank - 2]
            .iter()
            .map(|&axis| term.labels[axis])
            .collect();
        term.labels.push(label);
    }
    Ok(())
}

fn twice(labels: &[Label]) -> Option<(usize, usize)> {
    (0..labels.len()).find_map(|first| {
        let second = (first + 1..labels.len()).find(|&second| labels[second] == labels[first])?;
        Some((first, second))
    })
}

/// Sums over the dimensions whose labels are not needed.
fn sum_out(c: &mut Context<'_, '_>, term: &mut Term, needed: impl Fn(&Label) -> bool) -> Result {
    let axes: Vec<usize> = (0..term.labels.len())
        .filter(|&axis| !needed(&term.labels[axis]))
        .collect();
    if axes.is_empty() {
        return Ok(());
    }
    term.id = c.reduce(Reduce::Sum, term.id, &axes, false)?;
    term.labels.retain(|label| needed(label));
    Ok(())
}

/// The product of two terms, summed over what is no longer needed: one matrix product, with labels
/// of both that are needed for a batch.
fn product(
    c: &mut Context<'_, '_>,
    mut x: Term,
    mut y: Term,
    needed: impl Fn(&Label) -> bool,
) -> Result<Term> {
    sum_out(c, &mut x, |label| needed(label) || y.labels.contains(label))?;
    sum_out(c, &mut y, |label| needed(label) || x.labels.contains(label))?;
    sum_what_is_broadcast(c, &mut x, &mut y, &needed)?;
    let both = |label: &&Label| y.labels.contains(label);
    // The batch of the ellipsis broadcasts, and so does an ellipsis that only one term has.
    let mut batch: Vec<Label> = x
        .labels
        .iter()
        .filter(|label| both(label) && needed(label))
        .copied()
        .collect();
    batch.sort_unstable();
    let summed: Vec<Label> = x
        .labels
        .iter()
        .filter(|label| both(label) && !needed(label))
        .copied()
        .collect();
    let rows: Vec<Label> = x
        .labels
        .iter()
        .filter(|label| !both(label))
        .copied()
        .collect();
    let columns: Vec<Label> = (y.labels.iter())
        .filter(|label| !x.labels.contains(label))
        .copied()
        .collect();
    let left: Vec<Label> = [&batch[..], &rows, &summed].concat();
    let right: Vec<Label> = [&batch[..], &summed, &columns].concat();
    if batch.len() + rows.len() + columns.len() > Shape::MAX_RANK {
        return Err(Problem::unsupported("more than 8 dimensions of a product"));
    }
    let x_id = arranged(c, &x, &left)?;
    let y_id = arranged(c, &y, &right)?;
    let n = batch.len();
    let (x_id, y_id) = of_same_sums(c, (x_id, n + rows.len()), (y_id, n), summed.len())?;
    let matrix = |first: usize, second: usize| -> Vec<Vec<usize>> {
        (0..n)
            .map(|axis| vec![axis])
            .chain([
                (n..n + first).collect(),
                (n + first..n + first + second).collect(),
            ])
            .collect()
    };
    let x_matrix = c.merge_step(x_id, &matrix(rows.len(), summed.len()))?;
    let y_matrix = c.merge_step(y_id, &matrix(summed.len(), columns.len()))?;
    let data_type = c.info(x_matrix)?.data_type;
    let product = match data_type.is_float() || data_type.is_quantized() {
        true => c.step(
            BatchMatMulDescriptor::new(false, false),
            &[x_matrix, y_matrix],
        )?,
        false => integer_product(c, x_matrix, y_matrix)?,
    };
    let labels: Vec<Label> = [&batch[..], &rows, &columns].concat();
    // The rows and columns as they were.
    let product_rank = c.shape(product)?.rank();
    if rows.len() == 1 && columns.len() == 1 {
        return Ok(Term {
            id: product,
            labels,
        });
    }
    let batch_dims = c.shape_step(product, 0, product_rank.saturating_sub(2))?;
    let row_dims = c.shape_step(x_id, n, n + rows.len())?;
    let column_dims = c.shape_step(y_id, n + summed.len(), n + summed.len() + columns.len())?;
    let concat = ConcatDescriptor { axis: 0 };
    let dims = c.step(concat, &[batch_dims, row_dims, column_dims])?;
    let rule = ParameterRule::Reshape { allow_zero: true };
    let id = c.step_deferred(rule, &[product], &[Some(dims)])?;
    Ok(Term { id, labels })
}

/// Sums over dimensions that both terms have, that are not needed, and whose size is 1 in one of them
/// and larger in the other: each is summed for itself, as what is 1 is a factor of the whole sum.
fn sum_what_is_broadcast(
    c: &mut Context<'_, '_>,
    x: &mut Term,
    y: &mut Term,
    needed: impl Fn(&Label) -> bool,
) -> Result {
    let (x_shape, y_shape) = (c.shape(x.id)?, c.shape(y.id)?);
    let mut broadcast = Vec::new();
    for (label, &size) in x.labels.iter().zip(x_shape.dims()) {
        let Some(at) = y.labels.iter().position(|other| other == label) else {
            continue;
        };
        match (size, y_shape.dims()[at]) {
            _ if needed(label) => {}
            // What is not known is made equal later on.
            (x_size, y_size) if x_size < 0 || y_size < 0 || x_size == y_size => {}
            (1, _) | (_, 1) => broadcast.push(*label),
            (x_size, y_size) => {
                return Err(Problem::malformed(format!(
                    "a sum is over a dimension of {x_size} in one input and of {y_size} in another"
                )));
            }
        }
    }
    for term in [x, y] {
        sum_out(c, term, |label| !broadcast.contains(label))?;
    }
    Ok(())
}

/// Both tensors, each with where its `count` dimensions begin that are summed over: if a size of those
/// is not known, with what is 1 in one of them repeated as often as the other has it.
fn of_same_sums(
    c: &mut Context<'_, '_>,
    (x, x_first): (TensorId, usize),
    (y, y_first): (TensorId, usize),
    count: usize,
) -> Result<(TensorId, TensorId)> {
    let (x_shape, y_shape) = (c.shape(x)?, c.shape(y)?);
    let sizes = [
        &x_shape.dims()[x_first..][..count],
        &y_shape.dims()[y_first..][..count],
    ];
    if sizes.concat().iter().all(|&size| size >= 0) {
        return Ok((x, y));
    }
    let x_sizes = c.shape_step(x, x_first, x_first + count)?;
    let y_sizes = c.shape_step(y, y_first, y_first + count)?;
    let one = c.integers(&[1])?;
    let equal = ComparisonDescriptor::new(ComparisonOperation::Equal);
    let is_one = c.step(equal, &[x_sizes, one])?;
    let sizes = c.step(SelectDescriptor::new(), &[is_one, y_sizes, x_sizes])?;
    let repeated = |c: &mut Context<'_, '_>, id, first: usize| -> Result<TensorId> {
        // What stands behind is broadcast to 1, which leaves it.
        let behind = c.shape(id)?.rank() - first - count;
        let ones = c.integers(&vec![1; behind])?;
        let target = c.step(ConcatDescriptor { axis: 0 }, &[sizes, ones])?;
        let rule = ParameterRule::BroadcastTo {
            bidirectional: true,
        };
        c.step_deferred(rule, &[id], &[Some(target)])
    };
    Ok((repeated(c, x, x_first)?, repeated(c, y, y_first)?))
}

fn arranged(c: &mut Context<'_, '_>, term: &Term, labels: &[Label]) -> Result<TensorId> {
    let permutation = order(&term.labels, labels);
    let permutation = permutation.ok_or_else(|| Problem::malformed("its equation"))?;
    if permutation.iter().enumerate().all(|(to, &from)| to == from) {
        return Ok(term.id);
    }
    c.transpose(term.id, &permutation)
}

/// Where each label of `to` is in `from`; none if one is not there.
fn order(from: &[Label], to: &[Label]) -> Option<Vec<usize>> {
    if from.len() != to.len() {
        return None;
    }
    to.iter()
        .map(|label| from.iter().position(|other| other == label))
        .collect()
}
