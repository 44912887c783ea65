//! What holds for every tensor: its type is known, its quantization fits, it can be addressed.

use armnn_backend_api::{DataType, Quantization, Shape, TensorInfo};

use crate::error::TensorProblem;

type Result<T = (), E = TensorProblem> = std::result::Result<T, E>;

/// Checks a tensor's type, size and quantization.
///
/// # Errors
/// When one of them is not valid.
pub(crate) fn check_info(info: &TensorInfo) -> Result {
    if info.data_type.is_quantized() && info.quantization.is_none() {
        check_addressable(info.data_type, &info.shape)?;
        return Err(TensorProblem::MissingQuantization);
    }
    check_info_but_missing_quantization(info, None)
}

/// The same, for an output whose quantization may yet be declared. Scales and zero points that it
/// shares with a `known` tensor, which was checked before, are not looked at again: a chain of
/// layers that pass on very many of them is checked in linear time.
pub(crate) fn check_info_but_missing_quantization(
    info: &TensorInfo,
    known: Option<&TensorInfo>,
) -> Result {
    check_addressable(info.data_type, &info.shape)?;
    check_quantization(info, known)
}

/// Checks that the elements can be addressed, and that counting the elements of a part of the
/// dimensions cannot overflow either, even if another dimension is 0 or not known yet.
pub(crate) fn check_addressable(data_type: DataType, shape: &Shape) -> Result {
    if data_type.bits().is_none() {
        return Err(TensorProblem::UnknownDataType);
    }
    shape
        .dims()
        .iter()
        .filter_map(|&dim| u64::try_from(dim).ok())
        .try_fold(1u64, |n, dim| n.checked_mul(dim.max(1)))
        .and_then(|elements| data_type.byte_len(elements))
        .map(|_| ())
        .ok_or(TensorProblem::TooLarge)
}

/// Checks that there is one scale in all, or one for each index along the axis.
pub(crate) fn check_scale_count(quantization: &Quantization, shape: &Shape) -> Result {
    let found = quantization.scales().len();
    if found <= 1 {
        return Ok(());
    }
    let axis = usize::try_from(quantization.axis())
        .ok()
        .filter(|&axis| axis < shape.rank())
        .ok_or(TensorProblem::QuantizationAxis(quantization.axis()))?;
    let expected = shape.dims()[axis];
    if expected >= 0 && i64::try_from(found) != Ok(expected) {
        return Err(TensorProblem::ScaleCount {
            axis,
            expected,
            found,
        });
    }
    Ok(())
}

/// Whether tensors of the type may carry quantization: the `Q…` types, which always do; storage
/// types; and Signed32 and Signed64, for the biases of quantized layers.
pub(crate) fn takes_quantization(data_type: DataType) -> bool {
    zero_point_range(data_type).is_some()
}

fn zero_point_range(data_type: DataType) -> Option<(i32, i32)> {
    Some(match data_type {
        DataType::QAsymmU8 => (0, 255),
        DataType::QAsymmS8 => (-128, 127),
        DataType::QSymmS8 | DataType::QSymmS16 => (0, 0),
        DataType::Signed32 | DataType::Signed64 => (i32::MIN, i32::MAX),
        DataType::Int4 => (-8, 7),
        DataType::UInt4 => (0, 15),
        DataType::Int2 => (-2, 1),
        DataType::UInt2 => (0, 3),
        DataType::Float8E4M3FN
        | DataType::Float8E4M3FNUZ
        | DataType::Float8E5M2
        | DataType::Float8E5M2FNUZ
        | DataType::Float4E2M1 => (0, 0),
        _ => return None,
    })
}

/// Whether the scales and zero points of a tensor are those of another, which allows the same ones.
fn has_the_parameters_of(info: &TensorInfo, other: &TensorInfo) -> bool {
    info.data_type == other.data_type
        && info
            .quantization
            .shares_parameters_with(&other.quantization)
}

fn check_quantization(info: &TensorInfo, known: Option<&TensorInfo>) -> Result {
    let quantization = &info.quantization;
    let (scales, zero_points) = (quantization.scales(), quantization.zero_points());
    if scales.len() != zero_points.len() {
        return Err(TensorProblem::ZeroPointCount {
            scales: scales.len(),
            zero_points: zero_points.len(),
        });
    }
    if scales.is_empty() {
        return Ok(());
    }
    let Some((least, most)) = zero_point_range(info.data_type) else {
        return Err(TensorProblem::UnexpectedQuantization(scales.len()));
    };
    check_scale_count(quantization, &info.shape)?;
    if known.is_some_and(|known| has_the_parameters_of(info, known)) {
        return Ok(());
    }
    for (index, &scale) in scales.iter().enumerate() {
        if !scale.is_finite() || scale < 0.0 {
            return Err(TensorProblem::Scale { index, scale });
        }
    }
    for (index, &zero_point) in zero_points.iter().enumerate() {
        if !(least..=most).contains(&zero_point) {
            return Err(TensorProblem::ZeroPoint {
                index,
                zero_point,
                least,
                most,
            });
        }
    }
    Ok(())
}
