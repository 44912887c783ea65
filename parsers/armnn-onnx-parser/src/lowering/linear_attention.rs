//! Attention whose state is a matrix, and convolutions with a state.

use std::sync::Arc;

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BatchMatMulDescriptor, BinaryOperation as Binary,
    ConcatDescriptor, Convolution2dDescriptor, DataLayout, DataType, ElementwiseBinaryDescriptor,
    ElementwiseUnaryDescriptor, Shape, TensorInfo, UnaryOperation as Unary,
};
use armnn_network::{
    NetworkBuilder, OutputDeclaration, ParameterRule, RuntimeOperation, ScanAxis, ScanBody,
    TensorId,
};

use super::attention::split_axis;
use super::context::Context;
use super::problem::{Problem, Result};

/// Inputs: x [N, C, L], weights [C, 1, K], bias, past state [N, C, K - 1]. Outputs: the convolution,
/// of which each element sees those up to its own, and the last K - 1 elements.
pub(super) fn causal_conv_with_state(c: &mut Context<'_, '_>) -> Result {
    let activate = match c.attributes.text("activation", "none")? {
        "none" => false,
        "silu" | "swish" => true,
        other => {
            return Err(Problem::malformed(format!(
                "its activation is \"{}\"",
                crate::error::Short(other)
            )));
        }
    };
    let (x, weights) = (c.input(0)?, c.input(1)?);
    let (shape, weights_shape) = (c.shape(x)?, c.shape(weights)?);
    let (&[_, _, _], &[channels, 1, size]) = (shape.dims(), weights_shape.dims()) else {
        return Err(Problem::malformed(format!(
            "its input is {shape} and its weights are {weights_shape}"
        )));
    };
    if channels < 1 || size < 1 {
        return Err(Problem::unsupported(format!(
            "weights {weights_shape}; their sizes must be known"
        )));
    }
    let past = match c.optional_input(3)? {
        Some(past) => past,
        None => {
            let zero = c.number_like(x, 0.0)?;
            let outer = c.shape_step(x, 0, 2)?;
            let length = c.integers(&[size - 1])?;
            let dims = c.step(ConcatDescriptor { axis: 0 }, &[outer, length])?;
            c.step_deferred(ParameterRule::Fill, &[zero], &[Some(dims)])?
        }
    };
    let all = c.step(ConcatDescriptor { axis: 2 }, &[past, x])?;
    let rows = super::windows::rows_groups(1);
    let image = c.merge_step(all, &rows)?;
    let filter = c.merge_step(weights, &rows)?;
    let descriptor = Convolution2dDescriptor {
        groups: u32::try_from(channels).map_err(|_| Problem::malformed("too many channels"))?,
        ..Convolution2dDescriptor::new(DataLayout::Nchw)
    };
    let inputs: Vec<TensorId> = [image, filter]
        .into_iter()
        .chain(c.optional_input(2)?)
        .collect();
    let sums = c.step(descriptor, &inputs)?;
    c.is_last = !activate;
    let mut output = c.merge_step(sums, &super::windows::no_rows_groups())?;
    if activate {
        let swish = ActivationDescriptor::new(ActivationFunction::Swish, 1.0, 0.0);
        output = c.last().step(swish, &[output])?;
    }
    // The last K - 1 elements; a slice from -0 on would be all.
    let length = c.shape_step(all, 2, 3)?;
    let kept = c.integers(&[size - 1])?;
    let start = c.binary(Binary::Sub, length, kept)?;
    let axes = c.integers(&[2])?;
    let parameters = [Some(start), Some(length), Some(axes)];
    let state = c.step_deferred(ParameterRule::Slice, &[all], &parameters)?;
    c.bind_all(&[output, state])
}

/// Inputs: queries, keys, values, past state, decay, beta; all but the state are packed, [N, T, H
/// D], and go through the state [N, H, K, V] one after the other.
pub(super) fn linear_attention(c: &mut Context<'_, '_>) -> Result {
    c.attributes.ignore("chunk_size");
    let (gated, delta) = match c.attributes.text("update_rule", "gated_delta")? {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => {
            return Err(Problem::malformed(format!(
                "its update_rule is \"{}\"",
                crate::error::Short(other)
            )));
        }
    };
    let heads = |name: &str| -> Result<i64> {
        let heads = c.attributes.optional_int(name)?;
        heads
            .filter(|&heads| heads > 0)
            .ok_or_else(|| Problem::malformed(format!("it has no {name}")))
    };
    let (q_heads, kv_heads) = (heads("q_num_heads")?, heads("kv_num_heads")?);
    if q_heads % kv_heads != 0 {
        return Err(Problem::malformed(format!(
            "it has {q_heads} heads of queries and {kv_heads} of keys"
        )));
    }
    if gated != c.has_input(4) || delta != c.has_input(5) {
        return Err(Problem::malformed(
            "decay or beta are there where its update_rule does not take them, or missing",
        ));
    }
    let to = c.input_type(0)?;
    let size = |c: &mut Context<'_, '_>, position: usize, heads: i64| -> Result<i64> {
        let last = c
            .input_shape(position)?
            .dims()
            .last()
            .copied()
            .unwrap_or(-1);
        match last >= heads && last % heads == 0 {
            true => Ok(last / heads),
            false => Err(Problem::unsupported(format!(
                "{last} elements of {heads} heads; they must be known"
            ))),
        }
    };
    let (k_size, v_size) = (size(c, 0, q_heads)?, size(c, 2, kv_heads)?);
    let sharing = q_heads / kv_heads;
    // Time first, [T, N, H, ..], in 32 bits: queries with the heads that share a state as rows.
    let unpacked = |c: &mut Context<'_, '_>, position: usize, parts: [i64; 2]| {
        let x = c.input(position)?;
        let x = c.cast(x, DataType::Float32)?;
        let x = split_axis(c, x, 2, parts)?;
        c.transpose(x, &[1, 0, 2, 3])
    };
    let q = unpacked(c, 0, [kv_heads, sharing * k_size])?;
    let q = split_axis(c, q, 3, [sharing, k_size])?;
    // Keys as columns, values as rows.
    let k = unpacked(c, 1, [kv_heads, k_size])?;
    let k = c.merge_step(k, &[vec![0], vec![1], vec![2], vec![3], vec![]])?;
    let v = unpacked(c, 2, [kv_heads, v_size])?;
    let v = c.merge_step(v, &[vec![0], vec![1], vec![2], vec![], vec![3]])?;
    let mut scanned = vec![q, k, v];
    if gated {
        let last = c.input_shape(4)?.dims().last().copied().unwrap_or(-1);
        let each = match last {
            _ if last == kv_heads => 1,
            _ if last == kv_heads * k_size => k_size,
            _ => return Err(Problem::malformed(format!("its decay has {last} elements"))),
        };
        let decay = unpacked(c, 4, [kv_heads, each])?;
        scanned.push(c.merge_step(decay, &[vec![0], vec![1], vec![2], vec![3], vec![]])?);
    }
    if delta {
        let last = c.input_shape(5)?.dims().last().copied().unwrap_or(-1);
        if last != kv_heads && last != 1 {
            return Err(Problem::malformed(format!("its beta has {last} elements")));
        }
        let beta = unpacked(c, 5, [last, 1])?;
        scanned.push(c.merge_step(beta, &[vec![0], vec![1], vec![2], vec![3], vec![]])?);
    }
    let (state, state_type) = match c.optional_input(3)? {
        Some(state) => (c.cast(state, DataType::Float32)?, c.info(state)?.data_type),
        None => {
            let zero = c.number(DataType::Float32, &[], &[0.0])?;
            let x = c.input(0)?;
            let batch = c.shape_step(x, 0, 1)?;
            let rest = c.integers(&[kv_heads, k_size, v_size])?;
            let dims = c.step(ConcatDescriptor { axis: 0 }, &[batch, rest])?;
            (
                c.step_deferred(ParameterRule::Fill, &[zero], &[Some(dims)])?,
                to,
            )
        }
    };
    let body = Body {
        state: c.info(state)?.clone(),
        inputs: scanned
            .iter()
            .map(|&id| Ok(c.info(id)?.clone()))
            .collect::<Result<_>>()?,
        gated,
        delta,
        prefix: c.step_name("Scan"),
    };
    let network = body.network()?;
    let operation = RuntimeOperation::Scan(ScanBody {
        network: Arc::new(network),
        n_states: 1,
        inputs: vec![ScanAxis::default(); scanned.len()],
        outputs: vec![ScanAxis::default()],
    });
    let mut inputs = vec![Some(state)];
    inputs.extend(scanned.into_iter().map(Some));
    let name = c.step_name("Scan");
    let outputs = c
        .lowering
        .builder
        .add_runtime_layer(&name, operation, &inputs)?;
    let [state, rows] = outputs[..] else {
        return Err(Problem::malformed("its scan has not two outputs"));
    };
    let factor = match c.attributes.float("scale", 0.0)? {
        0.0 => 1.0 / (k_size as f64).sqrt(),
        scale => scale.into(),
    };
    let factor = c.number_like(rows, factor)?;
    let rows = c.binary(Binary::Mul, rows, factor)?;
    // [T, N, H, sharing, V] to [N, T, H sharing V].
    let rows = c.transpose(rows, &[1, 0, 2, 3, 4])?;
    c.is_last = to == DataType::Float32;
    let rows = c.merge_step(rows, &[vec![0], vec![1], vec![2, 3, 4]])?;
    let output = match to {
        DataType::Float32 => rows,
        _ => c.last().cast(rows, to)?,
    };
    let state = c.cast(state, state_type)?;
    c.bind_all(&[output, state])
}

/// What happens to the state in one step.
struct Body {
    state: TensorInfo,
    /// Of queries, keys, values, decay and beta, over time.
    inputs: Vec<TensorInfo>,
    gated: bool,
    delta: bool,
    prefix: String,
}

impl Body {
    fn network(&self) -> Result<armnn_network::Network> {
        let mut builder = NetworkBuilder::new();
        let mut steps = 0;
        let mut layer = |builder: &mut NetworkBuilder,
                         descriptor: armnn_backend_api::LayerDescriptor,
                         inputs: &[TensorId]|
         -> Result<TensorId> {
            steps += 1;
            let name = format!("{}/body/{}:{steps}", self.prefix, descriptor.layer_type());
            let inputs: Vec<Option<TensorId>> = inputs.iter().copied().map(Some).collect();
            let ids =
                builder.add_layer(&name, descriptor, &inputs, &[OutputDeclaration::default()])?;
            ids.first()
                .copied()
                .ok_or_else(|| Problem::malformed("a layer without outputs"))
        };
        let binary = |operation| ElementwiseBinaryDescriptor::new(operation).into();
        let product = |x, y| BatchMatMulDescriptor::new(x, y).into();
        let mut state = builder.add_input_layer("state", self.state.clone())?;
        let names = ["query", "key", "value"].into_iter();
        let more = [(self.gated, "decay"), (self.delta, "beta")];
        let more = more
            .into_iter()
            .filter(|(there, _)| *there)
            .map(|(_, name)| name);
        let mut inputs = Vec::new();
        for (name, info) in names.chain(more).zip(&self.inputs) {
            let dims = info.shape.dims().get(1..).unwrap_or_default();
            let shape = Shape::new(dims).unwrap_or(Shape::SCALAR);
            let info = TensorInfo {
                shape,
                ..info.clone()
            };
            inputs.push(builder.add_input_layer(name, info)?);
        }
        let mut inputs = inputs.into_iter();
        let mut next = || {
            inputs
                .next()
                .ok_or_else(|| Problem::malformed("an input is missing"))
        };
        let (q, k, mut v) = (next()?, next()?, next()?);
        if self.gated {
            let decay = next()?;
            let exp = ElementwiseUnaryDescriptor::new(Unary::Exp).into();
            let decay = layer(&mut builder, exp, &[decay])?;
            state = layer(&mut builder, binary(Binary::Mul), &[state, decay])?;
        }
        if self.delta {
            let beta = next()?;
            // What the state says of the key, a row.
            let found = layer(&mut builder, product(true, false), &[k, state])?;
            let error = layer(&mut builder, binary(Binary::Sub), &[v, found])?;
            v = layer(&mut builder, binary(Binary::Mul), &[beta, error])?;
        }
        let written = layer(&mut builder, binary(Binary::Mul), &[k, v])?;
        let state = layer(&mut builder, binary(Binary::Add), &[state, written])?;
        let read = layer(&mut builder, product(false, false), &[q, state])?;
        builder.add_output_layer("state", state)?;
        builder.add_output_layer("output", read)?;
        Ok(builder.finish()?)
    }
}
