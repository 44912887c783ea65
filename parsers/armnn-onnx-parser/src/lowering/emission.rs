//! How the lowering of a node adds layers.
//!
//! A layer that writes the node's first output has the name of that value. Those before it are
//! steps: they have its name with their own type at the end. What is written in steps alone says
//! [`last`](Context::last) before the last one.

use armnn_backend_api::{
    BinaryOperation, CastDescriptor, DataType, ElementwiseBinaryDescriptor,
    ElementwiseUnaryDescriptor, LayerDescriptor, ReduceDescriptor, ReduceOperation, Shape,
    TransposeDescriptor, UnaryOperation,
};
use armnn_network::{
    LayerProblem, NetworkBuilder, NetworkError, OutputDeclaration, ParameterRule, RuntimeOperation,
    TensorId,
};

use super::State;
use super::constant::Constant;
use super::context::{Context, described, small};
use super::problem::{Problem, Result};
use crate::error::Short;

impl Context<'_, '_> {
    /// The next step is the one that writes the node's first output.
    pub(super) fn last(&mut self) -> &mut Self {
        self.is_last = true;
        self
    }

    /// The name and the declaration of the next step.
    fn next_step(
        &mut self,
        what: impl std::fmt::Display,
        given: OutputDeclaration,
    ) -> Result<(String, OutputDeclaration)> {
        if !std::mem::take(&mut self.is_last) {
            return Ok((self.step_name(what), given));
        }
        let declared = self.declaration(0)?;
        let declaration = OutputDeclaration {
            shape: given.shape.or(declared.shape),
            ..given
        };
        Ok((self.layer_name(0), declaration))
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

    /// Adds a single number of the type of a tensor.
    pub(super) fn number_like(&mut self, like: TensorId, value: f64) -> Result<TensorId> {
        let data_type = self.info(like)?.data_type;
        self.number(data_type, &[], &[value])
    }

    /// Adds a list of integers.
    pub(super) fn integers(&mut self, values: &[i64]) -> Result<TensorId> {
        let count =
            i64::try_from(values.len()).map_err(|_| Problem::malformed("a list is too long"))?;
        self.add_constant(&Constant::integers(DataType::Signed64, &[count], values))
    }

    /// Adds a constant that the file does not have.
    pub(super) fn add_constant(&mut self, constant: &Constant) -> Result<TensorId> {
        let name = self.step_name("Constant");
        self.lowering.add_constant(&name, constant)
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
        let (name, declaration) = self.next_step(descriptor.layer_type(), declaration)?;
        let inputs: Vec<Option<TensorId>> = inputs.iter().copied().map(Some).collect();
        let add = |builder: &mut NetworkBuilder, declarations: &[OutputDeclaration]| {
            builder.add_layer(&name, descriptor.clone(), &inputs, declarations)
        };
        single(&self.add_declared(vec![declaration], add)?)
    }

    /// The same, of a layer with several outputs, or with inputs that may be absent.
    pub(super) fn step_all(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        declarations: &[OutputDeclaration],
    ) -> Result<Vec<TensorId>> {
        let descriptor = descriptor.into();
        let (name, _) = self.next_step(descriptor.layer_type(), OutputDeclaration::default())?;
        let builder = &mut self.lowering.builder;
        Ok(builder.add_layer(&name, descriptor, inputs, declarations)?)
    }

    /// Adds a layer. Files say shapes of outputs that are wrong, and other engines do not mind: where
    /// what is declared contradicts what follows from the inputs, shapes are not declared.
    fn add_declared<T>(
        &mut self,
        mut declarations: Vec<OutputDeclaration>,
        add: impl Fn(&mut NetworkBuilder, &[OutputDeclaration]) -> Result<T, NetworkError>,
    ) -> Result<T> {
        let builder = &mut self.lowering.builder;
        match add(builder, &declarations) {
            Err(NetworkError::Layer { problem, layer, .. })
                if matches!(
                    *problem,
                    // Of a Reshape, the number of elements tells.
                    LayerProblem::Declaration { .. } | LayerProblem::Elements { .. }
                ) && declarations.iter().any(|said| said.shape.is_some()) =>
            {
                log::warn!(
                    "layer '{}': {problem}; the declaration in the file is not used",
                    Short(&layer)
                );
                for declaration in &mut declarations {
                    declaration.shape = None;
                }
                Ok(add(builder, &declarations)?)
            }
            other => Ok(other?),
        }
    }

    /// A layer whose descriptor follows from parameters.
    pub(super) fn step_deferred(
        &mut self,
        rule: ParameterRule,
        inputs: &[TensorId],
        parameters: &[Option<TensorId>],
    ) -> Result<TensorId> {
        let (name, declaration) =
            self.next_step(rule.layer_type(), OutputDeclaration::default())?;
        let inputs: Vec<Option<TensorId>> = inputs.iter().copied().map(Some).collect();
        single(
            &self.add_declared(vec![declaration], |builder, declarations| {
                builder.add_deferred_layer(&name, rule.clone(), &inputs, parameters, declarations)
            })?,
        )
    }

    /// An operation of the runtime, which has one output.
    pub(super) fn step_runtime(
        &mut self,
        operation: RuntimeOperation,
        inputs: &[Option<TensorId>],
    ) -> Result<TensorId> {
        let (name, _) = self.next_step(operation.name(), OutputDeclaration::default())?;
        let builder = &mut self.lowering.builder;
        single(&builder.add_runtime_layer(&name, operation, inputs)?)
    }

    /// Part of the shape of a tensor as a list.
    pub(super) fn shape_step(
        &mut self,
        input: TensorId,
        start: usize,
        end: usize,
    ) -> Result<TensorId> {
        let shape = self.shape(input)?;
        let dims = shape.dims().get(start..end).unwrap_or_default();
        if dims.iter().all(|&dim| dim >= 0) {
            return self.integers(dims);
        }
        let (name, _) = self.next_step("Shape", OutputDeclaration::default())?;
        let builder = &mut self.lowering.builder;
        Ok(builder.add_shape_layer(input, start, end, DataType::Signed64, &name)?)
    }

    /// A Reshape: each dimension of the output is the product of some of the input, 1 for none. Of a
    /// constant, a constant; where nothing changes, nothing.
    pub(super) fn merge_step(
        &mut self,
        input: TensorId,
        groups: &[Vec<usize>],
    ) -> Result<TensorId> {
        let shape = self.shape(input)?;
        let mut same = groups.iter().enumerate();
        let is_same = groups.len() == shape.rank() && same.all(|(axis, group)| group[..] == [axis]);
        if is_same && !self.is_last {
            return Ok(input);
        }
        if !self.is_last
            && let Some(id) = self.merged_constant(input, groups)?
        {
            return Ok(id);
        }
        let groups = groups.to_vec();
        self.step_deferred(ParameterRule::MergeDimensions { groups }, &[input], &[])
    }

    /// A constant of the network in another shape, if the tensor is one.
    fn merged_constant(
        &mut self,
        input: TensorId,
        groups: &[Vec<usize>],
    ) -> Result<Option<TensorId>> {
        let Some(tensor) = self.lowering.builder.tensor(input) else {
            return Ok(None);
        };
        let info = &tensor.info;
        let Some(bytes) = tensor.constant().filter(|_| info.quantization.is_none()) else {
            return Ok(None);
        };
        let size = |group: &Vec<usize>| {
            let mut sizes = group.iter().map(|&axis| info.shape.dims().get(axis));
            sizes.try_fold(1i64, |product, size| product.checked_mul(*size?))
        };
        let dims: Option<Vec<i64>> = groups.iter().map(size).collect();
        let Some(dims) = dims else { return Ok(None) };
        let constant = Constant {
            data_type: info.data_type,
            dims,
            bytes: bytes.clone(),
            quantization: info.quantization.clone(),
        };
        if constant.shape()?.num_elements() != info.shape.num_elements() {
            return Ok(None);
        }
        self.add_constant(&constant).map(Some)
    }

    /// A Reshape to known dimensions.
    pub(super) fn reshape_step(&mut self, input: TensorId, dims: &[i64]) -> Result<TensorId> {
        let target = self.integers(dims)?;
        let rule = ParameterRule::Reshape { allow_zero: true };
        self.step_deferred(rule, &[input], &[Some(target)])
    }

    /// Elements from a start to an end, along a dimension.
    pub(super) fn sliced(
        &mut self,
        x: TensorId,
        along: usize,
        start: i64,
        end: i64,
    ) -> Result<TensorId> {
        let along = i64::try_from(along).map_err(|_| Problem::malformed("an axis"))?;
        let (start, end) = (self.integers(&[start])?, self.integers(&[end])?);
        let axes = self.integers(&[along])?;
        let parameters = [Some(start), Some(end), Some(axes)];
        self.step_deferred(ParameterRule::Slice, &[x], &parameters)
    }

    pub(super) fn unary(&mut self, operation: UnaryOperation, x: TensorId) -> Result<TensorId> {
        self.step(ElementwiseUnaryDescriptor::new(operation), &[x])
    }

    pub(super) fn binary(
        &mut self,
        operation: BinaryOperation,
        x: TensorId,
        y: TensorId,
    ) -> Result<TensorId> {
        self.step(ElementwiseBinaryDescriptor::new(operation), &[x, y])
    }

    /// A Cast, where the type is another.
    pub(super) fn cast(&mut self, x: TensorId, to: DataType) -> Result<TensorId> {
        if self.info(x)?.data_type == to && !self.is_last {
            return Ok(x);
        }
        self.step_declared(CastDescriptor::new(), &[x], OutputDeclaration::of_type(to))
    }

    pub(super) fn transpose(&mut self, x: TensorId, permutation: &[usize]) -> Result<TensorId> {
        let permutation = permutation
            .iter()
            .map(|&axis| small(axis, "an axis"))
            .collect::<Result<Vec<_>>>()?;
        self.step(described(TransposeDescriptor::new(&permutation))?, &[x])
    }

    pub(super) fn reduce(
        &mut self,
        operation: ReduceOperation,
        x: TensorId,
        axes: &[usize],
        keep_dims: bool,
    ) -> Result<TensorId> {
        let axes = axes
            .iter()
            .map(|&axis| small(axis, "an axis"))
            .collect::<Result<Vec<_>>>()?;
        let descriptor = described(ReduceDescriptor::new(operation, &axes, keep_dims))?;
        self.step(descriptor, &[x])
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
        let name = self.layer_name(0);
        let descriptor = descriptor.into();
        let ids = self.add_declared(declarations.to_vec(), |builder, declarations| {
            builder.add_layer(&name, descriptor.clone(), inputs, declarations)
        })?;
        self.bind_all(&ids)
    }

    /// Adds the layer that writes the first output, whose descriptor follows from parameters.
    pub(super) fn emit_deferred(
        &mut self,
        rule: ParameterRule,
        inputs: &[TensorId],
        parameters: &[Option<TensorId>],
    ) -> Result {
        let id = self.last().step_deferred(rule, inputs, parameters)?;
        self.bind_tensor(0, id)
    }

    /// The same, of a layer that writes all outputs.
    pub(super) fn emit_deferred_all(
        &mut self,
        rule: ParameterRule,
        inputs: &[Option<TensorId>],
        parameters: &[Option<TensorId>],
        declarations: &[OutputDeclaration],
    ) -> Result {
        let name = self.layer_name(0);
        let ids = self.add_declared(declarations.to_vec(), |builder, declarations| {
            builder.add_deferred_layer(&name, rule.clone(), inputs, parameters, declarations)
        })?;
        self.bind_all(&ids)
    }

    /// Makes the outputs that somebody needs these tensors.
    pub(super) fn bind_all(&mut self, ids: &[TensorId]) -> Result {
        for (position, &id) in ids.iter().enumerate() {
            if self.has_output(position) {
                self.bind(position, State::Ready(id))?;
            }
        }
        Ok(())
    }

    /// An input in another shape: each of its dimensions is the product of some of the input.
    pub(super) fn merged_input(
        &mut self,
        position: usize,
        groups: &[Vec<usize>],
    ) -> Result<TensorId> {
        let input = self.input(position)?;
        self.merge_step(input, groups)
    }

    /// An input with dimensions of size 1 around its own.
    pub(super) fn padded_input(
        &mut self,
        position: usize,
        before: usize,
        behind: usize,
    ) -> Result<TensorId> {
        let rank = self.input_shape(position)?.rank();
        let none = |count| std::iter::repeat_n(Vec::new(), count);
        let groups: Vec<Vec<usize>> = none(before)
            .chain((0..rank).map(|axis| vec![axis]))
            .chain(none(behind))
            .collect();
        if groups.len() > Shape::MAX_RANK {
            return Err(Problem::unsupported(format!("{} dimensions", groups.len())));
        }
        self.merged_input(position, &groups)
    }
}

pub(super) fn single(ids: &[TensorId]) -> Result<TensorId> {
    match ids {
        [id] => Ok(*id),
        _ => Err(Problem::malformed(format!("it has {} outputs", ids.len()))),
    }
}
