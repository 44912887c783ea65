//! What the lowering of one node works with.

use std::rc::Rc;

use armnn_backend_api::{DataType, LayerDescriptor, ReshapeDescriptor, Shape, TensorInfo};
use armnn_network::{OutputDeclaration, TensorId};

use super::attributes::Attributes;
use super::constant::{Constant, Elements};
use super::problem::{Problem, Result};
use super::tensor_info::{declared_shape, shape};
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
}

impl<'c, 'm> Context<'c, 'm> {
    pub(super) fn new(lowering: &'c mut Lowering<'m>, node: &'m Node, version: i64) -> Self {
        Self {
            lowering,
            node,
            attributes: Attributes::new(node),
            version,
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

    fn input_index(&self, position: usize) -> Option<usize> {
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

    /// The elements of an integer input that becomes part of a layer, `most` at most; none where it
    /// is absent.
    pub(super) fn optional_integers(
        &mut self,
        position: usize,
        most: usize,
        what: &str,
    ) -> Result<Option<Vec<i64>>> {
        let constant = self.optional_constant(position, what)?;
        constant
            .map(|constant| constant.known_integers(most, what))
            .transpose()
    }

    /// Type, shape and quantization of a tensor of the network.
    pub(super) fn info(&self, id: TensorId) -> Result<&TensorInfo> {
        match self.lowering.builder.tensor(id) {
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
    fn output_name(&self, position: usize) -> &'m str {
        let outputs = &self.node.outputs;
        let index = match outputs.get(position) {
            Some(Some(index)) => Some(*index),
            _ => outputs.iter().flatten().next().copied(),
        };
        index.map_or("", |index| &self.lowering.graph.values[index].name)
    }

    /// What the file says of an output's shape. Types follow from those of the inputs.
    pub(super) fn declaration(&self, position: usize) -> Result<OutputDeclaration> {
        let Some(Some(index)) = self.node.outputs.get(position) else {
            return Ok(OutputDeclaration::default());
        };
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
        let left = self.lowering.generation_budget.checked_sub(bytes);
        self.lowering.generation_budget = left.ok_or_else(|| {
            Problem::unsupported(format!(
                "a constant of {bytes} bytes; those that a model makes may take {} MiB in all",
                super::MOST_GENERATED >> 20
            ))
        })?;
        Ok(())
    }

    /// Adds a constant that the file does not have; of one element where `dims` is empty.
    pub(super) fn number(
        &mut self,
        data_type: DataType,
        dims: &[i64],
        values: &[f64],
    ) -> Result<TensorId> {
        let constant = Constant::reals(data_type, dims, values)?;
        self.add_constant(&constant)
    }

    /// Adds a constant that the file does not have.
    pub(super) fn add_constant(&mut self, constant: &Constant) -> Result<TensorId> {
        let name = match cut(self.output_name(0)) {
            "" => String::new(),
            name => format!("{name}/Constant"),
        };
        self.lowering.add_constant(&name, constant)
    }

    /// An input with another shape: a constant is one with that shape, for others there is a
    /// Reshape. Dimensions below 0 are unknown.
    pub(super) fn reshaped_input(&mut self, position: usize, dims: &[i64]) -> Result<TensorId> {
        if self.input_shape(position)?.dims() == dims {
            return self.input(position);
        }
        match self.constant(position)? {
            Some(constant) => self.add_constant(&constant.reshaped(dims)),
            None => {
                let input = self.input(position)?;
                self.reshape_step(input, dims)
            }
        }
    }

    /// Adds a layer that is not the node's last; it is named after the first output and its own
    /// type.
    pub(super) fn step(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[TensorId],
    ) -> Result<TensorId> {
        self.step_declared(descriptor, inputs, OutputDeclaration::default())
    }

    /// The same, with something said of the output.
    pub(super) fn step_declared(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[TensorId],
        declaration: OutputDeclaration,
    ) -> Result<TensorId> {
        let descriptor = descriptor.into();
        let name = match cut(self.output_name(0)) {
            "" => String::new(),
            name => format!("{name}/{}", descriptor.layer_type()),
        };
        let inputs: Vec<Option<TensorId>> = inputs.iter().copied().map(Some).collect();
        let builder = &mut self.lowering.builder;
        single(&builder.add_layer(&name, descriptor, &inputs, &[declaration])?)
    }

    /// A Reshape that is not the node's last layer. Dimensions below 0 are unknown.
    pub(super) fn reshape_step(&mut self, input: TensorId, dims: &[i64]) -> Result<TensorId> {
        let declaration = OutputDeclaration::of_shape(reshape_target(dims, None)?);
        self.step_declared(ReshapeDescriptor::new(), &[input], declaration)
    }

    /// Adds the layer that writes the first output.
    pub(super) fn emit(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[TensorId],
    ) -> Result {
        let declaration = self.declaration(0)?;
        self.emit_declared(descriptor, inputs, declaration)
    }

    /// The same, with more known of the output than the file says.
    pub(super) fn emit_declared(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[TensorId],
        declaration: OutputDeclaration,
    ) -> Result {
        let inputs: Vec<Option<TensorId>> = inputs.iter().copied().map(Some).collect();
        self.emit_all(descriptor, &inputs, &[declaration])
    }

    /// Adds one layer that writes all outputs.
    pub(super) fn emit_all(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        declarations: &[OutputDeclaration],
    ) -> Result {
        let name = self.output_name(0);
        let builder = &mut self.lowering.builder;
        let ids = builder.add_layer(name, descriptor, inputs, declarations)?;
        for (position, &id) in ids.iter().enumerate() {
            if self.has_output(position) {
                self.bind(position, State::Ready(id))?;
            }
        }
        Ok(())
    }

    /// Adds the Reshape to `dims` that writes the first output. Dimensions below 0 are unknown. Of a
    /// constant, makes one with that shape.
    pub(super) fn emit_reshape(&mut self, position: usize, dims: &[i64]) -> Result {
        if let Some(constant) = self.constant(position)?
            && let Some(dims) = complete(dims, constant.count())
            && shape(&dims).is_ok()
        {
            return self.bind_constant(0, constant.reshaped(&dims));
        }
        let input = self.input(position)?;
        let mut declaration = self.declaration(0)?;
        declaration.shape = Some(reshape_target(dims, declaration.shape)?);
        self.emit_declared(ReshapeDescriptor::new(), &[input], declaration)
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
        if let Elements::Integers(values) = &constant.elements {
            self.pay_for(size_of_val(&values[..]))?;
        }
        self.bind(position, State::Constant(Rc::new(constant), None))
    }

    fn bind(&mut self, position: usize, state: State) -> Result {
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

fn single(ids: &[TensorId]) -> Result<TensorId> {
    match ids {
        [id] => Ok(*id),
        _ => Err(Problem::malformed(format!("it has {} outputs", ids.len()))),
    }
}

/// The dimensions with the single unknown one computed; none where that is not possible.
fn complete(dims: &[i64], count: usize) -> Option<Vec<i64>> {
    let count = i64::try_from(count).ok()?;
    let known = dims
        .iter()
        .filter(|dim| **dim >= 0)
        .try_fold(1i64, |n, &dim| n.checked_mul(dim))?;
    let mut complete = dims.to_vec();
    let mut unknown = complete.iter_mut().filter(|dim| **dim < 0);
    match (unknown.next(), unknown.next()) {
        (None, _) => (known == count).then_some(complete),
        (Some(dim), None) if known > 0 && count % known == 0 => {
            *dim = count / known;
            Some(complete)
        }
        _ => None,
    }
}

/// The target of a Reshape with what the file says of it.
fn reshape_target(dims: &[i64], declared: Option<Shape>) -> Result<Shape> {
    let mut dims = shape(dims)?.dims().to_vec();
    if let Some(declared) = declared.filter(|declared| declared.rank() == dims.len()) {
        for (dim, &declared) in dims.iter_mut().zip(declared.dims()) {
            if *dim < 0 {
                *dim = declared;
            }
        }
    }
    if dims.iter().filter(|&&dim| dim < 0).count() > 1 {
        return Err(Problem::unsupported(format!(
            "a change of shape to {}, where no more than one size may be unknown; give the model \
             fixed input shapes",
            shape(&dims)?
        )));
    }
    shape(&dims)
}
