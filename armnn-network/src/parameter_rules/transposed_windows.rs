//! Transposed convolutions as ONNX has them.

use armnn_backend_api::{
    DataLayout, LayerType, Shape, TransposeConvolution2dDescriptor,
    TransposeConvolution3dDescriptor,
};

use super::arguments::Arguments;
use super::{Resolved, Result, bad, known};
use crate::error::LayerProblem;

/// A transposed convolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TransposedLayer {
    /// Over rows and columns.
    In2d(TransposeConvolution2dDescriptor),
    /// Over planes, rows and columns.
    In3d(TransposeConvolution3dDescriptor),
}

impl TransposedLayer {
    /// The type of the layer.
    pub fn layer_type(&self) -> LayerType {
        match self {
            Self::In2d(_) => LayerType::TransposeConvolution2d,
            Self::In3d(_) => LayerType::TransposeConvolution3d,
        }
    }
}

/// What the sizes of the output of a transposed convolution are.
#[derive(Clone, Debug, PartialEq)]
pub enum TransposedSizes {
    /// What the padding of the descriptor leaves.
    Padded,
    /// Those of the input times the strides (ONNX's `auto_pad`).
    Strided,
    /// These, along each of the dimensions that the filter moves along (ONNX's `output_shape`).
    Given(Vec<i64>),
}

/// The padding is what there is too much of, with `more` elements at the end; where there are too
/// few elements, the output has so many behind that nothing adds to.
pub(super) fn padded(
    layer: &TransposedLayer,
    sizes: &TransposedSizes,
    more: &[u32],
    odd_behind: bool,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let rule = Rule {
        sizes,
        more,
        odd_behind,
    };
    match layer {
        TransposedLayer::In2d(base) => {
            let mut d = *base;
            if d.data_layout() != DataLayout::Nchw {
                return Err(bad("data_layout", d.data_layout(), DataLayout::Nchw));
            }
            let windows = [
                (d.stride_y, d.dilation_y, (d.pad_top, d.pad_bottom)),
                (d.stride_x, d.dilation_x, (d.pad_left, d.pad_right)),
            ];
            let output = rule.output(windows, d.groups, arguments)?;
            [(d.pad_top, d.pad_bottom), (d.pad_left, d.pad_right)] = output.padding;
            Resolved::single(d, &output.dims, output.complete)
        }
        TransposedLayer::In3d(base) => {
            let mut d = *base;
            if d.data_layout() != DataLayout::Ncdhw {
                return Err(bad("data_layout", d.data_layout(), DataLayout::Ncdhw));
            }
            let windows = [
                (d.stride_z, d.dilation_z, (d.pad_front, d.pad_back)),
                (d.stride_y, d.dilation_y, (d.pad_top, d.pad_bottom)),
                (d.stride_x, d.dilation_x, (d.pad_left, d.pad_right)),
            ];
            let output = rule.output(windows, d.groups, arguments)?;
            [
                (d.pad_front, d.pad_back),
                (d.pad_top, d.pad_bottom),
                (d.pad_left, d.pad_right),
            ] = output.padding;
            Resolved::single(d, &output.dims, output.complete)
        }
    }
}

struct Rule<'a> {
    sizes: &'a TransposedSizes,
    more: &'a [u32],
    odd_behind: bool,
}

/// What follows from the input's shape.
struct Output<const N: usize> {
    dims: Vec<i64>,
    /// Before and after each of the dimensions that the filter moves along.
    padding: [(u32, u32); N],
    /// Whether all that is known.
    complete: bool,
}

/// Size and padding of a dimension of the output; none where they do not follow yet.
type Dimension = (i64, Option<(u32, u32)>);

impl Rule<'_> {
    /// `windows` are strides, dilations and the descriptor's padding.
    fn output<const N: usize>(
        &self,
        windows: [(u32, u32, (u32, u32)); N],
        groups: u32,
        arguments: &Arguments<'_>,
    ) -> Result<Output<N>> {
        let rank = N + 2;
        let (input, weights) = (arguments.data(0)?, arguments.data(1)?);
        if input.rank() != rank || weights.rank() != rank {
            let value = format!("{input}, {weights}");
            let rule = format!("of {rank} dimensions each");
            return Err(bad("input and weights", value, rule));
        }
        if self.more.len() != N {
            return Err(bad("output_padding", self.more.len(), format!("{N} sizes")));
        }
        let channels = match known(weights.dims()[1]) {
            Some(channels) => channels.checked_mul(groups.into()).ok_or(TOO_LARGE)?,
            None => Shape::UNKNOWN,
        };
        let mut dims = vec![input.dims()[0], channels];
        let mut padding = [(0, 0); N];
        let mut complete = true;
        for (at, &(stride, dilation, declared)) in windows.iter().enumerate() {
            let window = known(weights.dims()[at + 2]);
            let size = known(input.dims()[at + 2]);
            let extent = match window {
                Some(window) => Some(extent(window, dilation)?),
                None => None,
            };
            let (dim, pads) = self.along(at, size, extent, stride, declared)?;
            dims.push(dim);
            complete &= pads.is_some();
            padding[at] = pads.unwrap_or_default();
        }
        Ok(Output {
            dims,
            padding,
            complete,
        })
    }

    /// Of so many elements of the input, and a window that covers so many of the output.
    fn along(
        &self,
        at: usize,
        size: Option<i64>,
        extent: Option<i64>,
        stride: u32,
        declared: (u32, u32),
    ) -> Result<Dimension> {
        let (stride, more) = (i64::from(stride), i64::from(self.more[at]));
        let full = match (size, extent) {
            (Some(size), Some(extent)) => Some(
                (size - 1)
                    .max(0)
                    .checked_mul(stride)
                    .and_then(|n| n.checked_add(extent)?.checked_add(more))
                    .ok_or(TOO_LARGE)?,
            ),
            _ => None,
        };
        let wanted = match self.sizes {
            TransposedSizes::Padded => {
                let (before, after) = declared;
                return Ok(match full {
                    // Of nothing, whatever the filter.
                    _ if size == Some(0) => (0, Some(declared)),
                    Some(full) => {
                        let dim = full - i64::from(before) - i64::from(after);
                        if dim < 0 {
                            return Err(bad(
                                "padding",
                                format!("{before} and {after}"),
                                format!("at most {full}"),
                            ));
                        }
                        (dim, Some(declared))
                    }
                    // Less padding behind comes to the same as more elements there.
                    None => (Shape::UNKNOWN, less(declared, more)),
                });
            }
            TransposedSizes::Strided => match size {
                Some(size) => Some(size.checked_mul(stride).ok_or(TOO_LARGE)?),
                None => None,
            },
            TransposedSizes::Given(sizes) => match sizes.get(at) {
                Some(&size) if size >= 0 => Some(size),
                size => {
                    return Err(bad(
                        "output_shape",
                        format!("{size:?}"),
                        "a size for each dimension",
                    ));
                }
            },
        };
        let Some(wanted) = wanted else {
            // (size - 1) stride + extent + more less the padding is size stride, whatever the size.
            let total = extent
                .and_then(|extent| extent.checked_add(more)?.checked_sub(stride))
                .filter(|&total| total >= 0);
            let padding = match total {
                Some(total) => less(self.halves(total)?, more),
                None => None,
            };
            return Ok((Shape::UNKNOWN, padding));
        };
        let padding = match full {
            Some(full) => Some(self.halves(full.saturating_sub(wanted).max(0))?),
            None => None,
        };
        Ok((wanted, padding))
    }

    /// Padding before and after.
    fn halves(&self, total: i64) -> Result<(u32, u32)> {
        let (less, more) = (total / 2, total - total / 2);
        let (before, after) = match self.odd_behind {
            true => (less, more),
            false => (more, less),
        };
        match (u32::try_from(before), u32::try_from(after)) {
            (Ok(before), Ok(after)) => Ok((before, after)),
            _ => Err(bad("padding", total, "at most 2^32")),
        }
    }
}

const TOO_LARGE: LayerProblem = LayerProblem::Overflow {
    what: "the size of the output",
};

/// The same with so much less behind; none where there is not as much.
fn less((before, after): (u32, u32), more: i64) -> Option<(u32, u32)> {
    let after = i64::from(after).checked_sub(more)?;
    Some((before, u32::try_from(after).ok()?))
}

/// Elements from the first to the last of a window.
fn extent(window: i64, dilation: u32) -> Result<i64> {
    let extent = (window - 1).max(0).checked_mul(dilation.into());
    extent.and_then(|n| n.checked_add(1)).ok_or(TOO_LARGE)
}

#[cfg(test)]
mod tests {
    use TransposedSizes::{Given, Padded, Strided};

    use super::super::ParameterRule;
    use super::*;

    /// Over one row; the filter has three columns, strides of 2.
    fn resolved(
        sizes: TransposedSizes,
        more: u32,
        odd_behind: bool,
        columns: i64,
    ) -> Result<(i64, (u32, u32), bool)> {
        let mut d = TransposeConvolution2dDescriptor::new(DataLayout::Nchw);
        (d.stride_x, d.pad_left, d.pad_right) = (2, 1, 1);
        let rule = ParameterRule::TransposedWindows {
            layer: TransposedLayer::In2d(d),
            sizes: match sizes {
                Given(columns) => Given(vec![1, columns[0]]),
                other => other,
            },
            more: vec![0, more],
            odd_behind,
        };
        let (input, weights) = (Shape::from([1, 4, 1, columns]), Shape::from([4, 5, 1, 3]));
        let found = rule.resolve(&[Some(input), Some(weights)], &[])?;
        let armnn_backend_api::LayerDescriptor::TransposeConvolution2d(d) = found.descriptor else {
            panic!("{found:?}");
        };
        let dims = found.outputs[0].dims();
        assert_eq!(dims[..3], [1, 5, 1]);
        Ok((dims[3], (d.pad_left, d.pad_right), found.complete))
    }

    /// 4 columns of strides of 2 and windows of 3: 3 * 2 + 3 = 9 elements.
    #[test]
    fn what_is_too_much_is_taken_away_on_both_sides() {
        assert_eq!(resolved(Strided, 0, true, 4).unwrap(), (8, (0, 1), true));
        assert_eq!(resolved(Strided, 0, false, 4).unwrap(), (8, (1, 0), true));
        assert_eq!(resolved(Strided, 1, false, 4).unwrap(), (8, (1, 1), true));
        assert_eq!(
            resolved(Given(vec![6]), 0, true, 4).unwrap(),
            (6, (1, 2), true)
        );
        assert_eq!(
            resolved(Given(vec![6]), 1, false, 4).unwrap(),
            (6, (2, 2), true)
        );
        // There are too few.
        assert_eq!(
            resolved(Given(vec![12]), 0, true, 4).unwrap(),
            (12, (0, 0), true)
        );
        assert_eq!(resolved(Padded, 0, true, 4).unwrap(), (7, (1, 1), true));
        assert_eq!(resolved(Padded, 1, true, 4).unwrap(), (8, (1, 1), true));
    }

    #[test]
    fn some_of_it_does_not_depend_on_the_size() {
        // 2 n + 1 to 2 n.
        assert_eq!(resolved(Strided, 0, true, -1).unwrap(), (-1, (0, 1), true));
        assert_eq!(resolved(Strided, 0, false, -1).unwrap(), (-1, (1, 0), true));
        // 2 n + 2, of which one is the last that the padding spares.
        assert_eq!(resolved(Strided, 1, true, -1).unwrap(), (-1, (1, 0), true));
        assert_eq!(resolved(Padded, 1, true, -1).unwrap(), (-1, (1, 0), true));
        // There are not enough to spare.
        let (size, _, complete) = resolved(Padded, 2, true, -1).unwrap();
        assert_eq!((size, complete), (-1, false));
        let (size, _, complete) = resolved(Given(vec![6]), 0, true, -1).unwrap();
        assert_eq!((size, complete), (6, false));
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused() {
        assert!(resolved(Given(vec![-1]), 0, true, 4).is_err());
        assert!(resolved(Strided, 0, true, i64::MAX).is_err());
        assert!(resolved(Given(vec![0]), 0, true, 1 << 40).is_err());
    }
}
