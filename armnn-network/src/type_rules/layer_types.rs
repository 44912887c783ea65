//! The types around a layer, and what rules ask of them.

use armnn_backend_api::{DataType, LayerType, Quantization, TensorInfo};

use super::class::Class;
use super::{ElementType, Result};
use crate::error::LayerProblem;
use crate::inference::{input_name, output_name};

/// The types around a layer.
pub(super) struct Types<'a> {
    pub layer_type: LayerType,
    pub inputs: &'a [Option<&'a TensorInfo>],
    pub declared: &'a [Option<DataType>],
}

impl Types<'_> {
    pub fn input(&self, index: usize) -> Result<&TensorInfo> {
        let input = self.inputs.get(index).copied().flatten();
        input.ok_or_else(|| LayerProblem::MissingInput {
            input: self.name(index),
        })
    }

    pub fn name(&self, index: usize) -> String {
        input_name(self.layer_type, index)
    }

    pub fn declared_type(&self, index: usize) -> Result<DataType> {
        let declared = self.declared.get(index).copied().flatten();
        declared.ok_or_else(|| LayerProblem::Undeclared {
            output: output_name(self.layer_type, index),
            what: "the data type",
        })
    }

    pub fn type_problem(&self, index: usize, expected: String) -> LayerProblem {
        match self.input(index) {
            Ok(info) => LayerProblem::DataType {
                tensor: self.name(index),
                expected,
                found: info.data_type,
            },
            Err(missing) => missing,
        }
    }

    pub fn one_of(&self, index: usize, class: Class) -> Result<()> {
        if class.contains(self.input(index)?.data_type) {
            Ok(())
        } else {
            Err(self.type_problem(index, class.name.to_owned()))
        }
    }

    pub fn equal(&self, index: usize, other: usize) -> Result<()> {
        let expected = self.input(index)?.data_type;
        if self.input(other)?.data_type == expected {
            Ok(())
        } else {
            let expected = format!("{expected}, the type of {}", self.name(index));
            Err(self.type_problem(other, expected))
        }
    }

    pub fn is_there(&self, index: usize) -> bool {
        self.inputs.get(index).copied().flatten().is_some()
    }

    /// Those of these inputs that are there have the type of the first.
    pub fn all_equal(&self, inputs: std::ops::Range<usize>) -> Result<()> {
        inputs
            .filter(|&index| self.is_there(index))
            .try_for_each(|index| self.equal(0, index))
    }

    pub fn exactly(&self, index: usize, expected: DataType) -> Result<()> {
        match self.input(index)?.data_type == expected {
            true => Ok(()),
            false => Err(self.type_problem(index, expected.to_string())),
        }
    }

    /// An output of indices: as declared, or Signed64.
    pub fn index_type(&self, index: usize) -> Result<ElementType> {
        let declared = self.declared.get(index).copied().flatten();
        match declared.unwrap_or(DataType::Signed64) {
            to @ (DataType::Signed32 | DataType::Signed64) => Ok(plain(to)),
            to => {
                let expected = "Signed32 or Signed64".to_owned();
                Err(output_problem(self.layer_type, index, expected, to))
            }
        }
    }

    pub fn per_tensor(&self, index: usize) -> Result<()> {
        if self.input(index)?.quantization.scales().len() <= 1 {
            Ok(())
        } else {
            Err(LayerProblem::Quantization {
                tensor: self.name(index),
                expected: "quantized with a single scale",
            })
        }
    }

    /// Factors of one product: equal, or both quantized, the second in 8 bits.
    pub fn factors(&self, x: usize, y: usize) -> Result<()> {
        let factor = self.input(y)?.data_type;
        if self.input(x)?.data_type.is_quantized() {
            let fits = factor.is_quantized()
                && (factor.size() == Some(1) || self.layer_type == LayerType::BatchMatMul);
            return match fits {
                true => Ok(()),
                false => Err(self.type_problem(y, "a quantized type of 8 bits".to_owned())),
            };
        }
        self.equal(x, y)
    }

    /// The output has the type of the input; if it is quantized, in a scale of its own.
    pub fn same(&self, index: usize, class: Class) -> Result<ElementType> {
        self.one_of(index, class)?;
        let layer_has_weights = matches!(
            self.layer_type,
            LayerType::Convolution2d
                | LayerType::Convolution3d
                | LayerType::DepthwiseConvolution2d
                | LayerType::FullyConnected
                | LayerType::TransposeConvolution2d
                | LayerType::TransposeConvolution3d
        );
        self.per_tensor(index)?;
        if !layer_has_weights && self.is_there(1) {
            self.per_tensor(1)?;
        }
        Ok(plain(self.input(index)?.data_type))
    }

    /// The output has the elements of an input. A scale for the whole tensor stays the same; of
    /// scales along an axis the caller must say where the axis is in the output.
    pub fn moved(&self, index: usize) -> Result<ElementType> {
        let input = self.input(index)?;
        let quantization = match input.quantization.scales().len() {
            1 => input.quantization.clone(),
            _ => Quantization::NONE,
        };
        Ok(ElementType {
            data_type: input.data_type,
            quantization,
        })
    }

    pub fn transposed(&self, permutation: &[u32]) -> Result<ElementType> {
        let input = self.input(0)?;
        let mut quantization = input.quantization.clone();
        if quantization.scales().len() > 1 {
            let to = (0i32..)
                .zip(permutation)
                .find(|(_, from)| i64::from(**from) == i64::from(quantization.axis()));
            let axis = to.map_or(quantization.axis(), |(to, _)| to);
            quantization = quantization.along(axis);
        }
        Ok(ElementType {
            data_type: input.data_type,
            quantization,
        })
    }

    pub fn indices(&self, index: usize) -> Result<()> {
        match self.input(index)?.data_type {
            DataType::Signed32 | DataType::Signed64 => Ok(()),
            _ => Err(self.type_problem(index, "Signed32 or Signed64".to_owned())),
        }
    }
}

pub(super) fn plain(data_type: DataType) -> ElementType {
    ElementType {
        data_type,
        quantization: Quantization::NONE,
    }
}

pub(super) fn output_problem(
    layer_type: LayerType,
    index: usize,
    expected: String,
    found: DataType,
) -> LayerProblem {
    LayerProblem::DataType {
        tensor: output_name(layer_type, index),
        expected,
        found,
    }
}
