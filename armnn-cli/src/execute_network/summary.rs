//! What a run tells people.

use std::fmt::Write as _;

use super::{
    outputs::OutputSummary,
    profile::TimedLayers,
    report::{Deviation, LayerName, Report},
};
use crate::terminal::{Style, number, printable};

/// How many layers of one deviation are named.
const LAYERS_SHOWN: usize = 6;
/// How many steps of a profile are shown.
const STEPS_SHOWN: usize = 20;

/// The summary of a run.
pub fn render(report: &Report, style: Style) -> String {
    let mut text = String::new();
    // Writing to a `String` does not fail.
    let _ = write_summary(&mut text, report, style);
    text
}

fn write_summary(out: &mut String, report: &Report, style: Style) -> std::fmt::Result {
    let model = &report.model;
    writeln!(
        out,
        "{} {} ({}, {} layers)",
        style.heading("Model"),
        model.path,
        model.format,
        model.layers
    )?;
    write_inputs(out, report, style)?;
    write_outputs(out, report, style)?;
    write_comparisons(out, report, style)?;
    write_time(out, report, style)?;
    write_profile(out, report, style)?;
    write_backends(out, report, style)?;
    write_deviations(out, report, style)
}

fn write_inputs(out: &mut String, report: &Report, style: Style) -> std::fmt::Result {
    writeln!(out, "\n{}", style.heading("Inputs"))?;
    for input in &report.inputs {
        let what = match &input.value {
            Some(value) => printable(value),
            None => format!("{}{:?}", input.data_type, input.shape),
        };
        write!(out, "  {}  {what}  ", printable(&input.name))?;
        match &input.source {
            Some(source) => writeln!(out, "{source}")?,
            None => writeln!(out, "{}", style.notable("random data"))?,
        }
    }
    Ok(())
}

fn write_outputs(out: &mut String, report: &Report, style: Style) -> std::fmt::Result {
    writeln!(out, "\n{}", style.heading("Outputs"))?;
    for output in &report.outputs {
        let what = match &output.value {
            Some(value) => printable(value),
            None => format!("{}{:?}  {}", output.data_type, output.shape, range(output)),
        };
        write!(out, "  {}  {what}", printable(&output.name))?;
        if output.nan > 0 {
            write!(out, "  {}", style.bad(format_args!("{} NaN", output.nan)))?;
        }
        match &output.file {
            Some(file) => writeln!(out, "  {}", style.faint(format_args!("→ {file}")))?,
            None => writeln!(out)?,
        }
        if !output.top.is_empty() {
            let top: Vec<_> = output
                .top
                .iter()
                .map(|top| format!("[{}] {}", top.index, number(top.value.0)))
                .collect();
            writeln!(out, "    largest: {}", top.join(", "))?;
        }
    }
    Ok(())
}

fn range(output: &OutputSummary) -> String {
    match (output.min, output.max) {
        (Some(min), Some(max)) => format!("{} .. {}", number(min.0), number(max.0)),
        _ => "no numbers".to_owned(),
    }
}

fn write_comparisons(out: &mut String, report: &Report, style: Style) -> std::fmt::Result {
    for comparison in &report.comparisons {
        writeln!(
            out,
            "\n{}",
            style.heading(format_args!("Compared with {}", comparison.with))
        )?;
        for output in &comparison.outputs {
            let largest = format!("largest difference {}", number(output.largest.0));
            writeln!(
                out,
                "  {}  {}  root mean square {}",
                printable(&output.name),
                if output.within_tolerance {
                    style.good(largest)
                } else {
                    style.bad(largest)
                },
                number(output.root_mean_square.0)
            )?;
        }
    }
    Ok(())
}

/// What took longest.
fn write_profile(out: &mut String, report: &Report, style: Style) -> std::fmt::Result {
    let Some(profile) = &report.profile else {
        return Ok(());
    };
    let total: f64 = profile.steps.iter().map(|step| step.ms).sum();
    let share = |ms: f64| if total > 0.0 { ms / total * 100.0 } else { 0.0 };
    let mut steps: Vec<&TimedLayers> = profile.steps.iter().collect();
    // Equal ones stay in order.
    steps.sort_by(|a, b| b.ms.total_cmp(&a.ms));
    writeln!(
        out,
        "\n{}",
        style.heading(format_args!(
            "Profile: {} steps in {total:.3} ms, those that took longest",
            steps.len()
        ))
    )?;
    for step in steps.iter().take(STEPS_SHOWN) {
        write_timed(out, step, share(step.ms), style)?;
    }
    if let Some(rest @ 1..) = steps.len().checked_sub(STEPS_SHOWN) {
        let ms: f64 = steps[STEPS_SHOWN..].iter().map(|step| step.ms).sum();
        let rest = format!("{rest} others");
        writeln!(
            out,
            "  {ms:9.3} ms {:5.1} %  {}",
            share(ms),
            style.faint(rest)
        )?;
    }
    if !profile.recorded.is_empty() {
        writeln!(
            out,
            "\n{}",
            style.heading("Recorded by backends inside of them")
        )?;
        let mut recorded: Vec<&TimedLayers> = profile.recorded.iter().collect();
        recorded.sort_by(|a, b| b.ms.total_cmp(&a.ms));
        for event in recorded.iter().take(STEPS_SHOWN) {
            write_timed(out, event, share(event.ms), style)?;
        }
    }
    Ok(())
}

fn write_timed(
    out: &mut String,
    timed: &TimedLayers,
    share: f64,
    style: Style,
) -> std::fmt::Result {
    write!(out, "  {:9.3} ms {share:5.1} %  ", timed.ms)?;
    for word in [timed.backend.as_deref(), Some(timed.name.as_str())] {
        if let Some(word) = word.filter(|word| !word.is_empty()) {
            write!(out, "{word}  ")?;
        }
    }
    if let Some((name, layer_type)) = &timed.first {
        write!(out, "{layer_type}  {}", style.faint(printable(name)))?;
    }
    if let Some(more @ 1..) = timed.layers.len().checked_sub(1) {
        write!(out, "  and {more} more layers")?;
    }
    writeln!(out)
}

fn write_time(out: &mut String, report: &Report, style: Style) -> std::fmt::Result {
    let times = &report.timings_ms;
    writeln!(out, "\n{}", style.heading("Time"))?;
    if let Some(s) = &times.statistics {
        let n = times.iterations.len();
        if n == 1 {
            writeln!(out, "  execution  {:.3} ms", s.median)?;
        } else {
            writeln!(
                out,
                "  execution  min {:.3}  median {:.3}  p95 {:.3}  max {:.3} ms  ({n} iterations)",
                s.min, s.median, s.p95, s.max
            )?;
        }
    }
    writeln!(
        out,
        "  before it  model {:.1}  inputs {:.1}  backends {:.1}  optimize {:.1}  load {:.1} ms",
        times.read_model,
        times.read_inputs,
        times.create_runtime,
        times.optimize,
        times.load + times.create_execution_state
    )
}

fn write_backends(out: &mut String, report: &Report, style: Style) -> std::fmt::Result {
    let width = report
        .layers_per_backend
        .iter()
        .map(|b| b.backend.len())
        .max()
        .unwrap_or(0)
        .max(7);
    writeln!(
        out,
        "\n{}",
        style.heading(format_args!("{:width$}  Layers", "Backend"))
    )?;
    for line in &report.layers_per_backend {
        writeln!(out, "{:width$}  {:6}", line.backend, line.layers)?;
    }
    Ok(())
}

fn write_deviations(out: &mut String, report: &Report, style: Style) -> std::fmt::Result {
    if report.deviations.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{}",
        style.heading(match report.preference.first() {
            Some(first) => format!("Deviations from the first preference, {first}"),
            None => "Deviations".to_owned(),
        })
    )?;
    for deviation in &report.deviations {
        match deviation {
            Deviation::UnusableBackend { backend, reason } => {
                writeln!(out, "  {} cannot be used: {reason}", style.notable(backend))?
            }
            Deviation::Refused {
                backend,
                layer_type,
                reason,
                layers,
                executed_by,
            } => {
                let executed_by: Vec<_> = executed_by.iter().map(|b| b.backend.as_str()).collect();
                writeln!(
                    out,
                    "  {} refused {} {layer_type}, executed by {}: {reason}\n    {}",
                    style.notable(backend),
                    layers.len(),
                    executed_by.join(", "),
                    style.faint(names(layers))
                )?;
            }
            Deviation::Moved {
                choice,
                backend,
                layers,
            } => {
                let why = match *choice {
                    "pin" => "pinned by --layer-backend",
                    "hint" => "suggested by the model",
                    _ => "of constants alone, executed where the result is read",
                };
                writeln!(
                    out,
                    "  {} executed {} layers: {why}\n    {}",
                    style.notable(backend),
                    layers.len(),
                    style.faint(names(layers))
                )?;
            }
        }
    }
    Ok(())
}

fn names(layers: &[LayerName]) -> String {
    let shown = layers
        .iter()
        .take(LAYERS_SHOWN)
        .map(|layer| match layer.name.as_str() {
            "" => format!("layer {}", layer.index),
            name => printable(name),
        });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if layers.len() > LAYERS_SHOWN {
        let _ = write!(text, " and {} more", layers.len() - LAYERS_SHOWN);
    }
    text
}
