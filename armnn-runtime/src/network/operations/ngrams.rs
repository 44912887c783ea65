//! Runs of strings or integers that are counted.

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::NgramCounter;

use super::{Layer, Result, integers};
use crate::value::Value;

pub(super) fn execute(
    layer: &Layer<'_>,
    counter: &NgramCounter,
    memory_limit: u64,
) -> Result<Vec<Value>> {
    let input = layer.input(0)?;
    let input_shape = match input {
        Value::Strings(strings) => strings.shape(),
        other => match other.as_tensor() {
            Some(tensor) => tensor.info().shape,
            None => return Err(layer.failed(format!("an input that is {}", other.describe()))),
        },
    };
    let width = i64::try_from(counter.width).unwrap_or(i64::MAX);
    let (n_rows, n_columns, shape) = match input_shape.dims() {
        [] => (1, 1, Shape::from([width])),
        &[columns] => (1, columns, Shape::from([width])),
        &[rows, columns] => (rows, columns, Shape::from([rows, width])),
        _ => return Err(layer.failed(format!("a list or a matrix is needed, not {input_shape}"))),
    };
    let info = TensorInfo::new(DataType::Float32, shape);
    layer.check_limit(&info, memory_limit)?;
    let mut output = layer.new_tensor(info)?;
    let (n_rows, n_columns) = (n_rows as usize, n_columns as usize);
    let mut counts = Vec::new();
    counts
        .try_reserve_exact(counter.width)
        .map_err(|_| layer.failed("not enough memory for the counts"))?;
    let numbers = match input {
        Value::Strings(_) => Vec::new(),
        _ => integers(layer.tensor(0)?)
            .ok_or_else(|| layer.failed("integers of 32 or 64 bits, or strings, are needed"))?,
    };
    for row in 0..n_rows {
        counts.clear();
        counts.resize(counter.width, 0.0f32);
        let items = row * n_columns..(row + 1) * n_columns;
        let counted = match input {
            Value::Strings(strings) => {
                let row = strings.strings().get(items).unwrap_or_default();
                counter.count_strings(row, &mut counts)
            }
            _ => counter.count_integers(numbers.get(items).unwrap_or_default(), &mut counts),
        };
        counted.map_err(|problem| layer.failed(problem))?;
        let bytes = output.bytes_mut().chunks_exact_mut(size_of::<f32>());
        let bytes = bytes.skip(row * counter.width);
        for (bytes, count) in bytes.zip(&counts) {
            bytes.copy_from_slice(&count.to_ne_bytes());
        }
    }
    Ok(vec![output.into()])
}
