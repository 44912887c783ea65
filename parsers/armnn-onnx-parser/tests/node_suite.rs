//! ONNX's own test cases for operators, through CpuRef: a model, inputs and outputs for each.
//!
//! They are not part of the repository. `ARMNN_ONNX_NODE_TESTS` names a folder of them, with
//! `NAME/model.onnx` and `NAME/test_data_set_0/input_0.pb`; the `onnx` package on PyPI has them.
//! No value may be wrong; what is refused is counted.

mod test_data;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use armnn_backend_api::DataType;
use armnn_network::Network;
use armnn_onnx_parser::model::Tensor;
use armnn_onnx_parser::proto::{ModelProto, TensorProto, TypeValue};
use armnn_onnx_parser::{OnnxParserError, parse, parse_bytes};
use armnn_runtime::{HostTensor, Shape, TensorInfo};
use prost::Message as _;

#[test]
fn no_test_case_gives_wrong_values() {
    let Some(folder) = std::env::var_os("ARMNN_ONNX_NODE_TESTS") else {
        skipped_tests::skip("ARMNN_ONNX_NODE_TESTS names no folder of ONNX's test cases");
        return;
    };
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("model.onnx").is_file())
        .collect();
    cases.sort();
    let mut outcomes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in &cases {
        let name = case.file_name().unwrap().to_string_lossy();
        let (mut outcome, mut detail) = run(case, false);
        if outcome == "refused by the parser" {
            // Most cases give axes, sizes and scales as inputs of the model.
            let again = run(case, true);
            if again.0 != outcome {
                (outcome, detail) = again;
            }
        }
        if outcome != "passed" && std::env::var_os("ARMNN_VERBOSE").is_some() {
            println!("{outcome}: {name}: {detail}");
        }
        outcomes
            .entry(outcome)
            .or_default()
            .push(format!("{name}: {detail}"));
    }
    for (outcome, cases) in &outcomes {
        println!("{outcome}: {}", cases.len());
    }
    for outcome in ["wrong", "called damaged"] {
        assert_eq!(outcomes.get(outcome), None);
    }
}

/// Runs a case; with all inputs but the first as constants, if so asked.
fn run(case: &Path, with_constants: bool) -> (&'static str, String) {
    let data = case.join("test_data_set_0");
    let parsed = match with_constants {
        true => parse_bytes(with_initializers(case, &data), "with constants"),
        false => parse(case.join("model.onnx")),
    };
    let network = match parsed {
        Ok(network) => network,
        Err(
            error @ (OnnxParserError::Unsupported { .. } | OnnxParserError::OpsetVersion { .. }),
        ) => {
            return ("refused by the parser", error.to_string());
        }
        Err(error @ OnnxParserError::Network { .. }) => {
            return ("without outputs", error.to_string());
        }
        Err(error) => return ("called damaged", error.to_string()),
    };
    let mut tensors = Vec::new();
    let infos: Vec<TensorInfo> = inputs(&network);
    for (index, info) in infos.into_iter().enumerate() {
        let Some(tensor) = read(&data.join(format!("input_{index}.pb"))) else {
            return ("not of tensors", format!("input {index}"));
        };
        let info = TensorInfo {
            shape: Shape::new(&tensor.dims).unwrap(),
            ..info
        };
        tensors.push(HostTensor::from_bytes(info, &tensor.data.unwrap()).unwrap());
    }
    let outputs = match test_data::run(network, &tensors) {
        Ok(outputs) => outputs,
        Err(error) => return ("refused by the backend", error),
    };
    for (index, output) in outputs.iter().enumerate() {
        let Some(expected) = read(&data.join(format!("output_{index}.pb"))) else {
            return ("not of tensors", format!("output {index}"));
        };
        if output.info().shape.dims() != expected.dims {
            let problem = format!("{} for {:?}", output.info().shape, expected.dims);
            return ("wrong", problem);
        }
        if let Some(problem) = difference(output, &expected) {
            return ("wrong", problem);
        }
    }
    ("passed", String::new())
}

/// The model, with the values of all inputs but the first as initialisers.
fn with_initializers(case: &Path, data: &Path) -> bytes::Bytes {
    let bytes = std::fs::read(case.join("model.onnx")).unwrap();
    let mut model = ModelProto::decode(&bytes[..]).unwrap();
    let graph = model.graph.as_mut().unwrap();
    for (index, input) in graph.input.iter().enumerate().skip(1) {
        let value = input
            .r#type
            .as_ref()
            .and_then(|r#type| r#type.value.as_ref());
        if !matches!(value, Some(TypeValue::Tensor(_))) {
            continue;
        }
        let bytes = std::fs::read(data.join(format!("input_{index}.pb"))).unwrap();
        if let Ok(tensor) = TensorProto::decode(&bytes[..]) {
            graph.initializer.push(TensorProto {
                name: input.name.clone(),
                ..tensor
            });
        }
    }
    model.encode_to_vec().into()
}

fn inputs(network: &Network) -> Vec<TensorInfo> {
    let inputs = network.inputs().iter();
    inputs.map(|&id| network.tensor(id).info.clone()).collect()
}

fn read(path: &Path) -> Option<Tensor> {
    let bytes = std::fs::read(path).unwrap();
    let (_, tensor) = Tensor::from_bytes(bytes.into(), &path.display().to_string()).ok()?;
    tensor.element_type.data_type()?;
    Some(tensor)
}

/// As ONNX's own runner: 1e-3 of the value and 1e-7.
fn difference(found: &HostTensor, expected: &Tensor) -> Option<String> {
    let expected_bytes = expected.data.as_ref().unwrap();
    let close = |found: f64, expected: f64| {
        found == expected
            || found.is_nan() && expected.is_nan()
            || (found - expected).abs() <= 1e-3 * expected.abs() + 1e-7
    };
    let found_values = reals(found.info().data_type, found.bytes());
    let expected_values = reals(expected.element_type.data_type().unwrap(), expected_bytes);
    let (Some(found), Some(expected)) = (found_values, expected_values) else {
        return (found.bytes() != &expected_bytes[..]).then(|| "other bytes".to_owned());
    };
    let pairs = found.iter().zip(&expected).enumerate();
    pairs
        .filter(|(_, (found, expected))| !close(**found, **expected))
        .map(|(index, (found, expected))| format!("at {index}: {found} for {expected}"))
        .next()
}

fn reals(data_type: DataType, bytes: &[u8]) -> Option<Vec<f64>> {
    fn all<const N: usize>(bytes: &[u8], read: fn([u8; N]) -> f64) -> Vec<f64> {
        bytes
            .chunks_exact(N)
            .map(|chunk| read(chunk.try_into().unwrap()))
            .collect()
    }
    Some(match data_type {
        DataType::Float32 => all(bytes, |b| f32::from_le_bytes(b).into()),
        DataType::Float64 => all(bytes, f64::from_le_bytes),
        DataType::Float16 => all(bytes, |b| half::f16::from_le_bytes(b).into()),
        _ => return None,
    })
}
