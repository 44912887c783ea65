//! The flat tables of a subgraph view, made from a network.

use std::{collections::HashMap, marker::PhantomData, ptr::null};

use armnn_backend_api::{
    LayerDescriptor, Shape,
    sys::{self, ArmnnLayerDesc, ArmnnQuantization, ArmnnStr, ArmnnSubgraphView, ArmnnTensorDesc},
};
use armnn_network::{LayerId, Network, TensorId};

use super::constants::ConstantAccess;

/// The tables behind an [`ArmnnSubgraphView`] of some layers of a network.
pub(crate) struct ViewTables<'a> {
    layer_ids: Vec<LayerId>,
    tensor_ids: Vec<TensorId>,
    layers: Vec<ArmnnLayerDesc>,
    tensors: Vec<ArmnnTensorDesc>,
    // What the pointers in the tables lead to.
    _indices: Vec<u32>,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    network: PhantomData<&'a Network>,
}

/// What of the network is shown.
pub(crate) struct ViewSource<'a> {
    pub(crate) network: &'a Network,
    /// The shape of every tensor.
    pub(crate) shapes: &'a [Shape],
    pub(crate) constants: &'a dyn ConstantAccess,
    /// The descriptors of deferred layers.
    pub(crate) descriptors: &'a HashMap<LayerId, LayerDescriptor>,
    /// For every tensor, how many layers read it in the whole network, plus one if it is an output
    /// of the network.
    pub(crate) uses: &'a [u32],
}

pub(crate) fn raw_str(s: &str) -> ArmnnStr {
    ArmnnStr {
        ptr: s.as_ptr().cast(),
        len: s.len(),
    }
}

impl<'a> ViewTables<'a> {
    /// Shows `layer_ids`, which are in topological order, and the tensors they touch.
    pub(crate) fn new(source: &ViewSource<'a>, layer_ids: Vec<LayerId>) -> Self {
        let network = source.network;
        let mut tensor_ids = Vec::new();
        let mut local: HashMap<TensorId, u32> = HashMap::new();
        let mut index_of = |id: TensorId| -> u32 {
            *local.entry(id).or_insert_with(|| {
                tensor_ids.push(id);
                tensor_ids.len() as u32 - 1
            })
        };

        // Inputs and outputs of the layers, one list after the other.
        let mut indices = Vec::new();
        let mut ranges = Vec::with_capacity(layer_ids.len());
        for &id in &layer_ids {
            let layer = network.layer(id);
            let inputs = indices.len();
            indices.extend(
                layer
                    .data_inputs()
                    .iter()
                    .map(|i| i.map_or(sys::ARMNN_NO_TENSOR, &mut index_of)),
            );
            let outputs = indices.len();
            indices.extend(layer.outputs.iter().map(|&o| index_of(o)));
            ranges.push((inputs, outputs, indices.len()));
        }

        let mut producer = vec![sys::ARMNN_NO_LAYER; tensor_ids.len()];
        let mut consumers: Vec<Vec<u32>> = vec![Vec::new(); tensor_ids.len()];
        for (layer, &(inputs, outputs, end)) in ranges.iter().enumerate() {
            for &tensor in &indices[inputs..outputs] {
                if tensor != sys::ARMNN_NO_TENSOR {
                    consumers[tensor as usize].push(layer as u32);
                }
            }
            for &tensor in &indices[outputs..end] {
                producer[tensor as usize] = layer as u32;
            }
        }

        let mut view_inputs = Vec::new();
        let mut view_outputs = Vec::new();
        let mut flags = vec![0; tensor_ids.len()];
        let mut consumer_ranges = Vec::with_capacity(tensor_ids.len());
        for (index, &id) in tensor_ids.iter().enumerate() {
            let is_constant = network.tensor(id).constant().is_some();
            let produced_here = producer[index] != sys::ARMNN_NO_LAYER;
            if !produced_here && !is_constant {
                view_inputs.push(index as u32);
                flags[index] |= sys::ARMNN_TENSOR_VIEW_INPUT;
            }
            if produced_here && source.uses[id.index()] > consumers[index].len() as u32 {
                view_outputs.push(index as u32);
                flags[index] |= sys::ARMNN_TENSOR_VIEW_OUTPUT;
            }
            let start = indices.len();
            indices.append(&mut consumers[index]);
            consumer_ranges.push((start, indices.len()));
        }

        let at = |start: usize, end: usize| -> *const u32 {
            if start == end {
                null()
            } else {
                indices[start..end].as_ptr()
            }
        };
        let layers = layer_ids
            .iter()
            .zip(&ranges)
            .map(|(&id, &(inputs, outputs, end))| {
                let layer = network.layer(id);
                let descriptor = layer.descriptor().or_else(|| source.descriptors.get(&id));
                // Layers without one are the runtime's, and no backend is asked about them.
                let (descriptor, descriptor_size) = descriptor.map_or((null(), 0), |d| d.raw());
                ArmnnLayerDesc {
                    name: raw_str(&layer.name),
                    layer_type: layer.layer_type().0,
                    id: id.0,
                    descriptor,
                    descriptor_size,
                    inputs: at(inputs, outputs),
                    outputs: at(outputs, end),
                    n_inputs: (outputs - inputs) as u32,
                    n_outputs: (end - outputs) as u32,
                }
            })
            .collect();
        let tensors = tensor_ids
            .iter()
            .enumerate()
            .map(|(index, &id)| {
                let (start, end) = consumer_ranges[index];
                ArmnnTensorDesc {
                    flags: flags[index],
                    producer: producer[index],
                    consumers: at(start, end),
                    n_consumers: (end - start) as u32,
                    ..tensor_desc(source, id)
                }
            })
            .collect();
        Self {
            layer_ids,
            tensor_ids,
            layers,
            tensors,
            _indices: indices,
            inputs: view_inputs,
            outputs: view_outputs,
            network: PhantomData,
        }
    }

    /// The view; valid while `self` is.
    pub(crate) fn view(&self) -> ArmnnSubgraphView {
        ArmnnSubgraphView {
            struct_size: size_of::<ArmnnSubgraphView>(),
            layers: self.layers.as_ptr(),
            n_layers: self.layers.len(),
            layer_stride: size_of::<ArmnnLayerDesc>(),
            tensors: self.tensors.as_ptr(),
            n_tensors: self.tensors.len(),
            tensor_stride: size_of::<ArmnnTensorDesc>(),
            inputs: self.inputs.as_ptr(),
            n_inputs: self.inputs.len(),
            outputs: self.outputs.as_ptr(),
            n_outputs: self.outputs.len(),
        }
    }

    /// The layers shown; the index in the view is the index here.
    pub(crate) fn layer_ids(&self) -> &[LayerId] {
        &self.layer_ids
    }

    /// The tensors shown; the index in the view is the index here.
    pub(crate) fn tensor_ids(&self) -> &[TensorId] {
        &self.tensor_ids
    }

    /// The layer of the view that produces a tensor of it.
    pub(crate) fn producer(&self, tensor: u32) -> Option<u32> {
        let producer = self.tensors[tensor as usize].producer;
        (producer != sys::ARMNN_NO_LAYER).then_some(producer)
    }

    /// Inputs of a layer of the view.
    pub(crate) fn layer_inputs(&self, layer: u32) -> &[u32] {
        let desc = &self.layers[layer as usize];
        // SAFETY: the table was made from this list.
        unsafe { list(desc.inputs, desc.n_inputs) }
    }

    /// Outputs of a layer of the view.
    pub(crate) fn layer_outputs(&self, layer: u32) -> &[u32] {
        let desc = &self.layers[layer as usize];
        // SAFETY: the table was made from this list.
        unsafe { list(desc.outputs, desc.n_outputs) }
    }

    /// Layers of the view that read a tensor of it.
    pub(crate) fn consumers(&self, tensor: u32) -> &[u32] {
        let desc = &self.tensors[tensor as usize];
        // SAFETY: the table was made from this list.
        unsafe { list(desc.consumers, desc.n_consumers) }
    }

    /// Whether a tensor of the view is a constant.
    pub(crate) fn is_constant(&self, tensor: u32) -> bool {
        self.tensors[tensor as usize].constant_id != 0
    }

    /// Ids of the constants that the view shows with data.
    pub(crate) fn constants(&self) -> impl Iterator<Item = u64> {
        let constants = self.tensors.iter().filter(|t| !t.data.is_null());
        constants.map(|t| t.constant_id)
    }

    /// Whether a tensor of the view is read outside of it.
    pub(crate) fn is_output(&self, tensor: u32) -> bool {
        self.outputs.binary_search(&tensor).is_ok()
    }
}

/// # Safety
/// `len` indices at `data` are readable, unless `len` is 0.
unsafe fn list<'a>(data: *const u32, len: u32) -> &'a [u32] {
    if len == 0 {
        return &[];
    }
    // SAFETY: by the contract of this function.
    unsafe { std::slice::from_raw_parts(data, len as usize) }
}

/// A tensor as a view shows it, without what ties it to layers.
pub(crate) fn tensor_desc(source: &ViewSource<'_>, id: TensorId) -> ArmnnTensorDesc {
    let tensor = source.network.tensor(id);
    let shape = source.shapes[id.index()];
    let quantization = &tensor.info.quantization;
    let byte_len = shape
        .num_elements()
        .and_then(|n| tensor.info.data_type.byte_len(n))
        .unwrap_or_default();
    let (constant_id, data) = match tensor.constant() {
        Some(_) => (constant_id(id), source.constants.data(id).unwrap_or(null())),
        None => (0, null()),
    };
    ArmnnTensorDesc {
        name: raw_str(&tensor.name),
        data_type: tensor.info.data_type.0,
        producer: sys::ARMNN_NO_LAYER,
        shape: *shape.as_raw(),
        quantization: ArmnnQuantization {
            count: quantization.scales().len() as u32,
            axis: quantization.axis(),
            scales: quantization.scales().as_ptr(),
            zero_points: quantization.zero_points().as_ptr(),
        },
        constant_id,
        data: data.cast(),
        byte_len,
        consumers: null(),
        n_consumers: 0,
        flags: 0,
    }
}

/// The id under which backends know a constant.
pub(crate) fn constant_id(id: TensorId) -> u64 {
    u64::from(id.0) + 1
}
