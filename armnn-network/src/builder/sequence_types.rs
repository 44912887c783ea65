//! The types of what operations on sequences and optionals give.

use armnn_backend_api::{DataType, Shape, TensorInfo};

use super::value_types::{Checked, fits, general, no_tensor, not_among, position, same_kind};
use crate::error::LayerProblem;
use crate::{SequenceOperation, ValueType};

/// The type of the output of an operation on sequences.
pub(super) fn sequence_outputs(
    operation: &SequenceOperation,
    inputs: &[Option<ValueType>],
) -> Checked<Vec<ValueType>> {
    use SequenceOperation as S;
    let input = |index: usize| {
        let found = inputs.get(index).and_then(Option::as_ref);
        found.ok_or_else(|| LayerProblem::MissingInput {
            input: format!("input {index}"),
        })
    };
    let element = |index: usize| match input(index)? {
        ValueType::Sequence(of) => Ok((**of).clone()),
        other => Err(LayerProblem::Body {
            body: "input",
            problem: format!("a sequence is needed, not {other}"),
        }),
    };
    let sequence = |of: ValueType| ValueType::Sequence(Box::new(of));
    Ok(vec![match operation {
        S::Empty => sequence(ValueType::unknown()),
        S::Construct => {
            let mut of = input(0)?.clone();
            for index in 1..inputs.len() {
                let next = input(index)?;
                // What is deeper than its type could be made deeper without end by a loop.
                if next.depth() != of.depth() {
                    return Err(not_among("input", next, &of));
                }
                of = general(of, next);
            }
            sequence(of)
        }
        S::At => element(0)?,
        S::Insert => {
            let value = input(1)?.clone();
            let of = element(0)?;
            // An empty sequence's type is not known.
            sequence(if same_kind(&of, &value) {
                general(of, &value)
            } else if value.depth() >= of.depth() {
                value
            } else {
                return Err(not_among("input", &value, &of));
            })
        }
        S::Erase => sequence(element(0)?),
        S::Length => ValueType::Tensor(TensorInfo::new(DataType::Signed64, Shape::SCALAR)),
        S::Split { axis, keep_dims } => match input(0)? {
            ValueType::Tensor(info) => {
                let mut dims = info.shape.dims().to_vec();
                let at = position(*axis, dims.len());
                let at = at.ok_or_else(|| fits("input", format!("axis {axis} of {info}")))?;
                if inputs.get(1).is_some_and(Option::is_some) || *keep_dims {
                    dims[at] = Shape::UNKNOWN;
                } else {
                    dims.remove(at);
                }
                let shape = Shape::new(&dims).unwrap_or(info.shape);
                sequence(ValueType::Tensor(TensorInfo {
                    shape,
                    ..info.clone()
                }))
            }
            other => return Err(no_tensor("the input", Some(other))),
        },
        S::Concat { axis, new_axis } => match element(0)? {
            ValueType::Tensor(info) => {
                let mut dims = info.shape.dims().to_vec();
                let at = position(*axis, dims.len() + usize::from(*new_axis));
                let no_axis = || {
                    let mut problem = format!("axis {axis} of {info}");
                    if ValueType::Tensor(info.clone()) == ValueType::unknown() {
                        problem.push_str(
                            ", which also stands for tensors that nothing is said of: declare how \
                             many dimensions those of the sequence have",
                        );
                    }
                    fits("input", problem)
                };
                let at = at.ok_or_else(no_axis)?;
                if *new_axis {
                    dims.insert(at, Shape::UNKNOWN);
                } else {
                    dims[at] = Shape::UNKNOWN;
                }
                let shape = Shape::new(&dims)
                    .map_err(|_| fits("input", "a result of more than 8 dimensions".to_owned()))?;
                ValueType::Tensor(TensorInfo { shape, ..info })
            }
            other => return Err(no_tensor("the input", Some(&other))),
        },
        S::Optional => {
            let of = inputs.first().and_then(Option::as_ref);
            ValueType::Optional(Box::new(of.cloned().unwrap_or_else(ValueType::unknown)))
        }
        S::HasElement => ValueType::Tensor(TensorInfo::new(DataType::Boolean, Shape::SCALAR)),
        S::GetElement => match input(0)? {
            ValueType::Optional(of) => (**of).clone(),
            other => other.clone(),
        },
    }])
}
