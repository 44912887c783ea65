//! Shapes of a whole network, once the input shapes are known.

use std::time::Instant;

use armnn_backend_api::{
    Convolution2dDescriptor, DataLayout, DataType, LayerDescriptor, Quantization, Shape,
    SplitDescriptor, StandInDescriptor, TensorInfo, TransposeDescriptor,
};
use armnn_network::{
    LayerProblem, Network, NetworkBuilder, NetworkError, TensorId, TensorProblem, infer_shapes,
};
use bytes::Bytes;

fn floats<const N: usize>(dims: [i64; N]) -> TensorInfo {
    TensorInfo::new(DataType::Float32, dims)
}

/// A convolution whose output is flattened, for any batch and image size.
fn flattened_convolution() -> (Network, [TensorId; 2]) {
    let mut builder = NetworkBuilder::new();
    let x = builder
        .add_input_layer("image", floats([-1, -1, -1, 3]))
        .unwrap();
    let data = Bytes::from(vec![0; 8 * 3 * 3 * 3 * 4]);
    let weights = builder
        .add_constant_layer("w", floats([8, 3, 3, 3]), data)
        .unwrap();
    let mut d = Convolution2dDescriptor::new(DataLayout::Nhwc);
    (d.stride_x, d.stride_y) = (2, 2);
    let y = builder
        .add_convolution2d_layer(d, x, weights, None, "conv")
        .unwrap();
    let flat = builder.add_reshape_layer([-1, 8], y, "flat").unwrap();
    builder.add_output_layer("flat", flat).unwrap();
    (builder.finish().unwrap(), [y, flat])
}

#[test]
fn every_tensor_gets_its_shape() {
    let (network, [y, flat]) = flattened_convolution();
    assert_eq!(network.tensor(y).info.shape, Shape::from([-1, -1, -1, 8]));
    assert_eq!(network.tensor(flat).info.shape, Shape::from([-1, 8]));
    // (9 - 3) / 2 + 1 = 4 rows, (7 - 3) / 2 + 1 = 3 columns; 2 · 4 · 3 = 24.
    let shapes = infer_shapes(&network, &[Shape::from([2, 9, 7, 3])]).unwrap();
    assert_eq!(shapes.len(), network.tensors().len());
    assert_eq!(shapes[1], Shape::from([8, 3, 3, 3]));
    assert_eq!(shapes[y.index()], Shape::from([2, 4, 3, 8]));
    assert_eq!(shapes[flat.index()], Shape::from([24, 8]));
    // The network itself stays as it was.
    let shapes = infer_shapes(&network, &[Shape::from([1, 3, 3, 3])]).unwrap();
    assert_eq!(shapes[flat.index()], Shape::from([1, 8]));
}

#[test]
fn input_shapes_are_checked_against_the_declared_ones() {
    let (network, _) = flattened_convolution();
    let error = |shapes: &[Shape]| infer_shapes(&network, shapes).unwrap_err();
    assert!(matches!(
        error(&[]),
        NetworkError::InputShapeCount {
            expected: 1,
            found: 0
        }
    ));
    assert_eq!(
        error(&[Shape::from([2, 9, 7, 4])]).to_string(),
        "input 'image' takes shape [?, ?, ?, 3] (? and names are any size), but [2, 9, 7, 4] was given"
    );
    assert!(matches!(
        error(&[Shape::from([2, 9, 3])]),
        NetworkError::InputShape { .. }
    ));
    assert!(matches!(
        error(&[Shape::from([-1, 9, 7, 3])]),
        NetworkError::InputShapeUnknown { .. }
    ));
    let NetworkError::Layer { layer, problem, .. } = error(&[Shape::from([1, 2, 2, 3])]) else {
        panic!("a window of 3 fits in 2");
    };
    assert_eq!(layer, "conv");
    assert!(matches!(*problem, LayerProblem::Window { .. }));
}

#[test]
fn shapes_that_memory_cannot_hold_are_refused() {
    let (network, _) = flattened_convolution();
    let error = infer_shapes(&network, &[Shape::from([i64::MAX, 9, 9, 3])]).unwrap_err();
    // The number of elements to reshape cannot be counted.
    let NetworkError::Layer { layer, problem, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(layer, "flat");
    assert!(
        matches!(*problem, LayerProblem::Overflow { .. }),
        "{problem}"
    );
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", floats([-1, -1])).unwrap();
    builder.add_output_layer("y", x).unwrap();
    let network = builder.finish().unwrap();
    let error = infer_shapes(&network, &[Shape::from([i64::MAX, 0])]).unwrap_err();
    let NetworkError::Tensor { problem, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(*problem, TensorProblem::TooLarge);
}

#[test]
fn what_the_model_declares_holds_for_every_input_shape() {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", floats([-1])).unwrap();
    let y = builder.add_floor_layer(x, "floor").unwrap();
    builder.expect_output_info(y, &floats([4])).unwrap();
    builder.add_output_layer("y", y).unwrap();
    let network = builder.finish().unwrap();
    assert!(infer_shapes(&network, &[Shape::from([4])]).is_ok());
    let error = infer_shapes(&network, &[Shape::from([5])]).unwrap_err();
    let NetworkError::Layer { problem, .. } = error else {
        panic!("{error}");
    };
    assert!(matches!(*problem, LayerProblem::Declaration { .. }));
}

#[test]
fn parts_of_an_unknown_dimension_are_equal_or_complete_it() {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", floats([-1])).unwrap();
    let d = SplitDescriptor { axis: 0 };
    let equal = builder
        .add_split_layer(d, &[-1, -1, -1], x, "equal")
        .unwrap();
    let rest = builder.add_split_layer(d, &[2, -1], x, "rest").unwrap();
    builder.add_output_layer("", equal[0]).unwrap();
    let network = builder.finish().unwrap();
    let shapes = infer_shapes(&network, &[Shape::from([9])]).unwrap();
    assert_eq!(shapes[equal[2].index()], Shape::from([3]));
    assert_eq!(shapes[rest[1].index()], Shape::from([7]));
    assert!(infer_shapes(&network, &[Shape::from([10])]).is_err());
}

#[test]
fn dimensions_that_do_not_follow_are_an_error() {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", floats([-1])).unwrap();
    let y = builder.add_reshape_layer([-1, -1], x, "square").unwrap();
    builder.add_output_layer("y", y).unwrap();
    let error = infer_shapes(&builder.finish().unwrap(), &[Shape::from([4])]).unwrap_err();
    assert!(error.to_string().contains("'square' (Reshape)"), "{error}");

    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", floats([-1])).unwrap();
    let d = StandInDescriptor::new("", "NonZero", 1, &[]).unwrap();
    let outputs = [TensorInfo::new(DataType::Signed64, [1, -1])];
    let y = builder
        .add_stand_in_layer(d, &[Some(x)], &outputs, "")
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    // A layer that no rule is known for may find it out when it is executed.
    let network = builder.finish().unwrap();
    let shapes = infer_shapes(&network, &[Shape::from([4])]).unwrap();
    assert_eq!(shapes[y[0].index()], Shape::from([1, -1]));
}

#[test]
fn scales_along_an_unknown_dimension_are_counted_when_it_is_known() {
    let mut builder = NetworkBuilder::new();
    let quantization = Quantization::per_axis(0, vec![1.0; 3], vec![0; 3]);
    let info = TensorInfo::new(DataType::QSymmS8, [-1]).quantized(quantization);
    let x = builder.add_input_layer("x", info).unwrap();
    builder.add_output_layer("y", x).unwrap();
    let network = builder.finish().unwrap();
    assert!(infer_shapes(&network, &[Shape::from([3])]).is_ok());
    assert!(infer_shapes(&network, &[Shape::from([4])]).is_err());
}

/// A chain of layers that all have the same name, and its shapes; returns the seconds it took.
fn chain(layers: usize) -> f64 {
    let start = Instant::now();
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", floats([-1, 4])).unwrap();
    let mut last = x;
    for _ in 0..layers {
        last = builder.add_addition_layer(last, x, "same").unwrap();
    }
    builder.add_output_layer("y", last).unwrap();
    let network = builder.finish().unwrap();
    let shapes = infer_shapes(&network, &[Shape::from([3, 4])]).unwrap();
    assert_eq!(shapes[last.index()], Shape::from([3, 4]));
    assert!(network.to_dot(|_| None).len() > layers);
    let Some(LayerDescriptor::ElementwiseBinary(_)) = network.layers()[layers - 1].descriptor()
    else {
        panic!("{:?}", network.layers()[layers - 1]);
    };
    start.elapsed().as_secs_f64()
}

/// As many transposes in a row as there are scales along an axis; returns the seconds it took.
fn transposes(count: usize) -> f64 {
    let start = Instant::now();
    let mut builder = NetworkBuilder::new();
    let quantization = Quantization::per_axis(0, vec![1.0; count], vec![0; count]);
    let info = TensorInfo::new(DataType::QSymmS8, [count as i64, 1]).quantized(quantization);
    let mut last = builder.add_input_layer("x", info).unwrap();
    for _ in 0..count {
        let exchange = TransposeDescriptor::new(&[1, 0]).unwrap();
        last = builder.add_transpose_layer(exchange, last, "").unwrap();
    }
    builder.add_output_layer("y", last).unwrap();
    let network = builder.finish().unwrap();
    let quantization = &network.tensor(last).info.quantization;
    assert_eq!(
        (quantization.axis(), quantization.scales().len()),
        (0, count)
    );
    start.elapsed().as_secs_f64()
}

#[test]
fn scales_that_many_tensors_share_take_linear_time() {
    // As below.
    let linear = (0..3).any(|_| {
        let few = transposes(5_000);
        transposes(50_000) < 30.0 * few
    });
    assert!(
        linear,
        "50 000 scales through as many layers take more than 30 times as long as 5 000"
    );
}

#[test]
fn a_hundred_thousand_layers_take_linear_time() {
    // Ten times the layers; quadratic growth would be a hundredfold. A busy machine may spoil a
    // measurement, but not three.
    let linear = (0..3).any(|_| {
        let few = chain(10_000);
        chain(100_000) < 30.0 * few
    });
    assert!(
        linear,
        "100 000 layers take more than 30 times as long as 10 000"
    );
}

/// The sum of x [batch, length] and y [length, batch] along their dimensions of the length.
fn two_named_inputs() -> Network {
    let unknown = || TensorInfo::new(DataType::Float32, [-1, -1]);
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", unknown()).unwrap();
    let y = builder.add_input_layer("y", unknown()).unwrap();
    for (input, dimension, name) in [
        (y, 1, "samples"),
        (x, 1, "length"),
        (y, 0, "length"),
        (x, 0, "batch"),
        (y, 1, "batch"),
    ] {
        builder
            .name_input_dimension(input, dimension, name)
            .unwrap();
    }
    builder.add_output_layer("x", x).unwrap();
    builder.add_output_layer("y", y).unwrap();
    builder.finish().unwrap()
}

#[test]
fn dimensions_of_one_name_have_one_size() {
    let network = two_named_inputs();
    assert_eq!(network.input_shape_text(0), "[batch, length]");
    assert_eq!(network.input_shape_text(1), "[length, batch]");
    let inferred = |x: [i64; 2], y: [i64; 2]| {
        let shapes = infer_shapes(&network, &[x.into(), y.into()]);
        shapes.map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(inferred([2, 3], [3, 2]), Ok(()));
    assert_eq!(inferred([0, 0], [0, 0]), Ok(()));
    assert_eq!(
        inferred([2, 3], [4, 2]).unwrap_err(),
        "dimension 1 of input 'x' and dimension 0 of input 'y' are both 'length' and must have the \
         same size, but 3 and 4 were given"
    );
    let error = inferred([2, 3], [3, 5]).unwrap_err();
    assert!(error.contains("both 'batch'"), "{error}");
}

#[test]
fn only_unknown_dimensions_of_inputs_have_names() {
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [-1, 3]);
    let x = builder.add_input_layer("x", info).unwrap();
    let y = builder.add_abs_layer(x, "y").unwrap();
    for (tensor, dimension, name, expected) in [
        (x, 1, "n", "its size is known"),
        (x, 2, "n", "no such dimension"),
        (x, 0, "", "the name is empty"),
        (y, 0, "n", "it is no input"),
    ] {
        let named = builder.name_input_dimension(tensor, dimension, name);
        let error = named.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    builder.name_input_dimension(x, 0, "n").unwrap();
    builder.add_output_layer("y", y).unwrap();
    assert_eq!(builder.finish().unwrap().input_shape_text(0), "[n, 3]");
}

#[test]
fn names_from_files_are_for_messages_and_may_be_wrong() {
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [-1, -1, 3]);
    let x = builder.add_input_layer("x", info).unwrap();
    for dimension in [0, 1] {
        builder.label_input_dimension(x, dimension, "n").unwrap();
    }
    builder.add_output_layer("x", x).unwrap();
    let network = builder.finish().unwrap();
    infer_shapes(&network, &[[48, 192, 3].into()]).unwrap();
    assert!(network.doubtful_dimensions(&[[48, 48, 3].into()]).is_none());
    let doubt = network.doubtful_dimensions(&[[48, 192, 3].into()]).unwrap();
    assert!(
        doubt.to_string().contains("48 and 192 were given"),
        "{doubt}"
    );
    let error = infer_shapes(&network, &[[1, 2, 4].into()]).unwrap_err();
    assert!(
        error.to_string().contains("takes shape [n, n, 3]"),
        "{error}"
    );
}
