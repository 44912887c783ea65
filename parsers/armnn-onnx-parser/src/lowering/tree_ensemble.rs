//! Ensembles of decision trees, as layers: every element of a batch goes from node to node of all
//! trees at once, as many steps as the deepest has.

use std::collections::HashMap;

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation as Comparison, DataType,
    GatherDescriptor, GatherElementsDescriptor, LogicalBinaryDescriptor, LogicalBinaryOperation,
    ReduceOperation, SelectDescriptor, UnaryOperation as Unary,
};
use armnn_network::{ParameterRule, TensorId};

use super::classical::{PostTransform, post_transform};
use super::constant::Constant;
use super::context::Context;
use super::problem::{Problem, Result};

/// How many steps a tree may have: each is a handful of layers.
const MOST_STEPS: usize = 64;

/// How many nodes there may be.
const MOST_NODES: usize = 1 << 22;

/// A node. A leaf leads to itself.
#[derive(Clone, Debug)]
struct Node {
    feature: i64,
    value: f64,
    comparison: Comparison,
    /// Whether NaN goes where the comparison holds.
    nan_holds: bool,
    /// Where it leads if the comparison holds, and if not.
    next: [usize; 2],
}

/// Trees: their nodes, roots, and what leaves are worth.
#[derive(Debug, Default)]
pub(super) struct Ensemble {
    nodes: Vec<Node>,
    roots: Vec<usize>,
    /// The node, the target, the weight.
    pub(super) votes: Vec<(usize, usize, f64)>,
    n_targets: usize,
}

impl Ensemble {
    fn leaf(&mut self) -> usize {
        let at = self.nodes.len();
        self.nodes.push(Node {
            feature: 0,
            value: 0.0,
            comparison: Comparison::LessOrEqual,
            nan_holds: false,
            next: [at, at],
        });
        at
    }

    /// How many steps the deepest tree has; an error where a node leads back.
    fn depth(&self) -> Result<usize> {
        let mut level: Vec<usize> = self.roots.clone();
        let mut depth = 0;
        loop {
            let mut next: Vec<usize> = Vec::new();
            for &at in &level {
                let node = &self.nodes[at];
                next.extend(node.next.iter().filter(|&&next| next != at));
            }
            if next.is_empty() {
                return Ok(depth);
            }
            depth += 1;
            if depth > MOST_STEPS || next.len() > self.nodes.len() {
                return Err(Problem::unsupported(format!(
                    "trees of more than {MOST_STEPS} steps, or with a node in two places"
                )));
            }
            level = next;
        }
    }
}

/// TreeEnsemble, since version 5 of the domain.
pub(super) fn tree_ensemble(c: &mut Context<'_, '_>) -> Result {
    c.attributes.ignore("nodes_hitrates");
    let ints = |name: &str| -> Result<&[i64]> {
        let list = c.attributes.ints(name)?;
        list.ok_or_else(|| Problem::malformed(format!("it has no {name}")))
    };
    let features = ints("nodes_featureids")?;
    let next = [ints("nodes_truenodeids")?, ints("nodes_falsenodeids")?];
    let is_leaf = [ints("nodes_trueleafs")?, ints("nodes_falseleafs")?];
    let (targets, roots) = (ints("leaf_targetids")?, ints("tree_roots")?);
    let nan_holds = c.attributes.ints("nodes_missing_value_tracks_true")?;
    let nan_holds = nan_holds.unwrap_or_default();
    let splits = reals(c, "nodes_splits")?;
    let weights = reals(c, "leaf_weights")?;
    let modes = match c.attributes.tensor("nodes_modes")? {
        Some(tensor) => Constant::of_tensor(&c.lowering.model.tensor(tensor)?)?
            .known_integers(MOST_NODES, "nodes_modes")?,
        None => return Err(Problem::malformed("it has no nodes_modes")),
    };
    let members = match c.attributes.has("membership_values") {
        true => reals(c, "membership_values")?,
        false => Vec::new(),
    };
    let n_nodes = features.len();
    let lists = [next[0], next[1], is_leaf[0], is_leaf[1]];
    if lists.iter().any(|list| list.len() != n_nodes)
        || splits.len() != n_nodes
        || modes.len() != n_nodes
        || weights.len() != targets.len()
        || !(nan_holds.is_empty() || nan_holds.len() == n_nodes)
    {
        return Err(Problem::malformed("its lists of nodes differ in length"));
    }
    let n_targets = target_count(c)?;
    let mut ensemble = Ensemble {
        n_targets,
        ..Ensemble::default()
    };
    c.pay_for((n_nodes + weights.len() + members.len()).saturating_mul(size_of::<Node>()))?;
    // Leaves first, behind them the nodes, and behind these the further nodes of memberships.
    for (&target, &weight) in targets.iter().zip(&weights) {
        let leaf = ensemble.leaf();
        ensemble
            .votes
            .push((leaf, index(target, n_targets)?, weight));
    }
    let first = weights.len();
    for _ in 0..n_nodes {
        ensemble.leaf();
    }
    let mut members = members.into_iter();
    for at in 0..n_nodes {
        let place = |side: usize| -> Result<usize> {
            match is_leaf[side][at] {
                0 => Ok(first + index(next[side][at], n_nodes)?),
                _ => index(next[side][at], first),
            }
        };
        let mut node = Node {
            feature: features[at],
            value: splits[at],
            comparison: Comparison::Equal,
            nan_holds: nan_holds.get(at).is_some_and(|&holds| holds != 0),
            next: [place(0)?, place(1)?],
        };
        node.comparison = match modes[at] {
            0 => Comparison::LessOrEqual,
            1 => Comparison::Less,
            2 => Comparison::GreaterOrEqual,
            3 => Comparison::Greater,
            4 => Comparison::Equal,
            5 => Comparison::NotEqual,
            6 => Comparison::Equal,
            other => return Err(Problem::malformed(format!("a node of mode {other}"))),
        };
        if modes[at] != 6 {
            ensemble.nodes[first + at] = node;
            continue;
        }
        // One node for each member, up to NaN.
        let mut place = first + at;
        let mut own = members
            .by_ref()
            .take_while(|member| !member.is_nan())
            .peekable();
        if own.peek().is_none() {
            ensemble.nodes[place].next = [node.next[1]; 2];
        }
        while let Some(member) = own.next() {
            let more = match own.peek().is_some() {
                true => ensemble.leaf(),
                false => node.next[1],
            };
            ensemble.nodes[place] = Node {
                value: member,
                next: [node.next[0], more],
                ..node.clone()
            };
            place = more;
        }
    }
    for &root in roots {
        let root = index(root, n_nodes)?;
        // A tree that is a leaf: both ways lead to it.
        ensemble.roots.push(first + root);
    }
    let function = match c.attributes.int("aggregate_function", 1)? {
        0 => Aggregate::Average,
        1 => Aggregate::Sum,
        2 => Aggregate::Minimum,
        3 => Aggregate::Maximum,
        other => {
            return Err(Problem::malformed(format!(
                "its aggregate_function is {other}"
            )));
        }
    };
    let transform = PostTransform::numbered(c.attributes.int("post_transform", 0)?)?;
    let scores = scores(c, &ensemble, function)?;
    finish(c, scores, None, transform)
}

/// TreeEnsembleRegressor.
pub(super) fn regressor(c: &mut Context<'_, '_>) -> Result {
    let n_targets = target_count(c)?;
    let function = match c.attributes.text("aggregate_function", "SUM")? {
        "AVERAGE" => Aggregate::Average,
        "SUM" => Aggregate::Sum,
        "MIN" => Aggregate::Minimum,
        "MAX" => Aggregate::Maximum,
        other => {
            let other = crate::error::Short(other);
            return Err(Problem::malformed(format!(
                "its aggregate_function is \"{other}\""
            )));
        }
    };
    let ensemble = named_nodes(c, "target", n_targets)?;
    let transform = PostTransform::of(c)?;
    let base = either_reals(c, "base_values")?;
    let scores = scores(c, &ensemble, function)?;
    finish(c, scores, base, transform)
}

/// The nodes of the older operators, which name each by its tree and its number in it.
pub(super) fn named_nodes(
    c: &mut Context<'_, '_>,
    votes: &str,
    n_targets: usize,
) -> Result<Ensemble> {
    c.attributes.ignore("nodes_hitrates");
    c.attributes.ignore("nodes_hitrates_as_tensor");
    let list = |name: &str| -> Result<&[i64]> {
        let list = c.attributes.ints(name)?;
        list.ok_or_else(|| Problem::malformed(format!("it has no {name}")))
    };
    let (trees, numbers) = (list("nodes_treeids")?, list("nodes_nodeids")?);
    let features = list("nodes_featureids")?;
    let next = [list("nodes_truenodeids")?, list("nodes_falsenodeids")?];
    let vote_names = ["treeids", "nodeids", "ids"].map(|name| format!("{votes}_{name}"));
    let vote_trees = list(&vote_names[0])?;
    let (vote_numbers, vote_targets) = (list(&vote_names[1])?, list(&vote_names[2])?);
    let nan_holds = c.attributes.ints("nodes_missing_value_tracks_true")?;
    let nan_holds = nan_holds.unwrap_or_default();
    let modes = c.attributes.texts("nodes_modes")?.unwrap_or_default();
    let values = either_reals(c, "nodes_values")?.unwrap_or_default();
    let weights = either_reals(c, &format!("{votes}_weights"))?.unwrap_or_default();
    let n_nodes = trees.len();
    if [numbers, features, next[0], next[1]]
        .iter()
        .any(|list| list.len() != n_nodes)
        || values.len() != n_nodes
        || modes.len() != n_nodes
        || !(nan_holds.is_empty() || nan_holds.len() == n_nodes)
        || [vote_numbers.len(), vote_targets.len(), weights.len()] != [vote_trees.len(); 3]
    {
        return Err(Problem::malformed("its lists of nodes differ in length"));
    }
    c.pay_for((n_nodes + weights.len()).saturating_mul(size_of::<Node>()))?;
    let mut places = HashMap::with_capacity(n_nodes);
    let mut ensemble = Ensemble {
        n_targets,
        ..Ensemble::default()
    };
    for name in trees.iter().zip(numbers) {
        let place = ensemble.leaf();
        if places.insert(name, place).is_some() {
            return Err(Problem::malformed("one of its nodes is there twice"));
        }
    }
    let place = |tree: &i64, number: &i64| {
        let place = places.get(&(tree, number)).copied();
        place.ok_or_else(|| Problem::malformed(format!("there is no node {number} of tree {tree}")))
    };
    let mut is_root = vec![true; n_nodes];
    for at in 0..n_nodes {
        let comparison = match modes[at] {
            "LEAF" => continue,
            "BRANCH_LEQ" => Comparison::LessOrEqual,
            "BRANCH_LT" => Comparison::Less,
            "BRANCH_GTE" => Comparison::GreaterOrEqual,
            "BRANCH_GT" => Comparison::Greater,
            "BRANCH_EQ" => Comparison::Equal,
            "BRANCH_NEQ" => Comparison::NotEqual,
            other => {
                let other = crate::error::Short(other);
                return Err(Problem::unsupported(format!("a node of mode \"{other}\"")));
            }
        };
        let next = [
            place(&trees[at], &next[0][at])?,
            place(&trees[at], &next[1][at])?,
        ];
        for next in next {
            is_root[next] = false;
        }
        ensemble.nodes[at] = Node {
            feature: features[at],
            value: values[at],
            comparison,
            nan_holds: nan_holds.get(at).is_some_and(|&holds| holds != 0),
            next,
        };
    }
    ensemble.roots = (0..n_nodes).filter(|&at| is_root[at]).collect();
    let votes = vote_trees
        .iter()
        .zip(vote_numbers)
        .zip(vote_targets.iter().zip(&weights));
    for ((tree, number), (&target, &weight)) in votes {
        let vote = (place(tree, number)?, index(target, n_targets)?, weight);
        ensemble.votes.push(vote);
    }
    Ok(ensemble)
}

fn target_count(c: &Context<'_, '_>) -> Result<usize> {
    let count = c.attributes.int("n_targets", 1)?;
    let count = usize::try_from(count)
        .ok()
        .filter(|count| (1..=MOST_NODES).contains(count));
    count.ok_or_else(|| Problem::malformed("its n_targets is no number of targets"))
}

fn index(number: i64, count: usize) -> Result<usize> {
    let index = usize::try_from(number).ok().filter(|&index| index < count);
    index.ok_or_else(|| Problem::malformed(format!("number {number} of {count}")))
}

fn reals(c: &Context<'_, '_>, name: &str) -> Result<Vec<f64>> {
    match c.attributes.tensor(name)? {
        Some(tensor) => {
            let tensor = c.lowering.model.tensor(tensor)?;
            Constant::of_tensor(&tensor)?.known_reals(MOST_NODES, name)
        }
        None => Err(Problem::malformed(format!("it has no {name}"))),
    }
}

/// Numbers of an attribute of FLOATS, or of one that is a tensor.
pub(super) fn either_reals(c: &Context<'_, '_>, name: &str) -> Result<Option<Vec<f64>>> {
    if let Some(values) = c.attributes.floats(name)? {
        return Ok(Some(values.iter().map(|&value| value.into()).collect()));
    }
    let tensor = format!("{name}_as_tensor");
    match c.attributes.has(&tensor) {
        true => reals(c, &tensor).map(Some),
        false => Ok(None),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Aggregate {
    Average,
    Sum,
    Minimum,
    Maximum,
}

/// What the trees give together: [N, targets], of the type in which is computed.
pub(super) fn scores(
    c: &mut Context<'_, '_>,
    ensemble: &Ensemble,
    function: Aggregate,
) -> Result<TensorId> {
    let Ensemble {
        nodes,
        roots,
        votes,
        n_targets,
    } = ensemble;
    let mut x = c.input(0)?;
    let computed = match c.info(x)?.data_type {
        DataType::Float64 => DataType::Float64,
        _ => DataType::Float32,
    };
    x = c.cast(x, computed)?;
    let shape = c.shape(x)?;
    let &[_, width] = shape.dims() else {
        return Err(Problem::unsupported(format!("an input of shape {shape}")));
    };
    if roots.is_empty() {
        return Err(Problem::malformed("it has no tree"));
    }
    let wide_enough = |node: &Node| node.feature >= 0 && (width < 0 || node.feature < width);
    if !nodes
        .iter()
        .enumerate()
        .all(|(at, node)| node.next == [at; 2] || wide_enough(node))
    {
        return Err(Problem::malformed(format!(
            "a feature beyond the {width} of the input"
        )));
    }
    let depth = ensemble.depth()?;
    let count = i64::try_from(nodes.len()).unwrap_or(i64::MAX);
    let list = |c: &mut Context<'_, '_>, values: Vec<i64>| {
        c.pay_for(values.len().saturating_mul(size_of::<i64>()))?;
        c.integers(&values)
    };
    let feature = list(c, nodes.iter().map(|node| node.feature).collect())?;
    let holds = list(c, nodes.iter().map(|node| node.next[0] as i64).collect())?;
    let fails = list(c, nodes.iter().map(|node| node.next[1] as i64).collect())?;
    let split: Vec<f64> = nodes.iter().map(|node| node.value).collect();
    c.pay_for(split.len().saturating_mul(size_of::<f64>()))?;
    let split = c.number(computed, &[count], &split)?;
    let mut comparisons: Vec<Comparison> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        if node.next != [at; 2] && !comparisons.contains(&node.comparison) {
            comparisons.push(node.comparison);
        }
    }
    let flags = |c: &mut Context<'_, '_>, of: &dyn Fn(&Node) -> bool| {
        let flags: Vec<i64> = nodes.iter().map(|node| of(node).into()).collect();
        c.pay_for(flags.len())?;
        c.add_constant(&Constant::integers(DataType::Boolean, &[count], &flags))
    };
    let mut of_comparison = Vec::new();
    if comparisons.len() > 1 {
        for &comparison in &comparisons {
            of_comparison.push(flags(c, &|node| node.comparison == comparison)?);
        }
    }
    let nan_holds = match nodes.iter().any(|node| node.nan_holds) {
        true => Some(flags(c, &|node| node.nan_holds)?),
        false => None,
    };
    // Where each element of the batch is, in each tree: [N, trees].
    let start: Vec<i64> = roots.iter().map(|&root| root as i64).collect();
    let n_trees = c.integers(&[start.len() as i64])?;
    let mut place = list(c, start)?;
    let batch = c.shape_step(x, 0, 1)?;
    let concat = armnn_backend_api::ConcatDescriptor { axis: 0 };
    let dims = c.step(concat, &[batch, n_trees])?;
    let rule = ParameterRule::BroadcastTo {
        bidirectional: false,
    };
    place = c.step_deferred(rule, &[place], &[Some(dims)])?;
    let at = |c: &mut Context<'_, '_>, list: TensorId, place: TensorId| {
        c.step(GatherDescriptor { axis: 0 }, &[list, place])
    };
    let logical = LogicalBinaryDescriptor::new;
    for _ in 0..depth {
        let which = at(c, feature, place)?;
        let value = c.step(GatherElementsDescriptor { axis: 1 }, &[x, which])?;
        let bound = at(c, split, place)?;
        let mut condition = None;
        for (index, &comparison) in comparisons.iter().enumerate() {
            let mut one = c.step(ComparisonDescriptor::new(comparison), &[value, bound])?;
            if let Some(&flags) = of_comparison.get(index) {
                let applies = at(c, flags, place)?;
                one = c.step(logical(LogicalBinaryOperation::LogicalAnd), &[one, applies])?;
            }
            condition = Some(match condition {
                None => one,
                Some(all) => c.step(logical(LogicalBinaryOperation::LogicalOr), &[all, one])?,
            });
        }
        let Some(mut condition) = condition else {
            break;
        };
        if let Some(flags) = nan_holds {
            let applies = at(c, flags, place)?;
            let is_nan = c.unary(Unary::IsNan, value)?;
            let both = c.step(
                logical(LogicalBinaryOperation::LogicalAnd),
                &[is_nan, applies],
            )?;
            condition = c.step(
                logical(LogicalBinaryOperation::LogicalOr),
                &[condition, both],
            )?;
        }
        let (yes, no) = (at(c, holds, place)?, at(c, fails, place)?);
        place = c.step(SelectDescriptor::new(), &[condition, yes, no])?;
    }
    let absent = match function {
        Aggregate::Minimum => f64::from(f32::MAX),
        Aggregate::Maximum => f64::from(f32::MIN),
        Aggregate::Sum | Aggregate::Average => 0.0,
    };
    let size = nodes.len().saturating_mul(*n_targets);
    if size > MOST_NODES {
        return Err(Problem::unsupported(format!("{size} weights of leaves")));
    }
    c.pay_for(size.saturating_mul(size_of::<f64>()))?;
    let mut worth = vec![absent; size];
    let mut is_set = vec![false; size];
    for &(node, target, weight) in votes {
        let at = node * n_targets + target;
        worth[at] = match is_set[at] {
            true => worth[at] + weight,
            false => weight,
        };
        is_set[at] = true;
    }
    let worth = c.number(computed, &[count, *n_targets as i64], &worth)?;
    let votes = at(c, worth, place)?;
    let operation = match function {
        Aggregate::Average => ReduceOperation::Mean,
        Aggregate::Sum => ReduceOperation::Sum,
        Aggregate::Minimum => ReduceOperation::Min,
        Aggregate::Maximum => ReduceOperation::Max,
    };
    let scores = c.reduce(operation, votes, &[1], false)?;
    if absent == 0.0 {
        return Ok(scores);
    }
    // Of a target that no tree has voted for, 0, as ONNX Runtime has it.
    let absent = c.number(computed, &[], &[absent])?;
    let is_absent = c.step(
        ComparisonDescriptor::new(Comparison::Equal),
        &[scores, absent],
    )?;
    let zero = c.number(computed, &[], &[0.0])?;
    c.step(SelectDescriptor::new(), &[is_absent, zero, scores])
}

/// Adds what all elements have in common, and transforms scores; writes the first output.
fn finish(
    c: &mut Context<'_, '_>,
    mut scores: TensorId,
    base: Option<Vec<f64>>,
    transform: PostTransform,
) -> Result {
    let (data_type, shape) = (c.info(scores)?.data_type, c.shape(scores)?);
    if let Some(base) = base.filter(|base| !base.is_empty()) {
        let count = i64::try_from(base.len()).unwrap_or(0);
        if shape.dims().last() != Some(&count) && count != 1 {
            return Err(Problem::malformed(format!(
                "{count} base values of scores {shape}"
            )));
        }
        let base = c.number(data_type, &[count], &base)?;
        scores = c.binary(Binary::Add, scores, base)?;
    }
    // Since version 5 the output is of the input's type, before always Float32.
    let to = match c.node.op_type.as_str() {
        "TreeEnsemble" => c.input_type(0)?,
        _ => DataType::Float32,
    };
    post_transform(c, scores, transform, to)
}
