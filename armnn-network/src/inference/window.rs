//! Windows that move along a direction: how many fit.

use super::dimension::{UNKNOWN, known};
use super::{Result, bad_field};
use crate::error::LayerProblem;

/// Windows along one direction.
pub(super) struct Windows {
    direction: &'static str,
    pad_fields: [&'static str; 2],
    stride_field: &'static str,
    dilation_field: &'static str,
    size_field: &'static str,
    pad: [u32; 2],
    stride: u32,
    dilation: u32,
    pub(super) ceiling: bool,
}

pub(super) fn rows(pad_before: u32, pad_after: u32, stride: u32, dilation: u32) -> Windows {
    Windows {
        direction: "rows",
        pad_fields: ["pad_top", "pad_bottom"],
        stride_field: "stride_y",
        dilation_field: "dilation_y",
        size_field: "the height of the window",
        pad: [pad_before, pad_after],
        stride,
        dilation,
        ceiling: false,
    }
}

pub(super) fn columns(pad_before: u32, pad_after: u32, stride: u32, dilation: u32) -> Windows {
    Windows {
        direction: "columns",
        pad_fields: ["pad_left", "pad_right"],
        stride_field: "stride_x",
        dilation_field: "dilation_x",
        size_field: "the width of the window",
        pad: [pad_before, pad_after],
        stride,
        dilation,
        ceiling: false,
    }
}

pub(super) fn planes(pad_before: u32, pad_after: u32, stride: u32, dilation: u32) -> Windows {
    Windows {
        direction: "planes",
        pad_fields: ["pad_front", "pad_back"],
        stride_field: "stride_z",
        dilation_field: "dilation_z",
        size_field: "the depth of the window",
        pad: [pad_before, pad_after],
        stride,
        dilation,
        ceiling: false,
    }
}

/// Windows along a direction that the descriptor has lists for.
pub(super) fn listed(pad_before: u32, pad_after: u32, stride: u32, dilation: u32) -> Windows {
    Windows {
        direction: "elements",
        pad_fields: ["pad_before", "pad_after"],
        stride_field: "stride",
        dilation_field: "dilation",
        size_field: "the size of the window",
        pad: [pad_before, pad_after],
        stride,
        dilation,
        ceiling: false,
    }
}

impl Windows {
    /// How many windows fit: (input + pads - dilation (size - 1) - 1) / stride + 1.
    ///
    /// Rounded up, there may be one more, which reaches beyond the padding, provided that it
    /// starts within the input or the padding before it: a window of padding alone has no value.
    pub(super) fn output(&self, input: i64, size: i64) -> Result<i64> {
        let overflow = LayerProblem::Overflow {
            what: "the size of the padded input or the window",
        };
        self.check_steps()?;
        let Some(size) = known(size) else {
            return Ok(UNKNOWN);
        };
        let extent = self.extent(size)?;
        let Some(input) = known(input) else {
            return Ok(UNKNOWN);
        };
        let [before, after] = self.pad.map(i64::from);
        let padded = input.checked_add(before + after).ok_or(overflow)?;
        let stride = i64::from(self.stride);
        if extent > padded {
            // Rounded up from above -1 + 1: a single window, which reaches beyond the padding.
            if self.ceiling && extent - padded < stride && input > 0 {
                return Ok(1);
            }
            return Err(LayerProblem::Window {
                direction: self.direction,
                extent,
                padded,
            });
        }
        let span = padded - extent;
        let steps = span / stride;
        let one_more = self.ceiling
            && span % stride != 0
            && (steps + 1)
                .checked_mul(stride)
                .is_some_and(|start| start < input + before);
        steps
            .checked_add(1 + i64::from(one_more))
            .ok_or(LayerProblem::Overflow {
                what: "the size of the output",
            })
    }

    /// The size of a transposed convolution's output:
    /// (input - 1) stride + dilation (size - 1) + 1 - pads, unless it is declared.
    pub(super) fn transposed_output(
        &self,
        input: i64,
        size: i64,
        declared: Option<i64>,
    ) -> Result<i64> {
        self.check_steps()?;
        let Some(size) = known(size) else {
            return Ok(declared.unwrap_or(UNKNOWN));
        };
        let extent = self.extent(size)?;
        if let Some(declared) = declared {
            return Ok(declared);
        }
        let Some(input) = known(input) else {
            return Ok(UNKNOWN);
        };
        let [before, after] = self.pad.map(i64::from);
        let covered = match input {
            0 => Some(0),
            _ => (input - 1)
                .checked_mul(self.stride.into())
                .and_then(|n| n.checked_add(extent)),
        };
        match covered.and_then(|n| n.checked_sub(before + after)) {
            Some(size) if size >= 0 => Ok(size),
            Some(_) if input == 0 => Ok(0),
            Some(_) => {
                let [field, _] = self.pad_fields;
                let rule = format!(
                    "such that padding is not larger than the {} of the output",
                    self.direction
                );
                Err(bad_field(field, before, rule))
            }
            None => Err(LayerProblem::Overflow {
                what: "the size of the output",
            }),
        }
    }

    fn check_steps(&self) -> Result<()> {
        for (field, value) in [
            (self.stride_field, self.stride),
            (self.dilation_field, self.dilation),
        ] {
            if value == 0 {
                return Err(bad_field(field, value, "at least 1"));
            }
        }
        Ok(())
    }

    /// From the first to the last element of a window.
    fn extent(&self, size: i64) -> Result<i64> {
        if size <= 0 {
            return Err(bad_field(self.size_field, size, "at least 1"));
        }
        (size - 1)
            .checked_mul(i64::from(self.dilation))
            .and_then(|n| n.checked_add(1))
            .ok_or(LayerProblem::Overflow {
                what: "the size of the window",
            })
    }

    /// Checks that no window lies in the padding alone.
    pub(super) fn padding_below(&self, size: i64) -> Result<()> {
        let extent = self.extent(size)?;
        for (field, pad) in self.pad_fields.into_iter().zip(self.pad) {
            if i64::from(pad) >= extent {
                let rule = format!(
                    "below {extent}, the window's number of {}, so that every window covers an \
                     element of the input",
                    self.direction
                );
                return Err(bad_field(field, pad, rule));
            }
        }
        Ok(())
    }
}
