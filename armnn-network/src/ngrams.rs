//! Runs of strings or integers that are counted.

use std::collections::HashMap;

/// Counts how often runs of items are in a list, as ONNX's TfIdfVectorizer.
///
/// Input: strings, or integers (Signed32 or Signed64), as a list or as the rows of a matrix. Output:
/// Float32, for each row `width` numbers.
#[derive(Clone, Debug, Default)]
pub struct NgramCounter {
    /// Lengths of the runs that are counted: from this on.
    pub least_length: usize,
    /// And up to this.
    pub most_length: usize,
    /// How many items may at most be left out between one item of a run and the next; as many
    /// everywhere in it.
    pub most_skipped: usize,
    /// What becomes of the counts.
    pub weighting: Weighting,
    /// For each place of the output, the factor of the weighting; none for 1 everywhere.
    pub weights: Vec<f32>,
    /// The runs, as a tree: the nodes behind a node by their items, those of the root first.
    pub tree: NgramTree,
    /// How many numbers there are for each row.
    pub width: usize,
}

/// What becomes of counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weighting {
    /// They stay.
    #[default]
    Count,
    /// Those above 0 become the weight.
    Presence,
    /// They are multiplied by the weight.
    Product,
}

/// Runs of items, as a tree.
#[derive(Clone, Debug)]
pub enum NgramTree {
    /// Of strings.
    Strings(Vec<NgramNode<String>>),
    /// Of integers.
    Integers(Vec<NgramNode<i64>>),
}

/// A node of a tree of runs; node 0 is the root.
#[derive(Clone, Debug)]
pub struct NgramNode<T> {
    /// The place in the output of the run that ends here, if one does.
    pub place: Option<usize>,
    /// The nodes of longer runs, by their next item.
    pub next: HashMap<T, usize>,
}

impl Default for NgramTree {
    fn default() -> Self {
        Self::Integers(Vec::new())
    }
}

impl<T> Default for NgramNode<T> {
    fn default() -> Self {
        Self {
            place: None,
            next: HashMap::new(),
        }
    }
}

impl<T: std::hash::Hash + Eq + Clone> NgramNode<T> {
    /// Adds a run to a tree; it may be the beginning of another one, or have one as its beginning.
    pub fn insert(tree: &mut Vec<Self>, run: &[T], place: usize) {
        if tree.is_empty() {
            tree.push(Self::default());
        }
        let mut at = 0;
        for item in run {
            let new = tree.len();
            let next = *tree[at].next.entry(item.clone()).or_insert(new);
            if next == new {
                tree.push(Self::default());
            }
            at = next;
        }
        tree[at].place = Some(place);
    }
}

impl NgramCounter {
    /// The numbers of one row of strings; an error if runs are of integers.
    pub fn count_strings(&self, row: &[String], counts: &mut [f32]) -> Result<(), &'static str> {
        match &self.tree {
            NgramTree::Strings(tree) => self.count(tree, row, counts),
            NgramTree::Integers(_) => return Err("runs are of integers, and the input of strings"),
        }
        Ok(())
    }

    /// The numbers of one row of integers; an error if runs are of strings.
    pub fn count_integers(&self, row: &[i64], counts: &mut [f32]) -> Result<(), &'static str> {
        match &self.tree {
            NgramTree::Integers(tree) => self.count(tree, row, counts),
            NgramTree::Strings(_) => return Err("runs are of strings, and the input of integers"),
        }
        Ok(())
    }

    fn count<T: std::hash::Hash + Eq>(&self, tree: &[NgramNode<T>], row: &[T], counts: &mut [f32]) {
        let mut least = self.least_length;
        for step in 1..=self.most_skipped.saturating_add(1) {
            if least > self.most_length || step > 1 && step >= row.len() {
                break;
            }
            for start in 0..row.len() {
                let mut node = tree.first();
                let mut at = start;
                for length in 1..=self.most_length {
                    let next = node
                        .zip(row.get(at))
                        .and_then(|(node, item)| node.next.get(item));
                    node = next.and_then(|&next| tree.get(next));
                    let Some(found) = node else { break };
                    if length >= least
                        && let Some(count) = found.place.and_then(|place| counts.get_mut(place))
                    {
                        *count += 1.0;
                    }
                    at = at.saturating_add(step);
                }
            }
            // Single items are the same with any number left out.
            least = least.max(2);
        }
        for (place, count) in counts.iter_mut().enumerate() {
            let weight = self.weights.get(place).copied().unwrap_or(1.0);
            match self.weighting {
                Weighting::Count => {}
                Weighting::Presence => *count = if *count > 0.0 { weight } else { 0.0 },
                Weighting::Product => *count *= weight,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_with_items_left_out_between() {
        let mut tree = Vec::new();
        NgramNode::insert(&mut tree, &[5], 0);
        NgramNode::insert(&mut tree, &[5, 6], 1);
        let counter = |most_skipped, weighting| NgramCounter {
            least_length: 1,
            most_length: 2,
            most_skipped,
            weighting,
            weights: vec![3.0, 0.5],
            tree: NgramTree::Integers(tree.clone()),
            width: 2,
        };
        let counts = |counter: &NgramCounter, row: &[i64]| {
            let mut counts = [0.0; 2];
            counter.count_integers(row, &mut counts).unwrap();
            counts
        };
        // 5 three times; 5 6 next to each other twice, and once with one item between.
        let row = [5, 6, 5, 5, 6];
        assert_eq!(counts(&counter(0, Weighting::Count), &row), [3.0, 2.0]);
        assert_eq!(counts(&counter(1, Weighting::Count), &row), [3.0, 3.0]);
        assert_eq!(counts(&counter(1, Weighting::Product), &row), [9.0, 1.5]);
        assert_eq!(counts(&counter(1, Weighting::Presence), &row), [3.0, 0.5]);
        assert!(
            counter(0, Weighting::Count)
                .count_strings(&[], &mut [])
                .is_err()
        );
    }
}
