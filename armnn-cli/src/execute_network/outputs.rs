//! The outputs of a run: what is told of them, and their files.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use armnn_runtime::{DataType, TensorInfo};
use serde::Serialize;

use super::{number::Number, values};
use crate::{
    npy::{self, ElementType},
    steps::OutputValue,
    value_file,
};

/// How many of the largest elements are told.
const TOP: usize = 5;

/// What is told of an output.
#[derive(Clone, Debug, Serialize)]
pub struct OutputSummary {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub data_type: String,
    /// Its shape, with that of the steps first.
    pub shape: Vec<i64>,
    /// Its smallest number, of a quantized output the real value; NaN aside.
    pub min: Option<Number>,
    /// Its largest number.
    pub max: Option<Number>,
    /// How many of its elements are NaN.
    pub nan: usize,
    /// Its largest elements, where it looks like a score for each class.
    pub top: Vec<TopElement>,
    /// What it is, if it is no tensor of numbers: the sequence, the optional, or the strings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The file that it was written to.
    pub file: Option<String>,
}

/// One of the largest elements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TopElement {
    /// Which element, which may be a class.
    pub index: usize,
    /// Its number, of a quantized output the real value.
    pub value: Number,
}

/// What is told of all outputs.
pub fn summarise(outputs: &[OutputValue], names: &[String]) -> Vec<OutputSummary> {
    let outputs = names.iter().zip(outputs);
    outputs
        .map(|(name, output)| OutputSummary::new(name, output))
        .collect()
}

impl OutputSummary {
    fn new(name: &str, output: &OutputValue) -> Self {
        if let Some(value) = &output.other {
            return Self {
                name: name.to_owned(),
                data_type: value_file::kind_name(value).to_owned(),
                shape: Vec::new(),
                min: None,
                max: None,
                nan: 0,
                top: Vec::new(),
                value: Some(value_file::describe(value)),
                file: None,
            };
        }
        let shape = output.dims();
        let mut range: Option<(f64, f64)> = None;
        let mut nan = 0;
        let mut top = is_class_score(&shape).then(Vec::new);
        let mut index = 0;
        let count = output.count();
        values::visit_all(&output.info, count, &output.bytes, &mut |value| {
            if value.is_nan() {
                nan += 1;
            } else {
                let (min, max) = range.unwrap_or((value, value));
                range = Some((min.min(value), max.max(value)));
            }
            if let Some(top) = &mut top {
                insert(top, index, value);
            }
            index += 1;
        });
        Self {
            name: name.to_owned(),
            data_type: output.info.data_type.to_string(),
            shape,
            min: range.map(|r| Number(r.0)),
            max: range.map(|r| Number(r.1)),
            nan,
            top: top.filter(|_| nan == 0).unwrap_or_default(),
            value: None,
            file: None,
        }
    }
}

/// Makes numbers of Float32 of outputs that are quantized; returns how many there are.
pub fn dequantize(outputs: &mut [OutputValue]) -> usize {
    let mut n = 0;
    for output in outputs {
        if !output.info.data_type.is_quantized() || output.info.quantization.is_none() {
            continue;
        }
        let mut bytes = Vec::new();
        let count = output.count();
        values::visit_all(&output.info, count, &output.bytes, &mut |value| {
            bytes.extend((value as f32).to_ne_bytes());
        });
        output.info = TensorInfo::new(DataType::Float32, output.info.shape);
        output.bytes = bytes;
        n += 1;
    }
    n
}

/// Whether a tensor of this shape may hold one score for each class: only one dimension is not 1,
/// the last one, or that of the channels in `[1, C, 1, 1]`.
fn is_class_score(shape: &[i64]) -> bool {
    match *shape {
        [1, channels, 1, 1] => channels > 1,
        [ref outer @ .., classes] => classes > 1 && outer.iter().all(|&dim| dim == 1),
        [] => false,
    }
}

/// Puts an element among the largest, if it is one; of equal ones the first stay.
fn insert(top: &mut Vec<TopElement>, index: usize, value: f64) {
    let place = top.partition_point(|other| other.value.0.total_cmp(&value).is_ge());
    if place < TOP {
        top.truncate(TOP - 1);
        let value = Number(value);
        top.insert(place, TopElement { index, value });
    }
}

/// Makes the directory for outputs, before any work is done for them.
///
/// # Errors
/// When it cannot be made, or is none.
pub fn prepare_directory(directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| {
        format!(
            "cannot make the directory for outputs '{}'; name another one",
            directory.display()
        )
    })
}

/// Writes every output to `out<index>.npy`, or `.pb` if it is no tensor of numbers, and returns the
/// paths.
///
/// # Errors
/// When a file cannot be written.
pub fn write(outputs: &[OutputValue], directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let outputs = outputs.iter().enumerate();
    outputs
        .map(|(index, output)| {
            let ending = match output.other {
                None => "npy",
                Some(_) => "pb",
            };
            let path = directory.join(format!("out{index}.{ending}"));
            write_one(&path, output)
                .with_context(|| format!("cannot write output {index} to '{}'", path.display()))?;
            Ok(path)
        })
        .collect()
}

fn write_one(path: &Path, output: &OutputValue) -> anyhow::Result<()> {
    if let Some(value) = &output.other {
        std::fs::write(path, value_file::to_pb(value)?)?;
        return Ok(());
    }
    let data_type = output.info.data_type;
    let element_type = ElementType::of(data_type)
        .with_context(|| format!("elements of type {data_type} have no .npy form"))?;
    // Packed elements have no .npy form: the bytes are written as they are.
    let shape = match data_type.size() {
        Some(_) => output.dims(),
        None => vec![output.bytes.len() as i64],
    };
    let mut writer = BufWriter::new(File::create(path)?);
    npy::write(&mut writer, element_type, &shape, &output.bytes)?;
    writer.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use armnn_runtime::{Quantization, Shape};

    fn summary(shape: impl Into<Shape>, numbers: &[f32]) -> OutputSummary {
        let info = TensorInfo::new(DataType::Float32, shape);
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
        let output = OutputValue {
            info,
            steps: None,
            bytes,
            other: None,
        };
        OutputSummary::new("out", &output)
    }

    #[test]
    fn the_largest_elements_come_first() {
        let summary = summary([1, 7], &[0.1, 0.7, -3.0, 0.5, 0.7, 0.0, 0.2]);
        let order: Vec<usize> = summary.top.iter().map(|t| t.index).collect();
        assert_eq!(order, [1, 4, 3, 6, 0]);
        assert_eq!(
            (summary.min, summary.max),
            (Some(Number(-3.0)), Some(Number(f64::from(0.7f32))))
        );
    }

    #[test]
    fn only_what_may_be_a_score_for_each_class_is_ranked() {
        for (shape, expected) in [
            (&[1, 10][..], true),
            (&[10], true),
            (&[1, 1, 1, 1000], true),
            (&[1, 1000, 1, 1], true),
            (&[1, 896, 1], false),
            (&[1, 896, 16], false),
            (&[1, 1], false),
            (&[], false),
        ] {
            assert_eq!(is_class_score(shape), expected, "{shape:?}");
        }
    }

    #[test]
    fn nan_is_counted_and_kept_out_of_the_range() {
        let summary = summary([1, 3], &[f32::NAN, 2.0, 1.0]);
        assert_eq!(
            (summary.nan, summary.min, summary.max),
            (1, Some(Number(1.0)), Some(Number(2.0)))
        );
        assert_eq!(summary.top, []);
    }

    #[test]
    fn infinities_are_in_the_range_and_in_the_report() {
        let summary = summary([1, 3], &[f32::INFINITY, 2.0, f32::NEG_INFINITY]);
        let json = serde_json::to_value(&summary).unwrap();
        assert_eq!(
            (&json["min"], &json["max"]),
            (&"-inf".into(), &"inf".into())
        );
        assert_eq!(json["top"][0]["value"], "inf");
        assert_eq!(json["top"][1]["value"], 2.0);
    }

    #[test]
    fn quantized_outputs_become_the_numbers_that_they_stand_for() {
        let info = TensorInfo::new(DataType::QAsymmU8, [2]);
        let mut outputs = [OutputValue {
            info: info.quantized(Quantization::per_tensor(0.5, 128)),
            steps: Some(2),
            bytes: vec![128, 130, 0, 255],
            other: None,
        }];
        assert_eq!(dequantize(&mut outputs), 1);
        let expected = [0.0f32, 1.0, -64.0, 63.5].map(f32::to_ne_bytes).concat();
        assert_eq!(outputs[0].bytes, expected);
        assert_eq!(outputs[0].info.data_type, DataType::Float32);
        assert_eq!(outputs[0].dims(), [2, 2]);
        assert_eq!(dequantize(&mut outputs), 0);
    }
}
