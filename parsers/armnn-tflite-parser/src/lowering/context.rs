//! What the lowering of one operator works with.

use armnn_backend_api::{Quantization, Shape, TensorInfo};
use armnn_network::{OutputDeclaration, TensorId};
use planus::ReadAsRoot;

use super::cut;
use super::options::Options;
use super::problem::{Problem, Result};
use super::subgraph::{Lowering, Value, check_storage, in_tensor};
use super::tensor_info::{declaration, has_shape, quantization, tensor_info};
use crate::error::Short;
use crate::model::{Operator, OperatorOptions, Tensor};

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
        let (found, name) = match self.operator.options {
            OperatorOptions::None => return Ok(<T as ReadAsRoot<'a>>::read_as_root(NO_OPTIONS)?),
            OperatorOptions::First(options) => (T::of(options), options.name()),
            OperatorOptions::Second(options) => (T::of_second(options), options.name()),
            OperatorOptions::Unknown { union, number } => {
                return Err(Problem::unsupported(format!(
                    "options of a kind that is not known here ({union} {number})"
                )));
            }
        };
        found.ok_or_else(|| Problem::malformed(format!("its options are {name}")))
    }

    /// The tensor of the subgraph that the operator writes.
    pub(super) fn output_tensor(&self, position: usize) -> Result<&'m Tensor<'a>> {
        let index = self.operator.outputs.get(position);
        index
            .map(|index| &self.lowering.graph.tensors[index])
            .ok_or_else(|| Problem::malformed(format!("output {position} is left out")))
    }

    /// What the file says of an output, but for its shape: that follows from those of the inputs,
    /// which may be others than when the file was written.
    pub(super) fn declaration(&self, position: usize) -> Result<OutputDeclaration> {
        let tensor = self.output_tensor(position)?;
        check_storage(tensor)
            .and_then(|()| declaration(tensor))
            .map_err(|problem| {
                let index = self.operator.outputs.get(position).unwrap_or_default();
                in_tensor(problem, index, tensor)
            })
    }

    /// What the file says of an output, but for its shape and its type, which is that of a tensor.
    pub(super) fn declaration_like(
        &self,
        position: usize,
        id: TensorId,
    ) -> Result<OutputDeclaration> {
        let data_type = self.info(id)?.data_type;
        let declared = self.declaration(position);
        match &declared {
            Ok(declaration) if declaration.data_type != Some(data_type) => {}
            _ => return declared,
        }
        let tensor = self.output_tensor(position)?;
        let quantization = quantization(tensor)?;
        Ok(OutputDeclaration {
            name: (!tensor.name.is_empty()).then(|| tensor.name.to_owned()),
            data_type: Some(data_type),
            quantization: (!quantization.is_none()).then_some(quantization),
            shape: None,
        })
    }

    /// The shape that the file says of an output, if it says any.
    pub(super) fn declared_shape(&self, position: usize) -> Result<Option<Shape>> {
        let tensor = self.output_tensor(position)?;
        Ok(match has_shape(tensor) {
            true => Some(tensor_info(tensor)?.shape),
            false => None,
        })
    }

    /// What an input is that must be there.
    pub(super) fn input_value(&mut self, position: usize) -> Result<Value> {
        let index = self.operator.inputs.get(position);
        match index.map(|index| self.lowering.values[index]) {
            Some(value @ (Value::Handle(_) | Value::Complex(_))) => Ok(value),
            _ => self.input(position).map(Value::Ready),
        }
    }

    /// What the file says of output `position`, whose elements are those of `input`.
    ///
    /// TFLite copies the numbers whatever the scales are. Where those differ, the layer keeps the
    /// input's, and what it writes is taken for the output by [`bind`](Self::bind).
    pub(super) fn moved(&self, position: usize, input: TensorId) -> Result<OutputDeclaration> {
        let mut declaration = self.declaration(position)?;
        if self.check_scale_kept(input, &declaration).is_ok() {
            return Ok(declaration);
        }
        let info = self.info(input)?;
        let of_one = |quantization: &Quantization| quantization.scales().len() == 1;
        let same_type = declaration.data_type == Some(info.data_type);
        let declared = declaration.quantization.as_ref();
        if !same_type || !of_one(&info.quantization) || !declared.is_some_and(of_one) {
            self.check_scale_kept(input, &declaration)?;
        }
        declaration.quantization = Some(info.quantization.clone());
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

    pub(super) fn layer_name(&self, position: usize) -> Result<String> {
        Ok(self.lowering.layer_name(self.output_tensor(position)?))
    }

    pub(super) fn step_name(&self, position: usize, layer_type: &str) -> Result<String> {
        let prefix = &self.lowering.prefix;
        Ok(match cut(self.output_tensor(position)?.name) {
            "" => String::new(),
            name => format!("{prefix}{name}/{layer_type}"),
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

    /// Makes a tensor of the network the one that output `position` is; its numbers, if they are of
    /// another scale than those of the output, stay as they are, as in TFLite.
    pub(super) fn bind(&mut self, position: usize, id: TensorId) -> Result {
        let info = self.info(id)?;
        let declared = quantization(self.output_tensor(position)?)?;
        let (from, to) = (info.quantization.scales().len(), declared.scales().len());
        if (from, to) == (1, 1) && info.quantization != declared {
            let into = TensorInfo {
                quantization: declared,
                ..info.clone()
            };
            let id = self.lowering.reinterpreted(id, &into)?;
            return self.bind_value(position, Value::Ready(id));
        }
        self.bind_value(position, Value::Ready(id))
    }

    /// Makes a value what output `position` is.
    pub(super) fn bind_value(&mut self, position: usize, bound: Value) -> Result {
        let tensor = self.output_tensor(position)?;
        let index = self.operator.outputs.get(position);
        let value = index.and_then(|index| self.lowering.values.get_mut(index));
        match value {
            Some(value) if *value == Value::Pending && !tensor.is_constant() => {
                *value = bound;
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

pub(super) fn single(ids: &[TensorId]) -> Result<TensorId> {
    match ids {
        [id] => Ok(*id),
        _ => Err(Problem::malformed(format!("it has {} outputs", ids.len()))),
    }
}

/// Dimensions as they are, for [`Context::emit_merged`].
pub(super) fn each_dimension(rank: usize) -> Vec<Vec<usize>> {
    (0..rank).map(|axis| vec![axis]).collect()
}
