//! What the lowering of one node works with.

use std::rc::Rc;

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::{OutputDeclaration, Tensor, TensorId};

use super::attributes::Attributes;
use super::constant::Constant;
use super::problem::{Problem, Result};
use super::tensor_info::declared_shape;
use super::{Lowering, State, in_value};
use crate::error::{Short, cut};
use crate::model::{Node, Value};

/// What the lowering of one node works with: the node, and the network that is being built.
pub(super) struct Context<'c, 'm> {
    pub(super) lowering: &'c mut Lowering<'m>,
    pub(super) node: &'m Node,
    pub(super) attributes: Attributes<'m>,
    /// The version of the domain's operators that the model means.
    pub(super) version: i64,
    /// Whether the next step writes the first output.
    pub(super) is_last: bool,
}

impl<'c, 'm> Context<'c, 'm> {
    pub(super) fn new(lowering: &'c mut Lowering<'m>, node: &'m Node, version: i64) -> Self {
        Self {
            lowering,
            node,
            attributes: Attributes::new(node),
            version,
            is_last: false,
        }
    }

    /// How many inputs there are, absent ones among them but for those at the end.
    pub(super) fn input_count(&self) -> usize {
        let last = self.node.inputs.iter().rposition(Option::is_some);
        last.map_or(0, |last| last + 1)
    }

    pub(super) fn output_count(&self) -> usize {
        self.node.outputs.len()
    }

    pub(super) fn has_input(&self, position: usize) -> bool {
        self.input_index(position).is_some()
    }

    /// Whether somebody needs the output.
    pub(super) fn has_output(&self, position: usize) -> bool {
        match self.node.outputs.get(position) {
            Some(Some(index)) => self.lowering.is_read[*index],
            _ => false,
        }
    }

    pub(super) fn input_index(&self, position: usize) -> Option<usize> {
        self.node.inputs.get(position).copied().flatten()
    }

    fn present_index(&self, position: usize) -> Result<usize> {
        self.input_index(position)
            .ok_or_else(|| Problem::malformed(format!("input {position} is left out")))
    }

    /// An input that must be there. A constant becomes one of the network.
    pub(super) fn input(&mut self, position: usize) -> Result<TensorId> {
        let index = self.present_index(position)?;
        self.lowering.tensor(index)
    }

    /// An input that may be absent.
    pub(super) fn optional_input(&mut self, position: usize) -> Result<Option<TensorId>> {
        match self.input_index(position) {
            Some(index) => self.lowering.tensor(index).map(Some),
            None => Ok(None),
        }
    }

    /// All inputs, none of which may be absent.
    pub(super) fn inputs(&mut self) -> Result<Vec<TensorId>> {
        (0..self.input_count())
            .map(|position| self.input(position))
            .collect()
    }

    /// The constant that an input is, if it is there and one.
    pub(super) fn constant(&mut self, position: usize) -> Result<Option<Rc<Constant>>> {
        match self.input_index(position) {
            Some(index) => self.lowering.constant(index),
            None => Ok(None),
        }
    }

    /// An input that must be constant; none where it is absent. `what` is it for messages.
    pub(super) fn optional_constant(
        &mut self,
        position: usize,
        what: &str,
    ) -> Result<Option<Rc<Constant>>> {
        if !self.has_input(position) {
            return Ok(None);
        }
        match self.constant(position)? {
            Some(constant) => Ok(Some(constant)),
            None => Err(Problem::unsupported(format!(
                "{what} computed by the model; it must be constant"
            ))),
        }
    }

    /// An input that must be there and constant.
    pub(super) fn required_constant(
        &mut self,
        position: usize,
        what: &str,
    ) -> Result<Rc<Constant>> {
        self.optional_constant(position, what)?
            .ok_or_else(|| Problem::malformed(format!("input {position}, {what}, is left out")))
    }

    /// Type, shape and quantization of a tensor of the network.
    pub(super) fn info(&self, id: TensorId) -> Result<&TensorInfo> {
        match self.lowering.builder.tensor(id) {
            Some(Tensor {
                value_type: Some(other),
                ..
            }) => Err(Problem::unsupported(format!(
                "an input that is {other}, where a tensor of numbers is needed"
            ))),
            Some(tensor) => Ok(&tensor.info),
            None => Err(Problem::malformed("a tensor that is not there is read")),
        }
    }

    /// Shape of a tensor of the network; dimensions may be unknown.
    pub(super) fn shape(&self, id: TensorId) -> Result<Shape> {
        Ok(self.info(id)?.shape)
    }

    /// Type and shape of an input, which does not become a tensor of the network by that.
    pub(super) fn input_info(&mut self, position: usize) -> Result<TensorInfo> {
        match self.constant(position)? {
            Some(constant) => constant.info(),
            None => {
                let id = self.input(position)?;
                self.info(id).cloned()
            }
        }
    }

    pub(super) fn input_shape(&mut self, position: usize) -> Result<Shape> {
        Ok(self.input_info(position)?.shape)
    }

    pub(super) fn input_type(&mut self, position: usize) -> Result<DataType> {
        Ok(self.input_info(position)?.data_type)
    }

    fn output_value(&self, position: usize) -> Result<&'m Value> {
        match self.node.outputs.get(position) {
            Some(Some(index)) => Ok(&self.lowering.graph.values[*index]),
            _ => Err(Problem::malformed(format!("output {position} is left out"))),
        }
    }

    /// The name of a layer that writes an output; of the first one that is there, if nobody needs
    /// this one.
    pub(super) fn layer_name(&self, position: usize) -> String {
        let outputs = &self.node.outputs;
        let index = match outputs.get(position) {
            Some(Some(index)) => Some(*index),
            _ => outputs.iter().flatten().next().copied(),
        };
        let name = index.map_or("", |index| self.lowering.graph.values[index].name.as_str());
        match (name, self.lowering.prefix.as_str()) {
            ("", _) => String::new(),
            (name, "") => name.to_owned(),
            (name, prefix) => format!("{prefix}{}", cut(name)),
        }
    }

    /// The name of a layer before the last one, with this at its end.
    pub(super) fn step_name(&self, what: impl std::fmt::Display) -> String {
        let name = self.layer_name(0);
        match cut(&name) {
            "" => String::new(),
            name => format!("{name}/{what}"),
        }
    }

    /// What the file says of an output's shape; nothing in bodies. Types follow from those of the
    /// inputs.
    pub(super) fn declaration(&self, position: usize) -> Result<OutputDeclaration> {
        let Some(Some(index)) = self.node.outputs.get(position) else {
            return Ok(OutputDeclaration::default());
        };
        if self.lowering.is_body {
            // Bodies are lowered for what they are given, and what is said of them may be of the
            // first iteration only.
            return Ok(OutputDeclaration::default());
        }
        let value = &self.lowering.graph.values[*index];
        let shape = match &value.value_type {
            Some(value_type) => {
                declared_shape(value_type).map_err(|problem| in_value(problem, value))?
            }
            None => None,
        };
        Ok(OutputDeclaration {
            shape,
            ..OutputDeclaration::default()
        })
    }

    /// Pays for bytes that the file does not have: many nodes may make constants of one that it has.
    pub(super) fn pay_for(&mut self, bytes: usize) -> Result {
        self.lowering.pay_for(bytes)
    }

    /// Makes an output what an input is.
    pub(super) fn alias(&mut self, output: usize, input: usize) -> Result {
        let state = match self.constant(input)? {
            Some(constant) => State::Constant(constant, None),
            None => State::Ready(self.input(input)?),
        };
        self.bind(output, state)
    }

    /// Makes an output a constant.
    pub(super) fn bind_constant(&mut self, position: usize, constant: Constant) -> Result {
        self.pay_for(size_of::<Constant>())?;
        self.bind(position, State::Constant(Rc::new(constant), None))
    }

    /// Makes an output a tensor of the network.
    pub(super) fn bind_tensor(&mut self, position: usize, id: TensorId) -> Result {
        self.bind(position, State::Ready(id))
    }

    pub(super) fn bind(&mut self, position: usize, state: State) -> Result {
        let value = self.output_value(position)?;
        let Some(Some(index)) = self.node.outputs.get(position) else {
            return Ok(());
        };
        match &mut self.lowering.states[*index] {
            pending @ State::Pending => {
                *pending = state;
                Ok(())
            }
            _ => Err(Problem::malformed(format!(
                "it writes \"{}\", which is written already",
                Short(&value.name)
            ))),
        }
    }

    /// Checks that every output that somebody needs has been written.
    pub(super) fn check_outputs_bound(&self) -> Result {
        for (position, index) in self.node.outputs.iter().enumerate() {
            if let Some(index) = index
                && self.has_output(position)
                && matches!(self.lowering.states[*index], State::Pending)
            {
                return Err(Problem::unsupported(format!(
                    "its output {position}, \"{}\"; convert the model without it",
                    Short(&self.lowering.graph.values[*index].name)
                )));
            }
        }
        Ok(())
    }
}

/// The axis, counted from the end if it is negative, as one from the start.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize> {
    let signed = i64::try_from(rank).unwrap_or(i64::MAX);
    let from_start = if axis < 0 {
        axis.saturating_add(signed)
    } else {
        axis
    };
    usize::try_from(from_start)
        .ok()
        .filter(|&axis| axis < rank)
        .ok_or_else(|| Problem::malformed(format!("axis {axis} of {rank} dimensions")))
}

/// Several axes, ascending; one that is named twice is an error.
pub(super) fn sorted_axes(axes: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut sorted = axes
        .iter()
        .map(|&index| axis(index, rank))
        .collect::<Result<Vec<_>>>()?;
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Problem::malformed(format!("axis {} twice", pair[0]))),
        None => Ok(sorted),
    }
}

/// A descriptor, which is none where its lists are longer than there can be dimensions.
pub(super) fn described<T>(descriptor: Option<T>) -> Result<T> {
    descriptor.ok_or_else(|| Problem::unsupported("more than 8 dimensions"))
}

/// An axis or a size as descriptors have it.
pub(super) fn small(value: usize, what: &str) -> Result<u32> {
    u32::try_from(value).map_err(|_| Problem::malformed(format!("{what} is {value}")))
}
