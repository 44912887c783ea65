//! Arm NN's layers that compute over windows, rows and whole dimensions.

use armnn_backend_api::{
    ArgMinMaxDescriptor, BatchMatMulDescriptor, BatchNormalizationDescriptor,
    Convolution2dDescriptor, Convolution3dDescriptor, DataLayout, DataType,
    DepthwiseConvolution2dDescriptor, DetectionPostProcessDescriptor, FullyConnectedDescriptor,
    InstanceNormalizationDescriptor, L2NormalizationDescriptor, LayerDescriptor, LayerType,
    LogSoftmaxDescriptor, NormalizationDescriptor, Pooling2dDescriptor, Pooling3dDescriptor,
    ReduceDescriptor, ReduceOperation, ResizeDescriptor, Shape, SoftmaxDescriptor,
    TransposeConvolution2dDescriptor, UnidirectionalSequenceLstmDescriptor,
};

use super::{NetworkBuilder, OutputDeclaration};
use crate::error::LayerProblem;
use crate::{Result, TensorId};

/// Layers that compute over windows, rows and whole dimensions.
impl NetworkBuilder {
    /// Adds a convolution over rows and columns; layouts are at
    /// [`Convolution2d`](LayerDescriptor::Convolution2d).
    ///
    /// # Errors
    /// When a stride, a dilation or the number of groups is 0, the window is larger than the
    /// padded input, weights or bias do not fit the input, or types do not go together: all of one
    /// floating-point type; or a quantized input, weights of 8 bits, and a bias of Signed32
    /// (also Signed64 for QSymmS16).
    pub fn add_convolution2d_layer(
        &mut self,
        descriptor: Convolution2dDescriptor,
        input: TensorId,
        weights: TensorId,
        bias: Option<TensorId>,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input), Some(weights), bias], &[])
    }

    /// Adds a convolution of each channel with filters of its own; layouts are at
    /// [`DepthwiseConvolution2d`](LayerDescriptor::DepthwiseConvolution2d).
    ///
    /// # Errors
    /// As [`add_convolution2d_layer`](Self::add_convolution2d_layer).
    pub fn add_depthwise_convolution2d_layer(
        &mut self,
        descriptor: DepthwiseConvolution2dDescriptor,
        input: TensorId,
        weights: TensorId,
        bias: Option<TensorId>,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input), Some(weights), bias], &[])
    }

    /// Adds a product with weights, plus a bias; the output is [N, O].
    ///
    /// # Errors
    /// When the number of the input's elements is no multiple of a row of the weights, the bias
    /// does not fit, or types do not go together, as for a convolution.
    pub fn add_fully_connected_layer(
        &mut self,
        descriptor: FullyConnectedDescriptor,
        input: TensorId,
        weights: TensorId,
        bias: Option<TensorId>,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input), Some(weights), bias], &[])
    }

    /// Adds products of matrices; leading dimensions broadcast.
    ///
    /// # Errors
    /// When an input has less than two dimensions, the inner sizes differ, leading dimensions do
    /// not broadcast, or the types are neither equal nor both quantized.
    pub fn add_batch_mat_mul_layer(
        &mut self,
        descriptor: BatchMatMulDescriptor,
        x: TensorId,
        y: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(x), Some(y)], &[])
    }

    /// Adds a value of each window over rows and columns.
    ///
    /// Rounded up, the output has one more window if that starts within the input or the padding
    /// before it.
    ///
    /// # Errors
    /// When a stride, a dilation or a size of the window is 0, the window is larger than the
    /// padded input, or padding is as large as the window.
    pub fn add_pooling2d_layer(
        &mut self,
        descriptor: Pooling2dDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Adds rows and columns resized to `height` and `width`.
    ///
    /// # Errors
    /// When the input has not four dimensions, or is empty and the output is not.
    #[doc(alias = "ResizeDescriptor")]
    pub fn add_resize_layer(
        &mut self,
        descriptor: ResizeDescriptor,
        height: u32,
        width: u32,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let output = image_of(descriptor.data_layout(), height, width);
        self.add_single(name, descriptor, &[Some(input)], &[output])
    }

    /// Adds e^(beta x), divided by its sum along an axis.
    ///
    /// # Errors
    /// When the input has no such axis, or is neither floating-point nor quantized.
    pub fn add_softmax_layer(
        &mut self,
        descriptor: SoftmaxDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Adds a value of all elements along some axes; without axes, of each element by itself.
    ///
    /// # Errors
    /// When the axes are not ascending, or the input has no such axis.
    pub fn add_reduce_layer(
        &mut self,
        descriptor: ReduceDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Adds the mean along some axes, in any order; without axes, of the whole input, as in
    /// Arm NN.
    ///
    /// Becomes a Reduce layer.
    ///
    /// # Errors
    /// When the input has no such axis.
    pub fn add_mean_layer(
        &mut self,
        axes: &[u32],
        keep_dims: bool,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let rank = self.tensor(input).map_or(0, |t| t.info.shape.rank());
        let mut axes: Vec<u32> = match axes {
            [] => (0u32..).take(rank).collect(),
            axes => axes.to_vec(),
        };
        axes.sort_unstable();
        axes.dedup();
        let Some(descriptor) = ReduceDescriptor::new(ReduceOperation::Mean, &axes, keep_dims)
        else {
            let problem = LayerProblem::Descriptor {
                field: "n_axes",
                value: axes.len().to_string(),
                rule: "at most 8".to_owned(),
            };
            return Err(self.layer_error(name, LayerType::Reduce, &[Some(input)], problem));
        };
        self.add_reduce_layer(descriptor, input, name)
    }

    /// Adds a convolution over planes, rows and columns; layouts are at
    /// [`Convolution3d`](LayerDescriptor::Convolution3d).
    ///
    /// # Errors
    /// As [`add_convolution2d_layer`](Self::add_convolution2d_layer).
    pub fn add_convolution3d_layer(
        &mut self,
        descriptor: Convolution3dDescriptor,
        input: TensorId,
        weights: TensorId,
        bias: Option<TensorId>,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input), Some(weights), bias], &[])
    }

    /// Adds the transpose of a convolution over rows and columns; layouts are at
    /// [`TransposeConvolution2d`](LayerDescriptor::TransposeConvolution2d). `output_size`: rows
    /// and columns, if they are others than follow from the rest.
    ///
    /// # Errors
    /// As [`add_convolution2d_layer`](Self::add_convolution2d_layer).
    pub fn add_transpose_convolution2d_layer(
        &mut self,
        descriptor: TransposeConvolution2dDescriptor,
        output_size: Option<[u32; 2]>,
        input: TensorId,
        weights: TensorId,
        bias: Option<TensorId>,
        name: &str,
    ) -> Result<TensorId> {
        let outputs: Vec<_> = output_size
            .map(|[height, width]| image_of(descriptor.data_layout(), height, width))
            .into_iter()
            .collect();
        let inputs = [Some(input), Some(weights), bias];
        self.add_single(name, descriptor, &inputs, &outputs)
    }

    /// Adds a value of each window over planes, rows and columns.
    ///
    /// # Errors
    /// As [`add_pooling2d_layer`](Self::add_pooling2d_layer).
    pub fn add_pooling3d_layer(
        &mut self,
        descriptor: Pooling3dDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Adds the index of the smallest or largest element along an axis, as Signed32 or Signed64.
    ///
    /// # Errors
    /// When the input has no such axis, its elements have no order, or indices are of another
    /// type.
    pub fn add_arg_min_max_layer(
        &mut self,
        descriptor: ArgMinMaxDescriptor,
        index_type: DataType,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        let output = OutputDeclaration::of_type(index_type);
        self.add_single(name, descriptor, &[Some(input)], &[output])
    }

    /// Adds a normalization with given mean and variance of each channel.
    ///
    /// # Errors
    /// When the input has no such axis, there is not one number for each channel, or the inputs
    /// are not of one floating-point type.
    pub fn add_batch_normalization_layer(
        &mut self,
        descriptor: BatchNormalizationDescriptor,
        input: TensorId,
        [mean, variance, beta, gamma]: [TensorId; 4],
        name: &str,
    ) -> Result<TensorId> {
        let inputs = [input, mean, variance, beta, gamma].map(Some);
        self.add_single(name, descriptor, &inputs, &[])
    }

    /// Adds a normalization of each channel, or group of channels, of each batch.
    ///
    /// # Errors
    /// As [`add_batch_normalization_layer`](Self::add_batch_normalization_layer), or when the
    /// axis is that of the batch, or channels do not fall into groups.
    pub fn add_instance_normalization_layer(
        &mut self,
        descriptor: InstanceNormalizationDescriptor,
        input: TensorId,
        scale: Option<TensorId>,
        bias: Option<TensorId>,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input), scale, bias], &[])
    }

    /// Adds a division by the square root of the sum of squares along an axis.
    ///
    /// # Errors
    /// When the input has no such axis, or is neither floating-point nor quantized.
    pub fn add_l2_normalization_layer(
        &mut self,
        descriptor: L2NormalizationDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Adds a division by what surrounds each element (local response normalization).
    ///
    /// # Errors
    /// When the input has no such axis, the size is 0, or the input is neither floating-point nor
    /// quantized.
    pub fn add_normalization_layer(
        &mut self,
        descriptor: NormalizationDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Adds the logarithm of a Softmax.
    ///
    /// # Errors
    /// As [`add_softmax_layer`](Self::add_softmax_layer).
    pub fn add_log_softmax_layer(
        &mut self,
        descriptor: LogSoftmaxDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Adds long short-term memory. The inputs are those of
    /// [`UnidirectionalSequenceLstm`](LayerDescriptor::UnidirectionalSequenceLstm), in its order;
    /// absent ones at the end may be left out. Returns the output state, the cell state and the
    /// output.
    ///
    /// Arm NN's Lstm and QLstm are such layers of one step.
    ///
    /// # Errors
    /// When sizes or types do not go together, or an input that must be there with another one is
    /// not.
    #[doc(alias = "AddLstmLayer")]
    #[doc(alias = "AddQLstmLayer")]
    pub fn add_unidirectional_sequence_lstm_layer(
        &mut self,
        descriptor: UnidirectionalSequenceLstmDescriptor,
        inputs: &[Option<TensorId>],
        name: &str,
    ) -> Result<[TensorId; 3]> {
        self.add_several(name, descriptor, inputs, &[])
    }

    /// Adds the choice of the best boxes. Returns boxes, classes, scores and their number.
    ///
    /// # Errors
    /// When shapes do not go together, or a number of the descriptor makes no sense.
    pub fn add_detection_post_process_layer(
        &mut self,
        descriptor: DetectionPostProcessDescriptor,
        box_encodings: TensorId,
        scores: TensorId,
        anchors: TensorId,
        name: &str,
    ) -> Result<[TensorId; 4]> {
        let inputs = [box_encodings, scores, anchors].map(Some);
        self.add_several(name, descriptor, &inputs, &[])
    }

    /// A layer with one output.
    pub(super) fn add_single(
        &mut self,
        name: &str,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        outputs: &[OutputDeclaration],
    ) -> Result<TensorId> {
        let [id] = self.add_several(name, descriptor, inputs, outputs)?;
        Ok(id)
    }

    /// A layer with a certain number of outputs.
    fn add_several<const N: usize>(
        &mut self,
        name: &str,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        outputs: &[OutputDeclaration],
    ) -> Result<[TensorId; N]> {
        let descriptor = descriptor.into();
        let layer_type = descriptor.layer_type();
        let ids = self.add_layer(name, descriptor, inputs, outputs)?;
        ids.try_into().map_err(|ids: Vec<_>| {
            let problem = LayerProblem::OutputCount {
                least: N,
                most: N,
                found: ids.len(),
            };
            self.layer_error(name, layer_type, inputs, problem)
        })
    }
}

/// An image of this size, whatever batch and channels.
fn image_of(layout: DataLayout, height: u32, width: u32) -> OutputDeclaration {
    let (height, width, any) = (i64::from(height), i64::from(width), Shape::UNKNOWN);
    OutputDeclaration::of_shape(match layout {
        DataLayout::Nchw => [any, any, height, width],
        // Inference refuses any other layout.
        _ => [any, height, width, any],
    })
}
