//! UnidirectionalSequenceLstm of 8 bits with cells of 16 bits, bit for bit as TensorFlow Lite's
//! reference kernel: `LstmStepInteger8x8_16` (`kernels/lstm_eval.cc`), the functions that it calls
//! (`internal/reference/portable_tensor_utils.cc`) and `PopulateQuantizedLstmParams8x8_16`
//! (`kernels/unidirectional_sequence_lstm.cc`).
//!
//! Two rules are as there, although other ones would be expected: the zero point of what goes
//! through the projection is subtracted, not added; and of the peephole weights only as many are
//! read as there are outputs, so that with a projection they go by the place in the whole batch.

use armnn_backend_api::{
    ActivationFunction, DataType, LayerView, Result, UnidirectionalSequenceLstmDescriptor, Workload,
};

use super::{
    BIASES, CELL_GATE, CELL_STATE, FORGET_GATE, INPUT_GATE, INPUT_WEIGHTS, LAYER_NORM, OUTPUT_GATE,
    OUTPUT_STATE, PEEPHOLES, PROJECTION, PROJECTION_BIAS, RECURRENT_WEIGHTS, Sizes,
    fixed_point::{logistic, tanh},
};
use crate::{
    float_tensors::taken,
    layer_checks::{
        input, input_role, invalid, output, output_role, refusal, require_input, require_output,
    },
    quantized_arithmetic::{Affine, Multiplier, rounding_shift_right},
    reciprocal::reciprocal_root,
    workload_function::{Call, workload_function},
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
        if !(-15.0..=-9.0).contains(&exponent) || (cells.scale.log2() - exponent).abs() >= 1e-3 {
            return Err(refusal(format_args!(
                "the scale of {} is {}; supported: powers of two from 2^-15 to 2^-9",
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
        let integer_bits = (15 + rules.cell_exponent) as u32;
        for (i, hidden) in hidden.iter_mut().enumerate() {
            let product = i32::from(output_gate[i]) * i32::from(tanh(cells[i], integer_bits));
            let number = rules.hidden.apply(product);
            *hidden = narrowed(number.wrapping_sub(rules.hidden_zero_point));
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
            // With time before the batch, a step is of the whole batch there.
            let (count, first) = match self.sizes.time_major {
                true => (self.sizes.batch * self.sizes.outputs, item * cells.len()),
                false => (self.sizes.outputs, 0),
            };
            for (i, (out, &cell)) in out.iter_mut().zip(cells).enumerate() {
                if first + i < count {
                    let weight = peephole[(first + i) % self.sizes.outputs];
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

#[cfg(test)]
mod tests {
    use armnn_backend_api::{Quantization, Shape};

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_refused, typed};

    /// How TensorFlow Lite's tests (`kernels/test_util.h`) make numbers of real ones: the scale
    /// spreads the range over the type, and the zero point is the one with the smaller error.
    fn scale_and_zero_point(range: (f32, f32), (least, most): (f32, f32)) -> (f32, f32) {
        let scale = (range.1 - range.0) / (most - least);
        let from_least = least - range.0 / scale;
        let from_most = most - range.1 / scale;
        let error = |end: f32, of_range: f32| end.abs() + (of_range / scale).abs();
        let zero_point = match error(least, range.0) < error(most, range.1) {
            true => from_least,
            false => from_most,
        };
        (scale, zero_point.round())
    }

    fn shape(dims: &[i64]) -> Shape {
        Shape::new(dims).unwrap()
    }

    /// Weights of 8 bits; the kernel takes their zero point for 0.
    fn int8(range: f32, dims: [i64; 2], values: &[f32]) -> Tensor {
        let (scale, zero) = scale_and_zero_point((-range, range), (-128.0, 127.0));
        let numbers: Vec<i8> = values
            .iter()
            .map(|x| (zero + x / scale).round() as i8)
            .collect();
        typed(DataType::QSymmS8, dims, &numbers).quantized(Quantization::per_tensor(scale, 0))
    }

    fn int16(range: (f32, f32), values: &[f32]) -> Tensor {
        let (scale, zero) = scale_and_zero_point(range, (-32768.0, 32767.0));
        let numbers: Vec<i16> = values
            .iter()
            .map(|x| (zero + x / scale).round() as i16)
            .collect();
        let dims = shape(&[values.len() as i64]);
        typed(DataType::QSymmS16, dims, &numbers).quantized(Quantization::per_tensor(scale, 0))
    }

    fn int32(range: (f32, f32), values: &[f32]) -> Tensor {
        let ends = (i32::MIN as f32, i32::MAX as f32);
        let (scale, zero) = scale_and_zero_point(range, ends);
        let numbers: Vec<i32> = values
            .iter()
            .map(|x| (zero + x / scale).round() as i32)
            .collect();
        typed(DataType::Signed32, shape(&[values.len() as i64]), &numbers)
    }

    const INPUT_TO: [[f32; 20]; 4] = [
        [
            0.5, 0.6, 0.7, -0.8, -0.9, 0.1, 0.2, 0.3, -0.4, 0.5, -0.8, 0.7, -0.6, 0.5, -0.4, -0.5,
            -0.4, -0.3, -0.2, -0.1,
        ],
        [
            -0.6, -0.1, 0.3, 0.2, 0.9, -0.5, -0.2, -0.4, 0.3, -0.8, -0.4, 0.3, -0.5, -0.4, -0.6,
            0.3, -0.4, -0.6, -0.5, -0.5,
        ],
        [
            -0.4, -0.3, -0.2, -0.1, -0.5, 0.5, -0.2, -0.3, -0.2, -0.6, 0.6, -0.1, -0.4, -0.3, -0.7,
            0.7, -0.9, -0.5, 0.8, 0.6,
        ],
        [
            -0.8, -0.4, -0.2, -0.9, -0.1, -0.7, 0.3, -0.3, -0.8, -0.2, 0.6, -0.2, 0.4, -0.7, -0.3,
            -0.5, 0.1, 0.5, -0.6, -0.4,
        ],
    ];
    const RECURRENT_TO: [[f32; 12]; 4] = [
        [
            -0.2, -0.3, 0.4, 0.1, -0.5, 0.9, -0.2, -0.3, -0.7, 0.05, -0.2, -0.6,
        ],
        [
            -0.5, -0.3, -0.5, -0.2, 0.6, 0.4, 0.9, 0.3, -0.1, 0.2, 0.5, 0.2,
        ],
        [
            -0.3, 0.2, 0.1, -0.3, 0.8, -0.08, -0.2, 0.3, 0.8, -0.6, -0.1, 0.2,
        ],
        [
            0.3, -0.1, 0.1, -0.2, -0.5, -0.7, -0.2, -0.6, -0.1, -0.4, -0.7, -0.2,
        ],
    ];
    const BIAS: [[f32; 4]; 4] = [
        [0.03, 0.15, 0.22, 0.38],
        [0.1, -0.3, -0.2, 0.1],
        [-0.05, 0.72, 0.25, 0.08],
        [0.05, -0.01, 0.2, 0.1],
    ];
    const PEEPHOLE: [[f32; 4]; 3] = [
        [0.3, -0.1, 0.1, -0.2],
        [0.2, -0.1, 0.1, -0.2],
        [0.3, -0.1, 0.1, -0.3],
    ];
    const NORM: [[f32; 4]; 4] = [
        [0.1, 0.2, 0.3, 0.5],
        [0.2, 0.2, 0.4, 0.3],
        [0.7, 0.2, 0.3, 0.8],
        [0.6, 0.2, 0.2, 0.5],
    ];
    const PROJECTION_VALUES: [f32; 12] = [
        -0.1, 0.2, 0.01, -0.2, 0.1, 0.5, 0.3, 0.08, 0.07, 0.2, -0.4, 0.2,
    ];

    /// Three steps of a batch of two, with inputs of five numbers.
    const INPUT: [f32; 30] = [
        0.7, 0.8, 0.1, 0.2, 0.3, 0.8, 0.1, 0.2, 0.4, 0.5, 0.2, 0.7, 0.7, 0.1, 0.7, 0.3, 0.2, 0.9,
        0.8, 0.1, 0.7, 0.8, 0.1, 0.2, 0.3, 0.3, 0.2, 0.9, 0.8, 0.1,
    ];

    fn descriptor() -> UnidirectionalSequenceLstmDescriptor {
        UnidirectionalSequenceLstmDescriptor {
            input_intermediate_scale: 0.007059,
            forget_intermediate_scale: 0.007812,
            cell_intermediate_scale: 0.007059,
            output_intermediate_scale: 0.007812,
            hidden_state_scale: 0.007,
            ..UnidirectionalSequenceLstmDescriptor::new(true)
        }
    }

    /// The model of TensorFlow Lite's tests, with or without peepholes.
    fn call(has_peepholes: bool) -> Call {
        let numbers: Vec<i8> = INPUT.iter().map(|x| (x * 128.0).round() as i8).collect();
        let x = typed(DataType::QAsymmS8, [3, 2, 5], &numbers);
        let mut call =
            Call::new(descriptor()).input(x.quantized(Quantization::per_tensor(1.0 / 128.0, 0)));
        for weights in &INPUT_TO {
            call = call.input(int8(1.0, [4, 5], weights));
        }
        for (gate, weights) in RECURRENT_TO.iter().enumerate() {
            let range = if has_peepholes && gate == FORGET_GATE {
                0.9
            } else {
                1.0
            };
            call = call.input(int8(range, [4, 3], weights));
        }
        for weights in &PEEPHOLE {
            call = match has_peepholes {
                true => call.input(int16((-0.3, 0.3), weights)),
                false => call.absent(),
            };
        }
        for (gate, bias) in BIAS.iter().enumerate() {
            let most = if has_peepholes && gate == FORGET_GATE {
                80.0
            } else {
                100.0
            };
            call = call.input(int32((-100.0, most), bias));
        }
        let (state, cells) = states();
        call = call
            .input(int8(0.5, [3, 4], &PROJECTION_VALUES))
            .absent()
            .input(typed(DataType::QAsymmS8, [2, 3], &[0i8; 6]).quantized(state.clone()))
            .input(typed(DataType::QSymmS16, [2, 4], &[0i16; 8]).quantized(cells.clone()));
        for (gate, weights) in NORM.iter().enumerate() {
            let range = match (has_peepholes, gate) {
                (false, _) => (-1.00001, 1.0),
                (true, INPUT_GATE | FORGET_GATE) => (-0.5, 0.5),
                (true, _) => (-1.0, 1.0),
            };
            call = call.input(int16(range, weights));
        }
        outputs(call)
    }

    fn states() -> (Quantization, Quantization) {
        let (cells, _) = scale_and_zero_point((-1.0, 1.0), (-32768.0, 32767.0));
        (
            Quantization::per_tensor(1.0 / 32768.0, 0),
            Quantization::per_tensor(cells, 0),
        )
    }

    fn outputs(call: Call) -> Call {
        let (state, cells) = states();
        let info = |data_type, dims: &[i64], quantization: &Quantization| {
            armnn_backend_api::TensorInfo::new(data_type, shape(dims))
                .quantized(quantization.clone())
        };
        call.output_info(info(DataType::QAsymmS8, &[2, 3], &state))
            .output_info(info(DataType::QSymmS16, &[2, 4], &cells))
            .output_info(info(DataType::QAsymmS8, &[3, 2, 3], &state))
    }

    /// Models and results are those of TensorFlow Lite's `kernels/lstm_test.cc`,
    /// `NoCifg_NoPeephole_Projection_LayerNorm` and `NoCifg_Peephole_Projection_LayerNorm`.
    #[test]
    fn results_are_those_of_tensorflow_lite_to_the_bit() {
        let found = call(false).run();
        let expected: [[i8; 6]; 3] = [
            [127, 127, -108, -67, 127, 127],
            [-128, 127, 127, -128, 127, 127],
            [127, 127, 127, -128, 127, 127],
        ];
        assert_eq!(found.elements::<i8>(2), expected.as_flattened());
        assert_eq!(found.elements::<i8>(0), expected[2]);
        let found = call(true).run();
        let expected: [[i8; 6]; 3] = [
            [127, 127, -16, -21, 127, 127],
            [23, 127, 127, -128, 127, 127],
            [127, 127, 127, -128, 127, 127],
        ];
        assert_eq!(found.elements::<i8>(2), expected.as_flattened());
    }

    /// A model of two cells without projection, layer normalization and input gate, in numbers of 8
    /// bits or in the real ones that they stand for: two sequences of three steps, batch first.
    fn small(quantized: bool) -> Call {
        let real = |tensor: Tensor, scale: f32, numbers: &[i32]| match quantized {
            true => tensor,
            false => {
                let values: Vec<f32> = numbers.iter().map(|&x| x as f32 * scale).collect();
                crate::test_harness::f32s(tensor.info.shape, &values)
            }
        };
        let bytes = |data_type, dims: &[i64], scale: f32, zero: i32, numbers: &[i32]| {
            let stored: Vec<i8> = numbers.iter().map(|&x| (x + zero) as i8).collect();
            let tensor = typed(data_type, shape(dims), &stored)
                .quantized(Quantization::per_tensor(scale, zero));
            real(tensor, scale, numbers)
        };
        let (x_scale, w_scale, r_scale, state_scale) = (1.0 / 64.0, 1.0 / 100.0, 1.0 / 90.0, 0.008);
        let mut d = UnidirectionalSequenceLstmDescriptor::new(false);
        d.hidden_state_scale = state_scale;
        let x = [10, -50, 100, 3, -120, 77, 0, 64, -30, 90, -5, -64];
        let mut call = Call::new(d)
            .input(bytes(DataType::QAsymmS8, &[2, 3, 2], x_scale, 5, &x))
            .absent();
        for numbers in [[50, -30, 100, 20], [-80, 60, 40, -90], [30, 90, -20, 70]] {
            call = call.input(bytes(DataType::QSymmS8, &[2, 2], w_scale, 0, &numbers));
        }
        call = call.absent();
        for numbers in [[-40, 70, 10, 90], [60, 20, -100, 30], [80, -10, 50, -60]] {
            call = call.input(bytes(DataType::QSymmS8, &[2, 2], r_scale, 0, &numbers));
        }
        call = call.absent().absent().absent().absent();
        for numbers in [[3000, -1000], [500, 700], [-2000, 1500]] {
            let tensor = typed(DataType::Signed32, [2], &numbers);
            call = call.input(real(tensor, x_scale * w_scale, &numbers));
        }
        let cell_scale = 1.0 / 4096.0;
        let cells = [1000, -3000, 0, 2000];
        let stored = cells.map(|x| x as i16);
        let tensor = typed(DataType::QSymmS16, [2, 2], &stored)
            .quantized(Quantization::per_tensor(cell_scale, 0));
        call = call
            .absent()
            .absent()
            .input(bytes(
                DataType::QAsymmS8,
                &[2, 2],
                state_scale,
                0,
                &[5, -60, 30, 0],
            ))
            .input(real(tensor, cell_scale, &cells));
        let info = |data_type, dims: &[i64], scale| match quantized {
            true => armnn_backend_api::TensorInfo::new(data_type, shape(dims))
                .quantized(Quantization::per_tensor(scale, 0)),
            false => armnn_backend_api::TensorInfo::new(DataType::Float32, shape(dims)),
        };
        call.output_info(info(DataType::QAsymmS8, &[2, 2], state_scale))
            .output_info(info(DataType::QSymmS16, &[2, 2], cell_scale))
            .output_info(info(DataType::QAsymmS8, &[2, 3, 2], state_scale))
    }

    #[test]
    fn results_are_near_to_those_of_the_real_numbers() {
        let (found, real) = (small(true).run(), small(false).run());
        let near = |found: f32, real: f32, unit: f32| {
            assert!(
                (found * unit - real).abs() <= unit,
                "{found} of {unit}: {real}"
            );
        };
        let pairs = found
            .elements::<i8>(2)
            .into_iter()
            .zip(real.elements::<f32>(2));
        pairs.for_each(|(found, real)| near(found.into(), real, 0.008));
        // Within 0.5 %, as the states have 8 bits.
        let cells = found
            .elements::<i16>(1)
            .into_iter()
            .zip(real.elements::<f32>(1));
        cells.for_each(|(found, real)| near(f32::from(found) / 20.0, real, 20.0 / 4096.0));
        assert_eq!(found.elements::<i8>(0)[..2], found.elements::<i8>(2)[4..6]);
    }

    #[test]
    fn what_the_rules_do_not_cover_is_refused() {
        let (state, _) = states();
        let with = |d: UnidirectionalSequenceLstmDescriptor, cells: f32, zero: i32| {
            let mut call = Call::new(d)
                .input(typed(DataType::QAsymmS8, [1, 1, 1], &[0i8]).quantized(state.clone()));
            for zero in [zero, 0, 0, 0, 0, 0, 0, 0] {
                let weights = typed(DataType::QAsymmS8, [1, 1], &[0i8]);
                call = call.input(weights.quantized(Quantization::per_tensor(1.0, zero)));
            }
            call = call.absent().absent().absent();
            for _ in 0..4 {
                call = call.input(typed(DataType::Signed32, [1], &[0i32]));
            }
            let cells = Quantization::per_tensor(cells, 0);
            let info = |data_type, dims: &[i64], quantization: &Quantization| {
                armnn_backend_api::TensorInfo::new(data_type, shape(dims))
                    .quantized(quantization.clone())
            };
            call.absent()
                .absent()
                .input(typed(DataType::QAsymmS8, [1, 1], &[0i8]).quantized(state.clone()))
                .input(typed(DataType::QSymmS16, [1, 1], &[0i16]).quantized(cells.clone()))
                .output_info(info(DataType::QAsymmS8, &[1, 1], &state))
                .output_info(info(DataType::QSymmS16, &[1, 1], &cells))
                .output_info(info(DataType::QAsymmS8, &[1, 1, 1], &state))
        };
        let good = 1.0 / 1024.0;
        assert_eq!(with(descriptor(), good, 0).supported(), Ok(()));
        assert_refused(&with(descriptor(), 0.001, 0), &["powers of two"]);
        assert_refused(
            &with(descriptor(), good, 1),
            &["the zero point of input_to_input_weights"],
        );
        let d = UnidirectionalSequenceLstmDescriptor {
            hidden_state_scale: 0.0,
            ..descriptor()
        };
        assert_refused(&with(d, good, 0), &["intermediate"]);
        let d = UnidirectionalSequenceLstmDescriptor {
            activation: ActivationFunction::ReLu.0,
            ..descriptor()
        };
        assert_refused(&with(d, good, 0), &["ReLu"]);
    }
}
