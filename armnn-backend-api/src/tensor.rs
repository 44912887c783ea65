//! Tensors: data types, shapes, quantization.

use std::{fmt, sync::Arc};

use crate::open_enum::open_enum;
use crate::sys;

open_enum! {
    /// The type of a tensor's elements.
    ///
    /// The `Q…` types always carry quantization and mean quantized arithmetic. The 2- and 4-bit
    /// integers, Float8 and Float4 are storage types: only Cast, Quantize, Dequantize and layers
    /// that move data take them.
    pub enum DataType {
        /// IEEE 754 binary16.
        Float16 = sys::ARMNN_DATA_TYPE_FLOAT16,
        /// IEEE 754 binary32.
        Float32 = sys::ARMNN_DATA_TYPE_FLOAT32,
        /// Unsigned 8-bit integers with scale and zero point.
        QAsymmU8 = sys::ARMNN_DATA_TYPE_QASYMM_U8,
        /// Signed 32-bit integers.
        Signed32 = sys::ARMNN_DATA_TYPE_SIGNED32,
        /// One byte each: 0 or 1.
        Boolean = sys::ARMNN_DATA_TYPE_BOOLEAN,
        /// Signed 16-bit integers with scale.
        QSymmS16 = sys::ARMNN_DATA_TYPE_QSYMM_S16,
        /// Signed 8-bit integers with scale.
        QSymmS8 = sys::ARMNN_DATA_TYPE_QSYMM_S8,
        /// Signed 8-bit integers with scale and zero point.
        QAsymmS8 = sys::ARMNN_DATA_TYPE_QASYMM_S8,
        /// The upper half of a binary32.
        BFloat16 = sys::ARMNN_DATA_TYPE_BFLOAT16,
        /// Signed 64-bit integers.
        Signed64 = sys::ARMNN_DATA_TYPE_SIGNED64,
        /// IEEE 754 binary64.
        Float64 = sys::ARMNN_DATA_TYPE_FLOAT64,
        /// Signed 8-bit integers.
        Int8 = sys::ARMNN_DATA_TYPE_INT8,
        /// Signed 16-bit integers.
        Int16 = sys::ARMNN_DATA_TYPE_INT16,
        /// Unsigned 8-bit integers.
        UInt8 = sys::ARMNN_DATA_TYPE_UINT8,
        /// Unsigned 16-bit integers.
        UInt16 = sys::ARMNN_DATA_TYPE_UINT16,
        /// Unsigned 32-bit integers.
        UInt32 = sys::ARMNN_DATA_TYPE_UINT32,
        /// Unsigned 64-bit integers.
        UInt64 = sys::ARMNN_DATA_TYPE_UINT64,
        /// Signed 4-bit integers, two in a byte, the first in its low half.
        Int4 = sys::ARMNN_DATA_TYPE_INT4,
        /// Unsigned 4-bit integers, two in a byte, the first in its low half.
        UInt4 = sys::ARMNN_DATA_TYPE_UINT4,
        /// Signed 2-bit integers, four in a byte, the first in its lowest bits.
        Int2 = sys::ARMNN_DATA_TYPE_INT2,
        /// Unsigned 2-bit integers, four in a byte, the first in its lowest bits.
        UInt2 = sys::ARMNN_DATA_TYPE_UINT2,
        /// 4 exponent and 3 mantissa bits, no infinities.
        Float8E4M3FN = sys::ARMNN_DATA_TYPE_FLOAT8_E4M3FN,
        /// 4 exponent and 3 mantissa bits, no infinities, no negative zero.
        Float8E4M3FNUZ = sys::ARMNN_DATA_TYPE_FLOAT8_E4M3FNUZ,
        /// 5 exponent and 2 mantissa bits.
        Float8E5M2 = sys::ARMNN_DATA_TYPE_FLOAT8_E5M2,
        /// 5 exponent and 2 mantissa bits, no infinities, no negative zero.
        Float8E5M2FNUZ = sys::ARMNN_DATA_TYPE_FLOAT8_E5M2FNUZ,
        /// 8 exponent bits: powers of two.
        Float8E8M0 = sys::ARMNN_DATA_TYPE_FLOAT8_E8M0,
        /// 2 exponent and 1 mantissa bits, two in a byte, the first in its low half.
        Float4E2M1 = sys::ARMNN_DATA_TYPE_FLOAT4_E2M1,
    }
}

impl DataType {
    /// Bits of an element, if the type is a known one.
    pub const fn bits(self) -> Option<u32> {
        Some(match self {
            Self::Float64 | Self::Signed64 | Self::UInt64 => 64,
            Self::Float32 | Self::Signed32 | Self::UInt32 => 32,
            Self::Float16 | Self::BFloat16 | Self::QSymmS16 | Self::Int16 | Self::UInt16 => 16,
            Self::QAsymmU8
            | Self::QAsymmS8
            | Self::QSymmS8
            | Self::Boolean
            | Self::Int8
            | Self::UInt8
            | Self::Float8E4M3FN
            | Self::Float8E4M3FNUZ
            | Self::Float8E5M2
            | Self::Float8E5M2FNUZ
            | Self::Float8E8M0 => 8,
            Self::Int4 | Self::UInt4 | Self::Float4E2M1 => 4,
            Self::Int2 | Self::UInt2 => 2,
            _ => return None,
        })
    }

    /// Bytes of an element, if the type is a known one and its elements are whole bytes.
    pub const fn size(self) -> Option<usize> {
        match self.bits() {
            Some(bits) if bits >= 8 => Some(bits as usize / 8),
            _ => None,
        }
    }

    /// Whether the type carries quantization: one of the `Q…` types.
    pub const fn is_quantized(self) -> bool {
        matches!(
            self,
            Self::QAsymmU8 | Self::QAsymmS8 | Self::QSymmS8 | Self::QSymmS16
        )
    }

    /// Whether the elements are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::Float16
                | Self::Float32
                | Self::Float64
                | Self::BFloat16
                | Self::Float8E4M3FN
                | Self::Float8E4M3FNUZ
                | Self::Float8E5M2
                | Self::Float8E5M2FNUZ
                | Self::Float8E8M0
                | Self::Float4E2M1
        )
    }

    /// Bytes of `elements` elements; `None` for an unknown type, or beyond `usize`.
    ///
    /// Of types smaller than a byte the last byte may have bits behind the last element. They mean
    /// nothing: who reads the tensor ignores them, and they may be anything in what a layer gives.
    pub const fn byte_len(self, elements: u64) -> Option<usize> {
        let Some(bits) = self.bits() else { return None };
        let Some(total) = elements.checked_mul(bits as u64) else {
            return None;
        };
        let bytes = total.div_ceil(8);
        if bytes > isize::MAX as u64 {
            None
        } else {
            Some(bytes as usize)
        }
    }
}

/// The shape of a tensor: up to 8 dimensions, outermost first, each of which may be unknown.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "TensorShape")]
pub struct Shape(sys::ArmnnShape);

/// A shape of more than 8 dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tensor has at most 8 dimensions, not {0}")]
pub struct RankError(pub usize);

impl Shape {
    /// The most dimensions a tensor may have.
    pub const MAX_RANK: usize = sys::ARMNN_MAX_RANK;
    /// Stands for a dimension that is not known.
    pub const UNKNOWN: i64 = -1;
    /// A single element, without dimensions.
    pub const SCALAR: Self = Self(sys::ArmnnShape {
        rank: 0,
        reserved: 0,
        dims: [0; Self::MAX_RANK],
    });

    /// A shape of these dimensions; those below 0 are unknown.
    ///
    /// # Errors
    /// More than 8 dimensions.
    pub fn new(dims: &[i64]) -> Result<Self, RankError> {
        if dims.len() > Self::MAX_RANK {
            return Err(RankError(dims.len()));
        }
        let mut shape = Self::SCALAR;
        shape.0.rank = dims.len() as u32;
        for (to, &from) in shape.0.dims.iter_mut().zip(dims) {
            *to = from.max(Self::UNKNOWN);
        }
        Ok(shape)
    }

    /// A shape as it came over the wire; `None` if its rank is above 8.
    pub fn from_raw(raw: &sys::ArmnnShape) -> Option<Self> {
        let dims = raw.dims.get(..raw.rank as usize)?;
        Self::new(dims).ok()
    }

    /// The shape as it goes over the wire.
    pub fn as_raw(&self) -> &sys::ArmnnShape {
        &self.0
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.rank as usize
    }

    /// The dimensions, outermost first; below 0: unknown.
    pub fn dims(&self) -> &[i64] {
        &self.0.dims[..(self.0.rank as usize).min(Self::MAX_RANK)]
    }

    /// The dimension `axis`.
    ///
    /// # Panics
    /// When there is no such dimension, or it is unknown.
    pub fn dim(&self, axis: usize) -> usize {
        let dim = self.dims()[axis];
        usize::try_from(dim).expect("the dimension is not known yet")
    }

    /// Whether every dimension is known.
    pub fn is_known(&self) -> bool {
        self.dims().iter().all(|&d| d >= 0)
    }

    /// The number of elements; `None` while a dimension is unknown, or beyond `u64`.
    pub fn num_elements(&self) -> Option<u64> {
        // A zero makes the whole empty, however large the other dimensions are.
        if self.is_known() && self.dims().contains(&0) {
            return Some(0);
        }
        self.dims()
            .iter()
            .try_fold(1u64, |n, &d| n.checked_mul(u64::try_from(d).ok()?))
    }

    /// Whether `known` could be this shape once all is known: same rank, and equal wherever a
    /// dimension is known here.
    pub fn accepts(&self, known: &Shape) -> bool {
        self.rank() == known.rank()
            && self
                .dims()
                .iter()
                .zip(known.dims())
                .all(|(&a, &b)| a < 0 || a == b)
    }
}

impl TryFrom<&[usize]> for Shape {
    type Error = RankError;

    fn try_from(dims: &[usize]) -> Result<Self, RankError> {
        let mut signed = [0; Self::MAX_RANK];
        let Some(signed) = signed.get_mut(..dims.len()) else {
            return Err(RankError(dims.len()));
        };
        for (to, &from) in signed.iter_mut().zip(dims) {
            *to = i64::try_from(from).unwrap_or(i64::MAX);
        }
        Self::new(signed)
    }
}

impl<const N: usize> From<[i64; N]> for Shape {
    fn from(dims: [i64; N]) -> Self {
        const { assert!(N <= Self::MAX_RANK) };
        Self::new(&dims).expect("the rank is checked above")
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, &dim) in self.dims().iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            if dim < 0 {
                f.write_str("?")?
            } else {
                write!(f, "{dim}")?
            }
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How the numbers of a tensor stand for real ones: `real = scale * (number - zero_point)`, with
/// one pair for the whole tensor, or one for each index along an axis.
///
/// Clones share the pairs, of which a tensor can have very many.
#[derive(Clone, Debug, Default)]
pub struct Quantization {
    axis: i32,
    parameters: Option<Arc<Parameters>>,
}

#[derive(Debug, PartialEq)]
struct Parameters {
    scales: Vec<f32>,
    zero_points: Vec<i32>,
}

impl Quantization {
    /// No quantization.
    pub const NONE: Self = Self {
        axis: 0,
        parameters: None,
    };

    /// One scale and zero point for the whole tensor.
    pub fn per_tensor(scale: f32, zero_point: i32) -> Self {
        Self::per_axis(0, vec![scale], vec![zero_point])
    }

    /// A scale and a zero point for each index along a dimension. Nothing is checked here: whoever
    /// makes a network of it checks that there are as many of both as the dimension is long.
    pub fn per_axis(axis: i32, scales: Vec<f32>, zero_points: Vec<i32>) -> Self {
        let is_none = scales.is_empty() && zero_points.is_empty();
        let parameters = Parameters {
            scales,
            zero_points,
        };
        Self {
            axis,
            parameters: (!is_none).then(|| Arc::new(parameters)),
        }
    }

    /// The same pairs along another dimension.
    pub fn along(mut self, axis: i32) -> Self {
        self.axis = axis;
        self
    }

    /// The dimension along which the parameters change; without meaning for a single pair.
    pub fn axis(&self) -> i32 {
        self.axis
    }

    /// The scales; as many as zero points. None: the tensor is not quantized.
    pub fn scales(&self) -> &[f32] {
        self.parameters.as_ref().map_or(&[], |p| &p.scales)
    }

    /// The zero points.
    pub fn zero_points(&self) -> &[i32] {
        self.parameters.as_ref().map_or(&[], |p| &p.zero_points)
    }

    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        self.scales().is_empty()
    }

    /// Whether the pairs are known to be equal without a look at them, as those of clones are.
    pub fn shares_parameters_with(&self, other: &Self) -> bool {
        match (&self.parameters, &other.parameters) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}

/// Equal axes and equal pairs.
impl PartialEq for Quantization {
    fn eq(&self, other: &Self) -> bool {
        self.axis == other.axis
            && (self.shares_parameters_with(other) || self.parameters == other.parameters)
    }
}

/// The type, shape and quantization of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorInfo {
    /// The type of the elements.
    pub data_type: DataType,
    /// The shape.
    pub shape: Shape,
    /// The quantization.
    pub quantization: Quantization,
}

impl TensorInfo {
    /// A tensor without quantization.
    pub fn new(data_type: DataType, shape: impl Into<Shape>) -> Self {
        Self {
            data_type,
            shape: shape.into(),
            quantization: Quantization::NONE,
        }
    }

    /// The same with quantization.
    pub fn quantized(mut self, quantization: Quantization) -> Self {
        self.quantization = quantization;
        self
    }

    /// Bytes of the tensor; `None` while a dimension is unknown, for an unknown type, or beyond
    /// what can be addressed.
    pub fn byte_len(&self) -> Option<usize> {
        self.data_type.byte_len(self.shape.num_elements()?)
    }
}

impl fmt::Display for TensorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.data_type, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked_and_packed_types_round_up() {
        assert_eq!(DataType::Float32.byte_len(3), Some(12));
        assert_eq!(DataType::Int4.byte_len(3), Some(2));
        assert_eq!(DataType::Int2.byte_len(5), Some(2));
        assert_eq!(DataType::Float64.byte_len(u64::MAX / 8), None);
        assert_eq!(DataType(12345).byte_len(1), None);
    }

    #[test]
    fn clones_share_scales_along_whichever_axis() {
        let original = Quantization::per_axis(0, vec![0.5; 3], vec![0, 1, 2]);
        let turned = original.clone().along(1);
        assert!(turned.shares_parameters_with(&original));
        assert_eq!(turned.scales().as_ptr(), original.scales().as_ptr());
        assert_ne!(turned, original);
        let equal = Quantization::per_axis(1, vec![0.5; 3], vec![0, 1, 2]);
        assert_eq!(turned, equal);
        assert!(!turned.shares_parameters_with(&equal));
        assert!(!turned.shares_parameters_with(&Quantization::NONE));
        assert_eq!(
            Quantization::per_axis(0, vec![], vec![]),
            Quantization::NONE
        );
    }

    #[test]
    fn elements_of_a_shape() {
        assert_eq!(Shape::SCALAR.num_elements(), Some(1));
        assert_eq!(Shape::from([2, 3]).num_elements(), Some(6));
        assert_eq!(Shape::from([2, -1]).num_elements(), None);
        assert_eq!(Shape::from([i64::MAX, i64::MAX, 0]).num_elements(), Some(0));
        assert_eq!(Shape::from([i64::MAX, i64::MAX]).num_elements(), None);
        assert_eq!(Shape::new(&[1; 9]), Err(RankError(9)));
        assert_eq!(Shape::from([2, -7]).to_string(), "[2, ?]");
    }
}
