//! Networks run with and without passes.

// Each test program uses a part of it.
#![allow(dead_code)]

use armnn_network::Network;
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, OptimizerOptions, Pass, PassReport,
    PassSelection, Runtime, Shape, StaticBackend, TensorInfo,
};
use cpu_ref::CpuRef;

/// What came of a run.
pub struct Run {
    pub layers: Vec<String>,
    pub rewrites: Vec<PassReport>,
    pub outputs: Vec<HostTensor>,
}

/// Runs a network on the reference backend.
pub fn run(network: Network, passes: PassSelection, inputs: &[HostTensor]) -> Run {
    let backend = StaticBackend::new::<CpuRef>();
    let options = CreationOptions::new()
        .static_backend(backend)
        .number_of_threads(1);
    let runtime = Runtime::create(options).unwrap();
    let options = OptimizerOptions {
        passes,
        ..OptimizerOptions::default()
    };
    let optimized = runtime.optimize(network, &options).unwrap();
    let layers = optimized.network().layers().iter();
    let layers = layers.map(|layer| layer.name.clone()).collect();
    let rewrites = optimized.rewrites().to_vec();
    let loaded = runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap();
    let inputs: Vec<HostTensor> = inputs.iter().map(copy).collect();
    let outputs = loaded.run(&inputs).unwrap();
    Run {
        layers,
        rewrites,
        outputs,
    }
}

/// Checks that a pass removes layers and that all outputs stay equal to the bit, and returns the
/// names of the layers that are left.
#[track_caller]
pub fn assert_removes(pass: Pass, network: &Network, inputs: &[HostTensor]) -> Vec<String> {
    let plain = run(network.clone(), PassSelection::None, inputs);
    let rewritten = run(network.clone(), PassSelection::Only(vec![pass]), inputs);
    assert_eq!(plain.layers.len(), network.layers().len());
    assert!(rewritten.layers.len() < plain.layers.len(), "{rewritten:?}");
    assert_same_bits(&plain.outputs, &rewritten.outputs);
    let all = run(network.clone(), PassSelection::All, inputs);
    assert_same_bits(&plain.outputs, &all.outputs);
    rewritten.layers
}

#[track_caller]
pub fn assert_same_bits(expected: &[HostTensor], found: &[HostTensor]) {
    assert_eq!(expected.len(), found.len());
    for (expected, found) in expected.iter().zip(found) {
        assert_eq!(expected.info(), found.info());
        assert_eq!(expected.bytes(), found.bytes());
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("layers", &self.layers)
            .field("rewrites", &self.rewrites)
            .finish_non_exhaustive()
    }
}

pub fn copy(tensor: &HostTensor) -> HostTensor {
    HostTensor::from_bytes(tensor.info().clone(), tensor.bytes()).unwrap()
}

/// Numbers that look random, the same for the same seed (xorshift64*: Vigna, "An experimental
/// exploration of Marsaglia's xorshift generators, scrambled", 2016).
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// Below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// From -2 to 2.
    pub fn float(&mut self) -> f32 {
        self.below(4001) as f32 / 1000.0 - 2.0
    }

    pub fn floats(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.float()).collect()
    }

    pub fn tensor(&mut self, shape: impl Into<Shape>) -> HostTensor {
        let shape = shape.into();
        let values = self.floats(shape.num_elements().unwrap() as usize);
        HostTensor::from_f32(shape, &values).unwrap()
    }
}

pub fn float_info(shape: impl Into<Shape>) -> TensorInfo {
    TensorInfo::new(DataType::Float32, shape)
}
