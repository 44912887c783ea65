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
        -0.6, -0.1, 0.3, 0.2, 0.9, -0.5, -0.2, -0.4, 0.3, -0.8, -0.4, 0.3, -0.5, -0.4, -0.6, 0.3,
        -0.4, -0.6, -0.5, -0.5,
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
    0.7, 0.8, 0.1, 0.2, 0.3, 0.8, 0.1, 0.2, 0.4, 0.5, 0.2, 0.7, 0.7, 0.1, 0.7, 0.3, 0.2, 0.9, 0.8,
    0.1, 0.7, 0.8, 0.1, 0.2, 0.3, 0.3, 0.2, 0.9, 0.8, 0.1,
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
        armnn_backend_api::TensorInfo::new(data_type, shape(dims)).quantized(quantization.clone())
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

/// One with peepholes and a projection to so many outputs, three of which are not 0.
fn projected(n_outputs: usize) -> Call {
    let numbers = |dims: [i64; 2], values: Vec<f32>| {
        let numbers: Vec<i8> = values.iter().map(|x| (x * 100.0).round() as i8).collect();
        typed(DataType::QSymmS8, dims, &numbers).quantized(Quantization::per_tensor(0.01, 0))
    };
    let n = n_outputs as i64;
    let x: Vec<i8> = INPUT.iter().map(|x| (x * 128.0).round() as i8).collect();
    let x = typed(DataType::QAsymmS8, [3, 2, 5], &x);
    let mut call =
        Call::new(descriptor()).input(x.quantized(Quantization::per_tensor(1.0 / 128.0, 0)));
    for weights in &INPUT_TO {
        call = call.input(numbers([4, 5], weights.to_vec()));
    }
    for weights in &RECURRENT_TO {
        let mut padded = Vec::new();
        for row in weights.chunks(3) {
            padded.extend_from_slice(row);
            padded.resize(padded.len() + n_outputs - 3, 0.0);
        }
        call = call.input(numbers([4, n], padded));
    }
    for weights in &PEEPHOLE {
        call = call.input(int16((-0.3, 0.3), weights));
    }
    for bias in &BIAS {
        call = call.input(int32((-100.0, 100.0), bias));
    }
    let mut projection = PROJECTION_VALUES.to_vec();
    projection.resize(4 * n_outputs, 0.0);
    let (state, cells) = states();
    let zeros = vec![0i8; 2 * n_outputs];
    call = call
        .input(numbers([n, 4], projection))
        .absent()
        .input(typed(DataType::QAsymmS8, [2, n], &zeros).quantized(state.clone()))
        .input(typed(DataType::QSymmS16, [2, 4], &[0i16; 8]).quantized(cells.clone()));
    for weights in &NORM {
        call = call.input(int16((-1.0, 1.0), weights));
    }
    let info = |data_type, dims: &[i64], quantization: &Quantization| {
        armnn_backend_api::TensorInfo::new(data_type, shape(dims)).quantized(quantization.clone())
    };
    call.output_info(info(DataType::QAsymmS8, &[2, n], &state))
        .output_info(info(DataType::QSymmS16, &[2, 4], &cells))
        .output_info(info(DataType::QAsymmS8, &[3, 2, n], &state))
}

#[test]
fn more_outputs_than_cells_change_no_peephole() {
    let first_three = |n_outputs: usize| {
        let found = projected(n_outputs).run().elements::<i8>(2);
        let rows: Vec<[i8; 3]> = found
            .chunks(n_outputs)
            .map(|row| [row[0], row[1], row[2]])
            .collect();
        rows
    };
    // As many outputs as cells: each cell has its own weight by the rule itself.
    let expected = first_three(4);
    assert!(expected.iter().any(|row| *row != [0; 3]));
    assert_eq!(first_three(6), expected);
}

/// A model of two cells without projection, layer normalization and input gate, in numbers of 8
/// bits or in the real ones that they stand for: two sequences of three steps, batch first.
fn small(quantized: bool, zero_point: i32) -> Call {
    let real = |tensor: Tensor, scale: f32, numbers: &[i32]| match quantized {
        true => tensor,
        false => {
            let values: Vec<f32> = numbers.iter().map(|&x| x as f32 * scale).collect();
            crate::test_harness::f32s(tensor.info.shape, &values)
        }
    };
    let bytes = |data_type, dims: &[i64], scale: f32, zero: i32, numbers: &[i32]| {
        let stored: Vec<i8> = numbers.iter().map(|&x| (x + zero) as i8).collect();
        let tensor =
            typed(data_type, shape(dims), &stored).quantized(Quantization::per_tensor(scale, zero));
        real(tensor, scale, numbers)
    };
    let (x_scale, w_scale, r_scale, state_scale) = (1.0 / 64.0, 1.0 / 100.0, 1.0 / 90.0, 0.008);
    let mut d = UnidirectionalSequenceLstmDescriptor::new(false);
    d.hidden_state_scale = state_scale;
    d.hidden_state_zero_point = zero_point;
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
            zero_point,
            &[5, -60, 30, 0],
        ))
        .input(real(tensor, cell_scale, &cells));
    let info = |data_type, dims: &[i64], scale, zero| match quantized {
        true => armnn_backend_api::TensorInfo::new(data_type, shape(dims))
            .quantized(Quantization::per_tensor(scale, zero)),
        false => armnn_backend_api::TensorInfo::new(DataType::Float32, shape(dims)),
    };
    call.output_info(info(DataType::QAsymmS8, &[2, 2], state_scale, zero_point))
        .output_info(info(DataType::QSymmS16, &[2, 2], cell_scale, 0))
        .output_info(info(
            DataType::QAsymmS8,
            &[2, 3, 2],
            state_scale,
            zero_point,
        ))
}

#[test]
fn results_are_near_to_those_of_the_real_numbers() {
    for zero_point in [0, 7] {
        results_are_near(zero_point);
    }
}

/// The zero point is that of the output, of its state and of what is not projected.
fn results_are_near(zero_point: i32) {
    let found = small(true, zero_point).run();
    let real = small(false, zero_point).run();
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
    pairs.for_each(|(found, real)| near((i32::from(found) - zero_point) as f32, real, 0.008));
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
