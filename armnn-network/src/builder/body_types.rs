//! The types of what control flow gives, from those of its bodies.

use armnn_backend_api::{DataType, Shape, TensorInfo};

use super::value_types::{
    Checked, count, differ_in, either, fits, no_tensor, not_among, position, same_kind,
};
use crate::error::shown;
use crate::{LoopBody, Network, ScanAxis, ScanBody, ValueType};

/// The types of the outputs of If.
pub(super) fn if_outputs(
    then_body: &Network,
    else_body: &Network,
    inputs: &[Option<ValueType>],
) -> Checked<Vec<ValueType>> {
    one_element(inputs, 0, DataType::Boolean)?;
    check_body("then", then_body, &inputs[1..])?;
    check_body("else", else_body, &inputs[1..])?;
    either("else", body_outputs(then_body), &body_outputs(else_body))
}

/// The types of the outputs of While.
pub(super) fn while_outputs(
    condition: &Network,
    body: &Network,
    n_carried: usize,
    inputs: &[Option<ValueType>],
) -> Checked<Vec<ValueType>> {
    if n_carried > inputs.len() {
        return Err(count("body", "inputs", n_carried, inputs.len()));
    }
    check_body("condition", condition, inputs)?;
    check_body("body", body, inputs)?;
    let outputs = body_outputs(body);
    if outputs.len() != n_carried {
        return Err(count("body", "outputs", n_carried, outputs.len()));
    }
    carried("body", &inputs[..n_carried], &outputs)
}

/// The types of the outputs of Loop.
pub(super) fn loop_outputs(
    body: &LoopBody,
    inputs: &[Option<ValueType>],
) -> Checked<Vec<ValueType>> {
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

/// The types of the outputs of Scan.
pub(super) fn scan_outputs(
    body: &ScanBody,
    inputs: &[Option<ValueType>],
) -> Checked<Vec<ValueType>> {
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

/// The types of a network's outputs.
fn body_outputs(body: &Network) -> Vec<ValueType> {
    let outputs = body.outputs().iter();
    outputs
        .map(|output| body.tensor(output.tensor).value_type())
        .collect()
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
