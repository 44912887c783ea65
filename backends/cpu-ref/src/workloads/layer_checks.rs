//! What a layer must look like to be executed here, and how a refusal is worded.
//!
//! A reason is worded the same for all layers that it holds of, so that the host can gather them:
//! it calls tensors by their role in the layer, and contains no name of the model. The host adds
//! the layer's name and type where an error is of one layer.

use std::fmt;

use armnn_backend_api::{
    BackendError, DataLayout, DataType, LayerType, LayerView, Result, Status, TensorView,
};

use crate::numbers::quantized_arithmetic::{Affine, QUANTIZED};

/// The types that layers compute real numbers with.
pub(crate) const FLOATS: &[DataType] = &[DataType::Float32, DataType::Float16, DataType::BFloat16];

/// The same and Float64, of those that compute in it, too.
pub(crate) const REALS: &[DataType] = &[
    DataType::Float32,
    DataType::Float16,
    DataType::BFloat16,
    DataType::Float64,
];

/// Integers without quantization.
pub(crate) const INTEGERS: &[DataType] = &[
    DataType::Int8,
    DataType::Int16,
    DataType::Signed32,
    DataType::Signed64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
];

/// The reason why a layer is not executed here.
pub(crate) fn refusal(reason: impl fmt::Display) -> BackendError {
    BackendError::unsupported(reason.to_string())
}

/// How a layer breaks the rules of its type, such as by shapes that do not fit together.
pub(crate) fn invalid(reason: impl fmt::Display) -> BackendError {
    BackendError::invalid_argument(reason.to_string())
}

/// What an input is in a layer of this type, such as `weights`; one of many has a number, from 0.
pub(crate) fn input_role(layer_type: LayerType, position: usize) -> String {
    let names = layer_type.spec().map_or(&[][..], |spec| spec.inputs);
    role(names, "input", position)
}

/// What an output is in a layer of this type.
pub(crate) fn output_role(layer_type: LayerType, position: usize) -> String {
    let names = layer_type.spec().map_or(&[][..], |spec| spec.outputs);
    role(names, "output", position)
}

/// What a tensor is in a layer.
pub(crate) fn tensor_role(layer: LayerView<'_>, tensor: TensorView<'_>) -> String {
    let layer_type = layer.layer_type();
    let is_tensor = |&index: &u32| index == tensor.index();
    if let Some(position) = layer.input_indices().iter().position(is_tensor) {
        return input_role(layer_type, position);
    }
    match layer.output_indices().iter().position(is_tensor) {
        Some(position) => output_role(layer_type, position),
        None => "a tensor".to_owned(),
    }
}

fn role(names: &[&str], direction: &str, position: usize) -> String {
    match names.get(position) {
        Some(name) if !name.ends_with('*') => name.trim_end_matches('?').to_owned(),
        _ => format!("{direction} {position}"),
    }
}

/// An input that the layer cannot do without.
pub(crate) fn input<'a>(layer: LayerView<'a>, position: usize) -> Result<TensorView<'a>> {
    layer.input(position).ok_or_else(|| {
        invalid(format_args!(
            "{} is absent",
            input_role(layer.layer_type(), position)
        ))
    })
}

/// An output of the layer.
pub(crate) fn output<'a>(layer: LayerView<'a>, position: usize) -> Result<TensorView<'a>> {
    if position < layer.output_indices().len() {
        Ok(layer.output(position))
    } else {
        Err(invalid(format_args!(
            "{} is absent",
            output_role(layer.layer_type(), position)
        )))
    }
}

/// The dimensions of a tensor, all of which must be known. Their product can be computed, even with
/// those left out that are 0.
pub(crate) fn dims(layer: LayerView<'_>, tensor: TensorView<'_>) -> Result<Vec<usize>> {
    let shape = tensor.shape();
    let known = |&d| usize::try_from(d).ok();
    let dims: Option<Vec<usize>> = shape.dims().iter().map(known).collect();
    let dims = dims.ok_or_else(|| {
        let role = tensor_role(layer, tensor);
        invalid(format_args!("the shape {shape} of {role} is not known"))
    })?;
    let product = |n: usize, &d: &usize| n.checked_mul(d.max(1));
    match dims.iter().try_fold(1, product) {
        Some(n) if n <= LARGEST_TENSOR => Ok(dims),
        _ => {
            let role = tensor_role(layer, tensor);
            Err(invalid(format_args!(
                "{role} of shape {shape} is too large"
            )))
        }
    }
}

/// Elements of the largest tensor: their bytes can be counted, whatever their type.
const LARGEST_TENSOR: usize = isize::MAX as usize / 8;

/// Fails where a table with so many entries, of at most 64 bytes, has no room in memory. Sizes come
/// from models, and what cannot be allocated otherwise ends the process.
pub(crate) fn require_room(entries: usize) -> Result<()> {
    let mut probe = Vec::<u8>::new();
    probe
        .try_reserve_exact(entries.saturating_mul(64))
        .map_err(|_| {
            let message = format!("there is no memory for a table of {entries} positions");
            BackendError::with_status(Status::OutOfMemory, &message)
        })
}

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
        let role = tensor_role(layer, tensor);
        invalid(format_args!(
            "{role} has {} dimensions, not {RANK}",
            dims.len()
        ))
    })
}

/// Refuses a layer with an input of a type that is in none of these lists.
pub(crate) fn require_input(
    layer: LayerView<'_>,
    position: usize,
    allowed: &[&[DataType]],
) -> Result<()> {
    let tensor = input(layer, position)?;
    require_type(tensor, allowed, || input_role(layer.layer_type(), position))
}

/// Refuses a layer with an output of a type that is in none of these lists.
pub(crate) fn require_output(
    layer: LayerView<'_>,
    position: usize,
    allowed: &[&[DataType]],
) -> Result<()> {
    let tensor = output(layer, position)?;
    require_type(tensor, allowed, || {
        output_role(layer.layer_type(), position)
    })
}

/// Refuses a layer whose inputs and outputs are not all of one of the types in these lists.
pub(crate) fn require_one_type(layer: LayerView<'_>, allowed: &[&[DataType]]) -> Result<()> {
    require_output(layer, 0, allowed)?;
    let common: &[&[DataType]] = &[&[output(layer, 0)?.data_type()]];
    for position in 0..layer.input_indices().len() {
        if layer.input(position).is_some() {
            require_input(layer, position, allowed)?;
            require_input(layer, position, common)?;
        }
    }
    for position in 1..layer.output_indices().len() {
        require_output(layer, position, common)?;
    }
    Ok(())
}

/// Refuses a layer whose tensors are not all of one floating-point type, or all of one quantized
/// type, each with one scale.
pub(crate) fn require_real_numbers(layer: LayerView<'_>) -> Result<()> {
    require_one_type(layer, &[FLOATS, QUANTIZED])?;
    for tensor in layer.inputs().chain(layer.outputs()) {
        if tensor.data_type().is_quantized() {
            Affine::of(tensor, &tensor_role(layer, tensor))?;
        }
    }
    Ok(())
}

/// The same, or all of Float64.
pub(crate) fn require_real_numbers_or_float64(layer: LayerView<'_>) -> Result<()> {
    match output(layer, 0)?.data_type() {
        DataType::Float64 => require_one_type(layer, &[REALS]),
        _ => require_real_numbers(layer),
    }
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
            return Err(refusal(format_args!(
                "{} and {} differ in scale or zero point; requantizing is not supported",
                tensor_role(layer, tensor),
                tensor_role(layer, first)
            )));
        }
    }
    Ok(())
}

/// Refuses a value of an open enum that has no name in this version.
pub(crate) fn require_named(value: impl fmt::Display, name: Option<&str>) -> Result<()> {
    match name {
        Some(_) => Ok(()),
        None => Err(refusal(format_args!("{value} is not known here"))),
    }
}

/// Refuses any layout but NHWC and NCHW.
pub(crate) fn require_image_layout(layout: DataLayout) -> Result<()> {
    match layout {
        DataLayout::Nhwc | DataLayout::Nchw => Ok(()),
        other => Err(refusal(format_args!(
            "the layout is {other}; supported: Nhwc, Nchw"
        ))),
    }
}

fn require_type(
    tensor: TensorView<'_>,
    allowed: &[&[DataType]],
    role: impl Fn() -> String,
) -> Result<()> {
    let data_type = tensor.data_type();
    if allowed.iter().any(|types| types.contains(&data_type)) {
        return Ok(());
    }
    Err(refusal(format_args!(
        "the type of {} is {data_type}; supported: {}",
        role(),
        List(allowed)
    )))
}

struct List<'a>(&'a [&'a [DataType]]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, data_type) in self.0.iter().copied().flatten().enumerate() {
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
    match layer.layer_type() {
        LayerType::StandIn => refusal("operators without a layer type are not supported"),
        other if other.name().is_none() => refusal(format_args!("{other} is not known here")),
        _ => refusal("its descriptor is shorter than those known here"),
    }
}
