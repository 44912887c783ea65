//! `armnn execute-network`: runs a model.

mod arguments;
pub mod comparison;
mod drawing;
mod execution;
pub mod images;
pub mod input_data;
pub mod inputs;
pub mod number;
pub mod outputs;
pub mod profile;
pub mod report;
mod summary;
pub mod values;

use std::{path::Path, process::ExitCode};

use anyhow::{Context as _, bail, ensure};
use armnn_network::Network;
use armnn_runtime::{
    BackendId, ExecutionState, LoadOptions, LoadedNetwork, OptimizeError, OptimizedNetwork,
    OptimizerOptions, Runtime,
};

pub use self::arguments::{Arguments, Pin};
pub(crate) use self::arguments::{at_least_one, not_negative};
use self::{
    comparison::Comparison,
    inputs::{Input, Request},
    report::{Phases, Report, Run},
};
use crate::{
    args::Format,
    model,
    runtime_options::{create_runtime, creation_options},
    steps::{self, OutputValue},
    terminal::{self, Style},
    timing::timed,
};

/// The largest difference that a comparison allows, if none is given.
const DEFAULT_TOLERANCE: f64 = 1e-3;

/// Runs a model, and tells what came of it.
///
/// # Errors
/// When anything of it failed, with what and where.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    check_arguments(arguments)?;
    let mut phases = Phases::default();
    let (model, time) =
        timed(|| model::load_signature(&arguments.model_path, arguments.signature.as_deref()))?;
    phases.read_model = time;
    let request = Request {
        files: &arguments.input_tensor_data,
        shapes: &arguments.input_tensor_shape,
        normalisation: &arguments.normalisation(),
        quantize: arguments.quantize_input,
        steps: arguments.steps,
        feedback: &arguments.feedback,
    };
    let (inputs, time) = timed(|| inputs::prepare(&model.network, request))?;
    phases.read_inputs = time;
    let (runtime, time) = timed(|| make_runtime(arguments))?;
    phases.create_runtime = time;
    let (optimized, time) = timed(|| optimize(&runtime, &model.network, arguments))?;
    phases.optimize = time;
    print_passes(&optimized);
    let rewrites = report::passes(optimized.rewrites());
    let backends = runtime.backend_report();
    if let Some(directory) = &arguments.cache_dir {
        check_cache(directory);
    }
    let load_options = LoadOptions {
        cache_directory: arguments.cache_dir.clone(),
        ..LoadOptions::default()
    };
    let (loaded, time) = timed(|| runtime.load_network(optimized, load_options))
        .context("the model cannot be loaded on its backends")?;
    phases.load = time;
    let shapes = steps::shapes(inputs.iter().map(|input| &input.info));
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
    let names = output_names(&model.network);
    let mut outputs = execution::execute(
        &loaded,
        &mut state,
        &inputs,
        names.len(),
        arguments,
        &mut phases,
    )?;
    let comparisons = compare(
        arguments,
        &runtime,
        &model.network,
        &inputs,
        &outputs,
        &names,
    )?;
    if arguments.dequantize_output && outputs::dequantize(&mut outputs) == 0 {
        log::warn!("--dequantize-output changes nothing: no output is quantized");
    }

    let (assignment, steps) = loaded.plan_report(&shapes)?;
    let mut summaries = outputs::summarise(&outputs, &names);
    if let Some(directory) = &arguments.write_outputs_to_file {
        let files = outputs::write(&outputs, directory)?;
        for (summary, file) in summaries.iter_mut().zip(files) {
            summary.file = Some(file.display().to_string());
        }
    }
    if let Some(path) = &arguments.visualize_optimized_model {
        drawing::write(loaded.network(), &assignment, path)?;
    }
    let profile = match &arguments.profile {
        Some(path) => Some(profile::write(&mut state, path)?),
        None => None,
    };
    let report = Report::new(Run {
        arguments,
        model: &model,
        inputs: &inputs,
        outputs: summaries,
        backends: &backends,
        passes: rewrites,
        assignment: &assignment,
        steps: &steps,
        phases: &phases,
        profile,
        comparisons,
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
    let mut failures = report.comparisons.iter().filter_map(Comparison::failure);
    match failures.next() {
        Some(failure) => bail!("{failure}"),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// What can be found wrong at once is not found wrong after minutes of computing.
fn check_arguments(arguments: &Arguments) -> anyhow::Result<()> {
    for (what, path) in [
        ("report", &arguments.report),
        ("profile", &arguments.profile),
        ("drawing", &arguments.visualize_optimized_model),
    ] {
        if let Some(path) = path {
            expect_parent(what, path)?;
        }
    }
    if let Some(directory) = &arguments.compare_output {
        ensure!(
            directory.is_dir(),
            "cannot compare the outputs with those in '{}': there is no such directory; name the \
             one that holds out0.npy, … or output_0.pb, …",
            directory.display()
        );
    }
    let compares =
        arguments.compare_output.is_some() || !arguments.compare_output_with_backend.is_empty();
    ensure!(
        compares || arguments.tolerance.is_none(),
        "--tolerance is for a comparison: give --compare-output or --compare-output-with-backend, \
         too"
    );
    if let Some(directory) = &arguments.write_outputs_to_file {
        outputs::prepare_directory(directory)?;
    }
    Ok(())
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
        print_after: arguments.print_after.clone(),
        ..OptimizerOptions::default()
    };
    runtime
        .optimize(network.clone(), &options)
        .map_err(|error| {
            let hint = what_to_do(&error);
            let model = arguments.model_path.display();
            anyhow::Error::new(error)
                .context(format!("'{model}' cannot be given to backends{hint}"))
        })
}

/// What can be done about an error, where it does not say so itself.
fn what_to_do(error: &OptimizeError) -> &'static str {
    match error {
        OptimizeError::LayerRefused { strict: true, .. } => {
            "; without --strict, another one of --compute may take the layer"
        }
        OptimizeError::LayerRefused { .. } => {
            "; add one that takes the layer to --compute, or convert the model without it"
        }
        OptimizeError::PinRefused { .. } => "; pin the layer to another one, or not at all",
        _ => "",
    }
}

/// The network after the passes that were asked for, on standard error.
fn print_passes(optimized: &OptimizedNetwork) {
    for report in optimized.rewrites() {
        if let Some(dot) = &report.dot {
            eprint!("// after {} in round {}\n{dot}", report.pass, report.round);
        }
    }
}

/// Makes the comparisons that are asked for.
fn compare(
    arguments: &Arguments,
    runtime: &Runtime,
    network: &Network,
    inputs: &[Input],
    outputs: &[OutputValue],
    names: &[String],
) -> anyhow::Result<Vec<Comparison>> {
    let tolerance = arguments.tolerance.unwrap_or(DEFAULT_TOLERANCE);
    let mut comparisons = Vec::new();
    if let Some(directory) = &arguments.compare_output {
        comparisons.push(Comparison::with_directory(
            outputs, names, directory, tolerance,
        )?);
    }
    let others = arguments.compared_backends();
    if !others.is_empty() {
        let with: Vec<_> = others.iter().map(BackendId::as_str).collect();
        let with = with.join(", ");
        let of_others = execution::execute_on(runtime, network, inputs, names.len(), others)
            .with_context(|| format!("the outputs cannot be compared with those on {with}"))?;
        comparisons.push(Comparison::with_run(
            with, outputs, names, &of_others, tolerance,
        )?);
    }
    Ok(comparisons)
}

/// Says where nothing can be kept, which the runtime would say only when a backend tries. What others
/// have put there can be used all the same.
fn check_cache(directory: &Path) {
    let written = std::fs::create_dir_all(directory).and_then(|()| {
        let probe = directory.join(format!("{}.part", std::process::id()));
        std::fs::File::create_new(&probe)?;
        std::fs::remove_file(probe)
    });
    if let Err(error) = written {
        log::warn!(
            "nothing can be written to '{}' ({error}): what backends compile is not kept for the next \
             time; name another directory with --cache-dir",
            directory.display()
        );
    }
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
