//! A graph that grows layer by layer.

use std::sync::Arc;

use armnn_backend_api::LayerType;
use armnn_network::{Network, NetworkBuilder, TensorId, VariableValue};
use armnn_runtime::{DataType, Shape, TensorInfo};

use super::{Random, TAKEN, elements, random_layers::fitting};

/// How many layers a graph has at most, by how deep it is in others.
const MOST_LAYERS: [usize; 3] = [16, 5, 3];

/// The most bytes of a constant.
const LARGEST_CONSTANT: usize = 1 << 10;

/// A network that grows.
pub(super) struct Body<'r> {
    pub(super) random: &'r mut Random,
    pub(super) builder: NetworkBuilder,
    /// What layers may read.
    pub(super) tensors: Vec<TensorId>,
    /// How deep the graph is in others.
    pub(super) depth: usize,
}

impl<'r> Body<'r> {
    /// A whole network; `None` if none came of it.
    pub(super) fn network(random: &mut Random) -> Option<Network> {
        let mut body = Body::new(random, 0);
        for _ in 0..1 + body.random.below(3) {
            let info = body.random.info();
            let _ = body.input(info);
        }
        if body.random.below(4) == 0 {
            body.variable();
        }
        body.grow();
        body.finish()
    }

    pub(super) fn new(random: &'r mut Random, depth: usize) -> Self {
        Self {
            random,
            builder: NetworkBuilder::new(),
            tensors: Vec::new(),
            depth,
        }
    }

    pub(super) fn input(&mut self, info: TensorInfo) -> Option<TensorId> {
        let input = self.builder.add_input_layer("", info).ok()?;
        self.tensors.push(input);
        Some(input)
    }

    /// Adds layers until there are enough, or nothing is left to choose by.
    pub(super) fn grow(&mut self) {
        let most = MOST_LAYERS[self.depth.min(MOST_LAYERS.len() - 1)];
        for _ in 0..1 + self.random.below(most) {
            if self.random.is_at_end() {
                return;
            }
            let added = match self.random.below(16) {
                0 => self.small_constant().into_iter().collect(),
                1..=5 => self.fitting().unwrap_or_default(),
                6..=9 => self.wild().unwrap_or_default(),
                10 | 11 => self.deferred().unwrap_or_default(),
                12 => self.shape_of().into_iter().collect(),
                // The same layers again, to be merged.
                13 => self.repeated().unwrap_or_default(),
                _ => self.operation().unwrap_or_default(),
            };
            self.tensors.extend(added);
        }
    }

    fn finish(mut self) -> Option<Network> {
        let variables: Vec<(String, TensorInfo)> = {
            let network = &self.builder;
            (0..2)
                .filter_map(|i| {
                    let name = format!("v{i}");
                    let input = self.tensors.iter().find(|&&id| {
                        network.tensor(id).is_some_and(|tensor| tensor.name == name)
                    })?;
                    Some((name, network.tensor(*input)?.info.clone()))
                })
                .collect()
        };
        for (name, info) in variables {
            if let Some(tensor) = self.tensor_like(&info) {
                let _ = self.builder.assign_variable(&name, tensor);
            }
        }
        let last = self.tensors.len().saturating_sub(4);
        for id in self.tensors.split_off(last) {
            if self.random.below(4) > 0 {
                let _ = self.builder.add_output_layer("", id);
            }
        }
        self.builder.finish().ok()
    }

    fn variable(&mut self) {
        let info = TensorInfo::new(DataType::Float32, self.small_shape());
        let initial = match self.random.below(2) {
            0 => VariableValue::Zero,
            _ => {
                let len = info.byte_len().unwrap_or(0);
                VariableValue::Elements(elements(self.random, &info, len).into())
            }
        };
        let name = format!("v{}", self.random.below(2));
        self.tensors
            .extend(self.builder.add_variable(&name, info, initial));
    }

    /// Any of the tensors, the last ones more often.
    pub(super) fn any(&mut self) -> Option<TensorId> {
        let n = self.tensors.len();
        let back = match self.random.below(3) {
            0 => self.random.below(n.max(1)),
            _ => self.random.below(n.clamp(1, 3)),
        };
        self.tensors.get(n.checked_sub(1 + back)?).copied()
    }

    pub(super) fn info(&self, id: TensorId) -> Option<TensorInfo> {
        self.builder.tensor(id).map(|tensor| tensor.info.clone())
    }

    pub(super) fn shape(&self, id: TensorId) -> Option<Shape> {
        Some(self.info(id)?.shape)
    }

    /// A tensor of this type and shape, if there is one.
    pub(super) fn tensor_like(&self, info: &TensorInfo) -> Option<TensorId> {
        let mut found = self.tensors.iter().rev();
        found
            .find(|&&id| {
                let tensor = self.builder.tensor(id);
                tensor.is_some_and(|t| t.value_type.is_none() && t.info == *info)
            })
            .copied()
    }

    fn small_shape(&mut self) -> Shape {
        let dims: Vec<i64> = (0..self.random.below(4))
            .map(|_| self.random.below(4) as i64)
            .collect();
        Shape::new(&dims).unwrap()
    }

    fn small_constant(&mut self) -> Option<TensorId> {
        let mut info = self.random.info();
        info.shape = self.small_shape();
        self.constant(info)
    }

    /// A constant with anything in it, unless it would be large.
    pub(super) fn constant(&mut self, info: TensorInfo) -> Option<TensorId> {
        let len = info.byte_len().filter(|&len| len <= LARGEST_CONSTANT)?;
        let bytes = elements(self.random, &info, len).into();
        self.builder.add_constant_layer("", info, bytes).ok()
    }

    /// A list of integers.
    pub(super) fn integers(&mut self, values: &[i64]) -> Option<TensorId> {
        let info = TensorInfo::new(DataType::Signed64, [values.len() as i64]);
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.builder.add_constant_layer("", info, bytes.into()).ok()
    }

    /// A layer that fits what it reads: tensors that are there, or constants.
    fn fitting(&mut self) -> Option<Vec<TensorId>> {
        let (descriptor, inputs, outputs) = fitting(self.layer_type())?;
        let mut ids = Vec::new();
        for info in inputs {
            ids.push(match info {
                None => None,
                Some(mut info) => {
                    if info.data_type.is_quantized() && info.quantization.is_none() {
                        info.quantization = self.random.quantization();
                    }
                    let found = self.tensor_like(&info);
                    let found = found.filter(|_| self.random.below(4) > 0);
                    Some(match found {
                        Some(found) => found,
                        None if self.depth == 0 && self.random.below(2) == 0 => self.input(info)?,
                        None => self.constant(info)?,
                    })
                }
            });
        }
        let added = self.builder.add_layer("", descriptor, &ids, &outputs);
        Some(self.declared(added.ok()?))
    }

    /// Mostly one that the backend takes, since a network with any other goes no further.
    fn layer_type(&mut self) -> LayerType {
        match self.random.below(24) {
            0 => self.random.pick(LayerType::ALL),
            _ => self.random.pick(&TAKEN),
        }
    }

    /// A layer with anything in its descriptor, of tensors that may not fit.
    fn wild(&mut self) -> Option<Vec<TensorId>> {
        let layer_type = self.layer_type();
        let descriptor = self.random.descriptor(layer_type);
        let n_inputs = match self.random.below(8) {
            0 => self.random.below(5),
            _ => layer_type.spec()?.input_arity().0,
        };
        let inputs: Vec<_> = (0..n_inputs).map(|_| self.any()).collect();
        let n_outputs = self.random.pick(&[0, 1, 1, 2]);
        let declared: Vec<_> = (0..n_outputs).map(|_| self.random.declaration()).collect();
        let added = self.builder.add_layer("", descriptor, &inputs, &declared);
        Some(self.declared(added.ok()?))
    }

    /// Declares the quantization of outputs that have none yet.
    fn declared(&mut self, outputs: Vec<TensorId>) -> Vec<TensorId> {
        for &output in &outputs {
            let Some(mut info) = self.info(output) else {
                continue;
            };
            if info.data_type.is_quantized() && info.quantization.is_none() {
                info.quantization = self.random.quantization();
                let _ = self.builder.expect_output_info(output, &info);
            }
        }
        outputs
    }

    /// A unary layer, several times, of one tensor.
    fn repeated(&mut self) -> Option<Vec<TensorId>> {
        let x = self.any()?;
        let added = (0..2).map(|_| self.builder.add_abs_layer(x, "").ok());
        added.collect()
    }

    fn shape_of(&mut self) -> Option<TensorId> {
        let input = self.any()?;
        let rank = self.shape(input)?.rank();
        let (start, end) = (self.random.below(rank + 1), self.random.below(rank + 2));
        let data_type = self.random.pick(&[DataType::Signed32, DataType::Signed64]);
        self.builder
            .add_shape_layer(input, start, end, data_type, "")
            .ok()
    }

    /// A graph inside this one: it is given tensors like these, and `fill` makes it.
    pub(super) fn inner(
        &mut self,
        inputs: &[TensorInfo],
        fill: impl FnOnce(&mut Body<'_>, &[TensorId]) -> Option<Vec<TensorId>>,
    ) -> Option<Arc<Network>> {
        let mut body = Body::new(self.random, self.depth + 1);
        let ids: Option<Vec<TensorId>> = inputs
            .iter()
            .map(|info| body.builder.add_input_layer("", info.clone()).ok())
            .collect();
        let outputs = fill(&mut body, &ids?)?;
        for output in outputs {
            body.builder.add_output_layer("", output).ok()?;
        }
        body.builder.finish().ok().map(Arc::new)
    }
}
