//! Operations on each element, and on pairs of them.

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation, DataType,
    ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor, LogicalBinaryDescriptor,
    LogicalBinaryOperation, SelectDescriptor, UnaryOperation as Unary,
};
use armnn_network::{StringOperation, TensorId};

use super::context::{Context, axis};
use super::problem::{Problem, Result};
use super::strings;

pub(super) fn unary(c: &mut Context<'_, '_>, operation: Unary) -> Result {
    c.attributes.ignore("consumed_inputs");
    let input = c.input(0)?;
    c.emit(ElementwiseUnaryDescriptor::new(operation), &[input])
}

/// Whether elements are such numbers.
pub(super) fn test(c: &mut Context<'_, '_>, operation: Unary) -> Result {
    let input = tested(c)?;
    c.emit(ElementwiseUnaryDescriptor::new(operation), &[input])
}

/// The input; of 8 bits, which layers do not compute with, as Float32, which has all of its numbers.
fn tested(c: &mut Context<'_, '_>) -> Result<TensorId> {
    let input = c.input(0)?;
    let is_byte = c.info(input)?.data_type.size() == Some(1);
    match is_byte && c.info(input)?.data_type.is_float() {
        true => c.cast(input, DataType::Float32),
        false => Ok(input),
    }
}

/// Which of the infinities count.
pub(super) fn is_inf(c: &mut Context<'_, '_>) -> Result {
    let negative = c.attributes.flag("detect_negative", true)?;
    let positive = c.attributes.flag("detect_positive", true)?;
    match (negative, positive) {
        (true, true) => test(c, Unary::IsInf),
        (true, false) => test(c, Unary::IsNegInf),
        (false, true) => test(c, Unary::IsPosInf),
        (false, false) => {
            // Nothing is: not even equal to itself and infinite both.
            let input = tested(c)?;
            let finite = c.unary(Unary::IsInf, input)?;
            let other = c.unary(Unary::LogicalNot, finite)?;
            let and = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalAnd);
            c.emit(and, &[finite, other])
        }
    }
}

pub(super) fn binary(c: &mut Context<'_, '_>, operation: Binary) -> Result {
    c.attributes.ignore("consumed_inputs");
    let inputs = aligned_inputs(c)?;
    c.emit(ElementwiseBinaryDescriptor::new(operation), &inputs)
}

pub(super) fn comparison(c: &mut Context<'_, '_>, operation: ComparisonOperation) -> Result {
    let inputs = aligned_inputs(c)?;
    c.emit(ComparisonDescriptor::new(operation), &inputs)
}

/// Of strings, too, by the runtime.
pub(super) fn equal(c: &mut Context<'_, '_>) -> Result {
    match strings::are_given(c, 0)? {
        true => strings::plain(c, StringOperation::Equal),
        false => comparison(c, ComparisonOperation::Equal),
    }
}

pub(super) fn logical(c: &mut Context<'_, '_>, operation: LogicalBinaryOperation) -> Result {
    let inputs = aligned_inputs(c)?;
    c.emit(LogicalBinaryDescriptor::new(operation), &inputs)
}

/// The remainder: with the sign of the divisor, or, with `fmod`, of the dividend.
pub(super) fn modulo(c: &mut Context<'_, '_>) -> Result {
    let operation = match c.attributes.flag("fmod", false)? {
        true => Binary::TruncateMod,
        false => Binary::FloorMod,
    };
    binary(c, operation)
}

pub(super) fn bit_shift(c: &mut Context<'_, '_>) -> Result {
    match c.attributes.text("direction", "")? {
        "LEFT" => binary(c, Binary::ShiftLeft),
        "RIGHT" => binary(c, Binary::ShiftRight),
        other => Err(Problem::malformed(format!(
            "its direction is \"{}\"",
            crate::error::Short(other)
        ))),
    }
}

/// The first where the condition holds, else the second.
pub(super) fn select(c: &mut Context<'_, '_>) -> Result {
    let inputs = c.inputs()?;
    c.emit(SelectDescriptor::new(), &inputs)
}

/// Base and exponent are computed with in the wider of both types; the power is of the base's.
pub(super) fn pow(c: &mut Context<'_, '_>) -> Result {
    let [base, exponent] = aligned_inputs(c)?;
    let (to, from) = (c.info(base)?.data_type, c.info(exponent)?.data_type);
    let power = ElementwiseBinaryDescriptor::new(Binary::Power);
    if from == to {
        return c.emit(power, &[base, exponent]);
    }
    if to.is_float() {
        let exponent = c.cast(exponent, to)?;
        return c.emit(power, &[base, exponent]);
    }
    if from.is_float() {
        let base = c.cast(base, from)?;
        let power = c.step(power, &[base, exponent])?;
        let output = c.last().cast(power, to)?;
        return c.bind_tensor(0, output);
    }
    let wide = DataType::Signed64;
    if [from, to].contains(&DataType::UInt64) {
        return Err(Problem::unsupported(format!(
            "a base of type {to} with an exponent of type {from}; convert the model so that both \
             are of one type"
        )));
    }
    let (base, exponent) = (c.cast(base, wide)?, c.cast(exponent, wide)?);
    if to == wide {
        return c.emit(power, &[base, exponent]);
    }
    let power = c.step(power, &[base, exponent])?;
    // Integers wrap around, and a Cast keeps the lowest bits.
    let bits = to.bits().unwrap_or(0);
    if bits == 0 || bits >= 64 {
        return Err(Problem::unsupported(format!("a base of type {to}")));
    }
    let output = c.last().cast(power, to)?;
    c.bind_tensor(0, output)
}

/// Any number of inputs, one after the other.
pub(super) fn chain(c: &mut Context<'_, '_>, operation: Binary) -> Result {
    c.attributes.ignore("consumed_inputs");
    let inputs = c.inputs()?;
    match inputs[..] {
        [_] => c.alias(0, 0),
        [first, ref middle @ .., last] => {
            let descriptor = ElementwiseBinaryDescriptor::new(operation);
            let so_far = fold(c, operation, first, middle)?;
            c.emit(descriptor, &[so_far, last])
        }
        [] => Err(Problem::malformed("it has no inputs")),
    }
}

/// The sum of all inputs, divided by their number.
pub(super) fn mean(c: &mut Context<'_, '_>) -> Result {
    c.attributes.ignore("consumed_inputs");
    let inputs = c.inputs()?;
    match inputs[..] {
        [_] => c.alias(0, 0),
        [first, ref others @ ..] => {
            let sum = fold(c, Binary::Add, first, others)?;
            let count = c.number_like(sum, inputs.len() as f64)?;
            c.emit(ElementwiseBinaryDescriptor::new(Binary::Div), &[sum, count])
        }
        [] => Err(Problem::malformed("it has no inputs")),
    }
}

fn fold(
    c: &mut Context<'_, '_>,
    operation: Binary,
    first: TensorId,
    others: &[TensorId],
) -> Result<TensorId> {
    let mut so_far = first;
    for &input in others {
        so_far = c.binary(operation, so_far, input)?;
    }
    Ok(so_far)
}

/// Both inputs, so that they broadcast from the last dimension on.
///
/// Before version 7 shapes were equal, or the second input lay along the first one's dimensions from
/// `axis` on, if `broadcast` was set; without `axis`, along the last ones.
fn aligned_inputs(c: &mut Context<'_, '_>) -> Result<[TensorId; 2]> {
    let x = c.input(0)?;
    if c.version >= 7 {
        return Ok([x, c.input(1)?]);
    }
    let broadcast = c.attributes.flag("broadcast", false)?;
    let along = c.attributes.optional_int("axis")?;
    let (shape, other) = (c.shape(x)?, c.input_shape(1)?);
    if !broadcast {
        if shape.rank() != other.rank() {
            return Err(Problem::malformed(format!(
                "its inputs are {shape} and {other}, but it does not broadcast"
            )));
        }
        return Ok([x, c.input(1)?]);
    }
    let Some(along) = along else {
        return Ok([x, c.input(1)?]);
    };
    let along = match other.rank() {
        0 => shape.rank(),
        _ => axis(along, shape.rank())?,
    };
    let behind = shape.rank().checked_sub(along + other.rank());
    let behind = behind.ok_or_else(|| {
        Problem::malformed(format!(
            "{other} does not lie along {shape} from axis {along} on"
        ))
    })?;
    Ok([x, c.padded_input(1, 0, behind)?])
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerType;

    use crate::test_model::{TestModel, assert_refused, int, output_dims, single, types, zeros};

    #[test]
    fn any_number_of_inputs_is_a_chain() {
        let network = TestModel::new(13)
            .input("a", &[2])
            .input("b", &[3, 1])
            .input("c", &[1])
            .node("Max", &["a", "b", "c"], &["y"], &[])
            .output("y")
            .parse()
            .unwrap();
        assert_eq!(types(&network), [LayerType::ElementwiseBinary; 2]);
        assert_eq!(output_dims(&network), [3, 2]);
        let names: Vec<&str> = network.layers().iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["y/ElementwiseBinary", "y"]);
        // The mean of two is their sum, divided by 2.
        let mean = single(13, "Mean", &[2], &[zeros("b", &[2])], &[]).unwrap();
        assert_eq!(types(&mean), [LayerType::ElementwiseBinary; 2]);
    }

    /// [2, 3, 4, 5] + [3, 4] along axis 1 is + [3, 4, 1].
    #[test]
    fn before_version_7_the_second_input_lies_along_an_axis() {
        let along = [int("broadcast", 1), int("axis", 1)];
        let network = single(6, "Add", &[2, 3, 4, 5], &[zeros("b", &[3, 4])], &along).unwrap();
        let [_, Some(addend)] = network.layers()[0].inputs[..] else {
            panic!();
        };
        assert_eq!(network.tensor(addend).info.shape.dims(), [3, 4, 1]);
        let without = single(6, "Add", &[2, 3], &[zeros("b", &[3])], &[]);
        assert_refused(without, "but it does not broadcast");
        assert!(single(7, "Add", &[2, 3], &[zeros("b", &[3])], &[]).is_ok());
        let beyond = [int("broadcast", 1), int("axis", 3)];
        let beyond = single(6, "Add", &[2, 3, 4, 5], &[zeros("b", &[3, 4])], &beyond);
        assert_refused(beyond, "does not lie along");
    }
}
