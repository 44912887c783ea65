//! Casts.

use armnn_backend_api::{
    BinaryOperation as Binary, BitCastDescriptor, ComparisonDescriptor, ComparisonOperation,
    DataType, SelectDescriptor, UnaryOperation as Unary,
};
use armnn_network::{OutputDeclaration, RuntimeOperation, StringOperation, TensorId};

use super::context::Context;
use super::problem::{Problem, Result};
use super::quantization::plain_input;
use super::tensor_info::data_type;
use super::{State, strings};
use crate::model::ElementType;

pub(super) fn cast(c: &mut Context<'_, '_>) -> Result {
    if c.version < 6 {
        // A name, as in the enumeration of the format.
        let name = c.attributes.text("to", "")?;
        let to = (1..=16).map(ElementType).find(|of| of.to_string() == name);
        let to = to.ok_or_else(|| {
            let name = crate::error::Short(name);
            Problem::malformed(format!("it casts to \"{name}\""))
        })?;
        return cast_to_element(c, to);
    }
    let to = c
        .attributes
        .optional_int("to")?
        .and_then(|number| i32::try_from(number).ok())
        .ok_or_else(|| Problem::malformed("it has no type to cast to"))?;
    cast_to_element(c, ElementType(to))
}

pub(super) fn cast_like(c: &mut Context<'_, '_>) -> Result {
    if strings::are_given(c, 1)? {
        return cast_to_strings(c);
    }
    let to = c.input_type(1)?;
    cast_from_any(c, to)
}

fn cast_to_element(c: &mut Context<'_, '_>, to: ElementType) -> Result {
    match to {
        ElementType::STRING => cast_to_strings(c),
        to => cast_from_any(c, data_type(to)?),
    }
}

/// The runtime writes numbers of four types; others become one of these.
fn cast_to_strings(c: &mut Context<'_, '_>) -> Result {
    c.attributes.ignore("saturate");
    c.attributes.ignore("round_mode");
    if strings::are_given(c, 0)? {
        return c.alias(0, 0);
    }
    let input = plain_input(c, 0)?;
    let numbers = c.cast(input, decimal_type(c.info(input)?.data_type))?;
    let operation = RuntimeOperation::Strings(StringOperation::Format);
    let output = c.last().step_runtime(operation, &[Some(numbers)])?;
    c.bind_tensor(0, output)
}

/// Strings become numbers of one of four types first.
fn cast_from_any(c: &mut Context<'_, '_>, to: DataType) -> Result {
    let index = match c.input_index(0) {
        Some(index) if strings::are_given(c, 0)? => index,
        _ => return cast_to(c, to),
    };
    let data_type = decimal_type(to);
    let input = c.input(0)?;
    let operation = RuntimeOperation::Strings(StringOperation::Parse { data_type });
    let numbers = c.step_runtime(operation, &[Some(input)])?;
    let before = std::mem::replace(&mut c.lowering.states[index], State::Ready(numbers));
    let lowered = cast_to(c, to);
    c.lowering.states[index] = before;
    lowered
}

/// The type between strings and numbers of a type.
fn decimal_type(data_type: DataType) -> DataType {
    use DataType as T;
    match data_type {
        T::Float64 => T::Float64,
        real if real.is_float() => T::Float32,
        T::Boolean | T::UInt2 | T::UInt4 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => {
            T::UInt64
        }
        _ => T::Signed64,
    }
}

pub(super) fn bit_cast(c: &mut Context<'_, '_>) -> Result {
    let to = c.attributes.optional_int("to")?;
    let to = to.and_then(|number| i32::try_from(number).ok());
    let to = to.ok_or_else(|| Problem::malformed("it has no type to cast to"))?;
    let to = data_type(ElementType(to))?;
    let input = c.input(0)?;
    let from = c.info(input)?.data_type;
    if from.bits() != to.bits() {
        return Err(Problem::malformed(format!(
            "elements of type {from} as such of type {to}"
        )));
    }
    let output = c.last().step_declared(
        BitCastDescriptor::new(),
        &[input],
        OutputDeclaration::of_type(to),
    )?;
    c.bind_tensor(0, output)
}

fn cast_to(c: &mut Context<'_, '_>, to: DataType) -> Result {
    let saturates = c.attributes.flag("saturate", true)?;
    if to == DataType::Float8E8M0 && c.input_type(0)? != to {
        match c.attributes.text("round_mode", "up")? {
            "nearest" => {}
            "up" => return to_power_of_two(c, Some(saturates)),
            "down" => return to_power_of_two(c, None),
            mode => {
                let mode = crate::error::Short(mode);
                return Err(Problem::malformed(format!("its round_mode is \"{mode}\"")));
            }
        }
    } else {
        c.attributes.ignore("round_mode");
    }
    if c.input_type(0)? == to {
        return c.alias(0, 0);
    }
    let input = plain_input(c, 0)?;
    if !saturates && let Some(limit) = Limit::of(to) {
        let output = cast_without_saturation(c, input, to, &limit)?;
        return c.bind_tensor(0, output);
    }
    let output = c.last().cast(input, to)?;
    c.bind_tensor(0, output)
}

/// To Float8E8M0, an exponent alone: the size of each number rounded down to a power of two, or up
/// if it is said whether numbers beyond the largest one become that, or else NaN.
///
/// The mantissa of the Float32 is cut off, or first made to carry. What remains is converted without
/// rounding.
fn to_power_of_two(c: &mut Context<'_, '_>, up: Option<bool>) -> Result {
    let x = plain_input(c, 0)?;
    let mut x = c.cast(x, DataType::Float32)?;
    if let Some(saturates) = up {
        let bits = |data_type| OutputDeclaration::of_type(data_type);
        let integer = c.step_declared(BitCastDescriptor::new(), &[x], bits(DataType::Signed32))?;
        // Without the sign, so that what is added to the size cannot change it.
        let size = c.number(DataType::Signed32, &[], &[f64::from(i32::MAX)])?;
        let size = c.binary(Binary::BitwiseAnd, integer, size)?;
        let carry = c.number(DataType::Signed32, &[], &[f64::from(0x7f_ffff)])?;
        let carried = c.binary(Binary::Add, size, carry)?;
        // Infinity and NaN stay what they are.
        let infinity = c.number(DataType::Signed32, &[], &[f64::from(0x7f80_0000)])?;
        let special = ComparisonDescriptor::new(ComparisonOperation::GreaterOrEqual);
        let special = c.step(special, &[size, infinity])?;
        let mut carried = carried;
        if saturates {
            let most = c.number(DataType::Signed32, &[], &[f64::from(0x7f00_0000)])?;
            carried = c.binary(Binary::Minimum, carried, most)?;
        }
        let rounded = c.step(SelectDescriptor::new(), &[special, size, carried])?;
        x = c.step_declared(
            BitCastDescriptor::new(),
            &[rounded],
            bits(DataType::Float32),
        )?;
    }
    let bits = |data_type| OutputDeclaration::of_type(data_type);
    let integer = c.step_declared(BitCastDescriptor::new(), &[x], bits(DataType::Signed32))?;
    // Of a NaN, infinity is left, which becomes NaN.
    let exponent = c.number(DataType::Signed32, &[], &[f64::from(0x7f80_0000)])?;
    let exponent = c.binary(Binary::BitwiseAnd, integer, exponent)?;
    let power = c.step_declared(
        BitCastDescriptor::new(),
        &[exponent],
        bits(DataType::Float32),
    )?;
    let output = c.last().cast(power, DataType::Float8E8M0)?;
    c.bind_tensor(0, output)
}

/// What lies beyond the largest number of a small type of floating point, if conversions to it do
/// not saturate.
pub(super) struct Limit {
    /// Numbers from here on, or beyond, in absolute terms.
    from: f64,
    /// Whether the limit itself is still within.
    is_within: bool,
    /// The bits of what takes their place, with the sign apart from the others.
    bits: u8,
    /// The bits for NaN, where that is something else.
    nan: u8,
    has_sign: bool,
}

impl Limit {
    pub(super) fn of(data_type: DataType) -> Option<Self> {
        // Halfway between the largest number and the next one that there would be: it goes to the
        // even one of the two.
        Some(match data_type {
            DataType::Float8E4M3FN => Self {
                from: 464.0,
                is_within: true,
                bits: 0x7f,
                nan: 0x7f,
                has_sign: true,
            },
            DataType::Float8E5M2 => Self {
                from: 61440.0,
                is_within: false,
                bits: 0x7c,
                nan: 0x7e,
                has_sign: true,
            },
            DataType::Float8E4M3FNUZ => Self {
                from: 248.0,
                is_within: false,
                bits: 0x80,
                nan: 0x80,
                has_sign: false,
            },
            DataType::Float8E5M2FNUZ => Self {
                from: 61440.0,
                is_within: false,
                bits: 0x80,
                nan: 0x80,
                has_sign: false,
            },
            _ => return None,
        })
    }
}

/// Numbers beyond the limit become infinite or NaN, whichever the type has; in bits, because a Cast
/// saturates.
pub(super) fn cast_without_saturation(
    c: &mut Context<'_, '_>,
    input: TensorId,
    to: DataType,
    limit: &Limit,
) -> Result<TensorId> {
    let x = c.cast(input, DataType::Float32)?;
    let small = c.step_declared(
        armnn_backend_api::CastDescriptor::new(),
        &[input],
        OutputDeclaration::of_type(to),
    )?;
    let bytes = OutputDeclaration::of_type(DataType::UInt8);
    let small = c.step_declared(BitCastDescriptor::new(), &[small], bytes)?;
    let byte =
        |c: &mut Context<'_, '_>, value: u8| c.number(DataType::UInt8, &[], &[f64::from(value)]);
    let absolute = c.unary(Unary::Abs, x)?;
    let from = c.number_like(x, limit.from)?;
    let comparison = match limit.is_within {
        true => ComparisonOperation::Greater,
        false => ComparisonOperation::GreaterOrEqual,
    };
    let beyond = c.step(ComparisonDescriptor::new(comparison), &[absolute, from])?;
    let mut beyond_bits = byte(c, limit.bits)?;
    if limit.has_sign {
        let zero = c.number_like(x, 0.0)?;
        let is_negative = c.step(
            ComparisonDescriptor::new(ComparisonOperation::Less),
            &[x, zero],
        )?;
        let negative = byte(c, limit.bits | 0x80)?;
        beyond_bits = c.step(
            SelectDescriptor::new(),
            &[is_negative, negative, beyond_bits],
        )?;
    }
    let chosen = c.step(SelectDescriptor::new(), &[beyond, beyond_bits, small])?;
    let is_nan = c.unary(Unary::IsNan, x)?;
    let nan = byte(c, limit.nan)?;
    let chosen = c.step(SelectDescriptor::new(), &[is_nan, nan, chosen])?;
    c.last().step_declared(
        BitCastDescriptor::new(),
        &[chosen],
        OutputDeclaration::of_type(to),
    )
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerType as L;

    use super::*;
    use crate::test_model::{TestModel, assert_refused, int, single, types};

    #[test]
    fn a_cast_to_the_same_type_is_nothing() {
        assert!(types(&single(13, "Cast", &[3], &[], &[int("to", 1)]).unwrap()).is_empty());
        let network = single(13, "Cast", &[3], &[], &[int("to", 10)]).unwrap();
        assert_eq!(types(&network), [L::Cast]);
        let output = network.tensor(network.outputs()[0].tensor);
        assert_eq!(output.info.data_type, DataType::Float16);
        assert_refused(
            single(13, "Cast", &[3], &[], &[int("to", 14)]),
            "type COMPLEX64",
        );
    }

    #[test]
    fn integers_that_may_not_fit_are_left_to_the_layer_which_keeps_their_lowest_bits() {
        let network = TestModel::new(13)
            .typed_input("x", ElementType::INT64, &[3])
            .node("Cast", &["x"], &["y"], &[int("to", 2)])
            .output("y");
        assert_eq!(types(&network.parse().unwrap()), [L::Cast]);
    }
}
