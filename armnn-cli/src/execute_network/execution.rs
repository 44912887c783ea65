//! Executing the model: warmup, timed iterations, and steps.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use armnn_network::Network;
use armnn_runtime::{
    BackendId, ExecutionState, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime,
};

use super::{arguments::Arguments, inputs::Input, report::Phases};
use crate::{
    progress::Progress,
    steps::{self, OutputValue, StepValues},
};

/// Executes the model as often as is asked for, and returns its last outputs.
///
/// # Errors
/// When a backend fails, or steps do not fit together.
pub(super) fn execute(
    loaded: &LoadedNetwork,
    state: &mut ExecutionState,
    inputs: &[Input],
    n_outputs: usize,
    arguments: &Arguments,
    phases: &mut Phases,
) -> anyhow::Result<Vec<OutputValue>> {
    let total = u64::from(arguments.warmup) + u64::from(arguments.iterations.get());
    let progress = Progress::new(total, "executions");
    let outcome = match steps_of(inputs) {
        Some(n_steps) => {
            repeat(arguments, phases, &progress, |is_first| {
                // Every iteration begins with the state that the model begins with.
                if !is_first {
                    let shapes = state.input_shapes();
                    *state = loaded.create_execution_state_for(&shapes)?;
                }
                steps::execute(state, n_steps, &values(inputs), n_outputs)
            })
        }
        None => {
            for (index, input) in inputs.iter().enumerate() {
                match &input.other {
                    Some(value) => state.set_input_value(index, value.clone())?,
                    None => state.set_input(index, &input.bytes)?,
                }
            }
            repeat(arguments, phases, &progress, |_| {
                let start = Instant::now();
                state.execute()?;
                Ok(((), start.elapsed()))
            })
            .map(|()| steps::outputs(state, n_outputs))
        }
    };
    progress.finish();
    outcome
}

/// Executes the model once on other backends, for comparison.
///
/// # Errors
/// When one of them cannot be used, or fails.
pub(super) fn execute_on(
    runtime: &Runtime,
    network: &Network,
    inputs: &[Input],
    n_outputs: usize,
    backends: Vec<BackendId>,
) -> anyhow::Result<Vec<OutputValue>> {
    for id in &backends {
        let probed = runtime.probe(id);
        ensure!(
            probed.is_ok(),
            "{id} cannot be used: {}; `armnn backends list` tells which can",
            probed.err().map(|e| e.to_string()).unwrap_or_default()
        );
    }
    let options = OptimizerOptions {
        preferred_backends: backends,
        ..OptimizerOptions::default()
    };
    let optimized = runtime.optimize(network.clone(), &options)?;
    let loaded = runtime.load_network(optimized, LoadOptions::default())?;
    let shapes = steps::shapes(inputs.iter().map(|input| &input.info));
    let mut state = loaded.create_execution_state_for(&shapes)?;
    let n_steps = steps_of(inputs);
    let (mut outputs, _) =
        steps::execute(&mut state, n_steps.unwrap_or(1), &values(inputs), n_outputs)?;
    outputs.iter_mut().for_each(|output| output.steps = n_steps);
    Ok(outputs)
}

fn steps_of(inputs: &[Input]) -> Option<usize> {
    inputs.iter().find_map(|input| input.steps)
}

fn values(inputs: &[Input]) -> Vec<StepValues<'_>> {
    inputs.iter().map(Input::values).collect()
}

/// Warmup, and timed iterations; returns what the last one returned. `run` is told whether it is
/// the first, and tells how long it took.
fn repeat<T: Default>(
    arguments: &Arguments,
    phases: &mut Phases,
    progress: &Progress,
    mut run: impl FnMut(bool) -> anyhow::Result<(T, Duration)>,
) -> anyhow::Result<T> {
    let mut last = T::default();
    let mut is_first = true;
    for (n, times) in [
        (arguments.warmup, &mut phases.warmup),
        (arguments.iterations.get(), &mut phases.iterations),
    ] {
        for iteration in 0..n {
            let (value, time) =
                run(is_first).with_context(|| format!("execution {} failed", iteration + 1))?;
            last = value;
            times.push(time);
            is_first = false;
            progress.advance();
        }
    }
    Ok(last)
}
