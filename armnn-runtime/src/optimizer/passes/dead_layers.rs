//! Layers that no output depends on.

use armnn_network::Rewrite;

use super::Kept;

/// Removes what no output depends on. A layer has no effect but its outputs.
pub(super) fn run(rewrite: &mut Rewrite<'_>, kept: &Kept) {
    for (id, layer) in rewrite.layers() {
        if kept.may_go(layer) {
            rewrite.remove_if_unread(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, SplitDescriptor, TensorInfo};
    use armnn_network::NetworkBuilder;
    use bytes::Bytes;

    use super::super::Pass;
    use super::super::test_networks::{after, names};

    #[test]
    fn what_no_output_depends_on_goes_with_its_constants() {
        let info = TensorInfo::new(DataType::Float32, [4]);
        let mut builder = NetworkBuilder::new();
        let x = builder.add_input_layer("x", info.clone()).unwrap();
        let unread = builder.add_input_layer("unread", info.clone()).unwrap();
        let c = builder
            .add_constant_layer("c", info, Bytes::from_static(&[0; 16]))
            .unwrap();
        let abs = builder.add_abs_layer(x, "abs").unwrap();
        let dead = builder.add_addition_layer(unread, c, "dead").unwrap();
        builder.add_abs_layer(dead, "deader").unwrap();
        let d = SplitDescriptor { axis: 0 };
        let parts = builder.add_split_layer(d, &[1, 3], abs, "split").unwrap();
        builder.add_output_layer("y", parts[1]).unwrap();
        let network = after(Pass::DeadLayers, builder.finish().unwrap());
        assert_eq!(names(&network), ["abs", "split"]);
        assert!(network.tensors().iter().all(|t| t.constant().is_none()));
        // Inputs stay, in their order.
        let inputs = network.inputs().iter();
        let inputs: Vec<_> = inputs.map(|&id| &network.tensor(id).name).collect();
        assert_eq!(inputs, ["x", "unread"]);
        assert_eq!(network.outputs()[0].name, "y");
    }
}
