//! ONNX's own test cases for operators, through CpuRef: a model, inputs and outputs for each.
//!
//! They are not part of the repository. `ARMNN_ONNX_NODE_TESTS` names a folder of them, with
//! `NAME/model.onnx` and `NAME/test_data_set_0/input_0.pb`; the `onnx` package on PyPI has them.
//! `ARMNN_ONNX_NODE_TEST` chooses those whose names have it in them. No value may be wrong; what is
//! refused is counted.

mod test_data;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use armnn_network::ValueType;
use armnn_onnx_parser::proto::{ModelProto, TensorProto, TypeValue};
use armnn_onnx_parser::{OnnxParserError, parse, parse_bytes};
use armnn_runtime::Value;
use prost::Message as _;
use test_data::values::{difference, kind_difference, read_value};

/// Cases whose recordings are further from the true values than the comparison allows, and with what
/// is right. They are counted apart, and every other difference is a failure.
///
/// - `dft_inverse`: the recorded transform of one in Float32 has 1.9e-7 where the sum is 0.
/// - `attention_4d_causal_fp16`: 0.46919 is recorded as 0.46948, 1.04e-3 from our 0.46899, which is as
///   near to it.
const NOISE: [&str; 4] = [
    "test_dft_inverse",
    "test_dft_inverse_opset19",
    "test_attention_4d_causal_fp16",
    "test_attention_4d_causal_fp16_expanded",
];

#[test]
fn no_test_case_gives_wrong_values() {
    let Some(folder) = std::env::var_os("ARMNN_ONNX_NODE_TESTS") else {
        skipped_tests::skip("ARMNN_ONNX_NODE_TESTS names no folder of ONNX's test cases");
        return;
    };
    let wanted = std::env::var("ARMNN_ONNX_NODE_TEST").unwrap_or_default();
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("model.onnx").is_file())
        .filter(|path| path.to_string_lossy().contains(&wanted))
        .collect();
    cases.sort();
    let mut outcomes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in &cases {
        let name = case.file_name().unwrap().to_string_lossy();
        let caught = std::panic::catch_unwind(|| outcome(case));
        let (outcome, detail) = match caught.unwrap_or(("panicked", String::new())) {
            ("wrong", detail) if NOISE.contains(&&*name) => ("differing by noise", detail),
            other => other,
        };
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
    for outcome in ["wrong", "called damaged", "panicked"] {
        assert_eq!(outcomes.get(outcome), None);
    }
}

type Outcome = (&'static str, String);

fn outcome(case: &Path) -> Outcome {
    let first = run(case, false);
    if first.0 != "refused by the parser" {
        return first;
    }
    // Many cases give as inputs of the model what is constant in real ones.
    match run(case, true) {
        (outcome, _) if outcome == first.0 => first,
        ("passed", _) => ("passed with constants", first.1),
        second => second,
    }
}

/// Runs a case; with all inputs but the first as constants, if so asked.
fn run(case: &Path, with_constants: bool) -> Outcome {
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
    let mut values: Vec<Value> = Vec::new();
    for (index, &id) in network.inputs().iter().enumerate() {
        let tensor = network.tensor(id);
        let plain = || ValueType::Tensor(tensor.info.clone());
        let of = tensor.value_type.clone().unwrap_or_else(plain);
        match read_value(&data.join(format!("input_{index}.pb")), &of) {
            Some(value) => values.push(value),
            None => return ("not read", format!("input {index} ({of})")),
        }
    }
    let outputs = match test_data::run_values(network, values) {
        Ok(outputs) => outputs,
        Err(error) => return ("refused by the backend", error),
    };
    let is_random = case.to_string_lossy().contains("test_bernoulli");
    for (index, output) in outputs.iter().enumerate() {
        let bytes = std::fs::read(data.join(format!("output_{index}.pb"))).unwrap();
        let problem = match is_random {
            // Numbers of a generator that the case does not say.
            true => kind_difference(output, &bytes),
            false => difference(output, &bytes),
        };
        if let Some(problem) = problem {
            return ("wrong", format!("output {index}: {problem}"));
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
