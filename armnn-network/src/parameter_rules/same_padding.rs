//! Layers over windows whose padding follows from the sizes of the input.

use armnn_backend_api::{
    Convolution2dDescriptor, Convolution3dDescriptor, DataLayout, DeformConvDescriptor,
    DepthwiseConvolution2dDescriptor, LayerDescriptor, LayerType, MaxPoolWithIndicesDescriptor,
    Pooling2dDescriptor, Pooling3dDescriptor, Shape,
};

use super::arguments::Arguments;
use super::transpose_convolution::same_padding;
use super::{Resolved, Result, bad, known};

/// A layer over windows, but for its padding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowLayer {
    /// Filters over rows and columns.
    Convolution2d(Convolution2dDescriptor),
    /// Filters over planes, rows and columns.
    Convolution3d(Convolution3dDescriptor),
    /// Filters over rows and columns whose elements are taken from somewhere near.
    DeformConv(DeformConvDescriptor),
    /// Filters of each channel over rows and columns.
    DepthwiseConvolution2d(DepthwiseConvolution2dDescriptor),
    /// The largest element, and where it is, of windows over 1 to 3 dimensions.
    MaxPoolWithIndices(MaxPoolWithIndicesDescriptor),
    /// What is computed of rows and columns.
    Pooling2d(Pooling2dDescriptor),
    /// What is computed of planes, rows and columns.
    Pooling3d(Pooling3dDescriptor),
}

impl WindowLayer {
    /// The type of the layer.
    pub fn layer_type(&self) -> LayerType {
        match self {
            Self::Convolution2d(_) => LayerType::Convolution2d,
            Self::Convolution3d(_) => LayerType::Convolution3d,
            Self::DeformConv(_) => LayerType::DeformConv,
            Self::DepthwiseConvolution2d(_) => LayerType::DepthwiseConvolution2d,
            Self::MaxPoolWithIndices(_) => LayerType::MaxPoolWithIndices,
            Self::Pooling2d(_) => LayerType::Pooling2d,
            Self::Pooling3d(_) => LayerType::Pooling3d,
        }
    }
}

/// With the padding that the layer has.
impl From<WindowLayer> for LayerDescriptor {
    fn from(layer: WindowLayer) -> Self {
        match layer {
            WindowLayer::Convolution2d(d) => d.into(),
            WindowLayer::Convolution3d(d) => d.into(),
            WindowLayer::DeformConv(d) => d.into(),
            WindowLayer::DepthwiseConvolution2d(d) => d.into(),
            WindowLayer::MaxPoolWithIndices(d) => d.into(),
            WindowLayer::Pooling2d(d) => d.into(),
            WindowLayer::Pooling3d(d) => d.into(),
        }
    }
}

/// The layer with padding such that there is an output for each stride over the input, rounded up;
/// what is odd goes behind the input, or before it.
pub(super) fn same(
    layer: &WindowLayer,
    odd_behind: bool,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let sides = |pair: (u32, u32)| match odd_behind {
        true => pair,
        false => (pair.1, pair.0),
    };
    match layer {
        WindowLayer::Convolution2d(base) => {
            let mut d = *base;
            let places = places(d.data_layout())?;
            let weights = weights(arguments, 4)?;
            let size = |place: usize| known(weights[place]);
            let windows = [
                (size(places[0]), d.stride_y, d.dilation_y),
                (size(places[1]), d.stride_x, d.dilation_x),
            ];
            let output = output(places, windows, Some(weights[0]), arguments)?;
            [(d.pad_top, d.pad_bottom), (d.pad_left, d.pad_right)] = output.padding.map(sides);
            Resolved::single(d, &output.dims, output.complete)
        }
        WindowLayer::DeformConv(base) => {
            let mut d = *base;
            // [O, I / groups, KH, KW], as images with channels first.
            let weights = weights(arguments, 4)?;
            let windows = [
                (known(weights[2]), d.stride_y, d.dilation_y),
                (known(weights[3]), d.stride_x, d.dilation_x),
            ];
            let output = output([2, 3], windows, Some(weights[0]), arguments)?;
            [(d.pad_top, d.pad_bottom), (d.pad_left, d.pad_right)] = output.padding.map(sides);
            Resolved::single(d, &output.dims, output.complete)
        }
        WindowLayer::DepthwiseConvolution2d(base) => {
            let mut d = *base;
            let places = places(d.data_layout())?;
            // [1, KH, KW, C M] in both layouts.
            let weights = weights(arguments, 4)?;
            let windows = [
                (known(weights[1]), d.stride_y, d.dilation_y),
                (known(weights[2]), d.stride_x, d.dilation_x),
            ];
            let output = output(places, windows, Some(weights[3]), arguments)?;
            [(d.pad_top, d.pad_bottom), (d.pad_left, d.pad_right)] = output.padding.map(sides);
            Resolved::single(d, &output.dims, output.complete)
        }
        WindowLayer::Pooling2d(base) => {
            let mut d = *base;
            let places = places(d.data_layout())?;
            let windows = [
                (Some(d.pool_height.into()), d.stride_y, d.dilation_y),
                (Some(d.pool_width.into()), d.stride_x, d.dilation_x),
            ];
            let output = output(places, windows, None, arguments)?;
            [(d.pad_top, d.pad_bottom), (d.pad_left, d.pad_right)] = output.padding.map(sides);
            Resolved::single(d, &output.dims, output.complete)
        }
        WindowLayer::MaxPoolWithIndices(base) => match base.n_axes {
            1 => with_indices::<1>(base, sides, arguments),
            2 => with_indices::<2>(base, sides, arguments),
            3 => with_indices::<3>(base, sides, arguments),
            n => Err(bad("n_axes", n, "1 to 3")),
        },
        WindowLayer::Convolution3d(base) => {
            let mut d = *base;
            let places = places(d.data_layout())?;
            let weights = weights(arguments, 5)?;
            // [KD, KH, KW, I, O] or [O, I, KD, KH, KW].
            let (first, channels) = match places[0] {
                1 => (0, weights[4]),
                _ => (2, weights[0]),
            };
            let size = |at: usize| known(weights[first + at]);
            let windows = [
                (size(0), d.stride_z, d.dilation_z),
                (size(1), d.stride_y, d.dilation_y),
                (size(2), d.stride_x, d.dilation_x),
            ];
            let output = output(places, windows, Some(channels), arguments)?;
            [
                (d.pad_front, d.pad_back),
                (d.pad_top, d.pad_bottom),
                (d.pad_left, d.pad_right),
            ] = output.padding.map(sides);
            Resolved::single(d, &output.dims, output.complete)
        }
        WindowLayer::Pooling3d(base) => {
            let mut d = *base;
            let places = places(d.data_layout())?;
            let windows = [
                (Some(d.pool_depth.into()), d.stride_z, d.dilation_z),
                (Some(d.pool_height.into()), d.stride_y, d.dilation_y),
                (Some(d.pool_width.into()), d.stride_x, d.dilation_x),
            ];
            let output = output(places, windows, None, arguments)?;
            [
                (d.pad_front, d.pad_back),
                (d.pad_top, d.pad_bottom),
                (d.pad_left, d.pad_right),
            ] = output.padding.map(sides);
            Resolved::single(d, &output.dims, output.complete)
        }
    }
}

/// Windows over the N dimensions behind batch and channels. Both outputs have one shape.
fn with_indices<const N: usize>(
    base: &MaxPoolWithIndicesDescriptor,
    sides: impl Fn((u32, u32)) -> (u32, u32),
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let mut d = *base;
    let windows = std::array::from_fn(|at| (Some(d.pool[at].into()), d.stride[at], d.dilation[at]));
    let output = output::<N>(std::array::from_fn(|at| at + 2), windows, None, arguments)?;
    for (at, pair) in output.padding.map(sides).into_iter().enumerate() {
        (d.pad_before[at], d.pad_after[at]) = pair;
    }
    let mut resolved = Resolved::single(d, &output.dims, output.complete)?;
    resolved.outputs.extend_from_within(..);
    Ok(resolved)
}

/// Where the dimensions stand in the input that windows move along. There are N of them.
fn places<const N: usize>(layout: DataLayout) -> Result<[usize; N]> {
    let first = match (layout, N) {
        (DataLayout::Nhwc, 2) | (DataLayout::Ndhwc, 3) => 1,
        (DataLayout::Nchw, 2) | (DataLayout::Ncdhw, 3) => 2,
        _ => return Err(bad("data_layout", layout, "one with as many dimensions")),
    };
    Ok(std::array::from_fn(|at| first + at))
}

/// The dimensions of the weights.
fn weights(arguments: &Arguments<'_>, rank: usize) -> Result<Vec<i64>> {
    let weights = arguments.data(1)?;
    match weights.rank() == rank {
        true => Ok(weights.dims().to_vec()),
        false => Err(bad("weights", weights, format!("of {rank} dimensions"))),
    }
}

/// What follows from the input's shape.
struct Output<const N: usize> {
    dims: Vec<i64>,
    /// Before and after each dimension that windows move along; what is odd comes after.
    padding: [(u32, u32); N],
    /// Whether all that is known.
    complete: bool,
}

/// `windows` are sizes, strides and dilations; `channels` those of the output, unless they are the
/// input's.
fn output<const N: usize>(
    places: [usize; N],
    windows: [(Option<i64>, u32, u32); N],
    channels: Option<i64>,
    arguments: &Arguments<'_>,
) -> Result<Output<N>> {
    let input = arguments.data(0)?;
    let rank = N + 2;
    if input.rank() != rank {
        return Err(bad("input", input, format!("of {rank} dimensions")));
    }
    let mut dims = input.dims().to_vec();
    if let Some(channels) = channels {
        // The one that windows do not move along, behind the batch.
        let place = (1..rank).find(|place| !places.contains(place));
        if let Some(dim) = place.and_then(|place| dims.get_mut(place)) {
            *dim = channels;
        }
    }
    let mut padding = [(0, 0); N];
    let mut complete = true;
    for (at, to) in padding.iter_mut().enumerate() {
        let (window, stride, dilation) = windows[at];
        let dim = &mut dims[places[at]];
        let size = known(*dim);
        let steps = i64::from(stride);
        if steps == 0 {
            return Err(bad("stride", stride, "at least 1"));
        }
        *dim = match size {
            Some(size) => size / steps + i64::from(size % steps != 0),
            None => Shape::UNKNOWN,
        };
        // At each element, it is the same padding for every size.
        let size = size.or((stride == 1).then_some(1));
        match (size, window) {
            (Some(size), Some(window)) => *to = same_padding(size, window, stride, dilation)?,
            _ => complete = false,
        }
    }
    Ok(Output {
        dims,
        padding,
        complete,
    })
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::PoolingAlgorithm;

    use super::super::ParameterRule as Rule;
    use super::*;

    fn resolved(layer: WindowLayer, odd_behind: bool, data: &[Shape]) -> Result<Resolved> {
        let data: Vec<_> = data.iter().copied().map(Some).collect();
        Rule::SamePadding { layer, odd_behind }.resolve(&data, &[])
    }

    #[test]
    fn the_padding_of_a_convolution_is_known_once_its_input_is() {
        let mut base = Convolution2dDescriptor::new(DataLayout::Nhwc);
        (base.stride_y, base.stride_x) = (2, 3);
        let layer = WindowLayer::Convolution2d(base);
        let weights = Shape::from([7, 3, 4, 2]);
        let open = resolved(layer, true, &[Shape::from([-1, -1, 6, 2]), weights]).unwrap();
        assert!(!open.complete);
        assert_eq!(open.outputs[0].dims(), [-1, -1, 2, 7]);

        let found = resolved(layer, true, &[Shape::from([1, 4, 6, 2]), weights]).unwrap();
        assert!(found.complete);
        assert_eq!(found.outputs[0].dims(), [1, 2, 2, 7]);
        // Rows: windows of 3 at 0 and 2 of 4, 2 + 3 - 4 = 1 beyond. Columns: windows of 4 at 0 and
        // 3 of 6, 3 + 4 - 6 = 1 beyond.
        let expected = Convolution2dDescriptor {
            pad_bottom: 1,
            pad_right: 1,
            ..base
        };
        assert_eq!(found.descriptor, expected.into());
        let before = resolved(layer, false, &[Shape::from([1, 4, 6, 2]), weights]).unwrap();
        let expected = Convolution2dDescriptor {
            pad_top: 1,
            pad_left: 1,
            ..base
        };
        assert_eq!(before.descriptor, expected.into());
    }

    #[test]
    fn channels_are_those_of_the_weights_or_of_the_input() {
        let mut depthwise = DepthwiseConvolution2dDescriptor::new(DataLayout::Nchw);
        (depthwise.stride_x, depthwise.dilation_x) = (2, 2);
        let layer = WindowLayer::DepthwiseConvolution2d(depthwise);
        let inputs = [Shape::from([1, 3, 5, 7]), Shape::from([1, 1, 3, 6])];
        let found = resolved(layer, true, &inputs).unwrap();
        assert_eq!(found.outputs[0].dims(), [1, 6, 5, 4]);
        // Dilated, a window covers 5: at 0, 2, 4 and 6 of 7, 6 + 5 - 7 = 4 beyond.
        let LayerDescriptor::DepthwiseConvolution2d(d) = found.descriptor else {
            panic!("{found:?}");
        };
        let padding = (d.pad_top, d.pad_bottom, d.pad_left, d.pad_right);
        assert_eq!(padding, (0, 0, 2, 2));

        let mut pooling =
            Pooling3dDescriptor::new(PoolingAlgorithm::Max, [2, 3, 4], DataLayout::Ncdhw);
        pooling.stride_z = 2;
        let layer = WindowLayer::Pooling3d(pooling);
        let found = resolved(layer, true, &[Shape::from([1, 9, 5, 6, 7])]).unwrap();
        assert_eq!(found.outputs[0].dims(), [1, 9, 3, 6, 7]);
        let LayerDescriptor::Pooling3d(d) = found.descriptor else {
            panic!("{found:?}");
        };
        // Planes: windows of 2 at 0, 2 and 4 of 5; rows of 3 and columns of 4 at each element.
        assert_eq!((d.pad_front, d.pad_back), (0, 1));
        assert_eq!((d.pad_top, d.pad_bottom), (1, 1));
        assert_eq!((d.pad_left, d.pad_right), (1, 2));
    }

    #[test]
    fn weights_over_volumes_are_laid_out_by_the_layout() {
        for (layout, input, weights, expected) in [
            (
                DataLayout::Ndhwc,
                [1, 5, 6, 7, 2],
                [2, 3, 1, 2, 9],
                [1, 3, 3, 4, 9],
            ),
            (
                DataLayout::Ncdhw,
                [1, 2, 5, 6, 7],
                [9, 2, 2, 3, 1],
                [1, 9, 3, 3, 4],
            ),
        ] {
            let mut base = Convolution3dDescriptor::new(layout);
            (base.stride_z, base.stride_y, base.stride_x) = (2, 2, 2);
            let data = [Shape::from(input), Shape::from(weights)];
            let found = resolved(WindowLayer::Convolution3d(base), true, &data).unwrap();
            assert_eq!(found.outputs[0].dims(), expected);
            // Planes: windows of 2 at 0, 2 and 4 of 5. Rows: of 3 at 0, 2 and 4 of 6. Columns: of 1.
            let expected = Convolution3dDescriptor {
                pad_back: 1,
                pad_bottom: 1,
                ..base
            };
            assert_eq!(found.descriptor, expected.into());
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let mut base = Pooling2dDescriptor::new(PoolingAlgorithm::Max, 2, 2, DataLayout::Nhwc);
        let input = Shape::from([1, 4, 4, 1]);
        assert!(resolved(WindowLayer::Pooling2d(base), true, &[input]).is_ok());
        assert!(resolved(WindowLayer::Pooling2d(base), true, &[Shape::from([4, 4])]).is_err());
        assert!(resolved(WindowLayer::Pooling2d(base), true, &[]).is_err());
        base.stride_x = 0;
        assert!(resolved(WindowLayer::Pooling2d(base), true, &[input]).is_err());
        (base.stride_x, base.data_layout) = (1, DataLayout::Ndhwc.0);
        assert!(resolved(WindowLayer::Pooling2d(base), true, &[input]).is_err());
    }
}
