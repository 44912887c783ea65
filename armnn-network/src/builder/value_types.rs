//! Comparing types of values, and what is said where they do not fit.

use armnn_backend_api::{Shape, TensorInfo};

use crate::ValueType;
use crate::error::{LayerProblem, Result};
use crate::inference::merge;

pub(super) type Checked<T> = Result<T, LayerProblem>;

/// Checks that sequences and optionals are not too deep inside of each other.
pub(super) fn check_depth(value_type: &ValueType) -> Checked<()> {
    match value_type.depth() <= ValueType::MOST_NESTED {
        true => Ok(()),
        false => Err(fits(
            "value",
            format!(
                "sequences and optionals may be {} deep inside of each other",
                ValueType::MOST_NESTED
            ),
        )),
    }
}

/// What values are that may come from either of two lists.
pub(super) fn either(
    body: &'static str,
    one: Vec<ValueType>,
    other: &[ValueType],
) -> Checked<Vec<ValueType>> {
    if one.len() != other.len() {
        return Err(count(body, "outputs", one.len(), other.len()));
    }
    let pairs = one.into_iter().zip(other).enumerate();
    pairs
        .map(|(index, (a, b))| {
            if same_kind(&a, b) {
                Ok(general(a, b))
            } else {
                let differ = differ_in(&a, b);
                let problem = format!("output {index} is {b}, elsewhere {a}{differ}");
                Err(fits(body, problem))
            }
        })
        .collect()
}

/// Whether a value of one type may stand where one of the other is expected: the same kind, data
/// type and rank, and of quantized numbers, the same quantization.
pub(super) fn same_kind(a: &ValueType, b: &ValueType) -> bool {
    match (a, b) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => {
            a.data_type == b.data_type
                && a.shape.rank() == b.shape.rank()
                && a.quantization == b.quantization
        }
        (ValueType::Strings(a), ValueType::Strings(b)) => a.rank() == b.rank(),
        // The type of an empty one is not known.
        (ValueType::Sequence(a), ValueType::Sequence(b)) => a.depth() == b.depth(),
        (ValueType::Optional(a), ValueType::Optional(b)) => {
            is_unknown(a) || is_unknown(b) || same_kind(a, b)
        }
        _ => false,
    }
}

fn is_unknown(value_type: &ValueType) -> bool {
    *value_type == ValueType::unknown()
}

/// What two types differ in that does not show in their text.
pub(super) fn differ_in(a: &ValueType, b: &ValueType) -> &'static str {
    match (a, b) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) if a.quantization != b.quantization => {
            " of another quantization"
        }
        _ => "",
    }
}

/// What is true of both.
pub(super) fn general(a: ValueType, b: &ValueType) -> ValueType {
    let dims = |a: &Shape, b: &Shape| {
        merge(a, b).filter(|_| a == b).unwrap_or_else(|| {
            let pairs = a.dims().iter().zip(b.dims());
            let dims: Vec<i64> = pairs
                .map(|(&x, &y)| if x == y { x } else { Shape::UNKNOWN })
                .collect();
            Shape::new(&dims).unwrap_or(*a)
        })
    };
    match (a, b) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => ValueType::Tensor(TensorInfo {
            shape: dims(&a.shape, &b.shape),
            ..a
        }),
        (ValueType::Strings(a), ValueType::Strings(b)) => ValueType::Strings(dims(&a, b)),
        (ValueType::Sequence(a), ValueType::Sequence(b)) if same_kind(&a, b) => {
            ValueType::Sequence(Box::new(general(*a, b)))
        }
        // An empty one becomes one of the other type.
        (ValueType::Sequence(a), ValueType::Sequence(b)) if *a == ValueType::unknown() => {
            ValueType::Sequence(b.clone())
        }
        (ValueType::Optional(a), ValueType::Optional(b)) if is_unknown(&a) => {
            ValueType::Optional(b.clone())
        }
        (ValueType::Optional(a), ValueType::Optional(b)) => {
            ValueType::Optional(Box::new(general(*a, b)))
        }
        (a, _) => a,
    }
}

/// An axis, from the end if negative, among so many dimensions.
pub(super) fn position(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 {
        axis.checked_add(rank)?
    } else {
        axis
    };
    (0..rank).contains(&axis).then_some(axis as usize)
}

pub(super) fn not_among(input: &'static str, value: &ValueType, of: &ValueType) -> LayerProblem {
    fits(input, format!("{value} cannot be in a sequence of {of}"))
}

pub(super) fn no_tensor(what: &str, found: Option<&ValueType>) -> LayerProblem {
    LayerProblem::NoTensor {
        tensor: what.to_owned(),
        found: found.map_or_else(|| "left out".to_owned(), ToString::to_string),
    }
}

pub(super) fn count(body: &'static str, what: &str, expected: usize, found: usize) -> LayerProblem {
    fits(
        body,
        format!("{expected} {what} are needed, and there are {found}"),
    )
}

pub(super) fn fits(body: &'static str, problem: String) -> LayerProblem {
    LayerProblem::Body { body, problem }
}
