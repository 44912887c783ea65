//! Transposes in a row.

use armnn_backend_api::{LayerDescriptor as D, Shape, TransposeDescriptor};
use armnn_network::{Layer, LayerId, Network, Rewrite};

use super::{Foldable, Kept, skip};

/// Makes one Transpose of several in a row, and none where they undo each other.
pub(super) fn run(rewrite: &mut Rewrite<'_>, kept: &Kept) {
    let network = rewrite.network();
    let foldable = Foldable::new(rewrite, kept, |layer, _, reader| {
        matches!(layer.descriptor(), Some(D::Transpose(_)))
            && matches!(reader.descriptor(), Some(D::Transpose(_)))
            && adds_no_knowledge(network, layer)
    });
    for (id, layer) in rewrite.layers() {
        let Some(before) = transpose_before(rewrite, id) else {
            continue;
        };
        let Some(composed) = composed(rewrite, before, id) else {
            continue;
        };
        if !adds_no_knowledge(network, network.layer(before)) {
            continue;
        }
        let undone = composed.permutation().iter().copied().eq(0..composed.rank);
        if undone && kept.may_go(layer) {
            // The one before goes, too, if nothing else reads it.
            let source = rewrite.input(before, 0);
            let replaced = source.zip(layer.outputs.first());
            if replaced.is_some_and(|(new, &old)| rewrite.replace_tensor(old, new).is_ok()) {
                rewrite.remove_if_unread(id);
                if kept.may_go(network.layer(before)) {
                    rewrite.remove_if_unread(before);
                }
                continue;
            }
        }
        if foldable.before(rewrite, id) == Some(before) {
            let inputs = skip(rewrite, before, id);
            if rewrite.change_layer(id, composed, &inputs).is_ok() {
                rewrite.remove_if_unread(before);
            }
        }
    }
}

/// The Transpose whose output a Transpose reads.
fn transpose_before(rewrite: &Rewrite<'_>, id: LayerId) -> Option<LayerId> {
    if !matches!(rewrite.descriptor(id)?, D::Transpose(_)) {
        return None;
    }
    let before = rewrite.tensor(rewrite.input(id, 0)?)?.producer()?;
    matches!(rewrite.descriptor(before)?, D::Transpose(_)).then_some(before)
}

/// Both in one: dimension `i` of the second's output is dimension `second[i]` of the first's, and
/// so `first[second[i]]` of its input.
fn composed(rewrite: &Rewrite<'_>, first: LayerId, second: LayerId) -> Option<TransposeDescriptor> {
    let (D::Transpose(first), D::Transpose(second)) =
        (rewrite.descriptor(first)?, rewrite.descriptor(second)?)
    else {
        return None;
    };
    let from = |&i: &u32| first.permutation().get(i as usize).copied();
    let permutation: Option<Vec<u32>> = second.permutation().iter().map(from).collect();
    TransposeDescriptor::new(&permutation?)
}

/// Whether the output of a Transpose is declared as it follows from the input. What is declared
/// beyond that is checked when the input shapes are known, and must stay.
pub(super) fn adds_no_knowledge(network: &Network, layer: &Layer) -> bool {
    let (Some(D::Transpose(d)), &[Some(input)], &[output]) =
        (layer.descriptor(), &layer.inputs[..], &layer.outputs[..])
    else {
        return false;
    };
    let (input, output) = (&network.tensor(input).info, &network.tensor(output).info);
    let from = i64::from(input.quantization.axis());
    let axis = (0i32..)
        .zip(d.permutation())
        .find(|(_, i)| i64::from(**i) == from);
    let quantization = match (input.quantization.scales().len(), axis) {
        (2.., Some((axis, _))) => input.quantization.clone().along(axis),
        _ => input.quantization.clone(),
    };
    let dims = d
        .permutation()
        .iter()
        .map(|&i| input.shape.dims().get(i as usize).copied());
    let dims: Option<Vec<i64>> = dims.collect();
    let follows = dims.and_then(|dims| Shape::new(&dims).ok());
    follows == Some(output.shape) && quantization == output.quantization
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Quantization, TensorInfo};
    use armnn_network::NetworkBuilder;

    use super::super::Pass;
    use super::super::test_networks::{after, names, single};
    use super::*;

    fn d(permutation: &[u32]) -> TransposeDescriptor {
        TransposeDescriptor::new(permutation).unwrap()
    }

    /// The permutations that are left of some in a row.
    fn left(shape: impl Into<Shape>, permutations: &[&[u32]]) -> Vec<Vec<u32>> {
        let network = single(TensorInfo::new(DataType::Float32, shape), |b, x| {
            let add = |x, p: &&[u32]| b.add_transpose_layer(d(p), x, "").unwrap();
            permutations.iter().fold(x, add)
        });
        let network = after(Pass::Transposes, network);
        let permutation = |layer: &Layer| match layer.descriptor() {
            Some(D::Transpose(d)) => d.permutation().to_vec(),
            other => panic!("{other:?}"),
        };
        network.layers().iter().map(permutation).collect()
    }

    #[test]
    fn transposes_that_undo_each_other_go() {
        let none: [Vec<u32>; 0] = [];
        let to_nhwc: &[u32] = &[0, 2, 3, 1];
        let to_nchw: &[u32] = &[0, 3, 1, 2];
        for shape in [[1, 3, 4, 5], [2, -1, -1, 1], [0, 3, 4, 5]] {
            assert_eq!(left(shape, &[to_nhwc, to_nchw]), none);
            assert_eq!(left(shape, &[to_nhwc, to_nhwc, to_nchw, to_nchw]), none);
        }
        // Three turns by one place.
        assert_eq!(left([2, 3, 4], &[&[1, 2, 0], &[1, 2, 0], &[1, 2, 0]]), none);
    }

    #[test]
    fn transposes_in_a_row_become_one() {
        // Dimension 0 of the result is dimension 1 of the middle, which is dimension 2.
        assert_eq!(left([2, 3, 4], &[&[1, 2, 0], &[1, 0, 2]]), [[2, 1, 0]]);
        assert_eq!(left([-1, 3, -1], &[&[1, 2, 0], &[1, 2, 0]]), [[2, 0, 1]]);
        let many = vec![&[1, 2, 0][..]; 1000];
        assert_eq!(left([2, 3, 4], &many), [[1, 2, 0]]);
    }

    #[test]
    fn one_that_is_read_elsewhere_stays_and_its_inverse_goes() {
        let info = TensorInfo::new(DataType::Float32, [2, 3, 4]);
        let mut b = NetworkBuilder::new();
        let x = b.add_input_layer("x", info).unwrap();
        let there = b.add_transpose_layer(d(&[1, 2, 0]), x, "there").unwrap();
        let back = b.add_transpose_layer(d(&[2, 0, 1]), there, "back").unwrap();
        let on = b.add_transpose_layer(d(&[1, 2, 0]), there, "on").unwrap();
        for (name, tensor) in [("there", there), ("back", back), ("on", on)] {
            b.add_output_layer(name, tensor).unwrap();
        }
        let network = after(Pass::Transposes, b.finish().unwrap());
        assert_eq!(names(&network), ["there", "on"]);
        assert_eq!(network.outputs()[1].tensor, network.inputs()[0]);
        // It would leave as many layers to let `on` read `x`.
        assert_eq!(
            network.layers()[1].inputs,
            [Some(network.layers()[0].outputs[0])]
        );
    }

    #[test]
    fn several_readers_take_in_the_same_one() {
        let info = TensorInfo::new(DataType::Float32, [2, 3, 4]);
        let mut b = NetworkBuilder::new();
        let x = b.add_input_layer("x", info).unwrap();
        let first = b.add_transpose_layer(d(&[1, 2, 0]), x, "first").unwrap();
        for name in ["y", "z"] {
            let y = b.add_transpose_layer(d(&[1, 2, 0]), first, name).unwrap();
            b.add_output_layer(name, y).unwrap();
        }
        let network = after(Pass::Transposes, b.finish().unwrap());
        assert_eq!(names(&network), ["y", "z"]);
    }

    #[test]
    fn scales_along_an_axis_follow_it() {
        let quantization = Quantization::per_axis(1, vec![0.5, 1.0, 2.0], vec![0, 0, 0]);
        let info = TensorInfo::new(DataType::QSymmS8, [2, 3, 4]).quantized(quantization);
        let network = single(info.clone(), |b, x| {
            let y = b.add_transpose_layer(d(&[1, 2, 0]), x, "").unwrap();
            b.add_transpose_layer(d(&[1, 2, 0]), y, "").unwrap()
        });
        let network = after(Pass::Transposes, network);
        let output = network.tensor(network.outputs()[0].tensor);
        assert_eq!(network.layers().len(), 1);
        // Dimension 1 is dimension 0 in the middle, and dimension 2 at the end.
        assert_eq!(output.info.quantization.axis(), 2);
    }
}
