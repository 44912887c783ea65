//! What the caller knows of an output.

use armnn_backend_api::{DataType, LayerType, Quantization, Shape, TensorInfo};

use crate::error::LayerProblem;
use crate::inference::{merge, output_name};

/// What the caller of [`add_layer`](crate::NetworkBuilder::add_layer) knows of an output. Whatever
/// is `None` is left to inference.
///
/// A [`TensorInfo`] converts into a declaration of its type, its shape and, if it has one, its
/// quantization.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputDeclaration {
    /// The tensor's name. If absent, it is the layer's, with the output's number if there are
    /// several.
    pub name: Option<String>,
    /// The type of the elements.
    pub data_type: Option<DataType>,
    /// The shape; its unknown dimensions are left to inference.
    pub shape: Option<Shape>,
    /// The quantization.
    pub quantization: Option<Quantization>,
}

impl OutputDeclaration {
    /// A declaration of the data type.
    pub fn of_type(data_type: DataType) -> Self {
        Self {
            data_type: Some(data_type),
            ..Self::default()
        }
    }

    /// A declaration of the shape.
    pub fn of_shape(shape: impl Into<Shape>) -> Self {
        Self {
            shape: Some(shape.into()),
            ..Self::default()
        }
    }

    /// The same with a name for the tensor.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The same with a quantization.
    pub fn quantized(mut self, quantization: Quantization) -> Self {
        self.quantization = Some(quantization);
        self
    }

    /// What was inferred, checked against and completed by the declaration.
    pub(super) fn complete(
        &self,
        inferred: TensorInfo,
        layer_type: LayerType,
        index: usize,
    ) -> Result<TensorInfo, LayerProblem> {
        let declared_type = self.data_type.unwrap_or(inferred.data_type);
        let declared_shape = self.shape.unwrap_or(inferred.shape);
        match merge(&inferred.shape, &declared_shape) {
            Some(shape) if declared_type == inferred.data_type => Ok(TensorInfo {
                data_type: declared_type,
                shape,
                quantization: self.quantization.clone().unwrap_or(inferred.quantization),
            }),
            _ => Err(LayerProblem::Declaration {
                output: output_name(layer_type, index),
                declared: TensorInfo::new(declared_type, declared_shape).to_string(),
                inferred: inferred.to_string(),
            }),
        }
    }
}

impl From<TensorInfo> for OutputDeclaration {
    fn from(info: TensorInfo) -> Self {
        let quantization = (!info.quantization.is_none()).then_some(info.quantization);
        Self {
            name: None,
            data_type: Some(info.data_type),
            shape: Some(info.shape),
            quantization,
        }
    }
}

impl From<&TensorInfo> for OutputDeclaration {
    fn from(info: &TensorInfo) -> Self {
        info.clone().into()
    }
}
