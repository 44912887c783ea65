//! Outputs stay what they are when passes rewrite a network.

mod passes_support;

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, ConcatDescriptor, Convolution2dDescriptor,
    DataLayout, DepthwiseConvolution2dDescriptor, FullyConnectedDescriptor, PadDescriptor,
    PaddingMethod, PaddingMode, Pooling2dDescriptor, PoolingAlgorithm, SplitDescriptor,
    StridedSliceDescriptor, TransposeDescriptor,
};
use armnn_network::{Network, NetworkBuilder, TensorId};
use armnn_runtime::{DataType, HostTensor, LayerType, Pass, PassSelection, Shape};
use bytes::Bytes;
use passes_support::{Random, assert_removes, assert_same_bits, float_info, run};

const LAYOUTS: [DataLayout; 2] = [DataLayout::Nhwc, DataLayout::Nchw];

fn single(
    shape: impl Into<Shape>,
    layers: impl FnOnce(&mut NetworkBuilder, TensorId) -> TensorId,
) -> Network {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", float_info(shape)).unwrap();
    let y = layers(&mut builder, x);
    builder.add_output_layer("y", y).unwrap();
    builder.finish().unwrap()
}

fn constant(b: &mut NetworkBuilder, random: &mut Random, shape: impl Into<Shape>) -> TensorId {
    let info = float_info(shape);
    let values = random.floats(info.shape.num_elements().unwrap() as usize);
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    b.add_constant_layer("c", info, Bytes::from(bytes)).unwrap()
}

fn transpose(permutation: &[u32]) -> TransposeDescriptor {
    TransposeDescriptor::new(permutation).unwrap()
}

#[test]
fn dead_layers() {
    let network = single([2, 3], |b, x| {
        b.add_sqrt_layer(x, "dead").unwrap();
        b.add_abs_layer(x, "abs").unwrap()
    });
    let input = Random::new(1).tensor([2, 3]);
    assert_eq!(
        assert_removes(Pass::DeadLayers, &network, &[input]),
        ["abs"]
    );
}

#[test]
fn identities() {
    for shape in [[2, 3], [1, 1], [0, 3]] {
        let network = single(shape, |b, x| {
            let x = b.add_cast_layer(DataType::Float32, x, "").unwrap();
            let x = b.add_reshape_layer(shape, x, "").unwrap();
            let x = b.add_transpose_layer(transpose(&[0, 1]), x, "").unwrap();
            let x = b.add_abs_layer(x, "abs").unwrap();
            let d = PadDescriptor::new(PaddingMode::Constant, 1.0, &[0, 0], &[0, 0]).unwrap();
            let x = b.add_pad_layer(d, x, "").unwrap();
            let d = StridedSliceDescriptor::new(&[0, 0], &shape, &[1, 1]).unwrap();
            let x = b.add_strided_slice_layer(d, x, "").unwrap();
            let x = b
                .add_concat_layer(ConcatDescriptor { axis: 0 }, &[x], "")
                .unwrap();
            b.add_split_layer(SplitDescriptor { axis: 1 }, &[shape[1]], x, "")
                .unwrap()[0]
        });
        let input = Random::new(2).tensor(shape);
        assert_eq!(
            assert_removes(Pass::Identities, &network, &[input]),
            ["abs"]
        );
    }
}

#[test]
fn a_network_of_identities_gives_its_input() {
    let network = single([-1, 3], |b, x| {
        let x = b.add_transpose_layer(transpose(&[1, 0]), x, "").unwrap();
        let x = b.add_transpose_layer(transpose(&[1, 0]), x, "").unwrap();
        b.add_reshape_layer([-1, 3], x, "").unwrap()
    });
    let input = Random::new(3).tensor([4, 3]);
    assert!(assert_removes(Pass::Transposes, &network, &[input]).len() == 1);
    let input = Random::new(3).tensor([4, 3]);
    let found = run(network, PassSelection::All, std::slice::from_ref(&input));
    assert!(found.layers.is_empty());
    assert_same_bits(&[input], &found.outputs);
}

#[test]
fn inputs_and_constants_as_outputs() {
    let mut b = NetworkBuilder::new();
    let x = b.add_input_layer("x", float_info([2, 3])).unwrap();
    let c = constant(&mut b, &mut Random::new(3), [2, 3]);
    for (name, tensor) in [("x", x), ("c", c)] {
        let same = b.add_reshape_layer([2, 3], tensor, "").unwrap();
        b.add_output_layer(name, same).unwrap();
        b.add_output_layer("again", same).unwrap();
    }
    let network = b.finish().unwrap();
    let input = Random::new(4).tensor([2, 3]);
    assert!(assert_removes(Pass::Identities, &network, &[input]).is_empty());
}

#[test]
fn transposes_in_a_row() {
    for (declared, given) in [
        ([2, 3, 4, 5], [2, 3, 4, 5]),
        ([-1, -1, 4, -1], [3, 2, 4, 1]),
        ([2, 0, 4, 5], [2, 0, 4, 5]),
    ] {
        let network = single(declared, |b, x| {
            let x = b
                .add_transpose_layer(transpose(&[0, 2, 3, 1]), x, "")
                .unwrap();
            let x = b
                .add_transpose_layer(transpose(&[3, 1, 0, 2]), x, "")
                .unwrap();
            let x = b
                .add_transpose_layer(transpose(&[1, 0, 2, 3]), x, "")
                .unwrap();
            b.add_abs_layer(x, "").unwrap()
        });
        let input = Random::new(4).tensor(given);
        let left = assert_removes(Pass::Transposes, &network, &[input]);
        assert_eq!(left.len(), 2);
    }
}

#[test]
fn reshapes_in_a_row_and_transposes_that_are_reshapes() {
    for (declared, given) in [([2, 1, 6], [2, 1, 6]), ([-1, 1, 6], [3, 1, 6])] {
        let network = single(declared, |b, x| {
            let x = b.add_reshape_layer([-1, 3, 2], x, "").unwrap();
            let x = b.add_reshape_layer([-1, 1, 1, 6], x, "").unwrap();
            let x = b.add_abs_layer(x, "").unwrap();
            let x = b
                .add_transpose_layer(transpose(&[1, 0, 3, 2]), x, "")
                .unwrap();
            b.add_sqrt_layer(x, "").unwrap()
        });
        let input = Random::new(5).tensor(given);
        let left = assert_removes(Pass::Reshapes, &network, &[input]);
        assert_eq!(left.len(), 4);
    }
}

/// A Pad of 1 and 2 rows and of 2 and 1 columns.
fn image_pad(layout: DataLayout, value: f64) -> PadDescriptor {
    let (before, after) = match layout {
        DataLayout::Nhwc => ([0, 1, 2, 0], [0, 2, 1, 0]),
        _ => ([0, 0, 1, 2], [0, 0, 2, 1]),
    };
    PadDescriptor::new(PaddingMode::Constant, value, &before, &after).unwrap()
}

fn image(layout: DataLayout, [n, h, w, c]: [i64; 4]) -> [i64; 4] {
    match layout {
        DataLayout::Nhwc => [n, h, w, c],
        _ => [n, c, h, w],
    }
}

#[test]
fn pads_before_convolutions() {
    for layout in LAYOUTS {
        for (declared, given) in [([1, 5, 6, 4], [1, 5, 6, 4]), ([-1, -1, 7, 4], [2, 4, 7, 4])] {
            let random = &mut Random::new(6);
            let network = single(image(layout, declared), |b, x| {
                let x = b.add_pad_layer(image_pad(layout, 0.0), x, "").unwrap();
                let w = constant(b, random, image(layout, [6, 3, 3, 2]));
                let mut d = Convolution2dDescriptor::new(layout);
                (d.groups, d.stride_x, d.pad_left) = (2, 2, 0);
                let bias = constant(b, random, [6]);
                let x = b.add_convolution2d_layer(d, x, w, Some(bias), "").unwrap();
                let x = b.add_pad_layer(image_pad(layout, 0.0), x, "").unwrap();
                let w = constant(b, random, [1, 3, 3, 12]);
                let mut d = DepthwiseConvolution2dDescriptor::new(layout);
                (d.stride_y, d.dilation_x) = (2, 2);
                b.add_depthwise_convolution2d_layer(d, x, w, None, "")
                    .unwrap()
            });
            let input = random.tensor(image(layout, given));
            let left = assert_removes(Pass::Pads, &network, &[input]);
            assert_eq!(left.len(), 2);
        }
    }
}

#[test]
fn pads_before_pooling() {
    for layout in LAYOUTS {
        for (pool_type, value, relu) in [
            (PoolingAlgorithm::Average, 0.0, false),
            (PoolingAlgorithm::L2, 0.0, false),
            (PoolingAlgorithm::Max, f64::NEG_INFINITY, false),
            (PoolingAlgorithm::Max, 0.0, true),
        ] {
            let mut d = Pooling2dDescriptor::new(pool_type, 3, 4, layout);
            (d.stride_x, d.stride_y) = (2, 1);
            for own in [0, 1] {
                d.pad_bottom = own;
                d.padding_method = PaddingMethod::IgnoreValue.0;
                let shape = image(layout, [2, 5, 6, 3]);
                let network = single(shape, |b, mut x| {
                    if relu {
                        let d = ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0);
                        x = b.add_activation_layer(d, x, "").unwrap();
                    }
                    let x = b.add_pad_layer(image_pad(layout, value), x, "").unwrap();
                    b.add_pooling2d_layer(d, x, "").unwrap()
                });
                let input = Random::new(7).tensor(shape);
                let left = assert_removes(Pass::Pads, &network, &[input]);
                assert_eq!(left.len(), 1 + usize::from(relu));
            }
        }
    }
}

#[test]
fn duplicates() {
    let network = single([2, 3], |b, x| {
        let mut sums = [x; 2];
        for sum in &mut sums {
            let abs = b.add_abs_layer(x, "").unwrap();
            let floor = b.add_floor_layer(abs, "").unwrap();
            *sum = b.add_addition_layer(floor, x, "").unwrap();
        }
        b.add_multiplication_layer(sums[0], sums[1], "").unwrap()
    });
    let input = Random::new(8).tensor([2, 3]);
    let left = assert_removes(Pass::Duplicates, &network, &[input]);
    assert_eq!(left.len(), 4);
}

/// The largest difference, in parts of the largest number.
fn difference(expected: &[HostTensor], found: &[HostTensor]) -> f32 {
    let floats = |tensor: &HostTensor| tensor.elements::<f32>().unwrap().to_vec();
    let (expected, found) = (floats(&expected[0]), floats(&found[0]));
    assert_eq!(expected.len(), found.len());
    let largest = |values: &mut dyn Iterator<Item = f32>| values.fold(0.0, f32::max);
    let scale = largest(&mut expected.iter().map(|v| v.abs()));
    largest(&mut expected.iter().zip(&found).map(|(a, b)| (a - b).abs())) / scale
}

#[test]
fn batch_normalization() {
    for layout in LAYOUTS {
        for kind in 0..3 {
            let random = &mut Random::new(9);
            let shape = image(layout, [2, 5, 6, 4]);
            let network = single(shape, |b, x| {
                let (y, channels) = match kind {
                    0 => {
                        let w = constant(b, random, image(layout, [6, 3, 3, 4]));
                        let d = Convolution2dDescriptor::new(layout);
                        let bias = constant(b, random, [6]);
                        (
                            b.add_convolution2d_layer(d, x, w, Some(bias), "").unwrap(),
                            6,
                        )
                    }
                    1 => {
                        let w = constant(b, random, [1, 3, 3, 8]);
                        let d = DepthwiseConvolution2dDescriptor::new(layout);
                        (
                            b.add_depthwise_convolution2d_layer(d, x, w, None, "")
                                .unwrap(),
                            8,
                        )
                    }
                    _ => {
                        let transposed = layout == DataLayout::Nhwc;
                        let dims = if transposed { [5, 120] } else { [120, 5] };
                        let w = constant(b, random, dims);
                        let d = FullyConnectedDescriptor::new(transposed);
                        (b.add_fully_connected_layer(d, x, w, None, "").unwrap(), 5)
                    }
                };
                let factors = match (kind, layout) {
                    (2, _) | (_, DataLayout::Nhwc) => Shape::from([channels]),
                    _ => Shape::from([channels, 1, 1]),
                };
                let [m, a, s] = std::array::from_fn(|_| constant(b, random, factors));
                let y = b.add_multiplication_layer(y, m, "").unwrap();
                let y = b.add_addition_layer(a, y, "").unwrap();
                b.add_subtraction_layer(y, s, "").unwrap()
            });
            let input = random.tensor(shape);
            let inputs = std::slice::from_ref(&input);
            let plain = run(network.clone(), PassSelection::None, inputs);
            let rewritten = run(network, PassSelection::All, inputs);
            assert_eq!(rewritten.layers.len(), 1, "{layout} {kind}");
            // Sums of at most 120 products, each rounded to 2^-24 of a partial sum, in another
            // order and with weights rounded once more.
            let difference = difference(&plain.outputs, &rewritten.outputs);
            assert!(
                difference < 120.0 * f32::EPSILON,
                "{layout} {kind}: {difference}"
            );
        }
    }
}

#[test]
fn what_was_done_is_reported() {
    let network = single([2, 3], |b, x| {
        let x = b
            .add_transpose_layer(transpose(&[1, 0]), x, "there")
            .unwrap();
        let x = b
            .add_transpose_layer(transpose(&[1, 0]), x, "back")
            .unwrap();
        b.add_abs_layer(x, "abs").unwrap()
    });
    let input = Random::new(10).tensor([2, 3]);
    let inputs = std::slice::from_ref(&input);
    let found = run(network.clone(), PassSelection::All, inputs);
    let [report] = &found.rewrites[..] else {
        panic!("{found:?}")
    };
    assert_eq!(report.pass, Pass::Transposes);
    let removed = report.summary.removed.iter();
    let removed: Vec<_> = removed.map(|l| (l.name.as_str(), l.layer_type)).collect();
    let expected = ["there", "back"].map(|name| (name, LayerType::Transpose));
    assert_eq!(removed, expected);
    assert!(
        run(network, PassSelection::None, inputs)
            .rewrites
            .is_empty()
    );
}
