//! Windows over one to three dimensions: attributes that convolutions and pooling share.

use armnn_network::{ParameterRule, TensorId, WindowLayer};

use super::context::Context;
use super::problem::{Problem, Result};

/// Windows along each direction, outermost first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Windows {
    pub(super) size: Vec<u32>,
    pub(super) stride: Vec<u32>,
    pub(super) dilation: Vec<u32>,
    pub(super) before: Vec<u32>,
    pub(super) after: Vec<u32>,
    /// Where the padding comes from; if it follows from sizes, none is above.
    pub(super) padding: AutoPad,
}

/// Where the padding comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AutoPad {
    NotSet,
    Valid,
    /// The odd element goes behind the input.
    SameUpper,
    /// The odd element goes before the input.
    SameLower,
}

pub(super) fn auto_pad(c: &Context<'_, '_>) -> Result<AutoPad> {
    Ok(match c.attributes.text("auto_pad", "NOTSET")? {
        "NOTSET" | "" => AutoPad::NotSet,
        "VALID" => AutoPad::Valid,
        "SAME_UPPER" => AutoPad::SameUpper,
        "SAME_LOWER" => AutoPad::SameLower,
        other => {
            return Err(Problem::malformed(format!(
                "its auto_pad is \"{}\"",
                crate::error::Short(other)
            )));
        }
    })
}

/// Reads kernel_shape, strides, dilations, pads and auto_pad.
///
/// `spatial` are the dimensions of the input that windows move over; `size` those of the windows, if
/// the weights say it.
pub(super) fn windows(
    c: &Context<'_, '_>,
    spatial: &[i64],
    size: Option<&[i64]>,
) -> Result<Windows> {
    let mut windows = declared_windows(c, spatial, size)?;
    windows.padding = auto_pad(c)?;
    if windows.padding != AutoPad::NotSet {
        windows.before.fill(0);
        windows.after.fill(0);
    }
    Ok(windows)
}

/// The same, with the padding as `pads` says it.
pub(super) fn declared_windows(
    c: &Context<'_, '_>,
    spatial: &[i64],
    size: Option<&[i64]>,
) -> Result<Windows> {
    let directions = spatial.len();
    if !(1..=3).contains(&directions) {
        return Err(Problem::unsupported(format!(
            "windows over {directions} dimensions; over 1 to 3 they are supported"
        )));
    }
    let list = |name: &str, default: Option<&[i64]>, entries: usize| -> Result<Option<Vec<i64>>> {
        let Some(list) = c
            .attributes
            .ints(name)?
            .filter(|list| !list.is_empty())
            .or(default)
        else {
            return Ok(None);
        };
        match list.len() == entries {
            true => Ok(Some(list.to_vec())),
            false => Err(Problem::malformed(format!(
                "its attribute {name} has {} entries, not {entries}",
                list.len()
            ))),
        }
    };
    let ones = vec![1; directions];
    let said = list("kernel_shape", size, directions)?
        .ok_or_else(|| Problem::malformed("it has no kernel_shape"))?;
    if let Some(size) = size
        && size.iter().zip(&said).any(|(&a, &b)| a >= 0 && a != b)
    {
        return Err(Problem::malformed(format!(
            "its kernel_shape is {said:?}, but its weights have {size:?}"
        )));
    }
    if size == Some(&said[..]) && said.iter().any(|&size| size < 0) {
        return Err(Problem::unsupported(
            "windows whose size follows from weights of unknown size; give it a kernel_shape, or the \
             weights a fixed shape",
        ));
    }
    let strides = list("strides", Some(&ones), directions)?.unwrap_or_default();
    let dilations = list("dilations", Some(&ones), directions)?.unwrap_or_default();
    let zeros = vec![0; 2 * directions];
    let pads = list("pads", Some(&zeros), 2 * directions)?.unwrap_or_default();
    let (before, after) = pads.split_at(directions);
    Ok(Windows {
        size: numbers(&said, 1, "kernel_shape")?,
        stride: numbers(&strides, 1, "strides")?,
        dilation: numbers(&dilations, 1, "dilations")?,
        before: numbers(before, 0, "pads")?,
        after: numbers(after, 0, "pads")?,
        padding: AutoPad::NotSet,
    })
}

impl Windows {
    /// Whether the padding follows from the sizes of the input, so that nothing is to be rounded.
    pub(super) fn is_same(&self) -> bool {
        matches!(self.padding, AutoPad::SameUpper | AutoPad::SameLower)
    }

    /// The rule by which padding follows from sizes.
    pub(super) fn rule(&self, layer: WindowLayer) -> ParameterRule {
        ParameterRule::SamePadding {
            layer,
            odd_behind: self.padding == AutoPad::SameUpper,
        }
    }

    /// Adds a layer over windows, whose padding follows where it is not said.
    pub(super) fn step(
        &self,
        c: &mut Context<'_, '_>,
        layer: WindowLayer,
        inputs: &[TensorId],
    ) -> Result<TensorId> {
        if self.is_same() {
            return c.step_deferred(self.rule(layer), inputs, &[]);
        }
        c.step(layer, inputs)
    }

    /// The same windows with one direction more in front of the only one, of rows of 1.
    pub(super) fn with_rows(mut self) -> Self {
        if self.size.len() == 1 {
            for (list, value) in [
                (&mut self.size, 1),
                (&mut self.stride, 1),
                (&mut self.dilation, 1),
                (&mut self.before, 0),
                (&mut self.after, 0),
            ] {
                list.insert(0, value);
            }
        }
        self
    }
}

pub(super) fn numbers(list: &[i64], least: u32, what: &str) -> Result<Vec<u32>> {
    let number = |&value: &i64| u32::try_from(value).ok().filter(|&number| number >= least);
    let numbers: Option<Vec<u32>> = list.iter().map(number).collect();
    numbers.ok_or_else(|| Problem::malformed(format!("its {what} are {list:?}")))
}

/// How an image with one direction gets rows of 1: for each dimension, those it is made of.
pub(super) fn rows_groups(directions: usize) -> Vec<Vec<usize>> {
    match directions {
        1 => vec![vec![0], vec![1], vec![], vec![2]],
        _ => (0..directions + 2).map(|axis| vec![axis]).collect(),
    }
}

/// How rows of 1 go again.
pub(super) fn no_rows_groups() -> Vec<Vec<usize>> {
    vec![vec![0], vec![1], vec![2, 3]]
}
