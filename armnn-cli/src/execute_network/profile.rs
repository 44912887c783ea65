//! `--profile`: one more run of the model, timed step by step, as a trace that Chrome
//! (chrome://tracing) and Perfetto show.

use std::path::Path;

use anyhow::Context as _;
use armnn_network::{LayerId, Network};
use armnn_runtime::{BackendId, ExecutionState};
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
    types: Vec<String>,
}

/// Runs the model once more, timed step by step, and writes the trace.
///
/// # Errors
/// When a backend fails, or the file cannot be written.
pub fn write(state: &mut ExecutionState, network: &Network, path: &Path) -> anyhow::Result<()> {
    state.set_profiling(true);
    state
        .execute()
        .context("the model failed while it was profiled")?;
    let text = serde_json::to_string(&trace(state, network)).context("cannot write the profile")?;
    state.set_profiling(false);
    std::fs::write(path, text)
        .with_context(|| format!("cannot write the profile to '{}'", path.display()))
}

fn trace<'a>(state: &mut ExecutionState, network: &'a Network) -> Trace<'a> {
    let steps = state.step_times();
    let recorded = state.take_profile();
    let begin = steps.iter().map(|step| step.start_ns).min().unwrap_or(0);
    let micros = |ns: u64| ns.saturating_sub(begin) as f64 / 1000.0;
    let args = |layers: &[LayerId]| {
        let layers = layers.iter().map(|id| network.layer(*id));
        Args {
            name: None,
            layers: layers.clone().map(|layer| layer.name.as_str()).collect(),
            types: layers.map(|layer| layer.type_name()).collect(),
        }
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
    for step in &steps {
        let row = rows
            .iter()
            .position(|id| **id == step.backend)
            .unwrap_or_else(|| {
                rows.push(&step.backend);
                rows.len() - 1
            });
        let name = match step.layers.as_slice() {
            [] => "step".to_owned(),
            [layer] => network.layer(*layer).name.clone(),
            [first, .., last] => format!(
                "{} … {} ({} layers)",
                network.layer(*first).name,
                network.layer(*last).name,
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
    for event in &recorded {
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
