//! The elements of tensors as numbers.

use armnn_runtime::{DataType, TensorInfo};
use half::{bf16, f16};

use crate::elements;

/// Calls `visit` with every element of a tensor as a number, in order; of a quantized tensor with
/// the real value that an element stands for. Returns whether the type can be read so; if not,
/// nothing is visited.
pub fn visit(info: &TensorInfo, bytes: &[u8], visit: &mut dyn FnMut(f64)) -> bool {
    let count = info.shape.num_elements().unwrap_or(0);
    visit_all(info, usize::try_from(count).unwrap_or(0), bytes, visit)
}

/// The same for several tensors of one type and shape, one after the other, with `count` elements
/// in all.
pub fn visit_all(
    info: &TensorInfo,
    count: usize,
    bytes: &[u8],
    visit: &mut dyn FnMut(f64),
) -> bool {
    let quantization = ElementQuantization::new(info);
    let mut index = 0;
    elements::for_each(info.data_type, count, bytes, &mut |element| {
        visit(quantization.dequantize(index, element.to_f64()));
        index += 1;
    })
}

/// Scale and zero point of each element.
struct ElementQuantization<'a> {
    scales: &'a [f32],
    zero_points: &'a [i32],
    /// How many elements lie between two that differ by one along the axis.
    stride: usize,
}

impl<'a> ElementQuantization<'a> {
    fn new(info: &'a TensorInfo) -> Self {
        let axis = usize::try_from(info.quantization.axis()).unwrap_or(0);
        let inner = info.shape.dims().iter().skip(axis.saturating_add(1));
        Self {
            scales: info.quantization.scales(),
            zero_points: info.quantization.zero_points(),
            stride: inner
                .map(|&dim| usize::try_from(dim).unwrap_or(1))
                .fold(1, usize::saturating_mul)
                .max(1),
        }
    }

    fn dequantize(&self, index: usize, value: f64) -> f64 {
        let pair = match self.scales.len() {
            0 => return value,
            1 => 0,
            n => index / self.stride % n,
        };
        let zero_point = self.zero_points.get(pair).copied().unwrap_or(0);
        f64::from(self.scales[pair]) * (value - f64::from(zero_point))
    }
}

/// Writes real numbers as elements of a tensor: rounded for integers, and quantized where the
/// tensor is, with its first scale and zero point; what is out of range becomes the nearest number
/// in it. `None` for a type that has no such numbers.
pub fn encode(info: &TensorInfo, values: impl Iterator<Item = f64>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    encode_into(&mut bytes, info, values)?;
    Some(bytes)
}

/// The same, appended to what may have its memory already.
pub fn encode_into(
    bytes: &mut Vec<u8>,
    info: &TensorInfo,
    values: impl Iterator<Item = f64>,
) -> Option<()> {
    let (scale, zero_point) = match (
        info.quantization.scales().first(),
        info.quantization.zero_points().first(),
    ) {
        (Some(&scale), Some(&zero_point)) if scale > 0.0 => (f64::from(scale), zero_point),
        _ => (1.0, 0),
    };
    let values = values.map(|v| v / scale + f64::from(zero_point));
    // Ties to even, as the layer Quantize rounds; a cast of a float saturates.
    macro_rules! integers {
        ($T:ty) => {
            bytes.extend(values.flat_map(|v| (v.round_ties_even() as $T).to_ne_bytes()))
        };
    }
    match info.data_type {
        DataType::Float16 => bytes.extend(values.flat_map(|v| f16::from_f64(v).to_ne_bytes())),
        DataType::BFloat16 => bytes.extend(values.flat_map(|v| bf16::from_f64(v).to_ne_bytes())),
        DataType::Float32 => bytes.extend(values.flat_map(|v| (v as f32).to_ne_bytes())),
        DataType::Float64 => bytes.extend(values.flat_map(f64::to_ne_bytes)),
        DataType::Boolean => bytes.extend(values.map(|v| u8::from(v != 0.0))),
        DataType::QAsymmU8 | DataType::UInt8 => integers!(u8),
        DataType::QAsymmS8 | DataType::QSymmS8 | DataType::Int8 => integers!(i8),
        DataType::QSymmS16 | DataType::Int16 => integers!(i16),
        DataType::UInt16 => integers!(u16),
        DataType::Signed32 => integers!(i32),
        DataType::UInt32 => integers!(u32),
        DataType::Signed64 => integers!(i64),
        DataType::UInt64 => integers!(u64),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use armnn_runtime::{Quantization, Shape};

    fn decoded(info: &TensorInfo, bytes: &[u8]) -> Vec<f64> {
        let mut values = Vec::new();
        assert!(visit(info, bytes, &mut |v| values.push(v)));
        values
    }

    fn quantized(
        data_type: DataType,
        shape: impl Into<Shape>,
        axis: i32,
        pairs: &[(f32, i32)],
    ) -> TensorInfo {
        let (scales, zero_points) = pairs.iter().copied().unzip();
        TensorInfo::new(data_type, shape).quantized(Quantization::per_axis(
            axis,
            scales,
            zero_points,
        ))
    }

    #[test]
    fn elements_are_read_as_what_they_stand_for() {
        let half = TensorInfo::new(DataType::Float16, [2]);
        // 1.5 and -2 in binary16.
        let bytes = [0x3e00u16, 0xc000].map(u16::to_ne_bytes).concat();
        assert_eq!(decoded(&half, &bytes), [1.5, -2.0]);

        let asymmetric = quantized(DataType::QAsymmU8, [3], 0, &[(0.5, 128)]);
        assert_eq!(decoded(&asymmetric, &[0, 128, 255]), [-64.0, 0.0, 63.5]);
    }

    #[test]
    fn each_index_along_the_axis_has_its_own_scale() {
        // Shape (2, 2, 2), axis 1: elements 0, 1, 4, 5 have the first scale.
        let info = quantized(DataType::QSymmS8, [2, 2, 2], 1, &[(1.0, 0), (10.0, 0)]);
        let bytes = [1u8, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(
            decoded(&info, &bytes),
            [1.0, 2.0, 30.0, 40.0, 5.0, 6.0, 70.0, 80.0]
        );
    }

    #[test]
    fn numbers_are_written_rounded_quantized_and_within_range() {
        let info = quantized(DataType::QAsymmS8, [4], 0, &[(0.5, 10)]);
        // 0.25 / 0.5 + 10 = 10.5, to the even 10; 1000 and -1000 are out of range.
        let bytes = encode(&info, [0.0, 0.25, 1000.0, -1000.0].into_iter()).unwrap();
        assert_eq!(bytes, [10, 10, 127, 128]);
        let packed = TensorInfo::new(DataType::Int4, [2]);
        assert_eq!(encode(&packed, [0.0, 1.0].into_iter()), None);
    }
}
