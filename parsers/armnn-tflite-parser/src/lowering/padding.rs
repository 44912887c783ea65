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

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(input: i64, size: i64, stride: u32, dilation: u32) -> Windows {
        Windows {
            direction: "rows",
            input,
            size,
            stride,
            dilation,
        }
    }

    #[test]
    fn same_padding_puts_the_odd_element_after_the_input() {
        for (input, size, stride, dilation, expected) in [
            // Output 4: 3 * 1 + 3 - 4 = 2.
            (4, 3, 1, 1, [1, 1]),
            // An even window: 3 * 1 + 2 - 4 = 1.
            (4, 2, 1, 1, [0, 1]),
            // Output 2 of 4: 1 * 2 + 3 - 4 = 1.
            (4, 3, 2, 1, [0, 1]),
            // Output 3 of 5: 2 * 2 + 3 - 5 = 2.
            (5, 3, 2, 1, [1, 1]),
            // Output 64 of 128: 63 * 2 + 5 - 128 = 3.
            (128, 5, 2, 1, [1, 2]),
            // Output 4 of 10: 3 * 3 + 2 - 10 = 1.
            (10, 2, 3, 1, [0, 1]),
            // Dilated, the window covers 5: 6 + 5 - 7 = 4.
            (7, 3, 1, 2, [2, 2]),
            // Steps over elements at the end: output 2 of 5, 3 + 1 - 5 < 0.
            (5, 1, 3, 1, [0, 0]),
            // It does not matter how large the input is.
            (-1, 3, 1, 1, [1, 1]),
            (0, 3, 2, 1, [0, 0]),
        ] {
            let windows = windows(input, size, stride, dilation);
            let found = windows.padding(Padding::Same).unwrap();
            assert_eq!(found, expected, "{input} {size} {stride} {dilation}");
            assert_eq!(windows.padding(Padding::Valid).unwrap(), [0, 0]);
        }
    }

    #[test]
    fn same_padding_of_an_unknown_size_is_refused_where_it_matters() {
        let problem = windows(-1, 3, 2, 1).padding(Padding::Same).unwrap_err();
        let Problem::Unsupported(what) = problem else {
            panic!("{problem:?}");
        };
        assert!(
            what.contains("number of rows, which is not known"),
            "{what}"
        );
    }

    #[test]
    fn sizes_beyond_reason_are_errors() {
        for size in [0, -5, i64::MAX, i64::MIN] {
            assert!(
                windows(4, size, 1, u32::MAX)
                    .padding(Padding::Same)
                    .is_err(),
                "{size}"
            );
        }
        let found = windows(i64::MAX, 1 << 30, u32::MAX, 1).padding(Padding::Same);
        assert!(found.is_ok());
    }
}
