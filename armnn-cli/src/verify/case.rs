//! One case: runs a model on recorded inputs, and compares its outputs with recorded ones.
//!
//! This happens in a process of its own.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use armnn_network::{Network, ValueType};
use armnn_onnx_parser::OnnxParserError;
use armnn_runtime::{
    HostTensor, LoadError, LoadOptions, LoadedNetwork, OptimizeError, OptimizerOptions, Runtime,
    Shape, TensorInfo, Value,
};
use armnn_tflite_parser::TfliteParserError;
use serde::{Deserialize, Serialize};

use super::{
    Arguments,
    compare::{self, Rule},
    detections::{Detections, SameThing},
    discovery::{self, Recording},
    meta::{Meta, OutputMeta, Tolerance},
};
use crate::{
    elements, model,
    runtime_options::{create_runtime, creation_options},
    steps::{self, OutputValue, StepValues},
    tensor_file::{StoredTensor, UnknownElements, split_steps},
    terminal::{number, one_line},
    value_file::{StoredValue, tensor_pairs},
};

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// In one word.
    pub status: Status,
    /// In more.
    pub detail: String,
}

/// What became of a case, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every output is what was recorded.
    Passed,
    /// An output is not, or something went wrong.
    Failed,
    /// Refused before anything was computed, with what is not supported named.
    Unsupported,
    /// The process ended without an answer, or not in time.
    Crashed,
    /// What all cases need is not there. Not counted: nothing was verified.
    CannotStart,
}

/// Verifies the case of this model.
pub fn verify(model: &Path, arguments: &Arguments) -> Outcome {
    let runtime = match make_runtime(arguments) {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::new(Status::CannotStart, &error),
    };
    match run(model, arguments, &runtime) {
        Ok(detail) => Outcome {
            status: Status::Passed,
            detail,
        },
        Err(error) if is_refusal(&error) => Outcome::new(Status::Unsupported, &error),
        Err(error) => Outcome::new(Status::Failed, &error),
    }
}

impl Outcome {
    fn new(status: Status, error: &anyhow::Error) -> Self {
        let detail = match status {
            // What cannot start is told with its lines.
            Status::CannotStart => format!("{error:#}"),
            // The case says which model it is.
            _ => refusals(error).unwrap_or_else(|| one_line(error)),
        };
        Self { status, detail }
    }
}

/// Makes the runtime; a preferred backend that cannot be used is an error, since what is verified
/// would be another one.
fn make_runtime(arguments: &Arguments) -> anyhow::Result<Runtime> {
    let directories = &arguments.dynamic_backends_paths;
    let mut options = creation_options(directories, &arguments.backend_options)?;
    if let Some(n) = arguments.number_of_threads {
        options = options.number_of_threads(n);
    }
    let runtime = create_runtime(options)?;
    for id in &arguments.compute {
        if let Err(error) = runtime.probe(id) {
            bail!(
                "the backend {id} of -c cannot be used: {error}; `armnn backends doctor` tells more"
            );
        }
    }
    Ok(runtime)
}

/// Whether something was refused up front.
fn is_refusal(error: &anyhow::Error) -> bool {
    refusals(error).is_some()
        || error.chain().any(|cause| {
            matches!(
                cause.downcast_ref(),
                Some(OptimizeError::LayerRefused { .. })
            ) || matches!(
                cause.downcast_ref(),
                Some(LoadError::Refused(OptimizeError::LayerRefused { .. }))
            ) || matches!(
                cause.downcast_ref(),
                Some(OnnxParserError::OpsetVersion { .. } | OnnxParserError::IrVersion { .. })
            ) || cause.is::<UnknownElements>()
        })
}

/// What a parser does not support in a model.
fn refusals(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(OnnxParserError::Unsupported { refusals, .. }) = cause.downcast_ref() {
            return Some(refusals.to_string());
        }
        match cause.downcast_ref() {
            Some(TfliteParserError::Unsupported { refusals, .. }) => Some(refusals.to_string()),
            _ => None,
        }
    })
}

fn run(path: &Path, arguments: &Arguments, runtime: &Runtime) -> anyhow::Result<String> {
    let model = model::load(path)?;
    let meta = Meta::read(&path.with_file_name("meta.json"))?;
    let recordings = discovery::recordings(path)?;
    ensure!(
        !recordings.is_empty(),
        "no values are recorded for '{}'",
        path.display()
    );
    // Before anything is compiled: what cannot be read needs no runtime.
    let read: Vec<ReadRecording> = recordings
        .iter()
        .map(|recording| {
            ReadRecording::new(recording, &model.network, &meta)
                .with_context(|| in_recording(recording))
        })
        .collect::<Result<_, _>>()?;
    let options = OptimizerOptions {
        preferred_backends: arguments.compute.clone(),
        ..OptimizerOptions::default()
    };
    let optimized = runtime
        .optimize(model.network.clone(), &options)
        .context("the model cannot be given to backends")?;
    let loaded = runtime
        .load_network(optimized, LoadOptions::default())
        .context("the model cannot be loaded on its backends")?;
    let mut largest: f64 = 0.0;
    for (recording, read) in recordings.iter().zip(&read) {
        let difference = verify_recording(&loaded, &model.network, &meta, read, arguments.rule())
            .with_context(|| in_recording(recording))?;
        largest = largest.max(difference);
    }
    Ok(format!("largest difference {}", number(largest)))
}

fn in_recording(recording: &Recording) -> String {
    match recording.name.as_str() {
        "" => "with the values beside the model".to_owned(),
        name => format!("with the values in {name}"),
    }
}

/// A recording whose files were read and fit the model.
struct ReadRecording {
    inputs: Vec<ReadInput>,
    outputs: Vec<StoredValue>,
    steps: Option<usize>,
    /// For each input: the output that is fed back to it.
    feedback: Vec<Option<usize>>,
}

/// What is recorded for an input.
enum ReadInput {
    /// Type and shape of one step, and the elements.
    Tensor(TensorInfo, StoredTensor),
    /// What is no tensor of numbers.
    Other(Value),
}

impl ReadInput {
    fn shape(&self) -> Shape {
        match self {
            Self::Tensor(info, _) => info.shape,
            Self::Other(_) => Shape::SCALAR,
        }
    }
}

impl ReadRecording {
    fn new(recording: &Recording, network: &Network, meta: &Meta) -> anyhow::Result<Self> {
        expect_count("input", recording.inputs.len(), network.inputs().len())?;
        expect_count("output", recording.outputs.len(), network.outputs().len())?;
        let steps = meta.steps.map(usize::from).filter(|&steps| steps > 1);
        let mut inputs = Vec::new();
        for (index, path) in recording.inputs.iter().enumerate() {
            let tensor = network.tensor(network.inputs()[index]);
            let of = tensor.value_type();
            let input = read(path, &of)?.input_of(&of, steps).with_context(|| {
                format!(
                    "'{}' cannot be input {index} '{}'",
                    path.display(),
                    tensor.name
                )
            })?;
            inputs.push(input);
        }
        let outputs = recording.outputs.iter().zip(network.outputs());
        let outputs =
            outputs.map(|(path, output)| read(path, &network.tensor(output.tensor).value_type()));
        Ok(Self {
            inputs,
            outputs: outputs.collect::<Result<_, _>>()?,
            steps,
            feedback: feedback(network, meta)?,
        })
    }
}

fn expect_count(what: &str, recorded: usize, of_model: usize) -> anyhow::Result<()> {
    ensure!(
        recorded == of_model,
        "{recorded} {what}s are recorded, the model has {of_model}"
    );
    Ok(())
}

fn read(path: &Path, of: &ValueType) -> anyhow::Result<StoredValue> {
    let stored = if path.extension().is_some_and(|e| e == "pb") {
        StoredValue::read_pb_file(path, of)
    } else {
        StoredTensor::read_npy_file(path).map(StoredValue::Tensor)
    };
    stored.with_context(|| format!("cannot use '{}'", path.display()))
}

impl StoredValue {
    /// What is recorded, for an input of this type.
    fn input_of(self, of: &ValueType, steps: Option<usize>) -> anyhow::Result<ReadInput> {
        Ok(match (self, of) {
            (Self::Tensor(stored), ValueType::Tensor(declared)) => {
                let info = check_input(&stored, declared, steps)?;
                ReadInput::Tensor(info, stored)
            }
            (other, of) => ReadInput::Other(other.to_value(of)?),
        })
    }
}

/// The type and shape of an input in one step.
fn check_input(
    stored: &StoredTensor,
    declared: &TensorInfo,
    steps: Option<usize>,
) -> anyhow::Result<TensorInfo> {
    ensure!(
        stored.element.holds(declared.data_type),
        "it holds {stored}, the input takes {}",
        declared.data_type
    );
    let dims = match steps {
        None => &stored.dims[..],
        Some(expected) => {
            let (found, dims) = split_steps(&stored.dims)?;
            ensure!(
                found == expected,
                "it holds {found} steps, meta.json says {expected}"
            );
            dims
        }
    };
    let signed: Option<Vec<i64>> = dims.iter().map(|&dim| i64::try_from(dim).ok()).collect();
    let shape = signed.and_then(|dims| Shape::new(&dims).ok());
    match shape {
        Some(shape) if declared.shape.accepts(&shape) => Ok(TensorInfo {
            shape,
            ..declared.clone()
        }),
        _ => bail!("its shape is {dims:?}, the input takes {}", declared.shape),
    }
}

/// For each input: the output that becomes its next value.
fn feedback(network: &Network, meta: &Meta) -> anyhow::Result<Vec<Option<usize>>> {
    let mut of_inputs = vec![None; network.inputs().len()];
    for (output, input) in meta.feedback() {
        let mut outputs = network.outputs().iter();
        let from = outputs
            .position(|other| other.name == output)
            .with_context(|| format!("meta.json feeds back '{output}', which is no output"))?;
        let mut inputs = network.inputs().iter();
        let to = inputs
            .position(|&id| network.tensor(id).name == input)
            .with_context(|| format!("meta.json feeds back to '{input}', which is no input"))?;
        of_inputs[to] = Some(from);
    }
    Ok(of_inputs)
}

/// Runs a recording and compares its outputs; returns the largest difference.
fn verify_recording(
    loaded: &LoadedNetwork,
    network: &Network,
    meta: &Meta,
    recording: &ReadRecording,
    default: Rule,
) -> anyhow::Result<f64> {
    let shapes: Vec<Shape> = recording.inputs.iter().map(ReadInput::shape).collect();
    let mut state = loaded
        .create_execution_state_for(&shapes)
        .context("the model cannot be made ready for the recorded input shapes")?;
    let n_steps = recording.steps.unwrap_or(1);
    let inputs: Vec<StepValues<'_>> = recording
        .inputs
        .iter()
        .zip(&recording.feedback)
        .map(|(input, feedback)| {
            let stored = match input {
                ReadInput::Tensor(_, stored) => stored,
                ReadInput::Other(value) => return StepValues::Other(value),
            };
            match (feedback, recording.steps) {
                (Some(output), _) => StepValues::Feedback {
                    first: &stored.bytes[..stored.bytes.len() / n_steps],
                    output: *output,
                },
                (None, Some(_)) => StepValues::Each(&stored.bytes),
                (None, None) => StepValues::Same(&stored.bytes),
            }
        })
        .collect();
    let (mut outputs, _) = steps::execute(&mut state, n_steps, &inputs, network.outputs().len())
        .context("the model cannot be executed")?;
    if recording.steps.is_none() {
        outputs.iter_mut().for_each(|output| output.steps = None);
    }
    if let Some(Tolerance::Detections {
        min_score,
        iou,
        score,
    }) = meta.tolerance
    {
        let same = SameThing {
            min_score,
            iou,
            score,
        };
        return compare_detections(&outputs, &recording.outputs, same);
    }
    let rule = meta.tolerance.map_or(default, Rule::Recorded);
    let mut largest: f64 = 0.0;
    for (index, (got, want)) in outputs.iter().zip(&recording.outputs).enumerate() {
        let of_meta = meta.outputs.get(index).cloned().unwrap_or_default();
        match compare_value(got, want, &of_meta, rule) {
            Ok(compare::Largest(difference)) => largest = largest.max(difference),
            Err(reason) => bail!(
                "output {index} '{}': {reason}",
                network.outputs()[index].name
            ),
        }
    }
    Ok(largest)
}

/// Compares an output, whatever it is.
fn compare_value(
    got: &OutputValue,
    want: &StoredValue,
    meta: &OutputMeta,
    rule: Rule,
) -> Result<compare::Largest, String> {
    let got = match (&got.other, want) {
        (None, StoredValue::Tensor(want)) => return compare::compare(got, want, meta, rule),
        (None, _) => return Err(format!("it is {}, recorded is {want}", got.info)),
        (Some(got), _) => got,
    };
    let mut largest = compare::Largest::default();
    for (got, want) in tensor_pairs(got, want)? {
        let compare::Largest(difference) = compare::compare(&output_of(got), want, meta, rule)?;
        largest.0 = largest.0.max(difference);
    }
    Ok(largest)
}

fn output_of(tensor: &HostTensor) -> OutputValue {
    OutputValue {
        info: tensor.info().clone(),
        steps: None,
        bytes: tensor.bytes().to_vec(),
        other: None,
    }
}

fn compare_detections(
    outputs: &[OutputValue],
    recorded: &[StoredValue],
    same: SameThing,
) -> anyhow::Result<f64> {
    let tensors = recorded.iter().map(|stored| match stored {
        StoredValue::Tensor(tensor) => Ok(tensor),
        other => Err(anyhow::anyhow!(
            "detections are tensors, recorded is {other}"
        )),
    });
    let recorded: Vec<&StoredTensor> = tensors.collect::<Result<_, _>>()?;
    // Types and shapes as for any output; how far numbers may be apart is of no matter.
    let any = Rule::Elementwise {
        rtol: 0.0,
        atol: f64::MAX,
    };
    for (index, (got, want)) in outputs.iter().zip(&recorded).enumerate() {
        if let Err(reason) = compare::compare(got, want, &OutputMeta::default(), any) {
            bail!("output {index}: {reason}");
        }
    }
    let numbers = |info: &TensorInfo, count: usize, bytes: &[u8]| {
        let mut numbers = Vec::new();
        elements::for_each(info.data_type, count, bytes, &mut |element| {
            numbers.push(element.to_f64());
        });
        numbers
    };
    let got = outputs
        .iter()
        .map(|output| numbers(&output.info, output.count(), &output.bytes));
    let want = outputs
        .iter()
        .zip(&recorded)
        .map(|(output, stored)| numbers(&output.info, stored.count(), &stored.bytes));
    let detections = |outputs: Vec<Vec<f64>>, whose: &str| {
        Detections::new(&outputs).map_err(|reason| anyhow::anyhow!("{whose}: {reason}"))
    };
    let got = detections(got.collect(), "the outputs")?;
    let want = detections(want.collect(), "what is recorded")?;
    got.compare(&want, same).map_err(anyhow::Error::msg)
}
