//! Layers that compute the same.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hash, Hasher};

use armnn_backend_api::LayerType;
use armnn_network::{Layer, LayerId, Rewrite, TensorId};

use super::Kept;

/// Computes once what several layers with the same descriptor compute of the same inputs.
///
/// An operator that only a backend knows is left alone: it may give another result each time.
pub(super) fn run(rewrite: &mut Rewrite<'_>, kept: &Kept) {
    // One layer of each hash is enough: where two that differ share one, which is rare, the second
    // is not merged. So the time is linear, whatever the network.
    let mut first: HashMap<u64, LayerId> = HashMap::new();
    for (id, layer) in rewrite.layers() {
        if layer.layer_type() == LayerType::StandIn {
            continue;
        }
        let inputs = rewrite.inputs(id);
        let earlier = match first.entry(hash(rewrite, layer, &inputs)) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(id);
                continue;
            }
            std::collections::hash_map::Entry::Occupied(entry) => *entry.get(),
        };
        let other = rewrite.network().layer(earlier);
        let pairs = || layer.outputs.iter().zip(&other.outputs);
        let is_same = kept.may_go(layer)
            && other.descriptor().is_some()
            && other.descriptor() == layer.descriptor()
            && rewrite.inputs(earlier) == inputs
            && other.outputs.len() == layer.outputs.len()
            && pairs().all(|(&old, &new)| rewrite.can_replace(old, new).is_ok());
        if is_same && pairs().all(|(&old, &new)| rewrite.replace_tensor(old, new).is_ok()) {
            rewrite.remove_if_unread(id);
        }
    }
}

fn hash(rewrite: &Rewrite<'_>, layer: &Layer, inputs: &[Option<TensorId>]) -> u64 {
    struct Text(DefaultHasher);

    impl Write for Text {
        fn write_str(&mut self, s: &str) -> fmt::Result {
            self.0.write(s.as_bytes());
            Ok(())
        }
    }

    let mut text = Text(DefaultHasher::new());
    inputs.hash(&mut text.0);
    // Descriptors hold floating-point numbers, which have no hash; their text has.
    let _ = write!(text, "{:?}", layer.descriptor());
    for &output in &layer.outputs {
        if let Some(tensor) = rewrite.tensor(output) {
            tensor.info.data_type.hash(&mut text.0);
            tensor.info.shape.hash(&mut text.0);
        }
    }
    text.0.finish()
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        DataType, SplitDescriptor, StandInDescriptor, StridedSliceDescriptor, TensorInfo,
    };
    use armnn_network::NetworkBuilder;

    use super::super::test_networks::{after, names, optimized};
    use super::super::{OptimizerOptions, Pass};

    fn info() -> TensorInfo {
        TensorInfo::new(DataType::Float32, [4])
    }

    #[test]
    fn what_is_computed_twice_is_computed_once() {
        let mut b = NetworkBuilder::new();
        let x = b.add_input_layer("x", info()).unwrap();
        for name in ["a", "b"] {
            // The second layer reads the same tensor only once the first ones are merged.
            let abs = b.add_abs_layer(x, &format!("{name} abs")).unwrap();
            let exp = b.add_sqrt_layer(abs, &format!("{name} sqrt")).unwrap();
            b.add_output_layer(name, exp).unwrap();
        }
        let network = after(Pass::Duplicates, b.finish().unwrap());
        assert_eq!(names(&network), ["a abs", "a sqrt"]);
        let outputs: Vec<_> = network.outputs().iter().map(|o| o.name.as_str()).collect();
        assert_eq!(outputs, ["a", "b"]);
        assert_eq!(network.outputs()[0].tensor, network.outputs()[1].tensor);
    }

    #[test]
    fn what_differs_in_descriptor_inputs_or_outputs_stays() {
        let mut b = NetworkBuilder::new();
        let x = b.add_input_layer("x", info()).unwrap();
        let y = b.add_input_layer("y", info()).unwrap();
        let slice = |end| StridedSliceDescriptor::new(&[0], &[end], &[1]).unwrap();
        let mut all = vec![
            b.add_strided_slice_layer(slice(2), x, "2").unwrap(),
            b.add_strided_slice_layer(slice(3), x, "3").unwrap(),
            b.add_strided_slice_layer(slice(2), y, "2 of y").unwrap(),
            b.add_reshape_layer([4, 1], x, "column").unwrap(),
            b.add_reshape_layer([1, 4], x, "row").unwrap(),
            b.add_subtraction_layer(x, y, "x - y").unwrap(),
            b.add_subtraction_layer(y, x, "y - x").unwrap(),
        ];
        for sizes in [[1, 3], [2, 2]] {
            let d = SplitDescriptor { axis: 0 };
            all.extend(b.add_split_layer(d, &sizes, x, "").unwrap());
        }
        for tensor in all {
            b.add_output_layer("", tensor).unwrap();
        }
        let network = b.finish().unwrap();
        let before = network.layers().len();
        assert_eq!(after(Pass::Duplicates, network).layers().len(), before);
    }

    #[test]
    fn operators_that_only_a_backend_knows_stay() {
        let mut b = NetworkBuilder::new();
        let x = b.add_input_layer("x", info()).unwrap();
        for name in ["a", "b"] {
            let d = StandInDescriptor::new("d", "RandomUniform", 1, &[]).unwrap();
            let y = b
                .add_stand_in_layer(d, &[Some(x)], &[info()], name)
                .unwrap();
            b.add_output_layer(name, y[0]).unwrap();
        }
        let network = after(Pass::Duplicates, b.finish().unwrap());
        assert_eq!(names(&network), ["a", "b"]);
    }

    #[test]
    fn a_pinned_duplicate_stays() {
        let mut b = NetworkBuilder::new();
        let x = b.add_input_layer("x", info()).unwrap();
        for name in ["a", "b", "c"] {
            let y = b.add_abs_layer(x, name).unwrap();
            b.add_output_layer(name, y).unwrap();
        }
        let options = OptimizerOptions {
            pins: vec![("b".parse().unwrap(), "CpuRef".parse().unwrap())],
            ..OptimizerOptions::default()
        };
        let network = optimized(b.finish().unwrap(), &options);
        assert_eq!(names(&network), ["a", "b"]);
    }
}
