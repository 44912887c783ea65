//! Random networks with everything that a network can have, wild descriptors among them; and what
//! must hold of every one of them. `random_networks.rs` runs some thousands, and the fuzz target
//! `execute` as many as it can make.

// Each program that includes this uses a part of it.
#![allow(dead_code)]

mod body;
mod deferred;
mod operations;
#[path = "../../../armnn-network/tests/random_layers/mod.rs"]
mod random_layers;

use std::sync::LazyLock;

use armnn_backend_api::LayerType;
use armnn_network::Network;
use armnn_runtime::{
    BackendId, CreationOptions, HostTensor, LoadOptions, OptimizerOptions, Pass, PassSelection,
    Runtime, Shape, StaticBackend, TensorInfo,
};
use body::Body;
use cpu_ref::CpuRef;
pub use random_layers::Random;

/// The most bytes of a tensor and of a state: few, so that no layer takes long.
const MEMORY_LIMIT: u64 = 1 << 14;

/// What became of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it was taken by the builder.
    pub is_network: bool,
    pub is_loaded: bool,
    pub is_executed: bool,
    /// How many layers passes removed.
    pub removed: usize,
}

/// One runtime for all: making one starts threads.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<CpuRef>())
        .number_of_threads(1);
    Runtime::create(options).unwrap()
});

/// The types of layers that the backend takes with some type of elements.
pub(crate) static TAKEN: LazyLock<Vec<LayerType>> = LazyLock::new(|| {
    let id = BackendId::new("CpuRef").unwrap();
    let support = RUNTIME.layer_support(&id).unwrap().into_iter();
    let taken = support.filter(|support| !support.data_types.is_empty());
    taken.map(|support| support.layer_type).collect()
});

/// Makes a network, and takes it as far as it goes.
///
/// # Panics
/// When outputs differ with and without passes that keep every bit, or from one execution to the
/// next.
pub fn check(random: &mut Random) -> Outcome {
    let Some(network) = Body::network(random) else {
        return Outcome::default();
    };
    let mut outcome = Outcome {
        is_network: true,
        ..Outcome::default()
    };
    let shapes = shapes(random, &network);
    let Some(inputs) = inputs(random, &network, &shapes) else {
        if let Err(error) = state_for(network, &shapes) {
            assert!(!error.is_empty());
            return outcome;
        }
        panic!("a state was made for {shapes:?}");
    };
    let plain = run(network.clone(), PassSelection::None, &inputs);
    let exact = Pass::ALL.iter().copied().filter(|&p| p != Pass::BatchNorm);
    let exact = run(
        network.clone(),
        PassSelection::Only(exact.collect()),
        &inputs,
    );
    let all = run(network, PassSelection::All, &inputs);
    outcome.is_loaded = !matches!(all, Ran::Refused(_));
    outcome.is_executed = matches!(all, Ran::Done { .. });
    match (plain, exact) {
        (
            Ran::Done { outputs, layers },
            Ran::Done {
                outputs: found,
                layers: left,
            },
        ) => {
            outcome.removed = layers - left;
            for (index, (expected, found)) in outputs.iter().zip(&found).enumerate() {
                assert_eq!(expected.info(), found.info(), "output {index}");
                assert!(expected.bytes() == found.bytes(), "output {index} differs");
            }
        }
        // What was in the way may be gone.
        (Ran::Refused(_) | Ran::Failed(_), _) => {}
        (Ran::Done { .. }, Ran::Refused(error) | Ran::Failed(error)) => {
            // Fewer layers keep their tensors longer.
            assert!(error.contains("memory limit"), "only with passes: {error}");
        }
    }
    outcome
}

enum Ran {
    Refused(String),
    Failed(String),
    Done {
        outputs: Vec<HostTensor>,
        layers: usize,
    },
}

fn options(passes: PassSelection) -> (OptimizerOptions, LoadOptions) {
    let optimizer = OptimizerOptions {
        passes,
        ..OptimizerOptions::default()
    };
    let load = LoadOptions {
        memory_limit: Some(MEMORY_LIMIT),
        max_plans: Some(2),
        ..LoadOptions::default()
    };
    (optimizer, load)
}

fn run(network: Network, passes: PassSelection, inputs: &[HostTensor]) -> Ran {
    let (optimizer, load) = options(passes);
    let optimized = match RUNTIME.optimize(network, &optimizer) {
        Ok(optimized) => optimized,
        Err(e) => return Ran::Refused(e.to_string()),
    };
    let layers = optimized.report().layers.len();
    let loaded = match RUNTIME.load_network(optimized, load) {
        Ok(loaded) => loaded,
        Err(e) => return Ran::Refused(e.to_string()),
    };
    let shapes: Vec<Shape> = inputs.iter().map(|input| input.info().shape).collect();
    let mut state = match loaded.create_execution_state_for(&shapes) {
        Ok(state) => state,
        Err(e) => return Ran::Refused(e.to_string()),
    };
    for (index, input) in inputs.iter().enumerate() {
        state.set_input(index, input.bytes()).unwrap();
    }
    let mut outputs: Option<Vec<HostTensor>> = None;
    for _ in 0..2 {
        state.reset_variables();
        if let Err(e) = state.execute() {
            assert!(outputs.is_none(), "only the second time: {e}");
            return Ran::Failed(e.to_string());
        }
        let mut made = Vec::new();
        for index in 0..loaded.network().outputs().len() {
            let value = state.output_value(index);
            if value.is_some_and(|value| value.as_tensor().is_none()) {
                continue;
            }
            let tensor = HostTensor::from_bytes(state.output_info(index), state.output(index));
            let mut tensor = tensor.unwrap();
            clear_behind_last(&mut tensor);
            made.push(tensor);
        }
        if let Some(outputs) = &outputs {
            for (first, second) in outputs.iter().zip(&made) {
                assert!(
                    first.bytes() == second.bytes(),
                    "another output the second time"
                );
            }
        }
        outputs = Some(made);
    }
    Ran::Done {
        outputs: outputs.unwrap_or_default(),
        layers,
    }
}

/// Makes a state.
fn state_for(network: Network, shapes: &[Shape]) -> Result<(), String> {
    let (optimizer, load) = options(PassSelection::All);
    let optimized = RUNTIME.optimize(network, &optimizer);
    let optimized = optimized.map_err(|e| e.to_string())?;
    let loaded = RUNTIME.load_network(optimized, load);
    let loaded = loaded.map_err(|e| e.to_string())?;
    let state = loaded.create_execution_state_for(shapes);
    state.map(|_| ()).map_err(|e| e.to_string())
}

/// A shape for each input.
fn shapes(random: &mut Random, network: &Network) -> Vec<Shape> {
    let inputs = network.inputs().iter().map(|&id| {
        let declared = network.tensor(id).info.shape;
        let size = random.below(4) as i64;
        let dims = declared.dims().iter().map(|&dim| match dim {
            Shape::UNKNOWN => size,
            dim => dim,
        });
        Shape::new(&dims.collect::<Vec<_>>()).unwrap()
    });
    inputs.collect()
}

/// A value for each input; `None` if one is beyond the limit.
fn inputs(random: &mut Random, network: &Network, shapes: &[Shape]) -> Option<Vec<HostTensor>> {
    let inputs = network.inputs().iter().zip(shapes).map(|(&id, &shape)| {
        let info = TensorInfo {
            shape,
            ..network.tensor(id).info.clone()
        };
        let len = info.byte_len().filter(|&len| len as u64 <= MEMORY_LIMIT)?;
        let bytes = elements(random, &info, len);
        HostTensor::from_bytes(info, &bytes).ok()
    });
    inputs.collect()
}

/// Sets the bits behind the last element of a small type to 0: they mean nothing, and a layer that
/// moves elements may leave them out.
fn clear_behind_last(tensor: &mut HostTensor) {
    let info = tensor.info();
    let bits = info.data_type.bits().map_or(8, u64::from);
    let used = info.shape.num_elements().unwrap_or(0) * bits % 8;
    if let (1.., Some(last)) = (used, tensor.bytes_mut().last_mut()) {
        *last &= (1 << used) - 1;
    }
}

/// Elements of a tensor: small numbers, a few of which repeat.
fn elements(random: &mut Random, info: &TensorInfo, len: usize) -> Vec<u8> {
    use armnn_runtime::DataType as D;

    let mut few: Vec<Vec<u8>> = Vec::new();
    for _ in 0..8 {
        let integer = match random.below(16) {
            0 => random.i64(),
            _ => random.below(7) as i64 - 2,
        };
        few.push(match info.data_type {
            D::Float32 => random.f32().to_le_bytes().into(),
            D::Float64 => f64::from(random.f32()).to_le_bytes().into(),
            D::Boolean => vec![(integer & 1) as u8],
            other => {
                let size = other.size().unwrap_or(1).min(8);
                integer.to_le_bytes()[..size].into()
            }
        });
    }
    let mut bytes = Vec::with_capacity(len);
    let mut at = random.below(8);
    while bytes.len() < len {
        // Every one of the eight comes up, in an order that does not repeat with them.
        at = (at * 5 + bytes.len() / 3 + 1) % 8;
        bytes.extend_from_slice(&few[at]);
    }
    bytes.truncate(len);
    bytes
}
