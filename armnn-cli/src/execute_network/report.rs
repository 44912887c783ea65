//! The report of a run, as it is written as JSON.

use std::{collections::HashMap, time::Duration};

use armnn_network::LayerId;
use armnn_runtime::{
    AssignmentReport, BackendId, BackendReport, BackendVersion, Choice, LayerAssignment, Origin,
    PassReport, StepReport,
};
use serde::Serialize;

use super::{
    arguments::Arguments, comparison::Comparison, inputs::Input, outputs::OutputSummary,
    profile::Profile,
};
use crate::{
    model::Model,
    peak_memory::peak_resident_bytes,
    timing::{Statistics, milliseconds},
    value_file,
};

/// Everything that is told of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of the command.
    pub armnn_version: String,
    /// The version of the backend interface.
    pub api_version: String,
    /// The model.
    pub model: ModelReport,
    /// What was asked for.
    pub options: OptionsReport,
    /// The backends of the runtime.
    pub backends: Vec<UsedBackend>,
    /// The inputs, in the model's order.
    pub inputs: Vec<InputReport>,
    /// The outputs, in the model's order.
    pub outputs: Vec<OutputSummary>,
    /// How many layers each backend executed.
    pub layers_per_backend: Vec<BackendLayers>,
    /// The backends in the order of preference that was used, whether one was given or not.
    pub preference: Vec<String>,
    /// Every deviation from the first preference.
    pub deviations: Vec<Deviation>,
    /// What was rewritten before layers were assigned, in order.
    pub passes: Vec<PassSummary>,
    /// Every layer, in the order of execution.
    pub layers: Vec<LayerReport>,
    /// What was executed as one. Layers that depend on constants alone were executed when the model
    /// was loaded, and are in no step.
    pub steps: Vec<StepLayers>,
    /// How long it took, in milliseconds.
    pub timings_ms: TimingsReport,
    /// How long each step took in one more execution; absent unless a profile is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// How far the outputs are from others, if that is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<Comparison>,
    /// How much memory it took.
    pub memory: MemoryReport,
}

/// What one run of a pass did.
#[derive(Clone, Debug, Serialize)]
pub struct PassSummary {
    /// The pass.
    pub pass: String,
    /// In which round, from 0 on.
    pub round: usize,
    /// How many layers it removed.
    pub layers_removed: usize,
    /// How many it changed.
    pub layers_changed: usize,
}

/// What passes did.
pub fn passes(reports: &[PassReport]) -> Vec<PassSummary> {
    let summaries = reports.iter().map(|report| PassSummary {
        pass: report.pass.to_string(),
        round: report.round,
        layers_removed: report.summary.removed.len(),
        layers_changed: report.summary.changed.len(),
    });
    summaries.collect()
}

/// A model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelReport {
    /// The file.
    pub path: String,
    /// Its format.
    pub format: String,
    /// Its size.
    pub file_bytes: u64,
    /// How many layers it has.
    pub layers: usize,
}

/// What was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct OptionsReport {
    /// Backends in order of preference; empty: the default order.
    pub compute: Vec<String>,
    /// Pins.
    pub layer_backend: Vec<String>,
    /// Whether fallback was an error.
    pub strict: bool,
    /// Timed executions.
    pub iterations: u32,
    /// Executions before them.
    pub warmup: u32,
    /// How many steps an execution is of; absent without `--steps`.
    pub steps: Option<usize>,
    /// Outputs that are fed back to inputs.
    pub feedback: Vec<String>,
    /// Threads; absent: as many as the machine has.
    pub number_of_threads: Option<u32>,
}

/// A backend of the runtime.
#[derive(Clone, Debug, Serialize)]
pub struct UsedBackend {
    /// Its id.
    pub id: String,
    /// What it is.
    pub kind: String,
    /// The interface version that it was built against.
    pub api_version: String,
    /// `static` or `dynamic`.
    pub origin: &'static str,
    /// The shared object of a dynamic one.
    pub path: Option<String>,
}

/// An input.
#[derive(Clone, Debug, Serialize)]
pub struct InputReport {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub data_type: String,
    /// Its shape, in one step.
    pub shape: Vec<i64>,
    /// What it is, if it is no tensor of numbers: the sequence, the optional, or the strings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where its data come from; absent: they are random.
    pub source: Option<String>,
}

/// How many layers a backend executed.
#[derive(Clone, Debug, Serialize)]
pub struct BackendLayers {
    /// The backend.
    pub backend: String,
    /// How many.
    pub layers: usize,
}

/// A reason for which something is not as the first preference says.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Deviation {
    /// A backend could not be used at all.
    UnusableBackend {
        /// The backend.
        backend: String,
        /// Why.
        reason: String,
    },
    /// A backend refused layers of a type.
    Refused {
        /// The backend.
        backend: String,
        /// The type.
        layer_type: String,
        /// Why.
        reason: String,
        /// The layers.
        layers: Vec<LayerName>,
        /// The backends that executed them.
        executed_by: Vec<BackendLayers>,
    },
    /// Layers are bound to a backend, or suggested for it, or depend on constants alone and are
    /// executed where their result is read.
    Moved {
        /// Why: `pin`, `hint` or `follows-consumer`.
        choice: &'static str,
        /// The backend.
        backend: String,
        /// The layers.
        layers: Vec<LayerName>,
    },
}

/// How a layer is named.
#[derive(Clone, Debug, Serialize)]
pub struct LayerName {
    /// Its place in the order of execution.
    pub index: u32,
    /// Its name in the model; may be empty.
    pub name: String,
}

/// A layer, and which backend executed it.
#[derive(Clone, Debug, Serialize)]
pub struct LayerReport {
    /// Its place in the order of execution.
    pub index: u32,
    /// Its name in the model; may be empty.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub layer_type: String,
    /// The backend.
    pub backend: String,
    /// Why that one: `preference`, `pin`, `hint`, `follows-consumer` or `reassigned`.
    pub choice: &'static str,
    /// The backends that were asked first, and refused.
    pub refusals: Vec<RefusalReport>,
}

/// A backend that refused a layer.
#[derive(Clone, Debug, Serialize)]
pub struct RefusalReport {
    /// The backend.
    pub backend: String,
    /// Why.
    pub reason: String,
}

/// What was executed as one.
#[derive(Clone, Debug, Serialize)]
pub struct StepLayers {
    /// The backend.
    pub backend: String,
    /// The layers, by index.
    pub layers: Vec<u32>,
}

/// How long it took, in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct TimingsReport {
    /// Reading the model.
    pub read_model: f64,
    /// Reading the inputs.
    pub read_inputs: f64,
    /// Making the runtime: finding and loading backends.
    pub create_runtime: f64,
    /// Assigning layers to backends.
    pub optimize: f64,
    /// Compiling the model on its backends.
    pub load: f64,
    /// Making an execution state.
    pub create_execution_state: f64,
    /// Each execution before the timed ones.
    pub warmup: Vec<f64>,
    /// Each timed execution.
    pub iterations: Vec<f64>,
    /// The statistics of the timed executions.
    pub statistics: Option<Statistics>,
}

/// How much memory it took, in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryReport {
    /// The most that the process had resident; absent where the system does not tell.
    pub peak_resident_bytes: Option<u64>,
    /// What the tensors of an execution state take.
    pub execution_state_bytes: usize,
}

/// How long the phases of a run took.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    /// Reading the model.
    pub read_model: Duration,
    /// Reading the inputs.
    pub read_inputs: Duration,
    /// Making the runtime.
    pub create_runtime: Duration,
    /// Assigning layers to backends.
    pub optimize: Duration,
    /// Compiling the model on its backends.
    pub load: Duration,
    /// Making an execution state.
    pub create_execution_state: Duration,
    /// Each execution before the timed ones.
    pub warmup: Vec<Duration>,
    /// Each timed execution.
    pub iterations: Vec<Duration>,
}

/// What a report is made of.
pub struct Run<'a> {
    /// What was asked for.
    pub arguments: &'a Arguments,
    /// The model.
    pub model: &'a Model,
    /// Its inputs.
    pub inputs: &'a [Input],
    /// Its outputs.
    pub outputs: Vec<OutputSummary>,
    /// The backends of the runtime, after the model was optimized.
    pub backends: &'a BackendReport,
    /// Which backend executed which layer.
    pub assignment: &'a AssignmentReport,
    /// What was executed as one.
    pub steps: &'a [StepReport],
    /// How long it took.
    pub phases: &'a Phases,
    /// What passes did.
    pub passes: Vec<PassSummary>,
    /// How long each step took.
    pub profile: Option<Profile>,
    /// How far the outputs are from others.
    pub comparisons: Vec<Comparison>,
    /// Bytes of the execution state.
    pub execution_state_bytes: usize,
}

impl Report {
    /// The report of a run.
    pub fn new(run: Run<'_>) -> Self {
        let Run {
            arguments,
            assignment,
            ..
        } = run;
        Self {
            armnn_version: env!("CARGO_PKG_VERSION").to_owned(),
            api_version: BackendVersion::CURRENT.to_string(),
            model: ModelReport {
                path: arguments.model_path.display().to_string(),
                format: run.model.format.to_string(),
                file_bytes: run.model.file_size,
                layers: run.model.network.layers().len(),
            },
            options: options(arguments, run.inputs),
            backends: run.backends.backends.iter().map(UsedBackend::new).collect(),
            inputs: run.inputs.iter().map(InputReport::new).collect(),
            outputs: run.outputs,
            layers_per_backend: layers_per_backend(assignment.layers_per_backend()),
            preference: names(&assignment.preference),
            deviations: deviations(assignment),
            layers: assignment.layers.iter().map(LayerReport::new).collect(),
            steps: run.steps.iter().map(StepLayers::new).collect(),
            passes: run.passes,
            timings_ms: TimingsReport::new(run.phases),
            profile: run.profile,
            comparisons: run.comparisons,
            memory: MemoryReport {
                peak_resident_bytes: peak_resident_bytes(),
                execution_state_bytes: run.execution_state_bytes,
            },
        }
    }
}

fn names(ids: &[BackendId]) -> Vec<String> {
    ids.iter().map(BackendId::to_string).collect()
}

fn options(arguments: &Arguments, inputs: &[Input]) -> OptionsReport {
    OptionsReport {
        compute: names(&arguments.preferred_backends()),
        layer_backend: arguments
            .layer_backend
            .iter()
            .map(|pin| format!("{}={}", pin.pattern, pin.backend))
            .collect(),
        strict: arguments.strict,
        iterations: arguments.iterations.get(),
        warmup: arguments.warmup,
        steps: inputs.iter().find_map(|input| input.steps),
        feedback: arguments.feedback.clone(),
        number_of_threads: arguments.number_of_threads,
    }
}

impl UsedBackend {
    fn new(info: &armnn_runtime::BackendInfo) -> Self {
        let (origin, path) = match &info.origin {
            Origin::Static => ("static", None),
            Origin::Dynamic(path) => ("dynamic", Some(path.display().to_string())),
        };
        Self {
            id: info.id.to_string(),
            kind: info.capabilities.kind.to_string(),
            api_version: info.version.to_string(),
            origin,
            path,
        }
    }
}

impl InputReport {
    fn new(input: &Input) -> Self {
        Self {
            name: input.name.clone(),
            data_type: match &input.other {
                Some(value) => value_file::kind_name(value).to_owned(),
                None => input.info.data_type.to_string(),
            },
            shape: match input.other {
                Some(_) => Vec::new(),
                None => input.info.shape.dims().to_vec(),
            },
            value: input.other.as_ref().map(value_file::describe),
            source: input.source.as_ref().map(ToString::to_string),
        }
    }
}

impl LayerReport {
    fn new(layer: &LayerAssignment) -> Self {
        let refusals = layer.refusals.iter().map(|refusal| RefusalReport {
            backend: refusal.backend.to_string(),
            reason: refusal.reason.clone(),
        });
        Self {
            index: layer.layer.0,
            name: layer.name.clone(),
            layer_type: layer.type_name.clone(),
            backend: layer.backend.to_string(),
            choice: choice_name(layer.choice),
            refusals: refusals.collect(),
        }
    }
}

impl LayerName {
    fn new(layer: &LayerAssignment) -> Self {
        Self {
            index: layer.layer.0,
            name: layer.name.clone(),
        }
    }
}

impl StepLayers {
    fn new(step: &StepReport) -> Self {
        Self {
            backend: step.backend.to_string(),
            layers: step.layers.iter().map(|&LayerId(index)| index).collect(),
        }
    }
}

impl TimingsReport {
    fn new(phases: &Phases) -> Self {
        let all = |times: &[Duration]| times.iter().copied().map(milliseconds).collect();
        Self {
            read_model: milliseconds(phases.read_model),
            read_inputs: milliseconds(phases.read_inputs),
            create_runtime: milliseconds(phases.create_runtime),
            optimize: milliseconds(phases.optimize),
            load: milliseconds(phases.load),
            create_execution_state: milliseconds(phases.create_execution_state),
            warmup: all(&phases.warmup),
            iterations: all(&phases.iterations),
            statistics: Statistics::of(&phases.iterations),
        }
    }
}

const fn choice_name(choice: Choice) -> &'static str {
    match choice {
        Choice::Pin => "pin",
        Choice::Hint => "hint",
        Choice::Preference => "preference",
        Choice::FollowsConsumer => "follows-consumer",
        Choice::Runtime => "runtime",
        Choice::Reassigned => "reassigned",
    }
}

fn layers_per_backend(counts: Vec<(BackendId, usize)>) -> Vec<BackendLayers> {
    let named = |(backend, layers): (BackendId, usize)| BackendLayers {
        backend: backend.to_string(),
        layers,
    };
    counts.into_iter().map(named).collect()
}

/// Everything that is not as the first preference says, gathered.
fn deviations(assignment: &AssignmentReport) -> Vec<Deviation> {
    let unusable = assignment.unusable.iter();
    let unusable = unusable.map(|(backend, reason)| Deviation::UnusableBackend {
        backend: backend.to_string(),
        reason: reason.clone(),
    });
    let mut deviations: Vec<_> = unusable.collect();
    for gathered in assignment.gathered_refusals() {
        let mut executed_by: Vec<(BackendId, usize)> = Vec::new();
        for layer in &gathered.layers {
            match executed_by.iter_mut().find(|(id, _)| *id == layer.backend) {
                Some((_, count)) => *count += 1,
                None => executed_by.push((layer.backend.clone(), 1)),
            }
        }
        deviations.push(Deviation::Refused {
            backend: gathered.backend.to_string(),
            layer_type: gathered.layer_type.to_string(),
            reason: gathered.reason.to_owned(),
            layers: gathered
                .layers
                .iter()
                .map(|layer| LayerName::new(layer))
                .collect(),
            executed_by: layers_per_backend(executed_by),
        });
    }
    deviations.extend(moved(assignment));
    deviations
}

/// Layers that are elsewhere than the first preference says without a backend having refused them.
fn moved(assignment: &AssignmentReport) -> Vec<Deviation> {
    let first = assignment.preference.first();
    let mut gathered: Vec<(&'static str, &BackendId, Vec<LayerName>)> = Vec::new();
    let mut index = HashMap::new();
    for layer in &assignment.layers {
        let is_moved = matches!(
            layer.choice,
            Choice::Pin | Choice::Hint | Choice::FollowsConsumer
        );
        if !is_moved || first == Some(&layer.backend) {
            continue;
        }
        let choice = choice_name(layer.choice);
        let at = *index.entry((choice, &layer.backend)).or_insert_with(|| {
            gathered.push((choice, &layer.backend, Vec::new()));
            gathered.len() - 1
        });
        gathered[at].2.push(LayerName::new(layer));
    }
    let deviations = gathered
        .into_iter()
        .map(|(choice, backend, layers)| Deviation::Moved {
            choice,
            backend: backend.to_string(),
            layers,
        });
    deviations.collect()
}
