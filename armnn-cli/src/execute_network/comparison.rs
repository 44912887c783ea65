//! `--compare-output` and `--compare-output-with-backend`: how far outputs are from others.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use armnn_runtime::{DataType, Value};
use serde::Serialize;

use super::{number::Number, values};
use crate::{
    elements,
    steps::OutputValue,
    tensor_file::StoredTensor,
    value_file::{self, StoredValue},
    verify::{difference, recorded_outputs},
};

/// How far outputs are from others.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// What they are compared with.
    pub with: String,
    /// The largest difference that is allowed.
    pub tolerance: f64,
    /// Each output, in the model's order.
    pub outputs: Vec<OutputDifference>,
}

/// How far an output is from another.
#[derive(Clone, Debug, Serialize)]
pub struct OutputDifference {
    /// The output.
    pub name: String,
    /// The largest difference of two elements; of quantized ones, of the real values.
    pub largest: Number,
    /// The square root of the mean of the squares of the differences.
    pub root_mean_square: Number,
    /// Whether the largest one is within the tolerance.
    pub within_tolerance: bool,
}

impl Comparison {
    /// Compares outputs with those in a directory.
    ///
    /// # Errors
    /// When there are not as many, or they are of another shape or type.
    pub fn with_directory(
        outputs: &[OutputValue],
        names: &[String],
        directory: &Path,
        tolerance: f64,
    ) -> anyhow::Result<Self> {
        let files = recorded_outputs(directory)?;
        ensure!(
            files.len() == outputs.len(),
            "the outputs cannot be compared with '{}': the model has {} of them, and there are {} \
             files out0.npy, out1.npy, … or output_0.pb, output_1.pb, …",
            directory.display(),
            outputs.len(),
            files.len()
        );
        let mut others = Vec::new();
        for ((output, name), path) in outputs.iter().zip(names).zip(&files) {
            let numbers = read_numbers(path, output).with_context(|| {
                format!("cannot compare output '{name}' with '{}'", path.display())
            });
            others.push(numbers?);
        }
        let with = directory.display().to_string();
        Ok(Self::new(with, outputs, names, &others, tolerance))
    }

    /// Compares outputs with those of another run of the same model.
    ///
    /// # Errors
    /// When they are of another shape.
    pub fn with_run(
        with: String,
        outputs: &[OutputValue],
        names: &[String],
        others: &[OutputValue],
        tolerance: f64,
    ) -> anyhow::Result<Self> {
        for ((output, other), name) in outputs.iter().zip(others).zip(names) {
            if let (Some(output), Some(other)) = (&output.other, &other.other) {
                ensure!(
                    same_but_numbers(output, other),
                    "output '{name}' cannot be compared: it is {}, on {with} {}",
                    value_file::describe(output),
                    value_file::describe(other)
                );
                continue;
            }
            ensure!(
                output.dims() == other.dims(),
                "output '{name}' cannot be compared: its shape is {:?}, on {with} {:?}",
                output.dims(),
                other.dims()
            );
        }
        let others: Vec<Vec<f64>> = others.iter().map(numbers).collect();
        Ok(Self::new(with, outputs, names, &others, tolerance))
    }

    fn new(
        with: String,
        outputs: &[OutputValue],
        names: &[String],
        others: &[Vec<f64>],
        tolerance: f64,
    ) -> Self {
        let outputs = outputs.iter().zip(others).zip(names);
        let outputs = outputs.map(|((output, other), name)| {
            let (largest, root_mean_square) = differences(&numbers(output), other);
            OutputDifference {
                name: name.clone(),
                largest: Number(largest),
                root_mean_square: Number(root_mean_square),
                within_tolerance: largest <= tolerance,
            }
        });
        Self {
            with,
            tolerance,
            outputs: outputs.collect(),
        }
    }

    /// What is beyond the tolerance; nothing if all are within it.
    pub fn failure(&self) -> Option<String> {
        let beyond: Vec<String> = self
            .outputs
            .iter()
            .filter(|output| !output.within_tolerance)
            .map(|output| format!("'{}' by {}", output.name, output.largest.0))
            .collect();
        (!beyond.is_empty()).then(|| {
            format!(
                "outputs differ from {} by more than the tolerance of {}: {}; --tolerance allows more",
                self.with,
                self.tolerance,
                beyond.join(", ")
            )
        })
    }
}

/// The numbers that the elements of an output stand for.
fn numbers(output: &OutputValue) -> Vec<f64> {
    let mut numbers = Vec::new();
    if let Some(value) = &output.other {
        add_numbers(value, &mut numbers);
        return numbers;
    }
    values::visit_all(&output.info, output.count(), &output.bytes, &mut |value| {
        numbers.push(value);
    });
    numbers
}

/// The numbers of all tensors in a value.
fn add_numbers(value: &Value, numbers: &mut Vec<f64>) {
    match value {
        Value::Tensor(tensor) => {
            values::visit(tensor.info(), tensor.bytes(), &mut |value| {
                numbers.push(value)
            });
        }
        Value::Sequence(values) => values.iter().for_each(|value| add_numbers(value, numbers)),
        Value::Optional(Some(value)) => add_numbers(value, numbers),
        Value::Optional(None) | Value::Strings(_) => {}
    }
}

/// Whether values are equal but for the numbers of tensors.
fn same_but_numbers(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => {
            a.info().data_type == b.info().data_type && a.info().shape == b.info().shape
        }
        (Value::Strings(a), Value::Strings(b)) => a == b,
        (Value::Sequence(a), Value::Sequence(b)) => {
            a.len() == b.len() && a.iter().zip(&**b).all(|(a, b)| same_but_numbers(a, b))
        }
        (Value::Optional(None), Value::Optional(None)) => true,
        (Value::Optional(Some(a)), Value::Optional(Some(b))) => same_but_numbers(a, b),
        _ => false,
    }
}

/// The numbers in a file: elements of the output's type, or what they stand for.
fn read_numbers(path: &Path, output: &OutputValue) -> anyhow::Result<Vec<f64>> {
    let is_pb = path.extension().is_some_and(|e| e == "pb");
    if let Some(value) = &output.other {
        ensure!(
            is_pb,
            "the output is no tensor of numbers, of which a .pb file is needed"
        );
        let stored = StoredValue::read_pb_file(path, &value_file::kind_of(value))?;
        let pairs = value_file::tensor_pairs(value, &stored).map_err(anyhow::Error::msg)?;
        let mut numbers = Vec::new();
        for (tensor, stored) in pairs {
            let info = tensor.info();
            ensure!(
                stored.element.holds(info.data_type)
                    && stored.signed_dims().as_deref() == Some(info.shape.dims()),
                "a tensor in the output is {info}, the file holds {stored}"
            );
            values::visit(info, &stored.bytes, &mut |value| numbers.push(value));
        }
        return Ok(numbers);
    }
    let stored = if is_pb {
        StoredValue::read_pb_file(path, &value_file::any_tensor())?.into_tensor()?
    } else {
        StoredTensor::read_npy_file(path)?
    };
    ensure!(
        stored.signed_dims() == Some(output.dims()),
        "the output has the shape {:?}, the file holds {stored}",
        output.dims()
    );
    let data_type = output.info.data_type;
    let mut numbers = Vec::new();
    if stored.element.holds(data_type) {
        values::visit_all(&output.info, stored.count(), &stored.bytes, &mut |value| {
            numbers.push(value);
        });
        return Ok(numbers);
    }
    match stored
        .element
        .data_type()
        .filter(|t: &DataType| t.is_float())
    {
        Some(float) if data_type.is_float() || data_type.is_quantized() => {
            elements::for_each(float, stored.count(), &stored.bytes, &mut |element| {
                numbers.push(element.to_f64());
            });
            Ok(numbers)
        }
        _ => bail!(
            "the output is of type {data_type}, the file holds {}",
            stored.element
        ),
    }
}

/// The largest difference, and the square root of the mean of their squares.
fn differences(a: &[f64], b: &[f64]) -> (f64, f64) {
    let mut largest: f64 = 0.0;
    let mut squares = 0.0;
    for (&a, &b) in a.iter().zip(b) {
        let difference = difference(a, b);
        largest = largest.max(difference);
        squares += difference * difference;
    }
    (largest, (squares / a.len().max(1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_difference_and_the_root_of_the_mean_square_are_told() {
        // Differences 0, 3, 4, 0: sqrt((9 + 16) / 4) = 2.5.
        let (largest, rms) = differences(&[1.0, 2.0, 3.0, f64::NAN], &[1.0, 5.0, -1.0, f64::NAN]);
        assert_eq!((largest, rms), (4.0, 2.5));
        assert_eq!(differences(&[f64::NAN], &[0.0]).0, f64::INFINITY);
        assert_eq!(differences(&[], &[]), (0.0, 0.0));
    }
}
