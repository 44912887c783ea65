//! Operators of com.microsoft, through CpuRef, with what ONNX Runtime 1.32 computes: a model of one
//! operator for each case, made by `microsoft/make_cases.py`.

mod test_data;

use std::collections::HashMap;
use std::path::Path;

use armnn_backend_api::DataType;
use armnn_onnx_parser::model::Tensor;
use armnn_onnx_parser::parse;
use armnn_onnx_parser::proto::GraphProto;
use armnn_runtime::{HostTensor, Shape, TensorInfo};
use prost::Message as _;

/// Inputs and outputs of a case by their names.
type Tensors = HashMap<String, HostTensor>;

#[test]
fn every_case_has_the_values_of_onnx_runtime() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/microsoft");
    let mut models: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "onnx")
        })
        .collect();
    models.sort();
    assert!(models.len() > 90, "{} cases", models.len());
    let problems: Vec<String> = models.iter().filter_map(|model| problem(model)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What is wrong with a case; none if nothing is.
fn problem(model: &Path) -> Option<String> {
    let name = model.file_stem().unwrap().to_string_lossy().into_owned();
    let network = match parse(model) {
        Ok(network) => network,
        Err(error) => return Some(format!("{name}: {error}")),
    };
    let mut expected = tensors(&model.with_extension("pb"));
    let inputs: Vec<HostTensor> = network
        .inputs()
        .iter()
        .map(|&id| expected.remove(&network.tensor(id).name).unwrap())
        .collect();
    let outputs: Vec<String> = network.outputs().iter().map(|o| o.name.clone()).collect();
    let found = match test_data::run(network, &inputs) {
        Ok(found) => found,
        Err(error) => return Some(format!("{name}: {error}")),
    };
    let mut pairs = outputs.iter().zip(&found);
    pairs.find_map(|(output, found)| {
        let problem = difference(found, &expected[output])?;
        Some(format!("{name}, {output}: {problem}"))
    })
}

fn tensors(path: &Path) -> Tensors {
    let graph = GraphProto::decode(&std::fs::read(path).unwrap()[..]).unwrap();
    let tensor = |proto: armnn_onnx_parser::proto::TensorProto| {
        let bytes = proto.encode_to_vec().into();
        let (_, tensor) = Tensor::from_bytes(bytes, "a tensor").unwrap();
        let data_type = tensor.element_type.data_type().unwrap();
        let info = TensorInfo::new(data_type, Shape::new(&tensor.dims).unwrap());
        let tensor = HostTensor::from_bytes(info, &tensor.data.unwrap()).unwrap();
        (proto.name, tensor)
    };
    graph.initializer.into_iter().map(tensor).collect()
}

/// Real numbers may differ by 1e-4 of the largest: kernels add up in different orders. Bytes may
/// differ by 1, where a number lies halfway between two but for that; other integers may not.
fn difference(found: &HostTensor, expected: &HostTensor) -> Option<String> {
    let (of, wanted) = (found.info(), expected.info());
    if of.shape != wanted.shape {
        return Some(format!("{} for {}", of.shape, wanted.shape));
    }
    let tolerance = match wanted.data_type {
        DataType::Float32 => {
            let largest = reals(expected)
                .into_iter()
                .fold(0.0f64, |m, x| m.max(x.abs()));
            1e-4 * largest + 1e-6
        }
        DataType::UInt8 | DataType::Int8 => 1.0,
        _ => 0.0,
    };
    let pairs = reals(found).into_iter().zip(reals(expected)).enumerate();
    pairs
        .filter(|(_, (found, expected))| (found - expected).abs() > tolerance)
        .map(|(index, (found, expected))| format!("at {index}: {found} for {expected}"))
        .next()
}

fn reals(tensor: &HostTensor) -> Vec<f64> {
    let bytes = tensor.bytes();
    match tensor.info().data_type {
        DataType::Float32 => elements(bytes, |b| f32::from_le_bytes(b).into()),
        DataType::Signed32 => elements(bytes, |b| i32::from_le_bytes(b).into()),
        DataType::Signed64 => elements(bytes, |b| i64::from_le_bytes(b) as f64),
        DataType::UInt8 | DataType::QAsymmU8 => elements(bytes, |[b]| b.into()),
        DataType::Int8 | DataType::QAsymmS8 => elements(bytes, |b| i8::from_le_bytes(b).into()),
        other => panic!("{other}"),
    }
}

fn elements<const N: usize>(bytes: &[u8], read: fn([u8; N]) -> f64) -> Vec<f64> {
    let chunks = bytes.chunks_exact(N);
    chunks
        .map(|chunk| read(chunk.try_into().unwrap()))
        .collect()
}
