//! Errors of the runtime.

use armnn_backend_api::{BackendError, BackendId, DataType, LayerType, Shape};

use crate::{
    loader::{
        Verdict,
        paths::{PathReport, PathStatus},
    },
    optimizer::Refusal,
};

/// Why a runtime could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// There is no backend that can be used.
    #[error("no backend can be used{}{}", list_static(.failed_static), describe_search(.paths, .verdicts))]
    NoBackends {
        /// Every path that was looked at, with what was wrong with it.
        paths: Vec<PathReport>,
        /// Every candidate that was refused.
        verdicts: Vec<Verdict>,
        /// Static backends that could not be used, with the reason.
        failed_static: Vec<(String, String)>,
    },
    /// A required backend is missing.
    #[error("the required backend {id} cannot be used: {reason}{}", describe_search(.paths, .verdicts))]
    RequiredBackendMissing {
        /// The backend.
        id: BackendId,
        /// Why.
        reason: String,
        /// Every path that was looked at, with what was wrong with it.
        paths: Vec<PathReport>,
        /// Every candidate that was refused.
        verdicts: Vec<Verdict>,
    },
    /// More threads than a runtime may have.
    #[error("{given} threads are asked for, at most {most} are possible")]
    TooManyThreads {
        /// How many are asked for.
        given: u32,
        /// How many are possible.
        most: u32,
    },
    /// Options are given for a backend that was not found.
    #[error("option '{option}' is for backend {backend}, which cannot be used: {reason}")]
    OptionForMissingBackend {
        /// The backend.
        backend: BackendId,
        /// The option's name.
        option: String,
        /// Why it cannot be used.
        reason: String,
    },
}

fn list_static(failed: &[(String, String)]) -> String {
    failed
        .iter()
        .map(|(id, reason)| format!("\n  static backend {id}: {reason}"))
        .collect()
}

fn describe_search(paths: &[PathReport], verdicts: &[Verdict]) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    if paths.is_empty() {
        text.push_str(
            "; no path was searched: register a static backend, or set dynamic_backends_path",
        );
    }
    for report in paths {
        let outcome = match report.status {
            PathStatus::Ok => "searched",
            PathStatus::PathInvalid => &report.message,
        };
        let _ = write!(text, "\n  path {}: {outcome}", report.path.display());
    }
    for verdict in verdicts {
        let _ = write!(
            text,
            "\n  {}: {} ({}): {}",
            verdict.path.display(),
            verdict.status,
            verdict.code.map_or("-", |code| code.as_str()),
            verdict.message
        );
    }
    text
}

/// A runtime that could not be shut down, because loaded networks use its backends.
#[derive(Debug, thiserror::Error)]
#[error("backends are still in use: {}; drop the networks that are loaded on them first", list_ids(.in_use))]
pub struct ShutdownError {
    /// The backends that are in use.
    pub in_use: Vec<BackendId>,
    /// The runtime, unchanged.
    pub runtime: Box<crate::Runtime>,
}

/// Why a network could not be optimized.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptimizeError {
    /// No backend is left.
    #[error("no backend can be used{}", list_unusable(.unusable))]
    NoBackend {
        /// Backends that cannot be used, with the reason.
        unusable: Vec<(BackendId, String)>,
    },
    /// Preferred backends are not there: all of them, or one in strict mode.
    #[error("preferred backends cannot be used{}; usable are: {}", list_unusable(.missing), list_ids(.usable))]
    PreferredBackendsMissing {
        /// Them, with the reason.
        missing: Vec<(BackendId, String)>,
        /// Those that could be used.
        usable: Vec<BackendId>,
    },
    /// A pin names a backend that is not there.
    #[error("the pin {pattern}={backend} cannot be kept: {reason}; usable are: {}", list_ids(.usable))]
    PinnedBackendMissing {
        /// The pattern.
        pattern: String,
        /// The backend.
        backend: BackendId,
        /// Why it cannot be used.
        reason: String,
        /// Those that could be used.
        usable: Vec<BackendId>,
    },
    /// A pin matches no layer.
    #[error(
        "the pin {pattern}={backend} matches no layer: {}",
        describe_layers(.layer_types, .some_names)
    )]
    PinMatchesNothing {
        /// The pattern.
        pattern: String,
        /// The backend.
        backend: BackendId,
        /// The layer types of the network, with how many layers each has.
        layer_types: Vec<(LayerType, usize)>,
        /// The names of a few layers.
        some_names: Vec<String>,
    },
    /// A pin matches only layers whose work the runtime does itself: control flow, sequences, and
    /// arithmetic on shapes.
    #[error(
        "the pin {pattern}={backend} matches only layers that the runtime does itself, such as \
         '{layer}' ({type_name}): no backend executes control flow, sequences and what is computed from \
         shapes; leave the pin out"
    )]
    PinMatchesRuntime {
        /// The pattern.
        pattern: String,
        /// The backend.
        backend: BackendId,
        /// The name of a layer that it matches.
        layer: String,
        /// Its type.
        type_name: String,
    },
    /// A pinned backend refuses its layer.
    #[error("layer '{layer}' ({layer_type}) is pinned to {backend}, which refuses it: {reason}")]
    PinRefused {
        /// The layer's name.
        layer: String,
        /// Its type.
        layer_type: LayerType,
        /// The backend.
        backend: BackendId,
        /// Its reason.
        reason: String,
    },
    /// No backend takes a layer, or in strict mode its first choice does not.
    #[error("layer '{layer}' ({layer_type}) is taken by no {}:{}", if *.strict { "backend of first choice (strict)" } else { "backend" }, list_refusals(.refusals))]
    LayerRefused {
        /// The layer's name.
        layer: String,
        /// Its type.
        layer_type: LayerType,
        /// Whether fallback was ruled out.
        strict: bool,
        /// The backends asked, with their reasons.
        refusals: Vec<Refusal>,
    },
    /// There is no memory for aligned copies of constants.
    #[error("{bytes} bytes for an aligned copy of a constant cannot be had")]
    OutOfMemory {
        /// How many bytes.
        bytes: usize,
    },
}

fn list_unusable(unusable: &[(BackendId, String)]) -> String {
    unusable
        .iter()
        .map(|(id, reason)| format!("\n  {id}: {reason}"))
        .collect()
}

fn list_ids(ids: &[BackendId]) -> String {
    if ids.is_empty() {
        return "none".to_owned();
    }
    ids.iter()
        .map(BackendId::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

fn describe_layers(types: &[(LayerType, usize)], some_names: &[String]) -> String {
    if types.is_empty() {
        return "the network has no layers".to_owned();
    }
    let types: Vec<_> = types
        .iter()
        .map(|(layer_type, count)| format!("{layer_type} ({count})"))
        .collect();
    format!(
        "the network's layer types are {}, and its layers have names such as '{}'",
        types.join(", "),
        some_names.join("', '")
    )
}

fn list_refusals(refusals: &[Refusal]) -> String {
    refusals
        .iter()
        .map(|r| format!("\n  {}: {}", r.backend, r.reason))
        .collect()
}

/// Why a network could not be loaded, or not be compiled for given input shapes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The threads could not be started.
    #[error("cannot start {n_threads} threads to compute on: {source}; use fewer")]
    Threads {
        /// How many.
        n_threads: u32,
        /// Why.
        source: std::io::Error,
    },
    /// The input shapes do not fit the network.
    #[error(transparent)]
    Network(#[from] armnn_network::NetworkError),
    /// A value that should follow from shapes and constants does not.
    #[error(
        "tensor '{tensor}' is computed from shapes, and its value does not follow: an integer that \
         overflows, a division by 0, or too many elements"
    )]
    NotEvaluated {
        /// The tensor's name.
        tensor: String,
    },
    /// A tensor is larger than the memory limit.
    #[error(
        "tensor '{tensor}' of {data_type} {shape} is larger than the memory limit of {limit} bytes"
    )]
    TensorTooLarge {
        /// The tensor's name.
        tensor: String,
        /// Its type.
        data_type: DataType,
        /// Its shape.
        shape: Shape,
        /// The limit.
        limit: u64,
    },
    /// All tensors together are larger than the memory limit.
    #[error("with {what}, an execution state takes more than the memory limit of {limit} bytes")]
    MemoryLimit {
        /// What was to be placed.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// There is no memory.
    #[error("{bytes} bytes of memory for {what} cannot be had")]
    OutOfMemory {
        /// How many bytes.
        bytes: u64,
        /// What for.
        what: String,
    },
    /// Options are given for a backend that the network could not use.
    #[error("option '{option}' is for backend {backend}, which cannot be used here")]
    OptionForMissingBackend {
        /// The backend.
        backend: BackendId,
        /// The option's name.
        option: String,
    },
    /// A backend could not make its model context.
    #[error("backend {backend} cannot take the network: {source}")]
    ModelContext {
        /// The backend.
        backend: BackendId,
        /// Its error.
        source: BackendError,
    },
    /// A backend failed while it compiled a subgraph.
    #[error("backend {backend} failed to compile a subgraph: {source}")]
    Compile {
        /// The backend.
        backend: BackendId,
        /// Its error.
        source: BackendError,
    },
    /// A backend failed to compile a layer.
    #[error("backend {backend} failed to compile layer '{layer}' ({layer_type}): {source}")]
    Workload {
        /// The backend.
        backend: BackendId,
        /// The layer's name.
        layer: String,
        /// Its type.
        layer_type: LayerType,
        /// Its error.
        source: BackendError,
    },
    /// A backend's answer breaks the rules of the interface.
    #[error("backend {backend} gave an invalid answer to optimize_subgraph_view: {message}")]
    InvalidAnswer {
        /// The backend.
        backend: BackendId,
        /// What is wrong.
        message: String,
    },
    /// What a backend refused is taken by no other.
    #[error(transparent)]
    Refused(OptimizeError),
    /// A layer that depends on constants alone failed.
    #[error("while layers that depend on constants alone were executed: {0}")]
    ConstantLayers(ExecuteError),
    /// A backend failed to make what an execution state needs.
    #[error("an execution state cannot be made: {0}")]
    State(BackendError),
}

/// What is wrong with what was given to an execution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The wrong number of inputs.
    #[error("{given} inputs are given, the network has {expected}")]
    Count {
        /// How many are given.
        given: usize,
        /// How many there are.
        expected: usize,
    },
    /// An input that is not there.
    #[error("there is no input {index}, counted from 0; the network has {expected}")]
    NoInput {
        /// Which was asked for.
        index: usize,
        /// How many there are.
        expected: usize,
    },
    /// The wrong number of outputs.
    #[error("{given} outputs are asked for, the network has {expected}")]
    OutputCount {
        /// How many are given.
        given: usize,
        /// How many there are.
        expected: usize,
    },
    /// An input of the wrong size.
    #[error("input '{input}' is {info}, {expected} bytes; {given} bytes are given")]
    Size {
        /// The input's name.
        input: String,
        /// Its type and shape.
        info: String,
        /// Its bytes.
        expected: usize,
        /// The bytes given.
        given: usize,
    },
    /// An input of the wrong type.
    #[error("input '{input}' is of type {expected}, {given} is given")]
    DataType {
        /// The input's name.
        input: String,
        /// Its type.
        expected: DataType,
        /// The type given.
        given: DataType,
    },
    /// An input of the wrong kind.
    #[error("input '{input}' is {expected}, and {given} is given")]
    Kind {
        /// The input's name.
        input: String,
        /// What it is.
        expected: String,
        /// What is given.
        given: String,
    },
    /// An output that is no tensor.
    #[error("output '{output}' is no tensor; use run_values")]
    OutputKind {
        /// The output's name.
        output: String,
    },
    /// Memory of the wrong size for an output.
    #[error("output '{output}' has {expected} bytes; memory of {given} bytes is given for it")]
    OutputSize {
        /// The output's name.
        output: String,
        /// Its bytes.
        expected: usize,
        /// The bytes given.
        given: usize,
    },
    /// The execution state is of another network.
    #[error("the execution state was made by another network")]
    OtherNetwork,
}

/// An error of a backend while it executed a network.
#[derive(Debug, thiserror::Error)]
#[error("{}{source}", describe_step(.backend, .layers))]
pub struct ExecuteError {
    /// The backend.
    pub backend: Option<BackendId>,
    /// The layers that were executed, by name and type; none where the backend cannot tell.
    pub layers: Vec<String>,
    /// Its error.
    pub source: BackendError,
}

fn describe_step(backend: &Option<BackendId>, layers: &[String]) -> String {
    let mut text = backend
        .as_ref()
        .map_or_else(String::new, |id| format!("backend {id} "));
    match layers {
        [] => text.push_str("failed: "),
        [layer] => text.push_str(&format!("failed in layer {layer}: ")),
        [first, .., last] => {
            text.push_str(&format!(
                "failed in {} layers, {first} to {last}: ",
                layers.len()
            ));
        }
    }
    text
}

/// Why a network could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// What was given to it.
    #[error(transparent)]
    Input(#[from] InputError),
    /// It could not be compiled for the shapes given.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A backend failed.
    #[error(transparent)]
    Execute(ExecuteError),
}

/// Why a tensor could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// Its size is not known, or it cannot be addressed.
    #[error("a tensor of {info} has no size that could be allocated")]
    UnknownSize {
        /// Its type and shape.
        info: String,
    },
    /// The wrong number of bytes.
    #[error("a tensor of {info} has {expected} bytes; {given} are given")]
    Size {
        /// Its type and shape.
        info: String,
        /// Its bytes.
        expected: usize,
        /// The bytes given.
        given: usize,
    },
    /// There is no memory.
    #[error("{bytes} bytes for a tensor of {info} cannot be had")]
    OutOfMemory {
        /// Its type and shape.
        info: String,
        /// Its bytes.
        bytes: usize,
    },
}
