//! Models of a folder of test data, which is not part of the repository, through CpuRef.

mod test_data;

use armnn_onnx_parser::{OnnxParserError, parse};
use armnn_runtime::{HostTensor, Shape, TensorInfo};
use test_data::{corpus, load, npy, npy_tensor, run};

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
    agrees("onnx_f32_squeezenet_seeded", &Comparison::default());
}

/// The same network as mnist-8, with 8-bit weights and activations between QuantizeLinear and
/// DequantizeLinear.
#[test]
fn quantized_mnist_8_agrees_with_another_engine() {
    agrees("onnx_i8_mnist8_qdq", &Comparison::default());
}

/// Convolutions over one dimension and arithmetic with shapes: what a file contains.
#[test]
fn magika_agrees_with_another_engine() {
    agrees("onnx_f32_magika", &Comparison::default());
}

/// Two GRUs, with a batch and a number of frames that are not fixed.
#[test]
fn nsnet_2_agrees_with_another_engine() {
    agrees("onnx_f32_nsnet2", &Comparison::default());
}

/// A detector of text on images of any size.
#[test]
fn the_text_detector_agrees_with_another_engine() {
    let sampled = Comparison {
        every: 5,
        ..Comparison::default()
    };
    agrees("onnx_f32_ppocrv4_det", &sampled);
}

/// Notes in music; its numbers differ more between the kernels of the other engine, too.
#[test]
fn basic_pitch_agrees_with_another_engine() {
    let absolute = Comparison {
        absolute: 2e-3,
        relative: 0.0,
        ..Comparison::default()
    };
    agrees("onnx_f32_basic_pitch", &absolute);
}

/// A transformer whose 8-bit weights become numbers by Cast and Mul.
#[test]
fn mini_lm_agrees_with_another_engine() {
    agrees("onnx_i8w_minilm_l6", &Comparison::default());
}

/// Voices in sound, in 40 steps whose state is fed back: bodies in bodies, and an LSTM.
#[test]
fn silero_vad_agrees_with_another_engine_in_every_step() {
    let Some(folder) = corpus("onnx_f32_silero_vad") else {
        return;
    };
    let loaded = load(parse(folder.join("model.onnx")).unwrap()).unwrap();
    let [sound, rate] = ["in0_input.npy", "in2_sr.npy"].map(|name| npy_tensor(&folder.join(name)));
    let [outputs, states] =
        ["out0_output.npy", "out1_stateN.npy"].map(|name| npy_tensor(&folder.join(name)));
    let mut state = step_of(&npy_tensor(&folder.join("in1_state.npy")), 0);
    let steps = sound.info().shape.dim(0);
    for step in 0..steps {
        let inputs = [step_of(&sound, step), state, step_of(&rate, step)];
        let mut found = loaded.run(&inputs).unwrap();
        let comparison = Comparison::default();
        for (found, expected) in found.iter().zip([&outputs, &states]) {
            comparison.check(found, &step_of(expected, step), &format!("step {step}"));
        }
        state = found.remove(1);
    }
}

/// One of several tensors that are stacked in a file.
fn step_of(all: &HostTensor, step: usize) -> HostTensor {
    let info = all.info();
    let (&steps, dims) = info.shape.dims().split_first().unwrap();
    let size = all.bytes().len() / usize::try_from(steps).unwrap();
    let shape = Shape::new(dims).unwrap();
    let info = TensorInfo::new(info.data_type, shape);
    HostTensor::from_bytes(info, &all.bytes()[step * size..][..size]).unwrap()
}

/// How outputs are compared. The tolerance is that of the test data.
struct Comparison {
    /// Of the largest output.
    relative: f32,
    absolute: f32,
    /// The golden output has one of so many elements.
    every: usize,
}

impl Default for Comparison {
    fn default() -> Self {
        Self {
            relative: 1e-3,
            absolute: 1e-5,
            every: 1,
        }
    }
}

impl Comparison {
    fn check(&self, found: &HostTensor, expected: &HostTensor, what: &str) {
        let found = found.elements::<f32>().unwrap();
        let expected = expected.elements::<f32>().unwrap();
        assert_eq!(found.len().div_ceil(self.every), expected.len(), "{what}");
        let largest = expected.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        let tolerance = self.relative * largest + self.absolute;
        let found = found.iter().step_by(self.every);
        for (index, (found, expected)) in found.zip(expected).enumerate() {
            assert!(
                (found - expected).abs() <= tolerance,
                "{what}, {index}: {found}, not {expected}"
            );
        }
    }
}

/// Compares with golden outputs of ONNX Runtime.
fn agrees(model: &str, comparison: &Comparison) {
    let Some(folder) = corpus(model) else {
        return;
    };
    let network = parse(folder.join("model.onnx")).unwrap();
    let files = |prefix: &str| {
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                path.file_name()
                    .unwrap()
                    .to_string_lossy()
                    .starts_with(prefix)
            })
            .collect();
        files.sort();
        files
    };
    let inputs: Vec<HostTensor> = files("in").iter().map(|path| npy_tensor(path)).collect();
    let outputs = run(network, &inputs).unwrap();
    let expected = files("out");
    assert_eq!(outputs.len(), expected.len());
    for (found, path) in outputs.iter().zip(expected) {
        comparison.check(found, &npy_tensor(&path), &path.display().to_string());
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
