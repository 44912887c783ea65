//! Types and shapes of the network from those of the file.

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::ValueType as NetworkType;

use super::problem::{Problem, Result};
use crate::model::{Dimension, ElementType, ValueType};

/// The data type of elements.
pub(super) fn data_type(element_type: ElementType) -> Result<DataType> {
    element_type.data_type().ok_or_else(|| {
        Problem::unsupported(format!(
            "elements of type {element_type}, for which there is no layer"
        ))
    })
}

/// A shape of these dimensions; those below 0 are unknown.
pub(super) fn shape(dims: &[i64]) -> Result<Shape> {
    Shape::new(dims).map_err(|error| Problem::unsupported(error.to_string()))
}

/// The shape that the file says, if it says how many dimensions there are.
pub(super) fn declared_shape(value_type: &ValueType) -> Result<Option<Shape>> {
    match value_type {
        ValueType::Tensor {
            dims: Some(dims), ..
        } => {
            let dims: Vec<i64> = dims
                .iter()
                .map(|dim| match dim {
                    Dimension::Known(size) => *size,
                    Dimension::Named(_) | Dimension::Unknown => Shape::UNKNOWN,
                })
                .collect();
            shape(&dims).map(Some)
        }
        ValueType::Tensor { dims: None, .. } => Ok(None),
        ValueType::Sequence(_) => Err(Problem::unsupported("a sequence in place of a tensor")),
        ValueType::Optional(_) => Err(Problem::unsupported("an optional in place of a tensor")),
        ValueType::Other(kind) => Err(Problem::unsupported(format!(
            "it is {kind}; only tensors, sequences and optionals are supported"
        ))),
    }
}

/// What the file says of a tensor, if it says all.
pub(super) fn tensor_info(value_type: Option<&ValueType>) -> Result<TensorInfo> {
    let undeclared = |what: &str| {
        Problem::unsupported(format!(
            "the model does not say its {what}; convert the model with it"
        ))
    };
    let Some(value_type) = value_type else {
        return Err(undeclared("type"));
    };
    let shape = declared_shape(value_type)?.ok_or_else(|| undeclared("number of dimensions"))?;
    match value_type {
        ValueType::Tensor { element_type, .. } => {
            Ok(TensorInfo::new(data_type(*element_type)?, shape))
        }
        ValueType::Sequence(_) | ValueType::Optional(_) | ValueType::Other(_) => {
            Err(undeclared("type"))
        }
    }
}

/// What the file says of a value, if it says all.
pub(super) fn network_type(value_type: Option<&ValueType>) -> Result<NetworkType> {
    Ok(match value_type {
        Some(ValueType::Sequence(of)) => NetworkType::Sequence(Box::new(element_type(of)?)),
        Some(ValueType::Optional(of)) => NetworkType::Optional(Box::new(element_type(of)?)),
        Some(
            strings @ ValueType::Tensor {
                element_type: ElementType::STRING,
                ..
            },
        ) => match declared_shape(strings)? {
            Some(shape) => NetworkType::Strings(shape),
            None => NetworkType::Tensor(tensor_info(value_type)?),
        },
        _ => NetworkType::Tensor(tensor_info(value_type)?),
    })
}

/// What the file says of values in a sequence or an optional: of tensors, it often leaves out how
/// many dimensions they have, and what is put in says it.
fn element_type(value_type: &ValueType) -> Result<NetworkType> {
    match value_type {
        ValueType::Tensor {
            dims: None,
            element_type,
        } => data_type(*element_type).map(|_| NetworkType::unknown()),
        other => network_type(Some(other)),
    }
}
