//! Arm NN's layers that compute over windows, rows and whole dimensions.

use armnn_backend_api::{
    BatchMatMulDescriptor, Convolution2dDescriptor, DataLayout, DepthwiseConvolution2dDescriptor,
    FullyConnectedDescriptor, LayerDescriptor, LayerType, Pooling2dDescriptor, ReduceDescriptor,
    ReduceOperation, ResizeDescriptor, Shape, SoftmaxDescriptor,
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
        let (height, width, any) = (i64::from(height), i64::from(width), Shape::UNKNOWN);
        let target = match descriptor.data_layout() {
            DataLayout::Nchw => [any, any, height, width],
            // Inference refuses any other layout.
            _ => [any, height, width, any],
        };
        let output = OutputDeclaration::of_shape(target);
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

    /// A layer with one output.
    pub(super) fn add_single(
        &mut self,
        name: &str,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        outputs: &[OutputDeclaration],
    ) -> Result<TensorId> {
        let descriptor = descriptor.into();
        let layer_type = descriptor.layer_type();
        let ids = self.add_layer(name, descriptor, inputs, outputs)?;
        match ids[..] {
            [id] => Ok(id),
            _ => {
                let problem = LayerProblem::OutputCount {
                    least: 1,
                    most: 1,
                    found: ids.len(),
                };
                Err(self.layer_error(name, layer_type, inputs, problem))
            }
        }
    }
}
