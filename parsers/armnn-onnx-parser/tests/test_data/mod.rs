//! Test data that is not part of the repository, and running networks on it.
#![allow(dead_code, reason = "each test uses a part")]

pub mod values;

use std::path::{Path, PathBuf};

use armnn_backend_api::DataType;
use armnn_network::Network;
use armnn_runtime::{
    CreationOptions, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime, Shape,
    StaticBackend, TensorInfo, Value,
};
use cpu_ref::CpuRef;

/// A folder below `corpus` in `ARMNN_TEST_DATA`, or in the folder `shared` beside the repository.
pub fn corpus(name: &str) -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("ARMNN_TEST_DATA")
        .map_or_else(|| repository.join("../shared"), PathBuf::from)
        .join("corpus")
        .join(name);
    if folder.exists() {
        return Some(folder);
    }
    let folder = folder.display();
    skipped_tests::skip(format!(
        "no {folder}; ARMNN_TEST_DATA names the folder that has \"corpus\" in it"
    ));
    None
}

/// Shape and elements of a `.npy` file of Float32.
pub fn npy(path: &Path) -> (Shape, Vec<f32>) {
    let bytes = std::fs::read(path).unwrap();
    let file = npyz::NpyFile::new(&bytes[..]).unwrap();
    let dims: Vec<i64> = file
        .shape()
        .iter()
        .map(|&dim| i64::try_from(dim).unwrap())
        .collect();
    (Shape::new(&dims).unwrap(), file.into_vec().unwrap())
}

/// A `.npy` file of numbers as a tensor of the type that it has.
pub fn npy_tensor(path: &Path) -> HostTensor {
    let bytes = std::fs::read(path).unwrap();
    let file = npyz::NpyFile::new(&bytes[..]).unwrap();
    let dims: Vec<i64> = file
        .shape()
        .iter()
        .map(|&dim| i64::try_from(dim).unwrap())
        .collect();
    let (data_type, bytes): (DataType, Vec<u8>) = match file.dtype().descr().as_str() {
        "'<f4'" => (DataType::Float32, elements(file, f32::to_ne_bytes)),
        "'<i4'" => (DataType::Signed32, elements(file, i32::to_ne_bytes)),
        "'<i8'" => (DataType::Signed64, elements(file, i64::to_ne_bytes)),
        other => panic!("{}: elements of type {other}", path.display()),
    };
    let info = TensorInfo::new(data_type, Shape::new(&dims).unwrap());
    HostTensor::from_bytes(info, &bytes).unwrap()
}

fn elements<T: npyz::Deserialize, const N: usize>(
    file: npyz::NpyFile<&[u8]>,
    bytes: fn(T) -> [u8; N],
) -> Vec<u8> {
    let values = file.into_vec::<T>().unwrap();
    values.into_iter().flat_map(bytes).collect()
}

/// The outputs of a network on the reference backend.
pub fn run(network: Network, inputs: &[HostTensor]) -> Result<Vec<HostTensor>, String> {
    let loaded = load(network)?;
    loaded.run(inputs).map_err(|error| error.to_string())
}

/// The same, of any values.
pub fn run_values(network: Network, inputs: Vec<Value>) -> Result<Vec<Value>, String> {
    let loaded = load(network)?;
    loaded.run_values(inputs).map_err(|error| error.to_string())
}

pub fn load(network: Network) -> Result<LoadedNetwork, String> {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<CpuRef>())
        .number_of_threads(1);
    let runtime = Runtime::create(options).map_err(|error| error.to_string())?;
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .map_err(|error| error.to_string())?;
    let loaded = runtime.load_network(optimized, LoadOptions::default());
    loaded.map_err(|error| error.to_string())
}
