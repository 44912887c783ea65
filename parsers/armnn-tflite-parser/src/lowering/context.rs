//! What the lowering of one operator works with.

use armnn_backend_api::{DataType, LayerDescriptor, ReshapeDescriptor, Shape, TensorInfo};
use armnn_network::{OutputDeclaration, TensorId};
use bytes::Bytes;
use planus::ReadAsRoot;

use super::options::Options;
use super::problem::{Problem, Result};
use super::tensor_info::{declaration, tensor_info};
use super::{Lowering, Value, activation, check_storage, constant_data, cut, in_tensor};
use crate::error::Short;
use crate::model::{Operator, OperatorOptions, Tensor};
use crate::schema_generated::ActivationFunctionType;

/// An empty table, which answers every question for an option with its default: the root's offset,
/// a vtable without fields, and the table, which is the way back to the vtable alone.
const NO_OPTIONS: &[u8] = &[8, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0];

/// What the lowering of one operator works with: the operator, and the network that is being built.
pub(super) struct Context<'c, 'm, 'a> {
    pub(super) lowering: &'c mut Lowering<'m, 'a>,
    pub(super) operator: &'m Operator<'a>,
}

impl<'c, 'm, 'a> Context<'c, 'm, 'a> {
    pub(super) fn new(lowering: &'c mut Lowering<'m, 'a>, operator: &'m Operator<'a>) -> Self {
        Self { lowering, operator }
    }

    /// How many inputs there are, absent ones among them.
    pub(super) fn input_count(&self) -> usize {
        self.operator.inputs.len()
    }

    pub(super) fn output_count(&self) -> usize {
        self.operator.outputs.len()
    }

    /// An input that must be there. A constant becomes one of the network.
    pub(super) fn input(&mut self, position: usize) -> Result<TensorId> {
        self.optional_input(position)?
            .ok_or_else(|| Problem::malformed(format!("input {position} is left out")))
    }

    /// An input that may be absent.
    pub(super) fn optional_input(&mut self, position: usize) -> Result<Option<TensorId>> {
        match self.operator.inputs.get(position) {
            Some(index) => self.lowering.value(index).map(Some),
            None => Ok(None),
        }
    }

    /// All inputs, none of which may be absent.
    pub(super) fn inputs(&mut self) -> Result<Vec<TensorId>> {
        (0..self.input_count())
            .map(|position| self.input(position))
            .collect()
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

    /// The options, all at their defaults where the file has none.
    pub(super) fn options<T: Options<'a>>(&self) -> Result<T> {
        match self.operator.options {
            OperatorOptions::None => Ok(<T as ReadAsRoot<'a>>::read_as_root(NO_OPTIONS)?),
            OperatorOptions::First(options) => T::of(options)
                .ok_or_else(|| Problem::malformed(format!("its options are {}", options.name()))),
            OperatorOptions::Second(options) => Err(Problem::malformed(format!(
                "its options are {}",
                options.name()
            ))),
            OperatorOptions::Unknown { union, number } => Err(Problem::unsupported(format!(
                "options of a kind that is not known here ({union} {number})"
            ))),
        }
    }

    /// The elements of a constant of INT32 or INT64 that becomes part of a layer, `most` of them at
    /// most; `what` is it for messages. None where the input is absent.
    pub(super) fn optional_integers(
        &self,
        position: usize,
        most: usize,
        what: &str,
    ) -> Result<Option<Vec<i64>>> {
        let Some(index) = self.operator.inputs.get(position) else {
            return Ok(None);
        };
        let tensor = &self.lowering.graph.tensors[index];
        self.constant(index, what)
            .and_then(|(info, data)| integers(&info, &data, most, what))
            .map(Some)
            .map_err(|problem| in_tensor(problem, index, tensor))
    }

    /// The same for an input that must be there.
    pub(super) fn integers(&self, position: usize, most: usize, what: &str) -> Result<Vec<i64>> {
        self.optional_integers(position, most, what)?
            .ok_or_else(|| Problem::malformed(format!("input {position}, {what}, is left out")))
    }

    /// A constant of one INT32 or INT64.
    pub(super) fn integer(&self, position: usize, what: &str) -> Result<i64> {
        match self.integers(position, 1, what)?[..] {
            [value] => Ok(value),
            _ => Err(Problem::malformed(format!("{what} is not there"))),
        }
    }

    /// A constant of one number, as the real number that it stands for.
    pub(super) fn number(&self, position: usize, what: &str) -> Result<f64> {
        let index =
            self.operator.inputs.get(position).ok_or_else(|| {
                Problem::malformed(format!("input {position}, {what}, is left out"))
            })?;
        let tensor = &self.lowering.graph.tensors[index];
        self.constant(index, what)
            .and_then(|(info, data)| real(&info, &data, what))
            .map_err(|problem| in_tensor(problem, index, tensor))
    }

    /// The elements of a tensor that must be constant.
    fn constant(&self, index: usize, what: &str) -> Result<(TensorInfo, Bytes)> {
        let tensor = &self.lowering.graph.tensors[index];
        let computed = match self.lowering.values[index] {
            Value::Ready(id) => {
                let tensor = self.lowering.builder.tensor(id);
                tensor.is_none_or(|tensor| tensor.constant().is_none())
            }
            Value::Refused => tensor.data.is_none(),
            Value::Pending => false,
        };
        if computed {
            return Err(Problem::unsupported(format!(
                "{what} computed by the model; it must be constant"
            )));
        }
        check_storage(tensor)?;
        let scales = tensor.quantization.as_ref().map_or(0, |q| q.scales.len());
        if scales > 1 {
            let problem = format!("{what} with {scales} scales; it must have one or none");
            return Err(Problem::unsupported(problem));
        }
        let info = tensor_info(tensor)?;
        let data = constant_data(tensor, &info)?;
        Ok((info, data))
    }

    /// The tensor of the subgraph that the operator writes.
    pub(super) fn output_tensor(&self, position: usize) -> Result<&'m Tensor<'a>> {
        let index = self.operator.outputs.get(position);
        index
            .map(|index| &self.lowering.graph.tensors[index])
            .ok_or_else(|| Problem::malformed(format!("output {position} is left out")))
    }

    /// What the file says of an output.
    pub(super) fn declaration(&self, position: usize) -> Result<OutputDeclaration> {
        let tensor = self.output_tensor(position)?;
        check_storage(tensor)
            .and_then(|()| declaration(tensor))
            .map_err(|problem| {
                let index = self.operator.outputs.get(position).unwrap_or_default();
                in_tensor(problem, index, tensor)
            })
    }

    /// Adds a layer that is not the operator's last; it is named after output `position` and its
    /// own type.
    pub(super) fn step(
        &mut self,
        position: usize,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        declaration: OutputDeclaration,
    ) -> Result<TensorId> {
        let descriptor = descriptor.into();
        let name = self.step_name(position, &descriptor)?;
        let outputs = [OutputDeclaration {
            name: None,
            ..declaration
        }];
        let ids = self
            .lowering
            .builder
            .add_layer(&name, descriptor, inputs, &outputs)?;
        single(&ids)
    }

    /// Adds a layer with several outputs that is not the operator's last.
    pub(super) fn steps(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        declarations: &[OutputDeclaration],
    ) -> Result<Vec<TensorId>> {
        let descriptor = descriptor.into();
        let name = self.step_name(0, &descriptor)?;
        let builder = &mut self.lowering.builder;
        Ok(builder.add_layer(&name, descriptor, inputs, declarations)?)
    }

    /// Adds the layer that writes the operator's only output.
    pub(super) fn emit(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
    ) -> Result {
        self.emit_output(0, descriptor, inputs)
    }

    /// Adds the layer that writes output `position`.
    pub(super) fn emit_output(
        &mut self,
        position: usize,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
    ) -> Result {
        let declaration = self.declaration(position)?;
        self.emit_declared(position, descriptor, inputs, declaration)
    }

    /// The same, with more known of the output than the file says.
    pub(super) fn emit_declared(
        &mut self,
        position: usize,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        declaration: OutputDeclaration,
    ) -> Result {
        let name = self.output_tensor(position)?.name;
        let ids = self
            .lowering
            .builder
            .add_layer(name, descriptor, inputs, &[declaration])?;
        self.bind(position, single(&ids)?)
    }

    /// Adds one layer that writes all outputs.
    pub(super) fn emit_all(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        declarations: &[OutputDeclaration],
    ) -> Result {
        let name = match self.output_count() {
            0 => "",
            _ => self.output_tensor(0)?.name,
        };
        let ids = self
            .lowering
            .builder
            .add_layer(name, descriptor, inputs, declarations)?;
        for (position, &id) in ids.iter().enumerate() {
            self.bind(position, id)?;
        }
        Ok(())
    }

    /// Adds the layer that writes the only output, and a layer for the fused activation.
    pub(super) fn emit_activated(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        function: ActivationFunctionType,
    ) -> Result {
        let declaration = self.declaration(0)?;
        match activation::fused(function, declaration.data_type)? {
            None => self.emit(descriptor, inputs),
            Some(activation) => {
                let id = self.step(0, descriptor, inputs, declaration)?;
                self.emit(activation, &[Some(id)])
            }
        }
    }

    /// Adds the Reshape to `target` that writes output `position`. Dimensions below 0 are unknown.
    pub(super) fn emit_reshape(
        &mut self,
        position: usize,
        input: TensorId,
        target: &[i64],
    ) -> Result {
        let mut declaration = self.moved(position, input)?;
        declaration.shape = Some(reshape_target(target, declaration.shape)?);
        self.emit_declared(
            position,
            ReshapeDescriptor::new(),
            &[Some(input)],
            declaration,
        )
    }

    /// A Reshape to `target` that is not the operator's last layer.
    pub(super) fn reshape_step(
        &mut self,
        position: usize,
        input: TensorId,
        target: &[i64],
    ) -> Result<TensorId> {
        let declaration = OutputDeclaration {
            shape: Some(reshape_target(target, None)?),
            ..OutputDeclaration::default()
        };
        self.step(
            position,
            ReshapeDescriptor::new(),
            &[Some(input)],
            declaration,
        )
    }

    /// What the file says of output `position`, whose elements are those of `input`.
    ///
    /// TFLite copies the numbers whatever the scales are; here they stay what they stand for. Both
    /// are the same only where the scales are.
    pub(super) fn moved(&self, position: usize, input: TensorId) -> Result<OutputDeclaration> {
        let declaration = self.declaration(position)?;
        self.check_scale_kept(input, &declaration)?;
        Ok(declaration)
    }

    /// Checks that elements of `input` can be moved into what is declared.
    pub(super) fn check_scale_kept(&self, input: TensorId, into: &OutputDeclaration) -> Result {
        let from = &self.info(input)?.quantization;
        let kept = match (&into.quantization, from.scales().len()) {
            (_, 0) | (None, 1) => true,
            // Several scales stay in their order; the axis may be another one.
            (Some(to), _) => from.scales() == to.scales() && from.zero_points() == to.zero_points(),
            (None, _) => false,
        };
        match kept {
            true => Ok(()),
            false => Err(Problem::unsupported(
                "elements moved from one scale or zero point into another; convert the model so \
                 that input and output are quantized alike",
            )),
        }
    }

    fn step_name(&self, position: usize, descriptor: &LayerDescriptor) -> Result<String> {
        Ok(match cut(self.output_tensor(position)?.name) {
            "" => String::new(),
            name => format!("{name}/{}", descriptor.layer_type()),
        })
    }

    /// Checks that every output has been written.
    pub(super) fn check_outputs_bound(&self) -> Result {
        let pending = |index: usize| self.lowering.values[index] == Value::Pending;
        let left = self
            .operator
            .outputs
            .iter()
            .position(|index| index.is_none_or(pending));
        match left {
            None => Ok(()),
            Some(position) => Err(Problem::malformed(format!(
                "it has {} outputs, but writes {position}",
                self.output_count()
            ))),
        }
    }

    /// Makes a tensor of the network the one that output `position` is.
    pub(super) fn bind(&mut self, position: usize, id: TensorId) -> Result {
        let tensor = self.output_tensor(position)?;
        let index = self.operator.outputs.get(position);
        let value = index.and_then(|index| self.lowering.values.get_mut(index));
        match value {
            Some(value) if *value == Value::Pending && tensor.data.is_none() => {
                *value = Value::Ready(id);
                Ok(())
            }
            _ => Err(Problem::malformed(format!(
                "it writes \"{}\", which is an input, a constant, or written already",
                Short(tensor.name)
            ))),
        }
    }
}

/// The axis, counted from the end if it is negative, as one from the start.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize> {
    let signed = i64::try_from(rank).unwrap_or(i64::MAX);
    let from_start = if axis < 0 { axis + signed } else { axis };
    usize::try_from(from_start)
        .ok()
        .filter(|&axis| axis < rank)
        .ok_or_else(|| Problem::malformed(format!("axis {axis} of {rank} dimensions")))
}

/// An option that must be above 0.
pub(super) fn positive(value: i32, what: &str) -> Result<u32> {
    match u32::try_from(value) {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(Problem::malformed(format!("{what} is {value}"))),
    }
}

/// A descriptor, which is none where its lists are longer than there can be dimensions.
pub(super) fn described<T>(descriptor: Option<T>) -> Result<T> {
    descriptor.ok_or_else(|| Problem::unsupported("more than 8 dimensions"))
}

fn single(ids: &[TensorId]) -> Result<TensorId> {
    match ids {
        [id] => Ok(*id),
        _ => Err(Problem::malformed(format!("it has {} outputs", ids.len()))),
    }
}

/// The shape of an output with what the file says of it.
pub(super) fn agreed(target: &[i64], declared: Option<Shape>) -> Result<Shape> {
    let target = described(Shape::new(target).ok())?;
    let mut dims = target.dims().to_vec();
    if let Some(declared) = declared {
        let contradiction = || {
            Problem::malformed(format!(
                "the output becomes {target}, but the file says {declared}"
            ))
        };
        if declared.rank() != target.rank() {
            return Err(contradiction());
        }
        for (dim, &declared) in dims.iter_mut().zip(declared.dims()) {
            match (*dim < 0, declared < 0) {
                (true, false) => *dim = declared,
                (false, false) if *dim != declared => return Err(contradiction()),
                _ => {}
            }
        }
    }
    described(Shape::new(&dims).ok())
}

/// The target of a Reshape with what the file says of it.
fn reshape_target(target: &[i64], declared: Option<Shape>) -> Result<Shape> {
    let target = agreed(target, declared)?;
    if target.dims().iter().filter(|&&dim| dim < 0).count() > 1 {
        return Err(Problem::unsupported(format!(
            "a change of shape to {target}, where no more than one size may be unknown; give the \
             model fixed input shapes"
        )));
    }
    Ok(target)
}

fn integers(info: &TensorInfo, data: &[u8], most: usize, what: &str) -> Result<Vec<i64>> {
    let size = match info.data_type {
        DataType::Signed32 => 4,
        DataType::Signed64 => 8,
        other => {
            return Err(Problem::unsupported(format!(
                "{what} of type {other}; it must be Signed32 or Signed64"
            )));
        }
    };
    let count = data.len() / size;
    if count > most {
        return Err(Problem::malformed(format!(
            "{what} has {count} entries, where there can be {most} at most"
        )));
    }
    Ok(match size {
        4 => {
            let numbers = data.as_chunks().0.iter();
            numbers
                .map(|&bytes| i32::from_le_bytes(bytes).into())
                .collect()
        }
        _ => {
            let numbers = data.as_chunks().0.iter();
            numbers.map(|&bytes| i64::from_le_bytes(bytes)).collect()
        }
    })
}

fn real(info: &TensorInfo, data: &[u8], what: &str) -> Result<f64> {
    let number = match (info.data_type, data) {
        (DataType::Float32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).into(),
        (DataType::Float64, &[a, b, c, d, e, f, g, h]) => {
            f64::from_le_bytes([a, b, c, d, e, f, g, h])
        }
        (DataType::Signed32, &[a, b, c, d]) => i32::from_le_bytes([a, b, c, d]).into(),
        (DataType::Signed64, &[a, b, c, d, e, f, g, h]) => {
            let integer = i64::from_le_bytes([a, b, c, d, e, f, g, h]);
            if integer.unsigned_abs() > 1 << f64::MANTISSA_DIGITS {
                return Err(Problem::unsupported(format!("{what} beyond 2^53")));
            }
            integer as f64
        }
        (DataType::Int8 | DataType::QAsymmS8, &[a]) => i8::from_le_bytes([a]).into(),
        (DataType::UInt8 | DataType::QAsymmU8, &[a]) => a.into(),
        (DataType::Int16 | DataType::QSymmS16, &[a, b]) => i16::from_le_bytes([a, b]).into(),
        _ => {
            let problem = format!("{what} of {info}; it must be one number");
            return Err(Problem::unsupported(problem));
        }
    };
    let quantization = &info.quantization;
    Ok(match (quantization.scales(), quantization.zero_points()) {
        (&[scale], &[zero]) => f64::from(scale) * (number - f64::from(zero)),
        _ => number,
    })
}
