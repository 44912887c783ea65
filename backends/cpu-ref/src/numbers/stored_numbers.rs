//! Tensors of real numbers of any type, as Float32 and back.

use armnn_backend_api::{BackendError, DataType, Result, TensorView, cast_slice, cast_slice_mut};
use half::{
    bf16, f16,
    slice::{HalfBitsSliceExt, HalfFloatSliceExt},
};

use crate::numbers::quantized_arithmetic::{Affine, QuantizedElement, by_quantized_type};

/// How a tensor stores the real numbers that its elements stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stored {
    Float32,
    Float16,
    BFloat16,
    /// Of a type that carries quantization, with one scale.
    Quantized(DataType, Affine),
}

impl Stored {
    /// `None` for types that store no real numbers, and for Float64.
    ///
    /// # Errors
    /// A refusal when the tensor is quantized without a scale, or with several.
    pub(crate) fn of(tensor: TensorView<'_>, role: &str) -> Result<Option<Self>> {
        Ok(Some(match tensor.data_type() {
            DataType::Float32 => Self::Float32,
            DataType::Float16 => Self::Float16,
            DataType::BFloat16 => Self::BFloat16,
            other if other.is_quantized() => Self::Quantized(other, Affine::of(tensor, role)?),
            _ => return Ok(None),
        }))
    }

    /// The numbers of a tensor's bytes, of which there must be as many as `to` is long.
    ///
    /// # Errors
    /// When there are not.
    pub(crate) fn load(self, bytes: &[u8], to: &mut [f32]) -> Result<()> {
        match self {
            Self::Float32 => to.copy_from_slice(elements(bytes, to.len())?),
            Self::Float16 => {
                let bits = elements::<u16>(bytes, to.len())?;
                HalfBitsSliceExt::reinterpret_cast::<f16>(bits).convert_to_f32_slice(to);
            }
            Self::BFloat16 => {
                let bits = elements::<u16>(bytes, to.len())?;
                HalfBitsSliceExt::reinterpret_cast::<bf16>(bits).convert_to_f32_slice(to);
            }
            Self::Quantized(data_type, affine) => by_quantized_type!(data_type, Q => {
                let numbers = elements::<Q>(bytes, to.len())?;
                for (to, &number) in to.iter_mut().zip(numbers) {
                    *to = affine.dequantize(number.to_i32());
                }
            }),
        }
        Ok(())
    }

    /// Writes numbers to a tensor's bytes, each rounded once: to halves ties go to even, to
    /// quantized numbers away from zero.
    ///
    /// # Errors
    /// When the tensor has not as many.
    pub(crate) fn store(self, from: &[f32], bytes: &mut [u8]) -> Result<()> {
        match self {
            Self::Float32 => elements_mut(bytes, from.len())?.copy_from_slice(from),
            Self::Float16 => {
                let bits = elements_mut::<u16>(bytes, from.len())?;
                HalfBitsSliceExt::reinterpret_cast_mut::<f16>(bits).convert_from_f32_slice(from);
            }
            Self::BFloat16 => {
                let bits = elements_mut::<u16>(bytes, from.len())?;
                HalfBitsSliceExt::reinterpret_cast_mut::<bf16>(bits).convert_from_f32_slice(from);
            }
            Self::Quantized(data_type, affine) => by_quantized_type!(data_type, Q => {
                for (to, &real) in elements_mut::<Q>(bytes, from.len())?.iter_mut().zip(from) {
                    *to = affine.quantize(real);
                }
            }),
        }
        Ok(())
    }
}

pub(crate) fn elements<T: armnn_backend_api::Element>(bytes: &[u8], len: usize) -> Result<&[T]> {
    cast_slice::<T>(bytes)
        .filter(|elements| elements.len() == len)
        .ok_or_else(|| not_elements(bytes.len(), len))
}

pub(crate) fn elements_mut<T: armnn_backend_api::Element>(
    bytes: &mut [u8],
    len: usize,
) -> Result<&mut [T]> {
    let byte_len = bytes.len();
    cast_slice_mut::<T>(bytes)
        .filter(|elements| elements.len() == len)
        .ok_or_else(|| not_elements(byte_len, len))
}

fn not_elements(byte_len: usize, len: usize) -> BackendError {
    BackendError::invalid_argument(format!(
        "a tensor has {byte_len} bytes, which are not the {len} elements that the workload was \
         compiled for, or are not aligned"
    ))
}
