//! Attention in which several heads of queries share keys, with a cache; rotary embeddings.

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonOperation as Comparison, DataType, GatherDescriptor,
    PaddingMode, ScatterElementsDescriptor, ScatterFunction,
};
use armnn_network::{PadLayout, ParameterRule, TensorId};

use super::attention::{Weighting, heads, refuse, softmax_attention};
use super::masks;
use crate::lowering::attention::{Turned, range, split_axis, turned};
use crate::lowering::context::Context;
use crate::lowering::problem::{Problem, Result};

/// Inputs: queries (with keys and values behind them, if those are left out), keys, values, past
/// keys, past values, the number of keys of each batch less 1, the largest such number, cosines,
/// sines, positions, what is added to scores.
///
/// New keys are written into the cache behind those that are there; it grows where it is too short.
pub(super) fn group_query_attention(c: &mut Context<'_, '_>) -> Result {
    refuse(
        c,
        &["sliding_window_cache", "qk_output", "kv_cache_bit_width"],
    )?;
    let smooth = c.attributes.int("smooth_softmax", 0)? > 0;
    for name in ["k_quant_type", "v_quant_type"] {
        if c.attributes.text(name, "NONE")? != "NONE" {
            return Err(Problem::unsupported("a quantized cache"));
        }
    }
    for name in ["qk_norm_epsilon", "q_norm_epsilon", "k_norm_epsilon"] {
        c.attributes.ignore(name);
    }
    if let Some(position) = (11..17).find(|&position| c.has_input(position)) {
        return Err(Problem::unsupported(format!(
            "its input {position} (sinks, scales of the cache, normalization or lengths of queries)"
        )));
    }
    let (q_heads, kv_heads) = (heads(c, "num_heads")?, heads(c, "kv_num_heads")?);
    let [q, k, v] = projections(c, q_heads, kv_heads)?;
    // Per batch: how many keys there are before the first query.
    let queries = c.shape_step(q, 1, 2)?;
    let last = c.input(5)?;
    let last = c.cast(last, DataType::Signed64)?;
    let last = c.merge_step(last, &[vec![0], vec![]])?;
    let one = c.number_like(last, 1.0)?;
    let counts = c.binary(Binary::Add, last, one)?;
    let before = c.binary(Binary::Sub, counts, queries)?;
    let zero = c.number_like(before, 0.0)?;
    let before = c.binary(Binary::Maximum, before, zero)?;
    let steps = range(c, queries)?;
    // [B, S]
    let positions = c.binary(Binary::Add, before, steps)?;
    let (mut q, mut k) = (q, k);
    if c.attributes.flag("do_rotary", false)? {
        let interleaved = c.attributes.flag("rotary_interleaved", false)?;
        let at = c.optional_input(9)?.unwrap_or(positions);
        let tables = tables(c, [7, 8], at)?;
        let how = Turned {
            interleaved,
            elements: 0,
        };
        q = turned(c, q, tables, how)?;
        k = turned(c, k, tables, how)?;
    } else {
        c.attributes.ignore("rotary_interleaved");
    }
    let [q, mut k, mut v] = [
        c.transpose(q, &[0, 2, 1, 3])?,
        c.transpose(k, &[0, 2, 1, 3])?,
        c.transpose(v, &[0, 2, 1, 3])?,
    ];
    let total = c.input(6)?;
    let total = c.cast(total, DataType::Signed64)?;
    let total = c.merge_step(total, &[vec![]])?;
    let mut present = [k, v];
    if let (Some(past_k), Some(past_v)) = (c.optional_input(3)?, c.optional_input(4)?) {
        let at = c.merge_step(positions, &[vec![0], vec![], vec![1], vec![]])?;
        present = [
            written(c, past_k, k, at, total)?,
            written(c, past_v, v, at, total)?,
        ];
        [k, v] = [until(c, present[0], total)?, until(c, present[1], total)?];
    }
    let bias = visible(c, positions, counts, k)?;
    let cap = c.attributes.float("softcap", 0.0)?;
    let how = Weighting { cap, smooth };
    let output = softmax_attention(c, [q, k, v], Some(bias), how)?;
    c.bind_tensor(0, output)?;
    for (position, id) in [(1, present[0]), (2, present[1])] {
        if c.has_output(position) {
            c.bind_tensor(position, id)?;
        }
    }
    Ok(())
}

/// Queries, keys and values, [B, S, N, H].
fn projections(c: &mut Context<'_, '_>, q_heads: i64, kv_heads: i64) -> Result<[TensorId; 3]> {
    let query = c.input(0)?;
    if c.has_input(1) {
        let (key, value) = (c.input(1)?, c.input(2)?);
        return Ok([
            split_axis(c, query, 2, [q_heads, -1])?,
            split_axis(c, key, 2, [kv_heads, -1])?,
            split_axis(c, value, 2, [kv_heads, -1])?,
        ]);
    }
    let all = kv_heads.saturating_mul(2).saturating_add(q_heads);
    let packed = split_axis(c, query, 2, [all, -1])?;
    let first_value = q_heads.saturating_add(kv_heads);
    Ok([
        c.sliced(packed, 2, 0, q_heads)?,
        c.sliced(packed, 2, q_heads, first_value)?,
        c.sliced(packed, 2, first_value, all)?,
    ])
}

/// A cache with new keys or values written into it, [B, N, S, H] at positions [B, 1, S, 1]; at least
/// as long as is said.
fn written(
    c: &mut Context<'_, '_>,
    cache: TensorId,
    new: TensorId,
    positions: TensorId,
    total: TensorId,
) -> Result<TensorId> {
    let length = c.shape_step(cache, 2, 3)?;
    let lack = c.binary(Binary::Sub, total, length)?;
    let zero = c.integers(&[0])?;
    let lack = c.binary(Binary::Maximum, lack, zero)?;
    let pads = c.step(
        armnn_backend_api::ConcatDescriptor { axis: 0 },
        &[zero, lack],
    )?;
    let axes = c.integers(&[2])?;
    let rule = ParameterRule::Pad {
        mode: PaddingMode::Constant,
        value: 0.0,
        layout: PadLayout::Sides,
        negative_as_none: false,
    };
    let cache = c.step_deferred(rule, &[cache], &[Some(pads), None, Some(axes)])?;
    let dims = c.shape_step(new, 0, 4)?;
    let rule = ParameterRule::BroadcastTo {
        bidirectional: false,
    };
    let positions = c.step_deferred(rule, &[positions], &[Some(dims)])?;
    let scatter = ScatterElementsDescriptor::new(2, ScatterFunction::Update);
    c.step(scatter, &[cache, positions, new])
}

/// The first keys or values of a cache.
fn until(c: &mut Context<'_, '_>, cache: TensorId, total: TensorId) -> Result<TensorId> {
    let (start, axes) = (c.integers(&[0])?, c.integers(&[2])?);
    let parameters = [Some(start), Some(total), Some(axes)];
    c.step_deferred(ParameterRule::Slice, &[cache], &parameters)
}

/// What is added to scores: queries see keys up to their own position, and as many before it as the
/// window says.
fn visible(
    c: &mut Context<'_, '_>,
    positions: TensorId,
    counts: TensorId,
    k: TensorId,
) -> Result<TensorId> {
    let data_type = c.info(k)?.data_type;
    let length = c.shape_step(k, 2, 3)?;
    let keys = range(c, length)?;
    let queries = c.merge_step(positions, &[vec![0], vec![], vec![1], vec![]])?;
    let mut sees = match c.attributes.flag("causal", true)? {
        true => masks::compared(c, Comparison::GreaterOrEqual, queries, keys)?,
        false => {
            let counts = c.merge_step(counts, &[vec![0], vec![], vec![], vec![1]])?;
            masks::compared(c, Comparison::Less, keys, counts)?
        }
    };
    let window = c.attributes.int("local_window_size", -1)?;
    if window > 0 {
        let size = c.number_like(queries, window as f64)?;
        let from = c.binary(Binary::Sub, queries, size)?;
        let near = masks::compared(c, Comparison::Less, from, keys)?;
        sees = masks::both(c, sees, near)?;
    }
    let hidden = masks::added(c, sees, data_type, f64::NEG_INFINITY)?;
    let bias = c.optional_input(10)?;
    let sum = masks::sum(c, Some(hidden), bias)?;
    sum.ok_or_else(|| Problem::malformed("it has no mask"))
}

/// Inputs: x, [B, S, N H] or [B, N, S, H]; positions, [B, S], or the first one, [1]; cosines and
/// sines by position.
pub(super) fn rotary_embedding(c: &mut Context<'_, '_>) -> Result {
    refuse(c, &["is_packed_batching"])?;
    let interleaved = c.attributes.flag("interleaved", false)?;
    if c.attributes.float("scale", 1.0)? != 1.0 {
        return Err(Problem::unsupported("a scale of a rotary embedding"));
    }
    let elements = c.attributes.int("rotary_embedding_dim", 0)?;
    let heads = c.attributes.int("num_heads", 0)?;
    let input = c.input(0)?;
    let shape = c.shape(input)?;
    let packed = shape.rank() == 3;
    let mut parts = [heads, -1];
    if packed && heads == 0 {
        // Heads are turned as a whole.
        let half = c.input_shape(2)?.dims().get(1).copied().unwrap_or(-1);
        let size = half.saturating_mul(2);
        parts = match shape.dims()[2] {
            hidden if hidden > 0 && size > 0 => [hidden / size, -1],
            _ if size > 0 => [-1, size],
            _ => return Err(Problem::unsupported("a number of heads that is not known")),
        };
    }
    let x = match packed {
        true => split_axis(c, input, 2, parts)?,
        false => c.transpose(input, &[0, 2, 1, 3])?,
    };
    let mut positions = c.input(1)?;
    if c.shape(positions)?.rank() == 1 {
        let length = c.shape_step(x, 1, 2)?;
        let steps = range(c, length)?;
        let first = c.cast(positions, DataType::Signed64)?;
        let all = c.binary(Binary::Add, steps, first)?;
        positions = c.merge_step(all, &[vec![], vec![0]])?;
    }
    let tables = tables(c, [2, 3], positions)?;
    let output = turned(
        c,
        x,
        tables,
        Turned {
            interleaved,
            elements,
        },
    )?;
    let output = match packed {
        true => c
            .last()
            .merge_step(output, &[vec![0], vec![1], vec![2, 3]])?,
        false => c.last().transpose(output, &[0, 2, 1, 3])?,
    };
    c.bind_tensor(0, output)
}

/// Cosines and sines of positions, [B, S, 1, D].
fn tables(
    c: &mut Context<'_, '_>,
    inputs: [usize; 2],
    positions: TensorId,
) -> Result<[TensorId; 2]> {
    let mut tables = [positions; 2];
    for (table, input) in tables.iter_mut().zip(inputs) {
        let all = c.input(input)?;
        let rows = c.step(GatherDescriptor { axis: 0 }, &[all, positions])?;
        *table = c.merge_step(rows, &[vec![0], vec![1], vec![], vec![2]])?;
    }
    Ok(tables)
}
