//! Arm NN's layers that move elements, or change their type.

use armnn_backend_api::{
    BatchToSpaceNdDescriptor, BroadcastToDescriptor, CastDescriptor, ConcatDescriptor, DataType,
    DepthToSpaceDescriptor, DequantizeDescriptor, FillDescriptor, GatherDescriptor,
    GatherNdDescriptor, LayerDescriptor, LayerType, PadDescriptor, Quantization,
    QuantizeDescriptor, ReshapeDescriptor, ReverseV2Descriptor, ScatterNdDescriptor, Shape,
    SpaceToBatchNdDescriptor, SpaceToDepthDescriptor, SplitDescriptor, StackDescriptor,
    StandInDescriptor, StridedSliceDescriptor, TensorInfo, TileDescriptor, TransposeDescriptor,
};

use super::{NetworkBuilder, OutputDeclaration};
use crate::error::LayerProblem;
use crate::{Result, TensorId};

/// Layers that move elements.
impl NetworkBuilder {
    /// Adds elements around the input.
    ///
    /// # Errors
    /// When the lists of the descriptor have not one entry for each dimension, an entry is
    /// negative, or mirrored padding reaches beyond the input.
    pub fn add_pad_layer(
        &mut self,
        descriptor: PadDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Adds the same elements in another shape.
    ///
    /// Dimensions of the target may be unknown. A single one follows from the number of elements,
    /// at the latest when the input shapes are given.
    ///
    /// # Errors
    /// When the number of elements cannot stay the same.
    pub fn add_reshape_layer(
        &mut self,
        target: impl Into<Shape>,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let output = OutputDeclaration::of_shape(target);
        self.add_single(name, ReshapeDescriptor::new(), &[Some(input)], &[output])
    }

    /// Joins tensors along an axis.
    ///
    /// # Errors
    /// When there are none, they have no such axis, or differ in type or in another dimension.
    pub fn add_concat_layer(
        &mut self,
        descriptor: ConcatDescriptor,
        inputs: &[TensorId],
        name: &str,
    ) -> Result<TensorId> {
        let inputs: Vec<Option<TensorId>> = inputs.iter().copied().map(Some).collect();
        self.add_single(name, descriptor, &inputs, &[])
    }

    /// Puts dimensions in another order: dimension `i` of the output is dimension
    /// `permutation[i]` of the input.
    ///
    /// # Errors
    /// When the descriptor is no permutation of the input's dimensions.
    pub fn add_transpose_layer(
        &mut self,
        descriptor: TransposeDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Puts dimensions in another order, as Arm NN's Permute does: dimension `i` of the input
    /// becomes dimension `permutation[i]` of the output.
    ///
    /// Becomes a Transpose layer with the inverse permutation.
    ///
    /// # Errors
    /// When the list is no permutation of the input's dimensions.
    pub fn add_permute_layer(
        &mut self,
        permutation: &[u32],
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        match inverse(permutation).and_then(|inverse| TransposeDescriptor::new(&inverse)) {
            Some(descriptor) => self.add_transpose_layer(descriptor, input, name),
            None => {
                let problem = LayerProblem::Descriptor {
                    field: "permutation",
                    value: format!("{:?}", permutation.get(..9).unwrap_or(permutation)),
                    rule: "each dimension of the input, once, of at most 8".to_owned(),
                };
                Err(self.layer_error(name, LayerType::Transpose, &[Some(input)], problem))
            }
        }
    }

    /// Puts parts of the batch between the elements of other dimensions.
    ///
    /// # Errors
    /// When a block has no elements, the batch cannot be cut into them, the input has no such
    /// dimensions, or more is cropped than there is.
    pub fn add_batch_to_space_nd_layer(
        &mut self,
        descriptor: BatchToSpaceNdDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Puts elements of dimensions into the batch.
    ///
    /// # Errors
    /// When a block has no elements, the input has no such dimensions, or they cannot be divided.
    pub fn add_space_to_batch_nd_layer(
        &mut self,
        descriptor: SpaceToBatchNdDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Puts channels into blocks of rows and columns.
    ///
    /// # Errors
    /// When a block has no elements, or channels cannot be cut into them.
    pub fn add_depth_to_space_layer(
        &mut self,
        descriptor: DepthToSpaceDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Puts blocks of rows and columns into the channels.
    ///
    /// # Errors
    /// When a block has no elements, or rows or columns cannot be divided into blocks.
    pub fn add_space_to_depth_layer(
        &mut self,
        descriptor: SpaceToDepthDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Repeats the input to a shape.
    ///
    /// # Errors
    /// When it does not broadcast to that.
    pub fn add_broadcast_to_layer(
        &mut self,
        target: impl Into<Shape>,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let output = OutputDeclaration::of_shape(target);
        let descriptor = BroadcastToDescriptor::new();
        self.add_single(name, descriptor, &[Some(input)], &[output])
    }

    /// Fills a shape with one value.
    ///
    /// # Errors
    /// When the value has more elements than one.
    pub fn add_fill_layer(
        &mut self,
        shape: impl Into<Shape>,
        value: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let output = OutputDeclaration::of_shape(shape);
        self.add_single(name, FillDescriptor::new(), &[Some(value)], &[output])
    }

    /// Repeats the input along each dimension, so many times.
    ///
    /// # Errors
    /// When there is not a number for each dimension, or one is negative.
    pub fn add_tile_layer(
        &mut self,
        multiples: &[u32],
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let list: Vec<i64> = multiples.iter().map(|&n| n.into()).collect();
        match TileDescriptor::new(&list) {
            Some(descriptor) => self.add_single(name, descriptor, &[Some(input)], &[]),
            None => {
                let problem = LayerProblem::Descriptor {
                    field: "multiples",
                    value: format!("{:?}", multiples.get(..9).unwrap_or(multiples)),
                    rule: "a number for each dimension of the input, of at most 8".to_owned(),
                };
                Err(self.layer_error(name, LayerType::Tile, &[Some(input)], problem))
            }
        }
    }

    /// Joins tensors of one shape along a new dimension.
    ///
    /// # Errors
    /// When there are none, they differ in type or shape, or the dimension is not among those of
    /// the output.
    pub fn add_stack_layer(
        &mut self,
        descriptor: StackDescriptor,
        inputs: &[TensorId],
        name: &str,
    ) -> Result<TensorId> {
        let inputs: Vec<Option<TensorId>> = inputs.iter().copied().map(Some).collect();
        self.add_single(name, descriptor, &inputs, &[])
    }

    /// Puts the elements along some axes in reverse order.
    ///
    /// # Errors
    /// When the input has no such axis, or one is given twice.
    pub fn add_reverse_v2_layer(
        &mut self,
        descriptor: ReverseV2Descriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Takes the channels of all groups in turn: channel i of group g, of C / `groups` each,
    /// becomes channel i `groups` + g.
    ///
    /// Becomes a Gather layer.
    ///
    /// # Errors
    /// When the input has no such axis, its size is not known, or no multiple of the number of
    /// groups.
    #[doc(alias = "ChannelShuffleDescriptor")]
    pub fn add_channel_shuffle_layer(
        &mut self,
        groups: u32,
        axis: u32,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let dims = self.tensor(input).map(|t| t.info.shape);
        let channels = dims.and_then(|shape| shape.dims().get(axis as usize).copied());
        // The order is a constant: its size is limited, whatever a model declares.
        const MOST: u32 = 1 << 20;
        let channels = channels.and_then(|dim| u32::try_from(dim).ok());
        let channels = channels.filter(|&channels| channels <= MOST);
        let in_group = channels.and_then(|n| n.checked_div(groups));
        let whole = in_group.and_then(|n| n.checked_mul(groups));
        let (Some(channels), Some(in_group), true) = (channels, in_group, whole == channels) else {
            let problem = LayerProblem::Descriptor {
                field: "groups",
                value: groups.to_string(),
                rule: format!(
                    "a divisor of the size of dimension {axis}, which must be known and at most \
                     {MOST}"
                ),
            };
            return Err(self.layer_error(name, LayerType::Gather, &[Some(input)], problem));
        };
        let order = (0..in_group).flat_map(|i| (0..groups).map(move |g| g * in_group + i));
        let indices: Vec<u8> = order.flat_map(u32::to_le_bytes).collect();
        let info = TensorInfo::new(DataType::Signed32, [i64::from(channels)]);
        let indices = self.add_constant_layer(&format!("{name}:channels"), info, indices.into())?;
        self.add_gather_layer(GatherDescriptor { axis }, input, indices, name)
    }

    /// Takes slices that index vectors choose.
    ///
    /// # Errors
    /// When vectors are longer than the input's rank, leading dimensions differ, or indices are
    /// neither Signed32 nor Signed64.
    pub fn add_gather_nd_layer(
        &mut self,
        descriptor: GatherNdDescriptor,
        input: TensorId,
        indices: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input), Some(indices)], &[])
    }

    /// Puts slices at places that index vectors choose.
    ///
    /// # Errors
    /// When updates are of another shape than the places, vectors are longer than the input's
    /// rank, or types do not go together.
    pub fn add_scatter_nd_layer(
        &mut self,
        descriptor: ScatterNdDescriptor,
        input: TensorId,
        indices: TensorId,
        updates: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let inputs = [input, indices, updates].map(Some);
        self.add_single(name, descriptor, &inputs, &[])
    }

    /// Takes elements from begin to end in steps along each dimension.
    ///
    /// Forwards, an end beyond the dimension means its end, so that `i64::MAX` takes all the rest
    /// of a dimension that is not known yet.
    ///
    /// # Errors
    /// When the lists of the descriptor have not one entry for each dimension, a step is 0, or a
    /// begin or end is negative (an end may be -1 backwards) or outside the input.
    pub fn add_strided_slice_layer(
        &mut self,
        descriptor: StridedSliceDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Takes `size` elements from `begin` on along each dimension.
    ///
    /// Becomes a StridedSlice layer with strides of 1.
    ///
    /// # Errors
    /// When the lists have not one entry for each dimension, or the slice reaches beyond the
    /// input as far as its sizes are known.
    pub fn add_slice_layer(
        &mut self,
        begin: &[i64],
        size: &[i64],
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let ends: Option<Vec<i64>> = begin
            .iter()
            .zip(size)
            .map(|(begin, size)| (*size >= 0).then(|| begin.checked_add(*size))?)
            .collect();
        let descriptor = ends
            .filter(|_| begin.len() == size.len())
            .zip(Shape::new(size).ok())
            .and_then(|(ends, size)| {
                let strides = vec![1; begin.len()];
                Some((StridedSliceDescriptor::new(begin, &ends, &strides)?, size))
            });
        match descriptor {
            // The declared size is what tells a slice that reaches too far.
            Some((descriptor, size)) => {
                let output = OutputDeclaration::of_shape(size);
                self.add_single(name, descriptor, &[Some(input)], &[output])
            }
            None => {
                let problem = LayerProblem::Descriptor {
                    field: "size",
                    value: format!("{:?}", size.get(..9).unwrap_or(size)),
                    rule: "at least 0, one for each entry of begin and at most 8".to_owned(),
                };
                Err(self.layer_error(name, LayerType::StridedSlice, &[Some(input)], problem))
            }
        }
    }

    /// Cuts the input along an axis into parts of these sizes.
    ///
    /// Sizes may be [`Shape::UNKNOWN`]: a single one is what the others leave; if all are unknown,
    /// the parts are equal.
    ///
    /// # Errors
    /// When the input has no such axis, there are no parts, or their sizes do not add up.
    pub fn add_split_layer(
        &mut self,
        descriptor: SplitDescriptor,
        sizes: &[i64],
        input: TensorId,
        name: &str,
    ) -> Result<Vec<TensorId>> {
        let rank = self.tensor(input).map_or(0, |t| t.info.shape.rank());
        let mut dims = [Shape::UNKNOWN; Shape::MAX_RANK];
        let outputs: Vec<OutputDeclaration> = sizes
            .iter()
            .map(|&size| {
                // Inference refuses an axis that is not there.
                if let Some(dim) = dims.get_mut(descriptor.axis as usize) {
                    *dim = size;
                }
                let shape = dims.get(..rank).and_then(|dims| Shape::new(dims).ok());
                OutputDeclaration {
                    shape,
                    ..OutputDeclaration::default()
                }
            })
            .collect();
        self.add_layer(name, descriptor, &[Some(input)], &outputs)
    }

    /// Arm NN's older name of Split.
    ///
    /// # Errors
    /// As [`add_split_layer`](Self::add_split_layer).
    #[doc(alias = "ViewsDescriptor")]
    pub fn add_splitter_layer(
        &mut self,
        descriptor: SplitDescriptor,
        sizes: &[i64],
        input: TensorId,
        name: &str,
    ) -> Result<Vec<TensorId>> {
        self.add_split_layer(descriptor, sizes, input, name)
    }

    /// Adds slices of the input, chosen along an axis by indices.
    ///
    /// # Errors
    /// When the input has no such axis, the indices are neither Signed32 nor Signed64, or the
    /// output would have more than 8 dimensions.
    pub fn add_gather_layer(
        &mut self,
        descriptor: GatherDescriptor,
        input: TensorId,
        indices: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input), Some(indices)], &[])
    }

    /// Adds an operator that only a backend may know, with outputs as the caller says.
    ///
    /// # Errors
    /// When there are no outputs, or one of them is not valid.
    pub fn add_stand_in_layer(
        &mut self,
        descriptor: StandInDescriptor,
        inputs: &[Option<TensorId>],
        outputs: &[TensorInfo],
        name: &str,
    ) -> Result<Vec<TensorId>> {
        let outputs: Vec<OutputDeclaration> = outputs.iter().map(Into::into).collect();
        self.add_layer(name, LayerDescriptor::StandIn(descriptor), inputs, &outputs)
    }
}

/// Layers that change the type of elements.
impl NetworkBuilder {
    /// Adds a conversion of each element to another type.
    ///
    /// # Errors
    /// When either type is quantized.
    pub fn add_cast_layer(
        &mut self,
        data_type: DataType,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let output = OutputDeclaration::of_type(data_type);
        self.add_single(name, CastDescriptor::new(), &[Some(input)], &[output])
    }

    /// Adds a conversion from Float16 to Float32.
    ///
    /// Becomes a Cast layer.
    ///
    /// # Errors
    /// When the input is not Float16.
    pub fn add_convert_fp16_to_fp32_layer(
        &mut self,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_conversion(DataType::Float16, DataType::Float32, input, name)
    }

    /// Adds a conversion from Float32 to Float16.
    ///
    /// Becomes a Cast layer.
    ///
    /// # Errors
    /// When the input is not Float32.
    pub fn add_convert_fp32_to_fp16_layer(
        &mut self,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_conversion(DataType::Float32, DataType::Float16, input, name)
    }

    /// Adds a conversion of real numbers to quantized ones.
    ///
    /// # Errors
    /// When the input is neither floating-point nor quantized, or the output's type carries no
    /// quantization, or not this one.
    pub fn add_quantize_layer(
        &mut self,
        data_type: DataType,
        quantization: Quantization,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let output = OutputDeclaration::of_type(data_type).quantized(quantization);
        self.add_single(name, QuantizeDescriptor::new(), &[Some(input)], &[output])
    }

    /// Adds a conversion of quantized numbers to the real ones they stand for, as Float32 or
    /// Float16.
    ///
    /// # Errors
    /// When the input has no quantization, or the output is of another type.
    pub fn add_dequantize_layer(
        &mut self,
        data_type: DataType,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let output = OutputDeclaration::of_type(data_type);
        self.add_single(name, DequantizeDescriptor::new(), &[Some(input)], &[output])
    }

    fn add_conversion(
        &mut self,
        from: DataType,
        to: DataType,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        match self.tensor(input).map(|t| t.info.data_type) {
            Some(found) if found != from => {
                let problem = LayerProblem::DataType {
                    tensor: "the input".to_owned(),
                    expected: from.to_string(),
                    found,
                };
                Err(self.layer_error(name, LayerType::Cast, &[Some(input)], problem))
            }
            _ => self.add_cast_layer(to, input, name),
        }
    }
}

/// The inverse permutation; `None` if it is none.
fn inverse(permutation: &[u32]) -> Option<Vec<u32>> {
    if permutation.len() > Shape::MAX_RANK {
        return None;
    }
    let mut inverse = vec![u32::MAX; permutation.len()];
    for (from, &to) in (0u32..).zip(permutation) {
        let slot = inverse.get_mut(to as usize)?;
        if *slot != u32::MAX {
            return None;
        }
        *slot = from;
    }
    Some(inverse)
}
