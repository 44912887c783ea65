//! Constants: those of the file, and what operators take out of them.

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::{KnownElements, TensorId};
use bytes::Bytes;

use super::context::Context;
use super::problem::{Problem, Result};
use super::sparsity;
use super::subgraph::{Value, check_storage, in_tensor};
use super::tensor_info::tensor_info;
use crate::model::{Model, Tensor};

/// How many bytes constants that are no part of the file may have together: what sparse tensors are
/// unpacked to, masks and the like.
pub(super) fn budget(model: &Model<'_>) -> usize {
    model.file_len().saturating_mul(64).saturating_add(1 << 20)
}

/// The type and the elements of a constant of the file.
pub(super) fn file_constant(
    tensor: &Tensor<'_>,
    model: &Model<'_>,
    budget: &mut usize,
) -> Result<(TensorInfo, Bytes)> {
    check_storage(tensor)?;
    let info = tensor_info(tensor)?;
    let external;
    let mut tensor = tensor;
    if tensor.external_buffer != 0 {
        external = Tensor {
            data: Some(model.external_data(tensor.external_buffer)?),
            ..tensor.clone()
        };
        tensor = &external;
    }
    if let Some(sparsity) = &tensor.sparsity {
        let dense = sparsity::dense(tensor, sparsity, &info, budget)?;
        return Ok((info, dense));
    }
    let expected = info.byte_len();
    match &tensor.data {
        Some(data) if Some(data.len()) == expected => Ok((info, data.clone())),
        Some(data) => Err(Problem::malformed(format!(
            "its data has {} bytes, which is not what {info} takes",
            data.len()
        ))),
        None if expected == Some(0) => Ok((info, Bytes::new())),
        None => Err(Problem::malformed(
            "it is read, but nothing has written it and it has no data",
        )),
    }
}

/// Takes bytes out of the budget for constants that are no part of the file.
pub(super) fn charge(budget: &mut usize, bytes: usize) -> Result {
    *budget = budget.checked_sub(bytes).ok_or_else(|| {
        Problem::unsupported(
            "constants that are made up by operators, or unpacked, to more than 64 times the size of the \
             file",
        )
    })?;
    Ok(())
}

/// Constants that are part of layers, and constants that are not in the file.
impl Context<'_, '_, '_> {
    /// Whether an input is a constant, or known from shapes; an absent one is.
    pub(super) fn is_known(&self, position: usize) -> bool {
        let Some(index) = self.operator.inputs.get(position) else {
            return true;
        };
        match self.lowering.values[index] {
            Value::Pending => self.lowering.graph.tensors[index].is_constant(),
            Value::Ready(id) => {
                let builder = &self.lowering.builder;
                let constant = builder.tensor(id).is_some_and(|t| t.constant().is_some());
                constant || builder.known_value(id).is_some_and(|v| v.is_complete())
            }
            // Reported by whoever reads it.
            Value::Refused | Value::Handle(_) | Value::Complex(_) => true,
        }
    }

    /// The elements of a constant of INT32 or INT64 that becomes part of a layer, `most` of them at
    /// most; `what` is it for messages. None where the input is absent.
    pub(super) fn optional_integers(
        &mut self,
        position: usize,
        most: usize,
        what: &str,
    ) -> Result<Option<Vec<i64>>> {
        let Some(index) = self.operator.inputs.get(position) else {
            return Ok(None);
        };
        let tensor = &self.lowering.graph.tensors[index];
        self.elements(index, what)
            .and_then(|elements| elements.integers(most, what))
            .map(Some)
            .map_err(|problem| in_tensor(problem, index, tensor))
    }

    /// The same for an input that must be there.
    pub(super) fn integers(
        &mut self,
        position: usize,
        most: usize,
        what: &str,
    ) -> Result<Vec<i64>> {
        self.optional_integers(position, most, what)?
            .ok_or_else(|| Problem::malformed(format!("input {position}, {what}, is left out")))
    }

    /// A constant of one INT32 or INT64.
    pub(super) fn integer(&mut self, position: usize, what: &str) -> Result<i64> {
        match self.integers(position, 1, what)?[..] {
            [value] => Ok(value),
            _ => Err(Problem::malformed(format!("{what} is not there"))),
        }
    }

    /// A constant of one number, as the real number that it stands for.
    pub(super) fn number(&mut self, position: usize, what: &str) -> Result<f64> {
        let index =
            self.operator.inputs.get(position).ok_or_else(|| {
                Problem::malformed(format!("input {position}, {what}, is left out"))
            })?;
        let tensor = &self.lowering.graph.tensors[index];
        self.elements(index, what)
            .and_then(|elements| elements.real(what))
            .map_err(|problem| in_tensor(problem, index, tensor))
    }

    /// The elements of a tensor that must be known.
    fn elements(&mut self, index: usize, what: &str) -> Result<Elements> {
        let tensor = &self.lowering.graph.tensors[index];
        let (info, data) = match self.lowering.values[index] {
            Value::Pending => {
                let shared = &mut self.lowering.shared;
                file_constant(tensor, shared.model, &mut shared.constant_budget)?
            }
            Value::Ready(id) => {
                let builder = &self.lowering.builder;
                let found = builder
                    .tensor(id)
                    .and_then(|tensor| Some((tensor.info.clone(), tensor.constant()?.clone())));
                match found {
                    Some(found) => found,
                    None => {
                        let known = builder.known_value(id).filter(|v| v.is_complete());
                        return known.map(Elements::Known).ok_or_else(|| {
                            Problem::unsupported(format!(
                                "{what} computed by the model; it must be constant"
                            ))
                        });
                    }
                }
            }
            Value::Refused | Value::Handle(_) | Value::Complex(_) => {
                return Err(Problem::Unavailable);
            }
        };
        let scales = info.quantization.scales().len();
        if scales > 1 {
            let problem = format!("{what} with {scales} scales; it must have one or none");
            return Err(Problem::unsupported(problem));
        }
        Ok(Elements::Constant(info, data))
    }

    /// A constant that is not in the file.
    pub(super) fn new_constant(&mut self, info: TensorInfo, data: Vec<u8>) -> Result<TensorId> {
        charge(&mut self.lowering.shared.constant_budget, data.len())?;
        let builder = &mut self.lowering.builder;
        Ok(builder.add_constant_layer("", info, data.into())?)
    }

    /// A constant list of integers, of Signed32 or Signed64.
    pub(super) fn integer_list(&mut self, data_type: DataType, values: &[i64]) -> Result<TensorId> {
        let shape = [i64::try_from(values.len()).unwrap_or(i64::MAX)];
        self.integer_constant(data_type, Shape::from(shape), values)
    }

    /// A constant of integers of any integer type.
    pub(super) fn integer_constant(
        &mut self,
        data_type: DataType,
        shape: Shape,
        values: &[i64],
    ) -> Result<TensorId> {
        let size = data_type.bits().unwrap_or(8) as usize / 8;
        // Two's complement: the low bytes of a number that fits.
        let data = values
            .iter()
            .flat_map(|value| value.to_le_bytes().into_iter().take(size))
            .collect();
        self.new_constant(TensorInfo::new(data_type, shape), data)
    }

    /// A constant of one number of any type that is not quantized.
    pub(super) fn scalar(&mut self, data_type: DataType, value: f64) -> Result<TensorId> {
        let data = match data_type {
            DataType::Float32 => (value as f32).to_le_bytes().to_vec(),
            DataType::Float64 => value.to_le_bytes().to_vec(),
            DataType::Float16 | DataType::BFloat16 => half_bytes(data_type, value),
            DataType::Boolean
            | DataType::Int8
            | DataType::UInt8
            | DataType::Int16
            | DataType::UInt16
            | DataType::Signed32
            | DataType::UInt32
            | DataType::Signed64
            | DataType::UInt64 => {
                return self.integer_constant(data_type, Shape::SCALAR, &[value as i64]);
            }
            other => return Err(Problem::unsupported(format!("elements of type {other}"))),
        };
        self.new_constant(TensorInfo::new(data_type, Shape::SCALAR), data)
    }
}

/// A number as a Float16 or BFloat16, which hold it exactly: it is one of few (0, 1, their limits).
fn half_bytes(data_type: DataType, value: f64) -> Vec<u8> {
    let bits = (value as f32).to_bits();
    if data_type == DataType::BFloat16 {
        return ((bits >> 16) as u16).to_le_bytes().to_vec();
    }
    let sign = ((bits >> 16) & 0x8000) as u16;
    let exponent = ((bits >> 23) & 0xff) as i32 - 127 + 15;
    let half = match exponent {
        ..=0 => sign,
        31.. => sign | 0x7c00,
        _ => sign | (exponent as u16) << 10 | ((bits >> 13) & 0x3ff) as u16,
    };
    half.to_le_bytes().to_vec()
}

/// The elements of a tensor that is known.
enum Elements {
    Constant(TensorInfo, Bytes),
    Known(armnn_network::KnownValue),
}

impl Elements {
    fn integers(&self, most: usize, what: &str) -> Result<Vec<i64>> {
        let values = match self {
            Self::Constant(info, data) => return integers(info, data, most, what),
            Self::Known(value) => value.as_integers(),
        };
        let values: Option<Vec<i64>> = values.and_then(|v| v.iter().copied().collect());
        let values = values.ok_or_else(|| {
            Problem::unsupported(format!("{what} that are real numbers; it must be integers"))
        })?;
        check_count(values.len(), most, what)?;
        Ok(values)
    }

    fn real(&self, what: &str) -> Result<f64> {
        let known = match self {
            Self::Constant(info, data) => return real(info, data, what),
            Self::Known(value) => &value.elements,
        };
        let number = match known {
            KnownElements::Reals(values) => match values[..] {
                [Some(value)] => Some(value),
                _ => None,
            },
            KnownElements::Integers(values) => match values[..] {
                [Some(value)] => Some(exact(value, what)?),
                _ => None,
            },
        };
        number.ok_or_else(|| Problem::unsupported(format!("{what} that is not one number")))
    }
}

fn check_count(count: usize, most: usize, what: &str) -> Result {
    if count <= most {
        return Ok(());
    }
    Err(Problem::malformed(format!(
        "{what} has {count} entries, where there can be {most} at most"
    )))
}

fn integers(info: &TensorInfo, data: &[u8], most: usize, what: &str) -> Result<Vec<i64>> {
    let size = match info.data_type {
        DataType::Signed32 => 4,
        DataType::Signed64 => 8,
        other => {
            return Err(Problem::unsupported(format!(
                "{what} of type {other}; it must be Signed32 or Signed64"
            )));
        }
    };
    check_count(data.len() / size, most, what)?;
    Ok(match size {
        4 => {
            let numbers = data.as_chunks().0.iter();
            numbers
                .map(|&bytes| i32::from_le_bytes(bytes).into())
                .collect()
        }
        _ => {
            let numbers = data.as_chunks().0.iter();
            numbers.map(|&bytes| i64::from_le_bytes(bytes)).collect()
        }
    })
}

fn real(info: &TensorInfo, data: &[u8], what: &str) -> Result<f64> {
    let number = match (info.data_type, data) {
        (DataType::Float32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).into(),
        (DataType::Float64, &[a, b, c, d, e, f, g, h]) => {
            f64::from_le_bytes([a, b, c, d, e, f, g, h])
        }
        (DataType::Signed32, &[a, b, c, d]) => i32::from_le_bytes([a, b, c, d]).into(),
        (DataType::Float16, &[a, b]) => half::f16::from_le_bytes([a, b]).into(),
        (DataType::BFloat16, &[a, b]) => half::bf16::from_le_bytes([a, b]).into(),
        (DataType::Boolean, &[a]) => f64::from(u8::from(a != 0)),
        (DataType::UInt16, &[a, b]) => u16::from_le_bytes([a, b]).into(),
        (DataType::UInt32, &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]).into(),
        (DataType::UInt64, &[a, b, c, d, e, f, g, h]) => {
            let number = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
            exact(i64::try_from(number).unwrap_or(i64::MAX), what)?
        }
        (DataType::Signed64, &[a, b, c, d, e, f, g, h]) => {
            exact(i64::from_le_bytes([a, b, c, d, e, f, g, h]), what)?
        }
        (DataType::Int8 | DataType::QAsymmS8, &[a]) => i8::from_le_bytes([a]).into(),
        (DataType::UInt8 | DataType::QAsymmU8, &[a]) => a.into(),
        (DataType::Int16 | DataType::QSymmS16, &[a, b]) => i16::from_le_bytes([a, b]).into(),
        _ => {
            let problem = format!("{what} of {info}; it must be one number");
            return Err(Problem::unsupported(problem));
        }
    };
    let quantization = &info.quantization;
    Ok(match (quantization.scales(), quantization.zero_points()) {
        (&[scale], &[zero]) => f64::from(scale) * (number - f64::from(zero)),
        _ => number,
    })
}

/// An integer as a real number that is it.
fn exact(integer: i64, what: &str) -> Result<f64> {
    if integer.unsigned_abs() > 1 << f64::MANTISSA_DIGITS {
        return Err(Problem::unsupported(format!("{what} beyond 2^53")));
    }
    Ok(integer as f64)
}
