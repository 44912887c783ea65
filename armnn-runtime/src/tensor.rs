//! Tensors of the application.

use armnn_backend_api::{DataType, Element, Shape, TensorInfo, cast_slice};

use crate::{aligned_buffer::AlignedBuffer, error::TensorError};

/// A tensor in memory of its own: dense, row-major, aligned to 64 bytes.
pub struct HostTensor {
    info: TensorInfo,
    data: AlignedBuffer,
}

impl HostTensor {
    /// A tensor of 0.
    ///
    /// # Errors
    /// When a dimension is unknown, dimensions are larger than memory can be although another one is
    /// 0, or there is no memory.
    pub fn zeroed(info: TensorInfo) -> Result<Self, TensorError> {
        let len = info.byte_len().ok_or_else(|| TensorError::UnknownSize {
            info: info.to_string(),
        })?;
        // What is counted along a part of the dimensions must not overflow, even if another is 0.
        let mut whole = info.shape.dims().iter();
        let whole = whole.try_fold(1u64, |n, &dim| {
            n.checked_mul(u64::try_from(dim).ok()?.max(1))
        });
        if whole.and_then(|n| info.data_type.byte_len(n)).is_none() {
            return Err(TensorError::UnknownSize {
                info: info.to_string(),
            });
        }
        let data = AlignedBuffer::new(len, AlignedBuffer::ALIGNMENT).map_err(|e| {
            TensorError::OutOfMemory {
                info: info.to_string(),
                bytes: e.0,
            }
        })?;
        Ok(Self { info, data })
    }

    /// A tensor with these bytes.
    ///
    /// # Errors
    /// When a dimension is unknown, the number of bytes is another, or there is no memory.
    pub fn from_bytes(info: TensorInfo, bytes: &[u8]) -> Result<Self, TensorError> {
        let mut tensor = Self::zeroed(info)?;
        if tensor.data.len() != bytes.len() {
            return Err(TensorError::Size {
                info: tensor.info.to_string(),
                expected: tensor.data.len(),
                given: bytes.len(),
            });
        }
        tensor.data.as_mut_slice().copy_from_slice(bytes);
        Ok(tensor)
    }

    /// A tensor of Float32.
    ///
    /// # Errors
    /// As for [`from_bytes`](Self::from_bytes).
    pub fn from_f32(shape: impl Into<Shape>, values: &[f32]) -> Result<Self, TensorError> {
        let info = TensorInfo::new(DataType::Float32, shape);
        let mut tensor = Self::zeroed(info)?;
        let (expected, given) = (tensor.data.len(), size_of_val(values));
        if expected != given {
            return Err(TensorError::Size {
                info: tensor.info.to_string(),
                expected,
                given,
            });
        }
        for (to, from) in tensor.data.as_mut_slice().chunks_exact_mut(4).zip(values) {
            to.copy_from_slice(&from.to_ne_bytes());
        }
        Ok(tensor)
    }

    /// The type, shape and quantization.
    pub fn info(&self) -> &TensorInfo {
        &self.info
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.data.as_slice()
    }

    /// The bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.data.as_mut_slice()
    }

    /// The elements, if `T` is as large as the tensor's type. What the bytes mean is not checked
    /// beyond that.
    pub fn elements<T: Element>(&self) -> Option<&[T]> {
        (self.info.data_type.size() == Some(size_of::<T>()))
            .then(|| cast_slice(self.bytes()))
            .flatten()
    }
}

impl std::fmt::Debug for HostTensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HostTensor").field(&self.info).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_of_no_elements_has_no_dimensions_beyond_memory() {
        let zeroed = |dims: [i64; 3]| {
            let tensor = HostTensor::zeroed(TensorInfo::new(DataType::Float32, dims));
            tensor.map(|tensor| tensor.bytes().len())
        };
        assert!(matches!(zeroed([0, 1 << 29, 1 << 29]), Ok(0)));
        // 2^31 2^30 4 = 2^63
        let error = zeroed([0, 1 << 31, 1 << 30]).unwrap_err();
        assert!(matches!(error, TensorError::UnknownSize { .. }), "{error}");
        assert!(zeroed([1 << 40, 0, 1 << 40]).is_err());
        assert!(zeroed([-1, 2, 3]).is_err());
    }
}
