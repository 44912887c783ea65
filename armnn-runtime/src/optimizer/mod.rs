//! From a network to an optimized one: which backend executes which layer.

mod assignment;
mod passes;
mod pattern;
mod report;
mod subgraphs;

use std::sync::Arc;

use armnn_backend_api::{BackendId, Shape};
use armnn_network::Network;

pub(crate) use assignment::{Assignment, Reassignment};
pub use passes::{Pass, PassError, PassReport, PassSelection};
pub use pattern::{LayerPattern, LayerPatternError};
pub use report::{AssignmentReport, Choice, GatheredRefusal, LayerAssignment, Refusal};
pub(crate) use subgraphs::cut;

use crate::{
    backend::BackendInstance,
    error::OptimizeError,
    plan::{ConstantStore, ViewSource},
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
    pub(crate) network: Network,
    pub(crate) constants: ConstantStore,
    pub(crate) assignment: Assignment,
    rewrites: Vec<PassReport>,
}

impl OptimizedNetwork {
    /// The network. The data of its constants is in the runtime's keeping; here they are empty.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Which backend executes which layer, and why no other one does.
    pub fn report(&self) -> &AssignmentReport {
        &self.assignment.report
    }

    /// What the passes did, in order; those that did nothing are left out.
    pub fn rewrites(&self) -> &[PassReport] {
        &self.rewrites
    }
}

impl std::fmt::Debug for OptimizedNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OptimizedNetwork")
            .field("layers", &self.network.layers().len())
            .finish_non_exhaustive()
    }
}

/// Rewrites a network by the passes, and assigns every layer to one of `backends`.
pub(crate) fn optimize(
    mut network: Network,
    backends: &[Arc<BackendInstance>],
    unusable: &[(BackendId, String)],
    options: &OptimizerOptions,
) -> Result<OptimizedNetwork, OptimizeError> {
    let rewrites = passes::run(&mut network, options);
    let aligned = backends.iter().any(|b| {
        !b.capabilities()
            .has(armnn_backend_api::Capabilities::UNALIGNED_CONSTANTS)
    });
    let constants = ConstantStore::take(&mut network, aligned)
        .map_err(|e| OptimizeError::OutOfMemory { bytes: e.0 })?;
    let shapes: Vec<Shape> = network.tensors().iter().map(|t| t.info.shape).collect();
    let uses = tensor_uses(&network);
    let source = ViewSource {
        network: &network,
        shapes: &shapes,
        constants: &constants,
        uses: &uses,
    };
    let assignment = Assignment::new(&source, backends, unusable, options)?;
    Ok(OptimizedNetwork {
        network,
        constants,
        assignment,
        rewrites,
    })
}

/// Asks a backend about every layer of a network.
///
/// # Errors
/// The first layer's reason that it does not take.
pub(crate) fn ask(mut network: Network, backend: &Arc<BackendInstance>) -> Result<(), String> {
    let aligned = !backend
        .capabilities()
        .has(armnn_backend_api::Capabilities::UNALIGNED_CONSTANTS);
    let constants = ConstantStore::take(&mut network, aligned)
        .map_err(|e| format!("not enough memory for {} bytes", e.0))?;
    let shapes: Vec<Shape> = network.tensors().iter().map(|t| t.info.shape).collect();
    let uses = tensor_uses(&network);
    let source = ViewSource {
        network: &network,
        shapes: &shapes,
        constants: &constants,
        uses: &uses,
    };
    assignment::ask(&source, backend)
}

/// For every tensor, how many layers read it, plus one if it is an output of the network.
pub(crate) fn tensor_uses(network: &Network) -> Vec<u32> {
    let mut uses = vec![0u32; network.tensors().len()];
    for layer in network.layers() {
        for input in layer.present_inputs() {
            uses[input.index()] += 1;
        }
    }
    for output in network.outputs() {
        uses[output.tensor.index()] += 1;
    }
    uses
}
