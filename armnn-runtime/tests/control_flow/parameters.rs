//! Parameters that are inputs, and a network of one part.

use armnn_network::{Network, NetworkBuilder, ParameterRule};
use armnn_runtime::{DataType, LoadedNetwork, TensorInfo};

use super::{f32, load, plus, tensor};

/// Reshape(x, target).
fn reshaping(x: &[i64], target_len: i64) -> LoadedNetwork {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(x)).unwrap();
    let target = TensorInfo::new(DataType::Signed64, [target_len]);
    let target = builder.add_input_layer("target", target).unwrap();
    let x = builder.add_abs_layer(x, "abs").unwrap();
    let rule = ParameterRule::Reshape { allow_zero: false };
    let y = builder
        .add_deferred_layer("y", rule, &[Some(x)], &[Some(target)], &[])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    load(builder.finish().unwrap())
}

#[test]
fn an_input_of_the_model_may_be_a_parameter() {
    let loaded = reshaping(&[2, 3], 2);
    let x = tensor(&[2, 3], &[-1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let mut state = loaded.create_execution_state().unwrap();
    state.set_input(0, x.bytes()).unwrap();
    for (target, shape) in [([3i64, 2], [3, 2]), ([-1, 1], [6, 1]), ([0, -1], [2, 3])] {
        let bytes: Vec<u8> = target.iter().flat_map(|v| v.to_ne_bytes()).collect();
        state.set_input(1, &bytes).unwrap();
        state.execute().unwrap();
        assert_eq!(state.output_info(0).shape.dims(), shape);
        let found = armnn_backend_api::cast_slice::<f32>(state.output(0)).unwrap();
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }
    let bytes: Vec<u8> = [4i64, -1].iter().flat_map(|v| v.to_ne_bytes()).collect();
    state.set_input(1, &bytes).unwrap();
    let error = state.execute().unwrap_err().to_string();
    assert!(
        error.contains("layer 'y' (Reshape)") && error.contains("divides the number of elements"),
        "{error}"
    );
}

#[test]
fn a_network_of_one_part_ends_if_it_was_interrupted_before() {
    let network = Network::clone(&plus(&[1], 1.0, "sum"));
    let loaded = load(network);
    let mut state = loaded.create_execution_state().unwrap();
    let handle = state.interrupt_handle();
    handle.interrupt();
    let error = state.execute().unwrap_err().to_string();
    assert!(error.contains("interrupted"), "{error}");
    state.execute().unwrap();
    handle.interrupt();
    let x = tensor(&[1], &[1.0]);
    let mut y = [0; 4];
    let result = loaded.execute(&mut state, &[x.bytes()], &mut [&mut y]);
    assert!(result.is_err());
    loaded
        .execute(&mut state, &[x.bytes()], &mut [&mut y])
        .unwrap();
    assert_eq!(f32::from_ne_bytes(y), 2.0);
}
