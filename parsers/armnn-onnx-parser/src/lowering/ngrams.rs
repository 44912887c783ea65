//! TfIdfVectorizer.

use std::sync::Arc;

use armnn_network::{NgramCounter, NgramNode, NgramTree, RuntimeOperation, Weighting};

use super::context::Context;
use super::control_flow::emit_runtime;
use super::problem::{Problem, Result};

/// How many items all runs together may have: more than any model's.
const MOST_ITEMS: usize = 1 << 24;

pub(super) fn tf_idf_vectorizer(c: &mut Context<'_, '_>) -> Result {
    let length = |name: &str| -> Result<usize> {
        let value = c.attributes.optional_int(name)?;
        let value = value.and_then(|value| usize::try_from(value).ok());
        value.ok_or_else(|| Problem::malformed(format!("its {name} is no number of items")))
    };
    let least_length = length("min_gram_length")?;
    let most_length = length("max_gram_length")?;
    let most_skipped = length("max_skip_count")?;
    if least_length == 0 || least_length > most_length {
        return Err(Problem::malformed(format!(
            "it counts runs of {least_length} to {most_length} items"
        )));
    }
    let weighting = match c.attributes.text("mode", "")? {
        "TF" => Weighting::Count,
        "IDF" => Weighting::Presence,
        "TFIDF" => Weighting::Product,
        other => {
            let other = crate::error::Short(other);
            return Err(Problem::malformed(format!("its mode is \"{other}\"")));
        }
    };
    let starts = places(c, "ngram_counts")?;
    let places = places(c, "ngram_indexes")?;
    let width = places.iter().max().map_or(0, |last| last + 1);
    if width > MOST_ITEMS {
        return Err(Problem::unsupported(format!("{width} places of counts")));
    }
    let weights = c.attributes.floats("weights")?.unwrap_or_default();
    if !weights.is_empty() && weights.len() != places.len() {
        return Err(Problem::malformed(format!(
            "it has {} weights of {} runs",
            weights.len(),
            places.len()
        )));
    }
    c.pay_for(weights.len().saturating_mul(size_of::<f32>()))?;
    let lengths = least_length..=most_length;
    let tree = match (
        c.attributes.texts("pool_strings")?,
        c.attributes.ints("pool_int64s")?,
    ) {
        (Some(pool), None) => {
            c.pay_for(pool.iter().map(|text| text.len().saturating_add(64)).sum())?;
            let pool: Vec<String> = pool.into_iter().map(str::to_owned).collect();
            NgramTree::Strings(tree(&pool, &starts, &places, lengths)?)
        }
        (None, Some(pool)) => {
            c.pay_for(pool.len().saturating_mul(64))?;
            NgramTree::Integers(tree(pool, &starts, &places, lengths)?)
        }
        _ => return Err(Problem::malformed("it has not one pool of runs")),
    };
    let counter = NgramCounter {
        least_length,
        most_length,
        most_skipped,
        weighting,
        weights: weights.to_vec(),
        tree,
        width,
    };
    let input = c.input(0)?;
    emit_runtime(
        c,
        RuntimeOperation::CountNgrams(Arc::new(counter)),
        &[Some(input)],
    )
}

/// A list of numbers from 0 on.
fn places(c: &Context<'_, '_>, name: &str) -> Result<Vec<usize>> {
    let list = c.attributes.ints(name)?;
    let list = list.ok_or_else(|| Problem::malformed(format!("it has no {name}")))?;
    let places = list.iter().map(|&place| usize::try_from(place).ok());
    let places: Option<Vec<usize>> = places.collect();
    places.ok_or_else(|| Problem::malformed(format!("one of its {name} is below 0")))
}

/// The runs of a pool: at `starts[n]` those of n + 1 items begin, one after the other; each has a
/// place.
fn tree<T: Clone + Eq + std::hash::Hash>(
    pool: &[T],
    starts: &[usize],
    places: &[usize],
    lengths: std::ops::RangeInclusive<usize>,
) -> Result<Vec<NgramNode<T>>> {
    let mut tree = vec![NgramNode::default()];
    let mut places = places.iter();
    for (at, &start) in starts.iter().enumerate() {
        let (length, end) = (at + 1, starts.get(at + 1).copied().unwrap_or(pool.len()));
        let runs = pool.get(start..end).filter(|runs| runs.len() % length == 0);
        let runs = runs.ok_or_else(|| {
            let problem = format!("runs of {length} items from {start} to {end} of its pool");
            Problem::malformed(problem)
        })?;
        for run in runs.chunks_exact(length) {
            let place = places.next();
            let place = place.ok_or_else(|| Problem::malformed("it has too few ngram_indexes"))?;
            if lengths.contains(&length) {
                NgramNode::insert(&mut tree, run, *place);
            }
        }
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use crate::test_model::{TestModel, int, list, text};

    #[test]
    fn every_run_of_the_pool_has_a_place() {
        let model = |pool: &[i64], places: &[i64]| {
            let attributes = [
                text("mode", "TF"),
                int("min_gram_length", 1),
                int("max_gram_length", 2),
                int("max_skip_count", 0),
                list("ngram_counts", &[0, 1]),
                list("ngram_indexes", places),
                list("pool_int64s", pool),
            ];
            TestModel::new(9)
                .typed_input("x", crate::model::ElementType::INT64, &[2, 4])
                .node("TfIdfVectorizer", &["x"], &["y"], &attributes)
                .output("y")
                .parse()
        };
        let network = model(&[3, 4, 5], &[0, 6]).unwrap();
        let output = network.tensor(network.outputs()[0].tensor);
        assert_eq!(output.info.shape.dims(), [2, 7]);
        assert!(model(&[3, 4, 5, 6], &[0, 6]).is_err());
        assert!(model(&[3, 4, 5], &[0]).is_err());
        assert!(model(&[3, 4, 5], &[0, -1]).is_err());
    }
}
