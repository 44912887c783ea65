//! The graph as a backend sees it.

use std::marker::PhantomData;

use crate::{
    DataType, DescriptorRef, LayerType, Shape,
    sys::{self, ArmnnLayerDesc, ArmnnSubgraphView, ArmnnTensorDesc},
};

/// Text from the other side; empty if it is not UTF-8.
///
/// # Safety
/// `len` bytes at `ptr` are readable for `'a`.
pub(crate) unsafe fn text<'a>(s: sys::ArmnnStr) -> &'a str {
    // SAFETY: by the contract of this function.
    std::str::from_utf8(unsafe { slice(s.ptr.cast(), s.len) }).unwrap_or("")
}

/// Text as it goes over the wire; valid while `s` is.
pub(crate) fn raw_text(s: &str) -> sys::ArmnnStr {
    sys::ArmnnStr {
        ptr: s.as_ptr().cast(),
        len: s.len(),
    }
}

/// A slice whose pointer may be null when it is empty.
///
/// # Safety
/// `len` elements at `data` are readable and initialised for `'a`, unless `len` is 0.
pub(crate) unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 || data.is_null() {
        return &[];
    }
    // SAFETY: by the contract of this function.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// The index of a layer in a view.
pub type LayerIndex = u32;
/// The index of a tensor in a view.
pub type TensorIndex = u32;

/// A part of a network: layers in topological order, and the tensors they touch. A view over the
/// host's own tables; nothing is copied.
///
/// The host vouches for what it shows: indices are in range, arity and ranks fit the layer types,
/// quantization parameters are as many as needed, known shapes agree with each other.
#[repr(transparent)]
pub struct SubgraphView<'a>(ArmnnSubgraphView, PhantomData<&'a ()>);

impl<'a> SubgraphView<'a> {
    /// Takes a view that came over the wire.
    ///
    /// # Safety
    /// `raw` and everything it leads to is valid for `'a`, and as the interface demands.
    pub unsafe fn from_raw(raw: &'a ArmnnSubgraphView) -> &'a Self {
        // SAFETY: `repr(transparent)`.
        unsafe { &*std::ptr::from_ref(raw).cast() }
    }

    /// The view as it goes over the wire.
    pub fn as_raw(&self) -> &ArmnnSubgraphView {
        &self.0
    }

    /// The number of layers.
    pub fn num_layers(&self) -> usize {
        self.0.n_layers
    }

    /// The layer at an index.
    ///
    /// # Panics
    /// When there is none.
    pub fn layer(&'a self, index: LayerIndex) -> LayerView<'a> {
        assert!(
            (index as usize) < self.0.n_layers,
            "there is no layer {index} in this view"
        );
        // SAFETY: the index is in range, and the host vouches for the table. A host of a later
        // minor has a larger stride; the fields known here come first.
        let desc = unsafe { &*self.0.layers.byte_add(index as usize * self.0.layer_stride) };
        LayerView {
            desc,
            index,
            graph: self,
        }
    }

    /// The layers, in topological order.
    pub fn layers(&'a self) -> impl DoubleEndedIterator<Item = LayerView<'a>> + ExactSizeIterator {
        (0..self.0.n_layers as u32).map(|index| self.layer(index))
    }

    /// The number of tensors.
    pub fn num_tensors(&self) -> usize {
        self.0.n_tensors
    }

    /// The tensor at an index.
    ///
    /// # Panics
    /// When there is none.
    pub fn tensor(&'a self, index: TensorIndex) -> TensorView<'a> {
        assert!(
            (index as usize) < self.0.n_tensors,
            "there is no tensor {index} in this view"
        );
        // SAFETY: as for layers.
        let desc = unsafe {
            &*self
                .0
                .tensors
                .byte_add(index as usize * self.0.tensor_stride)
        };
        TensorView { desc, index }
    }

    /// The tensors.
    pub fn tensors(
        &'a self,
    ) -> impl DoubleEndedIterator<Item = TensorView<'a>> + ExactSizeIterator {
        (0..self.0.n_tensors as u32).map(|index| self.tensor(index))
    }

    /// Tensors that are no constants, read here and produced elsewhere.
    pub fn inputs(&self) -> &'a [TensorIndex] {
        // SAFETY: the host vouches for the table.
        unsafe { slice(self.0.inputs, self.0.n_inputs) }
    }

    /// Tensors produced here and read elsewhere, or outputs of the network.
    pub fn outputs(&self) -> &'a [TensorIndex] {
        // SAFETY: the host vouches for the table.
        unsafe { slice(self.0.outputs, self.0.n_outputs) }
    }
}

/// A layer of a view.
#[derive(Clone, Copy)]
pub struct LayerView<'a> {
    desc: &'a ArmnnLayerDesc,
    index: LayerIndex,
    graph: &'a SubgraphView<'a>,
}

impl<'a> LayerView<'a> {
    /// Its index in the view.
    pub fn index(&self) -> LayerIndex {
        self.index
    }

    /// Its name in the model; may be empty.
    pub fn name(&self) -> &'a str {
        // SAFETY: the host vouches for the table.
        unsafe { text(self.desc.name) }
    }

    /// Its type.
    pub fn layer_type(&self) -> LayerType {
        LayerType(self.desc.layer_type)
    }

    /// Its number in the model, the same in every view.
    pub fn id(&self) -> u32 {
        self.desc.id
    }

    /// Its parameters; `None` if its type is not known to this backend.
    pub fn descriptor(&self) -> Option<DescriptorRef<'a>> {
        // SAFETY: the host vouches for the table.
        unsafe {
            DescriptorRef::from_raw(
                self.layer_type(),
                self.desc.descriptor,
                self.desc.descriptor_size,
            )
        }
    }

    /// Indices of its inputs; [`NO_TENSOR`](crate::NO_TENSOR) for one that is absent.
    pub fn input_indices(&self) -> &'a [TensorIndex] {
        // SAFETY: the host vouches for the table.
        unsafe { slice(self.desc.inputs, self.desc.n_inputs as usize) }
    }

    /// Indices of its outputs.
    pub fn output_indices(&self) -> &'a [TensorIndex] {
        // SAFETY: the host vouches for the table.
        unsafe { slice(self.desc.outputs, self.desc.n_outputs as usize) }
    }

    /// An input; `None` if it is absent.
    pub fn input(&self, position: usize) -> Option<TensorView<'a>> {
        match self.input_indices().get(position) {
            None | Some(&sys::ARMNN_NO_TENSOR) => None,
            Some(&index) => Some(self.graph.tensor(index)),
        }
    }

    /// The inputs that are present.
    pub fn inputs(&self) -> impl Iterator<Item = TensorView<'a>> {
        let graph = self.graph;
        self.input_indices()
            .iter()
            .filter(|&&index| index != sys::ARMNN_NO_TENSOR)
            .map(move |&index| graph.tensor(index))
    }

    /// An output.
    ///
    /// # Panics
    /// When there is none at this position.
    pub fn output(&self, position: usize) -> TensorView<'a> {
        self.graph.tensor(self.output_indices()[position])
    }

    /// The outputs.
    pub fn outputs(&self) -> impl Iterator<Item = TensorView<'a>> {
        let graph = self.graph;
        self.output_indices()
            .iter()
            .map(move |&index| graph.tensor(index))
    }

    /// The view that the layer is part of.
    pub fn graph(&self) -> &'a SubgraphView<'a> {
        self.graph
    }
}

/// A tensor of a view.
#[derive(Clone, Copy)]
pub struct TensorView<'a> {
    desc: &'a ArmnnTensorDesc,
    index: TensorIndex,
}

impl<'a> TensorView<'a> {
    /// Takes a tensor that came over the wire on its own.
    ///
    /// # Safety
    /// `desc` and everything it leads to is valid for `'a`.
    pub(crate) unsafe fn from_raw(desc: &'a ArmnnTensorDesc) -> Self {
        Self {
            desc,
            index: sys::ARMNN_NO_TENSOR,
        }
    }

    /// Its index in the view.
    pub fn index(&self) -> TensorIndex {
        self.index
    }

    /// Its name in the model; may be empty.
    pub fn name(&self) -> &'a str {
        // SAFETY: the host vouches for the table.
        unsafe { text(self.desc.name) }
    }

    /// The type of its elements.
    pub fn data_type(&self) -> DataType {
        DataType(self.desc.data_type)
    }

    /// Its shape.
    pub fn shape(&self) -> &'a Shape {
        // SAFETY: `Shape` is `repr(transparent)` over the wire struct.
        unsafe { &*std::ptr::from_ref(&self.desc.shape).cast() }
    }

    /// Bytes of the whole; 0 while a dimension is unknown.
    pub fn byte_len(&self) -> usize {
        self.desc.byte_len
    }

    /// The scales of its quantization: none, one, or one for each index along
    /// [`quantization_axis`](Self::quantization_axis).
    pub fn scales(&self) -> &'a [f32] {
        // SAFETY: the host vouches for the table.
        unsafe {
            slice(
                self.desc.quantization.scales,
                self.desc.quantization.count as usize,
            )
        }
    }

    /// The zero points of its quantization, as many as scales.
    pub fn zero_points(&self) -> &'a [i32] {
        // SAFETY: the host vouches for the table.
        unsafe {
            slice(
                self.desc.quantization.zero_points,
                self.desc.quantization.count as usize,
            )
        }
    }

    /// The dimension along which the quantization changes.
    pub fn quantization_axis(&self) -> i32 {
        self.desc.quantization.axis
    }

    /// Index of the layer of this view that produces it.
    pub fn producer(&self) -> Option<LayerIndex> {
        (self.desc.producer != sys::ARMNN_NO_LAYER).then_some(self.desc.producer)
    }

    /// Indices of the layers of this view that read it.
    pub fn consumers(&self) -> &'a [LayerIndex] {
        // SAFETY: the host vouches for the table.
        unsafe { slice(self.desc.consumers, self.desc.n_consumers as usize) }
    }

    /// Whether it is among the view's [inputs](SubgraphView::inputs).
    pub fn is_view_input(&self) -> bool {
        self.desc.flags & sys::ARMNN_TENSOR_VIEW_INPUT != 0
    }

    /// Whether it is among the view's [outputs](SubgraphView::outputs).
    pub fn is_view_output(&self) -> bool {
        self.desc.flags & sys::ARMNN_TENSOR_VIEW_OUTPUT != 0
    }

    /// Whether it is a constant.
    pub fn is_constant(&self) -> bool {
        self.desc.constant_id != 0
    }

    /// The constant's id, the same in every view of the model; 0 if it is none.
    pub fn constant_id(&self) -> u64 {
        self.desc.constant_id
    }

    /// The constant's bytes, dense and row-major; `None` if it is no constant, or was released.
    ///
    /// They need not be aligned; a backend without
    /// [`UNALIGNED_CONSTANTS`](crate::Capabilities::UNALIGNED_CONSTANTS) gets an aligned copy.
    pub fn constant(&self) -> Option<&'a [u8]> {
        if self.desc.constant_id == 0 || (self.desc.data.is_null() && self.desc.byte_len > 0) {
            return None;
        }
        // SAFETY: the host vouches for the table.
        Some(unsafe { slice(self.desc.data.cast(), self.desc.byte_len) })
    }
}
