//! Models that keep state, and models with several functions, through CpuRef.
//!
//! They are in the test data, which is not part of the repository.

mod test_data;

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::Network;
use armnn_runtime::{
    CreationOptions, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime,
    StaticBackend,
};
use armnn_tflite_parser::{parse, parse_signature, signatures};
use cpu_ref::CpuRef;
use test_data::{Array, corpus, numbered, numbers};

fn load(network: Network) -> LoadedNetwork {
    let options = CreationOptions::new().static_backend(StaticBackend::new::<CpuRef>());
    let runtime = Runtime::create(options).unwrap();
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .unwrap();
    runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap()
}

/// Each step's output depends on the variables that the steps before have left.
#[test]
fn a_wake_word_is_heard_where_the_other_engine_hears_it() {
    let Some(folder) = corpus("tfl_i8_wakeword_okay_nabu") else {
        return;
    };
    let loaded = load(parse(folder.join("model.tflite")).unwrap());
    let mut state = loaded.create_execution_state().unwrap();
    let input = Array::open(&numbered(&folder, "in")[0]);
    let expected = Array::open(&numbered(&folder, "out")[0]).numbers();
    let mut found = Vec::new();
    for step in 0..expected.len() {
        state.set_input(0, &input.step(step).bytes).unwrap();
        state.execute().unwrap();
        found.push(f64::from(state.output(0)[0]));
    }
    let most = found
        .iter()
        .zip(&expected)
        .fold(0.0f64, |most, (f, e)| most.max((f - e).abs()));
    println!("{} steps, at most {most} apart", found.len());
    // What the test data says of the other engine's own kernels: per step within 16, and the
    // maximum, at least 0.97 of 255, within 3 steps.
    assert!(most <= 16.0, "{found:?}");
    let largest = |values: &[f64]| {
        let mut at = 0;
        for (index, value) in values.iter().enumerate() {
            if *value > values[at] {
                at = index;
            }
        }
        at
    };
    let at = largest(&found);
    assert!(found[at] >= 0.97 * 255.0);
    assert!(at.abs_diff(largest(&expected)) <= 3);
    // From the beginning again.
    state.reset_variables();
    state.set_input(0, &input.step(0).bytes).unwrap();
    state.execute().unwrap();
    assert_eq!(f64::from(state.output(0)[0]), found[0]);
}

#[test]
fn each_signature_is_a_network_with_its_names() {
    let Some(path) = corpus("litert_testdata/multi_signatures.tflite") else {
        return;
    };
    let keys: Vec<_> = signatures(&path).unwrap();
    let mut names: Vec<&str> = keys.iter().map(|s| s.key.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["add", "sub"]);
    for signature in &keys {
        let network = parse_signature(&path, &signature.key).unwrap();
        let inputs: Vec<&str> = network
            .inputs()
            .iter()
            .map(|&id| network.tensor(id).name.as_str())
            .collect();
        for name in &signature.inputs {
            assert!(inputs.contains(&name.as_str()), "{inputs:?}");
        }
        let outputs: Vec<&str> = network.outputs().iter().map(|o| o.name.as_str()).collect();
        assert_eq!(outputs, signature.outputs);
        let shape = network.tensor(network.inputs()[0]).info.shape;
        let count = usize::try_from(shape.num_elements().unwrap_or(1)).unwrap();
        let dims: Vec<i64> = shape.dims().iter().map(|&dim| dim.abs()).collect();
        let info = TensorInfo::new(DataType::Float32, Shape::new(&dims).unwrap());
        let bytes = [3.0f32, 5.0].iter().flat_map(|v| v.to_ne_bytes());
        let input = HostTensor::from_bytes(info, &bytes.take(4 * count).collect::<Vec<_>>());
        let loaded = load(network);
        let found = loaded.run(&[input.unwrap()]).unwrap();
        println!(
            "{}: {:?}",
            signature.key,
            numbers(DataType::Float32, found[0].bytes())
        );
    }
    let error = parse_signature(&path, "mul").unwrap_err().to_string();
    assert!(
        error.contains("no signature \"mul\"; the model has"),
        "{error}"
    );
}
