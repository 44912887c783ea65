//! Sequences and optionals.

use std::{collections::HashSet, sync::Arc};

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::SequenceOperation;

use super::{Layer, Result, integers, position};
use crate::{error::ExecuteError, tensor::HostTensor, value::Value};

pub(super) fn execute(
    layer: &Layer<'_>,
    operation: &SequenceOperation,
    memory_limit: u64,
) -> Result<Value> {
    use SequenceOperation as S;
    Ok(match operation {
        S::Empty => Vec::new().into(),
        S::Construct => {
            let all = (0..layer.inputs.len()).map(|index| layer.input(index).cloned());
            sequence(layer, all.collect::<Result<_>>()?, memory_limit)?
        }
        S::At => {
            let values = layer.sequence(0)?;
            values[at(layer, 1, values.len())?].clone()
        }
        S::Insert => {
            let mut values = layer.sequence(0)?.to_vec();
            let value = layer.input(1)?.clone();
            match layer.optional(2) {
                Some(_) => {
                    // Before any value, or behind the last one.
                    let index = layer.integer(2)?;
                    let place = match usize::try_from(index) {
                        Ok(index) if index == values.len() => index,
                        _ => at(layer, 2, values.len())?,
                    };
                    values.insert(place, value);
                }
                None => values.push(value),
            }
            sequence(layer, values, memory_limit)?
        }
        S::Erase => {
            let mut values = layer.sequence(0)?.to_vec();
            let place = match layer.optional(1) {
                Some(_) => at(layer, 1, values.len())?,
                None => values
                    .len()
                    .checked_sub(1)
                    .ok_or_else(|| layer.failed("the sequence is empty"))?,
            };
            values.remove(place);
            values.into()
        }
        S::Length => {
            let count = layer.sequence(0)?.len() as i64;
            layer.scalar(DataType::Signed64, &count.to_ne_bytes())?
        }
        S::Split { axis, keep_dims } => split(layer, *axis, *keep_dims, memory_limit)?,
        S::Concat { axis, new_axis } => concat(layer, *axis, *new_axis, memory_limit)?,
        S::Optional => Value::Optional(layer.optional(0).cloned().map(Arc::new)),
        S::HasElement => {
            let has = match layer.optional(0) {
                None | Some(Value::Optional(None)) => false,
                Some(_) => true,
            };
            layer.scalar(DataType::Boolean, &[u8::from(has)])?
        }
        S::GetElement => match layer.input(0)? {
            Value::Optional(Some(value)) => Value::clone(value),
            Value::Optional(None) => return Err(layer.failed("the optional has no value")),
            value => value.clone(),
        },
        other => return Err(layer.failed(format!("{} is not executed yet", other.name()))),
    })
}

/// A sequence of tensors. Others do not go into one: loops could nest them without end.
fn sequence(layer: &Layer<'_>, values: Vec<Value>, memory_limit: u64) -> Result<Value> {
    let mut bytes = 0u64;
    // What is there many times takes memory once.
    let mut counted = HashSet::new();
    for value in &values {
        let len = match value {
            Value::Tensor(tensor) if !counted.insert(Arc::as_ptr(tensor).cast::<u8>()) => 0,
            Value::Tensor(tensor) => tensor.bytes().len() as u64,
            Value::Strings(strings) if !counted.insert(Arc::as_ptr(strings).cast()) => 0,
            Value::Strings(strings) => strings.byte_len(),
            other => {
                return Err(layer.failed(format!(
                    "only tensors can be in a sequence, not {}",
                    other.describe()
                )));
            }
        };
        bytes = bytes
            .saturating_add(len)
            .saturating_add(Value::BYTES_IN_SEQUENCE);
    }
    if bytes > memory_limit {
        return Err(layer.failed(format!(
            "a sequence is larger than the memory limit of {memory_limit} bytes"
        )));
    }
    Ok(values.into())
}

/// The position that an input names among `count` values.
fn at(layer: &Layer<'_>, input: usize, count: usize) -> Result<usize> {
    let index = layer.integer(input)?;
    position(index, count)
        .ok_or_else(|| layer.failed(format!("position {index} of {count} values")))
}

/// The tensor as lists of bytes: `outer` blocks of `size` rows of `inner` bytes. No blocks of a tensor
/// without elements, whose other dimensions may be of any size.
struct Rows {
    outer: usize,
    size: usize,
    inner: usize,
}

impl Rows {
    fn new(layer: &Layer<'_>, info: &TensorInfo, axis: usize) -> Result<Self> {
        let element = info.data_type.size();
        let element = element
            .ok_or_else(|| layer.failed(format!("elements of {} are no bytes", info.data_type)))?;
        let dims = info.shape.dims();
        if dims.contains(&0) {
            return Ok(Self {
                outer: 0,
                size: info.shape.dim(axis),
                inner: 0,
            });
        }
        let product = |dims: &[i64]| dims.iter().map(|&dim| dim as usize).product::<usize>();
        Ok(Self {
            outer: product(&dims[..axis]),
            size: info.shape.dim(axis),
            inner: product(&dims[axis + 1..]) * element,
        })
    }
}

fn split(layer: &Layer<'_>, axis: i64, keep_dims: bool, memory_limit: u64) -> Result<Value> {
    let tensor = layer.tensor(0)?;
    let info = tensor.info();
    let axis = position(axis, info.shape.rank())
        .ok_or_else(|| layer.failed(format!("axis {axis} of {info}")))?;
    let rows = Rows::new(layer, info, axis)?;
    // A tensor without elements may have a dimension of any size.
    let most = usize::try_from(memory_limit / Value::BYTES_IN_SEQUENCE).unwrap_or(usize::MAX);
    let given = layer.optional(1).is_some();
    let sizes = match layer.optional(1) {
        Some(_) => part_sizes(layer, rows.size, most)?,
        None if rows.size > most => return Err(too_many_parts(layer, most)),
        None => vec![1; rows.size],
    };
    let mut parts = Vec::with_capacity(sizes.len());
    let mut start = 0;
    for size in sizes {
        let mut dims = info.shape.dims().to_vec();
        if given || keep_dims {
            dims[axis] = size as i64;
        } else {
            dims.remove(axis);
        }
        let shape = Shape::new(&dims).map_err(|e| layer.failed(e.to_string()))?;
        let mut part = layer.new_tensor(TensorInfo {
            shape,
            ..info.clone()
        })?;
        let (len, whole) = (size * rows.inner, rows.size * rows.inner);
        for block in 0..rows.outer {
            let from = block * whole + start * rows.inner;
            part.bytes_mut()[block * len..(block + 1) * len]
                .copy_from_slice(&tensor.bytes()[from..from + len]);
        }
        parts.push(part.into());
        start += size;
    }
    Ok(parts.into())
}

#[cold]
fn too_many_parts(layer: &Layer<'_>, most: usize) -> ExecuteError {
    layer.failed(format!(
        "more than {most} parts are beyond the memory limit"
    ))
}

/// The sizes of parts: one for all, of which the last may be smaller, or one for each.
fn part_sizes(layer: &Layer<'_>, whole: usize, most: usize) -> Result<Vec<usize>> {
    let tensor = layer.tensor(1)?;
    let problem = || {
        layer.failed(format!(
            "the sizes of parts ({}) do not add up to {whole}",
            tensor.info()
        ))
    };
    let values = integers(tensor).ok_or_else(problem)?;
    if tensor.info().shape.rank() == 0 {
        let size = values.first().copied().unwrap_or(0);
        let size = usize::try_from(size)
            .ok()
            .filter(|&size| size > 0)
            .ok_or_else(problem)?;
        if whole / size > most {
            return Err(too_many_parts(layer, most));
        }
        let mut sizes = vec![size; whole / size];
        if !whole.is_multiple_of(size) {
            sizes.push(whole % size);
        }
        return Ok(sizes);
    }
    let sizes: Option<Vec<usize>> = values.iter().map(|&n| usize::try_from(n).ok()).collect();
    let sizes = sizes.ok_or_else(problem)?;
    let sum = sizes
        .iter()
        .try_fold(0usize, |sum, &size| sum.checked_add(size));
    if sum == Some(whole) {
        Ok(sizes)
    } else {
        Err(problem())
    }
}

fn concat(layer: &Layer<'_>, axis: i64, new_axis: bool, memory_limit: u64) -> Result<Value> {
    let values = layer.sequence(0)?;
    let mut tensors: Vec<(&HostTensor, TensorInfo)> = Vec::with_capacity(values.len());
    for value in values {
        let Some(tensor) = value.as_tensor() else {
            let what = value.describe();
            return Err(layer.failed(format!("only tensors can be joined, not {what}")));
        };
        tensors.push((tensor, tensor.info().clone()));
    }
    let Some((_, first)) = tensors.first() else {
        return Err(layer.failed("an empty sequence cannot be joined"));
    };
    let rank = first.shape.rank() + usize::from(new_axis);
    let axis = position(axis, rank)
        .ok_or_else(|| layer.failed(format!("axis {axis} of {rank} dimensions")))?;
    if new_axis {
        for (_, info) in &mut tensors {
            let mut dims = info.shape.dims().to_vec();
            if axis > dims.len() {
                return Err(layer.failed("the tensors have different ranks"));
            }
            dims.insert(axis, 1);
            info.shape = Shape::new(&dims).map_err(|e| layer.failed(e.to_string()))?;
        }
    }
    let info = tensors[0].1.clone();
    let mut size = 0i64;
    for (_, other) in &tensors {
        let same = other.data_type == info.data_type
            && other.quantization == info.quantization
            && other.shape.rank() == info.shape.rank()
            && (other.shape.dims().iter().zip(info.shape.dims()).enumerate())
                .all(|(at, (a, b))| at == axis || a == b);
        if !same {
            return Err(layer.failed(format!("{info} and {other} cannot be joined")));
        }
        size = size.saturating_add(other.shape.dims()[axis]);
    }
    let mut dims = info.shape.dims().to_vec();
    dims[axis] = size;
    let shape = Shape::new(&dims).map_err(|e| layer.failed(e.to_string()))?;
    let info = TensorInfo { shape, ..info };
    // A sequence may hold one tensor many times, at no cost.
    layer.check_limit(&info, memory_limit)?;
    let mut joined = layer.new_tensor(info)?;
    let whole = Rows::new(layer, joined.info(), axis)?;
    let mut start = 0;
    for (tensor, info) in &tensors {
        let rows = Rows::new(layer, info, axis)?;
        let len = rows.size * rows.inner;
        for block in 0..rows.outer {
            let to = block * whole.size * whole.inner + start;
            joined.bytes_mut()[to..to + len]
                .copy_from_slice(&tensor.bytes()[block * len..(block + 1) * len]);
        }
        start += len;
    }
    Ok(joined.into())
}
