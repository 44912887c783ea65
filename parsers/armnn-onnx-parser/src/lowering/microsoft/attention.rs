//! Attention with as many heads of keys as of queries.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BatchMatMulDescriptor, BinaryOperation as Binary,
    ConcatDescriptor, DataType, SoftmaxDescriptor,
};
use armnn_network::{ParameterRule, TensorId};

use super::fused::with_bias;
use super::masks::{self, Lengths};
use super::quantized::{difference, parameter};
use crate::lowering::attention::{scale, scores, split_axis, weighted};
use crate::lowering::context::Context;
use crate::lowering::problem::{Problem, Result};

/// Queries, keys and values, [B, N, S, H].
struct Heads {
    q: TensorId,
    k: TensorId,
    v: TensorId,
}

/// Where masks stand among the inputs.
struct Masks {
    mask: usize,
    bias: Option<usize>,
}

/// Inputs: x, the weights and the bias of all three projections, a mask, past keys and values in one
/// tensor, what is added to scores.
pub(super) fn attention(c: &mut Context<'_, '_>) -> Result {
    refuse(c, &["do_rotary", "past_present_share_buffer"])?;
    if c.has_input(6) {
        return Err(Problem::unsupported("a buffer that past and present share"));
    }
    c.attributes.ignore("rotary_embedding_dim");
    let sizes = c.attributes.ints("qkv_hidden_sizes")?;
    let (x, weights) = (c.input(0)?, c.input(1)?);
    let projected = c.step(BatchMatMulDescriptor::new(false, false), &[x, weights])?;
    let bias = c.optional_input(2)?;
    let projected = with_bias(c, projected, bias)?;
    let masks = Masks {
        mask: 3,
        bias: Some(5),
    };
    projected_attention(c, projected, sizes, 4, &masks)
}

/// The same with quantized x and weights. Inputs: x, weights, bias, scale of x, scale of the
/// weights, mask, zero points of x and of the weights, past keys and values.
pub(super) fn q_attention(c: &mut Context<'_, '_>) -> Result {
    refuse(c, &["do_rotary", "past_present_share_buffer"])?;
    let x = difference(c, 0, 6, DataType::Float32)?;
    let weights = difference(c, 1, 7, DataType::Float32)?;
    let sums = c.step(BatchMatMulDescriptor::new(false, false), &[x, weights])?;
    let (x_scale, w_scale) = (parameter(c, 3)?, parameter(c, 4)?);
    let factor = c.binary(Binary::Mul, w_scale, x_scale)?;
    let projected = c.binary(Binary::Mul, sums, factor)?;
    let bias = c.optional_input(2)?;
    let projected = with_bias(c, projected, bias)?;
    projected_attention(
        c,
        projected,
        None,
        8,
        &Masks {
            mask: 5,
            bias: None,
        },
    )
}

/// The attention behind the projections, which are behind each other in the last dimension.
fn projected_attention(
    c: &mut Context<'_, '_>,
    projected: TensorId,
    sizes: Option<&[i64]>,
    past: usize,
    masks: &Masks,
) -> Result {
    let heads = heads(c, "num_heads")?;
    let shape = c.shape(projected)?;
    let sizes = match (sizes, shape.dims()) {
        (Some(&[q, k, v]), &[_, _, _]) => [q, k, v],
        (None | Some([]), &[_, _, all]) if all > 0 && all % 3 == 0 => [all / 3; 3],
        _ => {
            return Err(Problem::unsupported(format!(
                "projections of shape {shape}; the size of the last dimension must be known"
            )));
        }
    };
    let mut parts = [projected; 3];
    let mut start = 0i64;
    for (part, size) in parts.iter_mut().zip(sizes) {
        let end = start.saturating_add(size);
        let columns = c.sliced(projected, 2, start, end)?;
        *part = heads_first(c, columns, heads)?;
        start = end;
    }
    let [q, k, v] = parts;
    let past = c.optional_input(past)?;
    let past = match past {
        None => None,
        Some(past) => {
            let groups = [vec![0, 1], vec![2], vec![3], vec![4]];
            let keys = c.sliced(past, 0, 0, 1)?;
            let values = c.sliced(past, 0, 1, 2)?;
            Some((c.merge_step(keys, &groups)?, c.merge_step(values, &groups)?))
        }
    };
    let (all, output) = attended(c, Heads { q, k, v }, past, masks)?;
    c.bind_tensor(0, output)?;
    if c.has_output(1) {
        let groups = [vec![], vec![0], vec![1], vec![2], vec![3]];
        let (k, v) = (c.merge_step(all.k, &groups)?, c.merge_step(all.v, &groups)?);
        let present = c.step(ConcatDescriptor { axis: 0 }, &[k, v])?;
        c.bind_tensor(1, present)?;
    }
    Ok(())
}

/// Inputs: queries, keys, values, the bias of all three, a mask, what is added to scores, past keys,
/// past values.
pub(super) fn multi_head_attention(c: &mut Context<'_, '_>) -> Result {
    let count = heads(c, "num_heads")?;
    if c.has_input(8) || c.has_input(9) {
        return Err(Problem::unsupported("a buffer that past and present share"));
    }
    let query = c.input(0)?;
    let rank = c.shape(query)?.rank();
    let bias = c.optional_input(3)?;
    let key_rank = match c.has_input(1) {
        true => c.input_shape(1)?.rank(),
        false => 0,
    };
    let (q, k, v) = match (rank, key_rank) {
        (3, 4) => {
            let query = biased_part(c, query, bias, 0)?;
            (heads_first(c, query, count)?, c.input(1)?, c.input(2)?)
        }
        (3, 3) => {
            let (key, value) = (c.input(1)?, c.input(2)?);
            let query = biased_part(c, query, bias, 0)?;
            let key = biased_part(c, key, bias, 1)?;
            let value = biased_part(c, value, bias, 2)?;
            let q = heads_first(c, query, count)?;
            (
                q,
                heads_first(c, key, count)?,
                heads_first(c, value, count)?,
            )
        }
        _ => {
            return Err(Problem::unsupported(format!(
                "queries of {rank} dimensions with keys of {key_rank}; none packed with others are \
                 supported, as in ONNX Runtime on CPUs"
            )));
        }
    };
    let past = match (c.optional_input(6)?, c.optional_input(7)?) {
        (Some(keys), Some(values)) => Some((keys, values)),
        _ => None,
    };
    let masks = Masks {
        mask: 4,
        bias: Some(5),
    };
    let (all, output) = attended(c, Heads { q, k, v }, past, &masks)?;
    c.bind_tensor(0, output)?;
    for (position, id) in [(1, all.k), (2, all.v)] {
        if c.has_output(position) {
            c.bind_tensor(position, id)?;
        }
    }
    Ok(())
}

/// Adds the first, second or third part of the bias, all but the last of which are as long as x.
fn biased_part(
    c: &mut Context<'_, '_>,
    x: TensorId,
    bias: Option<TensorId>,
    part: i64,
) -> Result<TensorId> {
    let Some(bias) = bias else { return Ok(x) };
    let (size, all) = (last_size(c, x)?, last_size(c, bias)?);
    let start = match part {
        2 => all.saturating_sub(size),
        part => size.saturating_mul(part),
    };
    let bias = c.sliced(bias, 0, start, start.saturating_add(size))?;
    c.binary(Binary::Add, x, bias)
}

fn last_size(c: &Context<'_, '_>, x: TensorId) -> Result<i64> {
    let shape = c.shape(x)?;
    match shape.dims().last() {
        Some(&size) if size > 0 => Ok(size),
        _ => Err(Problem::unsupported(format!(
            "an attention with a bias of {shape}; its last dimension must be known"
        ))),
    }
}

/// Attention to past keys and these; the heads with the past before them, and the output, which is
/// the node's first.
fn attended(
    c: &mut Context<'_, '_>,
    heads: Heads,
    past: Option<(TensorId, TensorId)>,
    masks: &Masks,
) -> Result<(Heads, TensorId)> {
    let Heads { q, mut k, mut v } = heads;
    let new_keys = c.shape(k)?.dims().get(2).copied().unwrap_or(-1);
    let mut past_length = None;
    if let Some((keys, values)) = past {
        past_length = Some(c.shape_step(keys, 2, 3)?);
        k = c.step(ConcatDescriptor { axis: 2 }, &[keys, k])?;
        v = c.step(ConcatDescriptor { axis: 2 }, &[values, v])?;
    }
    let data_type = c.info(q)?.data_type;
    let lengths = Lengths {
        batches: c.shape_step(q, 0, 1)?,
        queries: c.shape_step(q, 2, 3)?,
        keys: c.shape_step(k, 2, 3)?,
        past: past_length,
    };
    let hidden = c.attributes.float("mask_filter_value", -10000.0)?;
    let mut bias = None;
    if let Some(mask) = c.optional_input(masks.mask)? {
        let batches = c.shape(q)?.dims().first().copied().unwrap_or(-1);
        let mask = masks::from_mask(c, mask, batches, lengths, (data_type, hidden))?;
        bias = Some(mask);
    }
    if c.attributes.flag("unidirectional", false)? {
        // Where there are more keys than queries, ONNX Runtime hides none of them from the last one.
        let may_differ = new_keys < 0 || c.shape(q)?.dims().get(2) != Some(&new_keys);
        let causal = masks::causal(c, lengths, data_type, may_differ)?;
        bias = masks::sum(c, bias, Some(causal))?;
    }
    if let Some(position) = masks.bias {
        let added = c.optional_input(position)?;
        bias = masks::sum(c, bias, added)?;
    }
    let output = softmax_attention(c, [q, k, v], bias, Weighting::default())?;
    Ok((Heads { q, k, v }, output))
}

/// How weights follow from products.
#[derive(Clone, Copy, Default)]
pub(super) struct Weighting {
    /// Where products are bent, if it is above 0.
    pub(super) cap: f32,
    /// Whether there is one more key of product 0, and of no value.
    pub(super) smooth: bool,
}

/// Softmax of the scaled products of queries and keys, with the bias added; times the values. Writes
/// the first output, [B, S, N H].
pub(super) fn softmax_attention(
    c: &mut Context<'_, '_>,
    [q, k, v]: [TensorId; 3],
    bias: Option<TensorId>,
    Weighting { cap, smooth }: Weighting,
) -> Result<TensorId> {
    let data_type = c.info(q)?.data_type;
    let scale = scale(c, q)?;
    let scale = c.cast(scale, data_type)?;
    let q = c.binary(Binary::Mul, q, scale)?;
    let mut logits = scores(c, q, k)?;
    if cap > 0.0 {
        let limit = c.number_like(logits, cap.into())?;
        let small = c.binary(Binary::Div, logits, limit)?;
        let bent = ActivationDescriptor::new(ActivationFunction::TanH, 1.0, 1.0);
        let small = c.step(bent, &[small])?;
        logits = c.binary(Binary::Mul, small, limit)?;
    }
    if let Some(bias) = bias {
        logits = c.binary(Binary::Add, logits, bias)?;
    }
    if smooth {
        let dims = c.shape_step(logits, 0, 3)?;
        let one = c.integers(&[1])?;
        let dims = c.step(ConcatDescriptor { axis: 0 }, &[dims, one])?;
        let zero = c.number_like(logits, 0.0)?;
        let zeros = c.step_deferred(ParameterRule::Fill, &[zero], &[Some(dims)])?;
        logits = c.step(ConcatDescriptor { axis: 3 }, &[logits, zeros])?;
    }
    let mut weights = c.step(SoftmaxDescriptor { beta: 1.0, axis: 3 }, &[logits])?;
    if smooth {
        weights = c.sliced(weights, 3, 0, -1)?;
    }
    weighted(c, weights, v, true)
}

/// A number of heads.
pub(super) fn heads(c: &Context<'_, '_>, name: &str) -> Result<i64> {
    match c.attributes.optional_int(name)? {
        Some(heads) if heads > 0 => Ok(heads),
        other => Err(Problem::malformed(format!("its {name} is {other:?}"))),
    }
}

/// [B, S, N H] to [B, N, S, H].
pub(super) fn heads_first(c: &mut Context<'_, '_>, x: TensorId, heads: i64) -> Result<TensorId> {
    let split = split_axis(c, x, 2, [heads, -1])?;
    c.transpose(split, &[0, 2, 1, 3])
}

/// Refuses what these attributes switch on.
pub(super) fn refuse(c: &Context<'_, '_>, flags: &[&str]) -> Result {
    for name in flags {
        if c.attributes.flag(name, false)? {
            return Err(Problem::unsupported(format!("what its {name} asks for")));
        }
    }
    Ok(())
}
