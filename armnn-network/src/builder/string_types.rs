//! The types of what operations on tensors of strings give.

use armnn_backend_api::{DataType, Shape, TensorInfo};

use super::value_types::Checked;
use crate::error::LayerProblem;
use crate::{StringOperation, ValueType};

/// The types of the outputs of an operation on strings.
pub(super) fn string_outputs(
    operation: &StringOperation,
    inputs: &[Option<ValueType>],
) -> Checked<Vec<ValueType>> {
    let shape = |index: usize| match inputs.get(index).and_then(Option::as_ref) {
        Some(ValueType::Strings(shape)) => Ok(*shape),
        other => Err(LayerProblem::Body {
            body: "input",
            problem: match other {
                Some(other) => format!("strings are needed, not {other}"),
                None => "strings are needed, and there are none".to_owned(),
            },
        }),
    };
    let tensor = |data_type, shape| ValueType::Tensor(TensorInfo::new(data_type, shape));
    Ok(match operation {
        StringOperation::Constant { shape, strings } => {
            if shape.num_elements() != Some(strings.len() as u64) {
                let found = strings.len();
                return Err(LayerProblem::Body {
                    body: "operation",
                    problem: format!("{found} strings are given for the shape {shape}"),
                });
            }
            vec![ValueType::Strings(*shape)]
        }
        StringOperation::Equal => {
            vec![tensor(DataType::Boolean, broadcast(shape(0)?, shape(1)?)?)]
        }
        StringOperation::Match(_) => vec![tensor(DataType::Boolean, shape(0)?)],
        StringOperation::Concat => {
            vec![ValueType::Strings(broadcast(shape(0)?, shape(1)?)?)]
        }
        StringOperation::Normalize { .. } => {
            let mut dims = shape(0)?.dims().to_vec();
            match dims.last_mut() {
                Some(last) => *last = Shape::UNKNOWN,
                None => return Err(problem("a list of strings is needed, not one".to_owned())),
            }
            vec![ValueType::Strings(shape_of(&dims)?)]
        }
        StringOperation::Split { .. } => {
            let mut dims = shape(0)?.dims().to_vec();
            dims.push(Shape::UNKNOWN);
            let counts = tensor(DataType::Signed64, shape(0)?);
            vec![ValueType::Strings(shape_of(&dims)?), counts]
        }
        StringOperation::Lookup { data_type, .. } => vec![tensor(*data_type, shape(0)?)],
        StringOperation::Format => match inputs.first() {
            Some(Some(ValueType::Tensor(numbers))) if is_decimal(numbers.data_type) => {
                vec![ValueType::Strings(numbers.shape)]
            }
            _ => {
                let needed = "Signed64, UInt64, Float32 or Float64 is needed";
                return Err(problem(needed.to_owned()));
            }
        },
        StringOperation::Parse { data_type } if is_decimal(*data_type) => {
            vec![tensor(*data_type, shape(0)?)]
        }
        StringOperation::Parse { data_type } => {
            return Err(LayerProblem::Body {
                body: "operation",
                problem: format!("strings do not become {data_type}"),
            });
        }
        StringOperation::Positions => (0..inputs.len())
            .map(|index| Ok(tensor(DataType::Signed64, shape(index)?)))
            .collect::<Checked<_>>()?,
        StringOperation::Ranks => {
            let list = ValueType::Strings(shape_of(&[Shape::UNKNOWN])?);
            vec![tensor(DataType::Signed64, shape(0)?), list]
        }
        StringOperation::AtPositions => {
            for index in 1..inputs.len() {
                shape(index)?;
            }
            match inputs.first() {
                Some(Some(ValueType::Tensor(positions)))
                    if positions.data_type == DataType::Signed64 =>
                {
                    vec![ValueType::Strings(positions.shape)]
                }
                _ => return Err(problem("positions of Signed64 are needed".to_owned())),
            }
        }
    })
}

/// Whether strings become numbers of the type, and they strings.
fn is_decimal(data_type: DataType) -> bool {
    matches!(
        data_type,
        DataType::Signed64 | DataType::UInt64 | DataType::Float32 | DataType::Float64
    )
}

/// The shape that both broadcast to, as far as it is known.
fn broadcast(x: Shape, y: Shape) -> Checked<Shape> {
    let rank = x.rank().max(y.rank());
    let at = |shape: &Shape, axis: usize| match (axis + shape.rank()).checked_sub(rank) {
        Some(axis) => shape.dims().get(axis).copied().unwrap_or(1),
        None => 1,
    };
    let dims: Option<Vec<i64>> = (0..rank)
        .map(|axis| match (at(&x, axis), at(&y, axis)) {
            (1, dim) | (dim, 1) => Some(dim),
            (Shape::UNKNOWN, dim) | (dim, Shape::UNKNOWN) => Some(dim),
            (a, b) => (a == b).then_some(a),
        })
        .collect();
    let dims = dims.ok_or_else(|| problem(format!("{x} and {y} do not broadcast")))?;
    shape_of(&dims)
}

fn shape_of(dims: &[i64]) -> Checked<Shape> {
    Shape::new(dims).map_err(|_| problem("more than 8 dimensions".to_owned()))
}

fn problem(problem: String) -> LayerProblem {
    LayerProblem::Body {
        body: "input",
        problem,
    }
}
