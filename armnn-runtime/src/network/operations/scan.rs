//! Scan: a body for each element along an axis.

use armnn_backend_api::{Shape, TensorInfo};
use armnn_network::{ScanAxis, ScanBody};

use super::{GraphState, Layer, Result, Run, position};
use crate::{tensor::HostTensor, value::Value};

pub(super) fn execute(
    mut layer: Layer<'_>,
    body: &ScanBody,
    bodies: &mut [GraphState],
    run: &mut Run<'_>,
) -> Result<Vec<Value>> {
    let ([state], [graph]) = (bodies, &layer.operation.bodies[..]) else {
        return Err(layer.failed("it has no body"));
    };
    let n_states = body.n_states;
    let mut states = layer.take(0..n_states)?;
    let first_captured = n_states + body.inputs.len();
    let captured = layer.take_from(first_captured)?;
    let layer = &layer;
    let scanned: Vec<Slices<'_>> = body
        .inputs
        .iter()
        .enumerate()
        .map(|(index, &axis)| Slices::new(layer, layer.tensor(n_states + index)?, axis))
        .collect::<Result<_>>()?;
    let count = scanned.first().map_or(0, |slices| slices.count);
    if let Some(other) = scanned.iter().find(|slices| slices.count != count) {
        return Err(layer.failed(format!(
            "its inputs have {count} and {} elements along their axes",
            other.count
        )));
    }
    let mut put_together: Vec<Vec<Value>> = vec![Vec::new(); body.outputs.len()];
    let mut bytes = 0u64;
    for iteration in 0..count {
        run.check_interrupt()?;
        let mut inputs = std::mem::take(&mut states);
        for slices in &scanned {
            inputs.push(slices.get(layer, iteration)?.into());
        }
        inputs.extend(captured.iter().cloned());
        let outputs = state.call(graph, inputs, run);
        let outputs = outputs.map_err(|e| layer.failed_inside(Some(iteration as u64), e))?;
        let mut outputs = outputs.into_iter();
        states.extend(outputs.by_ref().take(n_states));
        for (list, element) in put_together.iter_mut().zip(outputs) {
            let len = element.as_tensor().map_or(0, |tensor| tensor.bytes().len());
            // One without elements takes memory, too.
            bytes = bytes.saturating_add((len + size_of::<Value>()) as u64);
            if bytes > run.memory_limit {
                return Err(layer.failed(format!(
                    "what its iterations give is larger than the memory limit of {} bytes",
                    run.memory_limit
                )));
            }
            list.push(element);
        }
    }
    for (index, (elements, &axis)) in put_together.into_iter().zip(&body.outputs).enumerate() {
        let declared = layer.operation.output_info(n_states + index);
        states.push(join(layer, &elements, axis, declared, run)?.into());
    }
    Ok(states)
}

/// A tensor, cut along an axis into elements without it.
struct Slices<'a> {
    tensor: &'a HostTensor,
    info: TensorInfo,
    axis: ScanAxis,
    count: usize,
    /// Bytes of what lies behind the axis.
    inner: usize,
}

impl<'a> Slices<'a> {
    fn new(layer: &Layer<'_>, tensor: &'a HostTensor, axis: ScanAxis) -> Result<Self> {
        let info = tensor.info();
        let at = position(axis.axis, info.shape.rank());
        let at = at.ok_or_else(|| layer.failed(format!("axis {} of {info}", axis.axis)))?;
        let size = element_size(layer, info)?;
        let mut dims = info.shape.dims().to_vec();
        let count = info.shape.dim(at);
        let inner = bytes_behind(info, at + 1, size);
        dims.remove(at);
        let shape = Shape::new(&dims).map_err(|e| layer.failed(e.to_string()))?;
        Ok(Self {
            tensor,
            info: TensorInfo {
                shape,
                ..info.clone()
            },
            axis,
            count,
            inner,
        })
    }

    fn get(&self, layer: &Layer<'_>, iteration: usize) -> Result<HostTensor> {
        let at = match self.axis.reverse {
            true => self.count - 1 - iteration,
            false => iteration,
        };
        let mut element = layer.new_tensor(self.info.clone())?;
        if self.inner > 0 {
            let from = self.tensor.bytes().chunks_exact(self.inner * self.count);
            let to = element.bytes_mut().chunks_exact_mut(self.inner);
            for (to, from) in to.zip(from) {
                to.copy_from_slice(&from[at * self.inner..(at + 1) * self.inner]);
            }
        }
        Ok(element)
    }
}

/// Elements joined along a new axis.
fn join(
    layer: &Layer<'_>,
    elements: &[Value],
    axis: ScanAxis,
    declared: Option<&TensorInfo>,
    run: &Run<'_>,
) -> Result<HostTensor> {
    let tensors: Vec<&HostTensor> = elements
        .iter()
        .map(|element| {
            element.as_tensor().ok_or_else(|| {
                let what = element.describe();
                layer.failed(format!(
                    "what is put together must be tensors, and is {what}"
                ))
            })
        })
        .collect::<Result<_>>()?;
    let Some(first) = tensors.first() else {
        let declared =
            declared.ok_or_else(|| layer.failed("the type of an output is not known"))?;
        let dims: Vec<i64> = declared
            .shape
            .dims()
            .iter()
            .map(|&dim| dim.max(0))
            .collect();
        let shape = Shape::new(&dims).map_err(|e| layer.failed(e.to_string()))?;
        return layer.new_tensor(TensorInfo {
            shape,
            ..declared.clone()
        });
    };
    let info = first.info();
    if let Some(other) = tensors.iter().find(|tensor| tensor.info() != info) {
        let other = other.info();
        return Err(layer.failed(format!(
            "what is put together must have one shape; it is {info} and {other}"
        )));
    }
    let size = element_size(layer, info)?;
    let at = position(axis.axis, info.shape.rank() + 1);
    let at = at.ok_or_else(|| layer.failed(format!("axis {} for {info}", axis.axis)))?;
    let mut dims = info.shape.dims().to_vec();
    let inner = bytes_behind(info, at, size);
    dims.insert(at, i64::try_from(tensors.len()).unwrap_or(i64::MAX));
    let shape = Shape::new(&dims).map_err(|e| layer.failed(e.to_string()))?;
    let joined = TensorInfo {
        shape,
        ..info.clone()
    };
    layer.check_limit(&joined, run.memory_limit)?;
    let mut joined = layer.new_tensor(joined)?;
    if inner > 0 {
        let count = tensors.len();
        for (index, tensor) in tensors.iter().enumerate() {
            let place = if axis.reverse {
                count - 1 - index
            } else {
                index
            };
            let to = joined.bytes_mut().chunks_exact_mut(inner * count);
            for (to, from) in to.zip(tensor.bytes().chunks_exact(inner)) {
                to[place * inner..(place + 1) * inner].copy_from_slice(from);
            }
        }
    }
    Ok(joined)
}

/// Bytes of what lies in the dimensions from one on. The products of a tensor's dimensions fit, also
/// if others are 0.
fn bytes_behind(info: &TensorInfo, axis: usize, element_size: usize) -> usize {
    let dims = info.shape.dims().iter().skip(axis);
    dims.map(|&dim| dim as usize).product::<usize>() * element_size
}

/// Bytes of an element; some types have several in a byte.
fn element_size(layer: &Layer<'_>, info: &TensorInfo) -> Result<usize> {
    let size = info.data_type.size();
    size.ok_or_else(|| layer.failed(format!("elements of {} cannot be scanned", info.data_type)))
}
