//! Networks for the tests of passes.

use armnn_backend_api::TensorInfo;
use armnn_network::{Network, NetworkBuilder, TensorId};

use super::{OptimizerOptions, Pass, PassSelection};

/// A network with one input and one output.
pub(super) fn single(
    input: TensorInfo,
    layers: impl FnOnce(&mut NetworkBuilder, TensorId) -> TensorId,
) -> Network {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", input).unwrap();
    let y = layers(&mut builder, x);
    builder.add_output_layer("y", y).unwrap();
    builder.finish().unwrap()
}

/// The network after the passes, which is checked to be well formed.
pub(super) fn optimized(mut network: Network, options: &OptimizerOptions) -> Network {
    super::run(&mut network, options);
    assert_well_formed(&network);
    network
}

/// The network after one pass.
pub(super) fn after(pass: Pass, network: Network) -> Network {
    let options = OptimizerOptions {
        passes: PassSelection::Only(vec![pass]),
        ..OptimizerOptions::default()
    };
    optimized(network, &options)
}

/// The names of the layers, in order.
pub(super) fn names(network: &Network) -> Vec<&str> {
    network
        .layers()
        .iter()
        .map(|layer| layer.name.as_str())
        .collect()
}

/// Builds the network anew, with all the checks of the builder, and compares.
pub(super) fn assert_well_formed(network: &Network) {
    let mut builder = NetworkBuilder::new();
    let mut ids = vec![None; network.tensors().len()];
    for (index, tensor) in network.tensors().iter().enumerate() {
        if let Some(data) = tensor.constant() {
            let info = tensor.info.clone();
            let id = builder
                .add_constant_layer(&tensor.name, info, data.clone())
                .unwrap();
            ids[index] = Some(id);
        }
    }
    for &id in network.inputs() {
        let tensor = network.tensor(id);
        let new = builder
            .add_input_layer(&tensor.name, tensor.info.clone())
            .unwrap();
        ids[id.index()] = Some(new);
    }
    for (number, layer) in network.layers().iter().enumerate() {
        let inputs: Vec<_> = layer
            .inputs
            .iter()
            .map(|id| id.map(|id| ids[id.index()].unwrap()))
            .collect();
        let declared: Vec<_> = layer
            .outputs
            .iter()
            .map(|&id| (&network.tensor(id).info).into())
            .collect();
        let outputs = builder
            .add_layer(
                &layer.name,
                layer.descriptor().unwrap().clone(),
                &inputs,
                &declared,
            )
            .unwrap();
        assert_eq!(outputs.len(), layer.outputs.len());
        for (&old, new) in layer.outputs.iter().zip(outputs) {
            let tensor = network.tensor(old);
            assert_eq!(builder.tensor(new).unwrap().info, tensor.info);
            assert_eq!(tensor.producer().unwrap().index(), number);
            ids[old.index()] = Some(new);
        }
    }
    for output in network.outputs() {
        builder
            .add_output_layer(&output.name, ids[output.tensor.index()].unwrap())
            .unwrap();
    }
    builder.finish().unwrap();
}
