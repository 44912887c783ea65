//! Operators with real inputs and quantized weights, beside what LiteRT 2.3 gives for them with its
//! reference kernels. Weights and inputs are made by formulas, so that the models are small to read;
//! the recorded numbers were printed with six decimals.

use armnn_runtime::LoadedNetwork;

use crate::schema_generated::{ActivationFunctionType, BuiltinOperator as Op, Padding, TensorType};
use crate::schema_writer_generated as write;
use crate::test_model::{TestModel, TestTensor, float, floats_constant, load, run, typed};

fn count(shape: &[i32]) -> usize {
    shape.iter().map(|&dim| dim as usize).product()
}

fn weight_bytes(seed: usize, shape: &[i32]) -> Vec<u8> {
    let weight = |i: usize| ((i * 37 + seed * 11) % 255) as i32 - 127;
    (0..count(shape)).map(|i| weight(i) as u8).collect()
}

fn weights(seed: usize, shape: &[i32]) -> TestTensor {
    typed(TensorType::Int8, shape).with_data(weight_bytes(seed, shape))
}

fn bias(seed: usize, len: i32) -> TestTensor {
    let values: Vec<f32> = (0..count(&[len]))
        .map(|i| ((i * 5 + seed * 3) % 17) as f32 / 16.0 - 0.5)
        .collect();
    floats_constant(&[len], &values)
}

fn input(step: usize, len: usize) -> Vec<f32> {
    let value = |i: usize| (((i * 29 + step * 13 + 7) % 41) as f64 / 20.0 - 1.0) as f32;
    (0..len).map(value).collect()
}

fn state(shape: &[i32]) -> TestTensor {
    let mut tensor = float(shape);
    tensor.tensor.is_variable = true;
    tensor
}

/// An operator whose first input is that of the model, and whose others are given; `None` is left
/// out.
fn model(
    operator: Op,
    x: &[i32],
    others: Vec<Option<TestTensor>>,
    y: &[i32],
    options: write::BuiltinOptions,
) -> LoadedNetwork {
    let mut model = TestModel::default();
    let mut inputs = vec![model.input(float(x))];
    inputs.extend(others.into_iter().map(|other| match other {
        Some(tensor) => model.tensor(tensor),
        None => -1,
    }));
    let y = model.tensor(float(y));
    model.operator(operator, &inputs, &[y], Some(options));
    model.output(y);
    load(model.parse().unwrap())
}

/// Executes so many steps on one state, and compares what they give.
fn check(model: &LoadedNetwork, input_len: usize, steps: usize, expected: &[f32]) {
    let mut state = model.create_execution_state().unwrap();
    let mut found = Vec::new();
    for step in 0..steps {
        let bytes: Vec<u8> = input(step, input_len)
            .iter()
            .flat_map(|x| x.to_ne_bytes())
            .collect();
        state.set_input(0, &bytes).unwrap();
        state.execute().unwrap();
        let elements = state.output(0).chunks_exact(4);
        found.extend(elements.map(|bytes| f32::from_ne_bytes(bytes.try_into().unwrap())));
    }
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 2e-6, "{found} {expected}");
    }
}

fn check_product(asymmetric: bool, of: impl Fn(TestTensor) -> TestTensor, expected: &[f32]) {
    let options = write::FullyConnectedOptions {
        asymmetric_quantize_inputs: asymmetric,
        ..write::FullyConnectedOptions::default()
    };
    let options = write::BuiltinOptions::FullyConnectedOptions(Box::new(options));
    let others = vec![Some(of(weights(1, &[3, 5]))), Some(bias(1, 3))];
    let model = model(Op::FullyConnected, &[2, 5], others, &[2, 3], options);
    check(&model, 10, 1, expected);
}

#[test]
fn a_product_with_a_narrowed_input() {
    let symmetric = [-0.571476, 0.861102, 1.390138, -0.404508, 0.427972, 0.371969];
    check_product(false, |w| w.quantized(0.01, 0), &symmetric);
    check_product(
        true,
        |w| w.quantized(0.01, 0),
        &[-0.572971, 0.858706, 1.390382, -0.403765, 0.430451, 0.365667],
    );
    check_product(
        false,
        |w| w.quantized_along(0, &[0.01, 0.02, 0.005], &[0; 3]),
        &[-0.571476, 1.722205, 0.851319, -0.404508, 0.855945, 0.342234],
    );
    // The same bytes of an older model.
    let unsigned = |_| {
        let bytes = weight_bytes(1, &[3, 5]);
        typed(TensorType::Uint8, &[3, 5])
            .with_data(bytes)
            .quantized(0.01, 128)
    };
    check_product(false, unsigned, &symmetric);
}

#[test]
fn a_convolution_with_one_scale_and_with_several() {
    for (scales, expected) in [
        (
            &[0.01][..],
            [
                -0.016260, -1.552106, -0.890354, 0.910571, -1.322323, 1.055374, 0.000433, 0.477579,
            ],
        ),
        (
            &[0.01, 0.02],
            [
                -0.016565, -3.302771, -0.882976, 1.620406, -1.313123, 1.933324, -0.005706, 0.758429,
            ],
        ),
    ] {
        let options = write::Conv2DOptions {
            padding: Padding::Valid,
            stride_w: 1,
            stride_h: 1,
            ..write::Conv2DOptions::default()
        };
        let options = write::BuiltinOptions::Conv2DOptions(Box::new(options));
        let zeros = vec![0; scales.len()];
        let filters = weights(2, &[2, 2, 2, 2]).quantized_along(0, scales, &zeros);
        let others = vec![Some(filters), Some(bias(2, 2))];
        let model = model(Op::Conv2d, &[1, 3, 3, 2], others, &[1, 2, 2, 2], options);
        check(&model, 18, 1, &expected);
    }
}

#[test]
fn a_depthwise_convolution() {
    let options = write::DepthwiseConv2DOptions {
        padding: Padding::Valid,
        stride_w: 1,
        stride_h: 1,
        depth_multiplier: 2,
        ..write::DepthwiseConv2DOptions::default()
    };
    let options = write::BuiltinOptions::DepthwiseConv2DOptions(Box::new(options));
    let filters = weights(3, &[1, 2, 2, 4]);
    let filters = filters.quantized_along(3, &[0.01, 0.02, 0.005, 0.03], &[0; 4]);
    let others = vec![Some(filters), Some(bias(3, 4))];
    let shapes = (&[1, 3, 3, 2], &[1, 2, 2, 4]);
    let model = model(Op::DepthwiseConv2d, shapes.0, others, shapes.1, options);
    let expected = [
        1.530277, -0.203882, -0.324224, -0.029465, -1.510424, -0.677235, -1.019035, -2.704406,
        -0.406647, 3.805318, -0.646165, -2.029017, -0.417353, -1.060047, -0.667959, -0.657365,
    ];
    check(&model, 18, 1, &expected);
}

#[test]
fn a_product_of_batches() {
    for (asymmetric_quantize_inputs, expected) in [
        (false, [0.597543, 0.728063, 0.715039, 0.362520]),
        (true, [0.595239, 0.725682, 0.712433, 0.361078]),
    ] {
        let options = write::BatchMatMulOptions {
            asymmetric_quantize_inputs,
            ..write::BatchMatMulOptions::default()
        };
        let options = write::BuiltinOptions::BatchMatMulOptions(Box::new(options));
        let others = vec![Some(weights(4, &[1, 3, 2]).quantized(0.01, 0))];
        let model = model(Op::BatchMatmul, &[1, 2, 3], others, &[1, 2, 2], options);
        check(&model, 6, 1, &expected);
    }
}

#[test]
fn a_filter_over_time() {
    for (asymmetric_quantize_inputs, expected) in [
        (
            false,
            [0.158233, 0.082740, -0.092598, 0.154217, 0.210547, -0.695730],
        ),
        (
            true,
            [0.158756, 0.081422, -0.091307, 0.150481, 0.210374, -0.699732],
        ),
    ] {
        let options = write::SvdfOptions {
            rank: 1,
            asymmetric_quantize_inputs,
            ..write::SvdfOptions::default()
        };
        let options = write::BuiltinOptions::SvdfOptions(Box::new(options));
        let others = vec![
            Some(weights(5, &[2, 3]).quantized(0.01, 0)),
            Some(weights(6, &[2, 2]).quantized(0.02, 0)),
            Some(bias(4, 2)),
            Some(state(&[1, 4])),
        ];
        let model = model(Op::Svdf, &[1, 3], others, &[1, 2], options);
        check(&model, 3, 3, &expected);
    }
}

#[test]
fn a_recurrent_step_narrows_its_state() {
    for (asymmetric_quantize_inputs, expected) in [
        (
            false,
            [0.414623, 0.082552, 0.202481, 0.097108, -0.374563, -0.636033],
        ),
        (
            true,
            [0.413721, 0.081242, 0.203199, 0.093383, -0.373972, -0.639023],
        ),
    ] {
        let options = write::RnnOptions {
            fused_activation_function: ActivationFunctionType::Tanh,
            asymmetric_quantize_inputs,
        };
        let options = write::BuiltinOptions::RnnOptions(Box::new(options));
        let others = vec![
            Some(weights(5, &[2, 3]).quantized(0.01, 0)),
            Some(weights(6, &[2, 2]).quantized(0.01, 0)),
            Some(bias(4, 2)),
            Some(state(&[1, 2])),
        ];
        let model = model(Op::Rnn, &[1, 3], others, &[1, 2], options);
        check(&model, 3, 3, &expected);
    }
}

/// Two sequences of three steps of two numbers, on one state; three cells.
fn check_lstm(asymmetric_quantize_inputs: bool, projects: bool, expected: &[f32]) {
    let (size, cells) = (2, 3);
    let outputs = if projects { 2 } else { cells };
    let options = write::UnidirectionalSequenceLstmOptions {
        fused_activation_function: ActivationFunctionType::Tanh,
        asymmetric_quantize_inputs,
        ..write::UnidirectionalSequenceLstmOptions::default()
    };
    let options = write::BuiltinOptions::UnidirectionalSequenceLstmOptions(Box::new(options));
    let mut others = Vec::new();
    for gate in 0..4 {
        others.push(Some(weights(11 + gate, &[cells, size]).quantized(0.01, 0)));
    }
    for gate in 0..4 {
        others.push(Some(
            weights(15 + gate, &[cells, outputs]).quantized(0.01, 0),
        ));
    }
    others.extend([None, None, None]);
    for gate in 0..4 {
        others.push(Some(bias(5 + gate, cells)));
    }
    others.push(projects.then(|| weights(19, &[outputs, cells]).quantized(0.01, 0)));
    others.push(projects.then(|| bias(9, outputs)));
    others.extend([Some(state(&[1, outputs])), Some(state(&[1, cells]))]);
    let operator = Op::UnidirectionalSequenceLstm;
    let model = model(operator, &[1, 3, size], others, &[1, 3, outputs], options);
    check(&model, 6, 2, expected);
}

#[test]
fn each_step_of_an_lstm_narrows_the_output_before() {
    let symmetric = [
        0.026797, 0.048580, 0.106374, -0.108784, -0.009542, 0.169292, -0.164020, -0.018007,
        0.404102, -0.161481, -0.133517, 0.440922, -0.264081, 0.298093, 0.098679, -0.190988,
        -0.058000, 0.459416,
    ];
    check_lstm(false, false, &symmetric);
    let asymmetric = [
        0.027208, 0.048796, 0.105968, -0.108601, -0.009498, 0.169458, -0.163893, -0.017998,
        0.404135, -0.161708, -0.133539, 0.440975, -0.264041, 0.298127, 0.098436, -0.191067,
        -0.057920, 0.459089,
    ];
    check_lstm(true, false, &asymmetric);
}

#[test]
fn what_an_lstm_projects_is_narrowed_too() {
    let symmetric = [
        0.099479, 0.421502, -0.027459, 0.448740, -0.131510, 0.409945, -0.336621, 0.522682,
        0.377538, 0.330351, -0.285950, 0.517804,
    ];
    check_lstm(false, true, &symmetric);
    let asymmetric = [
        0.100100, 0.421314, -0.026831, 0.448407, -0.129436, 0.409202, -0.336955, 0.523051,
        0.378394, 0.329800, -0.284971, 0.517571,
    ];
    check_lstm(true, true, &asymmetric);
}

#[test]
fn the_rows_of_a_transposed_factor_are_narrowed() {
    let check_narrowed = |asymmetric_quantize_inputs, expected: &[f32]| {
        let options = write::BatchMatMulOptions {
            adj_x: true,
            adj_y: true,
            asymmetric_quantize_inputs,
        };
        let options = write::BuiltinOptions::BatchMatMulOptions(Box::new(options));
        let others = vec![Some(weights(1, &[2, 2, 4]).quantized(0.01, 0))];
        let model = model(Op::BatchMatmul, &[2, 4, 3], others, &[2, 3, 2], options);
        check(&model, 24, 1, expected);
    };
    let symmetric = [
        1.126598, -0.755433, 0.197717, -0.661496, -0.931673, 0.055654, -0.84161, 0.668441,
        0.366457, -0.811063, 0.833736, -0.835945,
    ];
    check_narrowed(false, &symmetric);
    let asymmetric = [
        1.128, -0.755, 0.205906, -0.668188, -0.931149, 0.053833, -0.844235, 0.679412, 0.365,
        -0.8075, 0.833, -0.8315,
    ];
    check_narrowed(true, &asymmetric);
}

#[test]
fn dimensions_that_are_not_known_are_kept() {
    let weights = || weights(2, &[2, 3]).quantized(0.01, 0);
    let expected = [
        0.074772, 0.466331, 0.96252, -0.095039, 0.447165, 0.230846, -0.055803, 0.550327,
    ];
    for signature in [[-1, 2, 3], [2, 2, -1], [-1, -1, 3], [-1, -1, -1]] {
        let options = write::FullyConnectedOptions {
            keep_num_dims: true,
            ..write::FullyConnectedOptions::default()
        };
        let options = write::BuiltinOptions::FullyConnectedOptions(Box::new(options));
        let mut model = TestModel::default();
        let shape = signature.map(|size| size.max(1));
        let x = model.input(float(&shape).signature(&signature));
        let weights = model.tensor(weights());
        let y = model.tensor(float(&[1, 1, 2]).signature(&[-1, -1, 2]));
        model.operator(Op::FullyConnected, &[x, weights], &[y], Some(options));
        model.output(y);
        let x = input(0, 12);
        let (dims, found) = run(model.parse().unwrap(), &[(&[2, 2, 3], &x)]).remove(0);
        assert_eq!(dims, [2, 2, 2], "{signature:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 2e-6, "{found} {expected}");
        }
    }
}

/// With one scale for one output channel, the scale is that of the whole tensor: the input has a range
/// around 0, of 2 / 127 a step. 1 is 63.5 steps, which become 64: 127 + 64 of them are 3.007874.
#[test]
fn a_convolution_with_one_output_channel_narrows_its_input_around_0() {
    let filter = typed(TensorType::Int8, &[1, 1, 1, 2])
        .with_data(vec![127; 2])
        .quantized_along(0, &[1.0 / 127.0], &[0]);
    let options = write::Conv2DOptions {
        padding: Padding::Valid,
        stride_w: 1,
        stride_h: 1,
        ..write::Conv2DOptions::default()
    };
    let options = write::BuiltinOptions::Conv2DOptions(Box::new(options));
    let inputs = [float(&[1, 1, 1, 2]), filter, floats_constant(&[1], &[0.0])];
    let network = crate::test_model::lower(Op::Conv2d, &inputs, &[float(&[])], options).unwrap();
    let found = run(network, &[(&[1, 1, 1, 2], &[2.0, 1.0])]);
    assert!((found[0].1[0] - 3.007_874).abs() < 1e-5, "{found:?}");
}
