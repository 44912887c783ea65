//! If, Loop and While.

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::LoopBody;

use super::{GraphState, Layer, Result, Run};
use crate::{tensor::HostTensor, value::Value};

pub(super) fn execute_if(
    mut layer: Layer<'_>,
    bodies: &mut [GraphState],
    run: &mut Run<'_>,
) -> Result<Vec<Value>> {
    let chosen = usize::from(!layer.condition(layer.input(0)?)?);
    let (Some(state), Some(body)) = (bodies.get_mut(chosen), layer.operation.bodies.get(chosen))
    else {
        return Err(layer.failed("it has no such body"));
    };
    let captured = layer.take_from(1)?;
    state
        .call(body, captured, run)
        .map_err(|e| layer.failed_inside(None, e))
}

pub(super) fn execute_loop(
    mut layer: Layer<'_>,
    body: &LoopBody,
    bodies: &mut [GraphState],
    run: &mut Run<'_>,
) -> Result<Vec<Value>> {
    let ([state], [graph]) = (bodies, &layer.operation.bodies[..]) else {
        return Err(layer.failed("it has no body"));
    };
    let most = match layer.optional(0) {
        Some(_) => layer.integer(0)?,
        None => i64::MAX,
    };
    let mut goes_on = match layer.optional(1) {
        Some(condition) => layer.condition(condition)?,
        None => true,
    };
    let n_carried = body.n_carried;
    let mut carried = layer.take_from(2)?;
    let captured = carried.split_off(n_carried.min(carried.len()));
    let n_scanned = graph.outputs.len().saturating_sub(1 + n_carried);
    let mut scanned: Vec<Stack> = (0..n_scanned).map(|_| Stack::default()).collect();
    let mut iteration: i64 = 0;
    while goes_on && iteration < most {
        run.check_interrupt()?;
        let number = layer.scalar(DataType::Signed64, &iteration.to_ne_bytes())?;
        let condition = layer.scalar(DataType::Boolean, &[1])?;
        let inputs = [number, condition]
            .into_iter()
            .chain(std::mem::take(&mut carried))
            .chain(captured.iter().cloned());
        let place = Some(iteration.unsigned_abs());
        let outputs = state.call(graph, inputs, run);
        let outputs = outputs.map_err(|e| layer.failed_inside(place, e))?;
        let mut outputs = outputs.into_iter();
        goes_on = match outputs.next() {
            Some(condition) => layer.condition(&condition)?,
            None => false,
        };
        carried.extend(outputs.by_ref().take(n_carried));
        for (stack, element) in scanned.iter_mut().zip(outputs) {
            stack.push(&layer, &element, run.memory_limit)?;
        }
        iteration = iteration.saturating_add(1);
    }
    for (index, stack) in scanned.into_iter().enumerate() {
        let info = layer.operation.output_info(n_carried + index);
        carried.push(stack.finish(&layer, info)?.into());
    }
    Ok(carried)
}

pub(super) fn execute_while(
    mut layer: Layer<'_>,
    n_carried: usize,
    bodies: &mut [GraphState],
    run: &mut Run<'_>,
) -> Result<Vec<Value>> {
    let ([condition_state, body_state], [condition, body]) = (bodies, &layer.operation.bodies[..])
    else {
        return Err(layer.failed("it has not two bodies"));
    };
    let mut carried = layer.take_from(0)?;
    let captured = carried.split_off(n_carried.min(carried.len()));
    let mut iteration = 0u64;
    loop {
        run.check_interrupt()?;
        let inside = |e| layer.failed_inside(Some(iteration), e);
        let values = || carried.iter().chain(&captured).cloned();
        let goes_on = condition_state
            .call(condition, values(), run)
            .map_err(inside)?;
        match goes_on.first() {
            Some(goes_on) if layer.condition(goes_on)? => {}
            _ => return Ok(carried),
        }
        let values = std::mem::take(&mut carried).into_iter();
        let values = values.chain(captured.iter().cloned());
        carried = body_state.call(body, values, run).map_err(inside)?;
        iteration = iteration.saturating_add(1);
    }
}

/// Elements that are put together along a new first dimension.
#[derive(Default)]
struct Stack {
    info: Option<TensorInfo>,
    bytes: Vec<u8>,
    count: i64,
}

impl Stack {
    fn push(&mut self, layer: &Layer<'_>, element: &Value, memory_limit: u64) -> Result<()> {
        let tensor = element.as_tensor().ok_or_else(|| {
            layer.failed(format!(
                "what each iteration gives must be a tensor, and is {}",
                element.describe()
            ))
        })?;
        match &self.info {
            Some(info) if info != tensor.info() => {
                return Err(layer.failed(format!(
                    "what each iteration gives must have one shape; it was {info} and is {}",
                    tensor.info()
                )));
            }
            Some(_) => {}
            None => self.info = Some(tensor.info().clone()),
        }
        let len = self.bytes.len() as u64 + tensor.bytes().len() as u64;
        if len > memory_limit {
            let problem = "what its iterations give is larger than the memory limit of";
            return Err(layer.failed(format!("{problem} {memory_limit} bytes")));
        }
        self.bytes
            .try_reserve(tensor.bytes().len())
            .map_err(|_| layer.failed("not enough memory for what its iterations give"))?;
        self.bytes.extend_from_slice(tensor.bytes());
        self.count += 1;
        Ok(())
    }

    /// Without any element, the declared type and shape, in which what is unknown becomes 0.
    fn finish(self, layer: &Layer<'_>, declared: Option<&TensorInfo>) -> Result<HostTensor> {
        let (info, dims) = match (self.info, declared) {
            (Some(info), _) => {
                let dims = info.shape.dims().to_vec();
                (info, dims)
            }
            (None, Some(declared)) => {
                let rest = declared.shape.dims().iter().skip(1);
                let dims = rest.map(|&dim| dim.max(0)).collect();
                (declared.clone(), dims)
            }
            (None, None) => return Err(layer.failed("the type of an output is not known")),
        };
        let mut all = vec![self.count];
        all.extend(dims);
        let shape = Shape::new(&all).map_err(|e| layer.failed(e.to_string()))?;
        HostTensor::from_bytes(TensorInfo { shape, ..info }, &self.bytes)
            .map_err(|e| layer.failed(e.to_string()))
    }
}
