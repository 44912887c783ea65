//! UnidirectionalSequenceLstm of 8 bits with cells of 16 bits, bit for bit as TensorFlow Lite's
//! reference kernel: `LstmStepInteger8x8_16` (`kernels/lstm_eval.cc`), the functions that it calls
//! (`internal/reference/portable_tensor_utils.cc`) and `PopulateQuantizedLstmParams8x8_16`
//! (`kernels/unidirectional_sequence_lstm.cc`).
//!
//! Three rules are as there, although other ones would be expected: of cells with a scale below
//! 2^-15, not the hyperbolic tangent but the input gate is multiplied with the output gate; the zero point of what goes
//! through the projection is subtracted, not added, but added where there is no projection; and of the peephole weights only as many are
//! read as there are outputs, so that with a projection they go by the place in the whole batch.

#[cfg(test)]
mod tests;

use armnn_backend_api::{
    ActivationFunction, DataType, LayerView, Result, UnidirectionalSequenceLstmDescriptor, Workload,
};

use super::{
    BIASES, CELL_GATE, CELL_STATE, FORGET_GATE, INPUT_GATE, INPUT_WEIGHTS, LAYER_NORM, OUTPUT_GATE,
    OUTPUT_STATE, PEEPHOLES, PROJECTION, PROJECTION_BIAS, RECURRENT_WEIGHTS, Sizes,
    fixed_point::{logistic, tanh},
};
use crate::{
    numbers::{
        float_tensors::taken,
        quantized_arithmetic::{Affine, Multiplier, rounding_shift_right},
        reciprocal::reciprocal_root,
    },
    workloads::{
        layer_checks::{
            input, input_role, invalid, output, output_role, refusal, require_input, require_output,
        },
        workload_function::{Call, workload_function},
    },
};

pub(super) fn check(layer: LayerView<'_>, d: &UnidirectionalSequenceLstmDescriptor) -> Result<()> {
    const STATE: &[DataType] = &[DataType::QAsymmS8];
    const CELLS: &[DataType] = &[DataType::QSymmS16];
    const WEIGHTS: &[DataType] = &[DataType::QSymmS8, DataType::QAsymmS8];
    for position in 0..layer.input_indices().len() {
        if layer.input(position).is_none() {
            continue;
        }
        let allowed = match position {
            0 | OUTPUT_STATE => STATE,
            1..PEEPHOLES | PROJECTION => WEIGHTS,
            BIASES..PROJECTION | PROJECTION_BIAS => &[DataType::Signed32],
            _ => CELLS,
        };
        require_input(layer, position, &[allowed])?;
        if allowed == WEIGHTS || allowed == CELLS {
            let role = input_role(layer.layer_type(), position);
            if Affine::of(input(layer, position)?, &role)?.zero_point != 0 {
                return Err(refusal(format_args!(
                    "the zero point of {role} is not 0; supported: 0"
                )));
            }
        }
    }
    for (position, allowed) in [STATE, CELLS, STATE].into_iter().enumerate() {
        require_output(layer, position, &[allowed])?;
    }
    for (from, to) in [(OUTPUT_STATE, 0), (CELL_STATE, 1), (OUTPUT_STATE, 2)] {
        let (from_role, to_role) = (
            input_role(layer.layer_type(), from),
            output_role(layer.layer_type(), to),
        );
        let before = Affine::of(input(layer, from)?, &from_role)?;
        if before != Affine::of(output(layer, to)?, &to_role)? {
            return Err(refusal(format_args!(
                "{from_role} and {to_role} differ in scale or zero point"
            )));
        }
    }
    let is_tanh = d.activation() == ActivationFunction::TanH
        && (d.activation_a, d.activation_b) == (1.0, 1.0);
    if !is_tanh {
        return Err(refusal(format_args!(
            "the activation of quantized cells is {}; supported: TanH, without factors",
            d.activation()
        )));
    }
    Rules::new(layer, d).map(drop)
}

pub(super) fn workload(
    layer: LayerView<'_>,
    d: &UnidirectionalSequenceLstmDescriptor,
    sizes: Sizes,
) -> Result<Box<dyn Workload>> {
    if sizes.cells == 0 {
        return Err(invalid("it has no cells"));
    }
    let lstm = Lstm {
        rules: Rules::new(layer, d)?,
        sizes,
    };
    // Four gates, what goes through the projection, and the states.
    let scratch_len = sizes
        .cells
        .checked_mul(5)
        .and_then(|n| {
            let states = sizes.cells.checked_add(sizes.outputs)?;
            n.checked_add(sizes.batch.checked_mul(states)?)
        })
        .and_then(|n| n.checked_mul(size_of::<i16>()))
        .ok_or_else(|| invalid("its tensors are too large to compute with"))?;
    workload_function(layer, scratch_len, move |call| lstm.run(call))
}

/// How one gate is rescaled.
#[derive(Clone, Copy, Default)]
struct GateRule {
    input: Multiplier,
    recurrent: Multiplier,
    peephole: Multiplier,
    layer_norm: Multiplier,
    /// Takes the place of a variance below 1.
    least_variance: i32,
}

/// Factors and limits.
struct Rules {
    gates: [GateRule; 4],
    hidden: Multiplier,
    hidden_zero_point: i32,
    projection: Multiplier,
    input_zero_point: i32,
    state_zero_point: i32,
    /// The scale of the cells is two to this power.
    cell_exponent: i32,
    /// 0 for none.
    cell_clip: i16,
    projection_clip: i16,
}

impl Rules {
    fn new(layer: LayerView<'_>, d: &UnidirectionalSequenceLstmDescriptor) -> Result<Self> {
        let affine = |position: usize| {
            let role = input_role(layer.layer_type(), position);
            Affine::of(input(layer, position)?, &role)
        };
        // The scale of what is absent is 1.
        let scale = |position: usize| match layer.input(position) {
            Some(_) => affine(position).map(|affine| affine.scale),
            None => Ok(1.0),
        };
        let (x, state, cells) = (affine(0)?, affine(OUTPUT_STATE)?, affine(CELL_STATE)?);
        let exponent = cells.scale.log2().round();
        let least = match layer.input(INPUT_WEIGHTS + INPUT_GATE) {
            Some(_) => -24.0,
            None => -15.0,
        };
        if !(least..=-9.0).contains(&exponent) || (cells.scale.log2() - exponent).abs() >= 1e-3 {
            return Err(refusal(format_args!(
                "the scale of {} is {}; supported: powers of two from 2^{least} to 2^-9",
                input_role(layer.layer_type(), CELL_STATE),
                cells.scale
            )));
        }
        let has_layer_norm = layer.input(LAYER_NORM + FORGET_GATE).is_some();
        let intermediate = match has_layer_norm {
            true => [
                d.input_intermediate_scale,
                d.forget_intermediate_scale,
                d.cell_intermediate_scale,
                d.output_intermediate_scale,
            ],
            // 3 integer bits.
            false => [1.0 / 4096.0; 4],
        };
        let is_good = |scale: f32| scale.is_finite() && scale > 0.0;
        if !is_good(d.hidden_state_scale) || !intermediate.into_iter().all(is_good) {
            return Err(refusal(
                "the scales of its intermediate numbers are not given",
            ));
        }
        let mut gates = [GateRule::default(); 4];
        for (gate, rule) in gates.iter_mut().enumerate() {
            let multiplier = |factor: f32| Multiplier::new(factor.into());
            let peephole = match gate {
                INPUT_GATE => Some(PEEPHOLES),
                FORGET_GATE => Some(PEEPHOLES + 1),
                OUTPUT_GATE => Some(PEEPHOLES + 2),
                _ => None,
            };
            let layer_norm = scale(LAYER_NORM + gate)?;
            *rule = GateRule {
                input: multiplier(scale(INPUT_WEIGHTS + gate)? * x.scale / intermediate[gate]),
                recurrent: multiplier(
                    scale(RECURRENT_WEIGHTS + gate)? * state.scale / intermediate[gate],
                ),
                peephole: match peephole {
                    Some(position) => {
                        let of_cells = f64::from(exponent).exp2() * f64::from(scale(position)?);
                        multiplier((of_cells / f64::from(intermediate[gate])) as f32)
                    }
                    None => Multiplier::default(),
                },
                layer_norm: {
                    let multiplier = multiplier(layer_norm);
                    Multiplier {
                        exponent: multiplier.exponent.saturating_add(12),
                        ..multiplier
                    }
                },
                least_variance: ((10000.0 * layer_norm) as i32).max(1),
            };
        }
        // The product of two numbers without integer bits.
        let of_hidden = 2f64.powi(-15) / f64::from(d.hidden_state_scale) * 2f64.powi(-15);
        let projection = scale(PROJECTION)? * d.hidden_state_scale / state.scale;
        // Towards zero; the cast saturates.
        let clip = |limit: f32, scale: f32, most: f32| match limit > 0.0 {
            true => (limit / scale).min(most) as i16,
            false => 0,
        };
        Ok(Self {
            gates,
            hidden: Multiplier::new((of_hidden as f32).into()),
            hidden_zero_point: d.hidden_state_zero_point,
            projection: Multiplier::new(projection.into()),
            input_zero_point: x.zero_point,
            state_zero_point: state.zero_point,
            cell_exponent: exponent as i32,
            cell_clip: clip(d.cell_clip, cells.scale, i16::MAX.into()),
            projection_clip: clip(d.projection_clip, state.scale, i8::MAX.into()),
        })
    }
}

struct Lstm {
    rules: Rules,
    sizes: Sizes,
}

impl Lstm {
    fn run(&self, call: &mut Call<'_, '_, '_, '_>) -> Result<()> {
        let &Sizes {
            time,
            batch,
            size,
            cells: n_cells,
            outputs,
            ..
        } = &self.sizes;
        let x = call.input::<i8>(0)?;
        let weights = Weights::new(call)?;
        let mut scratch = call.scratch::<i16>()?;
        let states = taken(&mut scratch, batch * outputs);
        let cells = taken(&mut scratch, batch * n_cells);
        let gates = taken(&mut scratch, 4 * n_cells);
        let hidden = taken(&mut scratch, n_cells);
        let state_in = call.input::<i8>(OUTPUT_STATE)?;
        states
            .iter_mut()
            .zip(state_in)
            .for_each(|(to, &from)| *to = from.into());
        cells.copy_from_slice(call.input(CELL_STATE)?);
        let out = call.output::<i8>(2)?;
        for step in 0..time {
            for item in 0..batch {
                let row = self.sizes.row(step, item);
                let x = &x[row * size..][..size];
                let state = &mut states[item * outputs..][..outputs];
                let cells = &mut cells[item * n_cells..][..n_cells];
                self.step(&weights, item, x, state, cells, gates, hidden);
                narrow(state, &mut out[row * outputs..][..outputs]);
            }
        }
        narrow(states, call.output(0)?);
        call.output(1)?.copy_from_slice(cells);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn step(
        &self,
        weights: &Weights<'_>,
        item: usize,
        x: &[i8],
        state: &mut [i16],
        cells: &mut [i16],
        gates: &mut [i16],
        hidden: &mut [i16],
    ) {
        let (rules, n) = (&self.rules, self.sizes.cells);
        let has_input_gate = !weights.input[INPUT_GATE].is_empty();
        for gate in [INPUT_GATE, FORGET_GATE, CELL_GATE] {
            if gate != INPUT_GATE || has_input_gate {
                let out = &mut gates[gate * n..][..n];
                self.gate(weights, gate, item, x, state, cells, out);
            }
        }
        let (before, output_gate) = gates.split_at_mut(OUTPUT_GATE * n);
        for (i, cell) in cells.iter_mut().enumerate() {
            let [input, forget, new] =
                [INPUT_GATE, FORGET_GATE, CELL_GATE].map(|gate| before[gate * n + i]);
            let input = if has_input_gate {
                input
            } else {
                i16::MAX.wrapping_sub(forget)
            };
            let shift = (30 + rules.cell_exponent) as u32;
            let kept = rounding_shift_right(i32::from(forget) * i32::from(*cell), 15) as i16;
            let added = rounding_shift_right(i32::from(input) * i32::from(new), shift) as i16;
            *cell = kept.saturating_add(added);
            if rules.cell_clip > 0 {
                *cell = (*cell).clamp(-rules.cell_clip, rules.cell_clip);
            }
        }
        self.gate(weights, OUTPUT_GATE, item, x, state, cells, output_gate);
        let integer_bits = u32::try_from(15 + rules.cell_exponent);
        for (i, hidden) in hidden.iter_mut().enumerate() {
            let shown = match integer_bits {
                Ok(bits) => tanh(cells[i], bits),
                // There is no function for such cells, and the input gate is left where its result
                // would be.
                Err(_) => before[INPUT_GATE * n + i],
            };
            let product = i32::from(output_gate[i]) * i32::from(shown);
            let number = rules.hidden.apply(product);
            *hidden = narrowed(match weights.projection {
                [] => number.wrapping_add(rules.hidden_zero_point),
                _ => number.wrapping_sub(rules.hidden_zero_point),
            });
        }
        if weights.projection.is_empty() {
            state.copy_from_slice(hidden);
            return;
        }
        for (row, (state, weights_of)) in state
            .iter_mut()
            .zip(weights.projection.chunks_exact(n))
            .enumerate()
        {
            let bias = weights.projection_bias.get(row).copied().unwrap_or(0);
            let products = weights_of.iter().zip(&*hidden).map(|(&w, &x)| {
                i32::from(w).wrapping_mul(i32::from(x).wrapping_add(rules.hidden_zero_point))
            });
            let sum = products.fold(bias, i32::wrapping_add);
            let number = rules.projection.apply(sum);
            *state = narrowed(number.wrapping_add(rules.state_zero_point));
            if rules.projection_clip > 0 {
                *state = (*state).clamp(-rules.projection_clip, rules.projection_clip);
            }
        }
    }

    /// The activation of a gate, without integer bits.
    #[allow(clippy::too_many_arguments)]
    fn gate(
        &self,
        weights: &Weights<'_>,
        gate: usize,
        item: usize,
        x: &[i8],
        state: &[i16],
        cells: &[i16],
        out: &mut [i16],
    ) {
        let (rules, rule) = (&self.rules, &self.rules.gates[gate]);
        let layer_norm = weights.layer_norm[gate];
        let bias = weights.bias[gate];
        for (row, out) in out.iter_mut().enumerate() {
            let of_input = &weights.input[gate][row * x.len()..][..x.len()];
            let start = match layer_norm {
                [] => bias[row],
                _ => 0,
            };
            let products = of_input.iter().zip(x).map(|(&w, &x)| {
                i32::from(w).wrapping_mul(i32::from(x).wrapping_sub(rules.input_zero_point))
            });
            let sum = rule.input.apply(products.fold(start, i32::wrapping_add));
            let sum = saturated(sum);
            let of_state = &weights.recurrent[gate][row * state.len()..][..state.len()];
            let products = of_state.iter().zip(state).map(|(&w, &x)| {
                i32::from(w).wrapping_mul(i32::from(x).wrapping_sub(rules.state_zero_point))
            });
            let recurrent = rule.recurrent.apply(products.fold(0, i32::wrapping_add));
            *out = saturated(recurrent.wrapping_add(sum.into()));
        }
        let peephole = weights.peephole[gate];
        if !peephole.is_empty() {
            // There, weights are counted as outputs are. Of more outputs than cells, it would read
            // beyond them; each cell has its own then.
            let row = self.sizes.outputs.min(cells.len());
            // With time before the batch, a step is of the whole batch there.
            let (count, first) = match self.sizes.time_major {
                true => (self.sizes.batch * row, item * cells.len()),
                false => (row, 0),
            };
            for (i, (out, &cell)) in out.iter_mut().zip(cells).enumerate() {
                if first + i < count {
                    let weight = peephole[(first + i) % row];
                    let product = rule.peephole.apply(i32::from(weight) * i32::from(cell));
                    *out = saturated(product.wrapping_add((*out).into()));
                }
            }
        }
        if !layer_norm.is_empty() {
            normalize(rule, layer_norm, bias, out);
        }
        for out in out {
            *out = match gate {
                CELL_GATE => tanh(*out, 3),
                _ => logistic(*out),
            };
        }
    }
}

/// `PortableApplyLayerNorm`: the numbers have 10 bits more while they are normalized.
fn normalize(rule: &GateRule, weights: &[i16], bias: &[i32], values: &mut [i16]) {
    // No tensor has so many elements that the sum of their squares did not fit.
    let count = values.len() as i64;
    let sum: i64 = values.iter().map(|&x| i64::from(x)).sum();
    let squares: i64 = values.iter().map(|&x| i64::from(x) * i64::from(x)).sum();
    let mean = (sum * 1024 / count) as i32;
    let variance = squares
        .wrapping_mul((1 << 20) / count)
        .wrapping_sub(i64::from(mean) * i64::from(mean));
    let mut variance = (variance / (1 << 20)) as i32;
    if variance < 1 {
        variance = rule.least_variance;
    }
    let factor = reciprocal_root(variance);
    for ((value, &weight), &bias) in values.iter_mut().zip(weights).zip(bias) {
        let centred = (i32::from(*value) * 1024).wrapping_sub(mean);
        let weighted = factor.apply(centred).wrapping_mul(weight.into());
        let sum = i64::from(weighted.wrapping_add(bias));
        let rounded = (if sum > 0 { sum + 512 } else { sum - 512 }) / 1024;
        *value = saturated(rule.layer_norm.apply(rounded as i32));
    }
}

fn saturated(number: i32) -> i16 {
    number.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// The nearest number of 8 bits.
fn narrowed(number: i32) -> i16 {
    number.clamp(i8::MIN.into(), i8::MAX.into()) as i16
}

/// Numbers that have 8 bits.
fn narrow(from: &[i16], to: &mut [i8]) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, &from)| *to = from as i8);
}

/// What is absent is empty.
struct Weights<'a> {
    input: [&'a [i8]; 4],
    recurrent: [&'a [i8]; 4],
    peephole: [&'a [i16]; 4],
    bias: [&'a [i32]; 4],
    layer_norm: [&'a [i16]; 4],
    projection: &'a [i8],
    projection_bias: &'a [i32],
}

impl<'a> Weights<'a> {
    fn new(call: &Call<'_, '_, 'a, '_>) -> Result<Self> {
        fn four<'a, T: armnn_backend_api::Element>(
            call: &Call<'_, '_, 'a, '_>,
            first: usize,
        ) -> Result<[&'a [T]; 4]> {
            Ok([
                call.input(first)?,
                call.input(first + 1)?,
                call.input(first + 2)?,
                call.input(first + 3)?,
            ])
        }
        Ok(Self {
            input: four(call, INPUT_WEIGHTS)?,
            recurrent: four(call, RECURRENT_WEIGHTS)?,
            peephole: [
                call.input(PEEPHOLES)?,
                call.input(PEEPHOLES + 1)?,
                &[],
                call.input(PEEPHOLES + 2)?,
            ],
            bias: four(call, BIASES)?,
            layer_norm: four(call, LAYER_NORM)?,
            projection: call.input(PROJECTION)?,
            projection_bias: call.input(PROJECTION_BIAS)?,
        })
    }
}
