//! The graph as a backend sees it: flat and read-only. Index is identity.

use core::ffi::c_void;

use super::{ArmnnQuantization, ArmnnShape, ArmnnStr};

/// A tensor of a view.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnTensorDesc {
    /// The tensor's name in the model; may be empty.
    pub name: ArmnnStr,
    /// `ARMNN_DATA_TYPE_…`.
    pub data_type: u32,
    /// Index of the layer that produces it, or `ARMNN_NO_LAYER`.
    pub producer: u32,
    /// The shape. Every dimension is known in a view that is compiled, except of outputs whose
    /// size depends on data.
    pub shape: ArmnnShape,
    /// The quantization.
    pub quantization: ArmnnQuantization,
    /// 0: not a constant. Else an id that is the same in every view of the model.
    pub constant_id: u64,
    /// The constant's elements, dense and row-major; null if it is none, or was released.
    /// Readable until the model context that was shown it is destroyed or releases the constant.
    pub data: *const c_void,
    /// Bytes of the whole tensor; 0 while a dimension is unknown.
    pub byte_len: usize,
    /// Indices of the layers that read it.
    pub consumers: *const u32,
    /// How many.
    pub n_consumers: u32,
    /// `ARMNN_TENSOR_…`, or-ed.
    pub flags: u32,
}

/// A layer of a view.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnLayerDesc {
    /// The layer's name in the model; may be empty.
    pub name: ArmnnStr,
    /// `ARMNN_LAYER_…`.
    pub layer_type: u32,
    /// The layer's number in the model, the same in every view; used by reports and profiles.
    pub id: u32,
    /// The descriptor of the layer's type, such as `ArmnnActivationDescriptor`.
    pub descriptor: *const c_void,
    /// Bytes of the descriptor as the host knows it.
    pub descriptor_size: usize,
    /// Tensor indices; `ARMNN_NO_TENSOR` for an optional input that is absent.
    pub inputs: *const u32,
    /// Tensor indices.
    pub outputs: *const u32,
    /// How many inputs.
    pub n_inputs: u32,
    /// How many outputs.
    pub n_outputs: u32,
}

/// A part of a network: layers in topological order, and the tensors they touch.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnSubgraphView {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// The layers; each is `layer_stride` bytes after the one before.
    pub layers: *const ArmnnLayerDesc,
    /// How many layers.
    pub n_layers: usize,
    /// Bytes from layer to layer.
    pub layer_stride: usize,
    /// The tensors; each is `tensor_stride` bytes after the one before.
    pub tensors: *const ArmnnTensorDesc,
    /// How many tensors.
    pub n_tensors: usize,
    /// Bytes from tensor to tensor.
    pub tensor_stride: usize,
    /// Tensors that are no constants, read here and produced elsewhere.
    pub inputs: *const u32,
    /// How many inputs.
    pub n_inputs: usize,
    /// Tensors produced here and read elsewhere, or outputs of the network.
    pub outputs: *const u32,
    /// How many outputs.
    pub n_outputs: usize,
}
