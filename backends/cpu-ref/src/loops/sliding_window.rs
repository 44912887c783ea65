//! Windows that slide over the rows and columns of an image.

use std::ops::Range;

use armnn_backend_api::Result;

use crate::workloads::layer_checks::invalid;

/// One axis, rows or columns, along which a window slides. Tap `k` of the window for output `o` is
/// at input `o stride + k dilation - pad_before`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlidingWindow {
    /// Elements of the input.
    pub(crate) input: usize,
    /// Elements of the output.
    pub(crate) output: usize,
    /// Taps of the window.
    pub(crate) taps: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    pub(crate) pad_before: usize,
    pub(crate) pad_after: usize,
}

/// The windows along rows and along columns that a descriptor with Arm NN's fields for strides,
/// dilations and padding describes, checked; sizes are (rows, columns).
macro_rules! sliding_windows {
    (
        $descriptor:expr,
        input: ($in_h:expr, $in_w:expr),
        output: ($out_h:expr, $out_w:expr),
        taps: ($taps_h:expr, $taps_w:expr),
        may_round_up: $may_round_up:expr
    ) => {{
        let (d, may_round_up) = ($descriptor, $may_round_up);
        let rows = $crate::loops::sliding_window::SlidingWindow {
            input: $in_h,
            output: $out_h,
            taps: $taps_h,
            stride: d.stride_y as usize,
            dilation: d.dilation_y as usize,
            pad_before: d.pad_top as usize,
            pad_after: d.pad_bottom as usize,
        };
        let columns = $crate::loops::sliding_window::SlidingWindow {
            input: $in_w,
            output: $out_w,
            taps: $taps_w,
            stride: d.stride_x as usize,
            dilation: d.dilation_x as usize,
            pad_before: d.pad_left as usize,
            pad_after: d.pad_right as usize,
        };
        (rows.check(may_round_up)?, columns.check(may_round_up)?)
    }};
}
pub(crate) use sliding_windows;

impl SlidingWindow {
    /// Checks that the output's size follows from the rest: rounded down, or up where that is
    /// allowed.
    ///
    /// # Errors
    /// When it does not, or a stride or dilation is 0, or there are no taps.
    pub(crate) fn check(self, may_round_up: bool) -> Result<Self> {
        if self.stride == 0 || self.dilation == 0 || self.taps == 0 {
            return Err(invalid("a stride, a dilation or a size of its window is 0"));
        }
        let padded = self
            .input
            .saturating_add(self.pad_before)
            .saturating_add(self.pad_after);
        let reach = self
            .dilation
            .saturating_mul(self.taps - 1)
            .saturating_add(1);
        let (down, up) = match padded.checked_sub(reach) {
            Some(rest) => (rest / self.stride + 1, rest.div_ceil(self.stride) + 1),
            None => (0, usize::from(may_round_up)),
        };
        if self.output == down || (may_round_up && self.output == up) {
            return Ok(self);
        }
        Err(invalid(format_args!(
            "an output of {} rows or columns does not follow from an input of {}, padding {} \
                 and {}, a window of {}, stride {} and dilation {}",
            self.output,
            self.input,
            self.pad_before,
            self.pad_after,
            self.taps,
            self.stride,
            self.dilation
        )))
    }

    /// Where in the input a tap lies; `None` if it lies outside.
    #[inline]
    pub(crate) fn position(&self, output: usize, tap: usize) -> Option<usize> {
        (output * self.stride + tap * self.dilation)
            .checked_sub(self.pad_before)
            .filter(|&at| at < self.input)
    }

    /// The outputs for which a tap lies inside of the input.
    pub(crate) fn outputs_inside(&self, tap: usize) -> Range<usize> {
        let tap = tap * self.dilation;
        let start = self.pad_before.saturating_sub(tap).div_ceil(self.stride);
        let end = (self.input + self.pad_before)
            .saturating_sub(tap)
            .div_ceil(self.stride)
            .min(self.output);
        start.min(end)..end
    }

    /// The taps that lie inside of the input.
    pub(crate) fn taps_inside(&self, output: usize) -> Range<usize> {
        let start = self.taps_before(output, self.pad_before);
        start..self.taps_before(output, self.input + self.pad_before)
    }

    /// The number of taps that lie inside of the input or its padding.
    pub(crate) fn taps_inside_padded(&self, output: usize) -> usize {
        self.taps_before(output, self.input + self.pad_before + self.pad_after)
    }

    /// The number of taps before a position of the padded input.
    fn taps_before(&self, output: usize, position: usize) -> usize {
        position
            .saturating_sub(output * self.stride)
            .div_ceil(self.dilation)
            .min(self.taps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: SlidingWindow = SlidingWindow {
        input: 5,
        output: 3,
        taps: 3,
        stride: 2,
        dilation: 1,
        pad_before: 1,
        pad_after: 1,
    };

    #[test]
    fn positions_outside_of_the_input_are_none() {
        // Output 0 covers -1, 0, 1; output 2 covers 3, 4, 5.
        let positions = |o| [0, 1, 2].map(|k| WINDOW.position(o, k));
        assert_eq!(positions(0), [None, Some(0), Some(1)]);
        assert_eq!(positions(2), [Some(3), Some(4), None]);
    }

    #[test]
    fn ranges_agree_with_positions() {
        for pad_before in 0..4 {
            for dilation in 1..4 {
                let window = SlidingWindow {
                    pad_before,
                    dilation,
                    ..WINDOW
                };
                for tap in 0..3 {
                    let inside: Vec<usize> = (0..3)
                        .filter(|&o| window.position(o, tap).is_some())
                        .collect();
                    let range: Vec<usize> = window.outputs_inside(tap).collect();
                    assert_eq!(range, inside, "{window:?} tap {tap}");
                }
                for output in 0..3 {
                    let inside: Vec<usize> = (0..3)
                        .filter(|&tap| window.position(output, tap).is_some())
                        .collect();
                    let range: Vec<usize> = window.taps_inside(output).collect();
                    assert_eq!(range, inside, "{window:?} output {output}");
                }
            }
        }
    }

    #[test]
    fn taps_beyond_the_padding_count_nowhere() {
        // Output 3 covers 5, 6, 7, of which only 5 is padding.
        assert!(WINDOW.taps_inside(3).is_empty());
        assert_eq!(WINDOW.taps_inside_padded(3), 1);
        assert_eq!(WINDOW.taps_inside(0), 1..3);
        assert_eq!(WINDOW.taps_inside_padded(0), 3);
    }
}
