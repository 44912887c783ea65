//! Which backend executes which layer.

use std::{collections::HashMap, sync::Arc};

use armnn_backend_api::{BackendId, BackendKind, LayerDescriptor, LayerType};
use armnn_network::{LayerId, Network, Operation};

use super::{AssignmentReport, Choice, LayerAssignment, OptimizerOptions, Refusal};
use crate::{
    backend::{BackendInstance, ErrorBuffer},
    error::OptimizeError,
    plan::{ViewSource, ViewTables},
};

/// The backend of every layer.
#[derive(Clone)]
pub(crate) struct Assignment {
    /// Every backend of the runtime that could be used.
    pub(crate) backends: Vec<Arc<BackendInstance>>,
    /// For each layer, an index into `backends`, or [`RUNTIME`](Self::RUNTIME).
    pub(crate) of_layer: Vec<usize>,
    /// For each layer, whether all its inputs are constant or follow from constants alone.
    pub(crate) is_constant: Vec<bool>,
    /// Indices into `backends` in order of preference.
    preference: Vec<usize>,
    strict: bool,
    pub(crate) report: AssignmentReport,
}

/// A layer that its backend refused while a plan was compiled.
pub(crate) struct Reassignment {
    pub(crate) layer: LayerId,
    pub(crate) reason: String,
}

impl Assignment {
    /// Stands for the backend of a layer that no backend executes.
    pub(crate) const RUNTIME: usize = usize::MAX;

    /// Assigns every layer of the network.
    pub(crate) fn new(
        source: &ViewSource<'_>,
        backends: &[Arc<BackendInstance>],
        unusable: &[(BackendId, String)],
        options: &OptimizerOptions,
        matches: &mut PinMatches,
    ) -> Result<Self, OptimizeError> {
        let network = source.network;
        let preference = order(backends, unusable, options)?;
        let evaluated = network.evaluated_layers();
        let pins = Pins::new(network, &evaluated, backends, unusable, options, matches)?;
        let support = Support::new(source, &evaluated, backends);
        let mut buffer = ErrorBuffer::new();
        let ids = preference
            .iter()
            .map(|&i| backends[i].id().clone())
            .collect();

        let mut this = Self {
            backends: backends.to_vec(),
            of_layer: Vec::with_capacity(network.layers().len()),
            is_constant: constant_layers(network),
            preference,
            strict: options.strict,
            report: AssignmentReport {
                layers: Vec::new(),
                preference: ids,
                unusable: unusable.to_vec(),
            },
        };
        for (index, layer) in network.layers().iter().enumerate() {
            let id = LayerId(index as u32);
            let (backend, choice, refusals) = match pins.of(index) {
                // Also if it is pinned: there is nothing for a backend to do.
                _ if evaluated[index] => (Self::RUNTIME, Choice::Runtime, Vec::new()),
                Some(pinned) => {
                    support.ask(pinned, id, &mut buffer).map_err(|reason| {
                        OptimizeError::PinRefused {
                            layer: layer.name.clone(),
                            layer_type: layer.layer_type(),
                            backend: backends[pinned].id().clone(),
                            reason,
                        }
                    })?;
                    (pinned, Choice::Pin, Vec::new())
                }
                None => this.choose(&support, id, &mut buffer)?,
            };
            this.of_layer.push(backend);
            this.report.layers.push(LayerAssignment {
                layer: id,
                name: layer.name.clone(),
                layer_type: layer.layer_type(),
                type_name: layer.type_name(),
                backend: match backends.get(backend) {
                    Some(backend) => backend.id().clone(),
                    None => runtime_id()?,
                },
                choice,
                refusals,
            });
        }
        this.move_constant_layers(&support, &mut buffer);
        Ok(this)
    }

    /// The first backend in order that takes a layer.
    fn choose(
        &self,
        support: &Support<'_>,
        id: LayerId,
        buffer: &mut ErrorBuffer,
    ) -> Result<(usize, Choice, Vec<Refusal>), OptimizeError> {
        let layer = support.network.layer(id);
        let mut refusals = Vec::new();
        let hint = match &layer.backend_hint {
            None => None,
            Some(hint) => {
                let found = self.backends.iter().position(|b| b.id().as_str() == hint);
                if let (None, Ok(backend)) = (found, BackendId::new(hint)) {
                    let why = why_missing(&backend, &self.report.unusable);
                    let reason = format!("the network suggests it, but it cannot be used: {why}");
                    refusals.push(Refusal { backend, reason });
                }
                found
            }
        };
        let order = hint
            .into_iter()
            .chain(self.preference.iter().copied().filter(|&p| Some(p) != hint));
        for (place, backend) in order.enumerate() {
            match support.ask(backend, id, buffer) {
                Ok(()) => {
                    let is_hint = hint.is_some() && place == 0;
                    return Ok((
                        backend,
                        if is_hint {
                            Choice::Hint
                        } else {
                            Choice::Preference
                        },
                        refusals,
                    ));
                }
                Err(reason) => {
                    refusals.push(Refusal {
                        backend: self.backends[backend].id().clone(),
                        reason,
                    });
                }
            }
            if self.strict {
                break;
            }
        }
        Err(OptimizeError::LayerRefused {
            layer: layer.name.clone(),
            layer_type: layer.layer_type(),
            strict: self.strict,
            refusals,
        })
    }

    /// Layers that depend on constants alone run once; they go to the backend that reads them, so
    /// that it may take them into a subgraph of its own.
    fn move_constant_layers(&mut self, support: &Support<'_>, buffer: &mut ErrorBuffer) {
        if !self.is_constant.contains(&true) {
            return;
        }
        let consumers = support.network.consumers();
        for index in (0..self.of_layer.len()).rev() {
            let entry = &self.report.layers[index];
            if !self.is_constant[index] || entry.choice != Choice::Preference {
                continue;
            }
            let layer = support.network.layer(LayerId(index as u32));
            let first = layer
                .outputs
                .iter()
                .find_map(|o| consumers[o.index()].first());
            let Some(consumer) = first else { continue };
            let backend = self.of_layer[consumer.index()];
            if backend != Self::RUNTIME
                && backend != self.of_layer[index]
                && support.ask(backend, LayerId(index as u32), buffer).is_ok()
            {
                self.of_layer[index] = backend;
                let entry = &mut self.report.layers[index];
                entry.backend = self.backends[backend].id().clone();
                entry.choice = Choice::FollowsConsumer;
            }
        }
    }

    /// Gives refused layers to the next backends that take them.
    pub(crate) fn reassign(
        &mut self,
        source: &ViewSource<'_>,
        refused: Vec<Reassignment>,
    ) -> Result<(), OptimizeError> {
        let backends = self.backends.clone();
        let evaluated: Vec<bool> = self.of_layer.iter().map(|&b| b == Self::RUNTIME).collect();
        let support = Support::new(source, &evaluated, &backends);
        let mut buffer = ErrorBuffer::new();
        for Reassignment { layer: id, reason } in refused {
            let layer = source.network.layer(id);
            let from = self.of_layer[id.index()];
            let entry = &mut self.report.layers[id.index()];
            if entry.choice == Choice::Pin {
                return Err(OptimizeError::PinRefused {
                    layer: layer.name.clone(),
                    layer_type: layer.layer_type(),
                    backend: backends[from].id().clone(),
                    reason,
                });
            }
            entry.refusals.push(Refusal {
                backend: backends[from].id().clone(),
                reason,
            });
            let mut found = None;
            if !self.strict {
                for &backend in &self.preference {
                    let id_of = backends[backend].id();
                    if entry.refusals.iter().any(|r| r.backend == *id_of) {
                        continue;
                    }
                    match support.ask(backend, id, &mut buffer) {
                        Ok(()) => {
                            found = Some(backend);
                            break;
                        }
                        Err(reason) => {
                            entry.refusals.push(Refusal {
                                backend: id_of.clone(),
                                reason,
                            });
                        }
                    }
                }
            }
            let Some(backend) = found else {
                return Err(OptimizeError::LayerRefused {
                    layer: layer.name.clone(),
                    layer_type: layer.layer_type(),
                    strict: self.strict,
                    refusals: entry.refusals.clone(),
                });
            };
            self.of_layer[id.index()] = backend;
            entry.backend = backends[backend].id().clone();
            entry.choice = Choice::Reassigned;
        }
        Ok(())
    }

    /// Whether no later plan can give a layer to another backend.
    pub(crate) fn is_final(&self) -> bool {
        self.strict
            || self.preference.len() <= 1
            || (self.report.layers.iter())
                .all(|l| matches!(l.choice, Choice::Pin | Choice::Runtime))
    }
}

/// What reports call the runtime where it does the work of a layer itself.
pub(super) fn runtime_id() -> Result<BackendId, OptimizeError> {
    BackendId::new("Runtime").map_err(|_| OptimizeError::NoBackend {
        unusable: Vec::new(),
    })
}

/// Which layers depend on constants alone.
fn constant_layers(network: &Network) -> Vec<bool> {
    let mut constant = vec![false; network.layers().len()];
    for (index, layer) in network.layers().iter().enumerate() {
        constant[index] = layer.present_inputs().all(|input| {
            let tensor = network.tensor(input);
            tensor.constant().is_some() || tensor.producer().is_some_and(|p| constant[p.index()])
        });
    }
    constant
}

/// Asks one backend about every layer of a network; the first reason against it is the answer.
pub(super) fn ask(source: &ViewSource<'_>, backend: &Arc<BackendInstance>) -> Result<(), String> {
    let evaluated = source.network.evaluated_layers();
    let support = Support::new(source, &evaluated, std::slice::from_ref(backend));
    let mut buffer = ErrorBuffer::new();
    (0..source.network.layers().len())
        .filter(|&index| !evaluated[index])
        .map(|index| LayerId(index as u32))
        .try_for_each(|layer| support.ask(0, layer, &mut buffer))
}

/// Asks backends about layers of the whole network.
struct Support<'a> {
    tables: ViewTables<'a>,
    /// For each layer of the network, its index in the tables.
    places: Vec<u32>,
    descriptors: &'a HashMap<LayerId, LayerDescriptor>,
    network: &'a Network,
    backends: &'a [Arc<BackendInstance>],
}

impl<'a> Support<'a> {
    fn new(
        source: &ViewSource<'a>,
        evaluated: &[bool],
        backends: &'a [Arc<BackendInstance>],
    ) -> Self {
        let network = source.network;
        let mut places = vec![u32::MAX; network.layers().len()];
        let mut shown = Vec::with_capacity(places.len());
        for (index, _) in evaluated.iter().enumerate().filter(|(_, e)| !**e) {
            places[index] = shown.len() as u32;
            shown.push(LayerId(index as u32));
        }
        Self {
            tables: ViewTables::new(source, shown),
            places,
            descriptors: source.descriptors,
            network,
            backends,
        }
    }

    fn ask(&self, backend: usize, layer: LayerId, buffer: &mut ErrorBuffer) -> Result<(), String> {
        let backend = &self.backends[backend];
        let found = self.network.layer(layer).descriptor();
        let descriptor = found.or_else(|| self.descriptors.get(&layer));
        let since = descriptor.map_or(0, LayerDescriptor::since);
        if backend.version().minor < since {
            return Err(format!(
                "it needs interface 1.{since}, and the backend was built against {}",
                backend.version()
            ));
        }
        backend
            .is_layer_supported(&self.tables.view(), self.places[layer.index()], buffer)
            .map_err(|e| e.to_string())
    }
}

/// Usable backends in order of preference.
fn order(
    backends: &[Arc<BackendInstance>],
    unusable: &[(BackendId, String)],
    options: &OptimizerOptions,
) -> Result<Vec<usize>, OptimizeError> {
    if options.preferred_backends.is_empty() {
        let mut order: Vec<usize> = (0..backends.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(rank(backends[i].capabilities().kind)));
        if order.is_empty() {
            return Err(OptimizeError::NoBackend {
                unusable: unusable.to_vec(),
            });
        }
        return Ok(order);
    }
    let mut order = Vec::new();
    let mut missing = Vec::new();
    for id in &options.preferred_backends {
        match backends.iter().position(|b| b.id() == id) {
            Some(index) if order.contains(&index) => {}
            Some(index) => order.push(index),
            None => missing.push((id.clone(), why_missing(id, unusable))),
        }
    }
    if order.is_empty() || (options.strict && !missing.is_empty()) {
        return Err(OptimizeError::PreferredBackendsMissing {
            missing,
            usable: backends.iter().map(|b| b.id().clone()).collect(),
        });
    }
    Ok(order)
}

fn rank(kind: BackendKind) -> u32 {
    match kind {
        BackendKind::Accelerator => 3,
        BackendKind::Gpu => 2,
        BackendKind::Cpu => 1,
        _ => 0,
    }
}

fn why_missing(id: &BackendId, unusable: &[(BackendId, String)]) -> String {
    unusable.iter().find(|(other, _)| other == id).map_or_else(
        || "no backend of this id was found".to_owned(),
        |(_, reason)| reason.clone(),
    )
}

/// The layer types of a network in the order in which they occur first, with how many layers each
/// has; without those that the runtime does itself, which have no type of a backend.
fn layer_types(network: &Network) -> Vec<(LayerType, usize)> {
    let mut types: Vec<(LayerType, usize)> = Vec::new();
    for layer in network.layers() {
        let layer_type = layer.layer_type();
        if layer_type == Operation::RUNTIME_LAYER_TYPE {
            continue;
        }
        match types.iter_mut().find(|(other, _)| *other == layer_type) {
            Some((_, count)) => *count += 1,
            None => types.push((layer_type, 1)),
        }
    }
    types
}

/// The first few names of layers.
fn some_names(network: &Network) -> Vec<String> {
    const SHOWN: usize = 5;
    let names = network.layers().iter().map(|layer| &layer.name);
    let named = names.filter(|name| !name.is_empty());
    named.take(SHOWN).cloned().collect()
}

/// For each pin, whether it matched a layer of the model.
pub(crate) struct PinMatches(Vec<bool>);

impl PinMatches {
    pub(super) fn new(options: &OptimizerOptions) -> Self {
        Self(vec![false; options.pins.len()])
    }

    /// Checks that every pin matched a layer.
    pub(super) fn check(
        &self,
        network: &Network,
        options: &OptimizerOptions,
    ) -> Result<(), OptimizeError> {
        match options
            .pins
            .iter()
            .zip(&self.0)
            .find(|(_, matched)| !**matched)
        {
            None => Ok(()),
            Some(((pattern, backend), _)) => {
                let (pattern_text, backend) = (pattern.to_string(), backend.clone());
                let mut layers = network.layers().iter();
                Err(match layers.find(|layer| pattern.matches(layer)) {
                    Some(layer) => OptimizeError::PinMatchesRuntime {
                        pattern: pattern_text,
                        backend,
                        layer: layer.name.clone(),
                        type_name: layer.type_name(),
                    },
                    None => OptimizeError::PinMatchesNothing {
                        pattern: pattern_text,
                        backend,
                        layer_types: layer_types(network),
                        some_names: some_names(network),
                    },
                })
            }
        }
    }
}

/// The pinned backend of every layer.
struct Pins(Vec<Option<usize>>);

impl Pins {
    fn new(
        network: &Network,
        evaluated: &[bool],
        backends: &[Arc<BackendInstance>],
        unusable: &[(BackendId, String)],
        options: &OptimizerOptions,
        matches: &mut PinMatches,
    ) -> Result<Self, OptimizeError> {
        if options.pins.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let mut pins = vec![None; network.layers().len()];
        // Names are unique in a network.
        let layers = network.layers();
        let by_name: HashMap<&str, usize> = layers
            .iter()
            .enumerate()
            .map(|(index, layer)| (layer.name.as_str(), index))
            .collect();
        for ((pattern, id), matched) in options.pins.iter().zip(&mut matches.0) {
            let backend = backends.iter().position(|b| b.id() == id).ok_or_else(|| {
                OptimizeError::PinnedBackendMissing {
                    pattern: pattern.to_string(),
                    backend: id.clone(),
                    reason: why_missing(id, unusable),
                    usable: backends.iter().map(|b| b.id().clone()).collect(),
                }
            })?;
            let mut bind = |index: usize| {
                // There is nothing for a backend to do in the others.
                if !evaluated[index] {
                    pins[index] = Some(backend);
                    *matched = true;
                }
            };
            match pattern.exact_name() {
                Some(name) => by_name.get(name).copied().into_iter().for_each(&mut bind),
                None => (0..layers.len())
                    .filter(|&index| pattern.matches(&layers[index]))
                    .for_each(&mut bind),
            }
        }
        Ok(Self(pins))
    }

    fn of(&self, layer: usize) -> Option<usize> {
        self.0.get(layer).copied().flatten()
    }
}
