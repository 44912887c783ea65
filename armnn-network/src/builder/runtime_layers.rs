//! Control flow, and what handles values that are no tensors.

use armnn_backend_api::{DataType, Shape, TensorInfo};

use super::NetworkBuilder;
use super::string_types::string_outputs;
use crate::error::{LayerProblem, NetworkError, Result, input_list, shown};
use crate::graph::Nested;
use crate::inference::merge;
use crate::{
    LoopBody, Network, Operation, RuntimeOperation, ScanAxis, ScanBody, SequenceOperation,
    TensorId, ValueType,
};

type Checked<T> = Result<T, LayerProblem>;

/// Control flow, and what handles values that are no tensors.
impl NetworkBuilder {
    /// Adds an operation of the runtime. The types of its outputs follow from its bodies, or from
    /// its inputs.
    ///
    /// # Errors
    /// When the inputs are not those that the operation takes: their number, or their types, as far
    /// as both sides know. When bodies are too deep inside of each other, or too large: see
    /// [`Network::MOST_NESTED`] and [`Network::MOST_NESTED_LAYERS`].
    pub fn add_runtime_layer(
        &mut self,
        name: &str,
        operation: RuntimeOperation,
        inputs: &[Option<TensorId>],
    ) -> Result<Vec<TensorId>> {
        let layer_name = self.name_in_messages(name, operation.name());
        self.check_inputs(&layer_name, operation.name(), inputs)?;
        let types: Vec<Option<ValueType>> =
            inputs.iter().map(|id| self.value_type((*id)?)).collect();
        let checked = output_types(&operation, &types).and_then(|outputs| {
            outputs.iter().try_for_each(check_depth)?;
            Ok((outputs, self.nested_with(&operation)?))
        });
        let (outputs, nested) = checked.map_err(|problem| {
            let inputs = inputs.iter().map(|id| {
                let tensor = self.tensor((*id)?)?;
                Some((
                    tensor.name.as_str(),
                    tensor.info.data_type,
                    tensor.info.shape,
                ))
            });
            NetworkError::Operation {
                layer: layer_name,
                operation: operation.name().to_owned(),
                inputs: input_list(inputs),
                problem: Box::new(problem),
            }
        })?;
        let infos = outputs.into_iter().map(|value_type| match value_type {
            ValueType::Tensor(info) => (info, None),
            other => (TensorInfo::new(DataType::UInt8, Shape::SCALAR), Some(other)),
        });
        let outputs = self.push_layer(
            name,
            Operation::Runtime(operation),
            inputs,
            infos.collect(),
            &[],
        )?;
        self.network.nested = nested;
        Ok(outputs)
    }

    /// What is nested in the network with the bodies of one more operation.
    fn nested_with(&self, operation: &RuntimeOperation) -> Checked<Nested> {
        let mut nested = self.network.nested;
        for (name, body) in operation.bodies() {
            nested = nested.with(body).ok_or_else(|| {
                let problem = format!(
                    "bodies may be {} deep inside of each other, and have {} layers in all",
                    Network::MOST_NESTED,
                    Network::MOST_NESTED_LAYERS
                );
                fits(name, problem)
            })?;
        }
        Ok(nested)
    }

    /// Adds an input of the network that is no tensor of elements.
    ///
    /// # Errors
    /// When there are too many inputs, or sequences and optionals are more than
    /// [`ValueType::MOST_NESTED`] deep inside of each other.
    pub fn add_value_input(&mut self, name: &str, value_type: ValueType) -> Result<TensorId> {
        match value_type {
            ValueType::Tensor(info) => self.add_input_layer(name, info),
            other => {
                check_depth(&other).map_err(|problem| NetworkError::Declaration {
                    tensor: name.to_owned(),
                    problem: Box::new(problem),
                })?;
                let info = TensorInfo::new(DataType::UInt8, Shape::SCALAR);
                let id = self.add_input_layer(name, info)?;
                if let Some(tensor) = self.network.tensors.get_mut(id.index()) {
                    tensor.value_type = Some(other);
                }
                Ok(id)
            }
        }
    }

    /// What a tensor is.
    pub fn value_type(&self, id: TensorId) -> Option<ValueType> {
        Some(self.tensor(id)?.value_type())
    }
}

/// The types of a network's outputs.
fn body_outputs(body: &Network) -> Vec<ValueType> {
    let outputs = body.outputs().iter();
    outputs
        .map(|output| body.tensor(output.tensor).value_type())
        .collect()
}

/// The types of the outputs of an operation of the runtime.
fn output_types(
    operation: &RuntimeOperation,
    inputs: &[Option<ValueType>],
) -> Checked<Vec<ValueType>> {
    match operation {
        RuntimeOperation::If {
            then_body,
            else_body,
        } => {
            one_element(inputs, 0, DataType::Boolean)?;
            check_body("then", then_body, &inputs[1..])?;
            check_body("else", else_body, &inputs[1..])?;
            either("else", body_outputs(then_body), &body_outputs(else_body))
        }
        RuntimeOperation::Loop(body) => loop_outputs(body, inputs),
        RuntimeOperation::While {
            condition,
            body,
            n_carried,
        } => {
            if *n_carried > inputs.len() {
                return Err(count("body", "inputs", *n_carried, inputs.len()));
            }
            check_body("condition", condition, inputs)?;
            check_body("body", body, inputs)?;
            let outputs = body_outputs(body);
            if outputs.len() != *n_carried {
                return Err(count("body", "outputs", *n_carried, outputs.len()));
            }
            carried("body", &inputs[..*n_carried], &outputs)
        }
        RuntimeOperation::Scan(body) => scan_outputs(body, inputs),
        RuntimeOperation::Sequence(operation) => sequence_outputs(operation, inputs),
        RuntimeOperation::Strings(operation) => string_outputs(operation, inputs),
        RuntimeOperation::Random(operation) => {
            let shape = match (inputs.first(), operation.shape) {
                (Some(Some(ValueType::Tensor(like))), _) => like.shape,
                (Some(other), _) => return Err(no_tensor("the input", other.as_ref())),
                (None, Some(shape)) => shape,
                (None, None) => return Err(count("operation", "inputs", 1, 0)),
            };
            operation
                .check()
                .map_err(|problem| fits("operation", problem))?;
            let info = TensorInfo::new(operation.data_type, shape);
            Ok(vec![ValueType::Tensor(info)])
        }
        RuntimeOperation::CountNgrams(counter) => {
            let shape = match inputs.first().and_then(Option::as_ref) {
                Some(ValueType::Strings(shape)) => *shape,
                Some(ValueType::Tensor(info)) => info.shape,
                other => return Err(no_tensor("the input", other)),
            };
            let width = i64::try_from(counter.width).unwrap_or(i64::MAX);
            let shape = match shape.dims() {
                [] | [_] => Shape::from([width]),
                &[rows, _] => Shape::from([rows, width]),
                _ => {
                    return Err(fits(
                        "input",
                        format!("a list or a matrix is needed, not {shape}"),
                    ));
                }
            };
            Ok(vec![ValueType::Tensor(TensorInfo::new(
                DataType::Float32,
                shape,
            ))])
        }
    }
}

fn loop_outputs(body: &LoopBody, inputs: &[Option<ValueType>]) -> Checked<Vec<ValueType>> {
    let LoopBody { network, n_carried } = body;
    let least = n_carried.saturating_add(2);
    if inputs.len() < least {
        return Err(count("body", "inputs", least, inputs.len()));
    }
    if inputs[0].is_some() {
        one_element(inputs, 0, DataType::Signed64)?;
    }
    if inputs[1].is_some() {
        one_element(inputs, 1, DataType::Boolean)?;
    }
    let scalar = |data_type| Some(ValueType::Tensor(TensorInfo::new(data_type, Shape::SCALAR)));
    let mut given = vec![scalar(DataType::Signed64), scalar(DataType::Boolean)];
    given.extend_from_slice(&inputs[2..]);
    check_body("body", network, &given)?;
    let outputs = body_outputs(network);
    let Some((_, outputs)) = outputs
        .split_first()
        .filter(|(_, rest)| rest.len() >= *n_carried)
    else {
        return Err(count(
            "body",
            "outputs",
            1 + n_carried,
            network.outputs().len(),
        ));
    };
    let (kept, scanned) = outputs.split_at(*n_carried);
    let mut types = carried("body", &inputs[2..2 + n_carried], kept)?;
    for scanned in scanned {
        types.push(stacked(
            "body",
            scanned,
            ScanAxis::default(),
            Shape::UNKNOWN,
        )?);
    }
    Ok(types)
}

fn scan_outputs(body: &ScanBody, inputs: &[Option<ValueType>]) -> Checked<Vec<ValueType>> {
    let ScanBody {
        network,
        n_states,
        inputs: scanned,
        outputs: put_together,
    } = body;
    let expected = n_states.saturating_add(scanned.len());
    if inputs.len() < expected || scanned.is_empty() {
        return Err(count("body", "inputs", expected.max(1), inputs.len()));
    }
    let mut given = inputs[..*n_states].to_vec();
    let mut length = Shape::UNKNOWN;
    for (input, axis) in inputs[*n_states..].iter().zip(scanned) {
        let Some(ValueType::Tensor(info)) = input else {
            return Err(no_tensor("a scanned input", input.as_ref()));
        };
        let at = position(axis.axis, info.shape.rank()).ok_or_else(|| {
            fits(
                "body",
                format!("axis {} of an input of shape {}", axis.axis, info.shape),
            )
        })?;
        check_elements("body", info)?;
        let mut dims = info.shape.dims().to_vec();
        let size = dims.remove(at);
        if length < 0 {
            length = size;
        }
        let shape = Shape::new(&dims).unwrap_or(Shape::SCALAR);
        given.push(Some(ValueType::Tensor(TensorInfo {
            shape,
            ..info.clone()
        })));
    }
    given.extend_from_slice(&inputs[expected..]);
    check_body("body", network, &given)?;
    let outputs = body_outputs(network);
    if outputs.len() != n_states + put_together.len() {
        let expected = n_states + put_together.len();
        return Err(count("body", "outputs", expected, outputs.len()));
    }
    let (states, elements) = outputs.split_at(*n_states);
    let mut types = carried("body", &inputs[..*n_states], states)?;
    for (element, axis) in elements.iter().zip(put_together) {
        types.push(stacked("body", element, *axis, length)?);
    }
    Ok(types)
}

fn sequence_outputs(
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

/// Checks that sequences and optionals are not too deep inside of each other.
fn check_depth(value_type: &ValueType) -> Checked<()> {
    match value_type.depth() <= ValueType::MOST_NESTED {
        true => Ok(()),
        false => Err(fits(
            "value",
            format!(
                "sequences and optionals may be {} deep inside of each other",
                ValueType::MOST_NESTED
            ),
        )),
    }
}

/// Checks that a body takes what it is given.
fn check_body(body: &'static str, network: &Network, given: &[Option<ValueType>]) -> Checked<()> {
    if network.inputs().len() != given.len() {
        return Err(count(body, "inputs", network.inputs().len(), given.len()));
    }
    if !network.variables().is_empty() {
        return Err(fits(body, "it has variables".to_owned()));
    }
    for (&id, given) in network.inputs().iter().zip(given) {
        let taken = network.tensor(id).value_type();
        if let Some(given) = given
            && !same_kind(&taken, given)
        {
            let name = shown(&network.tensor(id).name);
            let differ = differ_in(&taken, given);
            let problem = format!("its input '{name}' is {taken}, and is given {given}{differ}");
            return Err(fits(body, problem));
        }
    }
    Ok(())
}

/// What values are that may come from either of two lists.
fn either(body: &'static str, one: Vec<ValueType>, other: &[ValueType]) -> Checked<Vec<ValueType>> {
    if one.len() != other.len() {
        return Err(count(body, "outputs", one.len(), other.len()));
    }
    let pairs = one.into_iter().zip(other).enumerate();
    pairs
        .map(|(index, (a, b))| {
            if same_kind(&a, b) {
                Ok(general(a, b))
            } else {
                let differ = differ_in(&a, b);
                let problem = format!("output {index} is {b}, elsewhere {a}{differ}");
                Err(fits(body, problem))
            }
        })
        .collect()
}

/// What carried values are: those given at first, and those that a body gives.
fn carried(
    body: &'static str,
    given: &[Option<ValueType>],
    outputs: &[ValueType],
) -> Checked<Vec<ValueType>> {
    let given: Option<Vec<ValueType>> = given.iter().cloned().collect();
    let given = given.ok_or_else(|| fits(body, "a carried value is left out".to_owned()))?;
    // What is deeper after an iteration could be made deeper without end.
    if let Some((given, output)) = (given.iter().zip(outputs)).find(|(a, b)| a.depth() != b.depth())
    {
        return Err(not_among(body, output, given));
    }
    either(body, given, outputs)
}

/// Whether a value of one type may stand where one of the other is expected: the same kind, data
/// type and rank, and of quantized numbers, the same quantization.
fn same_kind(a: &ValueType, b: &ValueType) -> bool {
    match (a, b) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => {
            a.data_type == b.data_type
                && a.shape.rank() == b.shape.rank()
                && a.quantization == b.quantization
        }
        (ValueType::Strings(a), ValueType::Strings(b)) => a.rank() == b.rank(),
        // The type of an empty one is not known.
        (ValueType::Sequence(a), ValueType::Sequence(b)) => a.depth() == b.depth(),
        (ValueType::Optional(a), ValueType::Optional(b)) => {
            is_unknown(a) || is_unknown(b) || same_kind(a, b)
        }
        _ => false,
    }
}

fn is_unknown(value_type: &ValueType) -> bool {
    *value_type == ValueType::unknown()
}

/// What two types differ in that does not show in their text.
fn differ_in(a: &ValueType, b: &ValueType) -> &'static str {
    match (a, b) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) if a.quantization != b.quantization => {
            " of another quantization"
        }
        _ => "",
    }
}

/// What is true of both.
fn general(a: ValueType, b: &ValueType) -> ValueType {
    let dims = |a: &Shape, b: &Shape| {
        merge(a, b).filter(|_| a == b).unwrap_or_else(|| {
            let pairs = a.dims().iter().zip(b.dims());
            let dims: Vec<i64> = pairs
                .map(|(&x, &y)| if x == y { x } else { Shape::UNKNOWN })
                .collect();
            Shape::new(&dims).unwrap_or(*a)
        })
    };
    match (a, b) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => ValueType::Tensor(TensorInfo {
            shape: dims(&a.shape, &b.shape),
            ..a
        }),
        (ValueType::Strings(a), ValueType::Strings(b)) => ValueType::Strings(dims(&a, b)),
        (ValueType::Sequence(a), ValueType::Sequence(b)) if same_kind(&a, b) => {
            ValueType::Sequence(Box::new(general(*a, b)))
        }
        // An empty one becomes one of the other type.
        (ValueType::Sequence(a), ValueType::Sequence(b)) if *a == ValueType::unknown() => {
            ValueType::Sequence(b.clone())
        }
        (ValueType::Optional(a), ValueType::Optional(b)) if is_unknown(&a) => {
            ValueType::Optional(b.clone())
        }
        (ValueType::Optional(a), ValueType::Optional(b)) => {
            ValueType::Optional(Box::new(general(*a, b)))
        }
        (a, _) => a,
    }
}

/// Elements put together along a new axis.
fn stacked(
    body: &'static str,
    element: &ValueType,
    axis: ScanAxis,
    length: i64,
) -> Checked<ValueType> {
    let ValueType::Tensor(info) = element else {
        return Err(no_tensor("an output that is put together", Some(element)));
    };
    check_elements(body, info)?;
    let mut dims = info.shape.dims().to_vec();
    let at = position(axis.axis, dims.len() + 1);
    let at = at.ok_or_else(|| fits(body, format!("axis {} for {info}", axis.axis)))?;
    dims.insert(at, length);
    let shape = Shape::new(&dims)
        .map_err(|_| fits(body, "an output of more than 8 dimensions".to_owned()))?;
    Ok(ValueType::Tensor(TensorInfo {
        shape,
        ..info.clone()
    }))
}

/// Checks that elements may be taken from a tensor and put together: their scale does not depend on
/// where they stand.
fn check_elements(body: &'static str, info: &TensorInfo) -> Checked<()> {
    match info.quantization.scales().len() {
        0 | 1 => Ok(()),
        _ => {
            let problem = "elements that are quantized along an axis cannot be taken apart";
            Err(fits(body, format!("{problem}: {info}")))
        }
    }
}

/// An axis, from the end if negative, among so many dimensions.
fn position(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 {
        axis.checked_add(rank)?
    } else {
        axis
    };
    (0..rank).contains(&axis).then_some(axis as usize)
}

/// Checks that an input has one element of a type.
fn one_element(inputs: &[Option<ValueType>], index: usize, data_type: DataType) -> Checked<()> {
    match inputs.get(index) {
        Some(Some(ValueType::Tensor(info))) => {
            let one = info.shape.dims().iter().all(|&dim| dim == 1 || dim < 0);
            if info.data_type == data_type && one {
                return Ok(());
            }
            let problem = format!("one element of {data_type} is needed, not {info}");
            Err(fits("condition", problem))
        }
        other => Err(no_tensor("the condition", other.and_then(Option::as_ref))),
    }
}

fn not_among(input: &'static str, value: &ValueType, of: &ValueType) -> LayerProblem {
    fits(input, format!("{value} cannot be in a sequence of {of}"))
}

fn no_tensor(what: &str, found: Option<&ValueType>) -> LayerProblem {
    LayerProblem::NoTensor {
        tensor: what.to_owned(),
        found: found.map_or_else(|| "left out".to_owned(), ToString::to_string),
    }
}

fn count(body: &'static str, what: &str, expected: usize, found: usize) -> LayerProblem {
    fits(
        body,
        format!("{expected} {what} are needed, and there are {found}"),
    )
}

fn fits(body: &'static str, problem: String) -> LayerProblem {
    LayerProblem::Body { body, problem }
}
