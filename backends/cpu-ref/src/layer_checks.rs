//! What a layer must look like to be executed here, and how a refusal is worded.

use std::fmt;

use armnn_backend_api::{
    BackendError, DataLayout, DataType, LayerType, LayerView, Result, TensorView,
};

/// The types that layers compute real numbers with.
pub(crate) const FLOATS: &[DataType] = &[DataType::Float32, DataType::Float16];

/// The reason why a layer is not executed here.
pub(crate) fn refusal(layer: LayerView<'_>, reason: impl fmt::Display) -> BackendError {
    BackendError::unsupported(format!("{}: {reason}", title(layer)))
}

/// How a layer breaks the rules of its type, such as by shapes that do not fit together.
pub(crate) fn invalid(layer: LayerView<'_>, reason: impl fmt::Display) -> BackendError {
    BackendError::invalid_argument(format!("{}: {reason}", title(layer)))
}

/// The layer's type and name, for messages.
pub(crate) fn title(layer: LayerView<'_>) -> String {
    format!("{} \"{}\"", layer.layer_type(), layer.name())
}

/// An input that the layer cannot do without.
pub(crate) fn input<'a>(layer: LayerView<'a>, position: usize) -> Result<TensorView<'a>> {
    layer
        .input(position)
        .ok_or_else(|| invalid(layer, format_args!("input {position} is absent")))
}

/// An output of the layer.
pub(crate) fn output<'a>(layer: LayerView<'a>, position: usize) -> Result<TensorView<'a>> {
    if position < layer.output_indices().len() {
        Ok(layer.output(position))
    } else {
        Err(invalid(layer, format_args!("output {position} is absent")))
    }
}

/// The dimensions of a tensor, all of which must be known. Their product can be computed, even with
/// those left out that are 0.
pub(crate) fn dims(layer: LayerView<'_>, tensor: TensorView<'_>) -> Result<Vec<usize>> {
    let shape = tensor.shape();
    let known = |&d| usize::try_from(d).ok();
    let dims: Option<Vec<usize>> = shape.dims().iter().map(known).collect();
    let dims = dims.ok_or_else(|| {
        let name = tensor.name();
        invalid(
            layer,
            format_args!("the shape {shape} of tensor \"{name}\" is not known"),
        )
    })?;
    let product = |n: usize, &d: &usize| n.checked_mul(d.max(1));
    match dims.iter().try_fold(1, product) {
        Some(n) if n <= LARGEST_TENSOR => Ok(dims),
        _ => Err(invalid(
            layer,
            format_args!("tensor \"{}\" of shape {shape} is too large", tensor.name()),
        )),
    }
}

/// Elements of the largest tensor: their bytes can be counted, whatever their type.
const LARGEST_TENSOR: usize = isize::MAX as usize / 8;

/// The number of elements of a tensor whose shape is known.
pub(crate) fn num_elements(layer: LayerView<'_>, tensor: TensorView<'_>) -> Result<usize> {
    Ok(dims(layer, tensor)?.iter().product())
}

/// The dimensions of a tensor of a certain rank.
pub(crate) fn dims_of_rank<const RANK: usize>(
    layer: LayerView<'_>,
    tensor: TensorView<'_>,
) -> Result<[usize; RANK]> {
    dims(layer, tensor)?.try_into().map_err(|dims: Vec<_>| {
        invalid(
            layer,
            format_args!(
                "tensor \"{}\" has {} dimensions, not {RANK}",
                tensor.name(),
                dims.len()
            ),
        )
    })
}

/// Refuses a layer with an input of any other type.
pub(crate) fn require_input(
    layer: LayerView<'_>,
    position: usize,
    allowed: &[DataType],
) -> Result<()> {
    let tensor = input(layer, position)?;
    let names = layer.layer_type().spec().map_or(&[][..], |s| s.inputs);
    require_type(layer, tensor, "input", position, names, allowed)
}

/// Refuses a layer with an output of any other type.
pub(crate) fn require_output(
    layer: LayerView<'_>,
    position: usize,
    allowed: &[DataType],
) -> Result<()> {
    let tensor = output(layer, position)?;
    let names = layer.layer_type().spec().map_or(&[][..], |s| s.outputs);
    require_type(layer, tensor, "output", position, names, allowed)
}

/// Refuses a layer whose inputs and outputs are not all of one of these types.
pub(crate) fn require_one_type(layer: LayerView<'_>, allowed: &[DataType]) -> Result<()> {
    require_output(layer, 0, allowed)?;
    let common = [output(layer, 0)?.data_type()];
    for position in 0..layer.input_indices().len() {
        if layer.input(position).is_some() {
            require_input(layer, position, allowed)?;
            require_input(layer, position, &common)?;
        }
    }
    for position in 1..layer.output_indices().len() {
        require_output(layer, position, &common)?;
    }
    Ok(())
}

/// Refuses a layer that moves elements between tensors of different scale or zero point. What is
/// quantized along an axis is left to whoever made the network.
pub(crate) fn require_same_quantization(layer: LayerView<'_>) -> Result<()> {
    let first = output(layer, 0)?;
    for tensor in layer.inputs().chain(layer.outputs()) {
        let parameters = |t: TensorView<'_>| match (t.scales(), t.zero_points()) {
            (&[scale], &[zero_point]) => Some((scale, zero_point)),
            _ => None,
        };
        if let (Some(a), Some(b)) = (parameters(first), parameters(tensor))
            && a != b
        {
            return Err(refusal(
                layer,
                format_args!(
                    "tensor \"{}\" has scale {} and zero point {}, and \"{}\" {} and {}; \
                     requantizing is not supported",
                    first.name(),
                    a.0,
                    a.1,
                    tensor.name(),
                    b.0,
                    b.1
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses a value of an open enum that has no name in this version.
pub(crate) fn require_named(
    layer: LayerView<'_>,
    value: impl fmt::Display,
    name: Option<&str>,
) -> Result<()> {
    match name {
        Some(_) => Ok(()),
        None => Err(refusal(layer, format_args!("{value} is not known here"))),
    }
}

/// Refuses any layout but NHWC and NCHW.
pub(crate) fn require_image_layout(layer: LayerView<'_>, layout: DataLayout) -> Result<()> {
    match layout {
        DataLayout::Nhwc | DataLayout::Nchw => Ok(()),
        other => Err(refusal(
            layer,
            format_args!("the layout is {other}; Nhwc and Nchw are supported"),
        )),
    }
}

fn require_type(
    layer: LayerView<'_>,
    tensor: TensorView<'_>,
    direction: &str,
    position: usize,
    names: &[&str],
    allowed: &[DataType],
) -> Result<()> {
    if allowed.contains(&tensor.data_type()) {
        return Ok(());
    }
    let role = names
        .get(position)
        .or(names.last())
        .map_or("", |n| n.trim_end_matches(['?', '*']));
    Err(refusal(
        layer,
        format_args!(
            "{direction} {position} ({role}) \"{}\" is {}; supported here: {}",
            tensor.name(),
            tensor.data_type(),
            List(allowed)
        ),
    ))
}

struct List<'a>(&'a [DataType]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, data_type) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            fmt::Display::fmt(data_type, f)?;
        }
        Ok(())
    }
}

/// A layer type that no version of this backend executes.
pub(crate) fn unknown_layer(layer: LayerView<'_>) -> BackendError {
    let reason = match layer.layer_type() {
        LayerType::StandIn => "operators without a layer type are not supported",
        _ => "the layer type is not known here, or its descriptor is too short",
    };
    refusal(layer, reason)
}
