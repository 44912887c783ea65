//! Executing a network once, or several times in a row on one execution state.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use armnn_runtime::{DataType, ExecutionState, Shape, TensorInfo, Value};

/// What an input is in each step.
#[derive(Clone, Copy, Debug)]
pub enum StepValues<'a> {
    /// The same in every step.
    Same(&'a [u8]),
    /// The same in every step, and no tensor of numbers.
    Other(&'a Value),
    /// Another one in each step, one after the other.
    Each(&'a [u8]),
    /// The first one, and then what the output with this index was in the step before.
    Feedback {
        /// The first one.
        first: &'a [u8],
        /// The index of the output.
        output: usize,
    },
}

/// An output after the last execution; after several steps, of all of them, one after the other.
#[derive(Clone, Debug)]
pub struct OutputValue {
    /// Its type and the shape of one step.
    pub info: TensorInfo,
    /// How many steps its elements are of, where there are steps.
    pub steps: Option<usize>,
    /// Its elements.
    pub bytes: Vec<u8>,
    /// What it is, if it is no tensor of numbers; all else is empty then.
    pub other: Option<Value>,
}

impl OutputValue {
    /// The dimensions, with that of the steps first.
    pub fn dims(&self) -> Vec<i64> {
        let steps = self.steps.map(|steps| steps as i64);
        steps
            .into_iter()
            .chain(self.info.shape.dims().iter().copied())
            .collect()
    }

    /// An output that is no tensor of numbers.
    pub fn of_other(value: Value) -> Self {
        Self {
            info: TensorInfo::new(DataType::UInt8, [0]),
            steps: None,
            bytes: Vec::new(),
            other: Some(value),
        }
    }

    /// How many elements there are.
    pub fn count(&self) -> usize {
        let dims = self.dims();
        dims.iter()
            .map(|&dim| usize::try_from(dim).unwrap_or(0))
            .fold(1, usize::saturating_mul)
    }
}

/// The outputs of the last execution.
pub fn outputs(state: &ExecutionState, count: usize) -> Vec<OutputValue> {
    (0..count)
        .map(|index| match state.output_value(index) {
            None | Some(Value::Tensor(_)) => OutputValue {
                info: state.output_info(index),
                steps: None,
                bytes: state.output(index).to_vec(),
                other: None,
            },
            Some(other) => OutputValue::of_other(other.clone()),
        })
        .collect()
}

/// Executes `steps` steps on one execution state, and returns what `n_outputs` outputs were in
/// each, and how long executing took, without copying inputs and outputs.
///
/// # Errors
/// When an input has another size than the state is made for, an output cannot be fed back or
/// changes its shape, or a backend fails.
pub fn execute(
    state: &mut ExecutionState,
    steps: usize,
    inputs: &[StepValues<'_>],
    n_outputs: usize,
) -> anyhow::Result<(Vec<OutputValue>, Duration)> {
    let mut collected: Vec<OutputValue> = Vec::new();
    let mut time = Duration::ZERO;
    for step in 0..steps {
        for (index, values) in inputs.iter().enumerate() {
            set_input(state, index, values, step, steps)?;
        }
        let start = Instant::now();
        state.execute().with_context(|| match steps {
            1 => "the execution failed".to_owned(),
            _ => format!("step {step} of {steps} failed"),
        })?;
        time += start.elapsed();
        let of_step = outputs(state, n_outputs);
        if step == 0 {
            collected = of_step;
            collected.iter_mut().for_each(|o| o.steps = Some(steps));
            continue;
        }
        if of_step.iter().any(|output| output.other.is_some()) {
            bail!(
                "outputs of several steps can be put together only if all are tensors of numbers"
            );
        }
        if let Some(packed) = of_step.iter().find(|o| o.info.data_type.size().is_none()) {
            bail!(
                "outputs of several steps cannot be put together: one is {}, whose elements are no \
                 whole bytes",
                packed.info
            );
        }
        for (index, (all, one)) in collected.iter_mut().zip(of_step).enumerate() {
            ensure!(
                all.info.shape == one.info.shape,
                "output {index} is {} in step {step} and was {} before: outputs of several steps \
                 must have one shape",
                one.info,
                all.info
            );
            all.bytes.extend_from_slice(&one.bytes);
        }
    }
    Ok((collected, time))
}

fn set_input(
    state: &mut ExecutionState,
    index: usize,
    values: &StepValues<'_>,
    step: usize,
    steps: usize,
) -> anyhow::Result<()> {
    match *values {
        StepValues::Other(value) => state.set_input_value(index, value.clone())?,
        StepValues::Same(bytes) => state.set_input(index, bytes)?,
        StepValues::Each(bytes) => {
            let len = bytes.len() / steps;
            state.set_input(index, &bytes[step * len..(step + 1) * len])?;
        }
        StepValues::Feedback { first, .. } if step == 0 => state.set_input(index, first)?,
        StepValues::Feedback { output, .. } => {
            let (from, to) = (state.output_info(output), state.input_info(index));
            expect_same(&from, &to).with_context(|| {
                format!("output {output} cannot be fed back to input {index} in step {step}")
            })?;
            let bytes = state.output(output).to_vec();
            state.set_input(index, &bytes)?;
        }
    }
    Ok(())
}

fn expect_same(from: &TensorInfo, to: &TensorInfo) -> anyhow::Result<()> {
    ensure!(
        from.data_type == to.data_type && from.shape == to.shape,
        "the output is {from}, the input takes {to}"
    );
    Ok(())
}

/// The shapes of all inputs in one step.
pub fn shapes<'a>(infos: impl IntoIterator<Item = &'a TensorInfo>) -> Vec<Shape> {
    infos.into_iter().map(|info| info.shape).collect()
}
