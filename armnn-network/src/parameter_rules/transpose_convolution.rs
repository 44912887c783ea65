//! Transposed convolutions whose output's shape is a parameter.

use armnn_backend_api::{
    DataLayout, Shape, TransposeConvolution2dDescriptor, TransposeConvolution3dDescriptor,
};

use super::arguments::Arguments;
use super::{Resolved, Result, bad, known, shown_list};

/// `same`: the padding is that of a convolution from the output back to the input with TensorFlow's
/// SAME padding; else it is the descriptor's.
pub(super) fn in_planes(
    base: &TransposeConvolution2dDescriptor,
    same: bool,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let mut d = *base;
    let places = match base.data_layout() {
        DataLayout::Nhwc => [1, 2],
        DataLayout::Nchw => [2, 3],
        other => return Err(bad("data_layout", other, "Nhwc or Nchw")),
    };
    let steps = [(d.stride_y, d.dilation_y), (d.stride_x, d.dilation_x)];
    let output = output(places, steps, same, arguments)?;
    if same {
        [(d.pad_top, d.pad_bottom), (d.pad_left, d.pad_right)] = output.padding;
    }
    Resolved::single(d, &output.dims, output.complete)
}

/// The same with planes.
pub(super) fn in_volumes(
    base: &TransposeConvolution3dDescriptor,
    same: bool,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let mut d = *base;
    let places = match base.data_layout() {
        DataLayout::Ndhwc => [1, 2, 3],
        DataLayout::Ncdhw => [2, 3, 4],
        other => return Err(bad("data_layout", other, "Ndhwc or Ncdhw")),
    };
    let steps = [
        (d.stride_z, d.dilation_z),
        (d.stride_y, d.dilation_y),
        (d.stride_x, d.dilation_x),
    ];
    let output = output(places, steps, same, arguments)?;
    if same {
        [
            (d.pad_front, d.pad_back),
            (d.pad_top, d.pad_bottom),
            (d.pad_left, d.pad_right),
        ] = output.padding;
    }
    Resolved::single(d, &output.dims, output.complete)
}

/// What follows from the output's shape.
struct Output<const N: usize> {
    dims: Vec<i64>,
    /// SAME padding before and after each of the dimensions that the filter moves along.
    padding: [(u32, u32); N],
    /// Whether all that is known.
    complete: bool,
}

/// `places` are where these dimensions stand in output and weights, and `steps` are strides and
/// dilations.
fn output<const N: usize>(
    places: [usize; N],
    steps: [(u32, u32); N],
    same: bool,
    arguments: &Arguments<'_>,
) -> Result<Output<N>> {
    let input = arguments.data(0)?;
    let weights = arguments.data(1)?;
    let target = arguments.list(0, "output shape")?;
    let rank = N + 2;
    if target.len() != rank || target.iter().flatten().any(|&size| size < 0) {
        let rule = format!("{rank} sizes from 0 on");
        return Err(bad("output shape", shown_list(&target), rule));
    }
    if input.rank() != rank || weights.rank() != rank {
        let value = format!("{input}, {weights}");
        let rule = format!("of {rank} dimensions each");
        return Err(bad("input and weights", value, rule));
    }
    let dims: Vec<i64> = target.iter().map(|s| s.unwrap_or(Shape::UNKNOWN)).collect();
    let mut complete = target.iter().all(Option::is_some);
    let mut padding = [(0, 0); N];
    if same {
        for (at, to) in padding.iter_mut().enumerate() {
            let size = known(dims[places[at]]);
            let window = known(weights.dims()[places[at]]);
            let (stride, dilation) = steps[at];
            match (size, window) {
                (Some(size), Some(window)) => *to = same_padding(size, window, stride, dilation)?,
                _ => complete = false,
            }
        }
    }
    Ok(Output {
        dims,
        padding,
        complete,
    })
}

/// The padding before and after `size` elements such that windows in steps of `stride` are as many
/// as size / stride, rounded up; the odd element comes after
/// (<https://www.tensorflow.org/api_docs/python/tf/nn>, "Notes on padding").
pub(super) fn same_padding(
    size: i64,
    window: i64,
    stride: u32,
    dilation: u32,
) -> Result<(u32, u32)> {
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
    fn planes_are_padded_as_rows_are() {
        let mut base = TransposeConvolution3dDescriptor::new(DataLayout::Ndhwc);
        base.stride_z = 2;
        let rule = Rule::TransposeConvolution3d {
            descriptor: base,
            same: true,
        };
        let input = Some(Shape::from([1, 2, 3, 3, 5]));
        let weights = Some(Shape::from([4, 3, 1, 2, 5]));
        let target = ints(&[1, 4, 3, 3, 4]);
        let found = rule.resolve(&[input, weights], &[target]).unwrap();
        let LayerDescriptor::TransposeConvolution3d(d) = found.descriptor else {
            panic!("{found:?}");
        };
        // Planes: windows of 3 at 0 and 2 of 4; rows: of 1; columns: of 2 at 0, 1 and 2 of 3.
        assert_eq!((d.pad_front, d.pad_back), (0, 1));
        assert_eq!((d.pad_top, d.pad_bottom), (0, 0));
        assert_eq!((d.pad_left, d.pad_right), (0, 1));
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
