//! Data types and quantization: which ones go together.

use armnn_backend_api::{
    ArgMinMaxDescriptor, ArgMinMaxFunction, ComparisonDescriptor, ComparisonOperation,
    ConcatDescriptor, Convolution2dDescriptor, DataLayout, DataType, ElementwiseUnaryDescriptor,
    GatherDescriptor, Quantization, SelectDescriptor, TensorInfo, TopKDescriptor,
    TransposeDescriptor, UnaryOperation, UnidirectionalSequenceLstmDescriptor,
};
use armnn_network::{
    LayerProblem, NetworkBuilder, NetworkError, OutputDeclaration, TensorId, TensorProblem,
};

fn input(builder: &mut NetworkBuilder, info: TensorInfo) -> TensorId {
    builder.add_input_layer("", info).unwrap()
}

fn plain<const N: usize>(data_type: DataType, dims: [i64; N]) -> TensorInfo {
    TensorInfo::new(data_type, dims)
}

fn quantized<const N: usize>(data_type: DataType, dims: [i64; N]) -> TensorInfo {
    plain(data_type, dims).quantized(Quantization::per_tensor(0.5, 0))
}

fn per_axis(axis: i32, count: usize) -> Quantization {
    Quantization::per_axis(axis, vec![0.5; count], vec![0; count])
}

fn problem(result: Result<impl std::fmt::Debug, NetworkError>) -> LayerProblem {
    match result {
        Err(NetworkError::Layer { problem, .. }) => *problem,
        other => panic!("no problem with a layer: {other:?}"),
    }
}

fn tensor_problem(info: TensorInfo) -> TensorProblem {
    match NetworkBuilder::new().add_input_layer("x", info) {
        Err(NetworkError::Tensor { problem, .. }) => *problem,
        other => panic!("no problem with the tensor: {other:?}"),
    }
}

#[test]
fn quantization_has_no_one_or_one_scale_for_each_index() {
    let mut builder = NetworkBuilder::new();
    let shape = [2, 3];
    for quantization in [
        Quantization::per_tensor(0.5, 0),
        per_axis(0, 2),
        per_axis(1, 3),
    ] {
        let info = plain(DataType::QSymmS8, shape).quantized(quantization);
        builder.add_input_layer("", info).unwrap();
    }
    let with = |q: Quantization| tensor_problem(plain(DataType::QSymmS8, shape).quantized(q));
    assert_eq!(with(Quantization::NONE), TensorProblem::MissingQuantization);
    assert_eq!(
        with(per_axis(1, 2)),
        TensorProblem::ScaleCount {
            axis: 1,
            expected: 3,
            found: 2
        }
    );
    assert_eq!(with(per_axis(2, 2)), TensorProblem::QuantizationAxis(2));
    assert_eq!(with(per_axis(-1, 2)), TensorProblem::QuantizationAxis(-1));
    let uneven = Quantization::per_axis(0, vec![0.5; 2], vec![0]);
    assert_eq!(
        with(uneven),
        TensorProblem::ZeroPointCount {
            scales: 2,
            zero_points: 1
        }
    );
    let infinite = with(Quantization::per_tensor(f32::INFINITY, 0));
    assert!(matches!(infinite, TensorProblem::Scale { index: 0, .. }));
    let negative = with(Quantization::per_tensor(-1.0, 0));
    assert!(matches!(negative, TensorProblem::Scale { index: 0, .. }));
}

#[test]
fn zero_points_are_numbers_of_the_type_and_plain_types_have_no_scale() {
    for (data_type, zero_point, valid) in [
        (DataType::QAsymmU8, 255, true),
        (DataType::QAsymmU8, 256, false),
        (DataType::QAsymmU8, -1, false),
        (DataType::QAsymmS8, -128, true),
        (DataType::QAsymmS8, 128, false),
        (DataType::QSymmS8, 1, false),
        (DataType::QSymmS16, 0, true),
        (DataType::Int4, 7, true),
        (DataType::Int4, 8, false),
        (DataType::Signed32, 0, true),
        (DataType::Float32, 0, false),
        (DataType::UInt8, 0, false),
    ] {
        let info = plain(data_type, [2]).quantized(Quantization::per_tensor(1.0, zero_point));
        let result = NetworkBuilder::new().add_input_layer("x", info);
        assert_eq!(result.is_ok(), valid, "{data_type} {zero_point}");
    }
}

#[test]
fn pairs_have_one_type_that_can_be_computed_with() {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let single = input(b, plain(DataType::Float32, [2]));
    let half = input(b, plain(DataType::Float16, [2]));
    let boolean = input(b, plain(DataType::Boolean, [2]));
    let nibbles = input(b, plain(DataType::Int4, [2]));
    let bytes = input(b, plain(DataType::UInt8, [2]));
    assert_eq!(
        problem(b.add_addition_layer(single, half, "")).to_string(),
        "input 'y' must be Float32, the type of input 'x', but is Float16"
    );
    for id in [boolean, nibbles] {
        let refused = problem(b.add_addition_layer(id, id, ""));
        assert!(
            matches!(refused, LayerProblem::DataType { .. }),
            "{refused}"
        );
    }
    b.add_addition_layer(bytes, bytes, "").unwrap();
    let joined = ConcatDescriptor { axis: 0 };
    b.add_concat_layer(joined, &[nibbles, nibbles], "").unwrap();
    assert!(b.add_concat_layer(joined, &[nibbles, bytes], "").is_err());
}

#[test]
fn comparisons_and_logic_are_boolean() {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let number = input(b, plain(DataType::Float32, [2]));
    let boolean = input(b, plain(DataType::Boolean, [2]));
    let equal = ComparisonDescriptor::new(ComparisonOperation::Equal);
    let less = ComparisonDescriptor::new(ComparisonOperation::Less);
    let not = ElementwiseUnaryDescriptor::new(UnaryOperation::LogicalNot);
    for output in [
        b.add_comparison_layer(less, number, number, "").unwrap(),
        b.add_comparison_layer(equal, boolean, boolean, "").unwrap(),
        b.add_elementwise_unary_layer(not, boolean, "").unwrap(),
    ] {
        assert_eq!(b.tensor(output).unwrap().info.data_type, DataType::Boolean);
    }
    assert!(b.add_comparison_layer(less, boolean, boolean, "").is_err());
    assert!(b.add_elementwise_unary_layer(not, number, "").is_err());
    assert!(b.add_sqrt_layer(boolean, "").is_err());
}

#[test]
fn indices_are_signed() {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let table = input(b, plain(DataType::Int4, [4, 4]));
    let gather = GatherDescriptor { axis: 0 };
    for (data_type, valid) in [
        (DataType::Signed32, true),
        (DataType::Signed64, true),
        (DataType::UInt32, false),
        (DataType::Float32, false),
    ] {
        let indices = input(b, plain(data_type, [2]));
        let result = b.add_gather_layer(gather, table, indices, "");
        assert_eq!(result.is_ok(), valid, "{data_type}");
    }
}

#[test]
fn a_cast_needs_a_type_and_takes_no_quantized_one() {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let half = input(b, plain(DataType::Float16, [2]));
    let bytes = input(b, quantized(DataType::QAsymmS8, [2]));
    let single = b.add_convert_fp16_to_fp32_layer(half, "").unwrap();
    assert_eq!(
        b.tensor(single).unwrap().info,
        plain(DataType::Float32, [2])
    );
    let boolean = b.add_cast_layer(DataType::Boolean, half, "").unwrap();
    assert_eq!(
        b.tensor(boolean).unwrap().info,
        plain(DataType::Boolean, [2])
    );
    assert!(b.add_convert_fp32_to_fp16_layer(half, "").is_err());
    assert!(b.add_cast_layer(DataType::QAsymmS8, half, "").is_err());
    assert!(b.add_cast_layer(DataType::Float32, bytes, "").is_err());
    assert!(b.add_cast_layer(DataType(999), half, "").is_err());
    let cast = armnn_backend_api::CastDescriptor::new();
    let refused = problem(b.add_layer("", cast, &[Some(half)], &[]));
    assert!(
        matches!(refused, LayerProblem::Undeclared { .. }),
        "{refused}"
    );
}

#[test]
fn quantize_and_dequantize_go_between_real_and_quantized_numbers() {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let real = input(b, plain(DataType::Float32, [2, 3]));
    let scale = Quantization::per_tensor(0.25, 3);
    let bytes = b
        .add_quantize_layer(DataType::QAsymmU8, scale.clone(), real, "")
        .unwrap();
    let expected = plain(DataType::QAsymmU8, [2, 3]).quantized(scale.clone());
    assert_eq!(b.tensor(bytes).unwrap().info, expected);
    let back = b
        .add_dequantize_layer(DataType::Float16, bytes, "")
        .unwrap();
    assert_eq!(
        b.tensor(back).unwrap().info,
        plain(DataType::Float16, [2, 3])
    );
    assert!(
        b.add_quantize_layer(DataType::UInt8, scale.clone(), real, "")
            .is_err()
    );
    assert!(
        b.add_quantize_layer(DataType::QSymmS8, scale, real, "")
            .is_err()
    );
    assert!(b.add_dequantize_layer(DataType::Float32, real, "").is_err());
    assert!(
        b.add_dequantize_layer(DataType::Signed32, bytes, "")
            .is_err()
    );
}

#[test]
fn a_quantized_output_is_declared_before_it_is_read() {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let x = input(b, quantized(DataType::QAsymmS8, [2]));
    let sum = b.add_addition_layer(x, x, "sum").unwrap();
    let refused = problem(b.add_addition_layer(sum, x, ""));
    assert!(
        matches!(refused, LayerProblem::UndeclaredQuantization { .. }),
        "{refused}"
    );
    assert!(b.add_output_layer("", sum).is_err());
    let declared = quantized(DataType::QAsymmS8, [2]);
    b.expect_output_info(sum, &declared).unwrap();
    assert_eq!(b.tensor(sum).unwrap().info, declared);
    b.add_output_layer("", sum).unwrap();
    let forgotten = b.add_addition_layer(sum, x, "forgotten").unwrap();
    assert_ne!(forgotten, sum);
    let error = builder.finish().unwrap_err();
    assert!(error.to_string().contains("'forgotten'"), "{error}");
}

#[test]
fn moved_elements_keep_their_quantization() {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let x = input(b, quantized(DataType::QAsymmS8, [2, 3]));
    let flat = b.add_reshape_layer([6], x, "").unwrap();
    assert_eq!(
        b.tensor(flat).unwrap().info,
        quantized(DataType::QAsymmS8, [6])
    );
    // The scales were along dimension 0, which becomes dimension 1.
    let info = plain(DataType::QSymmS8, [2, 3]).quantized(per_axis(0, 2));
    let weights = input(b, info);
    let d = TransposeDescriptor::new(&[1, 0]).unwrap();
    let turned = b.add_transpose_layer(d, weights, "").unwrap();
    let expected = plain(DataType::QSymmS8, [3, 2]).quantized(per_axis(1, 2));
    assert_eq!(b.tensor(turned).unwrap().info, expected);
}

#[test]
fn the_types_of_a_convolution_go_together() {
    use DataType as T;
    let none = Quantization::NONE;
    let one = Quantization::per_tensor(0.5, 0);
    let cases = [
        (T::Float32, T::Float32, none.clone(), T::Float32, true),
        (T::Float16, T::Float16, none.clone(), T::Float16, true),
        (T::Float32, T::Float16, none.clone(), T::Float32, false),
        (T::Float32, T::Float32, none.clone(), T::Signed32, false),
        (T::QAsymmS8, T::QSymmS8, one.clone(), T::Signed32, true),
        (T::QAsymmS8, T::QSymmS8, per_axis(0, 4), T::Signed32, true),
        // Scales along the rows of the filter.
        (T::QAsymmS8, T::QSymmS8, per_axis(1, 3), T::Signed32, false),
        (T::QAsymmS8, T::QSymmS8, one.clone(), T::Signed64, false),
        (T::QSymmS16, T::QSymmS8, one.clone(), T::Signed64, true),
        (T::QSymmS16, T::QSymmS16, one.clone(), T::Signed64, false),
        (T::QAsymmS8, T::Float32, none.clone(), T::Signed32, false),
        (T::Float32, T::QSymmS8, one, T::Float32, false),
        (T::Signed32, T::Signed32, none.clone(), T::Signed32, true),
        (T::Boolean, T::Boolean, none, T::Boolean, false),
    ];
    for (of_input, of_weights, scales, of_bias, valid) in cases {
        let mut builder = NetworkBuilder::new();
        let b = &mut builder;
        let info = match of_input.is_quantized() {
            true => quantized(of_input, [1, 5, 5, 2]),
            false => plain(of_input, [1, 5, 5, 2]),
        };
        let x = input(b, info);
        let weights = input(b, plain(of_weights, [4, 3, 3, 2]).quantized(scales));
        let bias = input(b, plain(of_bias, [4]));
        let d = Convolution2dDescriptor::new(DataLayout::Nhwc);
        let result = b.add_convolution2d_layer(d, x, weights, Some(bias), "");
        assert_eq!(
            result.is_ok(),
            valid,
            "{of_input} {of_weights} {of_bias}: {result:?}"
        );
        if let Ok(output) = result {
            assert_eq!(b.tensor(output).unwrap().info.data_type, of_input);
        }
    }
}

#[test]
fn a_declared_output_may_not_have_another_type() {
    let mut builder = NetworkBuilder::new();
    let x = input(&mut builder, plain(DataType::Float32, [6]));
    let reshape = armnn_backend_api::ReshapeDescriptor::new();
    let mut output = OutputDeclaration::of_shape([2, 3]);
    output.data_type = Some(DataType::Signed32);
    let refused = problem(builder.add_layer("", reshape, &[Some(x)], &[output]));
    assert!(
        matches!(refused, LayerProblem::Declaration { .. }),
        "{refused}"
    );
}

#[test]
fn outputs_of_indices_and_tests_have_types_of_their_own() {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let x = input(b, plain(DataType::Float32, [2, 3]));
    let best = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 1, false);
    for index in [DataType::Signed32, DataType::Signed64] {
        let found = b.add_arg_min_max_layer(best, index, x, "").unwrap();
        assert_eq!(b.tensor(found).unwrap().info, plain(index, [2]));
    }
    let refused = problem(b.add_arg_min_max_layer(best, DataType::Float32, x, ""));
    assert!(
        matches!(refused, LayerProblem::DataType { .. }),
        "{refused}"
    );
    let is_nan = ElementwiseUnaryDescriptor::new(UnaryOperation::IsNan);
    let test = b.add_elementwise_unary_layer(is_nan, x, "").unwrap();
    assert_eq!(
        b.tensor(test).unwrap().info,
        plain(DataType::Boolean, [2, 3])
    );
    let not = ElementwiseUnaryDescriptor::new(UnaryOperation::BitwiseNot);
    let refused = problem(b.add_elementwise_unary_layer(not, x, ""));
    assert!(
        matches!(refused, LayerProblem::DataType { .. }),
        "{refused}"
    );
    let top = TopKDescriptor::new(1, true);
    let outputs = [OutputDeclaration::of_shape([2, 2])];
    let both = b.add_layer("", top, &[Some(x)], &outputs).unwrap();
    let infos = both.iter().map(|&id| b.tensor(id).unwrap().info.clone());
    let expected = [DataType::Float32, DataType::Signed64].map(|t| plain(t, [2, 2]));
    assert_eq!(infos.collect::<Vec<_>>(), expected);
}

#[test]
fn a_chosen_element_keeps_the_scale_of_what_it_is_chosen_from() {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let condition = input(b, plain(DataType::Boolean, [2]));
    let x = input(b, quantized(DataType::QAsymmS8, [2]));
    let y = input(b, quantized(DataType::QAsymmS8, [2]));
    let inputs = [condition, x, y].map(Some);
    let chosen = b
        .add_layer("", SelectDescriptor::new(), &inputs, &[])
        .unwrap()[0];
    assert_eq!(
        b.tensor(chosen).unwrap().info,
        quantized(DataType::QAsymmS8, [2])
    );
    let refused = problem(b.add_layer("", SelectDescriptor::new(), &[Some(x); 3], &[]));
    assert!(
        matches!(refused, LayerProblem::DataType { .. }),
        "{refused}"
    );
}

#[test]
fn a_quantized_lstm_has_its_own_types_for_its_states() {
    check_quantized_lstm(DataType::QAsymmS8, DataType::QSymmS8);
    check_quantized_lstm(DataType::QAsymmU8, DataType::QAsymmU8);
}

fn check_quantized_lstm(numbers: DataType, weights: DataType) {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let mut inputs = vec![Some(input(b, quantized(numbers, [1, 3, 2])))];
    for _ in 0..8 {
        inputs.push(Some(input(b, quantized(weights, [2, 2]))));
    }
    inputs.extend([None; 3]);
    for _ in 0..4 {
        inputs.push(Some(input(b, plain(DataType::Signed32, [2]))));
    }
    inputs.extend([None; 2]);
    inputs.push(Some(input(b, quantized(numbers, [1, 2]))));
    inputs.push(Some(input(b, quantized(DataType::QSymmS16, [1, 2]))));
    let d = UnidirectionalSequenceLstmDescriptor::new(false);
    let outputs = b
        .add_unidirectional_sequence_lstm_layer(d, &inputs, "")
        .unwrap();
    let types = outputs.map(|id| b.tensor(id).unwrap().info.data_type);
    assert_eq!(types, [numbers, DataType::QSymmS16, numbers]);
    inputs[19] = inputs[18];
    let refused = problem(b.add_unidirectional_sequence_lstm_layer(d, &inputs, ""));
    assert!(
        matches!(refused, LayerProblem::DataType { .. }),
        "{refused}"
    );
}

#[test]
fn shuffled_channels_come_from_each_group_in_turn() {
    let mut builder = NetworkBuilder::new();
    let b = &mut builder;
    let x = input(b, plain(DataType::Float32, [1, -1, 6]));
    let shuffled = b.add_channel_shuffle_layer(2, 2, x, "shuffle").unwrap();
    b.add_output_layer("y", shuffled).unwrap();
    assert_eq!(b.tensor(shuffled).unwrap().info.shape.dims(), [1, -1, 6]);
    let refused = problem(b.add_channel_shuffle_layer(4, 2, x, ""));
    assert!(
        matches!(refused, LayerProblem::Descriptor { .. }),
        "{refused}"
    );
    let network = builder.finish().unwrap();
    let indices = network.layers()[0].inputs[1].unwrap();
    let data = network.tensor(indices).constant().unwrap();
    let indices = data
        .chunks(4)
        .map(|c| i32::from_le_bytes(c.try_into().unwrap()));
    // Groups {0, 1, 2} and {3, 4, 5}.
    assert_eq!(indices.collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
}
