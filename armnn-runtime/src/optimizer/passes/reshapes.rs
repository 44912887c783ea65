//! Reshapes in a row, and Transposes that are none.

use armnn_backend_api::{LayerDescriptor as D, LayerType, ReshapeDescriptor, Shape};
use armnn_network::{Layer, Network, Rewrite};

use super::{Foldable, Kept, skip, transposes::adds_no_knowledge};

/// Makes one Reshape of several in a row, and a Reshape of a Transpose that moves nothing but
/// dimensions of size 1.
pub(super) fn run(rewrite: &mut Rewrite<'_>, kept: &Kept) {
    let network = rewrite.network();
    let foldable = Foldable::new(rewrite, kept, |layer, _, reader| {
        matches!(reader.descriptor(), Some(D::Reshape(_))) && asks_nothing(network, layer)
    });
    for (id, layer) in rewrite.layers() {
        let (before, inputs) = match layer.descriptor() {
            Some(D::Reshape(_)) => match foldable.before(rewrite, id) {
                Some(before) => (Some(before), skip(rewrite, before, id)),
                None => continue,
            },
            Some(D::Transpose(d)) if keeps_order(network, layer, d.permutation()) => {
                if !kept.may_go(layer) || !kept.may_become(LayerType::Reshape) {
                    continue;
                }
                (None, rewrite.inputs(id))
            }
            _ => continue,
        };
        let changed = rewrite.change_layer(id, ReshapeDescriptor::new(), &inputs);
        if let (Ok(()), Some(before)) = (changed, before) {
            rewrite.remove_if_unread(before);
        }
    }
}

/// Whether tensors of these shapes have the same dimensions, whatever the unknown ones turn out to
/// be, provided that they have equally many elements.
pub(super) fn is_same_shape(a: &Shape, b: &Shape) -> bool {
    a == b && follows_from_elements(a)
}

/// Whether all dimensions follow once the number of elements is known.
fn follows_from_elements(shape: &Shape) -> bool {
    shape.is_known() || known_part(shape).is_some_and(|(unknown, n)| unknown == 1 && n > 0)
}

/// How many dimensions are unknown, and the product of the others.
fn known_part(shape: &Shape) -> Option<(usize, u64)> {
    let mut unknown = 0;
    let mut product = 1u64;
    for &dim in shape.dims() {
        match u64::try_from(dim) {
            Ok(dim) => product = product.checked_mul(dim)?,
            Err(_) => unknown += 1,
        }
    }
    Some((unknown, product))
}

/// Whether a layer is a Reshape that takes every input that its own input can be. Another one is
/// an error for some of them, and must stay.
fn asks_nothing(network: &Network, layer: &Layer) -> bool {
    let (Some(D::Reshape(_)), &[Some(input)], &[output]) =
        (layer.descriptor(), &layer.inputs[..], &layer.outputs[..])
    else {
        return false;
    };
    let (input, output) = (&network.tensor(input).info, &network.tensor(output).info);
    let shapes = (input.shape.is_known() && output.shape.is_known())
        || (follows_from_elements(&input.shape)
            && follows_from_elements(&output.shape)
            && known_part(&input.shape) == known_part(&output.shape));
    // Scales along an axis go with the dimension, which a Reshape may take apart.
    shapes && input.quantization == output.quantization && input.quantization.scales().len() <= 1
}

/// Whether a Transpose leaves the elements in their order: dimensions that may have another size
/// than 1 follow each other as before.
fn keeps_order(network: &Network, layer: &Layer, permutation: &[u32]) -> bool {
    let &[Some(input)] = &layer.inputs[..] else {
        return false;
    };
    let info = &network.tensor(input).info;
    let is_one = |axis: u32| info.shape.dims().get(axis as usize) == Some(&1);
    let others = permutation.iter().copied().filter(|&axis| !is_one(axis));
    others.is_sorted()
        && follows_from_elements(&info.shape)
        && info.quantization.scales().len() <= 1
        && adds_no_knowledge(network, layer)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, TensorInfo, TransposeDescriptor};
    use armnn_network::NetworkBuilder;

    use super::super::test_networks::{after, names, optimized, single};
    use super::super::{OptimizerOptions, Pass};
    use super::*;

    /// How many Reshapes are left of some in a row.
    fn left(from: impl Into<Shape>, targets: &[&[i64]]) -> usize {
        let network = single(TensorInfo::new(DataType::Float32, from), |b, x| {
            let add = |x, to: &&[i64]| b.add_reshape_layer(Shape::new(to).unwrap(), x, "").unwrap();
            targets.iter().fold(x, add)
        });
        let network = after(Pass::Reshapes, network);
        assert_eq!(network.layers()[0].inputs, [Some(network.inputs()[0])]);
        network.layers().len()
    }

    #[test]
    fn reshapes_in_a_row_become_one() {
        assert_eq!(left([2, 6], &[&[3, 4], &[12]]), 1);
        assert_eq!(left([2, 6], &[&[3, 4], &[12], &[1, 12], &[4, 3]]), 1);
        assert_eq!(left([-1, 6], &[&[-1, 2, 3], &[-1, 3, 2]]), 1);
        assert_eq!(left([0, 6], &[&[2, 0], &[0]]), 1);
    }

    #[test]
    fn a_reshape_that_not_every_input_fits_stays() {
        // The first one asks for an even number of elements.
        assert_eq!(left([-1], &[&[-1, 2], &[-1, 1]]), 2);
        assert_eq!(left([-1, 3], &[&[2, 3], &[6]]), 2);
        // Any number of rows of nothing.
        assert_eq!(left([-1, 0], &[&[-1, 0], &[0]]), 2);
    }

    #[test]
    fn a_reshape_that_is_read_elsewhere_stays() {
        let mut b = NetworkBuilder::new();
        let x = b
            .add_input_layer("x", TensorInfo::new(DataType::Float32, [6]))
            .unwrap();
        let first = b.add_reshape_layer([2, 3], x, "first").unwrap();
        let second = b.add_reshape_layer([3, 2], first, "second").unwrap();
        b.add_output_layer("first", first).unwrap();
        b.add_output_layer("second", second).unwrap();
        let network = after(Pass::Reshapes, b.finish().unwrap());
        assert_eq!(names(&network), ["first", "second"]);
        assert_eq!(
            network.layers()[1].inputs,
            [Some(network.layers()[0].outputs[0])]
        );
    }

    fn transposed(from: impl Into<Shape>, permutation: &[u32]) -> Network {
        single(TensorInfo::new(DataType::Float32, from), |b, x| {
            let d = TransposeDescriptor::new(permutation).unwrap();
            b.add_transpose_layer(d, x, "t").unwrap()
        })
    }

    #[test]
    fn a_transpose_of_dimensions_of_size_1_becomes_a_reshape() {
        let is_reshape = |from: Shape, permutation: &[u32]| {
            let network = after(Pass::Reshapes, transposed(from, permutation));
            network.layers()[0].layer_type() == LayerType::Reshape
        };
        assert!(is_reshape(Shape::from([1, 20, 3]), &[1, 0, 2]));
        assert!(is_reshape(Shape::from([-1, 1, 1, 3]), &[0, 3, 1, 2]));
        assert!(!is_reshape(Shape::from([2, 20, 3]), &[1, 0, 2]));
        // The unknown dimension may be another than 1.
        assert!(!is_reshape(Shape::from([-1, 20, 3]), &[1, 0, 2]));
        // Two unknown dimensions do not follow from the number of elements.
        assert!(!is_reshape(Shape::from([-1, 1, -1, 3]), &[0, 2, 1, 3]));
    }

    #[test]
    fn a_pinned_type_is_neither_left_nor_entered() {
        for pin in ["type:Transpose", "type:Reshape", "t"] {
            let options = OptimizerOptions {
                pins: vec![(pin.parse().unwrap(), "CpuRef".parse().unwrap())],
                ..OptimizerOptions::default()
            };
            let network = optimized(transposed([1, 20, 3], &[1, 0, 2]), &options);
            assert_eq!(
                network.layers()[0].layer_type(),
                LayerType::Transpose,
                "{pin}"
            );
        }
    }
}
