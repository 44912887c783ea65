//! `--profile`: one more run of the model, timed step by step, as a trace that Chrome
//! (chrome://tracing) and Perfetto show.

use std::{collections::HashMap, path::Path};

use anyhow::Context as _;
use armnn_network::LayerId;
use armnn_runtime::{
    AssignmentReport, BackendId, ExecutionState, LayerAssignment, ProfileEvent, StepTime,
};
use serde::Serialize;

/// A trace in the format of Chrome's trace viewer, version "JSON Object Format".
#[derive(Serialize)]
struct Trace<'a> {
    #[serde(rename = "displayTimeUnit")]
    display_time_unit: &'static str,
    #[serde(rename = "traceEvents")]
    events: Vec<Event<'a>>,
}

/// One span, or the name of a row.
#[derive(Serialize)]
struct Event<'a> {
    name: String,
    cat: &'static str,
    ph: &'static str,
    pid: u32,
    tid: usize,
    /// Microseconds since the run began.
    ts: f64,
    dur: f64,
    args: Args<'a>,
}

#[derive(Serialize)]
struct Args<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    types: Vec<&'a str>,
}

/// What was timed.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// What was executed as one, in order.
    pub steps: Vec<TimedLayers>,
    /// What backends recorded themselves, inside of that.
    pub recorded: Vec<TimedLayers>,
    /// How much more they recorded before that, and is lost.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped: u64,
}

/// Layers that were executed as one.
#[derive(Clone, Debug, Serialize)]
pub struct TimedLayers {
    /// The backend; absent where a backend recorded it itself.
    pub backend: Option<String>,
    /// The backend's name for it; empty where it has none.
    pub name: String,
    /// The layers, by index.
    pub layers: Vec<u32>,
    /// The name and type of the first of them.
    #[serde(skip)]
    pub first: Option<(String, String)>,
    /// How long it took, in milliseconds, with the wait for an asynchronous backend.
    pub ms: f64,
}

/// Runs the model once more, timed step by step, and writes the trace.
///
/// # Errors
/// When a backend fails, or the file cannot be written.
pub fn write(state: &mut ExecutionState, path: &Path) -> anyhow::Result<Profile> {
    state.set_profiling(true);
    state
        .execute()
        .context("the model failed while it was profiled")?;
    let steps = state.step_times();
    let armnn_runtime::Profile {
        events: recorded,
        dropped,
    } = state.take_profile();
    if dropped > 0 {
        log::warn!(
            "backends recorded {dropped} events more than are kept: the first ones are lost"
        );
    }
    state.set_profiling(false);
    let report = state.report();
    let layers = Layers::new(&report);
    let text = serde_json::to_string(&trace(&steps, &recorded, &layers))
        .context("cannot write the profile")?;
    std::fs::write(path, text)
        .with_context(|| format!("cannot write the profile to '{}'", path.display()))?;
    let timed = |backend: Option<&BackendId>, name: &str, ids: &[LayerId], ns: u64| TimedLayers {
        backend: backend.map(BackendId::to_string),
        name: name.to_owned(),
        layers: ids.iter().map(|&LayerId(index)| index).collect(),
        first: ids.first().map(|&id| {
            let name = layers.name(id).to_owned();
            (name, layers.type_name(id).to_owned())
        }),
        ms: ns as f64 / 1e6,
    };
    Ok(Profile {
        steps: steps
            .iter()
            .map(|step| {
                let end = step.waited_ns.unwrap_or(step.end_ns);
                let ns = end.saturating_sub(step.start_ns);
                timed(Some(&step.backend), "", &step.layers, ns)
            })
            .collect(),
        recorded: recorded
            .iter()
            .map(|event| {
                let ns = event.end_ns.saturating_sub(event.start_ns);
                timed(None, &event.step, &event.layers, ns)
            })
            .collect(),
        dropped,
    })
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "asked for by the serializer"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The layers of a report, by number: those of bodies of control flow are not in the network itself.
struct Layers<'a>(HashMap<LayerId, &'a LayerAssignment>);

impl<'a> Layers<'a> {
    fn new(report: &'a AssignmentReport) -> Self {
        let layers = report.layers.iter();
        Self(layers.map(|layer| (layer.layer, layer)).collect())
    }

    fn name(&self, id: LayerId) -> &'a str {
        self.0.get(&id).map_or("", |layer| &layer.name)
    }

    fn type_name(&self, id: LayerId) -> &'a str {
        self.0.get(&id).map_or("", |layer| &layer.type_name)
    }
}

fn trace<'a>(steps: &[StepTime], recorded: &[ProfileEvent], layers_of: &Layers<'a>) -> Trace<'a> {
    let begin = steps.iter().map(|step| step.start_ns).min().unwrap_or(0);
    let micros = |ns: u64| ns.saturating_sub(begin) as f64 / 1000.0;
    let args = |layers: &[LayerId]| Args {
        name: None,
        layers: layers.iter().map(|&id| layers_of.name(id)).collect(),
        types: layers.iter().map(|&id| layers_of.type_name(id)).collect(),
    };
    let span = |name: String, cat, tid, start: u64, end: u64, args| Event {
        name,
        cat,
        ph: "X",
        pid: 1,
        tid,
        ts: micros(start),
        dur: end.saturating_sub(start) as f64 / 1000.0,
        args,
    };

    // A row for each backend, in the order in which they first work, and one for what backends
    // record themselves.
    let mut rows: Vec<&BackendId> = Vec::new();
    let mut events = Vec::new();
    for step in steps {
        let row = rows
            .iter()
            .position(|id| **id == step.backend)
            .unwrap_or_else(|| {
                rows.push(&step.backend);
                rows.len() - 1
            });
        let name = match step.layers.as_slice() {
            [] => "step".to_owned(),
            [layer] => layers_of.name(*layer).to_owned(),
            [first, .., last] => format!(
                "{} … {} ({} layers)",
                layers_of.name(*first),
                layers_of.name(*last),
                step.layers.len()
            ),
        };
        events.push(span(
            name,
            "step",
            row,
            step.start_ns,
            step.end_ns,
            args(&step.layers),
        ));
        if let Some(waited) = step.waited_ns {
            events.push(span(
                "wait".to_owned(),
                "wait",
                row,
                step.end_ns,
                waited,
                args(&[]),
            ));
        }
    }
    for event in recorded {
        events.push(span(
            event.step.clone(),
            "backend",
            rows.len(),
            event.start_ns,
            event.end_ns,
            args(&event.layers),
        ));
    }
    let mut names: Vec<String> = rows.iter().map(|id| id.to_string()).collect();
    if !recorded.is_empty() {
        names.push("recorded by backends".to_owned());
    }
    for (tid, name) in names.into_iter().enumerate() {
        events.push(Event {
            name: "thread_name".to_owned(),
            cat: "__metadata",
            ph: "M",
            pid: 1,
            tid,
            ts: 0.0,
            dur: 0.0,
            args: Args {
                name: Some(name),
                layers: Vec::new(),
                types: Vec::new(),
            },
        });
    }
    Trace {
        display_time_unit: "ms",
        events,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use armnn_network::{NetworkBuilder, RuntimeOperation};
    use armnn_runtime::{
        CreationOptions, DataType, LoadOptions, OptimizerOptions, Runtime, Shape, StaticBackend,
        TensorInfo,
    };

    use super::*;

    #[test]
    fn layers_of_bodies_have_their_names() {
        let info = TensorInfo::new(DataType::Float32, [2]);
        let body = |name: &str| {
            let mut builder = NetworkBuilder::new();
            let x = builder.add_input_layer("x", info.clone()).unwrap();
            let y = builder.add_abs_layer(x, name).unwrap();
            builder.add_output_layer("y", y).unwrap();
            Arc::new(builder.finish().unwrap())
        };
        let mut builder = NetworkBuilder::new();
        let condition = TensorInfo::new(DataType::Boolean, Shape::SCALAR);
        let condition = builder.add_input_layer("condition", condition).unwrap();
        let x = builder.add_input_layer("x", info.clone()).unwrap();
        let operation = RuntimeOperation::If {
            then_body: body("then"),
            else_body: body("else"),
        };
        let y = builder
            .add_runtime_layer("if", operation, &[Some(condition), Some(x)])
            .unwrap();
        builder.add_output_layer("y", y[0]).unwrap();
        let options =
            CreationOptions::new().static_backend(StaticBackend::new::<cpu_ref::CpuRef>());
        let runtime = Runtime::create(options).unwrap();
        let options = OptimizerOptions::default();
        let network = runtime
            .optimize(builder.finish().unwrap(), &options)
            .unwrap();
        let loaded = runtime
            .load_network(network, LoadOptions::default())
            .unwrap();
        let mut state = loaded.create_execution_state().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.json");
        // The condition is 0.
        let profile = write(&mut state, &path).unwrap();
        let first = profile.steps[0].first.clone();
        assert_eq!(
            first,
            Some(("else".to_owned(), "ElementwiseUnary".to_owned()))
        );
        let trace = std::fs::read_to_string(path).unwrap();
        assert!(
            trace.contains("\"else\"") && !trace.contains("\"then\""),
            "{trace}"
        );
    }
}
