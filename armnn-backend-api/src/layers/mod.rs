//! The layers: one spelling per operation.
//!
//! The list in this file binds each layer type to its number, descriptor, inputs, outputs and the
//! minor since which it exists.

mod descriptors;
mod enums;
mod stand_in;

pub use descriptors::*;
pub use enums::*;
pub use stand_in::{StandInDescriptor, StandInRef};

use std::{ffi::c_void, mem::size_of};

use crate::open_enum::open_enum;
use crate::sys;

/// What is known of a layer type.
#[derive(Clone, Copy, Debug)]
pub struct LayerSpec {
    /// The type.
    pub layer_type: LayerType,
    /// The inputs in order. A name that ends in `?` is of an input that may be absent; one that
    /// ends in `*` stands for one or more inputs.
    pub inputs: &'static [&'static str],
    /// The outputs in order; one that ends in `*` stands for one or more.
    pub outputs: &'static [&'static str],
    /// The minor since which the layer exists.
    pub since: u32,
}

impl LayerSpec {
    /// The smallest and the largest number of inputs; absent ones count, except at the end.
    pub fn input_arity(&self) -> (usize, usize) {
        let least = self
            .inputs
            .iter()
            .rposition(|i| !i.ends_with('?'))
            .map_or(0, |i| i + 1);
        let many = self.inputs.last().is_some_and(|i| i.ends_with('*'));
        (least, if many { usize::MAX } else { self.inputs.len() })
    }

    /// The smallest and the largest number of outputs.
    pub fn output_arity(&self) -> (usize, usize) {
        let many = self.outputs.last().is_some_and(|o| o.ends_with('*'));
        (
            self.outputs.len(),
            if many { usize::MAX } else { self.outputs.len() },
        )
    }

    /// Whether input `index` may be absent.
    pub fn is_optional(&self, index: usize) -> bool {
        self.inputs.get(index).is_some_and(|i| i.ends_with('?'))
    }
}

macro_rules! layers {
    ($(
        $(#[$meta:meta])*
        $Layer:ident = $number:expr, $Descriptor:ty,
        $inputs:expr => $outputs:expr, since $since:literal;
    )*) => {
        open_enum! {
            /// The type of a layer. The layers are described at [`LayerDescriptor`].
            pub enum LayerType {
                $($(#[$meta])* $Layer = $number,)*
                /// An operator that the parser does not know; a backend may.
                StandIn = sys::ARMNN_LAYER_STAND_IN,
            }
        }

        impl LayerType {
            /// What is known of the type, if it is a known one. Inputs and outputs of StandIn are
            /// those of the operator.
            pub fn spec(self) -> Option<&'static LayerSpec> {
                match self {
                    $(Self::$Layer => Some(const { &LayerSpec {
                        layer_type: Self::$Layer,
                        inputs: &$inputs,
                        outputs: &$outputs,
                        since: $since,
                    } }),)*
                    Self::StandIn => Some(const { &LayerSpec {
                        layer_type: Self::StandIn,
                        inputs: &["inputs*"],
                        outputs: &["outputs*"],
                        since: 0,
                    } }),
                    _ => None,
                }
            }
        }

        /// A layer type with its parameters.
        ///
        /// Tensors are dense and row-major. A shape in the text is outermost first: N batch,
        /// C channels, H rows, W columns, O output channels, I input channels.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum LayerDescriptor {
            $($(#[$meta])* $Layer($Descriptor),)*
            /// An operator that the parser does not know; a backend may.
            StandIn(StandInDescriptor),
        }

        impl LayerDescriptor {
            /// The type of the layer.
            pub const fn layer_type(&self) -> LayerType {
                match self {
                    $(Self::$Layer(_) => LayerType::$Layer,)*
                    Self::StandIn(_) => LayerType::StandIn,
                }
            }

            /// The descriptor as it goes over the wire: its address and its size. Valid while
            /// `self` is not moved.
            pub fn raw(&self) -> (*const c_void, usize) {
                match self {
                    $(Self::$Layer(d) => (std::ptr::from_ref(d).cast(), size_of::<$Descriptor>()),)*
                    Self::StandIn(d) => d.raw(),
                }
            }
        }

        $(impl From<$Descriptor> for LayerDescriptor {
            fn from(descriptor: $Descriptor) -> Self {
                Self::$Layer(descriptor)
            }
        })*

        /// The descriptor of a layer in a view.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum DescriptorRef<'a> {
            $($(#[$meta])* $Layer(&'a $Descriptor),)*
            /// An operator that the parser does not know; a backend may.
            StandIn(StandInRef<'a>),
        }

        impl<'a> DescriptorRef<'a> {
            /// Reads a descriptor from its wire form; `None` for an unknown layer type, or when
            /// fewer bytes are there than the type needs.
            ///
            /// # Safety
            /// `size` bytes at `data` are readable for `'a`, and hold a descriptor of the type,
            /// aligned as such.
            pub(crate) unsafe fn from_raw(
                layer_type: LayerType,
                data: *const c_void,
                size: usize,
            ) -> Option<Self> {
                if data.is_null() {
                    return None;
                }
                match layer_type {
                    $(LayerType::$Layer => (size >= size_of::<$Descriptor>()).then(|| {
                        // SAFETY: by the contract of this function, and the size is checked.
                        Self::$Layer(unsafe { &*data.cast::<$Descriptor>() })
                    }),)*
                    LayerType::StandIn => {
                        // SAFETY: by the contract of this function.
                        let bytes = unsafe { std::slice::from_raw_parts(data.cast(), size) };
                        StandInRef::parse(bytes).map(Self::StandIn)
                    }
                    _ => None,
                }
            }
        }
    };
}

layers! {
    /// A function of each element.
    ///
    /// Input and output: any shape, the same; Float32, Float16, or a quantized type. NaN stays NaN.
    Activation = sys::ARMNN_LAYER_ACTIVATION, ActivationDescriptor,
        ["input"] => ["output"], since 0;
    /// Products of matrices.
    ///
    /// x: [..., M, K] (or [..., K, M] if transposed), y: [..., K, N]; output: [..., M, N]. Leading
    /// dimensions broadcast.
    BatchMatMul = sys::ARMNN_LAYER_BATCH_MAT_MUL, BatchMatMulDescriptor,
        ["x", "y"] => ["output"], since 0;
    /// Conversion of each element to the output's data type.
    ///
    /// To integers: towards zero, saturating, NaN to 0. To Boolean: whether it is not 0. Between
    /// floats: to nearest, ties to even.
    Cast = sys::ARMNN_LAYER_CAST, CastDescriptor,
        ["input"] => ["output"], since 0;
    /// Comparison of pairs of elements; shapes broadcast. Output: Boolean.
    Comparison = sys::ARMNN_LAYER_COMPARISON, ComparisonDescriptor,
        ["x", "y"] => ["output"], since 0;
    /// Tensors joined along an axis; their other dimensions are equal.
    Concat = sys::ARMNN_LAYER_CONCAT, ConcatDescriptor,
        ["inputs*"] => ["output"], since 0;
    /// Convolution over rows and columns.
    ///
    /// NHWC: input [N, H, W, I], weights [O, KH, KW, I / groups], output [N, H', W', O]. NCHW:
    /// input [N, I, H, W], weights [O, I / groups, KH, KW], output [N, O, H', W']. Bias: `[O]`.
    /// H' = (H + pad_top + pad_bottom - dilation_y (KH - 1) - 1) / stride_y + 1, rounded down, and
    /// likewise W'. Padding is 0 (the zero point, if quantized).
    Convolution2d = sys::ARMNN_LAYER_CONVOLUTION2D, Convolution2dDescriptor,
        ["input", "weights", "bias?"] => ["output"], since 0;
    /// Convolution of each channel with filters of its own.
    ///
    /// NHWC: input [N, H, W, C], output [N, H', W', C M]; NCHW accordingly. Weights:
    /// [1, KH, KW, C M] in both layouts; output channel o is of input channel o / M. Bias: [C M].
    /// Sizes as for Convolution2d.
    DepthwiseConvolution2d = sys::ARMNN_LAYER_DEPTHWISE_CONVOLUTION2D,
        DepthwiseConvolution2dDescriptor,
        ["input", "weights", "bias?"] => ["output"], since 0;
    /// Quantized numbers to the real ones they stand for. Output: Float32 or Float16.
    Dequantize = sys::ARMNN_LAYER_DEQUANTIZE, DequantizeDescriptor,
        ["input"] => ["output"], since 0;
    /// An operation on pairs of elements; shapes broadcast. Integers wrap around; an integer division
    /// by 0 is an error when executed. Of NaN and a number, Maximum and Minimum are NaN.
    ElementwiseBinary = sys::ARMNN_LAYER_ELEMENTWISE_BINARY, ElementwiseBinaryDescriptor,
        ["x", "y"] => ["output"], since 0;
    /// An operation on each element.
    ElementwiseUnary = sys::ARMNN_LAYER_ELEMENTWISE_UNARY, ElementwiseUnaryDescriptor,
        ["input"] => ["output"], since 0;
    /// The input, flattened to [N, I], times the weights, plus the bias `[O]`. Output: [N, O].
    ///
    /// Weights: [O, I] with `transpose_weight_matrix`, else [I, O]. I is the weights' own; N is
    /// what remains of the input's elements.
    FullyConnected = sys::ARMNN_LAYER_FULLY_CONNECTED, FullyConnectedDescriptor,
        ["input", "weights", "bias?"] => ["output"], since 0;
    /// Slices of the first input, chosen along `axis` by the indices (Signed32 or Signed64).
    ///
    /// Output: the input's dimensions before `axis`, the indices' dimensions, the input's
    /// dimensions after `axis`. An index outside the dimension is an error when executed.
    Gather = sys::ARMNN_LAYER_GATHER, GatherDescriptor,
        ["input", "indices"] => ["output"], since 0;
    /// The input with elements added around it; no number of elements is negative.
    Pad = sys::ARMNN_LAYER_PAD, PadDescriptor,
        ["input"] => ["output"], since 0;
    /// A value of each window over rows and columns.
    ///
    /// NHWC: input [N, H, W, C]; NCHW: input [N, C, H, W]. Sizes as for Convolution2d, rounded as
    /// the descriptor says; rounded up, a last window that would start in the padding behind the
    /// input is left out. The padding is smaller than the window. Positions beyond the padding never
    /// count, and a window without any position that counts is 0.
    Pooling2d = sys::ARMNN_LAYER_POOLING2D, Pooling2dDescriptor,
        ["input"] => ["output"], since 0;
    /// x above 0, else alpha x; shapes broadcast.
    Prelu = sys::ARMNN_LAYER_PRELU, PreluDescriptor,
        ["input", "alpha"] => ["output"], since 0;
    /// Real numbers to quantized ones: divided by the scale in Float32, to nearest, ties away from
    /// zero, saturating; NaN to 0.
    Quantize = sys::ARMNN_LAYER_QUANTIZE, QuantizeDescriptor,
        ["input"] => ["output"], since 0;
    /// A value of all elements along some axes; without axes, the input.
    Reduce = sys::ARMNN_LAYER_REDUCE, ReduceDescriptor,
        ["input"] => ["output"], since 0;
    /// The same elements in another shape, which is the output's.
    Reshape = sys::ARMNN_LAYER_RESHAPE, ReshapeDescriptor,
        ["input"] => ["output"], since 0;
    /// Rows and columns resized to the output's.
    ///
    /// With s the input's size through the output's (with `align_corners` and an output above 1:
    /// (input - 1) / (output - 1)), output position p is input position p s, or (p + 0.5) s - 0.5
    /// with `half_pixel_centers`. Positions outside are clamped to the border. The nearest element
    /// is the one at the position rounded down, or, with a flag set, to nearest with ties up (as
    /// TensorFlow Lite does).
    Resize = sys::ARMNN_LAYER_RESIZE, ResizeDescriptor,
        ["input"] => ["output"], since 0;
    /// e^(beta x), divided by its sum along an axis.
    Softmax = sys::ARMNN_LAYER_SOFTMAX, SoftmaxDescriptor,
        ["input"] => ["output"], since 0;
    /// The input cut along an axis into parts; their sizes are those of the outputs.
    Split = sys::ARMNN_LAYER_SPLIT, SplitDescriptor,
        ["input"] => ["outputs*"], since 0;
    /// Element `begin + i stride` along each dimension, for i below the output's size. An `end`
    /// beyond the dimension means the rest of it.
    StridedSlice = sys::ARMNN_LAYER_STRIDED_SLICE, StridedSliceDescriptor,
        ["input"] => ["output"], since 0;
    /// Dimensions in another order.
    Transpose = sys::ARMNN_LAYER_TRANSPOSE, TransposeDescriptor,
        ["input"] => ["output"], since 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arity_follows_from_the_names() {
        let arity = |t: LayerType| t.spec().unwrap().input_arity();
        assert_eq!(arity(LayerType::Convolution2d), (2, 3));
        assert_eq!(arity(LayerType::Concat), (1, usize::MAX));
        assert_eq!(arity(LayerType::Reshape), (1, 1));
        assert_eq!(
            LayerType::Split.spec().unwrap().output_arity(),
            (1, usize::MAX)
        );
    }

    #[test]
    fn numbers_are_unique_and_every_type_has_a_spec() {
        for (i, a) in LayerType::ALL.iter().enumerate() {
            assert_eq!(a.spec().unwrap().layer_type, *a);
            assert!(LayerType::ALL[..i].iter().all(|b| b.0 != a.0), "{a}");
        }
    }

    #[test]
    fn a_descriptor_shorter_than_its_type_is_refused() {
        let descriptor = LayerDescriptor::from(SoftmaxDescriptor { beta: 1.0, axis: 2 });
        let (data, size) = descriptor.raw();
        // SAFETY: `descriptor` lives on, and no more than its bytes are given.
        unsafe {
            assert_eq!(
                DescriptorRef::from_raw(LayerType::Softmax, data, size),
                Some(DescriptorRef::Softmax(&SoftmaxDescriptor {
                    beta: 1.0,
                    axis: 2
                }))
            );
            assert_eq!(
                DescriptorRef::from_raw(LayerType::Softmax, data, size - 1),
                None
            );
            assert_eq!(DescriptorRef::from_raw(LayerType(9999), data, size), None);
        }
    }
}
