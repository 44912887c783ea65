//! Loading a model takes the memory of its file once, wherever in the file its constants lie.
#![cfg(target_os = "linux")]

use std::{fs, path::Path, process::Command};

use armnn_backend_api::DataType;
use armnn_network::Network;
use armnn_onnx_parser::proto::{
    Dimension, DimensionValue, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, TypeValue,
    ValueInfoProto,
};
use armnn_runtime::{
    CreationOptions, HostTensor, LoadOptions, OptimizerOptions, Runtime, StaticBackend,
};
use cpu_ref::CpuRef;
use prost::Message as _;

/// Names the model to a process that loads it and tells its memory.
const MODEL: &str = "ARMNN_TEST_MEMORY_OF_MODEL";

/// Numbers of types.
const FLOAT: i32 = 1;
const INT32: i32 = 6;

const CONSTANTS: usize = 32;
/// Of each constant: 2 MiB.
const ELEMENTS: usize = 1 << 19;
/// Of all constants.
const MIB: f64 = (CONSTANTS * ELEMENTS * 4) as f64 / 1024.0 / 1024.0;

/// Tensors of activations, and those of the caller: six of 2 MiB, and some more.
const ACTIVATIONS_MIB: f64 = 20.0;

/// Pages around those that are read: the kernel maps 2 MiB at once where its cache has them in one piece,
/// and a constant begins and ends somewhere in them.
const AROUND_MIB: f64 = 12.0;

#[test]
fn a_model_in_memory_is_not_twice_there() {
    if let Some(model) = std::env::var_os(MODEL) {
        return load(Path::new(&model));
    }
    let directory = tempfile::tempdir().unwrap();
    let model = |name: &str| directory.path().join(name);

    // Each odd name moves what follows by a byte.
    let name = |i: usize, tensor: &mut TensorProto| tensor.name.push_str(&"x".repeat(i % 4));
    let bytes = model_with(FLOAT, ELEMENTS, |i, tensor| {
        name(i, tensor);
        tensor.raw_data = Some(elements(i, ELEMENTS).into());
    });
    fs::write(model("raw.onnx"), bytes).unwrap();
    let raw = measured(&model("raw.onnx"));
    assert!(raw.peak < MIB + ACTIVATIONS_MIB + AROUND_MIB, "{raw:?}");

    let bytes = model_with(FLOAT, ELEMENTS, |i, tensor| {
        name(i, tensor);
        tensor.float_data = vec![i as f32; ELEMENTS].into();
    });
    fs::write(model("float_data.onnx"), bytes).unwrap();
    let numbers = measured(&model("float_data.onnx"));
    assert!(
        numbers.peak < MIB + ACTIVATIONS_MIB + AROUND_MIB,
        "{numbers:?}"
    );

    // Numbers below 0 take ten bytes each: the file is larger than what is in memory.
    let bytes = model_with(INT32, ELEMENTS, |i, tensor| {
        name(i, tensor);
        tensor.int32_data = vec![-(i as i32); ELEMENTS].into();
    });
    fs::write(model("int32_data.onnx"), bytes).unwrap();
    let numbers = measured(&model("int32_data.onnx"));
    assert!(
        numbers.peak < MIB + ACTIVATIONS_MIB + AROUND_MIB,
        "{numbers:?}"
    );

    let entry = |key: &str, value: String| StringStringEntryProto {
        key: key.to_owned(),
        value,
    };
    let bytes = model_with(FLOAT, ELEMENTS, |i, tensor| {
        tensor.data_location = 1;
        tensor.external_data = vec![
            entry("location", "weights".to_owned()),
            entry("offset", (i * ELEMENTS * 4).to_string()),
        ];
    });
    fs::write(model("external.onnx"), bytes).unwrap();
    let weights: Vec<u8> = (0..CONSTANTS).flat_map(|i| elements(i, ELEMENTS)).collect();
    fs::write(model("weights"), weights).unwrap();
    let external = measured(&model("external.onnx"));
    assert!(
        external.peak < MIB + ACTIVATIONS_MIB + AROUND_MIB,
        "{external:?}"
    );
    // What is aligned is not copied.
    assert!(external.anonymous < ACTIVATIONS_MIB, "{external:?}");
}

/// Elements of a constant: its number, everywhere.
fn elements(i: usize, count: usize) -> Vec<u8> {
    (i as f32).to_le_bytes().repeat(count)
}

/// The sum of an input and all constants of so many elements, whose data `fill` gives.
fn model_with(of: i32, count: usize, fill: impl Fn(usize, &mut TensorProto)) -> Vec<u8> {
    let value = |name: &str| ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            value: Some(TypeValue::Tensor(TensorTypeProto {
                elem_type: of,
                shape: Some(TensorShapeProto {
                    dim: vec![Dimension {
                        value: Some(DimensionValue::Value(count as i64)),
                    }],
                }),
            })),
        }),
    };
    let constants: Vec<TensorProto> = (0..CONSTANTS)
        .map(|i| {
            let mut tensor = TensorProto {
                name: format!("c{i}"),
                dims: vec![count as i64],
                data_type: of,
                ..TensorProto::default()
            };
            fill(i, &mut tensor);
            tensor
        })
        .collect();
    let nodes = constants.iter().enumerate().map(|(i, constant)| NodeProto {
        op_type: "Add".to_owned(),
        input: vec![format!("y{i}"), constant.name.clone()],
        output: vec![format!("y{}", i + 1)],
        ..NodeProto::default()
    });
    let graph = GraphProto {
        node: nodes.collect(),
        input: vec![value("y0")],
        output: vec![value(&format!("y{CONSTANTS}"))],
        initializer: constants,
        ..GraphProto::default()
    };
    let model = ModelProto {
        ir_version: Some(8),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: 17,
        }],
        ..ModelProto::default()
    };
    model.encode_to_vec()
}

/// MiB of a process.
#[derive(Debug)]
struct Memory {
    /// At most, with pages of files, above what the process had before.
    peak: f64,
    /// At the end, without pages of files.
    anonymous: f64,
}

/// The memory of a process that loads a model and executes it.
fn measured(model: &Path) -> Memory {
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            "a_model_in_memory_is_not_twice_there",
        ])
        .env(MODEL, model)
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
    let told = String::from_utf8(child.stdout).unwrap();
    let (before, after) = told.split_at(told.rfind("Name:").unwrap());
    let number = |told: &str, key: &str| -> f64 {
        let at = told.find(key).unwrap() + key.len();
        told[at..]
            .split_whitespace()
            .next()
            .unwrap()
            .parse()
            .unwrap()
    };
    Memory {
        peak: (number(after, "VmHWM:") - number(before, "VmRSS:")) / 1024.0,
        anonymous: number(after, "RssAnon:") / 1024.0,
    }
}

fn load(model: &Path) {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<CpuRef>())
        .number_of_threads(1);
    let runtime = Runtime::create(options).unwrap();
    // A small one first, so that the code is in memory; what there is then comes first.
    let small = model_with(FLOAT, 1, |i, tensor| {
        tensor.raw_data = Some(elements(i, 1).into())
    });
    execute(
        &runtime,
        armnn_onnx_parser::parse_bytes(small.into(), "small").unwrap(),
        1,
    );
    println!("{}", fs::read_to_string("/proc/self/status").unwrap());
    let network = armnn_onnx_parser::parse(model).unwrap();
    execute(&runtime, network, ELEMENTS);
}

fn execute(runtime: &Runtime, network: Network, count: usize) {
    let info = network.tensor(network.inputs()[0]).info.clone();
    let shape = info.shape;
    let optimized = runtime.optimize(network, &OptimizerOptions::default());
    let loaded = runtime.load_network(optimized.unwrap(), LoadOptions::default());
    let loaded = loaded.unwrap();
    if info.data_type == DataType::Signed32 {
        let input = HostTensor::from_bytes(info, &4i32.to_le_bytes().repeat(count)).unwrap();
        let outputs = loaded.run(&[input]).unwrap();
        let sums = outputs[0].elements::<i32>().unwrap();
        assert!(sums.iter().all(|&sum| sum == 4 - 496));
    } else {
        let input = HostTensor::from_f32(shape, &vec![0.5; count]).unwrap();
        let outputs = loaded.run(&[input]).unwrap();
        // 0 + 1 + … + 31, and the half of the input.
        let sums = outputs[0].elements::<f32>().unwrap();
        assert!(sums.iter().all(|&sum| sum == 496.5));
    }
    if count == ELEMENTS {
        println!("{}", fs::read_to_string("/proc/self/status").unwrap());
    }
}
