//! Random numbers, which the runtime makes itself: what is random is no function of a layer's
//! inputs, and is to be the same on every backend.

use armnn_backend_api::{DataType, Shape};

/// Makes random numbers.
///
/// Input: a tensor whose shape the output has; without an input, the shape is the operation's.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomOperation {
    /// How the numbers are distributed.
    pub distribution: Distribution,
    /// The type of the numbers: Float32 or Float64.
    pub data_type: DataType,
    /// The shape without an input; its dimensions are known.
    pub shape: Option<Shape>,
    /// What the numbers follow from: every execution gives the same ones. `None`: they follow from
    /// what the network was loaded with, and differ each time.
    pub seed: Option<u32>,
}

/// How random numbers are distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// All numbers of an interval are equally likely.
    Uniform {
        /// The least number.
        low: f64,
        /// The number that all are below.
        high: f64,
    },
    /// The normal distribution.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        scale: f64,
    },
}

impl RandomOperation {
    /// ONNX's name.
    pub fn name(&self) -> &'static str {
        match self.distribution {
            Distribution::Uniform { .. } => "RandomUniform",
            Distribution::Normal { .. } => "RandomNormal",
        }
    }

    /// What is wrong with it, if anything is.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !matches!(self.data_type, DataType::Float32 | DataType::Float64) {
            return Err(format!("random numbers of type {}", self.data_type));
        }
        match self.shape {
            Some(shape) if !shape.is_known() => {
                Err(format!("its shape {shape} has unknown dimensions"))
            }
            _ => Ok(()),
        }
    }
}
