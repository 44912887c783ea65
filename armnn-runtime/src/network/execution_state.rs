//! What one caller needs to execute a loaded network.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use armnn_backend_api::{Shape, TensorInfo};
use armnn_network::TensorId;

use super::{
    Profile, StepTime,
    graph::LoadedVariable,
    graph_state::{GraphState, HeldMemory, Run, interruption},
    loaded_network::LoadedModel,
    operations::Seeds,
    profile::EventRing,
    segment_state::SegmentState,
    variables::{check_assigned, current_variables},
};
use crate::{
    error::{ExecuteError, InputError, LoadError, TensorError},
    optimizer::AssignmentReport,
    tensor::HostTensor,
    value::Value,
};

/// What one caller needs to execute a loaded network: memory, the queues of asynchronous
/// backends, and the state that the network keeps. Made by
/// [`LoadedNetwork::create_execution_state`](super::LoadedNetwork); several states of one network
/// can be executed at the same time.
#[doc(alias = "IWorkingMemHandle")]
pub struct ExecutionState {
    kind: Kind,
    profiling: bool,
    interrupted: Arc<AtomicBool>,
    model: Arc<LoadedModel>,
}

enum Kind {
    /// Of a network that is one segment.
    Segment(Box<SegmentState>),
    /// Of a network that is executed part by part.
    Graph(Box<Parts>),
}

struct Parts {
    state: GraphState,
    inputs: Vec<Value>,
    outputs: Vec<Value>,
    /// The values of the variables; none where it is the first one.
    variables: Vec<Option<Value>>,
    times: Vec<StepTime>,
    events: EventRing,
    memory: HeldMemory,
    seeds: Seeds,
}

/// Ends executions of an [`ExecutionState`] from another thread.
#[derive(Clone, Debug)]
pub struct InterruptHandle(Arc<AtomicBool>);

impl InterruptHandle {
    /// Lets the execution that is going on, or else the next one, end with an error: before its next
    /// part, or before the next iteration of a loop. A network that is executed as one has a single
    /// part; an execution of it that has begun goes on to its end, and the next one ends.
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ExecutionState {
    pub(super) fn new(model: Arc<LoadedModel>, shapes: &[Shape]) -> Result<Self, LoadError> {
        let graph = &model.graph;
        let memory = HeldMemory::default();
        let kind = match graph.plain() {
            Some(segment) => {
                let plan = segment.plan(shapes, &[])?;
                Kind::Segment(Box::new(SegmentState::new(Arc::clone(segment), plan)?))
            }
            None => Kind::Graph(Box::new(Parts {
                state: GraphState::new(graph, &memory),
                inputs: empty_inputs(&model, shapes)?,
                outputs: Vec::new(),
                variables: vec![None; graph.variables.len()],
                times: Vec::new(),
                events: EventRing::default(),
                memory,
                seeds: Seeds::new(model.random_seed),
            })),
        };
        let mut this = Self {
            kind,
            profiling: false,
            interrupted: Arc::default(),
            model,
        };
        this.set_profiling(this.model.profiling);
        Ok(this)
    }

    pub(super) fn model(&self) -> &Arc<LoadedModel> {
        &self.model
    }

    /// Executes the network: inputs are those last written with [`input_mut`](Self::input_mut),
    /// outputs are read with [`output`](Self::output). Allocates nothing, unless the network is
    /// executed part by part, because of control flow, variables, or sizes that depend on data.
    ///
    /// # Errors
    /// The first error of a backend, with the layers it concerns. The state can be used again;
    /// variables are as before.
    pub fn execute(&mut self) -> Result<(), ExecuteError> {
        match &mut self.kind {
            Kind::Segment(state) => {
                check_interrupt(&self.interrupted)?;
                state.execute()
            }
            Kind::Graph(parts) => {
                let result = parts.execute(&self.model, self.profiling, &self.interrupted);
                self.interrupted.store(false, Ordering::Relaxed);
                result
            }
        }
    }

    /// What ends an execution from another thread, such as a loop that does not end.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        InterruptHandle(Arc::clone(&self.interrupted))
    }

    /// The type and shape of an input, in the network's order.
    ///
    /// # Panics
    /// When there is no such input.
    pub fn input_info(&self, index: usize) -> TensorInfo {
        match &self.kind {
            Kind::Segment(state) => state.input_info(index),
            Kind::Graph(parts) => match &parts.inputs[index] {
                Value::Tensor(tensor) => tensor.info().clone(),
                _ => self.declared(self.model.graph.network.inputs()[index]),
            },
        }
    }

    /// The type and shape of an output, in the network's order. Dimensions that are found out in an
    /// execution are unknown before the first one.
    ///
    /// # Panics
    /// When there is no such output.
    pub fn output_info(&self, index: usize) -> TensorInfo {
        match &self.kind {
            Kind::Segment(state) => state.output_info(index),
            Kind::Graph(parts) => match parts.outputs.get(index) {
                Some(Value::Tensor(tensor)) => tensor.info().clone(),
                _ => self.declared(self.model.graph.network.outputs()[index].tensor),
            },
        }
    }

    fn declared(&self, id: TensorId) -> TensorInfo {
        self.model.graph.network.tensor(id).info.clone()
    }

    /// The shapes of the inputs that this state is made for.
    pub fn input_shapes(&self) -> Vec<Shape> {
        let inputs = 0..self.model.graph.network.inputs().len();
        inputs.map(|index| self.input_info(index).shape).collect()
    }

    /// The memory of an input: dense, row-major, aligned to 64 bytes. What is written here is the
    /// input of the next executions. Empty if the input is no tensor.
    ///
    /// # Panics
    /// When there is no such input, or there is no memory to part from a value that is in use
    /// elsewhere.
    pub fn input_mut(&mut self, index: usize) -> &mut [u8] {
        match &mut self.kind {
            Kind::Segment(state) => state.input_mut(index),
            Kind::Graph(parts) => match &mut parts.inputs[index] {
                Value::Tensor(tensor) => {
                    // An execution or the caller may share it.
                    if Arc::get_mut(tensor).is_none()
                        && let Ok(copy) =
                            HostTensor::from_bytes(tensor.info().clone(), tensor.bytes())
                    {
                        *tensor = Arc::new(copy);
                    }
                    match Arc::get_mut(tensor) {
                        Some(tensor) => tensor.bytes_mut(),
                        None => panic!("not enough memory for a copy of an input"),
                    }
                }
                _ => &mut [],
            },
        }
    }

    /// Copies bytes into an input.
    ///
    /// # Errors
    /// When there is no such input, it is no tensor, or its size is another.
    pub fn set_input(&mut self, index: usize, bytes: &[u8]) -> Result<(), InputError> {
        let expected = self.model.graph.network.inputs().len();
        if index >= expected {
            return Err(InputError::NoInput { index, expected });
        }
        if let Kind::Graph(parts) = &self.kind
            && !matches!(parts.inputs[index], Value::Tensor(_))
        {
            return Err(self.wrong_kind(index, "a tensor"));
        }
        self.check_input(index, bytes.len())?;
        self.input_mut(index).copy_from_slice(bytes);
        Ok(())
    }

    /// Checks the size of what is given for an input that there is.
    pub(super) fn check_input(&self, index: usize, given: usize) -> Result<(), InputError> {
        let expected = match &self.kind {
            Kind::Segment(state) => state.input_len(index),
            Kind::Graph(parts) => match &parts.inputs[index] {
                Value::Tensor(tensor) => tensor.bytes().len(),
                _ => 0,
            },
        };
        if given == expected {
            return Ok(());
        }
        Err(InputError::Size {
            input: self.input_name(index),
            info: self.input_info(index).to_string(),
            expected,
            given,
        })
    }

    /// Executes a network whose output sizes are known, in the caller's memory where that can be.
    pub(super) fn execute_with(
        &mut self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), ExecuteError> {
        match &mut self.kind {
            Kind::Segment(state) => {
                check_interrupt(&self.interrupted)?;
                state.execute_with(inputs, outputs)
            }
            // Not asked for.
            Kind::Graph(_) => self.execute(),
        }
    }

    /// Makes a value the input of the next executions.
    ///
    /// # Errors
    /// When there is no such input, or the value is of another kind, type or shape.
    pub fn set_input_value(&mut self, index: usize, value: Value) -> Result<(), InputError> {
        let network = &self.model.graph.network;
        let Some(&id) = network.inputs().get(index) else {
            return Err(InputError::NoInput {
                index,
                expected: network.inputs().len(),
            });
        };
        let tensor = network.tensor(id);
        if let (Value::Tensor(given), None) = (&value, &tensor.value_type) {
            if given.info().data_type != tensor.info.data_type {
                return Err(InputError::DataType {
                    input: tensor.name.clone(),
                    expected: tensor.info.data_type,
                    given: given.info().data_type,
                });
            }
            let same_shape = given.info().shape == self.input_info(index).shape;
            if !same_shape {
                return Err(InputError::Size {
                    input: self.input_name(index),
                    info: self.input_info(index).to_string(),
                    expected: self.input_info(index).byte_len().unwrap_or(0),
                    given: given.bytes().len(),
                });
            }
            // The bytes count, whatever quantization the tensor was made with.
            if matches!(self.kind, Kind::Segment(_))
                || given.info().quantization != tensor.info.quantization
            {
                self.input_mut(index).copy_from_slice(given.bytes());
                return Ok(());
            }
        }
        let fits = match &tensor.value_type {
            None => matches!(value, Value::Tensor(_)),
            Some(value_type) => value.is_of(value_type),
        };
        if !fits {
            let given = value.describe();
            return Err(self.wrong_kind(index, &given));
        }
        if let Kind::Graph(parts) = &mut self.kind {
            parts.inputs[index] = value;
        }
        Ok(())
    }

    fn wrong_kind(&self, index: usize, given: &str) -> InputError {
        let network = &self.model.graph.network;
        let tensor = network.tensor(network.inputs()[index]);
        let expected = match &tensor.value_type {
            Some(other) => other.to_string(),
            None => tensor.info.to_string(),
        };
        InputError::Kind {
            input: tensor.name.clone(),
            expected,
            given: given.to_owned(),
        }
    }

    fn input_name(&self, index: usize) -> String {
        let network = &self.model.graph.network;
        network.tensor(network.inputs()[index]).name.clone()
    }

    /// The memory of an output after the last execution: dense, row-major. Empty if the output is no
    /// tensor, or its size is found out in an execution and there was none yet.
    ///
    /// # Panics
    /// When there is no such output.
    pub fn output(&self, index: usize) -> &[u8] {
        match &self.kind {
            Kind::Segment(state) => state.output(index),
            Kind::Graph(parts) => {
                assert!(index < self.model.graph.network.outputs().len());
                match parts.outputs.get(index) {
                    Some(Value::Tensor(tensor)) => tensor.bytes(),
                    _ => &[],
                }
            }
        }
    }

    /// An output after the last execution, if the network is executed part by part.
    pub fn output_value(&self, index: usize) -> Option<&Value> {
        match &self.kind {
            Kind::Segment(_) => None,
            Kind::Graph(parts) => parts.outputs.get(index),
        }
    }

    pub(super) fn is_tensor(&self, index: usize) -> bool {
        match &self.kind {
            Kind::Segment(_) => true,
            Kind::Graph(parts) => matches!(parts.outputs.get(index), Some(Value::Tensor(_))),
        }
    }

    /// Whether the sizes of the outputs are known before an execution.
    pub(super) fn knows_output_sizes(&self) -> bool {
        match &self.kind {
            Kind::Segment(state) => state.knows_output_sizes(),
            Kind::Graph(_) => false,
        }
    }

    /// What a variable holds, by its name; `None` if there is no such variable, or it has no value
    /// before the first execution.
    pub fn variable(&self, name: &str) -> Option<&HostTensor> {
        let Kind::Graph(parts) = &self.kind else {
            return None;
        };
        let index = self
            .model
            .graph
            .variables
            .iter()
            .position(|v| v.name == name)?;
        parts.variables.get(index)?.as_ref()?.as_tensor()
    }

    /// Lets the variables hold again what they do before the first execution.
    pub fn reset_variables(&mut self) {
        if let Kind::Graph(parts) = &mut self.kind {
            parts.variables.fill(None);
        }
    }

    /// Takes over the variables of another state, which may be of another network of the same model,
    /// such as another signature: those of the same name, type, shape and quantization that have a
    /// value there. All others stay as they are. The memory is shared until it is written.
    pub fn take_variables_from(&mut self, other: &Self) {
        let (Kind::Graph(parts), Kind::Graph(others)) = (&mut self.kind, &other.kind) else {
            return;
        };
        let theirs = || other.model.graph.variables.iter().zip(&others.variables);
        for (variable, value) in self.model.graph.variables.iter().zip(&mut parts.variables) {
            let same = |(other, _): &(&LoadedVariable, &Option<Value>)| {
                other.name == variable.name && other.info == variable.info
            };
            if let Some((_, Some(taken))) = theirs().find(same) {
                *value = Some(taken.clone());
            }
        }
    }

    /// Whether steps are timed and backends record theirs from now on; costs time.
    pub fn set_profiling(&mut self, on: bool) {
        self.profiling = on;
        if let Kind::Segment(state) = &mut self.kind {
            state.set_profiling(on);
        }
    }

    /// The times of the steps of the last execution, in order, of [`StepTime::MOST`] at most; empty
    /// unless [profiling](Self::set_profiling) was on.
    pub fn step_times(&self) -> Vec<StepTime> {
        match &self.kind {
            Kind::Segment(state) => state.step_times(),
            Kind::Graph(parts) => parts.times.clone(),
        }
    }

    /// Takes what backends recorded since the last call: the last events, and how many were dropped
    /// before them.
    pub fn take_profile(&mut self) -> Profile {
        match &mut self.kind {
            Kind::Segment(state) => state.take_profile(),
            Kind::Graph(parts) => parts.events.take(),
        }
    }

    /// Which backend executes which layer, and why no other one does, in the plans that the last
    /// execution used.
    pub fn report(&self) -> AssignmentReport {
        match &self.kind {
            Kind::Segment(state) => state.report().clone(),
            Kind::Graph(parts) => {
                let mut report = self.model.report.clone();
                for (planned, numbers) in parts.state.reports(&self.model.graph) {
                    for (entry, number) in planned.layers.into_iter().zip(numbers) {
                        let found = report.layers.binary_search_by_key(&number, |e| e.layer);
                        if let Ok(found) = found {
                            report.layers[found] = crate::optimizer::LayerAssignment {
                                layer: number,
                                ..entry
                            };
                        }
                    }
                }
                report
            }
        }
    }

    /// A copy of what a tensor inside the network last held, for looking into a network; `None` if
    /// it is inside of a compiled subgraph, or the network is executed part by part. Its memory may
    /// have been used again by later layers.
    ///
    /// # Errors
    /// When the tensor is in a handle of a backend that cannot be looked into.
    pub fn inspect_tensor(&mut self, id: TensorId) -> Result<Option<Vec<u8>>, ExecuteError> {
        match &mut self.kind {
            Kind::Segment(state) => state.inspect_tensor(id),
            Kind::Graph(_) => Ok(None),
        }
    }

    /// Bytes of memory that the state holds for tensors.
    pub fn memory(&self) -> usize {
        match &self.kind {
            Kind::Segment(state) => state.memory(),
            Kind::Graph(parts) => parts.state.memory(),
        }
    }
}

/// # Errors
/// When the execution of a network that is one part is not to begin.
fn check_interrupt(interrupted: &AtomicBool) -> Result<(), ExecuteError> {
    // Written only if it is set, which is rare: others may read it, too.
    if !interrupted.load(Ordering::Relaxed) {
        return Ok(());
    }
    interrupted.store(false, Ordering::Relaxed);
    Err(interruption())
}

impl Parts {
    fn execute(
        &mut self,
        model: &LoadedModel,
        profiling: bool,
        interrupted: &AtomicBool,
    ) -> Result<(), ExecuteError> {
        self.times.clear();
        let mut run = Run {
            profiling,
            times: &mut self.times,
            events: &mut self.events,
            interrupted,
            memory_limit: model.memory_limit,
            memory: &self.memory,
            seeds: &mut self.seeds,
        };
        let graph = &model.graph;
        let variables = current_variables(model, &self.variables, &mut run)?;
        let inputs = self.inputs.iter().chain(&variables).cloned();
        let results = self.state.call(graph, inputs, &mut run);
        self.variables = variables.into_iter().map(Some).collect();
        let mut outputs = results?;
        let assigned = outputs.split_off(graph.outputs.len().min(outputs.len()));
        let written = || {
            let written = graph.variables.iter().enumerate();
            written.filter(|(_, variable)| variable.output.is_some())
        };
        for ((_, variable), value) in written().zip(&assigned) {
            check_assigned(variable, value)?;
        }
        for ((index, _), value) in written().zip(assigned) {
            self.variables[index] = Some(value);
        }
        self.outputs = outputs;
        Ok(())
    }
}

/// Tensors of 0 for the inputs; empty values for those that are no tensors.
fn empty_inputs(model: &LoadedModel, shapes: &[Shape]) -> Result<Vec<Value>, LoadError> {
    use armnn_network::{NetworkError, ValueType};

    let network = &model.graph.network;
    if shapes.len() != network.inputs().len() {
        return Err(LoadError::Network(NetworkError::InputShapeCount {
            expected: network.inputs().len(),
            found: shapes.len(),
        }));
    }
    network
        .check_named_dimensions(shapes)
        .map_err(LoadError::Network)?;
    let inputs = network.inputs().iter().zip(shapes).enumerate();
    inputs
        .map(|(index, (&id, &shape))| {
            let tensor = network.tensor(id);
            match &tensor.value_type {
                None | Some(ValueType::Tensor(_)) => {}
                Some(ValueType::Optional(_)) => return Ok(Value::Optional(None)),
                Some(ValueType::Sequence(_) | ValueType::Strings(_)) => {
                    return Ok(Value::from(Vec::new()));
                }
            }
            let input = || tensor.name.clone();
            let checked = network.check_input_shape(index, shape);
            checked.map_err(LoadError::Network)?;
            let info = TensorInfo {
                shape,
                ..tensor.info.clone()
            };
            let len = info
                .byte_len()
                .filter(|&len| len as u64 <= model.memory_limit);
            let data_type = info.data_type;
            let too_large = || LoadError::TensorTooLarge {
                tensor: input(),
                data_type,
                shape,
                limit: model.memory_limit,
            };
            let len = len.ok_or_else(too_large)?;
            let zeroed = HostTensor::zeroed(info);
            zeroed.map(Value::from).map_err(|e| match e {
                // Of no elements, with other dimensions beyond what can be counted.
                TensorError::UnknownSize { .. } => too_large(),
                e => LoadError::OutOfMemory {
                    bytes: len as u64,
                    what: e.to_string(),
                },
            })
        })
        .collect()
}

impl std::fmt::Debug for ExecutionState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExecutionState")
            .field("memory", &self.memory())
            .finish_non_exhaustive()
    }
}
