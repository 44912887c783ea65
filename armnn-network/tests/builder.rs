//! What the builder makes of Arm NN's layers, and what it refuses.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BinaryOperation, ConcatDescriptor,
    Convolution2dDescriptor, DataLayout, DataType, LayerDescriptor, LayerType, ReduceDescriptor,
    ReduceOperation, ResizeDescriptor, ResizeMethod, Shape, SplitDescriptor, StandInDescriptor,
    TensorInfo, TransposeDescriptor, UnaryOperation,
};
use armnn_network::{
    LayerId, LayerProblem, Network, NetworkBuilder, NetworkError, OutputDeclaration, TensorId,
    TensorProblem,
};
use bytes::Bytes;

fn floats<const N: usize>(dims: [i64; N]) -> TensorInfo {
    TensorInfo::new(DataType::Float32, dims)
}

fn with_input<const N: usize>(dims: [i64; N]) -> (NetworkBuilder, TensorId) {
    let mut builder = NetworkBuilder::new();
    let input = builder.add_input_layer("input", floats(dims)).unwrap();
    (builder, input)
}

fn finished(mut builder: NetworkBuilder, output: TensorId) -> Network {
    builder.add_output_layer("output", output).unwrap();
    builder.finish().unwrap()
}

fn problem(result: Result<impl std::fmt::Debug, NetworkError>) -> LayerProblem {
    match result {
        Err(NetworkError::Layer { problem, .. }) => *problem,
        other => panic!("no problem with a layer: {other:?}"),
    }
}

#[test]
fn arithmetic_layers_become_elementwise_binary() {
    type Add = fn(&mut NetworkBuilder, TensorId, TensorId, &str) -> armnn_network::Result<TensorId>;
    let methods: [(Add, BinaryOperation); 6] = [
        (NetworkBuilder::add_addition_layer, BinaryOperation::Add),
        (NetworkBuilder::add_subtraction_layer, BinaryOperation::Sub),
        (
            NetworkBuilder::add_multiplication_layer,
            BinaryOperation::Mul,
        ),
        (NetworkBuilder::add_division_layer, BinaryOperation::Div),
        (NetworkBuilder::add_maximum_layer, BinaryOperation::Maximum),
        (NetworkBuilder::add_minimum_layer, BinaryOperation::Minimum),
    ];
    for (method, operation) in methods {
        let (mut builder, x) = with_input([2, 3]);
        let output = method(&mut builder, x, x, "").unwrap();
        let network = finished(builder, output);
        let Some(LayerDescriptor::ElementwiseBinary(d)) = network.layers()[0].descriptor() else {
            panic!("{:?}", network.layers()[0]);
        };
        assert_eq!(d.operation(), operation);
    }
}

#[test]
fn arm_nn_s_activations_abs_sqrt_and_square_become_elementwise_unary() {
    for (number, operation) in [
        (7, UnaryOperation::Abs),
        (8, UnaryOperation::Sqrt),
        (9, UnaryOperation::Square),
    ] {
        let (mut builder, x) = with_input([2]);
        let d = ActivationDescriptor::new(ActivationFunction(number), 0.0, 0.0);
        let output = builder.add_activation_layer(d, x, "").unwrap();
        let network = finished(builder, output);
        let Some(LayerDescriptor::ElementwiseUnary(d)) = network.layers()[0].descriptor() else {
            panic!("{:?}", network.layers()[0]);
        };
        assert_eq!(d.operation(), operation);
    }
}

#[test]
fn a_permute_is_the_inverse_transpose() {
    // Dimension 0 goes to place 2, 1 to 0, 2 to 1: the output is [3, 4, 2].
    let (mut builder, x) = with_input([2, 3, 4]);
    let output = builder.add_permute_layer(&[2, 0, 1], x, "").unwrap();
    let network = finished(builder, output);
    assert_eq!(network.tensor(output).info.shape, Shape::from([3, 4, 2]));
    assert_eq!(
        network.layers()[0].descriptor(),
        Some(&TransposeDescriptor::new(&[1, 2, 0]).unwrap().into())
    );

    let (mut builder, x) = with_input([2, 3]);
    for list in [&[0, 0][..], &[0, 5], &[0], &[0, 1, 2, 3, 4, 5, 6, 7, 8]] {
        let refused = problem(builder.add_permute_layer(list, x, "p"));
        assert!(
            matches!(refused, LayerProblem::Descriptor { .. }),
            "{refused}"
        );
    }
}

#[test]
fn a_mean_is_a_reduce_over_the_given_axes_or_all() {
    for (axes, sorted, shape) in [
        (&[2, 1, 2][..], &[1, 2][..], Shape::from([2, 1, 1])),
        (&[], &[0, 1, 2], Shape::from([1, 1, 1])),
    ] {
        let (mut builder, x) = with_input([2, 3, 4]);
        let output = builder.add_mean_layer(axes, true, x, "").unwrap();
        let network = finished(builder, output);
        let expected = ReduceDescriptor::new(ReduceOperation::Mean, sorted, true).unwrap();
        assert_eq!(network.layers()[0].descriptor(), Some(&expected.into()));
        assert_eq!(network.tensor(output).info.shape, shape);
    }
}

#[test]
fn a_slice_is_a_strided_slice_that_may_not_reach_too_far() {
    let (mut builder, x) = with_input([10, -1]);
    let part = builder.add_slice_layer(&[2, 3], &[4, 5], x, "").unwrap();
    assert_eq!(
        builder.tensor(part).unwrap().info.shape,
        Shape::from([4, 5])
    );
    let refused = problem(builder.add_slice_layer(&[8, 0], &[4, 5], x, ""));
    assert!(
        matches!(refused, LayerProblem::Declaration { .. }),
        "{refused}"
    );
    for (begin, size) in [
        (&[0, 0][..], &[1, -1][..]),
        (&[0, 0], &[1]),
        (&[1, i64::MAX], &[1, i64::MAX]),
        (&[0; 9], &[1; 9]),
    ] {
        let refused = problem(builder.add_slice_layer(begin, size, x, ""));
        assert!(
            matches!(refused, LayerProblem::Descriptor { .. }),
            "{refused}"
        );
    }
}

#[test]
fn a_split_has_an_output_for_each_size() {
    let (mut builder, x) = with_input([4, 10]);
    let d = SplitDescriptor { axis: 1 };
    let parts = builder
        .add_splitter_layer(d, &[3, Shape::UNKNOWN], x, "split")
        .unwrap();
    let network = finished(builder, parts[1]);
    let info = |i: usize| &network.tensor(parts[i]).info;
    assert_eq!(*info(0), floats([4, 3]));
    assert_eq!(*info(1), floats([4, 7]));
    assert_eq!(network.tensor(parts[1]).name, "split:1");

    let (mut builder, x) = with_input([4, 10]);
    let refused = problem(builder.add_split_layer(d, &[], x, ""));
    assert!(
        matches!(refused, LayerProblem::OutputCount { found: 0, .. }),
        "{refused}"
    );
    let far = SplitDescriptor { axis: u32::MAX };
    let refused = problem(builder.add_split_layer(far, &[1], x, ""));
    assert!(
        matches!(refused, LayerProblem::Descriptor { .. }),
        "{refused}"
    );
}

#[test]
fn a_resize_has_the_rows_and_columns_asked_for() {
    for (layout, expected) in [
        (DataLayout::Nhwc, [1, 7, 8, 4]),
        (DataLayout::Nchw, [1, 2, 7, 8]),
    ] {
        let (mut builder, x) = with_input([1, 2, 3, 4]);
        let d = ResizeDescriptor::new(ResizeMethod::Bilinear, layout);
        let output = builder.add_resize_layer(d, 7, 8, x, "").unwrap();
        assert_eq!(builder.tensor(output).unwrap().info, floats(expected));
    }
}

#[test]
fn names_are_made_where_they_are_missing_and_unique_where_they_repeat() {
    let (mut builder, x) = with_input([2]);
    let a = builder.add_floor_layer(x, "").unwrap();
    let b = builder.add_floor_layer(a, "floor").unwrap();
    let c = builder.add_floor_layer(b, "floor").unwrap();
    let d = builder.add_floor_layer(c, "ElementwiseUnary:4").unwrap();
    let e = builder.add_floor_layer(d, "").unwrap();
    let second = builder.add_input_layer("input", floats([1])).unwrap();
    let third = builder.add_input_layer("", floats([1])).unwrap();
    builder.add_output_layer("out", e).unwrap();
    builder.add_output_layer("out", e).unwrap();
    let network = builder.finish().unwrap();
    let names: Vec<&str> = network.layers().iter().map(|l| l.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "ElementwiseUnary:0",
            "floor",
            "floor:2",
            "ElementwiseUnary:4",
            "ElementwiseUnary:4:4"
        ]
    );
    assert_eq!(network.tensor(second).name, "input:1");
    assert_eq!(network.tensor(third).name, "Input:2");
    assert_eq!(network.outputs()[1].name, "out:1");
}

#[test]
fn an_absent_input_at_the_end_is_left_out() {
    let (mut builder, x) = with_input([1, 4, 4, 1]);
    let weights = builder.add_input_layer("w", floats([2, 3, 3, 1])).unwrap();
    let d = Convolution2dDescriptor::new(DataLayout::Nhwc);
    let output = builder
        .add_convolution2d_layer(d, x, weights, None, "")
        .unwrap();
    let network = finished(builder, output);
    assert_eq!(network.layers()[0].inputs, [Some(x), Some(weights)]);
}

#[test]
fn the_number_of_inputs_and_outputs_is_checked() {
    let (mut builder, x) = with_input([2]);
    let concat = ConcatDescriptor { axis: 0 };
    let refused = problem(builder.add_concat_layer(concat, &[], ""));
    assert!(matches!(
        refused,
        LayerProblem::InputCount {
            least: 1,
            found: 0,
            ..
        }
    ));
    let refused = problem(builder.add_layer("", concat, &[None, Some(x)], &[]));
    assert!(matches!(refused, LayerProblem::MissingInput { .. }));
    let two = [OutputDeclaration::default(), OutputDeclaration::default()];
    let refused = problem(builder.add_layer("", concat, &[Some(x)], &two));
    assert!(matches!(
        refused,
        LayerProblem::OutputCount {
            most: 1,
            found: 2,
            ..
        }
    ));
    let transpose = TransposeDescriptor::new(&[0]).unwrap();
    let refused = problem(builder.add_layer("", transpose, &[Some(x), Some(x)], &[]));
    assert!(matches!(
        refused,
        LayerProblem::InputCount {
            most: 1,
            found: 2,
            ..
        }
    ));
}

#[test]
fn an_error_names_layer_type_tensors_shapes_and_what_to_do() {
    let (mut builder, x) = with_input([1, 4, 4, 3]);
    let weights = builder.add_input_layer("w", floats([2, 5, 3, 3])).unwrap();
    let d = Convolution2dDescriptor::new(DataLayout::Nhwc);
    let error = builder
        .add_convolution2d_layer(d, x, weights, None, "stem")
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "layer 'stem' (Convolution2d) of inputs ('input' Float32[1, 4, 4, 3], \
         'w' Float32[2, 5, 3, 3]): the window of 5 rows (dilation included) is larger than the \
         padded input of 4; pad more, or use a larger input"
    );
}

#[test]
fn a_refused_layer_leaves_the_builder_as_it_was() {
    let (mut builder, x) = with_input([2]);
    let far = ConcatDescriptor { axis: 7 };
    builder.add_concat_layer(far, &[x], "joined").unwrap_err();
    let output = builder.add_floor_layer(x, "joined").unwrap();
    let network = finished(builder, output);
    assert_eq!(network.layers().len(), 1);
    assert_eq!(network.tensors().len(), 2);
    assert_eq!(network.layers()[0].name, "joined");
}

#[test]
fn ids_that_were_not_given_out_are_refused() {
    let (mut builder, x) = with_input([2]);
    let foreign = TensorId(17);
    for error in [
        builder.add_floor_layer(foreign, "").unwrap_err(),
        builder.add_addition_layer(x, foreign, "").unwrap_err(),
        builder.add_output_layer("", foreign).unwrap_err(),
        builder.add_mean_layer(&[], true, foreign, "").unwrap_err(),
        builder
            .add_convert_fp16_to_fp32_layer(foreign, "")
            .unwrap_err(),
        builder
            .expect_output_info(foreign, &floats([2]))
            .unwrap_err(),
    ] {
        assert!(
            matches!(error, NetworkError::UnknownTensor { .. }),
            "{error}"
        );
    }
    let error = builder.set_backend_hint(LayerId(0), "CpuRef").unwrap_err();
    assert!(matches!(error, NetworkError::UnknownLayer { count: 0, .. }));
}

#[test]
fn a_backend_hint_stays_with_its_layer() {
    let (mut builder, x) = with_input([2]);
    let output = builder.add_floor_layer(x, "").unwrap();
    let layer = builder.producer(output).unwrap();
    assert!(matches!(
        builder.set_backend_hint(layer, "not an id"),
        Err(NetworkError::BackendHint { .. })
    ));
    builder.set_backend_hint(layer, "GpuAcc").unwrap();
    let network = finished(builder, output);
    assert_eq!(network.layer(layer).backend_hint.as_deref(), Some("GpuAcc"));
}

#[test]
fn declared_outputs_complete_what_is_inferred_and_may_not_contradict_it() {
    let (mut builder, x) = with_input([-1, 3]);
    let output = builder.add_floor_layer(x, "floor").unwrap();
    for wrong in [
        floats([2, 4]),
        floats([2, 3, 1]),
        TensorInfo::new(DataType::Float16, [2, 3]),
    ] {
        let refused = problem(builder.expect_output_info(output, &wrong));
        assert!(
            matches!(refused, LayerProblem::Declaration { .. }),
            "{refused}"
        );
    }
    builder
        .expect_output_info(output, &floats([2, -1]))
        .unwrap();
    assert_eq!(builder.tensor(output).unwrap().info, floats([2, 3]));

    builder.add_floor_layer(output, "reader").unwrap();
    // This says nothing new, but the next would change what the reader was built on.
    builder
        .expect_output_info(output, &floats([-1, 3]))
        .unwrap();
    let late = builder.add_floor_layer(x, "other").unwrap();
    builder.add_floor_layer(late, "its reader").unwrap();
    let refused = problem(builder.expect_output_info(late, &floats([5, 3])));
    assert!(
        matches!(refused, LayerProblem::LateDeclaration { .. }),
        "{refused}"
    );

    builder.expect_output_info(x, &floats([-1, 3])).unwrap();
    let error = builder.expect_output_info(x, &floats([5, 3])).unwrap_err();
    assert!(matches!(error, NetworkError::Declaration { .. }), "{error}");
}

#[test]
fn constants_have_as_many_bytes_as_their_type_and_shape_say() {
    let mut builder = NetworkBuilder::new();
    let mut add = |info: TensorInfo, len: usize| {
        let problem = builder.add_constant_layer("c", info, Bytes::from(vec![0; len]));
        problem.map_err(|e| match e {
            NetworkError::Tensor { problem, .. } => *problem,
            other => panic!("{other}"),
        })
    };
    // 2 · 3 elements of 4 bytes; 5 elements of half a byte.
    assert!(add(floats([2, 3]), 24).is_ok());
    assert!(add(TensorInfo::new(DataType::Int4, [5]), 3).is_ok());
    assert_eq!(
        add(floats([2, 3]), 23),
        Err(TensorProblem::ByteLen {
            expected: 24,
            found: 23
        })
    );
    assert_eq!(add(floats([-1]), 4), Err(TensorProblem::UnknownShape));
    assert_eq!(add(floats([i64::MAX, 0]), 0), Err(TensorProblem::TooLarge));
    let unknown = TensorInfo::new(DataType(999), [1]);
    assert_eq!(add(unknown, 4), Err(TensorProblem::UnknownDataType));
}

#[test]
fn a_stand_in_has_the_outputs_its_author_declares() {
    let (mut builder, x) = with_input([2]);
    let d = StandInDescriptor::new("com.example", "Detect", 1, &[]).unwrap();
    let infos = [floats([-1, 4]), TensorInfo::new(DataType::Signed64, [-1])];
    let inputs = [None, Some(x)];
    let outputs = builder
        .add_stand_in_layer(d.clone(), &inputs, &infos, "")
        .unwrap();
    let refused = problem(builder.add_stand_in_layer(d.clone(), &inputs, &[], ""));
    assert!(
        matches!(refused, LayerProblem::OutputCount { .. }),
        "{refused}"
    );
    let untyped = [OutputDeclaration::of_shape([1])];
    let stand_in = LayerDescriptor::StandIn(d);
    let refused = problem(builder.add_layer("", stand_in, &inputs, &untyped));
    assert!(
        matches!(refused, LayerProblem::Undeclared { .. }),
        "{refused}"
    );
    let network = finished(builder, outputs[0]);
    assert_eq!(network.tensor(outputs[1]).info, infos[1]);
    assert_eq!(network.layers()[0].layer_type(), LayerType::StandIn);
}

#[test]
fn a_network_needs_an_output() {
    let (builder, _) = with_input([2]);
    assert_eq!(builder.finish().unwrap_err(), NetworkError::NoOutputs);
}
