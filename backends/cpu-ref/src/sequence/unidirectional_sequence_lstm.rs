//! UnidirectionalSequenceLstm, by TensorFlow Lite's reference kernel (`kernels/lstm_eval.cc`).

mod fixed_point;
mod quantized;
mod quantized_unsigned;

use armnn_backend_api::{
    ActivationFunction, DataType, LayerView, Result, UnidirectionalSequenceLstmDescriptor, Workload,
};

use crate::{
    elementwise::activation::activate,
    numbers::{
        float_tensors::{FloatTensors, MAX_INPUTS, ScratchLen, float_function},
        quantized_arithmetic::Affine,
    },
    sequence::{recurrent::multiply_add, sigmoid_tanh},
    workloads::layer_checks::{
        FLOATS, dims, dims_of_rank, input, input_role, invalid, num_elements, output, output_role,
        require_input, require_named, require_output,
    },
};

pub(crate) fn check(layer: LayerView<'_>, d: &UnidirectionalSequenceLstmDescriptor) -> Result<()> {
    require_named(d.activation(), d.activation().name())?;
    require_input(
        layer,
        0,
        &[
            FLOATS,
            &[DataType::QAsymmS8, DataType::QAsymmU8, DataType::QSymmS16],
        ],
    )?;
    match input(layer, 0)?.data_type() {
        DataType::QAsymmS8 => quantized::check(layer, d),
        DataType::QAsymmU8 => quantized_unsigned::check(layer, d),
        _ => check_real(layer),
    }
}

/// All of one type: a floating-point type, of which matrices may be quantized in 8 bits; or
/// QSymmS16. That is computed in Float32.
fn check_real(layer: LayerView<'_>) -> Result<()> {
    const WEIGHTS: &[DataType] = &[DataType::QSymmS8, DataType::QAsymmS8, DataType::QAsymmU8];
    let common: &[DataType] = &[input(layer, 0)?.data_type()];
    for position in 0..layer.input_indices().len() {
        let Some(tensor) = layer.input(position) else {
            continue;
        };
        let others = match position {
            INPUT_WEIGHTS..PEEPHOLES | PROJECTION => WEIGHTS,
            _ => &[],
        };
        require_input(layer, position, &[common, others])?;
        if tensor.data_type().is_quantized() {
            Affine::of(tensor, &input_role(layer.layer_type(), position))?;
        }
    }
    for position in 0..layer.output_indices().len() {
        require_output(layer, position, &[common])?;
        let tensor = output(layer, position)?;
        if tensor.data_type().is_quantized() {
            Affine::of(tensor, &output_role(layer.layer_type(), position))?;
        }
    }
    Ok(())
}

/// Positions of inputs; those of the gates are input, forget, cell, output.
const INPUT_WEIGHTS: usize = 1;
const RECURRENT_WEIGHTS: usize = 5;
/// Of the input, forget and output gate.
const PEEPHOLES: usize = 9;
const BIASES: usize = 12;
const PROJECTION: usize = 16;
const PROJECTION_BIAS: usize = 17;
const OUTPUT_STATE: usize = 18;
const CELL_STATE: usize = 19;
const LAYER_NORM: usize = 20;

const INPUT_GATE: usize = 0;
const FORGET_GATE: usize = 1;
const CELL_GATE: usize = 2;
const OUTPUT_GATE: usize = 3;

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &UnidirectionalSequenceLstmDescriptor,
) -> Result<Box<dyn Workload>> {
    let [first, second, size] = dims_of_rank(layer, input(layer, 0)?)?;
    let time_major = d.time_major == 1;
    let (time, batch) = if time_major {
        (first, second)
    } else {
        (second, first)
    };
    let [cells, _] = dims_of_rank(layer, input(layer, INPUT_WEIGHTS + FORGET_GATE)?)?;
    let [_, outputs] = dims_of_rank(layer, input(layer, RECURRENT_WEIGHTS + FORGET_GATE)?)?;
    let is_there = |position: usize| layer.input(position).is_some();
    // An absent input has the right size, if it may be absent at all.
    let has_size = |position: usize, factors: [usize; 2]| match layer.input(position) {
        Some(tensor) => {
            let expected = factors[0].checked_mul(factors[1]);
            num_elements(layer, tensor).map(|len| Some(len) == expected)
        }
        None => Ok(true),
    };
    let has_layer_norm = is_there(LAYER_NORM + FORGET_GATE);
    let mut fits = has_size(PROJECTION, [outputs, cells])?
        && has_size(PROJECTION_BIAS, [outputs, 1])?
        && has_size(OUTPUT_STATE, [batch, outputs])?
        && has_size(CELL_STATE, [batch, cells])?
        && is_there(OUTPUT_STATE)
        && is_there(CELL_STATE)
        && (is_there(PROJECTION) || outputs == cells)
        && dims(layer, output(layer, 0)?)? == [batch, outputs]
        && dims(layer, output(layer, 1)?)? == [batch, cells]
        && dims(layer, output(layer, 2)?)? == [first, second, outputs];
    for gate in 0..4 {
        let is_used = gate != INPUT_GATE || is_there(INPUT_WEIGHTS);
        fits = fits
            && has_size(INPUT_WEIGHTS + gate, [cells, size])?
            && has_size(RECURRENT_WEIGHTS + gate, [cells, outputs])?
            && has_size(BIASES + gate, [cells, 1])?
            && has_size(LAYER_NORM + gate, [cells, 1])?
            && (gate == CELL_GATE || has_size(PEEPHOLES + gate.min(2), [cells, 1])?)
            && [INPUT_WEIGHTS, RECURRENT_WEIGHTS, BIASES]
                .iter()
                .all(|first| is_there(first + gate) || !is_used)
            && (!is_used || is_there(LAYER_NORM + gate) == has_layer_norm);
    }
    if !fits {
        return Err(invalid(format_args!(
            "weights, states and outputs do not fit {time} steps, a batch of {batch}, {size} \
             inputs, {cells} cells and {outputs} outputs"
        )));
    }
    if (size, outputs) == (0, 0) {
        return Err(invalid("it has neither inputs nor outputs"));
    }
    // Without a batch there may be any number of steps, of which none does anything.
    let time = if batch == 0 { 0 } else { time };
    let sizes = Sizes {
        time,
        batch,
        size,
        cells,
        outputs,
        time_major,
    };
    match input(layer, 0)?.data_type() {
        DataType::QAsymmS8 => return quantized::workload(layer, d, sizes),
        DataType::QAsymmU8 => return quantized_unsigned::workload(layer, sizes),
        _ => {}
    }
    let lstm = Lstm {
        d: *d,
        sizes,
        has_input_gate: is_there(INPUT_WEIGHTS),
    };
    // Four gates, and what goes through the projection.
    let scratch_len = ScratchLen::floats(cells.saturating_mul(5));
    float_function(layer, scratch_len, move |_, tensors| {
        lstm.run(tensors);
        Ok(())
    })
}

#[derive(Clone, Copy)]
struct Sizes {
    time: usize,
    batch: usize,
    size: usize,
    cells: usize,
    outputs: usize,
    time_major: bool,
}

impl Sizes {
    /// The row of the input and the output that a step of an item of the batch has.
    fn row(&self, step: usize, item: usize) -> usize {
        match self.time_major {
            true => step * self.batch + item,
            false => item * self.time + step,
        }
    }
}

struct Lstm {
    d: UnidirectionalSequenceLstmDescriptor,
    sizes: Sizes,
    has_input_gate: bool,
}

impl Lstm {
    fn run(&self, tensors: &mut FloatTensors<'_>) {
        let &Sizes {
            time,
            batch,
            size,
            cells: n_cells,
            outputs,
            ..
        } = &self.sizes;
        let x = tensors.inputs[0];
        let weights = Weights::new(&tensors.inputs);
        let (gates, hidden) = tensors.scratch.split_at_mut(4 * n_cells);
        let [state, cells, out, _] = &mut tensors.outputs;
        state.copy_from_slice(tensors.inputs[OUTPUT_STATE]);
        cells.copy_from_slice(tensors.inputs[CELL_STATE]);
        for step in 0..time {
            for item in 0..batch {
                let row = self.sizes.row(step, item);
                let state = &mut state[item * outputs..][..outputs];
                let cells = &mut cells[item * n_cells..][..n_cells];
                let x = &x[row * size..][..size];
                self.step(&weights, x, state, cells, gates, hidden);
                out[row * outputs..][..outputs].copy_from_slice(state);
            }
        }
    }

    fn step(
        &self,
        weights: &Weights<'_>,
        x: &[f32],
        state: &mut [f32],
        cells: &mut [f32],
        gates: &mut [f32],
        hidden: &mut [f32],
    ) {
        let n = self.sizes.cells;
        if n == 0 {
            state.fill(0.0);
            return;
        }
        for (gate, values) in gates.chunks_exact_mut(n).enumerate().take(3) {
            if gate != INPUT_GATE || self.has_input_gate {
                weights.sum(gate, x, state, cells, values);
            }
            match gate {
                CELL_GATE => {
                    hidden.copy_from_slice(values);
                    self.activate(hidden, values);
                }
                _ => sigmoid_tanh::sigmoid(values),
            }
        }
        let (before, output_gate) = gates.split_at_mut(3 * n);
        let (input_gate, before) = before.split_at(n);
        let (forget_gate, cell_gate) = before.split_at(n);
        for (i, cell) in cells.iter_mut().enumerate() {
            let forget = forget_gate[i];
            let input = if self.has_input_gate {
                input_gate[i]
            } else {
                1.0 - forget
            };
            *cell = forget * *cell + input * cell_gate[i];
        }
        clip(cells, self.d.cell_clip);
        weights.sum(OUTPUT_GATE, x, state, cells, output_gate);
        self.activate(cells, hidden);
        sigmoid_tanh::sigmoid(output_gate);
        for (hidden, &gate) in hidden.iter_mut().zip(&*output_gate) {
            *hidden *= gate;
        }
        match weights.projection {
            [] => state.copy_from_slice(hidden),
            projection => {
                state.fill(0.0);
                if !weights.projection_bias.is_empty() {
                    state.copy_from_slice(weights.projection_bias);
                }
                multiply_add(state, hidden, projection);
                clip(state, self.d.projection_clip);
            }
        }
    }

    fn activate(&self, values: &[f32], to: &mut [f32]) {
        let d = &self.d;
        let parameters = (d.activation_a, d.activation_b);
        if d.activation() == ActivationFunction::TanH && parameters == (1.0, 1.0) {
            to.copy_from_slice(values);
            return sigmoid_tanh::tanh(to);
        }
        activate(d.activation(), d.activation_a, d.activation_b, values, to);
    }
}

fn clip(values: &mut [f32], limit: f32) {
    if limit > 0.0 {
        values.iter_mut().for_each(|x| *x = x.clamp(-limit, limit));
    }
}

/// What is absent is empty.
struct Weights<'a> {
    input: [&'a [f32]; 4],
    recurrent: [&'a [f32]; 4],
    peephole: [&'a [f32]; 4],
    bias: [&'a [f32]; 4],
    layer_norm: [&'a [f32]; 4],
    projection: &'a [f32],
    projection_bias: &'a [f32],
}

impl<'a> Weights<'a> {
    fn new(inputs: &[&'a [f32]; MAX_INPUTS]) -> Self {
        let four = |first: usize| [0, 1, 2, 3].map(|gate| inputs[first + gate]);
        Self {
            input: four(INPUT_WEIGHTS),
            recurrent: four(RECURRENT_WEIGHTS),
            peephole: [
                inputs[PEEPHOLES],
                inputs[PEEPHOLES + 1],
                &[],
                inputs[PEEPHOLES + 2],
            ],
            bias: four(BIASES),
            layer_norm: four(LAYER_NORM),
            projection: inputs[PROJECTION],
            projection_bias: inputs[PROJECTION_BIAS],
        }
    }

    /// What the activation function of a gate is applied to.
    fn sum(&self, gate: usize, x: &[f32], state: &[f32], cells: &[f32], out: &mut [f32]) {
        out.fill(0.0);
        let layer_norm = self.layer_norm[gate];
        let add = |out: &mut [f32], values: &[f32]| {
            out.iter_mut().zip(values).for_each(|(out, x)| *out += x);
        };
        if layer_norm.is_empty() {
            add(out, self.bias[gate]);
        }
        multiply_add(out, x, self.input[gate]);
        multiply_add(out, state, self.recurrent[gate]);
        for ((out, weight), cell) in out.iter_mut().zip(self.peephole[gate]).zip(cells) {
            *out += weight * cell;
        }
        if !layer_norm.is_empty() {
            let count = out.len() as f32;
            let mean = out.iter().sum::<f32>() / count;
            let squares: f32 = out.iter().map(|x| (x - mean) * (x - mean)).sum();
            let factor = 1.0 / (squares / count + 1e-8).sqrt();
            for (out, weight) in out.iter_mut().zip(layer_norm) {
                *out = (*out - mean) * factor * weight;
            }
            add(out, self.bias[gate]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, assert_close, f32s, sample_values};

    /// The definition, in Float64: [N, T, I] to the output, the output state and the cells.
    struct Reference {
        cells: usize,
        outputs: usize,
        inputs: Vec<Option<Vec<f64>>>,
    }

    impl Reference {
        fn run(&self, x: &[f64], steps: usize) -> (Vec<f64>, Vec<f64>) {
            let of = |position: usize| self.inputs[position].as_ref();
            let size = x.len() / steps;
            let mut state = of(18).unwrap().clone();
            let mut cell = of(19).unwrap().clone();
            let mut out = vec![];
            for x in x.chunks(size) {
                let gate = |gate: usize, state: &[f64], cell: &[f64]| -> Vec<f64> {
                    let mut sums: Vec<f64> = (0..self.cells)
                        .map(|i| {
                            let w = of(1 + gate).unwrap();
                            let r = of(5 + gate).unwrap();
                            let mut sum: f64 = (0..size).map(|j| w[i * size + j] * x[j]).sum();
                            sum += (0..self.outputs)
                                .map(|j| r[i * self.outputs + j] * state[j])
                                .sum::<f64>();
                            let peephole = [Some(9), Some(10), None, Some(11)][gate];
                            if let Some(p) = peephole.and_then(of) {
                                sum += p[i] * cell[i];
                            }
                            sum
                        })
                        .collect();
                    if let Some(norm) = of(20 + gate) {
                        let n = sums.len() as f64;
                        let mean = sums.iter().sum::<f64>() / n;
                        let variance = sums.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n;
                        for (sum, norm) in sums.iter_mut().zip(norm) {
                            *sum = (*sum - mean) / variance.sqrt() * norm;
                        }
                    }
                    let bias = of(12 + gate).unwrap();
                    sums.iter()
                        .zip(bias)
                        .map(|(sum, bias)| sum + bias)
                        .collect()
                };
                let sigmoid = |x: &f64| 1.0 / (1.0 + (-x).exp());
                let forget: Vec<f64> = gate(1, &state, &cell).iter().map(sigmoid).collect();
                let input: Vec<f64> = match of(1) {
                    Some(_) => gate(0, &state, &cell).iter().map(sigmoid).collect(),
                    None => forget.iter().map(|f| 1.0 - f).collect(),
                };
                let new = gate(2, &state, &cell);
                for i in 0..self.cells {
                    cell[i] = forget[i] * cell[i] + input[i] * new[i].tanh();
                }
                let output: Vec<f64> = gate(3, &state, &cell).iter().map(sigmoid).collect();
                let hidden: Vec<f64> = (0..self.cells)
                    .map(|i| output[i] * cell[i].tanh())
                    .collect();
                state = match of(16) {
                    Some(p) => (0..self.outputs)
                        .map(|o| {
                            let row = (0..self.cells).map(|i| p[o * self.cells + i] * hidden[i]);
                            row.sum::<f64>() + of(17).map_or(0.0, |b| b[o])
                        })
                        .collect(),
                    None => hidden,
                };
                out.extend(&state);
            }
            (out, cell)
        }
    }

    /// Two steps of one sequence, with inputs of two numbers and three cells.
    fn compare(outputs: usize, absent: &[usize]) {
        let (steps, size, cells) = (2, 2, 3);
        let values = sample_values(400);
        let mut rest = &values[..];
        let x = &rest[..steps * size];
        rest = &rest[steps * size..];
        let d = UnidirectionalSequenceLstmDescriptor::new(false);
        let mut call = Call::new(d)
            .output(DataType::Float32, [1, outputs as i64])
            .output(DataType::Float32, [1, cells as i64])
            .output(DataType::Float32, [1, steps as i64, outputs as i64])
            .input(f32s([1, steps as i64, size as i64], x));
        let mut inputs = vec![Some(vec![])];
        for position in 1..24 {
            let shape = match position {
                1..=4 => vec![cells, size],
                5..=8 => vec![cells, outputs],
                16 => vec![outputs, cells],
                17 => vec![outputs],
                18 => vec![1, outputs],
                19 => vec![1, cells],
                _ => vec![cells],
            };
            if absent.contains(&position) {
                call = call.absent();
                inputs.push(None);
                continue;
            }
            let (part, left) = rest.split_at(shape.iter().product());
            rest = left;
            let dims: Vec<i64> = shape.iter().map(|&n| n as i64).collect();
            call = call.input(f32s(armnn_backend_api::Shape::new(&dims).unwrap(), part));
            inputs.push(Some(part.iter().map(|&x| x.into()).collect()));
        }
        let reference = Reference {
            cells,
            outputs,
            inputs,
        };
        let x: Vec<f64> = x.iter().map(|&x| x.into()).collect();
        let (expected, cell) = reference.run(&x, steps);
        let narrow = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let found = call.run();
        assert_close(&found.elements(2), &narrow(&expected), 2e-6);
        assert_close(&found.elements(1), &narrow(&cell), 2e-6);
        assert_close(&found.f32s(), &narrow(&expected[outputs..]), 2e-6);
    }

    #[test]
    fn options_are_those_of_the_inputs_that_are_there() {
        let layer_norm = [20, 21, 22, 23];
        let projection = [16, 17];
        let peepholes = [9, 10, 11];
        let input_gate = [1, 5, 9, 12, 20];
        compare(3, &[&layer_norm[..], &projection, &peepholes].concat());
        compare(3, &[&layer_norm[..], &projection].concat());
        compare(2, &[&layer_norm[..], &[17]].concat());
        compare(2, &[]);
        compare(2, &input_gate);
        compare(
            3,
            &[&layer_norm[..], &projection, &peepholes, &input_gate].concat(),
        );
    }

    #[test]
    fn cells_and_projections_are_limited_and_time_may_come_first() {
        // One cell whose gates are open: c = x, and x is 3 in the first and -1 in the second step.
        let mut d = UnidirectionalSequenceLstmDescriptor::new(true);
        d.activation = ActivationFunction::ReLu.0;
        (d.cell_clip, d.projection_clip) = (2.0, 1.5);
        let one = |x: f32| f32s([1, 1], &[x]);
        let vector = |x: f32| f32s([1], &[x]);
        let mut call = Call::new(d)
            .output(DataType::Float32, [1, 1])
            .output(DataType::Float32, [1, 1])
            .output(DataType::Float32, [2, 1, 1])
            .input(f32s([2, 1, 1], &[3.0, 1.0]));
        for weights in [0.0, 0.0, 1.0, 0.0].into_iter().chain([0.0; 4]) {
            call = call.input(one(weights));
        }
        call = call.absent().absent().absent();
        // Input and output gates are open, the forget gate is shut.
        for bias in [100.0, -100.0, 0.0, 100.0] {
            call = call.input(vector(bias));
        }
        let found = call
            .input(one(1.0))
            .absent()
            .input(one(0.0))
            .input(one(0.0))
            .run();
        // min(3, 2) and then at most 1.5; 1 and 1.
        assert_eq!(found.elements::<f32>(2), [1.5, 1.0]);
        assert_eq!(found.elements::<f32>(1), [1.0]);
    }

    #[test]
    fn without_a_batch_there_may_be_any_number_of_steps() {
        let steps = 1 << 50;
        let mut call = Call::new(UnidirectionalSequenceLstmDescriptor::new(true))
            .input(f32s([steps, 0, 1], &[]));
        for position in 1..20 {
            call = match position {
                1..=8 => call.input(f32s([1, 1], &[1.0])),
                12..=15 => call.input(f32s([1], &[1.0])),
                18 | 19 => call.input(f32s([0, 1], &[])),
                _ => call.absent(),
            };
        }
        let call = call
            .output(DataType::Float32, [0, 1])
            .output(DataType::Float32, [0, 1])
            .output(DataType::Float32, [steps, 0, 1]);
        assert!(call.run().elements::<f32>(2).is_empty());
    }
}
