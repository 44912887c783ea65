//! Rules by which the descriptor of a layer follows from tensors.
//!
//! A model may compute what a descriptor holds: the target of a Reshape, where a slice begins, by
//! how much a tensor is padded. Once shapes are known, the values of such tensors are, too, or the
//! network is executed up to them; then a rule gives the descriptor. With some values unknown it
//! gives what is known of the output's shape.
//!
//! Where ONNX and TensorFlow Lite differ, a rule has options for both.

mod arguments;
mod broadcast;
mod generation;
mod pad;
mod reduce;
mod reshape;
mod resize;
mod same_padding;
mod signal;
mod slice;
mod space_to_batch;
mod split;
mod strided_slice;
mod transpose_convolution;
mod transposed_windows;

pub use pad::PadLayout;
pub use reduce::ReduceOptions;
pub use resize::AspectRatioPolicy;
pub use same_padding::WindowLayer;
pub use split::SplitOptions;
pub use strided_slice::StridedSliceOptions;
pub use transposed_windows::{TransposedLayer, TransposedSizes};

use std::fmt::Display;

use armnn_backend_api::{
    ArgMinMaxDescriptor, Col2ImDescriptor, CumulativeDescriptor, DftDescriptor,
    InterpolateDescriptor, LayerDescriptor, LayerType, PaddingMode, ReduceOperation,
    ResizeDescriptor, Shape, TopKDescriptor, TransposeConvolution2dDescriptor,
    TransposeConvolution3dDescriptor,
};

use crate::KnownValue;
use crate::error::LayerProblem;
use crate::evaluation::knows_reduce;
use arguments::Arguments;

type Result<T, E = LayerProblem> = std::result::Result<T, E>;

/// How the descriptor of a [deferred layer](crate::Deferred) follows from its parameters.
///
/// Parameters are lists of integers unless something else is said. One with a `?` may be absent.
/// Axes count from the end if negative.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParameterRule {
    /// A Reshape. Parameter: the target, in which one -1 stands for what remains.
    Reshape {
        /// Whether a 0 in the target is a size; else it stands for the input's size there.
        allow_zero: bool,
    },
    /// A Reshape that takes dimensions of size 1 away. Parameter: the axes?; without them, all such
    /// dimensions go, which must then be known.
    Squeeze,
    /// A Reshape that puts dimensions of size 1 in. Parameter: the axes, which are those of the
    /// output.
    Unsqueeze,
    /// A Reshape without parameters: each dimension of the output is the product of some of the
    /// input, 1 for none. Dimensions that no product has must be 1.
    ///
    /// This is what flattens, squeezes and unsqueezes along axes that the model fixes, while several
    /// dimensions may be unknown.
    MergeDimensions {
        /// For each dimension of the output, dimensions of the input.
        groups: Vec<Vec<usize>>,
    },
    /// A BroadcastTo. Parameter: the target.
    BroadcastTo {
        /// Whether sizes of 1 in the target, and dimensions that it lacks, are those of the input;
        /// else the target is the output's shape.
        bidirectional: bool,
    },
    /// A Tile. Parameter: how often along each dimension.
    Tile,
    /// A Fill. Parameter: the dimensions.
    Fill,
    /// A StridedSlice, as ONNX's Slice. Parameters: the starts, the ends, the axes?, the steps?.
    Slice,
    /// A StridedSlice, as TensorFlow Lite's SLICE. Parameters: where it begins along each dimension,
    /// and how many elements it has there, -1 for all that is left.
    BeginSize,
    /// A StridedSlice, as TensorFlow Lite's STRIDED_SLICE. Parameters: begin, end and strides.
    ///
    /// Dimensions that go have size 1 in the output, and new ones are missing:
    /// [`StridedSliceOptions::groups`] says how they come and go.
    StridedSlice(StridedSliceOptions),
    /// A Pad. Parameters: how many elements are added, the value?, the axes?.
    Pad {
        /// What is added.
        mode: PaddingMode,
        /// The value where it is no parameter.
        value: f64,
        /// How the first parameter is laid out.
        layout: PadLayout,
        /// Whether negative numbers count as 0, because a [`Crop`](Self::Crop) with the same
        /// parameters stands before; else they are refused.
        negative_as_none: bool,
    },
    /// A StridedSlice that takes away what negative numbers of elements of a Pad take away.
    /// Parameters: as of the Pad.
    Crop {
        /// How the first parameter is laid out.
        layout: PadLayout,
    },
    /// A Reduce. Parameter: the axes?.
    Reduce {
        /// What is computed.
        operation: ReduceOperation,
        /// How the axes are taken.
        options: ReduceOptions,
    },
    /// An ArgMinMax, but for the axis. Parameter: the axis, one element.
    ArgMinMax(ArgMinMaxDescriptor),
    /// A Cumulative, but for the axis. Parameter: the axis, one element.
    Cumulative(CumulativeDescriptor),
    /// A ReverseV2. Parameter: the axes.
    ReverseV2,
    /// A Transpose. Parameter: the permutation.
    Transpose,
    /// A TopK. Parameter: how many, one element.
    TopK(TopKDescriptor),
    /// A Split. Parameters: the sizes?, and the axis unless it is fixed.
    Split(SplitOptions),
    /// A Resize. Parameter: rows and columns.
    Resize(ResizeDescriptor),
    /// An Interpolate, as ONNX's Resize. Parameters: the region? (real numbers: all starts, then all
    /// ends, where coordinates are of a region), the scales? (real numbers), the sizes?. Either
    /// scales or sizes have an element for each axis, and the others none.
    Interpolate {
        /// The descriptor, but for rank, scales and region.
        descriptor: InterpolateDescriptor,
        /// The axes; all, if not given.
        axes: Option<Vec<i64>>,
        /// Which sizes are taken.
        policy: AspectRatioPolicy,
    },
    /// A Range. Parameters, which are also its inputs: start, limit and delta, one element each.
    Range {
        /// Whether (limit - start) / delta of Float32 is rounded to Float32 before it is rounded up,
        /// as in TensorFlow Lite; else it is divided in Float64, as ONNX Runtime does.
        rounded_quotient: bool,
    },
    /// A OneHot. Parameter: the depth, one element, rounded towards zero if it is real.
    OneHot {
        /// Where the new dimension stands in the output, from the end if negative.
        axis: i64,
        /// Whether negative indices count from the end.
        wrap_negative: bool,
    },
    /// A NonMaxSuppressionPadded. Parameter: the size of the output, one element.
    NonMaxSuppressionPadded,
    /// A SpaceToBatchNd. Parameters: the block shape, the paddings, of shape [n, 2].
    SpaceToBatchNd {
        /// The first dimension that is divided.
        axis: u32,
    },
    /// A BatchToSpaceNd. Parameters: the block shape, the crops, of shape [n, 2].
    BatchToSpaceNd {
        /// The first dimension that grows.
        axis: u32,
    },
    /// A TransposeConvolution2d. Parameter: the shape of the output.
    TransposeConvolution2d {
        /// The descriptor, but perhaps for the padding.
        descriptor: TransposeConvolution2dDescriptor,
        /// Whether the padding is such that a convolution with TensorFlow's SAME padding leads back
        /// from the output to the input; else it is the descriptor's.
        same: bool,
    },
    /// A TransposeConvolution3d. Parameter: the shape of the output.
    TransposeConvolution3d {
        /// The descriptor, but perhaps for the padding.
        descriptor: TransposeConvolution3dDescriptor,
        /// As of a TransposeConvolution2d.
        same: bool,
    },
    /// A Dft, but for length and axis. Parameters: the length?, and the axis unless it is fixed, one
    /// element each.
    Dft {
        /// The descriptor, but for length and axis.
        descriptor: DftDescriptor,
        /// The axis, from the end if negative; `None` if it is a parameter.
        axis: Option<i64>,
    },
    /// A layer over windows without parameters: its padding is such that there is an output for each
    /// stride over the input, rounded up, as TensorFlow's SAME padding and ONNX's `auto_pad`.
    SamePadding {
        /// The layer, but for its padding.
        layer: WindowLayer,
        /// Whether what is odd of the padding goes behind the input (ONNX's SAME_UPPER), or before.
        odd_behind: bool,
    },
    /// A transposed convolution without parameters, as ONNX's ConvTranspose: what is taken away
    /// around the output follows from the sizes of the output, or these from what is taken away.
    /// Batch and channels come first.
    TransposedWindows {
        /// The layer; its padding holds for [`TransposedSizes::Padded`], and follows else.
        layer: TransposedLayer,
        /// What the sizes of the output are.
        sizes: TransposedSizes,
        /// How many elements more stand at the end of each of the dimensions that the filter moves
        /// along (ONNX's `output_padding`).
        more: Vec<u32>,
        /// Whether what is odd of the padding is taken away behind (ONNX's SAME_UPPER), or before.
        odd_behind: bool,
    },
    /// A Col2Im, but for the block shape. Parameters: the image's shape, the block shape.
    Col2Im(Col2ImDescriptor),
}

/// A parameter.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// Its shape, as far as it is known.
    pub shape: Shape,
    /// Its value, as far as it is known.
    pub value: Option<KnownValue>,
}

/// What a rule gives.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// The descriptor. What does not follow yet stands at a value that any layer of the type may
    /// have.
    pub descriptor: LayerDescriptor,
    /// The shapes of the outputs, as far as they follow.
    pub outputs: Vec<Shape>,
    /// Whether everything is known that the descriptor holds, and shape inference will find what is
    /// unknown of the outputs from the shapes of the inputs.
    pub complete: bool,
}

impl ParameterRule {
    /// The type of the layer.
    pub fn layer_type(&self) -> LayerType {
        match self {
            Self::Reshape { .. }
            | Self::Squeeze
            | Self::Unsqueeze
            | Self::MergeDimensions { .. } => LayerType::Reshape,
            Self::BroadcastTo { .. } => LayerType::BroadcastTo,
            Self::Tile => LayerType::Tile,
            Self::Fill => LayerType::Fill,
            Self::Slice | Self::BeginSize | Self::StridedSlice(_) | Self::Crop { .. } => {
                LayerType::StridedSlice
            }
            Self::Pad { .. } => LayerType::Pad,
            Self::Reduce { .. } => LayerType::Reduce,
            Self::ArgMinMax(_) => LayerType::ArgMinMax,
            Self::Cumulative(_) => LayerType::Cumulative,
            Self::ReverseV2 => LayerType::ReverseV2,
            Self::Transpose => LayerType::Transpose,
            Self::TopK(_) => LayerType::TopK,
            Self::Split(_) => LayerType::Split,
            Self::Resize(_) => LayerType::Resize,
            Self::Interpolate { .. } => LayerType::Interpolate,
            Self::Range { .. } => LayerType::Range,
            Self::OneHot { .. } => LayerType::OneHot,
            Self::NonMaxSuppressionPadded => LayerType::NonMaxSuppressionPadded,
            Self::SpaceToBatchNd { .. } => LayerType::SpaceToBatchNd,
            Self::BatchToSpaceNd { .. } => LayerType::BatchToSpaceNd,
            Self::TransposeConvolution2d { .. } => LayerType::TransposeConvolution2d,
            Self::TransposeConvolution3d { .. } => LayerType::TransposeConvolution3d,
            Self::Dft { .. } => LayerType::Dft,
            Self::SamePadding { layer, .. } => layer.layer_type(),
            Self::TransposedWindows { layer, .. } => layer.layer_type(),
            Self::Col2Im(_) => LayerType::Col2Im,
        }
    }

    /// Whether shape inference can evaluate the layer.
    pub(crate) fn is_evaluated(&self) -> bool {
        match self {
            Self::Reduce { operation, .. } => knows_reduce(*operation),
            Self::Pad { mode, .. } => mode.name().is_some(),
            Self::Resize(_)
            | Self::Interpolate { .. }
            | Self::NonMaxSuppressionPadded
            | Self::SpaceToBatchNd { .. }
            | Self::BatchToSpaceNd { .. }
            | Self::TransposeConvolution2d { .. }
            | Self::TransposeConvolution3d { .. }
            | Self::Dft { .. }
            | Self::SamePadding { .. }
            | Self::TransposedWindows { .. }
            | Self::Col2Im(_) => false,
            _ => true,
        }
    }

    /// The descriptor and the shapes of the outputs, as far as they follow.
    ///
    /// # Errors
    /// When a parameter is not there, or what is known of it makes no sense for the inputs.
    pub(crate) fn resolve(
        &self,
        data: &[Option<Shape>],
        parameters: &[Option<Parameter>],
    ) -> Result<Resolved> {
        let arguments = Arguments { data, parameters };
        match self {
            Self::Reshape { allow_zero } => reshape::reshape(*allow_zero, &arguments),
            Self::Squeeze => reshape::squeeze(&arguments),
            Self::Unsqueeze => reshape::unsqueeze(&arguments),
            Self::MergeDimensions { groups } => reshape::merge_dimensions(groups, &arguments),
            Self::BroadcastTo { bidirectional } => {
                broadcast::broadcast_to(*bidirectional, &arguments)
            }
            Self::Tile => broadcast::tile(&arguments),
            Self::Fill => broadcast::fill(&arguments),
            Self::Slice => slice::slice(&arguments),
            Self::BeginSize => slice::begin_size(&arguments),
            Self::StridedSlice(options) => strided_slice::strided_slice(options, &arguments),
            &Self::Pad {
                mode,
                value,
                layout,
                negative_as_none,
            } => pad::pad(mode, value, layout, negative_as_none, &arguments),
            Self::Crop { layout } => pad::crop(*layout, &arguments),
            Self::Reduce { operation, options } => reduce::reduce(*operation, *options, &arguments),
            Self::ArgMinMax(base) => reduce::arg_min_max(base, &arguments),
            Self::Cumulative(base) => reduce::cumulative(base, &arguments),
            Self::ReverseV2 => reduce::reverse(&arguments),
            Self::Transpose => reduce::transpose(&arguments),
            Self::TopK(base) => reduce::top_k(base, &arguments),
            Self::Split(options) => split::split(*options, &arguments),
            Self::Resize(base) => resize::resize(base, &arguments),
            Self::Interpolate {
                descriptor,
                axes,
                policy,
            } => resize::interpolate(descriptor, axes.as_deref(), *policy, &arguments),
            Self::Range { rounded_quotient } => generation::range(*rounded_quotient, &arguments),
            Self::OneHot {
                axis,
                wrap_negative,
            } => generation::one_hot(*axis, *wrap_negative, &arguments),
            Self::NonMaxSuppressionPadded => generation::non_max_suppression_padded(&arguments),
            Self::SpaceToBatchNd { axis } => space_to_batch::space_to_batch(*axis, &arguments),
            Self::BatchToSpaceNd { axis } => space_to_batch::batch_to_space(*axis, &arguments),
            Self::TransposeConvolution2d { descriptor, same } => {
                transpose_convolution::in_planes(descriptor, *same, &arguments)
            }
            Self::TransposeConvolution3d { descriptor, same } => {
                transpose_convolution::in_volumes(descriptor, *same, &arguments)
            }
            Self::Dft { descriptor, axis } => signal::dft(descriptor, *axis, &arguments),
            Self::SamePadding { layer, odd_behind } => {
                same_padding::same(layer, *odd_behind, &arguments)
            }
            Self::TransposedWindows {
                layer,
                sizes,
                more,
                odd_behind,
            } => transposed_windows::padded(layer, sizes, more, *odd_behind, &arguments),
            Self::Col2Im(base) => signal::col2im(base, &arguments),
        }
    }
}

impl Resolved {
    /// A layer with one output of these dimensions.
    fn single(
        descriptor: impl Into<LayerDescriptor>,
        dims: &[i64],
        complete: bool,
    ) -> Result<Self> {
        Ok(Self {
            descriptor: descriptor.into(),
            outputs: vec![shape_of(dims)?],
            complete,
        })
    }
}

/// The shape of these dimensions.
///
/// # Errors
/// More than 8.
fn shape_of(dims: &[i64]) -> Result<Shape> {
    Shape::new(dims).map_err(|_| bad("rank of the output", dims.len(), "at most 8"))
}

/// The size, if it is known.
fn known(dim: i64) -> Option<i64> {
    (dim >= 0).then_some(dim)
}

/// The product of sizes, unknown if one is; 0 if one is.
fn product(dims: impl IntoIterator<Item = i64> + Clone) -> Result<i64> {
    if dims.clone().into_iter().any(|dim| dim == 0) {
        return Ok(0);
    }
    let mut product = 1i64;
    for dim in dims {
        match known(dim) {
            Some(dim) => {
                product = product.checked_mul(dim).ok_or(LayerProblem::Overflow {
                    what: "a product of dimensions",
                })?;
            }
            None => return Ok(Shape::UNKNOWN),
        }
    }
    Ok(product)
}

/// What a fitting descriptor gives; its constructor refuses lists beyond 8 dimensions.
fn described<D>(descriptor: Option<D>) -> Result<D> {
    descriptor.ok_or_else(|| bad("rank", "more than 8", "at most 8"))
}

/// A problem with a parameter.
fn bad(field: &'static str, value: impl Display, rule: impl Display) -> LayerProblem {
    LayerProblem::Descriptor {
        field,
        value: value.to_string(),
        rule: rule.to_string(),
    }
}

/// A list for a message; `?` stands for what is not known.
fn shown_list(values: &[Option<i64>]) -> String {
    const MOST: usize = 9;
    let shown = values.iter().take(MOST).map(|value| match value {
        Some(value) => value.to_string(),
        None => "?".to_owned(),
    });
    let mut shown = shown.collect::<Vec<_>>();
    if values.len() > MOST {
        shown.push("…".to_owned());
    }
    format!("[{}]", shown.join(", "))
}

#[cfg(test)]
mod tests;
