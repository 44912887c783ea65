//! Transposed convolutions whose output's shape is a parameter.

use armnn_backend_api::{DataLayout, Shape, TransposeConvolution2dDescriptor};

use super::arguments::Arguments;
use super::{Resolved, Result, bad, known, shown_list};

/// `same`: the padding is that of a convolution from the output back to the input with TensorFlow's
/// SAME padding; else it is the descriptor's.
pub(super) fn transpose_convolution(
    base: &TransposeConvolution2dDescriptor,
    same: bool,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let weights = arguments.data(1)?;
    let target = arguments.list(0, "output shape")?;
    if target.len() != 4 || target.iter().flatten().any(|&size| size < 0) {
        return Err(bad(
            "output shape",
            shown_list(&target),
            "4 sizes from 0 on",
        ));
    }
    if input.rank() != 4 || weights.rank() != 4 {
        let value = format!("{input}, {weights}");
        return Err(bad("input and weights", value, "of 4 dimensions each"));
    }
    let (rows, filter) = match base.data_layout() {
        DataLayout::Nhwc => (1, 1),
        DataLayout::Nchw => (2, 2),
        other => return Err(bad("data_layout", other, "Nhwc or Nchw")),
    };
    let dims: Vec<i64> = target.iter().map(|s| s.unwrap_or(Shape::UNKNOWN)).collect();
    let mut complete = target.iter().all(Option::is_some);
    let mut descriptor = *base;
    if same {
        let padding = |at: usize, stride, dilation| {
            let windows = (known(dims[rows + at]), known(weights.dims()[filter + at]));
            match windows {
                (Some(size), Some(window)) => {
                    same_padding(size, window, stride, dilation).map(Some)
                }
                _ => Ok(None),
            }
        };
        let vertical = padding(0, base.stride_y, base.dilation_y)?;
        let horizontal = padding(1, base.stride_x, base.dilation_x)?;
        complete &= vertical.is_some() && horizontal.is_some();
        (descriptor.pad_top, descriptor.pad_bottom) = vertical.unwrap_or((0, 0));
        (descriptor.pad_left, descriptor.pad_right) = horizontal.unwrap_or((0, 0));
    }
    Resolved::single(descriptor, &dims, complete)
}

/// The padding before and after `size` elements such that windows in steps of `stride` are as many
/// as size / stride, rounded up; the odd element comes after
/// (<https://www.tensorflow.org/api_docs/python/tf/nn>, "Notes on padding").
fn same_padding(size: i64, window: i64, stride: u32, dilation: u32) -> Result<(u32, u32)> {
    let problem = || {
        let value = format!("a window of {window} over {size} elements");
        bad("padding", value, "one that fits into 32 bits")
    };
    let extent = window
        .checked_sub(1)
        .filter(|&steps| steps >= 0)
        .and_then(|steps| steps.checked_mul(dilation.into()))
        .and_then(|steps| steps.checked_add(1))
        .ok_or_else(problem)?;
    let stride = i64::from(stride);
    if stride == 0 {
        return Err(bad("stride", stride, "at least 1"));
    }
    let total = match size {
        0 => 0,
        // Where the last window starts, and how far it reaches beyond the elements.
        size => {
            let last = (size - 1) / stride * stride;
            extent.checked_sub(size - last).ok_or_else(problem)?.max(0)
        }
    };
    let before = total / 2;
    match (u32::try_from(before), u32::try_from(total - before)) {
        (Ok(before), Ok(after)) => Ok((before, after)),
        _ => Err(problem()),
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerDescriptor;

    use super::super::tests::{ints, list, unknown};
    use super::super::{Parameter, ParameterRule as Rule};
    use super::*;

    fn resolved(
        base: TransposeConvolution2dDescriptor,
        same: bool,
        target: Option<Parameter>,
    ) -> Result<Resolved> {
        let rule = Rule::TransposeConvolution2d {
            descriptor: base,
            same,
        };
        let input = Some(Shape::from([1, 2, 3, 5]));
        let weights = Some(Shape::from([4, 3, 2, 5]));
        rule.resolve(&[input, weights], &[target])
    }

    #[test]
    fn same_padding_is_that_of_the_convolution_back() {
        let mut base = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
        (base.stride_y, base.stride_x) = (2, 3);
        let found = resolved(base, true, ints(&[1, 4, 9, 4])).unwrap();
        assert!(found.complete);
        assert_eq!(found.outputs[0].dims(), [1, 4, 9, 4]);
        let LayerDescriptor::TransposeConvolution2d(d) = found.descriptor else {
            panic!("{found:?}");
        };
        // Rows: windows of 3 at 0 and 2 of 4, 2 + 3 - 4 = 1 beyond. Columns: windows of 2 at 0, 3
        // and 6 of 9, none beyond.
        let padding = (d.pad_top, d.pad_bottom, d.pad_left, d.pad_right);
        assert_eq!(padding, (0, 1, 0, 0));
        // Windows at 0, 2 and 4 of 5, 4 + 3 - 5 = 2 beyond: one at each side.
        assert_eq!(same_padding(5, 3, 2, 1).unwrap(), (1, 1));
        // Dilated, the window covers 5: 6 + 5 - 7 = 4.
        assert_eq!(same_padding(7, 3, 1, 2).unwrap(), (2, 2));
        assert_eq!(same_padding(0, 3, 1, 2).unwrap(), (0, 0));
    }

    #[test]
    fn other_padding_is_the_descriptors() {
        let mut base = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
        base.pad_left = 7;
        let found = resolved(base, false, ints(&[1, 4, 4, 4])).unwrap();
        assert_eq!(found.descriptor, base.into());
        let open = resolved(base, false, list(&[Some(1), None, Some(4), Some(4)])).unwrap();
        assert_eq!(open.outputs[0].dims(), [1, -1, 4, 4]);
        assert!(!open.complete);
        assert!(!resolved(base, true, unknown([4])).unwrap().complete);
    }

    #[test]
    fn shapes_that_make_no_sense_are_refused() {
        let base = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
        assert!(resolved(base, true, ints(&[1, 4, 4])).is_err());
        assert!(resolved(base, true, ints(&[1, 4, 4, -1])).is_err());
        let most = i64::MAX;
        assert!(resolved(base, true, ints(&[most; 4])).is_ok());
        assert!(same_padding(1, most, 1, u32::MAX).is_err());
        assert!(same_padding(1, most, 1, 1).is_err());
        assert!(same_padding(1, 0, 1, 1).is_err());
        assert!(same_padding(most, 1, 0, 1).is_err());
    }
}
