//! Casts, and quantized numbers.

use std::rc::Rc;

use armnn_backend_api::{
    BinaryOperation as Binary, CastDescriptor, DataType, DequantizeDescriptor,
    ElementwiseBinaryDescriptor, Quantization, QuantizeDescriptor,
};
use armnn_network::OutputDeclaration;

use super::constant::Constant;
use super::context::{Context, axis};
use super::problem::{Problem, Result};
use super::tensor_info::data_type;
use crate::model::ElementType;

/// How many scales are read: more than any model has channels.
const MOST_SCALES: usize = 1 << 24;

pub(super) fn cast(c: &mut Context<'_, '_>) -> Result {
    let to = c
        .attributes
        .optional_int("to")?
        .and_then(|number| i32::try_from(number).ok())
        .ok_or_else(|| Problem::malformed("it has no type to cast to"))?;
    cast_to(c, data_type(ElementType(to))?)
}

pub(super) fn cast_like(c: &mut Context<'_, '_>) -> Result {
    let to = c.input_type(1)?;
    cast_to(c, to)
}

fn cast_to(c: &mut Context<'_, '_>, to: DataType) -> Result {
    check_saturates(c, to)?;
    if c.input_type(0)? == to {
        return c.alias(0, 0);
    }
    let input = c.input(0)?;
    let mut declaration = c.declaration(0)?;
    declaration.data_type = Some(to);
    c.emit_declared(CastDescriptor::new(), &[input], declaration)
}

/// Conversions saturate; only for the smallest floats the format has another way.
fn check_saturates(c: &Context<'_, '_>, to: DataType) -> Result {
    let saturates = c.attributes.flag("saturate", true)?;
    if to.is_float() && to.bits() == Some(8) && !saturates {
        return Err(Problem::unsupported(
            "a conversion that does not saturate (saturate = 0)",
        ));
    }
    Ok(())
}

/// Scales, zero points and their type.
struct Parameters {
    scales: Vec<f32>,
    zero_points: Vec<i32>,
    axis: usize,
    /// None where there are no zero points to tell it.
    number_type: Option<DataType>,
}

/// Reads scale (1), zero point (2) and axis; none where one of them is computed.
fn parameters(c: &mut Context<'_, '_>) -> Result<Option<Parameters>> {
    let rank = c.input_shape(0)?.rank();
    if c.attributes.int("block_size", 0)? != 0 {
        return Err(Problem::unsupported(
            "scales for blocks of elements (block_size)",
        ));
    }
    let along = c.attributes.int("axis", 1)?;
    // The type that is computed in, as if it was in Float32.
    let precision = c.attributes.int("precision", 0)?;
    if precision != 0 && precision != i64::from(ElementType::FLOAT.0) {
        return Err(Problem::unsupported(format!(
            "quantization with precision = {precision}"
        )));
    }
    let Some(scale) = c.constant(1)? else {
        return Ok(None);
    };
    let zero_point = c.constant(2)?;
    if zero_point.is_none() && c.has_input(2) {
        return Ok(None);
    }
    c.pay_for(scale.count().saturating_mul(size_of::<[f32; 2]>()))?;
    let scales = scale.known_reals(MOST_SCALES, "the scale")?;
    let scales: Vec<f32> = scales.into_iter().map(|scale| scale as f32).collect();
    let zero_points = match &zero_point {
        None => vec![0; scales.len()],
        Some(zero_point) => zero_points(zero_point)?,
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

fn zero_points(constant: &Rc<Constant>) -> Result<Vec<i32>> {
    let data_type = constant.data_type;
    if data_type.bits().is_some_and(|bits| bits < 8) || data_type.is_float() {
        // All bits 0 is 0 in all of them.
        if constant.bytes()?.iter().all(|&byte| byte == 0) {
            return Ok(vec![0; constant.count().min(MOST_SCALES)]);
        }
        return Err(Problem::unsupported(format!(
            "zero points of type {data_type} other than 0"
        )));
    }
    let values = constant.known_integers(MOST_SCALES, "the zero point")?;
    values
        .into_iter()
        .map(|value| {
            i32::try_from(value)
                .map_err(|_| Problem::unsupported(format!("a zero point of {value}")))
        })
        .collect()
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
        let no_offset = self.zero_points.iter().all(|&zero_point| zero_point == 0);
        Some(match numbers {
            DataType::UInt8 => DataType::QAsymmU8,
            DataType::Int8 if self.scales.len() > 1 && no_offset => DataType::QSymmS8,
            DataType::Int8 => DataType::QAsymmS8,
            DataType::Int16 if no_offset => DataType::QSymmS16,
            DataType::Signed32
            | DataType::Int4
            | DataType::UInt4
            | DataType::Int2
            | DataType::UInt2 => numbers,
            other
                if other.is_float() && other.bits().is_some_and(|bits| bits <= 8) && no_offset =>
            {
                numbers
            }
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
    let Some(parameters) = parameters(c)? else {
        return Err(Problem::unsupported(
            "a scale or zero point computed by the model; they must be constant",
        ));
    };
    let numbers = parameters
        .number_type
        .or(declared)
        .unwrap_or(DataType::UInt8);
    check_saturates(c, numbers)?;
    let to = parameters.quantized_type(numbers).ok_or_else(|| {
        Problem::unsupported(format!(
            "quantization to {numbers} with these zero points; use UINT8 or INT8"
        ))
    })?;
    let input = c.input(0)?;
    let mut declaration = c.declaration(0)?;
    declaration.data_type = Some(to);
    declaration.quantization = Some(parameters.quantization()?);
    c.emit_declared(QuantizeDescriptor::new(), &[input], declaration)
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
    let Some(parameters) = parameters(c)? else {
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
    if info.quantization.is_none() {
        return by_definition(c, to);
    }
    let same = info.quantization.scales() == quantization.scales()
        && info.quantization.zero_points() == quantization.zero_points()
        && (quantization.scales().len() == 1 || info.quantization.axis() == quantization.axis());
    if !same {
        return Err(Problem::unsupported(
            "numbers quantized with one scale and zero point, and read with others",
        ));
    }
    let mut declaration = c.declaration(0)?;
    declaration.data_type = Some(to);
    c.emit_declared(DequantizeDescriptor::new(), &[input], declaration)
}

/// (x - zero point) scale, computed in the type of the scale.
fn by_definition(c: &mut Context<'_, '_>, to: DataType) -> Result {
    let scale_type = c.input_type(1)?;
    if scale_type != to {
        return Err(Problem::unsupported(format!(
            "a scale of {scale_type} to numbers of {to}"
        )));
    }
    let shape = c.input_shape(0)?;
    let along = c.attributes.int("axis", 1)?;
    let mut dims = Vec::new();
    if let &[count] = c.input_shape(1)?.dims()
        && count != 1
    {
        let along = axis(along, shape.rank())?;
        dims = vec![1; shape.rank() - along];
        dims[0] = count;
    } else if c.input_shape(1)?.rank() > 1 {
        return Err(Problem::unsupported("scales of several dimensions"));
    }
    let input = c.input(0)?;
    let cast = |c: &mut Context<'_, '_>, id| {
        let declaration = OutputDeclaration::of_type(to);
        c.step_declared(CastDescriptor::new(), &[id], declaration)
    };
    let mut numbers = cast(c, input)?;
    if c.has_input(2) {
        let zero_point = c.reshaped_input(2, &dims)?;
        let zero_point = cast(c, zero_point)?;
        let subtract = ElementwiseBinaryDescriptor::new(Binary::Sub);
        numbers = c.step(subtract, &[numbers, zero_point])?;
    }
    let scale = c.reshaped_input(1, &dims)?;
    c.emit(
        ElementwiseBinaryDescriptor::new(Binary::Mul),
        &[numbers, scale],
    )
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerType as L;

    use super::*;
    use crate::proto::TensorProto;
    use crate::test_model::{TestModel, assert_refused, descriptors, floats, int, single, types};

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
    fn a_cast_to_the_same_type_is_nothing() {
        assert!(types(&single(13, "Cast", &[3], &[], &[int("to", 1)]).unwrap()).is_empty());
        let network = single(13, "Cast", &[3], &[], &[int("to", 10)]).unwrap();
        assert_eq!(types(&network), [L::Cast]);
        let output = network.tensor(network.outputs()[0].tensor);
        assert_eq!(output.info.data_type, DataType::Float16);
        assert_refused(
            single(13, "Cast", &[3], &[], &[int("to", 8)]),
            "type STRING",
        );
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
        let quantized = network.tensor(network.layers()[0].outputs[0]);
        assert_eq!(quantized.info.data_type, DataType::QAsymmU8);
        assert_eq!(
            quantized.info.quantization,
            Quantization::per_tensor(0.5, 7)
        );
        assert_refused(model(0.25), "read with others");
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
        assert_eq!(descriptors(&network).len(), 4);
    }
}
