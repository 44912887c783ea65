//! Rnn, Gru and Lstm, as ONNX defines them.

mod cell;
mod sizes;

use armnn_backend_api::{
    ActivationFunction, DataType, GruDescriptor, LayerView, LstmDescriptor, RecurrentDirection,
    Result, RnnDescriptor, Workload,
};

pub(crate) use self::cell::multiply_add;
use self::{
    cell::{Cell, functions},
    sizes::Sizes,
};
use crate::{
    numbers::float_tensors::{Computed, ScratchLen, real_function},
    workloads::layer_checks::{REALS, input, require_input, require_named, require_output},
};

fn check(layer: LayerView<'_>, direction: RecurrentDirection, functions: &[u32]) -> Result<()> {
    require_named(direction, direction.name())?;
    for &function in functions {
        let function = ActivationFunction(function);
        require_named(function, function.name())?;
    }
    require_input(layer, 0, &[REALS])?;
    let common: &[DataType] = &[input(layer, 0)?.data_type()];
    for position in 1..layer.input_indices().len() {
        if layer.input(position).is_some() {
            let allowed = match position {
                4 => &[DataType::Signed32],
                _ => common,
            };
            require_input(layer, position, &[allowed])?;
        }
    }
    for position in 0..layer.output_indices().len() {
        require_output(layer, position, &[common])?;
    }
    Ok(())
}

pub(crate) fn check_rnn(layer: LayerView<'_>, d: &RnnDescriptor) -> Result<()> {
    check(layer, d.direction(), &d.activations)
}

pub(crate) fn check_gru(layer: LayerView<'_>, d: &GruDescriptor) -> Result<()> {
    check(layer, d.direction(), &d.activations)
}

pub(crate) fn check_lstm(layer: LayerView<'_>, d: &LstmDescriptor) -> Result<()> {
    check(layer, d.direction(), &d.activations)
}

pub(crate) fn rnn_workload(layer: LayerView<'_>, d: &RnnDescriptor) -> Result<Box<dyn Workload>> {
    match input(layer, 0)?.data_type() {
        DataType::Float64 => rnn::<f64>(layer, d),
        _ => rnn::<f32>(layer, d),
    }
}

fn rnn<F: Computed>(layer: LayerView<'_>, d: &RnnDescriptor) -> Result<Box<dyn Workload>> {
    let functions = [0, 1].map(|direction| functions(d.activations(direction)));
    let clip = d.clip;
    let sizes = Sizes::new(layer, d.direction(), d.hidden_size, d.batch_first, 1)?;
    workload::<F>(layer, sizes, move |cell| {
        cell.add_input(0, 1);
        cell.add_recurrent(0, 1);
        functions[cell.direction][0].apply(clip, cell.gates);
        cell.h.copy_from_slice(cell.gates);
    })
}

pub(crate) fn gru_workload(layer: LayerView<'_>, d: &GruDescriptor) -> Result<Box<dyn Workload>> {
    match input(layer, 0)?.data_type() {
        DataType::Float64 => gru::<f64>(layer, d),
        _ => gru::<f32>(layer, d),
    }
}

fn gru<F: Computed>(layer: LayerView<'_>, d: &GruDescriptor) -> Result<Box<dyn Workload>> {
    let functions = [0, 1].map(|direction| functions(d.activations(direction)));
    let (clip, linear_before_reset) = (d.clip, d.linear_before_reset == 1);
    let sizes = Sizes::new(layer, d.direction(), d.hidden_size, d.batch_first, 3)?;
    let hidden = sizes.hidden;
    workload::<F>(layer, sizes, move |cell| {
        let [f, g, ..] = functions[cell.direction];
        cell.add_input(0, 3);
        cell.add_recurrent(0, 2);
        f.apply(clip, &mut cell.gates[..2 * hidden]);
        // The hidden gate, with the reset gate in one place or the other.
        cell.scratch[..hidden].fill(F::ZERO);
        if !linear_before_reset {
            for i in 0..hidden {
                cell.c[i] = cell.gates[hidden + i] * cell.h[i];
            }
        }
        let (state, out) = match linear_before_reset {
            true => (&*cell.h, &mut cell.scratch[..hidden]),
            false => (&*cell.c, &mut cell.scratch[..hidden]),
        };
        let rows = &cell.recurrent[2 * hidden * hidden..];
        multiply_add(out, state, rows);
        for (i, out) in out.iter_mut().enumerate() {
            *out += cell
                .recurrent_bias
                .get(2 * hidden + i)
                .copied()
                .unwrap_or(F::ZERO);
            if linear_before_reset {
                *out = *out * cell.gates[hidden + i];
            }
        }
        let (gates, hidden_gate) = cell.gates.split_at_mut(2 * hidden);
        for (gate, &term) in hidden_gate.iter_mut().zip(&cell.scratch[..hidden]) {
            *gate += term;
        }
        g.apply(clip, hidden_gate);
        for i in 0..hidden {
            let update = gates[i];
            cell.h[i] = (F::ONE - update) * hidden_gate[i] + update * cell.h[i];
        }
    })
}

pub(crate) fn lstm_workload(layer: LayerView<'_>, d: &LstmDescriptor) -> Result<Box<dyn Workload>> {
    match input(layer, 0)?.data_type() {
        DataType::Float64 => lstm::<f64>(layer, d),
        _ => lstm::<f32>(layer, d),
    }
}

fn lstm<F: Computed>(layer: LayerView<'_>, d: &LstmDescriptor) -> Result<Box<dyn Workload>> {
    let functions = [0, 1].map(|direction| functions(d.activations(direction)));
    let (clip, input_forget) = (d.clip, d.input_forget == 1);
    let sizes = Sizes::new(layer, d.direction(), d.hidden_size, d.batch_first, 4)?;
    let hidden = sizes.hidden;
    workload::<F>(layer, sizes, move |cell| {
        let [f, g, h] = functions[cell.direction];
        cell.add_input(0, 4);
        cell.add_recurrent(0, 4);
        let (input_gate, rest) = cell.gates.split_at_mut(hidden);
        let (output_gate, rest) = rest.split_at_mut(hidden);
        let (forget_gate, cell_gate) = rest.split_at_mut(hidden);
        let peephole = |gate: usize, i: usize| {
            cell.peephole
                .get(gate * hidden + i)
                .copied()
                .unwrap_or(F::ZERO)
        };
        for i in 0..hidden {
            input_gate[i] += peephole(0, i) * cell.c[i];
            forget_gate[i] += peephole(2, i) * cell.c[i];
        }
        f.apply(clip, input_gate);
        if input_forget {
            for (forget, &input) in forget_gate.iter_mut().zip(&*input_gate) {
                *forget = F::ONE - input;
            }
        } else {
            f.apply(clip, forget_gate);
        }
        g.apply(clip, cell_gate);
        for i in 0..hidden {
            cell.c[i] = forget_gate[i] * cell.c[i] + input_gate[i] * cell_gate[i];
            output_gate[i] += peephole(1, i) * cell.c[i];
        }
        f.apply(clip, output_gate);
        let state = &mut cell.scratch[..hidden];
        state.copy_from_slice(cell.c);
        h.apply(0.0, state);
        for i in 0..hidden {
            cell.h[i] = output_gate[i] * state[i];
        }
    })
}

fn workload<F: Computed>(
    layer: LayerView<'_>,
    sizes: Sizes,
    step: impl Fn(&mut Cell<'_, F>) + Send + Sync + 'static,
) -> Result<Box<dyn Workload>> {
    let has_cell = layer.output_indices().len() == 3;
    let states = sizes.directions * sizes.batch * sizes.hidden;
    let gates = sizes.gates * sizes.hidden;
    // Hidden states and cells, gates, and one hidden state more.
    let scratch_len = states
        .saturating_mul(2)
        .saturating_add(gates)
        .saturating_add(sizes.hidden);
    real_function::<F, _>(
        layer,
        ScratchLen::floats(scratch_len),
        move |call, tensors| {
            let [
                x,
                weights,
                recurrent,
                bias,
                _,
                initial_h,
                initial_c,
                peephole,
                ..,
            ] = tensors.inputs;
            let lengths = call.input::<i32>(4)?;
            let [y, last_h, last_c, _] = &mut tensors.outputs;
            let (h, scratch) = tensors.scratch.split_at_mut(states);
            let (c, scratch) = scratch.split_at_mut(states);
            let (gates, scratch) = scratch.split_at_mut(gates);
            for (state, initial) in [(&mut *h, initial_h), (&mut *c, initial_c)] {
                state.fill(F::ZERO);
                if !initial.is_empty() {
                    state.copy_from_slice(initial);
                }
            }
            y.fill(F::ZERO);
            let part = |all: &'_ [F], direction: usize| -> std::ops::Range<usize> {
                let len = all.len() / sizes.directions;
                direction * len..(direction + 1) * len
            };
            for direction in 0..sizes.directions {
                let bias = &bias[part(bias, direction)];
                let (bias, recurrent_bias) = bias.split_at(bias.len() / 2);
                for batch in 0..sizes.batch {
                    let at = sizes.state(direction, batch);
                    let length = match lengths.get(batch) {
                        Some(&length) => usize::try_from(length)
                            .ok()
                            .filter(|&n| n <= sizes.time)
                            .ok_or_else(|| {
                                armnn_backend_api::BackendError::new(format!(
                                    "length {length} of sequence {batch} is outside of 0 to {}",
                                    sizes.time
                                ))
                            })?,
                        None => sizes.time,
                    };
                    for i in 0..length {
                        let backwards = sizes.reverse_only || direction == 1;
                        let time = if backwards { length - 1 - i } else { i };
                        let row = match sizes.batch_first {
                            true => batch * sizes.time + time,
                            false => time * sizes.batch + batch,
                        };
                        gates.fill(F::ZERO);
                        step(&mut Cell {
                            direction,
                            hidden: sizes.hidden,
                            x: &x[row * sizes.input..][..sizes.input],
                            weights: &weights[part(weights, direction)],
                            recurrent: &recurrent[part(recurrent, direction)],
                            bias,
                            recurrent_bias,
                            peephole: &peephole[part(peephole, direction)],
                            gates,
                            h: &mut h[at..][..sizes.hidden],
                            c: &mut c[at..][..sizes.hidden],
                            scratch: &mut scratch[..sizes.hidden],
                        });
                        let row = match sizes.batch_first {
                            true => (batch * sizes.time + time) * sizes.directions + direction,
                            false => (time * sizes.directions + direction) * sizes.batch + batch,
                        };
                        y[row * sizes.hidden..][..sizes.hidden]
                            .copy_from_slice(&h[at..][..sizes.hidden]);
                    }
                }
            }
            last_h.copy_from_slice(h);
            if has_cell {
                last_c.copy_from_slice(c);
            }
            Ok(())
        },
    )
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerDescriptor;

    use super::*;
    use crate::test_harness::{
        Call, Results, assert_close, assert_refused, f16s, f32s, sample_values, typed,
    };

    const TIME: i64 = 3;
    const BATCH: i64 = 2;
    const INPUT: i64 = 2;
    const HIDDEN: i64 = 3;

    /// A layer with all its inputs, taken one after the other from the sample values; the second
    /// sequence is one step shorter.
    fn run(d: impl Into<LayerDescriptor>, directions: i64, gates: i64, is_lstm: bool) -> Results {
        let values = sample_values(4000);
        let mut rest = &values[..];
        let mut take = |shape: &[i64]| {
            let (part, left) = rest.split_at(shape.iter().product::<i64>() as usize);
            rest = left;
            f32s(armnn_backend_api::Shape::new(shape).unwrap(), part)
        };
        let mut call = Call::new(d)
            .output(DataType::Float32, [TIME, directions, BATCH, HIDDEN])
            .output(DataType::Float32, [directions, BATCH, HIDDEN])
            .input(take(&[TIME, BATCH, INPUT]))
            .input(take(&[directions, gates * HIDDEN, INPUT]))
            .input(take(&[directions, gates * HIDDEN, HIDDEN]))
            .input(take(&[directions, 2 * gates * HIDDEN]))
            .input(typed(DataType::Signed32, [BATCH], &[3, 2]))
            .input(take(&[directions, BATCH, HIDDEN]));
        if is_lstm {
            call = call
                .output(DataType::Float32, [directions, BATCH, HIDDEN])
                .input(take(&[directions, BATCH, HIDDEN]))
                .input(take(&[directions, 3 * HIDDEN]));
        }
        call.run()
    }

    // What is expected was computed by ONNX Runtime 1.32 from the same numbers.

    #[test]
    fn a_layer_without_gates_goes_in_both_directions() {
        let mut d = RnnDescriptor::new(HIDDEN as u32);
        d.direction = RecurrentDirection::Bidirectional.0;
        d.activations[1] = ActivationFunction::ReLu.0;
        let found = run(d, 2, 1, false);
        let expected = [
            -0.292697, 0.879080, 0.624247, -0.375889, 0.891953, 0.648535, 0.519324, 0.0, 0.507375,
            1.258794, 0.890779, 1.523215, 0.856003, 0.899460, -0.726367, -0.198888, 0.810503,
            0.070553, 0.005142, 0.110504, 0.924956, 0.497192, 1.635376, 0.738464, -0.889325,
            -0.578597, 0.084471, 0.0, 0.0, 0.0, 1.462158, 1.447144, 1.023071, 0.0, 0.0, 0.0,
        ];
        assert_close(&found.f32s(), &expected, 2e-6);
        let last = [
            -0.889325, -0.578597, 0.084471, -0.198888, 0.810503, 0.070553, 0.519324, 0.0, 0.507375,
            1.258794, 0.890779, 1.523215,
        ];
        assert_close(&found.elements(1), &last, 2e-6);
    }

    #[test]
    fn arguments_are_limited_and_time_turned_round() {
        let mut d = RnnDescriptor::new(HIDDEN as u32);
        (d.direction, d.clip) = (RecurrentDirection::Reverse.0, 0.5);
        let expected = [
            -0.462117, -0.462117, -0.133646, -0.462117, -0.462117, 0.462117, 0.413658, -0.462117,
            0.084036, -0.462117, -0.462117, 0.462117, -0.264552, -0.462117, 0.462117, 0.0, 0.0,
            0.0,
        ];
        assert_close(&run(d, 1, 1, false).f32s(), &expected, 2e-6);
    }

    #[test]
    fn gated_units_reset_before_or_after_the_product() {
        let mut d = GruDescriptor::new(HIDDEN as u32);
        let expected = [
            -0.142489, 0.038892, 0.453030, 0.158113, 0.010148, 0.392148, -0.168640, 0.204185,
            -0.084300, 0.037265, 0.211076, 0.249429, -0.106821, 0.276159, -0.080988, 0.0, 0.0, 0.0,
        ];
        assert_close(&run(d, 1, 3, false).f32s(), &expected, 2e-6);
        d.linear_before_reset = 1;
        d.direction = RecurrentDirection::Bidirectional.0;
        let expected = [
            0.063977, 0.336635, -0.664889, -0.228798, 0.252234, -0.572785, -0.166706, 0.867999,
            -0.191959, 0.653452, 0.786506, 0.152488, 0.062045, 0.585765, -0.904426, -0.195302,
            0.227295, -0.733291, -0.075812, 0.786478, 0.512111, 0.630791, 0.782782, 0.024449,
            0.016275, 0.048079, -0.830635, 0.0, 0.0, 0.0, -0.114523, 0.602644, 0.489292, 0.0, 0.0,
            0.0,
        ];
        assert_close(&run(d, 2, 3, false).f32s(), &expected, 2e-6);
    }

    #[test]
    fn a_cell_is_seen_through_peepholes_and_carried_on() {
        let mut d = LstmDescriptor::new(HIDDEN as u32);
        d.direction = RecurrentDirection::Bidirectional.0;
        let found = run(d, 2, 4, true);
        let expected = [
            0.047323, 0.157727, 0.020773, 0.050729, 0.219077, 0.161975, 0.032040, -0.143599,
            -0.006129, -0.000562, -0.026008, 0.144975, 0.109201, 0.484612, -0.089277, 0.000189,
            0.343275, 0.038234, 0.044048, -0.146202, -0.010015, -0.018487, -0.058793, 0.075340,
            0.030266, 0.501763, 0.071309, 0.0, 0.0, 0.0, 0.076880, -0.129763, 0.030792, 0.0, 0.0,
            0.0,
        ];
        assert_close(&found.f32s(), &expected, 2e-6);
        let cells = [
            0.049681, 0.782837, 0.265303, 0.000331, 0.537598, 0.117615, 0.489984, -0.412519,
            -0.097656, -0.003241, -0.112023, 0.474711,
        ];
        assert_close(&found.elements(2), &cells, 2e-6);
    }

    #[test]
    fn a_forget_gate_may_be_what_the_input_gate_leaves() {
        let mut d = LstmDescriptor::new(HIDDEN as u32);
        d.input_forget = 1;
        let found = run(d, 1, 4, true);
        let expected = [
            0.564585, 0.194049, 0.091993, 0.157723, -0.111564, 0.152973, 0.200792, 0.460215,
            -0.063028, 0.149275, 0.231448, 0.149730, 0.071841, 0.407427, -0.007106, 0.0, 0.0, 0.0,
        ];
        assert_close(&found.f32s(), &expected, 2e-6);
        let cells = [0.103576, 0.659688, -0.014093, 0.273198, 0.440031, 0.335089];
        assert_close(&found.elements(2), &cells, 2e-6);
    }

    #[test]
    fn the_batch_may_come_first() {
        // One step of a tanh: h = tanh(x w), of two sequences.
        let mut d = RnnDescriptor::new(1);
        d.batch_first = 1;
        let call = Call::new(d)
            .input(f32s([2, 1, 1], &[0.5, -1.0]))
            .input(f32s([1, 1, 1], &[2.0]))
            .input(f32s([1, 1, 1], &[0.0]))
            .output(DataType::Float32, [2, 1, 1, 1])
            .output(DataType::Float32, [2, 1, 1]);
        let expected = [1f32.tanh(), (-2f32).tanh()];
        assert_close(&call.run().f32s(), &expected, 1e-6);
        let long = Call::new(d)
            .input(f32s([1, 1, 1], &[0.5]))
            .input(f32s([1, 1, 1], &[2.0]))
            .input(f32s([1, 1, 1], &[0.0]))
            .absent()
            .input(typed(DataType::Signed32, [1], &[2]))
            .output(DataType::Float32, [1, 1, 1, 1])
            .output(DataType::Float32, [1, 1, 1]);
        assert!(long.error().contains("length 2 of sequence 0"));
    }

    #[test]
    fn float16_is_rounded_once_at_the_end() {
        // h = tanh(x w + h r + b + b'), of 1 and -2 with w = 0.5, r = 0.25, b = 0.125 and b' = 0.
        let call = Call::new(RnnDescriptor::new(1))
            .input(f16s([2, 1, 1], &[1.0, -2.0]))
            .input(f16s([1, 1, 1], &[0.5]))
            .input(f16s([1, 1, 1], &[0.25]))
            .input(f16s([1, 2], &[0.125, 0.0]))
            .output(DataType::Float16, [2, 1, 1, 1])
            .output(DataType::Float16, [1, 1, 1]);
        let first = 0.625f32.tanh();
        let second = (-1.0 + 0.25 * first + 0.125).tanh();
        let rounded = [first, second].map(|x| half::f16::from_f32(x).to_f32());
        assert_eq!(call.run().f16s(), rounded);
        let mixed = Call::new(RnnDescriptor::new(1))
            .input(f16s([1, 1, 1], &[1.0]))
            .input(f32s([1, 1, 1], &[0.5]))
            .input(f16s([1, 1, 1], &[0.25]))
            .output(DataType::Float16, [1, 1, 1, 1])
            .output(DataType::Float16, [1, 1, 1]);
        assert_refused(&mixed, &["the type of weights is Float32"]);
    }
}
