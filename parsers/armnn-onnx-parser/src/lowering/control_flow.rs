//! If, Loop and Scan.

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::{LoopBody, Network, RuntimeOperation, ScanAxis, ScanBody, TensorId, ValueType};

use super::bodies::{Given, captured_tensors};
use super::context::{Context, axis};
use super::problem::{Problem, Result};
use super::tensor_info::shape as shape_of;
use super::{Lowering, State};
use crate::model::Body;

/// How often a body is lowered until the shapes of what it carries stay the same, before all of
/// their dimensions are taken for unknown.
const MOST_ROUNDS: usize = 4;

/// Where the condition is constant, the branch takes the place of the node.
pub(super) fn if_then_else(c: &mut Context<'_, '_>) -> Result {
    let (then_body, else_body) = (c.body("then_branch")?, c.body("else_branch")?);
    if let Some(condition) = c.constant(0)? {
        let [condition] = condition.known_integers(1, "the condition")?[..] else {
            return Err(Problem::malformed("its condition is no single element"));
        };
        let (body, what) = match condition {
            0 => (else_body, "else"),
            _ => (then_body, "then"),
        };
        let states = c.inlined(body, what, Vec::new())?;
        return bind_states(c, states);
    }
    if let Some(body) = squeeze_of_one(c, then_body, else_body)? {
        let states = c.inlined(body, "then", Vec::new())?;
        return bind_states(c, states);
    }
    let captured = c.captured(&[then_body, else_body])?;
    let operation = RuntimeOperation::If {
        then_body: c.body_network(then_body, "then", &[], &captured)?,
        else_body: c.body_network(else_body, "else", &[], &captured)?,
    };
    let mut inputs = vec![Some(c.input(0)?)];
    inputs.extend(captured_tensors(&captured));
    emit_runtime(c, operation, &inputs)
}

/// The branch that takes dimensions of size 1 away, if that is all that the node is about: whether
/// a dimension of a tensor is 1; then a Squeeze of it, else the tensor as it is.
///
/// This is what exporters of PyTorch make of `squeeze`. What comes behind is made for one of both
/// ranks, and networks have no tensors of a rank that is not known: the Squeeze takes the place of
/// the node, and where the dimension turns out not to be 1, it says so as an error.
fn squeeze_of_one<'m>(
    c: &mut Context<'_, 'm>,
    then_body: &'m Body,
    else_body: &'m Body,
) -> Result<Option<&'m Body>> {
    let (Some(tensor), Some(same)) = (squeezed(then_body), passed_on(else_body)) else {
        return Ok(None);
    };
    if tensor != same {
        return Ok(None);
    }
    let condition = c.input_index(0);
    c.lowering.find_writers();
    let tests_the_tensor = condition.is_some_and(|at| c.lowering.tests_a_size(at, tensor));
    Ok(tests_the_tensor.then_some(then_body))
}

/// The value around a body that it squeezes, if it does nothing else.
fn squeezed(body: &Body) -> Option<usize> {
    let mut nodes = body
        .graph
        .nodes
        .iter()
        .filter(|node| node.op_type != "Constant");
    let (Some(node), None) = (nodes.next(), nodes.next()) else {
        return None;
    };
    let [(_, output)] = body.graph.outputs[..] else {
        return None;
    };
    let is_squeeze = node.op_type == "Squeeze" && node.domain.is_empty();
    let writes = node.outputs.first().copied().flatten() == Some(output);
    (is_squeeze && writes).then(|| captured_by(body, node.inputs.first().copied().flatten()?))?
}

/// The value around a body that is its only output.
fn passed_on(body: &Body) -> Option<usize> {
    let [(_, output)] = body.graph.outputs[..] else {
        return None;
    };
    match &body.graph.nodes[..] {
        [] => captured_by(body, output),
        [node] if node.op_type == "Identity" && node.domain.is_empty() => {
            let writes = node.outputs.first().copied().flatten() == Some(output);
            writes.then(|| captured_by(body, node.inputs.first().copied().flatten()?))?
        }
        _ => None,
    }
}

fn captured_by(body: &Body, inner: usize) -> Option<usize> {
    let mut captures = body.captures.iter();
    captures
        .find(|capture| capture.inner == inner)
        .map(|capture| capture.outer)
}

impl Lowering<'_> {
    /// Looks up which node writes each value, once.
    fn find_writers(&mut self) {
        if self.writers.is_empty() {
            for (index, node) in self.graph.nodes.iter().enumerate() {
                let outputs = node.outputs.iter().flatten();
                self.writers.extend(outputs.map(|&value| (value, index)));
            }
        }
    }

    /// Whether a condition is that an element of the shape of a tensor is 1.
    fn tests_a_size(&self, condition: usize, tensor: usize) -> bool {
        /// How far back the element is looked for.
        const MOST_STEPS: usize = 8;
        let writer = |value: usize| {
            let index = self.writers.get(&value)?;
            let node = self.graph.nodes.get(*index);
            node.filter(|node| node.domain.is_empty())
        };
        let Some(equal) = writer(condition).filter(|node| node.op_type == "Equal") else {
            return false;
        };
        let [Some(x), Some(y)] = equal.inputs[..] else {
            return false;
        };
        let is_one = |value: usize| match &self.states[value] {
            State::Constant(constant, _) => constant
                .known_integers(1, "a size")
                .is_ok_and(|values| values == [1]),
            _ => false,
        };
        let mut at = match (is_one(x), is_one(y)) {
            (false, true) => x,
            (true, false) => y,
            _ => return false,
        };
        for _ in 0..MOST_STEPS {
            let Some(node) = writer(at) else {
                return false;
            };
            let Some(Some(first)) = node.inputs.first() else {
                return false;
            };
            match node.op_type.as_str() {
                "Shape" => return *first == tensor,
                "Gather" | "Slice" | "Squeeze" | "Unsqueeze" | "Cast" | "Identity" => at = *first,
                _ => return false,
            }
        }
        false
    }
}

/// Inputs: how often at most, whether at all, the carried values.
pub(super) fn loop_body(c: &mut Context<'_, '_>) -> Result {
    let body = c.body("body")?;
    let n_carried = c.node.inputs.len().saturating_sub(2);
    let mut inputs = vec![c.optional_input(0)?, c.optional_input(1)?];
    let mut carried = Vec::with_capacity(n_carried);
    for position in 2..2 + n_carried {
        carried.push(c.input(position)?);
    }
    let captured = c.captured(&[body])?;
    let scalar = |data_type| ValueType::Tensor(TensorInfo::new(data_type, Shape::SCALAR));
    let first = [scalar(DataType::Signed64), scalar(DataType::Boolean)];
    let network = settled(c, body, &carried, 1, |c, types| {
        let all = first.iter().cloned().chain(types.iter().cloned());
        let given = named(body, all.map(Given::Input))?;
        c.body_network(body, "body", &given, &captured)
    })?;
    inputs.extend(carried.into_iter().map(Some));
    inputs.extend(captured_tensors(&captured));
    let operation = RuntimeOperation::Loop(LoopBody { network, n_carried });
    emit_runtime(c, operation, &inputs)
}

/// Inputs: the states, then what is scanned. Before version 9 there is a batch, whose sequences are
/// scanned one by one; here, a batch of one.
pub(super) fn scan(c: &mut Context<'_, '_>) -> Result {
    let body = c.body("body")?;
    let scanned = c
        .attributes
        .optional_int("num_scan_inputs")?
        .and_then(|count| usize::try_from(count).ok())
        .filter(|&count| count > 0)
        .ok_or_else(|| Problem::malformed("it has no num_scan_inputs"))?;
    let batched = c.version < 9;
    let offset = usize::from(batched);
    if batched && c.has_input(0) {
        return Err(Problem::unsupported("lengths of sequences (sequence_lens)"));
    }
    let n_inputs = c.node.inputs.len().saturating_sub(offset);
    let n_states = n_inputs
        .checked_sub(scanned)
        .ok_or_else(|| Problem::malformed("it has less inputs than num_scan_inputs"))?;
    let n_outputs = c.node.outputs.len().saturating_sub(n_states);
    let mut tensors = Vec::with_capacity(n_inputs);
    for position in 0..n_inputs {
        let mut id = c.input(position + offset)?;
        if batched {
            id = without_batch(c, id)?;
        }
        tensors.push(id);
    }
    let input_axes = if batched {
        let directions = directions(c, "directions", scanned)?;
        directions
            .into_iter()
            .map(|reverse| ScanAxis { axis: 0, reverse })
            .collect()
    } else {
        scan_axes(c, "scan_input_axes", "scan_input_directions", scanned)?
    };
    let output_axes = if batched {
        vec![ScanAxis::default(); n_outputs]
    } else {
        scan_axes(c, "scan_output_axes", "scan_output_directions", n_outputs)?
    };
    let captured = c.captured(&[body])?;
    let mut elements = Vec::with_capacity(scanned);
    for (&id, along) in tensors[n_states..].iter().zip(&input_axes) {
        let info = c.info(id)?.clone();
        let mut dims = info.shape.dims().to_vec();
        dims.remove(axis(along.axis, dims.len())?);
        let shape = shape_of(&dims)?;
        elements.push(ValueType::Tensor(TensorInfo { shape, ..info }));
    }
    let states = tensors[..n_states].to_vec();
    let network = settled(c, body, &states, 0, |c, types| {
        let all = types.iter().chain(&elements).cloned();
        let given = named(body, all.map(Given::Input))?;
        c.body_network(body, "body", &given, &captured)
    })?;
    let operation = RuntimeOperation::Scan(ScanBody {
        network,
        n_states,
        inputs: input_axes,
        outputs: output_axes,
    });
    let mut inputs: Vec<Option<TensorId>> = tensors.into_iter().map(Some).collect();
    inputs.extend(captured_tensors(&captured));
    if !batched {
        return emit_runtime(c, operation, &inputs);
    }
    let name = c.step_name("Scan");
    let outputs = c
        .lowering
        .builder
        .add_runtime_layer(&name, operation, &inputs)?;
    for (position, id) in outputs.into_iter().enumerate() {
        if c.has_output(position) {
            let rank = c.shape(id)?.rank();
            let groups: Vec<Vec<usize>> = std::iter::once(Vec::new())
                .chain((0..rank).map(|axis| vec![axis]))
                .collect();
            let id = c.merge_step(id, &groups)?;
            c.bind_tensor(position, id)?;
        }
    }
    Ok(())
}

fn without_batch(c: &mut Context<'_, '_>, id: TensorId) -> Result<TensorId> {
    let shape = c.shape(id)?;
    if shape.dims().first() != Some(&1) {
        return Err(Problem::unsupported(format!(
            "a Scan before version 9 over a batch other than of one ({shape})"
        )));
    }
    let groups: Vec<Vec<usize>> = (1..shape.rank()).map(|axis| vec![axis]).collect();
    c.merge_step(id, &groups)
}

fn scan_axes(
    c: &Context<'_, '_>,
    axes: &str,
    reversed: &str,
    count: usize,
) -> Result<Vec<ScanAxis>> {
    let axes = match c.attributes.ints(axes)? {
        Some(axes) if axes.len() == count => axes.to_vec(),
        Some(axes) => return Err(Problem::malformed(format!("its axes are {axes:?}"))),
        None => vec![0; count],
    };
    let directions = directions(c, reversed, count)?;
    let both = axes.into_iter().zip(directions);
    Ok(both
        .map(|(axis, reverse)| ScanAxis { axis, reverse })
        .collect())
}

fn directions(c: &Context<'_, '_>, name: &str, count: usize) -> Result<Vec<bool>> {
    match c.attributes.ints(name)? {
        Some(list) if list.len() == count => Ok(list.iter().map(|&entry| entry != 0).collect()),
        Some(list) => Err(Problem::malformed(format!("its {name} are {list:?}"))),
        None => Ok(vec![false; count]),
    }
}

/// The names of a body's inputs with what they are given.
pub(super) fn named(
    body: &Body,
    given: impl Iterator<Item = Given>,
) -> Result<Vec<(String, Given)>> {
    let names = body.graph.inputs.iter();
    let mut names = names.map(|&index| body.graph.values[index].name.clone());
    given
        .map(|given| match names.next() {
            Some(name) => Ok((name, given)),
            None => Err(Problem::malformed(
                "its graph has less inputs than it is given",
            )),
        })
        .collect()
}

/// Lowers a body for what it carries until the types stay the same: what changes from one iteration
/// to the next has unknown dimensions. `first` is the position of the first carried output.
fn settled<'c, 'm>(
    c: &mut Context<'c, 'm>,
    body: &Body,
    carried: &[TensorId],
    first: usize,
    lower: impl Fn(&mut Context<'c, 'm>, &[ValueType]) -> Result<std::sync::Arc<Network>>,
) -> Result<std::sync::Arc<Network>> {
    let mut types = carried
        .iter()
        .map(|&id| c.value_type(id))
        .collect::<Result<Vec<_>>>()?;
    for round in 0.. {
        let network = lower(c, &types)?;
        let outputs = network.outputs().iter().skip(first);
        let outputs: Vec<ValueType> = outputs
            .map(|output| {
                let tensor = network.tensor(output.tensor);
                let plain = || ValueType::Tensor(tensor.info.clone());
                tensor.value_type.clone().unwrap_or_else(plain)
            })
            .collect();
        if outputs.len() < types.len() {
            return Err(Problem::malformed(format!(
                "its graph has {} outputs for {} carried values",
                outputs.len(),
                types.len()
            )));
        }
        let next = types
            .iter()
            .zip(&outputs)
            .enumerate()
            .map(|(position, (before, after))| {
                general(before, after, round >= MOST_ROUNDS).ok_or_else(|| {
                    let name = body.graph.outputs.get(first + position);
                    Problem::unsupported(format!(
                        "\"{}\", which is {before} at first and {after} after an iteration",
                        crate::error::Short(name.map_or("", |(name, _)| name))
                    ))
                })
            })
            .collect::<Result<Vec<_>>>()?;
        if next == types {
            return Ok(network);
        }
        if round > MOST_ROUNDS {
            break;
        }
        types = next;
    }
    Err(Problem::unsupported(
        "carried values whose types change with every iteration",
    ))
}

/// What is true of both; `wide` makes all dimensions unknown where some differ. None where ranks or
/// types differ.
fn general(before: &ValueType, after: &ValueType, wide: bool) -> Option<ValueType> {
    if before == after {
        return Some(before.clone());
    }
    let dims = |a: &Shape, b: &Shape| {
        let pairs = a.dims().iter().zip(b.dims());
        let dims: Vec<i64> = pairs
            .map(|(&x, &y)| if x == y && !wide { x } else { Shape::UNKNOWN })
            .collect();
        (a.rank() == b.rank())
            .then(|| Shape::new(&dims).ok())
            .flatten()
    };
    Some(match (before, after) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) if a.data_type == b.data_type => {
            let shape = dims(&a.shape, &b.shape)?;
            ValueType::Tensor(TensorInfo { shape, ..a.clone() })
        }
        (ValueType::Strings(a), ValueType::Strings(b)) => ValueType::Strings(dims(a, b)?),
        // The type of an empty sequence is not known; what is put into it says it.
        (ValueType::Sequence(a), ValueType::Sequence(b)) => ValueType::Sequence(Box::new(
            general(a, b, wide).unwrap_or_else(|| (**b).clone()),
        )),
        (ValueType::Optional(a), ValueType::Optional(b)) => {
            ValueType::Optional(Box::new(general(a, b, wide)?))
        }
        _ => return None,
    })
}

/// Adds the operation that writes all outputs.
pub(super) fn emit_runtime(
    c: &mut Context<'_, '_>,
    operation: RuntimeOperation,
    inputs: &[Option<TensorId>],
) -> Result {
    let name = c.layer_name(0);
    let ids = c
        .lowering
        .builder
        .add_runtime_layer(&name, operation, inputs)?;
    if ids.len() < c.output_count() {
        return Err(Problem::malformed(format!(
            "it has {} outputs, but its graph {}",
            c.output_count(),
            ids.len()
        )));
    }
    c.bind_all(&ids)
}

fn bind_states(c: &mut Context<'_, '_>, states: Vec<State>) -> Result {
    if states.len() < c.output_count() {
        return Err(Problem::malformed(format!(
            "it has {} outputs, but its graph {}",
            c.output_count(),
            states.len()
        )));
    }
    for (position, state) in states.into_iter().enumerate() {
        if c.has_output(position) {
            c.bind(position, state)?;
        }
    }
    Ok(())
}
