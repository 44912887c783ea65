//! UnidirectionalSequenceLstm of unsigned 8 bits with cells of 16 bits, bit for bit as TensorFlow
//! Lite's kernel of LSTMs of the type BASIC: `LstmCell`
//! (`kernels/internal/optimized/optimized_ops.h`) and the factor that `kernels/lstm.cc` gives it.
//! The Android Neural Networks API and Arm NN call it QuantizedLstm.
//!
//! Input and outputs are in steps of 1/128 around 128, the sums of the gates have 3 integer bits,
//! and the cells 4. Sums are rescaled as that kernel's library of matrix products (ruy) does it,
//! which rounds ties upwards where they are shifted to the right; LiteRT 2.3 has that kernel among
//! its reference kernels, too, and never runs the other one
//! (`kernels/internal/reference/lstm_cell.h`), where ties go away from zero.

use armnn_backend_api::{
    ActivationFunction, DataType, LayerView, Result, UnidirectionalSequenceLstmDescriptor, Workload,
};

use super::{
    BIASES, CELL_GATE, CELL_STATE, FORGET_GATE, INPUT_GATE, INPUT_WEIGHTS, OUTPUT_GATE,
    OUTPUT_STATE, RECURRENT_WEIGHTS, Sizes,
    fixed_point::{logistic, product, shift_left, shift_right, tanh},
};
use crate::{
    numbers::{
        float_tensors::taken,
        quantized_arithmetic::{Affine, Multiplier, doubling_high_product},
    },
    workloads::{
        layer_checks::{
            input, input_role, invalid, output, output_role, refusal, require_input, require_output,
        },
        workload_function::{Call, workload_function},
    },
};

const NUMBERS: &[DataType] = &[DataType::QAsymmU8];
const CELLS: &[DataType] = &[DataType::QSymmS16];

/// What numbers without integer bits become when they are narrowed to 8 bits.
const NARROWED: Affine = Affine {
    scale: 1.0 / 128.0,
    zero_point: 128,
};

/// 4 integer bits.
const OF_CELLS: Affine = Affine {
    scale: 1.0 / 2048.0,
    zero_point: 0,
};

pub(super) fn check(layer: LayerView<'_>, d: &UnidirectionalSequenceLstmDescriptor) -> Result<()> {
    for position in 0..layer.input_indices().len() {
        let is_used = matches!(
            position,
            0..=8 | BIASES..16 | OUTPUT_STATE | CELL_STATE
        );
        let role = input_role(layer.layer_type(), position);
        match layer.input(position) {
            Some(_) if !is_used => {
                return Err(refusal(format_args!(
                    "{role} of an LSTM of QAsymmU8; supported: none"
                )));
            }
            None if is_used => {
                return Err(refusal(format_args!(
                    "an LSTM of QAsymmU8 without {role}; supported: all four gates"
                )));
            }
            Some(_) => {}
            None => continue,
        }
        let allowed = match position {
            BIASES..16 => &[DataType::Signed32],
            CELL_STATE => CELLS,
            _ => NUMBERS,
        };
        require_input(layer, position, &[allowed])?;
    }
    for (position, allowed) in [NUMBERS, CELLS, NUMBERS].into_iter().enumerate() {
        require_output(layer, position, &[allowed])?;
    }
    let is_like = |found: Affine, expected: Affine, role: &str| match found == expected {
        true => Ok(()),
        false => Err(refusal(format_args!(
            "the scale and zero point of {role} are {} and {}; supported: {} and {}",
            found.scale, found.zero_point, expected.scale, expected.zero_point
        ))),
    };
    for (position, expected) in [
        (0, NARROWED),
        (OUTPUT_STATE, NARROWED),
        (CELL_STATE, OF_CELLS),
    ] {
        let role = input_role(layer.layer_type(), position);
        is_like(
            Affine::of(input(layer, position)?, &role)?,
            expected,
            &role.to_string(),
        )?;
    }
    for (position, expected) in [NARROWED, OF_CELLS, NARROWED].into_iter().enumerate() {
        let role = output_role(layer.layer_type(), position);
        is_like(
            Affine::of(output(layer, position)?, &role)?,
            expected,
            &role.to_string(),
        )?;
    }
    let is_tanh = d.activation() == ActivationFunction::TanH
        && (d.activation_a, d.activation_b) == (1.0, 1.0);
    if !is_tanh {
        return Err(refusal(format_args!(
            "the activation of quantized cells is {}; supported: TanH, without factors",
            d.activation()
        )));
    }
    if d.cell_clip > 0.0 || d.projection_clip > 0.0 {
        return Err(refusal(
            "limits of an LSTM of QAsymmU8; supported: no cell_clip, and no projection_clip",
        ));
    }
    rules(layer).map(drop)
}

pub(super) fn workload(layer: LayerView<'_>, sizes: Sizes) -> Result<Box<dyn Workload>> {
    let lstm = Lstm {
        gates: rules(layer)?,
        sizes,
    };
    if sizes.cells == 0 {
        return Err(invalid("it has no cells"));
    }
    // Four gates, and the states.
    let scratch_len = sizes
        .batch
        .checked_mul(2)
        .and_then(|states| states.checked_add(4)?.checked_mul(sizes.cells))
        .and_then(|n| n.checked_mul(size_of::<i16>()))
        .ok_or_else(|| invalid("its tensors are too large to compute with"))?;
    workload_function(layer, scratch_len, move |call| lstm.run(call))
}

/// How the sums of one gate are made and rescaled.
#[derive(Clone, Copy)]
struct GateRule {
    weights_zero_point: i32,
    factor: Multiplier,
}

/// The rules of the four gates. The scale of the sums is that of the bias, if it has one.
fn rules(layer: LayerView<'_>) -> Result<[GateRule; 4]> {
    let rule = |gate: usize| {
        let affine = |first: usize| {
            let role = input_role(layer.layer_type(), first + gate);
            Affine::of(input(layer, first + gate)?, &role).map(|affine| (affine, role))
        };
        let (weights, _) = affine(INPUT_WEIGHTS)?;
        let (recurrent, role) = affine(RECURRENT_WEIGHTS)?;
        if recurrent != weights {
            return Err(refusal(format_args!(
                "{role} have another scale or zero point than the weights of the input"
            )));
        }
        let scale = match input(layer, BIASES + gate)?.scales() {
            &[scale] => scale,
            _ => weights.scale * NARROWED.scale,
        };
        // 3 integer bits.
        Ok(GateRule {
            weights_zero_point: weights.zero_point,
            factor: Multiplier::new(4096.0 * f64::from(scale)),
        })
    };
    Ok([rule(0)?, rule(1)?, rule(2)?, rule(3)?])
}

struct Lstm {
    gates: [GateRule; 4],
    sizes: Sizes,
}

impl Lstm {
    fn run(&self, call: &mut Call<'_, '_, '_, '_>) -> Result<()> {
        let &Sizes {
            time,
            batch,
            size,
            cells: n,
            ..
        } = &self.sizes;
        let x = call.input::<u8>(0)?;
        let mut weights = [Weights::default(); 4];
        for (gate, weights) in weights.iter_mut().enumerate() {
            *weights = Weights {
                input: call.input(INPUT_WEIGHTS + gate)?,
                recurrent: call.input(RECURRENT_WEIGHTS + gate)?,
                bias: call.input(BIASES + gate)?,
            };
        }
        let mut scratch = call.scratch::<i16>()?;
        let sums = taken(&mut scratch, 4 * n);
        let states = taken(&mut scratch, batch * n);
        let cells = taken(&mut scratch, batch * n);
        widen(call.input(OUTPUT_STATE)?, states);
        cells.copy_from_slice(call.input(CELL_STATE)?);
        let out = call.output::<u8>(2)?;
        for step in 0..time {
            for item in 0..batch {
                let row = self.sizes.row(step, item);
                let state = &mut states[item * n..][..n];
                let cells = &mut cells[item * n..][..n];
                self.sums(&weights, &x[row * size..][..size], state, sums);
                advance(sums, cells, state);
                narrow(state, &mut out[row * n..][..n]);
            }
        }
        narrow(states, call.output(0)?);
        call.output(1)?.copy_from_slice(cells);
        Ok(())
    }

    /// The sums of the four gates, with 3 integer bits.
    fn sums(&self, weights: &[Weights<'_>; 4], x: &[u8], state: &[i16], sums: &mut [i16]) {
        let n = self.sizes.cells;
        for ((rule, weights), sums) in self.gates.iter().zip(weights).zip(sums.chunks_exact_mut(n))
        {
            // Sums wrap around, which no sum of a possible model does.
            let weighted = |start: i32, weights: &[u8], x: &mut dyn Iterator<Item = i32>| {
                x.zip(weights).fold(start, |sum, (x, &weight)| {
                    let weight = i32::from(weight) - rule.weights_zero_point;
                    sum.wrapping_add((x - NARROWED.zero_point) * weight)
                })
            };
            for (row, sum) in sums.iter_mut().enumerate() {
                let of_input = &weights.input[row * x.len()..][..x.len()];
                let of_state = &weights.recurrent[row * n..][..n];
                let total = weighted(
                    weights.bias[row],
                    of_input,
                    &mut x.iter().map(|&x| x.into()),
                );
                let total = weighted(total, of_state, &mut state.iter().map(|&x| x.into()));
                *sum = rescaled(rule.factor, total);
            }
        }
    }
}

/// A sum with 3 integer bits.
fn rescaled(factor: Multiplier, sum: i32) -> i16 {
    let shifted = sum.wrapping_shl(factor.exponent.max(0) as u32);
    let product = i64::from(doubling_high_product(shifted, factor.fraction));
    let shift = (-factor.exponent).max(0) as u32;
    let half = (1i64 << shift) >> 1;
    ((product + half) >> shift).clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// The cells and the state after a step, by the sums of the gates.
fn advance(sums: &[i16], cells: &mut [i16], state: &mut [i16]) {
    let n = cells.len();
    for (i, (cell, state)) in cells.iter_mut().zip(state).enumerate() {
        let sum = |gate: usize| sums[gate * n + i];
        let added = product(logistic(sum(INPUT_GATE)), tanh(sum(CELL_GATE), 3));
        let kept = product(logistic(sum(FORGET_GATE)), *cell);
        // From no integer bits to 4.
        *cell = shift_right(added, 4).saturating_add(kept);
        // From 4 integer bits to 3.
        let shown = tanh(shift_left(*cell, 1), 3);
        let shown = product(logistic(sum(OUTPUT_GATE)), shown);
        *state = shift_right(shown, 8).clamp(-128, 127) + 128;
    }
}

fn widen(from: &[u8], to: &mut [i16]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = from.into();
    }
}

/// Numbers that have 8 bits.
fn narrow(from: &[i16], to: &mut [u8]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = from as u8;
    }
}

#[derive(Clone, Copy, Default)]
struct Weights<'a> {
    input: &'a [u8],
    recurrent: &'a [u8],
    bias: &'a [i32],
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{LayerDescriptor, Quantization, TensorInfo};

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_refused, typed};

    fn scaled(tensor: Tensor, scale: f32, zero_point: i32) -> Tensor {
        tensor.quantized(Quantization::per_tensor(scale, zero_point))
    }

    /// One step of two items, with two numbers and two cells.
    fn call(input_scale: f32) -> Call {
        const WEIGHTS: [[u8; 4]; 8] = [
            [8, 228, 231, 190],
            [155, 112, 158, 208],
            [7, 204, 143, 113],
            [181, 231, 80, 27],
            [44, 205, 203, 65],
            [175, 30, 212, 86],
            [125, 146, 254, 121],
            [137, 106, 41, 233],
        ];
        const BIAS: [i32; 8] = [5546, -4801, 2408, 166, 1245, -5102, 6104, -5818];
        let d = LayerDescriptor::from(UnidirectionalSequenceLstmDescriptor::new(false));
        let x = typed(DataType::QAsymmU8, [2, 1, 2], &[99u8, 206, 239, 189]);
        let mut call = Call::new(d).input(scaled(x, input_scale, 128));
        // TensorFlow Lite has the gates in the order input, cell, forget, output.
        for first in [0, 2] {
            for gate in [0, 2, 1, 3] {
                let rows = &WEIGHTS[2 * gate..][..2];
                let numbers: Vec<u8> = rows
                    .iter()
                    .flat_map(|row| row[first..][..2].to_vec())
                    .collect();
                let weights = typed(DataType::QAsymmU8, [2, 2], &numbers);
                call = call.input(scaled(weights, 0.0125, 120));
            }
        }
        call = call.absent().absent().absent();
        for gate in [0, 2, 1, 3] {
            call = call.input(typed(DataType::Signed32, [2], &BIAS[2 * gate..][..2]));
        }
        let state = typed(DataType::QAsymmU8, [2, 2], &[230u8, 118, 144, 73]);
        let cells = typed(
            DataType::QSymmS16,
            [2, 2],
            &[19_588i16, 4425, -10_093, 7423],
        );
        let numbers = |dims: &[i64]| {
            TensorInfo::new(
                DataType::QAsymmU8,
                armnn_backend_api::Shape::new(dims).unwrap(),
            )
            .quantized(Quantization::per_tensor(1.0 / 128.0, 128))
        };
        let of_cells = TensorInfo::new(DataType::QSymmS16, [2, 2])
            .quantized(Quantization::per_tensor(1.0 / 2048.0, 0));
        call.absent()
            .absent()
            .input(scaled(state, 1.0 / 128.0, 128))
            .input(scaled(cells, 1.0 / 2048.0, 0))
            .output_info(numbers(&[2, 2]))
            .output_info(of_cells)
            .output_info(numbers(&[2, 1, 2]))
    }

    /// The numbers of LiteRT 2.3 for the same weights in one matrix.
    #[test]
    fn cells_and_outputs_are_those_of_the_basic_kernel() {
        let found = call(1.0 / 128.0).run();
        assert_eq!(found.elements::<u8>(0), [242, 144, 35, 157]);
        assert_eq!(found.elements::<i16>(1), [18_674, 2097, -5978, 4212]);
        assert_eq!(found.elements::<u8>(2), [242, 144, 35, 157]);
    }

    #[test]
    fn an_input_of_another_scale_is_refused() {
        assert_refused(&call(0.5), &["input are 0.5 and 128", "0.0078125 and 128"]);
    }
}
