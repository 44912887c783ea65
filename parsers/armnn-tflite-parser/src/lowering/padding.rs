//! TensorFlow's two ways of padding images.

use armnn_backend_api::{BroadcastToDescriptor, Shape, TensorInfo};
use armnn_network::{OutputDeclaration, ParameterRule, TensorId};

use super::context::{Context, described};
use super::problem::{Problem, Result};
use crate::schema_generated::Padding;

/// Windows along rows or columns.
#[derive(Clone, Copy)]
pub(super) struct Windows {
    /// Size of the input; below 0 if it is not known.
    pub(super) input: i64,
    /// Size of a window, without dilation.
    pub(super) size: i64,
    pub(super) stride: u32,
    pub(super) dilation: u32,
}

impl Windows {
    /// The padding before and after the input; `None` where it follows from a size that is not
    /// known.
    ///
    /// VALID is none. SAME makes the output's size input / stride, rounded up, and puts the odd
    /// element after the input (<https://www.tensorflow.org/api_docs/python/tf/nn>, "Notes on
    /// padding").
    pub(super) fn padding(self, padding: Padding) -> Result<Option<[u32; 2]>> {
        let Self {
            input,
            size,
            stride,
            dilation,
        } = self;
        if padding == Padding::Valid {
            return Ok(Some([0, 0]));
        }
        if size < 0 {
            return Ok(None);
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
            return Ok(None);
        };
        let before = total / 2;
        match (u32::try_from(before), u32::try_from(total - before)) {
            (Ok(before), Ok(after)) => Ok(Some([before, after])),
            _ => Err(overflow()),
        }
    }

    /// The size of the output with VALID padding, also where no window fits: LiteRT divides, rounding
    /// towards 0. What is below 0 is none for pooling; a convolution is refused, by LiteRT and by
    /// shape inference here.
    fn fitting(self, least: Option<i64>) -> Option<i64> {
        let steps = self
            .size
            .checked_sub(1)?
            .checked_mul(self.dilation.into())?;
        let stride = i64::from(self.stride);
        let span = self
            .input
            .checked_add(stride)?
            .checked_sub(steps.checked_add(1)?)?;
        let known = self.input >= 0 && self.size > 0 && stride > 0;
        let count = known.then(|| span / stride)?;
        Some(least.map_or(count, |least| count.max(least))).filter(|&count| count >= 0)
    }
}

impl Context<'_, '_, '_> {
    /// Writes the output if it has no elements because no window of one direction fits with VALID
    /// padding; says whether it has. Sizes below `least` count as that. The output has as many
    /// batches as a tensor, and these channels.
    pub(super) fn emit_without_windows(
        &mut self,
        padding: Padding,
        windows: &[Windows],
        least: Option<i64>,
        (batch, channels): (TensorId, i64),
    ) -> Result<bool> {
        if padding != Padding::Valid {
            return Ok(false);
        }
        let sizes: Option<Vec<i64>> = windows
            .iter()
            .map(|windows| windows.fitting(least))
            .collect();
        let Some(sizes) = sizes.filter(|sizes| sizes.contains(&0) && channels >= 0) else {
            return Ok(false);
        };
        let declaration = self.declaration(0)?;
        let Some(data_type) = declaration.data_type else {
            return Ok(false);
        };
        let mut dims = vec![1];
        dims.extend(sizes);
        dims.push(channels);
        let mut info = TensorInfo::new(data_type, described(Shape::new(&dims).ok())?);
        info.quantization = declaration.quantization.clone().unwrap_or_default();
        let empty = self.new_constant(info, vec![])?;
        let batches = self.shape(batch)?.dims().first().copied();
        match batches {
            Some(batches @ 0..) => {
                dims[0] = batches;
                let declaration = OutputDeclaration {
                    shape: Some(described(Shape::new(&dims).ok())?),
                    ..declaration
                };
                let broadcast = BroadcastToDescriptor::new();
                self.emit_declared(0, broadcast, &[Some(empty)], declaration)?;
            }
            _ => {
                let batches = self.shape_step(batch, 0, 1)?;
                let rest = self.integer_list(armnn_backend_api::DataType::Signed64, &dims[1..])?;
                let target = self.joined(&[batches, rest])?;
                let rule = ParameterRule::BroadcastTo {
                    bidirectional: false,
                };
                self.emit_by_rule(0, rule, &[Some(empty)], &[Some(target)], declaration)?;
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(input: i64, size: i64, stride: u32, dilation: u32) -> Windows {
        Windows {
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
            assert_eq!(found, Some(expected), "{input} {size} {stride} {dilation}");
            assert_eq!(windows.padding(Padding::Valid).unwrap(), Some([0, 0]));
        }
    }

    #[test]
    fn same_padding_of_an_unknown_size_is_left_open_where_it_matters() {
        for windows in [windows(-1, 3, 2, 1), windows(4, -1, 1, 1)] {
            assert_eq!(windows.padding(Padding::Same).unwrap(), None);
        }
    }

    /// As LiteRT 2.3 does it: (input + stride - extent) / stride, rounded towards 0.
    #[test]
    fn windows_that_do_not_fit_are_none_or_less_than_none() {
        for (input, size, stride, dilation, expected) in [
            (2, 3, 1, 1, Some(0)),
            (2, 5, 1, 1, None),
            (2, 3, 2, 1, Some(0)),
            (2, 5, 2, 1, Some(0)),
            (2, 6, 2, 1, None),
            (5, 3, 1, 2, Some(1)),
            (4, 3, 1, 2, Some(0)),
            (-1, 3, 1, 1, None),
        ] {
            let found = windows(input, size, stride, dilation).fitting(None);
            let pooled = windows(input, size, stride, dilation).fitting(Some(0));
            assert_eq!(found, expected, "{input} {size} {stride} {dilation}");
            let known = (input >= 0).then_some(0);
            assert_eq!(
                pooled,
                expected.or(known),
                "{input} {size} {stride} {dilation}"
            );
        }
    }

    #[test]
    fn sizes_beyond_reason_are_errors() {
        for size in [0, i64::MAX] {
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
