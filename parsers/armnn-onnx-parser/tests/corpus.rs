//! Models of a folder of test data, which is not part of the repository, through CpuRef.

mod test_data;

use armnn_onnx_parser::{OnnxParserError, parse};
use armnn_runtime::HostTensor;
use test_data::{corpus, npy, run};

/// CNTK's MNIST network, opset 8, whose initialisers are inputs too. The golden output is ONNX
/// Runtime's: class 2 with a logit of 6574.565; the model's own, from CNTK, is 6574.568.
#[test]
fn mnist_8_sees_a_two() {
    let Some(folder) = corpus("onnx_f32_mnist8") else {
        return;
    };
    let network = parse(folder.join("model.onnx")).unwrap();
    let inputs: Vec<&str> = network
        .inputs()
        .iter()
        .map(|&id| network.tensor(id).name.as_str())
        .collect();
    assert_eq!(inputs, ["Input3"]);
    let (shape, image) = npy(&folder.join("in0_Input3.npy"));
    let image = HostTensor::from_f32(shape, &image).unwrap();
    let outputs = run(network, &[image]).unwrap();
    let logits = outputs[0].elements::<f32>().unwrap();
    let (class, logit) = logits
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1))
        .unwrap();
    assert_eq!(class, 2);
    assert!((logit - 6574.568).abs() <= 0.01, "{logit}");
}

/// SqueezeNet with weights without meaning: numbers only.
#[test]
fn squeezenet_agrees_with_another_engine() {
    agrees(
        "onnx_f32_squeezenet_seeded",
        "in0_data_0.npy",
        "out0_softmaxout_1.npy",
    );
}

/// The same network as mnist-8, with 8-bit weights and activations between QuantizeLinear and
/// DequantizeLinear.
#[test]
fn quantized_mnist_8_agrees_with_another_engine() {
    agrees(
        "onnx_i8_mnist8_qdq",
        "in0_Input3.npy",
        "out0_Plus214_Output_0.npy",
    );
}

/// Compares with a golden output of ONNX Runtime. The tolerance is that of the test data: 0.001 of
/// the largest output and 1e-5.
fn agrees(model: &str, input: &str, output: &str) {
    let Some(folder) = corpus(model) else {
        return;
    };
    let network = parse(folder.join("model.onnx")).unwrap();
    let (shape, image) = npy(&folder.join(input));
    let image = HostTensor::from_f32(shape, &image).unwrap();
    let outputs = run(network, &[image]).unwrap();
    let found = outputs[0].elements::<f32>().unwrap();
    let (_, expected) = npy(&folder.join(output));
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0f32, |m, x| m.max(x.abs()));
    let tolerance = 1e-3 * largest + 1e-5;
    for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!(
            (found - expected).abs() <= tolerance,
            "{index}: {found}, not {expected}"
        );
    }
}

/// Models as exporters write them are sound: if one is no network, it uses something that is not
/// supported.
#[test]
fn every_model_is_a_network_or_says_what_it_would_need() {
    let Some(folder) = corpus(".") else {
        return;
    };
    let mut models = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().join("model.onnx");
        if !path.is_file() {
            continue;
        }
        models += 1;
        match parse(&path) {
            Ok(network) => println!("{}: {} layers", path.display(), network.layers().len()),
            Err(error @ OnnxParserError::Unsupported { .. }) => println!("{error}"),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(models > 0);
}
