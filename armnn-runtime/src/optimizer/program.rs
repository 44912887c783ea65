//! A network and its bodies, cut into parts whose layers are assigned to backends.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use armnn_backend_api::{BackendId, Shape, TensorInfo};
use armnn_network::{
    LayerId, MappedFile, Network, Operation, Part, RuntimeOperation, TensorId, ValueType,
    VariableValue,
};
use bytes::Bytes;

use super::{
    Assignment, AssignmentReport, Choice, LayerAssignment, OptimizerOptions, PassReport,
    assignment::{PinMatches, runtime_id},
    passes, tensor_uses,
};
use crate::{
    backend::BackendInstance,
    error::OptimizeError,
    plan::{AlignedCopies, ConstantStore, ViewSource},
};

/// A network, cut into parts. Tensors that go from one part to another have a slot each.
pub(crate) struct OptimizedGraph {
    pub(crate) parts: Vec<OptimizedPart>,
    /// What the slots hold before the first part: constants that no segment has for itself.
    pub(crate) constants: Vec<(usize, TensorInfo, Bytes)>,
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) variables: Vec<OptimizedVariable>,
    pub(crate) initializer: Option<Box<OptimizedGraph>>,
    /// For each slot, the tensor.
    pub(crate) tensors: Vec<TensorId>,
    /// The network; the one of the segment, if it is just that.
    pub(crate) network: Arc<Network>,
}

/// A variable, with its slots.
pub(crate) struct OptimizedVariable {
    pub(crate) name: String,
    pub(crate) info: TensorInfo,
    pub(crate) initial: VariableValue,
    pub(crate) input: usize,
    pub(crate) output: Option<usize>,
}

/// A part of a graph.
pub(crate) enum OptimizedPart {
    Segment(OptimizedSegment),
    Operation(OptimizedOperation),
}

/// Layers of backends that are planned together.
pub(crate) struct OptimizedSegment {
    pub(crate) network: Arc<Network>,
    pub(crate) constants: ConstantStore,
    pub(crate) assignment: Assignment,
    pub(crate) value_inputs: Vec<bool>,
    /// The number of each layer in the whole model.
    pub(crate) layers: Vec<LayerId>,
    /// The slot of each input and output.
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
}

/// Something that the runtime does itself.
pub(crate) struct OptimizedOperation {
    /// Its name and type, for messages.
    pub(crate) name: String,
    pub(crate) operation: RuntimeOperation,
    pub(crate) bodies: Vec<OptimizedGraph>,
    pub(crate) inputs: Vec<Option<usize>>,
    pub(crate) outputs: Vec<usize>,
    /// What the outputs are, as far as it is known.
    pub(crate) output_types: Vec<ValueType>,
}

/// What the whole model shares while it is optimized.
pub(super) struct ProgramOptimizer<'a> {
    pub(super) backends: &'a [Arc<BackendInstance>],
    pub(super) unusable: &'a [(BackendId, String)],
    pub(super) options: &'a OptimizerOptions,
    pub(super) pins: PinMatches,
    pub(super) rewrites: Vec<PassReport>,
    pub(super) layers: Vec<LayerAssignment>,
    pub(super) report: AssignmentReport,
    /// How many layers have numbers.
    n_layers: u32,
    copies: AlignedCopies,
}

impl<'a> ProgramOptimizer<'a> {
    pub(super) fn new(
        files: &[Weak<dyn MappedFile>],
        backends: &'a [Arc<BackendInstance>],
        unusable: &'a [(BackendId, String)],
        options: &'a OptimizerOptions,
    ) -> Self {
        Self {
            copies: AlignedCopies::new(files, backends),
            backends,
            unusable,
            options,
            pins: PinMatches::new(options),
            rewrites: Vec::new(),
            layers: Vec::new(),
            report: AssignmentReport::default(),
            n_layers: 0,
        }
    }

    /// Optimizes a network and its bodies.
    pub(super) fn graph(&mut self, mut network: Network) -> Result<OptimizedGraph, OptimizeError> {
        if is_plain(&network) {
            return self.plain(network);
        }
        let removed = passes::remove_dead(&mut network, self.options);
        self.rewrites.extend(removed);
        if is_plain(&network) {
            return self.plain(network);
        }
        let first = self.n_layers;
        self.n_layers = first.saturating_add(network.layers().len() as u32);
        let mut slots = Slots::default();
        let inputs = network.inputs().iter().map(|&id| slots.of(id)).collect();
        let variables: Vec<OptimizedVariable> = network
            .variables()
            .iter()
            .map(|variable| OptimizedVariable {
                name: variable.name.clone(),
                info: network.tensor(variable.input).info.clone(),
                initial: variable.initial.clone(),
                input: slots.of(variable.input),
                output: variable.output.map(|id| slots.of(id)),
            })
            .collect();
        let mut parts = Vec::new();
        for part in network.parts() {
            parts.push(match part {
                Part::Segment(segment) => {
                    let segment = *segment;
                    let inputs = segment.inputs.iter().map(|&id| slots.of(id)).collect();
                    let outputs = segment.outputs.iter().map(|&id| slots.of(id)).collect();
                    let numbers = segment.layers.iter().map(|id| LayerId(first + id.0));
                    let part = self.segment(
                        segment.network,
                        numbers.collect(),
                        segment.value_inputs,
                        inputs,
                        outputs,
                    )?;
                    OptimizedPart::Segment(part)
                }
                Part::Operation(id) => {
                    let number = LayerId(first + id.0);
                    let operation = self.operation(&network, id, number, &mut slots)?;
                    OptimizedPart::Operation(operation)
                }
            });
        }
        let outputs: Vec<usize> = network
            .outputs()
            .iter()
            .map(|output| slots.of(output.tensor))
            .collect();
        let initializer = match network.initializer() {
            Some(initializer) => Some(Box::new(self.graph(Network::clone(initializer))?)),
            None => None,
        };
        let constants = slots
            .tensors
            .iter()
            .enumerate()
            .filter_map(|(slot, &id)| {
                let tensor = network.tensor(id);
                Some((slot, tensor.info.clone(), tensor.constant()?.clone()))
            })
            .collect();
        // The segments have theirs.
        for index in 0..network.tensors().len() as u32 {
            drop(network.take_constant_data(TensorId(index)));
        }
        Ok(OptimizedGraph {
            parts,
            constants,
            inputs,
            outputs,
            variables,
            initializer,
            tensors: slots.tensors,
            network: Arc::new(network),
        })
    }

    /// A network that is one segment.
    fn plain(&mut self, network: Network) -> Result<OptimizedGraph, OptimizeError> {
        let first = self.n_layers;
        let n_inputs = network.inputs().len();
        let n_outputs = network.outputs().len();
        // The numbers are those of the network after the passes, which is the one that is shown.
        let mut segment = self.segment(
            network,
            Vec::new(),
            vec![false; n_inputs],
            (0..n_inputs).collect(),
            (n_inputs..n_inputs + n_outputs).collect(),
        )?;
        let n_layers = segment.network.layers().len() as u32;
        self.n_layers = first.saturating_add(n_layers);
        segment.layers = (first..self.n_layers).map(LayerId).collect();
        if let Some(start) = self.layers.len().checked_sub(n_layers as usize) {
            for (entry, number) in self.layers[start..].iter_mut().zip(&segment.layers) {
                entry.layer = *number;
            }
        }
        let shown = Arc::clone(&segment.network);
        let outputs = shown.outputs().iter().map(|output| output.tensor);
        Ok(OptimizedGraph {
            constants: Vec::new(),
            inputs: segment.inputs.clone(),
            outputs: segment.outputs.clone(),
            variables: Vec::new(),
            initializer: None,
            tensors: shown.inputs().iter().copied().chain(outputs).collect(),
            parts: vec![OptimizedPart::Segment(segment)],
            network: shown,
        })
    }

    /// Runs the passes on a network of backend layers, and assigns them. Without numbers, layers
    /// have their places as numbers.
    fn segment(
        &mut self,
        mut network: Network,
        numbers: Vec<LayerId>,
        value_inputs: Vec<bool>,
        inputs: Vec<usize>,
        outputs: Vec<usize>,
    ) -> Result<OptimizedSegment, OptimizeError> {
        // Passes renumber layers; their names stay.
        let by_name: HashMap<String, LayerId> = match numbers.is_empty() {
            true => HashMap::new(),
            false => {
                let names = network.layers().iter().map(|layer| layer.name.clone());
                names.zip(numbers.iter().copied()).collect()
            }
        };
        self.rewrites
            .extend(passes::run(&mut network, self.options));
        let constants = ConstantStore::take(&mut network, &mut self.copies)
            .map_err(|e| OptimizeError::OutOfMemory { bytes: e.0 })?;
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
        let assignment = Assignment::new(
            &source,
            self.backends,
            self.unusable,
            self.options,
            &mut self.pins,
        )?;
        let layers: Vec<LayerId> = (0u32..)
            .zip(network.layers())
            .map(|(index, layer)| by_name.get(&layer.name).copied().unwrap_or(LayerId(index)))
            .collect();
        let entries = assignment.report.layers.iter().zip(&layers);
        self.layers
            .extend(entries.map(|(entry, &layer)| LayerAssignment {
                layer,
                ..entry.clone()
            }));
        self.report
            .preference
            .clone_from(&assignment.report.preference);
        self.report.unusable.clone_from(&assignment.report.unusable);
        Ok(OptimizedSegment {
            network: Arc::new(network),
            constants,
            assignment,
            value_inputs,
            layers,
            inputs,
            outputs,
        })
    }

    fn operation(
        &mut self,
        network: &Network,
        id: LayerId,
        number: LayerId,
        slots: &mut Slots,
    ) -> Result<OptimizedOperation, OptimizeError> {
        let layer = network.layer(id);
        self.layers.push(LayerAssignment {
            layer: number,
            name: layer.name.clone(),
            layer_type: layer.layer_type(),
            type_name: layer.type_name(),
            backend: runtime_id()?,
            choice: Choice::Runtime,
            refusals: Vec::new(),
        });
        let Operation::Runtime(operation) = &layer.operation else {
            // Parts name no other layers.
            return Err(OptimizeError::NoBackend {
                unusable: Vec::new(),
            });
        };
        let bodies = operation
            .bodies()
            .into_iter()
            .map(|(_, body)| self.graph(Network::clone(body)))
            .collect::<Result<_, _>>()?;
        Ok(OptimizedOperation {
            name: format!("'{}' ({})", layer.name, layer.type_name()),
            operation: operation.clone(),
            bodies,
            inputs: layer
                .inputs
                .iter()
                .map(|id| id.map(|id| slots.of(id)))
                .collect(),
            outputs: layer.outputs.iter().map(|&id| slots.of(id)).collect(),
            output_types: (layer.outputs.iter())
                .map(|&id| network.tensor(id).value_type())
                .collect(),
        })
    }
}

/// Whether a network is one segment as it is.
fn is_plain(network: &Network) -> bool {
    let special = network.layers().iter().any(|layer| match &layer.operation {
        Operation::Layer(_) => false,
        Operation::Deferred(_) | Operation::Shape { .. } | Operation::Runtime(_) => true,
    });
    let dynamic = || {
        let mut produced = network.tensors().iter().filter(|t| t.producer().is_some());
        produced.any(|tensor| !tensor.info.shape.is_known()) && network.parts().len() != 1
    };
    let values = network
        .tensors()
        .iter()
        .any(|tensor| tensor.value_type.is_some());
    !special && !values && network.variables().is_empty() && !dynamic()
}

/// Gives each tensor that goes from one part to another a slot.
#[derive(Default)]
struct Slots {
    numbers: HashMap<TensorId, usize>,
    tensors: Vec<TensorId>,
}

impl Slots {
    fn of(&mut self, id: TensorId) -> usize {
        *self.numbers.entry(id).or_insert_with(|| {
            self.tensors.push(id);
            self.tensors.len() - 1
        })
    }
}
