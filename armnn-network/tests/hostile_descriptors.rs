//! Whatever stands in a descriptor or a shape, the answer is a layer or an error.

mod random_layers;

use armnn_backend_api::*;
use armnn_network::{NetworkBuilder, TensorId, infer_shapes};
use random_layers::{Random, fitting};

/// Adds a layer that fits, or would but for one dimension.
fn add_fitting(
    random: &mut Random,
    builder: &mut NetworkBuilder,
    layer_type: LayerType,
) -> Option<Vec<TensorId>> {
    let (descriptor, mut inputs, outputs) = fitting(layer_type)?;
    if random.below(2) == 0 {
        let count = inputs.len();
        if let Some(Some(info)) = inputs.get_mut(random.below(count)) {
            let mut dims = info.shape.dims().to_vec();
            let rank = dims.len();
            if rank > 0 {
                dims[random.below(rank)] = random.dim();
                info.shape = Shape::new(&dims).unwrap();
            }
        }
    }
    let ids: Vec<Option<TensorId>> = inputs
        .into_iter()
        .map(|info| info.and_then(|info| builder.add_input_layer("", info).ok()))
        .collect();
    builder.add_layer("", descriptor, &ids, &outputs).ok()
}

/// Adds random layers to one network; returns it with how many layers were taken of each type.
fn random_network(random: &mut Random, taken: &mut [usize]) -> Option<armnn_network::Network> {
    let mut builder = NetworkBuilder::new();
    let mut tensors: Vec<TensorId> = Vec::new();
    for _ in 0..6 {
        let info = random.info();
        tensors.extend(builder.add_input_layer("", info));
    }
    for _ in 0..24 {
        let kind = random.below(LayerType::ALL.len());
        if random.below(3) == 0 {
            let added = add_fitting(random, &mut builder, LayerType::ALL[kind]);
            taken[kind] += usize::from(added.is_some());
            tensors.extend(added.unwrap_or_default());
            continue;
        }
        let descriptor = random.descriptor(LayerType::ALL[kind]);
        let n_inputs = match random.below(8) {
            0 => random.below(5),
            _ => LayerType::ALL[kind].spec().unwrap().input_arity().0,
        };
        let inputs: Vec<Option<TensorId>> = (0..n_inputs)
            .map(|_| match random.below(20) {
                0 => None,
                1 => Some(TensorId(random.u32())),
                _ => tensors.get(random.below(tensors.len().max(1))).copied(),
            })
            .collect();
        let n_outputs = random.pick(&[0, 1, 1, 2]);
        let declarations: Vec<_> = (0..n_outputs).map(|_| random.declaration()).collect();
        match builder.add_layer("", descriptor, &inputs, &declarations) {
            Ok(outputs) => {
                taken[kind] += 1;
                for output in outputs {
                    let mut info = builder.tensor(output).unwrap().info.clone();
                    if info.data_type.is_quantized() && info.quantization.is_none() {
                        info.quantization = random.quantization();
                        let _ = builder.expect_output_info(output, &info);
                    }
                    tensors.push(output);
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    for id in tensors {
        let _ = builder.add_output_layer("", id);
    }
    builder.finish().ok()
}

#[test]
fn nothing_panics_and_what_is_taken_is_well_formed() {
    let mut random = Random::new(0x9E37_79B9_7F4A_7C15);
    let mut taken = vec![0; LayerType::ALL.len()];
    let mut planned = 0;
    for _ in 0..3_000 {
        let Some(network) = random_network(&mut random, &mut taken) else {
            continue;
        };
        for (index, layer) in network.layers().iter().enumerate() {
            for input in layer.present_inputs() {
                let producer = network.tensor(input).producer();
                assert!(producer.is_none_or(|p| p.index() < index));
            }
        }
        let shapes: Vec<Shape> = network
            .inputs()
            .iter()
            .map(|&id| {
                let dims: Vec<i64> = network
                    .tensor(id)
                    .info
                    .shape
                    .dims()
                    .iter()
                    .map(|&d| match d {
                        Shape::UNKNOWN => random.i64().max(0),
                        known => known,
                    })
                    .collect();
                Shape::new(&dims).unwrap()
            })
            .collect();
        if let Ok(shapes) = infer_shapes(&network, &shapes) {
            planned += 1;
            for (tensor, shape) in network.tensors().iter().zip(shapes) {
                let finds_out = |id| {
                    let layer_type: LayerType = network.layer(id).layer_type();
                    layer_type.output_shape_depends_on_data() || layer_type == LayerType::StandIn
                };
                if tensor.producer().is_some_and(finds_out) && !shape.is_known() {
                    continue;
                }
                assert!(shape.is_known());
                assert!(tensor.info.shape.accepts(&shape), "{} {shape}", tensor.info);
                assert!(
                    TensorInfo {
                        shape,
                        ..tensor.info.clone()
                    }
                    .byte_len()
                    .is_some()
                );
            }
        }
    }
    // The test means something only if not everything was refused.
    for (layer_type, count) in LayerType::ALL.iter().zip(&taken) {
        assert!(*count > 0, "no {layer_type} was ever taken");
    }
    assert!(planned > 0);
}
