//! Functions of elements, and of pairs of them.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction as Activation, BinaryOperation as Binary,
    ComparisonOperation as Comparison, DataType, LogicalBinaryOperation as Logical,
    UnaryOperation as Unary,
};

use super::position::{broadcast_index, positions, sizes};
use super::{Evaluation, bounds, fitting};
use crate::{KnownElements, KnownValue};

/// An expression of Float32 numbers computed in Float32, of others in Float64.
macro_rules! in_type {
    ($data_type:expr, [$($x:ident),*], $value:expr) => {
        match $data_type {
            DataType::Float32 => {
                $(let $x = $x as f32;)*
                f64::from($value)
            }
            _ => $value,
        }
    };
}

/// An expression of integers or real numbers, for each pair of elements.
fn pairs<T>(
    layer: &Evaluation<'_>,
    integers: impl Fn(i64, i64) -> Option<T>,
    reals: impl Fn(f64, f64, DataType) -> Option<T>,
) -> Option<Vec<Option<T>>> {
    let (x, y, to) = (layer.input(0)?, layer.input(1)?, layer.output(0)?);
    let (x_sizes, y_sizes) = (sizes(&x.shape)?, sizes(&y.shape)?);
    let places = positions(&to).map(|at| {
        Some((
            broadcast_index(&at, to.len(), &x_sizes)?,
            broadcast_index(&at, to.len(), &y_sizes)?,
        ))
    });
    let places: Vec<(usize, usize)> = places.collect::<Option<_>>()?;
    Some(match (&x.elements, &y.elements) {
        (KnownElements::Integers(xs), KnownElements::Integers(ys)) => {
            let value = |(x, y)| integers((*xs.get(x)?)?, (*ys.get(y)?)?);
            places.into_iter().map(value).collect()
        }
        (KnownElements::Reals(xs), KnownElements::Reals(ys)) => {
            let value = |(x, y)| reals((*xs.get(x)?)?, (*ys.get(y)?)?, x_type(layer)?);
            places.into_iter().map(value).collect()
        }
        _ => return None,
    })
}

fn x_type(layer: &Evaluation<'_>) -> Option<DataType> {
    Some(layer.input(0)?.data_type)
}

pub(super) fn knows_binary(operation: Binary) -> bool {
    operation.name().is_some() && !matches!(operation, Binary::ShiftLeft | Binary::ShiftRight)
}

pub(super) fn binary(operation: Binary, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let data_type = layer.output_type()?;
    Some(match KnownValue::is_real(data_type) {
        true => {
            let value = |x, y, data_type| real_binary(operation, x, y, data_type);
            KnownElements::Reals(pairs(layer, |_, _| None, value)?)
        }
        false => {
            let value = |x, y| fitting(integer_binary(operation, x, y), data_type);
            KnownElements::Integers(pairs(layer, value, |_, _, _| None)?)
        }
    })
}

fn integer_binary(operation: Binary, x: i64, y: i64) -> Option<i64> {
    Some(match operation {
        Binary::Add => x.checked_add(y)?,
        Binary::Sub => x.checked_sub(y)?,
        Binary::Mul => x.checked_mul(y)?,
        Binary::Div => x.checked_div(y)?,
        Binary::Maximum => x.max(y),
        Binary::Minimum => x.min(y),
        Binary::SqDiff => {
            let difference = x.checked_sub(y)?;
            difference.checked_mul(difference)?
        }
        Binary::Power => power(x, y)?,
        Binary::FloorDiv => {
            let quotient = x.checked_div(y)?;
            let rounds_down = x.checked_rem(y)? != 0 && (x < 0) != (y < 0);
            quotient - i64::from(rounds_down)
        }
        Binary::FloorMod => match x.checked_rem(y)? {
            0 => 0,
            rest if (rest < 0) != (y < 0) => rest + y,
            rest => rest,
        },
        Binary::TruncateMod => x.checked_rem(y)?,
        Binary::BitwiseAnd => x & y,
        Binary::BitwiseOr => x | y,
        Binary::BitwiseXor => x ^ y,
        _ => return None,
    })
}

/// Rounds towards zero where the exponent is negative; 0 to a negative power is 0.
fn power(x: i64, y: i64) -> Option<i64> {
    match x {
        0 => Some(i64::from(y == 0)),
        1 => Some(1),
        -1 => Some(if y % 2 == 0 { 1 } else { -1 }),
        _ if y < 0 => Some(0),
        _ => x.checked_pow(u32::try_from(y).ok()?),
    }
}

fn real_binary(operation: Binary, x: f64, y: f64, data_type: DataType) -> Option<f64> {
    Some(match operation {
        Binary::Add => in_type!(data_type, [x, y], x + y),
        Binary::Sub => in_type!(data_type, [x, y], x - y),
        Binary::Mul => in_type!(data_type, [x, y], x * y),
        Binary::Div => in_type!(data_type, [x, y], x / y),
        Binary::Maximum => larger(x, y),
        Binary::Minimum => -larger(-x, -y),
        Binary::SqDiff => in_type!(data_type, [x, y], (x - y) * (x - y)),
        Binary::Power => in_type!(data_type, [x, y], x.powf(y)),
        Binary::FloorDiv => in_type!(data_type, [x, y], (x / y).floor()),
        Binary::FloorMod => in_type!(data_type, [x, y], {
            let rest = x % y;
            match rest != 0.0 && (rest < 0.0) != (y < 0.0) {
                true => rest + y,
                false => rest,
            }
        }),
        Binary::TruncateMod => in_type!(data_type, [x, y], x % y),
        Binary::Atan2 => in_type!(data_type, [x, y], x.atan2(y)),
        _ => return None,
    })
}

/// The larger; NaN if either is.
pub(super) fn larger(x: f64, y: f64) -> f64 {
    if x > y || x.is_nan() { x } else { y }
}

pub(super) fn comparison(operation: Comparison, layer: &Evaluation<'_>) -> Option<KnownElements> {
    fn compared<T: PartialOrd>(operation: Comparison, x: T, y: T) -> Option<i64> {
        Some(i64::from(match operation {
            Comparison::Equal => x == y,
            Comparison::NotEqual => x != y,
            Comparison::Greater => x > y,
            Comparison::GreaterOrEqual => x >= y,
            Comparison::Less => x < y,
            Comparison::LessOrEqual => x <= y,
            _ => return None,
        }))
    }
    let integers = |x, y| compared(operation, x, y);
    let reals = |x, y, _| compared(operation, x, y);
    Some(KnownElements::Integers(pairs(layer, integers, reals)?))
}

pub(super) fn logical(operation: Logical, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let value = |x: i64, y: i64| {
        let (x, y) = (x != 0, y != 0);
        Some(i64::from(match operation {
            Logical::LogicalAnd => x && y,
            Logical::LogicalOr => x || y,
            Logical::LogicalXor => x != y,
            _ => return None,
        }))
    };
    Some(KnownElements::Integers(pairs(layer, value, |_, _, _| {
        None
    })?))
}

pub(super) fn knows_unary(operation: Unary) -> bool {
    operation.name().is_some() && operation != Unary::Erf
}

pub(super) fn unary(operation: Unary, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (input, to) = (layer.input(0)?, layer.output_type()?);
    Some(match &input.elements {
        KnownElements::Integers(values) => {
            let value = |&x: &Option<i64>| fitting(integer_unary(operation, x?, to), to);
            KnownElements::Integers(values.iter().map(value).collect())
        }
        KnownElements::Reals(values) if KnownValue::is_real(to) => {
            let value = |&x: &Option<f64>| real_unary(operation, x?, input.data_type);
            KnownElements::Reals(values.iter().map(value).collect())
        }
        KnownElements::Reals(values) => {
            let value = |&x: &Option<f64>| Some(i64::from(property(operation, x?)?));
            KnownElements::Integers(values.iter().map(value).collect())
        }
    })
}

fn integer_unary(operation: Unary, x: i64, data_type: DataType) -> Option<i64> {
    Some(match operation {
        Unary::Abs => x.checked_abs()?,
        Unary::Neg => x.checked_neg()?,
        Unary::Square => x.checked_mul(x)?,
        Unary::Sign => x.signum(),
        Unary::LogicalNot => i64::from(x == 0),
        Unary::BitwiseNot => match bounds(data_type)? {
            (0, _) if data_type == DataType::UInt64 => return None,
            (0, most) => most - x,
            _ => !x,
        },
        // Whole already.
        Unary::Ceil | Unary::Floor | Unary::Round => x,
        _ => return None,
    })
}

/// A Boolean about a real number.
fn property(operation: Unary, x: f64) -> Option<bool> {
    Some(match operation {
        Unary::IsNan => x.is_nan(),
        Unary::IsInf => x.is_infinite(),
        Unary::IsPosInf => x == f64::INFINITY,
        Unary::IsNegInf => x == f64::NEG_INFINITY,
        _ => return None,
    })
}

fn real_unary(operation: Unary, x: f64, data_type: DataType) -> Option<f64> {
    Some(match operation {
        Unary::Abs => x.abs(),
        Unary::Exp => in_type!(data_type, [x], x.exp()),
        Unary::Sqrt => in_type!(data_type, [x], x.sqrt()),
        Unary::Rsqrt => in_type!(data_type, [x], 1.0 / x.sqrt()),
        Unary::Neg => -x,
        Unary::Log => in_type!(data_type, [x], x.ln()),
        Unary::Sin => in_type!(data_type, [x], x.sin()),
        Unary::Ceil => x.ceil(),
        Unary::Floor => x.floor(),
        Unary::Square => in_type!(data_type, [x], x * x),
        Unary::Cos => in_type!(data_type, [x], x.cos()),
        Unary::Tan => in_type!(data_type, [x], x.tan()),
        Unary::Asin => in_type!(data_type, [x], x.asin()),
        Unary::Acos => in_type!(data_type, [x], x.acos()),
        Unary::Atan => in_type!(data_type, [x], x.atan()),
        Unary::Sinh => in_type!(data_type, [x], x.sinh()),
        Unary::Cosh => in_type!(data_type, [x], x.cosh()),
        Unary::Asinh => in_type!(data_type, [x], x.asinh()),
        Unary::Acosh => in_type!(data_type, [x], x.acosh()),
        Unary::Atanh => in_type!(data_type, [x], x.atanh()),
        Unary::Sign if x > 0.0 => 1.0,
        Unary::Sign if x < 0.0 => -1.0,
        Unary::Sign => x * 0.0,
        Unary::Round => x.round_ties_even(),
        Unary::Reciprocal => in_type!(data_type, [x], 1.0 / x),
        _ => return None,
    })
}

pub(super) fn knows_activation(function: Activation) -> bool {
    matches!(
        function,
        Activation::ReLu | Activation::BoundedReLu | Activation::Linear
    )
}

pub(super) fn activation(
    d: &ActivationDescriptor,
    layer: &Evaluation<'_>,
) -> Option<KnownElements> {
    let input = layer.input(0)?;
    let (a, b) = (f64::from(d.a), f64::from(d.b));
    let value = |&x: &Option<f64>| {
        let x = x?;
        Some(match d.function() {
            Activation::ReLu => larger(x, 0.0),
            Activation::BoundedReLu => -larger(-larger(x, b), -a),
            Activation::Linear => in_type!(input.data_type, [a, b, x], a * x + b),
            _ => return None,
        })
    };
    let values = input.as_reals()?.iter().map(value);
    Some(KnownElements::Reals(values.collect()))
}

/// An integer as one of another type, which keeps the lowest bits; `None` for those that no value
/// holds.
fn lowest_bits(x: i64, to: DataType) -> Option<i64> {
    Some(match to {
        DataType::Boolean => i64::from(x != 0),
        DataType::Int8 => (x as i8).into(),
        DataType::Int16 => (x as i16).into(),
        DataType::Signed32 => (x as i32).into(),
        DataType::Signed64 => x,
        DataType::UInt8 => (x as u8).into(),
        DataType::UInt16 => (x as u16).into(),
        DataType::UInt32 => (x as u32).into(),
        DataType::UInt64 => return (x >= 0).then_some(x),
        _ => return None,
    })
}

/// To integers towards zero, saturating, NaN to 0; to Boolean whether it is not 0; between real
/// numbers to nearest.
pub(super) fn cast(layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (input, to) = (layer.input(0)?, layer.output_type()?);
    Some(match (&input.elements, KnownValue::is_real(to)) {
        (KnownElements::Integers(values), true) => {
            let value = |&x: &Option<i64>| {
                x.map(|x| match to {
                    // In one step, so that it is rounded once.
                    DataType::Float32 => f64::from(x as f32),
                    _ => x as f64,
                })
            };
            KnownElements::Reals(values.iter().map(value).collect())
        }
        (KnownElements::Reals(values), true) => {
            let value = |&x: &Option<f64>| x.map(|x| super::rounded(x, to));
            KnownElements::Reals(values.iter().map(value).collect())
        }
        (KnownElements::Integers(values), false) => {
            let value = |&x: &Option<i64>| lowest_bits(x?, to);
            KnownElements::Integers(values.iter().map(value).collect())
        }
        (KnownElements::Reals(values), false) => {
            let (least, most) = bounds(to)?;
            let value = |&x: &Option<f64>| match to {
                DataType::Boolean => Some(i64::from(x? != 0.0)),
                // From 2^63 on it is no value that is held.
                DataType::UInt64 if x? >= 9_223_372_036_854_775_808.0 => None,
                _ => Some((x? as i64).clamp(least, most)),
            };
            KnownElements::Integers(values.iter().map(value).collect())
        }
    })
}

/// x where the condition is true, else y.
pub(super) fn select(layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (condition, x, y) = (layer.input(0)?, layer.input(1)?, layer.input(2)?);
    let to = layer.output(0)?;
    let [of_condition, of_x, of_y] = [condition, x, y].map(|value| sizes(&value.shape));
    let (of_condition, of_x, of_y) = (of_condition?, of_x?, of_y?);
    let condition = condition.as_integers()?;
    fn chosen<T: Copy + PartialEq>(is_x: Option<bool>, x: Option<T>, y: Option<T>) -> Option<T> {
        match is_x {
            Some(true) => x,
            Some(false) => y,
            // Either way.
            None => x.filter(|_| x == y),
        }
    }
    let places = positions(&to).map(|at| {
        let at = |dims: &[usize]| broadcast_index(&at, to.len(), dims);
        let is_x = condition.get(at(&of_condition)?)?.map(|value| value != 0);
        Some((is_x, at(&of_x)?, at(&of_y)?))
    });
    let places: Vec<_> = places.collect::<Option<_>>()?;
    Some(match (&x.elements, &y.elements) {
        (KnownElements::Integers(xs), KnownElements::Integers(ys)) => {
            let value =
                |(is_x, x, y): (_, usize, usize)| Some(chosen(is_x, *xs.get(x)?, *ys.get(y)?));
            KnownElements::Integers(places.into_iter().map(value).collect::<Option<_>>()?)
        }
        (KnownElements::Reals(xs), KnownElements::Reals(ys)) => {
            let value =
                |(is_x, x, y): (_, usize, usize)| Some(chosen(is_x, *xs.get(x)?, *ys.get(y)?));
            KnownElements::Reals(places.into_iter().map(value).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
