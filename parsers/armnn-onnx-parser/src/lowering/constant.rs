//! Constants, before they are tensors of the network, if they ever are.

use armnn_backend_api::{DataType, Quantization, Shape, TensorInfo};
use armnn_network::KnownValue;
use bytes::Bytes;
use half::{bf16, f16};

use super::problem::{Problem, Result};
use super::tensor_info::{data_type, shape};
use crate::model::Tensor;

/// A constant: of the file, or computed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Constant {
    pub(super) data_type: DataType,
    pub(super) dims: Vec<i64>,
    /// The elements as a tensor of the network has them.
    pub(super) bytes: Bytes,
    pub(super) quantization: Quantization,
}

impl Constant {
    pub(super) fn of_tensor(tensor: &Tensor) -> Result<Self> {
        let data_type = data_type(tensor.element_type)?;
        // Shapes are looked at again and again; longer ones are refused at once.
        shape(&tensor.dims)?;
        match &tensor.data {
            Some(data) => Ok(Self {
                data_type,
                dims: tensor.dims.clone(),
                bytes: data.clone(),
                quantization: Quantization::NONE,
            }),
            None => Err(Problem::unsupported("its elements have no fixed size")),
        }
    }

    /// Integers of a type that they fit.
    pub(super) fn integers(data_type: DataType, dims: &[i64], values: &[i64]) -> Self {
        let bytes = match data_type {
            DataType::Boolean => values.iter().map(|&n| u8::from(n != 0)).collect(),
            DataType::Int8 | DataType::UInt8 => values.iter().map(|&n| n as u8).collect(),
            DataType::Int16 | DataType::UInt16 => {
                little_endian(values, |n| (n as i16).to_le_bytes())
            }
            DataType::Signed32 | DataType::UInt32 => {
                little_endian(values, |n| (n as i32).to_le_bytes())
            }
            _ => little_endian(values, i64::to_le_bytes),
        };
        Self {
            data_type,
            dims: dims.to_vec(),
            bytes,
            quantization: Quantization::NONE,
        }
    }

    /// A value that the builder of the network knows; none if it knows only a part.
    pub(super) fn known(value: &KnownValue) -> Option<Self> {
        Some(Self {
            data_type: value.data_type,
            dims: value.shape.dims().to_vec(),
            bytes: value.to_bytes()?.into(),
            quantization: Quantization::NONE,
        })
    }

    /// Real numbers, rounded to the type.
    pub(super) fn reals(data_type: DataType, dims: &[i64], values: &[f64]) -> Result<Self> {
        Ok(Self {
            data_type,
            dims: dims.to_vec(),
            bytes: encode(data_type, values)?,
            quantization: Quantization::NONE,
        })
    }

    /// The same elements in another shape.
    pub(super) fn reshaped(&self, dims: &[i64]) -> Self {
        Self {
            dims: dims.to_vec(),
            ..self.clone()
        }
    }

    pub(super) fn shape(&self) -> Result<Shape> {
        shape(&self.dims)
    }

    pub(super) fn info(&self) -> Result<TensorInfo> {
        let info = TensorInfo::new(self.data_type, self.shape()?);
        Ok(info.quantized(self.quantization.clone()))
    }

    /// How many elements there are; the largest number where that cannot be counted.
    pub(super) fn count(&self) -> usize {
        if self.dims.contains(&0) {
            return 0;
        }
        self.dims.iter().fold(1, |n: usize, &dim| {
            n.saturating_mul(usize::try_from(dim).unwrap_or(usize::MAX))
        })
    }

    /// The elements of an integer or Boolean type, `most` of them at most; `what` is it for
    /// messages.
    pub(super) fn known_integers(&self, most: usize, what: &str) -> Result<Vec<i64>> {
        let count = self.count();
        if count > most {
            return Err(Problem::malformed(format!(
                "{what} has {count} entries, where there can be {most} at most"
            )));
        }
        let each =
            |size: usize, read: fn(&[u8]) -> i64| self.bytes.chunks_exact(size).map(read).collect();
        Ok(match self.data_type {
            DataType::Signed64 => each(8, |b| i64::from_le_bytes(array(b))),
            DataType::Signed32 => each(4, |b| i32::from_le_bytes(array(b)).into()),
            DataType::Int16 => each(2, |b| i16::from_le_bytes(array(b)).into()),
            DataType::UInt64 => {
                let fitting = |b| i64::try_from(u64::from_le_bytes(array(b)));
                let values: Result<Vec<i64>, _> = self.bytes.chunks_exact(8).map(fitting).collect();
                values.map_err(|_| Problem::unsupported(format!("{what} of 2^63 or more")))?
            }
            DataType::UInt32 => each(4, |b| u32::from_le_bytes(array(b)).into()),
            DataType::UInt16 => each(2, |b| u16::from_le_bytes(array(b)).into()),
            DataType::Int8 => each(1, |b| i8::from_le_bytes(array(b)).into()),
            DataType::UInt8 | DataType::Boolean => each(1, |b| u8::from_le_bytes(array(b)).into()),
            other => {
                let problem = format!("{what} of type {other}; it must be of an integer type");
                return Err(Problem::unsupported(problem));
            }
        })
    }

    /// The elements of a floating-point type, or small integers, as the numbers that they stand
    /// for.
    pub(super) fn known_reals(&self, most: usize, what: &str) -> Result<Vec<f64>> {
        let count = self.count();
        if count > most {
            return Err(Problem::malformed(format!(
                "{what} has {count} entries, where there can be {most} at most"
            )));
        }
        let each =
            |size: usize, read: fn(&[u8]) -> f64| self.bytes.chunks_exact(size).map(read).collect();
        Ok(match self.data_type {
            DataType::Float64 => each(8, |b| f64::from_le_bytes(array(b))),
            DataType::Float32 => each(4, |b| f32::from_le_bytes(array(b)).into()),
            DataType::Float16 => each(2, |b| f16::from_le_bytes(array(b)).into()),
            DataType::BFloat16 => each(2, |b| bf16::from_le_bytes(array(b)).into()),
            _ => return self.integers_as_reals(most, what),
        })
    }

    fn integers_as_reals(&self, most: usize, what: &str) -> Result<Vec<f64>> {
        let exact = |n: i64| match n.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS {
            true => Ok(n as f64),
            false => Err(Problem::unsupported(format!("{what} beyond 2^53"))),
        };
        let values = self.known_integers(most, what)?;
        values.into_iter().map(exact).collect()
    }
}

/// Real numbers as elements of a type.
fn encode(data_type: DataType, values: &[f64]) -> Result<Bytes> {
    Ok(match data_type {
        DataType::Float64 => little_endian(values, f64::to_le_bytes),
        DataType::Float32 => little_endian(values, |x| (x as f32).to_le_bytes()),
        DataType::Float16 => little_endian(values, |x| f16::from_f64(x).to_le_bytes()),
        DataType::BFloat16 => little_endian(values, |x| bf16::from_f64(x).to_le_bytes()),
        DataType::Int8 => little_endian(values, |x| (x as i8).to_le_bytes()),
        DataType::Int16 => little_endian(values, |x| (x as i16).to_le_bytes()),
        DataType::Signed32 => little_endian(values, |x| (x as i32).to_le_bytes()),
        DataType::Signed64 => little_endian(values, |x| (x as i64).to_le_bytes()),
        DataType::UInt8 => little_endian(values, |x| (x as u8).to_le_bytes()),
        DataType::UInt16 => little_endian(values, |x| (x as u16).to_le_bytes()),
        DataType::UInt32 => little_endian(values, |x| (x as u32).to_le_bytes()),
        DataType::UInt64 => little_endian(values, |x| (x as u64).to_le_bytes()),
        DataType::Boolean => little_endian(values, |x| [u8::from(x != 0.0)]),
        other => {
            return Err(Problem::unsupported(format!(
                "elements of type {other}, where a number must be added"
            )));
        }
    })
}

fn little_endian<T: Copy, const N: usize>(values: &[T], bytes: fn(T) -> [u8; N]) -> Bytes {
    values.iter().flat_map(|&value| bytes(value)).collect()
}

/// The bytes of an element; zeros where there are too few, which callers exclude.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_type_are_read_as_they_were_put_in() {
        for data_type in [
            DataType::Int8,
            DataType::UInt8,
            DataType::Int16,
            DataType::UInt16,
            DataType::Signed32,
            DataType::UInt32,
            DataType::Signed64,
            DataType::UInt64,
        ] {
            let constant = Constant::integers(data_type, &[3], &[0, 5, 127]);
            let info = constant.info().unwrap();
            assert_eq!(info.byte_len(), Some(constant.bytes.len()), "{data_type}");
            let values = constant.known_integers(3, "it").unwrap();
            assert_eq!(values, [0, 5, 127], "{data_type}");
        }
        let below = Constant::integers(DataType::Int16, &[1], &[-2]);
        assert_eq!(below.known_integers(1, "it").unwrap(), [-2]);
    }

    #[test]
    fn what_no_integer_or_real_number_holds_exactly_is_refused() {
        let large = Constant::integers(DataType::UInt64, &[1], &[-1]);
        let problem = large.known_integers(1, "the value").unwrap_err();
        assert!(
            matches!(problem, Problem::Unsupported(what) if what == "the value of 2^63 or more")
        );
        let exact = Constant::integers(DataType::UInt64, &[1], &[1 << 53]);
        assert_eq!(exact.known_reals(1, "it").unwrap(), [9007199254740992.0]);
        let inexact = Constant::integers(DataType::UInt64, &[1], &[(1 << 53) + 1]);
        let problem = inexact.known_reals(1, "the value").unwrap_err();
        assert!(matches!(problem, Problem::Unsupported(what) if what == "the value beyond 2^53"));
    }
}
