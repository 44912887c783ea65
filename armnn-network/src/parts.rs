//! The cut of a network into parts that are executed one after the other.
//!
//! Everything in a segment can be planned before any of it is executed: all shapes and parameters
//! follow from those of its inputs. Between segments stand the operations of the runtime, and the
//! places where a size or a parameter must be computed first.

use std::collections::{BTreeMap, HashMap};

use crate::evaluation::is_evaluated;
use crate::inference::depends_on_data;
use crate::{
    KnownValue, Layer, LayerId, Network, NetworkOutput, Operation, Tensor, TensorId, TensorSource,
};

/// A part of a network.
#[derive(Clone, Debug)]
pub enum Part {
    /// Layers of backends.
    Segment(Box<Segment>),
    /// A layer that the runtime does itself.
    Operation(LayerId),
}

/// Layers of backends, as a network of their own.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The network. Its layers and tensors have the names that they have in the whole one.
    pub network: Network,
    /// For each of its inputs, the tensor of the whole network.
    pub inputs: Vec<TensorId>,
    /// For each of its inputs, whether parameters depend on its value, which must be known when a
    /// plan is made.
    pub value_inputs: Vec<bool>,
    /// For each of its outputs, the tensor of the whole network.
    pub outputs: Vec<TensorId>,
    /// For each of its layers, the layer of the whole network.
    pub layers: Vec<LayerId>,
}

/// When a tensor is there, and whether its value can be known when the segment is planned.
#[derive(Clone, Copy, Default)]
struct Availability {
    stage: u32,
    known: bool,
}

impl Network {
    /// The parts, in the order in which they are executed. A network whose layers are all of
    /// backends, and whose shapes follow from those of its inputs, is one segment.
    ///
    /// Takes time in proportion to the size of the network.
    pub fn parts(&self) -> Vec<Part> {
        let (stages, last) = self.stages();
        let mut layers_of: BTreeMap<u32, Vec<LayerId>> = BTreeMap::new();
        let mut operations_of: BTreeMap<u32, Vec<LayerId>> = BTreeMap::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let of = match layer.operation {
                Operation::Runtime(_) => &mut operations_of,
                _ => &mut layers_of,
            };
            of.entry(stages[index])
                .or_default()
                .push(LayerId(index as u32));
        }
        let needed = self.needed_outside(&stages);
        let mut parts = Vec::new();
        for stage in 0..=last {
            if let Some(layers) = layers_of.remove(&stage) {
                parts.push(Part::Segment(Box::new(self.segment(layers, &needed))));
            }
            let operations = operations_of.remove(&stage).unwrap_or_default();
            parts.extend(operations.into_iter().map(Part::Operation));
        }
        parts
    }

    /// The stage of each layer, and the last one.
    fn stages(&self) -> (Vec<u32>, u32) {
        let mut tensors: Vec<Availability> = self
            .tensors
            .iter()
            .map(|tensor| Availability {
                stage: 0,
                known: may_be_given(tensor),
            })
            .collect();
        let mut stages = vec![0; self.layers.len()];
        let mut last = 0;
        for (index, layer) in self.layers.iter().enumerate() {
            let inputs = || layer.present_inputs().map(|id| tensors[id.index()]);
            let mut stage = inputs().map(|input| input.stage).max().unwrap_or(0);
            if let Operation::Deferred(deferred) = &layer.operation {
                let parameters = layer.inputs.iter().skip(deferred.n_data).flatten();
                // What cannot be known must be computed first.
                let first = parameters
                    .map(|id| tensors[id.index()])
                    .filter(|parameter| !parameter.known)
                    .map(|parameter| parameter.stage.saturating_add(1));
                stage = first.max().unwrap_or(0).max(stage);
            }
            let can_be_evaluated = match &layer.operation {
                Operation::Layer(descriptor) => is_evaluated(descriptor),
                Operation::Deferred(deferred) => deferred.rule.is_evaluated(),
                Operation::Shape { .. } | Operation::Runtime(_) => false,
            };
            let holds = |id: &TensorId| KnownValue::holds(self.tensor(*id).info.data_type);
            let known = matches!(layer.operation, Operation::Shape { .. })
                || can_be_evaluated
                    && inputs().all(|input| input.known)
                    && layer.outputs.iter().all(holds);
            let later = match &layer.operation {
                Operation::Runtime(_) => true,
                Operation::Layer(descriptor) => {
                    depends_on_data(descriptor)
                        && (layer.outputs.iter()).any(|&id| !self.tensor(id).info.shape.is_known())
                }
                Operation::Deferred(_) | Operation::Shape { .. } => false,
            };
            stages[index] = stage;
            last = last.max(stage);
            for id in &layer.outputs {
                tensors[id.index()] = Availability {
                    stage: stage.saturating_add(u32::from(later)),
                    // What the runtime computes is there when the next segment is planned.
                    known: known || (later && may_be_parameter(self.tensor(*id))),
                };
            }
        }
        (stages, last)
    }

    /// Which tensors are read elsewhere than in the segment of the layer that produces them.
    fn needed_outside(&self, stages: &[u32]) -> Vec<bool> {
        let mut needed = vec![false; self.tensors.len()];
        let outputs = self.outputs.iter().map(|output| output.tensor);
        let assigned = self.variables.iter().filter_map(|variable| variable.output);
        for id in outputs.chain(assigned) {
            needed[id.index()] = true;
        }
        for (index, layer) in self.layers.iter().enumerate() {
            let is_operation = matches!(layer.operation, Operation::Runtime(_));
            for id in layer.present_inputs() {
                if let Some(producer) = self.tensor(id).producer()
                    && (is_operation || stages[producer.index()] != stages[index])
                {
                    needed[id.index()] = true;
                }
            }
        }
        needed
    }

    /// Some layers as a network of their own.
    fn segment(&self, layers: Vec<LayerId>, needed: &[bool]) -> Segment {
        let mut network = Network::default();
        let mut numbers: HashMap<TensorId, TensorId> = HashMap::new();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (number, &id) in layers.iter().enumerate() {
            let layer = self.layer(id);
            let mut local = Layer {
                name: layer.name.clone(),
                operation: layer.operation.clone(),
                inputs: Vec::with_capacity(layer.inputs.len()),
                outputs: Vec::with_capacity(layer.outputs.len()),
                backend_hint: layer.backend_hint.clone(),
            };
            for &input in &layer.inputs {
                local.inputs.push(input.map(|input| {
                    *numbers.entry(input).or_insert_with(|| {
                        let tensor = self.tensor(input);
                        let number = TensorId(network.tensors.len() as u32);
                        let source = match &tensor.source {
                            TensorSource::Constant(data) => TensorSource::Constant(data.clone()),
                            _ => {
                                network.inputs.push(number);
                                inputs.push(input);
                                TensorSource::Input
                            }
                        };
                        network.tensors.push(Tensor {
                            source,
                            ..tensor.clone()
                        });
                        number
                    })
                }));
            }
            for &output in &layer.outputs {
                let tensor = TensorId(network.tensors.len() as u32);
                network.tensors.push(Tensor {
                    source: TensorSource::Layer(LayerId(number as u32)),
                    ..self.tensor(output).clone()
                });
                numbers.insert(output, tensor);
                local.outputs.push(tensor);
                if needed[output.index()] {
                    outputs.push(output);
                    network.outputs.push(NetworkOutput {
                        name: self.tensor(output).name.clone(),
                        tensor,
                    });
                }
            }
            network.layers.push(local);
        }
        let value_inputs = value_inputs(&network);
        Segment {
            network,
            inputs,
            value_inputs,
            outputs,
            layers,
        }
    }
}

/// Whether the value of a tensor can be given when a plan is made: it is a constant, or a small
/// input.
fn may_be_given(tensor: &Tensor) -> bool {
    match tensor.source {
        TensorSource::Constant(_) => KnownValue::holds(tensor.info.data_type),
        TensorSource::Input => may_be_parameter(tensor),
        TensorSource::Layer(_) => false,
    }
}

/// Whether a tensor is of a kind that models take for parameters: a few numbers.
fn may_be_parameter(tensor: &Tensor) -> bool {
    let info = &tensor.info;
    let count = info.shape.num_elements();
    tensor.value_type.is_none()
        && KnownValue::holds(info.data_type)
        && info.shape.rank() <= 2
        && match count {
            Some(count) => count <= KnownValue::MOST_ELEMENTS as u64,
            // A list of unknown length; what has two unknown dimensions is data.
            None => info.shape.rank() <= 1,
        }
}

/// For each input of a segment, whether the parameters of a layer depend on its value.
fn value_inputs(network: &Network) -> Vec<bool> {
    let mut wanted = vec![false; network.tensors.len()];
    for layer in network.layers.iter().rev() {
        match &layer.operation {
            Operation::Deferred(deferred) => {
                let is_wanted = deferred.rule.is_evaluated()
                    && layer.outputs.iter().any(|id| wanted[id.index()]);
                let first = if is_wanted { 0 } else { deferred.n_data };
                for id in layer.inputs.iter().skip(first).flatten() {
                    wanted[id.index()] = true;
                }
            }
            Operation::Layer(descriptor)
                if is_evaluated(descriptor)
                    && layer.outputs.iter().any(|id| wanted[id.index()]) =>
            {
                for id in layer.present_inputs() {
                    wanted[id.index()] = true;
                }
            }
            _ => {}
        }
    }
    network.inputs.iter().map(|id| wanted[id.index()]).collect()
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Shape, TensorInfo};

    use super::*;
    use crate::{NetworkBuilder, ParameterRule, RuntimeOperation, SequenceOperation};

    fn f32(dims: &[i64]) -> TensorInfo {
        TensorInfo::new(DataType::Float32, Shape::new(dims).unwrap())
    }

    #[test]
    fn a_plain_network_is_one_segment() {
        let mut builder = NetworkBuilder::new();
        let x = builder.add_input_layer("x", f32(&[-1, 3])).unwrap();
        let y = builder.add_abs_layer(x, "y").unwrap();
        builder.add_output_layer("y", y).unwrap();
        let network = builder.finish().unwrap();
        let parts = network.parts();
        let [Part::Segment(segment)] = &parts[..] else {
            panic!("{parts:?}");
        };
        assert_eq!(segment.inputs, [x]);
        assert_eq!(segment.value_inputs, [false]);
        assert_eq!(segment.outputs, [y]);
        assert_eq!(segment.layers, [LayerId(0)]);
    }

    #[test]
    fn an_input_that_is_a_parameter_is_a_value_input() {
        let mut builder = NetworkBuilder::new();
        let x = builder.add_input_layer("x", f32(&[2, 6])).unwrap();
        let target = TensorInfo::new(DataType::Signed64, [3]);
        let target = builder.add_input_layer("target", target).unwrap();
        let rule = ParameterRule::Reshape { allow_zero: false };
        let y = builder.add_deferred_layer("y", rule, &[Some(x)], &[Some(target)], &[]);
        builder.add_output_layer("y", y.unwrap()[0]).unwrap();
        let parts = builder.finish().unwrap().parts();
        let [Part::Segment(segment)] = &parts[..] else {
            panic!("{parts:?}");
        };
        assert_eq!(segment.value_inputs, [false, true]);
    }

    #[test]
    fn operations_of_the_runtime_stand_between_segments() {
        // y = |sequence(|x|)[0]|, and z = |x| is read on both sides.
        let mut builder = NetworkBuilder::new();
        let x = builder.add_input_layer("x", f32(&[2])).unwrap();
        let z = builder.add_abs_layer(x, "z").unwrap();
        let construct = RuntimeOperation::Sequence(SequenceOperation::Construct);
        let all = builder
            .add_runtime_layer("all", construct, &[Some(z)])
            .unwrap();
        let zero = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
        let zero = builder
            .add_constant_layer("0", zero, vec![0; 8].into())
            .unwrap();
        let at = RuntimeOperation::Sequence(SequenceOperation::At);
        let first = builder
            .add_runtime_layer("first", at, &[Some(all[0]), Some(zero)])
            .unwrap();
        let sum = builder.add_addition_layer(first[0], z, "sum").unwrap();
        builder.add_output_layer("sum", sum).unwrap();
        let parts = builder.finish().unwrap().parts();
        let [
            Part::Segment(before),
            Part::Operation(LayerId(1)),
            Part::Operation(LayerId(2)),
            Part::Segment(after),
        ] = &parts[..]
        else {
            panic!("{parts:?}");
        };
        assert_eq!(before.outputs, [z]);
        assert_eq!(after.inputs, [first[0], z]);
        assert_eq!(after.outputs, [sum]);
    }
}
