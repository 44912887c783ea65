//! TensorFlow's two ways of padding images.

use super::problem::{Problem, Result};
use crate::schema_generated::Padding;

/// Windows along rows or columns.
#[derive(Clone, Copy)]
pub(super) struct Windows {
    /// "rows" or "columns".
    pub(super) direction: &'static str,
    /// Size of the input; below 0 if it is not known.
    pub(super) input: i64,
    /// Size of a window, without dilation.
    pub(super) size: i64,
    pub(super) stride: u32,
    pub(super) dilation: u32,
}

impl Windows {
    /// The padding before and after the input.
    ///
    /// VALID is none. SAME makes the output's size input / stride, rounded up, and puts the odd
    /// element after the input (<https://www.tensorflow.org/api_docs/python/tf/nn>, "Notes on
    /// padding").
    pub(super) fn padding(self, padding: Padding) -> Result<[u32; 2]> {
        let Self {
            direction,
            input,
            size,
            stride,
            dilation,
        } = self;
        if padding == Padding::Valid {
            return Ok([0, 0]);
        }
        let overflow = || Problem::malformed("the size of the window is beyond 2^31");
        let extent = size
            .checked_sub(1)
            .and_then(|steps| steps.checked_mul(dilation.into()))
            .and_then(|steps| steps.checked_add(1))
            .filter(|extent| (1..=i64::from(i32::MAX)).contains(extent))
            .ok_or_else(overflow)?;
        let stride = i64::from(stride);
        // With a stride of 1, or a window no larger than it, it does not matter how large the
        // input is.
        let total = if stride == 1 {
            extent - 1
        } else if input > 0 {
            let last = (input - 1) / stride * stride;
            (last + extent - input).max(0)
        } else if input == 0 {
            0
        } else {
            return Err(Problem::unsupported(format!(
                "SAME padding with a stride of {stride} depends on the number of {direction}, which \
                 is not known; give the model a fixed input shape"
            )));
        };
        let before = total / 2;
        match (u32::try_from(before), u32::try_from(total - before)) {
            (Ok(before), Ok(after)) => Ok([before, after]),
            _ => Err(overflow()),
        }
    }
}
