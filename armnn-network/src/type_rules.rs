//! Data types and quantization: what each layer takes on every backend, and what it gives.
//!
//! These rules are the widest that make sense for a layer. A backend may support fewer types, and
//! says so when it is asked for the layer.

mod class;
mod layer_types;

use armnn_backend_api::{
    BinaryOperation, ComparisonOperation, DataLayout, DataType, LayerDescriptor as D, Quantization,
    ReduceOperation, TensorInfo, UnaryOperation,
};

use crate::error::LayerProblem;
use crate::tensor_rules::takes_quantization;

use self::class::Class;
use self::layer_types::{Types, output_problem, plain};

type Result<T, E = LayerProblem> = std::result::Result<T, E>;

/// A tensor's type without its shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ElementType {
    pub data_type: DataType,
    pub quantization: Quantization,
}

/// The types of the outputs, and checks of those of the inputs.
///
/// A quantized output without quantization is one whose scale only the caller knows. `declared` is
/// as long as there are outputs; arity has been checked.
///
/// # Errors
/// When an input has a type that the layer does not take, or the type of an output is not declared
/// although it does not follow.
pub(crate) fn output_types(
    descriptor: &D,
    inputs: &[Option<&TensorInfo>],
    declared: &[Option<DataType>],
) -> Result<Vec<ElementType>> {
    let types = Types {
        layer_type: descriptor.layer_type(),
        inputs,
        declared,
    };
    let single = match descriptor {
        D::Activation(_)
        | D::L2Normalization(_)
        | D::LogSoftmax(_)
        | D::Normalization(_)
        | D::Softmax(_) => types.same(0, Class::REAL),
        D::Col2Im(_)
        | D::Cumulative(_)
        | D::Interpolate(_)
        | D::Pooling2d(_)
        | D::Pooling3d(_)
        | D::Resize(_) => types.same(0, Class::NUMBER),
        D::Reduce(d) => match d.operation() {
            ReduceOperation::Any | ReduceOperation::All => types.same(0, Class::BOOLEAN),
            _ => types.same(0, Class::NUMBER),
        },
        D::ElementwiseUnary(d) => unary(d.operation(), &types),
        D::ElementwiseBinary(d) => {
            types.equal(0, 1)?;
            types.same(0, binary_class(d.operation()))
        }
        D::Prelu(_) => {
            types.equal(0, 1)?;
            types.same(0, Class::NUMBER)
        }
        D::Comparison(d) => comparison(d.operation(), &types),
        D::LogicalBinary(_) => {
            types.equal(0, 1)?;
            types.same(0, Class::BOOLEAN)
        }
        D::BatchMatMul(_) => {
            types.factors(0, 1)?;
            types.same(0, Class::NUMBER)
        }
        D::Det(_) | D::Dft(_) => types.same(0, Class::FLOAT),
        D::BatchNormalization(_) | D::InstanceNormalization(_) | D::LayerNormalization(_) => {
            types.all_equal(1..inputs.len())?;
            (1..inputs.len())
                .filter(|&index| types.is_there(index))
                .try_for_each(|index| types.per_tensor(index))?;
            types.same(0, Class::REAL)
        }
        D::DeformConv(_) | D::GridSample(_) => {
            types.all_equal(1..inputs.len())?;
            types.same(0, Class::FLOAT)
        }
        D::RoiAlign(_) => {
            types.equal(0, 1)?;
            types.indices(2)?;
            types.same(0, Class::FLOAT)
        }
        D::Convolution2d(_) => weighted(&types, 0),
        D::Convolution3d(d) => weighted(
            &types,
            if d.data_layout() == DataLayout::Ndhwc {
                4
            } else {
                0
            },
        ),
        D::TransposeConvolution2d(d) => {
            weighted(&types, i32::from(d.data_layout() == DataLayout::Nchw))
        }
        D::TransposeConvolution3d(d) => {
            weighted(&types, i32::from(d.data_layout() == DataLayout::Ncdhw))
        }
        D::DepthwiseConvolution2d(_) => weighted(&types, 3),
        D::FullyConnected(d) => {
            weighted(&types, if d.transpose_weight_matrix == 1 { 0 } else { 1 })
        }
        D::BitCast(_) => bit_cast(&types),
        D::Cast(_) => cast(&types),
        D::Quantize(_) => quantize(&types),
        D::Dequantize(_) => dequantize(&types),
        D::Concat(_) | D::Stack(_) => {
            types.all_equal(1..inputs.len())?;
            types.moved(0)
        }
        D::Gather(_) | D::GatherElements(_) | D::GatherNd(_) | D::ReverseSequence(_) => {
            types.indices(1)?;
            types.moved(0)
        }
        D::ScatterElements(_) | D::ScatterNd(_) => {
            types.indices(1)?;
            types.equal(0, 2)?;
            types.one_of(0, Class::COMPARABLE)?;
            types.moved(0)
        }
        D::DynamicUpdateSlice(_) => {
            types.equal(0, 1)?;
            types.indices(2)?;
            types.moved(0)
        }
        D::Trilu(_) => {
            if types.is_there(1) {
                types.indices(1)?;
            }
            types.moved(0)
        }
        D::Select(_) => {
            types.one_of(0, Class::BOOLEAN)?;
            types.equal(1, 2)?;
            types.moved(1)
        }
        D::Compress(_) => {
            types.one_of(1, Class::BOOLEAN)?;
            types.moved(0)
        }
        D::OneHot(_) => {
            types.one_of(0, Class::INTEGER)?;
            types.equal(1, 2)?;
            types.moved(1)
        }
        D::Range(_) => {
            types.all_equal(1..inputs.len())?;
            types.same(0, Class::NUMBER)
        }
        D::Bucketize(_) => {
            types.equal(0, 1)?;
            types.one_of(0, Class::NUMBER)?;
            Ok(plain(DataType::Signed32))
        }
        D::ArgMinMax(_) => {
            types.one_of(0, Class::COMPARABLE)?;
            types.index_type(0)
        }
        D::NonZero(_) => {
            types.one_of(0, Class::COMPARABLE)?;
            Ok(plain(DataType::Signed64))
        }
        D::BatchToSpaceNd(_)
        | D::BroadcastTo(_)
        | D::DepthToSpace(_)
        | D::Fill(_)
        | D::Pad(_)
        | D::Reshape(_)
        | D::ReverseV2(_)
        | D::SpaceToBatchNd(_)
        | D::SpaceToDepth(_)
        | D::StridedSlice(_)
        | D::Tile(_) => types.moved(0),
        D::Transpose(d) => types.transposed(d.permutation()),
        D::DetectionPostProcess(_)
        | D::Gru(_)
        | D::Lstm(_)
        | D::MaxPoolWithIndices(_)
        | D::NonMaxSuppression(_)
        | D::NonMaxSuppressionPadded(_)
        | D::Rnn(_)
        | D::Split(_)
        | D::StandIn(_)
        | D::TopK(_)
        | D::UnidirectionalSequenceLstm(_)
        | D::Unique(_) => return several_outputs(descriptor, &types),
        _ => Err(LayerProblem::UnknownLayerType),
    }?;
    Ok(vec![single])
}

/// The types of layers that have more outputs than one, or an unusual number of them.
fn several_outputs(descriptor: &D, types: &Types<'_>) -> Result<Vec<ElementType>> {
    let signed64 = || plain(DataType::Signed64);
    Ok(match descriptor {
        D::DetectionPostProcess(_) => {
            for index in 0..3 {
                types.one_of(index, Class::REAL)?;
                types.per_tensor(index)?;
            }
            vec![plain(DataType::Float32); 4]
        }
        D::Gru(_) | D::Lstm(_) | D::Rnn(_) => {
            types.one_of(0, Class::FLOAT)?;
            for index in (1..types.inputs.len()).filter(|&index| types.is_there(index)) {
                match index {
                    4 => types.exactly(index, DataType::Signed32)?,
                    _ => types.equal(0, index)?,
                }
            }
            vec![plain(types.input(0)?.data_type); types.declared.len()]
        }
        D::MaxPoolWithIndices(_) => vec![types.same(0, Class::NUMBER)?, signed64()],
        D::NonMaxSuppression(_) => {
            types.one_of(0, Class::FLOAT)?;
            types.equal(0, 1)?;
            for index in (2..types.inputs.len()).filter(|&index| types.is_there(index)) {
                match index {
                    2 => types.indices(index)?,
                    _ => types.equal(0, index)?,
                }
            }
            vec![signed64()]
        }
        D::NonMaxSuppressionPadded(_) => {
            types.one_of(0, Class::FLOAT)?;
            types.all_equal(1..types.inputs.len())?;
            let index = || plain(DataType::Signed32);
            vec![index(), plain(types.input(0)?.data_type), index()]
        }
        D::Split(_) => vec![types.moved(0)?; types.declared.len()],
        D::StandIn(_) => (0..types.declared.len())
            .map(|index| types.declared_type(index).map(plain))
            .collect::<Result<_>>()?,
        D::TopK(_) => {
            types.one_of(0, Class::NUMBER)?;
            vec![types.moved(0)?, types.index_type(1)?]
        }
        D::UnidirectionalSequenceLstm(_) => unidirectional_sequence_lstm(types)?,
        D::Unique(_) => {
            types.one_of(0, Class::COMPARABLE)?;
            vec![types.moved(0)?, signed64(), signed64(), signed64()]
        }
        _ => return Err(LayerProblem::UnknownLayerType),
    })
}

/// All of one floating-point type or of QSymmS16, or quantized as TensorFlow Lite's integer operator.
fn unidirectional_sequence_lstm(types: &Types<'_>) -> Result<Vec<ElementType>> {
    types.one_of(0, Class::REAL)?;
    let there = || (1..types.inputs.len()).filter(|&index| types.is_there(index));
    if types.input(0)?.data_type.size() != Some(1) {
        types.all_equal(1..types.inputs.len())?;
        there().try_for_each(|index| types.per_tensor(index))?;
    } else {
        let numbers = types.input(0)?.data_type;
        if numbers != DataType::QAsymmU8 {
            types.exactly(0, DataType::QAsymmS8)?;
        }
        types.per_tensor(0)?;
        for index in there() {
            match index {
                1..=8 | 16 => types.one_of(index, Class::QUANTIZED_8)?,
                9..=11 | 20..=23 => types.exactly(index, DataType::QSymmS16)?,
                18 => types.exactly(index, numbers)?,
                19 => types.exactly(index, DataType::QSymmS16)?,
                _ => types.exactly(index, DataType::Signed32)?,
            }
        }
    }
    let state = |index: usize| {
        types.input(index).map(|info| ElementType {
            data_type: info.data_type,
            quantization: info.quantization.clone(),
        })
    };
    Ok(vec![state(18)?, state(19)?, state(18)?])
}

fn binary_class(operation: BinaryOperation) -> Class {
    match operation {
        BinaryOperation::BitwiseAnd
        | BinaryOperation::BitwiseOr
        | BinaryOperation::BitwiseXor
        | BinaryOperation::ShiftLeft
        | BinaryOperation::ShiftRight => Class::INTEGER,
        BinaryOperation::Atan2 => Class::REAL,
        _ => Class::NUMBER,
    }
}

fn unary(operation: UnaryOperation, types: &Types<'_>) -> Result<ElementType> {
    match operation {
        UnaryOperation::LogicalNot => {
            types.one_of(0, Class::BOOLEAN)?;
            Ok(plain(DataType::Boolean))
        }
        UnaryOperation::Abs
        | UnaryOperation::Neg
        | UnaryOperation::Sign
        | UnaryOperation::Square => types.same(0, Class::NUMBER),
        UnaryOperation::BitwiseNot => types.same(0, Class::INTEGER),
        UnaryOperation::IsNan
        | UnaryOperation::IsInf
        | UnaryOperation::IsPosInf
        | UnaryOperation::IsNegInf => {
            types.one_of(0, Class::FLOAT)?;
            Ok(plain(DataType::Boolean))
        }
        _ => types.same(0, Class::REAL),
    }
}

fn comparison(operation: ComparisonOperation, types: &Types<'_>) -> Result<ElementType> {
    types.equal(0, 1)?;
    let class = match operation {
        ComparisonOperation::Equal | ComparisonOperation::NotEqual => Class::COMPARABLE,
        _ => Class::NUMBER,
    };
    types.one_of(0, class)?;
    types.per_tensor(0)?;
    types.per_tensor(1)?;
    Ok(plain(DataType::Boolean))
}

/// A layer with weights and bias; `axis` is the weights' dimension of output channels.
fn weighted(types: &Types<'_>, axis: i32) -> Result<ElementType> {
    let output = types.same(0, Class::NUMBER)?;
    types.factors(0, 1)?;
    let quantized = output.data_type.is_quantized();
    let weights = types.input(1)?;
    if weights.quantization.scales().len() > 1 && weights.quantization.axis() != axis {
        return Err(LayerProblem::Quantization {
            tensor: types.name(1),
            expected: "quantized per tensor, or per output channel",
        });
    }
    if let Some(bias) = types.inputs.get(2).copied().flatten() {
        let fits = match output.data_type {
            DataType::QSymmS16 => matches!(bias.data_type, DataType::Signed32 | DataType::Signed64),
            _ if quantized => bias.data_type == DataType::Signed32,
            other => bias.data_type == other,
        };
        if !fits {
            let expected = match output.data_type {
                DataType::QSymmS16 => "Signed32 or Signed64".to_owned(),
                _ if quantized => "Signed32, as the input is quantized".to_owned(),
                other => format!("{other}, the type of the input"),
            };
            return Err(types.type_problem(2, expected));
        }
    }
    Ok(output)
}

fn cast(types: &Types<'_>) -> Result<ElementType> {
    types.one_of(0, Class::CAST)?;
    let to = types.declared_type(0)?;
    if Class::CAST.contains(to) {
        Ok(plain(to))
    } else {
        let expected = format!("{}; use Quantize for quantized types", Class::CAST.name);
        Err(output_problem(types.layer_type, 0, expected, to))
    }
}

/// Of real numbers, or of quantized ones in another scale: also of integers with a scale.
fn quantize(types: &Types<'_>) -> Result<ElementType> {
    if !takes_quantization(types.input(0)?.data_type) || types.input(0)?.quantization.is_none() {
        types.one_of(0, Class::REAL)?;
    }
    let to = types.declared_type(0)?;
    if takes_quantization(to) {
        Ok(plain(to))
    } else {
        let expected = "a type that carries quantization".to_owned();
        Err(output_problem(types.layer_type, 0, expected, to))
    }
}

fn dequantize(types: &Types<'_>) -> Result<ElementType> {
    let input = types.input(0)?;
    if input.quantization.is_none() {
        return Err(LayerProblem::Quantization {
            tensor: types.name(0),
            expected: "quantized; use Cast for types without quantization",
        });
    }
    let to = types.declared.first().copied().flatten();
    match to.unwrap_or(DataType::Float32) {
        to @ (DataType::Float32 | DataType::Float16) => Ok(plain(to)),
        to => {
            let expected = "Float32 or Float16".to_owned();
            Err(output_problem(types.layer_type, 0, expected, to))
        }
    }
}

fn bit_cast(types: &Types<'_>) -> Result<ElementType> {
    let from = types.input(0)?.data_type;
    let to = types.declared_type(0)?;
    if from.bits().is_some() && from.bits() == to.bits() {
        Ok(plain(to))
    } else {
        let expected = format!("of the size of {from}, the type of the input");
        Err(output_problem(types.layer_type, 0, expected, to))
    }
}
