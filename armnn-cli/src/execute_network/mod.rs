//! `armnn execute-network`: runs a model.

mod arguments;
pub mod images;
pub mod input_data;
pub mod inputs;
pub mod outputs;
mod profile;
pub mod report;
mod summary;
pub mod values;

use std::{
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use armnn_network::Network;
use armnn_runtime::{
    ExecutionState, LoadOptions, LoadedNetwork, OptimizedNetwork, OptimizerOptions, Runtime, Shape,
};

pub use self::arguments::{Arguments, Pin};
use self::{
    inputs::Input,
    report::{Phases, Report, Run},
};
use crate::{
    args::Format,
    model,
    runtime_options::{create_runtime, creation_options},
    terminal::{self, Style},
    timing::timed,
};

/// Runs a model, and tells what came of it.
///
/// # Errors
/// When anything of it failed, with what and where.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    // What can be found wrong at once is not found wrong after minutes of computing.
    if let Some(path) = &arguments.report {
        expect_parent("report", path)?;
    }
    if let Some(path) = &arguments.profile {
        expect_parent("profile", path)?;
    }
    if let Some(directory) = &arguments.write_outputs_to_file {
        outputs::prepare_directory(directory)?;
    }

    let mut phases = Phases::default();
    let (model, time) = timed(|| model::load(&arguments.model_path))?;
    phases.read_model = time;
    let (inputs, time) = timed(|| {
        inputs::prepare(
            &model.network,
            &arguments.input_tensor_data,
            &arguments.input_tensor_shape,
            &arguments.normalisation(),
        )
    })?;
    phases.read_inputs = time;
    let (runtime, time) = timed(|| make_runtime(arguments))?;
    phases.create_runtime = time;
    let (optimized, time) = timed(|| optimize(&runtime, &model.network, arguments))?;
    phases.optimize = time;
    let backends = runtime.backend_report();
    let (loaded, time) = timed(|| runtime.load_network(optimized, LoadOptions::default()))
        .context("the model cannot be loaded on its backends")?;
    phases.load = time;
    let shapes: Vec<Shape> = inputs.iter().map(|input| input.info.shape).collect();
    let (mut state, time) = timed(|| loaded.create_execution_state_for(&shapes))
        .context("the model cannot be made ready for these input shapes")?;
    phases.create_execution_state = time;

    for input in inputs.iter().filter(|input| input.source.is_none()) {
        log::warn!(
            "input '{}' ({}) has no data: random numbers are used, so that only the times mean \
             something; give data with --input-tensor-data",
            input.name,
            input.info
        );
    }
    execute(&mut state, &inputs, arguments, &mut phases)?;

    let (assignment, steps) = loaded.plan_report(&shapes)?;
    let names = output_names(&model.network);
    let mut summaries = outputs::summarise(&state, &names);
    if let Some(directory) = &arguments.write_outputs_to_file {
        let files = outputs::write(&state, names.len(), directory)?;
        for (summary, file) in summaries.iter_mut().zip(files) {
            summary.file = Some(file.display().to_string());
        }
    }
    if let Some(path) = &arguments.profile {
        profile::write(&mut state, loaded.network(), path)?;
    }
    let report = Report::new(Run {
        arguments,
        model: &model,
        inputs: &inputs,
        outputs: summaries,
        backends: &backends,
        assignment: &assignment,
        steps: &steps,
        phases: &phases,
        execution_state_bytes: state.memory(),
    });
    if let Some(path) = &arguments.report {
        write_report(&report, path)?;
    }
    match arguments.format {
        Format::Text => terminal::print(&summary::render(&report, Style::of_stdout()))?,
        Format::Json => terminal::print_json(&report)?,
    }
    unload(runtime, loaded, state);
    Ok(ExitCode::SUCCESS)
}

fn expect_parent(what: &str, path: &Path) -> anyhow::Result<()> {
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    ensure!(
        parent.is_dir(),
        "cannot write the {what} to '{}': there is no directory '{}'; make it first",
        path.display(),
        parent.display()
    );
    ensure!(
        !path.is_dir(),
        "cannot write the {what} to '{}': this is a directory; name a file",
        path.display()
    );
    Ok(())
}

fn make_runtime(arguments: &Arguments) -> anyhow::Result<Runtime> {
    let directories = &arguments.dynamic_backends_paths;
    let mut options = creation_options(directories, &arguments.backend_options)?;
    if let Some(n) = arguments.number_of_threads {
        options = options.number_of_threads(n);
    }
    create_runtime(options)
}

fn optimize(
    runtime: &Runtime,
    network: &Network,
    arguments: &Arguments,
) -> anyhow::Result<OptimizedNetwork> {
    let options = OptimizerOptions {
        preferred_backends: arguments.preferred_backends(),
        pins: arguments
            .layer_backend
            .iter()
            .map(|pin| (pin.pattern.clone(), pin.backend.clone()))
            .collect(),
        strict: arguments.strict,
        ..OptimizerOptions::default()
    };
    runtime
        .optimize(network.clone(), &options)
        .with_context(|| {
            format!(
                "'{}' cannot be given to backends",
                arguments.model_path.display()
            )
        })
}

fn execute(
    state: &mut ExecutionState,
    inputs: &[Input],
    arguments: &Arguments,
    phases: &mut Phases,
) -> anyhow::Result<()> {
    for (index, input) in inputs.iter().enumerate() {
        state.set_input(index, &input.bytes)?;
    }
    let mut repeat = |n: u32, times: &mut Vec<Duration>| -> anyhow::Result<()> {
        for iteration in 0..n {
            let start = Instant::now();
            state
                .execute()
                .with_context(|| format!("execution {} failed", iteration + 1))?;
            times.push(start.elapsed());
        }
        Ok(())
    };
    repeat(arguments.warmup, &mut phases.warmup)?;
    repeat(arguments.iterations.get(), &mut phases.iterations)
}

fn output_names(network: &Network) -> Vec<String> {
    network
        .outputs()
        .iter()
        .map(|output| output.name.clone())
        .collect()
}

fn write_report(report: &Report, path: &Path) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(report).context("cannot write the report")?;
    text.push('\n');
    std::fs::write(path, text)
        .with_context(|| format!("cannot write the report to '{}'", path.display()))
}

/// Gives back what was used; what became of the shared objects goes to the log.
fn unload(runtime: Runtime, loaded: LoadedNetwork, state: ExecutionState) {
    drop(state);
    drop(loaded);
    match runtime.shutdown() {
        Ok(reports) => {
            for report in reports {
                log::info!("backend {}: {:?}", report.id, report.outcome);
            }
        }
        Err(error) => log::warn!("{error}"),
    }
}
