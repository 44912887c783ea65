//! What a run tells people.

use std::fmt::Write as _;

use super::{
    outputs::OutputSummary,
    report::{Deviation, LayerName, Report},
};
use crate::terminal::Style;

/// How many layers of one deviation are named.
const LAYERS_SHOWN: usize = 6;

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
    write_time(out, report, style)?;
    write_backends(out, report, style)?;
    write_deviations(out, report, style)
}

fn write_inputs(out: &mut String, report: &Report, style: Style) -> std::fmt::Result {
    writeln!(out, "\n{}", style.heading("Inputs"))?;
    for input in &report.inputs {
        write!(
            out,
            "  {}  {}{:?}  ",
            input.name, input.data_type, input.shape
        )?;
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
        write!(
            out,
            "  {}  {}{:?}  {}",
            output.name,
            output.data_type,
            output.shape,
            range(output)
        )?;
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
                .map(|top| format!("[{}] {}", top.index, number(top.value)))
                .collect();
            writeln!(out, "    largest: {}", top.join(", "))?;
        }
    }
    Ok(())
}

fn range(output: &OutputSummary) -> String {
    match (output.min, output.max) {
        (Some(min), Some(max)) => format!("{} .. {}", number(min), number(max)),
        _ => "no numbers".to_owned(),
    }
}

/// A number with about five digits that count.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || (value.fract() == 0.0 && magnitude < 1e9) {
        format!("{value}")
    } else if (1e-3..1e5).contains(&magnitude) {
        let decimals = 4 - (magnitude.log10().floor() as i32).min(3);
        format!("{value:.*}", decimals.unsigned_abs() as usize)
    } else {
        format!("{value:.4e}")
    }
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
            name => name.to_owned(),
        });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if layers.len() > LAYERS_SHOWN {
        let _ = write!(text, " and {} more", layers.len() - LAYERS_SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, expected) in [
            (0.0, "0"),
            (255.0, "255"),
            (0.920_9, "0.92090"),
            (-127.512_34, "-127.51"),
            (12_345.678, "12345.7"),
            (0.000_012_345_6, "1.2346e-5"),
            (1.5e20, "1.5000e20"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), expected);
        }
    }
}
