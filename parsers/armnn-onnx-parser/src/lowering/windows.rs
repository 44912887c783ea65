//! Windows over one to three dimensions: attributes that convolutions and pooling share.

use armnn_backend_api::{BinaryOperation as Binary, ConcatDescriptor, PaddingMode};
use armnn_network::{PadLayout, ParameterRule, TensorId};

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
    /// Whether the padding follows from the sizes, so that nothing is to be rounded.
    pub(super) is_same: bool,
    /// Whether it follows from sizes that are not known yet: a layer of its own pads, and
    /// [`padded`](Windows::padded) adds it.
    pub(super) is_padded_apart: bool,
    /// Where what is odd goes then.
    pub(super) odd_behind: bool,
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
    match auto_pad(c)? {
        AutoPad::NotSet => {}
        AutoPad::Valid => {
            windows.before.fill(0);
            windows.after.fill(0);
        }
        mode @ (AutoPad::SameUpper | AutoPad::SameLower) => {
            windows.is_same = true;
            windows.odd_behind = mode == AutoPad::SameUpper;
            for (at, &input) in spatial.iter().enumerate() {
                match windows.same(at, input)? {
                    Some(both) => (windows.before[at], windows.after[at]) = both,
                    None => windows.is_padded_apart = true,
                }
            }
            if windows.is_padded_apart {
                windows.before.fill(0);
                windows.after.fill(0);
            }
        }
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
    if size.is_some_and(|size| size == said && said.contains(&-1)) {
        return Err(Problem::unsupported(
            "windows whose size is not known; give the weights a fixed shape",
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
        is_same: false,
        is_padded_apart: false,
        odd_behind: true,
    })
}

impl Windows {
    /// Elements from the first to the last of a window.
    pub(super) fn extent(&self, at: usize) -> i64 {
        (i64::from(self.size[at]) - 1) * i64::from(self.dilation[at]) + 1
    }

    /// Padding with which there is a window for each stride, rounded up. What is odd goes behind
    /// the input, or before it. None where it follows from a size that is not known; with a stride
    /// of 1 it is the same for every size.
    fn same(&self, at: usize, input: i64) -> Result<Option<(u32, u32)>> {
        let input = match input {
            ..0 if self.stride[at] == 1 => 1,
            ..0 => return Ok(None),
            input => input,
        };
        let too_large = || Problem::malformed("its padding is beyond 2^32");
        let stride = i64::from(self.stride[at]);
        let outputs = input / stride + i64::from(input % stride != 0);
        let total = (outputs - 1)
            .max(0)
            .checked_mul(stride)
            .and_then(|n| n.checked_add(self.extent(at))?.checked_sub(input))
            .ok_or_else(too_large)?
            .max(0);
        let both = halves(total, self.odd_behind);
        both.map(Some).ok_or_else(too_large)
    }

    /// The input with the padding around it that follows from sizes which are not known yet, computed
    /// as [`same`](Self::same) does; as it is, where the windows have their padding themselves.
    pub(super) fn padded(
        &self,
        c: &mut Context<'_, '_>,
        input: TensorId,
        value: f64,
    ) -> Result<TensorId> {
        if !self.is_padded_apart {
            return Ok(input);
        }
        let directions = self.size.len();
        let strides: Vec<i64> = self.stride.iter().map(|&stride| stride.into()).collect();
        let less: Vec<i64> = strides.iter().map(|stride| stride - 1).collect();
        let extents: Vec<i64> = (0..directions).map(|at| self.extent(at)).collect();
        let sizes = c.shape_step(input, 2, 2 + directions)?;
        let (strides, less) = (c.integers(&strides)?, c.integers(&less)?);
        let extents = c.integers(&extents)?;
        let (zero, one, two) = (c.integers(&[0])?, c.integers(&[1])?, c.integers(&[2])?);
        let outputs = c.binary(Binary::Add, sizes, less)?;
        let outputs = c.binary(Binary::Div, outputs, strides)?;
        let steps = c.binary(Binary::Sub, outputs, one)?;
        let steps = c.binary(Binary::Maximum, steps, zero)?;
        let last = c.binary(Binary::Mul, steps, strides)?;
        let end = c.binary(Binary::Add, last, extents)?;
        let total = c.binary(Binary::Sub, end, sizes)?;
        let total = c.binary(Binary::Maximum, total, zero)?;
        let less = c.binary(Binary::Div, total, two)?;
        let more = c.binary(Binary::Sub, total, less)?;
        let both = match self.odd_behind {
            true => [less, more],
            false => [more, less],
        };
        let pads = c.step(ConcatDescriptor { axis: 0 }, &both)?;
        let axes: Vec<i64> = (2..).take(directions).collect();
        let axes = c.integers(&axes)?;
        let rule = ParameterRule::Pad {
            mode: PaddingMode::Constant,
            value,
            layout: PadLayout::Sides,
            negative_as_none: false,
        };
        c.step_deferred(rule, &[input], &[Some(pads), None, Some(axes)])
    }

    /// Refuses padding that a layer of its own would have to add.
    pub(super) fn check_padding_is_known(&self) -> Result {
        match self.is_padded_apart {
            false => Ok(()),
            true => Err(Problem::unsupported(
                "padding that follows from a size that is not known (auto_pad); give the model \
                 fixed input shapes",
            )),
        }
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

/// A number of elements on both sides; what is odd goes behind, or before.
pub(super) fn halves(total: i64, odd_behind: bool) -> Option<(u32, u32)> {
    let (less, more) = (total / 2, total - total / 2);
    let (before, after) = if odd_behind {
        (less, more)
    } else {
        (more, less)
    };
    Some((u32::try_from(before).ok()?, u32::try_from(after).ok()?))
}

fn numbers(list: &[i64], least: u32, what: &str) -> Result<Vec<u32>> {
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
