//! QuantizeLinear and DequantizeLinear.
//!
//! Where scales and zero points are constant, numbers are quantized ones of the network, which
//! backends compute with. Everything else is computed by the definition, in 32-bit floating point.

use std::rc::Rc;

use armnn_backend_api::{
    BinaryOperation as Binary, BitCastDescriptor, DataType, DequantizeDescriptor, Quantization,
    QuantizeDescriptor, QuantizeRounding, UnaryOperation as Unary,
};
use armnn_network::{OutputDeclaration, ParameterRule, TensorId};

use super::casting::{Limit, cast_without_saturation};
use super::constant::Constant;
use super::context::{Context, axis};
use super::problem::{Problem, Result};
use super::tensor_info::data_type;
use crate::model::ElementType;

/// How many scales are read: more than any model has channels.
const MOST_SCALES: usize = 1 << 24;

/// Scales, zero points and their type.
struct Parameters {
    scales: Vec<f32>,
    zero_points: Vec<i32>,
    axis: usize,
    /// None where there are no zero points to tell it.
    number_type: Option<DataType>,
}

/// Reads scale (1), zero point (2) and axis; none where one of them is computed, or belongs to a
/// block of elements.
fn parameters(c: &mut Context<'_, '_>) -> Result<Option<Parameters>> {
    let rank = c.input_shape(0)?.rank();
    let along = c.attributes.int("axis", 1)?;
    if c.attributes.int("block_size", 0)? != 0 || c.attributes.int("precision", 0)? > 1 {
        return Ok(None);
    }
    let Some(scale) = c.constant(1)? else {
        return Ok(None);
    };
    let zero_point = c.constant(2)?;
    if zero_point.is_none() && c.has_input(2) || scale.dims.len() > 1 {
        return Ok(None);
    }
    c.pay_for(scale.count().saturating_mul(size_of::<[f32; 2]>()))?;
    let scales = scale.known_reals(MOST_SCALES, "the scale")?;
    let scales: Vec<f32> = scales.into_iter().map(|scale| scale as f32).collect();
    let zero_points = match &zero_point {
        None => Some(vec![0; scales.len()]),
        Some(zero_point) => zero_points(zero_point)?,
    };
    let Some(zero_points) = zero_points else {
        return Ok(None);
    };
    if scales.len() != zero_points.len() {
        return Err(Problem::malformed(format!(
            "it has {} scales and {} zero points",
            scales.len(),
            zero_points.len()
        )));
    }
    let axis = match scales.len() {
        1 => 0,
        _ => axis(along, rank)?,
    };
    Ok(Some(Parameters {
        scales,
        zero_points,
        axis,
        number_type: zero_point.map(|zero_point| zero_point.data_type),
    }))
}

/// Zero points as integers; none where they are none.
fn zero_points(constant: &Rc<Constant>) -> Result<Option<Vec<i32>>> {
    let data_type = constant.data_type;
    if data_type.bits().is_some_and(|bits| bits < 8) || data_type.is_float() {
        // All bits 0 is 0 in all of them.
        let all_zero = constant.bytes.iter().all(|&byte| byte == 0);
        return Ok(all_zero.then(|| vec![0; constant.count().min(MOST_SCALES)]));
    }
    let values = constant.known_integers(MOST_SCALES, "the zero point")?;
    let values = values.into_iter().map(|value| i32::try_from(value).ok());
    Ok(values.collect())
}

impl Parameters {
    fn quantization(&self) -> Result<Quantization> {
        let axis = i32::try_from(self.axis).map_err(|_| Problem::malformed("its axis"))?;
        Ok(Quantization::per_axis(
            axis,
            self.scales.clone(),
            self.zero_points.clone(),
        ))
    }

    /// The type with quantization for numbers of a type without.
    fn quantized_type(&self, numbers: DataType) -> Option<DataType> {
        if self
            .scales
            .iter()
            .any(|scale| !(scale.is_normal() && *scale > 0.0))
        {
            return None;
        }
        let no_offset = self.zero_points.iter().all(|&zero_point| zero_point == 0);
        Some(match numbers {
            DataType::UInt8 => DataType::QAsymmU8,
            DataType::Int8 if self.scales.len() > 1 && no_offset => DataType::QSymmS8,
            DataType::Int8 => DataType::QAsymmS8,
            DataType::Int16 if no_offset => DataType::QSymmS16,
            DataType::Signed32 | DataType::Int4 | DataType::Int2 if no_offset => numbers,
            _ => return None,
        })
    }
}

/// Real numbers to quantized ones.
pub(super) fn quantize_linear(c: &mut Context<'_, '_>) -> Result {
    let declared = match c.attributes.int("output_dtype", 0)? {
        0 => None,
        number => Some(data_type(ElementType(i32::try_from(number).unwrap_or(-1)))?),
    };
    let saturates = c.attributes.flag("saturate", true)?;
    let numbers = match (c.has_input(2), declared) {
        (true, _) => c.input_type(2)?,
        (false, Some(declared)) => declared,
        (false, None) => DataType::UInt8,
    };
    let real = c.input_type(0)?;
    if let Some(parameters) = parameters(c)?
        && parameters.number_type.is_none_or(|found| found == numbers)
        && !numbers.is_float()
        && matches!(real, DataType::Float32 | DataType::Float16)
        && let Some(to) = parameters.quantized_type(numbers)
        && to.is_quantized()
    {
        let input = c.input(0)?;
        let mut declaration = c.declaration(0)?;
        declaration.data_type = Some(to);
        declaration.quantization = Some(parameters.quantization()?);
        let descriptor = QuantizeDescriptor::rounding_to(QuantizeRounding::ToEven);
        return c.emit_declared(descriptor, &[input], declaration);
    }
    let x = c.input(0)?;
    let scale = aligned(c, 1)?;
    // What is computed in, before and after rounding.
    let precision = match c.attributes.int("precision", 0)? {
        0 => c.info(scale)?.data_type,
        number => data_type(ElementType(i32::try_from(number).unwrap_or(-1)))?,
    };
    let precision = match precision {
        DataType::Float8E8M0 => DataType::Float32,
        other => other,
    };
    let (x, scale) = (c.cast(x, precision)?, c.cast(scale, precision)?);
    let quotient = c.binary(Binary::Div, x, scale)?;
    let zero_point = match c.has_input(2) {
        true => Some(aligned(c, 2)?),
        false => None,
    };
    let output = rounded(c, quotient, zero_point, numbers, saturates)?;
    c.bind_tensor(0, output)
}

/// A quotient as numbers of a type: rounded (the even one of two), with the zero point added,
/// saturated. Writes the first output.
pub(super) fn rounded(
    c: &mut Context<'_, '_>,
    quotient: TensorId,
    zero_point: Option<TensorId>,
    numbers: DataType,
    saturates: bool,
) -> Result<TensorId> {
    if numbers.is_float() {
        // Zero points are 0, of which only the sum's sign is left; and the Cast rounds.
        let zero = c.number_like(quotient, 0.0)?;
        let quotient = c.binary(Binary::Add, quotient, zero)?;
        if !saturates && let Some(limit) = Limit::of(numbers) {
            return cast_without_saturation(c, quotient, numbers, &limit);
        }
        return c.last().cast(quotient, numbers);
    }
    let whole = c.unary(Unary::Round, quotient)?;
    let mut whole = c.cast(whole, DataType::Float32)?;
    if let Some(zero_point) = zero_point {
        let zero_point = c.cast(zero_point, DataType::Float32)?;
        whole = c.binary(Binary::Add, whole, zero_point)?;
    }
    if let Some((least, most)) = bounds(numbers) {
        let (least, most) = (c.number_like(whole, least)?, c.number_like(whole, most)?);
        whole = c.binary(Binary::Maximum, whole, least)?;
        whole = c.binary(Binary::Minimum, whole, most)?;
    }
    c.last().cast(whole, numbers)
}

/// The least and the largest number of a type that Cast does not saturate to by itself.
fn bounds(data_type: DataType) -> Option<(f64, f64)> {
    Some(match data_type {
        DataType::Int4 => (-8.0, 7.0),
        DataType::UInt4 => (0.0, 15.0),
        DataType::Int2 => (-2.0, 1.0),
        DataType::UInt2 => (0.0, 3.0),
        _ => return None,
    })
}

/// Quantized numbers to the real ones that they stand for.
///
/// A constant gets its scales; what a QuantizeLinear has written must have these; of other numbers,
/// the difference from the zero point is multiplied by the scale.
pub(super) fn dequantize_linear(c: &mut Context<'_, '_>) -> Result {
    let to = match c.attributes.int("output_dtype", 0)? {
        0 => c.input_type(1)?,
        number => data_type(ElementType(i32::try_from(number).unwrap_or(-1)))?,
    };
    let is_layer = matches!(to, DataType::Float32 | DataType::Float16);
    let Some(parameters) = parameters(c)?.filter(|_| is_layer) else {
        return by_definition(c, to);
    };
    let quantization = parameters.quantization()?;
    if let Some(constant) = c.constant(0)? {
        let Some(data_type) = parameters.quantized_type(constant.data_type) else {
            return by_definition(c, to);
        };
        let constant = Constant {
            data_type,
            quantization,
            ..Constant::clone(&constant)
        };
        let input = c.add_constant(&constant)?;
        let mut declaration = c.declaration(0)?;
        declaration.data_type = Some(to);
        return c.emit_declared(DequantizeDescriptor::new(), &[input], declaration);
    }
    let input = c.input(0)?;
    let info = c.info(input)?;
    let same = !info.quantization.is_none()
        && info.quantization.scales() == quantization.scales()
        && info.quantization.zero_points() == quantization.zero_points()
        && (quantization.scales().len() == 1 || info.quantization.axis() == quantization.axis());
    if !same {
        return by_definition(c, to);
    }
    let mut declaration = c.declaration(0)?;
    declaration.data_type = Some(to);
    c.emit_declared(DequantizeDescriptor::new(), &[input], declaration)
}

/// (x - zero point) scale, computed in 32-bit floating point.
fn by_definition(c: &mut Context<'_, '_>, to: DataType) -> Result {
    let x = plain_input(c, 0)?;
    let mut numbers = c.cast(x, DataType::Float32)?;
    if c.has_input(2) {
        let zero_point = aligned(c, 2)?;
        let zero_point = c.cast(zero_point, DataType::Float32)?;
        numbers = c.binary(Binary::Sub, numbers, zero_point)?;
    }
    let scale = aligned(c, 1)?;
    let scale = c.cast(scale, DataType::Float32)?;
    let output = if to == DataType::Float32 {
        c.last().binary(Binary::Mul, numbers, scale)?
    } else {
        let product = c.binary(Binary::Mul, numbers, scale)?;
        c.last().cast(product, to)?
    };
    c.bind_tensor(0, output)
}

/// A scale or a zero point so that it broadcasts to the first input: along the axis, or with each
/// element repeated along it for its block.
fn aligned(c: &mut Context<'_, '_>, position: usize) -> Result<TensorId> {
    let shape = c.input_shape(0)?;
    let along = c.attributes.int("axis", 1)?;
    let block = c.attributes.int("block_size", 0)?;
    let parameter = c.input_shape(position)?;
    let id = c.input(position)?;
    // What is smaller than a byte is not moved about.
    let id = match c.info(id)?.data_type.bits() {
        Some(8..) => id,
        _ => c.cast(id, DataType::Int8)?,
    };
    if block == 0 {
        return match parameter.dims() {
            [] | [1] => c.merge_step(id, &[]),
            [_] => {
                let along = axis(along, shape.rank())?;
                let behind = shape.rank() - along - 1;
                let groups: Vec<Vec<usize>> = std::iter::once(vec![0])
                    .chain(std::iter::repeat_n(Vec::new(), behind))
                    .collect();
                c.merge_step(id, &groups)
            }
            _ => Err(Problem::malformed(format!("its scale is {parameter}"))),
        };
    }
    if block < 0 || parameter.rank() != shape.rank() {
        return Err(Problem::malformed(format!(
            "its block_size is {block}, its input {shape} and its scale {parameter}"
        )));
    }
    let along = axis(along, shape.rank())?;
    let rank = shape.rank();
    // [.., n, 1, ..] to [.., n, block, ..] to [.., n block, ..], and cut to the input's size.
    let mut groups: Vec<Vec<usize>> = (0..rank).map(|axis| vec![axis]).collect();
    groups.insert(along + 1, Vec::new());
    let id = c.merge_step(id, &groups)?;
    let mut repeats = vec![1; rank + 1];
    repeats[along + 1] = block;
    let repeats = c.integers(&repeats)?;
    let id = c.step_deferred(ParameterRule::Tile, &[id], &[Some(repeats)])?;
    let groups: Vec<Vec<usize>> = (0..rank)
        .map(|axis| match axis.cmp(&along) {
            std::cmp::Ordering::Less => vec![axis],
            std::cmp::Ordering::Equal => vec![axis, axis + 1],
            std::cmp::Ordering::Greater => vec![axis + 1],
        })
        .collect();
    let id = c.merge_step(id, &groups)?;
    let (repeated, size) = (c.shape(id)?.dims()[along], shape.dims()[along]);
    if repeated == size && size >= 0 {
        return Ok(id);
    }
    let input = c.input(0)?;
    let start = c.integers(&[0])?;
    let end = c.shape_step(input, along, along + 1)?;
    let axes = c.integers(&[i64::try_from(along).unwrap_or(0)])?;
    c.step_deferred(
        ParameterRule::Slice,
        &[id],
        &[Some(start), Some(end), Some(axes)],
    )
}

/// An input as numbers without quantization.
pub(super) fn plain_input(c: &mut Context<'_, '_>, position: usize) -> Result<TensorId> {
    let id = c.input(position)?;
    plain(c, id)
}

/// A tensor as numbers without quantization.
pub(super) fn plain(c: &mut Context<'_, '_>, id: TensorId) -> Result<TensorId> {
    let to = match c.info(id)?.data_type {
        DataType::QAsymmU8 => DataType::UInt8,
        DataType::QAsymmS8 | DataType::QSymmS8 => DataType::Int8,
        DataType::QSymmS16 => DataType::Int16,
        _ => return Ok(id),
    };
    c.step_declared(
        BitCastDescriptor::new(),
        &[id],
        OutputDeclaration::of_type(to),
    )
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerType as L;

    use super::*;
    use crate::proto::TensorProto;
    use crate::test_model::{TestModel, descriptors, floats, int, types};

    fn bytes(name: &str, element_type: ElementType, dims: &[i64], values: &[u8]) -> TensorProto {
        TensorProto {
            name: name.to_owned(),
            dims: dims.to_vec(),
            data_type: element_type.0,
            raw_data: Some(values.to_vec().into()),
            ..TensorProto::default()
        }
    }

    #[test]
    fn quantized_numbers_carry_their_scale_and_are_read_with_it() {
        let model = |scale: f32| {
            TestModel::new(13)
                .input("x", &[2, 2])
                .constant(floats("s", &[], &[0.5]))
                .constant(floats("t", &[], &[scale]))
                .constant(bytes("z", ElementType::UINT8, &[], &[7]))
                .node("QuantizeLinear", &["x", "s", "z"], &["q"], &[])
                .node("DequantizeLinear", &["q", "t", "z"], &["y"], &[])
                .output("y")
                .parse()
        };
        let network = model(0.5).unwrap();
        assert_eq!(types(&network), [L::Quantize, L::Dequantize]);
        let to_even = QuantizeDescriptor::rounding_to(QuantizeRounding::ToEven);
        assert_eq!(descriptors(&network)[0], to_even.into());
        let quantized = network.tensor(network.layers()[0].outputs[0]);
        assert_eq!(quantized.info.data_type, DataType::QAsymmU8);
        assert_eq!(
            quantized.info.quantization,
            Quantization::per_tensor(0.5, 7)
        );
        // Read with another scale, they are numbers like any others.
        let other = types(&model(0.25).unwrap());
        assert_eq!(other[..3], [L::Quantize, L::BitCast, L::Cast]);
    }

    #[test]
    fn constant_weights_have_a_scale_for_each_channel() {
        let network = TestModel::new(13)
            .constant(bytes("w", ElementType::INT8, &[2, 3], &[1, 2, 3, 4, 5, 6]))
            .constant(floats("s", &[2], &[0.5, 0.25]))
            .node("DequantizeLinear", &["w", "s"], &["y"], &[int("axis", 0)])
            .output("y")
            .parse()
            .unwrap();
        assert_eq!(types(&network), [L::Dequantize]);
        let weights = network.tensor(network.layers()[0].inputs[0].unwrap());
        assert_eq!(weights.info.data_type, DataType::QSymmS8);
        assert_eq!(weights.info.quantization.scales(), [0.5, 0.25]);
    }

    /// Inputs of the network are numbers without a scale: (x - zero point) scale.
    #[test]
    fn other_numbers_are_computed_by_the_definition() {
        let network = TestModel::new(13)
            .typed_input("x", ElementType::INT8, &[2, 3])
            .constant(floats("s", &[3], &[0.5, 0.25, 1.0]))
            .constant(bytes("z", ElementType::INT8, &[3], &[1, 2, 3]))
            .node("DequantizeLinear", &["x", "s", "z"], &["y"], &[])
            .output("y")
            .parse()
            .unwrap();
        let expected = [L::Cast, L::Cast, L::ElementwiseBinary, L::ElementwiseBinary];
        assert_eq!(types(&network), expected);
    }
}
