//! Types, shapes and quantization of TFLite tensors as those of the network.

use armnn_backend_api::{DataType, Quantization, Shape, TensorInfo};
use armnn_network::OutputDeclaration;

use super::problem::{Problem, Result};
use crate::model::{self, QuantizationDetails, Tensor};
use crate::schema_generated::TensorType;

/// The tensor's type, shape and quantization; a shape without dimensions is a scalar.
pub(super) fn tensor_info(tensor: &Tensor<'_>) -> Result<TensorInfo> {
    let (data_type, quantization) = element_type(tensor)?;
    Ok(TensorInfo {
        data_type,
        shape: shape(tensor)?,
        quantization,
    })
}

/// What the file says of a tensor that an operator writes, but for its shape.
pub(super) fn declaration(tensor: &Tensor<'_>) -> Result<OutputDeclaration> {
    let info = tensor_info(tensor)?;
    Ok(OutputDeclaration {
        name: (!tensor.name.is_empty()).then(|| tensor.name.to_owned()),
        data_type: Some(info.data_type),
        shape: None,
        quantization: (!info.quantization.is_none()).then_some(info.quantization),
    })
}

/// Whether the file says anything of the shape. No dimensions and no word of a rank is what old
/// files say of scalars, and converters of tensors whose shape they could not find out.
pub(super) fn has_shape(tensor: &Tensor<'_>) -> bool {
    !tensor.shape.is_empty() || tensor.has_rank
}

fn shape(tensor: &Tensor<'_>) -> Result<Shape> {
    let signature = &tensor.shape_signature;
    // A constant has all its elements, whatever the signature says.
    let dims = if signature.is_empty() || tensor.is_constant() {
        &tensor.shape
    } else if signature.len() == tensor.shape.len() {
        signature
    } else {
        return Err(Problem::malformed(format!(
            "its shape has {} dimensions, but its shape signature {}",
            tensor.shape.len(),
            signature.len()
        )));
    };
    if let Some(dim) = dims.iter().find(|&&dim| dim < -1) {
        let problem = format!("a dimension of its shape is {dim}");
        return Err(Problem::malformed(problem));
    }
    if dims.len() > Shape::MAX_RANK {
        let what = format!("{} dimensions, where there can be 8 at most", dims.len());
        return Err(Problem::unsupported(what));
    }
    let dims: Vec<i64> = dims.iter().map(|&dim| dim.into()).collect();
    Shape::new(&dims).map_err(|error| Problem::unsupported(error.to_string()))
}

/// The data type, which depends on the quantization: the table at the front page of the crate.
fn element_type(tensor: &Tensor<'_>) -> Result<(DataType, Quantization)> {
    let quantization = quantization(tensor)?;
    let scales = quantization.scales().len();
    let symmetric = quantization.zero_points().iter().all(|&zero| zero == 0);
    let unsupported = |what: &str| {
        let what = format!("{what} of tensor type {}", tensor.tensor_type);
        Err(Problem::unsupported(what))
    };
    let Some(known) = tensor.tensor_type.known() else {
        return unsupported("elements");
    };
    let data_type = match known {
        TensorType::Int8 if scales > 1 && symmetric => DataType::QSymmS8,
        TensorType::Int8 if scales > 0 => DataType::QAsymmS8,
        TensorType::Int8 => DataType::Int8,
        TensorType::Uint8 if scales > 0 => DataType::QAsymmU8,
        TensorType::Uint8 => DataType::UInt8,
        TensorType::Int16 if scales > 0 && symmetric => DataType::QSymmS16,
        TensorType::Int16 if scales > 0 => return unsupported("zero points other than 0"),
        TensorType::Int16 => DataType::Int16,
        TensorType::Uint16 | TensorType::Uint32 | TensorType::Uint64 if scales > 0 => {
            return unsupported("quantization");
        }
        TensorType::Uint16 => DataType::UInt16,
        TensorType::Uint32 => DataType::UInt32,
        TensorType::Uint64 => DataType::UInt64,
        TensorType::Int32 => DataType::Signed32,
        TensorType::Int64 => DataType::Signed64,
        TensorType::Int4 => DataType::Int4,
        TensorType::Uint4 => DataType::UInt4,
        TensorType::Int2 => DataType::Int2,
        TensorType::Float8E4m3fn => DataType::Float8E4M3FN,
        TensorType::Float8E5m2 => DataType::Float8E5M2,
        // TFLite ignores scales on these, which some converters write.
        TensorType::Float16 => return Ok((DataType::Float16, Quantization::NONE)),
        TensorType::Float32 => return Ok((DataType::Float32, Quantization::NONE)),
        TensorType::Float64 => return Ok((DataType::Float64, Quantization::NONE)),
        TensorType::Bfloat16 => return Ok((DataType::BFloat16, Quantization::NONE)),
        TensorType::Bool => return Ok((DataType::Boolean, Quantization::NONE)),
        TensorType::String
        | TensorType::Complex64
        | TensorType::Complex128
        | TensorType::Resource
        | TensorType::Variant => return unsupported("elements"),
    };
    Ok((data_type, quantization))
}

/// How the numbers are quantized, if they are.
pub(super) fn quantization(tensor: &Tensor<'_>) -> Result<Quantization> {
    let Some(quantization) = &tensor.quantization else {
        return Ok(Quantization::NONE);
    };
    if let Some(details) = &quantization.details {
        let scheme = match details {
            QuantizationDetails::Custom => "custom quantization".to_owned(),
            QuantizationDetails::Blockwise => "blockwise quantization".to_owned(),
            QuantizationDetails::MultiAxis => "quantization along several axes".to_owned(),
            QuantizationDetails::Unknown(number) => format!("quantization scheme {number}"),
        };
        let what = format!("{scheme}; quantize per tensor or per channel");
        return Err(Problem::unsupported(what));
    }
    let model::Quantization {
        scales,
        zero_points,
        axis,
        ..
    } = quantization;
    let zero_points = match zero_points.len() {
        0 => vec![0; scales.len()],
        count if count == scales.len() => zero_points
            .iter()
            .map(|&zero| i32::try_from(zero))
            .collect::<Result<_, _>>()
            .map_err(|_| Problem::malformed("a zero point is beyond 32 bits"))?,
        count => {
            return Err(Problem::malformed(format!(
                "it has {} scales, but {count} zero points",
                scales.len()
            )));
        }
    };
    let axis = if scales.len() > 1 { *axis } else { 0 };
    Ok(Quantization::per_axis(axis, scales.clone(), zero_points))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn tensor(
        tensor_type: TensorType,
        scales: &[f32],
        zero_points: &[i64],
    ) -> Tensor<'static> {
        Tensor {
            name: "x",
            tensor_type: model::TensorType(tensor_type as i8),
            shape: vec![2, 3],
            shape_signature: Vec::new(),
            has_rank: false,
            is_variable: false,
            sparsity: None,
            buffer: 0,
            data: None,
            external_buffer: 0,
            quantization: Some(model::Quantization {
                scales: scales.to_vec(),
                zero_points: zero_points.to_vec(),
                min: Vec::new(),
                max: Vec::new(),
                axis: 1,
                details: None,
            }),
        }
    }

    #[test]
    fn integers_are_quantized_where_they_have_scales() {
        use DataType as D;
        use TensorType as T;
        for (tensor_type, plain, one_scale, several) in [
            (T::Int8, D::Int8, Some(D::QAsymmS8), Some(D::QSymmS8)),
            (T::Uint8, D::UInt8, Some(D::QAsymmU8), Some(D::QAsymmU8)),
            (T::Int16, D::Int16, Some(D::QSymmS16), Some(D::QSymmS16)),
            (T::Int32, D::Signed32, Some(D::Signed32), Some(D::Signed32)),
            (T::Int64, D::Signed64, Some(D::Signed64), Some(D::Signed64)),
            (T::Int4, D::Int4, Some(D::Int4), Some(D::Int4)),
            (T::Uint16, D::UInt16, None, None),
            (T::Uint32, D::UInt32, None, None),
            (T::Uint64, D::UInt64, None, None),
        ] {
            let found = |scales: &[f32]| {
                let info = tensor_info(&tensor(tensor_type, scales, &[]));
                info.ok().map(|info| info.data_type)
            };
            assert_eq!(found(&[]), Some(plain), "{tensor_type:?}");
            assert_eq!(found(&[0.5]), one_scale, "{tensor_type:?}");
            assert_eq!(found(&[0.5, 0.25, 1.0]), several, "{tensor_type:?}");
        }
    }

    #[test]
    fn zero_points_decide_whether_a_type_is_symmetric() {
        let found = |tensor_type, scales: &[f32], zeros: &[i64]| {
            tensor_info(&tensor(tensor_type, scales, zeros)).map(|info| info.data_type)
        };
        let weights = found(TensorType::Int8, &[0.5, 0.25, 1.0], &[0, 1, 0]).unwrap();
        assert_eq!(weights, DataType::QAsymmS8);
        assert!(matches!(
            found(TensorType::Int16, &[0.5], &[1]),
            Err(Problem::Unsupported(_))
        ));
        for zeros in [&[0, 0][..], &[1 << 40]] {
            let found = found(TensorType::Int8, &[0.5], zeros);
            assert!(matches!(found, Err(Problem::Malformed(_))), "{zeros:?}");
        }
    }

    #[test]
    fn scales_on_floats_and_booleans_say_nothing() {
        for (tensor_type, expected) in [
            (TensorType::Float32, DataType::Float32),
            (TensorType::Float16, DataType::Float16),
            (TensorType::Bfloat16, DataType::BFloat16),
            (TensorType::Float64, DataType::Float64),
            (TensorType::Bool, DataType::Boolean),
        ] {
            let info = tensor_info(&tensor(tensor_type, &[0.5], &[3])).unwrap();
            assert_eq!(
                (info.data_type, info.quantization),
                (expected, Quantization::NONE)
            );
        }
    }

    #[test]
    fn what_there_is_no_type_for_is_named() {
        use TensorType as T;
        for tensor_type in [
            T::String,
            T::Complex64,
            T::Complex128,
            T::Resource,
            T::Variant,
        ] {
            let problem = tensor_info(&tensor(tensor_type, &[], &[])).unwrap_err();
            let Problem::Unsupported(what) = problem else {
                panic!("{problem:?}");
            };
            assert_eq!(
                what,
                format!("elements of tensor type {}", tensor_type.name())
            );
        }
        let mut newer = tensor(T::Float32, &[], &[]);
        newer.tensor_type = model::TensorType(99);
        assert!(matches!(tensor_info(&newer), Err(Problem::Unsupported(_))));
        let mut blockwise = tensor(T::Int8, &[0.5], &[0]);
        blockwise.quantization.as_mut().unwrap().details = Some(QuantizationDetails::Blockwise);
        assert!(matches!(
            tensor_info(&blockwise),
            Err(Problem::Unsupported(_))
        ));
    }

    #[test]
    fn the_signature_tells_unknown_dimensions_but_not_of_constants() {
        let mut x = tensor(TensorType::Float32, &[], &[]);
        x.shape_signature = vec![-1, 3];
        assert_eq!(tensor_info(&x).unwrap().shape, Shape::from([-1, 3]));
        x.data = Some(bytes::Bytes::from_static(&[0; 24]));
        assert_eq!(tensor_info(&x).unwrap().shape, Shape::from([2, 3]));
        x.data = None;
        x.shape_signature = vec![3];
        assert!(matches!(tensor_info(&x), Err(Problem::Malformed(_))));
        x.shape_signature = vec![-2, 3];
        assert!(matches!(tensor_info(&x), Err(Problem::Malformed(_))));
        x.shape_signature = Vec::new();
        x.shape = vec![1; 9];
        assert!(matches!(tensor_info(&x), Err(Problem::Unsupported(_))));
    }
}
