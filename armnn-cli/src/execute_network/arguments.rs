//! The arguments of `armnn execute-network`.

use std::{num::NonZeroU32, path::PathBuf, str::FromStr};

use armnn_runtime::{BackendId, LayerPattern};
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

A layer that a backend refuses goes to the next one, and the summary says so with the reason;
--strict makes that an error.")]
pub struct Arguments {
    /// The model, a TFLite file
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
    /// A .npy array, an .npz archive of them, raw little-endian elements (.bin), or an image (.png,
    /// .jpg), which is resized to the input. Without data, random numbers are used
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

    /// How often the model is run and timed
    #[arg(short = 'I', long, value_name = "N", default_value = "1")]
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

    /// No fallback: a layer that its first-choice backend refuses, or a preferred backend that is
    /// not there, is an error
    #[arg(long)]
    pub strict: bool,

    /// Write what was run where, why, and how long it took to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Run the model once more, timed step by step, and write a trace for Chrome (chrome://tracing)
    /// or Perfetto to this file
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,

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
        let mut ids: Vec<BackendId> = Vec::new();
        for id in &self.compute {
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        ids
    }
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

fn divisor(text: &str) -> Result<f64, String> {
    match finite(text)? {
        0.0 => Err("samples cannot be divided by 0".into()),
        number => Ok(number),
    }
}
