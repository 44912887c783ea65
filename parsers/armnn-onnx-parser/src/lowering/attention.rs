//! Attention and what belongs to it.
//!
//! Heads of keys and values that several heads of queries share are not repeated: products have a
//! dimension for the sharing heads, along which they broadcast.

use armnn_backend_api::{
    BatchMatMulDescriptor, BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation,
    ConcatDescriptor, DataType, GatherDescriptor, LogicalBinaryDescriptor, LogicalBinaryOperation,
    PaddingMode, ReduceOperation as Reduce, ScatterElementsDescriptor, ScatterFunction,
    SelectDescriptor, SoftmaxDescriptor, UnaryOperation as Unary,
};
use armnn_network::{PadLayout, ParameterRule, TensorId};

use super::State;
use super::constant::Constant;
use super::context::{Context, axis};
use super::generation::data_type_of;
use super::problem::{Problem, Result};

/// Inputs: queries, keys, values, mask, past keys, past values, numbers of keys that count.
pub(super) fn attention(c: &mut Context<'_, '_>) -> Result {
    let rank = c.input_shape(0)?.rank();
    let heads = |name: &str| -> Result<Option<i64>> {
        let heads = c.attributes.optional_int(name)?;
        match heads {
            Some(heads) if heads < 1 => Err(Problem::malformed(format!("its {name} is {heads}"))),
            heads => Ok(heads),
        }
    };
    let (q_heads, kv_heads) = (heads("q_num_heads")?, heads("kv_num_heads")?);
    let packed = rank == 3;
    let mut qkv = [c.input(0)?, c.input(1)?, c.input(2)?];
    if packed {
        let (Some(q_heads), Some(kv_heads)) = (q_heads, kv_heads) else {
            return Err(Problem::malformed("it has no q_num_heads or kv_num_heads"));
        };
        for (id, heads) in qkv.iter_mut().zip([q_heads, kv_heads, kv_heads]) {
            let split = split_axis(c, *id, 2, [heads, -1])?;
            *id = c.transpose(split, &[0, 2, 1, 3])?;
        }
    }
    let [q, mut k, mut v] = qkv;
    let data_type = c.info(q)?.data_type;
    let queries = c.shape_step(q, 2, 3)?;
    let has_past = c.has_input(4);
    let mut offset = None;
    if has_past {
        let (past_key, past_value) = (c.input(4)?, c.input(5)?);
        offset = Some(c.shape_step(past_key, 2, 3)?);
        k = c.step(ConcatDescriptor { axis: 2 }, &[past_key, k])?;
        v = c.step(ConcatDescriptor { axis: 2 }, &[past_value, v])?;
    }
    let keys = c.shape_step(k, 2, 3)?;
    // Per batch: [B, 1, 1, 1].
    let counts = match c.optional_input(6)? {
        Some(counts) => {
            let counts = c.cast(counts, DataType::Signed64)?;
            Some(c.merge_step(counts, &[vec![0], vec![], vec![], vec![]])?)
        }
        None => None,
    };
    if let (None, Some(counts)) = (offset, counts) {
        offset = Some(c.binary(Binary::Sub, counts, queries)?);
    }
    let bias = bias(c, data_type, (queries, keys), offset, counts)?;
    let scale = scale(c, q)?;
    let root = c.unary(Unary::Sqrt, scale)?;
    let root = c.cast(root, data_type)?;
    let (q, k_scaled) = (
        c.binary(Binary::Mul, q, root)?,
        c.binary(Binary::Mul, k, root)?,
    );
    let raw = scores(c, q, k_scaled)?;
    let cap = c.attributes.float("softcap", 0.0)?;
    let capped = match cap > 0.0 {
        true => {
            let cap = c.number_like(raw, cap.into())?;
            let small = c.binary(Binary::Div, raw, cap)?;
            let tanh = armnn_backend_api::ActivationFunction::TanH;
            let bent = armnn_backend_api::ActivationDescriptor::new(tanh, 1.0, 1.0);
            let small = c.step(bent, &[small])?;
            c.binary(Binary::Mul, small, cap)?
        }
        false => raw,
    };
    let biased = match bias {
        Some(bias) => c.binary(Binary::Add, capped, bias)?,
        None => capped,
    };
    let precision = match c.attributes.optional_int("softmax_precision")? {
        Some(number) => data_type_of(number)?,
        None => data_type,
    };
    let logits = c.cast(biased, precision)?;
    let mut weights = c.step(SoftmaxDescriptor { beta: 1.0, axis: 3 }, &[logits])?;
    weights = c.cast(weights, data_type)?;
    if let Some(bias) = bias {
        // What may attend to nothing has weights of 0.
        let last = c.shape(bias)?.rank().saturating_sub(1);
        let most = c.reduce(Reduce::Max, bias, &[last], true)?;
        let nothing = c.unary(Unary::IsNegInf, most)?;
        let zero = c.number_like(weights, 0.0)?;
        weights = c.step(SelectDescriptor::new(), &[nothing, zero, weights])?;
    }
    let probe = match c.attributes.int("qk_matmul_output_mode", 0)? {
        0 => raw,
        1 => capped,
        2 => biased,
        3 => weights,
        other => {
            return Err(Problem::malformed(format!(
                "its qk_matmul_output_mode is {other}"
            )));
        }
    };
    let output = weighted(c, weights, v, packed)?;
    c.bind_all(&[output, k, v, probe])
}

/// 1 through the root of the size of a head, unless something else is said.
pub(super) fn scale(c: &mut Context<'_, '_>, q: TensorId) -> Result<TensorId> {
    if let Some(scale) = c.attributes.optional_float("scale")?.filter(|&s| s != 0.0) {
        return c.number(DataType::Float32, &[], &[scale.into()]);
    }
    let size = c.shape(q)?.dims().get(3).copied().unwrap_or(-1);
    if size > 0 {
        let scale = 1.0 / (size as f64).sqrt();
        return c.number(DataType::Float32, &[], &[scale]);
    }
    let size = c.shape_step(q, 3, 4)?;
    let size = c.cast(size, DataType::Float32)?;
    c.unary(Unary::Rsqrt, size)
}

/// The products of queries and keys, [B, Hq, L, S].
pub(super) fn scores(c: &mut Context<'_, '_>, q: TensorId, k: TensorId) -> Result<TensorId> {
    let product = BatchMatMulDescriptor::new(false, true);
    match sharing(c, q, k)? {
        None => c.step(product, &[q, k]),
        Some((kv_heads, sharing)) => {
            let q = split_axis(c, q, 1, [kv_heads, sharing])?;
            let k = c.merge_step(k, &shared_groups())?;
            let scores = c.step(product, &[q, k])?;
            c.merge_step(scores, &joined_groups())
        }
    }
}

/// The weights times the values, which writes the first output; with heads put behind each other
/// if they are `packed`.
pub(super) fn weighted(
    c: &mut Context<'_, '_>,
    weights: TensorId,
    v: TensorId,
    packed: bool,
) -> Result<TensorId> {
    let product = BatchMatMulDescriptor::new(false, false);
    let output = match sharing(c, weights, v)? {
        None => {
            c.is_last = !packed;
            c.step(product, &[weights, v])?
        }
        Some((kv_heads, sharing)) => {
            let weights = split_axis(c, weights, 1, [kv_heads, sharing])?;
            let v = c.merge_step(v, &shared_groups())?;
            let output = c.step(product, &[weights, v])?;
            c.is_last = !packed;
            c.merge_step(output, &joined_groups())?
        }
    };
    if !packed {
        return Ok(output);
    }
    let output = c.transpose(output, &[0, 2, 1, 3])?;
    c.last().merge_step(output, &[vec![0], vec![1], vec![2, 3]])
}

/// How many heads of keys there are, and how many of queries share each; none if each has its own.
fn sharing(c: &Context<'_, '_>, q: TensorId, k: TensorId) -> Result<Option<(i64, i64)>> {
    let heads = |id| -> Result<i64> {
        let shape = c.shape(id)?;
        match shape.dims() {
            &[_, heads, _, _] if heads > 0 => Ok(heads),
            _ => Err(Problem::unsupported(format!(
                "an attention of {shape}; numbers of heads must be known"
            ))),
        }
    };
    let (q_heads, kv_heads) = (heads(q)?, heads(k)?);
    match q_heads {
        _ if q_heads == kv_heads => Ok(None),
        _ if q_heads % kv_heads == 0 => Ok(Some((kv_heads, q_heads / kv_heads))),
        _ => Err(Problem::malformed(format!(
            "it has {q_heads} heads of queries and {kv_heads} of keys"
        ))),
    }
}

/// Heads of keys with a dimension for those of queries that share them.
fn shared_groups() -> Vec<Vec<usize>> {
    vec![vec![0], vec![1], vec![], vec![2], vec![3]]
}

fn joined_groups() -> Vec<Vec<usize>> {
    vec![vec![0], vec![1, 2], vec![3], vec![4]]
}

/// A dimension cut into two, of which one may be -1.
pub(super) fn split_axis(
    c: &mut Context<'_, '_>,
    x: TensorId,
    at: usize,
    parts: [i64; 2],
) -> Result<TensorId> {
    let rank = c.shape(x)?.rank();
    if at >= rank {
        return Err(Problem::malformed(format!(
            "its input has {rank} dimensions"
        )));
    }
    let parts = c.integers(&parts)?;
    let mut lists = Vec::new();
    if at > 0 {
        lists.push(c.shape_step(x, 0, at)?);
    }
    lists.push(parts);
    if at + 1 < rank {
        lists.push(c.shape_step(x, at + 1, rank)?);
    }
    let dims = match lists[..] {
        [dims] => dims,
        _ => c.step(ConcatDescriptor { axis: 0 }, &lists)?,
    };
    let rule = ParameterRule::Reshape { allow_zero: true };
    c.step_deferred(rule, &[x], &[Some(dims)])
}

/// What is added to the products: the mask, and negative infinity where a query does not see a key.
fn bias(
    c: &mut Context<'_, '_>,
    data_type: DataType,
    (queries, keys): (TensorId, TensorId),
    offset: Option<TensorId>,
    counts: Option<TensorId>,
) -> Result<Option<TensorId>> {
    let causal = c.attributes.flag("is_causal", false)?;
    let window = |name: &str| -> Result<Option<i64>> {
        Ok(Some(c.attributes.int(name, -1)?).filter(|&size| size >= 0))
    };
    let (left, mut right) = match c.version {
        25.. => (window("left_window_size")?, window("right_window_size")?),
        _ => (None, None),
    };
    if causal {
        right = Some(0);
    }
    let mut bias = match c.optional_input(3)? {
        Some(mask) => Some(padded_mask(c, mask, keys)?),
        None => None,
    };
    let mut allowed: Option<TensorId> = None;
    let also = |c: &mut Context<'_, '_>, allowed: &mut Option<TensorId>, more: TensorId| {
        *allowed = Some(match *allowed {
            Some(so_far) => {
                let and = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalAnd);
                c.step(and, &[so_far, more])?
            }
            None => more,
        });
        Ok::<(), Problem>(())
    };
    let column = range(c, keys)?;
    if left.is_some() || right.is_some() {
        let row = range(c, queries)?;
        let mut row = c.merge_step(row, &[vec![0], vec![]])?;
        if let Some(offset) = offset {
            row = c.binary(Binary::Add, row, offset)?;
        }
        for (bound, is_left) in [(left, true), (right, false)] {
            let Some(bound) = bound else { continue };
            let moved = match (bound, is_left) {
                (0, _) => row,
                (bound, true) => {
                    let bound = c.number_like(row, bound as f64)?;
                    c.binary(Binary::Sub, row, bound)?
                }
                (bound, false) => {
                    let bound = c.number_like(row, bound as f64)?;
                    c.binary(Binary::Add, row, bound)?
                }
            };
            let comparison = ComparisonDescriptor::new(match is_left {
                true => ComparisonOperation::LessOrEqual,
                false => ComparisonOperation::GreaterOrEqual,
            });
            let sees = c.step(comparison, &[moved, column])?;
            also(c, &mut allowed, sees)?;
        }
    }
    if let Some(counts) = counts {
        let less = ComparisonDescriptor::new(ComparisonOperation::Less);
        let counts = c.step(less, &[column, counts])?;
        also(c, &mut allowed, counts)?;
    }
    let (zero, nothing) = (
        c.number(data_type, &[], &[0.0])?,
        c.number(data_type, &[], &[f64::NEG_INFINITY])?,
    );
    if let Some(mask) = bias
        && c.info(mask)?.data_type == DataType::Boolean
    {
        bias = Some(c.step(SelectDescriptor::new(), &[mask, zero, nothing])?);
    }
    if let Some(mask) = bias {
        bias = Some(c.cast(mask, data_type)?);
    }
    Ok(match (allowed, bias) {
        (None, bias) => bias,
        (Some(allowed), bias) => {
            let hidden = c.step(SelectDescriptor::new(), &[allowed, zero, nothing])?;
            match bias {
                Some(bias) => Some(c.binary(Binary::Add, bias, hidden)?),
                None => Some(hidden),
            }
        }
    })
}

/// A mask may be shorter than there are keys; it is filled up so that they are not seen.
fn padded_mask(c: &mut Context<'_, '_>, mask: TensorId, keys: TensorId) -> Result<TensorId> {
    let shape = c.shape(mask)?;
    let Some(&last) = shape.dims().last() else {
        return Ok(mask);
    };
    let known = c.lowering.builder.known_value(keys);
    let known = known.and_then(|keys| keys.as_integers().and_then(|all| *all.first()?));
    if last >= 0 && known == Some(last) || last == 1 {
        return Ok(mask);
    }
    let value = match c.info(mask)?.data_type {
        DataType::Boolean => 0.0,
        _ => f64::NEG_INFINITY,
    };
    let rank = shape.rank();
    let length = c.shape_step(mask, rank - 1, rank)?;
    let lack = c.binary(Binary::Sub, keys, length)?;
    let zero = c.integers(&[0])?;
    let pads = c.step(ConcatDescriptor { axis: 0 }, &[zero, lack])?;
    let axes = c.integers(&[-1])?;
    let rule = ParameterRule::Pad {
        mode: PaddingMode::Constant,
        value,
        layout: PadLayout::Sides,
        negative_as_none: false,
    };
    c.step_deferred(rule, &[mask], &[Some(pads), None, Some(axes)])
}

/// 0, 1, … below a number, which is a list of one.
pub(super) fn range(c: &mut Context<'_, '_>, limit: TensorId) -> Result<TensorId> {
    let limit = c.merge_step(limit, &[])?;
    let zero = c.add_constant(&Constant::integers(DataType::Signed64, &[], &[0]))?;
    let one = c.add_constant(&Constant::integers(DataType::Signed64, &[], &[1]))?;
    let rule = ParameterRule::Range {
        rounded_quotient: false,
    };
    let inputs = [zero, limit, one];
    c.step_deferred(rule, &inputs, &inputs.map(Some))
}

/// Attention with graphs that change scores and probabilities, of ai.onnx.preview.
pub(super) fn flex_attention(c: &mut Context<'_, '_>) -> Result {
    let [q, k, v] = [c.input(0)?, c.input(1)?, c.input(2)?];
    let data_type = c.info(q)?.data_type;
    let precision = match c.attributes.optional_int("softmax_precision")? {
        Some(number) => data_type_of(number)?,
        None if data_type == DataType::Float64 => DataType::Float64,
        None => DataType::Float32,
    };
    let scale = scale(c, q)?;
    let scale = c.cast(scale, precision)?;
    let raw = scores(c, q, k)?;
    let raw = c.cast(raw, precision)?;
    let scores = c.binary(Binary::Mul, raw, scale)?;
    let scores = modified(c, "score_mod", scores)?;
    let weights = c.step(SoftmaxDescriptor { beta: 1.0, axis: 3 }, &[scores])?;
    let weights = modified(c, "prob_mod", weights)?;
    let weights = c.cast(weights, data_type)?;
    let output = weighted(c, weights, v, false)?;
    c.bind_tensor(0, output)
}

/// What a graph makes of a tensor, if there is one.
fn modified(c: &mut Context<'_, '_>, name: &str, x: TensorId) -> Result<TensorId> {
    if !c.attributes.has(name) {
        return Ok(x);
    }
    let body = c.body(name)?;
    let outputs = c.inlined(body, name, vec![State::Ready(x)])?;
    match outputs.first() {
        Some(State::Ready(id)) => Ok(*id),
        Some(State::Constant(constant, _)) => c.add_constant(constant),
        _ => Err(Problem::malformed(format!("its {name} has no output"))),
    }
}

/// Pairs of elements of each head turned by angles that depend on the position.
pub(super) fn rotary_embedding(c: &mut Context<'_, '_>) -> Result {
    let interleaved = c.attributes.flag("interleaved", false)?;
    let elements = c.attributes.int("rotary_embedding_dim", 0)?;
    let heads = c.attributes.int("num_heads", 0)?;
    let input = c.input(0)?;
    let packed = c.shape(input)?.rank() == 3;
    // [B, L, H, D]
    let x = match packed {
        true if heads > 0 => split_axis(c, input, 2, [heads, -1])?,
        true => return Err(Problem::malformed("it has no num_heads")),
        false => c.transpose(input, &[0, 2, 1, 3])?,
    };
    let mut tables = [c.input(1)?, c.input(2)?];
    if let Some(positions) = c.optional_input(3)? {
        for table in &mut tables {
            *table = c.step(GatherDescriptor { axis: 0 }, &[*table, positions])?;
        }
    }
    for table in &mut tables {
        *table = c.merge_step(*table, &[vec![0], vec![1], vec![], vec![2]])?;
    }
    let how = Turned {
        interleaved,
        elements,
    };
    let output = turned(c, x, tables, how)?;
    let output = match packed {
        true => c
            .last()
            .merge_step(output, &[vec![0], vec![1], vec![2, 3]])?,
        false => c.last().transpose(output, &[0, 2, 1, 3])?,
    };
    c.bind_tensor(0, output)
}

/// Which elements of a head are turned.
#[derive(Clone, Copy)]
pub(super) struct Turned {
    /// Whether pairs stand side by side, or their halves behind each other.
    pub(super) interleaved: bool,
    /// How many elements are turned; 0 for as many as the tables say.
    pub(super) elements: i64,
}

/// x, [B, L, H, D], with pairs of elements turned by angles, whose cosines and sines are
/// [B, L, 1, D / 2].
pub(super) fn turned(
    c: &mut Context<'_, '_>,
    x: TensorId,
    tables: [TensorId; 2],
    how: Turned,
) -> Result<TensorId> {
    let [cosine, sine] = tables;
    let Turned {
        interleaved,
        elements,
    } = how;
    let size = c.shape(x)?.dims().get(3).copied().unwrap_or(-1);
    let half = c.shape(cosine)?.dims().last().copied().unwrap_or(-1);
    let turned = match elements {
        0 if half > 0 => half.saturating_mul(2),
        0 => size,
        elements => elements,
    };
    if turned < 0 || turned % 2 != 0 {
        return Err(Problem::unsupported(format!(
            "{turned} elements of a head to be turned; their number must be known and even"
        )));
    }
    let whole = turned == size;
    let part = |c: &mut Context<'_, '_>, start: i64, end: i64, step: i64| {
        let parameters = [
            Some(c.integers(&[start])?),
            Some(c.integers(&[end])?),
            Some(c.integers(&[3])?),
            Some(c.integers(&[step])?),
        ];
        c.step_deferred(ParameterRule::Slice, &[x], &parameters)
    };
    let (first, second) = match interleaved {
        true => (part(c, 0, turned, 2)?, part(c, 1, turned, 2)?),
        false => (part(c, 0, turned / 2, 1)?, part(c, turned / 2, turned, 1)?),
    };
    let mul = |c: &mut Context<'_, '_>, x, y| c.binary(Binary::Mul, x, y);
    let (a, b) = (mul(c, cosine, first)?, mul(c, sine, second)?);
    let real = c.binary(Binary::Sub, a, b)?;
    let (a, b) = (mul(c, sine, first)?, mul(c, cosine, second)?);
    let imaginary = c.binary(Binary::Add, a, b)?;
    let mut output = match interleaved {
        true => {
            let groups = [vec![0], vec![1], vec![2], vec![3], vec![]];
            let (real, imaginary) = (
                c.merge_step(real, &groups)?,
                c.merge_step(imaginary, &groups)?,
            );
            let pairs = c.step(ConcatDescriptor { axis: 4 }, &[real, imaginary])?;
            c.merge_step(pairs, &[vec![0], vec![1], vec![2], vec![3, 4]])?
        }
        false => c.step(ConcatDescriptor { axis: 3 }, &[real, imaginary])?,
    };
    if !whole {
        let rest = part(c, turned, i64::MAX, 1)?;
        output = c.step(ConcatDescriptor { axis: 3 }, &[output, rest])?;
    }
    Ok(output)
}

/// An update written into a cache, for each batch from an index on.
pub(super) fn tensor_scatter(c: &mut Context<'_, '_>) -> Result {
    let circular = match c.attributes.text("mode", "linear")? {
        "linear" => false,
        "circular" => true,
        other => {
            return Err(Problem::malformed(format!(
                "its mode is \"{}\"",
                crate::error::Short(other)
            )));
        }
    };
    let (cache, update) = (c.input(0)?, c.input(1)?);
    let rank = c.shape(cache)?.rank();
    let along = axis(c.attributes.int("axis", -2)?, rank)?;
    if along == 0 {
        return Err(Problem::malformed("its axis is that of the batch"));
    }
    let length = c.shape_step(update, along, along + 1)?;
    let line = range(c, length)?;
    let mut groups = vec![Vec::new(); rank];
    groups[along] = vec![0];
    let mut indices = c.merge_step(line, &groups)?;
    if let Some(starts) = c.optional_input(2)? {
        let starts = c.cast(starts, DataType::Signed64)?;
        let mut groups = vec![Vec::new(); rank];
        groups[0] = vec![0];
        let starts = c.merge_step(starts, &groups)?;
        indices = c.binary(Binary::Add, indices, starts)?;
    }
    if circular {
        let size = c.shape_step(cache, along, along + 1)?;
        indices = c.binary(Binary::FloorMod, indices, size)?;
    }
    let dims = c.shape_step(update, 0, rank)?;
    let rule = ParameterRule::BroadcastTo {
        bidirectional: false,
    };
    let indices = c.step_deferred(rule, &[indices], &[Some(dims)])?;
    let along = super::context::small(along, "its axis")?;
    let scatter = ScatterElementsDescriptor::new(along, ScatterFunction::Update);
    c.emit(scatter, &[cache, indices, update])
}
