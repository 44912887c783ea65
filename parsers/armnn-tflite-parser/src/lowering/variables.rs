//! Variables: what keeps its value from one inference to the next.
//!
//! There are two kinds. A resource variable is named by VAR_HANDLE, whose output, the handle, tells
//! READ_VARIABLE and ASSIGN_VARIABLE which one is meant. A state tensor is a tensor of a subgraph
//! that is marked as a variable: recurrent operators read it and leave their new state in it.
//!
//! Either is a [variable of the network](armnn_network::Variable). Where it is read, it is the tensor
//! that was assigned to it last, or else what it holds from the inference before.

use std::collections::HashMap;

use armnn_backend_api::{BitCastDescriptor, DataType, TensorInfo};
use armnn_network::{OutputDeclaration, TensorId, VariableValue};

use super::constants::charge;
use super::context::Context;
use super::cut;
use super::problem::{Problem, Result};
use super::subgraph::{Lowering, Role, Value};
use super::tensor_info::{has_shape, tensor_info};
use crate::error::TfliteParserError;
use crate::model::{Model, Operator, OperatorOptions, Tensor};
use crate::schema_generated::{BuiltinOperator as Op, BuiltinOptionsRef, VarHandleOptionsRef};

/// A variable of the model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct VariableId(usize);

/// What a variable is named by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key<'a> {
    Resource { container: &'a str, name: &'a str },
    Tensor { subgraph: usize, index: usize },
}

/// The variables of a model.
#[derive(Default)]
pub(super) struct Variables<'a> {
    known: Vec<KnownVariable>,
    by_key: HashMap<Key<'a>, VariableId>,
    /// How many variables have been asked for by each name.
    by_name: HashMap<String, usize>,
    /// Bytes of names of resources that may still be read. Handles may share a name in the file.
    names_left: usize,
}

struct KnownVariable {
    name: String,
    /// Type and shape, if they are known.
    info: Option<TensorInfo>,
    /// What it holds before the first inference.
    initial: VariableValue,
}

impl<'a> Variables<'a> {
    /// The resource variables of a model, in the order of their handles, so that names and types are
    /// the same whichever signature is lowered.
    ///
    /// The type is that of the first operator that reads one and says its shape, else of the first
    /// that assigns it.
    pub(super) fn survey(model: &Model<'a>) -> Self {
        let budget = model.file_len().saturating_mul(4).saturating_add(64 << 10);
        let mut variables = Self {
            names_left: budget,
            ..Self::default()
        };
        let mut read: Vec<Option<TensorInfo>> = Vec::new();
        let mut assigned: Vec<Option<TensorInfo>> = Vec::new();
        for graph in &model.subgraphs {
            let mut handles: HashMap<usize, VariableId> = HashMap::new();
            for operator in &graph.operators {
                let tensor = |index: Option<usize>| Some(&graph.tensors[index?]);
                let handle = || handles.get(&operator.inputs.get(0)?).copied();
                match operator.code.known() {
                    Some(Op::VarHandle) => {
                        let key = variables.key_of(operator);
                        if let (Ok(key), Some(output)) = (key, operator.outputs.get(0)) {
                            handles.insert(output, variables.of(key));
                        }
                    }
                    Some(Op::ReadVariable) => {
                        note(&mut read, handle(), tensor(operator.outputs.get(0)));
                    }
                    Some(Op::AssignVariable) => {
                        note(&mut assigned, handle(), tensor(operator.inputs.get(1)));
                    }
                    _ => {}
                }
            }
        }
        for (index, variable) in variables.known.iter_mut().enumerate() {
            let found = |list: &[Option<TensorInfo>]| list.get(index).cloned().flatten();
            variable.info = found(&read).or_else(|| found(&assigned));
        }
        variables.names_left = budget;
        variables
    }

    /// What a handle names.
    fn key_of(&mut self, operator: &Operator<'a>) -> Result<Key<'a>> {
        if self.names_left == 0 {
            return Err(Problem::malformed(
                "names of variables are used over and over: read out, they would be more than four \
                 times the file's size",
            ));
        }
        let (container, name) = match operator.options {
            OperatorOptions::First(BuiltinOptionsRef::VarHandleOptions(options)) => (
                options.container()?.unwrap_or_default(),
                options.shared_name()?.unwrap_or_default(),
            ),
            _ => ("", ""),
        };
        let length = container.len().saturating_add(name.len()).saturating_add(1);
        self.names_left = self.names_left.saturating_sub(length);
        Ok(Key::Resource { container, name })
    }

    fn of(&mut self, key: Key<'a>) -> VariableId {
        self.named(key, || match key {
            Key::Resource {
                container: "",
                name,
            } => cut(name).to_owned(),
            Key::Resource { container, name } => format!("{}/{}", cut(container), cut(name)),
            Key::Tensor { index, .. } => format!("tensor {index}"),
        })
    }

    fn named(&mut self, key: Key<'a>, name: impl FnOnce() -> String) -> VariableId {
        if let Some(&id) = self.by_key.get(&key) {
            return id;
        }
        let mut name = name();
        if name.is_empty() {
            name = "variable".to_owned();
        }
        let count = self.by_name.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            name = format!("{name}:{count}");
        }
        let id = VariableId(self.known.len());
        self.known.push(KnownVariable {
            name,
            info: None,
            initial: VariableValue::Zero,
        });
        self.by_key.insert(key, id);
        id
    }

    /// What the initialization gives a variable.
    pub(super) fn initialize(&mut self, id: VariableId, initial: VariableValue) {
        self.known[id.0].initial = initial;
    }

    fn info(&self, id: VariableId) -> Result<TensorInfo> {
        let known = &self.known[id.0];
        known.info.clone().ok_or_else(|| {
            Problem::unsupported(format!(
                "the variable \"{}\", whose type and shape the model does not say",
                crate::error::Short(&known.name)
            ))
        })
    }
}

/// Notes the type of a tensor that a variable goes to or comes from, unless one is known.
fn note(list: &mut Vec<Option<TensorInfo>>, id: Option<VariableId>, tensor: Option<&Tensor<'_>>) {
    let (Some(id), Some(tensor)) = (id, tensor) else {
        return;
    };
    if list.len() <= id.0 {
        list.resize(id.0 + 1, None);
    }
    let says_shape = has_shape(tensor) || tensor.data.is_some();
    if list[id.0].is_none() && says_shape {
        list[id.0] = tensor_info(tensor).ok().filter(|i| i.shape.is_known());
    }
}

impl Lowering<'_, '_> {
    /// The variable that a tensor of the subgraph is.
    pub(super) fn state_tensor(&mut self, index: usize) -> Result<VariableId> {
        let tensor = &self.graph.tensors[index];
        let key = Key::Tensor {
            subgraph: self.index,
            index,
        };
        let variables = &mut self.shared.variables;
        let id = variables.named(key, || cut(tensor.name).to_owned());
        if variables.known[id.0].info.is_none() {
            let info = tensor_info(tensor)?;
            if !info.shape.is_known() {
                return Err(Problem::unsupported(format!(
                    "a state of shape {}; give the model fixed input shapes",
                    info.shape
                )));
            }
            let first = match (info.data_type, info.quantization.zero_points()) {
                (DataType::QAsymmS8, &[zero_point]) => zero_point as u8,
                _ => 0,
            };
            if first != 0 {
                // States of 8 bits begin with what stands for 0, all others with the number.
                let count = info.shape.num_elements().unwrap_or(u64::MAX);
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                charge(&mut self.shared.constant_budget, count)?;
                variables.known[id.0].initial = VariableValue::Elements(vec![first; count].into());
            }
            variables.known[id.0].info = Some(info);
        }
        Ok(id)
    }

    /// What a variable holds at this point.
    pub(super) fn read_variable(&mut self, id: VariableId) -> Result<TensorId> {
        if let Some(&held) = self.held.get(&id) {
            return Ok(held);
        }
        let info = self.shared.variables.info(id)?;
        let known = &self.shared.variables.known[id.0];
        let held = match self.role {
            Role::Main => self
                .builder
                .add_variable(&known.name, info, known.initial.clone())?,
            Role::Body => {
                // The body is lowered again, and given it.
                self.missing.insert(id);
                self.builder.add_input_layer(&known.name, info)?
            }
            Role::Initializer => {
                return Err(Problem::unsupported(format!(
                    "the variable \"{}\" read before it has a first value",
                    crate::error::Short(&known.name)
                )));
            }
        };
        self.held.insert(id, held);
        Ok(held)
    }

    /// Makes a variable hold a tensor. The numbers are taken as they are, whatever the scales.
    pub(super) fn assign_variable(&mut self, id: VariableId, tensor: TensorId) -> Result {
        let found = match self.builder.tensor(tensor) {
            Some(tensor) => tensor.info.clone(),
            None => return Err(Problem::malformed("a tensor that is not there is assigned")),
        };
        let known = &mut self.shared.variables.known[id.0];
        if known.info.is_none() && found.shape.is_known() {
            known.info = Some(found.clone());
        }
        let info = self.shared.variables.info(id)?;
        let tensor = self.reinterpreted(tensor, &info)?;
        if self.role != Role::Initializer {
            // The variable is there even if nothing reads it.
            self.read_variable(id)?;
        }
        self.held.insert(id, tensor);
        self.assigned.insert(id);
        Ok(())
    }

    /// Adds what is left of variables to the network: what they hold at the end of an inference, and
    /// what computes their first values.
    pub(super) fn finish_variables(&mut self) -> Result<(), TfliteParserError> {
        for &id in &self.assigned.clone() {
            let known = &self.shared.variables.known[id.0];
            let assigned = match self.held.get(&id) {
                Some(&held) => self.builder.assign_variable(&known.name, held),
                None => Ok(()),
            };
            self.settle(assigned.map_err(Problem::from), |_| Default::default())?;
        }
        if let Some(initializer) = self.shared.initializer.take()
            && self.shared.report.is_empty()
        {
            let set = initializer.set(&mut self.builder);
            self.settle(set, |_| Default::default())?;
        }
        Ok(())
    }

    /// The same bytes as numbers of another type or scale, as TFLite moves them without a look.
    pub(super) fn reinterpreted(&mut self, id: TensorId, into: &TensorInfo) -> Result<TensorId> {
        let Some(tensor) = self.builder.tensor(id) else {
            return Err(Problem::malformed("a tensor that is not there is read"));
        };
        let from = &tensor.info;
        if from.data_type == into.data_type
            && (from.quantization == into.quantization || !from.data_type.is_quantized())
        {
            return Ok(id);
        }
        if from.data_type.bits() != into.data_type.bits() {
            return Err(Problem::unsupported(format!(
                "{from} where {into} is expected"
            )));
        }
        if let Some(data) = tensor.constant().cloned() {
            let info = TensorInfo {
                shape: from.shape,
                ..into.clone()
            };
            return Ok(self.builder.add_constant_layer("", info, data)?);
        }
        let name = match cut(&tensor.name) {
            "" => String::new(),
            name => format!("{}{name}/BitCast", self.prefix),
        };
        let declaration = OutputDeclaration {
            data_type: Some(into.data_type),
            quantization: (!into.quantization.is_none()).then(|| into.quantization.clone()),
            ..OutputDeclaration::default()
        };
        let builder = &mut self.builder;
        let ids =
            builder.add_layer(&name, BitCastDescriptor::new(), &[Some(id)], &[declaration])?;
        ids.first()
            .copied()
            .ok_or_else(|| Problem::malformed("a BitCast without an output"))
    }
}

/// The handle of a variable, which is no tensor of the network.
pub(super) fn var_handle(context: &mut Context<'_, '_, '_>) -> Result {
    // An options table of the wrong kind is told.
    let _ = context.options::<VarHandleOptionsRef<'_>>()?;
    let variables = &mut context.lowering.shared.variables;
    let key = variables.key_of(context.operator)?;
    let id = variables.of(key);
    context.bind_value(0, Value::Handle(id))
}

pub(super) fn read_variable(context: &mut Context<'_, '_, '_>) -> Result {
    let variable = handle(context)?;
    let held = context.lowering.read_variable(variable)?;
    let declared = tensor_info(context.output_tensor(0)?)?;
    let read = context.lowering.reinterpreted(held, &declared)?;
    context.bind(0, read)
}

pub(super) fn assign_variable(context: &mut Context<'_, '_, '_>) -> Result {
    let variable = handle(context)?;
    let value = context.input(1)?;
    context.lowering.assign_variable(variable, value)
}

/// The variable that the first input stands for.
fn handle(context: &Context<'_, '_, '_>) -> Result<VariableId> {
    let index = context.operator.inputs.get(0);
    match index.map(|index| context.lowering.values[index]) {
        Some(Value::Handle(id)) => Ok(id),
        Some(Value::Refused) => Err(Problem::Unavailable),
        _ => Err(Problem::malformed("its first input is no resource")),
    }
}

#[cfg(test)]
mod tests;
