//! Test data that is not part of the repository, and models of it on the reference backend.
#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use armnn_backend_api::DataType;
use armnn_network::Network;
use armnn_runtime::{
    CreationOptions, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime, Shape,
    StaticBackend, TensorInfo,
};
use armnn_tflite_parser::{TfliteParserError, parse};
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
    println!(
        "skipped: no {}; ARMNN_TEST_DATA names the folder that has \"corpus\" in it",
        folder.display()
    );
    None
}

/// The JSON beside a model that says where it is from and how its outputs are compared.
pub fn meta(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join("meta.json")).unwrap()).unwrap()
}

/// An array as NumPy stores it, in C order.
pub struct Array {
    pub dims: Vec<i64>,
    /// NumPy's letter and size of an element, such as `f4`.
    pub element: String,
    pub bytes: Vec<u8>,
}

impl Array {
    /// Reads a `.npy` file.
    pub fn open(path: &Path) -> Self {
        Self::read(&std::fs::read(path).unwrap())
    }

    fn read(mut file: &[u8]) -> Self {
        let header = npyz::NpyHeader::from_reader(&mut file).unwrap();
        let dims = header.shape().iter();
        let dims = dims.map(|&dim| i64::try_from(dim).unwrap()).collect();
        assert_eq!(header.order(), npyz::Order::C);
        let description = header.dtype().descr();
        let element = description.trim_matches(['\'', '<', '|', '>']).to_owned();
        Self {
            dims,
            element,
            bytes: file.to_vec(),
        }
    }

    /// The arrays of a `.npz` file.
    pub fn open_all(path: &Path) -> BTreeMap<String, Self> {
        let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
        (0..archive.len())
            .map(|index| {
                let mut entry = archive.by_index(index).unwrap();
                let name = entry.name().unwrap().trim_end_matches(".npy").to_owned();
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).unwrap();
                (name, Self::read(&bytes))
            })
            .collect()
    }

    /// The elements as real numbers, without any scale.
    pub fn numbers(&self) -> Vec<f64> {
        let data_type = match &self.element[..] {
            "f2" => DataType::Float16,
            "f4" => DataType::Float32,
            "f8" => DataType::Float64,
            "i1" => DataType::Int8,
            "i2" => DataType::Int16,
            "i4" => DataType::Signed32,
            "i8" => DataType::Signed64,
            "u1" | "b1" => DataType::UInt8,
            "u2" => DataType::UInt16,
            "u4" => DataType::UInt32,
            other => panic!("elements {other}"),
        };
        numbers(data_type, &self.bytes)
    }

    /// Part `index` of the first dimension.
    pub fn step(&self, index: usize) -> Self {
        let steps = usize::try_from(self.dims[0]).unwrap();
        let len = self.bytes.len() / steps;
        Self {
            dims: self.dims[1..].to_vec(),
            element: self.element.clone(),
            bytes: self.bytes[index * len..][..len].to_vec(),
        }
    }
}

/// Elements as real numbers, without any scale.
pub fn numbers(data_type: DataType, bytes: &[u8]) -> Vec<f64> {
    fn all<const N: usize>(bytes: &[u8], read: fn([u8; N]) -> f64) -> Vec<f64> {
        let chunks = bytes.as_chunks::<N>().0.iter();
        chunks.map(|&chunk| read(chunk)).collect()
    }
    match data_type {
        DataType::Float16 => all(bytes, |b| half::f16::from_le_bytes(b).into()),
        DataType::Float32 => all(bytes, |b| f32::from_le_bytes(b).into()),
        DataType::Float64 => all(bytes, f64::from_le_bytes),
        DataType::Int8 | DataType::QAsymmS8 | DataType::QSymmS8 => {
            all(bytes, |b| i8::from_le_bytes(b).into())
        }
        DataType::UInt8 | DataType::QAsymmU8 | DataType::Boolean => {
            all(bytes, |b| u8::from_le_bytes(b).into())
        }
        DataType::Int16 | DataType::QSymmS16 => all(bytes, |b| i16::from_le_bytes(b).into()),
        DataType::UInt16 => all(bytes, |b| u16::from_le_bytes(b).into()),
        DataType::Signed32 => all(bytes, |b| i32::from_le_bytes(b).into()),
        DataType::UInt32 => all(bytes, |b| u32::from_le_bytes(b).into()),
        DataType::Signed64 => all(bytes, |b| i64::from_le_bytes(b) as f64),
        other => panic!("numbers of type {other}"),
    }
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Passed,
    /// Refused by the parser or by the backend: what is missing.
    Refused(String),
    /// Wrong values, or an error that is no refusal.
    Failed(String),
}

/// How far outputs may be from the golden ones.
#[derive(Clone, Copy, Debug)]
pub enum Tolerance {
    /// Quantized numbers apart, or 1e-3 of the largest number where outputs are real.
    Steps(f64),
    /// Of the largest number, and an absolute difference.
    Relative(f64, f64),
    Absolute(f64),
}

impl Tolerance {
    /// The `tolerance` of a case's `meta.json`.
    pub fn of(meta: &serde_json::Value) -> Self {
        let tolerance = &meta["tolerance"];
        let value = tolerance["value"].as_f64().unwrap();
        match tolerance["kind"].as_str().unwrap() {
            "lsb" => Self::Steps(value),
            "relative_to_max" => {
                Self::Relative(value, tolerance["absolute"].as_f64().unwrap_or(1e-5))
            }
            "absolute" => Self::Absolute(value),
            other => panic!("tolerance {other}"),
        }
    }
}

/// A model on the reference backend.
pub fn load(path: &Path) -> Result<LoadedNetwork, Outcome> {
    let network = match parse(path) {
        Ok(network) => network,
        Err(TfliteParserError::Unsupported { refusals, .. }) => {
            return Err(Outcome::Refused(refusals.to_string()));
        }
        Err(error) => return Err(Outcome::Failed(error.to_string())),
    };
    load_network(network)
}

fn load_network(network: Network) -> Result<LoadedNetwork, Outcome> {
    let failed = |error: &dyn std::error::Error| Outcome::Failed(error.to_string());
    // One thread, so that times can be compared.
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<CpuRef>())
        .number_of_threads(1);
    let runtime = Runtime::create(options).map_err(|error| failed(&error))?;
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .map_err(|error| Outcome::Refused(error.to_string()))?;
    runtime
        .load_network(optimized, LoadOptions::default())
        .map_err(|error| failed(&error))
}

/// Runs a model on inputs in the order of the model's.
pub fn run(loaded: &LoadedNetwork, inputs: &[&Array]) -> Result<Vec<HostTensor>, Outcome> {
    let network = loaded.network();
    let tensors = network.inputs().iter().zip(inputs);
    let tensors: Vec<HostTensor> = tensors
        .map(|(&id, array)| {
            let info = TensorInfo {
                shape: Shape::new(&array.dims).unwrap(),
                ..network.tensor(id).info.clone()
            };
            HostTensor::from_bytes(info, &array.bytes).unwrap()
        })
        .collect();
    loaded
        .run(&tensors)
        .map_err(|error| Outcome::Failed(error.to_string()))
}

/// Fails where an output is not as it should be.
pub fn compare(found: &HostTensor, expected: &Array, tolerance: Tolerance) -> Outcome {
    let info = found.info();
    if info.shape.dims() != expected.dims {
        return Outcome::Failed(format!("{} for {:?}", info.shape, expected.dims));
    }
    let found = numbers(info.data_type, found.bytes());
    difference(&found, &expected.numbers(), tolerance)
}

/// Fails where numbers are not as they should be; says how many are not, and by how much at most.
pub fn difference(found: &[f64], expected: &[f64], tolerance: Tolerance) -> Outcome {
    let largest = expected.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let allowed = match tolerance {
        Tolerance::Steps(steps) => steps,
        Tolerance::Relative(relative, absolute) => relative * largest + absolute,
        Tolerance::Absolute(absolute) => absolute,
    };
    let within = |pair: &(f64, f64), allowed| matches!((pair.0 - pair.1).abs().partial_cmp(&allowed), Some(order) if order.is_le());
    let same = |&(f, e): &(f64, f64)| f == e || f.is_nan() && e.is_nan();
    let pairs = found.iter().copied().zip(expected.iter().copied());
    let wrong: Vec<(usize, (f64, f64))> = pairs
        .enumerate()
        .filter(|(_, pair)| !same(pair) && !within(pair, allowed))
        .collect();
    let Some((at, (f, e))) = wrong.first() else {
        return Outcome::Passed;
    };
    let most = wrong
        .iter()
        .fold(0.0f64, |most, (_, (f, e))| most.max((f - e).abs()));
    Outcome::Failed(format!(
        "{} of {} wrong, by up to {most}; first at {at}: {f} for {e}",
        wrong.len(),
        expected.len()
    ))
}

/// Files `PREFIX0…`, `PREFIX1…`, and so on.
pub fn numbered(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut files: Vec<(usize, PathBuf)> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let rest = path.file_name()?.to_str()?.strip_prefix(prefix)?;
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            Some((digits.parse().ok()?, path))
        })
        .collect();
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Prints how many cases there are of each outcome, and why those that did not pass did not.
pub fn summarize(suite: &str, outcomes: &[(String, Outcome)]) {
    let count = |f: fn(&Outcome) -> bool| outcomes.iter().filter(|(_, o)| f(o)).count();
    println!(
        "{suite}: {} passed, {} failed, {} refused",
        count(|o| *o == Outcome::Passed),
        count(|o| matches!(o, Outcome::Failed(_))),
        count(|o| matches!(o, Outcome::Refused(_)))
    );
    for (name, outcome) in outcomes {
        match outcome {
            Outcome::Passed => {}
            Outcome::Refused(reason) => println!("  refused {name}: {reason}"),
            Outcome::Failed(reason) => println!("  FAILED {name}: {reason}"),
        }
    }
}
