//! Layers over planes, rows and columns, and transposed convolutions.

use armnn_backend_api::{
    Convolution3dDescriptor, DataLayout, LayerDescriptor as D, OutputShapeRounding,
    Pooling3dDescriptor, Shape, TransposeConvolution2dDescriptor, TransposeConvolution3dDescriptor,
};

use super::dimension::{known, with_dims};
use super::image::ImageAxes;
use super::window::{Windows, columns, planes, rows};
use super::{Arguments, Result, bad_field, declared_of_rank, named, with_bias};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::Convolution3d(d) => convolution3d(d, arguments),
        D::Pooling3d(d) => pooling3d(d, arguments),
        D::TransposeConvolution2d(d) => transpose_convolution2d(d, arguments),
        D::TransposeConvolution3d(d) => transpose_convolution3d(d, arguments),
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

fn convolution3d(d: &Convolution3dDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let axes = VolumeAxes::of(d.data_layout())?;
    let groups = groups(d.groups)?;
    let input = arguments.input_of_rank(0, 5)?;
    let weights = arguments.input_of_rank(1, 5)?;
    // [KD, KH, KW, I / groups, O] or [O, I / groups, KD, KH, KW].
    let (first, inputs, outputs) = match axes.channels {
        4 => (0, 3, 4),
        _ => (2, 1, 0),
    };
    let windows = [
        planes(d.pad_front, d.pad_back, d.stride_z, d.dilation_z),
        rows(d.pad_top, d.pad_bottom, d.stride_y, d.dilation_y),
        columns(d.pad_left, d.pad_right, d.stride_x, d.dilation_x),
    ];
    let mut dims = [(0, 0); 4];
    for (i, windows) in windows.iter().enumerate() {
        let axis = axes.first + i;
        let size = windows.output(input.dims()[axis], weights.dims()[first + i])?;
        dims[i] = (axis, size);
    }
    if let (Some(channels), Some(in_group)) = (
        known(input.dims()[axes.channels]),
        known(weights.dims()[inputs]),
    ) && in_group.checked_mul(groups) != Some(channels)
    {
        return Err(arguments.dimension_problem(
            1,
            inputs,
            format!("{channels} / {groups}"),
            "a filter covers the input's channels of one group",
        ));
    }
    let output_channels = weights.dims()[outputs];
    multiple_of_groups(arguments, outputs, output_channels, groups)?;
    dims[3] = (axes.channels, with_bias(arguments, 2, output_channels)?);
    Ok(with_dims(input, dims))
}

fn pooling3d(d: &Pooling3dDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let axes = VolumeAxes::of(d.data_layout())?;
    named("pool_type", d.pool_type, d.pool_type().name())?;
    let method = d.padding_method();
    named("padding_method", method.0, method.name())?;
    let rounding = d.output_shape_rounding();
    named("output_shape_rounding", rounding.0, rounding.name())?;
    let input = arguments.input_of_rank(0, 5)?;
    let windows = [
        planes(d.pad_front, d.pad_back, d.stride_z, d.dilation_z),
        rows(d.pad_top, d.pad_bottom, d.stride_y, d.dilation_y),
        columns(d.pad_left, d.pad_right, d.stride_x, d.dilation_x),
    ];
    let sizes = [d.pool_depth, d.pool_height, d.pool_width];
    let mut dims = [(0, 0); 3];
    for (i, (mut windows, size)) in windows.into_iter().zip(sizes).enumerate() {
        windows.ceiling = rounding == OutputShapeRounding::Ceiling;
        windows.padding_below(size.into())?;
        let axis = axes.first + i;
        dims[i] = (axis, windows.output(input.dims()[axis], size.into())?);
    }
    Ok(with_dims(input, dims))
}

fn transpose_convolution2d(
    d: &TransposeConvolution2dDescriptor,
    arguments: &Arguments<'_>,
) -> Result<Shape> {
    let axes = ImageAxes::of(d.data_layout())?;
    let first = axes.rows;
    let windows = [
        rows(d.pad_top, d.pad_bottom, d.stride_y, d.dilation_y),
        columns(d.pad_left, d.pad_right, d.stride_x, d.dilation_x),
    ];
    transpose_convolution(&windows, first, axes.channels, d.groups, arguments)
}

fn transpose_convolution3d(
    d: &TransposeConvolution3dDescriptor,
    arguments: &Arguments<'_>,
) -> Result<Shape> {
    let axes = VolumeAxes::of(d.data_layout())?;
    let windows = [
        planes(d.pad_front, d.pad_back, d.stride_z, d.dilation_z),
        rows(d.pad_top, d.pad_bottom, d.stride_y, d.dilation_y),
        columns(d.pad_left, d.pad_right, d.stride_x, d.dilation_x),
    ];
    transpose_convolution(&windows, axes.first, axes.channels, d.groups, arguments)
}

/// Dimensions from `first` on are those of the windows, of input and weights alike.
fn transpose_convolution(
    windows: &[Windows],
    first: usize,
    channels: usize,
    groups_field: u32,
    arguments: &Arguments<'_>,
) -> Result<Shape> {
    let groups = groups(groups_field)?;
    let rank = windows.len() + 2;
    let input = arguments.input_of_rank(0, rank)?;
    let weights = arguments.input_of_rank(1, rank)?;
    let declared = declared_of_rank(arguments, rank)?;
    let mut output = input;
    for (i, windows) in windows.iter().enumerate() {
        let axis = first + i;
        let size = windows.transposed_output(
            input.dims()[axis],
            weights.dims()[axis],
            known(declared.dims()[axis]),
        )?;
        output = with_dims(output, [(axis, size)]);
    }
    // [O, ..., I / groups], or [I, O / groups, ...] with channels before the rest.
    let [first_weights, other_weights] = [0, channels].map(|axis| weights.dims()[axis]);
    let input_channels = input.dims()[channels];
    let outputs = if channels == 1 {
        if let (Some(filters), Some(inputs)) = (known(first_weights), known(input_channels))
            && filters != inputs
        {
            let because = "there is one filter for each input channel";
            return Err(arguments.dimension_problem(1, 0, inputs, because));
        }
        if let Some(inputs) = known(input_channels)
            && inputs % groups != 0
        {
            return Err(arguments.dimension_problem(
                0,
                channels,
                format!("a multiple of {groups}"),
                "input channels fall into groups of equal size",
            ));
        }
        match known(other_weights) {
            Some(outputs) => outputs.checked_mul(groups).ok_or(LayerProblem::Overflow {
                what: "the number of output channels",
            })?,
            None => Shape::UNKNOWN,
        }
    } else {
        if let (Some(in_group), Some(inputs)) = (known(other_weights), known(input_channels))
            && in_group.checked_mul(groups) != Some(inputs)
        {
            return Err(arguments.dimension_problem(
                1,
                channels,
                format!("{inputs} / {groups}"),
                "a filter covers the input's channels of one group",
            ));
        }
        multiple_of_groups(arguments, 0, first_weights, groups)?;
        first_weights
    };
    let outputs = with_bias(arguments, 2, outputs)?;
    Ok(with_dims(output, [(channels, outputs)]))
}

fn groups(groups: u32) -> Result<i64> {
    match groups {
        0 => Err(bad_field("groups", 0, "at least 1")),
        groups => Ok(groups.into()),
    }
}

fn multiple_of_groups(
    arguments: &Arguments<'_>,
    axis: usize,
    outputs: i64,
    groups: i64,
) -> Result<()> {
    if known(outputs).is_some_and(|o| o % groups != 0) {
        return Err(arguments.dimension_problem(
            1,
            axis,
            format!("a multiple of {groups}"),
            "output channels fall into groups of equal size",
        ));
    }
    Ok(())
}

/// Where planes (rows and columns follow) and channels are in a shape.
struct VolumeAxes {
    first: usize,
    channels: usize,
}

impl VolumeAxes {
    fn of(layout: DataLayout) -> Result<Self> {
        match layout {
            DataLayout::Ndhwc => Ok(Self {
                first: 1,
                channels: 4,
            }),
            DataLayout::Ncdhw => Ok(Self {
                first: 2,
                channels: 1,
            }),
            _ => Err(bad_field("data_layout", layout, "Ndhwc or Ncdhw")),
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::PoolingAlgorithm;

    use super::super::tests::{refused_field, shape_after, shape_after_declared};
    use super::*;

    #[test]
    fn a_convolution_over_planes_has_its_weights_in_the_layout_of_the_input() {
        let mut d = Convolution3dDescriptor::new(DataLayout::Ndhwc);
        d.stride_z = 2;
        d.groups = 2;
        // (5 - 3) / 2 + 1, 6 - 2 + 1, 7 - 1 + 1.
        let ndhwc = [Shape::from([1, 5, 6, 7, 4]), Shape::from([3, 2, 1, 2, 6])];
        assert_eq!(shape_after(d, &ndhwc), Ok(Shape::from([1, 2, 5, 7, 6])));
        d.data_layout = DataLayout::Ncdhw.0;
        let ncdhw = [Shape::from([1, 4, 5, 6, -1]), Shape::from([6, 2, 3, 2, 1])];
        assert_eq!(shape_after(d, &ncdhw), Ok(Shape::from([1, 6, 2, 5, -1])));
        d.groups = 3;
        assert!(shape_after(d, &ncdhw).is_err());
        d.data_layout = DataLayout::Nhwc.0;
        assert_eq!(refused_field(shape_after(d, &ncdhw)), "data_layout");
    }

    #[test]
    fn pooling_over_planes_rounds_as_it_says() {
        let mut d = Pooling3dDescriptor::new(PoolingAlgorithm::Max, [2, 2, 2], DataLayout::Ndhwc);
        (d.stride_x, d.stride_y, d.stride_z) = (2, 2, 2);
        let input = [Shape::from([1, 5, 4, 3, 8])];
        assert_eq!(shape_after(d, &input), Ok(Shape::from([1, 2, 2, 1, 8])));
        d.output_shape_rounding = OutputShapeRounding::Ceiling.0;
        assert_eq!(shape_after(d, &input), Ok(Shape::from([1, 3, 2, 2, 8])));
        d.pad_front = 2;
        assert_eq!(refused_field(shape_after(d, &input)), "pad_front");
    }

    #[test]
    fn a_transposed_convolution_is_as_large_as_its_windows_reach_or_as_declared() {
        let mut d = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
        (d.stride_x, d.stride_y, d.pad_top) = (2, 3, 1);
        // (4 - 1) 3 + 3 - 1 = 11, (5 - 1) 2 + 2 = 10.
        let inputs = [Shape::from([1, 4, 5, 8]), Shape::from([6, 3, 2, 8])];
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([1, 11, 10, 6])));
        let declared = Shape::from([1, 12, -1, -1]);
        let result = shape_after_declared(d, &inputs, declared);
        assert_eq!(result, Ok(Shape::from([1, 12, 10, 6])));
        d.data_layout = DataLayout::Nchw.0;
        d.groups = 4;
        let inputs = [Shape::from([1, 8, -1, 5]), Shape::from([8, 3, 3, 2])];
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([1, 12, -1, 10])));
        d.pad_left = 30;
        assert_eq!(refused_field(shape_after(d, &inputs)), "pad_left");
        let mut d = TransposeConvolution3dDescriptor::new(DataLayout::Ncdhw);
        let inputs = [Shape::from([1, 2, 3, 4, 5]), Shape::from([2, 7, 1, 2, 3])];
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([1, 7, 3, 5, 7])));
        d.stride_z = 0;
        assert_eq!(refused_field(shape_after(d, &inputs)), "stride_z");
    }
}
