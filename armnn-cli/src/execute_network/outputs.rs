//! The outputs of a run: what is told of them, and their files.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use armnn_runtime::{ExecutionState, Shape, TensorInfo};
use serde::Serialize;

use super::values;
use crate::npy::{self, ElementType};

/// How many of the largest elements are told.
const TOP: usize = 5;

/// What is told of an output.
#[derive(Clone, Debug, Serialize)]
pub struct OutputSummary {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub data_type: String,
    /// Its shape.
    pub shape: Vec<i64>,
    /// Its smallest number, of a quantized output the real value; NaN aside.
    pub min: Option<f64>,
    /// Its largest number.
    pub max: Option<f64>,
    /// How many of its elements are NaN.
    pub nan: usize,
    /// Its largest elements, where it looks like a score for each class.
    pub top: Vec<TopElement>,
    /// The file that it was written to.
    pub file: Option<String>,
}

/// One of the largest elements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TopElement {
    /// Which element, which may be a class.
    pub index: usize,
    /// Its number, of a quantized output the real value.
    pub value: f64,
}

/// What is told of all outputs of the last execution.
pub fn summarise(state: &ExecutionState, names: &[String]) -> Vec<OutputSummary> {
    let outputs = names.iter().enumerate();
    outputs
        .map(|(index, name)| {
            OutputSummary::new(name, &state.output_info(index), state.output(index))
        })
        .collect()
}

impl OutputSummary {
    fn new(name: &str, info: &TensorInfo, bytes: &[u8]) -> Self {
        let mut range: Option<(f64, f64)> = None;
        let mut nan = 0;
        let mut scores = is_class_score(&info.shape).then(Vec::new);
        values::visit(info, bytes, &mut |value| {
            if value.is_nan() {
                nan += 1;
            } else {
                let (min, max) = range.unwrap_or((value, value));
                range = Some((min.min(value), max.max(value)));
            }
            if let Some(scores) = &mut scores {
                scores.push(value);
            }
        });
        Self {
            name: name.to_owned(),
            data_type: info.data_type.to_string(),
            shape: info.shape.dims().to_vec(),
            min: range.map(|r| r.0),
            max: range.map(|r| r.1),
            nan,
            top: if nan == 0 {
                largest(scores.unwrap_or_default())
            } else {
                Vec::new()
            },
            file: None,
        }
    }
}

/// Whether a tensor of this shape may hold one score for each class: only one dimension is not 1,
/// the last one, or that of the channels in `[1, C, 1, 1]`.
fn is_class_score(shape: &Shape) -> bool {
    match *shape.dims() {
        [1, channels, 1, 1] => channels > 1,
        [ref outer @ .., classes] => classes > 1 && outer.iter().all(|&dim| dim == 1),
        [] => false,
    }
}

fn largest(values: Vec<f64>) -> Vec<TopElement> {
    let mut elements: Vec<TopElement> = values
        .into_iter()
        .enumerate()
        .map(|(index, value)| TopElement { index, value })
        .collect();
    // Equal ones stay in order.
    elements.sort_by(|a, b| b.value.total_cmp(&a.value));
    elements.truncate(TOP);
    elements
}

/// Makes the directory for outputs, before any work is done for them.
///
/// # Errors
/// When it cannot be made, or is none.
pub fn prepare_directory(directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| {
        format!(
            "cannot make the directory for outputs '{}'",
            directory.display()
        )
    })
}

/// Writes every output of the last execution to `out<index>.npy`, and returns the paths.
///
/// # Errors
/// When a file cannot be written.
pub fn write(
    state: &ExecutionState,
    count: usize,
    directory: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    (0..count)
        .map(|index| {
            let path = directory.join(format!("out{index}.npy"));
            write_one(&path, &state.output_info(index), state.output(index))
                .with_context(|| format!("cannot write output {index} to '{}'", path.display()))?;
            Ok(path)
        })
        .collect()
}

fn write_one(path: &Path, info: &TensorInfo, bytes: &[u8]) -> anyhow::Result<()> {
    let element_type = ElementType::of(info.data_type)
        .with_context(|| format!("elements of type {} have no .npy form", info.data_type))?;
    let packed = [bytes.len() as i64];
    // Packed elements have no .npy form: the bytes are written as they are.
    let shape = match info.data_type.size() {
        Some(_) => info.shape.dims(),
        None => &packed,
    };
    let mut writer = BufWriter::new(File::create(path)?);
    npy::write(&mut writer, element_type, shape, bytes)?;
    writer.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use armnn_runtime::DataType;

    fn summary(shape: impl Into<Shape>, numbers: &[f32]) -> OutputSummary {
        let info = TensorInfo::new(DataType::Float32, shape);
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
        OutputSummary::new("out", &info, &bytes)
    }

    #[test]
    fn the_largest_elements_come_first() {
        let summary = summary([1, 7], &[0.1, 0.7, -3.0, 0.5, 0.7, 0.0, 0.2]);
        let order: Vec<usize> = summary.top.iter().map(|t| t.index).collect();
        assert_eq!(order, [1, 4, 3, 6, 0]);
        assert_eq!(
            (summary.min, summary.max),
            (Some(-3.0), Some(f64::from(0.7f32)))
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
            assert_eq!(
                is_class_score(&Shape::new(shape).unwrap()),
                expected,
                "{shape:?}"
            );
        }
    }

    #[test]
    fn nan_is_counted_and_kept_out_of_the_range() {
        let summary = summary([1, 3], &[f32::NAN, 2.0, 1.0]);
        assert_eq!(
            (summary.nan, summary.min, summary.max),
            (1, Some(1.0), Some(2.0))
        );
        assert_eq!(summary.top, []);
    }
}
