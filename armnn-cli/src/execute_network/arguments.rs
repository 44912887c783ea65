//! The arguments of `armnn execute-network`.

use std::{num::NonZeroU32, path::PathBuf, str::FromStr};

use armnn_runtime::{BackendId, LayerPattern, Pass};
use clap::Args;

use super::{images::Normalisation, inputs::NamedShape};
use crate::{args::Format, runtime_options::BackendOptions};

/// The arguments of `armnn execute-network`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  armnn execute-network -m model.tflite -b ./backends -c GpuAcc,CpuAcc -d input.npy -w outputs
  armnn execute-network -m face.tflite -b ./backends -d photo.png --image-mean 127.5 \\
      --image-std 127.5
  armnn execute-network -m model.tflite -b ./backends -I 100 --warmup 10 --report report.json
  armnn execute-network -m model.tflite -b ./backends -c CpuAcc,CpuRef \\
      --layer-backend 'type:Convolution2d=CpuAcc' --layer-backend 'head/*=CpuRef'
  armnn execute-network -m vad.onnx -b ./backends -d input=speech.npy -s state=2,1,128 \\
      --steps --feedback stateN=state
  armnn execute-network -m model.tflite -b ./backends -c GpuAcc \\
      --compare-output-with-backend CpuRef --tolerance 0.01

A layer that a backend refuses goes to the next one, and the summary says so with the reason;
--strict makes that an error.")]
pub struct Arguments {
    /// The model: a TFLite or an ONNX file, told apart by content
    #[arg(short, long, value_name = "FILE")]
    pub model_path: PathBuf,

    /// Backends in order of preference; a comma list, or repeated. Default: every backend there
    /// is: accelerators, then GPUs, then CPUs, then the reference
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    pub compute: Vec<BackendId>,

    /// A directory of backends to load; repeatable
    #[arg(short = 'b', long = "dynamic-backends-path", value_name = "DIR")]
    pub dynamic_backends_paths: Vec<PathBuf>,

    /// Data of an input; repeatable. Without a NAME, files go to the inputs in the model's order.
    /// A .npy array, an .npz archive of them, raw little-endian elements (.bin), a tensor of ONNX
    /// (.pb), or an image (.png, .jpg), which is resized to the input. Without data, random numbers
    /// are used
    #[arg(short = 'd', long, value_name = "[NAME=]FILE")]
    pub input_tensor_data: Vec<String>,

    /// The shape of an input whose shape the model leaves open; repeatable. Otherwise it is taken
    /// from the data
    #[arg(short = 's', long, value_name = "NAME=1,224,224,3")]
    pub input_tensor_shape: Vec<NamedShape>,

    /// Subtracted from the samples of images, which are 0 to 255: one number, or one for each
    /// channel. Default: 0
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = finite,
          allow_negative_numbers = true)]
    pub image_mean: Vec<f64>,

    /// Then divides the samples of images: one number, or one for each channel. Default: 1
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = divisor,
          allow_negative_numbers = true)]
    pub image_std: Vec<f64>,

    /// Write the outputs to out0.npy, out1.npy, … in this directory, in the model's order
    #[arg(short, long, value_name = "DIR")]
    pub write_outputs_to_file: Option<PathBuf>,

    /// Quantize floating-point numbers in files for inputs that are quantized; raw data are then
    /// those of Float32
    #[arg(short, long)]
    pub quantize_input: bool,

    /// Make Float32 of quantized outputs, before they are told and written
    #[arg(short = 'l', long)]
    pub dequantize_output: bool,

    /// The first axis of each input file counts steps: the model is run once for each, on one
    /// execution state, and outputs gain that axis
    #[arg(long)]
    pub steps: bool,

    /// With --steps: an output becomes the next value of an input, which begins with what its file
    /// holds, or with zeros; repeatable
    #[arg(long, value_name = "OUTPUT=INPUT", requires = "steps")]
    pub feedback: Vec<String>,

    /// How often the model is run and timed; with --steps, how often all steps are
    #[arg(short = 'I', long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    pub iterations: NonZeroU32,

    /// How often the model is run before that, untimed in the statistics
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warmup: u32,

    /// How many threads backends may compute on; default: as many as the machine has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub number_of_threads: Option<u32>,

    /// Pin layers to a backend; repeatable, the last match wins. A PATTERN is a layer name with *
    /// and ?, or `type:` and a layer type. A pin that cannot be kept is an error
    #[arg(long, value_name = "PATTERN=BACKEND")]
    pub layer_backend: Vec<Pin>,

    /// What backends are asked for.
    #[command(flatten)]
    pub backend_options: BackendOptions,

    /// The function of the model that is run, by the key of its signature. Default: the first one
    #[arg(long, value_name = "NAME")]
    pub signature: Option<String>,

    /// A directory in which backends may keep what they compile for the model, for the next time;
    /// nobody else should be able to write to it
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,

    /// No fallback: a layer that its first-choice backend refuses, or a preferred backend that is
    /// not there, is an error
    #[arg(long)]
    pub strict: bool,

    /// Write what was run where, why, and how long it took to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Run the model once more, timed layer by layer, show what took longest, and write a trace
    /// for Chrome (chrome://tracing) or Perfetto to this file
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,

    /// Write the model as it was executed to this file, in the language of Graphviz, each layer in
    /// the colour of its backend
    #[arg(long, value_name = "FILE")]
    pub visualize_optimized_model: Option<PathBuf>,

    /// Write the model as it is after this pass to standard error, in the language of Graphviz,
    /// each time that it ran; repeatable
    #[arg(long, value_name = "PASS")]
    pub print_after: Vec<Pass>,

    /// Compare the outputs with out0.npy, … or output_0.pb, … in this directory
    #[arg(long, value_name = "DIR")]
    pub compare_output: Option<PathBuf>,

    /// Compare the outputs with those on other backends, in order of preference
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub compare_output_with_backend: Vec<BackendId>,

    /// The largest difference that a comparison allows; more is an error. Of quantized outputs, the
    /// real values are compared. Default: 0.001
    #[arg(long, value_name = "NUMBER", value_parser = not_negative)]
    pub tolerance: Option<f64>,

    /// How the result is written to standard output; json: the report, and nothing else
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

impl Arguments {
    /// How images are normalised.
    pub fn normalisation(&self) -> Normalisation {
        Normalisation {
            mean: self.image_mean.clone(),
            std: self.image_std.clone(),
        }
    }

    /// The backends in order of preference, each once.
    pub fn preferred_backends(&self) -> Vec<BackendId> {
        each_once(&self.compute)
    }

    /// The backends to compare with, each once.
    pub fn compared_backends(&self) -> Vec<BackendId> {
        each_once(&self.compare_output_with_backend)
    }
}

fn each_once(list: &[BackendId]) -> Vec<BackendId> {
    let mut ids: Vec<BackendId> = Vec::new();
    for id in list {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
    ids
}

/// `PATTERN=BACKEND`, as it is written on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The layers.
    pub pattern: LayerPattern,
    /// The backend.
    pub backend: BackendId,
}

impl FromStr for Pin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Layer names may contain '=', ids do not.
        let Some((pattern, backend)) = text.rsplit_once('=') else {
            return Err("a pin has the form PATTERN=BACKEND; there is no '=' here".into());
        };
        Ok(Self {
            pattern: pattern.parse().map_err(|e| format!("{e}"))?,
            backend: backend.parse().map_err(|e| format!("{e}"))?,
        })
    }
}

fn finite(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("'{text}' is no number")),
    }
}

pub(crate) fn at_least_one(text: &str) -> Result<NonZeroU32, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("'{text}' is no whole number from 1 on"))
}

pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    match finite(text)? {
        number if number < 0.0 => Err(format!("'{text}' is below 0; give 0 or more")),
        number => Ok(number),
    }
}

fn divisor(text: &str) -> Result<f64, String> {
    match finite(text)? {
        0.0 => Err("samples cannot be divided by 0".into()),
        number => Ok(number),
    }
}
