//! Subgraph views built by hand, for tests that play the host.

#![allow(dead_code)] // Each test uses a part.

use armnn_backend_api::{
    LayerDescriptor,
    sys::{self, ArmnnLayerDesc, ArmnnStr, ArmnnSubgraphView, ArmnnTensorDesc},
};

/// An array element with room behind it, as a later minor of the interface might have: whoever
/// ignores the stride reads nonsense.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Padded<T> {
    pub value: T,
    room: [u64; 3],
}

impl<T> Padded<T> {
    pub const STRIDE: usize = size_of::<Self>();

    pub fn new(value: T) -> Self {
        Self {
            value,
            room: [u64::MAX; 3],
        }
    }
}

pub fn text(text: &str) -> ArmnnStr {
    ArmnnStr {
        ptr: text.as_ptr().cast(),
        len: text.len(),
    }
}

pub fn shape(dims: &[i64]) -> sys::ArmnnShape {
    let mut shape = sys::ArmnnShape {
        rank: dims.len() as u32,
        reserved: 0,
        dims: [0; sys::ARMNN_MAX_RANK],
    };
    shape.dims[..dims.len()].copy_from_slice(dims);
    shape
}

pub fn bytes_of_f32(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

struct Tensor {
    name: String,
    data_type: u32,
    dims: Vec<i64>,
    constant_id: u64,
    data: Option<Vec<u8>>,
}

struct Layer {
    name: String,
    id: u32,
    descriptor: LayerDescriptor,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
}

/// A graph under construction. Layers are added in topological order.
#[derive(Default)]
pub struct FlatGraph {
    tensors: Vec<Tensor>,
    layers: Vec<Layer>,
}

impl FlatGraph {
    fn add_tensor(&mut self, tensor: Tensor) -> u32 {
        self.tensors.push(tensor);
        self.tensors.len() as u32 - 1
    }

    /// A tensor that is no constant.
    pub fn tensor(&mut self, name: &str, data_type: u32, dims: &[i64]) -> u32 {
        self.add_tensor(Tensor {
            name: name.to_owned(),
            data_type,
            dims: dims.to_vec(),
            constant_id: 0,
            data: None,
        })
    }

    /// A constant; without data it was released.
    pub fn constant(
        &mut self,
        id: u64,
        data_type: u32,
        dims: &[i64],
        data: Option<Vec<u8>>,
    ) -> u32 {
        self.add_tensor(Tensor {
            name: format!("constant {id}"),
            data_type,
            dims: dims.to_vec(),
            constant_id: id,
            data,
        })
    }

    /// A layer, with an id that is not its index.
    pub fn layer(
        &mut self,
        name: &str,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[u32],
        outputs: &[u32],
    ) -> u32 {
        let index = self.layers.len() as u32;
        self.layers.push(Layer {
            name: name.to_owned(),
            id: index + 100,
            descriptor: descriptor.into(),
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
        });
        index
    }

    /// The view of all of it. `inputs` are the tensors that are neither made here nor constants.
    pub fn finish(self, outputs: &[u32]) -> FlatView {
        FlatView::new(self, outputs)
    }
}

/// A graph, and the tables that a view of it points to.
pub struct FlatView {
    graph: FlatGraph,
    consumers: Vec<Vec<u32>>,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    tensor_descs: Vec<Padded<ArmnnTensorDesc>>,
    layer_descs: Vec<Padded<ArmnnLayerDesc>>,
}

impl FlatView {
    fn new(graph: FlatGraph, outputs: &[u32]) -> Self {
        let mut producers = vec![sys::ARMNN_NO_LAYER; graph.tensors.len()];
        let mut consumers = vec![Vec::new(); graph.tensors.len()];
        for (i, layer) in graph.layers.iter().enumerate() {
            for &t in &layer.outputs {
                producers[t as usize] = i as u32;
            }
            for &t in layer.inputs.iter().filter(|&&t| t != sys::ARMNN_NO_TENSOR) {
                if consumers[t as usize].last() != Some(&(i as u32)) {
                    consumers[t as usize].push(i as u32);
                }
            }
        }
        let inputs = (0..graph.tensors.len() as u32)
            .filter(|&t| {
                producers[t as usize] == sys::ARMNN_NO_LAYER
                    && graph.tensors[t as usize].constant_id == 0
            })
            .collect();
        let mut view = Self {
            graph,
            consumers,
            inputs,
            outputs: outputs.to_vec(),
            tensor_descs: Vec::new(),
            layer_descs: Vec::new(),
        };
        for (i, tensor) in view.graph.tensors.iter().enumerate() {
            let element_size = match tensor.data_type {
                sys::ARMNN_DATA_TYPE_FLOAT16 => 2,
                _ => 4,
            };
            let known = tensor.dims.iter().all(|&d| d >= 0);
            view.tensor_descs.push(Padded::new(ArmnnTensorDesc {
                name: text(&tensor.name),
                data_type: tensor.data_type,
                producer: producers[i],
                shape: shape(&tensor.dims),
                quantization: sys::ArmnnQuantization {
                    count: 0,
                    axis: 0,
                    scales: std::ptr::null(),
                    zero_points: std::ptr::null(),
                },
                constant_id: tensor.constant_id,
                data: tensor
                    .data
                    .as_ref()
                    .map_or(std::ptr::null(), |d| d.as_ptr().cast()),
                byte_len: if known {
                    tensor.dims.iter().product::<i64>() as usize * element_size
                } else {
                    0
                },
                consumers: view.consumers[i].as_ptr(),
                n_consumers: view.consumers[i].len() as u32,
                flags: 0,
            }));
        }
        for layer in &view.graph.layers {
            let (descriptor, descriptor_size) = layer.descriptor.raw();
            view.layer_descs.push(Padded::new(ArmnnLayerDesc {
                name: text(&layer.name),
                layer_type: layer.descriptor.layer_type().0,
                id: layer.id,
                descriptor,
                descriptor_size,
                inputs: layer.inputs.as_ptr(),
                outputs: layer.outputs.as_ptr(),
                n_inputs: layer.inputs.len() as u32,
                n_outputs: layer.outputs.len() as u32,
            }));
        }
        view
    }

    /// Valid while `self` lives and is not changed; moving `self` moves none of the tables.
    pub fn raw(&self) -> ArmnnSubgraphView {
        ArmnnSubgraphView {
            struct_size: size_of::<ArmnnSubgraphView>(),
            layers: self.layer_descs.as_ptr().cast(),
            n_layers: self.layer_descs.len(),
            layer_stride: Padded::<ArmnnLayerDesc>::STRIDE,
            tensors: self.tensor_descs.as_ptr().cast(),
            n_tensors: self.tensor_descs.len(),
            tensor_stride: Padded::<ArmnnTensorDesc>::STRIDE,
            inputs: self.inputs.as_ptr(),
            n_inputs: self.inputs.len(),
            outputs: self.outputs.as_ptr(),
            n_outputs: self.outputs.len(),
        }
    }

    pub fn tensor(&self, index: u32) -> &ArmnnTensorDesc {
        &self.tensor_descs[index as usize].value
    }
}
