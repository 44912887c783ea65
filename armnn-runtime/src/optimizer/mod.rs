//! From a network to an optimized one: which backend executes which layer.

mod assignment;
mod passes;
mod pattern;
mod program;
mod report;
mod subgraphs;

use std::sync::Arc;

use armnn_backend_api::{BackendId, Shape};
use armnn_network::Network;

pub(crate) use assignment::{Assignment, Reassignment};
pub use passes::{Pass, PassError, PassReport, PassSelection};
pub use pattern::{LayerPattern, LayerPatternError};
use program::ProgramOptimizer;
pub(crate) use program::{OptimizedGraph, OptimizedOperation, OptimizedPart, OptimizedSegment};
pub use report::{AssignmentReport, Choice, GatheredRefusal, LayerAssignment, Refusal};
pub(crate) use subgraphs::cut;

use crate::{
    backend::BackendInstance,
    error::OptimizeError,
    plan::{AlignedCopies, ConstantStore, ViewSource},
};

/// How layers are given to backends.
#[derive(Clone, Debug, Default)]
#[doc(alias = "OptimizerOptionsOpaque")]
pub struct OptimizerOptions {
    /// Backends in order of preference. None: every usable backend by its kind (Accelerator, Gpu,
    /// Cpu, Reference), then in the order in which they were registered.
    pub preferred_backends: Vec<BackendId>,
    /// Pins: the last one that matches a layer binds it to a backend. A backend that is not there
    /// or refuses the layer, or a pattern that matches no layer, is an error.
    pub pins: Vec<(LayerPattern, BackendId)>,
    /// No fallback at all: a preferred backend that is not there, or a layer that its first choice
    /// refuses, is an error.
    pub strict: bool,
    /// Which rewrites of the network run before layers are assigned.
    pub passes: PassSelection,
    /// The passes after which [`rewrites`](OptimizedNetwork::rewrites) holds the network as a
    /// drawing.
    pub print_after: Vec<Pass>,
}

impl OptimizerOptions {
    /// Options that name backends in order of preference.
    ///
    /// # Errors
    /// When a name is no backend id.
    pub fn with_preferred_backends<'a>(
        ids: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, armnn_backend_api::BackendIdError> {
        let preferred_backends = ids
            .into_iter()
            .map(BackendId::new)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            preferred_backends,
            ..Self::default()
        })
    }
}

/// A network whose layers are assigned to backends, ready to be loaded.
#[doc(alias = "IOptimizedNetwork")]
pub struct OptimizedNetwork {
    pub(crate) graph: OptimizedGraph,
    pub(crate) report: AssignmentReport,
    rewrites: Vec<PassReport>,
}

impl OptimizedNetwork {
    /// The network: as the passes left it, or, where it is cut into parts that are optimized one by
    /// one, as it was given. The data of its constants may be in the runtime's keeping; they are
    /// empty here then.
    pub fn network(&self) -> &Network {
        &self.graph.network
    }

    /// Which backend executes which layer, and why no other one does. Layers of bodies have numbers
    /// behind those of the network around them.
    pub fn report(&self) -> &AssignmentReport {
        &self.report
    }

    /// What the passes did, in order; those that did nothing are left out.
    pub fn rewrites(&self) -> &[PassReport] {
        &self.rewrites
    }
}

impl std::fmt::Debug for OptimizedNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OptimizedNetwork")
            .field("layers", &self.report.layers.len())
            .finish_non_exhaustive()
    }
}

/// Rewrites a network by the passes, and assigns every layer to one of `backends`.
pub(crate) fn optimize(
    network: Network,
    backends: &[Arc<BackendInstance>],
    unusable: &[(BackendId, String)],
    options: &OptimizerOptions,
) -> Result<OptimizedNetwork, OptimizeError> {
    let mut optimizer = ProgramOptimizer::new(network.mapped_files(), backends, unusable, options);
    let graph = optimizer.graph(network)?;
    optimizer.pins.check(&graph.network, options)?;
    let mut report = optimizer.report;
    report.layers = optimizer.layers;
    report.layers.sort_by_key(|entry| entry.layer);
    Ok(OptimizedNetwork {
        graph,
        report,
        rewrites: optimizer.rewrites,
    })
}

/// Asks a backend about every layer of a network.
///
/// # Errors
/// The first layer's reason that it does not take.
pub(crate) fn ask(mut network: Network, backend: &Arc<BackendInstance>) -> Result<(), String> {
    let mut copies = AlignedCopies::new(network.mapped_files(), std::slice::from_ref(backend));
    let constants = ConstantStore::take(&mut network, &mut copies)
        .map_err(|e| format!("not enough memory for {} bytes", e.0))?;
    let shapes: Vec<Shape> = network.tensors().iter().map(|t| t.info.shape).collect();
    let descriptors = network.provisional_descriptors();
    let uses = tensor_uses(&network, &network.evaluated_layers());
    let source = ViewSource {
        network: &network,
        shapes: &shapes,
        constants: &constants,
        descriptors: &descriptors,
        uses: &uses,
    };
    assignment::ask(&source, backend)
}

/// For every tensor, how many layers read it, plus one if it is an output of the network. Layers
/// that no backend executes do not count, nor do parameters.
pub(crate) fn tensor_uses(network: &Network, evaluated: &[bool]) -> Vec<u32> {
    let mut uses = vec![0u32; network.tensors().len()];
    for (layer, _) in network
        .layers()
        .iter()
        .zip(evaluated)
        .filter(|(_, evaluated)| !**evaluated)
    {
        for input in layer.data_inputs().iter().flatten() {
            uses[input.index()] += 1;
        }
    }
    for output in network.outputs() {
        uses[output.tensor.index()] += 1;
    }
    uses
}
