//! Strings that an operator only moves.
//!
//! Backends know no strings. In place of strings, layers move their positions, and the runtime puts
//! the strings there when the layers are done. So that each operator works as it does with INT64,
//! the inputs are positions only while its function adds layers.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::rc::Rc;

use armnn_backend_api::DataType;
use armnn_network::{RuntimeOperation, StringOperation, TensorId};

use super::State;
use super::constant::Constant;
use super::context::Context;
use super::emission::single;
use super::problem::{Problem, Result};
use super::strings::are_given;

/// What of an operator may be strings that it only moves.
struct Row {
    inputs: Inputs,
    /// How many outputs are of them; the outputs after those are numbers.
    n_outputs: usize,
}

enum Inputs {
    Only(&'static [usize]),
    From(RangeInclusive<usize>),
}

/// In the order of the alphabet.
#[rustfmt::skip]
fn row(domain: &str, op_type: &str) -> Option<Row> {
    use Inputs::{From, Only};
    let (inputs, n_outputs) = match (domain, op_type) {
        ("ai.onnx.ml", "ArrayFeatureExtractor") => (Only(&[0]), 1),
        ("", "CenterCropPad") => (Only(&[0]), 1),
        ("", "Compress") => (Only(&[0]), 1),
        ("", "Concat") => (From(0..=usize::MAX), 1),
        ("", "DepthToSpace") => (Only(&[0]), 1),
        ("", "Expand") => (Only(&[0]), 1),
        ("com.microsoft", "ExpandDims") => (Only(&[0]), 1),
        ("", "Flatten") => (Only(&[0]), 1),
        ("", "Gather") => (Only(&[0]), 1),
        ("", "GatherElements") => (Only(&[0]), 1),
        ("" | "com.microsoft", "GatherND") => (Only(&[0]), 1),
        // Positions of empty strings are 0.
        ("", "NonZero") => (Only(&[0]), 0),
        // The value comes first, so that its position is known.
        ("" | "com.microsoft", "Pad") => (Only(&[2, 0]), 1),
        ("", "Reshape") => (Only(&[0]), 1),
        ("", "ReverseSequence") => (Only(&[0]), 1),
        ("", "Scatter" | "ScatterElements" | "ScatterND") => (Only(&[0, 2]), 1),
        ("", "Shape" | "Size") => (Only(&[0]), 0),
        ("", "Slice") => (Only(&[0]), 1),
        ("", "SpaceToDepth") => (Only(&[0]), 1),
        ("", "Split") => (Only(&[0]), usize::MAX),
        ("", "Squeeze") => (Only(&[0]), 1),
        ("", "TensorScatter") => (Only(&[0, 1]), 1),
        ("", "Tile") => (Only(&[0]), 1),
        ("", "Transpose") => (Only(&[0]), 1),
        ("" | "com.microsoft", "Trilu") => (Only(&[0]), 1),
        ("" | "com.microsoft", "Unique") => (Only(&[0]), 1),
        ("", "Unsqueeze") => (Only(&[0]), 1),
        ("", "Upsample") => (Only(&[0]), 1),
        ("", "Where") => (From(1..=2), 1),
        _ => return None,
    };
    Some(Row { inputs, n_outputs })
}

/// The strings that positions stand for while a node is lowered.
pub(super) struct MovedStrings {
    /// The values that are strings, what they were before, and the strings that positions count.
    replaced: Vec<(usize, State, TensorId)>,
    n_outputs: usize,
}

impl MovedStrings {
    /// Makes inputs of strings their positions, if the operator only moves them.
    pub(super) fn replace(c: &mut Context<'_, '_>) -> Result<Option<Self>> {
        let Some(row) = row(&c.node.domain, &c.node.op_type) else {
            return Ok(None);
        };
        let positions: Vec<usize> = match row.inputs {
            Inputs::Only(positions) => positions.to_vec(),
            Inputs::From(range) => (0..c.input_count()).filter(|p| range.contains(p)).collect(),
        };
        let mut moved = Self {
            replaced: Vec::new(),
            n_outputs: row.n_outputs,
        };
        let (mut strings, mut numbers) = (Vec::new(), None);
        let mut known = HashSet::new();
        for position in positions {
            let Some(index) = c.input_index(position) else {
                continue;
            };
            if known.insert(index) {
                match are_given(c, position)? {
                    true => strings.push((index, c.input(position)?)),
                    false => numbers = Some(position),
                }
            }
        }
        match numbers {
            _ if strings.is_empty() => return Ok(None),
            None => {}
            // They would be taken for positions.
            Some(position) => {
                let problem = format!("input {position} is numbers, beside strings");
                return Err(Problem::malformed(problem));
            }
        }
        check_attributes(c)?;
        let mut sources: Vec<TensorId> = strings.iter().map(|&(_, id)| id).collect();
        let operation = match c.node.op_type.as_str() {
            // It compares and sorts.
            "Unique" => StringOperation::Ranks,
            _ => StringOperation::Positions,
        };
        let name = c.step_name(operation.name());
        let is_ranks = operation == StringOperation::Ranks;
        let operation = RuntimeOperation::Strings(operation);
        let inputs: Vec<Option<TensorId>> = sources.iter().copied().map(Some).collect();
        let builder = &mut c.lowering.builder;
        let ids = builder.add_runtime_layer(&name, operation, &inputs)?;
        if is_ranks {
            // Ranks count through the list that is the second output.
            sources = ids.iter().copied().skip(1).collect();
        }
        for ((&(index, _), &id), &source) in strings.iter().zip(&ids).zip(&sources) {
            let is_first = moved.replaced.is_empty();
            let shape = c.shape(id)?;
            let positions = match c.node.op_type.as_str() {
                // Padding has to know its value before anything runs.
                "Pad" if is_first && shape.num_elements() == Some(1) => {
                    let first = Constant::integers(DataType::Signed64, shape.dims(), &[1]);
                    State::Constant(Rc::new(first), None)
                }
                _ => State::Ready(id),
            };
            let before = std::mem::replace(&mut c.lowering.states[index], positions);
            moved.replaced.push((index, before, source));
        }
        Ok(Some(moved))
    }

    /// Makes the inputs strings again, and the outputs those at the positions that they are.
    pub(super) fn put_back(self, c: &mut Context<'_, '_>, lowered: Result) -> Result {
        let mut sources = Vec::with_capacity(self.replaced.len());
        let mut of_strings = Vec::with_capacity(self.replaced.len());
        for (index, before, id) in self.replaced {
            let positions = std::mem::replace(&mut c.lowering.states[index], before);
            sources.push(positions);
            of_strings.push(Some(id));
        }
        lowered?;
        for position in 0..c.output_count().min(self.n_outputs) {
            let Some(index) = c.node.outputs.get(position).copied().flatten() else {
                continue;
            };
            if matches!(c.lowering.states[index], State::Pending) {
                continue;
            }
            let id = c.lowering.tensor(index)?;
            let same = sources.iter().position(|source| match source {
                State::Ready(source) => *source == id,
                _ => false,
            });
            let strings = match same.and_then(|at| of_strings.get(at).copied().flatten()) {
                Some(unchanged) => unchanged,
                None => {
                    let name = match c.layer_name(position).as_str() {
                        "" => String::new(),
                        name => format!("{}/StringsAtPositions", crate::error::cut(name)),
                    };
                    let mut inputs = vec![Some(id)];
                    inputs.extend(&of_strings);
                    let operation = RuntimeOperation::Strings(StringOperation::AtPositions);
                    let builder = &mut c.lowering.builder;
                    single(&builder.add_runtime_layer(&name, operation, &inputs)?)?
                }
            };
            c.lowering.states[index] = State::Ready(strings);
        }
        Ok(())
    }
}

/// What operators can do with numbers besides moving them is refused.
fn check_attributes(c: &Context<'_, '_>) -> Result {
    let name = match c.node.op_type.as_str() {
        "ScatterElements" | "ScatterND" => "reduction",
        "Upsample" => "mode",
        _ => return Ok(()),
    };
    match c.attributes.text(name, "none")? {
        "none" | "nearest" => Ok(()),
        other => Err(Problem::unsupported(format!(
            "{name} \"{}\" of strings",
            crate::error::Short(other)
        ))),
    }
}
