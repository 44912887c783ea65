//! Arithmetic on shapes, evaluated before anything is executed.
//!
//! Models compute what parameters are from shapes and small constants: gather a dimension, divide
//! it, join it with others. This is what the layers for that give, element by element, where some of
//! the elements need not be known. Results are those of the layers' definitions; where integers would
//! wrap around, an index is outside, or an integer is divided by 0, there is none.

mod elementwise;
mod generation;
mod movement;
mod position;
mod reduction;
mod selection;

use armnn_backend_api::{DataType, LayerDescriptor as D, Shape};

use crate::{KnownElements, KnownValue};
use position::sizes;
pub(crate) use reduction::knows_reduce;

/// Whether [`evaluate`] knows the layer, for types that a [`KnownValue`] can hold.
pub(crate) fn is_evaluated(descriptor: &D) -> bool {
    match descriptor {
        D::Activation(d) => elementwise::knows_activation(d.function()),
        D::ElementwiseBinary(d) => elementwise::knows_binary(d.operation()),
        D::ElementwiseUnary(d) => elementwise::knows_unary(d.operation()),
        D::Comparison(d) => d.operation().name().is_some(),
        D::LogicalBinary(d) => d.operation().name().is_some(),
        D::Reduce(d) => knows_reduce(d.operation()),
        D::ArgMinMax(d) => d.function().name().is_some(),
        D::Cumulative(d) => d.operation().name().is_some(),
        D::Pad(d) => d.padding_mode().name().is_some(),
        D::BroadcastTo(_)
        | D::Cast(_)
        | D::Concat(_)
        | D::Fill(_)
        | D::Gather(_)
        | D::GatherElements(_)
        | D::GatherNd(_)
        | D::OneHot(_)
        | D::Range(_)
        | D::Reshape(_)
        | D::ReverseV2(_)
        | D::Select(_)
        | D::Split(_)
        | D::Stack(_)
        | D::StridedSlice(_)
        | D::Tile(_)
        | D::TopK(_)
        | D::Transpose(_) => true,
        _ => false,
    }
}

/// The outputs of a layer whose inputs are known, or some of their elements; `None` where the layer
/// is not one that models compute shapes with, or what it gives is not known.
///
/// `outputs` are the types and shapes of the outputs. The layer has been checked against them.
pub(crate) fn evaluate(
    descriptor: &D,
    inputs: &[Option<&KnownValue>],
    outputs: &[(DataType, Shape)],
) -> Option<Vec<KnownValue>> {
    let fits = |&(data_type, shape): &(DataType, Shape)| {
        let count = shape.num_elements();
        KnownValue::holds(data_type) && count.is_some_and(|n| n <= KnownValue::MOST_ELEMENTS as u64)
    };
    if !outputs.iter().all(fits) {
        return None;
    }
    let layer = Evaluation { inputs, outputs };
    let elements = match descriptor {
        D::Activation(d) => vec![elementwise::activation(d, &layer)?],
        D::ElementwiseBinary(d) => vec![elementwise::binary(d.operation(), &layer)?],
        D::ElementwiseUnary(d) => vec![elementwise::unary(d.operation(), &layer)?],
        D::Comparison(d) => vec![elementwise::comparison(d.operation(), &layer)?],
        D::LogicalBinary(d) => vec![elementwise::logical(d.operation(), &layer)?],
        D::Cast(_) => vec![elementwise::cast(&layer)?],
        D::Select(_) => vec![elementwise::select(&layer)?],

        D::Reduce(d) => vec![reduction::reduce(d, &layer)?],
        D::ArgMinMax(d) => vec![reduction::arg_min_max(d, &layer)?],
        D::Cumulative(d) => vec![reduction::cumulative(d, &layer)?],
        D::TopK(d) => reduction::top_k(d, &layer)?,

        D::Fill(_) => vec![generation::fill(&layer)?],
        D::OneHot(d) => vec![generation::one_hot(d, &layer)?],
        D::Range(_) => vec![generation::range(&layer)?],

        D::BroadcastTo(_) => vec![movement::broadcast_to(&layer)?],
        D::Concat(d) => vec![movement::concat(d, &layer)?],
        D::Pad(d) => vec![movement::pad(d, &layer)?],
        D::Reshape(_) => vec![layer.input(0)?.elements.clone()],
        D::ReverseV2(d) => vec![movement::reverse(d, &layer)?],
        D::Stack(d) => vec![movement::stack(d, &layer)?],
        D::Tile(_) => vec![movement::tile(&layer)?],
        D::Transpose(d) => vec![movement::transpose(d, &layer)?],

        D::Gather(d) => vec![selection::gather(d, &layer)?],
        D::GatherElements(d) => vec![selection::gather_elements(d, &layer)?],
        D::GatherNd(d) => vec![selection::gather_nd(d, &layer)?],
        D::Split(d) => selection::split(d, &layer)?,
        D::StridedSlice(d) => vec![selection::strided_slice(d, &layer)?],
        _ => return None,
    };
    (elements.len() == outputs.len())
        .then(|| {
            let values = elements.into_iter().zip(outputs);
            let values = values.map(|(elements, &(data_type, shape))| {
                let count = usize::try_from(shape.num_elements()?).ok()?;
                let is_real = matches!(elements, KnownElements::Reals(_));
                let fits = elements.len() == count && is_real == KnownValue::is_real(data_type);
                fits.then_some(KnownValue {
                    data_type,
                    shape,
                    elements,
                })
            });
            values.collect()
        })
        .flatten()
}

/// A layer with the values of its inputs.
struct Evaluation<'a> {
    inputs: &'a [Option<&'a KnownValue>],
    outputs: &'a [(DataType, Shape)],
}

impl<'a> Evaluation<'a> {
    fn input(&self, index: usize) -> Option<&'a KnownValue> {
        self.inputs.get(index).copied().flatten()
    }

    /// All inputs, if all are known.
    fn all(&self) -> Option<Vec<&'a KnownValue>> {
        self.inputs.iter().copied().collect()
    }

    fn output_type(&self) -> Option<DataType> {
        Some(self.outputs.first()?.0)
    }

    /// The dimensions of an output.
    fn output(&self, index: usize) -> Option<Vec<usize>> {
        sizes(&self.outputs.get(index)?.1)
    }
}

/// The number, if the type has it.
fn fitting(value: Option<i64>, data_type: DataType) -> Option<i64> {
    let value = value?;
    let (least, most) = bounds(data_type)?;
    (least..=most).contains(&value).then_some(value)
}

/// The least and the largest number of an integer type, as far as a [`KnownValue`] holds them.
fn bounds(data_type: DataType) -> Option<(i64, i64)> {
    Some(match data_type {
        DataType::Boolean => (0, 1),
        DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DataType::Signed32 => (i32::MIN.into(), i32::MAX.into()),
        DataType::Signed64 => (i64::MIN, i64::MAX),
        DataType::UInt8 => (0, u8::MAX.into()),
        DataType::UInt16 => (0, u16::MAX.into()),
        DataType::UInt32 => (0, u32::MAX.into()),
        DataType::UInt64 => (0, i64::MAX),
        _ => return None,
    })
}

/// The number as one of a real type: rounded to Float32, if it is that.
fn rounded(value: f64, data_type: DataType) -> f64 {
    match data_type {
        DataType::Float32 => f64::from(value as f32),
        _ => value,
    }
}

#[cfg(test)]
mod tests;
