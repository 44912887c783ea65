//! Layers whose output is their input.

use armnn_backend_api::{LayerDescriptor as D, Shape, StridedSliceDescriptor};
use armnn_network::{Layer, Network, Rewrite};

use super::{Kept, reshapes::is_same_shape};

/// Removes layers whose output is their input.
pub(super) fn run(rewrite: &mut Rewrite<'_>, kept: &Kept) {
    let network = rewrite.network();
    for (id, layer) in rewrite.layers() {
        if !is_identity(network, layer) || !kept.may_go(layer) {
            continue;
        }
        let (Some(Some(input)), [output]) = (layer.inputs.first(), &layer.outputs[..]) else {
            continue;
        };
        // A tensor of another quantization has other elements, or should have.
        if rewrite.replace_tensor(*output, *input).is_ok() {
            rewrite.remove_if_unread(id);
        }
    }
}

fn is_identity(network: &Network, layer: &Layer) -> bool {
    let (&[Some(input)], &[output]) = (&layer.inputs[..], &layer.outputs[..]) else {
        return false;
    };
    let (input, output) = (&network.tensor(input).info, &network.tensor(output).info);
    let Some(descriptor) = layer.descriptor() else {
        return false;
    };
    match descriptor {
        D::Cast(_) => input.data_type == output.data_type,
        D::Reshape(_) => is_same_shape(&input.shape, &output.shape),
        D::Transpose(d) => d.permutation().iter().copied().eq(0..d.rank),
        D::Pad(d) => d.before().iter().chain(d.after()).all(|&n| n == 0),
        D::StridedSlice(d) => takes_all(d, &input.shape),
        // Of one input, to one output.
        D::Concat(_) | D::Split(_) => true,
        _ => false,
    }
}

fn takes_all(d: &StridedSliceDescriptor, shape: &Shape) -> bool {
    let takes_all = |(axis, &dim): (usize, &i64)| {
        let end = d.end()[axis];
        // Of a dimension that is not known, whatever it turns out to be.
        let to_the_end = if dim < 0 { end == i64::MAX } else { end >= dim };
        d.begin()[axis] == 0 && d.stride()[axis] == 1 && to_the_end
    };
    d.rank as usize == shape.rank() && shape.dims().iter().enumerate().all(takes_all)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        ConcatDescriptor, DataType, PadDescriptor, PaddingMode, Quantization, SplitDescriptor,
        TensorInfo, TransposeDescriptor,
    };
    use armnn_network::{NetworkBuilder, TensorId};

    use super::super::Pass;
    use super::super::test_networks::{after, names, single};
    use super::*;

    type Add = fn(&mut NetworkBuilder, TensorId) -> TensorId;

    fn remaining(shape: impl Into<Shape>, add: Add) -> usize {
        let network = single(TensorInfo::new(DataType::Float32, shape), add);
        after(Pass::Identities, network).layers().len()
    }

    fn pad(before: &[i64]) -> PadDescriptor {
        let after = vec![0; before.len()];
        PadDescriptor::new(PaddingMode::Constant, 0.0, before, &after).unwrap()
    }

    fn slice(begin: &[i64], end: &[i64], stride: &[i64]) -> StridedSliceDescriptor {
        StridedSliceDescriptor::new(begin, end, stride).unwrap()
    }

    #[test]
    fn layers_that_change_nothing_go() {
        let all: &[Add] = &[
            |b, x| b.add_cast_layer(DataType::Float32, x, "").unwrap(),
            |b, x| b.add_reshape_layer([2, 3], x, "").unwrap(),
            |b, x| {
                let d = TransposeDescriptor::new(&[0, 1]).unwrap();
                b.add_transpose_layer(d, x, "").unwrap()
            },
            |b, x| b.add_pad_layer(pad(&[0, 0]), x, "").unwrap(),
            |b, x| {
                b.add_strided_slice_layer(slice(&[0, 0], &[2, 9], &[1, 1]), x, "")
                    .unwrap()
            },
            |b, x| {
                b.add_concat_layer(ConcatDescriptor { axis: 1 }, &[x], "")
                    .unwrap()
            },
            |b, x| {
                b.add_split_layer(SplitDescriptor { axis: 1 }, &[3], x, "")
                    .unwrap()[0]
            },
        ];
        for (index, &add) in all.iter().enumerate() {
            assert_eq!(remaining([2, 3], add), 0, "{index}");
        }
    }

    #[test]
    fn layers_that_change_something_stay() {
        let all: &[Add] = &[
            |b, x| b.add_cast_layer(DataType::Float16, x, "").unwrap(),
            |b, x| b.add_reshape_layer([3, 2], x, "").unwrap(),
            |b, x| {
                let d = TransposeDescriptor::new(&[1, 0]).unwrap();
                b.add_transpose_layer(d, x, "").unwrap()
            },
            |b, x| b.add_pad_layer(pad(&[0, 1]), x, "").unwrap(),
            |b, x| {
                b.add_strided_slice_layer(slice(&[0, 1], &[2, 3], &[1, 1]), x, "")
                    .unwrap()
            },
            // Of two columns backwards there are two again, but in another order.
            |b, x| {
                b.add_strided_slice_layer(slice(&[0, 2], &[2, -1], &[1, -1]), x, "")
                    .unwrap()
            },
            |b, x| {
                b.add_concat_layer(ConcatDescriptor { axis: 1 }, &[x, x], "")
                    .unwrap()
            },
        ];
        for (index, &add) in all.iter().enumerate() {
            assert_eq!(remaining([2, 3], add), 1, "{index}");
        }
    }

    #[test]
    fn of_unknown_dimensions_only_what_is_certain_goes() {
        let reshape: Add = |b, x| b.add_reshape_layer([-1, 3], x, "").unwrap();
        assert_eq!(remaining([-1, 3], reshape), 0);
        // 0 rows of 3 for one, any number of rows for the other.
        let reshape: Add = |b, x| b.add_reshape_layer([-1, 0], x, "").unwrap();
        assert_eq!(remaining([-1, 0], reshape), 1);
        let rest: Add = |b, x| {
            let d = slice(&[0, 0], &[i64::MAX, 3], &[1, 1]);
            b.add_strided_slice_layer(d, x, "").unwrap()
        };
        assert_eq!(remaining([-1, 3], rest), 0);
        let part: Add = |b, x| {
            b.add_strided_slice_layer(slice(&[0, 0], &[5, 3], &[1, 1]), x, "")
                .unwrap()
        };
        assert_eq!(remaining([-1, 3], part), 1);
    }

    #[test]
    fn a_layer_that_declares_another_quantization_stays() {
        let declared = |scale| {
            let quantized = |scale| {
                TensorInfo::new(DataType::QAsymmU8, [2, 3])
                    .quantized(Quantization::per_tensor(scale, 3))
            };
            let network = single(quantized(0.5), |b, x| {
                let y = b.add_reshape_layer([2, 3], x, "").unwrap();
                b.expect_output_info(y, &quantized(scale)).unwrap();
                y
            });
            after(Pass::Identities, network).layers().len()
        };
        assert_eq!(declared(0.5), 0);
        assert_eq!(declared(0.25), 1);
    }

    #[test]
    fn several_readers_and_outputs_read_what_was_read() {
        let info = TensorInfo::new(DataType::Float32, [2, 3]);
        let mut b = NetworkBuilder::new();
        let x = b.add_input_layer("x", info).unwrap();
        let mut y = b.add_abs_layer(x, "first").unwrap();
        for _ in 0..3 {
            y = b.add_reshape_layer([2, 3], y, "").unwrap();
        }
        let z = b.add_abs_layer(y, "second").unwrap();
        b.add_output_layer("z", z).unwrap();
        b.add_output_layer("y", y).unwrap();
        b.add_output_layer("y again", y).unwrap();
        let network = after(Pass::Identities, b.finish().unwrap());
        assert_eq!(names(&network), ["first", "second"]);
        let first = network.layers()[0].outputs[0];
        let outputs: Vec<_> = network
            .outputs()
            .iter()
            .map(|o| (o.name.as_str(), o.tensor == first))
            .collect();
        assert_eq!(outputs, [("z", false), ("y", true), ("y again", true)]);
    }
}
