//! Windows over rows and columns: attributes that convolutions and pooling share.

use super::context::Context;
use super::problem::{Problem, Result};

/// Windows along two directions: rows, columns. Of a tensor with one direction, which becomes that
/// of columns, the rows are 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Windows {
    pub(super) size: [u32; 2],
    pub(super) stride: [u32; 2],
    pub(super) dilation: [u32; 2],
    pub(super) before: [u32; 2],
    pub(super) after: [u32; 2],
    /// Whether the padding follows from the sizes, so that nothing is to be rounded.
    pub(super) is_same: bool,
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
    let directions = spatial.len();
    if !(1..=2).contains(&directions) {
        return Err(Problem::unsupported(format!(
            "windows over {directions} dimensions; over 1 and 2 they are supported"
        )));
    }
    let list = |name: &str, default: Option<&[i64]>, entries: usize| -> Result<Option<Vec<i64>>> {
        let Some(list) = c.attributes.ints(name)?.or(default) else {
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
    let strides = list("strides", Some(&ones), directions)?.unwrap_or_default();
    let dilations = list("dilations", Some(&ones), directions)?.unwrap_or_default();
    let size = pair(&said, 1, "kernel_shape")?;
    let stride = pair(&strides, 1, "strides")?;
    let dilation = pair(&dilations, 1, "dilations")?;
    let zeros = vec![0; 2 * directions];
    let pads = list("pads", Some(&zeros), 2 * directions)?.unwrap_or_default();
    let (before, after) = pads.split_at(directions);
    let mut windows = Windows {
        size,
        stride,
        dilation,
        before: [0; 2],
        after: [0; 2],
        is_same: false,
    };
    match c.attributes.text("auto_pad", "NOTSET")? {
        "NOTSET" => {
            windows.before = pair(before, 0, "pads")?;
            windows.after = pair(after, 0, "pads")?;
        }
        "VALID" => {}
        mode @ ("SAME_UPPER" | "SAME_LOWER") => {
            windows.is_same = true;
            let offset = 2 - directions;
            for (direction, &input) in spatial.iter().enumerate() {
                let at = direction + offset;
                let (before, after) = windows.same(at, input, mode == "SAME_UPPER")?;
                (windows.before[at], windows.after[at]) = (before, after);
            }
        }
        other => {
            return Err(Problem::malformed(format!(
                "its auto_pad is \"{}\"",
                crate::error::Short(other)
            )));
        }
    }
    Ok(windows)
}

impl Windows {
    /// Padding with which there is a window for each stride, rounded up. What is odd goes behind
    /// the input, or before it.
    fn same(&self, at: usize, input: i64, odd_behind: bool) -> Result<(u32, u32)> {
        if input < 0 {
            return Err(Problem::unsupported(
                "padding that follows from a size that is not known (auto_pad); give the model \
                 fixed input shapes",
            ));
        }
        let too_large = || Problem::malformed("its padding is beyond 2^32");
        let [size, stride, dilation] =
            [self.size[at], self.stride[at], self.dilation[at]].map(i64::from);
        let extent = (size - 1)
            .checked_mul(dilation)
            .and_then(|n| n.checked_add(1));
        let outputs = input / stride + i64::from(input % stride != 0);
        let total = (outputs - 1)
            .max(0)
            .checked_mul(stride)
            .and_then(|n| n.checked_add(extent?)?.checked_sub(input))
            .ok_or_else(too_large)?
            .max(0);
        let (less, more) = (total / 2, total - total / 2);
        let (before, after) = if odd_behind {
            (less, more)
        } else {
            (more, less)
        };
        match (u32::try_from(before), u32::try_from(after)) {
            (Ok(before), Ok(after)) => Ok((before, after)),
            _ => Err(too_large()),
        }
    }
}

/// Rows and columns of a list; rows that are not there are `default`.
fn pair(list: &[i64], default: u32, what: &str) -> Result<[u32; 2]> {
    let number = |value: i64| {
        u32::try_from(value)
            .ok()
            .filter(|&number| number >= default)
            .ok_or_else(|| Problem::malformed(format!("its {what} are {list:?}")))
    };
    match *list {
        [rows, columns] => Ok([number(rows)?, number(columns)?]),
        [columns] => Ok([default, number(columns)?]),
        _ => Err(Problem::malformed(format!("its {what} are {list:?}"))),
    }
}

/// The dimensions of a tensor with rows of 1 put before its only spatial dimension.
pub(super) fn with_rows(dims: &[i64]) -> Result<[i64; 4]> {
    match *dims {
        [n, channels, length] => Ok([n, channels, 1, length]),
        [n, channels, rows, columns] => Ok([n, channels, rows, columns]),
        _ => Err(Problem::unsupported(format!(
            "{} dimensions; 3 and 4 are supported",
            dims.len()
        ))),
    }
}
